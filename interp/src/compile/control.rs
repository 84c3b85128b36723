//! Compiles structured statements: jumps where the warp goes one way, masks where it may diverge.
//!
//! A statement in which the lanes may diverge owns a scalar register for waiting lanes: the other side of an `if`, the
//! lanes that have left a loop, or those that continue it. When no lane is active any more, control goes to the next
//! place where lanes may wait: the join of the innermost such statement ([`Compiler::park_target`]). A loop that all
//! lanes leave together consists of plain jumps and is not such a place.

use ir::{Block, InstKind, LabelId, LocId, Node, Operand, SlotId};

use super::{Compiler, Owned, select};
use crate::isa::bytecode::{Inst, Waitplace};
use crate::isa::op::Op;

/// A statement around the current one.
#[derive(Debug)]
pub(super) struct Frame {
    kind: FrameKind,
    /// Jumps to the place where its lanes join.
    pub(super) exits: Vec<usize>,
}

#[derive(Debug)]
enum FrameKind {
    Function,
    /// A side of an `if` at which lanes diverge.
    Side,
    Label {
        label: LabelId,
        /// The register for lanes that have left; `None` if all leave together.
        left: Option<u32>,
        /// The register for lanes that have continued, and the jumps to the step.
        continued: Option<u32>,
        to_step: Vec<usize>,
        in_step: bool,
    },
}

impl Frame {
    pub(super) fn function() -> Frame {
        Frame {
            kind: FrameKind::Function,
            exits: Vec::new(),
        }
    }

    fn side() -> Frame {
        Frame {
            kind: FrameKind::Side,
            exits: Vec::new(),
        }
    }

    /// Whether lanes wait at its end.
    fn parts(&self) -> bool {
        match &self.kind {
            FrameKind::Function | FrameKind::Side => true,
            FrameKind::Label { left, .. } => left.is_some(),
        }
    }
}

/// The only node of a block, if it leaves.
fn only(block: &Block) -> Option<&Node> {
    match block.0.as_slice() {
        [node @ (Node::Break(_) | Node::Continue(_) | Node::Return(_))] => Some(node),
        _ => None,
    }
}

/// For an `if` that only leaves on one side: how it leaves, and the value of the condition for which it does.
fn leaving<'a>(then: &'a Block, otherwise: &'a Block) -> Option<(&'a Node, bool)> {
    match (only(then), only(otherwise)) {
        (Some(node), None) if otherwise.0.is_empty() => Some((node, true)),
        (None, Some(node)) if then.0.is_empty() => Some((node, false)),
        _ => None,
    }
}

/// Whether a loop's body has a `continue` of the loop. Only then do lanes wait for its step.
fn is_continued(body: &Block, label: LabelId) -> bool {
    let mut is = false;
    body.for_each_node(&mut |node| is |= matches!(node, Node::Continue(to) if *to == label));
    is
}

/// Whether a block has no branches, cannot end the launch, and does not read the clock. The time at which its weight is
/// counted then makes no difference.
fn is_straight_line(block: &Block) -> bool {
    block.0.iter().all(|node| {
        let Node::Inst(inst) = node else {
            return false;
        };
        inst.kind.is_scalar_op()
            || matches!(
                inst.kind,
                InstKind::Get(_)
                    | InstKind::Set(..)
                    | InstKind::AddrOf(_)
                    | InstKind::PtrAdd { .. }
            )
    })
}

impl Compiler<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        for node in &block.0 {
            self.pos += 1;
            let at = self.pos;
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If {
                    cond,
                    then,
                    is_guard: true,
                    loc,
                    ..
                } => self.guard_node(cond, then, *loc),
                Node::If {
                    cond,
                    then,
                    otherwise,
                    is_guard: false,
                    loc,
                } => self.if_node(cond, then, otherwise, *loc),
                Node::Loop {
                    label,
                    body,
                    step,
                    loc,
                    ..
                } => self.loop_node(*label, body, step, *loc),
                Node::Scope { label, body, loc } => self.scope_node(*label, body, *loc),
                Node::Routine { id, body } => self.routine_node(*id, body),
                Node::Break(label) => self.leave(*label, false),
                Node::Continue(label) => self.leave(*label, true),
                Node::Return(value) => self.return_node(value.as_ref()),
            }
            self.release(at);
            // The end of a loop is a separate position.
            self.release(self.pos);
        }
    }

    /// Whether live lanes of the warp may be inactive here.
    pub(super) fn parted(&self) -> bool {
        self.frames[1..].iter().any(Frame::parts)
    }

    /// Whether an assignment here to a slot that is read in only one loop may write all lanes: no statement in that
    /// loop makes lanes diverge that join again before the loop's end.
    pub(super) fn is_private(&self, slot: SlotId) -> bool {
        let Some(home) = self.analyses.private.get(&slot) else {
            return false;
        };
        for frame in self.frames.iter().rev() {
            match &frame.kind {
                FrameKind::Label { label, .. } if label == home => return true,
                _ if frame.parts() => return false,
                FrameKind::Function | FrameKind::Side | FrameKind::Label { .. } => {}
            }
        }
        false
    }

    /// The jump at `at`, which is taken when no lane is active, goes to the next place where lanes may wait.
    pub(super) fn park_target(&mut self, at: usize) {
        let frame = self
            .frames
            .iter_mut()
            .rev()
            .find(|frame| frame.parts())
            .expect("the function's");
        match &mut frame.kind {
            FrameKind::Label {
                continued: Some(_),
                to_step,
                in_step: false,
                ..
            } => to_step.push(at),
            FrameKind::Function | FrameKind::Side | FrameKind::Label { .. } => frame.exits.push(at),
        }
    }

    fn wait(&mut self, start: u32, save: u32, other_side: Option<u32>, loc: LocId) {
        let end = self.next_pc() + 1;
        self.code.waits.push(Waitplace {
            start,
            end,
            save,
            other_side,
            loc,
        });
    }

    fn if_node(&mut self, cond: &Operand, then: &Block, otherwise: &Block, loc: LocId) {
        self.loc = loc;
        self.count();
        let uniform = match cond {
            Operand::Value(id) => !self.varies(*id),
            Operand::Const(_) => true,
        };
        let once = matches!(cond, Operand::Value(id)
            if self.analyses.lifetimes.uses[id.index()] == 1 && matches!(self.values.owned[id.index()], Some(Owned::S(_))));
        let cond = self.scalar(cond);
        if uniform {
            if !self.jumping_if(cond, once, then, otherwise) {
                self.uniform_if(cond, once, then, otherwise);
            }
        } else if !self.leaving_if(cond, then, otherwise) {
            self.parting_if(cond, then, otherwise, loc);
        }
    }

    /// Emits jumps on a uniform condition, to be bound later. A comparison that was just made only for the jump becomes
    /// part of it.
    fn jump_on(&mut self, cond: u32, sense: bool, once: bool) -> usize {
        if let Some(last) = self.code.insts.last().copied()
            && once
            && last.d == cond
            && let Some(fused) = select::compare_and_jump(last.op, sense)
        {
            // No jump goes to the place after the comparison, because no statement has ended between it and here.
            self.code.insts.pop();
            self.code.locs.pop();
            let at = self.control(fused, 0, last.a, 0);
            self.code.insts[at].c = last.b;
            return at;
        }
        self.control(if sense { Op::JumpIf } else { Op::JumpIfNot }, 0, cond, 0)
    }

    /// `if (c) break;` and the like, where all lanes leave together: the jump itself leaves.
    fn jumping_if(&mut self, cond: u32, once: bool, then: &Block, otherwise: &Block) -> bool {
        let Some((node, sense)) = leaving(then, otherwise) else {
            return false;
        };
        let (Node::Break(label) | Node::Continue(label)) = *node else {
            return false;
        };
        let continues = matches!(node, Node::Continue(_));
        if self.waiting_register(label, continues).is_some() {
            return false;
        }
        let at = self.jump_on(cond, sense, once);
        self.pos += 1;
        self.jump_from(at, label, continues);
        true
    }

    fn uniform_if(&mut self, cond: u32, once: bool, then: &Block, otherwise: &Block) {
        if then.0.is_empty() {
            let skip = self.jump_on(cond, true, once);
            self.block(otherwise);
            self.tick();
            return self.bind(vec![skip]);
        }
        let to_else = self.jump_on(cond, false, once);
        self.block(then);
        if otherwise.0.is_empty() {
            self.tick();
            return self.bind(vec![to_else]);
        }
        let to_end = self.control(Op::Jump, 0, 0, 0);
        self.bind(vec![to_else]);
        self.block(otherwise);
        self.tick();
        self.bind(vec![to_end]);
    }

    /// `if (c) break;` and the like in one instruction.
    fn leaving_if(&mut self, cond: u32, then: &Block, otherwise: &Block) -> bool {
        let Some((node, sense)) = leaving(then, otherwise) else {
            return false;
        };
        let at = match node {
            Node::Return(None) => {
                self.control(if sense { Op::ExitIf } else { Op::ExitIfNot }, 0, cond, 0)
            }
            Node::Break(label) | Node::Continue(label) => {
                let Some(save) = self.waiting_register(*label, matches!(node, Node::Continue(_)))
                else {
                    return false;
                };
                self.control(
                    if sense { Op::ParkIf } else { Op::ParkIfNot },
                    save,
                    cond,
                    0,
                )
            }
            Node::Return(Some(_))
            | Node::Inst(_)
            | Node::If { .. }
            | Node::Loop { .. }
            | Node::Scope { .. }
            | Node::Routine { .. } => return false,
        };
        self.pos += 1;
        self.park_target(at);
        true
    }

    fn parting_if(&mut self, cond: u32, then: &Block, otherwise: &Block, loc: LocId) {
        let save = self.allocator.scalars.take(1);
        let start = self.next_pc();
        // An instruction between a comparison and this one would keep them from being fused.
        let branches = self.branches_alone();
        let skip = self.control(Op::If, save, cond, 0);
        self.code.insts[skip].c = branches;
        self.frames.push(Frame::side());
        self.block(then);
        let mut frame = self.frames.pop().expect("pushed");
        frame.exits.push(skip);
        let mut other_side = None;
        if !otherwise.0.is_empty() {
            self.tick();
            self.bind(frame.exits);
            self.loc = loc;
            let swap = self.control(Op::Else, save, 0, 0);
            other_side = Some(swap as u32);
            self.frames.push(Frame::side());
            self.block(otherwise);
            frame = self.frames.pop().expect("pushed");
            frame.exits.push(swap);
        }
        self.join(save, frame.exits, loc, (start, other_side));
        self.allocator.scalars.give(save, 1);
    }

    /// Instructions that the warp executes in any case, for the lanes that the predicate selects.
    fn guard_node(&mut self, cond: &Operand, then: &Block, loc: LocId) {
        self.loc = loc;
        for node in &then.0 {
            match node {
                Node::Inst(inst) if matches!(inst.kind, InstKind::Get(_) | InstKind::Set(..)) => {}
                _ => self.count(),
            }
        }
        let cond = self.scalar(cond);
        let save = self.allocator.scalars.take(1);
        let start = self.next_pc();
        let skip = self.control(Op::Guard, save, cond, 0);
        self.frames.push(Frame::side());
        self.in_guard = true;
        self.block(then);
        // Accesses to arrays in registers are counted for these lanes.
        self.tally();
        self.in_guard = false;
        let mut frame = self.frames.pop().expect("pushed");
        frame.exits.push(skip);
        self.join(save, frame.exits, loc, (start, None));
        self.allocator.scalars.give(save, 1);
    }

    /// The place where the lanes of `save` join, for a statement that begins at `start`, and its switch to the other
    /// side.
    fn join(
        &mut self,
        save: u32,
        exits: Vec<usize>,
        loc: LocId,
        (start, other_side): (u32, Option<u32>),
    ) {
        self.tick();
        self.bind(exits);
        self.wait(start, save, other_side, loc);
        self.loc = loc;
        let at = self.control(Op::Join, save, 0, 0);
        self.park_target(at);
    }

    fn open(&mut self, label: LabelId, is_continued: bool) -> (Option<u32>, Option<u32>) {
        let parts = self.analyses.uniformity.labels[label.index()];
        let left = parts.then(|| self.allocator.scalars.take(1));
        let continued = (parts && is_continued).then(|| self.allocator.scalars.take(1));
        for save in [left, continued].into_iter().flatten() {
            self.emit(Op::Clear, save, 0, 0, 0);
        }
        let kind = FrameKind::Label {
            label,
            left,
            continued,
            to_step: Vec::new(),
            in_step: false,
        };
        self.frames.push(Frame {
            kind,
            exits: Vec::new(),
        });
        (left, continued)
    }

    fn close(&mut self, left: Option<u32>, continued: Option<u32>, loc: LocId, start: u32) {
        let frame = self.frames.pop().expect("opened");
        match left {
            Some(save) => {
                self.join(save, frame.exits, loc, (start, None));
                self.allocator.scalars.give(save, 1);
            }
            None => {
                self.tick();
                self.bind(frame.exits);
            }
        }
        if let Some(save) = continued {
            self.allocator.scalars.give(save, 1);
        }
    }

    fn loop_node(&mut self, label: LabelId, body: &Block, step: &Block, loc: LocId) {
        self.loc = loc;
        let start = self.next_pc();
        let (left, continued) = self.open(label, is_continued(body, label));
        self.tick();
        let head = self.next_pc();
        self.block(body);
        let to_step = match &mut self.frames.last_mut().expect("opened").kind {
            FrameKind::Label {
                to_step, in_step, ..
            } => {
                *in_step = true;
                std::mem::take(to_step)
            }
            FrameKind::Function | FrameKind::Side => unreachable!("opened as a label"),
        };
        let calm = is_straight_line(step) && !self.host;
        if !to_step.is_empty() || continued.is_some() || !calm {
            self.tick();
        }
        self.bind(to_step);
        if let Some(save) = continued {
            self.loc = loc;
            self.wait(start, save, None, loc);
            let at = self.control(Op::Join, save, 0, 0);
            self.park_target(at);
        }
        self.block(step);
        self.loc = loc;
        self.count();
        if !(calm && self.closed_loop(head)) {
            self.control(Op::Loop, 0, 0, head);
        }
        self.pos += 1;
        self.close(left, continued, loc, start);
    }

    /// Fuses the back edge of a loop with the head's comparison and the step's addition. The head is a jump out of the
    /// loop.
    fn closed_loop(&mut self, head: u32) -> bool {
        let head_at = head as usize;
        // If only spreads for the body precede the comparison, they can as well come after the jump: values of the body
        // are not read outside, and variables are not among them.
        let spreads = self.code.insts[head_at..]
            .iter()
            .take_while(|inst| self.is_spread(inst))
            .count();
        let Some(jump) = self.code.insts.get(head_at + spreads) else {
            return false;
        };
        let Some(op) = select::loop_unless(jump.op) else {
            return false;
        };
        if spreads > 0 {
            let exits = &mut self.frames.last_mut().expect("opened").exits;
            let Some(exit) = exits.iter_mut().find(|at| **at == head_at + spreads) else {
                return false;
            };
            *exit = head_at;
            self.code.insts[head_at..=head_at + spreads].rotate_right(1);
        }
        let last = self.code.insts.len() - 1;
        let step = self.code.insts[last];
        let mut signed_step = None;
        let (d, a, c) = if matches!(step.op, Op::SAdd32 | Op::SAddS32) && last > head_at + spreads {
            self.code.insts.pop();
            let loc = self.code.locs.pop();
            signed_step = loc.filter(|_| step.op == Op::SAddS32);
            (step.d, step.a, step.b)
        } else {
            let zero = self.constant(0);
            (self.scalar_temporary(), zero, zero)
        };
        let at = self.control(op, d, a, head + 1);
        self.code.insts[at].c = c;
        if let Some(loc) = signed_step {
            self.code.signed_steps.insert(at as u32, loc);
        }
        self.rounds(head, at as u32);
        true
    }

    /// Whether an instruction spreads a temporary.
    fn is_spread(&self, inst: &Inst) -> bool {
        matches!(inst.op, Op::VSplat32 | Op::VSplat64)
            && !self.code.registers.slot_v.contains(&inst.d)
    }

    fn scope_node(&mut self, label: LabelId, body: &Block, loc: LocId) {
        let start = self.next_pc();
        let (left, continued) = self.open(label, false);
        self.block(body);
        self.close(left, continued, loc, start);
    }

    fn label_frame(&mut self, label: LabelId) -> &mut Frame {
        let is_label = |frame: &&mut Frame| matches!(&frame.kind, FrameKind::Label { label: l, .. } if *l == label);
        self.frames
            .iter_mut()
            .rev()
            .find(is_label)
            .expect("verified: labels are around their uses")
    }

    fn waiting_register(&mut self, label: LabelId, continues: bool) -> Option<u32> {
        match &self.label_frame(label).kind {
            FrameKind::Label {
                left, continued, ..
            } => {
                if continues {
                    *continued
                } else {
                    *left
                }
            }
            FrameKind::Function | FrameKind::Side => None,
        }
    }

    fn leave(&mut self, label: LabelId, continues: bool) {
        if let Some(save) = self.waiting_register(label, continues) {
            let at = self.control(Op::Park, save, 0, 0);
            return self.park_target(at);
        }
        let at = self.control(Op::Jump, 0, 0, 0);
        self.jump_from(at, label, continues);
    }

    /// The jump at `at` leaves a label, or continues with it, for all lanes.
    fn jump_from(&mut self, at: usize, label: LabelId, continues: bool) {
        let frame = self.label_frame(label);
        match &mut frame.kind {
            FrameKind::Label { to_step, .. } if continues => to_step.push(at),
            FrameKind::Function | FrameKind::Side | FrameKind::Label { .. } => frame.exits.push(at),
        }
    }

    fn return_node(&mut self, value: Option<&Operand>) {
        if self.host {
            let (register, has) = match value {
                Some(value) => (self.scalar(value), 1),
                None => (0, 0),
            };
            self.control(Op::Return, 0, register, has);
            return;
        }
        let at = self.control(Op::Exit, 0, 0, 0);
        self.park_target(at);
    }
}
