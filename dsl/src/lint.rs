//! Warnings that need the IR: what is likely wrong though it compiles.
//!
//! In: a verified module and its sources. Out: diagnostics, each place once.

mod barrier;

use crate::{diagnostic::Diagnostic, ir::Module, source::SourceMap};

/// Everything worth warning about.
pub fn lint(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    barrier::divergent(module, map)
}

#[cfg(test)]
mod tests;
