//! Surveys a file whose host code may be invalid: each function with its place, its calls, and the first place in it without a type.

use crate::sema::message::template::TemplateError;
use std::collections::HashMap;

use crate::arena::Arena;
use crate::sema::check::{Checker, FunctionEntry, Unknown, function_template};
use crate::{
    sema::{
        scope::TemplateId,
        ty::{RecordId, Ty},
        typed::{FunctionId, Program},
    },
    syntax::ast::{self, SpecifierWord, TemplateParamKind},
};
use ir::{
    diagnostic::{Diagnostic, Severity},
    span::Span,
};

use crate::sema::check::template::Arg;

/// The number of functions that trying one kernel may make before no further arguments are tried.
const ENOUGH: usize = 2000;

/// A function of a surveyed file.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Its name where it is declared or defined; all instances of a template share it.
    pub name: Span,
    /// From its first word to the end of its body.
    pub extent: Option<Span>,
    /// Functions it calls, and where.
    pub calls: Vec<(FunctionId, Span)>,
    /// Whether it is declared but not defined.
    pub is_undefined: bool,
    /// The arguments that were chosen, because nothing instantiates the template: `<float, 32>`.
    pub with: Option<String>,
    /// Whether a parameter's or the result's type is invalid.
    pub has_wrong_type: bool,
    /// The first place in its body that depends on an invalid declaration.
    pub first_unknown: Option<Unknown>,
}

/// The result of a survey.
pub struct SurveyedUnit {
    /// The valid part of the program.
    pub program: Program,
    /// Every message.
    pub diagnostics: Vec<Diagnostic>,
    /// The facts about each function of the program.
    pub functions: Arena<FunctionId, Surveyed>,
    /// Records of unknown layout, each with the reason.
    pub broken_records: HashMap<RecordId, Diagnostic>,
}

impl<'a> Checker<'a> {
    /// Everything about the functions, even if there are errors.
    pub(crate) fn survey(mut self) -> SurveyedUnit {
        let surveyed = self
            .tables
            .functions
            .entries()
            .map(|(id, FunctionEntry { typed, facts })| Surveyed {
                name: self.instances.defined_at(id).unwrap_or(typed.span),
                extent: facts.extent,
                calls: facts.calls.clone(),
                is_undefined: !facts.is_defined,
                with: self.instances.made_up.get(&id).cloned(),
                has_wrong_type: !typed.result.is_understood()
                    || facts
                        .params
                        .iter()
                        .any(|param| !param.ty.ty.is_understood()),
                first_unknown: facts.first_unknown,
            })
            .collect();
        let program = Program {
            records: std::mem::take(&mut self.tables.records),
            lambdas: std::mem::take(&mut self.tables.lambda_functions),
            generic_lambdas: std::mem::take(&mut self.tables.named_generic_lambdas),
            globals: std::mem::take(&mut self.tables.globals)
                .into_iter()
                .map(|global| global.typed)
                .collect(),
            functions: std::mem::take(&mut self.tables.functions)
                .into_iter()
                .map(|function| function.typed)
                .collect(),
            requested: std::mem::take(&mut self.instances.requested),
        };
        SurveyedUnit {
            program,
            diagnostics: self.reporter.diagnostics,
            functions: surveyed,
            broken_records: self.tables.broken_records,
        }
    }
}

/// Checks kernel templates that nothing instantiates, with likely arguments: the first ones without an error, else the first.
pub(crate) fn instantiate_unused(cx: &mut Checker<'_>) {
    /// The type and the value that each parameter is tried with.
    const TRIES: [(Ty, u64); 12] = [
        (Ty::Float, 32),
        (Ty::Float, 4),
        (Ty::Float, 1),
        (Ty::Float, 128),
        (Ty::Float, 8),
        (Ty::Int, 32),
        (Ty::UInt, 4),
        (Ty::Float, 0),
        (Ty::Float, 2),
        (Ty::Float, 3),
        (Ty::Float, 16),
        (Ty::Float, 256),
    ];
    for id in cx.instances.templates.ids() {
        let Some(params) = function_template::unused_kernel(&cx.instances, id) else {
            continue;
        };
        let n_diagnostics = cx.reporter.diagnostics.len();
        let n_functions = cx.tables.functions.len();
        let mut is_made = false;
        let mut first: Option<(Vec<Diagnostic>, FunctionId)> = None;
        for (ty, value) in &TRIES {
            let reported = (
                cx.reporter.reported_once.clone(),
                cx.reporter.reported_in_instances.clone(),
            );
            let args = params
                .iter()
                .map(|param| match &param.kind {
                    TemplateParamKind::Type(None) => Some(Arg::Type(ty.clone().into())),
                    TemplateParamKind::Value { default: None, .. } => {
                        Some(Arg::Value(Ty::Int, *value))
                    }
                    _ => None,
                })
                .collect();
            let made = function_template::instantiate_with(cx, id, params, args);
            function_template::check_needed(cx, true);
            let is_wrong = |message: &Diagnostic| message.severity == Severity::Error;
            let wrong = cx.reporter.diagnostics[n_diagnostics..]
                .iter()
                .any(is_wrong);
            let Some(made) = made else {
                cx.reporter.diagnostics.truncate(n_diagnostics);
                continue;
            };
            is_made = true;
            if !wrong {
                if let Some((_, old)) = first.take() {
                    cx.tables.functions[old].typed.body = None;
                }
                break;
            }
            // Errors with these arguments only matter if no better arguments are found.
            let messages = cx.reporter.diagnostics.split_off(n_diagnostics);
            (cx.reporter.reported_once, cx.reporter.reported_in_instances) = reported;
            match &first {
                None => first = Some((messages, made)),
                Some(_) => cx.tables.functions[made].typed.body = None,
            }
            // A kernel that needs this many instances is not tried with further arguments.
            if cx.tables.functions.len() > n_functions + ENOUGH {
                break;
            }
        }
        if !is_made {
            no_likely_arguments(cx, id);
        }
        if let Some((messages, _)) = first {
            cx.reporter.diagnostics.extend(messages);
        }
    }
}

/// Reports a kernel template that is never instantiated and for which no arguments can be chosen.
fn no_likely_arguments(cx: &mut Checker<'_>, id: TemplateId) {
    let span = cx.instances.template_span(id);
    let name = cx.instances.template_facts(id).name.clone();
    let name = name.to_string();
    cx.error(span, TemplateError::NoLikelyArguments { name });
}

/// Whether a template's item is a kernel with a body.
pub(crate) fn is_kernel(function: &ast::Function) -> bool {
    function.specifiers.word(SpecifierWord::Global).is_some()
}
