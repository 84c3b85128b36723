//! Routines in LLVM IR for operations without an instruction: the exact remainder of floats and, before sm_80, reductions over a warp.
//!
//! The key of a routine in the set of declarations is its symbol.

use ir::{ReduceOp, Type};

/// The key of the remainder of a float type.
pub(super) fn remainder(ty: Type) -> &'static str {
    match ty {
        Type::F64 => "$$fmod64",
        _ => "$$fmod32",
    }
}

/// The key of a reduction.
pub(super) fn reduction(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "$$reduce_add",
        ReduceOp::SMin => "$$reduce_smin",
        ReduceOp::SMax => "$$reduce_smax",
        ReduceOp::UMin => "$$reduce_umin",
        ReduceOp::UMax => "$$reduce_umax",
        ReduceOp::And => "$$reduce_and",
        ReduceOp::Or => "$$reduce_or",
        ReduceOp::Xor => "$$reduce_xor",
    }
}

/// The text for a key; `None` for an ordinary declaration.
pub(super) fn definition(key: &str) -> Option<String> {
    match key {
        "$$fmod32" => return Some(include_str!("routine/fmod32.ll").to_string()),
        "$$fmod64" => return Some(include_str!("routine/fmod64.ll").to_string()),
        _ => {}
    }
    let op = ReduceOp::ALL.iter().find(|op| reduction(**op) == key)?;
    let (neutral, join) = match op {
        ReduceOp::Add => ("0", "add i32 %sum, %part"),
        ReduceOp::SMin => ("2147483647", "call i32 @llvm.smin.i32(i32 %sum, i32 %part)"),
        ReduceOp::SMax => (
            "-2147483648",
            "call i32 @llvm.smax.i32(i32 %sum, i32 %part)",
        ),
        ReduceOp::UMin => ("-1", "call i32 @llvm.umin.i32(i32 %sum, i32 %part)"),
        ReduceOp::UMax => ("0", "call i32 @llvm.umax.i32(i32 %sum, i32 %part)"),
        ReduceOp::And => ("-1", "and i32 %sum, %part"),
        ReduceOp::Or => ("0", "or i32 %sum, %part"),
        ReduceOp::Xor => ("0", "xor i32 %sum, %part"),
    };
    let text = include_str!("routine/reduce.ll")
        .replace("KEY", key)
        .replace("NEUTRAL", neutral)
        .replace("JOIN", join);
    Some(text)
}
