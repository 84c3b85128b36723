//! Accesses that wait while their warp goes on (`views/later`): the registers that they depend on, and the events
//! before which they must be done.
//!
//! A load has already run, and its result is in its register. Another value may replace it there until an instruction
//! uses it. Copies to other registers, such as variables, only add these to the waiting ones. An atomic has not run at
//! all, so its operands must stay unchanged.

use ir::AtomicOp;

use super::{How, Spot, atomic, spots};
use crate::isa::bytecode::{Class, Inst, Place as Register};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::isa::operands::{Effect, Wide, effect, registers};
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::address::{addresses, offsets};
use crate::machine::ops::fault::Done;
use crate::machine::ops::skip::perform;
use crate::machine::ops::{global, shared};
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;
use crate::views::Views;
use crate::views::later::{Later, What};

/// The most accesses of a warp that wait at a time.
pub(super) const MAX_WAITING: usize = 4;

/// Before an instruction: performs the accesses that must not wait any longer.
#[cold]
pub(crate) fn before<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let effect = effect(machine.code, i, mask);
    let due = match machine.observer.views() {
        Some(views) => views.take(|later| is_due(later, &effect)),
        None => return Ok(()),
    };
    finish(machine, r, due, local)
}

/// Performs all waiting accesses.
#[cold]
pub(crate) fn all<O: Observer>(machine: &mut Machine<'_, O>, r: View, local: &mut [u8]) -> Done {
    let due = machine.observer.views().map(|views| views.take(|_| true));
    finish(machine, r, due.unwrap_or_default(), local)
}

/// Before an access: performs those of the same thread to the same word.
pub(super) fn before_access<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    spots: &[Option<Spot>; 32],
    local: &mut [u8],
) -> Done {
    let Some(views) = machine.observer.views() else {
        return Ok(());
    };
    accesses(views, mask, spots);
    if !views.has_later() {
        return Ok(());
    }
    let goes_to = |lane: usize, place| {
        let spot: &Option<Spot> = &spots[lane];
        spot.is_some_and(|spot| (0..spot.words).any(|word| spot.place(word) == place))
    };
    let due = views.take(|later| {
        let mut parts = later.parts.iter();
        parts.any(|part| {
            let mut lanes = LaneMask(part.lanes & mask).lanes();
            lanes.any(|lane| goes_to(lane, part.place))
        })
    });
    finish(machine, r, due, local)
}

/// Lanes are about to access words that other threads' loads may be waiting for.
fn accesses(views: &mut Views, mask: u32, spots: &[Option<Spot>; 32]) {
    for lane in LaneMask(mask) {
        if let Some(spot) = &spots[lane] {
            (0..spot.words).for_each(|word| views.accesses(lane, spot.place(word)));
        }
    }
}

/// Whether an atomic waits instead of running now.
pub(super) fn puts_off<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    (spots, how): (&[Option<Spot>; 32], How),
) -> bool {
    let site = &machine.code.sites[i.c as usize];
    if matches!(site.atomic, Some((AtomicOp::Store, _))) {
        return false;
    }
    let first = mask.trailing_zeros() as usize & 31;
    let Some(place) = spots[first].map(|spot| spot.place(0)) else {
        return false;
    };
    // It must not fail later.
    let has_place = LaneMask(mask).lanes().all(|lane| spots[lane].is_some());
    let is_allowed = match i.op {
        Op::AtomicGlobal => {
            let addresses = addresses(r, i, site);
            global::refused(machine, site, i.c as usize, mask, &addresses) == 0
        }
        Op::AtomicShared => {
            let (offsets, size) = (
                offsets(r, i, site, SHARED_BASE),
                machine.shared.len() as u64,
            );
            let mut lanes = LaneMask(mask).lanes();
            lanes.all(|lane| shared::is_inside(site, 0, offsets[lane], size))
        }
        _ => false,
    };
    let insts = machine.code.insts.as_ptr();
    // SAFETY: the instruction is one of the code's.
    let pc = unsafe { std::ptr::from_ref(i).offset_from(insts) } as usize;
    let Some(views) = machine.observer.views() else {
        return false;
    };
    let Some(part) = views.puts_off(1 << first, place) else {
        return false;
    };
    if !has_place || !is_allowed || views.later_count() >= MAX_WAITING {
        return false;
    }
    let mut parts = Vec::new();
    for lane in LaneMask(mask) {
        if let Some(spot) = &spots[lane] {
            let places = (0..spot.words).map(|word| spot.place(word));
            parts.extend(places.map(|place| part.with(1 << lane, place)));
        }
    }
    let (reads, writes) = registers(site, i, mask);
    let what = What::Atomic {
        pc,
        needs: reads
            .iter()
            .flat_map(|&Wide(register, is_wide)| units(register, is_wide))
            .collect(),
        result: writes
            .first()
            .map(|&(Wide(register, is_wide), _)| (register, is_wide)),
    };
    views.put_off(mask, how, what, parts);
    true
}

/// The units of a register, each separately.
fn units(register: Register, is_wide: bool) -> impl Iterator<Item = Register> {
    let second = match register {
        Register::V(first) if is_wide => Some(Register::V(first + 1)),
        Register::V(_) | Register::S(_) => None,
    };
    [register].into_iter().chain(second)
}

/// Performs accesses that waited.
fn finish<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    due: Vec<Later>,
    local: &mut [u8],
) -> Done {
    for mut later in due {
        let Some(views) = machine.observer.views() else {
            return Ok(());
        };
        let is_load = matches!(later.what, What::Load { .. });
        let is_late = is_load && views.read(&mut later);
        match &later.what {
            What::Load {
                holds, is_uniform, ..
            } => {
                // A thread that has read an old value will eventually read another one.
                machine.pass.changed |= is_late;
                for part in &later.parts {
                    let Some(value) = part.value else {
                        continue;
                    };
                    for &(register, lanes) in holds {
                        let lanes = match is_uniform {
                            true => lanes,
                            false => lanes & part.lanes,
                        };
                        set(r, register, lanes, value);
                    }
                }
            }
            &What::Atomic { pc, result, .. } => {
                let i = &machine.code.insts[pc];
                let site = &machine.code.sites[i.c as usize];
                let is_wide = Class::of(site.access.ty.value_type()) == Class::W64;
                // The register for the result may hold another value by now.
                let kept: Vec<[u32; 32]> = units(Register::V(site.result), is_wide)
                    .filter_map(|unit| match unit {
                        Register::V(unit) => Some(*r.v32(unit)),
                        Register::S(_) => None,
                    })
                    .collect();
                let spots = spots(machine, r, i, site, later.mask);
                let how = later.how;
                if let Some(views) = machine.observer.views() {
                    accesses(views, later.mask, &spots);
                }
                perform(machine, r, later.mask, i, local)?;
                if let Some(views) = machine.observer.views() {
                    let is_old = atomic(views, r, (site, how), later.mask, &spots);
                    views.has_acted(&later);
                    machine.pass.changed |= is_old;
                }
                if result.is_none() {
                    for (unit, kept) in (site.result..).zip(kept) {
                        *r.v32_mut(unit) = kept;
                    }
                }
            }
        }
    }
    Ok(())
}

fn set(r: View, register: Register, lanes: u32, value: u32) {
    match register {
        Register::S(register) => r.set_s(register, value.into()),
        Register::V(register) => {
            let unit = r.v32_mut(register);
            LaneMask(lanes).lanes().for_each(|lane| unit[lane] = value);
        }
    }
}

/// Whether an access must be done before an instruction. If not, updates the registers that wait for it.
fn is_due(later: &mut Later, effect: &Effect) -> bool {
    let narrow = |register| Wide(register, false);
    match (&mut later.what, effect) {
        (_, Effect::Orders) | (What::Atomic { .. }, Effect::BlockFence) => true,
        (
            What::Load {
                is_behind_fence, ..
            },
            Effect::BlockFence,
        ) => {
            *is_behind_fence = true;
            false
        }
        (What::Load { holds, .. }, &Effect::Copies(from, to, lanes)) => {
            let mut held = holds.iter().filter(|(register, _)| *register == from);
            // A scalar register is the same for all lanes.
            let held = held.next().map_or(0, |(_, held)| held & lanes);
            overwrite(holds, narrow(to), lanes);
            match holds.iter_mut().find(|(register, _)| *register == to) {
                Some((_, known)) => *known |= held,
                None if held != 0 => holds.push((to, held)),
                None => {}
            }
            false
        }
        (What::Load { holds, .. }, Effect::Computes(reads, writes)) => {
            let is_used = holds
                .iter()
                .any(|&(register, _)| reads.iter().any(|read| read.overlaps(narrow(register))));
            if !is_used {
                for &(write, lanes) in writes {
                    overwrite(holds, write, lanes);
                }
            }
            is_used
        }
        (What::Atomic { needs, result, .. }, &Effect::Copies(from, to, lanes)) => {
            let (reads, writes) = ([narrow(from)], [(narrow(to), lanes)]);
            changes(needs, result, &reads, &writes)
        }
        (What::Atomic { needs, result, .. }, Effect::Computes(reads, writes)) => {
            changes(needs, result, reads, writes)
        }
    }
}

/// Registers that wait for a load get other values.
fn overwrite(holds: &mut Vec<(Register, u32)>, write: Wide, lanes: u32) {
    for (register, held) in holds.iter_mut() {
        if write.overlaps(Wide(*register, false)) {
            *held &= !lanes;
        }
    }
    holds.retain(|(_, held)| *held != 0);
}

/// Whether an instruction uses or changes registers of a waiting atomic.
fn changes(
    needs: &[Register],
    result: &mut Option<(Register, bool)>,
    reads: &[Wide],
    writes: &[(Wide, u32)],
) -> bool {
    let writes_it = |&need: &Register| {
        let mut writes = writes.iter();
        writes.any(|(write, _)| write.overlaps(Wide(need, false)))
    };
    if needs.iter().any(writes_it) {
        return true;
    }
    let Some((register, is_wide)) = *result else {
        return false;
    };
    let it = Wide(register, is_wide);
    if reads.iter().any(|read| read.overlaps(it)) {
        return true;
    }
    let mut writes = writes.iter().filter(|(write, _)| write.overlaps(it));
    match (writes.next(), writes.next()) {
        (None, _) => false,
        // The whole register gets a new value.
        (Some((Wide(write, covers), u32::MAX)), None)
            if *write == register && (*covers || !is_wide) =>
        {
            *result = None;
            false
        }
        (Some(_), _) => true,
    }
}
