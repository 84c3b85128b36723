//! Messages: the ones reported so far, those that are reported once only, those that wait for the call graph.

use crate::sema::message::expr::ExprError;
use std::collections::{HashMap, HashSet};

use super::{Body, Checker, Side, Tables, body::Unknown, template::attempt::Attempts};
use crate::sema::{
    message::Message,
    ty::{QualTy, Ty},
    typed::{FunctionId, FunctionSpace},
};
use ir::{
    diagnostic::{Code, Diagnostic, Severity},
    span::Span,
};

/// The messages of the check.
#[derive(Default)]
pub(crate) struct Reporter {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Errors that hold only if a `__host__ __device__` function is reached from one side.
    pub(crate) deferred: Vec<Deferred>,
    /// Keys of what is reported once only: unknown names, unsupported constructs.
    pub(crate) reported_once: HashSet<(Option<FunctionId>, String)>,
    /// The places in instances that messages have been reported for, and in how many instances each is true: other instances do not repeat
    /// them.
    pub(crate) reported_in_instances: HashMap<(Code, Span), u32>,
    /// The number of unknown names for which a near one has been searched.
    pub(crate) n_guesses: u32,
    /// The open attempts, and errors inside classes that they need.
    pub(crate) attempts: Attempts,
}

/// Proof that an error has been reported. A check without a result returns this, and `?` propagates it. Only this module makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reported(());

/// All results, if each is `Ok`. Each has been checked by then, so that each has its messages.
pub(crate) fn all<T>(
    results: impl IntoIterator<Item = Result<T, Reported>>,
) -> Result<Vec<T>, Reported> {
    let results: Vec<_> = results.into_iter().collect();
    results.into_iter().collect()
}

/// The type that a parameter, a member or a function keeps. An invalid one becomes `Ty::Error`, so that its uses are [`Reported`].
pub(crate) fn marked(ty: Result<QualTy, Reported>) -> QualTy {
    ty.unwrap_or_else(|Reported(())| Ty::Error.into())
}

/// An error that waits for the call graph.
pub(crate) struct Deferred {
    pub(crate) function: FunctionId,
    pub(crate) side: Side,
    pub(crate) diagnostic: Diagnostic,
}

impl Reporter {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported(())
    }

    /// Reports a message about `span`.
    pub(crate) fn error(
        &mut self,
        tables: &Tables,
        span: Span,
        message: impl Message<Tables>,
    ) -> Reported {
        self.report(message.diagnostic(span, tables))
    }

    /// A division by zero where a constant is needed: replaces the warning about the same operator.
    pub(crate) fn constant_division(
        &mut self,
        tables: &Tables,
        span: Span,
        message: ExprError,
    ) -> Reported {
        self.diagnostics.retain(|old| {
            let place = old.primary.span;
            old.code != Code::DividesByZero
                || place.file != span.file
                || place.start < span.start
                || place.end > span.end
        });
        self.error(tables, span, message)
    }

    /// `Err` if an error has been reported since there were `from` messages, among those that `counts` selects.
    pub(crate) fn error_since(
        &self,
        from: usize,
        counts: impl Fn(&Diagnostic) -> bool,
    ) -> Result<(), Reported> {
        let since = self.diagnostics.get(from..).unwrap_or_default();
        let mut errors = since
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error);
        match errors.any(counts) {
            true => Err(Reported(())),
            false => Ok(()),
        }
    }
}

impl Tables {
    /// A message about `span`, for the caller to report.
    pub(crate) fn diagnostic(&self, span: Span, message: impl Message<Tables>) -> Diagnostic {
        message.diagnostic(span, self)
    }
}

/// What a body knows about its errors. The messages themselves are in the [`Reporter`].
impl Body {
    /// The code at `span` depends on an earlier error: an invalid declaration, or code that the parser could not read. A survey needs the
    /// first such place of a function.
    pub(crate) fn reported_before(&mut self, span: Span) -> Reported {
        self.unknown(span, None)
    }

    /// The same for a name whose declaration is known.
    pub(crate) fn unknown(&mut self, at: Span, declared: Option<Span>) -> Reported {
        self.first_unknown.get_or_insert(Unknown { at, declared });
        Reported(())
    }

    /// A type that is used at `span`. It is an error if it comes from an invalid declaration, and was [`marked`].
    pub(crate) fn known<'t>(&mut self, ty: &'t Ty, span: Span) -> Result<&'t Ty, Reported> {
        match ty.is_understood() {
            true => Ok(ty),
            false => Err(self.reported_before(span)),
        }
    }

    /// A part of the body; if it is invalid, the body continues without it.
    pub(crate) fn part<T>(&mut self, part: Result<T, Reported>) -> Option<T> {
        self.is_incomplete |= part.is_err();
        part.ok()
    }
}

impl Checker<'_> {
    /// Reports a message about `span`.
    pub(crate) fn error(&mut self, span: Span, message: impl Message<Tables>) -> Reported {
        self.reporter.error(&self.tables, span, message)
    }

    /// Whether `what` is asked about for the first time in this function (or at file scope).
    pub(crate) fn first_time(&mut self, what: &str) -> bool {
        self.reporter
            .reported_once
            .insert((self.body.id, what.to_string()))
    }

    /// Reports once that a construct is not supported.
    pub(crate) fn unsupported(&mut self, construct: &str, span: Span) -> Reported {
        let construct = construct.to_string();
        self.once(
            construct.clone(),
            span,
            ExprError::Unsupported { construct },
        )
    }

    /// Reports a message about `span`, unless one with this key has been reported.
    pub(crate) fn once(
        &mut self,
        key: String,
        span: Span,
        message: impl Message<Tables>,
    ) -> Reported {
        match self.reporter.reported_once.insert((None, key)) {
            true => self.error(span, message),
            false => self.body.reported_before(span),
        }
    }

    /// Reports an error if this code runs on `side`: now if that is certain, later if it depends on the callers.
    pub(crate) fn on_side(&mut self, side: Side, diagnostic: Diagnostic) {
        // A survey is about kernels: a host compiler checks the calls of host code.
        if self.mode.unevaluated > 0 || (self.options.survey && side == Side::Host) {
            return;
        }
        let certain = match self.body.space {
            Some(FunctionSpace::Kernel | FunctionSpace::Device) => side == Side::Device,
            Some(FunctionSpace::Host) | None => side == Side::Host,
            Some(FunctionSpace::HostDevice) => {
                if let Some(function) = self.body.id {
                    self.reporter.deferred.push(Deferred {
                        function,
                        side,
                        diagnostic,
                    });
                }
                return;
            }
        };
        if certain {
            self.reporter.report(diagnostic);
        }
    }
}
