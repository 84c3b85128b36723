//! Addresses.
//!
//! An address of shared memory is a number of 32 bits: an offset from the block's first byte, where the variables begin. On sm_90 the first
//! KiB is the system's.

use ir::{BinaryOp, Const, ConvertOp, Object, Operand as Value, SharedId, Space, Type};

use super::{Fault, Lowerer};
use crate::tree::{Base, Operand, RegId, ScalarType, StateSpace, Statement};

/// An index with its scale: `mul.wide.s32 %rd1, %r1, 4`.
struct Index {
    value: Value,
    unsigned: bool,
    scale_bytes: i64,
}

impl<'t> Lowerer<'_, 't> {
    /// The address of a variable, function or string.
    pub(super) fn symbol(&mut self, name: &str, offset: i64) -> Result<Value, Fault> {
        match self.object(name) {
            Some(object) => {
                let address = self.builder.addr_of(object);
                Ok(self.builder.ptr_offset(address, offset))
            }
            None => Err(format!("`{name}` is no variable that dslc knows")),
        }
    }

    /// The pointer of an access in a space; `None` is generic.
    pub(super) fn address(
        &mut self,
        base: Base<'t>,
        offset: i64,
        space: Option<StateSpace>,
    ) -> Result<(Value, Space), Fault> {
        let generic = Type::Ptr(Space::Generic);
        let pointer = match base {
            Base::Symbol(name) => self.symbol(name, offset)?,
            Base::Register(id) => {
                if self.registers.collects {
                    self.registers.note_address(id);
                }
                let value = self.registers.get(&mut self.builder, id);
                let wide = match (self.builder.value_type(value), space) {
                    // An address of shared memory in a register of 64 bits.
                    (Type::I64, Some(StateSpace::Shared)) => {
                        self.builder.convert(ConvertOp::Trunc, value)
                    }
                    _ => value,
                };
                let pointer = match (self.builder.value_type(wide), space) {
                    (Type::I32, _) if self.registers.collects => self.convert_to(wide, generic)?,
                    (Type::I32, Some(StateSpace::Shared)) => self.shared_pointer(wide)?,
                    (Type::I32, _) => {
                        return Err("an address of 32 bits is used outside of shared memory".into());
                    }
                    _ => self.convert_to(wide, generic)?,
                };
                self.builder.ptr_offset(pointer, offset)
            }
            Base::Absolute => {
                let address = Const::i64(offset).into();
                self.builder.convert(ConvertOp::IntToPtr, address)
            }
        };
        let (op, space) = match space {
            None => return Ok((pointer, Space::Generic)),
            Some(StateSpace::Global) => (ConvertOp::ToGlobal, Space::Global),
            Some(StateSpace::Shared) => (ConvertOp::ToShared, Space::Shared),
            Some(StateSpace::Local) => (ConvertOp::ToLocal, Space::Local),
            // The space of the variable is known; a pointer to constant memory is used as a generic one.
            Some(StateSpace::Const) => return Ok((pointer, Space::Generic)),
            Some(StateSpace::Param) => return Err("`.param` is no memory here".into()),
        };
        Ok((self.builder.convert(op, pointer), space))
    }

    /// `d = a + b` or `d = a - b` of an address and a distance, if `d` is an address.
    pub(super) fn pointer_sum(
        &mut self,
        to: &Operand<'t>,
        operands: [&Operand<'t>; 2],
        op: BinaryOp,
    ) -> Result<Option<Value>, Fault> {
        let Operand::Register(to) = to else {
            return Ok(None);
        };
        let register = |operand: &Operand<'t>| match operand {
            Operand::Register(id) => Some(*id),
            _ => None,
        };
        self.registers.sum(*to, operands.map(register));
        if !matches!(self.registers.ty(*to), Type::Ptr(_)) {
            return Ok(None);
        }
        let is_pointer = |operand: &Operand<'t>| match operand {
            Operand::Register(id) => matches!(self.registers.ty(*id), Type::Ptr(_)),
            Operand::Symbol(..) => true,
            _ => false,
        };
        let (base, index) = match operands.map(is_pointer) {
            [true, false] => (operands[0], operands[1]),
            [false, true] if op == BinaryOp::Add => (operands[1], operands[0]),
            _ => return Ok(None),
        };
        let sign = if op == BinaryOp::Add { 1 } else { -1 };
        let base = self.read(base, Type::Ptr(Space::Generic))?;
        if let Operand::Int(offset) = index {
            let offset = match self.registers.bits(*to) {
                32 => i64::from(*offset as i32),
                _ => *offset as i64,
            };
            return Ok(Some(
                self.builder.ptr_offset(base, offset.wrapping_mul(sign)),
            ));
        }
        let bits = self.registers.bits(*to);
        let index = self.index(index, bits)?;
        Ok(Some(self.builder.ptr_add(
            base,
            index.value,
            index.unsigned,
            sign * index.scale_bytes,
            0,
        )))
    }

    /// `d = a * scale + pointer`, if `d` is an address.
    pub(super) fn pointer_product(
        &mut self,
        to: &Operand<'t>,
        (a, ty): (&Operand<'t>, ScalarType),
        scale: &Operand<'t>,
        pointer: &Operand<'t>,
    ) -> Result<Option<Value>, Fault> {
        let Operand::Register(to) = to else {
            return Ok(None);
        };
        let base = match pointer {
            Operand::Register(id) => Some(*id),
            _ => None,
        };
        self.registers.sum(*to, [base, None]);
        let is_pointer = |id: RegId| matches!(self.registers.ty(id), Type::Ptr(_));
        let Operand::Int(scale) = scale else {
            return Ok(None);
        };
        if !is_pointer(*to) || !base.is_some_and(is_pointer) {
            return Ok(None);
        }
        let base = self.read(pointer, Type::Ptr(Space::Generic))?;
        let index = self.read_int(a, ty)?;
        let scale = match ty.bits {
            64 => *scale as i64,
            _ if ty.is_signed() => i64::from(*scale as i32),
            _ => i64::from(*scale as u32),
        };
        let unsigned = !ty.is_signed();
        Ok(Some(self.builder.ptr_add(base, index, unsigned, scale, 0)))
    }

    /// The index of a sum: what it was made from, if that was a product with a constant.
    fn index(&mut self, operand: &Operand<'t>, bits: u32) -> Result<Index, Fault> {
        if let Operand::Register(id) = operand
            && let Some(index) = self.scaled(*id)
        {
            return Ok(index);
        }
        let ty = if bits == 64 { Type::I64 } else { Type::I32 };
        Ok(Index {
            value: self.read(operand, ty)?,
            unsigned: false,
            scale_bytes: 1,
        })
    }

    fn scaled(&mut self, id: RegId) -> Option<Index> {
        let body = self.body;
        let statement = self.registers.definition(id)?;
        let Statement::Inst(inst) = &body.statements[statement] else {
            return None;
        };
        let [_, Operand::Register(from), Operand::Int(by)] = &inst.operands[..] else {
            return None;
        };
        if inst.guard.is_some() || !self.registers.is_temporary(*from) {
            return None;
        }
        let by = *by;
        let (from, unsigned, scale_bytes) = match (inst.opcode, &inst.modifiers[..]) {
            ("mul", [".wide", ".s32"]) => (*from, false, i64::from(by as i32)),
            ("mul", [".wide", ".u32"]) => (*from, true, i64::from(by as u32)),
            ("shl", [".b64"]) if by < 32 => match self.widened(*from) {
                Some((narrow, unsigned)) => (narrow, unsigned, 1 << by),
                None => (*from, false, 1 << by),
            },
            ("shl", [".b32"]) if by < 31 => (*from, false, 1 << by),
            _ => return None,
        };
        let ty = self.registers.ty(from);
        if !ty.is_int() {
            return None;
        }
        Some(Index {
            value: self.registers.get(&mut self.builder, from),
            unsigned,
            scale_bytes,
        })
    }

    /// The register of 32 bits that this one of 64 has the value of, and whether it was extended with zeros.
    fn widened(&self, id: RegId) -> Option<(RegId, bool)> {
        let statement = self.registers.definition(id)?;
        let Statement::Inst(inst) = &self.body.statements[statement] else {
            return None;
        };
        let [_, Operand::Register(from)] = &inst.operands[..] else {
            return None;
        };
        let narrow = self.registers.is_temporary(*from) && self.registers.bits(*from) == 32;
        if inst.guard.is_some() || !narrow || inst.opcode != "cvt" {
            return None;
        }
        match inst.modifiers[..] {
            [".u64", ".u32"] => Some((*from, true)),
            [".s64", ".s32"] => Some((*from, false)),
            _ => None,
        }
    }

    /// The pointer at an offset in shared memory.
    pub(super) fn shared_pointer(&mut self, offset: Value) -> Result<Value, Fault> {
        let (base, at) = self.shared_base()?;
        Ok(self.builder.ptr_add(base, offset, false, 1, -at))
    }

    /// The offset of a pointer in shared memory.
    pub(super) fn shared_offset(&mut self, pointer: Value) -> Result<Value, Fault> {
        let (base, at) = self.shared_base()?;
        let [pointer, base] = [pointer, base].map(|pointer| {
            let address = self.builder.convert(ConvertOp::PtrToInt, pointer);
            self.builder.convert(ConvertOp::Trunc, address)
        });
        let distance = self.builder.binary(BinaryOp::Sub, pointer, base);
        let at = Const::i32(at as i32).into();
        Ok(self.builder.binary(BinaryOp::Add, distance, at))
    }

    /// A shared variable and its offset.
    fn shared_base(&mut self) -> Result<(Value, i64), Fault> {
        if self.builder.function().shared.is_empty() {
            return Err("an address in shared memory, and no variable is there".to_string());
        }
        // The first variable begins where the block's memory does, if it is not dynamic: a dynamic one is after the static ones.
        let first = self.builder.function().shared.iter();
        let first = first
            .clone()
            .position(|variable| !variable.dynamic)
            .unwrap_or(0);
        let base = self.builder.addr_of(Object::Shared(SharedId(first as u32)));
        Ok((base, SYSTEM_BYTES))
    }
}

/// What the system has of a block's shared memory on sm_90.
const SYSTEM_BYTES: i64 = 1024;
