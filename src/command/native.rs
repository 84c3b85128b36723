//! `dslc run --host native`, and programs of several files: builds them as `dslc nvcc` does, keeps them in the user's cache, and runs them.

mod cache;
mod joined;

use std::{
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use clap::{ValueEnum, builder::PossibleValue};
use interp::Check;

use super::nvcc;
use crate::{
    args::{Color, Cures, Format, HostChoice, RunArgs},
    failure::Failure,
    output, progress, require, source,
};

/// Whether the program is to be compiled.
pub(crate) fn is_wanted(args: &RunArgs) -> bool {
    match args.host {
        Some(HostChoice::Native) => true,
        Some(HostChoice::Interpreted) => false,
        Some(HostChoice::Auto) | None => !args.more.is_empty(),
    }
}

/// Builds and runs the program. `standard` is the C++ that its kernels need, if nothing else is said.
pub(crate) fn run(args: &RunArgs, standard: Option<&str>, color: Color) -> Result<u8, Failure> {
    refuse(args)?;
    // The program parses the requirements again. Errors in them are reported here, before anything is built.
    if require::parse(&args.require, color).is_none() {
        return Ok(2);
    }
    let words = words(args, standard);
    let place = cache::place(&words);
    let (program, _folder) = match cache::known(&place) {
        Some(program) => (program, None),
        None => {
            let folder = match cache::build_folder() {
                Some(folder) => folder,
                None => tempfile::tempdir()?,
            };
            match build(args, words, folder.path(), &place, color)? {
                Some(program) => (program, Some(folder)),
                None => return Ok(1),
            }
        }
    };
    let mut command = Command::new(program);
    command.args(&args.program.args);
    if args.report.format == Format::Text {
        command.env("DSLC", options(args, None)?);
        return nvcc::status(&mut command);
    }
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("report");
    command.env("DSLC", options(args, Some(&report))?);
    reported(args, &mut command, &report)
}

/// The `dslc nvcc` command line that builds the program, without the output file.
fn words(args: &RunArgs, standard: Option<&str>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["-O2".into()];
    if !args.more.is_empty() && joined::is_needed(args) {
        words.push("-rdc=true".into());
    }
    for define in &args.source.defines {
        words.extend(["-D".into(), define.into()]);
    }
    for include in &args.source.include {
        words.extend(["-I".into(), include.into()]);
    }
    if let Some(standard) = args.source.std.as_deref().or(standard) {
        words.push(format!("-std={standard}").into());
    }
    if !args.source.fmad {
        words.push("-fmad=false".into());
    }
    let is_plain = |path: &&PathBuf| {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| !matches!(end, "cu" | "k"))
    };
    // `-x cu` is for a program whose file name has no known ending. Other files are what their names say.
    if !files(args).any(|path| is_plain(&path)) {
        words.extend(["-x".into(), "cu".into()]);
    }
    words.extend(files(args).map(OsString::from));
    let mut libraries: Vec<String> = args.libraries.clone();
    for file in files(args) {
        for (_, text) in source::texts(file, &args.source.include) {
            libraries.extend(nvcc::libraries_of(&text).map(str::to_string));
        }
    }
    libraries.sort_unstable();
    libraries.dedup();
    words.extend(libraries.iter().map(|name| format!("-l{name}").into()));
    words
}

/// The program's files.
fn files(args: &RunArgs) -> impl Iterator<Item = &PathBuf> {
    std::iter::once(&args.source.file).chain(&args.more)
}

/// Builds the program in `folder`, and keeps it at `place` for the next run; `None` if it does not compile.
fn build(
    args: &RunArgs,
    mut words: Vec<OsString>,
    folder: &Path,
    place: &Path,
    color: Color,
) -> Result<Option<PathBuf>, Failure> {
    let dependencies = tempfile::tempdir()?;
    // A single file does not need separate compilation, unless its kernels launch each other.
    if args.more.is_empty() && joined::kernels_launch(args) {
        words.push("-rdc=true".into());
    }
    words.push("-o".into());
    words.push(folder.join(cache::PROGRAM).into());
    let line = progress::busy("compiling with clang");
    let code = nvcc::build(&words, Some(dependencies.path()), color);
    drop(line);
    let is_built = code? == 0;
    let sources: Vec<PathBuf> = files(args).cloned().collect();
    Ok(is_built.then(|| cache::keep(folder, dependencies.path(), &sources, place)))
}

/// Runs a program with a machine-readable report. JSON contains the program's output; with SARIF, the output goes to standard error.
fn reported(args: &RunArgs, command: &mut Command, report: &Path) -> Result<u8, Failure> {
    let ran = command.stdout(Stdio::piped()).spawn();
    let ran = ran.and_then(std::process::Child::wait_with_output)?;
    let code = nvcc::code_of(ran.status);
    let Ok(text) = std::fs::read(report) else {
        output::out(&ran.stdout);
        output::err(
            "dslc: the program wrote no report: it launched no kernel, or it ended without calling its exit handlers (`_exit`, a signal)\n",
        );
        return Ok(code);
    };
    if args.report.format == Format::Sarif {
        output::err(&String::from_utf8_lossy(&ran.stdout));
        output::out(&text);
    } else {
        let mut json: serde_json::Value = serde_json::from_slice(&text)?;
        json["stdout"] = String::from_utf8_lossy(&ran.stdout).into();
        json["exit_code"] = code.into();
        output::out(serde_json::to_string_pretty(&json)?.as_bytes());
    }
    output::out(b"\n");
    Ok(code)
}

/// Refuses the options that a compiled program does not support.
fn refuse(args: &RunArgs) -> Result<(), Failure> {
    let wanted = [
        (
            args.host == Some(HostChoice::Interpreted),
            "--host interpreted with several files",
        ),
        (!args.program.launch.is_empty(), "--launch"),
        (args.cures == Cures::Always, "--cures always"),
        (
            args.checking.asks_for_compiled(),
            "--counts both or compiled",
        ),
        (!args.require_if_any.is_empty(), "--require-if-any"),
        (args.observer.record.is_some(), "--record"),
        (args.observer.trace.is_some(), "--trace"),
    ];
    match wanted.iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(Failure::new(format!(
            "{what} is not supported yet for programs whose host code is compiled"
        ))),
        None => Ok(()),
    }
}

/// The options of the run, for the variable `DSLC` that the compiled program reads: words, quoted as in a shell.
fn options(args: &RunArgs, report: Option<&Path>) -> Result<String, Failure> {
    let mut words = Words::default();
    machine_options(args, &mut words);
    report_options(args, report, &mut words);
    let flags = [
        (args.checking.no_checks, "--no-checks"),
        (args.checking.count_only, "--count-only"),
        (args.checking.stop_at_first, "--stop-at-first"),
        (args.report.quiet || report.is_some(), "--quiet"),
    ];
    let flags = flags.iter().filter(|(is, _)| *is);
    words.0.extend(flags.map(|(_, flag)| (*flag).to_string()));
    shlex::try_join(words.0.iter().map(String::as_str))
        .map_err(|why| Failure::new(format!("cannot pass an option to the program: {why}")))
}

/// Options as words of a command line.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, name: &str, value: impl Display) {
        self.0.push(format!("{name}={value}"));
    }

    fn add_if(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn add_choice(&mut self, name: &str, choice: Option<impl ValueEnum>) {
        let value = choice.and_then(|choice| choice.to_possible_value());
        self.add_if(name, value.as_ref().map(PossibleValue::get_name));
    }
}

/// The options for the device, its limits, and the checks.
fn machine_options(args: &RunArgs, words: &mut Words) {
    words.add("--jobs", args.program.jobs);
    words.add_if("--arch", args.source.arch.as_ref());
    if args.rules.bank_width != 4 {
        words.add("--bank-width", args.rules.bank_width);
    }
    if args.is_on_gpu() {
        words.add("--device", "gpu");
    }
    words.add_if(
        "--rules",
        args.rules.rules.as_ref().map(|path| path.display()),
    );
    words.add_if("--limit", args.program.limit);
    let seconds = args.program.timeout.map(|time| time.as_secs_f64());
    words.add_if("--timeout", seconds);
    words.add_if("--memory", args.program.memory_bytes());
    if args.program.memory_order() == interp::MemoryOrder::Weak {
        words.add("--memory", "weak");
    }
    if args.checking.checks.is_some() {
        let checks = args.wanted_checks();
        let wanted = Check::ALL.into_iter().filter(|&check| checks.has(check));
        let names: Vec<&str> = wanted.map(Check::name).collect();
        let names = names.join(",");
        words.add("--checks", if names.is_empty() { "none" } else { &names });
    }
    words.add_choice("--order", args.checking.order);
    words.add_if("--schedule", args.checking.schedule);
    if args.wanted_schedules() > 0 {
        words.add_if("--schedules", Some(args.wanted_schedules()));
        words.add_if("--seed", Some(args.checking.seed));
    }
}

/// The options for what is reported, and where.
fn report_options(args: &RunArgs, report: Option<&Path>, words: &mut Words) {
    words.add_choice("--fail-on", Some(args.fail_on));
    for requirement in &args.require {
        words.add("--require", requirement);
    }
    let files = [
        ("--baseline", &args.known.baseline),
        ("--write-baseline", &args.known.write_baseline),
        ("--html", &args.report.html),
    ];
    for (name, file) in files {
        words.add_if(name, file.as_ref().map(|file| file.display()));
    }
    words.add_if("--kernel", args.report.kernel.as_ref());
    words.add_choice("--launches", args.report.launches);
    if !args.report.metrics.is_empty() {
        words.add("--metrics", args.report.metrics.join(","));
    }
    let form = match args.report.format {
        Format::Sarif => "--sarif",
        Format::Json | Format::Text => "--json",
    };
    words.add_if(form, report.map(Path::display));
}
