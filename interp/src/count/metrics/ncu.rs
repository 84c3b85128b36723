//! Nsight Compute's metrics, with one entry per name.
//!
//! The `l1tex__` names are the counters that the sm_90 rules reproduce (`tests/data/h200`), except that instructions
//! without any active lane are not counted here. Atomics on global memory are left out: `op_atom` or `op_red` counts
//! one depending on whether the compiler found its result unused.

use super::Family::Ncu;
use super::Unit::{Count, Percent, Ratio};
use super::{Metric, count, known, percent, ratio};
use crate::count::stats::{LaunchCounts, SiteCounts};

const ALL: (u32, u32) = (70, 121);

/// Loads, stores and atomics on shared memory, merged.
fn shared(counts: &LaunchCounts) -> Option<SiteCounts> {
    let mut all = known(&counts.shared_load)?.clone();
    all.merge(known(&counts.shared_store)?);
    all.merge(known(&counts.shared_atomic)?);
    Some(all)
}

/// Loads and stores of global memory, merged.
fn global(counts: &LaunchCounts) -> Option<SiteCounts> {
    let mut all = known(&counts.global_load)?.clone();
    all.merge(known(&counts.global_store)?);
    Some(all)
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", family: Ncu, unit: Count, offered: ALL,
        description: "wavefronts of all shared memory instructions",
        compute: |c, _| count(shared(c)?.transactions),
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", family: Ncu, unit: Count, offered: ALL,
        description: "wavefronts of shared loads",
        compute: |c, _| count(known(&c.shared_load)?.transactions),
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", family: Ncu, unit: Count, offered: ALL,
        description: "wavefronts of shared stores",
        compute: |c, _| count(known(&c.shared_store)?.transactions),
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", family: Ncu, unit: Count, offered: ALL,
        description: "wavefronts of shared atomics",
        compute: |c, _| count(known(&c.shared_atomic)?.transactions),
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", family: Ncu, unit: Count, offered: ALL,
        description: "bank conflicts of shared loads",
        compute: |c, _| count(known(&c.shared_load)?.bank_conflicts()),
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", family: Ncu, unit: Count, offered: ALL,
        description: "bank conflicts of shared stores",
        compute: |c, _| count(known(&c.shared_store)?.bank_conflicts()),
    },
    Metric {
        name: "smsp__inst_executed_op_shared_ld.sum", family: Ncu, unit: Count, offered: ALL,
        description: "shared loads executed by warps",
        compute: |c, _| count(c.shared_load.instructions),
    },
    Metric {
        name: "smsp__inst_executed_op_shared_st.sum", family: Ncu, unit: Count, offered: ALL,
        description: "shared stores executed by warps",
        compute: |c, _| count(c.shared_store.instructions),
    },
    Metric {
        name: "smsp__inst_executed_op_shared_atom.sum", family: Ncu, unit: Count, offered: ALL,
        description: "shared atomics executed by warps",
        compute: |c, _| count(c.shared_atomic.instructions),
    },
    Metric {
        name: "memory_l1_wavefronts_shared", family: Ncu, unit: Count, offered: ALL,
        description: "Number of wavefronts in L1 from shared memory instructions",
        compute: |c, _| count(shared(c)?.transactions),
    },
    Metric {
        name: "memory_l1_wavefronts_shared_ideal", family: Ncu, unit: Count, offered: ALL,
        description: "Ideal number of wavefronts in L1 from shared memory instructions: without conflicts",
        compute: |c, _| count(shared(c)?.ideal),
    },
    Metric {
        name: "derived__memory_l1_wavefronts_shared_excessive", family: Ncu, unit: Count, offered: ALL,
        description: "Excessive number of wavefronts in L1 from shared memory instructions",
        compute: |c, _| count(shared(c)?.bank_conflicts()),
    },
    Metric {
        name: "derived__memory_l1_conflicts_shared_nway", family: Ncu, unit: Ratio, offered: ALL,
        description: "Average N-way conflict in L1 per shared memory instruction. A 1-way access has no conflicts and resolves in a single pass",
        compute: |c, _| { let all = shared(c)?; ratio(all.transactions, all.instructions) },
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", family: Ncu, unit: Count, offered: ALL,
        description: "requests of global loads",
        compute: |c, _| count(c.global_load.requests),
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", family: Ncu, unit: Count, offered: ALL,
        description: "requests of global stores",
        compute: |c, _| count(c.global_store.requests),
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", family: Ncu, unit: Count, offered: ALL,
        description: "sectors of global loads",
        compute: |c, _| count(known(&c.global_load)?.sectors),
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", family: Ncu, unit: Count, offered: ALL,
        description: "sectors of global stores",
        compute: |c, _| count(known(&c.global_store)?.sectors),
    },
    Metric {
        name: "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", family: Ncu, unit: Ratio, offered: ALL,
        description: "average sectors of a request of a global load",
        compute: |c, _| ratio(known(&c.global_load)?.sectors, c.global_load.requests),
    },
    Metric {
        name: "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", family: Ncu, unit: Ratio, offered: ALL,
        description: "average sectors of a request of a global store",
        compute: |c, _| ratio(known(&c.global_store)?.sectors, c.global_store.requests),
    },
    Metric {
        name: "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", family: Ncu, unit: Percent, offered: ALL,
        description: "distinct bytes asked for by global loads, of the bytes in the sectors they touch",
        compute: |c, _| percent(known(&c.global_load)?.distinct_bytes, 32 * c.global_load.sectors),
    },
    Metric {
        name: "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", family: Ncu, unit: Percent, offered: ALL,
        description: "distinct bytes asked for by global stores, of the bytes in the sectors they touch",
        compute: |c, _| percent(known(&c.global_store)?.distinct_bytes, 32 * c.global_store.sectors),
    },
    Metric {
        name: "memory_l2_theoretical_sectors_global", family: Ncu, unit: Count, offered: ALL,
        description: "Theoretical number of sectors requested in L2 from global memory instructions",
        compute: |c, _| count(global(c)?.sectors),
    },
    Metric {
        name: "memory_l2_theoretical_sectors_global_ideal", family: Ncu, unit: Count, offered: ALL,
        description: "Ideal number of sectors requested in L2 from global memory instructions: here, distinct bytes asked for / 32, rounded up an instruction",
        compute: |c, _| count(global(c)?.ideal_sectors),
    },
    Metric {
        name: "derived__memory_l2_theoretical_sectors_global_excessive", family: Ncu, unit: Count, offered: ALL,
        description: "Excessive number of sectors requested in L2 from global memory instructions",
        compute: |c, _| { let all = global(c)?; count(all.sectors.saturating_sub(all.ideal_sectors)) },
    },
    Metric {
        name: "smsp__inst_executed.sum", family: Ncu, unit: Count, offered: ALL,
        description: "instructions executed by warps",
        compute: |c, _| count(c.warp_instructions),
    },
    Metric {
        name: "smsp__thread_inst_executed.sum", family: Ncu, unit: Count, offered: ALL,
        description: "instructions executed by threads",
        compute: |c, _| count(c.thread_instructions),
    },
    Metric {
        name: "smsp__thread_inst_executed_per_inst_executed.ratio", family: Ncu, unit: Ratio, offered: ALL,
        description: "average active threads of an instruction",
        compute: |c, _| ratio(c.thread_instructions, c.warp_instructions),
    },
    Metric {
        name: "smsp__inst_executed_op_branch.sum", family: Ncu, unit: Count, offered: ALL,
        description: "branches executed by warps",
        compute: |c, _| count(c.branches),
    },
    Metric {
        name: "smsp__sass_average_branch_targets_threads_uniform.pct", family: Ncu, unit: Percent, offered: ALL,
        description: "branches whose threads all went the same way, of all branches",
        compute: |c, _| percent(c.branches.max(1) - c.divergent_branches, c.branches.max(1)),
    },
];
