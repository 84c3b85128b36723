//! Expressions.
//!
//! From the inside out: a primary with its suffixes (`primary`), prefix operators and casts, binary operators (read as a flat list, then
//! grouped by precedence without recursion), assignments and `?:` (right to left), commas. Chains of operators are read in loops, so only
//! brackets nest.
//!
//! chumsky's `pratt` is not used for the binary operators. If a right operand fails, it rewinds to before the operator and ends the
//! expression there without an error, so that errors reported inside the operand stay and are found again. It reads an operator once for
//! each level that declines it, so that the count of operators (`MAX_OPERATORS`) would be wrong, and it recurses at each level.

use chumsky::prelude::*;

use super::{
    depth::{counted, nested, operator},
    kit::{
        P, at, brackets, closing, either, expr_node, list, name, punct, read, repeat_while, rule,
        spanned, when, whole,
    },
    lookahead::{Ahead, begins_cast, is_sizeof_type},
    primary, ty,
};
use crate::syntax::{
    ast::{BinaryOp, Designator, Expr, ExprKind, Init, InitItem, TypeName, UnaryOp},
    message::parse::Expected,
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// An expression and the text that it covers with its parentheses; the node's own span excludes them.
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

/// The production that [`assignment`] refers to.
pub(super) fn assignment_rule<'t>() -> P<'t, Expr> {
    let assign = nested(assignment()).boxed();
    let chain = chain(binary(unary(assign.clone())), comma(assign.clone()));
    either(at(Punct::LBrace), braces(assign), chain).boxed()
}

/// An operand of an operator: `-x`, `(int)f(x)`.
pub(super) fn operand_rule<'t>() -> P<'t, Piece> {
    unary(nested(assignment()).boxed())
}

/// The operators that may fold a parameter pack: all with two operands, and the comma (`None`).
pub(super) fn fold_operator(next: Ahead<'_>, n: usize) -> Option<Option<BinaryOp>> {
    match next.punct(n)? {
        Punct::Comma => Some(None),
        punct => binary_operator(punct).map(|(operator, _)| Some(operator)),
    }
}

/// `a, b, c`.
pub(super) fn comma<'t>(assign: P<'t, Expr>) -> P<'t, Expr> {
    assign
        .clone()
        .then(repeat_while(
            at(Punct::Comma),
            operator()
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

/// `{ a, b }` in place of an expression.
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
            .delimited_by(
                punct(Punct::LBrace),
                closing(Punct::RBrace, Expected::CommaOr(Punct::RBrace)),
            )
            .boxed()
    })
    .boxed()
}

/// `.x =` or `[3] =`, if there is one; a `[` could also begin a lambda.
fn designator<'t>(element: P<'t, Expr>) -> P<'t, Option<Designator>> {
    let member = punct(Punct::Dot)
        .ignore_then(name())
        .map(Designator::Member);
    let index = brackets(element).map(Designator::Index);
    let begins = |next: Ahead<'_>| match next.punct(0) {
        Some(Punct::LBracket) => next.is(next.after_brackets(0), Punct::Eq),
        first => first == Some(Punct::Dot),
    };
    when(
        begins,
        either(at(Punct::Dot), member, index).then_ignore(punct(Punct::Eq)),
    )
    .boxed()
}

/// The operator between the operands of a right-to-left chain.
#[derive(Clone)]
enum Link {
    Assign(Spanned<Option<BinaryOp>>),
    Conditional(Expr),
}

/// `a = b`, `a ? x : b`, and mixtures, grouped from the right as C++ does.
fn chain<'t>(operand: P<'t, Piece>, then: P<'t, Expr>) -> P<'t, Expr> {
    let question = punct(Punct::Question)
        .ignore_then(then)
        .then_ignore(closing(Punct::Colon, Expected::ConditionalColon))
        .map(Link::Conditional)
        .boxed();
    let assign = read(Expected::Nothing, |next| {
        Some((assignment_operator(next.punct(0)?)?, 1))
    });
    let assign = assign.map_with(spanned).map(Link::Assign);
    let link = operator().ignore_then(either(at(Punct::Question), question, assign));
    // `s = {1, 2}`.
    let list = braces(assignment()).map_with(|expr, extra| (expr, whole(extra)));
    let right = either(at(Punct::LBrace), list, operand.clone());
    operand
        .then(repeat_while(
            |next| {
                next.is(0, Punct::Question) || next.punct(0).and_then(assignment_operator).is_some()
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

/// An operator between two operands, and how tightly it binds.
type Infix = (Spanned<BinaryOp>, u8);

/// `a + b * c`.
fn binary<'t>(operand: P<'t, Piece>) -> P<'t, Piece> {
    let infix = read(Expected::Nothing, |next| {
        Some((binary_operator(next.punct(0)?)?, 1))
    });
    let infix = infix.map_with(|(operator, precedence), extra| {
        (Spanned::new(operator, whole(extra)), precedence)
    });
    let infix = operator().ignore_then(infix);
    operand
        .clone()
        .then(repeat_while(
            |next| next.punct(0).and_then(binary_operator).is_some(),
            infix.then(operand),
        ))
        .map(|(first, rest)| group_left(first, rest))
        .boxed()
}

/// Groups a flat chain by precedence, all operators left to right; a stack replaces recursion.
fn group_left(first: Piece, rest: Vec<(Infix, Piece)>) -> Piece {
    if rest.is_empty() {
        return first;
    }
    let mut waiting: Vec<(Piece, Infix)> = Vec::new();
    let mut right = first;
    for (infix, operand) in rest {
        right = reduce(&mut waiting, right, infix.1);
        waiting.push((right, infix));
        right = operand;
    }
    reduce(&mut waiting, right, 0)
}

/// Joins `right` with the waiting operands whose operators bind at least as tightly as `floor`.
fn reduce(waiting: &mut Vec<(Piece, Infix)>, mut right: Piece, floor: u8) -> Piece {
    while let Some(((left, left_whole), (operator, _))) =
        waiting.pop_if(|(_, (_, precedence))| *precedence >= floor)
    {
        let span = left_whole.to(right.1);
        let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right.0));
        right = (Expr { kind, span }, span);
    }
    right
}

/// An operator before an operand.
#[derive(Clone)]
enum Prefix {
    Operator(UnaryOp),
    Sizeof,
    Cast(Box<TypeName>),
}

/// `-a`, `*p++`, `(float)x`, `sizeof x`.
fn unary<'t>(assign: P<'t, Expr>) -> P<'t, Piece> {
    let close = closing(Punct::RParen, Expected::CastType(Punct::RParen));
    let cast = ty::type_name(assign.clone())
        .delimited_by(punct(Punct::LParen), close)
        .map(|ty| Prefix::Cast(Box::new(ty)))
        .boxed();
    let word = read(Expected::Nothing, |next| {
        let operator = next.punct(0).and_then(prefix_operator);
        Some((operator.map_or(Prefix::Sizeof, Prefix::Operator), 1))
    });
    let prefix = operator()
        .ignore_then(either(at(Punct::LParen), cast, word))
        .map_with(|prefix, extra| (prefix, extra.span().start));
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

fn begins_prefix(next: Ahead<'_>) -> bool {
    match next.kind(0) {
        Some(TokenKind::Punct(Punct::LParen)) => begins_cast(next),
        Some(&TokenKind::Punct(punct)) => prefix_operator(punct).is_some(),
        Some(TokenKind::Keyword(Keyword::Sizeof)) => {
            !is_sizeof_type(next) && !next.is(1, Punct::Ellipsis)
        }
        _ => false,
    }
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
    let compound = match punct {
        Punct::Eq => return Some(None),
        Punct::PlusEq => Punct::Plus,
        Punct::MinusEq => Punct::Minus,
        Punct::StarEq => Punct::Star,
        Punct::SlashEq => Punct::Slash,
        Punct::PercentEq => Punct::Percent,
        Punct::AmpEq => Punct::Amp,
        Punct::PipeEq => Punct::Pipe,
        Punct::CaretEq => Punct::Caret,
        Punct::ShlEq => Punct::Shl,
        Punct::ShrEq => Punct::Shr,
        _ => return None,
    };
    binary_operator(compound).map(|(operator, _)| Some(operator))
}

/// The operators of two operands, and how tightly each binds.
fn binary_operator(punct: Punct) -> Option<(BinaryOp, u8)> {
    Some(match punct {
        Punct::Star => (BinaryOp::Mul, 10),
        Punct::Slash => (BinaryOp::Div, 10),
        Punct::Percent => (BinaryOp::Rem, 10),
        Punct::Plus => (BinaryOp::Add, 9),
        Punct::Minus => (BinaryOp::Sub, 9),
        Punct::Shl => (BinaryOp::Shl, 8),
        Punct::Shr => (BinaryOp::Shr, 8),
        Punct::Lt => (BinaryOp::Lt, 7),
        Punct::Gt => (BinaryOp::Gt, 7),
        Punct::Le => (BinaryOp::Le, 7),
        Punct::Ge => (BinaryOp::Ge, 7),
        Punct::EqEq => (BinaryOp::Eq, 6),
        Punct::Ne => (BinaryOp::Ne, 6),
        Punct::Amp => (BinaryOp::BitAnd, 5),
        Punct::Caret => (BinaryOp::BitXor, 4),
        Punct::Pipe => (BinaryOp::BitOr, 3),
        Punct::AmpAmp => (BinaryOp::And, 2),
        Punct::PipePipe => (BinaryOp::Or, 1),
        _ => return None,
    })
}
