//! Calls of the program's own functions: which functions may call which, and arguments against parameters.

use crate::sema::message::Given;
use crate::sema::message::call::CallError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use std::sync::Arc;

use super::{
    Body, Checked, Checker, Reported, Side, Tables, class_template, expr, function_template,
    lambda, method,
    overload::{Argument, Resolved},
    pack,
    pointer_call::pointed_function,
    template, unknown, virtuals,
};
use crate::{
    sema::{
        builtin,
        scope::{Callable, Entity},
        ty::Ty,
        typed::{FunctionId, FunctionSpace, Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::{self, ExprKind},
};
use ir::span::Span;

pub(crate) mod associated;
pub(crate) mod atomic;
pub(crate) mod builtin_call;
pub(crate) mod exchange;
pub(crate) mod format;
pub(crate) mod forward;
pub(crate) mod graph;
pub(crate) mod host_call;
pub(crate) mod launch;
pub(crate) mod launch_call;
pub(crate) mod overload;
pub(crate) mod pointer_call;
pub(crate) mod unbound;

/// `f(a, b)`: a function of the program, or else a built-in one.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    callee: &ast::Expr,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let args = pack::expanded(cx, args);
    let args = &args[..];
    let (name, explicit) = match &callee.kind {
        ExprKind::Path(path) => match template::path_name(cx, path) {
            Ok((name, explicit)) => (name, explicit),
            Err(reported) => return no_call(cx, args, reported),
        },
        ExprKind::Name(name) => (name.clone(), None),
        _ => return call_of_expr(cx, callee, args, span),
    };
    let name = &without_std(&cx.scopes, name);
    match lambda::outer_name(cx, name, callee.span) {
        Ok(None) => {}
        Ok(Some(object)) => {
            return method::call_object(cx, object.into_value(), callee.span, args, span);
        }
        Err(reported) => return no_call(cx, args, reported),
    }
    let binding = cx.scopes.find(name).cloned();
    if let Some(binding) = &binding
        && cx.options.is_own(binding.span)
        && builtin::is_math(name)
    {
        return unbound::math(cx, name, callee.span, args, span);
    }
    match binding {
        Some(binding) => call_bound(cx, name, binding.entity, explicit, callee, args, span),
        None => unbound::check(cx, name, explicit, callee, args, span),
    }
}

/// The callee is invalid and has been reported: only the arguments are checked.
fn no_call(
    cx: &mut Checker<'_>,
    args: &[ast::Expr],
    reported: Reported,
) -> Result<Checked, Reported> {
    check_args_alone(cx, args);
    Err(reported)
}

/// `std::f` is `f`, unless the program declares an `std::f`.
fn without_std(scopes: &Scopes, name: Arc<str>) -> Arc<str> {
    if !path::is_qualified(&name) || scopes.find(&name).is_some() {
        return name;
    }
    let relative = path::relative(&name);
    let in_cuda = path::after(relative, "cuda").unwrap_or(relative);
    match path::after(in_cuda, "std") {
        Some(rest) => rest.into(),
        None => relative.into(),
    }
}

/// A call of something that is not a plain name.
fn call_of_expr(
    cx: &mut Checker<'_>,
    callee: &ast::Expr,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let reported = match &callee.kind {
        ExprKind::Unsupported(construct) => cx.unsupported(construct, callee.span),
        ExprKind::Error => cx.body.reported_before(callee.span),
        ExprKind::Member(base, name) => {
            return method::check(cx, base, false, (name, None), args, span);
        }
        ExprKind::Arrow(base, name) => {
            return method::check(cx, base, true, (name, None), args, span);
        }
        ExprKind::Instance(inner, explicit) => match &inner.kind {
            ExprKind::Member(base, name) => {
                return method::check(cx, base, false, (name, Some(explicit)), args, span);
            }
            ExprKind::Arrow(base, name) => {
                return method::check(cx, base, true, (name, Some(explicit)), args, span);
            }
            _ => cx.body.reported_before(callee.span),
        },
        _ => match expr::check(cx, callee).map(Checked::into_value) {
            Ok(value)
                if matches!(value.ty, Ty::Record(_)) || pointed_function(&value.ty).is_some() =>
            {
                return method::call_object(cx, value, callee.span, args, span);
            }
            Ok(_) => cx.unsupported("a call of anything but a function's name", callee.span),
            Err(reported) => reported,
        },
    };
    no_call(cx, args, reported)
}

/// `f(a, b)` where `f` is a variable.
fn call_variable(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    at: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    match expr::name(cx, name, at) {
        Ok(object) => method::call_object(cx, object.into_value(), at, args, span),
        Err(reported) => no_call(cx, args, reported),
    }
}

/// A call of a name that the program or the prelude declares.
fn call_bound(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    entity: Entity,
    explicit: Option<&[ast::TemplateArg]>,
    callee: &ast::Expr,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let reported = match entity {
        Entity::Functions(set) => {
            return call_set(cx, name, &set, explicit, callee.span, args, span);
        }
        // The parser does not know the library's class templates, but their instances are types.
        Entity::Template(_) if let Some(given) = explicit => {
            match class_template::templated_type(cx, name, given, callee.span) {
                Ok(ty) => return expr::construct(cx, &ty.ty, args, span).map(Checked::Value),
                Err(reported) => reported,
            }
        }
        Entity::Template(_) => {
            let name = name.to_string();
            cx.error(callee.span, CallError::TemplateNeedsArguments { name })
        }
        Entity::Typedef(ty) => return expr::construct(cx, &ty.ty, args, span).map(Checked::Value),
        Entity::Error => cx.body.reported_before(callee.span),
        Entity::Member(_) | Entity::Captured(_) => {
            return call_variable(cx, name, callee.span, args, span);
        }
        Entity::Local(_) | Entity::Global(_) if names_object(cx, name) => {
            return call_variable(cx, name, callee.span, args, span);
        }
        Entity::Constant(ty, _) if pointed_function(&ty).is_some() => {
            return call_variable(cx, name, callee.span, args, span);
        }
        Entity::Reference(_) => {
            let what = "a conversion to a parameter that stands for a reference";
            cx.unsupported(what, callee.span)
        }
        Entity::Local(_)
        | Entity::Global(_)
        | Entity::Enumerator(..)
        | Entity::Pack(_)
        | Entity::Constant(..) => {
            let declared = cx.scopes.find(name).map(|binding| binding.span);
            let name = name.to_string();
            cx.error(callee.span, CallError::NotAFunction { name, declared })
        }
    };
    no_call(cx, args, reported)
}

/// A call of functions: members of a class, or overloads.
fn call_set(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    set: &[Callable],
    explicit: Option<&[ast::TemplateArg]>,
    at: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let mut ids = match explicit {
        None => overload::functions_of(cx, set),
        Some(_) => Vec::new(),
    };
    let of_templates = cx.instances.class_of_templates(set);
    if let Some(class) = class_of(&cx.tables, &ids).or(of_templates) {
        expr::check_path_access(cx, name, at);
        let object = cx.body.this_place(at);
        let object = object.map(method::place_value);
        let object = object.filter(
            |object| matches!(object.ty, Ty::Record(id) if cx.tables.is_derived(id, class)),
        );
        let object = object.map(|object| method::as_base(cx, object, class));
        let values = overload::arguments(cx, args);
        if of_templates.is_some() {
            ids.extend(template::instances(cx, set, explicit, &values, at));
        }
        let last = path::last(name);
        // `Base::f()` calls that function, even if it is overridden.
        if path::is_qualified(name) {
            return method::call_exactly(cx, object, &ids, last, at, values, span);
        }
        return method::call_member(cx, object, &ids, last, at, values, span);
    }
    overloaded(cx, name, set, explicit, at, args, span)
}

/// The class whose functions these are.
fn class_of(tables: &Tables, ids: &[FunctionId]) -> Option<crate::sema::ty::RecordId> {
    let facts = &tables.functions[*ids.first()?].facts;
    // A friend is not a member.
    let is_member = facts.has_this || facts.words.is_static;
    facts.class.filter(|_| is_member)
}

/// The name is that of a variable that is an object or points to a function.
fn names_object(cx: &Checker<'_>, name: &str) -> bool {
    let ty = match cx.scopes.find(name).map(|binding| &binding.entity) {
        Some(Entity::Local(id)) => &cx.body.vars[*id].typed.ty.ty,
        Some(Entity::Global(id)) => &cx.tables.globals[*id].typed.ty.ty,
        _ => return false,
    };
    // An invalid parameter may be an object.
    matches!(ty, Ty::Record(_)) || pointed_function(ty).is_some() || !ty.is_understood()
}

/// A call of a member function or an operator, whose object is the first argument; `given` arguments are in the source.
pub(crate) fn with(
    cx: &mut Checker<'_>,
    id: FunctionId,
    at: Span,
    given: usize,
    mut values: Vec<Argument<'_>>,
    span: Span,
) -> Result<Checked, Reported> {
    let id = virtuals::dispatch::called(cx, id, &mut values);
    exactly(cx, id, at, given, values, span)
}

/// A call of exactly this function, even if it is overridden.
pub(crate) fn exactly(
    cx: &mut Checker<'_>,
    id: FunctionId,
    at: Span,
    given: usize,
    values: Vec<Argument<'_>>,
    span: Span,
) -> Result<Checked, Reported> {
    function_template::need(cx, id);
    let function = &cx.tables.functions[id].typed;
    let (name, space, declared) = (function.name.clone(), function.space, function.span);
    let is_of_both = function.on_host.is_some();
    let ty = function.result.clone();
    let params = &cx.tables.functions[id].facts.params;
    let least = params
        .iter()
        .take_while(|param| param.default.is_none())
        .count();
    if values.len() > params.len() || values.len() < least {
        let hidden = values.len() - given;
        let expected = match (least, params.len()) {
            (least, all) if least == all => count(all - hidden),
            (least, all) => format!("{} to {}", least - hidden, count(all - hidden)),
        };
        let shown = path::last(&name).to_string();
        return Err(cx.error(
            at,
            CallError::ArgumentCount {
                shown: shown.to_string(),
                expected: expected.to_string(),
                given: Given(given),
                declared,
            },
        ));
    }
    if !is_of_both {
        check_call_side(cx, &name, space, declared, at);
    }
    note_call(cx, id, at);
    let args = overload::bind_arguments(cx, id, values, span)?;
    let value = Value::new(ValueKind::Call(id, args), ty, span);
    called(&cx.tables, &mut cx.body, id, value)
}

/// Records an edge of the call graph.
fn note_call(cx: &mut Checker<'_>, id: FunctionId, name_span: Span) {
    if cx.mode.unevaluated == 0
        && let Some(caller) = cx.body.id
    {
        cx.tables.functions[caller]
            .facts
            .calls
            .push((id, name_span));
    }
}

fn call_builtin(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    name_span: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    match builtin::find(name) {
        Some(entry) => builtin_call::check(cx, name, entry, name_span, args, span),
        None => {
            let reported = unknown::name(cx, name, name_span, true);
            no_call(cx, args, reported)
        }
    }
}

/// Checks the arguments for their own errors if the function is invalid.
pub(crate) fn check_args_alone(cx: &mut Checker<'_>, args: &[ast::Expr]) {
    for arg in args {
        if !matches!(arg.kind, ExprKind::List(_)) {
            // Only for its messages.
            let _ = expr::check(cx, arg);
        }
    }
}

/// A call of one of the functions with this name, or of CUDA's own function with it.
fn overloaded(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    set: &[Callable],
    explicit: Option<&[ast::TemplateArg]>,
    name_span: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let n_diagnostics = cx.reporter.diagnostics.len();
    let n_temporaries = cx.body.flow.temporaries.len();
    let values = overload::arguments(cx, args);
    let ids = overload::candidates(cx, name, set, explicit, &values, name_span)?;
    let ids = &ids[..];
    // The prelude's functions do not compete with the built-in ones that they implement.
    let own = ids
        .iter()
        .all(|id| cx.options.is_own(cx.tables.functions[*id].facts.declared));
    let resolved = match ids {
        [id] if own => Resolved::Function(*id),
        _ => overload::resolve(cx, name, ids, &values, name_span)?,
    };
    match resolved {
        Resolved::Function(id) => call_function(cx, id, name_span, args, values, span),
        Resolved::Builtin => {
            // The built-in function checks the arguments again.
            cx.reporter.diagnostics.truncate(n_diagnostics);
            cx.body.flow.temporaries.truncate(n_temporaries);
            if builtin::is_math(name) {
                unbound::math(cx, name, name_span, args, span)
            } else {
                call_builtin(cx, name, name_span, args, span)
            }
        }
    }
}

fn call_function(
    cx: &mut Checker<'_>,
    id: FunctionId,
    name_span: Span,
    args: &[ast::Expr],
    values: Vec<Argument<'_>>,
    span: Span,
) -> Result<Checked, Reported> {
    function_template::need(cx, id);
    let function = &cx.tables.functions[id].typed;
    let (name, space, declared) = (function.name.clone(), function.space, function.span);
    let ty = function.result.clone();
    if space == FunctionSpace::Kernel {
        let text = cx.map.snippet(span);
        let given = text.split_once('(').map_or("…)", |(_, rest)| rest);
        return Err(cx.error(
            span,
            CallError::KernelWithoutLaunch {
                name: name.to_string(),
                declared,
                given: given.to_string(),
            },
        ));
    }
    check_call_side(cx, &name, space, declared, name_span);
    note_call(cx, id, name_span);
    let args = self::args(cx, id, args, values, name_span, span)?;
    let value = Value::new(ValueKind::Call(id, args), ty, span);
    called(&cx.tables, &mut cx.body, id, value)
}

/// The result of a call: a function that returns a reference yields a place.
fn called(
    tables: &Tables,
    body: &mut Body,
    id: FunctionId,
    call: Value,
) -> Result<Checked, Reported> {
    let span = call.span;
    body.known(&call.ty, span)?;
    Ok(match call.ty.clone() {
        Ty::Pointer(referee) if tables.functions[id].typed.returns_reference => {
            Checked::Place(Place::new(
                PlaceKind::Deref(Box::new(call)),
                referee.as_ref().clone(),
                span,
            ))
        }
        _ => Checked::Value(call),
    })
}

fn check_call_side(
    cx: &mut Checker<'_>,
    name: &str,
    space: FunctionSpace,
    declared: Span,
    at: Span,
) {
    match space {
        FunctionSpace::Host => {
            let is_destructor = path::split(name).is_some_and(|(_, last)| last.starts_with('~'));
            // Objects end at the block's brace, after errors about constructing them.
            let at = match is_destructor && at.end > at.start {
                true => Span {
                    start: at.end - 1,
                    ..at
                },
                false => at,
            };
            let name = name.to_string();
            let message = match cx.options.is_own(declared) {
                true => CallError::LibraryInDevice { name },
                false => CallError::HostFunctionInDevice { name, declared },
            };
            cx.on_side(Side::Device, cx.tables.diagnostic(at, message));
        }
        FunctionSpace::Device => {
            let diagnostic = cx.tables.diagnostic(
                at,
                CallError::DeviceFunctionInHost {
                    name: name.to_string(),
                    declared,
                },
            );
            cx.on_side(Side::Host, diagnostic);
        }
        FunctionSpace::Kernel | FunctionSpace::HostDevice => {}
    }
}

/// Converts the arguments to their parameters' types.
fn args(
    cx: &mut Checker<'_>,
    id: FunctionId,
    args: &[ast::Expr],
    values: Vec<Argument<'_>>,
    at: Span,
    span: Span,
) -> Result<Vec<Value>, Reported> {
    let facts = &cx.tables.functions[id].facts;
    let params = facts.params.clone();
    let optional = params.iter().rev();
    let optional = optional.take_while(|param| param.default.is_some()).count();
    let function = &cx.tables.functions[id].typed;
    let (name, declared, space) = (function.name.clone(), function.span, function.space);
    let least = params.len() - optional;
    if args.len() > params.len() || args.len() < least {
        let expected = match optional {
            0 => count(params.len()),
            _ => format!("{least} to {}", count(params.len())),
        };
        let missing = params.get(args.len());
        let parameter = missing.and_then(|missing| missing.name.as_deref());
        return Err(cx.error(
            at,
            CallError::FunctionArgumentCount {
                name,
                expected,
                given: Given(args.len()),
                extra: args.get(params.len()).map(|extra| extra.span),
                missing: missing.map(|missing| missing.span),
                parameter: parameter.unwrap_or("this parameter").to_string(),
                space,
                declared,
            },
        ));
    }
    overload::bind_arguments(cx, id, values, span)
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize) -> String {
    match n {
        0 => "no arguments".to_string(),
        1 => "1 argument".to_string(),
        n => format!("{n} arguments"),
    }
}
