//! Calls of built-in functions: fixed signatures, and the overloads that the arguments decide.

mod fixed;

pub(crate) use fixed::{fixed_args, prelude_type, word_type, wrong_count};

use crate::sema::check::{
    Checked, Checker, Reported, Reporter, Side, Tables, access, all, atomic, call,
    convert::{self, Why},
    exchange, expr, host_call, int, launch_call,
};
use crate::sema::message::call::CallError;
use crate::{
    sema::{
        builtin::{Atomic, Entry, Make, Overload, Row, Sides, Signature},
        classify::{Classify, common, promoted},
        ty::Ty,
        typed::{Builtin, Place, PlaceKind, Relation, Value, ValueKind},
    },
    syntax::ast,
};
use ir::{BinaryOp, CompareOp, HostFn, Intrinsic, SpecialReg, Type, UnaryOp, VoteOp, span::Span};

/// A call in the source.
pub(crate) struct Called<'c> {
    pub(crate) name: &'c str,
    pub(crate) name_span: Span,
    pub(crate) args: &'c [ast::Expr],
    pub(crate) span: Span,
}

/// A call of a name from the table.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    name: &str,
    entry: Entry,
    name_span: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    let called = Called {
        name,
        name_span,
        args,
        span,
    };
    let value = match entry {
        Entry::Function(row) => fixed(cx, row, &called)?,
        Entry::Overloaded(Overload::Ldg) => return ldg(cx, &called),
        Entry::Overloaded(Overload::LaunchKernel { cooperative }) => {
            launch_call::check(cx, &called, cooperative)?
        }
        Entry::Overloaded(Overload::StoreThrough) => store_through(cx, &called)?,
        Entry::Overloaded(overload) => overloaded(cx, overload, &called)?,
        Entry::Unsupported(what) => {
            let reported = expr::unsupported_builtin(cx, name, what, name_span);
            call::check_args_alone(cx, args);
            return Err(reported);
        }
        Entry::Index(..) | Entry::WarpSize | Entry::Stream(_) | Entry::Constant(_) => {
            let (name, declared) = (name.to_string(), None);
            return Err(cx.error(name_span, CallError::NotAFunction { name, declared }));
        }
    };
    Ok(Checked::Value(value))
}

fn fixed(cx: &mut Checker<'_>, row: &Row, called: &Called<'_>) -> Result<Value, Reported> {
    if let Make::Host(host) = row.make {
        return host_call::check(cx, row, host, called);
    }
    if row.sides == Sides::Device {
        let is_barrier = matches!(
            row.make,
            Make::SyncThreads
                | Make::SyncThreadsReduce(_)
                | Make::Intrinsic(
                    Intrinsic::SyncWarp | Intrinsic::BarSync | Intrinsic::BarrierSync
                )
        );
        require_device(cx, called, is_barrier);
    }
    let signature = Signature::parse(row.signature);
    let result = word_type(&cx.scopes, &signature.result);
    let args = fixed_args(cx, &signature, called)?;
    make(cx, row.make, args, &result, called.span)
}

/// Reports a device function in host code.
pub(crate) fn require_device_call(cx: &mut Checker<'_>, called: &Called<'_>) {
    require_device(cx, called, false);
}

fn require_device(cx: &mut Checker<'_>, called: &Called<'_>, is_barrier: bool) {
    // The library's `__host__ __device__` functions use bit operations on both sides.
    if cx.options.is_own(called.name_span) {
        return;
    }
    let message = CallError::DeviceFunctionOnly {
        name: called.name.to_string(),
        is_barrier,
    };
    cx.on_side(Side::Host, cx.tables.diagnostic(called.name_span, message));
}

fn make(
    cx: &mut Checker<'_>,
    make: Make,
    mut args: Vec<Value>,
    result: &Ty,
    span: Span,
) -> Result<Value, Reported> {
    let operand = args.first().map_or(Ty::Void, |arg| arg.ty.clone());
    let (builtin, ty) = match make {
        Make::Unary(op) => (Builtin::Unary(op), operand),
        Make::Binary(op) => (Builtin::Binary(op), operand),
        Make::Fma => (Builtin::Fma, operand),
        Make::FmaHalves => (Builtin::FmaHalves, operand),
        Make::FmaBfloats => (Builtin::FmaBfloats, operand),
        Make::Ffs => (Builtin::Ffs, operand),
        Make::Abs => (Builtin::AbsInt, operand),
        Make::OnDevice => (Builtin::OnDevice, result.clone()),
        Make::Bits(op) => (Builtin::Convert(op), result.clone()),
        Make::SyncThreads => (Builtin::SyncThreads, Ty::Void),
        Make::SyncThreadsReduce(op) => (Builtin::SyncThreadsReduce(op), Ty::Int),
        Make::Fence(scope) => (Builtin::Fence(scope), Ty::Void),
        Make::AcqRelFence(scope) => (Builtin::AcqRelFence(scope), Ty::Void),
        Make::Intrinsic(intrinsic) => (Builtin::Intrinsic(intrinsic), result.clone()),
        Make::Vote(op) => {
            let truth = args.pop().map(|arg| predicate(cx, arg)).transpose()?;
            args = truth.into_iter().chain(args).collect();
            let ty = if op == VoteOp::Ballot {
                Ty::UInt
            } else {
                Ty::Bool
            };
            (Builtin::Vote(op), ty)
        }
        Make::Special(reg) => {
            let wide = reg.ty() == Type::I64;
            let ty = if wide { Ty::ULongLong } else { Ty::UInt };
            (Builtin::Special(reg), ty)
        }
        Make::Round(None) => {
            let value = args.remove(0);
            return Ok(spanned(convert::to_type(value, result), span));
        }
        Make::Round(Some(op)) => (Builtin::Unary(op), operand),
        Make::Custom(custom) => {
            let value = custom(args, span);
            return Ok(convert::to_type(value, result));
        }
        Make::Host(host) => {
            return Ok(Value::new(
                ValueKind::Host(host, args),
                result.clone(),
                span,
            ));
        }
    };
    let value = Value::new(ValueKind::Builtin(builtin, args), ty, span);
    Ok(convert::to_type(value, result))
}

fn overloaded(
    cx: &mut Checker<'_>,
    overload: Overload,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    match overload {
        Overload::Printf => return host_call::printf(cx, called),
        Overload::Assert => return host_call::assert(cx, called),
        Overload::Clock => return clock(cx, called),
        _ => {}
    }
    match overload {
        Overload::Shuffle(mode, masked) => return exchange::shuffle(cx, mode, masked, called),
        Overload::MatchAny | Overload::MatchAll => {
            return exchange::match_values(cx, overload == Overload::MatchAll, called);
        }
        Overload::Reduce(op) => return exchange::reduce(cx, op, called),
        _ => {}
    }
    let n = match overload {
        Overload::Real2(_) | Overload::Library2(..) | Overload::Min | Overload::Max => 2,
        Overload::Fma | Overload::Atomic(Atomic::Cas, _) => 3,
        Overload::Atomic(..) => 2,
        Overload::MakeVector(name) => name
            .chars()
            .last()
            .and_then(|c| c.to_digit(10))
            .unwrap_or(1) as usize,
        _ => 1,
    };
    if called.args.len() != n {
        return Err(wrong_count(cx, called, n, n, false));
    }
    let args = expr::values(cx, called.args)?;
    match overload {
        Overload::MakeVector(name) => make_vector(cx, name, args, called),
        Overload::Atomic(atomic, scope) => atomic::check(cx, (atomic, scope), args, called),
        _ => math(cx, overload, args, called),
    }
}

fn make_vector(
    cx: &mut Checker<'_>,
    name: &str,
    args: Vec<Value>,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let Some(id) = cx.tables.vector(name) else {
        return Err(cx.body.reported_before(called.span));
    };
    let component = cx.tables.record(id).fields[0].ty.ty.clone();
    let members = all(args.into_iter().enumerate().map(|(i, arg)| {
        let why = Why::Argument(i + 1, called.name, None);
        convert::implicit(cx, arg, &component, &why)
    }))?;
    let kind = ValueKind::Aggregate(members);
    Ok(Value::new(kind, Ty::Record(id), called.span))
}

/// Overloads on numbers.
fn math(
    cx: &mut Checker<'_>,
    overload: Overload,
    args: Vec<Value>,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    if let Some(arg) = args.iter().find(|arg| !arg.ty.is_arithmetic()) {
        return Err(cx.error(
            arg.span,
            CallError::NotForNumbers {
                name: called.name.to_string(),
                ty: arg.ty.clone(),
            },
        ));
    }
    let span = called.span;
    match overload {
        Overload::Min | Overload::Max => {
            return Ok(min_max(
                &cx.tables,
                &mut cx.reporter,
                overload == Overload::Max,
                args,
                called,
            ));
        }
        Overload::Abs => return Ok(abs(args, span)),
        _ => {}
    }
    // Only `float` arguments: in single precision. Anything else, including integers, in double.
    let ty = if args.iter().all(|arg| arg.ty == Ty::Float) {
        Ty::Float
    } else {
        Ty::Double
    };
    let mut args: Vec<Value> = args
        .into_iter()
        .map(|arg| convert::to_type(arg, &ty))
        .collect();
    let builtin = match overload {
        Overload::Real1(op) => Builtin::Unary(op),
        Overload::Real2(op) => Builtin::Binary(op),
        Overload::Fma => Builtin::Fma,
        Overload::Library1(double, single) | Overload::Library2(double, single) => {
            return Ok(library(cx, double, single, args, &ty, called));
        }
        Overload::IsNan => {
            let kind = ValueKind::Builtin(Builtin::Compare(CompareOp::FNe), args);
            return Ok(Value::new(kind, Ty::Bool, span));
        }
        Overload::IsInf => return Ok(against_infinity(Relation::Eq, args, &ty, span)),
        Overload::IsFinite => return Ok(against_infinity(Relation::Lt, args, &ty, span)),
        Overload::SignBit => return Ok(sign_bit(args.remove(0), &ty, span)),
        _ => return Err(cx.body.reported_before(span)),
    };
    Ok(Value::new(ValueKind::Builtin(builtin, args), ty, span))
}

/// C's library: on the host a call of the runtime; not yet supported in device code.
fn library(
    cx: &mut Checker<'_>,
    double: HostFn,
    single: Option<HostFn>,
    args: Vec<Value>,
    ty: &Ty,
    called: &Called<'_>,
) -> Value {
    not_on_device(cx, called.name, "math functions", called.name_span);
    let span = called.span;
    if let (Ty::Float, Some(single)) = (ty, single) {
        return Value::new(ValueKind::Host(single, args), Ty::Float, span);
    }
    let args = args
        .into_iter()
        .map(|arg| convert::to_type(arg, &Ty::Double))
        .collect();
    let value = Value::new(ValueKind::Host(double, args), Ty::Double, span);
    convert::to_type(value, ty)
}

/// Reports a host function that CUDA also has on the device and this compiler does not yet support there.
pub(crate) fn not_on_device(cx: &mut Checker<'_>, name: &str, what: &'static str, span: Span) {
    if !cx.body.may_be_device()
        || !cx
            .reporter
            .reported_once
            .insert((None, format!("device {name}")))
    {
        return;
    }
    let diagnostic = cx.tables.diagnostic(
        span,
        CallError::UnsupportedInDevice {
            name: name.to_string(),
            what,
        },
    );
    cx.on_side(Side::Device, diagnostic);
}

fn against_infinity(relation: Relation, args: Vec<Value>, ty: &Ty, span: Span) -> Value {
    let size = Value::new(
        ValueKind::Builtin(Builtin::Unary(UnaryOp::FAbs), args),
        ty.clone(),
        span,
    );
    let infinity = Value::new(ValueKind::Float(f64::INFINITY), ty.clone(), span);
    Value::new(
        ValueKind::Compare(relation, Box::new(size), Box::new(infinity)),
        Ty::Bool,
        span,
    )
}

fn min_max(
    tables: &Tables,
    reporter: &mut Reporter,
    is_max: bool,
    args: Vec<Value>,
    called: &Called<'_>,
) -> Value {
    let span = called.span;
    let (a, b) = (promoted(&args[0].ty), promoted(&args[1].ty));
    let ty = common(&a, &b);
    if ty.is_floating() && (a.is_integral() || b.is_integral()) {
        reporter.error(
            tables,
            called.name_span,
            CallError::AmbiguousForNvcc {
                name: called.name.to_string(),
                a: args[0].ty.clone(),
                b: args[1].ty.clone(),
            },
        );
    }
    let op = match (is_max, ty.is_floating(), ty.is_signed()) {
        (true, true, _) => BinaryOp::FMax,
        (false, true, _) => BinaryOp::FMin,
        (true, false, true) => BinaryOp::SMax,
        (true, false, false) => BinaryOp::UMax,
        (false, false, true) => BinaryOp::SMin,
        (false, false, false) => BinaryOp::UMin,
    };
    let args = args
        .into_iter()
        .map(|arg| convert::to_type(arg, &ty))
        .collect();
    Value::new(ValueKind::Builtin(Builtin::Binary(op), args), ty, span)
}

fn abs(args: Vec<Value>, span: Span) -> Value {
    let ty = promoted(&args[0].ty);
    let args: Vec<Value> = args
        .into_iter()
        .map(|arg| convert::to_type(arg, &ty))
        .collect();
    let builtin = if ty.is_floating() {
        Builtin::Unary(UnaryOp::FAbs)
    } else {
        Builtin::AbsInt
    };
    Value::new(ValueKind::Builtin(builtin, args), ty, span)
}

/// `__ldg(p)` reads `*p`.
fn ldg(cx: &mut Checker<'_>, called: &Called<'_>) -> Result<Checked, Reported> {
    require_device_call(cx, called);
    let [arg] = called.args else {
        return Err(wrong_count(cx, called, 1, 1, false));
    };
    let pointer = expr::value(cx, arg)?;
    let pointee = access::pointee(&cx.tables, &mut cx.reporter, &pointer, "read")?;
    let place = Place::new(PlaceKind::ReadOnly(Box::new(pointer)), pointee, called.span);
    Ok(Checked::Value(expr::load(cx, place)))
}

/// `__stcg(p, x)` is `*p = x`.
fn store_through(cx: &mut Checker<'_>, called: &Called<'_>) -> Result<Value, Reported> {
    require_device_call(cx, called);
    let [pointer, value] = called.args else {
        return Err(wrong_count(cx, called, 2, 2, false));
    };
    let (pointer, value) = (expr::value(cx, pointer), expr::value(cx, value));
    let pointer = pointer?;
    let pointee = access::pointee(&cx.tables, &mut cx.reporter, &pointer, "written to")?;
    if pointee.is_const {
        return Err(cx.error(
            pointer.span,
            CallError::CannotWriteThrough {
                name: called.name.to_string(),
                ty: pointer.ty.clone(),
            },
        ));
    }
    let value = convert::implicit(
        cx,
        value?,
        &pointee.ty,
        &Why::Argument(2, called.name, None),
    )?;
    let place = Place::new(PlaceKind::Deref(Box::new(pointer)), pointee, called.span);
    let ty = place.ty.ty.clone();
    let stored = Value::new(
        ValueKind::Assign(Box::new(place), Box::new(value)),
        ty,
        called.span,
    );
    Ok(convert::to_type(stored, &Ty::Void))
}

/// An `int` parameter that is used as a condition: a `bool` argument stays a `bool`.
fn predicate(cx: &mut Checker<'_>, value: Value) -> Result<Value, Reported> {
    match value.kind {
        ValueKind::Convert(inner) if inner.ty == Ty::Bool => Ok(*inner),
        _ => convert::truth_value(cx, value),
    }
}

fn clock(cx: &mut Checker<'_>, called: &Called<'_>) -> Result<Value, Reported> {
    let span = called.span;
    if !called.args.is_empty() {
        return Err(wrong_count(cx, called, 0, 0, false));
    }
    if !cx.body.may_be_device() {
        let kind = ValueKind::Host(HostFn::Clock, Vec::new());
        return Ok(Value::new(kind, Ty::Long, span));
    }
    let ticks = expr::special_value(SpecialReg::Clock, span);
    Ok(convert::to_type(ticks, &Ty::Long))
}

fn spanned(mut value: Value, span: Span) -> Value {
    value.span = span;
    value
}

/// The sign of a number's bits.
fn sign_bit(value: Value, ty: &Ty, span: Span) -> Value {
    use ir::ConvertOp;
    let (op, bits_ty) = if *ty == Ty::Float {
        (ConvertOp::F32Bits, Ty::Int)
    } else {
        (ConvertOp::F64Bits, Ty::LongLong)
    };
    let bits = Value::new(
        ValueKind::Builtin(Builtin::Convert(op), vec![value]),
        bits_ty.clone(),
        span,
    );
    let zero = int(0, bits_ty, span);
    Value::new(
        ValueKind::Compare(Relation::Lt, Box::new(bits), Box::new(zero)),
        Ty::Bool,
        span,
    )
}
