//! nvprof's metrics and events, with one entry per name and nvprof's descriptions.
//!
//! nvprof collected metrics up to sm_72. For later architectures its names stand for the metrics that NVIDIA's table
//! "nvprof metric comparison" in the Nsight Compute CLI manual maps them to. These differ for the efficiencies of
//! global memory (distinct bytes, measured on an H200, instead of the bytes of every lane).

use super::{Family, Metric, Unit, Value, count, known, percent, ratio};
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

pub(super) const METRICS: &[Metric] = metrics! { Nvprof
    "shared_load_transactions_per_request" "Average number of shared memory load transactions performed for each shared memory load" shared_load
    "shared_store_transactions_per_request" "Average number of shared memory store transactions performed for each shared memory store" shared_store
        => Ratio, ALL, |s, _| ratio(known(s)?.transactions, s.requests);
    "shared_load_transactions" "Number of shared memory load transactions" shared_load
    "shared_store_transactions" "Number of shared memory store transactions" shared_store
        => Count, ALL, |s, _| count(known(s)?.transactions);
    "shared_efficiency" "Ratio of requested shared memory throughput to required shared memory throughput expressed as percentage"
        => Percent, ALL, |c, rules| {
            let (load, store) = (known(&c.shared_load)?, known(&c.shared_store)?);
            let transactions = load.transactions + store.transactions;
            percent(load.bytes + store.bytes, u64::from(rules.shared_transaction_bytes()) * transactions)
        };
    "shared_ld_bank_conflict" "Number of shared load bank conflict generated when the addresses for two or more shared memory load requests fall in the same memory bank" shared_load
    "shared_st_bank_conflict" "Number of shared store bank conflict generated when the addresses for two or more shared memory store requests fall in the same memory bank" shared_store
        => Count, SINCE_MAXWELL, |s, _| count(known(s)?.bank_conflicts());
    "l1_shared_bank_conflict" "Number of shared bank conflicts caused due to addresses for two or more shared memory requests fall in the same memory bank"
        => Count, BEFORE_MAXWELL, |c, _| count(known(&c.shared_load)?.bank_conflicts() + known(&c.shared_store)?.bank_conflicts());
    "inst_executed_shared_loads" "Warp level instructions for shared loads" shared_load
    "inst_executed_shared_stores" "Warp level instructions for shared stores" shared_store
    "inst_executed_shared_atomics" "Warp level shared instructions for atom and atom CAS" shared_atomic
        => Count, SINCE_MAXWELL, |s, _| count(s.instructions);
    "gld_transactions" "Number of global memory load transactions" global_load
    "gst_transactions" "Number of global memory store transactions" global_store
        => Count, ALL, |s, _| count(known(s)?.transactions);
    "gld_transactions_per_request" "Average number of global memory load transactions performed for each global memory load" global_load
    "gst_transactions_per_request" "Average number of global memory store transactions performed for each global memory store" global_store
        => Ratio, ALL, |s, _| ratio(known(s)?.transactions, s.instructions);
    "gld_efficiency" "Ratio of requested global memory load throughput to required global memory load throughput expressed as percentage" global_load
    "gst_efficiency" "Ratio of requested global memory store throughput to required global memory store throughput expressed as percentage" global_store
        => Percent, ALL, |s, rules| global_efficiency(s, rules);
    "inst_executed_global_loads" "Warp level instructions for global loads" global_load
    "inst_executed_global_stores" "Warp level instructions for global stores" global_store
        => Count, SINCE_MAXWELL, |s, _| count(s.instructions);
    "atomic_transactions" "Global memory atomic and reduction transactions" global_atomic
        => Count, SINCE_KEPLER, |s, _| count(known(s)?.transactions);
    "atomic_transactions_per_request" "Average number of global memory atomic and reduction transactions performed for each atomic and reduction instruction" global_atomic
        => Ratio, SINCE_KEPLER, |s, _| ratio(known(s)?.transactions, s.instructions);
    "branch_efficiency" "Ratio of non-divergent branches to total branches expressed as percentage"
        // A kernel without branches is 100 % efficient.
        => Percent, ALL, |c, _| percent(c.branches.max(1) - c.divergent_branches, c.branches.max(1));
    "branch" "Number of branch instructions executed per warp on a multiprocessor"
        => Count, BEFORE_MAXWELL, |c, _| count(c.branches);
    "divergent_branch" "Number of divergent branches within a warp"
        => Count, BEFORE_MAXWELL, |c, _| count(c.divergent_branches);
    "warp_execution_efficiency" "Ratio of the average active threads per warp to the maximum number of threads per warp supported on a multiprocessor"
        => Percent, SINCE_KEPLER, |c, _| percent(c.thread_instructions, 32 * c.warp_instructions);
    "inst_executed" "The number of instructions executed"
        => Count, ALL, |c, _| count(c.warp_instructions);
    "inst_per_warp" "Average number of instructions executed by each warp"
        => Ratio, ALL, |c, _| ratio(c.warp_instructions, c.warps);
    "thread_inst_executed" "Number of instructions executed by all threads, does not include replays"
        => Count, ALL, |c, _| count(c.thread_instructions);
};
