//! Reads of shared memory that need not be noted yet.
//!
//! Between two barriers in which nobody writes, reads are in conflict with nothing, and the next barrier makes them all the past.
//! So as long as nobody has written since the last barrier, a read is only put on a list. A barrier drops the list; anything
//! else that touches shared memory, and a `__syncwarp`, has it noted first ([`Detector::flush`]), as of the warp and the
//! moment it came from: the result is the one of noting each at once. Kernels with fences, or in which some lanes of a warp
//! synchronise, note at once. So do sites whose reads were noted after all again and again, as in a sum that reads and writes between two
//! barriers.

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

/// Most reads that wait.
const MAX_DEFERRED: usize = 1 << 14;
/// Groups of a site that were noted after all, more than were dropped, from which on its reads do not wait any more.
const MOST_REGRETS: u8 = 16;

/// Where 32 lanes read, relative to the lowest of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint<'a> {
    pub(crate) bytes: &'a [u32; 32],
    /// The offset of the lowest.
    pub(crate) lowest: u32,
    /// From there to the end of the last lane's bytes.
    pub(crate) extent: u32,
    /// The lanes follow each other without gaps.
    pub(crate) run: bool,
    /// What `bytes` belongs to: the site's row, and how often its pattern changed. None if that will not come again.
    pub(crate) pattern: Option<(u32, u32)>,
}

impl<'a> Footprint<'a> {
    /// Of an access without a pattern; lanes that are not active are where the lowest one is.
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

    /// Where the lanes read.
    #[inline(always)]
    pub(crate) fn offsets(&self) -> [u32; 32] {
        let mut offsets = [0; 32];
        for l in 0..32 {
            offsets[l] = self.lowest.wrapping_add(self.bytes[l]);
        }
        offsets
    }
}

/// Reads of one site in several rounds of a loop, one by one in the order of the rounds: those of `together` sites, which follow each other in
/// their list, take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sweep {
    /// From a round's lowest lane to the next one's, modulo 2^32.
    pub(super) stride_bytes: u32,
    pub(super) count: u32,
    pub(super) together: u32,
}

impl Sweep {
    /// A read by itself.
    pub(super) const ONE: Sweep = Sweep {
        stride_bytes: 0,
        count: 1,
        together: 1,
    };

    /// Where the lowest lane is in a round.
    #[inline(always)]
    pub(super) fn lowest(self, first: u32, round: u32) -> u32 {
        first.wrapping_add(self.stride_bytes.wrapping_mul(round))
    }

    /// From where to where the reads go that end so many bytes behind the lowest lane.
    #[inline(always)]
    fn hull(self, first: u32, extent: u32) -> (u32, u32) {
        let last = self.lowest(first, self.count - 1);
        (first.min(last), first.max(last) + extent)
    }
}

impl Swept<'_> {
    /// Of shared memory: where the first round's lanes are, and how the other rounds' reads, of so many loads together, are behind it.
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

/// Calls for each read of a list with where its lowest lane is, in the order in which they were made.
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

/// What reads have in common that wait: of one site, by the same lanes of a warp between two of its synchronisations, the lanes' places
/// relative to the lowest.
#[derive(Clone, Copy, Debug)]
struct Group {
    row: u32,
    counter: u32,
    tag: u32,
    mask: u32,
    /// Its place among the distances.
    footprint: u32,
    pattern: Option<(u32, u32)>,
    warp: u32,
    /// The warp's part of the [`Bases`].
    since: (u32, u32, bool),
}

/// A read that waits.
#[derive(Clone, Copy, Debug)]
struct DeferredRead {
    group: u32,
    lowest: u32,
    sweep: Sweep,
}

/// Of a site: the last group of its pattern. A read of the same group whose bytes are known to be written only has to be put on the list.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The life of the list that it is of.
    life: u32,
    version: u32,
    now: u32,
    mask: u32,
    group: u32,
    footprint: u32,
    /// Bytes that are written: from here to there.
    written: (u32, u32),
}

/// The list.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// Nobody has written since the last barrier.
    pub(crate) may_defer: bool,
    waiting: Vec<DeferredRead>,
    groups: Vec<Group>,
    footprints: Vec<([u32; 32], bool)>,
    /// By site.
    known: Vec<Known>,
    /// By site: how many groups were noted after all, less those that were dropped. To have them wait was in vain.
    regrets: Vec<u8>,
    life: u32,
    /// The registers and the memory of the first one. What waits are reads, of which nobody needs the registers.
    from: Option<(View, *const u8)>,
    written: Written,
}

// SAFETY: the pointers are to the registers and the memory of the current block, and go where it goes: to one worker.
unsafe impl Send for Deferred {}

impl Deferred {
    pub(crate) fn new(sites: usize) -> Deferred {
        Deferred {
            known: vec![Known::default(); sites],
            regrets: vec![0; sites],
            life: 1,
            ..Deferred::default()
        }
    }

    /// Forgets those that wait.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.groups.clear();
        self.footprints.clear();
        self.life += 1;
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// So many go on waiting; those behind them were not made.
    pub(super) fn keep(&mut self, waiting: usize) {
        self.waiting.truncate(waiting);
    }

    /// A block begins: nothing is written.
    pub(crate) fn begin(&mut self) {
        self.clear();
        self.written.clear();
    }

    /// A barrier: what waits is past. Looks what has been written until now.
    pub(crate) fn barrier(&mut self, cells: &Cells, cpu: Cpu) {
        if !self.may_defer {
            self.written.scan(cells, cpu);
        }
        for group in &self.groups {
            let regrets = &mut self.regrets[group.row as usize];
            *regrets = regrets.saturating_sub(1);
        }
        self.clear();
    }
}

impl Detector<'_> {
    /// Puts a read of shared memory on the list, if it can wait.
    #[inline(always)]
    pub(crate) fn defer(&mut self, access: &Access<'_>, footprint: &Footprint<'_>) -> bool {
        self.defer_sweep(access, footprint, Sweep::ONE)
    }

    /// The same of all reads of a site in several rounds.
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
            // Of a group that waits: so it was allowed to, and all that its reads have in common has been seen to.
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

    /// The same of the first one of a group.
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
            || resident.deferred.regrets[access.site.row as usize] >= MOST_REGRETS
            || access.site.access.volatile
            || resident.deferred.waiting.len() >= MAX_DEFERRED
            || resident.table.is_full()
            || (width < 4 && resident.cells.shift != 0)
        {
            return false;
        }
        let lowest = footprint.lowest;
        let mut written = (0, u32::MAX);
        let known = &mut resident.deferred.written;
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
            // Of one read; what is between those of several rounds is not known.
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
                *known = Known {
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
        // Once: copied as one vector of stores that have just been made, they wait for the cache.
        if group == 0 {
            deferred.from = Some((access.r, access.memory));
        }
        deferred.groups.push(Group {
            row: access.site.row,
            counter: access.counter,
            tag,
            mask: access.mask,
            footprint: at,
            pattern: footprint.pattern,
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

    /// The same of a read that is like no other.
    pub(crate) fn defer_window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> bool {
        if access.site.op != AccessOp::Load || !self.resident.deferred.may_defer {
            return false;
        }
        let mut bytes = [0; 32];
        let footprint = Footprint::of(access, offsets, &mut bytes);
        self.defer(access, &footprint)
    }

    /// Notes the reads that wait.
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
                let regrets = &mut self.resident.deferred.regrets[group.row as usize];
                *regrets = regrets.saturating_add(1);
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
                    (*run, read.pattern),
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
