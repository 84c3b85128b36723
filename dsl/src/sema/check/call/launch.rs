//! Kernel launches: the callee, the configuration, the arguments.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Side, call, cleanup,
    convert::{self, Why},
    expr, function_template, init,
    overload::{self, Resolved},
    pack,
    pointer_call::{self, pointed_function},
    template, unknown,
};
use crate::{
    sema::{
        classify::Classify,
        scope::{Callable, Entity},
        ty::{FunctionTy, Ty},
        typed::{self, FunctionId, FunctionSpace, Value, ValueKind},
    },
    syntax::ast::{self, ExprKind},
};
use ir::span::{Span, Spanned};

/// The name of the launched function, the functions with this name, and its template arguments.
type Launched<'e> = (Arc<str>, Arc<[Callable]>, Option<&'e [ast::TemplateArg]>);

/// The numbers of blocks and threads, bytes of dynamic shared memory, the stream.
pub(crate) type Configured = (Value, Value, Option<Value>, Option<Value>);

/// `kernel<<<grid, block, shared, stream>>>(args)`.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    callee: &ast::Expr,
    config: &Spanned<Vec<ast::Expr>>,
    args: &[ast::Expr],
    span: Span,
) -> Result<Value, Reported> {
    let args = &*pack::expanded(cx, args);
    if let Some(pointer) = launched_pointer(cx, callee) {
        if cx.body.may_be_device() {
            let diagnostic = cx.tables.diagnostic(span, CallError::LaunchInDevice);
            cx.on_side(Side::Device, diagnostic);
            overload::arguments(cx, args);
            return Err(cx.body.reported_before(span));
        }
        let configured = launch_config(cx, config);
        let values = overload::arguments(cx, args);
        let ((pointer, ty), configured) = (pointer?, configured?);
        return pointer_call::launch_through(
            cx,
            pointer,
            &ty,
            configured,
            values,
            callee.span,
            span,
        );
    }
    let kernels = launched(cx, callee);
    let configured = launch_config(cx, config);
    let values = overload::arguments(cx, args);
    let (name, set, explicit) = kernels?;
    let found = overload::candidates(cx, &name, &set, explicit, &values, callee.span)?;
    let kernels = only_kernels(cx, &name, found, callee.span)?;
    let Resolved::Function(kernel) = overload::resolve(cx, &name, &kernels, &values, callee.span)?
    else {
        return Err(cx.body.reported_before(callee.span));
    };
    function_template::need(cx, kernel);
    if let Some(caller) = cx.body.id
        && !cx.body.may_be_device()
    {
        cx.tables.functions[caller]
            .facts
            .calls
            .push((kernel, callee.span));
    }
    let args = call::args(cx, kernel, args, values, callee.span, span);
    let (grid, block, shared_bytes, stream) = configured?;
    let launch = typed::Launch {
        kernel,
        grid,
        block,
        shared_bytes,
        stream,
        cooperative: false,
        args: args?.into_iter().map(|arg| kept(cx, arg)).collect(),
    };
    Ok(Value::new(
        ValueKind::Launch(Box::new(launch)),
        Ty::Void,
        span,
    ))
}

/// An argument whose class has a destructor: a temporary object on the host, which ends after the launch. The kernel gets its bytes.
fn kept(cx: &mut Checker<'_>, arg: Value) -> Value {
    if !cx.tables.has_destructor(&arg.ty) {
        return arg;
    }
    let (ty, span) = (arg.ty.clone(), arg.span);
    let place = cleanup::temporary_place(cx, arg);
    Value::new(ValueKind::Load(Box::new(place)), ty, span)
}

/// The pointer that is launched through; `None` if the callee seems to be a kernel's name.
fn launched_pointer(
    cx: &mut Checker<'_>,
    callee: &ast::Expr,
) -> Option<Result<(Value, Arc<FunctionTy>), Reported>> {
    match &callee.kind {
        ExprKind::Unsupported(_) | ExprKind::Error => return None,
        ExprKind::Path(path) if path.segments.len() > 1 || path.segments[0].args.is_some() => {
            return None;
        }
        ExprKind::Name(name) => match &cx.scopes.find(name)?.entity {
            Entity::Functions(_) | Entity::Template(_) | Entity::Error => return None,
            _ => {}
        },
        _ => {}
    }
    let n_diagnostics = cx.reporter.diagnostics.len();
    let value = match expr::value(cx, callee) {
        Ok(value) => value,
        Err(reported) => return Some(Err(reported)),
    };
    if let Some(ty) = pointed_function(&value.ty).cloned() {
        return Some(Ok((value, ty)));
    }
    cx.reporter.diagnostics.truncate(n_diagnostics);
    None
}

/// The kernels with the launched name: several if it is overloaded.
fn launched<'e>(cx: &mut Checker<'_>, callee: &'e ast::Expr) -> Result<Launched<'e>, Reported> {
    let (name, explicit) = match &callee.kind {
        ExprKind::Path(path) => template::path_name(cx, path)?,
        ExprKind::Name(name) => (name.clone(), None),
        ExprKind::Unsupported(construct) => {
            return Err(cx.unsupported(construct, callee.span));
        }
        ExprKind::Error => return Err(cx.body.reported_before(callee.span)),
        _ => return Err(cx.error(callee.span, CallError::LaunchOfValue)),
    };
    let found = cx.scopes.find(&name);
    match found.map(|binding| (binding.entity.clone(), binding.span)) {
        Some((Entity::Functions(set), _)) => Ok((name, set, explicit)),
        None => Err(unknown::name(cx, &name, callee.span, true)),
        Some((Entity::Error, _)) => Err(cx.body.reported_before(callee.span)),
        Some((_, declared)) => {
            let name = name.to_string();
            let message = CallError::LaunchOfNonKernel { name, declared };
            Err(cx.error(callee.span, message))
        }
    }
}

/// The kernels among some functions; reports if there are none.
fn only_kernels(
    cx: &mut Checker<'_>,
    name: &str,
    mut ids: Vec<FunctionId>,
    at: Span,
) -> Result<Vec<FunctionId>, Reported> {
    let Some(first) = ids.first().copied() else {
        return Err(cx.body.reported_before(at));
    };
    ids.retain(|id| cx.tables.functions[*id].typed.space == FunctionSpace::Kernel);
    if ids.is_empty() {
        let function = &cx.tables.functions[first].typed;
        let diagnostic = cx.tables.diagnostic(
            at,
            CallError::LaunchOfFunction {
                name: name.to_string(),
                space: function.space,
                declared: function.span,
            },
        );
        return Err(cx.reporter.report(diagnostic));
    }
    Ok(ids)
}

fn launch_config(
    cx: &mut Checker<'_>,
    config: &Spanned<Vec<ast::Expr>>,
) -> Result<Configured, Reported> {
    let exprs = &config.node;
    if exprs.len() < 2 || exprs.len() > 4 {
        let message = match exprs.len() {
            0 | 1 => CallError::LaunchTooFewValues,
            n => CallError::LaunchTooManyValues { n },
        };
        let reported = cx.error(config.span, message);
        call::check_args_alone(cx, exprs);
        return Err(reported);
    }
    let grid = extent(cx, &exprs[0], "the number of blocks");
    let block = extent(cx, &exprs[1], "the number of threads per block");
    let shared_bytes = exprs.get(2).map(|expr| shared_bytes(cx, expr));
    let stream = exprs.get(3).map(|expr| stream(cx, expr));
    Ok((
        grid?,
        block?,
        shared_bytes.transpose()?,
        stream.transpose()?,
    ))
}

/// A grid's or block's size as a `dim3`.
pub(crate) fn extent(
    cx: &mut Checker<'_>,
    expr: &ast::Expr,
    what: &'static str,
) -> Result<Value, Reported> {
    let dim3 = cx.tables.dim3();
    if let ExprKind::List(items) = &expr.kind {
        return init::list_value(cx, &dim3, items, expr.span);
    }
    let value = expr::value(cx, expr)?;
    let fits =
        value.ty.is_arithmetic() || value.ty == dim3 || cx.tables.is_vector(&value.ty, "uint3");
    if !fits {
        return Err(cx.error(
            expr.span,
            CallError::LaunchSizeType {
                what,
                ty: value.ty.clone(),
            },
        ));
    }
    if value.ty.is_floating() {
        // C++ converts it; if it is a call, such as of `ceil`, it may already be rounded.
        if !matches!(expr.kind, ExprKind::Call(..)) {
            let ty = value.ty.clone();
            let message = CallError::LaunchSizeFloating { what, ty };
            let message = cx.tables.diagnostic(expr.span, message);
            cx.reporter.report(message.as_warning());
        }
        let whole = convert::to_type(value, &Ty::UInt);
        return convert::implicit(cx, whole, &dim3, &Why::Operand);
    }
    if let ValueKind::Int(bits) = value.kind
        && (bits == 0 || (value.ty.is_signed() && (bits as i64) < 0))
    {
        // Only a warning: it compiles, the launch fails at run time, and a program may want to show that.
        let message = cx.tables.diagnostic(
            expr.span,
            CallError::LaunchSizeTooSmall {
                what,
                value: bits as i64,
            },
        );
        cx.reporter.report(message.as_warning());
    }
    convert::implicit(cx, value, &dim3, &Why::Operand)
}

pub(crate) fn shared_bytes(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Value, Reported> {
    let value = expr::value(cx, expr)?;
    if !value.ty.is_integral() {
        return Err(cx.error(
            expr.span,
            CallError::LaunchSharedBytesType {
                ty: value.ty.clone(),
            },
        ));
    }
    Ok(convert::to_type(value, &Ty::ULong))
}

pub(crate) fn stream(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Value, Reported> {
    let value = expr::value(cx, expr)?;
    let fits = match &value.ty {
        Ty::Pointer(_) => true,
        ty => ty.is_integral() && matches!(value.kind, ValueKind::Int(0)),
    };
    if !fits {
        return Err(cx.error(
            expr.span,
            CallError::LaunchStreamType {
                ty: value.ty.clone(),
            },
        ));
    }
    Ok(convert::to_type(value, &Ty::ULong))
}
