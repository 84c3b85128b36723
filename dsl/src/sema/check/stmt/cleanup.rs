//! Destructors: what runs when the block of an object ends, in whichever way control leaves it.
//!
//! Each open block has a list of its objects. Its end, a `return`, a `break` or a `continue` destroys those of the blocks that are left,
//! the youngest first; a returned value is computed before.
//!
//! A value of a class belongs to its destination: the variable, member or parameter that it initialises, or the caller that it is returned
//! to. If its place is needed instead (for a member function's object, or a reference argument), the value becomes a temporary variable,
//! which is destroyed when the full expression ends.

use crate::sema::check::{
    Body, Checked, Checker, Reported, Tables, access,
    construct::{assign_value, comma, local},
    implicit, method, temporary,
};
use crate::sema::{
    classify::pointer_to,
    ty::{QualTy, Ty},
    typed::{Init, Place, PlaceKind, Stmt, StmtKind, Value, ValueKind, VarId, VarRef},
};
use ir::span::Span;

pub(crate) fn enter(body: &mut Body) {
    body.flow.cleanups.push(Vec::new());
}

/// Ends the block, unless its last statement has left it already.
pub(crate) fn leave(cx: &mut Checker<'_>, out: &mut Vec<Stmt>, span: Span) {
    let objects = cx.body.flow.cleanups.pop().unwrap_or_default();
    if !objects.is_empty() && crate::sema::check::stmt::falls_through(out) {
        destroy_all(cx, &objects, span, out);
    }
}

/// Records a variable that is destroyed when its block ends.
pub(crate) fn note_object(tables: &Tables, body: &mut Body, var: VarId) {
    let ty = body.vars[var].typed.ty.ty.clone();
    if !tables.has_destructor(&ty) {
        return;
    }
    if let Some(block) = body.flow.cleanups.last_mut() {
        block.push(var);
    }
}

/// Destroys the objects of the blocks from `depth` on, except one that is returned.
pub(crate) fn destroy_from(
    cx: &mut Checker<'_>,
    depth: usize,
    returned: Option<VarId>,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let mut blocks: Vec<Vec<VarId>> = cx
        .body
        .flow
        .cleanups
        .get(depth..)
        .unwrap_or_default()
        .to_vec();
    for objects in blocks.iter_mut().rev() {
        objects.retain(|&var| Some(var) != returned);
        destroy_all(cx, objects, span, out);
    }
}

/// Whether leaving the function destroys anything.
pub(crate) fn has_cleanups(body: &Body) -> bool {
    body.flow.cleanups.iter().any(|block| !block.is_empty())
}

/// Whether the value is a separate object that no other code destroys.
pub(crate) fn is_unowned(tables: &Tables, value: &Value) -> bool {
    tables.has_destructor(&value.ty) && is_prvalue(value)
}

/// Makes a temporary of an object that is only a value.
pub(crate) fn temporary_place(cx: &mut Checker<'_>, value: Value) -> Place {
    let (ty, span) = (value.ty.clone(), value.span);
    if cx.body.id.is_none() {
        cx.unsupported("a temporary object with a destructor at file scope", span);
    }
    // An object that a constructor has made is already in a variable.
    let (var, first) = match value.kind {
        ValueKind::Comma(first, object) if made_variable(&cx.body, &object).is_some() => {
            let made = made_variable(&cx.body, &object);
            (made.unwrap_or(VarId(0)), *first)
        }
        kind => {
            let var = temporary::object(&cx.tables, &mut cx.body, ty.clone(), span);
            let place = local(var, ty.clone().into(), span);
            (var, assign_value(place, Value { kind, ..value }, span))
        }
    };
    let place = local(var, ty.clone().into(), span);
    access::take_address(&mut cx.body, &cx.mode, &place);
    if cx.mode.unevaluated == 0 {
        cx.body.flow.temporaries.push(var);
    }
    let address = Value::new(
        ValueKind::AddressOf(Box::new(place)),
        pointer_to(ty.clone().into()),
        span,
    );
    Place::new(
        PlaceKind::Deref(Box::new(comma(first, address))),
        ty.into(),
        span,
    )
}

fn made_variable(body: &Body, object: &Value) -> Option<VarId> {
    match &object.kind {
        ValueKind::Load(place) => match place.kind {
            PlaceKind::Var(VarRef::Local(var)) if body.vars[var].facts.is_temporary => Some(var),
            _ => None,
        },
        _ => None,
    }
}

/// An unused value: if it is an object, it is destroyed.
pub(crate) fn discarded(cx: &mut Checker<'_>, value: Value) -> Value {
    if !is_unowned(&cx.tables, &value) {
        return value;
    }
    let place = temporary_place(cx, value);
    method::place_value(place)
}

/// Destroys the temporaries of a statement that ends here.
pub(crate) fn end_temporaries(cx: &mut Checker<'_>, span: Span, out: &mut Vec<Stmt>) {
    let temporaries = std::mem::take(&mut cx.body.flow.temporaries);
    if !temporaries.is_empty() && crate::sema::check::stmt::falls_through(out) {
        destroy_all(cx, &temporaries, span, out);
    }
}

/// The value, followed by the destruction of the temporaries made since there were `mark` of them.
pub(crate) fn ended(cx: &mut Checker<'_>, mark: usize, value: Value) -> Result<Value, Reported> {
    if cx.body.flow.temporaries.len() <= mark {
        return Ok(value);
    }
    let temporaries = cx.body.flow.temporaries.split_off(mark);
    let (ty, span) = (value.ty.clone(), value.span);
    if matches!(ty, Ty::Pointer(_)) || (cx.tables.needs_copy(&ty) && !is_prvalue(&value)) {
        return Err(cx.unsupported("a temporary object with a destructor here", span));
    }
    let mut stmts = Vec::new();
    destroy_all(cx, &temporaries, span, &mut stmts);
    let ends = as_values(cx, stmts, span);
    if ty == Ty::Void {
        return Ok(ends.into_iter().fold(value, comma));
    }
    let var = temporary::variable(&cx.tables, &mut cx.body, ty.clone(), "value", span);
    let place = local(var, ty.into(), span);
    let kept = assign_value(place.clone(), value, span);
    let ended = ends.into_iter().fold(kept, comma);
    Ok(comma(ended, method::place_value(place)))
}

/// Converts calls of destructors to values, for use inside an expression.
pub(crate) fn as_values(cx: &mut Checker<'_>, stmts: Vec<Stmt>, span: Span) -> Vec<Value> {
    let mut values = Vec::new();
    for stmt in stmts {
        match stmt.kind {
            StmtKind::Expr(value) => values.push(value),
            _ => {
                cx.unsupported(
                    "a temporary with an array of objects with destructors",
                    span,
                );
            }
        }
    }
    values
}

/// A value that is returned after destructors run, stored in a variable before.
pub(crate) fn kept(tables: &Tables, body: &mut Body, value: Value, out: &mut Vec<Stmt>) -> Value {
    let span = value.span;
    let ty = value.ty.clone();
    let var = temporary::variable(tables, body, ty.clone(), "result", span);
    out.push(Stmt::new(
        StmtKind::Declare(var, Some(Init::Value(value))),
        span,
    ));
    Value::load(local(var, ty.into(), span), span)
}

fn destroy_all(cx: &mut Checker<'_>, objects: &[VarId], span: Span, out: &mut Vec<Stmt>) {
    for &var in objects.iter().rev() {
        let ty = cx.body.vars[var].typed.ty.clone();
        let place = local(
            var,
            QualTy {
                is_const: false,
                is_volatile: false,
                ..ty
            },
            span,
        );
        destroy(cx, place, span, out);
    }
}

/// Ends an object: calls its destructor, or those of its members.
pub(crate) fn destroy(cx: &mut Checker<'_>, place: Place, span: Span, out: &mut Vec<Stmt>) {
    if let Ty::Array(_, n) = place.ty.ty {
        let n = n.unwrap_or(0);
        return implicit::each(cx, n, span, out, &mut |cx, index, out| {
            let element = implicit::element_from_end(&place, n, index, span);
            destroy(cx, element, span, out);
        });
    }
    let Ty::Record(class) = place.ty.ty else {
        return;
    };
    let destructor = cx
        .tables
        .classes
        .get(&class)
        .and_then(|facts| facts.destructor);
    let Some(id) = destructor else {
        return destroy_members(cx, place, span, out);
    };
    let name = cx.tables.functions[id].typed.name.clone();
    let object = method::place_value(place);
    let called = method::call_member(cx, Some(object), &[id], &name, span, Vec::new(), span);
    if let Some(Checked::Value(value)) = cx.body.part(called) {
        out.push(Stmt::new(StmtKind::Expr(value), span));
    }
}

/// The destruction of members after a destructor's own code.
pub(crate) fn destroy_members(cx: &mut Checker<'_>, place: Place, span: Span, out: &mut Vec<Stmt>) {
    let Ty::Record(class) = place.ty.ty else {
        return;
    };
    let n = cx.tables.record(class).fields.len() as u32;
    for index in (0..n).rev() {
        let member = cx.tables.field_place(place.clone(), index, span);
        if !cx.tables.has_destructor(&member.ty.ty) {
            continue;
        }
        destroy(cx, member, span, out);
    }
}

/// Whether the value was not read from a place, but is made here.
pub(crate) fn is_prvalue(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Load(place) => access::is_temporary(place),
        ValueKind::Conditional(_, yes, no) => is_prvalue(yes) || is_prvalue(no),
        ValueKind::Assign(..) => false,
        _ => true,
    }
}
