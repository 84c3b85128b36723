//! What stands between two barriers for lanes of which most have nothing to do: the rounds of a reduction.

use crate::isa::bytecode::Inst;

/// Behind a barrier: a comparison, an `if` on it without another side, and the next barrier. A warp whose comparison holds in no lane comes
/// to that barrier and has changed nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleRound {
    /// It compares 32-bit values.
    pub(crate) compare: Inst,
    /// What it compares is the same in every block of a launch, as threads' numbers and constants are.
    pub(crate) is_known: bool,
    /// Of the `if`, which all active lanes count.
    pub(crate) weight: u32,
    /// Of the place where its sides join.
    pub(crate) join_weight: u32,
    pub(crate) branches: u32,
    /// The next barrier.
    pub(crate) barrier: u32,
    pub(crate) barrier_weight: u32,
}
