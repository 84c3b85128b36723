//! The text report of a run on a GPU: the time of each launch.

use std::fmt::Write;

use super::{Input, Tables, text::dim};

/// Launches of one kernel and one shape.
struct Row {
    title: String,
    /// The launch's line, with the file if that is not the program's own.
    line: String,
    first: usize,
    times_ms: Vec<f64>,
    launches: usize,
}

/// The table; empty without launches.
pub fn report(input: &Input<'_>, device: &str) -> String {
    let mut rows: Vec<Row> = Vec::new();
    for (index, launch) in input.launches() {
        let dynamic = match launch.shared.dynamic {
            0 => String::new(),
            bytes => format!(", {bytes}"),
        };
        let title = format!(
            "{}<<<{}, {}{dynamic}>>>",
            launch.kernel_name,
            dim(launch.grid),
            dim(launch.block)
        );
        let time = input.outcome.times_ms.get(index).copied().flatten();
        let line = match (launch.statement.line, input.included(launch)) {
            (0, _) => String::new(),
            (line, None) => line.to_string(),
            (line, Some(file)) => format!("{file}:{line}"),
        };
        let like = |row: &&mut Row| row.title == title && row.line == line;
        match rows.iter_mut().find(like) {
            Some(row) if input.tables != Tables::Each => {
                row.times_ms.extend(time);
                row.launches += 1;
            }
            _ => rows.push(Row {
                title,
                line,
                first: index,
                times_ms: time.into_iter().collect(),
                launches: 1,
            }),
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().map(|row| row.title.chars().count()).max();
    let width = width.unwrap_or(0).max(6);
    let place = rows.iter().map(|row| row.line.chars().count()).max();
    let place = place.unwrap_or(0).max(6);
    let is_timed = rows.iter().any(|row| !row.times_ms.is_empty());
    let mut text = format!("── {device}\n");
    let _ = write!(
        text,
        "{:<width$}  {:>place$} {:>6} {:>8}",
        "launch", "line", "first", "launches"
    );
    if is_timed {
        let _ = write!(
            text,
            " {:>12} {:>12} {:>12}",
            "median ms", "least ms", "most ms"
        );
    }
    text.push('\n');
    for row in &mut rows {
        row.times_ms.sort_by(f64::total_cmp);
        let _ = write!(
            text,
            "{:<width$}  {:>place$} {:>6} {:>8}",
            row.title, row.line, row.first, row.launches
        );
        if is_timed {
            let cell = |time: Option<&f64>| {
                time.map_or_else(|| "unknown".to_string(), |time| format!("{time:.6}"))
            };
            let times = &row.times_ms;
            let _ = write!(
                text,
                " {:>12} {:>12} {:>12}",
                cell(times.get(times.len() / 2)),
                cell(times.first()),
                cell(times.last())
            );
        }
        text.push('\n');
    }
    text.push_str(match is_timed {
        true => {
            "the driver measured the times, between two events around each launch; `dslc verify` adds the simulator's counts and the bandwidth\n"
        }
        false => "`--launches` measures how long each takes, which puts events between them\n",
    });
    text
}
