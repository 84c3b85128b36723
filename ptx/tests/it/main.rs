//! Tests of the crate.

mod hostile;
mod lexer;
mod machine;
mod operations;
mod random;
