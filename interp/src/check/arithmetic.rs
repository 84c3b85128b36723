//! Divisions by zero and shifts out of range.

use crate::isa::bytecode::{Code, Inst, Place};
use crate::isa::op::Op;
use crate::isa::registers::View;

/// Families of operations that can go wrong: division and remainder, shifts; of 32 and 64 bits.
const DIVISIONS_32: [(Op, Op); 4] = [
    (Op::VSDiv32, Op::SSDiv32),
    (Op::VUDiv32, Op::SUDiv32),
    (Op::VSRem32, Op::SSRem32),
    (Op::VURem32, Op::SURem32),
];
const DIVISIONS_64: [(Op, Op); 4] = [
    (Op::VSDiv64, Op::SSDiv64),
    (Op::VUDiv64, Op::SUDiv64),
    (Op::VSRem64, Op::SSRem64),
    (Op::VURem64, Op::SURem64),
];
const SHIFTS_32: [(Op, Op); 3] = [
    (Op::VShl32, Op::SShl32),
    (Op::VLShr32, Op::SLShr32),
    (Op::VAShr32, Op::SAShr32),
];
const SHIFTS_64: [(Op, Op); 3] = [
    (Op::VShl64, Op::SShl64),
    (Op::VLShr64, Op::SLShr64),
    (Op::VAShr64, Op::SAShr64),
];

/// By operation: whether it is one of them.
pub(super) const RISKY: [bool; 1024] = {
    let mut risky = [false; 1024];
    let mut k = 0;
    while k < 4 {
        risky[DIVISIONS_32[k].0 as usize] = true;
        risky[DIVISIONS_32[k].1 as usize] = true;
        risky[DIVISIONS_64[k].0 as usize] = true;
        risky[DIVISIONS_64[k].1 as usize] = true;
        if k < 3 {
            risky[SHIFTS_32[k].0 as usize] = true;
            risky[SHIFTS_32[k].1 as usize] = true;
            risky[SHIFTS_64[k].0 as usize] = true;
            risky[SHIFTS_64[k].1 as usize] = true;
        }
        k += 1;
    }
    risky
};

/// What an operation is.
#[derive(Clone, Copy)]
struct Form {
    shift: bool,
    wide: bool,
    varying: bool,
}

fn form(op: Op) -> Option<Form> {
    let among = |ops: &[(Op, Op)], shift: bool, wide: bool| {
        let pair = ops.iter().find(|&&(v, s)| op == v || op == s);
        pair.map(|&(v, _)| Form {
            shift,
            wide,
            varying: op == v,
        })
    };
    among(&DIVISIONS_32, false, false)
        .or_else(|| among(&DIVISIONS_64, false, true))
        .or_else(|| among(&SHIFTS_32, true, false))
        .or_else(|| among(&SHIFTS_64, true, true))
}

/// Whether an operation shifts (else it divides).
pub(super) fn shifts(op: Op) -> bool {
    form(op).is_some_and(|form| form.shift)
}

fn is_wrong(form: Form, bits: u64) -> bool {
    match (form.shift, form.wide) {
        (true, false) => bits as u32 >= 32,
        (true, true) => bits as u32 >= 64,
        (false, false) => bits as u32 == 0,
        (false, true) => bits == 0,
    }
}

fn operand(r: View, form: Form, register: u32, lane: usize) -> u64 {
    match (form.varying, form.wide) {
        (true, false) => u64::from(r.v32(register)[lane]),
        (true, true) => r.v64(register)[lane],
        (false, false) => u64::from(r.s(register) as u32),
        (false, true) => r.s(register),
    }
}

/// Lanes, active or not, whose second operand is wrong.
pub(super) fn wrong_lanes(r: View, inst: &Inst) -> u32 {
    let Some(form) = form(inst.op) else { return 0 };
    if !form.varying {
        return if is_wrong(form, operand(r, form, inst.b, 0)) {
            u32::MAX
        } else {
            0
        };
    }
    (0..32).fold(0, |lanes, lane| {
        lanes | u32::from(is_wrong(form, operand(r, form, inst.b, lane))) << lane
    })
}

/// Both operands of a lane, as signed numbers.
pub(super) fn operands(r: View, inst: &Inst, lane: usize) -> (i64, i64) {
    let Some(form) = form(inst.op) else {
        return (0, 0);
    };
    let signed = |register: u32| {
        let bits = operand(r, form, register, lane);
        if form.wide {
            bits as i64
        } else {
            i64::from(bits as u32 as i32)
        }
    };
    (signed(inst.a), signed(inst.b))
}

/// By instruction: those that need no look, because their second operand is a constant that is right. `wanted`: whether any does.
pub(super) fn safe(code: &Code, wanted: bool) -> Vec<bool> {
    let constant = |place: Place| match place {
        Place::S(register) => code
            .registers
            .s_init
            .iter()
            .find(|&&(at, _)| at == register)
            .map(|&(_, bits)| bits),
        Place::V(register) => code
            .registers
            .v_init
            .iter()
            .find(|&&(at, _, _)| at == register)
            .map(|&(_, _, bits)| bits),
    };
    code.insts
        .iter()
        .map(|inst| {
            let Some(form) = form(inst.op) else {
                return true;
            };
            let place = if form.varying {
                Place::V(inst.b)
            } else {
                Place::S(inst.b)
            };
            !wanted || constant(place).is_some_and(|bits| !is_wrong(form, bits))
        })
        .collect()
}
