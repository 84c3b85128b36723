//! Compares `ir::approx` with the GPU: a hash of 65,536 results each, for every function (`tests/math/units.md`).
//!
//!     cargo test --release -p dslc-ir --test units -- --ignored      all 2^32 arguments

use ir::approx;

type Unit = fn(u32) -> u32;

/// In the order of `units.hash`, which has the upper 16 bits of each hash of `units.cu`.
const UNITS: [(&str, Unit); 8] = [
    ("rcp", approx::rcp),
    ("rsqrt", approx::rsqrt),
    ("sqrt", approx::sqrt),
    ("ex2", approx::ex2),
    ("lg2", approx::lg2),
    ("sin", approx::sin),
    ("cos", approx::cos),
    ("tanh", approx::tanh),
];
const HASHES: &[u8; 8 * 2 * 65536] = include_bytes!("../../tests/math/units.hash");

/// The same function as in `units.cu`.
fn scramble(value: u64) -> u64 {
    let value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ value >> 32
}

fn hash(unit: Unit, block: u32) -> u16 {
    let sum = (block << 16..=block << 16 | 0xffff).fold(0u64, |sum, argument| {
        sum.wrapping_add(scramble((argument as u64) << 32 | unit(argument) as u64))
    });
    (sum >> 48) as u16
}

fn check(blocks: impl Iterator<Item = u32> + Clone) {
    for (i, (name, unit)) in UNITS.into_iter().enumerate() {
        let wrong: Vec<u32> = blocks
            .clone()
            .filter(|&block| {
                let at = 2 * (i * 65536 + block as usize);
                hash(unit, block) != u16::from_le_bytes([HASHES[at], HASHES[at + 1]])
            })
            .collect();
        assert!(wrong.is_empty(), "{name}: blocks {wrong:x?}");
    }
}

/// 517 blocks of each function; a power of 2 has 128.
#[test]
fn a_sample_is_the_gpus() {
    check((0..65536).step_by(127));
}

#[test]
#[ignore = "nine minutes"]
fn everything_is_the_gpus() {
    check(0..65536);
}
