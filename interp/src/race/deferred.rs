//! Defers recording reads of shared memory.
//!
//! Between two barriers without writes, reads conflict with nothing, and after the next barrier they are ordered before
//! everything. So as long as nothing has been written since the last barrier, a read is only put on a list. A barrier
//! drops the list. Any other access to shared memory, and a `__syncwarp`, first has it recorded ([`Detector::flush`]),
//! as of the warp and the time of each read. The result is the same as recording each read at once. Kernels with
//! fences, or in which some lanes of a warp synchronise, record at once. So do sites whose deferred reads were recorded
//! too often, as in a sum that reads and writes between two barriers.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

mod written;

use ir::Space;

use self::written::Written;
use super::access::{Cpu, ShadowId};
use super::detector::Detector;
use super::epoch::Bases;
use super::shadow::Cells;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::observe::{Access, Swept};

/// The most deferred reads.
const MAX_DEFERRED: usize = 1 << 14;
/// The reads of a site are no longer deferred once this many more of its groups had to be recorded than could be
/// dropped.
const MAX_WASTED_DEFERRALS: u8 = 16;

/// The offsets of 32 lanes relative to the lowest of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint<'a> {
    pub(crate) bytes: &'a [u32; 32],
    /// The offset of the lowest lane.
    pub(crate) lowest: u32,
    /// The distance from there to the end of the last lane's bytes.
    pub(crate) extent: u32,
    /// Whether the lanes are consecutive.
    pub(crate) run: bool,
    /// The origin of `bytes`: the site's row and the version of its pattern. `None` if the access has no pattern.
    pub(crate) pattern: Option<(u32, u32)>,
}

impl<'a> Footprint<'a> {
    /// The footprint of an access without a pattern. Inactive lanes get the offset of the lowest one.
    pub(crate) fn of(
        access: &Access<'_>,
        offsets: &[u32; 32],
        bytes: &'a mut [u32; 32],
    ) -> Footprint<'a> {
        let (mut low, mut high) = (u32::MAX, 0);
        for lane in LaneMask(access.mask) {
            low = low.min(offsets[lane]);
            high = high.max(offsets[lane]);
        }
        for lane in LaneMask(access.mask) {
            bytes[lane] = offsets[lane] - low;
        }
        Footprint {
            bytes,
            lowest: low,
            extent: high - low + access.site.width_bytes,
            run: false,
            pattern: None,
        }
    }

    /// The offsets of the lanes.
    #[inline(always)]
    pub(crate) fn offsets(&self) -> [u32; 32] {
        let mut offsets = [0; 32];
        for l in 0..32 {
            offsets[l] = self.lowest.wrapping_add(self.bytes[l]);
        }
        offsets
    }
}

/// Reads of one site in several rounds of a loop, in the order of the rounds. The reads of `together` sites, which are
/// adjacent in the list, alternate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sweep {
    /// The distance from a round's lowest lane to the next one's, modulo 2^32.
    pub(super) stride_bytes: u32,
    pub(super) count: u32,
    pub(super) together: u32,
}

impl Sweep {
    /// A single read.
    pub(super) const ONE: Sweep = Sweep {
        stride_bytes: 0,
        count: 1,
        together: 1,
    };

    /// The offset of the lowest lane in a round.
    #[inline(always)]
    pub(super) fn lowest(self, first: u32, round: u32) -> u32 {
        first.wrapping_add(self.stride_bytes.wrapping_mul(round))
    }

    /// The range of all reads, if each ends `extent` bytes after its lowest lane.
    #[inline(always)]
    fn hull(self, first: u32, extent: u32) -> (u32, u32) {
        let last = self.lowest(first, self.count - 1);
        (first.min(last), first.max(last) + extent)
    }
}

impl Swept<'_> {
    /// For shared memory: the footprint of the first round, and the sweep of the other rounds' reads, with `together`
    /// loads.
    #[inline(always)]
    pub(super) fn reads(&self, together: u32) -> (Footprint<'_>, Sweep) {
        let pattern = self.like.pattern;
        let footprint = Footprint {
            bytes: &pattern.bytes,
            lowest: self.like.lowest as u32,
            extent: pattern.extent + self.access.site.width_bytes,
            run: pattern.run,
            pattern: Some((self.access.site.row, pattern.version)),
        };
        let sweep = Sweep {
            stride_bytes: self.stride_bytes as u32,
            count: self.count,
            together,
        };
        (footprint, sweep)
    }
}

/// Calls `then` for each read of a list with the offset of its lowest lane, in the original order.
#[inline(always)]
pub(super) fn in_order<T>(
    list: &[T],
    place: impl Fn(&T) -> (u32, Sweep),
    mut then: impl FnMut(&T, u32),
) {
    let mut at = 0;
    while let Some(first) = list.get(at) {
        let sweep = place(first).1;
        let together = &list[at..at + sweep.together as usize];
        for round in 0..sweep.count {
            for read in together {
                let (lowest, sweep) = place(read);
                then(read, sweep.lowest(lowest, round));
            }
        }
        at += together.len();
    }
}

/// The common properties of a group of deferred reads: they are of one site, by the same lanes of a warp between two of
/// its synchronisations, with the same offsets relative to the lowest lane.
#[derive(Clone, Copy, Debug)]
struct Group {
    row: u32,
    counter: u32,
    tag: u32,
    mask: u32,
    /// Its index in the list of footprints.
    footprint: u32,
    warp: u32,
    /// The warp's part of the [`Bases`].
    since: (u32, u32, bool),
}

/// A deferred read.
#[derive(Clone, Copy, Debug)]
struct DeferredRead {
    group: u32,
    lowest: u32,
    sweep: Sweep,
}

/// Cache entry of a site: the last group of its pattern. A read of the same group, of bytes that are known to be
/// written, only has to be added to the list.
#[derive(Clone, Copy, Debug, Default)]
struct LastGroup {
    /// The life of the list that it belongs to.
    life: u32,
    version: u32,
    now: u32,
    mask: u32,
    group: u32,
    footprint: u32,
    /// Start and end of bytes that are known to be written.
    written: (u32, u32),
}

/// The list of deferred reads.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// Whether nothing has been written since the last barrier.
    pub(crate) may_defer: bool,
    waiting: Vec<DeferredRead>,
    groups: Vec<Group>,
    footprints: Vec<([u32; 32], bool)>,
    /// The cache entries, by site.
    known: Vec<LastGroup>,
    /// Wasted deferrals, by site: how many groups had to be recorded after all, less those that were dropped.
    wasted: Vec<u8>,
    life: u32,
    /// The registers and the memory of the first read. Recording reads does not need the registers.
    from: Option<(View, *const u8)>,
    written: Written,
}

// SAFETY: the pointers are to the registers and the memory of the current block, and go where it goes: to one worker.
unsafe impl Send for Deferred {}

impl Deferred {
    pub(crate) fn new(sites: usize) -> Deferred {
        Deferred {
            known: vec![LastGroup::default(); sites],
            wasted: vec![0; sites],
            life: 1,
            ..Deferred::default()
        }
    }

    /// Removes all deferred reads.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.groups.clear();
        self.footprints.clear();
        self.life += 1;
    }

    /// The number of deferred reads.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps only this many deferred reads. The others did not take place.
    pub(super) fn keep(&mut self, waiting: usize) {
        self.waiting.truncate(waiting);
    }

    /// A block begins: no memory is written yet.
    pub(crate) fn begin(&mut self) {
        self.clear();
        self.written.clear();
    }

    /// A barrier: drops the deferred reads, and determines what has been written until now.
    pub(crate) fn barrier(&mut self, cells: &Cells, cpu: Cpu) {
        if !self.may_defer {
            self.written.scan(cells, cpu);
        }
        for group in &self.groups {
            let wasted = &mut self.wasted[group.row as usize];
            *wasted = wasted.saturating_sub(1);
        }
        self.clear();
    }
}

impl Detector<'_> {
    /// Defers a read of shared memory, if possible.
    #[inline(always)]
    pub(crate) fn defer(&mut self, access: &Access<'_>, footprint: &Footprint<'_>) -> bool {
        self.defer_sweep(access, footprint, Sweep::ONE)
    }

    /// Defers all reads of a site in several rounds.
    #[inline(always)]
    pub(super) fn defer_sweep(
        &mut self,
        access: &Access<'_>,
        footprint: &Footprint<'_>,
        sweep: Sweep,
    ) -> bool {
        let deferred = &mut self.resident.deferred;
        let (lowest, end) = sweep.hull(footprint.lowest, footprint.extent);
        if let Some((row, version)) = footprint.pattern {
            // The read belongs to a deferred group, so the common conditions have been checked.
            let known = &deferred.known[row as usize];
            let same = (known.life == deferred.life)
                & (known.version == version)
                & (known.now == self.now)
                & (known.mask == access.mask)
                & (known.written.0 <= lowest)
                & (end <= known.written.1);
            if same & (deferred.waiting.len() < MAX_DEFERRED) {
                let (group, lowest) = (known.group, footprint.lowest);
                let read = DeferredRead {
                    group,
                    lowest,
                    sweep,
                };
                deferred.waiting.push(read);
                return true;
            }
        }
        self.defer_first(access, footprint, sweep)
    }

    /// Defers the first read of a group.
    #[inline(never)]
    fn defer_first(
        &mut self,
        access: &Access<'_>,
        footprint: &Footprint<'_>,
        sweep: Sweep,
    ) -> bool {
        let resident = &mut self.resident;
        let width = access.site.width_bytes;
        if !resident.deferred.may_defer
            || resident.deferred.wasted[access.site.row as usize] >= MAX_WASTED_DEFERRALS
            || access.site.access.volatile
            || resident.deferred.waiting.len() >= MAX_DEFERRED
            || resident.table.is_full()
            || (width < 4 && resident.cells.shift != 0)
        {
            return false;
        }
        let lowest = footprint.lowest;
        let mut written = (0, u32::MAX);
        let known = &resident.deferred.written;
        if self.subject.unset() && !known.is_all() {
            for round in 0..sweep.count {
                let footprint = Footprint {
                    lowest: sweep.lowest(lowest, round),
                    ..*footprint
                };
                if !known.holds(&resident.cells, &footprint, access.mask, width) {
                    return false;
                }
            }
            // LastGroup for a single read only: between the reads of several rounds there may be unwritten bytes.
            written = match sweep.count {
                1 => (lowest, lowest + footprint.extent),
                _ => (u32::MAX, 0),
            };
        }
        let tag = self.tag(access);
        let resident = &mut self.resident;
        let (bases, deferred) = (resident.table.bases(), &mut resident.deferred);
        let add = |footprints: &mut Vec<([u32; 32], bool)>| {
            footprints.push((*footprint.bytes, footprint.run));
            footprints.len() as u32 - 1
        };
        let group = deferred.groups.len() as u32;
        let at = match footprint.pattern {
            None => add(&mut deferred.footprints),
            Some((row, version)) => {
                let known = &mut deferred.known[row as usize];
                let at = match (known.life, known.version) == (deferred.life, version) {
                    true => known.footprint,
                    false => add(&mut deferred.footprints),
                };
                *known = LastGroup {
                    life: deferred.life,
                    version,
                    now: self.now,
                    mask: access.mask,
                    group,
                    footprint: at,
                    written,
                };
                at
            }
        };
        // Only for the first group: a vector copy of values that were just stored waits until they are in the cache.
        if group == 0 {
            deferred.from = Some((access.r, access.memory));
        }
        deferred.groups.push(Group {
            row: access.site.row,
            counter: access.counter,
            tag,
            mask: access.mask,
            footprint: at,
            warp: self.warp,
            since: (bases.warp, bases.sync, bases.first_turn),
        });
        let read = DeferredRead {
            group,
            lowest,
            sweep,
        };
        deferred.waiting.push(read);
        true
    }

    /// Defers a read without a pattern.
    pub(crate) fn defer_window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> bool {
        if access.site.op != AccessOp::Load || !self.resident.deferred.may_defer {
            return false;
        }
        let mut bytes = [0; 32];
        let footprint = Footprint::of(access, offsets, &mut bytes);
        self.defer(access, &footprint)
    }

    /// Records the deferred reads.
    #[inline(always)]
    pub(crate) fn flush(&mut self) {
        if !self.resident.deferred.waiting.is_empty() {
            self.note_reads();
        }
    }

    #[inline(never)]
    fn note_reads(&mut self) {
        let waiting = std::mem::take(&mut self.resident.deferred.waiting);
        let groups = std::mem::take(&mut self.resident.deferred.groups);
        let footprints = std::mem::take(&mut self.resident.deferred.footprints);
        let (warp, bases) = (self.warp, self.resident.table.bases());
        let code = self.subject.code;
        if let Some((r, memory)) = self.resident.deferred.from {
            for group in &groups {
                let wasted = &mut self.resident.deferred.wasted[group.row as usize];
                *wasted = wasted.saturating_add(1);
            }
            let place = |read: &DeferredRead| (read.lowest, read.sweep);
            in_order(&waiting, place, |read, lowest| {
                let read = &groups[read.group as usize];
                self.warp = read.warp;
                self.resident.table.set_bases(Bases {
                    warp: read.since.0,
                    sync: read.since.1,
                    first_turn: read.since.2,
                    ..bases
                });
                let access = Access {
                    site: &code.sites[read.row as usize],
                    counter: read.counter,
                    space: Space::Shared,
                    mask: read.mask,
                    r,
                    memory,
                };
                let (bytes, run) = &footprints[read.footprint as usize];
                if *run && read.mask == u32::MAX {
                    let run = self.line_run(&access, lowest, read.tag);
                    if self.resident.cells.run(&run, self.resident.table.bases()) {
                        return;
                    }
                }
                self.resident.cells.prepare(access.site.width_bytes);
                let mut offsets = [0; 32];
                for l in 0..32 {
                    offsets[l] = lowest.wrapping_add(bytes[l]);
                }
                self.note(
                    &access,
                    ShadowId::Shared,
                    (read.tag, read.mask),
                    &offsets,
                    *run,
                );
            });
        }
        self.warp = warp;
        self.resident.table.set_bases(bases);
        let deferred = &mut self.resident.deferred;
        (deferred.waiting, deferred.groups, deferred.footprints) = (waiting, groups, footprints);
        deferred.clear();
    }
}
