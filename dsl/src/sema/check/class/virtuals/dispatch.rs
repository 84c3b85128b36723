//! Virtual calls: direct if the object's class is known, else through a dispatcher that looks at the object's mark.
//!
//! All classes are known only at the end of the program. Until then a dispatcher has no body, and its calls are only recorded.

use crate::arena::Arena;
use crate::sema::check::{
    Body, Checker, FunctionEntry, FunctionFacts, ParamFacts, Tables, body, class, cleanup,
    construct::local, convert, function_template, method, overload::Argument, temporary,
};
use crate::sema::{
    classify::pointer_to,
    ty::{QualTy, RecordId, Ty},
    typed::{
        Builtin, Function, FunctionId, FunctionSpace, Init, LogicalOp, Place, PlaceKind, Relation,
        Stmt, StmtKind, Value, ValueKind, Var, VarId, VarRef,
    },
};
use ir::{Intrinsic, span::Span};

use super::mark_place;

/// What a dispatcher calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The final overrider of this function.
    Function(FunctionId),
    /// The destructor of an object whose static type is this class.
    Destructor(RecordId),
}

/// The dispatchers, by target.
#[derive(Default)]
pub(crate) struct Dispatchers(Vec<(Target, FunctionId)>);

/// The function to call for `id` if its object is the first of these arguments.
pub(crate) fn called(
    cx: &mut Checker<'_>,
    id: FunctionId,
    values: &mut [Argument<'_>],
) -> FunctionId {
    let Some(slot) = cx.tables.functions[id].facts.words.slot else {
        return id;
    };
    let Some(Argument::Value(object)) = values.first_mut() else {
        return id;
    };
    let ValueKind::Load(place) = &object.kind else {
        return id;
    };
    if cx.mode.unevaluated > 0 {
        return id;
    }
    let Some(whole) = whole_object(&cx.tables, &cx.body, place) else {
        return dispatcher(cx, Target::Function(id));
    };
    let Ty::Record(class) = whole.ty.ty else {
        return id;
    };
    let table = cx.tables.virtuals(class).map(|virtuals| &virtuals.table);
    let Some(&target) = table.and_then(|table| table.get(slot as usize)) else {
        return id;
    };
    if target != id
        && let Some(owner) = cx.tables.functions[target].facts.class
    {
        let span = object.span;
        let whole = whole.clone();
        *object = Value::load(cx.tables.base_place(whole, owner), span);
    }
    target
}

/// The object that a place is, or is the base of, if its dynamic type is known.
fn whole_object<'p>(tables: &Tables, body: &Body, mut place: &'p Place) -> Option<&'p Place> {
    loop {
        match &place.kind {
            PlaceKind::Field(inner, index) => match inner.ty.ty {
                Ty::Record(class) if *index == 0 && tables.base(class).is_some() => place = inner,
                _ => return Some(place),
            },
            PlaceKind::Var(VarRef::Local(var)) if body.vars[*var].typed.is_reference => {
                return None;
            }
            PlaceKind::Var(_)
            | PlaceKind::ArrayIndex(..)
            | PlaceKind::BitField(..)
            | PlaceKind::Temporary(_) => {
                return Some(place);
            }
            PlaceKind::Deref(_) | PlaceKind::ReadOnly(_) | PlaceKind::PointerIndex(..) => {
                return None;
            }
        }
    }
}

/// Ends the object at a place: by the destructor that its mark selects, if that is virtual.
pub(crate) fn destroy(cx: &mut Checker<'_>, place: Place, span: Span, out: &mut Vec<Stmt>) {
    let class = match place.ty.ty {
        Ty::Record(class) => class,
        _ => return cleanup::destroy(cx, place, span, out),
    };
    let is_virtual = cx
        .tables
        .virtuals(class)
        .is_some_and(|virtuals| virtuals.has_destructor);
    let is_known = whole_object(&cx.tables, &cx.body, &place).is_some();
    if !is_virtual || is_known {
        return cleanup::destroy(cx, place, span, out);
    }
    let id = dispatcher(cx, Target::Destructor(class));
    let name = cx.tables.functions[id].typed.name.clone();
    let object = method::place_value(place);
    let called = method::call_member(cx, Some(object), &[id], &name, span, Vec::new(), span);
    if let Some(called) = cx.body.part(called) {
        let value = method::read_checked(cx, called);
        out.push(Stmt::new(StmtKind::Expr(value), span));
    }
}

/// The dispatcher of a target, made at its first call.
fn dispatcher(cx: &mut Checker<'_>, target: Target) -> FunctionId {
    let known = cx.dispatchers.0.iter().find(|(known, _)| *known == target);
    if let Some((_, id)) = known {
        return *id;
    }
    let entry = match target {
        Target::Function(id) => {
            let FunctionEntry { typed, facts } = &cx.tables.functions[id];
            entry(
                &cx.tables,
                Function {
                    name: format!("virtual {}", typed.name),
                    vars: Arena::new(),
                    params: Vec::new(),
                    body: None,
                    ..typed.clone()
                },
                facts.params.clone(),
                facts.class,
            )
        }
        Target::Destructor(class) => {
            let destructor = cx.tables.classes.get(&class);
            let destructor = destructor.and_then(|facts| facts.destructor);
            let space = destructor.map(|id| cx.tables.functions[id].typed.space);
            let record = cx.tables.record(class);
            let span = record.span.unwrap_or_default();
            let typed = Function {
                name: format!("virtual {0}::~{0}", record.name),
                space: space.unwrap_or(FunctionSpace::HostDevice),
                span,
                ..Function::default()
            };
            let params = vec![class::this_param(class, false, span)];
            entry(&cx.tables, typed, params, Some(class))
        }
    };
    let id = cx.tables.functions.push(entry);
    cx.dispatchers.0.push((target, id));
    id
}

/// A dispatcher without its body.
fn entry(
    tables: &Tables,
    typed: Function,
    params: Vec<ParamFacts>,
    class: Option<RecordId>,
) -> FunctionEntry {
    let declared = typed.span;
    let vars: Arena<VarId, Var> = params
        .iter()
        .map(|param| Var {
            ty: param.ty.clone(),
            is_reference: param.is_reference,
            // The dispatcher casts the object to derived classes.
            address_taken: param.is_this,
            ..temporary::plain_variable(
                tables,
                param.ty.ty.clone(),
                param.name.as_deref().unwrap_or_default(),
                declared,
            )
        })
        .collect();
    FunctionEntry {
        typed: Function {
            params: vars.ids().collect(),
            vars,
            ..typed
        },
        facts: FunctionFacts {
            params,
            declared,
            class,
            has_this: true,
            is_defined: true,
            ..FunctionFacts::default()
        },
    }
}

/// Records the calls of the dispatchers, until there is no new dispatcher or class; checks bodies of templates on the way.
pub(crate) fn need_targets(cx: &mut Checker<'_>) {
    loop {
        let before = (cx.dispatchers.0.len(), cx.tables.classes.len());
        for index in 0..cx.dispatchers.0.len() {
            let (target, id) = cx.dispatchers.0[index];
            let span = cx.tables.functions[id].typed.span;
            let mut callees: Vec<FunctionId> = Vec::new();
            for class in classes_of(&cx.tables, target) {
                match target {
                    Target::Function(function) => {
                        callees.extend(overrider(&cx.tables, function, class));
                    }
                    Target::Destructor(_) => {
                        destructors(&cx.tables, &Ty::Record(class), &mut callees)
                    }
                }
            }
            let calls = &mut cx.tables.functions[id].facts.calls;
            for callee in callees {
                if !calls.contains(&(callee, span)) {
                    calls.push((callee, span));
                }
            }
        }
        function_template::check_needed(cx, true);
        if before == (cx.dispatchers.0.len(), cx.tables.classes.len()) {
            return;
        }
    }
}

/// Writes the dispatchers' bodies.
pub(crate) fn finish(cx: &mut Checker<'_>) {
    for index in 0..cx.dispatchers.0.len() {
        let (target, id) = cx.dispatchers.0[index];
        match target {
            Target::Function(function) => function_body(cx, function, id),
            Target::Destructor(class) => destructor_body(cx, class, id),
        }
    }
}

/// The possible classes of the object, in the order of their declaration.
fn classes_of(tables: &Tables, target: Target) -> Vec<RecordId> {
    let of = match target {
        Target::Function(id) => tables.functions[id].facts.class,
        Target::Destructor(class) => Some(class),
    };
    let is_one = |class: &RecordId| of.is_some_and(|of| tables.is_derived(*class, of));
    tables.records.ids().filter(is_one).collect()
}

/// The final overrider of a virtual function in a class, unless it is pure or defined elsewhere.
fn overrider(tables: &Tables, function: FunctionId, class: RecordId) -> Option<FunctionId> {
    let slot = tables.functions[function].facts.words.slot?;
    let id = *tables.virtuals(class)?.table.get(slot as usize)?;
    (!tables.functions[id].facts.words.is_pure).then_some(id)
}

/// The destructors that run when an object of a type ends.
fn destructors(tables: &Tables, ty: &Ty, found: &mut Vec<FunctionId>) {
    match ty {
        Ty::Array(element, _) => destructors(tables, &element.ty, found),
        Ty::Record(class) if tables.has_destructor(ty) => {
            let facts = tables.classes.get(class);
            found.extend(facts.and_then(|facts| facts.destructor));
            for field in &tables.record(*class).fields {
                destructors(tables, &field.ty.ty, found);
            }
        }
        _ => {}
    }
}

/// The object cast to a derived class.
fn object_as(tables: &Tables, id: FunctionId, class: RecordId, span: Span) -> Place {
    let this = &tables.functions[id].facts.params[0].ty;
    let ty = QualTy {
        ty: Ty::Record(class),
        ..this.clone()
    };
    let object = local(VarId(0), this.clone(), span);
    if *this == ty {
        return object;
    }
    let address = Value::new(
        ValueKind::AddressOf(Box::new(object)),
        pointer_to(this.clone()),
        span,
    );
    let address = convert::to_type(address, &pointer_to(ty.clone()));
    Place::new(PlaceKind::Deref(Box::new(address)), ty, span)
}

/// `mark == one || mark == another`.
fn is_marked(tables: &Tables, mark: VarId, classes: &[RecordId], span: Span) -> Option<Value> {
    let tests = classes.iter().filter_map(|class| {
        let one = Value::new(
            ValueKind::Mark(tables.virtuals(*class)?.mark),
            Ty::ULong,
            span,
        );
        let own = Value::load(local(mark, Ty::ULong.into(), span), span);
        let is_it = ValueKind::Compare(Relation::Eq, Box::new(own), Box::new(one));
        Some(Value::new(is_it, Ty::Bool, span))
    });
    tests.reduce(|one, another| {
        let kind = ValueKind::Logical(LogicalOp::Or, Box::new(one), Box::new(another));
        Value::new(kind, Ty::Bool, span)
    })
}

/// `mark = the object's mark`, in a new variable.
fn read_mark(tables: &mut Tables, id: FunctionId, span: Span, out: &mut Vec<Stmt>) -> VarId {
    let var = temporary::plain_variable(tables, Ty::ULong, "mark", span);
    let this = tables.functions[id].facts.params[0].ty.clone();
    let place = mark_place(tables, local(VarId(0), this, span), span);
    let mark = tables.functions[id].typed.vars.push(var);
    let init = Init::Value(Value::load(place, span));
    out.push(Stmt::new(StmtKind::Declare(mark, Some(init)), span));
    mark
}

fn bad_object(span: Span) -> Stmt {
    let kind = ValueKind::Builtin(Builtin::Intrinsic(Intrinsic::BadObject), Vec::new());
    Stmt::new(StmtKind::Expr(Value::new(kind, Ty::Void, span)), span)
}

/// `if (mark == A || mark == B) return ((A &)*this).f(arguments); …`
fn function_body(cx: &mut Checker<'_>, function: FunctionId, id: FunctionId) {
    let tables = &mut cx.tables;
    let span = tables.functions[id].typed.span;
    let mut out = Vec::new();
    let mark = read_mark(tables, id, span, &mut out);
    let mut by_function: Vec<(FunctionId, Vec<RecordId>)> = Vec::new();
    for class in classes_of(tables, Target::Function(function)) {
        let Some(found) = overrider(tables, function, class) else {
            continue;
        };
        match by_function.iter_mut().find(|(known, _)| *known == found) {
            Some((_, classes)) => classes.push(class),
            None => by_function.push((found, vec![class])),
        }
    }
    let arms = by_function.iter().filter_map(|(found, classes)| {
        let cond = is_marked(tables, mark, classes, span)?;
        Some((cond, call_of(tables, id, *found, span)))
    });
    let arms: Vec<_> = arms.collect();
    if !arms.is_empty() {
        let otherwise = Vec::new();
        out.push(Stmt::new(StmtKind::If { arms, otherwise }, span));
    }
    out.push(bad_object(span));
    tables.functions[id].typed.body = Some(out);
}

/// `return ((A &)*this).f(arguments);`
fn call_of(tables: &Tables, id: FunctionId, found: FunctionId, span: Span) -> Vec<Stmt> {
    let FunctionEntry { typed, facts } = &tables.functions[id];
    let callee = &tables.functions[found];
    let address = |place: Place| {
        let ty = pointer_to(place.ty.clone());
        Value::new(ValueKind::AddressOf(Box::new(place)), ty, span)
    };
    let owner = callee.facts.class;
    let args =
        typed
            .params
            .iter()
            .zip(&facts.params)
            .map(|(&var, param)| match (param.is_this, owner) {
                (true, Some(owner)) => address(object_as(tables, id, owner, span)),
                _ if param.is_reference => address(local(var, param.ty.clone(), span)),
                _ => Value::load(local(var, param.ty.clone(), span), span),
            });
    let kind = ValueKind::Call(found, args.collect());
    let call = Value::new(kind, callee.typed.result.clone(), span);
    let statement = |kind| Stmt::new(kind, span);
    if typed.result == Ty::Void {
        return vec![
            statement(StmtKind::Expr(call)),
            statement(StmtKind::Return(None)),
        ];
    }
    // An overrider may return a pointer to a derived class.
    let result = match (&callee.typed.result, typed.returns_reference) {
        (Ty::Pointer(referee), true) => {
            let place = Place::new(PlaceKind::Deref(Box::new(call)), (**referee).clone(), span);
            address(place)
        }
        _ => call,
    };
    let result = convert::to_type(result, &typed.result);
    vec![statement(StmtKind::Return(Some(result)))]
}

/// `if (mark == A) { ((A &)*this).~A(); return; } …`
fn destructor_body(cx: &mut Checker<'_>, class: RecordId, id: FunctionId) {
    let span = cx.tables.functions[id].typed.span;
    let floor = cx.begin_body(id);
    let params = body::hidden_param(&cx.tables, &mut cx.body, id);
    for &param in &params {
        cx.body.vars[param].typed.address_taken = true;
    }
    let mark = temporary::variable(&cx.tables, &mut cx.body, Ty::ULong, "mark", span);
    let this = cx.tables.functions[id].facts.params[0].ty.clone();
    let place = mark_place(&cx.tables, local(VarId(0), this, span), span);
    let init = Init::Value(Value::load(place, span));
    let mut out = vec![Stmt::new(StmtKind::Declare(mark, Some(init)), span)];
    let mut arms = Vec::new();
    for derived in classes_of(&cx.tables, Target::Destructor(class)) {
        let mut ends = Vec::new();
        let object = object_as(&cx.tables, id, derived, span);
        cleanup::destroy(cx, object, span, &mut ends);
        ends.push(Stmt::new(StmtKind::Return(None), span));
        if let Some(cond) = is_marked(&cx.tables, mark, &[derived], span) {
            arms.push((cond, ends));
        }
    }
    if !arms.is_empty() {
        let otherwise = Vec::new();
        out.push(Stmt::new(StmtKind::If { arms, otherwise }, span));
    }
    out.push(bad_object(span));
    cx.end_body(id, floor, params, out);
}
