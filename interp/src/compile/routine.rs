//! Lays out routines: where their code begins, and the separate registers and local memory of each call.
//!
//! A routine's code is part of the kernel's, so that sites, counters and places are numbered once. A routine has
//! separate registers: those of its variables, and a run of each file that is used for nothing else. A call from a
//! routine saves its caller's registers, because the caller may be entered again before the call ends.

use std::ops::Range;

use ir::{Block, Function, InstKind, LocalId, Node, Object, Operand, RoutineId, ValueId};

use super::{Compiler, control::Frame};
use crate::isa::bytecode::{Class, Move, Place, RoutineCall, RoutineRow};
use crate::isa::op::Op;

/// The routine that each local variable belongs to; `None`: the kernel.
pub(super) fn owners(function: &Function) -> Vec<Option<RoutineId>> {
    let mut owners = vec![None; function.locals.len()];
    for node in &function.body.0 {
        let Node::Routine { id, body } = node else {
            break;
        };
        let mut own = |local: LocalId| owners[local.index()] = Some(*id);
        body.for_each_inst(&mut |inst| {
            match inst.kind {
                InstKind::AddrOf(Object::Local(local)) | InstKind::Lifetime(local, _) => own(local),
                _ => {}
            }
            if let Some((access, _)) = inst.kind.access()
                && let Some(Object::Local(local)) = access.object
            {
                own(local);
            }
        });
    }
    owners
}

impl Compiler<'_> {
    /// Fills the table of routines, with the local memory of a call of each. Each routine's variables also get offsets
    /// after those of the kernel; a call adds the address of its frame.
    pub(super) fn layout_routines(&mut self, owners: &[Option<RoutineId>], mut offset: u64) {
        for (index, _) in self.function.routines.iter().enumerate() {
            let own = |local: usize| owners[local].is_some_and(|id| id.index() == index);
            let locals = self.function.locals.iter().enumerate();
            let locals: Vec<_> = locals.filter(|(local, _)| own(*local)).collect();
            let aligns = locals.iter().map(|(_, var)| var.align_bytes);
            let align_bytes = aligns.max().unwrap_or(1).max(16);
            offset = offset.next_multiple_of(align_bytes);
            let start = offset;
            for (local, var) in locals {
                offset = offset.next_multiple_of(var.align_bytes.max(1));
                self.code.memory.local_offsets[local] = offset;
                offset += var.size_bytes;
            }
            offset = offset.next_multiple_of(align_bytes);
            self.code.routines.rows.push(RoutineRow {
                local_start: start,
                local_bytes: offset - start,
                align_bytes,
                ..RoutineRow::default()
            });
        }
    }

    /// A routine's code, and a jump over it.
    pub(super) fn routine_node(&mut self, id: RoutineId, body: &Block) {
        let over = self.control(Op::Jump, 0, 0, 0);
        let frames = std::mem::replace(&mut self.frames, vec![Frame::function()]);
        self.routine = Some(id);
        let (scalar, unit) = (self.allocator.scalars.len(), self.allocator.units.len());
        let own = self.allocator.behind();
        let kernels = std::mem::replace(&mut self.allocator, own);
        let entry = self.next_pc();
        // A warp that yields here is not at the head of a loop.
        self.control(Op::Tick, 0, 0, 0);
        self.block(body);
        let frame = self.frames.pop().expect("the routine's");
        self.loc = self.function.routines[id.index()].loc;
        self.tick();
        self.bind(frame.exits);
        self.control(Op::EndRoutine, 0, 0, 0);
        let mut row = std::mem::take(&mut self.code.routines.rows[id.index()]);
        row.entry = entry;
        row.scalars.push(scalar..self.allocator.scalars.len());
        row.units.push(unit..self.allocator.units.len());
        self.keep_slots(body, id, &mut row);
        self.code.routines.rows[id.index()] = row;
        self.allocator = kernels.going_on_behind(&self.allocator);
        self.frames = frames;
        self.routine = None;
        self.bind(vec![over]);
    }

    /// The registers of a routine's variables.
    fn keep_slots(&self, body: &Block, id: RoutineId, row: &mut RoutineRow) {
        let routine = &self.function.routines[id.index()];
        let declared = routine.params.iter().chain(&routine.results);
        let mut slots: Vec<usize> = declared.map(|slot| slot.index()).collect();
        body.for_each_inst(&mut |inst| {
            if let InstKind::Get(slot) | InstKind::Set(slot, _) = inst.kind {
                slots.push(slot.index());
            }
        });
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            match self.slots.places[slot] {
                Place::S(at) => extend(&mut row.scalars, at..at + 1),
                Place::V(at) => {
                    let class = Class::of(self.function.slots[slot].ty);
                    extend(&mut row.units, at..at + class.units());
                }
            }
        }
    }

    /// Compiles `call R0(…)`, which runs in the active lanes.
    pub(super) fn call_routine(
        &mut self,
        callee: RoutineId,
        args: &[Operand],
        results: &[ValueId],
    ) {
        let routine = &self.function.routines[callee.index()];
        let mut row = RoutineCall {
            caller: self.routine.map(|id| id.0),
            callee: callee.0,
            args: Vec::new(),
            results: Vec::new(),
        };
        for (arg, slot) in args.iter().zip(&routine.params) {
            row.args.push(Move {
                from: self.place(arg),
                to: self.slots.places[slot.index()],
                class: Class::of(self.function.slots[slot.index()].ty),
            });
        }
        for (&id, slot) in results.iter().zip(&routine.results) {
            row.results.push(Move {
                from: self.slots.places[slot.index()],
                to: self.define(id),
                class: Class::of(self.function.slots[slot.index()].ty),
            });
        }
        self.code.routines.calls.push(row);
        let row = self.code.routines.calls.len() as u32 - 1;
        let at = self.control(Op::CallRoutine, 0, row, 0);
        self.park_target(at);
    }
}

/// Adds a range, or extends the last one if it is adjacent.
fn extend(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
