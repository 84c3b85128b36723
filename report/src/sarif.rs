//! SARIF 2.1.0 (OASIS), the form that code-scanning services read: findings of a run, messages of the front end.
//!
//! Columns count characters (`columnKind`), paths are relative URIs as the user gave them. Each access of a finding after the first is a
//! related location; a finding that the baseline has is there with a suppression, as the standard wants it.

use dsl::{
    diagnostic::{Code, Diagnostic, Severity},
    ir::{
        LocId, Module,
        locate::{self, Extent},
    },
    source::SourceMap,
    span::Span,
};
use serde::Serialize;

use super::{
    Edit, Input, Model, Suggestion,
    findings::{Found, render},
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What GitHub and others call the fingerprints of one way to compute them.
const FINGERPRINT: &str = "dslcFinding/v1";

/// A SARIF log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<ResultRow>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: &'static str,
    short_description: Text,
    full_description: Text,
    help: Text,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultRow {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_fingerprints: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrence_count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Text,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Deleted,
    inserted_content: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deleted {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    justification: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    snippet: Text,
}

#[derive(Serialize)]
struct LogicalLocation {
    name: String,
    kind: &'static str,
}

/// The log of a run: what the front end said and what was found.
pub fn of_run(model: &Model<'_>, diagnostics: &[Diagnostic]) -> Log {
    let input = model.input;
    let mut rules = Rules::default();
    let mut results = of_diagnostics(diagnostics, input.map, &mut rules);
    results.extend(
        input
            .findings
            .iter()
            .enumerate()
            .map(|(at, found)| ResultRow {
                fixes: fixes(at, model),
                ..of_found(found, input, &mut rules)
            }),
    );
    log(rules, results, Some(input.outcome.exit_code))
}

/// The log of a program that was only checked, or does not compile.
pub fn of_check(diagnostics: &[Diagnostic], map: &SourceMap) -> Log {
    let mut rules = Rules::default();
    let results = of_diagnostics(diagnostics, map, &mut rules);
    log(rules, results, None)
}

fn log(rules: Rules, results: Vec<ResultRow>, exit_code: Option<i32>) -> Log {
    Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "dslc",
                    version: env!("CARGO_PKG_VERSION"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.0.into_iter().map(rule).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            invocations: [Invocation {
                execution_successful: true,
                exit_code,
            }],
            results,
        }],
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

fn rule(code: Code) -> Rule {
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
    Rule {
        id: code.number(),
        name: code.slug(),
        short_description: text(first.trim()),
        full_description: text(why),
        help: text(&help),
        default_configuration: Configuration {
            level: if code.number().starts_with('W') {
                "warning"
            } else {
                "error"
            },
        },
    }
}

fn text(text: &str) -> Text {
    Text {
        text: text.to_string(),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn of_diagnostics(all: &[Diagnostic], map: &SourceMap, rules: &mut Rules) -> Vec<ResultRow> {
    let row = |diagnostic: &Diagnostic| {
        let label = |(id, label): (usize, &dsl::diagnostic::Label)| Location {
            id: Some(id),
            message: Some(text(&label.message)),
            ..location(label.span, map)
        };
        let mut message = diagnostic.message.clone();
        for more in diagnostic.notes.iter().chain(&diagnostic.help) {
            message += &format!(". {more}");
        }
        ResultRow {
            rule_id: diagnostic.code.number(),
            rule_index: rules.index(diagnostic.code),
            level: level(diagnostic.severity),
            message: Text { text: message },
            locations: vec![location(diagnostic.primary.span, map)],
            related_locations: diagnostic.labels.iter().enumerate().map(label).collect(),
            partial_fingerprints: None,
            occurrence_count: None,
            suppressions: vec![],
            properties: None,
            fixes: vec![],
        }
    };
    all.iter().map(row).collect()
}

fn of_found(found: &Found, input: &Input<'_>, rules: &mut Rules) -> ResultRow {
    let mut locations: Vec<Location> = vec![];
    for side in &found.sides {
        if let Some(mut at) = place(side.loc, input.module, input.map) {
            let label = render::label(side);
            at.message = (!label.is_empty()).then(|| text(&label));
            locations.push(at);
        }
    }
    for (loc, what) in &found.others {
        if let Some(mut at) = place(*loc, input.module, input.map) {
            at.message = Some(text(what));
            locations.push(at);
        }
    }
    let related_locations = locations.split_off(locations.len().min(1));
    if let (Some(first), Some(kernel)) = (locations.first_mut(), &found.kernel) {
        first.logical_locations.push(LogicalLocation {
            name: kernel.clone(),
            kind: "function",
        });
    }
    let number = |(id, location)| Location {
        id: Some(id),
        ..location
    };
    let mut message = found.message.clone();
    if let Some(advice) = &found.advice {
        message += &format!(". {advice}");
    }
    let fingerprint = (FINGERPRINT.to_string(), found.fingerprint.clone().into());
    let suppression = Suppression {
        kind: "external",
        justification: "known: it is in the baseline",
    };
    ResultRow {
        rule_id: found.code.number(),
        rule_index: rules.index(found.code),
        level: level(render::severity(found.severity)),
        message: Text { text: message },
        locations,
        related_locations: related_locations
            .into_iter()
            .enumerate()
            .map(number)
            .collect(),
        partial_fingerprints: Some([fingerprint].into_iter().collect()),
        occurrence_count: Some(found.count.max(1)),
        suppressions: if found.muted {
            vec![suppression]
        } else {
            vec![]
        },
        properties: Some(serde_json::json!({ "kind": found.kind })),
        fixes: vec![],
    }
}

/// The proved cures of a finding. All edits of one file are one change.
fn fixes(finding: usize, model: &Model<'_>) -> Vec<Fix> {
    let is_cure = |cure: &&Suggestion| {
        cure.verified && !cure.edits.is_empty() && cure.findings_removed.contains(&finding)
    };
    let fix = |cure: &Suggestion| {
        let mut files: Vec<&str> = cure.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let change = |file: &&str| ArtifactChange {
            artifact_location: ArtifactLocation { uri: uri(file) },
            replacements: cure
                .edits
                .iter()
                .filter(|edit| edit.file == **file)
                .map(replacement)
                .collect(),
        };
        Fix {
            description: text(&cure.text),
            artifact_changes: files.iter().map(change).collect(),
        }
    };
    model.suggestions.iter().filter(is_cure).map(fix).collect()
}

fn replacement(edit: &Edit) -> Replacement {
    Replacement {
        deleted_region: Deleted {
            start_line: edit.line,
            start_column: edit.column,
            end_line: edit.end_line,
            end_column: edit.end_column,
        },
        inserted_content: text(&edit.text),
    }
}

fn place(loc: LocId, module: &Module, map: &SourceMap) -> Option<Location> {
    Some(location(locate::span(loc, Extent::Name, module, map)?, map))
}

fn location(span: Span, map: &SourceMap) -> Location {
    let span = map.use_site(span);
    let file = map.file(span.file);
    let (start_line, start_column) = file.line_column(span.start);
    let (end_line, end_column) = file.line_column(span.end.max(span.start));
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: uri(&file.name),
            },
            region: Region {
                start_line,
                start_column,
                end_line,
                end_column,
                snippet: text(file.line(start_line)),
            },
        },
        logical_locations: vec![],
        message: None,
    }
}

/// A path as a URI reference: `/` between parts, everything unusual as `%20`.
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
