//! Tokens of PTX's text.

#[rustfmt::skip]
#[allow(clippy::all, unused, missing_docs, unused_qualifications, reason = "logos made it from `raw.in.rs`")]
mod raw;

use logos::{Lexer, Logos};

pub(crate) use raw::Token;

/// A token, and the bytes of the text that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// The tokens of a text of at most 4 GiB. `Err`: the first byte that begins none.
pub(crate) fn tokens(text: &str) -> Result<Vec<Spanned>, usize> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut lexer = Token::lexer(text);
    while let Some(token) = lexer.next() {
        let span = lexer.span();
        let token = token.map_err(|()| span.start)?;
        tokens.push(Spanned {
            token,
            from: span.start as u32,
            to: span.end as u32,
        });
    }
    Ok(tokens)
}

/// After `/*`: skips the comment. A comment that does not end is an error at its beginning.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> logos::FilterResult<(), ()> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            logos::FilterResult::Skip
        }
        None => logos::FilterResult::Error(()),
    }
}
