//! Loops of which many iterations (*rounds*) can run together.

use crate::isa::bytecode::{Inst, Place, Tally};

/// A loop that is closed by its counter's step ([`Op::LoopSlt32`](crate::isa::op::Op::LoopSlt32) and the like), and
/// whose body is a straight line: loads from addresses that move by the same distance in every round, sums of products,
/// and values that are the same in every round. After one round has run in the usual way, the next ones differ from it
/// only by those distances.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// How its addresses move, in order.
    pub(crate) steps: Vec<Step>,
    /// Its loads. Only a scalar base and the site's term move in their addresses.
    pub(crate) loads: Vec<Inst>,
    /// By load: whether its innermost subscript is the same in every round.
    pub(crate) still: Vec<bool>,
    /// Its work, in order.
    pub(crate) work: Vec<Work>,
    /// The same, if the work consists only of sums of products of loaded words.
    pub(crate) products: Option<Products>,
    /// In code for checks: operations that can have invalid operands and are the same in every round. If one has, every
    /// round has to be reported.
    pub(crate) fixed: Vec<Numbered>,
    /// Accesses to count, and branches in addition to the loop's: from loops that were unrolled in the body.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) branches: u64,
}

/// The most loads of a body.
pub(crate) const MOST_LOADS: usize = 16;
/// The most loads of almost all bodies that have any.
pub(crate) const FEW_LOADS: usize = 4;
/// The most words that the loads of a body load into each lane.
pub(crate) const MOST_WORDS: usize = 4 * MOST_LOADS;
/// The most sums of a [`Row`]: with their factors they fit into CPU registers.
pub(crate) const MOST_SUMS: usize = 8;

/// Sums that are not otherwise read or written in the loop, each of one product of two loaded words in every round. One
/// sum can therefore run through many rounds before the next one.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    /// By load: the number of its first word. The words of a load have consecutive numbers.
    pub(crate) first: Vec<u32>,
    /// The number of words.
    pub(crate) words: u32,
    pub(crate) rows: Vec<Row>,
    /// If there is a single sum of products of two loads of one word each: the two loads.
    pub(crate) factors: Option<[u32; 2]>,
    /// Registers that hold a word after the last round, and the number of the word.
    pub(crate) ends: Vec<(Place, u32)>,
}

/// Sums with a common factor: a row of a tile in registers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The word that is the common factor.
    pub(crate) factor: u32,
    /// The register of each sum, and the word that is its other factor.
    pub(crate) sums: Vec<(u32, u32)>,
}
/// A step in the computation of a round's addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Computes a value from the counter that also moves by the same distance in every round: a sum, a difference, or a
    /// product.
    Moves(Numbered),
    /// The load with that number has its address registers now.
    Load(u32),
}

/// An instruction and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    pub(crate) inst: Inst,
    pub(crate) pc: u32,
}

/// Work to be done in every round.
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
