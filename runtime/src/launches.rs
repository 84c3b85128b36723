//! The launches of a run. A launch that equals an earlier one takes only its place in the order, and even the order is bounded: a program
//! may launch forever.

use std::collections::HashMap;

use interp::{Branch, Counted, Finding, LaunchReport, Site, SkippedAccess};
use ir::FuncId;

/// How many launches are listed one by one, by default.
pub const LISTED: usize = 100_000;
/// Estimated limit of the reports of different launches, in bytes.
const KEPT_BYTES: usize = 256 << 20;

/// All launches of a run, in order.
///
/// ```
/// # use ir::FuncId;
/// # use interp::{LaunchReport, stats::LaunchCounts};
/// # let report = |warps| LaunchReport { kernel: FuncId(0), kernel_name: "k".into(), grid: [1; 3], block: [32, 1, 1],
/// #     shared: Default::default(), statement: Default::default(), counts: LaunchCounts { warps, ..LaunchCounts::default() }, reuse: None,
/// #     sites: vec![], branches: vec![], barriers: vec![], findings: vec![], forgot: false, printf_calls: 0, skipped: vec![], order: Default::default(), children: vec![], compiled: None, trace: vec![] };
/// let mut launches = runtime::Launches::default();
/// for warps in [1, 2, 1, 1] {
///     launches.push(report(warps));
/// }
/// assert_eq!((launches.len(), launches.kept().len()), (4, 2));
/// assert_eq!(launches.get(2).unwrap().counts.warps, 1);
/// assert_eq!(launches.kept()[0].count, 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launches {
    kept: Vec<IdenticalLaunches>,
    /// For each listed launch, its index in the kept reports.
    order: Vec<u32>,
    count: usize,
    /// The index of the last launch's report.
    last: Option<u32>,
    /// The newest of the kept reports, by properties that are quick to compare.
    newest: HashMap<Outline, u32>,
    /// The sums for launches that are not kept, by kernel and line.
    sums: HashMap<(FuncId, u32, u32), u32>,
    kept_bytes: usize,
}

/// A report, and the number of launches that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct IdenticalLaunches {
    /// The report of the first of them, or the sum over all.
    pub report: LaunchReport,
    /// The first launch that has it.
    pub first: usize,
    /// How many launches have it.
    pub count: u64,
    /// Whether it is the sum over different launches, of which there were too many.
    pub is_sum: bool,
}

impl IdenticalLaunches {
    /// How many times the report counts: once for a sum.
    pub fn times(&self) -> u64 {
        match self.is_sum {
            true => 1,
            false => self.count,
        }
    }
}

/// Properties that equal launches share, and few others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Outline {
    kernel: FuncId,
    grid: [u32; 3],
    block: [u32; 3],
    line: (u32, u32),
    dynamic: u64,
    instructions: [u64; 3],
    transactions: [u64; 4],
    findings: usize,
}

impl Outline {
    fn of(report: &LaunchReport) -> Outline {
        let counts = &report.counts;
        Outline {
            kernel: report.kernel,
            grid: report.grid,
            block: report.block,
            line: (report.statement.file, report.statement.line),
            dynamic: report.shared.dynamic,
            instructions: [
                counts.warps,
                counts.warp_instructions,
                counts.thread_instructions,
            ],
            transactions: [
                counts.global_load.transactions,
                counts.global_store.transactions,
                counts.shared_load.transactions,
                counts.shared_store.transactions,
            ],
            findings: report.findings.len(),
        }
    }
}

impl Launches {
    /// Adds a launch; returns its index.
    pub fn push(&mut self, report: LaunchReport) -> usize {
        let index = self.count;
        let at = match self.last.filter(|&at| self.is_again(at, &report)) {
            Some(at) => at,
            None => {
                let outline = Outline::of(&report);
                let like = self.newest.get(&outline).copied();
                let like = like.filter(|&at| is_like(&self.kept[at as usize].report, &report));
                like.unwrap_or_else(|| self.keep(report, outline))
            }
        };
        self.kept[at as usize].count += 1;
        if index < LISTED {
            self.order.push(at);
        }
        self.last = Some(at);
        self.count += 1;
        index
    }

    /// Whether it equals the kept one: usually a launch equals the last.
    fn is_again(&self, at: u32, report: &LaunchReport) -> bool {
        let kept = &self.kept[at as usize];
        !kept.is_sum
            && kept.report.statement.file == report.statement.file
            && is_like(&kept.report, report)
    }

    /// Keeps a launch that differs from all kept ones; its count is still 0.
    fn keep(&mut self, report: LaunchReport, outline: Outline) -> u32 {
        let bytes = size_of::<IdenticalLaunches>()
            + report.sites.len() * (size_of::<Site>() + 352)
            + report.findings.len() * (size_of::<Finding>() + 512);
        let number = self.kept.len() as u32;
        let place = (report.kernel, report.statement.file, report.statement.line);
        // A requested trace is kept in full.
        let is_sum = self.kept_bytes + bytes > KEPT_BYTES && report.trace.is_empty();
        if let Some(&at) = self.sums.get(&place).filter(|_| is_sum) {
            let sum = &mut self.kept[at as usize];
            add(&mut sum.report, &report);
            return at;
        }
        if is_sum {
            self.sums.insert(place, number);
        } else {
            self.newest.insert(outline, number);
            self.kept_bytes += bytes;
        }
        self.kept.push(IdenticalLaunches {
            report,
            first: self.count,
            count: 0,
            is_sum,
        });
        number
    }

    /// The number of launches.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there was no launch.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The report of a launch, if the launch is listed or was the last one.
    pub fn get(&self, index: usize) -> Option<&LaunchReport> {
        let is_last = index + 1 == self.count;
        let at = self
            .order
            .get(index)
            .copied()
            .or(self.last.filter(|_| is_last))?;
        Some(&self.kept[at as usize].report)
    }

    /// The first launch's report.
    pub fn first(&self) -> Option<&LaunchReport> {
        self.get(0)
    }

    /// The reports of the launches that are listed one by one, in order.
    pub fn iter(&self) -> impl Iterator<Item = &LaunchReport> {
        let at = |&at: &u32| &self.kept[at as usize].report;
        self.order.iter().map(at)
    }

    /// How many launches are not listed one by one.
    pub fn unlisted(&self) -> usize {
        self.count - self.order.len()
    }

    /// The different reports, in the order of their first launches.
    pub fn kept(&self) -> &[IdenticalLaunches] {
        &self.kept
    }

    /// The same, mutable: a change applies to all launches with the report.
    pub fn reports_mut(&mut self) -> impl Iterator<Item = &mut LaunchReport> {
        self.kept.iter_mut().map(|kept| &mut kept.report)
    }
}

/// Whether two launches did the same, wherever their memory was.
fn is_like(a: &LaunchReport, b: &LaunchReport) -> bool {
    let site = |site: &Site| (site.loc, site.space, site.op, site.width_bytes);
    let sites = |report: &LaunchReport| report.sites.len();
    a.trace.is_empty()
        && b.trace.is_empty()
        && (a.kernel, a.grid, a.block, a.statement.line)
            == (b.kernel, b.grid, b.block, b.statement.line)
        && a.shared.dynamic == b.shared.dynamic
        && a.order.ran == b.order.ran
        && is_counted_like(&a.order.counted, &b.order.counted)
        && a.order.trap_descending.is_some() == b.order.trap_descending.is_some()
        && a.order.trap_scheduled.is_some() == b.order.trap_scheduled.is_some()
        && a.skipped.len() == b.skipped.len()
        && a.skipped.iter().zip(&b.skipped).all(|(a, b)| {
            (a.trap.loc, a.accesses, a.descending) == (b.trap.loc, b.accesses, b.descending)
        })
        && a.counts == b.counts
        && sites(a) == sites(b)
        && a.sites
            .iter()
            .zip(&b.sites)
            .all(|(a, b)| site(a) == site(b) && a.counts == b.counts && a.reuse == b.reuse)
        && a.branches == b.branches
        && a.barriers == b.barriers
        && a.findings == b.findings
}

/// Whether both ran, or both were counted: the second of two equal launches is counted with the first.
fn is_counted_like(a: &Counted, b: &Counted) -> bool {
    matches!((a, b), (Counted::From { .. }, Counted::From { .. })) || a == b
}

/// The key of equal sites.
pub fn site_key(site: &Site) -> impl PartialEq + '_ {
    let place = (site.file, site.line, site.column, &site.text);
    (place, site.op, site.space, site.width_bytes)
}

/// Adds the counts of a launch. For each site, the worse witness is kept; for each finding, the first.
pub fn add(sum: &mut LaunchReport, other: &LaunchReport) {
    sum.counts.merge(&other.counts);
    for site in &other.sites {
        match sum
            .sites
            .iter_mut()
            .find(|known| site_key(known) == site_key(site))
        {
            Some(known) => {
                known.counts.merge(&site.counts);
                let waste = |site: &Site| site.witness.as_ref().map(|witness| witness.waste);
                if waste(site) > waste(known) {
                    known.witness.clone_from(&site.witness);
                }
            }
            None => sum.sites.push(site.clone()),
        }
    }
    sum.sites
        .sort_by_key(|site| (site.file, site.line, site.column));
    for branch in &other.branches {
        let place = |branch: &Branch| (branch.file, branch.line, branch.column);
        match sum
            .branches
            .iter_mut()
            .find(|known| place(known) == place(branch))
        {
            Some(known) => {
                known.divergent += branch.divergent;
                known.fewer_lanes += branch.fewer_lanes;
            }
            None => sum.branches.push(branch.clone()),
        }
    }
    sum.branches
        .sort_by_key(|branch| (branch.file, branch.line, branch.column));
    for barrier in &other.barriers {
        match sum.barriers.iter_mut().find(|known| known.is_at(barrier)) {
            Some(known) => known.warps += barrier.warps,
            None => sum.barriers.push(barrier.clone()),
        }
    }
    sum.barriers
        .sort_by_key(|barrier| (barrier.file, barrier.line, barrier.column));
    for skipped in &other.skipped {
        let like = |known: &&mut SkippedAccess| {
            (known.trap.loc, known.trap.kind.name()) == (skipped.trap.loc, skipped.trap.kind.name())
        };
        match sum.skipped.iter_mut().find(like) {
            Some(known) => known.accesses = known.accesses.saturating_add(skipped.accesses),
            None => sum.skipped.push(skipped.clone()),
        }
    }
    for finding in &other.findings {
        let places = |finding: &Finding| -> Vec<_> {
            let accesses = finding.accesses.iter();
            accesses.map(|access| (access.op, access.loc)).collect()
        };
        let known = sum.findings.iter_mut().find(|known| {
            (known.code, known.severity, known.space)
                == (finding.code, finding.severity, finding.space)
                && places(known) == places(finding)
        });
        match known {
            Some(known) => known.count = known.count.saturating_add(finding.count),
            None => sum.findings.push(finding.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interp::{OrderReport, SharedBytes, Statement, stats::LaunchCounts};

    fn report(warps: u64, sites: usize) -> LaunchReport {
        LaunchReport {
            kernel: FuncId(0),
            kernel_name: "k".to_string(),
            grid: [1; 3],
            block: [32, 1, 1],
            shared: SharedBytes::default(),
            statement: Statement { file: 0, line: 7 },
            counts: LaunchCounts {
                warps,
                warp_instructions: warps,
                ..LaunchCounts::default()
            },
            reuse: None,
            sites: Vec::with_capacity(sites),
            branches: vec![],
            barriers: vec![],
            findings: vec![],
            printf_calls: 0,
            forgot: false,
            skipped: vec![],
            order: OrderReport::default(),
            children: vec![],
            compiled: None,
            trace: vec![],
        }
    }

    #[test]
    fn like_launches_keep_one_report() {
        let mut launches = Launches::default();
        for index in 0..2 * LISTED {
            assert_eq!(launches.push(report(index as u64 % 2, 0)), index);
        }
        assert_eq!(launches.kept().len(), 2);
        assert_eq!(
            (launches.kept()[1].first, launches.kept()[1].count),
            (1, LISTED as u64)
        );
        assert_eq!(
            (launches.iter().count(), launches.unlisted()),
            (LISTED, LISTED)
        );
        let warps = |index| launches.get(index).map(|report| report.counts.warps);
        assert_eq!(warps(3), Some(1));
        assert_eq!((warps(LISTED + 4), warps(2 * LISTED - 1)), (None, Some(1)));
    }

    #[test]
    fn of_too_many_different_ones_the_sum_is_kept() {
        let most = KEPT_BYTES / size_of::<IdenticalLaunches>();
        let mut launches = Launches::default();
        for index in 0..most as u64 + 10 {
            launches.push(report(index, 0));
        }
        let sum = launches.kept().last().expect("a sum");
        assert!(sum.is_sum && launches.kept().len() == most + 1);
        assert_eq!(sum.count, 10);
        let all: u64 = (most as u64..most as u64 + 10).sum();
        assert_eq!(sum.report.counts.warps, all);
    }
}
