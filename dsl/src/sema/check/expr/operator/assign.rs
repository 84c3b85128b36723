//! Assignments and `?:`: `=`, `+=`, `++`.

use super::{Family, as_object, binary_text, family, is_shift, needs_integers, text};
use crate::sema::check::{
    Checked, Checker, Reported, access, bits, cleanup,
    convert::{self, Why},
    expr, implicit, init, method, operator, reference, stmt, temporary,
};
use crate::sema::message::expr::{ExprError, OperandCure};
use crate::{
    sema::{
        classify::{Classify, common},
        ty::Ty,
        typed::{Arith, Place, Value, ValueKind},
    },
    syntax::ast::{self, BinaryOp, ExprKind},
};
use ir::span::{Span, Spanned};

pub(crate) fn inc_dec(
    cx: &mut Checker<'_>,
    operand: Checked,
    inner: &ast::Expr,
    decrement: bool,
    prefix: bool,
    span: Span,
) -> Result<Value, Reported> {
    let done = if decrement {
        "decremented"
    } else {
        "incremented"
    };
    let place = access::target_of(cx, operand, inner, done)?;
    let ty = place.ty.ty.clone();
    let fits = match &ty {
        Ty::Pointer(pointee) => cx.tables.size_of(&pointee.ty).is_some(),
        Ty::Bool | Ty::Enum(_) => false,
        other => other.is_arithmetic(),
    };
    if !fits {
        return Err(cx.error(
            span,
            ExprError::CannotBe {
                ty: ty.clone(),
                done,
            },
        ));
    }
    let kind = ValueKind::IncDec {
        place: Box::new(place),
        decrement,
        prefix,
    };
    Ok(Value::new(kind, ty, span))
}

/// `a = b`, `a += b`: the program's operator, if there is one for `a`.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    op: &Spanned<Option<BinaryOp>>,
    left: &ast::Expr,
    right: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let target = expr::check(cx, left);
    let value = match (&right.kind, &target) {
        (ExprKind::List(items), Ok(target)) if op.node.is_none() => {
            let ty = target.ty().clone();
            init::list_value(cx, &ty, items, right.span)
        }
        (ExprKind::List(_), Err(reported)) if op.node.is_none() => Err(*reported),
        _ => expr::value(cx, right),
    };
    let target = target?;
    let value = match value {
        Ok(value) => value,
        Err(reported) => {
            // The target may be invalid, too.
            access::target_of(cx, target, left, "assigned to")?;
            return Err(reported);
        }
    };
    let Some(object) = as_object(&target) else {
        let value = assign(cx, op, target, left, value, span)?;
        return Ok(Checked::Value(value));
    };
    let symbol = match op.node {
        None => "=".to_string(),
        Some(op) => format!("{}=", binary_text(op)),
    };
    let operands = [object, value];
    if let Some(called) = method::operator_call(cx, &symbol, &operands, op.span, span)? {
        return Ok(called);
    }
    let [_, value] = operands;
    let value = assign(cx, op, target, left, value, span)?;
    Ok(Checked::Value(value))
}

fn assign(
    cx: &mut Checker<'_>,
    op: &Spanned<Option<BinaryOp>>,
    target: Checked,
    left: &ast::Expr,
    value: Value,
    span: Span,
) -> Result<Value, Reported> {
    let place = access::target_of(cx, target, left, "assigned to")?;
    match op.node {
        Some(op_node) => compound_assign(cx, (op_node, op.span), place, left, value, span),
        None => plain_assign(cx, place, value, span),
    }
}

/// `place = value`.
fn plain_assign(
    cx: &mut Checker<'_>,
    place: Place,
    value: Value,
    span: Span,
) -> Result<Value, Reported> {
    let ty = place.ty.ty.clone();
    let is_class = matches!(&ty, Ty::Record(id) if cx.tables.classes.contains_key(id));
    let is_same = value.ty == ty;
    let mut value = if is_same {
        value
    } else {
        convert::implicit(cx, value, &ty, &Why::Assign)?
    };
    if let Ty::Record(class) = ty
        && is_class
    {
        if method::members_assign(&cx.tables, &cx.scopes, &ty) {
            return implicit::assign_members(cx, class, place, value, span);
        }
        if cleanup::is_unowned(&cx.tables, &value) {
            let place = cleanup::temporary_place(cx, value);
            value = method::place_value(place);
        }
    }
    let kind = ValueKind::Assign(Box::new(place), Box::new(value));
    Ok(Value::new(kind, ty, span))
}

/// `place op= value`.
fn compound_assign(
    cx: &mut Checker<'_>,
    (op, at): (BinaryOp, Span),
    place: Place,
    left: &ast::Expr,
    value: Value,
    span: Span,
) -> Result<Value, Reported> {
    let ty = place.ty.ty.clone();
    let Family::Arith(arith) = family(op) else {
        // The grammar has no such assignment, so this has been reported.
        return Err(cx.body.reported_before(span));
    };
    let value = method::as_number(cx, value)?;
    let operand = Value::new(ValueKind::Int(1), ty.clone(), left.span);
    let is_pointer = matches!(ty, Ty::Pointer(_));
    let fits = match &ty {
        Ty::Pointer(pointee) => {
            matches!(arith, Arith::Add | Arith::Sub)
                && value.ty.is_integral()
                && cx.tables.size_of(&pointee.ty).is_some()
        }
        left if needs_integers(arith) => left.is_integral() && value.ty.is_integral(),
        left => left.is_arithmetic() && value.ty.is_arithmetic(),
    };
    if !fits {
        let cure = (arith == Arith::Rem && ty.is_floating()).then_some(OperandCure::Fmodf);
        return Err(operator::bad_operands(
            &cx.tables,
            &mut cx.reporter,
            &format!("{}=", text(arith)),
            at,
            &operand,
            &value,
            cure,
        ));
    }
    let (value, compute) = if is_pointer {
        (convert::promote(value), ty.clone())
    } else if is_shift(arith) {
        let count = convert::promote(value);
        let compute = bits::promoted_place(&place);
        operator::warn_shift(cx, &compute, &count, at);
        (count, compute)
    } else {
        let value = bits::promoted_value(value);
        let compute = common(&bits::promoted_place(&place), &value.ty);
        let value = convert::to_type(value, &compute);
        operator::warn_zero(cx, arith, &value, at);
        (value, compute)
    };
    let kind = ValueKind::CompoundAssign {
        op: arith,
        place: Box::new(place),
        value: Box::new(value),
        compute,
    };
    Ok(Value::new(kind, ty, span))
}

/// Converts one operand of `?:` to the class of the other, if that is possible.
fn class_sides(cx: &mut Checker<'_>, yes: Value, no: Value) -> Result<(Value, Value), Reported> {
    Ok(match (&yes.ty, &no.ty) {
        (a, b) if a == b => (yes, no),
        (Ty::Record(a), Ty::Record(b)) if cx.tables.is_derived(*b, *a) => {
            let a = *a;
            let no = method::as_base(cx, no, a);
            (yes, no)
        }
        (Ty::Record(class), _)
            if cx
                .tables
                .converting_constructor(&no, *class, false)
                .is_some() =>
        {
            let ty = yes.ty.clone();
            let no = convert::implicit(cx, no, &ty, &Why::Operand)?;
            (yes, no)
        }
        (_, Ty::Record(class))
            if cx
                .tables
                .converting_constructor(&yes, *class, false)
                .is_some() =>
        {
            let ty = no.ty.clone();
            let yes = convert::implicit(cx, yes, &ty, &Why::Operand)?;
            (yes, no)
        }
        (Ty::Record(_), _) => (method::as_number(cx, yes)?, no),
        (_, Ty::Record(_)) => {
            let no = method::as_number(cx, no)?;
            (yes, no)
        }
        _ => (yes, no),
    })
}

/// `c ? a : b`.
pub(crate) fn conditional(
    cx: &mut Checker<'_>,
    cond: &ast::Expr,
    yes: &ast::Expr,
    no: &ast::Expr,
    span: Span,
) -> Result<Value, Reported> {
    let cond = stmt::condition(cx, cond);
    // Only one of them is evaluated, so its temporaries end with it.
    let mark = cx.body.flow.temporaries.len();
    let yes = expr::value(cx, yes).and_then(|yes| cleanup::ended(cx, mark, yes));
    let no = expr::value(cx, no).and_then(|no| cleanup::ended(cx, mark, no));
    let (cond, yes, no) = (cond?, yes?, no?);
    let (yes, no) = class_sides(cx, yes, no)?;
    let (yes, no, ty) = if yes.ty == no.ty {
        let ty = yes.ty.clone();
        if reference::place_of(&yes).is_some() == reference::place_of(&no).is_some() {
            (yes, no, ty)
        } else {
            (temporary::copied(cx, yes)?, temporary::copied(cx, no)?, ty)
        }
    } else if yes.ty.is_arithmetic() && no.ty.is_arithmetic() {
        convert::usual(yes, no)
    } else if let Some(ty) = operator::common_pointer(&cx.tables, &yes, &no) {
        (
            operator::pointer_operand(yes, &ty),
            operator::pointer_operand(no, &ty),
            ty,
        )
    } else {
        return Err(operator::bad_operands(
            &cx.tables,
            &mut cx.reporter,
            "?:",
            span,
            &yes,
            &no,
            None,
        ));
    };
    let kind = ValueKind::Conditional(Box::new(cond), Box::new(yes), Box::new(no));
    Ok(Value::new(kind, ty, span))
}
