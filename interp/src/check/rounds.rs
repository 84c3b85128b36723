//! Records the loads of several rounds of a loop together, if no finding is possible: the bytes are initialised, and no
//! other thread writes them. If that does not follow from the first and the last round, the loads are checked one by
//! one.

#![allow(clippy::inline_always, reason = "what most loads need is little")]

use super::Checker;
use crate::count::pattern::Shape;
use crate::isa::rounds::MOST_LOADS;
use crate::observe::Swept;
use ir::Space;

/// How to record the loads of a site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Nothing,
    /// In shared memory, as reads.
    Shared,
    /// In a region that is only read, as bytes read.
    Read,
}

impl Checker<'_> {
    /// Records the loads if no finding is possible. Returns whether it did.
    #[inline(never)]
    pub(super) fn sees_rounds(&mut self, loads: &[Swept<'_>]) -> bool {
        let mut notes = [Note::Nothing; MOST_LOADS];
        for (note, load) in notes.iter_mut().zip(loads) {
            *note = match self.quiet(load) {
                Some(note) => note,
                None => return false,
            };
        }
        let together = notes.iter().filter(|&&note| note == Note::Shared).count();
        if together > 0 && !self.races.repeats_rounds(loads, together as u32) {
            return false;
        }
        for (note, load) in notes.iter().zip(loads) {
            if *note == Note::Read {
                self.read_rounds(load);
            }
        }
        true
    }

    /// How to record a load that cannot have a finding, as far as that is known here.
    #[inline(always)]
    fn quiet(&self, load: &Swept<'_>) -> Option<Note> {
        let (access, pattern) = (&load.access, load.like.pattern);
        if access.space == Space::Shared {
            return match self.sees_shared(access) {
                false => Some(Note::Nothing),
                // `volatile` reads are never deferred. If cells hold uninitialised values, no read is, and no block
                // follows the list.
                true => Some(Note::Shared),
            };
        }
        if !self.sees_global(access) {
            return Some(Note::Nothing);
        }
        let index = pattern.region as usize;
        // The region is never written, so a `volatile` load there cannot be ordered by a store.
        if !self.watched[index] {
            return Some(Note::Nothing);
        }
        if let Some(defined) = self.subject.defined[index]
            && self.subject.unset()
        {
            let (from, bytes) = self.hull(load);
            if !defined.holds(from, bytes) {
                return None;
            }
        }
        if self.subject.only_read[index] {
            return Some(Note::Read);
        }
        (!self.subject.races.written[index]).then_some(Note::Nothing)
    }

    /// The offset and size of the range with all bytes of the loads in their region.
    fn hull(&self, load: &Swept<'_>) -> (u64, u64) {
        let pattern = load.like.pattern;
        let region = &self.subject.races.map.regions[pattern.region as usize];
        let ends = [load.lowest(0), load.lowest(load.count - 1)];
        let extent = u64::from(pattern.extent) + u64::from(load.access.site.width_bytes);
        let from = ends[0].min(ends[1]) - region.base;
        (from, ends[0].abs_diff(ends[1]) + extent)
    }

    /// Records which bytes of a region that is only read the loads read.
    fn read_rounds(&mut self, load: &Swept<'_>) {
        let pattern = load.like.pattern;
        let (index, width) = (
            pattern.region as usize,
            u64::from(load.access.site.width_bytes),
        );
        let (from, bytes) = self.hull(load);
        let each = u64::from(pattern.extent) + width;
        let closely = |width| load.stride_bytes.unsigned_abs() <= width;
        let size = self.size_of(index);
        let (is_run, mask) = (
            pattern.run && load.access.mask == u32::MAX,
            load.access.mask,
        );
        if (pattern.extent == 0 || is_run) && closely(each) {
            // The loads are consecutive, without gaps.
            return self.touched[index].read.define(from, bytes, size);
        }
        if pattern.shape == Shape::Pair && closely(width) {
            for half in [0, 16]
                .into_iter()
                .filter(|half| mask >> half & 0xffff != 0)
            {
                let at = from + u64::from(pattern.bytes[half]);
                let bytes = bytes - u64::from(pattern.extent);
                self.touched[index].read.define(at, bytes, size);
            }
            return;
        }
        let base = self.subject.races.map.regions[index].base;
        for round in 0..load.count {
            self.reads(&load.access, &load.like, index, load.lowest(round) - base);
        }
    }
}
