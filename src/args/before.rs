//! What is done with a command line before it is parsed.

use std::{ffi::OsString, path::PathBuf};

use clap::ValueEnum;

use super::Launches;

/// The command line with `--launches` given its value where what follows is none: in `--launches a.k` that is the program.
pub(crate) fn with_values(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![];
    for arg in args {
        let is_value = arg
            .to_str()
            .is_some_and(|arg| Launches::from_str(arg, true).is_ok());
        let is_open = all.last().is_some_and(|last| last == "--launches");
        if is_open && !is_value && !all.iter().any(|arg| arg == "--") {
            all.pop();
            all.push("--launches=folded".into());
        }
        all.push(arg);
    }
    all
}

/// A command line under the name `nvcc`, which a link may give the program, is one of `dslc nvcc`.
pub(crate) fn as_dslc(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let name = args.first().map(PathBuf::from);
    let is_nvcc = name.is_some_and(|name| name.file_name().is_some_and(|name| name == "nvcc"));
    if is_nvcc {
        args.insert(1, "nvcc".into());
    }
    args
}

/// Whether the command line is `run --metrics list`, with whatever else.
pub(crate) fn lists_metrics(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.skip(1).take_while(|arg| arg != "--").collect();
    let is_run = args.iter().any(|arg| arg == "run");
    let mut pairs = args.windows(2);
    is_run
        && (args.iter().any(|arg| arg == "--metrics=list")
            || pairs.any(|pair| pair[0] == "--metrics" && pair[1] == "list"))
}
