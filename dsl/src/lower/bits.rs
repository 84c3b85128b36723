//! Lowers bit-fields: they are read and written as parts of the integers that contain them, the record's units (`sema::layout::bit_units`).
//!
//! Reading a bit-field reads its unit, writing one reads and writes the unit, and `s.x += 1` does no more than that. The read before a
//! write is marked ([`Access::partial`]): in fresh memory it reads uninitialised bytes, and that is not an error. After the write the whole
//! unit counts as written. Most bit-fields are in one unit. Where a unit of the type's size would overlap another member, a bit-field may
//! be in several.
//!
//! In registers each unit is a slot. A unit that is declared without a value begins as 0, which no program can tell from any other value.

use crate::sema::{
    ty::{Bits, Record, Ty},
    typed::{Place, PlaceKind, Step},
};
use ir::{Access, BinaryOp, Const, ConvertOp, MemType, Operand, Type};

use super::{
    function::{FunctionLowerer, Home},
    layout::{self, Layout, Piece},
    place::{self, Cell, Location},
};

/// A bit-field and where its parts are.
#[derive(Clone, Debug)]
pub(super) struct BitField {
    ty: Ty,
    width: u32,
    pub(super) parts: Vec<Part>,
}

/// A range of bits of a bit-field that is in one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The unit, by its place in the record.
    pub(super) unit: Piece,
    /// Which of the record's leaves the unit is.
    pub(super) leaf: usize,
    /// The part's first bit, counted in the unit.
    shift: u32,
    width: u32,
    /// The same bit, counted in the bit-field.
    first: u32,
}

/// A located bit-field: the unit of each part.
#[derive(Clone, Debug)]
pub(super) struct BitCell {
    field: BitField,
    units: Vec<Cell>,
    /// The units' values, if they have been read in order to be written.
    known: Vec<Operand>,
}

impl Part {
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    fn is_whole(self) -> bool {
        self.width == self.unit.ty.bytes() * 8
    }
}

impl BitField {
    /// The member of a record with these bits.
    pub(super) fn new(layout: Layout<'_>, record: &Record, field: usize, bits: Bits) -> BitField {
        let end = bits.first + u64::from(bits.width);
        let of_run = |(at, _): &(usize, &crate::sema::ty::BitUnit)| {
            record
                .units
                .get(*at)
                .is_some_and(|unit| unit.run == bits.run)
        };
        let units = record.units.iter().enumerate().filter(of_run);
        let first_leaf = layout.field_leaves(record, field as u32).start;
        let parts = units.enumerate().filter_map(|(n, (_, unit))| {
            let begin = unit.offset_bytes * 8;
            let first = bits.first.max(begin);
            let last = end.min(begin + u64::from(unit.bytes) * 8);
            (first < last).then(|| Part {
                unit: Piece {
                    offset_bytes: unit.offset_bytes,
                    ty: layout::integer_of(unit.bytes.into()),
                    count: 1,
                },
                leaf: first_leaf + n,
                shift: (first - begin) as u32,
                width: (last - first) as u32,
                first: (first - bits.first) as u32,
            })
        });
        BitField {
            ty: record.fields[field].ty.ty.clone(),
            width: bits.width,
            parts: parts.collect(),
        }
    }

    /// Whether its value is assembled in 64 bits.
    fn is_wide(&self) -> bool {
        let is_long = |part: &Part| part.unit.ty == MemType::I64;
        layout::mem_type(&self.ty) == Some(MemType::I64) || self.parts.iter().any(is_long)
    }
}

impl Layout<'_> {
    /// The bit-field that these steps into a value lead to, and the offset of its record in the value.
    pub(super) fn bit_field_at(self, ty: &Ty, steps: &[Step]) -> Option<(u64, BitField)> {
        let (mut ty, mut offset) = (ty, 0);
        for step in steps {
            match (step, ty) {
                (Step::Field(index), Ty::Record(id)) => {
                    let record = self.record(*id);
                    let index = *index as usize;
                    let field = record.fields.get(index)?;
                    if let Some(bits) = field.bits {
                        return Some((offset, BitField::new(self, record, index, bits)));
                    }
                    offset += field.offset_bytes;
                    ty = &field.ty.ty;
                }
                (Step::Element(index), Ty::Array(element, _)) => {
                    offset += index * self.size(&element.ty);
                    ty = &element.ty;
                }
                _ => return None,
            }
        }
        None
    }

    /// Which leaves of a type that lives in slots are units of bit-fields.
    fn unit_leaves(self, ty: &Ty, first: usize, found: &mut Vec<usize>) {
        let Ty::Record(id) = ty else { return };
        let record = self.record(*id);
        for (index, field) in (0u32..).zip(&record.fields) {
            let leaves = self.field_leaves(record, index);
            match field.bits {
                Some(_) => found.extend(leaves.map(|leaf| first + leaf)),
                None => self.unit_leaves(&field.ty.ty, first + leaves.start, found),
            }
        }
    }
}

/// Bit-fields in values.
impl FunctionLowerer<'_, '_> {
    fn wide(&mut self, value: Operand, is_wide: bool) -> Operand {
        match (is_wide, self.b.value_type(value)) {
            (true, Type::I32) => self.b.convert(ConvertOp::Zext, value),
            (false, Type::I64) => self.b.convert(ConvertOp::Trunc, value),
            _ => value,
        }
    }

    fn with_bits(&mut self, op: BinaryOp, value: Operand, bits: u64, is_wide: bool) -> Operand {
        let is_nothing = match op {
            BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => bits == 0,
            _ => false,
        };
        let bits = match is_wide {
            true => Const::i64(bits as i64),
            false => Const::i32(bits as i32),
        };
        match is_nothing {
            true => value,
            false => self.b.binary(op, value, bits.into()),
        }
    }

    /// A value truncated to the bit-field's width, as one of its type.
    fn cut(&mut self, value: Operand, field: &BitField) -> Operand {
        let is_wide = field.is_wide();
        let unused = u64::from(if is_wide { 64 } else { 32 } - field.width);
        let value = match layout::is_unsigned(&field.ty) {
            true if unused == 0 => value,
            true => {
                let mask = u64::MAX >> (64 - field.width);
                self.with_bits(BinaryOp::And, value, mask, is_wide)
            }
            false => {
                let high = self.with_bits(BinaryOp::Shl, value, unused, is_wide);
                self.with_bits(BinaryOp::AShr, high, unused, is_wide)
            }
        };
        match layout::value_type(&field.ty) {
            Type::I1 => self.truth(value),
            ty => self.wide(value, ty == Type::I64),
        }
    }

    /// The bit-field's value from its parts' units.
    fn extracted(&mut self, field: &BitField, units: &[Operand]) -> Operand {
        let is_wide = field.is_wide();
        let mut all: Option<Operand> = None;
        for (part, &unit) in field.parts.iter().zip(units) {
            let unit = self.wide(unit, is_wide);
            let mut bits = self.with_bits(BinaryOp::LShr, unit, part.shift.into(), is_wide);
            if field.parts.len() > 1 {
                bits = self.with_bits(BinaryOp::And, bits, part.mask(), is_wide);
                bits = self.with_bits(BinaryOp::Shl, bits, part.first.into(), is_wide);
            }
            all = Some(match all {
                None => bits,
                Some(all) => self.b.binary(BinaryOp::Or, all, bits),
            });
        }
        let none = || Const::i32(0).into();
        let all = all.unwrap_or_else(none);
        self.cut(all, field)
    }

    /// A unit with one part of the bit-field's new value inserted.
    pub(super) fn inserted(
        &mut self,
        field: &BitField,
        part: Part,
        unit: Operand,
        value: Operand,
    ) -> Operand {
        let value = match self.b.value_type(value) {
            Type::I1 => self.b.convert(ConvertOp::BoolToI32, value),
            _ => value,
        };
        let is_wide = field.is_wide();
        let value = self.wide(value, is_wide);
        let value = self.with_bits(BinaryOp::LShr, value, part.first.into(), is_wide);
        let of_unit = part.unit.ty == MemType::I64;
        let value = self.wide(value, of_unit);
        if part.is_whole() {
            return value;
        }
        let value = self.with_bits(BinaryOp::And, value, part.mask(), of_unit);
        let value = self.with_bits(BinaryOp::Shl, value, part.shift.into(), of_unit);
        let all = u64::MAX >> (64 - part.unit.ty.bytes() * 8);
        let kept = all & !(part.mask() << part.shift);
        let kept = self.with_bits(BinaryOp::And, unit, kept, of_unit);
        self.b.binary(BinaryOp::Or, kept, value)
    }

    /// The value of an assignment to a place: a bit-field holds no more than its bits.
    pub(super) fn kept(&mut self, place: &Place, leaves: Vec<Operand>) -> Vec<Operand> {
        let (Some(field), [value]) = (self.bit_field(place), &leaves[..]) else {
            return leaves;
        };
        let value = match self.b.value_type(*value) {
            // The value of a `bool` is its lowest bit.
            Type::I1 => return leaves,
            _ => self.wide(*value, field.is_wide()),
        };
        vec![self.cut(value, &field)]
    }
}

/// Bit-fields in places.
impl FunctionLowerer<'_, '_> {
    fn bit_field(&self, place: &Place) -> Option<BitField> {
        let PlaceKind::BitField(whole, field) = &place.kind else {
            return None;
        };
        let Ty::Record(id) = whole.ty.ty else {
            return None;
        };
        let (layout, index) = (self.m.layout, field.index as usize);
        let record = layout.record(id);
        let bits = record.fields.get(index)?.bits?;
        Some(BitField::new(layout, record, index, bits))
    }

    /// Locates a bit-field's units.
    pub(super) fn bit_cell(&mut self, whole: &Place, place: &Place) -> Option<BitCell> {
        let field = self.bit_field(place)?;
        let is_union = matches!(whole.ty.ty, Ty::Record(id) if self.m.layout.record(id).is_union);
        let location = match self.locate(whole) {
            Location::Values(leaves) if is_union => {
                Location::Memory(self.spilled(leaves, &whole.ty, whole.span))
            }
            location => location,
        };
        let mut units = vec![];
        for part in &field.parts {
            units.push(match &location {
                Location::Slots(slots) => Cell::Slots(vec![slots[part.leaf]]),
                Location::Values(leaves) => Cell::Values(vec![leaves[part.leaf]]),
                Location::Memory(address) => {
                    let address = address.moved(part.unit.offset_bytes);
                    Cell::Memory(self.close(address, place.span), address.object)
                }
            });
        }
        Some(BitCell {
            field,
            units,
            known: vec![],
        })
    }

    fn unit(&mut self, cell: &Cell, unit: Piece, place: &Place, partial: bool) -> Operand {
        match cell {
            Cell::Slots(slots) => self.get_all(slots)[0],
            Cell::Values(values) => values[0],
            Cell::Memory(pointer, object) => {
                let (row_len, is_member) = self.row(*pointer);
                let access = Access {
                    row_len,
                    is_member,
                    read_only: self.reads_only,
                    partial,
                    ..place::access(unit, *object, place.ty.is_volatile)
                };
                self.b.load(access, *pointer)[0]
            }
            Cell::Bits(_) => Const::zero(unit.ty.value_type()).into(),
        }
    }

    /// The value of a bit-field.
    pub(super) fn load_bits(&mut self, cell: &BitCell, place: &Place) -> Operand {
        let parts = cell.units.iter().zip(&cell.field.parts);
        let units: Vec<Operand> = parts
            .map(|(unit, part)| self.unit(unit, part.unit, place, false))
            .collect();
        self.extracted(&cell.field, &units)
    }

    /// The value of a bit-field that is about to be written: the write does not read its units again.
    pub(super) fn load_bits_for_update(&mut self, cell: &mut BitCell, place: &Place) -> Operand {
        let parts = cell.units.iter().zip(&cell.field.parts);
        cell.known = parts
            .map(|(unit, part)| self.unit(unit, part.unit, place, false))
            .collect();
        self.extracted(&cell.field, &cell.known)
    }

    /// Writes a bit-field.
    pub(super) fn store_bits(&mut self, cell: &BitCell, place: &Place, value: Operand) {
        for (i, (unit, &part)) in cell.units.iter().zip(&cell.field.parts).enumerate() {
            let old = match cell.known.get(i) {
                Some(known) => *known,
                None if part.is_whole() => Const::zero(part.unit.ty.value_type()).into(),
                None => self.unit(unit, part.unit, place, true),
            };
            let new = self.inserted(&cell.field, part, old, value);
            match unit {
                Cell::Slots(slots) => self.set_all(slots, &[new]),
                Cell::Memory(pointer, object) => {
                    let (row_len, is_member) = self.row(*pointer);
                    let access = Access {
                        row_len,
                        is_member,
                        ..place::access(part.unit, *object, place.ty.is_volatile)
                    };
                    self.b.store(access, *pointer, vec![new]);
                }
                // An assignment to a temporary has no effect.
                Cell::Values(_) | Cell::Bits(_) => {}
            }
        }
    }

    /// Zeros the units of a variable in slots that is declared without a value.
    pub(super) fn clear_units(&mut self, id: crate::sema::typed::VarId) {
        let ty = &self.frame.var(id).ty.ty;
        let mut units = vec![];
        if self.lives_in_slots(id) {
            self.m.layout.unit_leaves(ty, 0, &mut units);
        }
        // Each bit-field yields all units of its run.
        units.dedup();
        if units.is_empty() {
            return;
        }
        let zeros = self.zeros(ty);
        if let Home::Slots(slots) = self.home(id) {
            self.at_access(self.frame.var(id).span);
            for leaf in units {
                self.set_all(&[slots[leaf]], &[zeros[leaf]]);
            }
        }
    }
}
