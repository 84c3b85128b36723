//! Skips invalid accesses in a launch that continues. Lanes with a valid access make it. The others load zeros and
//! store nothing.

use super::address::{addresses, narrowed, offsets, windows};
use super::element::set_lane;
use super::fault::Done;
use super::{atomic, generic, global, local, shared};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::isa::registers::View;
use crate::machine::SkippedLanes;
use crate::machine::warp::Warp;
use crate::machine::weak;
use crate::machine::{Fault, Machine};
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;

/// An access of a warp, lane by lane.
struct Attempt {
    /// Each lane's address, or offset in its space. A negative one is before the beginning.
    places: [u64; 32],
    /// The lanes that have not been served yet.
    left: u32,
    /// The lanes whose access is not allowed.
    bad: u32,
}

/// Executes the part of the warp's instruction that is allowed, after it faulted. Returns the lanes that were skipped.
#[cold]
pub(crate) fn skip<O: Observer>(
    machine: &mut Machine<'_, O>,
    warp: &mut Warp,
    fault: &Fault,
) -> SkippedLanes {
    let inst = &machine.code.insts[warp.pc as usize];
    let r = warp.registers.view();
    let site = &machine.code.sites[inst.c as usize];
    let Attempt { places, left, bad } = attempt(machine, warp, inst, site, fault);
    let good = left & !bad;
    if good != 0 {
        let done = match machine.observer.views().is_some() {
            true => weak::access(machine, r, good, inst, &mut warp.local),
            false => perform(machine, r, good, inst, &mut warp.local),
        };
        debug_assert!(done.is_ok(), "the lanes that are left are all allowed");
    }
    let bad = left & bad;
    load_zeros(r, site, bad, good);
    let first = places[fault.lane as usize & 31];
    let all = LaneMask(bad).lanes().map(|lane| places[lane]);
    let all = || all.clone().chain([first]);
    SkippedLanes {
        count: bad.count_ones(),
        first,
        lowest: all().min_by_key(|&place| place as i64).unwrap_or(first),
        highest: all().max_by_key(|&place| place as i64).unwrap_or(first),
    }
}

/// Which lanes an access has not served before its fault, and which of its lanes it may not serve.
fn attempt<O: Observer>(
    machine: &Machine<'_, O>,
    warp: &mut Warp,
    inst: &Inst,
    site: &MemSite,
    fault: &Fault,
) -> Attempt {
    let r = warp.registers.view();
    let (shared_bytes, local_bytes) = (machine.shared.len() as u64, warp.local.len() as u64 / 32);
    let shift = machine.shift;
    let in_window = |base, shift, size| {
        let offsets = offsets(r, inst, site, base);
        // The same variable of another call lies elsewhere.
        let place = |offset: u32| i64::from(offset.wrapping_sub(shift) as i32) as u64;
        Attempt {
            places: offsets.map(place),
            left: warp.mask,
            bad: outside(site, shift, warp.mask, &offsets, size),
        }
    };
    let refused =
        |lanes, addresses| global::refused(machine, site, inst.c as usize, lanes, addresses);
    match inst.op {
        Op::LoadShared | Op::StoreShared | Op::AtomicShared => {
            in_window(SHARED_BASE, 0, shared_bytes)
        }
        Op::LoadLocal | Op::StoreLocal | Op::AtomicLocal => {
            in_window(LOCAL_BASE, shift, local_bytes)
        }
        Op::LoadGlobal | Op::StoreGlobal | Op::AtomicGlobal => {
            let places = addresses(r, inst, site);
            Attempt {
                places,
                left: warp.mask,
                bad: refused(warp.mask, &places),
            }
        }
        Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric => {
            let places = addresses(r, inst, site);
            let (in_shared, in_local, elsewhere) = windows(&places, warp.mask);
            let bad = refused(elsewhere, &places)
                | outside(
                    site,
                    0,
                    in_shared,
                    &narrowed(&places, SHARED_BASE),
                    shared_bytes,
                )
                | outside(
                    site,
                    shift,
                    in_local,
                    &narrowed(&places, LOCAL_BASE),
                    local_bytes,
                );
            // Lanes are served space by space, in this order, so the spaces before the faulting one are done.
            let faulted = 1 << fault.lane;
            let served = match () {
                () if in_local & faulted != 0 => elsewhere | in_shared,
                () if in_shared & faulted != 0 => elsewhere,
                () => 0,
            };
            Attempt {
                places,
                left: warp.mask & !served,
                bad,
            }
        }
        _ => Attempt {
            places: [0; 32],
            left: warp.mask,
            bad: warp.mask,
        },
    }
}

/// The skipped lanes of a load get zeros.
fn load_zeros(r: View, site: &MemSite, skipped: u32, good: u32) {
    for &register in site.results() {
        // One value for all lanes comes from one address.
        if site.op == AccessOp::Load && site.uniform_values {
            if good == 0 {
                r.set_s(register, 0);
            }
            continue;
        }
        for lane in LaneMask(skipped) {
            set_lane(r, site.access.ty, register, lane, 0);
        }
    }
}

/// The lanes whose access leaves its bounds in shared or local memory, or is misaligned.
fn outside(site: &MemSite, shift: u32, mask: u32, offsets: &[u32; 32], size: u64) -> u32 {
    let mut lanes = 0;
    for lane in LaneMask(mask) {
        if !shared::is_inside(site, shift, offsets[lane], size) {
            lanes |= 1 << lane;
        }
    }
    lanes
}

/// Performs an access for some lanes, whatever it is.
pub(crate) fn perform<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    inst: &Inst,
    thread_local: &mut [u8],
) -> Done {
    match inst.op {
        Op::LoadShared => shared::any_shared::<false, O>(machine, r, mask, inst),
        Op::StoreShared => shared::any_shared::<true, O>(machine, r, mask, inst),
        Op::AtomicShared => atomic::shared(machine, r, mask, inst),
        Op::LoadGlobal => global::any_global::<false, O>(machine, r, mask, inst),
        Op::StoreGlobal => global::any_global::<true, O>(machine, r, mask, inst),
        Op::AtomicGlobal => atomic::global(machine, r, mask, inst),
        Op::LoadLocal => local::load_local(machine, r, mask, inst, thread_local),
        Op::StoreLocal => local::store_local(machine, r, mask, inst, thread_local),
        Op::AtomicLocal => atomic::local(machine, r, mask, inst, thread_local),
        Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric => {
            generic::generic(machine, r, mask, inst, thread_local)
        }
        op => unreachable!("{op:?} is no access"),
    }
}
