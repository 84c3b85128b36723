//! Finds which temporaries and variables are the same for all lanes of a warp, and why the others are not.
//!
//! - A *temporary* is uniform if, each time its instruction runs, all active lanes get the same value. A branch is uniform if its condition
//!   is. Uses have no more active lanes than the definition, so they get one value, too.
//! - A *slot* is uniform if a single cell per warp can hold it: all values set are uniform, and at each `get` the value that any lane set
//!   last is the one that each active lane set last. (`t = 5; if (tid) t = 1; else use(t)` makes `t` non-uniform, though each `get` of it
//!   is uniform: a single cell would hold 1 in the `else`.) A `get` of a non-uniform slot may still be uniform.
//!
//! The analysis follows the code with a state per slot: whether the active lanes agree on it, and whether a single cell would hold it. It
//! begins with everything uniform and repeats until nothing changes. Control matters where lanes reconverge:
//!
//! - After an `if` with a varying condition, slots set in either branch are varying. With a uniform one, all lanes took the same branch.
//! - A `break` (or `continue`) is divergent if lanes that are still inside the statement that it leaves may be elsewhere: in another branch
//!   of a varying `if`, or waiting at the end of a statement in between that lanes left divergently (at the end of the body, for
//!   `continue`). After a statement that is left by a divergent `break`, slots set inside are varying; at the `step` of a loop with a
//!   divergent `continue`, slots set in its body. Lanes still in the loop are in the same round, so inside they still agree.
//! - A variable that is not yet set is varying. A `return` takes lanes away for good and makes nothing varying.
//!
//! Sources of variation: `threadIdx`, the lane, the clock, results of atomics, of `printf`, of shuffles and of `match.any`, loads from
//! local or generic memory (a generic address may be a local one), generic addresses of locals. A load of all lanes from one address gives
//! one value, `volatile` or not: it is one access. A routine's parameters and results vary. Parameters and constants are uniform. A host
//! function is one thread: all is uniform.

use super::{
    Block, ConvertOp, Effect, Function, FunctionKind, Inst, InstKind, LabelId, LocId, Node, Object,
    Operand, RoutineId, SlotId, Space, SpecialReg, Type, ValueId, Varies,
};

/// The uniform values of one function.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// Why a temporary varies; `None` for the uniform ones.
    values: Vec<Option<Reason>>,
    slots: Vec<bool>,
}

/// Why a temporary varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The temporary.
    pub value: ValueId,
    /// The place where it is computed.
    pub loc: LocId,
    /// The cause.
    pub cause: Cause,
}

/// What makes a temporary vary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It is a special register that differs between threads.
    Thread(SpecialReg),
    /// An atomic or a `printf` processes the lanes one after the other.
    OneByOne,
    /// A shuffle or a match gives each lane a value of another.
    OtherLane,
    /// It is read from memory that is, or may be, separate for each thread; or is such an address.
    OwnMemory,
    /// An operand varies.
    Operand(ValueId),
    /// The variable was given a varying value.
    Assigned(SlotId, ValueId),
    /// The variable was set, or not set, depending on a varying condition.
    Divergence(SlotId, ValueId),
    /// The variable may not have been set.
    Unset(SlotId),
    /// It is a result or a parameter of a routine.
    Call,
}

impl Uniformity {
    /// Analyses a function.
    pub fn of(function: &Function) -> Uniformity {
        let mut uniformity = Uniformity {
            values: vec![None; function.values.len()],
            slots: vec![true; function.slots.len()],
        };
        if function.kind == FunctionKind::Host {
            return uniformity;
        }
        let labels = function.labels as usize;
        let mut analysis = Analysis {
            function,
            result: &mut uniformity,
            divergent_break: vec![None; labels],
            divergent_continue: vec![None; labels],
            loop_heads: vec![None; labels],
            pending: vec![Pending::default(); labels],
            frames: vec![],
            changed: true,
        };
        while analysis.changed {
            analysis.changed = false;
            analysis.block(&function.body, Some(analysis.at_entry()));
        }
        uniformity
    }

    /// Whether all active lanes get the same value.
    pub fn value(&self, id: ValueId) -> bool {
        self.values[id.index()].is_none()
    }

    /// Whether an operand is uniform; constants are.
    pub fn operand(&self, operand: Operand) -> bool {
        operand.value().is_none_or(|id| self.value(id))
    }

    /// Whether a single cell per warp can hold a variable.
    pub fn slot(&self, id: SlotId) -> bool {
        self.slots[id.index()]
    }

    /// The chain of reasons from a varying temporary to a source; empty for a uniform one.
    pub fn why_varying(&self, id: ValueId) -> Vec<Reason> {
        let mut chain: Vec<Reason> = vec![];
        let mut next = Some(id);
        while let Some(reason) = next.and_then(|id| self.values[id.index()]) {
            chain.push(reason);
            // A reason names a value that was found varying before, so the chain ends.
            next = match reason.cause {
                Cause::Operand(id) | Cause::Assigned(_, id) | Cause::Divergence(_, id) => Some(id),
                Cause::Thread(_)
                | Cause::OneByOne
                | Cause::OtherLane
                | Cause::OwnMemory
                | Cause::Unset(_)
                | Cause::Call => None,
            };
        }
        chain
    }
}

/// Why the active lanes do not agree on a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disagreement {
    Unset,
    /// A routine's parameter.
    Argument,
    Assigned(ValueId),
    Divergence(ValueId),
}

/// The state of a slot at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SlotState {
    /// `None`: all active lanes hold the same value.
    varies: Option<Disagreement>,
    /// Whether a single cell would not hold the value of the active lanes.
    spoilt: bool,
}

impl SlotState {
    const UNIFORM: SlotState = SlotState {
        varies: None,
        spoilt: false,
    };

    fn varying(why: Disagreement) -> SlotState {
        SlotState {
            varies: Some(why),
            spoilt: true,
        }
    }

    fn join(&mut self, other: SlotState) {
        self.varies = self.varies.or(other.varies);
        self.spoilt |= other.spoilt;
    }
}

/// The states of all slots at a place; `None` if no lane reaches it.
type State = Option<Vec<SlotState>>;

/// The join of two states.
fn join(a: State, b: State) -> State {
    let (Some(mut a), Some(b)) = (a.clone(), b.clone()) else {
        return a.or(b);
    };
    for (a, b) in a.iter_mut().zip(b) {
        a.join(b);
    }
    Some(a)
}

/// The states of the lanes that wait at a label.
#[derive(Clone, Default)]
struct Pending {
    breaks: State,
    continues: State,
}

/// A statement around the current place.
#[derive(Clone, Copy)]
enum Frame {
    /// An `if` with a varying condition: other lanes are in the other branch.
    Divergent(ValueId),
    /// A loop's body.
    Body(LabelId),
    /// A loop's step.
    Step(LabelId),
    Scope(LabelId),
}

struct Analysis<'a> {
    function: &'a Function,
    result: &'a mut Uniformity,
    /// The condition that makes some `break` to a label divergent.
    divergent_break: Vec<Option<ValueId>>,
    divergent_continue: Vec<Option<ValueId>>,
    /// The states at the beginning of a round, joined over all passes.
    loop_heads: Vec<State>,
    pending: Vec<Pending>,
    frames: Vec<Frame>,
    /// Whether something became varying in this pass.
    changed: bool,
}

impl Analysis<'_> {
    /// Arguments are the same for all lanes; other slots are not set.
    fn at_entry(&self) -> Vec<SlotState> {
        let unset = SlotState::varying(Disagreement::Unset);
        let mut slots = vec![unset; self.function.slots.len()];
        for param in &self.function.params {
            slots[param.slot.index()] = SlotState::UNIFORM;
        }
        slots
    }

    /// Each lane has separate arguments.
    fn at_routine(&mut self, id: RoutineId) -> Vec<SlotState> {
        let unset = SlotState::varying(Disagreement::Unset);
        let mut slots = vec![unset; self.function.slots.len()];
        let routine = &self.function.routines[id.index()];
        for slot in &routine.params {
            slots[slot.index()] = SlotState::varying(Disagreement::Argument);
        }
        for slot in routine.params.iter().chain(&routine.results) {
            self.mark_varying(*slot);
        }
        slots
    }

    /// Returns the state at the block's end.
    fn block(&mut self, block: &Block, mut state: State) -> State {
        for node in &block.0 {
            let Some(slots) = state else {
                return None; // No lane comes here: nothing to say.
            };
            state = self.node(node, slots);
        }
        state
    }

    fn node(&mut self, node: &Node, mut slots: Vec<SlotState>) -> State {
        match node {
            Node::Inst(inst) => {
                self.inst(inst, &mut slots);
                Some(slots)
            }
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } => match self.varying(*cond) {
                None => {
                    let then = self.block(then, Some(slots.clone()));
                    let otherwise = self.block(otherwise, Some(slots));
                    join(then, otherwise)
                }
                Some(cond) => self.divergent_if(cond, then, otherwise, slots),
            },
            Node::Loop {
                label, body, step, ..
            } => self.loop_node(*label, body, step, slots),
            Node::Scope {
                label,
                body,
                loc: _,
            } => {
                self.frames.push(Frame::Scope(*label));
                let end = self.block(body, Some(slots.clone()));
                self.frames.pop();
                let breaks = self.pending[label.index()].breaks.take();
                let end = join(end, breaks);
                self.after_break(*label, end, slots, &[body])
            }
            Node::Routine { id, body } => {
                let entry = self.at_routine(*id);
                self.block(body, Some(entry));
                Some(slots)
            }
            Node::Break(label) => {
                let breaks = &mut self.pending[label.index()].breaks;
                *breaks = join(breaks.take(), Some(slots));
                if let Some(cond) = self.divergence(*label) {
                    let known = &mut self.divergent_break[label.index()];
                    self.changed |= known.is_none();
                    known.get_or_insert(cond);
                }
                None
            }
            Node::Continue(label) => {
                let continues = &mut self.pending[label.index()].continues;
                *continues = join(continues.take(), Some(slots));
                if let Some(cond) = self.divergence(*label) {
                    let known = &mut self.divergent_continue[label.index()];
                    self.changed |= known.is_none();
                    known.get_or_insert(cond);
                }
                None
            }
            Node::Return(_) => None,
        }
    }

    /// Lanes take both branches, in any order, and reconverge at the end.
    fn divergent_if(
        &mut self,
        cond: ValueId,
        then: &Block,
        otherwise: &Block,
        slots: Vec<SlotState>,
    ) -> State {
        let (in_then, in_otherwise) = (self.set_in(&[then]), self.set_in(&[otherwise]));
        let mark_varying = |state: &mut State, set: &[bool]| {
            let slots = state.iter_mut().flatten().zip(set);
            slots.for_each(|(slot, set)| slot.spoilt |= set);
        };
        let (mut then_state, mut else_state) = (Some(slots.clone()), Some(slots));
        mark_varying(&mut then_state, &in_otherwise);
        mark_varying(&mut else_state, &in_then);
        self.frames.push(Frame::Divergent(cond));
        let mut then_state = self.block(then, then_state);
        let mut else_state = self.block(otherwise, else_state);
        self.frames.pop();
        if then_state.is_some() && else_state.is_some() {
            let in_either = in_then
                .iter()
                .zip(&in_otherwise)
                .map(|(a, b)| *a || *b)
                .collect::<Vec<bool>>();
            let mut state = join(then_state, else_state);
            disagree(&mut state, &in_either, cond);
            return state;
        }
        // The lanes of one branch jumped elsewhere; a single cell may contain what they set.
        mark_varying(&mut then_state, &in_otherwise);
        mark_varying(&mut else_state, &in_then);
        then_state.or(else_state)
    }

    fn loop_node(
        &mut self,
        label: LabelId,
        body: &Block,
        step: &Block,
        slots: Vec<SlotState>,
    ) -> State {
        // The stored state comes first: reasons never change once given, so the passes end.
        let head = join(self.loop_heads[label.index()].clone(), Some(slots.clone()));
        self.frames.push(Frame::Body(label));
        let body_end = self.block(body, head.clone());
        self.frames.pop();
        let continues = self.pending[label.index()].continues.take();
        let mut step_begin = join(body_end, continues);
        if let Some(cond) = self.divergent_continue[label.index()] {
            disagree(&mut step_begin, &self.set_in(&[body]), cond);
        }
        self.frames.push(Frame::Step(label));
        let round_end = self.block(step, step_begin);
        self.frames.pop();
        let next_head = join(head, round_end);
        if next_head != self.loop_heads[label.index()] {
            self.loop_heads[label.index()] = next_head;
            self.changed = true;
        }
        let breaks = self.pending[label.index()].breaks.take();
        self.after_break(label, breaks, slots, &[body, step])
    }

    /// The state after a loop or scope whose lanes end with `end`. `before` is the state at its beginning.
    fn after_break(
        &self,
        label: LabelId,
        mut end: State,
        before: Vec<SlotState>,
        blocks: &[&Block],
    ) -> State {
        if let Some(cond) = self.divergent_break[label.index()] {
            end = end.map(|_| before);
            disagree(&mut end, &self.set_in(blocks), cond);
        }
        end
    }

    /// The condition by which lanes may be inside the labelled statement, but not here; `None` if all are here.
    fn divergence(&self, label: LabelId) -> Option<ValueId> {
        for frame in self.frames.iter().rev() {
            let (inner, cond) = match *frame {
                Frame::Divergent(cond) => return Some(cond),
                Frame::Body(inner) => (inner, self.divergent_continue[inner.index()]),
                Frame::Step(inner) | Frame::Scope(inner) => (inner, None),
            };
            if cond.is_some() || inner == label {
                return cond;
            }
            let left = self.divergent_break[inner.index()];
            if left.is_some() {
                return left;
            }
        }
        None
    }

    /// Which slots the blocks set.
    fn set_in(&self, blocks: &[&Block]) -> Vec<bool> {
        let mut set = vec![false; self.function.slots.len()];
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                if let InstKind::Set(slot, _) = inst.kind {
                    set[slot.index()] = true;
                }
            });
        }
        set
    }

    /// The temporary, if it varies.
    fn varying(&self, operand: Operand) -> Option<ValueId> {
        operand.value().filter(|id| !self.result.value(*id))
    }

    fn inst(&mut self, inst: &Inst, slots: &mut [SlotState]) {
        if let InstKind::Set(slot, value) = inst.kind {
            slots[slot.index()] = match self.varying(value) {
                None => SlotState::UNIFORM,
                Some(id) => {
                    self.mark_varying(slot);
                    SlotState::varying(Disagreement::Assigned(id))
                }
            };
        }
        if let InstKind::Get(slot) = inst.kind
            && slots[slot.index()].spoilt
        {
            self.mark_varying(slot);
        }
        let Some(cause) = self.cause(inst, slots) else {
            return;
        };
        for &value in &inst.results {
            let known = &mut self.result.values[value.index()];
            if known.is_none() {
                *known = Some(Reason {
                    value,
                    loc: inst.loc,
                    cause,
                });
                self.changed = true;
            }
        }
    }

    /// Marks a slot that a single cell per warp cannot hold.
    fn mark_varying(&mut self, slot: SlotId) {
        self.result.slots[slot.index()] = false;
    }

    /// Why the results vary.
    fn cause(&self, inst: &Inst, slots: &[SlotState]) -> Option<Cause> {
        match &inst.kind {
            InstKind::Get(slot) => {
                return slots[slot.index()].varies.map(|why| match why {
                    Disagreement::Unset => Cause::Unset(*slot),
                    Disagreement::Argument => Cause::Call,
                    Disagreement::Assigned(id) => Cause::Assigned(*slot, id),
                    Disagreement::Divergence(id) => Cause::Divergence(*slot, id),
                });
            }
            InstKind::Special(register) => return thread_register(*register),
            InstKind::Atomic { .. } => return Some(Cause::OneByOne),
            InstKind::Load(access, _) => match access.space {
                Space::Local | Space::Generic => return Some(Cause::OwnMemory),
                Space::Global | Space::Shared | Space::Constant => {}
            },
            InstKind::AddrOf(Object::Local(_)) => {
                let result = inst
                    .results
                    .first()
                    .map(|id| self.function.values[id.index()]);
                let local = result == Some(Type::Ptr(Space::Local));
                return (!local).then_some(Cause::OwnMemory);
            }
            InstKind::Convert(ConvertOp::ToGeneric | ConvertOp::PtrToInt, a) => {
                let from = self.function.operand_type(*a);
                if from == Some(Type::Ptr(Space::Local)) {
                    return Some(Cause::OwnMemory);
                }
            }
            InstKind::Convert(ConvertOp::ToLocal, _) => return Some(Cause::OwnMemory),
            InstKind::Exchange(exchange) => {
                let decides = |operand: &&Operand| exchange.decides(**operand);
                let mut deciding = inst.kind.operands().into_iter().filter(decides);
                let varying = deciding.find_map(|operand| self.varying(*operand));
                return match varying {
                    Some(id) => Some(Cause::Operand(id)),
                    None => (!exchange.agrees()).then_some(Cause::OtherLane),
                };
            }
            InstKind::CallRoutine(_, args) => {
                let varying = args.iter().find_map(|arg| self.varying(*arg));
                return Some(varying.map_or(Cause::Call, Cause::Operand));
            }
            // The result is the same for the whole block.
            InstKind::Barrier(_) => return None,
            other => match other.effect() {
                Effect::Lanes => return Some(Cause::OtherLane),
                Effect::Act => return Some(Cause::OneByOne),
                // Those that give something are above. A new one may give each lane something else.
                Effect::Memory | Effect::Order if !inst.results.is_empty() => {
                    return Some(Cause::OneByOne);
                }
                Effect::Pure | Effect::Variable | Effect::Memory | Effect::Order | Effect::Call => {
                }
            },
        }
        let mut operands = inst.kind.operands().into_iter();
        operands
            .find_map(|operand| self.varying(*operand))
            .map(Cause::Operand)
    }
}

/// Slots set under a varying condition differ between lanes, and a single cell does not hold them.
fn disagree(state: &mut State, set: &[bool], cond: ValueId) {
    for (slot, set) in state.iter_mut().flatten().zip(set) {
        if *set {
            let why = slot.varies.unwrap_or(Disagreement::Divergence(cond));
            *slot = SlotState::varying(why);
        }
    }
}

/// Registers that differ between the threads of a warp.
fn thread_register(register: SpecialReg) -> Option<Cause> {
    match register.varies() {
        Varies::Lane | Varies::Row | Varies::Time => Some(Cause::Thread(register)),
        Varies::Block | Varies::Grid | Varies::Place => None,
    }
}

#[cfg(test)]
mod tests;
