//! Classifies instructions for the planner.

use ir::Type;

use crate::isa::computing::{Computes, binary, computing, unary};
use crate::isa::op::{Op, Sort};

/// Whether an operation only decides where lanes go on.
pub(super) fn is_control(op: Op) -> bool {
    matches!(
        op.sort(),
        Sort::Goes | Sort::Decides | Sort::Jumps | Sort::Loops
    )
}

/// The unchecked variant of an operation, for operands that are known to be valid.
pub(super) fn unchecked(op: Op) -> Op {
    let Some(of) = computing(op) else { return op };
    let ty = if of.wide { Type::I64 } else { Type::I32 };
    let (v, s) = match of.what {
        Computes::Unary(op) if op != op.wrapping() => unary(op.wrapping(), ty),
        Computes::Binary(op) if op != op.wrapping() => binary(op.wrapping(), ty),
        _ => return op,
    };
    if of.varying { v } else { s }
}
