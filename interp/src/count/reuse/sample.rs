//! Chooses the sampled blocks, and extrapolates from them to all others.

use super::stretches::{Stretch, bytes, common};

/// With at most this many blocks, all are in the sample.
pub(super) const FEW_BLOCKS: u64 = 4;
/// With fewer blocks than this, the sample is at one place only, so that it is a small part of the blocks.
const SOME_BLOCKS: u128 = 128;
/// The places of the sample, in eighths of each axis.
const EIGHTHS: [u64; 3] = [1, 4, 7];
/// The same for few blocks. Blocks at the end may be idle.
const EIGHTHS_OF_FEW: [u64; 1] = [2];
/// The least share that counts as all; the rest counts as nothing. The last block of an axis may have only a part.
const ALL: f64 = 0.99;
const NOTHING: f64 = 0.01;
/// The largest difference of shares that count as equal.
const ALIKE: f64 = 0.15;

/// The sampled blocks of a grid, in ascending order.
pub(crate) fn sampled(grid: [u32; 3]) -> Vec<u64> {
    let all: u128 = grid.iter().map(|&n| u128::from(n)).product();
    if all <= FEW_BLOCKS.into() {
        return (0..all as u64).collect();
    }
    let mut blocks: Vec<u64> = places(grid)
        .iter()
        .flat_map(|place| {
            let around = place.around.iter().flatten();
            let around = around.flat_map(|(near, distant)| [*near, *distant]);
            std::iter::once(place.block)
                .chain(around)
                .collect::<Vec<_>>()
        })
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// A block, and along each axis a neighbour and a distant block; `None`: the axis has only this block.
struct Around {
    block: u64,
    around: [Option<(u64, u64)>; 3],
}

fn places(grid: [u32; 3]) -> Vec<Around> {
    let sides = grid.map(u64::from);
    let number = |at: [u64; 3]| at[0] + sides[0] * (at[1] + sides[1] * at[2]);
    let around = |eighths: u64| {
        let at = sides.map(|side| side * eighths / 8);
        let along = |axis: usize| {
            let (side, here) = (sides[axis], at[axis]);
            let to = |there: u64| {
                let mut other = at;
                other[axis] = there;
                number(other)
            };
            let near = if here + 1 < side {
                here + 1
            } else {
                here.saturating_sub(1)
            };
            // The later blocks may be idle.
            let distant = match here >= 4 {
                true => here / 2,
                false => (here + side.div_ceil(2)).min(side - 1),
            };
            (side > 1).then(|| (to(near), to(distant)))
        };
        Around {
            block: number(at),
            around: [along(0), along(1), along(2)],
        }
    };
    let all: u128 = grid.iter().map(|&n| u128::from(n)).product();
    let eighths = match all < SOME_BLOCKS {
        true => &EIGHTHS_OF_FEW[..],
        false => &EIGHTHS,
    };
    eighths.iter().map(|&eighths| around(eighths)).collect()
}

/// The distinct bytes of all blocks, extrapolated from the sample.
pub(super) fn over_grid(
    sets: &[(u64, u64, Vec<Stretch>)],
    grid: [u32; 3],
    all_bytes: u64,
) -> Option<u64> {
    let set = |block: u64| {
        let at = sets
            .binary_search_by_key(&block, |(number, ..)| *number)
            .ok()?;
        let (_, asked, set) = &sets[at];
        Some((*asked, &set[..]))
    };
    let from = |place: &Around| {
        let (asked, own) = set(place.block)?;
        let mine = bytes(own) as f64;
        let (mut times, mut varies) = (1.0, false);
        for (axis, around) in place.around.iter().enumerate() {
            let Some((near, distant)) = *around else {
                continue;
            };
            let share = |other: u64| {
                let other = set(other)?.1;
                let smaller = bytes(other).min(bytes(own)).max(1);
                Some(common(own, other) as f64 / smaller as f64)
            };
            let side = f64::from(grid[axis]);
            let (near, distant) = (share(near)?, share(distant)?);
            if near >= ALL && distant >= ALL {
                continue;
            }
            varies = true;
            times *= match () {
                () if distant <= NOTHING && near < ALL => 1.0 + (side - 1.0) * (1.0 - near),
                () if (near - distant).abs() <= ALIKE => {
                    // Each block misses the same share of the set that they draw from.
                    let drawn_from = 1.0 / near.max(distant);
                    drawn_from * (1.0 - (1.0 - 1.0 / drawn_from).powf(side))
                }
                () => return None,
            };
        }
        let blocks: f64 = grid.iter().map(|&n| f64::from(n)).product();
        // Blocks without accesses do not count.
        let active = (all_bytes as f64 / asked.max(1) as f64 / blocks).min(1.0);
        let sum = if varies { mine * times * active } else { mine };
        Some((sum.max(mine).round() as u64).min(all_bytes.max(mine as u64)))
    };
    places(grid).iter().find_map(from)
}
