//! What failed, how it is said, and where parsing goes on.
//!
//! A production that fails returns a [`Failure`]: the index of the token that did not fit and what should have stood there.
//! The nearest [`recovered`] production reports it and skips to a place where the grammar is sure of itself again: past
//! the next `;`, past a balanced `{ … }`, or up to the bracket that closes what it is in.

use chumsky::{DefaultExpected, error::Error, error::LabelError, prelude::*, util::MaybeRef};

use super::kit::{Ex, In, State, ahead, custom_clone, skip};
use super::lookahead::{Ahead, closes, opens};
use crate::{
    diagnostic::{Code, Diagnostic},
    syntax::token::{Keyword, Punct, Token, TokenKind},
};

/// Why a production did not parse.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The token that did not fit.
    pub(super) at: usize,
    /// What should have stood there.
    pub(super) what: What,
}

/// What should have stood there.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Nothing worth a word.
    Quiet,
    /// An operator or bracket.
    Punct(Punct),
    /// A reserved word.
    Word(Keyword),
    /// A name.
    Name,
    /// In words: "an expression".
    Phrase(&'static str),
    /// The whole message.
    Said(Box<Diagnostic>),
}

impl What {
    fn rank(&self) -> u8 {
        match self {
            What::Quiet => 0,
            What::Punct(_) | What::Word(_) | What::Name | What::Phrase(_) => 1,
            What::Said(_) => 2,
        }
    }
}

impl<'t> LabelError<'t, In<'t>, DefaultExpected<'t, Token>> for Failure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token>>>(
        _: E,
        _: Option<MaybeRef<'t, Token>>,
        span: SimpleSpan,
    ) -> Failure {
        Failure {
            at: span.start,
            what: What::Quiet,
        }
    }
}

impl<'t> Error<'t, In<'t>> for Failure {
    fn merge(self, other: Failure) -> Failure {
        if (other.at, other.what.rank()) >= (self.at, self.what.rank()) {
            other
        } else {
            self
        }
    }
}

impl Failure {
    /// The message for the user.
    fn diagnostic(self, state: &State<'_>) -> Diagnostic {
        let expected = match self.what {
            What::Said(diagnostic) => return *diagnostic,
            What::Punct(punct) => format!("`{}`", punct.text()),
            What::Word(keyword) => format!("`{}`", keyword.text()),
            What::Phrase(phrase) => phrase.to_string(),
            What::Name => match state.token(self.at) {
                Some(TokenKind::Keyword(keyword)) => {
                    let message = format!(
                        "`{}` is a reserved word and cannot be a name",
                        keyword.text()
                    );
                    return Diagnostic::error(Code::ReservedWord, state.place(self.at), message);
                }
                _ => "a name".to_string(),
            },
            What::Quiet => "something else".to_string(),
        };
        let after = match self
            .at
            .checked_sub(1)
            .and_then(|previous| state.token(previous))
        {
            Some(previous) => format!(" after {}", described(previous, "the")),
            None => String::new(),
        };
        let found = match state.token(self.at) {
            Some(found) => described(found, "a"),
            None => "the end of the file".to_string(),
        };
        Diagnostic::error(
            Code::Syntax,
            state.place(self.at),
            format!("expected {expected}{after}, found {found}"),
        )
    }
}

/// A token in a message: `` `;` ``, "a number".
pub(super) fn described(kind: &TokenKind, article: &str) -> String {
    match kind {
        TokenKind::Int { .. }
        | TokenKind::Float { .. }
        | TokenKind::Char(_)
        | TokenKind::Str(_) => format!("{article} {kind}"),
        TokenKind::Ident(_)
        | TokenKind::TypeName(_)
        | TokenKind::Keyword(_)
        | TokenKind::Punct(_) => kind.to_string(),
    }
}

/// Reports a failure, unless it follows from a bracket that was reported already, or its like has been
/// said and would be said again for everything around it.
fn report(state: &mut State<'_>, failure: Failure, start: usize, stop: usize) {
    let once = match &failure.what {
        What::Said(diagnostic) => Some(diagnostic.code),
        _ => None,
    };
    let once = once.filter(|code| matches!(code, Code::NestedTooDeeply | Code::StatementOutside));
    if state.repaired(start, stop) || once.is_some_and(|code| state.said_once.contains(&code)) {
        return;
    }
    state.said_once.extend(once);
    let diagnostic = failure.diagnostic(state);
    state.report(diagnostic);
}

/// `parser`; when it fails, the failure is reported, tokens are skipped as `stop` says (it gets the tokens from the start of
/// the production, and the offset of the failure), and `instead` stands for the result.
pub(super) fn recovered<'t, O: 't>(
    parser: impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't,
    stop: fn(Ahead<'t>, usize) -> usize,
    instead: fn(crate::span::Span) -> O,
) -> impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't {
    custom_clone(move |inp| {
        let start = inp.save();
        let look = ahead(inp);
        let depth = inp.state().depth;
        match inp.parse(&parser) {
            Ok(out) => Ok(out),
            Err(failure) => {
                inp.rewind(start);
                inp.state().depth = depth;
                let n = stop(look, failure.at.saturating_sub(look.at));
                report(inp.state(), failure, look.at, look.at + n);
                skip(inp, n);
                let span = inp.state().span(look.at, look.at + n);
                Ok(instead(span))
            }
        }
    })
}

/// How many tokens a broken statement takes: through the first `;` or the first `{ … }` that ends after the failure,
/// or up to a `}` that closes the block around it, or up to a word that begins another statement.
pub(super) fn statement_end(look: Ahead<'_>, failed: usize) -> usize {
    end_of(look, failed, begins_statement)
}

/// Like [`statement_end`], for what stands at file scope: a stray `}` is taken too.
pub(super) fn item_end(look: Ahead<'_>, failed: usize) -> usize {
    let n = end_of(look, failed, begins_item).max(1);
    n + usize::from(look.is(n - 1, Punct::RBrace) && look.is(n, Punct::Semi))
}

/// How many tokens a construct takes that begins here and is not looked into: through its `;` or its `{ … }`.
pub(super) fn construct_end(look: Ahead<'_>) -> usize {
    let n = end_of(look, 1, |_| false);
    n + usize::from(look.is(n.saturating_sub(1), Punct::RBrace) && look.is(n, Punct::Semi))
}

fn end_of(look: Ahead<'_>, failed: usize, begins: fn(Keyword) -> bool) -> usize {
    let mut offset = 0;
    loop {
        match look.kind(offset) {
            None | Some(TokenKind::Punct(Punct::RBrace)) => return offset,
            Some(TokenKind::Punct(Punct::Semi)) if offset >= failed => return offset + 1,
            Some(TokenKind::Punct(punct)) if opens(*punct) => {
                offset = look.after_brackets(offset);
                if *punct == Punct::LBrace && offset > failed && !continues(look, offset) {
                    return offset;
                }
            }
            // What begins here is read for itself, so that its own errors are found.
            Some(TokenKind::Keyword(keyword)) if offset > failed && begins(*keyword) => {
                return offset;
            }
            Some(_) => offset += 1,
        }
    }
}

/// Up to the bracket that closes what the production is in.
pub(super) fn bracket_end(look: Ahead<'_>, _failed: usize) -> usize {
    let mut offset = 0;
    loop {
        match look.kind(offset) {
            None => return offset,
            Some(TokenKind::Punct(punct)) if closes(*punct) => return offset,
            Some(TokenKind::Punct(punct)) if opens(*punct) => offset = look.after_brackets(offset),
            Some(_) => offset += 1,
        }
    }
}

/// Whether what follows a `}` goes on with the same declaration or expression.
fn continues(look: Ahead<'_>, offset: usize) -> bool {
    matches!(
        look.punct(offset),
        Some(
            Punct::Comma | Punct::RParen | Punct::RBracket | Punct::Dot | Punct::LParen | Punct::Eq
        )
    )
}

fn begins_statement(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        If | For | While | Do | Switch | Case | Default | Break | Continue | Return | Goto | Else
    )
}

fn begins_item(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(keyword, Global | Typedef | Template | Namespace | Using)
}
