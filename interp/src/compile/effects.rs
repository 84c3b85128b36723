//! Analyses what a kernel may do to global memory: whether its blocks may communicate, and which parameters and
//! variables its stores and loads start from. The launch uses this to decide whether blocks can run in parallel.

use crate::isa::effects::{Effects, Root, Talk};
use std::collections::{HashMap, HashSet};

use ir::{
    ConvertOp, Effect, Function, Inst, InstKind, Intrinsic, LocId, Node, Object, Operand, SlotId,
    Space, ValueId,
};

use super::polls;

struct Search<'a> {
    function: &'a Function,
    definitions: Vec<Option<&'a Inst>>,
    sets: Vec<Vec<Operand>>,
    seen: HashSet<SlotId>,
    roots: HashSet<Root>,
}

/// The effects of single instructions.
#[derive(Default)]
struct Seen {
    ordered: bool,
    heap: bool,
    communicates: bool,
    /// Pointers outside of shared and local memory that are stored to, and loaded from.
    targets: Vec<Operand>,
    sources: Vec<Operand>,
    /// The values that atomics compare with.
    compared: Vec<Operand>,
    /// Results of atomics.
    atomics: Vec<(ValueId, LocId)>,
    volatile_loads: Vec<LocId>,
}

impl Seen {
    fn inst(&mut self, inst: &Inst) {
        let outside = |space| matches!(space, Space::Global | Space::Generic);
        match &inst.kind {
            InstKind::Store(access, ptr, _) if outside(access.space) => {
                self.ordered |= access.volatile;
                self.targets.push(*ptr);
            }
            InstKind::Load(access, ptr) => {
                if access.volatile {
                    self.communicates = true;
                    self.volatile_loads.push(inst.loc);
                }
                if outside(access.space) {
                    self.ordered |= access.volatile;
                    self.sources.push(*ptr);
                }
            }
            InstKind::Atomic {
                access,
                ptr,
                compare,
                ..
            } => {
                self.compared.extend(*compare);
                let results = inst.results.iter();
                self.atomics
                    .extend(results.map(|result| (*result, inst.loc)));
                if outside(access.space) {
                    self.ordered = true;
                    self.targets.push(*ptr);
                }
            }
            InstKind::Fence(_) | InstKind::AcqRelFence(_) => {
                self.communicates = true;
                self.ordered = true;
            }
            InstKind::Launch(_) => self.ordered = true,
            InstKind::Intrinsic(Intrinsic::HeapMalloc | Intrinsic::HeapFree, _) => {
                self.ordered = true;
                self.heap = true;
            }
            InstKind::Special(register) => self.ordered |= register.is_time(),
            // These act only within the block, or on memory that other blocks do not see.
            InstKind::Intrinsic(
                Intrinsic::SyncWarp
                | Intrinsic::BarSync
                | Intrinsic::BarArrive
                | Intrinsic::BarrierSync
                | Intrinsic::BarrierArrive
                | Intrinsic::Nanosleep
                | Intrinsic::Trap
                | Intrinsic::BadCall
                | Intrinsic::BadObject
                | Intrinsic::IsShared
                | Intrinsic::IsLocal
                | Intrinsic::IsConstant
                | Intrinsic::IsGlobal,
                _,
            )
            | InstKind::Store(..)
            | InstKind::Exchange(_)
            | InstKind::Barrier(_)
            | InstKind::Printf(..)
            | InstKind::Assert(..)
            | InstKind::Unsupported(_)
            | InstKind::Lifetime(..) => {}
            // Routines are analysed separately, and other calls are only in host code.
            InstKind::CallRoutine(..) | InstKind::Call(..) | InstKind::HostCall(..) => {}
            other => debug_assert!(
                matches!(other.effect(), Effect::Pure | Effect::Variable),
                "{other:?} may do something to memory that other blocks see"
            ),
        }
    }
}

/// By value: whether it is used.
fn used(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.values.len()];
    function.body.for_each_node(&mut |node| {
        let of_inst = match node {
            Node::Inst(inst) => inst.kind.operands(),
            _ => Vec::new(),
        };
        for operand in of_inst.into_iter().chain(node.operand()) {
            if let Operand::Value(id) = operand {
                used[id.index()] = true;
            }
        }
    });
    used
}

/// Analyses every access of a kernel.
pub(super) fn analyse(function: &Function) -> Effects {
    let mut search = Search {
        function,
        definitions: vec![None; function.values.len()],
        sets: vec![Vec::new(); function.slots.len()],
        seen: HashSet::new(),
        roots: HashSet::new(),
    };
    let mut seen = Seen::default();
    function.body.for_each_inst(&mut |inst| {
        for result in &inst.results {
            search.definitions[result.index()] = Some(inst);
        }
        match &inst.kind {
            InstKind::Set(slot, value) => search.sets[slot.index()].push(*value),
            InstKind::CallRoutine(callee, args) => {
                let params = &function.routines[callee.index()].params;
                for (slot, arg) in params.iter().zip(args) {
                    search.sets[slot.index()].push(*arg);
                }
            }
            _ => {}
        }
        seen.inst(inst);
    });
    let stores = search.roots_of(&seen.targets);
    let loads = search.roots_of(&seen.sources);
    let mut roots = HashMap::new();
    for pointer in seen.targets.iter().chain(&seen.sources) {
        if let Operand::Value(id) = pointer
            && let Some([root]) = search.roots_of(&[*pointer]).as_deref()
        {
            roots.insert(*id, *root);
        }
    }
    let mut guesses = HashSet::new();
    for compare in &seen.compared {
        search.guess(compare, &mut guesses);
    }
    let used = used(function);
    let used_atomics = seen.atomics.iter();
    let used_atomics = used_atomics.filter(|(result, _)| used[result.index()]);
    let volatile = seen.volatile_loads.iter().map(|loc| (*loc, false));
    let communications = volatile.chain(used_atomics.map(|(_, loc)| (*loc, true)));
    let polls = polls::analyse(function);
    let communications = communications.map(|(loc, is_atomic)| Talk {
        loc,
        is_atomic,
        decides: polls.waits.contains(&loc) || polls.glances.contains(&loc),
    });
    let talks_at = communications.max_by_key(|talk| talk.decides);
    Effects {
        ordered: seen.ordered,
        heap: seen.heap,
        communicates: seen.communicates || talks_at.is_some(),
        talks_at,
        stores,
        loads,
        roots,
        guesses,
        polls,
    }
}

impl Search<'_> {
    /// The roots of the pointers, in a fixed order; `None` if one of them may start anywhere.
    fn roots_of(&mut self, pointers: &[Operand]) -> Option<Vec<Root>> {
        let known = pointers.iter().all(|ptr| self.follow(ptr).is_some());
        self.seen.clear();
        let mut roots: Vec<Root> = self.roots.drain().collect();
        roots.sort_by_key(|root| match root {
            Root::Param(k) => (0, *k),
            Root::Global(id) => (1, id.0),
        });
        known.then_some(roots)
    }

    /// Collects the roots of a pointer; `None` if they are unknown.
    fn follow(&mut self, operand: &Operand) -> Option<()> {
        let id = match operand {
            Operand::Const(_) => return Some(()),
            Operand::Value(id) => *id,
        };
        let inst = self.definitions[id.index()]?;
        match &inst.kind {
            InstKind::Get(slot) => self.slot(*slot),
            InstKind::CallRoutine(callee, _) => {
                let results = &self.function.routines[callee.index()].results;
                let mut given = inst.results.iter().zip(results);
                let (_, slot) = given.find(|(result, _)| **result == id)?;
                self.slot(*slot)
            }
            InstKind::PtrAdd { base, .. } => self.follow(&{ *base }),
            InstKind::Convert(ConvertOp::ToGeneric | ConvertOp::ToGlobal, a) => {
                self.follow(&{ *a })
            }
            InstKind::Select(_, _, a, b) => {
                let (a, b) = (*a, *b);
                self.follow(&a)?;
                self.follow(&b)
            }
            InstKind::AddrOf(Object::Global(id)) => {
                self.roots.insert(Root::Global(*id));
                Some(())
            }
            InstKind::AddrOf(_) => Some(()),
            _ => None,
        }
    }

    /// Collects the loads that a value depends on.
    fn guess(&mut self, operand: &Operand, guesses: &mut HashSet<LocId>) {
        let Operand::Value(id) = operand else { return };
        let Some(inst) = self.definitions[id.index()] else {
            return;
        };
        match &inst.kind {
            InstKind::Load(..) => {
                guesses.insert(inst.loc);
            }
            InstKind::Get(slot) if self.seen.insert(*slot) => {
                for value in self.sets[slot.index()].clone() {
                    self.guess(&value, guesses);
                }
            }
            InstKind::Convert(_, a) => self.guess(&{ *a }, guesses),
            InstKind::Select(_, _, a, b) => {
                let (a, b) = (*a, *b);
                self.guess(&a, guesses);
                self.guess(&b, guesses);
            }
            _ => {}
        }
    }

    fn slot(&mut self, slot: SlotId) -> Option<()> {
        if !self.seen.insert(slot) {
            return Some(());
        }
        let param = self
            .function
            .params
            .iter()
            .position(|param| param.slot == slot);
        if let Some(index) = param {
            self.roots.insert(Root::Param(index as u32));
        }
        for value in self.sets[slot.index()].clone() {
            self.follow(&value)?;
        }
        Some(())
    }
}
