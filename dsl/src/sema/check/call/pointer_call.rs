//! Pointers to functions: their values, and calls through them.
//!
//! A function's address is its number here, counted from 1. A call through a pointer that is known at compile time is a call of that
//! function. Any other is a call of a dispatcher, which the compiler writes for each type of pointer: it compares the number with those of
//! all functions of that type whose address the program takes, and calls the function with that number; any other value traps. A launch
//! through a pointer works the same with kernels, but each launch has a separate dispatcher, so that the kernel's place is that of the
//! launch.

use crate::sema::message::call::CallError;
use ir::Intrinsic;
use std::sync::Arc;

use crate::arena::Arena;
use crate::sema::check::{
    Checked, Checker, FunctionEntry, FunctionFacts, ParamFacts, Reported, Side, Tables, call,
    function_template, int, launch::Configured, method, overload, template, temporary,
};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        scope::Callable,
        ty::{FunctionTy, QualTy, Ty},
        typed::{
            Builtin, Function, FunctionId, FunctionSpace, Launch, Place, PlaceKind, Relation, Stmt,
            StmtKind, Value, ValueKind, Var, VarId, VarRef,
        },
    },
    syntax::ast,
};
use ir::{HostFn, span::Span};

/// The function through which pointers of a type are called.
pub(crate) struct Dispatcher {
    ty: Arc<FunctionTy>,
    role: Role,
    id: FunctionId,
}

/// What a dispatcher does with the target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    CalledOnHost,
    CalledOnDevice,
    Launched,
}

/// Functions that are called through pointers.
#[derive(Default)]
pub(crate) struct Pointers {
    /// The functions whose addresses the program takes.
    pub(crate) address_taken: Vec<FunctionId>,
    pub(crate) dispatchers: Vec<Dispatcher>,
}

impl Role {
    /// The dispatcher's own parameters, before those of the function: the number, and the launch configuration.
    fn own_params(self, dim3: Ty) -> Vec<(&'static str, Ty)> {
        let mut own = vec![("function", Ty::ULong)];
        if self == Role::Launched {
            own.push(("grid", dim3.clone()));
            own.push(("block", dim3));
            own.push(("shared_bytes", Ty::ULong));
            own.push(("stream", Ty::ULong));
        }
        own
    }
}

/// The type of function that values of this type point to.
pub(crate) fn pointed_function(ty: &Ty) -> Option<&Arc<FunctionTy>> {
    match ty {
        Ty::Pointer(pointee) => match &pointee.ty {
            Ty::Function(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// The address of the function that a name stands for.
pub(crate) fn function_value(
    cx: &mut Checker<'_>,
    name: &str,
    set: &[Callable],
    explicit: Option<&[ast::TemplateArg]>,
    span: Span,
) -> Result<Value, Reported> {
    let mut ids = match explicit {
        None => overload::functions_of(cx, set),
        Some(_) => Vec::new(),
    };
    if explicit.is_some() || ids.is_empty() {
        ids = template::instances(cx, set, explicit, &[], span);
    }
    let id = match ids[..] {
        [id] => id,
        [] => {
            return Err(cx.error(
                span,
                CallError::AmbiguousInstance {
                    name: name.to_string(),
                },
            ));
        }
        _ => {
            return Err(overload::which_overload(
                &cx.tables,
                &mut cx.reporter,
                name,
                &ids,
                span,
            ));
        }
    };
    if cx.tables.functions[id].typed.space == FunctionSpace::Kernel {
        let diagnostic = cx.tables.diagnostic(
            span,
            CallError::KernelAddressInDevice {
                name: name.to_string(),
            },
        );
        cx.on_side(Side::Device, diagnostic);
    }
    let facts = &cx.tables.functions[id].facts;
    let function = &cx.tables.functions[id].typed;
    if facts.has_this {
        return Err(cx.unsupported("a pointer to a member function", span));
    }
    if function.returns_reference || facts.params.iter().any(|param| param.is_rvalue) {
        return Err(cx.unsupported(
            "a pointer to a function that returns a reference or takes `&&`",
            span,
        ));
    }
    if !cx.tables.is_understood(id) {
        return Err(cx.body.reported_before(span));
    }
    let (space, declared) = (function.space, facts.declared);
    let ty = function_type(function, &facts.params);
    if cx.mode.naming_constant == 0 && cx.body.id.is_some() && space == FunctionSpace::Device {
        let diagnostic = cx.tables.diagnostic(
            span,
            CallError::DeviceAddressInHost {
                name: name.to_string(),
                declared,
            },
        );
        cx.on_side(Side::Host, diagnostic);
    }
    function_template::need(cx, id);
    if !cx.pointers.address_taken.contains(&id) {
        cx.pointers.address_taken.push(id);
    }
    Ok(function_constant(id, ty, span))
}

/// `f(a, b)` where `f` is a pointer to a function.
pub(crate) fn call_pointer(
    cx: &mut Checker<'_>,
    pointer: Value,
    ty: &Arc<FunctionTy>,
    at: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let values = overload::arguments(cx, args);
    if let Some(id) = known_function(&pointer).filter(|id| cx.pointers.address_taken.contains(id)) {
        return call::call_function(cx, id, at, args, values, span);
    }
    let id = dispatcher(cx, ty, at);
    let number = number_of(pointer);
    let given = values.len();
    let values = std::iter::once(overload::Argument::Value(number)).chain(values);
    call::with(cx, id, at, given, values.collect(), span)
}

/// `pointer<<<grid, block>>>(a, b)`.
pub(crate) fn launch_through(
    cx: &mut Checker<'_>,
    pointer: Value,
    ty: &Arc<FunctionTy>,
    configured: Configured,
    values: Vec<overload::Argument<'_>>,
    at: Span,
    span: Span,
) -> Result<Value, Reported> {
    let (grid, block, shared_bytes, stream) = configured;
    let mut params = ty.params.iter().zip(&ty.references);
    if params.any(|(param, is_reference)| !is_reference && cx.tables.has_destructor(&param.ty)) {
        // No code would destroy the argument.
        let what = "a launch through a pointer, of a kernel whose parameter has a destructor,";
        return Err(cx.unsupported(what, span));
    }
    let id = new_dispatcher(&mut cx.tables, &mut cx.pointers, ty, Role::Launched, span);
    let number = number_of(pointer);
    let none = || int(0, Ty::ULong, span);
    let given = values.len();
    let own = [
        number,
        grid,
        block,
        shared_bytes.unwrap_or_else(none),
        stream.unwrap_or_else(none),
    ];
    let values = own
        .into_iter()
        .map(overload::Argument::Value)
        .chain(values)
        .collect();
    let called = call::with(cx, id, at, given, values, span)?;
    Ok(method::read_checked(cx, called))
}

/// The function through which pointers of this type are called on the side of the code being checked.
fn dispatcher(cx: &mut Checker<'_>, ty: &Arc<FunctionTy>, at: Span) -> FunctionId {
    let role = match cx.body.may_be_device() {
        true => Role::CalledOnDevice,
        false => Role::CalledOnHost,
    };
    let id = dispatcher_of(cx, ty, role, at);
    if cx.body.space == Some(FunctionSpace::HostDevice) {
        let on_host = dispatcher_of(cx, ty, Role::CalledOnHost, at);
        cx.tables.functions[id].typed.on_host = Some(on_host);
    }
    id
}

fn dispatcher_of(cx: &mut Checker<'_>, ty: &Arc<FunctionTy>, role: Role, at: Span) -> FunctionId {
    let same = |known: &&Dispatcher| known.ty == *ty && known.role == role;
    if let Some(known) = cx.pointers.dispatchers.iter().find(same) {
        return known.id;
    }
    new_dispatcher(&mut cx.tables, &mut cx.pointers, ty, role, at)
}

fn new_dispatcher(
    tables: &mut Tables,
    pointers: &mut Pointers,
    ty: &Arc<FunctionTy>,
    role: Role,
    at: Span,
) -> FunctionId {
    let own = role.own_params(tables.dim3());
    let vars: Arena<VarId, Var> = own
        .into_iter()
        .map(|(name, ty)| temporary::plain_variable(tables, ty, name, at))
        .chain(ty.params.iter().zip(&ty.references).enumerate().map(
            |(i, (param, is_reference))| Var {
                ty: param.clone(),
                is_reference: *is_reference,
                ..temporary::plain_variable(tables, param.ty.clone(), &format!("argument{i}"), at)
            },
        ))
        .collect();
    let params = vars
        .iter()
        .map(|var| ParamFacts {
            name: Some(var.name.as_str().into()),
            ty: var.ty.clone(),
            span: at,
            default: None,
            is_reference: var.is_reference,
            is_rvalue: false,
            is_this: false,
            is_of_pack: false,
        })
        .collect();
    let shown = tables.show_type(&pointer_to(Ty::Function(ty.clone()).into()));
    let typed = Function {
        name: match role {
            Role::Launched => format!("a launch through {shown}"),
            _ => format!("a call through {shown}"),
        },
        space: match role {
            Role::CalledOnDevice => FunctionSpace::Device,
            Role::CalledOnHost | Role::Launched => FunctionSpace::Host,
        },
        result: ty.result.clone(),
        params: vars.ids().collect(),
        vars,
        span: at,
        ..Function::default()
    };
    let facts = FunctionFacts {
        params,
        declared: at,
        is_defined: true,
        ..FunctionFacts::default()
    };
    let id = tables.functions.push(FunctionEntry { typed, facts });
    pointers.dispatchers.push(Dispatcher {
        ty: ty.clone(),
        role,
        id,
    });
    id
}

/// Writes the bodies of the dispatchers, once all addresses that are taken are known.
pub(crate) fn finish_dispatchers(tables: &mut Tables, pointers: &Pointers) {
    for index in 0..pointers.dispatchers.len() {
        let Dispatcher { ty, role, id } = &pointers.dispatchers[index];
        let (ty, role, id) = (ty.clone(), *role, *id);
        let own_params = role.own_params(tables.dim3());
        let span = tables.functions[id].typed.span;
        let targets = pointed_functions(tables, pointers, &ty, role);
        let arms: Vec<_> = targets
            .iter()
            .map(|&target| dispatch_arm(target, &ty, role, &own_params, span))
            .collect();
        let mut body = Vec::new();
        if !arms.is_empty() {
            let otherwise = Vec::new();
            body.push(Stmt::new(StmtKind::If { arms, otherwise }, span));
        }
        body.push(no_target(role, span));
        let FunctionEntry { typed, facts } = &mut tables.functions[id];
        typed.body = Some(body);
        facts
            .calls
            .extend(targets.into_iter().map(|target| (target, span)));
    }
}

/// The functions that a pointer of this type can point to at its call.
fn pointed_functions(
    tables: &Tables,
    pointers: &Pointers,
    ty: &FunctionTy,
    role: Role,
) -> Vec<FunctionId> {
    let fits = |target: &FunctionId| {
        let FunctionEntry { typed, facts } = &tables.functions[*target];
        let side = match typed.space {
            FunctionSpace::Device => role == Role::CalledOnDevice,
            FunctionSpace::Host => role == Role::CalledOnHost,
            FunctionSpace::HostDevice => role != Role::Launched,
            FunctionSpace::Kernel => role == Role::Launched,
        };
        side && !typed.returns_reference && *function_type(typed, &facts.params) == *ty
    };
    let taken = pointers.address_taken.iter().copied();
    taken.filter(fits).collect()
}

/// A function's type, as in a pointer to it.
fn function_type(function: &Function, params: &[ParamFacts]) -> Arc<FunctionTy> {
    Arc::new(FunctionTy {
        result: function.result.clone(),
        params: params
            .iter()
            .map(|param| match param.is_reference {
                true => param.ty.clone(),
                false => param.ty.ty.clone().into(),
            })
            .collect(),
        references: params.iter().map(|param| param.is_reference).collect(),
    })
}

/// The address of a function.
pub(crate) fn function_constant(id: FunctionId, ty: Arc<FunctionTy>, span: Span) -> Value {
    let number = int(u64::from(id.0) + 1, Ty::ULong, span);
    Value::new(
        ValueKind::Convert(Box::new(number)),
        pointer_to(Ty::Function(ty).into()),
        span,
    )
}

/// The function that a pointer is known to point to.
pub(crate) fn known_function(pointer: &Value) -> Option<FunctionId> {
    pointed_function(&pointer.ty)?;
    match &pointer.kind {
        ValueKind::Convert(inner) if inner.ty.is_integral() => match inner.kind {
            ValueKind::Int(number) => number.checked_sub(1).map(|id| FunctionId(id as u32)),
            _ => None,
        },
        _ => None,
    }
}

/// The number that a pointer to a function holds.
fn number_of(pointer: Value) -> Value {
    let span = pointer.span;
    Value::new(ValueKind::Convert(Box::new(pointer)), Ty::ULong, span)
}

/// What a dispatcher does for one function: the test for its number, and the call.
fn dispatch_arm(
    target: FunctionId,
    ty: &FunctionTy,
    role: Role,
    own_params: &[(&str, Ty)],
    span: Span,
) -> (Value, Vec<Stmt>) {
    let variable = |index: usize, ty: &QualTy, is_reference: bool| {
        let var = VarRef::Local(VarId(index as u32));
        let place = Box::new(Place::new(PlaceKind::Var(var), ty.clone(), span));
        let (kind, ty) = match is_reference {
            true => (ValueKind::AddressOf(place), pointer_to(ty.clone())),
            false => (ValueKind::Load(place), ty.ty.clone()),
        };
        Value::new(kind, ty, span)
    };
    let number = int(u64::from(target.0) + 1, Ty::ULong, span);
    let own = variable(0, &Ty::ULong.into(), false);
    let is_it = ValueKind::Compare(Relation::Eq, Box::new(own), Box::new(number));
    let args = ty.params.iter().zip(&ty.references).enumerate();
    let args =
        args.map(|(i, (param, is_reference))| variable(own_params.len() + i, param, *is_reference));
    let args = args.collect();
    let own = |i: usize| variable(i, &own_params[i].1.clone().into(), false);
    let kind = match role {
        Role::Launched => ValueKind::Launch(Box::new(Launch {
            kernel: target,
            grid: own(1),
            block: own(2),
            shared_bytes: Some(own(3)),
            stream: Some(own(4)),
            cooperative: false,
            args,
        })),
        Role::CalledOnDevice | Role::CalledOnHost => ValueKind::Call(target, args),
    };
    let call = Value::new(kind, ty.result.clone(), span);
    let statement = |kind| Stmt::new(kind, span);
    let body = match ty.result {
        Ty::Void => vec![
            statement(StmtKind::Expr(call)),
            statement(StmtKind::Return(None)),
        ],
        _ => vec![statement(StmtKind::Return(Some(call)))],
    };
    (Value::new(is_it, Ty::Bool, span), body)
}

/// What a dispatcher does with an invalid pointer.
fn no_target(role: Role, span: Span) -> Stmt {
    let value = match role {
        Role::CalledOnDevice | Role::CalledOnHost => {
            let kind = ValueKind::Builtin(Builtin::Intrinsic(Intrinsic::BadCall), Vec::new());
            Value::new(kind, Ty::Void, span)
        }
        // `cudaErrorInvalidDeviceFunction`, as in CUDA's runtime.
        Role::Launched => {
            let kind = ValueKind::Host(HostFn::SetError, vec![int(98, Ty::Int, span)]);
            Value::new(kind, Ty::Int, span)
        }
    };
    Stmt::new(StmtKind::Expr(value), span)
}
