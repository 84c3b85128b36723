//! Quick tests before an operation, under an observer that checks it: whether signed arithmetic may overflow in some
//! lane, or an operand is invalid for the operation.
//!
//! The tests of sums and products look at all 32 lanes, active or not, and the test of products is not exact. A
//! possible overflow is checked again, lane by lane. The tests of divisors and shift counts look only at active lanes,
//! because a loop that divides until nothing is left leaves zeros in lanes that have ended. As in `lanes`, loops over
//! lanes have no branches, and they use no iterators: code that is not inlined is compiled without the engine's CPU
//! features.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the loops must be compiled with the engine's CPU features; they index several arrays"
)]

use crate::isa::bytecode::Inst;
use crate::isa::family::{Family, Form, form};
use crate::isa::op::Op;
use crate::isa::registers::View;

/// If the product of two `f32`s is below this, the exact product of the integers has 31 bits: three roundings change it
/// by less than 400.
const SURE: f32 = 2_147_482_880.0;

/// Whether there is a test for an operation.
pub(crate) const fn is_tested(op: Op) -> bool {
    use Family::{Difference, Negation, Product, Sum};
    let form = form(op);
    matches!(
        form,
        Some(Form {
            family: Sum | Difference | Product | Negation,
            ..
        })
    )
}

/// Whether an operation, which is a compile-time constant, may overflow; `false` for those that cannot.
#[inline(always)]
pub(crate) fn may(op: Op, r: View, i: &Inst) -> bool {
    match op {
        Op::VAddS32 => any32(r, i, |a, b| {
            (a ^ a.wrapping_add(b)) & (b ^ a.wrapping_add(b))
        }),
        Op::VSubS32 => any32(r, i, |a, b| (a ^ b) & (a ^ a.wrapping_sub(b))),
        Op::VMulS32 => product32(r, i),
        Op::VNegS32 => any32(r, &of_one(i), |a, _| a & a.wrapping_neg()),
        Op::VAddS64 => any64(r, i, |a, b| {
            (a ^ a.wrapping_add(b)) & (b ^ a.wrapping_add(b))
        }),
        Op::VSubS64 => any64(r, i, |a, b| (a ^ b) & (a ^ a.wrapping_sub(b))),
        Op::VMulS64 => any64(r, i, |a, b| has_no_32_bits(a) | has_no_32_bits(b)),
        Op::VNegS64 => any64(r, &of_one(i), |a, _| a & a.wrapping_neg()),
        Op::SAddS32 => scalar32(r, i, i32::checked_add),
        Op::SSubS32 => scalar32(r, i, i32::checked_sub),
        Op::SMulS32 => scalar32(r, i, i32::checked_mul),
        Op::SNegS32 => r.s(i.a) as i32 == i32::MIN,
        Op::SAddS64 => scalar64(r, i, i64::checked_add),
        Op::SSubS64 => scalar64(r, i, i64::checked_sub),
        Op::SMulS64 => scalar64(r, i, i64::checked_mul),
        Op::SNegS64 => r.s(i.a) as i64 == i64::MIN,
        _ => false,
    }
}

/// Whether the second operand of a division or a shift, which is a compile-time constant, is invalid in an active lane.
#[inline(always)]
pub(crate) fn has_bad_operand(op: Op, r: View, i: &Inst, mask: u32) -> bool {
    match op {
        Op::VSDiv32 | Op::VUDiv32 | Op::VSRem32 | Op::VURem32 => {
            any_active32(r, i, mask, |b| b == 0)
        }
        Op::VSDiv64 | Op::VUDiv64 | Op::VSRem64 | Op::VURem64 => {
            any_active64(r, i, mask, |b| b == 0)
        }
        Op::VShl32 | Op::VLShr32 | Op::VAShr32 => any_active32(r, i, mask, |b| b >= 32),
        Op::VShl64 | Op::VLShr64 | Op::VAShr64 => any_active64(r, i, mask, |b| b >= 64),
        // Scalar operations run once for the warp, so the exact check is cheap.
        _ => true,
    }
}

/// Whether an operation's operands are invalid in an active lane, or may overflow in some lane.
#[inline(always)]
pub(crate) fn is_wrong(i: &Inst, r: View, mask: u32) -> bool {
    match is_tested(i.op) {
        true => may(i.op, r, i),
        false => has_bad_operand(i.op, r, i, mask),
    }
}

/// Whether the step of a loop overflows: `S[a] + S[c]`.
#[inline(always)]
pub(crate) fn step(r: View, i: &Inst) -> bool {
    (r.s(i.a) as i32).checked_add(r.s(i.c) as i32).is_none()
}

/// A unary operation as a binary one.
#[inline(always)]
fn of_one(i: &Inst) -> Inst {
    Inst { b: i.a, ..*i }
}

/// Whether the highest bit of `f` is set in some lane.
#[inline(always)]
fn any32(r: View, i: &Inst, f: impl Fn(u32, u32) -> u32) -> bool {
    let (a, b) = (r.v32(i.a), r.v32(i.b));
    let mut bits = 0;
    for l in 0..32 {
        bits |= f(a[l], b[l]);
    }
    bits >> 31 == 1
}

#[inline(always)]
fn any64(r: View, i: &Inst, f: impl Fn(u64, u64) -> u64) -> bool {
    let (a, b) = (r.v64(i.a), r.v64(i.b));
    let mut bits = 0;
    for l in 0..32 {
        bits |= f(a[l], b[l]);
    }
    bits >> 63 == 1
}

/// Whether `is` holds for the second operand in some active lane.
#[inline(always)]
fn any_active32(r: View, i: &Inst, mask: u32, is: impl Fn(u32) -> bool) -> bool {
    let (b, mut any) = (r.v32(i.b), 0);
    for l in 0..32 {
        any |= u32::from(is(b[l])) & mask >> l;
    }
    any & 1 == 1
}

#[inline(always)]
fn any_active64(r: View, i: &Inst, mask: u32, is: impl Fn(u64) -> bool) -> bool {
    let (b, mask, mut any) = (r.v64(i.b), u64::from(mask), 0);
    for l in 0..32 {
        any |= u64::from(is(b[l])) & mask >> l;
    }
    any & 1 == 1
}

/// The highest bit is set if the number does not fit in 32 bits, signed.
#[inline(always)]
fn has_no_32_bits(a: u64) -> u64 {
    (a.wrapping_add(1 << 31) >> 32).wrapping_neg()
}

/// Tests the product of the nearest `f32`s, because few CPUs multiply 32 bits to 64 quickly.
#[inline(always)]
fn product32(r: View, i: &Inst) -> bool {
    let (a, b) = (r.v32(i.a), r.v32(i.b));
    let mut largest = 0;
    for l in 0..32 {
        let product = a[l] as i32 as f32 * b[l] as i32 as f32;
        largest = largest.max(product.to_bits() & 0x7fff_ffff);
    }
    largest > SURE.to_bits()
}

#[inline(always)]
fn scalar32(r: View, i: &Inst, f: impl Fn(i32, i32) -> Option<i32>) -> bool {
    f(r.s(i.a) as i32, r.s(i.b) as i32).is_none()
}

#[inline(always)]
fn scalar64(r: View, i: &Inst, f: impl Fn(i64, i64) -> Option<i64>) -> bool {
    f(r.s(i.a) as i64, r.s(i.b) as i64).is_none()
}
