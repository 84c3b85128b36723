//! Variables: the memory space their words give them, what may be initialised and how, constant values.
//!
//! A `const` variable of arithmetic type with a constant initialiser (C++'s "usable in constant expressions") keeps that
//! value in its facts; every read of it becomes the constant.

pub(crate) mod constant_init;

use crate::sema::check::{
    Body, Checker, Reported, Reporter, Tables, VarFacts, binding, call, cleanup, construct,
    convert, decl, expr, function::reference_part, init, record, reference, specifier, startup,
};
use crate::sema::message::decl::DeclError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{
            Global, GlobalSpace, GlobalVarId, Init, Stmt, StmtKind, Storage, Value, ValueKind, Var,
            VarId,
        },
    },
    span::Span,
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};

/// Everything about a declared variable that both scopes need.
pub(crate) struct Declared<'d> {
    declaration: &'d ast::Declaration,
    declarator: &'d ast::InitDeclarator,
    name: &'d ast::Name,
    ty: QualTy,
    align_bytes: u64,
}

fn declared<'d>(
    cx: &mut Checker<'_>,
    declaration: &'d ast::Declaration,
    base: Result<QualTy, Reported>,
    declarator: &'d ast::InitDeclarator,
) -> Option<Declared<'d>> {
    let name = declarator.declarator.name.as_ref()?;
    if !declarator.bindings.is_empty() {
        cx.unsupported("a structured binding outside a function", name.span);
        return None;
    }
    // What `auto` is deduced from has its messages.
    let is_checked =
        base.is_err() && matches!(declaration.specifiers.ty.node, ast::TypeSpecifier::Auto);
    let ty = specifier::declared_type(cx, base, &declarator.declarator.parts);
    let align_bytes = declaration
        .specifiers
        .align
        .as_ref()
        .map_or(1, |align| record::alignment(cx, align));
    if let Some(span) = declaration.specifiers.word(SpecifierWord::Global) {
        cx.error(span, DeclError::GlobalOnVariable);
    }
    let Ok(ty) = ty else {
        let init = declarator.init.as_ref().filter(|_| !is_checked);
        unknown_variable(cx, name, init);
        return None;
    };
    Some(Declared {
        declaration,
        declarator,
        name,
        ty,
        align_bytes,
    })
}

/// A variable whose type is not understood: its uses are no further errors.
fn unknown_variable(cx: &mut Checker<'_>, name: &ast::Name, init: Option<&ast::Init>) {
    cx.body.reported_before(name.span);
    cx.body.is_incomplete = true;
    decl::declare_name(cx, name, Entity::Error);
    check_init_alone(cx, init);
}

/// What is wrong with an initialiser, whatever it is for. A list says nothing without its type.
pub(crate) fn check_init_alone(cx: &mut Checker<'_>, init: Option<&ast::Init>) {
    match init {
        Some(ast::Init::Expr(expr)) => drop(expr::value(cx, expr)),
        Some(ast::Init::Construct(args)) => call::check_args_alone(cx, &args.node),
        Some(ast::Init::List(_)) | None => {}
    }
}

/// `static` members and types in a class.
pub(crate) fn static_members(cx: &mut Checker<'_>, member: &ast::Declaration) {
    decl::each_declarator(cx, member, &mut |cx, base, declarator| {
        if let (Some((span, _)), _) = reference_part(&declarator.declarator.parts) {
            return reference::refuse_reference(
                cx,
                "a static member that is a reference",
                declarator,
                span,
            );
        }
        let Some(declared) = declared(cx, member, base, declarator) else {
            return;
        };
        global_variable(cx, declared, space_of_words(&member.specifiers), false);
    });
}

/// `int S::count = 0;`: the value of a static member.
fn static_member_value(
    cx: &mut Checker<'_>,
    declarator: &ast::InitDeclarator,
    base: Result<QualTy, Reported>,
) {
    let Some(name) = &declarator.declarator.name else {
        return;
    };
    let found = cx
        .scopes
        .find(&name.node)
        .map(|binding| binding.entity.clone());
    let Some(Entity::Global(id)) = found else {
        cx.error(
            name.span,
            DeclError::NoStaticMember {
                name: name.node.to_string(),
            },
        );
        return;
    };
    let Ok(mut ty) = specifier::declared_type(cx, base, &declarator.declarator.parts) else {
        cx.tables.globals[id].facts.is_wrong = true;
        return check_init_alone(cx, declarator.init.as_ref());
    };
    let declared = cx.tables.globals[id].typed.ty.ty.clone();
    if ty.ty != declared && !matches!(ty.ty, Ty::Array(_, None)) {
        cx.error(
            name.span,
            DeclError::StaticMemberType {
                name: name.node.to_string(),
                a: ty.ty.clone(),
                b: declared.clone(),
            },
        );
        return;
    }
    let Some(init) = &declarator.init else {
        return;
    };
    let mut facts = VarFacts::default();
    let init = init::initialiser(cx, &mut ty, init, name, false).ok();
    let init = init.map(|init| constant_init::check(cx, init, name, &mut facts));
    if ty.is_const && !ty.is_volatile {
        facts.constant = init
            .as_ref()
            .and_then(constant_of)
            .filter(|_| ty.ty.is_arithmetic());
    }
    let global = &mut cx.tables.globals[id].typed;
    global.init = init;
    if matches!(global.ty.ty, Ty::Array(_, None)) {
        global.ty.ty = ty.ty;
    }
    let old = &mut cx.tables.globals[id].facts;
    old.constant = facts.constant;
    old.is_wrong |= facts.is_wrong;
}

/// A variable at file scope.
pub(crate) fn file_variable(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    base: Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
) {
    if let (Some((span, _)), _) = reference_part(&declarator.declarator.parts) {
        return reference::refuse_reference(cx, "a reference at file scope", declarator, span);
    }
    if let Some(name) = &declarator.declarator.name
        && path::is_qualified(&name.node)
    {
        return static_member_value(cx, declarator, base);
    }
    let Some(declared) = declared(cx, declaration, base, declarator) else {
        return;
    };
    let specifiers = &declaration.specifiers;
    let space = if let Some(span) = specifiers.word(SpecifierWord::Shared) {
        match shared_form(&cx.tables, &mut cx.reporter, &declared, span) {
            Storage::SharedDynamic => GlobalSpace::SharedDynamic,
            Storage::Shared | Storage::Auto => GlobalSpace::Shared,
        }
    } else {
        space_of_words(specifiers)
    };
    global_variable(cx, declared, space, true);
}

/// An object at file scope is begun by code that runs before `main`.
fn needs_beginning(
    cx: &mut Checker<'_>,
    declarator: &ast::InitDeclarator,
    ty: &Ty,
    at: Span,
) -> bool {
    use crate::sema::check::construct::Beginning;
    let is_class = cx.tables.has_constructors(ty);
    let begins = declarator.init.is_none()
        && match construct::beginning(cx, ty, at) {
            Beginning::Nothing => false,
            Beginning::Call(id) => !construct::is_empty_constructor(cx, id, ty),
            Beginning::Missing => true,
        };
    (is_class && declarator.init.is_some()) || begins
}

/// The initial value of a variable that outlives functions.
fn global_init(
    cx: &mut Checker<'_>,
    declarator: &ast::InitDeclarator,
    name: &ast::Name,
    ty: &mut QualTy,
    space: GlobalSpace,
    is_extern: bool,
) -> Option<Init> {
    let is_shared = matches!(space, GlobalSpace::Shared | GlobalSpace::SharedDynamic);
    match &declarator.init {
        Some(init) if is_shared => {
            refuse_shared_init(&cx.tables, &mut cx.reporter, name, init);
            None
        }
        Some(_) if cx.tables.has_constructors(&ty.ty) => {
            cx.unsupported("a constructor that runs before `main`", name.span);
            None
        }
        Some(init) => {
            cx.mode.device_init = space.is_device();
            let init = init::initialiser(cx, ty, init, name, false);
            cx.mode.device_init = false;
            init.ok()
        }
        None if cx.tables.is_vector(&ty.ty, "dim3") => Some(Init::Value(convert::dim3_of(
            &mut cx.tables,
            Vec::new(),
            name.span,
        ))),
        None => {
            let ty = ty.ty.clone();
            if !is_extern && cx.tables.size_of(&ty).is_some() {
                construct::check_static_object(cx, &ty, name);
            }
            None
        }
    }
}

/// Makes a global of a declaration at file scope or of a `static` one.
fn global_variable(
    cx: &mut Checker<'_>,
    declared: Declared<'_>,
    space: GlobalSpace,
    at_file: bool,
) {
    let Declared {
        declarator,
        name,
        mut ty,
        declaration,
        align_bytes,
    } = declared;
    let is_extern = declaration.specifiers.word(SpecifierWord::Extern).is_some();
    let mut facts = VarFacts {
        is_only_declared: at_file && is_extern && declarator.init.is_none(),
        ..VarFacts::default()
    };
    if at_file && repeats_extern(cx, name, &ty, facts.is_only_declared, space) {
        return;
    }
    let declared = match at_file {
        true => declared_before(&cx.tables, &cx.scopes, name, &ty, space),
        false => None,
    };
    let begins_later = startup::begins_at_start(cx, &ty.ty, space, at_file)
        && needs_beginning(cx, declarator, &ty.ty, name.span);
    let init = match begins_later {
        true => None,
        false => global_init(cx, declarator, name, &mut ty, space, is_extern),
    };
    let init = init.map(|init| constant_init::check(cx, init, name, &mut facts));
    if ty.is_const && !ty.is_volatile {
        facts.constant = init
            .as_ref()
            .and_then(constant_of)
            .filter(|_| ty.ty.is_arithmetic());
    }
    let span = name.span;
    let is_dynamic = space == GlobalSpace::SharedDynamic;
    if require_complete(&cx.tables, &mut cx.reporter, &ty.ty, name, is_dynamic).is_err() {
        return unknown_variable(cx, name, None);
    }
    let align_bytes = align_bytes.max(cx.tables.align_of(&ty.ty));
    let global = Global {
        name: name.node.to_string(),
        namespace: cx.scopes.namespace(),
        ty,
        space,
        init,
        align_bytes,
        span,
    };
    let id = match declared {
        Some(id) => {
            cx.tables.globals[id].typed = global;
            cx.tables.globals[id].facts = facts;
            id
        }
        None => {
            let id = cx.tables.add_global(global, facts);
            decl::declare_name(cx, name, Entity::Global(id));
            id
        }
    };
    if begins_later {
        startup::begin_at_start(&mut cx.startup, id, declarator.init.as_ref(), name);
    }
}

/// `extern int x; int x = 1;`: the variable that the second declaration defines.
fn declared_before(
    tables: &Tables,
    scopes: &Scopes,
    name: &ast::Name,
    ty: &QualTy,
    space: GlobalSpace,
) -> Option<GlobalVarId> {
    let Entity::Global(id) = scopes.find_at_file(&name.node)?.entity else {
        return None;
    };
    let old = &tables.globals[id].typed;
    let is_open = tables.globals[id].facts.is_only_declared;
    (is_open && old.ty == *ty && old.space == space).then_some(id)
}

/// Declared again, without a definition.
fn repeats_extern(
    cx: &mut Checker<'_>,
    name: &ast::Name,
    ty: &QualTy,
    is_extern: bool,
    space: GlobalSpace,
) -> bool {
    let Some(Entity::Global(id)) = cx
        .scopes
        .find_at_file(&name.node)
        .map(|binding| binding.entity.clone())
    else {
        return false;
    };
    let old = &cx.tables.globals[id].typed;
    let compatible = old.ty.ty == ty.ty;
    if is_extern && compatible && old.space == space {
        return true;
    }
    if old.space == GlobalSpace::SharedDynamic && space == GlobalSpace::SharedDynamic {
        let first = old.span;
        cx.error(
            name.span,
            DeclError::RedeclaredWithOtherType {
                name: name.node.to_string(),
                first,
            },
        );
        return true;
    }
    false
}

/// A variable in a function.
pub(crate) fn local_variable(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    base: Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
    out: &mut Vec<Stmt>,
) {
    if !declarator.bindings.is_empty() {
        return binding::check(cx, declaration, base, declarator, out);
    }
    if let (Some((span, is_rvalue)), _) = reference_part(&declarator.declarator.parts) {
        return reference::local_reference(
            cx,
            declaration,
            base,
            declarator,
            (span, is_rvalue),
            out,
        );
    }
    let Some(declared) = declared(cx, declaration, base, declarator) else {
        return;
    };
    let specifiers = &declaration.specifiers;
    for (word, text) in [
        (SpecifierWord::Constant, "__constant__"),
        (SpecifierWord::Device, "__device__"),
        (SpecifierWord::Managed, "__managed__"),
    ] {
        if let Some(span) = specifiers.word(word) {
            cx.error(
                span,
                DeclError::SpaceInFunction {
                    text: text.to_string(),
                },
            );
        }
    }
    let storage = match specifiers.word(SpecifierWord::Shared) {
        Some(span) => {
            if !cx.body.may_be_device() {
                cx.error(span, DeclError::SharedInHost);
            }
            shared_form(&cx.tables, &mut cx.reporter, &declared, span)
        }
        None => Storage::Auto,
    };
    if storage == Storage::Auto {
        if specifiers.word(SpecifierWord::Static).is_some()
            && !constant_init::is_static_constant(&cx.body, &declared)
        {
            return static_variable(cx, declared);
        }
        if let Some(span) = specifiers.word(SpecifierWord::Extern) {
            cx.unsupported("an `extern` variable in a function", span);
        }
    }
    automatic_variable(cx, declared, storage, out);
}

fn static_variable(cx: &mut Checker<'_>, declared: Declared<'_>) {
    if cx.body.may_be_device() {
        let diagnostic = cx.tables.diagnostic(
            declared.name.span,
            DeclError::StaticInDevice {
                name: declared.name.node.to_string(),
            },
        );
        cx.reporter.report(diagnostic);
        decl::declare_name(cx, declared.name, Entity::Error);
        return;
    }
    global_variable(cx, declared, GlobalSpace::Host, false);
}

fn automatic_variable(
    cx: &mut Checker<'_>,
    declared: Declared<'_>,
    storage: Storage,
    out: &mut Vec<Stmt>,
) {
    let Declared {
        declarator,
        name,
        mut ty,
        align_bytes,
        declaration,
    } = declared;
    let is_unsized = matches!(ty.ty, Ty::Array(_, None));
    let has_init = declarator.init.is_some();
    let is_dynamic = storage == Storage::SharedDynamic;
    if !(is_unsized && has_init)
        && require_complete(&cx.tables, &mut cx.reporter, &ty.ty, name, is_dynamic).is_err()
    {
        return unknown_variable(cx, name, declarator.init.as_ref());
    }
    let is_restrict = is_restrict(&declarator.declarator);
    let align_bytes = align_bytes.max(cx.tables.align_of(&ty.ty));
    let id = cx.body.add_var(Var {
        name: name.node.to_string(),
        ty: ty.clone(),
        storage,
        address_taken: false,
        is_reference: false,
        is_restrict,
        align_bytes,
        span: name.span,
    });
    // As in C, the name is known in its own initialiser.
    decl::declare_name(cx, name, Entity::Local(id));
    let mut init = match &declarator.init {
        Some(init) if storage != Storage::Auto => {
            refuse_shared_init(&cx.tables, &mut cx.reporter, name, init);
            None
        }
        None if storage != Storage::Auto && cx.tables.size_of(&ty.ty).is_some() => {
            check_shared_object(cx, &ty.ty, name);
            None
        }
        Some(init) if begins_by_constructor(&cx.tables, &ty.ty, init) => {
            out.push(Stmt::new(StmtKind::Declare(id, None), declarator.span));
            construct_variable(cx, id, &ty, init, name, out);
            cleanup::note_object(&cx.tables, &mut cx.body, id);
            return;
        }
        Some(init) => {
            let typed = init::initialiser(cx, &mut ty, init, name, true).ok();
            cx.body.vars[id].facts.is_wrong = typed.is_none();
            typed
        }
        None if cx.tables.is_vector(&ty.ty, "dim3") && storage == Storage::Auto => Some(
            Init::Value(convert::dim3_of(&mut cx.tables, Vec::new(), name.span)),
        ),
        None => None,
    };
    if is_unsized && has_init {
        set_type(&cx.tables, &mut cx.body, id, ty.clone());
    }
    let begins = declarator.init.is_none() && storage == Storage::Auto;
    if !(begins && matches!(ty.ty, Ty::Record(_))) {
        constant_init::note(cx, id, &ty, init.as_mut(), declaration, name);
    }
    let has_init = init.is_some();
    out.push(Stmt::new(StmtKind::Declare(id, init), declarator.span));
    if begins && !has_init {
        begin_by_default(cx, id, ty, name, out);
    }
    if storage == Storage::Auto {
        cleanup::note_object(&cx.tables, &mut cx.body, id);
    }
}

/// `T *__restrict__ p`.
fn is_restrict(declarator: &ast::Declarator) -> bool {
    let outermost = declarator.parts.first();
    matches!(outermost, Some(DeclaratorPart::Pointer { is_restrict, .. }) if *is_restrict)
}

/// The type that a variable has got from its initialiser: `int a[] = { 1, 2 }`.
fn set_type(tables: &Tables, body: &mut Body, id: VarId, ty: QualTy) {
    let var = &mut body.vars[id].typed;
    var.align_bytes = var.align_bytes.max(tables.align_of(&ty.ty));
    var.ty = ty;
}

/// A variable without an initialiser begins by its class's constructor.
fn begin_by_default(
    cx: &mut Checker<'_>,
    id: VarId,
    ty: QualTy,
    name: &ast::Name,
    out: &mut Vec<Stmt>,
) {
    let ty = QualTy {
        is_const: false,
        ..ty
    };
    let place = construct::local(id, ty, name.span);
    construct::begin_object(cx, place, &name.node, name.span, out);
}

/// Every thread would run the constructor of a shared object.
fn check_shared_object(cx: &mut Checker<'_>, ty: &Ty, name: &ast::Name) {
    use crate::sema::check::construct::Beginning;
    let is_plain = match construct::beginning(cx, ty, name.span) {
        Beginning::Nothing => true,
        Beginning::Call(id) => construct::is_empty_constructor(cx, id, ty),
        Beginning::Missing => false,
    };
    if !is_plain || cx.tables.has_destructor(ty) {
        cx.error(
            name.span,
            DeclError::SharedWithConstructor { ty: ty.clone() },
        );
    }
}

/// The initialiser is for a constructor of the variable's class.
fn begins_by_constructor(tables: &Tables, ty: &Ty, init: &ast::Init) -> bool {
    if !tables.has_constructors(ty) {
        return false;
    }
    match init {
        ast::Init::Construct(_) | ast::Init::List(_) => true,
        ast::Init::Expr(_) => false,
    }
}

fn construct_variable(
    cx: &mut Checker<'_>,
    id: VarId,
    ty: &QualTy,
    init: &ast::Init,
    name: &ast::Name,
    out: &mut Vec<Stmt>,
) {
    let args = construct::init_arguments(cx, &ty.ty, init);
    let ty = QualTy {
        is_const: false,
        ..ty.clone()
    };
    let place = construct::local(id, ty, name.span);
    let n_errors = cx.reporter.diagnostics.len();
    construct::into(cx, place, args, name.span, out);
    cx.body.vars[id].facts.is_wrong = cx.reporter.error_since(n_errors, |_| true).is_err();
}

/// Which kind of shared memory this is. The forms that nvcc refuses are reported with the one that was meant.
fn shared_form(
    tables: &Tables,
    reporter: &mut Reporter,
    declared: &Declared<'_>,
    span: Span,
) -> Storage {
    let name = &declared.name.node;
    let is_extern = declared.declaration.specifiers.word(SpecifierWord::Extern);
    match (&declared.ty.ty, is_extern) {
        (Ty::Array(_, None), Some(_)) => Storage::SharedDynamic,
        (Ty::Array(element, None), None) => {
            if declared.declarator.init.is_none() {
                reporter.error(
                    tables,
                    declared.declarator.span,
                    DeclError::SharedArraySizeMissing {
                        name: name.to_string(),
                        place: span,
                        element: QualTy::clone(element),
                    },
                );
            }
            Storage::SharedDynamic
        }
        (Ty::Pointer(pointee), Some(extern_span)) => {
            reporter.error(
                tables,
                declared.declarator.span,
                DeclError::ExternSharedPointer {
                    name: name.to_string(),
                    pointee: QualTy::clone(pointee),
                    extern_span,
                },
            );
            Storage::Shared
        }
        (Ty::Array(..), Some(extern_span)) => {
            // nvcc accepts a size here and ignores it, a trap for the reader.
            reporter.error(
                tables,
                declared.declarator.span,
                DeclError::ExternSharedSize {
                    name: name.to_string(),
                    extern_span,
                },
            );
            Storage::SharedDynamic
        }
        (_, Some(extern_span)) => {
            reporter.error(
                tables,
                declared.declarator.span,
                DeclError::ExternSharedNoArray {
                    name: name.to_string(),
                    ty: declared.ty.clone(),
                    extern_span,
                },
            );
            Storage::Shared
        }
        (_, None) => Storage::Shared,
    }
}

fn refuse_shared_init(
    tables: &Tables,
    reporter: &mut Reporter,
    name: &ast::Name,
    init: &ast::Init,
) {
    reporter.error(
        tables,
        record::init_span(init),
        DeclError::SharedInitialiser {
            name: name.node.to_string(),
        },
    );
}

fn require_complete(
    tables: &Tables,
    reporter: &mut Reporter,
    ty: &Ty,
    name: &ast::Name,
    may_be_unsized: bool,
) -> Result<(), Reported> {
    let shown = name.node.to_string();
    let message = match ty {
        Ty::Array(_, None) if may_be_unsized => return Ok(()),
        Ty::Array(_, None) => DeclError::ArraySizeMissing { name: shown },
        Ty::Void => DeclError::VoidVariable { name: shown },
        other if tables.size_of(other).is_none() => DeclError::IncompleteVariable {
            name: shown,
            ty: other.clone(),
        },
        _ => return Ok(()),
    };
    Err(reporter.error(tables, name.span, message))
}

/// The constant a variable's initialiser gives it.
fn constant_of(init: &Init) -> Option<Const> {
    match init {
        Init::Value(value) if value.ty.is_arithmetic() => const_eval::evaluate(value).ok(),
        Init::Value(_) | Init::Parts { .. } | Init::Bytes(_) => None,
    }
}

/// Where a variable lives that is not shared memory's.
fn space_of_words(specifiers: &ast::Specifiers) -> GlobalSpace {
    let has = |word| specifiers.word(word).is_some();
    if has(SpecifierWord::Constant) {
        GlobalSpace::Constant
    } else if has(SpecifierWord::Managed) {
        GlobalSpace::Managed
    } else if has(SpecifierWord::Device) {
        GlobalSpace::Device
    } else {
        GlobalSpace::Host
    }
}

/// An address that is known before the program runs.
fn is_address(value: &Value) -> bool {
    use crate::sema::typed::PlaceKind;
    fn is_static(place: &crate::sema::typed::Place) -> bool {
        match &place.kind {
            PlaceKind::Var(var) => matches!(var, crate::sema::typed::VarRef::Global(_)),
            PlaceKind::Field(base, _) => is_static(base),
            PlaceKind::ArrayIndex(base, index) => {
                is_static(base) && const_eval::evaluate(index).is_ok()
            }
            PlaceKind::Deref(_)
            | PlaceKind::ReadOnly(_)
            | PlaceKind::PointerIndex(..)
            | PlaceKind::Temporary(_) => false,
        }
    }
    match &value.kind {
        ValueKind::Null | ValueKind::Str(_) => true,
        ValueKind::AddressOf(place) | ValueKind::Decay(place) => is_static(place),
        ValueKind::Convert(inner) => is_address(inner) || const_eval::evaluate(inner).is_ok(),
        ValueKind::PointerAdd(base, index) => {
            is_address(base) && const_eval::evaluate(index).is_ok()
        }
        _ => false,
    }
}
