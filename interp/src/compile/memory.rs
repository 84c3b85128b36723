//! Compiles accesses: the form of their address, their counters, and the registers of their values.

use std::collections::HashSet;

use ir::{
    Access, AtomicOp, Const, Function, LocId, MemType, Object, Operand, Space, Type, ValueId,
};

use super::{Compiler, FusedPointer, array, lifetimes};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{
    Address, Class, CounterSite, Form, MemSite, Place, Subscript, V_FREE, V_TID,
};
use crate::isa::effects::Root;
use crate::isa::op::Op;

/// A pointer in the form that its accesses compute.
struct Pointer {
    sum: FusedPointer,
    /// The uniform part of the index.
    added: Option<Operand>,
    /// Whether it is a sum; otherwise `sum` is only its value.
    is_fused: bool,
    /// Whether the step is the last index; otherwise it belongs to an earlier one.
    step_is_last: bool,
}

/// The counters of an access: a generic access has one for each space.
fn counters(loc: LocId, op: AccessOp, access: &Access) -> impl Iterator<Item = CounterSite> {
    let spaces: &[Space] = match access.space {
        Space::Generic => &[Space::Global, Space::Shared, Space::Local],
        Space::Global => &[Space::Global],
        Space::Shared => &[Space::Shared],
        Space::Constant => &[Space::Constant],
        Space::Local => &[Space::Local],
    };
    let (width_bytes, block_scope) = (access.width_bytes(), access.block_scope);
    spaces.iter().map(move |&space| CounterSite {
        loc,
        space,
        op,
        width_bytes,
        block_scope,
    })
}

impl Compiler<'_> {
    /// The site without its values, and the registers `a` and `b` of its address.
    fn site(&mut self, op: AccessOp, access: &Access, ptr: &Operand) -> (MemSite, u32, u32) {
        let pointer = self.pointer(ptr);
        let (address, registers, subscript) = self.address(&pointer, access);
        let subscript = match subscript {
            None if access.row_len != 0 => self.last_index(ptr, access.row_len),
            subscript => subscript,
        };
        let root = match ptr {
            Operand::Value(id) => self.code.effects.roots.get(id).copied(),
            Operand::Const(_) => None,
        };
        let site = MemSite {
            row: 0,
            op,
            access: *access,
            width_bytes: access.width_bytes(),
            address,
            counter: self.counter(op, access),
            values: [0; 4],
            uniform_values: false,
            subscript,
            root,
            frozen: match root {
                _ if op != AccessOp::Load => None,
                _ if access.read_only => Some(true),
                Some(Root::Param(number)) => {
                    let param = &self.function.params[number as usize];
                    (param.is_const && param.is_restrict && !access.volatile).then_some(false)
                }
                Some(Root::Global(_)) | None => None,
            },
            bounds: access.object.and_then(|object| self.bounds(object)),
            atomic: None,
            result: 0,
        };
        let (a, b) = registers;
        (site, a, b)
    }

    /// A pointer in the form that its accesses compute.
    fn pointer(&self, ptr: &Operand) -> Pointer {
        let fused = match ptr {
            Operand::Value(id) => self.pointers.fused.get(id).copied(),
            Operand::Const(_) => None,
        };
        let mut sum = fused.unwrap_or(FusedPointer {
            base: *ptr,
            index: Operand::Const(Const::i32(0)),
            unsigned: false,
            scale: 0,
            offset: 0,
            step: None,
            scalar: None,
        });
        let step_is_last = sum.step.is_some();
        if let Operand::Value(id) = sum.base
            && self.analyses.lifetimes.steps[id.index()]
        {
            let inner = self.pointers.all[&id];
            sum.base = inner.base;
            sum.step = Some((inner.index, inner.scale));
            sum.offset = sum.offset.wrapping_add(inner.offset);
        }
        if let Some((step, scale)) = sum.step
            && let Some(constant) = lifetimes::constant(&step)
        {
            let bytes = i64::from(constant.bits as i32).wrapping_mul(scale);
            sum.offset = sum.offset.wrapping_add(bytes);
            sum.step = None;
        }
        let mut added = None;
        while let Operand::Value(id) = sum.index
            && added.is_none()
            && let Some((varying, uniform)) = self.analyses.lifetimes.sums[id.index()]
        {
            sum.index = varying;
            match lifetimes::constant(&uniform) {
                Some(constant) if self.analyses.lifetimes.shifts[id.index()] => {
                    let bytes = i64::from(constant.bits as i32).wrapping_mul(sum.scale);
                    sum.offset = sum.offset.wrapping_add(bytes);
                }
                _ => added = Some(uniform),
            }
        }
        Pointer {
            sum,
            added,
            is_fused: fused.is_some(),
            step_is_last,
        }
    }

    /// The form and terms of the address, its registers, and the subscript if these contain it.
    fn address(
        &mut self,
        pointer: &Pointer,
        access: &Access,
    ) -> (Address, (u32, u32), Option<Subscript>) {
        let Pointer { sum, added, .. } = *pointer;
        let (base, term, term_scale) = self.base_and_term(pointer);
        let mut offset = sum.offset;
        let index = match lifetimes::constant(&sum.index) {
            Some(constant) => {
                let value = match constant.ty {
                    Type::I64 => constant.bits as i64,
                    _ if sum.unsigned => i64::from(constant.bits as u32),
                    _ => i64::from(constant.bits as i32),
                };
                offset = offset.wrapping_add(value.wrapping_mul(sum.scale));
                None
            }
            None => Some(self.vector(&sum.index)),
        };
        let (form, a, b) = match (base, index) {
            (Place::S(a), None) => (Form::Uniform, a, 0),
            (Place::S(a), Some(b)) => (Form::UniformIndexed, a, b),
            (Place::V(a), None) => (Form::Varying, a, 0),
            (Place::V(a), Some(b)) => (Form::VaryingIndexed, a, b),
        };
        let address = Address {
            form,
            unsigned: sum.unsigned,
            is_of_thread: form == Form::UniformIndexed && (V_TID..V_FREE).contains(&b),
            scale: sum.scale,
            offset,
            term,
            term_scale,
        };
        // With a scalar base, the base contains the last index.
        let at_hand = pointer.is_fused && sum.scalar.is_none() && access.row_len != 0 && !self.host;
        let registers = match (at_hand, pointer.step_is_last) {
            (false, _) => None,
            (true, true) => (sum.step.is_some() && added.is_none()).then_some((None, Some(term))),
            (true, false) => index.map(|varying| (Some(varying), added.map(|_| term))),
        };
        let subscript = registers.map(|(varying, uniform)| Subscript {
            varying,
            uniform,
            is_long: false,
            len: access.row_len,
        });
        (address, (a, b), subscript)
    }

    /// The base of a pointer, and the register and scale of its uniform term.
    fn base_and_term(&mut self, pointer: &Pointer) -> (Place, u32, i64) {
        let Pointer { sum, added, .. } = *pointer;
        let base = match sum.scalar {
            Some(register) => Place::S(register),
            None => self.place(&sum.base),
        };
        match (sum.step, added) {
            (None, None) => (base, self.constant(0), 0),
            (Some((step, scale)), None) => (base, self.scalar(&step), scale),
            (None, Some(added)) => (base, self.scalar(&added), sum.scale),
            // A site has only one term.
            (Some((step, scale)), Some(added)) => {
                let inner = FusedPointer {
                    index: step,
                    scale,
                    offset: 0,
                    ..sum
                };
                let register = self.scalar_temporary();
                self.scalar_pointer(inner, register, Class::W32);
                (Place::S(register), self.scalar(&added), sum.scale)
            }
        }
    }

    /// The first counter of an access: a generic access has one for each space.
    fn counter(&mut self, op: AccessOp, access: &Access) -> u32 {
        let next = self.code.counters.len() as u32;
        if let Some(known) = &mut self.arrays.counters {
            let place = CounterSite {
                loc: self.loc,
                space: access.space,
                op,
                width_bytes: access.width_bytes(),
                block_scope: access.block_scope,
            };
            let first = *known.entry(place).or_insert(next);
            if first < next {
                return first;
            }
        }
        self.code.counters.extend(counters(self.loc, op, access));
        next
    }

    /// Adds counters for source accesses without one, because unrolling has shown that they never run. They count 0.
    pub(super) fn count_the_rest(&mut self, source: &Function) {
        let mut have: HashSet<CounterSite> = self.code.counters.iter().copied().collect();
        source.body.for_each_inst(&mut |inst| {
            let Some((access, _)) = inst.kind.access() else {
                return;
            };
            let op = AccessOp::of(&inst.kind);
            let new = counters(inst.loc, op, access).filter(|counter| have.insert(*counter));
            self.code.counters.extend(new);
        });
    }

    /// The last index added to a pointer, which `lifetimes` keeps alive for its accesses.
    fn last_index(&mut self, ptr: &Operand, len: u32) -> Option<Subscript> {
        let Operand::Value(id) = ptr else {
            return None;
        };
        let index = self.pointers.all.get(id)?.index;
        if lifetimes::constant(&index).is_some() {
            return None;
        }
        let (varying, uniform) = match self.place(&index) {
            Place::S(register) => (None, Some(register)),
            Place::V(register) => (Some(register), None),
        };
        Some(Subscript {
            varying,
            uniform,
            is_long: self.type_of(&index) == Type::I64,
            len,
        })
    }

    /// The offset and size of a shared or local object in its space. Module objects are checked by their regions.
    fn bounds(&self, object: Object) -> Option<(u64, u64)> {
        match object {
            Object::Shared(id) => {
                let var = &self.function.shared[id.index()];
                (!var.dynamic).then_some((var.offset_bytes, var.size_bytes))
            }
            Object::Local(id) => Some((
                self.code.memory.local_offsets[id.index()],
                self.function.locals[id.index()].size_bytes,
            )),
            Object::Global(_) | Object::String(_) => None,
        }
    }

    /// A site without an address, which counts accesses to registers.
    pub(super) fn counting_site(&mut self, op: AccessOp, access: &Access) -> u32 {
        let site = MemSite {
            row: self.code.sites.len() as u32,
            op,
            access: *access,
            width_bytes: access.width_bytes(),
            address: Address {
                form: Form::Uniform,
                unsigned: false,
                is_of_thread: false,
                scale: 0,
                offset: 0,
                term: self.constant(0),
                term_scale: 0,
            },
            counter: self.counter(op, access),
            values: [0; 4],
            uniform_values: false,
            root: None,
            frozen: None,
            bounds: None,
            subscript: None,
            atomic: None,
            result: 0,
        };
        self.code.sites.push(site);
        self.code.sites.len() as u32 - 1
    }

    fn emit_site(&mut self, site: MemSite, kind: [Op; 4], d: u32, a: u32, b: u32) {
        let op = match site.access.space {
            Space::Shared => kind[0],
            Space::Global | Space::Constant => kind[1],
            Space::Local => kind[2],
            Space::Generic => kind[3],
        };
        let row = self.code.sites.len() as u32;
        self.code.sites.push(MemSite { row, ..site });
        self.emit(op, d, a, b, row);
    }

    pub(super) fn load(&mut self, access: &Access, ptr: &Operand, results: &[ValueId]) {
        if let Some((local, word)) = array::element(access, ptr) {
            return self.load_registers(access, self.arrays.units[&local] + word, results);
        }
        let (mut site, a, b) = self.site(AccessOp::Load, access, ptr);
        for (value, &id) in site.values.iter_mut().zip(results) {
            *value = match self.define(id) {
                Place::S(register) | Place::V(register) => register,
            };
        }
        site.uniform_values = results.first().is_some_and(|&id| !self.varies(id));
        if self.host {
            return self.host_access(site, Op::HostLoad, a);
        }
        let d = site.values[0];
        self.emit_site(
            site,
            [
                Op::LoadShared,
                Op::LoadGlobal,
                Op::LoadLocal,
                Op::LoadGeneric,
            ],
            d,
            a,
            b,
        );
    }

    /// The register of a value to store: varying, except for truth values.
    fn stored(&mut self, ty: MemType, value: &Operand) -> u32 {
        if self.host || ty == MemType::Bool {
            self.scalar(value)
        } else {
            self.vector(value)
        }
    }

    pub(super) fn store(&mut self, access: &Access, ptr: &Operand, values: &[Operand]) {
        if let Some((local, word)) = array::element(access, ptr) {
            return self.store_registers(access, self.arrays.units[&local] + word, values);
        }
        let (mut site, a, b) = self.site(AccessOp::Store, access, ptr);
        for (register, value) in site.values.iter_mut().zip(values) {
            *register = self.stored(access.ty, value);
        }
        if self.host {
            return self.host_access(site, Op::HostStore, a);
        }
        let d = site.values[0];
        self.emit_site(
            site,
            [
                Op::StoreShared,
                Op::StoreGlobal,
                Op::StoreLocal,
                Op::StoreGeneric,
            ],
            d,
            a,
            b,
        );
    }

    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        access: &Access,
        ptr: &Operand,
        value: &Operand,
        compare: Option<&Operand>,
        result: Option<ValueId>,
    ) {
        let (mut site, a, b) = self.site(AccessOp::Atomic, access, ptr);
        site.values[0] = self.stored(access.ty, value);
        let compare = compare.map_or(site.values[0], |compare| self.stored(access.ty, compare));
        site.atomic = Some((op, compare));
        site.result = match result.map(|id| self.define(id)) {
            Some(Place::S(register) | Place::V(register)) => register,
            None if self.host => self.scalar_temporary(),
            None => self.temporary(Class::of(access.ty.value_type())),
        };
        if self.host {
            return self.host_access(site, Op::HostAtomic, a);
        }
        let d = site.result;
        self.emit_site(
            site,
            [
                Op::AtomicShared,
                Op::AtomicGlobal,
                Op::AtomicLocal,
                Op::AtomicGeneric,
            ],
            d,
            a,
            b,
        );
    }

    /// Host accesses have one address. A fused pointer has been folded into the site's offset, or computed.
    fn host_access(&mut self, site: MemSite, op: Op, a: u32) {
        let d = site.values[0];
        let row = self.code.sites.len() as u32;
        self.code.sites.push(MemSite { row, ..site });
        self.emit(op, d, a, 0, row);
    }
}
