//! Tests of the front end from outside, as one program.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

mod checker;
mod lexer;
mod render;
