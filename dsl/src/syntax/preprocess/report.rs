//! Messages of the preprocessor, and lexical errors as diagnostics: only those in text that is not skipped, and not hundreds of one kind.

use super::Preprocessor;
use crate::syntax::lexer::intern::Interner;
use crate::syntax::lexer::{LexError, LexProblem};
use crate::syntax::message::{Message, lex};
use ir::diagnostic::Code;
use ir::span::Span;

/// How many messages of one code are shown before the rest are only counted.
const SHOWN: u32 = 4;

/// Messages of each code that may occur hundreds of times.
#[derive(Debug, Default)]
pub(super) struct Folded {
    counts: Vec<Count>,
}

#[derive(Debug)]
struct Count {
    code: Code,
    n: u32,
    /// The last one shown, as an index of the diagnostics.
    last: usize,
}

impl Preprocessor<'_> {
    /// Reports a message at `span`.
    pub(super) fn report(&mut self, span: Span, message: impl Message<Interner>) {
        let diagnostic = message.diagnostic(span, &self.names);
        self.diagnostics.push(diagnostic);
    }

    /// Reports the errors of the current file before `end`.
    pub(super) fn report_errors_before(&mut self, end: u32) {
        while let Some(error) = self.next_error_before(end) {
            let is_backslash =
                error.problem == LexProblem::Unknown && self.map.snippet(error.span) == "\\";
            self.report_folded(match is_backslash {
                true => LexError {
                    problem: LexProblem::LoneBackslash,
                    ..error
                },
                false => error,
            });
        }
    }

    /// Drops the errors before `end`, which is skipped text. Only a comment without an end is an error there, too.
    pub(super) fn drop_errors_before(&mut self, end: u32) {
        while let Some(error) = self.next_error_before(end) {
            if error.problem == LexProblem::UnterminatedComment {
                self.report_folded(error);
            }
        }
    }

    fn next_error_before(&mut self, end: u32) -> Option<LexError> {
        let open = self.files.open.last_mut()?;
        let error = open.lexed.errors.get(open.next_error)?;
        if error.span.start >= end {
            return None;
        }
        open.next_error += 1;
        Some(error.clone())
    }

    fn report_folded(&mut self, error: LexError) {
        let diagnostic = error.problem.diagnostic(error.span, &());
        let code = diagnostic.code;
        let counts = &mut self.folded.counts;
        let at = counts
            .iter()
            .position(|count| count.code == code)
            .unwrap_or_else(|| {
                counts.push(Count {
                    code,
                    n: 0,
                    last: 0,
                });
                counts.len() - 1
            });
        let count = &mut counts[at];
        count.n += 1;
        if count.n <= SHOWN {
            count.last = self.diagnostics.len();
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds how many messages were not shown.
    pub(super) fn finish_reports(&mut self) {
        for Count { code, n, last } in std::mem::take(&mut self.folded.counts) {
            let more = n.saturating_sub(SHOWN);
            if more > 0 {
                self.diagnostics[last]
                    .notes
                    .push(lex::not_shown(code, more));
            }
        }
    }
}
