//! Operations on a loaded value, the other operand, and the old value of the result register.
//!
//! A sum or product of two NaNs may be either: the language does not specify which.

#![allow(
    clippy::inline_always,
    reason = "they must vanish into the loop's arms"
)]

use crate::machine::ops::{float, int};

#[inline(always)]
pub(super) fn add32(loaded: u32, other: u32, _: u32) -> u32 {
    int::add32(other, loaded)
}

#[inline(always)]
pub(super) fn add64(loaded: u64, other: u64, _: u64) -> u64 {
    int::add64(other, loaded)
}

#[inline(always)]
pub(super) fn fadd32(loaded: u32, other: u32, _: u32) -> u32 {
    float::fadd32(other, loaded)
}

#[inline(always)]
pub(super) fn fadd64(loaded: u64, other: u64, _: u64) -> u64 {
    float::fadd64(other, loaded)
}

#[inline(always)]
pub(super) fn fmul32(loaded: u32, other: u32, _: u32) -> u32 {
    float::fmul32(other, loaded)
}

#[inline(always)]
pub(super) fn fmul64(loaded: u64, other: u64, _: u64) -> u64 {
    float::fmul64(other, loaded)
}

/// A product and a sum, each rounded.
#[inline(always)]
pub(super) fn fmul_add32(loaded: u32, other: u32, sum: u32) -> u32 {
    float::mul_and_add32(other, loaded, sum)
}

#[inline(always)]
pub(super) fn fmul_add64(loaded: u64, other: u64, sum: u64) -> u64 {
    float::fadd64(sum, float::fmul64(other, loaded))
}
