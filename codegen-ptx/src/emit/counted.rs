//! Finds loops that count through a small local array: `for (int k = 0; k < 16; k++) sum += counts[k];`.
//!
//! ptxas keeps such an array in registers, but needs two instructions per element to read one at an unknown index. If the loop is fully
//! unrolled, the registers are known. LLVM unrolls a small loop by itself. For a larger one it gets a hint, for about the loops that nvcc
//! unrolls.

use std::collections::HashSet;

use ir::{Block, Function, InstKind, Node, Object, Operand, SlotId, Space, ValueId};

/// Most elements of an array that ptxas keeps in registers even if other accesses have an index from memory.
const MOST_ELEMENTS: u64 = 32;
/// Most instructions of the fully unrolled loop.
const MOST_INSTRUCTIONS: u64 = 2048;

/// Whether `body`, which contains no loop, reads or writes such an array at an index that `step` changes.
pub(super) fn through_array(function: &Function, body: &Block, step: &Block) -> bool {
    let mut counters: HashSet<SlotId> = HashSet::new();
    step.for_each_inst(&mut |inst| {
        if let InstKind::Set(slot, _) = inst.kind {
            counters.insert(slot);
        }
    });
    let (mut has_loop, mut instructions, mut most) = (false, 0, 0);
    let (mut counts, mut places): (HashSet<ValueId>, HashSet<ValueId>) = Default::default();
    let is_among = |values: &HashSet<ValueId>, operand: &Operand| match operand {
        Operand::Value(value) => values.contains(value),
        Operand::Const(_) => false,
    };
    body.for_each_node(&mut |node| match node {
        Node::Loop { .. } => has_loop = true,
        Node::Inst(inst) => {
            instructions += 1;
            match &inst.kind {
                InstKind::Get(slot) if counters.contains(slot) => {
                    counts.extend(&inst.results);
                }
                InstKind::PtrAdd { index, .. } if is_among(&counts, index) => {
                    places.extend(&inst.results);
                }
                InstKind::Load(access, ptr) | InstKind::Store(access, ptr, _)
                    if access.space == Space::Local && is_among(&places, ptr) =>
                {
                    if let Some(Object::Local(id)) = access.object {
                        let local = &function.locals[id.index()];
                        let elements = local.size_bytes / u64::from(access.ty.bytes()).max(1);
                        most = elements.max(most);
                    }
                }
                _ => {}
            }
        }
        _ => {}
    });
    let is_small = most <= MOST_ELEMENTS && most * instructions <= MOST_INSTRUCTIONS;
    !has_loop && most > 0 && is_small
}
