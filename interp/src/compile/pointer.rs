//! Compiles addresses of objects and pointer additions. An addition that is used only by accesses becomes part of them.

use ir::{Object, Type, ValueId};

use super::{Compiler, FusedPointer, Owned};
use crate::isa::bytecode::{Class, Place, PtrScale, S_FRAME};
use crate::isa::op::Op;
use crate::memory::layout;

impl Compiler<'_> {
    pub(super) fn addr_of(&mut self, object: Object, result: Option<ValueId>) {
        let Some(id) = result else { return };
        let place = match object {
            Object::Shared(shared) => {
                let var = &self.function.shared[shared.index()];
                let offset = self.code.memory.shared_offset(var);
                Place::S(self.constant(u64::from(layout::SHARED_BASE) + offset))
            }
            Object::Local(local) if self.host => {
                let offset = self.code.memory.local_offsets[local.index()];
                if let Place::S(d) = self.define(id) {
                    self.emit(Op::HostLocal, d, offset as u32, 0, 0);
                }
                return;
            }
            // The address of the frame.
            Object::Local(local) if self.routine.is_some() => {
                let offset = self.code.memory.local_offsets[local.index()];
                let offset = self.constant(u64::from(layout::LOCAL_BASE) + offset);
                if let Place::S(d) = self.define(id) {
                    self.emit(Op::SAdd32, d, S_FRAME, offset, 0);
                }
                return;
            }
            Object::Local(local) => {
                let offset = self.code.memory.local_offsets[local.index()];
                Place::S(self.constant(u64::from(layout::LOCAL_BASE) + offset))
            }
            Object::Global(_) | Object::String(_) => Place::S(self.symbol(object)),
        };
        self.values.places[id.index()] = Some(place);
    }

    pub(super) fn ptr_add(&mut self, pointer: FusedPointer, result: Option<ValueId>) {
        let Some(id) = result else { return };
        self.pointers.all.insert(id, pointer);
        if let Some(inner) = self.analyses.lifetimes.swapped[id.index()] {
            return self.add_uniform_part(id, pointer, inner);
        }
        if self.analyses.lifetimes.steps[id.index()] {
            return;
        }
        if self.analyses.lifetimes.fused[id.index()] {
            self.pointers.fused.insert(id, pointer);
            return;
        }
        let class = Class::of(self.function.values[id.index()]);
        let narrow = class == Class::W32;
        let wide_index = self.type_of(&pointer.index) == Type::I64;
        if !self.varies(id) {
            if let Place::S(d) = self.define(id) {
                self.scalar_pointer(pointer, d, class);
            }
            return;
        }
        self.code.scales.push(PtrScale {
            scale: pointer.scale,
            offset: pointer.offset,
        });
        let row = self.code.scales.len() as u32 - 1;
        let mut index = self.vector(&pointer.index);
        if narrow && wide_index {
            let short = self.temporary(Class::W32);
            self.emit(Op::VTrunc, short, index, 0, 0);
            index = short;
        }
        let (base, op) = match (self.place(&pointer.base), narrow, wide_index) {
            (Place::S(base), true, _) => (base, Op::VPtr32S),
            (Place::S(base), false, false) if pointer.unsigned => (base, Op::VPtrSU),
            (Place::S(base), false, false) => (base, Op::VPtrSS),
            (Place::S(_), false, true) => (self.vector(&pointer.base), Op::VPtrVL),
            (Place::V(base), true, _) => (base, Op::VPtr32V),
            (Place::V(base), false, true) => (base, Op::VPtrVL),
            (Place::V(base), false, false) if pointer.unsigned => (base, Op::VPtrVU),
            (Place::V(base), false, false) => (base, Op::VPtrVS),
        };
        if let Place::V(d) = self.define(id) {
            self.emit(op, d, base, index, row);
        }
    }

    /// `pointer` adds a uniform part to the pointer `inner`, whose index varies. The uniform part is added first, so
    /// that accesses through the sum compute the varying part.
    fn add_uniform_part(&mut self, id: ValueId, pointer: FusedPointer, inner: ValueId) {
        let inner = self.pointers.all[&inner];
        let class = Class::of(self.function.values[id.index()]);
        let offset = pointer.offset.wrapping_add(inner.offset);
        let fused = if class == Class::W32 && self.type_of(&pointer.index) == Type::I32 {
            FusedPointer {
                offset,
                step: Some((pointer.index, pointer.scale)),
                ..inner
            }
        } else {
            let sum = FusedPointer {
                base: inner.base,
                offset,
                ..pointer
            };
            let register = self.allocator.scalars.take(1);
            self.values.owned[id.index()] = Some(Owned::S(register));
            self.scalar_pointer(sum, register, class);
            FusedPointer {
                scalar: Some(register),
                offset: 0,
                ..inner
            }
        };
        self.pointers.fused.insert(id, fused);
    }

    /// A uniform pointer addition.
    pub(super) fn scalar_pointer(&mut self, pointer: FusedPointer, d: u32, class: Class) {
        let wide_index = self.type_of(&pointer.index) == Type::I64;
        let op = match (class == Class::W32, wide_index, pointer.unsigned) {
            (true, ..) => Op::SPtr32,
            (false, true, _) => Op::SPtrL,
            (false, false, true) => Op::SPtrU,
            (false, false, false) => Op::SPtrS,
        };
        let (base, index) = (self.scalar(&pointer.base), self.scalar(&pointer.index));
        self.code.scales.push(PtrScale {
            scale: pointer.scale,
            offset: pointer.offset,
        });
        let row = self.code.scales.len() as u32 - 1;
        self.emit(op, d, base, index, row);
    }
}
