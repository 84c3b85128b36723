//! Repairs launches whose brackets an editor has spaced: `k << <1, 64 >> > (x)` is `k<<<1, 64>>>(x)`.
//!
//! No expression has `<` after `<<`, so those two always open a launch. `>> >` can also close template arguments: it closes a launch only
//! if the launch was opened in this form, at the same depth of brackets, with the launch's arguments after it.

use std::borrow::Cow;

use crate::syntax::token::{Punct, Token, TokenKind};

/// Joins each launch bracket that consists of two tokens.
pub(super) fn join(tokens: &[Token]) -> Cow<'_, [Token]> {
    let openers = tokens.windows(2).enumerate();
    let openers = openers.filter(|(_, pair)| pieces(pair, Punct::Shl, Punct::Lt));
    let mut found = Vec::new();
    for (at, _) in openers {
        if let Some(closing) = closing(tokens, at + 2) {
            found.push((at, Punct::LaunchOpen));
            if punct(&tokens[closing]) != Some(Punct::LaunchClose) {
                found.push((closing, Punct::LaunchClose));
            }
        }
    }
    if found.is_empty() {
        return Cow::Borrowed(tokens);
    }
    found.sort_unstable_by_key(|&(at, _)| at);
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    for (place, whole) in found {
        // Only in an invalid program can a launch in another's configuration share a bracket with it.
        if place < at {
            continue;
        }
        out.extend_from_slice(&tokens[at..place]);
        out.push(Token {
            kind: TokenKind::Punct(whole),
            span: tokens[place].span.to(tokens[place + 1].span),
        });
        at = place + 2;
    }
    out.extend_from_slice(&tokens[at..]);
    Cow::Owned(out)
}

/// The index of the bracket that closes the launch whose configuration begins at `start`.
fn closing(tokens: &[Token], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in start..tokens.len() {
        match punct(&tokens[at]) {
            Some(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
            Some(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                depth = depth.checked_sub(1)?
            }
            Some(Punct::Semi) => return None,
            Some(Punct::LaunchClose) if depth == 0 => return Some(at),
            Some(Punct::Shr | Punct::Gt) if depth == 0 => {
                let pair = tokens.get(at..at + 2)?;
                let is_closer = pieces(pair, Punct::Shr, Punct::Gt);
                let arguments = tokens.get(at + 2).and_then(punct) == Some(Punct::LParen);
                if is_closer && arguments {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether these are the two, in either order.
fn pieces(pair: &[Token], long: Punct, short: Punct) -> bool {
    let [first, second] = pair else {
        return false;
    };
    let pair = (punct(first), punct(second));
    pair == (Some(long), Some(short)) || pair == (Some(short), Some(long))
}

fn punct(token: &Token) -> Option<Punct> {
    match token.kind {
        TokenKind::Punct(punct) => Some(punct),
        _ => None,
    }
}
