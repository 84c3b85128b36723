//! Pass: replaces an `if` that repeats an earlier one by that one's results.
//!
//! A function that is called twice with the same arguments is inlined twice. [`simplify`](super::simplify()) recognises its straight-line
//! code; this pass recognises its branches, if they only compute: the condition is the same, the variables have the same values, and the
//! instructions are the same except for the names of variables inside. The simulator counts branches, so this is for PTX only.

use rustc_hash::FxHashMap;

use super::{
    Block, Function, Inst, InstKind, Module, Node, Operand, Simplifier, SlotId, Type, ValueId,
    is_pure, simplify_function,
};
use crate::{FunctionKind, LocId};

/// Merges the branches of every kernel of a simplified module.
pub fn merge_branches(module: &mut Module) {
    for function in &mut module.functions {
        if function.kind == FunctionKind::Kernel {
            while merge_once(function) {}
        }
    }
}

fn merge_once(function: &mut Function) -> bool {
    let mut reads = FxHashMap::default();
    count_reads(&function.body, &mut reads);
    let mut simplifier = Simplifier {
        aliases: vec![None; function.values.len()],
        branches: Some(Branches {
            slot_types: function.slots.iter().map(|slot| slot.ty).collect(),
            values: std::mem::take(&mut function.values),
            reads,
            seen: vec![],
            has_merged: false,
        }),
        ..Simplifier::default()
    };
    let body = std::mem::take(&mut function.body);
    function.body = simplifier.block(body);
    let branches = simplifier.branches.take().expect("it was there");
    function.values = branches.values;
    simplify_function(function);
    branches.has_merged
}

fn count_reads(block: &Block, reads: &mut FxHashMap<SlotId, usize>) {
    block.for_each_inst(&mut |inst| {
        if let InstKind::Get(slot) = inst.kind {
            *reads.entry(slot).or_default() += 1;
        }
    });
}

/// The branches seen so far.
pub(super) struct Branches {
    slot_types: Vec<Type>,
    /// The type of each temporary, new ones included.
    values: Vec<Type>,
    /// How often each variable is read.
    reads: FxHashMap<SlotId, usize>,
    /// The branches whose results are visible here.
    pub(super) seen: Vec<Branch>,
    has_merged: bool,
}

/// An `if` that only computes.
pub(super) struct Branch {
    cond: Operand,
    then: Block,
    otherwise: Block,
    /// The values before it of the variables that it depends on.
    before: FxHashMap<SlotId, Operand>,
    /// The variables that other code may read afterwards.
    results: Vec<SlotId>,
    /// Their values afterwards.
    after: FxHashMap<SlotId, ValueId>,
}

impl Simplifier {
    /// The branch, if it only computes. `inside` counts the reads in it.
    pub(super) fn branch(
        &self,
        cond: Operand,
        [then, otherwise]: [&Block; 2],
        inside: &FxHashMap<SlotId, usize>,
    ) -> Option<Branch> {
        let branches = self.branches.as_ref()?;
        let mut uses = Uses::default();
        uses.add(then)?;
        let assigned_first = std::mem::take(&mut uses.assigned);
        uses.add(otherwise)?;
        uses.assigned.retain(|slot| assigned_first.contains(slot));
        let (mut before, mut results) = (FxHashMap::default(), vec![]);
        for &(slot, is_set) in &uses.slots {
            let is_free = uses.assigned.contains(&slot) && !uses.read_first.contains(&slot);
            if is_free {
                results.push(slot);
            } else if let Some(&value) = self.known.get(&slot) {
                before.insert(slot, value);
                results.extend(is_set.then_some(slot));
            } else if uses.read_first.contains(&slot)
                || branches.reads.get(&slot) != inside.get(&slot)
            {
                return None;
            }
        }
        Some(Branch {
            cond,
            then: then.clone(),
            otherwise: otherwise.clone(),
            before,
            results,
            after: FxHashMap::default(),
        })
    }

    /// The number of reads of each variable in the blocks of an `if`.
    pub(super) fn reads_of(&self, blocks: [&Block; 2]) -> FxHashMap<SlotId, usize> {
        let mut reads = FxHashMap::default();
        if self.branches.is_some() {
            blocks
                .iter()
                .for_each(|block| count_reads(block, &mut reads));
        }
        reads
    }

    pub(super) fn set_all(
        &mut self,
        results: Vec<(SlotId, Operand)>,
        nodes: &mut Vec<Node>,
        loc: LocId,
    ) {
        for (slot, value) in results {
            nodes.push(Node::Inst(Inst {
                results: vec![],
                kind: InstKind::Set(slot, value),
                loc,
            }));
            self.learn(slot, value);
        }
    }

    /// The values of its variables after it, if it repeats an earlier one.
    pub(super) fn repeated(&mut self, branch: &Branch) -> Option<Vec<(SlotId, Operand)>> {
        let branches = self.branches.as_mut()?;
        let found = branches.seen.iter().find_map(|other| {
            let mut names = Names {
                slots: vec![],
                values: FxHashMap::default(),
                branch,
                other,
            };
            if branch.cond != other.cond
                || !names.are_same(&branch.then, &other.then)
                || !names.are_same(&branch.otherwise, &other.otherwise)
            {
                return None;
            }
            let value = |slot: &SlotId| {
                let (_, of) = names.slots.iter().find(|(own, _)| own == slot)?;
                Some((*slot, (*other.after.get(of)?).into()))
            };
            branch.results.iter().map(value).collect()
        });
        branches.has_merged |= found.is_some();
        found
    }

    /// Reads the branch's variables after it, for later branches that repeat it.
    pub(super) fn remember(&mut self, mut branch: Branch, nodes: &mut Vec<Node>, loc: LocId) {
        for &slot in &branch.results {
            let Some(branches) = self.branches.as_mut() else {
                return;
            };
            let result = ValueId(branches.values.len() as u32);
            branches.values.push(branches.slot_types[slot.index()]);
            branch.after.insert(slot, result);
            self.aliases.push(None);
            nodes.push(Node::Inst(Inst {
                results: vec![result],
                kind: InstKind::Get(slot),
                loc,
            }));
            self.learn(slot, result.into());
        }
        if let Some(branches) = self.branches.as_mut() {
            branches.seen.push(branch);
        }
    }
}

/// How a block that only computes uses variables.
#[derive(Default)]
struct Uses {
    /// Each variable, and whether it is set.
    slots: Vec<(SlotId, bool)>,
    /// Variables that may be read before they are set.
    read_first: Vec<SlotId>,
    /// Variables that are set on every path.
    assigned: Vec<SlotId>,
}

impl Uses {
    fn note(&mut self, slot: SlotId, sets: bool) {
        match self.slots.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, is_set)) => *is_set |= sets,
            None => self.slots.push((slot, sets)),
        }
    }

    /// `None` if the block has other effects.
    fn add(&mut self, block: &Block) -> Option<()> {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => match inst.kind {
                    InstKind::Get(slot) => {
                        self.note(slot, false);
                        if !self.assigned.contains(&slot) {
                            self.read_first.push(slot);
                        }
                    }
                    InstKind::Set(slot, _) => {
                        self.note(slot, true);
                        self.assigned.push(slot);
                    }
                    ref kind if is_pure(kind) => {}
                    _ => return None,
                },
                Node::If {
                    then, otherwise, ..
                } => {
                    let before = self.assigned.clone();
                    self.add(then)?;
                    let first = std::mem::replace(&mut self.assigned, before);
                    self.add(otherwise)?;
                    self.assigned.retain(|slot| first.contains(slot));
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// Maps the names of one branch to those of another.
struct Names<'a> {
    slots: Vec<(SlotId, SlotId)>,
    values: FxHashMap<ValueId, ValueId>,
    branch: &'a Branch,
    other: &'a Branch,
}

impl Names<'_> {
    fn are_same(&mut self, own: &Block, other: &Block) -> bool {
        own.0.len() == other.0.len()
            && own.0.iter().zip(&other.0).all(|pair| match pair {
                (Node::Inst(own), Node::Inst(other)) => self.are_same_inst(own, other),
                (
                    Node::If {
                        cond,
                        then,
                        otherwise,
                        ..
                    },
                    Node::If {
                        cond: other_cond,
                        then: other_then,
                        otherwise: other_otherwise,
                        ..
                    },
                ) => {
                    self.operand(*cond) == *other_cond
                        && self.are_same(then, other_then)
                        && self.are_same(otherwise, other_otherwise)
                }
                _ => false,
            })
    }

    fn are_same_inst(&mut self, own: &Inst, other: &Inst) -> bool {
        let mut kind = own.kind.clone();
        for operand in kind.operands_mut() {
            *operand = self.operand(*operand);
        }
        if let (
            InstKind::Get(slot) | InstKind::Set(slot, _),
            InstKind::Get(of) | InstKind::Set(of, _),
        ) = (&mut kind, &other.kind)
        {
            if !self.pair(*slot, *of) {
                return false;
            }
            *slot = *of;
        }
        self.values.extend(
            own.results
                .iter()
                .copied()
                .zip(other.results.iter().copied()),
        );
        kind == other.kind && own.results.len() == other.results.len()
    }

    /// Whether the two variables may correspond: they do already, or had the same value before.
    fn pair(&mut self, own: SlotId, other: SlotId) -> bool {
        let known = self.slots.iter().find(|(a, b)| *a == own || *b == other);
        match known {
            Some(pair) => *pair == (own, other),
            None => {
                self.slots.push((own, other));
                self.branch.before.get(&own) == self.other.before.get(&other)
            }
        }
    }

    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Value(value) => self.values.get(&value).copied().unwrap_or(value).into(),
            constant => constant,
        }
    }
}
