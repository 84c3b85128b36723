//! Shadow memory: the last write of each cell, and the reads since then.
//!
//! A cell is 4 bytes of memory, or one byte once an access to that memory was narrower than 4 bytes. It holds a
//! [tag](super::epoch) of the last write, and one of the readers since then. Atomics are stored with the readers, with
//! a mark, because they do not conflict with each other.
//!
//! [`Cells::read`] and [`Cells::write`] compare tags for 32 lanes at once, and return the lanes that have to be judged
//! one by one.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

mod halves;
mod lines;
mod runs;
mod spread;

use crate::memory::bytes::refill;
use std::collections::HashMap;

use super::epoch::{ATOMIC, Bases, PLACE, WARP, WRITTEN, reach, reaching};

pub(crate) use lines::LineRun;
pub(crate) use spread::Spread;

/// The shadow of one memory: a block's shared memory, or a region.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Bytes of a cell as a power of two: 2 or 0.
    pub(crate) shift: u32,
    bytes: usize,
    /// The last write.
    pub(crate) write: Vec<u32>,
    /// The last read (or atomic) since then that had to be recorded. Empty until there is one.
    pub(crate) read: Vec<u32>,
    /// Another one from a different lane, warp or block, depending on the reach. As long as `read`.
    pub(crate) other: Vec<u32>,
    /// All readers of cells with several readers, if the exact answer needs them.
    pub(crate) many: HashMap<u32, Vec<u32>>,
    /// Whether lines are stored as a whole where possible (see [`lines`]).
    pub(crate) lined: bool,
    /// By line of 32 cells: the last write and read of the whole line.
    pub(crate) lines: Vec<[u32; 2]>,
}

/// The cells that 32 lanes access: the first cell of each. Inactive lanes have the cell of an active one.
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

    /// The same, with lines stored as a whole where possible.
    pub(crate) fn in_lines(bytes: usize) -> Cells {
        Cells {
            lined: true,
            ..Cells::new(bytes)
        }
    }

    /// Drops the tags, but not which cells were written: everything so far is ordered before later accesses.
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

    /// Makes all cells untouched. Lines that were split into cells stay split, because the next block will need that
    /// again.
    pub(crate) fn clear(&mut self) {
        self.clear_lines();
        refill(&mut self.write, 0);
        refill(&mut self.read, 0);
        self.many.clear();
    }

    /// Creates cells for such accesses, if there are none.
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

    /// Creates the single cells, if there are none.
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

    /// Makes space for readers, if there is none. Kernels never read most of the memory that they write.
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

    /// The number of cells.
    pub(crate) fn count(&self) -> usize {
        self.bytes.div_ceil(1 << self.shift)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Splits cells of 4 bytes into cells of one byte.
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

    /// Reads of 32 lanes. Returns those to be judged, and those that read unwritten bytes.
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

    /// Adds lanes of `bad` to the readers of their cells, up to the first that cannot join (those that can are in
    /// `joins`). Returns the others, because conflicts are judged in the order of the lanes.
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

    /// Adds a reader to those of a cell, or an atomic if its kind is [`ATOMIC`], if the numbers are conclusive.
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

    /// Atomics of 32 lanes. Returns those to be judged: all from the first such lane on.
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

    /// Writes of 32 lanes. Returns those to be judged, and those that write a cell that a lower lane also writes.
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
