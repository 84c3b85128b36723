//! Labelled programs: `tests/findings/faults` with a planted fault each, `tests/findings/sound` that look suspicious and are right.
//!
//! A line that takes part in a fault carries `//~ KIND`, as in the report; `//~ note KIND` for one of severity note, `//~? KIND` for what
//! may be told besides (two lanes of one warp may be a race in the program's other warps' eyes). Every label has to be met by a
//! finding with an access on that line, and every finding's lines have to be labelled. A sound program ends with 0 and prints that its own
//! check succeeded. In the header, `//~ options: …` gives options, and `//~ not yet: …` says what the checks do wrong: such a program has to fail still.

use std::{fs, path::PathBuf, time::Duration};

use serde_json::Value;

use crate::support::{dslc_within, relative, root, text};

/// Warp instructions: no program here needs more.
const LIMIT: &str = "20000000";

/// None takes a second.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Label {
    line: u64,
    kind: String,
    is_note: bool,
    required: bool,
}

/// The programs of a folder.
pub(crate) fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/findings").join(folder)).expect("the folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "k"));
    paths.sort();
    assert!(
        paths.len() >= 30,
        "only {} programs in {folder}",
        paths.len()
    );
    paths
}

/// What the header's lines say under `key`.
fn header<'s>(source: &'s str, key: &str) -> Option<&'s str> {
    let mut lines = source.lines().take_while(|line| line.starts_with("//~"));
    lines.find_map(|line| {
        line.strip_prefix("//~ ")?
            .strip_prefix(key)?
            .strip_prefix(": ")
    })
}

/// The options a program is run with.
pub(crate) fn options(source: &str) -> Vec<&str> {
    header(source, "options")
        .unwrap_or("")
        .split_whitespace()
        .collect()
}

/// Why the checks do not do right by a program yet.
pub(crate) fn not_yet(source: &str) -> Option<&str> {
    header(source, "not yet")
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

/// What is wrong with the findings of a report, as far as labels say.
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

/// The report of a run, and how it ended; `None` if it did not end.
pub(crate) fn report(file: &str, options: &[&str]) -> Option<(Value, Option<i32>)> {
    let args = [
        &["run", "--format", "json", "--limit", LIMIT, file][..],
        options,
    ]
    .concat();
    let output = dslc_within(&args, PATIENCE)?;
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{file}: {error}\n{}", text(&output.stderr)));
    Some((report, output.status.code()))
}

/// Runs the programs of a folder; fails with everything that is wrong.
fn each(folder: &str, check: impl Fn(&str, &Value, Option<i32>) -> Vec<String>) {
    let paths = programs(folder);
    let mut failures = vec![];
    for path in &paths {
        let source = fs::read_to_string(path).expect("the program");
        let name = relative(path);
        let wrong = match report(&name, &options(&source)) {
            Some((report, code)) => check(&source, &report, code),
            None => vec!["did not end".to_string()],
        };
        if not_yet(&source).is_some() {
            if wrong.is_empty() {
                failures.push(format!("{name}: is right now: remove `//~ not yet`"));
            }
        } else if !wrong.is_empty() {
            failures.push(format!("{name}\n    {}", wrong.join("\n    ")));
        }
    }
    let all = paths.len();
    assert!(
        failures.is_empty(),
        "{} of {all} failed\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().expect("findings")
}

#[test]
fn planted_faults_are_found_on_their_lines() {
    each("faults", |source, report, code| {
        let labels = labels(source);
        assert!(!labels.is_empty(), "a fault without a label");
        let mut wrong = compare(&labels, findings(report), false);
        let is_error = |finding: &Value| finding["severity"] == "error";
        let expected = i32::from(findings(report).iter().any(is_error));
        if findings(report).is_empty() || code != Some(expected) {
            wrong.push(format!("ended with {code:?}"));
        }
        wrong
    });
}

#[test]
fn sound_programs_have_no_finding() {
    each("sound", |source, report, code| {
        let mut wrong = compare(&labels(source), findings(report), true);
        if code != Some(0) || report["stdout"] != "OK\n" {
            wrong.push(format!("ended with {code:?}, printed {}", report["stdout"]));
        }
        wrong
    });
}
