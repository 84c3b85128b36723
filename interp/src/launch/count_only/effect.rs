//! Propagates how values move from block to block through an operation. Before the operation runs, the cell of its
//! result is set, and what it decides becomes a limit. [`step`](super::step) lists what each operation does.

use ir::{CompareOp, UnaryOp};

use super::cell::{Cause, Cell, Why};
use super::cover::STILL;
use super::known::{Decides, Known, Number, Reading, narrowed, sum, times};
use super::step::{Form, Step};
use crate::isa::bytecode::{ExchangeKind, Inst, Place};
use crate::isa::op::Op;

impl Step<'_> {
    /// The bits of one lane's value.
    pub(super) fn bits(&self, place: Place, wide: bool, lane: usize) -> u64 {
        match (place, wide) {
            (Place::S(register), true) => self.r.s(register),
            (Place::S(register), false) => u64::from(self.r.s(register) as u32),
            (Place::V(register), true) => self.r.v64(register)[lane],
            (Place::V(register), false) => u64::from(self.r.v32(register)[lane]),
        }
    }

    fn not_linear(&self) -> Why {
        Why {
            cause: Cause::NotLinear,
            loc: self.loc,
        }
    }

    /// Why a result of these cells is hidden, if it is.
    fn why(&self, lanes: u32, cells: &[&Cell]) -> Why {
        let hidden = cells.iter().find(|cell| cell.hidden & lanes != 0);
        hidden.map_or(self.not_linear(), |cell| cell.why)
    }

    /// Sets the result of an instruction that computes each lane from the same lane of these places. A scalar is
    /// computed once.
    pub(super) fn lanes(
        &mut self,
        to: Place,
        from: &[(Place, bool)],
        step: impl Fn(&mut Known, &[Number]) -> Option<super::cover::Step>,
    ) {
        let lanes = match to {
            Place::V(_) => self.mask,
            Place::S(_) => 1,
        };
        let still = |(place, _): &(Place, bool)| self.marks.at(*place).is_still(lanes);
        if from.iter().all(still) {
            return self.marks.set(to, Cell::default());
        }
        let cells: Vec<Cell> = from
            .iter()
            .map(|(place, _)| self.marks.at(*place).clone())
            .collect();
        let why = self.why(lanes, &cells.iter().collect::<Vec<_>>());
        if cells.iter().any(|cell| cell.hidden & lanes == lanes) {
            return self.marks.set(to, Cell::hidden(why));
        }
        let mut numbers = [Number {
            bits: 0,
            step: STILL,
        }; 3];
        let cell = Cell::gather(lanes, why, |lane| {
            for ((number, cell), (place, wide)) in numbers.iter_mut().zip(&cells).zip(from) {
                if cell.hides(lane) {
                    return None;
                }
                let bits = match (*place, wide) {
                    (Place::S(register), true) => self.r.s(register),
                    (Place::S(register), false) => u64::from(self.r.s(register) as u32),
                    (Place::V(register), true) => self.r.v64(register)[lane],
                    (Place::V(register), false) => u64::from(self.r.v32(register)[lane]),
                };
                *number = Number {
                    bits,
                    step: cell.at(lane),
                };
            }
            step(self.known, &numbers[..from.len()])
        });
        let is_hidden_scalar = lanes == 1 && matches!(to, Place::S(_)) && cell.hidden != 0;
        let cell = match is_hidden_scalar {
            true => Cell::hidden(why),
            false => cell,
        };
        self.marks.set(to, cell);
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
            let (a, c) = (i.a as usize, i.c as usize);
            let bits = (self.r.s(i.a) as u32).wrapping_add(self.r.s(i.c) as u32);
            self.lanes(
                Place::S(i.d),
                &[(Place::S(a as u32), false), (Place::S(c as u32), false)],
                |_, of| Some(narrowed(sum(of[0].step, of[1].step), false)),
            );
            stepped = Some((i.d, u64::from(bits)));
            at = &self.code.insts[i.b as usize - 1];
        }
        let Some((op, _)) = at.op.compares() else {
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
            let why = self.not_linear();
            self.known.refuse(Decides::Branch, self.loc, Some(why));
        }
    }

    /// Tracks an operation that only moves values between registers.
    pub(super) fn moves(&mut self, i: &Inst) {
        let (s, v) = (&self.marks.s, &self.marks.v);
        let (d, a, b, c) = (i.d as usize, i.a as usize, i.b as usize, i.c as usize);
        match i.op {
            Op::SMove => self.marks.s[d] = s[a].clone(),
            Op::MNot => self.marks.s[d] = s[a].clone(),
            Op::VMove32 | Op::VMove64 => self.marks.v[d] = v[a].clone(),
            Op::VBlend32 | Op::VBlend64 => {
                self.marks.v[d] = Cell::blend(self.mask, &v[a], &v[d]);
            }
            Op::MBlend => self.marks.s[d] = Cell::blend(self.mask, &s[a], &s[d]),
            Op::VSplat32 | Op::VSplat64 | Op::VBool => self.marks.v[d] = s[a].clone(),
            Op::SBool => {
                self.marks.s[d] = match s[a].hidden & self.mask {
                    0 => Cell::default(),
                    _ => Cell::hidden(s[a].why),
                };
            }
            Op::MAnd | Op::MOr => {
                let (mut va, mut vb) = (self.r.mask(i.a), self.r.mask(i.b));
                if i.op == Op::MOr {
                    (va, vb) = (!va, !vb);
                }
                // A lane is known if the other operand alone decides the result.
                let (ha, hb) = (s[a].hidden, s[b].hidden);
                let hidden = ha & (vb | hb) | hb & (va | ha);
                self.marks.s[d] = Cell::hidden_in(hidden, self.why(u32::MAX, &[&s[a], &s[b]]));
            }
            Op::MXor | Op::MEq => {
                let why = self.why(u32::MAX, &[&s[a], &s[b]]);
                self.marks.s[d] = Cell::hidden_in(s[a].hidden | s[b].hidden, why);
            }
            Op::MSelect => {
                let chosen = Cell::blend(self.r.mask(i.a), &s[b], &s[c]);
                let why = self.why(u32::MAX, &[&s[a], &chosen]);
                self.marks.s[d] = Cell::hidden_in(s[a].hidden | chosen.hidden, why);
            }
            Op::SSelect => {
                let chosen = if self.r.s(i.a) != 0 { &s[b] } else { &s[c] };
                self.marks.s[d] = match s[a].hidden & self.mask {
                    0 => chosen.clone(),
                    _ => Cell::hidden(s[a].why),
                };
            }
            Op::VSelect32 | Op::VSelect64 => {
                let mut chosen = Cell::blend(self.r.mask(i.a), &v[b], &v[c]);
                if s[a].hidden & self.mask != 0 {
                    chosen.why = s[a].why;
                }
                chosen.hidden |= s[a].hidden;
                self.marks.v[d] = chosen;
            }
            Op::Clock | Op::Clock64 => {
                self.marks.s[d] = Cell::hidden(Why {
                    cause: Cause::Clock,
                    loc: self.loc,
                });
            }
            Op::ActiveMask => self.marks.s[d] = Cell::default(),
            _ => self.compute(i),
        }
    }

    pub(super) fn unary(&mut self, i: &Inst, op: UnaryOp, form: &Form) {
        let place = if form.varying { Place::V } else { Place::S };
        let wide = form.wide;
        self.lanes(place(i.d), &[(place(i.a), wide)], |_, of| match op {
            // `!a` is `-a - 1`.
            UnaryOp::Neg | UnaryOp::SNeg | UnaryOp::Not => {
                Some(narrowed(times(of[0].step, -1), wide))
            }
            _ => (of[0].step == STILL).then_some(STILL),
        });
    }

    /// Tracks a comparison. It gives a mask, also for scalars.
    pub(super) fn compare(&mut self, i: &Inst, op: CompareOp, form: &Form, [a, b]: [Place; 2]) {
        let lanes = if form.varying { self.mask } else { 1 };
        let (ca, cb) = (self.marks.at(a).clone(), self.marks.at(b).clone());
        if ca.is_still(lanes) && cb.is_still(lanes) {
            self.marks.s[i.d as usize] = Cell::default();
            return;
        }
        let why = self.why(lanes, &[&ca, &cb]);
        let mut hidden = (ca.hidden | cb.hidden) & lanes;
        let known = lanes & !hidden;
        for lane in (0..32).filter(|lane| known >> lane & 1 == 1) {
            let a = Number {
                bits: self.bits(a, form.wide, lane),
                step: ca.at(lane),
            };
            let b = Number {
                bits: self.bits(b, form.wide, lane),
                step: cb.at(lane),
            };
            if self.known.compare(op, form.wide, a, b).is_none() {
                hidden |= 1 << lane;
            }
        }
        if !form.varying && hidden != 0 {
            hidden = u32::MAX;
        }
        self.marks.s[i.d as usize] = Cell::hidden_in(hidden, why);
    }

    pub(super) fn convert(&mut self, i: &Inst, form: &Form) {
        let place = if form.varying { Place::V } else { Place::S };
        let (op, wide) = (i.op, form.wide);
        let short = |signed| Reading {
            wide: false,
            signed,
        };
        self.lanes(place(i.d), &[(place(i.a), wide)], |known, of| {
            let a = of[0];
            if a.step == STILL {
                return Some(STILL);
            }
            let low = |known: &mut Known, bits: u32| known.low_bits(a, 1 << bits, short(false));
            // The sign is the highest bit, so it must not change either.
            let signed = |known: &mut Known, bits: u32| {
                let rest = low(known, bits - 1);
                (low(known, bits) == rest).then_some(rest)
            };
            match op {
                Op::VSext | Op::SSext => known.keep_range(a, short(true)),
                Op::VZext | Op::SZext => known.keep_range(a, short(false)),
                Op::VTrunc
                | Op::STrunc
                | Op::VNarrowShared
                | Op::SNarrowShared
                | Op::VNarrowLocal
                | Op::SNarrowLocal => return Some(narrowed(a.step, false)),
                Op::VZext8 | Op::SZext8 => return Some(low(known, 8)),
                Op::VZext16 | Op::SZext16 => return Some(low(known, 16)),
                Op::VSext8 | Op::SSext8 => return signed(known, 8),
                Op::VSext16 | Op::SSext16 => return signed(known, 16),
                Op::VWidenShared | Op::SWidenShared | Op::VWidenLocal | Op::SWidenLocal => {
                    known.limits.still(a.step);
                    return Some(STILL);
                }
                Op::VIsShared
                | Op::SIsShared
                | Op::VIsLocal
                | Op::SIsLocal
                | Op::VIsConstant
                | Op::SIsConstant
                | Op::VIsGlobal
                | Op::SIsGlobal => {
                    known.limits.still(a.step);
                    return Some(STILL);
                }
                _ => return None,
            }
            Some(a.step)
        });
    }

    /// Tracks `base + index * scale + offset` in 64 bits. `signed`: how a 32-bit index is extended.
    pub(super) fn pointer(
        &mut self,
        i: &Inst,
        base: fn(u32) -> Place,
        index: fn(u32) -> Place,
        signed: Option<bool>,
    ) {
        let row = self.code.scales[i.c as usize];
        let from = [(base(i.a), true), (index(i.b), signed.is_none())];
        self.lanes(index(i.d), &from, |known, of| {
            if let Some(signed) = signed {
                let reading = Reading {
                    wide: false,
                    signed,
                };
                known.keep_range(of[1], reading);
            }
            Some(sum(of[0].step, times(of[1].step, row.scale)))
        });
    }

    /// Tracks the same in 32 bits.
    pub(super) fn short_pointer(
        &mut self,
        i: &Inst,
        base: fn(u32) -> Place,
        index: fn(u32) -> Place,
    ) {
        let row = self.code.scales[i.c as usize];
        let from = [(base(i.a), false), (index(i.b), false)];
        self.lanes(index(i.d), &from, |_, of| {
            let step = sum(of[0].step, times(of[1].step, row.scale));
            Some(narrowed(step, false))
        });
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
        let hidden = |why: Why| Cell::hidden(why);
        let others = Why {
            cause: Cause::Lanes,
            loc: self.loc,
        };
        let cell = match row.kind {
            ExchangeKind::Shuffle(mode) => {
                let chosen = [row.lane, row.width].map(|place| {
                    let cell = self.marks.at(place);
                    cell.is_still(lanes_of(place))
                });
                match chosen {
                    [true, true] => Cell::gather(self.mask, value.why, |lane| {
                        let number = |place| self.bits(place, false, lane) as u32;
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
            ExchangeKind::Vote(_) => match value.hidden & self.mask {
                0 => Cell::default(),
                _ => hidden(value.why),
            },
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
                false => hidden(self.not_linear()),
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
