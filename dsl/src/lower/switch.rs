//! `switch`: which sections a value enters, and falling through.
//!
//! When every section ends in a jump the switch is a chain of `if`s, `default` last wherever it stands:
//!
//! ```text
//! case 1: case 2: A; break; default: D; break; case 3: B;   →   if v == 1 | v == 2 { A } else { if v == 3 { B } else { D } }
//! ```
//!
//! Otherwise the sections follow each other in a scope, each behind `if entered | v == case …`, where `entered` is a slot that
//! says that an earlier section was entered and not left. `default` is entered when no case of any section matches.

use crate::{
    ir::{BinaryOp, CompareOp, Const, LabelId, Operand, Type, UnaryOp},
    sema::typed::{Stmt, StmtKind, SwitchSection, Value},
    span::Span,
};

use super::function::{FunctionLowerer, Target};

/// A chain of `if`s nests; beyond this many sections the flat form is used.
const MAX_CHAIN: usize = 24;

impl FunctionLowerer<'_, '_> {
    pub(super) fn switch(&mut self, value: &Value, sections: &[SwitchSection], span: Span) {
        let selector = self.value(value);
        self.at(value.span);
        let (last, earlier) = match sections.split_last() {
            Some((last, earlier)) => (last, earlier),
            None => return,
        };
        let is_chain = earlier.iter().all(|section| ends_in_jump(&section.body))
            && sections.len() <= MAX_CHAIN;
        let bodies = sections.iter().map(|section| trimmed(&section.body));
        let needs_scope = !is_chain || bodies.clone().any(breaks_out);
        let label = needs_scope.then(|| self.b.open_scope());
        if let Some(label) = label {
            self.frame.targets.push(Target {
                on_break: label,
                on_continue: None,
            });
        }
        if is_chain {
            self.chain(selector, earlier, last, value.span);
        } else if let Some(label) = label {
            self.sections(selector, sections, label, value.span);
        }
        if label.is_some() {
            self.frame.targets.pop();
            self.at(span);
            self.b.close();
        }
    }

    fn chain(
        &mut self,
        selector: Operand,
        earlier: &[SwitchSection],
        last: &SwitchSection,
        span: Span,
    ) {
        let mut n_open = 0;
        let mut default = None;
        for section in earlier.iter().chain([last]) {
            if section.is_default {
                // Its own cases need no test: no other section has them.
                default = Some(section);
                continue;
            }
            self.at(span);
            let Some(entered) = self.matches(selector, &section.cases) else {
                continue;
            };
            self.b.open_if(entered);
            n_open += 1;
            self.stmts(trimmed(&section.body));
            self.b.open_else();
        }
        if let Some(section) = default {
            self.stmts(trimmed(&section.body));
        }
        for _ in 0..n_open {
            self.b.close();
        }
    }

    fn sections(
        &mut self,
        selector: Operand,
        sections: &[SwitchSection],
        label: LabelId,
        span: Span,
    ) {
        let entered = self.b.slot("entered", Type::I1);
        self.b.set(entered, Const::bool(false).into());
        for (i, section) in sections.iter().enumerate() {
            self.at(span);
            let enters = self.enters(selector, sections, section);
            let fell = self.b.get(entered);
            let cond = match enters {
                Some(enters) => self.b.binary(BinaryOp::Or, fell, enters),
                None => fell,
            };
            self.b.open_if(cond);
            let falls_on = i + 1 < sections.len() && !ends_in_jump(&section.body);
            if falls_on {
                self.b.set(entered, Const::bool(true).into());
            }
            self.stmts(&section.body);
            // A lane that gets here without falling on is done.
            if !falls_on && !self.b.is_dead() {
                self.b.break_to(label);
            }
            self.b.close();
        }
    }

    /// Whether the value enters at this section.
    fn enters(
        &mut self,
        selector: Operand,
        sections: &[SwitchSection],
        section: &SwitchSection,
    ) -> Option<Operand> {
        if !section.is_default {
            return self.matches(selector, &section.cases);
        }
        let others = sections.iter().filter(|section| !section.is_default);
        let cases: Vec<u64> = others.flat_map(|section| section.cases.clone()).collect();
        match self.matches(selector, &cases) {
            Some(any) => Some(self.b.unary(UnaryOp::Not, any)),
            None => Some(Const::bool(true).into()),
        }
    }

    /// Whether the value is one of the cases.
    fn matches(&mut self, selector: Operand, cases: &[u64]) -> Option<Operand> {
        let ty = self.b.value_type(selector);
        let mut any = None;
        for &case in cases {
            let case = match ty {
                Type::I64 => Const::i64(case as i64),
                _ => Const::i32(case as i32),
            };
            let is_this = self.b.compare(CompareOp::Eq, selector, case.into());
            any = Some(match any {
                Some(any) => self.b.binary(BinaryOp::Or, any, is_this),
                None => is_this,
            });
        }
        any
    }
}

/// Without the final `break`.
fn trimmed(stmts: &[Stmt]) -> &[Stmt] {
    match stmts.split_last() {
        Some((last, rest)) if matches!(last.kind, StmtKind::Break) => rest,
        _ => stmts,
    }
}

/// The end is not reached.
fn ends_in_jump(stmts: &[Stmt]) -> bool {
    match stmts.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Break | StmtKind::Continue | StmtKind::Return(_)) => true,
        Some(StmtKind::Block(stmts)) => ends_in_jump(stmts),
        Some(StmtKind::If { arms, otherwise }) => {
            ends_in_jump(otherwise) && arms.iter().all(|(_, body)| ends_in_jump(body))
        }
        _ => false,
    }
}

/// A `break` in it leaves the switch.
fn breaks_out(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(stmts) => breaks_out(stmts),
        StmtKind::If { arms, otherwise } => {
            breaks_out(otherwise) || arms.iter().any(|(_, body)| breaks_out(body))
        }
        _ => false,
    })
}
