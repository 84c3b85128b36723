//! Addresses as sums: a root, multiples of values, and a constant. Two instructions that compute the same value have the same name here.

use std::collections::{BTreeMap, HashMap};

use ir::{
    BinaryOp, Block, CompareOp, ConvertOp, Effect, Function, Inst, InstKind, Node, Object, Operand,
    SlotId, ValueId,
};

/// Limit of definitions that are looked at for one address, or one value of a loop.
const MOST_LOOKED_AT: u32 = 256;
/// A loop with more rounds is not fully unrolled.
const MOST_ROUNDS: i64 = 64;

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The pointer in a parameter.
    Param(SlotId),
    Object(Object),
    Other(ValueId),
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) root: Root,
    /// The bytes that each value is multiplied by.
    pub(super) terms: BTreeMap<ValueId, i64>,
    pub(super) offset: i64,
}

/// What is known of a function's values.
pub(super) struct Values<'m> {
    function: &'m Function,
    defs: Vec<Option<&'m InstKind>>,
    /// By value: the first value that is equal to it.
    same: Vec<ValueId>,
    known: HashMap<String, ValueId>,
    /// How often a variable has been set.
    versions: Vec<u32>,
    /// By value: in how many loops it is computed.
    depths: Vec<usize>,
    /// Values and variables that depend on a loaded value.
    loaded: Vec<bool>,
    tainted: Vec<bool>,
    /// How many assignments to each variable the text has.
    sets: Vec<u32>,
}

impl<'m> Values<'m> {
    pub(super) fn new(function: &'m Function) -> Values<'m> {
        let count = function.values.len();
        let mut values = Values {
            function,
            defs: vec![None; count],
            same: (0..count as u32).map(ValueId).collect(),
            known: HashMap::new(),
            versions: vec![0; function.slots.len()],
            depths: vec![0; count],
            loaded: vec![false; count],
            tainted: vec![false; function.slots.len()],
            sets: vec![0; function.slots.len()],
        };
        values.define(&function.body, 0);
        function.body.for_each_inst(&mut |inst| {
            if let InstKind::Set(slot, _) = inst.kind {
                values.sets[slot.index()] += 1;
            }
        });
        values.taint();
        values
    }

    fn define(&mut self, block: &'m Block, depth: usize) {
        for node in &block.0 {
            if let Node::Inst(inst) = node {
                for result in &inst.results {
                    self.defs[result.index()] = Some(&inst.kind);
                    self.depths[result.index()] = depth;
                }
            }
            let deeper = depth + usize::from(matches!(node, Node::Loop { .. }));
            for inner in node.blocks() {
                self.define(inner, deeper);
            }
        }
    }

    /// Finds the values that are loaded, or depend on a loaded value.
    fn taint(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            self.function.body.for_each_inst(&mut |inst| {
                let is_loaded = match &inst.kind {
                    InstKind::Load(..) | InstKind::Atomic { .. } => true,
                    InstKind::Get(slot) => self.tainted[slot.index()],
                    kind => kind
                        .operands()
                        .iter()
                        .any(|operand| self.is_from_memory(operand)),
                };
                if let InstKind::Set(slot, _) = &inst.kind
                    && is_loaded
                    && !self.tainted[slot.index()]
                {
                    self.tainted[slot.index()] = true;
                    changed = true;
                }
                for result in inst.results.iter().filter(|_| is_loaded) {
                    self.loaded[result.index()] = true;
                }
            });
        }
    }

    /// Whether an operand depends on a loaded value.
    pub(super) fn is_from_memory(&self, operand: &Operand) -> bool {
        operand.value().is_some_and(|id| self.loaded[id.index()])
    }

    /// Visits an instruction.
    pub(super) fn run(&mut self, inst: &'m Inst) {
        if let InstKind::Set(slot, _) = inst.kind {
            self.versions[slot.index()] += 1;
        }
        let [result] = inst.results[..] else { return };
        let name = match &inst.kind {
            InstKind::Get(slot) => format!("get {} {}", slot.0, self.versions[slot.index()]),
            kind if kind.effect() == Effect::Pure => {
                let mut kind = kind.clone();
                for operand in kind.operands_mut() {
                    if let Operand::Value(id) = operand {
                        *id = self.same[id.index()];
                    }
                }
                format!("{kind:?}")
            }
            _ => return,
        };
        self.same[result.index()] = *self.known.entry(name).or_insert(result);
    }

    /// Forgets what a block sets: the variables' values are unknown after it.
    pub(super) fn forget(&mut self, block: &Block) {
        block.for_each_inst(&mut |inst| {
            if let InstKind::Set(slot, _) = inst.kind {
                self.versions[slot.index()] += 1;
            }
        });
    }

    /// The variable that a value was read from.
    pub(super) fn slot(&self, value: ValueId) -> Option<SlotId> {
        match self.defs[value.index()] {
            Some(InstKind::Get(slot)) => Some(*slot),
            _ => None,
        }
    }

    /// What an operand starts from, if it is a pointer.
    pub(super) fn root(&self, operand: &Operand) -> Option<Root> {
        let id = operand.value()?;
        match self.defs[id.index()] {
            Some(InstKind::AddrOf(object)) => Some(Root::Object(*object)),
            Some(InstKind::Get(slot)) => Some(self.root_of(*slot, id)),
            Some(InstKind::PtrAdd { base, .. }) => self.root(base),
            Some(InstKind::Convert(_, a)) => self.root(a),
            _ => Some(Root::Other(self.same[id.index()])),
        }
    }

    fn root_of(&self, slot: SlotId, value: ValueId) -> Root {
        let mut params = self.function.params.iter();
        let is_param = params.any(|param| param.slot == slot);
        match is_param && self.sets[slot.index()] == 0 {
            true => Root::Param(slot),
            false => Root::Other(self.same[value.index()]),
        }
    }

    pub(super) fn address(&self, operand: &Operand) -> Address {
        let mut address = Address {
            root: self.root(operand).unwrap_or(Root::Other(ValueId(u32::MAX))),
            terms: BTreeMap::new(),
            offset: 0,
        };
        let (mut at, mut left) = (*operand, MOST_LOOKED_AT);
        while let Some(id) = at.value() {
            match self.defs[id.index()] {
                Some(InstKind::PtrAdd {
                    base,
                    index,
                    scale_bytes,
                    offset_bytes,
                    ..
                }) => {
                    address.offset = address.offset.wrapping_add(*offset_bytes);
                    self.add(&mut address, index, *scale_bytes, &mut left);
                    at = *base;
                }
                Some(InstKind::Convert(_, a)) => at = *a,
                _ => break,
            }
        }
        address.terms.retain(|_, scale| *scale != 0);
        address
    }

    /// Adds a multiple of an index.
    fn add(&self, to: &mut Address, operand: &Operand, scale: i64, left: &mut u32) {
        *left = left.saturating_sub(1);
        let id = match operand {
            Operand::Const(constant) => {
                let value = constant.bits as u32 as i32;
                to.offset = to.offset.wrapping_add(scale.wrapping_mul(value.into()));
                return;
            }
            Operand::Value(id) => *id,
        };
        let constant = |operand: &Operand| Some(i64::from(operand.constant()?.bits as u32 as i32));
        match self.defs[id.index()] {
            _ if *left == 0 => {}
            Some(InstKind::Binary(BinaryOp::Add | BinaryOp::SAdd, _, a, b)) => {
                self.add(to, a, scale, left);
                self.add(to, b, scale, left);
                return;
            }
            Some(InstKind::Binary(BinaryOp::Sub | BinaryOp::SSub, _, a, b)) => {
                self.add(to, a, scale, left);
                self.add(to, b, scale.wrapping_neg(), left);
                return;
            }
            Some(InstKind::Binary(BinaryOp::Mul | BinaryOp::SMul, _, a, b)) => {
                if let Some(times) = constant(b) {
                    return self.add(to, a, scale.wrapping_mul(times), left);
                }
                if let Some(times) = constant(a) {
                    return self.add(to, b, scale.wrapping_mul(times), left);
                }
            }
            Some(InstKind::Binary(BinaryOp::Shl, _, a, b)) => {
                if let Some(by) = constant(b).filter(|by| (0..31).contains(by)) {
                    return self.add(to, a, scale.wrapping_mul(1 << by), left);
                }
            }
            Some(InstKind::Convert(op, a)) if is_widening(*op) => {
                return self.add(to, a, scale, left);
            }
            _ => {}
        }
        let term = to.terms.entry(self.same[id.index()]).or_default();
        *term = term.wrapping_add(scale);
    }

    /// Whether a value may differ between the rounds of a loop that sets these variables; `depth` is the number of loops around that loop.
    pub(super) fn varies(&self, value: ValueId, sets: &[SlotId], depth: usize) -> bool {
        let mut left = vec![value];
        let mut looked_at = 0;
        while let Some(id) = left.pop() {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                return true;
            }
            // An address that is not a value, as of a null pointer, has no place among the values.
            let Some(&own_depth) = self.depths.get(id.index()) else {
                return true;
            };
            let is_inside = own_depth > depth;
            match self.defs[id.index()] {
                Some(InstKind::Get(slot)) if is_inside && sets.contains(slot) => return true,
                Some(kind) if is_inside && !matches!(kind, InstKind::Get(_)) => {
                    if kind.effect() != Effect::Pure {
                        return true;
                    }
                    left.extend(
                        kind.operands()
                            .into_iter()
                            .filter_map(|operand| operand.value()),
                    );
                }
                _ => {}
            }
        }
        false
    }

    /// The counter of a loop with a constant number of rounds, and its step: `cmp get $k, n` at the loop's head, `set $k, get $k + c` as
    /// its step.
    pub(super) fn counter(&self, body: &Block, step: &Block) -> Option<(SlotId, i64)> {
        let mut head = body.0.iter().filter_map(|node| match node {
            Node::If { cond, .. } => cond.value(),
            _ => None,
        });
        let (a, b) = match self.defs[head.next()?.index()] {
            Some(InstKind::Compare(op, _, a, b)) if is_bound(*op) => (a, b),
            _ => return None,
        };
        let slot = self.slot(a.value()?)?;
        let most = i64::from(b.constant()?.bits as u32 as i32);
        let (mut by, mut sets) = (None, 0);
        for block in [body, step] {
            block.for_each_inst(&mut |inst| {
                if let InstKind::Set(set, value) = &inst.kind
                    && *set == slot
                {
                    sets += 1;
                    by = self.step(value, slot);
                }
            });
        }
        let by = by.filter(|&by| by != 0 && sets == 1)?;
        (most.abs() / by.abs() <= MOST_ROUNDS).then_some((slot, by))
    }

    fn step(&self, value: &Operand, slot: SlotId) -> Option<i64> {
        match self.defs[value.value()?.index()]? {
            InstKind::Binary(BinaryOp::Add | BinaryOp::SAdd, _, a, b)
                if self.slot(a.value()?) == Some(slot) =>
            {
                Some(i64::from(b.constant()?.bits as u32 as i32))
            }
            _ => None,
        }
    }
}

fn is_bound(op: CompareOp) -> bool {
    matches!(
        op,
        CompareOp::Slt | CompareOp::Sle | CompareOp::Ult | CompareOp::Ule | CompareOp::Ne
    )
}

fn is_widening(op: ConvertOp) -> bool {
    use ir::Type;
    op.from_type() == Type::I32 && op.to_type() == Type::I64
}
