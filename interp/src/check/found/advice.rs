//! One sentence on what would help against a conflict: what is missing, and where it goes.

use crate::isa::grid::Identity;
use crate::observe::Scene;
use dsl::ir::{AtomicOp, BinaryOp, CompareOp, Inst, InstKind, LocId, Object, Operand};

use super::flow::{Flow, Meet};
use crate::fault::finding::{Barrier, RaceKind, Remedy};
use crate::fault::trap::AccessOp;
use crate::inspect::listing::{Around, At};
use crate::isa::bytecode::Op;
use crate::race::report::Side;

/// What `grid.sync()` counts with: a variable of the library's.
const GRID_COUNTER: &str = "__dslc_grid_arrived";

/// A conflict to give advice on.
pub(super) struct Conflict<'a> {
    pub(super) kind: RaceKind,
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    /// Threads of one instruction that were seen at one place.
    pub(super) most_at_one_place: u32,
}

/// A statement that reads, changes and writes one place.
struct Update {
    load: At,
    store: At,
}

impl Scene<'_> {
    /// What is missing, and where.
    pub(super) fn remedy(&self, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { kind, a, b, .. } = *conflict;
        let flow = Flow::of(self.function);
        let update = || -> Option<Remedy> {
            let update = self.update(&flow, conflict)?;
            Some(self.use_atomic(&flow, &update).into())
        };
        match kind {
            RaceKind::OneInstruction => update().unwrap_or_else(|| {
                let line = self.higher_line(conflict);
                format!(
                    "let one thread write at line {line} (`if (threadIdx.x == 0)`), give each thread an element of its own, or use an \
                     atomic"
                )
                .into()
            }),
            RaceKind::SameValue => update().unwrap_or_else(|| {
                "if that is meant it does no harm; one thread that writes, or an atomic, would say so".into()
            }),
            RaceKind::LockstepVolatile | RaceKind::LockstepPlain => {
                update().unwrap_or_else(|| self.barrier(&flow, Barrier::Warp, conflict))
            }
            RaceKind::LockWithoutFence => {
                let fence = fence_for(conflict);
                format!(
                    "put `{fence}` after the loop that takes the lock: without it what the lock guards may be read before the lock is held"
                )
                .into()
            }
            RaceKind::Unordered | RaceKind::UnlessPolled if a.block != b.block => {
                self.across_blocks(&flow, conflict)
            }
            RaceKind::Unordered | RaceKind::UnlessPolled => self.in_a_block(&flow, conflict),
        }
    }

    /// Whether the kernel may order threads by a lock or a flag.
    fn locks(&self) -> bool {
        let mut sites = self.code.sites.iter();
        !self.code.effects.polls.waits.is_empty()
            || sites.any(|site| matches!(site.atomic, Some((AtomicOp::Cas | AtomicOp::Exch, _))))
    }

    fn has_fences(&self) -> bool {
        self.code.insts.iter().any(|inst| inst.op == Op::Fence)
    }

    /// The line of the access that comes later in the kernel.
    fn higher_line(&self, conflict: &Conflict<'_>) -> u32 {
        let Conflict { a, b, .. } = *conflict;
        let high = if self.pc(a.counter) <= self.pc(b.counter) {
            b
        } else {
            a
        };
        self.line(self.counter(high.counter).loc)
    }

    fn across_blocks(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { a, b, .. } = *conflict;
        let (locks, fenced) = (self.locks(), self.has_fences());
        if self.in_block(a) || self.in_block(b) {
            "an atomic whose name ends in `_block` is one for the threads of its block only: across blocks use the one \
             without"
                .into()
        } else if let Some(early) = self.announced_early(flow, conflict) {
            early.into()
        } else if let Some(fence) = self.fence(flow, conflict).filter(|_| !fenced) {
            fence.into()
        } else if self.shape.cooperative {
            self.barrier(flow, Barrier::Grid, conflict)
        } else if locks && !fenced {
            "if a lock or a flag is to order the two, put `__threadfence()` before it is set or given back".into()
        } else if fenced {
            "blocks run in any order: see that `__threadfence()` stands between the first access and the atomic or \
             `volatile` store that announces it, and that the other thread waits for that"
                .into()
        } else if let Some(update) = self.update(flow, conflict) {
            self.use_atomic(flow, &update).into()
        } else {
            "blocks run in any order, and no barrier waits for another block: use atomics, give each block elements of its own, \
             write the results to a second array, or end the kernel between the two and launch another"
                .into()
        }
    }

    fn in_a_block(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { a, b, .. } = *conflict;
        let (locks, fenced) = (self.locks(), self.has_fences());
        let barrier = || self.barrier(flow, Barrier::Block, conflict);
        if locks && !fenced {
            return match self.fence(flow, conflict) {
                Some(fence) => fence.into(),
                None => barrier().in_words(|text| {
                    format!(
                        "{text}; or, if a lock or a flag is to order the two, put `__threadfence()` before it is set or given back"
                    )
                }),
            };
        }
        let stores = |side: &Side| self.counter(side.counter).op == AccessOp::Store;
        let writes = stores(a) && stores(b);
        if let Some(early) = self.announced_early(flow, conflict) {
            early.into()
        } else if fenced && locks {
            barrier().in_words(|text| {
                format!(
                    "see that `__threadfence_block()` stands between the first access and the atomic or `volatile` store that \
                     announces it, and that the other thread waits for that; or {text}"
                )
            })
        } else if let Some(update) = self.update(flow, conflict) {
            self.use_atomic(flow, &update).into()
        } else if let Some(overlap) = self.overlap(conflict).filter(|_| writes) {
            overlap.into()
        } else if writes && a.counter == b.counter && !self.is_later(flow, conflict) {
            let line = self.higher_line(conflict);
            format!("let one thread write at line {line}, give each thread an element of its own, or use an atomic")
                .into()
        } else {
            barrier()
        }
    }

    /// Of two arrays of different names whose bytes are the same.
    fn overlap(&self, conflict: &Conflict<'_>) -> Option<String> {
        let text = |side: &Side| {
            self.module
                .loc(self.counter(side.counter).loc)
                .text
                .as_str()
        };
        let name = |side: &Side| text(side).split_once('[').map(|(name, _)| name);
        let (a, b) = (conflict.a, conflict.b);
        (name(a)? != name(b)?).then(|| {
            format!(
                "`{}` and `{}` are the same bytes here: see where each array begins and how long it is, in bytes and in elements",
                text(a),
                text(b)
            )
        })
    }

    /// An access of what the library's `grid.sync()` counts with.
    fn is_grid_sync(&self, inst: &Inst) -> bool {
        let globals = &self.module.globals;
        matches!(inst.kind, InstKind::AddrOf(Object::Global(id)) if globals[id.index()].name == GRID_COUNTER)
    }

    fn at(&self, flow: &Flow<'_>, side: &Side) -> Option<At> {
        let site = self.counter(side.counter);
        flow.access(site.loc, site.op)
    }

    fn who(&self, side: &Side) -> Identity<'_> {
        self.thread(side.block, side.warp, side.lane)
    }

    fn thread(&self, block: u64, warp: u32, lane: u32) -> Identity<'_> {
        self.shape.identity(block, warp as usize, lane)
    }

    /// Whether the two can meet in different rounds of a loop only.
    fn is_later(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> bool {
        let Conflict { a, b, .. } = *conflict;
        let (Some(first), Some(then)) = (self.at(flow, a), self.at(flow, b)) else {
            return false;
        };
        let (a, b) = ((first, self.who(a)), (then, self.who(b)));
        flow.common_loop(first, then).is_some() && flow.meet(a, b) == Meet::Later
    }

    /// Where a barrier of that name is missing.
    fn barrier<'s>(&'s self, flow: &Flow<'s>, barrier: Barrier, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { a, b, .. } = *conflict;
        let proposes = |text| Remedy {
            text,
            barrier: Some(barrier),
        };
        // A barrier within a branch that not all threads take would be one more fault.
        let parts = |around: Around| {
            let all = self.shape.threads();
            let threads = match barrier {
                Barrier::Warp => 32 * a.warp..all.min(32 * a.warp + 32),
                _ => 0..all,
            };
            flow.parts(
                around,
                threads.map(|number| self.thread(a.block, number / 32, number % 32)),
            )
        };
        let (pc_a, pc_b) = (self.pc(a.counter), self.pc(b.counter));
        let swap = pc_a > pc_b;
        let (low, high) = if swap { (b, a) } else { (a, b) };
        let line_of = |side: &Side| self.line(self.counter(side.counter).loc);
        let (low_line, high_line) = (line_of(low), line_of(high));
        let is: fn(Op) -> bool = match barrier {
            Barrier::Warp => |op| op == Op::SyncWarp,
            _ => is_barrier,
        };
        let grid = (self.at(flow, low), self.at(flow, high));
        let held = match (pc_a.min(pc_b), pc_a.max(pc_b)) {
            _ if barrier == Barrier::Grid => match grid {
                (Some(from), Some(to)) => {
                    flow.any_between(from, to, |inst| self.is_grid_sync(inst))
                }
                _ => false,
            },
            (Some(from), Some(to)) => self.code.insts[from..to].iter().any(|inst| is(inst.op)),
            _ => false,
        };
        if held && barrier == Barrier::Warp && pc_a < pc_b {
            return format!(
                "the lanes that meet between line {low_line} and line {high_line} are not these two: let the mask, or the tile, hold both"
            )
            .into();
        }
        let (Some(first), Some(last)) = (self.at(flow, low), self.at(flow, high)) else {
            return proposes(format!(
                "put `{}` between line {low_line} and line {high_line}",
                barrier.name()
            ));
        };
        let back = flow.common_loop(first, last);
        let later = back.is_some() && held || self.is_later(flow, conflict);
        let lines = (low_line, high_line);
        proposes(match back.filter(|_| later) {
            Some(back) => self.in_the_next_round(flow, barrier, (first, last), back, lines, parts),
            None => self.between(flow, barrier, (first, last), lines, parts),
        })
    }

    /// The same, if they meet in different rounds of the loop at `back` only: a barrier at its end.
    fn in_the_next_round(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        (first, last): (At, At),
        back: LocId,
        (low_line, high_line): (u32, u32),
        parts: impl Fn(Around) -> bool,
    ) -> String {
        let barrier = barrier.name();
        let shared = flow.shared(first, last);
        let inner = flow.path(last)[..shared]
            .iter()
            .rposition(|around| matches!(around, Around::Loop(..)));
        let within = &flow.path(last)[inner.map_or(0, |at| at + 1)..];
        let outer = within.iter().find(|around| parts(**around));
        let after = match outer.map(|around| self.line(around.loc())) {
            Some(line) if line != high_line => format!("the `if` of line {line}"),
            _ => format!("line {high_line}"),
        };
        let head = match (low_line == high_line, self.line(back)) {
            (true, line) if line != 0 => line,
            _ => low_line,
        };
        format!("put `{barrier}` after {after}, before the loop comes back to line {head}")
    }

    /// The same, if they meet in one round.
    fn between(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        (first, last): (At, At),
        (low_line, high_line): (u32, u32),
        parts: impl Fn(Around) -> bool,
    ) -> String {
        let barrier = barrier.name();
        let shared = flow.shared(first, last);
        let path = &flow.path(last)[..shared];
        // The outermost statement around one of them alone, where a barrier cannot stand or would be run too often.
        let bounds = |at: At, own: u32| {
            let mut alone = flow.path(at)[shared..].iter();
            let around =
                alone.find(|&&around| matches!(around, Around::Loop(..)) || parts(around))?;
            let line = self.line(around.loc());
            let what = match around {
                Around::Loop(..) => "loop",
                Around::If(..) => "`if`",
            };
            (line != own).then(|| format!("the {what} of line {line}"))
        };
        let branch = path.iter().find(|around| parts(**around));
        let outside = match branch.map(|around| self.line(around.loc())) {
            Some(line) => format!(
                ", outside of the `if` of line {line}, which not all threads enter: end it before the barrier and begin it again after"
            ),
            None => String::new(),
        };
        if low_line == high_line {
            return format!(
                "put `{barrier}` between the two accesses of line {low_line}: read into a variable first, write after the \
                 barrier{outside}"
            );
        }
        // What is read by the very test that decides the write.
        let tested = flow.path(last)[shared..]
            .iter()
            .find(|around| matches!(around, Around::If(..)) && self.line(around.loc()) == low_line);
        if tested.is_some() {
            return format!(
                "line {low_line} tests what line {high_line} changes: read it into a variable first, put `{barrier}` behind that, and test \
                 the variable{outside}"
            );
        }
        match (bounds(first, low_line), bounds(last, high_line)) {
            (None, None) => {
                format!("put `{barrier}` between line {low_line} and line {high_line}{outside}")
            }
            (Some(after), None) => {
                format!("put `{barrier}` after {after}, before line {high_line}{outside}")
            }
            (None, Some(before)) => {
                format!("put `{barrier}` after line {low_line}, before {before}{outside}")
            }
            (Some(after), Some(before)) if after == before => {
                format!("put `{barrier}` between line {low_line} and line {high_line}{outside}")
            }
            (Some(after), Some(before)) => {
                format!("put `{barrier}` after {after}, before {before}{outside}")
            }
        }
    }

    /// Whether both are of one statement that reads, changes and writes a place that several threads have in common. If each thread has
    /// a place of its own in each round of a loop, and it is another one in the next, a barrier is what is missing.
    fn update(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Update> {
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
        let update = match (op(a), op(b)) {
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
        // Where one thread writes, none loses an update: the others only have to read before or after.
        let all = self.shape.threads();
        let threads = (0..all).map(|number| self.thread(a.block, number / 32, number % 32));
        if a.block == b.block && flow.is_for_one(update.store, threads) {
            return None;
        }
        let feeds = flow.feeds(update.store).contains(&update.load);
        let in_common = flow.is_uniform(update.store)
            || conflict.most_at_one_place >= 2
            || flow.goes_by_data(update.store)
            || flow.common_loop(update.load, update.store).is_none();
        (feeds && in_common).then_some(update)
    }

    fn use_atomic(&self, flow: &Flow<'_>, update: &Update) -> String {
        let loc = |at: At| flow.inst(at).loc;
        let lines = (self.line(loc(update.load)), self.line(loc(update.store)));
        let who = match lines {
            (load, store) if load == store => format!("line {store} reads, changes and writes"),
            (load, store) => {
                format!("line {load} reads and line {store} writes what follows from it")
            }
        };
        let text = &self.module.loc(loc(update.store)).text;
        let place = match text.strip_prefix('*') {
            Some(pointer) => pointer.trim().to_owned(),
            None => format!("&{text}"),
        };
        let how = match Self::operation(flow, update) {
            Some(name) => format!("use an atomic, as in `{name}({place}, …)`"),
            None => "use an atomic, or a loop around `atomicCAS`".to_owned(),
        };
        format!(
            "{who}: threads that do it to one place lose updates, and no barrier between the two helps; {how}"
        )
    }

    /// The atomic that does what a statement does.
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
            Some(&InstKind::Binary(op, _, a, b)) if is_old(a) || is_old(b) => match op {
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
                // Of `new > old` the greater one is written; turned round by the other side or the other order.
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

    /// A flag or a count that is set before what it announces.
    fn announced_early(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<String> {
        let is_write = |side: &&Side| self.counter(side.counter).op != AccessOp::Load;
        let Conflict { a, b, .. } = *conflict;
        let writer = [a, b].into_iter().find(is_write)?;
        let reader = if std::ptr::eq(writer, a) { b } else { a };
        let (wrote, read) = (self.at(flow, writer)?, self.at(flow, reader)?);
        let seen = flow.decided_by(read, |loc: LocId| {
            self.code.effects.polls.waits.contains(&loc)
        });
        if seen.is_empty() || flow.announced(wrote, &seen).is_some() {
            return None;
        }
        let sign = flow.announced_before(wrote, &seen)?;
        let (early, late) = (
            self.line(flow.inst(sign).loc),
            self.line(flow.inst(wrote).loc),
        );
        let text = &self.module.loc(flow.inst(sign).loc).text;
        let name = fence_for(conflict);
        (early != 0 && late != 0 && early != late).then(|| {
            format!(
                "line {early} changes `{text}` before line {late} writes what it announces: write first, then `{name}`, then change \
                 `{text}`"
            )
        })
    }

    /// Where the fence goes that makes a flag, a lock or a counter order the two: between the earlier access and what announces it.
    fn fence(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<String> {
        let Conflict { a, b, .. } = *conflict;
        let (first, then) = (self.at(flow, a)?, self.at(flow, b)?);
        let seen = flow.decided_by(then, |loc: LocId| {
            self.code.effects.polls.waits.contains(&loc)
        });
        let sign = flow.announced(first, &seen)?;
        let name = fence_for(conflict);
        let (from, to) = (
            self.line(flow.inst(first).loc),
            self.line(flow.inst(sign).loc),
        );
        let text = &self.module.loc(flow.inst(sign).loc).text;
        let what = match text.is_empty() {
            true => "the other thread".to_owned(),
            false => format!("whoever sees `{text}` change"),
        };
        let place = match from == to {
            true => format!("on line {to}, before the flag is set"),
            false => format!("between line {from} and line {to}"),
        };
        Some(format!(
            "put `{name}` {place}: without it {what} may not see yet what was done before"
        ))
    }
}

pub(super) fn is_barrier(op: Op) -> bool {
    matches!(
        op,
        Op::Barrier | Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr
    )
}

/// The narrowest fence that both threads see.
fn fence_for(conflict: &Conflict<'_>) -> &'static str {
    match conflict.a.block == conflict.b.block {
        true => "__threadfence_block()",
        false => "__threadfence()",
    }
}
