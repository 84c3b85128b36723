//! Finds the code between two barriers that an idle warp can skip ([`isa::idle`](crate::isa::idle)).

use crate::isa::bytecode::{Code, Inst, S_NTID, S_TID_YZ, V_FREE, V_TID};
use crate::isa::computing::{Computes, computing};
use crate::isa::fields::{Field, fields};
use crate::isa::idle::IdleRound;
use crate::isa::op::Op;

/// Makes each barrier name the code after it, if an idle warp can skip that: field `b` is the row plus 1.
pub(super) fn find(code: &mut Code) {
    for at in 0..code.insts.len() {
        if code.insts[at].op == Op::Barrier
            && let Some(round) = behind(code, at)
        {
            code.idle.push(round);
            code.insts[at].b = code.idle.len() as u32;
        }
    }
    for round in &mut code.idle {
        round.next = code.insts[round.barrier as usize].b;
    }
}

/// The idle round after the barrier at a place.
fn behind(code: &Code, at: usize) -> Option<IdleRound> {
    let inst = |at: usize| code.insts.get(at).copied();
    let compare = inst(at + 1)?;
    let of = computing(compare.op).filter(|of| of.varying && !of.wide)?;
    let is_compare = matches!(of.what, Computes::Compare(_) | Computes::CompareScalar(_));
    let next = inst(at + 2)?;
    let (join, barrier) = (inst(next.b as usize)?, inst(next.b as usize + 1)?);
    let joins = join.op == Op::Join && join.d == next.d && next.b as usize > at + 2;
    if !is_compare
        || next.op != Op::If
        || next.a != compare.d
        || !joins
        || barrier.op != Op::Barrier
    {
        return None;
    }
    let of_lanes = u64::from(next.weight) + u64::from(barrier.weight);
    Some(IdleRound {
        compare,
        is_known: is_known(code, &compare),
        instructions: of_lanes + u64::from(join.weight),
        of_lanes,
        branches: 1 + u64::from(next.c),
        barrier: next.b + 1,
        next: 0,
    })
}

/// Whether every block begins with the same values of both operands, and nothing writes them.
fn is_known(code: &Code, compare: &Inst) -> bool {
    let layout = &code.registers;
    let varying = |register: u32| {
        (V_TID..V_FREE).contains(&register)
            || layout
                .v_init
                .iter()
                .any(|&(constant, ..)| constant == register)
    };
    let scalar = |register: u32| {
        (S_NTID..S_TID_YZ).contains(&register)
            || layout
                .s_init
                .iter()
                .any(|&(constant, _)| constant == register)
    };
    let second = match fields(compare.op).map(|fields| fields.b) {
        Some(Field::Scalar) => scalar(compare.b),
        _ => varying(compare.b),
    };
    varying(compare.a) && second
}
