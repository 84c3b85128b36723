//! Lexical errors as diagnostics: only those in text that is not skipped, and not hundreds of one kind.

use super::Preprocessor;
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::lexer::{LexError, LexProblem, confusable};

/// How many messages of one code are shown before the rest are only counted.
const SHOWN: u32 = 4;

/// Messages of each code that can come in hundreds.
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
    /// Reports the errors of the file being read that lie before `end`.
    pub(super) fn report_errors_before(&mut self, end: u32) {
        while let Some(error) = self.next_error_before(end) {
            let mut diagnostic = diagnostic(&error);
            if error.problem == LexProblem::Unknown && self.map.snippet(error.span) == "\\" {
                diagnostic = diagnostic
                    .help("a backslash continues a line only as the last character of the line");
            }
            self.report_folded(diagnostic);
        }
    }

    /// Forgets the errors before `end`, which is skipped text. Only a comment without an end matters there too.
    pub(super) fn drop_errors_before(&mut self, end: u32) {
        while let Some(error) = self.next_error_before(end) {
            if error.problem == LexProblem::UnterminatedComment {
                self.report_folded(diagnostic(&error));
            }
        }
    }

    fn next_error_before(&mut self, end: u32) -> Option<LexError> {
        let open = self.files.last_mut()?;
        let error = open.lexed.errors.get(open.next_error)?;
        if error.span.start >= end {
            return None;
        }
        open.next_error += 1;
        Some(error.clone())
    }

    fn report_folded(&mut self, diagnostic: Diagnostic) {
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

    /// Says how many messages were not shown.
    pub(super) fn finish_reports(&mut self) {
        for Count { code, n, last } in std::mem::take(&mut self.folded.counts) {
            let more = n.saturating_sub(SHOWN);
            let what = match code {
                Code::ConfusableCharacter => "character like these",
                Code::UnknownCharacter => "place with unknown characters",
                _ => "place like these",
            };
            if more > 0 {
                let plural = if more == 1 { "" } else { "s" };
                let what = what.replacen("character like", &format!("character{plural} like"), 1);
                let what = what.replacen("place ", &format!("place{plural} "), 1);
                self.diagnostics[last]
                    .notes
                    .push(format!("{more} more {what} not shown"));
            }
        }
    }
}

fn diagnostic(error: &LexError) -> Diagnostic {
    let span = error.span;
    match error.problem {
        LexProblem::Unknown => Diagnostic::error(
            Code::UnknownCharacter,
            span,
            "these characters mean nothing here",
        )
        .at("not part of the language")
        .help("text that is not program goes in a comment (`// …`) or a string"),
        LexProblem::Confusable { found, ascii } => {
            let message = format!("{} in the program text", confusable::describe(found));
            let diagnostic = Diagnostic::error(Code::ConfusableCharacter, span, message);
            match ascii {
                " " => diagnostic
                    .at("read as a blank")
                    .help("delete it, or write an ASCII space"),
                _ => diagnostic
                    .at(format!("read as `{ascii}`"))
                    .help(format!("write `{ascii}`")),
            }
        }
        LexProblem::UnterminatedComment => {
            Diagnostic::error(Code::UnterminatedComment, span, "this comment never ends")
                .at("begins here")
                .help("add `*/` where it should end")
        }
        LexProblem::UnterminatedString => Diagnostic::error(
            Code::UnterminatedLiteral,
            span,
            "this string does not end on its line",
        )
        .at("begins here")
        .help("add `\"` where it should end"),
        LexProblem::UnterminatedChar => Diagnostic::error(
            Code::UnterminatedLiteral,
            span,
            "this character literal does not end on its line",
        )
        .at("begins here")
        .help("add `'` after the character"),
        LexProblem::BlankAfterBackslash => Diagnostic::warning(
            Code::BlankAfterBackslash,
            span,
            "blanks between this backslash and the end of the line",
        )
        .at("read as a continued line")
        .help("delete the blanks"),
    }
}
