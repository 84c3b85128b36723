//! Function templates: their instances, when bodies are checked, and which instance a message is about.

use crate::sema::message::template::TemplateError;
use crate::sema::path;
use std::sync::Arc;

use super::super::{
    Checker, FunctionEntry, Reporter, Tables, all, arguments, attempt, class, class_template,
    function::{self, reference_part},
    overload::Argument,
    pack, specifier, survey,
    template::{self, Instances},
};
use super::{Arg, Bound, Instance, MAX_DEPTH, SHOWN, attempt::Misfit, limit, shortened};
use crate::{
    sema::{
        scope::{Entity, TemplateId},
        ty::Ty,
        typed::{FunctionId, FunctionSpace, Value, ValueKind},
    },
    stack,
    syntax::ast,
};
use ir::span::Span;

/// Declares the instance with these arguments; fails if its signature is invalid for them.
pub(crate) fn declare(
    cx: &mut Checker<'_>,
    id: TemplateId,
    args: Vec<Arg>,
    at: Span,
) -> Result<FunctionId, Box<Misfit>> {
    let facts = &cx.instances.templates[id];
    if let Some(&known) = facts.functions.get(&args) {
        return Ok(known);
    }
    let ast::Item::Function(function) = facts.item else {
        return Err(Box::default());
    };
    let depth = depth_of(&cx.tables, &cx.instances, cx.body.id) + 1;
    let name = facts.name.clone();
    let shown = format!(
        "{}{}",
        name,
        arguments::show_args(&cx.tables, &cx.instances, &args)
    );
    if depth > MAX_DEPTH {
        if cx
            .reporter
            .reported_once
            .insert((None, format!("template depth {name}")))
        {
            cx.error(
                at,
                TemplateError::InstanceDepth {
                    most: MAX_DEPTH,
                    last: shortened(&shown).to_string(),
                    declared: cx.instances.templates[id].span,
                },
            );
        }
        return Err(Box::default());
    }
    if !limit::takes_instance(cx, id, &shown, at) {
        return Err(Box::default());
    }
    let facts = &cx.instances.templates[id];
    let bound = arguments::bindings(facts.params, &args);
    let outer = std::mem::take(&mut cx.body);
    let class = facts.class;
    let declared = attempt::run(cx, |cx| {
        arguments::bound(cx, id, &bound, |cx| {
            let floor = cx.scopes.raise_floor();
            cx.scopes.enter();
            cx.instances.names_params = true;
            let declared = match class {
                Some(class) => class::new_method(cx, class, function, &shown),
                None => function::new_function(cx, function, &shown),
            };
            cx.instances.names_params = false;
            cx.scopes.leave();
            cx.scopes.set_floor(floor);
            declared
        })
    });
    cx.body = outer;
    let declared = declared.map_err(Misfit::of)?;
    cx.instances.functions.insert(
        declared,
        Instance {
            template: id,
            args: args.clone(),
            needed: (cx.body.id, at),
            depth,
            is_special: false,
            is_queued: false,
        },
    );
    cx.instances.templates[id].functions.insert(args, declared);
    Ok(declared)
}

/// The parameters of a kernel template that has no instance.
pub(crate) fn unused_kernel<'a>(
    instances: &Instances<'a>,
    id: TemplateId,
) -> Option<&'a [ast::TemplateParam]> {
    let facts = &instances.templates[id];
    let ast::Item::Function(function) = facts.item else {
        return None;
    };
    let is_used = |id: &FunctionId| {
        let instance = instances.functions.get(id);
        instance.is_some_and(|instance| instance.is_queued)
    };
    let is_unused = !facts.functions.values().any(is_used) && survey::is_kernel(function);
    (is_unused && facts.definition.is_some()).then_some(facts.params)
}

/// Makes the instance with these arguments, and requests its body.
pub(crate) fn instantiate_with<'a>(
    cx: &mut Checker<'a>,
    id: TemplateId,
    params: &'a [ast::TemplateParam],
    known: Vec<Option<Arg>>,
) -> Option<FunctionId> {
    let args = attempt::run(cx, |cx| {
        arguments::complete_args(cx, id, params, known).ok()
    })
    .ok()?;
    let span = cx.instances.templates[id].span;
    let shown = arguments::show_args(&cx.tables, &cx.instances, &args);
    let function = declare(cx, id, args, span).ok()?;
    cx.instances.made_up.insert(function, shown);
    need(cx, function);
    Some(function)
}

/// The template that a function or its class is an instance of, with the arguments for its parameters and the members of the class.
pub(crate) fn bindings_of(
    tables: &Tables,
    instances: &Instances<'_>,
    id: FunctionId,
) -> Option<(TemplateId, Bound)> {
    if let Some(instance) = instances.functions.get(&id) {
        let params = instances.templates[instance.template].params;
        return Some((
            instance.template,
            arguments::bindings(params, &instance.args),
        ));
    }
    let class = tables.functions[id].facts.class?;
    let instance = instances.classes.get(&class)?;
    Some((instance.template, instance.bound.clone()))
}

/// Whether a template of this name has been reported as needing itself without end.
pub(crate) fn is_endless(reporter: &Reporter, name: &str) -> bool {
    reporter
        .reported_once
        .contains(&(None, format!("template depth {name}")))
}

pub(crate) fn depth_of(
    tables: &Tables,
    instances: &Instances<'_>,
    function: Option<FunctionId>,
) -> u32 {
    let Some(id) = function else { return 0 };
    if let Some(instance) = instances.functions.get(&id) {
        return instance.depth;
    }
    let class = tables.functions[id].facts.class;
    class
        .and_then(|class| instances.classes.get(&class))
        .map_or(0, |instance| instance.depth)
}

/// Records the use of an instance or of a member of one: its body will be checked.
pub(crate) fn need(cx: &mut Checker<'_>, id: FunctionId) {
    if let Some(instance) = cx.instances.functions.get_mut(&id)
        && !instance.is_queued
    {
        instance.is_queued = true;
        cx.instances.needed.push(id);
        let template = instance.template;
        let is_auto = matches!(
            &cx.instances.templates[template].item,
            ast::Item::Function(function)
                if matches!(function.specifiers.ty.node, ast::TypeSpecifier::Auto)
        );
        if is_auto {
            // Its result type is needed now.
            cx.instances.needed.pop();
            check_instance(cx, id);
        }
    }
}

/// Checks the body of an instance, or of a member of one, before its turn.
pub(crate) fn check_early(cx: &mut Checker<'_>, id: FunctionId) {
    let unevaluated = std::mem::take(&mut cx.mode.unevaluated);
    match cx.instances.lazy.remove(&id) {
        Some(lazy) => class_template::lazy_body(cx, id, lazy),
        None => {
            check_instance(cx, id);
        }
    }
    cx.mode.unevaluated = unevaluated;
}

/// Checks the bodies of the instances that are needed, and of those that these need.
pub(crate) fn check_needed(cx: &mut Checker<'_>, is_end: bool) {
    let mut waiting = Vec::new();
    while !cx.instances.limit.is_exceeded() {
        class_template::need_members(cx);
        let Some(id) = cx.instances.needed.pop() else {
            break;
        };
        if !check_instance(cx, id) && !is_end {
            waiting.push(id);
        }
    }
    cx.instances.needed = waiting;
}

fn check_instance(cx: &mut Checker<'_>, id: FunctionId) -> bool {
    let Some(instance) = cx.instances.functions.get(&id).cloned() else {
        return true;
    };
    if instance.is_special || cx.tables.functions[id].facts.is_defined {
        return true;
    }
    let facts = &cx.instances.templates[instance.template];
    let Some((params, function)) = facts.definition else {
        return false;
    };
    cx.tables.functions[id].facts.is_defined = true;
    let bound = arguments::bindings(params, &instance.args);
    in_instance(cx, id, instance.template, &bound, function, instance.needed);
    true
}

/// Checks a body with a template's parameters bound; adds the instance to its errors.
pub(crate) fn in_instance(
    cx: &mut Checker<'_>,
    id: FunctionId,
    template: TemplateId,
    bound: &[(Arc<str>, Entity)],
    function: &ast::Function,
    needed: (Option<FunctionId>, Span),
) {
    let is_host = cx.tables.functions[id].typed.space == FunctionSpace::Host;
    if cx.options.skip_host && is_host && !cx.tables.functions[id].facts.is_constexpr {
        cx.tables.functions[id].facts.is_skipped = true;
        return;
    }
    // The definition may have other names for the parameters than the declaration.
    let hidden = usize::from(cx.tables.functions[id].facts.has_this);
    let own = &mut cx.tables.functions[id].facts.params[hidden..];
    let declared = pack::declared(own, &function.params);
    for (own, param) in own.iter_mut().zip(declared) {
        own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
    }
    let n_diagnostics = cx.reporter.diagnostics.len();
    let outer = std::mem::take(&mut cx.body);
    cx.reporter.attempts.bodies += 1;
    stack::level(|| arguments::bound(cx, template, bound, |cx| function::body(cx, id, function)));
    cx.body = outer;
    explain_instance(cx, n_diagnostics, id, needed);
    cx.reporter.attempts.bodies -= 1;
    attempt::keep_explained(&mut cx.reporter, n_diagnostics);
}

/// Adds to the messages since `from` which instance they are in; removes those that another instance has already.
fn explain_instance(
    cx: &mut Checker<'_>,
    from: usize,
    id: FunctionId,
    mut needed: (Option<FunctionId>, Span),
) {
    if cx.reporter.diagnostics.len() == from {
        return;
    }
    let mut notes = Vec::new();
    let mut n_more = 0;
    let mut name = cx.tables.functions[id].typed.name.clone();
    // The place where the program needs a function of the library, and that function.
    let mut asked = None;
    loop {
        if asked.is_none() && !cx.options.is_own(needed.1) {
            asked = Some((needed.1, name.clone(), notes.len() + n_more + 1));
        }
        if notes.len() < SHOWN {
            let site = cx.map.use_site(needed.1);
            let line = cx.map.file(site.file).line_column(site.start).0;
            let shown = shortened(&name);
            notes.push(format!("in the instance `{shown}`, needed at line {line}"));
        } else {
            n_more += 1;
        }
        let Some(outer) = needed.0 else { break };
        let Some(instance) = cx.instances.functions.get(&outer) else {
            break;
        };
        name = cx.tables.functions[outer].typed.name.clone();
        needed = instance.needed;
    }
    let n_instances = notes.len();
    if n_more > 0 {
        notes.push(format!("and so on, {n_more} more"));
    }
    let own = cx.reporter.diagnostics.split_off(from);
    for mut diagnostic in own {
        if cx.options.is_own(diagnostic.primary.span)
            && let Some((span, name, n_inner)) = &asked
        {
            let library = cx.map.file(diagnostic.primary.span.file).name.clone();
            diagnostic.primary.span = *span;
            diagnostic.labels.clear();
            diagnostic.notes = vec![format!("in the instance `{name}` of {library}")];
            let outer = notes.iter().skip(*n_inner).cloned();
            diagnostic.notes.extend(outer);
            diagnostic.n_instances = 1 + n_instances.saturating_sub(*n_inner);
        }
        let key = (diagnostic.code, diagnostic.primary.span);
        let known = cx.reporter.reported_in_instances.entry(key).or_default();
        let is_first = *known == 0;
        // Messages of inner instances have been counted.
        if is_first || diagnostic.n_instances == 0 {
            *known += 1;
        }
        if is_first {
            if diagnostic.n_instances == 0 {
                diagnostic.notes.extend(notes.iter().cloned());
                diagnostic.n_instances = n_instances;
            }
            cx.reporter.diagnostics.push(diagnostic);
        }
    }
}

/// Adds to each message about an instance in how many instances it is true.
pub(crate) fn count_instances(reporter: &mut Reporter) {
    for diagnostic in &mut reporter.diagnostics {
        let key = (diagnostic.code, diagnostic.primary.span);
        let known = reporter.reported_in_instances.get(&key);
        let first = diagnostic.notes.len().checked_sub(diagnostic.n_instances);
        if let (Some(n @ 2..), Some(first)) = (known, first)
            && let Some(note) = diagnostic.notes.get_mut(first)
            && let Some(shown) = note.strip_prefix("in the instance")
        {
            *note = format!("in {n} instances, one of them{shown}");
        }
    }
}

/// The instance that `template <> void f<float>(float x)` is about.
pub(crate) fn specialised(cx: &mut Checker<'_>, function: &ast::Function) -> Option<FunctionId> {
    let name = &function.name;
    let set = match cx.scopes.find(&name.node).map(|found| found.entity.clone()) {
        Some(Entity::Functions(set)) => set,
        _ => Arc::from([]),
    };
    let params = function.params.iter();
    let types = all(params.map(|param| specifier::param_type(cx, param)));
    let explicit = function.declarator.args.as_deref().unwrap_or_default();
    let (_, parts) = reference_part(&function.declarator.parts);
    let result = match function.specifiers.ty.node {
        ast::TypeSpecifier::Auto => None,
        _ => {
            let base = specifier::base_type_not_auto(cx, &function.specifiers);
            Some(specifier::declared_type(cx, base, parts))
        }
    };
    let types: Vec<Ty> = types.ok()?.into_iter().map(|ty| ty.ty).collect();
    let result = result.transpose().ok()?;
    // Deduces from arguments of its parameters' types.
    let values: Vec<Argument<'_>> = types
        .iter()
        .zip(&function.params)
        .map(|(ty, param)| Argument::Value(Value::new(ValueKind::Int(0), ty.clone(), param.span)))
        .collect();
    // A request from the command line has no result.
    let result = result.filter(|_| !template::same::is_request(cx.map, name.span));
    let mut misfits = Vec::new();
    let ids = template::instances_giving(
        cx,
        &set,
        Some(explicit),
        &values,
        result.as_ref(),
        name.span,
        &mut misfits,
    );
    // If there are several, the one with the same parameters.
    let same = |id: &&FunctionId| {
        let params = &cx.tables.functions[**id].facts.params;
        params.iter().map(|param| &param.ty.ty).eq(types.iter())
    };
    let found = ids
        .iter()
        .filter(same)
        .max_by_key(|id| cx.instances.specificity(**id));
    if let Some(id) = found {
        return Some(*id);
    }
    // A request from the command line has no parameters.
    if let ([id], true) = (&ids[..], template::same::is_request(cx.map, name.span)) {
        return Some(*id);
    }
    if attempt::report_written(&mut cx.reporter, misfits) {
        return None;
    }
    cx.error(
        name.span,
        TemplateError::NoTemplateForInstance {
            name: name.node.to_string(),
        },
    );
    None
}

pub(crate) fn specialise<'a>(cx: &mut Checker<'a>, function: &'a ast::Function) {
    if path::is_qualified(&function.name.node) {
        cx.unsupported("a specialisation of a member function", function.name.span);
        return;
    }
    let Some(id) = specialised(cx, function) else {
        return;
    };
    if let Some(instance) = cx.instances.functions.get_mut(&id) {
        instance.is_special = true;
        instance.is_queued = true;
    }
    let FunctionEntry { typed, facts } = &mut cx.tables.functions[id];
    for (own, param) in facts.params.iter_mut().zip(&function.params) {
        own.name = param.declarator.name.as_ref().map(|name| name.node.clone());
        own.span = param
            .declarator
            .name
            .as_ref()
            .map_or(param.span, |name| name.span);
    }
    facts.declared = function.name.span;
    typed.span = function.name.span;
    if function.body.is_none() || facts.is_defined {
        return;
    }
    facts.is_defined = true;
    if cx.options.skip_host && typed.space == FunctionSpace::Host {
        facts.is_skipped = true;
        return;
    }
    function::body(cx, id, function);
}
