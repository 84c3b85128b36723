//! The loads of several rounds of a loop, noted together where nothing is to be said of any: bytes that were written, and nobody else touches. Where that
//! is not known from where the first and the last round go, they are looked at one by one.

#![allow(clippy::inline_always, reason = "what most loads need is little")]

use super::Checker;
use crate::count::pattern::Shape;
use crate::isa::rounds::MOST_LOADS;
use crate::observe::Swept;
use ir::Space;

/// What is to be done with the loads of a site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Nothing,
    /// In shared memory, they are reads.
    Shared,
    /// In a region that is only read, they are noted as such.
    Read,
}

impl Checker<'_> {
    /// Whether nothing is to be said of the loads. They are noted then.
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

    /// What is to be done with a load of which nothing has to be said, as far as that is known here.
    #[inline(always)]
    fn quiet(&self, load: &Swept<'_>) -> Option<Note> {
        let (access, pattern) = (&load.access, load.like.pattern);
        if access.space == Space::Shared {
            return match self.sees_shared(access) {
                false => Some(Note::Nothing),
                // Reads that are `volatile` do not wait. Where cells hold values that nobody wrote, none does, and no block follows the list.
                true => Some(Note::Shared),
            };
        }
        if !self.sees_global(access) {
            return Some(Note::Nothing);
        }
        let index = pattern.region as usize;
        // Nobody writes it, so a `volatile` load finds nothing there that orders it.
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

    /// Where all bytes of the loads lie in their region: from where, and how many from there on.
    fn hull(&self, load: &Swept<'_>) -> (u64, u64) {
        let pattern = load.like.pattern;
        let region = &self.subject.races.map.regions[pattern.region as usize];
        let ends = [load.lowest(0), load.lowest(load.count - 1)];
        let extent = u64::from(pattern.extent) + u64::from(load.access.site.width_bytes);
        let from = ends[0].min(ends[1]) - region.base;
        (from, ends[0].abs_diff(ends[1]) + extent)
    }

    /// Notes which bytes of a region that is only read the loads read.
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
            // One behind the other, without a gap.
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
