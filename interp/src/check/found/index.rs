//! Recognises conflicts that are caused by an index: it omits a dimension, or a loop has too small a stride.

use std::collections::HashSet;

use ir::{BinaryOp, InstKind, Operand, SpecialReg};

use super::advice::Conflict;
use super::flow::Flow;
use crate::fault::finding::remedy::Remedy;
use crate::fault::trap::AccessOp;
use crate::inspect::listing::{At, access};
use crate::observe::Scene;
use crate::race::report::Side;

/// By axis.
const THREADS: [SpecialReg; 3] = [SpecialReg::TidX, SpecialReg::TidY, SpecialReg::TidZ];
const BLOCKS: [SpecialReg; 3] = [SpecialReg::CtaidX, SpecialReg::CtaidY, SpecialReg::CtaidZ];

impl Scene<'_> {
    /// What is wrong with the index of a statement, if two threads change each other's element.
    pub(super) fn wrong_index(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let Conflict { a, b, .. } = *conflict;
        let store = |side: &Side| self.counter(side.counter).op == AccessOp::Store;
        let (at_a, at_b) = (self.at(flow, a)?, self.at(flow, b)?);
        let place = |at: At| {
            let loc = self.module.loc(flow.inst(at).loc);
            (loc.line, &loc.text)
        };
        if place(at_a) != place(at_b) || place(at_a).1.is_empty() {
            return None;
        }
        let at = if store(a) { at_a } else { at_b };
        self.omits(flow, (a, b), at)
            .or_else(|| self.stride_of_block(flow, (a, b), at))
    }

    /// The threads differ in only one dimension, on which nothing in the statement depends.
    fn omits(&self, flow: &Flow<'_>, (a, b): (&Side, &Side), at: At) -> Option<Remedy> {
        let shape = self.shape;
        let [block_a, block_b] = [a, b].map(|side| shape.block_index(side.block));
        let [thread_a, thread_b] =
            [a, b].map(|side| shape.thread_index(side.warp as usize, side.lane));
        let one = |a: [u32; 3], b: [u32; 3]| {
            let mut axes = (0..3).filter(|&axis| a[axis] != b[axis]);
            axes.next().filter(|_| axes.next().is_none())
        };
        let reg = match (block_a == block_b, thread_a == thread_b) {
            (true, false) => THREADS[one(thread_a, thread_b).filter(|&axis| axis > 0)?],
            (false, true) => BLOCKS[one(block_a, block_b)?],
            _ => return None,
        };
        let used = flow.registers(at);
        (used.contains(&SpecialReg::TidX) && !used.contains(&reg)).then(|| Remedy::IndexOmits {
            line: self.line(flow.inst(at).loc),
            what: reg.source(),
        })
    }

    /// A loop whose variable begins with the thread's index among all blocks, and whose stride is the size of one
    /// block.
    fn stride_of_block(&self, flow: &Flow<'_>, (a, b): (&Side, &Side), at: At) -> Option<Remedy> {
        if a.block == b.block {
            return None;
        }
        let back = flow.common_loop(at, at)?;
        flow.steps(at, back).into_iter().find_map(|(set, step)| {
            let used = flow.registers_of(vec![step]);
            let is_block = used.contains(&SpecialReg::NtidX)
                && !used.contains(&SpecialReg::NctaidX)
                && flow.registers(at).contains(&SpecialReg::CtaidX);
            let line = self.line(flow.inst(set).loc);
            (is_block && line != 0).then_some(Remedy::StrideOfBlock { line })
        })
    }
}

impl Flow<'_> {
    /// The registers that an access depends on: its address, its value, and whether it is made.
    fn registers(&self, at: At) -> HashSet<SpecialReg> {
        let Some((_, ptr, values)) = access(&self.inst(at).kind) else {
            return HashSet::new();
        };
        let start = values.iter().copied().chain([ptr]);
        self.registers_of(start.chain(self.conditions(at)).collect())
    }

    /// The registers that operands depend on, also through memory that is read.
    fn registers_of(&self, start: Vec<Operand>) -> HashSet<SpecialReg> {
        let (mut seen, mut used, mut left) = (HashSet::new(), HashSet::new(), start);
        while !left.is_empty() {
            let behind = self.behind(std::mem::take(&mut left));
            for at in behind.into_iter().filter(|&at| seen.insert(at)) {
                match &self.inst(at).kind {
                    InstKind::Special(reg) => _ = used.insert(*reg),
                    kind => left.extend(access(kind).map(|(_, ptr, _)| ptr)),
                }
            }
        }
        used
    }

    /// Where the loop at a place adds to a variable that an access depends on, and the operand.
    fn steps(&self, at: At, back: ir::LocId) -> Vec<(At, Operand)> {
        let Some((_, ptr, _)) = access(&self.inst(at).kind) else {
            return vec![];
        };
        let mut all = vec![];
        for (set, inst) in self.insts().filter(|&(set, _)| self.is_in(set, back)) {
            let InstKind::Set(slot, value) = &inst.kind else {
                continue;
            };
            let Some(InstKind::Binary(op, _, a, b)) = self.made_by(*value) else {
                continue;
            };
            let is_it = |operand: Operand| matches!(self.made_by(operand), Some(InstKind::Get(of)) if of == slot);
            if op.wrapping() == BinaryOp::Add && is_it(*a) && self.follows(ptr, *slot) {
                all.push((set, *b));
            }
        }
        all
    }
}
