//! Accesses of lanes whose cells are close to each other, but not in order or not one each: columns of small tiles,
//! elements of several cells, bytes of words, or the exchanges of a sort or a butterfly.
//!
//! Cells are visited in the order of memory, like those of a [run](super::runs), together with the lane that touches
//! each of them.

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
    /// The first cell of `who`.
    first: usize,
    /// From the lowest cell of a lane to the end of the last one.
    touched: std::ops::Range<usize>,
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
        let who = who[0];
        let mut touched = 0;
        for chunk in &who[..chunks] {
            for eight in chunk.as_chunks::<8>().0 {
                touched += (!u64::from_ne_bytes(*eight) & NOBODIES).count_ones();
            }
        }
        (touched as usize == each * lanes.mask.count_ones() as usize).then_some(Spread {
            first,
            touched: low as usize..low as usize + extent,
            chunks,
            who,
        })
    }
}

/// Whether a lane touches a cell (all bits or none), and that lane's tag.
#[inline(always)]
fn toucher(who: u8, tag: u32) -> (u32, u32) {
    (all(who != NOBODY), tag | u32::from(who) & 31)
}

/// Whether any number is not 0.
#[inline(always)]
fn any(chunk: &Chunk) -> bool {
    chunk.iter().fold(0, |any, &number| any | number) != 0
}

impl Cells {
    /// Records an access of lanes with separate cells, if none has to be judged. Reads also require that all cells were
    /// written. Otherwise nothing is done.
    #[inline(always)]
    pub(crate) fn spread(
        &mut self,
        spread: &Spread,
        tag: u32,
        stores: bool,
        (bases, exact): (Bases, bool),
    ) -> bool {
        self.open_cells(spread.touched.start, spread.touched.end);
        if stores {
            return self.write_spread(spread, tag, bases);
        }
        self.prepare_reads();
        self.read_spread(spread, tag, bases) || self.join_spread(spread, tag, bases, exact)
    }

    #[inline(always)]
    fn write_spread(&mut self, spread: &Spread, tag: u32, bases: Bases) -> bool {
        let who = &spread.who[..spread.chunks];
        let Some(write) = chunks(&mut self.write, spread) else {
            return false;
        };
        let mut unread = [[0; 32]; MOST_CHUNKS];
        let read = match self.read.is_empty() {
            true => &mut unread[..spread.chunks],
            false => match chunks(&mut self.read, spread) {
                Some(read) => read,
                None => return false,
            },
        };
        let mut judge = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], tag);
                let good = bases.orders(write[c], me) & bases.orders_all(read[c], me);
                judge[c] |= all(!good) & on;
            }
        }
        if any(&judge) {
            return false;
        }
        for ((who, write), read) in who.iter().zip(write).zip(read) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], tag);
                write[c] = choose(on, me, write[c]);
                read[c] &= !on;
            }
        }
        true
    }

    /// Reads of cells whose earlier readers are all ordered before.
    #[inline(always)]
    fn read_spread(&mut self, spread: &Spread, tag: u32, bases: Bases) -> bool {
        let who = &spread.who[..spread.chunks];
        let (Some(write), Some(read)) = (
            chunks(&mut self.write, spread),
            chunks(&mut self.read, spread),
        ) else {
            return false;
        };
        let mut others = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], tag);
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
                let (on, me) = toucher(who[c], tag);
                read[c] = choose(on, me, read[c]);
            }
        }
        true
    }

    /// The same if some of the lanes join other readers.
    #[inline(always)]
    fn join_spread(&mut self, spread: &Spread, tag: u32, bases: Bases, exact: bool) -> bool {
        let who = &spread.who[..spread.chunks];
        let (Some(write), Some(read), Some(other)) = (
            chunks(&mut self.write, spread),
            chunks(&mut self.read, spread),
            chunks(&mut self.other, spread),
        ) else {
            return false;
        };
        let mut judge = [0; 32];
        for ((who, write), read) in who.iter().zip(write.iter()).zip(read.iter()) {
            for c in 0..32 {
                let (on, me) = toucher(who[c], tag);
                judge[c] |= Reader::of((write[c], read[c]), me, bases, exact).judge & on;
            }
        }
        if any(&judge) {
            return false;
        }
        for (((who, write), read), other) in who.iter().zip(write).zip(read).zip(other) {
            let (mut next, mut joining) = ([0; 32], [0; 32]);
            for c in 0..32 {
                let (on, me) = toucher(who[c], tag);
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
fn chunks<'a>(cells: &'a mut [u32], spread: &Spread) -> Option<&'a mut [Chunk]> {
    let (chunks, _) = cells.get_mut(spread.first..)?.as_chunks_mut::<32>();
    chunks.get_mut(..spread.chunks)
}
