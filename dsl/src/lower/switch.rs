//! Lowers `switch`: which sections a value enters, and falling through.
//!
//! If every section ends in a jump, the switch is a chain of `if`s, with `default` last, wherever it is written:
//!
//! ```text
//! case 1: case 2: A; break; default: D; break; case 3: B;   →   if v == 1 | v == 2 { A } else { if v == 3 { B } else { D } }
//! ```
//!
//! Otherwise the sections follow each other in a scope, each in an `if entered | v == case …`, where `entered` is a slot that
//! says that an earlier section was entered and not left. `default` is entered when no case of any section matches.

use crate::sema::typed::{Stmt, StmtKind, SwitchSection, Value};
use ir::{BinaryOp, CompareOp, Const, Operand, Type, UnaryOp, span::Span};

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
        } else {
            self.sections(selector, sections, value.span);
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
                // The cases of this section need no test: no other section has them.
                default = Some(section);
                continue;
            }
            self.at(span);
            let Some(entered) = self.matches(selector, &section.cases) else {
                continue;
            };
            self.b.open_if(entered);
            n_open += 1;
            self.part(trimmed(&section.body));
            self.b.open_else();
        }
        if let Some(section) = default {
            self.part(trimmed(&section.body));
        }
        for _ in 0..n_open {
            self.b.close();
        }
    }

    fn sections(&mut self, selector: Operand, sections: &[SwitchSection], span: Span) {
        let enters = self.entry_conditions(selector, sections);
        let entered = self.b.slot("entered", Type::I1);
        self.b.set(entered, Const::bool(false).into());
        let mut falls_in = false;
        for (i, (section, enters)) in sections.iter().zip(enters).enumerate() {
            self.at(span);
            let cond = match (falls_in, enters) {
                (false, enters) => enters.unwrap_or(Const::bool(false).into()),
                (true, None) => self.b.get(entered),
                (true, Some(enters)) => {
                    let fell = self.b.get(entered);
                    self.b.binary(BinaryOp::Or, fell, enters)
                }
            };
            self.b.open_if(cond);
            falls_in = i + 1 < sections.len() && !ends_in_jump(&section.body);
            if falls_in {
                self.b.set(entered, Const::bool(true).into());
            }
            self.part(&section.body);
            self.b.close();
        }
    }

    /// For each section, whether the value enters it; `None` where there is no label.
    fn entry_conditions(
        &mut self,
        selector: Operand,
        sections: &[SwitchSection],
    ) -> Vec<Option<Operand>> {
        let mut enters: Vec<Option<Operand>> = sections
            .iter()
            .map(|section| match section.is_default {
                true => None,
                false => self.matches(selector, &section.cases),
            })
            .collect();
        let Some(default) = sections.iter().position(|section| section.is_default) else {
            return enters;
        };
        // `default` is entered when no other section is, whether or not it shares its section with cases.
        let others = enters.iter().enumerate().filter(|&(i, _)| i != default);
        let others: Vec<Operand> = others.filter_map(|(_, enters)| *enters).collect();
        let any = others
            .into_iter()
            .reduce(|any, enters| self.b.binary(BinaryOp::Or, any, enters));
        enters[default] = Some(match any {
            Some(any) => self.b.unary(UnaryOp::Not, any),
            None => Const::bool(true).into(),
        });
        enters
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

/// Whether the end is unreachable.
fn ends_in_jump(stmts: &[Stmt]) -> bool {
    match stmts.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Return(_)) => {
            true
        }
        Some(StmtKind::Block(stmts)) => ends_in_jump(stmts),
        Some(StmtKind::If { arms, otherwise }) => {
            ends_in_jump(otherwise) && arms.iter().all(|(_, body)| ends_in_jump(body))
        }
        _ => false,
    }
}

/// Whether a `break` in it leaves the switch.
fn breaks_out(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(stmts) | StmtKind::Labelled { body: stmts, .. } => breaks_out(stmts),
        StmtKind::If { arms, otherwise } => {
            breaks_out(otherwise) || arms.iter().any(|(_, body)| breaks_out(body))
        }
        _ => false,
    })
}
