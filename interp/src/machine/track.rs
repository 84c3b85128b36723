//! Which words of global memory a worker's blocks wrote, and read where others may write.
//!
//! Blocks that run side by side give what blocks in order give if no worker wrote a word that another one wrote or read.
//! A worker notes its stores, and its loads from regions that the kernel's stores can reach; [`Tracker::conflicts`] compares
//! two workers afterwards. A word is 4 bytes: two workers that write different bytes of one word count as a conflict,
//! which costs time, not correctness.

use crate::isa::mask::LaneMask;
use crate::memory::map::GlobalMap;
use crate::memory::map::GlobalRegion;

/// Bytes of a line.
const LINE_BYTES: u64 = 128;

/// What was touched of a region. Most accesses cover whole lines: one bit each for those keeps the note of a large region in
/// the first-level cache; the rest has one bit per word.
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

    fn meets(&self, other: &Words) -> bool {
        let overlap = |a: &[u64], b: &[u64]| a.iter().zip(b).any(|(a, b)| a & b != 0);
        overlap(&self.lines, &other.lines)
            || overlap(&self.words, &other.words)
            || self.covers(other)
            || other.covers(self)
    }

    /// Whether a word of the other's is in a line of this one's.
    fn covers(&self, other: &Words) -> bool {
        // A line is 32 words: half of a `u64`.
        other.words.iter().enumerate().any(|(k, &words)| {
            let lines = self
                .lines
                .get(k / 32)
                .map_or(0, |bits| bits >> (2 * (k % 32)));
            (lines & 1 != 0 && words as u32 != 0) || (lines & 2 != 0 && words >> 32 != 0)
        })
    }
}

#[cold]
fn zeroes(bits: u64) -> Vec<u64> {
    vec![0; (bits / 64 + 1) as usize]
}

/// Sets so many bits from the first on.
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

/// An access that was found to be allowed.
pub(crate) struct Touch<'a> {
    /// The region all lanes are in, if it is one.
    pub(crate) region: Option<GlobalRegion>,
    pub(crate) mask: u32,
    pub(crate) addresses: &'a [u64; 32],
    pub(crate) width_bytes: u64,
    /// All 32 lanes lie side by side.
    pub(crate) run: bool,
    pub(crate) writes: bool,
}

/// Per region: whether the kernel's stores, or its loads, can reach it while pointers stay in their allocation.
#[derive(Clone, Debug)]
pub(crate) struct Reachable {
    pub(crate) stores: Vec<bool>,
    pub(crate) loads: Vec<bool>,
}

/// What one worker touched.
#[derive(Debug)]
pub(crate) struct Tracker {
    reachable: Reachable,
    writes: Vec<Words>,
    reads: Vec<Words>,
    /// An access went where none was expected, to a region that is written.
    pub(crate) left_allocation: bool,
    /// A store did.
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

    /// Whether a store went where none was expected: what others read there was not noted.
    pub(crate) fn escaped(&self) -> bool {
        self.escaped
    }

    /// Whether an access to the region with this number has to be noted at all.
    #[inline]
    pub(crate) fn follows(&self, region: u32, writes: bool) -> bool {
        writes || self.reachable.stores[region as usize]
    }

    /// Notes an access of 32 lanes side by side from the offset on, so many bytes in all.
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

    /// Whether one of the two wrote what the other one wrote or read.
    pub(crate) fn conflicts(&self, other: &Tracker) -> bool {
        let meet = |a: &[Words], b: &[Words]| a.iter().zip(b).any(|(a, b)| a.meets(b));
        meet(&self.writes, &other.writes)
            || meet(&self.writes, &other.reads)
            || meet(&self.reads, &other.writes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Runs of bytes, whole lines among them.
    fn runs() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let lines = (0..16u64, 1..4u64).prop_map(|(first, count)| (first * 128, count * 128));
        let bytes = (0..2048u64, 1..600u64);
        prop::collection::vec(prop_oneof![lines, bytes], 0..4)
    }

    proptest! {
        /// Two workers meet if there is a word that both touched.
        #[test]
        fn words_meet_as_sets_of_words_do(a in runs(), b in runs()) {
            let region = GlobalRegion {
                base: 0,
                size: 4096,
                bytes: std::ptr::null_mut(),
                writable: true,
                index: 0,
            };
            let noted = |runs: &[(u64, u64)]| {
                let mut words = Words::default();
                let mut set = HashSet::new();
                for &(offset, bytes) in runs {
                    words.set(&region, offset, bytes);
                    set.extend(offset / 4..=(offset + bytes - 1) / 4);
                }
                (words, set)
            };
            let ((a, of_a), (b, of_b)) = (noted(&a), noted(&b));
            prop_assert_eq!(a.meets(&b), !of_a.is_disjoint(&of_b));
            prop_assert_eq!(b.meets(&a), !of_a.is_disjoint(&of_b));
        }
    }
}
