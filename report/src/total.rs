//! The cost of all accesses of a launch to one kind of memory.

use interp::stats::LaunchCounts;

/// Units used, and units that would do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) used: u64,
    pub(crate) ideal: u64,
    /// Whether it is complete: the rules model all of it.
    pub(crate) is_known: bool,
}

impl Total {
    /// Transactions of shared memory.
    pub(crate) fn shared(counts: &LaunchCounts) -> Total {
        let parts = [
            &counts.shared_load,
            &counts.shared_store,
            &counts.shared_atomic,
        ];
        Total {
            used: sum(parts.map(|part| part.transactions)),
            ideal: sum(parts.map(|part| part.ideal)),
            is_known: parts.iter().all(|part| !part.not_modelled()),
        }
    }

    /// Sectors of global memory.
    pub(crate) fn global(counts: &LaunchCounts) -> Total {
        let parts = [
            &counts.global_load,
            &counts.global_store,
            &counts.global_atomic,
        ];
        Total {
            used: sum(parts.map(|part| part.sectors)),
            ideal: sum(parts.map(|part| part.ideal_sectors)),
            is_known: parts.iter().all(|part| !part.not_modelled()),
        }
    }
}

fn sum(parts: [u64; 3]) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
