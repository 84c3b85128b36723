//! Barriers as hot spots. Only a run without a barrier shows whether it orders anything.

use super::hot_spot::{Cost, HotSpot, LANES, Waste, sort};
use crate::Input;
use interp::rules::rates::Rates;
use ir::symbol::template_name;

/// The assumed cost of a warp's wait at a barrier, for the order of hot spots.
const SLOTS_OF_A_BARRIER: f64 = 4.0;

/// The barriers at which several warps wait for each other, as hot spots without advice: a run without one shows whether it is needed. A
/// barrier in a loop counts only if it was met more than once, because it may order accesses of different rounds.
pub(super) fn barriers(input: &Input<'_>) -> Vec<HotSpot> {
    let mut all: Vec<HotSpot> = vec![];
    if input.gpu.is_some() {
        return all;
    }
    let rates = Rates::of(input.rules.arch);
    for kept in input.kept() {
        let times = kept.times();
        let launch = &kept.report;
        let threads = launch.block.iter().map(|&n| u64::from(n)).product::<u64>();
        for barrier in launch.barriers.iter().filter(|_| threads > LANES) {
            let warps = barrier.warps.saturating_mul(times);
            let rounds = barrier.warps.div_ceil(launch.counts.warps.max(1));
            let name = input.file_name(barrier.file);
            let known = all
                .iter_mut()
                .find(|known| known.line == barrier.line && known.file == name);
            if let Some(known) = known {
                known.cost.excess = known.cost.excess.saturating_add(warps);
                known.rounds = known.rounds.max(rounds);
                known.launches = known.launches.saturating_add(kept.count);
                continue;
            }
            let kernel = &launch.kernel_name;
            all.push(HotSpot {
                waste: Waste::Barriers,
                file: name,
                line: barrier.line,
                column: barrier.column,
                source: input.line(barrier.file, barrier.line).to_string(),
                cost: Cost {
                    excess: warps,
                    used: warps,
                    ideal: 0,
                    share: 1.0,
                },
                ways: vec![],
                accesses: vec![],
                kernels: vec![template_name(kernel).to_string()],
                launches: kept.count,
                fact: "in this run no thread reads or writes after it what another thread wrote or read before it"
                    .to_string(),
                thought: None,
                sites: vec![],
                rounds,
                rank: 0.0,
                as_compiled: false,
                as_written: None,
            });
        }
    }
    for spot in &mut all {
        spot.cost.used = spot.cost.excess;
        spot.rank = spot.cost.excess as f64 * SLOTS_OF_A_BARRIER / rates.instructions;
    }
    sort(&mut all);
    all
}
