//! Branches: why the lanes of a warp diverge. What kind of branch it is comes from the IR: its statement, and the condition.

use std::collections::HashMap;

use dsl::ir::{
    BinaryOp, Block, CompareOp, InstKind, LabelId, LocId, Module, Node, Operand, ValueId,
};
use interp::Branch;

use super::Advice;

/// What is decided at a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    /// Whether a loop goes on.
    Rounds,
    /// Whether the thread is an n-th one, n being a variable: `t % (2 * d) == 0`.
    EveryNth,
    /// Whether a number is below another.
    Below,
    Other,
}

/// Advice on a branch whose lanes diverge.
pub(crate) fn of_branch(branch: &Branch, module: &Module) -> Advice {
    let (times, lanes) = (branch.divergent.max(1), branch.fewer_lanes);
    let decision = decision(branch, module);
    if lanes == times && decision != Decision::Rounds {
        return Advice::new(
            "one lane of a warp takes another branch, and the others wait for it",
            "spread what the one thread does over the threads: each takes its own part, neighbours neighbouring elements; a sum or a maximum is a \
             parallel reduction (a tree in shared memory, or `__shfl_down_sync`)",
        );
    }
    let fact = format!(
        "lanes of a warp take both branches, on average {:.1} of them the rarer one: the warp runs both sides, one after the other",
        lanes as f64 / times as f64
    );
    let thought = match decision {
        Decision::Rounds => {
            "the lanes need different numbers of rounds: give the lanes of a warp work of like length (sort it, or let a whole warp share one \
             row)"
        }
        Decision::EveryNth => {
            "a reduction that keeps every n-th thread: let the first threads work and halve the distance instead, `for (d = blockDim.x / 2; d > 0; \
             d /= 2) if (t < d) s[t] += s[t + d];`"
        }
        Decision::Below => {
            "let whole warps take one branch; in the last rounds of a reduction one warp works, and needs no branch with `__shfl_down_sync`"
        }
        Decision::Other => {
            "let whole warps go one way: decide by `threadIdx.x / 32` where any thread can do either work, sort the data by the condition, or \
             compute both sides without a branch"
        }
    };
    Advice::new(fact, thought)
}

fn decision(branch: &Branch, module: &Module) -> Decision {
    let mut all = module.functions.iter().filter_map(|function| {
        let mut search = Search {
            branch,
            module,
            defs: HashMap::new(),
            loops: vec![],
            found: None,
        };
        search.block(&function.body);
        search.found
    });
    all.next().unwrap_or(Decision::Other)
}

/// Looks for the statement of a branch in a function.
struct Search<'m> {
    branch: &'m Branch,
    module: &'m Module,
    /// What gives each value so far.
    defs: HashMap<ValueId, &'m InstKind>,
    /// The loops around, from the outside.
    loops: Vec<LabelId>,
    found: Option<Decision>,
}

impl<'m> Search<'m> {
    fn block(&mut self, block: &'m Block) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => {
                    let results = inst.results.iter();
                    self.defs.extend(results.map(|&id| (id, &inst.kind)));
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    loc,
                } => {
                    let loc = self.module.loc(*loc);
                    let branch = self.branch;
                    let place = (branch.file, branch.line, branch.column);
                    if self.found.is_none() && (loc.file, loc.line, loc.column) == place {
                        let ends = self.leaves_loop(then) || self.leaves_loop(otherwise);
                        self.found = Some(match ends {
                            true => Decision::Rounds,
                            false => self.condition(cond),
                        });
                    }
                    self.block(then);
                    self.block(otherwise);
                }
                Node::Loop {
                    label,
                    body,
                    step,
                    loc,
                    ..
                } => {
                    // A condition of several parts has a branch for each of them.
                    if self.is_line(*loc) {
                        self.found = Some(Decision::Rounds);
                    }
                    self.loops.push(*label);
                    self.block(body);
                    self.block(step);
                    self.loops.pop();
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    fn is_line(&self, loc: LocId) -> bool {
        let loc = self.module.loc(loc);
        (loc.file, loc.line) == (self.branch.file, self.branch.line)
    }

    fn leaves_loop(&self, block: &Block) -> bool {
        let mut nodes = block.0.iter();
        nodes.any(|node| matches!(node, Node::Break(label) if self.loops.contains(label)))
    }

    fn condition(&self, cond: &Operand) -> Decision {
        match self.def(cond) {
            Some(InstKind::Compare(CompareOp::Eq | CompareOp::Ne, _, a, _)) => match self.def(a) {
                Some(InstKind::Binary(
                    BinaryOp::SRem | BinaryOp::URem,
                    _,
                    _,
                    Operand::Value(_),
                )) => Decision::EveryNth,
                _ => Decision::Other,
            },
            Some(InstKind::Compare(
                CompareOp::Slt
                | CompareOp::Sle
                | CompareOp::Ult
                | CompareOp::Ule
                | CompareOp::FLt
                | CompareOp::FLe,
                ..,
            )) => Decision::Below,
            _ => Decision::Other,
        }
    }

    fn def(&self, operand: &Operand) -> Option<&'m InstKind> {
        match operand {
            Operand::Value(id) => self.defs.get(id).copied(),
            Operand::Const(_) => None,
        }
    }
}
