//! What is special about functions: what stands after their parameters, conversions, and their bodies.

use chumsky::prelude::*;

use super::{
    decl,
    kit::{At, P, ahead, fail, list, name, production, since, skip, take, take_word},
    lookahead::{Ahead, qualified, special_name, template_arguments},
    recover::Failure,
    stmt, ty,
};
use crate::{
    span::{Span, Spanned},
    syntax::{
        ast::{
            Block, Declarator, DeclaratorPart, Expr, Function, MemberInit, Method, MethodKind,
            Name, Special, Specifiers, TypeName, TypeSpecifier,
        },
        message::parse::{Expected, SyntaxError},
        token::{Keyword, Punct},
    },
};

/// The productions of a function's parts.
#[derive(Clone)]
pub(super) struct Functions<'t> {
    tail: P<'t, Method>,
    result: P<'t, TypeName>,
    conversion: P<'t, TypeName>,
    body: P<'t, Block>,
}

impl<'t> Functions<'t> {
    pub(super) fn new(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> Functions<'t> {
        Functions {
            tail: tail(element.clone()),
            result: ty::type_name(element),
            conversion: ty::conversion_type(specifiers),
            body: stmt::body(),
        }
    }

    /// What stands between the parameters and the body.
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

    /// `-> T` after parameters. It replaces the `auto` among the specifiers; its pointers go after the part of `parts` that is
    /// the parameters.
    pub(super) fn trailing_result(
        &self,
        inp: &mut At<'t, '_>,
        specifiers: &mut Specifiers,
        parts: &mut Vec<DeclaratorPart>,
    ) -> Result<(), Failure> {
        if !matches!(specifiers.ty.node, TypeSpecifier::Auto) || !take(inp, Punct::Arrow) {
            return Ok(());
        }
        let ty = inp.parse(&self.result)?;
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
        let look = ahead(inp);
        let mut n = 0;
        let mut text = String::new();
        while !look.is_word(n, Keyword::Operator) {
            text.push_str(look.name(n).map_or("::", |name| name));
            n += 1;
        }
        skip(inp, n + 1);
        let ty = inp.parse(&self.conversion)?;
        let span = since(inp, look.at);
        text.push_str("operator conversion");
        if !(ahead(inp).is(0, Punct::LParen) && ahead(inp).is(1, Punct::RParen)) {
            return fail(inp, Expected::EmptyParentheses);
        }
        skip(inp, 2);
        take_type(&mut specifiers, ty.specifiers);
        Ok(Function {
            specifiers,
            declarator: ty.declarator,
            name: Spanned::new(text.into(), span),
            params: Vec::new(),
            variadic: false,
            body: None,
            method: Method {
                kind: MethodKind::Conversion,
                ..inp.parse(&self.tail)?
            },
            span,
        })
    }

    /// `{ … }`, if it is there. The names of the classes around it are not special in it.
    pub(super) fn body(&self, inp: &mut At<'t, '_>) -> Result<Option<Block>, Failure> {
        if !ahead(inp).is(0, Punct::LBrace) {
            return Ok(None);
        }
        let outside = std::mem::take(&mut inp.state().classes);
        let body = inp.parse(&self.body);
        inp.state().classes = outside;
        body.map(Some)
    }
}

fn take_type(specifiers: &mut Specifiers, of: Specifiers) {
    specifiers.ty = of.ty;
    specifiers.is_const |= of.is_const;
    specifiers.is_volatile |= of.is_volatile;
}

/// The kind of the function whose name is ahead, if it has no result type.
pub(super) fn special(inp: &mut At<'_, '_>, specifiers: &Specifiers) -> Option<MethodKind> {
    let look = ahead(inp);
    let is_void = matches!(specifiers.ty.node, TypeSpecifier::Void);
    special_name(look, &inp.state().classes).filter(|_| is_void)
}

/// A function of its parts, without a body.
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

/// The member or base class that a constructor's entry begins: `x`, `a::Base`, `Base<T>`, whose arguments say nothing more.
fn initialised<'t>() -> P<'t, Name> {
    production(|inp| {
        let look = ahead(inp);
        if let Some((text, n)) = qualified(look) {
            skip(inp, n);
            return Ok(Spanned::new(text.as_ref().into(), since(inp, look.at)));
        }
        let name = inp.parse(name())?;
        let n = template_arguments(ahead(inp), 0).unwrap_or(0);
        skip(inp, n);
        Ok(name)
    })
}

/// What stands between the parameters of a function and its body: `const`, words without meaning here, `: x(1)`, `= default`.
fn tail<'t>(element: P<'t, Expr>) -> P<'t, Method> {
    let entry = initialised()
        .then(decl::init(element))
        .map(|(name, init)| MemberInit { name, init });
    let inits = list(entry, Punct::LBrace, false).boxed();
    production(move |inp| {
        let mut method = Method::default();
        loop {
            let look = ahead(inp);
            if take_word(inp, Keyword::Const) {
                method.is_const = true;
            } else if is_ignored(look) {
                let arguments = look.is(1, Punct::LParen).then(|| look.after_brackets(1));
                skip(inp, arguments.unwrap_or(1));
            } else {
                break;
            }
        }
        let look = ahead(inp);
        if take(inp, Punct::Colon) {
            method.inits = inp.parse(&inits)?;
        } else if look.is(0, Punct::Eq) {
            let special = match look.keyword(1) {
                Some(Keyword::Default) => Special::Default,
                Some(Keyword::Delete) => Special::Delete,
                _ => return Ok(method),
            };
            let span = inp.state().place(look.at + 1);
            method.special = Some(Spanned::new(special, span));
            skip(inp, 2);
        }
        Ok(method)
    })
}

/// Words after the parameters that change nothing here.
fn is_ignored(look: Ahead<'_>) -> bool {
    ["noexcept", "override", "final"]
        .iter()
        .any(|word| look.is_text(0, word))
}
