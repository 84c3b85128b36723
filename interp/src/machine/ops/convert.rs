//! Lane functions from one value to a value of another type, on bit patterns: conversions, and tests of address
//! windows. Rust's `as` truncates and saturates; NaN is handled here.

#![allow(
    clippy::inline_always,
    reason = "lane functions must vanish into the loop over the lanes"
)]

use ir::{bfloat16, half};

use crate::memory::layout;

const NAN_AS_64: u64 = 1 << 63;
const NAN_AS_32: u32 = 1 << 31;

macro_rules! conversions {
    ($($name:ident ($a:ident: $from:ty) -> $to:ty $body:block)*) => { $(
        #[inline(always)]
        pub(crate) fn $name($a: $from) -> $to $body
    )* };
}

conversions! {
    sext(a: u32) -> u64 { a as i32 as i64 as u64 }
    zext(a: u32) -> u64 { a as u64 }
    trunc(a: u64) -> u32 { a as u32 }
    sext8(a: u32) -> u32 { a as i8 as u32 }
    zext8(a: u32) -> u32 { a as u8 as u32 }
    sext16(a: u32) -> u32 { a as i16 as u32 }
    zext16(a: u32) -> u32 { a as u16 as u32 }
    s32_to_f32(a: u32) -> u32 { (a as i32 as f32).to_bits() }
    u32_to_f32(a: u32) -> u32 { (a as f32).to_bits() }
    s64_to_f32(a: u64) -> u32 { (a as i64 as f32).to_bits() }
    u64_to_f32(a: u64) -> u32 { (a as f32).to_bits() }
    s32_to_f64(a: u32) -> u64 { (a as i32 as f64).to_bits() }
    u32_to_f64(a: u32) -> u64 { (a as f64).to_bits() }
    s64_to_f64(a: u64) -> u64 { (a as i64 as f64).to_bits() }
    u64_to_f64(a: u64) -> u64 { (a as f64).to_bits() }
    f32_to_s32(a: u32) -> u32 { f32::from_bits(a) as i32 as u32 }
    f32_to_u32(a: u32) -> u32 { f32::from_bits(a) as u32 }
    f16_to_f32(a: u32) -> u32 { half::to_f32(a) }
    f32_to_f16(a: u32) -> u32 { half::from_f32(a) }
    f32_to_bf16(a: u32) -> u32 { bfloat16::from_f32(a) }
    f32_to_s64(a: u32) -> u64 { let x = f32::from_bits(a); if x.is_nan() { NAN_AS_64 } else { x as i64 as u64 } }
    f32_to_u64(a: u32) -> u64 { let x = f32::from_bits(a); if x.is_nan() { NAN_AS_64 } else { x as u64 } }
    f64_to_s32(a: u64) -> u32 { let x = f64::from_bits(a); if x.is_nan() { NAN_AS_32 } else { x as i32 as u32 } }
    f64_to_u32(a: u64) -> u32 { let x = f64::from_bits(a); if x.is_nan() { NAN_AS_32 } else { x as u32 } }
    f64_to_s64(a: u64) -> u64 { let x = f64::from_bits(a); if x.is_nan() { NAN_AS_64 } else { x as i64 as u64 } }
    f64_to_u64(a: u64) -> u64 { let x = f64::from_bits(a); if x.is_nan() { NAN_AS_64 } else { x as u64 } }
    f32_to_f64(a: u32) -> u64 {
        if f32::from_bits(a).is_nan() {
            ((a as u64 >> 31) << 63) | 0x7ff8_0000_0000_0000 | ((a as u64 & 0x007f_ffff) << 29)
        } else {
            (f32::from_bits(a) as f64).to_bits()
        }
    }
    f64_to_f32(a: u64) -> u32 {
        if f64::from_bits(a).is_nan() {
            ((a >> 63) << 31) as u32 | 0x7fc0_0000 | (a >> 29) as u32 & 0x003f_ffff
        } else {
            (f64::from_bits(a) as f32).to_bits()
        }
    }
    widen_shared(a: u32) -> u64 { layout::widen(layout::SHARED, a) }
    widen_local(a: u32) -> u64 { layout::widen(layout::LOCAL, a) }
    narrow_shared(a: u64) -> u32 { layout::narrow(layout::SHARED, a) }
    narrow_local(a: u64) -> u32 { layout::narrow(layout::LOCAL, a) }
    is_shared(a: u64) -> u32 { layout::is_in(layout::SHARED, a) as u32 }
    is_local(a: u64) -> u32 { layout::is_in(layout::LOCAL, a) as u32 }
    is_constant(a: u64) -> u32 { layout::is_in(layout::CONSTANTS, a) as u32 }
    is_global(a: u64) -> u32 {
        let windows = [layout::SHARED, layout::LOCAL, layout::CONSTANTS];
        !windows.iter().any(|&window| layout::is_in(window, a)) as u32
    }
}
