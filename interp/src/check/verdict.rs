//! The lanes of an access that no comparison of numbers could clear, one by one: what the order says of each earlier access,
//! and what kind of conflict there is if nothing does.

use super::cells::{self, ATOMIC, Cells, Entry, Lanes, ONE, PLACE, WARP, reach, reaching};
use super::found::{Class, Side};
use super::{At, Checker};
use crate::config::Check;
use crate::mask::LaneMask;
use crate::observer::Access;
use crate::ops::element::lane_value;
use crate::trap::AccessOp;

/// Lanes of an access that an earlier one may be in conflict with.
struct Suspects<'a> {
    access: &'a Access<'a>,
    at: At,
    lanes: &'a Lanes,
    /// Bytes from a lane's first byte to the cell in hand.
    within: u32,
    /// Bytes of a cell as a power of two.
    shift: u32,
    /// By lane, its first byte in the program's memory.
    bytes: &'a dyn Fn(usize) -> *const u8,
}

impl Checker<'_> {
    /// Judges some lanes of an access: those that no comparison could clear, and those that write what a lower one
    /// writes. `offset`: of each lane's first byte in its memory.
    #[inline(never)]
    pub(super) fn judge(
        &mut self,
        access: &Access<'_>,
        at: At,
        lanes: &Lanes,
        within: u32,
        offset: &dyn Fn(usize) -> usize,
        (bad, lost): (u32, u32),
    ) {
        let memory = match at {
            At::Shared => access.memory,
            At::Region(index) => self.subject.map.regions[index].bytes.cast_const(),
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
        self.judge_lanes(&suspects, bad);
        self.judge_stores(&suspects, lost);
    }

    /// Lanes that no comparison of numbers could clear.
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
                    // Of several lanes of one instruction, the lowest one's value stays.
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
            // They were writes, too. Of several that are in conflict with the read the last one stays: one has been found.
            cells.write[cell] = readers & PLACE;
            cells.read[cell] = me;
        } else {
            self.join(suspects.at, cells, cell, me);
        }
    }

    /// Puts a reader (or an atomic) to the others.
    fn join(&mut self, at: At, cells: &mut Cells, cell: usize, me: u32) {
        let readers = cells.read[cell];
        if readers == 0 || self.all_ordered(at, cells, cell, me & !ATOMIC) {
            cells.read[cell] = me;
            return;
        }
        let bases = self.table(at).bases;
        if bases.covers(readers & !ATOMIC, self.subject.exact) {
            return;
        }
        let same = |a: u32, b: u32| {
            let (a_entry, b_entry) = (self.table(at).entry(a), self.table(at).entry(b));
            if a_entry.block != b_entry.block {
                cells::GRID
            } else if a_entry.warp != b_entry.warp {
                cells::BLOCK
            } else if (a ^ b) & 31 != 0 {
                WARP
            } else {
                ONE
            }
        };
        let apart = same(readers, me);
        let wider = apart.max(reach(readers));
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
    fn all_ordered(&self, at: At, cells: &Cells, cell: usize, me: u32) -> bool {
        let readers = cells.read[cell];
        if readers == 0 {
            return true;
        }
        let many = || cells.many.get(&(cell as u32)).map_or(&[][..], |all| all);
        let last = self.is_ordered(at, readers, me);
        match reach(readers) {
            ONE => last,
            _ if self.subject.exact => many().iter().all(|&one| self.is_ordered(at, one, me)),
            // Nothing orders one of them but what orders all: a `__syncwarp` of all lanes, a barrier. A thread's own are no
            // measure of that.
            reach => {
                let entry = self.table(at).entry(readers);
                let block = u64::from(entry.block) == self.here.block;
                let order = &self.here.order;
                match reach {
                    WARP => block && order.all_lanes(entry.warp.into(), entry.time, self.warp),
                    cells::BLOCK => block && order.past_barrier(entry.time),
                    _ => false,
                }
            }
        }
    }

    pub(super) fn is_ordered(&self, at: At, tag: u32, me: u32) -> bool {
        if tag & PLACE < 32 {
            return true;
        }
        let entry = self.table(at).entry(tag);
        let from = (u32::from(entry.warp), tag & 31);
        let to = (self.warp, me & 31);
        if u64::from(entry.block) == self.here.block {
            self.here.order.in_block(from, entry.time, to)
        } else {
            let thread = 32 * from.0 + from.1;
            self.here
                .order
                .acquired(entry.block, thread, entry.time, to)
        }
    }

    /// An access against an earlier one.
    fn against(&mut self, suspects: &Suspects<'_>, tag: u32, me: u32) {
        if !self.is_ordered(suspects.at, tag, me) {
            self.conflict(suspects, tag, me, false);
        }
    }

    /// Whether the thread, or one it is ordered after, has read the cell since it was written last: then this write is the later one, for all
    /// threads that look at it with `volatile` or atomic accesses.
    fn has_seen(&self, at: At, cells: &Cells, cell: usize, me: u32) -> bool {
        let readers = cells.read[cell];
        if readers == 0 {
            return false;
        }
        let many = cells.many.get(&(cell as u32)).map_or(&[][..], |all| all);
        let last = [readers & PLACE];
        let mut all = last.iter().chain(many);
        all.any(|&reader| self.is_ordered(at, reader, me))
    }

    /// A write against all earlier readers; the first that is in conflict is enough.
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

    /// Lanes of one instruction that write what a lower one writes.
    fn judge_stores(&mut self, suspects: &Suspects<'_>, lost: u32) {
        for lane in LaneMask(lost) {
            let cell = suspects.lanes.cells[lane] as usize;
            let winner = self.cells(suspects.at).write[cell];
            self.conflict(suspects, winner, suspects.lanes.tag | lane as u32, false);
        }
    }

    /// Whether an earlier atomic was the release itself that the thread took up: the last of several blocks may write the
    /// counter that they all have counted up.
    fn has_acquired(&self, suspects: &Suspects<'_>, earlier: &Entry, tag: u32, me: u32) -> bool {
        let lane = (me & 31) as usize;
        let within = u64::from(suspects.within);
        let released = match suspects.at {
            At::Shared => {
                let offset = u64::from(suspects.lanes.cells[lane]) << suspects.shift;
                self.here.released.get(&((offset - within) as u32))
            }
            At::Region(index) => {
                let offset = u64::from(suspects.lanes.cells[lane]) << suspects.shift;
                let base = self.subject.map.regions[index].base;
                self.released.get(&(base + offset - within))
            }
        };
        let thread = 32 * u32::from(earlier.warp) + (tag & 31);
        released
            .and_then(|released| released.by.get(&(earlier.block, thread)))
            .is_some_and(|&time| {
                let to = (self.warp, me & 31);
                self.here.order.acquired(earlier.block, thread, time, to)
            })
    }

    /// Two accesses that nothing orders; `seen`: the later one's thread has read what the earlier one wrote.
    #[cold]
    fn conflict(&mut self, suspects: &Suspects<'_>, tag: u32, me: u32, seen: bool) {
        let earlier = *self.table(suspects.at).entry(tag);
        let site = suspects.access.site;
        let subject = self.subject;
        let other_op = subject.code.counters[earlier.counter as usize].op;
        let (lane, other_lane) = ((me & 31) as usize, (tag & 31) as usize);
        let same_block = u64::from(earlier.block) == self.here.block;
        let atomics = site.op == AccessOp::Atomic && other_op == AccessOp::Atomic;
        let in_block = |counter: u32| subject.code.counters[counter as usize].block_scope;
        // An atomic of block scope is one for the threads of its block.
        let narrow =
            atomics && !same_block && (site.access.block_scope || in_block(earlier.counter));
        if atomics && !narrow {
            return;
        }
        let same_warp = same_block && u32::from(earlier.warp) == self.warp;
        let cell = suspects.lanes.cells[lane];
        let now = same_warp
            && tag & PLACE & !31 == suspects.lanes.tag
            && site.op == AccessOp::Store
            && suspects.lanes.mask >> other_lane & 1 == 1
            && suspects.lanes.cells[other_lane] == cell;
        let atomic = site.op == AccessOp::Atomic || other_op == AccessOp::Atomic;
        let volatile = site.access.volatile && earlier.volatile;
        let talks = (site.op == AccessOp::Atomic || site.access.volatile)
            && (other_op == AccessOp::Atomic || earlier.volatile);
        let stores = site.op == AccessOp::Store && other_op == AccessOp::Store;
        let place = match suspects.at {
            At::Shared => (None, u64::from(cell) << suspects.shift),
            At::Region(index) => (Some(index), u64::from(cell) << suspects.shift),
        };
        let (mut may_be_flag, mut strong) = (false, false);
        if talks && !now && !narrow {
            // A flag or a lock that is polled: that is what they are for. `volatile` shared memory without any fence is no
            // flag but data.
            let apart = atomic || !same_warp && (!same_block || subject.fences);
            let legal = same_warp && (volatile || atomic) && subject.arch.number() < 70;
            let waits = |counter: u32| subject.waits[counter as usize];
            if waits(suspects.access.counter) || waits(earlier.counter) {
                self.found.polled(place);
                return;
            }
            // One that sets a flag, and one that looks whether it is set, and goes on if not.
            let sign = |counter: u32| subject.signs[counter as usize];
            let glance = !stores && sign(suspects.access.counter) && sign(earlier.counter);
            let writes = site.op == AccessOp::Store || other_op == AccessOp::Store;
            if legal || apart && (!writes || glance || stores && seen) {
                return;
            }
            (may_be_flag, strong) = (apart && !stores, apart);
        }
        let guess = |counter: u32| subject.guesses[counter as usize];
        if atomic && (guess(suspects.access.counter) || guess(earlier.counter)) {
            return;
        }
        if other_op == AccessOp::Atomic && !narrow && self.has_acquired(suspects, &earlier, tag, me)
        {
            return;
        }
        let component = suspects.within / site.access.ty.bytes();
        let register = site.values[component as usize % 4];
        let ty = site.access.ty;
        let written = |lane: usize| lane_value(suspects.access.r, ty, register, lane);
        // SAFETY: the lane's bytes are in the memory.
        let before = unsafe {
            let first = (suspects.bytes)(lane).wrapping_add((component * ty.bytes()) as usize);
            crate::ops::element::read(ty, first)
        };
        let cut = |bits: u64| match ty.bytes() {
            1 => bits & 0xff,
            2 => bits & 0xffff,
            4 => bits & 0xffff_ffff,
            _ => bits,
        };
        let same_value = stores
            && if now {
                cut(written(lane)) == cut(written(other_lane))
            } else {
                cut(written(lane)) == cut(before)
            };
        if same_value && strong {
            return;
        }
        let thread = 32 * u32::from(earlier.warp) + (tag & 31);
        let to = (self.warp, me & 31);
        let taken = self
            .here
            .order
            .is_taken(earlier.block, thread, earlier.time, to);
        let class = if same_value {
            Class::SameValue
        } else if now {
            Class::Together
        } else if taken {
            Class::Taken
        } else if same_warp && !may_be_flag {
            if volatile {
                Class::Lockstep
            } else {
                Class::LockstepPlain
            }
        } else if may_be_flag {
            Class::Unpolled
        } else {
            Class::Race
        };
        let wanted = match class {
            Class::Lockstep | Class::LockstepPlain => Check::WarpSynchronous,
            Class::Race | Class::Unpolled | Class::Taken | Class::Together | Class::SameValue => {
                Check::Race
            }
        };
        if !subject.checks.has(wanted) {
            return;
        }
        let block = self.here.block;
        let side = |counter: u32, block: u64, warp: u32, lane: usize, value, volatile| Side {
            counter,
            block,
            warp,
            lane: lane as u32,
            value,
            volatile,
        };
        let value = match site.op {
            AccessOp::Load => Some(before),
            AccessOp::Store => Some(written(lane)),
            AccessOp::Atomic => None,
        };
        let other_value = match other_op {
            AccessOp::Store if now => Some(written(other_lane)),
            AccessOp::Store => Some(before),
            AccessOp::Load | AccessOp::Atomic => None,
        };
        let first = side(
            earlier.counter,
            u64::from(earlier.block),
            earlier.warp.into(),
            other_lane,
            other_value,
            earlier.volatile,
        );
        let second = side(
            suspects.access.counter,
            block,
            self.warp,
            lane,
            value,
            site.access.volatile,
        );
        self.found
            .add(class, first, second, place, self.judged, !same_block);
    }
}
