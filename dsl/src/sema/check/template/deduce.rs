//! Deduction: finds a template's parameters from a call's arguments.

use super::super::{
    Checker, arguments, attempt, function::reference_part, function_template, overload::Argument,
    reference, template,
};
use super::{Arg, ArgState, attempt::Misfit, learn};
use crate::sema::message::template::Reason;
use crate::sema::path;
use crate::{
    sema::{
        scope::{Entity, TemplateId},
        ty::{FunctionTy, QualTy, Ty},
        typed::FunctionId,
    },
    syntax::ast::{self, DeclaratorPart, ExprKind, TemplateArg, TemplateParamKind},
};
use ir::span::Span;
use std::borrow::Cow;

/// The state of a deduction, argument by argument.
pub(crate) struct Deduction<'d> {
    pub(crate) params: &'d [ast::TemplateParam],
    function: &'d ast::Function,
    /// The arguments `<…>` as written.
    pub(crate) given: Vec<Arg>,
    pub(crate) known: Vec<ArgState>,
    /// The elements of the parameter pack.
    pack: Vec<Arg>,
    /// How many of those are explicit.
    n_given: usize,
    /// Whether the template has a parameter pack.
    has_pack: bool,
}

impl<'d> Deduction<'d> {
    fn new(
        params: &'d [ast::TemplateParam],
        function: &'d ast::Function,
        given: Vec<Arg>,
    ) -> Deduction<'d> {
        let mut known: Vec<ArgState> = given.iter().cloned().map(ArgState::Given).collect();
        known.resize(params.len(), ArgState::Nothing);
        let pack: Vec<Arg> = match known.last() {
            Some(ArgState::Given(Arg::Pack(given))) => given.clone(),
            _ => Vec::new(),
        };
        Deduction {
            params,
            function,
            given,
            known,
            n_given: pack.len(),
            pack,
            has_pack: params.last().is_some_and(|param| param.is_pack),
        }
    }

    /// What is known of each parameter.
    fn finish(mut self) -> Result<Vec<Option<Arg>>, Box<Misfit>> {
        let takes_pack = takes_pack(self.function);
        if self.has_pack
            && (takes_pack || !self.pack.is_empty())
            && let Some(slot) = self.known.last_mut()
        {
            // An earlier argument, a pointer to a function, may have determined the pack.
            if let ArgState::Deduced(Arg::Pack(before)) = slot
                && takes_pack
                && *before != self.pack
            {
                return Err(Box::default());
            }
            *slot = ArgState::Deduced(Arg::Pack(self.pack));
        }
        Ok(self.known.into_iter().map(ArgState::arg).collect())
    }
}

/// Whether the function's last parameter is a pack.
fn takes_pack(function: &ast::Function) -> bool {
    function.params.last().is_some_and(|param| param.is_pack)
}

/// The number of arguments that a function needs, if it accepts `n_args`.
fn arity(
    params: &[ast::TemplateParam],
    function: &ast::Function,
    n_explicit: usize,
    n_args: usize,
    is_address: bool,
) -> Result<usize, Box<Misfit>> {
    let has_pack = params.last().is_some_and(|param| param.is_pack);
    if n_explicit > params.len() && !has_pack {
        let reason = Reason::TakesTemplateArguments(params.len());
        return Err(Misfit::because(reason));
    }
    if n_args > function.params.len() && !takes_pack(function) {
        return Err(Misfit::because(Reason::Takes(function.params.len())));
    }
    let required = function.params.iter();
    let required = required.filter(|param| param.default.is_none() && !param.is_pack);
    let required = required.count();
    // If a function's address is taken, there are no arguments.
    if n_args < required && !is_address && n_args > 0 {
        return Err(Misfit::because(Reason::Needs(required)));
    }
    Ok(required)
}

/// A parameter's declarator parts: an array becomes a pointer.
fn parameter_parts(is_reference: bool, parts: &[DeclaratorPart]) -> Cow<'_, [DeclaratorPart]> {
    match parts {
        [DeclaratorPart::Array(..), rest @ ..] if !is_reference => {
            let pointer = DeclaratorPart::Pointer {
                is_const: false,
                is_volatile: false,
                is_restrict: false,
            };
            let parts = std::iter::once(pointer).chain(rest.iter().cloned());
            Cow::Owned(parts.collect())
        }
        parts => Cow::Borrowed(parts),
    }
}

/// The instance that a call with these arguments means. `result` is the result of a specialisation, which also takes part in the deduction.
pub(crate) fn deduce_call(
    cx: &mut Checker<'_>,
    id: TemplateId,
    explicit: &[TemplateArg],
    args: &[Argument<'_>],
    result: Option<&QualTy>,
    at: Span,
) -> Result<FunctionId, Box<Misfit>> {
    let facts = &cx.instances.templates[id];
    let (params, item) = (facts.params, facts.item);
    let ast::Item::Function(function) = item else {
        return Err(Box::default());
    };
    let required = arity(
        params,
        function,
        explicit.len(),
        args.len(),
        result.is_some(),
    )?;
    // The arguments are read again for each candidate; their errors are reported if no candidate fits.
    let given = attempt::run(cx, |cx| arguments::explicit_args(cx, params, explicit).ok())
        .map_err(Misfit::written)?;
    let mut deduction = Deduction::new(params, function, given);
    // Names in the parameters are looked up at the template: the caller may have variables of the same name.
    arguments::bound(cx, id, &[], |cx| {
        deduce_arguments(cx, &mut deduction, args, result)
    })?;
    let known = deduction.finish()?;
    if let Some(misfit) = attempt::not_deduced(
        &cx.tables,
        &cx.instances,
        id,
        params,
        &known,
        explicit.len(),
    ) {
        return Err(match args.len() < required {
            true => Misfit::because(Reason::Needs(required)),
            false => misfit,
        });
    }
    // An argument that a parameter cannot take removes the template without an error.
    let args = attempt::run(cx, |cx| {
        arguments::complete_args(cx, id, params, known).ok()
    })
    .map_err(Misfit::of)?;
    function_template::declare(cx, id, args, at)
}

/// Deduces from the arguments of a call and its result.
fn deduce_arguments(
    cx: &Checker<'_>,
    deduction: &mut Deduction<'_>,
    args: &[Argument<'_>],
    result: Option<&QualTy>,
) -> Result<(), Box<Misfit>> {
    for (index, arg) in args.iter().enumerate() {
        deduce_argument(cx, deduction, index, arg)?;
    }
    let Some(result) = result else { return Ok(()) };
    let (params, function) = (deduction.params, deduction.function);
    let (_, parts) = reference_part(&function.declarator.parts);
    let (specifiers, known) = (&function.specifiers, &mut deduction.known);
    match deduce(cx, params, specifiers, parts, result, true, known) {
        true => Ok(()),
        false => Err(Box::default()),
    }
}

/// Deduces from one argument of a call.
fn deduce_argument(
    cx: &Checker<'_>,
    deduction: &mut Deduction<'_>,
    index: usize,
    arg: &Argument<'_>,
) -> Result<(), Box<Misfit>> {
    let Deduction {
        params, function, ..
    } = *deduction;
    let last = function.params.len().saturating_sub(1);
    let param = &function.params[index.min(last)];
    let value = match arg {
        Argument::Value(value) => value,
        _ if param.is_pack => return Err(Box::default()),
        _ => return Ok(()),
    };
    if param.is_pack && index - last < deduction.n_given {
        return Ok(());
    }
    let (reference, parts) = reference_part(&param.declarator.parts);
    let place = reference::place_of(value);
    let ty = match (reference, place) {
        (Some(_), Some(place)) => place.ty.clone(),
        _ => value.ty.clone().into(),
    };
    let parts = &parameter_parts(reference.is_some(), parts)[..];
    let by_value = reference.is_none() && parts.is_empty();
    // A forwarding reference: if the argument is a variable, the parameter stands for a reference to its type.
    let is_forwarding = matches!(reference, Some((_, true))) && parts.is_empty() && place.is_some();
    let forwarded = plain_parameter(params, &param.specifiers)
        .filter(|_| is_forwarding)
        .map(|slot| (slot, Arg::Reference(ty.clone())));
    let specifiers = &param.specifiers;
    if param.is_pack && deduction.has_pack {
        let mut of_element = deduction.known.clone();
        let slot = of_element.len() - 1;
        of_element[slot] = ArgState::Nothing;
        let element = match forwarded {
            Some((own, arg)) => Some(arg).filter(|_| own == slot),
            None if deduce(
                cx,
                params,
                specifiers,
                parts,
                &ty,
                by_value,
                &mut of_element,
            ) =>
            {
                of_element.swap_remove(slot).arg()
            }
            None => return Err(attempt::misfit_argument(cx, deduction, param, value, index)),
        };
        deduction.pack.push(element.ok_or_else(Box::default)?);
        return Ok(());
    }
    let mut known = deduction.known.clone();
    let fits = match forwarded {
        Some((slot, arg)) => learn(&mut known, slot, arg, &params[slot]),
        None => deduce(cx, params, specifiers, parts, &ty, by_value, &mut known),
    };
    if !fits {
        return Err(attempt::misfit_argument(cx, deduction, param, value, index));
    }
    deduction.known = known;
    Ok(())
}

/// The type parameter that these specifiers consist of.
fn plain_parameter(params: &[ast::TemplateParam], specifiers: &ast::Specifiers) -> Option<usize> {
    let ast::TypeSpecifier::Named(name) = &specifiers.ty.node else {
        return None;
    };
    let is_plain = !specifiers.is_const && !specifiers.is_volatile;
    params
        .iter()
        .position(|param| param.name.as_ref().is_some_and(|own| own.node == *name))
        .filter(|_| is_plain)
}

/// `R(A, Ts...)` against the type of a function.
fn deduce_function(
    cx: &Checker<'_>,
    params: &[ast::TemplateParam],
    written: &[ast::Param],
    function: &FunctionTy,
    known: &mut [ArgState],
) -> bool {
    let one = |param: &ast::Param, at: usize, known: &mut [ArgState]| {
        let (reference, parts) = reference_part(&param.declarator.parts);
        let ty = &function.params[at];
        reference.is_some() == function.references[at]
            && deduce(
                cx,
                params,
                &param.specifiers,
                parts,
                ty,
                reference.is_none(),
                known,
            )
    };
    let n = function.params.len();
    let (before, pack) = match written {
        [before @ .., last] if last.is_pack => (before, Some(last)),
        _ => (written, None),
    };
    if before.len() > n || (pack.is_none() && before.len() < n) {
        return false;
    }
    let fits = before
        .iter()
        .enumerate()
        .all(|(at, param)| one(param, at, known));
    let (Some(pack), Some(slot)) = (pack, params.len().checked_sub(1)) else {
        return fits;
    };
    if !fits || !params[slot].is_pack {
        return false;
    }
    let mut found = Vec::new();
    for at in before.len()..n {
        let mut of_element = known.to_vec();
        of_element[slot] = ArgState::Nothing;
        if !one(pack, at, &mut of_element) {
            return false;
        }
        found.extend(of_element.swap_remove(slot).arg());
    }
    learn(known, slot, Arg::Pack(found), &params[slot])
}

/// Finds the parameters for which a type as written is `ty`; `false` if there are none.
pub(crate) fn deduce(
    cx: &Checker<'_>,
    params: &[ast::TemplateParam],
    specifiers: &ast::Specifiers,
    parts: &[DeclaratorPart],
    ty: &QualTy,
    by_value: bool,
    known: &mut [ArgState],
) -> bool {
    let index = |name: &str| {
        params
            .iter()
            .position(|param| param.name.as_ref().is_some_and(|own| &*own.node == name))
    };
    let Some((part, rest)) = parts.split_first() else {
        return match &specifiers.ty.node {
            ast::TypeSpecifier::Named(name) => match index(name) {
                Some(i) => {
                    let found = QualTy {
                        ty: ty.ty.clone(),
                        is_const: ty.is_const && !specifiers.is_const && !by_value,
                        is_volatile: ty.is_volatile && !specifiers.is_volatile && !by_value,
                    };
                    learn(known, i, Arg::Type(found), &params[i])
                }
                None => true,
            },
            ast::TypeSpecifier::Path(path) => deduce_path(cx, params, path, ty, known),
            _ => true,
        };
    };
    match (part, &ty.ty) {
        (DeclaratorPart::Pointer { .. }, Ty::Pointer(pointee)) => {
            deduce(cx, params, specifiers, rest, pointee, false, known)
        }
        (DeclaratorPart::Function(written, _), Ty::Function(function)) => {
            let result = function.result.clone().into();
            deduce(cx, params, specifiers, rest, &result, true, known)
                && deduce_function(cx, params, written, function, known)
        }
        (DeclaratorPart::Array(size, _), Ty::Array(element, n)) => {
            if let (Some(size), Some(n)) = (size, n)
                && let ExprKind::Name(name) = &size.kind
                && let Some(i) = index(name)
                && !learn(known, i, Arg::Value(Ty::ULong, *n), &params[i])
            {
                return false;
            }
            let element = QualTy {
                is_const: element.is_const || ty.is_const,
                ..element.as_ref().clone()
            };
            deduce(cx, params, specifiers, rest, &element, false, known)
        }
        // Nothing to deduce: an implicit conversion may apply, or the explicit arguments are complete.
        _ => match &specifiers.ty.node {
            ast::TypeSpecifier::Named(name) => {
                index(name).is_none_or(|i| known[i] != ArgState::Nothing)
            }
            ast::TypeSpecifier::Path(_) => false,
            _ => true,
        },
    }
}

/// Deduces `Tile<T, N>` from the instance that a type is.
fn deduce_path(
    cx: &Checker<'_>,
    params: &[ast::TemplateParam],
    path: &ast::Path,
    ty: &QualTy,
    known: &mut [ArgState],
) -> bool {
    let Some((
        ast::Segment {
            name,
            args: Some(written),
        },
        scopes,
    )) = path.segments.split_last()
    else {
        return true;
    };
    // Nothing can be deduced from a member of an instance.
    if scopes.iter().any(|scope| scope.args.is_some()) {
        return true;
    }
    // `C<T>` where `C` is a parameter: the template that the class is an instance of.
    let own = params.iter().position(|param| {
        matches!(param.kind, TemplateParamKind::Template)
            && param.name.as_ref().is_some_and(|own| own.node == name.node)
    });
    if let (Some(own), []) = (own, scopes) {
        let instance = match &ty.ty {
            Ty::Record(class) => cx.instances.classes.get(class),
            _ => None,
        };
        let Some(instance) = instance else {
            return false;
        };
        return learn(known, own, Arg::Template(instance.template), &params[own])
            && deduce_args(cx, params, written, &instance.args, known);
    }
    let parts = scopes.iter().map(|scope| &*scope.name.node);
    let full: Vec<&str> = parts.chain([&*name.node]).collect();
    let found = cx.scopes.find(&path::join(&full));
    let Some(Entity::Template(template)) = found.map(|found| &found.entity) else {
        return true;
    };
    // Nothing is deduced through an alias: the other arguments have to determine the parameters.
    if template::record_of(cx.instances.templates[*template].item).is_none() {
        return true;
    }
    // The class itself, or its nearest base that is an instance.
    let mut class = match &ty.ty {
        Ty::Record(class) => Some(*class),
        _ => None,
    };
    let instance = loop {
        let Some(id) = class else { return false };
        match cx.instances.classes.get(&id) {
            Some(instance) if instance.template == *template => break instance,
            _ => class = cx.tables.classes.get(&id).and_then(|facts| facts.base),
        }
    };
    deduce_args(cx, params, written, &instance.args, known)
}

/// Deduces the template's pack from the arguments for `pattern...`.
fn deduce_rest(
    cx: &Checker<'_>,
    params: &[ast::TemplateParam],
    pattern: &TemplateArg,
    rest: &[Arg],
    known: &mut [ArgState],
) -> bool {
    let Some(slot) = params.len().checked_sub(1) else {
        return false;
    };
    let mut pack = Vec::new();
    for arg in rest {
        let mut of_element = known.to_vec();
        of_element[slot] = ArgState::Nothing;
        let (one, arg) = (std::slice::from_ref(pattern), std::slice::from_ref(arg));
        if !deduce_args(cx, params, one, arg, &mut of_element) {
            return false;
        }
        pack.extend(of_element.swap_remove(slot).arg());
    }
    if params[slot].is_pack {
        known[slot] = ArgState::Deduced(Arg::Pack(pack));
    }
    true
}

/// Deduces from template arguments as written and those of an instance.
pub(crate) fn deduce_args(
    cx: &Checker<'_>,
    params: &[ast::TemplateParam],
    written: &[TemplateArg],
    args: &[Arg],
    known: &mut [ArgState],
) -> bool {
    let index = |name: &str| {
        params
            .iter()
            .position(|param| param.name.as_ref().is_some_and(|own| &*own.node == name))
    };
    let flat: Vec<Arg> = args
        .iter()
        .flat_map(|arg| match arg {
            Arg::Pack(args) => args.clone(),
            other => vec![other.clone()],
        })
        .collect();
    let mut written = written;
    let mut args = &flat[..];
    // `Ts...` at the end takes the remaining arguments.
    if let [before @ .., TemplateArg::Expansion(pattern)] = written {
        let Some((first, rest)) = args.split_at_checked(before.len()) else {
            return false;
        };
        if !deduce_rest(cx, params, pattern, rest, known) {
            return false;
        }
        written = before;
        args = first;
    }
    if written.len() > args.len() {
        return false;
    }
    written
        .iter()
        .zip(args)
        .all(|(written, arg)| match (written, arg) {
            (TemplateArg::Expansion(_), _) | (_, Arg::Pack(_)) => false,
            (TemplateArg::Type(name), Arg::Reference(ty)) => {
                match reference_part(&name.declarator.parts) {
                    (Some((_, false)), parts) => {
                        deduce(cx, params, &name.specifiers, parts, ty, false, known)
                    }
                    (None, []) => plain_parameter(params, &name.specifiers)
                        .is_some_and(|i| learn(known, i, arg.clone(), &params[i])),
                    _ => false,
                }
            }
            (TemplateArg::Type(name), Arg::Type(ty)) => {
                let parts = &name.declarator.parts;
                if reference_part(parts).0.is_some() {
                    return false;
                }
                deduce(cx, params, &name.specifiers, parts, ty, false, known)
            }
            (TemplateArg::Value(expr), arg) => match &expr.kind {
                ExprKind::Name(name) => match index(name) {
                    Some(i) => learn(known, i, arg.clone(), &params[i]),
                    None => true,
                },
                _ => true,
            },
            (TemplateArg::Type(name), Arg::Template(_)) => match &name.specifiers.ty.node {
                ast::TypeSpecifier::Named(name) => {
                    index(name).is_none_or(|i| learn(known, i, arg.clone(), &params[i]))
                }
                _ => true,
            },
            (TemplateArg::Type(_), Arg::Value(..)) => false,
        })
}
