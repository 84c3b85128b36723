//! Closed forms: the cost of a full warp whose addresses are `base + lane * stride`, without examining the lanes.
//!
//! Array accesses indexed by `threadIdx.x` have this form, and the machine knows base and stride. The functions return
//! `None` if no short formula is exact (or the rule set has no number). The general rule then decides.
//!
//! An example with 4-byte words at a stride of 12 words: lanes share a bank if `12 * i` is a multiple of 32, that is
//! every `32 / gcd(12, 32) = 8` lanes. Each bank in use therefore serves `32 / 8 = 4` lanes: four transactions.
//!
//! ```
//! use interp::rules::{Arch, RuleSet, affine::shared_cost_affine, bank::SharedOp};
//! let rules = RuleSet::for_arch(Arch::SM_90).shared;
//! assert_eq!(shared_cost_affine(&rules, SharedOp::Load, 4, 0, 12 * 4).unwrap().transactions, 4);
//! assert_eq!(shared_cost_affine(&rules, SharedOp::Load, 4, 0, 33 * 4).unwrap().transactions, 1);
//! ```

use super::bank::{Cells, Cost, SharedOp};
use super::coalesce::{GlobalCost, GlobalOp};
use super::{AtomicRule, GlobalRules, SharedRules};

/// With larger strides the 32 addresses could wrap around the 4 GiB of a window.
const STRIDE_LIMIT: u32 = 1 << 26;

/// The cost of all 32 lanes at `base + lane * stride_bytes`; `None`: use [`super::bank::shared_cost`].
///
/// All addresses lie in the shared window (no wrap-around) and are multiples of `width_bytes`.
#[inline]
pub fn shared_cost_affine(
    rules: &SharedRules,
    op: SharedOp,
    width_bytes: u32,
    base: u32,
    stride_bytes: i32,
) -> Option<Cost> {
    let stride = stride_bytes.unsigned_abs();
    if stride >= STRIDE_LIMIT {
        return None;
    }
    let lanes = rules.lanes_per_group(width_bytes)?;
    let cells = Cells::new(rules, width_bytes);
    match op {
        SharedOp::Atomic | SharedOp::AtomicCas => {
            let passes = match rules.atomics {
                AtomicRule::NotModelled => return None,
                AtomicRule::LanesPerBank if op == SharedOp::AtomicCas => 2,
                AtomicRule::LanesPerBank => 1,
            };
            let unit = cells.unit_bytes();
            let aligned = stride.is_multiple_of(unit) && base.is_multiple_of(unit);
            let degree = aligned.then(|| lanes_per_bank(stride / unit, lanes, cells.banks()))?;
            Some(groups_of(lanes, passes * degree, passes, degree))
        }
        SharedOp::AtomicLoop => None,
        SharedOp::Load | SharedOp::Store => {
            let merges =
                stride == 0 && op == SharedOp::Load && width_bytes >= 8 && rules.merges_pairs;
            let lanes = if merges { 2 * lanes } else { lanes };
            let degree =
                access_degree(rules, cells, lanes, stride)? + rules.extra_passes(width_bytes);
            Some(groups_of(lanes, degree, 1, degree))
        }
    }
}

/// The degree of one group of consecutive lanes.
#[inline]
fn access_degree(rules: &SharedRules, cells: Cells, lanes: u32, stride: u32) -> Option<u32> {
    let unit = cells.unit_bytes();
    if stride == 0 || stride <= unit && lanes <= cells.banks() {
        // One unit, or consecutive units, not longer than all banks.
        return Some(1);
    }
    // Each unit is a separate cell, so lanes in one bank never share a row.
    let one_cell_each = cells.banks() * unit == rules.row_bytes && stride.is_multiple_of(unit);
    one_cell_each.then(|| lanes_per_bank(stride / unit, lanes, cells.banks()))
}

/// How many of `lanes` lanes, at a distance of `units`, are in the same bank of `banks` (a power of two).
#[inline]
fn lanes_per_bank(units: u32, lanes: u32, banks: u32) -> u32 {
    let common = if units == 0 {
        banks
    } else {
        banks.min(1 << units.trailing_zeros())
    };
    // All are powers of two, so no division is needed.
    let in_use = banks >> common.trailing_zeros();
    (lanes >> in_use.trailing_zeros()).max(1)
}

#[inline]
fn groups_of(lanes: u32, transactions: u32, ideal: u32, degree: u32) -> Cost {
    let groups = 32 >> lanes.trailing_zeros();
    Cost {
        transactions: groups * transactions,
        ideal: groups * ideal,
        degree,
    }
}

/// The cost of loads or stores of all 32 lanes at `base + lane * stride_bytes`; `None`: use
/// [`super::coalesce::global_cost`]. Only for rule sets that count sectors (sm_50 and later).
///
/// ```
/// use interp::rules::{Arch, RuleSet, affine::global_cost_affine, coalesce::GlobalOp};
/// let rules = RuleSet::for_arch(Arch::SM_90).global;
/// let cost = |base, stride| global_cost_affine(&rules, GlobalOp::Load, 4, base, stride).unwrap();
/// assert_eq!(cost(0, 4).sectors, 4);
/// assert_eq!(cost(16, 4).sectors, 5); // misaligned: one sector more
/// assert_eq!(cost(0, 128).sectors, 32); // one sector a lane
/// assert_eq!(cost(0, 8).ideal_sectors, 4);
/// ```
#[inline]
pub fn global_cost_affine(
    rules: &GlobalRules,
    op: GlobalOp,
    width_bytes: u32,
    base: u64,
    stride_bytes: i64,
) -> Option<GlobalCost> {
    if rules.splits_wide || rules.loads_lines || op == GlobalOp::Atomic {
        return None;
    }
    let stride = stride_bytes.unsigned_abs();
    let last = base.checked_add_signed(stride_bytes.checked_mul(31)?)?;
    let sectors = if stride >= 32 {
        32
    } else {
        // All sectors between the first and the last are touched.
        (base >> 5).abs_diff(last >> 5) as u32 + 1
    };
    let distinct_bytes = if stride == 0 {
        width_bytes
    } else {
        32 * width_bytes
    };
    Some(GlobalCost {
        requests: 1,
        transactions: sectors,
        sectors,
        ideal_sectors: distinct_bytes.div_ceil(32),
        distinct_bytes,
    })
}

/// The stride, if lane `l`'s offset is `offsets[0] + l * stride` without wrapping around.
#[inline(always)]
pub(crate) fn stride32(offsets: &[u32; 32]) -> Option<i32> {
    let stride = offsets[1].wrapping_sub(offsets[0]);
    let mut differs = 0;
    for l in 0..32u32 {
        differs |= offsets[l as usize] ^ offsets[0].wrapping_add(stride.wrapping_mul(l));
    }
    let last = i64::from(offsets[0]) + 31 * i64::from(stride as i32);
    (differs == 0 && last == i64::from(offsets[31])).then_some(stride as i32)
}

#[inline(always)]
pub(crate) fn stride64(addresses: &[u64; 32]) -> Option<i64> {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    let mut differs = 0;
    for l in 0..32u64 {
        differs |= addresses[l as usize] ^ addresses[0].wrapping_add(stride.wrapping_mul(l));
    }
    let small = (stride as i64).unsigned_abs() < 1 << 40;
    (differs == 0 && small && addresses[0] < 1 << 62).then_some(stride as i64)
}
