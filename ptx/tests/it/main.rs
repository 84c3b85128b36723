//! Tests of the crate.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

mod hostile;
mod lexer;
mod machine;
mod operations;
mod random;
mod variables;
