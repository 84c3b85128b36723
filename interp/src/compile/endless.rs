//! Finds loops that can be recognised as endless: whether the loop is left depends on nothing that it changes, or only
//! on variables whose next values follow from their present ones. If these return to earlier values, so does every
//! decision.
//!
//! Memory, other lanes and the clock do not qualify, so a loop that depends on them is not among these.

use std::collections::{HashMap, HashSet};

use ir::{
    Block, CompareOp, Function, FunctionKind, Inst, InstKind, LabelId, LocId, Node, Operand,
    SlotId, SpecialReg, ValueId,
};

/// A loop that never ends once these variables have the same values at its head as before.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    /// The loop's place.
    pub(super) loc: LocId,
    /// If empty, it never ends once one iteration has ended.
    pub(super) slots: Vec<SlotId>,
}

/// The contents of a loop.
#[derive(Default)]
struct Within {
    values: HashSet<ValueId>,
    /// By variable: the values it is set to, and their conditions.
    sets: HashMap<SlotId, Vec<(Operand, Vec<Operand>)>>,
    /// Breaks, continues and returns (`None`), with their conditions and the loops and scopes around them within the
    /// loop.
    jumps: Vec<(Option<LabelId>, Vec<Operand>, Vec<LabelId>)>,
    /// The loops and scopes in it.
    labels: HashSet<LabelId>,
    conditions: Vec<Operand>,
    around: Vec<LabelId>,
}

impl Within {
    fn block(&mut self, block: &Block) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => {
                    self.values.extend(&inst.results);
                    if let InstKind::Set(slot, value) = inst.kind {
                        let setting = (value, self.conditions.clone());
                        self.sets.entry(slot).or_default().push(setting);
                    }
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    ..
                } => {
                    self.conditions.push(*cond);
                    self.block(then);
                    self.block(otherwise);
                    self.conditions.pop();
                }
                Node::Loop {
                    label, body, step, ..
                } => {
                    self.labels.insert(*label);
                    self.around.push(*label);
                    self.block(body);
                    self.block(step);
                    self.around.pop();
                }
                Node::Scope { label, body, .. } => {
                    self.labels.insert(*label);
                    self.around.push(*label);
                    self.block(body);
                    self.around.pop();
                }
                Node::Routine { body, .. } => self.block(body),
                Node::Break(label) | Node::Continue(label) => self.jump(Some(*label)),
                Node::Return(_) => self.jump(None),
            }
        }
    }

    fn jump(&mut self, to: Option<LabelId>) {
        let (conditions, around) = (self.conditions.clone(), self.around.clone());
        self.jumps.push((to, conditions, around));
    }

    /// The variables of the loop that these conditions depend on; `None` if they depend on something else that may
    /// change.
    fn closure(
        &self,
        start: Vec<Operand>,
        defs: &HashMap<ValueId, &Inst>,
    ) -> Option<HashSet<SlotId>> {
        let (mut slots, mut seen, mut left) = (HashSet::new(), HashSet::new(), start);
        while let Some(operand) = left.pop() {
            // A value from before the loop does not change.
            let id = operand.value().filter(|id| self.values.contains(id));
            let Some(id) = id.filter(|&id| seen.insert(id)) else {
                continue;
            };
            match &defs.get(&id)?.kind {
                InstKind::Get(slot) => {
                    let sets = self.sets.get(slot).map_or(&[][..], Vec::as_slice);
                    if !sets.is_empty() && slots.insert(*slot) {
                        for (value, conditions) in sets {
                            left.push(*value);
                            left.extend(conditions);
                        }
                    }
                }
                // Always true or always false.
                InstKind::Compare(CompareOp::Uge | CompareOp::Ult, _, _, Operand::Const(zero))
                    if zero.bits == 0 => {}
                InstKind::Special(
                    SpecialReg::Clock
                    | SpecialReg::Clock64
                    | SpecialReg::GlobalTimer
                    | SpecialReg::ActiveMask,
                ) => return None,
                InstKind::Special(_) | InstKind::AddrOf(_) => {}
                InstKind::PtrAdd { base, index, .. } => left.extend([*base, *index]),
                kind if kind.is_scalar_op() => left.extend(kind.operands()),
                _ => return None,
            }
        }
        Some(slots)
    }
}

/// Analyses all loops of a kernel.
pub(super) fn analyse(function: &Function) -> Vec<Closed> {
    let mut found = Vec::new();
    if function.kind != FunctionKind::Kernel {
        return found;
    }
    let mut defs = HashMap::new();
    function.body.for_each_inst(&mut |inst| {
        defs.extend(inst.results.iter().map(|&result| (result, inst)));
    });
    let mut places = HashMap::new();
    loops(&function.body, true, &mut |node, is_outermost| {
        let Node::Loop {
            label,
            body,
            step,
            loc,
            ..
        } = node
        else {
            return;
        };
        *places.entry(*loc).or_insert(0) += 1;
        let mut within = Within::default();
        within.block(body);
        within.block(step);
        // Jumps that leave the loop, and jumps that may skip an exit.
        let leaves = |to: &Option<LabelId>| to.is_none_or(|to| !within.labels.contains(&to));
        let exits = within.jumps.iter().filter(|(to, ..)| leaves(to));
        let around: HashSet<LabelId> = exits.flat_map(|(.., around)| around.clone()).collect();
        let relevant = within.jumps.iter().filter(|(to, ..)| {
            leaves(to) || to.is_some_and(|to| to == *label || around.contains(&to))
        });
        let start = relevant.flat_map(|(_, conditions, _)| conditions.clone());
        let slots = within.closure(start.collect(), &defs);
        if slots.as_ref().is_some_and(HashSet::is_empty) {
            found.push(Closed {
                loc: *loc,
                slots: Vec::new(),
            });
            return;
        }
        // An inner loop may have been left and entered again.
        if !is_outermost || slots.is_none() {
            return;
        }
        let all = within
            .jumps
            .iter()
            .flat_map(|(_, conditions, _)| conditions.clone());
        if let Some(slots) = within.closure(all.collect(), &defs) {
            let mut slots: Vec<SlotId> = slots.into_iter().collect();
            slots.sort_unstable_by_key(|slot| slot.index());
            found.push(Closed { loc: *loc, slots });
        }
    });
    // Copies of one loop have the same place and cannot be distinguished.
    found.retain(|closed| places[&closed.loc] == 1);
    found
}

fn loops<'a>(block: &'a Block, outermost: bool, then: &mut dyn FnMut(&'a Node, bool)) {
    for node in &block.0 {
        match node {
            Node::Loop { body, step, .. } => {
                then(node, outermost);
                loops(body, false, then);
                loops(step, false, then);
            }
            Node::If {
                then: first,
                otherwise,
                ..
            } => {
                loops(first, outermost, then);
                loops(otherwise, outermost, then);
            }
            Node::Scope { body, .. } => loops(body, outermost, then),
            // A routine may be called in a loop.
            Node::Routine { body, .. } => loops(body, false, then),
            Node::Inst(_) | Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
        }
    }
}
