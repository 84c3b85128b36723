//! A template's arguments: as written, bound to the parameters, completed with defaults, shown in messages.

use crate::sema::message::expr::Needed;
use crate::sema::message::template::TemplateError;
use std::sync::Arc;

use super::super::{
    Checker, Reported, Reporter, Tables, class, constant, expr, forward, pack,
    pointer_call::{known_function, pointed_function},
    specifier,
    template::{self, Instances},
};
use super::{Arg, Bound, entity_of};
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::{Entity, TemplateId},
        ty::Ty,
    },
    syntax::ast::{self, ExprKind, TemplateArg, TemplateParamKind},
};
use ir::span::Span;

/// Template arguments as written, each checked for its kind of parameter; `None` if one is invalid, which has been reported.
pub(crate) fn explicit_args(
    cx: &mut Checker<'_>,
    params: &[ast::TemplateParam],
    args: &[TemplateArg],
) -> Result<Vec<Arg>, Reported> {
    let mut args = pack::expanded_template_args(cx, args)?.into_iter();
    let mut out = Vec::new();
    for param in params {
        if param.is_pack {
            let mut pack = Vec::new();
            for (arg, element) in args.by_ref() {
                pack.push(pack::explicit_element(cx, param, arg, element)?);
            }
            out.push(Arg::Pack(pack));
            break;
        }
        let Some((arg, element)) = args.next() else {
            break;
        };
        out.push(pack::explicit_element(cx, param, arg, element)?);
    }
    if let Some((arg, _)) = args.next() {
        let span = pack::arg_span(arg);
        let most = params.len();
        return Err(cx.error(span, TemplateError::TooManyArguments { most }));
    }
    Ok(out)
}

/// A template argument as written, for its kind of parameter.
pub(crate) fn explicit_arg(
    cx: &mut Checker<'_>,
    param: &ast::TemplateParam,
    arg: &TemplateArg,
) -> Result<Arg, Reported> {
    match (&param.kind, arg) {
        (TemplateParamKind::Type(_), TemplateArg::Type(ty)) => match forward::reference_arg(cx, ty)
        {
            Some(arg) => arg,
            None => specifier::type_name(cx, ty).map(Arg::Type),
        },
        (TemplateParamKind::Type(_), TemplateArg::Value(expr)) => {
            let ty = match &expr.kind {
                ExprKind::Name(name) => match forward::reference_named(&cx.scopes, name) {
                    Some(ty) => return Ok(Arg::Reference(ty)),
                    None => specifier::named_type(cx, name, expr.span),
                },
                // The parser does not know which of the library's templates are types.
                ExprKind::Path(path) => template::path_type(cx, path),
                _ => {
                    return Err(template_argument(
                        &cx.tables,
                        &mut cx.reporter,
                        "a type",
                        expr.span,
                    ));
                }
            };
            ty.map(Arg::Type)
        }
        (TemplateParamKind::Value { .. }, TemplateArg::Value(expr)) => {
            cx.mode.naming_constant += 1;
            let arg = constant_arg(cx, expr);
            cx.mode.naming_constant -= 1;
            arg
        }
        (TemplateParamKind::Value { .. }, TemplateArg::Type(ty)) => Err(template_argument(
            &cx.tables,
            &mut cx.reporter,
            "a value",
            ty.span,
        )),
        // Expansions have been replaced by their elements.
        (_, TemplateArg::Expansion(_)) => Err(cx.body.reported_before(param.span)),
        (TemplateParamKind::Template, arg) => {
            let name = match arg {
                TemplateArg::Expansion(_) => None,
                TemplateArg::Type(ty) => match &ty.specifiers.ty.node {
                    ast::TypeSpecifier::Named(name) if ty.declarator.parts.is_empty() => {
                        Some((name, ty.span))
                    }
                    _ => None,
                },
                TemplateArg::Value(expr) => match &expr.kind {
                    ExprKind::Name(name) => Some((name, expr.span)),
                    _ => None,
                },
            };
            let (name, span) = match name {
                Some((name, span)) => (Some(name), span),
                None => (None, param.span),
            };
            match name.and_then(|name| Some(&cx.scopes.find(name)?.entity)) {
                Some(Entity::Template(id)) => Ok(Arg::Template(*id)),
                Some(Entity::Error) => Err(cx.body.reported_before(span)),
                _ => Err(template_argument(
                    &cx.tables,
                    &mut cx.reporter,
                    "a class template",
                    span,
                )),
            }
        }
    }
}

fn template_argument(
    tables: &Tables,
    reporter: &mut Reporter,
    what: &'static str,
    span: Span,
) -> Reported {
    reporter.error(tables, span, TemplateError::ArgumentKind { what })
}

/// A constant as a template argument, not yet converted to the parameter's type.
fn constant_arg(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Arg, Reported> {
    let value = expr::value(cx, expr)?;
    if let Some(id) = known_function(&value) {
        return Ok(Arg::Value(value.ty, u64::from(id.0) + 1));
    }
    match constant::integer(cx, &value) {
        Ok(bits) => Ok(Arg::Value(value.ty, bits)),
        Err(why) => {
            let needed = Needed::Of("a template argument");
            Err(constant::report_not_constant(
                &cx.tables,
                &mut cx.reporter,
                expr.span,
                needed,
                why,
            ))
        }
    }
}

/// Runs `f` in the scope of a template, with its first parameters bound.
pub(crate) fn bound<'a, R>(
    cx: &mut Checker<'a>,
    id: TemplateId,
    bound: &[(Arc<str>, Entity)],
    f: impl FnOnce(&mut Checker<'a>) -> R,
) -> R {
    let namespace = cx.instances.templates[id].namespace.clone();
    let hidden = cx.scopes.only_file();
    let outside = cx.scopes.set_namespace(namespace);
    let element = cx.scopes.at_element(None);
    if let Some(blocks) = &cx.instances.templates[id].blocks {
        cx.scopes.enter_blocks(blocks);
    }
    // A member template can name members of its class.
    let depth = class::enter_scopes(&cx.tables, &mut cx.scopes, cx.instances.templates[id].class);
    cx.scopes.enter();
    for (name, entity) in bound {
        cx.scopes
            .bind(name.clone(), entity.clone(), Span::default(), false);
    }
    let result = f(cx);
    for _ in 0..=depth {
        cx.scopes.leave();
    }
    cx.scopes.leave_element(element);
    cx.scopes.set_namespace(outside);
    cx.scopes.show(hidden);
    result
}

pub(crate) fn bindings(params: &[ast::TemplateParam], args: &[Arg]) -> Bound {
    params
        .iter()
        .zip(args)
        .filter_map(|(param, arg)| Some((param.name.as_ref()?.node.clone(), entity_of(arg))))
        .collect()
}

/// All arguments of an instance: the known ones in their parameters' types, defaults for the others. `Err` is the parameter that cannot be
/// determined.
pub(crate) fn complete_args(
    cx: &mut Checker<'_>,
    id: TemplateId,
    params: &[ast::TemplateParam],
    known: Vec<Option<Arg>>,
) -> Result<Vec<Arg>, String> {
    let mut args: Vec<Arg> = Vec::new();
    for (i, param) in params.iter().enumerate() {
        let bound = bindings(params, &args);
        let given = known.get(i).cloned().flatten();
        let name = || {
            let name = param.name.as_ref().map_or("a parameter", |name| &name.node);
            name.to_string()
        };
        if param.is_pack {
            let items = match given {
                Some(Arg::Pack(items)) => items,
                _ => Vec::new(),
            };
            args.push(pack::complete(cx, id, &bound, param, items).ok_or_else(name)?);
            continue;
        }
        let arg = match (&param.kind, given) {
            (TemplateParamKind::Type(_), Some(arg @ (Arg::Type(_) | Arg::Reference(_)))) => {
                Some(arg)
            }
            (TemplateParamKind::Type(Some(default)), None) => {
                self::bound(cx, id, &bound, |cx| specifier::type_name(cx, default))
                    .ok()
                    .map(Arg::Type)
            }
            (TemplateParamKind::Template, Some(arg @ Arg::Template(_))) => Some(arg),
            // `template <auto N>`: the parameter has the argument's type.
            (TemplateParamKind::Value { ty, .. }, Some(arg @ Arg::Value(..)))
                if matches!(ty.specifiers.ty.node, ast::TypeSpecifier::Auto) =>
            {
                Some(arg)
            }
            (TemplateParamKind::Value { ty, default }, given) => {
                let to = self::bound(cx, id, &bound, |cx| specifier::type_name(cx, ty));
                let value = match (given, default) {
                    (Some(arg), _) => Some(arg),
                    (None, Some(default)) => {
                        self::bound(cx, id, &bound, |cx| constant_arg(cx, default)).ok()
                    }
                    (None, None) => None,
                };
                match (value, to.ok().map(|to| to.ty)) {
                    (Some(Arg::Value(from, bits)), Some(to)) if to.is_integral() => {
                        match const_eval::convert(Const::Int(bits), &from, &to) {
                            Const::Int(bits) => Some(Arg::Value(to, bits)),
                            Const::Float(_) => None,
                        }
                    }
                    (Some(Arg::Value(from, bits)), Some(to)) if from == to => {
                        Some(Arg::Value(to, bits))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        args.push(arg.ok_or_else(name)?);
    }
    Ok(args)
}

/// `<float, 32>`.
pub(crate) fn show_args(tables: &Tables, instances: &Instances<'_>, args: &[Arg]) -> String {
    let one = |arg: &Arg| match arg {
        Arg::Pack(args) => {
            let text = show_args(tables, instances, args);
            text[1..text.len() - 1].to_string()
        }
        Arg::Type(ty) => tables.show(ty).replace(" *", "*"),
        Arg::Reference(ty) => format!("{}&", tables.show(ty).replace(" *", "*")),
        Arg::Template(id) => instances.templates[*id].name.to_string(),
        Arg::Value(ty, bits) if pointed_function(ty).is_some() => {
            let id = (*bits as usize).wrapping_sub(1);
            let function = tables.functions.get(id);
            function.map_or_else(
                || "nullptr".to_string(),
                |function| function.typed.name.clone(),
            )
        }
        Arg::Value(Ty::Bool, bits) => (*bits != 0).to_string(),
        Arg::Value(ty, bits) if ty.is_signed() => (*bits as i64).to_string(),
        Arg::Value(_, bits) => bits.to_string(),
    };
    let args = args.iter().map(one);
    let args: Vec<String> = args.filter(|text| !text.is_empty()).collect();
    format!("<{}>", args.join(", "))
}
