//! Labelled programs: those in `tests/findings/faults` have one planted fault each; those in `tests/findings/sound` look suspicious but are
//! right.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    each,
    support::labels::{compare, labels, not_yet, options, report},
};

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each(
        "findings::faults",
        "tests/findings/faults",
        30,
        |file, source| judged(file, source, fault),
    );
    all.extend(each(
        "findings::sound",
        "tests/findings/sound",
        30,
        |file, source| judged(file, source, sound),
    ));
    all
}

/// Runs a program; wrong findings are a failure, unless the header says that the checks cannot do it yet.
fn judged(
    file: &str,
    source: &str,
    check: fn(&str, &Value, Option<i32>) -> Vec<String>,
) -> Result<(), String> {
    let wrong = match report(file, &options(source)) {
        Some((report, code)) => check(source, &report, code),
        None => vec!["did not end".to_string()],
    };
    match (not_yet(source), wrong.is_empty()) {
        (Some(_), true) => Err("is right now: remove `//~ not yet`".to_string()),
        (Some(_), false) | (None, true) => Ok(()),
        (None, false) => Err(wrong.join("\n    ")),
    }
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().expect("findings")
}

/// A planted fault is found on its lines.
fn fault(source: &str, report: &Value, code: Option<i32>) -> Vec<String> {
    let labels = labels(source);
    assert!(!labels.is_empty(), "a fault without a label");
    let mut wrong = compare(&labels, findings(report), false);
    let is_error = |finding: &Value| finding["severity"] == "error";
    let expected = i32::from(findings(report).iter().any(is_error));
    if findings(report).is_empty() || code != Some(expected) {
        wrong.push(format!("ended with {code:?}"));
    }
    wrong
}

/// A sound program has no finding.
fn sound(source: &str, report: &Value, code: Option<i32>) -> Vec<String> {
    let mut wrong = compare(&labels(source), findings(report), true);
    if code != Some(0) || report["stdout"] != "OK\n" {
        wrong.push(format!("ended with {code:?}, printed {}", report["stdout"]));
    }
    wrong
}
