//! Metrics of small hand-made launches.

use super::*;
use crate::isa::mask::LaneMask;
use crate::rules::BankWidth;
use crate::rules::bank::{SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalOp, global_cost};

/// One warp: loads a row, stores a column of global memory (rows of 4 KiB); loads consecutive words of shared memory.
fn transposing_warp(rules: &RuleSet) -> LaunchCounts {
    let mut counts = LaunchCounts::default();
    let full = LaneMask::FULL;
    let row = std::array::from_fn(|lane| 4 * lane as u64);
    let column = std::array::from_fn(|lane| 4096 * lane as u64);
    counts.global_load.add_global(
        global_cost(&rules.global, GlobalOp::Load, 4, full, &row),
        4,
        full,
    );
    counts.global_store.add_global(
        global_cost(&rules.global, GlobalOp::Store, 4, full, &column),
        4,
        full,
    );
    let words = row.map(|address| address as u32);
    counts.shared_load.add_shared(
        shared_cost(&rules.shared, SharedOp::Load, 4, full, &words),
        4,
        full,
    );
    counts
}

fn value(name: &str, arch: &str) -> String {
    let rules = RuleSet::new(arch.parse().unwrap(), BankWidth::Four).unwrap();
    find(name)
        .unwrap()
        .value(&transposing_warp(&rules), &rules)
        .unwrap()
        .to_string()
}

#[test]
fn transactions_are_lines_before_sm_50_and_sectors_since() {
    for (arch, loads) in [
        ("sm_20", "1.000000"),
        ("sm_35", "1.000000"),
        ("sm_50", "4.000000"),
        ("sm_90", "4.000000"),
    ] {
        assert_eq!(value("gld_transactions_per_request", arch), loads, "{arch}");
        assert_eq!(
            value("gst_transactions_per_request", arch),
            "32.000000",
            "{arch}"
        );
        assert_eq!(value("gld_efficiency", arch), "100.00%", "{arch}");
        assert_eq!(value("gst_efficiency", arch), "12.50%", "{arch}");
    }
}

#[test]
fn shared_efficiency_compares_with_what_the_banks_deliver() {
    for (arch, efficiency) in [
        ("sm_20", "100.00%"),
        ("sm_35", "50.00%"),
        ("sm_90", "100.00%"),
    ] {
        assert_eq!(value("shared_efficiency", arch), efficiency, "{arch}");
    }
}

#[test]
fn broadcast_loads_ask_for_a_byte_once_or_for_every_lane() {
    let mut counts = LaunchCounts::default();
    let efficiency = |counts: &LaunchCounts, arch: &str| {
        let rules = RuleSet::for_arch(arch.parse().unwrap());
        find("gld_efficiency")
            .unwrap()
            .value(counts, &rules)
            .unwrap()
            .to_string()
    };
    let rules = RuleSet::for_arch(Arch::SM_90);
    let cost = global_cost(&rules.global, GlobalOp::Load, 4, LaneMask::FULL, &[64; 32]);
    counts.global_load.add_global(cost, 4, LaneMask::FULL);
    assert_eq!(efficiency(&counts, "sm_70"), "400.00%");
    // Read on an H200: smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct of a broadcast.
    assert_eq!(efficiency(&counts, "sm_90"), "12.50%");
}

#[test]
fn branches_and_active_threads() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    let counts = LaunchCounts {
        warps: 2,
        warp_instructions: 8,
        thread_instructions: 128,
        branches: 4,
        divergent_branches: 1,
        ..LaunchCounts::default()
    };
    let value = |name| {
        find(name)
            .unwrap()
            .value(&counts, &rules)
            .unwrap()
            .to_string()
    };
    assert_eq!(value("branch_efficiency"), "75.00%");
    assert_eq!(value("warp_execution_efficiency"), "50.00%");
    assert_eq!(
        value("smsp__thread_inst_executed_per_inst_executed.ratio"),
        "16.000000"
    );
    assert_eq!(value("inst_per_warp"), "4.000000");
}

#[test]
fn an_empty_launch_divides_nothing_by_nothing() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    for metric in all_metrics() {
        let number = metric
            .value(&LaunchCounts::default(), &rules)
            .unwrap()
            .number();
        let want = if metric.description.contains("branches") && metric.unit == Unit::Percent {
            100.0
        } else {
            0.0
        };
        assert_eq!(number, want, "{}", metric.name);
    }
}

#[test]
fn what_is_not_modelled_has_no_value() {
    let rules = RuleSet::for_arch(Arch::SM_35);
    let mut counts = LaunchCounts::default();
    counts.shared_load.add_shared(None, 16, LaneMask::FULL);
    let value = |name: &str| find(name).unwrap().value(&counts, &rules);
    assert_eq!(value("shared_load_transactions_per_request"), None);
    assert_eq!(value("shared_efficiency"), None);
    assert_eq!(value("derived__memory_l1_conflicts_shared_nway"), None);
    assert_eq!(value("inst_executed_shared_loads"), Some(Value::Count(1)));
}

#[test]
fn names_are_unique_and_found() {
    let mut names: Vec<_> = all_metrics().map(|metric| metric.name).collect();
    for &name in &names {
        assert_eq!(find(name).unwrap().name, name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all_metrics().count());
    assert_eq!(
        find("smsp__inst_executed").unwrap().name,
        "smsp__inst_executed.sum"
    );
}

#[test]
fn unknown_names_get_near_ones() {
    let error = find("gld_efficency").unwrap_err();
    assert_eq!(error.nearest[0], "gld_efficiency");
    assert!(
        error
            .to_string()
            .starts_with("unknown metric `gld_efficency`; near it: gld_efficiency, ")
    );
    assert_eq!(find("").unwrap_err().nearest.len(), 3);
}

#[test]
fn values_compare_with_what_each_unit_says() {
    let rules = RuleSet::for_arch(Arch::SM_90);
    for metric in all_metrics() {
        let value = metric.value(&transposing_warp(&rules), &rules).unwrap();
        let unit = match value {
            Value::Count(_) => Unit::Count,
            Value::Ratio(_) => Unit::Ratio,
            Value::Percent(_) => Unit::Percent,
        };
        assert_eq!(unit, metric.unit, "{}", metric.name);
    }
}
