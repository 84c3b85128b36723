//! A function as the row of its effects: accesses, barriers, branches, loops, with terms for values.
//!
//! Computation is not in the row, only the uses of its results. So two functions that only differ in how they compute an index have similar
//! rows. Variables are terms: the value that was set last. Where control flow merges with different values, a variable gets a term for that
//! merge, and the row records which value comes from where.

use std::collections::HashMap;

use ir::{
    Access, AtomicOp, Block, Effect, Function, Inst, InstKind, LabelId, LocId, Node, Object,
    Operand, SlotId, Space, SpecialReg, Type, ValueId,
};

use super::term::{Kind, Shape, Term, Terms};

/// One effect.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) loc: LocId,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum What {
    /// An access of memory.
    Access(Touch),
    /// `__syncthreads()` without a predicate.
    Barrier,
    /// Any other instruction that does more than compute. Its own operands are blank.
    Other(InstKind, Vec<Term>),
    If(Term),
    Else,
    EndIf,
    Loop(LabelId),
    /// The end of a loop's body, before the next round.
    Step(LabelId),
    EndLoop(LabelId),
    Scope,
    EndScope(LabelId),
    Break(LabelId),
    Continue(LabelId),
    Return(Option<Term>),
    /// A variable's value at the end of a path that merges with another one.
    Comes(SlotId, Term),
}

/// An access.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Touch {
    pub(super) access: Access,
    pub(super) kind: TouchKind,
    pub(super) pointer: Term,
    /// The stored value; for an atomic, its operand, and the value it compares with.
    pub(super) values: Vec<Term>,
    /// The first value that it gives.
    pub(super) gives: Option<Term>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TouchKind {
    Load,
    Store,
    Atomic(AtomicOp),
}

/// The row of a function; `None` if it has routines, which are called from several places.
pub(super) fn row(function: &Function, terms: &mut Terms) -> Option<Vec<Step>> {
    if !function.routines.is_empty() {
        return None;
    }
    let mut slots = HashMap::new();
    for (at, param) in function.params.iter().enumerate() {
        let is_pointer = matches!(function.slots[param.slot.index()].ty, Type::Ptr(_));
        let shape = match is_pointer {
            true => Shape::Pointer(at),
            false => Shape::Param(at),
        };
        slots.insert(param.slot, terms.of(shape));
    }
    let mut walk = Walk {
        terms,
        values: HashMap::new(),
        given: HashMap::new(),
        meetings: 0,
        breaks: HashMap::new(),
        continues: HashMap::new(),
        row: vec![],
        is_known: true,
    };
    walk.block(&function.body, Some(slots));
    let row = walk.row;
    walk.is_known.then_some(row)
}

/// The variables' values at a place; `None` if no thread gets there.
type Slots = Option<HashMap<SlotId, Term>>;

struct Walk<'t> {
    terms: &'t mut Terms,
    values: HashMap<ValueId, Term>,
    /// How many instructions of each kind have given a value.
    given: HashMap<Kind, u32>,
    meetings: u32,
    breaks: HashMap<LabelId, Vec<HashMap<SlotId, Term>>>,
    continues: HashMap<LabelId, Vec<HashMap<SlotId, Term>>>,
    row: Vec<Step>,
    is_known: bool,
}

impl Walk<'_> {
    fn push(&mut self, what: What, loc: LocId) {
        self.row.push(Step { what, loc });
    }

    fn operand(&mut self, operand: Operand) -> Term {
        match operand {
            Operand::Const(constant) => self.terms.constant(constant),
            Operand::Value(id) => match self.values.get(&id) {
                Some(&term) => term,
                None => {
                    self.is_known = false;
                    self.terms.of(Shape::Unset(SlotId(u32::MAX)))
                }
            },
        }
    }

    fn block(&mut self, block: &Block, mut slots: Slots) -> Slots {
        for node in &block.0 {
            let known = slots?;
            slots = self.node(node, known);
        }
        slots
    }

    fn node(&mut self, node: &Node, mut slots: HashMap<SlotId, Term>) -> Slots {
        match node {
            Node::Inst(inst) => {
                self.inst(inst, &mut slots);
                Some(slots)
            }
            Node::If {
                cond,
                then,
                otherwise,
                loc,
                ..
            } => {
                let cond = self.operand(*cond);
                let first = self.row.len();
                self.push(What::If(cond), *loc);
                let then = self.block(then, Some(slots.clone()));
                let other = self.row.len();
                self.push(What::Else, *loc);
                let otherwise = self.block(otherwise, Some(slots));
                let end = self.row.len();
                self.push(What::EndIf, *loc);
                if let (Some(then), Some(otherwise)) = (&then, &otherwise)
                    && let Some(chosen) = self.chosen(cond, (first, other, end))
                {
                    self.row.truncate(first);
                    self.row.extend(chosen);
                    return Some(self.choose(cond, then, otherwise));
                }
                let ways: Vec<_> = then.into_iter().chain(otherwise).collect();
                self.meet(ways, *loc)
            }
            Node::Loop {
                label,
                body,
                step,
                loc,
                ..
            } => self.loop_node(*label, (body, step), slots, *loc),
            Node::Scope { label, body, loc } => {
                self.push(What::Scope, *loc);
                let end = self.block(body, Some(slots));
                self.push(What::EndScope(*label), *loc);
                let mut ways: Vec<_> = end.into_iter().collect();
                ways.extend(self.breaks.remove(label).unwrap_or_default());
                self.meet(ways, *loc)
            }
            Node::Routine { .. } => {
                self.is_known = false;
                Some(slots)
            }
            Node::Break(label) => {
                self.push(What::Break(*label), LocId(0));
                self.breaks.entry(*label).or_default().push(slots);
                None
            }
            Node::Continue(label) => {
                self.push(What::Continue(*label), LocId(0));
                self.continues.entry(*label).or_default().push(slots);
                None
            }
            Node::Return(value) => {
                let value = value.map(|value| self.operand(value));
                self.push(What::Return(value), LocId(0));
                None
            }
        }
    }

    /// A branch that only chooses between values, as `?:` does: its sides do nothing, or the same store.
    fn chosen(
        &mut self,
        cond: Term,
        (first, other, end): (usize, usize, usize),
    ) -> Option<Option<Step>> {
        match (&self.row[first + 1..other], &self.row[other + 1..end]) {
            ([], []) => Some(None),
            ([one], [two]) => {
                let (What::Access(a), What::Access(b)) = (one.what.clone(), two.what.clone())
                else {
                    return None;
                };
                let is_same = a.kind == TouchKind::Store
                    && (a.access, a.kind, a.pointer) == (b.access, b.kind, b.pointer);
                let ([value], [other]) = (&a.values[..], &b.values[..]) else {
                    return None;
                };
                if !is_same {
                    return None;
                }
                let (mut touch, loc) = (a.clone(), one.loc);
                touch.values = vec![self.select(cond, *value, *other)];
                let what = What::Access(touch);
                Some(Some(Step { what, loc }))
            }
            _ => None,
        }
    }

    /// The variables after a branch that only chooses.
    fn choose(
        &mut self,
        cond: Term,
        then: &HashMap<SlotId, Term>,
        otherwise: &HashMap<SlotId, Term>,
    ) -> HashMap<SlotId, Term> {
        let mut all = then.clone();
        let mut slots: Vec<SlotId> = then.keys().chain(otherwise.keys()).copied().collect();
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            let mut value = |way: &HashMap<SlotId, Term>| match way.get(&slot) {
                Some(&term) => term,
                None => self.terms.of(Shape::Unset(slot)),
            };
            let (a, b) = (value(then), value(otherwise));
            let value = if a == b { a } else { self.select(cond, a, b) };
            all.insert(slot, value);
        }
        all
    }

    /// `cond ? a : b`, for any type.
    fn select(&mut self, cond: Term, a: Term, b: Term) -> Term {
        let blank = Operand::Const(ir::Const::i32(0));
        let kind = InstKind::Select(Type::I32, blank, blank, blank);
        self.terms.op(&kind, vec![cond, a, b])
    }

    fn loop_node(
        &mut self,
        label: LabelId,
        (body, step): (&Block, &Block),
        mut slots: HashMap<SlotId, Term>,
        loc: LocId,
    ) -> Slots {
        let mut set: Vec<SlotId> = vec![];
        for block in [body, step] {
            block.for_each_inst(&mut |inst| {
                if let InstKind::Set(slot, _) = inst.kind
                    && !set.contains(&slot)
                {
                    set.push(slot);
                }
            });
        }
        self.meetings += 1;
        let meeting = self.meetings;
        for &slot in &set {
            if let Some(&before) = slots.get(&slot) {
                self.push(What::Comes(slot, before), loc);
            }
            slots.insert(slot, self.terms.of(Shape::Met(meeting, slot)));
        }
        self.push(What::Loop(label), loc);
        let end = self.block(body, Some(slots));
        self.push(What::Step(label), loc);
        let mut ways: Vec<_> = end.into_iter().collect();
        ways.extend(self.continues.remove(&label).unwrap_or_default());
        let before_step = self.meet(ways, loc);
        let end = self.block(step, before_step);
        for &slot in &set {
            if let Some(&value) = end.as_ref().and_then(|end| end.get(&slot)) {
                self.push(What::Comes(slot, value), loc);
            }
        }
        self.push(What::EndLoop(label), loc);
        let ways = self.breaks.remove(&label).unwrap_or_default();
        self.meet(ways, loc)
    }

    /// Merges control flow: variables whose values differ get a term of the merge.
    fn meet(&mut self, mut ways: Vec<HashMap<SlotId, Term>>, loc: LocId) -> Slots {
        let first = ways.pop()?;
        if ways.is_empty() {
            return Some(first);
        }
        let mut differ: Vec<SlotId> = vec![];
        for way in &ways {
            for slot in first.keys().chain(way.keys()) {
                if first.get(slot) != way.get(slot) && !differ.contains(slot) {
                    differ.push(*slot);
                }
            }
        }
        if differ.is_empty() {
            return Some(first);
        }
        differ.sort_unstable();
        self.meetings += 1;
        let mut met = first.clone();
        for slot in differ {
            for way in ways.iter().chain([&first]) {
                let value = way.get(&slot).copied();
                let value = value.unwrap_or_else(|| self.terms.of(Shape::Unset(slot)));
                self.push(What::Comes(slot, value), loc);
            }
            met.insert(slot, self.terms.of(Shape::Met(self.meetings, slot)));
        }
        Some(met)
    }

    fn give(&mut self, kind: Kind, results: &[ValueId]) -> Option<Term> {
        let count = self.given.entry(kind).or_default();
        let number = *count;
        *count += 1;
        for (at, &result) in results.iter().enumerate() {
            let term = self.terms.of(Shape::Given(kind, number, at as u32));
            self.values.insert(result, term);
        }
        results.first().map(|first| self.values[first])
    }

    fn inst(&mut self, inst: &Inst, slots: &mut HashMap<SlotId, Term>) {
        let loc = inst.loc;
        match &inst.kind {
            InstKind::Get(slot) => {
                let value = slots.get(slot).copied();
                let value = value.unwrap_or_else(|| self.terms.of(Shape::Unset(*slot)));
                self.set(inst, value);
            }
            InstKind::Set(slot, value) => {
                let value = self.operand(*value);
                slots.insert(*slot, value);
            }
            InstKind::Special(SpecialReg::ActiveMask) => {
                self.give(Kind::Mask, &inst.results);
            }
            InstKind::Special(register) if !register.changes() => {
                let term = self.terms.of(Shape::Special(*register));
                self.set(inst, term);
            }
            InstKind::AddrOf(object) => {
                let term = self.terms.of(Shape::Address(*object));
                self.set(inst, term);
            }
            InstKind::Load(access, pointer) => {
                self.touch(inst, *access, (TouchKind::Load, *pointer), &[]);
            }
            InstKind::Store(access, pointer, values) => {
                self.touch(inst, *access, (TouchKind::Store, *pointer), values);
            }
            InstKind::Atomic {
                op,
                access,
                ptr,
                value,
                compare,
            } => {
                let values: Vec<Operand> = std::iter::once(*value).chain(*compare).collect();
                self.touch(inst, *access, (TouchKind::Atomic(*op), *ptr), &values);
            }
            InstKind::Barrier(None) => self.push(What::Barrier, loc),
            kind if kind.effect() == Effect::Pure && inst.results.len() == 1 => {
                let operands = kind.operands().into_iter().copied().collect::<Vec<_>>();
                let operands: Vec<Term> =
                    operands.into_iter().map(|one| self.operand(one)).collect();
                let term = match kind {
                    InstKind::Select(..) => self.select(operands[0], operands[1], operands[2]),
                    kind => self.terms.op(kind, operands),
                };
                self.set(inst, term);
            }
            kind => {
                let operands = kind.operands().into_iter().copied().collect::<Vec<_>>();
                let operands = operands.into_iter().map(|one| self.operand(one)).collect();
                let mut blank = kind.clone();
                for operand in blank.operands_mut() {
                    *operand = Operand::Const(ir::Const::i32(0));
                }
                self.push(What::Other(blank, operands), loc);
                let kind = match kind {
                    InstKind::Exchange(_) => Kind::Exchange,
                    _ => Kind::Other,
                };
                self.give(kind, &inst.results);
            }
        }
    }

    fn set(&mut self, inst: &Inst, term: Term) {
        if let Some(&result) = inst.results.first() {
            self.values.insert(result, term);
        }
    }

    fn touch(
        &mut self,
        inst: &Inst,
        access: Access,
        (kind, pointer): (TouchKind, Operand),
        values: &[Operand],
    ) {
        let pointer = self.operand(pointer);
        let values = values.iter().map(|&value| self.operand(value)).collect();
        let at = self.row.len();
        let what = |gives| {
            What::Access(Touch {
                access,
                kind,
                pointer,
                values,
                gives,
            })
        };
        let class = match kind {
            TouchKind::Load => Some(Kind::Load),
            TouchKind::Atomic(_) => Some(Kind::Atomic),
            TouchKind::Store => None,
        };
        let gives = class.and_then(|class| self.give(class, &inst.results));
        debug_assert_eq!(at, self.row.len());
        self.push(what(gives), inst.loc);
    }
}

impl Touch {
    /// Whether it writes to memory.
    pub(super) fn writes(&self) -> bool {
        self.kind != TouchKind::Load
    }

    /// Whether it accesses that space, or may do so.
    pub(super) fn is_in(&self, space: Space) -> bool {
        self.access.space == space || self.access.space == Space::Generic
    }

    /// The object that the source names.
    pub(super) fn object(&self) -> Option<Object> {
        self.access.object
    }
}

impl Step {
    /// The terms of an effect, except an access's pointer.
    pub(super) fn terms(&self) -> Vec<Term> {
        match &self.what {
            What::Access(touch) => touch.values.clone(),
            What::Other(_, terms) => terms.clone(),
            What::If(term) | What::Comes(_, term) | What::Return(Some(term)) => vec![*term],
            What::Barrier
            | What::Else
            | What::EndIf
            | What::Loop(_)
            | What::Step(_)
            | What::EndLoop(_)
            | What::Scope
            | What::EndScope(_)
            | What::Break(_)
            | What::Continue(_)
            | What::Return(None) => vec![],
        }
    }
}

/// Whether a value or an address in a row depends on a register.
pub(super) fn reads(row: &[Step], terms: &Terms, register: SpecialReg) -> bool {
    let wanted = Shape::Special(register);
    row.iter().any(|step| {
        let pointer = match &step.what {
            What::Access(touch) => Some(touch.pointer),
            _ => None,
        };
        let mut all = step.terms().into_iter().chain(pointer);
        all.any(|term| terms.any(term, &mut |shape| *shape == wanted))
    })
}
