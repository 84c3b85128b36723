//! The idle tail: the last warps of a block's order, while all of them are idle between several barriers in a row.
//!
//! In the rounds of a tree reduction most warps are idle. The warps of the tail are counted together, with one addition
//! for each barrier. Their places are written back when the engine stops. What they count, and when, is the same as for
//! [`Warp::idles`].

use crate::config::Order;
use crate::isa::bytecode::Code;
use crate::machine::warp::{Warp, WarpState};
use crate::machine::{Machine, Totals, meeting};
use crate::observe::Observer;

/// The idle tail of the current block.
#[derive(Clone, Copy, Default)]
pub(crate) struct IdleTail {
    /// The place of its first warp in the order; for an empty tail, the place after the last warp.
    pub(crate) first: usize,
    count: usize,
    /// Its active lanes.
    lanes: u64,
    /// Barriers that it has reached since it began.
    come: u32,
    /// The number of barriers at which one of its warps has something to do again.
    most: u32,
    /// The barrier that it waits at; `row` describes what follows: a row of [`Code::idle`], plus 1.
    barrier: u32,
    row: u32,
    /// Whether that barrier has opened.
    is_open: bool,
}

impl IdleTail {
    /// An empty tail in a block with this many warps.
    #[inline(always)]
    pub(crate) fn none(order: Order, warps: usize) -> IdleTail {
        let first = match order {
            Order::Ascending => warps,
            Order::Descending => usize::MAX,
        };
        IdleTail {
            first,
            ..IdleTail::default()
        }
    }

    /// Its warps and the others.
    #[inline(always)]
    fn split<'w>(&self, order: Order, warps: &'w mut [Warp]) -> (&'w mut [Warp], &'w mut [Warp]) {
        match order {
            Order::Ascending => {
                let (others, tail) = warps.split_at_mut(warps.len() - self.count);
                (tail, others)
            }
            Order::Descending => warps.split_at_mut(self.count),
        }
    }

    /// Whether all threads of the block wait at the same barrier, or no thread waits.
    fn is_even(&self, order: Order, warps: &mut [Warp]) -> bool {
        let (tail, others) = self.split(order, warps);
        let elsewhere = |warp: &Warp| warp.waits() && warp.pc != self.barrier + 1;
        meeting::is_even(others)
            && tail.iter().all(|warp| warp.gone == 0)
            && !(self.count > 0 && others.iter().any(elsewhere))
    }

    /// Moves on to the next barrier, if that stays within the limit.
    fn come(&mut self, code: &Code, totals: &mut Totals, barriers: &mut [u64], limit: u64) -> bool {
        let round = &code.idle[self.row as usize - 1];
        let count = self.count as u64;
        if totals.charged() + count * round.instructions > limit {
            return false;
        }
        #[cfg(test)]
        crate::tests::PASSED_BY.set(crate::tests::PASSED_BY.get() + self.count);
        totals.warp_instructions += count * round.instructions;
        totals.thread_instructions += self.lanes * round.of_lanes;
        totals.branches += count * round.branches;
        totals.barriers += count;
        barriers[round.barrier as usize] += count;
        self.come += 1;
        (self.barrier, self.row, self.is_open) = (round.barrier, round.next, false);
        true
    }

    /// The place of the warp that would join it next.
    #[inline(always)]
    fn neighbour(&self, order: Order) -> usize {
        match order {
            Order::Ascending => self.first.wrapping_sub(1),
            Order::Descending => self.first.wrapping_add(1),
        }
    }

    /// Adds the neighbouring warps that wait at the same barrier and are idle after it.
    fn grow(&mut self, order: Order, warps: &mut [Warp]) {
        while let Some(warp) = warps.get_mut(self.neighbour(order)) {
            let joins = self.count == 0 || warp.idle_row == self.row;
            if !warp.waits() || warp.idle == 0 || !joins {
                break;
            }
            if self.count == 0 {
                (self.come, self.most) = (0, u32::MAX);
                (self.barrier, self.row) = (warp.pc - 1, warp.idle_row);
            }
            warp.joined_at = self.come;
            self.most = self.most.min(self.come + warp.idle);
            self.lanes += u64::from(warp.mask.count_ones());
            self.count += 1;
            self.first = self.neighbour(order);
        }
    }

    /// Writes the place of each of its warps back. The tail is empty afterwards.
    pub(crate) fn dissolve(&mut self, order: Order, warps: &mut [Warp]) {
        if self.count == 0 {
            return;
        }
        let tail = std::mem::replace(self, IdleTail::none(order, warps.len()));
        for warp in tail.split(order, warps).0 {
            let come = tail.come - warp.joined_at;
            warp.idle -= come;
            (warp.pc, warp.idle_row) = (tail.barrier + 1, tail.row);
            if tail.is_open {
                warp.state = WarpState::Ready;
            }
        }
    }
}

/// All warps of a pass except the tail have had their turn, and have ended or wait. Moves the tail on and opens the
/// barrier. Returns the place of the next warp, if it is to run at once.
#[inline(never)]
pub(crate) fn next_pass<O: Observer>(
    machine: &mut Machine<'_, O>,
    warps: &mut [Warp],
    totals: &mut Totals,
) -> Option<usize> {
    let (order, tail) = (machine.policy.order, &mut machine.pass.tail);
    let barriers = &mut machine.record.barriers;
    if tail.count != 0 && !tail.come(machine.code, totals, barriers, machine.policy.limit) {
        let first = tail.first;
        tail.dissolve(order, warps);
        return Some(first);
    }
    if machine.pass.barriers == 0 || O::SEES_REPEATS && !tail.is_even(order, warps) {
        return None;
    }
    if tail.come == tail.most {
        tail.dissolve(order, warps);
    }
    // Usually no warp joins the tail.
    if warps
        .get(tail.neighbour(order))
        .is_some_and(|warp| warp.idle != 0)
    {
        tail.grow(order, warps);
    }
    tail.is_open = true;
    let opened = meeting::release(tail.split(order, warps).1);
    if opened.has_votes {
        meeting::count_votes(warps);
    }
    if !opened.any && tail.count == 0 {
        return None;
    }
    machine.pass.barriers -= 1;
    machine.observer.barrier();
    Some(order.number(0, warps.len() as u64) as usize)
}
