//! Structured statements.

use ir::{CompareOp, Const, LabelId};

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
            Piece::Code(block) => self.code(*block)?,
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
            Piece::Return => match self.end {
                Some(end) => self.builder.break_to(end),
                None => self.builder.return_value(None),
            },
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

    /// The statements of a block.
    fn code(&mut self, block: BlockId) -> Result<(), Failed> {
        let body = self.body;
        // A call with its arguments and results is within a block.
        self.arguments.clear();
        for index in self.blocks[block].statements.clone() {
            let Statement::Inst(inst) = &body.statements[index] else {
                continue;
            };
            self.place(inst);
            let Some((guard, negated)) = inst.guard else {
                self.inst(inst, index).map_err(|why| (inst.at, why))?;
                continue;
            };
            let cond = self.registers.get(&mut self.builder, guard);
            self.builder.open_if(cond);
            if negated {
                self.builder.open_else();
            }
            self.registers.open_region();
            self.inst(inst, index).map_err(|why| (inst.at, why))?;
            self.registers.close_region();
            self.builder.close();
        }
        Ok(())
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
