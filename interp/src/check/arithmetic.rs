//! Checks for divisions by zero, shifts out of range, and signed overflow.

use crate::isa::bytecode::{Code, Inst, Place};
use crate::isa::family::{Family, Form, form};
use crate::isa::op::Op;
use crate::isa::registers::View;
use ir::{BinaryOp, Type, eval};

/// By operation: whether it can have an invalid operand.
pub(super) const RISKY: [bool; 1024] = {
    let mut risky = [false; 1024];
    let mut k = 0;
    while k < Op::COMPUTING.len() {
        let op = Op::COMPUTING[k];
        risky[op as usize] = form(op).is_some();
        k += 1;
    }
    risky
};

/// The family of an operation.
pub(super) fn family(op: Op) -> Option<Family> {
    form(op).map(|form| form.family)
}

/// Whether its operands have 64 bits.
pub(super) fn is_wide(op: Op) -> bool {
    form(op).is_some_and(|form| form.wide)
}

impl Form {
    fn is_wrong(self, a: u64, b: u64) -> bool {
        let ty = if self.wide { Type::I64 } else { Type::I32 };
        match (self.family, self.wide) {
            (Family::Shift, false) => b as u32 >= 32,
            (Family::Shift, true) => b as u32 >= 64,
            (Family::Division, _) => b == 0,
            (Family::Sum | Family::Step, _) => eval::overflows(BinaryOp::SAdd, ty, a, b),
            (Family::Difference, _) => eval::overflows(BinaryOp::SSub, ty, a, b),
            (Family::Product, _) => eval::overflows(BinaryOp::SMul, ty, a, b),
            (Family::Negation, _) => eval::overflows(BinaryOp::SSub, ty, 0, a),
        }
    }

    /// Both operands of a lane; for a unary operation, its operand twice.
    fn operands(self, r: View, inst: &Inst, lane: usize) -> (u64, u64) {
        let second = match self.family {
            Family::Negation => inst.a,
            Family::Step => inst.c,
            _ => inst.b,
        };
        let operand = |register: u32| match (self.varying, self.wide) {
            (true, false) => u64::from(r.v32(register)[lane]),
            (true, true) => r.v64(register)[lane],
            (false, false) => u64::from(r.s(register) as u32),
            (false, true) => r.s(register),
        };
        (operand(inst.a), operand(second))
    }
}

/// Lanes, active or not, with invalid operands.
pub(super) fn wrong_lanes(r: View, inst: &Inst) -> u32 {
    let Some(form) = form(inst.op) else { return 0 };
    let is_wrong = |lane: usize| {
        let (a, b) = form.operands(r, inst, lane);
        form.is_wrong(a, b)
    };
    if !form.varying {
        return if is_wrong(0) { u32::MAX } else { 0 };
    }
    (0..32).fold(0, |lanes, lane| lanes | u32::from(is_wrong(lane)) << lane)
}

/// Both operands of a lane, as signed numbers.
pub(super) fn operands(r: View, inst: &Inst, lane: usize) -> (i64, i64) {
    let Some(form) = form(inst.op) else {
        return (0, 0);
    };
    let signed = |bits: u64| match form.wide {
        true => bits as i64,
        false => i64::from(bits as u32 as i32),
    };
    let (a, b) = form.operands(r, inst, lane);
    (signed(a), signed(b))
}

/// By instruction: those that need no check, because their second operand is a valid constant. `wanted`: whether any
/// needs one.
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
    let is_safe = |(pc, inst): (usize, &Inst)| {
        let Some(form) = form(inst.op) else {
            return true;
        };
        let place = match form.varying {
            true => Place::V(inst.b),
            false => Place::S(inst.b),
        };
        match form.family {
            _ if !wanted => true,
            Family::Division | Family::Shift => {
                constant(place).is_some_and(|bits| !form.is_wrong(0, bits))
            }
            Family::Step => !code.signed_steps.contains_key(&(pc as u32)),
            Family::Sum | Family::Difference | Family::Product | Family::Negation => false,
        }
    };
    code.insts.iter().enumerate().map(is_safe).collect()
}
