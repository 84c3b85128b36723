//! An access that is not allowed, where the launch goes on: lanes that may do it, do; the others load zeros and store nothing.

use super::address::{addresses, narrowed, offsets, windows};
use super::element::set_lane;
use super::fault::Done;
use super::{atomic, generic, global, local, shared};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Inst, MemSite, Op};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::SkippedLanes;
use crate::machine::{Fault, Machine, Warp};
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;

/// Does what of the warp's instruction can be done after it faulted. Gives the lanes that were skipped.
#[cold]
pub(crate) fn skip<O: Observer>(
    machine: &mut Machine<'_, O>,
    warp: &mut Warp,
    fault: &Fault,
) -> SkippedLanes {
    let inst = &machine.code.insts[warp.pc as usize];
    let r = warp.registers.view();
    let site = &machine.code.sites[inst.c as usize];
    let sizes = (machine.shared.len() as u64, warp.local.len() as u64 / 32);
    // Signed, so that what lies before the beginning is low.
    let wide = |offsets: &[u32; 32]| offsets.map(|offset| i64::from(offset as i32) as u64);
    let mut places = [0; 32];
    let (left, bad) = match inst.op {
        Op::LoadShared | Op::StoreShared | Op::AtomicShared => {
            let offsets = offsets(r, inst, site, SHARED_BASE);
            places = wide(&offsets);
            (warp.mask, outside(site, warp.mask, &offsets, sizes.0))
        }
        Op::LoadLocal | Op::StoreLocal | Op::AtomicLocal => {
            let offsets = offsets(r, inst, site, LOCAL_BASE);
            places = wide(&offsets);
            (warp.mask, outside(site, warp.mask, &offsets, sizes.1))
        }
        Op::LoadGlobal | Op::StoreGlobal | Op::AtomicGlobal => {
            let addresses = addresses(r, inst, site);
            places = addresses;
            let bad = global::refused(machine, site, inst.c as usize, warp.mask, &addresses);
            (warp.mask, bad)
        }
        Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric => {
            let addresses = addresses(r, inst, site);
            places = addresses;
            let (in_shared, in_local, elsewhere) = windows(&addresses, warp.mask);
            let bad = global::refused(machine, site, inst.c as usize, elsewhere, &addresses)
                | outside(site, in_shared, &narrowed(&addresses, SHARED_BASE), sizes.0)
                | outside(site, in_local, &narrowed(&addresses, LOCAL_BASE), sizes.1);
            // Lanes are served space by space, in this order: those before the space that faulted have been.
            let faulted = 1 << fault.lane;
            let served = match () {
                () if in_local & faulted != 0 => elsewhere | in_shared,
                () if in_shared & faulted != 0 => elsewhere,
                () => 0,
            };
            (warp.mask & !served, bad)
        }
        _ => (warp.mask, warp.mask),
    };
    let good = left & !bad;
    if good != 0 {
        let done = again(machine, r, good, inst, &mut warp.local);
        debug_assert!(done.is_ok(), "the lanes that are left are all allowed");
    }
    let bad = left & bad;
    let registers = match site.op {
        AccessOp::Load => &site.values[..site.access.count as usize],
        AccessOp::Atomic => &[site.result],
        AccessOp::Store => &[],
    };
    for &register in registers {
        // One value for all lanes comes from one address.
        if site.op == AccessOp::Load && site.uniform_values {
            if good == 0 {
                r.set_s(register, 0);
            }
            continue;
        }
        for lane in LaneMask(bad) {
            set_lane(r, site.access.ty, register, lane, 0);
        }
    }
    let mut skipped = SkippedLanes {
        count: bad.count_ones(),
        first: places[fault.lane as usize & 31],
        lowest: places[fault.lane as usize & 31],
        highest: places[fault.lane as usize & 31],
    };
    for lane in LaneMask(bad) {
        if (places[lane] as i64) < skipped.lowest as i64 {
            skipped.lowest = places[lane];
        }
        if (places[lane] as i64) > skipped.highest as i64 {
            skipped.highest = places[lane];
        }
    }
    skipped
}

/// The lanes whose access leaves its bounds in shared or local memory, or is misaligned.
fn outside(site: &MemSite, mask: u32, offsets: &[u32; 32], size: u64) -> u32 {
    let mut lanes = 0;
    for lane in LaneMask(mask) {
        if !shared::is_inside(site, offsets[lane], size) {
            lanes |= 1 << lane;
        }
    }
    lanes
}

/// The instruction for some lanes.
fn again<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    inst: &Inst,
    thread_local: &mut [u8],
) -> Done {
    match inst.op {
        Op::LoadShared => shared::any_load_shared(machine, r, mask, inst),
        Op::StoreShared => shared::any_store_shared(machine, r, mask, inst),
        Op::AtomicShared => atomic::shared(machine, r, mask, inst),
        Op::LoadGlobal => global::any_load_global(machine, r, mask, inst),
        Op::StoreGlobal => global::any_store_global(machine, r, mask, inst),
        Op::AtomicGlobal => atomic::global(machine, r, mask, inst),
        Op::LoadLocal => local::load_local(machine, r, mask, inst, thread_local),
        Op::StoreLocal => local::store_local(machine, r, mask, inst, thread_local),
        Op::AtomicLocal => atomic::local(machine, r, mask, inst, thread_local),
        Op::LoadGeneric => generic::load_generic(machine, r, mask, inst, thread_local),
        Op::StoreGeneric => generic::store_generic(machine, r, mask, inst, thread_local),
        Op::AtomicGeneric => atomic::generic(machine, r, mask, inst, thread_local),
        _ => Ok(()),
    }
}
