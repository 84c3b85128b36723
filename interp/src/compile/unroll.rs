//! Unrolls two kinds of loops: those whose variable indexes an array that might fit in registers, and those with few
//! rounds and a block barrier in them. The latter are the rounds of a reduction or scan, in which most warps only wait
//! for the others.
//!
//! Such a loop has a variable that begins with a constant, a condition and a step that depend only on it, and no other
//! exit. Each round becomes a copy of the body in which the variable is a constant. Operations on constants are
//! computed here. If such an operation counts as executed, it stays as a *dead* one, with constant operands and an
//! unused result, so that the instruction counts are those of the loop.

use std::collections::{HashMap, HashSet};

use ir::{
    BinaryOp, Block, Const, Function, Inst, InstKind, LabelId, LocId, LocalId, Node, Operand,
    SlotId, Type, ValueId, eval, fold,
};

use super::array::Pointers;

/// The most rounds of a loop that is unrolled.
const MOST_ROUNDS: usize = 256;
/// The most nodes of a kernel with unrolled loops; a kernel that would grow beyond stays unchanged.
const MOST_NODES: usize = 16_384;

/// The most nodes of all rounds of a loop with a barrier together.
const MOST_BARRIER_NODES: usize = 512;

/// The loops to unroll.
pub(super) struct Wanted<'a> {
    /// Loops that index one of these arrays.
    pub(super) arrays: &'a HashSet<LocalId>,
    /// Whether to unroll loops with a barrier.
    pub(super) barriers: bool,
}

/// The function with those loops unrolled; `None` if it would grow too large, or has no such loop.
pub(super) fn unroll(function: &Function, wanted: &Wanted<'_>) -> Option<Function> {
    let mut unroller = Unroller {
        uses: count_uses(&function.body, function.values.len()),
        pointers: Pointers::of(function),
        wanted,
        values: function.values.clone(),
        labels: function.labels,
        nodes: 0,
        has_unrolled: false,
    };
    let body = unroller.block(&function.body, &mut Copy::default())?;
    if !unroller.has_unrolled && wanted.arrays.is_empty() {
        return None;
    }
    Some(Function {
        values: unroller.values,
        labels: unroller.labels,
        body,
        ..function.clone()
    })
}

fn count_uses(block: &Block, values: usize) -> Vec<u32> {
    let mut uses = vec![0; values];
    block.for_each_node(&mut |node| {
        let operands = match node {
            Node::Inst(inst) => inst.kind.operands(),
            _ => node.operand().into_iter().collect(),
        };
        let ids = operands.into_iter().filter_map(|operand| operand.value());
        ids.for_each(|id| uses[id.index()] += 1);
    });
    uses
}

/// An operation that is counted and does nothing.
pub(super) fn dead(values: &mut Vec<Type>, loc: LocId) -> Node {
    let zero = Operand::Const(Const::i32(0));
    counted(
        values,
        InstKind::Binary(BinaryOp::Add, Type::I32, zero, zero),
        loc,
    )
}

/// A branch that is counted and goes nowhere: a choice between equal values.
fn dead_branch(values: &mut Vec<Type>, loc: LocId) -> Node {
    let zero = Operand::Const(Const::i32(0));
    let truth = Const {
        ty: Type::I1,
        bits: 1,
    };
    counted(
        values,
        InstKind::Select(Type::I32, Operand::Const(truth), zero, zero),
        loc,
    )
}

/// An instruction with an unused result.
fn counted(values: &mut Vec<Type>, kind: InstKind, loc: LocId) -> Node {
    values.push(Type::I32);
    Node::Inst(Inst {
        results: vec![ValueId(values.len() as u32 - 1)],
        kind,
        loc,
    })
}

/// For an instruction that exists only to be counted: whether it counts as a branch. `None` if its result is used.
pub(super) fn only_counts(inst: &Inst) -> Option<bool> {
    let is_branch = match inst.kind {
        InstKind::Binary(BinaryOp::Add, ..) => false,
        InstKind::Select(..) => true,
        _ => return None,
    };
    let operands = inst.kind.operands();
    let is_known = |operand: &Operand| operand.constant().is_some();
    operands.into_iter().all(is_known).then_some(is_branch)
}

/// The result of an operation on constants, unless a check has to see the operation.
fn computed(kind: &InstKind) -> Option<Const> {
    if let InstKind::Binary(BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr, ty, _, by) = kind {
        let bits = if *ty == Type::I64 { 64 } else { 32 };
        if by.constant()?.bits >= bits {
            return None;
        }
    }
    if let InstKind::Binary(op, ty, a, b) = kind
        && eval::overflows(*op, *ty, a.constant()?.bits, b.constant()?.bits)
    {
        return None;
    }
    if !kind.is_scalar_op() {
        return None;
    }
    fold(kind)?.constant()
}

/// The substitutions in a copy of the text.
#[derive(Clone, Default)]
struct Copy {
    /// Whether the copy is an additional one with other names.
    renames: bool,
    values: HashMap<ValueId, Operand>,
    labels: HashMap<LabelId, LabelId>,
    /// The variables of unrolled loops.
    rounds: HashMap<SlotId, Const>,
    /// Variables whose value is known at this place.
    known: HashMap<SlotId, Const>,
}

impl Copy {
    fn operand(&self, operand: &mut Operand) {
        if let Operand::Value(id) = operand
            && let Some(new) = self.values.get(id)
        {
            *operand = *new;
        }
    }

    /// Forgets variables that the blocks set.
    fn forget(&mut self, blocks: &[&Block]) {
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                if let InstKind::Set(slot, _) = inst.kind {
                    self.known.remove(&slot);
                }
            });
        }
    }

    /// Runs straight-line code on constants; `None` if it does anything else. Returns the value that it sets `slot` to.
    fn run(&mut self, insts: &[&Inst], slot: SlotId) -> Option<Option<Const>> {
        let mut set = None;
        for inst in insts {
            let mut kind = inst.kind.clone();
            for operand in kind.operands_mut() {
                self.operand(operand);
            }
            let result = match kind {
                InstKind::Get(read) => Operand::Const(*self.rounds.get(&read)?),
                InstKind::Set(assigned, Operand::Const(value)) if assigned == slot => {
                    set = Some(value);
                    continue;
                }
                _ => Operand::Const(computed(&kind)?),
            };
            self.values.insert(*inst.results.first()?, result);
        }
        Some(set)
    }
}

/// A loop that can be unrolled.
struct Rounds<'a> {
    slot: SlotId,
    /// The variable's value in each round, and after the last one.
    values: Vec<Const>,
    /// Its condition, at the start of the body.
    head: Vec<&'a Inst>,
    head_loc: LocId,
    rest: &'a [Node],
    step: Vec<&'a Inst>,
}

/// The start of a loop's body.
struct Head<'a> {
    insts: Vec<&'a Inst>,
    /// The loop is left if this is `sense`.
    cond: Operand,
    sense: bool,
    loc: LocId,
    rest: &'a [Node],
}

/// The first instructions of a body, and the `if` after them that leaves the loop.
fn head(body: &Block, label: LabelId) -> Option<Head<'_>> {
    let insts = insts(&body.0);
    let (node, rest) = body.0[insts.len()..].split_first()?;
    let Node::If {
        cond,
        then,
        otherwise,
        is_guard: false,
        loc,
    } = node
    else {
        return None;
    };
    let leaves = |block: &Block| matches!(block.0.as_slice(), [Node::Break(to)] if *to == label);
    let sense = match (then.0.is_empty(), otherwise.0.is_empty()) {
        (true, false) if leaves(otherwise) => false,
        (false, true) if leaves(then) => true,
        _ => return None,
    };
    Some(Head {
        insts,
        cond: *cond,
        sense,
        loc: *loc,
        rest,
    })
}

/// The instructions at the start of a list of nodes.
fn insts(nodes: &[Node]) -> Vec<&Inst> {
    let insts = nodes.iter().map_while(|node| match node {
        Node::Inst(inst) => Some(inst),
        _ => None,
    });
    insts.collect()
}

struct Unroller<'a> {
    /// How often each temporary of the original is used.
    uses: Vec<u32>,
    pointers: Pointers,
    wanted: &'a Wanted<'a>,
    values: Vec<Type>,
    labels: u32,
    /// The number of nodes created so far.
    nodes: usize,
    has_unrolled: bool,
}

impl Unroller<'_> {
    fn block(&mut self, block: &Block, copy: &mut Copy) -> Option<Block> {
        let mut nodes = Vec::with_capacity(block.0.len());
        self.nodes(&block.0, copy, &mut nodes)?;
        Some(Block(nodes))
    }

    /// Copies nodes. Returns whether a lane may continue after them; `None` if there are too many.
    fn nodes(&mut self, from: &[Node], copy: &mut Copy, to: &mut Vec<Node>) -> Option<bool> {
        for node in from {
            self.nodes += 1;
            if self.nodes > MOST_NODES {
                return None;
            }
            match node {
                Node::Inst(inst) => self.inst(inst, copy, to),
                Node::If {
                    cond,
                    then,
                    otherwise,
                    is_guard,
                    loc,
                } => {
                    let mut cond = *cond;
                    copy.operand(&mut cond);
                    // What a predicate switches off is executed all the same.
                    if let (Operand::Const(cond), true, false) = (cond, copy.renames, is_guard) {
                        self.dead_branch(*loc, to);
                        let taken = if cond.bits != 0 { then } else { otherwise };
                        if !self.nodes(&taken.0, copy, to)? {
                            return Some(false);
                        }
                        continue;
                    }
                    copy.forget(&[then, otherwise]);
                    to.push(Node::If {
                        cond,
                        then: self.block(then, &mut copy.clone())?,
                        otherwise: self.block(otherwise, &mut copy.clone())?,
                        is_guard: *is_guard,
                        loc: *loc,
                    });
                }
                Node::Loop {
                    label,
                    body,
                    step,
                    unroll,
                    loc,
                } => {
                    if let Some(rounds) = self.rounds(*label, body, step, copy) {
                        self.has_unrolled = true;
                        if !self.unrolled(&rounds, *loc, copy, to)? {
                            return Some(false);
                        }
                        continue;
                    }
                    copy.forget(&[body, step]);
                    let label = self.label(*label, copy);
                    // The step may use values from the body.
                    let mut inside = copy.clone();
                    let new_body = self.block(body, &mut inside)?;
                    inside.forget(&[body]);
                    to.push(Node::Loop {
                        label,
                        body: new_body,
                        step: self.block(step, &mut inside)?,
                        unroll: *unroll,
                        loc: *loc,
                    });
                }
                Node::Scope { label, body, loc } => {
                    // Values from a scope may be used after it.
                    let label = self.label(*label, copy);
                    let inner = self.block(body, copy)?;
                    copy.forget(&[body]);
                    to.push(Node::Scope {
                        label,
                        body: inner,
                        loc: *loc,
                    });
                }
                Node::Routine { id, body } => to.push(Node::Routine {
                    id: *id,
                    body: body.clone(),
                }),
                Node::Break(label) => {
                    to.push(Node::Break(*copy.labels.get(label).unwrap_or(label)))
                }
                Node::Continue(label) => {
                    to.push(Node::Continue(*copy.labels.get(label).unwrap_or(label)));
                }
                Node::Return(value) => {
                    let mut value = *value;
                    if let Some(value) = &mut value {
                        copy.operand(value);
                    }
                    to.push(Node::Return(value));
                }
            }
            if matches!(node, Node::Break(_) | Node::Continue(_) | Node::Return(_)) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The name of a label in the copy.
    fn label(&mut self, label: LabelId, copy: &mut Copy) -> LabelId {
        if !copy.renames {
            return label;
        }
        self.labels += 1;
        let new = LabelId(self.labels - 1);
        copy.labels.insert(label, new);
        new
    }

    fn inst(&mut self, inst: &Inst, copy: &mut Copy, to: &mut Vec<Node>) {
        let mut inst = inst.clone();
        for operand in inst.kind.operands_mut() {
            copy.operand(operand);
        }
        match inst.kind {
            InstKind::Get(slot) => {
                if let (Some(&value), Some(&result)) =
                    (copy.rounds.get(&slot), inst.results.first())
                {
                    copy.values.insert(result, Operand::Const(value));
                    return;
                }
            }
            InstKind::Set(slot, Operand::Const(value)) => {
                copy.known.insert(slot, value);
            }
            InstKind::Set(slot, Operand::Value(_)) => {
                copy.known.remove(&slot);
            }
            _ => {}
        }
        if copy.renames {
            if let (Some(value), Some(&result)) = (computed(&inst.kind), inst.results.first()) {
                copy.values.insert(result, Operand::Const(value));
                to.push(dead(&mut self.values, inst.loc));
                return;
            }
            for result in &mut inst.results {
                self.values.push(self.values[result.index()]);
                let new = ValueId(self.values.len() as u32 - 1);
                copy.values.insert(*result, Operand::Value(new));
                *result = new;
            }
        }
        to.push(Node::Inst(inst));
    }

    fn dead_branch(&mut self, loc: LocId, to: &mut Vec<Node>) {
        self.nodes += 1;
        to.push(dead_branch(&mut self.values, loc));
    }

    /// Adds a dead operation for each instruction that counts.
    fn dead_insts(&mut self, insts: &[&Inst], to: &mut Vec<Node>) {
        for inst in insts {
            if !matches!(inst.kind, InstKind::Get(_) | InstKind::Set(..)) {
                self.nodes += 1;
                to.push(dead(&mut self.values, inst.loc));
            }
        }
    }

    /// Copies a loop's body for each round. Returns whether a lane may continue after them.
    fn unrolled(
        &mut self,
        rounds: &Rounds<'_>,
        loop_loc: LocId,
        copy: &mut Copy,
        to: &mut Vec<Node>,
    ) -> Option<bool> {
        let (last, each) = rounds.values.split_last()?;
        for &value in each {
            let mut round = Copy {
                renames: true,
                ..copy.clone()
            };
            round.rounds.insert(rounds.slot, value);
            round.run(&rounds.head, rounds.slot);
            self.dead_insts(&rounds.head, to);
            // The `if` that leaves the loop.
            self.dead_branch(rounds.head_loc, to);
            if !self.nodes(rounds.rest, &mut round, to)? {
                return Some(false);
            }
            self.dead_insts(&rounds.step, to);
            // The back edge.
            self.dead_branch(loop_loc, to);
            copy.known = round.known;
        }
        self.dead_insts(&rounds.head, to);
        self.dead_branch(rounds.head_loc, to);
        copy.known.insert(rounds.slot, *last);
        to.push(Node::Inst(Inst {
            results: Vec::new(),
            kind: InstKind::Set(rounds.slot, Operand::Const(*last)),
            loc: loop_loc,
        }));
        Some(true)
    }

    /// The rounds of a loop, if it is to be unrolled.
    fn rounds<'n>(
        &self,
        label: LabelId,
        body: &'n Block,
        step: &'n Block,
        copy: &Copy,
    ) -> Option<Rounds<'n>> {
        let head = head(body, label)?;
        let step_insts = insts(&step.0);
        let Some(InstKind::Set(slot, _)) = step_insts.last().map(|inst| &inst.kind) else {
            return None;
        };
        let slot = *slot;
        let is_simple = step_insts.len() == step.0.len()
            && !leaves_or_sets(head.rest, label, slot)
            && self.keeps_to_itself(body, step);
        let indexes = is_simple && self.indexes(&body.0, slot);
        let most_rounds = match indexes {
            true => MOST_ROUNDS,
            false if is_simple && self.wanted.barriers => rounds_with_barrier(body)?,
            false => return None,
        };
        let mut values = vec![*copy.known.get(&slot)?];
        loop {
            let mut round = copy.clone();
            round.rounds.insert(slot, *values.last()?);
            round.run(&head.insts, slot)?;
            let mut cond = head.cond;
            round.operand(&mut cond);
            if (cond.constant()?.bits != 0) == head.sense {
                break;
            }
            values.push(round.run(&step_insts, slot)??);
            if values.len() > most_rounds {
                return None;
            }
        }
        Some(Rounds {
            slot,
            values,
            head: head.insts,
            head_loc: head.loc,
            rest: head.rest,
            step: step_insts,
        })
    }

    /// Whether values computed in a loop are not used after it.
    fn keeps_to_itself(&self, body: &Block, step: &Block) -> bool {
        let mut inside = HashMap::<ValueId, u32>::new();
        let mut made = Vec::<ValueId>::new();
        for block in [body, step] {
            block.for_each_node(&mut |node| {
                let operands = match node {
                    Node::Inst(inst) => {
                        made.extend(&inst.results);
                        inst.kind.operands()
                    }
                    _ => node.operand().into_iter().collect(),
                };
                let ids = operands.into_iter().filter_map(|operand| operand.value());
                ids.for_each(|id| *inside.entry(id).or_default() += 1);
            });
        }
        made.iter()
            .all(|id| self.uses[id.index()] == inside.get(id).copied().unwrap_or(0))
    }

    /// Whether a loop's variable is part of an index into one of the arrays.
    fn indexes(&self, nodes: &[Node], slot: SlotId) -> bool {
        let mut depends = HashSet::<ValueId>::new();
        let mut found = false;
        let mut visit = |node: &Node| {
            let Node::Inst(inst) = node else { return };
            let reads = |operand: &Operand| operand.value().is_some_and(|id| depends.contains(&id));
            let does = match &inst.kind {
                InstKind::Get(read) => *read == slot,
                InstKind::PtrAdd { .. } => inst.kind.operands().into_iter().any(reads),
                kind => kind.is_scalar_op() && kind.operands().into_iter().any(reads),
            };
            if does {
                depends.extend(&inst.results);
                let local = inst.results.first().and_then(|id| self.pointers.local(*id));
                found |= local.is_some_and(|local| self.wanted.arrays.contains(&local));
            }
        };
        for node in nodes {
            visit(node);
            for block in node.blocks() {
                block.for_each_node(&mut visit);
            }
        }
        found
    }
}

/// Whether there may be a loop to unroll because of its barrier.
pub(super) fn has_loop_with_barrier(body: &Block) -> bool {
    let mut found = false;
    body.for_each_node(&mut |node| {
        found |= matches!(node, Node::Loop { body, .. } if rounds_with_barrier(body).is_some());
    });
    found
}

/// The most rounds that a loop with a barrier may have to be unrolled; `None` without a barrier.
fn rounds_with_barrier(body: &Block) -> Option<usize> {
    let (mut nodes, mut meets) = (0, false);
    body.for_each_node(&mut |node| {
        nodes += 1;
        meets |= matches!(node, Node::Inst(inst) if matches!(inst.kind, InstKind::Barrier(_)));
    });
    meets.then(|| MOST_BARRIER_NODES / nodes)
}

/// Whether nodes leave or continue the loop, or set its variable.
fn leaves_or_sets(nodes: &[Node], label: LabelId, slot: SlotId) -> bool {
    nodes.iter().any(|node| match node {
        Node::Inst(inst) => matches!(inst.kind, InstKind::Set(set, _) if set == slot),
        Node::Break(to) | Node::Continue(to) => *to == label,
        Node::If { .. } | Node::Loop { .. } | Node::Scope { .. } | Node::Routine { .. } => node
            .blocks()
            .iter()
            .any(|block| leaves_or_sets(&block.0, label, slot)),
        Node::Return(_) => false,
    })
}
