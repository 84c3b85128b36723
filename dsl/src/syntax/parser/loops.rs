//! Loops: `for`, `while`, `do`, with the `#pragma unroll` before them. A broken header is reported and skipped, and the body is read as
//! usual.

use chumsky::prelude::*;

use super::{
    decl,
    expr::expression,
    kit::{
        P, Production, at, at_word, by_hand, choose, either, fail_with, parens, position, punct,
        read, stmt_node, when, whole, word,
    },
    lookahead::{Ahead, is_range_for},
    recover::{bracket_end, recovered},
    stmt::{closed, condition, declaration_or_expression, semicolon},
};
use crate::syntax::{
    ast::{Expr, ExprKind, Stmt, StmtKind, Unroll},
    message::parse::{Expected, HeaderSlip, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};

/// `#pragma unroll 4` and a loop. Before anything else the pragma has no effect.
pub(super) fn unrolled_loop<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    let count = read(Expected::Nothing, |next| match next.kind(0)? {
        &TokenKind::Int { value, .. } => Some((u32::try_from(value).unwrap_or(u32::MAX), 1)),
        _ => None,
    });
    let pragma = word(Keyword::Pragma)
        .ignore_then(count.or_not())
        .map(|count| count.map_or(Unroll::Full, Unroll::Count));
    let unroll = pragma
        .repeated()
        .collect()
        .map(|mut pragmas: Vec<Unroll>| pragmas.pop());
    let looped = choose!(|next| next.keyword(0);
        Some(Keyword::For) if is_range_for(next) => range_for: range_for(stmt.clone()),
        Some(Keyword::For) => for_: for_(stmt.clone()),
        Some(Keyword::While) => while_: while_(stmt.clone()),
        Some(Keyword::Do) => do_: do_(stmt.clone()),
        _ if next.kind(0).is_none() || next.is(0, Punct::RBrace) => nothing: empty().to(StmtKind::Empty),
        _ => other: stmt.map(|stmt: Stmt| stmt.kind),
    );
    unroll
        .then(looped)
        .map(|(unroll, kind)| with_unroll(kind, unroll))
}

fn with_unroll(mut kind: StmtKind, of_loop: Option<Unroll>) -> StmtKind {
    if let StmtKind::For { unroll, .. }
    | StmtKind::RangeFor { unroll, .. }
    | StmtKind::While { unroll, .. }
    | StmtKind::DoWhile { unroll, .. } = &mut kind
    {
        *unroll = of_loop;
    }
    kind
}

/// `while (cond) body`.
fn while_<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    word(Keyword::While)
        .ignore_then(condition())
        .then(stmt)
        .map(|(cond, body)| StmtKind::While {
            cond,
            body: Box::new(body),
            unroll: None,
        })
}

/// `do body while (cond);`. Without its `while` it is reported and replaced by its body.
fn do_<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    let tail = word(Keyword::While)
        .ignore_then(condition())
        .then_ignore(semicolon());
    let place = word(Keyword::Do).map_with(|(), extra| (extra.span().start, whole(extra)));
    place
        .then(stmt)
        .then(when(at_word(Keyword::While), tail))
        .map_with(|(((start, span), body), cond), extra| {
            let cond = cond.unwrap_or_else(|| {
                let state = extra.state();
                let before = state.token_before(start);
                let follows_header = before == Some(&TokenKind::Punct(Punct::RParen));
                state.report(span, SyntaxError::DoWithoutWhile { follows_header });
                Expr {
                    kind: ExprKind::Error,
                    span,
                }
            });
            StmtKind::DoWhile {
                body: Box::new(body),
                cond,
                unroll: None,
            }
        })
}

/// `for (const auto &x : values) body`.
fn range_for<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    let header = decl::for_declaration()
        .then_ignore(punct(Punct::Colon))
        .then(expression())
        .then_ignore(closed());
    word(Keyword::For)
        .ignore_then(parens(header))
        .then(stmt)
        .map(|((declaration, range), body)| StmtKind::RangeFor {
            declaration: Box::new(declaration),
            range,
            body: Box::new(body),
            unroll: None,
        })
}

/// `for (init; cond; step) body`.
fn for_<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    let header = recovered(for_header(), bracket_end, |span| {
        let kind = StmtKind::Error;
        (Stmt { kind, span }, None, None)
    });
    word(Keyword::For)
        .ignore_then(parens(header))
        .then(stmt)
        .map(|((init, cond, step), body)| StmtKind::For {
            init: Box::new(init),
            cond,
            step,
            body: Box::new(body),
            unroll: None,
        })
}

type Header = (Stmt, Option<Expr>, Option<Expr>);

/// `int i = 0, j = 1; i < n; i++`.
fn for_header<'t>() -> P<'t, Header> {
    let init = declaration_or_expression()
        .then_ignore(header_semicolon())
        .map_with(stmt_node);
    let is_end = |next: Ahead<'_>| matches!(next.punct(0), Some(Punct::Semi | Punct::RParen));
    let cond = when(move |next| !is_end(next), expression());
    let step = when(|next| !next.is(0, Punct::RParen), expression());
    let end = either(
        at(Punct::Semi),
        bad_header(HeaderSlip::ThirdSemicolon),
        closed(),
    );
    init.then(cond)
        .then_ignore(header_semicolon())
        .then(step)
        .then_ignore(end)
        .map(|((init, cond), step)| (init, cond, step))
        .boxed()
}

/// One of the two `;` of a `for`.
fn header_semicolon<'t>() -> P<'t, ()> {
    let follows = |next: Ahead<'_>| (0..bracket_end(next, 0)).any(|n| next.is(n, Punct::Semi));
    choose!(|next| next.punct(0);
        Some(Punct::Semi) => semicolon: punct(Punct::Semi),
        Some(Punct::RParen) => end: bad_header(HeaderSlip::NoSemicolonBeforeParenthesis),
        _ if follows(next) => stray: punct(Punct::Semi),
        _ => nothing: bad_header(HeaderSlip::NoSemicolon),
    )
    .boxed()
}

fn bad_header<'t>(slip: HeaderSlip) -> impl Production<'t, ()> {
    by_hand(move |inp| {
        let at = position(inp);
        let span = inp.state().place(at);
        fail_with(inp, span, SyntaxError::ForHeader { slip })
    })
}
