//! C's `rand()`: glibc's default generator, so that a program prints the same numbers as on Linux.
//!
//! glibc's TYPE_3 is an additive feedback generator over 31 words: `r[i] = r[i-3] + r[i-31]`, output `r[i] >> 1`. It is seeded by a
//! multiplicative congruential generator, and the first 310 outputs are discarded (documented in the random(3) sources and by P. Selinger,
//! "The GLIBC random number generator", 2007).

const DEGREE: usize = 31;
const SEPARATION: usize = 3;

/// The generator's state.
#[derive(Clone, Debug)]
pub(crate) struct Rand {
    state: [u32; DEGREE],
    front: usize,
}

impl Rand {
    /// As after `srand(seed)`; a program that never calls it has seed 1.
    pub(crate) fn new(seed: u32) -> Rand {
        let mut state = [0; DEGREE];
        state[0] = if seed == 0 { 1 } else { seed };
        for i in 1..DEGREE {
            // 16807 * r mod 2^31-1 by Schrage's method, with the sign handling of the C code.
            let previous = i64::from(state[i - 1] as i32);
            let word = (16807 * previous) % 2_147_483_647;
            state[i] = (if word < 0 { word + 2_147_483_647 } else { word }) as u32;
        }
        let mut rand = Rand {
            state,
            front: SEPARATION,
        };
        for _ in 0..10 * DEGREE {
            rand.next();
        }
        rand
    }

    /// From 0 to 2^31 - 1.
    pub(crate) fn next(&mut self) -> i32 {
        let rear = (self.front + DEGREE - SEPARATION) % DEGREE;
        self.state[self.front] = self.state[self.front].wrapping_add(self.state[rear]);
        let value = self.state[self.front] >> 1;
        self.front = (self.front + 1) % DEGREE;
        value as i32
    }
}

#[cfg(test)]
mod tests {
    use super::Rand;

    /// The first numbers every Linux program sees.
    #[test]
    fn seed_one_gives_glibcs_sequence() {
        let mut rand = Rand::new(1);
        let first: Vec<i32> = (0..5).map(|_| rand.next()).collect();
        assert_eq!(
            first,
            [1804289383, 846930886, 1681692777, 1714636915, 1957747793]
        );
    }

    #[test]
    fn seed_zero_is_seed_one() {
        assert_eq!(Rand::new(0).next(), 1804289383);
    }
}
