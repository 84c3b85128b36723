//! How often the bytes of global memory are asked for: by a block, and over the grid.
//!
//! A count of requests does not say whether they go to the same bytes again. That takes the set of bytes that a block's accesses touch, and to keep
//! it for every block would cost more than the rest of the counting. So it is kept for some blocks ([`sampled`]), chosen by the grid's size
//! alone: they are the same for any number of jobs, for a launch whose other blocks are replayed, and for one that is counted from
//! representatives. A set is a list of stretches of bytes, by source access.
//!
//! - *By a block*: bytes asked for in the sampled blocks, over the bytes that are in the blocks' sets. It is exact for the blocks in the sample.
//! - *Over the grid*: exact where all blocks are in the sample. Else the sample has, around some blocks, a neighbour and a distant block along each
//!   axis, and three patterns are recognised: all blocks of the axis have one set (the rows of a matrix for all blocks of a row of blocks), sets that
//!   only neighbours share in part (a stencil) or not at all, and sets that all overlap alike (lookups at random). What is neither is `None`.
//!
//! Worked case: the naive product of two 256 by 256 matrices in blocks of 32 by 32. A block asks `a` for 32 * 32 * 256 elements, of which 32 * 256
//! are different: 32 times. The neighbour along x has the same set, the one along y another one: over the grid there are 8 sets, and each element
//! is read 256 times.

use crate::coded::{Coded, coded};
use crate::count::pattern::Pattern;
use crate::count::stats::Charge;
use crate::isa::mask::LaneMask;

/// With at most so many blocks all are in the sample.
const FEW_BLOCKS: u64 = 4;
/// With fewer than so many it looks at one place, so that it stays a small part of them.
const SOME_BLOCKS: u128 = 128;
/// Where the sample looks, in eighths of each axis.
const EIGHTHS: [u64; 3] = [1, 4, 7];
/// The same of few blocks: those at the end may have nothing to do.
const EIGHTHS_OF_FEW: [u64; 1] = [2];
/// Stretches of an access that are kept before they are put together.
const SOME_STRETCHES: usize = 4096;
/// An access that has more than this many in a block is given up, in all blocks: to sort more of them would be felt.
const MOST_STRETCHES: u32 = 1 << 16;
/// Bytes of a sector.
const SECTOR_BYTES: u64 = 32;
/// Shares that count as all and as nothing: the last block of an axis may have a part only.
const ALL: f64 = 0.99;
const NOTHING: f64 = 0.01;
/// How far shares may differ that are to be alike.
const ALIKE: f64 = 0.15;

/// What some blocks asked of global memory, and how much of it was different.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reuse {
    /// Blocks that were looked at and made the access.
    pub blocks: u64,
    /// Requests of these blocks.
    pub requests: u64,
    /// Bytes that their lanes asked for.
    pub bytes: u64,
    /// Sectors that were moved for them; 0 where the rules do not say.
    pub sectors: u64,
    /// Different bytes of each block, summed.
    pub distinct_bytes: u64,
    /// Different sectors of each block, summed.
    pub distinct_sectors: u64,
    /// The most different bytes of one block.
    pub most_bytes: u64,
    /// Different bytes over the whole grid; `None`: the blocks that were looked at do not say.
    pub grid_bytes: Option<u64>,
    /// It is exact: all blocks were looked at.
    pub is_exact: bool,
}

impl Reuse {
    /// How often a block asks for each of its bytes, in the mean.
    pub fn by_block(&self) -> f64 {
        self.bytes as f64 / self.distinct_bytes.max(1) as f64
    }

    /// How often a sector is moved for a block, in the mean.
    pub fn sectors_by_block(&self) -> f64 {
        self.sectors as f64 / self.distinct_sectors.max(1) as f64
    }
}

/// First byte, and the one behind the last.
type Stretch = (u64, u64);

/// Requests of rounds of a loop that were noted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Swept {
    version: u32,
    mask: u32,
    count: u32,
    lowest: u64,
    stride_bytes: i64,
}

/// Such sweeps of an access that are remembered: other warps of a block often make the same.
const REMEMBERED: usize = 4;

/// What an access of a block asked for.
#[derive(Clone, Debug, Default)]
struct Noted {
    stretches: Vec<Stretch>,
    requests: u64,
    lanes: u64,
    sectors: u64,
    width_bytes: u32,
    /// Stretches that came so far.
    came: u32,
    /// There were too many.
    is_lost: bool,
    /// When they are put together next.
    limit: usize,
    swept: [Option<Swept>; REMEMBERED],
    /// The oldest of those.
    oldest: usize,
}

impl Noted {
    #[inline]
    fn add(&mut self, start: u64, end: u64) {
        if let Some(last) = self.stretches.last_mut()
            && last.0 <= start
            && start <= last.1
        {
            last.1 = last.1.max(end);
            return;
        }
        self.push(start, end);
    }

    #[cold]
    #[inline(never)]
    fn push(&mut self, start: u64, end: u64) {
        if self.is_lost {
            return;
        }
        self.came += 1;
        if self.came > MOST_STRETCHES {
            (self.stretches, self.is_lost) = (Vec::new(), true);
            return;
        }
        self.stretches.push((start, end));
        if self.stretches.len() >= self.limit.max(SOME_STRETCHES) {
            put_together(&mut self.stretches);
            self.limit = 2 * self.stretches.len();
        }
    }

    #[inline]
    fn count(&mut self, charge: Charge, width_bytes: u32, mask: u32, requests: u64) {
        self.width_bytes = width_bytes;
        self.requests += requests;
        self.lanes += requests * u64::from(mask.count_ones());
        if let Charge::Global(Some(cost)) = charge {
            self.sectors += requests * u64::from(cost.sectors);
        }
    }

    /// Whether a sweep is one of the last ones. If not, it is from now on.
    fn has_swept(&mut self, swept: Swept) -> bool {
        if self.swept.contains(&Some(swept)) {
            return true;
        }
        self.swept[self.oldest] = Some(swept);
        self.oldest = (self.oldest + 1) % REMEMBERED;
        false
    }
}

/// Sorted, without overlaps.
fn put_together(stretches: &mut Vec<Stretch>) {
    stretches.sort_unstable();
    let mut kept = 0;
    for at in 1..stretches.len() {
        let (start, end) = stretches[at];
        if start <= stretches[kept].1 {
            stretches[kept].1 = stretches[kept].1.max(end);
        } else {
            kept += 1;
            stretches[kept] = (start, end);
        }
    }
    stretches.truncate(kept + 1);
}

fn bytes(stretches: &[Stretch]) -> u64 {
    stretches.iter().map(|(start, end)| end - start).sum()
}

fn sectors(stretches: &[Stretch]) -> u64 {
    let (mut count, mut next) = (0, 0);
    for &(start, end) in stretches {
        let first = (start / SECTOR_BYTES).max(next);
        next = next.max(end.div_ceil(SECTOR_BYTES));
        count += next.saturating_sub(first);
    }
    count
}

/// Bytes that are in both.
fn common(a: &[Stretch], b: &[Stretch]) -> u64 {
    let (mut i, mut k, mut sum) = (0, 0, 0);
    while i < a.len() && k < b.len() {
        let (start, end) = (a[i].0.max(b[k].0), a[i].1.min(b[k].1));
        sum += end.saturating_sub(start);
        match a[i].1 < b[k].1 {
            true => i += 1,
            false => k += 1,
        }
    }
    sum
}

/// The blocks of a grid that are looked at, ascending.
pub(crate) fn sampled(grid: [u32; 3]) -> Vec<u64> {
    let all: u128 = grid.iter().map(|&n| u128::from(n)).product();
    if all <= FEW_BLOCKS.into() {
        return (0..all as u64).collect();
    }
    let mut blocks: Vec<u64> = places(grid)
        .iter()
        .flat_map(|place| {
            let around = place.around.iter().flatten();
            let around = around.flat_map(|(near, distant)| [*near, *distant]);
            std::iter::once(place.block)
                .chain(around)
                .collect::<Vec<_>>()
        })
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// A block, and along each axis a neighbour and a distant block; `None`: the axis has this block only.
struct Around {
    block: u64,
    around: [Option<(u64, u64)>; 3],
}

fn places(grid: [u32; 3]) -> Vec<Around> {
    let sides = grid.map(u64::from);
    let number = |at: [u64; 3]| at[0] + sides[0] * (at[1] + sides[1] * at[2]);
    let around = |eighths: u64| {
        let at = sides.map(|side| side * eighths / 8);
        let along = |axis: usize| {
            let (side, here) = (sides[axis], at[axis]);
            let to = |there: u64| {
                let mut other = at;
                other[axis] = there;
                number(other)
            };
            let near = if here + 1 < side {
                here + 1
            } else {
                here.saturating_sub(1)
            };
            // The blocks behind may have nothing to do.
            let distant = match here >= 4 {
                true => here / 2,
                false => (here + side.div_ceil(2)).min(side - 1),
            };
            (side > 1).then(|| (to(near), to(distant)))
        };
        Around {
            block: number(at),
            around: [along(0), along(1), along(2)],
        }
    };
    let all: u128 = grid.iter().map(|&n| u128::from(n)).product();
    let eighths = match all < SOME_BLOCKS {
        true => &EIGHTHS_OF_FEW[..],
        false => &EIGHTHS,
    };
    eighths.iter().map(|&eighths| around(eighths)).collect()
}

/// What the sampled blocks of a launch asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// The block that runs is one of them.
    pub(crate) is_on: bool,
    sampled: Vec<u64>,
    /// Counters of the kernel.
    counters: usize,
    /// The number of the one that runs, among `blocks`.
    current: usize,
    /// By block, in the order in which they began.
    blocks: Vec<(u64, Vec<Noted>)>,
    /// Counters that a block had too many stretches of: nothing will be said of them.
    lost: Vec<u32>,
}

impl Reach {
    /// Of a launch; `counters` of its kernel.
    pub(crate) fn new(grid: [u32; 3], counters: usize) -> Reach {
        Reach {
            sampled: sampled(grid),
            counters,
            ..Reach::default()
        }
    }

    /// Whether a block is looked at.
    #[inline]
    pub(crate) fn samples(&self, block: u64) -> bool {
        self.sampled.binary_search(&block).is_ok()
    }

    /// Those that are.
    pub(crate) fn sampled(&self) -> &[u64] {
        &self.sampled
    }

    /// A block runs from now on.
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
        self.current = known.unwrap_or_else(|| {
            let noted = vec![Noted::default(); self.counters];
            self.blocks.push((block, noted));
            self.blocks.len() - 1
        });
    }

    /// It runs no more.
    #[inline]
    pub(crate) fn leave(&mut self) {
        self.is_on = false;
    }

    fn noted(&mut self, counter: u32) -> Option<&mut Noted> {
        if self.lost.contains(&counter) {
            return None;
        }
        let (_, noted) = self.blocks.get_mut(self.current)?;
        let noted = noted.get_mut(counter as usize)?;
        if noted.is_lost {
            self.lost.push(counter);
            return None;
        }
        Some(noted)
    }

    /// A request by the lanes' addresses.
    #[cold]
    pub(crate) fn note(
        &mut self,
        counter: u32,
        (charge, width_bytes): (Charge, u32),
        mask: u32,
        addresses: &[u64; 32],
    ) {
        let Some(noted) = self.noted(counter) else {
            return;
        };
        noted.count(charge, width_bytes, mask, 1);
        for lane in LaneMask(mask) {
            noted.add(addresses[lane], addresses[lane] + u64::from(width_bytes));
        }
    }

    /// A request like a pattern, its lowest lane at an address.
    #[cold]
    pub(crate) fn note_like(
        &mut self,
        counter: u32,
        width_bytes: u32,
        pattern: &Pattern,
        mask: u32,
        lowest: u64,
    ) {
        let Some(noted) = self.noted(counter) else {
            return;
        };
        noted.count(pattern.charge, width_bytes, mask, 1);
        let width = u64::from(width_bytes);
        if mask == u32::MAX && pattern.run {
            return noted.add(lowest, lowest + 32 * width);
        }
        for lane in LaneMask(mask) {
            let start = lowest + u64::from(pattern.bytes[lane]);
            noted.add(start, start + width);
        }
    }

    /// Requests of `count` rounds like a pattern, each so many bytes behind the one before.
    #[cold]
    pub(crate) fn note_swept(
        &mut self,
        counter: u32,
        width_bytes: u32,
        (pattern, mask): (&Pattern, u32),
        (lowest, stride_bytes, count): (u64, i64, u32),
    ) {
        let Some(noted) = self.noted(counter) else {
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
        let mut pieces = Noted::default();
        for lane in LaneMask(mask) {
            let start = lowest + u64::from(pattern.bytes[lane]);
            pieces.add(start, start + u64::from(width_bytes));
        }
        let way = stride_bytes.wrapping_mul(i64::from(count - 1));
        for (start, end) in pieces.stretches {
            if stride_bytes.unsigned_abs() <= end - start {
                // Each round's piece touches the one before.
                let (low, high) = (way.min(0), way.max(0));
                noted.add(
                    start.wrapping_add_signed(low),
                    end.wrapping_add_signed(high),
                );
                continue;
            }
            for round in 0..i64::from(count) {
                let by = stride_bytes.wrapping_mul(round);
                noted.add(start.wrapping_add_signed(by), end.wrapping_add_signed(by));
            }
        }
    }

    /// Adds what another worker, or part, has seen.
    pub(crate) fn absorb(&mut self, other: &Reach) {
        self.blocks.extend(other.blocks.iter().cloned());
    }

    /// What came of some accesses together; `all_bytes`: what they asked for in all blocks.
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

/// Different bytes of all blocks, from those of the sample.
fn over_grid(sets: &[(u64, u64, Vec<Stretch>)], grid: [u32; 3], all_bytes: u64) -> Option<u64> {
    let set = |block: u64| {
        let at = sets
            .binary_search_by_key(&block, |(number, ..)| *number)
            .ok()?;
        let (_, asked, set) = &sets[at];
        Some((*asked, &set[..]))
    };
    let from = |place: &Around| {
        let (asked, own) = set(place.block)?;
        let mine = bytes(own) as f64;
        let (mut times, mut varies) = (1.0, false);
        for (axis, around) in place.around.iter().enumerate() {
            let Some((near, distant)) = *around else {
                continue;
            };
            let share = |other: u64| {
                let other = set(other)?.1;
                let smaller = bytes(other).min(bytes(own)).max(1);
                Some(common(own, other) as f64 / smaller as f64)
            };
            let side = f64::from(grid[axis]);
            let (near, distant) = (share(near)?, share(distant)?);
            if near >= ALL && distant >= ALL {
                continue;
            }
            varies = true;
            times *= match () {
                () if distant <= NOTHING && near < ALL => 1.0 + (side - 1.0) * (1.0 - near),
                () if (near - distant).abs() <= ALIKE => {
                    // Of what is drawn from, each block misses the same share.
                    let drawn_from = 1.0 / near.max(distant);
                    drawn_from * (1.0 - (1.0 - 1.0 / drawn_from).powf(side))
                }
                () => return None,
            };
        }
        let blocks: f64 = grid.iter().map(|&n| f64::from(n)).product();
        // Blocks that ask for nothing are no blocks.
        let active = (all_bytes as f64 / asked.max(1) as f64 / blocks).min(1.0);
        let sum = if varies { mine * times * active } else { mine };
        Some((sum.max(mine).round() as u64).min(all_bytes.max(mine as u64)))
    };
    places(grid).iter().find_map(from)
}

impl Coded for Noted {
    fn put(&self, out: &mut Vec<u8>) {
        // Sorted stretches are short as distances.
        let mut stretches = self.stretches.clone();
        put_together(&mut stretches);
        stretches.len().put(out);
        let mut from = 0;
        for (start, end) in stretches {
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

coded!(struct Reach { is_on, sampled, counters, current, blocks, lost });

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// A launch whose blocks each ask, `times` times, for these stretches.
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
                let noted = reach.noted(0).expect("a counter");
                noted.count(Charge::Plain, 1, 1, end - start);
                noted.add(start, end);
            }
            reach.leave();
        }
        // As of two workers, one of which has come over from another process.
        let mut bytes = Vec::new();
        reach.put(&mut bytes);
        let mut sum = Reach::new(grid, 1);
        sum.absorb(&Reach::get(&mut &bytes[..]).expect("data"));
        sum.reuse(&[0], grid, all)
    }

    #[test]
    fn rows_and_columns_of_blocks_share_their_sets() {
        // The operands of a product: one follows blockIdx.y, the other blockIdx.x.
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
        // Four of five blocks have nothing to do.
        let idle = reuse([500, 1, 1], 1, |[x, ..]| match x < 100 {
            true => vec![(x * 256, x * 256 + 256)],
            false => vec![],
        });
        assert_eq!(idle.and_then(|idle| idle.grid_bytes), Some(100 * 256));
        // Rows of blocks that are numbered through: a few blocks do not show it.
        let folded = reuse([400, 1, 1], 1, |[x, ..]| {
            vec![(x / 20 * 256, x / 20 * 256 + 256)]
        });
        let folded = folded.expect("a set");
        assert_eq!((folded.by_block(), folded.grid_bytes), (1.0, None));
    }

    #[test]
    fn sectors_are_counted_once_however_they_are_cut() {
        assert_eq!(
            sectors(&[(0, 4), (8, 12), (28, 36), (40, 41), (96, 160)]),
            4
        );
    }

    proptest! {
        /// Of few blocks everything is exact.
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
