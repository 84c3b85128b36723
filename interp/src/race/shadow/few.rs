//! Accesses of few lanes: the first thread of each warp, the edge of a tile, the last rounds of a sum.
//!
//! Vector instructions take as long for one lane as for 32. A few lanes are therefore handled one after the other.

#![allow(clippy::inline_always, reason = "most accesses are not of few lanes")]

use super::Cells;
use crate::isa::mask::LaneMask;
use crate::race::epoch::{ATOMIC, Bases};

/// The most lanes that count as few.
pub(crate) const FEW: u32 = 8;

impl Cells {
    /// Records an access of few lanes, with `each` cells per lane. Requires that no two lanes touch one cell and none
    /// has to be judged. Reads also require that all cells were written and no lane joins other readers. Otherwise
    /// nothing is done.
    #[inline(always)]
    pub(crate) fn few(
        &mut self,
        (mask, tag): (u32, u32),
        (first, each): (impl Fn(usize) -> usize, usize),
        stores: bool,
        bases: Bases,
    ) -> bool {
        let mut taken = 0u64;
        for lane in LaneMask(mask) {
            taken |= 1 << (first(lane) / each % 64);
        }
        if taken.count_ones() != mask.count_ones() {
            return false;
        }
        self.make_each();
        if !stores {
            self.prepare_reads();
        }
        for lane in LaneMask(mask) {
            self.open_cells(first(lane), first(lane) + each);
        }
        let mut judge = false;
        for lane in LaneMask(mask) {
            let me = tag | lane as u32;
            for cell in first(lane)..first(lane) + each {
                let (write, read) = (self.write[cell], self.read.get(cell).copied().unwrap_or(0));
                let is_seen = stores | ((write != 0) & (read & ATOMIC == 0));
                judge |= !(is_seen & bases.orders(write, me) & bases.orders_all(read, me));
            }
        }
        if judge {
            return false;
        }
        for lane in LaneMask(mask) {
            let (me, own) = (tag | lane as u32, first(lane)..first(lane) + each);
            match stores {
                true => {
                    self.write[own.clone()].fill(me);
                    if let Some(read) = self.read.get_mut(own) {
                        read.fill(0);
                    }
                }
                false => self.read[own].fill(me),
            }
        }
        true
    }
}
