//! Text to tree: lexer (logos), preprocessor on tokens, parser (chumsky).

pub mod ast;
pub mod parser;
pub mod preprocess;
pub mod token;

mod classify;
mod convert;
mod lexer;
mod literal;

pub use preprocess::{Options, Tokenized, tokenize};
