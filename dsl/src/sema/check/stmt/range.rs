//! `for (T x : range)`: over an array, a list, or an object with `begin()` and `end()`.

use crate::sema::message::{stmt::StmtError, with_article};
use crate::sema::scope::Scopes;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, access, all, cleanup, decl, expr, init, method, reference, stmt, temporary,
};
use crate::{
    sema::{
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Init, Relation, Stmt, StmtKind, Value, ValueKind},
    },
    syntax::ast::{self, BinaryOp, ExprKind, UnaryOp, Unroll},
};
use ir::span::{Span, Spanned};

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

/// Whether the type is a class with `begin()`.
fn has_iterators(scopes: &Scopes, ty: &Ty) -> bool {
    matches!(ty, Ty::Record(id) if scopes.find_in_class(*id, "begin").is_some())
}

/// `for (T x : array) body`: a loop over the array's indices, with a new `x` in each round.
pub(crate) fn check(cx: &mut Checker<'_>, parts: &RangeFor<'_>, out: &mut Vec<Stmt>) {
    let at = parts.range.span;
    if let ExprKind::List(items) = &parts.range.kind {
        return for_list(cx, parts, items, out);
    }
    let range = expr::check(cx, parts.range);
    let Some(range) = cx.body.part(range) else {
        return;
    };
    let place = match range {
        Checked::Place(place) => place,
        Checked::Value(value) if has_iterators(&cx.scopes, &value.ty) => {
            return for_iterators(cx, parts, value, out);
        }
        Checked::Value(value) => return no_range(cx, &value.ty, at),
    };
    if has_iterators(&cx.scopes, &place.ty.ty) {
        let value = method::place_value(place);
        return for_iterators(cx, parts, value, out);
    }
    let Ty::Array(_, Some(n)) = place.ty.ty else {
        return no_range(cx, &place.ty.ty, at);
    };
    cx.scopes.enter();
    cleanup::enter(&mut cx.body);
    let ty = place.ty.clone();
    let array = reference::variable(&cx.tables, &mut cx.body, "range", ty.clone(), at);
    let address = Value {
        ty: pointer_to(ty),
        kind: ValueKind::AddressOf(Box::new(place)),
        span: at,
    };
    let index = temporary::variable(&cx.tables, &mut cx.body, Ty::Int, "i", at);
    for (name, var) in [(RANGE, array), (INDEX, index)] {
        hide(&mut cx.scopes, name, var, at);
    }
    let named = |name: &str| ast::Expr::new(ExprKind::Name(name.into()), at);
    let element = ast::Expr::new(
        ExprKind::Index(Box::new(named(RANGE)), Box::new(named(INDEX))),
        at,
    );
    let place = crate::sema::check::construct::local(index, Ty::Int.into(), at);
    let load = method::place_value(place.clone());
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
    let inner = enter_round(cx, parts, &element);
    let rounds = leave_round(cx, parts, inner, cond, Some(step));
    let zero = crate::sema::check::int(0, Ty::Int, at);
    let stmts = vec![
        Stmt::new(StmtKind::Declare(array, Some(Init::Value(address))), at),
        Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), at),
        rounds,
    ];
    cx.body.flow.cleanups.pop();
    cx.scopes.leave();
    out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
}

fn no_range(cx: &mut Checker<'_>, ty: &Ty, at: Span) {
    let text = cx.tables.show_type(ty);
    let what = format!("a range-based `for` over {}", with_article(&text));
    cx.unsupported(&what, at);
}

/// The loop from `begin()` to `end()`; an object that is only a value lives as long as the loop.
fn for_iterators(cx: &mut Checker<'_>, parts: &RangeFor<'_>, value: Value, out: &mut Vec<Stmt>) {
    cx.scopes.enter();
    cleanup::enter(&mut cx.body);
    let mut stmts = Vec::new();
    let at = parts.range.span;
    let place = if cleanup::is_prvalue(&value) {
        let ty = value.ty.clone();
        let var = temporary::variable(&cx.tables, &mut cx.body, ty.clone(), "range", at);
        stmts.push(Stmt::new(
            StmtKind::Declare(var, Some(Init::Value(value))),
            at,
        ));
        cleanup::end_temporaries(cx, at, &mut stmts);
        cleanup::note_object(&cx.tables, &mut cx.body, var);
        crate::sema::check::construct::local(var, ty.into(), at)
    } else {
        method::as_place(value)
    };
    access::take_address(&mut cx.body, &cx.mode, &place);
    let ty = place.ty.clone();
    let object = reference::variable(&cx.tables, &mut cx.body, "range", ty.clone(), at);
    let address = Value {
        ty: pointer_to(ty),
        kind: ValueKind::AddressOf(Box::new(place)),
        span: at,
    };
    stmts.push(Stmt::new(
        StmtKind::Declare(object, Some(Init::Value(address))),
        at,
    ));
    hide(&mut cx.scopes, RANGE, object, at);
    let named = |name: &str| ast::Expr::new(ExprKind::Name(name.into()), at);
    for (hidden, function) in [(FIRST, "begin"), (LAST, "end")] {
        let name = ast::Name::new(function.into(), at);
        let called = method::check(cx, &named(RANGE), false, (&name, None), &[], at);
        let value = called.map(|called| method::read_checked(cx, called));
        let value = value.and_then(|value| temporary::copied(cx, value));
        let Some(value) = cx.body.part(value) else {
            cx.body.flow.cleanups.pop();
            cx.scopes.leave();
            return;
        };
        let var = temporary::variable(&cx.tables, &mut cx.body, value.ty.clone(), function, at);
        stmts.push(Stmt::new(
            StmtKind::Declare(var, Some(Init::Value(value))),
            at,
        ));
        hide(&mut cx.scopes, hidden, var, at);
    }
    let expr = |kind| ast::Expr::new(kind, at);
    let cond = stmt::control(
        cx,
        &expr(ExprKind::Binary(
            Spanned::new(BinaryOp::Ne, at),
            Box::new(named(FIRST)),
            Box::new(named(LAST)),
        )),
    );
    let step = expr::value(
        cx,
        &expr(ExprKind::Unary(UnaryOp::PreInc, Box::new(named(FIRST)))),
    );
    let step = cx.body.part(step);
    let element = expr(ExprKind::Unary(UnaryOp::Deref, Box::new(named(FIRST))));
    let mut inner = enter_round(cx, parts, &element);
    cleanup::end_temporaries(cx, at, &mut inner);
    let rounds = leave_round(cx, parts, inner, cond, step);
    stmts.push(rounds);
    cleanup::leave(cx, &mut stmts, parts.span);
    cx.scopes.leave();
    out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
}

/// `for (int x : {1, 2, 3})`: the list becomes an array of its items' type.
fn for_list(
    cx: &mut Checker<'_>,
    parts: &RangeFor<'_>,
    items: &[ast::InitItem],
    out: &mut Vec<Stmt>,
) {
    let at = parts.range.span;
    let mut types = Vec::new();
    cx.mode.unevaluated += 1;
    for item in items {
        match (&item.designator, &item.value) {
            (None, ast::Init::Expr(expr)) => {
                types.push(expr::value(cx, expr).map(|value| value.ty))
            }
            _ => {
                let what = "a list of lists in a range-based `for`";
                types.push(Err(cx.unsupported(what, at)));
            }
        }
    }
    cx.mode.unevaluated -= 1;
    let Some(types) = cx.body.part(all(types)) else {
        return;
    };
    let Some(ty) = types.first().cloned() else {
        cx.unsupported("a range-based `for` over an empty list", at);
        return;
    };
    if let Some(other) = types.iter().find(|other| **other != ty) {
        let (first, other) = (ty, other.clone());
        cx.error(at, StmtError::ItemsOfTwoTypes { first, other });
        return;
    }
    cx.scopes.enter();
    cleanup::enter(&mut cx.body);
    let mut stmts = Vec::new();
    let mut ty = Ty::Array(Arc::new(ty.into()), Some(items.len() as u64)).into();
    let list = ast::Init::List(Spanned::new(items.to_vec(), at));
    let name = ast::Name::new("list".into(), at);
    let init = init::initialiser(cx, &mut ty, &list, &name, true).ok();
    let var = temporary::variable(&cx.tables, &mut cx.body, ty.ty, "list", at);
    stmts.push(Stmt::new(StmtKind::Declare(var, init), at));
    cleanup::end_temporaries(cx, at, &mut stmts);
    cleanup::note_object(&cx.tables, &mut cx.body, var);
    hide(&mut cx.scopes, LIST, var, at);
    let named = ast::Expr::new(ExprKind::Name(LIST.into()), at);
    let over_list = RangeFor {
        range: &named,
        ..*parts
    };
    check(cx, &over_list, &mut stmts);
    cleanup::leave(cx, &mut stmts, parts.span);
    cx.scopes.leave();
    out.push(Stmt::new(StmtKind::Block(stmts), parts.span));
}

/// Begins a round of the loop, in which a new variable is declared with this element.
fn enter_round(cx: &mut Checker<'_>, parts: &RangeFor<'_>, element: &ast::Expr) -> Vec<Stmt> {
    let flow = &mut cx.body.flow;
    flow.loops += 1;
    flow.exits.push((flow.cleanups.len(), true));
    cx.scopes.enter();
    cleanup::enter(&mut cx.body);
    let mut inner = Vec::new();
    let mut declaration = parts.declaration.clone();
    for declarator in &mut declaration.declarators {
        declarator.init = Some(ast::Init::Expr(element.clone()));
    }
    decl::local_declaration(cx, &declaration, &mut inner);
    inner
}

/// Checks the loop's body after `inner`, and leaves the round.
fn leave_round(
    cx: &mut Checker<'_>,
    parts: &RangeFor<'_>,
    mut inner: Vec<Stmt>,
    cond: Value,
    step: Option<Value>,
) -> Stmt {
    let block = stmt::body(cx, parts.body);
    inner.push(Stmt::new(StmtKind::Block(block), parts.body.span));
    cleanup::leave(cx, &mut inner, parts.span);
    cx.scopes.leave();
    cx.body.flow.exits.pop();
    cx.body.flow.loops -= 1;
    let rounds = StmtKind::Loop {
        cond: Some(cond),
        test_first: true,
        body: inner,
        step,
        unroll: parts.unroll,
    };
    Stmt::new(rounds, parts.span)
}

fn hide(scopes: &mut Scopes, name: &str, var: crate::sema::typed::VarId, span: Span) {
    scopes.bind(name.into(), Entity::Local(var), span, false);
}
