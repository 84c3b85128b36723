//! The machine from outside: its rules against everything that is not them, and its layers.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

mod layers;
mod rules;
