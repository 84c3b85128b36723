//! Checks what a program declares against CUDA's own limits. ptxas refuses what exceeds them.

use crate::message::Message;
use ir::{
    GlobalSpace, Module,
    diagnostic::Diagnostic,
    locate::{Extent, span},
    source::SourceMap,
};

use super::message::LimitError;

/// Local memory of a thread, on every architecture.
pub(crate) const LOCAL_BYTES: u64 = 512 << 10;
/// Constant memory of a program, on every architecture.
const CONSTANT_BYTES: u64 = 64 << 10;

/// Adds a variable's size to `sum`, with the padding for its alignment.
fn place(sum: u64, size: u64, align: u64) -> u64 {
    sum.checked_next_multiple_of(align.max(1))
        .and_then(|start| start.checked_add(size))
        .unwrap_or(u64::MAX)
}

/// Reports kernels with more local memory than a thread has.
pub(super) fn local(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    let kernels = module.kernels().filter_map(|(_, kernel)| {
        let bytes = kernel
            .locals
            .iter()
            .fold(0, |sum, var| place(sum, var.size_bytes, var.align_bytes));
        let largest = kernel.locals.iter().max_by_key(|var| var.size_bytes)?;
        if bytes <= LOCAL_BYTES {
            return None;
        }
        let at = span(largest.loc, Extent::Name, module, map)
            .or_else(|| span(kernel.loc, Extent::Name, module, map))?;
        let error = LimitError::Local {
            kernel: kernel.name.to_string(),
            bytes,
            limit: LOCAL_BYTES,
            part: (kernel.locals.len() > 1).then_some(largest.size_bytes),
        };
        Some(error.diagnostic(at, &()))
    });
    kernels.collect()
}

/// Reports constant variables that exceed constant memory.
pub(super) fn constant(module: &Module, map: &SourceMap) -> Option<Diagnostic> {
    let all = module.globals.iter();
    let variables: Vec<_> = all
        .filter(|global| global.space == GlobalSpace::Constant)
        .collect();
    let bytes = variables.iter().fold(0, |sum, global| {
        place(sum, global.size_bytes, global.align_bytes)
    });
    let largest = variables.iter().max_by_key(|global| global.size_bytes)?;
    if bytes <= CONSTANT_BYTES {
        return None;
    }
    let at = span(largest.loc, Extent::Name, module, map)?;
    let error = LimitError::Constant {
        bytes,
        limit: CONSTANT_BYTES,
        largest: largest.name.to_string(),
        part: largest.size_bytes,
    };
    Some(error.diagnostic(at, &()))
}
