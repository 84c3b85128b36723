//! Operators: the operands they accept, the type of the operation, the type of the result.

pub(crate) mod assign;

use crate::sema::check::{
    Checked, Checker, Reported, Reporter, Tables, access, cleanup, convert, expr, method,
};
use crate::sema::message::expr::{ExprError, OperandCure};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        ty::Ty,
        typed::{Arith, LogicalOp, Relation, Value, ValueKind},
    },
    syntax::ast::{self, BinaryOp, ExprKind, PostfixOp, UnaryOp},
};
use ir::span::{Span, Spanned};

/// Operators by the operands that they accept.
enum Family {
    Arith(Arith),
    Compare(Relation),
    Logical(LogicalOp),
}

fn family(op: BinaryOp) -> Family {
    match op {
        BinaryOp::Mul => Family::Arith(Arith::Mul),
        BinaryOp::Div => Family::Arith(Arith::Div),
        BinaryOp::Rem => Family::Arith(Arith::Rem),
        BinaryOp::Add => Family::Arith(Arith::Add),
        BinaryOp::Sub => Family::Arith(Arith::Sub),
        BinaryOp::Shl => Family::Arith(Arith::Shl),
        BinaryOp::Shr => Family::Arith(Arith::Shr),
        BinaryOp::BitAnd => Family::Arith(Arith::And),
        BinaryOp::BitXor => Family::Arith(Arith::Xor),
        BinaryOp::BitOr => Family::Arith(Arith::Or),
        BinaryOp::Lt => Family::Compare(Relation::Lt),
        BinaryOp::Gt => Family::Compare(Relation::Gt),
        BinaryOp::Le => Family::Compare(Relation::Le),
        BinaryOp::Ge => Family::Compare(Relation::Ge),
        BinaryOp::Eq => Family::Compare(Relation::Eq),
        BinaryOp::Ne => Family::Compare(Relation::Ne),
        BinaryOp::And => Family::Logical(LogicalOp::And),
        BinaryOp::Or => Family::Logical(LogicalOp::Or),
    }
}

fn text(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "/",
        Arith::Rem => "%",
        Arith::And => "&",
        Arith::Or => "|",
        Arith::Xor => "^",
        Arith::Shl => "<<",
        Arith::Shr => ">>",
    }
}

/// An operand that is an object or an enumeration: a program may declare operators for it.
fn as_object(operand: &Checked) -> Option<Value> {
    if !matches!(operand.ty(), Ty::Record(_) | Ty::Enum(_)) {
        return None;
    }
    Some(match operand {
        Checked::Place(place) => method::place_value(place.clone()),
        Checked::Value(value) => value.clone(),
    })
}

/// An operator as spelled.
pub(crate) fn binary_text(op: BinaryOp) -> &'static str {
    match family(op) {
        Family::Arith(op) => text(op),
        Family::Compare(relation) => relation_text(relation),
        Family::Logical(LogicalOp::And) => "&&",
        Family::Logical(LogicalOp::Or) => "||",
    }
}

fn relation_text(relation: Relation) -> &'static str {
    match relation {
        Relation::Eq => "==",
        Relation::Ne => "!=",
        Relation::Lt => "<",
        Relation::Le => "<=",
        Relation::Gt => ">",
        Relation::Ge => ">=",
    }
}

fn is_shift(op: Arith) -> bool {
    matches!(op, Arith::Shl | Arith::Shr)
}

fn needs_integers(op: Arith) -> bool {
    matches!(
        op,
        Arith::Rem | Arith::And | Arith::Or | Arith::Xor | Arith::Shl | Arith::Shr
    )
}

/// `a + b - c …`: down the left side with a loop, then up again.
pub(crate) fn binary_chain(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Checked, Reported> {
    let mut links = Vec::new();
    let mut first = expr;
    while let ExprKind::Binary(op, left, right) = &first.kind {
        links.push((op, right, first.span));
        first = left;
    }
    let mut result = expr::value(cx, first).map(Checked::Value);
    while let Some((op, right, span)) = links.pop() {
        let mark = cx.body.flow.temporaries.len();
        let mut right = expr::value(cx, right);
        if matches!(op.node, BinaryOp::And | BinaryOp::Or) && cx.body.flow.temporaries.len() > mark
        {
            // The right side may not be evaluated, so its temporaries end with it.
            right = right.and_then(|right| convert::truth_value(cx, right));
            right = right.and_then(|right| cleanup::ended(cx, mark, right));
        }
        let both = result.and_then(|left| Ok((left, right?)));
        result = both.and_then(|(left, right)| link(cx, op, left, right, span));
    }
    result
}

/// One operator of a chain: the program's, if there is one for these operands.
fn link(
    cx: &mut Checker<'_>,
    op: &Spanned<BinaryOp>,
    left: Checked,
    right: Value,
    span: Span,
) -> Result<Checked, Reported> {
    let operands = [method::read_checked(cx, left), right];
    let symbol = binary_text(op.node);
    if let Some(called) = method::operator_call(cx, symbol, &operands, op.span, span)? {
        return Ok(called);
    }
    let [left, right] = operands;
    binary(cx, op, left, right, span).map(Checked::Value)
}

/// `a, b, c …`, in the same way.
pub(crate) fn comma_chain(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Value, Reported> {
    let mut links = Vec::new();
    let mut first = expr;
    while let ExprKind::Comma(left, right) = &first.kind {
        links.push((right, first.span));
        first = left;
    }
    let mut value = expr::value(cx, first);
    while let Some((right, span)) = links.pop() {
        let left = value.map(|left| cleanup::discarded(cx, left));
        let right = expr::value(cx, right);
        if let Ok(right) = &right
            && cx.tables.has_destructor(&right.ty)
        {
            cx.unsupported("an object with a destructor after a comma", span);
        }
        value = left.and_then(|left| {
            let (left, right) = (Box::new(left), Box::new(right?));
            let ty = right.ty.clone();
            Ok(Value::new(ValueKind::Comma(left, right), ty, span))
        });
    }
    value
}

fn binary(
    cx: &mut Checker<'_>,
    op: &Spanned<BinaryOp>,
    left: Value,
    right: Value,
    span: Span,
) -> Result<Value, Reported> {
    let left = method::as_number(cx, left)?;
    let right = method::as_number(cx, right)?;
    if cx.tables.is_scoped(&left.ty) || cx.tables.is_scoped(&right.ty) {
        let compares = matches!(family(op.node), Family::Compare(_)) && left.ty == right.ty;
        if !compares {
            let cure = Some(OperandCure::EnumClass);
            return Err(bad_operands(
                &cx.tables,
                &mut cx.reporter,
                binary_text(op.node),
                op.span,
                &left,
                &right,
                cure,
            ));
        }
    }
    match family(op.node) {
        Family::Arith(arith) => arithmetic(cx, arith, op.span, left, right, span),
        Family::Compare(relation) => compare(
            &cx.tables,
            &mut cx.reporter,
            relation,
            op.span,
            left,
            right,
            span,
        ),
        Family::Logical(logical) => {
            let (left, right) = (
                convert::truth_value(cx, left),
                convert::truth_value(cx, right),
            );
            let kind = ValueKind::Logical(logical, Box::new(left?), Box::new(right?));
            Ok(Value::new(kind, Ty::Bool, span))
        }
    }
}

fn bad_operands(
    tables: &Tables,
    reporter: &mut Reporter,
    op_text: &str,
    op: Span,
    left: &Value,
    right: &Value,
    cure: Option<OperandCure>,
) -> Reported {
    reporter.error(
        tables,
        op,
        ExprError::Operands {
            op_text: op_text.to_string(),
            a: left.ty.clone(),
            b: right.ty.clone(),
            left: left.span,
            right: right.span,
            cure,
        },
    )
}

fn arithmetic(
    cx: &mut Checker<'_>,
    op: Arith,
    at: Span,
    left: Value,
    right: Value,
    span: Span,
) -> Result<Value, Reported> {
    if matches!(left.ty, Ty::Pointer(_)) || matches!(right.ty, Ty::Pointer(_)) {
        return pointer_arithmetic(&cx.tables, &mut cx.reporter, op, at, left, right, span);
    }
    let fits = |ty: &Ty| {
        if needs_integers(op) {
            ty.is_integral()
        } else {
            ty.is_arithmetic()
        }
    };
    if !fits(&left.ty) || !fits(&right.ty) {
        let cure = if op == Arith::Rem && left.ty.is_arithmetic() && right.ty.is_arithmetic() {
            Some(OperandCure::Fmod)
        } else if matches!(left.ty, Ty::Record(_)) || matches!(right.ty, Ty::Record(_)) {
            Some(OperandCure::Members)
        } else {
            None
        };
        return Err(bad_operands(
            &cx.tables,
            &mut cx.reporter,
            text(op),
            at,
            &left,
            &right,
            cure,
        ));
    }
    if is_shift(op) {
        let left = convert::promote(left);
        let right = convert::promote(right);
        let ty = left.ty.clone();
        warn_shift(cx, &ty, &right, at);
        let kind = ValueKind::Binary(op, Box::new(left), Box::new(right));
        return Ok(Value::new(kind, ty, span));
    }
    let (left, right, ty) = convert::usual(left, right);
    warn_zero(cx, op, &right, at);
    let kind = ValueKind::Binary(op, Box::new(left), Box::new(right));
    Ok(Value::new(kind, ty, span))
}

/// The hardware clamps a shift's count, C leaves a large one undefined: it is never intended.
fn warn_shift(cx: &mut Checker<'_>, left: &Ty, count: &Value, at: Span) {
    let ValueKind::Int(bits) = count.kind else {
        return;
    };
    let width = u64::from(left.bits());
    if bits < width || cx.mode.unevaluated > 0 {
        return;
    }
    cx.error(
        at,
        ExprError::ShiftCount {
            ty: left.clone(),
            value: bits as i64,
            width,
            count: count.span,
        },
    );
}

fn warn_zero(cx: &mut Checker<'_>, op: Arith, right: &Value, at: Span) {
    if matches!(op, Arith::Div | Arith::Rem)
        && matches!(right.kind, ValueKind::Int(0))
        && cx.mode.unevaluated == 0
    {
        cx.error(at, ExprError::DividesByZero { right: right.span });
    }
}

fn pointer_arithmetic(
    tables: &Tables,
    reporter: &mut Reporter,
    op: Arith,
    at: Span,
    left: Value,
    right: Value,
    span: Span,
) -> Result<Value, Reported> {
    let (kind, ty) = match (op, &left.ty, &right.ty) {
        (Arith::Add | Arith::Sub, Ty::Pointer(_), ty) if ty.is_integral() => {
            access::pointee(tables, reporter, &left, "moved")?;
            let mut offset = convert::promote(right);
            if op == Arith::Sub {
                offset = negated(offset);
            }
            let ty = left.ty.clone();
            (ValueKind::PointerAdd(Box::new(left), Box::new(offset)), ty)
        }
        (Arith::Add, ty, Ty::Pointer(_)) if ty.is_integral() => {
            access::pointee(tables, reporter, &right, "moved")?;
            let offset = convert::promote(left);
            let ty = right.ty.clone();
            (ValueKind::PointerAdd(Box::new(right), Box::new(offset)), ty)
        }
        (Arith::Sub, Ty::Pointer(a), Ty::Pointer(b)) if a.ty == b.ty => {
            access::pointee(tables, reporter, &left, "subtracted")?;
            let kind = ValueKind::PointerDiff(Box::new(left), Box::new(right));
            (kind, Ty::Long)
        }
        _ => {
            return Err(bad_operands(
                tables,
                reporter,
                text(op),
                at,
                &left,
                &right,
                None,
            ));
        }
    };
    Ok(Value::new(kind, ty, span))
}

/// `-i` for a pointer's offset. An `unsigned` offset is widened first: `p - 1u` is one element before `p`.
fn negated(value: Value) -> Value {
    let value = if value.ty == Ty::Int {
        value
    } else {
        convert::to_type(value, &Ty::Long)
    };
    negate(value)
}

fn negate(value: Value) -> Value {
    let (ty, span) = (value.ty.clone(), value.span);
    let kind = match value.kind {
        ValueKind::Int(bits) => ValueKind::Int(ty.wrap(bits.wrapping_neg())),
        ValueKind::Float(number) => ValueKind::Float(-number),
        _ => ValueKind::Neg(Box::new(value)),
    };
    Value::new(kind, ty, span)
}

fn compare(
    tables: &Tables,
    reporter: &mut Reporter,
    relation: Relation,
    at: Span,
    left: Value,
    right: Value,
    span: Span,
) -> Result<Value, Reported> {
    let (left, right) = if left.ty.is_arithmetic() && right.ty.is_arithmetic() {
        let (left, right, _) = convert::usual(left, right);
        (left, right)
    } else {
        let Some(ty) = common_pointer(tables, &left, &right) else {
            return Err(bad_operands(
                tables,
                reporter,
                relation_text(relation),
                at,
                &left,
                &right,
                None,
            ));
        };
        (pointer_operand(left, &ty), pointer_operand(right, &ty))
    };
    let kind = ValueKind::Compare(relation, Box::new(left), Box::new(right));
    Ok(Value::new(kind, Ty::Bool, span))
}

/// The common pointer type of two operands: equal pointees, a base of the other's class, `void *`, or a null constant.
fn common_pointer(tables: &Tables, left: &Value, right: &Value) -> Option<Ty> {
    let is_null = |value: &Value| {
        matches!(value.kind, ValueKind::Null)
            || (value.ty.is_integral() && matches!(value.kind, ValueKind::Int(0)))
    };
    match (&left.ty, &right.ty) {
        (Ty::Pointer(a), Ty::Pointer(b)) => {
            let (mut a, b) = (a.as_ref().clone(), b.as_ref());
            if is_null(left) {
                return Some(right.ty.clone());
            }
            if is_null(right) || a.ty == Ty::Void {
                return Some(left.ty.clone());
            }
            if b.ty == Ty::Void {
                return Some(right.ty.clone());
            }
            a.is_const |= b.is_const;
            a.is_volatile |= b.is_volatile;
            // A base is at the start of its class, so the address is the same.
            if let (Ty::Record(left), Ty::Record(right)) = (&a.ty, &b.ty)
                && tables.is_derived(*left, *right)
            {
                a.ty = b.ty.clone();
            }
            let is_base = match (&a.ty, &b.ty) {
                (Ty::Record(base), Ty::Record(class)) => tables.is_derived(*class, *base),
                (a, b) => a == b,
            };
            is_base.then(|| pointer_to(a))
        }
        (Ty::Pointer(_), _) if is_null(right) => Some(left.ty.clone()),
        (_, Ty::Pointer(_)) if is_null(left) => Some(right.ty.clone()),
        _ => None,
    }
}

fn pointer_operand(value: Value, ty: &Ty) -> Value {
    match value.kind {
        ValueKind::Null | ValueKind::Int(0) => Value::new(ValueKind::Null, ty.clone(), value.span),
        _ => convert::to_type(value, ty),
    }
}

/// A prefix operator: the program's, if there is one for the operand.
pub(crate) fn unary_expr(
    cx: &mut Checker<'_>,
    op: UnaryOp,
    inner: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let symbol = match op {
        UnaryOp::Plus => "+",
        UnaryOp::Neg => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
        UnaryOp::PreInc => "++",
        UnaryOp::PreDec => "--",
        UnaryOp::AddressOf | UnaryOp::Deref => {
            if cx.tables.may_have_operator("operator&") {
                let operand = expr::check(cx, inner)?;
                if let Some(object) = as_object(&operand)
                    && let Some(called) = method::operator_call(cx, "&", &[object], span, span)?
                {
                    return Ok(called);
                }
            }
            return access::address_of(cx, inner, span).map(Checked::Value);
        }
    };
    let operand = expr::check(cx, inner)?;
    if let Some(object) = as_object(&operand)
        && let Some(called) = method::operator_call(cx, symbol, &[object], span, span)?
    {
        return Ok(called);
    }
    let value = match op {
        UnaryOp::PreInc | UnaryOp::PreDec => {
            assign::inc_dec(cx, operand, inner, op == UnaryOp::PreDec, true, span)?
        }
        _ => {
            let value = method::read_checked(cx, operand);
            unary(cx, op, value, span)?
        }
    };
    Ok(Checked::Value(value))
}

/// `e++`, `e--`; an object's operator has a second parameter that distinguishes it from `++e`.
pub(crate) fn postfix_expr(
    cx: &mut Checker<'_>,
    op: PostfixOp,
    inner: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let symbol = match op {
        PostfixOp::Inc => "++",
        PostfixOp::Dec => "--",
    };
    let operand = expr::check(cx, inner)?;
    if let Some(object) = as_object(&operand) {
        let marker = crate::sema::check::int(0, Ty::Int, span);
        if let Some(called) = method::operator_call(cx, symbol, &[object, marker], span, span)? {
            return Ok(called);
        }
    }
    let value = assign::inc_dec(cx, operand, inner, op == PostfixOp::Dec, false, span)?;
    Ok(Checked::Value(value))
}

/// `-e`, `+e`, `!e`, `~e`.
fn unary(cx: &mut Checker<'_>, op: UnaryOp, value: Value, span: Span) -> Result<Value, Reported> {
    let value = match (op, &value.ty) {
        (UnaryOp::Not, Ty::Record(_)) => convert::truth_value(cx, value)?,
        (UnaryOp::Not, _) => value,
        _ => method::as_number(cx, value)?,
    };
    let fits = match op {
        _ if cx.tables.is_scoped(&value.ty) => false,
        UnaryOp::BitNot => value.ty.is_integral(),
        UnaryOp::Not => value.ty.is_scalar(),
        _ => value.ty.is_arithmetic(),
    };
    if !fits {
        let symbol = match op {
            UnaryOp::BitNot => "~",
            UnaryOp::Not => "!",
            UnaryOp::Plus => "+",
            _ => "-",
        };
        return Err(cx.error(
            span,
            ExprError::Operand {
                symbol,
                ty: value.ty.clone(),
                value: value.span,
            },
        ));
    }
    let mut value = match op {
        UnaryOp::Not => {
            let value = convert::truth_value(cx, value)?;
            let kind = match value.kind {
                ValueKind::Int(bits) => ValueKind::Int(u64::from(bits == 0)),
                _ => ValueKind::Not(Box::new(value)),
            };
            Value::new(kind, Ty::Bool, span)
        }
        UnaryOp::BitNot => {
            let value = convert::promote(value);
            let ty = value.ty.clone();
            let kind = match value.kind {
                ValueKind::Int(bits) => ValueKind::Int(ty.wrap(!bits)),
                _ => ValueKind::BitNot(Box::new(value)),
            };
            Value::new(kind, ty, span)
        }
        UnaryOp::Neg => {
            let value = convert::promote(value);
            negate(value)
        }
        _ => convert::promote(value),
    };
    value.span = span;
    Ok(value)
}
