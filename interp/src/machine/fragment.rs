//! Lanes of one warp that run separately: independent thread scheduling, since sm_70.
//!
//! A warp runs in lockstep as long as that makes progress. If lanes wait for others of their own warp, the warp splits:
//! the active lanes are one fragment, and all that wait at a place of reconvergence are another. A fragment is a
//! [`Warp`] with fewer lanes, separate registers and a separate place. The engine does not distinguish it from a whole
//! warp. Fragments that arrive at the same place where lanes synchronise are joined.
//!
//! Registers that hold one value for the whole warp may differ between two fragments, because each loads memory at a
//! different time. Such fragments stay separate. Both go on, and only a few instructions are counted twice.
//!
//! A warp inside a routine does not split.

use crate::fault::trap::{MaskFault, TrapKind};
use crate::isa::bytecode::{Code, Place, Waitplace};
use crate::isa::mask::LaneMask;
use crate::isa::op::Op;
use crate::machine::ops::exchange::{Lanes, all_named, named};
use crate::machine::ops::together::{self, Party};
use crate::machine::warp::{Warp, WarpState};
use crate::machine::{Fault, Machine};
use crate::observe::Observer;

/// Lanes wait for others that will not come.
pub(crate) enum Stranded {
    /// At an exchange, which is impossible without them.
    Fault { warp: usize, fault: Box<Fault> },
    /// At a `__syncwarp`.
    Deadlock,
}

/// Takes the waiting lanes out of a warp whose active lanes cannot go on without them; `None` if no lane waits.
fn part(warp: &mut Warp, code: &Code) -> Option<Warp> {
    let alive = warp.lanes & !warp.gone;
    if alive & !warp.mask == 0 || warp.stack.outermost_call().is_some() {
        return None;
    }
    let places = || places(code, warp.pc);
    let waits = |wait: &&Waitplace| warp.registers.s[wait.save as usize] as u32 & alive != 0;
    let innermost = places()
        .filter(waits)
        .min_by_key(|wait| wait.end - wait.start)?;
    let pc = innermost.resume(warp.pc);
    let saves: Vec<u32> = places().map(|wait| wait.save).collect();
    let others = Warp {
        pc,
        mask: 0,
        gone: warp.gone,
        ..copy(warp, warp.lanes & !warp.mask)
    };
    for save in saves {
        warp.registers.s[save as usize] = 0;
    }
    (warp.lanes, warp.gone) = (warp.mask, 0);
    warp.rounds = None;
    Some(others)
}

/// A copy of a warp with some of its lanes, ready to run from the same place.
fn copy(warp: &Warp, lanes: u32) -> Warp {
    Warp {
        registers: warp.registers.clone(),
        local: warp.local.clone(),
        stack: warp.stack.clone(),
        mask: lanes,
        lanes,
        gone: 0,
        state: WarpState::Ready,
        idle: 0,
        // Used only for whole warps.
        known_idle: Vec::new(),
        vote: None,
        rounds: None,
        ..*warp
    }
}

/// The statements around a place in which lanes may wait. Before a statement's first instruction has run, its register
/// is uninitialised.
fn places(code: &Code, pc: u32) -> impl Iterator<Item = &Waitplace> {
    code.waits
        .iter()
        .filter(move |wait| (wait.start + 1..wait.end).contains(&pc))
}

/// Adds the lanes of a fragment to another one of the same warp, if both are at the same place, which is at or after
/// the synchronisation `sync`, and all their common state is equal.
fn join(warp: &mut Warp, other: &mut Warp, code: &Code, sync: u32) -> bool {
    let Some(meet) = code.meets.get(&sync) else {
        return false;
    };
    let (ours, theirs) = (&warp.registers.s, &other.registers.s);
    let saves: Vec<u32> = places(code, warp.pc).map(|wait| wait.save).collect();
    let is_save = |register: &u32| saves.contains(register);
    let mut scalars = meet.scalars.iter().filter(|register| !is_save(register));
    let equal = |&register: &u32| ours[register as usize] == theirs[register as usize];
    let together = warp.number == other.number && warp.pc == other.pc && warp.state == other.state;
    let in_routine = [&*warp, &*other].map(|warp| warp.stack.outermost_call().is_some());
    if !together || in_routine != [false; 2] || !scalars.all(equal) {
        return false;
    }
    let lanes = other.lanes;
    let waits = u64::from(lanes);
    for &register in meet.masks.iter().chain(&saves) {
        let (ours, theirs) = (&mut warp.registers.s, &other.registers.s);
        let (ours, theirs) = (&mut ours[register as usize], theirs[register as usize]);
        *ours = *ours & !waits | theirs & waits;
    }
    let chosen = |lane: usize| lanes >> lane & 1 == 1;
    let mut blend = |unit: u32, word_lanes: &dyn Fn(usize) -> usize| {
        let (ours, theirs) = (&mut warp.registers.v, &other.registers.v);
        let (ours, theirs) = (&mut ours[unit as usize].0, &theirs[unit as usize].0);
        for word in (0..32).filter(|&word| chosen(word_lanes(word))) {
            ours[word] = theirs[word];
        }
    };
    for &unit in &meet.narrow {
        blend(unit, &|word| word);
    }
    for &first in &meet.wide {
        blend(first, &|word| word / 2);
        blend(first + 1, &|word| 16 + word / 2);
    }
    for (at, (ours, theirs)) in warp.local.iter_mut().zip(&other.local).enumerate() {
        if chosen(at / 4 % 32) {
            *ours = *theirs;
        }
    }
    warp.lanes |= lanes;
    warp.mask |= other.mask;
    warp.gone |= other.gone;
    if let (Some((_, ours, _)), Some((_, theirs, _))) = (&mut warp.vote, other.vote) {
        *ours |= theirs;
    }
    (other.lanes, other.mask, other.gone) = (0, 0, 0);
    other.state = WarpState::Done;
    true
}

/// Takes the waiting lanes out of the warp at a place in the block's list, as a separate fragment. Returns its place,
/// if there were any.
pub(crate) fn part_at<O: Observer>(
    warps: &mut Vec<Warp>,
    place: usize,
    machine: &mut Machine<'_, O>,
) -> Option<usize> {
    let others = part(&mut warps[place], machine.code)?;
    Some(add(warps, place, others, machine))
}

/// Separates some of the active lanes from the warp at a place. Returns their place.
pub(crate) fn split_at<O: Observer>(
    warps: &mut Vec<Warp>,
    place: usize,
    lanes: u32,
    machine: &mut Machine<'_, O>,
) -> Option<usize> {
    let code = machine.code;
    let warp = &mut warps[place];
    let lanes = lanes & warp.mask;
    if lanes == 0 || lanes == warp.mask || warp.stack.outermost_call().is_some() {
        return None;
    }
    let mut others = copy(warp, lanes);
    for wait in places(code, warp.pc) {
        others.registers.s[wait.save as usize] = 0;
    }
    warp.lanes &= !lanes;
    warp.mask &= !lanes;
    warp.rounds = None;
    Some(add(warps, place, others, machine))
}

/// Puts a fragment of the warp at `place` into the block's list.
fn add<O: Observer>(
    warps: &mut Vec<Warp>,
    place: usize,
    others: Warp,
    machine: &mut Machine<'_, O>,
) -> usize {
    // A fragment that has been joined to another leaves a free place.
    let free = warps.iter().position(|warp| warp.lanes == 0);
    let to = free.unwrap_or(warps.len());
    match free {
        Some(free) => warps[free] = others,
        None => warps.push(others),
    }
    machine.observer.part(place, to);
    to
}

/// Lanes of the same warp that run separately from those at a place in the block's list and have not ended.
pub(crate) fn apart(warps: &[Warp], place: usize) -> u32 {
    let number = warps[place].number;
    let others = warps.iter().enumerate();
    others
        .filter(|(other, warp)| *other != place && warp.number == number)
        .fold(0, |all, (_, warp)| all | warp.lanes & !warp.gone)
}

/// Whether the only reason for a fault is that lanes which an exchange names have not arrived yet.
pub(crate) fn waits_for_lanes<O>(fault: &Fault, machine: &Machine<'_, O>) -> bool {
    let TrapKind::InvalidMask { fault, .. } = &fault.kind else {
        return false;
    };
    machine.policy.independent_lanes && matches!(fault, MaskFault::Elsewhere { .. })
}

/// The active lanes of a warp start to wait at a `__syncwarp` or an exchange.
pub(crate) fn wait<O: Observer>(warps: &mut Vec<Warp>, place: usize, machine: &mut Machine<'_, O>) {
    part_at(warps, place, machine);
    let awaited = apart(warps, place);
    let warp = &mut warps[place];
    (warp.state, warp.awaited) = (WarpState::AtSync, awaited);
}

/// The masks that the lanes of a waiting fragment name.
fn masks(warp: &mut Warp, code: &Code) -> [u32; 32] {
    let inst = &code.insts[warp.pc as usize];
    let view = warp.registers.view();
    if inst.op == Op::SyncWarp {
        return named(view, inst);
    }
    match code.exchanges[inst.a as usize].mask {
        Some(Place::S(register)) => [view.mask(register); 32],
        Some(Place::V(register)) => *view.v32(register),
        None => [0; 32],
    }
}

fn is_at_syncwarp(warp: &Warp, code: &Code) -> bool {
    code.insts[warp.pc as usize].op == Op::SyncWarp
}

/// Releases waiting lanes whose partners have all arrived. Returns whether there were any.
pub(crate) fn release<O: Observer>(warps: &mut [Warp], machine: &mut Machine<'_, O>) -> bool {
    let mut any = false;
    for place in 0..warps.len() {
        if warps[place].state == WarpState::AtSync {
            gather(warps, place, machine);
            any |= match is_at_syncwarp(&warps[place], machine.code) {
                true => release_syncwarp(warps, place, machine),
                false => {
                    release_exchange(warps, place, machine.code)
                        || exchange_apart(warps, place, machine)
                }
            };
        }
    }
    any
}

/// Joins other fragments that wait at the same place to a waiting fragment.
fn gather<O: Observer>(warps: &mut [Warp], place: usize, machine: &mut Machine<'_, O>) {
    for other in place + 1..warps.len() {
        let sync = warps[place].pc;
        join_at(warps, place, other, sync, machine);
    }
}

/// Joins the fragment at the second place to the one at the first.
fn join_at<O: Observer>(
    warps: &mut [Warp],
    place: usize,
    other: usize,
    sync: u32,
    machine: &mut Machine<'_, O>,
) {
    let (before, behind) = warps.split_at_mut(other);
    let lanes = behind[0].lanes;
    if lanes != 0 && join(&mut before[place], &mut behind[0], machine.code, sync) {
        machine.observer.join(place, other, lanes);
    }
}

/// An exchange goes on when all lanes that it names are here. It then checks its masks again.
fn release_exchange(warps: &mut [Warp], place: usize, code: &Code) -> bool {
    let elsewhere = apart(warps, place);
    let warp = &mut warps[place];
    let named = all_named(&masks(warp, code), warp.mask);
    // Lanes that ended without arriving are still named. The exchange reports that, or continues if it allows lanes
    // that have ended.
    let here = named & elsewhere == 0 && named & warp.awaited & !warp.mask == 0;
    if here {
        warp.state = WarpState::Ready;
    }
    here
}

/// Performs an exchange when all lanes that it names have arrived at one of the same kind, at any place. Returns
/// whether it did.
fn exchange_apart<O: Observer>(
    warps: &mut [Warp],
    place: usize,
    machine: &mut Machine<'_, O>,
) -> bool {
    let code = machine.code;
    let row = |warp: &Warp| code.exchanges[code.insts[warp.pc as usize].a as usize];
    let (number, kind) = (warps[place].number, row(&warps[place]).kind);
    let waits = |warp: &Warp| {
        let here = warp.number == number && warp.state == WarpState::AtSync;
        here && !is_at_syncwarp(warp, code) && row(warp).kind == kind
    };
    let alive = apart(warps, place) | warps[place].lanes & !warps[place].gone;
    let Some((together, named, awaited)) = wait_together(warps, place, alive, code, waits) else {
        return false;
    };
    if named & awaited & !together != 0 {
        return false;
    }
    let among = |warp: &Warp| waits(warp) && warp.mask & together != 0;
    let parties: Vec<Party> = warps
        .iter_mut()
        .filter(|warp| among(warp))
        .map(|warp| Party {
            row: row(warp),
            active: warp.mask,
            registers: warp.registers.view(),
        })
        .collect();
    let lanes = Lanes {
        active: together,
        alive,
        loc: code.locs[warps[place].pc as usize],
    };
    machine.observer.begin_warp(number, place);
    let Ok(strays) = together::exchange(&mut machine.observer, &parties, lanes) else {
        return false;
    };
    for (at, warp) in warps.iter_mut().enumerate() {
        if !among(warp) {
            continue;
        }
        let strays = strays & warp.mask;
        if strays != 0 {
            let loc = code.locs[warp.pc as usize];
            machine.observer.begin_warp(number, at);
            machine
                .observer
                .stray_shuffle(strays, row(warp).results[0], loc);
        }
        warp.pc += 1;
        warp.state = WarpState::Ready;
    }
    true
}

/// The lanes that wait for each other, starting with those at a place, if all have arrived: these, all that they name,
/// and those that ran separately when they began to wait.
fn wait_together(
    warps: &mut [Warp],
    place: usize,
    alive: u32,
    code: &Code,
    waits: impl Fn(&Warp) -> bool,
) -> Option<(u32, u32, u32)> {
    let (mut together, mut all, mut awaited) = (warps[place].mask, 0, 0);
    loop {
        let before = together;
        let mut come = 0;
        for warp in warps.iter_mut().filter(|warp| waits(warp)) {
            come |= warp.mask;
            if warp.mask & before != 0 {
                let names = all_named(&masks(warp, code), warp.mask);
                together |= warp.mask | names & alive;
                (all, awaited) = (all | names, awaited | warp.awaited);
            }
        }
        if together & !come != 0 {
            return None;
        }
        if together == before {
            return Some((together, all, awaited));
        }
    }
}

/// Opens a `__syncwarp` when all lanes that it names have arrived at this one or another.
fn release_syncwarp<O: Observer>(
    warps: &mut [Warp],
    place: usize,
    machine: &mut Machine<'_, O>,
) -> bool {
    let code = machine.code;
    let number = warps[place].number;
    let waits = |warp: &Warp| {
        warp.number == number && warp.state == WarpState::AtSync && is_at_syncwarp(warp, code)
    };
    let alive = apart(warps, place) | warps[place].lanes & !warps[place].gone;
    let Some((together, ..)) = wait_together(warps, place, alive, code, waits) else {
        return false;
    };
    let mut names = [0; 32];
    for warp in warps
        .iter_mut()
        .filter(|warp| waits(warp) && warp.mask & together != 0)
    {
        let masks = masks(warp, code);
        for lane in LaneMask(warp.mask) {
            names[lane] = masks[lane];
        }
    }
    pass(warps, (number, together), &names, alive, machine);
    true
}

/// The lanes of a warp that wait together at `__syncwarp` pass it.
fn pass<O: Observer>(
    warps: &mut [Warp],
    (number, together): (u32, u32),
    names: &[u32; 32],
    alive: u32,
    machine: &mut Machine<'_, O>,
) {
    let passes = |warp: &Warp| {
        warp.number == number && warp.mask & together != 0 && warp.state == WarpState::AtSync
    };
    let Some(first) = warps.iter().position(passes) else {
        return;
    };
    let awaited = warps
        .iter()
        .filter(|warp| passes(warp))
        .fold(0, |all, warp| all | warp.awaited);
    let loc = machine.code.locs[warps[first].pc as usize];
    machine.observer.begin_warp(number, first);
    // Lanes that ended without arriving were named, too.
    machine
        .observer
        .sync_warp(together, names, alive | awaited, loc);
    for warp in warps.iter_mut().filter(|warp| passes(warp)) {
        warp.pc += 1;
        warp.state = WarpState::Ready;
    }
}

/// When no warp of a block can go on: checks whether lanes still wait at a `__syncwarp` or an exchange.
pub(crate) fn stranded<O: Observer>(
    warps: &mut [Warp],
    machine: &mut Machine<'_, O>,
) -> Option<Stranded> {
    let mut found = None;
    for place in 0..warps.len() {
        if warps[place].state != WarpState::AtSync {
            continue;
        }
        let elsewhere = apart(warps, place);
        let code = machine.code;
        let warp = &mut warps[place];
        let masks = masks(warp, code);
        let lane = warp.mask.trailing_zeros() & 31;
        if is_at_syncwarp(warp, code) {
            let (number, loc) = (warp.number, code.locs[warp.pc as usize]);
            machine.observer.begin_warp(number, place);
            machine.observer.sync_warp(
                warp.mask,
                &masks,
                elsewhere | warp.lanes & !warp.gone | warp.awaited,
                loc,
            );
            found = found.or(Some(Stranded::Deadlock));
            continue;
        }
        let kind = TrapKind::InvalidMask {
            operation: code.exchanges[code.insts[warp.pc as usize].a as usize]
                .kind
                .name(),
            mask: masks[lane as usize],
            fault: MaskFault::Elsewhere {
                lanes: masks[lane as usize] & (elsewhere | warp.awaited) & !warp.mask,
            },
        };
        return Some(Stranded::Fault {
            warp: place,
            fault: Box::new(Fault { kind, lane }),
        });
    }
    found
}

/// Joins fragments that a barrier has released, if they are at the same place.
pub(crate) fn join_behind_barrier<O: Observer>(warps: &mut [Warp], machine: &mut Machine<'_, O>) {
    for place in 0..warps.len() {
        for other in place + 1..warps.len() {
            if warps[other].state == WarpState::Ready && warps[other].number == warps[place].number
            {
                let sync = warps[place].pc.wrapping_sub(1);
                join_at(warps, place, other, sync, machine);
            }
        }
    }
}

/// The lanes of one warp that arrived at different barriers, one of which needs whole warps.
pub(crate) fn apart_at_barriers(warps: &mut [Warp], code: &Code) -> Option<(usize, Box<Fault>)> {
    let is_loose = |warp: &Warp| code.insts[warp.pc as usize - 1].c == 1;
    for place in 0..warps.len() {
        let warp = &warps[place];
        let others = warps[place + 1..].iter().filter(|other| {
            let waits = [warp, other].map(|warp| warp.waits());
            let together = other.number == warp.number && waits == [true; 2];
            together && other.pc != warp.pc && !(is_loose(warp) && is_loose(other))
        });
        let missing: u32 = others.map(|other| other.mask.count_ones()).sum();
        if missing > 0 {
            let warp = &mut warps[place];
            warp.pc -= 1;
            let (arrived, lane) = (warp.mask.count_ones(), warp.mask.trailing_zeros() & 31);
            let kind = TrapKind::BarrierDivergence { arrived, missing };
            return Some((place, Box::new(Fault { kind, lane })));
        }
    }
    None
}
