//! Checks that need the IR: warnings about likely mistakes in valid programs, and CUDA's limits.
//!
//! In: a verified module and its sources. Out: diagnostics, each place once.

mod active_mask;
mod barrier;
pub(crate) mod limits;
mod message;

use ir::{Module, diagnostic::Diagnostic, source::SourceMap};

/// All warnings, and errors about what exceeds every device's limits.
pub fn lint(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    let mut diagnostics = barrier::divergent(module, map);
    diagnostics.extend(active_mask::stale(module, map));
    diagnostics.extend(limits::local(module, map));
    diagnostics.extend(limits::constant(module, map));
    diagnostics
}

#[cfg(test)]
mod tests;
