//! Typical programs, `tests/programs/*.k`: each prints exactly the text of its `.out` file, ends with 0, and has no finding. The `.out`
//! files come from another implementation: the same source compiled as C++ for the CPU, with threads as fibers. Wrong programs,
//! `tests/wrong/*.k`: each gets exactly the messages in its header, on those lines, with the words of `//~ says:`.
//!
//! A program's header: `//~ args: A B` gives arguments; `//~ not yet: SLUG` says that the front end still refuses it, and with which
//! message. A wrong program's header: `//~ expect: SLUG line N` for each error of the front end, `//~ expect: KIND line N` for a finding at
//! run time, `//~ expect: exit code N` for the value that `main` returns.

use std::{collections::BTreeSet, fs};

use libtest_mimic::Trial;

use crate::{
    each,
    support::{dslc, header, root},
};

/// The limit of warp instructions: no program here needs more, and the endless ones end soon.
const LIMIT: &str = "20000000";

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> String {
    let (mut ours, mut theirs) = (found.lines(), expected.lines());
    for n in 1.. {
        match (theirs.next(), ours.next()) {
            (None, None) => break,
            (expected, found) if expected != found => {
                return format!(
                    "line {n} of the output\n  expected {expected:?}\n  found    {found:?}"
                );
            }
            _ => {}
        }
    }
    "the output differs in the ends of its lines".into()
}

/// The front end's errors: slug and line.
fn errors(file: &str) -> Vec<(String, u64)> {
    let report = dslc(&["check", "--format", "json", file]).json();
    let all = report["diagnostics"].as_array().expect("diagnostics");
    all.iter()
        .filter(|message| message["severity"] == "error")
        .map(|message| {
            (
                message["slug"].as_str().expect("a slug").to_string(),
                message["line"].as_u64().expect("a line"),
            )
        })
        .collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each(
        "programs",
        "tests/programs",
        1,
        prints_what_it_prints_elsewhere,
    );
    all.extend(each("wrong", "tests/wrong", 1, is_told_what_is_wrong));
    all.extend(each("bench", "bench/gpu/kernels", 40, is_ready_to_be_timed));
    all
}

fn prints_what_it_prints_elsewhere(file: &str, source: &str) -> Result<(), String> {
    let args = header(source, "args").join(" ");
    if let [slug] = header(source, "not yet").as_slice() {
        let slugs: BTreeSet<String> = errors(file).into_iter().map(|(slug, _)| slug).collect();
        return if slugs.is_empty() {
            Err("the front end accepts it now: remove `//~ not yet`".into())
        } else if slugs == BTreeSet::from([slug.to_string()]) {
            Ok(())
        } else {
            Err(format!(
                "is not supported yet, but the errors are {slugs:?}"
            ))
        };
    }
    let mut command = vec!["run", "--quiet", file, "--"];
    command.extend(args.split_whitespace());
    let output = dslc(&command);
    let (found, error) = (output.stdout, output.stderr);
    let expected =
        fs::read_to_string(root().join(file).with_extension("out")).expect("the expected output");
    if found != expected {
        return Err(format!("{}\n{error}", difference(&expected, &found)));
    }
    match output.code {
        Some(0) => Ok(()),
        code => Err(format!("ended with {code:?}\n{error}")),
    }
}

fn is_told_what_is_wrong(file: &str, source: &str) -> Result<(), String> {
    let expected = header(source, "expect");
    let mut found: Vec<String> = errors(file)
        .iter()
        .map(|(slug, line)| format!("{slug} line {line}"))
        .collect();
    if found.is_empty() {
        let report = dslc(&["run", "--format", "json", "--limit", LIMIT, file]).json();
        let findings = report["findings"].as_array().expect("findings");
        found.extend(findings.iter().map(|finding| {
            let kind = finding["kind"].as_str().expect("a kind");
            format!("{kind} line {}", finding["accesses"][0]["line"])
        }));
        if found.is_empty() && report["exit_code"] != 0 {
            found.push(format!("exit code {}", report["exit_code"]));
        }
    }
    let output = dslc(&["run", "--limit", LIMIT, file]);
    let (status, printed) = (output.code, output.stderr);
    // Notes are broken into lines.
    let words = printed.split_whitespace().filter(|word| *word != "│");
    let flat = words.collect::<Vec<_>>().join(" ");
    let unsaid = header(source, "says")
        .into_iter()
        .find(|sentence| !flat.contains(sentence));
    if found != expected {
        Err(format!("expected {expected:?}\n  found    {found:?}"))
    } else if status != Some(1) {
        Err(format!("`dslc run` ended with {status:?}"))
    } else if let Some(sentence) = unsaid {
        Err(format!("does not say {sentence:?}:\n{printed}"))
    } else {
        Ok(())
    }
}

/// A kernel of `bench/gpu/kernels.sh`: its header is in the form that the script reads, its check passes, and it has no findings.
fn is_ready_to_be_timed(file: &str, source: &str) -> Result<(), String> {
    let mut lines = source.lines();
    let field = lines.next().and_then(|line| line.strip_prefix("// "));
    let large = lines
        .next()
        .and_then(|line| line.strip_prefix("// large: "));
    if !field.is_some_and(|line| line.contains(": "))
        || large.is_none_or(|size| size.parse::<i32>().is_err())
    {
        return Err("the first two lines are the field and the large size".to_string());
    }
    let ran = dslc(&["run", "--quiet", file, "--", "0", "1"]);
    match ran.code {
        Some(0) if ran.stdout.contains(" check=ok ") => Ok(()),
        _ => Err(format!("{}{}", ran.stdout, ran.stderr)),
    }
}
