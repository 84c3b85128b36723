//! Barriers under conditions that differ between threads, with the way from the condition to the thread's index.

use std::collections::HashSet;

use crate::{
    diagnostic::{Code, Diagnostic, Severity},
    ir::{
        LocId, Module, SpecialReg, Varies,
        divergence::{Absence, DivergentBarrier, divergent_barriers},
        locate::{Extent, span},
        uniformity::{Cause, Reason},
    },
    source::SourceMap,
    span::Span,
};

/// One message per barrier of the source, however many kernels it is inlined in.
pub(super) fn divergent(module: &Module, map: &SourceMap) -> Vec<Diagnostic> {
    let mut told: HashSet<Span> = HashSet::new();
    let mut diagnostics = vec![];
    for (_, kernel) in module.kernels() {
        for found in divergent_barriers(kernel) {
            let Some(at) = span(found.barrier, Extent::Name, module, map) else {
                continue;
            };
            if !told.insert(at) {
                continue;
            }
            let source = Source { module, map };
            diagnostics.push(source.diagnostic(&found, at, kernel));
        }
    }
    diagnostics
}

/// Where places are looked up.
#[derive(Clone, Copy)]
struct Source<'a> {
    module: &'a Module,
    map: &'a SourceMap,
}

impl Source<'_> {
    fn diagnostic(
        self,
        found: &DivergentBarrier,
        at: Span,
        kernel: &crate::ir::Function,
    ) -> Diagnostic {
        let name = self.map.snippet(at).trim_end_matches("()");
        let name = if name.starts_with("__syncthreads") {
            name
        } else {
            "__syncthreads"
        };
        let root = found.why.last();
        let source = root.map_or_else(|| "a value of each thread's own".to_string(), cause_text);
        let (code, message, here) = match found.absence {
            Absence::Branch => (
                Code::BarrierUnderCondition,
                format!("`{name}` under a condition that depends on {source}"),
                "only the threads of this branch come here",
            ),
            Absence::Rounds => (
                Code::BarrierInUnevenLoop,
                format!("`{name}` in a loop whose number of rounds depends on {source}"),
                "the threads that have left the loop do not come here",
            ),
            Absence::Jump => (
                Code::BarrierUnderCondition,
                format!("`{name}` that threads jump over, depending on {source}"),
                "the threads that jump do not come here",
            ),
            Absence::Returned => (
                Code::BarrierAfterReturn,
                format!("`{name}` after a `return` that depends on {source}"),
                "the threads that have returned do not come here",
            ),
        };
        let mut diagnostic = Diagnostic::warning(code, at, message).at(here);
        if found.absence == Absence::Returned {
            diagnostic.severity = Severity::Note;
        }
        if let Some(span) = span(found.condition, Extent::Expression, self.module, self.map) {
            diagnostic = diagnostic.label(span, "this differs between the threads of a block");
        }
        diagnostic = self.chain(diagnostic, &found.why, kernel);
        let help = match found.absence {
            Absence::Branch => {
                "end the branch before the barrier and begin it again after, so that all threads come by the barrier"
            }
            Absence::Rounds => {
                "let all threads make the same number of rounds, and put what only some do under an `if` without a barrier in it"
            }
            Absence::Jump => "put what is jumped over under an `if` that ends before the barrier",
            Absence::Returned => {
                "a barrier waits for the threads that have not exited, so this is allowed; threads that must take part later, or load what others read, have to stay"
            }
        };
        diagnostic.help(help)
    }

    /// Labels from the condition to what a thread knows of itself. Several steps on one place are one.
    fn chain(
        self,
        mut diagnostic: Diagnostic,
        why: &[Reason],
        kernel: &crate::ir::Function,
    ) -> Diagnostic {
        let mut last: Option<LocId> = None;
        for (at, reason) in why.iter().enumerate() {
            let slot_name = |slot: crate::ir::SlotId| kernel.slots[slot.index()].name.as_str();
            // A value that is assigned stands where it is computed: the next reason's place.
            let next = why.get(at + 1).map_or(reason.loc, |next| next.loc);
            let (loc, extent, text) = match reason.cause {
                Cause::Thread(_) | Cause::OneByOne | Cause::OtherLane => (
                    reason.loc,
                    Extent::Name,
                    format!("{} is different in each thread", cause_text(reason)),
                ),
                Cause::Assigned(slot, _) => (
                    next,
                    Extent::Expression,
                    format!("`{}` gets its value here", slot_name(slot)),
                ),
                Cause::Divergence(slot, _) => (
                    next,
                    Extent::Expression,
                    format!("whether `{}` is set depends on this", slot_name(slot)),
                ),
                Cause::Operand(_) | Cause::OwnMemory | Cause::Unset(_) => continue,
            };
            if last == Some(loc) {
                continue;
            }
            last = Some(loc);
            if let Some(span) = span(loc, extent, self.module, self.map) {
                diagnostic = diagnostic.label(span, text);
            }
        }
        diagnostic
    }
}

/// What a chain ends in, as the source calls it.
fn cause_text(reason: &Reason) -> String {
    let text = match reason.cause {
        Cause::Thread(register) => match register.varies() {
            Varies::Lane | Varies::Row if register != SpecialReg::LaneId => {
                return format!("`{}`", register.source());
            }
            Varies::Lane | Varies::Row => "the lane",
            Varies::Place => "the active mask",
            Varies::Time => "the clock",
            Varies::Block | Varies::Grid => "the thread",
        },
        Cause::OneByOne => "the result of an atomic",
        Cause::OtherLane => "the value of another lane",
        Cause::OwnMemory
        | Cause::Operand(_)
        | Cause::Assigned(..)
        | Cause::Divergence(..)
        | Cause::Unset(_) => "a value of each thread's own",
    };
    text.to_string()
}
