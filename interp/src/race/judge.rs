//! Judges the lanes of an access that a comparison of numbers could not clear, one by one: whether the order covers
//! each earlier access, and otherwise which kind of conflict there is.

use super::access::ShadowId;
use super::detector::Detector;
use super::epoch::{self, ATOMIC, Entry, ONE, PLACE, WARP, reach, reaching};
use super::report::Side;
use super::shadow::{Cells, Lanes};
use super::verdict::{self, Facts, Group, History, RaceKind, Verdict, verdict};
use crate::config::Check;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::machine::ops::element::{self, lane_value};
use crate::observe::Access;

/// Lanes of an access that may conflict with an earlier one.
struct Suspects<'a> {
    access: &'a Access<'a>,
    at: ShadowId,
    lanes: &'a Lanes,
    /// The distance in bytes from a lane's first byte to the current cell.
    within: u32,
    /// Bytes of a cell as a power of two.
    shift: u32,
    /// By lane, its first byte in the program's memory.
    bytes: &'a dyn Fn(usize) -> *const u8,
}

impl Detector<'_> {
    /// Judges some lanes of an access: those that a comparison could not clear, and those that write the same place as
    /// a lower one. `offset`: the offset of each lane's first byte in its memory.
    #[inline(never)]
    pub(super) fn judge(
        &mut self,
        access: &Access<'_>,
        at: ShadowId,
        lanes: &Lanes,
        within: u32,
        offset: &dyn Fn(usize) -> usize,
        (bad, lost): (u32, u32),
    ) {
        let memory = match at {
            ShadowId::Shared => access.memory,
            ShadowId::Region(index) => self.subject.map.regions[index].bytes.cast_const(),
        };
        let suspects = Suspects {
            access,
            at,
            lanes,
            within,
            shift: self.cells(at).shift,
            bytes: &|lane| memory.wrapping_add(offset(lane)),
        };
        self.judged += 1;
        if matches!(at, ShadowId::Shared) {
            self.repeats.spoil();
        }
        self.judge_lanes(&suspects, bad);
        self.judge_stores(&suspects, lost);
    }

    /// Judges lanes that a comparison of numbers could not clear.
    #[inline(never)]
    fn judge_lanes(&mut self, suspects: &Suspects<'_>, bad: u32) {
        let mut cells = std::mem::take(self.cells(suspects.at));
        cells.prepare_reads();
        for lane in LaneMask(bad) {
            let me = suspects.lanes.tag | lane as u32;
            let cell = suspects.lanes.cells[lane] as usize;
            match suspects.access.site.op {
                AccessOp::Load => self.read(suspects, &mut cells, cell, me),
                AccessOp::Store => {
                    let last = cells.write[cell];
                    if !self.is_ordered(suspects.at, last, me) {
                        let seen = self.has_seen(suspects.at, &cells, cell, me);
                        self.conflict(suspects, last, me, seen);
                    }
                    self.against_readers(suspects, &cells, cell, me);
                    let at = (last & 31) as usize;
                    let now = last & !31 == suspects.lanes.tag
                        && suspects.lanes.mask >> at & 1 == 1
                        && suspects.lanes.cells[at] as usize == cell;
                    // If several lanes of one instruction write, the lowest one's value stays.
                    if !(now && at < lane) {
                        cells.write[cell] = me;
                    }
                    cells.read[cell] = 0;
                }
                AccessOp::Atomic => {
                    let last = cells.write[cell];
                    self.against(suspects, last, me);
                    let readers = cells.read[cell];
                    if readers & ATOMIC == 0 {
                        self.against_readers(suspects, &cells, cell, me);
                        cells.read[cell] = me | ATOMIC;
                    } else {
                        if self.subject.block_scopes {
                            self.against_readers(suspects, &cells, cell, me);
                        }
                        self.join(suspects.at, &mut cells, cell, me | ATOMIC);
                    }
                }
            }
        }
        *self.cells(suspects.at) = cells;
    }

    fn read(&mut self, suspects: &Suspects<'_>, cells: &mut Cells, cell: usize, me: u32) {
        let last = cells.write[cell];
        self.against(suspects, last, me);
        let readers = cells.read[cell];
        if readers & ATOMIC != 0 {
            self.against_readers(suspects, cells, cell, me);
            // Atomics are also writes. If several conflict with the read, the last one is kept: one has been reported.
            cells.write[cell] = readers & PLACE;
            cells.read[cell] = me;
        } else {
            self.join(suspects.at, cells, cell, me);
        }
    }

    /// Adds a reader (or an atomic) to the others.
    fn join(&mut self, at: ShadowId, cells: &mut Cells, cell: usize, me: u32) {
        let readers = cells.read[cell];
        if readers == 0 || self.all_ordered(at, cells, cell, me & !ATOMIC) {
            cells.read[cell] = me;
            return;
        }
        let bases = self.table(at).bases();
        if bases.covers(readers & !ATOMIC, self.subject.exact) {
            return;
        }
        let same = |a: u32, b: u32| {
            let (a_entry, b_entry) = (self.table(at).entry(a), self.table(at).entry(b));
            if a_entry.block != b_entry.block {
                epoch::GRID
            } else if a_entry.warp != b_entry.warp {
                epoch::BLOCK
            } else if (a ^ b) & 31 != 0 {
                WARP
            } else {
                ONE
            }
        };
        let distance = same(readers, me);
        let wider = distance.max(reach(readers));
        if self.subject.exact {
            let key = cell as u32;
            if reach(readers) == ONE {
                cells.many.insert(key, vec![readers & PLACE]);
            }
            let all = cells.many.entry(key).or_default();
            all.retain(|&reader| same(reader, me) != ONE);
            all.push(me & PLACE);
        }
        if wider > reach(readers) || same(cells.other[cell], me) < wider {
            cells.other[cell] = readers & PLACE;
        }
        cells.read[cell] = reaching(me, wider);
    }

    /// Whether all readers (or atomics) are ordered before `me`.
    fn all_ordered(&self, at: ShadowId, cells: &Cells, cell: usize, me: u32) -> bool {
        let readers = cells.read[cell];
        if readers == 0 {
            return true;
        }
        let many = || cells.many.get(&(cell as u32)).map_or(&[][..], |all| all);
        let last = self.is_ordered(at, readers, me);
        match reach(readers) {
            ONE => last,
            _ if self.subject.exact => many().iter().all(|&one| self.is_ordered(at, one, me)),
            // Only an order of the whole reach counts, such as a barrier or a `__syncwarp` of all lanes. An order of
            // single threads says nothing about the other readers.
            reach => {
                let entry = self.table(at).entry(readers);
                let block = u64::from(entry.block) == self.resident.block;
                let order = &self.resident.order;
                match reach {
                    WARP => block && order.all_lanes(entry.warp.into(), entry.time, self.warp),
                    epoch::BLOCK => block && order.past_barrier(entry.time),
                    _ => false,
                }
            }
        }
    }

    pub(super) fn is_ordered(&self, at: ShadowId, tag: u32, me: u32) -> bool {
        if tag & PLACE < 32 {
            return true;
        }
        let entry = self.table(at).entry(tag);
        let from = (u32::from(entry.warp), tag & 31);
        let to = (self.warp, me & 31);
        if u64::from(entry.block) == self.resident.block {
            self.resident.order.in_block(from, entry.time, to)
        } else {
            let thread = 32 * from.0 + from.1;
            self.resident
                .order
                .acquired(entry.block, thread, entry.time, to)
        }
    }

    /// Compares an access with an earlier one.
    fn against(&mut self, suspects: &Suspects<'_>, tag: u32, me: u32) {
        if !self.is_ordered(suspects.at, tag, me) {
            self.conflict(suspects, tag, me, false);
        }
    }

    /// Whether the thread, or one that happens before it, has read the cell since the last write. If so, the current
    /// write is the later one for all threads that access the place with `volatile` or atomic accesses.
    fn has_seen(&self, at: ShadowId, cells: &Cells, cell: usize, me: u32) -> bool {
        let readers = cells.read[cell];
        if readers == 0 {
            return false;
        }
        let many = cells.many.get(&(cell as u32)).map_or(&[][..], |all| all);
        let last = [readers & PLACE];
        let mut all = last.iter().chain(many);
        all.any(|&reader| self.is_ordered(at, reader, me))
    }

    /// Compares a write with all earlier readers. The first conflict is enough.
    fn against_readers(&mut self, suspects: &Suspects<'_>, cells: &Cells, cell: usize, me: u32) {
        if self.all_ordered(suspects.at, cells, cell, me) {
            return;
        }
        let readers = cells.read[cell];
        let mut candidates = Vec::new();
        if reach(readers) != ONE {
            if self.subject.exact
                && let Some(all) = cells.many.get(&(cell as u32))
            {
                candidates.extend_from_slice(all);
            } else {
                candidates.push(cells.other[cell]);
            }
        }
        candidates.push(readers & PLACE);
        for tag in candidates {
            if !self.is_ordered(suspects.at, tag, me) {
                self.conflict(suspects, tag, me, false);
                return;
            }
        }
    }

    /// Judges lanes of one instruction that write the same place as a lower one.
    fn judge_stores(&mut self, suspects: &Suspects<'_>, lost: u32) {
        for lane in LaneMask(lost) {
            let cell = suspects.lanes.cells[lane] as usize;
            let winner = self.cells(suspects.at).write[cell];
            self.conflict(suspects, winner, suspects.lanes.tag | lane as u32, false);
        }
    }

    /// Whether the earlier atomic is itself the release that the thread acquired: the last of several blocks may write
    /// the counter that all have incremented.
    fn has_acquired(&self, suspects: &Suspects<'_>, earlier: &Entry, tag: u32, me: u32) -> bool {
        let lane = (me & 31) as usize;
        let within = u64::from(suspects.within);
        let released = match suspects.at {
            ShadowId::Shared => {
                let offset = u64::from(suspects.lanes.cells[lane]) << suspects.shift;
                self.resident.released.get(&((offset - within) as u32))
            }
            ShadowId::Region(index) => {
                let offset = u64::from(suspects.lanes.cells[lane]) << suspects.shift;
                let base = self.subject.map.regions[index].base;
                self.global.released.get(&(base + offset - within))
            }
        };
        let thread = 32 * u32::from(earlier.warp) + (tag & 31);
        released
            .and_then(|released| released.by.get(&(earlier.block, thread)))
            .is_some_and(|&time| {
                let to = (self.warp, me & 31);
                self.resident
                    .order
                    .acquired(earlier.block, thread, time, to)
            })
    }

    /// Reports two unordered accesses. `seen`: the later one's thread has read what the earlier one wrote.
    #[cold]
    fn conflict(&mut self, suspects: &Suspects<'_>, tag: u32, me: u32, seen: bool) {
        let earlier = *self.table(suspects.at).entry(tag);
        let (lane, other_lane) = ((me & 31) as usize, (tag & 31) as usize);
        let mut facts = self.facts(suspects, &earlier, tag, me, seen);
        let place = suspects.place(lane);
        let at_once = facts.group == Group::Instruction;
        let (op, other_op) = (facts.later.op, facts.earlier.op);
        let values = Values::of(suspects, lane);
        let left = || match at_once {
            true => values.written(other_lane),
            false => values.before(),
        };
        if !facts.is_settled() {
            let thread = 32 * u32::from(earlier.warp) + (tag & 31);
            let to = (self.warp, me & 31);
            let order = &self.resident.order;
            let stores = op == AccessOp::Store && other_op == AccessOp::Store;
            facts.history = History {
                has_acquired: other_op == AccessOp::Atomic
                    && self.has_acquired(suspects, &earlier, tag, me),
                misses_fence: order.misses_fence(earlier.block, thread, earlier.time, to),
                same_value: stores && values.are_same(values.written(lane), left()),
            };
        }
        let kind = match verdict(&facts) {
            Verdict::Fine => return,
            Verdict::Polled => return self.races.polled(place),
            Verdict::Race(kind) => kind,
        };
        let wanted = match kind {
            RaceKind::LockstepVolatile | RaceKind::LockstepPlain | RaceKind::OnlyExchange => {
                Check::WarpSynchronous
            }
            RaceKind::Unordered
            | RaceKind::UnlessPolled
            | RaceKind::LockWithoutFence
            | RaceKind::OneInstruction
            | RaceKind::SameValue => Check::Race,
        };
        if !self.subject.checks.has(wanted) {
            return;
        }
        let first = Side {
            counter: earlier.counter,
            block: u64::from(earlier.block),
            warp: earlier.warp.into(),
            lane: other_lane as u32,
            // Atomics may have come between the store and this atomic.
            value: (other_op == AccessOp::Store && op != AccessOp::Atomic).then(left),
            volatile: earlier.volatile,
        };
        let second = Side {
            counter: suspects.access.counter,
            block: self.resident.block,
            warp: self.warp,
            lane: lane as u32,
            value: match op {
                AccessOp::Load => Some(values.before()),
                AccessOp::Store => Some(values.written(lane)),
                AccessOp::Atomic => None,
            },
            volatile: facts.later.volatile,
        };
        let crosses = facts.group == Group::Grid;
        self.races
            .add(kind, first, second, place, self.judged, crosses);
    }

    /// The facts that the verdict on two accesses depends on, except for their history.
    fn facts(
        &self,
        suspects: &Suspects<'_>,
        earlier: &Entry,
        tag: u32,
        me: u32,
        has_seen: bool,
    ) -> Facts {
        let Suspects { access, lanes, .. } = suspects;
        let subject = self.subject;
        let (lane, other_lane) = ((me & 31) as usize, (tag & 31) as usize);
        let side = |counter: u32, volatile| {
            let site = &subject.code.counters[counter as usize];
            verdict::Side {
                op: site.op,
                volatile,
                block_scope: site.block_scope,
                role: subject.roles[counter as usize],
            }
        };
        let group = if u64::from(earlier.block) != self.resident.block {
            Group::Grid
        } else if u32::from(earlier.warp) != self.warp {
            Group::Block
        } else if tag & PLACE & !31 == lanes.tag
            && access.site.op == AccessOp::Store
            && lanes.mask >> other_lane & 1 == 1
            && lanes.cells[other_lane] == lanes.cells[lane]
        {
            Group::Instruction
        } else {
            Group::Warp
        };
        Facts {
            earlier: side(earlier.counter, earlier.volatile),
            later: side(access.counter, access.site.access.volatile),
            group,
            fences: subject.fences,
            independent_lanes: subject.independent_lanes,
            has_seen,
            exchanged: group == Group::Warp && {
                let (from, to) = ((u32::from(earlier.warp), tag & 31), (self.warp, me & 31));
                self.resident.order.exchanged(from, earlier.time, to)
            },
            history: History::default(),
        }
    }
}

impl Suspects<'_> {
    /// The region, if it is global memory, and the offset of a lane's cell.
    fn place(&self, lane: usize) -> (Option<usize>, u64) {
        let offset = u64::from(self.lanes.cells[lane]) << self.shift;
        match self.at {
            ShadowId::Shared => (None, offset),
            ShadowId::Region(index) => (Some(index), offset),
        }
    }
}

/// The values of an access at a lane's cell.
struct Values<'a> {
    suspects: &'a Suspects<'a>,
    lane: usize,
    component: u32,
}

impl Values<'_> {
    fn of<'a>(suspects: &'a Suspects<'a>, lane: usize) -> Values<'a> {
        let component = suspects.within / suspects.access.site.access.ty.bytes();
        Values {
            suspects,
            lane,
            component,
        }
    }

    /// The value that a lane of the access stores.
    fn written(&self, lane: usize) -> u64 {
        let (r, site) = (self.suspects.access.r, self.suspects.access.site);
        let register = site.values[self.component as usize % 4];
        lane_value(r, site.access.ty, register, lane)
    }

    /// The value in memory there.
    fn before(&self) -> u64 {
        let ty = self.suspects.access.site.access.ty;
        let first = (self.suspects.bytes)(self.lane);
        // SAFETY: the lane's bytes are in the memory.
        unsafe {
            element::read(
                ty,
                first.wrapping_add((self.component * ty.bytes()) as usize),
            )
        }
    }

    /// Whether two values are the same in memory.
    fn are_same(&self, a: u64, b: u64) -> bool {
        let bits = 8 * self.suspects.access.site.access.ty.bytes();
        (a ^ b) & (u64::MAX >> (64 - bits.min(64))) == 0
    }
}
