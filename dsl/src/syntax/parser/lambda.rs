//! Lambdas: `[=, &x] __device__ (int i) mutable -> float { … }`.

use chumsky::prelude::*;

use super::{
    decl,
    kit::{
        At, P, after, ahead, brackets, fail, here, list, name, production, since, spanned, word,
    },
    recover::Failure,
    ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{
            Capture, CaptureKind, DeclaratorPart, Expr, ExprKind, Lambda, Param, SpecifierWord,
            StmtKind, TypeName,
        },
        message::parse::Expected,
        token::{Keyword, Punct, TokenKind},
    },
};

/// An entry of the brackets.
#[derive(Clone)]
enum Entry {
    Default(CaptureKind),
    Capture(Capture),
}

/// A lambda, whose `[` is ahead.
pub(super) fn lambda<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let entries = brackets(list(entry(assign.clone()), Punct::RBracket, false));
    let params = decl::parameters(assign.clone(), ty::specifiers());
    let result = after(Punct::Arrow, ty::type_name(assign).map(Box::new)).boxed();
    let body = super::depth::nested(super::stmt::body()).boxed();
    production(move |inp| {
        let start = here(inp);
        let entries = inp.parse(&entries)?;
        let mut lambda = Parts::default();
        lambda.words(inp);
        if ahead(inp).is(0, Punct::LParen) {
            let part = inp.parse(&params)?;
            if let DeclaratorPart::Function(params, _) = part {
                lambda.params = params;
            }
        }
        lambda.words(inp);
        lambda.result = inp.parse(&result)?;
        let span = since(inp, start);
        if !ahead(inp).is(0, Punct::LBrace) {
            return fail(inp, Expected::LambdaBody);
        }
        let body = apart(inp, |inp| inp.parse(&body))?;
        let mut default = None;
        let mut captures = Vec::new();
        for entry in entries {
            match entry {
                Entry::Default(kind) => default = Some(kind),
                Entry::Capture(capture) => captures.push(capture),
            }
        }
        Ok(Expr {
            kind: ExprKind::Lambda(Box::new(Lambda {
                default,
                captures,
                words: lambda.words,
                params: lambda.params,
                is_mutable: lambda.is_mutable,
                result: lambda.result,
                body,
                span,
            })),
            span: since(inp, start),
        })
    })
    .boxed()
}

/// GNU's `({ …; e; })`, between its parentheses: a block that is called at once, and gives what its last statement gives. It names the
/// variables around it themselves. A `return` in it would be the function's, so there may be none.
pub(super) fn statement_expression<'t>() -> P<'t, Expr> {
    let body = super::depth::nested(super::stmt::body()).boxed();
    production(move |inp| {
        let start = here(inp);
        let (body, leaves) = apart(inp, |inp| {
            let from = here(inp);
            let body = inp.parse(&body)?;
            let tokens = from..here(inp);
            Ok((body, inp.state().has_return(tokens)))
        })?;
        let span = since(inp, start);
        if leaves {
            let kind = ExprKind::Unsupported("`return` in `({ … })`");
            return Ok(Expr { kind, span });
        }
        let mut body = body;
        if let Some(last) = body.stmts.last_mut()
            && let StmtKind::Expr(value) = &mut last.kind
        {
            let value = std::mem::replace(&mut value.kind, ExprKind::Error);
            last.kind = StmtKind::Return(Some(Expr {
                kind: value,
                span: last.span,
            }));
        }
        let lambda = Lambda {
            default: Some(CaptureKind::Reference),
            captures: Vec::new(),
            words: Vec::new(),
            params: Vec::new(),
            is_mutable: false,
            result: None,
            body,
            span,
        };
        let callee = Expr {
            kind: ExprKind::Lambda(Box::new(lambda)),
            span,
        };
        let kind = ExprKind::Call(Box::new(callee), Vec::new());
        Ok(Expr { kind, span })
    })
    .boxed()
}

/// Parses statements inside of an expression: its operators are counted by themselves.
fn apart<'t, T>(
    inp: &mut At<'t, '_>,
    parse: impl FnOnce(&mut At<'t, '_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let operators = std::mem::take(&mut inp.state().operators);
    let expressions = std::mem::take(&mut inp.state().expressions);
    let classes = std::mem::take(&mut inp.state().classes);
    let parsed = parse(inp);
    inp.state().operators = operators;
    inp.state().expressions = expressions;
    inp.state().classes = classes;
    parsed
}

#[derive(Default)]
struct Parts {
    words: Vec<Spanned<SpecifierWord>>,
    params: Vec<Param>,
    is_mutable: bool,
    result: Option<Box<TypeName>>,
}

impl Parts {
    /// What may stand around the parameters.
    fn words(&mut self, inp: &mut At<'_, '_>) {
        loop {
            let look = ahead(inp);
            match look.kind(0) {
                Some(TokenKind::Keyword(keyword)) => {
                    let word = match keyword {
                        Keyword::Device => SpecifierWord::Device,
                        Keyword::Host => SpecifierWord::Host,
                        Keyword::Constexpr => SpecifierWord::Constexpr,
                        Keyword::Forceinline => SpecifierWord::Forceinline,
                        _ => return,
                    };
                    let span = inp.state().place(look.at);
                    self.words.push(Spanned::new(word, span));
                }
                Some(TokenKind::Ident(word)) if &**word == "mutable" => self.is_mutable = true,
                Some(TokenKind::Ident(word)) if &**word == "noexcept" => {}
                _ => return,
            }
            inp.skip();
        }
    }
}

/// `=`, `&`, `&x`, `x`, `x = e`, `this`.
fn entry<'t>(assign: P<'t, Expr>) -> P<'t, Entry> {
    let init = after(Punct::Eq, assign);
    let this = word(Keyword::This)
        .map(|()| "this".into())
        .map_with(spanned);
    production(move |inp| {
        let look = ahead(inp);
        let is_end = |n| matches!(look.punct(n), Some(Punct::Comma | Punct::RBracket));
        let mut kind = CaptureKind::Value;
        match look.punct(0) {
            Some(Punct::Eq) if is_end(1) => {
                inp.skip();
                return Ok(Entry::Default(CaptureKind::Value));
            }
            Some(Punct::Amp) => {
                inp.skip();
                if is_end(1) {
                    return Ok(Entry::Default(CaptureKind::Reference));
                }
                kind = CaptureKind::Reference;
            }
            Some(Punct::Star) if look.is_word(1, Keyword::This) => inp.skip(),
            _ => {}
        }
        let name = if ahead(inp).is_word(0, Keyword::This) {
            kind = if look.is(0, Punct::Star) {
                CaptureKind::Value
            } else {
                CaptureKind::Reference
            };
            inp.parse(this)?
        } else {
            inp.parse(name())?
        };
        let init = inp.parse(&init)?;
        Ok(Entry::Capture(Capture { kind, name, init }))
    })
}
