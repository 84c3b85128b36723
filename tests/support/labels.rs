//! Labels of programs with faults, and their comparison with findings.
//!
//! A line of a fault has the label `//~ KIND`, with the kind as in the report; `//~ note KIND` for a finding of severity note; `//~? KIND`
//! for a finding that may also appear (two lanes of one warp may cause a race with the program's other warps). Every label has to match a
//! finding with an access on that line, and every finding's lines have to be labelled. A sound program ends with 0 and prints that its own
//! check succeeded. In the header, `//~ options: …` gives options, and `//~ not yet: …` says what the checks do wrong: such a program still
//! has to fail.

use std::time::Duration;

use serde_json::Value;

use super::{dslc_within, header};

/// The limit of warp instructions: no program here needs more.
const LIMIT: &str = "20000000";

/// No program takes a second.
const TIME_LIMIT: Duration = Duration::from_secs(20);

pub(crate) struct Label {
    line: u64,
    kind: String,
    is_note: bool,
    required: bool,
}

/// The options a program is run with.
pub(crate) fn options(source: &str) -> Vec<&str> {
    let options = header(source, "options");
    options
        .iter()
        .flat_map(|all| all.split_whitespace())
        .collect()
}

/// What the checks do wrong for a program, so far.
pub(crate) fn not_yet(source: &str) -> Option<&str> {
    header(source, "not yet").first().copied()
}

pub(crate) fn labels(source: &str) -> Vec<Label> {
    let mut labels = vec![];
    for (line, n) in source.lines().zip(1..) {
        for part in line.split("//~").skip(1) {
            let (required, words) = match part.strip_prefix('?') {
                Some(rest) => (false, rest),
                None => (true, part),
            };
            let words: Vec<&str> = words.split_whitespace().collect();
            let (is_note, kind) = match words.as_slice() {
                ["note", kind] => (true, kind.to_string()),
                ["options:", ..] | ["not", "yet:", ..] => continue,
                [kind] => (false, kind.to_string()),
                other => panic!("line {n}: what is the label {other:?}?"),
            };
            labels.push(Label {
                line: n,
                kind,
                is_note,
                required,
            });
        }
    }
    labels
}

/// The differences between the findings of a report and the labels.
pub(crate) fn compare(labels: &[Label], findings: &[Value], notes_count: bool) -> Vec<String> {
    let mut wrong = vec![];
    let mut met = vec![false; labels.len()];
    for finding in findings {
        let kind = finding["kind"].as_str().expect("a kind");
        let is_note = finding["severity"] == "note";
        let lines: Vec<u64> = finding["accesses"]
            .as_array()
            .expect("accesses")
            .iter()
            .filter_map(|access| access["line"].as_u64())
            .filter(|&line| line > 0)
            .collect();
        for &line in &lines {
            let mut labelled = false;
            for (label, met) in labels.iter().zip(&mut met) {
                if (label.line, label.kind.as_str(), label.is_note) == (line, kind, is_note) {
                    (labelled, *met) = (true, true);
                }
            }
            if !labelled && (notes_count || !is_note) {
                let severity = &finding["severity"];
                wrong.push(format!(
                    "unexpected: {severity} {kind} line {line} (of {lines:?})"
                ));
            }
        }
    }
    for (label, met) in labels.iter().zip(met) {
        if label.required && !met {
            wrong.push(format!("missed: {} line {}", label.kind, label.line));
        }
    }
    wrong
}

/// The report of a run, and its exit code; `None` if it did not end.
pub(crate) fn report(file: &str, options: &[&str]) -> Option<(Value, Option<i32>)> {
    let args = [
        &["run", "--format", "json", "--limit", LIMIT, file][..],
        options,
    ]
    .concat();
    let output = dslc_within(&args, TIME_LIMIT)?;
    Some((output.json(), output.code))
}
