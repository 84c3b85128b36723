//! From text to tree: lexer (logos), preprocessor on tokens, parser (chumsky).

pub mod ast;
pub mod parser;
pub mod preprocess;
pub mod token;

mod classify;
mod convert;
mod lexer;
mod literal;
mod message;
mod scopes;
mod words;

pub use preprocess::{Options, Tokenized, tokenize};
pub(crate) use words::words_of;
pub use words::{Word, words};
