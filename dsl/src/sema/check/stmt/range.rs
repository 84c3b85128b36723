//! `for (T x : object)` over an object with `begin()` and `end()`.

use std::sync::Arc;

use crate::sema::check::Checker;
use crate::{
    diagnostic::{Code, Diagnostic},
    sema::{
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Init, Stmt, StmtKind, Value, ValueKind},
    },
    span::{Span, Spanned},
    syntax::ast::{self, BinaryOp, ExprKind, UnaryOp, Unroll},
};

// Names that no program can have.
const RANGE: &str = "range of for";
const FIRST: &str = "begin of for";
const LAST: &str = "end of for";
const LIST: &str = "list of for";

impl Checker<'_> {
    /// A class with `begin()`.
    pub(crate) fn has_iterators(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Record(id) if self.scopes.find_in_class(*id, "begin").is_some())
    }

    /// The loop from `begin()` to `end()`; an object that is only a value lives as long as the loop.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(crate) fn for_iterators(
        &mut self,
        declaration: &ast::Declaration,
        value: Value,
        range: &ast::Expr,
        body: &ast::Stmt,
        unroll: Option<Unroll>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        self.scopes.enter();
        self.cleanups_enter();
        let mut stmts = Vec::new();
        let at = range.span;
        let place = if crate::sema::check::cleanup::is_prvalue(&value) {
            let ty = value.ty.clone();
            let var = self.unnamed_variable(ty.clone(), "range", at);
            stmts.push(Stmt::new(
                StmtKind::Declare(var, Some(Init::Value(value))),
                at,
            ));
            self.end_temporaries(at, &mut stmts);
            self.note_object(var);
            crate::sema::check::construct::local(var, ty.into(), at)
        } else {
            crate::sema::check::method::as_place(value)
        };
        self.take_address(&place);
        let ty = place.ty.clone();
        let object = self.reference_variable("range", ty.clone(), at);
        let address = Value {
            ty: pointer_to(ty),
            kind: ValueKind::AddressOf(Box::new(place)),
            span: at,
        };
        stmts.push(Stmt::new(
            StmtKind::Declare(object, Some(Init::Value(address))),
            at,
        ));
        self.hide(RANGE, object, at);
        let named = |name: &str| ast::Expr::new(ExprKind::Name(name.into()), at);
        for (hidden, function) in [(FIRST, "begin"), (LAST, "end")] {
            let name = ast::Name::new(function.into(), at);
            let called = self.method_call(&named(RANGE), false, (&name, None), &[], at);
            let value = self.read_checked(called);
            if value.ty == Ty::Error {
                self.body.flow.cleanups.pop();
                self.scopes.leave();
                return;
            }
            let value = self.copied(value);
            let var = self.unnamed_variable(value.ty.clone(), function, at);
            stmts.push(Stmt::new(
                StmtKind::Declare(var, Some(Init::Value(value))),
                at,
            ));
            self.hide(hidden, var, at);
        }
        let expr = |kind| ast::Expr::new(kind, at);
        let cond = self.condition(&expr(ExprKind::Binary(
            Spanned::new(BinaryOp::Ne, at),
            Box::new(named(FIRST)),
            Box::new(named(LAST)),
        )));
        let step = self.expr(&expr(ExprKind::Unary(
            UnaryOp::PreInc,
            Box::new(named(FIRST)),
        )));
        let step = self.read_checked(step);
        let element = expr(ExprKind::Unary(UnaryOp::Deref, Box::new(named(FIRST))));
        self.body.flow.loops += 1;
        self.body
            .flow
            .exits
            .push((self.body.flow.cleanups.len(), true));
        self.scopes.enter();
        self.cleanups_enter();
        let mut inner = Vec::new();
        let mut declaration = declaration.clone();
        for declarator in &mut declaration.declarators {
            declarator.init = Some(ast::Init::Expr(element.clone()));
        }
        self.local_declaration(&declaration, &mut inner);
        self.end_temporaries(at, &mut inner);
        let block = self.body(body);
        inner.push(Stmt::new(StmtKind::Block(block), body.span));
        self.cleanups_leave(&mut inner, span);
        self.scopes.leave();
        self.body.flow.exits.pop();
        self.body.flow.loops -= 1;
        stmts.push(Stmt::new(
            StmtKind::Loop {
                cond: Some(cond),
                test_first: true,
                body: inner,
                step: Some(step),
                unroll,
            },
            span,
        ));
        self.cleanups_leave(&mut stmts, span);
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(stmts), span));
    }

    /// `for (int x : {1, 2, 3})`: the list is an array of its own, of the type that its items have.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(crate) fn for_list(
        &mut self,
        declaration: &ast::Declaration,
        items: &[ast::InitItem],
        range: &ast::Expr,
        body: &ast::Stmt,
        unroll: Option<Unroll>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let at = range.span;
        let mut types = Vec::new();
        self.mode.unevaluated += 1;
        for item in items {
            match (&item.designator, &item.value) {
                (None, ast::Init::Expr(expr)) => types.push(self.value(expr).ty),
                _ => {
                    self.unsupported("a list of lists in a range-based `for`", at);
                    types.push(Ty::Error);
                }
            }
        }
        self.mode.unevaluated -= 1;
        if types.contains(&Ty::Error) {
            return;
        }
        let Some(ty) = types.first().cloned() else {
            return self.unsupported("a range-based `for` over an empty list", at);
        };
        if let Some(other) = types.iter().find(|other| **other != ty) {
            let (first, other) = (self.show(&ty), self.show(other));
            let message =
                format!("the items of this list are of two types, `{first}` and `{other}`");
            self.report(Diagnostic::error(Code::TypeMismatch, at, message));
            return;
        }
        self.scopes.enter();
        self.cleanups_enter();
        let mut stmts = Vec::new();
        let mut ty = Ty::Array(Arc::new(ty.into()), Some(items.len() as u64)).into();
        let list = ast::Init::List(Spanned::new(items.to_vec(), at));
        let name = ast::Name::new("list".into(), at);
        let init = self.initialiser(&mut ty, &list, &name, true);
        let var = self.unnamed_variable(ty.ty, "list", at);
        stmts.push(Stmt::new(StmtKind::Declare(var, init), at));
        self.end_temporaries(at, &mut stmts);
        self.note_object(var);
        self.hide(LIST, var, at);
        let named = ast::Expr::new(ExprKind::Name(LIST.into()), at);
        self.range_for(declaration, &named, body, unroll, span, &mut stmts);
        self.cleanups_leave(&mut stmts, span);
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(stmts), span));
    }

    fn hide(&mut self, name: &str, var: crate::sema::typed::VarId, span: Span) {
        self.scopes
            .bind(name.into(), Entity::Local(var), span, false);
    }
}
