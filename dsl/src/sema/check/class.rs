//! Classes: what a struct has besides data. Their members, access to them, and declarations of their functions.
//!
//! A member function is a function whose first parameter is a reference to its object, called `this`. A base class is an unnamed first
//! member. Bodies are checked when the outermost class is complete, so that they see all members.

pub(crate) mod this;

use crate::sema::check::tables::MemberWords;
use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use std::{collections::HashMap, sync::Arc};

use super::{
    Checker, FunctionEntry, FunctionFacts, ParamFacts, Tables,
    function::{self, reference_part, returned_type, space_of},
    pack, specifier,
    template::{self, LazyBody},
};
use crate::{
    sema::{
        scope::Callable,
        ty::{Field, QualTy, RecordId, Ty},
        typed::{Function, FunctionId, FunctionSpace},
    },
    syntax::ast::{self, Access, MethodKind, Special, SpecifierWord},
};
use ir::span::Span;

pub(crate) mod allocate;
pub(crate) mod construct;
pub(crate) mod definition;
pub(crate) mod implicit;
pub(crate) mod lambda;
pub(crate) mod method;
pub(crate) mod virtuals;

/// What is known of a class besides its layout.
#[derive(Clone, Default, Debug)]
pub(crate) struct ClassFacts {
    /// The base class, which is its first, unnamed member.
    pub(crate) base: Option<RecordId>,
    /// The class that contains its declaration.
    pub(super) outer: Option<RecordId>,
    /// Members with restricted access.
    access: HashMap<Arc<str>, Access>,
    pub(crate) constructors: Vec<FunctionId>,
    /// The user-declared copy constructor.
    pub(crate) copy: Option<FunctionId>,
    /// The memberwise assignment that the compiler writes, once it is needed.
    pub(crate) assign: Option<FunctionId>,
    /// `S() = default`.
    pub(crate) is_defaulted: bool,
    pub(crate) destructor: Option<FunctionId>,
    pub(crate) conversions: Vec<FunctionId>,
    /// First values of members, by index.
    pub(crate) defaults: HashMap<u32, Arc<ast::Init>>,
    friends: Vec<FunctionId>,
    friend_classes: Vec<Arc<str>>,
    /// The constructor without parameters that the compiler writes, once it is needed.
    pub(crate) implicit_default: Option<FunctionId>,
    /// If it has virtual functions: their table and its mark.
    pub(crate) virtuals: Option<virtuals::Virtuals>,
    pub(crate) pod: Pod,
}

/// Whether a class is "plain old data" in the sense of C++03. If it is not, a derived class has members in its padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Pod {
    /// No constructor, destructor, base, private data or virtual function, and no member of a class that has one.
    #[default]
    Yes,
    /// Compilers differ.
    Unclear,
    /// It is not.
    No,
}

/// A member function whose body waits until the class is complete.
pub(crate) struct PendingBody {
    id: FunctionId,
    function: ast::Function,
}

/// A class whose members are being read.
pub(crate) struct OpenClass {
    pub(crate) id: RecordId,
    pub(crate) access: Access,
    pub(crate) pending: Vec<PendingBody>,
}

/// Begins a class: its names go into a new scope.
pub(crate) fn open(
    cx: &mut Checker<'_>,
    id: RecordId,
    specifier: &ast::RecordSpecifier,
    fields: &mut Vec<Field>,
) {
    let mut facts = ClassFacts {
        outer: cx.open_classes.last().map(|open| open.id).or(cx.body.class),
        ..ClassFacts::default()
    };
    let base = base_class(cx, specifier);
    facts.base = base;
    if base.is_some() {
        facts.pod = Pod::No;
    }
    cx.tables.classes.insert(id, facts);
    cx.scopes.enter();
    for (name, entity) in std::mem::take(&mut cx.instances.class_params) {
        cx.scopes.bind(name, entity, Span::default(), false);
    }
    if let Some(name) = &specifier.name
        && (!cx.in_prelude(name.span) || cx.instances.classes.contains_key(&id))
    {
        cx.scopes
            .bind_tag(name.node.clone(), Ty::Record(id), name.span, false);
    }
    if let Some(base) = base {
        fields.push(Field {
            name: String::new(),
            ty: Ty::Record(base).into(),
            offset_bytes: 0,
            bits: None,
        });
    }
    let virtuals = virtuals::open(cx, specifier, base, fields);
    if let Some(facts) = cx.tables.classes.get_mut(&id) {
        if virtuals.is_some() {
            facts.pod = Pod::No;
        }
        facts.virtuals = virtuals;
    }
    // While the class is open, members of its base are names, too.
    let access = match specifier.is_class {
        true => Access::Private,
        false => Access::Public,
    };
    cx.open_classes.push(OpenClass {
        id,
        access,
        pending: Vec::new(),
    });
}

fn base_class(cx: &mut Checker<'_>, specifier: &ast::RecordSpecifier) -> Option<RecordId> {
    let first = specifier.bases.first()?;
    if let Some(second) = specifier.bases.get(1) {
        cx.unsupported("more than one base class", second.ty.span);
    }
    let private = match first.access {
        None => specifier.is_class,
        Some(access) => access != Access::Public,
    };
    if private {
        cx.unsupported("a base class that is not `public`", first.ty.span);
    }
    let ty = match &first.ty.node {
        ast::TypeSpecifier::Path(path) => template::path_type(cx, path),
        ast::TypeSpecifier::Named(name) => specifier::named_type(cx, name, first.ty.span),
        _ => Err(cx.body.reported_before(first.ty.span)),
    };
    match ty.ok()?.ty {
        ref ty @ Ty::Record(id)
            if cx.tables.size_of(ty).is_some() && !cx.tables.record(id).is_union =>
        {
            Some(id)
        }
        other => {
            cx.error(
                first.ty.span,
                ClassError::IncompleteBase { ty: other.clone() },
            );
            None
        }
    }
}

/// Ends a class. If no other class is open around it, checks the bodies of its functions.
pub(crate) fn close(cx: &mut Checker<'_>, id: RecordId) {
    let base = cx.tables.classes.get(&id).and_then(|facts| facts.base);
    cx.scopes.close_class(id, base);
    let Some(open) = cx.open_classes.pop() else {
        return;
    };
    match cx.open_classes.last_mut() {
        Some(outer) => outer.pending.extend(open.pending),
        None if cx.instances.classes.contains_key(&id) => {
            for PendingBody {
                id: method,
                function,
            } in open.pending
            {
                let function = Some(function);
                cx.instances.lazy.insert(
                    method,
                    LazyBody {
                        function,
                        class: id,
                    },
                );
            }
        }
        None => {
            for PendingBody { id, function } in open.pending {
                method_body(cx, id, &function);
            }
        }
    }
}

fn method_body(cx: &mut Checker<'_>, id: FunctionId, function: &ast::Function) {
    if cx.options.skip_host && cx.tables.functions[id].typed.space == FunctionSpace::Host {
        cx.tables.functions[id].facts.is_skipped = true;
        return;
    }
    function::body(cx, id, function);
}

/// Whether the class's members are being read: it will be complete when its functions run.
pub(crate) fn is_open(open_classes: &[OpenClass], id: RecordId) -> bool {
    open_classes.iter().any(|open| open.id == id)
}

/// Enters the scopes of a class and of those around it.
pub(crate) fn enter_scopes(tables: &Tables, scopes: &mut Scopes, class: Option<RecordId>) -> usize {
    let mut chain = Vec::new();
    let mut next = class;
    while let Some(id) = next {
        chain.push(id);
        next = tables.classes.get(&id).and_then(|facts| facts.outer);
    }
    for &id in chain.iter().rev() {
        scopes.enter_class(id);
    }
    chain.len()
}

/// Records the access of the member being declared.
pub(crate) fn note_access(tables: &mut Tables, open_classes: &[OpenClass], name: &Arc<str>) {
    if let Some(open) = open_classes.last()
        && open.access != Access::Public
        && let Some(facts) = tables.classes.get_mut(&open.id)
    {
        facts.access.insert(name.clone(), open.access);
    }
}

/// The best `Pod` that a class with this function can have.
fn pod_with(function: &ast::Function) -> Pod {
    match function.method.kind {
        MethodKind::Plain if &*function.name.node == "operator=" => Pod::Unclear,
        MethodKind::Plain | MethodKind::Conversion => Pod::Yes,
        MethodKind::Constructor | MethodKind::Destructor => match function.method.special {
            Some(_) => Pod::Unclear,
            None => Pod::No,
        },
    }
}

/// A member function in its class.
pub(crate) fn member_function(cx: &mut Checker<'_>, class: RecordId, function: &ast::Function) {
    if let Some(facts) = cx.tables.classes.get_mut(&class) {
        facts.pod = facts.pod.max(pod_with(function));
    }
    if let Some(special) = &function.method.special
        && special.node == Special::Default
    {
        if function.method.kind == MethodKind::Destructor {
            virtuals::note_destructor(cx, class, function);
        }
        // `= default` changes nothing, except for the constructor without parameters.
        if function.method.kind == MethodKind::Constructor && function.params.is_empty() {
            note_access(&mut cx.tables, &cx.open_classes, &function.name.node);
            if let Some(facts) = cx.tables.classes.get_mut(&class) {
                facts.is_defaulted = true;
            }
        }
        return;
    }
    note_access(&mut cx.tables, &cx.open_classes, &function.name.node);
    let Some(id) = declare_method(cx, class, function) else {
        return;
    };
    if function.body.is_some()
        && let Some(open) = cx.open_classes.last_mut()
    {
        cx.tables.functions[id].facts.is_defined = true;
        open.pending.push(PendingBody {
            id,
            function: function.clone(),
        });
    }
}

/// A friend function: it is at file scope, and may use private members.
pub(crate) fn friend_function(cx: &mut Checker<'_>, class: RecordId, function: &ast::Function) {
    if path::is_qualified(&function.name.node) {
        cx.unsupported("another class's function as a friend", function.name.span);
        return;
    }
    let Some(id) = function::declare(cx, function) else {
        return;
    };
    if let Some(facts) = cx.tables.classes.get_mut(&class) {
        facts.friends.push(id);
    }
    if function.body.is_none() {
        return;
    }
    cx.tables.functions[id].facts.is_defined = true;
    cx.tables.functions[id].facts.class = Some(class);
    if let Some(open) = cx.open_classes.last_mut() {
        open.pending.push(PendingBody {
            id,
            function: function.clone(),
        });
    }
}

pub(crate) fn friend_class(tables: &mut Tables, class: RecordId, name: &ast::Name) {
    if let Some(facts) = tables.classes.get_mut(&class) {
        facts.friend_classes.push(name.node.clone());
    }
}

/// The parameter that stands for the object.
fn this_param(class: RecordId, is_const: bool, span: Span) -> ParamFacts {
    ParamFacts {
        name: Some("this".into()),
        ty: QualTy {
            is_const,
            ..Ty::Record(class).into()
        },
        span,
        default: None,
        is_reference: true,
        is_rvalue: false,
        is_this: true,
        is_of_pack: false,
    }
}

fn declare_method(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
) -> Option<FunctionId> {
    method_as(cx, class, function, None)
}

/// An instance of a member template, shown as `shown`; no scope has a name for it.
pub(crate) fn new_method(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
    shown: &str,
) -> Option<FunctionId> {
    method_as(cx, class, function, Some(shown))
}

/// Declares a member function. `shown` is the name of an instance of a member template, which is in no scope.
fn method_as(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
    shown: Option<&str>,
) -> Option<FunctionId> {
    let name = &function.name;
    method::note_operator(cx, &name.node, name.span);
    let words = &function.specifiers;
    let space = space_of(words);
    if space == FunctionSpace::Kernel {
        cx.error(
            name.span,
            ClassError::KernelAsMember {
                name: name.node.to_string(),
            },
        );
        return None;
    }
    let kind = function.method.kind;
    let is_static = kind == MethodKind::Plain
        && (words.word(SpecifierWord::Static).is_some() || allocates(&name.node));
    let deduces = shown.is_some()
        && matches!(words.ty.node, ast::TypeSpecifier::Auto)
        && function.declarator.parts.is_empty();
    let mut params = Vec::new();
    if !is_static {
        let mut this = this_param(class, function.method.is_const, name.span);
        this.ty.is_volatile = function.method.is_volatile;
        params.push(this);
    }
    params.extend(pack::params(cx, &function.params));
    let (result, returns_reference) = match kind {
        _ if deduces => (Ty::Void, false),
        MethodKind::Constructor | MethodKind::Destructor => (Ty::Void, false),
        MethodKind::Plain | MethodKind::Conversion => method_result(cx, function),
    };
    if function.variadic {
        cx.unsupported("a function with `...`", function.span);
    }
    let owner = cx.tables.record(class).name.clone();
    let copied = copied_parameter(class, kind, &params);
    if copied.is_some_and(|param| !param.is_reference && !param.is_rvalue) {
        cx.error(name.span, ClassError::CopiesByValue { owner });
        return None;
    }
    let (is_copy, moves) = (
        copied.is_some(),
        copied.is_some_and(|param| param.is_rvalue),
    );
    let typed = Function {
        name: match shown {
            Some(shown) => shown.to_string(),
            None => format!("{owner}::{}", name.node),
        },
        space,
        result,
        returns_reference,
        span: name.span,
        ..Function::default()
    };
    let written = written_facts(function);
    let facts = FunctionFacts {
        params,
        class: Some(class),
        has_this: !is_static,
        words: MemberWords {
            is_static,
            ..written.words
        },
        deduces,
        ..written
    };
    let id = cx.tables.functions.push(FunctionEntry { typed, facts });
    if shown.is_some() {
        return Some(id);
    }
    enter_method(cx, class, function, id, is_copy, moves);
    virtuals::declare(cx, class, function, id);
    Some(id)
}

/// A constructor's only parameter, if its type is the class itself, as in a copy or a move.
fn copied_parameter(
    class: RecordId,
    kind: MethodKind,
    params: &[ParamFacts],
) -> Option<&ParamFacts> {
    match params {
        [_, param] if kind == MethodKind::Constructor && param.ty.ty == Ty::Record(class) => {
            Some(param)
        }
        _ => None,
    }
}

/// The facts in the declaration of a member function alone.
fn written_facts(function: &ast::Function) -> FunctionFacts {
    let has = |word| function.specifiers.word(word).is_some();
    let body = function.body.as_ref();
    FunctionFacts {
        declared: function.name.span,
        words: MemberWords {
            is_explicit: has(SpecifierWord::Explicit),
            is_deleted: matches!(&function.method.special, Some(special) if special.node == Special::Delete),
            ..MemberWords::default()
        },
        is_constexpr: has(SpecifierWord::Constexpr),
        is_empty: body.is_some_and(|body| body.stmts.is_empty())
            && function.method.inits.is_empty(),
        ..FunctionFacts::default()
    }
}

/// Enters a member function in its class.
fn enter_method(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
    id: FunctionId,
    is_copy: bool,
    moves: bool,
) {
    let name = &function.name;
    if function.body.is_none() && cx.instances.classes.contains_key(&class) {
        cx.instances.lazy.insert(
            id,
            LazyBody {
                function: None,
                class,
            },
        );
    }
    let facts = cx.tables.classes.entry(class).or_default();
    match function.method.kind {
        // Move constructors are not used: copies do the same, and temporaries are built in place.
        MethodKind::Constructor if moves => {}
        MethodKind::Constructor => {
            facts.constructors.push(id);
            if is_copy {
                facts.copy = Some(id);
            }
        }
        MethodKind::Destructor => facts.destructor = Some(id),
        MethodKind::Conversion => facts.conversions.push(id),
        MethodKind::Plain => {
            cx.scopes
                .add_method(name.node.clone(), Callable::Function(id), name.span);
        }
    }
}

fn method_result(cx: &mut Checker<'_>, function: &ast::Function) -> (Ty, bool) {
    let base = specifier::base_type_not_auto(cx, &function.specifiers);
    let (reference, parts) = reference_part(&function.declarator.parts);
    let result = specifier::declared_type(cx, base, parts);
    if let Some((span, true)) = reference {
        cx.unsupported("a function that returns an rvalue reference", span);
    }
    returned_type(result, reference.is_some())
}

/// Whether a member function of this name is implicitly static.
pub(crate) fn allocates(name: &str) -> bool {
    ["operator new", "operator delete"]
        .iter()
        .any(|word| name.starts_with(word))
}
