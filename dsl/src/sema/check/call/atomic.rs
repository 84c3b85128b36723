//! Atomic functions: which forms CUDA has, chosen by the pointer's type.

use crate::sema::check::{
    Checker, Reported, Reporter, Tables, all,
    builtin_call::{self, Called},
    convert::{self, Why},
    exchange,
};
use crate::sema::message::call::{CallError, NoAtomic};
use crate::sema::{
    builtin::{Atomic, AtomicScope},
    classify::{Classify, pointer_to},
    ty::{QualTy, Ty},
    typed::{Builtin, Value, ValueKind},
};
use ir::AtomicOp;

/// `atomicAdd(&x, v)` …: the pointer decides the form.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    (atomic, scope): (Atomic, AtomicScope),
    args: Vec<Value>,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    builtin_call::require_device_call(cx, called);
    let span = called.span;
    let mut args = args.into_iter();
    let Some(pointer) = args.next() else {
        return Err(cx.body.reported_before(span));
    };
    let Ty::Pointer(pointee) = pointer.ty.clone() else {
        let snippet = cx.map.snippet(pointer.span).to_string();
        return Err(cx.error(
            pointer.span,
            CallError::AtomicNeedsAddress {
                name: called.name.to_string(),
                ty: pointer.ty.clone(),
                snippet: snippet.to_string(),
            },
        ));
    };
    let Some(op) =
        atomic_op(atomic, &pointee.ty).filter(|_| !pointee.is_const && !pointee.is_volatile)
    else {
        if let Some(value) = exchange::library_form(cx, called)? {
            return Ok(value);
        }
        return Err(no_atomic(
            &cx.tables,
            &mut cx.reporter,
            atomic,
            &pointee,
            &pointer,
            called,
        ));
    };
    let rest = all(args.enumerate().map(|(i, arg)| {
        let why = Why::Argument(i + 2, called.name, None);
        convert::implicit(cx, arg, &pointee.ty, &why)
    }))?;
    let args = std::iter::once(pointer).chain(rest).collect();
    let block_scope = scope == AtomicScope::Block;
    let kind = ValueKind::Builtin(Builtin::Atomic { op, block_scope }, args);
    Ok(Value::new(kind, pointee.ty.clone(), span))
}

fn no_atomic(
    tables: &Tables,
    reporter: &mut Reporter,
    atomic: Atomic,
    pointee: &QualTy,
    pointer: &Value,
    called: &Called<'_>,
) -> Reported {
    let why = if pointee.is_volatile && atomic_op(atomic, &pointee.ty).is_some() {
        NoAtomic::Volatile(pointer_to(pointee.ty.clone().into()))
    } else if pointee.is_const {
        NoAtomic::Constant
    } else if matches!(pointee.ty, Ty::Long | Ty::ULong | Ty::LongLong)
        && atomic_op(atomic, &Ty::ULongLong).is_some()
    {
        NoAtomic::Signed64
    } else {
        let forms = [
            Ty::Int,
            Ty::UInt,
            Ty::LongLong,
            Ty::ULongLong,
            Ty::Float,
            Ty::Double,
        ];
        let forms = forms
            .into_iter()
            .filter(|ty| atomic_op(atomic, ty).is_some());
        NoAtomic::Other(forms.map(|ty| pointer_to(ty.into())).collect())
    };
    reporter.error(
        tables,
        called.name_span,
        CallError::NoAtomicFor {
            name: called.name.to_string(),
            ty: pointer.ty.clone(),
            pointer: pointer.span,
            why,
        },
    )
}

/// The operation on a type, where CUDA has it.
fn atomic_op(atomic: Atomic, ty: &Ty) -> Option<AtomicOp> {
    let narrow = matches!(ty, Ty::Int | Ty::UInt);
    let unsigned = matches!(ty, Ty::UInt | Ty::ULongLong);
    let integer = narrow || *ty == Ty::ULongLong;
    let op = match atomic {
        Atomic::Add if integer || ty.is_floating() => AtomicOp::Add,
        Atomic::Sub if narrow => AtomicOp::Sub,
        Atomic::Exch if integer || *ty == Ty::Float => AtomicOp::Exch,
        Atomic::Store if integer => AtomicOp::Store,
        Atomic::Min if unsigned => AtomicOp::UMin,
        Atomic::Max if unsigned => AtomicOp::UMax,
        Atomic::Min if integer || *ty == Ty::LongLong => AtomicOp::SMin,
        Atomic::Max if integer || *ty == Ty::LongLong => AtomicOp::SMax,
        Atomic::Inc if *ty == Ty::UInt => AtomicOp::Inc,
        Atomic::Dec if *ty == Ty::UInt => AtomicOp::Dec,
        Atomic::Cas if integer || *ty == Ty::UShort => AtomicOp::Cas,
        Atomic::And if integer => AtomicOp::And,
        Atomic::Or if integer => AtomicOp::Or,
        Atomic::Xor if integer => AtomicOp::Xor,
        _ => return None,
    };
    Some(op)
}
