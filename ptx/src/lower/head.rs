//! What a kernel is called with.

use ir::{Builder, LocId, MemType, Param, Slot, SlotId, Space, Type};

use rustc_hash::FxHashMap;

use super::{Part, Slots, Unit};
use crate::tree::{Function, Kind, Variable};

/// Name, bounds and parameters of a kernel.
pub(super) struct Head<'t> {
    pub(super) name: String,
    pub(super) loc: LocId,
    pub(super) launch_bounds: Option<(u32, Option<u32>)>,
    params: Vec<HeadParam<'t>>,
}

/// A parameter, or a part of one.
struct HeadParam<'t> {
    /// The PTX parameter's name, and the offset.
    part: (&'t str, i64),
    slot: Slot,
    /// Its type in memory.
    mem: MemType,
    /// As for [`ir::Param`]; its slot has no meaning here.
    param: Param,
}

impl<'t> Head<'t> {
    /// The head of a written kernel: its parameters are those of the entry, in order.
    pub(super) fn of_written(written: &ir::Function, entry: &Function<'t>) -> Head<'t> {
        let params = written.params.iter().zip(&entry.params);
        let params = params.map(|(param, variable)| HeadParam {
            part: (variable.name, 0),
            slot: written.slots[param.slot.index()].clone(),
            mem: memory_type(written.slots[param.slot.index()].ty),
            param: param.clone(),
        });
        Head {
            name: written.name.clone(),
            loc: written.loc,
            launch_bounds: written.launch_bounds,
            params: params.collect(),
        }
    }

    /// The head of a kernel whose parameters are parts of an entry's: their offsets and types in memory.
    pub(super) fn of_parts(
        kernel: &ir::Function,
        entry: &Function<'t>,
        parts: &[Vec<(u64, MemType)>],
    ) -> Head<'t> {
        let parts = entry
            .params
            .iter()
            .zip(parts)
            .flat_map(|(variable, parts)| {
                let own = parts.iter();
                own.map(|(offset, mem)| ((variable.name, *offset as i64), *mem))
            });
        let params = kernel.params.iter().zip(parts);
        let params = params.map(|(param, (part, mem))| HeadParam {
            part,
            slot: kernel.slots[param.slot.index()].clone(),
            mem,
            param: param.clone(),
        });
        Head {
            name: kernel.name.clone(),
            loc: kernel.loc,
            launch_bounds: kernel.launch_bounds,
            params: params.collect(),
        }
    }

    /// The type in memory of each part.
    pub(super) fn types(&self) -> FxHashMap<(&'t str, i64), MemType> {
        let all = self.params.iter();
        all.map(|param| (param.part, param.mem)).collect()
    }

    /// The head of an entry by itself: a parameter for each part of one that it reads. A part is a pointer if addresses are made from it.
    pub(super) fn of_entry(unit: &Unit<'_, 't>) -> Head<'t> {
        let entry = unit.function;
        let mut params = Vec::new();
        for variable in &entry.params {
            let mut parts: Vec<&Part<'t>> = unit.parts[0]
                .iter()
                .filter(|(name, ..)| *name == variable.name)
                .collect();
            parts.sort_by_key(|(_, offset, _)| *offset);
            let whole = (variable.name, 0, variable.ty);
            // A parameter that is not read is still passed.
            if parts.is_empty() {
                parts.push(&whole);
            }
            for &(name, offset, ty) in parts {
                let is_declared = variable.is_pointer && offset == 0;
                let is_pointer = is_declared || unit.registers.is_pointer_part((name, offset));
                // `ld.param.b32` of a `.f32`: the declaration says more.
                let ty = match (offset, variable.ty.bits == ty.bits) {
                    (0, true) => variable.ty,
                    _ => ty,
                };
                let (c_type, value) = match (is_pointer, ty.kind, ty.bits) {
                    (true, ..) => ("void *", Type::Ptr(Space::Generic)),
                    (_, Kind::Float, 32) => ("float", Type::F32),
                    (_, Kind::Float, 64) => ("double", Type::F64),
                    (_, Kind::Unsigned, 64) => ("unsigned long long", Type::I64),
                    (_, _, 64) => ("long long", Type::I64),
                    (_, Kind::Unsigned, 32) => ("unsigned", Type::I32),
                    (_, _, 32) => ("int", Type::I32),
                    (_, _, 16) => ("unsigned short", Type::I32),
                    _ => ("unsigned char", Type::I32),
                };
                let name = match offset {
                    0 => variable.name.to_string(),
                    _ => format!("{}+{offset}", variable.name),
                };
                params.push(HeadParam {
                    part: (variable.name, offset),
                    slot: Slot { name, ty: value },
                    mem: match ty.bits {
                        8 => MemType::U8,
                        16 => MemType::U16,
                        _ => memory_type(value),
                    },
                    param: Param {
                        slot: SlotId(0),
                        c_type: c_type.to_string(),
                        pointee: None,
                        is_const: false,
                        is_restrict: false,
                    },
                });
            }
        }
        let threads = entry
            .max_threads
            .and_then(|threads| u32::try_from(threads).ok());
        let blocks = entry
            .min_blocks
            .and_then(|blocks| u32::try_from(blocks).ok());
        Head {
            name: entry.name.to_string(),
            loc: LocId(0),
            launch_bounds: threads.map(|threads| (threads, blocks)),
            params,
        }
    }

    /// The parts of each parameter of an entry, with their offsets and types in memory.
    pub(super) fn parts(&self, entry: &Function<'t>) -> Vec<Vec<(u64, MemType)>> {
        let of = |variable: &Variable<'t>| {
            let own = self
                .params
                .iter()
                .filter(|param| param.part.0 == variable.name);
            own.map(|param| (param.part.1 as u64, param.mem)).collect()
        };
        entry.params.iter().map(of).collect()
    }

    /// Declares the parameters.
    pub(super) fn declare(&self, builder: &mut Builder) -> Slots<'t> {
        let mut slots = Slots::default();
        for HeadParam {
            part, slot, param, ..
        } in &self.params
        {
            // `infer_spaces` finds the spaces again.
            let ty = match slot.ty {
                Type::Ptr(_) => Type::Ptr(Space::Generic),
                other => other,
            };
            let slot = builder.param(
                &slot.name,
                ty,
                &param.c_type,
                param.pointee,
                param.is_const,
                param.is_restrict,
            );
            slots.insert(*part, slot);
        }
        slots
    }
}

/// The type in memory of a value with at least 32 bits.
fn memory_type(ty: Type) -> MemType {
    match ty {
        Type::I1 => MemType::Bool,
        Type::I32 => MemType::I32,
        Type::I64 => MemType::I64,
        Type::F32 => MemType::F32,
        Type::F64 => MemType::F64,
        Type::Ptr(_) => MemType::Ptr,
    }
}
