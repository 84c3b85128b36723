//! Accesses with weak memory. Each access runs first in the usual way, on memory with the newest values, and is then
//! adjusted to the [`Views`] of the threads.
//!
//! A load may get an older value instead of the newest. A store that counts as an earlier one leaves memory unchanged.
//! The lanes of one instruction are separate threads. Loads and atomics may wait while their warp goes on ([`later`]).

pub(crate) mod later;
mod seeing;

use ir::{AtomicOp, FenceScope, LocId, MemType};

use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Inst, MemSite, Place as Register};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::address::{addresses, narrowed, offsets, windows};
use crate::machine::ops::atomic::left_by;
use crate::machine::ops::element::{lane_value, read, set_lane, write};
use crate::machine::ops::fault::Done;
use crate::machine::ops::skip::perform;
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;
use crate::views::later::{Part, What};
use crate::views::{How, Place, Views};
pub(crate) use seeing::Seeing;

/// Bytes of the widest access, in whole words.
const WIDEST: usize = 16;

/// The whole words of memory that a lane's access goes to.
#[derive(Clone, Copy)]
struct Spot {
    first: Place,
    /// The first word's bytes.
    bytes: *mut u8,
    words: usize,
    /// The offset of the access in them.
    begins: usize,
}

impl Spot {
    fn place(&self, word: usize) -> Place {
        let by = 4 * word as u64;
        match self.first {
            Place::Global(address) => Place::Global(address + by),
            Place::Shared(block, offset) => Place::Shared(block, offset + by as u32),
        }
    }

    fn word(&self, word: usize) -> u32 {
        // SAFETY: all of the words lie inside of the memory (`spot`).
        unsafe { self.bytes.add(4 * word).cast::<u32>().read_unaligned() }
    }

    fn set(&self, word: usize, value: u32) {
        // SAFETY: as above; the access that comes here stores there.
        unsafe {
            self.bytes
                .add(4 * word)
                .cast::<u32>()
                .write_unaligned(value)
        }
    }
}

/// The whole words around `width` bytes at `offset`, in `size` bytes of memory that begin at a multiple of 4.
fn spot(
    first: impl Fn(u64) -> Place,
    bytes: *mut u8,
    (offset, width, size): (u64, u64, u64),
) -> Option<Spot> {
    let (low, high) = (offset & !3, (offset + width).next_multiple_of(4));
    let is_inside = offset < size && high <= size;
    is_inside.then(|| Spot {
        first: first(low),
        // It is in bounds.
        bytes: bytes.wrapping_add(low as usize),
        words: ((high - low) / 4) as usize,
        begins: (offset - low) as usize,
    })
}

/// Where the lanes of an access go; `None` for lanes that do not go to whole words of global or shared memory.
fn spots<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    i: &Inst,
    site: &MemSite,
    mask: u32,
) -> [Option<Spot>; 32] {
    let mut spots = [None; 32];
    let block = machine.observer.views().map_or(0, |views| views.block());
    let width = u64::from(site.width_bytes);
    let (mut in_shared, mut elsewhere) = (mask, mask);
    let (mut global, mut shared) = ([0; 32], [0; 32]);
    match i.op {
        Op::LoadShared | Op::StoreShared | Op::AtomicShared => {
            shared = offsets(r, i, site, SHARED_BASE);
            elsewhere = 0;
        }
        Op::LoadGlobal | Op::StoreGlobal | Op::AtomicGlobal => {
            global = addresses(r, i, site);
            in_shared = 0;
        }
        Op::LoadGeneric | Op::StoreGeneric | Op::AtomicGeneric => {
            global = addresses(r, i, site);
            shared = narrowed(&global, SHARED_BASE);
            (in_shared, _, elsewhere) = windows(&global, mask);
        }
        op => unreachable!("{op:?} accesses no memory that others see"),
    }
    let (bytes, size) = (machine.shared.as_mut_ptr(), machine.shared.len() as u64);
    for lane in LaneMask(in_shared) {
        let first = |offset| Place::Shared(block, offset as u32);
        spots[lane] = spot(first, bytes, (shared[lane].into(), width, size));
    }
    for lane in LaneMask(elsewhere) {
        let address = global[lane];
        let region = machine.map.regions[machine.map.find(address) as usize];
        if region.holds(address, width) && region.base & 3 == 0 && address & (width - 1) == 0 {
            let first = |offset| Place::Global(region.base + offset);
            spots[lane] = spot(
                first,
                region.bytes,
                (address - region.base, width, region.size),
            );
        }
    }
    spots
}

/// Performs an access to memory of any space.
#[cold]
pub(crate) fn access<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let spots = spots(machine, r, i, site, mask);
    let how = how(machine.code, site);
    later::before_access(machine, r, mask, &spots, local)?;
    if site.op == AccessOp::Atomic && later::puts_off(machine, r, mask, i, (&spots, how)) {
        return Ok(());
    }
    if let Some(views) = machine.observer.views() {
        views.passes(how.at);
    }
    let is_store = matches!(site.atomic, Some((AtomicOp::Store, _)));
    match site.op {
        AccessOp::Load => {
            perform(machine, r, mask, i, local)?;
            let views = machine.observer.views();
            let is_late = views.is_some_and(|views| load(views, r, (site, how), mask, &spots));
            // A thread that has read an old value will eventually read another one.
            machine.pass.changed |= is_late;
        }
        AccessOp::Store | AccessOp::Atomic if is_store || site.op == AccessOp::Store => {
            let before = spots.map(|spot| spot.map(|spot| words(&spot)));
            perform(machine, r, mask, i, local)?;
            if let Some(views) = machine.observer.views() {
                store(views, r, (site, how), mask, (&spots, &before));
            }
        }
        AccessOp::Store | AccessOp::Atomic => {
            perform(machine, r, mask, i, local)?;
            if let Some(views) = machine.observer.views() {
                let is_old = atomic(views, r, (site, how), mask, &spots);
                machine.pass.changed |= is_old;
            }
        }
    }
    Ok(())
}

fn how(code: &Code, site: &MemSite) -> How {
    let strong = match (site.op, site.access.volatile) {
        (AccessOp::Atomic, _) if site.access.block_scope => Some(FenceScope::Block),
        (AccessOp::Atomic, _) => Some(FenceScope::Device),
        (AccessOp::Load | AccessOp::Store, true) => Some(FenceScope::System),
        (AccessOp::Load | AccessOp::Store, false) => None,
    };
    let at = code.counters.get(site.counter as usize);
    How {
        at: at.map_or(LocId::default(), |counter| counter.loc),
        strong,
    }
}

/// The words in memory there.
fn words(spot: &Spot) -> [u32; WIDEST / 4] {
    let mut words = [0; WIDEST / 4];
    for (k, word) in words.iter_mut().enumerate().take(spot.words) {
        *word = spot.word(k);
    }
    words
}

/// Words that are read or written together: two for a value of 8 bytes.
fn together(ty: MemType) -> usize {
    if ty.bytes() == 8 { 2 } else { 1 }
}

/// After a load: lanes may get older values. Returns whether one did.
fn load(
    views: &mut Views,
    r: View,
    (site, how): (&MemSite, How),
    mask: u32,
    spots: &[Option<Spot>; 32],
) -> bool {
    let mut is_late = false;
    let register = site.values[0];
    if site.uniform_values {
        let lane = mask.trailing_zeros() as usize & 31;
        if let Some(spot) = &spots[lane]
            && let Some(part) = waits(views, mask, spot, site)
        {
            put_off(views, mask, how, (Register::S(register), vec![part]));
            return false;
        }
        if let Some(spot) = &spots[lane]
            && let Some(bytes) = load_words(views, mask, spot, (site, how))
        {
            is_late = true;
            set_uniform(r, site, &bytes);
        }
        return is_late;
    }
    let mut parts = Vec::new();
    for lane in LaneMask(mask) {
        if let Some(spot) = &spots[lane]
            && let Some(part) = waits(views, 1 << lane, spot, site)
        {
            parts.push(part);
            continue;
        }
        if let Some(spot) = &spots[lane]
            && let Some(bytes) = load_words(views, 1 << lane, spot, (site, how))
        {
            is_late = true;
            for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
                set_lane(
                    r,
                    site.access.ty,
                    register,
                    lane,
                    component(site.access.ty, &bytes, k),
                );
            }
        }
    }
    if !parts.is_empty() {
        put_off(views, mask, how, (Register::V(register), parts));
    }
    is_late
}

/// Whether lanes delay a load.
fn waits(views: &mut Views, lanes: u32, spot: &Spot, site: &MemSite) -> Option<Part> {
    let is_word = site.access.ty.bytes() == 4 && site.access.count == 1 && spot.words == 1;
    let part = is_word.then(|| views.puts_off(lanes, spot.place(0)))??;
    (views.later_count() < later::MAX_WAITING).then_some(part)
}

fn put_off(views: &mut Views, mask: u32, how: How, (register, parts): (Register, Vec<Part>)) {
    let is_uniform = matches!(register, Register::S(_));
    let lanes = match is_uniform {
        true => u32::MAX,
        false => parts.iter().fold(0, |lanes, part| lanes | part.lanes),
    };
    let what = What::Load {
        holds: vec![(register, lanes)],
        is_uniform,
        is_behind_fence: false,
    };
    views.put_off(mask, how, what, parts);
}

/// What lanes read if it is not the newest value, from the access's first byte on.
fn load_words(
    views: &mut Views,
    lanes: u32,
    spot: &Spot,
    (site, how): (&MemSite, How),
) -> Option<[u8; WIDEST]> {
    let mut bytes = [0; WIDEST];
    let mut is_late = false;
    let step = together(site.access.ty);
    for k in (0..spot.words).step_by(step) {
        let mut read = [(spot.place(k), spot.word(k)), (spot.place(k), 0)];
        if step == 2 {
            read[1] = (spot.place(k + 1), spot.word(k + 1));
        }
        is_late |= views.load(lanes, &mut read[..step], how);
        for (at, (_, value)) in (k..).zip(&read[..step]) {
            bytes[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
    bytes.rotate_left(spot.begins);
    is_late.then_some(bytes)
}

/// A component of an element's bytes.
fn component(ty: MemType, bytes: &[u8; WIDEST], k: usize) -> u64 {
    let at = k * ty.bytes() as usize;
    // SAFETY: an access has at most 16 bytes.
    unsafe { read(ty, bytes[at..].as_ptr()) }
}

fn set_uniform(r: View, site: &MemSite, bytes: &[u8; WIDEST]) {
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        let bits = component(ty, bytes, k);
        let is_mask = Class::of(ty.value_type()) == Class::Mask;
        r.set_s(
            register,
            if is_mask {
                u64::from(0u32.wrapping_sub(bits as u32))
            } else {
                bits
            },
        );
    }
}

/// After a store, highest lane first, as memory was written; after an atomic store, lowest lane first.
fn store(
    views: &mut Views,
    r: View,
    (site, how): (&MemSite, How),
    mask: u32,
    (spots, before): (&[Option<Spot>; 32], &[Option<[u32; WIDEST / 4]>; 32]),
) {
    let ty = site.access.ty;
    // What memory holds before the next lane stores, if several store to one word.
    let mut now: Vec<(Place, u32)> = Vec::new();
    let lanes = (0..32).map(|k| match site.op {
        AccessOp::Atomic => k,
        AccessOp::Load | AccessOp::Store => 31 - k,
    });
    for lane in lanes.filter(|lane| mask >> lane & 1 == 1) {
        let (Some(spot), Some(before)) = (&spots[lane], &before[lane]) else {
            continue;
        };
        let mut bytes = [0; WIDEST];
        let mut old = [0; WIDEST / 4];
        for k in 0..spot.words {
            let known = now.iter().find(|(place, _)| *place == spot.place(k));
            old[k] = known.map_or(before[k], |(_, value)| *value);
            bytes[4 * k..4 * k + 4].copy_from_slice(&old[k].to_le_bytes());
        }
        for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
            let at = spot.begins + k * ty.bytes() as usize;
            // SAFETY: an access has at most 16 bytes, and lies in its words.
            unsafe {
                write(
                    ty,
                    bytes[at..].as_mut_ptr(),
                    lane_value(r, ty, register, lane),
                )
            };
        }
        for k in 0..spot.words {
            if k % together(ty) == 0 {
                views.tick();
            }
            let value = u32::from_le_bytes([
                bytes[4 * k],
                bytes[4 * k + 1],
                bytes[4 * k + 2],
                bytes[4 * k + 3],
            ]);
            let held = views.store(lane, spot.place(k), (old[k], value), ty.bytes() == 4, how);
            spot.set(k, held);
            match now.iter_mut().find(|(place, _)| *place == spot.place(k)) {
                Some((_, known)) => *known = held,
                None => now.push((spot.place(k), held)),
            }
        }
    }
}

/// After atomics, in the order in which lanes were served: each saw the result of the one before. Returns whether one
/// used an old value.
fn atomic(
    views: &mut Views,
    r: View,
    (site, how): (&MemSite, How),
    mask: u32,
    spots: &[Option<Spot>; 32],
) -> bool {
    let ty = site.access.ty;
    let words = |value: u64| [value as u32, (value >> 32) as u32];
    let mut is_old = false;
    for lane in LaneMask(mask) {
        let Some(spot) = &spots[lane] else {
            continue;
        };
        let mut others = LaneMask(mask).lanes().filter(|&other| {
            other != lane
                && spots[other]
                    .is_some_and(|other| other.first == spot.first && other.begins == spot.begins)
        });
        let is_alone = others.clone().next().is_none();
        let next = others.find(|&next| next > lane);
        if is_alone && ty.bytes() == 4 && spot.words == 1 {
            is_old |= atomic_of_word(views, r, (site, how), lane, spot);
            continue;
        }
        let old = lane_value(r, ty, site.result, lane);
        let new = match next {
            Some(next) => lane_value(r, ty, site.result, next),
            None if spot.words == 2 => u64::from(spot.word(0)) | u64::from(spot.word(1)) << 32,
            None => spot.word(0).into(),
        };
        // A failing compare-and-swap only reads.
        let stores = match site.atomic {
            Some((AtomicOp::Cas, compare)) => lane_value(r, ty, compare, lane) == old,
            _ => true,
        };
        views.tick();
        for (k, pair) in words(old)
            .into_iter()
            .zip(words(new))
            .enumerate()
            .take(spot.words)
        {
            views.atomic(lane, spot.place(k), pair, (stores, None), how);
        }
    }
    is_old
}

/// After a lane's atomic on a word that no other lane of the instruction accesses. It may use an older value, unless a
/// later one comes from a store that is atomic with respect to it. Memory then gets the result of that. Returns whether
/// it used one.
fn atomic_of_word(
    views: &mut Views,
    r: View,
    (site, how): (&MemSite, How),
    lane: usize,
    spot: &Spot,
) -> bool {
    let ty = site.access.ty;
    let before = lane_value(r, ty, site.result, lane) as u32;
    let found = views.finds(lane, spot.place(0), before, how);
    let old = found.map_or(before, |(_, old)| old);
    let is_shared = matches!(spot.first, Place::Shared(..));
    let (new, stores) = left_by(r, site, lane, old.into(), is_shared);
    if found.is_some() {
        set_lane(r, ty, site.result, lane, old.into());
        // An atomic that stores nothing leaves the previous value.
        spot.set(0, if stores { new as u32 } else { before });
    }
    let index = found.map(|(index, _)| index);
    views.tick();
    views.atomic(
        lane,
        spot.place(0),
        (before, spot.word(0)),
        (stores, index),
        how,
    );
    found.is_some()
}
