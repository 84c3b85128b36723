//! Finds the blocks that do the same as a representative: limits on how far away they may be, and the boxes that the
//! grid is cut into.
//!
//! A block is identified by its distance from a representative, in strides along x, y and z. A value that *moves* by a
//! [`Step`] is larger by `step · distance` in the block at that distance. A decision that the representative made from
//! such values holds in another block as long as all sums stay between their [`Limits`]. Each limit is a half-space,
//! and [`Limits::reach`] finds a box within all of them. [`Cover`] cuts the grid into such boxes. The lowest block that
//! is not covered yet becomes the next representative, so the first block in which something happens is always a
//! representative.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a value changes from a block to the next one along x, y and z.
pub(super) type Step = [i64; 3];

/// The step of a value that is the same in all blocks.
pub(super) const STILL: Step = [0; 3];

/// The most residue classes that a grid may be cut into.
const MAX_RESIDUES: u64 = 4096;
/// The most different steps that have separate limits. A kernel with more has no regular pattern.
const MAX_LIMITS: usize = 1 << 14;

/// The conditions on a block's distance from the representative.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// `low <= step · distance <= high`; 0 is always between.
    sums: Vec<(Step, i128, i128)>,
    /// Whether there were too many.
    pub(super) overflows: bool,
}

impl Limits {
    /// Requires that the sum for `step` stays between `low` and `high`.
    pub(super) fn within(&mut self, step: Step, low: i128, high: i128) {
        if step == STILL {
            return;
        }
        debug_assert!(low <= 0 && high >= 0, "the representative is within");
        // The newest limits come first, because a loop's accesses limit the same steps again.
        let is_full = self.sums.len() >= MAX_LIMITS;
        let mut known = self.sums.iter_mut().rev();
        match known.find(|(other, ..)| *other == step) {
            Some((_, below, above)) => {
                *below = low.max(*below);
                *above = high.min(*above);
            }
            None if is_full => self.overflows = true,
            None => self.sums.push((step, low, high)),
        }
    }

    /// Requires that values that move by `step` do not move at all.
    pub(super) fn still(&mut self, step: Step) {
        self.within(step, 0, 0);
    }

    /// A box within all limits: how many strides it extends beyond the representative, at most `extent` along each
    /// axis. It extends as far as possible along x, then along y, then along z.
    pub(super) fn reach(&self, extent: [u64; 3]) -> [u64; 3] {
        let mut reach = [0; 3];
        for axis in 0..3 {
            let mut most = i128::from(extent[axis]);
            for (step, low, high) in &self.sums {
                let by = i128::from(step[axis]);
                let (mut least, mut largest) = (0, 0);
                for other in 0..axis {
                    let moved = i128::from(step[other]) * i128::from(reach[other]);
                    least += moved.min(0);
                    largest += moved.max(0);
                }
                if by > 0 {
                    most = most.min((high - largest) / by);
                } else if by < 0 {
                    most = most.min((least - low) / -by);
                }
            }
            reach[axis] = u64::try_from(most).unwrap_or(0);
        }
        reach
    }
}

/// Blocks of one residue class that have no representative yet.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    first: [u64; 3],
    /// How many there are along each axis, a stride apart.
    counts: [u64; 3],
}

/// The blocks of a grid that have no representative yet.
#[derive(Debug)]
pub(super) struct Cover {
    grid: [u64; 3],
    /// A representative stands for a block only if their distance is a multiple of this.
    pub(super) stride: [u64; 3],
    /// Keyed by the lowest block of each piece.
    pieces: BinaryHeap<Reverse<(u64, usize)>>,
    kept: Vec<Piece>,
}

impl Cover {
    pub(super) fn new(grid: [u32; 3], stride: [u64; 3]) -> Cover {
        let mut cover = Cover {
            grid: grid.map(u64::from),
            stride,
            pieces: BinaryHeap::new(),
            kept: Vec::new(),
        };
        for z in 0..stride[2] {
            for y in 0..stride[1] {
                for x in 0..stride[0] {
                    let first = [x, y, z];
                    let count = |axis: usize| {
                        let left = cover.grid[axis].saturating_sub(first[axis]);
                        left.div_ceil(stride[axis])
                    };
                    let counts = [count(0), count(1), count(2)];
                    cover.keep(Piece { first, counts });
                }
            }
        }
        cover
    }

    fn keep(&mut self, piece: Piece) {
        if piece.counts.contains(&0) {
            return;
        }
        let [x, y, z] = piece.first;
        let lowest = (z * self.grid[1] + y) * self.grid[0] + x;
        self.pieces.push(Reverse((lowest, self.kept.len())));
        self.kept.push(piece);
    }

    /// The number of the lowest block that is not covered yet.
    pub(super) fn next(&self) -> Option<u64> {
        self.pieces.peek().map(|Reverse((lowest, _))| *lowest)
    }

    /// Removes the blocks within `limits` of that block, which do the same as it. Returns how many there are.
    pub(super) fn cut(&mut self, limits: &Limits) -> u64 {
        let Some(Reverse((_, place))) = self.pieces.pop() else {
            return 0;
        };
        let Piece { first, counts } = &self.kept[place];
        let (first, counts) = (*first, *counts);
        let reach = limits.reach(counts.map(|count| count - 1));
        let taken = reach.map(|strides| strides + 1);
        for axis in 0..3 {
            let (mut first, mut counts) = (first, counts);
            first[axis] += taken[axis] * self.stride[axis];
            counts[axis] -= taken[axis];
            // The blocks beyond the box along earlier axes are already cut off.
            counts[..axis].copy_from_slice(&taken[..axis]);
            self.keep(Piece { first, counts });
        }
        taken.iter().product()
    }
}

/// The stride for which values that move by `step` (in strides) move by multiples of `modulus`, and the axes along
/// which no stride works: there would be too many classes, or hardly two blocks in one.
pub(super) fn stride_for(
    grid: [u32; 3],
    stride: [u64; 3],
    step: Step,
    modulus: u64,
) -> ([u64; 3], [bool; 3]) {
    let (mut wanted, mut cannot) = (stride, [false; 3]);
    for axis in 0..3 {
        let by = step[axis].unsigned_abs();
        if by.is_multiple_of(modulus) {
            continue;
        }
        let factor = modulus / gcd(by, modulus);
        let wider = wanted[axis].saturating_mul(factor);
        let others: u64 = (0..3).filter(|k| *k != axis).map(|k| wanted[k]).product();
        let fits = wider.saturating_mul(2) <= u64::from(grid[axis])
            && wider.saturating_mul(others) <= MAX_RESIDUES;
        match fits {
            true => wanted[axis] = wider,
            false => cannot[axis] = true,
        }
    }
    (wanted, cannot)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple.
pub(super) fn lcm(a: u64, b: u64) -> u64 {
    a / gcd(a, b).max(1) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a grid by a rule that gives each representative its limits. Every block must be covered exactly once.
    fn counts(grid: [u32; 3], stride: [u64; 3], limits: impl Fn([i64; 3]) -> Limits) -> (u64, u64) {
        let mut cover = Cover::new(grid, stride);
        let (mut classes, mut blocks) = (0, 0);
        while let Some(next) = cover.next() {
            let [x, y] = [u64::from(grid[0]), u64::from(grid[1])];
            let at = [next % x, next / x % y, next / x / y].map(|number| number as i64);
            blocks += cover.cut(&limits(at));
            classes += 1;
        }
        (classes, blocks)
    }

    #[test]
    fn without_limits_there_is_one_class() {
        assert_eq!(counts([7, 5, 3], [1; 3], |_| Limits::default()), (1, 105));
    }

    #[test]
    fn each_residue_is_a_class() {
        assert_eq!(
            counts([7, 5, 3], [2, 1, 3], |_| Limits::default()),
            (6, 105)
        );
    }

    #[test]
    fn edges_and_corners_are_classes_of_their_own() {
        // `x > 0` and `x < 9`, `y < 5`.
        let edges = |[x, y, _]: [i64; 3]| {
            let mut limits = Limits::default();
            match x {
                0 => limits.within([1, 0, 0], i128::MIN / 4, 0),
                _ => limits.within([1, 0, 0], i128::from(1 - x), i128::MAX / 4),
            }
            match x {
                9 => limits.within([1, 0, 0], 0, i128::MAX / 4),
                _ => limits.within([1, 0, 0], i128::MIN / 4, i128::from(8 - x)),
            }
            match y {
                5 => limits.within([0, 1, 0], 0, i128::MAX / 4),
                _ => limits.within([0, 1, 0], i128::MIN / 4, i128::from(4 - y)),
            }
            limits
        };
        assert_eq!(counts([10, 6, 1], [1; 3], edges), (6, 60));
    }

    #[test]
    fn a_diagonal_is_cut_into_rows() {
        let diagonal = |[x, y, _]: [i64; 3]| {
            let mut limits = Limits::default();
            let (step, far) = ([1, -1, 0], i128::MAX / 4);
            match (x - y).signum() {
                0 => limits.still(step),
                1 => limits.within(step, i128::from(1 - (x - y)), far),
                _ => limits.within(step, -far, i128::from(-1 - (x - y))),
            }
            limits
        };
        let (classes, blocks) = counts([20, 20, 1], [1; 3], diagonal);
        assert_eq!(blocks, 400);
        assert!(classes < 80, "{classes}");
    }

    #[test]
    fn a_stride_makes_steps_multiples() {
        assert_eq!(
            stride_for([1000; 3], [1; 3], [4, 128, 48], 128),
            ([32, 1, 8], [false; 3])
        );
        // No second block is eight blocks away.
        assert_eq!(
            stride_for([8, 8, 8], [1; 3], [16, 128, 0], 128),
            ([1; 3], [true, false, false])
        );
    }
}
