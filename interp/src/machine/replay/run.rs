//! Runs a block from a list.

#![allow(
    clippy::inline_always,
    reason = "the loop must be compiled with the features of each kind of CPU"
)]

use ir::{Type, bfloat16, eval, half};

use super::{EntryOrigin, List, Window};
use crate::isa::bytecode::Inst;
use crate::isa::op::{Op, jump_ops, lane_arms, lane_ops};
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::dispatch::{dispatch, dispatch_scalars};
use crate::machine::level::Level;
use crate::machine::ops::element::{
    blend_out, check_loaded, check_stored, gather, load_like, load_quickly, scatter, store_like,
    store_quickly,
};
use crate::machine::ops::{convert, float, global, int, lanes, overflow};
use crate::machine::vectors::Vectors;
use crate::memory::bytes::refill;
use crate::observe::Observer;

/// Runs a block from a list, with its shared memory. Returns `false` if the block does not follow the list; then
/// nothing has happened.
pub(crate) type Replayer<O> = fn(&mut Machine<'_, O>, &mut List, &mut [u8], u64) -> bool;

/// Whether a comparing jump is taken.
pub(super) fn holds(r: View, i: &Inst) -> bool {
    let compare = i.op.compares().expect("a jump that compares");
    let word = |register| r.s(register) & 0xffff_ffff;
    eval::compare(compare, Type::I32, word(i.a), word(i.c))
}

impl List {
    /// Undoes the counting of requests that matched their patterns.
    #[cold]
    fn take_back(&mut self, tested: usize) {
        for reach in &self.reaches[..tested] {
            self.patterns[reach.pattern as usize]
                .1
                .take_back(reach.mask);
        }
    }
}

/// Shows the observer an operation whose operands may be invalid, in the turn of its warp.
#[cold]
#[inline(never)]
fn see_wrong<O: Observer>(machine: &mut Machine<'_, O>, r: View, inst: &Inst, whence: EntryOrigin) {
    machine
        .observer
        .begin_warp(whence.warp, whence.place as usize);
    machine
        .observer
        .before(r, inst, whence.mask, whence.pc as usize);
}

/// # Safety
/// This must never be called.
#[inline(always)]
unsafe fn unreachable() -> ! {
    debug_assert!(false, "no list has this instruction");
    // SAFETY: guaranteed by the caller.
    unsafe { std::hint::unreachable_unchecked() }
}

/// A [`Replayer`].
#[inline(always)]
pub(crate) fn run<L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    list: &mut List,
    shared: &mut [u8],
    index: u64,
) -> bool {
    let r = list.registers.view();
    for (at, number) in (0..).zip(machine.shape.block_index(index)) {
        r.set_s(at, number.into());
    }
    r.set_s(3, machine.shape.multiprocessor(index).into());
    let (code, insts) = (machine.code, list.insts.as_ptr());
    let memory = std::ptr::slice_from_raw_parts_mut(shared.as_mut_ptr(), shared.len());
    let (mut at, mut has_begun) = (0, false);
    let mut tested = 0;
    loop {
        // SAFETY: the last instruction of a list is `ReplayEnd`.
        let inst: &Inst = unsafe { &*insts.add(at) };
        at += 1;
        /// The block does not follow the list.
        macro_rules! depart {
            () => {{
                list.take_back(tested);
                return false;
            }};
        }
        /// Shows the observer an operation whose operands can be invalid. Before the block has begun, the block leaves
        /// the list instead.
        macro_rules! risk {
            ($op:ident) => {
                if const { O::SEES_REPEATS && O::RISKY[Op::$op as usize] } {
                    let is_wrong = match const { overflow::is_tested(Op::$op) } {
                        true => overflow::may(Op::$op, r, inst),
                        false => {
                            let EntryOrigin { pc, mask, .. } = list.whence[at - 1];
                            machine.observer.risks(pc as usize)
                                && overflow::has_bad_operand(Op::$op, r, inst, mask)
                        }
                    };
                    if is_wrong && !has_begun {
                        depart!();
                    }
                    if is_wrong {
                        see_wrong(machine, r, inst, list.whence[at - 1]);
                    }
                }
            };
        }
        /// In a list, a comparison has no fused `If` after it.
        macro_rules! alone {
            ($inst:ident) => {{}};
        }
        /// A comparing jump must go the same way as in the recorded block.
        macro_rules! goes {
            ($inst:ident, $f:path) => {
                if lanes::s_holds(r, $inst, $f) != ($inst.b != 0) {
                    depart!();
                }
            };
        }
        /// The planner puts no end of a loop into a list.
        macro_rules! loops {
            ($inst:ident, $f:path) => {
                // SAFETY: as above.
                unsafe { unreachable() }
            };
        }
        lane_ops! { lane_arms! { jump_ops! { dispatch! { inst, r, code, inst.c, L, [risk, alone, goes, loops], {
            Op::VFmaInto32 => L::Vectors::fma_into32(r, inst),
            Op::ReplayMask => {
                if r.mask(inst.a) & inst.c != inst.b {
                    depart!();
                }
            }
            Op::ReplayTest => {
                // SAFETY: the list has a row for each request that an instruction names, and a pattern that the row names.
                let reach = unsafe { list.reaches.get_unchecked_mut(inst.a as usize) };
                let (_, pattern) = unsafe { list.patterns.get_unchecked_mut(reach.pattern as usize) };
                let site = &reach.site;
                let Some(first) = pattern.hit_global::<L::Vectors>(r, &reach.inst, site, reach.mask) else {
                    depart!();
                };
                tested += 1;
                reach.lowest = first - pattern.below;
                if O::SEES_REPEATS && inst.b != 0 {
                    let region = &machine.map.regions[pattern.region as usize];
                    let bytes = u64::from(pattern.extent) + u64::from(site.width_bytes);
                    let offset = reach.lowest - region.base;
                    if !machine.observer.is_written(pattern.region, offset, bytes) {
                        depart!();
                    }
                }
            }
            Op::ReplayBegin => {
                if !list.is_witnessed {
                    list.is_witnessed = true;
                    depart!();
                }
                has_begun = true;
                machine.block = index;
                machine.observer.begin_replayed(index);
                // SAFETY: no other reference to it exists.
                refill(unsafe { &mut *memory }, 0);
            }
            Op::ReplayTurn => machine.observer.begin_warp(inst.a, inst.b as usize),
            Op::ReplayBarrier => machine.observer.barrier(),
            Op::ReplayLoad => {
                // SAFETY: as in `ReplayTest`, which has found all lanes inside of the region.
                unsafe {
                    let reach = list.reaches.get_unchecked(inst.a as usize);
                    let (_, pattern) = list.patterns.get_unchecked_mut(reach.pattern as usize);
                    let (i, site) = (&reach.inst, &reach.site);
                    global::found::<false, L, O>(machine, r, (i, site, pattern), reach.mask, (reach.lowest, inst.b != 0));
                }
            }
            Op::ReplayStore => {
                // SAFETY: as `ReplayLoad`; the region was found writable.
                unsafe {
                    let reach = list.reaches.get_unchecked(inst.a as usize);
                    let (_, pattern) = list.patterns.get_unchecked_mut(reach.pattern as usize);
                    let (i, site) = (&reach.inst, &reach.site);
                    global::found::<true, L, O>(machine, r, (i, site, pattern), reach.mask, (reach.lowest, inst.b != 0));
                }
            }
            // SAFETY: all lanes were found inside when the list was made, of a block with the same shared memory.
            Op::ReplayLoadRun => unsafe {
                let from = memory.cast::<u8>().add(inst.b as usize);
                *r.v32_mut(inst.d) = from.cast::<[u32; 32]>().read_unaligned();
            },
            // SAFETY: as above.
            Op::ReplayLoadFew => unsafe {
                let from = memory.cast::<u8>().add(inst.b as usize);
                L::Vectors::first_lanes(from, inst.c, r.v32_mut(inst.d));
            },
            // SAFETY: as above.
            Op::ReplayStoreRun => unsafe {
                let to = memory.cast::<u8>().add(inst.b as usize);
                to.cast::<[u32; 32]>().write_unaligned(*r.v32(inst.a));
            },
            // SAFETY: as above.
            Op::ReplayStoreSome => unsafe {
                blend_out(r.v32(inst.a), inst.c, memory.cast::<u8>().add(inst.b as usize));
            },
            // SAFETY: as above.
            Op::ReplayLoadWindow => unsafe {
                load_window::<L>(list, r, &list.windows[inst.a as usize], memory);
            },
            // SAFETY: as above.
            Op::ReplayStoreWindow => unsafe {
                store_window(list, r, &list.windows[inst.a as usize], memory);
            },
            Op::ReplayEnd => {
                machine.observer.end_block();
                return true;
            }
            Op::Clock | Op::Clock64 | Op::ActiveMask | Op::Shuffle | Op::Exchange | Op::Jump | Op::JumpIfNot | Op::JumpIf | Op::Tick | Op::If | Op::Guard
            | Op::Else | Op::Join | Op::Clear | Op::Park | Op::ParkIf | Op::ParkIfNot | Op::ExitIf | Op::ExitIfNot | Op::Loop | Op::Rounds
            | Op::Exit | Op::End | Op::LoadShared | Op::StoreShared | Op::AtomicShared | Op::LoadGlobal | Op::StoreGlobal | Op::AtomicGlobal
            | Op::LoadLocal | Op::StoreLocal | Op::AtomicLocal | Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric | Op::Tally | Op::Barrier
            | Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr | Op::NumberedBarrier | Op::SyncWarp | Op::Fence | Op::Print | Op::LaunchChild
            | Op::HeapMalloc | Op::HeapFree | Op::Assert | Op::Trap | Op::Lifetime | Op::CallRoutine | Op::EndRoutine | Op::HostLocal | Op::HostNonZero
            | Op::HostReads | Op::HostAssigns | Op::HostLoad | Op::HostStore | Op::HostAtomic | Op::Call | Op::HostCall | Op::Launch | Op::Return => {
                // SAFETY: the planner never puts these into a list.
                unsafe { unreachable() }
            }
        } } } } }
    }
}

/// Loads from shared memory, in any layout.
///
/// # Safety
/// All active lanes must be inside of `memory`; with a layout, all 32.
#[inline(always)]
unsafe fn load_window<L: Level>(list: &List, r: View, window: &Window, memory: *const [u8]) {
    let (site, mask) = (&window.site, window.mask);
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let Some(layout) = window.layout else {
            let at = |l: usize| memory.cast::<u8>().add(window.offsets[l] as usize);
            return gather(r, site, mask, at);
        };
        let (layout, lowest) = (&list.layouts[layout as usize], window.lowest as usize);
        if !load_quickly::<L::Vectors>(r, site, layout, memory, lowest) {
            load_like::<L::Vectors>(r, site, layout, mask, memory, lowest);
        }
        check_loaded(r, site, layout, mask, memory.cast::<u8>().add(lowest));
    }
}

/// Stores to shared memory, in any layout.
///
/// # Safety
/// As for [`load_window`].
#[inline(always)]
unsafe fn store_window(list: &List, r: View, window: &Window, memory: *mut [u8]) {
    let (site, mask) = (&window.site, window.mask);
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let Some(layout) = window.layout else {
            let at = |l: usize| memory.cast::<u8>().add(window.offsets[l] as usize);
            scatter(r, site, mask, at);
            return;
        };
        let layout = &list.layouts[layout as usize];
        let to = memory.cast::<u8>().add(window.lowest as usize);
        if !store_quickly(r, site, layout, mask, to) {
            store_like(r, site, layout, mask, to, false);
        }
        check_stored(r, site, layout, mask, to);
    }
}
