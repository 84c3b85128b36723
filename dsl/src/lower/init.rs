//! Lowers declarations: the variable's first value.
//!
//! `T a[4] = {1, 2};` stores the named parts in order and zeros in the rest, one store per scalar. A long array is cleared first, by a loop
//! in a kernel and by `memset` on the host. A declaration without a value leaves the variable undefined.

use std::collections::{BTreeMap, BTreeSet};

use crate::sema::{
    ty::Ty,
    typed::{Init, Place, Step, Storage, Value, VarId},
};
use ir::{Const, MemType, Object, Operand};

use super::{
    bulk::{self, MAX_SINGLE_ZEROS, Region},
    function::{FunctionLowerer, Home},
    global,
};

impl FunctionLowerer<'_, '_> {
    pub(super) fn declare(&mut self, id: VarId, init: Option<&Init>) {
        let var = self.frame.var(id);
        if var.storage != Storage::Auto {
            // Shared memory has no initial value, but the declaration decides its place in the layout.
            self.home(id);
            return;
        }
        if self.depth > 1 {
            self.begins(id);
        }
        match init {
            None => self.clear_units(id),
            Some(Init::Value(value)) if var.is_reference => self.bind_reference(id, value),
            Some(Init::Value(value)) => {
                if let Some(from) = bulk::long_source(self, value) {
                    return self.declare_copy(id, from);
                }
                let leaves = self.leaves(value);
                self.at_access(var.span);
                self.define_var(id, leaves);
            }
            Some(Init::Parts { parts, .. }) if self.lives_in_slots(id) => {
                self.declare_leaves(id, parts);
            }
            Some(Init::Parts { zero_rest, parts }) => self.declare_parts(id, *zero_rest, parts),
            Some(Init::Bytes(bytes)) => self.declare_bytes(id, bytes),
        }
    }

    /// Marks the beginning of a variable in the thread's memory.
    pub(super) fn begins(&mut self, id: VarId) {
        if self.is_device
            && !self.frame.var(id).is_reference
            && !self.lives_in_slots(id)
            && let Home::Memory(Object::Local(local)) = self.home(id)
        {
            self.b.lifetime(local, true);
        }
    }

    fn declare_copy(&mut self, id: VarId, from: &Place) {
        let var = self.frame.var(id);
        let from = self.region(from);
        if let Home::Memory(object) = self.home(id) {
            self.at_access(var.span);
            let to = Region {
                pointer: self.b.addr_of(object),
                object: Some(object),
                is_volatile: var.ty.is_volatile,
            };
            self.copy(to, from, &var.ty.ty);
        }
    }

    /// A variable in slots: each leaf has its value, or is zero.
    fn declare_leaves(&mut self, id: VarId, parts: &[(Vec<Step>, Value)]) {
        let var = self.frame.var(id);
        let all = self.m.layout.leaves(&var.ty.ty);
        let mut leaves = self.zeros(&var.ty.ty);
        for (steps, value) in parts {
            if let Some((start, field)) = self.m.layout.bit_field_at(&var.ty.ty, steps) {
                let value = self.value(value);
                for &part in &field.parts {
                    let at = start + part.unit.offset_bytes;
                    if let Some(leaf) = all.iter().position(|leaf| leaf.offset_bytes == at) {
                        leaves[leaf] = self.inserted(&field, part, leaves[leaf], value);
                    }
                }
                continue;
            }
            let start = global::step_offset(self.m, &var.ty.ty, steps);
            let first = all.iter().position(|leaf| leaf.offset_bytes == start);
            for (i, operand) in self.leaves(value).into_iter().enumerate() {
                if let Some(leaf) = first.and_then(|first| leaves.get_mut(first + i)) {
                    *leaf = operand;
                }
            }
        }
        self.at_access(var.span);
        self.define_var(id, leaves);
    }

    /// A variable in memory.
    fn declare_parts(&mut self, id: VarId, zero_rest: bool, parts: &[(Vec<Step>, Value)]) {
        let var = self.frame.var(id);
        let ty = &var.ty.ty;
        let Home::Memory(object) = self.home(id) else {
            return;
        };
        let layout = self.m.layout;
        let given: BTreeSet<u64> = parts
            .iter()
            .flat_map(|(steps, value)| self.part_offsets(ty, steps, value))
            .collect();
        if zero_rest && (given.len() as u64) < layout.leaf_count(ty) {
            self.at_access(var.span);
            if layout.leaf_count(ty) <= MAX_SINGLE_ZEROS {
                let mut rest = layout.leaves(ty);
                rest.retain(|leaf| !given.contains(&leaf.offset_bytes));
                let pointer = self.b.addr_of(object);
                for leaf in rest {
                    let zero = Const::zero(leaf.ty.value_type()).into();
                    self.store_scalar(pointer, leaf.offset_bytes, Some(object), leaf.ty, zero);
                }
            } else {
                self.clear(object, ty);
            }
        }
        // Bit-fields are written once the values of all of them are known.
        let mut units: BTreeMap<u64, (MemType, Operand)> = BTreeMap::new();
        for (steps, value) in parts {
            if let Some((start, field)) = layout.bit_field_at(ty, steps) {
                let value = self.value(value);
                for &part in &field.parts {
                    let zero = Const::zero(part.unit.ty.value_type()).into();
                    let offset = start + part.unit.offset_bytes;
                    let unit = units.get(&offset).map_or(zero, |(_, unit)| *unit);
                    let unit = self.inserted(&field, part, unit, value);
                    units.insert(offset, (part.unit.ty, unit));
                }
                continue;
            }
            let operands = self.leaves(value);
            let start = global::step_offset(self.m, ty, steps);
            self.at_access(var.span);
            let pointer = self.b.addr_of(object);
            for (leaf, operand) in layout.leaves(&value.ty).into_iter().zip(operands) {
                let offset = start + leaf.offset_bytes;
                self.store_scalar(pointer, offset, Some(object), leaf.ty, operand);
            }
        }
        if units.is_empty() {
            return;
        }
        self.at_access(var.span);
        let pointer = self.b.addr_of(object);
        for (offset, (ty, unit)) in units {
            self.store_scalar(pointer, offset, Some(object), ty, unit);
        }
    }

    /// The offsets of the leaves that a part of an initial value is stored in.
    fn part_offsets(&self, ty: &Ty, steps: &[Step], value: &Value) -> Vec<u64> {
        let layout = self.m.layout;
        if let Some((start, field)) = layout.bit_field_at(ty, steps) {
            let units = field.parts.iter().map(|part| part.unit.offset_bytes);
            return units.map(|offset| start + offset).collect();
        }
        let start = global::step_offset(self.m, ty, steps);
        let leaves = layout.leaves(&value.ty).into_iter();
        leaves.map(|leaf| start + leaf.offset_bytes).collect()
    }

    fn declare_bytes(&mut self, id: VarId, bytes: &[u8]) {
        let var = self.frame.var(id);
        let Home::Memory(object) = self.home(id) else {
            return;
        };
        self.at_access(var.span);
        let used = bytes
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |i| i + 1);
        let size = self.m.layout.size(&var.ty.ty);
        let is_long = size - used as u64 > MAX_SINGLE_ZEROS;
        if is_long {
            self.clear(object, &var.ty.ty);
        }
        let written = if is_long { used } else { bytes.len() };
        let pointer = self.b.addr_of(object);
        for (i, &byte) in bytes[..written].iter().enumerate() {
            let value = Const::i32(i32::from(byte as i8)).into();
            self.store_scalar(pointer, i as u64, Some(object), MemType::S8, value);
        }
    }

    /// The value of a whole variable in memory.
    pub(super) fn load_object(&mut self, object: Object, ty: &Ty) -> Vec<Operand> {
        let pointer = self.b.addr_of(object);
        self.load_memory(pointer, Some(object), &ty.clone().into())
    }
}
