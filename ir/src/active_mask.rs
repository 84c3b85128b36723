//! Finds exchanges whose mask comes from `__activemask()` after a branch or a loop where lanes diverged.
//!
//! ```text
//! if (v % 2) v = v * 3; else v = v / 2;      the lanes diverge
//! unsigned m = __activemask();               CUDA does not promise that they have reconverged: any of them may be missing
//! v += __shfl_xor_sync(m, v, 1);             may read a lane that is not there
//! ```
//!
//! In: a kernel. Out: such exchanges, as far as the text shows them. The walk tracks, at each place, the condition that made the lanes
//! there diverge, unless they have reconverged since: at a barrier, a `__syncwarp`, an exchange with another mask. Lanes that went the same
//! way are converged: the mask may be taken in the branch itself.
//!
//! Code that is right for any set of lanes has no finding: the first of the active lanes adds for all of them and shares the result. So a
//! shuffle counts if it reads a lane that does not follow from the mask, and a vote or a reduction only if its result is stored unchanged,
//! without an atomic.

use super::divergence::Conditions;
use super::{
    Block, Exchange, ExchangeOp, Function, FunctionKind, Inst, InstKind, Intrinsic, LabelId, LocId,
    Node, Operand, ShuffleMode, Slot, SpecialReg, VoteOp,
};

/// The lowering's names of variables for the result of `?:`, `&&` and `||`.
const CHOICES: &[&str] = &["either", "and", "or"];

/// An exchange among lanes that may not have reconverged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleMask {
    /// The exchange.
    pub exchange: LocId,
    /// The place where its mask was taken.
    pub mask: LocId,
    /// The condition that made the lanes diverge.
    pub condition: LocId,
}

/// The kernel's exchanges with such a mask, in the order of the text, each place once.
pub fn stale_masks(function: &Function) -> Vec<StaleMask> {
    let mut masks = 0;
    function.body.for_each_inst(&mut |inst| {
        masks += usize::from(is_active_mask(inst));
    });
    if function.kind == FunctionKind::Host || masks == 0 {
        return vec![];
    }
    let mut walk = Walk {
        conditions: Conditions::of(function),
        slots: &function.slots,
        frames: vec![],
        arrivals: vec![Arrivals::default(); function.labels as usize],
        taken: vec![],
    };
    walk.block(&function.body, Some(None));
    let mut found = Vec::new();
    for taken in &walk.taken {
        let flow = Flow::of(function, taken.mask);
        flow.collect(function, *taken, &mut found);
    }
    found
}

fn is_active_mask(inst: &Inst) -> bool {
    matches!(inst.kind, InstKind::Special(SpecialReg::ActiveMask))
}

/// A mask taken where lanes may be missing.
#[derive(Clone, Copy)]
struct Taken {
    mask: LocId,
    condition: LocId,
}

/// At a place: `None` if no lane reaches it, else the condition that made the lanes there diverge, if any.
type State = Option<Option<LocId>>;

/// An enclosing statement.
#[derive(Clone, Copy)]
enum Frame {
    Branch(LocId),
    Label(LabelId),
}

/// The lanes that reach the end of a labelled statement by a jump.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    count: u32,
    /// A condition that separated them from lanes that are still inside.
    condition: Option<LocId>,
    /// A condition that had made them diverge before the jump.
    before: Option<LocId>,
    /// A condition that made the lanes diverge that continue with a loop's next round.
    next_round: Option<LocId>,
}

struct Walk<'a> {
    conditions: Conditions<'a>,
    slots: &'a [Slot],
    frames: Vec<Frame>,
    arrivals: Vec<Arrivals>,
    taken: Vec<Taken>,
}

/// Joins two paths that `condition`, if any, separates.
fn meet(a: State, b: State, condition: Option<LocId>) -> State {
    match (a, b) {
        (None, one) | (one, None) => one,
        (Some(a), Some(b)) => Some(condition.or(a).or(b)),
    }
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, mut state: State) -> State {
        for node in &block.0 {
            state = self.node(node, state);
        }
        state
    }

    fn node(&mut self, node: &Node, state: State) -> State {
        match node {
            Node::Inst(inst) => self.inst(inst, state),
            Node::If {
                cond,
                then,
                otherwise,
                loc,
                ..
            } => {
                // Compilers make no branch for code that only selects a value, as `?:` does.
                let chooses = self.only_chooses(then) && self.only_chooses(otherwise);
                if chooses || self.conditions.parts_threads(*cond).is_none() {
                    let after = self.block(then, state);
                    return meet(after, self.block(otherwise, state), None);
                }
                self.frames.push(Frame::Branch(*loc));
                let after = self.block(then, state);
                let after = meet(after, self.block(otherwise, state), Some(*loc));
                self.frames.pop();
                after
            }
            Node::Loop {
                label, body, step, ..
            } => {
                self.frames.push(Frame::Label(*label));
                let end = self.block(body, state);
                let end = self.block(step, end);
                // Later rounds begin with the lanes as they were at the end of an earlier one.
                let next_round = self.arrivals[label.index()].next_round;
                let later = state.map(|state| state.or(next_round).or(end.flatten()));
                if later != state {
                    let end = self.block(body, later);
                    self.block(step, end);
                }
                self.frames.pop();
                let arrived = std::mem::take(&mut self.arrivals[label.index()]);
                (arrived.count > 0).then_some(arrived.condition.or(arrived.before))
            }
            Node::Scope { label, body, .. } => {
                self.frames.push(Frame::Label(*label));
                let end = self.block(body, state);
                self.frames.pop();
                let arrived = std::mem::take(&mut self.arrivals[label.index()]);
                match (end, arrived.count) {
                    (end, 0) => end,
                    // All of them have come the same way.
                    (None, 1) => Some(arrived.before),
                    (end, _) => Some(arrived.condition.or(arrived.before).or(end.flatten())),
                }
            }
            Node::Routine { .. } => state,
            Node::Break(label) => {
                if let Some(before) = state {
                    let condition = self.parted_in(*label);
                    let arrivals = &mut self.arrivals[label.index()];
                    arrivals.count += 1;
                    arrivals.condition = arrivals.condition.or(condition);
                    arrivals.before = arrivals.before.or(before);
                }
                None
            }
            Node::Continue(label) => {
                if let Some(before) = state {
                    let parted = self.parted_in(*label).or(before);
                    let next_round = &mut self.arrivals[label.index()].next_round;
                    *next_round = next_round.or(parted);
                }
                None
            }
            Node::Return(_) => None,
        }
    }

    /// Whether a branch only sets a variable that the lowering made for `?:`, `&&` or `||`.
    fn only_chooses(&self, block: &Block) -> bool {
        block.0.iter().all(|node| match node {
            Node::Inst(inst) => match &inst.kind {
                InstKind::Set(slot, _) => CHOICES.contains(&&*self.slots[slot.index()].name),
                InstKind::Store(..) | InstKind::Atomic { .. } | InstKind::Exchange(_) => false,
                _ => true,
            },
            Node::If {
                then, otherwise, ..
            } => self.only_chooses(then) && self.only_chooses(otherwise),
            Node::Loop { .. }
            | Node::Scope { .. }
            | Node::Routine { .. }
            | Node::Break(_)
            | Node::Continue(_)
            | Node::Return(_) => false,
        })
    }

    /// The innermost condition since the beginning of the labelled statement that made the lanes here diverge.
    fn parted_in(&self, label: LabelId) -> Option<LocId> {
        for frame in self.frames.iter().rev() {
            match *frame {
                Frame::Branch(loc) => return Some(loc),
                Frame::Label(at) if at == label => return None,
                Frame::Label(_) => {}
            }
        }
        None
    }

    fn inst(&mut self, inst: &Inst, state: State) -> State {
        let apart = state?;
        if let (true, Some(condition)) = (is_active_mask(inst), apart) {
            self.taken.push(Taken {
                mask: inst.loc,
                condition,
            });
        }
        let meets = match &inst.kind {
            InstKind::Barrier(_) | InstKind::Intrinsic(Intrinsic::SyncWarp, _) => true,
            InstKind::Exchange(exchange) => {
                let mask = exchange.mask.and_then(Operand::constant);
                mask.is_some()
            }
            _ => false,
        };
        Some(if meets { None } else { apart })
    }
}

/// How values follow from a mask, by temporary and by variable.
#[derive(Default)]
struct Flow {
    values: Vec<Facts>,
    slots: Vec<Facts>,
}

/// The origins of a value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Facts {
    /// It is the mask, or the lanes in it that a vote is true for.
    is_mask: bool,
    /// It depends on the mask in any way.
    of_mask: bool,
    /// It depends on a vote or reduction among these lanes.
    of_exchange: bool,
    /// It depends on an atomic's result.
    of_atomic: bool,
}

impl Facts {
    fn or(self, other: Facts) -> Facts {
        Facts {
            is_mask: self.is_mask || other.is_mask,
            of_mask: self.of_mask || other.of_mask,
            of_exchange: self.of_exchange || other.of_exchange,
            of_atomic: self.of_atomic || other.of_atomic,
        }
    }
}

impl Flow {
    /// Repeats until nothing changes, since variables may be set in any order.
    fn of(function: &Function, mask: LocId) -> Flow {
        let mut flow = Flow {
            values: vec![Facts::default(); function.values.len()],
            slots: vec![Facts::default(); function.slots.len()],
        };
        loop {
            let mut changed = false;
            function.body.for_each_inst(&mut |inst| {
                changed |= flow.follow(inst, mask);
            });
            if !changed {
                return flow;
            }
        }
    }

    fn facts(&self, operand: Operand) -> Facts {
        match operand.value() {
            Some(value) => self.values[value.index()],
            None => Facts::default(),
        }
    }

    /// Returns whether a fact is new.
    fn follow(&mut self, inst: &Inst, mask: LocId) -> bool {
        let operands = inst.kind.operands();
        let all = operands.into_iter().map(|operand| self.facts(*operand));
        let mut facts = all.fold(Facts::default(), Facts::or);
        match &inst.kind {
            InstKind::Special(SpecialReg::ActiveMask) if inst.loc == mask => {
                (facts.is_mask, facts.of_mask) = (true, true);
            }
            InstKind::Set(slot, value) => {
                let facts = self.facts(*value).or(self.slots[slot.index()]);
                let is_new = facts != self.slots[slot.index()];
                self.slots[slot.index()] = facts;
                return is_new;
            }
            InstKind::Get(slot) => facts = self.slots[slot.index()],
            InstKind::Exchange(exchange) => facts = self.exchanged(exchange, facts),
            InstKind::Atomic { .. } => {
                facts = Facts {
                    of_atomic: true,
                    ..Facts::default()
                };
            }
            // Values in memory are not tracked.
            InstKind::Load(..) => facts = Facts::default(),
            _ => facts.is_mask = false,
        }
        let mut is_new = false;
        for result in &inst.results {
            is_new |= self.values[result.index()] != facts;
            self.values[result.index()] = facts;
        }
        is_new
    }

    fn exchanged(&self, exchange: &Exchange, mut facts: Facts) -> Facts {
        let among = exchange.mask.is_some_and(|mask| self.facts(mask).is_mask);
        facts.is_mask = among && matches!(exchange.op, ExchangeOp::Vote(VoteOp::Ballot));
        facts.of_exchange |= among
            && matches!(
                exchange.op,
                ExchangeOp::Vote(_) | ExchangeOp::Reduce(_) | ExchangeOp::MatchAll(_)
            );
        facts
    }

    /// Collects the exchanges among these lanes that are wrong if a lane is missing.
    fn collect(&self, function: &Function, taken: Taken, found: &mut Vec<StaleMask>) {
        let mut add = |exchange: LocId| {
            let is_known = found.iter().any(|known| known.exchange == exchange);
            if !is_known {
                found.push(StaleMask {
                    exchange,
                    mask: taken.mask,
                    condition: taken.condition,
                });
            }
        };
        let mut last: Option<LocId> = None;
        function.body.for_each_inst(&mut |inst| match &inst.kind {
            InstKind::Exchange(exchange) => {
                let mask = exchange.mask.map(|mask| self.facts(mask));
                if !mask.is_some_and(|mask| mask.is_mask) {
                    return;
                }
                last = Some(inst.loc);
                if let ExchangeOp::Shuffle { mode, lane, .. } = exchange.op
                    && (mode != ShuffleMode::Idx || !self.facts(lane).of_mask)
                {
                    add(inst.loc);
                }
            }
            InstKind::Store(_, _, values) => {
                let stored = values.iter().map(|value| self.facts(*value));
                let stored = stored.fold(Facts::default(), Facts::or);
                if let (true, false, Some(exchange)) = (stored.of_exchange, stored.of_atomic, last)
                {
                    add(exchange);
                }
            }
            _ => {}
        });
    }
}
