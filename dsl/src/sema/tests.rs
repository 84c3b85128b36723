//! Tests of the check: source to messages, and source to typed tree.
//!
//! A program of `errors` has the expected codes on each guilty line: `//~ E0401`. `seeds` are typical programs, which must pass; `explain`
//! checks that the examples of `dslc explain` do what they claim.

use crate::{
    compile::{Parsed, parsed},
    sema::{self, typed::Program},
    syntax,
};
use ir::{
    diagnostic::{Diagnostic, Severity},
    source::{NoFiles, SourceFile, SourceMap},
};

mod constant;
mod convert;
mod errors;
mod explain;
mod object;
mod overload;
mod seeds;
mod space;
mod template;
mod tree;

/// A checked program.
struct Checked {
    program: Option<Program>,
    diagnostics: Vec<Diagnostic>,
    map: SourceMap,
}

/// Preprocesses, parses and checks, as the driver does.
fn check(text: &str) -> Checked {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("test.k", text));
    let tokenized = syntax::tokenize(&mut map, file, &syntax::Options::default(), &NoFiles);
    let Parsed {
        unit,
        errors,
        declared,
    } = parsed(&mut map, &tokenized, &[]);
    let mut diagnostics = tokenized.diagnostics;
    diagnostics.extend(errors);
    let options = sema::Options {
        prelude: declared.files.clone(),
        skip_host: false,
        survey: false,
    };
    let (program, found) = sema::check(&[&declared.unit, &unit], &map, options);
    diagnostics.extend(found);
    Checked {
        program,
        diagnostics,
        map,
    }
}

impl Checked {
    /// `line: code message` for each message.
    fn lines(&self) -> String {
        let line = |diagnostic: &Diagnostic| {
            let site = self.map.use_site(diagnostic.primary.span);
            let file = self.map.file(site.file);
            let (line, _) = file.line_column(site.start);
            format!(
                "{line}: {} {}",
                diagnostic.code.number(),
                diagnostic.message
            )
        };
        self.diagnostics
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The program's typed form; it must have no errors.
fn passes(text: &str) -> Program {
    let checked = check(text);
    let lines = checked.lines();
    checked
        .program
        .unwrap_or_else(|| panic!("{lines}\nin\n{text}"))
}

/// Compares the messages with the `//~` marks; returns the messages' lines.
fn expect(text: &str) -> String {
    let checked = check(text);
    let mut expected: Vec<(u32, String)> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if let Some((_, marks)) = line.split_once("//~") {
            expected.extend(
                marks
                    .split_whitespace()
                    .map(|code| (i as u32 + 1, code.to_string())),
            );
        }
    }
    let mut found: Vec<(u32, String)> = checked
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let site = checked.map.use_site(diagnostic.primary.span);
            let line = checked.map.file(site.file).line_column(site.start).0;
            (line, diagnostic.code.number().to_string())
        })
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{}\nin\n{text}", checked.lines());
    let has_error = checked
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(checked.program.is_none(), has_error);
    checked.lines()
}
