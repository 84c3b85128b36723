//! Shadow memory: who wrote each cell last, and who has read it since.
//!
//! A cell is 4 bytes of memory, or one byte once any access to that memory was narrower than 4. It keeps a [tag](super::epoch) of the
//! last write, and one of the readers since. Atomics are kept with the readers, with a mark: they do not conflict with each other.
//!
//! [`Cells::read`] and [`Cells::write`] compare tags for 32 lanes at once and give back the lanes that have to be judged one by one.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

mod few;
mod halves;
mod lines;
mod runs;
mod spread;

use crate::memory::bytes::refill;
use std::collections::HashMap;

use super::epoch::{ATOMIC, Bases, PLACE, WARP, WRITTEN, reach, reaching};

pub(crate) use few::FEW;
pub(crate) use lines::LineRun;
pub(crate) use spread::{Spread, Spreads};

/// The shadow of one memory: a block's shared memory, or a region.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Bytes of a cell as a power of two: 2 or 0.
    pub(crate) shift: u32,
    bytes: usize,
    /// The last write.
    pub(crate) write: Vec<u32>,
    /// Reads (or atomics) since: the last one that had to be noted. Empty until there is one.
    pub(crate) read: Vec<u32>,
    /// Another one that differs in lane, warp or block, whatever the reach says. As many as of `read`.
    pub(crate) other: Vec<u32>,
    /// All readers of cells that several have read, where the exact answer needs them.
    pub(crate) many: HashMap<u32, Vec<u32>>,
    /// Lines are kept as a whole where they can be (see [`lines`]).
    pub(crate) lined: bool,
    /// By line of 32 cells: the last write and read of all of it.
    pub(crate) lines: Vec<[u32; 2]>,
}

/// What 32 lanes do to the cells: the first cell of each; of lanes that are not active, that of one that is.
pub(crate) struct Lanes {
    pub(crate) cells: [u32; 32],
    pub(crate) mask: u32,
    /// The entry.
    pub(crate) tag: u32,
}

impl Cells {
    pub(crate) fn new(bytes: usize) -> Cells {
        Cells {
            shift: 2,
            bytes,
            ..Cells::default()
        }
    }

    /// The same, whose lines are kept as a whole where they can be.
    pub(crate) fn in_lines(bytes: usize) -> Cells {
        Cells {
            lined: true,
            ..Cells::new(bytes)
        }
    }

    /// Forgets who wrote, but not what was written: everything so far is ordered before what comes.
    pub(crate) fn settle(&mut self) {
        self.settle_lines();
        for tag in &mut self.write {
            *tag = (*tag).min(WRITTEN);
        }
        refill(&mut self.read, 0);
        self.many.clear();
    }

    /// Calls `then` with every tag.
    pub(crate) fn for_each_tag(&mut self, mut then: impl FnMut(&mut u32)) {
        for side in [&mut self.write, &mut self.read, &mut self.other] {
            side.iter_mut().filter(|tag| **tag != 0).for_each(&mut then);
        }
        self.line_tags().for_each(&mut then);
        self.many.values_mut().flatten().for_each(then);
    }

    /// Nobody has touched anything. Lines whose cells speak for themselves will need that again: what comes is the next block.
    pub(crate) fn clear(&mut self) {
        self.clear_lines();
        refill(&mut self.write, 0);
        refill(&mut self.read, 0);
        self.many.clear();
    }

    /// Makes cells of such accesses, if there are none.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, width_bytes: u32) {
        if (self.write.is_empty() && !self.lined) || (width_bytes < 4 && self.shift != 0) {
            self.make(width_bytes);
        }
    }

    #[cold]
    fn make(&mut self, width_bytes: u32) {
        if width_bytes < 4 && self.shift != 0 {
            self.split();
        }
        if !self.lined {
            self.make_each();
        }
    }

    /// Makes the cells themselves, if there are none.
    #[inline(always)]
    pub(crate) fn make_each(&mut self) {
        if self.write.is_empty() {
            self.make_writes();
        }
    }

    #[cold]
    fn make_writes(&mut self) {
        self.write = vec![0; self.count()];
    }

    /// Makes room for readers, if there is none. Most of what a kernel writes it never reads.
    #[inline(always)]
    pub(crate) fn prepare_reads(&mut self) {
        if self.read.is_empty() {
            self.make_reads();
        }
    }

    #[cold]
    fn make_reads(&mut self) {
        let count = self.count();
        for side in [&mut self.read, &mut self.other] {
            *side = vec![0; count];
        }
    }

    /// How many cells the memory has.
    pub(crate) fn count(&self) -> usize {
        self.bytes.div_ceil(1 << self.shift)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// From cells of 4 bytes to cells of one.
    fn split(&mut self) {
        self.split_lines();
        self.shift = 0;
        let count = self.count();
        for side in [&mut self.write, &mut self.read, &mut self.other] {
            if side.is_empty() {
                continue;
            }
            let words = std::mem::replace(side, vec![0; count]);
            for (bytes, &word) in side.chunks_mut(4).zip(&words) {
                if word != 0 {
                    bytes.fill(word);
                }
            }
        }
        let words = std::mem::take(&mut self.many);
        for (word, readers) in words {
            for byte in 0..4 {
                self.many.insert(4 * word + byte, readers.clone());
            }
        }
    }

    /// Reads of 32 lanes. Gives those to be judged, and those that read unwritten bytes.
    #[inline(always)]
    pub(crate) fn read(&mut self, lanes: &Lanes, bases: Bases, exact: bool) -> (u32, u32) {
        let (write, read) = (self.write.as_ptr(), self.read.as_mut_ptr());
        let (mut set, mut bad, mut unset) = (0u32, 0u32, 0u32);
        let mut joins = 0u32;
        for l in 0..32 {
            let i = lanes.cells[l] as usize;
            debug_assert!(i < self.write.len());
            // SAFETY: the cells were made for the memory, and the lane's bytes lie inside of it.
            let (w, r) = unsafe { (*write.add(i), *read.add(i)) };
            let me = lanes.tag | l as u32;
            unset |= u32::from(w == 0) << l;
            let ours = bases.orders(w, me);
            let replaced = bases.orders_all(r, me) & (r & ATOMIC == 0);
            set |= u32::from(ours & replaced) << l;
            bad |= u32::from(!(ours & (replaced | bases.covers(r, exact)))) << l;
            joins |= u32::from(ours & (r & ATOMIC == 0)) << l;
        }
        set &= lanes.mask;
        bad &= lanes.mask;
        unset &= lanes.mask;
        let mut rest = set;
        while rest != 0 {
            let l = rest.trailing_zeros();
            rest &= rest - 1;
            // SAFETY: as above.
            unsafe { *read.add(lanes.cells[l as usize] as usize) = lanes.tag | l };
        }
        let mut lost = 0u32;
        for l in 0..32 {
            // SAFETY: as above.
            let r = unsafe { *read.add(lanes.cells[l] as usize) };
            lost |= u32::from(r != lanes.tag | l as u32) << l;
        }
        lost &= set;
        if exact {
            return (bad | lost, unset);
        }
        let other = self.other.as_mut_ptr();
        while lost != 0 {
            let l = lost.trailing_zeros();
            lost &= lost - 1;
            let i = lanes.cells[l as usize] as usize;
            // SAFETY: as above.
            unsafe {
                *read.add(i) = reaching(*read.add(i), WARP);
                *other.add(i) = lanes.tag | l;
            }
        }
        let cell = |l: u32| lanes.cells[l as usize] as usize;
        (self.join_all(bad, joins, lanes.tag, cell, bases), unset)
    }

    /// Has lanes of `bad` join the readers of their cells, up to the first that cannot (those that can are in `joins`), and gives
    /// back the others: what is wrong is looked at in the order of the lanes.
    #[inline(always)]
    fn join_all(
        &mut self,
        mut bad: u32,
        joins: u32,
        tag: u32,
        cell: impl Fn(u32) -> usize,
        bases: Bases,
    ) -> u32 {
        while bad != 0 {
            let l = bad.trailing_zeros();
            if joins >> l & 1 == 0 || !self.join(cell(l), tag | l, 0, bases) {
                break;
            }
            bad &= bad - 1;
        }
        bad
    }

    /// Puts a reader to those of a cell, or with [`ATOMIC`] as its kind an atomic, if the numbers say all there is to know.
    #[inline(always)]
    fn join(&mut self, cell: usize, me: u32, kind: u32, bases: Bases) -> bool {
        let readers = self.read[cell];
        let plain = readers & !ATOMIC;
        let same_kind = readers & ATOMIC == kind;
        if bases.orders_all(plain, me) && (same_kind || kind == ATOMIC) {
            self.read[cell] = me | kind;
            return true;
        }
        if !same_kind {
            return false;
        }
        if bases.covers(plain, false) {
            return true;
        }
        let wider = bases.distance(plain & PLACE);
        if wider <= reach(plain) {
            return false;
        }
        self.other[cell] = plain & PLACE;
        self.read[cell] = reaching(me | kind, wider);
        true
    }

    /// Atomics of 32 lanes. Gives those to be judged: from the first such lane on.
    #[inline(always)]
    pub(crate) fn atomic(&mut self, lanes: &Lanes, bases: Bases) -> u32 {
        let mut bad = lanes.mask;
        while bad != 0 {
            let l = bad.trailing_zeros();
            let cell = lanes.cells[l as usize] as usize;
            let me = lanes.tag | l;
            if !bases.orders(self.write[cell], me) || !self.join(cell, me, ATOMIC, bases) {
                break;
            }
            bad &= bad - 1;
        }
        bad
    }

    /// Writes of 32 lanes. Gives those to be judged, and those that wrote a cell that a lower lane writes, too.
    #[inline(always)]
    pub(crate) fn write(&mut self, lanes: &Lanes, bases: Bases) -> (u32, u32) {
        if self.read.is_empty() {
            self.write_lanes::<false>(lanes, bases)
        } else {
            self.write_lanes::<true>(lanes, bases)
        }
    }

    #[inline(always)]
    fn write_lanes<const READ: bool>(&mut self, lanes: &Lanes, bases: Bases) -> (u32, u32) {
        let (write, read) = (self.write.as_mut_ptr(), self.read.as_mut_ptr());
        let mut good = 0u32;
        for l in 0..32 {
            let i = lanes.cells[l] as usize;
            debug_assert!(i < self.write.len() && (!READ || self.read.len() == self.write.len()));
            // SAFETY: the cells were made for the memory, and the lane's bytes lie inside of it.
            let (w, r) = unsafe { (*write.add(i), if READ { *read.add(i) } else { 0 }) };
            let me = lanes.tag | l as u32;
            good |= u32::from(bases.orders(w, me) & bases.orders_all(r, me)) << l;
        }
        good &= lanes.mask;
        let mut rest = good;
        while rest != 0 {
            let l = 31 - rest.leading_zeros();
            rest &= !(1 << l);
            let i = lanes.cells[l as usize] as usize;
            // SAFETY: as above.
            unsafe {
                *write.add(i) = lanes.tag | l;
                if READ {
                    *read.add(i) = 0;
                }
            }
        }
        let mut lost = 0u32;
        for l in 0..32 {
            // SAFETY: as above.
            let w = unsafe { *write.add(lanes.cells[l] as usize) };
            lost |= u32::from(w != lanes.tag | l as u32) << l;
        }
        (lanes.mask & !good, lost & good)
    }
}
