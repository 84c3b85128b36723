//! Constant variables: `const` with a constant initialiser, and allowed initial values of static variables.

use super::{Declared, is_address};
use crate::sema::check::{Body, Checker, Tables, VarFacts, constant};
use crate::sema::message::decl::DeclError;
use crate::sema::message::expr::{ExprError, Needed};
use crate::{
    sema::{
        classify::Classify,
        const_eval::NotConst,
        ty::QualTy,
        typed::{Init, Value, ValueKind, VarId},
    },
    syntax::ast::{self, SpecifierWord},
};
use ir::{diagnostic::Diagnostic, span::Span};

pub(crate) fn note(
    cx: &mut Checker<'_>,
    id: VarId,
    ty: &QualTy,
    init: Option<&mut Init>,
    declaration: &ast::Declaration,
    name: &ast::Name,
) {
    let constexpr = declaration.specifiers.word(SpecifierWord::Constexpr);
    if !ty.is_const || ty.is_volatile {
        return;
    }
    let facts = &mut cx.body.vars[id].facts;
    let Some(init) = init else {
        if !facts.is_wrong && ty.ty.is_scalar() {
            cx.error(
                name.span,
                DeclError::ConstantWithoutValue {
                    name: name.node.to_string(),
                },
            );
        }
        return;
    };
    if ty.ty.is_arithmetic() {
        let Init::Value(value) = init else { return };
        let constant = match constexpr {
            Some(_) => constant::of(cx, value),
            None => constant::if_any(cx, value),
        };
        match constant {
            Ok(constant) => {
                value.kind = constant.kind();
                cx.body.vars[id].facts.constant = Some(constant);
            }
            Err(why) if constexpr.is_some() => {
                let needed = Needed::Constexpr(name.node.clone());
                constant::report_not_constant(&cx.tables, &mut cx.reporter, name.span, needed, why);
            }
            Err(_) => {}
        }
    }
}

/// `static const int n = 4;` in device code: its memory space makes no difference.
pub(crate) fn is_static_constant(body: &Body, declared: &Declared<'_>) -> bool {
    declared.ty.is_const && declared.ty.ty.is_arithmetic() && body.may_be_device()
}

/// Checks a global's initialiser, which may be constants and addresses. Constants are evaluated here.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    init: Init,
    name: &ast::Name,
    facts: &mut VarFacts,
) -> Init {
    match init {
        Init::Value(value) => Init::Value(constant_value(cx, value, name, facts)),
        Init::Parts { zero_rest, parts } => Init::Parts {
            zero_rest,
            parts: parts
                .into_iter()
                .map(|(steps, value)| (steps, constant_value(cx, value, name, facts)))
                .collect(),
        },
        Init::Bytes(bytes) => Init::Bytes(bytes),
    }
}

fn constant_value(
    cx: &mut Checker<'_>,
    value: Value,
    name: &ast::Name,
    facts: &mut VarFacts,
) -> Value {
    if value.ty.is_arithmetic() {
        let diagnostic = match constant::of(cx, &value) {
            Ok(constant) => {
                return Value {
                    kind: constant.kind(),
                    ..value
                };
            }
            Err(NotConst::Error) => return value,
            Err(NotConst::DivisionByZero(span)) => {
                facts.is_wrong = true;
                let name = name.node.to_string();
                cx.reporter.constant_division(
                    &cx.tables,
                    span,
                    ExprError::InitialDivision { name },
                );
                return value;
            }
            Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
                facts.is_wrong = true;
                let needed = Needed::Initial(name.node.clone());
                constant::report_not_constant(
                    &cx.tables,
                    &mut cx.reporter,
                    value.span,
                    needed,
                    why,
                );
                return value;
            }
            Err(NotConst::Variable(span)) => not_constant_init(&cx.tables, span, name),
        };
        facts.is_wrong = true;
        cx.reporter.report(diagnostic);
        return value;
    }
    if let ValueKind::Aggregate(members) = value.kind {
        let members = members
            .into_iter()
            .map(|member| constant_value(cx, member, name, facts))
            .collect();
        return Value {
            kind: ValueKind::Aggregate(members),
            ..value
        };
    }
    if !is_address(&value) {
        let diagnostic = not_constant_init(&cx.tables, value.span, name);
        cx.reporter.report(diagnostic);
    }
    value
}

fn not_constant_init(tables: &Tables, span: Span, name: &ast::Name) -> Diagnostic {
    tables.diagnostic(
        span,
        DeclError::InitialiserNotConstant {
            name: name.node.to_string(),
        },
    )
}
