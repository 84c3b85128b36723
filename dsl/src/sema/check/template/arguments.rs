//! A template's arguments: as written, bound to the parameters, completed with defaults, shown in messages.

use crate::sema::message::expr::Needed;
use crate::sema::message::template::TemplateError;
use std::sync::Arc;

use super::super::{
    Checker, Reported, pack,
    pointer_call::{known_function, pointed_function},
};
use super::{Arg, Bound, entity_of};
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::{Entity, TemplateId},
        ty::Ty,
    },
    span::Span,
    syntax::ast::{self, ExprKind, TemplateArg, TemplateParamKind},
};

impl<'a> Checker<'a> {
    /// Template arguments as written, each as far as its parameter allows; `None` if one is wrong, which has been reported.
    pub(crate) fn explicit_args(
        &mut self,
        params: &[ast::TemplateParam],
        args: &[TemplateArg],
    ) -> Result<Vec<Arg>, Reported> {
        let mut args = self.expanded_template_args(args)?.into_iter();
        let mut out = Vec::new();
        for param in params {
            if param.is_pack {
                let mut pack = Vec::new();
                for (arg, element) in args.by_ref() {
                    pack.push(self.explicit_element(param, arg, element)?);
                }
                out.push(Arg::Pack(pack));
                break;
            }
            let Some((arg, element)) = args.next() else {
                break;
            };
            out.push(self.explicit_element(param, arg, element)?);
        }
        if let Some((arg, _)) = args.next() {
            let span = pack::arg_span(arg);
            let most = params.len();
            return Err(self.error(span, TemplateError::TooManyArguments { most }));
        }
        Ok(out)
    }

    pub(crate) fn explicit_arg(
        &mut self,
        param: &ast::TemplateParam,
        arg: &TemplateArg,
    ) -> Result<Arg, Reported> {
        match (&param.kind, arg) {
            (TemplateParamKind::Type(_), TemplateArg::Type(ty)) => match self.reference_arg(ty) {
                Some(arg) => arg,
                None => self.type_name(ty).map(Arg::Type),
            },
            (TemplateParamKind::Type(_), TemplateArg::Value(expr)) => {
                let ty = match &expr.kind {
                    ExprKind::Name(name) => match self.reference_named(name) {
                        Some(ty) => return Ok(Arg::Reference(ty)),
                        None => self.named_type(name, expr.span),
                    },
                    // The parser does not know which of the library's templates are types.
                    ExprKind::Path(path) => self.path_type(path),
                    _ => return Err(self.template_argument("a type", expr.span)),
                };
                ty.map(Arg::Type)
            }
            (TemplateParamKind::Value { .. }, TemplateArg::Value(expr)) => {
                self.mode.naming_constant += 1;
                let arg = self.constant_arg(expr);
                self.mode.naming_constant -= 1;
                arg
            }
            (TemplateParamKind::Value { .. }, TemplateArg::Type(ty)) => {
                Err(self.template_argument("a value", ty.span))
            }
            // Expansions have been made into their elements.
            (_, TemplateArg::Expansion(_)) => Err(self.reported_before(param.span)),
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
                match name.and_then(|name| Some(&self.scopes.find(name)?.entity)) {
                    Some(Entity::Template(id)) => Ok(Arg::Template(*id)),
                    Some(Entity::Error) => Err(self.reported_before(span)),
                    _ => Err(self.template_argument("a class template", span)),
                }
            }
        }
    }

    pub(crate) fn template_argument(&mut self, what: &'static str, span: Span) -> Reported {
        self.error(span, TemplateError::ArgumentKind { what })
    }

    /// A constant as a template argument, of its own type as yet.
    pub(crate) fn constant_arg(&mut self, expr: &ast::Expr) -> Result<Arg, Reported> {
        let value = self.value(expr)?;
        if let Some(id) = known_function(&value) {
            return Ok(Arg::Value(value.ty, u64::from(id.0) + 1));
        }
        match self.integer_constant(&value) {
            Ok(bits) => Ok(Arg::Value(value.ty, bits)),
            Err(why) => {
                let needed = Needed::Of("a template argument");
                Err(self.report_not_constant(expr.span, needed, why))
            }
        }
    }

    /// Runs `f` where a template stands, with its first parameters bound.
    pub(crate) fn bound<R>(
        &mut self,
        id: TemplateId,
        bound: &[(Arc<str>, Entity)],
        f: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let namespace = self.instances.templates[id].namespace.clone();
        let hidden = self.scopes.only_file();
        let outside = self.scopes.set_namespace(namespace);
        let element = self.scopes.at_element(None);
        // What a member template names in its class.
        let depth = self.enter_class_scopes(self.instances.templates[id].class);
        self.scopes.enter();
        for (name, entity) in bound {
            self.scopes
                .bind(name.clone(), entity.clone(), Span::default(), false);
        }
        let result = f(self);
        for _ in 0..=depth {
            self.scopes.leave();
        }
        self.scopes.leave_element(element);
        self.scopes.set_namespace(outside);
        self.scopes.show(hidden);
        result
    }

    pub(crate) fn bindings(params: &[ast::TemplateParam], args: &[Arg]) -> Bound {
        params
            .iter()
            .zip(args)
            .filter_map(|(param, arg)| Some((param.name.as_ref()?.node.clone(), entity_of(arg))))
            .collect()
    }

    /// All arguments of an instance: the known ones in their parameters' types, defaults for the others. `Err` names the
    /// parameter that nothing says what it is.
    pub(crate) fn complete_args(
        &mut self,
        id: TemplateId,
        params: &[ast::TemplateParam],
        known: Vec<Option<Arg>>,
    ) -> Result<Vec<Arg>, String> {
        let mut args: Vec<Arg> = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let bound = Self::bindings(params, &args);
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
                args.push(
                    self.complete_pack(id, &bound, param, items)
                        .ok_or_else(name)?,
                );
                continue;
            }
            let arg = match (&param.kind, given) {
                (TemplateParamKind::Type(_), Some(arg @ (Arg::Type(_) | Arg::Reference(_)))) => {
                    Some(arg)
                }
                (TemplateParamKind::Type(Some(default)), None) => self
                    .bound(id, &bound, |checker| checker.type_name(default))
                    .ok()
                    .map(Arg::Type),
                (TemplateParamKind::Template, Some(arg @ Arg::Template(_))) => Some(arg),
                // `template <auto N>`: of the argument's own type.
                (TemplateParamKind::Value { ty, .. }, Some(arg @ Arg::Value(..)))
                    if matches!(ty.specifiers.ty.node, ast::TypeSpecifier::Auto) =>
                {
                    Some(arg)
                }
                (TemplateParamKind::Value { ty, default }, given) => {
                    let to = self.bound(id, &bound, |checker| checker.type_name(ty));
                    let value = match (given, default) {
                        (Some(arg), _) => Some(arg),
                        (None, Some(default)) => self
                            .bound(id, &bound, |checker| checker.constant_arg(default))
                            .ok(),
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
    pub(crate) fn show_args(&self, args: &[Arg]) -> String {
        let one = |arg: &Arg| match arg {
            Arg::Pack(args) => {
                let text = self.show_args(args);
                text[1..text.len() - 1].to_string()
            }
            Arg::Type(ty) => self.show_qualified(ty).replace(" *", "*"),
            Arg::Reference(ty) => format!("{}&", self.show_qualified(ty).replace(" *", "*")),
            Arg::Template(id) => self.instances.templates[*id].name.to_string(),
            Arg::Value(ty, bits) if pointed_function(ty).is_some() => {
                let id = (*bits as usize).wrapping_sub(1);
                let function = self.tables.functions.get(id);
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
}
