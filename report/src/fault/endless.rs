//! Why a loop that ran until it was stopped has no end: what the kernel's text says of its condition.

use std::collections::HashMap;

use ir::{
    AtomicOp, Block, CompareOp, InstKind, LabelId, LocId, Module, Node, Operand, Type, ValueId,
};

/// Whether a thread is in a loop around a compare-and-swap that ends when two floats are equal, and the type of those floats. Such a loop
/// may be endless because a NaN is equal to nothing.
pub(super) fn compares_floats(module: &Module, at: LocId) -> Option<Type> {
    let mut functions = module.functions.iter();
    functions.find_map(|function| {
        let mut search = Search {
            at,
            defs: HashMap::new(),
        };
        search.block(&function.body)
    })
}

struct Search<'m> {
    at: LocId,
    /// The instruction that defines each value seen so far.
    defs: HashMap<ValueId, &'m InstKind>,
}

impl<'m> Search<'m> {
    /// The type that a loop in a block compares, if the place is in it.
    fn block(&mut self, block: &'m Block) -> Option<Type> {
        for node in &block.0 {
            let found = match node {
                Node::Inst(inst) => {
                    let results = inst.results.iter();
                    self.defs.extend(results.map(|&id| (id, &inst.kind)));
                    None
                }
                Node::If {
                    then, otherwise, ..
                } => self.block(then).or_else(|| self.block(otherwise)),
                Node::Loop {
                    label, body, step, ..
                } => {
                    let inner = self.block(body).or_else(|| self.block(step));
                    inner.or_else(|| self.of_loop(*label, [body, step]))
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn of_loop(&self, label: LabelId, blocks: [&Block; 2]) -> Option<Type> {
        let (mut is_here, mut swaps) = (false, false);
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                let op = match inst.kind {
                    InstKind::Atomic { op, .. } => Some(op),
                    _ => None,
                };
                is_here |= inst.loc == self.at;
                swaps |= op == Some(AtomicOp::Cas);
            });
        }
        let ends = |side: &Block| {
            side.0
                .iter()
                .any(|node| matches!(node, Node::Break(to) if *to == label))
        };
        let nodes = blocks.into_iter().flat_map(|block| &block.0);
        let mut conditions = nodes.filter_map(|node| match node {
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } if ends(then) || ends(otherwise) => Some(*cond),
            _ => None,
        });
        let compared = conditions.find_map(|cond| self.compared(cond));
        compared.filter(|_| is_here && swaps)
    }

    /// The type of the floats whose equality a condition tests.
    fn compared(&self, cond: Operand) -> Option<Type> {
        match self.defs.get(&cond.value()?)? {
            InstKind::Compare(CompareOp::FEq | CompareOp::FNe, ty, ..) => Some(*ty),
            _ => None,
        }
    }
}
