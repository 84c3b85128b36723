//! Which words of global memory a worker's blocks wrote, and read where others may write.
//!
//! Blocks that run side by side give what blocks in order give if no worker wrote a word that another one wrote or read.
//! A worker notes its stores, and its loads from regions that the kernel's stores can reach; [`Tracker::conflicts`] compares
//! two workers afterwards. A word is 4 bytes: two workers that write different bytes of one word count as a conflict,
//! which costs time, not correctness.

use crate::machine::{GlobalMap, GlobalRegion};
use crate::mask::LaneMask;

/// One bit per word of a region.
#[derive(Debug, Default)]
struct Words(Vec<u64>);

impl Words {
    #[inline]
    fn set(&mut self, region: &GlobalRegion, offset: u64, bytes: u64) {
        if self.0.is_empty() {
            self.start(region);
        }
        let (first, last) = (offset / 4, (offset + bytes - 1) / 4);
        let (low, high) = ((first / 64) as usize, (last / 64) as usize);
        let from = u64::MAX << (first % 64);
        let to = u64::MAX >> (63 - last % 64);
        if low == high {
            self.0[low] |= from & to;
            return;
        }
        self.0[low] |= from;
        self.0[low + 1..high].fill(u64::MAX);
        self.0[high] |= to;
    }

    #[cold]
    fn start(&mut self, region: &GlobalRegion) {
        self.0 = vec![0; (region.size / 256 + 1) as usize];
    }

    fn meets(&self, other: &Words) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
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

/// What one worker touched.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// Per region: the kernel's stores can reach it.
    reachable: Vec<bool>,
    writes: Vec<Words>,
    reads: Vec<Words>,
    /// A store went where no store was expected.
    pub(crate) escaped: bool,
}

impl Tracker {
    pub(crate) fn new(reachable: Vec<bool>) -> Tracker {
        let words = || reachable.iter().map(|_| Words::default()).collect();
        Tracker {
            writes: words(),
            reads: words(),
            escaped: false,
            reachable,
        }
    }

    /// Whether an access to the region with this number has to be noted at all.
    #[inline]
    pub(crate) fn follows(&self, region: u32, writes: bool) -> bool {
        writes || self.reachable[region as usize]
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
        if !self.reachable[index] {
            self.escaped |= writes;
            return;
        }
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
