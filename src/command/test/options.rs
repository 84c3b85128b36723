//! The options of a test: those of `dslc run` that comments may give.
//!
//! Comments are as untrusted as programs. So they may not name files elsewhere, nor ask for more time, memory and instructions than the
//! command line allows.

use std::path::{Path, PathBuf};

use clap::Parser;
use runtime::buffer::{BufferSource, BufferSpec};

use super::Test;
use crate::{
    args::{Cli, Command, Format, HostChoice, MemoryChoice, RunArgs, TestArgs},
    failure::Failure,
};

/// The options of a test, read as those of `dslc run`.
pub(super) fn run_args(test: &Test<'_>, limits: &TestArgs) -> Result<RunArgs, Failure> {
    let options = &test.program.expected.options;
    let words = ["dslc", "run"].map(String::from).into_iter();
    let words = words.chain(options.iter().cloned());
    let words = words.chain(limits.defines.iter().map(|define| format!("-D{define}")));
    let behind = std::iter::once("--".to_string()).chain(test.args.iter().cloned());
    let wrong = |why: &str| Failure::new(format!("//~ options {}: {why}", options.join(" ")));
    let file = std::iter::once(test.program.path.display().to_string());
    let cli = Cli::try_parse_from(words.chain(file).chain(behind)).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        wrong(line.trim_start_matches("error: "))
    })?;
    let Command::Run(mut args) = cli.command else {
        return Err(wrong("these are no options of `dslc run`"));
    };
    let refused = [
        (args.is_on_gpu(), "--device"),
        (
            matches!(args.host, Some(HostChoice::Native | HostChoice::Auto)),
            "--host native or auto",
        ),
        (!args.more.is_empty(), "a second file"),
        (args.source.arch.is_some(), "--arch (write `//~ arch`)"),
        (!args.require.is_empty(), "--require (write `//~ require`)"),
        (args.report.format != Format::Text, "--format"),
        (!args.report.metrics.is_empty(), "--metrics"),
        (args.report.html.is_some(), "--html"),
        (!args.save.is_empty(), "--save"),
        (args.blocks.is_some(), "--blocks"),
        (args.known.baseline.is_some(), "--baseline"),
        (args.known.write_baseline.is_some(), "--write-baseline"),
        (args.observer.record.is_some(), "--record"),
        (args.observer.trace.is_some(), "--trace"),
    ];
    if let Some((_, what)) = refused.iter().find(|(is, _)| *is) {
        return Err(wrong(&format!("a test has no {what}")));
    }
    if let Some(path) = files_of(&args).find(|path| !is_near(path, &test.program.path)) {
        let path = path.display();
        return Err(wrong(&format!(
            "`{path}` is neither below the test's folder nor below the one that dslc runs in"
        )));
    }
    bound(&mut args, limits);
    for text in args.program.launch.clone() {
        args.source.instantiate(&text);
    }
    Ok(*args)
}

/// The files and folders that options name.
fn files_of(args: &RunArgs) -> impl Iterator<Item = PathBuf> {
    let buffers = args.program.buffer.iter().filter_map(|text| {
        // An invalid specification is reported when the buffer is made.
        match BufferSpec::parse(text).ok()?.source {
            BufferSource::File(path) => Some(PathBuf::from(path)),
            BufferSource::Made { .. } => None,
        }
    });
    let all = args.source.include.iter().chain(&args.rules.rules);
    all.cloned().chain(buffers)
}

/// Whether a path leads below the folder of the program, or of the process, after links are followed. A path that does not exist does no
/// harm.
pub(super) fn is_near(path: &Path, program: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return true;
    };
    let own = program
        .parent()
        .and_then(|own| own.join(".").canonicalize().ok());
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let mut roots = own.into_iter().chain(here.ok());
    roots.any(|root| path.starts_with(root))
}

/// Limits a test to what the command line allows.
fn bound(args: &mut RunArgs, limits: &TestArgs) {
    let program = &mut args.program;
    let time = program.timeout.unwrap_or(limits.timeout);
    program.timeout = Some(time.min(limits.timeout));
    let bytes = program.memory_bytes().unwrap_or(limits.memory);
    program
        .memory
        .push(MemoryChoice::Bytes(bytes.min(limits.memory)));
    program.limit = match (program.limit, limits.limit) {
        (Some(own), Some(most)) => Some(own.min(most)),
        (own, most) => own.or(most),
    };
}
