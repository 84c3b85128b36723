//! Fuses multiply and add, as nvcc does by default: within one expression of device code, `a * b + c` becomes one `fma`.
//!
//! | source | IR |
//! |---|---|
//! | `a * b + c`, `c + a * b`, `acc += a * b` | `fma(a, b, c)` |
//! | `a * b - c` | `fma(a, b, -c)` |
//! | `c - a * b`, `acc -= a * b`, `c + -(a * b)` | `fma(-a, b, c)` |
//! | `a * b + c * d` | `fma(a, b, c * d)`: the left product is fused, the right one rounded, which is LLVM's choice |
//!
//! The rule applies to the source: a product in a variable (`p = a * b; s = p + c;`) is rounded here, while nvcc may fuse it. `__fmul_rn`
//! and `__fadd_rn` are calls and never fuse. Host code is never contracted.

use crate::sema::{
    ty::Ty,
    typed::{Arith, Value, ValueKind},
};
use ir::{BinaryOp, Operand, UnaryOp, span::Span};

use super::function::FunctionLowerer;

/// `a * b` or `-(a * b)`, not yet evaluated.
#[derive(Clone, Copy)]
pub(super) struct Product<'t> {
    a: &'t Value,
    b: &'t Value,
    negative: bool,
}

/// The factors of a product, evaluated; `a` with the product's sign.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    a: Operand,
    b: Operand,
}

impl FunctionLowerer<'_, '_> {
    /// The value as a product, if adding it to something of type `ty` fuses.
    pub(super) fn product<'t>(&self, op: Arith, ty: &Ty, value: &'t Value) -> Option<Product<'t>> {
        let may_fuse = self.is_device && self.m.options.fmad;
        let is_sum = matches!(op, Arith::Add | Arith::Sub) && matches!(ty, Ty::Float | Ty::Double);
        if !may_fuse || !is_sum || value.ty != *ty {
            return None;
        }
        let mut value = value;
        let mut negative = false;
        while let ValueKind::Neg(inner) = &value.kind {
            negative = !negative;
            value = inner;
        }
        match &value.kind {
            ValueKind::Binary(Arith::Mul, a, b) => Some(Product { a, b, negative }),
            _ => None,
        }
    }

    pub(super) fn factors(&mut self, product: Product<'_>, span: Span) -> Factors {
        let mut a = self.value(product.a);
        let b = self.value(product.b);
        if product.negative {
            self.at(span);
            a = self.b.unary(UnaryOp::FNeg, a);
        }
        Factors { a, b }
    }

    /// `a * b + c`, `a * b - c`.
    pub(super) fn fuse_left(
        &mut self,
        op: Arith,
        Factors { a, b }: Factors,
        c: Operand,
    ) -> Operand {
        let c = match op {
            Arith::Sub => self.b.unary(UnaryOp::FNeg, c),
            _ => c,
        };
        self.fma(a, b, c)
    }

    /// `c + a * b`, `c - a * b`.
    pub(super) fn fuse_right(
        &mut self,
        op: Arith,
        c: Operand,
        Factors { a, b }: Factors,
    ) -> Operand {
        let a = match op {
            Arith::Sub => self.b.unary(UnaryOp::FNeg, a),
            _ => a,
        };
        self.fma(a, b, c)
    }

    /// A product of constants is folded, and thus rounded, before sums are contracted, as in LLVM.
    fn fma(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        if let (Operand::Const(_), Operand::Const(_)) = (a, b) {
            let product = self.b.binary(BinaryOp::FMul, a, b);
            return self.b.binary(BinaryOp::FAdd, product, c);
        }
        self.b.fma(a, b, c)
    }
}
