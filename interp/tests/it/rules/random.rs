//! Compares the production rules with the oracle in 100,000 random cases for shared and for global memory, per rule
//! set, and checks that an access moved by a multiple of the rules' period costs the same.

use interp::mask::LaneMask;
use interp::rules::affine::shared_cost_affine;
use interp::rules::bank::{SharedOp, passes, shared_cost};
use interp::rules::coalesce::{GlobalOp, SECTOR_BYTES, global_cost};
use interp::rules::{Arch, BankWidth, RuleSet, SharedRules};

use super::cases::{self, Random, WIDTHS};
use super::{oracle, rules};

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

/// Rules that no architecture has: fewer banks than lanes, and more.
fn agree_on_given(banks: u32, lanes: [u32; 3]) {
    let base = RuleSet::for_arch(Arch::SM_90);
    let mut shared = base.shared;
    (shared.banks, shared.row_bytes) = (banks, 4 * banks);
    (shared.lanes_4, shared.lanes_8, shared.lanes_16) = (lanes[0], lanes[1], Some(lanes[2]));
    shared.merges_pairs = false;
    let rules = base
        .given("a test", shared, base.global)
        .expect("valid rules");
    let plain = oracle::Plain { banks, lanes };
    let mut random = Random::new(u64::from(banks));
    let mut conflicts = 0;
    for case in 0..CASES {
        let (op, width) = (random.pick(&SHARED_OPS), random.pick(&WIDTHS));
        let mask = cases::mask(&mut random);
        let addresses = cases::units(&mut random).map(|unit| unit as u32 * width);
        let got = shared_cost(&rules.shared, op, width, mask, &addresses);
        let want = plain.shared(op, width, mask, &addresses);
        let what = || {
            format!("case {case}: {banks} banks, {op:?} of {width} bytes, {mask}, {addresses:?}")
        };
        assert_eq!(got, Some(want), "{}", what());
        let passes = passes(&rules.shared, op, width, mask, &addresses).expect("modelled");
        assert_eq!(passes.len() as u32, want.transactions, "{}", what());
        let shift = rules.shared.period_bytes(width) * random.below(1000) as u32;
        let moved = addresses.map(|address| address + shift);
        assert_eq!(
            got,
            shared_cost(&rules.shared, op, width, mask, &moved),
            "{}",
            what()
        );
        let stride = random.below(300) as i32 * width as i32;
        let lanes = std::array::from_fn(|lane| addresses[0] + (stride * lane as i32) as u32);
        if let Some(closed) = shared_cost_affine(&rules.shared, op, width, addresses[0], stride) {
            let general = shared_cost(&rules.shared, op, width, LaneMask::FULL, &lanes);
            assert_eq!(Some(closed), general, "{} and stride {stride}", what());
        }
        conflicts += u32::from(want.degree > 1);
    }
    assert!(conflicts > CASES as u32 / 4, "{conflicts}");
}

#[test]
fn rules_of_4_banks() {
    agree_on_given(4, [4, 2, 1]);
    agree_on_given(4, [32, 32, 32]);
}

#[test]
fn rules_of_16_banks() {
    agree_on_given(16, [16, 8, 4]);
}

#[test]
fn rules_of_64_banks() {
    agree_on_given(64, [32, 32, 16]);
}

/// Each of the two ways of counting lines and requests works without the other.
#[test]
fn lines_and_split_requests_are_rules_of_their_own() {
    let base = RuleSet::for_arch(Arch::SM_90);
    let mut random = Random::new(2);
    for case in 0..CASES {
        let (op, width) = (random.pick(&GLOBAL_OPS[..4]), random.pick(&WIDTHS));
        let mask = cases::mask(&mut random);
        let addresses = cases::units(&mut random).map(|unit| unit * u64::from(width));
        let mut global = base.global;
        (global.loads_lines, global.splits_wide) = if random.below(2) == 0 {
            (true, false)
        } else {
            (false, true)
        };
        let rules = base.given("a test", base.shared, global).expect("valid");
        let got = global_cost(&rules.global, op, width, mask, &addresses).expect("modelled");
        let lanes_per_request = match width {
            8 if global.splits_wide => 16,
            16 if global.splits_wide => 8,
            _ => 32,
        };
        let (mut requests, mut lines, mut sectors) = (0, 0, 0);
        for first in (0..32).step_by(lanes_per_request) {
            let lanes: Vec<usize> = (first..first + lanes_per_request)
                .filter(|&lane| mask.0 >> lane & 1 == 1)
                .collect();
            requests += u32::from(!lanes.is_empty());
            lines += oracle::pieces(&lanes, width, &addresses, 128);
            sectors += oracle::pieces(&lanes, width, &addresses, 32);
        }
        if global.loads_lines && op == GlobalOp::Load {
            sectors = 4 * lines;
        }
        assert_eq!(
            (got.requests, got.transactions, got.sectors),
            (requests, lines, sectors),
            "case {case}: {op:?} of {width} bytes, {mask}, {addresses:?}"
        );
    }
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let base = RuleSet::for_arch(Arch::SM_90);
    let with = |change: &dyn Fn(&mut SharedRules)| {
        let mut shared = base.shared;
        change(&mut shared);
        base.given("a test", shared, base.global)
            .map_err(|error| error.to_string())
    };
    assert!(with(&|_| ()).is_ok());
    for (change, message) in [
        (
            &(|shared: &mut SharedRules| shared.banks = 48) as &dyn Fn(&mut SharedRules),
            "`banks` is a power of two from 1 to 64, not 48",
        ),
        (
            &|shared: &mut SharedRules| shared.banks = 128,
            "`banks` is a power of two from 1 to 64, not 128",
        ),
        (
            &|shared: &mut SharedRules| shared.banks = 64,
            "`row_bytes` is 128, less than the 64 banks of 4 bytes deliver at once",
        ),
        (
            &|shared: &mut SharedRules| shared.banks = 2,
            "2 banks of 4 bytes deliver fewer than the 16 bytes of the widest access",
        ),
        (
            &|shared: &mut SharedRules| shared.lanes_8 = 32,
            "`merges_pairs` doubles groups of lanes: `lanes_8` and `lanes_16` are 16 at most with it",
        ),
    ] {
        assert_eq!(with(change).unwrap_err(), message);
    }
}
