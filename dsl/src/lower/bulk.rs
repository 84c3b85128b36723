//! Clears and copies long variables: by a loop in a kernel, by `memset` and `memmove` on the host.
//!
//! One round moves one unit of the variable's alignment, at most 8 bytes. Short variables are moved scalar by scalar elsewhere.

use crate::sema::{
    ty::Ty,
    typed::{Place, Value, ValueKind},
};
use ir::{BinaryOp, CompareOp, Const, HostFn, MemType, Object, Operand, Type};

use super::{
    function::FunctionLowerer,
    layout::Piece,
    place::{self, Address},
};

/// Up to this many scalars are cleared one by one.
pub(super) const MAX_SINGLE_ZEROS: u64 = 32;

/// Up to this many scalars are copied one by one.
const MAX_SINGLE_COPIES: u64 = 64;

/// The place from which a long record is read as a whole.
pub(super) fn long_source<'t>(
    this: &FunctionLowerer<'_, '_>,
    value: &'t Value,
) -> Option<&'t Place> {
    let is_long = this.m.layout.leaf_count(&value.ty) > MAX_SINGLE_COPIES;
    match &value.kind {
        ValueKind::Load(place) if is_long => Some(place),
        ValueKind::Convert(inner) if is_long && inner.ty == value.ty => long_source(this, inner),
        _ => None,
    }
}

/// An address, with the declared variable that it is in, if there is one.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub(super) pointer: Operand,
    pub(super) object: Option<Object>,
    pub(super) is_volatile: bool,
}

impl FunctionLowerer<'_, '_> {
    /// A place in memory, evaluated.
    pub(super) fn region(&mut self, place: &Place) -> Region {
        let address: Address = self.locate_in_memory(place);
        Region {
            pointer: self.close(address, place.span),
            object: address.object,
            is_volatile: place.ty.is_volatile,
        }
    }

    /// Zeros a variable.
    pub(super) fn clear(&mut self, object: Object, ty: &Ty) {
        let size_bytes = self.m.layout.size(ty);
        let pointer = self.b.addr_of(object);
        if !self.is_device {
            let zero = Const::i32(0).into();
            let size = Const::i64(size_bytes as i64).into();
            self.b.host_call(HostFn::Memset, vec![pointer, zero, size]);
            return;
        }
        let unit = unit(self.m.layout.align(ty), size_bytes);
        let access = place::access(unit, Some(object), false);
        self.each_unit(unit, size_bytes, |this, i| {
            let pointer = this.b.ptr_add(pointer, i, false, unit.bytes() as i64, 0);
            let zero = Const::zero(unit.ty.value_type()).into();
            this.b.store(access, pointer, vec![zero]);
        });
    }

    /// Copies a value of type `ty`.
    pub(super) fn copy(&mut self, to: Region, from: Region, ty: &Ty) {
        let size_bytes = self.m.layout.size(ty);
        if !self.is_device {
            let size = Const::i64(size_bytes as i64).into();
            let args = vec![to.pointer, from.pointer, size];
            self.b.host_call(HostFn::Memmove, args);
            return;
        }
        let unit = unit(self.m.layout.align(ty), size_bytes);
        self.each_unit(unit, size_bytes, |this, i| {
            let scale_bytes = unit.bytes() as i64;
            let pointer = this.b.ptr_add(from.pointer, i, false, scale_bytes, 0);
            let access = place::access(unit, from.object, from.is_volatile);
            let values = this.b.load(access, pointer);
            let pointer = this.b.ptr_add(to.pointer, i, false, scale_bytes, 0);
            let access = place::access(unit, to.object, to.is_volatile);
            this.b.store(access, pointer, values);
        });
    }

    /// `for (i = 0; i < size / unit; i++) body(i)`
    fn each_unit(&mut self, unit: Piece, size_bytes: u64, body: impl FnOnce(&mut Self, Operand)) {
        let count = Const::i32((size_bytes / unit.bytes()) as i32).into();
        let slot = self.b.slot("i", Type::I32);
        self.b.set(slot, Const::i32(0).into());
        let label = self.b.open_loop(None);
        let i = self.b.get(slot);
        let more = self.b.compare(CompareOp::Slt, i, count);
        self.b.open_if(more);
        self.b.open_else();
        self.b.break_to(label);
        self.b.close();
        body(self, i);
        self.b.open_step();
        let i = self.b.get(slot);
        let next = self.b.binary(BinaryOp::Add, i, Const::i32(1).into());
        self.b.set(slot, next);
        self.b.close();
    }
}

/// The integer that one round moves.
fn unit(align_bytes: u64, size_bytes: u64) -> Piece {
    let ty = match align_bytes {
        8.. if size_bytes.is_multiple_of(8) => MemType::I64,
        4.. if size_bytes.is_multiple_of(4) => MemType::I32,
        2.. if size_bytes.is_multiple_of(2) => MemType::U16,
        _ => MemType::U8,
    };
    Piece {
        offset_bytes: 0,
        ty,
        count: 1,
    }
}
