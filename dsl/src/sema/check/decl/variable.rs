//! Variables: the memory space from their specifiers, which initialisers they may have, constant values.
//!
//! A `const` variable of arithmetic type with a constant initialiser (C++'s "usable in constant expressions") keeps that value in its
//! facts; every read of it becomes the constant.

pub(crate) mod constant_init;
pub(crate) mod global;

use crate::sema::check::{
    Body, Checker, Reported, Reporter, Tables, binding, call, cleanup, construct, convert, decl,
    expr, function::reference_part, init, record, reference, specifier, virtuals,
};
use std::sync::Arc;

use crate::sema::check::tables::DynamicShared;
use crate::sema::message::decl::DeclError;
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{
            FunctionSpace, GlobalSpace, Init, Stmt, StmtKind, Storage, Value, ValueKind, Var, VarId,
        },
    },
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};
use ir::span::Span;

/// The facts about a declared variable that both scopes need.
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
    // The initialiser that `auto` is deduced from has been checked.
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

/// A variable of invalid type: its uses are no further errors.
fn unknown_variable(cx: &mut Checker<'_>, name: &ast::Name, init: Option<&ast::Init>) {
    cx.body.reported_before(name.span);
    cx.body.is_incomplete = true;
    decl::declare_name(cx, name, Entity::Error);
    check_init_alone(cx, init);
}

/// Reports errors in an initialiser for an unknown variable. A list cannot be checked without its type.
pub(crate) fn check_init_alone(cx: &mut Checker<'_>, init: Option<&ast::Init>) {
    match init {
        Some(ast::Init::Expr(expr)) => drop(expr::value(cx, expr)),
        Some(ast::Init::Construct(args)) => call::check_args_alone(cx, &args.node),
        Some(ast::Init::List(_)) | None => {}
    }
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
            let storage = shared_form(&cx.tables, &mut cx.reporter, &declared, span);
            if storage == Storage::SharedDynamic {
                check_same_shared(cx, &declared);
            }
            storage
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
    // In device code it is one variable for all threads, as at file scope.
    if matches!(
        cx.body.space,
        Some(FunctionSpace::Device | FunctionSpace::Kernel)
    ) {
        return global::global_variable(cx, declared, GlobalSpace::Device, false);
    }
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
    global::global_variable(cx, declared, GlobalSpace::Host, false);
}

/// A variable of a block in any memory space: enters its name, checks its initialiser, and adds the statements that make it.
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
    if storage == Storage::Auto {
        warn_of_private_storage(cx, &ty, name, has_init);
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

/// Warns about CUB's `TempStorage` as a variable of each thread: the threads of a block cannot communicate through it.
fn warn_of_private_storage(cx: &mut Checker<'_>, ty: &QualTy, name: &ast::Name, is_copy: bool) {
    let Ty::Record(id) = ty.ty else { return };
    let outer = cx.tables.classes.get(&id).and_then(|facts| facts.outer);
    let is_of_block = outer.is_some_and(|outer| cx.tables.record(outer).name.starts_with("Block"));
    let is_storage = is_of_block && cx.tables.record(id).name == "TempStorage";
    if is_storage && cx.body.may_be_device() {
        let warning = DeclError::PrivateStorage {
            name: name.node.to_string(),
            is_copy,
            is_new: !is_copy,
        };
        cx.error(name.span, warning);
    }
}

/// `T *__restrict__ p`.
fn is_restrict(declarator: &ast::Declarator) -> bool {
    let outermost = declarator.parts.first();
    matches!(outermost, Some(DeclaratorPart::Pointer { is_restrict, .. }) if *is_restrict)
}

/// Sets the type that a variable gets from its initialiser: `int a[] = { 1, 2 }`.
fn set_type(tables: &Tables, body: &mut Body, id: VarId, ty: QualTy) {
    let var = &mut body.vars[id].typed;
    var.align_bytes = var.align_bytes.max(tables.align_of(&ty.ty));
    var.ty = ty;
}

/// A variable without an initialiser: its class's default constructor is called.
fn begin_by_default(
    cx: &mut Checker<'_>,
    id: VarId,
    ty: QualTy,
    name: &ast::Name,
    out: &mut Vec<Stmt>,
) {
    let ty = QualTy {
        is_const: false,
        is_volatile: false,
        ..ty
    };
    let place = construct::local(id, ty, name.span);
    virtuals::check_not_abstract(cx, &place.ty.ty, name.span);
    construct::begin_object(cx, place, &name.node, name.span, out);
}

/// Reports the constructor of a shared object: every thread would run it.
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

/// Whether the initialiser is for a constructor of the variable's class.
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
        is_volatile: false,
        ..ty.clone()
    };
    let place = construct::local(id, ty, name.span);
    virtuals::check_not_abstract(cx, &place.ty.ty, name.span);
    let n_errors = cx.reporter.diagnostics.len();
    construct::into(cx, place, args, name.span, out);
    cx.body.vars[id].facts.is_wrong = cx.reporter.error_since(n_errors, |_| true).is_err();
}

/// Which kind of shared memory this is. Reports forms that nvcc rejects, and suggests the form that was meant.
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
            // nvcc accepts a size here and ignores it, which misleads the reader.
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

/// Checks that all declarations of a dynamic shared array in a namespace agree: they mean one variable, including those in functions and in
/// instances of templates. nvcc rejects other types, and warns about other alignments.
fn check_same_shared(cx: &mut Checker<'_>, declared: &Declared<'_>) {
    let Declared {
        name,
        ty,
        align_bytes,
        ..
    } = declared;
    let namespace = cx.scopes.namespace();
    let full: Arc<str> = match &*namespace {
        "" => name.node.clone(),
        namespace => format!("{namespace}::{}", name.node).into(),
    };
    let Some(first) = cx.tables.dynamic_shared.get_mut(&full) else {
        let first = DynamicShared {
            ty: ty.clone(),
            align_bytes: *align_bytes,
            span: name.span,
        };
        cx.tables.dynamic_shared.insert(full, first);
        return;
    };
    let is_element = |ty: &QualTy| match &ty.ty {
        Ty::Array(element, _) => QualTy::clone(element),
        _ => ty.clone(),
    };
    let (now, before) = (is_element(ty), is_element(&first.ty));
    if now != before || ty.is_volatile != first.ty.is_volatile {
        let error = DeclError::SharedTypesDiffer {
            name: name.node.to_string(),
            now,
            before,
            first: first.span,
        };
        cx.error(name.span, error);
        return;
    }
    let before = first.align_bytes;
    first.align_bytes = before.max(*align_bytes);
    if before > 1 && *align_bytes > 1 && before != *align_bytes {
        let warning = DeclError::SharedAlignmentsDiffer {
            name: name.node.to_string(),
            now: *align_bytes,
            before,
            first: first.span,
        };
        cx.error(name.span, warning);
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

/// The constant that an initialiser gives a variable.
fn constant_of(init: &Init) -> Option<Const> {
    match init {
        Init::Value(value) if value.ty.is_arithmetic() => const_eval::evaluate(value).ok(),
        Init::Value(_) | Init::Parts { .. } | Init::Bytes(_) => None,
    }
}

/// The memory space of a variable outside shared memory.
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

/// Whether it is an address that is known before the program runs.
fn is_address(value: &Value) -> bool {
    use crate::sema::typed::PlaceKind;
    fn is_static(place: &crate::sema::typed::Place) -> bool {
        match &place.kind {
            PlaceKind::Var(var) => matches!(var, crate::sema::typed::VarRef::Global(_)),
            PlaceKind::Field(base, _) | PlaceKind::BitField(base, _) => is_static(base),
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
