//! Loops: `for`, `while`, `do`, with the `#pragma unroll` before them. A broken header is reported and stepped over, and the
//! body is read as usual.

use chumsky::prelude::*;

use super::{
    cxx::is_range_for,
    decl,
    expr::expression,
    kit::{At, Ex, In, P, ahead, at_word, custom_clone, fail, punct, stmt_node, when, word},
    recover::{Failure, What, bracket_end, recovered},
    stmt::{closed, condition, declaration_or_expression, opening, semicolon},
};
use crate::{
    diagnostic::{Code, Diagnostic},
    span::Span,
    syntax::{
        ast::{Expr, ExprKind, Stmt, StmtKind, Unroll},
        token::{Keyword, Punct, TokenKind},
    },
};

/// `#pragma unroll 4` and a loop. Before anything else the pragma means nothing.
pub(super) fn unrolled_loop<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    let unroll = custom_clone(|inp: &mut At<'t, '_>| {
        let mut unroll = None;
        while ahead(inp).is_word(0, Keyword::Pragma) {
            inp.skip();
            unroll = Some(Unroll::Full);
            if let Some(&TokenKind::Int { value, .. }) = ahead(inp).kind(0) {
                inp.skip();
                unroll = Some(Unroll::Count(u32::try_from(value).unwrap_or(u32::MAX)));
            }
        }
        Ok(unroll)
    });
    let for_ = for_(stmt.clone());
    let range_for = range_for(stmt.clone());
    let while_ = while_(stmt.clone());
    let do_ = do_(stmt.clone());
    let other = stmt.map(|stmt: Stmt| stmt.kind);
    let other = other.boxed();
    let looped = custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        match look.keyword(0) {
            Some(Keyword::For) if is_range_for(look) => inp.parse(&range_for),
            Some(Keyword::For) => inp.parse(&for_),
            Some(Keyword::While) => inp.parse(&while_),
            Some(Keyword::Do) => inp.parse(&do_),
            _ if look.kind(0).is_none() || look.is(0, Punct::RBrace) => Ok(StmtKind::Empty),
            _ => inp.parse(&other),
        }
    });
    unroll
        .then(looped)
        .map(|(unroll, kind)| with_unroll(kind, unroll))
        .boxed()
}

fn with_unroll(kind: StmtKind, unroll: Option<Unroll>) -> StmtKind {
    match kind {
        StmtKind::For {
            init,
            cond,
            step,
            body,
            ..
        } => StmtKind::For {
            init,
            cond,
            step,
            body,
            unroll,
        },
        StmtKind::RangeFor {
            declaration,
            range,
            body,
            ..
        } => StmtKind::RangeFor {
            declaration,
            range,
            body,
            unroll,
        },
        StmtKind::While { cond, body, .. } => StmtKind::While { cond, body, unroll },
        StmtKind::DoWhile { body, cond, .. } => StmtKind::DoWhile { body, cond, unroll },
        other => other,
    }
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
    let start = custom_clone(|inp: &mut At<'t, '_>| {
        let at = ahead(inp).at;
        inp.skip();
        Ok(at)
    });
    start
        .then(stmt)
        .then(when(at_word(Keyword::While), tail))
        .map_with(|((start, body), cond), extra| {
            let cond = cond.unwrap_or_else(|| {
                let state = extra.state();
                let span = state.place(start);
                let after_while = start > 0
                    && matches!(
                        state.token(start - 1),
                        Some(TokenKind::Punct(Punct::RParen))
                    );
                let mut diagnostic = Diagnostic::error(
                    Code::DoWithoutWhile,
                    span,
                    "`do` without `while (…);` after its body",
                );
                if after_while {
                    diagnostic = diagnostic.help(
                        "after `while (…)` or `for (…)` the body follows directly: remove `do`",
                    );
                }
                state.diagnostics.push(diagnostic);
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
        .ignore_then(header.delimited_by(opening(), punct(Punct::RParen)))
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
        (
            Stmt {
                kind: StmtKind::Error,
                span,
            },
            None,
            None,
        )
    });
    word(Keyword::For)
        .ignore_then(header.delimited_by(opening(), punct(Punct::RParen)))
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
    let extra_part = custom_clone(|inp: &mut At<'t, '_>| {
        if ahead(inp).is(0, Punct::Semi) {
            bad_header(inp, "a third `;`")
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
    custom_clone(|inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is(0, Punct::Semi) {
            inp.skip();
            return Ok(());
        }
        if look.is(0, Punct::RParen) {
            return bad_header(inp, "a `;` is missing before this `)`");
        }
        let end = bracket_end(look, 0);
        if (0..end).any(|n| look.is(n, Punct::Semi)) {
            return fail(inp, What::Punct(Punct::Semi));
        }
        bad_header(inp, "a `;` is missing before this")
    })
}

fn bad_header<O>(inp: &mut At<'_, '_>, label: &str) -> Result<O, Failure> {
    let at = ahead(inp).at;
    let span: Span = inp.state().place(at);
    let diagnostic = Diagnostic::error(
        Code::ForHeader,
        span,
        "a `for` has three parts with two `;` between them",
    )
    .at(label);
    fail(
        inp,
        What::Said(Box::new(diagnostic.help(
            "write `for (start; condition; step)`; each part may be empty",
        ))),
    )
}
