//! The search: for each group of findings and each hot spot, tries the candidates in turn until one is good.

use report::{
    Holds, Model, Suggestion, SuggestionKind,
    findings::Found,
    model::{HotSpot, Waste},
};

use runtime::launches::Launches;

use crate::{
    Base, Run, Runner, aggregate, argument,
    candidate::Candidate,
    conflict, constant, diverge, effect, fault, needless, scatter,
    text::{Text, edited},
    trial::{Aim, Trials},
};

/// Most hot spots, and most groups of findings, for which cures are searched.
const MAX_SPOTS: usize = 6;
const MAX_GROUPS: usize = 6;
/// Most candidates that are run.
const MAX_RUNS: usize = 60;
/// Most edits of a group of findings, one after the other, each of which removes some.
const MAX_STEPS: usize = 3;

/// The state of a search.
pub(crate) struct Search<'a, 'r> {
    base: Base<'a>,
    texts: Vec<Text<'a>>,
    runner: &'r mut dyn Runner,
    left: usize,
    found: Vec<Suggestion>,
    /// The run without edits, once it was needed: the inner `None` if the program does not run.
    plain: Option<Option<Run>>,
    trials: Trials,
}

/// For which runs edits hold.
struct Validity {
    holds: Holds,
    because: String,
    runs: usize,
    /// What else to say about further runs.
    warning: Option<String>,
}

impl Validity {
    fn put(&self, mut suggestion: Suggestion) -> Suggestion {
        suggestion.holds = self.holds;
        suggestion.because = match &self.warning {
            Some(warning) => format!("{}; {warning}", self.because),
            None => self.because.clone(),
        };
        suggestion.runs = self.runs;
        suggestion
    }

    /// For suggestions of one edit.
    fn all(&self, suggestions: Vec<Suggestion>) -> Vec<Suggestion> {
        let suggestions = suggestions.into_iter();
        suggestions.map(|suggestion| self.put(suggestion)).collect()
    }
}

impl<'a, 'r> Search<'a, 'r> {
    pub(crate) fn new(base: Base<'a>, runner: &'r mut dyn Runner) -> Search<'a, 'r> {
        Search {
            base,
            texts: Text::all(base.input.map),
            runner,
            left: MAX_RUNS,
            found: vec![],
            plain: None,
            trials: Trials::default(),
        }
    }

    pub(crate) fn all(mut self, model: &Model<'_>) -> Vec<Suggestion> {
        for group in model.groups.iter().take(MAX_GROUPS) {
            self.group(&group.members);
        }
        self.spread(model);
        // The cost of a run with faults is not worth improving.
        let has_errors = self.base.input.findings.iter().any(Found::is_error);
        if !has_errors {
            for at in 0..model.hot_spots.len().min(MAX_SPOTS) {
                self.cure_hot_spot(model, at);
            }
            if self.runner.finds_races() {
                self.barriers(model);
            }
        }
        self.found
    }

    /// Applies the edits of a candidate and runs the program.
    fn try_one(&mut self, candidate: &Candidate) -> Option<Run> {
        // With fences, each block has to track what all others did before.
        let is_quadratic = matches!(
            candidate.kind,
            SuggestionKind::Fence | SuggestionKind::Volatile
        );
        let launches = self.base.input.outcome.launches.kept().iter();
        let blocks = launches.map(|kept| kept.report.grid.iter().map(|&n| u64::from(n)).product());
        if is_quadratic && !self.runner.affords(blocks.max().unwrap_or(1)) {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let texts = edited(self.base.input.map, &candidate.edits)?;
        self.runner.run(&texts)
    }

    /// Finds other groups that a cure of one group removes, too.
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
                let still = effect::remaining(self.base, &run, &candidate, &group.members);
                if !has(&self.found, &group.members) && still.is_some_and(|still| still.is_empty())
                {
                    self.found[at].findings_removed.extend(&group.members);
                }
            }
        }
    }

    /// Searches a cure of a group of findings: edits until all of them are gone.
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
                let still = effect::remaining(self.base, &run, &candidate, members);
                let Some(still) = still.filter(|still| still.len() < left.len()) else {
                    continue;
                };
                if still.is_empty() {
                    if let Some(held) = self.holds_for_findings(&candidate, &run, members) {
                        self.found
                            .push(held.put(self.of_findings(candidate, members)));
                        return;
                    }
                } else if best
                    .as_ref()
                    .is_none_or(|(_, known)| still.len() < known.len())
                {
                    best = Some((candidate, still));
                }
            }
            let Some((candidate, still)) = best else {
                return;
            };
            (done, left) = (Some(candidate), still);
        }
    }

    /// A suggestion that removes findings.
    fn of_findings(&self, candidate: Candidate, members: &[usize]) -> Suggestion {
        let lead = &self.base.input.findings[members[0]];
        Suggestion {
            kind: candidate.kind,
            launch: lead.occurrences.launch.unwrap_or_default(),
            site: None,
            hot_spot: None,
            text: candidate.text,
            verified: true,
            edits: candidate.edits,
            before: None,
            after: None,
            compiled: None,
            after_site: None,
            findings_removed: members.to_vec(),
            holds: Holds::Idea,
            because: String::new(),
            runs: 0,
        }
    }

    /// Whether edits that remove findings keep everything that the findings leave defined, in this run and in further ones.
    fn holds_for_findings(
        &mut self,
        candidate: &Candidate,
        run: &Run,
        members: &[usize],
    ) -> Option<Validity> {
        let found: Vec<&Found> = members
            .iter()
            .map(|&at| &self.base.input.findings[at])
            .collect();
        if effect::leaves_cause(&found, self.base.input.findings, run) {
            return None;
        }
        if effect::keeps_memory(candidate.kind, &found) {
            let known = self.plain()?.memory_digest;
            if run.memory_digest != known {
                return None;
            }
        }
        let kernels: Vec<String> = found.iter().filter_map(|one| one.kernel.clone()).collect();
        let verdict = self.trials.of(
            self.base,
            &mut *self.runner,
            (candidate, run),
            &kernels,
            Aim::Findings(members),
        );
        if !verdict.is_right() {
            return None;
        }
        let aliased = self.plain().map_or(vec![], |plain| plain.aliased.clone());
        let old = self.base.input.module;
        let proof =
            argument::proof_for_findings(old, &run.module, candidate.kind, &found, &aliased);
        let (holds, because) = match proof {
            Some(proof) => (Holds::Proved, proof),
            None if verdict.runs() > 0 && verdict.not_run(self.base, &run.module).is_none() => {
                (Holds::Checked, verdict.because())
            }
            None => return None,
        };
        Some(Validity {
            holds,
            because,
            runs: verdict.runs(),
            warning: None,
        })
    }

    /// The program without edits.
    fn plain(&mut self) -> Option<&Run> {
        let runner = &mut self.runner;
        self.plain.get_or_insert_with(|| runner.run(&[])).as_ref()
    }

    /// Whether the kernels of an edited program computed the same as without edits.
    fn computes_the_same(&mut self, run: &Run) -> bool {
        self.plain().is_some_and(|plain| plain.digest == run.digest)
    }

    /// For which runs edits against a waste hold; `None` if only for this run.
    fn holds_for_waste(
        &mut self,
        candidate: &Candidate,
        run: &Run,
        (waste, kernels): (Waste, &[String]),
    ) -> Result<Validity, Option<String>> {
        let plain = self.plain.get_or_insert_with(|| self.runner.run(&[]));
        let aliased = plain.as_ref().map_or(&[][..], |plain| &plain.aliased);
        let proof = argument::proof(self.base, candidate, &run.module, aliased);
        // In runs that were not made, an index that comes from memory or an argument may have another value.
        let may_need_others = candidate.kind == SuggestionKind::NoBarrier
            && argument::depends_on_data(self.base.input.module, kernels);
        if proof.is_none() && (candidate.needs_proof || may_need_others) {
            return Err(None);
        }
        let verdict = self.trials.of(
            self.base,
            &mut *self.runner,
            (candidate, run),
            kernels,
            Aim::Waste(waste),
        );
        if let Some(objection) = verdict.objection() {
            return Err(Some(objection));
        }
        let (holds, because) = match proof {
            Some(proof) => (Holds::Proved, proof),
            None if verdict.runs() == 0 => {
                return Err(Some("no further run could be made".to_string()));
            }
            None => match verdict.not_run(self.base, &run.module) {
                Some(kernel) => {
                    let objection = "has the same text, and no run shows what it does with it";
                    return Err(Some(format!("`{kernel}` {objection}")));
                }
                None => (Holds::Checked, verdict.because()),
            },
        };
        Ok(Validity {
            holds,
            because,
            runs: verdict.runs(),
            warning: verdict.warning().or_else(|| grown(self.base, run)),
        })
    }

    /// Searches barriers that no access needs: one group of them in each function.
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
            let Some(saved) = effect::saved(self.base, &run, candidate, Waste::Barriers) else {
                continue;
            };
            if !group.is_whole(&run, kernels) || !self.computes_the_same(&run) {
                continue;
            }
            let own = group
                .spots
                .iter()
                .filter_map(|&at| saved.suggestion(&spots[at], candidate));
            let own: Vec<Suggestion> = own.collect();
            // For barriers, ideas without a proof are not reported.
            let Ok(held) = self.holds_for_waste(candidate, &run, (Waste::Barriers, kernels)) else {
                continue;
            };
            self.found.extend(held.all(own));
            done.extend(&group.spots);
        }
    }

    /// Whether barriers may be unneeded, as far as a run of the IR without them tells. Most are needed, which this shows without a
    /// compilation.
    fn may_go(&mut self, group: &needless::Group, kernels: &[String]) -> bool {
        let Some(module) = group.without(self.base.input.module) else {
            return true;
        };
        let in_ir = Candidate::new(group.candidate.kind, "", vec![]);
        self.runner.run_module(module).is_some_and(|run| {
            effect::saved(self.base, &run, &in_ir, Waste::Barriers).is_some()
                && group.is_whole(&run, kernels)
        })
    }

    /// Searches cures of a hot spot. Each also says what it does for other hot spots.
    fn cure_hot_spot(&mut self, model: &Model<'_>, at: usize) {
        let spot = &model.hot_spots[at];
        // A cure of another hot spot may cure this one, too.
        let is_cured = |one: &Suggestion| one.verified && spot.is_of(one, self.base.input);
        if self.found.iter().any(is_cured) {
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
        let mut idea: Option<Suggestion> = None;
        for candidate in candidates {
            let Some(run) = self.try_one(&candidate) else {
                continue;
            };
            let Some(saved) = effect::saved(self.base, &run, &candidate, spot.waste) else {
                continue;
            };
            let Some(own) = saved.suggestion(spot, &candidate) else {
                continue;
            };
            let is_better = best.as_ref().is_none_or(|&(total, _)| saved.total < total);
            if !is_better || !self.computes_the_same(&run) {
                continue;
            }
            let is_ideal = saved.is_ideal(spot);
            let others = others(model, at).filter_map(|other| saved.suggestion(other, &candidate));
            let all: Vec<Suggestion> = std::iter::once(own.clone()).chain(others).collect();
            match self.holds_for_waste(&candidate, &run, (spot.waste, &spot.kernels)) {
                Ok(held) => {
                    best = Some((saved.total, held.all(all)));
                    if is_ideal {
                        break;
                    }
                }
                Err(Some(objection)) => {
                    idea.get_or_insert(as_idea(own, objection));
                }
                Err(None) => {}
            }
        }
        match best {
            Some((_, all)) => self.found.extend(all),
            None => self.found.extend(idea),
        }
    }
}

/// A warning that launches need more dynamic shared memory than before: a larger launch may not fit any more.
fn grown(base: Base<'_>, run: &Run) -> Option<String> {
    let most = |launches: &Launches| {
        let kept = launches.kept().iter();
        let most = kept.map(|kept| kept.report.shared.dynamic).max();
        most.unwrap_or_default()
    };
    let (old, new) = (
        most(&base.input.outcome.launches),
        most(&run.outcome.launches),
    );
    (new > old).then(|| {
        format!(
            "a launch needs {new} bytes of dynamic shared memory in the place of {old}: larger ones may no longer fit into the 48 KB that they have \
             without `cudaFuncSetAttribute`"
        )
    })
}

/// The hot spots of the same waste after one.
fn others<'m>(model: &'m Model<'_>, at: usize) -> impl Iterator<Item = &'m HotSpot> {
    let spot = &model.hot_spots[at];
    model.hot_spots[at + 1..]
        .iter()
        .filter(move |other| other.waste == spot.waste && !effect::is_of_launch(other.waste))
}

/// A cure that helps only in this run: reported without numbers and edits, with the objection.
pub fn as_idea(suggestion: Suggestion, objection: String) -> Suggestion {
    Suggestion {
        text: format!("{}; but {objection}", suggestion.text),
        verified: false,
        edits: vec![],
        before: None,
        after: None,
        compiled: None,
        after_site: None,
        because: objection,
        ..suggestion
    }
}
