//! Variable templates: `template <typename T> constexpr bool is_float = false;`.
//!
//! Such a variable is a constant for each list of arguments: its initialiser is evaluated with the parameters bound. With a memory space,
//! as in `template <typename T> __constant__ T mask[4];`, it is a variable for each list of arguments.

use crate::sema::check::{
    Checked, Checker, Reported, arguments, class_template, constant,
    convert::{self, Why},
    expr, specifier,
    template::{Arg, limit},
    variable::global,
};
use crate::sema::message::expr::Needed;
use crate::sema::message::template::TemplateError;
use std::sync::Arc;

use crate::{
    sema::{
        const_eval::Const,
        scope::{Entity, TemplateId},
        ty::Ty,
        typed::{GlobalVarId, Value},
    },
    syntax::ast::{self, SpecifierWord, TemplateArg},
};
use ir::span::Span;

/// `template <> constexpr bool is_float<float> = true;`, or a partial specialisation, which has parameters.
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

/// `is_float<T>`, `mask<T>`.
pub(crate) fn instance(
    cx: &mut Checker<'_>,
    id: TemplateId,
    written: &[TemplateArg],
    span: Span,
) -> Result<Checked, Reported> {
    let args = all_args(cx, id, written, span)?;
    if let Some((constant, ty)) = cx.instances.template_facts(id).constants.get(&args) {
        let value = Value::new(constant.kind(), ty.clone(), span);
        return Ok(Checked::Value(value));
    }
    let key = args.clone();
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
    let bound = arguments::bindings(params, &args);
    if has_memory(&declaration.specifiers) {
        let global = variable(cx, id, key, &bound, declaration, declarator)
            .ok_or_else(|| cx.body.reported_before(span))?;
        let name = cx.instances.template_facts(id).name.clone();
        return expr::entity(cx, &name, Some(Entity::Global(global)), span);
    }
    let is_const = declaration.specifiers.is_const
        || declaration
            .specifiers
            .word(SpecifierWord::Constexpr)
            .is_some();
    let init = declarator.init.as_ref().and_then(ast::Init::single);
    let (Some(init), true) = (init, is_const) else {
        return Err(cx.unsupported(
            "a template of a variable that is no constant",
            declarator.span,
        ));
    };
    if !limit::takes_instance(cx, id, "", span) {
        return Err(cx.body.reported_before(span));
    }
    let outer = std::mem::take(&mut cx.body);
    let constant = arguments::bound(cx, id, &bound, |cx| {
        constant_variable(cx, &declaration.specifiers, declarator, init)
    });
    cx.body = outer;
    let (constant, ty) = constant?;
    let facts = cx.instances.template_facts(id);
    facts.constants.insert(key, (constant, ty.clone()));
    let value = Value::new(constant.kind(), ty, span);
    Ok(Checked::Value(value))
}

/// Whether the specifiers name a memory space of the device.
fn has_memory(specifiers: &ast::Specifiers) -> bool {
    let words = [
        SpecifierWord::Device,
        SpecifierWord::Constant,
        SpecifierWord::Managed,
    ];
    words.iter().any(|word| specifiers.word(*word).is_some())
}

/// The variable for these arguments, made when it is first named.
fn variable(
    cx: &mut Checker<'_>,
    id: TemplateId,
    args: Vec<Arg>,
    bound: &[(Arc<str>, Entity)],
    declaration: &ast::Declaration,
    declarator: &ast::InitDeclarator,
) -> Option<GlobalVarId> {
    if let Some(&known) = cx.instances.template_facts(id).globals.get(&args) {
        return Some(known);
    }
    let outer = std::mem::take(&mut cx.body);
    let made = arguments::bound(cx, id, bound, |cx| {
        global::of_template(cx, declaration, declarator)
    });
    cx.body = outer;
    let made = made?;
    let shown = arguments::show_args(&cx.tables, &cx.instances, &args);
    cx.tables.globals[made].typed.name += &shown;
    cx.instances.template_facts(id).globals.insert(args, made);
    Some(made)
}

/// The value and the type of a constant variable.
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
