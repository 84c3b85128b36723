//! `for (T x : range)`: over an array, a list, or an object with `begin()` and `end()`.

use crate::sema::message::stmt::StmtError;
use std::sync::Arc;

use crate::sema::check::{Checked, Checker, all};
use crate::{
    sema::{
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Init, Relation, Stmt, StmtKind, Value, ValueKind},
    },
    span::{Span, Spanned},
    syntax::ast::{self, BinaryOp, ExprKind, UnaryOp, Unroll},
};

// Names that no program can have.
const RANGE: &str = "range of for";
const FIRST: &str = "begin of for";
const LAST: &str = "end of for";
const LIST: &str = "list of for";
const INDEX: &str = "index of for";

/// The parts of `for (declaration : range) body`.
#[derive(Clone, Copy)]
pub(crate) struct RangeFor<'s> {
    pub(crate) declaration: &'s ast::Declaration,
    pub(crate) range: &'s ast::Expr,
    pub(crate) body: &'s ast::Stmt,
    pub(crate) unroll: Option<Unroll>,
    /// The whole statement.
    pub(crate) span: Span,
}

impl Checker<'_> {
    /// A class with `begin()`.
    pub(crate) fn has_iterators(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Record(id) if self.scopes.find_in_class(*id, "begin").is_some())
    }

    /// `for (T x : array) body`: a loop over the array's indices, in which `x` is declared anew each time.
    pub(crate) fn range_for(&mut self, parts: &RangeFor<'_>, out: &mut Vec<Stmt>) {
        let at = parts.range.span;
        if let ExprKind::List(items) = &parts.range.kind {
            return self.for_list(parts, items, out);
        }
        let range = self.expr(parts.range);
        let Some(range) = self.body_part(range) else {
            return;
        };
        let place = match range {
            Checked::Place(place) => place,
            Checked::Value(value) if self.has_iterators(&value.ty) => {
                return self.for_iterators(parts, value, out);
            }
            Checked::Value(value) => {
                let text = self.show(&value.ty);
                self.unsupported(&format!("a range-based `for` over a `{text}`"), at);
                return;
            }
        };
        if self.has_iterators(&place.ty.ty) {
            let value = crate::sema::check::method::place_value(place);
            return self.for_iterators(parts, value, out);
        }
        let Ty::Array(_, Some(n)) = place.ty.ty else {
            let text = self.show(&place.ty.ty);
            self.unsupported(&format!("a range-based `for` over a `{text}`"), at);
            return;
        };
        self.scopes.enter();
        self.cleanups_enter();
        let ty = place.ty.clone();
        let array = self.reference_variable("range", ty.clone(), at);
        let address = Value {
            ty: pointer_to(ty),
            kind: ValueKind::AddressOf(Box::new(place)),
            span: at,
        };
        let index = self.unnamed_variable(Ty::Int, "i", at);
        for (name, var) in [(RANGE, array), (INDEX, index)] {
            self.hide(name, var, at);
        }
        let named = |name: &str| ast::Expr::new(ExprKind::Name(name.into()), at);
        let element = ast::Expr::new(
            ExprKind::Index(Box::new(named(RANGE)), Box::new(named(INDEX))),
            at,
        );
        let place = crate::sema::check::construct::local(index, Ty::Int.into(), at);
        let load = crate::sema::check::method::place_value(place.clone());
        let cond = Value::new(
            ValueKind::Compare(
                Relation::Lt,
                Box::new(load),
                Box::new(crate::sema::check::int(n, Ty::Int, at)),
            ),
            Ty::Bool,
            at,
        );
        let step = Value::new(
            ValueKind::IncDec {
                place: Box::new(place),
                decrement: false,
                prefix: true,
            },
            Ty::Int,
            at,
        );
        let inner = self.enter_round(parts, &element);
        let rounds = self.leave_round(parts, inner, cond, Some(step));
        let zero = crate::sema::check::int(0, Ty::Int, at);
        let stmts = vec![
            Stmt::new(StmtKind::Declare(array, Some(Init::Value(address))), at),
            Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), at),
            rounds,
        ];
        self.body.flow.cleanups.pop();
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
    }

    /// The loop from `begin()` to `end()`; an object that is only a value lives as long as the loop.
    pub(crate) fn for_iterators(
        &mut self,
        parts: &RangeFor<'_>,
        value: Value,
        out: &mut Vec<Stmt>,
    ) {
        self.scopes.enter();
        self.cleanups_enter();
        let mut stmts = Vec::new();
        let at = parts.range.span;
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
            let value = called.map(|called| self.read_checked(called));
            let value = value.and_then(|value| self.copied(value));
            let Some(value) = self.body_part(value) else {
                self.body.flow.cleanups.pop();
                self.scopes.leave();
                return;
            };
            let var = self.unnamed_variable(value.ty.clone(), function, at);
            stmts.push(Stmt::new(
                StmtKind::Declare(var, Some(Init::Value(value))),
                at,
            ));
            self.hide(hidden, var, at);
        }
        let expr = |kind| ast::Expr::new(kind, at);
        let cond = self.control(&expr(ExprKind::Binary(
            Spanned::new(BinaryOp::Ne, at),
            Box::new(named(FIRST)),
            Box::new(named(LAST)),
        )));
        let step = self.value(&expr(ExprKind::Unary(
            UnaryOp::PreInc,
            Box::new(named(FIRST)),
        )));
        let step = self.body_part(step);
        let element = expr(ExprKind::Unary(UnaryOp::Deref, Box::new(named(FIRST))));
        let mut inner = self.enter_round(parts, &element);
        self.end_temporaries(at, &mut inner);
        let rounds = self.leave_round(parts, inner, cond, step);
        stmts.push(rounds);
        self.cleanups_leave(&mut stmts, parts.span);
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
    }

    /// `for (int x : {1, 2, 3})`: the list is an array of its own, of the type that its items have.
    pub(crate) fn for_list(
        &mut self,
        parts: &RangeFor<'_>,
        items: &[ast::InitItem],
        out: &mut Vec<Stmt>,
    ) {
        let at = parts.range.span;
        let mut types = Vec::new();
        self.mode.unevaluated += 1;
        for item in items {
            match (&item.designator, &item.value) {
                (None, ast::Init::Expr(expr)) => types.push(self.value(expr).map(|value| value.ty)),
                _ => {
                    let what = "a list of lists in a range-based `for`";
                    types.push(Err(self.unsupported(what, at)));
                }
            }
        }
        self.mode.unevaluated -= 1;
        let Some(types) = self.body_part(all(types)) else {
            return;
        };
        let Some(ty) = types.first().cloned() else {
            self.unsupported("a range-based `for` over an empty list", at);
            return;
        };
        if let Some(other) = types.iter().find(|other| **other != ty) {
            let (first, other) = (ty, other.clone());
            self.error(at, StmtError::ItemsOfTwoTypes { first, other });
            return;
        }
        self.scopes.enter();
        self.cleanups_enter();
        let mut stmts = Vec::new();
        let mut ty = Ty::Array(Arc::new(ty.into()), Some(items.len() as u64)).into();
        let list = ast::Init::List(Spanned::new(items.to_vec(), at));
        let name = ast::Name::new("list".into(), at);
        let init = self.initialiser(&mut ty, &list, &name, true).ok();
        let var = self.unnamed_variable(ty.ty, "list", at);
        stmts.push(Stmt::new(StmtKind::Declare(var, init), at));
        self.end_temporaries(at, &mut stmts);
        self.note_object(var);
        self.hide(LIST, var, at);
        let named = ast::Expr::new(ExprKind::Name(LIST.into()), at);
        let over_list = RangeFor {
            range: &named,
            ..*parts
        };
        self.range_for(&over_list, &mut stmts);
        self.cleanups_leave(&mut stmts, parts.span);
        self.scopes.leave();
        out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
    }

    /// Enters a round of the loop, in which the variable is declared anew with this element.
    fn enter_round(&mut self, parts: &RangeFor<'_>, element: &ast::Expr) -> Vec<Stmt> {
        let flow = &mut self.body.flow;
        flow.loops += 1;
        flow.exits.push((flow.cleanups.len(), true));
        self.scopes.enter();
        self.cleanups_enter();
        let mut inner = Vec::new();
        let mut declaration = parts.declaration.clone();
        for declarator in &mut declaration.declarators {
            declarator.init = Some(ast::Init::Expr(element.clone()));
        }
        self.local_declaration(&declaration, &mut inner);
        inner
    }

    /// Checks the loop's body after `inner`, and leaves the round.
    fn leave_round(
        &mut self,
        parts: &RangeFor<'_>,
        mut inner: Vec<Stmt>,
        cond: Value,
        step: Option<Value>,
    ) -> Stmt {
        let block = self.body(parts.body);
        inner.push(Stmt::new(StmtKind::Block(block), parts.body.span));
        self.cleanups_leave(&mut inner, parts.span);
        self.scopes.leave();
        self.body.flow.exits.pop();
        self.body.flow.loops -= 1;
        let rounds = StmtKind::Loop {
            cond: Some(cond),
            test_first: true,
            body: inner,
            step,
            unroll: parts.unroll,
        };
        Stmt::new(rounds, parts.span)
    }

    fn hide(&mut self, name: &str, var: crate::sema::typed::VarId, span: Span) {
        self.scopes
            .bind(name.into(), Entity::Local(var), span, false);
    }
}
