//! Arguments why edits hold for all sizes and data, from the IR of the program and of the edited one.
//!
//! An argument takes the kind of the edit and both modules, and gives one sentence, or nothing. An edit that is not recognised is not
//! proved; further runs then show for which runs it holds. `skeleton` turns a function into a row of its effects, with `term`s for values.
//! `layout`, `order` and `atomic` compare two such rows. `equations` finds out when two places belong to the same thread.

mod atomic;
mod equations;
mod layout;
mod order;
mod skeleton;
mod term;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ir::{Module, Space, diagnostic::Code, symbol::template_name};
use report::{SuggestionKind, findings::Found};

use crate::{Base, candidate::Candidate};
use skeleton::{What, row};
use term::{Kind, Shape, Terms};

/// Why edits against a waste hold for all sizes and data. `aliased`: kernels whose pointers do not lead to separate buffers.
pub(crate) fn proof(
    base: Base<'_>,
    candidate: &Candidate,
    new: &Arc<Module>,
    aliased: &[String],
) -> Option<String> {
    let old = base.input.module;
    match candidate.kind {
        SuggestionKind::Pad | SuggestionKind::Spread | SuggestionKind::Swizzle => {
            layout::shared(old, new)
        }
        SuggestionKind::Memory => layout::table(old, new),
        SuggestionKind::NoBarrier => order::needless(old, new, aliased),
        SuggestionKind::Aggregate => atomic::in_warp(old, new),
        SuggestionKind::Branch => chosen(old, new),
        SuggestionKind::Layout
        | SuggestionKind::Index
        | SuggestionKind::Barrier
        | SuggestionKind::Fence
        | SuggestionKind::SyncWarp
        | SuggestionKind::Volatile
        | SuggestionKind::Shared
        | SuggestionKind::Bound
        | SuggestionKind::Guard
        | SuggestionKind::Other => None,
    }
}

/// Why edits remove all of these findings, for all sizes and data.
pub(crate) fn proof_for_findings(
    old: &Module,
    new: &Module,
    kind: SuggestionKind,
    found: &[&Found],
    aliased: &[String],
) -> Option<String> {
    // In global memory, accesses of other blocks may conflict, too, in a larger grid.
    let is_shared_race = |found: &Found| {
        matches!(
            found.code,
            Code::DataRace | Code::SameValueRace | Code::WarpSynchronousCode
        ) && found.memory.space.as_deref() == Some("shared")
    };
    match kind {
        SuggestionKind::Barrier if found.iter().all(|one| is_shared_race(one)) => {
            order::placed(old, new, aliased)
        }
        _ => None,
    }
}

/// The sentence that proves that a choice without a branch is equivalent.
fn chosen(old: &Module, new: &Module) -> Option<String> {
    if old.functions.len() != new.functions.len() {
        return None;
    }
    for (a, b) in old.functions.iter().zip(&new.functions) {
        let mut terms = Terms::default();
        let (before, after) = (row(a, &mut terms)?, row(b, &mut terms)?);
        let mut pairs = before.iter().zip(&after);
        if before.len() != after.len() || !pairs.all(|(a, b)| a.what == b.what) {
            return None;
        }
    }
    Some("both choose between the same values by the same condition".to_string())
}

/// Whether an index of shared memory in these kernels comes from memory or an argument: other data may need what this run does not.
pub(crate) fn depends_on_data(module: &Module, kernels: &[String]) -> bool {
    let is_of = |name: &str| {
        let name = template_name(name);
        kernels.iter().any(|kernel| template_name(kernel) == name)
    };
    let mut functions = module.kernels().filter(|(_, kernel)| is_of(&kernel.name));
    functions.any(|(_, kernel)| {
        let mut terms = Terms::default();
        let Some(row) = row(kernel, &mut terms) else {
            return true;
        };
        row.iter().any(|step| match &step.what {
            What::Access(touch) if touch.is_in(Space::Shared) => {
                terms.any(touch.pointer, &mut |shape| {
                    matches!(
                        shape,
                        Shape::Given(Kind::Load | Kind::Atomic, ..) | Shape::Param(_)
                    )
                })
            }
            _ => false,
        })
    })
}
