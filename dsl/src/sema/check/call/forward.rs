//! Forwarding references: template parameters that stand for references, `std::forward` and `std::move`.
//!
//! Types here have no references in them: a template parameter that stands for `int &` is a name of its own kind, which a parameter's
//! declaration may use (references collapse: `T`, `T &` and `T &&` are all `int &` then) and `std::forward`; elsewhere it is an error.

use crate::sema::{message::with_article, scope::Scopes};
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, expr,
    function::reference_part,
    reference::{self, same_object},
    specifier,
    template::Arg,
};
use crate::{
    sema::{
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{Value, ValueKind},
    },
    syntax::ast::{self, ExprKind, TemplateArg, TypeSpecifier},
};
use ir::span::Span;

/// What the reference refers to that this name stands for, if it is a template parameter that does.
pub(crate) fn reference_named(scopes: &Scopes, name: &Arc<str>) -> Option<QualTy> {
    match &scopes.find(name)?.entity {
        Entity::Reference(ty) => Some(ty.clone()),
        _ => None,
    }
}

/// `T`, `T &`, `T &&` of a parameter where `T` stands for a reference: what that refers to.
pub(crate) fn collapsed(scopes: &Scopes, param: &ast::Param) -> Option<QualTy> {
    let TypeSpecifier::Named(name) = &param.specifiers.ty.node else {
        return None;
    };
    let (_, parts) = reference_part(&param.declarator.parts);
    reference_named(scopes, name).filter(|_| parts.is_empty())
}

/// The reference that a parameter is: where it stands, and whether it is one to a value of its own.
pub(crate) fn param_reference(scopes: &Scopes, param: &ast::Param) -> Option<(Span, bool)> {
    let (written, _) = reference_part(&param.declarator.parts);
    match collapsed(scopes, param) {
        Some(_) => Some((written.map_or(param.span, |(span, _)| span), false)),
        None => written,
    }
}

/// `int &` or `T`, which stands for one, as a template argument.
pub(crate) fn reference_arg(
    cx: &mut Checker<'_>,
    ty: &ast::TypeName,
) -> Option<Result<Arg, Reported>> {
    let (reference, parts) = reference_part(&ty.declarator.parts);
    if let TypeSpecifier::Named(name) = &ty.specifiers.ty.node
        && parts.is_empty()
        && let Some(ty) = reference_named(&cx.scopes, name)
    {
        return Some(Ok(Arg::Reference(ty)));
    }
    if !matches!(reference, Some((_, false))) {
        return None;
    }
    let base = specifier::base_type_not_auto(cx, &ty.specifiers);
    Some(specifier::declared_type(cx, base, parts).map(Arg::Reference))
}

/// `std::forward<T>(x)`: `x` itself where `T` stands for a reference, else its value.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    to: &TemplateArg,
    arg: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    // Of a reference `decltype` gives the type alone here, which would say too little.
    let is_decltype = matches!(to, TemplateArg::Type(ty)
            if matches!(ty.specifiers.ty.node, TypeSpecifier::Decltype(_)));
    if is_decltype {
        return Err(cx.unsupported("`std::forward` with `decltype`", span));
    }
    let to = match to {
        TemplateArg::Type(ty) => match reference_arg(cx, ty) {
            Some(arg) => arg,
            None => specifier::type_name(cx, ty).map(Arg::Type),
        },
        TemplateArg::Value(ast::Expr {
            kind: ExprKind::Name(name),
            span,
        }) => match reference_named(&cx.scopes, name) {
            Some(ty) => Ok(Arg::Reference(ty)),
            None => specifier::named_type(cx, name, *span).map(Arg::Type),
        },
        TemplateArg::Value(_) | TemplateArg::Expansion(_) => {
            return Err(cx.unsupported("this `std::forward`", span));
        }
    };
    let value = expr::value(cx, arg)?;
    let place = reference::place_of(&value).cloned();
    match (to?, place) {
        (Arg::Reference(ty), Some(place)) if same_object(&place.ty.ty, &ty.ty) => {
            Ok(Checked::Place(place))
        }
        (Arg::Type(ty), _) if same_object(&value.ty, &ty.ty) => {
            let value = moved(cx, value, "std::forward", span)?;
            Ok(Checked::Value(value))
        }
        _ => Err(cx.unsupported("`std::forward` to another type", span)),
    }
}

/// A variable's value as one that is no variable's. Only where moving is copying bytes.
pub(crate) fn moved(
    cx: &mut Checker<'_>,
    value: Value,
    what: &str,
    span: Span,
) -> Result<Value, Reported> {
    if reference::place_of(&value).is_none() {
        return Ok(value);
    }
    if cx.tables.needs_copy(&value.ty) || cx.tables.has_destructor(&value.ty) {
        let text = cx.tables.show_type(&value.ty);
        return Err(cx.unsupported(
            &format!(
                "`{what}` of {} (a class with a copy constructor or a destructor)",
                with_article(&text)
            ),
            span,
        ));
    }
    let ty = value.ty.clone();
    let nothing = crate::sema::check::int(0, Ty::Int, span);
    let kind = ValueKind::Comma(Box::new(nothing), Box::new(value));
    Ok(Value::new(kind, ty, span))
}
