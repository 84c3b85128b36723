//! `for (T x : object)` over an object with `begin()` and `end()`.

use super::Checker;
use crate::{
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

impl Checker<'_> {
    /// A class with `begin()`.
    pub(super) fn has_iterators(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Record(id) if self.scopes.find_in_class(*id, "begin").is_some())
    }

    /// The loop from `begin()` to `end()`; an object that is only a value lives as long as the loop.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(super) fn for_iterators(
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
        let place = if super::cleanup::is_prvalue(&value) {
            let ty = value.ty.clone();
            let var = self.unnamed_variable(ty.clone(), "range", at);
            stmts.push(Stmt {
                kind: StmtKind::Declare(var, Some(Init::Value(value))),
                span: at,
            });
            self.end_temporaries(at, &mut stmts);
            self.note_object(var);
            super::construct::local(var, ty.into(), at)
        } else {
            super::method::as_place(value)
        };
        self.take_address(&place);
        let ty = place.ty.clone();
        let object = self.reference_variable("range", ty.clone(), at);
        let address = Value {
            ty: pointer_to(ty),
            kind: ValueKind::AddressOf(Box::new(place)),
            span: at,
        };
        stmts.push(Stmt {
            kind: StmtKind::Declare(object, Some(Init::Value(address))),
            span: at,
        });
        self.hide(RANGE, object, at);
        let named = |name: &str| ast::Expr {
            kind: ExprKind::Name(name.into()),
            span: at,
        };
        for (hidden, function) in [(FIRST, "begin"), (LAST, "end")] {
            let name = ast::Name::new(function.into(), at);
            let called = self.method_call(&named(RANGE), false, (&name, None), &[], at);
            let value = self.read_checked(called);
            if value.ty == Ty::Error {
                self.body.cleanups.pop();
                self.scopes.leave();
                return;
            }
            let value = self.copied(value);
            let var = self.unnamed_variable(value.ty.clone(), function, at);
            stmts.push(Stmt {
                kind: StmtKind::Declare(var, Some(Init::Value(value))),
                span: at,
            });
            self.hide(hidden, var, at);
        }
        let expr = |kind| ast::Expr { kind, span: at };
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
        self.body.loops += 1;
        self.body.exits.push((self.body.cleanups.len(), true));
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
        inner.push(Stmt {
            kind: StmtKind::Block(block),
            span: body.span,
        });
        self.cleanups_leave(&mut inner, span);
        self.scopes.leave();
        self.body.exits.pop();
        self.body.loops -= 1;
        stmts.push(Stmt {
            kind: StmtKind::Loop {
                cond: Some(cond),
                test_first: true,
                body: inner,
                step: Some(step),
                unroll,
            },
            span,
        });
        self.cleanups_leave(&mut stmts, span);
        self.scopes.leave();
        out.push(Stmt {
            kind: StmtKind::Block(stmts),
            span,
        });
    }

    fn hide(&mut self, name: &str, var: crate::sema::typed::VarId, span: Span) {
        self.scopes
            .bind(name.into(), Entity::Local(var), span, false);
    }
}
