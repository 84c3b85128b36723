//! Jumps that lead to another jump on the same condition, as `a && b` and `a || b` are compiled: where that leads in the end. Neither needs
//! the condition as a value then.

use std::collections::HashSet;

use crate::isa::bytecode::Code;
use crate::isa::op::Op;

use super::plan::{Goal, Plan, comparison, registers};

/// How many jumps may follow each other.
const MAX_JUMPS: usize = 8;
/// How many instructions are looked at to find out whether a value is still read.
const MAX_LOOK: usize = 256;

impl Plan {
    /// Where the jump at `at` leads.
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
        // Values that nothing but the jump behind them reads now.
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

    /// Whether only the jump behind it reads what the instruction at `at` gives, wherever that leads.
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

    /// Whether nothing reads the register from there on before it is written to.
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

/// Where the conditional jump at `at` leads, if its goal is one on the same condition.
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
