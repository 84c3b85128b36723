//! Inline PTX; and statements of C++ that are recognised and skipped, each as one node that names it.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    kit::{P, Production, choose, expr_node, flag, parens, punct, read, repeat_while, when, word},
    lookahead::Ahead,
    recover::construct_end,
};
use crate::syntax::{
    ast::{Asm, Expr, ExprKind, StmtKind},
    message::parse::Expected,
    token::{Keyword, Punct, TokenKind},
};

/// Unsupported statements of C++, and how many tokens each takes.
pub(super) fn foreign_statement(next: Ahead<'_>) -> Option<(&'static str, usize)> {
    let found = match next.kind(0)? {
        TokenKind::Keyword(Keyword::Namespace) => ("a namespace", construct_end(next)),
        TokenKind::Keyword(Keyword::Template) => ("a template", construct_end(next)),
        TokenKind::Keyword(Keyword::Try) => ("`try`", try_extent(next)),
        _ => return None,
    };
    Some(found)
}

fn try_extent(next: Ahead<'_>) -> usize {
    let mut n = if next.is(1, Punct::LBrace) {
        next.after_brackets(1)
    } else {
        1
    };
    while next.is_word(n, Keyword::Catch) && next.is(n + 1, Punct::LParen) {
        n = next.after_brackets(n + 1);
        if next.is(n, Punct::LBrace) {
            n = next.after_brackets(n);
        }
    }
    n
}

/// `asm volatile("…" : "=r"(a) : "r"(b) : "memory");`
pub(super) fn asm<'t>(expression: P<'t, Expr>) -> P<'t, StmtKind> {
    let words = choice((
        word(Keyword::Volatile),
        word(Keyword::Inline),
        word(Keyword::Goto),
    ));
    let operand = string().then(parens(expression)).boxed();
    let (outputs, inputs) = (listed(operand.clone()), listed(operand));
    let clobbers = listed(string()).ignored().boxed();
    let colon = punct(Punct::Colon);
    // `::` omits a part.
    let two_colons = punct(Punct::ColonColon);
    let after_inputs = choose!(|next| next.punct(0);
        Some(Punct::Colon) => clobbers: colon.ignore_then(clobbers.clone()),
        Some(Punct::ColonColon) => nothing: two_colons.ignore_then(clobbers.clone()),
        _ => none: empty(),
    );
    let inputs = inputs.then_ignore(after_inputs).boxed();
    let after_outputs = choose!(|next| next.punct(0);
        Some(Punct::Colon) => inputs: colon.ignore_then(inputs.clone()),
        Some(Punct::ColonColon) => clobbers: two_colons.ignore_then(clobbers.clone()).map(|()| Vec::new()),
        _ => none: empty().map(|()| Vec::new()),
    );
    let operands = choose!(|next| next.punct(0);
        Some(Punct::Colon) => outputs: colon.ignore_then(outputs.clone()).then(after_outputs),
        Some(Punct::ColonColon) => inputs: two_colons.ignore_then(inputs.clone()).map(|inputs| (Vec::new(), inputs)),
        _ => none: empty().map(|()| (Vec::new(), Vec::new())),
    );
    word(Keyword::Asm)
        .ignore_then(words.repeated())
        .ignore_then(parens(string().then(operands)))
        .map(|(text, (outputs, inputs))| {
            ExprKind::Asm(Box::new(Asm {
                text,
                outputs,
                inputs,
            }))
        })
        .map_with(expr_node)
        .then_ignore(super::stmt::semicolon())
        .map(StmtKind::Expr)
        .boxed()
}

/// Items that begin with a string, with commas between them.
fn listed<'t, O: 't>(item: impl Production<'t, O>) -> impl Production<'t, Vec<O>> {
    let is_string = |next: Ahead<'_>, n| matches!(next.kind(n), Some(TokenKind::Str(_)));
    // nvcc accepts operands without a comma between them.
    let goes_on = move |next: Ahead<'_>| is_string(next, usize::from(next.is(0, Punct::Comma)));
    let more = repeat_while(goes_on, flag(Punct::Comma).ignore_then(item.clone()));
    let items = item
        .then(more)
        .then_ignore(flag(Punct::Comma))
        .map(|(first, rest)| std::iter::once(first).chain(rest).collect());
    when(move |next| is_string(next, 0), items).map(Option::unwrap_or_default)
}

/// A string.
pub(super) fn string<'t>() -> impl Production<'t, Arc<[u8]>> + Copy {
    read(Expected::String, |next| match next.kind(0)? {
        TokenKind::Str(text) => Some((text.clone(), 1)),
        _ => None,
    })
}

/// A statement that is read far enough to be named.
pub(super) fn foreign<'t>() -> impl Production<'t, StmtKind> {
    read(Expected::Statement, foreign_statement)
        .map(ExprKind::Unsupported)
        .map_with(expr_node)
        .map(StmtKind::Expr)
}
