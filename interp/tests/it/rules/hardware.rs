//! The production functions reproduce every row of counters that was read on an H200 (`tests/data/h200/README.md`).

use interp::mask::LaneMask;
use interp::rules::bank::{SharedOp, shared_cost};
use interp::rules::coalesce::{GlobalOp, global_cost};
use interp::rules::{Arch, RuleSet};

/// One line of comma-separated text. An empty field is a number that was not read.
struct Row<'a>(Vec<&'a str>);

impl Row<'_> {
    fn number(&self, column: usize) -> Option<u32> {
        Some(self.0[column])
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
    }

    fn mask(&self, column: usize) -> LaneMask {
        LaneMask(u32::from_str_radix(self.0[column], 16).unwrap())
    }
}

fn rows(csv: &str) -> impl Iterator<Item = Row<'_>> {
    csv.lines()
        .skip(1)
        .map(|line| Row(line.split(',').collect()))
}

fn shared_op(name: &str) -> SharedOp {
    match name {
        "ld" => SharedOp::Load,
        "st" => SharedOp::Store,
        "atom_add" | "atom_exch" | "atom_min" => SharedOp::Atomic,
        "atom_cas" => SharedOp::AtomicCas,
        other => panic!("unknown operation {other}"),
    }
}

fn global_op(name: &str) -> GlobalOp {
    match name {
        "ld" => GlobalOp::Load,
        "st" => GlobalOp::Store,
        _ => GlobalOp::Atomic,
    }
}

#[test]
fn all_measured_patterns_cost_what_the_counters_read() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    let patterns = rows(include_str!("../../data/h200/patterns.csv"));
    let results = rows(include_str!("../../data/h200/results.csv"));
    let mut compared = 0;
    for (pattern, result) in patterns.zip(results) {
        assert_eq!(pattern.0[..4], result.0[..4]);
        let what = pattern.0[..5].join(",");
        let (width, mask) = (pattern.number(3).unwrap(), pattern.mask(4));
        let offsets: [u32; 32] = std::array::from_fn(|lane| pattern.number(5 + lane).unwrap());
        if pattern.0[1] == "shared" {
            let cost = shared_cost(
                &rules.shared,
                shared_op(pattern.0[2]),
                width,
                mask,
                &offsets,
            )
            .unwrap();
            assert_eq!(
                Some(cost.transactions),
                result.number(5),
                "wavefronts of {what}"
            );
            if matches!(pattern.0[2], "ld" | "st") {
                assert_eq!(
                    Some(cost.bank_conflicts()),
                    result.number(6),
                    "bank conflicts of {what}"
                );
            }
        } else {
            // The buffer's alignment was much larger than a sector.
            let addresses = offsets.map(|offset| 0x7f00_0000_0000 + u64::from(offset));
            let cost = global_cost(
                &rules.global,
                global_op(pattern.0[2]),
                width,
                mask,
                &addresses,
            )
            .unwrap();
            assert_eq!(Some(cost.sectors), result.number(8), "sectors of {what}");
            if let Some(requests) = result.number(7) {
                assert_eq!(cost.requests, requests, "requests of {what}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 1698);
}

#[test]
fn pair_merging_costs_what_the_counters_read() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    let patterns = rows(include_str!("../../data/h200/pairs.csv"));
    let results = rows(include_str!("../../data/h200/pairs-results.csv"));
    let mut compared = 0;
    for (pattern, result) in patterns.zip(results) {
        assert_eq!(pattern.0[..4], result.0[..4]);
        let (width, mask) = (pattern.number(3).unwrap(), pattern.mask(4));
        let offsets: [u32; 32] = std::array::from_fn(|lane| pattern.number(5 + lane).unwrap());
        let cost = shared_cost(
            &rules.shared,
            shared_op(pattern.0[2]),
            width,
            mask,
            &offsets,
        )
        .unwrap();
        assert_eq!(
            Some(cost.transactions),
            result.number(4),
            "wavefronts of row {}",
            pattern.0[0]
        );
        assert_eq!(
            Some(cost.bank_conflicts()),
            result.number(5),
            "bank conflicts of row {}",
            pattern.0[0]
        );
        compared += 1;
    }
    assert_eq!(compared, 600);
}

#[test]
fn atomics_of_every_kind_cost_what_the_counters_read() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    let mut compared = 0;
    for row in rows(include_str!("../../data/h200/atomics.csv")) {
        let what = row.0.join(",");
        let (width, mask) = (row.number(2).unwrap(), row.mask(5));
        let (modulus, stride) = (row.number(3).unwrap(), row.number(4).unwrap());
        let offsets: [u32; 32] = std::array::from_fn(|lane| lane as u32 % modulus * stride * width);
        let count = if row.0[0] == "shared" {
            shared_cost(&rules.shared, shared_op(row.0[1]), width, mask, &offsets)
                .unwrap()
                .transactions
        } else {
            let addresses = offsets.map(u64::from);
            global_cost(&rules.global, GlobalOp::Atomic, width, mask, &addresses)
                .unwrap()
                .sectors
        };
        assert_eq!(Some(count), row.number(6), "{what}");
        compared += 1;
    }
    assert_eq!(compared, 990);
}
