//! Loops that count through a small array of the thread: `for (int k = 0; k < 16; k++) sum += counts[k];`.
//!
//! ptxas keeps such an array in registers, but reads one that it does not know with two instructions for each element. Where the loop is unrolled
//! whole the registers are known. LLVM unrolls it by itself if it is small; else it is told to, as nvcc does about.

use std::collections::HashSet;

use ir::{Block, Function, InstKind, Node, Object, Operand, SlotId, Space, ValueId};

/// Elements of an array that ptxas keeps in registers even if other accesses are indexed by data.
const MOST_ELEMENTS: u64 = 32;
/// Instructions of the whole loop once it is unrolled.
const MOST_INSTRUCTIONS: u64 = 2048;

/// Whether `body`, which has no loop in it, reads or writes such an array at an index that `step` changes.
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
