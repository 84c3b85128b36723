//! Expressions.
//!
//! From the inside out: a primary with its suffixes (`primary`), prefix operators and casts, binary operators (read as a
//! flat list, then grouped by precedence without recursion), assignments and `?:` (right to left), commas. Chains of
//! operators are read in loops, so only brackets nest.

use chumsky::prelude::*;

use super::{
    depth::{count_operator, counted, nested},
    kit::{
        Ahead, At, P, ahead, at, closing, custom_clone, either, expr_node, fail, list, name, punct,
        repeat_while, rule, spanned, whole,
    },
    primary,
    recover::What,
    ty,
};
use crate::{
    span::{Span, Spanned},
    syntax::{
        ast::{BinaryOp, Designator, Expr, ExprKind, Init, InitItem, TypeName, UnaryOp},
        token::{Keyword, Punct, TokenKind},
    },
};

/// An expression and the text it covers with its parentheses; the node's own span leaves them out.
pub(super) type Piece = (Expr, Span);

/// `a, b`: a whole expression, its operators counted from zero.
pub(super) fn expression<'t>() -> P<'t, Expr> {
    counted(comma(assignment())).boxed()
}

/// `a = b`: an expression where a comma means something else, its operators counted from zero.
pub(super) fn element<'t>() -> P<'t, Expr> {
    counted(assignment()).boxed()
}

/// `a = b`, `c ? a : b`, `{ a, b }`.
pub(super) fn assignment<'t>() -> P<'t, Expr> {
    rule(|rules| &rules.assignment)
}

/// What [`assignment`] refers to.
pub(super) fn assignment_rule<'t>() -> P<'t, Expr> {
    let assign = nested(assignment()).boxed();
    let chain = chain(binary(unary(assign.clone())), comma(assign.clone()));
    either(at(Punct::LBrace), braces(assign), chain).boxed()
}

/// What stands beside an operator: `-x`, `(int)f(x)`.
pub(super) fn operand_rule<'t>() -> P<'t, Piece> {
    unary(nested(assignment()).boxed())
}

/// The operators that may fold a parameter pack: all that have two operands, and the comma (`None`).
pub(super) fn fold_operator(look: Ahead<'_>, n: usize) -> Option<Option<BinaryOp>> {
    match look.punct(n)? {
        Punct::Comma => Some(None),
        punct => binary_operator(punct).map(Some),
    }
}

/// `a, b, c`.
pub(super) fn comma<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    assign
        .clone()
        .then(repeat_while(
            at(Punct::Comma),
            custom_clone(count_operator)
                .ignore_then(punct(Punct::Comma))
                .ignore_then(assign),
        ))
        .map(|(first, rest)| {
            rest.into_iter().fold(first, |left, right| {
                let span = left.span.to(right.span);
                Expr {
                    kind: ExprKind::Comma(Box::new(left), Box::new(right)),
                    span,
                }
            })
        })
        .boxed()
}

/// `{ a, b }` where an expression stands.
fn braces<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    init_items(assign)
        .map(ExprKind::List)
        .map_with(expr_node)
        .boxed()
}

/// `{ a, .x = b, [3] = c, { d } }`.
pub(super) fn init_items<'t>(element: P<'t, Expr>) -> P<'t, Vec<InitItem>> {
    recursive(|items| {
        let inner = nested(items).map_with(spanned).map(Init::List);
        let value = primary::expanded(element.clone()).map(Init::Expr);
        let item = designator(element)
            .then(either(at(Punct::LBrace), inner, value))
            .map(|(designator, value)| InitItem { designator, value });
        list(item, Punct::RBrace, true)
            .delimited_by(punct(Punct::LBrace), closing(Punct::RBrace, "`,` or `}`"))
            .boxed()
    })
    .boxed()
}

/// `.x =` or `[3] =`, if there is one; a `[` could also begin a lambda.
fn designator<'t>(element: P<'t, Expr>) -> P<'t, Option<Designator>> {
    let member = punct(Punct::Dot)
        .ignore_then(name())
        .map(Designator::Member);
    let index = element
        .delimited_by(punct(Punct::LBracket), punct(Punct::RBracket))
        .map(Designator::Index);
    let index = index.then_ignore(punct(Punct::Eq)).boxed();
    let member = member.then_ignore(punct(Punct::Eq)).boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        match look.punct(0) {
            Some(Punct::Dot) => inp.parse(&member).map(Some),
            Some(Punct::LBracket) if look.is(look.after_brackets(0), Punct::Eq) => {
                inp.parse(&index).map(Some)
            }
            _ => Ok(None),
        }
    })
    .boxed()
}

/// What stands between the operands of a right-to-left chain.
#[derive(Clone)]
enum Link {
    Assign(Spanned<Option<BinaryOp>>),
    Conditional(Expr),
}

/// `a = b`, `a ? x : b`, and mixtures, grouped from the right as C++ does.
fn chain<'t>(operand: P<'t, Piece>, then: P<'t, Expr>) -> P<'t, Expr> {
    let question = punct(Punct::Question)
        .ignore_then(then)
        .then_ignore(closing(Punct::Colon, "the `:` of `? :`"));
    let question = question.map(Link::Conditional);
    let link = custom_clone(move |inp: &mut At<'t, '_>| {
        count_operator(inp)?;
        if ahead(inp).is(0, Punct::Question) {
            return inp.parse(&question);
        }
        let look = ahead(inp);
        let operator = look.punct(0).and_then(assignment_operator);
        inp.skip();
        Ok(Link::Assign(Spanned::new(
            operator.flatten(),
            inp.state().place(look.at),
        )))
    });
    // `s = {1, 2}`.
    let list = braces(assignment()).map_with(|expr, extra| (expr, whole(extra)));
    let right = either(at(Punct::LBrace), list, operand.clone());
    operand
        .then(repeat_while(
            |look| {
                look.is(0, Punct::Question) || look.punct(0).and_then(assignment_operator).is_some()
            },
            link.then(right),
        ))
        .map(|(first, rest)| group_right(first, rest))
        .boxed()
}

fn group_right(first: Piece, rest: Vec<(Link, Piece)>) -> Expr {
    let mut operands = vec![first];
    let mut links = Vec::with_capacity(rest.len());
    for (link, operand) in rest {
        links.push(link);
        operands.push(operand);
    }
    let Some((mut right, mut right_whole)) = operands.pop() else {
        unreachable!("there is a first operand")
    };
    while let (Some(link), Some((left, left_whole))) = (links.pop(), operands.pop()) {
        let span = left_whole.to(right_whole);
        let (left, old) = (Box::new(left), Box::new(right));
        let kind = match link {
            Link::Assign(operator) => ExprKind::Assign(operator, left, old),
            Link::Conditional(then) => ExprKind::Conditional(left, Box::new(then), old),
        };
        (right, right_whole) = (Expr { kind, span }, span);
    }
    right
}

/// `a + b * c`.
fn binary<'t>(operand: P<'t, Piece>) -> P<'t, Piece> {
    let operator = custom_clone(|inp: &mut At<'t, '_>| {
        count_operator(inp)?;
        let look = ahead(inp);
        let Some(operator) = look.punct(0).and_then(binary_operator) else {
            return fail(inp, What::Quiet);
        };
        inp.skip();
        Ok(Spanned::new(operator, inp.state().place(look.at)))
    });
    operand
        .clone()
        .then(repeat_while(
            |look| look.punct(0).and_then(binary_operator).is_some(),
            operator.then(operand),
        ))
        .map(|(first, rest)| group_left(first, rest))
        .boxed()
}

/// Groups a flat chain by precedence, all operators left to right; a stack stands for the recursion.
fn group_left(first: Piece, rest: Vec<(Spanned<BinaryOp>, Piece)>) -> Piece {
    if rest.is_empty() {
        return first;
    }
    let mut waiting: Vec<(Piece, Spanned<BinaryOp>)> = Vec::new();
    let mut right = first;
    for (operator, operand) in rest {
        right = reduce(&mut waiting, right, precedence(operator.node));
        waiting.push((right, operator));
        right = operand;
    }
    reduce(&mut waiting, right, 0)
}

/// Joins `right` with what waits for it and binds at least as tightly as `floor`.
fn reduce(waiting: &mut Vec<(Piece, Spanned<BinaryOp>)>, mut right: Piece, floor: u8) -> Piece {
    while let Some(((left, left_whole), operator)) =
        waiting.pop_if(|(_, operator)| precedence(operator.node) >= floor)
    {
        let span = left_whole.to(right.1);
        let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right.0));
        right = (Expr { kind, span }, span);
    }
    right
}

/// What stands before an operand.
#[derive(Clone)]
enum Prefix {
    Operator(UnaryOp),
    Sizeof,
    Cast(Box<TypeName>),
}

/// `-a`, `*p++`, `(float)x`, `sizeof x`.
fn unary<'t>(assign: P<'t, Expr>) -> P<'t, Piece> {
    let cast = ty::type_name(assign.clone())
        .delimited_by(
            punct(Punct::LParen),
            closing(Punct::RParen, "the `)` of the cast"),
        )
        .map(|ty| Prefix::Cast(Box::new(ty)))
        .boxed();
    let prefix = custom_clone(move |inp: &mut At<'t, '_>| {
        count_operator(inp)?;
        let look = ahead(inp);
        if look.is(0, Punct::LParen) {
            return Ok((inp.parse(&cast)?, look.at));
        }
        let operator = look.punct(0).and_then(prefix_operator);
        inp.skip();
        Ok((operator.map_or(Prefix::Sizeof, Prefix::Operator), look.at))
    });
    repeat_while(begins_prefix, prefix)
        .then(primary::suffixed(assign))
        .map_with(|(prefixes, (operand, operand_whole)), extra| {
            let mut piece = (operand, operand_whole);
            for (prefix, at) in prefixes.into_iter().rev() {
                let span = extra.state().place(at).to(piece.1);
                let operand = Box::new(piece.0);
                let kind = match prefix {
                    Prefix::Operator(operator) => ExprKind::Unary(operator, operand),
                    Prefix::Sizeof => ExprKind::SizeofExpr(operand),
                    Prefix::Cast(ty) => ExprKind::Cast(ty, operand),
                };
                piece = (Expr { kind, span }, span);
            }
            piece
        })
        .boxed()
}

fn begins_prefix(look: Ahead<'_>) -> bool {
    match look.kind(0) {
        Some(TokenKind::Punct(Punct::LParen)) => begins_cast(look),
        Some(&TokenKind::Punct(punct)) => prefix_operator(punct).is_some(),
        Some(TokenKind::Keyword(Keyword::Sizeof)) => {
            !primary::is_sizeof_type(look) && !look.is(1, Punct::Ellipsis)
        }
        _ => false,
    }
}

/// Whether the `(` ahead opens a cast: a type stands in it, and not a compound literal follows.
fn begins_cast(look: Ahead<'_>) -> bool {
    if primary::is_type_in_parentheses(look, 0) {
        return !look.is(look.after_brackets(0), Punct::LBrace);
    }
    // `(real)x` with a type that nobody declared: read it as the cast it must be, so that the type is what is reported.
    look.is_ident(1)
        && look.is(2, Punct::RParen)
        && matches!(
            look.kind(3),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Int { .. }
                    | TokenKind::Float { .. }
            )
        )
}

fn prefix_operator(punct: Punct) -> Option<UnaryOp> {
    Some(match punct {
        Punct::Plus => UnaryOp::Plus,
        Punct::Minus => UnaryOp::Neg,
        Punct::Bang => UnaryOp::Not,
        Punct::Tilde => UnaryOp::BitNot,
        Punct::Star => UnaryOp::Deref,
        Punct::Amp => UnaryOp::AddressOf,
        Punct::PlusPlus => UnaryOp::PreInc,
        Punct::MinusMinus => UnaryOp::PreDec,
        _ => return None,
    })
}

/// `Some(None)` is plain `=`.
fn assignment_operator(punct: Punct) -> Option<Option<BinaryOp>> {
    Some(match punct {
        Punct::Eq => None,
        Punct::PlusEq => Some(BinaryOp::Add),
        Punct::MinusEq => Some(BinaryOp::Sub),
        Punct::StarEq => Some(BinaryOp::Mul),
        Punct::SlashEq => Some(BinaryOp::Div),
        Punct::PercentEq => Some(BinaryOp::Rem),
        Punct::AmpEq => Some(BinaryOp::BitAnd),
        Punct::PipeEq => Some(BinaryOp::BitOr),
        Punct::CaretEq => Some(BinaryOp::BitXor),
        Punct::ShlEq => Some(BinaryOp::Shl),
        Punct::ShrEq => Some(BinaryOp::Shr),
        _ => return None,
    })
}

fn precedence(operator: BinaryOp) -> u8 {
    match operator {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 10,
        BinaryOp::Add | BinaryOp::Sub => 9,
        BinaryOp::Shl | BinaryOp::Shr => 8,
        BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => 7,
        BinaryOp::Eq | BinaryOp::Ne => 6,
        BinaryOp::BitAnd => 5,
        BinaryOp::BitXor => 4,
        BinaryOp::BitOr => 3,
        BinaryOp::And => 2,
        BinaryOp::Or => 1,
    }
}

fn binary_operator(punct: Punct) -> Option<BinaryOp> {
    Some(match punct {
        Punct::Star => BinaryOp::Mul,
        Punct::Slash => BinaryOp::Div,
        Punct::Percent => BinaryOp::Rem,
        Punct::Plus => BinaryOp::Add,
        Punct::Minus => BinaryOp::Sub,
        Punct::Shl => BinaryOp::Shl,
        Punct::Shr => BinaryOp::Shr,
        Punct::Lt => BinaryOp::Lt,
        Punct::Gt => BinaryOp::Gt,
        Punct::Le => BinaryOp::Le,
        Punct::Ge => BinaryOp::Ge,
        Punct::EqEq => BinaryOp::Eq,
        Punct::Ne => BinaryOp::Ne,
        Punct::Amp => BinaryOp::BitAnd,
        Punct::Caret => BinaryOp::BitXor,
        Punct::Pipe => BinaryOp::BitOr,
        Punct::AmpAmp => BinaryOp::And,
        Punct::PipePipe => BinaryOp::Or,
        _ => return None,
    })
}
