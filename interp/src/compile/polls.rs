//! Finds accesses that wait for other threads. If the exit of a loop depends on the value of an access in it, the loop
//! spins, and the accessed memory is a flag, an arrival counter or a lock. The analysis follows the exit conditions
//! back through values and variables, and through the conditions under which those are set.

use crate::isa::effects::Polls;
use std::collections::{HashMap, HashSet};

use ir::{
    AtomicOp, Block, Function, FunctionKind, Inst, InstKind, LabelId, Node, Operand, SlotId,
    ValueId,
};

/// A definition, and the loops around it.
struct Defined<'a> {
    inst: &'a Inst,
    loops: Vec<LabelId>,
}

/// An assignment to a variable: the value and its conditions.
struct Setting {
    value: Operand,
    conditions: Vec<Operand>,
    loops: Vec<LabelId>,
}

/// The state of a walk over the kernel.
#[derive(Default)]
struct Walk<'a> {
    defined: HashMap<ValueId, Defined<'a>>,
    settings: HashMap<SlotId, Vec<Setting>>,
    /// By loop: the conditions of its exits.
    exits: HashMap<LabelId, Vec<Operand>>,
    /// All conditions.
    tested: Vec<Operand>,
    /// The labels around the current node, whether each is a loop's, and the number of conditions outside of it.
    labels: Vec<(LabelId, bool, usize)>,
    conditions: Vec<Operand>,
}

/// Analyses a kernel.
pub(super) fn analyse(function: &Function) -> Polls {
    let mut polls = Polls::default();
    let mut communicates = false;
    function.body.for_each_inst(&mut |inst| {
        communicates |= match &inst.kind {
            InstKind::Atomic { .. } => true,
            InstKind::Load(access, _) => access.volatile,
            InstKind::Store(access, _, values) => {
                if access.volatile && values.iter().all(|value| value.constant().is_some()) {
                    polls.signs.insert(inst.loc);
                }
                access.volatile
            }
            _ => false,
        };
    });
    if !communicates || function.kind != FunctionKind::Kernel {
        return polls;
    }
    let mut walk = Walk::default();
    walk.block(&function.body);
    for (label, conditions) in &walk.exits {
        let mut seen = HashSet::new();
        for condition in conditions {
            let mut looks = vec![];
            walk.follow(condition, Some(*label), &mut seen, &mut |inst| {
                polls.waits.insert(inst.loc);
                looks.push(inst.loc);
                if locks(inst) {
                    polls.takes.insert(inst.loc);
                }
            });
            if !looks.is_empty() && walk.has_ticket(condition, *label) {
                polls.takes.extend(looks);
            }
        }
    }
    let mut seen = HashSet::new();
    for condition in &walk.tested {
        walk.follow(condition, None, &mut seen, &mut |inst| match &inst.kind {
            InstKind::Atomic { .. } => _ = polls.waits.insert(inst.loc),
            InstKind::Load(access, _) if access.volatile => {
                polls.glances.insert(inst.loc);
            }
            _ => {}
        });
    }
    polls
}

/// Whether an atomic takes a lock, given that its result ends the loop around it.
fn locks(inst: &Inst) -> bool {
    let InstKind::Atomic {
        op, value, compare, ..
    } = &inst.kind
    else {
        return false;
    };
    match (op, compare) {
        (_, Some(compare)) => matches!(compare, Operand::Const(_)),
        (AtomicOp::Exch | AtomicOp::Or, None) => {
            value.constant().is_some_and(|value| value.bits != 0)
        }
        _ => false,
    }
}

impl<'a> Walk<'a> {
    /// Whether a condition of a loop compares with a ticket: a number from an atomic counter before the loop.
    fn has_ticket(&self, condition: &Operand, label: LabelId) -> bool {
        let mut found = false;
        self.follow(condition, None, &mut HashSet::new(), &mut |inst| {
            let counts = matches!(
                inst.kind,
                InstKind::Atomic {
                    op: AtomicOp::Add | AtomicOp::Inc,
                    ..
                }
            );
            let before = inst.results.iter().any(|result| {
                let defined = self.defined.get(result);
                defined.is_some_and(|defined| !defined.loops.contains(&label))
            });
            found |= counts && before;
        });
        found
    }

    fn loops(&self) -> Vec<LabelId> {
        let loops = self.labels.iter().filter(|(_, is_loop, _)| *is_loop);
        loops.map(|&(label, _, _)| label).collect()
    }

    fn block(&mut self, block: &'a Block) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If {
                    cond,
                    then,
                    otherwise,
                    ..
                } => {
                    self.tested.push(*cond);
                    self.conditions.push(*cond);
                    self.block(then);
                    self.block(otherwise);
                    self.conditions.pop();
                }
                Node::Loop {
                    label, body, step, ..
                } => {
                    self.labels.push((*label, true, self.conditions.len()));
                    self.block(body);
                    self.block(step);
                    self.labels.pop();
                }
                Node::Scope { label, body, .. } => {
                    self.labels.push((*label, false, self.conditions.len()));
                    self.block(body);
                    self.labels.pop();
                }
                Node::Routine { body, .. } => self.block(body),
                Node::Break(label) => {
                    let to = self.labels.iter().position(|(at, _, _)| at == label);
                    self.leave(to.unwrap_or(0));
                }
                Node::Return(_) => self.leave(0),
                Node::Continue(_) => {}
            }
        }
    }

    fn inst(&mut self, inst: &'a Inst) {
        let loops = self.loops();
        for &result in &inst.results {
            let loops = loops.clone();
            self.defined.insert(result, Defined { inst, loops });
        }
        if let InstKind::Set(slot, value) = &inst.kind {
            let setting = Setting {
                value: *value,
                conditions: self.conditions.clone(),
                loops,
            };
            self.settings.entry(*slot).or_default().push(setting);
        }
    }

    /// Everything from that label inwards is left.
    fn leave(&mut self, from: usize) {
        for &(label, is_loop, outside) in &self.labels[from..] {
            if is_loop {
                let exits = self.exits.entry(label).or_default();
                exits.extend_from_slice(&self.conditions[outside..]);
            }
        }
    }

    /// Reports the accesses in that loop on which a value depends.
    fn follow(
        &self,
        operand: &Operand,
        within: Option<LabelId>,
        seen: &mut HashSet<ValueId>,
        show: &mut impl FnMut(&Inst),
    ) {
        let mut left = vec![*operand];
        while let Some(operand) = left.pop() {
            let Operand::Value(id) = operand else {
                continue;
            };
            let inside = |loops: &[LabelId]| within.is_none_or(|label| loops.contains(&label));
            let Some(defined) = self.defined.get(&id) else {
                continue;
            };
            if !inside(&defined.loops) || !seen.insert(id) {
                continue;
            }
            match &defined.inst.kind {
                InstKind::Load(..) | InstKind::Atomic { .. } => show(defined.inst),
                InstKind::Get(slot) => {
                    let settings = self.settings.get(slot).map_or(&[][..], |all| all);
                    for setting in settings.iter().filter(|setting| inside(&setting.loops)) {
                        left.push(setting.value);
                        left.extend_from_slice(&setting.conditions);
                    }
                }
                kind => left.extend(kind.operands().into_iter().copied()),
            }
        }
    }
}
