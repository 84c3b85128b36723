//! What NVIDIA's assembler does with atomics, as far as it changes what they cost.
//!
//! Seen on an H200 (2026-11-29, driver 580.159.04; `tests/h200/lines.csv`), for atomics whose results are unused:
//!
//! - All lanes at one address: one lane makes one access with the sum (`REDUX`, then `ATOMS.ADD`). So `add`, `min`, `max`, `and`, `or` and `xor`
//!   of 32-bit integers, and `add` of a constant in 64 bits; in shared and in global memory. The address has to be the same by the code
//!   alone: not loaded, not computed from a lane's index.
//! - `add` of 1 in shared memory at any addresses: `ATOMS.POPC.INC` adds the lanes of equal addresses at once.
//!
//! With a result that is used, one lane adds for all where a constant is added to one 32-bit word of global memory.

use ir::special::Varies;
use ir::{
    AtomicOp, Block, Function, FunctionKind, InstKind, MemType, Module, Operand, SlotId, Space,
    ValueId,
};
use rustc_hash::FxHashSet;

/// The target on which that was seen. Other assemblers' work is not known.
pub(crate) const MEASURED: &str = "sm_90";

/// Marks the atomics of a module's kernels whose lanes are merged.
pub(crate) fn merge_atomics(module: &mut Module) {
    for function in &mut module.functions {
        if function.kind == FunctionKind::Kernel {
            let facts = Facts::of(function);
            let mut body = std::mem::take(&mut function.body);
            mark(&mut body, &facts);
            function.body = body;
        }
    }
}

/// What is known of a function's values.
struct Facts {
    used: FxHashSet<ValueId>,
    /// Values that are the same in all lanes of a warp by the code alone.
    uniform: FxHashSet<ValueId>,
}

impl Facts {
    fn of(function: &Function) -> Facts {
        let mut used = FxHashSet::default();
        let mut set = FxHashSet::default();
        let mut definitions = Vec::new();
        function.body.for_each_node(&mut |node| {
            used.extend(node.operand().and_then(value));
        });
        function.body.for_each_inst(&mut |inst| {
            used.extend(inst.kind.operands().into_iter().filter_map(value));
            if let InstKind::Set(slot, _) = inst.kind {
                set.insert(slot);
            }
            definitions.extend(inst.results.first().map(|&id| (id, inst.kind.clone())));
        });
        let params = function.params.iter().map(|param| param.slot);
        let params: FxHashSet<SlotId> = params.filter(|slot| !set.contains(slot)).collect();
        let mut uniform: FxHashSet<ValueId> = FxHashSet::default();
        // A value is defined before its uses.
        for (id, kind) in definitions {
            let is_uniform =
                |operand: &Operand| value(operand).is_none_or(|id| uniform.contains(&id));
            let same = match &kind {
                InstKind::Get(slot) => params.contains(slot),
                InstKind::AddrOf(_) => true,
                InstKind::Special(register) => {
                    matches!(register.varies(), Varies::Block | Varies::Grid)
                }
                kind if kind.is_scalar_op() || matches!(kind, InstKind::PtrAdd { .. }) => {
                    kind.operands().into_iter().all(is_uniform)
                }
                _ => false,
            };
            if same {
                uniform.insert(id);
            }
        }
        Facts { used, uniform }
    }
}

fn value(operand: &Operand) -> Option<ValueId> {
    match operand {
        Operand::Value(id) => Some(*id),
        Operand::Const(_) => None,
    }
}

fn mark(block: &mut Block, facts: &Facts) {
    for node in &mut block.0 {
        if let ir::Node::Inst(inst) = node
            && let InstKind::Atomic {
                op,
                access,
                ptr,
                value: amount,
                ..
            } = &mut inst.kind
        {
            let is_used = inst.results.iter().any(|id| facts.used.contains(id));
            let is_uniform = value(ptr).is_none_or(|id| facts.uniform.contains(&id));
            let sums = matches!(
                op,
                AtomicOp::Add
                    | AtomicOp::SMin
                    | AtomicOp::SMax
                    | AtomicOp::UMin
                    | AtomicOp::UMax
                    | AtomicOp::And
                    | AtomicOp::Or
                    | AtomicOp::Xor
            );
            let constant = match amount {
                Operand::Const(constant) => Some(constant.bits),
                Operand::Value(_) => None,
            };
            let is_add = *op == AtomicOp::Add;
            access.merged = match access.ty {
                MemType::I32 if is_used => {
                    is_uniform && is_add && constant.is_some() && access.space == Space::Global
                }
                _ if is_used => false,
                MemType::I32 if is_uniform => sums,
                MemType::I32 => is_add && constant == Some(1) && access.space == Space::Shared,
                MemType::I64 => is_uniform && is_add && constant.is_some(),
                _ => false,
            };
        }
        for inner in node.blocks_mut() {
            mark(inner, facts);
        }
    }
}
