//! Counts an access: closed forms for whole warps at a constant stride, the general rules for the rest.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "counting must be compiled with the engine's CPU features"
)]

use crate::bytecode::MemSite;
use crate::machine::Machine;
use crate::mask::LaneMask;
use crate::ops::address::{stride32, stride64};
use crate::rules::affine::{global_cost_affine, shared_cost_affine};
use crate::rules::bank::{SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalOp, global_cost};
use crate::trap::AccessOp;

#[inline(always)]
pub(crate) fn count_shared(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) {
    let op = match site.op {
        AccessOp::Store => SharedOp::Store,
        AccessOp::Load | AccessOp::Atomic => SharedOp::Load,
    };
    let rules = &machine.rules.shared;
    let affine = if mask == u32::MAX {
        stride32(offsets)
            .and_then(|stride| shared_cost_affine(rules, op, site.width_bytes, offsets[0], stride))
    } else {
        None
    };
    let cost = affine.or_else(|| shared_cost(rules, op, site.width_bytes, LaneMask(mask), offsets));
    machine.counts[counter as usize].add_shared(cost, site.width_bytes, LaneMask(mask));
}

#[inline(always)]
pub(crate) fn count_global(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    addresses: &[u64; 32],
) {
    let op = match site.op {
        AccessOp::Store => GlobalOp::Store,
        AccessOp::Load | AccessOp::Atomic => GlobalOp::Load,
    };
    let rules = &machine.rules.global;
    let affine = if mask == u32::MAX {
        stride64(addresses).and_then(|stride| {
            global_cost_affine(rules, op, site.width_bytes, addresses[0], stride)
        })
    } else {
        None
    };
    let cost =
        affine.or_else(|| global_cost(rules, op, site.width_bytes, LaneMask(mask), addresses));
    machine.counts[counter as usize].add_global(cost, site.width_bytes, LaneMask(mask));
}

/// Accesses to constant and local memory: how often, how many lanes.
#[inline(always)]
pub(crate) fn count_plain(machine: &mut Machine<'_>, site: &MemSite, counter: u32, mask: u32) {
    let counts = &mut machine.counts[counter as usize];
    counts.instructions += 1;
    counts.requests += 1;
    counts.active_lanes += u64::from(mask.count_ones());
    counts.bytes += u64::from(mask.count_ones()) * u64::from(site.width_bytes);
}
