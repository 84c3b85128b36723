//! Calls: of the driver's functions.

use ir::{BinaryOp, Const, ConvertOp, Intrinsic, MemType, Space, Type};

use super::inst::{This, operands};
use super::memory::access;
use super::registers::integer;
use super::{Fault, Lowerer};
use crate::tree::{Initial, Operand};

/// Functions of the driver, and those that dslc's back end adds for an operation.
pub(super) fn is_own(name: &str) -> bool {
    matches!(
        name,
        "vprintf" | "__assertfail" | "malloc" | "free" | "$$fmod32" | "$$fmod64"
    )
}

impl<'t> Lowerer<'_, 't> {
    /// `call (result), vprintf, (format, arguments)`.
    pub(super) fn call(&mut self, (all, modifiers, _): This<'_, '_, 't>) -> Result<(), Fault> {
        modifiers.take(".uni");
        let (result, name, given) = match all {
            [
                Operand::Group(results),
                Operand::Symbol(name, 0),
                Operand::Group(given),
            ] => (results.first(), *name, &given[..]),
            [Operand::Symbol(name, 0), Operand::Group(given)] => (None, *name, &given[..]),
            [Operand::Symbol(name, 0)] => (None, *name, &[][..]),
            _ => return Err("a call through a pointer".to_string()),
        };
        let result = match result {
            Some(Operand::Symbol(name, 0)) => Some(*name),
            _ => None,
        };
        let value = match name {
            // What a compiled kernel prints is not shown: the written one has printed it.
            "vprintf" if self.environment.is_alone => Some(self.print(given)?),
            "vprintf" => Some(Const::i32(0).into()),
            "__assertfail" => self.fail_assertion(given)?,
            "malloc" => {
                let [bytes] = operands(given)?;
                let bytes = self.argument(bytes, Type::I64)?;
                self.builder.intrinsic(Intrinsic::HeapMalloc, vec![bytes])
            }
            "free" => {
                let [pointer] = operands(given)?;
                let pointer = self.argument(pointer, Type::Ptr(Space::Generic))?;
                self.builder.intrinsic(Intrinsic::HeapFree, vec![pointer])
            }
            "$$fmod32" | "$$fmod64" => {
                let [a, b] = operands(given)?;
                let ty = if name == "$$fmod32" {
                    Type::F32
                } else {
                    Type::F64
                };
                let [a, b] = [self.argument(a, ty)?, self.argument(b, ty)?];
                Some(self.builder.binary(BinaryOp::FRem, a, b))
            }
            name => return self.call_routine(name, result, given),
        };
        self.arguments.clear();
        if let (Some(result), Some(value)) = (result, value) {
            self.arguments.insert((result, 0), value);
        }
        Ok(())
    }

    /// `vprintf(format, arguments)`: the arguments are in memory, each aligned to its size, with the types that the format says.
    fn print(&mut self, given: &[Operand<'t>]) -> Result<ir::Operand, Fault> {
        let [format, arguments] = operands(given)?;
        let text = self
            .text_of(format)
            .ok_or("a `printf` whose format is not a constant")?;
        let mut values = Vec::new();
        let types = conversions(&text);
        if !types.is_empty() {
            let base = self.argument(arguments, Type::Ptr(Space::Generic))?;
            let base = self.builder.convert(ConvertOp::ToLocal, base);
            let mut offset = 0u64;
            for ty in types {
                let bytes = u64::from(ty.bytes());
                offset = offset.next_multiple_of(bytes);
                let address = self.builder.ptr_offset(base, offset as i64);
                values.extend(self.builder.load(access(ty, 1, Space::Local), address));
                offset += bytes;
            }
        }
        let format = self.environment.string(&text);
        Ok(self.builder.printf(format, values))
    }

    /// `__assertfail(message, file, line, function, 1)`
    fn fail_assertion(&mut self, given: &[Operand<'t>]) -> Result<Option<ir::Operand>, Fault> {
        let text = given.first().and_then(|message| self.text_of(message));
        let Some(text) = text else {
            return Ok(self.builder.intrinsic(Intrinsic::Trap, Vec::new()));
        };
        let text = self.environment.string(&text);
        self.builder.assert(Const::bool(false).into(), text);
        Ok(None)
    }

    /// The text, without its final zero, that an argument points to, if that is a constant of the module.
    fn text_of(&self, argument: &Operand<'t>) -> Option<Vec<u8>> {
        let Operand::Symbol(argument, 0) = argument else {
            return None;
        };
        let register = self.argument_registers.get(argument)?;
        let (name, offset) = self.addresses.get(register)?;
        let mut variables = self.environment.variables.iter();
        let variable = variables.find(|variable| variable.name == *name)?;
        let from = usize::try_from(*offset).ok()?;
        let bytes = variable.init.get(from..)?.iter().map(|value| match value {
            Initial::Number(byte) if variable.ty.bits == 8 => Some(*byte as u8),
            _ => None,
        });
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let end = bytes.iter().position(|&byte| byte == 0);
        Some(bytes[..end.unwrap_or(bytes.len())].to_vec())
    }

    /// Calls a function of the module.
    fn call_routine(
        &mut self,
        name: &str,
        result: Option<&'t str>,
        given: &[Operand<'t>],
    ) -> Result<(), Fault> {
        let routines = self.routines;
        let Some(routine) = routines.iter().find(|routine| routine.name == name) else {
            self.unknown_result(name, result);
            return Err(format!("a call of `{name}`"));
        };
        let types = routine.id.index();
        let slots = self.builder.function().routines[types].params.clone();
        let mut arguments = Vec::new();
        for (&(number, offset), slot) in routine.given.iter().zip(slots) {
            let argument = match given.get(number) {
                Some(Operand::Symbol(name, 0)) => self.arguments.get(&(*name, offset)).copied(),
                _ => None,
            };
            let argument =
                argument.ok_or_else(|| format!("a call of `{name}` without an argument"))?;
            let ty = self.builder.slot_type(slot);
            arguments.push(self.convert_to(argument, ty)?);
        }
        let values = self.builder.call_routine(routine.id, arguments);
        self.arguments.clear();
        if let Some(result) = result {
            for (&offset, value) in routine.gives.iter().zip(values) {
                self.arguments.insert((result, offset), value);
            }
        }
        Ok(())
    }

    /// Gives the result of a call that ends the run some value.
    fn unknown_result(&mut self, name: &str, result: Option<&'t str>) {
        let functions = &self.environment.ptx.functions;
        let declared = functions.iter().find(|function| function.name == name);
        let declared = declared.and_then(|function| function.results.first());
        self.arguments.clear();
        if let (Some(declared), Some(result)) = (declared, result) {
            let value = Const::zero(integer(declared.ty)).into();
            self.arguments.insert((result, 0), value);
        }
    }

    fn argument(&mut self, operand: &Operand<'t>, ty: Type) -> Result<ir::Operand, Fault> {
        match operand {
            Operand::Symbol(name, 0) => match self.arguments.get(&(*name, 0)) {
                Some(&value) => self.convert_to(value, ty),
                None => Err(format!("the argument `{name}` has no value")),
            },
            operand => self.read(operand, ty),
        }
    }
}

/// The types that `printf` reads for the conversions of a format.
fn conversions(format: &[u8]) -> Vec<MemType> {
    let mut types = Vec::new();
    let mut at = 0;
    while let Some(percent) = format[at..].iter().position(|&byte| byte == b'%') {
        at += percent + 1;
        let mut is_long = false;
        while let Some(&byte) = format.get(at) {
            at += 1;
            match byte {
                b'*' => types.push(MemType::I32),
                b'l' | b'j' | b'z' | b't' => is_long = true,
                b'-' | b'+' | b' ' | b'#' | b'.' | b'h' | b'L' | b'0'..=b'9' => {}
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' => {
                    types.push(if is_long { MemType::I64 } else { MemType::I32 });
                    break;
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    types.push(MemType::F64);
                    break;
                }
                b's' | b'p' => {
                    types.push(MemType::Ptr);
                    break;
                }
                // `%%`, and what `printf` prints as it is.
                _ => break,
            }
        }
    }
    types
}
