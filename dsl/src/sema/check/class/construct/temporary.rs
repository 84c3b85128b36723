//! Conversions by classes: constructors of one argument, conversion functions; copies, and unnamed objects.

use super::{assign_value, comma, local};
use crate::sema::check::{
    Body, Checker, Reported, Tables, construct, method, overload::Argument, reference, virtuals,
};
use crate::sema::{
    ty::{RecordId, Ty},
    typed::{FunctionId, Storage, Value, ValueKind, Var, VarId},
};
use ir::span::Span;

/// `S(a, b)`: an unnamed object.
pub(crate) fn construct(
    cx: &mut Checker<'_>,
    class: RecordId,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Value, Reported> {
    let ty = Ty::Record(class);
    virtuals::check_not_abstract(cx, &ty, span);
    let var = object(&cx.tables, &mut cx.body, ty.clone(), span);
    let place = local(var, ty.clone().into(), span);
    let load = Value::load(place.clone(), span);
    if args.is_empty() && !cx.tables.has_constructors(&ty) {
        // `S()` of a class without constructors is zeroed first.
        let zero = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
        let Some(call) = construct::construction(cx, place.clone(), args, span)? else {
            return Ok(zero);
        };
        let zero = assign_value(place, zero, span);
        return Ok(comma(comma(zero, call), load));
    }
    match construct::construction(cx, place, args, span)? {
        Some(call) => Ok(comma(call, load)),
        None => Err(cx.body.reported_before(span)),
    }
}

/// The variable of an unnamed object.
pub(crate) fn object(tables: &Tables, body: &mut Body, ty: Ty, span: Span) -> VarId {
    let var = variable(tables, body, ty, "temporary", span);
    body.vars[var].facts.is_temporary = true;
    var
}

/// A variable of the function that the program does not name.
pub(crate) fn variable(tables: &Tables, body: &mut Body, ty: Ty, name: &str, span: Span) -> VarId {
    body.add_var(plain_variable(tables, ty, name, span))
}

/// A variable with nothing but a type and a name.
pub(crate) fn plain_variable(tables: &Tables, ty: Ty, name: &str, span: Span) -> Var {
    Var {
        name: name.to_string(),
        align_bytes: tables.align_of(&ty),
        ty: ty.into(),
        storage: Storage::Auto,
        address_taken: false,
        is_reference: false,
        is_restrict: false,
        span,
    }
}

/// A class's value from which another object is made: the class may have a copy constructor.
pub(crate) fn copied(cx: &mut Checker<'_>, value: Value) -> Result<Value, Reported> {
    let Ty::Record(class) = value.ty else {
        return Ok(value);
    };
    if !cx.tables.needs_copy(&value.ty) {
        return Ok(value);
    }
    let span = value.span;
    if let ValueKind::Conditional(cond, yes, no) = value.kind {
        let (yes, no) = (copied(cx, *yes)?, copied(cx, *no)?);
        let kind = ValueKind::Conditional(cond, Box::new(yes), Box::new(no));
        return Ok(Value::new(kind, Ty::Record(class), span));
    }
    if matches!(value.kind, ValueKind::Assign(..)) {
        return Err(cx.unsupported("copying what an assignment of an object gives", span));
    }
    if reference::place_of(&value).is_none() && !virtuals::is_part(&cx.tables, &value, class) {
        return Ok(value);
    }
    if cx.body.id.is_none() {
        return Err(cx.unsupported("a copy of an object at file scope", span));
    }
    construct(cx, class, vec![Argument::Value(value)], span)
}

/// An object converted by a conversion function of its class.
pub(crate) fn call_conversion(
    cx: &mut Checker<'_>,
    id: FunctionId,
    value: Value,
) -> Result<Value, Reported> {
    let span = value.span;
    let name = cx.tables.functions[id].typed.name.clone();
    let called = method::call_member(cx, Some(value), &[id], &name, span, Vec::new(), span)?;
    Ok(method::read_checked(cx, called))
}
