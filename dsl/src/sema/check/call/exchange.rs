//! Shuffles, matches and reductions over a warp: which forms CUDA has, chosen by the value's type.

use crate::sema::message::call::CallError;
use crate::sema::scope::Scopes;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Reporter, Tables, all,
    builtin_call::{self, Called},
    call,
    convert::{self, Why},
    expr, int, method, overload,
};
use crate::sema::{
    classify::{Classify, pointer_to, promoted},
    scope::{Callable, Entity},
    ty::Ty,
    typed::{Builtin, Value, ValueKind},
};
use ir::{ReduceOp, ShuffleMode};

/// `__shfl_down_sync(mask, value, delta, width)`, or without the mask.
pub(crate) fn shuffle(
    cx: &mut Checker<'_>,
    mode: ShuffleMode,
    masked: bool,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let first = usize::from(masked);
    let args = exchange_args(cx, first + 2, first + 3, called)?;
    let mut args = args.into_iter().enumerate();
    let mut next = |cx: &mut Checker<'_>, ty: Option<&Ty>| {
        let (i, arg) = args.next()?;
        let why = Why::Argument(i + 1, called.name, None);
        Some(match ty {
            Some(ty) => convert::implicit(cx, arg, ty, &why),
            None => Ok(convert::promote(arg)),
        })
    };
    let mask = if masked {
        next(cx, Some(&Ty::UInt))
    } else {
        None
    };
    let lane_ty = match mode {
        ShuffleMode::Up | ShuffleMode::Down => Ty::UInt,
        ShuffleMode::Idx | ShuffleMode::Xor => Ty::Int,
    };
    let (Some(value), Some(lane)) = (next(cx, None), next(cx, Some(&lane_ty))) else {
        return Err(cx.body.reported_before(called.span));
    };
    let width = next(cx, Some(&Ty::Int)).unwrap_or_else(|| Ok(int(32, Ty::Int, called.span)));
    let value = value?;
    if let Ty::Record(_) = value.ty
        && let Some(shuffled) = library_form(cx, called)?
    {
        return Ok(shuffled);
    }
    if !value.ty.is_arithmetic() {
        return Err(no_exchange(
            &cx.tables,
            &mut cx.reporter,
            "numbers of 32 and 64 bits",
            &value,
            called,
        ));
    }
    let ty = value.ty.clone();
    let args = [Ok(value), lane, width].into_iter().chain(mask);
    Ok(exchange(Builtin::Shuffle(mode), all(args)?, ty, called))
}

/// `__match_any_sync(mask, value)`, `__match_all_sync(mask, value, &truth)`.
pub(crate) fn match_values(
    cx: &mut Checker<'_>,
    is_all: bool,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let n = if is_all { 3 } else { 2 };
    let args = exchange_args(cx, n, n, called)?;
    let mut args = args.into_iter();
    let (Some(mask), Some(value)) = (args.next(), args.next()) else {
        return Err(cx.body.reported_before(called.span));
    };
    let mask = convert::implicit(cx, mask, &Ty::UInt, &Why::Argument(1, called.name, None));
    let value = convert::promote(value);
    if !value.ty.is_arithmetic() {
        return Err(no_exchange(
            &cx.tables,
            &mut cx.reporter,
            "numbers of 32 and 64 bits",
            &value,
            called,
        ));
    }
    let mut operands = vec![Ok(value), mask];
    let mut builtin = Builtin::MatchAny;
    if let Some(truth) = args.next() {
        let pointer = pointer_to(Ty::Int.into());
        operands.push(convert::implicit(
            cx,
            truth,
            &pointer,
            &Why::Argument(3, called.name, None),
        ));
        builtin = Builtin::MatchAll;
    }
    Ok(exchange(builtin, all(operands)?, Ty::UInt, called))
}

/// `__reduce_add_sync(mask, value)`.
pub(crate) fn reduce(
    cx: &mut Checker<'_>,
    op: ReduceOp,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let args = exchange_args(cx, 2, 2, called)?;
    let mut args = args.into_iter();
    let (Some(mask), Some(value)) = (args.next(), args.next()) else {
        return Err(cx.body.reported_before(called.span));
    };
    let mask = convert::implicit(cx, mask, &Ty::UInt, &Why::Argument(1, called.name, None));
    let (op, ty) = match (op, promoted(&value.ty)) {
        // Bitwise reductions exist for `unsigned` alone.
        (ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, ty) if ty.is_arithmetic() => (op, Ty::UInt),
        (ReduceOp::UMin, Ty::Int) => (ReduceOp::SMin, Ty::Int),
        (ReduceOp::UMax, Ty::Int) => (ReduceOp::SMax, Ty::Int),
        (op, ty @ (Ty::Int | Ty::UInt)) => (op, ty),
        _ => {
            return Err(no_exchange(
                &cx.tables,
                &mut cx.reporter,
                "`int` and `unsigned`",
                &value,
                called,
            ));
        }
    };
    let value = convert::implicit(cx, value, &ty, &Why::Argument(2, called.name, None));
    let operands = all([value, mask])?;
    Ok(exchange(Builtin::Reduce(op), operands, ty, called))
}

/// The same call of the library's function `__dslc_NAME`, which has overloads for the library's classes: half precision and bfloat16.
pub(crate) fn library_form(
    cx: &mut Checker<'_>,
    called: &Called<'_>,
) -> Result<Option<Value>, Reported> {
    let name: Arc<str> = format!("__dslc_{}", called.name).into();
    let Some(set) = prelude_functions(&cx.scopes, &name) else {
        return Ok(None);
    };
    let values = overload::arguments(cx, called.args);
    let ids = overload::functions_of(cx, &set);
    if !ids.iter().any(|id| cx.tables.ranks(*id, &values).is_some()) {
        return Ok(None);
    }
    call_prelude(cx, &name, &set, called).map(Some)
}

/// The library's functions of this name.
pub(crate) fn prelude_functions(scopes: &Scopes, name: &str) -> Option<Arc<[Callable]>> {
    match &scopes.find_in_prelude(name)?.entity {
        Entity::Functions(set) => Some(set.clone()),
        _ => None,
    }
}

/// The call of the library's functions `set`, which have the name `name`.
pub(crate) fn call_prelude(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    set: &[Callable],
    called: &Called<'_>,
) -> Result<Value, Reported> {
    let result = call::overloaded(
        cx,
        name,
        set,
        None,
        called.name_span,
        called.args,
        called.span,
    )?;
    Ok(method::read_checked(cx, result))
}

/// Checks the arguments; reports a wrong number of them, and a call in host code.
fn exchange_args(
    cx: &mut Checker<'_>,
    least: usize,
    most: usize,
    called: &Called<'_>,
) -> Result<Vec<Value>, Reported> {
    builtin_call::require_device_call(cx, called);
    if !(least..=most).contains(&called.args.len()) {
        return Err(builtin_call::wrong_count(cx, called, least, most, false));
    }
    expr::values(cx, called.args)
}

fn no_exchange(
    tables: &Tables,
    reporter: &mut Reporter,
    forms: &'static str,
    value: &Value,
    called: &Called<'_>,
) -> Reported {
    reporter.error(
        tables,
        called.name_span,
        CallError::NoExchangeFor {
            name: called.name.to_string(),
            ty: value.ty.clone(),
            value: value.span,
            forms,
        },
    )
}

fn exchange(builtin: Builtin, args: Vec<Value>, ty: Ty, called: &Called<'_>) -> Value {
    Value::new(ValueKind::Builtin(builtin, args), ty, called.span)
}
