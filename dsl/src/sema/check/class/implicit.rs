//! Copy constructors and assignments that the compiler writes, member by member, for a class with a member that has its own.
//!
//! A class without such members needs neither: its objects are copied as bytes.

use crate::sema::check::{
    Checker, FunctionEntry, FunctionFacts, ParamFacts, Reported, Tables, body, class, cleanup,
    construct::{self, assign_value, local},
    method,
    overload::Argument,
    reference, temporary, virtuals,
};
use crate::sema::{
    ty::{QualTy, RecordId, Ty},
    typed::{
        Function, FunctionId, FunctionSpace, Init, Place, PlaceKind, Relation, Stmt, StmtKind,
        Value, ValueKind, VarId,
    },
};
use ir::span::Span;

/// Writes what is done with a member: takes its place in the new object and in the old one, and adds statements.
type MemberWriter<'w> = dyn Fn(&mut Checker<'_>, Place, Place, Span, &mut Vec<Stmt>) + 'w;

/// The constructor that copies an object of the class.
pub(crate) fn implicit_copy(cx: &mut Checker<'_>, class: RecordId, span: Span) -> FunctionId {
    let name = cx.tables.record(class).name.clone();
    let (id, params) = implicit_function(&mut cx.tables, class, format!("{name}::{name}"), span);
    if let Some(facts) = cx.tables.classes.get_mut(&class) {
        facts.copy = Some(id);
    }
    write_members(
        cx,
        id,
        class,
        params,
        span,
        true,
        &|cx, to, from, span, out| {
            copy_member(cx, to, from, span, out);
        },
    );
    id
}

/// `object = value` where members have their own `=`.
pub(crate) fn assign_members(
    cx: &mut Checker<'_>,
    class: RecordId,
    place: Place,
    value: Value,
    span: Span,
) -> Result<Value, Reported> {
    let written = cx.tables.classes.get(&class).and_then(|facts| facts.assign);
    let id = written.unwrap_or_else(|| implicit_assign(cx, class, span));
    let object = method::place_value(place);
    let name = cx.tables.functions[id].typed.name.clone();
    let args = vec![Argument::Value(value)];
    let called = method::call_member(cx, Some(object), &[id], &name, span, args, span)?;
    Ok(method::read_checked(cx, called))
}

fn implicit_assign(cx: &mut Checker<'_>, class: RecordId, span: Span) -> FunctionId {
    let name = cx.tables.record(class).name.clone();
    let (id, params) = implicit_function(&mut cx.tables, class, format!("{name}::operator="), span);
    if let Some(facts) = cx.tables.classes.get_mut(&class) {
        facts.assign = Some(id);
    }
    write_members(
        cx,
        id,
        class,
        params,
        span,
        false,
        &|cx, to, from, span, out| {
            assign_member(cx, to, from, span, out);
        },
    );
    id
}

fn implicit_function(
    tables: &mut Tables,
    class: RecordId,
    name: String,
    span: Span,
) -> (FunctionId, Vec<ParamFacts>) {
    let declared = tables.record(class).span.unwrap_or(span);
    let typed = Function {
        name,
        space: FunctionSpace::HostDevice,
        span: declared,
        ..Function::default()
    };
    let this = class::this_param(class, false, declared);
    let other = ParamFacts {
        name: Some("other".into()),
        is_this: false,
        ty: QualTy {
            is_const: true,
            ..this.ty.clone()
        },
        ..this.clone()
    };
    let params = vec![this, other];
    let facts = FunctionFacts {
        params: params.clone(),
        declared,
        class: Some(class),
        has_this: true,
        is_defined: true,
        ..FunctionFacts::default()
    };
    let id = tables.functions.push(FunctionEntry { typed, facts });
    (id, params)
}

/// Writes the body: what is done with each member. If `begins`, it constructs the object, which gets its mark.
fn write_members(
    cx: &mut Checker<'_>,
    id: FunctionId,
    class: RecordId,
    params: Vec<ParamFacts>,
    span: Span,
    begins: bool,
    member: &MemberWriter<'_>,
) {
    let floor = cx.begin_body(id);
    let depth = class::enter_scopes(&cx.tables, &mut cx.scopes, Some(class));
    let mut vars = body::hidden_param(&cx.tables, &mut cx.body, id);
    let other = params[1].clone();
    let from = reference::variable(
        &cx.tables,
        &mut cx.body,
        "other",
        other.ty.clone(),
        other.span,
    );
    vars.push(from);
    let from = local(from, other.ty, span);
    let mut body = Vec::new();
    if let Some(to) = cx.body.this_place(span) {
        for index in 0..cx.tables.record(class).fields.len() as u32 {
            // An assignment does not change the object's class.
            if virtuals::is_mark(&cx.tables, class, index) {
                continue;
            }
            let to = cx.tables.field_place(to.clone(), index, span);
            let from = cx.tables.field_place(from.clone(), index, span);
            member(cx, to, from, span, &mut body);
            cleanup::end_temporaries(cx, span, &mut body);
        }
        if begins {
            virtuals::set_mark(&cx.tables, to, class, span, &mut body);
        }
    }
    for _ in 0..depth {
        cx.scopes.leave();
    }
    cx.end_body(id, floor, vars, body);
}

fn copy_member(cx: &mut Checker<'_>, to: Place, from: Place, span: Span, out: &mut Vec<Stmt>) {
    match &to.ty.ty {
        Ty::Array(_, n) => {
            let n = n.unwrap_or(0);
            each(cx, n, span, out, &mut |cx, index, out| {
                let (to, from) = (element(&to, index, span), element(&from, index, span));
                copy_member(cx, to, from, span, out);
            });
        }
        Ty::Record(_) if cx.tables.needs_copy(&to.ty.ty) => {
            let value = method::place_value(from);
            construct::into(cx, to, vec![Argument::Value(value)], span, out);
        }
        _ => out.push(copy(to, from, span)),
    }
}

fn assign_member(cx: &mut Checker<'_>, to: Place, from: Place, span: Span, out: &mut Vec<Stmt>) {
    match to.ty.ty.clone() {
        Ty::Array(_, n) => {
            let n = n.unwrap_or(0);
            each(cx, n, span, out, &mut |cx, index, out| {
                let (to, from) = (element(&to, index, span), element(&from, index, span));
                assign_member(cx, to, from, span, out);
            });
        }
        Ty::Record(class) => {
            let value = method::place_value(from.clone());
            let operands = [method::place_value(to.clone()), value.clone()];
            let value = match method::operator_call(cx, "=", &operands, span, span) {
                Ok(Some(called)) => Ok(method::read_checked(cx, called)),
                Ok(None) if method::members_assign(&cx.tables, &cx.scopes, &to.ty.ty) => {
                    assign_members(cx, class, to, value, span)
                }
                Ok(None) => return out.push(copy(to, from, span)),
                Err(reported) => Err(reported),
            };
            if let Some(value) = cx.body.part(value) {
                out.push(Stmt::new(StmtKind::Expr(value), span));
            }
        }
        _ => out.push(copy(to, from, span)),
    }
}

/// `for (i = 0; i < n; i++) body`
pub(crate) fn each<'a>(
    cx: &mut Checker<'a>,
    n: u64,
    span: Span,
    out: &mut Vec<Stmt>,
    body: &mut dyn FnMut(&mut Checker<'a>, VarId, &mut Vec<Stmt>),
) {
    let index = temporary::variable(&cx.tables, &mut cx.body, Ty::Int, "i", span);
    let place = local(index, Ty::Int.into(), span);
    let cond = Value::new(
        ValueKind::Compare(
            Relation::Lt,
            Box::new(method::place_value(place.clone())),
            Box::new(crate::sema::check::int(n, Ty::Int, span)),
        ),
        Ty::Bool,
        span,
    );
    let step = Value::new(
        ValueKind::IncDec {
            place: Box::new(place),
            decrement: false,
            prefix: true,
        },
        Ty::Int,
        span,
    );
    let mut inner = Vec::new();
    body(cx, index, &mut inner);
    let zero = crate::sema::check::int(0, Ty::Int, span);
    let stmts = vec![
        Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), span),
        Stmt::new(
            StmtKind::Loop {
                cond: Some(cond),
                test_first: true,
                body: inner,
                step: Some(step),
                unroll: None,
            },
            span,
        ),
    ];
    out.push(Stmt::new(StmtKind::Block(stmts), span));
}

/// The element of an array with the index in a variable.
pub(crate) fn element(array: &Place, index: VarId, span: Span) -> Place {
    let ty = match &array.ty.ty {
        Ty::Array(element, _) => element.as_ref().clone(),
        other => other.clone().into(),
    };
    let index = method::place_value(local(index, Ty::Int.into(), span));
    Place::new(
        PlaceKind::ArrayIndex(Box::new(array.clone()), Box::new(index)),
        ty,
        span,
    )
}

/// The same, with the index counted from the end.
pub(crate) fn element_from_end(array: &Place, n: u64, index: VarId, span: Span) -> Place {
    let mut place = element(array, index, span);
    if let PlaceKind::ArrayIndex(_, index) = &mut place.kind {
        let last = crate::sema::check::int(n.saturating_sub(1), Ty::Int, span);
        let back = Value::new(
            ValueKind::Binary(
                crate::sema::typed::Arith::Sub,
                Box::new(last),
                index.clone(),
            ),
            Ty::Int,
            span,
        );
        **index = back;
    }
    place
}

fn copy(to: Place, from: Place, span: Span) -> Stmt {
    let value = method::place_value(from);
    Stmt::new(StmtKind::Expr(assign_value(to, value, span)), span)
}
