//! Reads and writes operands as values of a type.

use ir::{BinaryOp, Const, ConvertOp, Operand as Value, SpecialReg, Type, UnaryOp};

use super::{Fault, Lowerer};
use crate::tree::{Operand, RegId, ScalarType};

impl<'t> Lowerer<'_, 't> {
    /// An operand as a value of a type: `I1`, `I32`, `I64`, `F32`, `F64`, or a pointer.
    pub(super) fn read(&mut self, operand: &Operand<'t>, ty: Type) -> Result<Value, Fault> {
        match operand {
            Operand::Register(id) => self.register(*id, ty),
            Operand::Not(id) if ty == Type::I1 => {
                let value = self.register(*id, ty)?;
                Ok(self.builder.unary(UnaryOp::Not, value))
            }
            Operand::Int(bits) => literal(*bits, ty),
            Operand::Single(bits) => match ty {
                Type::F64 => Ok(Const::f64(f32::from_bits(*bits).into()).into()),
                _ => literal((*bits).into(), ty),
            },
            Operand::Double(bits) => match ty {
                Type::F32 => Ok(Const::f32(f64::from_bits(*bits) as f32).into()),
                _ => literal(*bits, ty),
            },
            Operand::Special(name, part) => {
                let value = self.special(name, part.unwrap_or_default())?;
                // `mov.u64 %rd1, %clock`
                match (self.builder.value_type(value), ty) {
                    (Type::I32, Type::I64) => Ok(self.builder.convert(ConvertOp::Zext, value)),
                    (Type::I64, Type::I32) => Ok(self.builder.convert(ConvertOp::Trunc, value)),
                    _ => self.convert_to(value, ty),
                }
            }
            Operand::Symbol(name, offset) => {
                let pointer = self.symbol(name, *offset)?;
                self.convert_to(pointer, ty)
            }
            _ => Err("this operand has another form than dslc knows here".to_string()),
        }
    }

    /// A register as a value of a type.
    pub(super) fn register(&mut self, id: RegId, ty: Type) -> Result<Value, Fault> {
        if self.registers.collects {
            self.registers.vote(id, ty);
        }
        let value = self.registers.get(&mut self.builder, id);
        self.convert_to(value, ty)
    }

    /// An operand as its register has it; numbers as an integer of that width.
    pub(super) fn read_bits(&mut self, operand: &Operand<'t>, bits: u32) -> Result<Value, Fault> {
        match operand {
            Operand::Register(id) => Ok(self.registers.get(&mut self.builder, *id)),
            Operand::Single(bits) => Ok(Const::f32(f32::from_bits(*bits)).into()),
            Operand::Double(bits) => Ok(Const::f64(f64::from_bits(*bits)).into()),
            Operand::Symbol(name, offset) => self.symbol(name, *offset),
            _ => self.read(operand, integer_of(bits)),
        }
    }

    /// The bits of a value, read as another type of the same width.
    pub(super) fn convert_to(&mut self, value: Value, to: Type) -> Result<Value, Fault> {
        let from = self.builder.value_type(value);
        if from == to {
            return Ok(value);
        }
        let op = match (from, to) {
            (Type::F32, Type::I32) => ConvertOp::F32Bits,
            (Type::I32, Type::F32) => ConvertOp::BitsToF32,
            (Type::F64, Type::I64) => ConvertOp::F64Bits,
            (Type::I64, Type::F64) => ConvertOp::BitsToF64,
            (Type::I64, Type::Ptr(_)) => ConvertOp::IntToPtr,
            (Type::Ptr(_), Type::I64) => ConvertOp::PtrToInt,
            (Type::Ptr(_), Type::Ptr(_)) => return Ok(value),
            (Type::Ptr(_), Type::I32) if self.registers.collects => {
                let wide = self.builder.convert(ConvertOp::PtrToInt, value);
                return Ok(self.builder.convert(ConvertOp::Trunc, wide));
            }
            (Type::Ptr(_), Type::I32) if self.registers.is_not_shared(value) => {
                return Err(
                    "an address of local or constant memory is used as a number".to_string()
                );
            }
            (Type::Ptr(_), Type::I32) => return self.shared_offset(value),
            // The first walk finds out which registers are pointers.
            (Type::I32, Type::Ptr(_)) if self.registers.collects => {
                let wide = self.builder.convert(ConvertOp::Zext, value);
                return Ok(self.builder.convert(ConvertOp::IntToPtr, wide));
            }
            (Type::I32, Type::Ptr(_)) => return self.shared_pointer(value),
            _ => return Err(format!("a value of type {from} is used as {to}")),
        };
        Ok(self.builder.convert(op, value))
    }

    /// A special register.
    fn special(&mut self, name: &str, part: &str) -> Result<Value, Fault> {
        let register = match (name, part) {
            ("%tid", ".x") => SpecialReg::TidX,
            ("%tid", ".y") => SpecialReg::TidY,
            ("%tid", ".z") => SpecialReg::TidZ,
            ("%ctaid", ".x") => SpecialReg::CtaidX,
            ("%ctaid", ".y") => SpecialReg::CtaidY,
            ("%ctaid", ".z") => SpecialReg::CtaidZ,
            ("%ntid", ".x") => SpecialReg::NtidX,
            ("%ntid", ".y") => SpecialReg::NtidY,
            ("%ntid", ".z") => SpecialReg::NtidZ,
            ("%nctaid", ".x") => SpecialReg::NctaidX,
            ("%nctaid", ".y") => SpecialReg::NctaidY,
            ("%nctaid", ".z") => SpecialReg::NctaidZ,
            ("%laneid", "") => SpecialReg::LaneId,
            ("%smid", "") => SpecialReg::SmId,
            ("%nsmid", "") => SpecialReg::NSmId,
            ("%clock", "") => SpecialReg::Clock,
            ("%clock64", "") => SpecialReg::Clock64,
            ("%globaltimer", "") => SpecialReg::GlobalTimer,
            // A cooperative launch has the address of its workspace in these two.
            ("%envreg1", "") => return Ok(Const::i32(0).into()),
            ("%envreg2", "") => SpecialReg::CooperativeGrid,
            ("WARP_SZ", "") => return Ok(Const::i32(32).into()),
            (
                "%lanemask_lt" | "%lanemask_le" | "%lanemask_gt" | "%lanemask_ge" | "%lanemask_eq",
                "",
            ) => {
                return Ok(self.lane_mask(&name["%lanemask_".len()..]));
            }
            _ => return Err(format!("dslc does not know `{name}{part}` yet")),
        };
        Ok(self.builder.special(register))
    }

    /// The lanes below, above or at this one.
    fn lane_mask(&mut self, which: &str) -> Value {
        let lane = self.builder.special(SpecialReg::LaneId);
        let one = Const::i32(1).into();
        let own = self.builder.binary(BinaryOp::Shl, one, lane);
        let below = self.builder.binary(BinaryOp::Sub, own, one);
        match which {
            "eq" => own,
            "lt" => below,
            "ge" => self.builder.unary(UnaryOp::Not, below),
            _ => {
                let up_to = self.builder.binary(BinaryOp::Or, below, own);
                match which {
                    "le" => up_to,
                    _ => self.builder.unary(UnaryOp::Not, up_to),
                }
            }
        }
    }

    /// Writes a value to a register of the same width.
    pub(super) fn write(
        &mut self,
        operand: &Operand<'t>,
        value: Value,
        statement: usize,
    ) -> Result<(), Fault> {
        match operand {
            Operand::Register(id) => self.write_register(*id, value, statement),
            Operand::Sink => Ok(()),
            _ => Err("the result goes to no register".to_string()),
        }
    }

    pub(super) fn write_register(
        &mut self,
        id: RegId,
        value: Value,
        statement: usize,
    ) -> Result<(), Fault> {
        let ty = self.builder.value_type(value);
        if self.registers.collects {
            self.registers.vote(id, ty);
        }
        self.put(id, value, statement)
    }

    /// Writes a value that says nothing of the register's type.
    pub(super) fn write_bits(
        &mut self,
        operand: &Operand<'t>,
        value: Value,
        statement: usize,
    ) -> Result<(), Fault> {
        match operand {
            Operand::Register(id) => {
                let is_pointer = matches!(self.builder.value_type(value), Type::Ptr(_));
                if self.registers.collects && is_pointer {
                    self.registers.vote(*id, self.builder.value_type(value));
                }
                self.put(*id, value, statement)
            }
            _ => self.write(operand, value, statement),
        }
    }

    fn put(&mut self, id: RegId, value: Value, statement: usize) -> Result<(), Fault> {
        let value = self.convert_to(value, self.registers.ty(id))?;
        self.registers.set(&mut self.builder, id, value, statement);
        Ok(())
    }

    /// An integer operand of a type, as `I32` or `I64`: of 8 and 16 bits extended as the type says.
    pub(super) fn read_int(
        &mut self,
        operand: &Operand<'t>,
        ty: ScalarType,
    ) -> Result<Value, Fault> {
        let value = match (operand, ty.bits) {
            (_, 64) => return self.read(operand, Type::I64),
            (Operand::Register(id), 8..=32) if self.registers.bits(*id) == 64 => {
                let wide = self.read(operand, Type::I64)?;
                self.builder.convert(ConvertOp::Trunc, wide)
            }
            (_, 8 | 16 | 32) => self.read(operand, Type::I32)?,
            _ => return Err(format!("dslc has no integers of {} bits", ty.bits)),
        };
        Ok(self.extended(value, ty))
    }

    /// The low bits of an `i32`, extended.
    pub(super) fn extended(&mut self, value: Value, ty: ScalarType) -> Value {
        let op = match (ty.bits, ty.is_signed()) {
            (8, true) => ConvertOp::Sext8,
            (8, false) => ConvertOp::Zext8,
            (16, true) => ConvertOp::Sext16,
            (16, false) => ConvertOp::Zext16,
            _ => return value,
        };
        self.builder.convert(op, value)
    }

    /// Writes an integer result of a type. A wider register gets it extended; one of 16 bits keeps zeros above them.
    pub(super) fn write_int(
        &mut self,
        operand: &Operand<'t>,
        value: Value,
        ty: ScalarType,
        statement: usize,
    ) -> Result<(), Fault> {
        let Operand::Register(id) = operand else {
            return self.write(operand, value, statement);
        };
        let mut value = match ty.bits {
            64 => value,
            _ => self.extended(value, ty),
        };
        match (self.registers.bits(*id), ty.bits) {
            (64, 0..64) => {
                let op = match ty.is_signed() {
                    true => ConvertOp::Sext,
                    false => ConvertOp::Zext,
                };
                value = self.builder.convert(op, value);
            }
            (16, 8 | 16) => value = self.builder.convert(ConvertOp::Zext16, value),
            (8, 8) => value = self.builder.convert(ConvertOp::Zext8, value),
            (width, bits) if width < bits => {
                return Err(format!(
                    "a result of {bits} bits goes to a register of {width}"
                ));
            }
            _ => {}
        }
        self.write_register(*id, value, statement)
    }
}

/// The integer type of a width.
pub(super) fn integer_of(bits: u32) -> Type {
    match bits {
        1 => Type::I1,
        64 => Type::I64,
        _ => Type::I32,
    }
}

fn literal(bits: u64, ty: Type) -> Result<Value, Fault> {
    let bits = match ty {
        Type::I1 => u64::from(bits != 0),
        Type::I32 | Type::F32 => u64::from(bits as u32),
        Type::I64 | Type::F64 | Type::Ptr(_) => bits,
    };
    Ok(Const { ty, bits }.into())
}
