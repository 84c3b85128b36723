//! `new`, `delete` and calls of destructors.
//!
//! Memory comes from functions of the library part `<new>`. A single object is constructed here, arrays by templates of that part.

use crate::sema::message::class::ClassError;
use crate::sema::scope::Scopes;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, Tables, access, all, call, cleanup,
    construct::{self, assign_value, comma, local},
    convert, expr, function_template, init, method,
    overload::{self, Argument},
    specifier, temporary, virtuals,
};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        scope::{Callable, Entity},
        ty::{QualTy, Ty},
        typed::{Place, PlaceKind, StmtKind, Value, ValueKind},
    },
    syntax::ast,
};
use ir::span::Span;

/// `new T(args)`.
pub(crate) fn new_expr(
    cx: &mut Checker<'_>,
    new: &ast::New,
    span: Span,
) -> Result<Value, Reported> {
    let ty = specifier::type_name(cx, &new.ty)?.ty;
    virtuals::check_not_abstract(cx, &ty, span);
    let Some(bytes) = cx.tables.size_of(&ty) else {
        return expr::sizeof(&cx.tables, &mut cx.reporter, &ty, span);
    };
    if let Some(place) = &new.place {
        if !new.counts.is_empty() {
            return Err(cx.unsupported("an array with `new (place)`", span));
        }
        let place = expr::value(cx, place)?;
        if !matches!(place.ty, Ty::Pointer(_)) {
            return Err(cx.unsupported("`new` with arguments other than a place", place.span));
        }
        let pointer = convert::to_type(place, &pointer_to(ty.clone().into()));
        return begun(cx, pointer, &ty, new.init.as_ref(), span);
    }
    if !new.counts.is_empty() {
        let own = own_allocation(&cx.scopes, &ty, "operator new[]");
        return new_array(cx, new, &ty, own.as_ref(), span);
    }
    let bytes = crate::sema::check::int(bytes, Ty::ULong, span);
    let memory = match own_allocation(&cx.scopes, &ty, "operator new") {
        Some(set) => allocation_call(cx, "operator new", &set, bytes, span)?,
        None => {
            let name = match cx.body.may_be_device() {
                true => "__dslc_device_new",
                false => "__dslc_new",
            };
            library_call(cx, name, None, vec![bytes], span)?
        }
    };
    let pointer = convert::to_type(memory, &pointer_to(ty.clone().into()));
    begun(cx, pointer, &ty, new.init.as_ref(), span)
}

/// Constructs the object at a pointer; returns the pointer.
fn begun(
    cx: &mut Checker<'_>,
    pointer: Value,
    ty: &Ty,
    init: Option<&ast::Init>,
    span: Span,
) -> Result<Value, Reported> {
    let var = temporary::variable(&cx.tables, &mut cx.body, pointer.ty.clone(), "object", span);
    let kept = local(var, pointer.ty.clone().into(), span);
    let set = assign_value(kept.clone(), pointer, span);
    let load = method::place_value(kept);
    let place = Place::new(
        PlaceKind::Deref(Box::new(load.clone())),
        ty.clone().into(),
        span,
    );
    let mut out = Vec::new();
    match init {
        None => construct::begin_object(cx, place, "the object", span, &mut out),
        Some(init) => construct::member_init(cx, place, init, span, &mut out),
    }
    let mut value = set;
    for stmt in out {
        match stmt.kind {
            StmtKind::Expr(next) => value = comma(value, next),
            _ => {
                return Err(cx.unsupported("`new` of an array's type", span));
            }
        }
    }
    Ok(comma(value, load))
}

/// `new T[n]`, `new T[n]()`.
fn new_array(
    cx: &mut Checker<'_>,
    new: &ast::New,
    ty: &Ty,
    own: Option<&Arc<[Callable]>>,
    span: Span,
) -> Result<Value, Reported> {
    let [count] = &new.counts[..] else {
        return Err(cx.unsupported("`new` of an array of arrays", span));
    };
    let count = expr::value(cx, count)?;
    if !count.ty.is_integral() {
        return Err(cx.error(
            count.span,
            ClassError::ElementCountType {
                ty: count.ty.clone(),
            },
        ));
    }
    let is_zeroed = match &new.init {
        None => false,
        Some(ast::Init::Construct(args)) if args.node.is_empty() => true,
        Some(ast::Init::List(items)) if items.node.is_empty() => true,
        Some(_) => {
            return Err(cx.unsupported("`new T[n]` with values", span));
        }
    };
    let begins = is_zeroed || cx.tables.has_constructors(ty) || cx.tables.is_polymorphic(ty);
    let name = match (begins, cx.body.may_be_device()) {
        (true, false) => "__dslc_new_array_zero",
        (false, false) => "__dslc_new_array",
        (true, true) => "__dslc_device_new_array_zero",
        (false, true) => "__dslc_device_new_array",
    };
    let count = convert::to_type(count, &Ty::ULong);
    let explicit = [ast::TemplateArg::Type(new.ty.clone())];
    let Some(own) = own else {
        return library_call(cx, name, Some(&explicit), vec![count], span);
    };
    // `n = count, begin_array<T>(T::operator new[](array_bytes<T>(n, cookie)), n, cookie, begins)`.
    let var = temporary::variable(&cx.tables, &mut cx.body, Ty::ULong, "count", span);
    let kept = local(var, Ty::ULong.into(), span);
    let set = assign_value(kept.clone(), count, span);
    let count = method::place_value(kept);
    let cookie = crate::sema::check::int(cookie_bytes(&cx.tables, ty), Ty::ULong, span);
    let values = vec![count.clone(), cookie.clone()];
    let bytes = library_call(cx, "__dslc_array_bytes", Some(&explicit), values, span)?;
    let memory = allocation_call(cx, "operator new[]", own, bytes, span)?;
    let begins = crate::sema::check::int(u64::from(begins), Ty::Bool, span);
    let values = vec![memory, count, cookie, begins];
    let begun = library_call(cx, "__dslc_begin_array", Some(&explicit), values, span)?;
    Ok(comma(set, begun))
}

/// The bytes before the elements of an array from a class's own allocation function. They store the number of elements, if those have a
/// destructor.
fn cookie_bytes(tables: &Tables, ty: &Ty) -> u64 {
    match tables.has_destructor(ty) {
        true => tables.align_of(ty).max(8),
        false => 0,
    }
}

/// `delete p`, `delete[] p`.
pub(crate) fn delete_expr(
    cx: &mut Checker<'_>,
    is_array: bool,
    expr: &ast::Expr,
    span: Span,
) -> Result<Value, Reported> {
    let pointer = expr::value(cx, expr)?;
    let word = if is_array { "delete[]" } else { "delete" };
    let pointee = match &pointer.ty {
        Ty::Pointer(pointee) => pointee.ty.clone(),
        other => {
            return Err(cx.error(
                pointer.span,
                ClassError::DeleteOfNonPointer {
                    word,
                    ty: other.clone(),
                },
            ));
        }
    };
    if cx.tables.size_of(&pointee).is_none() {
        return Err(cx.error(
            pointer.span,
            ClassError::DeleteOfIncomplete {
                word,
                ty: pointee.clone(),
            },
        ));
    }
    let own = match is_array {
        true => "operator delete[]",
        false => "operator delete",
    };
    if let Some(set) = own_allocation(&cx.scopes, &pointee, own) {
        return delete_with(cx, &set, own, pointer, pointee, span);
    }
    let name = if is_array {
        "__dslc_delete_array"
    } else {
        "__dslc_delete"
    };
    // `delete` also takes a pointer to `const`.
    let pointer = convert::to_type(pointer, &pointer_to(pointee.into()));
    library_call(cx, name, None, vec![pointer], span)
}

/// The allocation functions of a class or its base.
fn own_allocation(scopes: &Scopes, ty: &Ty, name: &str) -> Option<Arc<[Callable]>> {
    let Ty::Record(class) = ty else { return None };
    match &scopes.find_in_class(*class, name)?.1.entity {
        Entity::Functions(set) => Some(set.clone()),
        _ => None,
    }
}

fn allocation_call(
    cx: &mut Checker<'_>,
    name: &str,
    set: &Arc<[Callable]>,
    argument: Value,
    span: Span,
) -> Result<Value, Reported> {
    let values = vec![Argument::Value(argument)];
    let ids = overload::functions_of(cx, set);
    let overload::Resolved::Function(id) = overload::resolve(cx, name, &ids, &values, span)? else {
        return Err(cx.body.reported_before(span));
    };
    let called = call::with(cx, id, span, values.len(), values, span)?;
    Ok(method::read_checked(cx, called))
}

/// `delete p` with the class's own `operator delete`: `p ? (p->~T(), T::operator delete(p)) : 0`; for an array
/// `p ? T::operator delete[](end_array(p, cookie)) : 0`.
fn delete_with(
    cx: &mut Checker<'_>,
    set: &Arc<[Callable]>,
    own: &str,
    pointer: Value,
    pointee: Ty,
    span: Span,
) -> Result<Value, Reported> {
    let ty = pointer_to(pointee.clone().into());
    let pointer = convert::to_type(pointer, &ty);
    let var = temporary::variable(&cx.tables, &mut cx.body, ty.clone(), "object", span);
    let kept = local(var, ty.into(), span);
    let set_kept = assign_value(kept.clone(), pointer, span);
    let load = method::place_value(kept);
    let place = Place::new(
        PlaceKind::Deref(Box::new(load.clone())),
        pointee.into(),
        span,
    );
    let mut out = Vec::new();
    let memory = match own {
        "operator delete[]" => {
            let cookie =
                crate::sema::check::int(cookie_bytes(&cx.tables, &place.ty.ty), Ty::ULong, span);
            let values = vec![load.clone(), cookie];
            library_call(cx, "__dslc_end_array", None, values, span)?
        }
        _ => {
            virtuals::dispatch::destroy(cx, place, span, &mut out);
            convert::to_type(load.clone(), &pointer_to(Ty::Void.into()))
        }
    };
    let free = allocation_call(cx, own, set, memory, span)?;
    let ends = cleanup::as_values(cx, out, span);
    let nothing = || {
        Value::new(
            ValueKind::Convert(Box::new(crate::sema::check::int(0, Ty::Int, span))),
            Ty::Void,
            span,
        )
    };
    let ends = ends.into_iter().chain([free]).fold(nothing(), comma);
    let is_some = convert::to_type(load, &Ty::Bool);
    let value = Value::new(
        ValueKind::Conditional(Box::new(is_some), Box::new(ends), Box::new(nothing())),
        Ty::Void,
        span,
    );
    Ok(comma(set_kept, value))
}

/// A call of an internal function of the library.
pub(crate) fn library_call(
    cx: &mut Checker<'_>,
    name: &str,
    explicit: Option<&[ast::TemplateArg]>,
    values: Vec<Value>,
    span: Span,
) -> Result<Value, Reported> {
    let set = match cx.scopes.find(name).map(|binding| binding.entity.clone()) {
        Some(Entity::Functions(set)) => set,
        _ => {
            return Err(cx.unsupported("`new` and `delete` here", span));
        }
    };
    let values: Vec<Argument<'_>> = values.into_iter().map(Argument::Value).collect();
    let [id] = overload::candidates(cx, name, &set, explicit, &values, span)?[..] else {
        return Err(cx.body.reported_before(span));
    };
    function_template::need(cx, id);
    let called = call::with(cx, id, span, values.len(), values, span)?;
    Ok(method::read_checked(cx, called))
}

/// `object.~T()`.
pub(crate) fn destructor_call(
    cx: &mut Checker<'_>,
    object: Value,
    span: Span,
) -> Result<Checked, Reported> {
    let nothing = Value::new(
        ValueKind::Convert(Box::new(crate::sema::check::int(0, Ty::Int, span))),
        Ty::Void,
        span,
    );
    if !cx.tables.has_destructor(&object.ty) {
        return Ok(Checked::Value(nothing));
    }
    let mut place = method::as_place(object);
    place.ty = QualTy {
        is_const: false,
        is_volatile: false,
        ..place.ty
    };
    let mut out = Vec::new();
    virtuals::dispatch::destroy(cx, place, span, &mut out);
    let ends = cleanup::as_values(cx, out, span);
    Ok(Checked::Value(ends.into_iter().fold(nothing, comma)))
}

/// Whether objects of the type are no more than their bytes.
pub(crate) fn is_trivial(tables: &Tables, scopes: &Scopes, ty: &Ty) -> bool {
    let assigns = match ty {
        Ty::Record(id) => scopes.find_in_class(*id, "operator=").is_some(),
        _ => false,
    };
    !tables.needs_copy(ty)
        && !tables.has_destructor(ty)
        && !tables.has_constructors(ty)
        && !assigns
        && !method::members_assign(tables, scopes, ty)
}

/// `{a, b, c}` for a class with a constructor that takes an `initializer_list`: an array of the elements and their number. The constructor
/// takes ownership of the elements.
pub(crate) fn initializer_list(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[ast::InitItem],
    span: Span,
) -> Result<Option<Value>, Reported> {
    let Ty::Record(class) = ty else {
        return Ok(None);
    };
    let Some((list, element)) = cx.tables.list_constructor(*class) else {
        return Ok(None);
    };
    if items.is_empty() || items.iter().any(|item| item.designator.is_some()) {
        return Ok(None);
    }
    let n_diagnostics = cx.reporter.diagnostics.len();
    let n_temporaries = cx.body.flow.temporaries.len();
    let mut values = Vec::new();
    for item in items {
        let value = match &item.value {
            ast::Init::Expr(expr) => expr::value(cx, expr),
            ast::Init::List(inner) => init::list_value(cx, &element, &inner.node, inner.span),
            ast::Init::Construct(_) => return Ok(None),
        }?;
        let element = QualTy::from(element.clone());
        if cx.tables.rank_type(&value, &element).is_none() {
            // The list is for another constructor.
            cx.reporter.diagnostics.truncate(n_diagnostics);
            cx.body.flow.temporaries.truncate(n_temporaries);
            return Ok(None);
        }
        values.push(convert::implicit(
            cx,
            value,
            &element.ty,
            &convert::Why::Operand,
        ));
    }
    let values = all(values)?;
    let n = values.len() as u64;
    let array_ty = Ty::Array(Arc::new(element.clone().into()), Some(n));
    let var = temporary::variable(&cx.tables, &mut cx.body, array_ty.clone(), "list", span);
    let array = local(var, array_ty.into(), span);
    access::take_address(&mut cx.body, &cx.mode, &array);
    let sets: Vec<Value> = (0u64..)
        .zip(values)
        .map(|(i, value)| {
            let index = crate::sema::check::int(i, Ty::Int, span);
            let place = Place::new(
                PlaceKind::ArrayIndex(Box::new(array.clone()), Box::new(index)),
                element.clone().into(),
                span,
            );
            assign_value(place, value, span)
        })
        .collect();
    let items = Value::new(
        ValueKind::Decay(Box::new(array)),
        pointer_to(element.into()),
        span,
    );
    let list = Value::new(
        ValueKind::Aggregate(vec![items, crate::sema::check::int(n, Ty::ULong, span)]),
        Ty::Record(list),
        span,
    );
    let sets = sets.into_iter().rev();
    Ok(Some(sets.fold(list, |then, set| comma(set, then))))
}
