//! Merges reports of `dslc run --blocks`: runs the program again, with the launch put together from the parts.

use std::{
    iter,
    path::{Path, PathBuf},
};

use clap::Parser;
use report::blocks::Blocks;
use serde::Deserialize;

use super::super::run::compile_and_run;
use crate::{
    args::{
        self, BlockRange, Cli, Color, Command, Cures, DeviceChoice, MergeArgs, ObserverArgs,
        ProgramArgs, RunArgs,
    },
    failure::Failure,
    files, output,
};

/// Size limit of a report.
const MOST_BYTES: u64 = 4 << 30;

/// The parts of a report that are read.
#[derive(Deserialize)]
struct Report {
    schema: String,
    #[serde(default)]
    blocks: Option<Blocks>,
}

/// A part, and the file that it comes from.
pub(super) struct Read {
    name: String,
    blocks: Blocks,
}

/// The parts in these files; `None` if the first file is not a report.
pub(super) fn read(files: &[PathBuf]) -> Result<Option<Vec<Read>>, Failure> {
    let mut all = Vec::new();
    for (at, path) in files.iter().enumerate() {
        let name = path.display().to_string();
        let report = read_one(path)?;
        match report {
            Some(Report {
                blocks: Some(blocks),
                ..
            }) => all.push(Read { name, blocks }),
            Some(_) => {
                return Err(Failure::new(format!(
                    "`{name}` is no part of a launch: its run had no --blocks, or its blocks did not end"
                )));
            }
            None if at == 0 => return Ok(None),
            None => return Err(Failure::new(format!("`{name}` is no JSON report"))),
        }
    }
    Ok(Some(all))
}

fn read_one(path: &Path) -> Result<Option<Report>, Failure> {
    let bytes = files::read(path, true, MOST_BYTES)
        .map_err(|why| Failure::new(format!("cannot read `{}`: {why}", path.display())))?;
    let report: Option<Report> = serde_json::from_slice(&bytes).ok();
    Ok(report.filter(|report| report.schema == "dslc-report/1"))
}

/// Shows the report of all parts together.
pub(super) fn merge(args: &MergeArgs, mut parts: Vec<Read>, color: Color) -> Result<u8, Failure> {
    if args.output.is_some() {
        return Err(Failure::new(
            "-o is for results of a sweep: a report goes to standard output",
        ));
    }
    parts.sort_by_key(|part| (part.blocks.from, part.blocks.to));
    if let Some(why) = misfit(&parts) {
        output::err(&format!("dslc: {why}\n"));
        return Ok(1);
    }
    let [first, ..] = &parts[..] else {
        return Err(Failure::new("there is no part"));
    };
    let range = BlockRange {
        launch: Some(first.blocks.launch),
        from: 0,
        to: first.blocks.of,
    };
    let run = parsed(&first.blocks.command)
        .ok_or_else(|| Failure::new(format!("`{}` does not say how it was run", first.name)))?;
    let run = RunArgs {
        more: Vec::new(),
        host: None,
        device: DeviceChoice::Simulator,
        program: ProgramArgs {
            jobs: args.jobs,
            timeout: None,
            ..run.program
        },
        blocks: Some(range),
        parts: parts.into_iter().map(|part| part.blocks).collect(),
        command: Vec::new(),
        fail_on: args.fail_on,
        require: args.require.clone(),
        known: args.known.clone(),
        report: args.report.clone(),
        cures: Cures::Never,
        save: Vec::new(),
        observer: ObserverArgs {
            record: None,
            trace: None,
        },
        ..run
    };
    compile_and_run(&run, color)
}

/// The options of a part's run.
fn parsed(command: &[String]) -> Option<RunArgs> {
    let words = iter::once("dslc".into()).chain(command.iter().map(Into::into));
    let words = args::before::with_values(words);
    match Cli::try_parse_from(words).ok()?.command {
        Command::Run(run) => Some(*run),
        _ => None,
    }
}

/// Why parts, in order, are not one launch; `None` if they are.
fn misfit(parts: &[Read]) -> Option<String> {
    let [first, ..] = parts else {
        return None;
    };
    for part in parts {
        let names = format!("`{}` and `{}`", first.name, part.name);
        if let Some(what) = first.blocks.key.difference(&part.blocks.key) {
            return Some(format!(
                "{names} are not parts of one launch: one was run with {what}"
            ));
        }
        let launch = |part: &Read| (part.blocks.launch, part.blocks.of);
        if launch(first) != launch(part) {
            return Some(format!("{names} are parts of different launches"));
        }
        if part.blocks.part().is_none() {
            return Some(format!("`{}` is not as dslc wrote it", part.name));
        }
    }
    let (mut next, mut last) = (0, None::<&Read>);
    let mut problems = Vec::new();
    for part in parts {
        let (from, to) = (part.blocks.from, part.blocks.to);
        match last {
            Some(last) if from < next => problems.push(format!(
                "blocks {from}..{} are in `{}` and in `{}`",
                to.min(next),
                last.name,
                part.name
            )),
            _ if from > next => problems.push(missing(next, from)),
            _ => {}
        }
        if to > next {
            (next, last) = (to, Some(part));
        }
    }
    if next < first.blocks.of {
        problems.push(missing(next, first.blocks.of));
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn missing(from: u64, to: u64) -> String {
    format!("blocks {from}..{to} are in no part")
}
