//! Finds barriers that not all threads of a block may reach, as far as the kernel's text shows it.
//!
//! In: a kernel. Out: each barrier that threads may miss, and the condition that sends them elsewhere:
//!
//! - the barrier is in a branch of an `if` whose condition differs between threads ([`Absence::Branch`]);
//! - it is in a loop that threads leave after different numbers of rounds ([`Absence::Rounds`]);
//! - threads jumped over it, with a `continue` or a `break` ([`Absence::Jump`]);
//! - threads have returned before it ([`Absence::Returned`]), which CUDA allows: a barrier waits for the threads that have not exited.
//!
//! A condition counts if it is *visibly* thread-dependent: [`Uniformity`] traces it back to `threadIdx`, the lane or an atomic. A value
//! that only may differ (a load from the thread's memory, a variable that may be unset) does not count, nor does
//! `threadIdx.x < blockDim.x`. A load by all threads from one address is assumed to give one value. So a report can be wrong if a
//! condition is
//! thread-dependent in form only (`threadIdx.x < 1024`), and an unreported barrier may still diverge: the machine's own check finds those.
//!
//! The walk tracks, at each place, which threads are `Gone`: the jumps that took some threads away and where these rejoin the others. It
//! repeats until it knows, for each loop, which threads are gone at the beginning of a later round.

use super::{
    Block, CompareOp, ConvertOp, Function, FunctionKind, Inst, InstKind, LabelId, LocId, Node,
    Operand, SpecialReg, UnaryOp, ValueId,
    uniformity::{Cause, Reason, Uniformity},
};

/// A barrier that threads may miss.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DivergentBarrier {
    /// The barrier.
    pub barrier: LocId,
    /// How threads miss it.
    pub absence: Absence,
    /// The place of the condition that separates them.
    pub condition: LocId,
    /// From the condition back to the value that differs between threads; never empty.
    pub why: Vec<Reason>,
}

/// How threads miss a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absence {
    /// They take the other branch of an `if`.
    Branch,
    /// They have left the loop around it, while the others continue.
    Rounds,
    /// They jump over it, and rejoin the others after it.
    Jump,
    /// They have returned.
    Returned,
}

/// The kernel's barriers that threads may miss, in the order of the text, each once; after a `return` only the first one.
pub fn divergent_barriers(function: &Function) -> Vec<DivergentBarrier> {
    let mut has_barrier = false;
    function.body.for_each_inst(&mut |inst| {
        has_barrier |= matches!(inst.kind, InstKind::Barrier(_));
    });
    if function.kind == FunctionKind::Host || !has_barrier {
        return vec![];
    }
    let labels = function.labels as usize;
    let mut walk = Walk {
        conditions: Conditions::of(function),
        frames: vec![],
        waiting: vec![Waiting::default(); labels],
        left: vec![],
        gone_in_later_rounds: vec![vec![]; labels],
        changed: true,
        found: vec![],
    };
    while walk.changed {
        walk.changed = false;
        walk.found.clear();
        walk.left.clear();
        walk.block(&function.body, Some(vec![]));
    }
    walk.found
}

/// The target of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    Break(LabelId),
    Continue(LabelId),
    Return,
}

/// Some of the threads took a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gone {
    exit: Exit,
    condition: Condition,
}

/// A condition that separates threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Condition {
    value: ValueId,
    loc: LocId,
}

/// The threads that are gone at a place; `None` if no thread reaches it.
type State = Option<Vec<Gone>>;

/// A statement around the current place.
#[derive(Clone, Copy)]
enum Frame {
    Branch(Condition),
    Loop(LabelId),
    Scope(LabelId),
}

impl Frame {
    fn label(self) -> Option<LabelId> {
        match self {
            Frame::Branch(_) => None,
            Frame::Loop(label) | Frame::Scope(label) => Some(label),
        }
    }
}

/// The states of the threads that wait at a label's end and step.
#[derive(Clone, Default)]
struct Waiting {
    breaks: State,
    continues: State,
}

struct Walk<'a> {
    conditions: Conditions<'a>,
    frames: Vec<Frame>,
    waiting: Vec<Waiting>,
    /// Jumps of some threads, in the order found, until their statement ends.
    left: Vec<Gone>,
    /// By loop: the threads that are gone at the beginning of its second and later rounds.
    gone_in_later_rounds: Vec<Vec<Gone>>,
    changed: bool,
    found: Vec<DivergentBarrier>,
}

fn add(to: &mut Vec<Gone>, gone: Gone) {
    if !to.contains(&gone) {
        to.push(gone);
    }
}

fn union(a: State, b: State) -> State {
    let (Some(mut a), Some(b)) = (a.clone(), b.clone()) else {
        return a.or(b);
    };
    for gone in b {
        add(&mut a, gone);
    }
    Some(a)
}

fn with(mut state: State, more: &[Gone]) -> State {
    for &gone in more {
        state.iter_mut().for_each(|state| add(state, gone));
    }
    state
}

fn without(mut state: State, exit: Exit) -> State {
    if let Some(gone) = &mut state {
        gone.retain(|gone| gone.exit != exit);
    }
    state
}

impl<'a> Walk<'a> {
    fn block(&mut self, block: &'a Block, mut state: State) -> State {
        for node in &block.0 {
            state = self.node(node, state);
        }
        state
    }

    fn node(&mut self, node: &'a Node, state: State) -> State {
        match node {
            Node::Inst(inst) => {
                if let (InstKind::Barrier(_), Some(gone)) = (&inst.kind, &state) {
                    self.barrier(inst, gone);
                }
                state
            }
            Node::If {
                cond,
                then,
                otherwise,
                loc,
                ..
            } => self.if_node(*cond, *loc, [then, otherwise], state),
            Node::Loop {
                label, body, step, ..
            } => self.loop_node(*label, body, step, state),
            Node::Scope { label, body, .. } => {
                let mark = self.left.len();
                self.frames.push(Frame::Scope(*label));
                let end = self.block(body, state);
                self.frames.pop();
                self.after(*label, end, mark)
            }
            // The routine's callers are not known here, so only jumps of the routine itself count.
            Node::Routine { body, .. } => {
                let mark = self.left.len();
                self.block(body, Some(vec![]));
                self.left.truncate(mark);
                state
            }
            Node::Break(label) => self.jump(Exit::Break(*label), state),
            Node::Continue(label) => self.jump(Exit::Continue(*label), state),
            Node::Return(_) => self.jump(Exit::Return, state),
        }
    }

    fn if_node(
        &mut self,
        cond: Operand,
        loc: LocId,
        [then, otherwise]: [&'a Block; 2],
        state: State,
    ) -> State {
        let Some(value) = self.conditions.parts_threads(cond) else {
            let after_then = self.block(then, state.clone());
            let after_otherwise = self.block(otherwise, state);
            return union(after_then, after_otherwise);
        };
        let mark = self.left.len();
        self.frames.push(Frame::Branch(Condition { value, loc }));
        let after_then = self.block(then, state.clone());
        let after_otherwise = self.block(otherwise, state);
        self.frames.pop();
        with(union(after_then, after_otherwise), &self.left[mark..])
    }

    fn loop_node(
        &mut self,
        label: LabelId,
        body: &'a Block,
        step: &'a Block,
        state: State,
    ) -> State {
        let mark = self.left.len();
        let head = with(state, &self.gone_in_later_rounds[label.index()]);
        self.frames.push(Frame::Loop(label));
        let body_end = self.block(body, head);
        let continued = self.waiting[label.index()].continues.take();
        let step_begin = with(union(body_end, continued), &self.left[mark..]);
        self.block(step, without(step_begin, Exit::Continue(label)));
        self.frames.pop();
        for &gone in &self.left[mark..] {
            let later = &mut self.gone_in_later_rounds[label.index()];
            if gone.exit != Exit::Continue(label) && !later.contains(&gone) {
                later.push(gone);
                self.changed = true;
            }
        }
        self.after(label, None, mark)
    }

    /// The state after a labelled statement: threads that jumped to a place inside it are back. `mark`: how many jumps were known before
    /// it.
    fn after(&mut self, label: LabelId, end: State, mark: usize) -> State {
        let is_open = |gone: &Gone| match gone.exit {
            Exit::Break(label) | Exit::Continue(label) => {
                self.frames.iter().any(|frame| frame.label() == Some(label))
            }
            Exit::Return => true,
        };
        let mut still_gone = self.left.split_off(mark);
        still_gone.retain(is_open);
        let waited = self.waiting[label.index()].breaks.take();
        let mut after = with(union(end, waited), &still_gone);
        if let Some(gone) = &mut after {
            gone.retain(is_open);
        }
        self.left.extend(still_gone);
        after
    }

    /// All threads that are here jump. If some threads that were here before do not, the jumping ones are gone for them.
    fn jump(&mut self, exit: Exit, state: State) -> State {
        let gone = state?;
        if let Some(condition) = self.stay_behind(exit, &gone) {
            add(&mut self.left, Gone { exit, condition });
        }
        let (label, is_break) = match exit {
            Exit::Break(label) => (label, true),
            Exit::Continue(label) => (label, false),
            Exit::Return => return None,
        };
        let waiting = &mut self.waiting[label.index()];
        let place = if is_break {
            &mut waiting.breaks
        } else {
            &mut waiting.continues
        };
        *place = union(place.take(), Some(gone));
        None
    }

    /// The condition that keeps some threads inside the statement that `exit` leaves, but not here.
    fn stay_behind(&self, exit: Exit, gone: &[Gone]) -> Option<Condition> {
        for frame in self.frames.iter().rev() {
            let label = match *frame {
                Frame::Branch(condition) => return Some(condition),
                Frame::Loop(label) | Frame::Scope(label) => label,
            };
            let waits_here = |to: Exit| {
                let inside = exit != Exit::Break(label) && exit != Exit::Continue(label);
                match to {
                    // They wait at the end of a statement inside the one that is left.
                    Exit::Break(at) => at == label && inside,
                    // They wait at the step, and continue the loop.
                    Exit::Continue(at) => at == label && exit != Exit::Continue(label),
                    Exit::Return => false,
                }
            };
            if let Some(gone) = gone.iter().find(|gone| waits_here(gone.exit)) {
                return Some(gone.condition);
            }
            if exit == Exit::Break(label) || exit == Exit::Continue(label) {
                return None;
            }
        }
        None
    }

    fn barrier(&mut self, inst: &Inst, gone: &[Gone]) {
        let innermost = self.frames.iter().rev().find_map(|frame| match *frame {
            Frame::Branch(condition) => Some(condition),
            Frame::Loop(_) | Frame::Scope(_) => None,
        });
        let jumped = gone.iter().rev().find(|gone| gone.exit != Exit::Return);
        let returned = gone.last();
        let (absence, condition) = match (innermost, jumped.or(returned)) {
            (Some(condition), _) => (Absence::Branch, condition),
            (None, Some(gone)) => (self.absence(gone.exit), gone.condition),
            (None, None) => return,
        };
        // A barrier in an inlined function is reached once per call, and many barriers may follow one return.
        let is_told = |known: &DivergentBarrier| {
            let returned = absence == Absence::Returned && known.absence == absence;
            known.barrier == inst.loc || (returned && known.condition == condition.loc)
        };
        if self.found.iter().any(is_told) {
            return;
        }
        self.found.push(DivergentBarrier {
            barrier: inst.loc,
            absence,
            condition: condition.loc,
            why: self.conditions.uniformity.why_varying(condition.value),
        });
    }

    fn absence(&self, exit: Exit) -> Absence {
        let is_loop = |label: LabelId| {
            let mut frames = self.frames.iter();
            frames.any(|frame| matches!(frame, Frame::Loop(at) if *at == label))
        };
        match exit {
            Exit::Return => Absence::Returned,
            Exit::Break(label) if is_loop(label) => Absence::Rounds,
            Exit::Break(_) | Exit::Continue(_) => Absence::Jump,
        }
    }
}

/// The facts about a kernel's conditions.
pub(super) struct Conditions<'a> {
    uniformity: Uniformity,
    /// The instruction that computes each temporary.
    definitions: Vec<Option<&'a InstKind>>,
}

impl<'a> Conditions<'a> {
    pub(super) fn of(function: &'a Function) -> Conditions<'a> {
        let mut definitions = vec![None; function.values.len()];
        function.body.for_each_inst(&mut |inst| {
            for result in &inst.results {
                definitions[result.index()] = Some(&inst.kind);
            }
        });
        Conditions {
            uniformity: Uniformity::of(function),
            definitions,
        }
    }

    /// The condition, if it visibly differs between threads.
    pub(super) fn parts_threads(&self, cond: Operand) -> Option<ValueId> {
        let value = cond.value()?;
        let why = self.uniformity.why_varying(value);
        let visibly = why
            .last()
            .is_some_and(|reason| matches!(reason.cause, Cause::Thread(_) | Cause::OneByOne));
        (visibly && !self.always_the_same(cond)).then_some(value)
    }

    /// `threadIdx.x < blockDim.x` and similar: true for every thread.
    fn always_the_same(&self, cond: Operand) -> bool {
        let Some(kind) = self.definition(cond) else {
            return false;
        };
        if let InstKind::Unary(UnaryOp::Not, _, a) = *kind {
            return self.always_the_same(a);
        }
        let InstKind::Compare(op, _, a, b) = *kind else {
            return false;
        };
        let (a, b) = (self.register(a), self.register(b));
        let forward = matches!(
            op,
            CompareOp::Slt | CompareOp::Ult | CompareOp::Sge | CompareOp::Uge
        );
        let backward = matches!(
            op,
            CompareOp::Sgt | CompareOp::Ugt | CompareOp::Sle | CompareOp::Ule
        );
        (forward && is_index_of(a, b)) || (backward && is_index_of(b, a))
    }

    fn definition(&self, operand: Operand) -> Option<&'a InstKind> {
        self.definitions[operand.value()?.index()]
    }

    /// The register an operand is, through conversions.
    fn register(&self, operand: Operand) -> Option<SpecialReg> {
        let kind = self.definition(operand)?;
        if let InstKind::Convert(ConvertOp::Zext | ConvertOp::Sext, a) = *kind {
            return self.register(a);
        }
        match *kind {
            InstKind::Special(register) => Some(register),
            _ => None,
        }
    }
}

fn is_index_of(index: Option<SpecialReg>, size: Option<SpecialReg>) -> bool {
    matches!(
        (index, size),
        (Some(SpecialReg::TidX), Some(SpecialReg::NtidX))
            | (Some(SpecialReg::TidY), Some(SpecialReg::NtidY))
            | (Some(SpecialReg::TidZ), Some(SpecialReg::NtidZ))
    )
}
