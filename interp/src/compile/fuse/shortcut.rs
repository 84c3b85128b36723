//! Resolves jumps to another jump on the same condition, as in the code for `a && b` and `a || b`. Neither jump then
//! needs the condition as a value.

use std::collections::HashSet;

use crate::isa::bytecode::Code;
use crate::isa::op::Op;

use super::plan::{Goal, Plan, comparison, registers};

/// The longest chain of jumps that is followed.
const MAX_JUMPS: usize = 8;
/// The most instructions that are examined to decide whether a value is still used.
const MAX_LOOK: usize = 256;

impl Plan {
    /// The final target of the jump at `at`.
    pub(super) fn goal(&self, code: &Code, at: u32) -> Goal {
        let direct = Goal {
            pc: code.insts[at as usize].b,
            weight: 0,
        };
        self.shortcuts.get(&at).copied().unwrap_or(direct)
    }

    /// Finds them.
    pub(super) fn shortcuts(&mut self, code: &Code) {
        let mut conditions = Vec::new();
        for (at, inst) in code.insts.iter().enumerate() {
            if !matches!(inst.op, Op::JumpIf | Op::JumpIfNot) {
                continue;
            }
            if let Some(goal) = shortcut(code, at) {
                self.shortcuts.insert(at as u32, goal);
                conditions.push(inst.a);
            }
        }
        conditions.sort_unstable();
        conditions.dedup();
        // Values that now are used only by the jump after them.
        for at in 0..code.insts.len() {
            let inst = &code.insts[at];
            if conditions.binary_search(&inst.d).is_ok()
                && crate::isa::host::HostOp::of(inst.op).is_some()
                && self.is_only_for_jump(code, at)
            {
                self.uses.insert(at as u32, 1);
            }
        }
    }

    /// Whether only the jump after it uses the result of the instruction at `at`, wherever the jump leads.
    fn is_only_for_jump(&self, code: &Code, at: usize) -> bool {
        let register = code.insts[at].d;
        let mut jump = at + 1;
        if code.insts.get(jump).is_some_and(|inst| inst.op == Op::Tick) {
            jump += 1;
        }
        let Some(inst) = code.insts.get(jump) else {
            return false;
        };
        matches!(inst.op, Op::JumpIf | Op::JumpIfNot)
            && inst.a == register
            && self.is_dead(code, register, jump + 1)
            && self.is_dead(code, register, self.goal(code, jump as u32).pc as usize)
    }

    /// Whether the register is not read from there on before it is written.
    fn is_dead(&self, code: &Code, register: u32, from: usize) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if seen.len() > MAX_LOOK {
                return false;
            }
            let Some(inst) = code.insts.get(at) else {
                return false;
            };
            match inst.op {
                Op::Jump | Op::Loop => {
                    open.push(inst.b as usize);
                    continue;
                }
                Op::Call | Op::HostCall | Op::Launch => {
                    let row = &code.calls[inst.a as usize];
                    if row.args.iter().any(|&(_, read)| read == register) {
                        return false;
                    }
                    if inst.b == 1 && inst.d == register {
                        continue;
                    }
                }
                Op::Return if inst.b == 0 || inst.a != register => continue,
                op => {
                    let (read, written) = registers(code, at);
                    if read.contains(&register) {
                        return false;
                    }
                    if written.contains(&register) {
                        continue;
                    }
                    if matches!(op, Op::JumpIf | Op::JumpIfNot) || comparison(op).is_some() {
                        open.push(self.goal(code, at as u32).pc as usize);
                    }
                }
            }
            open.push(at + 1);
        }
        true
    }
}

/// The final target of the conditional jump at `at`, if it jumps to one on the same condition.
fn shortcut(code: &Code, at: usize) -> Option<Goal> {
    let jump = &code.insts[at];
    let is_set = jump.op == Op::JumpIf;
    let mut goal = Goal {
        pc: jump.b,
        weight: 0,
    };
    for _ in 0..MAX_JUMPS {
        let next = &code.insts[goal.pc as usize];
        if !matches!(next.op, Op::JumpIf | Op::JumpIfNot) || next.a != jump.a {
            break;
        }
        let is_taken = (next.op == Op::JumpIf) == is_set;
        goal = Goal {
            pc: if is_taken { next.b } else { goal.pc + 1 },
            weight: goal.weight.checked_add(next.weight)?,
        };
    }
    (goal.pc != jump.b).then_some(goal)
}
