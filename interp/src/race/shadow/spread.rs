//! Accesses of lanes whose cells are close to each other, but not in order or not one each: columns of small tiles,
//! elements of several cells, bytes of words, or the exchanges of a sort or a butterfly.
//!
//! Cells are visited in the order of memory, like those of a [run](super::runs), together with the lane that touches
//! each of them. Finding these lanes takes as long as everything else, so they are [cached](Spreads) as long as a
//! site's requests have the same pattern.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over cells must vanish into the levels; they index several arrays"
)]

use super::runs::{Reader, all, choose};
use super::{Cells, Lanes};
use crate::race::epoch::{ATOMIC, Bases, PLACE};

/// Marks a cell that no lane touches.
const NOBODY: u8 = 0x80;
/// The same for eight cells.
const NOBODIES: u64 = u64::from_ne_bytes([NOBODY; 8]);
/// The most cells that are visited, in units of 32.
const MOST_CHUNKS: usize = 8;

/// The numbers of 32 cells.
type Chunk = [u32; 32];

/// By cell, in units of 32: the lane that touches it.
#[derive(Debug)]
pub(crate) struct Spread {
    /// The lane with the lowest cell, and the number of cells before that.
    pub(crate) lowest: usize,
    before: usize,
    /// The distance from the lowest cell to the end of the last one.
    extent: usize,
    chunks: usize,
    who: [[u8; 32]; MOST_CHUNKS],
}

impl Spread {
    /// For `each` cells of each lane in a memory of `count` cells. `None` if two lanes touch one cell, or they are too
    /// far apart. Inactive lanes have the cells of an active one.
    #[inline(always)]
    pub(crate) fn of(lanes: &Lanes, each: usize, count: usize) -> Option<Spread> {
        let (mut low, mut high) = (u32::MAX, 0);
        for lane in 0..32 {
            low = low.min(lanes.cells[lane]);
            high = high.max(lanes.cells[lane]);
        }
        let extent = (high - low) as usize + each;
        let chunks = extent.div_ceil(32);
        if chunks > MOST_CHUNKS {
            return None;
        }
        let first = (low as usize).min(count.checked_sub(32 * chunks)?);
        // After the cells there is space for those of inactive lanes.
        const ROOM: usize = 64 * MOST_CHUNKS;
        let mut who = [[[NOBODY; 32]; MOST_CHUNKS]; 2];
        let mut places = [0; 32];
        for lane in 0..32 {
            let on = all(lanes.mask >> lane & 1 != 0);
            let place = lanes.cells[lane].wrapping_sub(first as u32);
            places[lane] = choose(on, place, 32 * MOST_CHUNKS as u32);
        }
        let flat = who.as_flattened_mut().as_flattened_mut();
        for within in 0..each {
            for lane in 0..32 {
                flat[(places[lane] as usize + within) % ROOM] = lane as u8;
            }
        }
        let before = low as usize - first;
        let lowest = usize::from(flat[before % ROOM] % 32);
        let who = who[0];
        let mut touched = 0;
        for chunk in &who[..chunks] {
            for eight in chunk.as_chunks::<8>().0 {
                touched += (!u64::from_ne_bytes(*eight) & NOBODIES).count_ones();
            }
        }
        (touched as usize == each * lanes.mask.count_ones() as usize).then_some(Spread {
            lowest,
            before,
            extent,
            chunks,
            who,
        })
    }
}

/// Cache: how the lanes of each site's last pattern are spread.
#[derive(Debug)]
pub(crate) struct Spreads(Vec<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The version of the pattern, and the size of the cells.
    version: u32,
    shift: u32,
    spread: Option<Box<Spread>>,
}

impl Spreads {
    pub(crate) fn new(sites: usize) -> Spreads {
        Spreads((0..sites).map(|_| Kept::default()).collect())
    }

    /// The spread of a pattern; `lanes` are all its 32 lanes.
    #[inline(always)]
    pub(crate) fn of_pattern(
        &mut self,
        (row, version): (u32, u32),
        shift: u32,
        make: impl FnOnce() -> Option<Spread>,
    ) -> Option<&Spread> {
        let kept = self.0.get_mut(row as usize)?;
        if (kept.version, kept.shift) != (version, shift) {
            *kept = Kept {
                version,
                shift,
                spread: make().map(Box::new),
            };
        }
        kept.spread.as_deref()
    }
}

/// Whether a lane of a mask touches a cell (all bits or none), and that lane's tag.
#[inline(always)]
fn toucher(who: u8, (mask, tag): (u32, u32)) -> (u32, u32) {
    let lane = u32::from(who) & 31;
    (all((who != NOBODY) & (mask >> lane & 1 != 0)), tag | lane)
}

/// Whether any number is not 0.
#[inline(always)]
fn any(chunk: &Chunk) -> bool {
    chunk.iter().fold(0, |any, &number| any | number) != 0
}

impl Cells {
    /// Records an access of lanes with separate cells, from `low` on, if none has to be judged. Reads also require that
    /// all cells were written. Otherwise nothing is done.
    #[inline(always)]
    pub(crate) fn spread(
        &mut self,
        (spread, low): (&Spread, usize),
        who: (u32, u32),
        stores: bool,
        (bases, exact): (Bases, bool),
    ) -> bool {
        let Some(first) = low.checked_sub(spread.before) else {
            return false;
        };
        if first + 32 * spread.chunks > self.count() {
            return false;
        }
        self.open_cells(low, low + spread.extent);
        let at = (first, spread);
        if stores {
            return self.write_spread(at, who, bases);
        }
        self.prepare_reads();
        self.read_spread(at, who, bases) || self.join_spread(at, who, bases, exact)
    }

    #[inline(always)]
    fn write_spread(&mut self, at: (usize, &Spread), own: (u32, u32), bases: Bases) -> bool {
        let (_, spread) = at;
        let who = &spread.who[..spread.chunks];
        let Some(write) = chunks(&mut self.write, at) else {
            return false;
        };
        let mut unread = [[0; 32]; MOST_CHUNKS];
        let read = match self.read.is_empty() {
            true => &mut unread[..spread.chunks],
            false => match chunks(&mut self.read, at) {
                Some(read) => read,
                None => return false,
            },
        };
        let mut judge = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                let good = bases.orders(write[c], me) & bases.orders_all(read[c], me);
                judge[c] |= all(!good) & on;
            }
        }
        if any(&judge) {
            return false;
        }
        for ((who, write), read) in who.iter().zip(write).zip(read) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                write[c] = choose(on, me, write[c]);
                read[c] &= !on;
            }
        }
        true
    }

    /// Reads of cells whose earlier readers are all ordered before.
    #[inline(always)]
    fn read_spread(&mut self, at: (usize, &Spread), own: (u32, u32), bases: Bases) -> bool {
        let (_, spread) = at;
        let who = &spread.who[..spread.chunks];
        let (Some(write), Some(read)) = (chunks(&mut self.write, at), chunks(&mut self.read, at))
        else {
            return false;
        };
        let mut others = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                let ours = bases.orders(write[c], me) & (write[c] != 0);
                let replaced = bases.orders_all(read[c], me) & (read[c] & ATOMIC == 0);
                others[c] |= all(!(ours & replaced)) & on;
            }
        }
        if any(&others) {
            return false;
        }
        for (who, read) in who.iter().zip(read) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                read[c] = choose(on, me, read[c]);
            }
        }
        true
    }

    /// The same if some of the lanes join other readers.
    #[inline(always)]
    fn join_spread(
        &mut self,
        at: (usize, &Spread),
        own: (u32, u32),
        bases: Bases,
        exact: bool,
    ) -> bool {
        let (_, spread) = at;
        let who = &spread.who[..spread.chunks];
        let (Some(write), Some(read), Some(other)) = (
            chunks(&mut self.write, at),
            chunks(&mut self.read, at),
            chunks(&mut self.other, at),
        ) else {
            return false;
        };
        let mut judge = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                judge[c] |= Reader::of((write[c], read[c]), me, bases, exact).judge & on;
            }
        }
        if any(&judge) {
            return false;
        }
        for (((who, write), read), other) in who.iter().zip(write).zip(read).zip(other) {
            let (mut next, mut joining) = ([0; 32], [0; 32]);
            for c in 0..32 {
                let (on, me) = toucher(who[c], own);
                let reader = Reader::of((write[c], read[c]), me, bases, exact);
                joining[c] = reader.joins & on;
                next[c] = choose(on, reader.next, read[c]);
            }
            for c in 0..32 {
                other[c] = choose(joining[c], read[c] & PLACE, other[c]);
            }
            *read = next;
        }
        true
    }
}

/// The cells of a spread, in units of 32.
#[inline(always)]
fn chunks<'a>(cells: &'a mut [u32], (first, spread): (usize, &Spread)) -> Option<&'a mut [Chunk]> {
    let (chunks, _) = cells.get_mut(first..)?.as_chunks_mut::<32>();
    chunks.get_mut(..spread.chunks)
}
