//! Calls of the runtime and of C's library, and the arguments that only they have: symbols, kernels, addresses of pointers.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, Side, all, attempt,
    builtin_call::{self, Called},
    convert, exchange, expr, format, function_template, overload, size_of_pointer, stmt, template,
    unknown,
};
use crate::{
    sema::{
        builtin::{Row, Signature},
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Builtin, FunctionId, FunctionSpace, PlaceKind, Value, ValueKind, VarRef},
    },
    syntax::ast::{self, ExprKind, UnaryOp},
};
use ir::{HostFn, Type, span::Span};

/// The host functions that CUDA also has in device code.
fn device_family(host: HostFn) -> Option<&'static str> {
    match host {
        HostFn::Memcpy | HostFn::Memset => Some("memory functions"),
        HostFn::Expf
        | HostFn::Logf
        | HostFn::Powf
        | HostFn::Sinf
        | HostFn::Cosf
        | HostFn::Tanhf
        | HostFn::Log2
        | HostFn::Log10
        | HostFn::Tan
        | HostFn::Atan
        | HostFn::Atan2 => Some("math functions"),
        _ => None,
    }
}

/// `memcpy` and `memset` in device code: loops over units that both sides are aligned to if the number of bytes is constant, else over
/// bytes.
fn device_copy(
    cx: &mut Checker<'_>,
    host: HostFn,
    called: &Called<'_>,
) -> Result<Option<Value>, Reported> {
    if called.args.len() != 3 {
        return Ok(None);
    }
    let values: Vec<_> = attempt::tentatively(cx, |cx| {
        let args = called.args.iter();
        args.map(|arg| expr::value(cx, arg)).collect()
    });
    let align = |value: &Result<Value, Reported>| match value {
        Ok(Value {
            ty: Ty::Pointer(pointee),
            ..
        }) => cx.tables.align_of(&pointee.ty).max(1),
        _ => 16,
    };
    let unit = match &values[2] {
        Ok(Value {
            kind: ValueKind::Int(n),
            ..
        }) => {
            let n = 1u64 << n.trailing_zeros().min(4);
            let unit = n.min(align(&values[0])).min(16);
            match host {
                HostFn::Memset => unit.min(8),
                _ => unit.min(align(&values[1])),
            }
        }
        _ => 1,
    };
    let what = match host {
        HostFn::Memset => "memset",
        _ => "memcpy",
    };
    let name: Arc<str> = format!("__dslc_{what}_{unit}").into();
    match exchange::prelude_functions(&cx.scopes, &name) {
        Some(set) => exchange::call_prelude(cx, &name, &set, called).map(Some),
        None => Ok(None),
    }
}

/// A call of the host's library: CUDA's runtime, C's input and output.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    row: &Row,
    host: HostFn,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    if matches!(host, HostFn::Memcpy | HostFn::Memset)
        && cx.body.may_be_device()
        && let Some(value) = device_copy(cx, host, called)?
    {
        return Ok(value);
    }
    // Kernels may call some of the runtime's functions, too.
    if cx.body.may_be_device() {
        let name: Arc<str> = format!("__dslc_device_{}", called.name).into();
        if let Some(set) = exchange::prelude_functions(&cx.scopes, &name) {
            return exchange::call_prelude(cx, &name, &set, called);
        }
    }
    match device_family(host) {
        None if matches!(host, HostFn::Malloc | HostFn::Free) => {}
        Some(what) => builtin_call::not_on_device(cx, called.name, what, called.name_span),
        None => {
            let diagnostic = cx.tables.diagnostic(
                called.name_span,
                CallError::HostCallInDevice {
                    name: called.name.to_string(),
                    waits: host == HostFn::CudaDeviceSynchronize,
                },
            );
            cx.on_side(Side::Device, diagnostic);
        }
    }
    size_of_pointer::check(cx, host, called);
    let signature = Signature::parse(row.signature);
    let result = builtin_call::word_type(&cx.scopes, &signature.result);
    let mut args = builtin_call::fixed_args(cx, &signature, called)?;
    if let (true, Some(format)) = (signature.variadic, signature.params.len().checked_sub(1)) {
        format::check(
            &cx.tables,
            &mut cx.reporter,
            &args,
            format,
            called.name_span,
        );
    } else {
        args.truncate(host.args().len());
    }
    let args = args
        .into_iter()
        .enumerate()
        .map(|(i, arg)| as_runtime_wants(arg, host.args().get(i)))
        .collect();
    // `log2f` is computed in double precision.
    let given = match host.result() {
        Some(Type::F64) => Ty::Double,
        Some(Type::F32) => Ty::Float,
        _ => result.clone(),
    };
    let value = Value::new(ValueKind::Host(host, args), given, called.span);
    Ok(convert::to_type(value, &result))
}

/// Streams and events are 64-bit numbers in the runtime.
fn as_runtime_wants(arg: Value, want: Option<&Type>) -> Value {
    match (want, &arg.ty) {
        (Some(Type::I64), Ty::Pointer(_)) => convert::to_type(arg, &Ty::ULong),
        _ => arg,
    }
}

/// The address of a pointer variable: `cudaMalloc(&p, n)`, whatever `p` points to.
pub(crate) fn pointer_pointer(
    cx: &mut Checker<'_>,
    arg: &ast::Expr,
    index: usize,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let value = expr::value(cx, arg)?;
    let inner = match &value.ty {
        Ty::Pointer(pointee) => Some(pointee.ty.clone()),
        _ => None,
    };
    if matches!(inner, Some(Ty::Pointer(_) | Ty::Void)) {
        return Ok(convert::to_type(value, &pointer_to(Ty::Void.into())));
    }
    let snippet = cx.map.snippet(arg.span).to_string();
    // The `&` is there already, so the name means another variable than the one intended: one from a macro.
    let meant = stripped(arg);
    let is_address = !std::ptr::eq(meant, arg);
    let declared = match &meant.kind {
        ExprKind::Name(name) if is_address => cx.scopes.find(name).map(|binding| binding.span),
        _ => None,
    };
    Err(cx.error(
        arg.span,
        CallError::NotAddressOfPointer {
            position: index + 1,
            name: called.name.to_string(),
            ty: value.ty.clone(),
            pointer: inner.filter(|_| !is_address).map(|_| snippet),
            declared,
        },
    ))
}

/// A `__device__` or `__constant__` variable named as an argument.
pub(crate) fn symbol(
    cx: &mut Checker<'_>,
    arg: &ast::Expr,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let inner = stripped(arg);
    let called = called.name.to_string();
    if let ExprKind::Path(path) = &inner.kind {
        return symbol_of_template(cx, path, arg.span, called);
    }
    let ExprKind::Name(name) = &inner.kind else {
        return Err(cx.error(arg.span, CallError::SymbolMustBeNamed { called }));
    };
    let found = cx.scopes.find(name);
    let message = match found.map(|binding| (binding.entity.clone(), binding.span)) {
        Some((Entity::Global(id), declared)) => {
            if cx.tables.globals[id].typed.space.is_device() {
                let ty = pointer_to(Ty::Void.into());
                return Ok(Value::new(ValueKind::Symbol(id), ty, arg.span));
            }
            let name = name.to_string();
            CallError::NotDeviceVariable { name, declared }
        }
        Some((Entity::Local(_), declared)) => {
            let name = name.to_string();
            CallError::LocalAsSymbol { name, declared }
        }
        Some((Entity::Error, _)) => return Err(cx.body.reported_before(arg.span)),
        Some(_) => {
            let name = name.to_string();
            CallError::NotASymbol { name, called }
        }
        None => return Err(unknown::name(cx, name, arg.span, false)),
    };
    Err(cx.error(arg.span, message))
}

/// `mask<float>` of a variable template.
fn symbol_of_template(
    cx: &mut Checker<'_>,
    path: &ast::Path,
    span: Span,
    called: String,
) -> Result<Value, Reported> {
    // The variable is named, not read.
    cx.mode.unevaluated += 1;
    let checked = template::path_expr(cx, path, span);
    cx.mode.unevaluated -= 1;
    if let Checked::Place(place) = &checked?
        && let PlaceKind::Var(VarRef::Global(id)) = place.kind
        && cx.tables.globals[id].typed.space.is_device()
    {
        let ty = pointer_to(Ty::Void.into());
        return Ok(Value::new(ValueKind::Symbol(id), ty, span));
    }
    Err(cx.error(span, CallError::SymbolMustBeNamed { called }))
}

/// A kernel named as an argument.
pub(crate) fn kernel_arg(
    cx: &mut Checker<'_>,
    arg: &ast::Expr,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let id = kernel_named(cx, arg, called)?;
    Ok(Value::new(ValueKind::Kernel(id), Ty::Int, arg.span))
}

/// The kernel that an argument names.
pub(crate) fn kernel_named(
    cx: &mut Checker<'_>,
    arg: &ast::Expr,
    called: &Called<'_>,
) -> Result<FunctionId, Reported> {
    let inner = stripped(arg);
    let (name, explicit) = match &inner.kind {
        ExprKind::Path(path) => template::path_name(cx, path)?,
        ExprKind::Name(name) => (name.clone(), None),
        _ => {
            let name = called.name.to_string();
            return Err(cx.error(arg.span, CallError::KernelMustBeNamed { name }));
        }
    };
    let entity = cx.scopes.find(&name).map(|binding| binding.entity.clone());
    let ids = match &entity {
        Some(Entity::Functions(set)) => {
            let mut ids = match explicit {
                None => overload::functions_of(cx, set),
                Some(_) => Vec::new(),
            };
            ids.extend(template::instances(cx, set, explicit, &[], arg.span));
            ids
        }
        _ => Vec::new(),
    };
    for &id in &ids {
        function_template::need(cx, id);
    }
    let id = match (&ids[..], entity) {
        (&[id], _) => id,
        ([], None) => return Err(unknown::name(cx, &name, arg.span, true)),
        ([], Some(Entity::Error)) => return Err(cx.body.reported_before(arg.span)),
        ([], Some(_)) => {
            let name = name.to_string();
            return Err(cx.error(arg.span, CallError::NotAKernel { name }));
        }
        (several, _) => {
            return Err(overload::which_overload(
                &cx.tables,
                &mut cx.reporter,
                &name,
                several,
                arg.span,
            ));
        }
    };
    let function = &cx.tables.functions[id].typed;
    if function.space != FunctionSpace::Kernel {
        let message = CallError::FunctionIsNoKernel {
            name: name.to_string(),
            space: function.space,
            declared: function.span,
        };
        return Err(cx.error(arg.span, message));
    }
    Ok(id)
}

/// `printf`, of the host or of the device.
pub(crate) fn printf(cx: &mut Checker<'_>, called: &Called<'_>) -> Result<Value, Reported> {
    let span = called.span;
    if called.args.is_empty() {
        return Err(builtin_call::wrong_count(cx, called, 1, 1, true));
    }
    let format = pointer_to(crate::sema::classify::constant(Ty::Char));
    let why = convert::Why::Argument(1, called.name, None);
    let mut args = all(called.args.iter().enumerate().map(|(i, arg)| {
        let value = expr::value(cx, arg)?;
        match i {
            0 => convert::implicit(cx, value, &format, &why),
            _ => convert::promote_variadic(&cx.tables, &mut cx.reporter, value),
        }
    }))?;
    format::check(&cx.tables, &mut cx.reporter, &args, 0, called.name_span);
    if !cx.body.may_be_device() {
        let kind = ValueKind::Host(HostFn::Printf, args);
        return Ok(Value::new(kind, Ty::Int, span));
    }
    let format = args.remove(0);
    let ValueKind::Str(text) = format.kind else {
        return Err(cx.unsupported(
            "a `printf` format in device code that is not a literal",
            format.span,
        ));
    };
    let kind = ValueKind::Builtin(Builtin::Printf(text), args);
    Ok(Value::new(kind, Ty::Int, span))
}

/// `assert(condition)`.
pub(crate) fn assert(cx: &mut Checker<'_>, called: &Called<'_>) -> Result<Value, Reported> {
    let span = called.span;
    let [arg] = called.args else {
        return Err(builtin_call::wrong_count(cx, called, 1, 1, false));
    };
    let cond = stmt::condition(cx, arg)?;
    let text = cx.map.snippet(arg.span).as_bytes().into();
    let site = cx.map.use_site(span);
    let line = cx.map.file(site.file).line_column(site.start).0;
    if !cx.body.may_be_device() {
        return Ok(host_assert(cond, text, line, span));
    }
    let kind = ValueKind::Builtin(Builtin::Assert(text, line), vec![cond]);
    Ok(Value::new(kind, Ty::Void, span))
}

/// `assert` on the host: `condition ? 0 : fail(text, line)`.
pub(crate) fn host_assert(cond: Value, text: Arc<[u8]>, line: u32, span: Span) -> Value {
    let fail = vec![
        Value::new(
            ValueKind::Str(text),
            pointer_to(crate::sema::classify::constant(Ty::Char)),
            span,
        ),
        crate::sema::check::int(u64::from(line), Ty::Int, span),
    ];
    let fail = Value::new(ValueKind::Host(HostFn::AssertFail, fail), Ty::Int, span);
    let nothing = |value: Value| Value::new(ValueKind::Convert(Box::new(value)), Ty::Void, span);
    let (passed, failed) = (
        nothing(crate::sema::check::int(0, Ty::Int, span)),
        nothing(fail),
    );
    Value::new(
        ValueKind::Conditional(Box::new(cond), Box::new(passed), Box::new(failed)),
        Ty::Void,
        span,
    )
}

/// Removes the casts and `&` that programs put around symbols and kernels.
pub(crate) fn stripped(mut arg: &ast::Expr) -> &ast::Expr {
    loop {
        arg = match &arg.kind {
            ExprKind::Cast(_, inner) | ExprKind::Unary(UnaryOp::AddressOf, inner) => inner,
            _ => return arg,
        };
    }
}
