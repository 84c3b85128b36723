//! Lanes that wait for each other: `tests/scheduling`. The header of each program says how it ends on an architecture: `// sm_90: ends`
//! (it prints `OK`, and there is nothing to find), or the kind of what is wrong. Those of sm_90 are an H200's verdicts
//! (`tests/h200/scheduling.txt`), those of sm_35 the documents'.

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

/// `// sm_90: deadlock`; words in brackets are for readers.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let (arch, verdict) = line.strip_prefix("// ")?.split_once(": ")?;
    let verdict = verdict.split(" (").next()?;
    arch.starts_with("sm_").then_some((arch, verdict))
}

/// What is wrong with a program's end on an architecture.
fn wrong(file: &str, arch: &str, verdict: &str) -> Option<String> {
    let Some((report, code)) = report(file, &["--arch", arch]) else {
        return Some(format!("{arch}: did not end"));
    };
    let findings = report["findings"].as_array().expect("findings");
    let kinds: Vec<&Value> = findings.iter().map(|finding| &finding["kind"]).collect();
    let ends = code == Some(0) && report["stdout"] == "OK\n";
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
