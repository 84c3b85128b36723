//! Sums of several words: `add.cc`, `addc`, `mad.hi.cc` and the like. The carry is a slot of the function; for differences it is the borrow.

use ir::{BinaryOp, CompareOp, Const, ConvertOp, Operand as Value, SlotId, Type};

use super::arithmetic::Half;
use super::inst::{This, operands};
use super::{Fault, Lowerer};
use crate::tree::ScalarType;

impl<'t> Lowerer<'_, 't> {
    /// `add.cc`, `addc`, `sub.cc`, `subc`: the operation, and whether it begins with the carry.
    pub(super) fn carried_sum(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        (op, takes): (BinaryOp, bool),
    ) -> Result<(), Fault> {
        let [to, a, b] = operands(all)?;
        let gives = modifiers.take(".cc");
        let ty = modifiers.ty()?;
        let [a, b] = [self.read_int(a, ty)?, self.read_int(b, ty)?];
        let value = self.carried((a, b), ty, op, (takes, gives));
        self.write_int(to, value, ty, at)
    }

    /// `mad.lo.cc`, `madc.hi`: a half of a product, and a sum with carry.
    pub(super) fn carried_product(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
        takes: bool,
    ) -> Result<(), Fault> {
        let [to, a, b, c] = operands(all)?;
        let half = modifiers.one_of(&[(".lo", Half::Low), (".hi", Half::High)]);
        let half = half.ok_or_else(|| modifiers.unknown())?;
        let gives = modifiers.take(".cc");
        let ty = modifiers.ty()?;
        let (product, ty) = self.product([a, b], ty, half)?;
        let c = self.read_int(c, ty)?;
        let value = self.carried((product, c), ty, BinaryOp::Add, (takes, gives));
        self.write_int(to, value, ty, at)
    }

    /// A sum or difference with the carry on either side.
    fn carried(
        &mut self,
        (a, b): (Value, Value),
        ty: ScalarType,
        op: BinaryOp,
        (takes, gives): (bool, bool),
    ) -> Value {
        let slot = self.carry();
        // The sum is below a term, or the term below the other one, where a bit is lost.
        let is_lost = |lowerer: &mut Self, term: Value, other: Value, value: Value| match op {
            BinaryOp::Add => lowerer.builder.compare(CompareOp::Ult, value, term),
            _ => lowerer.builder.compare(CompareOp::Ult, term, other),
        };
        let mut value = self.builder.binary(op, a, b);
        let mut lost = is_lost(self, a, b, value);
        if takes {
            let carry = self.builder.get(slot);
            let carry = match ty.bits {
                64 => self.builder.convert(ConvertOp::Zext, carry),
                _ => carry,
            };
            let first = value;
            value = self.builder.binary(op, first, carry);
            let more = is_lost(self, first, carry, value);
            lost = self.builder.binary(BinaryOp::Or, lost, more);
        }
        if gives {
            let [one, zero] = [1, 0].map(|bit| Const::i32(bit).into());
            let carry = self.builder.select(lost, one, zero);
            self.builder.set(slot, carry);
        }
        value
    }

    /// The slot of the carry.
    fn carry(&mut self) -> SlotId {
        match self.carry {
            Some(slot) => slot,
            None => {
                let slot = self.builder.slot("carry", Type::I32);
                self.carry = Some(slot);
                slot
            }
        }
    }
}
