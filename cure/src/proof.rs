//! Whether edits did what they should: the run with them beside the first.

use std::collections::BTreeSet;

use dsl::{
    diagnostic::Code,
    ir::{LocId, Module, Space},
    source::SourceMap,
};
use interp::Site;
use report::{
    Cost, Edit, Suggestion,
    findings::Found,
    model::{HotSpot, Waste},
};
use runtime::launches::Kept;

use crate::{Base, Run, candidate::Candidate, text};

/// What makes two findings of two runs one: what is wrong, in which kernel, at which lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
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
        Code::SameValueRace => Code::DataRace,
        code => code,
    };
    let kernel = found.kernel.as_deref();
    Key {
        code: code.number(),
        kernel: kernel.map(|name| name.split('<').next().unwrap_or(name).to_string()),
        lines,
    }
}

/// Where a place is, by file and line.
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

fn keys(base: Base<'_>, edits: &[Edit]) -> Vec<Key> {
    let input = base.input;
    let place = |module: &Module, loc| moved(input.map, edits, module, loc);
    let findings = input.findings.iter();
    findings
        .map(|found| key(found, input.module, &place))
        .collect()
}

fn new_keys(run: &Run) -> BTreeSet<Key> {
    let findings = run.findings.iter();
    findings
        .map(|found| key(found, &run.module, &place))
        .collect()
}

/// Which findings of a group are still there; `None` if another one is new, or nothing ran.
pub(crate) fn remaining(
    base: Base<'_>,
    run: &Run,
    candidate: &Candidate,
    members: &[usize],
) -> Option<Vec<usize>> {
    let old = keys(base, &candidate.edits);
    let new = new_keys(run);
    let is_run = !run.outcome.launches.is_empty() || base.input.outcome.launches.is_empty();
    let is_known = new.iter().all(|key| old.contains(key));
    let is_stopped = run.outcome.stopped().is_some();
    if !is_run || !is_known || is_stopped {
        return None;
    }
    let still = members.iter().copied();
    Some(still.filter(|&at| new.contains(&old[at])).collect())
}

/// What a site costs.
fn cost(site: &Site) -> u64 {
    match site.space {
        Space::Global => site.counts.sectors,
        _ => site.counts.transactions,
    }
}

fn times(kept: &Kept) -> u64 {
    if kept.is_sum { 1 } else { kept.count }
}

/// What edits saved.
pub(crate) struct Saved<'a> {
    /// What all sites of all launches cost then.
    pub(crate) total: u64,
    /// The lines that cost more, in words.
    dearer: Vec<String>,
    /// The launches' sites, before and after.
    pairs: Vec<(&'a Kept, &'a Kept)>,
}

/// What edits saved; `None` if they are no cure.
pub(crate) fn saved<'a>(base: Base<'a>, run: &'a Run, candidate: &Candidate) -> Option<Saved<'a>> {
    let (old, new) = (base.input.outcome, &run.outcome);
    let is_same = base.stdout == run.stdout && old.exit_code == new.exit_code;
    let known = keys(base, &candidate.edits);
    let is_sound = new_keys(run).iter().all(|key| known.contains(key));
    if !is_same || !is_sound || new.stopped().is_some() {
        return None;
    }
    let (old, new) = (old.launches.kept(), new.launches.kept());
    let is_like = |(a, b): (&Kept, &Kept)| {
        let like = |(a, b): (&Site, &Site)| (a.space, a.op) == (b.space, b.op);
        let (a_sites, b_sites) = (&a.report.sites, &b.report.sites);
        (a.first, a.count, a_sites.len()) == (b.first, b.count, b_sites.len())
            && a_sites.iter().zip(b_sites).all(like)
    };
    if old.len() != new.len() || !old.iter().zip(new).all(is_like) {
        return None;
    }
    let pairs: Vec<(&Kept, &Kept)> = old.iter().zip(new).collect();
    let (mut before, mut after) = (0u64, 0u64);
    let mut lines: Vec<(u32, String, u64, u64)> = vec![];
    for (a, b) in &pairs {
        for (old, new) in a.report.sites.iter().zip(&b.report.sites) {
            let (was, is) = (cost(old) * times(a), cost(new) * times(b));
            before = before.saturating_add(was);
            after = after.saturating_add(is);
            let what = format!("{} of line {}", old.op, old.line);
            match lines.iter_mut().find(|(_, known, ..)| *known == what) {
                Some((_, _, old, new)) => (*old, *new) = (*old + was, *new + is),
                None => lines.push((old.line, what, was, is)),
            }
        }
    }
    let dearer = lines.iter().filter(|(_, _, was, is)| is > was);
    let dearer =
        dearer.map(|(_, what, was, is)| format!("the {what} then costs {is} instead of {was}"));
    (after < before).then(|| Saved {
        total: after,
        dearer: dearer.collect(),
        pairs,
    })
}

impl Saved<'_> {
    fn sites(&self, (launch, site): (usize, usize)) -> Option<(&Site, &Site)> {
        let pair = self.pairs.iter().find(|(old, _)| old.first == launch)?;
        let old = pair.0.report.sites.get(site)?;
        Some((old, pair.1.report.sites.get(site)?))
    }

    /// Whether no site of a hot spot has anything left to save.
    pub(crate) fn is_ideal(&self, spot: &HotSpot) -> bool {
        let is_ideal = |&place: &(usize, usize)| {
            self.sites(place).is_some_and(|(_, new)| match spot.waste {
                Waste::Sectors | Waste::GlobalAtomics => {
                    new.counts.sectors <= new.counts.ideal_sectors
                }
                _ => new.counts.transactions <= new.counts.ideal,
            })
        };
        spot.sites.iter().all(is_ideal)
    }

    /// For a hot spot: what its site that saves most cost, and costs with the edits.
    pub(crate) fn suggestion(&self, spot: &HotSpot, candidate: &Candidate) -> Option<Suggestion> {
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
            transactions: site.counts.transactions,
            sectors: (site.space == Space::Global).then_some(site.counts.sectors),
        };
        let mut text = candidate.text.clone();
        for dearer in &self.dearer {
            text += "; ";
            text += dearer;
        }
        Some(Suggestion {
            kind: candidate.kind,
            launch,
            site: Some(site),
            text,
            verified: true,
            edits: candidate.edits.clone(),
            before: Some(of(old)),
            after: Some(of(new)),
            after_site: Some(Box::new(new.clone())),
            findings_removed: vec![],
        })
    }
}
