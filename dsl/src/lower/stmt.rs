//! Lowers statements; control flow stays structured.
//!
//! A loop that tests first is `loop { if !cond break; body } step { … }`; `do` has its test at the end of the step, so that `continue`
//! reaches it. `do { … } while (0)` is a scope. Code that a constant condition excludes is not lowered.

use crate::{
    sema::typed::{Stmt, StmtKind, Value, ValueKind, VarId},
    syntax::ast::Unroll,
};
use ir::{LabelId, Object, Operand, span::Span};

use super::function::{Exit, FunctionLowerer, Home, Target};

impl FunctionLowerer<'_, '_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        self.depth += 1;
        self.part(stmts);
        if self.depth > 1 && self.is_device {
            for stmt in stmts {
                if let StmtKind::Declare(var, _) = stmt.kind {
                    self.ends(var);
                }
            }
        }
        self.depth -= 1;
    }

    /// A part of a block's statements: their variables live on after them.
    pub(super) fn part(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            // No label makes code after a jump reachable: a switch is cut into sections, and the statements before a label are one
            // statement.
            if self.b.is_dead() {
                break;
            }
            self.stmt(stmt);
        }
    }

    /// Marks the end of a variable in the thread's memory.
    fn ends(&mut self, var: VarId) {
        if let Some(Home::Memory(Object::Local(local))) = self.frame.homes[var]
            && !self.b.is_dead()
        {
            self.b.lifetime(local, false);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(value) => self.effect(value),
            StmtKind::Declare(var, init) => self.declare(*var, init.as_ref()),
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If { arms, otherwise } => self.if_chain(arms, otherwise),
            StmtKind::Loop {
                cond,
                test_first,
                body,
                step,
                unroll,
            } => {
                let parts = LoopParts {
                    cond: cond.as_ref(),
                    body,
                    step: step.as_ref(),
                    span: stmt.span,
                };
                self.any_loop(&parts, *test_first, *unroll);
            }
            StmtKind::Switch { value, sections } => self.switch(value, sections, stmt.span),
            StmtKind::Break => {
                if let Some(target) = self.frame.targets.last() {
                    self.b.break_to(target.on_break);
                }
            }
            StmtKind::Continue => self.continue_loop(),
            StmtKind::Labelled { label, body } => {
                self.at(stmt.span);
                let scope = self.b.open_scope();
                self.frame.labels.push((*label, scope));
                self.part(body);
                self.frame.labels.pop();
                self.b.close();
            }
            StmtKind::Goto(label) => {
                let scope = self.frame.labels.iter().find(|(known, _)| known == label);
                if let Some(&(_, scope)) = scope {
                    self.b.break_to(scope);
                }
            }
            StmtKind::Return(value) => self.return_from(value.as_ref()),
        }
    }

    fn if_chain(&mut self, arms: &[(Value, Vec<Stmt>)], otherwise: &[Stmt]) {
        let mut n_open = 0;
        let mut is_decided = false;
        for (i, (cond, body)) in arms.iter().enumerate() {
            match self.condition(cond) {
                Operand::Const(known) if known.bits == 0 => {}
                Operand::Const(_) => {
                    self.stmts(body);
                    is_decided = true;
                    break;
                }
                cond => {
                    self.b.open_if(cond);
                    n_open += 1;
                    self.stmts(body);
                    if i + 1 < arms.len() || !otherwise.is_empty() {
                        self.b.open_else();
                    }
                }
            }
        }
        if !is_decided {
            self.stmts(otherwise);
        }
        for _ in 0..n_open {
            self.b.close();
        }
    }

    fn any_loop(&mut self, parts: &LoopParts<'_>, test_first: bool, unroll: Option<Unroll>) {
        let runs_once = !test_first && parts.cond.is_some_and(is_false);
        if runs_once && parts.step.is_none() {
            return self.run_once(parts);
        }
        self.at(parts.cond.map_or(parts.span, |cond| cond.span));
        let label = self.b.open_loop(unroll.map(|unroll| match unroll {
            Unroll::Full => 0,
            Unroll::Count(n) => n,
        }));
        if test_first {
            self.leave_unless(parts.cond, label);
        }
        self.frame.targets.push(Target {
            on_break: label,
            on_continue: Some(Jump::Continue(label)),
        });
        self.stmts(parts.body);
        self.frame.targets.pop();
        self.b.open_step();
        if let Some(step) = parts.step {
            self.effect(step);
        }
        if !test_first {
            self.leave_unless(parts.cond, label);
        }
        self.b.close();
    }

    fn run_once(&mut self, parts: &LoopParts<'_>) {
        self.at(parts.span);
        let label = self.b.open_scope();
        self.frame.targets.push(Target {
            on_break: label,
            on_continue: Some(Jump::Break(label)),
        });
        self.stmts(parts.body);
        self.frame.targets.pop();
        self.b.close();
    }

    /// `if !cond break`
    fn leave_unless(&mut self, cond: Option<&Value>, label: LabelId) {
        let Some(cond) = cond else {
            return;
        };
        match self.condition(cond) {
            Operand::Const(known) if known.bits != 0 => {}
            Operand::Const(_) => self.b.break_to(label),
            cond => {
                self.b.open_if(cond);
                self.b.open_else();
                self.b.break_to(label);
                self.b.close();
            }
        }
    }

    fn continue_loop(&mut self) {
        let targets = self.frame.targets.iter().rev();
        match targets.filter_map(|target| target.on_continue).next() {
            Some(Jump::Continue(label)) => self.b.continue_to(label),
            Some(Jump::Break(label)) => self.b.break_to(label),
            None => {}
        }
    }

    fn return_from(&mut self, value: Option<&Value>) {
        if let (Exit::TailPlace(_), Some(value)) = (&self.frame.exit, value) {
            let place = self.referred(value);
            self.frame.exit = Exit::TailPlace(Some(place));
            return;
        }
        let leaves = value.map_or(vec![], |value| self.leaves(value));
        if let Some(value) = value {
            self.at(value.span);
        }
        match &self.frame.exit {
            Exit::Kernel => self.b.return_value(None),
            Exit::Host(None) => self.b.return_value(leaves.first().copied()),
            Exit::Host(Some(slot)) => {
                let slot = *slot;
                self.store_result(slot, &leaves);
                self.b.return_value(None);
            }
            Exit::Scope(label, slots) => {
                let (label, slots) = (*label, slots.clone());
                self.set_all(&slots, &leaves);
                self.b.break_to(label);
            }
            Exit::Tail(_) => self.frame.exit = Exit::Tail(leaves),
            // A function that returns a reference has a value in every `return`.
            Exit::TailPlace(_) => {}
        }
    }
}

/// How `continue` gets to the next round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Jump {
    /// To the loop's step.
    Continue(LabelId),
    /// There is no next round (`do { … } while (0)`).
    Break(LabelId),
}

struct LoopParts<'t> {
    cond: Option<&'t Value>,
    body: &'t [Stmt],
    step: Option<&'t Value>,
    span: Span,
}

/// A condition written as 0 or `false`.
fn is_false(cond: &Value) -> bool {
    match &cond.kind {
        ValueKind::Int(bits) => *bits == 0,
        ValueKind::Convert(inner) => is_false(inner),
        _ => false,
    }
}
