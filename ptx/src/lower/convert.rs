//! Copies and conversions.

use ir::{
    BinaryOp, CompareOp, Const, ConvertOp, Intrinsic, Object, Operand as Value, Space, Type,
    UnaryOp,
};

use super::float::Flush;
use super::half::Halves;
use super::inst::{This, operands};
use super::modifiers::Modifiers;
use super::read::integer_of;
use super::{Fault, Lowerer};
use crate::tree::{Operand, ScalarType, StateSpace};

impl<'t> Lowerer<'_, 't> {
    /// `mov.b32 d, a`; with `{…}` on one side it packs or unpacks.
    pub(super) fn mov(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, from] = operands(all)?;
        let ty = modifiers.ty()?;
        match (to, from) {
            (to, Operand::Vector(parts)) => {
                let value = self.pack(parts, ty)?;
                self.write(to, value, at)
            }
            (Operand::Vector(parts), from) => self.unpack(parts, from, ty, at),
            (Operand::Register(id), Operand::Register(source)) => {
                self.registers.link(*id, *source);
                let value = self.registers.get(&mut self.builder, *source);
                self.write_bits(to, value, at)
            }
            _ => {
                // The address of a variable is a pointer, whatever is done with it.
                if let (Operand::Register(id), Operand::Symbol(name, _)) = (to, from) {
                    self.registers.note_address(*id);
                    if !matches!(self.object(name), Some(Object::Shared(_))) {
                        self.registers.note_not_shared(*id);
                    }
                }
                let value = match ty.bits {
                    1 => self.read(from, Type::I1)?,
                    bits => self.read_bits(from, bits)?,
                };
                self.write_bits(to, value, at)
            }
        }
    }

    /// Two, four or eight registers as one.
    fn pack(&mut self, parts: &[Operand<'t>], ty: ScalarType) -> Result<Value, Fault> {
        let bits = part_bits(parts.len(), ty)?;
        let whole = integer_of(ty.bits);
        let mut value: Option<Value> = None;
        for (index, part) in parts.iter().enumerate() {
            let part = self.read(part, Type::I32)?;
            let narrow = ScalarType {
                kind: crate::tree::Kind::Unsigned,
                bits,
            };
            let part = self.extended(part, narrow);
            let part = match whole {
                Type::I64 => self.builder.convert(ConvertOp::Zext, part),
                _ => part,
            };
            let by = Const {
                ty: whole,
                bits: u64::from(bits) * index as u64,
            };
            let part = match index {
                0 => part,
                _ => self.builder.binary(BinaryOp::Shl, part, by.into()),
            };
            value = Some(match value {
                Some(value) => self.builder.binary(BinaryOp::Or, value, part),
                None => part,
            });
        }
        value.ok_or_else(|| "a vector without elements".to_string())
    }

    fn unpack(
        &mut self,
        parts: &[Operand<'t>],
        from: &Operand<'t>,
        ty: ScalarType,
        at: usize,
    ) -> Result<(), Fault> {
        let bits = part_bits(parts.len(), ty)?;
        let whole = integer_of(ty.bits);
        let value = self.read(from, whole)?;
        for (index, part) in parts.iter().enumerate() {
            let by = Const {
                ty: whole,
                bits: u64::from(bits) * index as u64,
            };
            let shifted = match index {
                0 => value,
                _ => self.builder.binary(BinaryOp::LShr, value, by.into()),
            };
            let narrow = match whole {
                Type::I64 => self.builder.convert(ConvertOp::Trunc, shifted),
                _ => shifted,
            };
            let unsigned = ScalarType {
                kind: crate::tree::Kind::Unsigned,
                bits,
            };
            let narrow = self.extended(narrow, unsigned);
            self.write(part, narrow, at)?;
        }
        Ok(())
    }

    /// `cvta.to.global.u64 d, a`, `cvta.shared.u64 d, a`: an address in a space, and the generic one.
    pub(super) fn change_space(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, from] = operands(all)?;
        let to_space = modifiers.take(".to");
        let space = modifiers
            .take_if(crate::parse::space)
            .ok_or_else(|| modifiers.unknown())?;
        if !modifiers.take(".u64") {
            return Err(modifiers.unknown());
        }
        let value = match from {
            Operand::Register(source) => {
                // Both become pointers, if the address comes from a variable: as integers they have different numbers.
                if let Operand::Register(id) = to {
                    self.registers.link(*id, *source);
                    self.registers.note_address(*id);
                }
                self.registers.note_address(*source);
                self.registers.get(&mut self.builder, *source)
            }
            _ => self.read_bits(from, 64)?,
        };
        let is_int = self.builder.value_type(value) == Type::I64;
        let value = match (space, is_int) {
            // In these spaces an address is the generic one.
            (StateSpace::Global | StateSpace::Const | StateSpace::Param, true) => {
                self.builder.convert(ConvertOp::IntToPtr, value)
            }
            (StateSpace::Shared, true) if !to_space => {
                let offset = self.builder.convert(ConvertOp::Trunc, value);
                self.shared_pointer(offset)?
            }
            // The offset in shared memory of a generic address that is an integer.
            (StateSpace::Shared, true) => {
                let pointer = self.builder.convert(ConvertOp::IntToPtr, value);
                if !self.registers.collects {
                    let offset = self.shared_offset(pointer)?;
                    let offset = self.builder.convert(ConvertOp::Zext, offset);
                    return self.write(to, offset, at);
                }
                pointer
            }
            (StateSpace::Local, true) if !self.registers.collects => {
                return Err(
                    "an address of local memory that was computed as an integer".to_string()
                );
            }
            _ => value,
        };
        self.write_bits(to, value, at)
    }

    /// `isspacep.shared p, a`.
    pub(super) fn is_space(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, from] = operands(all)?;
        let intrinsic = modifiers.one_of(&[
            (".shared", Intrinsic::IsShared),
            (".shared::cta", Intrinsic::IsShared),
            (".local", Intrinsic::IsLocal),
            (".const", Intrinsic::IsConstant),
            (".global", Intrinsic::IsGlobal),
        ]);
        let intrinsic = intrinsic.ok_or_else(|| modifiers.unknown())?;
        if let Operand::Register(id) = from
            && self.registers.collects
        {
            self.registers.note_address(*id);
        }
        let pointer = self.read(from, Type::Ptr(Space::Generic))?;
        let value = self.builder.intrinsic(intrinsic, vec![pointer]);
        let value = value.ok_or("a test of an address has a result")?;
        let value = self
            .builder
            .compare(CompareOp::Ne, value, Const::i32(0).into());
        self.write(to, value, at)
    }

    /// `cvt.rzi.s32.f32 d, a`.
    pub(super) fn convert(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        if all.len() == 3 {
            let halves = Halves::of(modifiers).ok_or_else(|| modifiers.unknown())?;
            return match modifiers.take(".rn") && modifiers.take(".f32") {
                true => self.pack_halves((all, at), halves),
                false => Err(modifiers.unknown()),
            };
        }
        let [to, from] = operands(all)?;
        let (into, source) = (modifiers.ty()?, modifiers.ty()?);
        match (into.is_float(), source.is_float()) {
            (false, false) => self.int_to_int(to, into, from, source, at),
            (true, false) => {
                let value = self.int_to_float(modifiers, into, from, source)?;
                self.write(to, value, at)
            }
            (false, true) => {
                let value = self.float_to_int(modifiers, into, from, source)?;
                self.write_int(to, value, into, at)
            }
            (true, true) => self.float_to_float(modifiers, (to, into), (from, source), at),
        }
    }

    fn int_to_int(
        &mut self,
        to: &Operand<'t>,
        into: ScalarType,
        from: &Operand<'t>,
        source: ScalarType,
        at: usize,
    ) -> Result<(), Fault> {
        // An address of shared memory is widened before it becomes a generic one, and narrowed after.
        if let (Operand::Register(id), Operand::Register(other)) = (to, from)
            && [into.bits, source.bits] != [into.bits.min(source.bits); 2]
            && into.bits.min(source.bits) == 32
        {
            self.registers.link(*id, *other);
            let is_pointer = |id| matches!(self.registers.ty(id), Type::Ptr(_));
            if is_pointer(*id) && is_pointer(*other) {
                let value = self.registers.get(&mut self.builder, *other);
                return self.write_bits(to, value, at);
            }
        }
        let value = self.read_int(from, source)?;
        let value = match (source.bits, into.bits) {
            (64, 0..64) => self.builder.convert(ConvertOp::Trunc, value),
            (0..64, 64) => {
                let op = match source.is_signed() {
                    true => ConvertOp::Sext,
                    false => ConvertOp::Zext,
                };
                self.builder.convert(op, value)
            }
            _ => value,
        };
        self.write_int(to, value, into, at)
    }

    fn int_to_float(
        &mut self,
        modifiers: &mut Modifiers<'_, 't>,
        into: ScalarType,
        from: &Operand<'t>,
        source: ScalarType,
    ) -> Result<Value, Fault> {
        let value = self.read_int(from, source)?;
        let exact = into.bits == 64 && source.bits <= 32;
        if !modifiers.take(".rn") && !exact {
            return Err(modifiers.unknown());
        }
        let op = match (into.bits, source.bits, source.is_signed()) {
            (32, 64, true) => ConvertOp::S64ToF32,
            (32, 64, false) => ConvertOp::U64ToF32,
            (32, _, true) => ConvertOp::S32ToF32,
            (32, _, false) => ConvertOp::U32ToF32,
            (64, 64, true) => ConvertOp::S64ToF64,
            (64, 64, false) => ConvertOp::U64ToF64,
            (64, _, true) => ConvertOp::S32ToF64,
            (64, _, false) => ConvertOp::U32ToF64,
            _ => return Err(modifiers.unknown()),
        };
        Ok(self.builder.convert(op, value))
    }

    fn float_to_int(
        &mut self,
        modifiers: &mut Modifiers<'_, 't>,
        into: ScalarType,
        from: &Operand<'t>,
        source: ScalarType,
    ) -> Result<Value, Fault> {
        let rounding = modifiers
            .one_of(ROUNDINGS)
            .ok_or_else(|| modifiers.unknown())?;
        let op = match (source.bits, into.bits, into.is_signed()) {
            (32, 64, true) => ConvertOp::F32ToS64,
            (32, 64, false) => ConvertOp::F32ToU64,
            (32, 32, true) => ConvertOp::F32ToS32,
            (32, 32, false) => ConvertOp::F32ToU32,
            (64, 64, true) => ConvertOp::F64ToS64,
            (64, 64, false) => ConvertOp::F64ToU64,
            (64, 32, true) => ConvertOp::F64ToS32,
            (64, 32, false) => ConvertOp::F64ToU32,
            _ => return Err(modifiers.unknown()),
        };
        let mut value = self.read(from, op.from_type())?;
        if rounding != UnaryOp::FTrunc {
            value = self.builder.unary(rounding, value);
        }
        Ok(self.builder.convert(op, value))
    }

    fn float_to_float(
        &mut self,
        modifiers: &mut Modifiers<'_, 't>,
        (to, into): (&Operand<'t>, ScalarType),
        (from, source): (&Operand<'t>, ScalarType),
        at: usize,
    ) -> Result<(), Fault> {
        let kept = modifiers.one_of(ROUNDINGS);
        let value = match (into.bits, source.bits, kept) {
            (32, 32, Some(op)) => {
                let value = self.read(from, Type::F32)?;
                self.builder.unary(op, value)
            }
            (64, 64, Some(op)) => {
                let value = self.read(from, Type::F64)?;
                self.builder.unary(op, value)
            }
            (32, 32, None) if modifiers.has(".sat") => {
                let flush = Flush::of(modifiers);
                let value = self.read(from, Type::F32)?;
                let value = self.flushed(value, flush);
                self.saturated(value, flush)
            }
            (64, 32, None) => {
                let value = self.read(from, Type::F32)?;
                self.builder.convert(ConvertOp::F32ToF64, value)
            }
            (32, 64, None) if modifiers.take(".rn") => {
                let value = self.read(from, Type::F64)?;
                self.builder.convert(ConvertOp::F64ToF32, value)
            }
            (32, 16, None) => {
                let value = self.read(from, Type::I32)?;
                match modifiers.has(".bf16") {
                    false => self.builder.convert(ConvertOp::F16ToF32, value),
                    true => {
                        let bits = self
                            .builder
                            .binary(BinaryOp::Shl, value, Const::i32(16).into());
                        self.builder.convert(ConvertOp::BitsToF32, bits)
                    }
                }
            }
            (16, 32, None) if modifiers.take(".rn") => {
                let value = self.read(from, Type::F32)?;
                let op = match modifiers.has(".bf16") {
                    false => ConvertOp::F32ToF16,
                    true => ConvertOp::F32ToBf16,
                };
                self.builder.convert(op, value)
            }
            _ => return Err(modifiers.unknown()),
        };
        self.write(to, value, at)
    }
}

/// Roundings to whole numbers.
const ROUNDINGS: &[(&str, UnaryOp)] = &[
    (".rni", UnaryOp::FRint),
    (".rzi", UnaryOp::FTrunc),
    (".rmi", UnaryOp::FFloor),
    (".rpi", UnaryOp::FCeil),
];

/// The width of each part of a register.
fn part_bits(parts: usize, ty: ScalarType) -> Result<u32, Fault> {
    match (parts, ty.bits) {
        (2, 16 | 32 | 64) | (4, 32 | 64) | (8, 64) => Ok(ty.bits / parts as u32),
        _ => Err(format!("{parts} parts of {} bits", ty.bits)),
    }
}
