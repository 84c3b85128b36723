//! Loops of which many rounds run at once.

use crate::isa::bytecode::Inst;

/// A loop that closes with its counter's step ([`Op::LoopSlt32`](crate::isa::op::Op::LoopSlt32) and the like), and whose body is one
/// straight line: loads from addresses that move by the same distance every round, sums of products, and what is the same in every round.
/// After a round as ever, the next ones differ from it by those distances alone.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// How its addresses move, in order.
    pub(crate) steps: Vec<Step>,
    /// Its loads. Of their addresses only a scalar base and the site's term move.
    pub(crate) loads: Vec<Inst>,
    /// What it has to do, in order.
    pub(crate) work: Vec<Work>,
    /// If that is one sum, of the products of two loads: which ones.
    pub(crate) factors: Option<[u32; 2]>,
    /// In code for checks: what can go wrong and is the same in every round. If it does, every round has to be reported.
    pub(crate) fixed: Vec<Numbered>,
}

/// Loads of a body, at most.
pub(crate) const MOST_LOADS: usize = 4;

/// A step on the way to the addresses of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// It computes from the counter what moves by the same distance every round, too: a sum, a difference, a product.
    Moves(Numbered),
    /// The load with that number is where the registers say now.
    Load(u32),
}

/// An instruction, and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    pub(crate) inst: Inst,
    pub(crate) pc: u32,
}

/// What has to be done in every round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// The load with that number.
    Load(u32),
    /// `V[d] = S[a]` in every lane.
    Spread(Inst),
    /// `V[d] = V[a] * V[b] + V[d]`.
    Sum(Inst),
}
