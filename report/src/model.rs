//! The report as data, made once: launches, sites, hot spots, findings by root cause, suggestions. Renderers read it; they decide what is
//! shown and in what words' order, never what is so.

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

/// What a report says about a run.
pub struct Model<'a> {
    /// What it is made from.
    pub input: &'a Input<'a>,
    /// The findings by root cause, the gravest first: indices into the input's.
    pub groups: Vec<Group>,
    /// What wastes, worst first, over all launches.
    pub hot_spots: Vec<HotSpot>,
    /// The launches, like ones once.
    pub launches: Vec<LaunchGroup<'a>>,
    /// Barriers, of which a cure may prove that nobody needs them. Those are hot spots then.
    pub barriers: Vec<HotSpot>,
    /// Cures: see [`propose`](Model::propose).
    pub suggestions: Vec<Suggestion>,
    /// What else is to be said of the hot spots: who looks for cures, where nobody has.
    pub hint: Option<String>,
    /// The same program on other architectures.
    pub others: Vec<Other>,
    /// What came of the requirements.
    pub requirements: Vec<Judged>,
    /// Metrics that were asked for by their profilers' names.
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
            site.space == Space::Shared && site.op == AccessOp::Atomic && site.counts.not_modelled()
        })
    }

    /// Takes cures, before the model is rendered. A barrier that is proved to be needless is a hot spot from then on.
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

    /// The cures of a hot spot: those that are proved first.
    pub fn cures(&self, spot: &HotSpot) -> Vec<&Suggestion> {
        let all = self.suggestions.iter();
        let mut cures: Vec<&Suggestion> = all
            .filter(|suggestion| spot.is_of(suggestion, self.input))
            .collect();
        cures.sort_by_key(|cure| !cure.verified);
        cures
    }

    /// The cures of a group of findings that are proved.
    pub fn cures_of_findings(&self, group: &Group) -> Vec<&Suggestion> {
        let is_of = |suggestion: &&Suggestion| {
            let mut removed = suggestion.findings_removed.iter();
            suggestion.verified && removed.any(|at| group.members.contains(at))
        };
        self.suggestions.iter().filter(is_of).collect()
    }
}
