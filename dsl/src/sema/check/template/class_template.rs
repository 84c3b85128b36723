//! Class templates: their instances, their specialisations, and members whose bodies are checked when they are first called.

use super::super::{
    Checker, FunctionEntry, Reported, arguments, attempt, deduce, function_template, record,
    specifier, template, unknown::standard_near, variable_template,
};
use super::{Arg, ArgState, ClassInstance, LazyBody, MAX_DEPTH, SHOWN, limit, shortened};
use crate::sema::message::template::TemplateError;
use crate::sema::path;
use crate::{
    sema::{
        scope::{Entity, TemplateId},
        ty::{QualTy, Record, RecordId, Ty},
        typed::FunctionId,
    },
    stack,
    syntax::ast::{self, TemplateArg},
};
use ir::span::Span;

/// Checks the members of instances that have been called since the last time.
pub(crate) fn need_members(cx: &mut Checker<'_>) {
    // Without waiting members there is no need to search all calls.
    while !cx.instances.lazy.is_empty() {
        // Calls are recorded in the caller's facts; this looks at new ones.
        let mut found = Vec::new();
        for FunctionEntry { facts, .. } in &mut cx.tables.functions {
            let new = facts.calls.get(facts.n_followed..).unwrap_or_default();
            let callees = new.iter().map(|(callee, _)| *callee);
            found.extend(callees.filter(|callee| cx.instances.lazy.contains_key(callee)));
            facts.n_followed = facts.calls.len();
        }
        if found.is_empty() {
            return;
        }
        for callee in found {
            if let Some(lazy) = cx.instances.lazy.remove(&callee) {
                lazy_body(cx, callee, lazy);
            }
        }
    }
}

/// `Tile<float, 4>` as a type; also an instance of an alias template.
pub(crate) fn templated_type(
    cx: &mut Checker<'_>,
    name: &str,
    args: &[TemplateArg],
    span: Span,
) -> Result<QualTy, Reported> {
    let found = cx.scopes.find(name).map(|found| found.entity.clone());
    let id = match found {
        Some(Entity::Template(id)) => id,
        Some(Entity::Error) => return Err(cx.body.reported_before(span)),
        _ => return Err(unknown_template(cx, name, span)),
    };
    let params = cx.instances.templates[id].params;
    let args = variable_template::all_args(cx, id, args, span)?;
    if cx.instances.is_variable(id) {
        let name = name.to_string();
        return Err(cx.error(span, TemplateError::VariableAsType { name }));
    }
    match cx.instances.templates[id].item {
        ast::Item::Declaration(declaration)
            if template::record_of(cx.instances.templates[id].item).is_none() =>
        {
            if !limit::takes_alias(cx, id, span) {
                return Err(cx.body.reported_before(span));
            }
            let bound = arguments::bindings(params, &args);
            arguments::bound(cx, id, &bound, |cx| {
                let base = specifier::base_type_not_auto(cx, &declaration.specifiers);
                match declaration.declarators.first() {
                    Some(first) => specifier::declared_type(cx, base, &first.declarator.parts),
                    None => base,
                }
            })
        }
        _ => class_instance(cx, id, args, span),
    }
}

fn unknown_template(cx: &mut Checker<'_>, name: &str, span: Span) -> Reported {
    let library = name.strip_prefix("std::").is_some()
        || name.starts_with("thrust::")
        || name.starts_with("cub::")
        || name.starts_with("cuda::");
    let key = format!("template {name}");
    let message = match library {
        true => TemplateError::UnsupportedLibraryType {
            name: name.to_string(),
            near: standard_near(name),
        },
        false => TemplateError::NoClassTemplate {
            name: name.to_string(),
        },
    };
    cx.once(key, span, message)
}

/// The class that a template makes for these arguments. There is one for each list of arguments, made when it is first needed.
fn class_instance(
    cx: &mut Checker<'_>,
    id: TemplateId,
    args: Vec<Arg>,
    span: Span,
) -> Result<QualTy, Reported> {
    let facts = &cx.instances.templates[id];
    if let Some(&record) = facts.records.get(&args) {
        return Ok(Ty::Record(record).into());
    }
    let depth = function_template::depth_of(&cx.tables, &cx.instances, cx.body.id)
        .max(cx.instances.class_depth)
        + 1;
    let shown = format!(
        "{}{}",
        facts.name,
        arguments::show_args(&cx.tables, &cx.instances, &args)
    );
    if depth > MAX_DEPTH {
        return Err(report_class_depth(cx, id, &shown, span));
    }
    if !limit::takes_instance(cx, id, &shown, span) {
        return Err(cx.body.reported_before(span));
    }
    let (special, params, specifier, own_args) = match specialisation(cx, id, &args) {
        Some((index, own_args)) => {
            let (params, specifier) = cx.instances.templates[id].specialisations[index];
            (Some(index), params, specifier, own_args)
        }
        None => {
            let facts = &cx.instances.templates[id];
            let Some(specifier) = template::record_of(facts.item) else {
                return Err(cx.body.reported_before(span));
            };
            (None, facts.params, specifier, args.clone())
        }
    };
    let declared = cx.instances.templates[id].span;
    let record = cx.tables.records.push(Record {
        name: shown,
        is_union: specifier.is_union,
        is_vector: false,
        fields: Vec::new(),
        size_bytes: 0,
        data_bytes: 0,
        align_bytes: 0,
        units: Vec::new(),
        span: Some(declared),
    });
    cx.instances.templates[id]
        .records
        .insert(args.clone(), record);
    let bound = arguments::bindings(params, &own_args);
    let needed = (cx.body.id, span);
    cx.instances.classes.insert(
        record,
        ClassInstance {
            template: id,
            args,
            bound: bound.clone(),
            special,
            needed,
            depth,
        },
    );
    let facts = &cx.instances.templates[id];
    if cx.options.is_own(facts.span) && path::last(&facts.name) == "initializer_list" {
        cx.tables.initializer_lists.insert(record);
    }
    let Some(members) = &specifier.members else {
        return Ok(Ty::Record(record).into());
    };
    let n_diagnostics = cx.reporter.diagnostics.len();
    apart(cx, depth, |cx| {
        arguments::bound(cx, id, &bound, |cx| {
            cx.instances.class_params = bound.clone();
            record::complete_record(cx, record, specifier, members, declared);
        });
    });
    note_instance(cx, n_diagnostics, record, span);
    attempt::keep_hard(&mut cx.reporter, n_diagnostics);
    Ok(Ty::Record(record).into())
}

/// Makes an instance as if at file scope: outside the function and the classes that need it.
fn apart<'a>(cx: &mut Checker<'a>, depth: u32, make: impl FnOnce(&mut Checker<'a>)) {
    let body = std::mem::take(&mut cx.body);
    let open_classes = std::mem::take(&mut cx.open_classes);
    let outer_depth = std::mem::replace(&mut cx.instances.class_depth, depth);
    stack::level(|| make(cx));
    cx.instances.class_depth = outer_depth;
    cx.open_classes = open_classes;
    cx.body = body;
}

/// Reports instances of a class that need one another without end, once.
fn report_class_depth(cx: &mut Checker<'_>, id: TemplateId, shown: &str, span: Span) -> Reported {
    let facts = &cx.instances.templates[id];
    let name = facts.name.clone();
    let declared = facts.span;
    let key = format!("template depth {name}");
    let message = TemplateError::ClassInstanceDepth {
        most: MAX_DEPTH,
        name: name.to_string(),
        last: shortened(shown).to_string(),
        declared,
    };
    cx.once(key, span, message)
}

/// Adds to the messages since `from` that they are about the instance `record`, needed at `span`.
fn note_instance(cx: &mut Checker<'_>, from: usize, record: RecordId, span: Span) {
    if cx.reporter.diagnostics.len() == from {
        return;
    }
    let site = cx.map.use_site(span);
    let line = cx.map.file(site.file).line_column(site.start).0;
    let name = shortened(&cx.tables.records[record].name);
    for diagnostic in &mut cx.reporter.diagnostics[from..] {
        match diagnostic.n_instances {
            n if n < SHOWN => {
                let note = format!("in the instance `{name}`, needed at line {line}");
                diagnostic.notes.push(note);
            }
            SHOWN => diagnostic.notes.push("and so on".to_string()),
            _ => {}
        }
        diagnostic.n_instances += 1;
    }
}

/// The best-matching specialisation of a class, and the arguments for its parameters.
fn specialisation(cx: &mut Checker<'_>, id: TemplateId, args: &[Arg]) -> Option<(usize, Vec<Arg>)> {
    let all = &cx.instances.templates[id].specialisations;
    let all = all.iter();
    let all = all.map(|(params, specifier)| (*params, specifier.args.as_deref()));
    let all = all.collect();
    best_specialisation(cx, id, all, args)
}

/// The best match among these specialisations, each given by its parameters and the arguments after its name.
pub(crate) fn best_specialisation<'a>(
    cx: &mut Checker<'a>,
    id: TemplateId,
    all: Vec<(&'a [ast::TemplateParam], Option<&'a [TemplateArg]>)>,
    args: &[Arg],
) -> Option<(usize, Vec<Arg>)> {
    let mut found: Option<(usize, Vec<Arg>)> = None;
    for (index, (params, written)) in all.into_iter().enumerate() {
        let Some(written) = written else {
            continue;
        };
        let mut known = vec![ArgState::Nothing; params.len()];
        if !deduce::deduce_args(cx, params, written, args, &mut known) {
            continue;
        }
        let own = known.into_iter().map(ArgState::arg);
        let Some(own) = own.collect::<Option<Vec<Arg>>>() else {
            continue;
        };
        // With its parameters substituted, its arguments must be exactly these.
        let template_params = cx.instances.templates[id].params;
        let bound = arguments::bindings(params, &own);
        let deduced = attempt::run(cx, |cx| {
            arguments::bound(cx, id, &bound, |cx| {
                let given = arguments::explicit_args(cx, template_params, written).ok()?;
                let known = given.into_iter().map(Some).collect();
                arguments::complete_args(cx, id, template_params, known).ok()
            })
        });
        if deduced.ok().as_deref() != Some(args) {
            continue;
        }
        // The one with fewer parameters counts as more specialised.
        if found
            .as_ref()
            .is_none_or(|(_, best)| own.len() < best.len())
        {
            found = Some((index, own));
        }
    }
    found
}

pub(crate) fn specialise<'a>(
    cx: &mut Checker<'a>,
    params: &'a [ast::TemplateParam],
    declaration: &'a ast::Declaration,
    span: Span,
) {
    let ast::TypeSpecifier::Record(record) = &declaration.specifiers.ty.node else {
        cx.unsupported("this form of a template", span);
        return;
    };
    let Some(name) = &record.name else {
        cx.unsupported("a template without a name", span);
        return;
    };
    match cx.scopes.find(&name.node).map(|found| found.entity.clone()) {
        Some(Entity::Template(id)) => cx.instances.templates[id]
            .specialisations
            .push((params, record)),
        Some(Entity::Error) => {}
        _ => {
            unknown_template(cx, &name.node, name.span);
        }
    }
}

/// `template <typename T> void Tile<T>::f() { … }`.
pub(crate) fn member_of_template<'a>(
    cx: &mut Checker<'a>,
    params: &'a [ast::TemplateParam],
    function: &'a ast::Function,
) {
    let Some((class, _)) = path::split(&function.name.node) else {
        return;
    };
    match cx.scopes.find(class).map(|found| found.entity.clone()) {
        Some(Entity::Template(id)) => cx.instances.templates[id].members.push((params, function)),
        Some(Entity::Error) => {}
        _ => {
            let error = TemplateError::NotDeclaredThere {
                name: function.name.node.to_string(),
                scope: class.to_string(),
            };
            cx.error(function.name.span, error);
        }
    }
}

/// Checks the body of an instance's member function, which may be defined inside or outside its class.
pub(crate) fn lazy_body(cx: &mut Checker<'_>, id: FunctionId, lazy: LazyBody) {
    let Some(instance) = cx.instances.classes.get(&lazy.class).cloned() else {
        return;
    };
    let (bound, function) = match lazy.function {
        Some(function) => (instance.bound.clone(), function),
        None => {
            if instance.special.is_some() {
                return;
            }
            let own = &cx.tables.functions[id].typed.name;
            let last = path::last(own).to_string();
            let facts = &cx.tables.functions[id].facts;
            let n_params = facts.params.len() - usize::from(facts.has_this);
            let members = &cx.instances.templates[instance.template].members;
            let found = members.iter().find(|(_, function)| {
                let name = Some(path::last(&function.name.node));
                name == Some(&last) && function.params.len() == n_params
            });
            let Some(&(params, function)) = found else {
                return;
            };
            let bound = arguments::bindings(params, &instance.args);
            (bound, function.clone())
        }
    };
    cx.tables.functions[id].facts.is_defined = true;
    function_template::in_instance(
        cx,
        id,
        instance.template,
        &bound,
        &function,
        instance.needed,
    );
}
