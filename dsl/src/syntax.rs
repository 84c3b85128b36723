//! Text to tree: lexer (logos), preprocessor on tokens, parser (chumsky).

pub mod ast;
pub mod parser;
pub mod token;
