//! Who watches a kernel run. Observers see every access after it was found to be allowed and before it happens; they change
//! no result. The engine is generic over them, so what is not asked for costs nothing. [`Counters`] is always among them.

use dsl::ir::Space;

use crate::bytecode::MemSite;
use crate::ops::count;
use crate::rules::RuleSet;
use crate::stats::SiteCounts;
use crate::witness::{Whence, Worst};

/// One memory instruction of one warp.
pub(crate) struct Access<'a> {
    pub(crate) site: &'a MemSite,
    /// Its counter: generic accesses have one per space.
    pub(crate) counter: u32,
    /// Where it goes: never generic.
    pub(crate) space: Space,
    /// Active lanes.
    pub(crate) mask: u32,
}

/// What can be watched. Events belong to the block and the warp that began last.
#[expect(unused_variables, reason = "the defaults do nothing")]
pub(crate) trait Observer: Sized {
    /// A block starts, or goes on after others had their turn.
    #[inline(always)]
    fn begin_block(&mut self, index: u64) {}
    /// A warp runs.
    #[inline(always)]
    fn begin_warp(&mut self, number: u32) {}
    /// Shared or thread-local memory, by offset in it.
    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {}
    /// Global or constant memory, by address.
    #[inline(always)]
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {}
    /// `__syncwarp` of the active lanes, each naming a mask.
    #[inline(always)]
    fn sync_warp(&mut self, mask: u32, named: &[u32; 32]) {}
    /// A fence of the active lanes.
    #[inline(always)]
    fn fence(&mut self, mask: u32) {}
    /// The block's barrier opens.
    #[inline(always)]
    fn barrier(&mut self) {}
    /// Another worker's findings join.
    #[cfg_attr(
        not(feature = "threads"),
        allow(dead_code, reason = "there is one worker")
    )]
    fn absorb(&mut self, other: &Self);
    /// The counts.
    fn counts(&self) -> &[SiteCounts];
    /// The worst request of each counter.
    fn worst(&self) -> &[Worst];
}

/// Counts every access by the rules; dense, by counter number.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    rules: RuleSet,
    counts: Vec<SiteCounts>,
    worst: Vec<Worst>,
    whence: Whence,
}

impl Counters {
    pub(crate) fn new(rules: &RuleSet, counters: usize) -> Counters {
        Counters {
            rules: *rules,
            counts: vec![SiteCounts::default(); counters],
            worst: vec![Worst::default(); counters],
            whence: Whence::default(),
        }
    }
}

impl Observer for Counters {
    #[inline(always)]
    fn begin_block(&mut self, index: u64) {
        self.whence.block = index;
    }

    #[inline(always)]
    fn begin_warp(&mut self, number: u32) {
        self.whence.warp = number;
    }

    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        let counts = &mut self.counts[access.counter as usize];
        if access.space == Space::Shared {
            let waste = count::shared(counts, &self.rules.shared, access, offsets);
            let worst = &mut self.worst[access.counter as usize];
            if worst.is_beaten_by(waste) {
                worst.keep(waste, self.whence, access.mask, |lane| offsets[lane].into());
            }
        } else {
            count::plain(counts, access);
        }
    }

    #[inline(always)]
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        let counts = &mut self.counts[access.counter as usize];
        if access.space == Space::Constant {
            count::plain(counts, access);
        } else {
            let waste = count::global(counts, &self.rules.global, access, addresses);
            let worst = &mut self.worst[access.counter as usize];
            if worst.is_beaten_by(waste) {
                worst.keep(waste, self.whence, access.mask, |lane| addresses[lane]);
            }
        }
    }

    fn absorb(&mut self, other: &Counters) {
        for (sum, counts) in self.counts.iter_mut().zip(&other.counts) {
            sum.merge(counts);
        }
        for (worst, part) in self.worst.iter_mut().zip(&other.worst) {
            worst.absorb(part);
        }
    }

    fn counts(&self) -> &[SiteCounts] {
        &self.counts
    }

    fn worst(&self) -> &[Worst] {
        &self.worst
    }
}
