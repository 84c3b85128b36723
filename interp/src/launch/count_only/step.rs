//! What an instruction does with how its operands move from block to block: before it runs, the cell of its result is set, and what it
//! decides becomes a limit.
//!
//! In: the registers before the instruction. Lanes that are not active are left out: nobody reads what they compute.

use dsl::ir::{BinaryOp, CompareOp, LocId, UnaryOp};

use super::cell::{Cause, Cell, Why};
use super::cover::STILL;
use super::known::{Decides, Known, Number, Reading, narrowed, sum, times};
use crate::isa::bytecode::{Code, ExchangeKind, Inst, Place, S_CTAID, S_SM};
use crate::isa::op::{Op, lane_ops};
use crate::isa::registers::View;

/// How the registers of a warp move.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) s: Vec<Cell>,
    pub(super) v: Vec<Cell>,
}

impl Marks {
    /// As a block begins: it knows its index, and all else is the same in all blocks.
    pub(super) fn new(code: &Code, known: &Known) -> Marks {
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

/// What an instruction of the table computes.
enum Computes {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Convert,
}

/// The width of what it takes, and whether it works on 32 lanes.
struct Form {
    wide: bool,
    varying: bool,
}

macro_rules! computes {
    ({ $op:ident }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        match $op {
            $(Op::$u32v => Some((Computes::Unary(UnaryOp::$u32), false, true)),)*
            $(Op::$u32s => Some((Computes::Unary(UnaryOp::$u32), false, false)),)*
            $(Op::$u64v => Some((Computes::Unary(UnaryOp::$u64), true, true)),)*
            $(Op::$u64s => Some((Computes::Unary(UnaryOp::$u64), true, false)),)*
            $(Op::$b32v => Some((Computes::Binary(BinaryOp::$b32), false, true)),)*
            $(Op::$b32s => Some((Computes::Binary(BinaryOp::$b32), false, false)),)*
            $(Op::$b64v => Some((Computes::Binary(BinaryOp::$b64), true, true)),)*
            $(Op::$b64s => Some((Computes::Binary(BinaryOp::$b64), true, false)),)*
            $(Op::$c32v => Some((Computes::Compare(CompareOp::$c32), false, true)),)*
            $(Op::$c32s => Some((Computes::Compare(CompareOp::$c32), false, false)),)*
            $(Op::$c64v => Some((Computes::Compare(CompareOp::$c64), true, true)),)*
            $(Op::$c64s => Some((Computes::Compare(CompareOp::$c64), true, false)),)*
            $(Op::$xv => Some((Computes::Convert, false, true)), Op::$xs => Some((Computes::Convert, false, false)),)*
            $(Op::$wv => Some((Computes::Convert, false, true)), Op::$ws => Some((Computes::Convert, false, false)),)*
            $(Op::$nv => Some((Computes::Convert, true, true)), Op::$ns => Some((Computes::Convert, true, false)),)*
            $(Op::$lv => Some((Computes::Convert, true, true)), Op::$ls => Some((Computes::Convert, true, false)),)*
            _ => None,
        }
    };
}

/// The comparison of a jump or of a loop's end that compares two scalars.
fn jump_compares(op: Op) -> Option<CompareOp> {
    Some(match op {
        Op::JumpEq32 | Op::LoopEq32 => CompareOp::Eq,
        Op::JumpNe32 | Op::LoopNe32 => CompareOp::Ne,
        Op::JumpSlt32 | Op::LoopSlt32 => CompareOp::Slt,
        Op::JumpSle32 | Op::LoopSle32 => CompareOp::Sle,
        Op::JumpSgt32 | Op::LoopSgt32 => CompareOp::Sgt,
        Op::JumpSge32 | Op::LoopSge32 => CompareOp::Sge,
        Op::JumpUlt32 | Op::LoopUlt32 => CompareOp::Ult,
        Op::JumpUle32 | Op::LoopUle32 => CompareOp::Ule,
        Op::JumpUgt32 | Op::LoopUgt32 => CompareOp::Ugt,
        Op::JumpUge32 | Op::LoopUge32 => CompareOp::Uge,
        _ => return None,
    })
}

/// One instruction of one warp.
pub(super) struct Step<'a> {
    pub(super) marks: &'a mut Marks,
    pub(super) known: &'a mut Known,
    pub(super) code: &'a Code,
    pub(super) r: View,
    pub(super) mask: u32,
    pub(super) loc: LocId,
}

impl Step<'_> {
    /// The bits of a lane's value.
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

    /// Why a result of these is hidden, where it is.
    fn why(&self, lanes: u32, cells: &[&Cell]) -> Why {
        let hidden = cells.iter().find(|cell| cell.hidden & lanes != 0);
        hidden.map_or(self.not_linear(), |cell| cell.why)
    }

    /// The result of an instruction that computes each lane's from these places. A scalar is computed once.
    fn lanes(
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

    /// A truth value decides which lanes go where.
    fn decide(&mut self, register: u32) {
        let cell = &self.marks.s[register as usize];
        if cell.hidden & self.mask != 0 {
            self.known.refuse(Decides::Branch, self.loc, Some(cell.why));
        }
    }

    /// These must be the same in all blocks.
    fn fixed(&mut self, places: &[Place]) {
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

    /// Follows an instruction that is no access.
    pub(super) fn follow(&mut self, i: &Inst) {
        let refuse = |what| (what, self.loc);
        let refused = match i.op {
            Op::Print => Some(refuse(Decides::Prints)),
            Op::LaunchChild => Some(refuse(Decides::Launches)),
            Op::HeapMalloc | Op::HeapFree => Some(refuse(Decides::Heap)),
            Op::CallRoutine | Op::EndRoutine => Some(refuse(Decides::Calls)),
            Op::Trap => Some(refuse(Decides::Ends)),
            _ => None,
        };
        if let Some((what, at)) = refused {
            return self.known.refuse(what, at, None);
        }
        match i.op {
            Op::JumpIf
            | Op::JumpIfNot
            | Op::If
            | Op::ParkIf
            | Op::ParkIfNot
            | Op::ExitIf
            | Op::ExitIfNot
            | Op::Assert => self.decide(i.a),
            Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr => {
                let votes = &self.marks.s[i.a as usize];
                let hidden = votes.hidden & self.mask != 0;
                let cell = match hidden {
                    true => Cell::hidden(votes.why),
                    false => Cell::default(),
                };
                self.marks.s[i.d as usize] = cell;
            }
            Op::NumberedBarrier => {
                let row = &self.code.barriers[i.a as usize];
                self.fixed(&[row.barrier, row.threads]);
            }
            Op::SyncWarp => self.fixed(&[match i.b {
                1 => Place::S(i.a),
                _ => Place::V(i.a),
            }]),
            Op::Shuffle | Op::Exchange => self.exchange(i),
            _ if jump_compares(i.op).is_some() => self.jump(i),
            _ => self.moves(i),
        }
    }

    /// A jump that compares two scalars; a loop's end adds to its counter first, and is followed by its head's jump.
    fn jump(&mut self, i: &Inst) {
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
        let Some(op) = jump_compares(at.op) else {
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

    /// What only brings values from one register to another.
    fn moves(&mut self, i: &Inst) {
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
                // What the other side settles alone is known.
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

    /// What computes a value lane by lane.
    fn compute(&mut self, i: &Inst) {
        let (s, v) = (Place::S, Place::V);
        let none = |_: &mut Known, _: &[Number]| None;
        match i.op {
            Op::VFma32 => {
                let from = [(v(i.a), false), (v(i.b), false), (v(i.c), false)];
                return self.lanes(v(i.d), &from, none);
            }
            Op::VFma64 => {
                let from = [(v(i.a), true), (v(i.b), true), (v(i.c), true)];
                return self.lanes(v(i.d), &from, none);
            }
            Op::VFmaInto32 => {
                let from = [(v(i.a), false), (v(i.b), false), (v(i.d), false)];
                return self.lanes(v(i.d), &from, none);
            }
            Op::VFmaInto64 => {
                let from = [(v(i.a), true), (v(i.b), true), (v(i.d), true)];
                return self.lanes(v(i.d), &from, none);
            }
            Op::SFma32 | Op::SFma64 => {
                let from = [(s(i.a), true), (s(i.b), true), (s(i.c), true)];
                return self.lanes(s(i.d), &from, none);
            }
            Op::SPtrS => return self.pointer(i, s, s, Some(true)),
            Op::SPtrU => return self.pointer(i, s, s, Some(false)),
            Op::SPtrL => return self.pointer(i, s, s, None),
            Op::VPtrVS => return self.pointer(i, v, v, Some(true)),
            Op::VPtrVU => return self.pointer(i, v, v, Some(false)),
            Op::VPtrVL => return self.pointer(i, v, v, None),
            Op::VPtrSS => return self.pointer(i, s, v, Some(true)),
            Op::VPtrSU => return self.pointer(i, s, v, Some(false)),
            Op::SPtr32 => return self.short_pointer(i, s, s),
            Op::VPtr32V => return self.short_pointer(i, v, v),
            Op::VPtr32S => return self.short_pointer(i, s, v),
            _ => {}
        }
        let op = i.op;
        let computes = lane_ops! { computes! { op } };
        let Some((computes, wide, varying)) = computes else {
            return;
        };
        let form = Form { wide, varying };
        let place = if varying { v } else { s };
        match computes {
            Computes::Unary(op) => self.unary(i, op, &form),
            Computes::Binary(op) => {
                let from = [(place(i.a), wide), (place(i.b), wide)];
                self.lanes(place(i.d), &from, |known, of| {
                    known.binary(op, wide, of[0], of[1])
                });
            }
            Computes::Compare(op) => self.compare(i, op, &form),
            Computes::Convert => self.convert(i, &form),
        }
    }

    fn unary(&mut self, i: &Inst, op: UnaryOp, form: &Form) {
        let place = if form.varying { Place::V } else { Place::S };
        let wide = form.wide;
        self.lanes(place(i.d), &[(place(i.a), wide)], |_, of| match op {
            // `!a` is `-a - 1`.
            UnaryOp::Neg | UnaryOp::Not => Some(narrowed(times(of[0].step, -1), wide)),
            _ => (of[0].step == STILL).then_some(STILL),
        });
    }

    /// A comparison gives a mask, of one scalar too.
    fn compare(&mut self, i: &Inst, op: CompareOp, form: &Form) {
        let place = if form.varying { Place::V } else { Place::S };
        let lanes = if form.varying { self.mask } else { 1 };
        let (a, b) = (place(i.a), place(i.b));
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

    fn convert(&mut self, i: &Inst, form: &Form) {
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
            // The sign is the highest of the bits, and must not change either.
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

    /// `base + index * scale + offset` in 64 bits. `signed`: of an index of 32 bits, how it is extended.
    fn pointer(
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

    /// The same in 32 bits.
    fn short_pointer(&mut self, i: &Inst, base: fn(u32) -> Place, index: fn(u32) -> Place) {
        let row = self.code.scales[i.c as usize];
        let from = [(base(i.a), false), (index(i.b), false)];
        self.lanes(index(i.d), &from, |_, of| {
            let step = sum(of[0].step, times(of[1].step, row.scale));
            Some(narrowed(step, false))
        });
    }

    /// Lanes give each other values.
    fn exchange(&mut self, i: &Inst) {
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
            // Equal values stay equal where all move alike.
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
