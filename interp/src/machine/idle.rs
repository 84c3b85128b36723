//! Warps that are idle between several barriers in a row. At the first barrier the engine computes how many idle rounds
//! follow. It then counts each round when the warp would have run it.

#![allow(
    clippy::inline_always,
    reason = "the comparisons are compiled with the features of the engine that calls them"
)]

use crate::isa::bytecode::Code;
use crate::isa::op::{Op, lane_arms, lane_ops};
use crate::isa::registers::View;
use crate::machine::Totals;
use crate::machine::level::Level;
use crate::machine::ops::{float, int, lanes};
use crate::machine::vectors::Vectors;
use crate::machine::warp::{Warp, WarpState};

/// The number of consecutive rounds in which no active lane has anything to do, starting at `row` (an index plus 1).
/// What their comparisons read does not change in between. Also returns whether the number is the same in every block.
#[inline(always)]
pub(crate) fn rounds<V: Vectors>(code: &Code, r: View, mut row: u32, mask: u32) -> (u32, bool) {
    macro_rules! compare {
        ({ $inst:ident, $r:ident }
         varying { $($varying:tt)* }
         masks { $(($m:ident, $on_m:ident, $m_lane:path))* }
         scalar { $($scalar:tt)* }) => {
            match $inst.op {
                $(Op::$m => lanes::$on_m::<V>($r, $inst, $m_lane),)*
                // The compiler uses no other operation here.
                _ => return u32::MAX,
            }
        };
    }
    /// The lanes in which a comparison holds. Restores the comparison's register, which may still hold another value.
    #[inline(always)]
    fn holds<V: Vectors>(r: View, inst: &crate::isa::bytecode::Inst) -> u32 {
        let before = r.s(inst.d);
        lane_ops! { lane_arms! { compare! { inst, r } } };
        let holds = r.mask(inst.d);
        r.set_s(inst.d, before);
        holds
    }
    let (mut count, mut is_known) = (0, true);
    while row != 0 {
        let round = &code.idle[row as usize - 1];
        is_known &= round.is_known;
        if holds::<V>(r, &round.compare) & mask != 0 {
            break;
        }
        count += 1;
        row = round.next;
    }
    (count, is_known)
}

impl Warp {
    /// At a barrier: finds how many barriers the warp will reach after it without anything to do in between.
    #[inline(always)]
    pub(crate) fn begins_idle<L: Level>(&mut self, code: &Code, r: View, row: u32, mask: u32) {
        let known = self.known_idle[row as usize - 1];
        self.idle = known.unwrap_or_else(|| self.finds_idle::<L>(code, r, row, mask));
        self.idle_row = row;
    }

    #[cold]
    fn finds_idle<L: Level>(&mut self, code: &Code, r: View, row: u32, mask: u32) -> u32 {
        let (count, is_known) = L::idle(code, r, row, mask);
        if is_known && mask == self.lanes {
            self.known_idle[row as usize - 1] = Some(count);
        }
        count
    }

    /// Moves on from the barrier it has passed to the next one, if the warp is idle in between and stays within the
    /// limit.
    #[inline(always)]
    pub(crate) fn idles(
        &mut self,
        code: &Code,
        totals: &mut Totals,
        barriers: &mut [u64],
        limit: u64,
    ) -> bool {
        if self.idle == 0 {
            return false;
        }
        let round = &code.idle[self.idle_row as usize - 1];
        if totals.charged() + round.instructions > limit {
            // The warp has to run, so that the limit ends it at the right instruction.
            self.idle = 0;
            return false;
        }
        #[cfg(test)]
        crate::tests::PASSED_BY.set(crate::tests::PASSED_BY.get() + 1);
        totals.warp_instructions += round.instructions;
        totals.thread_instructions += round.of_lanes * u64::from(self.mask.count_ones());
        totals.branches += round.branches;
        totals.barriers += 1;
        barriers[round.barrier as usize] += 1;
        self.idle_row = round.next;
        self.pc = round.barrier + 1;
        self.idle -= 1;
        self.state = WarpState::AtBarrier;
        true
    }
}
