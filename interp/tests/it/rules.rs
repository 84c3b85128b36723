//! Compares the rules with independent sources: hardware counters, a naive oracle, and published patterns.
//!
//! `oracle` states the rules a second time, in a slow and simple form. `random` compares the two on 100,000 cases per
//! rule set. `hardware` reads the counters in `tests/data/h200`. `patterns` derives well-known tables from kernels'
//! index expressions. `affine` compares closed forms with the general rule.

mod affine;
mod cases;
mod hardware;
mod oracle;
mod patterns;
mod random;

use interp::rules::{Arch, BankWidth, RuleSet};

/// A rule set by name, as in `sm_35` with 8-byte banks.
fn rules(arch: &str, bank_width: BankWidth) -> RuleSet {
    RuleSet::new(arch.parse::<Arch>().unwrap(), bank_width).unwrap()
}
