//! Tracks one instruction of a representative: the table of operations, with what each does to the cells.
//! [`effect`](super::effect) applies it.
//!
//! The input is the registers before the instruction. Inactive lanes are left out, because no instruction reads their
//! results.

use ir::{BinaryOp, CompareOp, LocId, UnaryOp};

use super::cell::{Cause, Cell, Why};
use super::cover::STILL;
use super::known::{Decides, Known, Number};
use crate::isa::bytecode::{Code, Inst, Place, S_CTAID, S_SM};
use crate::isa::op::{Op, lane_ops};
use crate::isa::registers::View;

/// How the registers of a warp move.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) s: Vec<Cell>,
    pub(super) v: Vec<Cell>,
}

impl Marks {
    /// The state at the start of a block: the block index is known, and everything else is the same in all blocks.
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

/// What an instruction in the table computes.
enum Computes {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    /// A comparison with one scalar.
    CompareScalar(CompareOp),
    Convert,
}

/// The width of the operands, and whether the operation works on 32 lanes.
pub(super) struct Form {
    pub(super) wide: bool,
    pub(super) varying: bool,
}

macro_rules! computes {
    ({ $op:ident }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
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
            $(Op::$c32b => Some((Computes::CompareScalar(CompareOp::$c32), false, true)),)*
            $(Op::$c32s => Some((Computes::Compare(CompareOp::$c32), false, false)),)*
            $(Op::$c64v => Some((Computes::Compare(CompareOp::$c64), true, true)),)*
            $(Op::$c64b => Some((Computes::CompareScalar(CompareOp::$c64), true, true)),)*
            $(Op::$c64s => Some((Computes::Compare(CompareOp::$c64), true, false)),)*
            $(Op::$xv => Some((Computes::Convert, false, true)), Op::$xs => Some((Computes::Convert, false, false)),)*
            $(Op::$wv => Some((Computes::Convert, false, true)), Op::$ws => Some((Computes::Convert, false, false)),)*
            $(Op::$nv => Some((Computes::Convert, true, true)), Op::$ns => Some((Computes::Convert, true, false)),)*
            $(Op::$lv => Some((Computes::Convert, true, true)), Op::$ls => Some((Computes::Convert, true, false)),)*
            _ => None,
        }
    };
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
    /// Tracks an instruction that is not an access.
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
            op if op.tests_lanes() || op == Op::Assert => self.decide(i.a),
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
            op if op.compares().is_some() => self.jump(i),
            _ => self.moves(i),
        }
    }

    /// Tracks an operation that computes a value in each lane.
    pub(super) fn compute(&mut self, i: &Inst) {
        let (s, v) = (Place::S, Place::V);
        let none = |_: &mut Known, _: &[Number]| None;
        match i.op {
            Op::VFma32 | Op::VFmaHalves | Op::VFmaBfloats => {
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
            Op::SFma32 | Op::SFma64 | Op::SFmaHalves | Op::SFmaBfloats => {
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
            Computes::Compare(op) => self.compare(i, op, &form, [place(i.a), place(i.b)]),
            Computes::CompareScalar(op) => self.compare(i, op, &form, [place(i.a), s(i.b)]),
            Computes::Convert => self.convert(i, &form),
        }
    }
}
