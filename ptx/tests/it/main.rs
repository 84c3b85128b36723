//! Tests of the crate.

mod hostile;
mod lexer;
mod random;
