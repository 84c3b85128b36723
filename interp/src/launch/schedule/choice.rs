//! Chooses the warp that runs next.
//!
//! A turn changes only warps of its own block, so the first warp of each other block stays the same. For spinning warps
//! the choice also depends on the state of memory.

use super::{Agent, Plan, Scheduler};
use crate::machine::warp::WarpState;
use crate::observe::Observer;

/// The sort key of a warp: the smallest goes first.
type Key = ((i64, u64), Agent);

/// The first of a block's warps that can run. Valid until one of them changes.
#[derive(Clone, Copy)]
pub(super) struct First {
    warp: Option<Key>,
    /// If a warp has spun, the memory state and the patience for which this is valid.
    valid_in: Option<(u64, u32)>,
}

impl<O: Observer> Scheduler<'_, '_, '_, O> {
    /// The warp that runs next: the block's place in the list, and the warp's in the block.
    pub(super) fn choose(&mut self) -> Option<(usize, usize)> {
        if let Plan::Given(segments) = self.plan {
            while let Some(segment) = segments.get(self.given.0) {
                // Blocks are sorted by their numbers.
                let slot = self
                    .blocks
                    .binary_search_by_key(&segment.block, |block| block.index);
                if let Ok(slot) = slot
                    && self.is_ready(slot, segment.place)
                {
                    return Some((slot, segment.place));
                }
                self.given = (self.given.0 + 1, 0);
            }
        }
        for slot in 0..self.blocks.len() {
            let is_valid = |first: First| {
                first
                    .valid_in
                    .is_none_or(|now| now == (self.state, self.patience))
            };
            if !self.firsts[slot].is_some_and(is_valid) {
                self.firsts[slot] = Some(self.first(slot));
            }
        }
        let firsts = self.firsts.iter().enumerate();
        let ready = firsts.filter_map(|(slot, first)| Some((first.as_ref()?.warp?, slot)));
        ready.min().map(|((_, (_, place)), slot)| (slot, place))
    }

    /// Whether a warp can run and would do more than spin.
    fn is_ready(&self, slot: usize, place: usize) -> bool {
        let block = &self.blocks[slot];
        let warp = block.warps.get(place);
        warp.is_some_and(|warp| warp.state == WarpState::Ready)
            && !matches!(self.idle((block.index, place)), Some(times) if times >= self.patience)
    }

    /// How often a warp has spun in this memory state.
    fn idle(&self, agent: Agent) -> Option<u32> {
        let (state, _, times) = self.known.get(&agent)?.idle?;
        (state == self.state).then_some(times)
    }

    /// Finds the first of a block's warps.
    fn first(&self, slot: usize) -> First {
        let block = &self.blocks[slot];
        let agents = (0..block.warps.len()).map(|place| (block.index, place));
        let key = |agent: Agent| {
            let known = self.known.get(&agent).copied().unwrap_or_default();
            let first = match self.plan {
                Plan::Fair => (0, known.turn),
                Plan::Random { .. } | Plan::OneChange { .. } | Plan::Given(_) => {
                    (known.priority.saturating_neg(), 0)
                }
            };
            (first, agent)
        };
        let ready = agents.clone().filter(|agent| self.is_ready(slot, agent.1));
        let warp = ready.map(key).min();
        let mut idle = agents.map(|agent| self.idle(agent));
        let valid_in = idle
            .any(|times| times.is_some())
            .then_some((self.state, self.patience));
        First { warp, valid_in }
    }
}
