//! The effect of edits: compares the run with them with the first run.

use ir::symbol::template_name;
use std::collections::BTreeSet;

use interp::{FindingOp, Severity, Site};
use ir::{LocId, Module, Space, diagnostic::Code, source::SourceMap};
use report::{
    Cost, Edit, Holds, Input, Suggestion, SuggestionKind,
    findings::Found,
    model::{HotSpot, Waste},
};
use runtime::launches::IdenticalLaunches;

use crate::{Base, Run, candidate::Candidate, text};

/// The key of equal findings in two runs: what is wrong, in which kernel, at which lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    code: &'static str,
    kernel: Option<String>,
    lines: Vec<(String, u32)>,
}

fn key(found: &Found, module: &Module, place: &dyn Fn(&Module, LocId) -> (String, u32)) -> Key {
    let mut lines: Vec<(String, u32)> = found
        .sides
        .iter()
        .map(|side| place(module, side.loc))
        .collect();
    lines.sort();
    lines.dedup();
    let code = match found.code {
        // Accesses that only lockstep orders are a race in blocks with other row lengths.
        Code::SameValueRace | Code::WarpSynchronousCode => Code::DataRace,
        code => code,
    };
    let kernel = found.kernel.as_deref();
    Key {
        code: code.number(),
        kernel: kernel.map(|name| template_name(name).to_string()),
        lines,
    }
}

/// A place by file and line.
fn place(module: &Module, loc: LocId) -> (String, u32) {
    let loc = module.loc(loc);
    let file = module.files.get(loc.file as usize);
    (file.cloned().unwrap_or_default(), loc.line)
}

/// Where a place of the first run is after edits.
fn moved(map: &SourceMap, edits: &[Edit], module: &Module, loc: LocId) -> (String, u32) {
    let (name, line) = place(module, loc);
    let column = module.loc(loc).column;
    let Some((_, file)) = map.files().find(|(_, file)| file.name == name) else {
        return (name, line);
    };
    let at = file.offset(line, column) as usize;
    let mut new_line = i64::from(line);
    for edit in edits.iter().filter(|edit| edit.file == name) {
        let bytes = text::bytes(file, edit);
        if bytes.end <= at && line > 0 {
            let new = edit.text.matches('\n').count() as i64;
            new_line += new - i64::from(edit.end_line - edit.line);
        }
    }
    (name, u32::try_from(new_line).unwrap_or(line))
}

/// The keys of findings, after edits of the texts they were found in.
pub(crate) fn keys(
    findings: &[Found],
    (module, map): (&Module, &SourceMap),
    edits: &[Edit],
) -> Vec<Key> {
    let place = |module: &Module, loc| moved(map, edits, module, loc);
    let all = findings.iter();
    all.map(|found| key(found, module, &place)).collect()
}

fn base_keys(base: Base<'_>, edits: &[Edit]) -> Vec<Key> {
    let input = base.input;
    keys(input.findings, (input.module, input.map), edits)
}

/// The keys of a run's findings that have at least this severity.
fn new_keys(run: &Run, least: Severity) -> BTreeSet<Key> {
    let findings = run.findings.iter().filter(|found| found.severity >= least);
    findings
        .map(|found| key(found, &run.module, &place))
        .collect()
}

/// Which findings of a group remain; `None` if there is a new one, or nothing ran.
pub(crate) fn remaining(
    base: Base<'_>,
    run: &Run,
    candidate: &Candidate,
    members: &[usize],
) -> Option<Vec<usize>> {
    let old = base_keys(base, &candidate.edits);
    let new = new_keys(run, Severity::Note);
    // A note is harmless, and often was only hidden by the removed findings.
    let grave = new_keys(run, Severity::Warning);
    let is_run = !run.outcome.launches.is_empty() || base.input.outcome.launches.is_empty();
    let is_known = grave.iter().all(|key| old.contains(key));
    let is_stopped = run.outcome.stopped().is_some();
    if !is_run || !is_known || is_stopped {
        return None;
    }
    let still = members.iter().copied();
    Some(still.filter(|&at| new.contains(&old[at])).collect())
}

/// The cost of a site.
fn cost(site: &Site) -> u64 {
    match site.space {
        Space::Global => site.counts.sectors,
        _ => site.counts.transactions,
    }
}

/// The cost of a launch that is not in its accesses, for a kind of waste.
fn own_cost(kept: &IdenticalLaunches, waste: Waste) -> u64 {
    let counts = &kept.report.counts;
    match waste {
        Waste::Divergence => counts.warp_instructions,
        Waste::Barriers => counts.barriers,
        _ => 0,
    }
}

/// The cost of a kind of waste in all launches of a run.
pub(crate) fn total(run: &Run, waste: Waste) -> u64 {
    let of = |kept: &IdenticalLaunches| {
        let sites = kept.report.sites.iter().map(cost);
        let all = sites.fold(own_cost(kept, waste), u64::saturating_add);
        all.saturating_mul(kept.times())
    };
    let kept = run.outcome.launches.kept().iter();
    kept.map(of).fold(0, u64::saturating_add)
}

/// Whether the saving is stated for the launch, because the edits change the set of accesses, or the waste has no accesses.
pub(crate) fn is_of_launch(waste: Waste) -> bool {
    matches!(
        waste,
        Waste::Divergence
            | Waste::Barriers
            | Waste::GlobalAtomics
            | Waste::SharedAtomics
            | Waste::ConstantWords
    )
}

/// What edits saved.
pub(crate) struct Saved<'a> {
    waste: Waste,
    /// The cost of all launches with the edits.
    pub(crate) total: u64,
    /// The lines that became more expensive, in words.
    costlier: Vec<String>,
    /// The launches' sites, before and after.
    pairs: Vec<(&'a IdenticalLaunches, &'a IdenticalLaunches)>,
}

/// What edits against a kind of waste saved; `None` if they are not a cure.
pub(crate) fn saved<'a>(
    base: Base<'a>,
    run: &'a Run,
    candidate: &Candidate,
    waste: Waste,
) -> Option<Saved<'a>> {
    let (old, new) = (base.input.outcome, &run.outcome);
    let is_same = base.stdout == run.stdout && old.exit_code == new.exit_code;
    let known = base_keys(base, &candidate.edits);
    let grave = new_keys(run, Severity::Warning);
    let is_sound = grave.iter().all(|key| known.contains(key));
    if !is_same || !is_sound || new.stopped().is_some() {
        return None;
    }
    let (old, new) = (old.launches.kept(), new.launches.kept());
    let is_like =
        |(a, b): (&IdenticalLaunches, &IdenticalLaunches)| (a.first, a.count) == (b.first, b.count);
    if old.len() != new.len() || !old.iter().zip(new).all(is_like) {
        return None;
    }
    let pairs: Vec<(&IdenticalLaunches, &IdenticalLaunches)> = old.iter().zip(new).collect();
    let is_by_access = !is_of_launch(waste);
    let has_like_sites = pairs.iter().all(|(a, b)| has_like_sites(a, b));
    if is_by_access && !has_like_sites {
        return None;
    }
    let mut accesses = Accesses::default();
    let (mut before, mut after) = (0u64, 0u64);
    for (a, b) in &pairs {
        before = before.saturating_add(own_cost(a, waste) * a.times());
        after = after.saturating_add(own_cost(b, waste) * b.times());
        let (old, new) = (&a.report.sites, &b.report.sites);
        if has_like_sites {
            for (old, new) in old.iter().zip(new) {
                let what = || format!("{} of line {}", old.op, old.line);
                accesses.add(what, cost(old) * a.times(), cost(new) * b.times());
            }
        } else {
            // The edits change the set of accesses, so the sums by kind of access are compared.
            let what = |site: &Site| format!("{} of {} memory", site.op, site.space);
            for site in old {
                accesses.add(|| what(site), cost(site) * a.times(), 0);
            }
            for site in new {
                accesses.add(|| what(site), 0, cost(site) * b.times());
            }
        }
    }
    for (_, was, is) in &accesses.all {
        before = before.saturating_add(*was);
        after = after.saturating_add(*is);
    }
    (after < before).then(|| Saved {
        waste,
        total: after,
        costlier: accesses.costlier(),
        pairs,
    })
}

/// Whether two launches have the same accesses, where constant memory may have become global memory.
fn has_like_sites(a: &IdenticalLaunches, b: &IdenticalLaunches) -> bool {
    let (a, b) = (&a.report.sites, &b.report.sites);
    let like = |(a, b): (&Site, &Site)| {
        let is_moved = (a.space, b.space) == (Space::Constant, Space::Global);
        a.op == b.op && (a.space == b.space || is_moved)
    };
    a.len() == b.len() && a.iter().zip(b).all(like)
}

/// The cost of accesses before and after, by name.
#[derive(Default)]
struct Accesses {
    all: Vec<(String, u64, u64)>,
}

impl Accesses {
    fn add(&mut self, what: impl Fn() -> String, was: u64, is: u64) {
        let what = what();
        match self.all.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, old, new)) => (*old, *new) = (*old + was, *new + is),
            None => self.all.push((what, was, is)),
        }
    }

    fn costlier(&self) -> Vec<String> {
        let costlier = self.all.iter().filter(|(_, was, is)| is > was);
        let words =
            costlier.map(|(what, was, is)| format!("the {what} then costs {is} instead of {was}"));
        words.collect()
    }
}

impl Saved<'_> {
    fn sites(&self, (launch, site): (usize, usize)) -> Option<(&Site, &Site)> {
        let pair = self.pairs.iter().find(|(old, _)| old.first == launch)?;
        let old = pair.0.report.sites.get(site)?;
        Some((old, pair.1.report.sites.get(site)?))
    }

    /// Whether every site of a hot spot has its ideal cost.
    pub(crate) fn is_ideal(&self, spot: &HotSpot) -> bool {
        let is_ideal = |&place: &(usize, usize)| {
            self.sites(place).is_some_and(|(_, new)| match spot.waste {
                Waste::Sectors => new.counts.sectors <= new.counts.ideal_sectors,
                _ => new.counts.transactions <= new.counts.ideal,
            })
        };
        !is_of_launch(spot.waste) && spot.sites.iter().all(is_ideal)
    }

    /// For a hot spot: the cost of the site with the largest saving, before and with the edits.
    pub(crate) fn suggestion(&self, spot: &HotSpot, candidate: &Candidate) -> Option<Suggestion> {
        if is_of_launch(spot.waste) {
            return self.of_launch(spot, candidate);
        }
        let saves = |&place: &(usize, usize)| {
            let (old, new) = self.sites(place)?;
            let saved = cost(old)
                .checked_sub(cost(new))
                .filter(|&saved| saved > 0)?;
            Some((saved, place))
        };
        let (_, (launch, site)) = spot
            .sites
            .iter()
            .filter_map(saves)
            .min_by_key(|&(saved, place)| (std::cmp::Reverse(saved), place))?;
        let (old, new) = self.sites((launch, site))?;
        let of = |site: &Site| Cost {
            transactions: Some(site.counts.transactions),
            sectors: (site.space == Space::Global).then_some(site.counts.sectors),
            ..Cost::default()
        };
        Some(Suggestion {
            site: Some(site),
            before: Some(of(old)),
            after: Some(of(new)),
            after_site: Some(Box::new(new.clone())),
            ..self.without_costs(candidate, launch)
        })
    }

    /// For a waste without a site: the cost of the launch with the largest saving, before and with the edits.
    fn of_launch(&self, spot: &HotSpot, candidate: &Candidate) -> Option<Suggestion> {
        let count = |kept: &IdenticalLaunches| {
            let counts = &kept.report.counts;
            match self.waste {
                Waste::Divergence => counts.divergent_branches,
                Waste::GlobalAtomics => counts.global_atomic.sectors,
                Waste::SharedAtomics => counts.shared_atomic.transactions,
                Waste::ConstantWords => Input::constant_words(&kept.report),
                _ => counts.barriers,
            }
        };
        let saves = |(old, new): &(&IdenticalLaunches, &IdenticalLaunches)| {
            let saved = count(old).checked_sub(count(new));
            saved.filter(|&saved| saved > 0)
        };
        let saving = self.pairs.iter().filter(|pair| saves(pair).is_some());
        let (old, new) =
            saving.max_by_key(|pair| (saves(pair), std::cmp::Reverse(pair.0.first)))?;
        let of = |kept: &IdenticalLaunches| {
            let counts = &kept.report.counts;
            match self.waste {
                Waste::Divergence => Cost {
                    warp_instructions: Some(counts.warp_instructions),
                    divergent_branches: Some(counts.divergent_branches),
                    ..Cost::default()
                },
                Waste::GlobalAtomics => Cost {
                    global_atomic_sectors: Some(counts.global_atomic.sectors),
                    ..Cost::default()
                },
                Waste::SharedAtomics => Cost {
                    shared_atomic_transactions: Some(counts.shared_atomic.transactions),
                    ..Cost::default()
                },
                Waste::ConstantWords => Cost {
                    constant_words: Some(Input::constant_words(&kept.report)),
                    ..Cost::default()
                },
                _ => Cost {
                    barriers: Some(counts.barriers),
                    ..Cost::default()
                },
            }
        };
        Some(Suggestion {
            hot_spot: Some(spot.place()),
            before: Some(of(old)),
            after: Some(of(new)),
            ..self.without_costs(candidate, old.first)
        })
    }

    fn without_costs(&self, candidate: &Candidate, launch: usize) -> Suggestion {
        let mut text = candidate.text.clone();
        for costlier in &self.costlier {
            text += "; ";
            text += costlier;
        }
        Suggestion {
            kind: candidate.kind,
            launch,
            site: None,
            hot_spot: None,
            text,
            verified: true,
            edits: candidate.edits.clone(),
            before: None,
            after: None,
            compiled: None,
            after_site: None,
            findings_removed: vec![],
            holds: Holds::Idea,
            because: String::new(),
            runs: 0,
        }
    }
}

/// Whether edits have to leave memory as it was: their kind could change values that the findings leave defined. Edits that only order
/// accesses cannot.
pub(crate) fn keeps_memory(kind: SuggestionKind, found: &[&Found]) -> bool {
    let changes = matches!(
        kind,
        SuggestionKind::Guard | SuggestionKind::Bound | SuggestionKind::Index
    );
    // A value read from outside of an object may be stored anywhere.
    let writes = |found: &&Found| {
        let mut sides = found.sides.iter();
        sides.all(|side| matches!(side.op, FindingOp::Write | FindingOp::Atomic))
    };
    changes && found.iter().all(writes)
}

/// Whether the cause of findings remains: invalid synchronisation of lanes or threads causes races, and skipped stores leave memory
/// uninitialised.
pub(crate) fn leaves_cause(found: &[&Found], all: &[Found], run: &Run) -> bool {
    let is_cause = |of: Code, other: &Found| match of {
        Code::DataRace | Code::SameValueRace | Code::WarpSynchronousCode => {
            matches!(other.code, Code::InvalidMask | Code::DivergentBarrier)
        }
        Code::UninitializedRead => matches!(other.code, Code::Misaligned | Code::OutOfBounds),
        _ => false,
    };
    found.iter().any(|one| {
        let is_of = |other: &Found| {
            other.is_error() && other.kernel == one.kernel && is_cause(one.code, other)
        };
        all.iter().any(is_of) && run.findings.iter().any(is_of)
    })
}
