//! The result of `verify`, as text and as JSON (schema `dslc-verify/1`).

use std::fmt::Write;

use interp::LaunchReport;
use ir::{Module, source::SourceMap};
use serde_json::{Value, json};

use super::{
    Verdict,
    counters::{Counters, KernelCounters, KernelVerdict},
    lines::{Kind, Row, RowVerdict},
};
use report::text::cut;

/// Columns of a line's text.
const SOURCE_COLUMNS: usize = 46;

/// The launches of one kernel: how many, their bytes, and their milliseconds where known.
struct Times<'a> {
    kernel: &'a str,
    launches: usize,
    bytes: u64,
    ms: Option<f64>,
}

/// Bytes that the source's accesses to global memory request.
fn global_bytes(launch: &LaunchReport) -> u64 {
    let counts = &launch.counts;
    counts.global_load.bytes + counts.global_store.bytes + counts.global_atomic.bytes
}

fn times<'a>(verdict: &Verdict<'a>) -> Vec<Times<'a>> {
    let mut all: Vec<Times<'a>> = Vec::new();
    for (index, launch) in verdict.simulated.launches.iter().enumerate() {
        let ms = verdict.times_ms.get(index).copied().flatten();
        let bytes = global_bytes(launch);
        match all.iter_mut().find(|row| row.kernel == launch.kernel_name) {
            Some(row) => {
                row.launches += 1;
                row.bytes += bytes;
                row.ms = row.ms.zip(ms).map(|(a, b)| a + b);
            }
            None => all.push(Times {
                kernel: &launch.kernel_name,
                launches: 1,
                bytes,
                ms,
            }),
        }
    }
    all
}

/// Bytes per nanosecond.
fn gb_per_s(row: &Times<'_>) -> Option<f64> {
    let ms = row.ms.filter(|&ms| ms > 0.0)?;
    Some(row.bytes as f64 / ms / 1e6)
}

fn kernel_verdict(kernel: &KernelCounters) -> &'static str {
    match kernel.verdict() {
        KernelVerdict::Same => "same",
        KernelVerdict::Explained => "explained",
        KernelVerdict::Different => "DIFFERENT",
    }
}

fn row_verdict(row: &Row) -> &str {
    match &row.verdict {
        RowVerdict::Same => "same",
        RowVerdict::Changed(how) => how,
        RowVerdict::Different => "DIFFERENT",
        RowVerdict::PageOnly => "same by the kernel's counter; ncu's page has another figure",
        RowVerdict::NotCompared => "counted per kernel only",
    }
}

/// The report.
pub(super) fn text(verdict: &Verdict<'_>, map: &SourceMap, module: &Module) -> String {
    let mut text = String::new();
    let (bytes, arrivals) = verdict.bytes;
    let (major, minor) = verdict.driver;
    let _ = writeln!(
        text,
        "{}: simulator ({}) and {} (driver for CUDA {major}.{minor})",
        verdict.program, verdict.arch, verdict.gpu.name
    );
    if verdict.differences.is_empty() {
        let _ = writeln!(
            text,
            "results: same ({bytes} bytes in {arrivals} copies to the host, the output, the exit code)"
        );
    } else {
        let _ = writeln!(text, "results: DIFFERENT");
        for difference in verdict.differences {
            let place = match difference.line {
                0 => String::new(),
                line => format!("line {line}: "),
            };
            let _ = writeln!(text, "  {place}{}: {}", difference.what, difference.text);
        }
    }
    let rows = times(verdict);
    if !rows.is_empty() {
        let width = rows.iter().map(|row| row.kernel.chars().count()).max();
        let width = width.unwrap_or(0).max(6);
        let _ = writeln!(
            text,
            "\n{:<width$} {:>9} {:>12} {:>14} {:>9}",
            "kernel", "launches", "ms in all", "bytes asked", "GB/s"
        );
        for row in &rows {
            let ms = row
                .ms
                .map_or_else(|| "unknown".to_string(), |ms| format!("{ms:.6}"));
            let rate = gb_per_s(row).map_or_else(String::new, |rate| format!("{rate:.1}"));
            let line = format!(
                "{:<width$} {:>9} {ms:>12} {:>14} {rate:>9}",
                row.kernel, row.launches, row.bytes
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    match verdict.counters {
        Counters::NotMeasured(why) => {
            let _ = writeln!(text, "\ncounters: not measured ({why})");
        }
        Counters::Measured { kernels, left_out } => {
            let is_compiled = kernels.iter().any(|kernel| kernel.compiled.is_ok());
            let of = match is_compiled {
                true => "the compiled kernel",
                false => "the source's accesses",
            };
            let _ = writeln!(text, "\ncounters: simulated ({of}) and measured by ncu");
            for kernel in kernels {
                counters(&mut text, kernel, map, module);
            }
            if *left_out > 0 {
                let _ = writeln!(text, "{left_out} more launches were not measured");
            }
        }
    }
    text
}

/// The counters of one kernel, simulated and measured, and the lines on which they differ.
fn counters(text: &mut String, kernel: &KernelCounters, map: &SourceMap, module: &Module) {
    let launches = match kernel.launches {
        1 => String::new(),
        count => format!(", {count} launches"),
    };
    let _ = writeln!(
        text,
        "\n── {}{launches}: {}",
        kernel.kernel,
        kernel_verdict(kernel)
    );
    if let Err(Some(why)) = &kernel.compiled {
        let _ = writeln!(text, "simulated: the source's accesses, because {why}");
    }
    for (kind, (ours, theirs)) in Kind::ALL.into_iter().zip(kernel.totals) {
        if ours.unwrap_or(0) == 0 && theirs.unwrap_or(0) == 0 {
            continue;
        }
        let unit = if kind.is_shared() {
            "wavefronts"
        } else {
            "sectors"
        };
        let cell =
            |value: Option<u64>| value.map_or_else(|| "unknown".to_string(), |v| v.to_string());
        let replays = match kind {
            Kind::SharedStore => kernel.store_replays,
            _ => 0,
        };
        let replayed =
            format!("{replays} replays of conflicting stores; their number varies from run to run");
        let note = match (ours == theirs, kernel.unexplained.contains(&kind)) {
            (true, _) => "same",
            (false, true) => "DIFFERENT",
            (false, false) if replays > 0 => &replayed,
            (false, false) if kernel.prints => {
                "the kernel prints: the driver's code for it accesses memory too"
            }
            (false, false) => "see the lines",
        };
        let _ = writeln!(
            text,
            "  {:<26} {:>12} {:>12}  {note}",
            format!("{} {unit}", kind.text()),
            cell(ours),
            cell(theirs)
        );
    }
    let _ = writeln!(
        text,
        "  {:>5}  {:<SOURCE_COLUMNS$} {:<13} {:>19}  {:>19}",
        "line", "source", "access", "instr./cost simul.", "instr./cost meas."
    );
    let mut last = None;
    for row in &kernel.rows {
        let source = source_line(row, map, module);
        let shown = if last == Some((row.file, row.line)) {
            String::new()
        } else {
            cut(&source, SOURCE_COLUMNS)
        };
        last = Some((row.file, row.line));
        let side = |side: &super::lines::Side| format!("{}/{}", side.instructions, side.cost);
        let _ = writeln!(
            text,
            "  {:>5}  {shown:<SOURCE_COLUMNS$} {:<13} {:>19}  {:>19}  {}",
            row.line,
            row.kind.text(),
            side(&row.simulated),
            side(&row.measured),
            row_verdict(row)
        );
    }
}

fn source_line(row: &Row, map: &SourceMap, module: &Module) -> String {
    let name = row.file.and_then(|file| module.files.get(file as usize));
    let Some(name) = name else {
        return "(no source line)".to_string();
    };
    let found = map.files().find(|(_, source)| source.name == *name);
    found.map_or_else(String::new, |(_, source)| {
        source.line(row.line).trim().to_string()
    })
}

/// The machine-readable report.
pub(super) fn json(verdict: &Verdict<'_>) -> Value {
    let differences: Vec<Value> = verdict
        .differences
        .iter()
        .map(|difference| json!({ "line": difference.line, "what": difference.what, "text": difference.text }))
        .collect();
    let kernels: Vec<Value> = times(verdict)
        .iter()
        .map(|row| {
            json!({
                "kernel": row.kernel, "launches": row.launches, "time_ms": row.ms,
                "bytes": row.bytes, "gb_per_s": gb_per_s(row),
            })
        })
        .collect();
    let (counters, why) = match verdict.counters {
        Counters::NotMeasured(why) => (Value::Null, Some(why.clone())),
        Counters::Measured { kernels, left_out } => {
            let kernels: Vec<Value> = kernels.iter().map(kernel_json).collect();
            (
                json!({ "kernels": kernels, "launches_left_out": left_out }),
                None,
            )
        }
    };
    json!({
        "schema": "dslc-verify/1",
        "program": verdict.program,
        "arch": verdict.arch.to_string(),
        "device": verdict.gpu.name,
        "cuda": format!("{}.{}", verdict.driver.0, verdict.driver.1),
        "equal": verdict.is_equal(),
        "bytes": verdict.bytes.0,
        "copies": verdict.bytes.1,
        "differences": differences,
        "kernels": kernels,
        "counters": counters,
        "counters_missing": why,
    })
}

fn kernel_json(kernel: &KernelCounters) -> Value {
    let kinds = Kind::ALL.into_iter().zip(kernel.totals);
    let totals: Vec<Value> = kinds
        .map(|(kind, (ours, theirs))| {
            json!({
                "access": kind.text(),
                "unit": if kind.is_shared() { "wavefronts" } else { "sectors" },
                "simulated": ours, "measured": theirs, "same": ours == theirs,
            })
        })
        .collect();
    let rows: Vec<Value> = kernel
        .rows
        .iter()
        .map(|row| {
            let side = |side: &super::lines::Side| {
                json!({
                    "instructions": side.instructions, "cost": side.cost, "thread_accesses": side.lanes,
                    "widths": side.widths.keys().collect::<Vec<_>>(), "opcodes": side.opcodes,
                })
            };
            let (verdict, how) = match &row.verdict {
                RowVerdict::Same => ("same", None),
                RowVerdict::Changed(how) => ("changed by the compiler", Some(how)),
                RowVerdict::Different => ("different", None),
                RowVerdict::PageOnly => ("same but on the page", None),
                RowVerdict::NotCompared => ("not compared", None),
            };
            json!({
                "line": row.line, "access": row.kind.text(),
                "simulated": side(&row.simulated), "measured": side(&row.measured),
                "verdict": verdict, "how": how,
            })
        })
        .collect();
    json!({
        "kernel": kernel.kernel, "launches": kernel.launches,
        "counted_as": if kernel.compiled.is_ok() { "compiled" } else { "written" },
        "because": kernel.compiled.as_ref().err(),
        "verdict": match kernel.verdict() {
            KernelVerdict::Same => "same",
            KernelVerdict::Explained => "explained",
            KernelVerdict::Different => "different",
        },
        "prints": kernel.prints, "store_replays": kernel.store_replays, "counters": totals, "lines": rows,
    })
}
