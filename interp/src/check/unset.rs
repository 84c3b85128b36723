//! Tracks uninitialised values in memory, and detects where they are read.

use ir::{AtomicOp, LocId, Space};

use super::Checker;
use super::found::{Source, Unset, User};
use super::taint::Use;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::Place;
use crate::isa::mask::LaneMask;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::Access;
use crate::race::access::ShadowId;
use crate::race::epoch::{ATOMIC, WRITTEN};

impl Checker<'_> {
    /// Lanes read uninitialised bytes, by component.
    #[cold]
    pub(super) fn unset(
        &mut self,
        access: &Access<'_>,
        unset: [u32; 4],
        place: impl Fn(usize) -> (Option<usize>, u64),
    ) {
        // The load is followed by a store that changes a bit-field and writes the rest back, so the whole value counts
        // as written then.
        if access.site.access.partial {
            self.origins.loaded = None;
            return;
        }
        let all = unset.iter().fold(0, |all, lanes| all | lanes);
        let lane = all.trailing_zeros() as usize & 31;
        let origin = match self.origins.loaded.take() {
            Some(origin) => origin,
            None => self.origin(Unset {
                source: Source::Access(access.counter),
                block: self.races.block(),
                warp: self.races.warp(),
                lane: lane as u32,
                place: place(lane),
            }),
        };
        let site = access.site;
        let taint = &mut self.values.taints[self.values.place];
        match site.op {
            AccessOp::Load => {
                for (&register, lanes) in site.results().iter().zip(unset) {
                    let (mask, lanes) = match (site.uniform_values, lanes) {
                        (true, 0) => (u32::MAX, 0),
                        (true, _) => (u32::MAX, u32::MAX),
                        (false, lanes) => (access.mask, lanes),
                    };
                    taint.set(site.place(register), mask, lanes, origin);
                }
            }
            // The value that an exchange stores is defined. The value that it returns is not.
            AccessOp::Atomic
                if access.space != Space::Local
                    && !matches!(site.atomic, Some((AtomicOp::Exch | AtomicOp::Store, _))) =>
            {
                let user = User {
                    what: Use::Stored,
                    block: self.races.block(),
                    warp: self.races.warp(),
                    lane: lane as u32,
                    loc: self.subject.races.code.counters[access.counter as usize].loc,
                };
                self.found.unset(&self.origins.list[origin as usize], user);
                return;
            }
            AccessOp::Atomic => taint.set(site.place(site.result), access.mask, all, origin),
            AccessOp::Store => return,
        }
        self.following = true;
    }

    /// An exchange makes uninitialised memory defined, because it stores a value.
    #[cold]
    pub(super) fn exchanged(
        &mut self,
        access: &Access<'_>,
        at: ShadowId,
        mask: u32,
        offset: impl Fn(usize) -> u64,
    ) {
        if !matches!(
            access.site.atomic,
            Some((AtomicOp::Exch | AtomicOp::Store, _))
        ) {
            return;
        }
        let cells = self.races.cells(at);
        for lane in LaneMask(mask) {
            let (first, bytes) = (offset(lane), u64::from(access.site.width_bytes));
            for cell in first >> cells.shift..=(first + bytes - 1) >> cells.shift {
                let write = &mut cells.write[cell as usize];
                if *write == 0 {
                    *write = WRITTEN;
                }
            }
        }
    }

    /// Lanes of a shuffle read a lane that does not take part.
    pub(super) fn outside_shuffle(&mut self, strays: u32, result: Place, loc: LocId) {
        let origin = self.origin(Unset {
            source: Source::Shuffle(loc.0),
            block: self.races.block(),
            warp: self.races.warp(),
            lane: strays.trailing_zeros() & 31,
            place: (None, 0),
        });
        let taint = &mut self.values.taints[self.values.place];
        taint.set(result, strays, strays, origin);
        self.following = true;
    }

    /// Marks variables as uninitialised at the start of a block.
    pub(super) fn unassigned(&mut self) {
        for (index, &(slot, place, _)) in
            (0u32..).zip(&self.subject.races.code.registers.unassigned)
        {
            let origin = self.origin(Unset {
                source: Source::Slot(index),
                block: self.races.block(),
                warp: 0,
                lane: 0,
                place: (None, u64::from(slot.0)),
            });
            for taint in &mut self.values.taints {
                taint.set(place, u32::MAX, u32::MAX, origin);
            }
        }
    }

    /// The number of a source. For each source the first read in the current block is kept, so that the result does not
    /// depend on other blocks.
    fn origin(&mut self, unset: Unset) -> u32 {
        let origins = &mut self.origins.list;
        let number = *self
            .origins
            .by_source
            .entry(unset.source)
            .or_insert_with(|| {
                origins.push(unset);
                origins.len() as u32 - 1
            });
        let known = &mut origins[number as usize];
        if known.block != unset.block {
            *known = unset;
        }
        number
    }

    /// Tracks undefined values that are stored to and loaded from shared memory. Adds the lanes that read one, by
    /// component.
    #[cold]
    pub(super) fn move_unset(
        &mut self,
        access: &Access<'_>,
        offsets: &[u32; 32],
        unset: &mut [u32; 4],
    ) {
        let (storing, origin) = match self.values.taints.get(self.values.place) {
            Some(taint) if self.following => taint.storing,
            _ => (0, 0),
        };
        let component = access.site.access.ty.bytes();
        let shift = self.races.cells(ShadowId::Shared).shift;
        let cells = &mut self.values.unset_cells;
        for within in (0..access.site.width_bytes).step_by(1 << shift) {
            let read = &mut unset[(within / component) as usize % 4];
            for lane in LaneMask(access.mask) {
                let cell = (offsets[lane] + within) >> shift;
                match access.site.op {
                    AccessOp::Load => {
                        if let Some(&origin) = cells.get(&cell) {
                            *read |= 1 << lane;
                            self.origins.loaded = Some(origin);
                        }
                    }
                    AccessOp::Store | AccessOp::Atomic => {
                        if storing >> lane & 1 == 1 {
                            cells.insert(cell, origin);
                        } else if access.site.op == AccessOp::Store {
                            cells.remove(&cell);
                        }
                    }
                }
            }
        }
    }

    /// A variable in thread-local memory begins or ends.
    #[cold]
    pub(super) fn lives(&mut self, mask: u32, (first, bytes): (u32, u32), begins: bool) {
        let Some(gone) = self.values.gone.get_mut(self.races.warp() as usize) else {
            return;
        };
        let end = (first + bytes) as usize;
        if gone.len() < end {
            if begins {
                return;
            }
            gone.resize(end, 0);
        }
        for lanes in &mut gone[first as usize..end] {
            *lanes = if begins {
                *lanes & !mask
            } else {
                *lanes | mask
            };
        }
    }

    /// Records lanes that access variables that have ended.
    #[cold]
    fn check_gone(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        let gone = &self.values.gone[self.races.warp() as usize];
        let is_gone = |lane: &usize| {
            let lanes = gone.get(offsets[*lane] as usize);
            lanes.is_some_and(|lanes| lanes >> *lane & 1 == 1)
        };
        let lanes = LaneMask(access.mask).into_iter().filter(is_gone);
        let lanes = lanes.fold(0u32, |all, lane| all | 1 << lane);
        if lanes != 0 {
            let who = self.who(lanes);
            let offset = offsets[lanes.trailing_zeros() as usize & 31];
            let frames = &self.values.frames[self.races.warp() as usize];
            self.found
                .gone(access.counter, who, frames.declared(offset));
        }
    }

    /// In thread-local memory it only matters which lanes wrote a byte.
    pub(super) fn local(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        if !self.subject.unset() || access.mask == 0 {
            return;
        }
        if !self.values.gone[self.races.warp() as usize].is_empty() {
            self.check_gone(access, offsets);
        }
        let defined = &mut self.values.locals[self.races.warp() as usize];
        let origins = &mut self.values.local_origins[self.races.warp() as usize];
        let (storing, origin) = match self.following {
            true => self.values.taints[self.values.place].storing,
            false => (0, 0),
        };
        let mut came_from = None;
        let (width, component) = (access.site.width_bytes, access.site.access.ty.bytes());
        let first = offsets[access.mask.trailing_zeros() as usize];
        let same = LaneMask(access.mask)
            .lanes()
            .all(|lane| offsets[lane] == first);
        let mut unset = [0; 4];
        let mut touch = |at: u32, lanes: u32, k: usize| {
            let Some(known) = defined.get_mut(at as usize) else {
                return;
            };
            match access.site.op {
                AccessOp::Load => {
                    unset[k] |= lanes & !*known;
                    if lanes & !*known != 0 && !origins.is_empty() {
                        came_from = came_from.or_else(|| origins.get(&at).copied());
                    }
                }
                AccessOp::Store | AccessOp::Atomic => {
                    *known = *known & !lanes | lanes & !storing;
                    if lanes & storing != 0 {
                        origins.insert(at, origin);
                    }
                }
            }
        };
        for byte in 0..width {
            let k = (byte / component) as usize % 4;
            if same {
                touch(first + byte, access.mask, k);
            } else {
                for lane in LaneMask(access.mask) {
                    touch(offsets[lane] + byte, 1 << lane, k);
                }
            }
        }
        if unset != [0; 4] {
            self.origins.loaded = came_from;
            let frames = &self.values.frames[self.races.warp() as usize];
            let declared = offsets.map(|offset| frames.declared(offset));
            self.unset(access, unset, |lane| (None, u64::from(declared[lane])));
        }
    }

    /// Lanes that read bytes of a region that were written neither before the launch nor in it.
    #[cold]
    pub(super) fn never_written(
        &self,
        access: &Access<'_>,
        mask: u32,
        region: usize,
        offset: impl Fn(usize) -> u64,
        defined: &Defined,
    ) -> [u32; 4] {
        let mut unset = [0; 4];
        let width = u64::from(access.site.access.ty.bytes());
        let cells = &self.races.regions()[region];
        for lane in LaneMask(mask) {
            for (k, unset) in unset[..usize::from(access.site.access.count)]
                .iter_mut()
                .enumerate()
            {
                let at = offset(lane) + k as u64 * width;
                if defined.holds(at, width) {
                    continue;
                }
                let (first, last) = (at >> cells.shift, (at + width - 1) >> cells.shift);
                let written = (first..=last).all(|cell| cells.is_written(cell as usize));
                if !written {
                    *unset |= 1 << lane;
                }
            }
        }
        unset
    }

    /// The effects of this launch on the tracked regions.
    pub(super) fn add_touched(&self, touched: &mut [Touch]) {
        for (index, cells) in self.races.regions().iter().enumerate() {
            if !self.subject.tracked[index] {
                continue;
            }
            let size = self.subject.races.map.regions[index].size;
            let touch = &mut touched[index];
            cells.for_each_touched(|first, count, write, read| {
                let (at, len) = ((first as u64) << cells.shift, (count as u64) << cells.shift);
                let len = len.min(size - at);
                if write != 0 {
                    touch.written.define(at, len, size);
                }
                if read & ATOMIC != 0 {
                    touch.updated.define(at, len, size);
                } else if read != 0 {
                    touch.read.define(at, len, size);
                }
            });
        }
    }

    /// What this launch wrote in regions that were not written completely before.
    pub(super) fn add_stored(&self, stored: &mut [Defined]) {
        for (index, cells) in self.races.regions().iter().enumerate() {
            if self.subject.defined[index].is_none() {
                continue;
            }
            let size = self.subject.races.map.regions[index].size;
            let (mut written, mut ranges) = (0, Vec::new());
            cells.for_each_written(|first, count| {
                let (at, len) = ((first as u64) << cells.shift, (count as u64) << cells.shift);
                written += len.min(size - at);
                match ranges.last_mut() {
                    Some((_, end)) if *end == at => *end = at + len,
                    _ => ranges.push((at, at + len)),
                }
            });
            if written == size && size > 0 {
                stored[index] = Defined::All;
                continue;
            }
            for (at, end) in ranges {
                stored[index].define(at, end.min(size) - at, size);
            }
        }
    }
}
