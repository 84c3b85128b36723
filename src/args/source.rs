//! What a program is read from, and by which front end.

use std::{env, path::PathBuf};

use clap::{Args, ValueEnum, builder::TypedValueParser as _};

use super::program;
use crate::failure::Failure;

/// The variable that is the default of `--kernels-by`.
const KERNELS_BY: &str = "DSLC_KERNELS_BY";

/// How to read a source file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SourceArgs {
    /// The program, a CUDA source file; `-` is standard input.
    #[arg(value_parser = clap::builder::OsStringValueParser::new().map(program))]
    pub(crate) file: PathBuf,
    /// Define a macro, as in C compilers.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// Also search this folder for included files.
    #[arg(short = 'I', value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,
    /// Compile the kernels only, not the host code. A kernel that dslc does not understand does not stop the others.
    #[arg(long)]
    pub(crate) kernels: bool,
    /// Compute a * b + c in kernels with one rounding, as nvcc does.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) fmad: bool,
    /// The architecture to count or compile for. Default: sm_90; for `ptx` this machine's GPU, else sm_75.
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Which front end compiles kernels. By default clang compiles those that dslc does not understand, where it is installed (20 or later).
    /// The variable DSLC_KERNELS_BY is the default.
    #[arg(long, value_enum, value_name = "WHO")]
    pub(crate) kernels_by: Option<KernelsBy>,
    /// The C++ standard for what clang compiles, as `-std=c++20` too. Default: C++17, nvcc's own; for kernels C++20 where C++17 has more errors.
    #[arg(long, value_name = "STANDARD", value_parser = ["c++11", "c++14", "c++17", "c++20", "c++23", "gnu++17", "gnu++20"])]
    pub(crate) std: Option<String>,
    /// Instances of kernel templates that other arguments name: `k<float, 32>`.
    #[arg(skip)]
    pub(crate) instances: Vec<String>,
}

/// Which front end compiles kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum KernelsBy {
    /// dslc's own; clang for the kernels that it does not understand.
    #[default]
    Auto,
    /// dslc's own.
    Dslc,
    /// clang, all of them.
    Clang,
}

impl KernelsBy {
    /// What the option says, or the variable.
    pub(crate) fn wanted(option: Option<KernelsBy>) -> KernelsBy {
        // `check` has refused what is none of them.
        option
            .or(KernelsBy::named().ok().flatten())
            .unwrap_or_default()
    }

    /// Refuses a variable that names no front end.
    pub(crate) fn check() -> Result<(), Failure> {
        KernelsBy::named().map(drop)
    }

    fn named() -> Result<Option<KernelsBy>, Failure> {
        let name = env::var(KERNELS_BY).unwrap_or_default();
        if name.is_empty() {
            return Ok(None);
        }
        let by = KernelsBy::from_str(&name, true).map_err(|_| {
            Failure::new(format!(
                "the variable {KERNELS_BY} is `{name}`: it may be auto, dslc or clang"
            ))
        })?;
        Ok(Some(by))
    }
}

impl SourceArgs {
    /// Has the instance made that a kernel's name or a launch begins with, if it has template arguments.
    pub(crate) fn instantiate(&mut self, text: &str) {
        let name = text.split("<<<").next().unwrap_or(text).trim();
        if name.contains('<') && name.ends_with('>') {
            self.instances.push(name.to_string());
        }
    }
}
