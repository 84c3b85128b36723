//! Warns about `__activemask()` used as the mask of a whole warp after a branch or loop where lanes diverge.

use std::collections::HashSet;

use super::message::MaskWarning;
use crate::message::Message as _;
use ir::{
    LocId, Module,
    active_mask::stale_masks,
    diagnostic::Diagnostic,
    locate::{Extent, span},
    source::SourceMap,
    span::Span,
};

/// One message per exchange in the source, however many kernels it is inlined into.
pub(super) fn stale(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    let mut reported: HashSet<Span> = HashSet::new();
    let mut diagnostics = vec![];
    // The library's coalesced groups consist of the active lanes by definition.
    let is_library = |loc: LocId| {
        let file = module.files.get(module.loc(loc).file as usize);
        file.is_some_and(|name| name.starts_with('<'))
    };
    for (_, kernel) in module.kernels() {
        for found in stale_masks(kernel) {
            let at = span(found.exchange, Extent::Name, module, map);
            let Some(at) = at.filter(|_| !is_library(found.mask)) else {
                continue;
            };
            if !reported.insert(at) {
                continue;
            }
            let warning = MaskWarning::Stale {
                name: map.snippet(at).to_string(),
                mask: span(found.mask, Extent::Name, module, map),
                parts: span(found.condition, Extent::Expression, module, map),
            };
            diagnostics.push(warning.diagnostic(at, &()));
        }
    }
    diagnostics
}
