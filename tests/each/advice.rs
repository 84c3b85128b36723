//! Checks that followed advice helps. A program of `tests/advice` runs twice. Unmodified, dslc prints the advice in its header. With
//! `FOLLOWED` defined, which is the same program with the advice followed literally, the waste or finding is gone.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    each,
    support::{dslc_within, header, labels::options},
};

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("advice", "tests/advice", 40, followed);
    all.push(crate::one("advice::table", table));
    all
}

const TIME_LIMIT: Duration = Duration::from_secs(20);
/// The limit of warp instructions: no program here needs more, except one that never ends.
const LIMIT: &str = "2000000";

/// The report of a run, and its exit code.
fn report(file: &str, options: &[&str]) -> Result<(Value, Option<i32>), String> {
    let always = [
        "run", "--format", "json", "--cures", "never", "--limit", LIMIT, file,
    ];
    let output = dslc_within(&[&always, options].concat(), TIME_LIMIT).ok_or("did not end")?;
    Ok((output.json(), output.code))
}

/// For a waste: the total of units beyond the ideal.
fn excess(report: &Value, kind: &str) -> u64 {
    let spots = report["hot_spots"].as_array().expect("hot spots");
    let of_kind = spots.iter().filter(|spot| spot["waste"] == kind);
    of_kind.filter_map(|spot| spot["excess"].as_u64()).sum()
}

/// The advice on findings and wastes of a kind.
fn advice<'r>(report: &'r Value, kind: &str) -> Vec<&'r str> {
    let all = |list: &str, name: &str| {
        let entries = report[list].as_array().expect("a list").iter();
        let of_kind = entries.filter(|entry| entry[name] == kind);
        of_kind
            .filter_map(|entry| entry["advice"].as_str())
            .collect::<Vec<_>>()
    };
    [all("findings", "kind"), all("hot_spots", "waste")].concat()
}

/// A text that spans several lines of a header.
fn told(source: &str, key: &str) -> String {
    header(source, key).join(" ")
}

fn followed(file: &str, source: &str) -> Result<(), String> {
    let kind = told(source, "about");
    let expected = told(source, "advice");
    let given = options(source);
    let (before, _) = report(file, &given)?;
    let all = advice(&before, &kind);
    if !all.contains(&expected.as_str()) {
        let all = all.join("\n    ");
        return Err(format!(
            "about {kind} it says\n    {all}\nand not\n    {expected}"
        ));
    }
    let (after, code) = report(file, &[&given[..], &["-D", "FOLLOWED"]].concat())?;
    let mut wrong = vec![];
    let mut expect = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    let findings = after["findings"].as_array().expect("findings").iter();
    let findings =
        findings.filter(|finding| finding["severity"] != "note" || finding["kind"] == *kind);
    let findings: Vec<&Value> = findings.map(|finding| &finding["message"]).collect();
    expect(
        findings.is_empty(),
        format!("followed, it finds {findings:?}"),
    );
    expect(code == Some(0), format!("followed, it ends with {code:?}"));
    expect(
        after["stdout"] == "OK\n",
        format!("followed, it prints {}", after["stdout"]),
    );
    // Up to a tenth may be left, which no advice can help.
    let (was, is) = (excess(&before, &kind), excess(&after, &kind));
    expect(
        10 * is <= was,
        format!("{is} of {was} {kind} are left: {:?}", advice(&after, &kind)),
    );
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// The folder's table names each program once, and nothing else.
fn table() -> Result<(), String> {
    let readme = crate::support::root().join("tests/advice/README.md");
    let readme = std::fs::read_to_string(readme).map_err(|error| error.to_string())?;
    let named = |name: &str| readme.matches(&format!("`{name}`")).count();
    let programs = crate::support::programs_in("tests/advice");
    let stems = programs
        .iter()
        .filter_map(|path| path.file_stem()?.to_str());
    let wrong: Vec<String> = stems
        .filter(|stem| named(stem) != 1)
        .map(|stem| format!("`{stem}` is in the table {} times", named(stem)))
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}
