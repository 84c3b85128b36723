//! Registers of the second form, and the kinds of indexes.

#![allow(
    clippy::inline_always,
    reason = "they must vanish into the loop's arms"
)]

use crate::isa::registers::View;

#[inline(always)]
pub(super) fn get(r: View, register: u16) -> u64 {
    r.s(register.into())
}

#[inline(always)]
pub(super) fn set(r: View, register: u16, bits: u64) {
    r.set_s(register.into(), bits);
}

#[inline(always)]
pub(super) fn signed(bits: u64) -> u64 {
    i64::from(bits as i32) as u64
}

#[inline(always)]
pub(super) fn unsigned(bits: u64) -> u64 {
    u64::from(bits as u32)
}

#[inline(always)]
pub(super) fn long(bits: u64) -> u64 {
    bits
}
