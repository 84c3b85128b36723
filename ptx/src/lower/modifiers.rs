//! An instruction's modifiers: each is taken by what it means, and one that is left over is an error. So none is ignored.

use super::Fault;
use crate::tree::{Instruction, Kind, ScalarType};

/// The modifiers of an instruction that have not been taken.
pub(super) struct Modifiers<'i, 't> {
    inst: &'i Instruction<'t>,
    left: u64,
}

impl<'i, 't> Modifiers<'i, 't> {
    pub(super) fn of(inst: &'i Instruction<'t>) -> Result<Modifiers<'i, 't>, Fault> {
        match inst.modifiers.len() {
            count @ 0..64 => Ok(Modifiers {
                inst,
                left: (1 << count) - 1,
            }),
            _ => Err(format!("`{}` has too many modifiers", inst.opcode)),
        }
    }

    fn remaining(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let left = self.left;
        let all = self.inst.modifiers.iter().copied().enumerate();
        all.filter(move |(index, _)| left >> index & 1 == 1)
    }

    /// Takes a modifier if it is there.
    pub(super) fn take(&mut self, modifier: &str) -> bool {
        let found = self.remaining().find(|(_, found)| *found == modifier);
        if let Some((index, _)) = found {
            self.left &= !(1 << index);
        }
        found.is_some()
    }

    /// Takes the first that has a value.
    pub(super) fn take_if<T>(&mut self, value: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (index, value) = self
            .remaining()
            .find_map(|(index, modifier)| Some((index, value(modifier)?)))?;
        self.left &= !(1 << index);
        Some(value)
    }

    /// Takes one of several.
    pub(super) fn one_of<T: Copy>(&mut self, values: &[(&str, T)]) -> Option<T> {
        self.take_if(|modifier| {
            let mut values = values.iter();
            values
                .find(|(text, _)| *text == modifier)
                .map(|(_, value)| *value)
        })
    }

    /// Takes the first type.
    pub(super) fn ty(&mut self) -> Result<ScalarType, Fault> {
        self.take_if(ScalarType::of)
            .ok_or_else(|| format!("`{}` without a type that dslc knows", self.text()))
    }

    /// Whether a modifier is there, taken or not.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.inst.modifiers.contains(&modifier)
    }

    /// The instruction's opcode and modifiers.
    pub(super) fn text(&self) -> String {
        self.inst.opcode.to_string() + &self.inst.modifiers.concat()
    }

    /// An error unless all were taken.
    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.left {
            0 => Ok(()),
            _ => Err(self.unknown()),
        }
    }

    /// That the instruction has no row.
    pub(super) fn unknown(&self) -> Fault {
        format!("dslc does not know `{}` yet", self.text())
    }
}

impl ScalarType {
    pub(super) fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    pub(super) fn is_float(self) -> bool {
        self.kind == Kind::Float
    }
}
