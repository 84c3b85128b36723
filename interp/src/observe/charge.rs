//! Charges accesses: closed forms for whole warps with a constant stride, and the general rules for the rest.

#![allow(
    clippy::inline_always,
    reason = "counting must be compiled with the engine's CPU features"
)]

use crate::rules::affine::stride32;
use crate::rules::affine::stride64;

use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::observe::Access;
use crate::rules::affine::{global_cost_affine, shared_cost_affine};
use crate::rules::bank::{Cost, SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalCost, GlobalOp, global_cost};
use crate::rules::{GlobalRules, SharedRules};

/// The lanes that are charged: of an atomic whose lanes are merged, the first at each address.
#[inline(always)]
fn lanes(access: &Access<'_>, address: impl Fn(usize) -> u64) -> LaneMask {
    match access.site.access.merged {
        true => LaneMask(first_lanes(access.mask, address)),
        false => LaneMask(access.mask),
    }
}

#[inline(never)]
fn first_lanes(mask: u32, address: impl Fn(usize) -> u64) -> u32 {
    let is_first = |lane: usize| {
        let mut before = LaneMask(mask & ((1 << lane) - 1)).into_iter();
        before.all(|other| address(other) != address(lane))
    };
    let first = LaneMask(mask).into_iter().filter(|&lane| is_first(lane));
    first.fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Shared memory, by the bank rule.
#[inline(always)]
pub(crate) fn shared(
    rules: &SharedRules,
    access: &Access<'_>,
    offsets: &[u32; 32],
) -> Option<Cost> {
    let width = access.site.width_bytes;
    let mask = lanes(access, |lane| offsets[lane].into());
    let op = match (access.site.op, access.site.atomic) {
        (AccessOp::Load, _) => SharedOp::Load,
        (AccessOp::Store, _) => SharedOp::Store,
        (AccessOp::Atomic, Some((op, _))) => SharedOp::of_atomic(op, access.site.access.ty),
        (AccessOp::Atomic, None) => unreachable!("an atomic access without its operation"),
    };
    let affine = if mask.is_full() {
        stride32(offsets)
            .and_then(|stride| shared_cost_affine(rules, op, width, offsets[0], stride))
    } else {
        None
    };
    affine.or_else(|| shared_cost(rules, op, width, mask, offsets))
}

/// Global memory, by the coalescing rule.
#[inline(always)]
pub(crate) fn global(
    rules: &GlobalRules,
    access: &Access<'_>,
    addresses: &[u64; 32],
) -> Option<GlobalCost> {
    let width = access.site.width_bytes;
    let mask = lanes(access, |lane| addresses[lane]);
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
    affine.or_else(|| global_cost(rules, op, width, mask, addresses))
}
