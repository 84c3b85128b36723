//! Pass: simplifies a program without changing what it does. In and out: verified modules.
//!
//! In each block, from the top: operations on constants become constants (by [`eval`]), a `get` of a variable whose value is known becomes
//! that value, a pure operation that was done before in this block or one around it becomes its result, an `if` on a constant becomes the
//! branch taken. Then pure operations without uses are removed. All of this repeats until nothing changes, so that running the pass again
//! changes nothing.
//!
//! Everything that is counted or reported stays: loads, stores and atomics (`volatile` or not), barriers, branches on anything but
//! constants, integer divisions (they report a zero), every `set`. The clock is read each time.

use rustc_hash::FxHashMap;

use super::renumber::renumber;
use super::{
    Block, Const, Effect, Function, Inst, InstKind, Module, Node, Operand, SlotId, Space, Type,
    ValueId, eval,
};

mod branches;
mod memory;

pub use branches::merge_branches;
pub use memory::forward_loads;

/// Simplifies every function.
pub fn simplify(module: &mut Module) {
    module.functions.iter_mut().for_each(simplify_function);
}

fn simplify_function(function: &mut Function) {
    loop {
        let mut simplifier = Simplifier {
            aliases: vec![None; function.values.len()],
            ..Simplifier::default()
        };
        let body = std::mem::take(&mut function.body);
        function.body = simplifier.block(body);
        let removed = remove_unused(function);
        renumber(function);
        if !simplifier.changed && !removed {
            return;
        }
    }
}

/// Whether the same operands always give the same result without other effects, so that it need not be done twice.
fn is_pure(kind: &InstKind) -> bool {
    match kind {
        InstKind::Binary(op, ..) => !op.is_division(),
        InstKind::Special(register) => !register.changes(),
        // These stay where they are in the source.
        InstKind::Intrinsic(..) => false,
        other => other.effect() == Effect::Pure,
    }
}

/// Whether control can reach the code after a block.
fn goes_on(block: &Block) -> bool {
    match block.0.last() {
        Some(Node::Break(_) | Node::Continue(_) | Node::Return(_)) => false,
        Some(Node::Inst(inst)) => !memory::never_returns(&inst.kind),
        _ => true,
    }
}

#[derive(Default)]
struct Simplifier {
    /// The replacement of each temporary whose instruction was removed.
    aliases: Vec<Option<Operand>>,
    /// The current value of each variable, for the active lanes.
    known: FxHashMap<SlotId, Operand>,
    /// Operations whose results are visible here.
    done: FxHashMap<InstKind, ValueId>,
    /// The values in `known` before each change, and the additions to `done`: for undoing both.
    before: Vec<(SlotId, Option<Operand>)>,
    added: Vec<InstKind>,
    /// Whether anything changed.
    changed: bool,
    /// If branches are merged: the branches so far.
    branches: Option<branches::Branches>,
    /// In a host function: the known contents of memory, and the known conditions.
    memory: Option<memory::Memory>,
    conditions: Vec<ValueId>,
}

impl Simplifier {
    /// Facts learned inside only hold inside; `known` and `done` are restored afterwards.
    fn nested(&mut self, block: Block) -> Block {
        let (before, added) = (self.before.len(), self.added.len());
        let seen = self.branches.as_ref().map_or(0, |all| all.seen.len());
        let saved = self.memory.as_ref().map(memory::Memory::save);
        let conditions = self.conditions.len();
        let block = self.block(block);
        if let (Some(memory), Some(saved)) = (&mut self.memory, saved) {
            memory.restore(saved);
        }
        for condition in self.conditions.drain(conditions..) {
            self.aliases[condition.index()] = None;
        }
        if let Some(all) = &mut self.branches {
            all.seen.truncate(seen);
        }
        for (slot, value) in self.before.drain(before..).rev() {
            match value {
                Some(value) => self.known.insert(slot, value),
                None => self.known.remove(&slot),
            };
        }
        for kind in self.added.drain(added..) {
            self.done.remove(&kind);
        }
        block
    }

    /// Records the value of a variable.
    fn learn(&mut self, slot: SlotId, value: Operand) {
        let before = self.known.insert(slot, value);
        self.before.push((slot, before));
    }

    fn block(&mut self, block: Block) -> Block {
        let mut nodes = Vec::with_capacity(block.0.len());
        self.nodes(block, &mut nodes);
        Block(nodes)
    }

    /// Simplifies the statements of a block and adds them to `nodes`. A branch with a constant condition is replaced by the side that runs.
    fn nodes(&mut self, block: Block, nodes: &mut Vec<Node>) {
        let mut rest = block.0.into_iter();
        while let Some(mut node) = rest.next() {
            if let Some(operand) = node.operand_mut() {
                self.resolve(operand);
            }
            match node {
                Node::Inst(inst) => nodes.extend(self.inst(inst).map(Node::Inst)),
                Node::If {
                    cond: Operand::Const(cond),
                    then,
                    otherwise,
                    ..
                } => {
                    self.changed = true;
                    self.nodes(if cond.bits != 0 { then } else { otherwise }, nodes);
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    is_guard,
                    loc,
                } => {
                    let reads = self.reads_of([&then, &otherwise]);
                    let then = self.nested_where(cond, true, then);
                    let otherwise = self.nested_where(cond, false, otherwise);
                    let branch = self.branch(cond, [&then, &otherwise], &reads);
                    if let Some(results) = branch.as_ref().and_then(|it| self.repeated(it)) {
                        self.changed = true;
                        self.set_all(results, nodes, loc);
                        continue;
                    }
                    self.forget(&[&then, &otherwise]);
                    match (goes_on(&then), goes_on(&otherwise)) {
                        (true, false) => self.assume(cond, true),
                        (false, true) => self.assume(cond, false),
                        _ => {}
                    }
                    nodes.push(Node::If {
                        cond,
                        then,
                        otherwise,
                        is_guard,
                        loc,
                    });
                    if let Some(branch) = branch {
                        self.remember(branch, nodes, loc);
                    }
                }
                Node::Loop {
                    label,
                    body,
                    step,
                    unroll,
                    loc,
                } => {
                    self.forget(&[&body, &step]);
                    nodes.extend(self.before_loop(&[&body, &step]));
                    let body = self.nested(body);
                    let step = self.nested(step);
                    nodes.push(Node::Loop {
                        label,
                        body,
                        step,
                        unroll,
                        loc,
                    });
                }
                Node::Scope { label, body, loc } => {
                    let body = self.nested(body);
                    self.forget(&[&body]);
                    nodes.push(Node::Scope { label, body, loc });
                }
                Node::Routine { id, body } => {
                    let body = self.nested(body);
                    nodes.push(Node::Routine { id, body });
                }
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => nodes.push(node),
            }
            if matches!(
                nodes.last(),
                Some(Node::Break(_) | Node::Continue(_) | Node::Return(_))
            ) {
                self.changed |= rest.next().is_some();
                return; // No lane goes on.
            }
        }
    }

    /// Forgets the variables that the blocks set.
    fn forget(&mut self, blocks: &[&Block]) {
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                if let InstKind::Set(slot, _) = inst.kind
                    && let Some(before) = self.known.remove(&slot)
                {
                    self.before.push((slot, Some(before)));
                }
            });
        }
        if let Some(memory) = &mut self.memory {
            memory.forget_all(blocks);
        }
    }

    /// A side of an `if`, in which the condition holds or does not.
    fn nested_where(&mut self, cond: Operand, holds: bool, block: Block) -> Block {
        let conditions = self.conditions.len();
        self.assume(cond, holds);
        let block = self.nested(block);
        for condition in self.conditions.drain(conditions..) {
            self.aliases[condition.index()] = None;
        }
        block
    }

    /// Records that a condition holds from here on, or does not. Branches of kernels are counted, so this is for host functions.
    fn assume(&mut self, cond: Operand, holds: bool) {
        if let (Some(_), Operand::Value(id)) = (&self.memory, cond) {
            self.aliases[id.index()] = Some(Const::bool(holds).into());
            self.conditions.push(id);
        }
    }

    /// Loads that a loop would repeat in each round.
    fn before_loop(&mut self, blocks: &[&Block]) -> Vec<Node> {
        let Some(memory) = &mut self.memory else {
            return Vec::new();
        };
        let nodes = memory.before_loop(blocks);
        self.changed |= !nodes.is_empty();
        self.aliases.resize(self.aliases.len() + nodes.len(), None);
        nodes
    }

    fn resolve(&self, operand: &mut Operand) {
        if let Operand::Value(id) = operand
            && let Some(alias) = self.aliases[id.index()]
        {
            *operand = alias;
        }
    }

    /// The instruction, unless its result is replaced.
    fn inst(&mut self, mut inst: Inst) -> Option<Inst> {
        for operand in inst.kind.operands_mut() {
            self.resolve(operand);
        }
        if let InstKind::Set(slot, value) = inst.kind {
            self.learn(slot, value);
        }
        let result = match *inst.results.as_slice() {
            [result] => Some(result),
            _ => None,
        };
        if let Some(memory) = &mut self.memory {
            if let (Some(value), Some(result)) = (memory.value(&inst.kind), result) {
                self.changed = true;
                self.aliases[result.index()] = Some(value);
                return None;
            }
            memory.done(&inst.kind, result);
        }
        let Some(result) = result else {
            return Some(inst);
        };
        self.normalise(&mut inst.kind);
        if let InstKind::Get(slot) = inst.kind
            && !self.known.contains_key(&slot)
        {
            self.learn(slot, result.into());
            return Some(inst);
        }
        let is_pure = is_pure(&inst.kind);
        let alias = match inst.kind {
            InstKind::Get(slot) => self.known.get(&slot).copied(),
            _ => fold(&inst.kind).or_else(|| {
                let done = is_pure.then(|| self.done.get(&inst.kind)).flatten();
                done.map(|&id| id.into())
            }),
        };
        if alias.is_some() {
            self.changed = true;
            self.aliases[result.index()] = alias;
            return None;
        }
        if is_pure {
            self.done.insert(inst.kind.clone(), result);
            self.added.push(inst.kind.clone());
        }
        Some(inst)
    }

    /// Moves a constant index into the offset, as the builder does.
    fn normalise(&mut self, kind: &mut InstKind) {
        if let InstKind::PtrAdd {
            index,
            unsigned,
            scale_bytes,
            offset_bytes,
            ..
        } = kind
            && let Operand::Const(constant) = *index
        {
            if *scale_bytes == 0 && !*unsigned && constant == Const::i32(0) {
                return;
            }
            self.changed = true;
            let number = match constant.ty {
                Type::I32 if !*unsigned => constant.bits as i32 as i64,
                _ => constant.bits as i64,
            };
            *offset_bytes = offset_bytes.wrapping_add(number.wrapping_mul(*scale_bytes));
            (*index, *unsigned, *scale_bytes) = (Const::i32(0).into(), false, 0);
        }
    }
}

/// The result of an operation on constants, if it is known before the program runs; a sum with zero is its operand.
pub fn fold(kind: &InstKind) -> Option<Operand> {
    let constant = |ty, bits| Some(Const { ty, bits }.into());
    match *kind {
        InstKind::Unary(op, ty, a) => constant(ty, eval::unary(op, ty, a.constant()?.bits)),
        InstKind::Binary(op, ty, a, b) => {
            let (a, b) = (a.constant()?.bits, b.constant()?.bits);
            if eval::divides_by_zero(op, b) {
                return None;
            }
            constant(ty, eval::binary(op, ty, a, b))
        }
        InstKind::Fma(ty, a, b, c) => {
            let (a, b, c) = (a.constant()?, b.constant()?, c.constant()?);
            constant(ty, eval::fma(ty, a.bits, b.bits, c.bits))
        }
        InstKind::FmaHalves(a, b, c) => {
            let (a, b, c) = (a.constant()?, b.constant()?, c.constant()?);
            constant(Type::I32, eval::fma_halves(a.bits, b.bits, c.bits))
        }
        InstKind::FmaBfloats(a, b, c) => {
            let (a, b, c) = (a.constant()?, b.constant()?, c.constant()?);
            constant(Type::I32, eval::fma_bfloats(a.bits, b.bits, c.bits))
        }
        InstKind::Compare(op, ty, a, b) => {
            let result = eval::compare(op, ty, a.constant()?.bits, b.constant()?.bits);
            constant(Type::I1, result as u64)
        }
        InstKind::Select(_, cond, a, b) => match cond {
            Operand::Const(cond) => Some(if cond.bits != 0 { a } else { b }),
            Operand::Value(_) => (a == b).then_some(a),
        },
        InstKind::Convert(op, a) => {
            let a = a.constant()?;
            // Pointers of known spaces are left to the device.
            let known_space = |ty| matches!(ty, Type::Ptr(space) if space != Space::Generic);
            if known_space(a.ty) || known_space(op.to_type()) {
                return None;
            }
            constant(op.to_type(), eval::convert(op, a.bits))
        }
        InstKind::PtrAdd {
            base,
            scale_bytes: 0,
            offset_bytes: 0,
            ..
        } => Some(base),
        _ => None,
    }
}

/// Removes pure operations and `get`s without uses: backwards, so that one walk is enough. Returns whether there were any.
fn remove_unused(function: &mut Function) -> bool {
    let mut used = vec![false; function.values.len()];
    let mut body = std::mem::take(&mut function.body);
    let removed = sweep(&mut body, &mut used);
    function.body = body;
    removed
}

fn sweep(block: &mut Block, used: &mut [bool]) -> bool {
    let mut removed = false;
    let mut kept = Vec::with_capacity(block.0.len());
    for mut node in std::mem::take(&mut block.0).into_iter().rev() {
        if let Node::Inst(inst) = &node {
            let removable =
                is_pure(&inst.kind) || matches!(inst.kind, InstKind::Get(_) | InstKind::Special(_));
            if removable && inst.results.iter().all(|id| !used[id.index()]) {
                removed = true;
                continue;
            }
            let operands = inst.kind.operands().into_iter();
            operands
                .filter_map(|operand| operand.value())
                .for_each(|id| used[id.index()] = true);
        }
        for block in node.blocks_mut().into_iter().rev() {
            removed |= sweep(block, used);
        }
        if let Some(id) = node.operand().and_then(|operand| operand.value()) {
            used[id.index()] = true;
        }
        kept.push(node);
    }
    kept.reverse();
    block.0 = kept;
    removed
}

#[cfg(test)]
mod tests;
