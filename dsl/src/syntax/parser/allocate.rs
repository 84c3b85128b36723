//! `new`, `delete` and `throw`.

use chumsky::prelude::*;

use super::{
    expr::{comma, init_items},
    kit::{
        At, P, ahead, closing, custom_clone, expr_node, fail, name, punct, skip, spanned,
        template_arguments, word,
    },
    primary,
    recover::What,
    ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{Expr, ExprKind, Init, New},
        token::{Keyword, Punct},
    },
};

/// `new T`, `new T(a)`, `new T{a}`, `new T[n]`, `new T[n]()`, `new (place) T(a)`.
pub(super) fn new<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let place = comma(assign.clone())
        .delimited_by(punct(Punct::LParen), closing(Punct::RParen, "`)`"))
        .boxed();
    let ty = ty::conversion_type(ty::specifiers());
    let count = comma(assign.clone())
        .delimited_by(punct(Punct::LBracket), closing(Punct::RBracket, "`]`"))
        .boxed();
    let args = primary::arguments(assign.clone())
        .map_with(spanned)
        .map(Init::Construct);
    let items = init_items(assign).map_with(spanned).map(Init::List);
    custom_clone(move |inp: &mut At<'t, '_>| {
        inp.skip();
        let look = ahead(inp);
        let has_place = look.is(0, Punct::LParen) && !primary::is_type_in_parentheses(look, 0);
        let place = if has_place {
            Some(inp.parse(&place)?)
        } else {
            None
        };
        if ahead(inp).is(0, Punct::LParen) {
            return fail(inp, What::Phrase("the type to make, without parentheses"));
        }
        let ty = inp.parse(&ty)?;
        let mut counts = Vec::new();
        while ahead(inp).is(0, Punct::LBracket) {
            counts.push(inp.parse(&count)?);
        }
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
    custom_clone(move |inp: &mut At<'t, '_>| {
        inp.skip();
        let look = ahead(inp);
        let is_array = look.is(0, Punct::LBracket) && look.is(1, Punct::RBracket);
        if is_array {
            inp.skip();
            inp.skip();
        }
        let pointer = inp.parse(&assign)?;
        Ok(ExprKind::Delete {
            is_array,
            pointer: Box::new(pointer),
        })
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
    let ty = ty::type_name(assign).delimited_by(punct(Punct::LParen), punct(Punct::RParen));
    word(Keyword::IsTrivial)
        .ignore_then(ty)
        .map(|ty| ExprKind::IsTrivial(Box::new(ty)))
        .map_with(expr_node)
        .boxed()
}

/// The name after `.` or `->`: also `~T` of a destructor that is called.
pub(super) fn member_name<'t>() -> P<'t, crate::syntax::ast::Name> {
    custom_clone(move |inp: &mut At<'t, '_>| {
        if !ahead(inp).is(0, Punct::Tilde) {
            return inp.parse(name());
        }
        inp.skip();
        let look = ahead(inp);
        let name = inp.parse(name())?;
        let end = template_arguments(look, 1).unwrap_or(1);
        skip(inp, end - 1);
        Ok(Spanned::new(format!("~{}", name.node).into(), name.span))
    })
    .boxed()
}
