//! Variables at file scope and static members: their memory space, their initial value, repeated declarations.

use super::{
    Declared, check_init_alone, check_same_shared, constant_init, constant_of, declared,
    refuse_shared_init, require_complete, shared_form, space_of_words, unknown_variable,
};
use crate::sema::check::{
    Checker, Reported, Tables, VarFacts, construct, convert, decl, function::reference_part, init,
    reference, specifier, startup,
};
use crate::sema::message::decl::DeclError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use crate::{
    sema::{
        classify::Classify,
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{Global, GlobalSpace, GlobalVarId, Init, Storage},
    },
    syntax::ast::{self, SpecifierWord},
};
use ir::span::Span;

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

/// The instance of a variable template, with its parameters in scope.
pub(crate) fn of_template(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    declarator: &ast::InitDeclarator,
) -> Option<GlobalVarId> {
    let base = specifier::base_type_not_auto(cx, &declaration.specifiers);
    let declared = declared(cx, declaration, base, declarator)?;
    let name = declared.name.node.clone();
    let space = space_of_words(&declaration.specifiers);
    global_variable(cx, declared, space, false);
    match cx.scopes.find(&name)?.entity {
        Entity::Global(id) => Some(id),
        _ => None,
    }
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
            Storage::SharedDynamic => {
                check_same_shared(cx, &declared);
                GlobalSpace::SharedDynamic
            }
            Storage::Shared | Storage::Auto => GlobalSpace::Shared,
        }
    } else {
        space_of_words(specifiers)
    };
    global_variable(cx, declared, space, true);
}

/// Whether an object at file scope needs code that runs before `main`.
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
pub(crate) fn global_variable(
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

/// Whether this repeats a declaration without defining the variable.
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
    // A different type has been reported.
    old.space == GlobalSpace::SharedDynamic && space == GlobalSpace::SharedDynamic
}
