//! Tests of the runtime through its public interface.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests read files, and say what they found"
)]

mod clocks;
mod count_only;
