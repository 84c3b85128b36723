//! SARIF 2.1.0 (OASIS), the format that code-scanning services read, for the findings of a run and the messages of the front end.
//!
//! Columns count characters (`columnKind`), and paths are relative URIs as the user gave them. Each access of a finding after the first is
//! a related location. A finding that the baseline has gets a suppression, as the standard requires.

use ir::{
    diagnostic::{Code, Diagnostic, Severity, code::Class},
    locate::{self, Extent},
    source::SourceMap,
    span::Span,
};
use serde_json::{Value, json};

use super::{
    Edit, Input, Model, Suggestion,
    findings::{Found, render},
    require::Judged,
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The key of the fingerprints; a key names one way to compute them.
const FINGERPRINT: &str = "dslcFinding/v1";
/// The rule of a requirement that is not met.
const REQUIREMENT: &str = "requirement";

/// The log of a run: the front end's messages and the findings.
pub fn of_run(model: &Model<'_>, diagnostics: &[Diagnostic]) -> Value {
    let input = model.input;
    let mut rules = Rules::default();
    let mut results = of_diagnostics(diagnostics, input.map, &mut rules);
    for (at, found) in input.findings.iter().enumerate() {
        let mut row = of_found(found, input, &mut rules);
        put(&mut row, "fixes", fixes(at, model));
        results.push(row);
    }
    let unmet = model.requirements.iter().filter(|judged| !judged.met);
    let mut unmet = unmet.peekable();
    let mut all: Vec<Value> = rules.0.iter().copied().map(rule).collect();
    if unmet.peek().is_some() {
        let index = all.len();
        all.push(rule_of_requirements());
        results.extend(unmet.map(|judged| of_requirement(judged, index, input)));
    }
    log(
        all,
        results,
        json!({ "executionSuccessful": true, "exitCode": input.outcome.exit_code }),
    )
}

/// The rule that all requirements of the command line share. It has no code that `dslc explain` could describe; its help says how to list
/// the metrics.
fn rule_of_requirements() -> Value {
    json!({
        "id": REQUIREMENT,
        "name": REQUIREMENT,
        "shortDescription": { "text": "A launch does not meet a condition of --require." },
        "fullDescription": { "text": "The program was run with `dslc run --require CONDITION`, and a launch does not meet the condition, or the condition is about none." },
        "help": { "text": "`dslc run FILE --launches` shows what each access costs; `dslc run --metrics list` lists the metrics." },
        "defaultConfiguration": { "level": "error" },
    })
}

/// A requirement that is not met, at the launches that fail it, or at the program if it looked at no launch.
fn of_requirement(judged: &Judged, index: usize, input: &Input<'_>) -> Value {
    let at = |line: u32| {
        let mut place = json!({ "artifactLocation": { "uri": uri(input.program) } });
        if line > 0 {
            place["region"] = json!({ "startLine": line });
        }
        json!({ "physicalLocation": place })
    };
    let mut lines: Vec<u32> = judged.failed.iter().map(|failed| failed.line).collect();
    lines.dedup();
    let first = lines.first().copied().unwrap_or(0);
    let related = lines.iter().skip(1).map(|&line| at(line));
    let text = format!(
        "requirement not met: {}. {}",
        judged.requirement,
        judged.why()
    );
    let mut row = json!({
        "ruleId": REQUIREMENT,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": text },
        "locations": [at(first)],
    });
    put(&mut row, "relatedLocations", numbered(related));
    row["partialFingerprints"] =
        json!({ FINGERPRINT: format!("{REQUIREMENT} {}", judged.requirement) });
    row
}

/// The log of a program that was only checked, or does not compile.
pub fn of_check(diagnostics: &[Diagnostic], map: &SourceMap) -> Value {
    let mut rules = Rules::default();
    let results = of_diagnostics(diagnostics, map, &mut rules);
    let rules = rules.0.into_iter().map(rule).collect();
    log(rules, results, json!({ "executionSuccessful": true }))
}

fn log(rules: Vec<Value>, results: Vec<Value>, invocation: Value) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "dslc",
                "version": version,
                "semanticVersion": version,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    })
}

/// Adds a property, unless it would be empty.
fn put(object: &mut Value, name: &str, values: Vec<Value>) {
    if !values.is_empty() {
        object[name] = values.into();
    }
}

/// The codes that occur, in the order of their first result.
#[derive(Default)]
struct Rules(Vec<Code>);

impl Rules {
    fn index(&mut self, code: Code) -> usize {
        let known = self.0.iter().position(|known| *known == code);
        known.unwrap_or_else(|| {
            self.0.push(code);
            self.0.len() - 1
        })
    }
}

fn rule(code: Code) -> Value {
    let mut help = code.why().to_string();
    for (title, example) in [
        ("Wrong", code.bad_example()),
        ("Right", code.good_example()),
    ] {
        if !example.is_empty() {
            help += &format!("\n\n{title}:\n\n{example}");
        }
    }
    let why = code.why();
    let first = why.split_inclusive(". ").next().unwrap_or(why);
    let level = match code.class() {
        Class::Warning => "warning",
        Class::Error | Class::Run => "error",
    };
    json!({
        "id": code.number(),
        "name": code.slug(),
        "shortDescription": { "text": first.trim() },
        "fullDescription": { "text": why },
        "help": { "text": help },
        "defaultConfiguration": { "level": level },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn of_diagnostics(all: &[Diagnostic], map: &SourceMap, rules: &mut Rules) -> Vec<Value> {
    let row = |diagnostic: &Diagnostic| {
        let mut message = diagnostic.message.clone();
        for more in diagnostic.notes.iter().chain(&diagnostic.help) {
            message += &format!(". {more}");
        }
        let labels = diagnostic.labels.iter().map(|label| {
            let mut at = location(label.span, map);
            at["message"] = json!({ "text": label.message });
            at
        });
        let mut row = json!({
            "ruleId": diagnostic.code.number(),
            "ruleIndex": rules.index(diagnostic.code),
            "level": level(diagnostic.severity),
            "message": { "text": message },
            "locations": [location(diagnostic.primary.span, map)],
        });
        put(&mut row, "relatedLocations", numbered(labels));
        row
    };
    all.iter().map(row).collect()
}

fn of_found(found: &Found, input: &Input<'_>, rules: &mut Rules) -> Value {
    let mut kernel = found.kernel.as_ref();
    let sides = found.sides.iter();
    let sides = sides.map(|side| (side.loc, render::label(side)));
    let others = found.others.iter().cloned();
    let locations = sides.chain(others).filter_map(|(loc, label)| {
        let span = locate::span(loc, Extent::Name, input.module, input.map)?;
        let mut at = location(span, input.map);
        if let Some(kernel) = kernel.take() {
            at["logicalLocations"] = json!([{ "name": kernel, "kind": "function" }]);
        }
        if !label.is_empty() {
            at["message"] = json!({ "text": label });
        }
        Some(at)
    });
    let mut locations: Vec<Value> = locations.collect();
    let related = locations.split_off(locations.len().min(1));
    let mut message = found.message.clone();
    if let Some(advice) = &found.advice {
        message += &format!(". {}", advice.text());
    }
    let mut row = json!({
        "ruleId": found.code.number(),
        "ruleIndex": rules.index(found.code),
        "level": level(render::severity(found.severity)),
        "message": { "text": message },
        "locations": locations,
    });
    put(&mut row, "relatedLocations", numbered(related.into_iter()));
    row["partialFingerprints"] = json!({ FINGERPRINT: found.fingerprint });
    row["occurrenceCount"] = found.occurrences.count.max(1).into();
    if found.muted {
        let why = "known: the baseline lists it";
        row["suppressions"] = json!([{ "kind": "external", "justification": why }]);
    }
    row["properties"] = json!({ "kind": found.kind });
    row
}

/// Locations with their numbers, which come first.
fn numbered(locations: impl Iterator<Item = Value>) -> Vec<Value> {
    let number = |(id, location): (usize, Value)| {
        let mut at = json!({ "id": id });
        if let (Value::Object(at), Value::Object(location)) = (&mut at, location) {
            at.extend(location);
        }
        at
    };
    locations.enumerate().map(number).collect()
}

/// The proved cures of a finding. All edits of one file are one change.
fn fixes(finding: usize, model: &Model<'_>) -> Vec<Value> {
    let is_cure = |cure: &&Suggestion| {
        cure.verified && !cure.edits.is_empty() && cure.findings_removed.contains(&finding)
    };
    let fix = |cure: &Suggestion| {
        let mut files: Vec<&str> = cure.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let change = |file: &&str| {
            let edits = cure.edits.iter().filter(|edit| edit.file == **file);
            json!({
                "artifactLocation": { "uri": uri(file) },
                "replacements": edits.map(replacement).collect::<Vec<_>>(),
            })
        };
        json!({
            "description": { "text": cure.text },
            "artifactChanges": files.iter().map(change).collect::<Vec<_>>(),
        })
    };
    model.suggestions.iter().filter(is_cure).map(fix).collect()
}

fn replacement(edit: &Edit) -> Value {
    json!({
        "deletedRegion": {
            "startLine": edit.line,
            "startColumn": edit.column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        },
        "insertedContent": { "text": edit.text },
    })
}

fn location(span: Span, map: &SourceMap) -> Value {
    let span = map.use_site(span);
    let file = map.file(span.file);
    let (start_line, start_column) = file.line_column(span.start);
    let (end_line, end_column) = file.line_column(span.end.max(span.start));
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&file.name) },
        "region": {
            "startLine": start_line,
            "startColumn": start_column,
            "endLine": end_line,
            "endColumn": end_column,
            "snippet": { "text": file.line(start_line) },
        },
    } })
}

/// A path as a URI reference: `/` between parts, special characters as `%20`.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri += "file://";
    }
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~+".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("a/b.k"), "a/b.k");
        assert_eq!(uri("my programs\\b ü.k"), "my%20programs/b%20%C3%BC.k");
        assert_eq!(uri("/x/b.k"), "file:///x/b.k");
    }
}
