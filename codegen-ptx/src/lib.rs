//! The PTX back end: translates verified IR to LLVM IR text or PTX. Only this crate depends on LLVM.
//!
//! It has two stages. `emit` writes the module as LLVM IR text. `llvm` makes LLVM parse it, runs the pipeline of the requested level, and
//! prints PTX. The text between the stages takes a few milliseconds. In return everything in LLVM can be used (synchronisation scopes,
//! metadata, line-only debug information), LLVM's own parser checks it, and people can read it.
//!
//! This crate's README lists the translation of each operation of the IR, and why the bits agree with `ir::eval`.

mod emit;
mod llvm;

use ir::{Module, merge_branches};

pub use ir::target::{Target, UnknownTarget};

/// What the user can choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The GPU generation to compile for.
    pub arch: Target,
    /// LLVM's optimisation level, 0 to 3; more counts as 3.
    pub opt_level: u8,
    /// What the `.loc` of each instruction says.
    pub lines: Lines,
}

/// What `.loc` directives say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    /// There are none.
    None,
    /// Line and column, so that profilers and sanitizers name source lines.
    Source,
    /// The line, and as column the number of the instruction's place in the module ([`ir::LocId`]): so dslc finds the accesses of the source
    /// in the PTX. LLVM has 16 bits for it; a larger number is 0.
    Places,
}

impl From<bool> for Lines {
    /// Those of the source, or none.
    fn from(source: bool) -> Lines {
        match source {
            true => Lines::Source,
            false => Lines::None,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: Target::default(),
            opt_level: 3,
            lines: Lines::Source,
        }
    }
}

/// Why there is no PTX. A program that passed the front end causes none of these errors itself.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The program uses a construct that this back end cannot translate.
    #[error("{file}:{line}: {what} has no translation to PTX")]
    Unsupported {
        /// The construct.
        what: String,
        /// The file that contains it.
        file: String,
        /// Its line, from 1; 0 if unknown.
        line: u32,
    },
    /// LLVM was built without the NVPTX back end, or does not know the processor.
    #[error("LLVM cannot compile for {target}: {message}")]
    Target {
        /// The requested target.
        target: String,
        /// LLVM's message.
        message: String,
    },
    /// LLVM rejected the module: a bug of this crate.
    #[error("LLVM refused the module (a bug in dslc): {message}")]
    Llvm {
        /// LLVM's message.
        message: String,
    },
}

/// The module's kernels and variables as PTX text, after optimisation.
///
/// Each kernel is an `.entry` named [`kernel_symbol`](ir::symbol::kernel_symbol) with one parameter per [`ir::Param`], in order: `i1` is one byte (0 or 1), `i32` and `f32` are 4
/// bytes, `i64`, `f64` and pointers 8. An argument given as 8 little-endian bytes therefore serves every type.
pub fn ptx(module: &Module, options: &Options) -> Result<String, Error> {
    llvm::ptx(&llvm_text(module, options)?, options)
}

/// The module as PTX for a GPU with this name and compute capability. The error is one sentence.
pub fn ptx_for(
    module: &Module,
    gpu: (&str, u32, u32),
    opt_level: u8,
    lines: bool,
) -> Result<String, String> {
    let options = Options {
        arch: Target::for_gpu(gpu)?,
        opt_level,
        lines: lines.into(),
    };
    ptx(module, &options).map_err(|error| error.to_string())
}

/// The module as LLVM IR text, after optimisation.
pub fn llvm_ir(module: &Module, options: &Options) -> Result<String, Error> {
    llvm::optimized(&llvm_text(module, options)?, options)
}

/// LLVM's version, as in `22.1.8`.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

/// The module's text before LLVM reads it.
fn llvm_text(module: &Module, options: &Options) -> Result<String, Error> {
    if options.opt_level < 2 {
        return emit::module(module, options);
    }
    let mut module = module.clone();
    merge_branches(&mut module);
    emit::module(&module, options)
}
