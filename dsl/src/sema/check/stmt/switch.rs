//! `switch`: the body is cut into sections at its labels.
//!
//! Labels must stand directly in the body's braces. One inside an inner block (Duff's device) would jump into the middle
//! of a statement, which structured code cannot say; it is refused.

use crate::sema::check::{Checker, Reported, int};
use crate::sema::message::expr::Needed;
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::{
        classify::{Classify, promoted},
        const_eval::{self, Const, NotConst},
        ty::Ty,
        typed::{Stmt, StmtKind, SwitchSection, Value},
    },
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(crate) fn switch_stmt(
        &mut self,
        value: &ast::Expr,
        body: &ast::Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let at = value.span;
        let value = self.switch_value(value);
        let value = self.body_part(value);
        let stmts = match &body.kind {
            ast::StmtKind::Block(block) => &block.stmts[..],
            _ => std::slice::from_ref(body),
        };
        self.scopes.enter();
        self.body.flow.switches += 1;
        self.body
            .flow
            .exits
            .push((self.body.flow.cleanups.len(), false));
        self.cleanups_enter();
        let mut sections: Vec<SwitchSection> = Vec::new();
        let mut seen: Vec<(u64, Span)> = Vec::new();
        let mut default: Option<Span> = None;
        let mut before = Vec::new();
        let mut after_label = false;
        for stmt in stmts {
            let is_label = matches!(stmt.kind, ast::StmtKind::Case(_) | ast::StmtKind::Default);
            if is_label && !after_label {
                self.check_crossing(sections.last(), stmt.span);
                sections.push(SwitchSection {
                    cases: Vec::new(),
                    is_default: false,
                    body: Vec::new(),
                });
            }
            after_label = is_label;
            match (&stmt.kind, sections.last_mut()) {
                (ast::StmtKind::Case(case), Some(_)) => {
                    if let Some(bits) =
                        self.case_value(case, value.as_ref().map(|value| &value.ty), &mut seen)
                        && let Some(section) = sections.last_mut()
                    {
                        section.cases.push(bits);
                    }
                }
                (ast::StmtKind::Default, Some(section)) => {
                    section.is_default = true;
                    if let Some(first) = default.replace(stmt.span) {
                        self.error(stmt.span, StmtError::SecondDefault { first });
                    }
                }
                (_, Some(section)) => {
                    let mut body = std::mem::take(&mut section.body);
                    self.stmt(stmt, &mut body);
                    if let Some(section) = sections.last_mut() {
                        section.body = body;
                    }
                }
                (_, None) => self.before_first_label(stmt, &mut before),
            }
        }
        let objects = self.body.flow.cleanups.pop().unwrap_or_default();
        if !objects.is_empty() {
            self.unsupported("an object with a destructor directly in a `switch`", span);
        }
        self.body.flow.exits.pop();
        self.body.flow.switches -= 1;
        self.scopes.leave();
        // What stands before the first label never runs, but variables declared there exist.
        out.extend(
            before
                .into_iter()
                .filter(|stmt: &Stmt| matches!(stmt.kind, StmtKind::Declare(_, None))),
        );
        // Of a value that is wrong nothing is known; the sections keep their places.
        let value = value.unwrap_or_else(|| int(0, Ty::Int, at));
        let kind = StmtKind::Switch { value, sections };
        out.push(Stmt::new(kind, span));
    }

    /// What a section declares is seen in the next, but a reference is bound only where its declaration is reached.
    fn check_crossing(&mut self, section: Option<&SwitchSection>, label: Span) {
        let declared = section.into_iter().flat_map(|section| &section.body);
        let reference = declared.filter_map(|stmt| match &stmt.kind {
            StmtKind::Declare(id, _) => Some(&self.body.vars[*id].typed),
            _ => None,
        });
        let Some(var) = reference.into_iter().find(|var| var.is_reference) else {
            return;
        };
        let (name, declared) = (var.name.clone(), var.span);
        self.error(
            label,
            StmtError::CaseOverReference {
                name: name.to_string(),
                declared,
            },
        );
    }

    fn before_first_label(&mut self, stmt: &ast::Stmt, before: &mut Vec<Stmt>) {
        self.stmt(stmt, before);
        let runs_nothing = matches!(&stmt.kind, ast::StmtKind::Empty | ast::StmtKind::Error)
            || matches!(&stmt.kind, ast::StmtKind::Declaration(declaration)
                if declaration.declarators.iter().all(|declarator| declarator.init.is_none()));
        if !runs_nothing {
            self.error(stmt.span, StmtError::UnreachableInSwitch);
        }
    }

    fn switch_value(&mut self, expr: &ast::Expr) -> Result<Value, Reported> {
        let mark = self.body.flow.temporaries.len();
        let value = self.value(expr)?;
        let value = self.ended(mark, value)?;
        if !value.ty.is_integral() {
            return Err(self.error(
                expr.span,
                StmtError::SwitchType {
                    ty: value.ty.clone(),
                },
            ));
        }
        let to = match promoted(&value.ty) {
            Ty::Long => Ty::LongLong,
            Ty::ULong => Ty::ULongLong,
            other => other,
        };
        Ok(self.convert(value, &to))
    }

    fn case_value(
        &mut self,
        case: &ast::Expr,
        ty: Option<&Ty>,
        seen: &mut Vec<(u64, Span)>,
    ) -> Option<u64> {
        let value = self.value(case);
        let value = self.body_part(value)?;
        let from = value.ty.clone();
        let bits = match self.constant(&value) {
            Ok(constant @ Const::Int(_)) if from.is_integral() => {
                match const_eval::convert(constant, &from, ty.unwrap_or(&from)) {
                    Const::Int(bits) => bits,
                    Const::Float(_) => return None,
                }
            }
            Err(NotConst::Error) => return None,
            Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
                self.report_not_constant(case.span, Needed::Case, why);
                return None;
            }
            Ok(_) => {
                self.error(case.span, StmtError::CaseType { ty: from.clone() });
                return None;
            }
            Err(NotConst::Variable(span) | NotConst::DivisionByZero(span)) => {
                self.error(case.span, StmtError::CaseNotConstant { place: span });
                return None;
            }
        };
        ty?;
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == bits) {
            let diagnostic = self.diagnostic(
                case.span,
                StmtError::DuplicateCase {
                    value: bits as i64,
                    first: *first,
                },
            );
            self.report(diagnostic);
            return None;
        }
        seen.push((bits, case.span));
        Some(bits)
    }

    /// A label that is not directly in a `switch`.
    pub(crate) fn misplaced_label(&mut self, stmt: &ast::Stmt) {
        if self.body.flow.switches > 0 {
            self.unsupported(
                "a `case` or `default` label inside an inner block of its `switch`",
                stmt.span,
            );
        } else {
            self.error(stmt.span, StmtError::LabelOutsideSwitch);
        }
    }
}
