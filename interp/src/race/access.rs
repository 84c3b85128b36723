//! An access on its way into the shadow memory: which memory it lies in, and its cells one after the other.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use crate::memory::map::GlobalRegion;
use dsl::ir::Space;

use super::epoch::{Bases, Entry, Table};
use super::shadow::{Cells, Lanes, LineRun};
use crate::check::Checker;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::observe::{Access, Like};

/// What the CPU can do: found out once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cpu {
    Any,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Cpu {
    pub(crate) fn at_hand() -> Cpu {
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

/// An offset in a memory: of 32 bits in shared memory, of 64 in a region.
pub(crate) trait ByteOffset: Copy {
    /// The number of its cell; there are fewer than 2^32.
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

/// Whether the lanes follow each other without gaps.
fn is_run(offsets: &[u64; 32], width: u64) -> bool {
    (0..32).fold(true, |run, lane| {
        run & (offsets[lane] == offsets[0] + lane as u64 * width)
    })
}

/// Whether it goes to memory that the host and other launches have to do with, too.
#[inline(always)]
fn is_global(access: &Access<'_>) -> bool {
    matches!(access.space, Space::Global | Space::Constant)
}

/// The memory of an access.
#[derive(Clone, Copy)]
pub(crate) enum ShadowId {
    Shared,
    Region(usize),
}

impl Checker<'_> {
    pub(crate) fn shared(&mut self, access: &Access<'_>, offsets: &[u32; 32], run: bool) {
        if access.space != Space::Shared || !self.shadows || access.mask == 0 {
            return;
        }
        self.flush();
        self.here.deferred.may_defer = false;
        let table = &mut self.here.table;
        if table.is_full() {
            // Rather than to be wrong, forget.
            table.clear();
            self.here.cells.settle();
        }
        let volatile = access.site.access.volatile;
        if volatile || access.site.op == AccessOp::Atomic {
            self.synchronise(access, |lane| u64::from(offsets[lane]), true);
        }
        self.here.cells.prepare(access.site.width_bytes);
        let tag = self.tag(access);
        let unset = self.note(access, ShadowId::Shared, (tag, access.mask), offsets, run);
        if unset != [0; 4] && self.subject.unset() {
            self.unset(access, unset, |lane| (None, u64::from(offsets[lane])));
            self.exchanged(access, ShadowId::Shared, access.mask, |lane| {
                offsets[lane].into()
            });
        }
    }

    pub(crate) fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        if !is_global(access) || !self.shadows || access.mask == 0 {
            return;
        }
        self.synchronise_global(access, addresses);
        let map = self.subject.map;
        let width = u64::from(access.site.width_bytes);
        let mut left = access.mask;
        while left != 0 {
            let first = addresses[left.trailing_zeros() as usize];
            let mut region = &map.regions[self.global.region_of[access.counter as usize] as usize];
            if !region.holds(first, width) {
                region = &map.regions[map.find(first) as usize];
                self.global.region_of[access.counter as usize] = region.index;
            }
            let mut inside = 0;
            for lane in 0..32 {
                inside |= u32::from(region.holds(addresses[lane], width)) << lane;
            }
            let mask = left & inside;
            left &= !inside;
            if mask == 0 {
                return;
            }
            if !self.global.watched[region.index as usize] {
                continue;
            }
            let spare = first - region.base;
            let mut offsets = [0; 32];
            for lane in 0..32 {
                let on = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
                offsets[lane] = (addresses[lane].wrapping_sub(region.base) & on) | (spare & !on);
            }
            let run = mask == u32::MAX && is_run(&offsets, width);
            if access.site.frozen.is_some() {
                self.freeze(access, region.index, mask, |lane| offsets[lane]);
            }
            self.in_region(access, region, mask, &offsets, run);
        }
    }

    /// Acquires and releases in global memory.
    fn synchronise_global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        let sync = access.site.access.volatile || access.site.op == AccessOp::Atomic;
        if sync && self.subject.fences {
            self.synchronise(access, |lane| addresses[lane], false);
        }
    }

    /// Lanes in one region that is watched, by their offsets.
    fn in_region(
        &mut self,
        access: &Access<'_>,
        region: &GlobalRegion,
        mask: u32,
        offsets: &[u64; 32],
        run: bool,
    ) {
        let index = region.index as usize;
        let defined = self.subject.defined[index];
        if let Some(defined) = defined
            && access.site.op != AccessOp::Store
            && self.subject.unset()
        {
            let at = |lane: usize| offsets[lane];
            let unset = self.never_written(access, mask, index, at, defined);
            if unset != [0; 4] {
                self.unset(access, unset, |lane| (Some(index), at(lane)));
            }
        }
        if !self.subject.written[index] {
            return;
        }
        self.make_room();
        // What nobody wrote has been seen to.
        if run && self.in_lines(access, index, mask, offsets[0], false) {
            return;
        }
        let cells = &mut self.global.regions[index];
        cells.prepare(access.site.width_bytes);
        let tag = self.global_tag(access);
        self.note(access, ShadowId::Region(index), (tag, mask), offsets, run);
        if access.site.op == AccessOp::Atomic && defined.is_some() {
            self.exchanged(access, ShadowId::Region(index), mask, |lane| offsets[lane]);
        }
    }

    /// Before an entry is added to those of global memory.
    fn make_room(&mut self) {
        if self.global.table.is_long() {
            self.global.table.compact(&mut self.global.regions);
        }
        if self.global.table.is_full() {
            self.global.table.clear();
            self.global.regions.iter_mut().for_each(Cells::settle);
        }
    }

    /// The entry of an access to global memory, as a tag.
    #[inline(always)]
    fn global_tag(&mut self, access: &Access<'_>) -> u32 {
        self.global.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: self.here.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile: access.site.access.volatile,
        })
    }

    /// A request like its site's pattern, of global memory: most are runs that whole lines can note, and much of memory is
    /// nobody's concern.
    #[inline(always)]
    pub(crate) fn repeat_in_region(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        let index = pattern.region as usize;
        if !is_global(access) || access.mask == 0 || !self.shadows {
            return;
        }
        let site = access.site;
        if !self.global.watched[index] {
            if site.access.volatile && self.subject.fences {
                self.repeat_any(access, like);
            }
            return;
        }
        let region = &self.subject.map.regions[index];
        let offset = like.lowest - region.base;
        let loads = site.op == AccessOp::Load;
        let written = self.subject.written[index];
        let defined = match self.subject.defined[index] {
            Some(defined) if loads && self.subject.unset() => {
                let extent = u64::from(pattern.extent) + u64::from(site.width_bytes);
                defined.holds(offset, extent)
            }
            _ => true,
        };
        if site.frozen.is_some() && written {
            self.freeze(access, region.index, access.mask, |lane| {
                offset + u64::from(pattern.bytes[lane])
            });
        }
        if defined && !written && !(site.access.volatile && self.subject.fences) {
            return;
        }
        if pattern.run && written && self.in_lines(access, index, access.mask, offset, !defined) {
            return;
        }
        self.repeat_any(access, like);
    }

    /// Notes a run by lines, if that can be done and nothing is wrong with it.
    #[inline(always)]
    fn in_lines(
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
        self.global.regions[region].run(&run, self.global.table.bases)
    }

    #[inline(never)]
    fn repeat_any(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        let region = &self.subject.map.regions[pattern.region as usize];
        let offset = like.lowest - region.base;
        if self.subject.fences {
            let mut addresses = [0; 32];
            for lane in 0..32 {
                addresses[lane] = like.lowest + u64::from(pattern.bytes[lane]);
            }
            self.synchronise_global(access, &addresses);
        }
        if !self.global.watched[pattern.region as usize] {
            return;
        }
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = offset + u64::from(pattern.bytes[lane]);
        }
        self.in_region(access, region, access.mask, &offsets, pattern.run);
    }

    pub(crate) fn cells(&mut self, at: ShadowId) -> &mut Cells {
        match at {
            ShadowId::Shared => &mut self.here.cells,
            ShadowId::Region(index) => &mut self.global.regions[index],
        }
    }

    pub(crate) fn table(&self, at: ShadowId) -> &Table {
        match at {
            ShadowId::Shared => &self.here.table,
            ShadowId::Region(_) => &self.global.table,
        }
    }

    /// Notes an access in the cells: of lanes at these offsets. Gives the lanes that read what nobody wrote, by component.
    pub(crate) fn note<T: ByteOffset>(
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
                checker: &mut Checker<'_>,
                access: &Access<'_>,
                at: ShadowId,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                checker.walk(access, at, who, offsets, run)
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<T: ByteOffset>(
                checker: &mut Checker<'_>,
                access: &Access<'_>,
                at: ShadowId,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                checker.walk(access, at, who, offsets, run)
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

    /// A run that nothing is to be said of, from the cell `first` on.
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
        let stores = access.site.op == AccessOp::Store;
        if matches!(at, ShadowId::Shared)
            && (!self.here.unset_cells.is_empty() || self.following && stores)
        {
            return false;
        }
        let cells = self.cells(at);
        cells.open_run(first);
        match access.site.op {
            AccessOp::Load => {
                cells.prepare_reads();
                cells.read_run_at_once(first, (mask, tag), bases, exact)
            }
            AccessOp::Store => cells.write_run_at_once(first, (mask, tag), bases),
            AccessOp::Atomic => false,
        }
    }

    /// All cells of an access.
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
        let exact = self.subject.exact;
        let slowly = exact || self.subject.block_scopes || !self.subject.quick;
        let bases = self.table(at).bases;
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
            // Of a run, all lanes lie in the memory.
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
        let mut within = 0;
        loop {
            let cells = self.cells(at);
            cells.open(&lanes);
            let (bad, lost) = match access.site.op {
                AccessOp::Load => {
                    cells.prepare_reads();
                    let in_run = match first {
                        Some(first) => cells.read_run(first, (mask, tag), bases, exact),
                        None => None,
                    };
                    // No closure here: it would not be compiled for the level.
                    let (bad, new) = match in_run {
                        Some(found) => found,
                        None => cells.read(&lanes, bases, exact),
                    };
                    unset[(within / component) as usize % 4] |= new;
                    (bad, 0)
                }
                AccessOp::Store => {
                    let in_run = match first {
                        Some(first) => cells.write_run(first, (mask, tag), bases),
                        None => None,
                    };
                    match in_run {
                        Some(bad) => (bad, 0),
                        None => cells.write(&lanes, bases),
                    }
                }
                AccessOp::Atomic => {
                    for lane in LaneMask(lanes.mask) {
                        let new = cells.write[lanes.cells[lane] as usize] == 0;
                        unset[0] |= u32::from(new) << lane;
                    }
                    cells.prepare_reads();
                    let bad = if slowly {
                        lanes.mask
                    } else {
                        cells.atomic(&lanes, bases)
                    };
                    (bad, 0)
                }
            };
            if matches!(at, ShadowId::Shared)
                && (!self.here.unset_cells.is_empty()
                    || self.following && access.site.op == AccessOp::Store)
            {
                let read = &mut unset[(within / component) as usize % 4];
                self.move_unset(access, &lanes, read);
            }
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
}
