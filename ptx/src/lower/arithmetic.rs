//! Arithmetic on integers and operations on bits.

use ir::{BinaryOp, CompareOp, Const, ConvertOp, Operand as Value, Type, UnaryOp};

use super::float::Flush;
use super::half::Halves;
use super::inst::{This, operands};
use super::{Fault, Lowerer};
use crate::tree::{Operand, ScalarType};

impl<'t> Lowerer<'_, 't> {
    pub(super) fn sum(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        int: BinaryOp,
        float: BinaryOp,
    ) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_binary((all, modifiers, at), halves, float);
        }
        let ty = modifiers.ty()?;
        if ty.is_float() {
            let flush = Flush::of(modifiers);
            modifiers.take(".rn");
            return self.float_binary((to, [a, b]), (ty, flush), float, at);
        }
        if let Some(pointer) = self.pointer_sum(to, [a, b], int)? {
            return self.write(to, pointer, at);
        }
        self.int_binary((to, [a, b]), ty, int, at)
    }

    fn int_binary(
        &mut self,
        (to, from): (&Operand<'t>, [&Operand<'t>; 2]),
        ty: ScalarType,
        op: BinaryOp,
        at: usize,
    ) -> Result<(), Fault> {
        let [a, b] = [self.read_int(from[0], ty)?, self.read_int(from[1], ty)?];
        let value = self.builder.binary(op, a, b);
        self.write_int(to, value, ty, at)
    }

    pub(super) fn mul(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        let half = modifiers.one_of(&[
            (".lo", Half::Low),
            (".hi", Half::High),
            (".wide", Half::Both),
        ]);
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_binary((all, modifiers, at), halves, BinaryOp::FMul);
        }
        let ty = modifiers.ty()?;
        let Some(half) = half else {
            let flush = Flush::of(modifiers);
            modifiers.take(".rn");
            return self.float_binary((to, [a, b]), (ty, flush), BinaryOp::FMul, at);
        };
        let (value, ty) = self.product([a, b], ty, half)?;
        self.write_int(to, value, ty, at)
    }

    /// A product of integers, and its type.
    pub(super) fn product(
        &mut self,
        from: [&Operand<'t>; 2],
        ty: ScalarType,
        half: Half,
    ) -> Result<(Value, ScalarType), Fault> {
        let [a, b] = [self.read_int(from[0], ty)?, self.read_int(from[1], ty)?];
        let signed = ty.is_signed();
        let product = match (half, ty.bits) {
            (Half::Low, _) | (Half::Both, 8 | 16) => self.builder.binary(BinaryOp::Mul, a, b),
            (Half::High, 16) => {
                let product = self.builder.binary(BinaryOp::Mul, a, b);
                let by = Const::i32(16).into();
                self.builder.binary(BinaryOp::LShr, product, by)
            }
            (Half::High, 32 | 64) => {
                let op = if signed {
                    BinaryOp::SMulHi
                } else {
                    BinaryOp::UMulHi
                };
                self.builder.binary(op, a, b)
            }
            (Half::Both, 32) => {
                let op = if signed {
                    ConvertOp::Sext
                } else {
                    ConvertOp::Zext
                };
                let [a, b] = [a, b].map(|value| self.builder.convert(op, value));
                self.builder.binary(BinaryOp::Mul, a, b)
            }
            _ => return Err(format!("a product of {} bits", ty.bits)),
        };
        let bits = match half {
            Half::Both => ty.bits * 2,
            Half::Low | Half::High => ty.bits,
        };
        Ok((product, ScalarType { bits, ..ty }))
    }

    pub(super) fn mad(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        let half = modifiers.one_of(&[
            (".lo", Half::Low),
            (".hi", Half::High),
            (".wide", Half::Both),
        ]);
        let half = half.ok_or_else(|| modifiers.unknown())?;
        let ty = modifiers.ty()?;
        if half != Half::High
            && (ty.bits >= 32)
            && let Some(pointer) = self.pointer_product(to, (a, ty), b, c)?
        {
            return self.write(to, pointer, at);
        }
        let (product, ty) = self.product([a, b], ty, half)?;
        let c = self.read_int(c, ty)?;
        let value = self.builder.binary(BinaryOp::Add, product, c);
        self.write_int(to, value, ty, at)
    }

    pub(super) fn div(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        let ty = modifiers.ty()?;
        if ty.is_float() {
            let flush = Flush::of(modifiers);
            if modifiers.take(".rn") {
                return self.float_binary((to, [a, b]), (ty, flush), BinaryOp::FDiv, at);
            }
            let full = modifiers.one_of(&[(".full", true), (".approx", false)]);
            let (Some(full), 32) = (full, ty.bits) else {
                return Err(modifiers.unknown());
            };
            let [a, b] = [self.read(a, Type::F32)?, self.read(b, Type::F32)?];
            let value = self.quick_quotient(a, b, full, flush);
            return self.write(to, value, at);
        }
        let op = if ty.is_signed() {
            BinaryOp::SDiv
        } else {
            BinaryOp::UDiv
        };
        self.int_binary((to, [a, b]), ty, op, at)
    }

    /// `rem`: by zero all ones, as an H200 gives it.
    pub(super) fn rem(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        let ty = modifiers.ty()?;
        let op = if ty.is_signed() {
            BinaryOp::SRem
        } else {
            BinaryOp::URem
        };
        let [a, b] = [self.read_int(a, ty)?, self.read_int(b, ty)?];
        let number = |bits: i64| match ty.bits {
            64 => Const::i64(bits),
            _ => Const::i32(bits as i32),
        };
        let is_zero = self.builder.compare(CompareOp::Eq, b, number(0).into());
        let value = self.builder.binary(op, a, b);
        let value = self.builder.select(is_zero, number(-1).into(), value);
        self.write_int(to, value, ty, at)
    }

    pub(super) fn least(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        [signed, unsigned, floats]: [BinaryOp; 3],
    ) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_binary((all, modifiers, at), halves, floats);
        }
        let ty = modifiers.ty()?;
        if ty.is_float() {
            let flush = Flush::of(modifiers);
            return self.float_binary((to, [a, b]), (ty, flush), floats, at);
        }
        let op = if ty.is_signed() { signed } else { unsigned };
        if !(ty.is_signed() && modifiers.take(".relu")) {
            return self.int_binary((to, [a, b]), ty, op, at);
        }
        let [a, b] = [self.read_int(a, ty)?, self.read_int(b, ty)?];
        let value = self.builder.binary(op, a, b);
        let zero = Const::i32(0).into();
        let value = self.builder.binary(BinaryOp::SMax, value, zero);
        self.write_int(to, value, ty, at)
    }

    pub(super) fn bits(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        op: BinaryOp,
    ) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        let ty = modifiers.ty()?;
        if ty.bits > 1 {
            return self.int_binary((to, [a, b]), ty, op, at);
        }
        let [a, b] = [self.read(a, Type::I1)?, self.read(b, Type::I1)?];
        let value = self.builder.binary(op, a, b);
        self.write(to, value, at)
    }

    pub(super) fn not(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        let ty = modifiers.ty()?;
        let a = match ty.bits {
            1 => self.read(a, Type::I1)?,
            _ => self.read_int(a, ty)?,
        };
        let value = self.builder.unary(UnaryOp::Not, a);
        match ty.bits {
            1 => self.write(to, value, at),
            _ => self.write_int(to, value, ty, at),
        }
    }

    pub(super) fn shift(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        left: bool,
    ) -> Result<(), Fault> {
        let [to, a, by] = operands(all)?;
        let ty = modifiers.ty()?;
        let a = self.read_int(a, ty)?;
        let mut by = self.read(by, Type::I32)?;
        if ty.bits == 64 {
            by = self.builder.convert(ConvertOp::Zext, by);
        }
        let op = match (left, ty.is_signed()) {
            (true, _) => BinaryOp::Shl,
            (false, false) => BinaryOp::LShr,
            (false, true) => BinaryOp::AShr,
        };
        let value = self.builder.binary(op, a, by);
        self.write_int(to, value, ty, at)
    }

    /// `shf`: shifts two words and keeps one.
    pub(super) fn funnel_shift(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, low, high, by] = operands(all)?;
        let left = modifiers.one_of(&[(".l", true), (".r", false)]);
        let wraps = modifiers.one_of(&[(".wrap", true), (".clamp", false)]);
        let (Some(left), Some(wraps), true) = (left, wraps, modifiers.take(".b32")) else {
            return Err(modifiers.unknown());
        };
        let [low, high, by] = [
            self.read(low, Type::I32)?,
            self.read(high, Type::I32)?,
            self.read(by, Type::I32)?,
        ];
        let by = match wraps {
            true => self
                .builder
                .binary(BinaryOp::And, by, Const::i32(31).into()),
            false => self
                .builder
                .binary(BinaryOp::UMin, by, Const::i32(32).into()),
        };
        let [low, high, by] =
            [low, high, by].map(|value| self.builder.convert(ConvertOp::Zext, value));
        let word = Const::i64(32).into();
        let high = self.builder.binary(BinaryOp::Shl, high, word);
        let both = self.builder.binary(BinaryOp::Or, high, low);
        let value = match left {
            true => {
                let shifted = self.builder.binary(BinaryOp::Shl, both, by);
                self.builder.binary(BinaryOp::LShr, shifted, word)
            }
            false => self.builder.binary(BinaryOp::LShr, both, by),
        };
        let value = self.builder.convert(ConvertOp::Trunc, value);
        self.write(to, value, at)
    }

    pub(super) fn neg(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_unary((all, at), halves, UnaryOp::FNeg);
        }
        let ty = modifiers.ty()?;
        if ty.is_float() {
            return self.sign((to, a), (modifiers, ty), UnaryOp::FNeg, at);
        }
        let a = self.read_int(a, ty)?;
        let value = self.builder.unary(UnaryOp::Neg, a);
        self.write_int(to, value, ty, at)
    }

    pub(super) fn abs(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        if let Some(halves) = Halves::of(modifiers) {
            return self.half_unary((all, at), halves, UnaryOp::FAbs);
        }
        let ty = modifiers.ty()?;
        if ty.is_float() {
            return self.sign((to, a), (modifiers, ty), UnaryOp::FAbs, at);
        }
        let a = self.read_int(a, ty)?;
        let negative = self.builder.unary(UnaryOp::Neg, a);
        let value = self.builder.binary(BinaryOp::SMax, a, negative);
        self.write_int(to, value, ty, at)
    }

    /// `popc`, `clz`, `brev`: the first two give 32 bits.
    pub(super) fn count(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        op: UnaryOp,
    ) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        let ty = modifiers.ty()?;
        let a = self.read_int(a, ty)?;
        let mut value = self.builder.unary(op, a);
        if op != UnaryOp::Brev && ty.bits == 64 {
            value = self.builder.convert(ConvertOp::Trunc, value);
        }
        self.write(to, value, at)
    }

    /// `dp4a`, `dp2a`.
    pub(super) fn dot(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        four: bool,
    ) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        let high = match four {
            true => None,
            false => modifiers.one_of(&[(".hi", true), (".lo", false)]),
        };
        let (first, second) = (modifiers.ty()?, modifiers.ty()?);
        let op = match (first.is_signed(), second.is_signed(), high) {
            (true, true, None) => BinaryOp::SDot4,
            (false, false, None) => BinaryOp::UDot4,
            (true, true, Some(false)) => BinaryOp::SDot2Lo,
            (true, true, Some(true)) => BinaryOp::SDot2Hi,
            (false, false, Some(false)) => BinaryOp::UDot2Lo,
            (false, false, Some(true)) => BinaryOp::UDot2Hi,
            _ => return Err(modifiers.unknown()),
        };
        let [a, b, c] = [
            self.read(a, Type::I32)?,
            self.read(b, Type::I32)?,
            self.read(c, Type::I32)?,
        ];
        let product = self.builder.binary(op, a, b);
        let value = self.builder.binary(BinaryOp::Add, product, c);
        self.write(to, value, at)
    }

    /// Any function of three bits: the last operand is its table.
    pub(super) fn lop3(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, c, Operand::Int(table)] = operands(all)? else {
            return Err(modifiers.unknown());
        };
        if !modifiers.take(".b32") {
            return Err(modifiers.unknown());
        }
        let from = [
            self.read(a, Type::I32)?,
            self.read(b, Type::I32)?,
            self.read(c, Type::I32)?,
        ];
        let mut value = Const::i32(0).into();
        for row in (0..8).filter(|row| table >> row & 1 == 1) {
            let mut term = Const::i32(-1).into();
            for (bit, &operand) in from.iter().rev().enumerate() {
                let operand = match row >> bit & 1 {
                    0 => self.builder.unary(UnaryOp::Not, operand),
                    _ => operand,
                };
                term = self.builder.binary(BinaryOp::And, term, operand);
            }
            value = self.builder.binary(BinaryOp::Or, value, term);
        }
        self.write(to, value, at)
    }

    /// Four bytes out of eight, as the four digits of a number say; the highest bit of a digit repeats the byte's sign.
    pub(super) fn prmt(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, selector] = operands(all)?;
        if !modifiers.take(".b32") {
            return Err(modifiers.unknown());
        }
        let Operand::Int(selector) = selector else {
            return self.permute((to, [a, b], selector), at);
        };
        let words = [self.read(a, Type::I32)?, self.read(b, Type::I32)?];
        let mut value: Value = Const::i32(0).into();
        for place in 0..4 {
            let digit = (selector >> (4 * place)) as u32 & 15;
            let word = words[(digit >> 2 & 1) as usize];
            let from = 8 * (digit & 3) as i32;
            let (op, from) = match digit >> 3 {
                // The byte at the top, then its sign everywhere.
                1 => {
                    let top =
                        self.builder
                            .binary(BinaryOp::Shl, word, Const::i32(24 - from).into());
                    (top, 31)
                }
                _ => (word, from),
            };
            let shift = if digit >> 3 == 1 {
                BinaryOp::AShr
            } else {
                BinaryOp::LShr
            };
            let byte = self.builder.binary(shift, op, Const::i32(from).into());
            let byte = self
                .builder
                .binary(BinaryOp::And, byte, Const::i32(255).into());
            let byte = self
                .builder
                .binary(BinaryOp::Shl, byte, Const::i32(8 * place).into());
            value = self.builder.binary(BinaryOp::Or, value, byte);
        }
        self.write(to, value, at)
    }

    /// `prmt.b32` with a selector that is no constant.
    fn permute(
        &mut self,
        (to, words, selector): (&Operand<'t>, [&Operand<'t>; 2], &Operand<'t>),
        at: usize,
    ) -> Result<(), Fault> {
        let [low, high] = [
            self.read(words[0], Type::I32)?,
            self.read(words[1], Type::I32)?,
        ];
        let selector = self.read(selector, Type::I32)?;
        let [low, high] = [low, high].map(|word| self.builder.convert(ConvertOp::Zext, word));
        let constant = |value: i32| -> Value { Const::i32(value).into() };
        let high = self
            .builder
            .binary(BinaryOp::Shl, high, Const::i64(32).into());
        let bytes = self.builder.binary(BinaryOp::Or, high, low);
        let mut value = constant(0);
        for place in 0..4 {
            let builder = &mut self.builder;
            let digit = builder.binary(BinaryOp::LShr, selector, constant(4 * place));
            let index = builder.binary(BinaryOp::And, digit, constant(7));
            let by = builder.binary(BinaryOp::Shl, index, constant(3));
            let by = builder.convert(ConvertOp::Zext, by);
            let byte = builder.binary(BinaryOp::LShr, bytes, by);
            let byte = builder.convert(ConvertOp::Trunc, byte);
            // Its sign everywhere, or the byte.
            let top = builder.binary(BinaryOp::Shl, byte, constant(24));
            let sign = builder.binary(BinaryOp::AShr, top, constant(31));
            let bit = builder.binary(BinaryOp::And, digit, constant(8));
            let is_sign = builder.compare(CompareOp::Ne, bit, constant(0));
            let byte = builder.select(is_sign, sign, byte);
            let byte = builder.binary(BinaryOp::And, byte, constant(255));
            let byte = builder.binary(BinaryOp::Shl, byte, constant(8 * place));
            value = builder.binary(BinaryOp::Or, value, byte);
        }
        self.write(to, value, at)
    }

    /// `bfe.u32 d, a, position, length`.
    pub(super) fn field_extract(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, a, position, length] = operands(all)?;
        let ty = modifiers.ty()?;
        let a = self.read_int(a, ty)?;
        let value = match (ty.is_signed(), position, length) {
            (false, _, _) => {
                let [position, mask] = self.field(position, length, ty)?;
                let value = self.builder.binary(BinaryOp::LShr, a, position);
                self.builder.binary(BinaryOp::And, value, mask)
            }
            (true, Operand::Int(position), Operand::Int(length @ 1..))
                if position + length <= ty.bits.into() =>
            {
                let constant = |by: u64| match ty.bits {
                    64 => Const::i64(by as i64).into(),
                    _ => Const::i32(by as i32).into(),
                };
                let up = u64::from(ty.bits) - position - length;
                let top = self.builder.binary(BinaryOp::Shl, a, constant(up));
                self.builder
                    .binary(BinaryOp::AShr, top, constant(up + position))
            }
            _ => self.signed_field(a, (position, length), ty)?,
        };
        self.write_int(to, value, ty, at)
    }

    /// A field with its sign: the field's topmost bit, or the number's where the field reaches beyond it.
    fn signed_field(
        &mut self,
        a: Value,
        (position, length): (&Operand<'t>, &Operand<'t>),
        ty: ScalarType,
    ) -> Result<Value, Fault> {
        let mut wide = [
            self.read(position, Type::I32)?,
            self.read(length, Type::I32)?,
        ];
        for value in &mut wide {
            let byte = self
                .builder
                .binary(BinaryOp::And, *value, Const::i32(255).into());
            *value = self.builder.convert(ConvertOp::Zext, byte);
        }
        let [position, length] = wide;
        let a = match ty.bits {
            64 => a,
            _ => self.builder.convert(ConvertOp::Sext, a),
        };
        let value = self.builder.binary(BinaryOp::AShr, a, position);
        let most = Const::i64(64).into();
        let length = self.builder.binary(BinaryOp::UMin, length, most);
        let up = self.builder.binary(BinaryOp::Sub, most, length);
        let value = self.builder.binary(BinaryOp::Shl, value, up);
        let value = self.builder.binary(BinaryOp::AShr, value, up);
        Ok(match ty.bits {
            64 => value,
            _ => self.builder.convert(ConvertOp::Trunc, value),
        })
    }

    /// `bfi.b32 d, a, b, position, length`: `b` with the low bits of `a` at a position.
    pub(super) fn field_insert(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, a, b, position, length] = operands(all)?;
        let ty = modifiers.ty()?;
        let [a, b] = [self.read_int(a, ty)?, self.read_int(b, ty)?];
        let [position, mask] = self.field(position, length, ty)?;
        let mask = self.builder.binary(BinaryOp::Shl, mask, position);
        let value = self.builder.binary(BinaryOp::Shl, a, position);
        let value = self.builder.binary(BinaryOp::And, value, mask);
        let others = self.builder.unary(UnaryOp::Not, mask);
        let others = self.builder.binary(BinaryOp::And, b, others);
        let value = self.builder.binary(BinaryOp::Or, others, value);
        self.write_int(to, value, ty, at)
    }

    /// A field's position, and as many ones as it has bits. PTX takes 8 bits of each.
    fn field(
        &mut self,
        position: &Operand<'t>,
        length: &Operand<'t>,
        ty: ScalarType,
    ) -> Result<[Value; 2], Fault> {
        let mut found = Vec::new();
        for operand in [position, length] {
            let value = self.read(operand, Type::I32)?;
            let value = self
                .builder
                .binary(BinaryOp::And, value, Const::i32(255).into());
            found.push(match ty.bits {
                64 => self.builder.convert(ConvertOp::Zext, value),
                _ => value,
            });
        }
        let one = match ty.bits {
            64 => Const::i64(1),
            _ => Const::i32(1),
        };
        let above = self.builder.binary(BinaryOp::Shl, one.into(), found[1]);
        let mask = self.builder.binary(BinaryOp::Sub, above, one.into());
        Ok([found[0], mask])
    }

    /// `c + |a - b|`.
    pub(super) fn sad(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        let ty = modifiers.ty()?;
        let [a, b, c] = [
            self.read_int(a, ty)?,
            self.read_int(b, ty)?,
            self.read_int(c, ty)?,
        ];
        let (greatest, least) = match ty.is_signed() {
            true => (BinaryOp::SMax, BinaryOp::SMin),
            false => (BinaryOp::UMax, BinaryOp::UMin),
        };
        let greatest = self.builder.binary(greatest, a, b);
        let least = self.builder.binary(least, a, b);
        let distance = self.builder.binary(BinaryOp::Sub, greatest, least);
        let value = self.builder.binary(BinaryOp::Add, distance, c);
        self.write_int(to, value, ty, at)
    }
}

/// Which part of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Low,
    High,
    Both,
}
