//! Items at file scope: functions, variables, types, and unsupported C++ that is named and skipped.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    cxx::string,
    decl::init_declarator,
    expr::element,
    function::{Functions, function, special},
    kit::{
        At, P, Production, ahead, at, block, by_hand, choose, either, fail, fail_with, list,
        position, punct, read, repeat_while, since, take, word,
    },
    lookahead::{
        Ahead, is_unknown_type, path_ahead, qualified, scoped_name, special_name,
        template_arguments,
    },
    recover::{Failure, construct_end, item_end, recovered},
    stmt, template, ty,
};
use crate::syntax::{
    ast::{Declaration, Declarator, Function, Item, MethodKind},
    message::parse::{Expected, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::Spanned;

/// A whole file.
pub(super) fn unit<'t>() -> impl Production<'t, Vec<Item>> {
    repeat_while(|next| next.kind(0).is_some(), item())
        .map(|items| items.into_iter().flatten().collect())
}

/// One item; `extern "C" { … }` yields those inside it.
fn item<'t>() -> P<'t, Vec<Item>> {
    recursive(|item| {
        let item = super::depth::nested(item).boxed();
        let linkage = linkage(item.clone());
        let scoped = template::scoped_item(item);
        let item = choose!(|next| next.keyword(0);
            None if next.is(0, Punct::Semi) => empty: punct(Punct::Semi).to(Vec::new()),
            Some(Keyword::Extern) if matches!(next.kind(1), Some(TokenKind::Str(_))) => linkage: linkage,
            _ if template::begins(next) => scoped: scoped,
            _ if foreign_item(next).is_some() => foreign: foreign().map(|item| vec![item]),
            _ => external: external().map(|item| vec![item]),
        );
        recovered(item, item_end, |_| Vec::new()).boxed()
    })
    .boxed()
}

/// `extern "C"` before one item or around several; it has no effect here.
fn linkage<'t>(item: P<'t, Vec<Item>>) -> impl Production<'t, Vec<Item>> {
    let block = block(item.clone()).map(|items| items.into_iter().flatten().collect());
    word(Keyword::Extern)
        .ignore_then(string())
        .ignore_then(either(at(Punct::LBrace), block, item))
}

/// Unsupported C++ at file scope, and how many tokens it takes.
fn foreign_item(next: Ahead<'_>) -> Option<(&'static str, usize)> {
    let construct = match next.keyword(0) {
        Some(Keyword::Asm) => "inline PTX",
        _ if next.begins_path(0)
            && qualified(next).is_some()
            && !is_qualified_declaration(next) =>
        {
            "a qualified name `A::b`"
        }
        _ => return None,
    };
    Some((construct, construct_end(next)))
}

/// Skips what [`foreign_item`] found.
fn foreign<'t>() -> impl Production<'t, Item> {
    let found = read(Expected::Nothing, |next| {
        let (construct, n) = foreign_item(next)?;
        let n = n.max(1);
        Some(((construct, foreign_name(next, n)), n))
    });
    found.map_with(|(construct, name), extra| {
        let start = extra.span().start;
        let state = extra.state();
        let place =
            |(at, name): (usize, &Arc<str>)| Spanned::new(name.clone(), state.place(start + at));
        Item::Unsupported {
            construct,
            span: state.place(start),
            name: name.map(place),
        }
    })
}

/// The name that the first `n` tokens declare, and its index: a class's, or a function's before its parameters.
fn foreign_name<'t>(next: Ahead<'t>, n: usize) -> Option<(usize, &'t Arc<str>)> {
    let mut angle = 0_u32;
    for at in 0..n {
        match next.kind(at)? {
            TokenKind::Punct(Punct::Lt) => angle += 1,
            TokenKind::Punct(Punct::Gt) => angle = angle.saturating_sub(1),
            TokenKind::Punct(Punct::Shr) => angle = angle.saturating_sub(2),
            TokenKind::Punct(Punct::LParen | Punct::LBrace) => return None,
            TokenKind::Ident(name) | TokenKind::TypeName(name) if angle == 0 => {
                let of_class = at > 0
                    && matches!(next.keyword(at - 1), Some(Keyword::Class | Keyword::Struct));
                if of_class || next.is(at + 1, Punct::LParen) {
                    return Some((at, name));
                }
            }
            _ => {}
        }
    }
    None
}

/// `A::B x`, or a special function of a class: `A::A(…)`.
fn is_qualified_declaration(next: Ahead<'_>) -> bool {
    special_name(next, &[]).is_some()
        || scoped_name(next).is_some_and(|(_, n, is_type)| {
            is_type && template_arguments(next, n).is_none() && !next.is(n, Punct::ColonColon)
        })
        || path_ahead(next).is_some()
}

/// A function or a declaration, which begin alike.
fn external<'t>() -> impl Production<'t, Item> {
    let specifiers = ty::specifiers();
    let declarator = init_declarator(element(), specifiers.clone());
    let functions = Functions::new(element(), specifiers.clone());
    let more = list(
        declarator.clone().map(|(declarator, _)| declarator),
        Punct::Semi,
        false,
    )
    .boxed();
    let semicolon = stmt::semicolon();
    // By hand: only the declarator shows whether it is a function.
    by_hand(move |inp| {
        let start = position(inp);
        reject_statement(inp)?;
        let mut specifiers = inp.parse(&specifiers)?;
        let next = ahead(inp);
        let kind = special(inp, &specifiers);
        let mut declarators = Vec::new();
        if kind == Some(MethodKind::Conversion) {
            let mut function = functions.conversion(inp, specifiers)?;
            function.span = since(inp, start);
            function.body = inp.parse(&functions.body)?;
            if function.body.is_none() {
                inp.parse(&semicolon)?;
            }
            return Ok(Item::Function(function));
        }
        if !next.is(0, Punct::Semi) && !next.is_after_body() {
            let (mut first, variadic) = inp.parse(&declarator)?;
            let declared = &mut first.declarator;
            if declared.is_function() {
                let span = since(inp, start);
                let method = functions.tail(inp, kind, &mut specifiers, &mut declared.parts)?;
                let body = inp.parse(&functions.body)?;
                if body.is_some() || !ahead(inp).is(0, Punct::Comma) {
                    if body.is_none() {
                        end_of_prototype(inp, declared)?;
                    }
                    let function = function(specifiers, first.declarator, variadic, method, span);
                    return Ok(Item::Function(Function { body, ..function }));
                }
            }
            declarators.push(first);
            if take(inp, Punct::Comma) {
                if ahead(inp).is(0, Punct::Semi) {
                    return fail(inp, Expected::Name);
                }
                declarators.extend(inp.parse(&more)?);
            }
        }
        inp.parse(&semicolon)?;
        Ok(Item::Declaration(Declaration {
            specifiers,
            declarators,
            span: since(inp, start),
        }))
    })
}

/// Reports a statement, which must be in a function, or a function without a type.
fn reject_statement(inp: &mut At<'_, '_>) -> Result<(), Failure> {
    use Keyword::*;
    let next = ahead(inp);
    let span = inp.state().place(next.at);
    let error = match next.kind(0) {
        Some(TokenKind::Ident(name))
            if next.is(1, Punct::LParen) && next.is(next.after_brackets(1), Punct::LBrace) =>
        {
            SyntaxError::MissingResultType { name: name.clone() }
        }
        Some(TokenKind::Ident(_))
            if !is_unknown_type(next)
                && !scoped_name(next).is_some_and(|(_, n, is_type)| n > 1 && is_type) =>
        {
            SyntaxError::StatementOutside
        }
        Some(TokenKind::Keyword(
            If | Else | For | While | Do | Switch | Case | Default | Break | Continue | Return
            | Goto,
        )) => SyntaxError::StatementOutside,
        _ => return Ok(()),
    };
    fail_with(inp, span, error)
}

/// The `;` of a prototype, or the message that there is neither a `;` nor a body.
fn end_of_prototype(inp: &mut At<'_, '_>, declarator: &Declarator) -> Result<(), Failure> {
    let next = ahead(inp);
    if next.is(0, Punct::Semi) {
        inp.skip();
        return Ok(());
    }
    let name = declarator
        .name
        .as_ref()
        .map_or_else(|| "".into(), |name| name.node.clone());
    let place = inp.state().before(next.at);
    let error = SyntaxError::MissingBody { name };
    // The body may follow without its `{`, or the next item; only the body has to be skipped.
    let begins_item = next.kind(0).is_none() || next.keyword(0).is_some_and(ty::is_specifier);
    if begins_item {
        inp.state().report(place, error);
        return Ok(());
    }
    fail_with(inp, place, error)
}
