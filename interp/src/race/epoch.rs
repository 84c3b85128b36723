//! Epochs represent an access as one number, its tag, so that happens-before is usually a comparison of two numbers.
//!
//! A tag has 32 bits: the lane, the number of an [`Entry`] (block, warp, source access, time), and for readers their
//! reach: one thread, several lanes of a warp, several warps of a block, or several blocks. Entries are numbered as
//! they are created, so everything that this block did before its last barrier, or this warp before its last
//! `__syncwarp`, is a range of tags ([`Bases`]).

#![allow(
    clippy::inline_always,
    reason = "comparisons must vanish into the levels"
)]

use super::shadow::Cells;

/// The bits of a tag with the lane and the entry.
pub(crate) const PLACE: u32 = (1 << 29) - 1;
/// The most entries. Tests use a lower limit to reach it.
pub(crate) const MAX_ENTRIES: u32 = if cfg!(test) { 1 << 17 } else { 1 << 24 };
/// The number of entries below which the table is never compacted.
const LEAST_ENTRIES: usize = 1 << 16;
/// The same in cells per entry: the entries may take half the size of the program's memory.
const CELLS_PER_ENTRY: usize = 8;
/// The position of the reach.
const REACH: u32 = 29;
/// Readers: one thread.
pub(crate) const ONE: u32 = 0;
/// Several lanes of a warp.
pub(crate) const WARP: u32 = 1;
/// Several warps of a block.
pub(crate) const BLOCK: u32 = 2;
/// Several blocks.
pub(crate) const GRID: u32 = 3;
/// The tag of a write that happens before everything.
pub(crate) const WRITTEN: u32 = 1;
/// Marks readers that are atomics.
pub(crate) const ATOMIC: u32 = 1 << 31;

/// The reach of a tag's readers.
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
    /// Its time, which orders the events of a block.
    pub(crate) time: u32,
    pub(crate) warp: u8,
    pub(crate) volatile: bool,
}

/// Ranges of tags that are known to happen before the current warp's accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bases {
    /// From here up to `epoch`: entries of this block before its last barrier.
    pub(crate) block: u32,
    pub(crate) epoch: u32,
    /// From here on: entries of this warp. Up to `sync`: before all its lanes synchronised.
    pub(crate) warp: u32,
    pub(crate) sync: u32,
    /// Whether this is the warp's first turn since the barrier, so that the entries from `epoch` to `warp` belong to
    /// other warps.
    pub(crate) first_turn: bool,
    /// Whether the block has not been suspended, so that the entries before `block` belong to other blocks.
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
    pub(crate) fn orders(self, place: u32, me: u32) -> bool {
        (place < 32)
            | self.in_block(place)
            | self.in_warp(place)
            | ((place >= self.warp) & ((place ^ me) & 31 == 0))
    }

    /// Whether adding another reader would not extend the reach of the readers.
    #[inline(always)]
    pub(crate) fn covers(self, tag: u32, exact: bool) -> bool {
        let (place, reach) = (tag & PLACE, reach(tag));
        (tag & ATOMIC == 0)
            & !exact
            & (((place >= self.sync) & (reach >= WARP))
                | ((place >= self.epoch) & (reach >= BLOCK))
                | (reach == GRID))
    }

    /// The reach of two readers: one that is not ordered before the current warp, and another thread of that warp.
    /// [`ONE`] if the numbers do not tell.
    #[inline(always)]
    pub(crate) fn distance(self, place: u32) -> u32 {
        let (in_block, in_grid) = (u32::from(self.first_turn), u32::from(self.new_block));
        if place >= self.warp {
            WARP
        } else if place >= self.epoch {
            in_block * BLOCK
        } else {
            u32::from(place < self.block) * in_grid * GRID
        }
    }

    /// Whether all readers are ordered before `me`.
    #[inline(always)]
    pub(crate) fn orders_all(self, tag: u32, me: u32) -> bool {
        let (place, reach) = (tag & PLACE, reach(tag));
        (tag == 0)
            | (self.in_block(place) & (reach != GRID))
            | (self.in_warp(place) & (reach <= WARP))
            | ((place >= self.warp) & ((place ^ me) & 31 == 0) & (reach == ONE))
    }
}

/// The entries, and the ranges among them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// By counter: the time and number of its latest entry.
    latest: Vec<(u32, u32)>,
    bases: Bases,
    /// The number of entries from which on the table is compacted.
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

    /// Drops all entries. Entry 0 belongs to no access.
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

    /// Sets the number of cells, which determines how many entries there may be before the table is compacted.
    pub(crate) fn expect(&mut self, cells: usize) {
        self.most = (cells / CELLS_PER_ENTRY).max(LEAST_ENTRIES);
    }

    /// The current ranges.
    ///
    /// Each number is read separately. The compiler would otherwise read them as one vector, and a CPU cannot assemble
    /// that from stores that have just written the numbers one by one. It would wait until they are in the cache, and
    /// with them every earlier store that missed it.
    #[inline(always)]
    pub(crate) fn bases(&self) -> Bases {
        // SAFETY: it is a reference.
        let alone = |number: &u32| unsafe { std::ptr::read_volatile(number) };
        Bases {
            block: alone(&self.bases.block),
            epoch: alone(&self.bases.epoch),
            warp: alone(&self.bases.warp),
            sync: alone(&self.bases.sync),
            ..self.bases
        }
    }

    /// Sets the ranges of an earlier time, for accesses that are recorded late.
    pub(crate) fn set_bases(&mut self, bases: Bases) {
        self.bases = bases;
    }

    /// The first tag that is not used yet.
    pub(crate) fn next(&self) -> u32 {
        (self.entries.len() as u32) << 5
    }

    /// A block begins or continues.
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

    /// Returns to the start of the block.
    pub(crate) fn begin_again(&mut self) {
        self.begin_block(self.bases.new_block);
    }

    #[inline(always)]
    pub(crate) fn is_first_turn(&self) -> bool {
        self.bases.first_turn
    }

    /// A warp continues. `first_turn`: it is its first turn since the barrier.
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

    /// The current entry of a source access, as a tag without a lane.
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
        self.entries.len() as u32 >= MAX_ENTRIES - 1
    }

    /// For a table that was full and has been compacted: whether it would soon be full again.
    pub(crate) fn stays_full(&self) -> bool {
        self.entries.len() as u32 >= MAX_ENTRIES / 16 * 15
    }

    /// Whether it is time to [compact](Table::compact): at the latest when the table is full.
    pub(crate) fn is_long(&self) -> bool {
        self.is_full() || self.entries.len() >= self.most
    }

    /// Drops entries that no cell refers to.
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
        // Tags that end a range may not belong to an entry yet.
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
