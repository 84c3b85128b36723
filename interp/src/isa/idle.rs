//! The code between two barriers in which most lanes are idle: the rounds of a reduction.

use crate::isa::bytecode::Inst;

/// The code after a barrier: a comparison, an `if` on it without an `else`, and the next barrier. A warp in which the
/// comparison holds in no lane reaches that barrier without changing anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleRound {
    /// The comparison, of 32-bit values.
    pub(crate) compare: Inst,
    /// Whether the compared values are the same in every block of a launch, as thread indices and constants are.
    pub(crate) is_known: bool,
    /// What a warp adds to `warp_instructions`: for the `if`, for the join of its sides, and for the next barrier.
    pub(crate) instructions: u64,
    /// What every active lane adds to `thread_instructions`. No lane is active at the join.
    pub(crate) of_lanes: u64,
    pub(crate) branches: u64,
    /// The next barrier.
    pub(crate) barrier: u32,
    /// The row of the code after that barrier, plus 1; 0: there is none.
    pub(crate) next: u32,
}
