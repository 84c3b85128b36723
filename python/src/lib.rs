//! The compiled part of Python's module `dslc`: kernels from source, and their launches on the simulator.
//!
//! It takes and gives plain values: bytes, numbers, text. What is pleasant in Python (NumPy, reports as objects, exceptions) is written in
//! Python, in the folder `module`.

use dslc::{
    Arch, Argument, Buffer, Checks, Device, Grid, Number, Order, Parameter, Passed, Source,
};
use pyo3::{exceptions::PyValueError, prelude::*, pybacked::PyBackedBytes, types::PyBytes};

/// The extents of a grid or a block.
type Extents = [u32; 3];

/// Everything about compiling that a caller may say.
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

/// Compiles a text. The error's text is the compiler's messages.
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

/// A parameter: its declaration, whether it is a pointer, the kind of its number (`b`, `i`, `u`, `f`, or empty), its size or its element's, and
/// whether it is only read.
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

/// What an argument is.
#[derive(FromPyObject)]
enum Given {
    /// Memory with these bytes, in elements of so many.
    Memory(PyBackedBytes, usize),
    /// So many bytes of memory that nobody has written, in elements of so many.
    Unset(usize, usize),
    /// A null pointer, to elements of so many bytes.
    Null(usize),
    /// The bytes of a value.
    Value(PyBackedBytes),
}

/// How to launch.
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

    /// Launches it on a simulator of its own. What comes back is the run, and for each argument that may have been written the bytes after it.
    fn launch(&self, py: Python<'_>, how: Launch, arguments: Vec<Given>) -> PyResult<Run> {
        let arch = arch(&how.arch)?;
        let ran = py.detach(|| launch(&self.0, arch, &how, &arguments));
        ran.map_err(|error| failed(&error))
    }
}

/// Memory on the device, or a value.
enum Placed {
    Buffer(Buffer<u8>, usize),
    Value(Vec<u8>),
}

fn launch(
    kernel: &dslc::Kernel,
    arch: Arch,
    how: &Launch,
    arguments: &[Given],
) -> dslc::Result<Run> {
    let device = Device::builder(arch)
        .jobs(how.jobs)
        .checks(if how.checks {
            Checks::ALL
        } else {
            Checks::NONE
        })
        .order(match how.descending {
            true => Order::Descending,
            false => Order::Ascending,
        })
        .count_only(how.count_only);
    let device = match how.limit {
        Some(limit) => device.limit(limit),
        None => device,
    };
    let device = device.build()?;
    let placed = arguments.iter().map(|given| {
        Ok(match given {
            Given::Memory(bytes, element) => Placed::Buffer(device.buffer::<u8>(bytes)?, *element),
            Given::Unset(bytes, element) => Placed::Buffer(device.uninit(*bytes)?, *element),
            Given::Null(element) => Placed::Buffer(Buffer::null(&device), *element),
            Given::Value(bytes) => Placed::Value(bytes.to_vec()),
        })
    });
    let placed = placed.collect::<dslc::Result<Vec<Placed>>>()?;
    let given: Vec<Argument<'_>> = placed
        .iter()
        .map(|one| match one {
            Placed::Buffer(buffer, element) => Argument::buffer_of(buffer, *element),
            Placed::Value(bytes) => Argument::bytes(bytes.clone()),
        })
        .collect();
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
    let mut memory = Vec::new();
    let mut failure = failure;
    for (k, (one, parameter)) in placed.iter().zip(kernel.parameters()).enumerate() {
        let is_written = matches!(
            parameter.passed,
            Passed::Pointer {
                is_const: false,
                ..
            }
        );
        memory.push(match one {
            Placed::Buffer(buffer, element) if is_written && failure.is_none() => {
                match buffer.read_bytes(*element) {
                    Ok(bytes) => Some(bytes),
                    Err(error) => {
                        failure = Some(unwritten(k, parameter, &error));
                        None
                    }
                }
            }
            _ => None,
        });
    }
    Ok(Run {
        run,
        failure,
        memory,
    })
}

/// Of memory that was to be written, some was not. What Rust programs do about it is no help here.
fn unwritten(k: usize, parameter: &Parameter, error: &dslc::Error) -> String {
    let text = error.to_string();
    let which = text.split(':').next().unwrap_or(&text);
    format!(
        "argument {}, `{parameter}`, is `unset`, and the kernel did not write all of it: {which}",
        k + 1
    )
}

/// A launch that ran, to its end or not.
#[pyclass(frozen)]
struct Run {
    run: dslc::Run,
    failure: Option<String>,
    memory: Vec<Option<Vec<u8>>>,
}

#[pymethods]
impl Run {
    /// Why the launch did not end.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What each argument's memory holds afterwards; `None` for what the kernel cannot have written.
    fn memory<'py>(&self, py: Python<'py>) -> Vec<Option<Bound<'py, PyBytes>>> {
        let bytes = self.memory.iter().map(Option::as_deref);
        bytes.map(|bytes| Some(PyBytes::new(py, bytes?))).collect()
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
