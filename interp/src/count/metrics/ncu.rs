//! Nsight Compute's metrics, with one entry per name.
//!
//! The `l1tex__` names are the counters that the sm_90 rules reproduce (`tests/data/h200`), except that instructions
//! without any active lane are not counted here. Atomics on global memory are left out: `op_atom` or `op_red` counts
//! one depending on whether the compiler found its result unused.

use super::{Family, Metric, Unit, count, known, percent, ratio};
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

pub(super) const METRICS: &[Metric] = metrics! { Ncu
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" "wavefronts of all shared memory instructions"
        => Count, ALL, |c, _| count(shared(c)?.transactions);
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum" "wavefronts of shared loads" shared_load
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum" "wavefronts of shared stores" shared_store
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum" "wavefronts of shared atomics" shared_atomic
        => Count, ALL, |s, _| count(known(s)?.transactions);
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum" "bank conflicts of shared loads" shared_load
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" "bank conflicts of shared stores" shared_store
        => Count, ALL, |s, _| count(known(s)?.bank_conflicts());
    "smsp__inst_executed_op_shared_ld.sum" "shared loads executed by warps" shared_load
    "smsp__inst_executed_op_shared_st.sum" "shared stores executed by warps" shared_store
    "smsp__inst_executed_op_shared_atom.sum" "shared atomics executed by warps" shared_atomic
        => Count, ALL, |s, _| count(s.instructions);
    "memory_l1_wavefronts_shared" "Number of wavefronts in L1 from shared memory instructions"
        => Count, ALL, |c, _| count(shared(c)?.transactions);
    "memory_l1_wavefronts_shared_ideal" "Ideal number of wavefronts in L1 from shared memory instructions: without conflicts"
        => Count, ALL, |c, _| count(shared(c)?.ideal);
    "derived__memory_l1_wavefronts_shared_excessive" "Excessive number of wavefronts in L1 from shared memory instructions"
        => Count, ALL, |c, _| count(shared(c)?.bank_conflicts());
    "derived__memory_l1_conflicts_shared_nway" "Average N-way conflict in L1 per shared memory instruction. A 1-way access has no conflicts and resolves in a single pass"
        => Ratio, ALL, |c, _| { let all = shared(c)?; ratio(all.transactions, all.instructions) };
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" "requests of global loads" global_load
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" "requests of global stores" global_store
        => Count, ALL, |s, _| count(s.requests);
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" "sectors of global loads" global_load
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" "sectors of global stores" global_store
        => Count, ALL, |s, _| count(known(s)?.sectors);
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio" "average sectors of a request of a global load" global_load
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio" "average sectors of a request of a global store" global_store
        => Ratio, ALL, |s, _| ratio(known(s)?.sectors, s.requests);
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct" "distinct bytes asked for by global loads, of the bytes in the sectors they touch" global_load
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct" "distinct bytes asked for by global stores, of the bytes in the sectors they touch" global_store
        => Percent, ALL, |s, _| percent(known(s)?.distinct_bytes, 32 * s.sectors);
    "memory_l2_theoretical_sectors_global" "Theoretical number of sectors requested in L2 from global memory instructions"
        => Count, ALL, |c, _| count(global(c)?.sectors);
    "memory_l2_theoretical_sectors_global_ideal" "Ideal number of sectors requested in L2 from global memory instructions: here, distinct bytes asked for / 32, rounded up an instruction"
        => Count, ALL, |c, _| count(global(c)?.ideal_sectors);
    "derived__memory_l2_theoretical_sectors_global_excessive" "Excessive number of sectors requested in L2 from global memory instructions"
        => Count, ALL, |c, _| { let all = global(c)?; count(all.sectors.saturating_sub(all.ideal_sectors)) };
    "smsp__inst_executed.sum" "instructions executed by warps"
        => Count, ALL, |c, _| count(c.warp_instructions);
    "smsp__thread_inst_executed.sum" "instructions executed by threads"
        => Count, ALL, |c, _| count(c.thread_instructions);
    "smsp__thread_inst_executed_per_inst_executed.ratio" "average active threads of an instruction"
        => Ratio, ALL, |c, _| ratio(c.thread_instructions, c.warp_instructions);
    "smsp__inst_executed_op_branch.sum" "branches executed by warps"
        => Count, ALL, |c, _| count(c.branches);
    "smsp__sass_average_branch_targets_threads_uniform.pct" "branches whose threads all went the same way, of all branches"
        => Percent, ALL, |c, _| percent(c.branches.max(1) - c.divergent_branches, c.branches.max(1));
};
