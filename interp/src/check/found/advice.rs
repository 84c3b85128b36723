//! Advises on conflicts: what is missing, and where it goes.

mod update;

use crate::isa::grid::Identity;
use crate::observe::Scene;
use ir::{AtomicOp, Inst, InstKind, Intrinsic, LocId, Object};

use super::flow::{Flow, Meet};
use crate::fault::finding::RaceKind;
use crate::fault::finding::remedy::{
    Barrier, BarrierPlace, Edge, Fence, MissingBarrier, Remedy, SameHalf,
};
use crate::fault::trap::AccessOp;
use crate::inspect::listing::{Around, At};
use crate::isa::op::Op;
use crate::race::report::Side;

/// The library variable with which `grid.sync()` counts.
const GRID_COUNTER: &str = "__dslc_grid_arrived";

/// The most parts of a buffer whose parts are filled and used in turn.
const MAX_PARTS: u64 = 8;

/// A conflict to give advice on.
pub(super) struct Conflict<'a> {
    pub(super) kind: RaceKind,
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    /// The most threads of one instruction that were seen at one place.
    pub(super) most_at_one_place: u32,
}

/// Two accesses, ordered by their places in the text.
struct InText<'a> {
    /// The instructions, if known.
    at: Option<(At, At)>,
    lines: (u32, u32),
    /// Whether the one that is earlier in time comes first.
    in_order: bool,
    /// Whether a barrier of the wanted kind is between them.
    held: bool,
    /// The access that is earlier in time.
    first: &'a Side,
}

impl Scene<'_> {
    /// The remedy: what is missing, and where.
    pub(super) fn remedy(&self, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { kind, a, b, .. } = *conflict;
        let flow = Flow::of(self.function);
        let update = || {
            let update = self.update(&flow, conflict)?;
            Some(self.use_atomic(&flow, &update))
        };
        match kind {
            RaceKind::OneInstruction => update().unwrap_or_else(|| Remedy::OneWriter {
                line: self.higher_line(conflict),
                at_once: true,
            }),
            RaceKind::SameValue => update().unwrap_or(Remedy::SayWhatIsMeant),
            RaceKind::LockstepVolatile | RaceKind::LockstepPlain | RaceKind::OnlyExchange => {
                update().unwrap_or_else(|| self.warp_barrier(&flow, conflict))
            }
            RaceKind::LockWithoutFence => Remedy::FenceBehindLock(fence_for(conflict)),
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
            || sites.any(|site| {
                matches!(
                    site.atomic,
                    Some((AtomicOp::Cas | AtomicOp::Exch | AtomicOp::Store, _))
                )
            })
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
            Remedy::WiderAtomic
        } else if let Some(plain) = self.plain_flag(flow, conflict) {
            plain
        } else if let Some(narrow) = self.narrow_fence(flow, conflict) {
            narrow
        } else if let Some(early) = self.announced_early(flow, conflict) {
            early
        } else if let Some(fence) = self.fence(flow, conflict).filter(|_| !fenced) {
            fence
        } else if self.shape.cooperative {
            Remedy::Barrier(self.barrier(flow, Barrier::Grid, conflict))
        } else if locks && !fenced {
            Remedy::FenceIfFlag
        } else if fenced && (locks || self.has_sign(flow, conflict)) {
            Remedy::CheckFence
        } else if let Some(update) = self.update_of_one(flow, conflict) {
            update
        } else if let Some(index) = self.wrong_index(flow, conflict) {
            index
        } else if let Some(update) = self.update(flow, conflict) {
            self.use_atomic(flow, &update)
        } else if fenced {
            Remedy::FenceIsNoBarrier {
                lines: self.in_text(flow, Barrier::Grid, conflict).lines,
            }
        } else {
            Remedy::SeparateBlocks
        }
    }

    /// Whether an atomic or `volatile` access decides that one of the two is reached.
    fn has_sign(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> bool {
        let waits = |loc: LocId| self.code.effects.polls.waits.contains(&loc);
        let sides = [conflict.a, conflict.b].into_iter();
        let mut at = sides.filter_map(|side| self.at(flow, side));
        at.any(|at| !flow.decided_by(at, waits).is_empty())
    }

    fn in_a_block(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Remedy {
        let Conflict { a, b, .. } = *conflict;
        let (locks, fenced) = (self.locks(), self.has_fences());
        let barrier = || self.barrier(flow, Barrier::Block, conflict);
        if locks && !fenced {
            let fence = self.fence(flow, conflict);
            return fence.unwrap_or_else(|| Remedy::BarrierOrFence(barrier()));
        }
        let stores = |side: &Side| self.counter(side.counter).op == AccessOp::Store;
        let writes = stores(a) && stores(b);
        if let Some(early) = self.announced_early(flow, conflict) {
            early
        } else if fenced && locks {
            Remedy::CheckFenceOrBarrier(barrier())
        } else if let Some(bits) = self.shared_bits(flow, conflict) {
            bits
        } else if let Some(update) = self.update_of_one(flow, conflict) {
            update
        } else if let Some(index) = self.wrong_index(flow, conflict) {
            index
        } else if let Some(update) = self.update(flow, conflict) {
            self.use_atomic(flow, &update)
        } else if let Some(overlap) = self.overlap(conflict).filter(|_| writes) {
            overlap
        } else if writes && a.counter == b.counter && !self.is_later(flow, conflict) {
            Remedy::OneWriter {
                line: self.higher_line(conflict),
                at_once: false,
            }
        } else {
            let half = || self.same_half(flow, conflict);
            let side = || self.other_side(flow, Barrier::Block, conflict);
            half()
                .or_else(side)
                .unwrap_or_else(|| Remedy::Barrier(barrier()))
        }
    }

    /// The statement as written.
    fn text(&self, side: &Side) -> &str {
        let loc = self.counter(side.counter).loc;
        &self.module.loc(loc).text
    }

    /// Two bit-fields that share bytes: a store to one reads and writes the other.
    fn shared_bits(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let (a, b) = (self.text(conflict.a), self.text(conflict.b));
        let is_part = |side: &Side| {
            let loc = self.counter(side.counter).loc;
            flow.reads_in_part(loc)
        };
        let differ = a != b && !a.is_empty() && !b.is_empty();
        (differ && (is_part(conflict.a) || is_part(conflict.b)))
            .then(|| Remedy::SharedBits([a.to_owned(), b.to_owned()]))
    }

    /// A buffer whose parts are filled and used in turn: both accesses use the same part, and the barrier of the round
    /// is not between them.
    fn same_half(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let text = self.in_text(flow, Barrier::Block, conflict);
        let (first, last) = text.at?;
        let back = flow.common_loop(first, last)?;
        let is_load = |side: &Side| self.counter(side.counter).op == AccessOp::Load;
        let (writer, reader) = match (is_load(conflict.a), is_load(conflict.b)) {
            (false, true) => (conflict.a, conflict.b),
            (true, false) => (conflict.b, conflict.a),
            _ => return None,
        };
        let (buffer, index) = outer_subscript(self.text(writer))?;
        let is_constant = index.chars().all(|c| c.is_ascii_digit());
        if is_constant || outer_subscript(self.text(reader))? != (buffer, index) || text.held {
            return None;
        }
        let mut vars = self.function.shared.iter();
        let parts = match vars.find(|var| var.name == buffer)?.dims[..] {
            [parts @ 2..=MAX_PARTS, _, ..] => parts,
            _ => return None,
        };
        let goes_round = |at: At| flow.changes_in(at, back);
        let meets = flow.any_in(back, |inst| matches!(inst.kind, InstKind::Barrier(_)));
        let line = |side: &Side| self.line(self.counter(side.counter).loc);
        (meets && goes_round(first) && goes_round(last)).then(|| {
            Remedy::SameHalf(SameHalf {
                buffer: buffer.to_owned(),
                parts,
                index: index.to_owned(),
                lines: (line(writer), line(reader)),
            })
        })
    }

    /// Two accesses on different sides of a branch: no barrier of all threads can be between them.
    fn other_side(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        conflict: &Conflict<'_>,
    ) -> Option<Remedy> {
        let Conflict { a, b, .. } = *conflict;
        let (first, then) = (self.at(flow, a)?, self.at(flow, b)?);
        let shared = flow.shared(first, then);
        let (path_a, path_b) = (&flow.path(first)[shared..], &flow.path(then)[shared..]);
        let (&Around::If(id, loc, ..), Some(&Around::If(other, ..))) =
            (path_a.first()?, path_b.first())
        else {
            return None;
        };
        // A barrier after the branch orders accesses that meet in different rounds of a loop around both.
        if id != other || self.is_later(flow, conflict) {
            return None;
        }
        let loops = |path: &[Around]| path.iter().any(|around| matches!(around, Around::Loop(..)));
        let line = |side: &Side| self.line(self.counter(side.counter).loc);
        let (earlier, later) = (line(a), line(b));
        // If a numbered barrier orders them this way already, the order from a round to the next one is missing.
        let lines = match flow.comes_to_number(first, false) && flow.comes_to_number(then, true) {
            true => (later, earlier),
            false => (earlier, later),
        };
        Some(Remedy::OtherSide {
            branch: self.line(loc),
            lines,
            barrier,
            in_loops: loops(path_a) && loops(path_b),
        })
    }

    /// Two arrays with different names that occupy the same bytes.
    fn overlap(&self, conflict: &Conflict<'_>) -> Option<Remedy> {
        let (a, b) = (self.text(conflict.a), self.text(conflict.b));
        let name = |text: &str| text.split_once('[').map(|(name, _)| name.to_owned());
        let differ = name(a)? != name(b)?;
        differ.then(|| Remedy::SameBytes([a.to_owned(), b.to_owned()]))
    }

    /// Whether it accesses the variable with which the library's `grid.sync()` counts.
    fn is_grid_sync(&self, inst: &Inst) -> bool {
        let globals = &self.module.globals;
        matches!(inst.kind, InstKind::AddrOf(Object::Global(id)) if globals[id.index()].name == GRID_COUNTER)
    }

    pub(super) fn at(&self, flow: &Flow<'_>, side: &Side) -> Option<At> {
        let site = self.counter(side.counter);
        flow.access(site.loc, site.op)
    }

    fn who(&self, side: &Side) -> Identity<'_> {
        self.thread(side.block, side.warp, side.lane)
    }

    fn thread(&self, block: u64, warp: u32, lane: u32) -> Identity<'_> {
        self.shape.identity(block, warp as usize, lane)
    }

    /// Whether the two can only meet in different rounds of a loop.
    fn is_later(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> bool {
        let Conflict { a, b, .. } = *conflict;
        let (Some(first), Some(then)) = (self.at(flow, a), self.at(flow, b)) else {
            return false;
        };
        let (a, b) = ((first, self.who(a)), (then, self.who(b)));
        flow.common_loop(first, then).is_some() && flow.meet(a, b) == Meet::Later
    }

    /// Orders the two sides by their places in the text: whether that differs from their order in time, and whether
    /// such a barrier is between them.
    fn in_text<'c>(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        conflict: &Conflict<'c>,
    ) -> InText<'c> {
        let Conflict { a, b, .. } = *conflict;
        let (pc_a, pc_b) = (self.pc(a.counter), self.pc(b.counter));
        let (low, high) = if pc_a > pc_b { (b, a) } else { (a, b) };
        let line_of = |side: &Side| self.line(self.counter(side.counter).loc);
        let at = (self.at(flow, low), self.at(flow, high));
        let is = |inst: &Inst| self.is_barrier_inst(barrier, inst);
        let held = match at {
            (Some(from), Some(to)) => flow.any_between(from, to, is),
            _ => false,
        };
        InText {
            at: at.0.zip(at.1),
            lines: (line_of(low), line_of(high)),
            in_order: pc_a < pc_b,
            held,
            first: a,
        }
    }

    /// The remedy between lanes of a warp: a barrier, or a note that the existing one synchronises other lanes.
    fn warp_barrier(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Remedy {
        let text = self.in_text(flow, Barrier::Warp, conflict);
        if text.held && text.in_order {
            return Remedy::OtherLanesMeet { lines: text.lines };
        }
        let side = self.other_side(flow, Barrier::Warp, conflict);
        side.unwrap_or_else(|| Remedy::Barrier(self.barrier(flow, Barrier::Warp, conflict)))
    }

    /// The place of a missing barrier.
    fn barrier(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        conflict: &Conflict<'_>,
    ) -> MissingBarrier {
        let text = self.in_text(flow, barrier, conflict);
        let Some((first, last)) = text.at else {
            let place = BarrierPlace::Between {
                after: Edge::Line(text.lines.0),
                before: Edge::Line(text.lines.1),
                outside: None,
            };
            return MissingBarrier {
                barrier,
                place,
                fenced: false,
                again: None,
                round: None,
            };
        };
        let back = flow.common_loop(first, last);
        let later = back.is_some() && text.held || self.is_later(flow, conflict);
        // A barrier within a branch that not all threads take would be another error.
        let parts = |around: Around| self.parts(flow, barrier, text.first, around);
        let place = match back.filter(|_| later) {
            Some(back) => self.in_the_next_round(flow, (first, last), back, text.lines, parts),
            None => self.between(flow, (first, last), text.lines, parts),
        };
        let fenced = matches!(place, BarrierPlace::Between { .. })
            && flow.any_between(first, last, |inst| matches!(inst.kind, InstKind::Fence(_)));
        let again = back
            .filter(|&back| {
                !later && !text.held && self.comes_again(flow, barrier, (first, last), back)
            })
            .and_then(|back| {
                let parts = |around: Around| self.parts(flow, barrier, text.first, around);
                match self.in_the_next_round(flow, (first, last), back, text.lines, parts) {
                    BarrierPlace::NextRound { after, head } => Some((after, head)),
                    _ => None,
                }
            });
        MissingBarrier {
            barrier,
            place,
            fenced,
            again,
            round: self.round_inside(flow, barrier, (first, last), text.first),
        }
    }

    /// Whether the two also meet in the next round: one of them goes to the same place in each round, and no such
    /// barrier is in the loop.
    fn comes_again(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        (first, last): (At, At),
        back: LocId,
    ) -> bool {
        let stays = !flow.changes_in(first, back) || !flow.changes_in(last, back);
        // A barrier of the block also synchronises its warps.
        let holds = |inst: &Inst| {
            self.is_barrier_inst(barrier, inst) || matches!(inst.kind, InstKind::Barrier(_))
        };
        stays && !flow.any_in(back, holds)
    }

    /// The line of a loop around both that is within a divergent branch.
    fn round_inside(
        &self,
        flow: &Flow<'_>,
        barrier: Barrier,
        (first, last): (At, At),
        of: &Side,
    ) -> Option<u32> {
        let path = &flow.path(last)[..flow.shared(first, last)];
        let branch = path
            .iter()
            .position(|around| self.parts(flow, barrier, of, *around))?;
        let mut inside = path[branch..].iter();
        let round = inside.find(|around| matches!(around, Around::Loop(..)))?;
        Some(self.line(round.loc())).filter(|&line| line != 0)
    }

    fn is_barrier_inst(&self, barrier: Barrier, inst: &Inst) -> bool {
        match barrier {
            Barrier::Warp => matches!(inst.kind, InstKind::Intrinsic(Intrinsic::SyncWarp, _)),
            Barrier::Block => matches!(inst.kind, InstKind::Barrier(_)),
            Barrier::Grid => self.is_grid_sync(inst),
        }
    }

    /// Whether the threads that such a barrier synchronises, in the warp or block of one side, may diverge at a branch.
    fn parts(&self, flow: &Flow<'_>, barrier: Barrier, of: &Side, around: Around) -> bool {
        let all = self.shape.threads();
        let threads = match barrier {
            Barrier::Warp => 32 * of.warp..all.min(32 * of.warp + 32),
            Barrier::Block | Barrier::Grid => 0..all,
        };
        let threads = threads.map(|number| self.thread(of.block, number / 32, number % 32));
        flow.parts(around, threads)
    }

    /// The place of a barrier at the end of the loop at `back`, if the two only meet in different rounds of it.
    fn in_the_next_round(
        &self,
        flow: &Flow<'_>,
        (first, last): (At, At),
        back: LocId,
        (low_line, high_line): (u32, u32),
        parts: impl Fn(Around) -> bool,
    ) -> BarrierPlace {
        let shared = flow.shared(first, last);
        let inner = flow.path(last)[..shared]
            .iter()
            .rposition(|around| matches!(around, Around::Loop(..)));
        let within = &flow.path(last)[inner.map_or(0, |at| at + 1)..];
        let outer = within.iter().find(|around| parts(**around));
        let after = match outer.map(|around| self.line(around.loc())) {
            Some(line) if line != high_line => Edge::If(line),
            _ => Edge::Line(high_line),
        };
        let head = match (low_line == high_line, self.line(back)) {
            (true, line) if line != 0 => line,
            _ => low_line,
        };
        BarrierPlace::NextRound { after, head }
    }

    /// The place of a barrier between two that meet in one round.
    fn between(
        &self,
        flow: &Flow<'_>,
        (first, last): (At, At),
        (low_line, high_line): (u32, u32),
        parts: impl Fn(Around) -> bool,
    ) -> BarrierPlace {
        let shared = flow.shared(first, last);
        let path = &flow.path(last)[..shared];
        // The outermost statement around only one of them in which a barrier is not allowed or would run too often.
        let edge = |at: At, own: u32| {
            let mut alone = flow.path(at)[shared..].iter();
            let around = alone.find(|&&around| matches!(around, Around::Loop(..)) || parts(around));
            match around.map(|around| (around, self.line(around.loc()))) {
                Some((Around::Loop(..), line)) if line != own => Edge::Loop(line),
                Some((Around::If(..), line)) if line != own => Edge::If(line),
                _ => Edge::Line(own),
            }
        };
        let branch = path.iter().find(|around| parts(**around));
        let outside = branch.map(|around| self.line(around.loc()));
        if low_line == high_line {
            return BarrierPlace::WithinLine {
                line: low_line,
                outside,
            };
        }
        // The read is in the condition of the `if` that contains the write.
        let mut alone = flow.path(last)[shared..].iter();
        if alone
            .any(|around| matches!(around, Around::If(..)) && self.line(around.loc()) == low_line)
        {
            return BarrierPlace::BehindTest {
                test: low_line,
                change: high_line,
                outside,
            };
        }
        let (after, before) = match (edge(first, low_line), edge(last, high_line)) {
            // Both are in the same statement.
            (after, before) if after == before => (Edge::Line(low_line), Edge::Line(high_line)),
            edges => edges,
        };
        BarrierPlace::Between {
            after,
            before,
            outside,
        }
    }

    /// A flag or counter that is set before the data that it announces.
    fn announced_early(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
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
        (early != 0 && late != 0 && early != late).then(|| Remedy::EarlyFlag {
            fence: fence_for(conflict),
            sign: self.module.loc(flow.inst(sign).loc).text.clone(),
            lines: (early, late),
        })
    }

    /// The place of the fence with which a flag, lock or counter orders the two: between the earlier access and the one
    /// that announces it.
    fn fence(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let Conflict { a, b, .. } = *conflict;
        let (first, then) = (self.at(flow, a)?, self.at(flow, b)?);
        let seen = flow.decided_by(then, |loc: LocId| {
            self.code.effects.polls.waits.contains(&loc)
        });
        let sign = flow.announced(first, &seen)?;
        let (from, to) = (flow.inst(first).loc, flow.inst(sign).loc);
        Some(Remedy::Fence {
            fence: fence_for(conflict),
            sign: self.module.loc(to).text.clone(),
            lines: (self.line(from), self.line(to)),
            is_lock: self.holds_lock(flow, first, sign),
        })
    }

    /// Whether a thread that makes an access has taken the lock that it releases at `release`.
    fn holds_lock(&self, flow: &Flow<'_>, at: At, release: At) -> bool {
        let takes = |loc: LocId| self.code.effects.polls.takes.contains(&loc);
        let root = flow.root(release);
        let mut before = flow.insts().filter(|&(before, _)| before < at);
        root.is_some() && before.any(|(before, inst)| takes(inst.loc) && flow.root(before) == root)
    }
}

/// The array and the first subscript of an access with several: `buf` and `cur` for `buf[cur][t]`.
fn outer_subscript(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('[')?;
    let mut depth = 1;
    let end = rest.char_indices().find(|&(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let (index, behind) = rest.split_at(end?.0);
    let has_more = behind[1..].trim_start().starts_with('[');
    has_more.then_some((name.trim(), index.trim()))
}

pub(super) fn is_barrier(op: Op) -> bool {
    matches!(
        op,
        Op::Barrier | Op::BarrierCount | Op::BarrierAnd | Op::BarrierOr
    )
}

/// The narrowest fence that both threads see.
fn fence_for(conflict: &Conflict<'_>) -> Fence {
    match conflict.a.block == conflict.b.block {
        true => Fence::Block,
        false => Fence::Device,
    }
}
