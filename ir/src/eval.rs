//! The meaning of scalar operations, on bit patterns. It defines the results of every device, and the builder folds with it.
//!
//! Values and results are bits, zero-extended to `u64` as in [`Const`](super::Const). Every function is pure and total on the types that
//! `accepts` allows (see `typing`); other types are a bug of the caller and panic.
//!
//! - Arithmetic is the device's: division by zero gives all ones, remainder by zero the dividend. Host functions trap instead; code that
//!   runs them must ask [`divides_by_zero`] first. The builder folds neither.
//! - Floats are IEEE 754, nearest even, denormals kept (but see [`atomic_on_global`]). *Which* NaN arithmetic returns is not part of the
//!   meaning (compare with [`same`]). Here it is the GPU's: `0x7fffffff` for `f32`, for `f64` the first NaN operand made quiet, else
//!   `0xfff8000000000000`. `fneg`, `fabs`, `select` and the `bits` conversions act on the bits and keep a NaN's.
//! - Pointers are generic addresses here, so conversions between spaces change nothing.

use super::{AtomicOp, BinaryOp, CompareOp, ConvertOp, Type, UnaryOp, approx, bfloat16, half};

/// The NaN that `f32` arithmetic returns.
const NAN_F32: u32 = 0x7fff_ffff;
/// The NaN that `f64` arithmetic returns if no operand is NaN.
const NAN_F64: u64 = 0xfff8_0000_0000_0000;
/// The bit that makes an `f64` NaN quiet.
const QUIET_F64: u64 = 0x0008_0000_0000_0000;

/// Width of an integer type in bits.
fn width(ty: Type) -> u32 {
    match ty {
        Type::I1 => 1,
        Type::I32 => 32,
        Type::I64 => 64,
        Type::F32 | Type::F64 | Type::Ptr(_) => panic!("not an integer type: {ty}"),
    }
}

/// The bits of `ty` kept, the rest cleared.
fn cut(ty: Type, bits: u64) -> u64 {
    match width(ty) {
        64 => bits,
        width => bits & ((1 << width) - 1),
    }
}

/// As a signed number.
fn signed(ty: Type, bits: u64) -> i64 {
    match ty {
        Type::I32 => bits as i32 as i64,
        _ => bits as i64,
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// An `f32` result of arithmetic; a NaN is replaced by the GPU's.
fn bits_f32(value: f32) -> u64 {
    if value.is_nan() {
        NAN_F32 as u64
    } else {
        value.to_bits() as u64
    }
}

/// An `f64` result of arithmetic on `operands`; a NaN is replaced by the GPU's.
fn bits_f64(value: f64, operands: &[u64]) -> u64 {
    if !value.is_nan() {
        return value.to_bits();
    }
    let operand_nan = operands.iter().copied().find(|&bits| f64_of(bits).is_nan());
    operand_nan.map_or(NAN_F64, |bits| bits | QUIET_F64)
}

/// Whether two values of a type are the same for the IR: equal bits, or both NaN.
pub fn same(ty: Type, a: u64, b: u64) -> bool {
    match ty {
        Type::F32 if f32_of(a).is_nan() => f32_of(b).is_nan(),
        Type::F64 if f64_of(a).is_nan() => f64_of(b).is_nan(),
        Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => a == b,
    }
}

/// Whether a binary operation is a division or remainder of integers by zero.
pub fn divides_by_zero(op: BinaryOp, b: u64) -> bool {
    op.is_division() && b == 0
}

/// Whether a binary operation on signed numbers gives a result that differs from the exact one.
pub fn overflows(op: BinaryOp, ty: Type, a: u64, b: u64) -> bool {
    let (a, b) = (signed(ty, a) as i128, signed(ty, b) as i128);
    let exact = match op {
        BinaryOp::SAdd => a + b,
        BinaryOp::SSub => a - b,
        BinaryOp::SMul => a * b,
        _ => return false,
    };
    exact != signed(ty, cut(ty, exact as u64)) as i128
}

/// [`InstKind::Unary`](super::InstKind::Unary).
pub fn unary(op: UnaryOp, ty: Type, a: u64) -> u64 {
    match op {
        UnaryOp::Neg | UnaryOp::SNeg => cut(ty, a.wrapping_neg()),
        UnaryOp::Not => cut(ty, !a),
        UnaryOp::Popc => a.count_ones() as u64,
        UnaryOp::Clz => (a.leading_zeros() - (64 - width(ty))) as u64,
        UnaryOp::Brev => a.reverse_bits() >> (64 - width(ty)),
        UnaryOp::FNeg => a ^ sign_bit(ty),
        UnaryOp::FAbs => a & !sign_bit(ty),
        UnaryOp::FSqrt => float_unary(ty, a, f32::sqrt, f64::sqrt),
        UnaryOp::FFloor => float_unary(ty, a, f32::floor, f64::floor),
        UnaryOp::FCeil => float_unary(ty, a, f32::ceil, f64::ceil),
        UnaryOp::FTrunc => float_unary(ty, a, f32::trunc, f64::trunc),
        UnaryOp::FRint => float_unary(ty, a, f32::round_ties_even, f64::round_ties_even),
        UnaryOp::FRound => float_unary(ty, a, f32::round, f64::round),
        UnaryOp::RcpApprox => approx::rcp(a as u32) as u64,
        UnaryOp::RsqrtApprox => approx::rsqrt(a as u32) as u64,
        UnaryOp::SqrtApprox => approx::sqrt(a as u32) as u64,
        UnaryOp::Ex2Approx => approx::ex2(a as u32) as u64,
        UnaryOp::Lg2Approx => approx::lg2(a as u32) as u64,
        UnaryOp::SinApprox => approx::sin(a as u32) as u64,
        UnaryOp::CosApprox => approx::cos(a as u32) as u64,
        UnaryOp::TanhApprox => approx::tanh(a as u32) as u64,
    }
}

/// The sign bit of a float type.
fn sign_bit(ty: Type) -> u64 {
    match ty {
        Type::F32 => 1 << 31,
        Type::F64 => 1 << 63,
        Type::I1 | Type::I32 | Type::I64 | Type::Ptr(_) => panic!("not a float type: {ty}"),
    }
}

fn float_unary(ty: Type, a: u64, single: fn(f32) -> f32, double: fn(f64) -> f64) -> u64 {
    match ty {
        Type::F32 => bits_f32(single(f32_of(a))),
        _ => bits_f64(double(f64_of(a)), &[a]),
    }
}

fn float_binary(
    ty: Type,
    a: u64,
    b: u64,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
) -> u64 {
    match ty {
        Type::F32 => bits_f32(single(f32_of(a), f32_of(b))),
        _ => bits_f64(double(f64_of(a), f64_of(b)), &[a, b]),
    }
}

/// [`InstKind::Binary`](super::InstKind::Binary), as on the device.
pub fn binary(op: BinaryOp, ty: Type, a: u64, b: u64) -> u64 {
    match op {
        BinaryOp::Add | BinaryOp::SAdd => cut(ty, a.wrapping_add(b)),
        BinaryOp::Sub | BinaryOp::SSub => cut(ty, a.wrapping_sub(b)),
        BinaryOp::Mul | BinaryOp::SMul => cut(ty, a.wrapping_mul(b)),
        BinaryOp::SMulHi => {
            let product = signed(ty, a) as i128 * signed(ty, b) as i128;
            cut(ty, (product >> width(ty)) as u64)
        }
        BinaryOp::UMulHi => cut(ty, ((a as u128 * b as u128) >> width(ty)) as u64),
        BinaryOp::SDiv | BinaryOp::UDiv if b == 0 => cut(ty, u64::MAX),
        BinaryOp::SRem | BinaryOp::URem if b == 0 => a,
        BinaryOp::SDiv => cut(ty, signed(ty, a).wrapping_div(signed(ty, b)) as u64),
        BinaryOp::UDiv => a / b,
        BinaryOp::SRem => cut(ty, signed(ty, a).wrapping_rem(signed(ty, b)) as u64),
        BinaryOp::URem => a % b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => match shift_count(ty, b) {
            Some(count) => cut(ty, a << count),
            None => 0,
        },
        BinaryOp::LShr => match shift_count(ty, b) {
            Some(count) => a >> count,
            None => 0,
        },
        BinaryOp::AShr => {
            let count = shift_count(ty, b).unwrap_or(width(ty) - 1);
            cut(ty, (signed(ty, a) >> count) as u64)
        }
        BinaryOp::SMin => cut(ty, signed(ty, a).min(signed(ty, b)) as u64),
        BinaryOp::SMax => cut(ty, signed(ty, a).max(signed(ty, b)) as u64),
        BinaryOp::UMin => a.min(b),
        BinaryOp::UMax => a.max(b),
        BinaryOp::SDot4 => dot::<4>([8, 8], 0, true, a, b),
        BinaryOp::UDot4 => dot::<4>([8, 8], 0, false, a, b),
        BinaryOp::SDot2Lo => dot::<2>([16, 8], 0, true, a, b),
        BinaryOp::SDot2Hi => dot::<2>([16, 8], 2, true, a, b),
        BinaryOp::UDot2Lo => dot::<2>([16, 8], 0, false, a, b),
        BinaryOp::UDot2Hi => dot::<2>([16, 8], 2, false, a, b),
        BinaryOp::FAdd => float_binary(ty, a, b, |a, b| a + b, |a, b| a + b),
        BinaryOp::FSub => float_binary(ty, a, b, |a, b| a - b, |a, b| a - b),
        BinaryOp::FMul => float_binary(ty, a, b, |a, b| a * b, |a, b| a * b),
        BinaryOp::FDiv => float_binary(ty, a, b, |a, b| a / b, |a, b| a / b),
        BinaryOp::FRem => float_binary(ty, a, b, |a, b| a % b, |a, b| a % b),
        BinaryOp::FMin => float_extreme(ty, a, b, false),
        BinaryOp::FMax => float_extreme(ty, a, b, true),
    }
}

/// The sum of `N` products: parts of the words `a` and `b` with this many bits each, those of `b` from number `first` on.
fn dot<const N: u32>(bits: [u32; 2], first: u32, is_signed: bool, a: u64, b: u64) -> u64 {
    let part = |word: u64, bits: u32, index: u32| {
        let high = (word as u32) << (32 - bits * (index + 1));
        match is_signed {
            true => (high as i32 >> (32 - bits)) as i64,
            false => (high >> (32 - bits)) as i64,
        }
    };
    let products = (0..N).map(|i| part(a, bits[0], i) * part(b, bits[1], first + i));
    cut(Type::I32, products.sum::<i64>() as u64)
}

/// The shift count, if it is below the width: the low 32 bits of `b`, unsigned.
fn shift_count(ty: Type, b: u64) -> Option<u32> {
    let count = b as u32;
    (count < width(ty)).then_some(count)
}

/// `fmin` and `fmax`: the operand that is a number if one is NaN; zeros ordered by sign.
fn float_extreme(ty: Type, a: u64, b: u64, max: bool) -> u64 {
    let (a_nan, b_nan, order) = match ty {
        Type::F32 => (
            f32_of(a).is_nan(),
            f32_of(b).is_nan(),
            f32_of(a).total_cmp(&f32_of(b)),
        ),
        _ => (
            f64_of(a).is_nan(),
            f64_of(b).is_nan(),
            f64_of(a).total_cmp(&f64_of(b)),
        ),
    };
    match (a_nan, b_nan) {
        (true, true) if ty == Type::F32 => NAN_F32 as u64,
        (true, true) => a | QUIET_F64,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if order.is_gt() == max {
                a
            } else {
                b
            }
        }
    }
}

/// [`InstKind::Fma`](super::InstKind::Fma): `a * b + c`, rounded once.
pub fn fma(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        Type::F32 => bits_f32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
        _ => bits_f64(f64_of(a).mul_add(f64_of(b), f64_of(c)), &[a, b, c]),
    }
}

/// [`InstKind::FmaHalves`](super::InstKind::FmaHalves).
pub fn fma_halves(a: u64, b: u64, c: u64) -> u64 {
    half::fma2(a as u32, b as u32, c as u32).into()
}

/// [`InstKind::FmaBfloats`](super::InstKind::FmaBfloats).
pub fn fma_bfloats(a: u64, b: u64, c: u64) -> u64 {
    bfloat16::fma2(a as u32, b as u32, c as u32).into()
}

/// [`InstKind::Compare`](super::InstKind::Compare). Pointers compare as unsigned addresses.
pub fn compare(op: CompareOp, ty: Type, a: u64, b: u64) -> bool {
    let floats = || match ty {
        Type::F32 => (f32_of(a) as f64, f32_of(b) as f64),
        _ => (f64_of(a), f64_of(b)),
    };
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Slt => signed(ty, a) < signed(ty, b),
        CompareOp::Sle => signed(ty, a) <= signed(ty, b),
        CompareOp::Sgt => signed(ty, a) > signed(ty, b),
        CompareOp::Sge => signed(ty, a) >= signed(ty, b),
        CompareOp::Ult => a < b,
        CompareOp::Ule => a <= b,
        CompareOp::Ugt => a > b,
        CompareOp::Uge => a >= b,
        CompareOp::FEq => floats().0 == floats().1,
        CompareOp::FNe => floats().0 != floats().1,
        CompareOp::FLt => floats().0 < floats().1,
        CompareOp::FLe => floats().0 <= floats().1,
        CompareOp::FGt => floats().0 > floats().1,
        CompareOp::FGe => floats().0 >= floats().1,
    }
}

/// [`InstKind::Convert`](super::InstKind::Convert).
///
/// Rust's `as` truncates and saturates, and gives 0 for NaN. An H200 (tests/h200/numbers.out) gives 0 for an `f32` NaN in 32 bits only; a
/// 64-bit result, and any result from an `f64`, has just the highest bit set.
pub fn convert(op: ConvertOp, a: u64) -> u64 {
    /// The result of `cvt` for NaN in 64 bits, signed and unsigned.
    const NAN_AS_64: u64 = 1 << 63;
    /// The result of `cvt` from `f64` for NaN in 32 bits, signed and unsigned.
    const NAN_AS_32: u64 = 1 << 31;
    match op {
        ConvertOp::Sext => a as i32 as i64 as u64,
        ConvertOp::Zext => a,
        ConvertOp::Trunc => a as u32 as u64,
        ConvertOp::Sext8 => a as i8 as u32 as u64,
        ConvertOp::Zext8 => a as u8 as u64,
        ConvertOp::Sext16 => a as i16 as u32 as u64,
        ConvertOp::Zext16 => a as u16 as u64,
        ConvertOp::BoolToI32 => a,
        ConvertOp::S32ToF32 => bits_f32(a as i32 as f32),
        ConvertOp::U32ToF32 => bits_f32(a as u32 as f32),
        ConvertOp::S64ToF32 => bits_f32(a as i64 as f32),
        ConvertOp::U64ToF32 => bits_f32(a as f32),
        ConvertOp::S32ToF64 => (a as i32 as f64).to_bits(),
        ConvertOp::U32ToF64 => (a as u32 as f64).to_bits(),
        ConvertOp::S64ToF64 => (a as i64 as f64).to_bits(),
        ConvertOp::U64ToF64 => (a as f64).to_bits(),
        ConvertOp::F32ToS32 => f32_of(a) as i32 as u32 as u64,
        ConvertOp::F32ToU32 => f32_of(a) as u32 as u64,
        ConvertOp::F32ToS64 | ConvertOp::F32ToU64 if f32_of(a).is_nan() => NAN_AS_64,
        ConvertOp::F32ToS64 => f32_of(a) as i64 as u64,
        ConvertOp::F32ToU64 => f32_of(a) as u64,
        ConvertOp::F64ToS32 | ConvertOp::F64ToU32 if f64_of(a).is_nan() => NAN_AS_32,
        ConvertOp::F64ToS32 => f64_of(a) as i32 as u32 as u64,
        ConvertOp::F64ToU32 => f64_of(a) as u32 as u64,
        ConvertOp::F64ToS64 | ConvertOp::F64ToU64 if f64_of(a).is_nan() => NAN_AS_64,
        ConvertOp::F64ToS64 => f64_of(a) as i64 as u64,
        ConvertOp::F64ToU64 => f64_of(a) as u64,
        ConvertOp::F32ToF64 if f32_of(a).is_nan() => widen_nan(a as u32),
        ConvertOp::F32ToF64 => (f32_of(a) as f64).to_bits(),
        ConvertOp::F64ToF32 if f64_of(a).is_nan() => narrow_nan(a),
        ConvertOp::F64ToF32 => bits_f32(f64_of(a) as f32),
        ConvertOp::F16ToF32 => half::to_f32(a as u32).into(),
        ConvertOp::F32ToF16 => half::from_f32(a as u32).into(),
        ConvertOp::F32ToBf16 => bfloat16::from_f32(a as u32).into(),
        ConvertOp::F32Bits
        | ConvertOp::BitsToF32
        | ConvertOp::F64Bits
        | ConvertOp::BitsToF64
        | ConvertOp::PtrToInt
        | ConvertOp::IntToPtr
        | ConvertOp::ToGeneric
        | ConvertOp::ToGlobal
        | ConvertOp::ToShared
        | ConvertOp::ToLocal => a,
    }
}

/// A NaN from `f32` to `f64`: sign and payload kept, made quiet.
fn widen_nan(bits: u32) -> u64 {
    let sign = (bits as u64 >> 31) << 63;
    sign | 0x7ff8_0000_0000_0000 | ((bits as u64 & 0x007f_ffff) << 29)
}

/// A NaN from `f64` to `f32`: sign and the payload's upper bits kept, made quiet.
fn narrow_nan(bits: u64) -> u64 {
    let sign = (bits >> 63) << 31;
    sign | 0x7fc0_0000 | ((bits >> 29) & 0x003f_ffff)
}

/// [`atomic`] on global memory, where the addition of `f32` treats denormal operands and results as zeros of the same sign (PTX ISA,
/// `atom`; tests/h200/numbers.out). In shared memory, and for `f64`, they are kept.
pub fn atomic_on_global(op: AtomicOp, ty: Type, old: u64, value: u64, compare: u64) -> u64 {
    if (op, ty) != (AtomicOp::Add, Type::F32) {
        return atomic(op, ty, old, value, compare);
    }
    let flush = |bits: u64| {
        if f32_of(bits).is_subnormal() {
            bits & 0x8000_0000
        } else {
            bits
        }
    };
    flush(atomic(op, ty, flush(old), flush(value), compare))
}

/// The value that an atomic leaves in memory. `compare` is for `cas`.
pub fn atomic(op: AtomicOp, ty: Type, old: u64, value: u64, compare: u64) -> u64 {
    match op {
        AtomicOp::Add if ty.is_float() => binary(BinaryOp::FAdd, ty, old, value),
        AtomicOp::Add => binary(BinaryOp::Add, ty, old, value),
        AtomicOp::Sub => binary(BinaryOp::Sub, ty, old, value),
        AtomicOp::SMin => binary(BinaryOp::SMin, ty, old, value),
        AtomicOp::SMax => binary(BinaryOp::SMax, ty, old, value),
        AtomicOp::UMin => binary(BinaryOp::UMin, ty, old, value),
        AtomicOp::UMax => binary(BinaryOp::UMax, ty, old, value),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::Exch | AtomicOp::Store => value,
        AtomicOp::Cas if old == compare => value,
        AtomicOp::Cas => old,
        AtomicOp::Inc if old >= value => 0,
        AtomicOp::Inc => old + 1,
        AtomicOp::Dec if old == 0 || old > value => value,
        AtomicOp::Dec => old - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: Type = Type::F32;
    const D: Type = Type::F64;

    fn f(value: f32) -> u64 {
        value.to_bits() as u64
    }

    fn i(value: i32) -> u64 {
        value as u32 as u64
    }

    #[test]
    fn shifts_of_the_width_or_more_give_zero_or_the_sign() {
        assert_eq!(binary(BinaryOp::Shl, Type::I32, 1, 31), 1 << 31);
        assert_eq!(binary(BinaryOp::Shl, Type::I32, 1, 32), 0);
        assert_eq!(binary(BinaryOp::LShr, Type::I32, i(-1), 32), 0);
        assert_eq!(binary(BinaryOp::AShr, Type::I32, i(-8), 1000), i(-1));
        assert_eq!(binary(BinaryOp::AShr, Type::I32, 8, i(-1)), 0);
        // Only the low 32 bits matter.
        assert_eq!(binary(BinaryOp::Shl, Type::I64, 1, 1 << 32), 1);
        assert_eq!(binary(BinaryOp::Shl, Type::I64, 1, 63), 1 << 63);
    }

    #[test]
    fn division_is_the_devices() {
        assert_eq!(binary(BinaryOp::SDiv, Type::I32, 7, 0), i(-1));
        assert_eq!(binary(BinaryOp::UDiv, Type::I64, 7, 0), u64::MAX);
        assert_eq!(binary(BinaryOp::SRem, Type::I32, i(-7), 0), i(-7));
        assert_eq!(
            binary(BinaryOp::SDiv, Type::I32, i(i32::MIN), i(-1)),
            i(i32::MIN)
        );
        assert_eq!(binary(BinaryOp::SRem, Type::I32, i(i32::MIN), i(-1)), 0);
        assert_eq!(
            binary(BinaryOp::SDiv, Type::I64, 1 << 63, u64::MAX),
            1 << 63
        );
        assert_eq!(binary(BinaryOp::SDiv, Type::I32, i(-7), 2), i(-3));
        assert_eq!(binary(BinaryOp::SRem, Type::I32, i(-7), 2), i(-1));
        assert_eq!(binary(BinaryOp::UDiv, Type::I32, i(-7), 2), 0x7fff_fffc);
        assert!(divides_by_zero(BinaryOp::URem, 0));
        assert!(!divides_by_zero(BinaryOp::FDiv, 0));
    }

    #[test]
    fn high_halves_of_products() {
        assert_eq!(binary(BinaryOp::SMulHi, Type::I32, i(-1), 2), i(-1));
        assert_eq!(binary(BinaryOp::UMulHi, Type::I32, i(-1), 2), 1);
        assert_eq!(binary(BinaryOp::SMulHi, Type::I64, u64::MAX, 2), u64::MAX);
        assert_eq!(
            binary(BinaryOp::UMulHi, Type::I64, u64::MAX, u64::MAX),
            u64::MAX - 1
        );
    }

    #[test]
    fn dots_take_parts_of_words() {
        let (a, b) = (0x80ff_0201, 0xff80_7f03);
        let dot = |op| binary(op, Type::I32, a, b);
        assert_eq!(dot(BinaryOp::SDot4), i(-128 * -1 + -1 * -128 + 2 * 127 + 3));
        assert_eq!(dot(BinaryOp::UDot4), 128 * 255 + 255 * 128 + 2 * 127 + 3);
        assert_eq!(dot(BinaryOp::SDot2Lo), i(0x0201 * 3 + -0x7f01 * 127));
        assert_eq!(dot(BinaryOp::SDot2Hi), i(0x0201 * -128 + 0x7f01));
        assert_eq!(dot(BinaryOp::UDot2Lo), 0x0201 * 3 + 0x80ff * 127);
        assert_eq!(dot(BinaryOp::UDot2Hi), 0x0201 * 128 + 0x80ff * 255);
    }

    #[test]
    fn bit_counts_know_the_width() {
        assert_eq!(unary(UnaryOp::Clz, Type::I32, 0), 32);
        assert_eq!(unary(UnaryOp::Clz, Type::I64, 0), 64);
        assert_eq!(unary(UnaryOp::Clz, Type::I32, 1), 31);
        assert_eq!(unary(UnaryOp::Brev, Type::I32, 1), 1 << 31);
        assert_eq!(unary(UnaryOp::Popc, Type::I32, i(-1)), 32);
        assert_eq!(unary(UnaryOp::Not, Type::I1, 1), 0);
        assert_eq!(unary(UnaryOp::Neg, Type::I32, i(i32::MIN)), i(i32::MIN));
    }

    #[test]
    fn minimum_and_maximum_prefer_numbers_and_order_zeros() {
        let nan = f(f32::NAN);
        for op in [BinaryOp::FMin, BinaryOp::FMax] {
            assert_eq!(binary(op, F, nan, f(1.0)), f(1.0));
            assert_eq!(binary(op, F, f(1.0), nan), f(1.0));
            assert_eq!(binary(op, F, nan, nan), NAN_F32 as u64);
        }
        for (a, b) in [(f(0.0), f(-0.0)), (f(-0.0), f(0.0))] {
            assert_eq!(binary(BinaryOp::FMin, F, a, b), f(-0.0));
            assert_eq!(binary(BinaryOp::FMax, F, a, b), f(0.0));
        }
        assert_eq!(
            binary(BinaryOp::FMax, D, 2.0f64.to_bits(), 3.0f64.to_bits()),
            3.0f64.to_bits()
        );
        assert_eq!(
            binary(BinaryOp::FMin, D, 2.0f64.to_bits(), 3.0f64.to_bits()),
            2.0f64.to_bits()
        );
    }

    #[test]
    fn floats_to_integers_truncate_and_saturate() {
        assert_eq!(convert(ConvertOp::F32ToS32, f(-1.9)), i(-1));
        assert_eq!(convert(ConvertOp::F32ToS32, f(3e9)), i(i32::MAX));
        assert_eq!(convert(ConvertOp::F32ToU32, f(-1.0)), 0);
        assert_eq!(
            convert(ConvertOp::F32ToU32, f(f32::INFINITY)),
            u32::MAX as u64
        );
        assert_eq!(convert(ConvertOp::F32ToS32, f(f32::NAN)), 0);
        assert_eq!(convert(ConvertOp::F32ToS64, f(f32::NAN)), 1 << 63);
        assert_eq!(convert(ConvertOp::F64ToU64, f64::NAN.to_bits()), 1 << 63);
        assert_eq!(
            convert(ConvertOp::F64ToS64, 1e30f64.to_bits()),
            i64::MAX as u64
        );
    }

    #[test]
    fn integers_to_floats_round_once_to_nearest_even() {
        assert_eq!(
            convert(ConvertOp::S32ToF32, i(-16_777_217)),
            f(-16_777_216.0)
        );
        assert_eq!(convert(ConvertOp::U32ToF32, i(-1)), f(4_294_967_296.0));
        // By way of `f64` this would round twice and give the lower neighbour.
        assert_eq!(
            convert(ConvertOp::U64ToF32, 0x8000_0080_0000_0001),
            f(9_223_373_136_366_403_584.0)
        );
        assert_eq!(
            convert(ConvertOp::U64ToF64, u64::MAX),
            18_446_744_073_709_551_616.0f64.to_bits()
        );
    }

    #[test]
    fn narrow_extensions() {
        assert_eq!(convert(ConvertOp::Sext8, 0x1ff), i(-1));
        assert_eq!(convert(ConvertOp::Zext8, 0x1ff), 0xff);
        assert_eq!(convert(ConvertOp::Sext16, 0x8000), i(-32768));
        assert_eq!(convert(ConvertOp::Zext16, i(-1)), 0xffff);
        assert_eq!(convert(ConvertOp::Sext, i(-1)), u64::MAX);
        assert_eq!(convert(ConvertOp::Trunc, u64::MAX), i(-1));
    }

    #[test]
    fn fma_rounds_once() {
        // (1 + e)^2 - round((1 + e)^2) = e^2, which a separately rounded product loses.
        let a = f32::from_bits(0x3f80_0001);
        let square = a * a;
        assert_eq!(
            fma(F, f(a), f(a), f(-square)),
            f(f32::EPSILON * f32::EPSILON)
        );
    }

    #[test]
    fn remainder_is_exact_with_the_dividends_sign() {
        assert_eq!(binary(BinaryOp::FRem, F, f(-5.5), f(2.0)), f(-1.5));
        assert_eq!(
            binary(BinaryOp::FRem, F, f(1e30), f(3.0)),
            f((1e30f32 as f64 % 3.0) as f32)
        );
        assert_eq!(binary(BinaryOp::FRem, F, f(1.0), f(0.0)), NAN_F32 as u64);
    }

    #[test]
    fn rounding_of_halves() {
        assert_eq!(unary(UnaryOp::FRint, F, f(2.5)), f(2.0));
        assert_eq!(unary(UnaryOp::FRint, F, f(-0.5)), f(-0.0));
        assert_eq!(unary(UnaryOp::FRound, F, f(2.5)), f(3.0));
        assert_eq!(unary(UnaryOp::FRound, F, f(0.499_999_97)), f(0.0));
        assert_eq!(
            unary(UnaryOp::FNeg, F, f(f32::NAN)),
            f(f32::NAN) ^ (1 << 31)
        );
    }

    #[test]
    fn nans_are_the_gpus() {
        assert_eq!(binary(BinaryOp::FDiv, F, f(0.0), f(0.0)), 0x7fff_ffff);
        assert_eq!(binary(BinaryOp::FDiv, D, 0, 0), 0xfff8_0000_0000_0000);
        assert_eq!(
            binary(BinaryOp::FAdd, D, 0x7ff0_0000_0000_0001, 0),
            0x7ff8_0000_0000_0001
        );
        assert!(same(F, 0x7fff_ffff, f(f32::NAN)));
        assert!(!same(F, 0, f(-0.0)));
    }

    #[test]
    fn swapped_comparisons() {
        let nan = u64::from(f32::NAN.to_bits());
        let one = u64::from(1.0_f32.to_bits());
        let numbers = [0, 1, one, nan, 0xffff_ffff];
        for &op in CompareOp::ALL {
            let types = [Type::I32, Type::F32];
            for ty in types.into_iter().filter(|&ty| op.accepts(ty)) {
                for (a, b) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
                    assert_eq!(
                        compare(op, ty, a, b),
                        compare(op.swapped(), ty, b, a),
                        "{op} {a} {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn comparisons_of_nan() {
        let nan = f(f32::NAN);
        for op in [
            CompareOp::FEq,
            CompareOp::FLt,
            CompareOp::FLe,
            CompareOp::FGt,
            CompareOp::FGe,
        ] {
            assert!(!compare(op, F, nan, nan), "{op}");
        }
        assert!(compare(CompareOp::FNe, F, nan, nan));
        assert!(compare(CompareOp::FEq, F, f(0.0), f(-0.0)));
        assert!(compare(CompareOp::Slt, Type::I32, i(-1), 0));
        assert!(compare(CompareOp::Ugt, Type::I32, i(-1), 0));
    }

    /// As measured on an H200, 2026-11-20: tests/h200/numbers.out, `f64_single` 9 to 12.
    #[test]
    fn a_double_nan_converts_as_measured() {
        for (nan, single) in [
            (0x7ff8_0000_0000_0000, 0x7fc0_0000),
            (0x7ff8_1234_5678_9abc, 0x7fc0_91a2),
            (0xfff8_0000_0000_0001, 0xffc0_0000),
            (0x7ff0_0000_0000_0001, 0x7fc0_0000),
        ] {
            assert_eq!(convert(ConvertOp::F64ToF32, nan), single, "{nan:x}");
            assert_eq!(convert(ConvertOp::F64ToS32, nan), 0x8000_0000);
            assert_eq!(convert(ConvertOp::F64ToU32, nan), 0x8000_0000);
        }
        assert_eq!(convert(ConvertOp::F32ToS32, 0x7fc0_0000), 0);
    }

    /// As measured on an H200, 2026-11-20: tests/h200/numbers.out, `atomic_floats`.
    #[test]
    fn float_additions_in_global_memory_know_no_denormals() {
        let add = |old, value| atomic_on_global(AtomicOp::Add, Type::F32, old, value, 0);
        assert_eq!(add(0, 1), 0);
        assert_eq!(add(0x8000_0000, 0x807f_ffff), 0x8000_0000);
        assert_eq!(add(0x0080_0000, 0x807f_ffff), 0x0080_0000);
        assert_eq!(add(0x3f80_0000, 1), 0x3f80_0000);
        assert_eq!(atomic(AtomicOp::Add, Type::F32, 0, 1, 0), 1);
    }

    #[test]
    fn atomics_inc_and_dec_wrap_at_the_operand() {
        assert_eq!(atomic(AtomicOp::Inc, Type::I32, 3, 3, 0), 0);
        assert_eq!(atomic(AtomicOp::Inc, Type::I32, 2, 3, 0), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::I32, 0, 3, 0), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::I32, 9, 3, 0), 3);
        assert_eq!(atomic(AtomicOp::Cas, Type::I32, 5, 9, 5), 9);
        assert_eq!(atomic(AtomicOp::Cas, Type::I32, 4, 9, 5), 4);
        assert_eq!(atomic(AtomicOp::Add, F, f(1.5), f(2.0), 0), f(3.5));
    }
}
