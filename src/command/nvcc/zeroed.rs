//! Rewrites arrays of variable length with an initialiser of zeros, which g++ accepts in C++ and clang rejects.
//!
//! `int seen[n] = {0};` becomes `int seen[n]; __builtin_memset(seen, 0, sizeof(seen));` in a copy of the source, which clang reads instead.
//! Lines keep their numbers. Any other initialiser stays, and clang reports it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    args::{Kind, Options},
    clang::Clang,
};

const REFUSED: &str = "error: variable-sized object may not be initialized";

/// The overlay file that replaces the source by a copy, if the source needs one.
pub(super) fn overlay(
    clang: &Clang,
    options: &Options,
    (source, kind): (&Path, Kind),
    folder: &Path,
) -> Option<PathBuf> {
    let text = fs::read_to_string(source).ok()?;
    if kind == Kind::C || !may_have_one(&text) {
        return None;
    }
    let mut command = clang.host(options, kind);
    command
        .args(["-fsyntax-only", "-fno-color-diagnostics", "-ferror-limit=0"])
        .arg(source);
    let messages = String::from_utf8(command.output().ok()?.stderr).ok()?;
    let start = format!("{}:", source.display());
    let places = messages
        .lines()
        .filter_map(|line| place(line.strip_prefix(&start)?));
    let zeroed = places.fold(text.clone(), |text, (line, column)| {
        zeroed(&text, line, column).unwrap_or(text)
    });
    if zeroed == text {
        return None;
    }
    let copy = folder.join("zeroed.cu");
    fs::write(&copy, zeroed).ok()?;
    let overlay = folder.join("zeroed.json");
    let source = fs::canonicalize(source).ok()?;
    let file = serde_json::json!({
        "version": 0,
        "use-external-names": false,
        "roots": [{ "type": "file", "name": source, "external-contents": copy }],
    });
    fs::write(&overlay, file.to_string()).ok()?;
    Some(overlay)
}

/// Whether the source may initialise an array whose length is not just a number. Clang need not be asked about most sources.
fn may_have_one(text: &str) -> bool {
    text.match_indices("] = {")
        .chain(text.match_indices("]={"))
        .any(|(at, _)| {
            let length = text[..at].rsplit('[').next().unwrap_or_default();
            length.contains(char::is_alphabetic)
        })
}

/// The line and column of the message, from 1.
fn place(message: &str) -> Option<(usize, usize)> {
    let (place, _) = message.split_once(&format!(": {REFUSED}"))?;
    let (line, column) = place.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// The text where the initialiser of the array whose length is at that place became a call.
fn zeroed(text: &str, line: usize, column: usize) -> Option<String> {
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let length = start + column - 1;
    let before = text.get(..length)?.strip_suffix('[')?.trim_end();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = &before[before.trim_end_matches(is_name).len()..];
    let equals = length + text[length..].find('=')?;
    let declarator = text[..equals].trim_end();
    let value = text[equals + 1..].trim_start().strip_prefix('{')?;
    let (inside, rest) = value.split_once('}')?;
    // Other variables may be declared after it.
    let (others, rest) = rest.split_once(';')?;
    let is_zero = |item: &str| {
        matches!(
            item.trim(),
            "" | "0" | "0.0" | "0.f" | "0.0f" | "0.0F" | "0." | "0u" | "false" | "NULL" | "nullptr"
        )
    };
    if name.is_empty() || !declarator.ends_with(']') || !inside.split(',').all(is_zero) {
        return None;
    }
    let lines = "\n".repeat(inside.matches('\n').count());
    Some(format!(
        "{declarator}{others};{lines} __builtin_memset({name}, 0, sizeof({name}));{rest}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zeros_become_a_call() {
        let text = "int f(int n) {\n    int seen[n] = {0};\n    return seen[1];\n}\n";
        assert!(may_have_one(text));
        let to = "int f(int n) {\n    int seen[n]; __builtin_memset(seen, 0, sizeof(seen));\n    return seen[1];\n}\n";
        assert_eq!(zeroed(text, 2, 14).as_deref(), Some(to));
        let others = "int a[n] = {}, b = 1;";
        let to = "int a[n], b = 1; __builtin_memset(a, 0, sizeof(a));";
        assert_eq!(zeroed(others, 1, 7).as_deref(), Some(to));
        assert_eq!(zeroed("float a[n] = { 0.0f, 1 };", 1, 9), None);
        assert_eq!(zeroed("float a[n] = f(n);", 1, 9), None);
        assert!(!may_have_one("int a[3] = {0};"));
        assert_eq!(place(&format!("12:9: {REFUSED}")), Some((12, 9)));
    }
}
