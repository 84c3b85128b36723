//! Reads the heads of declarations from tokens: what a brace opens, what a qualified name declares, where a declaration ends.

use std::sync::Arc;

use super::{Keyword, Kind, Punct, Token, TokenKind};

/// How many tokens of a head are read: of a class up to its brace, of template arguments, of a qualified name.
pub(super) const LONGEST_HEAD: usize = 256;

/// The brace that this keyword's declaration opens, and what it encloses.
pub(super) fn head(tokens: &[Token], at: usize, word: Keyword) -> Option<(usize, Kind)> {
    match word {
        Keyword::Namespace => namespace(tokens, at),
        Keyword::Struct | Keyword::Class | Keyword::Union => class(tokens, at),
        Keyword::Enum => enumeration(tokens, at),
        Keyword::Extern if matches!(tokens.get(at + 1)?.kind, TokenKind::Str { .. }) => {
            (punct(tokens.get(at + 2)) == Some(Punct::LBrace)).then_some((at + 2, Kind::Linkage))
        }
        _ => None,
    }
}

fn namespace(tokens: &[Token], at: usize) -> Option<(usize, Kind)> {
    let mut names = vec![];
    let mut next = at + 1;
    loop {
        match &tokens.get(next)?.kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => names.push(name.clone()),
            TokenKind::Punct(Punct::ColonColon) | TokenKind::Keyword(Keyword::Inline) => {}
            TokenKind::Punct(Punct::LBrace) => break,
            _ => return None,
        }
        next += 1;
    }
    let is_inline = at > 0 && tokens[at - 1].kind == TokenKind::Keyword(Keyword::Inline);
    let kind = match names.pop_if(|_| is_inline) {
        Some(name) => Kind::Inline(name),
        None => Kind::Namespace(names),
    };
    Some((next, kind))
}

fn class(tokens: &[Token], at: usize) -> Option<(usize, Kind)> {
    let mut next = at + 1;
    let mut name = None;
    let mut bases = None::<Vec<Arc<str>>>;
    let end = tokens.len().min(at + LONGEST_HEAD);
    // Parentheses are those of an alignment or of `decltype`, angles those of a specialisation or of bases.
    let (mut round, mut angle) = (0_u32, 0_u32);
    while next < end {
        match &tokens[next].kind {
            TokenKind::Punct(Punct::LParen) => {
                let before = &tokens[next - 1].kind;
                let is_of_head = matches!(
                    before,
                    TokenKind::Keyword(Keyword::Align | Keyword::Decltype)
                );
                if !is_of_head && round + angle == 0 && bases.is_none() {
                    return None;
                }
                round += 1;
            }
            TokenKind::Punct(Punct::RParen) => round = round.checked_sub(1)?,
            TokenKind::Punct(Punct::Lt) => angle += 1,
            TokenKind::Punct(Punct::Gt) => angle = angle.checked_sub(1)?,
            TokenKind::Punct(Punct::Shr) => angle = angle.checked_sub(2)?,
            TokenKind::Punct(Punct::LBrace) if round == 0 => {
                return Some((next, Kind::Class(name, bases.unwrap_or_default())));
            }
            TokenKind::Punct(Punct::Colon) => bases = Some(vec![]),
            TokenKind::Punct(Punct::Semi | Punct::RBrace) => return None,
            TokenKind::Punct(Punct::Eq | Punct::Comma | Punct::Star | Punct::Amp)
                if round + angle == 0 && bases.is_none() =>
            {
                return None;
            }
            TokenKind::Ident(word) | TokenKind::TypeName(word) if round == 0 => match &mut bases {
                Some(bases) => bases.push(word.clone()),
                None if angle > 0 || &**word == "final" => {}
                // A variable after its type.
                None if ident(tokens.get(next - 1)).is_some() => return None,
                None => name = Some(word.clone()),
            },
            _ => {}
        }
        next += 1;
    }
    None
}

fn enumeration(tokens: &[Token], at: usize) -> Option<(usize, Kind)> {
    let is_scoped = matches!(
        tokens.get(at + 1)?.kind,
        TokenKind::Keyword(Keyword::Class | Keyword::Struct)
    );
    let first = at + 1 + usize::from(is_scoped);
    let name = ident(tokens.get(first)).cloned();
    let rest = tokens.iter().enumerate().skip(first).take(LONGEST_HEAD);
    for (next, token) in rest {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => return Some((next, Kind::Enum(name, is_scoped))),
            TokenKind::Punct(Punct::Semi | Punct::Comma | Punct::RParen | Punct::Eq) => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// The end of the qualified name whose prefix is at `at`, if a declaration outside its class or namespace declares it: `S::f(…) { … }`.
pub(super) fn declared_outside(tokens: &[Token], at: usize) -> Option<usize> {
    let mut next = at;
    let end = at + LONGEST_HEAD;
    while next < end {
        if punct(tokens.get(next)) == Some(Punct::Lt) {
            next = after_angles(tokens, next)?;
        }
        match &tokens.get(next)?.kind {
            TokenKind::Keyword(Keyword::Operator) => return Some(next),
            TokenKind::Ident(_)
            | TokenKind::TypeName(_)
            | TokenKind::Keyword(Keyword::Template)
            | TokenKind::Punct(Punct::ColonColon | Punct::Tilde) => next += 1,
            TokenKind::Punct(
                Punct::LParen | Punct::Eq | Punct::LBracket | Punct::LBrace | Punct::Semi,
            ) => return Some(next),
            _ => return None,
        }
        let is_name = |at: usize| ident(tokens.get(at)).is_some();
        // A type, then what it declares.
        if is_name(next - 1) && is_name(next) {
            return None;
        }
    }
    None
}

/// The index after the arguments that the `<` at `at` opens.
fn after_angles(tokens: &[Token], at: usize) -> Option<usize> {
    let mut angle = 0_i32;
    for (offset, token) in tokens[at..].iter().enumerate().take(LONGEST_HEAD) {
        match token.kind {
            TokenKind::Punct(Punct::Lt) => angle += 1,
            TokenKind::Punct(Punct::Gt) => angle -= 1,
            TokenKind::Punct(Punct::Shr) => angle -= 2,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => return None,
            _ => {}
        }
        if angle <= 0 {
            return Some(at + offset + 1);
        }
    }
    None
}

/// The index after the `;` or the last brace of the declaration at `at`. A constructor may have braces before its body. Follows templates
/// inside templates only a few levels, so that the pass stays linear.
pub(in crate::syntax) fn end_of_declaration(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_u32;
    let mut n_templates = 0;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token.kind {
            TokenKind::Keyword(Keyword::Template) if depth == 0 => {
                n_templates += 1;
                if n_templates > 8 {
                    return at + offset;
                }
            }
            TokenKind::Punct(Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBrace) => {
                depth = depth.saturating_sub(1);
                let next = punct(tokens.get(at + offset + 1));
                if depth == 0 && !matches!(next, Some(Punct::Comma | Punct::LBrace)) {
                    return at + offset + 1;
                }
            }
            TokenKind::Punct(Punct::Semi) if depth == 0 => return at + offset + 1,
            _ => {}
        }
    }
    tokens.len()
}

pub(in crate::syntax) fn punct(token: Option<&Token>) -> Option<Punct> {
    match token?.kind {
        TokenKind::Punct(punct) => Some(punct),
        _ => None,
    }
}

pub(in crate::syntax) fn ident(token: Option<&Token>) -> Option<&Arc<str>> {
    match &token?.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
        _ => None,
    }
}
