//! Kinds of instructions, as a list sees them.

use crate::isa::op::Op;

/// One that decides nothing but where lanes go on.
pub(super) fn is_control(op: Op) -> bool {
    compares(op)
        || is_loop(op)
        || tests_lanes(op)
        || matches!(
            op,
            Op::Tick | Op::Jump | Op::Loop | Op::Exit | Op::End | Op::Barrier
        )
        || matches!(op, Op::Else | Op::Join | Op::Park | Op::Clear)
}

/// A jump on a comparison of scalars.
pub(super) fn compares(op: Op) -> bool {
    matches!(
        op,
        Op::JumpEq32
            | Op::JumpNe32
            | Op::JumpSlt32
            | Op::JumpSle32
            | Op::JumpSgt32
            | Op::JumpSge32
            | Op::JumpUlt32
            | Op::JumpUle32
            | Op::JumpUgt32
            | Op::JumpUge32
    )
}

/// The end of a loop that has its step and its head's comparison in it.
pub(super) fn is_loop(op: Op) -> bool {
    matches!(
        op,
        Op::LoopEq32
            | Op::LoopNe32
            | Op::LoopSlt32
            | Op::LoopSle32
            | Op::LoopSgt32
            | Op::LoopSge32
            | Op::LoopUlt32
            | Op::LoopUle32
            | Op::LoopUgt32
            | Op::LoopUge32
    )
}

/// A condition of each lane: `S[a]`.
pub(super) fn tests_lanes(op: Op) -> bool {
    matches!(
        op,
        Op::JumpIf
            | Op::JumpIfNot
            | Op::If
            | Op::ParkIf
            | Op::ParkIfNot
            | Op::ExitIf
            | Op::ExitIfNot
    )
}

/// The same operation where its operands are known to be right.
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
