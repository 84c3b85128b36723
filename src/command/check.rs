//! `dslc check FILE`: the front end alone, every message in one go.

use dsl::diagnostic::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::{
    args::{CheckArgs, Color, Format},
    failure::Failure,
    output,
    report::sarif,
    source::{Loaded, load},
};

pub(crate) fn run(args: &CheckArgs, color: Color) -> Result<u8, Failure> {
    let loaded = load(&args.source)?;
    match args.format {
        Format::Text => {
            loaded.report(color, Severity::Note);
            output::err(&format!("{}\n", summary(&loaded)));
        }
        Format::Sarif => {
            let log = sarif::of_check(&loaded.diagnostics, &loaded.map);
            output::out(format!("{}\n", serde_json::to_string_pretty(&log)?).as_bytes());
        }
        Format::Json => {
            let messages: Vec<Value> = loaded
                .diagnostics
                .iter()
                .map(|diagnostic| message(diagnostic, &loaded))
                .collect();
            let object = json!({
                "schema": "dslc-check/1",
                "program": args.source.file.display().to_string(),
                "ok": !loaded.has_errors(),
                "diagnostics": messages,
            });
            output::out(format!("{}\n", serde_json::to_string_pretty(&object)?).as_bytes());
        }
    }
    Ok(u8::from(loaded.has_errors()))
}

/// `2 errors, 1 warning in reduce.k`.
fn summary(loaded: &Loaded) -> String {
    let count = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    };
    let name = loaded
        .map
        .files()
        .next()
        .map_or("", |(_, file)| file.name.as_str());
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    for (severity, what) in [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Note, "note"),
    ] {
        match count(severity) {
            0 => {}
            n => parts.push(counted(n, what)),
        }
    }
    if parts.is_empty() {
        format!("{name}: ok")
    } else {
        format!("{name}: {}", parts.join(", "))
    }
}

fn message(diagnostic: &Diagnostic, loaded: &Loaded) -> Value {
    let place = |span| {
        let span = loaded.map.use_site(span);
        let file = loaded.map.file(span.file);
        let (line, column) = file.line_column(span.start);
        (file.name.clone(), line, column)
    };
    let (file, line, column) = place(diagnostic.primary.span);
    let labels = diagnostic.labels.iter().map(|label| {
        let (file, line, column) = place(label.span);
        json!({ "file": file, "line": line, "column": column, "message": label.message })
    });
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "code": diagnostic.code.number(), "slug": diagnostic.code.slug(), "severity": severity, "message": diagnostic.message,
        "file": file, "line": line, "column": column, "labels": labels.collect::<Vec<_>>(),
        "notes": diagnostic.notes, "help": diagnostic.help,
    })
}
