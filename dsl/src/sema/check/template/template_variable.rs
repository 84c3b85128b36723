//! Templates of variables: `template <typename T> constexpr bool is_float = false;`.
//!
//! Such a variable is a constant of each list of arguments: its initialiser is evaluated with the parameters bound.

use crate::sema::check::{Checker, Reported, convert::Why, template::Arg};
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

impl<'a> Checker<'a> {
    /// `template <> constexpr bool is_float<float> = true;`, or a partial specialisation with parameters of its own.
    pub(crate) fn specialise_variable(
        &mut self,
        params: &'a [ast::TemplateParam],
        declaration: &'a ast::Declaration,
    ) {
        let Some(name) = declaration
            .declarators
            .first()
            .and_then(|first| first.declarator.name.as_ref())
        else {
            self.unsupported("this form of a template", declaration.span);
            return;
        };
        match self.scopes.find(&name.node).map(|found| &found.entity) {
            Some(Entity::Template(id)) if self.instances.is_variable(*id) => {
                let id = *id;
                self.instances
                    .template_facts(id)
                    .variables
                    .push((params, declaration));
            }
            Some(Entity::Error) => {}
            _ => {
                self.error(
                    name.span,
                    TemplateError::NoTemplateForInstance {
                        name: name.node.to_string(),
                    },
                );
            }
        }
    }

    /// The value of `is_float<T>`.
    pub(crate) fn variable_instance(
        &mut self,
        id: TemplateId,
        written: &[TemplateArg],
        span: Span,
    ) -> Result<Value, Reported> {
        let args = self.all_args(id, written, span)?;
        let facts = self.instances.template_facts(id);
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
        let (params, args, declaration) = match self.best_specialisation(id, all, &args) {
            Some((index, own)) => (variables[index].0, own, Some(variables[index].1)),
            None => match item {
                ast::Item::Declaration(declaration) => (params, args, Some(declaration)),
                _ => (params, args, None),
            },
        };
        let Some((declaration, declarator)) = declaration
            .and_then(|declaration| Some((declaration, declaration.declarators.first()?)))
        else {
            return Err(self.reported_before(span));
        };
        let is_const = declaration.specifiers.is_const
            || declaration
                .specifiers
                .word(ast::SpecifierWord::Constexpr)
                .is_some();
        let init = declarator.init.as_ref().and_then(ast::Init::single);
        let (Some(init), true) = (init, is_const) else {
            return Err(self.unsupported(
                "a template of a variable that is no constant",
                declarator.span,
            ));
        };
        let bound = Self::bindings(params, &args);
        let outer = std::mem::take(&mut self.body);
        let constant = self.bound(id, &bound, |checker| {
            checker.constant_variable(&declaration.specifiers, declarator, init)
        });
        self.body = outer;
        let (constant, ty) = constant?;
        Ok(Value::new(constant.kind(), ty, span))
    }

    /// The value and the type of a variable that is a constant.
    fn constant_variable(
        &mut self,
        specifiers: &ast::Specifiers,
        declarator: &ast::InitDeclarator,
        init: &ast::Expr,
    ) -> Result<(Const, Ty), Reported> {
        let value = self.value(init);
        let written = self.base_type(specifiers).transpose().map(|base| {
            let parts = &declarator.declarator.parts;
            self.declared_type(base, parts)
        });
        let value = value?;
        let ty = match written {
            Some(ty) => ty?.ty,
            None => value.ty.clone(),
        };
        let value = self.implicit(value, &ty, &Why::Init("this variable"))?;
        match self.constant(&value) {
            Ok(constant) => Ok((constant, ty)),
            Err(why) => {
                let needed = Needed::Of("the value of a template of a variable");
                Err(self.report_not_constant(init.span, needed, why))
            }
        }
    }

    /// The arguments of an instance as written, with defaults; `None` if they do not fit, which has been reported.
    pub(crate) fn all_args(
        &mut self,
        id: TemplateId,
        written: &[TemplateArg],
        span: Span,
    ) -> Result<Vec<Arg>, Reported> {
        let facts = self.instances.template_facts(id);
        let (name, declared, params) = (facts.name.clone(), facts.span, facts.params);
        let has_pack = params.last().is_some_and(|param| param.is_pack);
        if written.len() > params.len() && !has_pack {
            return Err(self.error(
                span,
                TemplateError::VariableArgumentCount {
                    name: name.to_string(),
                    n_params: params.len(),
                    n_written: written.len(),
                    declared,
                },
            ));
        }
        let known = self.explicit_args(params, written)?;
        let known = known.into_iter().map(Some).collect();
        match self.complete_args(id, params, known) {
            Ok(args) => Ok(args),
            Err(missing) => {
                let name = name.to_string();
                let message = TemplateError::VariableArgumentMissing {
                    name,
                    missing,
                    declared,
                };
                Err(self.error(span, message))
            }
        }
    }
}
