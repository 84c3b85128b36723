//! Checks that cures hold beyond the run in which they were found. Each program of `tests/cures/held` runs with its usual arguments. Every
//! cure that is offered as proved or checked is applied, and the edited program runs with the usual and with other arguments, like the
//! original.
//!
//! The first lines of a program: `// alt: ARGS | ARGS` are the other arguments; `// offered: KIND WORD, …` says which cures there are, and
//! for which runs each holds; `// mended: OLD ==> NEW` is a right cure of a finding, whose output every cure has to print.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    cures::applied,
    each,
    support::{ran, root},
};

/// One test per program.
pub(crate) fn trials() -> Vec<Trial> {
    each("held", "tests/cures/held", 40, holds)
}

fn report(path: &Path, cures: &str, args: &[&str]) -> Value {
    let command = ["run", "--format", "json", "--cures", cures];
    let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
        .args(command)
        .arg(path)
        .arg("--")
        .args(args)
        // Most of these cures are for what is written; the compiler or the assembler may save some of it by itself.
        .env("DSLC_COUNTS", "written")
        .current_dir(root()));
    output.json()
}

/// The value of a line in the program's header.
fn head<'s>(source: &'s str, label: &str) -> Option<&'s str> {
    let mut lines = source.lines();
    lines.find_map(|line| line.strip_prefix("// ")?.strip_prefix(label))
}

fn holds(file: &str, source: &str) -> Result<(), String> {
    let before = report(Path::new(file), "always", &[]);
    let all = before["suggestions"].as_array().expect("suggestions");
    let cures: Vec<&Value> = all.iter().filter(|cure| cure["verified"] == true).collect();
    let mut offered: Vec<String> = cures.iter().map(|cure| word(cure)).collect();
    offered.sort();
    offered.dedup();
    let offered = match offered.is_empty() {
        true => "none".to_string(),
        false => offered.join(", "),
    };
    let expected = head(source, "offered: ").unwrap_or("none");
    let mut wrong = vec![];
    if offered != expected {
        wrong.push(format!("offered: {offered}, and not {expected}"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mended = head(source, "mended: ").and_then(|line| line.split_once(" ==> "));
    let alts = head(source, "alt: ").expect("other arguments").split(" | ");
    let runs: Vec<Vec<&str>> = std::iter::once("")
        .chain(alts)
        .map(|args| args.split_whitespace().collect())
        .collect();
    for cure in cures {
        let edited = folder.path().join("cured.cu");
        let edits = cure["edits"].as_array().expect("edits");
        fs::write(&edited, applied(source, edits)).expect("the edited program");
        let is_finding = !cure["findings_removed"]
            .as_array()
            .expect("a list")
            .is_empty();
        let model = folder.path().join("mended.cu");
        if let Some((old, new)) = mended.filter(|_| is_finding) {
            fs::write(&model, source.replace(old, new)).expect("the mended program");
        }
        for args in &runs {
            let right = report(Path::new(file), "never", args);
            let after = report(&edited, "never", args);
            let known = kinds(&right);
            let is_more = |(kind, count): (&String, &usize)| known.get(kind) < Some(count);
            if kinds(&after).iter().any(is_more) {
                wrong.push(format!("{} {args:?}: a finding is new", word(cure)));
            }
            let right = match mended.is_some() && is_finding {
                true => report(&model, "never", args),
                false => right,
            };
            if ["stdout", "exit_code"]
                .iter()
                .any(|key| after[key] != right[key])
            {
                wrong.push(format!("{} {args:?}: the results differ", word(cure)));
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// `pad proved`.
fn word(cure: &Value) -> String {
    let text = |key: &str| cure[key].as_str().unwrap_or("?").to_string();
    format!("{} {}", text("kind"), text("holds"))
}

/// The findings except notes, by kind and kernel, and their counts.
fn kinds(report: &Value) -> BTreeMap<String, usize> {
    let findings = report["findings"].as_array().expect("findings").iter();
    let mut all = BTreeMap::new();
    for finding in findings.filter(|finding| finding["severity"] != "note") {
        let kind = format!("{} in {}", finding["kind"], finding["kernel"]);
        *all.entry(kind).or_default() += 1;
    }
    all
}
