//! The compiled part of Python's module `dslc`: compiles kernels from source, and launches them on the simulator.
//!
//! It passes plain values: bytes, numbers, text. The convenient interface (NumPy, reports as objects, exceptions) is written in Python, in
//! the folder `module`.

use std::ops::Range;

use dslc::{
    Arch, Argument, Buffer, Checks, Counts, Device, Grid, Number, Order, Parameter, Passed, Source,
};
use pyo3::{exceptions::PyValueError, prelude::*, pybacked::PyBackedBytes, types::PyBytes};

/// The extents of a grid or a block.
type Extents = [u32; 3];

/// The caller's options for compiling.
#[derive(FromPyObject)]
struct Options {
    #[pyo3(item)]
    defines: Vec<(String, String)>,
    #[pyo3(item)]
    instances: Vec<String>,
    #[pyo3(item)]
    include: Vec<String>,
    #[pyo3(item)]
    arch: String,
}

fn arch(text: &str) -> PyResult<Arch> {
    let unknown = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    text.parse().map_err(|error| unknown(&error))
}

/// A failure whose text is the whole message.
fn failed(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Compiles a text. The error's text consists of the compiler's messages.
#[pyfunction]
fn compile(py: Python<'_>, name: String, text: String, options: Options) -> PyResult<Kernels> {
    let mut source = Source::new(name, text).arch(arch(&options.arch)?);
    for (name, value) in options.defines {
        source = source.define(name, value);
    }
    for name in options.instances {
        source = source.instance(name);
    }
    for folder in options.include {
        source = source.include(folder);
    }
    let kernels = py.detach(|| source.compile());
    Ok(Kernels(kernels.map_err(|error| failed(&error))?))
}

/// Kernels that were compiled.
#[pyclass(frozen)]
struct Kernels(dslc::Kernels);

#[pymethods]
impl Kernels {
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().map(str::to_string).collect()
    }

    #[getter]
    fn warnings(&self) -> &str {
        self.0.warnings()
    }

    fn kernel(&self, name: &str) -> PyResult<Kernel> {
        let kernel = self.0.kernel(name);
        Ok(Kernel(kernel.map_err(|error| failed(&error))?))
    }
}

/// One of them.
#[pyclass(frozen)]
struct Kernel(dslc::Kernel);

/// A parameter: its declaration, whether it is a pointer, the kind of its number (`b`, `i`, `u`, `f`, or empty), its size or its element's
/// size, and whether it is only read.
type Declared = (String, bool, &'static str, usize, bool);

fn declared(parameter: &Parameter) -> Declared {
    let kind = |number: Option<Number>| match number {
        Some(Number::Bool) => "b",
        Some(Number::Signed) => "i",
        Some(Number::Unsigned) => "u",
        Some(Number::Float) => "f",
        None => "",
    };
    let text = parameter.to_string();
    match parameter.passed {
        Passed::Pointer {
            element,
            element_bytes,
            is_const,
        } => (text, true, kind(element), element_bytes, is_const),
        Passed::Value { bytes, number } => (text, false, kind(number), bytes, true),
    }
}

/// Device memory: its bytes, and the ranges of uninitialised bytes.
#[derive(FromPyObject)]
struct Memory(PyBackedBytes, Vec<(usize, usize)>);

/// The form of an argument.
#[derive(FromPyObject)]
enum Given {
    /// A pointer into memory: which memory, the byte offset, and the size of the elements in bytes.
    Pointer(usize, usize, usize),
    /// A null pointer, and the size of the elements in bytes.
    Null(usize),
    /// The bytes of a value.
    Value(PyBackedBytes),
}

/// The options of a launch.
#[derive(FromPyObject)]
struct Launch {
    #[pyo3(item)]
    arch: String,
    #[pyo3(item)]
    grid: Extents,
    #[pyo3(item)]
    block: Extents,
    #[pyo3(item)]
    shared: Option<usize>,
    #[pyo3(item)]
    cooperative: bool,
    #[pyo3(item)]
    checks: bool,
    #[pyo3(item)]
    descending: bool,
    #[pyo3(item)]
    jobs: usize,
    #[pyo3(item)]
    limit: Option<u64>,
    #[pyo3(item)]
    count_only: bool,
    #[pyo3(item)]
    counts: String,
    /// The file and the line of the call.
    #[pyo3(item)]
    caller: (String, u32),
}

#[pymethods]
impl Kernel {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn prototype(&self) -> String {
        self.0.prototype()
    }

    #[getter]
    fn parameters(&self) -> Vec<Declared> {
        self.0.parameters().iter().map(declared).collect()
    }

    /// Launches it on a new simulator. What comes back is the run, and what each memory holds afterwards.
    fn launch(
        &self,
        py: Python<'_>,
        how: Launch,
        memories: Vec<Memory>,
        arguments: Vec<Given>,
    ) -> PyResult<Run> {
        let arch = arch(&how.arch)?;
        let ran = py.detach(|| launch(&self.0, arch, &how, &memories, &arguments));
        ran.map_err(|error| failed(&error))
    }
}

/// A simulator with the options of a launch.
fn simulator(arch: Arch, how: &Launch) -> dslc::Result<Device> {
    let device = Device::builder(arch)
        .jobs(how.jobs)
        .checks(match how.checks {
            true => Checks::ALL,
            false => Checks::NONE,
        })
        .order(match how.descending {
            true => Order::Descending,
            false => Order::Ascending,
        })
        .count_only(how.count_only)
        .counts(match how.counts.as_str() {
            "compiled" => Counts::Compiled,
            "both" => Counts::Both,
            _ => Counts::Written,
        });
    match how.limit {
        Some(limit) => device.limit(limit),
        None => device,
    }
    .build()
}

/// Copies bytes to the device, except uninitialised ones.
fn place(device: &Device, Memory(bytes, unset): &Memory) -> dslc::Result<Buffer<u8>> {
    let buffer = device.uninit(bytes.len())?;
    let mut from = 0;
    let end = (bytes.len(), bytes.len());
    for &(first, last) in unset.iter().chain([&end]) {
        if from < first {
            buffer.slice(from..first)?.write(&bytes[from..first])?;
        }
        from = last;
    }
    Ok(buffer)
}

fn launch(
    kernel: &dslc::Kernel,
    arch: Arch,
    how: &Launch,
    memories: &[Memory],
    arguments: &[Given],
) -> dslc::Result<Run> {
    let device = simulator(arch, how)?;
    let placed = memories.iter().map(|memory| place(&device, memory));
    let placed = placed.collect::<dslc::Result<Vec<Buffer<u8>>>>()?;
    let null = Buffer::null(&device);
    let mut parts = Vec::new();
    for given in arguments {
        parts.push(match given {
            Given::Pointer(memory, from, _) => {
                let buffer = &placed[*memory];
                Some(buffer.slice(*from..buffer.len())?)
            }
            _ => None,
        });
    }
    let given = arguments.iter().zip(&parts).map(|(given, part)| {
        Some(match given {
            Given::Pointer(_, _, element) => Argument::buffer_of(part.as_ref()?, *element),
            Given::Null(element) => Argument::buffer_of(&null, *element),
            Given::Value(bytes) => Argument::bytes(bytes.to_vec()),
        })
    });
    let given: Vec<Argument<'_>> = given.flatten().collect();
    let mut grid = Grid::new(how.grid, how.block);
    if let Some(bytes) = how.shared {
        grid = grid.shared(bytes);
    }
    if how.cooperative {
        grid = grid.cooperative();
    }
    let (file, line) = &how.caller;
    let (run, failure) = match kernel.launch_from(&device, grid, &given, (file, *line)) {
        Ok(run) => (run, None),
        Err(error) => match error.run() {
            Some(run) => (run.clone(), Some(error.to_string())),
            None => return Err(error),
        },
    };
    let mut after = Vec::new();
    // Reading the memory of a launch that was only counted would run the launch in full.
    if failure.is_none() && !how.count_only {
        let written = written(kernel, arguments);
        for (at, buffer) in placed.iter().enumerate() {
            let is_written = written.contains(&at);
            after.push(is_written.then(|| buffer.read_with_unset()).transpose()?);
        }
    }
    Ok(Run {
        run,
        failure,
        after,
    })
}

/// The memories to which the kernel has pointers that are not `const`.
fn written(kernel: &dslc::Kernel, arguments: &[Given]) -> Vec<usize> {
    let parameters = kernel.parameters().iter().zip(arguments);
    let mut written = Vec::new();
    for (parameter, given) in parameters {
        if let (
            Passed::Pointer {
                is_const: false, ..
            },
            Given::Pointer(memory, ..),
        ) = (&parameter.passed, given)
        {
            written.push(*memory);
        }
    }
    written
}

/// Bytes, and the ranges of uninitialised bytes.
type Content = (Vec<u8>, Vec<Range<usize>>);

/// The same as Python values.
type PyContent<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>);

/// A launch that ran, to its end or not.
#[pyclass(frozen)]
struct Run {
    run: dslc::Run,
    failure: Option<String>,
    after: Vec<Option<Content>>,
}

#[pymethods]
impl Run {
    /// Why the launch did not end.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What each memory holds afterwards, and the ranges of bytes that nothing has written; `None` for what the kernel cannot have written.
    fn after<'py>(&self, py: Python<'py>) -> Vec<Option<PyContent<'py>>> {
        let content = |(bytes, unset): &Content| {
            let unset = unset.iter().map(|range| (range.start, range.end));
            (PyBytes::new(py, bytes), unset.collect())
        };
        let after = self.after.iter();
        after.map(|one| one.as_ref().map(content)).collect()
    }

    fn json(&self) -> String {
        self.run.json()
    }

    fn text(&self) -> String {
        self.run.report()
    }

    fn html(&self) -> String {
        self.run.html()
    }

    fn messages(&self) -> String {
        self.run.messages(false)
    }

    /// A metric by nvprof's or ncu's name; `None` where the architecture's rules do not model it.
    fn metric(&self, name: &str) -> PyResult<Option<f64>> {
        interp::metrics::find(name).map_err(|error| failed(&error))?;
        Ok(self.run.metric(name))
    }
}

/// The compiled part of the module.
#[pymodule(gil_used = false)]
fn _dslc(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_class::<Kernels>()?;
    module.add_class::<Kernel>()?;
    module.add_class::<Run>()
}
