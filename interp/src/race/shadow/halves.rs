//! Accesses of two runs of 16 lanes: what a warp of a 16-wide block does to two rows of an array, however far apart
//! they are.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use super::runs::all;
use super::{Cells, Lanes};
use crate::race::epoch::{ATOMIC, Bases};

const HALF: usize = 16;

impl Lanes {
    /// The first cell of each half, if each half of the lanes has one cell per lane, in order, and no two lanes share a
    /// cell.
    #[inline(always)]
    pub(crate) fn halves(&self) -> Option<[usize; 2]> {
        let [one, other] = [self.cells[0], self.cells[HALF]];
        let mut others = 0;
        for l in 0..HALF {
            others |= self.cells[l] ^ one.wrapping_add(l as u32);
            others |= self.cells[HALF + l] ^ other.wrapping_add(l as u32);
        }
        let is_halves = self.mask == u32::MAX && others == 0 && one.abs_diff(other) >= HALF as u32;
        is_halves.then_some([one as usize, other as usize])
    }
}

impl Cells {
    /// Records an access of two halves, if no lane has to be judged. Reads also require that all cells were written and
    /// no lane joins other readers. Otherwise nothing is done.
    #[inline(always)]
    pub(crate) fn halves(
        &mut self,
        firsts: [usize; 2],
        tag: u32,
        stores: bool,
        bases: Bases,
    ) -> bool {
        self.make_each();
        if !stores {
            self.prepare_reads();
        }
        let mut judge = 0;
        for half in 0..2 {
            let first = firsts[half];
            self.open_cells(first, first + HALF);
            let Some(write) = half_of(&self.write, first) else {
                return false;
            };
            let unread = [0; HALF];
            let read = match self.read.is_empty() {
                true => &unread,
                false => match half_of(&self.read, first) {
                    Some(read) => read,
                    None => return false,
                },
            };
            for l in 0..HALF {
                let me = tag | (HALF * half + l) as u32;
                let is_seen = stores | ((write[l] != 0) & (read[l] & ATOMIC == 0));
                let good = is_seen & bases.orders(write[l], me) & bases.orders_all(read[l], me);
                judge |= all(!good);
            }
        }
        if judge != 0 {
            return false;
        }
        for half in 0..2 {
            let own = firsts[half]..firsts[half] + HALF;
            if stores && let Some(read) = self.read.get_mut(own.clone()) {
                read.fill(0);
            }
            let side = match stores {
                true => &mut self.write,
                false => &mut self.read,
            };
            let side = &mut side[own];
            for l in 0..HALF {
                side[l] = tag | (HALF * half + l) as u32;
            }
        }
        true
    }
}

#[inline(always)]
fn half_of(cells: &[u32], first: usize) -> Option<&[u32; HALF]> {
    cells.get(first..)?.first_chunk()
}
