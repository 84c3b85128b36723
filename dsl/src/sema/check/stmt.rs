//! Statements, but for `switch` (in `switch`) and declarations (in `decl`).

use super::{Checker, Reported, marked};
use crate::ir::Intrinsic;
use crate::sema::message::expr::Needed;
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::{
        ty::Ty,
        typed::{Stmt, StmtKind, Value, ValueKind},
    },
    span::Span,
    syntax::ast::{self, ExprKind, Unroll},
};

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

impl Checker<'_> {
    /// Checks a statement and adds what it becomes (a declaration of several variables is several statements).
    pub(crate) fn stmt(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        match &stmt.kind {
            ast::StmtKind::Empty | ast::StmtKind::Error => {}
            ast::StmtKind::Expr(expr) => {
                self.expr_stmt(expr, span, out);
                self.end_temporaries(span, out);
            }
            ast::StmtKind::Declaration(declaration) => {
                self.local_declaration(declaration, out);
                self.end_temporaries(span, out);
            }
            ast::StmtKind::Block(block) => {
                let body = self.block(&block.stmts);
                out.push(Stmt::new(StmtKind::Block(body), span));
            }
            ast::StmtKind::Using(using) => self.using(using),
            ast::StmtKind::StaticAssert(assertion) => self.static_assert(assertion),
            ast::StmtKind::If {
                arms,
                otherwise,
                is_constexpr: true,
            } => self.if_constexpr(arms, otherwise.as_deref(), span, out),
            ast::StmtKind::If {
                arms, otherwise, ..
            } => self.if_stmt(arms, otherwise.as_deref(), span, out),
            ast::StmtKind::While { cond, body, unroll } => {
                let parts = Loop {
                    cond: Some(cond),
                    step: None,
                    body,
                    test_first: true,
                    unroll: *unroll,
                };
                self.loop_stmt(&parts, span, out);
            }
            ast::StmtKind::DoWhile { body, cond, unroll } => {
                let parts = Loop {
                    cond: Some(cond),
                    step: None,
                    body,
                    test_first: false,
                    unroll: *unroll,
                };
                self.loop_stmt(&parts, span, out);
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
                self.for_stmt(init, &parts, span, out);
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
                self.range_for(&parts, out);
            }
            ast::StmtKind::Switch { value, body } => self.switch_stmt(value, body, span, out),
            ast::StmtKind::Case(_) | ast::StmtKind::Default => self.misplaced_label(stmt),
            ast::StmtKind::Break => self.jump_stmt(StmtKind::Break, span, out),
            ast::StmtKind::Continue => self.jump_stmt(StmtKind::Continue, span, out),
            ast::StmtKind::Goto(name) => self.goto_stmt(name, span, out),
            ast::StmtKind::Label(name) => {
                self.unsupported("a label here", name.span);
            }
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), span, out),
        }
    }

    /// The statements of a block, in a scope of their own.
    pub(crate) fn block(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        self.scopes.enter();
        self.cleanups_enter();
        let mut out = Vec::new();
        self.labelled(stmts, &mut out);
        let end = stmts.last().map_or_else(Span::default, |last| last.span);
        self.cleanups_leave(&mut out, end);
        self.scopes.leave();
        out
    }

    /// A branch or a loop's body: without braces it is a scope too.
    pub(crate) fn body(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        match &stmt.kind {
            ast::StmtKind::Block(block) => self.block(&block.stmts),
            // The statement after it would be in it, too.
            ast::StmtKind::Label(name) => {
                self.unsupported("a label here", name.span);
                Vec::new()
            }
            _ => self.block(std::slice::from_ref(stmt)),
        }
    }

    fn expr_stmt(&mut self, expr: &ast::Expr, span: Span, out: &mut Vec<Stmt>) {
        if let ExprKind::Asm(asm) = &expr.kind {
            let done = self.inline_ptx(asm, span, out);
            self.body_part(done);
            return;
        }
        // `x;` does nothing, but a read of volatile memory counts as an access.
        let value = self.value(expr).map(|value| self.discarded(value));
        if let ExprKind::Binary(op, ..) = &expr.kind
            && op.node == ast::BinaryOp::Eq
        {
            self.error(op.span, StmtError::UnusedComparison);
        }
        // One that is wrong keeps its place: control comes by.
        let kind = match self.body_part(value) {
            Some(value) => StmtKind::Expr(value),
            None => StmtKind::Block(Vec::new()),
        };
        out.push(Stmt::new(kind, span));
    }

    /// Only the branch that is taken is looked at.
    fn if_constexpr(
        &mut self,
        arms: &[(ast::Expr, ast::Stmt)],
        otherwise: Option<&ast::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let Some((cond, then)) = arms.first() else {
            return;
        };
        let value = self.condition(cond);
        let Some(value) = self.body_part(value) else {
            return;
        };
        let taken = match self.integer_constant(&value) {
            Ok(0) => otherwise,
            Ok(_) => Some(then),
            Err(why) => {
                let needed = Needed::Of("the condition of `if constexpr`");
                self.report_not_constant(cond.span, needed, why);
                None
            }
        };
        if let Some(taken) = taken {
            let body = self.body(taken);
            out.push(Stmt::new(StmtKind::Block(body), span));
        }
    }

    fn if_stmt(
        &mut self,
        arms: &[(ast::Expr, ast::Stmt)],
        otherwise: Option<&ast::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let arms = arms
            .iter()
            .map(|(cond, body)| (self.control(cond), self.body(body)))
            .collect();
        let otherwise = otherwise.map_or_else(Vec::new, |stmt| self.body(stmt));
        out.push(Stmt::new(StmtKind::If { arms, otherwise }, span));
    }

    fn loop_stmt(&mut self, parts: &Loop<'_>, span: Span, out: &mut Vec<Stmt>) {
        let cond = parts.cond.map(|cond| self.control(cond));
        let step = parts.step.and_then(|step| {
            let value = self.value(step).map(|value| self.discarded(value));
            let value = value.and_then(|value| self.ended(0, value));
            self.body_part(value)
        });
        self.body.flow.loops += 1;
        self.body
            .flow
            .exits
            .push((self.body.flow.cleanups.len(), true));
        let body = self.body(parts.body);
        self.body.flow.exits.pop();
        self.body.flow.loops -= 1;
        let kind = StmtKind::Loop {
            cond,
            test_first: parts.test_first,
            body,
            step,
            unroll: parts.unroll,
        };
        out.push(Stmt::new(kind, span));
    }

    fn for_stmt(&mut self, init: &ast::Stmt, parts: &Loop<'_>, span: Span, out: &mut Vec<Stmt>) {
        if matches!(init.kind, ast::StmtKind::Empty) {
            return self.loop_stmt(parts, span, out);
        }
        self.scopes.enter();
        let mut inner = Vec::new();
        self.cleanups_enter();
        self.stmt(init, &mut inner);
        self.loop_stmt(parts, span, &mut inner);
        self.cleanups_leave(&mut inner, span);
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(inner), span));
    }

    fn jump_stmt(&mut self, kind: StmtKind, span: Span, out: &mut Vec<Stmt>) {
        let (word, is_ok) = match kind {
            StmtKind::Break => ("break", self.body.flow.loops + self.body.flow.switches > 0),
            _ => ("continue", self.body.flow.loops > 0),
        };
        if !is_ok {
            let around = if word == "break" {
                "loop or `switch`"
            } else {
                "loop"
            };
            self.error(span, StmtError::JumpOutside { around, word });
            return;
        }
        let mut exits = self.body.flow.exits.iter().rev();
        if let Some(&(depth, _)) = exits.find(|(_, is_loop)| word == "break" || *is_loop) {
            self.destroy_from(depth, None, span, out);
        }
        out.push(Stmt::new(kind, span));
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
        let Some(id) = self.body.id else { return };
        if let (true, Some(expr)) = (self.body.deduces, value) {
            self.deduce_result(id, expr);
        }
        let function = &self.tables.functions[id].typed;
        let result = function.result.clone();
        let returns_reference = function.returns_reference;
        let name = function.name.clone();
        let value = match (value, &result) {
            (None, Ty::Void) => None,
            (None, result) if !result.is_understood() => None,
            (None, _) => {
                let declared = self.tables.functions[id].typed.span;
                self.error(
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
                let value = self.value(expr);
                if value.as_ref().is_ok_and(|value| value.ty != Ty::Void) {
                    let declared = self.tables.functions[id].typed.span;
                    let diagnostic = self.diagnostic(
                        expr.span,
                        StmtError::ValueReturned {
                            name: name.to_string(),
                            declared,
                        },
                    );
                    self.report(diagnostic);
                }
                if let Some(value) = self.body_part(value) {
                    out.push(Stmt::new(StmtKind::Expr(value), span));
                }
                None
            }
            (Some(expr), Ty::Pointer(referee)) if returns_reference => {
                let value = self.value(expr);
                Some(value.and_then(|value| self.bind_result(value, &referee.clone(), &name)))
            }
            (Some(expr), _) => Some(self.returned(expr, &result, &name)),
        };
        let mut value = value.and_then(|value| self.body_part(value));
        let has_temporaries = !self.body.flow.temporaries.is_empty();
        if self.has_cleanups() || has_temporaries {
            let own = value.as_ref().and_then(|value| self.own_variable(value));
            value = match value {
                Some(value) if !returns_reference || has_temporaries => Some(self.kept(value, out)),
                other => other,
            };
            self.end_temporaries(span, out);
            self.destroy_from(0, own.filter(|_| !returns_reference), span, out);
        }
        out.push(Stmt::new(StmtKind::Return(value), span));
    }

    /// The first `return` of a function without a result type decides it.
    fn deduce_result(&mut self, id: crate::sema::typed::FunctionId, expr: &ast::Expr) {
        self.mode.unevaluated += 1;
        let value = self.tentatively(|checker| checker.value(expr));
        self.mode.unevaluated -= 1;
        let ty = marked(value.map(|value| value.ty.into())).ty;
        if ty != Ty::Void {
            self.tables.functions[id].typed.result = ty;
        }
        self.body.deduces = false;
    }

    fn returned(&mut self, expr: &ast::Expr, result: &Ty, name: &str) -> Result<Value, Reported> {
        if let ExprKind::List(items) = &expr.kind {
            return self.list_value(result, items, expr.span);
        }
        let value = self.value(expr)?;
        // The variable that is the result itself is not copied.
        if value.ty == *result && self.own_variable(&value).is_some() {
            return Ok(value);
        }
        self.implicit(value, result, &super::convert::Why::Return(name))
    }

    /// The variable that is the function's result itself, if a value is read from it as a whole.
    fn own_variable(&self, value: &Value) -> Option<crate::sema::typed::VarId> {
        use crate::sema::typed::{PlaceKind, VarRef};
        match Self::place_of(value)?.kind {
            PlaceKind::Var(VarRef::Local(id)) => {
                let var = &self.body.vars[id].typed;
                let is_result = self.body.named_result.as_deref() == Some(&var.name);
                (is_result && !var.is_reference).then_some(id)
            }
            _ => None,
        }
    }

    /// A condition as a `bool`.
    pub(crate) fn condition(&mut self, cond: &ast::Expr) -> Result<Value, Reported> {
        if let ExprKind::Assign(op, left, _) = &cond.kind
            && op.node.is_none()
        {
            let name = self.map.snippet(left.span).to_string();
            self.error(op.span, StmtError::AssignmentInCondition { name });
        }
        let mark = self.body.flow.temporaries.len();
        let value = self.value(cond)?;
        let value = self.truth_value(value)?;
        self.ended(mark, value)
    }

    /// The condition of a statement. One that is wrong is kept as one of which nothing is known: what it controls keeps its place in
    /// the flow of control.
    pub(crate) fn control(&mut self, cond: &ast::Expr) -> Value {
        let value = self.condition(cond);
        self.body_part(value)
            .unwrap_or_else(|| super::int(0, Ty::Bool, cond.span))
    }
}

/// Control can reach the end of these statements.
pub(crate) fn falls_through(stmts: &[Stmt]) -> bool {
    stmts.last().is_none_or(|last| match &last.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) => false,
        StmtKind::Block(body) => falls_through(body),
        // Somebody goes there.
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

/// A `break` in these statements leaves the loop they are the body of.
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
    use crate::{ir::HostFn, sema::typed::Builtin};
    if let ValueKind::Comma(_, last) = &value.kind {
        return never_returns(last);
    }
    matches!(
        value.kind,
        ValueKind::Host(HostFn::Exit | HostFn::Abort, _)
            | ValueKind::Builtin(Builtin::Intrinsic(Intrinsic::Trap | Intrinsic::BadCall), _,)
    )
}
