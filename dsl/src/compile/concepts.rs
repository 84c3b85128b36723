//! Leaves out the constraints of kernels, which another compiler may check.
//!
//! A kernel is launched by its name, so its constraints choose nothing. Those of other templates choose among overloads and specialisations:
//! they stay, and are errors.

use std::collections::HashSet;

use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

/// Concepts of C++'s library that programs constrain kernels with.
const OF_STD: &[&str] = &[
    "convertible_to",
    "copyable",
    "default_initializable",
    "derived_from",
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
    "unsigned_integral",
];

/// Removes concepts, and the constraints of kernels.
pub(super) fn leave_out(tokens: &mut Vec<Token>) {
    let names = declarations(tokens);
    let mut at = 0;
    while at < tokens.len() {
        if is_keyword(&tokens[at], Keyword::Template) && is(tokens.get(at + 1), Punct::Lt) {
            template(tokens, at, &names);
        }
        at += 1;
    }
}

fn name(token: &Token) -> Option<&str> {
    match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
        _ => None,
    }
}

fn is(token: Option<&Token>, punct: Punct) -> bool {
    token.is_some_and(|token| token.kind == TokenKind::Punct(punct))
}

fn is_keyword(token: &Token, keyword: Keyword) -> bool {
    token.kind == TokenKind::Keyword(keyword)
}

/// Removes `template <…> concept NAME = …;`, and returns the names.
fn declarations(tokens: &mut Vec<Token>) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut from = 0;
    while let Some(at) = position(&tokens[from..], "concept").map(|at| from + at) {
        from = at + 1;
        let start = tokens[..at]
            .iter()
            .rposition(|token| is_keyword(token, Keyword::Template));
        let end = end_of_declaration(tokens, at);
        if let (Some(name), Some(start), Some(end)) =
            (tokens.get(at + 1).and_then(name), start, end)
        {
            names.insert(name.to_string());
            tokens.drain(start..=end);
            from = start;
        }
    }
    names
}

fn position(tokens: &[Token], word: &str) -> Option<usize> {
    tokens.iter().position(|token| name(token) == Some(word))
}

/// The `;` that ends what begins here.
fn end_of_declaration(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let end = tokens[at..].iter().position(|token| {
        match token.kind {
            TokenKind::Punct(Punct::LBrace | Punct::LParen) => depth += 1,
            TokenKind::Punct(Punct::RBrace | Punct::RParen) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == TokenKind::Punct(Punct::Semi)
    })?;
    Some(at + end)
}

/// Removes the constraints of the template that begins here, if it is a kernel.
fn template(tokens: &mut Vec<Token>, at: usize, names: &HashSet<String>) {
    let is_end = |token: &Token| {
        matches!(
            token.kind,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
        )
    };
    let Some(end) = tokens[at..].iter().position(is_end).map(|end| at + end) else {
        return;
    };
    let mut head = tokens[at..end].to_vec();
    parameters(&mut head, names);
    clauses(&mut head);
    let is_constrained = head != tokens[at..end];
    let is_kernel = head.iter().any(|token| is_keyword(token, Keyword::Global));
    if is_constrained && is_kernel {
        tokens.splice(at..end, head);
    }
}

/// Makes `std::integral T` of the parameters at the beginning of a template's head `typename T`.
fn parameters(head: &mut Vec<Token>, names: &HashSet<String>) {
    let (mut at, mut depth, mut begins) = (2, 1usize, true);
    while at < head.len() && depth > 0 {
        if begins
            && depth == 1
            && let Some(end) = concept(head, at, names)
        {
            head[at].kind = TokenKind::Keyword(Keyword::Typename);
            head.drain(at + 1..end);
        }
        begins = depth == 1 && is(head.get(at), Punct::Comma);
        match head[at].kind {
            TokenKind::Punct(Punct::Lt) => depth += 1,
            TokenKind::Punct(Punct::Gt) => depth -= 1,
            TokenKind::Punct(Punct::Shr) => depth = depth.saturating_sub(2),
            _ => {}
        }
        at += 1;
    }
}

/// The end of a concept's name and arguments that begins here.
fn concept(tokens: &[Token], at: usize, names: &HashSet<String>) -> Option<usize> {
    let end = after_name(tokens, at);
    let last = tokens[at..end].last().and_then(name)?;
    let of_std = name(&tokens[at]) == Some("std") && OF_STD.contains(&last);
    (of_std || names.contains(last)).then(|| after_angles(tokens, end))
}

/// Removes `requires A<T> && (B<T>)` after the parameters of a template or a function.
fn clauses(head: &mut Vec<Token>) {
    let mut from = 0;
    while let Some(at) = position(&head[from..], "requires").map(|at| from + at) {
        from = at + 1;
        let before = at.checked_sub(1).and_then(|before| head.get(before));
        if !is(before, Punct::Gt) && !is(before, Punct::RParen) {
            continue;
        }
        let mut end = at + 1;
        loop {
            end = match is(head.get(end), Punct::LParen) {
                true => after_brackets(head, end),
                false => after_angles(head, after_name(head, end)),
            };
            if !is(head.get(end), Punct::AmpAmp) && !is(head.get(end), Punct::PipePipe) {
                break;
            }
            end += 1;
        }
        head.drain(at..end.min(head.len()));
        from = at;
    }
}

/// The end of `a::b::c`.
fn after_name(tokens: &[Token], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| name(token).is_some()) {
        at += 1;
        if !is(tokens.get(at), Punct::ColonColon) {
            break;
        }
        at += 1;
    }
    at
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

/// The end of `<…>`, if one begins here.
fn after_angles(tokens: &[Token], open: usize) -> usize {
    if !is(tokens.get(open), Punct::Lt) {
        return open;
    }
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(Punct::Lt) => depth += 1,
            TokenKind::Punct(Punct::Gt) => depth = depth.saturating_sub(1),
            TokenKind::Punct(Punct::Shr) => depth = depth.saturating_sub(2),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
