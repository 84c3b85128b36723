//! Finds slots that are read in only one loop. Lanes that have left the loop never read them again, so assignments in
//! the loop may overwrite those lanes.
//!
//! A slot is *private* to a loop if three conditions hold. The innermost block with all its accesses sets it first. All
//! other accesses that read it are in one loop directly in that block. No `continue` leads to that loop's step, because
//! a lane that has continued waits there and reads the slot later. A lane that leaves the loop can read the slot again
//! only after it enters that block again, which starts with the assignment.

use std::collections::{HashMap, HashSet};

use ir::{Block, Function, InstKind, LabelId, Node, SlotId};

/// How often a slot is read and set.
type Accesses = HashMap<SlotId, (u32, u32)>;

/// The loop of each private slot.
pub(super) fn analyse(function: &Function) -> HashMap<SlotId, LabelId> {
    let mut all = Accesses::new();
    count(&function.body, &mut all);
    for param in &function.params {
        all.remove(&param.slot);
    }
    for routine in &function.routines {
        for slot in routine.params.iter().chain(&routine.results) {
            all.remove(slot);
        }
    }
    let mut private = HashMap::new();
    find(&function.body, &all, &mut private);
    private
}

fn count(block: &Block, accesses: &mut Accesses) {
    for node in &block.0 {
        count_here(node, accesses);
        for inner in node.blocks() {
            count(inner, accesses);
        }
    }
}

/// Finds private slots whose home is this block or one inside. Returns the accesses in it.
fn find(block: &Block, all: &Accesses, private: &mut HashMap<SlotId, LabelId>) -> Accesses {
    let mut accesses = Accesses::new();
    // The slots whose first access in this block is an assignment directly in this block.
    let mut set_first = HashSet::new();
    for node in &block.0 {
        let mut inside = Accesses::new();
        count_here(node, &mut inside);
        for inner in node.blocks() {
            for (slot, (gets, sets)) in find(inner, all, private) {
                let sum = inside.entry(slot).or_default();
                (sum.0, sum.1) = (sum.0 + gets, sum.1 + sets);
            }
        }
        for (&slot, &(gets, sets)) in &inside {
            let begun = accesses
                .get(&slot)
                .is_some_and(|&(gets, sets)| gets == 0 && sets > 0);
            if let Node::Loop {
                label, body, step, ..
            } = node
                && begun
                && set_first.contains(&slot)
                && all
                    .get(&slot)
                    .is_some_and(|&(all_gets, _)| all_gets == gets)
                && !continues(body, *label)
                && !continues(step, *label)
            {
                private.insert(slot, *label);
            }
            let is_set = matches!(node, Node::Inst(inst) if matches!(inst.kind, InstKind::Set(..)));
            if is_set && !accesses.contains_key(&slot) {
                set_first.insert(slot);
            }
            let sum = accesses.entry(slot).or_default();
            (sum.0, sum.1) = (sum.0 + gets, sum.1 + sets);
        }
    }
    accesses
}

fn count_here(node: &Node, accesses: &mut Accesses) {
    if let Node::Inst(inst) = node {
        match &inst.kind {
            InstKind::Get(slot) => accesses.entry(*slot).or_default().0 += 1,
            InstKind::Set(slot, _) => accesses.entry(*slot).or_default().1 += 1,
            _ => {}
        }
    }
}

fn continues(block: &Block, to: LabelId) -> bool {
    block.0.iter().any(|node| {
        matches!(node, Node::Continue(label) if *label == to)
            || node.blocks().into_iter().any(|inner| continues(inner, to))
    })
}
