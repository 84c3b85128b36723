//! Shuffles, votes, matches and reductions: lanes read each other's registers.
//!
//! First the lanes are divided into groups (by the masks they name, or all that are active), and the masks are checked.
//! Then each group exchanges. Inactive lanes get a value too, which is never read.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::machine::vectors::Vectors;
use ir::{LocId, VoteOp};

use super::fault::Done;
use crate::fault::trap::{MaskFault, TrapKind};
use crate::isa::bytecode::{ExchangeKind, ExchangeRow, Inst, Place};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::{Fault, Machine};
use crate::observe::Observer;

/// The state of the warp at an exchange.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// The active lanes.
    pub(crate) active: u32,
    /// The lanes that have not ended.
    pub(crate) alive: u32,
    /// The place of the instruction.
    pub(crate) loc: LocId,
}

/// The lanes' groups.
enum Groups {
    /// All active lanes are one group.
    One,
    /// Each active lane's group.
    Each([u32; 32]),
}

impl Groups {
    fn of(&self, lane: usize, active: u32) -> u32 {
        match self {
            Groups::One => active,
            Groups::Each(groups) => groups[lane],
        }
    }

    /// Calls `then` with each group once.
    fn for_each(&self, active: u32, mut then: impl FnMut(u32)) {
        match self {
            Groups::One => then(active),
            Groups::Each(groups) => {
                let mut rest = active;
                while rest != 0 {
                    let group = groups[rest.trailing_zeros() as usize];
                    then(group);
                    rest &= !group;
                }
            }
        }
    }
}

fn fault(kind: ExchangeKind, mask: u32, lane: u32, fault: MaskFault) -> Box<Fault> {
    let kind = TrapKind::InvalidMask {
        operation: kind.name(),
        mask,
        fault,
    };
    Box::new(Fault { kind, lane })
}

/// Checks the masks. The lowest lane with an error is reported.
fn groups(r: View, row: &ExchangeRow, lanes: Lanes) -> Result<Groups, Box<Fault>> {
    let Lanes { active, alive, .. } = lanes;
    let bad = |mask: u32, lane: u32| {
        let elsewhere = mask & alive & !active;
        if mask >> lane & 1 == 0 {
            Some(MaskFault::OmitsCaller)
        } else if elsewhere != 0 {
            Some(MaskFault::Elsewhere { lanes: elsewhere })
        } else {
            None
        }
    };
    match row.mask {
        None => Ok(Groups::One),
        Some(Place::S(register)) => {
            let mask = r.mask(register);
            if active & !mask == 0 && mask & alive & !active == 0 {
                return Ok(Groups::One);
            }
            for lane in LaneMask(active) {
                if let Some(why) = bad(mask, lane as u32) {
                    return Err(fault(row.kind, mask, lane as u32, why));
                }
            }
            Ok(Groups::One)
        }
        Some(Place::V(register)) => {
            let masks = r.v32(register);
            let mut groups = [0; 32];
            for lane in LaneMask(active) {
                let mask = masks[lane];
                if let Some(why) = bad(mask, lane as u32) {
                    return Err(fault(row.kind, mask, lane as u32, why));
                }
                groups[lane] = mask & active;
            }
            for lane in LaneMask(active) {
                let differs = LaneMask(groups[lane])
                    .lanes()
                    .find(|&other| masks[other] & alive != masks[lane] & alive);
                if let Some(other) = differs {
                    let why = MaskFault::Differs {
                        lane: other as u32,
                        mask: masks[other],
                    };
                    return Err(fault(row.kind, masks[lane], lane as u32, why));
                }
            }
            Ok(Groups::Each(groups))
        }
    }
}

/// The mask that each lane names at a `__syncwarp`.
pub(crate) fn named(r: View, i: &Inst) -> [u32; 32] {
    match i.b {
        1 => [r.mask(i.a); 32],
        _ => *r.v32(i.a),
    }
}

/// All lanes that the active ones name.
pub(crate) fn all_named(named: &[u32; 32], active: u32) -> u32 {
    LaneMask(active)
        .lanes()
        .fold(0, |all, lane| all | named[lane])
}

/// `__syncwarp`. Returns whether the active lanes first have to wait for others.
#[inline(never)]
pub(crate) fn sync_warp<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    i: &Inst,
    lanes: Lanes,
) -> bool {
    let Lanes { active, alive, loc } = lanes;
    let named = named(r, i);
    let elsewhere = alive & !active;
    if machine.policy.independent_lanes
        && elsewhere != 0
        && all_named(&named, active) & elsewhere != 0
    {
        return true;
    }
    machine.observer.sync_warp(active, &named, alive, loc);
    false
}

/// Reports to the observer that the lanes of an exchange with a mask have met.
#[inline(always)]
fn report_sync<O: Observer>(observer: &mut O, groups: &Groups, lanes: Lanes) {
    match groups {
        Groups::One => observer.exchange(lanes.active, &[lanes.active; 32], lanes.alive),
        Groups::Each(groups) => observer.exchange(lanes.active, groups, lanes.alive),
    }
}

/// A 32-bit operand, by lane.
#[inline(always)]
fn lanes32(r: View, place: Place) -> [u32; 32] {
    match place {
        Place::S(register) => [r.s(register) as u32; 32],
        Place::V(register) => *r.v32(register),
    }
}

/// Sets the result of each lane.
#[inline(always)]
fn set_lanes(r: View, place: Place, active: u32, values: &[u32; 32]) {
    match place {
        Place::S(register) => {
            r.set_s(
                register,
                u64::from(values[active.trailing_zeros() as usize & 31]),
            );
        }
        Place::V(register) => *r.v32_mut(register) = *values,
    }
}

/// A shuffle. Programs use it most, so it is compiled for each level.
#[inline(always)]
pub(crate) fn shuffle<V: Vectors, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    i: &Inst,
    lanes: Lanes,
) -> Done {
    let row = &machine.code.exchanges[i.a as usize];
    let strays = shuffle_row::<V, O>(&mut machine.observer, r, row, lanes)?;
    if strays != 0 {
        let result = row.results[0];
        machine.observer.stray_shuffle(strays, result, lanes.loc);
    }
    Ok(())
}

/// The shuffle of a row. Returns the lanes that read a lane which does not take part.
#[inline(always)]
pub(super) fn shuffle_row<V: Vectors, O: Observer>(
    observer: &mut O,
    r: View,
    row: &ExchangeRow,
    lanes: Lanes,
) -> Result<u32, Box<Fault>> {
    let ExchangeKind::Shuffle(mode) = row.kind else {
        return Ok(0);
    };
    let groups = groups(r, row, lanes)?;
    if row.mask.is_some() {
        report_sync(observer, &groups, lanes);
    }
    let value = lanes32(r, row.value);
    let (lane, width) = (lanes32(r, row.lane), lanes32(r, row.width));
    let mut bytes = [0u32; 32];
    for l in 0..32 {
        bytes[l] = 4 * mode.source(l as u32, lane[l], width[l]);
    }
    let mut out = [0; 32];
    // SAFETY: an array of 32 lanes; a source is below 32.
    unsafe { V::pick(&raw const value, &bytes, 0, &mut out) };
    let mut strays = 0;
    if !(matches!(groups, Groups::One) && lanes.active == u32::MAX) {
        for l in LaneMask(lanes.active) {
            if groups.of(l, lanes.active) >> (bytes[l] / 4) & 1 == 0 {
                strays |= 1 << l;
                out[l] = 0;
            }
        }
    }
    set_lanes(r, row.results[0], lanes.active, &out);
    Ok(strays)
}

/// All exchanges but shuffles.
#[inline(never)]
pub(crate) fn others<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    i: &Inst,
    lanes: Lanes,
) -> Done {
    let row = &machine.code.exchanges[i.a as usize];
    other_row(&mut machine.observer, r, row, lanes)
}

/// The vote, match or reduction of a row.
pub(super) fn other_row<O: Observer>(
    observer: &mut O,
    r: View,
    row: &ExchangeRow,
    lanes: Lanes,
) -> Done {
    let groups = groups(r, row, lanes)?;
    if row.mask.is_some() {
        report_sync(observer, &groups, lanes);
    }
    let active = lanes.active;
    let mut out = [0; 32];
    let mut give = |group: u32, bits: u32| {
        for lane in LaneMask(group) {
            out[lane] = bits;
        }
    };
    match row.kind {
        ExchangeKind::Shuffle(_) => {}
        ExchangeKind::Vote(op) => {
            let (Place::S(value) | Place::V(value)) = row.value;
            let truths = r.mask(value);
            if op == VoteOp::Ballot {
                groups.for_each(active, |group| give(group, truths & group));
            } else {
                let mut holds = 0;
                groups.for_each(active, |group| {
                    let truths = truths & group;
                    let held = match op {
                        VoteOp::All => truths == group,
                        VoteOp::Any | VoteOp::Ballot => truths != 0,
                        VoteOp::Uni => truths == group || truths == 0,
                    };
                    holds |= if held { group } else { 0 };
                });
                set_truths(r, row.results[0], &groups, active, holds);
                return Ok(());
            }
        }
        ExchangeKind::MatchAny { wide } => {
            let same = same_as(r, row.value, wide);
            groups.for_each(active, |group| {
                let mut rest = group;
                while rest != 0 {
                    let equal = group & same(rest.trailing_zeros() as usize);
                    give(equal, equal);
                    rest &= !equal;
                }
            });
        }
        ExchangeKind::MatchAll { wide } => {
            let same = same_as(r, row.value, wide);
            let mut holds = 0;
            groups.for_each(active, |group| {
                if group & !same(group.trailing_zeros() as usize) == 0 {
                    give(group, group);
                    holds |= group;
                }
            });
            set_truths(r, row.results[1], &groups, active, holds);
        }
        ExchangeKind::Reduce(op) => {
            let value = lanes32(r, row.value);
            groups.for_each(active, |group| {
                let sum = LaneMask(group)
                    .lanes()
                    .map(|lane| value[lane])
                    .reduce(|a, b| op.apply(a, b));
                give(group, sum.unwrap_or(0));
            });
        }
    }
    set_lanes(r, row.results[0], active, &out);
    Ok(())
}

/// The lanes, active or not, with the same value as a given lane.
fn same_as(r: View, place: Place, wide: bool) -> impl Fn(usize) -> u32 {
    let mut value = [0u64; 32];
    match place {
        Place::S(register) => value = [r.s(register); 32],
        Place::V(register) if wide => value = *r.v64(register),
        Place::V(register) => {
            for (value, &word) in value.iter_mut().zip(r.v32(register)) {
                *value = word.into();
            }
        }
    }
    move |lane| {
        let mut mask = 0;
        for l in 0..32 {
            mask |= u32::from(value[l] == value[lane]) << l;
        }
        mask
    }
}

/// Sets truth values. If all lanes have the same, the register is all zeros or all ones.
fn set_truths(r: View, place: Place, groups: &Groups, active: u32, holds: u32) {
    let (Place::S(register) | Place::V(register)) = place;
    let holds = match groups {
        Groups::One if holds & active != 0 => u32::MAX,
        Groups::One => 0,
        Groups::Each(_) => holds,
    };
    r.set_s(register, u64::from(holds));
}
