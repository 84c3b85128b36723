//! Comparisons and choices.

use ir::{BinaryOp, CompareOp, Operand as Value, Space, Type, UnaryOp};

use super::float::{Flush, float};
use super::half::Halves;
use super::inst::{This, operands};
use super::{Fault, Lowerer};
use crate::tree::{Kind, Operand, ScalarType};

/// See [`COMPARISONS`].
type Row = (
    &'static str,
    [Option<CompareOp>; 2],
    Option<(CompareOp, bool)>,
);

/// A comparison's word: for signed integers, unsigned ones, and floats; `true`: it also holds if one is not a number.
const COMPARISONS: &[Row] = &[
    (
        ".eq",
        [Some(CompareOp::Eq), Some(CompareOp::Eq)],
        Some((CompareOp::FEq, false)),
    ),
    (".ne", [Some(CompareOp::Ne), Some(CompareOp::Ne)], None),
    (
        ".lt",
        [Some(CompareOp::Slt), Some(CompareOp::Ult)],
        Some((CompareOp::FLt, false)),
    ),
    (
        ".le",
        [Some(CompareOp::Sle), Some(CompareOp::Ule)],
        Some((CompareOp::FLe, false)),
    ),
    (
        ".gt",
        [Some(CompareOp::Sgt), Some(CompareOp::Ugt)],
        Some((CompareOp::FGt, false)),
    ),
    (
        ".ge",
        [Some(CompareOp::Sge), Some(CompareOp::Uge)],
        Some((CompareOp::FGe, false)),
    ),
    (".lo", [None, Some(CompareOp::Ult)], None),
    (".ls", [None, Some(CompareOp::Ule)], None),
    (".hi", [None, Some(CompareOp::Ugt)], None),
    (".hs", [None, Some(CompareOp::Uge)], None),
    (".neu", [None, None], Some((CompareOp::FNe, false))),
    // The opposite of a comparison that is false for what is not a number.
    (".ltu", [None, None], Some((CompareOp::FGe, true))),
    (".leu", [None, None], Some((CompareOp::FGt, true))),
    (".gtu", [None, None], Some((CompareOp::FLe, true))),
    (".geu", [None, None], Some((CompareOp::FLt, true))),
];

impl<'t> Lowerer<'_, 't> {
    /// `setp.lt.s32 p, a, b`, `setp.lt.and.s32 p|q, a, b, c`.
    pub(super) fn set_predicate(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let word = modifiers.take_if(|modifier| WORDS.iter().find(|word| **word == modifier));
        let word = *word.ok_or_else(|| modifiers.unknown())?;
        let combines = modifiers.one_of(&[
            (".and", BinaryOp::And),
            (".or", BinaryOp::Or),
            (".xor", BinaryOp::Xor),
        ]);
        let flush = Flush::of(modifiers);
        let halves = Halves::of(modifiers);
        let ty = match halves {
            Some(_) => ScalarType {
                kind: Kind::Float,
                bits: 32,
            },
            None => modifiers.ty()?,
        };
        let (to, a, b, with) = match (combines, all) {
            (None, [to, a, b]) => (to, a, b, None),
            (Some(op), [to, a, b, c]) => (to, a, b, Some((op, c))),
            _ => return Err(modifiers.unknown()),
        };
        let Some(value) = self.comparison(word, (ty, flush, halves), a, b)? else {
            return Err(modifiers.unknown());
        };
        let combined = |this: &mut Self, value| match with {
            None => Ok(value),
            Some((op, c)) => {
                let c = this.read(c, Type::I1)?;
                Ok::<Value, Fault>(this.builder.binary(op, value, c))
            }
        };
        let first = combined(self, value)?;
        let Operand::Pair(p, q) = to else {
            return self.write(to, first, at);
        };
        let opposite = self.builder.unary(UnaryOp::Not, value);
        let second = combined(self, opposite)?;
        self.write_register(*p, first, at)?;
        self.write_register(*q, second, at)
    }

    fn comparison(
        &mut self,
        word: &str,
        (ty, flush, halves): (ScalarType, Flush, Option<Halves>),
        a: &Operand<'t>,
        b: &Operand<'t>,
    ) -> Result<Option<Value>, Fault> {
        let row = COMPARISONS.iter().find(|(name, ..)| *name == word);
        if let Some(halves) = halves {
            return self.half_compare((a, b), halves, |this, a, b| {
                this.float_comparison(word, a, b)
            });
        }
        if ty.is_float() {
            let ty = float(ty)?;
            let [a, b] = [self.read(a, ty)?, self.read(b, ty)?];
            let [a, b] = [self.flushed(a, flush), self.flushed(b, flush)];
            return Ok(self.float_comparison(word, a, b));
        }
        if ty.kind == Kind::Predicate {
            return Ok(None);
        }
        let Some((_, [signed, unsigned], _)) = row else {
            return Ok(None);
        };
        let Some(op) = (if ty.is_signed() { *signed } else { *unsigned }) else {
            return Ok(None);
        };
        // Two addresses of one space compare like their numbers.
        if let (Operand::Register(a), Operand::Register(b), false) = (a, b, ty.is_signed())
            && [a, b].map(|id| self.registers.ty(*id)) == [Type::Ptr(Space::Generic); 2]
        {
            let [a, b] = [a, b].map(|id| self.registers.get(&mut self.builder, *id));
            return Ok(Some(self.builder.compare(op, a, b)));
        }
        let [a, b] = [self.read_int(a, ty)?, self.read_int(b, ty)?];
        Ok(Some(self.builder.compare(op, a, b)))
    }

    fn float_comparison(&mut self, word: &str, a: Value, b: Value) -> Option<Value> {
        let row = COMPARISONS.iter().find(|(name, ..)| *name == word);
        match row {
            Some((_, _, Some((op, opposite)))) => {
                let value = self.builder.compare(*op, a, b);
                Some(match opposite {
                    true => self.builder.unary(UnaryOp::Not, value),
                    false => value,
                })
            }
            Some(_) | None => self.unordered(word, a, b),
        }
    }

    /// Comparisons that ask whether both are numbers.
    fn unordered(&mut self, word: &str, a: Value, b: Value) -> Option<Value> {
        let [a_is_none, b_is_none] =
            [a, b].map(|value| self.builder.compare(CompareOp::FNe, value, value));
        let either = self.builder.binary(BinaryOp::Or, a_is_none, b_is_none);
        Some(match word {
            ".nan" => either,
            ".num" => self.builder.unary(UnaryOp::Not, either),
            ".equ" => {
                let equal = self.builder.compare(CompareOp::FEq, a, b);
                self.builder.binary(BinaryOp::Or, either, equal)
            }
            ".ne" => {
                let differ = self.builder.compare(CompareOp::FNe, a, b);
                let numbers = self.builder.unary(UnaryOp::Not, either);
                self.builder.binary(BinaryOp::And, numbers, differ)
            }
            _ => return None,
        })
    }

    /// `selp.b32 d, a, b, p`.
    pub(super) fn select(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, a, b, cond] = operands(all)?;
        let ty = modifiers.ty()?;
        let cond = self.read(cond, Type::I1)?;
        let Operand::Register(id) = to else {
            return Err("the result goes to no register".to_string());
        };
        for from in [a, b] {
            if let Operand::Register(from) = from {
                self.registers.link(*id, *from);
            }
        }
        // A choice of floats says that both are.
        let chosen = match (ty.is_float(), ty.bits) {
            (true, 32 | 64) if self.registers.collects => float(ty)?,
            _ => self.registers.ty(*id),
        };
        let [a, b] = match self.registers.collects && !ty.is_float() {
            true => [self.read_bits(a, ty.bits)?, self.read_bits(b, ty.bits)?],
            false => [self.read(a, chosen)?, self.read(b, chosen)?],
        };
        let (a, b) = (self.convert_to(a, chosen)?, self.convert_to(b, chosen)?);
        let value = self.builder.select(cond, a, b);
        match ty.is_float() && ty.bits > 16 {
            true => self.write(to, value, at),
            false => self.write_bits(to, value, at),
        }
    }
}

/// All words of comparisons.
const WORDS: &[&str] = &[
    ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu",
    ".leu", ".gtu", ".geu", ".num", ".nan",
];
