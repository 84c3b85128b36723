//! Lambdas: an unnamed class whose members are the captures and whose `operator()` is the code.
//!
//! Captures are found while the body is checked: a name that means a variable of an enclosing function becomes a member of the class. A
//! variable captured by reference is a member that points to it.
//!
//! `generic` has what is different for `[](auto x) { … }`.

pub(crate) mod generic;
mod used;

use crate::sema::message::class::ClassError;
use std::sync::Arc;

use self::generic::Captured;
use crate::sema::check::{
    Body, Checked, Checker, FunctionEntry, FunctionFacts, Reported, Tables, VarEntry, VarFacts,
    access, all, body, class, cleanup, decl, expr, function, label, specifier, temporary,
};
use crate::{
    sema::{
        classify::pointer_to,
        const_eval::Const,
        layout,
        scope::{Callable, Entity},
        ty::{Field, QualTy, Record, RecordId, Ty},
        typed::{
            Function, FunctionId, FunctionSpace, Place, PlaceKind, Storage, Value, ValueKind, Var,
            VarId,
        },
    },
    syntax::ast::{self, CaptureKind, SpecifierWord},
};
use ir::{diagnostic::Diagnostic, span::Span};

/// What a lambda captures, while its body is checked.
pub(crate) struct Captures {
    class: RecordId,
    default: Option<CaptureKind>,
    /// The names in the brackets.
    named: Vec<(Arc<str>, CaptureKind)>,
    /// What the members are, in order.
    found: Vec<(Arc<str>, CaptureKind, Span)>,
}

/// The facts about a lambda whose code has been checked.
pub(crate) struct LambdaFacts {
    class: RecordId,
    found: Vec<(Arc<str>, CaptureKind, Span)>,
    /// Its messages, until they are reported.
    diagnostics: Vec<Diagnostic>,
}

/// `[=](int i) { … }`: its value is an object with the captures. Its code is checked once, however often the expression is.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    lambda: &ast::Lambda,
    span: Span,
) -> Result<Value, Reported> {
    if cx.body.id.is_none() {
        return Err(cx.unsupported("a lambda outside of a function", span));
    }
    let key = (cx.body.id, span);
    if !cx.tables.lambdas.contains_key(&key) {
        let facts = match generic::is_generic(lambda) {
            true => generic::checked(cx, lambda)?,
            false => checked_lambda(cx, lambda)?,
        };
        cx.tables.lambdas.insert(key, facts);
    }
    let Some(facts) = cx.tables.lambdas.get_mut(&key) else {
        return Err(cx.body.reported_before(span));
    };
    let (class, found) = (facts.class, facts.found.clone());
    let mut members = Vec::new();
    if cx.mode.unevaluated == 0 {
        let diagnostics = std::mem::take(&mut facts.diagnostics);
        cx.reporter.diagnostics.extend(diagnostics);
        for capture in &lambda.captures {
            if let Some(init) = &capture.init {
                let value = expr::value(cx, init);
                members.push(value.and_then(|value| temporary::copied(cx, value)));
            }
        }
        for (name, kind, at) in found {
            members.push(captured(cx, &name, kind, at));
        }
    }
    let kind = ValueKind::Aggregate(all(members)?);
    Ok(Value::new(kind, Ty::Record(class), span))
}

/// The variables in a lambda's brackets; those with an initialiser become members at once.
fn named_captures(
    cx: &mut Checker<'_>,
    class: RecordId,
    lambda: &ast::Lambda,
) -> Result<Vec<(Arc<str>, CaptureKind)>, Reported> {
    let mut named = Vec::new();
    for capture in &lambda.captures {
        if &*capture.name.node == "this" {
            let what = "`this` and members of a class in a lambda";
            return Err(cx.unsupported(what, capture.name.span));
        }
        match &capture.init {
            None => named.push((capture.name.node.clone(), capture.kind)),
            Some(init) if capture.kind == CaptureKind::Value => {
                cx.mode.unevaluated += 1;
                let value = expr::value(cx, init);
                cx.mode.unevaluated -= 1;
                add_member(&mut cx.tables, class, &capture.name.node, value?.ty.into());
            }
            Some(_) => {
                let what = "a capture by reference with a value";
                return Err(cx.unsupported(what, capture.name.span));
            }
        }
    }
    Ok(named)
}

/// The parameters of a lambda's function as variables of its body.
fn lambda_params(cx: &mut Checker<'_>, id: FunctionId, lambda: &ast::Lambda, ids: &mut Vec<VarId>) {
    let params = cx.tables.functions[id].facts.params.clone();
    for (param, declared) in params[1..].iter().zip(&lambda.params) {
        let var = cx.body.add_var(Var {
            name: param.name.as_deref().unwrap_or("").to_string(),
            align_bytes: cx.tables.align_of(&param.ty.ty),
            ty: param.ty.clone(),
            storage: Storage::Auto,
            address_taken: false,
            is_reference: param.is_reference,
            is_restrict: false,
            span: param.span,
        });
        cx.body.vars[var].facts = VarFacts::default();
        ids.push(var);
        if let Some(name) = &declared.declarator.name {
            decl::declare_name(cx, name, Entity::Local(var));
        }
    }
}

fn checked_lambda(cx: &mut Checker<'_>, lambda: &ast::Lambda) -> Result<LambdaFacts, Reported> {
    let class = lambda_class(&mut cx.tables, lambda.span);
    let named = named_captures(cx, class, lambda)?;
    let n_diagnostics = cx.reporter.diagnostics.len();
    let unevaluated = std::mem::take(&mut cx.mode.unevaluated);
    let id = lambda_function(cx, class, lambda);
    let floor = cx.begin_body(id);
    cx.body.lambda = Some(Captures {
        class,
        default: lambda.default,
        named,
        found: Vec::new(),
    });
    cx.body.name = "operator()".into();
    cx.body.deduces = lambda.result.is_none();
    cx.body.named_result = crate::sema::check::named_result::named_result(&lambda.body);
    cx.body.class = cx.outer_bodies.last().and_then(|outer| outer.class);
    cx.scopes.enter();
    let mut ids = body::hidden_param(&cx.tables, &mut cx.body, id);
    for capture in &lambda.captures {
        if capture.init.is_some() {
            let name = capture.name.clone();
            cx.scopes
                .bind(name.node, Entity::Member(class), name.span, false);
        }
    }
    lambda_params(cx, id, lambda, &mut ids);
    let mut body = Vec::new();
    cleanup::enter(&mut cx.body);
    function::note_params(&cx.tables, &mut cx.body, &ids);
    label::labelled(cx, &lambda.body.stmts, &mut body);
    cleanup::leave(cx, &mut body, lambda.body.span);
    cx.scopes.leave();
    let found = cx.body.lambda.take().map(|captures| captures.found);
    cx.end_body(id, floor, ids, body);
    cx.mode.unevaluated = unevaluated;
    finish_class(&mut cx.tables, class);
    Ok(LambdaFacts {
        class,
        found: found.unwrap_or_default(),
        diagnostics: cx.reporter.diagnostics.split_off(n_diagnostics),
    })
}

fn lambda_class(tables: &mut Tables, span: Span) -> RecordId {
    let class = tables.records.push(Record {
        name: "lambda".to_string(),
        is_union: false,
        is_vector: false,
        fields: Vec::new(),
        size_bytes: 1,
        data_bytes: 1,
        align_bytes: 1,
        units: Vec::new(),
        span: Some(span),
    });
    tables.classes.insert(class, class::ClassFacts::default());
    class
}

fn add_member(tables: &mut Tables, class: RecordId, name: &str, ty: QualTy) {
    tables.records[class].fields.push(Field {
        name: name.to_string(),
        ty,
        offset_bytes: 0,
        bits: None,
    });
}

fn finish_class(tables: &mut Tables, class: RecordId) {
    let mut fields = std::mem::take(&mut tables.records[class].fields);
    let placed = layout::place_fields(
        &mut fields,
        &[],
        layout::RecordKind::Struct,
        1,
        &tables.records,
    );
    let record = &mut tables.records[class];
    record.fields = fields;
    (record.size_bytes, record.align_bytes) =
        placed.map_or((1, 1), |extent| (extent.size_bytes, extent.align_bytes));
    record.data_bytes = record.size_bytes;
}

/// Where a lambda's code runs: as its specifiers say, else where the enclosing function runs.
fn lambda_space(cx: &Checker<'_>, lambda: &ast::Lambda) -> FunctionSpace {
    let has = |word| lambda.words.iter().any(|spanned| spanned.node == word);
    match (has(SpecifierWord::Device), has(SpecifierWord::Host)) {
        (true, true) => FunctionSpace::HostDevice,
        (true, false) => FunctionSpace::Device,
        (false, _) => match cx.body.space {
            Some(FunctionSpace::Kernel | FunctionSpace::Device) => FunctionSpace::Device,
            Some(FunctionSpace::HostDevice) => FunctionSpace::HostDevice,
            Some(FunctionSpace::Host) | None => FunctionSpace::Host,
        },
    }
}

fn lambda_function(cx: &mut Checker<'_>, class: RecordId, lambda: &ast::Lambda) -> FunctionId {
    let space = lambda_space(cx, lambda);
    let (result, returns_reference) = match &lambda.result {
        None => (Ty::Void, false),
        Some(ty) => {
            let (reference, parts) = function::reference_part(&ty.declarator.parts);
            let base = specifier::base_type_not_auto(cx, &ty.specifiers);
            let ty = specifier::declared_type(cx, base, parts);
            function::returned_type(ty, reference.is_some())
        }
    };
    let mut params = vec![class::this_param(class, !lambda.is_mutable, lambda.span)];
    params.extend(lambda.params.iter().map(|param| function::param(cx, param)));
    let typed = Function {
        name: "lambda".to_string(),
        space,
        result,
        returns_reference,
        span: lambda.span,
        ..Function::default()
    };
    let facts = FunctionFacts {
        params,
        declared: lambda.span,
        class: Some(class),
        has_this: true,
        is_defined: true,
        ..FunctionFacts::default()
    };
    let id = cx.tables.functions.push(FunctionEntry { typed, facts });
    cx.scopes.enter();
    cx.scopes
        .add_method("operator()".into(), Callable::Function(id), lambda.span);
    cx.scopes.close_class(class, None);
    cx.tables.lambda_functions.push((class, id));
    id
}

/// The value of a captured variable where the lambda is made.
fn captured(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    kind: CaptureKind,
    span: Span,
) -> Result<Value, Reported> {
    let (name, element) = match name.split_once('#') {
        Some((pack, element)) => (pack.into(), element.parse().ok()),
        None => (name.clone(), None),
    };
    let around = cx.scopes.at_element(element);
    let named = expr::name(cx, &name, span);
    cx.scopes.leave_element(around);
    let place = match named? {
        Checked::Place(place) => place,
        Checked::Value(value) => return Ok(value),
    };
    if kind == CaptureKind::Reference {
        access::take_address(&mut cx.body, &cx.mode, &place);
        return Ok(Value {
            ty: pointer_to(place.ty.clone()),
            kind: ValueKind::AddressOf(Box::new(place)),
            span,
        });
    }
    let value = crate::sema::check::method::place_value(place);
    temporary::copied(cx, value)
}

/// The member of a lambda's class that holds a captured variable, made when first used: its index.
fn capture(
    tables: &mut Tables,
    body: &mut Body,
    class: RecordId,
    name: &Arc<str>,
    kind: CaptureKind,
    ty: &QualTy,
    span: Span,
) -> usize {
    let found = body.lambda.as_ref().map(|captures| &captures.found);
    let n_found = found.map_or(0, Vec::len);
    let known = found.and_then(|found| found.iter().position(|(found, ..)| found == name));
    let n_fields = tables.record(class).fields.len();
    if let Some(index) = known {
        return n_fields - n_found + index;
    }
    let member = match kind {
        CaptureKind::Value => QualTy {
            is_const: ty.is_const,
            ..ty.ty.clone().into()
        },
        CaptureKind::Reference => pointer_to(ty.clone()).into(),
    };
    add_member(tables, class, name, member);
    if let Some(captures) = &mut body.lambda {
        captures.found.push((name.clone(), kind, span));
    }
    n_fields
}

/// A variable of an enclosing function.
struct Around {
    /// Which element of a parameter pack it is.
    element: Option<usize>,
    ty: QualTy,
    constant: Option<Const>,
    storage: Storage,
    declared: Span,
}

/// The variable of an enclosing function that a name means.
fn around(cx: &Checker<'_>, name: &str) -> Option<Around> {
    if let Some(found) = cx.scopes.find_outer(name) {
        let mut bodies = cx.outer_bodies.iter().rev();
        let owner = bodies.find(|body| body.id.is_some() && body.floor <= found.depth)?;
        let VarEntry { typed, facts } = &owner.vars[found.var];
        return Some(Around {
            element: found.element,
            ty: typed.ty.clone(),
            constant: facts.constant,
            storage: typed.storage,
            declared: typed.span,
        });
    }
    // In a lambda inside a generic one: what the outer one has captured.
    let own = cx.body.lambda.as_ref()?.class;
    let Entity::Captured(captured) = &cx.scopes.find(name)?.entity else {
        return None;
    };
    match &**captured {
        Captured::Member {
            class,
            ty,
            declared,
            ..
        } if *class != own => Some(Around {
            element: cx.scopes.element_of(name),
            ty: ty.clone(),
            constant: None,
            storage: Storage::Auto,
            declared: *declared,
        }),
        Captured::Member { .. } | Captured::Constant(..) => None,
    }
}

/// What a variable of an enclosing function is in a lambda.
enum Outer {
    /// A constant is used by its value and not captured.
    Constant(QualTy, Const),
    /// It is captured, or will be.
    Captured {
        /// Its name among the captures: an element of a pack has its number in the name.
        name: Arc<str>,
        kind: CaptureKind,
        ty: QualTy,
        declared: Span,
    },
}

/// The outer variable that a name means, if any, and if the lambda may use it.
fn outer_variable(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    span: Span,
) -> Result<Option<Outer>, Reported> {
    let Some(Around {
        element,
        ty,
        constant,
        storage,
        declared,
    }) = around(cx, name)
    else {
        return Ok(None);
    };
    cx.body.known(&ty.ty, span)?;
    if let Some(constant) = constant {
        return Ok(Some(Outer::Constant(ty, constant)));
    }
    let Some(captures) = &cx.body.lambda else {
        return Err(cx.error(
            span,
            ClassError::OuterVariable {
                name: name.to_string(),
                declared,
            },
        ));
    };
    let own: Arc<str> = match element {
        Some(element) => format!("{name}#{element}").into(),
        None => name.clone(),
    };
    let known = captures.found.iter().find(|(found, ..)| *found == own);
    let named = captures.named.iter().find(|(named, _)| named == name);
    let kind = match (known, named, captures.default) {
        (Some((_, kind, _)), ..) => *kind,
        (None, Some((_, kind)), _) => *kind,
        (None, None, Some(kind)) => kind,
        (None, None, None) => {
            return Err(cx.error(
                span,
                ClassError::NotCaptured {
                    name: name.to_string(),
                    declared,
                },
            ));
        }
    };
    if storage != Storage::Auto && kind == CaptureKind::Value {
        return Err(cx.unsupported("a copy of a shared variable in a lambda", span));
    }
    Ok(Some(Outer::Captured {
        name: own,
        kind,
        ty,
        declared,
    }))
}

/// A name that means a variable of an enclosing function: in a lambda, it becomes a capture.
pub(crate) fn outer_name(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    span: Span,
) -> Result<Option<Checked>, Reported> {
    let (own, kind, ty) = match outer_variable(cx, name, span)? {
        None => return Ok(None),
        Some(Outer::Constant(ty, constant)) => {
            let value = Value::new(constant.kind(), ty.ty, span);
            return Ok(Some(Checked::Value(value)));
        }
        Some(Outer::Captured { name, kind, ty, .. }) => (name, kind, ty),
    };
    let Some(class) = cx.body.lambda.as_ref().map(|captures| captures.class) else {
        return Err(cx.body.reported_before(span));
    };
    let index = capture(&mut cx.tables, &mut cx.body, class, &own, kind, &ty, span);
    let Some(this) = cx.body.this_place(span) else {
        return Err(cx.body.reported_before(span));
    };
    let member = cx.tables.field_place(this, index as u32, span);
    Ok(Some(Checked::Place(variable(member, kind, ty, span))))
}

/// The variable that a member of a lambda's object holds.
fn variable(member: Place, kind: CaptureKind, ty: QualTy, span: Span) -> Place {
    match kind {
        CaptureKind::Value => member,
        CaptureKind::Reference => {
            let pointer = Value::load(member, span);
            Place::new(PlaceKind::Deref(Box::new(pointer)), ty, span)
        }
    }
}

/// The captures of a generic lambda, while an instance is checked: all are known and are members already.
pub(crate) fn of_instance(tables: &Tables, class: Option<RecordId>) -> Option<Captures> {
    let class = class.filter(|class| tables.generic_lambdas.contains_key(class))?;
    Some(Captures {
        class,
        default: None,
        named: Vec::new(),
        found: Vec::new(),
    })
}
