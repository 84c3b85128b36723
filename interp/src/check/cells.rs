//! Shadow memory: who wrote each cell last, and who has read it since.
//!
//! A cell is 4 bytes of memory, or one byte once any access to that memory was narrower than 4. Each side holds a [tag](self)
//! of 32 bits: the lane, the number of an [`Entry`] (which says block, warp, source access and time), and of readers how far
//! they reach: one thread, several lanes of a warp, several warps of a block, several blocks. Atomics are kept on the side of the
//! readers, with a mark: they are in no conflict with each other.
//!
//! Entries are numbered in the order in which they are made, so that the common questions are comparisons of numbers: what
//! this block did before its last barrier, what this warp did before its last `__syncwarp`, what this thread did
//! ([`Bases`]). [`Cells::read`] and [`Cells::write`] answer them for 32 lanes at once and give back the lanes that need a
//! closer look.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use std::collections::HashMap;

use crate::block::refill;

/// Lane and entry of a tag.
pub(crate) const PLACE: u32 = (1 << 29) - 1;
/// Entries there can be.
pub(crate) const MOST_ENTRIES: u32 = 1 << 24;
/// Entries that are kept without asking.
const LEAST_ENTRIES: usize = 1 << 16;
/// Cells for which one entry may be kept without asking: half of the program's own memory.
const CELLS_PER_ENTRY: usize = 8;
/// Where the reach begins.
const REACH: u32 = 29;
/// Readers: one thread.
pub(crate) const ONE: u32 = 0;
/// Several lanes of a warp.
pub(crate) const WARP: u32 = 1;
/// Several warps of a block.
pub(crate) const BLOCK: u32 = 2;
/// Several blocks.
pub(crate) const GRID: u32 = 3;
/// A write by nobody in particular, that is ordered before everything.
pub(crate) const WRITTEN: u32 = 1;
/// They are atomics.
pub(crate) const ATOMIC: u32 = 1 << 31;

/// How far a tag's readers reach.
#[inline(always)]
pub(crate) fn reach(tag: u32) -> u32 {
    tag >> REACH & 3
}

/// The tag with another reach.
#[inline(always)]
pub(crate) fn reaching(tag: u32, reach: u32) -> u32 {
    tag & !(3 << REACH) | reach << REACH
}

/// The accesses of one instruction by one warp between two of its synchronisations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The source access.
    pub(crate) counter: u32,
    pub(crate) block: u32,
    /// When: orders the events of a block.
    pub(crate) time: u32,
    pub(crate) warp: u8,
    pub(crate) volatile: bool,
}

/// Ranges of tags that are known to be ordered before what the warp in hand does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bases {
    /// From here to `epoch`: this block, before its last barrier.
    pub(crate) block: u32,
    pub(crate) epoch: u32,
    /// From here on: this warp. To `sync`: before all its lanes synchronised.
    pub(crate) warp: u32,
    pub(crate) sync: u32,
    /// The warp has not had a turn since the barrier: from `epoch` to `warp` it is others' entries.
    pub(crate) first_turn: bool,
    /// The block has not been aside: before `block` it is other blocks' entries.
    pub(crate) new_block: bool,
}

impl Bases {
    #[inline(always)]
    fn in_block(self, place: u32) -> bool {
        place.wrapping_sub(self.block) < self.epoch - self.block
    }

    #[inline(always)]
    fn in_warp(self, place: u32) -> bool {
        place.wrapping_sub(self.warp) < self.sync - self.warp
    }

    /// Whether a single access is ordered before one by `me`.
    #[inline(always)]
    pub(super) fn orders(self, place: u32, me: u32) -> bool {
        (place < 32)
            | self.in_block(place)
            | self.in_warp(place)
            | ((place >= self.warp) & ((place ^ me) & 31 == 0))
    }

    /// Whether readers reach as far as they and another one would.
    #[inline(always)]
    pub(super) fn covers(self, tag: u32, exact: bool) -> bool {
        let (place, reach) = (tag & PLACE, reach(tag));
        (tag & ATOMIC == 0)
            & !exact
            & (((place >= self.sync) & (reach >= WARP))
                | ((place >= self.epoch) & (reach >= BLOCK))
                | (reach == GRID))
    }

    /// How far a reader that nothing orders before the warp in hand and another thread of that warp reach; [`ONE`] if the
    /// numbers do not tell.
    #[inline(always)]
    pub(super) fn apart(self, place: u32) -> u32 {
        let (in_block, in_grid) = (u32::from(self.first_turn), u32::from(self.new_block));
        if place >= self.warp {
            WARP
        } else if place >= self.epoch {
            in_block * BLOCK
        } else {
            u32::from(place < self.block) * in_grid * GRID
        }
    }

    /// Whether all readers are.
    #[inline(always)]
    pub(super) fn orders_all(self, tag: u32, me: u32) -> bool {
        let (place, reach) = (tag & PLACE, reach(tag));
        (tag == 0)
            | (self.in_block(place) & (reach != GRID))
            | (self.in_warp(place) & (reach <= WARP))
            | ((place >= self.warp) & ((place ^ me) & 31 == 0) & (reach == ONE))
    }
}

/// Entries and the ranges among them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// By counter: the entry made last, and when.
    latest: Vec<(u32, u32)>,
    pub(crate) bases: Bases,
    /// Entries there may be before it is worth looking which are in use.
    most: usize,
}

impl Table {
    pub(crate) fn new(counters: usize) -> Table {
        let mut table = Table {
            entries: Vec::new(),
            latest: vec![(u32::MAX, 0); counters],
            bases: Bases::default(),
            most: LEAST_ENTRIES,
        };
        table.clear();
        table
    }

    /// Forgets everything. Entry 0 is nobody's.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.entries.push(Entry {
            counter: 0,
            block: u32::MAX,
            time: 0,
            warp: 0,
            volatile: false,
        });
        self.latest.fill((u32::MAX, 0));
        self.begin_block(self.bases.new_block);
    }

    /// Expects so many cells: what entries there may be without looking which are in use follows from that.
    pub(crate) fn expect(&mut self, cells: usize) {
        self.most = (cells / CELLS_PER_ENTRY).max(LEAST_ENTRIES);
    }

    /// Tags from here on are new.
    pub(crate) fn next(&self) -> u32 {
        (self.entries.len() as u32) << 5
    }

    /// A block begins, or goes on.
    pub(crate) fn begin_block(&mut self, new_block: bool) {
        let next = self.next();
        self.bases = Bases {
            block: next,
            epoch: next,
            warp: next,
            sync: next,
            first_turn: false,
            new_block,
        };
    }

    /// A warp goes on; `first_turn`: since the barrier it has not been its turn.
    #[inline(always)]
    pub(crate) fn begin_warp(&mut self, first_turn: bool) {
        let next = self.next();
        (self.bases.warp, self.bases.sync) = (next, next);
        self.bases.first_turn = first_turn;
    }

    pub(crate) fn barrier(&mut self) {
        self.bases.epoch = self.next();
        self.begin_warp(false);
    }

    pub(crate) fn sync_warp(&mut self) {
        self.bases.sync = self.next();
    }

    /// The entry of a source access now, as a tag without lane.
    #[inline(always)]
    pub(crate) fn tag(&mut self, counter: u32, now: u32, make: impl FnOnce() -> Entry) -> u32 {
        let latest = &mut self.latest[counter as usize];
        if latest.0 != now {
            *latest = (now, self.entries.len() as u32);
            self.entries.push(make());
        }
        latest.1 << 5
    }

    pub(crate) fn entry(&self, tag: u32) -> &Entry {
        let known = self.entries.get(((tag & PLACE) >> 5) as usize);
        known.unwrap_or(&self.entries[0])
    }

    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() as u32 >= MOST_ENTRIES - 1
    }

    /// Whether it is time to [compact](Table::compact).
    pub(crate) fn is_long(&self) -> bool {
        self.entries.len() >= self.most
    }

    /// Drops entries that no cell speaks of.
    #[cold]
    pub(crate) fn compact(&mut self, memory: &mut [Cells]) {
        let mut numbers = vec![0u32; self.entries.len() + 1];
        let mut cells = 0;
        for part in memory.iter_mut() {
            cells += part.count();
            part.for_each_tag(|tag| {
                if let Some(used) = numbers.get_mut(((*tag & PLACE) >> 5) as usize) {
                    *used = 1;
                }
            });
        }
        numbers[0] = 1;
        let mut kept = Vec::new();
        for (number, entry) in numbers.iter_mut().zip(&self.entries) {
            let used = *number == 1;
            *number = kept.len() as u32;
            if used {
                kept.push(*entry);
            }
        }
        // Tags that end a range may be of no entry yet.
        if let Some(end) = numbers.last_mut() {
            *end = kept.len() as u32;
        }
        let moved = |tag: u32| {
            let number = numbers.get(((tag & PLACE) >> 5) as usize);
            let number = number.copied().unwrap_or(0);
            tag & !(PLACE & !31) | number << 5
        };
        for part in memory {
            part.for_each_tag(|tag| *tag = moved(*tag));
        }
        let Bases {
            block,
            epoch,
            warp,
            sync,
            ..
        } = self.bases;
        self.bases = Bases {
            block: moved(block),
            epoch: moved(epoch),
            warp: moved(warp),
            sync: moved(sync),
            ..self.bases
        };
        self.most = (2 * kept.len())
            .max(cells / CELLS_PER_ENTRY)
            .max(LEAST_ENTRIES);
        self.entries = kept;
        self.latest.fill((u32::MAX, 0));
    }
}

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
    /// Lines are kept as a whole where they can be (see [`super::lines`]).
    pub(super) lined: bool,
    /// By line of 32 cells: the last write and read of all of it.
    pub(super) lines: Vec<[u32; 2]>,
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
    fn for_each_tag(&mut self, mut then: impl FnMut(&mut u32)) {
        for side in [&mut self.write, &mut self.read, &mut self.other] {
            side.iter_mut().filter(|tag| **tag != 0).for_each(&mut then);
        }
        self.line_tags().for_each(&mut then);
        self.many.values_mut().flatten().for_each(then);
    }

    /// Nobody has touched anything.
    pub(crate) fn clear(&mut self) {
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
    pub(super) fn make_each(&mut self) {
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
    pub(super) fn prepare_reads(&mut self) {
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
    pub(super) fn count(&self) -> usize {
        self.bytes.div_ceil(1 << self.shift)
    }

    pub(super) fn bytes(&self) -> usize {
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

    /// Reads of 32 lanes. Gives those that need a closer look, and those that read what nobody wrote.
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
        let wider = bases.apart(plain & PLACE);
        if wider <= reach(plain) {
            return false;
        }
        self.other[cell] = plain & PLACE;
        self.read[cell] = reaching(me | kind, wider);
        true
    }

    /// Atomics of 32 lanes. Gives those that need a closer look: from the first such lane on.
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

    /// Writes of 32 lanes. Gives those that need a closer look; and those that wrote a cell that a lower lane writes, too.
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
