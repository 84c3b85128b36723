//! What a kernel is called with.

use ir::{Builder, LocId, Param, Slot, SlotId, Space, Type};

use super::{Part, Slots, Unit};
use crate::tree::{Function, Kind};

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
            param: param.clone(),
        });
        Head {
            name: written.name.clone(),
            loc: written.loc,
            launch_bounds: written.launch_bounds,
            params: params.collect(),
        }
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

    /// Declares the parameters.
    pub(super) fn declare(&self, builder: &mut Builder) -> Slots<'t> {
        let mut slots = Slots::default();
        for HeadParam { part, slot, param } in &self.params {
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
