//! Explains why the lanes of a warp diverge at a branch. The kind of branch comes from the IR: its statement, its sides and its condition.

use std::collections::{HashMap, HashSet};

use interp::Branch;
use ir::{
    BinaryOp, Block, CompareOp, InstKind, LabelId, LocId, Module, Node, Operand, SlotId, ValueId,
};

use super::{Advice, Thought, code::Joined, halving};

/// What is decided at a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    /// Whether a loop goes on.
    Rounds,
    /// Whether the thread is an n-th one, where a loop changes n: `t % (2 * d) == 0`.
    EveryNth,
    /// Whether the thread is below a number that a loop changes: `t < d`.
    First,
    /// Whether the thread does something or nothing: the branch has one side.
    Guard(By),
    /// Which of two sides the thread takes.
    Sides(By),
    /// Whether the lanes exchange values, decided by their index.
    Exchange,
    /// The IR has no such branch.
    Unknown,
}

/// What a condition depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// An upper bound on a number.
    Bound,
    /// A value in memory.
    Data,
    /// The thread's index in another way than these.
    Index,
}

impl Decision {
    /// Joins the decisions of the parts of a condition with `&&` or `||`. The parts are branches at one place; the whole condition comes
    /// last.
    fn and(self, next: Decision) -> Decision {
        let join = |a, b| if b == By::Data { b } else { a };
        match (self, next) {
            (Decision::Guard(a) | Decision::Sides(a), Decision::Guard(b)) => {
                Decision::Guard(join(a, b))
            }
            (Decision::Guard(a) | Decision::Sides(a), Decision::Sides(b)) => {
                Decision::Sides(join(a, b))
            }
            _ => self,
        }
    }
}

/// Advice on a branch at which lanes diverge.
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
    let fewer = lanes as f64 / times as f64;
    let fewer = match (fewer * 10.0).round() / 10.0 {
        round if round.fract() == 0.0 => format!("{round:.0}"),
        round => format!("{round:.1}"),
    };
    let fact = match decision {
        Decision::Rounds => {
            "lanes that need fewer rounds of the loop wait for the others".to_string()
        }
        Decision::Guard(_) | Decision::First | Decision::EveryNth => {
            format!("on average {fewer} of 32 lanes go one way; those without work wait")
        }
        _ => format!("on average {fewer} of 32 lanes go one way; each side waits for the other"),
    };
    Advice {
        fact,
        thought: thought(decision).map(Thought::from),
    }
}

fn thought(decision: Decision) -> Option<String> {
    let text = match decision {
        // The algorithm determines which lanes exchange their values.
        Decision::Exchange => return None,
        Decision::Rounds => {
            "the lanes need different numbers of rounds: give the lanes of a warp work of like length (sort it, or let a whole warp share one \
             row)"
        }
        Decision::EveryNth => {
            return Some(format!(
                "a reduction that keeps every n-th thread: let the first threads work and halve the distance instead, {}",
                halving("s", Joined::Sum)
            ));
        }
        Decision::First => {
            "in the last rounds one warp works: let it go on without this branch, with `__shfl_down_sync`"
        }
        Decision::Guard(By::Bound) => {
            "number the threads over all elements, across rows (element `i` is in row `i / width`), so that only the last warp has lanes without \
             an element"
        }
        Decision::Guard(By::Data) => {
            "sort the data by the condition, or first collect the elements for which it holds, and let full warps work on those"
        }
        Decision::Guard(By::Index) => {
            "let the first threads do it, each for another element (`threadIdx.x < n`), so that whole warps have work or none"
        }
        Decision::Sides(By::Data) => {
            "let whole warps go one way: sort the data by the condition, or compute both sides without a branch"
        }
        Decision::Sides(_) => {
            "let whole warps go one way: decide by `threadIdx.x / 32` where any thread can do either work, or compute both sides without a \
             branch"
        }
        Decision::Unknown => {
            "let whole warps go one way: decide by what is the same for the threads of a warp"
        }
    };
    Some(text.to_string())
}

fn decision(branch: &Branch, module: &Module) -> Decision {
    let mut all = module.functions.iter().filter_map(|function| {
        let mut search = Search {
            branch,
            module,
            defs: HashMap::new(),
            sets: HashMap::new(),
            loops: vec![],
            found: None,
        };
        search.block(&function.body);
        search.found
    });
    all.next().unwrap_or(Decision::Unknown)
}

/// Looks for a branch's statement in a function.
struct Search<'m> {
    branch: &'m Branch,
    module: &'m Module,
    /// The instruction that defines each value seen so far.
    defs: HashMap<ValueId, &'m InstKind>,
    /// The operands that each variable has been set to so far.
    sets: HashMap<SlotId, Vec<Operand>>,
    /// The enclosing loops, outermost first, with the variables that each changes.
    loops: Vec<(LabelId, HashSet<SlotId>)>,
    found: Option<Decision>,
}

impl<'m> Search<'m> {
    fn block(&mut self, block: &'m Block) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => {
                    let results = inst.results.iter();
                    self.defs.extend(results.map(|&id| (id, &inst.kind)));
                    if let InstKind::Set(slot, value) = inst.kind {
                        self.sets.entry(slot).or_default().push(value);
                    }
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    loc,
                    ..
                } => {
                    let loc = self.module.loc(*loc);
                    let branch = self.branch;
                    let place = (branch.file, branch.line, branch.column);
                    if (loc.file, loc.line, loc.column) == place {
                        let ends = self.leaves_loop(then) || self.leaves_loop(otherwise);
                        let found = match ends {
                            true => Decision::Rounds,
                            false => self.condition(*cond, is_idle(then) || is_idle(otherwise)),
                        };
                        let found = match found {
                            Decision::Guard(By::Index)
                                if exchanges(then) || exchanges(otherwise) =>
                            {
                                Decision::Exchange
                            }
                            found => found,
                        };
                        self.found = Some(match self.found {
                            Some(before) => before.and(found),
                            None => found,
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
                    if self.found.is_none() && self.is_condition_of(*loc, body) {
                        self.found = Some(Decision::Rounds);
                    }
                    let mut changed = HashSet::new();
                    changes(body, &mut changed);
                    changes(step, &mut changed);
                    self.loops.push((*label, changed));
                    self.block(body);
                    self.block(step);
                    self.loops.pop();
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    /// Whether the branch belongs to the condition of the loop at a place. Such a condition has a branch for each of its parts.
    fn is_condition_of(&self, loc: LocId, body: &Block) -> bool {
        let loc = self.module.loc(loc);
        let branch = self.branch;
        let is_behind =
            (loc.file, loc.line) == (branch.file, branch.line) && branch.column >= loc.column;
        let leaves = |node: &Node| match node {
            Node::If {
                then, otherwise, ..
            } => is_left(then) || is_left(otherwise),
            _ => false,
        };
        let end = body.0.iter().position(leaves).map_or(0, |end| end + 1);
        is_behind && body.0[..end].iter().any(|node| self.has_branch(node))
    }

    fn has_branch(&self, node: &Node) -> bool {
        let Node::If {
            then,
            otherwise,
            loc,
            ..
        } = node
        else {
            return false;
        };
        let loc = self.module.loc(*loc);
        let branch = self.branch;
        let mut inside = then.0.iter().chain(&otherwise.0);
        (loc.file, loc.line, loc.column) == (branch.file, branch.line, branch.column)
            || inside.any(|node| self.has_branch(node))
    }

    fn leaves_loop(&self, block: &Block) -> bool {
        let is_around = |label: &LabelId| self.loops.iter().any(|(around, _)| around == label);
        let mut nodes = block.0.iter();
        nodes.any(|node| matches!(node, Node::Break(label) if is_around(label)))
    }

    /// What a condition decides; with `is_guard`, one side of the branch does nothing.
    fn condition(&self, cond: Operand, is_guard: bool) -> Decision {
        let compared = match self.def(cond) {
            Some(&InstKind::Compare(op, _, a, b)) => Some((op, a, b)),
            _ => None,
        };
        let is_equal = |op| matches!(op, CompareOp::Eq | CompareOp::Ne);
        let is_below = |op| !is_equal(op);
        match compared {
            Some((op, a, _)) if is_equal(op) => match self.def(a) {
                Some(&InstKind::Binary(BinaryOp::SRem | BinaryOp::URem, _, _, n))
                    if self.is_changed(n) && is_guard =>
                {
                    return Decision::EveryNth;
                }
                _ => {}
            },
            Some((_, a, b)) if is_guard && (self.is_changed(a) != self.is_changed(b)) => {
                return Decision::First;
            }
            _ => {}
        }
        let by = match compared {
            _ if self.is_by_data(cond) => By::Data,
            Some((op, ..)) if is_below(op) => By::Bound,
            _ => By::Index,
        };
        match is_guard {
            true => Decision::Guard(by),
            false => Decision::Sides(by),
        }
    }

    /// Whether an operand depends on a variable that an enclosing loop changes.
    fn is_changed(&self, operand: Operand) -> bool {
        let mut behind = self.behind(operand, false).into_iter();
        behind.any(|kind| {
            let InstKind::Get(slot) = kind else {
                return false;
            };
            self.loops.iter().any(|(_, changed)| changed.contains(slot))
        })
    }

    /// Whether an operand depends on a value in memory.
    fn is_by_data(&self, operand: Operand) -> bool {
        let mut behind = self.behind(operand, true).into_iter();
        behind.any(|kind| {
            matches!(
                kind,
                InstKind::Load(..) | InstKind::Atomic { .. } | InstKind::Exchange(_)
            )
        })
    }

    /// All instructions that an operand is computed from; through variables if `through_variables` is set.
    fn behind(&self, operand: Operand, through_variables: bool) -> Vec<&'m InstKind> {
        let (mut seen, mut found, mut left) = (HashSet::new(), vec![], vec![operand]);
        while let Some(operand) = left.pop() {
            let Some(id) = operand.value().filter(|&id| seen.insert(id)) else {
                continue;
            };
            let Some(&kind) = self.defs.get(&id) else {
                continue;
            };
            found.push(kind);
            match kind {
                InstKind::Get(slot) if through_variables => {
                    left.extend(self.sets.get(slot).into_iter().flatten());
                }
                kind if kind.is_scalar_op() => left.extend(kind.operands().into_iter().copied()),
                _ => {}
            }
        }
        found
    }

    fn def(&self, operand: Operand) -> Option<&'m InstKind> {
        self.defs.get(&operand.value()?).copied()
    }
}

/// Whether lanes exchange values in a block.
fn exchanges(block: &Block) -> bool {
    let mut found = false;
    block.for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Exchange(_)));
    found
}

/// Whether a side of a branch leaves a loop.
fn is_left(side: &Block) -> bool {
    matches!(side.0.last(), Some(Node::Break(_)))
}

/// Whether a side of a branch does nothing, or only leaves.
fn is_idle(side: &Block) -> bool {
    let mut nodes = side.0.iter();
    nodes.all(|node| matches!(node, Node::Return(_) | Node::Break(_) | Node::Continue(_)))
}

/// The variables that a block sets.
fn changes(block: &Block, changed: &mut HashSet<SlotId>) {
    for node in &block.0 {
        match node {
            Node::Inst(inst) => {
                if let InstKind::Set(slot, _) = inst.kind {
                    changed.insert(slot);
                }
            }
            Node::If {
                then, otherwise, ..
            } => {
                changes(then, changed);
                changes(otherwise, changed);
            }
            Node::Loop { body, step, .. } => {
                changes(body, changed);
                changes(step, changed);
            }
            Node::Scope { body, .. } | Node::Routine { body, .. } => changes(body, changed),
            Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
        }
    }
}
