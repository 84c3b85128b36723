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
use crate::rules::bank::{Cost, SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalCost, GlobalOp, global_cost};
use crate::rules::{GlobalRules, SharedRules};
use crate::trap::AccessOp;

/// Counts a request on shared memory and keeps it if it is the worst.
#[inline(always)]
pub(crate) fn add_shared(
    machine: &mut Machine<'_>,
    counter: u32,
    cost: Option<Cost>,
    width_bytes: u32,
    mask: u32,
    address: impl Fn(usize) -> u64,
) {
    machine.counts[counter as usize].add_shared(cost, width_bytes, LaneMask(mask));
    let waste = cost.map_or(0, Cost::bank_conflicts);
    let worst = &mut machine.worst[counter as usize];
    if worst.is_beaten_by(waste) {
        worst.keep(waste, machine.whence, mask, address);
    }
}

/// Counts a request on global memory and keeps it if it is the worst.
#[inline(always)]
pub(crate) fn add_global(
    machine: &mut Machine<'_>,
    counter: u32,
    cost: Option<GlobalCost>,
    width_bytes: u32,
    mask: u32,
    address: impl Fn(usize) -> u64,
) {
    machine.counts[counter as usize].add_global(cost, width_bytes, LaneMask(mask));
    let waste = cost.map_or(0, |cost| cost.sectors.saturating_sub(cost.ideal_sectors));
    let worst = &mut machine.worst[counter as usize];
    if worst.is_beaten_by(waste) {
        worst.keep(waste, machine.whence, mask, address);
    }
}

/// The cost of a load or store of shared memory.
#[inline(always)]
pub(crate) fn cost_of_shared(
    rules: &SharedRules,
    site: &MemSite,
    mask: u32,
    offsets: &[u32; 32],
) -> Option<Cost> {
    let op = match site.op {
        AccessOp::Store => SharedOp::Store,
        AccessOp::Load | AccessOp::Atomic => SharedOp::Load,
    };
    let affine = if mask == u32::MAX {
        stride32(offsets)
            .and_then(|stride| shared_cost_affine(rules, op, site.width_bytes, offsets[0], stride))
    } else {
        None
    };
    affine.or_else(|| shared_cost(rules, op, site.width_bytes, LaneMask(mask), offsets))
}

#[inline(always)]
pub(crate) fn count_shared(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Option<Cost> {
    let cost = cost_of_shared(&machine.rules.shared, site, mask, offsets);
    add_shared(machine, counter, cost, site.width_bytes, mask, |lane| {
        u64::from(offsets[lane])
    });
    cost
}

/// The cost of a load or store of global memory.
#[inline(always)]
pub(crate) fn cost_of_global(
    rules: &GlobalRules,
    site: &MemSite,
    mask: u32,
    addresses: &[u64; 32],
) -> Option<GlobalCost> {
    let op = match site.op {
        AccessOp::Store => GlobalOp::Store,
        AccessOp::Load | AccessOp::Atomic => GlobalOp::Load,
    };
    let affine = if mask == u32::MAX {
        stride64(addresses).and_then(|stride| {
            global_cost_affine(rules, op, site.width_bytes, addresses[0], stride)
        })
    } else {
        None
    };
    affine.or_else(|| global_cost(rules, op, site.width_bytes, LaneMask(mask), addresses))
}

#[inline(always)]
pub(crate) fn count_global(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    addresses: &[u64; 32],
) -> Option<GlobalCost> {
    let cost = cost_of_global(&machine.rules.global, site, mask, addresses);
    add_global(machine, counter, cost, site.width_bytes, mask, |lane| {
        addresses[lane]
    });
    cost
}

/// Accesses to constant and local memory: how often, how many lanes.
#[inline(always)]
pub(crate) fn count_plain(machine: &mut Machine<'_>, site: &MemSite, counter: u32, mask: u32) {
    let lanes = u64::from(mask.count_ones());
    machine.counts[counter as usize].add_plain_requests(site.width_bytes, 1, lanes);
}
