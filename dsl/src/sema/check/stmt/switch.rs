//! `switch`: the body is cut into sections at its labels.
//!
//! Labels must be directly in the body's braces. A label inside an inner block (Duff's device) would jump into the middle of a statement,
//! which structured control flow cannot express; it is rejected.

use crate::sema::check::{Checker, Reported, cleanup, constant, convert, expr, int, stmt};
use crate::sema::message::expr::Needed;
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::{
        classify::{Classify, promoted},
        const_eval::{self, Const, NotConst},
        ty::Ty,
        typed::{Stmt, StmtKind, SwitchSection, Value},
    },
    syntax::ast,
};
use ir::span::Span;

/// `switch (value) body`.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    value: &ast::Expr,
    body: &ast::Stmt,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let at = value.span;
    let value = switch_value(cx, value);
    let value = cx.body.part(value);
    let stmts = match &body.kind {
        ast::StmtKind::Block(block) => &block.stmts[..],
        _ => std::slice::from_ref(body),
    };
    cx.scopes.enter();
    cx.body.flow.switches += 1;
    cx.body
        .flow
        .exits
        .push((cx.body.flow.cleanups.len(), false));
    cleanup::enter(&mut cx.body);
    let mut sections: Vec<SwitchSection> = Vec::new();
    let mut seen: Vec<(u64, Span)> = Vec::new();
    let mut default: Option<Span> = None;
    let mut before = Vec::new();
    let mut after_label = false;
    for stmt in stmts {
        let is_label = matches!(stmt.kind, ast::StmtKind::Case(_) | ast::StmtKind::Default);
        if is_label && !after_label {
            check_crossing(cx, sections.last(), stmt.span);
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
                    case_value(cx, case, value.as_ref().map(|value| &value.ty), &mut seen)
                    && let Some(section) = sections.last_mut()
                {
                    section.cases.push(bits);
                }
            }
            (ast::StmtKind::Default, Some(section)) => {
                section.is_default = true;
                if let Some(first) = default.replace(stmt.span) {
                    cx.error(stmt.span, StmtError::SecondDefault { first });
                }
            }
            (_, Some(section)) => {
                let mut body = std::mem::take(&mut section.body);
                stmt::check(cx, stmt, &mut body);
                if let Some(section) = sections.last_mut() {
                    section.body = body;
                }
            }
            (_, None) => before_first_label(cx, stmt, &mut before),
        }
    }
    let objects = cx.body.flow.cleanups.pop().unwrap_or_default();
    if !objects.is_empty() {
        cx.unsupported("an object with a destructor directly in a `switch`", span);
    }
    cx.body.flow.exits.pop();
    cx.body.flow.switches -= 1;
    cx.scopes.leave();
    // Code before the first label never runs, but variables declared there exist.
    out.extend(
        before
            .into_iter()
            .filter(|stmt: &Stmt| matches!(stmt.kind, StmtKind::Declare(_, None))),
    );
    // If the value is invalid, the cases cannot be checked, but the sections can.
    let value = value.unwrap_or_else(|| int(0, Ty::Int, at));
    let kind = StmtKind::Switch { value, sections };
    out.push(Stmt::new(kind, span));
}

/// Reports a reference that is declared in one section and visible in the next, where it would not be bound.
fn check_crossing(cx: &mut Checker<'_>, section: Option<&SwitchSection>, label: Span) {
    let declared = section.into_iter().flat_map(|section| &section.body);
    let reference = declared.filter_map(|stmt| match &stmt.kind {
        StmtKind::Declare(id, _) => Some(&cx.body.vars[*id].typed),
        _ => None,
    });
    let Some(var) = reference.into_iter().find(|var| var.is_reference) else {
        return;
    };
    let (name, declared) = (var.name.clone(), var.span);
    cx.error(
        label,
        StmtError::CaseOverReference {
            name: name.to_string(),
            declared,
        },
    );
}

fn before_first_label(cx: &mut Checker<'_>, stmt: &ast::Stmt, before: &mut Vec<Stmt>) {
    stmt::check(cx, stmt, before);
    let runs_nothing = matches!(&stmt.kind, ast::StmtKind::Empty | ast::StmtKind::Error)
        || matches!(&stmt.kind, ast::StmtKind::Declaration(declaration)
                if declaration.declarators.iter().all(|declarator| declarator.init.is_none()));
    if !runs_nothing {
        cx.error(stmt.span, StmtError::UnreachableInSwitch);
    }
}

fn switch_value(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Value, Reported> {
    let mark = cx.body.flow.temporaries.len();
    let value = expr::value(cx, expr)?;
    let value = cleanup::ended(cx, mark, value)?;
    if !value.ty.is_integral() {
        return Err(cx.error(
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
    Ok(convert::to_type(value, &to))
}

fn case_value(
    cx: &mut Checker<'_>,
    case: &ast::Expr,
    ty: Option<&Ty>,
    seen: &mut Vec<(u64, Span)>,
) -> Option<u64> {
    let value = expr::value(cx, case);
    let value = cx.body.part(value)?;
    let from = value.ty.clone();
    let bits = match constant::of(cx, &value) {
        Ok(constant @ Const::Int(_)) if from.is_integral() => {
            match const_eval::convert(constant, &from, ty.unwrap_or(&from)) {
                Const::Int(bits) => bits,
                Const::Float(_) => return None,
            }
        }
        Err(NotConst::Error) => return None,
        Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
            constant::report_not_constant(
                &cx.tables,
                &mut cx.reporter,
                case.span,
                Needed::Case,
                why,
            );
            return None;
        }
        Ok(_) => {
            cx.error(case.span, StmtError::CaseType { ty: from.clone() });
            return None;
        }
        Err(NotConst::Variable(span) | NotConst::DivisionByZero(span)) => {
            cx.error(case.span, StmtError::CaseNotConstant { place: span });
            return None;
        }
    };
    ty?;
    if let Some((_, first)) = seen.iter().find(|(other, _)| *other == bits) {
        let diagnostic = cx.tables.diagnostic(
            case.span,
            StmtError::DuplicateCase {
                value: bits as i64,
                first: *first,
            },
        );
        cx.reporter.report(diagnostic);
        return None;
    }
    seen.push((bits, case.span));
    Some(bits)
}

/// A label that is not directly in a `switch`.
pub(crate) fn misplaced_label(cx: &mut Checker<'_>, stmt: &ast::Stmt) {
    if cx.body.flow.switches > 0 {
        cx.unsupported(
            "a `case` or `default` label inside an inner block of its `switch`",
            stmt.span,
        );
    } else {
        cx.error(stmt.span, StmtError::LabelOutsideSwitch);
    }
}
