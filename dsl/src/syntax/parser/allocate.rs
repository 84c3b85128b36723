//! `new`, `delete` and `throw`.

use chumsky::prelude::*;

use super::{
    expr::{comma, init_items},
    kit::{
        P, ahead, at, brackets, custom_clone, expr_node, fail, name, parens, production,
        repeat_while, skip, spanned, take, when, word,
    },
    lookahead::{Ahead, is_type_in_parentheses, template_arguments},
    primary, ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{Expr, ExprKind, Init, New},
        message::parse::Expected,
        token::{Keyword, Punct},
    },
};

/// `new T`, `new T(a)`, `new T{a}`, `new T[n]`, `new T[n]()`, `new (place) T(a)`.
pub(super) fn new<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let has_place = |look: Ahead<'_>| look.is(0, Punct::LParen) && !is_type_in_parentheses(look, 0);
    let place = when(has_place, parens(comma(assign.clone()))).boxed();
    let ty = ty::conversion_type(ty::specifiers());
    let counts = repeat_while(at(Punct::LBracket), brackets(comma(assign.clone()))).boxed();
    let args = primary::arguments(assign.clone())
        .map_with(spanned)
        .map(Init::Construct);
    let items = init_items(assign).map_with(spanned).map(Init::List);
    custom_clone(move |inp| {
        inp.skip();
        let place = inp.parse(&place)?;
        if ahead(inp).is(0, Punct::LParen) {
            return fail(inp, Expected::NewType);
        }
        let ty = inp.parse(&ty)?;
        let counts = inp.parse(&counts)?;
        let init = match ahead(inp).punct(0) {
            Some(Punct::LParen) => Some(inp.parse(&args)?),
            Some(Punct::LBrace) => Some(inp.parse(&items)?),
            _ => None,
        };
        Ok(ExprKind::New(Box::new(New {
            place,
            ty,
            counts,
            init,
        })))
    })
    .map_with(expr_node)
    .boxed()
}

/// `delete p`, `delete[] p`.
pub(super) fn delete<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let is_array = when(
        |look| look.is(0, Punct::LBracket) && look.is(1, Punct::RBracket),
        brackets(empty()),
    );
    word(Keyword::Delete)
        .ignore_then(is_array)
        .then(assign)
        .map(|(brackets, pointer)| ExprKind::Delete {
            is_array: brackets.is_some(),
            pointer: Box::new(pointer),
        })
        .map_with(expr_node)
        .boxed()
}

/// `throw e`.
pub(super) fn throw<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    word(Keyword::Throw)
        .ignore_then(assign)
        .map(|thrown| ExprKind::Throw(Box::new(thrown)))
        .map_with(expr_node)
        .boxed()
}

/// `__is_trivially_copyable(T)`.
pub(super) fn is_trivial<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let ty = parens(ty::type_name(assign));
    word(Keyword::IsTrivial)
        .ignore_then(ty)
        .map(|ty| ExprKind::IsTrivial(Box::new(ty)))
        .map_with(expr_node)
        .boxed()
}

/// The name after `.` or `->`: also `~T` of a destructor that is called.
pub(super) fn member_name<'t>() -> P<'t, crate::syntax::ast::Name> {
    production(move |inp| {
        if !take(inp, Punct::Tilde) {
            return inp.parse(name());
        }
        let name = inp.parse(name())?;
        let n = template_arguments(ahead(inp), 0).unwrap_or(0);
        skip(inp, n);
        Ok(Spanned::new(format!("~{}", name.node).into(), name.span))
    })
}
