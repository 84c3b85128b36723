//! Lowers C's conversions: between arithmetic types, to `bool`, and between pointers and integers.
//!
//! `char` and `short` are `i32`s kept in range, so widening one to `int` costs nothing and narrowing is one `ext`. A float becomes a `char`
//! or `short` by way of `int`.

use crate::sema::ty::Ty;
use ir::{CompareOp, Const, ConvertOp, Operand, Type};

use super::{
    function::FunctionLowerer,
    layout::{self, GENERIC},
};

/// An arithmetic type or pointer, as far as conversions tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Bool,
    Int { bits: u32, unsigned: bool },
    Float,
    Double,
    Pointer,
}

fn kind(ty: &Ty) -> Kind {
    match ty {
        Ty::Bool => Kind::Bool,
        Ty::Float => Kind::Float,
        Ty::Double => Kind::Double,
        Ty::Pointer(_) | Ty::Array(..) | Ty::Function(_) => Kind::Pointer,
        other => Kind::Int {
            bits: layout::mem_type(other).map_or(32, |mem| mem.bytes() * 8),
            unsigned: layout::is_unsigned(other),
        },
    }
}

/// A constant index as a 64-bit number.
pub(super) fn index_value(index: Const, unsigned: bool) -> i64 {
    match index.ty {
        Type::I32 if !unsigned => i64::from(index.bits as i32),
        _ => index.bits as i64,
    }
}

impl FunctionLowerer<'_, '_> {
    /// A scalar of type `from` as one of type `to`.
    pub(super) fn convert(&mut self, value: Operand, from: &Ty, to: &Ty) -> Operand {
        match (kind(from), kind(to)) {
            (from, to) if from == to => value,
            (_, Kind::Bool) => self.truth(value),
            (Kind::Int { bits, unsigned }, to) => self.convert_int(value, bits, unsigned, to),
            (Kind::Bool, to) => {
                let int = self.b.convert(ConvertOp::BoolToI32, value);
                self.convert_int(int, 8, true, to)
            }
            (from @ (Kind::Float | Kind::Double), to) => self.convert_float(value, from, to),
            (Kind::Pointer, to) => {
                let int = self.b.convert(ConvertOp::PtrToInt, value);
                self.convert_int(int, 64, true, to)
            }
        }
    }

    /// Whether a scalar is not 0 (a NaN is not 0).
    pub(super) fn truth(&mut self, value: Operand) -> Operand {
        let ty = self.b.value_type(value);
        if ty == Type::I1 {
            return value;
        }
        let op = if ty.is_float() {
            CompareOp::FNe
        } else {
            CompareOp::Ne
        };
        self.b.compare(op, value, Const::zero(ty).into())
    }

    fn convert_int(&mut self, value: Operand, bits: u32, unsigned: bool, to: Kind) -> Operand {
        match to {
            Kind::Bool => self.truth(value),
            Kind::Int { bits: 64, .. } => self.widen(value, bits, unsigned),
            Kind::Int {
                bits: to,
                unsigned: to_unsigned,
            } => {
                let value = if bits == 64 {
                    self.b.convert(ConvertOp::Trunc, value)
                } else {
                    value
                };
                // A narrower integer fits, unless a negative number becomes unsigned.
                let fits = bits < to && (unsigned || !to_unsigned);
                if fits {
                    value
                } else {
                    self.narrow(value, to, to_unsigned)
                }
            }
            Kind::Float => {
                let op = match (bits == 64, unsigned && bits >= 32) {
                    (false, false) => ConvertOp::S32ToF32,
                    (false, true) => ConvertOp::U32ToF32,
                    (true, false) => ConvertOp::S64ToF32,
                    (true, true) => ConvertOp::U64ToF32,
                };
                self.b.convert(op, value)
            }
            Kind::Double => {
                let op = match (bits == 64, unsigned && bits >= 32) {
                    (false, false) => ConvertOp::S32ToF64,
                    (false, true) => ConvertOp::U32ToF64,
                    (true, false) => ConvertOp::S64ToF64,
                    (true, true) => ConvertOp::U64ToF64,
                };
                self.b.convert(op, value)
            }
            Kind::Pointer => {
                let wide = self.widen(value, bits, unsigned);
                self.b.convert(ConvertOp::IntToPtr, wide)
            }
        }
    }

    fn widen(&mut self, value: Operand, bits: u32, unsigned: bool) -> Operand {
        match (bits, unsigned) {
            (64, _) => value,
            (_, true) => self.b.convert(ConvertOp::Zext, value),
            (_, false) => self.b.convert(ConvertOp::Sext, value),
        }
    }

    /// Brings an `i32` into the range of a narrower type.
    fn narrow(&mut self, value: Operand, bits: u32, unsigned: bool) -> Operand {
        let op = match (bits, unsigned) {
            (8, false) => ConvertOp::Sext8,
            (8, true) => ConvertOp::Zext8,
            (16, false) => ConvertOp::Sext16,
            (16, true) => ConvertOp::Zext16,
            _ => return value,
        };
        self.b.convert(op, value)
    }

    fn convert_float(&mut self, value: Operand, from: Kind, to: Kind) -> Operand {
        let is_double = from == Kind::Double;
        match to {
            Kind::Bool => self.truth(value),
            Kind::Float if is_double => self.b.convert(ConvertOp::F64ToF32, value),
            Kind::Double if !is_double => self.b.convert(ConvertOp::F32ToF64, value),
            Kind::Float | Kind::Double => value,
            Kind::Int { bits: 64, unsigned } => {
                let op = match (is_double, unsigned) {
                    (false, false) => ConvertOp::F32ToS64,
                    (false, true) => ConvertOp::F32ToU64,
                    (true, false) => ConvertOp::F64ToS64,
                    (true, true) => ConvertOp::F64ToU64,
                };
                self.b.convert(op, value)
            }
            Kind::Int { bits, unsigned } => {
                let op = match (is_double, unsigned && bits == 32) {
                    (false, false) => ConvertOp::F32ToS32,
                    (false, true) => ConvertOp::F32ToU32,
                    (true, false) => ConvertOp::F64ToS32,
                    (true, true) => ConvertOp::F64ToU32,
                };
                let int = self.b.convert(op, value);
                self.narrow(int, bits, unsigned)
            }
            // C has no such conversion.
            Kind::Pointer => Const::zero(GENERIC).into(),
        }
    }
}
