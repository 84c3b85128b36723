//! Registers by the fields of an instruction of the second form, and the operations of one scalar on them: lane functions applied as
//! `machine::ops::lanes` applies them in the first form.

#![allow(
    clippy::inline_always,
    reason = "they must vanish into the loop's arms"
)]

use crate::isa::host::HostInst;
use crate::isa::registers::View;

#[inline(always)]
pub(super) fn get(r: View, register: u16) -> u64 {
    r.s(register.into())
}

#[inline(always)]
pub(super) fn set(r: View, register: u16, bits: u64) {
    r.set_s(register.into(), bits);
}

macro_rules! operations {
    ($($unary:ident $binary:ident $ternary:ident $compare:ident $ty:ty;)*) => { $(
        #[inline(always)]
        pub(super) fn $unary(r: View, i: &HostInst, f: impl Fn($ty) -> $ty) {
            set(r, i.d, f(get(r, i.a) as $ty) as u64);
        }
        #[inline(always)]
        pub(super) fn $binary(r: View, i: &HostInst, f: impl Fn($ty, $ty) -> $ty) {
            set(r, i.d, f(get(r, i.a) as $ty, get(r, i.b) as $ty) as u64);
        }
        #[inline(always)]
        pub(super) fn $ternary(r: View, i: &HostInst, f: impl Fn($ty, $ty, $ty) -> $ty) {
            set(r, i.d, f(get(r, i.a) as $ty, get(r, i.b) as $ty, get(r, i.c) as $ty) as u64);
        }
        #[inline(always)]
        pub(super) fn $compare(r: View, i: &HostInst, f: impl Fn($ty, $ty) -> bool) {
            let holds = f(get(r, i.a) as $ty, get(r, i.b) as $ty);
            set(r, i.d, u64::from(0u32.wrapping_sub(u32::from(holds))));
        }
    )* };
}

operations! {
    s_unary32 s_binary32 s_fma32 s_compare32 u32;
    s_unary64 s_binary64 s_fma64 s_compare64 u64;
}

macro_rules! conversions {
    ($($name:ident $from:ty, $to:ty;)*) => { $(
        #[inline(always)]
        pub(super) fn $name(r: View, i: &HostInst, f: impl Fn($from) -> $to) {
            set(r, i.d, f(get(r, i.a) as $from) as u64);
        }
    )* };
}

conversions! {
    s_convert32to32 u32, u32;
    s_convert32to64 u32, u64;
    s_convert64to32 u64, u32;
    s_convert64to64 u64, u64;
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
