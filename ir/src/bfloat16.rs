//! bfloat16, the high half of an `f32`, on the bits: rounding to it and a fused multiply-add of the two in a word, like the GPU's
//! `cvt.rn.bf16.f32` and `fma.rn.bf16x2`. A sum is `fma(a, 1, b)`, a difference `fma(b, -1, a)` and a product `fma(a, b, -0)`: rounded
//! once, with the same sign of zeros as the plain operation. The conversion back to `f32` is a shift, which keeps a NaN's bits.
//!
//! The tests compare them with exact integers; `tests/math/bfloat16.cu` compares them with a GPU: all `f32`, all pairs of bfloat16.
//! Nothing differed on an H100 (2026-11-26).

#![expect(
    clippy::inline_always,
    reason = "lane functions must vanish into the loop over the lanes"
)]

use super::half::odd;

/// The NaN that bfloat16 instructions return.
const NAN: u32 = 0x7fff;

/// The nearest bfloat16; in a tie, the even one.
#[inline(always)]
pub fn from_f32(single: u32) -> u32 {
    // For a finite number the carry reaches at most infinity.
    let rounded = single.wrapping_add(0x7fff + (single >> 16 & 1)) >> 16;
    if single & 0x7fff_ffff > 0x7f80_0000 {
        NAN
    } else {
        rounded
    }
}

/// `a * b + c` of the low and of the high bfloat16 of three words, each rounded once.
#[inline(always)]
pub fn fma2(a: u32, b: u32, c: u32) -> u32 {
    fma(a << 16, b << 16, c << 16) | fma(a, b, c) << 16
}

/// The fma of the high halves. In `f64` the product is exact, but not the sum: the exponents may be as far apart as those of `f32`. If a
/// product is midway between two bfloat16, a term any distance below it decides, so the rounding error of the sum matters.
#[inline(always)]
fn fma(a: u32, b: u32, c: u32) -> u32 {
    let wide = |word| f64::from(upper(word));
    let (product, term) = (wide(a) * wide(b), wide(c));
    let sum = product + term;
    // Knuth's two-sum: the exact error of `sum`. NaN if an operand is infinite or NaN.
    let part = sum - product;
    let lost = (product - (sum - part)) + (term - part);
    let single = sum as f32;
    // If both errors are nonzero, the first is larger and keeps its sign.
    from_f32(odd(single, (sum - f64::from(single)) + lost).to_bits())
}

#[inline(always)]
fn upper(word: u32) -> f32 {
    f32::from_bits(word & 0xffff_0000)
}

/// Whether both products of the words are exact in `f32`, so that [`fma2_in_f32`] gives the same as [`fma2`]. Most are.
#[inline(always)]
pub fn fits_f32(a: u32, b: u32) -> bool {
    let fits = |a: u32, b: u32| {
        let size = (upper(a) * upper(b)).to_bits() & 0x7fff_ffff;
        let is_normal = size.wrapping_sub(0x0080_0000) < 0x7f00_0000;
        is_normal | (a & 0x7fff_0000 == 0) | (b & 0x7fff_0000 == 0)
    };
    fits(a << 16, b << 16) & fits(a, b)
}

/// [`fma2`] in half the time, if [`fits_f32`].
#[inline(always)]
pub fn fma2_in_f32(a: u32, b: u32, c: u32) -> u32 {
    let fma = |a, b, c| {
        let (product, term) = (upper(a) * upper(b), upper(c));
        let sum = product + term;
        let part = sum - product;
        // NaN if the sum is too large: then it is infinite as a bfloat16, too.
        let lost = (product - (sum - part)) + (term - part);
        from_f32(odd(sum, lost).to_bits())
    };
    fma(a << 16, b << 16, c << 16) | fma(a, b, c) << 16
}

#[cfg(test)]
mod tests {
    use super::{fits_f32, fma2, fma2_in_f32, from_f32};

    /// A multiple of 2^-266, the least product's unit, in base 2^64: room for the greatest product.
    type Exact = [u64; 9];

    /// For a finite number: its sign, its integer and the power of two by which 2^-133 is multiplied.
    fn parts(number: u32) -> (bool, u64, usize) {
        let (exponent, fraction) = (number >> 7 & 0xff, number & 0x7f);
        let implicit = if exponent > 0 { 0x80 } else { 0 };
        let power = exponent.max(1) - 1;
        (
            number & 0x8000 != 0,
            (implicit + fraction).into(),
            power as usize,
        )
    }

    fn shifted(integer: u64, by: usize) -> Exact {
        let mut exact = [0; 9];
        let wide = u128::from(integer) << (by % 64);
        exact[by / 64] = wide as u64;
        if by / 64 + 1 < 9 {
            exact[by / 64 + 1] = (wide >> 64) as u64;
        }
        exact
    }

    fn bit(exact: &Exact, at: usize) -> bool {
        exact[at / 64] >> (at % 64) & 1 != 0
    }

    /// `a + b`, or `a - b` where `a` is larger.
    fn combined(a: &Exact, b: &Exact, subtract: bool) -> Exact {
        let mut carry = i128::from(0);
        std::array::from_fn(|i| {
            let b = i128::from(b[i]);
            let digit = i128::from(a[i]) + if subtract { -b } else { b } + carry;
            carry = digit >> 64;
            digit as u64
        })
    }

    /// The nearest bfloat16 to the multiple of 2^-266; in a tie, the even one.
    fn rounded(exact: &Exact) -> u32 {
        let top = (0..576).rev().find(|&at| bit(exact, at)).unwrap_or(0);
        // The place of the last bit: 2^-133 at least.
        let last = (top.max(7) - 7).max(133);
        let kept = (0..8).filter(|i| bit(exact, last + i)).map(|i| 1 << i);
        let kept: u32 = kept.sum();
        let is_odd = kept & 1 != 0;
        let is_more = is_odd || (0..last - 1).any(|at| bit(exact, at));
        let up = u32::from(bit(exact, last - 1) && is_more);
        // With the implicit bit the exponent is one more; so is it if rounding carries.
        let number = ((last - 133) as u32).min(0xff) * 0x80 + kept + up;
        number.min(0x7f80)
    }

    /// `a * b + c` as IEEE 754 defines it.
    fn expected(a: u32, b: u32, c: u32) -> u32 {
        let [size_a, size_b, size_c] = [a, b, c].map(|number| number & 0x7fff);
        let sign = (a ^ b) & 0x8000;
        let (infinity, is_product_infinite) = (0x7f80, size_a == 0x7f80 || size_b == 0x7f80);
        let is_nan = size_a.max(size_b).max(size_c) > infinity
            || is_product_infinite && (size_a == 0 || size_b == 0)
            || is_product_infinite && size_c == infinity && sign != c & 0x8000;
        if is_nan {
            return 0x7fff;
        }
        if is_product_infinite || size_c == infinity {
            return infinity
                | if is_product_infinite {
                    sign
                } else {
                    c & 0x8000
                };
        }
        let ((_, a, a_power), (_, b, b_power)) = (parts(a), parts(b));
        let (is_c_negative, c, c_power) = parts(c);
        let product = shifted(a * b, a_power + b_power);
        let term = shifted(c, c_power + 133);
        if (sign != 0) == is_c_negative {
            return sign | rounded(&combined(&product, &term, false));
        }
        let is_product_greater = product.iter().rev().ge(term.iter().rev());
        if product == term {
            // An exact zero from opposite signs is positive.
            0
        } else if is_product_greater {
            sign | rounded(&combined(&product, &term, true))
        } else {
            (sign ^ 0x8000) | rounded(&combined(&term, &product, true))
        }
    }

    /// Both halves of a word give the same, whatever the other half is.
    fn check(a: u32, b: u32, c: u32) {
        let expected = expected(a, b, c);
        let low = [0x4049_0000 | a, 0xff80_0000 | b, 0x3f80_0000 | c];
        let high = [a << 16 | 0x7f80, b << 16 | 1, c << 16 | 1];
        let both = [a << 16 | a, b << 16 | b, c << 16 | c];
        let of = |[a, b, c]: [u32; 3]| fma2(a, b, c);
        let found = (of(low) & 0xffff, of(high) >> 16, of(both));
        assert_eq!(found, (expected, expected, expected << 16 | expected));
        if fits_f32(both[0], both[1]) {
            let fast = fma2_in_f32(both[0], both[1], both[2]);
            assert_eq!(fast, of(both), "{a:x} {b:x} {c:x}");
        }
    }

    #[test]
    fn a_float_goes_to_the_nearest_and_the_even_one_between_two() {
        for number in 0..0x7f80 {
            for sign in [0, 0x8000] {
                let (low, middle) = ((sign | number) << 16, (sign | number) << 16 | 0x8000);
                let even = number + (number & 1);
                assert_eq!(from_f32(low), sign | number);
                assert_eq!(from_f32(middle - 1), sign | number);
                assert_eq!(from_f32(middle), sign | even, "{number:x}");
                assert_eq!(from_f32(middle + 1), sign | (number + 1));
            }
        }
        for nan in [0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff] {
            assert_eq!(from_f32(nan), 0x7fff);
        }
        assert_eq!([0x7f80_0000, 0xff80_0000].map(from_f32), [0x7f80, 0xff80]);
    }

    #[test]
    fn fma_of_triples_from_all_over_the_range_is_exact() {
        let mut numbers = vec![0x7f80, 0x7fff];
        for exponent in [0, 1, 2, 9, 64, 126, 127, 128, 135, 190, 253, 254] {
            numbers.extend([0, 1, 0x2a, 0x40, 0x7f].map(|fraction| exponent << 7 | fraction));
        }
        for &a in &numbers {
            for &b in &numbers {
                for &c in &numbers {
                    check(a, b, c);
                    check(a, b, c | 0x8000);
                    check(a | 0x8000, b, c);
                }
            }
        }
    }

    #[test]
    fn fma_of_triples_that_cancel_or_lie_between_two_is_exact() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as u32
        };
        for _ in 0..200_000 {
            let (a, b, c) = (random() & 0xffff, random() & 0xffff, random() & 0xffff);
            check(a, b, c);
            let product = expected(a, b, 0x8000) ^ 0x8000;
            check(a, b, product.wrapping_add(c & 7).wrapping_sub(3) & 0xffff);
            // A product of odd numbers of 5 and 4 bits is often a tie, and any term decides.
            let (a, b) = (a & 0xfff8 | 8, b & 0xfff0 | 0x10);
            check(a, b, c);
        }
    }

    #[test]
    fn sums_and_products_are_fused_multiply_adds() {
        let (one, minus_one, minus_zero) = (0x3f80, 0xbf80, 0x8000);
        assert_eq!(fma2(0x8000, one, 0x8000), 0x8000);
        assert_eq!(fma2(0x8000, minus_one, 0x8000), 0x0000);
        assert_eq!(fma2(0x8000, one, minus_zero), 0x8000);
        assert_eq!(fma2(0x7f80, 0, minus_zero), 0x7fff);
        // Both: 2 * 3 + 1, and infinity less infinity.
        assert_eq!(fma2(0x7f80_4000, 0x3f80_4040, 0xff80_3f80), 0x7fff_40e0);
    }

    #[test]
    fn a_term_far_below_decides_between_two() {
        // (1 + 2^-7)(1 + 2^-1) = 1.5 + 2^-7 + 2^-8, half a place above 1.5 + 2^-7: the even neighbour is above.
        let (a, b) = (0x3f81, 0x3fc0);
        assert_eq!(fma2(a, b, 0), 0x3fc2);
        assert_eq!(fma2(a, b, 0x0001), 0x3fc2);
        assert_eq!(fma2(a, b, 0x8001), 0x3fc1);
    }
}
