//! Measures the cost of counting one warp's access: common patterns, per call.
//! `cargo bench -p dslc-interp --bench rules`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

use divan::{Bencher, black_box};
use interp::mask::LaneMask;
use interp::rules::affine::{global_cost_affine, shared_cost_affine};
use interp::rules::bank::{SharedOp, shared_cost};
use interp::rules::coalesce::{GlobalOp, global_cost};
use interp::rules::{Arch, RuleSet};

fn main() {
    divan::main();
}

const PATTERNS: [&str; 10] = [
    "broadcast",
    "contiguous",
    "reversed",
    "two_words",
    "shuffled_row",
    "stride_2",
    "column_32",
    "column_33",
    "random_tile",
    "random_far",
];

/// Addresses in units of the width. The random ones come from a multiplicative sequence and are the same in every run.
fn units(pattern: &str) -> [u64; 32] {
    std::array::from_fn(|lane| {
        let lane = lane as u64;
        let random = (lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        match pattern {
            "broadcast" => 5,
            "contiguous" => lane,
            "reversed" => 31 - lane,
            "two_words" => lane & 16,
            "shuffled_row" => random % 32,
            "stride_2" => 2 * lane,
            "column_32" => 32 * lane,
            "column_33" => 33 * lane,
            "random_tile" => random % 1024,
            _ => random % 12_000,
        }
    })
}

fn shared(bencher: Bencher<'_, '_>, pattern: &str, op: SharedOp, width: u32, mask: LaneMask) {
    let rules = RuleSet::for_arch(Arch::SM_90).shared;
    let addresses = units(pattern).map(|unit| unit as u32 * width);
    bencher.bench_local(|| {
        shared_cost(
            black_box(&rules),
            op,
            width,
            black_box(mask),
            black_box(&addresses),
        )
    });
}

#[divan::bench(args = PATTERNS)]
fn shared_load_4(bencher: Bencher<'_, '_>, pattern: &str) {
    shared(bencher, pattern, SharedOp::Load, 4, LaneMask::FULL);
}

#[divan::bench(args = PATTERNS)]
fn shared_load_4_half_mask(bencher: Bencher<'_, '_>, pattern: &str) {
    shared(bencher, pattern, SharedOp::Load, 4, LaneMask(0x5555_5555));
}

#[divan::bench(args = PATTERNS)]
fn shared_load_16(bencher: Bencher<'_, '_>, pattern: &str) {
    shared(bencher, pattern, SharedOp::Load, 16, LaneMask::FULL);
}

#[divan::bench(args = PATTERNS)]
fn shared_atomic_4(bencher: Bencher<'_, '_>, pattern: &str) {
    shared(bencher, pattern, SharedOp::Atomic, 4, LaneMask::FULL);
}

#[divan::bench(args = PATTERNS)]
fn global_load_4(bencher: Bencher<'_, '_>, pattern: &str) {
    global(bencher, pattern, GlobalOp::Load);
}

#[divan::bench(args = PATTERNS)]
fn global_atomic_4(bencher: Bencher<'_, '_>, pattern: &str) {
    global(bencher, pattern, GlobalOp::Atomic);
}

fn global(bencher: Bencher<'_, '_>, pattern: &str, op: GlobalOp) {
    let rules = RuleSet::for_arch(Arch::SM_90).global;
    let addresses = units(pattern).map(|unit| 0x7f00_0000_0000 + unit * 4);
    bencher.bench_local(|| {
        global_cost(
            black_box(&rules),
            op,
            4,
            black_box(LaneMask::FULL),
            black_box(&addresses),
        )
    });
}

#[divan::bench]
fn shared_affine(bencher: Bencher<'_, '_>) {
    let rules = RuleSet::for_arch(Arch::SM_90).shared;
    bencher.bench_local(|| {
        shared_cost_affine(
            black_box(&rules),
            SharedOp::Load,
            4,
            black_box(64),
            black_box(132),
        )
    });
}

#[divan::bench]
fn global_affine(bencher: Bencher<'_, '_>) {
    let rules = RuleSet::for_arch(Arch::SM_90).global;
    bencher.bench_local(|| {
        global_cost_affine(
            black_box(&rules),
            GlobalOp::Load,
            4,
            black_box(64),
            black_box(4),
        )
    });
}
