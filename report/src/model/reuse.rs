//! Loads that bring the same bytes again and again, where a tile in shared memory would bring them once for a block.
//!
//! Which loads these are depends on memory traffic, not on lanes: a warp whose lanes all read one element makes one request for one sector,
//! and a tile would not save any of that. A load is reported if all of these hold:
//!
//! - Each of its elements is used by at least [`LEAST_READS`] reads of a block, and each sector is moved for a block at least
//!   [`LEAST_MOVES`] times. In the naive product a warp accesses one element of a row in each round: the eight elements of a sector come
//!   with eight requests. Loads whose lanes each walk along their own row move each sector eight times, too, but use each element once.
//!   They are scattered, not reused.
//! - Serving the repetitions of all such loads from L1, if they hit there, takes longer than loading all memory that the launch touches
//!   from device memory once. A stencil of a few neighbours stays below that: it waits for memory.
//! - A tile is possible. Nothing is stored to the array in the launch, and the load is not `volatile`. Either the block's part of the array
//!   fits into shared memory, or the index does not come from memory, so that the array can be loaded in pieces.
//!
//! Whether the repetitions hit in L1 is not modelled. They are ranked as if they did, which is their least cost.

use interp::{
    LaunchReport, Site, reuse::Reuse, rules::limits::Limits, rules::rates::Rates, trap::AccessOp,
};

use ir::Space;

use crate::Input;
use crate::advice::Thought;
use crate::code::{Codes, Facts};

/// Least reads of a block for each element.
const LEAST_READS: f64 = 4.0;
/// Least number of times that each sector is moved for a block.
const LEAST_MOVES: f64 = 4.0;
/// Most elements that a warp accesses at a time, where its lanes share them.
const FEW_ELEMENTS: u64 = 4;
/// Least sectors that a block moves again: fewer do not justify a barrier.
const LEAST_SECTORS: f64 = 64.0;

/// A load that a tile would serve.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Again {
    /// Sectors that it moves.
    pub(super) used: u64,
    /// Sectors that it would move with a tile.
    pub(super) ideal: u64,
}

/// The loads of a launch that bring the same bytes again and that a tile would help: their indices among its sites.
pub(super) fn again(
    launch: &LaunchReport,
    codes: &Codes,
    input: &Input<'_>,
) -> Vec<(usize, Again)> {
    let sites = launch.sites.iter().enumerate();
    let all: Vec<(usize, Again)> = sites
        .filter_map(|(at, site)| Some((at, of_site(site, launch, codes, input)?)))
        .collect();
    let rates = Rates::of(input.rules.arch);
    let excess = all
        .iter()
        .map(|(_, again)| again.used.saturating_sub(again.ideal));
    let again = excess.fold(0, u64::saturating_add) as f64 / rates.l1_sectors;
    let once = touched(launch) as f64 / rates.dram_bytes;
    match again >= once {
        true => all,
        false => vec![],
    }
}

/// What a load moves again, if the other conditions hold.
fn of_site(site: &Site, launch: &LaunchReport, codes: &Codes, input: &Input<'_>) -> Option<Again> {
    let reuse = site.reuse?;
    let counts = &site.counts;
    let moves = reuse.sectors_by_block();
    if site.space != Space::Global
        || site.op != AccessOp::Load
        || counts.not_modelled()
        || reuse.by_block() < LEAST_READS
        || moves < LEAST_MOVES
    {
        return None;
    }
    let facts = codes.facts(launch.kernel, site)?;
    let again = reuse.sectors.saturating_sub(reuse.distinct_sectors);
    let by_block = again as f64 / reuse.blocks.max(1) as f64;
    let is_tile = by_block >= LEAST_SECTORS && may_be_tile(&reuse, facts, launch, codes, input);
    is_tile.then(|| Again {
        used: counts.sectors,
        ideal: (counts.sectors as f64 / moves).ceil() as u64,
    })
}

/// Estimated number of different bytes of global memory that a launch touches. If the number over the grid is unknown, each block counts.
fn touched(launch: &LaunchReport) -> u64 {
    let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
    let distinct = |reuse: &Reuse| {
        let by_block = reuse.distinct_bytes / reuse.blocks.max(1);
        reuse.grid_bytes.unwrap_or(by_block.saturating_mul(blocks))
    };
    let loads = launch.reuse.as_ref().map_or(0, distinct);
    let is_stored = |site: &&Site| site.space == Space::Global && site.op != AccessOp::Load;
    let stores = launch.sites.iter().filter(is_stored);
    let stores = stores.filter_map(|site| site.reuse.as_ref().map(distinct));
    stores.fold(loads, u64::saturating_add)
}

fn may_be_tile(
    reuse: &Reuse,
    facts: &Facts,
    launch: &LaunchReport,
    codes: &Codes,
    input: &Input<'_>,
) -> bool {
    let room = Limits::of(input.rules.arch).block.shared_bytes;
    let fits = reuse.most_bytes <= room;
    let in_pieces = facts.is_in_loop && !facts.is_from_memory;
    let writes = |site: &Site| {
        site.space == Space::Global
            && site.op != AccessOp::Load
            && site.counts.requests > 0
            && codes
                .facts(launch.kernel, site)
                .is_none_or(|stored| stored.base.is_none() || stored.base == facts.base)
    };
    !facts.is_shared_with_others
        && facts.base.is_some()
        && (fits || in_pieces)
        && !launch.sites.iter().any(writes)
}

/// Whether a warp accesses so few elements at a time that its lanes share them: that causes the waste of sectors.
pub(super) fn is_shared_by_lanes(site: &Site) -> bool {
    let counts = &site.counts;
    counts.distinct_bytes <= FEW_ELEMENTS * counts.requests * u64::from(site.width_bytes)
        && 2 * counts.distinct_bytes <= counts.bytes
}

/// What is read, and how often.
pub(super) fn figures(
    site: &Site,
    launch: &LaunchReport,
    codes: &Codes,
) -> Option<(String, String)> {
    let reuse = site.reuse?;
    let facts = codes.facts(launch.kernel, site);
    let name = facts.and_then(|facts| facts.base.clone());
    let name = name.unwrap_or_else(|| site.text.clone());
    let mut text = format!("is read {} times by a block", rounded(reuse.by_block()));
    if let Some(bytes) = reuse.grid_bytes.filter(|&bytes| bytes > 0) {
        let over_grid = site.counts.bytes as f64 / bytes as f64;
        let about = if reuse.is_exact { "" } else { "about " };
        text += &format!(", {about}{} times over the grid", rounded(over_grid));
    }
    text += &format!(
        ", and each sector moved {} times for a block",
        rounded(reuse.sectors_by_block())
    );
    Some((format!("`{name}`"), text))
}

/// A remark that holds for all loads of a line.
pub(super) fn remark(operations_per_byte: Option<f64>) -> String {
    let density = operations_per_byte.filter(|&density| density > 0.0);
    let density = density.map_or(String::new(), |density| {
        format!(" ({} operations for each byte asked for)", rounded(density))
    });
    density + "; caches are not modelled: what L1 still has comes from there"
}

/// What may help.
pub(super) fn thought(
    site: &Site,
    launch: &LaunchReport,
    codes: &Codes,
    input: &Input<'_>,
) -> Thought {
    let facts = codes.facts(launch.kernel, site);
    let name = facts.and_then(|facts| facts.base.clone());
    let name = name.unwrap_or_else(|| site.text.clone());
    let counts = &site.counts;
    let one_for_all = counts.distinct_bytes == counts.instructions * u64::from(site.width_bytes);
    let limits = Limits::of(input.rules.arch);
    let is_table = site.reuse.is_some_and(|reuse| {
        let by_block = reuse.distinct_bytes / reuse.blocks.max(1);
        reuse.grid_bytes == Some(by_block) && by_block <= u64::from(limits.constant_bytes)
    });
    if one_for_all && is_table {
        return format!(
            "all lanes of a warp read one element, and all blocks the same ones: keep `{name}` in constant memory (`__constant__`), which gives a word to \
             all lanes at once"
        )
        .into();
    }
    format!(
        "a tile in shared memory would read each element once for a block: the block's threads copy a piece of `{name}` into a `__shared__` array, \
         neighbours neighbouring elements, wait at `__syncthreads()`, compute with it from there, and wait again before the next piece"
    )
    .into()
}

/// `32`, `7.5`, `0.25`.
fn rounded(number: f64) -> String {
    let digits = match number {
        number if number >= 20.0 || (number - number.round()).abs() < 0.005 => 0,
        number if number >= 2.0 => 1,
        _ => 2,
    };
    format!("{number:.digits$}")
}
