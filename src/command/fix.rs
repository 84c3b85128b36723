//! `dslc fix FILE`: applies proved cures one after the other, and with `--checked` also those that further runs support. The result is a
//! diff, or is written to the files.

use std::{path::Path, sync::Arc};

use cure::{Run, Runner};
use interp::rules::RuleSet;
use ir::{diagnostic::Severity, locate::is_virtual, source::SourceMap};
use report::{Holds, Input, Model, Suggestion, Tables, text::Style};

use crate::{
    args::{Color, Cures, FixArgs},
    execute::{self, What},
    failure::Failure,
    files, output, progress,
    prove::{self, Prover},
    rules::rules,
    source::{cuda_arch, load_for},
    stopping::Watch,
};

/// Most cures of one program: each cure may uncover another problem.
const MAX_CURES: usize = 20;

/// Lines around a change in the diff.
const CONTEXT: usize = 3;

pub(crate) fn run(args: &FixArgs, color: Color) -> Result<u8, Failure> {
    if args.apply && files::is_of_shell(&args.source.file) {
        let name = args.source.file.display();
        return Err(Failure::new(format!(
            "--apply writes the program's files, and `{name}` is not a file: remove --apply to print the edits"
        )));
    }
    let rules = rules(args.source.arch.as_deref(), &args.rules)?;
    let mut source = args.source.clone();
    for text in &args.program.launch {
        source.instantiate(text);
    }
    let watch = Watch::start(args.program.timeout);
    let line = progress::busy("compiling");
    let loaded = load_for(&source, cuda_arch(&rules));
    drop(line);
    let mut loaded = loaded?;
    if loaded.report(color, Severity::Error) {
        return Ok(1);
    }
    let Some(module) = loaded.module.take().map(Arc::new) else {
        return Ok(1);
    };
    let stop = watch.flag();
    watch.runs(false)?;
    let mut first = Prover {
        source: &source,
        module: &module,
        map: &loaded.map,
        machine: execute::machine(rules, &args.program, stop),
        what: What {
            program: &args.program,
            save: &[],
            keep_going: true,
            stop,
        },
        left: None,
        compiled: false,
    };
    let line = progress::busy("running the program");
    let now = first.first_run();
    drop(line);
    let mut now = now?;
    let mut done: Vec<Suggestion> = vec![];
    let mut unused = 0;
    let line = progress::busy("looking for cures");
    while done.len() < MAX_CURES && stop.asked().is_none() {
        let prover = Prover {
            module: &now.module,
            map: &now.map,
            ..first.clone()
        };
        let cures = step(&now, &rules, &prover);
        let may = |cure: &Suggestion| cure.holds == Holds::Proved || args.checked && cure.verified;
        let is_checked = |cure: &&Suggestion| cure.holds == Holds::Checked;
        unused = cures.iter().filter(is_checked).count();
        let Some(cure) = cures.into_iter().find(may) else {
            break;
        };
        let texts = cure::edited(&now.map, &cure.edits);
        let Some(next) = texts.and_then(|texts| first.clone().run(&texts)) else {
            break;
        };
        done.push(cure);
        now = next;
    }
    drop(line);
    watch.reports();
    let errors = now.findings.iter().filter(|found| found.is_error()).count();
    let mut text: String = done.iter().map(|cure| sentence(cure) + "\n").collect();
    if done.is_empty() {
        text += "no cure is proved\n";
    }
    if unused > 0 && !args.checked {
        let are = if unused == 1 { "cure is" } else { "cures are" };
        text += &format!(
            "{unused} {are} checked in further runs, but not proved: `--checked` takes {}, too\n",
            if unused == 1 { "it" } else { "them" }
        );
    }
    let changed = changed(&loaded.map, &now.map);
    if args.apply {
        text += &write(&changed)?;
    } else {
        let color = output::use_color_out(color);
        for (name, old, new) in &changed {
            output::out_of_file(&diff(name, old, new, color));
        }
        if !changed.is_empty() {
            text += "no file is changed; `--apply` writes the edits\n";
        }
    }
    output::err_sentences(&text);
    output::err(&remaining(&now, &rules, color));
    Ok(u8::from(errors > 0))
}

/// What is still wrong or costs more than necessary, with ideas that were not tried.
fn remaining(now: &Run, rules: &RuleSet, color: Color) -> String {
    let style = Style {
        columns: output::message_columns(),
        color: output::use_color(color),
    };
    let text = report::text::remaining(&Model::new(&input(now, rules)), style);
    match text.is_empty() {
        true if now.outcome.launches.is_empty() => "the program launches no kernel\n".to_string(),
        true => "nothing remains: no error, no warning, no hot spot\n".to_string(),
        false => format!("what remains, with ideas that are not shown to hold:\n{text}"),
    }
}

fn input<'a>(now: &'a Run, rules: &'a RuleSet) -> Input<'a> {
    Input {
        program: &now.module.name,
        map: &now.map,
        module: &now.module,
        rules,
        outcome: &now.outcome,
        gpu: None,
        findings: &now.findings,
        kernel: None,
        tables: Tables::None,
    }
}

/// Writes the changed files; returns a message that names them.
fn write(changed: &[(String, String, String)]) -> Result<String, Failure> {
    let mut report = String::new();
    for (name, _, text) in changed {
        let failed = |why| Failure::new(format!("cannot write `{name}`: {why}"));
        files::write(Path::new(name), text.as_bytes()).map_err(failed)?;
        report += &format!("changed {name}\n");
    }
    Ok(report)
}

/// The cures of a program.
fn step(now: &Run, rules: &RuleSet, prover: &Prover<'_>) -> Vec<Suggestion> {
    let input = input(now, rules);
    let model = Model::new(&input);
    prove::cures(&model, &now.stdout, Cures::Always, prover.clone())
}

/// The program's files whose text differs: name, old and new text.
fn changed(old: &SourceMap, new: &SourceMap) -> Vec<(String, String, String)> {
    let differs = |(_, file): (_, &ir::source::SourceFile)| {
        let (_, other) = new.files().find(|(_, other)| other.name == file.name)?;
        let differs = other.text != file.text;
        differs.then(|| (file.name.clone(), file.text.clone(), other.text.clone()))
    };
    let own = old.files().filter(|(_, file)| !is_virtual(&file.name));
    own.filter_map(differs).collect()
}

/// What a cure does, and its effect.
fn sentence(cure: &Suggestion) -> String {
    let place = cure.edits.first();
    let place = place.map_or(String::new(), |edit| {
        format!("{}:{}: ", edit.file, edit.line)
    });
    let (word, because) = (cure.holds.word(), &cure.because);
    format!("{place}{} ({word}: {because})", cure.sentence())
}

/// A unified diff.
pub(super) fn diff(name: &str, old: &str, new: &str, color: bool) -> String {
    let lines = similar::TextDiff::from_lines(old, new);
    let text = lines
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string();
    if !color {
        return text;
    }
    let paint = |line: &str| match line.as_bytes().first() {
        Some(b'+') => format!("\x1b[32m{line}\x1b[0m\n"),
        Some(b'-') => format!("\x1b[31m{line}\x1b[0m\n"),
        Some(b'@') => format!("\x1b[36m{line}\x1b[0m\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(paint).collect()
}
