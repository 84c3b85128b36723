//! Tokens to tree.
//!
//! In: the tokens left after preprocessing. Out: a tree and every syntax error found, the tree with `Error` nodes in the
//! places that did not parse. Three steps: `brackets` balances the tokens and reports what was unbalanced, the grammar
//! (`item`, `decl`, `ty`, `stmt`, `expr`: chumsky, one production per function) reads them, and `recover` turns what the
//! grammar could not read into messages and finds the place to go on.
//!
//! The grammar is predictive: `lookahead` decides from the next few tokens which production is meant, and that one
//! either parses or is the error. Nothing is tried twice, so time is linear and messages name what the user began.
//! No input overflows the stack: `depth` bounds how deep the grammar (and the tree) gets.

use chumsky::Parser as _;

use super::{ast::Unit, token::Token};
use crate::{diagnostic::Diagnostic, span::Span};

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

/// Parses preprocessed tokens. `end` is the place just after the last line, for messages about a missing end.
pub fn parse(tokens: &[Token], end: Span) -> (Unit, Vec<Diagnostic>) {
    let joined = spaced::join(tokens);
    let marked = angles::mark(&joined);
    let balanced = brackets::balance(&marked, end);
    let rules = kit::Rules {
        assignment: expr::assignment_rule(),
        operand: expr::operand_rule(),
        specifiers: ty::specifiers_rule(),
        body: stmt::body_rule(),
    };
    let mut state = kit::State::new(&balanced.tokens, &balanced.repairs, end, rules);
    let items = item::unit()
        .parse_with_state(&balanced.tokens, &mut state)
        .into_output()
        .unwrap_or_default();
    let mut diagnostics = balanced.diagnostics;
    diagnostics.append(&mut state.diagnostics);
    diagnostics
        .sort_by_key(|diagnostic| (diagnostic.primary.span.file, diagnostic.primary.span.start));
    (Unit { items }, diagnostics)
}

#[cfg(test)]
mod tests;
