//! What makes sense only for some arguments: an attempt to read a template's signature, and why a template does not fit a call.
//!
//! What is wrong while a candidate's arguments and signature are read takes it out of the choice and is no error; C++ calls that
//! substitution failure, and `std::enable_if` lives by it. What is wrong inside of a class that the signature needs is an error all
//! the same.

use super::super::{Checker, survey};
use super::{Arg, Known};
use crate::{
    diagnostic::{Code, Diagnostic, Severity},
    sema::{classify::Classify, scope::TemplateId, typed::Value},
    span::Span,
    syntax::ast::{self, DeclaratorPart, TemplateParamKind},
};

/// The attempts that are open.
#[derive(Default)]
pub(crate) struct Attempts {
    depth: u32,
    /// What is an error whatever comes of them.
    hard: Vec<Diagnostic>,
    /// Bodies of instances that are being checked: one for the type of a call in another.
    pub(crate) bodies: u32,
    /// What is wrong in those, with the instances that needed them.
    explained: Vec<Diagnostic>,
}

/// Why a template does not fit a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Misfit {
    /// In a few words, for a label.
    why: Option<String>,
    help: Option<String>,
    /// The parameter of which the call says nothing.
    unknown: Option<String>,
    /// What the attempt found.
    diagnostic: Option<Box<Diagnostic>>,
    /// It is about the arguments `<…>` as written.
    is_written: bool,
}

impl Misfit {
    pub(crate) fn of(diagnostic: Option<Box<Diagnostic>>) -> Box<Self> {
        Box::new(Self {
            diagnostic,
            ..Self::default()
        })
    }

    /// The arguments `<…>` make no sense.
    pub(crate) fn written(diagnostic: Option<Box<Diagnostic>>) -> Box<Self> {
        let mut misfit = Self::of(diagnostic);
        misfit.is_written = true;
        misfit
    }

    fn because(why: String) -> Box<Self> {
        Box::new(Self {
            why: Some(why),
            ..Self::default()
        })
    }

    pub(crate) fn count(what: &str, n: usize) -> Box<Self> {
        Self::because(match n {
            0 => format!("it takes no {what}s"),
            1 => format!("it takes 1 {what}"),
            n => format!("it takes {n} {what}s"),
        })
    }

    pub(crate) fn few(n: usize) -> Box<Self> {
        Self::because(match n {
            1 => "it needs 1 argument".to_string(),
            n => format!("it needs {n} arguments"),
        })
    }

    /// In a few words.
    fn text(&self) -> Option<String> {
        if let Some(diagnostic) = &self.diagnostic {
            // What `enable_if` has no `type` for is what it was written to leave out.
            return Some(match diagnostic.message.contains("enable_if<false") {
                true => "its `enable_if` is false for these types".to_string(),
                false => format!("for these arguments {}", diagnostic.message),
            });
        }
        self.why.clone()
    }
}

impl Checker<'_> {
    /// Runs `f`; if it finds nothing or reports an error, that is as if it had not been, and the first error is given back.
    pub(crate) fn attempt<R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Option<R>,
    ) -> Result<R, Option<Box<Diagnostic>>> {
        let from = self.reporter.diagnostics.len();
        // What was said before says nothing here: an error must be seen.
        let said = std::mem::take(&mut self.reporter.reported_once);
        self.reporter.attempts.depth += 1;
        let result = f(self);
        self.reporter.attempts.depth -= 1;
        let said_here = std::mem::replace(&mut self.reporter.reported_once, said);
        let found = self.reporter.diagnostics.split_off(from);
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let result = match result {
            Some(result) if !found.iter().any(is_error) => {
                self.reporter.diagnostics.extend(found);
                self.reporter.reported_once.extend(said_here);
                Ok(result)
            }
            _ => Err(found.into_iter().find(is_error).map(Box::new)),
        };
        if self.reporter.attempts.depth == 0 {
            self.reporter
                .diagnostics
                .append(&mut self.reporter.attempts.hard);
        }
        self.tell_explained();
        result
    }

    /// Runs `f` for its result alone: what is wrong will be found again. Only bodies of instances are not checked again.
    pub(crate) fn tentatively<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let from = self.reporter.diagnostics.len();
        let said = self.reporter.reported_once.clone();
        self.reporter.attempts.depth += 1;
        let result = f(self);
        self.reporter.attempts.depth -= 1;
        // It can be said again.
        self.reporter.reported_once = said;
        self.reporter.diagnostics.truncate(from);
        if self.reporter.attempts.depth == 0 {
            self.reporter
                .diagnostics
                .append(&mut self.reporter.attempts.hard);
        }
        self.tell_explained();
        result
    }

    /// What is wrong inside of an instance's body, from the message `from` on, is said once, whoever needs the body and for what.
    pub(crate) fn keep_explained(&mut self, from: usize) {
        let found = self.reporter.diagnostics.split_off(from);
        self.reporter.attempts.explained.extend(found);
        self.tell_explained();
    }

    fn tell_explained(&mut self) {
        if self.reporter.attempts.depth == 0 && self.reporter.attempts.bodies == 0 {
            self.reporter
                .diagnostics
                .append(&mut self.reporter.attempts.explained);
        }
    }

    /// What is wrong inside of a class, from the message `from` on, is not a matter of the attempt that needed the class.
    pub(crate) fn keep_hard(&mut self, from: usize) {
        if self.reporter.attempts.depth > 0 {
            let found = self.reporter.diagnostics.split_off(from);
            self.reporter.attempts.hard.extend(found);
        }
    }

    /// A template with a body has another one.
    pub(crate) fn second_template(
        &mut self,
        name: &ast::Name,
        first: Span,
        params: &[ast::TemplateParam],
    ) {
        let diagnostic = Diagnostic::error(
            Code::Redefinition,
            name.span,
            format!("the template `{}` is defined twice", name.node),
        )
        .label(first, "first defined here");
        // What C++ does not look at: a default argument.
        let unnamed = params.iter().any(|param| {
            param.name.is_none() && matches!(param.kind, TemplateParamKind::Type(Some(_)))
        });
        let diagnostic = match unnamed {
            true => diagnostic.help(
                "templates that differ in a default argument only are the same to C++; write `std::enable_if_t<condition, int> = 0` instead of `typename = std::enable_if_t<condition>`",
            ),
            false => diagnostic,
        };
        self.report(diagnostic);
    }

    /// The parameter that neither the call nor a default says anything about.
    pub(crate) fn not_deduced(
        &self,
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
            let text = self.show_args(&before);
            written.push(text[1..text.len() - 1].to_string());
        }
        let is_first_missing = written.is_empty() || n_given >= before.len();
        written.push(match missing.kind {
            TemplateParamKind::Type(_) => "float".to_string(),
            TemplateParamKind::Value { .. } => "32".to_string(),
            TemplateParamKind::Template => "…".to_string(),
        });
        let facts = &self.instances.templates[id];
        let name = facts.name.rsplit("::").next().unwrap_or_default();
        let launch = match facts.item {
            ast::Item::Function(function) if survey::is_kernel(function) => "<<<…>>>",
            _ => "",
        };
        let what = match is_first_missing {
            true => "give it, for example",
            false => "give all up to it, for example",
        };
        let shown = match shown {
            "" => "a parameter without a name".to_string(),
            shown => format!("`{shown}`"),
        };
        let mut misfit = Misfit::because(format!("{shown} cannot be deduced"));
        misfit.unknown = Some(shown);
        misfit.help = Some(format!(
            "{what} `{name}<{}>{launch}(…)`",
            written.join(", ")
        ));
        Some(misfit)
    }

    /// An argument says something else of a parameter than those before it, or is not of its form.
    pub(crate) fn misfit_argument(
        &self,
        params: &[ast::TemplateParam],
        param: &ast::Param,
        value: &Value,
        index: usize,
        known: &[Known],
        given: &[Arg],
    ) -> Box<Misfit> {
        let n = index + 1;
        let ty = self.show(&value.ty);
        let mut alone: Vec<Known> = given.iter().cloned().map(Known::Given).collect();
        alone.resize(params.len(), Known::Nothing);
        let (reference, parts) = super::super::function::reference_part(&param.declarator.parts);
        let by_value = reference.is_none() && parts.is_empty();
        let of_value = match (reference, Self::place_of(value)) {
            (Some(_), Some(place)) => place.ty.clone(),
            _ => value.ty.clone().into(),
        };
        let fits = self.deduce(
            params,
            &param.specifiers,
            parts,
            &of_value,
            by_value,
            &mut alone,
        );
        let differs = |(at, old): &(usize, &Known)| matches!((old, &alone[*at]), (Known::Deduced(old), Known::Deduced(new)) if old != new);
        let conflict = known.iter().enumerate().find(differs).filter(|_| fits);
        if let Some((at, Known::Deduced(old))) = conflict
            && let Known::Deduced(new) = &alone[at]
            && let Some(name) = &params[at].name
        {
            let text = |arg: &Arg| {
                let text = self.show_args(std::slice::from_ref(arg));
                text[1..text.len() - 1].to_string()
            };
            let (name, old, new) = (&name.node, text(old), text(new));
            let mut misfit = Misfit::because(format!(
                "its `{name}` would be `{old}`, but `{new}` by argument {n}"
            ));
            misfit.help = Some(match params[at].kind {
                TemplateParamKind::Type(_) => {
                    format!("say which is meant (`<{old}>` after the name), or cast an argument")
                }
                _ => "the arguments' types must agree".to_string(),
            });
            return misfit;
        }
        let written = self.map.snippet(param.span);
        let pointer = parts
            .iter()
            .any(|part| matches!(part, DeclaratorPart::Pointer { .. }));
        let mut misfit = Misfit::because(format!("`{written}` cannot be given `{ty}`"));
        if pointer && value.ty.is_arithmetic() {
            misfit.help = Some(format!("argument {n} must be a pointer"));
        }
        misfit
    }

    /// Reports what is wrong with the arguments `<…>` as written, for the first template of these that has something against them.
    pub(crate) fn report_written(&mut self, misfits: Vec<(TemplateId, Box<Misfit>)>) -> bool {
        let mut written = misfits.into_iter().filter(|(_, misfit)| misfit.is_written);
        match written.find_map(|(_, misfit)| misfit.diagnostic) {
            Some(diagnostic) => {
                self.report(*diagnostic);
                true
            }
            None => false,
        }
    }

    /// Says of each template why it does not fit; of the only one in one message.
    pub(crate) fn with_misfits(
        &self,
        mut diagnostic: Diagnostic,
        name: &str,
        misfits: Vec<(TemplateId, Box<Misfit>)>,
    ) -> Diagnostic {
        if let [(id, misfit)] = &misfits[..]
            && misfit.is_written
            && let Some(inner) = &misfit.diagnostic
        {
            let label = format!("the template `{name}`");
            return (**inner).clone().label(self.template_span(*id), label);
        }
        if let [(_, misfit)] = &misfits[..]
            && let Some(parameter) = &misfit.unknown
        {
            diagnostic.message =
                format!("{parameter} of the template `{name}` cannot be deduced from this call");
        }
        for (id, misfit) in misfits.iter().take(4) {
            let why = misfit.text();
            let why = why.map_or("declared here".to_string(), |why| {
                format!("does not fit: {why}")
            });
            diagnostic = diagnostic.label(self.template_span(*id), why);
        }
        match &misfits[..] {
            [(_, misfit)] if misfit.help.is_some() => {
                diagnostic.help(misfit.help.clone().unwrap_or_default())
            }
            _ => diagnostic,
        }
    }
}
