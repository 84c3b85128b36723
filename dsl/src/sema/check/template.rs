//! Templates: what they declare, and their instances.
//!
//! An instance is the template's tree, checked again with its parameters bound to types and values: a separate function or record. There is
//! one instance for each list of arguments. A function's body is checked when the item that needs it is done, so that templates that use
//! themselves do not recurse here. Errors inside an instance say which one it is and what needed it.
//!
//! This module has the declarations of templates and the names that lead to them; the rest is in `arguments`, `deduce`,
//! `function_template`, `class_template` and `variable_template`.

pub(crate) mod arguments;
pub(crate) mod attempt;
pub(crate) mod class_template;
pub(crate) mod deduce;
pub(crate) mod function_template;
pub(crate) mod instances;
pub(crate) mod limit;
pub(crate) mod pack;
pub(crate) mod same;
pub(crate) mod survey;
pub(crate) mod variable_template;

use instances::keep;
pub(crate) use instances::{Instances, of_lambda};

use crate::sema::message::template::TemplateError;
use crate::sema::path;
use std::{cell::OnceCell, collections::HashMap, sync::Arc};

use self::attempt::Misfit;
use super::{
    Checked, Checker, Reported, class, decl, expr, method, overload::Argument, pointer_call,
    specifier,
};
use crate::{
    sema::{
        const_eval::Const,
        scope::{Binding, Blocks, Callable, Entity, TemplateId},
        ty::{QualTy, RecordId, Ty},
        typed::{FunctionId, GlobalVarId, PlaceKind, VarRef},
    },
    syntax::ast::{self, ExprKind, TemplateArg, TemplateKind, TemplateParamKind},
};
use ir::span::Span;

/// How many instances of a chain a message names.
const SHOWN: usize = 6;

/// The longest chain of instances that need one another: as in Clang, more than in g++ and nvcc.
const MAX_DEPTH: u32 = 1024;

/// The name of an instance in a message. A long one, whose arguments are instances of instances, is cut in the middle.
fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 160;
    let n = name.chars().count();
    if n <= MAX_CHARS {
        return name.to_string();
    }
    let begin = name.chars().take(MAX_CHARS / 2);
    let end = name.chars().skip(n - MAX_CHARS / 4);
    begin.chain(['…']).chain(end).collect()
}

/// A template.
pub(crate) struct TemplateFacts<'a> {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) params: &'a [ast::TemplateParam],
    pub(crate) item: &'a ast::Item,
    /// The function with its body, if `item` is only a prototype.
    definition: Option<(&'a [ast::TemplateParam], &'a ast::Function)>,
    functions: HashMap<Vec<Arg>, FunctionId>,
    records: HashMap<Vec<Arg>, RecordId>,
    /// Explicit and partial specialisations of a class.
    specialisations: Vec<(&'a [ast::TemplateParam], &'a ast::RecordSpecifier)>,
    /// Explicit and partial specialisations of a variable.
    pub(crate) variables: Vec<(&'a [ast::TemplateParam], &'a ast::Declaration)>,
    /// Variables in the device's memory.
    pub(crate) globals: HashMap<Vec<Arg>, GlobalVarId>,
    /// Variables that are constants: their values and types.
    constants: HashMap<Vec<Arg>, (Const, Ty)>,
    /// Member functions defined outside of the class.
    members: Vec<(&'a [ast::TemplateParam], &'a ast::Function)>,
    /// The namespace that contains it.
    namespace: Arc<str>,
    /// The class that it is a member of.
    class: Option<RecordId>,
    /// The blocks that contain it, for a generic lambda.
    blocks: Option<Arc<Blocks>>,
}

impl<'a> TemplateFacts<'a> {
    /// A new template: no instances, no specialisations, not a member.
    fn new(
        name: Arc<str>,
        span: Span,
        params: &'a [ast::TemplateParam],
        item: &'a ast::Item,
        namespace: Arc<str>,
    ) -> Self {
        let definition = match item {
            ast::Item::Function(function) if function.body.is_some() => Some((params, function)),
            _ => None,
        };
        Self {
            name,
            span,
            params,
            item,
            definition,
            functions: HashMap::new(),
            records: HashMap::new(),
            specialisations: Vec::new(),
            variables: Vec::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
            members: Vec::new(),
            namespace,
            class: None,
            blocks: None,
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// What a template parameter stands for in an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arg {
    Type(QualTy),
    /// An lvalue reference to this type: `T` where the argument for `T &&` is a variable.
    Reference(QualTy),
    Value(Ty, u64),
    Template(TemplateId),
    /// The elements of a parameter pack.
    Pack(Vec<Arg>),
}

/// What is known about a template parameter while a call is checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ArgState {
    Nothing,
    /// Written in `<…>`.
    Given(Arg),
    /// Deduced from an argument's type.
    Deduced(Arg),
}

impl ArgState {
    fn arg(self) -> Option<Arg> {
        match self {
            ArgState::Nothing => None,
            ArgState::Given(arg) | ArgState::Deduced(arg) => Some(arg),
        }
    }
}

/// A template's parameters by name, each with its meaning.
pub(crate) type Bound = Vec<(Arc<str>, Entity)>;

/// Where an instance's body is, and what needed it first.
#[derive(Clone)]
pub(crate) struct Instance {
    template: TemplateId,
    args: Vec<Arg>,
    /// The function that needed it, if any, and the place.
    needed: (Option<FunctionId>, Span),
    depth: u32,
    /// Whether it is an explicit specialisation, which has a separate body.
    is_special: bool,
    /// Whether its body has been requested.
    is_queued: bool,
}

/// A member function of a class's instance; its body is checked at the first call.
pub(crate) struct LazyBody {
    pub(crate) function: Option<ast::Function>,
    pub(crate) class: RecordId,
}

/// An instance of a class template.
#[derive(Clone)]
pub(crate) struct ClassInstance {
    pub(crate) template: TemplateId,
    pub(crate) args: Vec<Arg>,
    /// The parameters as bound in its body: a specialisation has different ones.
    bound: Bound,
    /// The index of the specialisation that it uses, if any.
    special: Option<usize>,
    needed: (Option<FunctionId>, Span),
    depth: u32,
}

/// An append-only list of trees that the checker makes and refers to.
#[derive(Default)]
pub(crate) struct TreeList {
    template: OnceCell<ast::Template>,
    next: OnceCell<Box<TreeList>>,
}

impl Drop for TreeList {
    fn drop(&mut self) {
        // In a loop: recursion over a long list would be deep.
        let mut next = self.next.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

/// `template …` at file scope.
pub(crate) fn check<'a>(cx: &mut Checker<'a>, template: &'a ast::Template) {
    match (&template.kind, &template.item) {
        (TemplateKind::Generic(params), ast::Item::Function(function))
            if path::is_qualified(&function.name.node) =>
        {
            if let Some(namespace) = cx.scopes.namespace_of_function(&function.name.node) {
                let inner = ast::Template {
                    item: ast::Item::Function(decl::function::without_scopes(function)),
                    ..template.clone()
                };
                let inner = keep(&mut cx.instances, &inner);
                let outside = cx.scopes.set_namespace(namespace);
                check(cx, inner);
                cx.scopes.set_namespace(outside);
                return;
            }
            class_template::member_of_template(cx, params, function);
        }
        (TemplateKind::Generic(params), item) => declare_template(cx, params, item, template.span),
        (TemplateKind::Specialisation, ast::Item::Function(function)) => {
            function_template::specialise(cx, function);
        }
        (TemplateKind::Specialisation, ast::Item::Declaration(declaration))
            if record_of(&template.item).is_none() =>
        {
            variable_template::specialise(cx, &[], declaration);
        }
        (TemplateKind::Specialisation, ast::Item::Declaration(declaration)) => {
            class_template::specialise(cx, &[], declaration, template.span);
        }
        (TemplateKind::Instantiation, ast::Item::Function(function)) => {
            if let Some(id) = function_template::specialised(cx, function) {
                if same::is_request(cx.map, function.name.span) {
                    cx.instances.requested.push((function.name.span, id));
                }
                function_template::need(cx, id);
            }
        }
        (TemplateKind::Instantiation, ast::Item::Declaration(declaration)) => {
            if let ast::TypeSpecifier::Record(record) = &declaration.specifiers.ty.node
                && let (Some(name), Some(args)) = (&record.name, &record.args)
            {
                // Errors in it have been reported; nothing else depends on it.
                let _ = class_template::templated_type(cx, &name.node, args, name.span);
            }
        }
        (_, ast::Item::Template(_)) => {
            cx.unsupported("a member template", template.span);
        }
        _ => {
            cx.unsupported("this form of a template", template.span);
        }
    }
}

/// `template <typename T> void f(T x) { … }` in a class.
pub(crate) fn member(cx: &mut Checker<'_>, class: RecordId, template: &ast::Template) {
    let template = keep(&mut cx.instances, template);
    let (TemplateKind::Generic(params), ast::Item::Function(function)) =
        (&template.kind, &template.item)
    else {
        cx.unsupported("this form of a member template", template.span);
        return;
    };
    let name = &function.name;
    if function.method.kind != ast::MethodKind::Plain {
        cx.unsupported("a template of a constructor or a conversion", name.span);
        return;
    }
    class::note_access(&mut cx.tables, &cx.open_classes, &name.node);
    method::note_operator(cx, &name.node, name.span);
    let owner = &cx.tables.record(class).name;
    let shown = format!("{owner}::{}", name.node).into();
    let namespace = cx.scopes.namespace();
    let id = cx.instances.templates.push(TemplateFacts {
        class: Some(class),
        ..TemplateFacts::new(shown, name.span, params, &template.item, namespace)
    });
    cx.scopes
        .add_method(name.node.clone(), Callable::Template(id), name.span);
}

/// The specifier of the class that a declaration declares.
fn record_of(item: &ast::Item) -> Option<&ast::RecordSpecifier> {
    match item {
        ast::Item::Declaration(declaration) => match &declaration.specifiers.ty.node {
            ast::TypeSpecifier::Record(record) => Some(record),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a class, alias or variable template; `None` if it is a specialisation, or invalid.
fn declared_template<'a>(
    cx: &mut Checker<'a>,
    params: &'a [ast::TemplateParam],
    item: &'a ast::Item,
    declaration: &'a ast::Declaration,
    span: Span,
) -> Option<ast::Name> {
    if let Some(record) = record_of(item) {
        if record.args.is_some() {
            class_template::specialise(cx, params, declaration, span);
            return None;
        }
        if record.name.is_none() {
            cx.unsupported("a template without a name", span);
        }
        return record.name.clone();
    }
    if let [declarator] = &declaration.declarators[..]
        && let Some(name) = &declarator.declarator.name
    {
        let specifiers = &declaration.specifiers;
        let is_alias = specifiers.word(ast::SpecifierWord::Typedef).is_some();
        if declarator.declarator.args.is_some() && !is_alias {
            variable_template::specialise(cx, params, declaration);
            return None;
        }
        return Some(name.clone());
    }
    cx.unsupported("this form of a template", span);
    None
}

/// A second declaration of a function template, which may have the body.
fn define_template<'a>(
    cx: &mut Checker<'a>,
    id: TemplateId,
    params: &'a [ast::TemplateParam],
    function: &'a ast::Function,
) {
    let facts = &mut cx.instances.templates[id];
    match (&function.body, facts.definition) {
        (Some(_), None) => facts.definition = Some((params, function)),
        (Some(_), Some((_, first))) => {
            let first = first.name.span;
            attempt::second_template(&cx.tables, &mut cx.reporter, &function.name, first, params);
        }
        (None, _) => {}
    }
}

/// Enters the template's name, so that its uses can make instances. Only instances are checked.
fn declare_template<'a>(
    cx: &mut Checker<'a>,
    params: &'a [ast::TemplateParam],
    item: &'a ast::Item,
    span: Span,
) {
    let early = params[..params.len().saturating_sub(1)]
        .iter()
        .find(|param| param.is_pack);
    if let Some(param) = early {
        let name = match item {
            ast::Item::Function(function) => Some(&function.name),
            _ => record_of(item).and_then(|record| record.name.as_ref()),
        };
        if let Some(name) = name {
            decl::declare_name(cx, name, Entity::Error);
        }
        cx.unsupported(
            "a parameter pack that is not the last parameter",
            param.span,
        );
        return;
    }
    let name = match item {
        ast::Item::Function(function) => function.name.clone(),
        ast::Item::Declaration(declaration) => {
            match declared_template(cx, params, item, declaration, span) {
                Some(name) => name,
                None => return,
            }
        }
        _ => {
            cx.unsupported("this form of a template", span);
            return;
        }
    };
    let in_prelude = cx.in_prelude(name.span);
    if let ast::Item::Function(function) = item {
        method::note_operator(cx, &name.node, name.span);
        if let Some(id) = same::same_template(cx, &name.node, params, function) {
            return define_template(cx, id, params, function);
        }
    } else if let Some(Entity::Template(id)) = cx
        .scopes
        .find_here(&name.node, in_prelude)
        .map(|found| found.entity.clone())
    {
        // For two declarations, the one with the members is the template.
        let has_members = record_of(item).is_some_and(|record| record.members.is_some());
        if has_members {
            let facts = &mut cx.instances.templates[id];
            (facts.params, facts.item) = (params, item);
        }
        return;
    }
    let namespace = cx.scopes.namespace();
    let id = cx.instances.templates.push(TemplateFacts::new(
        name.node.clone(),
        name.span,
        params,
        item,
        namespace,
    ));
    match item {
        ast::Item::Function(_) => {
            let callable = Callable::Template(id);
            cx.scopes
                .add_function(name.node.clone(), callable, name.span, in_prelude);
        }
        _ => decl::declare_name(cx, &name, Entity::Template(id)),
    }
}

/// A path as a plain name, with classes replaced by their numbers, and the arguments of its last part.
pub(crate) fn path_name<'p>(
    cx: &mut Checker<'_>,
    path: &'p ast::Path,
) -> Result<(Arc<str>, Option<&'p [TemplateArg]>), Reported> {
    let Some((last, scopes)) = path.segments.split_last() else {
        return Err(cx.body.reported_before(path.span));
    };
    let mut text = String::new();
    for segment in scopes {
        text.push_str(&segment.name.node);
        if let Some(args) = &segment.args {
            let at = segment.name.span;
            let class = match class_template::templated_type(cx, &text, args, at)?.ty {
                Ty::Record(class) => class,
                shown => return Err(cx.error(at, TemplateError::NoClass { shown })),
            };
            text = format!("#{}", class.0);
            cx.scopes.bind_class(text.as_str().into(), class, at);
        }
        text.push_str("::");
    }
    text.push_str(&last.name.node);
    Ok((text.into(), last.args.as_deref()))
}

/// A path in an expression: a member of a class's instance.
pub(crate) fn path_expr(
    cx: &mut Checker<'_>,
    path: &ast::Path,
    span: Span,
) -> Result<Checked, Reported> {
    let (name, args) = path_name(cx, path)?;
    let Some(args) = args else {
        return expr::name(cx, &name, span);
    };
    let value = match cx.scopes.find(&name).map(|found| found.entity.clone()) {
        Some(Entity::Functions(set)) => {
            pointer_call::function_value(cx, &name, &set, Some(args), span)
        }
        Some(Entity::Template(id)) if cx.instances.is_variable(id) => {
            return variable_template::instance(cx, id, args, span);
        }
        _ => {
            let name = name.to_string();
            Err(cx.error(span, TemplateError::InstanceIsNoValue { name }))
        }
    };
    value.map(Checked::Value)
}

/// A path as a type.
pub(crate) fn path_type(cx: &mut Checker<'_>, path: &ast::Path) -> Result<QualTy, Reported> {
    match path_name(cx, path)? {
        (name, Some(args)) => class_template::templated_type(cx, &name, args, path.span),
        (name, None) => specifier::named_type(cx, &name, path.span),
    }
}

/// `decltype(e)`: the declared type of a name, or the type of another expression's value.
pub(crate) fn decltype(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<QualTy, Reported> {
    cx.mode.unevaluated += 1;
    let checked = expr::check(cx, expr);
    cx.mode.unevaluated -= 1;
    let checked = checked?;
    // In a signature it is the reference type, for a parameter or the result.
    if let (None, Checked::Place(place)) = (cx.body.id, &checked)
        && let PlaceKind::Var(VarRef::Local(var)) = place.kind
        && cx.body.vars[var].typed.is_reference
        && matches!(expr.kind, ExprKind::Name(_))
    {
        let what = "`decltype` of a reference in a function's parameters or result";
        return Err(cx.unsupported(what, expr.span));
    }
    Ok(match checked {
        Checked::Place(place)
            if matches!(
                expr.kind,
                ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Arrow(..)
            ) =>
        {
            place.ty
        }
        Checked::Place(place) => place.ty.ty.into(),
        Checked::Value(value) => value.ty.into(),
    })
}

/// The instances that a call of a name can mean: one of each template that its arguments fit.
pub(crate) fn instances(
    cx: &mut Checker<'_>,
    set: &[Callable],
    explicit: Option<&[TemplateArg]>,
    args: &[Argument<'_>],
    at: Span,
) -> Vec<FunctionId> {
    let mut misfits = Vec::new();
    let ids = instances_giving(cx, set, explicit, args, None, at, &mut misfits);
    if ids.is_empty() {
        attempt::report_written(&mut cx.reporter, misfits);
    }
    ids
}

/// The same for a specialisation, whose result is written; also returns why the other templates do not fit.
pub(crate) fn instances_giving(
    cx: &mut Checker<'_>,
    set: &[Callable],
    explicit: Option<&[TemplateArg]>,
    args: &[Argument<'_>],
    result: Option<&QualTy>,
    at: Span,
    misfits: &mut Vec<(TemplateId, Box<Misfit>)>,
) -> Vec<FunctionId> {
    let mut ids = Vec::new();
    for callable in set {
        let Callable::Template(id) = callable else {
            continue;
        };
        let explicit = explicit.unwrap_or_default();
        match deduce::deduce_call(cx, *id, explicit, args, result, at) {
            Ok(id) => ids.push(id),
            Err(misfit) => misfits.push((*id, misfit)),
        }
    }
    ids
}

/// The meaning of a parameter's name if the parameter stands for this.
fn entity_of(arg: &Arg) -> Entity {
    match arg {
        Arg::Type(ty) => Entity::Typedef(ty.clone()),
        Arg::Reference(ty) => Entity::Reference(ty.clone()),
        Arg::Value(ty, bits) => Entity::Constant(ty.clone(), *bits),
        Arg::Template(id) => Entity::Template(*id),
        Arg::Pack(args) => Entity::Pack(
            args.iter()
                .map(|arg| Binding {
                    entity: entity_of(arg),
                    span: Span::default(),
                })
                .collect(),
        ),
    }
}

/// Records what a parameter stands for; `false` if that conflicts with what is known.
fn learn(known: &mut [ArgState], index: usize, arg: Arg, param: &ast::TemplateParam) -> bool {
    let fits = matches!(
        (&param.kind, &arg),
        (_, Arg::Pack(_))
            | (TemplateParamKind::Type(_), Arg::Type(_) | Arg::Reference(_))
            | (TemplateParamKind::Value { .. }, Arg::Value(..))
            | (TemplateParamKind::Template, Arg::Template(_))
    );
    if !fits {
        return false;
    }
    match (&known[index], &arg) {
        (ArgState::Nothing, _) => {
            known[index] = ArgState::Deduced(arg);
            true
        }
        // An explicit argument is not deduced: the call's argument will be converted.
        (ArgState::Given(_), _) => true,
        // The type of a value comes from its parameter.
        (ArgState::Deduced(Arg::Value(_, old)), Arg::Value(_, new)) => old == new,
        (ArgState::Deduced(old), new) => old == new,
    }
}
