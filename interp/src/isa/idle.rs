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
    /// What a warp adds to `warp_instructions`: of the `if`, of the place where its sides join, and of the next barrier.
    pub(crate) instructions: u64,
    /// Those that every active lane adds to `thread_instructions`; at the join none is active.
    pub(crate) of_lanes: u64,
    pub(crate) branches: u64,
    /// The next barrier.
    pub(crate) barrier: u32,
    /// The row of what stands behind that one, plus 1; 0: there is none.
    pub(crate) next: u32,
}
