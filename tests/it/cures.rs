//! Cures keep what they promise. Every proved one of the programs is applied here, by code that shares nothing with dslc's, and the edited
//! program is run: the findings it names are gone and no other is there, its site costs what was said, and a cure of a waste changes no byte
//! of the output.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{root, text};

/// Programs with labelled cures: `//~ cure: KIND` and texts that the edited program has, each behind `//~ has: `.
const LABELLED: &str = "tests/cures";

/// Folders of programs that are only held to their promises.
const OTHERS: &[&str] = &["examples", "tests/screen"];

fn programs(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| name.into_string().ok().filter(|name| name.ends_with(".k")))
        .collect();
    names.sort();
    let program = |name: String| {
        let path = format!("{folder}/{name}");
        let source = fs::read_to_string(root().join(&path)).expect("the program");
        (path, source)
    };
    names.into_iter().map(program).collect()
}

fn report(path: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_dslc"))
        .args(["run", "--format", "json", "--cures", "always"])
        .arg(path)
        .current_dir(root())
        .output()
        .expect("dslc");
    let all = text(&output.stdout);
    serde_json::from_str(&all).unwrap_or_else(|error| panic!("{}: {error}\n{all}", path.display()))
}

/// Where a line and column are in a text, both from 1.
fn offset(source: &str, line: &Value, column: &Value) -> usize {
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let before = source.split_inclusive('\n').take(number(line) - 1);
    let start: usize = before.map(str::len).sum();
    let chars = source[start..].char_indices().nth(number(column) - 1);
    chars.map_or(source.len(), |(at, _)| start + at)
}

fn applied(source: &str, edits: &[Value]) -> String {
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

/// What is found, by kind and kernel: lines move.
fn kinds(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("findings");
    let kind = |finding: &Value| format!("{} in {}", finding["kind"], finding["kernel"]);
    findings.iter().map(kind).collect()
}

/// What is wrong with a proved cure.
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
            // What is told of no site is told of the launch.
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

#[test]
fn what_is_proved_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = vec![];
    let mut n_cures = 0;
    for (path, source) in OTHERS.iter().flat_map(|folder| programs(folder)) {
        let before = report(Path::new(&path));
        for cure in proved(&before) {
            n_cures += 1;
            let own = broken(&before, &cure, &source, folder.path()).into_iter();
            wrong.extend(own.map(|why| format!("{path}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_cures >= 20, "{n_cures} cures of all programs");
}

#[test]
fn labelled_programs_are_cured() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = vec![];
    for (path, source) in programs(LABELLED) {
        let before = report(Path::new(&path));
        let label = |label: &str| -> Vec<&str> {
            let lines = source.lines().filter_map(|line| line.strip_prefix(label));
            lines.collect()
        };
        let kind = label("//~ cure: ");
        let cures = proved(&before);
        if kind == ["none"] {
            wrong.extend(cures.iter().map(|cure| format!("{path}: {}", cure["text"])));
            continue;
        }
        let Some(cure) = cures
            .iter()
            .find(|cure| kind == [cure["kind"].as_str().unwrap_or("")])
        else {
            let texts: Vec<&Value> = cures.iter().map(|cure| &cure["text"]).collect();
            wrong.push(format!("{path}: no cure of that kind, but {texts:?}"));
            continue;
        };
        let new = applied(&source, cure["edits"].as_array().expect("edits"));
        for has in label("//~ has: ") {
            let has = has.replace("\\n", "\n");
            if new.matches(&has).count() <= source.matches(&has).count() {
                wrong.push(format!("{path}: no `{has}` in\n{new}"));
            }
        }
        let own = broken(&before, cure, &source, folder.path()).into_iter();
        wrong.extend(own.map(|why| format!("{path}: {why}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fix_prints_a_diff_and_writes_it_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("column.k");
    fs::copy(root().join("tests/cures/tile.k"), &path).expect("a copy");
    let fix = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dslc"))
            .arg("fix")
            .args(arguments)
            .arg("column.k")
            .current_dir(folder.path())
            .output()
            .expect("dslc");
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code(),
        )
    };
    let old = fs::read_to_string(&path).expect("the program");
    let (diff, said, code) = fix(&[]);
    assert!(
        diff.contains("-    __shared__ float tile[32][32];\n+    __shared__ float tile[32][33];"),
        "{diff}"
    );
    assert!(said.contains("(1024 transactions become 32)"), "{said}");
    assert_eq!(code, Some(0));
    assert_eq!(fs::read_to_string(&path).expect("the program"), old);
    let (_, said, code) = fix(&["--apply"]);
    assert!(said.contains("changed column.k"), "{said}");
    assert_eq!(code, Some(0));
    let new = fs::read_to_string(&path).expect("the program");
    assert_eq!(new, old.replace("tile[32][32]", "tile[32][33]"));
    let (diff, said, code) = fix(&[]);
    assert_eq!((diff.as_str(), code), ("", Some(0)));
    assert!(said.starts_with("no cure is proved"), "{said}");
    let output = Command::new("sh")
        .args([
            "-c",
            "\"$0\" fix --apply /dev/stdin < column.k",
            env!("CARGO_BIN_EXE_dslc"),
        ])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let error = text(&output.stderr);
    assert!(
        output.status.code() == Some(2) && error.contains("is none"),
        "{error}"
    );
}
