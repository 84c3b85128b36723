//! Loops of which many rounds run at once.

use crate::isa::bytecode::{Inst, Place, Tally};

/// A loop that closes with its counter's step ([`Op::LoopSlt32`](crate::isa::op::Op::LoopSlt32) and the like), and whose body is one
/// straight line: loads from addresses that move by the same distance every round, sums of products, and what is the same in every round.
/// After a round as ever, the next ones differ from it by those distances alone.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// How its addresses move, in order.
    pub(crate) steps: Vec<Step>,
    /// Its loads. Of their addresses only a scalar base and the site's term move.
    pub(crate) loads: Vec<Inst>,
    /// By load: its innermost subscript is the same in every round.
    pub(crate) still: Vec<bool>,
    /// What it has to do, in order.
    pub(crate) work: Vec<Work>,
    /// The same, if it is nothing but sums of products of loaded words.
    pub(crate) products: Option<Products>,
    /// In code for checks: what can go wrong and is the same in every round. If it does, every round has to be reported.
    pub(crate) fixed: Vec<Numbered>,
    /// Accesses to count, and branches beside the loop's own: of the source's loops that were unrolled in the body.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) branches: u64,
}

/// Loads of a body, at most.
pub(crate) const MOST_LOADS: usize = 16;
/// Loads of most of the bodies that have any.
pub(crate) const FEW_LOADS: usize = 4;
/// Words that the loads of a body bring into each lane, at most.
pub(crate) const MOST_WORDS: usize = 4 * MOST_LOADS;
/// Sums of a [`Row`], at most: with their factors they fit into the CPU's registers.
pub(crate) const MOST_SUMS: usize = 8;

/// Sums that nothing else in the loop reads or writes, each of one product of two loaded words in every round. So a sum can run through many
/// rounds before the next one does.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    /// By load: the number of its first word. Those of a load have numbers one after the other.
    pub(crate) first: Vec<u32>,
    /// How many words there are.
    pub(crate) words: u32,
    pub(crate) rows: Vec<Row>,
    /// If there is one sum, of two loads of a word each: which ones.
    pub(crate) factors: Option<[u32; 2]>,
    /// Registers that hold a word behind the last round, and which one.
    pub(crate) ends: Vec<(Place, u32)>,
}

/// Sums that have a factor in common: a row of a tile in registers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The word.
    pub(crate) factor: u32,
    /// The register of each sum, and the word that is its other factor.
    pub(crate) sums: Vec<(u32, u32)>,
}
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
    /// `V[d] = V[a]`.
    Move(Inst),
    /// `S[d] = S[a]`.
    Copy(Inst),
    /// `V[d] = V[a] * V[b] + V[d]`.
    Sum(Inst),
}
