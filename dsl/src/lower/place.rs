//! Locates places and lowers the accesses that read and write them.
//!
//! An [`Address`] stays open while members and constant indices only move it; a second variable index or the access itself closes it into
//! one `ptradd`. So `tile[y][x]` is two `ptradd`s and one access, and `p->a.b[3]` needs no more than `p` does. An access has the bounds of
//! a declared variable as long as the path from it consists of members and elements; following a pointer loses them.
//!
//! `s[t] += x` computes the address once. A record is read and written piece by piece, see `layout`.

use crate::sema::{
    ty::{QualTy, Ty},
    typed::{Place, PlaceKind, Value, ValueKind, VarRef},
};
use ir::{Access, Const, MemType, Object, Operand, SlotId, Space, span::Span};

use super::{
    bits::BitCell,
    convert,
    function::{FunctionLowerer, Home},
    layout::{self, Piece},
};

/// The location of a place.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// A variable or part of one, one slot per leaf.
    Slots(Vec<SlotId>),
    /// A value that is not stored anywhere.
    Values(Vec<Operand>),
    /// In memory.
    Memory(Address),
}

/// `base + index * scale_bytes + offset_bytes`, not yet computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    base: Operand,
    index: Option<Index>,
    offset_bytes: i64,
    /// The declared variable it is in.
    pub(super) object: Option<Object>,
    /// The number of elements of the array that the last index is for, and whether it is a member: as in an [`Access`].
    row: Row,
    /// What it is aligned to because of the records that it is in.
    align_bytes: u64,
}

/// See [`Access::row_len`] and [`Access::is_member`].
pub(super) type Row = (u32, bool);

const NO_ROW: Row = (0, false);

#[derive(Clone, Copy, PartialEq, Debug)]
struct Index {
    value: Operand,
    unsigned: bool,
    scale_bytes: i64,
}

impl Address {
    pub(super) fn at(base: Operand) -> Address {
        Address {
            base,
            index: None,
            offset_bytes: 0,
            object: None,
            row: NO_ROW,
            align_bytes: 1,
        }
    }

    pub(super) fn moved(self, bytes: u64) -> Address {
        Address {
            offset_bytes: self.offset_bytes.wrapping_add(bytes as i64),
            align_bytes: align_at(self.align_bytes, bytes),
            ..self
        }
    }

    /// The same address, which is of a record with this alignment.
    fn aligned(self, align_bytes: u64) -> Address {
        Address {
            align_bytes: self.align_bytes.max(align_bytes),
            ..self
        }
    }
}

/// Locating places.
impl FunctionLowerer<'_, '_> {
    /// Evaluates the parts of the place.
    pub(super) fn locate(&mut self, place: &Place) -> Location {
        match &place.kind {
            PlaceKind::Var(VarRef::Local(id)) => match self.home(*id) {
                Home::Slots(slots) => Location::Slots(slots),
                Home::Fixed(leaves) => Location::Values(leaves),
                Home::Memory(object) => Location::Memory(self.object_address(object, place.span)),
                Home::Place(location) => location,
            },
            PlaceKind::Var(VarRef::Global(id)) => {
                let object = self.global_object(*id);
                Location::Memory(self.object_address(object, place.span))
            }
            PlaceKind::Deref(pointer) => match &pointer.kind {
                ValueKind::Call(id, args) if self.is_device || self.m.is_inlined_on_host(*id) => {
                    self.call_for_place(*id, args, pointer)
                }
                _ => Location::Memory(self.pointee(pointer)),
            },
            PlaceKind::ReadOnly(pointer) => Location::Memory(self.pointee(pointer)),
            PlaceKind::PointerIndex(pointer, index) => {
                let address = self.pointee(pointer);
                Location::Memory(self.indexed(address, index, &place.ty.ty, place.span))
            }
            PlaceKind::ArrayIndex(array, index) => {
                let address = self.locate_in_memory(array);
                let mut element = self.indexed(address, index, &place.ty.ty, place.span);
                if element.index.is_some() && element.index != address.index {
                    element.row = self.row_of(array);
                }
                Location::Memory(element)
            }
            PlaceKind::Field(whole, field) => self.locate_field(whole, *field),
            // Only reached for the record that contains the bit-field: see `bits`.
            PlaceKind::BitField(whole, _) => self.locate(whole),
            PlaceKind::Temporary(value) => Location::Values(self.leaves(value)),
        }
    }

    /// The bounds for a subscript of this array, besides those of the variable that contains it.
    fn row_of(&mut self, array: &Place) -> Row {
        let Ty::Array(_, Some(len)) = array.ty.ty else {
            return NO_ROW;
        };
        let len = u32::try_from(len).unwrap_or(0);
        match &array.kind {
            PlaceKind::ArrayIndex(..) if self.is_device => (len, false),
            // A last member with at most one element is a flexible array: it has as many elements as there is memory for.
            PlaceKind::Field(..) if len > 1 => (len, true),
            PlaceKind::Var(VarRef::Local(id)) if matches!(self.home(*id), Home::Place(_)) => {
                (len, true)
            }
            _ => NO_ROW,
        }
    }

    fn locate_field(&mut self, whole: &Place, field: u32) -> Location {
        let Ty::Record(id) = whole.ty.ty else {
            self.m
                .internal(whole.span, "a member of something that is no record");
            return self.locate(whole);
        };
        let record = self.m.layout.record(id);
        let offset = record.fields[field as usize].offset_bytes;
        let align = record.align_bytes;
        match self.locate(whole) {
            Location::Memory(address) => Location::Memory(address.aligned(align).moved(offset)),
            Location::Values(leaves) if record.is_union => {
                Location::Memory(self.spilled(leaves, &whole.ty, whole.span).moved(offset))
            }
            Location::Values(leaves) => {
                let range = self.m.layout.field_leaves(record, field);
                Location::Values(leaves[range].to_vec())
            }
            Location::Slots(slots) => {
                let range = self.m.layout.field_leaves(record, field);
                Location::Slots(slots[range].to_vec())
            }
        }
    }

    /// The address of a place; a value is stored in new memory.
    pub(super) fn locate_in_memory(&mut self, place: &Place) -> Address {
        match self.locate(place) {
            Location::Memory(address) => address,
            Location::Values(leaves) => self.spilled(leaves, &place.ty, place.span),
            Location::Slots(slots) => {
                // Sema marks every variable whose address is needed.
                self.m
                    .internal(place.span, "the address of a variable in registers");
                let leaves = self.get_all(&slots);
                self.spilled(leaves, &place.ty, place.span)
            }
        }
    }

    pub(super) fn spilled(&mut self, leaves: Vec<Operand>, ty: &QualTy, span: Span) -> Address {
        let object = self.temporary(&ty.ty, span);
        self.at_access(span);
        self.store_object(object, ty, &leaves);
        self.object_address(object, span)
    }

    fn object_address(&mut self, object: Object, span: Span) -> Address {
        self.at(span);
        Address {
            object: Some(object),
            ..Address::at(self.b.addr_of(object))
        }
    }

    /// The address that a pointer holds; it is not known to be in a declared variable.
    fn pointee(&mut self, pointer: &Value) -> Address {
        let address = self.pointer_address(pointer);
        let row = Some(address.row).filter(|(_, is_member)| *is_member);
        Address {
            object: None,
            row: row.unwrap_or(NO_ROW),
            ..address
        }
    }

    /// A pointer as an address that is still open for members and indices.
    pub(super) fn pointer_address(&mut self, pointer: &Value) -> Address {
        match &pointer.kind {
            ValueKind::AddressOf(place) | ValueKind::Decay(place) => self.locate_in_memory(place),
            ValueKind::PointerAdd(base, index) => {
                let address = self.pointer_address(base);
                match pointer.ty.pointee() {
                    Some(element) => {
                        let mut moved = self.indexed(address, index, element, pointer.span);
                        // `s.v + i` is the address of `s.v[i]`.
                        if let ValueKind::Decay(array) = &base.kind
                            && moved.index.is_some()
                            && moved.index != address.index
                        {
                            let row = self.row_of(array);
                            moved.row = if row.1 { row } else { NO_ROW };
                        }
                        moved
                    }
                    None => address,
                }
            }
            ValueKind::Convert(inner) if inner.ty.pointee().is_some() => {
                self.pointer_address(inner)
            }
            _ => Address::at(self.value(pointer)),
        }
    }

    /// `address[index]` with elements of that type.
    fn indexed(&mut self, address: Address, index: &Value, element: &Ty, span: Span) -> Address {
        let scale_bytes = self.m.layout.stride(element);
        let unsigned = layout::is_unsigned(&index.ty);
        let value = self.value(index);
        self.moved_by(address, value, unsigned, scale_bytes, span)
    }

    /// `address + index * scale_bytes`.
    pub(super) fn moved_by(
        &mut self,
        address: Address,
        index: Operand,
        unsigned: bool,
        scale_bytes: i64,
        span: Span,
    ) -> Address {
        if let Operand::Const(index) = index {
            let index = convert::index_value(index, unsigned);
            return address.moved(index.wrapping_mul(scale_bytes) as u64);
        }
        let base = if address.index.is_some() {
            Address {
                object: address.object,
                ..Address::at(self.close(address, span))
            }
        } else {
            address
        };
        let index = Index {
            value: index,
            unsigned,
            scale_bytes,
        };
        Address {
            index: Some(index),
            row: NO_ROW,
            align_bytes: align_at(base.align_bytes, scale_bytes.unsigned_abs()),
            ..base
        }
    }

    /// The address as a pointer.
    pub(super) fn close(&mut self, address: Address, span: Span) -> Operand {
        self.at(span);
        let pointer = match address.index {
            None => self.b.ptr_offset(address.base, address.offset_bytes),
            Some(index) => self.b.ptr_add(
                address.base,
                index.value,
                index.unsigned,
                index.scale_bytes,
                address.offset_bytes,
            ),
        };
        if let (Operand::Value(id), true) = (pointer, address.row != NO_ROW) {
            self.rows.insert(id, address.row);
        }
        if let (Operand::Value(id), 2..) = (pointer, address.align_bytes) {
            self.aligns.insert(id, address.align_bytes);
        }
        pointer
    }

    /// The array that the last index of a pointer is for.
    pub(super) fn row(&self, pointer: Operand) -> Row {
        match pointer {
            Operand::Value(id) => self.rows.get(&id).copied().unwrap_or(NO_ROW),
            Operand::Const(_) => NO_ROW,
        }
    }

    /// What a pointer to a value of this type is aligned to.
    fn align_of(&self, pointer: Operand, ty: &Ty) -> u64 {
        let known = match pointer {
            Operand::Value(id) => self.aligns.get(&id).copied().unwrap_or(1),
            Operand::Const(_) => 1,
        };
        known.max(self.m.layout.align(ty))
    }

    /// The address with its index computed.
    pub(super) fn closed(&mut self, address: Address, span: Span) -> Address {
        match address.index {
            None => address,
            Some(_) => Address {
                object: address.object,
                ..Address::at(self.close(address, span))
            },
        }
    }

    /// `&place`.
    pub(super) fn address_of(&mut self, place: &Place) -> Operand {
        let address = self.locate_in_memory(place);
        self.close(address, place.span)
    }
}

/// A place whose address has been computed, so that it can be read and written.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Slots(Vec<SlotId>),
    Values(Vec<Operand>),
    Memory(Operand, Option<Object>),
    Bits(Box<BitCell>),
}

/// Reading and writing.
impl FunctionLowerer<'_, '_> {
    /// Locates a place and computes its address.
    pub(super) fn cell(&mut self, place: &Place) -> Cell {
        if let PlaceKind::BitField(whole, _) = &place.kind
            && let Some(cell) = self.bit_cell(whole, place)
        {
            return Cell::Bits(Box::new(cell));
        }
        match self.locate(place) {
            Location::Slots(slots) => Cell::Slots(slots),
            Location::Values(values) => Cell::Values(values),
            Location::Memory(address) => {
                Cell::Memory(self.close(address, place.span), address.object)
            }
        }
    }

    /// The value of a place, leaf by leaf.
    pub(super) fn load(&mut self, place: &Place) -> Vec<Operand> {
        let cell = self.cell(place);
        self.reads_only = is_read_only(place);
        let leaves = self.load_cell(&cell, place);
        self.reads_only = false;
        leaves
    }

    /// The value of a located place.
    pub(super) fn load_cell(&mut self, cell: &Cell, place: &Place) -> Vec<Operand> {
        self.at_place(place);
        match cell {
            Cell::Slots(slots) => self.get_all(slots),
            Cell::Values(values) => values.clone(),
            Cell::Memory(pointer, object) => self.load_memory(*pointer, *object, &place.ty),
            Cell::Bits(cell) => vec![self.load_bits(cell, place)],
        }
    }

    /// Writes a located place.
    pub(super) fn store_cell(&mut self, cell: &Cell, place: &Place, leaves: &[Operand]) {
        self.at_place(place);
        match cell {
            Cell::Slots(slots) => self.set_all(slots, leaves),
            Cell::Memory(pointer, object) => {
                self.store_memory(*pointer, *object, &place.ty, leaves);
            }
            Cell::Bits(cell) => {
                if let [value] = leaves {
                    self.store_bits(cell, place, *value);
                }
            }
            // An assignment to a temporary, `f().x = 1`, has no effect.
            Cell::Values(_) => {}
        }
    }

    /// Writes a whole variable in memory.
    pub(super) fn store_object(&mut self, object: Object, ty: &QualTy, leaves: &[Operand]) {
        let pointer = self.b.addr_of(object);
        self.store_memory(pointer, Some(object), ty, leaves);
    }

    pub(super) fn load_memory(
        &mut self,
        pointer: Operand,
        object: Option<Object>,
        ty: &QualTy,
    ) -> Vec<Operand> {
        let mut leaves = vec![];
        let (row_len, is_member) = self.row(pointer);
        let align = self.align_of(pointer, &ty.ty);
        for piece in self.m.layout.pieces(&ty.ty) {
            let pointer = self.b.ptr_offset(pointer, piece.offset_bytes as i64);
            let access = Access {
                row_len,
                is_member,
                read_only: self.reads_only,
                ..aligned(access(piece, object, ty.is_volatile), align, piece)
            };
            leaves.extend(self.b.load(access, pointer));
        }
        leaves
    }

    pub(super) fn store_memory(
        &mut self,
        pointer: Operand,
        object: Option<Object>,
        ty: &QualTy,
        leaves: &[Operand],
    ) {
        let mut rest = leaves;
        let (row_len, is_member) = self.row(pointer);
        let align = self.align_of(pointer, &ty.ty);
        for piece in self.m.layout.pieces(&ty.ty) {
            let (values, after) = rest.split_at(usize::from(piece.count).min(rest.len()));
            rest = after;
            let pointer = self.b.ptr_offset(pointer, piece.offset_bytes as i64);
            let access = Access {
                row_len,
                is_member,
                ..aligned(access(piece, object, ty.is_volatile), align, piece)
            };
            self.b.store(access, pointer, values.to_vec());
        }
    }

    /// Writes one scalar at an offset from a pointer.
    pub(super) fn store_scalar(
        &mut self,
        pointer: Operand,
        offset_bytes: u64,
        object: Option<Object>,
        ty: MemType,
        value: Operand,
    ) {
        let pointer = self.b.ptr_offset(pointer, offset_bytes as i64);
        let piece = Piece {
            offset_bytes,
            ty,
            count: 1,
        };
        self.b
            .store(access(piece, object, false), pointer, vec![value]);
    }

    /// The zeros that a type consists of.
    pub(super) fn zeros(&self, ty: &Ty) -> Vec<Operand> {
        let leaves = self.m.layout.leaves(ty).into_iter();
        leaves
            .map(|leaf| Const::zero(leaf.ty.value_type()).into())
            .collect()
    }
}

/// The access of a piece through a pointer whose space is not yet known.
pub(super) fn access(piece: Piece, object: Option<Object>, volatile: bool) -> Access {
    Access {
        ty: piece.ty,
        count: piece.count,
        space: Space::Generic,
        volatile,
        block_scope: false,
        object,
        row_len: 0,
        is_member: false,
        read_only: false,
        partial: false,
        align_bytes: 0,
        merged: false,
    }
}

/// The access of a piece of memory that is aligned to `align_bytes`.
fn aligned(access: Access, align_bytes: u64, piece: Piece) -> Access {
    let align_bytes = align_at(align_bytes, piece.offset_bytes);
    Access {
        align_bytes: match align_bytes > u64::from(access.width_bytes()) {
            true => u32::try_from(align_bytes).unwrap_or(0),
            false => 0,
        },
        ..access
    }
}

/// What an offset in memory that is aligned to `align_bytes` is aligned to.
fn align_at(align_bytes: u64, offset_bytes: u64) -> u64 {
    match offset_bytes {
        0 => align_bytes,
        offset_bytes => align_bytes.min(1 << offset_bytes.trailing_zeros()),
    }
}

/// Whether a place is read through `__ldg`.
fn is_read_only(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::ReadOnly(_) => true,
        PlaceKind::ArrayIndex(whole, _)
        | PlaceKind::Field(whole, _)
        | PlaceKind::BitField(whole, _) => is_read_only(whole),
        _ => false,
    }
}

impl Ty {
    /// The type that a pointer points to.
    pub(super) fn pointee(&self) -> Option<&Ty> {
        match self {
            Ty::Pointer(pointee) => Some(&pointee.ty),
            _ => None,
        }
    }
}
