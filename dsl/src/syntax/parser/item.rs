//! What stands at file scope: functions, variables, types, and the C++ that is named and stepped over.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    decl::{init_declarator, method_tail},
    expr::element,
    kit::{
        Ahead, At, P, ahead, custom_clone, fail, list, path, punct, qualified, repeat_while, skip,
        special_name, template_arguments,
    },
    recover::{Failure, What, construct_end, item_end, recovered},
    stmt, template, ty,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    span::{Span, Spanned},
    syntax::{
        ast::{
            Block, Declaration, Declarator, DeclaratorPart, Function, InitDeclarator, Item, Method,
            MethodKind, Specifiers, TypeName, TypeSpecifier,
        },
        token::{Keyword, Punct, TokenKind},
    },
};

/// All of a file.
pub(super) fn unit<'t>() -> P<'t, Vec<Item>> {
    repeat_while(|look| look.kind(0).is_some(), item())
        .map(|items| items.into_iter().flatten().collect())
        .boxed()
}

/// One item; `extern "C" { … }` gives those inside it.
fn item<'t>() -> P<'t, Vec<Item>> {
    recursive(|item| {
        let item = super::depth::nested(item).boxed();
        let linkage = linkage(item.clone());
        let scoped = template::scoped_item(item);
        let external = external();
        let item = custom_clone(move |inp: &mut At<'t, '_>| {
            let look = ahead(inp);
            if look.is(0, Punct::Semi) {
                inp.skip();
                return Ok(Vec::new());
            }
            if look.is_word(0, Keyword::Extern) && matches!(look.kind(1), Some(TokenKind::Str(_))) {
                return inp.parse(&linkage);
            }
            if template::begins(look) {
                return inp.parse(&scoped);
            }
            if let Some((construct, n)) = foreign_item(look) {
                skip(inp, n.max(1));
                let span = inp.state().place(look.at);
                let name = foreign_name(look, n).map(|(at, name)| Spanned {
                    node: name.clone(),
                    span: inp.state().place(look.at + at),
                });
                return Ok(vec![Item::Unsupported {
                    construct,
                    span,
                    name,
                }]);
            }
            inp.parse(&external).map(|item| vec![item])
        });
        recovered(item, item_end, |_| Vec::new()).boxed()
    })
    .boxed()
}

/// `extern "C"` before one item or around several; it changes nothing here.
fn linkage<'t>(item: P<'t, Vec<Item>>) -> P<'t, Vec<Item>> {
    let block = repeat_while(
        |look: Ahead<'_>| look.kind(0).is_some() && !look.is(0, Punct::RBrace),
        item.clone(),
    )
    .map(|items| items.into_iter().flatten().collect())
    .delimited_by(punct(Punct::LBrace), punct(Punct::RBrace))
    .boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        skip(inp, 2);
        if ahead(inp).is(0, Punct::LBrace) {
            inp.parse(&block)
        } else {
            inp.parse(&item)
        }
    })
    .boxed()
}

/// C++ at file scope, and how many tokens it takes.
fn foreign_item(look: Ahead<'_>) -> Option<(&'static str, usize)> {
    let construct = match look.kind(0)? {
        TokenKind::Keyword(Keyword::Asm) => "inline PTX",
        TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon)
            if qualified(look).is_some() && !is_qualified_declaration(look) =>
        {
            "a qualified name `A::b`"
        }
        _ => return None,
    };
    Some((construct, construct_end(look)))
}

/// The name that the first `n` tokens declare, and where it is: a class's, or a function's before its parameters.
fn foreign_name(look: Ahead<'_>, n: usize) -> Option<(usize, &Arc<str>)> {
    let mut angle = 0_u32;
    for at in 0..n {
        match look.kind(at)? {
            TokenKind::Punct(Punct::Lt) => angle += 1,
            TokenKind::Punct(Punct::Gt) => angle = angle.saturating_sub(1),
            TokenKind::Punct(Punct::Shr) => angle = angle.saturating_sub(2),
            TokenKind::Punct(Punct::LParen | Punct::LBrace) => return None,
            TokenKind::Ident(name) | TokenKind::TypeName(name) if angle == 0 => {
                let of_class = at > 0
                    && matches!(look.keyword(at - 1), Some(Keyword::Class | Keyword::Struct));
                if of_class || look.is(at + 1, Punct::LParen) {
                    return Some((at, name));
                }
            }
            _ => {}
        }
    }
    None
}

/// `A::B x`, or a special function of a class: `A::A(…)`.
fn is_qualified_declaration(look: Ahead<'_>) -> bool {
    special_name(look, &[]).is_some()
        || path(look).is_some_and(|(_, n, is_type)| {
            is_type && template_arguments(look, n).is_none() && !look.is(n, Punct::ColonColon)
        })
        || super::path::path_ahead(look).is_some()
}

/// A function or a declaration: they begin alike.
fn external<'t>() -> P<'t, Item> {
    let specifiers = ty::specifiers();
    let declarator = init_declarator(element(), specifiers.clone());
    let tail = method_tail(element());
    let result = ty::type_name(element());
    let conversion = conversion_of(specifiers.clone());
    let more = list(
        declarator.clone().map(|(declarator, _)| declarator),
        Punct::Semi,
        false,
    )
    .boxed();
    let semicolon = stmt::semicolon();
    let body = stmt::body();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        reject_statement(inp)?;
        let mut specifiers = inp.parse(&specifiers)?;
        let look = ahead(inp);
        let kind =
            special_name(look, &[]).filter(|_| matches!(specifiers.ty.node, TypeSpecifier::Void));
        if ahead(inp).is(0, Punct::Semi) || ahead(inp).is_after_body() {
            inp.parse(&semicolon)?;
            return Ok(declaration(inp, start, specifiers, Vec::new()));
        }
        if kind == Some(MethodKind::Conversion) {
            let mut function = inp.parse(&conversion)?;
            take_conversion(&mut function, &mut specifiers);
            function.method = Method {
                kind: MethodKind::Conversion,
                ..inp.parse(&tail)?
            };
            let stop = ahead(inp).at;
            function.span = inp.state().span(start, stop);
            function.specifiers = specifiers;
            if ahead(inp).is(0, Punct::LBrace) {
                function.body = Some(inp.parse(&body)?);
            } else {
                inp.parse(&semicolon)?;
            }
            return Ok(Item::Function(function));
        }
        let (mut first, variadic) = inp.parse(&declarator)?;
        if matches!(
            first.declarator.parts.first(),
            Some(DeclaratorPart::Function(..))
        ) {
            let stop = ahead(inp).at;
            let span = inp.state().span(start, stop);
            let method = Method {
                kind: kind.unwrap_or_default(),
                ..inp.parse(&tail)?
            };
            let parts = &mut first.declarator.parts;
            trailing_result(inp, &result, &mut specifiers, parts)?;
            if ahead(inp).is(0, Punct::LBrace) {
                let body = inp.parse(&body)?;
                let body = Some(body);
                let function = function(specifiers, first.declarator, variadic, body, method, span);
                return Ok(Item::Function(function));
            }
            if !ahead(inp).is(0, Punct::Comma) {
                end_of_prototype(inp, &first.declarator)?;
                let function = function(specifiers, first.declarator, variadic, None, method, span);
                return Ok(Item::Function(function));
            }
        }
        let mut declarators = vec![first];
        if ahead(inp).is(0, Punct::Comma) {
            inp.skip();
            if ahead(inp).is(0, Punct::Semi) {
                return fail(inp, What::Name);
            }
            declarators.extend(inp.parse(&more)?);
        }
        inp.parse(&semicolon)?;
        Ok(declaration(inp, start, specifiers, declarators))
    })
    .boxed()
}

/// Statements belong into functions, and functions have types.
fn reject_statement(inp: &mut At<'_, '_>) -> Result<(), Failure> {
    use Keyword::*;
    let look = ahead(inp);
    let span = inp.state().place(look.at);
    let diagnostic = match look.kind(0) {
        Some(TokenKind::Ident(name))
            if look.is(1, Punct::LParen) && look.is(look.after_brackets(1), Punct::LBrace) =>
        {
            let diagnostic = Diagnostic::error(
                Code::MissingType,
                span,
                format!("expected a type before `{name}`"),
            );
            diagnostic.help(format!(
                "write what it returns: `int {name}(…)`, `void {name}(…)`"
            ))
        }
        Some(TokenKind::Ident(_))
            if !ty::is_unknown_type(look)
                && !path(look).is_some_and(|(_, n, is_type)| n > 1 && is_type) =>
        {
            outside(span)
        }
        Some(TokenKind::Keyword(
            If | Else | For | While | Do | Switch | Case | Default | Break | Continue | Return
            | Goto,
        )) => outside(span),
        _ => return Ok(()),
    };
    fail(inp, What::Said(Box::new(diagnostic)))
}

fn outside(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::StatementOutside,
        span,
        "a statement cannot stand outside a function",
    )
    .help("is a `}` too many before it?")
}

fn declaration(
    inp: &mut At<'_, '_>,
    start: usize,
    specifiers: Specifiers,
    declarators: Vec<InitDeclarator>,
) -> Item {
    let stop = ahead(inp).at;
    let span = inp.state().span(start, stop);
    Item::Declaration(Declaration {
        specifiers,
        declarators,
        span,
    })
}

/// A function of its parts.
pub(super) fn function(
    specifiers: Specifiers,
    mut declarator: Declarator,
    variadic: bool,
    body: Option<Block>,
    method: Method,
    span: Span,
) -> Function {
    let params = match declarator.parts.remove(0) {
        DeclaratorPart::Function(params, _) => params,
        DeclaratorPart::Pointer { .. }
        | DeclaratorPart::Reference(_)
        | DeclaratorPart::RvalueReference(_)
        | DeclaratorPart::Array(..) => Vec::new(),
    };
    let name = declarator
        .name
        .clone()
        .unwrap_or_else(|| Spanned::new("".into(), declarator.span));
    Function {
        specifiers,
        declarator,
        name,
        params,
        variadic,
        body,
        method,
        span,
    }
}

/// `-> T` after the parameters of a function whose type is `auto`: the type becomes `T`, with its pointers after the part of
/// `parts` that is the parameters.
pub(super) fn trailing_result<'t>(
    inp: &mut At<'t, '_>,
    result: &P<'t, TypeName>,
    specifiers: &mut Specifiers,
    parts: &mut Vec<DeclaratorPart>,
) -> Result<(), Failure> {
    let look = ahead(inp);
    if !look.is(0, Punct::Arrow) || !matches!(specifiers.ty.node, TypeSpecifier::Auto) {
        return Ok(());
    }
    inp.skip();
    let ty = inp.parse(result)?;
    if matches!(ty.specifiers.ty.node, TypeSpecifier::Decltype(_)) {
        // It may name the parameters, which are not declared where types are read.
        let diagnostic = Diagnostic::error(
            Code::UnsupportedSyntax,
            ty.span,
            "`decltype` as the type after a function's parameters is not supported",
        );
        inp.state().diagnostics.push(diagnostic);
    }
    specifiers.ty = ty.specifiers.ty;
    specifiers.is_const |= ty.specifiers.is_const;
    specifiers.is_volatile |= ty.specifiers.is_volatile;
    parts.extend(ty.declarator.parts);
    Ok(())
}

/// `operator float *()`: its type stands in its name. The function's specifiers are those of the type.
pub(super) fn conversion_of<'t>(specifiers: P<'t, Specifiers>) -> P<'t, Function> {
    let ty = ty::conversion_type(specifiers);
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        let mut n = 0;
        let mut text = String::new();
        while !look.is_word(n, Keyword::Operator) {
            match look.kind(n) {
                Some(TokenKind::Ident(name) | TokenKind::TypeName(name)) => text.push_str(name),
                _ => text.push_str("::"),
            }
            n += 1;
        }
        skip(inp, n + 1);
        let ty = inp.parse(&ty)?;
        let stop = ahead(inp).at;
        let span = inp.state().span(look.at, stop);
        text.push_str("operator conversion");
        if !(ahead(inp).is(0, Punct::LParen) && ahead(inp).is(1, Punct::RParen)) {
            return fail(inp, What::Phrase("`()`"));
        }
        skip(inp, 2);
        Ok(Function {
            specifiers: ty.specifiers,
            declarator: ty.declarator,
            name: Spanned::new(text.into(), span),
            params: Vec::new(),
            variadic: false,
            body: None,
            method: Method::default(),
            span,
        })
    })
    .boxed()
}

/// Gives the words before `operator` to the function and the type in its name to the words.
pub(super) fn take_conversion(function: &mut Function, specifiers: &mut Specifiers) {
    specifiers.ty = function.specifiers.ty.clone();
    specifiers.is_const |= function.specifiers.is_const;
    specifiers.is_volatile |= function.specifiers.is_volatile;
}

/// The `;` of a prototype, or the message that there is neither it nor a body.
fn end_of_prototype(inp: &mut At<'_, '_>, declarator: &Declarator) -> Result<(), Failure> {
    let look = ahead(inp);
    if look.is(0, Punct::Semi) {
        inp.skip();
        return Ok(());
    }
    let name = declarator
        .name
        .as_ref()
        .map_or("the function", |name| &name.node);
    let place = inp.state().before(look.at);
    let diagnostic = Diagnostic::error(
        Code::MissingBody,
        place,
        format!("`{name}` has neither a body nor a `;`"),
    );
    let diagnostic =
        diagnostic.help("write `{ … }` for its body, or `;` if it is defined elsewhere");
    // What follows may be the body without its `{`, or the next item; only the former has to be skipped.
    let begins_item = look.kind(0).is_none() || look.keyword(0).is_some_and(ty::is_specifier);
    if begins_item {
        inp.state().diagnostics.push(diagnostic);
        return Ok(());
    }
    fail(inp, What::Said(Box::new(diagnostic)))
}
