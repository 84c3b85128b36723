//! Finds variables that may be read before they are assigned. It considers only paths, not their conditions. At run
//! time the checks follow these variables and no others.

use std::collections::{BTreeMap, HashMap};

use ir::{Block, Function, InstKind, LabelId, LocId, Node, Routine, SlotId};

/// Slots that are assigned on every path; `None`: there is no path.
type Assigned = Option<Vec<bool>>;

struct Walk<'a> {
    routines: &'a [Routine],
    slots: usize,
    exits: HashMap<LabelId, Assigned>,
    /// The state at the step of a loop.
    rounds: HashMap<LabelId, Assigned>,
    early: BTreeMap<SlotId, LocId>,
}

/// The slots, each with its first such read.
pub(super) fn analyse(function: &Function) -> Vec<(SlotId, LocId)> {
    let mut assigned = vec![false; function.slots.len()];
    for param in &function.params {
        assigned[param.slot.index()] = true;
    }
    let mut walk = Walk {
        routines: &function.routines,
        slots: function.slots.len(),
        exits: HashMap::new(),
        rounds: HashMap::new(),
        early: BTreeMap::new(),
    };
    walk.block(&function.body, Some(assigned));
    walk.early.into_iter().collect()
}

fn meet(a: Assigned, b: Assigned) -> Assigned {
    match (a, b) {
        (None, one) | (one, None) => one,
        (Some(mut a), Some(b)) => {
            for (a, b) in a.iter_mut().zip(b) {
                *a &= b;
            }
            Some(a)
        }
    }
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, mut assigned: Assigned) -> Assigned {
        for node in &block.0 {
            assigned = self.node(node, assigned);
        }
        assigned
    }

    fn node(&mut self, node: &Node, mut assigned: Assigned) -> Assigned {
        match node {
            Node::Inst(inst) => {
                match (&inst.kind, &mut assigned) {
                    (InstKind::Set(slot, _), Some(assigned)) => assigned[slot.index()] = true,
                    (InstKind::Get(slot), Some(assigned)) if !assigned[slot.index()] => {
                        self.early.entry(*slot).or_insert(inst.loc);
                    }
                    _ => {}
                }
                assigned
            }
            Node::If {
                then, otherwise, ..
            } => {
                let then = self.block(then, assigned.clone());
                let otherwise = self.block(otherwise, assigned);
                meet(then, otherwise)
            }
            Node::Loop {
                label, body, step, ..
            } => {
                let end = self.block(body, assigned);
                let rounds = self.rounds.remove(label).flatten();
                self.block(step, meet(end, rounds));
                self.exits.remove(label).flatten()
            }
            Node::Scope { label, body, .. } => {
                let end = self.block(body, assigned);
                meet(end, self.exits.remove(label).flatten())
            }
            Node::Routine { id, body } => {
                let mut own = vec![false; self.slots];
                for slot in &self.routines[id.index()].params {
                    own[slot.index()] = true;
                }
                self.block(body, Some(own));
                assigned
            }
            Node::Break(label) => {
                let before = self.exits.remove(label).flatten();
                self.exits.insert(*label, meet(before, assigned));
                None
            }
            Node::Continue(label) => {
                let before = self.rounds.remove(label).flatten();
                self.rounds.insert(*label, meet(before, assigned));
                None
            }
            Node::Return(_) => None,
        }
    }
}
