//! The observer that is always present: it counts every access by the rules.

use ir::Space;

use crate::coded::Coded;
use crate::count::stats::{Charge, SiteCounts};
use crate::count::witness::{RequestOrigin, Worst};
use crate::isa::bytecode::MemSite;
use crate::isa::mask::LaneMask;
use crate::observe::{Access, Observer, charge};
use crate::rules::bank::Cost;
use crate::rules::{RuleSet, coalesce};

/// Counts every access by the rules; dense, by counter number.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    rules: RuleSet,
    counts: Vec<SiteCounts>,
    worst: Vec<Worst>,
    whence: RequestOrigin,
}

impl Counters {
    pub(crate) fn new(rules: &RuleSet, counters: usize) -> Counters {
        Counters {
            rules: *rules,
            counts: vec![SiteCounts::default(); counters],
            worst: vec![Worst::default(); counters],
            whence: RequestOrigin::default(),
        }
    }

    /// Adds what another one has counted, `times` times.
    pub(crate) fn absorb_times(&mut self, other: &Counters, times: u64) {
        for (sum, counts) in self.counts.iter_mut().zip(&other.counts) {
            sum.merge_times(counts, times);
        }
        for (worst, part) in self.worst.iter_mut().zip(&other.worst) {
            worst.absorb(part);
        }
    }

    #[inline(always)]
    fn add(&mut self, access: &Access<'_>, charge: Charge) {
        let lanes = u64::from(access.mask.count_ones());
        let counts = &mut self.counts[access.counter as usize];
        counts.add_requests(charge, access.site.width_bytes, 1, lanes);
    }
}

impl Observer for Counters {
    #[inline(always)]
    fn begin_block(&mut self, index: u64) {
        self.whence.block = index;
    }

    #[inline(always)]
    fn begin_warp(&mut self, number: u32, _place: usize) {
        self.whence.warp = number;
    }

    const REPLAYS: bool = true;
    const SEES_REPEATS: bool = false;

    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        let charge = self.charge_window(access, offsets);
        self.add(access, charge);
        if let Charge::Shared(cost) = charge {
            let waste = cost.map_or(0, Cost::bank_conflicts);
            let worst = &mut self.worst[access.counter as usize];
            if worst.is_beaten_by(waste) {
                worst.keep(waste, self.whence, access.mask, |lane| offsets[lane].into());
            }
        }
        charge
    }

    #[inline(always)]
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        let charge = self.charge_global(access, addresses);
        self.add(access, charge);
        if let Charge::Global(cost) = charge {
            let waste = cost.map_or(0, |cost| cost.sectors.saturating_sub(cost.ideal_sectors));
            let worst = &mut self.worst[access.counter as usize];
            if worst.is_beaten_by(waste) {
                worst.keep(waste, self.whence, access.mask, |lane| addresses[lane]);
            }
        }
        charge
    }

    #[inline(always)]
    fn counters(&self) -> &Counters {
        self
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counts[site.counter as usize].add_requests(charge, site.width_bytes, requests, lanes);
    }

    fn period_bytes(&self, site: &MemSite) -> u64 {
        if site.access.space == Space::Shared {
            self.rules.shared.period_bytes(site.width_bytes).into()
        } else {
            self.rules.global.period_bytes().into()
        }
    }

    #[inline(always)]
    fn charge_window(&self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        if access.space == Space::Shared {
            Charge::Shared(charge::shared(&self.rules.shared, access, offsets))
        } else {
            Charge::Plain
        }
    }

    #[inline(always)]
    fn charge_global(&self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        if access.space == Space::Constant {
            let words =
                coalesce::constant_words(access.site.width_bytes, LaneMask(access.mask), addresses);
            Charge::Constant(words)
        } else {
            Charge::Global(charge::global(&self.rules.global, access, addresses))
        }
    }

    fn absorb(&mut self, other: &Counters) {
        self.absorb_times(other, 1);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.counts.put(out);
        self.worst.put(out);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let (counts, worst) = (Coded::get(from)?, Coded::get(from)?);
        let other = Counters {
            rules: self.rules,
            counts,
            worst,
            whence: RequestOrigin::default(),
        };
        let is_like = other.counts.len() == self.counts.len();
        self.absorb_times(&other, 1);
        is_like.then_some(())
    }

    fn counts(&self) -> &[SiteCounts] {
        &self.counts
    }

    fn worst(&self) -> &[Worst] {
        &self.worst
    }
}
