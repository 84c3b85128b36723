//! Propagates how values move from block to block through an operation whose result depends only on its registers.
//! Before the operation runs, the cell of its result is set. [`known`](super::known) has the arithmetic.

use super::cell::{Cause, Cell, Why};
use super::cover::{STILL, Step as Distance};
use super::known::{AlikeBlocks, Number, Reading, narrowed, sum, times};
use super::step::Step;
use crate::isa::bytecode::{Inst, Place};
use crate::isa::computing::{Computes, computing};
use crate::isa::op::Op;
use crate::isa::operands::{Wide, reads_and_write};
use crate::isa::registers::View;

/// The bits of one lane's value.
pub(super) fn bits(r: View, place: Place, wide: bool, lane: usize) -> u64 {
    match (place, wide) {
        (Place::S(register), true) => r.s(register),
        (Place::S(register), false) => u64::from(r.s(register) as u32),
        (Place::V(register), true) => r.v64(register)[lane],
        (Place::V(register), false) => u64::from(r.v32(register)[lane]),
    }
}

impl Step<'_> {
    pub(super) fn because(&self, cause: Cause) -> Why {
        Why {
            cause,
            loc: self.loc,
        }
    }

    /// Why a result of these cells is hidden, if it is.
    pub(super) fn why(&self, lanes: u32, cells: &[&Cell]) -> Why {
        let hidden = cells.iter().find(|cell| cell.hidden & lanes != 0);
        hidden.map_or(self.because(Cause::NotLinear), |cell| cell.why)
    }

    /// Sets the result of an instruction that computes each lane from the same lane of these places. A scalar is
    /// computed once. `wide`: whether the first two places have 64 bits.
    pub(super) fn lanes(
        &mut self,
        to: Place,
        from: &[Place],
        wide: [bool; 2],
        step: impl Fn(&mut AlikeBlocks, [Number; 2]) -> Option<Distance>,
    ) {
        // A comparison of lanes gives a mask.
        let mut all = from.iter().chain([&to]);
        let is_scalar = !all.any(|place| matches!(place, Place::V(_)));
        let lanes = if is_scalar { 1 } else { self.mask };
        let cells = from.iter().map(|&place| self.marks.at(place));
        if cells.clone().all(|cell| cell.is_still(lanes)) {
            return self.marks.set(to, Cell::default());
        }
        let cells: Vec<&Cell> = cells.collect();
        let why = self.why(lanes, &cells);
        if cells.iter().any(|cell| cell.hidden & lanes == lanes) {
            return self.marks.set(to, Cell::hidden(why));
        }
        let cell = Cell::gather(lanes, why, |lane| {
            if cells.iter().any(|cell| cell.hides(lane)) {
                return None;
            }
            let mut numbers = [Number {
                bits: 0,
                step: STILL,
            }; 2];
            let operands = cells.iter().zip(from).zip(wide);
            for (number, ((cell, &place), wide)) in numbers.iter_mut().zip(operands) {
                *number = Number {
                    bits: bits(self.r, place, wide, lane),
                    step: cell.at(lane),
                };
            }
            step(self.known, numbers)
        });
        let cell = match is_scalar && cell.hidden != 0 {
            true => Cell::hidden(why),
            false => cell,
        };
        self.marks.set(to, cell);
    }

    /// Tracks an operation whose result depends only on its registers.
    pub(super) fn compute(&mut self, i: &Inst) {
        let Some((reads, Some(Wide(to, _)))) = reads_and_write(i) else {
            unreachable!("{:?} computes nothing", i.op)
        };
        // An array, because each lane goes through them.
        let (mut places, mut count) = ([to; 4], 0);
        for Wide(place, _) in reads {
            places[count] = place;
            count += 1;
        }
        let from = &places[..count];
        let (s, v) = (&self.marks.s, &self.marks.v);
        let (a, b, c) = (i.a as usize, i.b as usize, i.c as usize);
        let first = self.marks.at(from[0]);
        let cell = match i.op {
            Op::SMove | Op::MNot | Op::VMove32 | Op::VMove64 => first.clone(),
            Op::VSplat32 | Op::VSplat64 | Op::VBool => first.clone(),
            Op::VBlend32 | Op::VBlend64 | Op::MBlend => {
                Cell::blend(self.mask, first, self.marks.at(to))
            }
            Op::SBool => first.voted(self.mask),
            Op::MAnd | Op::MOr => {
                let (mut va, mut vb) = (self.r.mask(i.a), self.r.mask(i.b));
                if i.op == Op::MOr {
                    (va, vb) = (!va, !vb);
                }
                // A lane is known if the other operand alone decides the result.
                let (ha, hb) = (s[a].hidden, s[b].hidden);
                let hidden = ha & (vb | hb) | hb & (va | ha);
                Cell::hidden_in(hidden, self.why(u32::MAX, &[&s[a], &s[b]]))
            }
            Op::MXor | Op::MEq => {
                let why = self.why(u32::MAX, &[&s[a], &s[b]]);
                Cell::hidden_in(s[a].hidden | s[b].hidden, why)
            }
            Op::MSelect => {
                let chosen = Cell::blend(self.r.mask(i.a), &s[b], &s[c]);
                let why = self.why(u32::MAX, &[&s[a], &chosen]);
                Cell::hidden_in(s[a].hidden | chosen.hidden, why)
            }
            Op::SSelect => match s[a].hidden & self.mask {
                0 if self.r.s(i.a) != 0 => s[b].clone(),
                0 => s[c].clone(),
                _ => Cell::hidden(s[a].why),
            },
            Op::VSelect32 | Op::VSelect64 => {
                let mut chosen = Cell::blend(self.r.mask(i.a), &v[b], &v[c]);
                if s[a].hidden & self.mask != 0 {
                    chosen.why = s[a].why;
                }
                chosen.hidden |= s[a].hidden;
                chosen
            }
            _ => return self.number(i, to, from),
        };
        self.marks.set(to, cell);
    }

    /// Tracks an operation on numbers.
    fn number(&mut self, i: &Inst, to: Place, from: &[Place]) {
        let Some(computing) = computing(i.op) else {
            return self.pointer(i, to, from);
        };
        let wide = computing.wide;
        let both = [wide; 2];
        match computing.what {
            Computes::Unary(op) => {
                self.lanes(to, from, both, |_, [a, _]| AlikeBlocks::unary(op, wide, a));
            }
            Computes::Binary(op) => {
                self.lanes(to, from, both, |known, [a, b]| known.binary(op, wide, a, b));
            }
            Computes::Compare(op) | Computes::CompareScalar(op) => {
                self.lanes(to, from, both, |known, [a, b]| {
                    known.compare(op, wide, a, b).map(|_| STILL)
                });
            }
            Computes::Convert(op) => {
                self.lanes(to, from, both, |known, [a, _]| known.convert(op, a))
            }
        }
    }

    /// Tracks `base + index * scale + offset`, or a sum of products.
    fn pointer(&mut self, i: &Inst, to: Place, from: &[Place]) {
        // Whether base and index have 64 bits, and how the index is extended.
        let (wide, signed) = match i.op {
            Op::SPtrS | Op::VPtrVS | Op::VPtrSS => ([true, false], Some(true)),
            Op::SPtrU | Op::VPtrVU | Op::VPtrSU => ([true, false], Some(false)),
            Op::SPtrL | Op::VPtrVL => ([true, true], None),
            Op::SPtr32 | Op::VPtr32V | Op::VPtr32S => ([false, false], None),
            _ => return self.lanes(to, from, [false; 2], |_, _| None),
        };
        let scale = self.code.scales[i.c as usize].scale;
        self.lanes(to, from, wide, |known, [base, index]| {
            if let Some(signed) = signed {
                let wide = false;
                known.keep_range(index, Reading { wide, signed });
            }
            let step = sum(base.step, times(index.step, scale));
            Some(narrowed(step, wide[0]))
        });
    }
}
