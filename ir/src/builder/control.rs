//! Opens and closes `if`, `loop` and `scope`; adds jumps.

use super::{Builder, Open, What};
use crate::{Block, LabelId, Node, Operand, RoutineId, Type};

/// Structured statements. Each `open_…` is ended by [`Builder::close`].
impl Builder {
    /// `if cond {`
    pub fn open_if(&mut self, cond: Operand) {
        debug_assert_eq!(self.value_type(cond), Type::I1);
        let (loc, is_guard) = (self.loc, false);
        self.open(What::Then {
            cond,
            is_guard,
            loc,
        });
    }

    /// `guard cond {`. It is an `if` after all where a statement follows, not only instructions.
    pub fn open_guard(&mut self, cond: Operand) {
        debug_assert_eq!(self.value_type(cond), Type::I1);
        let (loc, is_guard) = (self.loc, true);
        self.open(What::Then {
            cond,
            is_guard,
            loc,
        });
    }

    /// `} else {`
    pub fn open_else(&mut self) {
        let Open { nodes, dead, what } = self.pop();
        let What::Then { cond, loc, .. } = what else {
            panic!("an else without an if");
        };
        self.open(What::Else {
            cond,
            loc,
            then: Block(nodes),
            then_dead: dead,
        });
    }

    /// `loop L {` with a new label.
    pub fn open_loop(&mut self, unroll: Option<u32>) -> LabelId {
        let label = self.label();
        self.open_loop_at(label, unroll);
        label
    }

    /// `loop label {`
    pub fn open_loop_at(&mut self, label: LabelId, unroll: Option<u32>) {
        let loc = self.loc;
        self.open(What::LoopBody { label, unroll, loc });
    }

    /// `} step {`
    pub fn open_step(&mut self) {
        let Open { nodes, what, .. } = self.pop();
        let What::LoopBody { label, unroll, loc } = what else {
            panic!("a step without a loop");
        };
        // A `continue` may lead here even if the end of the body is unreachable.
        self.open(What::LoopStep {
            label,
            unroll,
            loc,
            body: Block(nodes),
        });
    }

    /// `scope L {` with a new label.
    pub fn open_scope(&mut self) -> LabelId {
        let label = self.label();
        self.open_scope_at(label);
        label
    }

    /// `scope label {`
    pub fn open_scope_at(&mut self, label: LabelId) {
        let loc = self.loc;
        self.open(What::Scope { label, loc });
    }

    /// `code R {`: wherever this is called, the code goes to the beginning of the body.
    pub fn open_routine(&mut self, id: RoutineId) {
        self.open(What::Routine(id));
    }

    /// How many statements are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// `}`: ends the innermost `if` (with or without an `else`), `guard`, `loop` (with or without a `step`) or `scope`.
    pub fn close(&mut self) {
        let Open { nodes, dead, what } = self.pop();
        let block = Block(nodes);
        match what {
            What::Body => unreachable!("pop keeps the body"),
            What::Then {
                cond,
                is_guard,
                loc,
            } => self.push_node(Node::If {
                cond,
                is_guard: is_guard && block.0.iter().all(|node| matches!(node, Node::Inst(_))),
                then: block,
                otherwise: Block::default(),
                loc,
            }),
            What::Else {
                cond,
                loc,
                then,
                then_dead,
            } => {
                self.push_node(Node::If {
                    cond,
                    then,
                    otherwise: block,
                    is_guard: false,
                    loc,
                });
                if then_dead && dead {
                    self.open.last_mut().expect("the body is open").dead = true;
                }
            }
            What::LoopBody { label, unroll, loc } => self.push_node(Node::Loop {
                label,
                body: block,
                step: Block::default(),
                unroll,
                loc,
            }),
            What::LoopStep {
                label,
                unroll,
                loc,
                body,
            } => self.push_node(Node::Loop {
                label,
                body,
                step: block,
                unroll,
                loc,
            }),
            What::Scope { label, loc } => self.push_node(Node::Scope {
                label,
                body: block,
                loc,
            }),
            What::Routine(id) => self.routines.push((id, block)),
        }
    }

    /// `break label`
    pub fn break_to(&mut self, label: LabelId) {
        self.end_block(Node::Break(label));
    }

    /// `continue label`
    pub fn continue_to(&mut self, label: LabelId) {
        self.end_block(Node::Continue(label));
    }

    /// `return`, with a value in host functions that return one.
    pub fn return_value(&mut self, value: Option<Operand>) {
        self.end_block(Node::Return(value));
    }
}
