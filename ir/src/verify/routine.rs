//! Rule 6: routines are at the right place, share nothing, and are called with the right arguments.

use super::Verifier;
use crate::{Block, InstKind, Node, Object, Operand, RoutineId};

impl<'a> Verifier<'a> {
    /// The table of routines, the place of their code, and the names in it.
    pub(super) fn verify_routines(&mut self) {
        let function = self.function;
        if !self.is_kernel() {
            self.check(function.routines.is_empty(), "a host function has routines");
        }
        for (index, routine) in function.routines.iter().enumerate() {
            self.line = format!("routine R{index} {}", routine.name);
            self.verify_loc(routine.loc);
            let slots = routine.params.iter().chain(&routine.results);
            let mut seen = vec![false; function.slots.len()];
            for slot in slots {
                match seen.get_mut(slot.index()) {
                    None => self.report("there is no such slot"),
                    Some(true) => self.report("two of its parameters and results share a slot"),
                    Some(seen) => *seen = true,
                }
            }
        }
        self.line = format!("@{}", function.name);
        let nodes = &function.body.0;
        let first = nodes.iter().take_while(|node| is_routine(node)).count();
        let in_order = nodes[..first]
            .iter()
            .enumerate()
            .all(|(index, node)| matches!(node, Node::Routine { id, .. } if id.index() == index));
        self.check(
            in_order && first == function.routines.len(),
            "its code does not begin with its routines",
        );
        let mut inside = 0;
        function
            .body
            .for_each_node(&mut |node| inside += usize::from(is_routine(node)));
        self.check(inside == first, "a routine is inside of other code");
        self.verify_owners(first);
    }

    /// Each slot and each local variable belongs to one routine, or to the kernel.
    fn verify_owners(&mut self, first: usize) {
        let function = self.function;
        if first == 0 {
            return;
        }
        let mut slots = vec![None; function.slots.len()];
        let mut locals = vec![None; function.locals.len()];
        let mut shares = false;
        let mut own = |owners: &mut [Option<usize>], index: usize, owner: usize| {
            if let Some(known) = owners.get_mut(index) {
                shares |= *known.get_or_insert(owner) != owner;
            }
        };
        for param in &function.params {
            own(&mut slots, param.slot.index(), first);
        }
        for (owner, routine) in function.routines.iter().enumerate() {
            for slot in routine.params.iter().chain(&routine.results) {
                own(&mut slots, slot.index(), owner);
            }
        }
        let mut ends = false;
        for (index, node) in function.body.0.iter().enumerate() {
            let owner = index.min(first);
            let mut visit = |node: &Node| {
                ends |= owner < first && matches!(node, Node::Return(_));
                let Node::Inst(inst) = node else { return };
                match inst.kind {
                    InstKind::Get(slot) | InstKind::Set(slot, _) => {
                        own(&mut slots, slot.index(), owner);
                    }
                    InstKind::AddrOf(Object::Local(local)) | InstKind::Lifetime(local, _) => {
                        own(&mut locals, local.index(), owner);
                    }
                    _ => {}
                }
                if let Some((access, _)) = inst.kind.access()
                    && let Some(Object::Local(local)) = access.object
                {
                    own(&mut locals, local.index(), owner);
                }
            };
            visit(node);
            for block in node.blocks() {
                block_nodes(block, &mut visit);
            }
        }
        self.check(!shares, "a variable of a routine is named elsewhere");
        self.check(!ends, "a lane ends in a routine");
    }

    /// A call: the arguments have the parameters' types.
    pub(super) fn verify_routine_call(&mut self, callee: RoutineId, args: &[Operand]) {
        let Some(routine) = self.function.routines.get(callee.index()) else {
            return self.report("there is no such routine");
        };
        self.check(
            args.len() == routine.params.len(),
            "not one argument per parameter",
        );
        for (&arg, slot) in args.iter().zip(&routine.params) {
            if let Some(slot) = self.function.slots.get(slot.index()) {
                self.verify_operand(arg, slot.ty);
            }
        }
    }
}

fn is_routine(node: &Node) -> bool {
    matches!(node, Node::Routine { .. })
}

fn block_nodes(block: &Block, visit: &mut impl FnMut(&Node)) {
    block.for_each_node(&mut |node| visit(node));
}
