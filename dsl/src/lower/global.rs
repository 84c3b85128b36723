//! Lowers variables that outlive functions: their bytes and the addresses in them.
//!
//! Initial values are constants and addresses of other objects. A constant is a value that the builder folds to one. An address is followed
//! through members, elements and casts, and becomes a relocation.

use crate::{
    message::Message as _,
    sema::{
        ty::Ty,
        typed::{
            Global, GlobalSpace, GlobalVarId, Init, Place, PlaceKind, Step, Value, ValueKind,
            VarRef,
        },
    },
};
use ir::{Const, GlobalSpace as Space, GlobalVar, MemType, Object, Operand};

use super::{
    Lowerer,
    bits::{BitField, Part},
    function::FunctionLowerer,
    layout,
    message::LowerError,
};

/// The variables that have a number, in that order.
pub(super) fn lower_globals(lowerer: &mut Lowerer<'_>) -> Vec<GlobalVar> {
    let ids: Vec<GlobalVarId> = lowerer.global_ids.iter().map(|&(id, _)| id).collect();
    ids.iter().map(|&id| lower_global(lowerer, id)).collect()
}

fn lower_global(lowerer: &mut Lowerer<'_>, id: GlobalVarId) -> GlobalVar {
    let global: &Global = &lowerer.program.globals[id];
    let layout = lowerer.layout;
    let size_bytes = layout.size(&global.ty.ty);
    let (element, _) = layout::array_dims(&global.ty.ty);
    let mut image = Image {
        lowerer,
        bytes: vec![],
        relocations: vec![],
        size_bytes,
        is_too_large: false,
    };
    if let Some(init) = &global.init {
        image.init(init, &global.ty.ty);
        if image.is_too_large {
            let name = global.name.to_string();
            let error = LowerError::InitialValueTooLarge { name }.diagnostic(global.span, &());
            image.lowerer.diagnostics.push(error);
        }
    }
    let Image {
        mut bytes,
        relocations,
        ..
    } = image;
    let is_zero = relocations.is_empty() && bytes.iter().all(|&byte| byte == 0);
    if !is_zero && size_bytes <= MOST_TRAILING_ZEROS {
        bytes.resize(size_bytes as usize, 0);
    }
    GlobalVar {
        name: global.name.clone(),
        space: match global.space {
            GlobalSpace::Device => Space::Device,
            GlobalSpace::Managed => Space::Managed,
            GlobalSpace::Constant => Space::Constant,
            GlobalSpace::Host | GlobalSpace::Shared | GlobalSpace::SharedDynamic => Space::Host,
        },
        c_type: layout.c_type(&global.ty),
        element_bytes: layout.size(element),
        size_bytes,
        align_bytes: global.align_bytes.max(layout.align(&global.ty.ty)),
        init: (!is_zero).then_some(bytes),
        relocations,
        loc: lowerer.locs.plain(global.span, None),
    }
}

/// The bytes of a variable, being filled in.
struct Image<'a, 'p> {
    lowerer: &'a mut Lowerer<'p>,
    /// The bytes up to the last one that is not 0.
    bytes: Vec<u8>,
    relocations: Vec<(u64, Object, i64)>,
    size_bytes: u64,
    is_too_large: bool,
}

/// Up to this size all bytes of a variable are stored, above it only those up to the last one that is not 0.
const MOST_TRAILING_ZEROS: u64 = 1 << 20;

/// The largest number of initial bytes of a variable.
const MAX_BYTES: usize = 1 << 30;

impl Image<'_, '_> {
    fn init(&mut self, init: &Init, ty: &Ty) {
        match init {
            Init::Value(value) => self.value(0, value),
            Init::Parts { parts, .. } => {
                for (steps, value) in parts {
                    if let Some((start, field)) = self.lowerer.layout.bit_field_at(ty, steps) {
                        self.bit_field(start, &field, value);
                        continue;
                    }
                    let offset = step_offset(self.lowerer, ty, steps);
                    self.value(offset, value);
                }
            }
            Init::Bytes(bytes) => self.write(0, bytes),
        }
    }

    fn value(&mut self, offset: u64, value: &Value) {
        if let (ValueKind::Aggregate(members), Ty::Record(id)) = (&value.kind, &value.ty) {
            let record = self.lowerer.layout.record(*id);
            let layout = self.lowerer.layout;
            for (i, (member, field)) in members.iter().zip(&record.fields).enumerate() {
                match field.bits {
                    Some(bits) => {
                        let field = BitField::new(layout, record, i, bits);
                        self.bit_field(offset, &field, member);
                    }
                    None => self.value(offset + field.offset_bytes, member),
                }
            }
            return;
        }
        let Some(mem) = layout::mem_type(&value.ty) else {
            let error = LowerError::InitialValueForm.diagnostic(value.span, &());
            self.lowerer.diagnostics.push(error);
            return;
        };
        if let Some((object, addend)) = address(self.lowerer, value) {
            self.relocations.push((offset, object, addend));
        } else if let Some(bits) = constant(self.lowerer, value) {
            let bytes = bits.to_le_bytes();
            self.write(offset, &bytes[..mem.bytes() as usize]);
        } else {
            self.lowerer
                .internal(value.span, "an initial value that is not constant");
        }
    }

    /// Adds the bits of a bit-field to the bytes that it shares with others, in the record at an offset.
    fn bit_field(&mut self, offset: u64, field: &BitField, value: &Value) {
        for &part in &field.parts {
            let offset = offset + part.unit.offset_bytes;
            let n_bytes = part.unit.bytes() as usize;
            let mut bytes = [0; 8];
            let held = self.bytes.get(offset as usize..).unwrap_or_default();
            let n_held = held.len().min(n_bytes);
            bytes[..n_held].copy_from_slice(&held[..n_held]);
            let unit = u64::from_le_bytes(bytes);
            match bits_with(self.lowerer, field, part, unit, value) {
                Some(unit) => self.write(offset, &unit.to_le_bytes()[..n_bytes]),
                None => self
                    .lowerer
                    .internal(value.span, "an initial value that is not constant"),
            }
        }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
        let end = start + bytes.len() - zeros;
        if end as u64 > self.size_bytes || zeros == bytes.len() && start >= self.bytes.len() {
            return;
        }
        if end > MAX_BYTES {
            self.is_too_large = true;
            return;
        }
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        let held = bytes.len().min(self.bytes.len() - start);
        self.bytes[start..start + held].copy_from_slice(&bytes[..held]);
    }
}

/// The offset in a value of type `ty` that the steps lead to.
pub(super) fn step_offset(lowerer: &Lowerer<'_>, ty: &Ty, steps: &[Step]) -> u64 {
    let mut offset = 0;
    let mut ty = ty;
    for step in steps {
        match (step, ty) {
            (Step::Field(field), Ty::Record(id)) => {
                let field = &lowerer.layout.record(*id).fields[*field as usize];
                offset += field.offset_bytes;
                ty = &field.ty.ty;
            }
            (Step::Element(i), Ty::Array(element, _)) => {
                offset += i * lowerer.layout.size(&element.ty);
                ty = &element.ty;
            }
            _ => {}
        }
    }
    offset
}

/// The bits of a scalar constant, as in memory.
fn constant(lowerer: &mut Lowerer<'_>, value: &Value) -> Option<u64> {
    let folded = FunctionLowerer::scratch(lowerer).value(value);
    match folded {
        Operand::Const(constant) => Some(constant.bits),
        Operand::Value(_) => None,
    }
}

/// A unit with a constant inserted, as bits in memory.
fn bits_with(
    lowerer: &mut Lowerer<'_>,
    field: &BitField,
    part: Part,
    unit: u64,
    value: &Value,
) -> Option<u64> {
    let mut scratch = FunctionLowerer::scratch(lowerer);
    let value = scratch.value(value);
    let unit = match part.unit.ty {
        MemType::I64 => Const::i64(unit as i64),
        _ => Const::i32(unit as i32),
    };
    match scratch.inserted(field, part, unit.into(), value) {
        Operand::Const(constant) => Some(constant.bits),
        Operand::Value(_) => None,
    }
}

/// The object and offset that a constant pointer points to.
fn address(lowerer: &mut Lowerer<'_>, value: &Value) -> Option<(Object, i64)> {
    match &value.kind {
        ValueKind::Str(bytes) => Some((Object::String(lowerer.string(bytes)), 0)),
        ValueKind::Symbol(id) => Some((Object::Global(lowerer.global(*id)?), 0)),
        ValueKind::AddressOf(place) | ValueKind::Decay(place) => place_address(lowerer, place),
        ValueKind::Convert(inner)
            if layout::mem_type(&value.ty)?.bytes() == MemType::Ptr.bytes() =>
        {
            address(lowerer, inner)
        }
        ValueKind::PointerAdd(pointer, index) => {
            let (object, offset) = address(lowerer, pointer)?;
            let size = pointee_size(lowerer, &pointer.ty);
            let index = index_constant(lowerer, index)?;
            Some((object, offset + index * size))
        }
        _ => None,
    }
}

fn place_address(lowerer: &mut Lowerer<'_>, place: &Place) -> Option<(Object, i64)> {
    match &place.kind {
        PlaceKind::Var(VarRef::Global(id)) => Some((Object::Global(lowerer.global(*id)?), 0)),
        PlaceKind::Field(whole, field) => {
            let (object, offset) = place_address(lowerer, whole)?;
            let step = step_offset(lowerer, &whole.ty.ty, &[Step::Field(*field)]);
            Some((object, offset + step as i64))
        }
        PlaceKind::ArrayIndex(array, index) => {
            let (object, offset) = place_address(lowerer, array)?;
            let size = lowerer.layout.stride(&place.ty.ty);
            Some((object, offset + index_constant(lowerer, index)? * size))
        }
        PlaceKind::PointerIndex(pointer, index) => {
            let (object, offset) = address(lowerer, pointer)?;
            let size = lowerer.layout.stride(&place.ty.ty);
            Some((object, offset + index_constant(lowerer, index)? * size))
        }
        PlaceKind::Deref(pointer) | PlaceKind::ReadOnly(pointer) => address(lowerer, pointer),
        PlaceKind::Var(VarRef::Local(_)) | PlaceKind::Temporary(_) | PlaceKind::BitField(..) => {
            None
        }
    }
}

fn pointee_size(lowerer: &Lowerer<'_>, pointer: &Ty) -> i64 {
    match pointer {
        Ty::Pointer(pointee) => lowerer.layout.stride(&pointee.ty),
        _ => 1,
    }
}

fn index_constant(lowerer: &mut Lowerer<'_>, index: &Value) -> Option<i64> {
    let bits = constant(lowerer, index)?;
    let is_narrow = layout::mem_type(&index.ty)?.bytes() < 8;
    Some(match (is_narrow, layout::is_unsigned(&index.ty)) {
        (true, false) => i64::from(bits as i32),
        _ => bits as i64,
    })
}
