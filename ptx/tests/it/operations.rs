//! Each instruction gives the bits that an H200 gives: the hashes of `tests/h200/operations.csv`, which `bench/gpu/ptx.cu` printed there.

use std::fs;
use std::path::Path;

use crate::machine::Runner;

/// The same as in `bench/gpu/ptx.cu`.
const SPECIAL: [u32; 25] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x807f_ffff,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x7e80_0000,
    0x7e80_0001,
    0x7f00_0000,
    0xc2fc_0000,
    0xc2fe_0000,
    0x42fe_0000,
    31,
    32,
    33,
    0xffff_ffff,
    0x7fff_ffff,
];
const PAIRS: usize = 16384;

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn word(i: usize) -> u32 {
    let (pair, count) = (i / 2, SPECIAL.len());
    if pair < count * count {
        return SPECIAL[if i % 2 == 1 {
            pair % count
        } else {
            pair / count
        }];
    }
    let bits = mix(i as u64) as u32;
    match pair % 4 {
        0 => (bits & 0x807f_ffff) | (119 + (bits >> 23) % 16) << 23,
        1 => bits & 0x80ff_ffff,
        _ => bits,
    }
}

#[test]
fn results_are_those_of_an_h200() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/h200");
    let text = fs::read_to_string(folder.join("operations.ptx")).expect("the kernels");
    let rows = fs::read_to_string(folder.join("operations.csv")).expect("the results");
    let (module, made) = ptx::module(&text, "operations.ptx").expect("PTX");
    assert_eq!(made.refused, [], "all kernels are read");
    let words: Vec<u32> = (0..2 * PAIRS).map(word).collect();
    let runner = Runner::new(module);
    let mut others = Vec::new();
    for row in rows.lines() {
        let (kernel, expected) = row.split_once(',').expect("a name and a hash");
        let blocks = [PAIRS as u32 / 256, 256];
        let results = runner.run(kernel, blocks, (&words, &[PAIRS as u64]), PAIRS);
        let hash = results
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &word| {
                (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3)
            });
        if format!("{hash:016x}") != expected {
            others.push(kernel);
        }
    }
    assert_eq!(others, [""; 0], "other bits than an H200's");
}
