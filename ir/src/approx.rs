//! The GPU's units for approximate functions: the results of `rcp.approx.ftz.f32` and similar instructions, bit by bit.
//!
//! A unit looks up three numbers by the argument's upper bits and computes `c0 + c1 * x + c2 * x²` of the lower 17 bits `x`, in fixed
//! point. `c1` has 16 bits and `c2` 10. The square is a sum of products of two bits, and the unit leaves out all of weights below 2^19
//! (`square`). The sum is truncated to a float. S. Oberman and M. Siu describe such a unit ("A high-performance area-efficient
//! multifunction interpolator", 2005).
//!
//! The tables were found from an H100's results, and all 2^32 arguments of each function give what they gave there
//! (`tests/math/units.md`). Other generations were not measured.
//!
//! Denormal arguments are zeros here, except for `tanh`, and denormal results are zeros, too.

mod table;

/// The NaN that the units return.
const NAN: u32 = 0x7fff_ffff;
const INFINITY: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
const ONE: u32 = 0x3f80_0000;

/// `c0`, `c1`, `c2`, in units of 2^-40.
type Row = (i64, i32, i32);

/// A float in parts: magnitude, exponent and the 23 bits after the point. Denormal numbers are 0.
struct Parts {
    sign: u32,
    magnitude: u32,
    exponent: i32,
    fraction: u32,
}

impl Parts {
    #[inline]
    fn of(bits: u32) -> Parts {
        let magnitude = bits & !SIGN;
        let magnitude = if magnitude < 0x0080_0000 {
            0
        } else {
            magnitude
        };
        Parts {
            sign: bits & SIGN,
            magnitude,
            exponent: (magnitude >> 23) as i32 - 127,
            fraction: magnitude & 0x007f_ffff,
        }
    }

    /// The whole number of units of 2^-`places`, rounded towards zero, without its bits from 2^32 on.
    #[inline]
    fn fixed(&self, places: i32) -> u32 {
        let shift = 23 - places - self.exponent;
        let digits = if self.magnitude == 0 {
            0
        } else {
            self.fraction | 0x0080_0000
        };
        match shift {
            0..24 => digits >> shift,
            -31..0 => digits << -shift,
            _ => 0,
        }
    }
}

/// The square of a 17-bit number as the unit computes it, in units of 2^19: the sum, over pairs of its bits `i` and `j`, of
/// `2^(i + j + 1)`, and over its bits, of `2^(2i)`, where only terms from 2^19 on count.
///
/// For 2^16 + 2^10 + 2^3 the pairs give 2^27 and 2^20 (16 with 10 and with 3), and the bits 2^32 and 2^20. The pair's 2^14 and the
/// bit's 2^6 are left out.
#[inline]
fn square(x: u32) -> u32 {
    let mut sum = 0;
    // Only pairs with a bit from 10 on, and the squares of such bits, reach 2^19.
    for i in 10..17 {
        let partners = (x & ((1 << i) - 1)) >> (18 - i);
        let term = partners + (1 << (2 * i - 19));
        sum += term & (x >> i & 1).wrapping_neg();
    }
    sum
}

#[inline]
fn interpolate(rows: &[Row], index: u32, x: u32) -> i64 {
    let (c0, c1, c2) = rows[index as usize];
    c0 + c1 as i64 * x as i64 + c2 as i64 * square(x) as i64
}

/// The sum for an argument's 23-bit fraction: the upper 6 bits select the row, the other 17 are `x`.
#[inline]
fn in_64ths(rows: &[Row; 64], fraction: u32) -> i64 {
    interpolate(rows, fraction >> 17, fraction & 0x1_ffff)
}

/// `number` units of 2^-`places`, times 2^`exponent`, truncated to a float.
#[inline]
fn float(number: i64, places: i32, exponent: i32) -> u32 {
    if number == 0 {
        return 0;
    }
    let top = 63 - number.leading_zeros() as i32;
    let digits = match top >= 23 {
        true => number >> (top - 23),
        false => number << (23 - top),
    };
    match top - places + exponent + 127 {
        ..=0 => 0,
        255.. => INFINITY,
        biased => (biased as u32) << 23 | (digits as u32 & 0x007f_ffff),
    }
}

/// `rcp.approx.ftz.f32`.
pub fn rcp(bits: u32) -> u32 {
    let a = Parts::of(bits);
    match a.magnitude {
        INFINITY.. if a.magnitude > INFINITY => return NAN,
        0 => return a.sign | INFINITY,
        INFINITY.. => return a.sign,
        _ => {}
    }
    let sum = interpolate(&table::RCP, a.fraction >> 16, (a.fraction & 0xffff) << 1);
    a.sign | float(sum, 40, -a.exponent)
}

/// `rsqrt.approx.ftz.f32`.
pub fn rsqrt(bits: u32) -> u32 {
    let a = Parts::of(bits);
    match a.magnitude {
        INFINITY.. if a.magnitude > INFINITY => return NAN,
        0 => return a.sign | INFINITY,
        _ if a.sign != 0 => return NAN,
        INFINITY.. => return 0,
        _ => {}
    }
    let sum = match a.exponent & 1 == 0 {
        // The first row ends below 1.
        true if a.fraction == 0 => 1 << 40,
        true => in_64ths(&table::RSQRT_EVEN, a.fraction),
        false => in_64ths(&table::RSQRT_ODD, a.fraction),
    };
    float(sum, 40, -(a.exponent >> 1))
}

/// `sqrt.approx.ftz.f32`.
pub fn sqrt(bits: u32) -> u32 {
    let a = Parts::of(bits);
    match a.magnitude {
        INFINITY.. if a.magnitude > INFINITY => return NAN,
        0 => return a.sign,
        _ if a.sign != 0 => return NAN,
        INFINITY.. => return INFINITY,
        _ => {}
    }
    let sum = match a.exponent & 1 == 0 {
        true => in_64ths(&table::SQRT_EVEN, a.fraction),
        false => in_64ths(&table::SQRT_ODD, a.fraction),
    };
    float(sum, 40, a.exponent >> 1)
}

/// `ex2.approx.ftz.f32`. The argument is truncated to 23 places. A negative one's fraction is inverted, not negated, unless it is 0.
pub fn ex2(bits: u32) -> u32 {
    let a = Parts::of(bits);
    match a.magnitude {
        INFINITY.. if a.magnitude > INFINITY => return NAN,
        // 256 and more.
        0x4380_0000.. => return if a.sign == 0 { INFINITY } else { 0 },
        _ => {}
    }
    let fixed = a.fixed(23) as i32;
    let fixed = match (a.sign != 0, fixed & 0x007f_ffff == 0) {
        (false, _) => fixed,
        (true, false) => !fixed,
        (true, true) => -fixed,
    };
    let sum = in_64ths(&table::EX2, fixed as u32 & 0x007f_ffff);
    float(sum, 40, fixed >> 23)
}

/// `lg2.approx.ftz.f32`. The sum has 36 places; a negative one is inverted, not negated.
pub fn lg2(bits: u32) -> u32 {
    let a = Parts::of(bits);
    match a.magnitude {
        INFINITY.. if a.magnitude > INFINITY => return NAN,
        0 => return SIGN | INFINITY,
        _ if a.sign != 0 => return NAN,
        INFINITY.. => return INFINITY,
        // The first row begins above 0.
        ONE => return 0,
        _ => {}
    }
    let sum = (in_64ths(&table::LG2, a.fraction) >> 4) + ((a.exponent as i64) << 36);
    match sum < 0 {
        true => SIGN | float(!sum, 36, 0),
        false => float(sum, 36, 0),
    }
}

/// `sin.approx.ftz.f32`: the argument in turns, from the product with a float below 1 / 2π, rounded towards zero.
pub fn sin(bits: u32) -> u32 {
    of_turns(turns(bits), 0)
}

/// `cos.approx.ftz.f32`: [`sin`] plus a quarter turn.
pub fn cos(bits: u32) -> u32 {
    of_turns(turns(bits) & !SIGN, 1)
}

/// The factor that ptxas multiplies by.
const TURNS_PER_RADIAN: f32 = 0.159_154_94;

#[inline]
fn turns(bits: u32) -> u32 {
    // Exact: a product of two numbers of 24 bits.
    let exact = f32::from_bits(bits) as f64 * TURNS_PER_RADIAN as f64;
    let nearest = exact as f32;
    match (nearest as f64).abs() > exact.abs() {
        true => nearest.to_bits() - 1,
        false => nearest.to_bits(),
    }
}

/// The unit itself: 25 places of the turns, whose upper 2 are the quarter. In descending quarters the others are inverted.
#[inline]
fn of_turns(bits: u32, quarters: u32) -> u32 {
    let a = Parts::of(bits);
    if a.magnitude >= INFINITY {
        return NAN;
    }
    let fixed = a.fixed(25).wrapping_add(quarters << 23);
    let sign = a.sign ^ (fixed >> 24 & 1) << 31;
    let inverted = (fixed >> 23 & 1).wrapping_neg();
    let sum = in_64ths(&table::SIN, (fixed ^ inverted) & 0x007f_ffff);
    sign | float(sum, 40, 0)
}

/// `tanh.approx.f32`: the argument below 2^-8, 1 from 8 on. In between, each power of 2 has a separate number of rows.
pub fn tanh(bits: u32) -> u32 {
    /// From 2^-8 on: the index's bits, and the first row.
    const ROWS: [(u32, u32); 11] = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 3),
        (1, 5),
        (2, 7),
        (2, 11),
        (2, 15),
        (3, 19),
        (4, 27),
        (3, 43),
    ];
    let (sign, magnitude) = (bits & SIGN, bits & !SIGN);
    let exponent = (magnitude >> 23) as i32 - 127;
    match exponent {
        ..-8 => return bits,
        3.. if magnitude > INFINITY => return NAN,
        3.. => return sign | ONE,
        _ => {}
    }
    let (index_bits, first) = ROWS[(exponent + 8) as usize];
    let fraction = magnitude & 0x007f_ffff;
    let index = fraction >> (23 - index_bits);
    // The 17 bits below the index; lower bits are ignored.
    let x = fraction >> (6 - index_bits) & 0x1_ffff;
    sign | float(interpolate(&table::TANH, first + index, x), 40, 0)
}
