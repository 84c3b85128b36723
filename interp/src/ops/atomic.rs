//! Read-modify-write operations: lanes are served in ascending order, each seeing what the ones before it left.

use dsl::ir::{AtomicOp, Space, eval};

use super::fault::Done;
use super::memory::{
    addresses, check_window, lane_value, local_read, local_write, narrowed, offsets, pointer, read,
    region, set_lane, windows, write,
};
use crate::bytecode::{Inst, MemSite};
use crate::machine::Machine;
use crate::mask::LaneMask;
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::registers::View;
use crate::rules::bank::{SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalOp, global_cost};

/// What a lane leaves in memory, given what was there.
#[inline]
fn next(r: View, site: &MemSite, lane: usize, old: u64) -> u64 {
    let ty = site.access.ty;
    let (op, compare) = site.atomic.unwrap_or((AtomicOp::Exch, site.values[0]));
    let value = lane_value(r, ty, site.values[0], lane);
    eval::atomic(
        op,
        ty.value_type(),
        old,
        value,
        lane_value(r, ty, compare, lane),
    )
}

/// Serves the lanes, `at` giving the memory.
///
/// # Safety
/// All bytes are writable.
unsafe fn serve(r: View, site: &MemSite, mask: u32, at: impl Fn(usize) -> *mut u8) -> bool {
    let ty = site.access.ty;
    let mut changed = false;
    for lane in LaneMask(mask) {
        // SAFETY: the caller's.
        let old = unsafe { read(ty, at(lane)) };
        // SAFETY: the caller's.
        changed |= unsafe { write(ty, at(lane), next(r, site, lane, old)) };
        set_lane(r, ty, site.result, lane, old);
    }
    changed
}

fn in_shared(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    check_window(
        machine,
        site,
        Space::Shared,
        mask,
        offsets,
        machine.shared.len() as u64,
    )?;
    let op = match site.atomic {
        Some((AtomicOp::Cas, _)) => SharedOp::AtomicCas,
        _ => SharedOp::Atomic,
    };
    let cost = shared_cost(
        &machine.rules.shared,
        op,
        site.width_bytes,
        LaneMask(mask),
        offsets,
    );
    machine.counts[counter as usize].add_shared(cost, site.width_bytes, LaneMask(mask));
    let base = machine.shared.as_mut_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    let changed = unsafe { serve(r, site, mask, |l| base.add(offsets[l] as usize)) };
    machine.changed |= changed;
    Ok(())
}

fn in_global(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> Done {
    let region = region(machine, site, row, mask, addresses, true)?;
    let cost = global_cost(
        &machine.rules.global,
        GlobalOp::Atomic,
        site.width_bytes,
        LaneMask(mask),
        addresses,
    );
    machine.counts[site.counter as usize].add_global(cost, site.width_bytes, LaneMask(mask));
    // SAFETY: `region` found all active lanes' bytes inside of writable regions.
    let changed = unsafe { serve(r, site, mask, |l| pointer(region, machine, addresses[l])) };
    machine.changed |= changed;
    Ok(())
}

fn in_local(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
    local: &mut [u8],
) -> Done {
    check_window(
        machine,
        site,
        Space::Local,
        mask,
        offsets,
        local.len() as u64 / 32,
    )?;
    let counts = &mut machine.counts[counter as usize];
    counts.instructions += 1;
    counts.requests += 1;
    counts.active_lanes += u64::from(mask.count_ones());
    for lane in LaneMask(mask) {
        let old = local_read(local, site.access.ty, offsets[lane], lane);
        local_write(
            local,
            site.access.ty,
            offsets[lane],
            lane,
            next(r, site, lane, old),
        );
        set_lane(r, site.access.ty, site.result, lane, old);
    }
    Ok(())
}

#[inline(never)]
pub(crate) fn shared(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    in_shared(machine, r, site, site.counter, mask, &offsets)
}

#[inline(never)]
pub(crate) fn global(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    in_global(machine, r, site, i.c as usize, mask, &addresses)
}

#[inline(never)]
pub(crate) fn local(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    in_local(machine, r, site, site.counter, mask, &offsets, local)
}

#[inline(never)]
pub(crate) fn generic(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (shared_lanes, local_lanes, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        in_global(machine, r, site, i.c as usize, elsewhere, &addresses)?;
    }
    if shared_lanes != 0 {
        in_shared(
            machine,
            r,
            site,
            site.counter + 1,
            shared_lanes,
            &narrowed(&addresses, SHARED_BASE),
        )?;
    }
    if local_lanes != 0 {
        in_local(
            machine,
            r,
            site,
            site.counter + 2,
            local_lanes,
            &narrowed(&addresses, LOCAL_BASE),
            local,
        )?;
    }
    Ok(())
}
