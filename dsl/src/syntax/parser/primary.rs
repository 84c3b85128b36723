//! Primary expressions and their suffixes: names, literals, parentheses, `T(x)`, `sizeof(T)`; calls, launches, subscripts, members.
//! Unsupported C++ is read as one node that names it, for later stages to reject.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    allocate,
    depth::operator,
    expr::{Piece, comma, fold_operator, init_items},
    kit::{
        P, Production, angles, at, before, brackets, choose, closing, either, expr_node, flag,
        flag_word, list, name, parens, path_name, punct, read, repeat_while, rule, spanned,
        unexpected, when, whole, word,
    },
    lookahead::{
        Ahead, closes, is_fold, is_lambda, is_type_in_parentheses, opens, path_ahead, qualified,
        scoped_name, template_arguments,
    },
    path, ty,
};
use crate::syntax::{
    ast::{CastWord, Expr, ExprKind, Fold, InitItem, Name, Path, PostfixOp, TemplateArg, TypeName},
    message::parse::Expected,
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// A primary expression and its suffixes: `f(x)[i].y++`.
pub(super) fn suffixed<'t>(assign: P<'t, Expr>) -> impl Production<'t, Piece> {
    primary(assign.clone())
        .then(repeat_while(begins_suffix, suffix(assign)))
        .map(|(first, suffixes)| suffixes.into_iter().fold(first, apply))
}

/// A suffix of a primary expression.
#[derive(Clone)]
enum Suffix {
    Call(Vec<Expr>),
    Launch(Spanned<Vec<Expr>>, Vec<Expr>),
    Index(Expr),
    Member(Name, Option<Vec<TemplateArg>>),
    Arrow(Name, Option<Vec<TemplateArg>>),
    Postfix(PostfixOp),
}

fn begins_suffix(next: Ahead<'_>) -> bool {
    use Punct::*;
    matches!(
        next.punct(0),
        Some(LParen | LBracket | Dot | Arrow | PlusPlus | MinusMinus | LaunchOpen)
    )
}

fn suffix<'t>(assign: P<'t, Expr>) -> P<'t, (Suffix, Span)> {
    let argument = path::argument(assign.clone(), ty::type_name(assign.clone()));
    // `s.template f<T>()`.
    let named = flag_word(Keyword::Template)
        .ignore_then(allocate::member_name())
        .then(when(at(Punct::AngleOpen), angles(argument)))
        .boxed();
    let arrow = punct(Punct::Arrow).ignore_then(named.clone());
    let member = punct(Punct::Dot).ignore_then(named);
    let suffix = choose!(|next| next.punct(0);
        Some(Punct::LParen) => call: arguments(assign.clone()).map(Suffix::Call),
        Some(Punct::LaunchOpen) => launch: launch(assign.clone()),
        Some(Punct::LBracket) => index: brackets(comma(assign)).map(Suffix::Index),
        Some(Punct::Dot) => member: member.map(|(name, args)| Suffix::Member(name, args)),
        Some(Punct::Arrow) => arrow: arrow.map(|(name, args)| Suffix::Arrow(name, args)),
        Some(Punct::PlusPlus) => increment:
            punct(Punct::PlusPlus).to(Suffix::Postfix(PostfixOp::Inc)),
        _ => decrement: punct(Punct::MinusMinus).to(Suffix::Postfix(PostfixOp::Dec)),
    );
    operator()
        .ignore_then(suffix)
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

/// An expression, possibly with `...` after it, which expands a pack.
pub(super) fn expanded<'t>(assign: P<'t, Expr>) -> impl Production<'t, Expr> {
    assign
        .then(flag(Punct::Ellipsis))
        .map(|(expr, is_expansion)| match is_expansion {
            true => Expr {
                span: expr.span,
                kind: ExprKind::Expansion(Arc::new(expr)),
            },
            false => expr,
        })
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
        .delimited_by(
            punct(Punct::LParen),
            closing(Punct::RParen, Expected::CommaOr(Punct::RParen)),
        )
        .boxed()
}

/// `<<<grid, block, shared, stream>>>(a, b)`.
fn launch<'t>(assign: P<'t, Expr>) -> impl Production<'t, Suffix> {
    let close = closing(Punct::LaunchClose, Expected::CommaOr(Punct::LaunchClose));
    list(assign.clone(), Punct::LaunchClose, false)
        .delimited_by(punct(Punct::LaunchOpen), close)
        .map_with(spanned)
        .then_ignore(before(Punct::LParen, Expected::KernelArguments))
        .then(arguments(assign))
        .map(|(config, args)| Suffix::Launch(config, args))
}

fn primary<'t>(assign: P<'t, Expr>) -> P<'t, Piece> {
    use Keyword::{Alignof, Delete, IsTrivial, New, Sizeof, This, Throw};
    let type_name = ty::type_name(assign.clone());
    let templated = path::path(path::argument(assign.clone(), type_name.clone()));
    let construct = construct(assign.clone(), templated.clone());
    let parenthesised = |word_before| word(word_before).ignore_then(parens(type_name.clone()));
    let alignof = parenthesised(Alignof).map(|ty| ExprKind::Alignof(Box::new(ty)));
    let sizeof_type = parenthesised(Sizeof).map(|ty| ExprKind::SizeofType(Box::new(ty)));
    choose!(|next| (next.punct(0), next.keyword(0));
        _ if is_plain_name(next) => named: node(name().map(|name| ExprKind::Name(name.node))),
        _ if begins_construct(next) => construct: construct,
        _ if next.begins_path(0) && path_ahead(next).is_some() => templated:
            node(templated.map(|path| ExprKind::Path(Box::new(path)))),
        _ if next.begins_path(0) && is_plain_path(next).is_some() => pathed:
            node(path_name(Expected::Name).map(|name| ExprKind::Name(name.node))),
        (_, Some(This)) => this: node(word(This).to(ExprKind::This)),
        (_, Some(New)) => new: allocate::new(assign.clone()),
        (_, Some(Delete)) => delete: allocate::delete(assign.clone()),
        (_, Some(Throw)) if !next.is(1, Punct::Semi) => throw: allocate::throw(assign.clone()),
        (_, Some(IsTrivial)) => is_trivial: allocate::is_trivial(assign.clone()),
        (_, Some(Alignof)) if is_type_in_parentheses(next, 1) => alignof: node(alignof),
        (_, Some(word)) if cast_word(word).is_some() => cast:
            node(named_cast(assign.clone(), type_name.clone())),
        (Some(Punct::LBracket), _) if is_lambda(next) => lambda: super::lambda::lambda(assign.clone()),
        (Some(Punct::LParen), _) if next.is(1, Punct::LBrace) =>
            block: parens(super::lambda::statement_expression()),
        _ if is_compound_literal(next) => compound:
            node(compound_literal(assign.clone(), type_name.clone())),
        _ if begins_foreign(next) => foreign: foreign(),
        (Some(Punct::LParen), _) if is_fold(next) => fold: node(fold()),
        (Some(Punct::LParen), _) => parentheses: parens(comma(assign.clone())),
        (_, Some(Sizeof)) if next.is(1, Punct::Ellipsis) => sizeof_pack: node(sizeof_pack()),
        (_, Some(Sizeof)) => sizeof_type: node(sizeof_type),
        _ => literal: node(literal()),
    )
    .map_with(|expr, extra| (expr, whole(extra)))
    .boxed()
}

/// A name that is not qualified, has no template arguments, and is not a type in a construction.
fn is_plain_name(next: Ahead<'_>) -> bool {
    let makes_value =
        || next.is_type_name(0) && matches!(next.punct(1), Some(Punct::LParen | Punct::LBrace));
    let is_whole = !matches!(next.punct(1), Some(Punct::ColonColon | Punct::AngleOpen));
    next.is_name(0) && is_whole && !makes_value()
}

/// `T(`, `T{`, `typename`, or a word of an arithmetic type.
fn begins_construct(next: Ahead<'_>) -> bool {
    let is_open = |n| matches!(next.punct(n), Some(Punct::LParen | Punct::LBrace));
    match next.keyword(0) {
        Some(keyword) => keyword == Keyword::Typename || ty::is_base(keyword),
        None if !next.begins_path(0) => false,
        None => match path_ahead(next) {
            Some((n, is_type)) => is_type && is_open(n),
            None => match is_plain_path(next) {
                Some((_, n, is_type)) => is_type && is_open(n),
                None => next.is_type_name(0) && is_open(1),
            },
        },
    }
}

/// Whether C++ begins here that [`foreign`] skips.
fn begins_foreign(next: Ahead<'_>) -> bool {
    match next.kind(0) {
        Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
        Some(TokenKind::Punct(Punct::LBracket | Punct::ColonColon)) => true,
        Some(TokenKind::Keyword(keyword)) => foreign_word(*keyword).is_some(),
        _ => false,
    }
}

/// `(pattern op ...)`, `(... op pattern)`, `(pattern op ... op init)`, `(init op ... op pattern)`.
fn fold<'t>() -> impl Production<'t, ExprKind> {
    let operand = rule(|rules| &rules.operand).map(|(operand, _)| Arc::new(operand));
    let operator = read(Expected::Operator, |next| {
        Some((fold_operator(next, 0)?, 1))
    });
    let operator = operator.map_with(spanned);
    let dots = punct(Punct::Ellipsis);
    let left = dots
        .ignore_then(operator)
        .then(operand.clone())
        .map(|(operator, pattern)| Fold {
            operator,
            pattern,
            init: None,
            is_left: true,
        });
    let init = when(
        |next| !next.is(0, Punct::RParen),
        operator.ignore_then(operand.clone()),
    );
    let right =
        operand
            .then(operator)
            .then_ignore(dots)
            .then(init)
            .map(|((pattern, operator), init)| Fold {
                operator,
                pattern,
                init,
                is_left: false,
            });
    parens(either(at(Punct::Ellipsis), left, right)).map(|fold| ExprKind::Fold(Box::new(fold)))
}

/// `sizeof...(pack)`.
fn sizeof_pack<'t>() -> impl Production<'t, ExprKind> {
    word(Keyword::Sizeof)
        .ignore_then(punct(Punct::Ellipsis))
        .ignore_then(parens(name()))
        .map(ExprKind::SizeofPack)
}

fn node<'t>(kind: impl Production<'t, ExprKind>) -> impl Production<'t, Expr> {
    kind.map_with(expr_node)
}

/// `42`, `1.5f`, `'a'`, `"text"`, `true`.
fn literal<'t>() -> impl Production<'t, ExprKind> {
    read(Expected::Expression, |next| {
        let kind = match next.kind(0)? {
            &TokenKind::Int {
                value,
                unsigned,
                suffix,
                decimal,
            } => ExprKind::Int {
                value,
                unsigned,
                suffix,
                decimal,
            },
            &TokenKind::Float { value, single } => ExprKind::Float { value, single },
            &TokenKind::Char(value) => ExprKind::Char(value),
            TokenKind::Str(bytes) => ExprKind::Str(bytes.clone()),
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Nullptr) => ExprKind::Nullptr,
            _ => return None,
        };
        Some((kind, 1))
    })
}

/// A qualified name without template arguments.
fn is_plain_path<'t>(next: Ahead<'t>) -> Option<(Arc<str>, usize, bool)> {
    scoped_name(next).filter(|(_, n, _)| {
        *n > 1 && !next.is(*n, Punct::ColonColon) && template_arguments(next, *n).is_none()
    })
}

/// `static_cast<T>(e)`.
fn named_cast<'t>(
    assign: P<'t, Expr>,
    type_name: P<'t, TypeName>,
) -> impl Production<'t, ExprKind> {
    let word = read(Expected::Expression, |next| {
        Some((cast_word(next.keyword(0)?)?, 1))
    });
    let close = closing(Punct::Gt, Expected::CastType(Punct::Gt));
    let operand = before(Punct::LParen, Expected::CastOperand).ignore_then(parens(comma(assign)));
    word.then(type_name.delimited_by(punct(Punct::Lt), close))
        .then(operand)
        .map(|((word, ty), operand)| ExprKind::NamedCast(word, Box::new(ty), Box::new(operand)))
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

/// `dim3(32, 8)`, `float(x)`, `float2{1, 2}`.
fn construct<'t>(assign: P<'t, Expr>, templated: P<'t, Path>) -> impl Production<'t, Expr> {
    enum Value {
        Items(Vec<InitItem>),
        Args(Vec<Expr>),
    }
    let value = choose!(|next| next.punct(0);
        Some(Punct::LBrace) => items: init_items(assign.clone()).map(Value::Items),
        Some(Punct::LParen) => args: arguments(assign).map(Value::Args),
        _ => nothing: unexpected(Expected::Expression),
    );
    node(ty::simple_type(templated).then(value).map(|(ty, value)| {
        let ty = Box::new(ty);
        match value {
            Value::Items(items) => ExprKind::Braced(ty, items),
            Value::Args(args) => ExprKind::Construct(ty, args),
        }
    }))
}

/// `(T){`.
fn is_compound_literal(next: Ahead<'_>) -> bool {
    next.is(0, Punct::LParen)
        && is_type_in_parentheses(next, 0)
        && next.is(next.after_brackets(0), Punct::LBrace)
}

/// `(float2){1, 2}`: the same as `float2{1, 2}`.
fn compound_literal<'t>(
    assign: P<'t, Expr>,
    type_name: P<'t, TypeName>,
) -> impl Production<'t, ExprKind> {
    parens(type_name)
        .then(init_items(assign))
        .map(|(ty, items)| ExprKind::Braced(Box::new(ty), items))
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
fn foreign<'t>() -> impl Production<'t, Expr> {
    let construct = read(Expected::Expression, |next| {
        let (construct, n) = foreign_extent(next);
        Some((construct, n.max(1)))
    });
    node(construct.map(ExprKind::Unsupported))
}

/// The construct and how many tokens it takes.
fn foreign_extent(next: Ahead<'_>) -> (&'static str, usize) {
    match next.kind(0) {
        Some(TokenKind::Punct(Punct::LBracket)) => ("an attribute", next.after_brackets(0)),
        Some(TokenKind::Keyword(keyword)) => (
            foreign_word(*keyword).unwrap_or("this"),
            word_extent(next, *keyword),
        ),
        _ => match qualified(next) {
            Some(n) => ("a qualified name `A::b`", n),
            None => (
                "a template's arguments `<…>`",
                template_arguments(next, 1).unwrap_or(1),
            ),
        },
    }
}

fn word_extent(next: Ahead<'_>, keyword: Keyword) -> usize {
    match keyword {
        Keyword::Alignof | Keyword::Decltype if next.is(1, Punct::LParen) => next.after_brackets(1),
        _ => operand_extent(next, 1),
    }
}

/// From offset `n` to the `;`, `,` or closing bracket that ends the operand.
fn operand_extent(next: Ahead<'_>, mut n: usize) -> usize {
    loop {
        match next.punct(n) {
            Some(Punct::Semi | Punct::Comma) => return n,
            Some(punct) if closes(punct) => return n,
            Some(punct) if opens(punct) => n = next.after_brackets(n),
            _ if next.kind(n).is_none() => return n,
            _ => n += 1,
        }
    }
}
