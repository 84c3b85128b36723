//! Measures how often the same bytes of global memory are accessed, within a block and over the grid.
//!
//! The number of requests does not tell whether they go to the same bytes again. That requires the set of bytes that a
//! block's accesses touch, which would cost more than all other counting if it were kept for every block. It is
//! therefore kept only for a sample of blocks (`sample`), chosen by the grid's size alone: the sample is the same with
//! any number of jobs, for a launch whose other blocks are replayed, and for one that is counted from representatives.
//! A set is a list of stretches of bytes, by source access. Of equal launches not all are sampled (`launch::repeats`).
//!
//! - *Within a block*: bytes accessed in the sampled blocks, divided by the bytes in the blocks' sets. It is exact for
//!   the sampled blocks.
//! - *Over the grid*: exact if all blocks are sampled. Otherwise the sample has, around some blocks, a neighbour and a
//!   distant block along each axis, and three patterns are recognised: all blocks of the axis have the same set (the
//!   rows of a matrix for all blocks of a row of blocks), sets that only neighbours share in part (a stencil) or not at
//!   all, and sets that all overlap equally (random lookups). Otherwise the result is `None`.
//!
//! An example: the naive product of two 256 by 256 matrices in blocks of 32 by 32. A block accesses 32 * 32 * 256
//! elements of `a`, of which 32 * 256 are distinct: 32 times each. The neighbour along x has the same set, and the one
//! along y a different one. Over the grid there are 8 sets, and each element is read 256 times.

mod sample;
mod stretches;
mod touched;

use self::sample::{FEW_BLOCKS, over_grid, sampled};
use self::stretches::{Stretch, bytes, put_together, sectors};
use self::touched::Touched;
use crate::coded::Coded;
use crate::count::pattern::Pattern;
use crate::count::stats::Charge;
use crate::isa::mask::LaneMask;

/// The most stretches of an access in a block. An access with more is dropped in all blocks, because comparing them
/// would take noticeable time.
const MOST_STRETCHES: usize = 1 << 16;

/// The accesses of some blocks to global memory, and how many of the bytes were distinct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reuse {
    /// Sampled blocks that made the access.
    pub blocks: u64,
    /// Requests of these blocks.
    pub requests: u64,
    /// Bytes that their lanes accessed.
    pub bytes: u64,
    /// Sectors that were moved for them; 0 if the rules do not tell.
    pub sectors: u64,
    /// Distinct bytes of each block, summed.
    pub distinct_bytes: u64,
    /// Distinct sectors of each block, summed.
    pub distinct_sectors: u64,
    /// The most distinct bytes of one block.
    pub most_bytes: u64,
    /// Distinct bytes over the whole grid; `None`: this does not follow from the sample.
    pub grid_bytes: Option<u64>,
    /// Whether the values are exact, because all blocks were sampled.
    pub is_exact: bool,
}

impl Reuse {
    /// How often a block accesses each of its bytes, on average.
    pub fn by_block(&self) -> f64 {
        self.bytes as f64 / self.distinct_bytes.max(1) as f64
    }

    /// How often a sector is moved for a block, on average.
    pub fn sectors_by_block(&self) -> f64 {
        self.sectors as f64 / self.distinct_sectors.max(1) as f64
    }
}

/// Requests of several rounds of a loop that were recorded together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Swept {
    version: u32,
    mask: u32,
    count: u32,
    lowest: u64,
    stride_bytes: i64,
}

/// How many such sweeps of an access are remembered: other warps of a block often make the same.
const REMEMBERED: usize = 4;

/// What an access of a block touched.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// Bytes of the block's earlier turns, sorted.
    stretches: Vec<Stretch>,
    requests: u64,
    lanes: u64,
    sectors: u64,
    width_bytes: u32,
    /// Whether there are too many bytes.
    is_lost: bool,
    swept: [Option<Swept>; REMEMBERED],
    /// The oldest of the remembered sweeps.
    oldest: usize,
}

impl Noted {
    #[inline]
    fn count(&mut self, charge: Charge, width_bytes: u32, mask: u32, requests: u64) {
        self.width_bytes = width_bytes;
        self.requests += requests;
        self.lanes += requests * u64::from(mask.count_ones());
        if let Charge::Global(Some(cost)) = charge {
            self.sectors += requests * u64::from(cost.sectors);
        }
    }

    /// Whether a sweep is one of the last ones. If not, remembers it.
    fn has_swept(&mut self, swept: Swept) -> bool {
        if self.swept.contains(&Some(swept)) {
            return true;
        }
        self.swept[self.oldest] = Some(swept);
        self.oldest = (self.oldest + 1) % REMEMBERED;
        false
    }

    /// The block's turn is over: adds what it touched.
    fn keep(&mut self, touched: &mut Touched) {
        if touched.is_empty() {
            return;
        }
        let stretches = touched.drain();
        if self.is_lost {
            return;
        }
        match self.stretches.is_empty() {
            true => self.stretches = stretches,
            false => {
                self.stretches.extend(stretches);
                put_together(&mut self.stretches);
            }
        }
        if self.stretches.len() > MOST_STRETCHES {
            (self.stretches, self.is_lost) = (Vec::new(), true);
        }
    }
}

/// What the sampled blocks of a launch touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Whether the current block is sampled.
    pub(crate) is_on: bool,
    sampled: Vec<u64>,
    /// The number of counters of the kernel.
    counters: usize,
    /// The index of the current block in `blocks`.
    current: usize,
    /// What it touches in this turn, by counter.
    touched: Vec<Touched>,
    /// By block, in the order in which they began.
    blocks: Vec<(u64, Vec<Noted>)>,
    /// Counters for which a block had too many stretches. They get no result.
    lost: Vec<u32>,
}

impl Reach {
    /// For a launch; `counters`: the number of counters of its kernel.
    pub(crate) fn new(grid: [u32; 3], counters: usize) -> Reach {
        Reach {
            sampled: sampled(grid),
            counters,
            ..Reach::default()
        }
    }

    /// Whether a block is sampled.
    #[inline]
    pub(crate) fn samples(&self, block: u64) -> bool {
        self.sampled.binary_search(&block).is_ok()
    }

    /// The sampled blocks.
    pub(crate) fn sampled(&self) -> &[u64] {
        &self.sampled
    }

    /// The current block changes to this one.
    #[inline]
    pub(crate) fn enter(&mut self, block: u64) {
        self.is_on = !self.sampled.is_empty() && self.samples(block);
        if self.is_on {
            self.begin(block);
        }
    }

    #[cold]
    fn begin(&mut self, block: u64) {
        let known = self.blocks.iter().position(|(known, _)| *known == block);
        self.touched.resize_with(self.counters, Touched::default);
        self.current = known.unwrap_or_else(|| {
            let noted = vec![Noted::default(); self.counters];
            self.blocks.push((block, noted));
            self.blocks.len() - 1
        });
    }

    /// The current block stops running.
    #[inline]
    pub(crate) fn leave(&mut self) {
        if self.is_on {
            self.is_on = false;
            self.end();
        }
    }

    #[cold]
    fn end(&mut self) {
        let Some((_, noted)) = self.blocks.get_mut(self.current) else {
            return;
        };
        for (noted, touched) in noted.iter_mut().zip(&mut self.touched) {
            noted.keep(touched);
        }
    }

    fn noted(&mut self, counter: u32) -> Option<(&mut Noted, &mut Touched)> {
        if self.lost.contains(&counter) {
            return None;
        }
        let (_, noted) = self.blocks.get_mut(self.current)?;
        let noted = noted.get_mut(counter as usize)?;
        if noted.is_lost {
            self.lost.push(counter);
            return None;
        }
        Some((noted, self.touched.get_mut(counter as usize)?))
    }

    /// Records a request by the lanes' addresses.
    #[cold]
    pub(crate) fn note(
        &mut self,
        counter: u32,
        (charge, width_bytes): (Charge, u32),
        mask: u32,
        addresses: &[u64; 32],
    ) {
        let Some((noted, touched)) = self.noted(counter) else {
            return;
        };
        noted.count(charge, width_bytes, mask, 1);
        let width = u64::from(width_bytes);
        let mut lanes = LaneMask(mask).into_iter();
        let all = lanes.try_for_each(|lane| touched.add(addresses[lane], addresses[lane] + width));
        noted.is_lost = all.is_none();
    }

    /// Records a request that matches a pattern and has its lowest lane at an address.
    #[cold]
    pub(crate) fn note_like(
        &mut self,
        counter: u32,
        width_bytes: u32,
        pattern: &Pattern,
        mask: u32,
        lowest: u64,
    ) {
        let Some((noted, touched)) = self.noted(counter) else {
            return;
        };
        noted.count(pattern.charge, width_bytes, mask, 1);
        let width = u64::from(width_bytes);
        let all = if mask == u32::MAX && pattern.run {
            touched.add(lowest, lowest + 32 * width)
        } else {
            LaneMask(mask).into_iter().try_for_each(|lane| {
                let start = lowest + u64::from(pattern.bytes[lane]);
                touched.add(start, start + width)
            })
        };
        noted.is_lost = all.is_none();
    }

    /// Records requests of `count` rounds that match a pattern, at a constant distance.
    #[cold]
    pub(crate) fn note_swept(
        &mut self,
        counter: u32,
        width_bytes: u32,
        (pattern, mask): (&Pattern, u32),
        (lowest, stride_bytes, count): (u64, i64, u32),
    ) {
        let Some((noted, touched)) = self.noted(counter) else {
            return;
        };
        noted.count(pattern.charge, width_bytes, mask, count.into());
        let swept = Swept {
            version: pattern.version,
            mask,
            count,
            lowest,
            stride_bytes,
        };
        if count == 0 || noted.has_swept(swept) {
            return;
        }
        let pieces = pieces(pattern, mask, lowest, width_bytes);
        let mut all = pieces.into_iter();
        let all = all.try_for_each(|piece| sweep(touched, piece, stride_bytes, count));
        noted.is_lost = all.is_none();
    }

    /// Adds what another worker, or part, has recorded.
    pub(crate) fn absorb(&mut self, other: &Reach) {
        self.blocks.extend(other.blocks.iter().cloned());
    }

    /// The result for several accesses together. `all_bytes`: the bytes that they accessed in all blocks.
    pub(crate) fn reuse(
        &self,
        counters: &[usize],
        grid: [u32; 3],
        all_bytes: u64,
    ) -> Option<Reuse> {
        let mut sum = Reuse {
            blocks: 0,
            requests: 0,
            bytes: 0,
            sectors: 0,
            distinct_bytes: 0,
            distinct_sectors: 0,
            most_bytes: 0,
            grid_bytes: None,
            is_exact: false,
        };
        let mut sets: Vec<(u64, u64, Vec<Stretch>)> = Vec::new();
        for (block, noted) in &self.blocks {
            let mut asked = 0;
            let mut set = Vec::new();
            for noted in counters.iter().filter_map(|&counter| noted.get(counter)) {
                if noted.is_lost {
                    return None;
                }
                sum.requests = sum.requests.saturating_add(noted.requests);
                sum.sectors = sum.sectors.saturating_add(noted.sectors);
                let bytes = noted.lanes.saturating_mul(noted.width_bytes.into());
                asked = bytes.saturating_add(asked);
                set.extend_from_slice(&noted.stretches);
            }
            if set.is_empty() {
                continue;
            }
            put_together(&mut set);
            let distinct = bytes(&set);
            sum.blocks += 1;
            sum.bytes = sum.bytes.saturating_add(asked);
            sum.distinct_bytes += distinct;
            sum.distinct_sectors += sectors(&set);
            sum.most_bytes = sum.most_bytes.max(distinct);
            sets.push((*block, asked, set));
        }
        if sum.blocks == 0 {
            return None;
        }
        sets.sort_by_key(|(block, ..)| *block);
        let all: u128 = grid.iter().map(|&n| u128::from(n)).product();
        sum.is_exact = all <= FEW_BLOCKS.into();
        sum.grid_bytes = match sum.is_exact {
            true => {
                let mut union: Vec<Stretch> =
                    sets.iter().flat_map(|(.., set)| set.clone()).collect();
                put_together(&mut union);
                Some(bytes(&union))
            }
            false => over_grid(&sets, grid, all_bytes),
        };
        Some(sum)
    }
}

/// The stretches of a request that matches a pattern. Those of adjacent lanes are merged.
fn pieces(pattern: &Pattern, mask: u32, lowest: u64, width_bytes: u32) -> Vec<Stretch> {
    let mut pieces: Vec<Stretch> = Vec::new();
    for lane in LaneMask(mask) {
        let start = lowest + u64::from(pattern.bytes[lane]);
        let end = start + u64::from(width_bytes);
        match pieces.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(end),
            _ => pieces.push((start, end)),
        }
    }
    pieces
}

/// Adds a stretch and those of further rounds, at a constant distance. `None`: there are too many.
fn sweep(
    touched: &mut Touched,
    (start, end): Stretch,
    stride_bytes: i64,
    count: u32,
) -> Option<()> {
    let rounds = i64::from(count);
    if stride_bytes.unsigned_abs() <= end - start {
        // Each round's piece is adjacent to the one before.
        let way = stride_bytes.wrapping_mul(rounds - 1);
        let (low, high) = (way.min(0), way.max(0));
        return touched.add(
            start.wrapping_add_signed(low),
            end.wrapping_add_signed(high),
        );
    }
    (0..rounds).try_for_each(|round| {
        let by = stride_bytes.wrapping_mul(round);
        touched.add(start.wrapping_add_signed(by), end.wrapping_add_signed(by))
    })
}

impl Coded for Noted {
    fn put(&self, out: &mut Vec<u8>) {
        // Sorted stretches are short when encoded as distances.
        self.stretches.len().put(out);
        let mut from = 0;
        for &(start, end) in &self.stretches {
            (start - from).put(out);
            (end - start).put(out);
            from = end;
        }
        self.requests.put(out);
        self.lanes.put(out);
        self.sectors.put(out);
        self.width_bytes.put(out);
        self.is_lost.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Noted> {
        let pairs: Vec<(u64, u64)> = Coded::get(from)?;
        let mut at = 0u64;
        let mut stretches = Vec::with_capacity(pairs.len());
        for (skip, len) in pairs {
            let start = at.checked_add(skip)?;
            at = start.checked_add(len)?;
            stretches.push((start, at));
        }
        Some(Noted {
            stretches,
            requests: Coded::get(from)?,
            lanes: Coded::get(from)?,
            sectors: Coded::get(from)?,
            width_bytes: Coded::get(from)?,
            is_lost: Coded::get(from)?,
            ..Noted::default()
        })
    }
}

impl Coded for Reach {
    fn put(&self, out: &mut Vec<u8>) {
        self.sampled.put(out);
        self.counters.put(out);
        self.blocks.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Reach> {
        Some(Reach {
            sampled: Coded::get(from)?,
            counters: Coded::get(from)?,
            blocks: Coded::get(from)?,
            ..Reach::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// A launch whose blocks each access these stretches `times` times.
    fn reuse(grid: [u32; 3], times: u64, set: impl Fn([u64; 3]) -> Vec<Stretch>) -> Option<Reuse> {
        let mut reach = Reach::new(grid, 1);
        let sides = grid.map(u64::from);
        let blocks: u64 = sides.iter().product();
        let mut all = 0;
        for block in 0..blocks {
            let at = [
                block % sides[0],
                block / sides[0] % sides[1],
                block / (sides[0] * sides[1]),
            ];
            reach.enter(block);
            for (start, end) in (0..times).flat_map(|_| set(at)) {
                all += end - start;
                if !reach.is_on {
                    continue;
                }
                let (noted, touched) = reach.noted(0).expect("a counter");
                noted.count(Charge::Plain, 1, 1, end - start);
                touched.add(start, end).expect("few pages");
            }
            reach.leave();
        }
        // Like two workers, one of which is in another process.
        let mut bytes = Vec::new();
        reach.put(&mut bytes);
        let mut sum = Reach::new(grid, 1);
        sum.absorb(&Reach::get(&mut &bytes[..]).expect("data"));
        sum.reuse(&[0], grid, all)
    }

    #[test]
    fn rows_and_columns_of_blocks_share_their_sets() {
        // The operands of a product: one depends on blockIdx.y, the other on blockIdx.x.
        let rows = reuse([20, 30, 1], 3, |[_, y, _]| vec![(y * 512, y * 512 + 512)]);
        let rows = rows.expect("a set");
        assert_eq!((rows.by_block(), rows.grid_bytes), (3.0, Some(30 * 512)));
        let columns = reuse([20, 30, 1], 1, |[x, ..]| {
            (0..4)
                .map(|row| (row * 4096 + x * 64, row * 4096 + x * 64 + 64))
                .collect()
        });
        assert_eq!(
            columns.and_then(|columns| columns.grid_bytes),
            Some(20 * 256)
        );
    }

    #[test]
    fn tables_streams_and_halos_are_told_apart() {
        let table = reuse([500, 1, 1], 2, |_| vec![(64, 128)]);
        assert_eq!(table.and_then(|table| table.grid_bytes), Some(64));
        let stream = reuse([500, 1, 1], 1, |[x, ..]| vec![(x * 256, x * 256 + 256)]);
        assert_eq!(stream.and_then(|stream| stream.grid_bytes), Some(500 * 256));
        let halo = reuse([500, 1, 1], 1, |[x, ..]| vec![(x * 256, x * 256 + 264)]);
        assert_eq!(halo.and_then(|halo| halo.grid_bytes), Some(500 * 256 + 8));
        // Four of five blocks are idle.
        let idle = reuse([500, 1, 1], 1, |[x, ..]| match x < 100 {
            true => vec![(x * 256, x * 256 + 256)],
            false => vec![],
        });
        assert_eq!(idle.and_then(|idle| idle.grid_bytes), Some(100 * 256));
        // Rows of blocks with consecutive numbers: a few blocks do not show that.
        let folded = reuse([400, 1, 1], 1, |[x, ..]| {
            vec![(x / 20 * 256, x / 20 * 256 + 256)]
        });
        let folded = folded.expect("a set");
        assert_eq!((folded.by_block(), folded.grid_bytes), (1.0, None));
    }

    proptest! {
        /// With few blocks everything is exact.
        #[test]
        fn sets_are_those_of_bytes(
            blocks in prop::collection::vec(prop::collection::vec((0..300u64, 1..40u64), 0..20), 1..5),
        ) {
            let grid = [blocks.len() as u32, 1, 1];
            let of = |block: u64| -> Vec<Stretch> {
                blocks[block as usize].iter().map(|&(start, len)| (start, start + len)).collect()
            };
            let set = |block: u64| -> HashSet<u64> {
                of(block).into_iter().flat_map(|(start, end)| start..end).collect()
            };
            let all = 0..blocks.len() as u64;
            let distinct: usize = all.clone().map(|block| set(block).len()).sum();
            let union: HashSet<u64> = all.clone().flat_map(set).collect();
            let moved: usize = all
                .map(|block| set(block).iter().map(|byte| byte / 32).collect::<HashSet<_>>().len())
                .sum();
            let found = reuse(grid, 2, |[x, ..]| of(x));
            let found = found.map(|reuse| (reuse.distinct_bytes, reuse.distinct_sectors, reuse.grid_bytes));
            let expected = (distinct as u64, moved as u64, Some(union.len() as u64));
            prop_assert_eq!(found, (distinct > 0).then_some(expected));
        }
    }
}
