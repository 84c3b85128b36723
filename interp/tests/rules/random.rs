//! Production rules against the oracle: 100,000 random cases for shared and for global memory, per rule set; and that an
//! access moved by a multiple of the rules' period costs the same.

use interp::mask::LaneMask;
use interp::rules::bank::{SharedOp, passes, shared_cost};
use interp::rules::coalesce::{GlobalOp, SECTOR_BYTES, global_cost};
use interp::rules::{BankWidth, RuleSet};

use crate::cases::{self, Random, WIDTHS};
use crate::{oracle, rules};

const CASES: usize = 100_000;
const SHARED_OPS: [SharedOp; 6] = [
    SharedOp::Load,
    SharedOp::Load,
    SharedOp::Store,
    SharedOp::Store,
    SharedOp::Atomic,
    SharedOp::AtomicCas,
];
const GLOBAL_OPS: [GlobalOp; 5] = [
    GlobalOp::Load,
    GlobalOp::Load,
    GlobalOp::Store,
    GlobalOp::Store,
    GlobalOp::Atomic,
];

fn agree(rules: &RuleSet) {
    agree_on_shared(rules);
    agree_on_global(rules);
}

fn agree_on_shared(rules: &RuleSet) {
    let mut random =
        Random::new(u64::from(rules.arch.number()) << 8 | u64::from(rules.bank_width.bytes()));
    let mut modelled = 0;
    for case in 0..CASES {
        let (op, width) = (random.pick(&SHARED_OPS), random.pick(&WIDTHS));
        let mask = cases::mask(&mut random);
        let addresses = cases::units(&mut random).map(|unit| unit as u32 * width);
        let got = shared_cost(&rules.shared, op, width, mask, &addresses);
        let want = oracle::shared(rules, op, width, mask, &addresses);
        assert_eq!(
            got, want,
            "case {case}: {rules:?} {op:?} of {width} bytes, {mask}, {addresses:?}"
        );
        let passes = passes(&rules.shared, op, width, mask, &addresses);
        let served = passes.as_deref().map(|passes| {
            let lanes = passes.iter().fold(0, |all, lanes| all | lanes.0);
            let served: u32 = passes.iter().map(|lanes| lanes.count()).sum();
            (passes.len() as u32, lanes, served)
        });
        let times = 1 + u32::from(op == SharedOp::AtomicCas);
        assert_eq!(
            served,
            got.map(|cost| (cost.transactions, mask.0, times * mask.count())),
            "case {case}: the passes of {rules:?} {op:?} of {width} bytes, {mask}, {addresses:?}"
        );
        let shift = rules.shared.period_bytes(width) * random.below(1000) as u32;
        let moved = addresses.map(|address| address + shift);
        assert_eq!(
            got,
            shared_cost(&rules.shared, op, width, mask, &moved),
            "case {case}: {rules:?} {op:?} of {width} bytes, {mask}, {addresses:?} moved by {shift}"
        );
        if width <= 4 && got.is_some_and(|cost| cost.transactions == 1) {
            let fewer = LaneMask(mask.0 & random.next() as u32 | 1 << mask.lowest().unwrap());
            assert_eq!(
                got,
                shared_cost(&rules.shared, op, width, fewer, &addresses)
            );
        }
        assert_eq!(
            got.is_some(),
            rules.shared.provenance(op, width).is_modelled()
        );
        modelled += usize::from(got.is_some());
    }
    assert!(modelled > CASES / 2);
}

fn agree_on_global(rules: &RuleSet) {
    let mut random = Random::new(u64::from(rules.arch.number()) << 16 | u64::from(rules.l1));
    let mut modelled = 0;
    for case in 0..CASES {
        let (op, width) = (random.pick(&GLOBAL_OPS), random.pick(&WIDTHS));
        let mask = cases::mask(&mut random);
        let base =
            random.pick(&[0, 0x7f00_0000_0000, 0x7f00_0000_0050, u64::MAX - 0xff_ffff]) & !15;
        let addresses = cases::units(&mut random).map(|unit| base + unit * u64::from(width));
        let got = global_cost(&rules.global, op, width, mask, &addresses);
        let want = oracle::global(rules, op, width, mask, &addresses);
        assert_eq!(
            got, want,
            "case {case}: {rules:?} {op:?} of {width} bytes, {mask}, {addresses:?}"
        );
        let places = addresses.map(|address| address % SECTOR_BYTES);
        let (least, most) = (places.iter().min().unwrap(), places.iter().max().unwrap());
        let steps = (SECTOR_BYTES - u64::from(width) - (most - least)) / u64::from(width);
        let shift = u64::from(rules.global.period_bytes()) * random.below(1000)
            + u64::from(width) * random.below(steps + 1);
        let addresses = addresses.map(|address| address - least);
        let got = global_cost(&rules.global, op, width, mask, &addresses);
        let moved = addresses.map(|address| address.wrapping_add(shift));
        assert_eq!(
            got,
            global_cost(&rules.global, op, width, mask, &moved),
            "case {case}: {rules:?} {op:?} of {width} bytes, {mask}, {addresses:?} moved by {shift}"
        );
        assert_eq!(got.is_some(), rules.global.provenance(op).is_modelled());
        modelled += usize::from(got.is_some());
    }
    assert!(modelled > CASES / 2);
}

#[test]
fn sm_20_agrees_with_the_oracle() {
    agree(&rules("sm_20", BankWidth::Four));
}

#[test]
fn sm_20_without_l1_agrees_with_the_oracle() {
    agree_on_global(&rules("sm_20", BankWidth::Four).with_l1(false).unwrap());
}

#[test]
fn sm_35_with_4_byte_banks_agrees_with_the_oracle() {
    agree(&rules("sm_35", BankWidth::Four));
}

#[test]
fn sm_35_with_8_byte_banks_agrees_with_the_oracle() {
    agree(&rules("sm_35", BankWidth::Eight));
}

#[test]
fn sm_50_agrees_with_the_oracle() {
    agree(&rules("sm_50", BankWidth::Four));
}

#[test]
fn sm_90_agrees_with_the_oracle() {
    agree(&rules("sm_90", BankWidth::Four));
}
