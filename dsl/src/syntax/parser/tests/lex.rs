//! A small tokenizer, so that the parser is tested in isolation. Names that a text declares as types become type names. It handles
//! `#pragma unroll` and skips all other directives.

use std::collections::HashSet;

use crate::syntax::token::{IntSuffix, Keyword, Punct, Token, TokenKind};
use ir::span::{FileId, Span};

const CUDA_TYPES: &[&str] = &[
    "dim3",
    "size_t",
    "float4",
    "float2",
    "int2",
    "cudaError_t",
    "uint32_t",
    "int8_t",
    "cudaSharedMemConfig",
];

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let start = text.len() - rest.len();
        let (kind, n) = match c {
            _ if c.is_whitespace() => (None, c.len_utf8()),
            '#' => directive(rest),
            '/' if rest.starts_with("//") => (None, line(rest)),
            '/' if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |n| n + 2)),
            '"' => string(rest),
            '\'' => (
                Some(TokenKind::Char(i32::from(
                    rest.as_bytes().get(1).copied().unwrap_or(0),
                ))),
                3.min(rest.len()),
            ),
            _ if c.is_ascii_digit()
                || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) =>
            {
                number(rest)
            }
            _ if c.is_alphabetic() || c == '_' => word(rest),
            _ => operator(rest).unwrap_or((None, c.len_utf8())),
        };
        if let Some(kind) = kind {
            out.push(Token {
                kind,
                span: Span::new(FileId(0), start, start + n),
            });
        }
        rest = &rest[n..];
    }
    name_types(&mut out);
    out
}

fn line(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn directive(rest: &str) -> (Option<TokenKind>, usize) {
    match rest.strip_prefix("#pragma unroll") {
        Some(_) => (
            Some(TokenKind::Keyword(Keyword::Pragma)),
            "#pragma unroll".len(),
        ),
        None => (None, line(rest)),
    }
}

fn string(rest: &str) -> (Option<TokenKind>, usize) {
    let mut n = 1;
    let bytes = rest.as_bytes();
    while n < bytes.len() && bytes[n] != b'"' {
        n += if bytes[n] == b'\\' { 2 } else { 1 };
    }
    let n = n.min(bytes.len());
    (
        Some(TokenKind::Str(bytes[1..n].into())),
        (n + 1).min(bytes.len()),
    )
}

fn number(rest: &str) -> (Option<TokenKind>, usize) {
    let hex = rest.starts_with("0x");
    let mut n = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .unwrap_or(rest.len());
    if !hex && rest[..n].ends_with(['e', 'E']) && rest[n..].starts_with(['+', '-']) {
        n += 1 + rest[n + 1..]
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len() - n - 1);
    }
    let text = &rest[..n];
    let kind = if !hex && text.contains(['.', 'e', 'f']) {
        TokenKind::Float {
            value: text.trim_end_matches('f').parse().unwrap_or(0.0),
            single: text.ends_with('f'),
        }
    } else {
        let digits = text
            .trim_start_matches("0x")
            .trim_end_matches(['u', 'U', 'l', 'L']);
        let suffix = match text.matches(['l', 'L']).count() {
            0 => IntSuffix::None,
            1 => IntSuffix::Long,
            _ => IntSuffix::LongLong,
        };
        let value = u64::from_str_radix(digits, if hex { 16 } else { 10 }).unwrap_or(0);
        TokenKind::Int {
            value,
            unsigned: text.contains(['u', 'U']),
            suffix,
            decimal: !hex,
        }
    };
    (Some(kind), n)
}

fn word(rest: &str) -> (Option<TokenKind>, usize) {
    let n = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let text = &rest[..n];
    (
        Some(
            Keyword::from_text(text)
                .map_or_else(|| TokenKind::Ident(text.into()), TokenKind::Keyword),
        ),
        n,
    )
}

fn operator(rest: &str) -> Option<(Option<TokenKind>, usize)> {
    let longest = (1..=3).rev().find_map(|n| {
        rest.get(..n)
            .and_then(Punct::from_text)
            .map(|punct| (punct, n))
    });
    longest.map(|(punct, n)| (Some(TokenKind::Punct(punct)), n))
}

/// Makes the names of types type names: `struct S`, and the last name of a `typedef`.
fn name_types(tokens: &mut [Token]) {
    let mut types: HashSet<String> = CUDA_TYPES.iter().map(ToString::to_string).collect();
    let mut pending = None;
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Keyword(Keyword::Typedef) => (pending, depth) = (Some(at), 0),
            TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Enum) => {
                if let Some(TokenKind::Ident(name)) = tokens.get(at + 1).map(|token| &token.kind) {
                    types.insert(name.to_string());
                }
            }
            TokenKind::Punct(Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBrace) => depth -= 1,
            TokenKind::Punct(Punct::Semi) if depth == 0 && pending.is_some() => {
                let declared = pending.take().unwrap_or(0);
                let name = tokens[declared..at]
                    .iter()
                    .rev()
                    .find_map(|token| match &token.kind {
                        TokenKind::Ident(name) => Some(name.to_string()),
                        _ => None,
                    });
                types.extend(name);
            }
            _ => {}
        }
    }
    for token in tokens {
        if let TokenKind::Ident(name) = &token.kind
            && types.contains(&**name)
        {
            token.kind = TokenKind::TypeName(name.clone());
        }
    }
}
