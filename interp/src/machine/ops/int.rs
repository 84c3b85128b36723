//! Integer lane functions: what one lane does, on bit patterns. The engine applies them to 32 lanes.

#![allow(
    clippy::inline_always,
    reason = "lane functions must vanish into the loop over the lanes"
)]

macro_rules! both {
    ($n32:ident, $n64:ident, |$($x:ident),*| $body:expr) => {
        #[inline(always)]
        pub(crate) fn $n32($($x: u32),*) -> u32 { type U = u32; type I = i32; type W = u64; type SW = i64; const BITS: u32 = 32; unused::<I, W, SW>(BITS); let r: U = $body; r }
        #[inline(always)]
        pub(crate) fn $n64($($x: u64),*) -> u64 { type U = u64; type I = i64; type W = u128; type SW = i128; const BITS: u32 = 64; unused::<I, W, SW>(BITS); let r: U = $body; r }
    };
}

#[inline(always)]
fn unused<A, B, C>(_: u32) {}

both!(neg32, neg64, |a| a.wrapping_neg());
both!(not32, not64, |a| !a);
both!(popc32, popc64, |a| a.count_ones() as U);
both!(clz32, clz64, |a| a.leading_zeros() as U);
both!(brev32, brev64, |a| a.reverse_bits());
both!(add32, add64, |a, b| a.wrapping_add(b));
both!(sub32, sub64, |a, b| a.wrapping_sub(b));
both!(mul32, mul64, |a, b| a.wrapping_mul(b));
both!(
    smulhi32,
    smulhi64,
    |a, b| ((a as I as SW * b as I as SW) >> BITS) as U
);
both!(umulhi32, umulhi64, |a, b| ((a as W * b as W) >> BITS) as U);
both!(sdiv32, sdiv64, |a, b| if b == 0 {
    U::MAX
} else {
    (a as I).wrapping_div(b as I) as U
});
both!(udiv32, udiv64, |a, b| a.checked_div(b).unwrap_or(U::MAX));
both!(srem32, srem64, |a, b| if b == 0 {
    a
} else {
    (a as I).wrapping_rem(b as I) as U
});
both!(urem32, urem64, |a, b| a.checked_rem(b).unwrap_or(a));
both!(and32, and64, |a, b| a & b);
both!(or32, or64, |a, b| a | b);
both!(xor32, xor64, |a, b| a ^ b);
both!(shl32, shl64, |a, b| if (b as u32) < BITS {
    a << (b as u32 % BITS)
} else {
    0
});
both!(lshr32, lshr64, |a, b| if (b as u32) < BITS {
    a >> (b as u32 % BITS)
} else {
    0
});
both!(ashr32, ashr64, |a, b| (a as I >> (b as u32).min(BITS - 1))
    as U);
both!(smin32, smin64, |a, b| (a as I).min(b as I) as U);
both!(smax32, smax64, |a, b| (a as I).max(b as I) as U);
both!(umin32, umin64, |a, b| a.min(b));
both!(umax32, umax64, |a, b| a.max(b));

/// Sums of products of parts of two words. Each part is a separate shift and conversion.
macro_rules! dots {
    ($($name:ident: $($a:ident >> $left:literal * $b:ident >> $right:literal),*;)*) => { $(
        #[inline(always)]
        pub(crate) fn $name(a: u32, b: u32) -> u32 {
            (0 $(+ (a >> $left) as $a as i32 * (b >> $right) as $b as i32)*) as u32
        }
    )* };
}

dots! {
    sdot4: i8 >> 0 * i8 >> 0, i8 >> 8 * i8 >> 8, i8 >> 16 * i8 >> 16, i8 >> 24 * i8 >> 24;
    udot4: u8 >> 0 * u8 >> 0, u8 >> 8 * u8 >> 8, u8 >> 16 * u8 >> 16, u8 >> 24 * u8 >> 24;
    sdot2lo: i16 >> 0 * i8 >> 0, i16 >> 16 * i8 >> 8;
    sdot2hi: i16 >> 0 * i8 >> 16, i16 >> 16 * i8 >> 24;
    udot2lo: u16 >> 0 * u8 >> 0, u16 >> 16 * u8 >> 8;
    udot2hi: u16 >> 0 * u8 >> 16, u16 >> 16 * u8 >> 24;
}

macro_rules! compares {
    ($($n32:ident $n64:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        #[inline(always)]
        pub(crate) fn $n32($a: u32, $b: u32) -> bool { type I = i32; unused::<I, I, I>(0); $body }
        #[inline(always)]
        pub(crate) fn $n64($a: u64, $b: u64) -> bool { type I = i64; unused::<I, I, I>(0); $body }
    )* };
}

compares! {
    eq32 eq64 |a, b| a == b;
    ne32 ne64 |a, b| a != b;
    slt32 slt64 |a, b| (a as I) < (b as I);
    sle32 sle64 |a, b| (a as I) <= (b as I);
    sgt32 sgt64 |a, b| (a as I) > (b as I);
    sge32 sge64 |a, b| (a as I) >= (b as I);
    ult32 ult64 |a, b| a < b;
    ule32 ule64 |a, b| a <= b;
    ugt32 ugt64 |a, b| a > b;
    uge32 uge64 |a, b| a >= b;
}
