//! Warps that are parked: the last ones of a block's order, while none of them has anything to do before some barriers in a row.
//!
//! In the rounds of a tree most warps are idle. Parked, they are counted together, by one addition for each barrier; where each of them
//! stands is written down when the engine stops. What they count, and when, is what [`Warp::idles`] counts.

use crate::config::Order;
use crate::isa::bytecode::Code;
use crate::machine::warp::{Warp, WarpState};
use crate::machine::{Machine, Totals, meeting};
use crate::observe::Observer;

/// The parked warps of the block that runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parked {
    /// The first of them in the order of warps; without any, the place behind the last warp.
    pub(crate) first: usize,
    count: usize,
    /// Their active lanes.
    lanes: u64,
    /// Barriers they have come to since the first of them was parked.
    come: u32,
    /// So many they come to in all before one of them has something to do.
    most: u32,
    /// The barrier at which they stand, and what is behind it: a row of [`Code::idle`], plus 1.
    barrier: u32,
    row: u32,
    /// That barrier has opened.
    is_open: bool,
}

impl Parked {
    /// None, in a block of so many warps.
    #[inline(always)]
    pub(crate) fn none(order: Order, warps: usize) -> Parked {
        let first = match order {
            Order::Ascending => warps,
            Order::Descending => usize::MAX,
        };
        Parked {
            first,
            ..Parked::default()
        }
    }

    /// Those that are parked and the others.
    #[inline(always)]
    fn split<'w>(&self, order: Order, warps: &'w mut [Warp]) -> (&'w mut [Warp], &'w mut [Warp]) {
        match order {
            Order::Ascending => {
                let (others, parked) = warps.split_at_mut(warps.len() - self.count);
                (parked, others)
            }
            Order::Descending => warps.split_at_mut(self.count),
        }
    }

    /// Whether all threads of the block wait at one barrier, or none does.
    fn is_even(&self, order: Order, warps: &mut [Warp]) -> bool {
        let (parked, others) = self.split(order, warps);
        let elsewhere = |warp: &Warp| warp.waits() && warp.pc != self.barrier + 1;
        meeting::is_even(others)
            && parked.iter().all(|warp| warp.gone == 0)
            && !(self.count > 0 && others.iter().any(elsewhere))
    }

    /// They come to the next barrier, if that stays within the limit.
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

    /// The place of the warp that is parked next, if it can be.
    #[inline(always)]
    fn neighbour(&self, order: Order) -> usize {
        match order {
            Order::Ascending => self.first.wrapping_sub(1),
            Order::Descending => self.first.wrapping_add(1),
        }
    }

    /// Parks those of the others that wait next to the parked ones, at the same barrier, and are idle behind it.
    fn park(&mut self, order: Order, warps: &mut [Warp]) {
        while let Some(warp) = warps.get_mut(self.neighbour(order)) {
            let joins = self.count == 0 || warp.idle_row == self.row;
            if !warp.waits() || warp.idle == 0 || !joins {
                break;
            }
            if self.count == 0 {
                (self.come, self.most) = (0, u32::MAX);
                (self.barrier, self.row) = (warp.pc - 1, warp.idle_row);
            }
            warp.parked_at = self.come;
            self.most = self.most.min(self.come + warp.idle);
            self.lanes += u64::from(warp.mask.count_ones());
            self.count += 1;
            self.first = self.neighbour(order);
        }
    }

    /// Writes down where each of them stands: none is parked.
    pub(crate) fn leave(&mut self, order: Order, warps: &mut [Warp]) {
        let parked = std::mem::replace(self, Parked::none(order, warps.len()));
        for warp in parked.split(order, warps).0 {
            let come = parked.come - warp.parked_at;
            warp.idle -= come;
            (warp.pc, warp.idle_row) = (parked.barrier + 1, parked.row);
            if parked.is_open {
                warp.state = WarpState::Ready;
            }
        }
    }
}

/// All warps of a pass but the parked ones have had their turn, and have ended or wait: the parked ones come, and the barrier opens. Gives
/// the place of the warp that has its turn next, if it is to run at once.
#[inline(never)]
pub(crate) fn next_pass<O: Observer>(
    machine: &mut Machine<'_, O>,
    warps: &mut [Warp],
    totals: &mut Totals,
) -> Option<usize> {
    let (order, parked) = (machine.policy.order, &mut machine.pass.parked);
    let barriers = &mut machine.record.barriers;
    if parked.count != 0 && !parked.come(machine.code, totals, barriers, machine.policy.limit) {
        let first = parked.first;
        parked.leave(order, warps);
        return Some(first);
    }
    if machine.pass.barriers == 0 || O::SEES_REPEATS && !parked.is_even(order, warps) {
        return None;
    }
    if parked.count != 0 && parked.come == parked.most {
        parked.leave(order, warps);
    }
    // Mostly nobody joins them.
    if warps
        .get(parked.neighbour(order))
        .is_some_and(|warp| warp.idle != 0)
    {
        parked.park(order, warps);
    }
    parked.is_open = true;
    let opened = meeting::release(parked.split(order, warps).1);
    if opened.has_votes {
        meeting::count_votes(warps);
    }
    if !opened.any && parked.count == 0 {
        return None;
    }
    machine.pass.barriers -= 1;
    machine.observer.barrier();
    Some(order.number(0, warps.len() as u64) as usize)
}
