//! Arithmetic on floats.

use ir::{BinaryOp, CompareOp, Const, ConvertOp, Operand as Value, Type, UnaryOp};

use super::half::Halves;
use super::inst::{This, operands};
use super::modifiers::Modifiers;
use super::{Fault, Lowerer};
use crate::tree::{Operand, ScalarType};

impl<'t> Lowerer<'_, 't> {
    pub(super) fn float_binary(
        &mut self,
        (to, from): (&Operand<'t>, [&Operand<'t>; 2]),
        (ty, flush): (ScalarType, Flush),
        op: BinaryOp,
        at: usize,
    ) -> Result<(), Fault> {
        let ty = float(ty)?;
        let [a, b] = [self.read(from[0], ty)?, self.read(from[1], ty)?];
        let [a, b] = [self.flushed(a, flush), self.flushed(b, flush)];
        let value = self.builder.binary(op, a, b);
        let value = self.flushed(value, flush);
        let value = self.saturated(value, flush);
        self.write(to, value, at)
    }

    /// A `float` between 0 and 1, if the instruction says so; what is not a number is 0.
    pub(super) fn saturated(&mut self, value: Value, flush: Flush) -> Value {
        if !flush.saturates || self.builder.value_type(value) != Type::F32 {
            return value;
        }
        let [zero, one] = [0.0, 1.0].map(|limit| Const::f32(limit).into());
        let value = self.builder.binary(BinaryOp::FMax, value, zero);
        self.builder.binary(BinaryOp::FMin, value, one)
    }

    /// A float without denormals, if the instruction says so: they become a zero with their sign.
    pub(super) fn flushed(&mut self, value: Value, flush: Flush) -> Value {
        if !flush.flushes || self.builder.value_type(value) != Type::F32 {
            return value;
        }
        let small = self.is_below(value, f32::MIN_POSITIVE);
        let bits = self.builder.convert(ConvertOp::F32Bits, value);
        let sign = self
            .builder
            .binary(BinaryOp::And, bits, Const::i32(i32::MIN).into());
        let zero = self.builder.convert(ConvertOp::BitsToF32, sign);
        self.builder.select(small, zero, value)
    }

    /// Whether a float's magnitude is below a number. False for what is not a number.
    pub(super) fn is_below(&mut self, value: Value, limit: f32) -> Value {
        let magnitude = self.builder.unary(UnaryOp::FAbs, value);
        let limit = Const::f32(limit).into();
        self.builder.compare(CompareOp::FLt, magnitude, limit)
    }

    pub(super) fn fma(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        if !modifiers.take(".rn") {
            return Err(modifiers.unknown());
        }
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_fma((all, at), halves);
        }
        let flush = Flush::of(modifiers);
        let ty = float(modifiers.ty()?)?;
        let mut from = [self.read(a, ty)?, self.read(b, ty)?, self.read(c, ty)?];
        for value in &mut from {
            *value = self.flushed(*value, flush);
        }
        let value = self.builder.fma(from[0], from[1], from[2]);
        let value = self.flushed(value, flush);
        let value = self.saturated(value, flush);
        self.write(to, value, at)
    }

    /// `neg`, `abs`: of a `float` they are arithmetic, which gives one NaN for all.
    pub(super) fn sign(
        &mut self,
        (to, a): (&Operand<'t>, &Operand<'t>),
        (modifiers, ty): (&mut Modifiers<'_, 't>, ScalarType),
        op: UnaryOp,
        at: usize,
    ) -> Result<(), Fault> {
        let flush = Flush::of(modifiers);
        if ty.bits == 64 {
            return self.float_unary(to, a, (ty, flush), op, at);
        }
        let a = self.read(a, float(ty)?)?;
        let a = self.flushed(a, flush);
        let value = self.builder.unary(op, a);
        let is_number = self.builder.compare(CompareOp::FEq, a, a);
        let nan = Const::f32(f32::from_bits(0x7fff_ffff)).into();
        let value = self.builder.select(is_number, value, nan);
        self.write(to, value, at)
    }

    pub(super) fn float_unary(
        &mut self,
        to: &Operand<'t>,
        a: &Operand<'t>,
        (ty, flush): (ScalarType, Flush),
        op: UnaryOp,
        at: usize,
    ) -> Result<(), Fault> {
        let a = self.read(a, float(ty)?)?;
        let a = self.flushed(a, flush);
        let value = self.builder.unary(op, a);
        let value = self.flushed(value, flush);
        self.write(to, value, at)
    }

    /// `ex2.approx.ftz.f32` and the like: the GPU's unit for special functions. It takes and gives no denormals; without `.ftz` the assembler
    /// scales them before and after.
    pub(super) fn special_function(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        op: UnaryOp,
    ) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        let flush = Flush::of(modifiers);
        if !modifiers.take(".approx") || !modifiers.take(".f32") {
            return Err(modifiers.unknown());
        }
        let a = self.read(a, Type::F32)?;
        // `tanh` has no `.ftz`, and denormals are as good as zero for sine and cosine.
        let is_direct = matches!(
            op,
            UnaryOp::TanhApprox | UnaryOp::SinApprox | UnaryOp::CosApprox
        );
        let value = match flush.flushes || is_direct {
            true => self.builder.unary(op, a),
            false => self.scaled_function(a, op),
        };
        self.write(to, value, at)
    }

    /// The sequences of ptxas 13.0 for sm_90.
    fn scaled_function(&mut self, a: Value, op: UnaryOp) -> Value {
        let number = |value: f32| Const::f32(value).into();
        let scale: f32 = 16_777_216.0;
        if op == UnaryOp::Ex2Approx {
            // 2^a is the square of 2^(a / 2).
            let small = self.builder.compare(CompareOp::FLt, a, number(-126.0));
            let half = self.builder.binary(BinaryOp::FMul, a, number(0.5));
            let a = self.builder.select(small, half, a);
            let value = self.builder.unary(op, a);
            let square = self.builder.binary(BinaryOp::FMul, value, value);
            return self.builder.select(small, square, value);
        }
        if op == UnaryOp::RcpApprox {
            return self.reciprocal(a);
        }
        let small = self.is_below(a, f32::MIN_POSITIVE);
        let larger = self.builder.binary(BinaryOp::FMul, a, number(scale));
        let a = self.builder.select(small, larger, a);
        let value = self.builder.unary(op, a);
        let scaled = match op {
            UnaryOp::RsqrtApprox => self.builder.binary(BinaryOp::FMul, value, number(4096.0)),
            UnaryOp::SqrtApprox => self
                .builder
                .binary(BinaryOp::FMul, value, number(1.0 / 4096.0)),
            _ => self.builder.binary(BinaryOp::FAdd, value, number(-24.0)),
        };
        self.builder.select(small, scaled, value)
    }

    fn reciprocal(&mut self, a: Value) -> Value {
        let number = |value: f32| Const::f32(value).into();
        let small = self.is_below(a, f32::MIN_POSITIVE);
        let large = self.is_above(a, LARGE);
        let scale = self
            .builder
            .select(small, number(16_777_216.0), number(1.0));
        let scale = self.builder.select(large, number(0.25), scale);
        let a = self.builder.binary(BinaryOp::FMul, a, scale);
        let value = self.builder.unary(UnaryOp::RcpApprox, a);
        self.builder.binary(BinaryOp::FMul, scale, value)
    }

    fn is_above(&mut self, value: Value, limit: f32) -> Value {
        let magnitude = self.builder.unary(UnaryOp::FAbs, value);
        self.builder
            .compare(CompareOp::FGt, magnitude, Const::f32(limit).into())
    }

    /// `div.full`, `div.approx`: the dividend times the reciprocal, both scaled where the reciprocal would leave the range of normal numbers.
    pub(super) fn quick_quotient(&mut self, a: Value, b: Value, full: bool, flush: Flush) -> Value {
        let mut pair = [a, b];
        let small = self.is_below(b, f32::MIN_POSITIVE);
        if full {
            let large = self.is_above(b, LARGE);
            pair = self.both_times(pair, (large, 0.25), flush);
        }
        if !flush.flushes {
            pair = self.both_times(pair, (small, 16_777_216.0), flush);
        }
        let reciprocal = self.builder.unary(UnaryOp::RcpApprox, pair[1]);
        let a = self.flushed(pair[0], flush);
        let value = self.builder.binary(BinaryOp::FMul, reciprocal, a);
        self.flushed(value, flush)
    }

    /// Both numbers, or both times a factor.
    fn both_times(
        &mut self,
        pair: [Value; 2],
        (when, factor): (Value, f32),
        flush: Flush,
    ) -> [Value; 2] {
        pair.map(|value| {
            let factor = Const::f32(factor).into();
            let product = self.builder.binary(BinaryOp::FMul, value, factor);
            let product = self.flushed(product, flush);
            self.builder.select(when, product, value)
        })
    }

    pub(super) fn rcp(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        if !modifiers.take(".rn") {
            return self.special_function((all, modifiers, at), UnaryOp::RcpApprox);
        }
        let flush = Flush::of(modifiers);
        let ty = float(modifiers.ty()?)?;
        let a = self.read(a, ty)?;
        let a = self.flushed(a, flush);
        let one = match ty {
            Type::F64 => Const::f64(1.0),
            _ => Const::f32(1.0),
        };
        let value = self.builder.binary(BinaryOp::FDiv, one.into(), a);
        let value = self.flushed(value, flush);
        self.write(to, value, at)
    }

    pub(super) fn sqrt(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        if !modifiers.take(".rn") {
            return self.special_function((all, modifiers, at), UnaryOp::SqrtApprox);
        }
        let flush = Flush::of(modifiers);
        let ty = modifiers.ty()?;
        self.float_unary(to, a, (ty, flush), UnaryOp::FSqrt, at)
    }

    /// The first operand's sign and the second's magnitude.
    pub(super) fn copy_sign(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, sign, magnitude] = operands(all)?;
        let ty = modifiers.ty()?;
        let (int, float, bits) = match float(ty)? {
            Type::F64 => (Type::I64, Type::F64, 1 << 63),
            _ => (Type::I32, Type::F32, 1 << 31),
        };
        let constant = |bits: u64| Const { ty: int, bits }.into();
        let (sign, magnitude) = (self.read(sign, float)?, self.read(magnitude, float)?);
        let (sign, magnitude) = (
            self.convert_to(sign, int)?,
            self.convert_to(magnitude, int)?,
        );
        let sign = self.builder.binary(BinaryOp::And, sign, constant(bits));
        let magnitude = self
            .builder
            .binary(BinaryOp::And, magnitude, constant(bits - 1));
        let value = self.builder.binary(BinaryOp::Or, sign, magnitude);
        let value = self.convert_to(value, float)?;
        self.write(to, value, at)
    }
}

/// The largest magnitude of which the reciprocal is a normal number.
const LARGE: f32 = f32::from_bits(0x7e80_0000);

/// `.ftz`: whether denormals are zero, before and after the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flush {
    /// `.ftz`
    flushes: bool,
    /// `.sat`
    saturates: bool,
}

impl Flush {
    pub(super) fn of(modifiers: &mut Modifiers<'_, '_>) -> Flush {
        Flush {
            flushes: modifiers.take(".ftz"),
            saturates: modifiers.take(".sat"),
        }
    }
}

/// The IR's type of a float.
pub(super) fn float(ty: ScalarType) -> Result<Type, Fault> {
    match ty.bits {
        32 => Ok(Type::F32),
        64 => Ok(Type::F64),
        bits => Err(format!(
            "dslc has no arithmetic on floats of {bits} bits here yet"
        )),
    }
}
