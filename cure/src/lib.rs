//! Cures that are proved. For what a run found or wasted, edits of the source are thought of, applied, compiled and run again; only what
//! then is better is offered.
//!
//! In: a [`Model`] of a run, and a [`Runner`], which runs the program with other texts. Out: [`Suggestion`]s with `verified` set. A cure of a
//! waste is proved if the program prints the same bytes and ends with the same exit code, its kernels computed the same, no finding is new,
//! the hot spot costs less, and all launches together cost less; where another line costs more the suggestion says so. A cure of a finding is
//! proved if the findings of its group are gone and none is new.
//!
//! Edits are made in the text as it is written, before macros (module `text`): a guess about the program's shape may be wrong, which the
//! proof shows.

mod aggregate;
mod barrier;
mod candidate;
mod conflict;
mod constant;
mod diverge;
mod fault;
mod needless;
mod proof;
mod publish;
mod rows;
mod scatter;
mod structs;
mod text;
mod tree;

use std::sync::Arc;

use candidate::Candidate;
use dsl::{ir::Module, source::SourceMap};
use report::{Input, Model, Suggestion, findings::Found, model::Waste};
use runtime::host::Outcome;
use text::Text;
pub use text::edited;

/// Hot spots and groups of findings that cures are looked for.
const MAX_SPOTS: usize = 6;
const MAX_GROUPS: usize = 6;
/// Runs of the program in all.
const MAX_RUNS: usize = 60;
/// Edits of a group of findings, one after the other, each of which removes some.
const MAX_STEPS: usize = 3;

/// A run of the program with edits.
pub struct Run {
    /// What was compiled.
    pub module: Arc<Module>,
    /// Its texts.
    pub map: SourceMap,
    /// How it went.
    pub outcome: Outcome,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What was found.
    pub findings: Vec<Found>,
    /// A hash of what its kernels computed, as far as the program shows it.
    pub digest: u64,
}

/// Runs the program with other texts.
pub trait Runner {
    /// Compiles and runs as the first run was, with these texts in the place of the files of these names. `None` if that is not a program.
    fn run(&mut self, texts: &[(String, String)]) -> Option<Run>;

    /// Runs this module in the place of the program's, whose places it has; nothing is compiled.
    fn run_module(&mut self, module: Module) -> Option<Run>;

    /// Whether its runs find all races: only then a barrier can be shown to be needless.
    fn finds_races(&self) -> bool;
}

/// The first run.
#[derive(Clone, Copy)]
struct Base<'a> {
    input: &'a Input<'a>,
    stdout: &'a [u8],
}

/// Proved cures of what a run wasted and found; `stdout` is what it printed.
pub fn cures(model: &Model<'_>, stdout: &[u8], runner: &mut dyn Runner) -> Vec<Suggestion> {
    let base = Base {
        input: model.input,
        stdout,
    };
    let mut search = Search {
        base,
        texts: Text::all(base.input.map),
        runner,
        left: MAX_RUNS,
        found: vec![],
        digest: None,
    };
    for group in model.groups.iter().take(MAX_GROUPS) {
        search.group(&group.members);
    }
    search.spread(model);
    // What a fault spoils is not to be tuned.
    let has_errors = base.input.findings.iter().any(Found::is_error);
    if !has_errors {
        for at in 0..model.hot_spots.len().min(MAX_SPOTS) {
            search.cure_hot_spot(model, at);
        }
        if search.runner.finds_races() {
            search.barriers(model);
        }
    }
    search.found
}

/// What is looked for.
struct Search<'a, 'r> {
    base: Base<'a>,
    texts: Vec<Text<'a>>,
    runner: &'r mut dyn Runner,
    left: usize,
    found: Vec<Suggestion>,
    /// Of the program without edits, once it was needed: `None` if it does not run.
    digest: Option<Option<u64>>,
}

impl Search<'_, '_> {
    /// Applies edits and runs.
    fn try_one(&mut self, candidate: &Candidate) -> Option<Run> {
        self.left = self.left.checked_sub(1)?;
        let texts = edited(self.base.input.map, &candidate.edits)?;
        self.runner.run(&texts)
    }

    /// A cure of one group may be one of others.
    fn spread(&mut self, model: &Model<'_>) {
        for at in 0..self.found.len() {
            let has = |found: &[Suggestion], members: &[usize]| {
                let mut removed = found.iter().flat_map(|one| &one.findings_removed);
                removed.any(|at| members.contains(at))
            };
            let mut left = model.groups.iter().take(MAX_GROUPS);
            if left.all(|group| has(&self.found, &group.members)) {
                return;
            }
            let cure = &self.found[at];
            let candidate = Candidate::new(cure.kind, &*cure.text, cure.edits.clone());
            let Some(run) = self.try_one(&candidate) else {
                continue;
            };
            for group in model.groups.iter().take(MAX_GROUPS) {
                let still = proof::remaining(self.base, &run, &candidate, &group.members);
                if !has(&self.found, &group.members) && still.is_some_and(|still| still.is_empty())
                {
                    self.found[at].findings_removed.extend(&group.members);
                }
            }
        }
    }

    /// Cures of a group of findings: edits until all of them are gone.
    fn group(&mut self, members: &[usize]) {
        let mut done: Option<Candidate> = None;
        let mut left = members.to_vec();
        for _ in 0..MAX_STEPS {
            let candidates = fault::candidates(self.base, &self.texts, &left);
            let mut best: Option<(Candidate, Vec<usize>)> = None;
            for candidate in candidates {
                let candidate = match &done {
                    Some(done) => match done.and(&candidate) {
                        Some(both) => both,
                        None => continue,
                    },
                    None => candidate,
                };
                let Some(run) = self.try_one(&candidate) else {
                    continue;
                };
                let Some(still) = proof::remaining(self.base, &run, &candidate, members) else {
                    continue;
                };
                let fewer = best.as_ref().map_or(left.len(), |(_, still)| still.len());
                if still.len() < fewer {
                    let is_cured = still.is_empty();
                    best = Some((candidate, still));
                    if is_cured {
                        break;
                    }
                }
            }
            let Some((candidate, still)) = best else {
                return;
            };
            if still.is_empty() {
                let lead = &self.base.input.findings[members[0]];
                self.found.push(Suggestion {
                    kind: candidate.kind,
                    launch: lead.occurrences.launch.unwrap_or_default(),
                    site: None,
                    hot_spot: None,
                    text: candidate.text,
                    verified: true,
                    edits: candidate.edits,
                    before: None,
                    after: None,
                    after_site: None,
                    findings_removed: members.to_vec(),
                });
                return;
            }
            (done, left) = (Some(candidate), still);
        }
    }

    /// Whether the kernels of an edited program computed what they did without edits.
    fn computes_the_same(&mut self, run: &Run) -> bool {
        let runner = &mut self.runner;
        let known = self
            .digest
            .get_or_insert_with(|| runner.run(&[]).map(|run| run.digest));
        *known == Some(run.digest)
    }

    /// Barriers that nobody needs: one group of them in each function.
    fn barriers(&mut self, model: &Model<'_>) {
        let spots = &model.barriers;
        let mut done: Vec<usize> = vec![];
        for group in needless::groups(&self.texts, spots).iter().take(MAX_GROUPS) {
            let kernels = &spots[group.spots[0]].kernels;
            if done.iter().any(|&at| spots[at].kernels == *kernels) {
                continue;
            }
            if !self.may_go(group, kernels) {
                continue;
            }
            let candidate = &group.candidate;
            let Some(run) = self.try_one(candidate) else {
                continue;
            };
            let Some(saved) = proof::saved(self.base, &run, candidate, Waste::Barriers) else {
                continue;
            };
            if !group.is_whole(&run, kernels) || !self.computes_the_same(&run) {
                continue;
            }
            let own = group
                .spots
                .iter()
                .filter_map(|&at| saved.suggestion(&spots[at], candidate));
            self.found.extend(own);
            done.extend(&group.spots);
        }
    }

    /// Whether barriers may be needless, as far as a run of the IR without them tells. Most are needed, and that is seen without a compilation.
    fn may_go(&mut self, group: &needless::Group, kernels: &[String]) -> bool {
        let Some(module) = group.without(self.base.input.module) else {
            return true;
        };
        let in_ir = Candidate::new(group.candidate.kind, "", vec![]);
        self.runner.run_module(module).is_some_and(|run| {
            proof::saved(self.base, &run, &in_ir, Waste::Barriers).is_some()
                && group.is_whole(&run, kernels)
        })
    }

    /// Looks for cures of a hot spot. Each says what it does for other hot spots.
    fn cure_hot_spot(&mut self, model: &Model<'_>, at: usize) {
        let spot = &model.hot_spots[at];
        // A cure of another hot spot may have cured this one.
        if !model_cures(&self.found, spot, self.base.input).is_empty() {
            return;
        }
        let candidates = match spot.waste {
            Waste::BankConflicts => conflict::candidates(self.base, &self.texts, spot),
            Waste::Sectors => scatter::candidates(&self.texts, spot),
            Waste::Divergence => diverge::candidates(&self.texts, spot),
            Waste::GlobalAtomics | Waste::SharedAtomics => {
                aggregate::candidates(self.base, &self.texts, spot)
            }
            Waste::ConstantWords => constant::candidates(&self.texts, spot),
            Waste::Barriers | Waste::Reuse | Waste::LocalArrays => vec![],
        };
        let mut best: Option<(u64, Vec<Suggestion>)> = None;
        for candidate in candidates {
            let Some(run) = self.try_one(&candidate) else {
                continue;
            };
            let Some(saved) = proof::saved(self.base, &run, &candidate, spot.waste) else {
                continue;
            };
            let Some(own) = saved.suggestion(spot, &candidate) else {
                continue;
            };
            if !self.computes_the_same(&run) {
                continue;
            }
            let is_ideal = saved.is_ideal(spot);
            if best.as_ref().is_none_or(|&(total, _)| saved.total < total) {
                let others = model.hot_spots[at + 1..]
                    .iter()
                    .filter(|other| other.waste == spot.waste && !proof::is_of_launch(other.waste));
                let others = others.filter_map(|other| saved.suggestion(other, &candidate));
                best = Some((saved.total, std::iter::once(own).chain(others).collect()));
            }
            if is_ideal {
                break;
            }
        }
        self.found.extend(best.into_iter().flat_map(|(_, all)| all));
    }
}

/// The suggestions so far that are of a hot spot.
fn model_cures<'s>(
    found: &'s [Suggestion],
    spot: &report::model::HotSpot,
    input: &Input<'_>,
) -> Vec<&'s Suggestion> {
    let all = found.iter();
    all.filter(|one| spot.is_of(one, input)).collect()
}
