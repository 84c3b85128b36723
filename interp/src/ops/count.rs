//! Charges an access: closed forms for whole warps at a constant stride, the general rules for the rest.

#![allow(
    clippy::inline_always,
    reason = "counting must be compiled with the engine's CPU features"
)]

use dsl::ir::AtomicOp;

use crate::mask::LaneMask;
use crate::observer::Access;
use crate::ops::address::{stride32, stride64};
use crate::rules::affine::{global_cost_affine, shared_cost_affine};
use crate::rules::bank::{Cost, SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalOp, global_cost};
use crate::rules::{GlobalRules, SharedRules};
use crate::stats::SiteCounts;
use crate::trap::AccessOp;

/// Shared memory, by the bank rule. Gives the transactions beyond the ideal.
#[inline(always)]
pub(crate) fn shared(
    counts: &mut SiteCounts,
    rules: &SharedRules,
    access: &Access<'_>,
    offsets: &[u32; 32],
) -> u32 {
    let (width, mask) = (access.site.width_bytes, LaneMask(access.mask));
    let op = match (access.site.op, access.site.atomic) {
        (AccessOp::Load, _) => SharedOp::Load,
        (AccessOp::Store, _) => SharedOp::Store,
        (AccessOp::Atomic, Some((AtomicOp::Cas, _))) => SharedOp::AtomicCas,
        (AccessOp::Atomic, _) => SharedOp::Atomic,
    };
    let affine = if mask.is_full() {
        stride32(offsets)
            .and_then(|stride| shared_cost_affine(rules, op, width, offsets[0], stride))
    } else {
        None
    };
    let cost = affine.or_else(|| shared_cost(rules, op, width, mask, offsets));
    counts.add_shared(cost, width, mask);
    cost.map_or(0, Cost::bank_conflicts)
}

/// Global memory, by the coalescing rule. Gives the sectors beyond the ideal.
#[inline(always)]
pub(crate) fn global(
    counts: &mut SiteCounts,
    rules: &GlobalRules,
    access: &Access<'_>,
    addresses: &[u64; 32],
) -> u32 {
    let (width, mask) = (access.site.width_bytes, LaneMask(access.mask));
    let op = match access.site.op {
        AccessOp::Load => GlobalOp::Load,
        AccessOp::Store => GlobalOp::Store,
        AccessOp::Atomic => GlobalOp::Atomic,
    };
    let affine = if mask.is_full() {
        stride64(addresses)
            .and_then(|stride| global_cost_affine(rules, op, width, addresses[0], stride))
    } else {
        None
    };
    let cost = affine.or_else(|| global_cost(rules, op, width, mask, addresses));
    counts.add_global(cost, width, mask);
    cost.map_or(0, |cost| cost.sectors.saturating_sub(cost.ideal_sectors))
}

/// Constant and local memory: how often, how many lanes; no rule gives them transactions.
#[inline(always)]
pub(crate) fn plain(counts: &mut SiteCounts, access: &Access<'_>) {
    let lanes = u64::from(access.mask.count_ones());
    counts.instructions += 1;
    counts.requests += 1;
    counts.active_lanes += lanes;
    counts.bytes += lanes * u64::from(access.site.width_bytes);
}
