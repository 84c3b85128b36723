//! Classifies instructions for the planner.

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
    match op {
        Op::VAddS32 => Op::VAdd32,
        Op::VSubS32 => Op::VSub32,
        Op::VMulS32 => Op::VMul32,
        Op::VNegS32 => Op::VNeg32,
        Op::VAddS64 => Op::VAdd64,
        Op::VSubS64 => Op::VSub64,
        Op::VMulS64 => Op::VMul64,
        Op::VNegS64 => Op::VNeg64,
        Op::SAddS32 => Op::SAdd32,
        Op::SSubS32 => Op::SSub32,
        Op::SMulS32 => Op::SMul32,
        Op::SNegS32 => Op::SNeg32,
        Op::SAddS64 => Op::SAdd64,
        Op::SSubS64 => Op::SSub64,
        Op::SMulS64 => Op::SMul64,
        Op::SNegS64 => Op::SNeg64,
        op => op,
    }
}
