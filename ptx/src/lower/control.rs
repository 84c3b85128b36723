//! Structured statements.

use ir::{CompareOp, Const, LabelId, Type, UnaryOp};

use super::{Fault, Lowerer};
use crate::graph::{BlockId, End};
use crate::structure::Piece;
use crate::tree::{Instruction, Statement};

/// The place in the text, and why.
type Failed = (u32, Fault);

impl<'t> Lowerer<'_, 't> {
    /// Statements in order. They are a region of their registers.
    pub(super) fn pieces(&mut self, pieces: &[Piece]) -> Result<(), Failed> {
        self.registers.open_region();
        for piece in pieces {
            self.piece(piece)?;
        }
        self.registers.close_region();
        Ok(())
    }

    fn piece(&mut self, piece: &Piece) -> Result<(), Failed> {
        match piece {
            Piece::Code(block) => self.code(*block),
            Piece::If {
                block,
                then,
                otherwise,
            } => {
                let at = self.jump(*block);
                let End::Branch(predicate, negated, _) = self.blocks[*block].end else {
                    return Err((at, "a branch without a condition".to_string()));
                };
                let cond = self.registers.get(&mut self.builder, predicate);
                // `if (!p) a else b` is `if (p) b else a`.
                let (then, otherwise) = match negated {
                    true => (otherwise, then),
                    false => (then, otherwise),
                };
                self.builder.open_if(cond);
                self.pieces(then)?;
                if !otherwise.is_empty() {
                    self.builder.open_else();
                    self.pieces(otherwise)?;
                }
                self.builder.close();
            }
            Piece::Switch { block, arms } => self.switch(*block, arms)?,
            Piece::Loop { header, body } => {
                let label = self.label(true, *header);
                self.place_of_block(*header);
                // LLVM has unrolled what is to be unrolled.
                self.builder.open_loop_at(label, None);
                self.pieces(body)?;
                self.builder.close();
            }
            Piece::Scope { follower, body } => {
                let label = self.label(false, *follower);
                self.builder.open_scope_at(label);
                self.pieces(body)?;
                self.builder.close();
            }
            Piece::Leave(follower) => {
                let label = self.label(false, *follower);
                self.builder.break_to(label);
            }
            Piece::LeaveLoop(header) => {
                let label = self.label(true, *header);
                self.builder.break_to(label);
            }
            Piece::Continue(header) => {
                let label = self.label(true, *header);
                self.builder.continue_to(label);
            }
            Piece::Return => self.end_lanes(),
            Piece::Dispatch(blocks) => self.dispatch(blocks)?,
        }
        Ok(())
    }

    /// `brx.idx`: a chain of comparisons. The last arm is for all other numbers, which PTX leaves undefined.
    fn switch(&mut self, block: BlockId, arms: &[Vec<Piece>]) -> Result<(), Failed> {
        let at = self.jump(block);
        let End::Switch(index, _) = self.blocks[block].end else {
            return Err((at, "a switch without a number".to_string()));
        };
        let index = self.registers.get(&mut self.builder, index);
        let Some((last, others)) = arms.split_last() else {
            return Ok(());
        };
        for (number, arm) in others.iter().enumerate() {
            let number = Const::i32(number as i32).into();
            let cond = self.builder.compare(CompareOp::Eq, index, number);
            self.builder.open_if(cond);
            self.pieces(arm)?;
            self.builder.open_else();
        }
        self.pieces(last)?;
        for _ in others {
            self.builder.close();
        }
        Ok(())
    }

    /// Lanes end here, or leave the routine.
    fn end_lanes(&mut self) {
        match self.end {
            Some(end) => self.builder.break_to(end),
            None => self.builder.return_value(None),
        }
    }

    /// Blocks without structure: each lane has the number of its next block.
    fn dispatch(&mut self, blocks: &[BlockId]) -> Result<(), Failed> {
        let next = self.builder.slot("block", Type::I32);
        let number = |block: BlockId| Const::i32(block as i32).into();
        self.builder.set(next, number(0));
        let label = self.builder.label();
        self.builder.open_loop_at(label, None);
        for &block in blocks {
            let at = self.builder.get(next);
            let here = self.builder.compare(CompareOp::Eq, at, number(block));
            self.builder.open_if(here);
            self.registers.open_region();
            self.code(block);
            self.jump(block);
            match &self.blocks[block].end {
                End::Return => self.end_lanes(),
                End::Goto(target) => self.builder.set(next, number(*target)),
                End::Branch(predicate, negated, [first, second]) => {
                    let cond = self.registers.get(&mut self.builder, *predicate);
                    let (first, second) = match negated {
                        true => (second, first),
                        false => (first, second),
                    };
                    let target = self.builder.select(cond, number(*first), number(*second));
                    self.builder.set(next, target);
                }
                End::Switch(index, targets) => {
                    let index = self.registers.get(&mut self.builder, *index);
                    let mut target = number(targets.last().copied().unwrap_or(0));
                    for (arm, &block) in targets.iter().enumerate().rev().skip(1) {
                        let is = self.builder.compare(CompareOp::Eq, index, number(arm));
                        target = self.builder.select(is, number(block), target);
                    }
                    self.builder.set(next, target);
                }
            }
            self.registers.close_region();
            self.builder.close();
        }
        self.builder.close();
        Ok(())
    }

    /// The statements of a block.
    fn code(&mut self, block: BlockId) {
        let body = self.body;
        // A call with its arguments and results is within a block.
        self.arguments.clear();
        for index in self.blocks[block].statements.clone() {
            let Statement::Inst(inst) = &body.statements[index] else {
                continue;
            };
            self.place(inst);
            let Some((guard, negated)) = inst.guard else {
                self.supported(inst, index);
                continue;
            };
            let cond = self.registers.get(&mut self.builder, guard);
            let cond = match negated {
                true => self.builder.unary(UnaryOp::Not, cond),
                false => cond,
            };
            self.builder.open_guard(cond);
            self.registers.open_region();
            self.supported(inst, index);
            self.registers.close_region();
            self.builder.close();
        }
    }

    /// An instruction; one that dslc cannot run is an error for the lanes that reach it.
    fn supported(&mut self, inst: &Instruction<'t>, statement: usize) {
        let depth = self.builder.depth();
        let Err(why) = self.inst(inst, statement) else {
            return;
        };
        while self.builder.depth() > depth {
            self.builder.close();
        }
        let text = inst.opcode.to_string() + &inst.modifiers.concat();
        let what = match why.contains(&text) {
            true => why,
            false => format!("`{text}`: {why}"),
        };
        let string = self.environment.string(what.as_bytes());
        self.builder.unsupported(string);
        self.unsupported.push((inst.at, what));
    }

    /// The jump at the end of a block, with its place set.
    fn jump(&mut self, block: BlockId) -> u32 {
        let body = self.body;
        let jump = self.blocks[block].jump.map(|index| &body.statements[index]);
        let Some(Statement::Inst(inst)) = jump else {
            return 0;
        };
        self.place(inst);
        inst.at
    }

    fn label(&mut self, is_loop: bool, block: BlockId) -> LabelId {
        let builder = &mut self.builder;
        let label = self.labels.entry((is_loop, block));
        *label.or_insert_with(|| builder.label())
    }

    /// What follows is at an instruction's place.
    fn place(&mut self, inst: &Instruction<'t>) {
        let place = self.body.places[inst.place as usize];
        self.builder.set_loc(self.environment.place(place, inst.at));
    }

    fn place_of_block(&mut self, block: BlockId) {
        let body = self.body;
        let mut statements = self.blocks[block].statements.clone();
        let first = statements.find_map(|index| match &body.statements[index] {
            Statement::Inst(inst) => Some(inst),
            _ => None,
        });
        if let Some(inst) = first {
            self.place(inst);
        }
    }
}
