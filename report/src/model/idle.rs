//! Threads of a launch that do nothing: lanes after the last thread of a block, and whole blocks without an access.

use interp::{LaunchReport, Site};
use runtime::host::{Fault, Outcome};

use serde::Serialize;

use super::hot_spot::LANES;
use crate::code::Codes;

/// The share of a launch's warps from which on idle warps are reported: the last block of a small grid often has some that end at once.
const LEAST_WARPS: f64 = 0.5;
/// The share of a launch's blocks, or of its lanes, from which on idle ones are reported.
const LEAST_SHARE: f64 = 0.1;

/// Work that a launch could do without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Idle {
    /// Blocks that access no memory; `None`: unknown.
    pub blocks: Option<u64>,
    /// The number of blocks.
    #[serde(skip)]
    pub of_blocks: u64,
    /// Warps that access no memory, including those of such blocks; `None`: unknown.
    pub warps: Option<u64>,
    /// The number of warps.
    #[serde(skip)]
    pub of_warps: u64,
    /// Lanes of a block's last warp without a thread.
    pub lanes: u64,
    /// Threads of a block.
    #[serde(skip)]
    pub threads: u64,
    /// Whether the grid has rows.
    #[serde(skip)]
    pub has_rows: bool,
}

impl Idle {
    /// The idle parts of a launch. A launch that did not run to its end, or that skipped accesses, does not show which blocks and warps are
    /// idle.
    pub(crate) fn of((launch, is_whole): (&LaunchReport, bool), codes: &Codes) -> Idle {
        let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        Idle {
            blocks: is_whole.then_some(launch.counts.idle_blocks),
            of_blocks: blocks,
            of_warps: launch.counts.warps,
            warps: idle_warps(launch, codes).filter(|_| is_whole),
            lanes: threads.next_multiple_of(LANES) - threads,
            threads,
            has_rows: launch.grid[1..] != [1, 1],
        }
    }

    /// Whether enough lanes are without a thread to report it. A single short block is not: small programs begin that way.
    pub(crate) fn wastes_lanes(&self) -> bool {
        let lanes = self.threads + self.lanes;
        let is_meant = self.threads > LANES || self.threads > 0 && self.of_blocks > 1;
        is_meant && self.lanes as f64 >= LEAST_SHARE * lanes as f64
    }

    /// Sentences on the parts worth reporting.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![];
        let idle = self.blocks.unwrap_or(0).min(self.of_blocks);
        let busy = self.of_blocks - idle;
        if idle > 1 && idle as f64 >= LEAST_SHARE * self.of_blocks as f64 {
            let advice = match (busy, self.has_rows) {
                (0, false) => "look at the condition that keeps them from it".to_string(),
                (_, true) => "look at the condition that keeps them from it, and whether x and y of the grid are exchanged".to_string(),
                (_, false) => format!(
                    "if they are at the end of the grid, launch {busy} block{} (the number of elements over the block's size, rounded up once)",
                    if busy == 1 { "" } else { "s" }
                ),
            };
            all.push(format!(
                "{idle} of {} blocks access no memory: {advice}",
                self.of_blocks
            ));
        }
        let of_block = self.threads.div_ceil(LANES);
        let others = self
            .warps
            .unwrap_or(0)
            .saturating_sub(idle.saturating_mul(of_block));
        if others > 1 && others as f64 >= LEAST_WARPS * self.of_warps as f64 {
            all.push(format!(
                "{others} of {} warps{} access no memory: smaller blocks, or more work for each, would leave fewer of them",
                self.of_warps,
                if idle > 0 { ", in blocks that do," } else { "" }
            ));
        }
        let lanes = self.threads + self.lanes;
        if self.wastes_lanes() {
            let warps = lanes / LANES;
            all.push(format!(
                "a block of {} thread{} takes {warps} warp{}: {} of {lanes} lanes have no thread, and an instruction costs the same for all. With a \
                 multiple of 32 threads each lane has one",
                self.threads,
                if self.threads == 1 { "" } else { "s" },
                if warps == 1 { "" } else { "s" },
                self.lanes
            ));
        }
        all
    }
}

/// Whether a launch ran to its end, and no access of it was skipped.
pub(crate) fn is_whole(launch: &LaunchReport, index: usize, outcome: &Outcome) -> bool {
    launch.skipped.is_empty() && has_ended(index, outcome)
}

/// Whether a launch ran to its end.
pub(crate) fn has_ended(index: usize, outcome: &Outcome) -> bool {
    let is_its_trap =
        |fault: &Fault| matches!(fault, Fault::Trap { launch: Some(at), .. } if *at == index);
    !outcome.faults.iter().any(is_its_trap)
}

/// Warps without an access. They can be told only if one access is made by all warps that make any access: it is in no loop, and every
/// branch around it is around all other accesses, too.
fn idle_warps(launch: &LaunchReport, codes: &Codes) -> Option<u64> {
    let around = |site: &Site| codes.facts(launch.kernel, site)?.around.clone();
    let all: Option<Vec<(Vec<u32>, &Site)>> = launch
        .sites
        .iter()
        .map(|site| Some((around(site)?, site)))
        .collect();
    let all = all?;
    let leads = |(own, site): &&(Vec<u32>, &Site)| {
        let is_once = codes
            .facts(launch.kernel, site)
            .is_some_and(|facts| !facts.is_in_loop);
        is_once && all.iter().all(|(other, _)| other.starts_with(own))
    };
    let most = all
        .iter()
        .filter(leads)
        .map(|(_, site)| site.counts.instructions);
    Some(launch.counts.warps.saturating_sub(most.max()?))
}
