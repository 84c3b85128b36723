//! Finds where a program wastes: source lines over all launches, worst first.
//!
//! A hot spot is one line and one kind of waste, with all accesses of that line. Its waste is counted; `thought` is what may help, without
//! proof. Kinds of waste are compared by the least number of cycles that they keep a pipe of a multiprocessor busy ([`Rates`]):
//! transactions and sectors by how many a cycle takes, a divergent line by its share of the instructions that lanes waited for. The order
//! is a ranking, not a measurement.
//!
//! Where a compiler is likely to make other accesses ([`code`](crate::code)), a hot spot is *as written*: it has no share of all waste, and
//! its rank is that of the accesses which may be left.

use interp::{Branch, LaunchReport, Site, rules::rates::Rates, stats::SiteCounts, trap::AccessOp};
use ir::Space;
use ir::symbol::template_name;
use runtime::launches::{IdenticalLaunches, site_key};
use serde::{Serialize, Serializer};

use super::{idle, local, reuse};
use crate::{
    Input, Place, Suggestion,
    advice::{self, Advice, Thought},
    code::{Codes, Compiled},
    compiled::ByPlace,
    total::Total,
};

/// Waste below this share of what the line's requests cost is not a hot spot,
const LEAST_SHARE: f64 = 0.02;
/// nor is waste below this share of the cost of all requests of its kind.
const LEAST_SHARE_OF_ALL: f64 = 0.01;

/// The shares of a launch's instruction slots that idle lanes have to leave empty until a branch is a hot spot: one at which many warps
/// diverge, and any branch.
const SOME_LOST: f64 = 0.1;
const MUCH_LOST: f64 = 0.25;

/// Lanes of a warp.
pub(super) const LANES: u64 = 32;

/// What a line wastes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waste {
    /// Transactions of shared memory beyond the ideal.
    BankConflicts,
    /// The same for atomics on shared memory.
    SharedAtomics,
    /// Sectors of global memory beyond the ideal.
    Sectors,
    /// Atomics on global memory that wait for another one at the same address.
    GlobalAtomics,
    /// Words of constant memory beyond one for all lanes.
    ConstantWords,
    /// Branches at which a warp's lanes diverge.
    Divergence,
    /// Barriers that order nothing.
    Barriers,
    /// Loads of global memory that bring the same bytes again, where a tile would bring them once.
    Reuse,
    /// Accesses to local arrays that an index keeps out of registers.
    LocalArrays,
}

impl Waste {
    /// The name in the JSON report.
    pub fn name(self) -> &'static str {
        match self {
            Waste::BankConflicts => "bank_conflicts",
            Waste::SharedAtomics => "shared_atomics",
            Waste::Sectors => "sectors",
            Waste::GlobalAtomics => "global_atomics",
            Waste::ConstantWords => "constant_words",
            Waste::Divergence => "divergent_branches",
            Waste::Barriers => "barriers",
            Waste::Reuse => "reuse",
            Waste::LocalArrays => "local_arrays",
        }
    }

    fn of(site: &Site) -> Option<Waste> {
        match (site.space, site.op) {
            (Space::Shared, AccessOp::Atomic) => Some(Waste::SharedAtomics),
            (Space::Shared, _) => Some(Waste::BankConflicts),
            (Space::Global, AccessOp::Atomic) => Some(Waste::GlobalAtomics),
            (Space::Global, _) => Some(Waste::Sectors),
            (Space::Constant, _) => Some(Waste::ConstantWords),
            _ => None,
        }
    }

    /// Whether it is what the accesses cost, and not which bytes they ask for.
    fn is_of_accesses(self) -> bool {
        !matches!(
            self,
            Waste::Reuse | Waste::LocalArrays | Waste::Divergence | Waste::Barriers
        )
    }

    /// The units used, and the units that would do.
    fn cost(self, counts: &SiteCounts) -> (u64, u64) {
        match self {
            Waste::Sectors | Waste::GlobalAtomics => (counts.sectors, counts.ideal_sectors),
            Waste::LocalArrays => (counts.instructions, 0),
            _ => (counts.transactions, counts.ideal),
        }
    }

    /// The least number of cycles that a multiprocessor takes for one unit beyond the ideal.
    fn cycles(self, rates: &Rates) -> f64 {
        1.0 / match self {
            Waste::BankConflicts | Waste::SharedAtomics => rates.wavefronts,
            Waste::Sectors => rates.l2_sectors,
            // Hits in L1 come from there; a request of local memory is four sectors at least.
            Waste::Reuse => rates.l1_sectors,
            Waste::LocalArrays => rates.l1_sectors / 4.0,
            // They are served one after another.
            Waste::GlobalAtomics | Waste::ConstantWords => 1.0,
            Waste::Divergence | Waste::Barriers => rates.instructions,
        }
    }
}

impl Serialize for Waste {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// An access of a hot spot, over all launches, as in the JSON report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotAccess {
    /// Its operation.
    #[serde(serialize_with = "as_text")]
    pub op: AccessOp,
    /// From 1.
    pub column: u32,
    /// Its source text.
    pub text: String,
    /// Memory requests.
    pub requests: u64,
    /// Units used.
    pub used: u64,
    /// Units that would do.
    pub ideal: u64,
}

impl HotAccess {
    /// Units used beyond the ideal.
    pub fn excess(&self) -> u64 {
        self.used.saturating_sub(self.ideal)
    }
}

fn as_text<S: Serializer>(op: &AccessOp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(op)
}

fn as_object<S: Serializer>(ways: &[(u32, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(ways.iter().copied())
}

/// What a line costs, in the units of its waste, as in the JSON report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Units beyond the ideal; for branches, how many diverged.
    pub excess: u64,
    /// Units used.
    pub used: u64,
    /// Units that would do.
    pub ideal: u64,
    /// The share of all waste of its kind.
    pub share: f64,
}

/// A line that wastes, as in the JSON report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotSpot {
    /// What it wastes.
    pub waste: Waste,
    /// The source file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The column of the access or condition that wastes most, from 1.
    pub column: u32,
    /// The line, without its indentation.
    #[serde(rename = "text")]
    pub source: String,
    /// How much it wastes.
    #[serde(flatten)]
    pub cost: Cost,
    /// How many requests were served in how many ways, if more than one: conflicts of shared memory, words of constant memory.
    #[serde(serialize_with = "as_object")]
    pub ways: Vec<(u32, u64)>,
    /// Its accesses, worst first; empty for a branch.
    pub accesses: Vec<HotAccess>,
    /// The kernels, without template arguments, each once.
    pub kernels: Vec<String>,
    /// In how many launches.
    pub launches: u64,
    /// What the warp of the worst request does.
    pub fact: String,
    /// What may help, without proof.
    #[serde(rename = "advice")]
    pub thought: Option<Thought>,
    /// Whether the counts are those of the compiled kernel's accesses.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_compiled: bool,
    /// Why a compiled kernel is likely to make other accesses: the counts are those of the accesses as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_written: Option<String>,
    /// The sites: the launch of each, and the index there.
    #[serde(skip)]
    pub sites: Vec<(usize, usize)>,
    /// For a barrier: how often a warp of a launch met it, at most.
    #[serde(skip)]
    pub rounds: u64,
    #[serde(skip)]
    pub(super) rank: f64,
}

impl HotSpot {
    /// Whether a suggestion is about this hot spot.
    pub fn is_of(&self, suggestion: &Suggestion, input: &Input<'_>) -> bool {
        match (&suggestion.hot_spot, suggestion.site) {
            (Some(place), _) => *place == self.place(),
            // A cure that moves fewer sectors for a request does not request fewer bytes.
            (None, Some(_)) if matches!(self.waste, Waste::Reuse | Waste::LocalArrays) => false,
            (None, Some(site)) => self.has((suggestion.launch, site), input),
            (None, None) => false,
        }
    }

    /// The line and the kind of waste, which identify the hot spot.
    pub fn place(&self) -> Place {
        Place {
            waste: self.waste.name(),
            file: self.file.clone(),
            line: self.line,
        }
    }

    /// Whether the hot spot has this site of this launch, or an equal one.
    pub fn has(&self, place: (usize, usize), input: &Input<'_>) -> bool {
        let find = |(launch, site): (usize, usize)| {
            let launch = input.outcome.launches.get(launch)?;
            launch.sites.get(site)
        };
        let wanted = find(place);
        let mut own = self.sites.iter();
        own.any(|&own| {
            own == place
                || matches!((find(own), wanted), (Some(own), Some(wanted)) if site_key(own) == site_key(wanted))
        })
    }
}

/// A hot spot while its sites are added up.
struct Sum<'a> {
    key: (u32, u32, Waste),
    accesses: Vec<(HotAccess, &'a LaunchReport, &'a Site)>,
    branch: Option<&'a Branch>,
    diverged: u64,
    fewer_lanes: u64,
    warps: u64,
    warp_instructions: u64,
    histogram: [u64; 33],
    kernels: Vec<String>,
    launches: u64,
    sites: Vec<(usize, usize)>,
    rank: f64,
    /// What a compiler makes of the accesses (for the one that wastes most), and what those accesses waste together.
    compiled: Option<(Compiled, u64)>,
    compiled_waste: u64,
    /// The waste of all accesses.
    all_waste: u64,
    /// Whether the costs are those of compiled accesses.
    as_compiled: bool,
}

/// All hot spots, worst first.
pub(super) fn hot_spots(input: &Input<'_>, codes: &Codes) -> Vec<HotSpot> {
    if input.gpu.is_some() {
        return vec![];
    }
    let rates = Rates::of(input.rules.arch);
    let mut sums: Vec<Sum<'_>> = vec![];
    // The cost of a launch that did not end says nothing of one that does.
    let ended = |kept: &&IdenticalLaunches| idle::has_ended(kept.first, input.outcome);
    for kept in input.kept().filter(ended) {
        let times = kept.times();
        let launch = &kept.report;
        let mut seen: Vec<(u32, u32, Waste)> = vec![];
        let loaded_again = reuse::again(launch, codes, input);
        let compiled = ByPlace::of(launch);
        for (index, site) in launch.sites.iter().enumerate() {
            let own = Waste::of(site).filter(|_| !site.counts.not_modelled());
            let again = loaded_again.iter().find(|(at, _)| *at == index);
            // A tile also helps where many lanes share a few elements.
            let own = own.filter(|_| again.is_none() || !reuse::is_shared_by_lanes(site));
            // What costs is the compiled access, or several of them.
            let costly: Vec<&Site> = match &compiled {
                Some(compiled) => compiled.sites(site).collect(),
                None => vec![site],
            };
            let own = costly
                .into_iter()
                .filter_map(|site| own.map(|waste| (waste, site, waste.cost(&site.counts))));
            let again = again.map(|(_, again)| (Waste::Reuse, site, (again.used, again.ideal)));
            let told_at = local::place(site, launch, codes);
            let local = told_at.map(|_| {
                let cost = Waste::LocalArrays.cost(&site.counts);
                (Waste::LocalArrays, site, cost)
            });
            let wasted = own.chain(again).chain(local);
            for (waste, costly, (used, ideal)) in
                wasted.filter(|(_, _, (used, ideal))| used > ideal)
            {
                let (file, line) = told_at.unwrap_or((site.file, site.line));
                let key = (file, line, waste);
                let sum = entry(&mut sums, key);
                let is_compiled = compiled.is_some() && waste.is_of_accesses();
                sum.add_site((launch, costly), (used, ideal), times, codes);
                sum.as_compiled |= is_compiled;
                sum.rank += (used - ideal).saturating_mul(times) as f64 * waste.cycles(&rates);
                sum.sites.push((kept.first, index));
                sum.meets(launch, kept.count, &mut seen);
            }
        }
        let lost = waited(launch) * Waste::Divergence.cycles(&rates);
        for branch in &launch.branches {
            let key = (branch.file, branch.line, Waste::Divergence);
            let share = branch.divergent as f64 / launch.counts.divergent_branches.max(1) as f64;
            let sum = entry(&mut sums, key);
            sum.add_branch(branch, launch, times);
            sum.rank += share * lost * times as f64;
            sum.meets(launch, kept.count, &mut seen);
        }
    }
    let mut all: Vec<HotSpot> = sums
        .into_iter()
        .filter_map(|sum| sum.finish(input, (codes, &rates)))
        .collect();
    // The share is of all waste of its kind, including waste too small for a hot spot.
    let totals: Vec<(Waste, u64)> = all
        .iter()
        .filter(|spot| spot.as_written.is_none())
        .map(|spot| (spot.waste, spot.cost.excess))
        .collect();
    for spot in &mut all {
        let of_kind = totals.iter().filter(|(waste, _)| *waste == spot.waste);
        let total: u64 = of_kind.map(|(_, excess)| excess).sum();
        let share = spot.cost.excess as f64 / total.max(1) as f64;
        spot.cost.share = if spot.as_written.is_none() {
            share
        } else {
            0.0
        };
    }
    all.retain(|spot| is_worth_saying(spot, used_by_all(input, spot.waste)));
    sort(&mut all);
    all
}

/// Sorts the worst first.
pub(super) fn sort(all: &mut [HotSpot]) {
    all.sort_by(|a, b| {
        let place = |spot: &HotSpot| (spot.file.clone(), spot.line, spot.waste.name());
        b.rank
            .total_cmp(&a.rank)
            .then_with(|| place(a).cmp(&place(b)))
    });
}

fn entry<'s, 'a>(sums: &'s mut Vec<Sum<'a>>, key: (u32, u32, Waste)) -> &'s mut Sum<'a> {
    let at = sums.iter().position(|sum| sum.key == key);
    let at = at.unwrap_or_else(|| {
        sums.push(Sum {
            key,
            accesses: vec![],
            branch: None,
            diverged: 0,
            fewer_lanes: 0,
            warps: 0,
            warp_instructions: 0,
            histogram: [0; 33],
            kernels: vec![],
            launches: 0,
            sites: vec![],
            rank: 0.0,
            compiled: None,
            compiled_waste: 0,
            all_waste: 0,
            as_compiled: false,
        });
        sums.len() - 1
    });
    &mut sums[at]
}

/// Whether the saving is large enough: more than one unit, and not a negligible part of what the line needs.
fn is_worth_saying(spot: &HotSpot, used_by_all: u64) -> bool {
    spot.cost.excess > 1
        && spot.cost.excess as f64 >= LEAST_SHARE * spot.cost.used as f64
        && spot.cost.excess as f64 >= LEAST_SHARE_OF_ALL * used_by_all as f64
}

/// The units that all requests to the same memory used; 0 for kinds that are compared with nothing, such as branches.
fn used_by_all(input: &Input<'_>, waste: Waste) -> u64 {
    let used = |kept: &IdenticalLaunches| {
        let counts = &kept.report.counts;
        let one = match waste {
            Waste::BankConflicts | Waste::SharedAtomics => Total::shared(counts).used,
            Waste::Sectors | Waste::GlobalAtomics | Waste::Reuse => Total::global(counts).used,
            Waste::ConstantWords | Waste::Divergence | Waste::Barriers | Waste::LocalArrays => 0,
        };
        one.saturating_mul(kept.times())
    };
    input.kept().map(used).fold(0, u64::saturating_add)
}

impl<'a> Sum<'a> {
    fn add_site(
        &mut self,
        (launch, site): (&'a LaunchReport, &'a Site),
        (used, ideal): (u64, u64),
        times: u64,
        codes: &Codes,
    ) {
        let waste = used.saturating_sub(ideal).saturating_mul(times);
        let facts = codes.facts(launch.kernel, site);
        self.all_waste = self.all_waste.saturating_add(waste);
        if let Some(compiled) = facts.and_then(|facts| facts.compiled) {
            self.compiled_waste = self.compiled_waste.saturating_add(waste);
            if self.compiled.is_none_or(|(_, most)| waste > most) {
                self.compiled = Some((compiled, waste));
            }
        }
        let like = |(known, _, _): &&mut (HotAccess, &LaunchReport, &Site)| {
            (known.op, known.column, &known.text) == (site.op, site.column, &site.text)
        };
        let (used, ideal) = (used.saturating_mul(times), ideal.saturating_mul(times));
        let requests = site.counts.requests.saturating_mul(times);
        match self.accesses.iter_mut().find(like) {
            Some((known, worst_launch, worst)) => {
                known.requests = known.requests.saturating_add(requests);
                known.used = known.used.saturating_add(used);
                known.ideal = known.ideal.saturating_add(ideal);
                let waste = |site: &Site| site.witness.as_ref().map(|witness| witness.waste);
                if waste(site) > waste(worst) {
                    (*worst_launch, *worst) = (launch, site);
                }
            }
            None => {
                let access = HotAccess {
                    op: site.op,
                    text: site.text.clone(),
                    column: site.column,
                    requests,
                    used,
                    ideal,
                };
                self.accesses.push((access, launch, site));
            }
        }
        for (sum, count) in self.histogram.iter_mut().zip(site.counts.degree_histogram) {
            *sum = sum.saturating_add(count.saturating_mul(times));
        }
    }

    fn add_branch(&mut self, branch: &'a Branch, launch: &LaunchReport, times: u64) {
        let worst = self.branch.get_or_insert(branch);
        if branch.divergent > worst.divergent {
            *worst = branch;
        }
        self.diverged = self
            .diverged
            .saturating_add(branch.divergent.saturating_mul(times));
        self.fewer_lanes = self
            .fewer_lanes
            .saturating_add(branch.fewer_lanes.saturating_mul(times));
        let instructions = launch.counts.warp_instructions.saturating_mul(times);
        self.warp_instructions = self.warp_instructions.saturating_add(instructions);
        self.warps = self
            .warps
            .saturating_add(launch.counts.warps.saturating_mul(times));
    }

    /// Notes that the hot spot is in this launch and `count` equal ones.
    fn meets(&mut self, launch: &LaunchReport, count: u64, seen: &mut Vec<(u32, u32, Waste)>) {
        if seen.contains(&self.key) {
            return;
        }
        seen.push(self.key);
        self.launches = self.launches.saturating_add(count);
        let name = &launch.kernel_name;
        let name = template_name(name).to_string();
        if !self.kernels.contains(&name) {
            self.kernels.push(name);
        }
    }

    fn finish(mut self, input: &Input<'_>, (codes, rates): (&Codes, &Rates)) -> Option<HotSpot> {
        let (file, line, waste) = self.key;
        let compiled = match waste {
            Waste::Divergence | Waste::Barriers | Waste::LocalArrays => None,
            _ if self.as_compiled => None,
            // If the compiler changes most of the waste, all of it is in doubt.
            _ if 2 * self.compiled_waste < self.all_waste => None,
            _ => self.compiled.map(|(compiled, _)| compiled),
        };
        self.accesses
            .sort_by_key(|(access, ..)| std::cmp::Reverse(access.excess()));
        let (advice, column) = match (self.accesses.first(), self.branch) {
            (Some((access, launch, site)), _) => {
                let advice = match waste {
                    Waste::Reuse => Some(self.reuse((codes, input))),
                    Waste::LocalArrays => local::advice(site, launch, codes, input),
                    _ => advice::of_site(site, launch, input),
                };
                (advice, access.column)
            }
            (None, Some(branch)) => {
                // A branch at which few warps diverge costs little, unless the side of the few is long. The same holds for a side of one
                // lane.
                let is_common = self.diverged >= self.warps && self.fewer_lanes > self.diverged;
                let slots = self.warp_instructions as f64 * waste.cycles(rates);
                let lost = self.rank / slots.max(1e-9);
                if lost < if is_common { SOME_LOST } else { MUCH_LOST } {
                    return None;
                }
                let advice = advice::of_branch(branch, input.module);
                (Some(advice), branch.column)
            }
            (None, None) => return None,
        };
        let fewer = compiled.map_or(1.0, |_| self.fewer());
        // Waste without any advice is what the architecture moves at least.
        let advice = advice?;
        let sum = |of: fn(&HotAccess) -> u64| {
            let parts = self.accesses.iter().map(|(access, ..)| of(access));
            parts.fold(0, u64::saturating_add)
        };
        let (used, ideal) = match waste {
            Waste::Divergence => (self.diverged, 0),
            _ => (sum(|access| access.used), sum(|access| access.ideal)),
        };
        let has_ways = matches!(
            waste,
            Waste::BankConflicts | Waste::SharedAtomics | Waste::ConstantWords
        );
        let ways = self.histogram.iter().enumerate().skip(2);
        let ways = ways.filter(|&(_, &count)| has_ways && count > 0);
        Some(HotSpot {
            waste,
            file: input.file_name(file),
            line,
            column,
            source: input.line(file, line).to_string(),
            cost: Cost {
                excess: used.saturating_sub(ideal),
                used,
                ideal,
                share: 0.0,
            },
            ways: ways
                .map(|(degree, &count)| (degree as u32, count))
                .collect(),
            accesses: self
                .accesses
                .into_iter()
                .map(|(access, ..)| access)
                .collect(),
            kernels: self.kernels,
            launches: self.launches,
            fact: advice.fact,
            thought: match compiled {
                // Advice on the accesses as written need not hold for the compiled ones.
                Some(compiled) if waste == Waste::Sectors => Some(compiled.thought().into()),
                _ => advice.thought,
            },
            sites: self.sites,
            rounds: 0,
            rank: self.rank / fewer,
            as_compiled: self.as_compiled,
            as_written: compiled.map(Compiled::reason),
        })
    }

    /// By what factor the counted waste may decrease.
    fn fewer(&self) -> f64 {
        let Some((compiled, _)) = self.compiled else {
            return 1.0;
        };
        let share = self.compiled_waste as f64 / self.all_waste.max(1) as f64;
        1.0 / (1.0 - share + share / compiled.fewer())
    }

    /// Advice on loads that bring the same bytes again: the worst two, and the array of the worst.
    fn reuse(&self, (codes, input): (&Codes, &Input<'_>)) -> Advice {
        let worst = self.accesses.iter().take(2);
        let mut figures: Vec<(String, String)> = vec![];
        for (_, launch, site) in worst {
            let Some((name, how)) = reuse::figures(site, launch, codes) else {
                continue;
            };
            match figures.iter_mut().find(|(_, known)| *known == how) {
                Some((names, _)) if !names.contains(&name) => *names += &format!(" and of {name}"),
                Some(_) => {}
                None => figures.push((name, how)),
            }
        }
        let facts = figures
            .iter()
            .map(|(names, how)| format!("each element of {names} {how}"));
        let facts: Vec<String> = facts.collect();
        let first = self.accesses.first();
        let density = first
            .and_then(|(_, launch, site)| codes.facts(launch.kernel, site)?.operations_per_byte);
        let thought = first.map(|(_, launch, site)| reuse::thought(site, launch, codes, input));
        Advice {
            fact: facts.join("; ") + &reuse::remark(density),
            thought,
        }
    }
}

/// Instructions that lanes waited for while other lanes of the warp took another path. Lanes of a block's last warp without a thread do not
/// count.
fn waited(launch: &LaunchReport) -> f64 {
    let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
    let lanes = threads.next_multiple_of(LANES).max(1);
    let manned = launch.counts.warp_instructions as f64 * threads as f64 / lanes as f64;
    (manned - launch.counts.thread_instructions as f64 / LANES as f64).max(0.0)
}
