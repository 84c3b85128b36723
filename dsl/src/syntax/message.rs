//! Messages of lexer, preprocessor and parser: facts, and the words for them.
//!
//! Each part has one enum, whose variants are the facts of a message. The text of every message is in the tables of this folder and nowhere
//! else. No code interprets the text of a message.

pub(crate) mod lex;
pub(crate) mod parse;
pub(crate) mod preprocess;

use std::sync::Arc;

use super::token::{Keyword, Punct, TokenKind};
use crate::message::Fact;
pub(crate) use crate::message::{Message, messages};

impl Fact<()> for Arc<str> {
    fn shown(&self, (): &()) -> String {
        self.to_string()
    }
}

impl Fact<()> for Keyword {
    fn shown(&self, (): &()) -> String {
        self.text().to_string()
    }
}

impl Fact<()> for Punct {
    fn shown(&self, (): &()) -> String {
        match self {
            Punct::AngleOpen => "<",
            Punct::AngleClose => ">",
            punct => punct.text(),
        }
        .to_string()
    }
}

/// A token where another was expected: `` `;` ``, "a number".
impl Fact<()> for TokenKind {
    fn shown(&self, (): &()) -> String {
        token(self, "a")
    }
}

/// A token in a message; a literal has an article.
fn token(kind: &TokenKind, article: &str) -> String {
    match kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => format!("`{name}`"),
        TokenKind::Keyword(keyword) => format!("`{}`", keyword.text()),
        TokenKind::Punct(punct) => format!("`{}`", punct.shown(&())),
        TokenKind::Int { .. } | TokenKind::Float { .. } => format!("{article} number"),
        TokenKind::Char(_) => format!("{article} character"),
        TokenKind::Str(_) => format!("{article} string"),
    }
}
