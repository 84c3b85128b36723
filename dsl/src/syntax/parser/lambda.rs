//! Lambdas: `[=, &x] __device__ (int i) mutable -> float { … }`.

use chumsky::prelude::*;

use super::{
    decl,
    depth::nested,
    kit::{
        P, Production, State, after, at, at_word, before, brackets, choose, either, expr_node,
        list, name, punct, read, scoped, spanned, when, whole, word,
    },
    lookahead::Ahead,
    stmt, ty,
};
use crate::syntax::{
    ast::{
        Block, Capture, CaptureKind, DeclaratorPart, Expr, ExprKind, Lambda, SpecifierWord, Stmt,
        StmtKind,
    },
    message::parse::Expected,
    token::{Keyword, Punct, TokenKind},
};
use ir::span::Spanned;

/// An entry of the brackets.
#[derive(Clone)]
enum Entry {
    Default(CaptureKind),
    Capture(Capture),
}

/// A lambda, whose `[` is ahead.
pub(super) fn lambda<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    let entries = brackets(list(entry(assign.clone()), Punct::RBracket, false)).boxed();
    let params = decl::parameters(assign.clone(), ty::specifiers());
    let params = when(at(Punct::LParen), params).boxed();
    let result = after(Punct::Arrow, ty::type_name(assign).map(Box::new)).boxed();
    let head = entries
        .then(words())
        .then(params)
        .then(words())
        .then(result)
        .map_with(|head, extra| (head, whole(extra)))
        .boxed();
    head.then_ignore(before(Punct::LBrace, Expected::LambdaBody))
        .then(body())
        .map(
            |((((((entries, before), params), after), result), span), body)| {
                let mut default = None;
                let mut captures = Vec::new();
                for entry in entries {
                    match entry {
                        Entry::Default(kind) => default = Some(kind),
                        Entry::Capture(capture) => captures.push(capture),
                    }
                }
                let words: Vec<Word> = before.into_iter().chain(after).collect();
                ExprKind::Lambda(Box::new(Lambda {
                    default,
                    captures,
                    is_mutable: words.iter().any(|word| matches!(word, Word::Mutable)),
                    words: words.into_iter().filter_map(Word::specifier).collect(),
                    params: match params {
                        Some(DeclaratorPart::Function(params, _)) => params,
                        Some(_) | None => Vec::new(),
                    },
                    result,
                    body,
                    span,
                }))
            },
        )
        .map_with(expr_node)
        .boxed()
}

/// The body of a function inside an expression: its operators are counted separately.
fn body<'t>() -> P<'t, Block> {
    let enter = |state: &mut State<'t>| {
        (
            std::mem::take(&mut state.operators),
            std::mem::take(&mut state.expressions),
            std::mem::take(&mut state.classes),
        )
    };
    let leave = |state: &mut State<'t>, outside| {
        (state.operators, state.expressions, state.classes) = outside;
    };
    scoped(enter, leave, nested(stmt::body())).boxed()
}

/// GNU's `({ …; e; })`, without its parentheses: a block that is called at once, and yields the value of its last statement. It uses the
/// variables around it directly. A `return` in it would return from the function, so it must not contain one.
pub(super) fn statement_expression<'t>() -> impl Production<'t, Expr> {
    body().map_with(|mut body, extra| {
        let span = whole(extra);
        let tokens: SimpleSpan = extra.span();
        if extra.state().has_return(tokens.start..tokens.end) {
            let kind = ExprKind::Unsupported("`return` in `({ … })`");
            return Expr { kind, span };
        }
        if let Some(last) = body.stmts.last_mut() {
            return_value(last);
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
        Expr { kind, span }
    })
}

/// `e;` becomes `return e;`.
fn return_value(stmt: &mut Stmt) {
    if let StmtKind::Expr(value) = &mut stmt.kind {
        let kind = std::mem::replace(&mut value.kind, ExprKind::Error);
        let span = stmt.span;
        stmt.kind = StmtKind::Return(Some(Expr { kind, span }));
    }
}

/// Words around the parameters.
#[derive(Clone)]
enum Word {
    Specifier(Spanned<SpecifierWord>),
    Mutable,
    Noexcept,
}

impl Word {
    fn specifier(self) -> Option<Spanned<SpecifierWord>> {
        match self {
            Word::Specifier(word) => Some(word),
            Word::Mutable | Word::Noexcept => None,
        }
    }
}

fn words<'t>() -> impl Production<'t, Vec<Word>> {
    let specifier = read(Expected::Nothing, |next| {
        Some((lambda_specifier(next.keyword(0)?)?, 1))
    });
    let specifier = specifier.map_with(spanned).map(Word::Specifier);
    let other = read(Expected::Nothing, |next| match next.kind(0)? {
        TokenKind::Ident(word) if **word == *"mutable" => Some((Word::Mutable, 1)),
        TokenKind::Ident(word) if **word == *"noexcept" => Some((Word::Noexcept, 1)),
        _ => None,
    });
    specifier.or(other).repeated().collect()
}

fn lambda_specifier(keyword: Keyword) -> Option<SpecifierWord> {
    Some(match keyword {
        Keyword::Device => SpecifierWord::Device,
        Keyword::Host => SpecifierWord::Host,
        Keyword::Constexpr => SpecifierWord::Constexpr,
        Keyword::Forceinline => SpecifierWord::Forceinline,
        _ => return None,
    })
}

/// `=`, `&`, `&x`, `x`, `x = e`, `this`, `*this`.
fn entry<'t>(assign: P<'t, Expr>) -> P<'t, Entry> {
    let is_alone = |next: Ahead<'_>| matches!(next.punct(1), Some(Punct::Comma | Punct::RBracket));
    let this = word(Keyword::This)
        .map(|()| "this".into())
        .map_with(spanned);
    let init = after(Punct::Eq, assign);
    let capture = move |kind: CaptureKind, of_this: CaptureKind| {
        let this = this.map(move |name| (of_this, name));
        let other = name().map(move |name| (kind, name));
        either(at_word(Keyword::This), this, other)
            .then(init.clone())
            .map(|((kind, name), init)| Entry::Capture(Capture { kind, name, init }))
    };
    use CaptureKind::{Reference, Value};
    choose!(|next| next.punct(0);
        Some(Punct::Eq) if is_alone(next) => copies: punct(Punct::Eq).to(Entry::Default(Value)),
        Some(Punct::Amp) if is_alone(next) => references: punct(Punct::Amp).to(Entry::Default(Reference)),
        Some(Punct::Amp) => reference: punct(Punct::Amp).ignore_then(capture(Reference, Reference)),
        Some(Punct::Star) if next.is_word(1, Keyword::This) => copy: punct(Punct::Star).ignore_then(capture(Value, Value)),
        _ => value: capture(Value, Reference),
    )
    .boxed()
}
