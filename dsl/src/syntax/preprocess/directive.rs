//! The lines that start with `#`.

use super::condition::Conditional;
use super::macros::Origin;
use super::{MacroState, Preprocessor};
use crate::syntax::lexer::intern::Sym;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::message::preprocess::{DirectiveError, Text};
use crate::syntax::token::Punct;
use ir::span::Span;

/// The directives by name, for "did you mean".
const NAMES: [&str; 16] = [
    "define",
    "undef",
    "include",
    "include_next",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "warning",
    "line",
    "pragma",
];

impl Preprocessor<'_> {
    /// Executes the directive at the current position, and advances past its line.
    pub(super) fn directive(&mut self) {
        let Some(line) = self.take_line() else { return };
        let Some(word) = line.get(1) else {
            self.report_errors_before(line[0].span.end);
            return;
        };
        let rest = &line[2..];
        let name = word.name().map(|name| self.names.shared(name));
        let name = name.as_deref().unwrap_or("");
        let line_end = line[line.len() - 1].span.end;
        if !matches!(name, "error" | "warning" | "pragma") {
            self.report_errors_before(line_end);
        }
        match name {
            "define" => self.define(word.span, rest, Origin::User),
            "undef" => self.undef(word.span, rest),
            "include" | "include_next" | "import" => self.include(word.span, rest),
            "if" => {
                let value = self.condition(word.span, rest);
                self.open_conditional(line[0].span.to(word.span), value);
            }
            "ifdef" | "ifndef" => {
                let defined = self
                    .name_operand(word, rest)
                    .is_some_and(|name| self.macro_named(name).is_some());
                self.open_conditional(line[0].span.to(word.span), defined == (name == "ifdef"));
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                self.continue_conditional(word, name, rest)
            }
            "error" | "warning" => {
                self.drop_errors_before(line_end);
                self.message(name == "error", &line);
            }
            "pragma" => {
                self.drop_errors_before(line_end);
                self.pragma(&line[0].span.to(word.span), rest);
            }
            "line" | "ident" => {}
            // `# 12 "file"`, left by another preprocessor.
            "" if matches!(word.kind, PpKind::Number(_)) => {}
            _ => self.unknown_directive(word),
        }
    }

    /// The tokens of the current line, the `#` first.
    fn take_line(&mut self) -> Option<Vec<PpToken>> {
        let open = self.files.open.last_mut()?;
        let rest = &open.lexed.tokens[open.at..];
        let length = 1 + rest
            .iter()
            .skip(1)
            .take_while(|token| !token.has(PpToken::LINE_START))
            .count();
        let line = rest[..length.min(rest.len())].to_vec();
        open.at += line.len();
        Some(line)
    }

    fn unknown_directive(&mut self, word: &PpToken) {
        let text = word.text(&self.names);
        let near = NAMES
            .iter()
            .map(|&name| (strsim::damerau_levenshtein(name, text), name))
            .min();
        let near = near
            .filter(|&(distance, _)| distance <= 2 && text.len() > 2)
            .map(|(_, name)| name);
        self.report(word.span, DirectiveError::Unknown { name: *word, near });
    }

    fn undef(&mut self, directive: Span, rest: &[PpToken]) {
        let Some(name) = rest.first().and_then(PpToken::name) else {
            let place = rest.first().map_or(directive.after(), |token| token.span);
            let directive = "undef".into();
            return self.report(place, DirectiveError::NeedsName { directive });
        };
        *self.known(name) = MacroState::NoMacro;
        self.extra_tokens("undef", &rest[1..]);
    }

    /// The single name after `#ifdef`.
    fn name_operand(&mut self, word: &PpToken, rest: &[PpToken]) -> Option<Sym> {
        let text = self.names.shared(word.name()?);
        let Some(name) = rest.first().and_then(PpToken::name) else {
            let place = rest.first().map_or(word.span.after(), |token| token.span);
            self.report(place, DirectiveError::NeedsName { directive: text });
            return None;
        };
        self.extra_tokens(&text, &rest[1..]);
        Some(name)
    }

    pub(super) fn extra_tokens(&mut self, directive: &str, extra: &[PpToken]) {
        let (Some(first), Some(last)) = (extra.first(), extra.last()) else {
            return;
        };
        let directive = directive.into();
        self.report(
            first.span.to(last.span),
            DirectiveError::TooLong { directive },
        );
    }

    fn open_conditional(&mut self, opened_at: Span, value: bool) {
        if let Some(open) = self.files.open.last_mut() {
            open.conditionals.push(Conditional {
                opened_at,
                taken: value,
                else_at: None,
            });
        }
        if !value {
            self.skip();
        }
    }

    /// `#elif`, `#else` or `#endif` after a branch that was read: the other branches are skipped.
    fn continue_conditional(&mut self, word: &PpToken, name: &str, rest: &[PpToken]) {
        if !self.is_inside(word, name) {
            return;
        }
        match name {
            "endif" => self.end_conditional(rest),
            _ => {
                if name == "else" {
                    self.note_else(word.span, rest);
                }
                self.skip();
            }
        }
    }

    /// Whether a conditional is open that this directive can continue; reports if not.
    fn is_inside(&mut self, word: &PpToken, name: &str) -> bool {
        let conditional = self
            .files
            .open
            .last()
            .and_then(|open| open.conditionals.last().copied());
        let directive = name.into();
        match conditional {
            None => {
                self.report(word.span, DirectiveError::WithoutIf { directive });
                false
            }
            Some(Conditional {
                else_at: Some(else_at),
                opened_at,
                ..
            }) if name != "endif" => {
                self.report(
                    word.span,
                    DirectiveError::AfterElse {
                        directive,
                        else_at,
                        opened_at,
                    },
                );
                true
            }
            Some(_) => true,
        }
    }

    fn end_conditional(&mut self, rest: &[PpToken]) {
        self.extra_tokens("endif", rest);
        if let Some(open) = self.files.open.last_mut() {
            open.conditionals.pop();
        }
    }

    fn note_else(&mut self, place: Span, rest: &[PpToken]) {
        self.extra_tokens("else", rest);
        if let Some(conditional) = self
            .files
            .open
            .last_mut()
            .and_then(|open| open.conditionals.last_mut())
        {
            conditional.else_at.get_or_insert(place);
        }
    }

    /// Skips lines up to the branch to read, or past the end of the innermost conditional.
    fn skip(&mut self) {
        let mut depth = 0_u32;
        loop {
            let Some(line) = self.next_directive_line() else {
                return;
            };
            let Some(word) = line.get(1) else { continue };
            let name = word.name().map(|name| self.names.shared(name));
            let name = name.as_deref().unwrap_or("");
            match name {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elif" | "elifdef" | "elifndef" | "else" | "endif"
                    if depth == 0 && self.ends_skipping(word, name, &line[2..]) =>
                {
                    self.drop_errors_before(word.span.start);
                    return;
                }
                _ => {}
            }
        }
    }

    /// Whether lines are read again after this directive of the conditional that is being skipped.
    fn ends_skipping(&mut self, word: &PpToken, name: &str, rest: &[PpToken]) -> bool {
        self.is_inside(word, name);
        let taken = self
            .files
            .open
            .last()
            .and_then(|open| open.conditionals.last())
            .is_none_or(|conditional| conditional.taken);
        let take = match name {
            "endif" => {
                self.end_conditional(rest);
                return true;
            }
            "else" => {
                self.note_else(word.span, rest);
                !taken
            }
            _ if taken => false,
            "elif" => self.condition(word.span, rest),
            _ => {
                let defined = self
                    .name_operand(word, rest)
                    .is_some_and(|name| self.macro_named(name).is_some());
                defined == (name == "elifdef")
            }
        };
        if take
            && let Some(conditional) = self
                .files
                .open
                .last_mut()
                .and_then(|open| open.conditionals.last_mut())
        {
            conditional.taken = true;
        }
        take
    }

    /// The next line that starts with `#`, skipping everything before it. `None` at the end of the file.
    fn next_directive_line(&mut self) -> Option<Vec<PpToken>> {
        let open = self.files.open.last_mut()?;
        let tokens = &open.lexed.tokens;
        let start = tokens[open.at..]
            .iter()
            .position(|token| token.has(PpToken::LINE_START) && token.is(Punct::Hash));
        match start {
            Some(offset) => {
                open.at += offset;
                self.take_line()
            }
            None => {
                open.at = tokens.len();
                self.drop_errors_before(u32::MAX);
                None
            }
        }
    }

    /// `#error` and `#warning` with the text as written.
    fn message(&mut self, is_error: bool, line: &[PpToken]) {
        let text = match (line.get(2), line.last()) {
            (Some(first), Some(last)) => self
                .map
                .snippet(Span {
                    end: last.span.end,
                    ..first.span
                })
                .trim(),
            _ => "",
        };
        let text = Text(text.to_string());
        let span = line[0].span.to(line[1].span);
        match is_error {
            true => self.report(span, DirectiveError::Error { text }),
            false => self.report(span, DirectiveError::Warning { text }),
        }
    }

    /// `#pragma once` and `#pragma unroll`; all others are for other compilers.
    fn pragma(&mut self, place: &Span, rest: &[PpToken]) {
        let Some((word, rest)) = rest.split_first() else {
            return;
        };
        match word.text(&self.names) {
            "once" => {
                if let Some(open) = self.files.open.last() {
                    self.files.once.insert(open.id);
                }
            }
            "unroll" if self.collecting == 0 => {
                // A count that only the compiler knows (a template parameter, a `const int`) is dropped: unrolling is a hint, and does not
                // change results.
                let count = if rest.is_empty() {
                    None
                } else {
                    self.evaluate_count(rest)
                };
                self.out.push(PpToken {
                    kind: PpKind::Unroll(count),
                    flags: PpToken::LINE_START,
                    span: place.to(word.span),
                });
            }
            _ => {}
        }
    }

    fn evaluate_count(&mut self, line: &[PpToken]) -> Option<u32> {
        let expanded = self.expand_list(line.to_vec());
        if expanded.iter().any(|token| token.name().is_some()) {
            return None;
        }
        self.evaluate(&expanded).ok()?.count()
    }
}
