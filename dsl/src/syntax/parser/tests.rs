//! Tests of the parser: trees of programs (`trees`), messages (`errors`), limits and speed (`limits`).

use super::parse;
use ir::{
    diagnostic::Diagnostic,
    span::{FileId, Span},
};

mod dump;
mod errors;
mod lex;
mod limits;
mod trees;

/// Parses a text.
fn parsed(text: &str) -> (crate::syntax::ast::Unit, Vec<Diagnostic>) {
    let tokens = lex::tokens(text);
    parse(&tokens, Span::new(FileId(0), text.len(), text.len()))
}

/// The tree of a text that has no errors.
fn tree(text: &str) -> String {
    let (unit, diagnostics) = parsed(text);
    assert_eq!(shown(text, &diagnostics), "", "in {text}");
    dump::unit(&unit)
}

/// `line:column code message | label | … | help`, one line for each message.
fn shown(text: &str, diagnostics: &[Diagnostic]) -> String {
    let place = |span: Span| {
        let before = &text[..(span.start as usize).min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        format!("{line}:{column}")
    };
    let mut out = String::new();
    for diagnostic in diagnostics {
        let primary = &diagnostic.primary;
        out += &format!(
            "{} {} {}",
            place(primary.span),
            diagnostic.code.number(),
            diagnostic.message
        );
        if !primary.message.is_empty() {
            out += &format!(" | {}", primary.message);
        }
        for label in &diagnostic.labels {
            out += &format!(" | {} {}", place(label.span), label.message);
        }
        if let Some(help) = &diagnostic.help {
            out += &format!(" | help: {help}");
        }
        out += "\n";
    }
    out
}

/// The messages for a text.
fn errors(text: &str) -> String {
    shown(text, &parsed(text).1)
}

/// Compares with a snapshot; each shows the source next to the result.
fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}
