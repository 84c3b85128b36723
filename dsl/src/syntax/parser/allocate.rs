//! `new`, `delete` and `throw`.

use chumsky::prelude::*;

use super::{
    expr::{comma, init_items},
    kit::{
        P, Production, at, brackets, choose, either, expr_node, name, parens, punct, read,
        repeat_while, skipped, spanned, unexpected, when, whole, word,
    },
    lookahead::{Ahead, is_type_in_parentheses, qualified_text, template_arguments},
    primary, ty,
};
use crate::syntax::{
    ast::{Expr, ExprKind, Init, Name, New},
    message::parse::Expected,
    token::{Keyword, Punct},
};
use ir::span::Spanned;

/// `new T`, `new T(a)`, `new T{a}`, `new T[n]`, `new T[n]()`, `new (place) T(a)`.
pub(super) fn new<'t>(assign: P<'t, Expr>) -> impl Production<'t, Expr> {
    let has_place = |next: Ahead<'_>| next.is(0, Punct::LParen) && !is_type_in_parentheses(next, 0);
    let place = when(has_place, parens(comma(assign.clone()))).boxed();
    let ty = either(
        at(Punct::LParen),
        unexpected(Expected::NewType),
        ty::conversion_type(ty::specifiers()),
    );
    let counts = repeat_while(at(Punct::LBracket), brackets(comma(assign.clone())));
    let args = primary::arguments(assign.clone());
    let init = choose!(|next| next.punct(0);
        Some(Punct::LParen) => args: args.map_with(spanned).map(Init::Construct).map(Some),
        Some(Punct::LBrace) => items: init_items(assign).map_with(spanned).map(Init::List).map(Some),
        _ => none: empty().map(|()| None),
    );
    word(Keyword::New)
        .ignore_then(place)
        .then(ty)
        .then(counts)
        .then(init)
        .map(|(((place, ty), counts), init)| {
            ExprKind::New(Box::new(New {
                place,
                ty,
                counts,
                init,
            }))
        })
        .map_with(expr_node)
}

/// `delete p`, `delete[] p`.
pub(super) fn delete<'t>(assign: P<'t, Expr>) -> impl Production<'t, Expr> {
    let is_array = when(
        |next| next.is(0, Punct::LBracket) && next.is(1, Punct::RBracket),
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
}

/// `throw e`.
pub(super) fn throw<'t>(assign: P<'t, Expr>) -> impl Production<'t, Expr> {
    word(Keyword::Throw)
        .ignore_then(assign)
        .map(|thrown| ExprKind::Throw(Box::new(thrown)))
        .map_with(expr_node)
}

/// `__is_trivially_copyable(T)`.
pub(super) fn is_trivial<'t>(assign: P<'t, Expr>) -> impl Production<'t, Expr> {
    word(Keyword::IsTrivial)
        .ignore_then(parens(ty::type_name(assign)))
        .map(|ty| ExprKind::IsTrivial(Box::new(ty)))
        .map_with(expr_node)
}

/// The name after `.` or `->`; also `~T` in a destructor call, and `Base::f`.
pub(super) fn member_name<'t>() -> impl Production<'t, Name> {
    let args = skipped(|next| template_arguments(next, 0).unwrap_or(0));
    let destructor = punct(Punct::Tilde)
        .ignore_then(name())
        .then_ignore(args)
        .map(|name| Spanned::new(format!("~{}", name.node).into(), name.span));
    let scopes = read(Expected::Name, |next| {
        let n = scopes_ahead(next);
        (n > 0).then(|| (qualified_text(next, n), n))
    });
    let qualified = scopes.then(name()).map_with(|(scopes, name), extra| {
        Spanned::new(format!("{scopes}{}", name.node).into(), whole(extra))
    });
    let plain = either(at(Punct::Tilde), destructor, name());
    either(|next| scopes_ahead(next) > 0, qualified, plain)
}

/// How many tokens the scopes before a name take: `Base::`, `Base<T>::`.
fn scopes_ahead(next: Ahead<'_>) -> usize {
    let mut n = 0;
    while next.is_name(n) {
        let end = template_arguments(next, n + 1).unwrap_or(n + 1);
        if !next.is(end, Punct::ColonColon) {
            break;
        }
        n = end + 1;
    }
    n
}
