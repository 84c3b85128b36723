//! What is known of a register: how its value moves from block to block, by lane, and for which lanes that is unknown.

use ir::LocId;

use super::cover::{STILL, Step};

/// Why the value of a register in another block does not follow from the value in this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cause {
    /// It was read from memory.
    #[default]
    Memory,
    /// An atomic returned it.
    Atomic,
    /// It was read from the clock.
    Clock,
    /// It is the index of the multiprocessor that runs the block.
    Multiprocessor,
    /// It is computed from the block index, but not linearly.
    NotLinear,
    /// It is computed from values of other lanes that differ between blocks.
    Lanes,
}

/// The cause, and the place where it first occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Why {
    pub(super) cause: Cause,
    pub(super) loc: LocId,
}

/// A register: 32 lanes, or one value for all lanes. For a mask only `hidden` matters: truth values do not move.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// How all lanes move, unless `lanes` lists each.
    step: Step,
    lanes: Option<Box<[Step; 32]>>,
    /// Lanes whose values in other blocks are unknown.
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

    /// Collects how the lanes of `mask` move (`None`: unknown). The other lanes get no meaningful value, because they
    /// are not read.
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

    /// Takes the lanes of `mask` from `new` and the others from `old`.
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

    /// How one lane moves.
    pub(super) fn at(&self, lane: usize) -> Step {
        match &self.lanes {
            Some(lanes) => lanes[lane],
            None => self.step,
        }
    }

    /// A truth value that the lanes of `mask` determine together.
    pub(super) fn voted(&self, mask: u32) -> Cell {
        match self.hidden & mask {
            0 => Cell::default(),
            _ => Cell::hidden(self.why),
        }
    }

    /// How all lanes move, if all move alike.
    pub(super) fn all(&self) -> Option<Step> {
        self.lanes.is_none().then_some(self.step)
    }

    pub(super) fn hides(&self, lane: usize) -> bool {
        self.hidden >> lane & 1 == 1
    }

    /// Whether these lanes hold the same value in all blocks.
    pub(super) fn is_still(&self, mask: u32) -> bool {
        self.hidden & mask == 0
            && match &self.lanes {
                None => self.step == STILL,
                Some(lanes) => (0..32).all(|lane| mask >> lane & 1 == 0 || lanes[lane] == STILL),
            }
    }
}
