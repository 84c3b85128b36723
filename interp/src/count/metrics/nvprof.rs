//! nvprof's metrics and events, with one entry per name and nvprof's descriptions.
//!
//! nvprof collected metrics up to sm_72. For later architectures its names stand for the metrics that NVIDIA's table
//! "nvprof metric comparison" in the Nsight Compute CLI manual maps them to. These differ for the efficiencies of
//! global memory (distinct bytes, measured on an H200, instead of the bytes of every lane).

use super::Family::Nvprof;
use super::Unit::{Count, Percent, Ratio};
use super::{Metric, Value, count, known, percent, ratio};
use crate::count::stats::SiteCounts;
use crate::rules::RuleSet;

const ALL: (u32, u32) = (20, 72);
const SINCE_KEPLER: (u32, u32) = (30, 72);
const SINCE_MAXWELL: (u32, u32) = (50, 72);
const BEFORE_MAXWELL: (u32, u32) = (20, 37);

/// Requested bytes divided by required bytes. The mapped ncu metric (sm_75 and later) counts a byte once per
/// instruction.
fn global_efficiency(site: &SiteCounts, rules: &RuleSet) -> Option<Value> {
    let site = known(site)?;
    let bytes = if rules.arch.number() >= 75 {
        site.distinct_bytes
    } else {
        site.bytes
    };
    percent(bytes, 32 * site.sectors)
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "shared_load_transactions_per_request", family: Nvprof, unit: Ratio, offered: ALL,
        description: "Average number of shared memory load transactions performed for each shared memory load",
        compute: |c, _| ratio(known(&c.shared_load)?.transactions, c.shared_load.requests),
    },
    Metric {
        name: "shared_store_transactions_per_request", family: Nvprof, unit: Ratio, offered: ALL,
        description: "Average number of shared memory store transactions performed for each shared memory store",
        compute: |c, _| ratio(known(&c.shared_store)?.transactions, c.shared_store.requests),
    },
    Metric {
        name: "shared_load_transactions", family: Nvprof, unit: Count, offered: ALL,
        description: "Number of shared memory load transactions",
        compute: |c, _| count(known(&c.shared_load)?.transactions),
    },
    Metric {
        name: "shared_store_transactions", family: Nvprof, unit: Count, offered: ALL,
        description: "Number of shared memory store transactions",
        compute: |c, _| count(known(&c.shared_store)?.transactions),
    },
    Metric {
        name: "shared_efficiency", family: Nvprof, unit: Percent, offered: ALL,
        description: "Ratio of requested shared memory throughput to required shared memory throughput expressed as percentage",
        compute: |c, rules| {
            let (load, store) = (known(&c.shared_load)?, known(&c.shared_store)?);
            let transactions = load.transactions + store.transactions;
            percent(load.bytes + store.bytes, u64::from(rules.shared_transaction_bytes()) * transactions)
        },
    },
    Metric {
        name: "shared_ld_bank_conflict", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Number of shared load bank conflict generated when the addresses for two or more shared memory load requests fall in the same memory bank",
        compute: |c, _| count(known(&c.shared_load)?.bank_conflicts()),
    },
    Metric {
        name: "shared_st_bank_conflict", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Number of shared store bank conflict generated when the addresses for two or more shared memory store requests fall in the same memory bank",
        compute: |c, _| count(known(&c.shared_store)?.bank_conflicts()),
    },
    Metric {
        name: "l1_shared_bank_conflict", family: Nvprof, unit: Count, offered: BEFORE_MAXWELL,
        description: "Number of shared bank conflicts caused due to addresses for two or more shared memory requests fall in the same memory bank",
        compute: |c, _| count(known(&c.shared_load)?.bank_conflicts() + known(&c.shared_store)?.bank_conflicts()),
    },
    Metric {
        name: "inst_executed_shared_loads", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Warp level instructions for shared loads",
        compute: |c, _| count(c.shared_load.instructions),
    },
    Metric {
        name: "inst_executed_shared_stores", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Warp level instructions for shared stores",
        compute: |c, _| count(c.shared_store.instructions),
    },
    Metric {
        name: "inst_executed_shared_atomics", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Warp level shared instructions for atom and atom CAS",
        compute: |c, _| count(c.shared_atomic.instructions),
    },
    Metric {
        name: "gld_transactions", family: Nvprof, unit: Count, offered: ALL,
        description: "Number of global memory load transactions",
        compute: |c, _| count(known(&c.global_load)?.transactions),
    },
    Metric {
        name: "gst_transactions", family: Nvprof, unit: Count, offered: ALL,
        description: "Number of global memory store transactions",
        compute: |c, _| count(known(&c.global_store)?.transactions),
    },
    Metric {
        name: "gld_transactions_per_request", family: Nvprof, unit: Ratio, offered: ALL,
        description: "Average number of global memory load transactions performed for each global memory load",
        compute: |c, _| ratio(known(&c.global_load)?.transactions, c.global_load.instructions),
    },
    Metric {
        name: "gst_transactions_per_request", family: Nvprof, unit: Ratio, offered: ALL,
        description: "Average number of global memory store transactions performed for each global memory store",
        compute: |c, _| ratio(known(&c.global_store)?.transactions, c.global_store.instructions),
    },
    Metric {
        name: "gld_efficiency", family: Nvprof, unit: Percent, offered: ALL,
        description: "Ratio of requested global memory load throughput to required global memory load throughput expressed as percentage",
        compute: |c, rules| global_efficiency(&c.global_load, rules),
    },
    Metric {
        name: "gst_efficiency", family: Nvprof, unit: Percent, offered: ALL,
        description: "Ratio of requested global memory store throughput to required global memory store throughput expressed as percentage",
        compute: |c, rules| global_efficiency(&c.global_store, rules),
    },
    Metric {
        name: "inst_executed_global_loads", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Warp level instructions for global loads",
        compute: |c, _| count(c.global_load.instructions),
    },
    Metric {
        name: "inst_executed_global_stores", family: Nvprof, unit: Count, offered: SINCE_MAXWELL,
        description: "Warp level instructions for global stores",
        compute: |c, _| count(c.global_store.instructions),
    },
    Metric {
        name: "atomic_transactions", family: Nvprof, unit: Count, offered: SINCE_KEPLER,
        description: "Global memory atomic and reduction transactions",
        compute: |c, _| count(known(&c.global_atomic)?.transactions),
    },
    Metric {
        name: "atomic_transactions_per_request", family: Nvprof, unit: Ratio, offered: SINCE_KEPLER,
        description: "Average number of global memory atomic and reduction transactions performed for each atomic and reduction instruction",
        compute: |c, _| ratio(known(&c.global_atomic)?.transactions, c.global_atomic.instructions),
    },
    Metric {
        name: "branch_efficiency", family: Nvprof, unit: Percent, offered: ALL,
        description: "Ratio of non-divergent branches to total branches expressed as percentage",
        // A kernel without branches is 100 % efficient.
        compute: |c, _| percent(c.branches.max(1) - c.divergent_branches, c.branches.max(1)),
    },
    Metric {
        name: "branch", family: Nvprof, unit: Count, offered: BEFORE_MAXWELL,
        description: "Number of branch instructions executed per warp on a multiprocessor",
        compute: |c, _| count(c.branches),
    },
    Metric {
        name: "divergent_branch", family: Nvprof, unit: Count, offered: BEFORE_MAXWELL,
        description: "Number of divergent branches within a warp",
        compute: |c, _| count(c.divergent_branches),
    },
    Metric {
        name: "warp_execution_efficiency", family: Nvprof, unit: Percent, offered: SINCE_KEPLER,
        description: "Ratio of the average active threads per warp to the maximum number of threads per warp supported on a multiprocessor",
        compute: |c, _| percent(c.thread_instructions, 32 * c.warp_instructions),
    },
    Metric {
        name: "inst_executed", family: Nvprof, unit: Count, offered: ALL,
        description: "The number of instructions executed",
        compute: |c, _| count(c.warp_instructions),
    },
    Metric {
        name: "inst_per_warp", family: Nvprof, unit: Ratio, offered: ALL,
        description: "Average number of instructions executed by each warp",
        compute: |c, _| ratio(c.warp_instructions, c.warps),
    },
    Metric {
        name: "thread_inst_executed", family: Nvprof, unit: Count, offered: ALL,
        description: "Number of instructions executed by all threads, does not include replays",
        compute: |c, _| count(c.thread_instructions),
    },
];
