//! Functions whose declarations do not parse: a call of one would silently mean an overload of the same name.

use std::sync::Arc;

use crate::syntax::token::{Keyword, Punct, Token, TokenKind};
use ir::{
    diagnostic::{Diagnostic, Severity},
    source::SourceMap,
    span::Span,
};

/// Such a function.
pub(super) struct Lost {
    pub(super) why: Diagnostic,
    /// Where the program names it.
    pub(super) uses: Vec<Span>,
}

/// The functions with a syntax error in a declaration at namespace scope, before its body.
pub(super) fn lost(tokens: &[Token], syntax_errors: &[Diagnostic], map: &SourceMap) -> Vec<Lost> {
    let errors = syntax_errors
        .iter()
        .filter(|error| error.severity == Severity::Error);
    let found = errors.filter_map(|error| {
        let name = declared(tokens, error.primary.span, map)?;
        let uses = tokens.iter().filter(|token| is_name(token, &name));
        Some(Lost {
            why: error.clone(),
            uses: uses.map(|token| token.span).collect(),
        })
    });
    found.collect()
}

fn is_name(token: &Token, wanted: &str) -> bool {
    matches!(&token.kind, TokenKind::Ident(name) | TokenKind::TypeName(name) if &**name == wanted)
}

fn is_end(token: &Token) -> bool {
    matches!(
        token.kind,
        TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
    )
}

/// The name of the function whose declaration contains a place.
fn declared(tokens: &[Token], span: Span, map: &SourceMap) -> Option<Arc<str>> {
    let place = map.use_site(span);
    let at = tokens.iter().position(|token| {
        let site = map.use_site(token.span);
        site.file == place.file && site.start >= place.start
    })?;
    // A place between declarations belongs to the one before it.
    let at = at.min(tokens.len() - 1);
    let start = |end: usize| {
        tokens[..end]
            .iter()
            .rposition(is_end)
            .map_or(0, |end| end + 1)
    };
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens[..at].iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => open.push(index),
            TokenKind::Punct(Punct::RBrace) => {
                open.pop();
            }
            _ => {}
        }
    }
    let is_namespace = |brace: &usize| {
        let head = &tokens[start(*brace)..*brace];
        head.iter().any(|token| {
            matches!(
                token.kind,
                TokenKind::Keyword(Keyword::Namespace | Keyword::Extern)
            )
        })
    };
    if !open.iter().all(is_namespace) {
        return None;
    }
    let from = start(at);
    let end = tokens[at..]
        .iter()
        .position(is_end)
        .map_or(tokens.len(), |end| at + end);
    tokens[from..end]
        .windows(2)
        .find_map(|pair| match &pair[0].kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name)
                if pair[1].kind == TokenKind::Punct(Punct::LParen) && !name.starts_with("__") =>
            {
                Some(name.clone())
            }
            _ => None,
        })
}
