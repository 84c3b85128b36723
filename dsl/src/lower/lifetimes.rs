//! Marks where the variables of inner blocks and inlined functions begin and end, as far as that matters.
//!
//! The lowering marks all of them. If a variable's address is only used in its own accesses, no access can reach it after its end, and this
//! pass removes its marks.

use std::collections::{HashMap, HashSet};

use ir::{Block, Function, InstKind, LocalId, Node, Object, Operand, ValueId};

/// Removes the marks of variables whose address is not kept anywhere.
pub(super) fn strip(function: &mut Function) {
    let mut has_marks = false;
    function.body.for_each_inst(&mut |inst| {
        has_marks |= matches!(inst.kind, InstKind::Lifetime(..));
    });
    if !has_marks {
        return;
    }
    let kept = kept(function);
    remove(&mut function.body, &kept);
}

/// The variables whose address is kept somewhere, or that an access reaches after their end.
fn kept(function: &Function) -> HashSet<LocalId> {
    let mut addresses: HashMap<ValueId, LocalId> = HashMap::new();
    let mut ended = HashSet::new();
    let mut kept = HashSet::new();
    function.body.for_each_node(&mut |node| {
        let of = |operand: &Operand| match operand {
            Operand::Value(id) => addresses.get(id).copied(),
            Operand::Const(_) => None,
        };
        let Node::Inst(inst) = node else {
            kept.extend(node.operand().and_then(of));
            return;
        };
        let late = match &inst.kind {
            InstKind::Lifetime(local, true) => {
                ended.remove(local);
                None
            }
            InstKind::Lifetime(local, false) => {
                ended.insert(*local);
                None
            }
            kind => {
                let pointed = kind.access().and_then(|(_, ptr)| of(ptr));
                pointed.filter(|local| ended.contains(local))
            }
        };
        kept.extend(late);
        let moved = match &inst.kind {
            InstKind::AddrOf(Object::Local(id)) => Some(*id),
            InstKind::PtrAdd { base, .. } => of(base),
            InstKind::Convert(_, pointer) => of(pointer),
            InstKind::Load(..) => None,
            InstKind::Store(_, _, values) => {
                kept.extend(values.iter().filter_map(of));
                None
            }
            InstKind::Atomic { value, compare, .. } => {
                kept.extend(
                    [Some(value), compare.as_ref()]
                        .into_iter()
                        .flatten()
                        .filter_map(of),
                );
                None
            }
            kind => {
                kept.extend(kind.operands().into_iter().filter_map(of));
                None
            }
        };
        if let (Some(local), Some(result)) = (moved, inst.results.first()) {
            addresses.insert(*result, local);
        }
    });
    kept
}

fn remove(block: &mut Block, kept: &HashSet<LocalId>) {
    block.0.retain(|node| match node {
        Node::Inst(inst) => match inst.kind {
            InstKind::Lifetime(local, _) => kept.contains(&local),
            _ => true,
        },
        _ => true,
    });
    for node in &mut block.0 {
        for inner in node.blocks_mut() {
            remove(inner, kept);
        }
    }
}
