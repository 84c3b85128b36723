//! The coalescing rule: the cost of one warp's access to global memory.
//!
//! The input is 32 addresses, the width, and the active lanes. The output is sectors (32-byte segments of memory
//! moved), transactions (what nvprof counted under that name on the architecture), memory requests, and the sectors
//! that the distinct bytes would fill. Lanes may touch sectors in any order. A sector counts once however many lanes
//! touch it.
//!
//! An example with 4-byte loads on sm_90 and lanes 0 to 7 at bytes 0, 4, 8, 28, 32, 32, 64, 4096: sectors 0, 0, 0, 0,
//! 1, 1, 2, 128, which are four sectors. Seven different words were accessed, 28 bytes, which would fit in one sector.
//!
//! Addresses are multiples of the width (the machine traps others). An access therefore never leaves its sector, and
//! two accesses of one instruction overlap completely or not at all.
//!
//! ```
//! use interp::mask::LaneMask;
//! use interp::rules::{Arch, RuleSet, coalesce::{GlobalOp, global_cost}};
//! let mut addresses = [0; 32];
//! addresses[..8].copy_from_slice(&[0, 4, 8, 28, 32, 32, 64, 4096]);
//! let cost = |arch| global_cost(&RuleSet::for_arch(arch).global, GlobalOp::Load, 4, LaneMask::first(8), &addresses);
//! let h200 = cost(Arch::SM_90).unwrap();
//! assert_eq!((h200.sectors, h200.ideal_sectors, h200.distinct_bytes), (4, 1, 28));
//! // Fermi moves whole lines of 128 bytes: two transactions, eight sectors.
//! let fermi = cost(Arch::SM_20).unwrap();
//! assert_eq!((fermi.transactions, fermi.sectors), (2, 8));
//! ```

use crate::isa::mask::LaneMask;

use super::GlobalRules;
use super::bank::SmallSet;

/// Bytes of a sector. Moving lanes within their sectors does not change the cost.
pub const SECTOR_BYTES: u64 = 1 << SECTOR_SHIFT;
const SECTOR_SHIFT: u32 = 5;
const LINE_SHIFT: u32 = 7;

/// The kind of a global-memory instruction, as far as its cost depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// Any atomic, with a result (`atom`) or without (`red`).
    Atomic,
}

/// The cost of one warp instruction on global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct GlobalCost {
    /// Memory requests: 1, or before sm_50 one for each half-warp of 8-byte and quarter-warp of 16-byte accesses.
    pub requests: u32,
    /// nvprof's transactions: 128-byte lines before sm_50, sectors since.
    pub transactions: u32,
    /// 32-byte segments of memory moved.
    pub sectors: u32,
    /// The sectors that the distinct bytes would fill: the fewest possible.
    pub ideal_sectors: u32,
    /// Distinct bytes accessed.
    pub distinct_bytes: u32,
}

/// The cost of the access; `None` if the rule set does not model it (see [`GlobalRules::provenance`] for the reason).
///
/// Addresses are multiples of `width_bytes` (1, 2, 4, 8 or 16). Those of inactive lanes are ignored. Without an active
/// lane the cost is zero, because nothing was requested.
#[inline]
pub fn global_cost(
    rules: &GlobalRules,
    op: GlobalOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u64; 32],
) -> Option<GlobalCost> {
    debug_assert!(
        matches!(width_bytes, 1 | 2 | 4 | 8 | 16),
        "no access is {width_bytes} bytes wide"
    );
    if op == GlobalOp::Atomic {
        return rules
            .atomics
            .then(|| atomic_cost(width_bytes, mask, addresses));
    }
    if !rules.splits_wide && !rules.loads_lines {
        let distinct = Distinct::count(mask, addresses);
        return Some(GlobalCost {
            requests: u32::from(!mask.is_empty()),
            transactions: distinct.sectors,
            sectors: distinct.sectors,
            ..GlobalCost::asked_for(distinct.addresses * width_bytes)
        });
    }
    Some(split_cost(rules, op, width_bytes, mask, addresses))
}

/// How many different words of constant memory a request reads. The constant cache serves one word to all lanes that
/// read it, and then the next. This rule is from NVIDIA's programming guides and was not measured. An element of 8 or
/// 16 bytes counts as one word.
///
/// ```
/// use interp::{mask::LaneMask, rules::coalesce::constant_words};
/// let mut addresses = [64; 32];
/// assert_eq!(constant_words(4, LaneMask::FULL, &addresses), 1);
/// (0..32).for_each(|lane| addresses[lane] = 4 * lane as u64);
/// assert_eq!(constant_words(4, LaneMask::FULL, &addresses), 32);
/// assert_eq!(constant_words(1, LaneMask::FULL, &std::array::from_fn(|lane| lane as u64)), 8);
/// ```
pub fn constant_words(width_bytes: u32, mask: LaneMask, addresses: &[u64; 32]) -> u32 {
    let shift = width_bytes.max(4).trailing_zeros();
    Distinct::count(mask, &addresses.map(|address| address >> shift)).addresses
}

/// Where lines of 128 bytes count, as before sm_50: half-warps or quarter-warps of wide accesses may be separate
/// requests.
fn split_cost(
    rules: &GlobalRules,
    op: GlobalOp,
    width_bytes: u32,
    mask: LaneMask,
    addresses: &[u64; 32],
) -> GlobalCost {
    let lanes_per_request = match rules.splits_wide {
        true => 32 / (width_bytes / 4).max(1),
        false => 32,
    };
    let mut cost = GlobalCost::asked_for(Distinct::count(mask, addresses).addresses * width_bytes);
    for request in mask.groups(lanes_per_request) {
        let distinct = Distinct::count(request, addresses);
        cost.requests += 1;
        cost.transactions += distinct.lines;
        cost.sectors += match op {
            GlobalOp::Load if rules.loads_lines => 4 * distinct.lines,
            GlobalOp::Load | GlobalOp::Store | GlobalOp::Atomic => distinct.sectors,
        };
    }
    cost
}

/// The largest number of lanes at one address in each sector, summed.
fn atomic_cost(width_bytes: u32, mask: LaneMask, addresses: &[u64; 32]) -> GlobalCost {
    let mut sorted = [0; 32];
    let mut count = 0;
    for lane in mask {
        sorted[count] = addresses[lane];
        count += 1;
    }
    let active = &mut sorted[..count];
    active.sort_unstable();
    let (mut sectors, mut distinct_addresses) = (0, 0);
    for sector in active.chunk_by(|a, b| a >> SECTOR_SHIFT == b >> SECTOR_SHIFT) {
        let mut most = 0;
        for same_address in sector.chunk_by(|a, b| a == b) {
            distinct_addresses += 1;
            most = most.max(same_address.len() as u32);
        }
        sectors += most;
    }
    GlobalCost {
        requests: u32::from(count > 0),
        transactions: sectors,
        sectors,
        ..GlobalCost::asked_for(distinct_addresses * width_bytes)
    }
}

impl GlobalCost {
    #[inline]
    fn asked_for(distinct_bytes: u32) -> Self {
        Self {
            distinct_bytes,
            ideal_sectors: distinct_bytes.div_ceil(32),
            ..Self::default()
        }
    }
}

/// How many different addresses, sectors and lines some lanes touch.
#[derive(Clone, Copy, Default)]
struct Distinct {
    addresses: u32,
    sectors: u32,
    lines: u32,
}

impl Distinct {
    #[inline]
    fn count(mask: LaneMask, addresses: &[u64; 32]) -> Self {
        if mask.is_full()
            && let Some(distinct) = Self::ascending(addresses)
        {
            return distinct;
        }
        Self::in_runs(mask, addresses).unwrap_or_else(|| Self::hashed(mask, addresses))
    }

    /// For all lanes with ascending addresses: every change is a new one. The loop has no branch.
    #[inline]
    fn ascending(addresses: &[u64; 32]) -> Option<Self> {
        let mut falling = false;
        let mut distinct = Self {
            addresses: 1,
            sectors: 1,
            lines: 1,
        };
        for lane in 1..32 {
            let (before, address) = (addresses[lane - 1], addresses[lane]);
            falling |= address < before;
            let change = before ^ address;
            distinct.addresses += u32::from(change != 0);
            distinct.sectors += u32::from(change >> SECTOR_SHIFT != 0);
            distinct.lines += u32::from(change >> LINE_SHIFT != 0);
        }
        (!falling).then_some(distinct)
    }

    /// For any mask with addresses that only rise or only fall: the same, lane by lane.
    fn in_runs(mask: LaneMask, addresses: &[u64; 32]) -> Option<Self> {
        let mut lanes = mask.lanes();
        let Some(first) = lanes.next() else {
            return Some(Self::default());
        };
        let mut before = addresses[first];
        let mut distinct = Self {
            addresses: 1,
            sectors: 1,
            lines: 1,
        };
        let (mut rises, mut falls) = (false, false);
        for lane in lanes {
            let address = addresses[lane];
            rises |= address > before;
            falls |= address < before;
            let change = before ^ address;
            distinct.addresses += u32::from(change != 0);
            distinct.sectors += u32::from(change >> SECTOR_SHIFT != 0);
            distinct.lines += u32::from(change >> LINE_SHIFT != 0);
            before = address;
        }
        (!(rises && falls)).then_some(distinct)
    }

    /// For any order: a sector is looked up only for a new address, and a line only for a new sector.
    fn hashed(mask: LaneMask, addresses: &[u64; 32]) -> Self {
        let (mut seen, mut sectors, mut lines) =
            (SmallSet::new(), SmallSet::new(), SmallSet::new());
        let mut distinct = Self::default();
        for lane in mask {
            let address = addresses[lane];
            if !seen.insert(address) {
                continue;
            }
            distinct.addresses += 1;
            if !sectors.insert(address >> SECTOR_SHIFT) {
                continue;
            }
            distinct.sectors += 1;
            distinct.lines += u32::from(lines.insert(address >> LINE_SHIFT));
        }
        distinct
    }
}
