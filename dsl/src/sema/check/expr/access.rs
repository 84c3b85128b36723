//! Places: indexing, members, `*` and `&`, and which places may be assigned to.

use crate::sema::check::{
    Body, Checked, Checker, Mode, Reported, Reporter, Side, Tables, bits, cleanup, convert,
    expr::{self, special_value, with_qualifiers},
    int, method,
    pointer_call::{known_function, pointed_function},
    reference, temporary, this, unknown, virtuals,
};
use crate::sema::message::expr::ExprError;
use crate::sema::path;
use crate::{
    sema::{
        builtin::{self, Entry},
        classify::{Classify, pointer_to, promoted},
        const_eval::{self, Const},
        scope::Entity,
        ty::{QualTy, RecordId, Ty},
        typed::{FunctionId, GlobalSpace, Place, PlaceKind, Value, ValueKind, VarRef},
    },
    syntax::ast::{self, ExprKind},
};
use ir::span::Span;

/// `a[i]`.
pub(crate) fn index(
    cx: &mut Checker<'_>,
    base: &ast::Expr,
    index: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let base = expr::check(cx, base);
    let index = expr::value(cx, index);
    let (base, index) = (base?, index?);
    if matches!(base.ty(), Ty::Record(_)) {
        let object = base.into_value();
        let at = object.span;
        let operands = [object, index];
        if let Some(called) = method::operator_call(cx, "[]", &operands, at, span)? {
            return Ok(called);
        }
        let [object, index] = operands;
        let pointer = as_pointer(cx, object)?;
        return pointer_index(&cx.tables, &mut cx.reporter, pointer, index, span);
    }
    let index = method::as_number(cx, index)?;
    // `i[a]` is `a[i]`.
    if base.ty().is_integral() && matches!(index.ty, Ty::Pointer(_)) {
        let number = method::read_checked(cx, base);
        return pointer_index(&cx.tables, &mut cx.reporter, index, number, span);
    }
    match base {
        Checked::Place(place) if let Some(ty) = element_type(&place) => {
            let index = index_value(&cx.tables, &mut cx.reporter, index)?;
            Ok(Checked::Place(element(place, index, ty, span)))
        }
        other => {
            let pointer = method::read_checked(cx, other);
            pointer_index(&cx.tables, &mut cx.reporter, pointer, index, span)
        }
    }
}

/// Converts an object to a pointer, if its class has such a conversion.
fn as_pointer(cx: &mut Checker<'_>, object: Value) -> Result<Value, Reported> {
    let Ty::Record(class) = &object.ty else {
        return Ok(object);
    };
    let mut pointers = cx.tables.conversions(*class);
    pointers.retain(|id| matches!(cx.tables.functions[*id].typed.result, Ty::Pointer(_)));
    // The object's constness decides between `operator T *()` and `operator const T *() const`.
    let is_const = reference::place_of(&object).is_some_and(|place| place.ty.is_const);
    let takes_const = |id: &FunctionId| {
        let this = cx.tables.functions[*id].facts.params.first();
        this.is_some_and(|this| this.ty.is_const)
    };
    if pointers.iter().any(|id| takes_const(id) == is_const) {
        pointers.retain(|id| takes_const(id) == is_const);
    }
    match pointers[..] {
        [id] => temporary::call_conversion(cx, id, object),
        _ => Ok(object),
    }
}

fn pointer_index(
    tables: &Tables,
    reporter: &mut Reporter,
    pointer: Value,
    index: Value,
    span: Span,
) -> Result<Checked, Reported> {
    let pointee = pointee(tables, reporter, &pointer, "indexed")?;
    let index = index_value(tables, reporter, index)?;
    let kind = PlaceKind::PointerIndex(Box::new(pointer), Box::new(index));
    Ok(Checked::Place(Place::new(kind, pointee, span)))
}

/// The type that a pointer points to, which must have a size; reports otherwise.
pub(crate) fn pointee(
    tables: &Tables,
    reporter: &mut Reporter,
    pointer: &Value,
    done: &'static str,
) -> Result<QualTy, Reported> {
    let message = match &pointer.ty {
        Ty::Pointer(pointee) if pointee.ty == Ty::Void => {
            ExprError::VoidPointerHasNoElements { done }
        }
        Ty::Pointer(pointee)
            if tables.size_of(&pointee.ty).is_none() && !matches!(pointee.ty, Ty::Array(..)) =>
        {
            let ty = pointee.ty.clone();
            ExprError::PointerToIncomplete { ty, done }
        }
        Ty::Pointer(pointee) => return Ok(pointee.as_ref().clone()),
        other => {
            let ty = other.clone();
            ExprError::NoArrayOrPointer { ty, done }
        }
    };
    Err(reporter.error(tables, pointer.span, message))
}

fn index_value(tables: &Tables, reporter: &mut Reporter, index: Value) -> Result<Value, Reported> {
    if !index.ty.is_integral() {
        let ty = index.ty.clone();
        return Err(reporter.error(tables, index.span, ExprError::IndexType { ty }));
    }
    let to = promoted(&index.ty);
    Ok(convert::to_type(index, &to))
}

/// `*p`.
pub(crate) fn deref(
    cx: &mut Checker<'_>,
    inner: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    if matches!(inner.kind, ExprKind::This) {
        return match cx.body.this_place(span) {
            Some(place) => Ok(Checked::Place(place)),
            None => Err(this::no_this(cx, "`this`", inner.span)),
        };
    }
    let pointer = match expr::check(cx, inner)? {
        Checked::Place(place) if let Some(ty) = element_type(&place) => {
            let first = element(place, int(0, Ty::Int, span), ty, span);
            return Ok(Checked::Place(first));
        }
        operand if matches!(operand.ty(), Ty::Record(_)) => {
            let object = operand.into_value();
            let operands = std::slice::from_ref(&object);
            if let Some(called) = method::operator_call(cx, "*", operands, span, span)? {
                return Ok(called);
            }
            match method::operator_call(cx, "->", operands, span, span)? {
                Some(called) => method::read_checked(cx, called),
                None => as_pointer(cx, object)?,
            }
        }
        operand => {
            let value = method::read_checked(cx, operand);
            // Dereferencing a function any number of times yields its address.
            if pointed_function(&value.ty).is_some() {
                return Ok(Checked::Value(Value { span, ..value }));
            }
            if let ValueKind::AddressOf(place) = value.kind {
                return Ok(Checked::Place(Place { span, ..*place }));
            }
            value
        }
    };
    let ty = pointee(&cx.tables, &mut cx.reporter, &pointer, "dereferenced")?;
    let kind = PlaceKind::Deref(Box::new(pointer));
    Ok(Checked::Place(Place::new(kind, ty, span)))
}

/// `&e`.
pub(crate) fn address_of(
    cx: &mut Checker<'_>,
    inner: &ast::Expr,
    span: Span,
) -> Result<Value, Reported> {
    let place = match expr::check(cx, inner)? {
        Checked::Place(place) if !is_temporary(&place) => place,
        Checked::Value(value) if pointed_function(&value.ty).is_some() => return Ok(value),
        _ => {
            let text = cx.map.snippet(inner.span).to_string();
            return Err(cx.error(span, ExprError::NoAddress { text }));
        }
    };
    if bits::of_place(&place).is_some() {
        let text = cx.map.snippet(inner.span).to_string();
        return Err(cx.error(span, ExprError::BitFieldAddress { text }));
    }
    take_address(&mut cx.body, &cx.mode, &place);
    if let Some(VarRef::Global(global)) = root(&place) {
        let global = &cx.tables.globals[global].typed;
        if global.space == GlobalSpace::Host {
            let diagnostic = cx.tables.diagnostic(
                span,
                ExprError::HostVariableAddressInDevice {
                    name: global.name.to_string(),
                    declared: global.span,
                },
            );
            cx.on_side(Side::Device, diagnostic);
        }
    }
    let ty = pointer_to(place.ty.clone());
    let kind = match place.kind {
        // `&*p` and `&p[i]` do not touch memory.
        PlaceKind::Deref(pointer) if pointer.ty == ty => pointer.kind,
        kind => ValueKind::AddressOf(Box::new(Place { kind, ..place })),
    };
    Ok(Value::new(kind, ty, span))
}

/// Marks the variable that a place is in as one that needs memory.
pub(crate) fn take_address(body: &mut Body, mode: &Mode, place: &Place) {
    if let Some(VarRef::Local(var)) = root(place)
        && mode.unevaluated == 0
    {
        body.vars[var].typed.address_taken = true;
    }
}

/// `e.name`.
pub(crate) fn member(
    cx: &mut Checker<'_>,
    base: &ast::Expr,
    name: &ast::Name,
    span: Span,
) -> Result<Checked, Reported> {
    if let ExprKind::Name(of) = &base.kind
        && cx.scopes.find(of).is_none()
        && let Some(Entry::Index(special, _)) = builtin::find(of)
    {
        let of = of.clone();
        let Some(axis) = ["x", "y", "z"].iter().position(|axis| **axis == *name.node) else {
            let members = ["x", "y", "z"].map(String::from);
            return Err(unknown::member(
                &cx.tables,
                &mut cx.reporter,
                &format!("`{of}`"),
                &name.node,
                name.span,
                &members,
                None,
            ));
        };
        expr::require_device(cx, &of, base.span);
        return Ok(Checked::Value(special_value(special[axis], span)));
    }
    let place = match expr::check(cx, base)? {
        Checked::Place(place) => place,
        Checked::Value(value) => {
            let value = cleanup::discarded(cx, value);
            method::as_place(value)
        }
    };
    if let Ty::Pointer(_) = &place.ty.ty {
        let text = cx.map.snippet(base.span).to_string();
        return Err(cx.error(
            span,
            ExprError::PointerHasNoMembers {
                text: text.to_string(),
                name: name.node.to_string(),
            },
        ));
    }
    field(cx, place, name, span)
}

/// `e->name`.
pub(crate) fn arrow(
    cx: &mut Checker<'_>,
    base: &ast::Expr,
    name: &ast::Name,
    span: Span,
) -> Result<Checked, Reported> {
    if matches!(base.kind, ExprKind::This) {
        return match deref(cx, base, base.span)? {
            Checked::Place(place) => field(cx, place, name, span),
            value => Ok(value),
        };
    }
    let mut pointer = expr::value(cx, base)?;
    if matches!(pointer.ty, Ty::Record(_))
        && let Some(called) =
            method::operator_call(cx, "->", std::slice::from_ref(&pointer), span, span)?
    {
        pointer = method::read_checked(cx, called);
    }
    if matches!(pointer.ty, Ty::Record(_)) {
        let text = cx.map.snippet(base.span).to_string();
        let name = name.node.to_string();
        return Err(cx.error(span, ExprError::NotAPointer { text, name }));
    }
    let ty = pointee(&cx.tables, &mut cx.reporter, &pointer, "followed with `->`")?;
    let place = Place::new(PlaceKind::Deref(Box::new(pointer)), ty, base.span);
    field(cx, place, name, span)
}

/// The place of an error in a class or a base of it.
pub(crate) fn broken(tables: &Tables, class: RecordId) -> Option<Span> {
    let mut next = Some(class);
    while let Some(class) = next {
        if let Some(why) = tables.broken_records.get(&class) {
            return Some(why.primary.span);
        }
        next = tables.base(class);
    }
    None
}

pub(crate) fn field(
    cx: &mut Checker<'_>,
    place: Place,
    name: &ast::Name,
    span: Span,
) -> Result<Checked, Reported> {
    let id = match &place.ty.ty {
        Ty::Record(id) => {
            let (class, last) = match path::split(&name.node) {
                Some((_, last)) => (cx.scopes.split_path(&name.node).map(|(id, _)| id), last),
                None => (None, &*name.node),
            };
            this::check_access(cx, *id, last, name.span);
            if let Some(member) = static_member_of(cx, *id, last, name.span)? {
                return Ok(member);
            }
            if let Some(class) = class {
                let name = ast::Name::new(last.into(), name.span);
                if matches!(&place.ty.ty, Ty::Record(id) if *id != class) {
                    return field(cx, cx.tables.base_place(place, class), &name, span);
                }
            }
            *id
        }
        other => {
            return Err(cx.error(name.span, ExprError::HasNoMembers { ty: other.clone() }));
        }
    };
    let mut path = Vec::new();
    if !cx.tables.find_field(id, &name.node, &mut path) {
        // The member may be missing because of an error in the class.
        if let Some(declared) = broken(&cx.tables, id) {
            return Err(cx.body.unknown(span, Some(declared)));
        }
        let record = cx.tables.record(id);
        let members: Vec<_> = record
            .fields
            .iter()
            .map(|field| field.name.clone())
            .filter(|name| !name.is_empty() && !virtuals::is_mark_name(name))
            .collect();
        let (of, declared) = (format!("`{}`", record.name), record.span);
        return Err(unknown::member(
            &cx.tables,
            &mut cx.reporter,
            &of,
            &name.node,
            name.span,
            &members,
            declared,
        ));
    }
    let mut place = place;
    for index in path {
        place = cx.tables.field_place(place, index, span);
    }
    cx.body.known(&place.ty.ty, span)?;
    Ok(Checked::Place(place))
}

/// A member of a class without an object: a static member, an enumerator; or a function, which is not called here.
fn static_member_of(
    cx: &mut Checker<'_>,
    class: RecordId,
    name: &str,
    span: Span,
) -> Result<Option<Checked>, Reported> {
    let found = cx.scopes.find_in_class(class, name);
    match found.map(|(_, binding)| binding.entity.clone()) {
        Some(entity @ (Entity::Global(_) | Entity::Enumerator(..) | Entity::Error)) => {
            expr::entity(cx, &name.into(), Some(entity), span).map(Some)
        }
        Some(Entity::Functions(_)) => {
            let name = name.to_string();
            Err(cx.error(span, ExprError::FunctionNotCalled { name }))
        }
        _ => Ok(None),
    }
}

/// The expression as a place that may be written; reports otherwise.
pub(crate) fn target_of(
    cx: &mut Checker<'_>,
    checked: Checked,
    expr: &ast::Expr,
    done: &'static str,
) -> Result<Place, Reported> {
    let checked = match checked {
        Checked::Value(value) if matches!(value.kind, ValueKind::Conditional(..)) => {
            let value = reference::as_place_value(&mut cx.body, &cx.mode, value);
            match reference::place_of(&value) {
                Some(place) => Checked::Place(place.clone()),
                None => Checked::Value(value),
            }
        }
        place => place,
    };
    let place = match checked {
        Checked::Place(place) if !is_temporary(&place) => place,
        Checked::Value(value) if known_function(&value).is_some() => {
            let text = cx.map.snippet(expr.span).to_string();
            return Err(cx.error(expr.span, ExprError::FunctionChanged { text, done }));
        }
        _ => {
            let text = cx.map.snippet(expr.span).to_string();
            return Err(cx.error(expr.span, ExprError::ValueChanged { text, done }));
        }
    };
    if let Ty::Array(..) = place.ty.ty {
        let text = cx.map.snippet(expr.span).to_string();
        return Err(cx.error(expr.span, ExprError::WholeArrayChanged { text, done }));
    }
    if place.ty.is_const {
        return Err(report_const(cx, &place, expr, done));
    }
    if let Some(VarRef::Global(global)) = root(&place) {
        let global = &cx.tables.globals[global].typed;
        if global.space == GlobalSpace::Constant {
            let diagnostic = cx.tables.diagnostic(
                expr.span,
                ExprError::ConstantMemoryWritten {
                    name: global.name.to_string(),
                    declared: global.span,
                },
            );
            cx.on_side(Side::Device, diagnostic);
        }
    }
    check_bounds(cx, &place);
    Ok(place)
}

fn report_const(
    cx: &mut Checker<'_>,
    place: &Place,
    expr: &ast::Expr,
    done: &'static str,
) -> Reported {
    let text = cx.map.snippet(expr.span).to_string();
    let declared = match root(place).or_else(|| pointer_root(place)) {
        Some(VarRef::Local(var)) => Some(cx.body.vars[var].typed.span),
        Some(VarRef::Global(global)) => Some(cx.tables.globals[global].typed.span),
        None => None,
    };
    cx.error(
        expr.span,
        ExprError::ConstChanged {
            text,
            done,
            declared,
        },
    )
}

/// Warns about a constant index outside of a declared array.
pub(crate) fn check_bounds(cx: &mut Checker<'_>, place: &Place) {
    let (PlaceKind::ArrayIndex(base, _) | PlaceKind::Field(base, _) | PlaceKind::BitField(base, _)) =
        &place.kind
    else {
        return;
    };
    check_bounds(cx, base);
    let PlaceKind::ArrayIndex(base, index) = &place.kind else {
        return;
    };
    let Ty::Array(_, Some(n)) = base.ty.ty else {
        return;
    };
    let Ok(Const::Int(bits)) = const_eval::evaluate(index) else {
        return;
    };
    let is_negative = index.ty.is_signed() && (bits as i64) < 0;
    if cx.mode.unevaluated > 0 || (!is_negative && bits < n) {
        return;
    }
    let text = cx.map.snippet(base.span);
    let shown = if is_negative {
        (bits as i64).to_string()
    } else {
        bits.to_string()
    };
    let message = ExprError::IndexOutOfBounds {
        index: shown,
        text: text.to_string(),
        n,
        last: n - 1,
    };
    cx.error(place.span, message);
}

/// The type of an array's elements.
fn element_type(place: &Place) -> Option<QualTy> {
    match &place.ty.ty {
        Ty::Array(element, _) => Some(with_qualifiers(element, &place.ty)),
        _ => None,
    }
}

/// `a[i]` of an array place.
fn element(base: Place, index: Value, ty: QualTy, span: Span) -> Place {
    Place::new(
        PlaceKind::ArrayIndex(Box::new(base), Box::new(index)),
        ty,
        span,
    )
}

/// The variable that a place is part of; `None` through a pointer.
pub(crate) fn root(place: &Place) -> Option<VarRef> {
    match &place.kind {
        PlaceKind::Var(var) => Some(*var),
        PlaceKind::ArrayIndex(base, _)
        | PlaceKind::Field(base, _)
        | PlaceKind::BitField(base, _) => root(base),
        PlaceKind::Deref(_)
        | PlaceKind::ReadOnly(_)
        | PlaceKind::PointerIndex(..)
        | PlaceKind::Temporary(_) => None,
    }
}

/// The pointer variable that a place is reached through.
fn pointer_root(place: &Place) -> Option<VarRef> {
    match &place.kind {
        PlaceKind::Deref(pointer)
        | PlaceKind::ReadOnly(pointer)
        | PlaceKind::PointerIndex(pointer, _) => match &pointer.kind {
            ValueKind::Load(place) => root(place),
            _ => None,
        },
        PlaceKind::ArrayIndex(base, _)
        | PlaceKind::Field(base, _)
        | PlaceKind::BitField(base, _) => pointer_root(base),
        PlaceKind::Var(_) | PlaceKind::Temporary(_) => None,
    }
}

pub(crate) fn is_temporary(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Temporary(_) => true,
        PlaceKind::ArrayIndex(base, _)
        | PlaceKind::Field(base, _)
        | PlaceKind::BitField(base, _) => is_temporary(base),
        PlaceKind::Var(_)
        | PlaceKind::Deref(_)
        | PlaceKind::ReadOnly(_)
        | PlaceKind::PointerIndex(..) => false,
    }
}
