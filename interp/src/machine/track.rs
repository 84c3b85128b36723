//! Tracks which words of global memory a worker's blocks wrote, and which they read where others may write.
//!
//! Blocks in parallel give the same result as blocks in order if no worker wrote a word that another one wrote or read.
//! A worker notes its stores, and its loads from regions that the kernel's stores can reach. [`conflict`] compares all
//! workers afterwards, one chunk of memory at a time. A word is 4 bytes. Two workers that write different bytes of one
//! word count as a conflict, which costs time, not correctness.

use crate::isa::mask::LaneMask;
use crate::memory::map::GlobalMap;
use crate::memory::map::GlobalRegion;

/// Bytes of a line.
const LINE_BYTES: u64 = 128;

/// The touched words of a region. Most accesses cover whole lines, which take one bit each, so that the notes for a
/// large region fit into the first-level cache. Other accesses take one bit per word.
#[derive(Debug, Default)]
struct Words {
    lines: Vec<u64>,
    words: Vec<u64>,
}

impl Words {
    #[inline]
    fn set(&mut self, region: &GlobalRegion, offset: u64, bytes: u64) {
        if (offset | bytes).is_multiple_of(LINE_BYTES) {
            if self.lines.is_empty() {
                self.lines = zeroes(region.size / LINE_BYTES);
            }
            set(&mut self.lines, offset / LINE_BYTES, bytes / LINE_BYTES);
        } else {
            if self.words.is_empty() {
                self.words = zeroes(region.size / 4);
            }
            let (first, last) = (offset / 4, (offset + bytes - 1) / 4);
            set(&mut self.words, first, last - first + 1);
        }
    }

    /// The part of it for a chunk.
    fn part(&self, chunk: usize) -> Part<'_> {
        let of = |bits: &'_ [u64], length: usize| {
            let from = (chunk * length).min(bits.len());
            from..(from + length).min(bits.len())
        };
        Part {
            lines: &self.lines[of(&self.lines, CHUNK_LINES / 64)],
            words: &self.words[of(&self.words, CHUNK_LINES / 2)],
        }
    }
}

/// Lines that are compared at once: their notes fit into the first-level cache.
const CHUNK_LINES: usize = 4096;

/// The touched lines and words of a chunk. The slices may be shorter than the chunk; nothing was touched beyond their
/// end.
#[derive(Clone, Copy)]
struct Part<'a> {
    lines: &'a [u64],
    words: &'a [u64],
}

/// The union of what earlier workers touched in a chunk.
struct Sum {
    lines: [u64; CHUNK_LINES / 64],
    words: [u64; CHUNK_LINES / 2],
    /// Whether anything is in `lines`, and in `words`.
    any: [bool; 2],
}

impl Sum {
    const EMPTY: Sum = Sum {
        lines: [0; CHUNK_LINES / 64],
        words: [0; CHUNK_LINES / 2],
        any: [false; 2],
    };

    fn meets(&self, part: Part<'_>) -> bool {
        let [lines, words] = self.any;
        (lines && (overlap(&self.lines, part.lines) || covers(&self.lines, part.words)))
            || (words && (overlap(&self.words, part.words) || covers(part.lines, &self.words)))
    }

    fn add(&mut self, part: Part<'_>) {
        for (side, more) in [
            (&mut self.lines[..], part.lines),
            (&mut self.words, part.words),
        ] {
            for (sum, more) in side.iter_mut().zip(more) {
                *sum |= more;
            }
        }
        self.any[0] |= !part.lines.is_empty();
        self.any[1] |= !part.words.is_empty();
    }
}

/// Whether two have a bit in common. There is no early exit within a piece, so that the compiler vectorises it.
fn overlap(a: &[u64], b: &[u64]) -> bool {
    let common = |a: &[u64], b: &[u64]| a.iter().zip(b).fold(0, |any, (a, b)| any | a & b);
    let length = a.len().min(b.len());
    let (a, b) = (a[..length].chunks(64), b[..length].chunks(64));
    a.zip(b).any(|(a, b)| common(a, b) != 0)
}

/// Whether one of the words is in one of the lines.
fn covers(lines: &[u64], words: &[u64]) -> bool {
    // A line is 32 words: half of a `u64`.
    let halves = |bits: u64, k: usize| {
        let of = |line: usize| (bits >> line & 1).wrapping_neg() & 0xffff_ffff;
        of(2 * k) | of(2 * k + 1) << 32
    };
    lines.iter().zip(words.chunks(32)).any(|(&bits, words)| {
        let mut words = words.iter().enumerate();
        bits != 0 && words.any(|(k, word)| word & halves(bits, k) != 0)
    })
}

#[cold]
fn zeroes(bits: u64) -> Vec<u64> {
    vec![0; (bits / 64 + 1) as usize]
}

/// Sets `count` bits from the first on.
#[inline]
fn set(bits: &mut [u64], first: u64, count: u64) {
    let last = first + count - 1;
    let (low, high) = ((first / 64) as usize, (last / 64) as usize);
    let from = u64::MAX << (first % 64);
    let to = u64::MAX >> (63 - last % 64);
    if low == high {
        bits[low] |= from & to;
        return;
    }
    bits[low] |= from;
    bits[low + 1..high].fill(u64::MAX);
    bits[high] |= to;
}

/// A valid access.
pub(crate) struct Touch<'a> {
    /// The region of all lanes, if it is one.
    pub(crate) region: Option<GlobalRegion>,
    pub(crate) mask: u32,
    pub(crate) addresses: &'a [u64; 32],
    pub(crate) width_bytes: u64,
    /// Whether all 32 lanes are adjacent.
    pub(crate) run: bool,
    pub(crate) writes: bool,
}

/// Per region: whether the kernel's stores, or its loads, can reach it while pointers stay in their allocation.
#[derive(Clone, Debug)]
pub(crate) struct Reachable {
    pub(crate) stores: Vec<bool>,
    pub(crate) loads: Vec<bool>,
}

/// The touched memory of one worker.
#[derive(Debug)]
pub(crate) struct Tracker {
    reachable: Reachable,
    writes: Vec<Words>,
    reads: Vec<Words>,
    /// Whether an access went to a region where none was expected and that is written.
    pub(crate) left_allocation: bool,
    /// Whether a store did.
    escaped: bool,
}

impl Tracker {
    pub(crate) fn new(reachable: Reachable) -> Tracker {
        let words = || reachable.stores.iter().map(|_| Words::default()).collect();
        Tracker {
            writes: words(),
            reads: words(),
            left_allocation: false,
            escaped: false,
            reachable,
        }
    }

    /// Whether a store went where none was expected. Other workers' reads there were not noted.
    pub(crate) fn escaped(&self) -> bool {
        self.escaped
    }

    /// Whether accesses to the region with this number have to be noted at all.
    #[inline]
    pub(crate) fn follows(&self, region: u32, writes: bool) -> bool {
        writes || self.reachable.stores[region as usize]
    }

    /// Notes an access of adjacent lanes: its offset and its size in bytes.
    #[inline]
    pub(crate) fn note_run(
        &mut self,
        region: &GlobalRegion,
        offset: u64,
        bytes: u64,
        writes: bool,
    ) {
        self.one(region, offset, bytes, writes);
    }

    /// Notes an access.
    pub(crate) fn note(&mut self, map: &GlobalMap, touch: &Touch<'_>) {
        let (addresses, width) = (touch.addresses, touch.width_bytes);
        if let (Some(region), true) = (touch.region, touch.run) {
            return self.one(
                &region,
                addresses[0] - region.base,
                32 * width,
                touch.writes,
            );
        }
        for lane in LaneMask(touch.mask) {
            let address = addresses[lane];
            let region = touch
                .region
                .unwrap_or_else(|| map.regions[map.find(address) as usize]);
            self.one(&region, address - region.base, width, touch.writes);
        }
    }

    #[inline]
    fn one(&mut self, region: &GlobalRegion, offset: u64, bytes: u64, writes: bool) {
        let index = region.index as usize;
        if !self.reachable.stores[index] {
            self.escaped |= writes;
            self.left_allocation |= writes;
            return;
        }
        self.left_allocation |= !writes && !self.reachable.loads[index];
        let words = if writes {
            &mut self.writes[index]
        } else {
            &mut self.reads[index]
        };
        words.set(region, offset, bytes);
    }

    /// The size of the comparison, in 64-bit words.
    pub(crate) fn words(&self) -> usize {
        let all = self.writes.iter().chain(&self.reads);
        all.map(|words| words.lines.len() + words.words.len()).sum()
    }

    /// The number of chunks of the region with this number.
    fn chunks(&self, region: usize) -> usize {
        let of = |words: &Words| {
            let lines = words.lines.len().div_ceil(CHUNK_LINES / 64);
            lines.max(words.words.len().div_ceil(CHUNK_LINES / 2))
        };
        of(&self.writes[region]).max(of(&self.reads[region]))
    }
}

/// A part of a region that is compared separately.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    region: usize,
    number: usize,
}

/// All chunks that workers have touched.
pub(crate) fn chunks(trackers: &[&Tracker]) -> Vec<Chunk> {
    let regions = trackers.first().map_or(0, |tracker| tracker.writes.len());
    let mut chunks = Vec::new();
    for region in 0..regions {
        let most = trackers.iter().map(|tracker| tracker.chunks(region)).max();
        chunks.extend((0..most.unwrap_or(0)).map(|number| Chunk { region, number }));
    }
    chunks
}

/// Whether one worker wrote a word in the chunk that another one wrote or read.
pub(crate) fn conflict(trackers: &[&Tracker], chunk: Chunk) -> bool {
    let (mut written, mut read) = (Sum::EMPTY, Sum::EMPTY);
    trackers.iter().any(|tracker| {
        let writes = tracker.writes[chunk.region].part(chunk.number);
        let reads = tracker.reads[chunk.region].part(chunk.number);
        let meets = written.meets(writes) || read.meets(writes) || written.meets(reads);
        written.add(writes);
        read.add(reads);
        meets
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Runs of bytes, including whole lines.
    fn runs() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let lines = (0..16u64, 1..4u64).prop_map(|(first, count)| (first * 128, count * 128));
        let bytes = (0..2048u64, 1..600u64);
        // Also around the end of a chunk.
        let starts = prop_oneof![Just(0), Just(CHUNK_LINES as u64 * LINE_BYTES - 1024)];
        let runs = (starts, prop_oneof![lines, bytes]);
        prop::collection::vec(
            runs.prop_map(|(start, (at, bytes))| (start + at, bytes)),
            0..4,
        )
    }

    const REGION: GlobalRegion = GlobalRegion {
        base: 0,
        size: 1 << 20,
        bytes: std::ptr::null_mut(),
        writable: true,
        index: 0,
        is_heap: false,
    };

    /// A worker that wrote and read these, and the words of both.
    fn worker(
        writes: &[(u64, u64)],
        reads: &[(u64, u64)],
    ) -> (Tracker, HashSet<u64>, HashSet<u64>) {
        let mut tracker = Tracker::new(Reachable {
            stores: vec![true],
            loads: vec![true],
        });
        let mut sets = [HashSet::new(), HashSet::new()];
        for ((runs, is_write), set) in [(writes, true), (reads, false)].iter().zip(&mut sets) {
            for &(offset, bytes) in *runs {
                tracker.one(&REGION, offset, bytes, *is_write);
                set.extend(offset / 4..=(offset + bytes - 1) / 4);
            }
        }
        let [written, read] = sets;
        (tracker, written, read)
    }

    proptest! {
        /// Workers conflict if there is a word that one wrote and another one wrote or read.
        #[test]
        fn workers_conflict_as_sets_of_words_do(
            all in prop::collection::vec((runs(), runs()), 1..5),
        ) {
            let workers: Vec<_> = all.iter().map(|(writes, reads)| worker(writes, reads)).collect();
            let expected = workers.iter().enumerate().any(|(k, (_, written, _))| {
                workers.iter().enumerate().any(|(other, (_, writes, reads))| {
                    k != other && !(written.is_disjoint(writes) && written.is_disjoint(reads))
                })
            });
            let trackers: Vec<&Tracker> = workers.iter().map(|(tracker, ..)| tracker).collect();
            let found = chunks(&trackers).into_iter().any(|chunk| conflict(&trackers, chunk));
            prop_assert_eq!(found, expected);
        }
    }
}
