//! Compares closed forms with the general rule: every stride a tile can have, every width, and random large strides.

use interp::mask::LaneMask;
use interp::rules::affine::{global_cost_affine, shared_cost_affine};
use interp::rules::bank::{SharedOp, shared_cost};
use interp::rules::coalesce::{GlobalOp, global_cost};
use interp::rules::{Arch, BankWidth, RuleSet};

use super::cases::{Random, WIDTHS};
use super::rules;

/// Compares one access. Returns whether there was a closed form.
fn shared_agrees(rules: &RuleSet, op: SharedOp, width: u32, base: u32, stride: i32) -> bool {
    let Some(closed) = shared_cost_affine(&rules.shared, op, width, base, stride) else {
        return false;
    };
    let addresses = std::array::from_fn(|lane| base.wrapping_add_signed(stride * lane as i32));
    let general = shared_cost(&rules.shared, op, width, LaneMask::FULL, &addresses);
    assert_eq!(
        Some(closed),
        general,
        "{rules:?} {op:?} of {width} bytes, base {base}, stride {stride}"
    );
    true
}

#[test]
fn shared_closed_forms_are_the_general_rule() {
    let ops = [
        SharedOp::Load,
        SharedOp::Store,
        SharedOp::Atomic,
        SharedOp::AtomicCas,
    ];
    for (arch, bank_width) in [
        ("sm_20", BankWidth::Four),
        ("sm_35", BankWidth::Four),
        ("sm_35", BankWidth::Eight),
        ("sm_90", BankWidth::Four),
    ] {
        let rules = rules(arch, bank_width);
        let mut closed = 0;
        for op in ops {
            for width in WIDTHS {
                for units in -140..=140 {
                    for base in [1 << 16, (1 << 16) + 16, (1 << 16) + 112, (1 << 16) + width] {
                        let base = base / width * width;
                        closed +=
                            u32::from(shared_agrees(&rules, op, width, base, units * width as i32));
                    }
                }
            }
        }
        assert!(closed > 100, "{arch}: {closed}");
    }
}

#[test]
fn four_byte_accesses_always_have_a_closed_form_on_sm_90() {
    let rules = rules("sm_90", BankWidth::Four);
    for units in -5000..5000 {
        for op in [SharedOp::Load, SharedOp::Store, SharedOp::Atomic] {
            assert!(shared_agrees(&rules, op, 4, 1 << 20, 4 * units));
        }
    }
}

#[test]
fn global_closed_forms_are_the_general_rule() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    let mut random = Random::new(7);
    for case in 0..100_000 {
        let width = random.pick(&WIDTHS);
        let reach = random.pick(&[4, 40, 4000, 1 << 40]);
        let stride = (random.below(2 * reach) as i64 - reach as i64) * i64::from(width);
        let base = (1 << 50) + random.below(300) * u64::from(width);
        for op in [GlobalOp::Load, GlobalOp::Store] {
            let addresses =
                std::array::from_fn(|lane| base.wrapping_add_signed(stride * lane as i64));
            let closed = global_cost_affine(&rules.global, op, width, base, stride);
            let general = global_cost(&rules.global, op, width, LaneMask::FULL, &addresses);
            assert!(closed.is_some());
            assert_eq!(
                closed, general,
                "case {case}: {width} bytes, base {base}, stride {stride}"
            );
        }
    }
}
