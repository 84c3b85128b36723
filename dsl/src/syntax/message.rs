//! What lexer, preprocessor and parser have to say: facts, and the words for them.
//!
//! Each part has one enum, whose variants are the facts that a message is made of. The text of every message stands in the
//! tables of this folder and nowhere else. Nothing looks into a text for what it means.

pub(crate) mod lex;
pub(crate) mod preprocess;

pub(crate) use crate::diagnostic::message::{Message, messages};
