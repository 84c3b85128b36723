//! Leaves out C++20's concepts and constraints: where another compiler has the kernels, the host code needs only to know which parameters of
//! templates are types. Constraints choose between overloads; a program in which they do is not understood then.

use std::collections::HashSet;

use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

/// Concepts of C++'s library that are about types of numbers, and the like.
const OF_STD: &[&str] = &[
    "copyable",
    "default_initializable",
    "equality_comparable",
    "floating_point",
    "integral",
    "invocable",
    "movable",
    "predicate",
    "regular",
    "regular_invocable",
    "same_as",
    "semiregular",
    "signed_integral",
    "totally_ordered",
    "convertible_to",
    "derived_from",
    "unsigned_integral",
];

/// Removes concepts and constraints from a program's tokens.
pub(super) fn leave_out(tokens: &mut Vec<Token>) {
    if !tokens
        .iter()
        .any(|token| is_ident(token, "concept") || is_ident(token, "requires"))
        && !tokens
            .iter()
            .any(|token| OF_STD.iter().any(|name| is_ident(token, name)))
    {
        return;
    }
    let names = declarations(tokens);
    constraints(tokens);
    parameters(tokens, &names);
}

fn is_ident(token: &Token, word: &str) -> bool {
    matches!(&token.kind, TokenKind::Ident(name) | TokenKind::TypeName(name) if &**name == word)
}

fn is(token: Option<&Token>, punct: Punct) -> bool {
    token.is_some_and(|token| token.kind == TokenKind::Punct(punct))
}

/// Removes `template <…> concept NAME = …;`, and returns the names.
fn declarations(tokens: &mut Vec<Token>) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut from = 0;
    while let Some(at) = tokens[from..]
        .iter()
        .position(|token| is_ident(token, "concept"))
    {
        let at = from + at;
        from = at + 1;
        let Some(TokenKind::Ident(name) | TokenKind::TypeName(name)) =
            tokens.get(at + 1).map(|token| &token.kind)
        else {
            continue;
        };
        let name = name.to_string();
        let is_template = |token: &Token| token.kind == TokenKind::Keyword(Keyword::Template);
        let Some(start) = tokens[..at].iter().rposition(is_template) else {
            continue;
        };
        let mut depth = 0usize;
        let end = tokens[at..].iter().position(|token| {
            match token.kind {
                TokenKind::Punct(Punct::LBrace | Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RBrace | Punct::RParen) => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.kind == TokenKind::Punct(Punct::Semi)
        });
        if let Some(end) = end {
            names.insert(name);
            tokens.drain(start..at + end + 1);
            from = start;
        }
    }
    names
}

/// Removes `requires A<T> && (B<T>)`.
fn constraints(tokens: &mut Vec<Token>) {
    let mut from = 0;
    while let Some(at) = tokens[from..]
        .iter()
        .position(|token| is_ident(token, "requires"))
    {
        let at = from + at;
        let mut end = at + 1;
        loop {
            if is(tokens.get(end), Punct::LParen) {
                end = after_brackets(tokens, end);
            } else {
                while tokens.get(end).is_some_and(|token| {
                    matches!(token.kind, TokenKind::Ident(_) | TokenKind::TypeName(_))
                }) || is(tokens.get(end), Punct::ColonColon)
                {
                    end += 1;
                }
                if is(tokens.get(end), Punct::Lt) {
                    end = after_angles(tokens, end);
                }
            }
            match is(tokens.get(end), Punct::AmpAmp) || is(tokens.get(end), Punct::PipePipe) {
                true => end += 1,
                false => break,
            }
        }
        tokens.drain(at..end);
        from = at;
    }
}

/// Makes `std::integral T` of a template's parameters `typename T`.
fn parameters(tokens: &mut Vec<Token>, names: &HashSet<String>) {
    let mut at = 0;
    while at < tokens.len() {
        let is_template = tokens[at].kind == TokenKind::Keyword(Keyword::Template);
        if !is_template || !is(tokens.get(at + 1), Punct::Lt) {
            at += 1;
            continue;
        }
        let (mut place, mut depth, mut begins) = (at + 2, 1usize, true);
        while place < tokens.len() && depth > 0 {
            if begins
                && depth == 1
                && let Some(end) = concept(tokens, place, names)
            {
                tokens[place].kind = TokenKind::Keyword(Keyword::Typename);
                tokens.drain(place + 1..end);
            }
            begins = false;
            match tokens[place].kind {
                TokenKind::Punct(Punct::Lt) => depth += 1,
                TokenKind::Punct(Punct::Gt) => depth -= 1,
                TokenKind::Punct(Punct::Comma) => begins = true,
                TokenKind::Punct(Punct::Semi | Punct::LBrace) => break,
                _ => {}
            }
            place += 1;
        }
        at = place;
    }
}

/// The end of a concept's name and arguments that begins here.
fn concept(tokens: &[Token], at: usize, names: &HashSet<String>) -> Option<usize> {
    let mut end = at;
    let mut last = None;
    let mut of_std = false;
    loop {
        match &tokens.get(end)?.kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => {
                of_std |= last.is_none() && &**name == "std";
                last = Some(name.to_string());
            }
            _ => return None,
        }
        end += 1;
        if !is(tokens.get(end), Punct::ColonColon) {
            break;
        }
        end += 1;
    }
    let last = last?;
    let is_known = names.contains(&last) || of_std && OF_STD.contains(&last.as_str());
    if is(tokens.get(end), Punct::Lt) {
        end = after_angles(tokens, end);
    }
    is_known.then_some(end)
}

fn after_brackets(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(Punct::LParen) => depth += 1,
            TokenKind::Punct(Punct::RParen) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn after_angles(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(Punct::Lt) => depth += 1,
            TokenKind::Punct(Punct::Gt) => depth = depth.saturating_sub(1),
            TokenKind::Punct(Punct::Shr) => depth = depth.saturating_sub(2),
            TokenKind::Punct(Punct::Semi | Punct::LBrace) => return at,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
