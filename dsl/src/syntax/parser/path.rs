//! Names with template arguments: `f<float, 4>`, `Tile<T>::Row`. `angles` has marked which `<` these are.

use chumsky::prelude::*;

use super::{
    kit::{
        Ahead, P, ahead, angles, at, fail, here, production, take, take_word, template_arguments,
        when,
    },
    recover::What,
    ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{Expr, Path, Segment, TemplateArg, TypeName},
        token::{Keyword, Punct, TokenKind},
    },
};

/// A name with template arguments ahead: how many tokens it takes, and whether its last name is a type's.
pub(super) fn path_ahead(look: Ahead<'_>) -> Option<(usize, bool)> {
    let mut n = 0;
    let mut has_arguments = false;
    loop {
        if look.is(n, Punct::ColonColon) {
            n += 1;
        }
        if n > 0 && look.is_word(n, Keyword::Template) {
            n += 1;
        }
        let is_type = match look.kind(n)? {
            TokenKind::Ident(_) => false,
            TokenKind::TypeName(_) => true,
            _ => return None,
        };
        n += 1;
        if let Some(end) = template_arguments(look, n) {
            has_arguments = true;
            n = end;
        }
        let goes_on = look.is(n, Punct::ColonColon)
            && (look.is_name(n + 1) || look.is_word(n + 1, Keyword::Template));
        if !goes_on {
            return has_arguments.then_some((n, is_type));
        }
    }
}

/// A path; its arguments are read by `argument`.
pub(super) fn path<'t>(argument: P<'t, TemplateArg>) -> P<'t, Path> {
    let arguments = when(at(Punct::AngleOpen), angles(argument)).boxed();
    production(move |inp| {
        let start = here(inp);
        let mut segments = Vec::new();
        loop {
            let look = ahead(inp);
            if look.is(0, Punct::ColonColon) {
                if segments.is_empty() {
                    let name = Spanned::new("".into(), inp.state().place(look.at));
                    segments.push(Segment { name, args: None });
                }
                inp.skip();
            }
            take_word(inp, Keyword::Template);
            let look = ahead(inp);
            let Some(text) = look.name(0) else {
                return fail(inp, What::Name);
            };
            let name = Spanned::new(text.clone(), inp.state().place(look.at));
            inp.skip();
            let args = inp.parse(&arguments)?;
            segments.push(Segment { name, args });
            let look = ahead(inp);
            let goes_on = look.is(0, Punct::ColonColon)
                && (look.is_name(1) || look.is_word(1, Keyword::Template));
            if !goes_on {
                let span = inp.state().span(start, look.at);
                return Ok(Path { segments, span });
            }
        }
    })
}

/// A template argument.
pub(super) fn argument<'t>(element: P<'t, Expr>, type_name: P<'t, TypeName>) -> P<'t, TemplateArg> {
    let element = element.map(TemplateArg::Value).boxed();
    let type_name = type_name.map(TemplateArg::Type).boxed();
    production(move |inp| {
        let argument = match is_type(ahead(inp)) {
            true => inp.parse(&type_name)?,
            false => inp.parse(&element)?,
        };
        if take(inp, Punct::Ellipsis) {
            return Ok(TemplateArg::Expansion(Box::new(argument)));
        }
        Ok(argument)
    })
}

/// Whether the argument ahead is a type.
fn is_type(look: Ahead<'_>) -> bool {
    match look.kind(0) {
        // `void(int)` is the type of a function, `int(x)` a value.
        Some(TokenKind::Keyword(keyword)) if ty::is_base(*keyword) => {
            !look.is(1, Punct::LParen)
                || look.is(2, Punct::Star)
                || look.is(2, Punct::RParen)
                || look.is_type_name(2)
                || look.keyword(2).is_some_and(ty::is_specifier)
        }
        Some(TokenKind::Keyword(keyword)) => ty::is_specifier(*keyword),
        Some(
            TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::ColonColon),
        ) => {
            let (n, is_type) = extent(look);
            is_type && !look.is(n, Punct::LParen) && !look.is(n, Punct::LBrace)
        }
        _ => false,
    }
}

/// A name ahead, with or without scopes and arguments: how many tokens, and whether the last name is a type's.
pub(super) fn extent(look: Ahead<'_>) -> (usize, bool) {
    path_ahead(look).unwrap_or_else(|| plain(look))
}

/// `a::b::c` without arguments: how many tokens, and whether the last is a type.
fn plain(look: Ahead<'_>) -> (usize, bool) {
    let mut n = usize::from(look.is(0, Punct::ColonColon));
    loop {
        let is_type = look.is_type_name(n);
        if !is_type && !look.is_ident(n) {
            return (n, false);
        }
        n += 1;
        if !(look.is(n, Punct::ColonColon) && look.is_name(n + 1)) {
            return (n, is_type);
        }
        n += 1;
    }
}
