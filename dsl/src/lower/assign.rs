//! Lowers assignments: `=`, `op=`, `++`, `--`.
//!
//! The right side is evaluated before the place, and the place's address only once. The value of an assignment is the stored value; the
//! place is not read again. A value that a narrow store truncates anyway (`char`, `short`) is not narrowed before.

use crate::sema::{
    ty::Ty,
    typed::{Arith, Place, Value, ValueKind},
};
use ir::{Const, MemType, Operand, span::Span};

use super::{bulk, function::FunctionLowerer, layout, place::Cell};

impl FunctionLowerer<'_, '_> {
    /// An assignment as a statement. A value that the store truncates is not narrowed before.
    pub(super) fn assign(&mut self, place: &Place, right: &Value) {
        if let Some(from) = bulk::long_source(self, right) {
            let from = self.region(from);
            let to = self.region(place);
            self.at_place(place);
            return self.copy(to, from, &right.ty);
        }
        let narrowed = match &right.kind {
            ValueKind::Convert(inner) if is_narrow(&place.ty.ty) && is_word(&inner.ty) => inner,
            _ => {
                let leaves = self.leaves(right);
                let cell = self.cell(place);
                return self.store_cell(&cell, place, &leaves);
            }
        };
        let word = self.value(narrowed);
        let cell = self.cell(place);
        let leaf = match cell {
            Cell::Memory(..) => word,
            Cell::Slots(_) | Cell::Values(_) | Cell::Bits(_) => {
                self.at(right.span);
                self.convert(word, &narrowed.ty, &right.ty)
            }
        };
        self.store_cell(&cell, place, &[leaf]);
    }

    /// `place op= right`; returns the new value.
    pub(super) fn compound(
        &mut self,
        op: Arith,
        place: &Place,
        right: &Value,
        compute: &Ty,
        span: Span,
    ) -> Operand {
        let ty = &place.ty.ty;
        if let Some(element) = ty.pointee() {
            let index = self.value(right);
            let stride = self.m.layout.stride(element);
            let scale = if op == Arith::Sub { -stride } else { stride };
            return self
                .move_pointer(place, index, layout::is_unsigned(&right.ty), scale, span)
                .1;
        }
        let product = self.product(op, compute, right);
        let factors = product.map(|product| self.factors(product, right.span));
        let right = match factors {
            Some(_) => None,
            None => Some(self.value(right)),
        };
        let mut cell = self.cell(place);
        let old = self.load_scalar(&mut cell, place);
        self.at(span);
        let old = self.convert(old, ty, compute);
        let new = match (factors, right) {
            (Some(factors), _) => self.fuse_right(op, old, factors),
            (None, Some(right)) => self.arith(op, old, right, compute, span),
            (None, None) => old,
        };
        let new = self.convert(new, compute, ty);
        self.store_cell(&cell, place, &[new]);
        self.kept_scalar(place, new)
    }

    /// `++place` and similar; returns the new or the old value.
    pub(super) fn inc_dec(
        &mut self,
        place: &Place,
        decrement: bool,
        prefix: bool,
        span: Span,
    ) -> Operand {
        let ty = &place.ty.ty;
        let (old, new) = if let Some(element) = ty.pointee() {
            let stride = self.m.layout.stride(element);
            let scale = if decrement { -stride } else { stride };
            self.move_pointer(place, Const::i32(1).into(), false, scale, span)
        } else {
            let mut cell = self.cell(place);
            let old = self.load_scalar(&mut cell, place);
            self.at(span);
            let new = self.step(old, ty, decrement, span);
            self.store_cell(&cell, place, &[new]);
            match prefix {
                true => (old, self.kept_scalar(place, new)),
                false => (old, new),
            }
        };
        if prefix { new } else { old }
    }

    fn step(&mut self, old: Operand, ty: &Ty, decrement: bool, span: Span) -> Operand {
        let one = match layout::mem_type(ty) {
            Some(MemType::I64) => Const::i64(1),
            Some(MemType::F32) => Const::f32(1.0),
            Some(MemType::F64) => Const::f64(1.0),
            // Pointers step by elements, in `arith`.
            Some(
                MemType::Bool
                | MemType::S8
                | MemType::U8
                | MemType::S16
                | MemType::U16
                | MemType::I32
                | MemType::Ptr,
            )
            | None => Const::i32(1),
        };
        let op = if decrement { Arith::Sub } else { Arith::Add };
        let is_small = is_narrow(ty) || *ty == Ty::Bool;
        let compute = if is_small { &Ty::Int } else { ty };
        let old = self.convert(old, ty, compute);
        let new = self.arith(op, old, one.into(), compute, span);
        self.convert(new, compute, ty)
    }

    /// Moves a pointer variable; returns the old and the new value.
    fn move_pointer(
        &mut self,
        place: &Place,
        index: Operand,
        unsigned: bool,
        scale_bytes: i64,
        span: Span,
    ) -> (Operand, Operand) {
        let mut cell = self.cell(place);
        let old = self.load_scalar(&mut cell, place);
        self.at(span);
        let new = self.b.ptr_add(old, index, unsigned, scale_bytes, 0);
        self.store_cell(&cell, place, &[new]);
        (old, new)
    }

    fn kept_scalar(&mut self, place: &Place, new: Operand) -> Operand {
        let kept = self.kept(place, vec![new]);
        kept.first().copied().unwrap_or(new)
    }

    /// The value of a place that is about to be written.
    fn load_scalar(&mut self, cell: &mut Cell, place: &Place) -> Operand {
        if let Cell::Bits(cell) = cell {
            self.at_place(place);
            return self.load_bits_for_update(cell, place);
        }
        let leaves = self.load_cell(cell, place);
        let none = || Const::zero(layout::value_type(&place.ty.ty)).into();
        leaves.first().copied().unwrap_or_else(none)
    }
}

/// `char`, `short` and similar.
fn is_narrow(ty: &Ty) -> bool {
    matches!(
        layout::mem_type(ty),
        Some(MemType::S8 | MemType::U8 | MemType::S16 | MemType::U16)
    )
}

/// An integer that is an `i32` in registers.
fn is_word(ty: &Ty) -> bool {
    is_narrow(ty) || layout::mem_type(ty) == Some(MemType::I32)
}
