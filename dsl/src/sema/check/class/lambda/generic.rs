//! Generic lambdas, `[&](auto x) { … }`: the class has a template of its `operator()`, with one parameter for each `auto`. Each call with
//! new types is an instance of it.
//!
//! The captures do not depend on the instances: they are all outer variables that the code names. An instance is checked later than the
//! enclosing functions, when their variables are not known any more. So the template keeps the blocks around the lambda, with each captured
//! variable replaced by a [`Captured`].

use std::sync::Arc;

use super::{
    Captures, LambdaFacts, Outer, capture, finish_class, lambda_class, lambda_space,
    named_captures, used,
};
use crate::sema::check::{Body, Checked, Checker, Reported, template};
use crate::sema::message::class::ClassError;
use crate::{
    sema::{
        const_eval::Const,
        scope::{Binding, Callable, Entity},
        ty::{QualTy, RecordId, Ty},
        typed::{FunctionSpace, GenericLambda, Value},
    },
    syntax::ast::{self, CaptureKind, SpecifierWord, TypeSpecifier},
};
use ir::span::{Span, Spanned};

/// The meaning of an outer variable's name in an instance of a generic lambda.
#[derive(Debug)]
pub(crate) enum Captured {
    /// A constant, used by its value.
    Constant(QualTy, Const),
    /// A member of the lambda's object.
    Member {
        class: RecordId,
        index: usize,
        /// The variable's type; the member is a pointer to it if `kind` is a reference.
        ty: QualTy,
        kind: CaptureKind,
        declared: Span,
    },
}

/// Whether a parameter has the type `auto`.
pub(super) fn is_generic(lambda: &ast::Lambda) -> bool {
    lambda.params.iter().any(is_auto)
}

fn is_auto(param: &ast::Param) -> bool {
    matches!(param.specifiers.ty.node, TypeSpecifier::Auto)
}

/// The class of a generic lambda.
pub(super) fn checked(cx: &mut Checker<'_>, lambda: &ast::Lambda) -> Result<LambdaFacts, Reported> {
    let class = lambda_class(&mut cx.tables, lambda.span);
    cx.tables.generic_lambdas.insert(class, cx.body.class);
    let named = named_captures(cx, class, lambda)?;
    let n_diagnostics = cx.reporter.diagnostics.len();
    let (params, function) = operator(lambda, lambda_space(cx, lambda));
    let mut blocks = cx.scopes.blocks();
    blocks.hide_variables();
    for (index, capture) in lambda.captures.iter().enumerate() {
        let Some(field) = cx.tables.record(class).fields.get(index) else {
            break;
        };
        if capture.init.is_some() {
            let captured = Captured::Member {
                class,
                index,
                ty: field.ty.clone(),
                kind: CaptureKind::Value,
                declared: capture.name.span,
            };
            let entity = Entity::Captured(Arc::new(captured));
            blocks.bind(&capture.name.node, entity, capture.name.span);
        }
    }
    let floor = cx.scopes.raise_floor();
    let body = Body {
        space: Some(function_space(&function)),
        floor: cx.scopes.floor(),
        lambda: Some(Captures {
            class,
            default: lambda.default,
            named,
            found: Vec::new(),
        }),
        ..Body::default()
    };
    let around = std::mem::replace(&mut cx.body, body);
    cx.outer_bodies.push(around);
    for (name, span) in used::names(lambda) {
        if let Some(entity) = held(cx, class, &name, span) {
            blocks.bind(&name, entity, span);
        }
    }
    let around = cx.outer_bodies.pop().unwrap_or_default();
    let done = std::mem::replace(&mut cx.body, around);
    cx.scopes.set_floor(floor);
    finish_class(&mut cx.tables, class);
    let shown = shown_params(cx, &function.params);
    cx.tables.named_generic_lambdas.push(GenericLambda {
        class,
        span: lambda.span,
        params: shown,
    });
    let id = template::of_lambda(cx, class, params, function, blocks);
    cx.scopes.enter();
    cx.scopes
        .add_method("operator()".into(), Callable::Template(id), lambda.span);
    cx.scopes.close_class(class, None);
    Ok(LambdaFacts {
        class,
        found: done
            .lambda
            .map(|captures| captures.found)
            .unwrap_or_default(),
        diagnostics: cx.reporter.diagnostics.split_off(n_diagnostics),
    })
}

/// The meaning of a name in the instances, if it is that of an outer variable or of a pack of them.
fn held(cx: &mut Checker<'_>, class: RecordId, name: &Arc<str>, span: Span) -> Option<Entity> {
    let Some(elements) = cx.scopes.find_pack(name).cloned() else {
        return held_variable(cx, class, name, span);
    };
    let mut held = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let around = cx.scopes.at_element(Some(index));
        let entity = held_variable(cx, class, name, span);
        cx.scopes.leave_element(around);
        held.push(Binding {
            entity: entity?,
            span: element.span,
        });
    }
    Some(Entity::Pack(held.into()))
}

fn held_variable(
    cx: &mut Checker<'_>,
    class: RecordId,
    name: &Arc<str>,
    span: Span,
) -> Option<Entity> {
    let captured = match super::outer_variable(cx, name, span) {
        Ok(None) => return None,
        // Its error has been reported, and is not repeated in the instances.
        Err(_) => return Some(Entity::Error),
        Ok(Some(Outer::Constant(ty, constant))) => Captured::Constant(ty, constant),
        Ok(Some(Outer::Captured {
            name,
            kind,
            ty,
            declared,
        })) => Captured::Member {
            class,
            index: capture(&mut cx.tables, &mut cx.body, class, &name, kind, &ty, span),
            ty,
            kind,
            declared,
        },
    };
    Some(Entity::Captured(Arc::new(captured)))
}

/// The lambda's code as a template of `operator()`: its parameters, and the function.
fn operator(
    lambda: &ast::Lambda,
    space: FunctionSpace,
) -> (Vec<ast::TemplateParam>, ast::Function) {
    let mut types = Vec::new();
    let mut params = lambda.params.clone();
    for param in params.iter_mut().filter(|param| is_auto(param)) {
        let name: Arc<str> = format!("auto:{}", types.len() + 1).into();
        param.specifiers.ty.node = TypeSpecifier::Named(name.clone());
        types.push(ast::TemplateParam {
            name: Some(Spanned::new(name, param.span)),
            kind: ast::TemplateParamKind::Type(None),
            is_pack: param.is_pack,
            span: param.span,
        });
    }
    let span = lambda.span;
    let (mut specifiers, parts) = match &lambda.result {
        Some(result) => (result.specifiers.clone(), result.declarator.parts.clone()),
        None => (ast::Specifiers::new(TypeSpecifier::Auto, span), Vec::new()),
    };
    let is_constexpr = |word: &&Spanned<SpecifierWord>| word.node == SpecifierWord::Constexpr;
    specifiers
        .words
        .extend(lambda.words.iter().find(is_constexpr).cloned());
    let words: &[SpecifierWord] = match space {
        FunctionSpace::HostDevice => &[SpecifierWord::Host, SpecifierWord::Device],
        FunctionSpace::Device | FunctionSpace::Kernel => &[SpecifierWord::Device],
        FunctionSpace::Host => &[SpecifierWord::Host],
    };
    let words = words.iter().map(|word| Spanned::new(*word, span));
    specifiers.words.extend(words);
    let name = ast::Name::new("operator()".into(), span);
    let function = ast::Function {
        specifiers,
        declarator: ast::Declarator::new(Some(name.clone()), parts, span),
        name,
        params,
        variadic: false,
        body: Some(lambda.body.clone()),
        method: ast::Method {
            is_const: !lambda.is_mutable,
            ..ast::Method::default()
        },
        span,
    };
    (types, function)
}

/// `auto:1, const auto:2 &, int`: other types are shown as written, since they may depend on the `auto` ones.
fn shown_params(cx: &Checker<'_>, params: &[ast::Param]) -> String {
    let shown = params.iter().map(|param| {
        let parts = param.declarator.parts.iter().map(|part| match part {
            ast::DeclaratorPart::Pointer { .. } => "*",
            ast::DeclaratorPart::Reference(_) => "&",
            ast::DeclaratorPart::RvalueReference(_) => "&&",
            ast::DeclaratorPart::Array(..) | ast::DeclaratorPart::Function(..) => "?",
        });
        let parts: String = parts.rev().collect();
        let dots = if param.is_pack { "..." } else { "" };
        match &param.specifiers.ty.node {
            TypeSpecifier::Named(name) if name.starts_with("auto:") => {
                let qualifiers = match param.specifiers.is_const {
                    true => "const ",
                    false => "",
                };
                format!("{qualifiers}{name}{parts}{dots}")
            }
            _ => format!("{}{parts}", cx.map.snippet(param.specifiers.span)),
        }
    });
    shown.collect::<Vec<String>>().join(", ")
}

fn function_space(function: &ast::Function) -> FunctionSpace {
    crate::sema::check::function::space_of(&function.specifiers)
}

/// A captured variable in an instance of the lambda.
pub(crate) fn entity(
    cx: &mut Checker<'_>,
    name: &str,
    captured: &Captured,
    span: Span,
) -> Result<Checked, Reported> {
    let (class, index, ty, kind, declared) = match captured {
        Captured::Constant(ty, constant) => {
            let value = Value::new(constant.kind(), ty.ty.clone(), span);
            return Ok(Checked::Value(value));
        }
        Captured::Member {
            class,
            index,
            ty,
            kind,
            declared,
        } => (*class, *index, ty, *kind, *declared),
    };
    let this = cx.body.this_place(span);
    let Some(this) = this.filter(|this| this.ty.ty == Ty::Record(class)) else {
        let name = name.to_string();
        return Err(cx.error(span, ClassError::OuterVariable { name, declared }));
    };
    let member = cx.tables.field_place(this, index as u32, span);
    Ok(Checked::Place(super::variable(
        member,
        kind,
        ty.clone(),
        span,
    )))
}
