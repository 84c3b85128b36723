//! Arithmetic on halves and bfloat16, alone or two in a register.
//!
//! Sums and products are made in `float` and rounded once more. That gives the rounded result, since `float` has more than twice the digits, and two.

use ir::{BinaryOp, Const, ConvertOp, Operand as Value, Type, UnaryOp};

use super::inst::This;
use super::modifiers::Modifiers;
use super::{Fault, Lowerer, inst::operands};
use crate::tree::Operand;

/// The type of an instruction on halves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Halves {
    is_brain: bool,
    /// Two in a register.
    is_packed: bool,
}

impl Halves {
    /// Takes the type, if it is one.
    pub(super) fn of(modifiers: &mut Modifiers<'_, '_>) -> Option<Halves> {
        let found = modifiers.one_of(&[
            (".f16", (false, false)),
            (".f16x2", (false, true)),
            (".bf16", (true, false)),
            (".bf16x2", (true, true)),
        ]);
        found.map(|(is_brain, is_packed)| Halves {
            is_brain,
            is_packed,
        })
    }
}

impl<'t> Lowerer<'_, 't> {
    /// A sum, difference, product, minimum or maximum.
    pub(super) fn half_binary(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        halves: Halves,
        op: BinaryOp,
    ) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        modifiers.take(".rn");
        let a = self.floats_of(a, halves)?;
        let b = self.floats_of(b, halves)?;
        let pairs = a.into_iter().zip(b);
        let values: Vec<Value> = pairs.map(|(a, b)| self.builder.binary(op, a, b)).collect();
        self.write_halves(to, &values, halves, at)
    }

    /// `neg`, `abs`.
    pub(super) fn half_unary(
        &mut self,
        (all, at): (&[Operand<'t>], usize),
        halves: Halves,
        op: UnaryOp,
    ) -> Result<(), Fault> {
        let [to, a] = operands(all)?;
        let a = self.floats_of(a, halves)?;
        let values: Vec<Value> = a
            .into_iter()
            .map(|value| self.builder.unary(op, value))
            .collect();
        self.write_halves(to, &values, halves, at)
    }

    /// `fma`, which is rounded once.
    pub(super) fn half_fma(
        &mut self,
        (all, at): (&[Operand<'t>], usize),
        halves: Halves,
    ) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        let [a, b, c] = [
            self.read(a, Type::I32)?,
            self.read(b, Type::I32)?,
            self.read(c, Type::I32)?,
        ];
        let value = match halves.is_brain {
            false => self.builder.fma_halves(a, b, c),
            true => self.builder.fma_bfloats(a, b, c),
        };
        let value = match halves.is_packed {
            true => value,
            false => self.builder.convert(ConvertOp::Zext16, value),
        };
        self.write(to, value, at)
    }

    /// A comparison of two single halves.
    pub(super) fn half_compare(
        &mut self,
        (a, b): (&Operand<'t>, &Operand<'t>),
        halves: Halves,
        compare: impl FnOnce(&mut Self, Value, Value) -> Option<Value>,
    ) -> Result<Option<Value>, Fault> {
        if halves.is_packed {
            return Ok(None);
        }
        let a = self.floats_of(a, halves)?;
        let b = self.floats_of(b, halves)?;
        Ok(compare(self, a[0], b[0]))
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: the first is the upper half.
    pub(super) fn pack_halves(
        &mut self,
        (all, at): (&[Operand<'t>], usize),
        halves: Halves,
    ) -> Result<(), Fault> {
        let [to, high, low] = operands(all)?;
        let values = [self.read(low, Type::F32)?, self.read(high, Type::F32)?];
        self.write_halves(to, &values, halves, at)
    }

    /// A register's halves, the lower one first, as floats.
    fn floats_of(&mut self, operand: &Operand<'t>, halves: Halves) -> Result<Vec<Value>, Fault> {
        let word = self.read(operand, Type::I32)?;
        let sixteen = Const::i32(16).into();
        let mut words = vec![self.builder.convert(ConvertOp::Zext16, word)];
        if halves.is_packed {
            words.push(self.builder.binary(BinaryOp::LShr, word, sixteen));
        }
        Ok(words
            .into_iter()
            .map(|half| match halves.is_brain {
                false => self.builder.convert(ConvertOp::F16ToF32, half),
                true => {
                    let bits = self.builder.binary(BinaryOp::Shl, half, sixteen);
                    self.builder.convert(ConvertOp::BitsToF32, bits)
                }
            })
            .collect())
    }

    fn write_halves(
        &mut self,
        to: &Operand<'t>,
        values: &[Value],
        halves: Halves,
        at: usize,
    ) -> Result<(), Fault> {
        let op = match halves.is_brain {
            false => ConvertOp::F32ToF16,
            true => ConvertOp::F32ToBf16,
        };
        let mut word: Value = self.builder.convert(op, values[0]);
        if let Some(&high) = values.get(1) {
            let high = self.builder.convert(op, high);
            let high = self
                .builder
                .binary(BinaryOp::Shl, high, Const::i32(16).into());
            word = self.builder.binary(BinaryOp::Or, word, high);
        }
        self.write(to, word, at)
    }
}
