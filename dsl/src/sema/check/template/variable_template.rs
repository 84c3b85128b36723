//! Templates of variables: `template <typename T> constexpr bool is_float = false;`.
//!
//! Such a variable is a constant of each list of arguments: its initialiser is evaluated with the parameters bound.

use crate::sema::check::{
    Checker, Reported, arguments, class_template, constant,
    convert::{self, Why},
    expr, specifier,
    template::Arg,
};
use crate::sema::message::expr::Needed;
use crate::sema::message::template::TemplateError;
use crate::{
    sema::{
        const_eval::Const,
        scope::{Entity, TemplateId},
        ty::Ty,
        typed::Value,
    },
    span::Span,
    syntax::ast::{self, TemplateArg},
};

/// `template <> constexpr bool is_float<float> = true;`, or a partial specialisation with parameters of its own.
pub(crate) fn specialise<'a>(
    cx: &mut Checker<'a>,
    params: &'a [ast::TemplateParam],
    declaration: &'a ast::Declaration,
) {
    let Some(name) = declaration
        .declarators
        .first()
        .and_then(|first| first.declarator.name.as_ref())
    else {
        cx.unsupported("this form of a template", declaration.span);
        return;
    };
    match cx.scopes.find(&name.node).map(|found| &found.entity) {
        Some(Entity::Template(id)) if cx.instances.is_variable(*id) => {
            let id = *id;
            cx.instances
                .template_facts(id)
                .variables
                .push((params, declaration));
        }
        Some(Entity::Error) => {}
        _ => {
            cx.error(
                name.span,
                TemplateError::NoTemplateForInstance {
                    name: name.node.to_string(),
                },
            );
        }
    }
}

/// The value of `is_float<T>`.
pub(crate) fn instance(
    cx: &mut Checker<'_>,
    id: TemplateId,
    written: &[TemplateArg],
    span: Span,
) -> Result<Value, Reported> {
    let args = all_args(cx, id, written, span)?;
    let facts = cx.instances.template_facts(id);
    let variables = facts.variables.clone();
    let (params, item) = (facts.params, facts.item);
    let all = variables.iter().map(|(params, declaration)| {
        let first = declaration.declarators.first();
        (
            *params,
            first.and_then(|first| first.declarator.args.as_deref()),
        )
    });
    let all = all.collect();
    let (params, args, declaration) = match class_template::best_specialisation(cx, id, all, &args)
    {
        Some((index, own)) => (variables[index].0, own, Some(variables[index].1)),
        None => match item {
            ast::Item::Declaration(declaration) => (params, args, Some(declaration)),
            _ => (params, args, None),
        },
    };
    let Some((declaration, declarator)) =
        declaration.and_then(|declaration| Some((declaration, declaration.declarators.first()?)))
    else {
        return Err(cx.body.reported_before(span));
    };
    let is_const = declaration.specifiers.is_const
        || declaration
            .specifiers
            .word(ast::SpecifierWord::Constexpr)
            .is_some();
    let init = declarator.init.as_ref().and_then(ast::Init::single);
    let (Some(init), true) = (init, is_const) else {
        return Err(cx.unsupported(
            "a template of a variable that is no constant",
            declarator.span,
        ));
    };
    let bound = arguments::bindings(params, &args);
    let outer = std::mem::take(&mut cx.body);
    let constant = arguments::bound(cx, id, &bound, |cx| {
        constant_variable(cx, &declaration.specifiers, declarator, init)
    });
    cx.body = outer;
    let (constant, ty) = constant?;
    Ok(Value::new(constant.kind(), ty, span))
}

/// The value and the type of a variable that is a constant.
fn constant_variable(
    cx: &mut Checker<'_>,
    specifiers: &ast::Specifiers,
    declarator: &ast::InitDeclarator,
    init: &ast::Expr,
) -> Result<(Const, Ty), Reported> {
    let value = expr::value(cx, init);
    let written = specifier::base_type(cx, specifiers)
        .transpose()
        .map(|base| {
            let parts = &declarator.declarator.parts;
            specifier::declared_type(cx, base, parts)
        });
    let value = value?;
    let ty = match written {
        Some(ty) => ty?.ty,
        None => value.ty.clone(),
    };
    let value = convert::implicit(cx, value, &ty, &Why::Init("this variable"))?;
    match constant::of(cx, &value) {
        Ok(constant) => Ok((constant, ty)),
        Err(why) => {
            let needed = Needed::Of("the value of a template of a variable");
            Err(constant::report_not_constant(
                &cx.tables,
                &mut cx.reporter,
                init.span,
                needed,
                why,
            ))
        }
    }
}

/// The arguments of an instance as written, with defaults; `None` if they do not fit, which has been reported.
pub(crate) fn all_args(
    cx: &mut Checker<'_>,
    id: TemplateId,
    written: &[TemplateArg],
    span: Span,
) -> Result<Vec<Arg>, Reported> {
    let facts = cx.instances.template_facts(id);
    let (name, declared, params) = (facts.name.clone(), facts.span, facts.params);
    let has_pack = params.last().is_some_and(|param| param.is_pack);
    if written.len() > params.len() && !has_pack {
        return Err(cx.error(
            span,
            TemplateError::VariableArgumentCount {
                name: name.to_string(),
                n_params: params.len(),
                n_written: written.len(),
                declared,
            },
        ));
    }
    let known = arguments::explicit_args(cx, params, written)?;
    let known = known.into_iter().map(Some).collect();
    match arguments::complete_args(cx, id, params, known) {
        Ok(args) => Ok(args),
        Err(missing) => {
            let name = name.to_string();
            let message = TemplateError::VariableArgumentMissing {
                name,
                missing,
                declared,
            };
            Err(cx.error(span, message))
        }
    }
}
