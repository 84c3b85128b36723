//! Tests the machine from outside: its rules against independent sources, and its layers.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

mod layers;
mod rules;
