//! Places: where they are, and the accesses that read and write them.
//!
//! An [`Address`] is kept open while members and constant indices only move it; a second variable index or the access itself
//! closes it into one `ptradd`. So `tile[y][x]` is two `ptradd`s and one access, `p->a.b[3]` none more than `p`'s. The bounds
//! of an access are those of a declared variable as long as the way from it has only members and elements; a pointer loses it.
//!
//! `s[t] += x` computes the address once. A record is read and written piece by piece, see `layout`.

use crate::{
    ir::{Access, Const, MemType, Object, Operand, SlotId, Space},
    sema::{
        ty::{QualTy, Ty},
        typed::{Place, PlaceKind, Value, ValueKind, VarRef},
    },
    span::Span,
};

use super::{
    convert,
    function::{FunctionLowerer, Home},
    layout::{self, Piece},
};

/// Where a place is.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// A variable or a part of it, one slot per leaf.
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
    /// As of an [`Access`].
    row_len: u32,
}

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
            row_len: 0,
        }
    }

    fn moved(self, bytes: u64) -> Address {
        Address {
            offset_bytes: self.offset_bytes.wrapping_add(bytes as i64),
            ..self
        }
    }
}

/// Finding places.
impl FunctionLowerer<'_, '_> {
    /// Evaluates what the place is made of.
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
            PlaceKind::PointerIndex(pointer, index) => {
                let address = self.pointee(pointer);
                Location::Memory(self.indexed(address, index, &place.ty.ty, place.span))
            }
            PlaceKind::ArrayIndex(array, index) => {
                let address = self.locate_in_memory(array);
                let mut element = self.indexed(address, index, &place.ty.ty, place.span);
                if let (PlaceKind::ArrayIndex(..), Ty::Array(_, len), true) =
                    (&array.kind, &array.ty.ty, self.is_device)
                    && element.index.is_some()
                    && element.index != address.index
                {
                    element.row_len = len.and_then(|len| u32::try_from(len).ok()).unwrap_or(0);
                }
                Location::Memory(element)
            }
            PlaceKind::Field(whole, field) => self.locate_field(whole, *field),
            PlaceKind::Temporary(value) => Location::Values(self.leaves(value)),
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
        match self.locate(whole) {
            Location::Memory(address) => Location::Memory(address.moved(offset)),
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

    /// The address of a place; a value gets memory of its own.
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

    /// The address a pointer holds; what is behind it is no declared variable any more.
    fn pointee(&mut self, pointer: &Value) -> Address {
        Address {
            object: None,
            row_len: 0,
            ..self.pointer_address(pointer)
        }
    }

    /// A pointer as an address still open for members and indices.
    pub(super) fn pointer_address(&mut self, pointer: &Value) -> Address {
        match &pointer.kind {
            ValueKind::AddressOf(place) | ValueKind::Decay(place) => self.locate_in_memory(place),
            ValueKind::PointerAdd(base, index) => {
                let address = self.pointer_address(base);
                match pointer.ty.pointee() {
                    Some(element) => self.indexed(address, index, element, pointer.span),
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
            row_len: 0,
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
        if let (Operand::Value(id), true) = (pointer, address.row_len != 0) {
            self.rows.insert(id, address.row_len);
        }
        pointer
    }

    /// The length of the row that the last index of a pointer into an object is for; 0 if it is for none.
    pub(super) fn row_len(&self, pointer: Operand, object: Option<Object>) -> u32 {
        match (pointer, object) {
            (Operand::Value(id), Some(_)) => self.rows.get(&id).copied().unwrap_or(0),
            _ => 0,
        }
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

/// A place whose address is computed: it can be read and written.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Slots(Vec<SlotId>),
    Values(Vec<Operand>),
    Memory(Operand, Option<Object>),
}

/// Reading and writing.
impl FunctionLowerer<'_, '_> {
    /// Finds a place and computes its address.
    pub(super) fn cell(&mut self, place: &Place) -> Cell {
        match self.locate(place) {
            Location::Slots(slots) => Cell::Slots(slots),
            Location::Values(values) => Cell::Values(values),
            Location::Memory(address) => {
                Cell::Memory(self.close(address, place.span), address.object)
            }
        }
    }

    /// What the place holds, leaf by leaf.
    pub(super) fn load(&mut self, place: &Place) -> Vec<Operand> {
        let cell = self.cell(place);
        self.load_cell(&cell, place)
    }

    /// What a found place holds.
    pub(super) fn load_cell(&mut self, cell: &Cell, place: &Place) -> Vec<Operand> {
        self.at_place(place);
        match cell {
            Cell::Slots(slots) => self.get_all(slots),
            Cell::Values(values) => values.clone(),
            Cell::Memory(pointer, object) => self.load_memory(*pointer, *object, &place.ty),
        }
    }

    /// Writes a found place.
    pub(super) fn store_cell(&mut self, cell: &Cell, place: &Place, leaves: &[Operand]) {
        self.at_place(place);
        match cell {
            Cell::Slots(slots) => self.set_all(slots, leaves),
            Cell::Memory(pointer, object) => {
                self.store_memory(*pointer, *object, &place.ty, leaves);
            }
            // An assignment to a temporary, `f().x = 1`, is lost.
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
        let row_len = self.row_len(pointer, object);
        for piece in self.m.layout.pieces(&ty.ty) {
            let pointer = self.b.ptr_offset(pointer, piece.offset_bytes as i64);
            let access = Access {
                row_len,
                ..access(piece, object, ty.is_volatile)
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
        let row_len = self.row_len(pointer, object);
        for piece in self.m.layout.pieces(&ty.ty) {
            let (values, after) = rest.split_at(usize::from(piece.count).min(rest.len()));
            rest = after;
            let pointer = self.b.ptr_offset(pointer, piece.offset_bytes as i64);
            let access = Access {
                row_len,
                ..access(piece, object, ty.is_volatile)
            };
            self.b.store(access, pointer, values.to_vec());
        }
    }

    /// Writes one scalar at a distance from a pointer.
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

    /// The zeros a type consists of.
    pub(super) fn zeros(&self, ty: &Ty) -> Vec<Operand> {
        let leaves = self.m.layout.leaves(ty).into_iter();
        leaves
            .map(|leaf| Const::zero(leaf.ty.value_type()).into())
            .collect()
    }
}

/// How a piece is accessed through a pointer whose space is not known yet.
pub(super) fn access(piece: Piece, object: Option<Object>, volatile: bool) -> Access {
    Access {
        ty: piece.ty,
        count: piece.count,
        space: Space::Generic,
        volatile,
        block_scope: false,
        object,
        row_len: 0,
    }
}

impl Ty {
    /// What a pointer points to.
    pub(super) fn pointee(&self) -> Option<&Ty> {
        match self {
            Ty::Pointer(pointee) => Some(&pointee.ty),
            _ => None,
        }
    }
}
