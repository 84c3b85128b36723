//! The findings' section of the text report: a line for each, the same facts as the messages in short.

use std::fmt::Write;

use dsl::ir::Module;
use interp::Severity;

use super::{super::text::cut, Found};

/// The section; empty without findings.
pub fn section(found: &[Found], module: &Module, columns: usize) -> String {
    let muted = found.iter().filter(|found| found.muted).count();
    let shown: Vec<&Found> = found.iter().filter(|found| !found.muted).collect();
    let mut text = String::new();
    if shown.is_empty() && muted == 0 {
        return text;
    }
    let title = format!("── findings: {} ", summary(&shown, muted));
    let rule = "─".repeat(columns.min(120).saturating_sub(title.chars().count()));
    let _ = writeln!(text, "{title}{rule}");
    for found in shown {
        let row = format!(
            " {:<7} {} {:<18} {:<12} {}",
            found.severity.name(),
            found.code.number(),
            found.kind,
            lines(found, module),
            about(found)
        );
        let _ = writeln!(text, "{}", cut(row.trim_end(), columns));
    }
    text
}

/// `2 errors, 1 note, 3 known`.
fn summary(shown: &[&Found], muted: usize) -> String {
    let mut parts = vec![];
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let count = shown
            .iter()
            .filter(|found| found.severity == severity)
            .count();
        if count > 0 {
            parts.push(format!(
                "{count} {severity}{}",
                if count == 1 { "" } else { "s" }
            ));
        }
    }
    if muted > 0 {
        parts.push(format!("{muted} known from the baseline"));
    }
    parts.join(", ")
}

/// `line 12, 14`.
fn lines(found: &Found, module: &Module) -> String {
    let mut lines: Vec<u32> = vec![];
    for side in &found.sides {
        let line = module.loc(side.loc).line;
        if line > 0 && !lines.contains(&line) {
            lines.push(line);
        }
    }
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("line {}", lines.join(", "))
    }
}

/// Memory, kernel and count.
fn about(found: &Found) -> String {
    let mut parts = vec![];
    match (&found.space, &found.object) {
        (Some(space), Some((name, index))) if name.contains(' ') && !index.is_empty() => {
            parts.push(format!("{space} {index} of {name}"));
        }
        (Some(space), Some((name, index))) => parts.push(format!("{space} {name}{index}")),
        (Some(space), None) => parts.push(space.clone()),
        (None, _) => {}
    }
    if let Some(kernel) = &found.kernel {
        parts.push(format!("in {kernel}"));
    }
    if found.count > 1 {
        parts.push(format!("x{}", found.count));
    }
    parts.join(" ")
}
