//! Tracks one instruction of a representative: what it does to the cells, or decides. [`effect`](super::effect) has the
//! computing ones.
//!
//! The input is the registers before the instruction. Inactive lanes are left out, because no instruction reads their
//! results.

use ir::LocId;

use super::cell::{Cause, Cell, Why};
use super::cover::STILL;
use super::effect::bits;
use super::known::{AlikeBlocks, Decides, Number, narrowed, sum};
use crate::isa::bytecode::{Code, ExchangeKind, Inst, Place, S_CTAID, S_SM};
use crate::isa::op::{Op, Sort};
use crate::isa::registers::View;

/// How the registers of a warp move.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) s: Vec<Cell>,
    pub(super) v: Vec<Cell>,
}

impl Marks {
    /// The state at the start of a block: the block index is known, and everything else is the same in all blocks.
    pub(super) fn new(code: &Code, known: &AlikeBlocks) -> Marks {
        let mut marks = Marks {
            s: vec![Cell::default(); code.registers.s_count as usize],
            v: vec![Cell::default(); code.registers.v_units as usize],
        };
        for axis in 0..3 {
            if known.grid[axis] > 1 {
                let mut step = STILL;
                step[axis] = known.stride[axis] as i64;
                marks.s[S_CTAID as usize + axis] = Cell::moving(step);
            }
        }
        marks.s[S_SM as usize] = Cell::hidden(Why {
            cause: Cause::Multiprocessor,
            loc: LocId::default(),
        });
        marks
    }

    pub(super) fn at(&self, place: Place) -> &Cell {
        match place {
            Place::S(register) => &self.s[register as usize],
            Place::V(register) => &self.v[register as usize],
        }
    }

    pub(super) fn set(&mut self, place: Place, cell: Cell) {
        match place {
            Place::S(register) => self.s[register as usize] = cell,
            Place::V(register) => self.v[register as usize] = cell,
        }
    }
}

/// One instruction of one warp.
pub(super) struct Step<'a> {
    pub(super) marks: &'a mut Marks,
    pub(super) known: &'a mut AlikeBlocks,
    pub(super) code: &'a Code,
    pub(super) r: View,
    pub(super) mask: u32,
    pub(super) loc: LocId,
}

impl Step<'_> {
    /// Tracks an instruction that is not an access.
    pub(super) fn follow(&mut self, i: &Inst) {
        let refused = match i.op {
            Op::Print => Decides::Prints,
            Op::LaunchChild => Decides::Launches,
            Op::HeapMalloc | Op::HeapFree => Decides::Heap,
            Op::CallRoutine | Op::EndRoutine => Decides::Calls,
            Op::Trap => Decides::Ends,
            _ => return self.track(i),
        };
        self.known.refuse(refused, self.loc, None);
    }

    fn track(&mut self, i: &Inst) {
        let result = Place::S(i.d);
        match (i.op.sort(), i.op) {
            (Sort::Computes, _) => self.compute(i),
            (Sort::Decides, _) | (_, Op::Assert) => self.decide(i.a),
            (Sort::Jumps | Sort::Loops, _) => self.jump(i),
            (Sort::Goes | Sort::Acts, _) => {}
            (_, Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr) => {
                let cell = self.marks.at(Place::S(i.a)).voted(self.mask);
                self.marks.set(result, cell);
            }
            (_, Op::NumberedBarrier) => {
                let row = &self.code.barriers[i.a as usize];
                self.fixed(&[row.barrier, row.threads]);
            }
            (_, Op::SyncWarp) => self.fixed(&[match i.b {
                1 => Place::S(i.a),
                _ => Place::V(i.a),
            }]),
            (_, Op::Shuffle | Op::Exchange) => self.exchange(i),
            (_, Op::Clock | Op::Clock64) => {
                let why = self.because(Cause::Clock);
                self.marks.set(result, Cell::hidden(why));
            }
            (_, Op::ActiveMask) => self.marks.set(result, Cell::default()),
            (_, op) => unreachable!("{op:?} is followed in no way"),
        }
    }

    /// A truth value decides which way lanes go.
    pub(super) fn decide(&mut self, register: u32) {
        let cell = &self.marks.s[register as usize];
        if cell.hidden & self.mask != 0 {
            self.known.refuse(Decides::Branch, self.loc, Some(cell.why));
        }
    }

    /// Requires that these places are the same in all blocks.
    pub(super) fn fixed(&mut self, places: &[Place]) {
        for &place in places {
            let lanes = match place {
                Place::S(_) => 1,
                Place::V(_) => self.mask,
            };
            let cell = self.marks.at(place);
            if !cell.is_still(lanes) {
                let why = self.why(lanes, &[cell]);
                self.known.refuse(Decides::Mask, self.loc, Some(why));
            }
        }
    }

    /// Tracks a jump that compares two scalars. The end of a loop first adds to its counter, and the jump at the loop's
    /// head follows it.
    pub(super) fn jump(&mut self, i: &Inst) {
        let (mut at, mut stepped) = (i, None);
        if i.back_edge_to().is_some() {
            let bits = (self.r.s(i.a) as u32).wrapping_add(self.r.s(i.c) as u32);
            let operands = [i.a, i.c].map(Place::S);
            self.lanes(Place::S(i.d), &operands, [false; 2], |_, [a, c]| {
                Some(narrowed(sum(a.step, c.step), false))
            });
            stepped = Some((i.d, u64::from(bits)));
            at = &self.code.insts[i.b as usize - 1];
        }
        let Some(op) = at.op.compares() else {
            return;
        };
        let mut numbers = [Number {
            bits: 0,
            step: STILL,
        }; 2];
        for (number, register) in numbers.iter_mut().zip([at.a, at.c]) {
            let cell = &self.marks.s[register as usize];
            if cell.hidden != 0 {
                return self.known.refuse(Decides::Branch, self.loc, Some(cell.why));
            }
            let bits = match stepped {
                Some((counter, bits)) if counter == register => bits,
                _ => self.r.s(register),
            };
            *number = Number {
                bits,
                step: cell.at(0),
            };
        }
        let [a, b] = numbers;
        if self.known.compare(op, false, a, b).is_none() {
            let why = self.because(Cause::NotLinear);
            self.known.refuse(Decides::Branch, self.loc, Some(why));
        }
    }

    /// Tracks an exchange of values between lanes.
    pub(super) fn exchange(&mut self, i: &Inst) {
        let row = self.code.exchanges[i.a as usize];
        if let Some(mask) = row.mask {
            self.fixed(&[mask]);
        }
        let value = self.marks.at(row.value).clone();
        let lanes_of = |place| match place {
            Place::S(_) => 1,
            Place::V(_) => self.mask,
        };
        let hidden = Cell::hidden;
        let others = self.because(Cause::Lanes);
        let cell = match row.kind {
            ExchangeKind::Shuffle(mode) => {
                let chosen = [row.lane, row.width].map(|place| {
                    let cell = self.marks.at(place);
                    cell.is_still(lanes_of(place))
                });
                match chosen {
                    [true, true] => Cell::gather(self.mask, value.why, |lane| {
                        let number = |place| bits(self.r, place, false, lane) as u32;
                        let from =
                            mode.source(lane as u32, number(row.lane), number(row.width)) & 31;
                        match (self.mask >> from & 1, value.hides(from as usize)) {
                            // A lane that does not take part gives 0.
                            (0, _) => Some(STILL),
                            (_, true) => None,
                            (_, false) => Some(value.at(from as usize)),
                        }
                    }),
                    _ => hidden(others),
                }
            }
            ExchangeKind::Vote(_) => value.voted(self.mask),
            // Equal values stay equal if all lanes move alike.
            ExchangeKind::MatchAny { .. } | ExchangeKind::MatchAll { .. } => {
                match (value.hidden & self.mask, value.all()) {
                    (0, Some(_)) => Cell::default(),
                    (0, None) => hidden(others),
                    _ => hidden(value.why),
                }
            }
            ExchangeKind::Reduce(_) => match value.is_still(lanes_of(row.value)) {
                true => Cell::default(),
                false if value.hidden & self.mask != 0 => hidden(value.why),
                false => hidden(self.because(Cause::NotLinear)),
            },
        };
        let results = match row.kind {
            ExchangeKind::MatchAll { .. } => &row.results[..],
            _ => &row.results[..1],
        };
        for &place in results {
            let cell = match (place, cell.hidden & self.mask) {
                (Place::S(_), 1..) => Cell::hidden(cell.why),
                _ => cell.clone(),
            };
            self.marks.set(place, cell);
        }
    }
}
