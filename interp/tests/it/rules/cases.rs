//! Random warp accesses, the same in every run: shapes that programs have, and unlikely shapes.

use interp::mask::LaneMask;

/// SplitMix64: it is short, and its numbers never change.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

pub(crate) const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

pub(crate) fn mask(random: &mut Random) -> LaneMask {
    LaneMask(match random.below(8) {
        0..3 => u32::MAX,
        3 => random.pick(&[
            0xffff,
            0xffff_0000,
            0x5555_5555,
            0x3333_3333,
            0xff00_ff00,
            0xf0f0_f0f0,
        ]),
        4 => (1u32 << random.below(32)) - 1,
        5 => random.next() as u32 & random.next() as u32 & random.next() as u32,
        6 => 1 << random.below(32),
        _ => random.next() as u32,
    })
}

/// Offsets in units of the width, most of them in a few rows of banks, and some far apart.
pub(crate) fn units(random: &mut Random) -> [u64; 32] {
    let range = random.pick(&[2, 8, 32, 40, 64, 128, 1024, 4096, 14_000]);
    let base = random.below(range);
    match random.below(9) {
        0 => {
            let stride = random.below(70);
            std::array::from_fn(|lane| base + stride * lane as u64)
        }
        1 => {
            let stride = random.below(70);
            std::array::from_fn(|lane| base + stride * (31 - lane as u64))
        }
        2 => shuffled(random, base),
        3 => {
            let pool: Vec<u64> = (0..1 + random.below(12))
                .map(|_| random.below(range))
                .collect();
            std::array::from_fn(|_| random.pick(&pool))
        }
        4 => {
            let banks: Vec<u64> = (0..1 + random.below(5)).map(|_| random.below(32)).collect();
            std::array::from_fn(|_| random.pick(&banks) + 32 * random.below(300))
        }
        5 => {
            // Pairs of lanes with the same address, as in the merging rule, sometimes with one lane that differs.
            let clear = random.pick(&[1, 2, 3, 4, 8, 16]);
            let values: [u64; 32] = std::array::from_fn(|_| random.below(range));
            let mut units = std::array::from_fn(|lane| values[lane & !clear]);
            if random.below(4) == 0 {
                units[random.below(32) as usize] = random.below(range);
            }
            units
        }
        6 => {
            let (across, down, width) = (
                random.below(40),
                random.below(80),
                random.pick(&[2, 4, 8, 16]),
            );
            std::array::from_fn(|lane| {
                base + lane as u64 % width * across + lane as u64 / width * down
            })
        }
        7 => {
            let flip = random.below(32);
            std::array::from_fn(|lane| base + (lane as u64 ^ flip) * random.pick(&[1, 1, 1, 32]))
        }
        _ => std::array::from_fn(|_| random.below(range)),
    }
}

fn shuffled(random: &mut Random, base: u64) -> [u64; 32] {
    let mut units: [u64; 32] = std::array::from_fn(|lane| base + lane as u64);
    for lane in (1..32).rev() {
        units.swap(lane, random.below(lane as u64 + 1) as usize);
    }
    units
}
