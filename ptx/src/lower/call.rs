//! Calls: of the driver's functions.

use ir::{BinaryOp, Const, Intrinsic, Space, Type};

use super::inst::{This, operands};
use super::{Fault, Lowerer};
use crate::tree::Operand;

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
            "vprintf" if self.environment.is_alone => {
                return Err("dslc does not print from PTX yet".to_string());
            }
            "vprintf" => Some(Const::i32(0).into()),
            "__assertfail" => self.builder.intrinsic(Intrinsic::Trap, Vec::new()),
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

    /// Calls a function of the module.
    fn call_routine(
        &mut self,
        name: &str,
        result: Option<&'t str>,
        given: &[Operand<'t>],
    ) -> Result<(), Fault> {
        let routines = self.routines;
        let Some(routine) = routines.iter().find(|routine| routine.name == name) else {
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
