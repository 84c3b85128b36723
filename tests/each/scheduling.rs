//! Lanes that wait for each other: `tests/scheduling`. The header of each program gives its end on an architecture: `// sm_90: ends` (it
//! prints `OK`, and has no findings), or the kind of finding. Those for sm_90 were measured on an H200 (`tests/h200/scheduling.txt`); those
//! for sm_35 are from the documentation.
//!
//! Results that depend on the schedule: `tests/schedules`. A program with `// depends: yes` has a finding within 100 schedules, and the
//! reported schedule shows it in a separate run: the program prints another result, or does not end. A program with `no` has no finding.
//! `// memory: weak` runs it with `--memory weak`.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{each, support::labels::report};

pub(crate) fn trials() -> Vec<Trial> {
    each("scheduling", "tests/scheduling", 15, |file, source| {
        let verdicts: Vec<(&str, &str)> = source.lines().filter_map(verdict).collect();
        assert!(
            verdicts.len() > 1,
            "a verdict for each of two architectures"
        );
        let wrong: Vec<String> = verdicts
            .iter()
            .filter_map(|&(arch, verdict)| wrong(file, arch, verdict))
            .collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("\n    ")),
        }
    })
}

pub(crate) fn dependent() -> Vec<Trial> {
    each("schedules", "tests/schedules", 20, |file, source| {
        let header = |key| source.lines().find_map(|line| line.strip_prefix(key));
        let memory = header("// memory: ").unwrap_or("strong");
        let depends = header("// depends: ").expect("a header") == "yes";
        let wrong = match depends {
            true => missed(file, memory, header("// replays: ").is_none()),
            false => alarm(file, memory),
        };
        match (wrong, header("// not yet: ")) {
            (None, None) | (Some(_), Some(_)) => Ok(()),
            (Some(wrong), None) => Err(wrong),
            (None, Some(_)) => Err("is right now: remove `not yet`".to_string()),
        }
    })
}

/// Why a dependence on the schedule was not found, or is not reproduced.
fn missed(file: &str, memory: &str, replays: bool) -> Option<String> {
    let memory = format!("--memory={memory}");
    let (told, _) = report(file, &["--schedules", "100", &memory])?;
    let mut findings = told["findings"].as_array().expect("findings").iter();
    let Some(found) = findings.find(|finding| finding["schedule"].is_object()) else {
        return Some("no schedule was found".to_string());
    };
    let name = found["schedule"]["name"].as_str().expect("a name");
    let Some((again, _)) = report(file, &["--schedule", name, &memory]) else {
        return Some(format!("{name}: did not end"));
    };
    let ends = again["findings"].as_array().expect("findings").iter();
    let deadlock = ends.clone().any(|finding| finding["kind"] == "deadlock");
    let seen = again["stdout"] != told["stdout"] || deadlock;
    (replays && !seen).then(|| format!("{name} shows nothing"))
}

/// A finding in a program whose result does not depend on the schedule.
fn alarm(file: &str, memory: &str) -> Option<String> {
    let memory = format!("--memory={memory}");
    let (report, code) = report(file, &["--schedules", "100", &memory])?;
    let mut findings = report["findings"].as_array().expect("findings").iter();
    // A leak is unrelated to the schedule.
    let alarm = findings.find(|finding| finding["kind"] != "leak");
    match (alarm, code) {
        (None, Some(0)) => None,
        (None, code) => Some(format!("ended with {code:?}")),
        (Some(alarm), _) => Some(alarm["message"].to_string()),
    }
}

/// `// sm_90: deadlock`; words in brackets are comments.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let (arch, verdict) = line.strip_prefix("// ")?.split_once(": ")?;
    let verdict = verdict.split(" (").next()?;
    arch.starts_with("sm_").then_some((arch, verdict))
}

/// The difference between a program's end on an architecture and its header.
fn wrong(file: &str, arch: &str, verdict: &str) -> Option<String> {
    let Some((report, code)) = report(file, &["--arch", arch]) else {
        return Some(format!("{arch}: did not end"));
    };
    let findings = report["findings"].as_array().expect("findings");
    // The order of threads may well show in memory that no code reads.
    let is_mild = |kind: &Value| *kind == "schedule_dependent" || *kind == "leak";
    let kinds = findings.iter().map(|finding| &finding["kind"]);
    let kinds: Vec<&Value> = kinds.filter(|kind| !is_mild(kind)).collect();
    let printed = report["stdout"].as_str().expect("what it printed");
    let ends = code == Some(0) && printed.lines().last() == Some("OK");
    let holds = match verdict {
        "ends" => ends && kinds.is_empty(),
        kind => code == Some(1) && kinds.iter().any(|found| *found == kind),
    };
    let stdout = &report["stdout"];
    (!holds).then(|| {
        format!(
            "{arch}: ended with {code:?}, printed {stdout}, found {kinds:?}, expected {verdict}"
        )
    })
}
