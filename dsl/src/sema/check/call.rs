//! Calls of the program's own functions: who may call whom, arguments against parameters.

use crate::sema::message::Given;
use crate::sema::message::call::CallError;
use crate::sema::path;
use std::sync::Arc;

use super::{
    Checked, Checker, Reported, Side,
    overload::{Argument, Resolved},
    pointer_call::pointed_function,
};
use crate::{
    sema::{
        builtin,
        scope::{Callable, Entity},
        ty::Ty,
        typed::{FunctionId, FunctionSpace, Place, PlaceKind, Value, ValueKind},
    },
    span::Span,
    syntax::ast::{self, ExprKind},
};

pub(crate) mod associated;
pub(crate) mod atomic;
pub(crate) mod builtin_call;
pub(crate) mod exchange;
pub(crate) mod format;
pub(crate) mod forward;
pub(crate) mod graph;
pub(crate) mod host_call;
pub(crate) mod launch;
pub(crate) mod launch_call;
pub(crate) mod overload;
pub(crate) mod pointer_call;

impl Checker<'_> {
    /// `f(a, b)`: a function of the program, else something built in.
    pub(crate) fn call(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        let args = self.expanded(args);
        let args = &args[..];
        let (name, explicit) = match &callee.kind {
            ExprKind::Path(path) => match self.path_name(path) {
                Ok((name, explicit)) => (name, explicit),
                Err(reported) => return self.no_call(args, reported),
            },
            ExprKind::Name(name) => (name.clone(), None),
            _ => return self.call_of_expr(callee, args, span),
        };
        let name = &self.without_std(name);
        match self.outer_name(name, callee.span) {
            Ok(None) => {}
            Ok(Some(object)) => {
                return self.call_object(object.into_value(), callee.span, args, span);
            }
            Err(reported) => return self.no_call(args, reported),
        }
        let binding = self.scopes.find(name).cloned();
        if let Some(binding) = &binding
            && self.is_own(binding.span)
            && builtin::is_math(name)
        {
            return self.math_call(name, callee.span, args, span);
        }
        match binding {
            Some(binding) => self.call_bound(name, binding.entity, explicit, callee, args, span),
            None => self.call_unbound(name, explicit, callee, args, span),
        }
    }

    /// What is called is wrong and has been reported: only the arguments are looked at.
    fn no_call(&mut self, args: &[ast::Expr], reported: Reported) -> Result<Checked, Reported> {
        self.check_args_alone(args);
        Err(reported)
    }

    /// `std::f` is `f`, unless the program has one of its own.
    fn without_std(&self, name: Arc<str>) -> Arc<str> {
        if !path::is_qualified(&name) || self.scopes.find(&name).is_some() {
            return name;
        }
        let prefixes = ["std::", "::std::", "cuda::std::", "::cuda::std::", "::"];
        let mut lasts = prefixes.iter().map(|prefix| name.strip_prefix(prefix));
        lasts.find_map(|last| last).map_or(name.clone(), Arc::from)
    }

    /// A call of something that is no plain name.
    fn call_of_expr(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        let reported = match &callee.kind {
            ExprKind::Unsupported(construct) => self.unsupported(construct, callee.span),
            ExprKind::Error => self.reported_before(callee.span),
            ExprKind::Member(base, name) => {
                return self.method_call(base, false, (name, None), args, span);
            }
            ExprKind::Arrow(base, name) => {
                return self.method_call(base, true, (name, None), args, span);
            }
            ExprKind::Instance(inner, explicit) => match &inner.kind {
                ExprKind::Member(base, name) => {
                    return self.method_call(base, false, (name, Some(explicit)), args, span);
                }
                ExprKind::Arrow(base, name) => {
                    return self.method_call(base, true, (name, Some(explicit)), args, span);
                }
                _ => self.reported_before(callee.span),
            },
            _ => match self.expr(callee).map(Checked::into_value) {
                Ok(value)
                    if matches!(value.ty, Ty::Record(_))
                        || pointed_function(&value.ty).is_some() =>
                {
                    return self.call_object(value, callee.span, args, span);
                }
                Ok(_) => self.unsupported("a call of anything but a function's name", callee.span),
                Err(reported) => reported,
            },
        };
        self.no_call(args, reported)
    }

    /// `f(a, b)` where `f` is a variable.
    fn call_variable(
        &mut self,
        name: &Arc<str>,
        at: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        match self.name(name, at) {
            Ok(object) => self.call_object(object.into_value(), at, args, span),
            Err(reported) => self.no_call(args, reported),
        }
    }

    /// A call of a name that the program or the prelude declares.
    fn call_bound(
        &mut self,
        name: &Arc<str>,
        entity: Entity,
        explicit: Option<&[ast::TemplateArg]>,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        let reported = match entity {
            Entity::Functions(set) => {
                return self.call_set(name, &set, explicit, callee.span, args, span);
            }
            // The parser knows no class templates of the library: what they make are types all the same.
            Entity::Template(_) if let Some(given) = explicit => {
                match self.templated_type(name, given, callee.span) {
                    Ok(ty) => return self.construct(&ty.ty, args, span).map(Checked::Value),
                    Err(reported) => reported,
                }
            }
            Entity::Template(_) => {
                let name = name.to_string();
                self.error(callee.span, CallError::TemplateNeedsArguments { name })
            }
            Entity::Typedef(ty) => return self.construct(&ty.ty, args, span).map(Checked::Value),
            Entity::Error => self.reported_before(callee.span),
            Entity::Member(_) => return self.call_variable(name, callee.span, args, span),
            Entity::Local(_) | Entity::Global(_) if self.names_object(name) => {
                return self.call_variable(name, callee.span, args, span);
            }
            Entity::Constant(ty, _) if pointed_function(&ty).is_some() => {
                return self.call_variable(name, callee.span, args, span);
            }
            Entity::Reference(_) => {
                let what = "a conversion to a parameter that stands for a reference";
                self.unsupported(what, callee.span)
            }
            Entity::Local(_)
            | Entity::Global(_)
            | Entity::Enumerator(..)
            | Entity::Pack(_)
            | Entity::Constant(..) => {
                let declared = self.scopes.find(name).map(|binding| binding.span);
                let name = name.to_string();
                self.error(callee.span, CallError::NotAFunction { name, declared })
            }
        };
        self.no_call(args, reported)
    }

    /// A call of functions: members of a class, or overloads.
    fn call_set(
        &mut self,
        name: &Arc<str>,
        set: &[Callable],
        explicit: Option<&[ast::TemplateArg]>,
        at: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        let mut ids = match explicit {
            None => self.functions_of(set),
            Some(_) => Vec::new(),
        };
        let of_templates = self.instances.class_of_templates(set);
        if let Some(class) = self.class_of(&ids).or(of_templates) {
            self.check_path_access(name, at);
            let object = self.this_place(at);
            let object = object.map(super::method::place_value);
            let object = object.filter(
                |object| matches!(object.ty, Ty::Record(id) if self.tables.is_derived(id, class)),
            );
            let object = object.map(|object| self.as_base(object, class));
            let values = self.arguments(args);
            if of_templates.is_some() {
                ids.extend(self.instances(set, explicit, &values, at));
            }
            let last = path::last(name);
            return self.call_member(object, &ids, last, at, values, span);
        }
        self.call_overloaded(name, set, explicit, at, args, span)
    }

    /// A call of a name that nothing declares: something built in, if it is anything.
    fn call_unbound(
        &mut self,
        name: &Arc<str>,
        explicit: Option<&[ast::TemplateArg]>,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        if explicit.is_none()
            && builtin::find(name).is_none()
            && let Some((name, set)) = self.associated_functions(name, args)
        {
            return self.call_overloaded(&name, &set, None, callee.span, args, span);
        }
        match explicit {
            Some([to]) if &**name == "forward" && args.len() == 1 => {
                self.forward(to, &args[0], span)
            }
            None if &**name == "move" && args.len() == 1 => {
                let value = self.value(&args[0])?;
                self.moved(value, "std::move", span).map(Checked::Value)
            }
            // `std::max<float>(a, b)`: both are converted first.
            Some([ast::TemplateArg::Type(ty)]) if matches!(&**name, "min" | "max") => {
                let cast = |arg: &ast::Expr| {
                    ast::Expr::new(
                        ExprKind::Cast(Box::new(ty.clone()), Box::new(arg.clone())),
                        arg.span,
                    )
                };
                let args: Vec<ast::Expr> = args.iter().map(cast).collect();
                self.call_builtin(name, callee.span, &args, span)
            }
            Some(_) if builtin::find(name).is_some() => Err(self.unsupported(
                "template arguments of a function of the library",
                callee.span,
            )),
            _ if builtin::find(name).is_none()
                && self.map.snippet(callee.span).starts_with("std::") =>
            {
                let reported = match self.first_time(&format!("name std::{name}")) {
                    true => self.unsupported_path(&format!("std::{name}"), callee.span),
                    false => self.reported_before(callee.span),
                };
                self.no_call(args, reported)
            }
            _ => self.call_builtin(name, callee.span, args, span),
        }
    }

    /// The class whose functions these are.
    fn class_of(&self, ids: &[FunctionId]) -> Option<crate::sema::ty::RecordId> {
        let facts = &self.tables.functions[*ids.first()?].facts;
        // A friend is no member.
        let is_member = facts.has_this || facts.is_static;
        facts.class.filter(|_| is_member)
    }

    /// The name is that of a variable that is an object or points to a function.
    fn names_object(&self, name: &str) -> bool {
        let ty = match self.scopes.find(name).map(|binding| &binding.entity) {
            Some(Entity::Local(id)) => &self.body.vars[*id].typed.ty.ty,
            Some(Entity::Global(id)) => &self.tables.globals[*id].typed.ty.ty,
            _ => return false,
        };
        // A parameter that is not understood may be an object.
        matches!(ty, Ty::Record(_)) || pointed_function(ty).is_some() || !ty.is_understood()
    }

    /// A call of a member function or an operator, whose object is the first argument; `given` arguments were written.
    pub(crate) fn call_with(
        &mut self,
        id: FunctionId,
        at: Span,
        given: usize,
        values: Vec<Argument<'_>>,
        span: Span,
    ) -> Result<Checked, Reported> {
        self.need(id);
        let function = &self.tables.functions[id].typed;
        let (name, space, declared) = (function.name.clone(), function.space, function.span);
        let ty = function.result.clone();
        let params = &self.tables.functions[id].facts.params;
        let least = params
            .iter()
            .take_while(|param| param.default.is_none())
            .count();
        if values.len() > params.len() || values.len() < least {
            let hidden = values.len() - given;
            let expected = match (least, params.len()) {
                (least, all) if least == all => count(all - hidden),
                (least, all) => format!("{} to {}", least - hidden, count(all - hidden)),
            };
            let shown = path::last(&name).to_string();
            return Err(self.error(
                at,
                CallError::ArgumentCount {
                    shown: shown.to_string(),
                    expected: expected.to_string(),
                    given: Given(given),
                    declared,
                },
            ));
        }
        self.check_call_side(&name, space, declared, at);
        self.note_call(id, at);
        let args = self.bind_arguments(id, values, span)?;
        let value = Value::new(ValueKind::Call(id, args), ty, span);
        self.called(id, value)
    }

    /// A function of `math_double.k` and its like. Host code calls C's library where it has the function. A `double` function
    /// gives way to its `float` version where all its `double` parameters would get a `float`.
    fn math_call(
        &mut self,
        name: &Arc<str>,
        name_span: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        if !self.may_be_device() && builtin::is_host(name) {
            return self.call_builtin(name, name_span, args, span);
        }
        // Where C's library differs from CUDA's, host code has a form of its own.
        let own: Option<Arc<str>> = (!self.may_be_device())
            .then(|| format!("__dslc_host_{name}").into())
            .filter(|name: &Arc<str>| self.prelude_functions(name).is_some());
        let name = own.as_ref().unwrap_or(name);
        let Some(mut id) = self.prelude_function(name) else {
            return Err(self.reported_before(name_span));
        };
        let float = match own.is_some() {
            true => Some(format!("{name}f").into()),
            false => builtin::float_version(name),
        };
        let params = &self.tables.functions[id].facts.params;
        let is_list = |arg: &ast::Expr| matches!(arg.kind, ExprKind::List(_));
        let (Some(float), false) = (
            float,
            params.len() != args.len() || args.iter().any(is_list),
        ) else {
            let set = [Callable::Function(id)];
            return self.call_overloaded(name, &set, None, name_span, args, span);
        };
        let is_double: Vec<bool> = params
            .iter()
            .map(|param| param.ty.ty == Ty::Double)
            .collect();
        let values = self.arguments(args);
        let mut reals = values.iter().zip(is_double).filter(|(_, is)| *is);
        let is_float =
            |arg: &Argument<'_>| matches!(arg, Argument::Value(value) if value.ty == Ty::Float);
        if reals.all(|(arg, _)| is_float(arg))
            && let Some(float) = self.prelude_function(&float)
        {
            id = float;
        }
        self.note_call(id, name_span);
        let ty = self.tables.functions[id].typed.result.clone();
        let args = self.bind_arguments(id, values, span)?;
        Ok(Checked::Value(Value::new(
            ValueKind::Call(id, args),
            ty,
            span,
        )))
    }

    /// Keeps who calls whom.
    fn note_call(&mut self, id: FunctionId, name_span: Span) {
        if self.mode.unevaluated == 0
            && let Some(caller) = self.body.id
        {
            self.tables.functions[caller]
                .facts
                .calls
                .push((id, name_span));
        }
    }

    fn call_builtin(
        &mut self,
        name: &Arc<str>,
        name_span: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        match builtin::find(name) {
            Some(entry) => self.builtin_call(name, entry, name_span, args, span),
            None => {
                let reported = self.unknown_name(name, name_span, true);
                self.no_call(args, reported)
            }
        }
    }

    /// Arguments whose function is wrong are still looked at for their own errors.
    pub(crate) fn check_args_alone(&mut self, args: &[ast::Expr]) {
        for arg in args {
            if !matches!(arg.kind, ExprKind::List(_)) {
                // Its messages are all that is wanted.
                let _ = self.expr(arg);
            }
        }
    }

    /// A call of one of the functions that a name stands for, or of what CUDA has under it.
    pub(crate) fn call_overloaded(
        &mut self,
        name: &Arc<str>,
        set: &[Callable],
        explicit: Option<&[ast::TemplateArg]>,
        name_span: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Checked, Reported> {
        let n_diagnostics = self.reporter.diagnostics.len();
        let n_temporaries = self.body.flow.temporaries.len();
        let values = self.arguments(args);
        let ids = self.candidates(name, set, explicit, &values, name_span)?;
        let ids = &ids[..];
        // The prelude's own functions do not compete with what they stand for.
        let own = ids
            .iter()
            .all(|id| self.is_own(self.tables.functions[*id].facts.declared));
        let resolved = match ids {
            [id] if own => Resolved::Function(*id),
            _ => self.resolve(name, ids, &values, name_span)?,
        };
        match resolved {
            Resolved::Function(id) => self.call_function(id, name_span, args, values, span),
            Resolved::Builtin => {
                // It looks at the arguments itself.
                self.reporter.diagnostics.truncate(n_diagnostics);
                self.body.flow.temporaries.truncate(n_temporaries);
                if builtin::is_math(name) {
                    self.math_call(name, name_span, args, span)
                } else {
                    self.call_builtin(name, name_span, args, span)
                }
            }
        }
    }

    pub(crate) fn call_function(
        &mut self,
        id: FunctionId,
        name_span: Span,
        args: &[ast::Expr],
        values: Vec<Argument<'_>>,
        span: Span,
    ) -> Result<Checked, Reported> {
        self.need(id);
        let function = &self.tables.functions[id].typed;
        let (name, space, declared) = (function.name.clone(), function.space, function.span);
        let ty = function.result.clone();
        if space == FunctionSpace::Kernel {
            let text = self.map.snippet(span);
            let given = text.split_once('(').map_or("…)", |(_, rest)| rest);
            return Err(self.error(
                span,
                CallError::KernelWithoutLaunch {
                    name: name.to_string(),
                    declared,
                    given: given.to_string(),
                },
            ));
        }
        self.check_call_side(&name, space, declared, name_span);
        self.note_call(id, name_span);
        let args = self.args(id, args, values, name_span, span)?;
        let value = Value::new(ValueKind::Call(id, args), ty, span);
        self.called(id, value)
    }

    /// What a call gives: a function that returns a reference gives a place.
    pub(crate) fn called(&mut self, id: FunctionId, call: Value) -> Result<Checked, Reported> {
        let span = call.span;
        self.known(&call.ty, span)?;
        Ok(match call.ty.clone() {
            Ty::Pointer(referee) if self.tables.functions[id].typed.returns_reference => {
                Checked::Place(Place::new(
                    PlaceKind::Deref(Box::new(call)),
                    referee.as_ref().clone(),
                    span,
                ))
            }
            _ => Checked::Value(call),
        })
    }

    fn check_call_side(&mut self, name: &str, space: FunctionSpace, declared: Span, at: Span) {
        match space {
            FunctionSpace::Host => {
                let is_destructor =
                    path::split(name).is_some_and(|(_, last)| last.starts_with('~'));
                // Objects end at the block's brace, after what is wrong with making them.
                let at = match is_destructor && at.end > at.start {
                    true => Span {
                        start: at.end - 1,
                        ..at
                    },
                    false => at,
                };
                let name = name.to_string();
                let message = match self.is_own(declared) {
                    true => CallError::LibraryInDevice { name },
                    false => CallError::HostFunctionInDevice { name, declared },
                };
                self.on_side(Side::Device, self.diagnostic(at, message));
            }
            FunctionSpace::Device => {
                let diagnostic = self.diagnostic(
                    at,
                    CallError::DeviceFunctionInHost {
                        name: name.to_string(),
                        declared,
                    },
                );
                self.on_side(Side::Host, diagnostic);
            }
            FunctionSpace::Kernel | FunctionSpace::HostDevice => {}
        }
    }

    /// The arguments in their parameters' types.
    pub(crate) fn args(
        &mut self,
        id: FunctionId,
        args: &[ast::Expr],
        values: Vec<Argument<'_>>,
        at: Span,
        span: Span,
    ) -> Result<Vec<Value>, Reported> {
        let facts = &self.tables.functions[id].facts;
        let params = facts.params.clone();
        let optional = params.iter().rev();
        let optional = optional.take_while(|param| param.default.is_some()).count();
        let function = &self.tables.functions[id].typed;
        let (name, declared, space) = (function.name.clone(), function.span, function.space);
        let least = params.len() - optional;
        if args.len() > params.len() || args.len() < least {
            let expected = match optional {
                0 => count(params.len()),
                _ => format!("{least} to {}", count(params.len())),
            };
            let missing = params.get(args.len());
            let parameter = missing.and_then(|missing| missing.name.as_deref());
            return Err(self.error(
                at,
                CallError::FunctionArgumentCount {
                    name,
                    expected,
                    given: Given(args.len()),
                    extra: args.get(params.len()).map(|extra| extra.span),
                    missing: missing.map(|missing| missing.span),
                    parameter: parameter.unwrap_or("this parameter").to_string(),
                    space,
                    declared,
                },
            ));
        }
        self.bind_arguments(id, values, span)
    }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize) -> String {
    match n {
        0 => "no arguments".to_string(),
        1 => "1 argument".to_string(),
        n => format!("{n} arguments"),
    }
}
