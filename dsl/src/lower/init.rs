//! Declarations: the variable's first value.
//!
//! `T a[4] = {1, 2};` stores the named parts in order and zeros in the rest, one store per scalar. A long array is cleared first,
//! by a loop in a kernel and by `memset` on the host. A declaration without a value leaves the variable undefined.

use crate::{
    ir::{BinaryOp, CompareOp, Const, HostFn, MemType, Object, Operand, Type},
    sema::{
        ty::Ty,
        typed::{Init, Step, Storage, Value, VarId},
    },
};

use super::{
    function::{FunctionLowerer, Home},
    global,
    layout::Leaf,
};

/// Up to this many scalars are cleared one by one.
const MAX_SINGLE_ZEROS: u64 = 32;

impl FunctionLowerer<'_, '_> {
    pub(super) fn declare(&mut self, id: VarId, init: Option<&Init>) {
        let var = self.frame.var(id);
        if var.storage != Storage::Auto {
            // Shared memory has no initial value, but its place in the layout is that of the declaration.
            self.home(id);
            return;
        }
        match init {
            None => {}
            Some(Init::Value(value)) => {
                let leaves = self.leaves(value);
                self.at_access(var.span);
                self.define_var(id, leaves);
            }
            Some(Init::Parts { parts, .. }) if self.lives_in_slots(var) => {
                self.declare_leaves(id, parts);
            }
            Some(Init::Parts { zero_rest, parts }) => self.declare_parts(id, *zero_rest, parts),
            Some(Init::Bytes(bytes)) => self.declare_bytes(id, bytes),
        }
    }

    /// A variable in slots: all leaves are known, or zero.
    fn declare_leaves(&mut self, id: VarId, parts: &[(Vec<Step>, Value)]) {
        let var = self.frame.var(id);
        let all = self.m.layout.leaves(&var.ty.ty);
        let mut leaves = self.zeros(&var.ty.ty);
        for (steps, value) in parts {
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
        let part = |this: &Self, (steps, value): &(Vec<Step>, Value)| {
            let start = global::step_offset(this.m, ty, steps);
            (start, layout.leaves(&value.ty))
        };
        if zero_rest {
            self.at_access(var.span);
            if layout.leaf_count(ty) <= MAX_SINGLE_ZEROS {
                let covered: Vec<(u64, Vec<Leaf>)> =
                    parts.iter().map(|one| part(self, one)).collect();
                let is_covered = |leaf: &Leaf| {
                    covered.iter().any(|(start, leaves)| {
                        let mut offsets = leaves.iter().map(|part| start + part.offset_bytes);
                        offsets.any(|offset| offset == leaf.offset_bytes)
                    })
                };
                let mut rest = layout.leaves(ty);
                rest.retain(|leaf| !is_covered(leaf));
                let pointer = self.b.addr_of(object);
                for leaf in rest {
                    let zero = Const::zero(leaf.ty.value_type()).into();
                    self.store_scalar(pointer, leaf.offset_bytes, Some(object), leaf.ty, zero);
                }
            } else {
                self.clear(object, layout.size(ty), layout.align(ty));
            }
        }
        for one in parts {
            let operands = self.leaves(&one.1);
            let (start, leaves) = part(self, one);
            self.at_access(var.span);
            let pointer = self.b.addr_of(object);
            for (leaf, operand) in leaves.into_iter().zip(operands) {
                let offset = start + leaf.offset_bytes;
                self.store_scalar(pointer, offset, Some(object), leaf.ty, operand);
            }
        }
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
        let is_long = (bytes.len() - used) as u64 > MAX_SINGLE_ZEROS;
        if is_long {
            self.clear(object, bytes.len() as u64, 1);
        }
        let written = if is_long { used } else { bytes.len() };
        let pointer = self.b.addr_of(object);
        for (i, &byte) in bytes[..written].iter().enumerate() {
            let value = Const::i32(i32::from(byte as i8)).into();
            self.store_scalar(pointer, i as u64, Some(object), MemType::S8, value);
        }
    }

    /// Zeros a variable.
    fn clear(&mut self, object: Object, size_bytes: u64, align_bytes: u64) {
        let pointer = self.b.addr_of(object);
        if !self.is_device {
            let zero: Operand = Const::i32(0).into();
            let size = Const::i64(size_bytes as i64).into();
            self.b.host_call(HostFn::Memset, vec![pointer, zero, size]);
            return;
        }
        let ty = match align_bytes {
            1 => MemType::U8,
            2..4 => MemType::U16,
            4..8 => MemType::I32,
            _ => MemType::I64,
        };
        let step = i64::from(ty.bytes());
        let count = Const::i32((size_bytes / u64::from(ty.bytes())) as i32).into();
        let slot = self.b.slot("i", Type::I32);
        self.b.set(slot, Const::i32(0).into());
        let label = self.b.open_loop(None);
        let i = self.b.get(slot);
        let more = self.b.compare(CompareOp::Slt, i, count);
        self.b.open_if(more);
        self.b.open_else();
        self.b.break_to(label);
        self.b.close();
        let at = self.b.ptr_add(pointer, i, false, step, 0);
        let zero = Const::zero(ty.value_type()).into();
        self.store_scalar(at, 0, Some(object), ty, zero);
        self.b.open_step();
        let i = self.b.get(slot);
        let next = self.b.binary(BinaryOp::Add, i, Const::i32(1).into());
        self.b.set(slot, next);
        self.b.close();
    }

    /// What a whole variable in memory holds.
    pub(super) fn load_object(&mut self, object: Object, ty: &Ty) -> Vec<Operand> {
        let pointer = self.b.addr_of(object);
        self.load_memory(pointer, Some(object), &ty.clone().into())
    }
}
