//! Finds variables, parameters and enumerators that hide the name of a type: `int dim3` hides CUDA's `dim3` up to the end of its scope.
//!
//! A declared name follows a type, so of two adjacent type names the second is not a type. Its scope is the block around it, or the body of
//! the function whose parameter it is. A member's scope is its class with all functions and derived classes.

use std::ops::Range;

use super::{Declared, Keyword, Kind, Punct, Scopes, Token, TokenKind, end_of_declaration, punct};

/// The largest number of hidden names, so that the pass stays linear.
const MAX_HIDDEN: usize = 1024;

/// How many tokens of a statement are read backwards.
const MAX_STATEMENT: usize = 256;

/// Turns names of types that are hidden, where they are, into plain names. A type that is declared nearer hides the variable.
pub(super) fn hide(tokens: &mut [Token], scopes: &Scopes, types: &Declared) {
    let mut n_hidden = 0;
    for at in 1..tokens.len() {
        let name = match &tokens[at].kind {
            TokenKind::TypeName(name) => name,
            // It may be a type further on.
            TokenKind::Ident(name) if types.contains_key(name) => name,
            _ => continue,
        };
        if n_hidden == MAX_HIDDEN {
            return;
        }
        let name = name.clone();
        let ranges = ranges(tokens, scopes, at, By::ValuesAndFunctions);
        n_hidden += usize::from(!ranges.is_empty());
        let owners = types.get(&name).map_or(&[][..], |owners| owners);
        for place in ranges.into_iter().flatten() {
            if matches!(&tokens[place].kind, TokenKind::TypeName(other) if *other == name)
                && punct(tokens.get(place.wrapping_sub(1))) != Some(Punct::ColonColon)
                && !scopes.is_nearer(owners, place, at)
            {
                tokens[place].kind = TokenKind::Ident(name.clone());
            }
        }
    }
}

/// What may hide a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) enum By {
    /// Variables, parameters, members and enumerators.
    Values,
    /// Those, and functions.
    ValuesAndFunctions,
}

/// Where the name at `at` means what is declared there, if that may hide it.
pub(in crate::syntax) fn ranges(
    tokens: &[Token],
    scopes: &Scopes,
    at: usize,
    by: By,
) -> Vec<Range<usize>> {
    let part = scopes.part(at);
    if let Kind::Enum(_, is_scoped) = part.kind {
        return match (is_enumerator(tokens, at), is_scoped) {
            (false, _) => vec![],
            (true, true) => one(at..part.tokens.end),
            (true, false) => {
                let around = scopes.around(part);
                let outside = scopes.of_member(part.tokens.start - 1).unwrap_or_default();
                let rest = at..around.tokens.end;
                std::iter::once(rest).chain(outside).collect()
            }
        };
    }
    if let Some(end) = is_template_parameter(tokens, at) {
        return one(at..end);
    }
    if is_captured(tokens, at) {
        return one(at..end_of_lambda(tokens, at));
    }
    if is_binding(tokens, at) {
        return one(at..part.tokens.end);
    }
    let declarator = if is_declared(tokens, at, part.kind == Kind::Block, by) {
        at
    } else if is_pointer_declarator(tokens, at) {
        at - 2
    } else {
        return vec![];
    };
    if let Some(end) = end_of_parameter(tokens, declarator) {
        return one(at..end);
    }
    let mut part = part;
    // A member of an anonymous union is one of what is around it.
    while matches!(part.kind, Kind::Class(None, _))
        && punct(tokens.get(part.tokens.end)) == Some(Punct::Semi)
    {
        part = scopes.around(part);
    }
    let outside = scopes.of_member(at).unwrap_or_default();
    std::iter::once(at..part.tokens.end)
        .chain(outside)
        .collect()
}

/// If a template has a parameter under the name at `at` that is no type, the end of the template: `template <int N>`.
fn is_template_parameter(tokens: &[Token], at: usize) -> Option<usize> {
    let is_end = matches!(
        punct(tokens.get(at + 1)),
        Some(Punct::Gt | Punct::Comma | Punct::Eq | Punct::Shr)
    );
    if !(is_end && follows_type(tokens, at) || is_pointer_declarator(tokens, at)) {
        return None;
    }
    let before = tokens[..at].iter().enumerate().rev().take(MAX_STATEMENT);
    let mut depth = 0_u32;
    for (index, token) in before {
        match token.kind {
            TokenKind::Punct(Punct::Gt) => depth += 1,
            TokenKind::Punct(Punct::Shr) => depth += 2,
            TokenKind::Punct(Punct::Lt) if depth > 0 => depth -= 1,
            TokenKind::Punct(Punct::Lt) => {
                let word = tokens.get(index.wrapping_sub(1)).map(|token| &token.kind);
                let is_head = word == Some(&TokenKind::Keyword(Keyword::Template));
                return is_head.then(|| end_of_declaration(tokens, at));
            }
            TokenKind::Punct(Punct::LBrace | Punct::RBrace | Punct::Semi) => return None,
            _ => {}
        }
    }
    None
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

/// Whether an enumeration's list declares the name at `at`.
fn is_enumerator(tokens: &[Token], at: usize) -> bool {
    let before = punct(tokens.get(at - 1));
    let after = punct(tokens.get(at + 1));
    matches!(before, Some(Punct::LBrace | Punct::Comma))
        && matches!(after, Some(Punct::Eq | Punct::Comma | Punct::RBrace))
}

/// The `[` of the list of names that `at` is in: of a structured binding, or of a lambda's captures.
fn open_bracket(tokens: &[Token], at: usize) -> Option<usize> {
    let before = tokens[..at].iter().enumerate().rev().take(MAX_STATEMENT);
    let mut depth = 0_u32;
    for (index, token) in before {
        match token.kind {
            TokenKind::Punct(Punct::RParen | Punct::RBracket) => depth += 1,
            TokenKind::Punct(Punct::LParen | Punct::LBracket) if depth > 0 => depth -= 1,
            TokenKind::Punct(Punct::LBracket) => return Some(index),
            TokenKind::Punct(Punct::LParen | Punct::LBrace | Punct::RBrace | Punct::Semi) => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Whether `at` is a name of a structured binding: `auto [a, b] = …`.
fn is_binding(tokens: &[Token], at: usize) -> bool {
    let is_in_list = matches!(
        punct(tokens.get(at - 1)),
        Some(Punct::LBracket | Punct::Comma)
    ) && matches!(
        punct(tokens.get(at + 1)),
        Some(Punct::RBracket | Punct::Comma)
    );
    let before = |open: usize| {
        let mut before = tokens[..open].iter().rev();
        let word = before.find(|token| {
            !matches!(
                token.kind,
                TokenKind::Punct(Punct::Amp | Punct::AmpAmp) | TokenKind::Keyword(Keyword::Const)
            )
        });
        word.is_some_and(|token| token.kind == TokenKind::Keyword(Keyword::Auto))
    };
    is_in_list && open_bracket(tokens, at).is_some_and(before)
}

/// Whether a lambda captures a value under the name at `at`: `[n = a + 1]`, `[&n = a]`.
fn is_captured(tokens: &[Token], at: usize) -> bool {
    let is_first = |before: Option<Punct>| matches!(before, Some(Punct::LBracket | Punct::Comma));
    let before = punct(tokens.get(at - 1));
    let is_in_list = punct(tokens.get(at + 1)) == Some(Punct::Eq)
        && (is_first(before)
            || before == Some(Punct::Amp) && at > 1 && is_first(punct(tokens.get(at - 2))));
    is_in_list && open_bracket(tokens, at).is_some()
}

/// The end of the body of the lambda in whose captures `at` is.
fn end_of_lambda(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_u32;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBrace) if depth <= 1 => return index + 1,
            TokenKind::Punct(Punct::RBrace) => depth -= 1,
            TokenKind::Punct(Punct::Semi) if depth == 0 => return index,
            _ => {}
        }
    }
    tokens.len()
}

/// Whether `at` is the name in `int (*name)(int)` or `int (&name)[3]`.
fn is_pointer_declarator(tokens: &[Token], at: usize) -> bool {
    let is = |at: usize, wanted: &[Punct]| {
        punct(tokens.get(at)).is_some_and(|punct| wanted.contains(&punct))
    };
    at > 2
        && is(at - 1, &[Punct::Star, Punct::Amp])
        && is(at - 2, &[Punct::LParen])
        && is(at + 1, &[Punct::RParen])
        && is(at + 2, &[Punct::LParen, Punct::LBracket])
        && follows_type(tokens, at - 2)
        && !is_typedef(tokens, at - 2)
}

/// Whether a declaration declares the name at `at`.
fn is_declared(tokens: &[Token], at: usize, in_block: bool, by: By) -> bool {
    let ends_declarator = match punct(tokens.get(at + 1)) {
        Some(Punct::Comma | Punct::RParen | Punct::Semi | Punct::Eq | Punct::LBracket) => true,
        // `int n(5)`, and a function.
        Some(Punct::LParen) => in_block || by == By::ValuesAndFunctions,
        // `int n{5}`, `for (int n : all)`.
        Some(Punct::LBrace | Punct::Colon) => in_block,
        _ => false,
    };
    if !ends_declarator {
        return false;
    }
    match punct(tokens.get(at - 1)) {
        Some(Punct::Comma) => follows_declarator(tokens, at - 1),
        _ => follows_type(tokens, at) && !is_typedef(tokens, at),
    }
}

/// Whether a type precedes `at`, possibly with stars and qualifiers between.
fn follows_type(tokens: &[Token], at: usize) -> bool {
    let between = |token: &&Token| {
        matches!(
            token.kind,
            TokenKind::Punct(Punct::Star | Punct::Amp)
                | TokenKind::Keyword(Keyword::Const | Keyword::Volatile | Keyword::Restrict)
        )
    };
    let before = tokens[..at].iter().rev().find(|token| !between(token));
    before.is_some_and(|token| match &token.kind {
        TokenKind::TypeName(_) => true,
        TokenKind::Keyword(word) => is_type_word(*word),
        _ => false,
    })
}

fn is_type_word(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Void
            | Keyword::Bool
            | Keyword::Char
            | Keyword::Short
            | Keyword::Int
            | Keyword::Long
            | Keyword::Signed
            | Keyword::Unsigned
            | Keyword::Float
            | Keyword::Double
            | Keyword::Auto
    )
}

/// The beginning of the statement or declaration around `at`, ignoring parentheses that open after it.
fn start_of_statement(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_u32;
    for (index, token) in tokens[..at].iter().enumerate().rev().take(MAX_STATEMENT) {
        match token.kind {
            TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace)
                if depth > 0 || token.kind != TokenKind::Punct(Punct::RBrace) =>
            {
                depth += 1;
            }
            TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) if depth > 0 => {
                depth -= 1;
            }
            TokenKind::Punct(Punct::LParen | Punct::LBrace | Punct::RBrace | Punct::Semi)
                if depth == 0 =>
            {
                return index + 1;
            }
            _ => {}
        }
    }
    0
}

fn is_typedef(tokens: &[Token], at: usize) -> bool {
    let start = start_of_statement(tokens, at);
    let words = tokens[start..at].iter();
    words.into_iter().any(|token| {
        matches!(
            token.kind,
            TokenKind::Keyword(Keyword::Typedef | Keyword::Using)
        )
    })
}

/// Whether the `,` at `comma` separates the names of one declaration, as in `int dim1, dim3`, and not arguments or template arguments.
fn follows_declarator(tokens: &[Token], comma: usize) -> bool {
    let start = start_of_statement(tokens, comma);
    let before = punct(tokens.get(start.wrapping_sub(1)));
    if start == 0 || before == Some(Punct::LParen) || is_typedef(tokens, comma) {
        return false;
    }
    let declaration = &tokens[start..comma];
    let has_angles = declaration.iter().any(|token| {
        matches!(
            token.kind,
            TokenKind::Punct(Punct::Lt) | TokenKind::Keyword(Keyword::Template)
        )
    });
    // The type, then the first name.
    let is_word = |token: &&Token| match &token.kind {
        TokenKind::TypeName(_) => true,
        TokenKind::Keyword(word) => {
            is_type_word(*word)
                || matches!(word, Keyword::Const | Keyword::Static | Keyword::Unsigned)
        }
        _ => false,
    };
    let n_words = declaration.iter().take_while(is_word).count();
    let n_stars = declaration[n_words..]
        .iter()
        .take_while(|token| token.kind == TokenKind::Punct(Punct::Star))
        .count();
    let first = declaration.get(n_words + n_stars).map(|token| &token.kind);
    !has_angles && n_words > 0 && matches!(first, Some(TokenKind::Ident(_)))
}

/// If the name at `at` is declared in parentheses, the end of what they belong to: a function, or a statement with a head.
fn end_of_parameter(tokens: &[Token], at: usize) -> Option<usize> {
    let start = start_of_statement(tokens, at);
    if start == 0 || punct(tokens.get(start - 1)) != Some(Punct::LParen) {
        return None;
    }
    let mut depth = 0_u32;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBrace | Punct::LBracket) => depth += 1,
            TokenKind::Punct(Punct::RParen) if depth == 0 => {
                return Some(end_of_function(tokens, at + offset + 1));
            }
            TokenKind::Punct(Punct::RParen | Punct::RBrace | Punct::RBracket) => {
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
    }
    None
}

/// The end of the body after a parameter list, or of the declaration if there is no body.
fn end_of_function(tokens: &[Token], after: usize) -> usize {
    let mut depth = 0_u32;
    for (offset, token) in tokens[after..].iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBrace | Punct::LBracket) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBrace | Punct::RBracket) => {
                let is_brace = token.kind == TokenKind::Punct(Punct::RBrace);
                depth = depth.saturating_sub(1);
                if depth == 0 && is_brace {
                    return after + offset + 1;
                }
            }
            TokenKind::Punct(Punct::Semi) if depth == 0 => return after + offset,
            _ => {}
        }
    }
    tokens.len()
}
