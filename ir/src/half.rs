//! Half precision (`f16`), on the bits: conversions and a fused multiply-add of two halves in a word, like the GPU's `cvt` and
//! `fma.rn.f16x2`. A sum is `fma(a, 1, b)`, a difference `fma(b, -1, a)` and a product `fma(a, b, -0)`: rounded once, with the same sign of
//! zeros as the plain operation.
//!
//! `tests/math/half.cu` compares them with a GPU: all halves, all `f32`, all pairs of halves. Nothing differed on an H100 (2026-11-25).

#![expect(
    clippy::inline_always,
    reason = "lane functions must vanish into the loop over the lanes"
)]

/// The NaN that `f32` instructions return.
const NAN_F32: u32 = 0x7fff_ffff;
/// The NaN that half instructions return.
const NAN_F16: u32 = 0x7fff;

/// Converts to `f32`, exactly; any NaN becomes the GPU's. Only the low 16 bits matter.
#[inline(always)]
pub fn to_f32(half: u32) -> u32 {
    let (size, sign) = (half & 0x7fff, (half & 0x8000) << 16);
    // Denormals, too: the exponents' biases differ by 112.
    let finite = (f32::from_bits(size << 13) * f32::from_bits((127 + 112) << 23)).to_bits();
    let wide = if size >= 0x7c00 { 0x7f80_0000 } else { finite };
    if size > 0x7c00 { NAN_F32 } else { sign | wide }
}

/// The nearest half; in a tie, the even one.
#[inline(always)]
pub fn from_f32(single: u32) -> u32 {
    let (size, sign) = (single & 0x7fff_ffff, single >> 16 & 0x8000);
    // Below 2^-14 the last place is 2^-24: the same as for numbers from 1/2 to 1.
    let small = (f32::from_bits(size) + 0.5)
        .to_bits()
        .wrapping_sub(0x3f00_0000);
    let normal = size
        .wrapping_add(0xfff + (size >> 13 & 1))
        .wrapping_sub(0x3800_0000)
        >> 13;
    let finite = if size < 0x3880_0000 { small } else { normal };
    let number = if size >= 0x477f_f000 { 0x7c00 } else { finite };
    if size > 0x7f80_0000 {
        NAN_F16
    } else {
        sign | number
    }
}

/// `a * b + c` of the low halves and of the high halves, each rounded once.
#[inline(always)]
pub fn fma2(a: u32, b: u32, c: u32) -> u32 {
    fma(a, b, c) | fma(a >> 16, b >> 16, c >> 16) << 16
}

/// In `f64` the product is exact. So is the sum, unless one term is too far below the other to decide.
#[inline(always)]
fn fma(a: u32, b: u32, c: u32) -> u32 {
    let wide = |half| f64::from(f32::from_bits(to_f32(half)));
    let sum = wide(a) * wide(b) + wide(c);
    let single = sum as f32;
    from_f32(odd(single, sum - f64::from(single)).to_bits())
}

/// Rounds `single` to odd: sets its last bit if there is a `rest`. Rounding the result again is the same as rounding once. For an infinity
/// the rest is NaN, which does not count.
#[inline(always)]
pub(super) fn odd<T: Copy + Default + PartialOrd>(single: f32, rest: T) -> f32 {
    let (bits, zero) = (single.to_bits(), T::default());
    let (is_above, is_below) = (rest > zero, rest < zero);
    let step = if is_above == single.is_sign_positive() {
        1
    } else {
        u32::MAX
    };
    f32::from_bits(if (is_above || is_below) && bits & 1 == 0 {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

#[cfg(test)]
mod tests {
    use super::{fma2, from_f32, to_f32};

    #[test]
    fn each_half_comes_back() {
        for half in 0..=0xffff {
            let is_nan = half & 0x7fff > 0x7c00;
            let expected = if is_nan { 0x7fff } else { half };
            assert_eq!(from_f32(to_f32(half)), expected, "{half:x}");
        }
    }

    #[test]
    fn a_float_goes_to_the_nearest_half_and_the_even_one_between_two() {
        let value = |half| f64::from(f32::from_bits(to_f32(half)));
        for half in 0..0x7bff {
            let (low, high) = (value(half), value(half + 1));
            let middle = ((low + high) / 2.0) as f32;
            let even = half + (half & 1);
            assert_eq!(from_f32(middle.to_bits()), even, "{half:x}");
            assert_eq!(from_f32(middle.to_bits() - 1), half);
            assert_eq!(from_f32(middle.to_bits() + 1), half + 1);
        }
        assert_eq!(from_f32(65520f32.to_bits()), 0x7c00);
        assert_eq!(from_f32(65519.996f32.to_bits()), 0x7bff);
    }

    #[test]
    fn a_product_that_lies_between_two_halves_is_decided_by_the_sum() {
        // (1 + 2^-10)(1 + 2^-1) = 1.5 + 2^-10 + 2^-11: half a place above 1.5 + 2^-10.
        let (a, b) = (0x3c01, 0x3e00);
        let (tiny, minus) = (0x0001, 0x8001);
        assert_eq!(fma2(a, b, 0), 0x3e02);
        assert_eq!(fma2(a, b, tiny), 0x3e02);
        assert_eq!(fma2(a, b, minus), 0x3e01);
    }

    #[test]
    fn sums_and_products_are_fused_multiply_adds() {
        let (one, minus_one, minus_zero) = (0x3c00, 0xbc00, 0x8000);
        assert_eq!(fma2(0x8000, one, 0x8000), 0x8000);
        assert_eq!(fma2(0x8000, minus_one, 0x8000), 0x0000);
        assert_eq!(fma2(0x8000, 0x3c00, minus_zero), 0x8000);
        assert_eq!(fma2(0x7c00, 0, minus_zero), 0x7fff);
        // Both halves: 2 * 3 + 1, and infinity less infinity.
        assert_eq!(fma2(0x7c00_4000, 0x3c00_4200, 0xfc00_3c00), 0x7fff_4700);
    }
}
