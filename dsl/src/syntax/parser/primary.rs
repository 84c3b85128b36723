//! Primary expressions and their suffixes: names, literals, parentheses, `T(x)`, `sizeof(T)`; calls, launches,
//! subscripts, members. What C++ adds here is read as one node that says what it is, for later stages to reject.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    allocate,
    depth::count_operator,
    expr::{Piece, comma, fold_operator, init_items},
    kit::{
        Ahead, At, Ex, In, P, ahead, at, at_word, before, closing, custom_clone, expr_node, fail,
        list, name, path, punct, qualified, repeat_while, rule, skip, spanned, template_arguments,
        when, whole, word,
    },
    path,
    recover::What,
    ty,
};
use crate::{
    span::{Span, Spanned},
    syntax::{
        ast::{CastWord, Expr, ExprKind, Fold, Name, Path, PostfixOp, TemplateArg, TypeName},
        token::{Keyword, Punct, TokenKind},
    },
};

/// A primary expression and what follows it: `f(x)[i].y++`.
pub(super) fn suffixed<'t>(assign: P<'t, Expr>) -> P<'t, Piece> {
    primary(assign.clone())
        .then(repeat_while(begins_suffix, suffix(assign)))
        .map(|(first, suffixes)| suffixes.into_iter().fold(first, apply))
        .boxed()
}

/// What follows a primary expression.
#[derive(Clone)]
enum Suffix {
    Call(Vec<Expr>),
    Launch(Spanned<Vec<Expr>>, Vec<Expr>),
    Index(Expr),
    Member(Name, Option<Vec<TemplateArg>>),
    Arrow(Name, Option<Vec<TemplateArg>>),
    Postfix(PostfixOp),
}

fn begins_suffix(look: Ahead<'_>) -> bool {
    use Punct::*;
    matches!(
        look.punct(0),
        Some(LParen | LBracket | Dot | Arrow | PlusPlus | MinusMinus | LaunchOpen)
    )
}

fn suffix<'t>(assign: P<'t, Expr>) -> P<'t, (Suffix, Span)> {
    let call = arguments(assign.clone()).map(Suffix::Call).boxed();
    let launch = launch(assign.clone()).boxed();
    let index = comma(assign.clone())
        .delimited_by(punct(Punct::LBracket), punct(Punct::RBracket))
        .map(Suffix::Index)
        .boxed();
    let argument = path::argument(assign.clone(), ty::type_name(assign.clone()));
    let template_args = path::arguments(argument);
    // `s.template f<T>()`.
    let named = when(at_word(Keyword::Template), word(Keyword::Template))
        .ignore_then(allocate::member_name())
        .then(when(at(Punct::AngleOpen), template_args));
    let member = punct(Punct::Dot)
        .ignore_then(named.clone())
        .map(|(name, args)| Suffix::Member(name, args))
        .boxed();
    let arrow = punct(Punct::Arrow)
        .ignore_then(named)
        .map(|(name, args)| Suffix::Arrow(name, args))
        .boxed();
    let increment = punct(Punct::PlusPlus).to(Suffix::Postfix(PostfixOp::Inc));
    let decrement = punct(Punct::MinusMinus).to(Suffix::Postfix(PostfixOp::Dec));
    custom_clone(move |inp: &mut At<'t, '_>| {
        count_operator(inp)?;
        match ahead(inp).punct(0) {
            Some(Punct::LParen) => inp.parse(&call),
            Some(Punct::LaunchOpen) => inp.parse(&launch),
            Some(Punct::LBracket) => inp.parse(&index),
            Some(Punct::Dot) => inp.parse(&member),
            Some(Punct::Arrow) => inp.parse(&arrow),
            Some(Punct::PlusPlus) => inp.parse(&increment),
            _ => inp.parse(&decrement),
        }
    })
    .map_with(|suffix, extra| (suffix, whole(extra)))
    .boxed()
}

fn apply((base, base_whole): Piece, (suffix, at): (Suffix, Span)) -> Piece {
    let span = base_whole.to(at);
    let base = Box::new(base);
    let kind = match suffix {
        Suffix::Call(args) => ExprKind::Call(base, args),
        Suffix::Launch(config, args) => ExprKind::Launch {
            callee: base,
            config,
            args,
        },
        Suffix::Index(index) => ExprKind::Index(base, Box::new(index)),
        Suffix::Member(name, args) => with_args(ExprKind::Member(base, name), args, span),
        Suffix::Arrow(name, args) => with_args(ExprKind::Arrow(base, name), args, span),
        Suffix::Postfix(operator) => ExprKind::Postfix(operator, base),
    };
    (Expr { kind, span }, span)
}

/// An expression, with `...` after it if it is one for each element of a pack.
pub(super) fn expanded<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    custom_clone(move |inp: &mut At<'t, '_>| {
        let expr = inp.parse(&assign)?;
        if !ahead(inp).is(0, Punct::Ellipsis) {
            return Ok(expr);
        }
        inp.skip();
        Ok(Expr {
            span: expr.span,
            kind: ExprKind::Expansion(Arc::new(expr)),
        })
    })
    .boxed()
}

fn with_args(kind: ExprKind, args: Option<Vec<TemplateArg>>, span: Span) -> ExprKind {
    match args {
        Some(args) => ExprKind::Instance(Box::new(Expr { kind, span }), args),
        None => kind,
    }
}

/// `(a, b)`.
pub(super) fn arguments<'t>(assign: P<'t, Expr>) -> P<'t, Vec<Expr>> {
    list(expanded(assign), Punct::RParen, false)
        .delimited_by(punct(Punct::LParen), closing(Punct::RParen, "`,` or `)`"))
        .boxed()
}

/// `<<<grid, block, shared, stream>>>(a, b)`.
fn launch<'t>(assign: P<'t, Expr>) -> P<'t, Suffix> {
    let config = list(assign.clone(), Punct::LaunchClose, false)
        .delimited_by(
            punct(Punct::LaunchOpen),
            closing(Punct::LaunchClose, "`,` or `>>>`"),
        )
        .map_with(spanned);
    config
        .then_ignore(before(Punct::LParen, "the kernel's arguments in `( )`"))
        .then(arguments(assign))
        .map(|(config, args)| Suffix::Launch(config, args))
        .boxed()
}

fn primary<'t>(assign: P<'t, Expr>) -> P<'t, Piece> {
    let parentheses = comma(assign.clone())
        .delimited_by(punct(Punct::LParen), closing(Punct::RParen, "`)`"))
        .boxed();
    let type_name = ty::type_name(assign.clone());
    let templated = path::path(path::argument(assign.clone(), type_name.clone()));
    let construct = construct(assign.clone(), templated.clone());
    let templated = node(templated.map(|path| ExprKind::Path(Box::new(path)))).boxed();
    let pathed = node(qualified_name()).boxed();
    let this = node(word(Keyword::This).to(ExprKind::This)).boxed();
    let named_cast = node(named_cast(assign.clone(), type_name.clone())).boxed();
    let new = allocate::new(assign.clone());
    let delete = allocate::delete(assign.clone());
    let throw = allocate::throw(assign.clone());
    let is_trivial = allocate::is_trivial(assign.clone());
    let lambda = super::lambda::lambda(assign);
    let alignof = type_name
        .clone()
        .delimited_by(punct(Punct::LParen), punct(Punct::RParen))
        .map(|ty| ExprKind::Alignof(Box::new(ty)));
    let alignof = node(word(Keyword::Alignof).ignore_then(alignof)).boxed();
    let sizeof_type = type_name
        .delimited_by(punct(Punct::LParen), punct(Punct::RParen))
        .map(|ty| ExprKind::SizeofType(Box::new(ty)));
    let sizeof_type = node(word(Keyword::Sizeof).ignore_then(sizeof_type)).boxed();
    let literal = node(literal()).boxed();
    let named = node(name().map(|name| ExprKind::Name(name.node))).boxed();
    let fold = node(fold()).boxed();
    let sizeof_pack = node(sizeof_pack()).boxed();
    let foreign = foreign();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        match look.kind(0) {
            Some(
                TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
            ) if path::path_ahead(look).is_some() => {
                let (n, is_type) = path::extent(look);
                if is_type && matches!(look.punct(n), Some(Punct::LParen | Punct::LBrace)) {
                    return inp.parse(&construct);
                }
                inp.parse(&templated)
            }
            Some(TokenKind::Keyword(Keyword::Typename)) => inp.parse(&construct),
            Some(
                TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
            ) if is_plain_path(look).is_some() => {
                let (_, n, is_type) = is_plain_path(look).unwrap_or_default();
                if is_type && matches!(look.punct(n), Some(Punct::LParen | Punct::LBrace)) {
                    return inp.parse(&construct);
                }
                inp.parse(&pathed)
            }
            Some(TokenKind::Ident(_)) if is_foreign_name(look) => inp.parse(&foreign),
            Some(TokenKind::TypeName(_))
                if !is_foreign_name(look)
                    && matches!(look.punct(1), Some(Punct::LParen | Punct::LBrace)) =>
            {
                inp.parse(&construct)
            }
            Some(TokenKind::TypeName(_)) if is_foreign_name(look) => inp.parse(&foreign),
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => inp.parse(&named),
            Some(TokenKind::Keyword(Keyword::This)) => inp.parse(&this),
            Some(TokenKind::Keyword(Keyword::New)) => inp.parse(&new),
            Some(TokenKind::Keyword(Keyword::Delete)) => inp.parse(&delete),
            Some(TokenKind::Keyword(Keyword::Throw)) if !look.is(1, Punct::Semi) => {
                inp.parse(&throw)
            }
            Some(TokenKind::Keyword(Keyword::IsTrivial)) => inp.parse(&is_trivial),
            Some(TokenKind::Keyword(Keyword::Alignof)) if is_type_in_parentheses(look, 1) => {
                inp.parse(&alignof)
            }
            Some(TokenKind::Keyword(keyword)) if cast_word(*keyword).is_some() => {
                inp.parse(&named_cast)
            }
            Some(TokenKind::Punct(Punct::LBracket)) if is_lambda(look) => inp.parse(&lambda),
            Some(TokenKind::Punct(Punct::LParen)) if is_type_in_parentheses(look, 0) => {
                inp.parse(&foreign)
            }
            Some(TokenKind::Punct(Punct::LParen)) if is_fold(look) => inp.parse(&fold),
            Some(TokenKind::Punct(Punct::LParen)) => inp.parse(&parentheses),
            Some(TokenKind::Punct(Punct::LBracket | Punct::ColonColon)) => inp.parse(&foreign),
            Some(TokenKind::Keyword(Keyword::Sizeof)) if look.is(1, Punct::Ellipsis) => {
                inp.parse(&sizeof_pack)
            }
            Some(TokenKind::Keyword(Keyword::Sizeof)) => inp.parse(&sizeof_type),
            Some(TokenKind::Keyword(Keyword::True | Keyword::False | Keyword::Nullptr)) => {
                inp.parse(&literal)
            }
            Some(TokenKind::Keyword(keyword)) if ty::is_base(*keyword) => inp.parse(&construct),
            Some(TokenKind::Keyword(keyword)) if foreign_word(*keyword).is_some() => {
                inp.parse(&foreign)
            }
            Some(
                TokenKind::Int { .. }
                | TokenKind::Float { .. }
                | TokenKind::Char(_)
                | TokenKind::Str(_),
            ) => inp.parse(&literal),
            _ => fail(inp, What::Phrase("an expression")),
        }
    })
    .map_with(|expr, extra| (expr, whole(extra)))
    .boxed()
}

/// Whether the parentheses ahead have `...` among their operators: `(args + ...)`.
fn is_fold(look: Ahead<'_>) -> bool {
    let end = look.after_brackets(0);
    let mut n = 1;
    while n + 1 < end {
        match look.punct(n) {
            Some(Punct::Ellipsis) => return true,
            Some(punct) if super::kit::opens(punct) => n = look.after_brackets(n),
            _ => n += 1,
        }
    }
    false
}

/// `(pattern op ...)`, `(... op pattern)`, `(pattern op ... op init)`, `(init op ... op pattern)`.
fn fold<'t>() -> P<'t, ExprKind> {
    let operand = rule(|rules| &rules.operand);
    custom_clone(move |inp: &mut At<'t, '_>| {
        inp.skip();
        let operator = |inp: &mut At<'t, '_>| {
            let look = ahead(inp);
            let Some(operator) = fold_operator(look, 0) else {
                return fail(inp, What::Phrase("an operator"));
            };
            inp.skip();
            Ok(Spanned::new(operator, inp.state().place(look.at)))
        };
        let dots = |inp: &mut At<'t, '_>| {
            if !ahead(inp).is(0, Punct::Ellipsis) {
                return fail(inp, What::Phrase("`...`"));
            }
            inp.skip();
            Ok(())
        };
        let fold = if ahead(inp).is(0, Punct::Ellipsis) {
            inp.skip();
            let operator = operator(inp)?;
            let (pattern, _) = inp.parse(&operand)?;
            Fold {
                operator,
                pattern: Arc::new(pattern),
                init: None,
                is_left: true,
            }
        } else {
            let (first, _) = inp.parse(&operand)?;
            let operation = operator(inp)?;
            dots(inp)?;
            if ahead(inp).is(0, Punct::RParen) {
                Fold {
                    operator: operation,
                    pattern: Arc::new(first),
                    init: None,
                    is_left: false,
                }
            } else {
                operator(inp)?;
                let (second, _) = inp.parse(&operand)?;
                Fold {
                    operator: operation,
                    pattern: Arc::new(first),
                    init: Some(Arc::new(second)),
                    is_left: false,
                }
            }
        };
        inp.parse(closing(Punct::RParen, "`)`"))?;
        Ok(ExprKind::Fold(Box::new(fold)))
    })
    .boxed()
}

/// `sizeof...(pack)`.
fn sizeof_pack<'t>() -> P<'t, ExprKind> {
    let pack = name().delimited_by(closing(Punct::LParen, "`(`"), closing(Punct::RParen, "`)`"));
    word(Keyword::Sizeof)
        .ignore_then(punct(Punct::Ellipsis))
        .ignore_then(pack)
        .map(ExprKind::SizeofPack)
        .boxed()
}

fn node<'t>(
    kind: impl Parser<'t, In<'t>, ExprKind, Ex<'t>> + Clone + 't,
) -> impl Parser<'t, In<'t>, Expr, Ex<'t>> + Clone + 't {
    kind.map_with(expr_node)
}

/// `42`, `1.5f`, `'a'`, `"text"`, `true`.
fn literal<'t>() -> impl Parser<'t, In<'t>, ExprKind, Ex<'t>> + Clone + 't {
    custom_clone(|inp: &mut At<'t, '_>| {
        let kind = match ahead(inp).kind(0) {
            Some(&TokenKind::Int {
                value,
                unsigned,
                suffix,
                decimal,
            }) => ExprKind::Int {
                value,
                unsigned,
                suffix,
                decimal,
            },
            Some(&TokenKind::Float { value, single }) => ExprKind::Float { value, single },
            Some(&TokenKind::Char(value)) => ExprKind::Char(value),
            Some(TokenKind::Str(bytes)) => ExprKind::Str(bytes.clone()),
            Some(TokenKind::Keyword(Keyword::True)) => ExprKind::Bool(true),
            Some(TokenKind::Keyword(Keyword::False)) => ExprKind::Bool(false),
            Some(TokenKind::Keyword(Keyword::Nullptr)) => ExprKind::Nullptr,
            _ => return fail(inp, What::Phrase("an expression")),
        };
        inp.skip();
        Ok(kind)
    })
}

/// A qualified name without template arguments.
fn is_plain_path<'t>(look: Ahead<'t>) -> Option<(Arc<str>, usize, bool)> {
    path(look).filter(|(_, n, _)| {
        *n > 1 && !look.is(*n, Punct::ColonColon) && template_arguments(look, *n).is_none()
    })
}

/// `a::b`.
fn qualified_name<'t>() -> impl Parser<'t, In<'t>, ExprKind, Ex<'t>> + Clone + 't {
    custom_clone(|inp: &mut At<'t, '_>| {
        let Some((text, n, _)) = path(ahead(inp)) else {
            return fail(inp, What::Name);
        };
        skip(inp, n);
        Ok(ExprKind::Name(text))
    })
}

/// `static_cast<T>(e)`.
fn named_cast<'t>(assign: P<'t, Expr>, type_name: P<'t, TypeName>) -> P<'t, ExprKind> {
    let ty = type_name.delimited_by(punct(Punct::Lt), closing(Punct::Gt, "the `>` of the cast"));
    let operand = comma(assign).delimited_by(
        closing(Punct::LParen, "the operand in `( )`"),
        closing(Punct::RParen, "`)`"),
    );
    let rest = ty.then(operand).boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let word = ahead(inp).keyword(0).and_then(cast_word);
        inp.skip();
        let (ty, operand) = inp.parse(&rest)?;
        let word = word.unwrap_or(CastWord::Static);
        Ok(ExprKind::NamedCast(word, Box::new(ty), Box::new(operand)))
    })
    .boxed()
}

fn cast_word(keyword: Keyword) -> Option<CastWord> {
    Some(match keyword {
        Keyword::StaticCast => CastWord::Static,
        Keyword::ReinterpretCast => CastWord::Reinterpret,
        Keyword::ConstCast => CastWord::Const,
        Keyword::DynamicCast => CastWord::Dynamic,
        _ => return None,
    })
}

/// Whether the `[` ahead begins a lambda; it cannot begin anything else that is an operand.
fn is_lambda(look: Ahead<'_>) -> bool {
    let n = look.after_brackets(0);
    matches!(look.punct(n), Some(Punct::LParen | Punct::LBrace))
        || look.keyword(n).is_some_and(ty::is_specifier)
        || look.is_ident(n)
}

/// `dim3(32, 8)`, `float(x)`, `float2{1, 2}`.
fn construct<'t>(assign: P<'t, Expr>, templated: P<'t, Path>) -> P<'t, Expr> {
    let args = arguments(assign.clone());
    let items = init_items(assign);
    let ty = ty::simple_type(templated);
    node(custom_clone(move |inp: &mut At<'t, '_>| {
        let ty = Box::new(inp.parse(&ty)?);
        if ahead(inp).is(0, Punct::LBrace) {
            return Ok(ExprKind::Braced(ty, inp.parse(&items)?));
        }
        if !ahead(inp).is(0, Punct::LParen) {
            return fail(inp, What::Phrase("an expression"));
        }
        Ok(ExprKind::Construct(ty, inp.parse(&args)?))
    }))
    .boxed()
}

/// Whether a type stands in the parentheses at offset `n`. `(float(x))` and `(dim3(1, 2))` are expressions.
pub(super) fn is_type_in_parentheses(look: Ahead<'_>, n: usize) -> bool {
    if !look.is(n, Punct::LParen) {
        return false;
    }
    match look.kind(n + 1) {
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if path::extent(look.past(n + 1)).0 > 1 => {
            let (m, is_type) = path::extent(look.past(n + 1));
            is_type
                && matches!(
                    look.punct(n + 1 + m),
                    Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket)
                )
        }
        Some(TokenKind::TypeName(_)) => match look.punct(n + 2) {
            Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket) => true,
            Some(Punct::LParen) => look.is(n + 3, Punct::Star),
            Some(_) => false,
            None => look.keyword(n + 2).is_some_and(ty::is_specifier),
        },
        Some(TokenKind::Keyword(keyword)) if ty::is_specifier(*keyword) => {
            !look.is(n + 2, Punct::LParen) || look.is(n + 3, Punct::Star)
        }
        _ => false,
    }
}

/// `sizeof(T)` and not `sizeof x`.
pub(super) fn is_sizeof_type(look: Ahead<'_>) -> bool {
    is_type_in_parentheses(look, 1) && !look.is(look.after_brackets(1), Punct::LBrace)
}

/// `a::b` and `f<int>`.
fn is_foreign_name(look: Ahead<'_>) -> bool {
    look.is(1, Punct::ColonColon) || template_arguments(look, 1).is_some()
}

/// The C++ words that begin an expression.
pub(super) fn foreign_word(keyword: Keyword) -> Option<&'static str> {
    Some(match keyword {
        Keyword::Throw => "`throw`",
        Keyword::Operator => "an operator function",
        Keyword::Alignof => "`alignof`",
        Keyword::Decltype => "`decltype`",
        _ => return None,
    })
}

/// An expression of C++ that is read far enough to be named.
fn foreign<'t>() -> P<'t, Expr> {
    custom_clone(|inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        let (construct, n) = foreign_extent(look);
        skip(inp, n.max(1));
        Ok(Expr {
            kind: ExprKind::Unsupported(construct),
            span: inp.state().span(look.at, look.at + n.max(1)),
        })
    })
    .boxed()
}

/// What it is and how many tokens it takes.
fn foreign_extent(look: Ahead<'_>) -> (&'static str, usize) {
    match look.kind(0) {
        Some(TokenKind::Punct(Punct::LBracket)) => ("an attribute", look.after_brackets(0)),
        Some(TokenKind::Punct(Punct::LParen)) => (
            "a compound literal `(T){ … }`",
            look.after_brackets(look.after_brackets(0)),
        ),
        Some(TokenKind::Keyword(keyword)) => (
            foreign_word(*keyword).unwrap_or("this"),
            word_extent(look, *keyword),
        ),
        _ => match qualified(look) {
            Some((_, n)) => ("a qualified name `A::b`", n),
            None => (
                "a template's arguments `<…>`",
                template_arguments(look, 1).unwrap_or(1),
            ),
        },
    }
}

fn word_extent(look: Ahead<'_>, keyword: Keyword) -> usize {
    match keyword {
        Keyword::Alignof | Keyword::Decltype if look.is(1, Punct::LParen) => look.after_brackets(1),
        _ => operand_extent(look, 1),
    }
}

/// From offset `n` to the `;`, `,` or closing bracket that ends the operand.
fn operand_extent(look: Ahead<'_>, mut n: usize) -> usize {
    loop {
        match look.punct(n) {
            Some(Punct::Semi | Punct::Comma) => return n,
            Some(punct) if super::kit::closes(punct) => return n,
            Some(punct) if super::kit::opens(punct) => n = look.after_brackets(n),
            _ if look.kind(n).is_none() => return n,
            _ => n += 1,
        }
    }
}

/// The next `n` tokens, which together are something unsupported.
pub(super) fn skipped<'t>(
    construct: &'static str,
    n: usize,
) -> impl Parser<'t, In<'t>, Expr, Ex<'t>> + Clone + 't {
    custom_clone(move |inp: &mut At<'t, '_>| {
        let at = ahead(inp).at;
        skip(inp, n);
        let span = inp.state().span(at, at + n);
        Ok(Expr {
            kind: ExprKind::Unsupported(construct),
            span,
        })
    })
}
