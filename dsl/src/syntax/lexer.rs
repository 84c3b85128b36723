//! From text to preprocessing tokens.
//!
//! `clean` first removes what C removes before it sees tokens (a byte order mark, a backslash at the end of a line) and replaces full-width
//! punctuation by ASCII, remembering where each byte came from. A DFA (logos, see `raw.in.rs`) then cuts the cleaned text. Every text
//! lexes: characters that begin no token, and literals that do not end, become [`LexError`]s besides the tokens. They are not yet
//! diagnostics, because text that `#if 0` skips may contain anything. There is no newline token: the first token of a line is marked
//! ([`PpToken::LINE_START`]), and a directive ends before the next one.

use std::ops::Range;

use logos::Logos;

use self::clean::Cleaned;
use self::intern::Interner;
use self::pp_token::{PpKind, PpToken};
use self::raw::Raw;
pub(crate) use super::message::lex::LexProblem;
use super::token::Punct;
use ir::span::{FileId, Span};

pub(crate) mod clean;
pub(crate) mod confusable;
pub(crate) mod intern;
pub(crate) mod pp_token;
/// The DFA. It recognises comments and literals by their first characters, and names by their ASCII part; code below finds their ends.
#[rustfmt::skip]
#[allow(clippy::all, unused, unused_qualifications, reason = "logos made it from `raw.in.rs`")]
mod raw;

/// A problem and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LexError {
    /// The place.
    pub(crate) span: Span,
    /// The problem.
    pub(crate) problem: LexProblem,
}

/// A text in tokens.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// The tokens, without comments and line ends.
    pub(crate) tokens: Vec<PpToken>,
    /// Its errors, by place.
    pub(crate) errors: Vec<LexError>,
}

/// The operator that C++ also spells as this word.
fn alternative(word: &str) -> Option<Punct> {
    Some(match word {
        "and" => Punct::AmpAmp,
        "or" => Punct::PipePipe,
        "not" => Punct::Bang,
        "bitand" => Punct::Amp,
        "bitor" => Punct::Pipe,
        "xor" => Punct::Caret,
        "compl" => Punct::Tilde,
        "not_eq" => Punct::Ne,
        "and_eq" => Punct::AmpEq,
        "or_eq" => Punct::PipeEq,
        "xor_eq" => Punct::CaretEq,
        _ => return None,
    })
}

/// Whether a comment or literal has its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    Yes,
    No,
}

/// Advances to the end of a name: letters and digits of Unicode belong to it.
fn name(lexer: &mut logos::Lexer<'_, Raw>) {
    let continues = |c: char| c == '$' || unicode_ident::is_xid_continue(c);
    let rest = lexer.remainder();
    lexer.bump(rest.find(|c| !continues(c)).unwrap_or(rest.len()));
}

/// Whether a character beyond ASCII begins a name; advances to its end.
fn other_name(lexer: &mut logos::Lexer<'_, Raw>) -> bool {
    let begins = lexer.slice().chars().all(unicode_ident::is_xid_start);
    if begins {
        name(lexer);
    }
    begins
}

/// Advances to just after `*/`, or to the end of the text.
fn block_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Ended {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            Ended::Yes
        }
        None => {
            lexer.bump(rest.len());
            Ended::No
        }
    }
}

/// Advances to just after the closing quote, or to the end of the line.
fn quoted(lexer: &mut logos::Lexer<'_, Raw>, quote: u8) -> Ended {
    let rest = lexer.remainder();
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'\n' | b'\r' => {
                lexer.bump(at);
                return Ended::No;
            }
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => {
                lexer.bump(at + 1);
                return Ended::Yes;
            }
            _ => {}
        }
    }
    lexer.bump(rest.len());
    Ended::No
}

/// Cuts the text of `file` into tokens.
pub(crate) fn lex(text: &str, file: FileId, names: &mut Interner) -> Lexed {
    let Cleaned {
        text: cleaned,
        edits,
        errors: cleaning,
    } = clean::clean(text);
    let errors = cleaning.into_iter().map(|(start, end, problem)| LexError {
        span: Span::new(file, start, end),
        problem,
    });
    let mut cutter = Cutter {
        file,
        names,
        places: edits.cursor(),
        tokens: Vec::with_capacity(cleaned.len() / 4),
        errors: errors.collect(),
        unknown: None,
        line_start: true,
        previous_end: 0,
    };
    let mut lexer = Raw::lexer(&cleaned);
    while let Some(raw) = lexer.next() {
        cutter.take(raw, lexer.slice(), lexer.span());
    }
    let Cutter {
        tokens, mut errors, ..
    } = cutter;
    errors.sort_by_key(|error| error.span.start);
    Lexed { tokens, errors }
}

/// Makes tokens of what the DFA finds.
struct Cutter<'a> {
    file: FileId,
    names: &'a mut Interner,
    places: clean::Cursor<'a>,
    tokens: Vec<PpToken>,
    errors: Vec<LexError>,
    /// The index of the last error about an unknown character.
    unknown: Option<usize>,
    /// The next token is the first of its line.
    line_start: bool,
    /// Where the last token or line ended.
    previous_end: usize,
}

impl Cutter<'_> {
    /// Takes the bytes `range` of the cleaned text, which are `slice`.
    fn take(&mut self, raw: Result<Raw, ()>, slice: &str, range: Range<usize>) {
        if raw == Ok(Raw::Newline) {
            self.line_start = true;
            self.previous_end = range.end;
            return;
        }
        let span = Span::new(
            self.file,
            self.places.start(range.start),
            self.places.end(range.end),
        );
        let kind = match raw {
            Ok(Raw::Newline | Raw::LineComment | Raw::BlockComment(Ended::Yes)) => return,
            Ok(Raw::BlockComment(Ended::No)) => {
                return self.report(span, 2, LexProblem::UnterminatedComment);
            }
            Ok(Raw::Name) => match alternative(slice) {
                Some(punct) => PpKind::Punct(punct),
                None => PpKind::Name(self.names.intern(slice)),
            },
            Ok(Raw::Number) => PpKind::Number(self.names.intern(slice)),
            Ok(Raw::Str(ended)) => {
                if ended == Ended::No {
                    self.report(span, 1, LexProblem::UnterminatedString);
                }
                PpKind::Str(intern_quoted(slice, ended, '"', self.names))
            }
            Ok(Raw::Char(Ended::Yes)) => PpKind::Char(self.names.intern(slice)),
            Ok(Raw::Char(Ended::No)) => {
                self.report(span, 1, LexProblem::UnterminatedChar);
                PpKind::Char(self.names.intern("'?'"))
            }
            Ok(Raw::Punct(punct)) => PpKind::Punct(punct),
            Err(()) => return self.unknown(span),
        };
        let mut flags = 0;
        if self.line_start {
            flags |= PpToken::LINE_START | PpToken::SPACE;
        } else if range.start != self.previous_end {
            flags |= PpToken::SPACE;
        }
        self.line_start = false;
        self.previous_end = range.end;
        self.tokens.push(PpToken { kind, flags, span });
    }

    /// Reports an error at `span`. Only its first `n` bytes are shown: where it should have ended is unknown.
    fn report(&mut self, span: Span, n: usize, problem: LexProblem) {
        let start = span.start as usize;
        self.errors.push(LexError {
            span: Span::new(self.file, start, start + n),
            problem,
        });
    }

    /// Reports an unknown character; adjacent ones make one message.
    fn unknown(&mut self, span: Span) {
        if let Some(last) = self.unknown.and_then(|at| self.errors.get_mut(at))
            && last.span.end == span.start
        {
            last.span.end = span.end;
            return;
        }
        self.unknown = Some(self.errors.len());
        self.errors.push(LexError {
            span,
            problem: LexProblem::Unknown,
        });
    }
}

/// Adds the missing end to a literal, so that later stages see a complete one.
fn intern_quoted(slice: &str, ended: Ended, quote: char, names: &mut Interner) -> intern::Sym {
    match ended {
        Ended::Yes => names.intern(slice),
        Ended::No => {
            // A single backslash at the end would escape the added quote.
            let kept = if trailing_backslashes(slice) % 2 == 1 {
                &slice[..slice.len() - 1]
            } else {
                slice
            };
            names.intern(&format!("{kept}{quote}"))
        }
    }
}

fn trailing_backslashes(text: &str) -> usize {
    text.bytes().rev().take_while(|&byte| byte == b'\\').count()
}

/// The only token that `text` consists of, if it does: the result of `##`.
pub(crate) fn single(text: &str, names: &mut Interner) -> Option<PpKind> {
    let mut lexer = Raw::lexer(text);
    let raw = lexer.next()?.ok()?;
    if lexer.span() != (0..text.len()) {
        return None;
    }
    match raw {
        Raw::Name => Some(PpKind::Name(names.intern(text))),
        Raw::Number => Some(PpKind::Number(names.intern(text))),
        Raw::Str(Ended::Yes) => Some(PpKind::Str(names.intern(text))),
        Raw::Char(Ended::Yes) => Some(PpKind::Char(names.intern(text))),
        Raw::Punct(punct) => Some(PpKind::Punct(punct)),
        Raw::Newline | Raw::LineComment | Raw::BlockComment(_) | Raw::Str(_) | Raw::Char(_) => None,
    }
}

#[cfg(test)]
mod tests;
