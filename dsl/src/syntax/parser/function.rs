//! Parts that only functions have: the words after their parameters, conversions, and bodies.

use chumsky::prelude::*;

use super::{
    decl,
    kit::{
        At, P, Production, State, after, ahead, at, either, list, name, punct, read, repeat_while,
        scoped, skipped, spanned, when, whole,
    },
    lookahead::{Ahead, qualified, qualified_text, special_name, template_arguments},
    recover::Failure,
    stmt, ty,
};
use crate::syntax::{
    ast::{
        Block, Declarator, DeclaratorPart, Expr, Function, MemberInit, Method, MethodKind, Name,
        Special, Specifiers, TypeName, TypeSpecifier,
    },
    message::parse::{Expected, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// The productions of a function's parts.
#[derive(Clone)]
pub(super) struct Functions<'t> {
    tail: P<'t, Method>,
    result: P<'t, Option<TypeName>>,
    conversion: P<'t, Conversion>,
    pub(super) body: P<'t, Option<Block>>,
}

/// The name of a conversion, its type, and what follows its `()`.
type Conversion = ((Name, TypeName), Method);

impl<'t> Functions<'t> {
    pub(super) fn new(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> Functions<'t> {
        let tail = tail(element.clone());
        Functions {
            result: after(Punct::Arrow, ty::type_name(element)).boxed(),
            conversion: conversion(specifiers).then(tail.clone()).boxed(),
            tail,
            body: body().boxed(),
        }
    }

    /// The part between the parameters and the body.
    pub(super) fn tail(
        &self,
        inp: &mut At<'t, '_>,
        kind: Option<MethodKind>,
        specifiers: &mut Specifiers,
        parts: &mut Vec<DeclaratorPart>,
    ) -> Result<Method, Failure> {
        let method = Method {
            kind: kind.unwrap_or_default(),
            ..inp.parse(&self.tail)?
        };
        self.trailing_result(inp, specifiers, parts)?;
        Ok(method)
    }

    /// `-> T` after parameters. It replaces the `auto` among the specifiers; its pointers go after the part of `parts` that is the
    /// parameters.
    pub(super) fn trailing_result(
        &self,
        inp: &mut At<'t, '_>,
        specifiers: &mut Specifiers,
        parts: &mut Vec<DeclaratorPart>,
    ) -> Result<(), Failure> {
        if !matches!(specifiers.ty.node, TypeSpecifier::Auto) {
            return Ok(());
        }
        let Some(ty) = inp.parse(&self.result)? else {
            return Ok(());
        };
        if matches!(ty.specifiers.ty.node, TypeSpecifier::Decltype(_)) {
            // It may name the parameters, which are not declared where types are read.
            let construct = "`decltype` as the type after a function's parameters";
            inp.state()
                .report(ty.span, SyntaxError::Unsupported { construct });
        }
        take_type(specifiers, ty.specifiers);
        parts.extend(ty.declarator.parts);
        Ok(())
    }

    /// `operator float *()`, whose name contains its type. `specifiers` are the words before it.
    pub(super) fn conversion(
        &self,
        inp: &mut At<'t, '_>,
        mut specifiers: Specifiers,
    ) -> Result<Function, Failure> {
        let ((name, ty), method) = inp.parse(&self.conversion)?;
        let span = name.span;
        take_type(&mut specifiers, ty.specifiers);
        Ok(Function {
            specifiers,
            declarator: ty.declarator,
            name,
            params: Vec::new(),
            variadic: false,
            body: None,
            method: Method {
                kind: MethodKind::Conversion,
                ..method
            },
            span,
        })
    }
}

/// `A::operator float *()`.
fn conversion<'t>(specifiers: P<'t, Specifiers>) -> impl Production<'t, (Name, TypeName)> {
    let scopes = read(Expected::Operator, |next| {
        let n = (0..).find(|&n| next.is_word(n, Keyword::Operator))?;
        let text = qualified_text(next, n);
        Some((format!("{text}operator conversion").into(), n + 1))
    });
    let parentheses = read(Expected::EmptyParentheses, |next| {
        (next.is(0, Punct::LParen) && next.is(1, Punct::RParen)).then_some(((), 2))
    });
    scopes
        .then(ty::conversion_type(specifiers))
        .map_with(|(name, ty), extra| (Spanned::new(name, whole(extra)), ty))
        .then_ignore(parentheses)
}

/// `{ … }`, if there is one. The names of enclosing classes have no special meaning in it.
fn body<'t>() -> impl Production<'t, Option<Block>> {
    let body = scoped(
        |state: &mut State<'t>| std::mem::take(&mut state.classes),
        |state, outside| state.classes = outside,
        stmt::body(),
    );
    when(at(Punct::LBrace), body)
}

fn take_type(specifiers: &mut Specifiers, of: Specifiers) {
    specifiers.ty = of.ty;
    specifiers.is_const |= of.is_const;
    specifiers.is_volatile |= of.is_volatile;
}

/// The kind of the function whose name is ahead, if it has no result type.
pub(super) fn special(inp: &mut At<'_, '_>, specifiers: &Specifiers) -> Option<MethodKind> {
    let next = ahead(inp);
    let is_void = matches!(specifiers.ty.node, TypeSpecifier::Void);
    special_name(next, &inp.state().classes).filter(|_| is_void)
}

/// Builds a function from its parts, without a body.
pub(super) fn function(
    specifiers: Specifiers,
    mut declarator: Declarator,
    variadic: bool,
    method: Method,
    span: Span,
) -> Function {
    let params = match declarator.parts.remove(0) {
        DeclaratorPart::Function(params, _) => params,
        _ => Vec::new(),
    };
    let unnamed = || Spanned::new("".into(), declarator.span);
    let name = declarator.name.clone().unwrap_or_else(unnamed);
    Function {
        specifiers,
        declarator,
        name,
        params,
        variadic,
        body: None,
        method,
        span,
    }
}

/// The member or base class at the beginning of a constructor's entry: `x`, `a::Base`, `Base<T>`, whose arguments add nothing.
fn initialised<'t>() -> impl Production<'t, Name> {
    let qualified_name = read(Expected::Name, |next| {
        let n = qualified(next)?;
        Some((qualified_text(next, n), n))
    });
    let args = skipped(|next| template_arguments(next, 0).unwrap_or(0));
    either(
        |next| qualified(next).is_some(),
        qualified_name.map_with(spanned),
        name().then_ignore(args),
    )
}

/// A word after the parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TailWord {
    Const,
    Volatile,
    Override,
    Final,
    /// A word without a meaning here.
    Other,
}

/// The part between the parameters of a function and its body: `const`, `override`, words without a meaning here, `: x(1)`, `= default`.
fn tail<'t>(element: P<'t, Expr>) -> P<'t, Method> {
    let word = read(Expected::Nothing, |next| {
        let word = tail_word(next)?;
        let n = match word == TailWord::Other && next.is(1, Punct::LParen) {
            true => next.after_brackets(1),
            false => 1,
        };
        Some((word, n))
    });
    let words = repeat_while(|next| tail_word(next).is_some(), word);
    let entry = initialised()
        .then(decl::init(element))
        .map(|(name, (init, _))| MemberInit { name, init });
    let inits = punct(Punct::Colon)
        .ignore_then(list(entry, Punct::LBrace, false))
        .map(|inits| (inits, None));
    let special = read(Expected::Nothing, |next| Some((special_word(next, 0)?, 1)));
    let special = when(
        |next| next.is(0, Punct::Eq) && special_word(next, 1).is_some(),
        punct(Punct::Eq).ignore_then(special.map_with(spanned)),
    );
    let special = special.map(|special| (Vec::new(), special));
    words
        .then(either(at(Punct::Colon), inits, special))
        .map(|(words, (inits, special))| Method {
            is_const: words.contains(&TailWord::Const),
            is_volatile: words.contains(&TailWord::Volatile),
            is_override: words.contains(&TailWord::Override),
            is_final: words.contains(&TailWord::Final),
            inits,
            special,
            ..Method::default()
        })
        .boxed()
}

/// `default`, `delete` or `0` after `=`.
fn special_word(next: Ahead<'_>, n: usize) -> Option<Special> {
    match next.kind(n)? {
        TokenKind::Keyword(Keyword::Default) => Some(Special::Default),
        TokenKind::Keyword(Keyword::Delete) => Some(Special::Delete),
        TokenKind::Int { value: 0, .. } => Some(Special::Pure),
        _ => None,
    }
}

/// The word ahead, if it may follow a function's parameters.
fn tail_word(next: Ahead<'_>) -> Option<TailWord> {
    if next.is_word(0, Keyword::Const) {
        return Some(TailWord::Const);
    }
    if next.is_word(0, Keyword::Volatile) {
        return Some(TailWord::Volatile);
    }
    let words = [
        ("noexcept", TailWord::Other),
        ("override", TailWord::Override),
        ("final", TailWord::Final),
    ];
    let found = words.into_iter().find(|(text, _)| next.is_text(0, text));
    found.map(|(_, word)| word)
}
