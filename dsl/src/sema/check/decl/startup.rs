//! Code before `main`'s first statement, and ends of the program from anywhere: constructors of objects at file scope, `throw`.

use crate::sema::check::{
    Checker, Reported, allocate, cleanup,
    construct::{self, comma},
    convert::{self, Why},
    expr, method,
    overload::{self, Argument},
};
use crate::{
    sema::{
        classify::{constant, pointer_to},
        ty::{QualTy, Ty},
        typed::{
            FunctionSpace, GlobalSpace, GlobalVarId, Place, PlaceKind, Stmt, Value, ValueKind,
            VarRef,
        },
    },
    syntax::ast,
};
use ir::{HostFn, span::Span};

/// An object at file scope that is constructed when `main` begins.
pub(crate) struct AtStart {
    object: GlobalVarId,
    init: Option<ast::Init>,
    name: ast::Name,
}

/// What runs before `main`.
#[derive(Default)]
pub(crate) struct Startup {
    /// Objects at file scope whose constructors run when `main` begins.
    pub(crate) at_start: Vec<AtStart>,
    pub(crate) main_is_checked: bool,
}

/// Whether the object can be constructed when `main` begins: it is the host's, and it makes no visible difference that it never ends.
pub(crate) fn begins_at_start(
    cx: &Checker<'_>,
    ty: &Ty,
    space: GlobalSpace,
    at_file: bool,
) -> bool {
    let is_of_library = match ty {
        Ty::Record(id) => cx
            .tables
            .record(*id)
            .span
            .is_some_and(|span| cx.options.is_own(span)),
        _ => false,
    };
    at_file
        && space == GlobalSpace::Host
        && !cx.startup.main_is_checked
        && matches!(ty, Ty::Record(_))
        && (is_of_library || !cx.tables.has_destructor(ty))
}

pub(crate) fn begin_at_start(
    startup: &mut Startup,
    object: GlobalVarId,
    init: Option<&ast::Init>,
    name: &ast::Name,
) {
    startup.at_start.push(AtStart {
        object,
        init: init.cloned(),
        name: name.clone(),
    });
}

/// Constructs the objects at file scope, in order.
pub(crate) fn start(cx: &mut Checker<'_>, out: &mut Vec<Stmt>) {
    cx.startup.main_is_checked = true;
    for AtStart { object, init, name } in std::mem::take(&mut cx.startup.at_start) {
        let ty = QualTy {
            is_const: false,
            is_volatile: false,
            ..cx.tables.globals[object].typed.ty.clone()
        };
        let place = Place::new(
            PlaceKind::Var(VarRef::Global(object)),
            ty.clone(),
            name.span,
        );
        match &init {
            None => construct::begin_object(cx, place, &name.node, name.span, out),
            Some(ast::Init::Expr(expr)) => {
                let value = convert::implicit_value(cx, expr, &ty.ty, &Why::Init(&name.node));
                if let Some(value) = cx.body.part(value) {
                    let args = vec![Argument::Value(value)];
                    construct::into(cx, place, args, name.span, out);
                }
            }
            Some(init) => {
                let args = construct::init_arguments(cx, &ty.ty, init);
                construct::into(cx, place, args, name.span, out);
            }
        }
        cleanup::end_temporaries(cx, name.span, out);
    }
}

/// `throw e`: there is no `catch`, so the program ends, with the message of g++'s library.
pub(crate) fn throw_expr(
    cx: &mut Checker<'_>,
    thrown: &ast::Expr,
    span: Span,
) -> Result<Value, Reported> {
    if cx.body.space != Some(FunctionSpace::Host) {
        return Err(cx.unsupported("`throw` in device code", span));
    }
    let value = expr::value(cx, thrown)?;
    let text = cx.tables.show_type(&value.ty);
    let is_of_library = match &value.ty {
        Ty::Record(id) => cx
            .tables
            .record(*id)
            .span
            .is_some_and(|span| cx.options.is_own(span)),
        _ => false,
    };
    let text = match is_of_library && !text.starts_with("std::") {
        true => format!("std::{text}"),
        false => text,
    };
    let string = pointer_to(constant(Ty::Char));
    let name = Value::new(ValueKind::Str(text.as_bytes().into()), string.clone(), span);
    let has_what = match &value.ty {
        Ty::Record(id) => cx.scopes.find_in_class(*id, "what"),
        _ => None,
    };
    let what = match has_what.map(|(owner, binding)| (owner, binding.entity.clone())) {
        Some((owner, crate::sema::scope::Entity::Functions(set))) => {
            let ids = overload::functions_of(cx, &set);
            let object = method::as_base(cx, value, owner);
            let called =
                method::call_member(cx, Some(object), &ids, "what", span, Vec::new(), span)?;
            method::read_checked(cx, called)
        }
        _ => {
            let value = cleanup::discarded(cx, value);
            let none = Value::new(ValueKind::Null, string.clone(), span);
            comma(value, none)
        }
    };
    let what = convert::implicit(cx, what, &string, &Why::Operand)?;
    let printed = allocate::library_call(cx, "__dslc_throw", None, vec![name, what], span)?;
    let abort = Value::new(ValueKind::Host(HostFn::Abort, Vec::new()), Ty::Void, span);
    Ok(comma(printed, abort))
}
