//! One exchange that lanes of a warp reach separately, at one place or at several: since sm_70 they belong together.
//!
//! ```text
//! if (lane < 16) sum = __shfl_xor_sync(0xffffffff, a, 16);
//! else           sum = __shfl_xor_sync(0xffffffff, b, 16);
//! ```
//!
//! Each fragment has its operands in the registers of its instruction. The operands are put side by side by lane, the
//! exchange is done there, and each fragment takes its lanes' results.

use ir::VoteOp;

use super::exchange::{Lanes, other_row, shuffle_row};
use crate::isa::bytecode::{ExchangeKind, ExchangeRow, Place};
use crate::isa::mask::LaneMask;
use crate::isa::registers::{Registers, View};
use crate::machine::Fault;
use crate::machine::vectors::Portable;
use crate::observe::Observer;

/// The lanes at one instruction.
pub(crate) struct Party {
    pub(crate) registers: View,
    pub(crate) row: ExchangeRow,
    pub(crate) active: u32,
}

/// Registers that all parties share: the value's 64 bits, then the source lane, the width, the mask and the resulting
/// word.
const VALUE: u32 = 0;
const LANE: u32 = 2;
const WIDTH: u32 = 3;
const MASK: u32 = 4;
const RESULT: u32 = 5;
const UNITS: u32 = 6;
/// The same for truth values: a bit for each lane.
const TRUTH: u32 = 0;
const TRUTH_RESULT: u32 = 1;
const SCALARS: u32 = 2;

/// The results of an exchange of a kind.
fn results(kind: ExchangeKind) -> (Option<usize>, Option<usize>) {
    match kind {
        ExchangeKind::Vote(VoteOp::All | VoteOp::Any | VoteOp::Uni) => (None, Some(0)),
        ExchangeKind::MatchAll { .. } => (Some(0), Some(1)),
        ExchangeKind::Vote(VoteOp::Ballot)
        | ExchangeKind::Shuffle(_)
        | ExchangeKind::MatchAny { .. }
        | ExchangeKind::Reduce(_) => (Some(0), None),
    }
}

/// Performs the exchange for all parties, which are of one kind; `lanes` are those of all. Returns the lanes that read
/// a lane which does not take part.
pub(crate) fn exchange<O: Observer>(
    observer: &mut O,
    parties: &[Party],
    lanes: Lanes,
) -> Result<u32, Box<Fault>> {
    let Some(kind) = parties.first().map(|party| party.row.kind) else {
        return Ok(0);
    };
    let mut shared = Registers::new(UNITS, SCALARS);
    let view = shared.view();
    for party in parties {
        put(party, view);
    }
    let is_vote = matches!(kind, ExchangeKind::Vote(_));
    let truths = Place::S(TRUTH_RESULT);
    let row = ExchangeRow {
        kind,
        value: match is_vote {
            true => Place::S(TRUTH),
            false => Place::V(VALUE),
        },
        lane: Place::V(LANE),
        width: Place::V(WIDTH),
        mask: Some(Place::V(MASK)),
        results: match results(kind) {
            (None, _) => [truths; 2],
            (Some(_), _) => [Place::V(RESULT), truths],
        },
    };
    let strays = match kind {
        ExchangeKind::Shuffle(_) => shuffle_row::<Portable, O>(observer, view, &row, lanes)?,
        _ => other_row(observer, view, &row, lanes).map(|()| 0)?,
    };
    for party in parties {
        take(party, view);
    }
    Ok(strays)
}

/// Adds the operands of a party's lanes.
fn put(party: &Party, to: View) {
    let (from, row) = (party.registers, &party.row);
    let word = |place: Place, lane: usize| match place {
        Place::S(register) => from.s(register) as u32,
        Place::V(register) => from.v32(register)[lane],
    };
    let is_shuffle = matches!(row.kind, ExchangeKind::Shuffle(_));
    let wide = match row.kind {
        ExchangeKind::MatchAny { wide } | ExchangeKind::MatchAll { wide } => wide,
        ExchangeKind::Shuffle(_) | ExchangeKind::Vote(_) | ExchangeKind::Reduce(_) => false,
    };
    if let (ExchangeKind::Vote(_), Place::S(truths) | Place::V(truths)) = (row.kind, row.value) {
        let all = to.s(TRUTH) | u64::from(from.mask(truths) & party.active);
        to.set_s(TRUTH, all);
    }
    for lane in LaneMask(party.active) {
        match (row.kind, row.value) {
            (ExchangeKind::Vote(_), _) => {}
            (_, Place::S(register)) if wide => to.v64_mut(VALUE)[lane] = from.s(register),
            (_, Place::V(register)) if wide => to.v64_mut(VALUE)[lane] = from.v64(register)[lane],
            (_, value) => to.v32_mut(VALUE)[lane] = word(value, lane),
        }
        if is_shuffle {
            to.v32_mut(LANE)[lane] = word(row.lane, lane);
            to.v32_mut(WIDTH)[lane] = word(row.width, lane);
        }
        to.v32_mut(MASK)[lane] = row.mask.map_or(0, |mask| word(mask, lane));
    }
}

/// Writes the results of a party's lanes.
fn take(party: &Party, from: View) {
    let (to, row) = (party.registers, &party.row);
    let (word, truth) = results(row.kind);
    if let Some(word) = word {
        let words = from.v32(RESULT);
        match row.results[word] {
            Place::S(register) => {
                let first = party.active.trailing_zeros() as usize & 31;
                to.set_s(register, u64::from(words[first]));
            }
            Place::V(register) => {
                for lane in LaneMask(party.active) {
                    to.v32_mut(register)[lane] = words[lane];
                }
            }
        }
    }
    if let Some(truth) = truth {
        let (Place::S(register) | Place::V(register)) = row.results[truth];
        let holds = from.mask(TRUTH_RESULT) & party.active;
        // If all lanes have the same value, the register is all zeros or all ones.
        let is_one = matches!(row.mask, Some(Place::S(_)));
        let bits = match is_one && holds != 0 {
            true => u32::MAX,
            false => holds,
        };
        to.set_s(register, u64::from(bits));
    }
}
