//! Recovery from failures: how they are reported, and where parsing continues.
//!
//! A production that fails returns a [`Failure`]: the index of the token that did not fit and what was expected. The nearest [`recovered`]
//! production reports it and skips to a safe place: past the next `;`, past a balanced `{ … }`, or up to the bracket that closes the
//! enclosing one.

use chumsky::{DefaultExpected, error::Error, error::LabelError, prelude::*, util::MaybeRef};

use super::kit::{In, Production, State, ahead, by_hand, skip};
use super::lookahead::{Ahead, closes, opens};
use crate::syntax::{
    message::{
        Message as _,
        parse::{After, Expected, Found, SyntaxError},
    },
    token::{Keyword, Punct, Token, TokenKind},
};
use ir::{
    diagnostic::{Code, Diagnostic},
    span::Span,
};

/// Why a production did not parse.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The token that did not fit.
    pub(super) at: usize,
    /// The reason.
    pub(super) what: What,
}

/// The reason of a failure.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Another token was expected.
    Expected(Expected),
    /// A more specific message, with its place.
    Said(Box<SyntaxError>, Span),
}

impl What {
    fn rank(&self) -> u8 {
        match self {
            What::Expected(Expected::Nothing) => 0,
            What::Expected(_) => 1,
            What::Said(..) => 2,
        }
    }
}

impl<'t> LabelError<'t, In<'t>, DefaultExpected<'t, Token>> for Failure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token>>>(
        _: E,
        _: Option<MaybeRef<'t, Token>>,
        span: SimpleSpan,
    ) -> Failure {
        Failure::expected(span.start, Expected::Nothing)
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
    /// Something else was expected at `at`.
    pub(super) fn expected(at: usize, expected: Expected) -> Failure {
        let what = What::Expected(expected);
        Failure { at, what }
    }

    /// The message for the user.
    fn diagnostic(self, state: &State<'_>) -> Diagnostic {
        let place = state.place(self.at);
        let expected = match self.what {
            What::Said(error, span) => return error.diagnostic(span, &()),
            What::Expected(expected) => expected,
        };
        let error = match (expected, state.token(self.at)) {
            (Expected::Name, Some(&TokenKind::Keyword(word))) => SyntaxError::ReservedWord { word },
            (_, found) => SyntaxError::Unexpected {
                expected,
                after: After(state.token_before(self.at).cloned()),
                found: Found(found.cloned()),
            },
        };
        error.diagnostic(place, &())
    }
}

/// Reports a failure, unless it follows from a bracket that was already reported, or is of a kind that is reported once and would be
/// repeated by everything around it.
fn report(state: &mut State<'_>, failure: Failure, start: usize, stop: usize) {
    let diagnostic = failure.diagnostic(state);
    let code = diagnostic.code;
    let is_once = matches!(code, Code::NestedTooDeeply | Code::StatementOutside);
    if state.repaired(start, stop) || (is_once && state.said_once.contains(&code)) {
        return;
    }
    if is_once {
        state.said_once.push(code);
    }
    state.diagnostics.push(diagnostic);
}

/// `parser`; if it fails, the failure is reported, tokens are skipped as `stop` says (it gets the tokens from the start of the production,
/// and the offset of the failure), and `instead` is the result.
pub(super) fn recovered<'t, O: 't>(
    parser: impl Production<'t, O>,
    stop: fn(Ahead<'t>, usize) -> usize,
    instead: fn(Span) -> O,
) -> impl Production<'t, O> {
    by_hand(move |inp| {
        let start = inp.save();
        let next = ahead(inp);
        let (depth, n_classes) = (inp.state().depth, inp.state().classes.len());
        let failure = match inp.parse(&parser) {
            Ok(out) => return Ok(out),
            Err(failure) => failure,
        };
        inp.rewind(start);
        let n = stop(next, failure.at.saturating_sub(next.at));
        skip(inp, n);
        let state = inp.state();
        state.depth = depth;
        state.classes.truncate(n_classes);
        report(state, failure, next.at, next.at + n);
        Ok(instead(state.span(next.at, next.at + n)))
    })
}

/// How many tokens a broken statement takes: through the first `;` or the first `{ … }` that ends after the failure, or up to a `}` that
/// closes the block around it, or up to a word that begins another statement.
pub(super) fn statement_end(next: Ahead<'_>, failed: usize) -> usize {
    end_of(next, failed, begins_statement)
}

/// Like [`statement_end`], at file scope: a stray `}` is consumed, too.
pub(super) fn item_end(next: Ahead<'_>, failed: usize) -> usize {
    let n = end_of(next, failed, begins_item).max(1);
    n + usize::from(next.is(n - 1, Punct::RBrace) && next.is(n, Punct::Semi))
}

/// How many tokens a construct takes that begins here and is skipped: through its `;` or its `{ … }`.
pub(super) fn construct_end(next: Ahead<'_>) -> usize {
    let n = end_of(next, 1, |_| false);
    n + usize::from(next.is(n.saturating_sub(1), Punct::RBrace) && next.is(n, Punct::Semi))
}

fn end_of(next: Ahead<'_>, failed: usize, begins: fn(Keyword) -> bool) -> usize {
    let mut offset = 0;
    loop {
        match next.kind(offset) {
            None | Some(TokenKind::Punct(Punct::RBrace)) => return offset,
            Some(TokenKind::Punct(Punct::Semi)) if offset >= failed => return offset + 1,
            Some(TokenKind::Punct(punct)) if opens(*punct) => {
                offset = next.after_brackets(offset);
                if *punct == Punct::LBrace && offset > failed && !continues(next, offset) {
                    return offset;
                }
            }
            // The statement that begins here is read separately, so that its own errors are found.
            Some(TokenKind::Keyword(keyword)) if offset > failed && begins(*keyword) => {
                return offset;
            }
            Some(_) => offset += 1,
        }
    }
}

/// Up to the bracket that closes the enclosing one.
pub(super) fn bracket_end(next: Ahead<'_>, _failed: usize) -> usize {
    let mut offset = 0;
    loop {
        match next.kind(offset) {
            None => return offset,
            Some(TokenKind::Punct(punct)) if closes(*punct) => return offset,
            Some(TokenKind::Punct(punct)) if opens(*punct) => offset = next.after_brackets(offset),
            Some(_) => offset += 1,
        }
    }
}

/// Whether the tokens after a `}` continue the same declaration or expression.
fn continues(next: Ahead<'_>, offset: usize) -> bool {
    matches!(
        next.punct(offset),
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
