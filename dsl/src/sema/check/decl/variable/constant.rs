//! Variables that are constants: `const` with a constant initialiser, and what a static variable may begin with.

use super::{Declared, is_address};
use crate::sema::check::{Checker, VarFacts};
use crate::sema::message::decl::DeclError;
use crate::sema::message::expr::{ExprError, Needed};
use crate::{
    diagnostic::Diagnostic,
    sema::{
        classify::Classify,
        const_eval::NotConst,
        ty::QualTy,
        typed::{Init, Value, ValueKind, VarId},
    },
    span::Span,
    syntax::ast::{self, SpecifierWord},
};

impl Checker<'_> {
    pub(crate) fn note_constant(
        &mut self,
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
        let facts = &mut self.body.vars[id].facts;
        let Some(init) = init else {
            if !facts.is_wrong && ty.ty.is_scalar() {
                self.error(
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
                Some(_) => self.constant(value),
                None => self.constant_if_any(value),
            };
            match constant {
                Ok(constant) => {
                    value.kind = constant.kind();
                    self.body.vars[id].facts.constant = Some(constant);
                }
                Err(why) if constexpr.is_some() => {
                    let needed = Needed::Constexpr(name.node.clone());
                    self.report_not_constant(name.span, needed, why);
                }
                Err(_) => {}
            }
        }
    }

    /// `static const int n = 4;`: where it lives makes no difference.
    pub(crate) fn is_static_constant(&self, declared: &Declared<'_>) -> bool {
        declared.ty.is_const && declared.ty.ty.is_arithmetic() && self.may_be_device()
    }

    /// What a global's initialiser may be: constants and addresses. Constants are evaluated here.
    pub(crate) fn constant_init(
        &mut self,
        init: Init,
        name: &ast::Name,
        facts: &mut VarFacts,
    ) -> Init {
        match init {
            Init::Value(value) => Init::Value(self.constant_value(value, name, facts)),
            Init::Parts { zero_rest, parts } => Init::Parts {
                zero_rest,
                parts: parts
                    .into_iter()
                    .map(|(steps, value)| (steps, self.constant_value(value, name, facts)))
                    .collect(),
            },
            Init::Bytes(bytes) => Init::Bytes(bytes),
        }
    }

    pub(crate) fn constant_value(
        &mut self,
        value: Value,
        name: &ast::Name,
        facts: &mut VarFacts,
    ) -> Value {
        if value.ty.is_arithmetic() {
            let diagnostic = match self.constant(&value) {
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
                    self.report_constant_division(span, ExprError::InitialDivision { name });
                    return value;
                }
                Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
                    facts.is_wrong = true;
                    let needed = Needed::Initial(name.node.clone());
                    self.report_not_constant(value.span, needed, why);
                    return value;
                }
                Err(NotConst::Variable(span)) => self.not_constant_init(span, name),
            };
            facts.is_wrong = true;
            self.report(diagnostic);
            return value;
        }
        if let ValueKind::Aggregate(members) = value.kind {
            let members = members
                .into_iter()
                .map(|member| self.constant_value(member, name, facts))
                .collect();
            return Value {
                kind: ValueKind::Aggregate(members),
                ..value
            };
        }
        if !is_address(&value) {
            let diagnostic = self.not_constant_init(value.span, name);
            self.report(diagnostic);
        }
        value
    }

    pub(crate) fn not_constant_init(&self, span: Span, name: &ast::Name) -> Diagnostic {
        self.diagnostic(
            span,
            DeclError::InitialiserNotConstant {
                name: name.node.to_string(),
            },
        )
    }
}
