//! The report as data, made once: launches, sites, hot spots, findings by root cause, and suggestions. The renderers read it. They choose
//! what to show and in which order and words; the facts are decided here.

mod barrier;
mod hot_spot;
pub(crate) mod idle;
mod local;
mod occupancy;
mod reuse;

pub use hot_spot::{Cost, HotAccess, HotSpot, Waste};
pub use idle::Idle;
pub use occupancy::{Limit, Occupancy, Step};

use super::{
    Input, LaunchGroup, Suggestion,
    architectures::Other,
    blocks::Blocks,
    code::Codes,
    findings::groups::{self, Group},
    fold,
    require::Judged,
};
use interp::{metrics::Metric, trap::AccessOp};
use ir::Space;

/// The content of a report on a run.
pub struct Model<'a> {
    /// The input that it was made from.
    pub input: &'a Input<'a>,
    /// The findings by root cause, the gravest first: indices into the input's findings.
    pub groups: Vec<Group>,
    /// The lines that waste, worst first, over all launches.
    pub hot_spots: Vec<HotSpot>,
    /// The launches, equal ones once.
    pub launches: Vec<LaunchGroup<'a>>,
    /// Barriers that a cure may prove to be unneeded. They become hot spots then.
    pub barriers: Vec<HotSpot>,
    /// Cures: see [`propose`](Model::propose).
    pub suggestions: Vec<Suggestion>,
    /// How to find cures for the hot spots, if this run did not look for them.
    pub hint: Option<String>,
    /// The same program on other architectures.
    pub others: Vec<Other>,
    /// The results of the requirements.
    pub requirements: Vec<Judged>,
    /// Metrics that were requested under their profilers' names.
    pub metrics: Vec<&'static Metric>,
    /// What the IR says of the launched kernels' accesses.
    pub(crate) codes: Codes,
    /// The part of the last launch that ran, if it was split.
    pub blocks: Option<Box<Blocks>>,
}

impl<'a> Model<'a> {
    /// The model of a run, without suggestions.
    pub fn new(input: &'a Input<'a>) -> Model<'a> {
        let codes = Codes::of(input);
        Model {
            input,
            groups: groups::groups(input.findings, input.module),
            hot_spots: hot_spot::hot_spots(input, &codes),
            barriers: barrier::barriers(input),
            launches: fold::groups(input),
            suggestions: vec![],
            hint: None,
            others: vec![],
            requirements: vec![],
            metrics: vec![],
            codes,
            blocks: None,
        }
    }

    /// Whether an atomic in shared memory has a cost that is not modelled.
    pub fn has_unmodelled_atomics(&self) -> bool {
        let mut sites = self.launches.iter().flat_map(|group| &group.launch.sites);
        sites.any(|site| {
            let is_shared_atomic = site.space == Space::Shared && site.op == AccessOp::Atomic;
            is_shared_atomic && site.counts.not_modelled()
        })
    }

    /// Adds cures, before the model is rendered. A barrier that is proved to be unneeded becomes a hot spot.
    pub fn propose(&mut self, suggestions: Vec<Suggestion>) {
        let (needless, rest) =
            std::mem::take(&mut self.barriers)
                .into_iter()
                .partition(|barrier: &HotSpot| {
                    let mut all = suggestions.iter();
                    all.any(|suggestion| barrier.is_of(suggestion, self.input))
                });
        self.barriers = rest;
        self.hot_spots.extend::<Vec<HotSpot>>(needless);
        hot_spot::sort(&mut self.hot_spots);
        self.suggestions = suggestions;
    }

    /// The cures of a hot spot: the proved ones first.
    pub fn cures(&self, spot: &HotSpot) -> Vec<&Suggestion> {
        let all = self.suggestions.iter();
        let mut cures: Vec<&Suggestion> = all
            .filter(|suggestion| spot.is_of(suggestion, self.input))
            .collect();
        cures.sort_by_key(|cure| !cure.verified);
        cures
    }

    /// The proved cures of a group of findings.
    pub fn cures_of_findings(&self, group: &Group) -> Vec<&Suggestion> {
        let is_of = |suggestion: &&Suggestion| {
            let mut removed = suggestion.findings_removed.iter();
            suggestion.verified && removed.any(|at| group.members.contains(at))
        };
        self.suggestions.iter().filter(is_of).collect()
    }
}
