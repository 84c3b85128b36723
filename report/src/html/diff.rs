//! A cure as a diff of the lines it changes.

use std::{fmt::Write, ops::Range};

use ir::source::{SourceFile, SourceMap};

use super::escape;
use crate::Edit;

/// Most lines of a diff.
const MAX_LINES: usize = 40;

/// The lines that edits change, old and new; empty without edits, or if they do not fit the text.
pub(super) fn diff(edits: &[Edit], map: &SourceMap) -> String {
    let mut names: Vec<&str> = edits.iter().map(|edit| edit.file.as_str()).collect();
    names.dedup();
    let mut rows: Vec<(bool, String)> = vec![];
    for name in names {
        let Some((_, file)) = map.files().find(|(_, file)| file.name == name) else {
            return String::new();
        };
        let mut own: Vec<&Edit> = edits.iter().filter(|edit| edit.file == name).collect();
        own.sort_by_key(|edit| (edit.line, edit.column));
        for cluster in own.chunk_by(|a, b| b.line <= a.end_line) {
            let Some(changed) = changed(cluster, file) else {
                return String::new();
            };
            rows.extend(changed);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(MAX_LINES);
    let mut text = String::from("<pre class=diff>");
    for (is_new, line) in rows.iter().take(MAX_LINES) {
        let (sign, tag) = if *is_new { ('+', "ins") } else { ('-', "del") };
        let _ = write!(text, "<{tag}>{sign} {}</{tag}>", escape(line));
    }
    if more > 0 {
        let _ = write!(text, "… and {more} more lines");
    }
    text + "</pre>"
}

/// The lines of adjacent edits, without the unchanged lines at both ends.
fn changed(edits: &[&Edit], file: &SourceFile) -> Option<Vec<(bool, String)>> {
    let first = edits.first()?.line;
    let last = edits.iter().map(|edit| edit.end_line).max()?;
    let start = file.offset(first, 1) as usize;
    let end = file.offset(last, 1) as usize + file.line(last).len();
    let old = file.text.get(start..end)?;
    let mut new = old.to_string();
    for edit in edits.iter().rev() {
        let Range {
            start: from,
            end: to,
        } = file.offset(edit.line, edit.column) as usize
            ..file.offset(edit.end_line, edit.end_column) as usize;
        let range = from.checked_sub(start)?..to.checked_sub(start)?;
        new.get(range.clone())?;
        new.replace_range(range, &edit.text);
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let rows = |lines: &[&str], is_new| {
        lines
            .iter()
            .map(|line| (is_new, line.to_string()))
            .collect::<Vec<_>>()
    };
    Some([rows(old, false), rows(new, true)].concat())
}
