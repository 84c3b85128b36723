//! Calls of member functions and operators.

use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, Tables, access, allocate, attempt, call, cleanup, expr,
    function_template,
    overload::{self, Argument, Best, Rank, best},
    pointer_call::{self, pointed_function},
    template, temporary, this,
};
use crate::{
    sema::{
        classify::Classify,
        scope::{Callable, Entity},
        ty::{RecordId, Ty},
        typed::{FunctionId, Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::{self, ExprKind},
};
use ir::span::Span;

/// `object.f(a, b)` and `pointer->f(a, b)`.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    base: &ast::Expr,
    is_arrow: bool,
    (name, explicit): (&ast::Name, Option<&[ast::TemplateArg]>),
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let object = if is_arrow {
        arrow_object(cx, base)
    } else {
        object(cx, base)
    };
    let object = match object {
        Ok(object) => object,
        Err(reported) => {
            call::check_args_alone(cx, args);
            return Err(reported);
        }
    };
    if name.node.starts_with('~') {
        call::check_args_alone(cx, args);
        return allocate::destructor_call(cx, object, span);
    }
    let (scope, last) = match path::split(&name.node) {
        Some((_, last)) => (cx.scopes.split_path(&name.node).map(|(id, _)| id), last),
        None => (None, &*name.node),
    };
    let found = match object.ty {
        Ty::Record(class) => cx.scopes.find_in_class(scope.unwrap_or(class), last),
        _ => None,
    };
    let found = found.map(|(owner, binding)| (owner, binding.entity.clone()));
    let Some((owner, Entity::Functions(set))) = found else {
        return call_of_member(cx, object, name, args, span);
    };
    this::check_access(cx, owner, last, name.span);
    let object = as_base(cx, object, owner);
    let values = overload::arguments(cx, args);
    let ids = members(cx, &set, explicit, &values, name);
    match scope {
        // `object.Base::f()` calls that function, even if it is overridden.
        Some(_) => call_exactly(cx, Some(object), &ids, last, name.span, values, span),
        None => call_member(cx, Some(object), &ids, last, name.span, values, span),
    }
}

/// The member functions that a call can mean, instances of member templates among them.
fn members(
    cx: &mut Checker<'_>,
    set: &[Callable],
    explicit: Option<&[ast::TemplateArg]>,
    values: &[Argument<'_>],
    name: &ast::Name,
) -> Vec<FunctionId> {
    let mut ids = match explicit {
        None => overload::functions_of(cx, set),
        Some(_) => Vec::new(),
    };
    if cx.instances.class_of_templates(set).is_some() {
        let mut misfits = Vec::new();
        let at = name.span;
        ids.extend(template::instances_giving(
            cx,
            set,
            explicit,
            values,
            None,
            at,
            &mut misfits,
        ));
        if ids.is_empty() && !function_template::is_endless(&cx.reporter, &name.node) {
            let name = name.node.to_string();
            let message = ClassError::TemplateDoesNotFit { name: name.clone() };
            let diagnostic = attempt::with_misfits(
                &cx.tables,
                &cx.instances,
                cx.tables.diagnostic(at, message),
                &name,
                misfits,
            );
            cx.reporter.report(diagnostic);
        }
    } else if explicit.is_some() {
        cx.error(
            name.span,
            ClassError::MemberIsNoTemplate {
                name: name.node.to_string(),
            },
        );
    }
    ids
}

/// A call of a member that is not a function: it may be a callable object.
fn call_of_member(
    cx: &mut Checker<'_>,
    object: Value,
    name: &ast::Name,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let base = as_place(object);
    match access::field(cx, base, name, name.span) {
        Ok(member) => {
            let value = read_checked(cx, member);
            call_object(cx, value, name.span, args, span)
        }
        Err(reported) => {
            call::check_args_alone(cx, args);
            Err(reported)
        }
    }
}

/// `object(a, b)`.
pub(crate) fn call_object(
    cx: &mut Checker<'_>,
    object: Value,
    at: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    if let Some(function) = pointed_function(&object.ty).cloned() {
        return pointer_call::call_pointer(cx, object, &function, at, args, span);
    }
    let found = match object.ty {
        Ty::Record(class) => cx.scopes.find_in_class(class, "operator()"),
        _ => None,
    };
    let found = found.map(|(owner, binding)| (owner, binding.entity.clone()));
    let Some((owner, Entity::Functions(set))) = found else {
        let ty = object.ty.clone();
        let reported = cx.error(at, ClassError::NotCallable { ty });
        call::check_args_alone(cx, args);
        return Err(reported);
    };
    let object = as_base(cx, object, owner);
    let values = overload::arguments(cx, args);
    let name = ast::Name::new("operator()".into(), at);
    let ids = members(cx, &set, None, &values, &name);
    call_member(cx, Some(object), &ids, "operator()", at, values, span)
}

/// The value before `.f(…)`.
fn object(cx: &mut Checker<'_>, base: &ast::Expr) -> Result<Value, Reported> {
    expr::check(cx, base).map(Checked::into_value)
}

/// The object that the value before `->f(…)` points to.
fn arrow_object(cx: &mut Checker<'_>, base: &ast::Expr) -> Result<Value, Reported> {
    if matches!(base.kind, ExprKind::This) {
        let Some(place) = cx.body.this_place(base.span) else {
            return Err(this::no_this(cx, "`this`", base.span));
        };
        return Ok(place_value(place));
    }
    access::deref(cx, base, base.span).map(Checked::into_value)
}

/// An object as one of its base class.
pub(crate) fn as_base(cx: &mut Checker<'_>, object: Value, owner: RecordId) -> Value {
    match object.ty {
        Ty::Record(id) if id != owner => {
            let object = cleanup::discarded(cx, object);
            let place = cx.tables.base_place(as_place(object), owner);
            place_value(place)
        }
        _ => object,
    }
}

/// A call of one of the functions `ids` of a class, with an object if there is one. A virtual call, if the function is virtual.
pub(crate) fn call_member(
    cx: &mut Checker<'_>,
    object: Option<Value>,
    ids: &[FunctionId],
    name: &str,
    at: Span,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Checked, Reported> {
    let given = args.len();
    let (id, values) = chosen(cx, object, ids, name, at, args)?;
    call::with(cx, id, at, given, values, span)
}

/// A call of exactly that function, even if it is overridden.
pub(crate) fn call_exactly(
    cx: &mut Checker<'_>,
    object: Option<Value>,
    ids: &[FunctionId],
    name: &str,
    at: Span,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Checked, Reported> {
    let given = args.len();
    let (id, values) = chosen(cx, object, ids, name, at, args)?;
    call::exactly(cx, id, at, given, values, span)
}

/// The function of `ids` that a call means, and all its arguments.
fn chosen<'e>(
    cx: &mut Checker<'_>,
    object: Option<Value>,
    ids: &[FunctionId],
    name: &str,
    at: Span,
    args: Vec<Argument<'e>>,
) -> Result<(FunctionId, Vec<Argument<'e>>), Reported> {
    Argument::all_fine(&args)?;
    let full: Vec<Argument<'_>> = object
        .iter()
        .map(|object| Argument::Value(object.clone()))
        .chain(args.iter().cloned())
        .collect();
    let has_this = |id: &FunctionId| cx.tables.functions[*id].facts.has_this;
    if object.is_none() && ids.iter().all(has_this) {
        return Err(this::no_this(cx, &format!("`{name}`"), at));
    }
    let id = match ids {
        [] => return Err(cx.body.reported_before(at)),
        [id] => *id,
        _ => {
            let candidates: Vec<(Option<Vec<Rank>>, u32)> = ids
                .iter()
                .map(|id| match (has_this(id), object.is_some()) {
                    (true, true) => (cx.tables.ranks(*id, &full), cx.instances.specificity(*id)),
                    (true, false) => (None, 0),
                    (false, with_object) => {
                        let ranks = cx.tables.ranks(*id, &args).map(|mut ranks| {
                            if with_object {
                                ranks.insert(0, Rank::Exact);
                            }
                            ranks
                        });
                        (ranks, cx.instances.specificity(*id))
                    }
                })
                .collect();
            match best(&candidates) {
                Best::One(i) => ids[i],
                Best::Several(_) | Best::None => {
                    // Only to report what does not fit.
                    overload::resolve(cx, name, ids, &full, at)?;
                    return Err(cx.body.reported_before(at));
                }
            }
        }
    };
    let facts = &cx.tables.functions[id].facts;
    if facts.words.is_deleted {
        let declared = facts.declared;
        return Err(cx.error(
            at,
            ClassError::Deleted {
                name: name.to_string(),
                declared,
            },
        ));
    }
    let values = match facts.has_this {
        true => full,
        false => args,
    };
    Ok((id, values))
}

/// The functions for an operator with these operands: those of the left operand's class, and those at file scope.
fn operator_functions(
    cx: &mut Checker<'_>,
    name: &str,
    operands: &[Value],
    at: Span,
) -> (Vec<FunctionId>, Option<RecordId>) {
    let left = operands.first().map(|value| &value.ty);
    let all: Vec<Argument<'_>> = operands.iter().cloned().map(Argument::Value).collect();
    let mut ids = Vec::new();
    let mut class = None;
    if let Some(Ty::Record(id)) = left
        && let Some((owner, binding)) = cx.scopes.find_in_class(*id, name)
        && let Entity::Functions(set) = binding.entity.clone()
    {
        class = Some(owner);
        ids.extend(overload::functions_of(cx, &set));
        if cx.instances.class_of_templates(&set).is_some() {
            ids.extend(template::instances(cx, &set, None, &all[1..], at));
        }
    }
    // The library's operators take part whatever operators the program declares.
    for of_library in [false, true] {
        let binding = match of_library {
            false => cx.scopes.find_function(name),
            true => cx.scopes.find_in_prelude(name),
        };
        let Some(Entity::Functions(set)) = binding.map(|binding| binding.entity.clone()) else {
            continue;
        };
        let mut found = overload::functions_of(cx, &set);
        found.extend(template::instances(cx, &set, None, &all, at));
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    (ids, class)
}

/// An operator on objects: the call of the program's function for it. `None` if there is none that fits.
pub(crate) fn operator_call(
    cx: &mut Checker<'_>,
    operator: &str,
    operands: &[Value],
    at: Span,
    span: Span,
) -> Result<Option<Checked>, Reported> {
    let is_class = |value: &Value| matches!(value.ty, Ty::Record(_) | Ty::Enum(_));
    let Some(left) = operands.first().filter(|_| operands.iter().any(is_class)) else {
        return Ok(None);
    };
    let name: Arc<str> = format!("operator{operator}").into();
    if !cx.tables.may_have_operator(&name) {
        return Ok(None);
    }
    let (ids, class) = operator_functions(cx, &name, operands, at);
    if ids.is_empty() {
        return Ok(None);
    }
    let args: Vec<Argument<'_>> = operands.iter().cloned().map(Argument::Value).collect();
    let based = match class {
        Some(owner) => {
            let mut args = args.clone();
            args[0] = Argument::Value(as_base(cx, left.clone(), owner));
            args
        }
        None => args.clone(),
    };
    // For an enumeration, the built-in operator is better than one that needs a conversion to a class.
    let has_object = operands
        .iter()
        .any(|value| matches!(value.ty, Ty::Record(_)));
    let is_fine = |ranks: &Vec<Rank>| has_object || ranks.iter().all(|rank| *rank < Rank::User);
    let candidates: Vec<(Option<Vec<Rank>>, u32)> = ids
        .iter()
        .map(|id| match cx.tables.functions[*id].facts.has_this {
            true => (cx.tables.ranks(*id, &based), cx.instances.specificity(*id)),
            false => (
                cx.tables.ranks(*id, &args).filter(is_fine),
                cx.instances.specificity(*id),
            ),
        })
        .collect();
    match best(&candidates) {
        Best::One(i) => {
            let id = ids[i];
            let facts = &cx.tables.functions[id].facts;
            let values = if facts.has_this { based } else { args };
            if let (true, Some(owner)) = (facts.has_this, class) {
                this::check_access(cx, owner, &name, at);
            }
            call::with(cx, id, at, values.len(), values, span).map(Some)
        }
        Best::Several(_) => {
            overload::resolve(cx, &name, &ids, &args, at)?;
            Err(cx.body.reported_before(at))
        }
        Best::None => Ok(None),
    }
}

/// Whether a member of the type has an `operator=`, or the type has a mark, which is not assigned.
pub(crate) fn members_assign(tables: &Tables, scopes: &Scopes, ty: &Ty) -> bool {
    let Ty::Record(id) = ty else { return false };
    let may_have = tables.may_have_operator("operator=");
    tables.virtuals(*id).is_some()
        || tables.record(*id).fields.iter().any(|field| {
            let mut ty = &field.ty.ty;
            while let Ty::Array(element, _) = ty {
                ty = &element.ty;
            }
            let own = match ty {
                Ty::Record(id) => may_have && scopes.find_in_class(*id, "operator=").is_some(),
                _ => false,
            };
            own || members_assign(tables, scopes, ty)
        })
}

pub(crate) fn note_operator(cx: &mut Checker<'_>, name: &Arc<str>, span: Span) {
    if &**name == "operator," {
        cx.unsupported(&format!("`{name}`"), span);
    }
    if name.starts_with("operator") {
        cx.tables.operators.insert(name.clone());
    }
}

/// Reads what was checked.
pub(crate) fn read_checked(cx: &mut Checker<'_>, checked: Checked) -> Value {
    match checked {
        Checked::Value(value) => value,
        Checked::Place(place) => expr::load(cx, place),
    }
}

/// An object used as a number: converted by its class, if that has a conversion.
pub(crate) fn as_number(cx: &mut Checker<'_>, value: Value) -> Result<Value, Reported> {
    let Ty::Record(class) = value.ty else {
        return Ok(value);
    };
    let mut found = cx.tables.conversions(class);
    found.retain(|id| {
        let entry = &cx.tables.functions[*id];
        !entry.facts.words.is_explicit && entry.typed.result.is_scalar()
    });
    let is_number = |id: &&FunctionId| cx.tables.functions[**id].typed.result.is_arithmetic();
    if let [number] = found.iter().filter(is_number).collect::<Vec<_>>()[..] {
        found = vec![*number];
    }
    match found[..] {
        [id] => temporary::call_conversion(cx, id, value),
        _ => Ok(value),
    }
}

/// A place read as a whole, so that `as_place` can recover it.
pub(crate) fn place_value(place: Place) -> Value {
    let span = place.span;
    Value::load(place, span)
}

/// A value as a place: the one that it was read from, or a temporary.
pub(crate) fn as_place(value: Value) -> Place {
    match value.kind {
        ValueKind::Load(place) => *place,
        kind => Place {
            ty: value.ty.clone().into(),
            span: value.span,
            kind: PlaceKind::Temporary(Box::new(Value { kind, ..value })),
        },
    }
}
