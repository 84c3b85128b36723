//! Proves that barriers order nothing: no access before one conflicts with an access after it.
//!
//! The program's module is compared with the one without some barriers. Without a barrier, accesses that could come just before it may run
//! concurrently with those just after it: accesses on all paths and in all rounds up to the next barrier that is left. For each such pair
//! with a write, the two places are compared. Places are sums of the thread's index, of arguments and of values that all threads of a block
//! share. If equal places mean equal threads, the pair never conflicts. Everything else prevents a proof: a place that comes from memory, a
//! loop variable that is not a multiple of the block's threads, generic pointers, atomics, `volatile`, fences, and exchanges of a warp.
//!
//! Premises: a dimension of the block that the kernel never reads is 1; pointers in different parameters lead to different buffers, which
//! the runs have shown for this program's launches.

mod meeting;

use std::collections::{BTreeMap, BTreeSet};

use ir::{Function, FunctionKind, InstKind, LabelId, Module, SlotId, Space, SpecialReg, Varies};

use super::{
    skeleton::{Step, TouchKind, What, reads, row},
    term::{Shape, Sum, Term, Terms},
};

/// The sentence that proves that barriers may be removed; `None` if there is no proof.
pub(super) fn needless(old: &Module, new: &Module, aliased: &[String]) -> Option<String> {
    if old.functions.len() != new.functions.len() {
        return None;
    }
    let mut needs_buffers = false;
    let mut is_idle = true;
    let mut is_any = false;
    for (a, b) in old.functions.iter().zip(&new.functions) {
        let mut terms = Terms::default();
        let (before, after) = (row(a, &mut terms)?, row(b, &mut terms)?);
        let removed = removed(&before, &after)?;
        if removed.is_empty() {
            continue;
        }
        if a.kind != FunctionKind::Kernel {
            return None;
        }
        is_any = true;
        let kernel = Kernel::new(a, &before, &mut terms, removed);
        let proof = kernel.proof()?;
        if proof.needs_buffers && aliased.contains(&a.name) {
            return None;
        }
        needs_buffers |= proof.needs_buffers;
        is_idle &= proof.is_idle;
    }
    let premise = match needs_buffers {
        true => ", as long as its pointers lead to separate buffers, as here",
        false => "",
    };
    is_any.then(|| match is_idle {
        true => "there is no access between it and the next barrier, the begin or the end of the kernel".to_string(),
        false => format!("what a thread accesses up to the next barrier is its own, for all sizes and data{premise}"),
    })
}

/// The sentence that proves that added barriers leave no race in shared memory; `None` if there is no proof.
pub(super) fn placed(old: &Module, new: &Module, aliased: &[String]) -> Option<String> {
    if old.functions.len() != new.functions.len() {
        return None;
    }
    let mut is_any = false;
    for (a, b) in old.functions.iter().zip(&new.functions) {
        let mut terms = Terms::default();
        let (before, after) = (row(a, &mut terms)?, row(b, &mut terms)?);
        let placed = removed(&after, &before)?;
        if placed.is_empty() {
            continue;
        }
        if b.kind != FunctionKind::Kernel || aliased.contains(&b.name) {
            return None;
        }
        is_any = true;
        let mut kernel = Kernel::new(b, &after, &mut terms, vec![]);
        let is_reached = placed.iter().all(|&at| kernel.is_reached_by_all(at));
        if !is_reached || !kernel.is_without_race(Space::Shared) {
            return None;
        }
    }
    is_any.then(|| {
        "every thread of a block comes to it, and between two barriers no thread accesses what another one writes in shared memory, for all sizes and data".to_string()
    })
}

/// The barriers of a row that are missing in another one; `None` if the rows differ in anything else.
fn removed(before: &[Step], after: &[Step]) -> Option<Vec<usize>> {
    let mut all = vec![];
    let mut rest = after.iter().peekable();
    for (at, step) in before.iter().enumerate() {
        if rest.peek().is_some_and(|next| next.what == step.what) {
            rest.next();
        } else if step.what == What::Barrier {
            all.push(at);
        } else {
            return None;
        }
    }
    rest.next().is_none().then_some(all)
}

/// What a proof depends on.
struct Proof {
    needs_buffers: bool,
    /// Whether one side of each barrier is empty.
    is_idle: bool,
}

/// A kernel of which some barriers are left out.
struct Kernel<'a> {
    function: &'a Function,
    row: &'a [Step],
    terms: &'a mut Terms,
    removed: Vec<usize>,
    /// The possible next steps, by step; the row's length is the end.
    next: Vec<Vec<usize>>,
    previous: Vec<Vec<usize>>,
    /// The dimensions of the block that the kernel reads.
    reads: Vec<SpecialReg>,
    /// Loop variables: the initial value, and the value in the next round.
    counters: BTreeMap<Term, (Term, Term)>,
    /// Loop variables that grow by the block's threads, and their initial value.
    strides: BTreeMap<Term, Sum>,
}

impl<'a> Kernel<'a> {
    fn new(
        function: &'a Function,
        row: &'a [Step],
        terms: &'a mut Terms,
        removed: Vec<usize>,
    ) -> Kernel<'a> {
        let next = successors(row);
        let mut previous = vec![vec![]; row.len() + 1];
        for (at, all) in next.iter().enumerate() {
            for &to in all {
                previous[to].push(at);
            }
        }
        let mut read = vec![];
        for register in [SpecialReg::TidX, SpecialReg::TidY, SpecialReg::TidZ] {
            if reads(row, terms, register) {
                read.push(register);
            }
        }
        let counters = counters(row, terms);
        let strides = strides(&counters, terms);
        Kernel {
            function,
            row,
            terms,
            removed,
            next,
            previous,
            reads: read,
            counters,
            strides,
        }
    }

    fn proof(mut self) -> Option<Proof> {
        let mut proof = Proof {
            needs_buffers: false,
            is_idle: true,
        };
        for &barrier in &self.removed.clone() {
            let after = self.reached(barrier, &self.next);
            let before = self.reached(barrier, &self.previous);
            let acts = |steps: &BTreeSet<usize>| {
                let mut steps = steps.iter();
                steps.any(|&at| matches!(self.row[at].what, What::Access(_) | What::Other(..)))
            };
            if !acts(&before) || !acts(&after) {
                continue;
            }
            proof.is_idle = false;
            for &at in before.union(&after) {
                if !is_plain(&self.row[at]) {
                    return None;
                }
            }
            for &a in &before {
                for &b in &after {
                    if !self.never_meet(a, b, &mut proof) {
                        return None;
                    }
                }
            }
        }
        Some(proof)
    }

    /// The steps that can be reached from a barrier without passing another one that is left.
    fn reached(&self, from: usize, edges: &[Vec<usize>]) -> BTreeSet<usize> {
        self.reached_from(edges[from].clone(), edges)
    }

    fn reached_from(&self, mut left: Vec<usize>, edges: &[Vec<usize>]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        while let Some(at) = left.pop() {
            let is_end = at >= self.row.len();
            let stops =
                !is_end && self.row[at].what == What::Barrier && !self.removed.contains(&at);
            if is_end || stops || !seen.insert(at) {
                continue;
            }
            left.extend(&edges[at]);
        }
        seen
    }

    /// Whether no two threads of a block conflict in a memory between two barriers.
    fn is_without_race(&mut self, space: Space) -> bool {
        let is_barrier = |step: &Step| step.what == What::Barrier;
        let barriers = (0..self.row.len()).filter(|&at| is_barrier(&self.row[at]));
        let mut intervals: Vec<BTreeSet<usize>> =
            barriers.map(|at| self.reached(at, &self.next)).collect();
        intervals.push(self.reached_from(vec![0], &self.next));
        let mut proof = Proof {
            needs_buffers: false,
            is_idle: false,
        };
        for interval in intervals {
            let is_in = |&at: &usize| match &self.row[at].what {
                What::Access(touch) => touch.is_in(space),
                // Other kinds of barriers order accesses in their own way.
                What::Other(kind, _) => matches!(kind, InstKind::Intrinsic(..)),
                _ => false,
            };
            let inside: Vec<usize> = interval.into_iter().filter(is_in).collect();
            for &a in &inside {
                let What::Access(touch) = &self.row[a].what else {
                    return false;
                };
                if touch.access.volatile {
                    return false;
                }
                for &b in &inside {
                    if !self.are_atomic(a, b) && !self.never_meet(a, b, &mut proof) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn are_atomic(&self, a: usize, b: usize) -> bool {
        let is = |at: usize| matches!(&self.row[at].what, What::Access(touch) if matches!(touch.kind, TouchKind::Atomic(_)));
        is(a) && is(b)
    }

    /// Whether all threads of a block reach a step together: every decision on the way is the same for the block.
    fn is_reached_by_all(&self, at: usize) -> bool {
        let mut around: Vec<Term> = vec![];
        let mut enclosing: Vec<LabelId> = vec![];
        let mut conditions: Vec<Term> = vec![];
        for (index, step) in self.row.iter().enumerate() {
            if index == at {
                conditions.clone_from(&around);
            }
            match &step.what {
                What::If(condition) => around.push(*condition),
                What::EndIf => {
                    around.pop();
                }
                What::EndLoop(label) if self.is_between(*label, at) => enclosing.push(*label),
                What::EndScope(label) if self.scope_has(index, at) => enclosing.push(*label),
                _ => {}
            }
        }
        // Jumps out of what encloses the step, and exits of threads.
        let mut around: Vec<Term> = vec![];
        for step in self.row {
            match &step.what {
                What::If(condition) => around.push(*condition),
                What::EndIf => {
                    around.pop();
                }
                What::Break(label) | What::Continue(label) if enclosing.contains(label) => {
                    conditions.extend(&around);
                }
                What::Return(_) => conditions.extend(&around),
                _ => {}
            }
        }
        conditions
            .iter()
            .all(|&term| self.is_of_block(term, &mut vec![]))
    }

    /// Whether a step is inside a loop.
    fn is_between(&self, label: LabelId, at: usize) -> bool {
        let begins = self
            .row
            .iter()
            .position(|step| step.what == What::Loop(label));
        let ends = self
            .row
            .iter()
            .position(|step| step.what == What::EndLoop(label));
        begins.is_some_and(|begin| begin < at) && ends.is_some_and(|end| at < end)
    }

    /// Whether the scope that ends at a step encloses another step.
    fn scope_has(&self, end: usize, at: usize) -> bool {
        let mut depth = 0;
        for index in (0..end).rev() {
            match &self.row[index].what {
                What::EndScope(_) => depth += 1,
                What::Scope if depth == 0 => return (index..end).contains(&at),
                What::Scope => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Whether a term is the same for all threads of a block that arrive together.
    fn is_of_block(&self, term: Term, assumed: &mut Vec<Term>) -> bool {
        if assumed.contains(&term) {
            return true;
        }
        if let Some(&(begin, next)) = self.counters.get(&term) {
            assumed.push(term);
            return self.is_of_block(begin, assumed) && self.is_of_block(next, assumed);
        }
        match self.terms.shape(term) {
            Shape::Special(register) => matches!(register.varies(), Varies::Block | Varies::Grid),
            Shape::Param(_) | Shape::Const(_) | Shape::Pointer(_) | Shape::Address(_) => true,
            Shape::Op(_, parts) => parts.iter().all(|&part| self.is_of_block(part, assumed)),
            Shape::Sum(sum) => {
                let mut parts = sum.parts.iter();
                parts.all(|&(part, _)| self.is_of_block(part, assumed))
            }
            Shape::Given(..) | Shape::Met(..) | Shape::Unset(_) => false,
        }
    }
}

/// Whether a step may run concurrently with others: a plain access, or a step without effect on other threads.
fn is_plain(step: &Step) -> bool {
    match &step.what {
        What::Access(touch) => {
            !touch.access.volatile && !matches!(touch.kind, TouchKind::Atomic(_))
        }
        What::Other(..) => false,
        _ => true,
    }
}

/// Loop variables: the initial value of each, and its value in the next round.
fn counters(row: &[Step], terms: &Terms) -> BTreeMap<Term, (Term, Term)> {
    let mut found = BTreeMap::new();
    // The row has the values that come to a loop just before the loop begins and just before it ends.
    let mut open: Vec<Vec<(SlotId, Term)>> = vec![];
    let mut pending: Vec<(SlotId, Term)> = vec![];
    for step in row {
        match &step.what {
            What::Comes(slot, value) => {
                pending.push((*slot, *value));
                continue;
            }
            What::Loop(_) => open.push(std::mem::take(&mut pending)),
            What::EndLoop(_) => {
                let before = open.pop().unwrap_or_default();
                for &(slot, next) in &pending {
                    let begin = before.iter().find(|&&(known, _)| known == slot);
                    let mut own = vec![];
                    terms.any(next, &mut |shape| {
                        if let Shape::Met(number, of) = shape
                            && *of == slot
                        {
                            own.push(*number);
                        }
                        false
                    });
                    if let (Some(&(_, begin)), [number]) = (begin, &own[..])
                        && let Some(counter) = terms.find(&Shape::Met(*number, slot))
                    {
                        found.insert(counter, (begin, next));
                    }
                }
            }
            _ => {}
        }
        pending.clear();
    }
    found
}

/// Loop variables that begin with a sum of the thread's index and grow by the block's width each round, and their initial value.
fn strides(counters: &BTreeMap<Term, (Term, Term)>, terms: &mut Terms) -> BTreeMap<Term, Sum> {
    let width = terms.of(Shape::Special(SpecialReg::NtidX));
    let is_stride = |(&counter, &(begin, next)): (&Term, &(Term, Term))| {
        let sum = terms.sum(next);
        let grows = sum.parts.len() == 2
            && sum.constant == 0
            && sum.factor(counter) == 1
            && sum.factor(width) == 1;
        grows.then(|| (counter, terms.index(begin)))
    };
    counters.iter().filter_map(is_stride).collect()
}

/// The steps that may come after each step.
fn successors(row: &[Step]) -> Vec<Vec<usize>> {
    let mut ends: BTreeMap<LabelId, usize> = BTreeMap::new();
    let mut steps: BTreeMap<LabelId, usize> = BTreeMap::new();
    let mut loops: BTreeMap<LabelId, usize> = BTreeMap::new();
    let mut branches: Vec<(usize, usize)> = vec![];
    let mut otherwise: BTreeMap<usize, usize> = BTreeMap::new();
    let mut behind: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, step) in row.iter().enumerate() {
        match &step.what {
            What::EndLoop(label) | What::EndScope(label) => {
                ends.insert(*label, at + 1);
            }
            What::Step(label) => {
                steps.insert(*label, at);
            }
            What::Loop(label) => {
                loops.insert(*label, at);
            }
            What::If(_) => branches.push((at, at)),
            What::Else => {
                if let Some(open) = branches.last_mut() {
                    otherwise.insert(open.0, at + 1);
                    open.1 = at;
                }
            }
            What::EndIf => {
                if let Some((_, other)) = branches.pop() {
                    behind.insert(other, at);
                }
            }
            _ => {}
        }
    }
    let end = row.len();
    let of = |at: usize, step: &Step| match &step.what {
        What::If(_) => vec![at + 1, otherwise.get(&at).copied().unwrap_or(end)],
        What::Else => vec![behind.get(&at).copied().unwrap_or(end)],
        What::EndLoop(label) => vec![loops.get(label).copied().unwrap_or(end)],
        What::Break(label) => vec![ends.get(label).copied().unwrap_or(end)],
        What::Continue(label) => vec![steps.get(label).copied().unwrap_or(end)],
        What::Return(_) => vec![end],
        _ => vec![at + 1],
    };
    let mut all: Vec<Vec<usize>> = row
        .iter()
        .enumerate()
        .map(|(at, step)| of(at, step))
        .collect();
    all.push(vec![]);
    all
}
