//! Construction of objects: which constructor is called, what it does to the members before its own code, copies.
//!
//! A constructor is a function on a place. An object that is only a value is constructed in an unnamed variable.

pub(crate) mod members;
pub(crate) mod temporary;

use crate::sema::check::{
    Checked, Checker, FunctionEntry, FunctionFacts, Reported, allocate, body, class,
    convert::{self, Why},
    expr, implicit, init, method,
    overload::{self, Argument},
    this, virtuals,
};
use crate::sema::message::class::ClassError;
use crate::{
    sema::{
        ty::{QualTy, RecordId, Ty},
        typed::{
            Function, FunctionId, FunctionSpace, Init, Place, PlaceKind, Stmt, StmtKind, Value,
            ValueKind, VarRef,
        },
    },
    syntax::ast::{self, ExprKind, InitItem},
};
use ir::span::Span;

/// How an object without an initialiser begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beginning {
    /// Uninitialised, as in C.
    Nothing,
    /// By this constructor.
    Call(FunctionId),
    /// The class requires arguments.
    Missing,
}

/// The largest array member whose elements are set one by one.
const MAX_ELEMENTS: u64 = 256;

/// How an object of a type begins.
pub(crate) fn beginning(cx: &mut Checker<'_>, ty: &Ty, span: Span) -> Beginning {
    let id = match ty {
        Ty::Record(id) => *id,
        Ty::Array(element, _) => return beginning(cx, &element.ty.clone(), span),
        _ => return Beginning::Nothing,
    };
    let Some(facts) = cx.tables.classes.get(&id) else {
        return Beginning::Nothing;
    };
    if let Some(id) = facts.implicit_default {
        return Beginning::Call(id);
    }
    let without_arguments = facts.constructors.iter().copied().find(|ctor| {
        let params = &cx.tables.functions[*ctor].facts.params;
        params[1..].iter().all(|param| param.default.is_some())
    });
    if let Some(ctor) = without_arguments {
        return Beginning::Call(ctor);
    }
    if !facts.constructors.is_empty() && !facts.is_defaulted {
        return Beginning::Missing;
    }
    let has_defaults = !facts.defaults.is_empty();
    let fields: Vec<Ty> = cx
        .tables
        .record(id)
        .fields
        .iter()
        .map(|field| field.ty.ty.clone())
        .collect();
    let needed = has_defaults
        || cx.tables.virtuals(id).is_some()
        || fields
            .iter()
            .any(|ty| beginning(cx, ty, span) != Beginning::Nothing);
    if !needed || cx.tables.record(id).is_union {
        return Beginning::Nothing;
    }
    Beginning::Call(implicit_constructor(cx, id, span))
}

/// Writes the constructor that sets members to the values in their declarations.
fn implicit_constructor(cx: &mut Checker<'_>, class: RecordId, span: Span) -> FunctionId {
    let record = cx.tables.record(class);
    let declared = record.span.unwrap_or(span);
    let name = format!("{0}::{0}", record.name);
    let typed = Function {
        name,
        space: FunctionSpace::HostDevice,
        span: declared,
        ..Function::default()
    };
    let facts = FunctionFacts {
        params: vec![class::this_param(class, false, declared)],
        declared,
        class: Some(class),
        has_this: true,
        is_defined: true,
        ..FunctionFacts::default()
    };
    let id = cx.tables.functions.push(FunctionEntry { typed, facts });
    if let Some(facts) = cx.tables.classes.get_mut(&class) {
        facts.implicit_default = Some(id);
    }
    let floor = cx.begin_body(id);
    let depth = class::enter_scopes(&cx.tables, &mut cx.scopes, Some(class));
    let this = body::hidden_param(&cx.tables, &mut cx.body, id);
    let mut body = Vec::new();
    members::check(cx, class, &[], declared, &mut body);
    for _ in 0..depth {
        cx.scopes.leave();
    }
    cx.end_body(id, floor, this, body);
    id
}

/// A variable or member without a first value.
pub(crate) fn begin_object(
    cx: &mut Checker<'_>,
    place: Place,
    name: &str,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    match beginning(cx, &place.ty.ty, span) {
        Beginning::Nothing => {}
        Beginning::Call(_) => match place.ty.ty.clone() {
            Ty::Array(_, n) => each_element(cx, place, n.unwrap_or(0), span, out),
            _ => into(cx, place, Vec::new(), span, out),
        },
        Beginning::Missing => {
            cx.error(
                span,
                ClassError::ConstructorNeedsArguments {
                    name: name.to_string(),
                    ty: place.ty.ty.clone(),
                },
            );
        }
    }
}

/// `for (i = 0; i < n; i++) begin a[i]`
fn each_element(cx: &mut Checker<'_>, array: Place, n: u64, span: Span, out: &mut Vec<Stmt>) {
    let Ty::Array(element, _) = array.ty.ty.clone() else {
        return;
    };
    let index = temporary::variable(&cx.tables, &mut cx.body, Ty::Int, "i", span);
    let index_place = local(index, Ty::Int.into(), span);
    let load = |place: &Place| Value::load(place.clone(), span);
    let zero = crate::sema::check::int(0, Ty::Int, span);
    let count = crate::sema::check::int(n, Ty::Int, span);
    let cond = Value::new(
        ValueKind::Compare(
            crate::sema::typed::Relation::Lt,
            Box::new(load(&index_place)),
            Box::new(count),
        ),
        Ty::Bool,
        span,
    );
    let step = Value::new(
        ValueKind::IncDec {
            place: Box::new(index_place.clone()),
            decrement: false,
            prefix: true,
        },
        Ty::Int,
        span,
    );
    let place = Place::new(
        PlaceKind::ArrayIndex(Box::new(array), Box::new(load(&index_place))),
        element.as_ref().clone(),
        span,
    );
    let mut body = Vec::new();
    begin_object(cx, place, "an element", span, &mut body);
    let stmts = vec![
        Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), span),
        Stmt::new(
            StmtKind::Loop {
                cond: Some(cond),
                test_first: true,
                body,
                step: Some(step),
                unroll: None,
            },
            span,
        ),
    ];
    out.push(Stmt::new(StmtKind::Block(stmts), span));
}

/// A member by `: x(…)` or by the value in its declaration.
pub(crate) fn member_init(
    cx: &mut Checker<'_>,
    place: Place,
    init: &ast::Init,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let ty = place.ty.ty.clone();
    if cx.body.known(&ty, span).is_err() {
        return;
    }
    let value = match init {
        ast::Init::Expr(expr) => convert::implicit_value(cx, expr, &ty, &Why::Operand),
        ast::Init::Construct(_) | ast::Init::List(_) if cx.tables.has_constructors(&ty) => {
            let args = init_arguments(cx, &ty, init);
            return into(cx, place, args, span, out);
        }
        ast::Init::Construct(args) => match &args.node[..] {
            [] => return zero(cx, place, span, out),
            [expr] if !matches!(expr.kind, ExprKind::List(_)) => {
                convert::implicit_value(cx, expr, &ty, &Why::Operand)
            }
            all => expr::construct(cx, &ty, all, args.span),
        },
        ast::Init::List(items) if items.node.is_empty() => {
            return zero(cx, place, span, out);
        }
        ast::Init::List(items) => match &ty {
            Ty::Array(element, n) => {
                let n = n.unwrap_or(0);
                return array_member(cx, place, element, n, &items.node, span, out);
            }
            _ => init::list_value(cx, &ty, &items.node, items.span),
        },
    };
    if let Some(value) = cx.body.part(value) {
        out.push(assign(place, value, span));
    }
}

fn array_member(
    cx: &mut Checker<'_>,
    place: Place,
    element: &QualTy,
    n: u64,
    items: &[InitItem],
    span: Span,
    out: &mut Vec<Stmt>,
) {
    if items.len() as u64 > n || n > MAX_ELEMENTS {
        cx.unsupported("this list for a member that is an array", span);
        return;
    }
    for i in 0..n {
        let at = Place::new(
            PlaceKind::ArrayIndex(
                Box::new(place.clone()),
                Box::new(crate::sema::check::int(i, Ty::Int, span)),
            ),
            element.clone(),
            span,
        );
        match items.get(i as usize) {
            Some(InitItem {
                designator: None,
                value,
            }) => member_init(cx, at, value, span, out),
            Some(_) => {
                cx.unsupported("a designator in a member's list", span);
                return;
            }
            None => zero(cx, at, span, out),
        }
    }
}

/// `x()`, `x{}`.
pub(crate) fn zero(cx: &mut Checker<'_>, place: Place, span: Span, out: &mut Vec<Stmt>) {
    let ty = place.ty.ty.clone();
    if cx.body.known(&ty, span).is_err() {
        return;
    }
    match &ty {
        Ty::Array(element, n) => {
            let n = n.unwrap_or(0);
            if n > MAX_ELEMENTS {
                cx.unsupported("clearing a member that is a long array", span);
                return;
            }
            for i in 0..n {
                let at = Place::new(
                    PlaceKind::ArrayIndex(
                        Box::new(place.clone()),
                        Box::new(crate::sema::check::int(i, Ty::Int, span)),
                    ),
                    element.as_ref().clone(),
                    span,
                );
                zero(cx, at, span, out);
            }
        }
        Ty::Record(_) => {
            if cx.tables.has_constructors(&ty) {
                return begin_object(cx, place, "the member", span, out);
            }
            let empty = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
            out.push(assign(place.clone(), empty, span));
            begin_object(cx, place, "the member", span, out);
        }
        scalar => {
            let zero = crate::sema::check::int(0, Ty::Int, span);
            let zero = convert::cast(cx, zero, scalar, span);
            if let Some(zero) = cx.body.part(zero) {
                out.push(assign(place, zero, span));
            }
        }
    }
}

/// Begins an object by the constructor that these arguments choose.
pub(crate) fn into(
    cx: &mut Checker<'_>,
    place: Place,
    args: Vec<Argument<'_>>,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let value = construction(cx, place, args, span);
    if let Some(value) = cx.body.part(value).flatten() {
        out.push(Stmt::new(StmtKind::Expr(value), span));
    }
}

/// The call of the constructor that these arguments choose.
fn construction(
    cx: &mut Checker<'_>,
    place: Place,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Option<Value>, Reported> {
    let Ty::Record(class) = place.ty.ty else {
        return Ok(None);
    };
    let name = cx.tables.record(class).name.clone();
    let facts = cx.tables.classes.get(&class);
    let constructors = facts.map(|facts| facts.constructors.clone());
    let ids = if args.is_empty() {
        match beginning(cx, &place.ty.ty, span) {
            Beginning::Call(id) => vec![id],
            Beginning::Nothing => return Ok(None),
            Beginning::Missing => constructors.unwrap_or_default(),
        }
    } else {
        match constructors {
            Some(constructors) => constructors,
            None => return Ok(None),
        }
    };
    if let [Argument::Value(value)] = &args[..]
        && cx.tables.converts_to_class(&value.ty, class)
    {
        let value = value.clone();
        // A prvalue constructs the object itself; a copy without a user-declared copy constructor is an assignment.
        let is_made_here = crate::sema::check::cleanup::is_prvalue(&value)
            && !virtuals::is_part(&cx.tables, &value, class);
        if is_made_here || !cx.tables.needs_copy(&place.ty.ty) {
            let value = convert::implicit(cx, value, &Ty::Record(class), &Why::Operand)?;
            return Ok(Some(assign_value(place, value, span)));
        }
        let copy = cx.tables.classes.get(&class).and_then(|facts| facts.copy);
        if copy.is_none() {
            let copy = implicit::implicit_copy(cx, class, span);
            return construction_by(cx, place, &[copy], &name, args, span);
        }
    }
    this::check_own_access(cx, class, &name, span);
    if ids.is_empty() && cx.tables.virtuals(class).is_some() {
        let ty = place.ty.ty.clone();
        return Err(cx.error(span, ClassError::NotAList { ty }));
    }
    construction_by(cx, place, &ids, &name, args, span)
}

fn construction_by(
    cx: &mut Checker<'_>,
    place: Place,
    ids: &[FunctionId],
    name: &str,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Option<Value>, Reported> {
    let object = Value {
        ty: place.ty.ty.clone(),
        kind: ValueKind::Load(Box::new(Place {
            // While it begins, `const T x(1);` is not yet constant, nor is a `volatile` one volatile.
            ty: QualTy {
                is_const: false,
                is_volatile: false,
                ..place.ty.clone()
            },
            ..place
        })),
        span,
    };
    match method::call_member(cx, Some(object), ids, name, span, args, span)? {
        Checked::Value(value) => Ok(Some(value)),
        Checked::Place(_) => Ok(None),
    }
}

/// The arguments in an initialiser.
pub(crate) fn init_arguments<'e>(
    cx: &mut Checker<'_>,
    ty: &Ty,
    init: &'e ast::Init,
) -> Vec<Argument<'e>> {
    match init {
        ast::Init::Expr(expr) => overload::arguments(cx, std::slice::from_ref(expr)),
        ast::Init::Construct(args) => overload::arguments(cx, &args.node),
        ast::Init::List(items) => list_arguments(cx, ty, &items.node, items.span),
    }
}

/// `{ a, { b } }` as the arguments of a constructor of `ty`.
pub(crate) fn list_arguments<'e>(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &'e [InitItem],
    span: Span,
) -> Vec<Argument<'e>> {
    match allocate::initializer_list(cx, ty, items, span) {
        Ok(Some(list)) => return vec![Argument::Value(list)],
        Err(reported) => return vec![Argument::Wrong(reported)],
        Ok(None) => {}
    }
    items
        .iter()
        .map(|item| match &item.value {
            ast::Init::Expr(expr) => {
                expr::value(cx, expr).map_or_else(Argument::Wrong, Argument::Value)
            }
            ast::Init::List(items) => Argument::List(&items.node, items.span),
            ast::Init::Construct(args) => Argument::List(&[], args.span),
        })
        .collect()
}

/// An object at file scope: no code runs before `main`, so only a constructor that does nothing is supported.
pub(crate) fn check_static_object(cx: &mut Checker<'_>, ty: &Ty, name: &ast::Name) {
    if cx.tables.has_destructor(ty) {
        cx.unsupported(
            "an object with a destructor that outlives functions",
            name.span,
        );
        return;
    }
    match beginning(cx, ty, name.span) {
        Beginning::Nothing => {}
        Beginning::Call(id) if is_empty_constructor(cx, id, ty) => {}
        Beginning::Call(_) | Beginning::Missing => {
            cx.unsupported("a constructor that runs before `main`", name.span);
        }
    }
}

/// Whether the constructor and those of the members do nothing.
pub(crate) fn is_empty_constructor(cx: &mut Checker<'_>, id: FunctionId, ty: &Ty) -> bool {
    if !cx.tables.functions[id].facts.is_empty {
        return false;
    }
    // The constructor sets the object's mark.
    if cx.tables.is_polymorphic(ty) {
        return false;
    }
    let mut ty = ty;
    while let Ty::Array(element, _) = ty {
        ty = &element.ty;
    }
    let Ty::Record(class) = ty else { return true };
    let has_defaults = cx
        .tables
        .classes
        .get(class)
        .is_some_and(|facts| !facts.defaults.is_empty());
    let fields: Vec<Ty> = cx
        .tables
        .record(*class)
        .fields
        .iter()
        .map(|field| field.ty.ty.clone())
        .collect();
    !has_defaults
        && fields
            .iter()
            .all(|ty| match beginning(cx, ty, Span::default()) {
                Beginning::Nothing => true,
                Beginning::Call(id) => is_empty_constructor(cx, id, ty),
                Beginning::Missing => false,
            })
}

/// A place that is a whole local variable.
pub(crate) fn local(var: crate::sema::typed::VarId, ty: QualTy, span: Span) -> Place {
    Place::new(PlaceKind::Var(VarRef::Local(var)), ty, span)
}

pub(crate) fn assign_value(place: Place, value: Value, span: Span) -> Value {
    let ty = place.ty.ty.clone();
    let kind = ValueKind::Assign(Box::new(place), Box::new(value));
    Value::new(kind, ty, span)
}

fn assign(place: Place, value: Value, span: Span) -> Stmt {
    Stmt::new(StmtKind::Expr(assign_value(place, value, span)), span)
}

/// `first, then`.
pub(crate) fn comma(first: Value, then: Value) -> Value {
    let (ty, span) = (then.ty.clone(), then.span);
    let kind = ValueKind::Comma(Box::new(first), Box::new(then));
    Value::new(kind, ty, span)
}
