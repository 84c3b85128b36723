//! Finds variables and parameters that hide the name of a type: `int dim3` hides CUDA's `dim3` up to the end of its scope.
//!
//! A declared name follows a type, so of two adjacent type names the second is not a type. Its scope is the block around it, or the body of
//! the function whose parameter it is.

use super::{Keyword, Punct, Token, TokenKind, punct};

/// The largest number of hidden names, so that the pass stays linear.
const MAX_HIDDEN: usize = 256;

/// How many tokens of a statement are read backwards.
const MAX_STATEMENT: usize = 256;

/// Turns names of types that are hidden, up to the end of the scope, into plain names.
pub(super) fn hide(tokens: &mut [Token]) {
    let mut n_hidden = 0;
    for at in 1..tokens.len() {
        let TokenKind::TypeName(name) = &tokens[at].kind else {
            continue;
        };
        if n_hidden == MAX_HIDDEN || !is_declared(tokens, at) {
            continue;
        }
        n_hidden += 1;
        let name = name.clone();
        let end = end_of_scope(tokens, at);
        for token in &mut tokens[at..end] {
            if matches!(&token.kind, TokenKind::TypeName(other) if *other == name) {
                token.kind = TokenKind::Ident(name.clone());
            }
        }
    }
}

/// Whether a declaration declares the name at `at`.
fn is_declared(tokens: &[Token], at: usize) -> bool {
    let ends_declarator = matches!(
        punct(tokens.get(at + 1)),
        Some(Punct::Comma | Punct::RParen | Punct::Semi | Punct::Eq | Punct::LBracket)
    );
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
        Keyword::Bool
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

/// The end of the scope of a name that is declared at `at`.
fn end_of_scope(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_u32;
    let mut index = at;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBrace | Punct::LBracket) => depth += 1,
            TokenKind::Punct(Punct::RBrace | Punct::RBracket) if depth > 0 => depth -= 1,
            TokenKind::Punct(Punct::RBrace) => return index,
            TokenKind::Punct(Punct::RParen) if depth > 0 => depth -= 1,
            TokenKind::Punct(Punct::RParen) => return end_of_function(tokens, index + 1),
            _ => {}
        }
        index += 1;
    }
    tokens.len()
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
