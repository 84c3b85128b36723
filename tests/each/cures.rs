//! Checks that cures keep their promises. Every proved or checked cure of the programs is applied here, by code that shares nothing with
//! dslc's, and the edited program runs. The findings that the cure names are gone, and there is no new one. Its site costs what the cure
//! says. A cure of a waste changes no byte of the output.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    each, stem,
    support::{ran, root},
};

fn report(path: &Path) -> Value {
    let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
        .args(["run", "--format", "json", "--cures", "always"])
        .arg(path)
        // Most of these cures are for what is written; the compiler or the assembler may save some of it by itself.
        .env("DSLC_COUNTS", "written")
        .current_dir(root()));
    output.json()
}

/// The offset of a line and column in a text, both from 1.
fn offset(source: &str, line: &Value, column: &Value) -> usize {
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let before = source.split_inclusive('\n').take(number(line) - 1);
    let start: usize = before.map(str::len).sum();
    let chars = source[start..].char_indices().nth(number(column) - 1);
    chars.map_or(source.len(), |(at, _)| start + at)
}

pub(crate) fn applied(source: &str, edits: &[Value]) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            (
                offset(source, &edit["line"], &edit["column"]),
                offset(source, &edit["end_line"], &edit["end_column"]),
                edit["text"].as_str().expect("a text"),
            )
        })
        .collect();
    edits.sort_unstable();
    let mut new = source.to_string();
    for (start, end, text) in edits.into_iter().rev() {
        new.replace_range(start..end, text);
    }
    new
}

/// The findings by kind and kernel, because lines move.
fn kinds(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("findings");
    let kind = |finding: &Value| format!("{} in {}", finding["kind"], finding["kernel"]);
    findings.iter().map(kind).collect()
}

/// Programs without labels that have proved cures, and the least number of those.
const CURED: &str = "bank_patterns:2 element_types:2 reduce_global:1 reduce_order:1 reduce_unrolled:3 scan:4 shared_matrix:2 strides:2 \
    struct_layout:2 tile_rect:7 tile_square:6 transpose:1 conditional_barrier:1 constant_bytes:1 constant_table:1 missing_barriers:1 \
    one_counter:1 out_of_bounds:1 second_barrier:1 shared_stride:1 shared_structs:2 transpose_char:1 transpose_double:1 \
    transpose_float:1 transpose_float4:1 transpose_half:1 tree_modulo:1 tree_reduction:1 two_dynamic_arrays:1";

/// The broken promises of a proved cure.
fn broken(before: &Value, cure: &Value, source: &str, folder: &Path) -> Vec<String> {
    let edits = cure["edits"].as_array().expect("edits");
    let new = applied(source, edits);
    let path = folder.join("cured.k");
    fs::write(&path, &new).expect("the edited program");
    let after = report(&path);
    let mut wrong = vec![];
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{}: {what}", cure["text"]));
        }
    };
    let removed = cure["findings_removed"].as_array().expect("an array");
    expect(new != source, "the edits change nothing");
    expect(kinds(&after).is_subset(&kinds(before)), "a finding is new");
    let count = |report: &Value| report["findings"].as_array().map_or(0, Vec::len);
    expect(
        count(&after) + removed.len() <= count(before),
        "the findings are still there",
    );
    if removed.is_empty() {
        expect(after["stdout"] == before["stdout"], "the output differs");
        expect(
            after["exit_code"] == before["exit_code"],
            "the exit code differs",
        );
        let launch = cure["launch"].as_u64().expect("a launch");
        let of = |report: &Value| {
            let launches = report["launches"].as_array().expect("launches");
            let launch = launches.iter().find(|one| one["index"] == launch);
            let launch = launch.expect("the launch");
            // A cure without a site has the cost of the launch.
            match cure["site"].as_u64() {
                Some(site) => launch["sites"][site as usize].clone(),
                None => launch["metrics"].clone(),
            }
        };
        for (report, promised) in [(before, &cure["before"]), (&after, &cure["after"])] {
            for (name, number) in promised.as_object().expect("a cost") {
                let is = &of(report)[name];
                expect(
                    is == number,
                    &format!("{name}: {number} promised, {is} counted"),
                );
            }
        }
        let least = ["sectors", "transactions"];
        let (was, is) = (&cure["before"], &cure["after"]);
        let name = least.into_iter().find(|&name| !was[name].is_null());
        let names: Vec<String> = match name {
            Some(name) => vec![name.to_string()],
            None => was.as_object().expect("a cost").keys().cloned().collect(),
        };
        let is_less = names
            .iter()
            .all(|name| is[name].as_u64() < was[name].as_u64());
        expect(is_less && !names.is_empty(), "it costs no less");
    }
    wrong
}

fn proved(report: &Value) -> Vec<Value> {
    let all = report["suggestions"].as_array().expect("suggestions");
    let is_proved = |cure: &&Value| cure["verified"] == true;
    all.iter().filter(is_proved).cloned().collect()
}

/// Programs with labelled cures: `//~ cure: KIND`, `//~ holds: WORD`, and texts in the edited program, each after `//~ has: `. For the
/// other programs, only the promises are checked.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("cures", "tests/cures", 1, labelled);
    for folder in ["examples", "tests/screen"] {
        all.extend(each(&format!("cures::{folder}"), folder, 1, holds));
    }
    all
}

/// Every proved cure of a program keeps its promises, and there are as many as `CURED` says.
fn holds(file: &str, source: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let before = report(Path::new(file));
    let cures = proved(&before);
    let known = CURED.split(' ').filter_map(|entry| entry.split_once(':'));
    let known = known.filter(|(name, _)| *name == stem(file));
    for (_, least) in known {
        let least = least.parse().expect("a number");
        assert!(cures.len() >= least, "{} of {least} cures", cures.len());
    }
    let broken = |cure: &Value| broken(&before, cure, source, folder.path());
    all_right(cures.iter().flat_map(broken).collect())
}

/// The labelled cure of a program is proved, and keeps its promises.
fn labelled(file: &str, source: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let before = report(Path::new(file));
    let label = |label: &str| -> Vec<&str> {
        let lines = source.lines().filter_map(|line| line.strip_prefix(label));
        lines.collect()
    };
    let kind = label("//~ cure: ");
    let cures = proved(&before);
    if kind == ["none"] {
        return all_right(cures.iter().map(|cure| cure["text"].to_string()).collect());
    }
    let of_kind = |cure: &&Value| kind == [cure["kind"].as_str().unwrap_or("")];
    let Some(cure) = cures.iter().find(of_kind) else {
        let texts: Vec<&Value> = cures.iter().map(|cure| &cure["text"]).collect();
        return Err(format!("no cure of that kind, but {texts:?}"));
    };
    let new = applied(source, cure["edits"].as_array().expect("edits"));
    let mut wrong = broken(&before, cure, source, folder.path());
    for holds in label("//~ holds: ") {
        if cure["holds"] != holds {
            wrong.push(format!("{} and not {holds}", cure["holds"]));
        }
    }
    for has in label("//~ has: ") {
        let has = has.replace("\\n", "\n");
        if new.matches(&has).count() <= source.matches(&has).count() {
            wrong.push(format!("no `{has}` in\n{new}"));
        }
    }
    all_right(wrong)
}

fn all_right(wrong: Vec<String>) -> Result<(), String> {
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}
