//! Accesses: their address form, their counters, the registers of their values.

use dsl::ir::{Access, AtomicOp, Const, MemType, Object, Operand, Space, Type, ValueId};

use super::{Compiler, FusedPointer, lifetimes};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, CounterSite, Form, MemSite, Op, Place, Subscript};
use crate::isa::effects::Root;

impl Compiler<'_> {
    /// The site without its values, and the registers `a` and `b` of its address.
    fn site(&mut self, op: AccessOp, access: &Access, ptr: &Operand) -> (MemSite, u32, u32) {
        let fused = match ptr {
            Operand::Value(id) => self.fused.get(id).copied(),
            Operand::Const(_) => None,
        };
        let mut pointer = fused.unwrap_or(FusedPointer {
            base: *ptr,
            index: Operand::Const(Const::i32(0)),
            unsigned: false,
            scale: 0,
            offset: 0,
            step: None,
            scalar: None,
        });
        // A step is the last index then, else it belongs to an earlier one.
        let step_is_last = pointer.step.is_some();
        if let Operand::Value(id) = pointer.base
            && self.lifetimes.steps[id.index()]
        {
            let inner = self.pointers[&id];
            pointer.base = inner.base;
            pointer.step = Some((inner.index, inner.scale));
            pointer.offset = pointer.offset.wrapping_add(inner.offset);
        }
        if let Some((step, scale)) = pointer.step
            && let Some(constant) = lifetimes::constant(&step)
        {
            let bytes = i64::from(constant.bits as i32).wrapping_mul(scale);
            pointer.offset = pointer.offset.wrapping_add(bytes);
            pointer.step = None;
        }
        let (index, added) = match pointer.index {
            Operand::Value(id) => match self.lifetimes.sums[id.index()] {
                Some((varying, uniform)) => (varying, Some(uniform)),
                None => (pointer.index, None),
            },
            Operand::Const(_) => (pointer.index, None),
        };
        let mut base = match pointer.scalar {
            Some(register) => Place::S(register),
            None => self.place(&pointer.base),
        };
        let (term, term_scale) = match (pointer.step, added) {
            (None, None) => (self.constant(0), 0),
            (Some((step, scale)), None) => (self.scalar(&step), scale),
            (None, Some(added)) => (self.scalar(&added), pointer.scale),
            // One term is all a site has.
            (Some((step, scale)), Some(added)) => {
                let sum = FusedPointer {
                    index: step,
                    scale,
                    offset: 0,
                    ..pointer
                };
                let register = self.scalar_temporary();
                self.scalar_pointer(sum, register, Class::W32);
                base = Place::S(register);
                (self.scalar(&added), pointer.scale)
            }
        };
        let mut offset = pointer.offset;
        let index = match lifetimes::constant(&index) {
            Some(constant) => {
                let value = match constant.ty {
                    Type::I64 => constant.bits as i64,
                    _ if pointer.unsigned => i64::from(constant.bits as u32),
                    _ => i64::from(constant.bits as i32),
                };
                offset = offset.wrapping_add(value.wrapping_mul(pointer.scale));
                None
            }
            None => Some(self.vector(&index)),
        };
        let (form, a, b) = match (base, index) {
            (Place::S(a), None) => (Form::Uniform, a, 0),
            (Place::S(a), Some(b)) => (Form::UniformIndexed, a, b),
            (Place::V(a), None) => (Form::Varying, a, 0),
            (Place::V(a), Some(b)) => (Form::VaryingIndexed, a, b),
        };
        let varying = matches!(form, Form::UniformIndexed | Form::VaryingIndexed).then_some(b);
        // With a scalar base, the last index is in that.
        let at_hand =
            fused.is_some() && pointer.scalar.is_none() && access.row_len != 0 && !self.host;
        let subscript = match (at_hand, step_is_last) {
            (false, _) => None,
            (true, true) => {
                (pointer.step.is_some() && added.is_none()).then_some((None, Some(term)))
            }
            (true, false) => varying.map(|varying| (Some(varying), added.map(|_| term))),
        };
        let subscript = match subscript {
            Some((varying, uniform)) => Some(Subscript {
                varying,
                uniform,
                is_long: false,
                len: access.row_len,
            }),
            None if access.row_len != 0 => self.last_index(ptr, access.row_len),
            None => None,
        };
        let spaces: &[Space] = match access.space {
            Space::Generic => &[Space::Global, Space::Shared, Space::Local],
            Space::Global => &[Space::Global],
            Space::Shared => &[Space::Shared],
            Space::Constant => &[Space::Constant],
            Space::Local => &[Space::Local],
        };
        let counter = self.code.counters.len() as u32;
        let width_bytes = access.width_bytes();
        for &space in spaces {
            self.code.counters.push(CounterSite {
                loc: self.loc,
                space,
                op,
                width_bytes,
                block_scope: access.block_scope,
            });
        }
        let root = match ptr {
            Operand::Value(id) => self.code.effects.roots.get(id).copied(),
            Operand::Const(_) => None,
        };
        let site = MemSite {
            row: 0,
            op,
            access: *access,
            width_bytes,
            form,
            unsigned: pointer.unsigned,
            scale: pointer.scale,
            offset,
            term,
            term_scale,
            counter,
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
                _ => None,
            },
            bounds: access.object.and_then(|object| self.bounds(object)),
            atomic: None,
            result: 0,
        };
        (site, a, b)
    }

    /// The last index that went into a pointer, which `lifetimes` keeps alive for its accesses.
    fn last_index(&mut self, ptr: &Operand, len: u32) -> Option<Subscript> {
        let Operand::Value(id) = ptr else {
            return None;
        };
        let index = self.pointers.get(id)?.index;
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

    /// Where a shared or local object lies, as an offset in its space. Objects of the module are checked by their regions.
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

    /// The register of a value to be stored: varying, but for truth values.
    fn stored(&mut self, ty: MemType, value: &Operand) -> u32 {
        if self.host || ty == MemType::Bool {
            self.scalar(value)
        } else {
            self.vector(value)
        }
    }

    pub(super) fn store(&mut self, access: &Access, ptr: &Operand, values: &[Operand]) {
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

    /// Host accesses go by one address; a fused pointer has been folded into the site's offset, or computed.
    fn host_access(&mut self, site: MemSite, op: Op, a: u32) {
        let d = site.values[0];
        let row = self.code.sites.len() as u32;
        self.code.sites.push(MemSite { row, ..site });
        self.emit(op, d, a, 0, row);
    }
}
