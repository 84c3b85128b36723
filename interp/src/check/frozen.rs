//! Checks memory that a kernel reads as read-only: through `__ldg`, or a pointer that is `const` and `__restrict__`. A
//! GPU may keep it in a cache that stores do not reach, so what the launch writes there, before or after, may or may
//! not be seen.

use super::Checker;
use super::found::Found;
use crate::isa::mask::LaneMask;
use crate::observe::Access;
use crate::race::epoch::ATOMIC;

impl Checker<'_> {
    /// Records the words of a region that lanes read, by their offsets.
    #[cold]
    pub(super) fn freeze(
        &mut self,
        access: &Access<'_>,
        region: u32,
        mask: u32,
        offset: impl Fn(usize) -> u64,
    ) {
        if !self.subject.races.written[region as usize] {
            return;
        }
        let size = self.subject.races.map.regions[region as usize].size;
        let words = self
            .frozen
            .entry((access.counter, region))
            .or_insert_with(|| vec![0; (size as usize / 4 + 1).div_ceil(64)]);
        for lane in LaneMask(mask) {
            let first = offset(lane) / 4;
            let last = (offset(lane) + u64::from(access.site.width_bytes) - 1) / 4;
            for word in first..=last {
                words[word as usize / 64] |= 1 << (word % 64);
            }
        }
    }

    /// Finds the words among them that the launch wrote.
    pub(super) fn see_thawed(&self, found: &mut Found) {
        for (&(counter, region), words) in &self.frozen {
            let cells = &self.races.regions()[region as usize];
            let mut first = None;
            cells.for_each_touched(|cell, count, write, read| {
                if write == 0 && read & ATOMIC == 0 {
                    return;
                }
                let bytes =
                    ((cell as u64) << cells.shift)..(((cell + count) as u64) << cells.shift);
                let mut both = (bytes.start / 4..bytes.end.div_ceil(4)).filter(|word| {
                    words
                        .get(*word as usize / 64)
                        .is_some_and(|bits| bits >> (word % 64) & 1 == 1)
                });
                first = first.or_else(|| both.next());
            });
            if let Some(word) = first {
                found.written_frozen(counter, region, 4 * word);
            }
        }
    }
}
