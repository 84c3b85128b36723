//! Extracts what a part of a launch touched of global memory from its shadow, to compare it with other parts.
//!
//! For each cell, the shadow has the last write and a reader since then. That is enough: if an access of another block
//! conflicts with any access to the cell, it conflicts with one of these. Consecutive cells that one source access of
//! one block touched form a [`Stretch`]. Stretches at a constant distance, such as those of a matrix's rows, are folded
//! into one.

use std::collections::BTreeMap;

use crate::coded::coded;

use super::detector::Detector;
use super::epoch::{ATOMIC, PLACE};
use crate::fault::trap::AccessOp;

/// The most stretches of one region.
const MAX_STRETCHES: usize = 50_000;
/// How many are collected before they are folded.
const FOLDED_AT: usize = 1 << 16;
/// How often stretches are folded: as many times as a grid has dimensions.
const MAX_STEPS: usize = 3;

/// Consecutive bytes that one source access of one block touched, and their repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The counter of the source access.
    pub(crate) counter: u32,
    /// The kind of access: a read of what others wrote, a write, or an update.
    pub(crate) op: AccessOp,
    /// The number of the block.
    pub(crate) block: u64,
    /// The offset in the region.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    /// Its repetitions, the innermost first.
    pub(crate) steps: Vec<Step>,
}

/// A repetition of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The total number.
    pub(crate) count: u64,
    /// The distance in bytes.
    pub(crate) bytes: u64,
    /// The difference of the block numbers.
    pub(crate) blocks: i64,
}

/// What a part of a launch touched in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touches {
    /// The region's number in the launch.
    pub(crate) region: u32,
    pub(crate) stretches: Vec<Stretch>,
    /// Whether there were too many, so that for some only their common range is known.
    pub(crate) is_coarse: bool,
}

coded!(struct Step { count, bytes, blocks });
coded!(struct Stretch { counter, op, block, start, bytes, steps });
coded!(struct Touches { region, stretches, is_coarse });

impl Stretch {
    /// The end, including all steps.
    pub(crate) fn end(&self) -> u64 {
        let steps = self.steps.iter();
        let last = steps.map(|step| (step.count.saturating_sub(1)).saturating_mul(step.bytes));
        last.fold(self.start.saturating_add(self.bytes), u64::saturating_add)
    }

    /// Calls `then` with the offset and the block of each repetition.
    pub(crate) fn each(&self, then: &mut impl FnMut(u64, u64)) {
        repeat((self.start, self.block), &self.steps, then);
    }

    fn is_like(&self, other: &Stretch) -> bool {
        (self.counter, self.op, self.bytes) == (other.counter, other.op, other.bytes)
    }

    /// The step from this one to another.
    fn step_to(&self, other: &Stretch) -> Option<Step> {
        let alike = self.is_like(other) && self.steps == other.steps;
        Some(Step {
            count: 2,
            bytes: other.start.checked_sub(self.start).filter(|_| alike)?,
            blocks: other.block.wrapping_sub(self.block) as i64,
        })
    }

    /// Merges the next one, if it continues this one's repetition.
    fn goes_on(&mut self, next: &Stretch) -> bool {
        let Some((last, inner)) = self.steps.split_last() else {
            return false;
        };
        let times = match next.steps.split_last() {
            _ if next.steps == inner => 1,
            Some((step, rest))
                if rest == inner && (step.bytes, step.blocks) == (last.bytes, last.blocks) =>
            {
                step.count
            }
            _ => return false,
        };
        let start = self.start + last.count * last.bytes;
        let block = self
            .block
            .wrapping_add((last.count as i64).wrapping_mul(last.blocks) as u64);
        let fits = self.is_like(next) && (next.start, next.block) == (start, block);
        if fits && let Some(last) = self.steps.last_mut() {
            last.count += times;
        }
        fits
    }
}

fn repeat((start, block): (u64, u64), steps: &[Step], then: &mut impl FnMut(u64, u64)) {
    let Some((step, inner)) = steps.split_last() else {
        return then(start, block);
    };
    for k in 0..step.count {
        let further = (k as i64).wrapping_mul(step.blocks) as u64;
        let at = start.saturating_add(k.saturating_mul(step.bytes));
        repeat((at, block.wrapping_add(further)), inner, then);
    }
}

/// Collects stretches in ascending order.
#[derive(Default)]
struct Folder {
    folded: Vec<Stretch>,
    new: Vec<Stretch>,
    is_coarse: bool,
}

impl Folder {
    fn add(&mut self, stretch: Stretch) {
        if let Some(last) = self.new.last_mut()
            && (last.counter, last.op, last.block) == (stretch.counter, stretch.op, stretch.block)
            && last.start + last.bytes == stretch.start
        {
            last.bytes += stretch.bytes;
            return;
        }
        if self.new.len() >= FOLDED_AT {
            self.fold();
        }
        self.new.push(stretch);
    }

    /// Folds the new ones, and adds them to the rest.
    fn fold(&mut self) {
        let mut new = std::mem::take(&mut self.new);
        for _ in 0..MAX_STEPS {
            new = folded(new);
        }
        for stretch in new {
            let goes_on = self
                .folded
                .last_mut()
                .is_some_and(|last| last.goes_on(&stretch));
            if !goes_on {
                self.folded.push(stretch);
            }
        }
        if self.folded.len() > MAX_STRETCHES {
            self.folded = coarse(&self.folded);
            self.is_coarse = true;
        }
    }

    fn end(&mut self) -> Vec<Stretch> {
        self.fold();
        folded(std::mem::take(&mut self.folded))
    }
}

/// Folds stretches at a constant distance, if there are at least three.
fn folded(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut folded: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        if let Some(last) = folded.last_mut()
            && last.goes_on(&stretch)
        {
            continue;
        }
        folded.push(stretch);
        let [.., a, b, c] = &folded[..] else {
            continue;
        };
        if let Some(step) = a.step_to(b)
            && b.step_to(c) == Some(step)
            && a.steps.len() < MAX_STEPS
        {
            folded.truncate(folded.len() - 2);
            if let Some(last) = folded.last_mut() {
                last.steps.push(Step { count: 3, ..step });
            }
        }
    }
    folded
}

/// The range of everything that each source access touched.
fn coarse(stretches: &[Stretch]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        let (start, end) = (stretch.start, stretch.end());
        let mut known = all.iter_mut();
        match known.find(|known| (known.counter, known.op) == (stretch.counter, stretch.op)) {
            Some(known) => {
                let end = known.end().max(end);
                known.start = known.start.min(start);
                known.bytes = end - known.start;
            }
            None => all.push(Stretch {
                bytes: end - start,
                steps: Vec::new(),
                ..stretch.clone()
            }),
        }
    }
    all
}

/// Merges what several workers touched. Their blocks alternate, so the stretches of a worker have gaps. For bytes with
/// several readers, one reader is kept.
pub(crate) fn gathered(all: Vec<Touches>) -> Vec<Touches> {
    let mut regions: BTreeMap<u32, Vec<Touches>> = BTreeMap::new();
    for touches in all {
        regions.entry(touches.region).or_default().push(touches);
    }
    let one = |(region, mut all): (u32, Vec<Touches>)| match all.len() {
        1 => all.remove(0),
        _ => joined(region, &all),
    };
    regions.into_iter().map(one).collect()
}

fn joined(region: u32, all: &[Touches]) -> Touches {
    let mut touches = Touches {
        region,
        stretches: Vec::new(),
        is_coarse: all.iter().any(|touches| touches.is_coarse),
    };
    for op in [AccessOp::Store, AccessOp::Atomic, AccessOp::Load] {
        let stretches = all.iter().flat_map(|touches| &touches.stretches);
        let mut pieces = Vec::new();
        for stretch in stretches.filter(|stretch| stretch.op == op) {
            stretch.each(&mut |start, block| {
                pieces.push((start, block, stretch.bytes, stretch.counter));
            });
        }
        pieces.sort_unstable();
        let (mut folder, mut end) = (Folder::default(), 0);
        for (start, block, bytes, counter) in pieces {
            let from = start.max(end);
            end = end.max(start + bytes);
            if from < start + bytes {
                folder.add(Stretch {
                    counter,
                    op,
                    block,
                    start: from,
                    bytes: start + bytes - from,
                    steps: Vec::new(),
                });
            }
        }
        touches.stretches.extend(folder.end());
        touches.is_coarse |= folder.is_coarse;
    }
    touches
}

impl Detector<'_> {
    /// What the blocks so far touched in global memory.
    pub(crate) fn touches(&self) -> Vec<Touches> {
        let mut all = self.global.forgotten.clone();
        for (cells, region) in self.global.regions.iter().zip(&self.subject.map.regions) {
            // Writes, and the reads since.
            let mut sides = [Folder::default(), Folder::default()];
            cells.for_each_touched(|first, count, write, read| {
                let start = (first as u64) << cells.shift;
                let bytes = (((count as u64) << cells.shift).min(region.size - start)).max(1);
                for (folder, tag) in sides.iter_mut().zip([write, read]) {
                    // Not touched, or initial contents.
                    if tag & PLACE < 32 {
                        continue;
                    }
                    let entry = self.global.table.entry(tag);
                    let op = match (tag & ATOMIC != 0, self.op_of(entry.counter)) {
                        (true, _) => AccessOp::Atomic,
                        (false, op) => op,
                    };
                    folder.add(Stretch {
                        counter: entry.counter,
                        op,
                        block: entry.block.into(),
                        start,
                        bytes,
                        steps: Vec::new(),
                    });
                }
            });
            let mut stretches = sides[0].end();
            stretches.extend(sides[1].end());
            if !stretches.is_empty() {
                all.push(Touches {
                    region: region.index,
                    stretches,
                    is_coarse: sides.iter().any(|side| side.is_coarse),
                });
            }
        }
        all
    }

    fn op_of(&self, counter: u32) -> AccessOp {
        self.subject.code.counters[counter as usize].op
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(block: u64, start: u64, bytes: u64) -> Stretch {
        Stretch {
            counter: 0,
            op: AccessOp::Store,
            block,
            start,
            bytes,
            steps: vec![],
        }
    }

    /// Folds stretches, and checks that the result means the same.
    fn fold(stretches: Vec<Stretch>) -> Vec<Stretch> {
        let mut folder = Folder::default();
        let mut expected = Vec::new();
        for stretch in stretches {
            expected.extend((0..stretch.bytes).map(|k| (stretch.start + k, stretch.block)));
            folder.add(stretch);
        }
        let folded = folder.end();
        let mut found = Vec::new();
        for stretch in &folded {
            stretch.each(&mut |start, block| {
                found.extend((0..stretch.bytes).map(|k| (start + k, block)));
            });
        }
        found.sort_unstable();
        assert_eq!(found, expected);
        folded
    }

    #[test]
    fn neighbours_are_one() {
        assert_eq!(
            fold(vec![stretch(1, 0, 128), stretch(1, 128, 128)]),
            [stretch(1, 0, 256)]
        );
    }

    #[test]
    fn rows_of_a_matrix_are_one() {
        // Blocks of 8 rows with 32 bytes each. The grid is 10 by 5, but only the blocks from 3 to 6 of each row are
        // here.
        let rows = (0..40u64).flat_map(|row| {
            (3..7).map(move |x| stretch(10 * (row / 8) + x, 320 * row + 32 * x, 32))
        });
        let folded = fold(rows.collect());
        assert_eq!(folded.len(), 1, "{folded:?}");
        let steps: Vec<_> = folded[0].steps.iter().map(|step| step.count).collect();
        assert_eq!(steps, [4, 8, 5]);
    }

    #[test]
    fn many_stay_few() {
        let blocks = (0..1_000_000u64).map(|block| stretch(block, 64 * block, 64));
        assert_eq!(fold(blocks.collect()).len(), 1);
    }

    #[test]
    fn workers_that_take_turns_are_one() {
        let of_worker = |worker: u64| {
            let mut folder = Folder::default();
            let blocks = (0..10_000u64).filter(|block| block / 7 % 3 == worker);
            blocks.for_each(|block| folder.add(stretch(block, 256 * block, 128)));
            Touches {
                region: 4,
                stretches: folder.end(),
                is_coarse: false,
            }
        };
        let all = gathered(vec![of_worker(2), of_worker(0), of_worker(1)]);
        let mut folder = Folder::default();
        (0..10_000).for_each(|block| folder.add(stretch(block, 256 * block, 128)));
        let expected = Touches {
            region: 4,
            stretches: folder.end(),
            is_coarse: false,
        };
        assert_eq!(all, [expected]);
    }

    #[test]
    fn what_has_no_order_stays_as_it_is() {
        let mut at = 0;
        let odd = (0..1000u64).map(|k| {
            at += 5 + k * k % 31;
            stretch(k * k % 17, at, 4)
        });
        fold(odd.collect());
    }
}
