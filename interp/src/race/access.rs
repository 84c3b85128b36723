//! Applies an access to the shadow memory: determines the memory it lies in, and visits its cells one after the other.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use super::deferred::Footprint;
use super::detector::Detector;
use super::epoch::{Bases, Entry, Table};
use super::shadow::{Cells, Lanes, LineRun, Spread};
use super::touches::gathered;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::observe::Access;

/// The features of the CPU, detected once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cpu {
    Any,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Cpu {
    pub(crate) fn detect() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("bmi2")
            {
                return Cpu::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                return Cpu::Avx2;
            }
        }
        Cpu::Any
    }
}

/// An offset in a memory: 32 bits in shared memory, 64 bits in a region.
pub(crate) trait ByteOffset: Copy {
    /// The number of its cell. There are fewer than 2^32.
    fn cell(self, shift: u32) -> u32;
    fn widened(self) -> usize;
}

impl ByteOffset for u32 {
    #[inline(always)]
    fn cell(self, shift: u32) -> u32 {
        self >> shift
    }

    fn widened(self) -> usize {
        self as usize
    }
}

impl ByteOffset for u64 {
    #[inline(always)]
    fn cell(self, shift: u32) -> u32 {
        (self >> shift) as u32
    }

    fn widened(self) -> usize {
        self as usize
    }
}

/// The shadow of one memory.
#[derive(Clone, Copy)]
pub(crate) enum ShadowId {
    Shared,
    Region(usize),
}

impl Detector<'_> {
    /// Records an access to shared memory, by offset. `run`: whether its lanes are consecutive. Returns the lanes that
    /// read uninitialised values, by component.
    pub(crate) fn shared(
        &mut self,
        access: &Access<'_>,
        offsets: &[u32; 32],
        run: bool,
    ) -> [u32; 4] {
        self.flush();
        self.resident.deferred.may_defer = false;
        let table = &mut self.resident.table;
        if table.is_full() {
            // Dropping the history can miss races, but gives no false ones.
            table.clear();
            self.resident.cells.settle();
        }
        let volatile = access.site.access.volatile;
        if volatile || access.site.op == AccessOp::Atomic {
            self.synchronise(access, |lane| u64::from(offsets[lane]), true);
        }
        self.resident.cells.prepare(access.site.width_bytes);
        let tag = self.tag(access);
        self.note(access, ShadowId::Shared, (tag, access.mask), offsets, run)
    }

    /// Defers a request that matches its site's pattern, or records it by lines, if possible. `is_clean`: no lane holds
    /// an uninitialised value.
    #[inline(always)]
    pub(crate) fn shared_quickly(
        &mut self,
        access: &Access<'_>,
        footprint: &Footprint<'_>,
        is_clean: bool,
    ) -> bool {
        access.site.op == AccessOp::Load && self.defer(access, footprint)
            || footprint.run && is_clean && self.shared_in_lines(access, footprint.lowest)
    }

    /// Records a run of shared memory by lines, if that is possible and the run has no conflict.
    #[inline(always)]
    fn shared_in_lines(&mut self, access: &Access<'_>, offset: u32) -> bool {
        if access.mask != u32::MAX
            || access.site.access.volatile
            || access.site.op == AccessOp::Atomic
            || self.resident.table.is_full()
            || !self.subject.quick
        {
            return false;
        }
        self.flush();
        self.resident.deferred.may_defer = false;
        let tag = self.tag(access);
        let run = self.line_run(access, offset, tag);
        self.resident.cells.run(&run, self.resident.table.bases())
    }

    /// A run of shared memory.
    #[inline(always)]
    pub(super) fn line_run(&self, access: &Access<'_>, offset: u32, tag: u32) -> LineRun {
        let stores = access.site.op == AccessOp::Store;
        LineRun {
            offset: offset.into(),
            width_bytes: access.site.width_bytes,
            tag,
            stores,
            needs_values: !stores && self.subject.unset(),
        }
    }

    /// Performs acquires and releases in global memory.
    pub(crate) fn synchronise_global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        let sync = access.site.access.volatile || access.site.op == AccessOp::Atomic;
        if sync && self.subject.fences {
            self.synchronise(access, |lane| addresses[lane], false);
        }
    }

    /// Records an access of lanes in one region that the kernel writes, by their offsets.
    pub(crate) fn in_region(
        &mut self,
        access: &Access<'_>,
        region: usize,
        mask: u32,
        offsets: &[u64; 32],
        run: bool,
    ) {
        self.make_room();
        // Uninitialised reads are checked elsewhere.
        if run && self.in_lines(access, region, mask, offsets[0], false) {
            return;
        }
        self.global.regions[region].prepare(access.site.width_bytes);
        let tag = self.global_tag(access);
        let at = ShadowId::Region(region);
        self.note(access, at, (tag, mask), offsets, run);
    }

    /// Performs the acquires and releases of an atomic or `volatile` access.
    pub(crate) fn synchronise(
        &mut self,
        access: &Access<'_>,
        at: impl Fn(usize) -> u64,
        shared: bool,
    ) {
        if !self.subject.fences {
            return;
        }
        let (loads, stores) = match access.site.op {
            AccessOp::Load => (true, false),
            AccessOp::Store => (false, true),
            AccessOp::Atomic => (true, true),
        };
        let resident = &mut self.resident;
        let device = !access.site.access.block_scope;
        for lane in LaneMask(access.mask) {
            let thread = 32 * self.warp + lane as u32;
            let at = at(lane);
            if loads {
                let released = if shared {
                    resident.released.get(&(at as u32))
                } else {
                    self.global.released.get(&at)
                };
                if let Some(released) = released {
                    let takes = self.subject.roles[access.counter as usize].locks;
                    resident.order.acquire(thread, released, device, takes);
                }
            }
            if stores && resident.order.has_fenced(thread) {
                let released = if shared {
                    resident.released.entry(at as u32).or_default()
                } else {
                    self.global.released.entry(at).or_default()
                };
                resident.order.release(thread, released, device);
            }
        }
    }

    /// The entry of an access to shared memory, as a tag.
    #[inline(always)]
    pub(crate) fn tag(&mut self, access: &Access<'_>) -> u32 {
        let resident = &mut self.resident;
        resident.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: resident.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile: access.site.access.volatile,
        })
    }

    /// Makes space before an entry is added to those of global memory.
    fn make_room(&mut self) {
        let is_full = self.global.table.is_full();
        if self.global.table.is_long() {
            self.global.table.compact(&mut self.global.regions);
        }
        if is_full && self.global.table.stays_full() {
            if self.subject.is_part {
                self.global.forgotten = gathered(self.touches());
            }
            self.races.forgets = true;
            self.global.table.clear();
            self.global.regions.iter_mut().for_each(Cells::settle);
        }
    }

    /// The entry of an access to global memory, as a tag.
    #[inline(always)]
    fn global_tag(&mut self, access: &Access<'_>) -> u32 {
        self.global.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: self.resident.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile: access.site.access.volatile,
        })
    }

    /// Records a run by lines, if that is possible and the run has no conflict.
    #[inline(always)]
    pub(crate) fn in_lines(
        &mut self,
        access: &Access<'_>,
        region: usize,
        mask: u32,
        offset: u64,
        needs_values: bool,
    ) -> bool {
        if mask != u32::MAX
            || access.site.access.volatile
            || access.site.op == AccessOp::Atomic
            || self.global.table.is_long()
            || !self.subject.quick
        {
            return false;
        }
        let run = LineRun {
            offset,
            width_bytes: access.site.width_bytes,
            tag: self.global_tag(access),
            stores: access.site.op == AccessOp::Store,
            needs_values,
        };
        self.global.regions[region].run(&run, self.global.table.bases())
    }

    pub(crate) fn cells(&mut self, at: ShadowId) -> &mut Cells {
        match at {
            ShadowId::Shared => &mut self.resident.cells,
            ShadowId::Region(index) => &mut self.global.regions[index],
        }
    }

    pub(super) fn table(&self, at: ShadowId) -> &Table {
        match at {
            ShadowId::Shared => &self.resident.table,
            ShadowId::Region(_) => &self.global.table,
        }
    }

    /// Records an access of lanes at these offsets in the cells. `run`: whether they are consecutive. Returns the lanes
    /// that read uninitialised values, by component.
    pub(super) fn note<T: ByteOffset>(
        &mut self,
        access: &Access<'_>,
        at: ShadowId,
        who: (u32, u32),
        offsets: &[T; 32],
        run: bool,
    ) -> [u32; 4] {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(
                enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt"
            )]
            fn avx512<T: ByteOffset>(
                detector: &mut Detector<'_>,
                access: &Access<'_>,
                at: ShadowId,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                detector.walk(access, at, who, offsets, run)
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<T: ByteOffset>(
                detector: &mut Detector<'_>,
                access: &Access<'_>,
                at: ShadowId,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                detector.walk(access, at, who, offsets, run)
            }
            match self.cpu {
                // SAFETY: the CPU has the features.
                Cpu::Avx512 => return unsafe { avx512(self, access, at, who, offsets, run) },
                // SAFETY: the CPU has the features.
                Cpu::Avx2 => return unsafe { avx2(self, access, at, who, offsets, run) },
                Cpu::Any => {}
            }
        }
        self.walk(access, at, who, offsets, run)
    }

    /// Records a run from the cell `first` on, if no lane has to be judged.
    #[inline(always)]
    fn at_once(
        &mut self,
        access: &Access<'_>,
        at: ShadowId,
        (tag, mask): (u32, u32),
        first: usize,
        bases: Bases,
    ) -> bool {
        let exact = self.subject.exact;
        let cells = self.cells(at);
        cells.open_run(first);
        match access.site.op {
            AccessOp::Load => {
                cells.prepare_reads();
                cells.read_run(first, (mask, tag), bases, exact)
            }
            AccessOp::Store => cells.write_run(first, (mask, tag), bases),
            AccessOp::Atomic => false,
        }
    }

    /// Records lanes in two runs, if none has to be judged.
    #[inline(always)]
    fn halves(&mut self, access: &Access<'_>, at: ShadowId, lanes: &Lanes, bases: Bases) -> bool {
        let Some(firsts) = lanes.halves() else {
            return false;
        };
        if access.site.op == AccessOp::Atomic {
            return false;
        }
        let stores = access.site.op == AccessOp::Store;
        let noted = self.cells(at).halves(firsts, lanes.tag, stores, bases);
        #[cfg(test)]
        crate::tests::HALVES.set(crate::tests::HALVES.get() + usize::from(noted));
        noted
    }

    /// Records lanes with nearby cells, each touched by one lane, if none has to be judged.
    #[inline(always)]
    fn spread(&mut self, access: &Access<'_>, at: ShadowId, lanes: &Lanes, bases: Bases) -> bool {
        if access.site.op == AccessOp::Atomic || !self.subject.quick {
            return false;
        }
        let exact = self.subject.exact;
        let stores = access.site.op == AccessOp::Store;
        let cells = self.cells(at);
        let each = (access.site.width_bytes >> cells.shift) as usize;
        // No closure, because it would not be compiled with the level's features.
        let noted = match Spread::of(lanes, each, cells.count()) {
            Some(spread) => cells.spread(&spread, lanes.tag, stores, (bases, exact)),
            None => false,
        };
        #[cfg(test)]
        crate::tests::SPREAD.set(crate::tests::SPREAD.get() + usize::from(noted));
        noted
    }

    /// Records all cells of an access.
    #[inline(always)]
    fn walk<T: ByteOffset>(
        &mut self,
        access: &Access<'_>,
        at: ShadowId,
        (tag, mask): (u32, u32),
        offsets: &[T; 32],
        run: bool,
    ) -> [u32; 4] {
        let mut unset = [0; 4];
        let component = access.site.access.ty.bytes();
        let bases = self.table(at).bases();
        let cells = self.cells(at);
        let shift = cells.shift;
        let one_cell = self.subject.quick && access.site.width_bytes == 1 << shift;
        let mut first = (run && one_cell).then(|| offsets[0].cell(shift) as usize);
        if let Some(first) = first
            && self.at_once(access, at, (tag, mask), first, bases)
        {
            return unset;
        }
        let mut lanes = Lanes {
            cells: [0; 32],
            mask,
            tag,
        };
        let spare = offsets[mask.trailing_zeros() as usize & 31].cell(shift);
        for lane in 0..32 {
            let on = 0u32.wrapping_sub(mask >> lane & 1);
            // In a run, all lanes lie in the memory.
            lanes.cells[lane] = (offsets[lane].cell(shift) & on) | (spare & !on);
        }
        if first.is_none() && one_cell {
            first = lanes.run();
            if let Some(first) = first
                && self.at_once(access, at, (tag, mask), first, bases)
            {
                return unset;
            }
        }
        if first.is_none() && one_cell && self.halves(access, at, &lanes, bases) {
            return unset;
        }
        if first.is_none() && self.spread(access, at, &lanes, bases) {
            return unset;
        }
        let mut within = 0;
        loop {
            self.cells(at).open(&lanes);
            let (bad, lost) = match access.site.op {
                AccessOp::Load => {
                    let exact = self.subject.exact;
                    let cells = self.cells(at);
                    cells.prepare_reads();
                    let (bad, new) = cells.read(&lanes, bases, exact);
                    unset[(within / component) as usize % 4] |= new;
                    (bad, 0)
                }
                AccessOp::Store => self.cells(at).write(&lanes, bases),
                AccessOp::Atomic => {
                    let (bad, new) = self.mark_updates(at, &lanes, bases);
                    unset[0] |= new;
                    (bad, 0)
                }
            };
            if bad | lost != 0 {
                self.judge(
                    access,
                    at,
                    &lanes,
                    within,
                    &|lane| offsets[lane].widened(),
                    (bad, lost),
                );
            }
            within += 1 << shift;
            if within >= access.site.width_bytes {
                return unset;
            }
            for cell in &mut lanes.cells {
                *cell += 1;
            }
        }
    }

    /// Marks lanes that read and write. Returns those that have to be judged, and those whose cell is unwritten.
    #[inline(always)]
    fn mark_updates(&mut self, at: ShadowId, lanes: &Lanes, bases: Bases) -> (u32, u32) {
        let slowly = self.subject.exact || self.subject.block_scopes || !self.subject.quick;
        let cells = self.cells(at);
        let mut unset = 0;
        for lane in LaneMask(lanes.mask) {
            let new = cells.write[lanes.cells[lane] as usize] == 0;
            unset |= u32::from(new) << lane;
        }
        cells.prepare_reads();
        let bad = if slowly {
            lanes.mask
        } else {
            cells.atomic(lanes, bases)
        };
        (bad, unset)
    }
}
