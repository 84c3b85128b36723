//! `dslc run --host native`, and programs of several files: built as `dslc nvcc` builds them, into a folder that goes, and run at once.

use std::{ffi::OsString, process::Command};

use super::nvcc;
use crate::{
    args::{Color, FailOn, Format, HostChoice, NvccArgs, RunArgs},
    failure::Failure,
};

/// Whether the program is to be compiled.
pub(crate) fn is_wanted(args: &RunArgs) -> bool {
    match args.host {
        Some(host) => host == HostChoice::Native,
        None => !args.more.is_empty(),
    }
}

/// Builds and runs.
pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    refuse(args)?;
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let mut words: Vec<OsString> = vec!["-O2".into(), "-rdc=true".into()];
    // Device code of one file needs no second look at all of them.
    if args.more.is_empty() {
        words.pop();
    }
    for define in &args.source.defines {
        words.extend(["-D".into(), define.into()]);
    }
    for include in &args.source.include {
        words.extend(["-I".into(), include.into()]);
    }
    if !args.source.fmad {
        words.push("-fmad=false".into());
    }
    words.extend(["-x".into(), "cu".into()]);
    let is_plain = |path: &std::path::PathBuf| {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| !matches!(end, "cu" | "k"))
    };
    let files = std::iter::once(&args.source.file).chain(&args.more);
    // `-x cu` is for a program whose name does not say what it is; other files are what their names say.
    if files.clone().any(is_plain) {
        words.truncate(words.len() - 2);
    }
    words.extend(files.map(|file| file.into()));
    words.extend(["-o".into(), program.clone().into()]);
    let built = nvcc::run(&NvccArgs { args: words }, color)?;
    if built != 0 {
        return Ok(1);
    }
    let mut command = Command::new(program);
    command.args(&args.program.args).env("DSLC", options(args));
    nvcc::status(&mut command)
}

/// What a compiled program has no way to do.
fn refuse(args: &RunArgs) -> Result<(), Failure> {
    let wanted = [
        (
            args.host == Some(HostChoice::Interpreted),
            "--host interpreted with several files",
        ),
        (args.is_on_gpu(), "--device gpu"),
        (!args.report.metrics.is_empty(), "--metrics"),
        (args.report.format != Format::Text, "--format"),
        (args.report.kernel.is_some(), "--kernel"),
        (args.report.launches.is_some(), "--launches"),
        (!args.program.launch.is_empty(), "--launch"),
        (args.program.timeout.is_some(), "--timeout"),
        (args.program.memory.is_some(), "--memory"),
        (args.known.baseline.is_some(), "--baseline"),
        (args.known.write_baseline.is_some(), "--write-baseline"),
        (args.rules.rules.is_some(), "--rules"),
        (args.checking.checks.is_some(), "--checks"),
        (args.checking.order.is_some(), "--order"),
        (args.fail_on == FailOn::Note, "--fail-on note"),
    ];
    match wanted.iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(Failure::new(format!(
            "{what} is not there yet for programs whose host code is compiled"
        ))),
        None => Ok(()),
    }
}

/// The options of the run as the program reads them.
fn options(args: &RunArgs) -> OsString {
    let mut all = OsString::from(format!("--jobs {}", args.program.jobs));
    let mut add = |text: String| {
        all.push(" ");
        all.push(text);
    };
    if let Some(arch) = &args.source.arch {
        add(format!("--arch {arch}"));
    }
    if let Some(limit) = args.program.limit {
        add(format!("--limit {limit}"));
    }
    if args.fail_on == FailOn::Warning {
        add("--fail-on warning".to_string());
    }
    let flags = [
        (args.checking.no_checks, "--no-checks"),
        (args.checking.stop_at_first, "--stop-at-first"),
        (args.report.quiet, "--quiet"),
    ];
    for (_, flag) in flags.iter().filter(|(is, _)| *is) {
        add((*flag).to_string());
    }
    if let Some(html) = &args.report.html {
        all.push(" --html=");
        all.push(html);
    }
    all
}
