//! Shows the results of a run: findings and report on the terminal, and the requested files.

use std::io::{BufWriter, Write};

use interp::finding::Barrier;
use ir::diagnostic::{Code, Diagnostic};
use report::{
    Input, Model,
    findings::{self, Found, baseline::Baseline},
    gpu, html, json, nvprof, sarif, text,
};

use crate::{
    args::{Color, Format, RunArgs},
    baseline,
    execute::{ProgramOut, Streams},
    failure::Failure,
    files, output,
    record::{self, End},
    trace,
};

/// Prints findings to stderr and the report to stdout.
pub(super) fn show(
    model: &Model<'_>,
    args: &RunArgs,
    kept: &[u8],
    said: &[Diagnostic],
    color: Color,
) -> Result<(), Failure> {
    let input = model.input;
    let style = text::Style {
        columns: output::columns(),
        color: output::use_color_out(color),
    };
    let color = output::use_color(color);
    let remarks =
        |(_, found): &(usize, &Found)| !args.report.quiet || found.code != Code::MemoryLeak;
    let shown = input.findings.iter().enumerate().filter(remarks);
    let shown: Vec<Found> = shown
        .map(|(at, found)| with_cure(model, at, found))
        .collect();
    let messages = findings::render::all(
        &shown,
        input.module,
        input.map,
        color,
        output::message_columns(),
    );
    output::err(&messages);
    match args.report.format {
        Format::Json => print_json(&json::report(model, kept))?,
        Format::Sarif => print_json(&sarif::of_run(model, said))?,
        Format::Text if !model.metrics.is_empty() => {
            output::out_text(&nvprof::table(input, &model.metrics))
        }
        Format::Text if args.report.quiet => {}
        Format::Text if input.gpu.is_some() => {
            let report = gpu::report(input, input.gpu.unwrap_or_default());
            if !report.is_empty() {
                output::out_text(&format!("\n{report}"));
            }
        }
        Format::Text => {
            let report = text::report(model, style);
            if !report.is_empty() {
                output::out_text(&format!("\n{report}"));
            }
        }
    }
    let code = input.outcome.exit_code;
    if code != 0 && input.outcome.stopped().is_none() {
        output::err(&format!("the program ended with exit code {code}\n"));
    }
    Ok(())
}

/// A finding with its proved cure, if there is one. The cure replaces advice that guesses the same.
fn with_cure(model: &Model<'_>, at: usize, found: &Found) -> Found {
    let mut found = found.clone();
    let mut cures = model.suggestions.iter();
    if let Some(cure) = cures.find(|cure| cure.verified && cure.findings_removed.contains(&at)) {
        let proved = format!("{} ({})", cure.text, cure.holds.word());
        let is_guess = matches!(found.barrier, Some(Barrier::Block | Barrier::Warp));
        let advice = found.advice.filter(|_| !is_guess);
        let text = match advice.as_ref().and_then(|advice| advice.lasting()) {
            Some(lasting) => format!("{proved}; {lasting}"),
            None => proved,
        };
        found.advice = Some(text.into());
    }
    found
}

pub(super) fn print_json(object: &impl serde::Serialize) -> Result<(), Failure> {
    // The report is written in pieces: the launches of a long run may not fit in memory as one text.
    let mut pieces = BufWriter::with_capacity(1 << 20, output::Product);
    serde_json::to_writer_pretty(&mut pieces, object)?;
    writeln!(pieces)?;
    Ok(pieces.flush()?)
}

/// The program's output, as far as the report contains it.
pub(super) fn kept_output<'a>(
    format: Format,
    out: &'a ProgramOut,
    captured: Option<&'a [u8]>,
) -> &'a [u8] {
    match (out, captured) {
        (ProgramOut::Kept(bytes), _) => bytes,
        (ProgramOut::Through, Some(bytes)) if format == Format::Sarif => {
            output::err(&String::from_utf8_lossy(bytes));
            &[]
        }
        (ProgramOut::Through, Some(bytes)) => bytes,
        (ProgramOut::Through | ProgramOut::Talk, _) => &[],
    }
}

/// Writes the requested files. All are tried; the error is the first one.
pub(super) fn write_files(
    args: &RunArgs,
    model: &Model<'_>,
    io: &mut Streams,
    unsaved: Option<Failure>,
) -> Result<(), Failure> {
    let Input {
        outcome,
        findings,
        module,
        ..
    } = model.input;
    let mut written = vec![unsaved.map_or(Ok(()), Err)];
    if let Some(path) = &args.known.write_baseline {
        written.push(baseline::write(&Baseline::of(findings), path));
    }
    if let (Some(path), Some(stdout)) = (&args.report.html, &io.page) {
        let page = html::page(model, stdout);
        let failed = |why| Failure::new(format!("cannot write `{}`: {why}", path.display()));
        written.push(files::write(path, page.as_bytes()).map_err(failed));
    }
    if let Some(path) = &args.observer.trace {
        written.push(trace::write(outcome, module, path));
    }
    if let (Some(path), Some(mut record)) = (&args.observer.record, io.record.take()) {
        record.end = Some(End::new(outcome, findings));
        written.push(record::write(&record, path));
    }
    written.into_iter().collect()
}
