//! Sums of products of parts of two words. From sm_61 on there is an instruction for this, which also adds a third word.

use ir::{BinaryOp, Operand, ValueId};

use super::super::kernel::Kernel;

/// An operation of this kind, and its operands.
#[derive(Clone, Copy)]
pub(in crate::emit) struct Dot {
    shape: Shape,
    a: Operand,
    b: Operand,
}

#[derive(Clone, Copy)]
struct Shape {
    is_signed: bool,
    /// For halves of one word by bytes of the other: whether the bytes are the high two. `None`: bytes by bytes.
    high: Option<bool>,
}

impl Shape {
    fn of(op: BinaryOp) -> Option<Shape> {
        let (is_signed, high) = match op {
            BinaryOp::SDot4 => (true, None),
            BinaryOp::UDot4 => (false, None),
            BinaryOp::SDot2Lo => (true, Some(false)),
            BinaryOp::SDot2Hi => (true, Some(true)),
            BinaryOp::UDot2Lo => (false, Some(false)),
            BinaryOp::UDot2Hi => (false, Some(true)),
            _ => return None,
        };
        Some(Shape { is_signed, high })
    }
}

impl Kernel<'_, '_> {
    /// Writes the operation if it is such a sum, or adds a word to an already written one; returns whether it did. The written one stays
    /// for its other uses; if it has none, LLVM removes it.
    pub(super) fn writes_dot(
        &mut self,
        result: ValueId,
        op: BinaryOp,
        a: Operand,
        b: Operand,
    ) -> bool {
        if let Some(shape) = Shape::of(op) {
            let dot = Dot { shape, a, b };
            self.dots.insert(result, dot);
            self.dot(result, dot, "0".to_string());
            return true;
        }
        if op != BinaryOp::Add {
            return false;
        }
        let known = |operand: Operand| self.dots.get(&operand.value()?).copied();
        let Some((dot, added)) = known(a)
            .map(|dot| (dot, b))
            .or(known(b).map(|dot| (dot, a)))
        else {
            return false;
        };
        let added = self.operand(added);
        self.dot(result, dot, added);
        true
    }

    fn dot(&mut self, result: ValueId, Dot { shape, a, b }: Dot, added: String) {
        let (a, b) = (self.operand(a), self.operand(b));
        if self.m.arch < 61 {
            return self.dot_of_parts(result, shape, &a, &b, added);
        }
        let kind = match shape.is_signed {
            true => "s.s",
            false => "u.u",
        };
        let text = match shape.high {
            None => format!("idp4a.{kind}(i32 {a}, i32 {b}, i32 {added})"),
            Some(high) => format!("idp2a.{kind}(i32 {a}, i32 {b}, i1 {high}, i32 {added})"),
        };
        self.result(result, format!("call i32 @llvm.nvvm.{text}"));
    }

    /// Computes the sum part by part.
    fn dot_of_parts(&mut self, result: ValueId, shape: Shape, a: &str, b: &str, added: String) {
        let extend = match shape.is_signed {
            true => "sext",
            false => "zext",
        };
        let (parts, a_bits, first) = match shape.high {
            None => (4, 8, 0),
            Some(high) => (2, 16, 2 * u32::from(high)),
        };
        let mut sum = added;
        for index in 0..parts {
            let mut part = |word: &str, bits: u32, index: u32| {
                let shifted = self.fresh(format!("lshr i32 {word}, {}", bits * index));
                let part = self.fresh(format!("trunc i32 {shifted} to i{bits}"));
                self.fresh(format!("{extend} i{bits} {part} to i32"))
            };
            let (a, b) = (part(a, a_bits, index), part(b, 8, first + index));
            let product = self.fresh(format!("mul i32 {a}, {b}"));
            let text = format!("add i32 {sum}, {product}");
            if index + 1 == parts {
                return self.result(result, text);
            }
            sum = self.fresh(text);
        }
    }
}
