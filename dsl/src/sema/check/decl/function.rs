//! Functions: declarations against definitions, what kernels and `main` must look like, bodies.

pub(crate) mod rules;

use crate::sema::check::{
    Body, Checker, FunctionEntry, FunctionFacts, ParamFacts, Reported, Reporter, Tables, VarFacts,
    body, class, cleanup, decl, forward, label, marked, members, method, pack, record, specifier,
    startup, virtuals,
};
use crate::sema::message::decl::DeclError;
use crate::sema::path;
use crate::{
    sema::{
        classify::pointer_to,
        scope::{Callable, Entity},
        ty::{QualTy, Ty},
        typed::{Function, FunctionId, FunctionSpace, Stmt, StmtKind, Storage, Var, VarId},
    },
    syntax::ast::{self, DeclaratorPart, MethodKind, SpecifierWord},
};
use ir::span::Span;

/// What a function's name means before this declaration.
enum Before {
    Nothing,
    /// This function.
    Same(FunctionId),
    /// Something else, which has been reported.
    Conflict,
}

/// A function at file scope.
pub(crate) fn check(cx: &mut Checker<'_>, function: &ast::Function) {
    if path::is_qualified(&function.name.node) {
        if let Some(namespace) = cx.scopes.namespace_of_function(&function.name.node) {
            let outside = cx.scopes.set_namespace(namespace);
            check(cx, &without_scopes(function));
            cx.scopes.set_namespace(outside);
            return;
        }
        return class::definition::method_definition(cx, function);
    }
    let Some(id) = declare(cx, function) else {
        return;
    };
    if function.body.is_none() {
        return;
    }
    let facts = &cx.tables.functions[id].facts;
    if facts.is_defined {
        let first = cx.tables.functions[id].typed.span;
        cx.error(
            function.name.span,
            DeclError::FunctionDefinedTwice {
                name: function.name.node.to_string(),
                first,
            },
        );
        return;
    }
    cx.tables.functions[id].facts.is_defined = true;
    cx.tables.functions[id].typed.span = function.name.span;
    let is_host = cx.tables.functions[id].typed.space == FunctionSpace::Host;
    if cx.options.skip_host && is_host && !cx.tables.functions[id].facts.is_constexpr {
        cx.tables.functions[id].facts.is_skipped = true;
        return;
    }
    body(cx, id, function);
}

/// `int a::f() { … }` as it would be written in the namespace `a`.
pub(crate) fn without_scopes(function: &ast::Function) -> ast::Function {
    let name = &function.name;
    ast::Function {
        name: ast::Name::new(path::last(&name.node).into(), name.span),
        ..function.clone()
    }
}

/// The first use of a prelude function.
pub(crate) fn use_prelude(cx: &mut Checker<'_>, index: usize) -> Option<FunctionId> {
    if let Some(&id) = cx.prelude.used.get(&index) {
        return Some(id);
    }
    let ast::Item::Function(function) = cx.items[index] else {
        return None;
    };
    let hidden = cx.scopes.only_prelude();
    let id = declare(cx, function);
    cx.scopes.restore(hidden);
    let id = id?;
    cx.scopes.use_prelude(&function.name.node, index, id);
    cx.prelude.used.insert(index, id);
    cx.tables.functions[id].facts.is_defined = true;
    cx.prelude.queue.push((id, index));
    Some(id)
}

/// Finds or makes the function that a declaration is about.
pub(crate) fn declare(cx: &mut Checker<'_>, function: &ast::Function) -> Option<FunctionId> {
    declare_as(cx, function, None)
}

/// An instance of a template, shown as `shown`; no scope has a name for it.
pub(crate) fn new_function(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    shown: &str,
) -> Option<FunctionId> {
    declare_as(cx, function, Some(shown))
}

/// Declares a function. `shown` is an instance's name with its arguments, which is in no scope.
fn declare_as(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    shown: Option<&str>,
) -> Option<FunctionId> {
    rules::refuse_misplaced(cx, function);
    method::note_operator(cx, &function.name.node, function.name.span);
    let specifiers = &function.specifiers;
    let space = space_of(specifiers);
    let params = pack::params(cx, &function.params);
    let (result, deduces) = written_result(cx, function);
    if function.variadic {
        cx.unsupported("a function with `...`", function.span);
    }
    if space == FunctionSpace::Kernel {
        rules::check_kernel_params(&cx.tables, &mut cx.reporter, function, &params);
    }
    if let Ok(result) = &result {
        rules::check_result(cx, function, space, result);
    }
    let reference = reference_part(&function.declarator.parts).0;
    if let Some((span, true)) = reference {
        cx.unsupported("a function that returns an rvalue reference", span);
    }
    let (result, returns_reference) = returned_type(result, reference.is_some());
    if shown.is_none() {
        match function_before(cx, function, &params) {
            Before::Same(id) => return redeclare(cx, id, function, space, &result, params),
            Before::Conflict => return None,
            Before::Nothing => {}
        }
    }
    rules::check_defaults(&cx.tables, &mut cx.reporter, &params);
    let launch_bounds = launch_bounds(cx, function, space);
    let typed = Function {
        name: match (shown, &*cx.scopes.namespace()) {
            (Some(shown), _) => shown.to_string(),
            (None, "") => function.name.node.to_string(),
            (None, namespace) => format!("{namespace}::{}", function.name.node),
        },
        space,
        result,
        returns_reference,
        launch_bounds,
        span: function.name.span,
        ..Function::default()
    };
    let facts = FunctionFacts {
        params,
        declared: function.name.span,
        deduces,
        is_constexpr: specifiers.word(SpecifierWord::Constexpr).is_some(),
        ..FunctionFacts::default()
    };
    let id = cx.tables.functions.push(FunctionEntry { typed, facts });
    if shown.is_some() {
        return Some(id);
    }
    let callable = Callable::Function(id);
    // Functions in the library's namespaces go next to the templates there, and are found after the program's names.
    let of_library = !cx.scopes.namespace().is_empty() && cx.in_prelude(function.name.span);
    cx.scopes.add_function(
        function.name.node.clone(),
        callable,
        function.name.span,
        of_library,
    );
    if &*function.name.node == "main" {
        rules::check_main(&cx.tables, &mut cx.reporter, id, function);
    }
    Some(id)
}

/// A function's result as written, and whether it is deduced from its first `return`.
fn written_result(
    cx: &mut Checker<'_>,
    function: &ast::Function,
) -> (Result<QualTy, Reported>, bool) {
    let specifiers = &function.specifiers;
    let (reference, parts) = reference_part(&function.declarator.parts);
    let deduces = matches!(specifiers.ty.node, ast::TypeSpecifier::Auto)
        && parts.is_empty()
        && reference.is_none()
        && function.body.is_some();
    let base = match deduces {
        true => Ok(Ty::Void.into()),
        false => specifier::base_type_not_auto(cx, specifiers),
    };
    (specifier::declared_type(cx, base, parts), deduces)
}

/// What the function's name already means at file scope; reports a conflict.
fn function_before(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    params: &[ParamFacts],
) -> Before {
    let name = &function.name;
    let Some(old) = cx.scopes.find_at_file(&name.node).cloned() else {
        return Before::Nothing;
    };
    let first = old.span;
    match old.entity {
        Entity::Functions(set) => {
            let declared = set.iter().filter_map(|callable| match callable {
                Callable::Function(id) => Some(*id),
                Callable::Unused(_) | Callable::Template(_) => None,
            });
            let same =
                |id: &FunctionId| same_params(&cx.tables.functions[*id].facts.params, params);
            if let Some(id) = declared.into_iter().find(same) {
                return Before::Same(id);
            }
            if &*name.node != "main" {
                return Before::Nothing;
            }
            cx.error(name.span, DeclError::SecondMain { first });
        }
        Entity::Error => return Before::Nothing,
        _ => {
            let shown = name.node.to_string();
            cx.error(
                name.span,
                DeclError::AlreadySomethingElse { name: shown, first },
            );
        }
    }
    Before::Conflict
}

pub(crate) fn param(cx: &mut Checker<'_>, param: &ast::Param) -> ParamFacts {
    let reference = forward::param_reference(&cx.scopes, param);
    let ty = specifier::param_type(cx, param);
    let name = param.declarator.name.as_ref();
    let span = name.map_or(param.span, |name| name.span);
    let ty = ty.and_then(|ty| match &ty.ty {
        Ty::Void => Err(cx.error(span, DeclError::VoidParameter)),
        Ty::Record(id)
            if cx.tables.size_of(&ty.ty).is_none()
                && reference.is_none()
                && !class::is_open(&cx.open_classes, *id) =>
        {
            Err(cx.error(span, DeclError::IncompleteParameter { ty: ty.ty }))
        }
        _ => Ok(ty),
    });
    // An rvalue reference is treated as a value of the function.
    ParamFacts {
        name: name.map(|name| name.node.clone()),
        ty: marked(ty),
        span,
        default: param.default.clone(),
        is_reference: matches!(reference, Some((_, false))),
        is_rvalue: matches!(reference, Some((_, true))),
        is_this: false,
        is_of_pack: param.is_pack,
    }
}

/// A second declaration must agree with the first.
fn redeclare(
    cx: &mut Checker<'_>,
    id: FunctionId,
    function: &ast::Function,
    space: FunctionSpace,
    result: &Ty,
    params: Vec<ParamFacts>,
) -> Option<FunctionId> {
    let old = &cx.tables.functions[id].typed;
    let facts = &cx.tables.functions[id].facts;
    let declared = facts.declared;
    let name = function.name.node.to_string();
    let are_understood = result.is_understood() && old.result.is_understood();
    let message = if old.result != *result && are_understood {
        Some(DeclError::OtherResult { name, declared })
    } else if old.space != space {
        Some(DeclError::OtherSpace {
            name,
            space,
            before: old.space,
            declared,
        })
    } else {
        None
    };
    if let Some(message) = message {
        cx.error(function.name.span, message);
        return None;
    }
    let launch_bounds = launch_bounds(cx, function, space);
    merge_params(
        &mut cx.tables,
        &mut cx.reporter,
        id,
        params,
        function.body.is_some(),
    );
    let old = &mut cx.tables.functions[id].typed;
    old.launch_bounds = old.launch_bounds.or(launch_bounds);
    Some(id)
}

/// Merges defaults of parameters over the declarations; names are the definition's.
fn merge_params(
    tables: &mut Tables,
    reporter: &mut Reporter,
    id: FunctionId,
    params: Vec<ParamFacts>,
    is_definition: bool,
) {
    let old = std::mem::take(&mut tables.functions[id].facts.params);
    let merged = old.into_iter().zip(params).map(|(old, mut new)| {
        if let (Some(first), Some(second)) = (&old.default, &new.default) {
            reporter.error(
                tables,
                second.span,
                DeclError::DefaultTwice { first: first.span },
            );
        }
        let default = old.default.clone().or(new.default.take());
        let facts = if is_definition { new } else { old };
        ParamFacts { default, ..facts }
    });
    let merged = merged.collect();
    tables.functions[id].facts.params = merged;
}

fn launch_bounds(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    space: FunctionSpace,
) -> Option<(u32, Option<u32>)> {
    let bounds = function.specifiers.launch_bounds.as_ref()?;
    if space != FunctionSpace::Kernel {
        cx.error(bounds.span, DeclError::LaunchBoundsOnFunction);
        return None;
    }
    let mut values = Vec::new();
    for expr in &bounds.node {
        let n = record::constant_int(cx, expr, "a launch bound").ok()?;
        match u32::try_from(n) {
            Ok(n) if n > 0 || !values.is_empty() => values.push(n),
            _ => {
                cx.error(expr.span, DeclError::LaunchBoundsValue { n });
                return None;
            }
        }
    }
    Some((*values.first()?, values.get(1).copied()))
}

/// Checks a function's body and stores it.
pub(crate) fn body(cx: &mut Checker<'_>, id: FunctionId, function: &ast::Function) {
    let Some(block) = &function.body else { return };
    let element = cx.scopes.at_element(None);
    cx.forget_reported();
    cx.tables.functions[id].facts.extent = Some(function.span.to(block.span));
    let floor = cx.begin_body(id);
    cx.body.name = path::last(&function.name.node).into();
    cx.body.deduces = cx.tables.functions[id].facts.deduces;
    cx.body.named_result = crate::sema::check::named_result::named_result(block);
    let class = cx.body.class;
    let depth = class::enter_scopes(&cx.tables, &mut cx.scopes, class);
    cx.scopes.enter();
    let params = cx.tables.functions[id].facts.params.clone();
    let mut ids = body::hidden_param(&cx.tables, &mut cx.body, id);
    // The launch destroys a kernel's arguments.
    let is_kernel = cx.tables.functions[id].typed.space == FunctionSpace::Kernel;
    declare_params(cx, function, &params, &mut ids);
    pack::declare(cx, &function.params, &params, &ids);
    let mut body = Vec::new();
    if let (MethodKind::Constructor, Some(class)) = (function.method.kind, class) {
        let span = function.name.span;
        members::check(cx, class, &function.method.inits, span, &mut body);
    }
    if let (MethodKind::Destructor, Some(class)) = (function.method.kind, class)
        && let Some(this) = cx.body.this_place(function.name.span)
        && (!block.stmts.is_empty() || cx.tables.has_member_destructors(Some(class)))
    {
        // The members of derived classes have ended: from here on the object is one of this class.
        virtuals::set_mark(&cx.tables, this, class, function.name.span, &mut body);
    }
    cleanup::enter(&mut cx.body);
    if !is_kernel {
        note_params(&cx.tables, &mut cx.body, &ids);
    }
    if class.is_none() && &*function.name.node == "main" {
        startup::start(cx, &mut body);
    }
    label::labelled(cx, &block.stmts, &mut body);
    cleanup::leave(cx, &mut body, block.span);
    if function.method.kind == MethodKind::Destructor
        && let Some(this) = cx.body.this_place(function.name.span)
        && cx.tables.has_member_destructors(class)
    {
        if body.iter().any(returns) {
            cx.unsupported("`return` in a destructor", function.name.span);
        }
        cleanup::destroy_members(cx, this, function.name.span, &mut body);
    }
    cx.scopes.leave();
    for _ in 0..depth {
        cx.scopes.leave();
    }
    rules::check_end(&cx.tables, &mut cx.reporter, id, function, &mut body);
    cx.end_body(id, floor, ids, body);
    cx.scopes.leave_element(element);
}

/// Makes the variables of the parameters after the hidden ones, and enters their names.
fn declare_params(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    params: &[ParamFacts],
    ids: &mut Vec<VarId>,
) {
    let written = &params[ids.len()..];
    let declared = pack::declared(written, &function.params);
    for (param, declared) in written.iter().zip(declared) {
        let is_restrict = matches!(
            declared.declarator.parts.first(),
            Some(DeclaratorPart::Pointer {
                is_restrict: true,
                ..
            })
        );
        let var = cx.body.add_var(Var {
            name: param.name.as_deref().unwrap_or("").to_string(),
            align_bytes: cx.tables.align_of(&param.ty.ty),
            ty: param.ty.clone(),
            storage: Storage::Auto,
            address_taken: false,
            is_reference: param.is_reference,
            is_restrict,
            span: param.span,
        });
        cx.body.vars[var].facts = VarFacts::default();
        ids.push(var);
        if let Some(name) = &declared.declarator.name
            && !declared.is_pack
        {
            decl::declare_name(cx, name, Entity::Local(var));
        }
    }
}

/// The function destroys arguments that are passed by value.
pub(crate) fn note_params(tables: &Tables, body: &mut Body, params: &[VarId]) {
    for &param in params {
        if !body.vars[param].typed.is_reference {
            cleanup::note_object(tables, body, param);
        }
    }
}

/// Whether two declarations are of one function.
pub(crate) fn same_params(old: &[ParamFacts], new: &[ParamFacts]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(old, new)| {
            // `const T &` and `T &` are different parameters, `const T` and `T` are not.
            old.ty.ty == new.ty.ty
                && old.is_reference == new.is_reference
                && old.is_rvalue == new.is_rvalue
                && (!old.is_reference || old.ty == new.ty)
        })
}

/// Where a function runs according to its specifiers.
pub(crate) fn space_of(specifiers: &ast::Specifiers) -> FunctionSpace {
    let has = |word| specifiers.word(word).is_some();
    match (
        has(SpecifierWord::Global),
        has(SpecifierWord::Device),
        has(SpecifierWord::Host),
    ) {
        (true, _, _) => FunctionSpace::Kernel,
        (_, true, true) => FunctionSpace::HostDevice,
        (_, true, false) => FunctionSpace::Device,
        // `constexpr` functions run on both sides, as with nvcc's --expt-relaxed-constexpr.
        (_, false, false) if has(SpecifierWord::Constexpr) => FunctionSpace::HostDevice,
        (_, false, _) => FunctionSpace::Host,
    }
}

/// The type of a function's result, which is an address if it returns a reference, and whether it does.
pub(crate) fn returned_type(result: Result<QualTy, Reported>, is_reference: bool) -> (Ty, bool) {
    match result {
        Ok(referee) if is_reference => (pointer_to(referee), true),
        value => (marked(value).ty, false),
    }
}

/// The reference that a declarator begins with (its place, and whether it is `&&`) and the parts after it.
pub(crate) fn reference_part(
    parts: &[DeclaratorPart],
) -> (Option<(Span, bool)>, &[DeclaratorPart]) {
    match parts.split_first() {
        Some((DeclaratorPart::Reference(span), rest)) => (Some((*span, false)), rest),
        Some((DeclaratorPart::RvalueReference(span), rest)) => (Some((*span, true)), rest),
        _ => (None, parts),
    }
}

/// Whether there is a `return` in it.
fn returns(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(body) | StmtKind::Loop { body, .. } | StmtKind::Labelled { body, .. } => {
            body.iter().any(returns)
        }
        StmtKind::If { arms, otherwise } => {
            otherwise.iter().any(returns) || arms.iter().any(|(_, body)| body.iter().any(returns))
        }
        StmtKind::Switch { sections, .. } => sections
            .iter()
            .any(|section| section.body.iter().any(returns)),
        StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_) => false,
    }
}
