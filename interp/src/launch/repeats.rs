//! Skips the reuse sample of a launch that repeats an earlier one.
//!
//! In a grid of few blocks the sample is a large part of the work. A program that makes the same launch again and again
//! would pay for it each time and learn nothing. Of equal launches (same kernel, grid, block and dynamic shared memory)
//! only the first, second, third, fifth, ninth and so on are sampled. The others take over the result of the last one
//! sampled.

use ir::{FuncId, LocId, Space};

use crate::config::LaunchConfig;
use crate::count::reuse::Reuse;
use crate::fault::trap::AccessOp;
use crate::launch::report::{LaunchReport, Site};

/// Launches of at least this many blocks are always sampled: the sample is a small part of the work.
const MANY_BLOCKS: u128 = 256;
/// The most kinds of launches that are remembered.
const MOST_KINDS: usize = 64;

#[derive(Clone, PartialEq, Debug)]
struct Key {
    kernel: FuncId,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
}

impl Key {
    fn of(kernel: FuncId, config: &LaunchConfig) -> Key {
        Key {
            kernel,
            grid: config.grid,
            block: config.block,
            shared_bytes: config.shared_bytes,
        }
    }
}

type SiteKey = (LocId, Space, AccessOp, u32);

fn site_key(site: &Site) -> SiteKey {
    (site.loc, site.space, site.op, site.width_bytes)
}

#[derive(Clone, Debug)]
struct Kind {
    key: Key,
    launches: u64,
    /// Whether the last launch is sampled.
    looks: bool,
    /// The result by site, with the bytes that it accessed in all.
    sites: Vec<(SiteKey, u64, Option<Reuse>)>,
    loads: (u64, Option<Reuse>),
}

/// The reuse of the launches in a run so far. The kind of the current launch is the last.
#[derive(Clone, Debug, Default)]
pub struct Repeats(Vec<Kind>);

impl Repeats {
    /// Whether to sample the launch that is about to run: its [`MachineConfig::reuse`](crate::MachineConfig::reuse).
    pub fn looks(&mut self, kernel: FuncId, config: &LaunchConfig) -> bool {
        if config.blocks() >= MANY_BLOCKS {
            return true;
        }
        let key = Key::of(kernel, config);
        let mut kind = match self.0.iter().rposition(|kind| kind.key == key) {
            Some(at) => self.0.remove(at),
            None => Kind {
                key,
                launches: 0,
                looks: true,
                sites: Vec::new(),
                loads: (0, None),
            },
        };
        kind.looks = kind.launches.count_ones() <= 1;
        kind.launches += 1;
        let looks = kind.looks;
        if self.0.len() == MOST_KINDS {
            self.0.remove(0);
        }
        self.0.push(kind);
        looks
    }

    /// After the launch: remembers its result if it was sampled, otherwise completes its report.
    pub fn complete(&mut self, kernel: FuncId, config: &LaunchConfig, report: &mut LaunchReport) {
        let key = Key::of(kernel, config);
        let Some(kind) = self.0.last_mut().filter(|kind| kind.key == key) else {
            return;
        };
        let loaded_bytes = report.counts.global_load.bytes;
        if kind.looks {
            let sites = report.sites.iter();
            let sites = sites.map(|site| (site_key(site), site.counts.bytes, site.reuse));
            (kind.sites, kind.loads) = (sites.collect(), (loaded_bytes, report.reuse));
            return;
        }
        report.reuse = taken_over(kind.loads, loaded_bytes);
        for (at, site) in report.sites.iter_mut().enumerate() {
            let wanted = site_key(site);
            // Usually the site has the same position.
            let same = kind.sites.get(at).filter(|(key, ..)| *key == wanted);
            let known = same.or_else(|| kind.sites.iter().find(|(key, ..)| *key == wanted));
            site.reuse =
                known.and_then(|&(_, bytes, reuse)| taken_over((bytes, reuse), site.counts.bytes));
        }
    }
}

/// The result of another launch. It is exact only if this launch accessed as many bytes.
fn taken_over((bytes, reuse): (u64, Option<Reuse>), own_bytes: u64) -> Option<Reuse> {
    let reuse = reuse?;
    Some(Reuse {
        is_exact: reuse.is_exact && bytes == own_bytes,
        ..reuse
    })
}
