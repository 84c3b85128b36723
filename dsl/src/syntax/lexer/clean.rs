//! Prepares a text before it is cut into tokens: removes a byte order mark and continued lines (`\` at the end), and replaces lookalikes of
//! ASCII punctuation outside comments and literals by ASCII.
//!
//! The result is another text and a table from its bytes to those of the file, so that tokens keep their true places. Most files need no
//! change, and are borrowed as they are. A small state machine tracks comments and literals; if it errs (at a stray quote), it returns to
//! code at the end of the line.

use std::borrow::Cow;

use super::LexProblem;
use super::confusable;

/// A text that is ready to be cut.
#[derive(Debug)]
pub(crate) struct Cleaned<'a> {
    /// The text.
    pub(crate) text: Cow<'a, str>,
    /// The mapping back to the file.
    pub(crate) edits: Edits,
    /// Replaced characters: byte range in the file, and why.
    pub(crate) errors: Vec<(usize, usize, LexProblem)>,
}

/// Maps the bytes of a cleaned text to those of the file, as stretches in order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    stretches: Vec<Stretch>,
}

/// Cleaned bytes from `cleaned` on correspond to file bytes from `original` on. For a replaced character all of them correspond to the
/// whole of `original..replaced_end`.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    cleaned: usize,
    original: usize,
    replaced_end: Option<usize>,
}

impl Edits {
    /// A cursor for looking up places in ascending order.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            stretches: &self.stretches,
            at: 0,
        }
    }
}

/// Walks along [`Edits`].
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    stretches: &'a [Stretch],
    at: usize,
}

impl Cursor<'_> {
    /// The start, in the file, of the byte at `position`.
    pub(crate) fn start(&mut self, position: usize) -> usize {
        match self.stretch(position) {
            None => position,
            Some(Stretch {
                original,
                replaced_end: Some(_),
                ..
            }) => original,
            Some(Stretch {
                cleaned,
                original,
                replaced_end: None,
            }) => original + (position - cleaned),
        }
    }

    /// The end, in the file, of the byte before `position`.
    pub(crate) fn end(&mut self, position: usize) -> usize {
        match self.stretch(position.saturating_sub(1)) {
            None => position,
            Some(Stretch {
                replaced_end: Some(end),
                ..
            }) => end,
            Some(Stretch {
                cleaned,
                original,
                replaced_end: None,
            }) => original + (position - cleaned),
        }
    }

    fn stretch(&mut self, position: usize) -> Option<Stretch> {
        while self
            .stretches
            .get(self.at + 1)
            .is_some_and(|next| next.cleaned <= position)
        {
            self.at += 1;
        }
        self.stretches.get(self.at).copied()
    }
}

/// The state machine's position in the program's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Code,
    LineComment,
    BlockComment,
    /// In a literal. `curly`: a curly quote closes it, too; `reported`: a curly quote opened it.
    Quoted {
        quote: char,
        curly: bool,
        reported: bool,
    },
}

/// Cleans a text.
pub(crate) fn clean(text: &str) -> Cleaned<'_> {
    if text.is_ascii() && !has_continued_line(text.as_bytes()) {
        return Cleaned {
            text: Cow::Borrowed(text),
            edits: Edits::default(),
            errors: Vec::new(),
        };
    }
    let mut cleaner = Cleaner {
        text,
        out: String::with_capacity(text.len()),
        edits: Edits {
            stretches: vec![Stretch {
                cleaned: 0,
                original: 0,
                replaced_end: None,
            }],
        },
        errors: Vec::new(),
        state: State::Code,
        previous: '\n',
    };
    cleaner.run();
    Cleaned {
        text: Cow::Owned(cleaner.out),
        edits: cleaner.edits,
        errors: cleaner.errors,
    }
}

fn has_continued_line(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .enumerate()
        .any(|(at, &byte)| byte == b'\\' && continued_line(&bytes[at..]).is_some())
}

/// For text that starts with a backslash: the length of the backslash, blanks and line end, if it is a continued line, and whether there
/// were blanks.
fn continued_line(bytes: &[u8]) -> Option<(usize, bool)> {
    let blanks = bytes[1..]
        .iter()
        .take_while(|&&byte| byte == b' ' || byte == b'\t')
        .count();
    let line_end = match &bytes[1 + blanks..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some((1 + blanks + line_end, blanks > 0))
}

struct Cleaner<'a> {
    text: &'a str,
    out: String,
    edits: Edits,
    errors: Vec<(usize, usize, LexProblem)>,
    state: State,
    /// The last character written.
    previous: char,
}

impl Cleaner<'_> {
    fn run(&mut self) {
        let mut at = 0;
        if self.text.starts_with('\u{feff}') {
            at = '\u{feff}'.len_utf8();
            self.resume(at);
        }
        while let Some(found) = self.text[at..].chars().next() {
            let end = at + found.len_utf8();
            if found == '\\' {
                if let Some((length, blanks)) = continued_line(&self.text.as_bytes()[at..]) {
                    if blanks && self.state != State::LineComment {
                        self.errors
                            .push((at, at + 1, LexProblem::BlankAfterBackslash));
                    }
                    at += length;
                    self.resume(at);
                    continue;
                }
                if let State::Quoted { .. } = self.state {
                    // The next character, quote or not, belongs to the literal (unless the line ends).
                    self.keep('\\');
                    at = end;
                    let next = self.text[at..]
                        .chars()
                        .next()
                        .filter(|next| !matches!(next, '\n' | '\r'));
                    if let Some(next) = next
                        && (next != '\\' || continued_line(&self.text.as_bytes()[at..]).is_none())
                    {
                        self.out.push(next);
                        self.previous = '\0';
                        at += next.len_utf8();
                    }
                    continue;
                }
            }
            match self.replacement(found, end) {
                Some((ascii, report)) => {
                    if report {
                        self.errors
                            .push((at, end, confusable::problem(found, ascii)));
                    }
                    self.replace(at, end, ascii);
                }
                None => self.keep(found),
            }
            at = end;
        }
    }

    /// The replacement of a character, and whether it deserves a message.
    fn replacement(&self, found: char, end: usize) -> Option<(&'static str, bool)> {
        if found.is_ascii() {
            return None;
        }
        let ascii = confusable::ascii(found)?;
        match self.state {
            State::LineComment | State::BlockComment => None,
            // The opening quote was reported, or (if it is ASCII) the error is here.
            State::Quoted {
                quote,
                curly,
                reported,
            } => (curly && ascii.starts_with(quote)).then_some((ascii, !reported)),
            State::Code => match ascii {
                "\"" | "'" if !self.closes(end, ascii, true) => Some((" ", true)),
                _ => Some((ascii, true)),
            },
        }
    }

    /// Whether a literal that opens just before `from` ends on the line.
    fn closes(&self, from: usize, quote: &str, curly: bool) -> bool {
        let mut escaped = false;
        for next in self.text[from..].chars() {
            match next {
                '\n' | '\r' if !escaped => return false,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if next.is_ascii() => {
                    if quote.starts_with(next) {
                        return true;
                    }
                }
                _ => {
                    if curly && confusable::ascii(next) == Some(quote) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Continues with the file's text at `original`.
    fn resume(&mut self, original: usize) {
        self.edits.stretches.push(Stretch {
            cleaned: self.out.len(),
            original,
            replaced_end: None,
        });
    }

    fn replace(&mut self, start: usize, end: usize, ascii: &'static str) {
        self.edits.stretches.push(Stretch {
            cleaned: self.out.len(),
            original: start,
            replaced_end: Some(end),
        });
        for character in ascii.chars() {
            self.advance(character, end, true);
            self.out.push(character);
        }
        self.resume(end);
    }

    fn keep(&mut self, found: char) {
        // The end is only needed to look ahead from an ASCII quote.
        let end = match found {
            '"' | '\'' => self.original_end() + 1,
            _ => 0,
        };
        self.advance(found, end, false);
        self.out.push(found);
    }

    /// The place in the file of the end of the written text.
    fn original_end(&self) -> usize {
        self.edits
            .stretches
            .last()
            .map_or(0, |last| last.original + (self.out.len() - last.cleaned))
    }

    /// Advances the state machine over a written character.
    fn advance(&mut self, written: char, end: usize, replaced: bool) {
        let previous = std::mem::replace(&mut self.previous, written);
        match (self.state, written) {
            (State::Code, '/') if previous == '/' => self.state = State::LineComment,
            (State::Code, '*') if previous == '/' => {
                self.state = State::BlockComment;
                self.previous = '\0';
            }
            (State::Code, '"') => self.open('"', "\"", end, replaced),
            (State::Code, '\'') if !previous.is_ascii_hexdigit() => {
                self.open('\'', "'", end, replaced)
            }
            (State::LineComment | State::Quoted { .. }, '\n' | '\r') => self.state = State::Code,
            (State::BlockComment, '/') if previous == '*' => {
                self.state = State::Code;
                self.previous = '\0';
            }
            (State::Quoted { quote, .. }, _) if quote == written => self.state = State::Code,
            (State::Code | State::LineComment | State::BlockComment | State::Quoted { .. }, _) => {}
        }
    }

    fn open(&mut self, quote: char, text: &str, end: usize, replaced: bool) {
        self.state = State::Quoted {
            quote,
            curly: replaced || !self.closes(end, text, false),
            reported: replaced,
        };
    }
}
