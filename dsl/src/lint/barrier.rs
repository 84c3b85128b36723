//! Warns about barriers under conditions that differ between threads, and shows how the condition depends on the thread's index.

use std::collections::HashSet;

use super::message::{BarrierWarning, Root, Step};
use crate::message::{Fact as _, Message as _};
use ir::{
    LocId, Module,
    diagnostic::Diagnostic,
    divergence::{Absence, DivergentBarrier, divergent_barriers},
    locate::{Extent, in_program, span},
    source::SourceMap,
    span::Span,
    uniformity::{Cause, Reason},
};

/// One message per barrier in the source, however many kernels it is inlined into.
pub(super) fn divergent(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    let mut reported: HashSet<Span> = HashSet::new();
    let mut diagnostics = vec![];
    for (_, kernel) in module.kernels() {
        for found in divergent_barriers(kernel) {
            let barrier = in_program(module, found.barrier).unwrap_or(found.barrier);
            let Some(at) = span(barrier, Extent::Name, module, map) else {
                continue;
            };
            if !reported.insert(at) {
                continue;
            }
            let source = Source { module, map };
            diagnostics.push(source.diagnostic(&found, at, kernel));
        }
    }
    diagnostics
}

/// Maps places of the IR to the source.
#[derive(Clone, Copy)]
struct Source<'a> {
    module: &'a Module,
    map: &'a SourceMap,
}

impl Source<'_> {
    fn diagnostic(self, found: &DivergentBarrier, at: Span, kernel: &ir::Function) -> Diagnostic {
        let is_call = in_program(self.module, found.barrier) != Some(found.barrier);
        let name = self.map.snippet(at).trim_end_matches("()");
        let name = match is_call || name.starts_with("__syncthreads") {
            true => name,
            false => "__syncthreads",
        };
        let barrier = name.to_string();
        let root = self.root(found.why.last());
        let condition = self.shown(found.condition);
        let differs = span(condition, Extent::Expression, self.module, self.map);
        let warning = match found.absence {
            Absence::Branch => BarrierWarning::Branch {
                barrier,
                root,
                differs,
            },
            Absence::Rounds => BarrierWarning::Rounds {
                barrier,
                root,
                differs,
            },
            Absence::Jump => BarrierWarning::Jump {
                barrier,
                root,
                differs,
            },
            Absence::Returned => BarrierWarning::Returned {
                barrier,
                root,
                differs,
            },
        };
        let diagnostic = self.chain(warning.diagnostic(at, &()), &found.why, kernel);
        match found.absence {
            Absence::Returned => diagnostic.as_note(),
            Absence::Branch | Absence::Rounds | Absence::Jump => diagnostic,
        }
    }

    /// The place to show: a place in the library is shown where the program calls it.
    fn shown(self, loc: LocId) -> LocId {
        in_program(self.module, loc).unwrap_or(loc)
    }

    /// What makes threads differ, as the program calls it.
    fn root(self, reason: Option<&Reason>) -> Root {
        let place = reason.map(|reason| (reason.loc, self.shown(reason.loc)));
        let call = place
            .filter(|(loc, shown)| loc != shown)
            .and_then(|(_, shown)| {
                let span = span(shown, Extent::Name, self.module, self.map)?;
                Some(self.map.snippet(span).to_string())
            });
        Root {
            cause: reason.map(|reason| reason.cause),
            call,
        }
    }

    /// Labels from the condition to the value that differs between threads. Several steps at one place become one.
    fn chain(
        self,
        mut diagnostic: Diagnostic,
        why: &[Reason],
        kernel: &ir::Function,
    ) -> Diagnostic {
        let mut last: Option<LocId> = None;
        for (at, reason) in why.iter().enumerate() {
            let slot_name = |slot: ir::SlotId| kernel.slots[slot.index()].name.clone();
            // An assigned value is shown where it is computed, which is the next reason's place.
            let next = why.get(at + 1).map_or(reason.loc, |next| next.loc);
            let (loc, extent, step) = match reason.cause {
                Cause::Thread(_) | Cause::OneByOne | Cause::OtherLane => (
                    reason.loc,
                    Extent::Name,
                    Step::Root(self.root(Some(reason))),
                ),
                Cause::Assigned(slot, _) => {
                    (next, Extent::Expression, Step::Value(slot_name(slot)))
                }
                Cause::Divergence(slot, _) => {
                    (next, Extent::Expression, Step::Set(slot_name(slot)))
                }
                Cause::Operand(_) | Cause::OwnMemory | Cause::Unset(_) | Cause::Call => continue,
            };
            let loc = self.shown(loc);
            if last == Some(loc) {
                continue;
            }
            last = Some(loc);
            if let Some(span) = span(loc, extent, self.module, self.map) {
                diagnostic = diagnostic.label(span, step.shown(&()));
            }
        }
        diagnostic
    }
}
