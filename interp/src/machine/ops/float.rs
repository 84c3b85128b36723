//! Float lane functions on bit patterns. A NaN that results from single-precision arithmetic is the GPU's `0x7fffffff`.
//! In double precision it is the CPU's, which equals the GPU's (the first NaN operand made quiet, otherwise `0xfff8…`).

#![allow(
    clippy::inline_always,
    reason = "lane functions must vanish into the loop over the lanes"
)]

pub(crate) const NAN_F32: u32 = 0x7fff_ffff;

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

#[inline(always)]
fn out(value: f32) -> u32 {
    if value.is_nan() {
        NAN_F32
    } else {
        value.to_bits()
    }
}

macro_rules! arithmetic {
    ($($n32:ident $n64:ident |$($x:ident),*| $body:expr;)*) => { $(
        #[inline(always)]
        pub(crate) fn $n32($($x: u32),*) -> u32 { $(let $x = f($x);)* out($body) }
        #[inline(always)]
        pub(crate) fn $n64($($x: u64),*) -> u64 { $(let $x = d($x);)* ($body).to_bits() }
    )* };
}

arithmetic! {
    fadd32 fadd64 |a, b| a + b;
    fsub32 fsub64 |a, b| a - b;
    fmul32 fmul64 |a, b| a * b;
    fdiv32 fdiv64 |a, b| a / b;
    frem32 frem64 |a, b| a % b;
    fma32 fma64 |a, b, c| a.mul_add(b, c);
    fsqrt32 fsqrt64 |a| a.sqrt();
}

/// Rounding to integers. Some CPUs have no instruction for it, and the library function returns a signalling NaN
/// unchanged.
macro_rules! roundings {
    ($($n32:ident $n64:ident $round:ident;)*) => { $(
        #[inline(always)]
        pub(crate) fn $n32(a: u32) -> u32 { out(f(a).$round()) }
        #[inline(always)]
        pub(crate) fn $n64(a: u64) -> u64 {
            let quiet = u64::from(d(a).is_nan()) << 51;
            d(a).$round().to_bits() | quiet
        }
    )* };
}

roundings! {
    ffloor32 ffloor64 floor;
    fceil32 fceil64 ceil;
    ftrunc32 ftrunc64 trunc;
    frint32 frint64 round_ties_even;
    fround32 fround64 round;
}

/// The GPU's special function units, lane by lane.
macro_rules! units {
    ($($name:ident $unit:ident;)*) => { $(
        #[inline]
        pub(crate) fn $name(a: u32) -> u32 { ir::approx::$unit(a) }
    )* };
}

units! {
    rcp_approx32 rcp;
    rsqrt_approx32 rsqrt;
    sqrt_approx32 sqrt;
    ex2_approx32 ex2;
    lg2_approx32 lg2;
    sin_approx32 sin;
    cos_approx32 cos;
    tanh_approx32 tanh;
}

/// `fadd32(fmul32(a, b), c)`. If the product is a NaN, the sum is the GPU's NaN anyway, so the product is not
/// normalised.
#[inline(always)]
pub(crate) fn mul_and_add32(a: u32, b: u32, c: u32) -> u32 {
    let sum = f(a) * f(b) + f(c);
    // A branch, because it is hardly ever taken, and code that reads the sum need not wait for it.
    if sum.is_nan() {
        return rare_nan32();
    }
    sum.to_bits()
}

#[cold]
fn rare_nan32() -> u32 {
    NAN_F32
}

macro_rules! bits {
    ($neg:ident $abs:ident $min:ident $max:ident $u:ty, $i:ty, $f:ident, $sign:expr, $nan:expr) => {
        #[inline(always)]
        pub(crate) fn $neg(a: $u) -> $u {
            a ^ $sign
        }
        #[inline(always)]
        pub(crate) fn $abs(a: $u) -> $u {
            a & !$sign
        }
        /// Returns the other operand if one is NaN. Zeros are ordered by sign.
        #[inline(always)]
        pub(crate) fn $min(a: $u, b: $u) -> $u {
            let (x, y) = ($f(a), $f(b));
            let low = if x < y {
                a
            } else if y < x {
                b
            } else {
                a | b
            };
            if x.is_nan() {
                if y.is_nan() { $nan(a) } else { b }
            } else if y.is_nan() {
                a
            } else {
                low
            }
        }
        #[inline(always)]
        pub(crate) fn $max(a: $u, b: $u) -> $u {
            let (x, y) = ($f(a), $f(b));
            let high = if x > y {
                a
            } else if y > x {
                b
            } else {
                a & b
            };
            if x.is_nan() {
                if y.is_nan() { $nan(a) } else { b }
            } else if y.is_nan() {
                a
            } else {
                high
            }
        }
    };
}

#[inline(always)]
fn nan32(_: u32) -> u32 {
    NAN_F32
}
#[inline(always)]
fn nan64(a: u64) -> u64 {
    a | 0x0008_0000_0000_0000
}

bits!(fneg32 fabs32 fmin32 fmax32 u32, i32, f, 0x8000_0000u32, nan32);
bits!(fneg64 fabs64 fmin64 fmax64 u64, i64, d, 0x8000_0000_0000_0000u64, nan64);

macro_rules! compares {
    ($($n32:ident $n64:ident $op:tt;)*) => { $(
        #[inline(always)]
        pub(crate) fn $n32(a: u32, b: u32) -> bool { f(a) $op f(b) }
        #[inline(always)]
        pub(crate) fn $n64(a: u64, b: u64) -> bool { d(a) $op d(b) }
    )* };
}

compares! {
    feq32 feq64 ==;
    fne32 fne64 !=;
    flt32 flt64 <;
    fle32 fle64 <=;
    fgt32 fgt64 >;
    fge32 fge64 >=;
}
