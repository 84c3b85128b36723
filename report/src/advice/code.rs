//! What the IR says of an access: how many instructions it is, whether it is in a loop, and what its address is computed from.

use std::collections::{HashMap, HashSet};

use interp::{Site, trap::AccessOp};
use ir::{
    AtomicOp, BinaryOp, Block, Function, Inst, InstKind, Module, Node, Operand, SlotId, Space,
    SpecialReg, ValueId,
};

/// Limit of steps from a pointer to its root: no real address takes more.
const MOST_STEPS: u32 = 4000;

/// An instruction of a kernel, and the number of loops around it.
#[derive(Clone, Copy)]
struct Listed<'m> {
    inst: &'m Inst,
    loops: u32,
}

/// A kernel's instructions in the order of the text.
pub(super) struct Code<'m> {
    all: Vec<Listed<'m>>,
    defs: HashMap<ValueId, &'m Inst>,
    sets: HashMap<SlotId, Vec<Operand>>,
}

/// What an atomic is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// It adds to the old value, or keeps the greater one, and the old value is unused: lanes can combine theirs first.
    Joins,
    /// The same, but each lane needs the value that was there before its own: a ticket, a place in a list.
    Tickets,
    /// A lock, a flag or an exchange: nothing to combine.
    Takes,
    /// It writes to a place that is free: a key of a table, a level of a search. Nothing to combine either.
    Claims,
}

/// What combines the two elements that one line reads: a sum, or another operation such as a product or a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joined {
    /// `a += b`.
    Sum,
    /// Another operation on both.
    Other,
}

impl<'m> Code<'m> {
    pub(super) fn of(function: &'m Function) -> Code<'m> {
        let mut code = Code {
            all: vec![],
            defs: HashMap::new(),
            sets: HashMap::new(),
        };
        code.block(&function.body, 0);
        code
    }

    fn block(&mut self, block: &'m Block, loops: u32) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => {
                    self.defs.extend(inst.results.iter().map(|&id| (id, inst)));
                    if let InstKind::Set(slot, value) = inst.kind {
                        self.sets.entry(slot).or_default().push(value);
                    }
                    self.all.push(Listed { inst, loops });
                }
                Node::If {
                    then, otherwise, ..
                } => {
                    self.block(then, loops);
                    self.block(otherwise, loops);
                }
                Node::Loop { body, step, .. } => {
                    self.block(body, loops + 1);
                    self.block(step, loops + 1);
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body, loops),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    /// The instructions of an access.
    fn at(&self, site: &Site) -> impl Iterator<Item = Listed<'m>> {
        let is_of = |listed: &&Listed<'m>| {
            listed.inst.loc == site.loc && op_of(&listed.inst.kind) == Some(site.op)
        };
        self.all.iter().filter(is_of).copied()
    }

    /// The number of instructions in one execution of the access: one for each member if a whole struct is copied.
    pub(super) fn parts(&self, site: &Site) -> u64 {
        self.at(site).count() as u64
    }

    /// Whether the access is in a loop.
    pub(super) fn is_in_loop(&self, site: &Site) -> bool {
        self.at(site).any(|listed| listed.loops > 0)
    }

    /// The instructions that the address of the access is computed from.
    fn address(&self, site: &Site) -> Vec<&'m InstKind> {
        let pointers = self.at(site).filter_map(|listed| {
            let (_, pointer) = listed.inst.kind.access()?;
            Some(*pointer)
        });
        self.behind(pointers.collect())
    }

    /// Whether the address is computed with a remainder, as a row and a column from one number are.
    pub(super) fn goes_by_remainder(&self, site: &Site) -> bool {
        let is_remainder = |kind: &&InstKind| {
            matches!(kind, InstKind::Binary(BinaryOp::SRem | BinaryOp::URem, ..))
        };
        self.address(site).iter().any(is_remainder)
    }

    /// Whether the address of the access depends on a value in memory.
    pub(super) fn goes_by_data(&self, site: &Site) -> bool {
        let mut behind = self.address(site).into_iter();
        behind.any(|kind| {
            matches!(
                kind,
                InstKind::Load(..) | InstKind::Atomic { .. } | InstKind::Exchange(_)
            )
        })
    }

    /// What the atomic of an access is for.
    pub(super) fn purpose(&self, site: &Site) -> Option<Purpose> {
        self.at(site).find_map(|listed| {
            let InstKind::Atomic {
                op, value, compare, ..
            } = &listed.inst.kind
            else {
                return None;
            };
            // A loop that computes a new value from the old one expects the old one. Code that looks for a free place expects a constant.
            let expects_constant = compare.is_some_and(|compare| compare.value().is_none());
            let is_used = listed.inst.results.iter().any(|&old| self.takes(old));
            let is_constant = value.value().is_none();
            Some(match op {
                AtomicOp::Exch | AtomicOp::Store => Purpose::Takes,
                // A loop around the atomic computes the stored value; a lock stores a constant.
                AtomicOp::Cas if is_constant => Purpose::Takes,
                AtomicOp::Cas if expects_constant => Purpose::Claims,
                AtomicOp::Cas => Purpose::Joins,
                _ if is_used => Purpose::Tickets,
                _ => Purpose::Joins,
            })
        })
    }

    /// Whether each thread adds up in a loop what it loads, and stores the sum to an element only it writes: the product of a row and a
    /// vector.
    pub(super) fn sums_for_each_thread(&self, site: &Site) -> bool {
        let loads: Vec<&InstKind> = self.at(site).map(|listed| &listed.inst.kind).collect();
        let is_global = |inst: &Inst| {
            let access = inst.kind.access();
            access.is_some_and(|(access, _)| matches!(access.space, Space::Global | Space::Generic))
        };
        let by_thread = |kind: &&InstKind| matches!(kind, InstKind::Special(SpecialReg::TidX));
        let mut stores = self.all.iter().filter(|listed| {
            matches!(listed.inst.kind, InstKind::Store(..)) && is_global(listed.inst)
        });
        let is_sum = |listed: &Listed<'_>| {
            let InstKind::Store(_, ptr, values) = &listed.inst.kind else {
                return false;
            };
            let from = self.behind(values.clone());
            listed.loops == 0
                && loads
                    .iter()
                    .any(|load| from.iter().any(|kind| std::ptr::eq(*kind, *load)))
                && self.behind(vec![*ptr]).iter().any(by_thread)
        };
        let begins = |listed: Listed<'m>| {
            let (_, pointer) = listed.inst.kind.access()?;
            self.root(*pointer)
        };
        // Memory that a list points to is not a row.
        let is_listed = |kind: &InstKind| matches!(kind, InstKind::Load(..));
        let follows_list = self.at(site).filter_map(begins).any(is_listed);
        self.is_in_loop(site) && !follows_list && stores.any(is_sum)
    }

    /// The root of a pointer, followed through variables that are set once.
    fn root(&self, pointer: Operand) -> Option<&'m InstKind> {
        let mut pointer = pointer;
        for _ in 0..MOST_STEPS {
            let kind = &self.defs.get(&pointer.value()?)?.kind;
            pointer = match kind {
                InstKind::PtrAdd { base, .. } => *base,
                InstKind::Convert(_, from) => *from,
                InstKind::Get(slot) => match self.sets.get(slot).map(Vec::as_slice) {
                    Some([value]) => *value,
                    // The last assignment continues a loop from the value that the loop reads.
                    Some([.., last]) => *last,
                    _ => return Some(kind),
                },
                _ => return Some(kind),
            };
        }
        None
    }

    /// Whether an instruction or a branch uses a value.
    fn takes(&self, id: ValueId) -> bool {
        let is_it = |operand: &&Operand| operand.value() == Some(id);
        let mut all = self.all.iter();
        all.any(|listed| listed.inst.kind.operands().iter().any(is_it))
    }

    /// Whether a line combines two elements of an array and stores the result into the same array: a step of a tree reduction.
    pub(super) fn joins_elements(&self, site: &Site, module: &Module) -> Option<Joined> {
        let line = |inst: &Inst| module.loc(inst.loc).line;
        let here = self.all.iter().map(|listed| listed.inst);
        let mut stores = here.filter(|inst| line(inst) == site.line);
        stores.find_map(|inst| {
            let InstKind::Store(access, _, values) = &inst.kind else {
                return None;
            };
            let behind = self.behind(values.clone());
            let loads = behind.iter().filter(|kind| {
                matches!(kind, InstKind::Load(from, _) if from.space == access.space && from.object == access.object)
            });
            if access.object.is_none() || loads.count() != 2 {
                return None;
            }
            let value = self.defs.get(&values.first()?.value()?)?;
            Some(match &value.kind {
                InstKind::Binary(op, ..)
                    if matches!(op.wrapping(), BinaryOp::Add | BinaryOp::FAdd) =>
                {
                    Joined::Sum
                }
                _ => Joined::Other,
            })
        })
    }

    /// All instructions that these operands are computed from, through variables. Memory that is read is not followed.
    fn behind(&self, start: Vec<Operand>) -> Vec<&'m InstKind> {
        let (mut seen, mut found, mut left) = (HashSet::new(), vec![], start);
        while let Some(operand) = left.pop() {
            let Some(id) = operand.value().filter(|&id| seen.insert(id)) else {
                continue;
            };
            let Some(inst) = self.defs.get(&id) else {
                continue;
            };
            found.push(&inst.kind);
            match &inst.kind {
                InstKind::Get(slot) => left.extend(self.sets.get(slot).into_iter().flatten()),
                kind if kind.is_scalar_op() || matches!(kind, InstKind::PtrAdd { .. }) => {
                    left.extend(kind.operands().into_iter().copied());
                }
                _ => {}
            }
        }
        found
    }
}

fn op_of(kind: &InstKind) -> Option<AccessOp> {
    match kind {
        InstKind::Load(..) => Some(AccessOp::Load),
        InstKind::Store(..) => Some(AccessOp::Store),
        InstKind::Atomic { .. } => Some(AccessOp::Atomic),
        _ => None,
    }
}
