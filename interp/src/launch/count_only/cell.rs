//! What is known of a register: how its value moves from block to block, lane by lane, and in which lanes that is not known.

use ir::LocId;

use super::cover::{STILL, Step};

/// Why the value of a register in another block does not follow from this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cause {
    /// It was read from memory.
    #[default]
    Memory,
    /// An atomic gave it.
    Atomic,
    /// The clock gave it.
    Clock,
    /// It is the multiprocessor that the block runs on.
    Multiprocessor,
    /// It is computed from the block's index, and is no sum of multiples of it.
    NotLinear,
    /// It is computed from other lanes' values that are not the same in all blocks.
    Lanes,
}

/// Where it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Why {
    pub(super) cause: Cause,
    pub(super) loc: LocId,
}

/// A register: of 32 lanes, or of one value for all. Of a mask, only `hidden` counts: truth values do not move.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// How all lanes move, unless there is a list.
    step: Step,
    lanes: Option<Box<[Step; 32]>>,
    /// Lanes whose values in other blocks are not known.
    pub(super) hidden: u32,
    pub(super) why: Why,
}

impl Cell {
    pub(super) fn moving(step: Step) -> Cell {
        Cell {
            step,
            ..Cell::default()
        }
    }

    pub(super) fn hidden(why: Why) -> Cell {
        Cell::hidden_in(u32::MAX, why)
    }

    pub(super) fn hidden_in(lanes: u32, why: Why) -> Cell {
        Cell {
            hidden: lanes,
            why,
            ..Cell::default()
        }
    }

    /// Of the lanes of `mask`, by lane: what moves how (`None`: not known). Of the others nothing is said, for nobody will read them.
    pub(super) fn gather(mask: u32, why: Why, mut step: impl FnMut(usize) -> Option<Step>) -> Cell {
        let (mut steps, mut hidden) = ([STILL; 32], 0);
        let (mut first, mut differ) = (None, false);
        for (lane, slot) in steps.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            match step(lane) {
                Some(step) => {
                    *slot = step;
                    differ |= *first.get_or_insert(step) != step;
                }
                None => hidden |= 1 << lane,
            }
        }
        Cell {
            step: first.unwrap_or(STILL),
            lanes: differ.then(|| Box::new(steps)),
            hidden,
            why,
        }
    }

    /// The lanes of `mask` from one, the others from another.
    pub(super) fn blend(mask: u32, new: &Cell, old: &Cell) -> Cell {
        let hidden = new.hidden & mask | old.hidden & !mask;
        let why = if new.hidden & mask != 0 {
            new.why
        } else {
            old.why
        };
        if mask == u32::MAX || new.lanes.is_none() && old.lanes.is_none() && new.step == old.step {
            return Cell {
                hidden,
                why,
                ..new.clone()
            };
        }
        let steps = std::array::from_fn(|lane| match mask >> lane & 1 {
            0 => old.at(lane),
            _ => new.at(lane),
        });
        Cell {
            step: STILL,
            lanes: Some(Box::new(steps)),
            hidden,
            why,
        }
    }

    /// How a lane moves.
    pub(super) fn at(&self, lane: usize) -> Step {
        match &self.lanes {
            Some(lanes) => lanes[lane],
            None => self.step,
        }
    }

    /// How all lanes move, if they move alike.
    pub(super) fn all(&self) -> Option<Step> {
        self.lanes.is_none().then_some(self.step)
    }

    pub(super) fn hides(&self, lane: usize) -> bool {
        self.hidden >> lane & 1 == 1
    }

    /// Whether these lanes hold the same in all blocks.
    pub(super) fn is_still(&self, mask: u32) -> bool {
        self.hidden & mask == 0
            && match &self.lanes {
                None => self.step == STILL,
                Some(lanes) => (0..32).all(|lane| mask >> lane & 1 == 0 || lanes[lane] == STILL),
            }
    }
}
