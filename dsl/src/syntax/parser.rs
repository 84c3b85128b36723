//! From tokens to a tree.
//!
//! In: the tokens after preprocessing. Out: a tree and every syntax error, with `Error` nodes where the text did not parse. There are three
//! steps: `brackets` balances the tokens and reports unbalanced ones, the grammar (`item`, `decl`, `ty`, `stmt`, `expr`: chumsky, one
//! production per function) reads them, and `recover` turns failures of the grammar into messages and finds the place to continue.
//!
//! The grammar is predictive: `lookahead` decides from the next few tokens which production applies, and that one either parses or is the
//! error. There is no backtracking, so time is linear and messages name what the user began. No input overflows the stack: `depth` limits
//! how deep the grammar (and the tree) gets.

use chumsky::Parser as _;

use super::{ast::Unit, token::Token};
use ir::{diagnostic::Diagnostic, span::Span};

mod allocate;
mod angles;
mod binding;
mod brackets;
mod cxx;
mod decl;
mod depth;
mod expr;
mod function;
mod item;
mod kit;
mod lambda;
mod lookahead;
mod loops;
mod path;
mod primary;
mod record;
mod recover;
mod spaced;
mod stmt;
mod template;
mod ty;

pub use depth::{MAX_NESTING, MAX_OPERATORS};

/// A text in tokens, and the place just after its last line, for messages about a missing end.
type Text<'t> = (&'t [Token], Span);

/// Parses preprocessed tokens. `end` is the place just after the last line, for messages about a missing end.
pub fn parse(tokens: &[Token], end: Span) -> (Unit, Vec<Diagnostic>) {
    let [parsed] = parse_all([(tokens, end)].into())
        .try_into()
        .expect("one text");
    parsed
}

/// Parses several texts with one grammar: building it and dropping it takes longer than parsing a small text.
pub(crate) fn parse_all(texts: Vec<Text<'_>>) -> Vec<(Unit, Vec<Diagnostic>)> {
    let joined = texts
        .iter()
        .map(|(tokens, end)| (spaced::join(tokens), *end));
    let joined: Vec<_> = joined.collect();
    let marked = joined
        .iter()
        .map(|(tokens, end)| (angles::mark(tokens), *end));
    let marked: Vec<_> = marked.collect();
    let balanced = marked
        .iter()
        .map(|(tokens, end)| (brackets::balance(tokens, *end), *end));
    let balanced: Vec<_> = balanced.collect();
    let rules = kit::Rules {
        assignment: expr::assignment_rule(),
        operand: expr::operand_rule(),
        specifiers: ty::specifiers_rule(),
        body: stmt::body_rule(),
    };
    let unit = item::unit();
    let mut all = Vec::with_capacity(balanced.len());
    for (balanced, end) in &balanced {
        let mut state = kit::State::new(&balanced.tokens, &balanced.repairs, *end, rules.clone());
        let items = unit
            .parse_with_state(&balanced.tokens, &mut state)
            .into_output()
            .unwrap_or_default();
        let mut diagnostics = balanced.diagnostics.clone();
        diagnostics.append(&mut state.diagnostics);
        diagnostics.sort_by_key(|message| (message.primary.span.file, message.primary.span.start));
        all.push((Unit { items }, diagnostics));
    }
    all
}

#[cfg(test)]
mod tests;
