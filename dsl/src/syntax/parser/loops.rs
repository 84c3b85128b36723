//! Loops: `for`, `while`, `do`, with the `#pragma unroll` before them. A broken header is reported and stepped over, and the
//! body is read as usual.

use chumsky::prelude::*;

use super::{
    decl,
    expr::expression,
    kit::{
        At, Ex, In, P, ahead, at_word, choose, custom_clone, fail, fail_with, here, parens, punct,
        stmt_node, take, take_word, when, whole, word,
    },
    lookahead::is_range_for,
    recover::{Failure, bracket_end, recovered},
    stmt::{closed, condition, declaration_or_expression, semicolon},
};
use crate::syntax::{
    ast::{Expr, ExprKind, Stmt, StmtKind, Unroll},
    message::parse::{Expected, HeaderSlip, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};

/// `#pragma unroll 4` and a loop. Before anything else the pragma means nothing.
pub(super) fn unrolled_loop<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    let unroll = custom_clone(|inp| {
        let mut unroll = None;
        while take_word(inp, Keyword::Pragma) {
            unroll = Some(Unroll::Full);
            if let Some(&TokenKind::Int { value, .. }) = ahead(inp).kind(0) {
                inp.skip();
                unroll = Some(Unroll::Count(u32::try_from(value).unwrap_or(u32::MAX)));
            }
        }
        Ok(unroll)
    });
    let looped = choose!(|look| look.keyword(0);
        Some(Keyword::For) if is_range_for(look) => range_for: range_for(stmt.clone()),
        Some(Keyword::For) => for_: for_(stmt.clone()),
        Some(Keyword::While) => while_: while_(stmt.clone()),
        Some(Keyword::Do) => do_: do_(stmt.clone()),
        _ if look.kind(0).is_none() || look.is(0, Punct::RBrace) => nothing: empty().to(StmtKind::Empty),
        _ => other: stmt.map(|stmt: Stmt| stmt.kind),
    );
    unroll
        .then(looped)
        .map(|(unroll, kind)| with_unroll(kind, unroll))
        .boxed()
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
fn while_<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    word(Keyword::While)
        .ignore_then(condition())
        .then(stmt)
        .map(|(cond, body)| StmtKind::While {
            cond,
            body: Box::new(body),
            unroll: None,
        })
        .boxed()
}

/// `do body while (cond);`. Without its `while` it is reported and stands for its body.
fn do_<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
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
        .boxed()
}

/// `for (const auto &x : values) body`.
fn range_for<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    let header = decl::for_declaration()
        .then_ignore(punct(Punct::Colon))
        .then(expression())
        .then_ignore(closed())
        .boxed();
    word(Keyword::For)
        .ignore_then(parens(header))
        .then(stmt)
        .map(|((declaration, range), body)| StmtKind::RangeFor {
            declaration: Box::new(declaration),
            range,
            body: Box::new(body),
            unroll: None,
        })
        .boxed()
}

/// `for (init; cond; step) body`.
fn for_<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
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
        .boxed()
}

type Header = (Stmt, Option<Expr>, Option<Expr>);

/// `int i = 0, j = 1; i < n; i++`.
fn for_header<'t>() -> P<'t, Header> {
    let init = declaration_or_expression()
        .then_ignore(header_semicolon())
        .map_with(stmt_node);
    let cond = when(
        |look| !look.is(0, Punct::Semi) && !look.is(0, Punct::RParen),
        expression(),
    );
    let step = when(|look| !look.is(0, Punct::RParen), expression());
    let extra_part = custom_clone(|inp| {
        if ahead(inp).is(0, Punct::Semi) {
            bad_header(inp, HeaderSlip::ThirdSemicolon)
        } else {
            inp.parse(closed())
        }
    });
    init.then(cond)
        .then_ignore(header_semicolon())
        .then(step)
        .then_ignore(extra_part)
        .map(|((init, cond), step)| (init, cond, step))
        .boxed()
}

/// One of the two `;` of a `for`.
fn header_semicolon<'t>() -> impl Parser<'t, In<'t>, (), Ex<'t>> + Clone + 't {
    custom_clone(|inp| {
        if take(inp, Punct::Semi) {
            return Ok(());
        }
        let look = ahead(inp);
        if look.is(0, Punct::RParen) {
            return bad_header(inp, HeaderSlip::NoSemicolonBeforeParenthesis);
        }
        let end = bracket_end(look, 0);
        if (0..end).any(|n| look.is(n, Punct::Semi)) {
            return fail(inp, Expected::Punct(Punct::Semi));
        }
        bad_header(inp, HeaderSlip::NoSemicolon)
    })
}

fn bad_header<O>(inp: &mut At<'_, '_>, slip: HeaderSlip) -> Result<O, Failure> {
    let at = here(inp);
    let span = inp.state().place(at);
    fail_with(inp, span, SyntaxError::ForHeader { slip })
}
