//! Recognises lost updates: a statement that several threads use to read, change and write the same memory. Finds the
//! atomic to replace it.

use ir::{BinaryOp, CompareOp, InstKind, Operand};

use super::Conflict;
use crate::check::found::flow::Flow;
use crate::fault::finding::remedy::{LostUpdate, Remedy};
use crate::fault::trap::AccessOp;
use crate::inspect::listing::{Around, At};
use crate::observe::Scene;
use crate::race::report::Side;

/// A statement that reads, changes and writes one place.
pub(super) struct Update {
    load: At,
    store: At,
}

impl Scene<'_> {
    /// Whether both accesses are in one statement that reads, changes and writes a place that several threads share. If
    /// each thread has its own place in each round of a loop, and a different one in the next round, a barrier is
    /// missing instead.
    pub(super) fn update(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Update> {
        let Conflict { a, b, .. } = *conflict;
        let (at_a, at_b) = (self.at(flow, a)?, self.at(flow, b)?);
        let text = |at: At| {
            let text = &self.module.loc(flow.inst(at).loc).text;
            text.split_whitespace().collect::<String>()
        };
        let op = |side: &Side| self.counter(side.counter).op;
        if text(at_a) != text(at_b) || text(at_a).is_empty() {
            return None;
        }
        let mut update = match (op(a), op(b)) {
            (AccessOp::Load, AccessOp::Store) => Update {
                load: at_a,
                store: at_b,
            },
            (AccessOp::Store, AccessOp::Load) => Update {
                load: at_b,
                store: at_a,
            },
            (AccessOp::Store, AccessOp::Store) => {
                let feeds = flow.feeds(at_b);
                let load = feeds.into_iter().find(|&load| text(load) == text(at_b))?;
                Update { load, store: at_b }
            }
            _ => return None,
        };
        // If only one thread writes, it loses no update. The other threads only have to read before or after.
        let all = self.shape.threads();
        let threads = (0..all).map(|number| self.thread(a.block, number / 32, number % 32));
        if a.block == b.block && flow.is_for_one(update.store, threads) {
            return None;
        }
        let feeds = flow.feeds(update.store);
        if !feeds.contains(&update.load) {
            // It may be another read of the place. The statement still loses updates.
            let same = |load: &At| text(*load) == text(update.store);
            update.load = feeds.into_iter().find(same)?;
        }
        let in_common = flow.is_uniform(update.store)
            || conflict.most_at_one_place >= 2
            || flow.goes_by_data(update.store)
            || flow.common_loop(update.load, update.store).is_none();
        in_common.then_some(update)
    }

    /// The atomic for an update of one element by all threads. No index could be wrong.
    pub(super) fn update_of_one(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let update = self.update(flow, conflict)?;
        let is_one = flow.is_uniform(update.store);
        is_one.then(|| self.use_atomic(flow, &update))
    }

    pub(super) fn use_atomic(&self, flow: &Flow<'_>, update: &Update) -> Remedy {
        let loc = |at: At| flow.inst(at).loc;
        Remedy::Atomic(LostUpdate {
            lines: (self.line(loc(update.load)), self.line(loc(update.store))),
            place: self.module.loc(loc(update.store)).text.clone(),
            atomic: Self::operation(flow, update),
        })
    }

    /// The atomic function that is equivalent to a statement.
    fn operation(flow: &Flow<'_>, update: &Update) -> Option<&'static str> {
        let is_old = |operand: Operand| {
            flow.made_by(operand)
                .is_some_and(|kind| std::ptr::eq(kind, &raw const flow.inst(update.load).kind))
        };
        let InstKind::Store(_, _, values) = &flow.inst(update.store).kind else {
            return None;
        };
        let by_value = match flow.made_by(*values.first()?) {
            Some(InstKind::Fma(..)) => Some("atomicAdd"),
            Some(&InstKind::Binary(op, _, a, b)) if is_old(a) || is_old(b) => match op.wrapping() {
                BinaryOp::Add | BinaryOp::FAdd => Some("atomicAdd"),
                BinaryOp::Sub => Some("atomicSub"),
                BinaryOp::SMin | BinaryOp::UMin => Some("atomicMin"),
                BinaryOp::SMax | BinaryOp::UMax => Some("atomicMax"),
                BinaryOp::And => Some("atomicAnd"),
                BinaryOp::Or => Some("atomicOr"),
                BinaryOp::Xor => Some("atomicXor"),
                _ => None,
            },
            _ => None,
        };
        let by_branch = || {
            let path = flow.path(update.store).iter().rev();
            path.copied().find_map(|around| {
                let Around::If(_, _, cond, side) = around else {
                    return None;
                };
                let Some(&InstKind::Compare(op, _, a, b)) = flow.made_by(cond) else {
                    return None;
                };
                let (greater, less) = (
                    matches!(
                        op,
                        CompareOp::Sgt | CompareOp::Sge | CompareOp::Ugt | CompareOp::Uge
                    ),
                    matches!(
                        op,
                        CompareOp::Slt | CompareOp::Sle | CompareOp::Ult | CompareOp::Ule
                    ),
                );
                // For `new > old` the greater one is written. Either side or the other order reverses it.
                match (is_old(a), is_old(b)) {
                    _ if !greater && !less => None,
                    (false, true) => Some(if greater == side {
                        "atomicMax"
                    } else {
                        "atomicMin"
                    }),
                    (true, false) => Some(if less == side {
                        "atomicMax"
                    } else {
                        "atomicMin"
                    }),
                    _ => None,
                }
            })
        };
        by_value.or_else(by_branch)
    }
}
