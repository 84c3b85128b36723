//! Read-modify-write operations. Lanes are served in ascending order, and each sees the results of those before it.

use ir::{AtomicOp, Space, Type, eval};

use super::address::{addresses, offsets};
use super::element::{lane_value, read, set_lane, write};
use super::fault::Done;
use super::global::{access, pointer, reach, region};
use super::local::{local_read, local_write};
use super::shared::count;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;

/// The new value that an atomic stores: [`eval::atomic`], or the variant for global memory.
type Rule = fn(AtomicOp, Type, u64, u64, u64) -> u64;

/// The new value that a lane stores, given the old one.
#[inline]
fn next(r: View, site: &MemSite, rule: Rule, lane: usize, old: u64) -> u64 {
    let ty = site.access.ty;
    let (op, compare) = site.atomic.unwrap_or((AtomicOp::Exch, site.values[0]));
    let value = lane_value(r, ty, site.values[0], lane);
    rule(
        op,
        ty.value_type(),
        old,
        value,
        lane_value(r, ty, compare, lane),
    )
}

/// The value that a lane would store if memory held the given one, and whether it stores at all: a failing
/// compare-and-swap does not.
pub(crate) fn left_by(
    r: View,
    site: &MemSite,
    lane: usize,
    old: u64,
    is_shared: bool,
) -> (u64, bool) {
    let rule = match is_shared {
        true => eval::atomic,
        false => eval::atomic_on_global,
    };
    let stores = match site.atomic {
        Some((AtomicOp::Cas, compare)) => lane_value(r, site.access.ty, compare, lane) == old,
        Some(_) | None => true,
    };
    (next(r, site, rule, lane, old), stores)
}

/// Serves the lanes. `at` gives a lane's memory.
///
/// # Safety
/// All bytes must be writable.
unsafe fn serve(
    r: View,
    site: &MemSite,
    rule: Rule,
    mask: u32,
    at: impl Fn(usize) -> *mut u8,
) -> bool {
    let ty = site.access.ty;
    let mut changed = false;
    for lane in LaneMask(mask) {
        // SAFETY: guaranteed by the caller.
        let old = unsafe { read(ty, at(lane)) };
        // SAFETY: guaranteed by the caller.
        changed |= unsafe { write(ty, at(lane), next(r, site, rule, lane, old)) };
        set_lane(r, ty, site.result, lane, old);
    }
    changed
}

pub(super) fn in_shared<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    let size = machine.shared.len() as u64;
    let at = (site, counter);
    count(machine, r, at, Space::Shared, mask, (offsets, size))?;
    let base = machine.shared.as_mut_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    let changed = unsafe {
        serve(r, site, eval::atomic, mask, |l| {
            base.add(offsets[l] as usize)
        })
    };
    machine.pass.changed |= changed;
    Ok(())
}

pub(super) fn in_global<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> Done {
    let region = region(machine, site, row, mask, addresses, true)?;
    let charge = machine.observer.global(&access(r, site, mask), addresses);
    reach(machine, site, charge, mask, addresses);
    // SAFETY: `region` found all active lanes' bytes inside of writable regions.
    let changed = unsafe {
        serve(r, site, eval::atomic_on_global, mask, |l| {
            pointer(region, machine, addresses[l])
        })
    };
    machine.pass.changed |= changed;
    Ok(())
}

pub(super) fn in_local<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    (site, counter): (&MemSite, u32),
    mask: u32,
    offsets: &[u32; 32],
    local: &mut [u8],
) -> Done {
    let size = local.len() as u64 / 32;
    let at = (site, counter);
    count(machine, r, at, Space::Local, mask, (offsets, size))?;
    for lane in LaneMask(mask) {
        let old = local_read(local, site.access.ty, offsets[lane], lane);
        local_write(
            local,
            site.access.ty,
            offsets[lane],
            lane,
            next(r, site, eval::atomic, lane, old),
        );
        set_lane(r, site.access.ty, site.result, lane, old);
    }
    Ok(())
}

#[inline(never)]
pub(crate) fn shared<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    in_shared(machine, r, site, site.counter, mask, &offsets)
}

#[inline(never)]
pub(crate) fn global<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    in_global(machine, r, site, i.c as usize, mask, &addresses)
}

#[inline(never)]
pub(crate) fn local<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    in_local(machine, r, (site, site.counter), mask, &offsets, local)
}
