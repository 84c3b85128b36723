//! Substitution failure: attempts to read a template's signature, and why a template does not fit a call.
//!
//! An error while a candidate's arguments and signature are read removes the candidate and is not reported. C++ calls that substitution
//! failure, and `std::enable_if` relies on it. An error inside a class that the signature needs is still an error.

use super::super::{Checker, Reporter, arguments, deduce, reference, survey, template::Instances};
use super::{Arg, ArgState, deduce::Deduction};
use crate::sema::Options;
use crate::sema::path;
use std::collections::HashSet;

use crate::sema::message::template::{
    DECLARED_HERE, Reason, TemplateError, not_for, with_template,
};
use crate::sema::{check::Tables, ty::RecordId};
use crate::{
    sema::{classify::Classify, scope::TemplateId, typed::Value},
    syntax::ast::{self, DeclaratorPart, TemplateParamKind},
};
use ir::{
    diagnostic::{Diagnostic, Severity},
    span::Span,
};

/// The attempts that are open.
#[derive(Default)]
pub(crate) struct Attempts {
    depth: u32,
    /// Places that asked for a `type` of an `enable_if` that does not have it.
    pub(crate) disabled: HashSet<Span>,
    /// Errors that are reported whatever the result of the attempts.
    hard: Vec<Diagnostic>,
    /// The number of instances whose bodies are being checked: one for the type of a call in another.
    pub(crate) bodies: u32,
    /// Errors in those, with the instances that needed them.
    explained: Vec<Diagnostic>,
}

/// Why a template does not fit a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Misfit {
    reason: Option<Reason>,
    /// What failed in the attempt to read its signature.
    failure: Failure,
    /// Whether it is about the arguments `<…>` as written.
    is_written: bool,
}

/// Why an attempt failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    /// The first error.
    diagnostic: Option<Box<Diagnostic>>,
    /// Whether an `enable_if` without a `type` failed: the template is meant to be left out here.
    is_disabled: bool,
}

impl Misfit {
    pub(crate) fn of(failure: Failure) -> Box<Self> {
        Box::new(Self {
            failure,
            ..Self::default()
        })
    }

    /// The arguments `<…>` are invalid.
    pub(crate) fn written(failure: Failure) -> Box<Self> {
        let mut misfit = Self::of(failure);
        misfit.is_written = true;
        misfit
    }

    pub(crate) fn because(reason: Reason) -> Box<Self> {
        Box::new(Self {
            reason: Some(reason),
            ..Self::default()
        })
    }

    /// The misfit as the text of a label.
    fn label(&self, tables: &Tables) -> String {
        match (&self.failure.diagnostic, &self.reason) {
            (Some(_), _) if self.failure.is_disabled => Reason::Disabled.text(tables),
            (Some(diagnostic), _) => not_for(&diagnostic.message),
            (None, Some(reason)) => reason.text(tables),
            (None, None) => DECLARED_HERE.to_string(),
        }
    }
}

/// Runs `f`. If it finds nothing or reports an error, its effects are undone, and the first error is returned.
pub(crate) fn run<'a, R>(
    cx: &mut Checker<'a>,
    f: impl FnOnce(&mut Checker<'a>) -> Option<R>,
) -> Result<R, Failure> {
    let from = cx.reporter.diagnostics.len();
    // Messages that are reported once must be seen again here.
    let reported = std::mem::take(&mut cx.reporter.reported_once);
    let known = (cx.body.first_unknown, cx.body.is_incomplete);
    cx.reporter.attempts.depth += 1;
    let result = f(cx);
    cx.reporter.attempts.depth -= 1;
    let reported_inside = std::mem::replace(&mut cx.reporter.reported_once, reported);
    let found = cx.reporter.diagnostics.split_off(from);
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let result = match result {
        Some(result) if !found.iter().any(is_error) => {
            cx.reporter.diagnostics.extend(found);
            cx.reporter.reported_once.extend(reported_inside);
            Ok(result)
        }
        _ => {
            (cx.body.first_unknown, cx.body.is_incomplete) = known;
            let first = found.into_iter().find(is_error);
            let disabled = &cx.reporter.attempts.disabled;
            let at = first.as_ref().map(|diagnostic| diagnostic.primary.span);
            Err(Failure {
                is_disabled: at.is_some_and(|at| disabled.contains(&at)),
                diagnostic: first.map(Box::new),
            })
        }
    };
    if cx.reporter.attempts.depth == 0 {
        cx.reporter
            .diagnostics
            .append(&mut cx.reporter.attempts.hard);
    }
    report_explained(&mut cx.reporter);
    result
}

/// Whether the class is an instance of the library's `enable_if`.
pub(crate) fn is_enable_if(instances: &Instances<'_>, options: &Options, class: RecordId) -> bool {
    let mut templates = instances.templates.iter();
    templates.any(|facts| {
        &*facts.name == "enable_if"
            && options.is_own(facts.span)
            && facts.records.values().any(|&id| id == class)
    })
}

/// Runs `f` for its result alone: its errors will be found again. Only bodies of instances are not checked again.
pub(crate) fn tentatively<'a, R>(cx: &mut Checker<'a>, f: impl FnOnce(&mut Checker<'a>) -> R) -> R {
    let from = cx.reporter.diagnostics.len();
    let reported = cx.reporter.reported_once.clone();
    let known = (cx.body.first_unknown, cx.body.is_incomplete);
    cx.reporter.attempts.depth += 1;
    let result = f(cx);
    cx.reporter.attempts.depth -= 1;
    // The messages can be reported again.
    cx.reporter.reported_once = reported;
    (cx.body.first_unknown, cx.body.is_incomplete) = known;
    cx.reporter.diagnostics.truncate(from);
    if cx.reporter.attempts.depth == 0 {
        cx.reporter
            .diagnostics
            .append(&mut cx.reporter.attempts.hard);
    }
    report_explained(&mut cx.reporter);
    result
}

/// Keeps the errors inside an instance's body, from the message `from` on. They are reported once, in whichever attempt the body is needed.
pub(crate) fn keep_explained(reporter: &mut Reporter, from: usize) {
    let found = reporter.diagnostics.split_off(from);
    reporter.attempts.explained.extend(found);
    report_explained(reporter);
}

fn report_explained(reporter: &mut Reporter) {
    if reporter.attempts.depth == 0 && reporter.attempts.bodies == 0 {
        reporter
            .diagnostics
            .append(&mut reporter.attempts.explained);
    }
}

/// Keeps the errors inside a class, from the message `from` on. They do not depend on the attempt that needed the class.
pub(crate) fn keep_hard(reporter: &mut Reporter, from: usize) {
    if reporter.attempts.depth > 0 {
        let found = reporter.diagnostics.split_off(from);
        reporter.attempts.hard.extend(found);
    }
}

/// Reports a second body of a template.
pub(crate) fn second_template(
    tables: &Tables,
    reporter: &mut Reporter,
    name: &ast::Name,
    first: Span,
    params: &[ast::TemplateParam],
) {
    // A default argument does not distinguish templates in C++.
    let unnamed = params.iter().any(|param| {
        param.name.is_none() && matches!(param.kind, TemplateParamKind::Type(Some(_)))
    });
    let name_text = name.node.to_string();
    reporter.error(
        tables,
        name.span,
        TemplateError::TemplateDefinedTwice {
            name: name_text,
            first,
            unnamed,
        },
    );
}

/// The parameter that neither the call nor a default determines.
pub(crate) fn not_deduced(
    tables: &Tables,
    instances: &Instances<'_>,
    id: TemplateId,
    params: &[ast::TemplateParam],
    known: &[Option<Arg>],
    n_given: usize,
) -> Option<Box<Misfit>> {
    let is_missing = |(param, known): &(&ast::TemplateParam, &Option<Arg>)| {
        let has_default = matches!(
            param.kind,
            TemplateParamKind::Type(Some(_))
                | TemplateParamKind::Value {
                    default: Some(_),
                    ..
                }
        );
        known.is_none() && !has_default && !param.is_pack
    };
    let (missing, _) = params.iter().zip(known).find(is_missing)?;
    let shown = missing.name.as_ref().map_or("", |name| &name.node);
    let before = known.iter().take_while(|known| known.is_some()).cloned();
    let before: Vec<Arg> = before.flatten().collect();
    let mut written: Vec<String> = Vec::new();
    if !before.is_empty() {
        let text = arguments::show_args(tables, instances, &before);
        written.push(text[1..text.len() - 1].to_string());
    }
    let is_first_missing = written.is_empty() || n_given >= before.len();
    written.push(match missing.kind {
        TemplateParamKind::Type(_) => "float".to_string(),
        TemplateParamKind::Value { .. } => "32".to_string(),
        TemplateParamKind::Template => "…".to_string(),
    });
    let facts = &instances.templates[id];
    let name = path::last(&facts.name);
    let is_launch =
        matches!(facts.item, ast::Item::Function(function) if survey::is_kernel(function));
    let misfit = Misfit::because(Reason::NotDeduced {
        parameter: shown.to_string(),
        template: name.to_string(),
        example: written.join(", "),
        is_launch,
        is_first_missing,
    });
    Some(misfit)
}

/// An argument that contradicts an earlier one about a parameter, or does not have the parameter's form.
pub(crate) fn misfit_argument(
    cx: &Checker<'_>,
    deduction: &Deduction<'_>,
    param: &ast::Param,
    value: &Value,
    index: usize,
) -> Box<Misfit> {
    let Deduction {
        params,
        given,
        known,
        ..
    } = deduction;
    let n = index + 1;
    let mut alone: Vec<ArgState> = given.iter().cloned().map(ArgState::Given).collect();
    alone.resize(params.len(), ArgState::Nothing);
    let (reference, parts) = super::super::function::reference_part(&param.declarator.parts);
    let by_value = reference.is_none() && parts.is_empty();
    let of_value = match (reference, reference::place_of(value)) {
        (Some(_), Some(place)) => place.ty.clone(),
        _ => value.ty.clone().into(),
    };
    let fits = deduce::deduce(
        cx,
        params,
        &param.specifiers,
        parts,
        &of_value,
        by_value,
        &mut alone,
    );
    let differs = |(at, old): &(usize, &ArgState)| matches!((old, &alone[*at]), (ArgState::Deduced(old), ArgState::Deduced(new)) if old != new);
    let conflict = known.iter().enumerate().find(differs).filter(|_| fits);
    if let Some((at, ArgState::Deduced(old))) = conflict
        && let ArgState::Deduced(new) = &alone[at]
        && let Some(name) = &params[at].name
    {
        let text = |arg: &Arg| {
            let text = arguments::show_args(&cx.tables, &cx.instances, std::slice::from_ref(arg));
            text[1..text.len() - 1].to_string()
        };
        return Misfit::because(Reason::Disagree {
            parameter: name.node.clone(),
            old: text(old),
            new: text(new),
            n,
            is_type: matches!(params[at].kind, TemplateParamKind::Type(_)),
        });
    }
    let written = cx.map.snippet(param.span);
    let pointer = parts
        .iter()
        .any(|part| matches!(part, DeclaratorPart::Pointer { .. }));
    Misfit::because(Reason::CannotBeGiven {
        written: written.to_string(),
        ty: value.ty.clone(),
        n,
        needs_pointer: pointer && value.ty.is_arithmetic(),
    })
}

/// Reports the error in the arguments `<…>` as written, for the first of these templates that rejects them.
pub(crate) fn report_written(
    reporter: &mut Reporter,
    misfits: Vec<(TemplateId, Box<Misfit>)>,
) -> bool {
    let mut written = misfits.into_iter().filter(|(_, misfit)| misfit.is_written);
    match written.find_map(|(_, misfit)| misfit.failure.diagnostic) {
        Some(diagnostic) => {
            reporter.report(*diagnostic);
            true
        }
        None => false,
    }
}

/// Adds, for each template, why it does not fit; if there is only one, in the message itself.
pub(crate) fn with_misfits(
    tables: &Tables,
    instances: &Instances<'_>,
    mut diagnostic: Diagnostic,
    name: &str,
    misfits: Vec<(TemplateId, Box<Misfit>)>,
) -> Diagnostic {
    if let [(id, misfit)] = &misfits[..]
        && misfit.is_written
        && let Some(inner) = &misfit.failure.diagnostic
    {
        return with_template((**inner).clone(), name, instances.template_span(*id));
    }
    let only = match &misfits[..] {
        [(_, misfit)] => misfit.reason.as_ref(),
        _ => None,
    };
    if let Some(message) = only.and_then(|reason| reason.message(name)) {
        diagnostic.message = message;
    }
    for (id, misfit) in misfits.iter().take(4) {
        diagnostic = diagnostic.label(instances.template_span(*id), misfit.label(tables));
    }
    match only.and_then(Reason::help) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
