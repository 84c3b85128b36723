//! Accesses of lanes with one cell each, in order. Most accesses are of this kind, and CPU vectors handle them at once.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use super::{Cells, Lanes};
use crate::race::epoch::{ATOMIC, Bases, PLACE, reach, reaching};

/// All bits if true, otherwise none.
#[inline(always)]
pub(super) fn all(is: bool) -> u32 {
    0u32.wrapping_sub(u32::from(is))
}

/// `a` where the bits are set, else `b`.
#[inline(always)]
pub(super) fn choose(on: u32, a: u32, b: u32) -> u32 {
    a & on | b & !on
}

/// The result for a cell that a lane reads. Conditions are all bits or none.
pub(super) struct Reader {
    /// Whether it has to be judged, or the cell is unwritten.
    pub(super) judge: u32,
    /// Whether it joins the other readers of the cell.
    pub(super) joins: u32,
    /// The cell's readers afterwards, unless it is judged.
    pub(super) next: u32,
}

impl Reader {
    /// For a cell with the last write and the readers `(w, r)`.
    #[inline(always)]
    pub(super) fn of((w, r): (u32, u32), me: u32, bases: Bases, exact: bool) -> Reader {
        let plain = r & ATOMIC == 0;
        let ours = bases.orders(w, me) & (w != 0);
        let replaced = bases.orders_all(r, me) & plain;
        let kept = replaced | bases.covers(r, exact);
        let wider = bases.distance(r & PLACE);
        let joined = plain & !exact & !kept & (wider > reach(r));
        Reader {
            judge: all(!(ours & (kept | joined))),
            joins: all(joined),
            next: choose(
                all(replaced),
                me,
                choose(all(joined), reaching(me, wider), r),
            ),
        }
    }
}

impl Lanes {
    /// The first cell, if each lane has one cell, in order. It is that of lane 0, whether it takes part or not.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<usize> {
        let lowest = self.mask.trailing_zeros() & 31;
        let first = self.cells[lowest as usize].checked_sub(lowest)?;
        let mut others = 0;
        for l in 0..32 {
            let on = all(self.mask >> l & 1 != 0);
            others |= (self.cells[l] ^ (first + l as u32)) & on;
        }
        (others == 0).then_some(first as usize)
    }
}

impl Cells {
    /// Reads of lanes from the cell `first` on, if none has to be judged and all cells were written; otherwise nothing
    /// is done.
    ///
    /// There is one answer for all lanes: collecting a bit of each costs more than the rest.
    #[inline(always)]
    pub(crate) fn read_run(
        &mut self,
        first: usize,
        (mask, tag): (u32, u32),
        bases: Bases,
        exact: bool,
    ) -> bool {
        let (Some(write), Some(read), Some(other)) = (
            self.write
                .get(first..)
                .and_then(|cells| cells.first_chunk::<32>()),
            self.read
                .get_mut(first..)
                .and_then(|cells| cells.first_chunk_mut::<32>()),
            self.other
                .get_mut(first..)
                .and_then(|cells| cells.first_chunk_mut::<32>()),
        ) else {
            return false;
        };
        let (mut next, mut joining) = ([0; 32], [0; 32]);
        let (mut judge, mut joins) = (0, 0);
        for l in 0..32 {
            let on = all(mask >> l & 1 != 0);
            let reader = Reader::of((write[l], read[l]), tag | l as u32, bases, exact);
            judge |= reader.judge & on;
            joining[l] = reader.joins & on;
            joins |= joining[l];
            next[l] = choose(on, reader.next, read[l]);
        }
        if judge != 0 {
            return false;
        }
        if joins != 0 {
            for l in 0..32 {
                other[l] = choose(joining[l], read[l] & PLACE, other[l]);
            }
        }
        *read = next;
        true
    }

    /// Writes of such lanes, in the same way.
    #[inline(always)]
    pub(crate) fn write_run(
        &mut self,
        first: usize,
        (mask, tag): (u32, u32),
        bases: Bases,
    ) -> bool {
        let cells = self.write.get_mut(first..);
        let Some(write) = cells.and_then(|cells| cells.first_chunk_mut::<32>()) else {
            return false;
        };
        let mut unread = [0; 32];
        let read = match self.read.is_empty() {
            true => &mut unread,
            false => match self
                .read
                .get_mut(first..)
                .and_then(|cells| cells.first_chunk_mut())
            {
                Some(read) => read,
                None => return false,
            },
        };
        let mut judge = 0;
        for l in 0..32 {
            let me = tag | l as u32;
            let good = bases.orders(write[l], me) & bases.orders_all(read[l], me);
            judge |= u32::from(!good) & (mask >> l);
        }
        if judge & 1 != 0 {
            return false;
        }
        for l in 0..32 {
            let on = all(mask >> l & 1 != 0);
            write[l] = choose(on, tag | l as u32, write[l]);
            read[l] &= !on;
        }
        true
    }
}
