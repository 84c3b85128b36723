//! The PTX back end: verified IR in, LLVM IR or PTX text out. The only room that knows LLVM.
//!
//! Stages: `emit` writes the module as LLVM IR text; `llvm` has LLVM read it, run its pipeline for the level asked for, and print PTX. That
//! the step in between is text costs a few milliseconds and buys that everything LLVM has (synchronisation scopes, metadata,
//! line-only debug information) can be said, that LLVM's own reader checks it, and that it can be looked at.
//!
//! What each operation of the IR becomes, and why the bits then agree with `ir::eval`, is in this crate's README.

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
    /// A `.loc` for every instruction, so that profilers and sanitizers name source lines.
    pub lines: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: Target::default(),
            opt_level: 3,
            lines: true,
        }
    }
}

/// Why there is no PTX. None of these is the fault of a program that passed the front end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The program uses something that this back end has no translation for.
    #[error("{file}:{line}: {what} has no translation to PTX")]
    Unsupported {
        /// The construct.
        what: String,
        /// The file it stands in.
        file: String,
        /// Its line, from 1; 0 if unknown.
        line: u32,
    },
    /// LLVM was built without the NVPTX back end or does not know the processor.
    #[error("LLVM cannot compile for {target}: {message}")]
    Target {
        /// The target asked for.
        target: String,
        /// LLVM's words.
        message: String,
    },
    /// LLVM refused the module: a bug of ours.
    #[error("LLVM refused the module (a bug in dslc): {message}")]
    Llvm {
        /// LLVM's words.
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

/// The module as PTX for a GPU of that name and compute capability. The error is one sentence.
pub fn ptx_for(
    module: &Module,
    gpu: (&str, u32, u32),
    opt_level: u8,
    lines: bool,
) -> Result<String, String> {
    let options = Options {
        arch: Target::for_gpu(gpu)?,
        opt_level,
        lines,
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

/// The module as we write it, for LLVM to read.
fn llvm_text(module: &Module, options: &Options) -> Result<String, Error> {
    if options.opt_level < 2 {
        return emit::module(module, options);
    }
    let mut module = module.clone();
    merge_branches(&mut module);
    emit::module(&module, options)
}
