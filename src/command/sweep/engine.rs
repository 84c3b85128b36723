//! `--engine`: runs the configurations as tasks of an engine for many machines, through Python's module `dslc`.
//!
//! The module starts this program on each machine with `--shard`, and merges what they return into the file of results.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use crate::failure::{Failure, reason};

/// The variable that names the Python in which the module is installed.
const PYTHON: &str = "DSLC_PYTHON";

/// Runs the configurations without a result on the engine.
pub(super) fn run(spec: &Path, results: &Path, engine: &str) -> Result<(), Failure> {
    let python = env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
    let name = python.to_string_lossy().into_owned();
    let has_module = Command::new(&python)
        .args(["-c", "import dslc"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let why = reason(&error);
            Failure::new(format!(
                "--engine needs Python, and `{name}` cannot be started: {why}; {PYTHON} may name another one"
            ))
        })?;
    if !has_module.status.success() {
        return Err(Failure::new(format!(
            "--engine needs the module `dslc` of `{name}`: install dslc's wheel there, or let {PYTHON} name another Python (python/README.md)"
        )));
    }
    let mut command = Command::new(&python);
    command
        .args(["-m", "dslc", "sweep"])
        .arg(spec)
        .args(["--engine", engine, "--results"])
        .arg(results)
        .stdin(Stdio::null())
        // This process prints the table.
        .stdout(Stdio::null());
    if let Ok(program) = env::current_exe() {
        command.env("DSLC", program);
    }
    let ended = command.status()?;
    match ended.code() {
        // 1: no configuration is good.
        Some(0 | 1) => Ok(()),
        _ => Err(Failure::new(format!(
            "the engine `{engine}` did not end the sweep; what it has done is kept for the next start"
        ))),
    }
}
