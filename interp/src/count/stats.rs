//! Counters: the costs of a source access and of a whole launch so far.
//!
//! They are plain numbers that only grow. Merging adds them or takes the maximum, so any order of blocks and any number
//! of CPU threads gives the same counts. Requests that a rule set does not model are counted without a cost, so that an
//! incomplete total is recognisable.
//!
//! ```
//! use interp::mask::LaneMask;
//! use interp::rules::bank::Cost;
//! use interp::stats::SiteCounts;
//! let mut site = SiteCounts::default();
//! site.add_shared(Some(Cost { transactions: 4, ideal: 1, degree: 4 }), 4, LaneMask::FULL);
//! site.add_shared(Some(Cost { transactions: 1, ideal: 1, degree: 1 }), 4, LaneMask::first(8));
//! assert_eq!((site.requests, site.transactions, site.bank_conflicts()), (2, 5, 3));
//! assert_eq!((site.max_degree, site.degree_histogram[4], site.bytes), (4, 1, 160));
//! ```

use crate::coded::coded;
use crate::isa::mask::LaneMask;
use crate::rules::bank::Cost;
use crate::rules::coalesce::GlobalCost;

/// What one request costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Charge {
    /// By the bank rule.
    Shared(Option<Cost>),
    /// By the coalescing rule.
    Global(Option<GlobalCost>),
    /// Constant memory: the number of distinct words that the lanes read. They are served one after another.
    Constant(u32),
    /// Local memory: only requests and lanes are counted, because no rule gives them transactions.
    Plain,
}

/// The counts of one source access, or of all accesses of one space and operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteCounts {
    /// Warp instructions executed with at least one active lane.
    pub instructions: u64,
    /// Memory requests: one per instruction; before sm_50 more for wide global accesses.
    pub requests: u64,
    /// Transactions: wavefronts of shared memory; for global memory what nvprof counted on the architecture; distinct
    /// words of constant memory.
    pub transactions: u64,
    /// Shared and constant memory: the transactions of the same requests without conflicts.
    pub ideal: u64,
    /// Shared memory: the highest degree of a bank conflict. Constant memory: the most words of a request.
    pub max_degree: u32,
    /// Global memory: 32-byte sectors moved.
    pub sectors: u64,
    /// Global memory: the sectors that the distinct bytes of each instruction would fill.
    pub ideal_sectors: u64,
    /// Bytes accessed, counted in each lane.
    pub bytes: u64,
    /// Global memory: bytes accessed, counted once per instruction.
    pub distinct_bytes: u64,
    /// Active lanes, summed over the instructions.
    pub active_lanes: u64,
    /// How many instructions had each degree (shared) or number of transactions (global, constant). The last element
    /// has 32 and more.
    pub degree_histogram: [u64; 33],
    /// Instructions for which the rule set has no cost. They are included in `instructions`, `requests`, `bytes` and
    /// `active_lanes`.
    pub not_modelled_instructions: u64,
}

impl Default for SiteCounts {
    fn default() -> Self {
        Self {
            instructions: 0,
            requests: 0,
            transactions: 0,
            ideal: 0,
            max_degree: 0,
            sectors: 0,
            ideal_sectors: 0,
            bytes: 0,
            distinct_bytes: 0,
            active_lanes: 0,
            degree_histogram: [0; 33],
            not_modelled_instructions: 0,
        }
    }
}

impl SiteCounts {
    /// Adds one instruction on shared memory; `None`: not modelled. Counts nothing without an active lane.
    #[inline]
    pub fn add_shared(&mut self, cost: Option<Cost>, width_bytes: u32, mask: LaneMask) {
        let requests = u64::from(!mask.is_empty());
        self.add_shared_requests(cost, width_bytes, requests, u64::from(mask.count()));
    }

    /// Adds `n` instructions with the same cost, with `lanes` active lanes in all.
    #[inline]
    fn add_shared_requests(&mut self, cost: Option<Cost>, width_bytes: u32, n: u64, lanes: u64) {
        self.add_plain_requests(width_bytes, n, lanes);
        if n == 0 {
            return;
        }
        let Some(cost) = cost else {
            self.not_modelled_instructions += n;
            return;
        };
        self.transactions += n * u64::from(cost.transactions);
        self.ideal += n * u64::from(cost.ideal);
        self.max_degree = self.max_degree.max(cost.degree);
        self.degree_histogram[cost.degree.min(32) as usize] += n;
    }

    /// Adds one instruction on global memory; `None`: not modelled. Counts nothing without an active lane.
    #[inline]
    pub fn add_global(&mut self, cost: Option<GlobalCost>, width_bytes: u32, mask: LaneMask) {
        let requests = u64::from(!mask.is_empty());
        self.add_global_requests(cost, width_bytes, requests, u64::from(mask.count()));
    }

    /// Adds `n` instructions with the same cost, with `lanes` active lanes in all.
    #[inline]
    fn add_global_requests(
        &mut self,
        cost: Option<GlobalCost>,
        width_bytes: u32,
        n: u64,
        lanes: u64,
    ) {
        self.add_plain_requests(width_bytes, n, lanes);
        if n == 0 {
            return;
        }
        let Some(cost) = cost else {
            self.not_modelled_instructions += n;
            return;
        };
        self.requests += n * u64::from(cost.requests) - n;
        self.transactions += n * u64::from(cost.transactions);
        self.sectors += n * u64::from(cost.sectors);
        self.ideal_sectors += n * u64::from(cost.ideal_sectors);
        self.distinct_bytes += n * u64::from(cost.distinct_bytes);
        self.degree_histogram[cost.transactions.min(32) as usize] += n;
    }

    /// Adds `n` instructions with the same cost, with `lanes` active lanes in all.
    #[inline]
    pub(crate) fn add_requests(&mut self, charge: Charge, width_bytes: u32, n: u64, lanes: u64) {
        match charge {
            Charge::Shared(cost) => self.add_shared_requests(cost, width_bytes, n, lanes),
            Charge::Global(cost) => self.add_global_requests(cost, width_bytes, n, lanes),
            Charge::Constant(words) => self.add_constant_requests(words, width_bytes, n, lanes),
            Charge::Plain => self.add_plain_requests(width_bytes, n, lanes),
        }
    }

    /// Adds `n` instructions that read this many distinct words of constant memory, with `lanes` active lanes in all.
    #[inline]
    fn add_constant_requests(&mut self, words: u32, width_bytes: u32, n: u64, lanes: u64) {
        self.add_plain_requests(width_bytes, n, lanes);
        self.transactions += n * u64::from(words);
        self.ideal += n;
        self.max_degree = self.max_degree.max(words);
        self.degree_histogram[words.min(32) as usize] += n;
    }

    /// Adds `n` instructions with one request each, with `lanes` active lanes in all.
    #[inline]
    fn add_plain_requests(&mut self, width_bytes: u32, n: u64, lanes: u64) {
        self.instructions += n;
        self.requests += n;
        self.active_lanes += lanes;
        self.bytes += lanes * u64::from(width_bytes);
    }

    /// The transactions beyond the ideal ones: ncu's bank conflicts.
    pub fn bank_conflicts(&self) -> u64 {
        self.transactions.saturating_sub(self.ideal)
    }

    /// Whether a part of the cost is unknown.
    pub fn not_modelled(&self) -> bool {
        self.not_modelled_instructions > 0
    }

    /// Adds the counts of another site, block or launch.
    pub fn merge(&mut self, other: &Self) {
        self.merge_times(other, 1);
    }

    /// Adds them `times` times.
    pub(crate) fn merge_times(&mut self, other: &Self, times: u64) {
        self.instructions += times * other.instructions;
        self.requests += times * other.requests;
        self.transactions += times * other.transactions;
        self.ideal += times * other.ideal;
        self.max_degree = self.max_degree.max(other.max_degree);
        self.sectors += times * other.sectors;
        self.ideal_sectors += times * other.ideal_sectors;
        self.bytes += times * other.bytes;
        self.distinct_bytes += times * other.distinct_bytes;
        self.active_lanes += times * other.active_lanes;
        for (sum, count) in self.degree_histogram.iter_mut().zip(other.degree_histogram) {
            *sum += times * count;
        }
        self.not_modelled_instructions += times * other.not_modelled_instructions;
    }
}

/// The totals of one launch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LaunchCounts {
    /// Warps launched.
    pub warps: u64,
    /// Instructions executed by warps.
    pub warp_instructions: u64,
    /// Instructions executed by threads: each counts once per active lane.
    pub thread_instructions: u64,
    /// Branches executed by warps.
    pub branches: u64,
    /// Branches at which active lanes diverged.
    pub divergent_branches: u64,
    /// Block barriers executed by warps.
    pub barriers: u64,
    /// Blocks that accessed no memory.
    pub idle_blocks: u64,
    /// All loads from shared memory.
    pub shared_load: SiteCounts,
    /// All stores to shared memory.
    pub shared_store: SiteCounts,
    /// All atomics on shared memory.
    pub shared_atomic: SiteCounts,
    /// All loads from global memory.
    pub global_load: SiteCounts,
    /// All stores to global memory.
    pub global_store: SiteCounts,
    /// All atomics on global memory.
    pub global_atomic: SiteCounts,
}

impl LaunchCounts {
    /// Adds the counts of another part of the launch, or of another launch.
    pub fn merge(&mut self, other: &Self) {
        self.warps += other.warps;
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.idle_blocks += other.idle_blocks;
        self.shared_load.merge(&other.shared_load);
        self.shared_store.merge(&other.shared_store);
        self.shared_atomic.merge(&other.shared_atomic);
        self.global_load.merge(&other.global_load);
        self.global_store.merge(&other.global_store);
        self.global_atomic.merge(&other.global_atomic);
    }

    /// The `metrics` object of the JSON report (schema `dslc-report/1`): names and values, in the schema's order.
    /// `None`: some of the launch's accesses of that kind have no modelled cost.
    ///
    /// ```
    /// let totals = interp::stats::LaunchCounts::default().totals();
    /// assert_eq!(totals[0], ("warp_instructions", Some(0)));
    /// assert_eq!(totals[4], ("shared_load_requests", Some(0)));
    /// ```
    pub fn totals(&self) -> [(&'static str, Option<u64>); 22] {
        let (sl, ss, sa) = (&self.shared_load, &self.shared_store, &self.shared_atomic);
        let (gl, gs, ga) = (&self.global_load, &self.global_store, &self.global_atomic);
        let known = |site: &SiteCounts, count: u64| (!site.not_modelled()).then_some(count);
        [
            ("warp_instructions", Some(self.warp_instructions)),
            ("branches", Some(self.branches)),
            ("divergent_branches", Some(self.divergent_branches)),
            ("barriers", Some(self.barriers)),
            ("shared_load_requests", Some(sl.requests)),
            ("shared_load_transactions", known(sl, sl.transactions)),
            ("shared_load_ideal", known(sl, sl.ideal)),
            ("shared_load_bank_conflicts", known(sl, sl.bank_conflicts())),
            ("shared_store_requests", Some(ss.requests)),
            ("shared_store_transactions", known(ss, ss.transactions)),
            ("shared_store_ideal", known(ss, ss.ideal)),
            (
                "shared_store_bank_conflicts",
                known(ss, ss.bank_conflicts()),
            ),
            ("shared_atomic_requests", Some(sa.requests)),
            ("shared_atomic_transactions", known(sa, sa.transactions)),
            ("global_load_requests", Some(gl.requests)),
            ("global_load_sectors", known(gl, gl.sectors)),
            ("global_load_ideal_sectors", known(gl, gl.ideal_sectors)),
            ("global_store_requests", Some(gs.requests)),
            ("global_store_sectors", known(gs, gs.sectors)),
            ("global_store_ideal_sectors", known(gs, gs.ideal_sectors)),
            ("global_atomic_requests", Some(ga.requests)),
            ("global_atomic_sectors", known(ga, ga.sectors)),
        ]
    }
}

coded!(struct SiteCounts {
    instructions, requests, transactions, ideal, max_degree, sectors, ideal_sectors, bytes, distinct_bytes, active_lanes,
    degree_histogram, not_modelled_instructions,
});

#[cfg(test)]
mod tests {
    use super::*;

    fn site(transactions: u32, mask: LaneMask) -> SiteCounts {
        let mut site = SiteCounts::default();
        site.add_shared(
            Some(Cost {
                transactions,
                ideal: 1,
                degree: transactions,
            }),
            4,
            mask,
        );
        site
    }

    #[test]
    fn merging_in_any_order_gives_the_same_counts() {
        let parts = [
            site(1, LaneMask::FULL),
            site(32, LaneMask::first(7)),
            site(2, LaneMask(1 << 31)),
        ];
        let merged = |order: [usize; 3]| {
            let mut total = SiteCounts::default();
            order.into_iter().for_each(|part| total.merge(&parts[part]));
            total
        };
        assert_eq!(merged([0, 1, 2]), merged([2, 0, 1]));
        assert_eq!(merged([0, 1, 2]).max_degree, 32);
    }

    #[test]
    fn an_instruction_without_active_lanes_is_no_request() {
        let mut site = SiteCounts::default();
        site.add_shared(Some(Cost::default()), 4, LaneMask::EMPTY);
        site.add_global(None, 4, LaneMask::EMPTY);
        assert_eq!(site, SiteCounts::default());
    }

    #[test]
    fn what_is_not_modelled_has_no_total() {
        let mut counts = LaunchCounts::default();
        counts.shared_load.add_shared(None, 16, LaneMask::FULL);
        let totals = counts.totals();
        assert_eq!(totals[4], ("shared_load_requests", Some(1)));
        assert_eq!(totals[5], ("shared_load_transactions", None));
        assert_eq!(totals[9], ("shared_store_transactions", Some(0)));
    }
}
