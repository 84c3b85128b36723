//! Statements, except `switch` (in `switch`) and declarations (in `decl`).

use super::{
    Body, Checker, Reported, attempt, constant, convert, decl, expr, init, marked, reference,
};
use crate::sema::message::expr::Needed;
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::{
        ty::Ty,
        typed::{Stmt, StmtKind, Value, ValueKind},
    },
    syntax::ast::{self, ExprKind, Unroll},
};
use ir::Intrinsic;
use ir::span::Span;

pub(crate) mod asm;
pub(crate) mod cleanup;
pub(crate) mod label;
pub(crate) mod named_result;
pub(crate) mod range;
pub(crate) mod switch;

/// The parts of a loop, as written.
struct Loop<'l> {
    cond: Option<&'l ast::Expr>,
    step: Option<&'l ast::Expr>,
    body: &'l ast::Stmt,
    test_first: bool,
    unroll: Option<Unroll>,
}

/// Checks a statement and adds the typed ones (a declaration of several variables is several statements). A table: one arm per kind of
/// statement.
fn check(cx: &mut Checker<'_>, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
    let span = stmt.span;
    match &stmt.kind {
        ast::StmtKind::Empty | ast::StmtKind::Error => {}
        ast::StmtKind::Expr(expr) => {
            expr_stmt(cx, expr, span, out);
            cleanup::end_temporaries(cx, span, out);
        }
        ast::StmtKind::Declaration(declaration) => {
            decl::local_declaration(cx, declaration, out);
            cleanup::end_temporaries(cx, span, out);
        }
        ast::StmtKind::Block(block) => {
            let body = self::block(cx, &block.stmts);
            out.push(Stmt::new(StmtKind::Block(body), span));
        }
        ast::StmtKind::Using(using) => cx.using(using),
        ast::StmtKind::StaticAssert(assertion) => decl::static_assert(cx, assertion),
        ast::StmtKind::If {
            arms,
            otherwise,
            is_constexpr: true,
        } => if_constexpr(cx, arms, otherwise.as_deref(), span, out),
        ast::StmtKind::If {
            arms, otherwise, ..
        } => if_stmt(cx, arms, otherwise.as_deref(), span, out),
        ast::StmtKind::While { cond, body, unroll } => {
            let parts = Loop {
                cond: Some(cond),
                step: None,
                body,
                test_first: true,
                unroll: *unroll,
            };
            loop_stmt(cx, &parts, span, out);
        }
        ast::StmtKind::DoWhile { body, cond, unroll } => {
            let parts = Loop {
                cond: Some(cond),
                step: None,
                body,
                test_first: false,
                unroll: *unroll,
            };
            loop_stmt(cx, &parts, span, out);
        }
        ast::StmtKind::For {
            init,
            cond,
            step,
            body,
            unroll,
        } => {
            let parts = Loop {
                cond: cond.as_ref(),
                step: step.as_ref(),
                body,
                test_first: true,
                unroll: *unroll,
            };
            for_stmt(cx, init, &parts, span, out);
        }
        ast::StmtKind::RangeFor {
            declaration,
            range,
            body,
            unroll,
        } => {
            let parts = range::RangeFor {
                declaration,
                range,
                body,
                unroll: *unroll,
                span,
            };
            range::check(cx, &parts, out);
        }
        ast::StmtKind::Switch { value, body } => switch::check(cx, value, body, span, out),
        ast::StmtKind::Case(_) | ast::StmtKind::Default => switch::misplaced_label(cx, stmt),
        ast::StmtKind::Break => jump_stmt(cx, Jump::Break, span, out),
        ast::StmtKind::Continue => jump_stmt(cx, Jump::Continue, span, out),
        ast::StmtKind::Goto(name) => label::goto(cx, name, span, out),
        ast::StmtKind::Label(name) => {
            cx.unsupported("a label here", name.span);
        }
        ast::StmtKind::Return(value) => return_stmt(cx, value.as_ref(), span, out),
    }
}

/// The statements of a block, in a new scope.
fn block(cx: &mut Checker<'_>, stmts: &[ast::Stmt]) -> Vec<Stmt> {
    cx.scopes.enter();
    cleanup::enter(&mut cx.body);
    let mut out = Vec::new();
    label::labelled(cx, stmts, &mut out);
    let end = stmts.last().map_or_else(Span::default, |last| last.span);
    cleanup::leave(cx, &mut out, end);
    cx.scopes.leave();
    out
}

/// A branch or a loop's body: without braces it is a scope, too.
fn body(cx: &mut Checker<'_>, stmt: &ast::Stmt) -> Vec<Stmt> {
    match &stmt.kind {
        ast::StmtKind::Block(block) => self::block(cx, &block.stmts),
        // The label and the statement after it would both be the body, which is not supported.
        ast::StmtKind::Label(name) => {
            cx.unsupported("a label here", name.span);
            Vec::new()
        }
        _ => block(cx, std::slice::from_ref(stmt)),
    }
}

fn expr_stmt(cx: &mut Checker<'_>, expr: &ast::Expr, span: Span, out: &mut Vec<Stmt>) {
    if let ExprKind::Asm(asm) = &expr.kind {
        let done = asm::check(cx, asm, span, out);
        cx.body.part(done);
        return;
    }
    // `x;` does nothing, but a read of volatile memory counts as an access.
    let value = expr::value(cx, expr).map(|value| cleanup::discarded(cx, value));
    if let ExprKind::Binary(op, ..) = &expr.kind
        && op.node == ast::BinaryOp::Eq
    {
        cx.error(op.span, StmtError::UnusedComparison);
    }
    // An invalid `return` keeps its place, since it matters for control flow.
    let kind = match cx.body.part(value) {
        Some(value) => StmtKind::Expr(value),
        None => StmtKind::Block(Vec::new()),
    };
    out.push(Stmt::new(kind, span));
}

/// Only the branch that is taken is checked.
fn if_constexpr(
    cx: &mut Checker<'_>,
    arms: &[(ast::Expr, ast::Stmt)],
    otherwise: Option<&ast::Stmt>,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let Some((cond, then)) = arms.first() else {
        return;
    };
    let value = condition(cx, cond);
    let Some(value) = cx.body.part(value) else {
        return;
    };
    let taken = match constant::integer(cx, &value) {
        Ok(0) => otherwise,
        Ok(_) => Some(then),
        Err(why) => {
            let needed = Needed::Of("the condition of `if constexpr`");
            constant::report_not_constant(&cx.tables, &mut cx.reporter, cond.span, needed, why);
            None
        }
    };
    if let Some(taken) = taken {
        let body = body(cx, taken);
        out.push(Stmt::new(StmtKind::Block(body), span));
    }
}

fn if_stmt(
    cx: &mut Checker<'_>,
    arms: &[(ast::Expr, ast::Stmt)],
    otherwise: Option<&ast::Stmt>,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let arms = arms
        .iter()
        .map(|(cond, body)| (control(cx, cond), self::body(cx, body)))
        .collect();
    let otherwise = otherwise.map_or_else(Vec::new, |stmt| body(cx, stmt));
    out.push(Stmt::new(StmtKind::If { arms, otherwise }, span));
}

fn loop_stmt(cx: &mut Checker<'_>, parts: &Loop<'_>, span: Span, out: &mut Vec<Stmt>) {
    let cond = parts.cond.map(|cond| control(cx, cond));
    let step = parts.step.and_then(|step| {
        let value = expr::value(cx, step).map(|value| cleanup::discarded(cx, value));
        let value = value.and_then(|value| cleanup::ended(cx, 0, value));
        cx.body.part(value)
    });
    cx.body.flow.loops += 1;
    cx.body.flow.exits.push((cx.body.flow.cleanups.len(), true));
    let body = body(cx, parts.body);
    cx.body.flow.exits.pop();
    cx.body.flow.loops -= 1;
    let kind = StmtKind::Loop {
        cond,
        test_first: parts.test_first,
        body,
        step,
        unroll: parts.unroll,
    };
    out.push(Stmt::new(kind, span));
}

fn for_stmt(
    cx: &mut Checker<'_>,
    init: &ast::Stmt,
    parts: &Loop<'_>,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    if matches!(init.kind, ast::StmtKind::Empty) {
        return loop_stmt(cx, parts, span, out);
    }
    cx.scopes.enter();
    let mut inner = Vec::new();
    cleanup::enter(&mut cx.body);
    check(cx, init, &mut inner);
    loop_stmt(cx, parts, span, &mut inner);
    cleanup::leave(cx, &mut inner, span);
    cx.scopes.leave();
    out.push(Stmt::new(StmtKind::Block(inner), span));
}

#[derive(Clone, Copy, PartialEq)]
enum Jump {
    Break,
    Continue,
}

fn jump_stmt(cx: &mut Checker<'_>, jump: Jump, span: Span, out: &mut Vec<Stmt>) {
    let flow = &cx.body.flow;
    let (word, around, is_inside, kind) = match jump {
        Jump::Break => (
            "break",
            "loop or `switch`",
            flow.loops + flow.switches > 0,
            StmtKind::Break,
        ),
        Jump::Continue => ("continue", "loop", flow.loops > 0, StmtKind::Continue),
    };
    if !is_inside {
        cx.error(span, StmtError::JumpOutside { around, word });
        return;
    }
    let mut exits = cx.body.flow.exits.iter().rev();
    if let Some(&(depth, _)) = exits.find(|(_, is_loop)| jump == Jump::Break || *is_loop) {
        cleanup::destroy_from(cx, depth, None, span, out);
    }
    out.push(Stmt::new(kind, span));
}

fn return_stmt(cx: &mut Checker<'_>, value: Option<&ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
    let Some(id) = cx.body.id else { return };
    if let (true, Some(expr)) = (cx.body.deduces, value) {
        deduce_result(cx, id, expr);
    }
    let function = &cx.tables.functions[id].typed;
    let result = function.result.clone();
    let returns_reference = function.returns_reference;
    let name = function.name.clone();
    let value = match (value, &result) {
        (None, Ty::Void) => None,
        (None, result) if !result.is_understood() => None,
        (None, _) => {
            let declared = cx.tables.functions[id].typed.span;
            cx.error(
                span,
                StmtError::NothingReturned {
                    name: name.to_string(),
                    ty: result.clone(),
                    declared,
                },
            );
            None
        }
        (Some(expr), Ty::Void) => {
            let value = expr::value(cx, expr);
            if value.as_ref().is_ok_and(|value| value.ty != Ty::Void) {
                let declared = cx.tables.functions[id].typed.span;
                let diagnostic = cx.tables.diagnostic(
                    expr.span,
                    StmtError::ValueReturned {
                        name: name.to_string(),
                        declared,
                    },
                );
                cx.reporter.report(diagnostic);
            }
            if let Some(value) = cx.body.part(value) {
                out.push(Stmt::new(StmtKind::Expr(value), span));
            }
            None
        }
        (Some(expr), Ty::Pointer(referee)) if returns_reference => {
            let value = expr::value(cx, expr);
            Some(value.and_then(|value| reference::bind_result(cx, value, &referee.clone(), &name)))
        }
        (Some(expr), _) => Some(returned(cx, expr, &result, &name)),
    };
    let mut value = value.and_then(|value| cx.body.part(value));
    let has_temporaries = !cx.body.flow.temporaries.is_empty();
    if cleanup::has_cleanups(&cx.body) || has_temporaries {
        let own = value
            .as_ref()
            .and_then(|value| own_variable(&cx.body, value));
        value = match value {
            Some(value) if !returns_reference || has_temporaries => {
                Some(cleanup::kept(&cx.tables, &mut cx.body, value, out))
            }
            other => other,
        };
        cleanup::end_temporaries(cx, span, out);
        cleanup::destroy_from(cx, 0, own.filter(|_| !returns_reference), span, out);
    }
    out.push(Stmt::new(StmtKind::Return(value), span));
}

/// The first `return` of a function without a result type decides it.
fn deduce_result(cx: &mut Checker<'_>, id: crate::sema::typed::FunctionId, expr: &ast::Expr) {
    cx.mode.unevaluated += 1;
    let value = attempt::tentatively(cx, |cx| expr::value(cx, expr));
    cx.mode.unevaluated -= 1;
    let ty = marked(value.map(|value| value.ty.into())).ty;
    if ty != Ty::Void {
        cx.tables.functions[id].typed.result = ty;
    }
    cx.body.deduces = false;
}

fn returned(
    cx: &mut Checker<'_>,
    expr: &ast::Expr,
    result: &Ty,
    name: &str,
) -> Result<Value, Reported> {
    if let ExprKind::List(items) = &expr.kind {
        return init::list_value(cx, result, items, expr.span);
    }
    let value = expr::value(cx, expr)?;
    // The variable that is constructed in place of the result is not copied.
    if value.ty == *result && own_variable(&cx.body, &value).is_some() {
        return Ok(value);
    }
    convert::implicit(cx, value, result, &convert::Why::Return(name))
}

/// The variable that is constructed in place of the function's result, if the value is the whole of it.
fn own_variable(body: &Body, value: &Value) -> Option<crate::sema::typed::VarId> {
    use crate::sema::typed::{PlaceKind, VarRef};
    match reference::place_of(value)?.kind {
        PlaceKind::Var(VarRef::Local(id)) => {
            let var = &body.vars[id].typed;
            let is_result = body.named_result.as_deref() == Some(&var.name);
            (is_result && !var.is_reference).then_some(id)
        }
        _ => None,
    }
}

/// A condition as a `bool`.
pub(crate) fn condition(cx: &mut Checker<'_>, cond: &ast::Expr) -> Result<Value, Reported> {
    if let ExprKind::Assign(op, left, _) = &cond.kind
        && op.node.is_none()
    {
        let name = cx.map.snippet(left.span).to_string();
        cx.error(op.span, StmtError::AssignmentInCondition { name });
    }
    let mark = cx.body.flow.temporaries.len();
    let value = expr::value(cx, cond)?;
    let value = convert::truth_value(cx, value)?;
    cleanup::ended(cx, mark, value)
}

/// The condition of a statement. An invalid one is replaced by `false`, so that the statement keeps its place in the control flow.
fn control(cx: &mut Checker<'_>, cond: &ast::Expr) -> Value {
    let value = condition(cx, cond);
    cx.body
        .part(value)
        .unwrap_or_else(|| super::int(0, Ty::Bool, cond.span))
}

/// Whether control can reach the end of these statements.
pub(crate) fn falls_through(stmts: &[Stmt]) -> bool {
    stmts.last().is_none_or(|last| match &last.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) => false,
        StmtKind::Block(body) => falls_through(body),
        // A `goto` leads to its end.
        StmtKind::Labelled { .. } => true,
        StmtKind::If { arms, otherwise } => {
            otherwise.is_empty()
                || falls_through(otherwise)
                || arms.iter().any(|(_, body)| falls_through(body))
        }
        StmtKind::Loop { cond, body, .. } => {
            let endless = match cond {
                None => true,
                Some(cond) => matches!(cond.kind, ValueKind::Int(bits) if bits != 0),
            };
            !endless || breaks(body)
        }
        StmtKind::Switch { sections, .. } => {
            !sections.iter().any(|section| section.is_default)
                || sections.iter().any(|section| breaks(&section.body))
                || sections
                    .last()
                    .is_none_or(|section| falls_through(&section.body))
        }
        StmtKind::Expr(value) => !never_returns(value),
        StmtKind::Declare(..) => true,
    })
}

/// Whether a `break` in these statements leaves the loop that they are the body of.
fn breaks(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(body) | StmtKind::Labelled { body, .. } => breaks(body),
        StmtKind::If { arms, otherwise } => {
            breaks(otherwise) || arms.iter().any(|(_, body)| breaks(body))
        }
        StmtKind::Loop { .. }
        | StmtKind::Switch { .. }
        | StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Return(_) => false,
    })
}

fn never_returns(value: &Value) -> bool {
    use crate::sema::typed::Builtin;
    use ir::HostFn;
    if let ValueKind::Comma(_, last) = &value.kind {
        return never_returns(last);
    }
    matches!(
        value.kind,
        ValueKind::Host(HostFn::Exit | HostFn::Abort, _)
            | ValueKind::Builtin(
                Builtin::Intrinsic(Intrinsic::Trap | Intrinsic::BadCall | Intrinsic::BadObject),
                _,
            )
    )
}
