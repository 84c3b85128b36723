//! Forwarding references: template parameters that stand for references, `std::forward` and `std::move`.
//!
//! Types here do not contain references. A template parameter that stands for `int &` is a separate kind of name. A parameter's declaration
//! may use it (references collapse: `T`, `T &` and `T &&` are all `int &` then), and so may `std::forward`; elsewhere it is an error.

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

/// The type that a template parameter of this name refers to, if it stands for a reference.
pub(crate) fn reference_named(scopes: &Scopes, name: &Arc<str>) -> Option<QualTy> {
    match &scopes.find(name)?.entity {
        Entity::Reference(ty) => Some(ty.clone()),
        _ => None,
    }
}

/// For a parameter `T`, `T &` or `T &&` where `T` stands for a reference: the type that it refers to.
pub(crate) fn collapsed(scopes: &Scopes, param: &ast::Param) -> Option<QualTy> {
    let TypeSpecifier::Named(name) = &param.specifiers.ty.node else {
        return None;
    };
    let (_, parts) = reference_part(&param.declarator.parts);
    reference_named(scopes, name).filter(|_| parts.is_empty())
}

/// The parameter's reference, if it has one: its place, and whether it is an rvalue reference.
pub(crate) fn param_reference(scopes: &Scopes, param: &ast::Param) -> Option<(Span, bool)> {
    let (written, _) = reference_part(&param.declarator.parts);
    match collapsed(scopes, param) {
        Some(_) => Some((written.map_or(param.span, |(span, _)| span), false)),
        None => written,
    }
}

/// A reference as a template argument: `int &`, or a `T` that stands for one.
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

/// `std::forward<T>(x)`: `x` itself if `T` stands for a reference, else its value.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    to: &TemplateArg,
    arg: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    // `decltype` gives the type without the reference here, so whether to forward is unknown.
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

/// A variable's value as an rvalue. Only for types that are moved by copying bytes.
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
