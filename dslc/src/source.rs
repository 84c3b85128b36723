//! Compiles CUDA source at run time (feature `source`), like NVRTC, for kernels whose text is not known before. Also reads PTX.

mod from_ptx;

use std::{
    fmt, fs,
    panic::Location,
    path::{Path, PathBuf},
    sync::Arc,
};

use dsl::{
    lower::{scalars, size_bytes, written},
    sema::{
        ty::Ty,
        typed::{Function, Program, Var},
    },
};
use interp::rules::Arch;
use ir::{
    MemType,
    diagnostic::{self, Diagnostic, Severity},
    source::{Included, Loader, SourceFile, SourceMap},
};

use crate::{
    buffer::Buffer,
    device::{Device, bytes_of_value},
    element::Element,
    embed::Module,
    error::{Error, Result},
    grid::Grid,
    run::Run,
};

/// Columns of messages.
const WIDTH: usize = 100;

/// CUDA source, with the options to compile it.
///
/// ```
/// use dslc::{Arch, Argument, Device, Grid, Source};
/// # fn main() -> dslc::Result<()> {
/// let kernels = Source::new("scale.cu", "
///     __global__ void scale(float *x, int n)
///     {
///         int i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i < n) x[i] *= FACTOR;
///     }").define("FACTOR", "3.0f").compile()?;
/// let device = Device::simulator(Arch::SM_90)?;
/// let mut x = device.buffer(&[1.0f32; 100])?;
/// let run = kernels.kernel("scale")?.launch(&device, Grid::cover(100, 32), &[(&mut x).into(), Argument::value(&100)])?;
/// assert_eq!(x.read()?, [3.0; 100]);
/// assert!(run.is_clean());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Source {
    name: String,
    text: String,
    options: dsl::Options,
    /// The folders to search for included files; the first one is that of the source, if it is a file.
    folders: Vec<PathBuf>,
}

impl Source {
    /// A text, with its name in messages. It includes files only from the folders of [`Source::include`].
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
            options: dsl::Options::default(),
            folders: Vec::new(),
        }
    }

    /// A file, which may include files in its folder.
    pub fn read(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| {
            Error::new(format_args!("cannot read `{}`: {error}", path.display()))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Source::new(path.display().to_string(), text).include(folder))
    }

    /// Defines a macro before the first line, as `-D NAME=VALUE` does.
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Source {
        let define = (name.into(), Some(value.to_string()));
        self.options.defines.push(define);
        self
    }

    /// Requests an instance of a kernel template: `fill<float, 4>`.
    pub fn instance(mut self, name: impl Into<String>) -> Source {
        self.options.instances.push(name.into());
        self
    }

    /// Adds a folder that files may be included from.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Source {
        self.folders.push(folder.into());
        self
    }

    /// The architecture for `__CUDA_ARCH__`; sm_90 by default.
    pub fn arch(mut self, arch: Arch) -> Source {
        self.options.cuda_arch = 10 * arch.number();
        self
    }

    /// Compiles the kernels, or reads them if the text is PTX. Then a pointer takes any buffer: PTX does not say of what. Host code in the source is only read for the instances of templates that it launches; it does not run.
    ///
    /// # Errors
    /// The messages of the compiler, with the lines that they are about.
    pub fn compile(&self) -> Result<Kernels> {
        if ptx::is_ptx(&self.text) {
            return self.compile_ptx();
        }
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new(&self.name, &self.text));
        let embedded = dsl::embed::kernels(&mut map, file, &self.options, self);
        let messages = |severity: fn(Severity) -> bool| {
            let wanted = embedded.diagnostics.iter();
            let wanted: Vec<Diagnostic> = wanted
                .filter(|one| severity(one.severity))
                .cloned()
                .collect();
            diagnostic::render::render(&wanted, &map, false, Some(WIDTH))
        };
        let Some(kernels) = &embedded.kernels else {
            return Err(Error::new(messages(|one| one == Severity::Error)));
        };
        let signature = |function: &Function| -> Arc<[Parameter]> {
            let declared = function.params.iter().map(|&var| &function.vars[var]);
            let one = |var: &Var| Parameter {
                name: var.name.clone(),
                c_type: written(&kernels.program, &var.ty),
                passed: passed(&kernels.program, &var.ty.ty),
                scalars: scalars(&kernels.program, &var.ty.ty)
                    .into_iter()
                    .map(|(offset, scalar)| (offset as usize, scalar))
                    .collect(),
            };
            declared.map(one).collect()
        };
        let signatures = kernels.iter().map(|(id, function)| {
            let name = kernels.module.function(id).name.clone();
            (name, signature(function))
        });
        let signatures: Vec<_> = signatures.collect();
        if signatures.is_empty() {
            return Err(Error::new(format_args!(
                "`{}` has no kernel: no function is declared `__global__`",
                self.name
            )));
        }
        let warnings = messages(|one| one != Severity::Error);
        let program = interp::Program::new(Arc::new(kernels.module.clone()));
        Ok(Kernels {
            module: Arc::new(Module {
                name: self.name.clone(),
                program,
                map,
            }),
            signatures: signatures.into(),
            warnings: warnings.into(),
        })
    }
}

/// Looks in the folder of the including file, then in `folders`.
impl Loader for Source {
    fn load(&self, name: &str, from: &str) -> Option<std::result::Result<Included, String>> {
        let beside = match from == self.name {
            true => None,
            false => Path::new(from).parent(),
        };
        let folders = beside
            .into_iter()
            .chain(self.folders.iter().map(PathBuf::as_path));
        let path = folders
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())?;
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        Some(text.map(|text| Included {
            full_name: path.display().to_string(),
            text,
        }))
    }
}

/// How a parameter is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// A pointer: a buffer.
    Pointer {
        /// The type that it points to, if that is a number.
        element: Option<Number>,
        /// The size of the type that it points to; 1 for `void`.
        element_bytes: usize,
        /// Whether the kernel only reads through it.
        is_const: bool,
    },
    /// A value of this size.
    Value {
        /// Its size.
        bytes: usize,
        /// The kind of number; `None` for structures.
        number: Option<Number>,
    },
}

/// A number's kind, without its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// `bool`.
    Bool,
    /// `char`, `short`, `int`, `long long` and enumerations, if they are signed.
    Signed,
    /// The unsigned ones.
    Unsigned,
    /// `half`, `float` and `double`.
    Float,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name in the declaration; may be empty.
    pub name: String,
    /// Its type as C writes it: `const float *`.
    pub c_type: String,
    /// How it is passed.
    pub passed: Passed,
    /// A kernel takes each scalar of a value separately: its offset in the value, and its type.
    scalars: Vec<(usize, MemType)>,
}

/// The declaration: `const float *x`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = match self.name.is_empty() || self.c_type.ends_with('*') {
            true => "",
            false => " ",
        };
        write!(f, "{}{space}{}", self.c_type, self.name)
    }
}

/// How a type is passed.
fn passed(program: &Program, ty: &Ty) -> Passed {
    match ty {
        Ty::Pointer(pointee) => {
            let is_sized = !matches!(pointee.ty, Ty::Void | Ty::Function(_) | Ty::Error);
            Passed::Pointer {
                element: number(program, &pointee.ty),
                element_bytes: match is_sized {
                    true => size_bytes(program, &pointee.ty) as usize,
                    false => 1,
                },
                is_const: pointee.is_const,
            }
        }
        _ => Passed::Value {
            bytes: size_bytes(program, ty) as usize,
            number: number(program, ty),
        },
    }
}

/// The kind of number that a type is.
fn number(program: &Program, ty: &Ty) -> Option<Number> {
    Some(match ty {
        Ty::Bool => Number::Bool,
        Ty::Char | Ty::SChar | Ty::Short | Ty::Int | Ty::Long | Ty::LongLong => Number::Signed,
        Ty::UChar | Ty::UShort | Ty::UInt | Ty::ULong | Ty::ULongLong => Number::Unsigned,
        Ty::Float | Ty::Double => Number::Float,
        Ty::Enum(id) => return number(program, id.1.ty()),
        Ty::Record(id) if program.record(*id).name == "__half" => Number::Float,
        _ => return None,
    })
}

/// Compiled kernels. A copy refers to the same kernels.
#[derive(Clone, Debug)]
pub struct Kernels {
    module: Arc<Module>,
    signatures: Arc<[(String, Arc<[Parameter]>)]>,
    warnings: Arc<str>,
}

impl Kernels {
    /// Their names, as declared; for an instance `fill<float, 4>`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.signatures.iter().map(|(name, _)| name.as_str())
    }

    /// The compiler's warnings; empty if there are none.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// A kernel by its name. Spaces in the name of an instance do not matter.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let known = |(known, _): &(String, _)| letters(known) == letters(name);
        let Some(index) = self.signatures.iter().position(known) else {
            let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            return Err(Error::new(format_args!(
                "there is no kernel `{name}` in `{}`; it has {}",
                self.module.name,
                names.join(", ")
            )));
        };
        Ok(Kernel {
            kernels: self.clone(),
            index,
        })
    }
}

/// One compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    kernels: Kernels,
    index: usize,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.kernels.signatures[self.index].0
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.kernels.signatures[self.index].1
    }

    /// Launches it.
    ///
    /// # Errors
    /// If an argument does not fit its parameter: a value for a pointer, a wrong size, too few or too many arguments. And for the same
    /// reasons as any launch: see [`Run`].
    #[track_caller]
    pub fn launch(&self, device: &Device, grid: Grid, arguments: &[Argument<'_>]) -> Result<Run> {
        let caller = Location::caller();
        self.launch_from(device, grid, arguments, (caller.file(), caller.line()))
    }

    /// The same, for a program in another language: messages name its file and line as the place of the launch.
    #[doc(hidden)]
    pub fn launch_from(
        &self,
        device: &Device,
        grid: Grid,
        arguments: &[Argument<'_>],
        caller: (&str, u32),
    ) -> Result<Run> {
        let parameters = self.parameters();
        if parameters.len() != arguments.len() {
            return Err(Error::new(format_args!(
                "`{}` takes {} arguments, not {}: {}",
                self.name(),
                parameters.len(),
                arguments.len(),
                self.prototype()
            )));
        }
        let loaded = device.load_compiled(&self.kernels.module)?;
        let mut call = loaded.call(self.index, grid).from(caller);
        for (at, (parameter, given)) in parameters.iter().zip(arguments).enumerate() {
            match (&given.0, &parameter.passed) {
                (Given::Pointer(buffer), Passed::Pointer { element_bytes, .. }) => {
                    let fits = *element_bytes == 1 || *element_bytes == buffer.element_bytes;
                    if !fits {
                        let why = format_args!(
                            "has elements of {element_bytes} bytes, and the buffer's have {}",
                            buffer.element_bytes
                        );
                        return Err(self.misfit(at, &why));
                    }
                    call.address(buffer.device, buffer.address)?;
                }
                (Given::Value(bytes), Passed::Value { bytes: wanted, .. }) => {
                    if bytes.len() != *wanted {
                        let why =
                            format_args!("has {wanted} bytes, and the value has {}", bytes.len());
                        return Err(self.misfit(at, &why));
                    }
                    call.bytes(bytes, &parameter.scalars);
                }
                (Given::Pointer(_), Passed::Value { .. }) => {
                    return Err(self.misfit(at, &"is a value, and this is a buffer"));
                }
                (Given::Value(_), Passed::Pointer { .. }) => {
                    return Err(self.misfit(at, &"is a pointer: it takes a buffer"));
                }
            }
        }
        call.launch()
    }

    /// `saxpy(float a, const float *x, float *y, int n)`.
    pub fn prototype(&self) -> String {
        let parameters = self.parameters().iter().map(Parameter::to_string);
        let parameters: Vec<String> = parameters.collect();
        format!("{}({})", self.name(), parameters.join(", "))
    }

    fn misfit(&self, at: usize, why: &dyn fmt::Display) -> Error {
        Error::new(format_args!(
            "argument {} of `{}`: `{}` {why}",
            at + 1,
            self.name(),
            self.parameters()[at]
        ))
    }
}

/// An argument for a parameter of a [`Kernel`]: a buffer for a pointer, else a value.
#[derive(Clone, Debug)]
pub struct Argument<'a>(Given<'a>);

#[derive(Clone, Debug)]
enum Given<'a> {
    Pointer(Pointer<'a>),
    Value(Vec<u8>),
}

#[derive(Clone, Copy, Debug)]
struct Pointer<'a> {
    device: &'a Device,
    address: u64,
    element_bytes: usize,
}

impl<'a> Argument<'a> {
    /// A number, a vector or a structure, with the parameter's size: `1i32` for an `int`.
    pub fn value<T: Element>(value: &T) -> Argument<'a> {
        Argument(Given::Value(bytes_of_value(value)))
    }

    /// The bytes of a value.
    pub fn bytes(bytes: Vec<u8>) -> Argument<'a> {
        Argument(Given::Value(bytes))
    }

    /// A buffer of any elements, which have this size.
    pub fn buffer_of(buffer: &'a Buffer<u8>, element_bytes: usize) -> Argument<'a> {
        Argument(Given::Pointer(Pointer {
            device: buffer.device(),
            address: buffer.pointer().address(),
            element_bytes,
        }))
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for Argument<'a> {
    fn from(buffer: &'a Buffer<T>) -> Argument<'a> {
        Argument(Given::Pointer(Pointer {
            device: buffer.device(),
            address: buffer.pointer().address(),
            element_bytes: T::BYTES,
        }))
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for Argument<'a> {
    fn from(buffer: &'a mut Buffer<T>) -> Argument<'a> {
        Argument::from(&*buffer)
    }
}

/// The text without its white space.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}
