//! Runs a kernel for one thread, node by node.

use ir::{Block, Inst, InstKind, LabelId, Node, Object, Operand, SpecialReg, eval};

use super::generator::{OWN_WORD, WORDS};

/// The address of the thread's arrays.
const OWN: u64 = 1 << 32;

pub(super) enum Flow {
    Next,
    Break(LabelId),
    Continue(LabelId),
    Return,
}

/// One thread.
pub(super) struct Thread {
    pub(super) tid: u32,
    pub(super) ctaid: u32,
    pub(super) values: Vec<u64>,
    pub(super) slots: Vec<u64>,
    pub(super) own: Vec<u64>,
    pub(super) out: Vec<Option<i32>>,
}

impl Thread {
    fn get(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Value(id) => self.values[id.index()],
            Operand::Const(constant) => constant.bits,
        }
    }

    pub(super) fn block(&mut self, block: &Block) -> Flow {
        for node in &block.0 {
            let flow = match node {
                Node::Inst(inst) => {
                    self.inst(inst);
                    Flow::Next
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    ..
                } => self.block(if self.get(cond) != 0 { then } else { otherwise }),
                Node::Routine { .. } => Flow::Next,
                Node::Scope { label, body, .. } => match self.block(body) {
                    Flow::Break(l) if l == *label => Flow::Next,
                    flow => flow,
                },
                Node::Loop {
                    label, body, step, ..
                } => loop {
                    match self.block(body) {
                        Flow::Break(l) if l == *label => break Flow::Next,
                        Flow::Continue(l) if l == *label => {}
                        Flow::Next => {}
                        flow => break flow,
                    }
                    match self.block(step) {
                        Flow::Break(l) if l == *label => break Flow::Next,
                        Flow::Next => {}
                        flow => break flow,
                    }
                },
                Node::Break(label) => Flow::Break(*label),
                Node::Continue(label) => Flow::Continue(*label),
                Node::Return(_) => Flow::Return,
            };
            if !matches!(flow, Flow::Next) {
                return flow;
            }
        }
        Flow::Next
    }

    fn inst(&mut self, inst: &Inst) {
        let bits = match &inst.kind {
            InstKind::Get(slot) => self.slots[slot.index()],
            InstKind::Set(slot, value) => {
                self.slots[slot.index()] = self.get(value);
                return;
            }
            // Threads do not communicate.
            InstKind::Barrier(None) => return,
            InstKind::Binary(op, ty, a, b) => eval::binary(*op, *ty, self.get(a), self.get(b)),
            InstKind::Compare(op, ty, a, b) => {
                u64::from(eval::compare(*op, *ty, self.get(a), self.get(b)))
            }
            InstKind::Special(SpecialReg::TidX) => u64::from(self.tid),
            InstKind::Special(SpecialReg::CtaidX) => u64::from(self.ctaid),
            InstKind::Special(_) => u64::from(self.tid % 32),
            InstKind::PtrAdd {
                base,
                index,
                scale_bytes,
                offset_bytes,
                ..
            } => {
                let index = i64::from(self.get(index) as i32);
                self.get(base)
                    .wrapping_add_signed(index * scale_bytes + offset_bytes)
            }
            InstKind::AddrOf(Object::Local(local)) => OWN + u64::from(local.0 * WORDS) * 4,
            InstKind::Load(OWN_WORD, ptr) => self.own[((self.get(ptr) - OWN) / 4) as usize],
            InstKind::Store(OWN_WORD, ptr, values) => {
                let word = ((self.get(ptr) - OWN) / 4) as usize;
                self.own[word] = self.get(&values[0]);
                return;
            }
            InstKind::Load(_, ptr) => input((self.get(ptr) / 4) as i32) as u32 as u64,
            InstKind::Store(_, ptr, values) => {
                let index = (self.get(ptr) / 4) as usize;
                self.out[index] = Some(self.get(&values[0]) as i32);
                return;
            }
            other => unreachable!("{other:?} is not generated"),
        };
        self.values[inst.results[0].index()] = bits;
    }
}

/// The input at an index.
pub(super) fn input(k: i32) -> i32 {
    k * 7 % 11 - 3
}
