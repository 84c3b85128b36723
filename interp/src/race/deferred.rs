//! Reads of shared memory that need not be noted yet.
//!
//! Between two barriers in which nobody writes, reads are in conflict with nothing, and the next barrier makes them all the past.
//! So as long as nobody has written since the last barrier, a read is only put on a list. A barrier drops the list; anything
//! else that touches shared memory, and a `__syncwarp`, has it noted first ([`Detector::flush`]), as of the warp and the
//! moment it came from: the result is the one of noting each at once. Kernels with fences, or in which some lanes of a warp
//! synchronise, note at once.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the levels; they index several arrays"
)]

use crate::memory::bytes::refill;
use dsl::ir::Space;

use super::access::ShadowId;
use super::detector::Detector;
use super::epoch::Bases;
use super::shadow::Cells;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::observe::Access;

/// Most reads that wait.
const MAX_DEFERRED: usize = 1 << 14;
/// Bytes of a line, as a power of two: what [`WrittenLines`] has one bit for.
const LINE: u32 = 7;
/// Times a block's lines are looked at, at most.
const SCANS: u32 = 16;

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

/// A read that waits.
#[derive(Clone, Copy, Debug)]
struct DeferredRead {
    row: u32,
    counter: u32,
    tag: u32,
    mask: u32,
    /// Its place among the distances.
    footprint: u32,
    lowest: u32,
    warp: u32,
    /// The warp's part of the [`Bases`].
    since: (u32, u32, bool),
}

/// The list.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// Nobody has written since the last barrier.
    pub(crate) may_defer: bool,
    waiting: Vec<DeferredRead>,
    footprints: Vec<([u32; 32], bool)>,
    /// By site: which version of its pattern is where in `footprints`, and in which life of the list.
    known: Vec<(u32, u32, u32)>,
    life: u32,
    from: Option<(View, *const u8)>,
    whole: WrittenLines,
}

// SAFETY: the pointers are to the registers and the memory of the current block, and go where it goes: to one worker.
unsafe impl Send for Deferred {}

impl Deferred {
    pub(crate) fn new(sites: usize) -> Deferred {
        Deferred {
            known: vec![(0, 0, 0); sites],
            life: 1,
            ..Deferred::default()
        }
    }

    /// Forgets those that wait.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.footprints.clear();
        self.life += 1;
    }

    /// A block begins: nothing is written.
    pub(crate) fn begin(&mut self) {
        self.clear();
        self.whole.clear();
    }

    /// A barrier: what waits is past. Looks what has been written until now.
    pub(crate) fn barrier(&mut self, cells: &Cells) {
        if !self.may_defer {
            self.whole.scan(cells);
        }
        self.clear();
    }
}

/// Lines of shared memory that are written as a whole.
#[derive(Debug, Default)]
struct WrittenLines {
    lines: Vec<u64>,
    scans: u32,
    all: bool,
}

impl WrittenLines {
    fn clear(&mut self) {
        refill(&mut self.lines, 0);
        self.scans = 0;
        self.all = false;
    }

    fn scan(&mut self, cells: &Cells) {
        if self.all || self.scans >= SCANS || cells.write.is_empty() {
            return;
        }
        self.scans += 1;
        let per_line = 1 << (LINE - cells.shift);
        let lines = cells.write.chunks(per_line);
        self.lines.resize(lines.len().div_ceil(64), 0);
        self.all = true;
        for (line, tags) in lines.enumerate() {
            let whole = tags.iter().fold(true, |whole, &tag| whole & (tag != 0));
            self.lines[line / 64] |= u64::from(whole) << (line % 64);
            self.all &= whole;
        }
    }

    /// Whether all bytes in a range are known to be written.
    #[inline(always)]
    fn holds(&self, from: u32, end: u32) -> bool {
        if self.all {
            return true;
        }
        let (first, last) = ((from >> LINE) as usize, ((end - 1) >> LINE) as usize);
        let (low, high) = (first / 64, last / 64);
        if high >= self.lines.len() {
            return false;
        }
        let (begin, stop) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
        if low == high {
            return !self.lines[low] & begin & stop == 0;
        }
        !self.lines[low] & begin == 0
            && !self.lines[high] & stop == 0
            && self.lines[low + 1..high]
                .iter()
                .all(|&word| word == u64::MAX)
    }
}

/// Whether each of the lanes' cells was written.
#[inline(always)]
fn all_written(cells: &Cells, footprint: &Footprint<'_>, mask: u32, width: u32) -> bool {
    let mut within = 0;
    while within < width {
        let mut unset = 0;
        for l in 0..32 {
            let cell = (footprint.lowest + footprint.bytes[l] + within) >> cells.shift;
            let on = mask >> l & 1 == 1;
            // A lane that is not active may footprint anywhere.
            let known = cells.write.get(cell as usize).is_some_and(|&tag| tag != 0);
            unset |= u32::from(on & !known);
        }
        if unset != 0 {
            return false;
        }
        within += 1 << cells.shift;
    }
    true
}

impl Detector<'_> {
    /// Puts a read of shared memory on the list, if it can wait.
    #[inline(always)]
    pub(crate) fn defer(&mut self, access: &Access<'_>, footprint: &Footprint<'_>) -> bool {
        let resident = &mut self.resident;
        let width = access.site.width_bytes;
        if !resident.deferred.may_defer
            || access.site.access.volatile
            || resident.deferred.waiting.len() >= MAX_DEFERRED
            || resident.table.is_full()
            || (width < 4 && resident.cells.shift != 0)
        {
            return false;
        }
        if self.subject.unset()
            && !resident
                .deferred
                .whole
                .holds(footprint.lowest, footprint.lowest + footprint.extent)
            && !all_written(&resident.cells, footprint, access.mask, width)
        {
            return false;
        }
        let tag = self.tag(access);
        let resident = &mut self.resident;
        let deferred = &mut resident.deferred;
        let add = |footprints: &mut Vec<([u32; 32], bool)>| {
            footprints.push((*footprint.bytes, footprint.run));
            footprints.len() as u32 - 1
        };
        let at = match footprint.pattern {
            None => add(&mut deferred.footprints),
            Some((row, version)) => {
                let known = &mut deferred.known[row as usize];
                if (known.0, known.1) != (deferred.life, version) {
                    *known = (deferred.life, version, add(&mut deferred.footprints));
                }
                known.2
            }
        };
        let bases = resident.table.bases;
        deferred.from = Some((access.r, access.memory));
        deferred.waiting.push(DeferredRead {
            row: access.site.row,
            counter: access.counter,
            tag,
            mask: access.mask,
            footprint: at,
            lowest: footprint.lowest,
            warp: self.warp,
            since: (bases.warp, bases.sync, bases.first_turn),
        });
        true
    }

    /// The same of a read that is like no other.
    pub(crate) fn defer_window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> bool {
        if access.site.op != AccessOp::Load || !self.resident.deferred.may_defer {
            return false;
        }
        let (mut low, mut high) = (u32::MAX, 0);
        for lane in LaneMask(access.mask) {
            low = low.min(offsets[lane]);
            high = high.max(offsets[lane]);
        }
        let mut bytes = [0; 32];
        for lane in LaneMask(access.mask) {
            bytes[lane] = offsets[lane] - low;
        }
        let footprint = Footprint {
            bytes: &bytes,
            lowest: low,
            extent: high - low + access.site.width_bytes,
            run: false,
            pattern: None,
        };
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
        let footprints = std::mem::take(&mut self.resident.deferred.footprints);
        let (warp, bases) = (self.warp, self.resident.table.bases);
        let code = self.subject.code;
        if let Some((r, memory)) = self.resident.deferred.from {
            for read in &waiting {
                self.warp = read.warp;
                self.resident.table.bases = Bases {
                    warp: read.since.0,
                    sync: read.since.1,
                    first_turn: read.since.2,
                    ..bases
                };
                let access = Access {
                    site: &code.sites[read.row as usize],
                    counter: read.counter,
                    space: Space::Shared,
                    mask: read.mask,
                    r,
                    memory,
                };
                self.resident.cells.prepare(access.site.width_bytes);
                let (bytes, run) = &footprints[read.footprint as usize];
                let mut offsets = [0; 32];
                for l in 0..32 {
                    offsets[l] = read.lowest.wrapping_add(bytes[l]);
                }
                self.note(
                    &access,
                    ShadowId::Shared,
                    (read.tag, read.mask),
                    &offsets,
                    *run,
                );
            }
        }
        (self.warp, self.resident.table.bases) = (warp, bases);
        let deferred = &mut self.resident.deferred;
        (deferred.waiting, deferred.footprints) = (waiting, footprints);
        deferred.clear();
    }
}
