//! Compares findings and counts under other schedules with the usual order.

use std::collections::HashMap;

use ir::{LocId, Space};

use crate::fault::finding::{Finding, FindingKind, Severity};
use crate::fault::trap::AccessOp;
use crate::launch::orders::places;
use crate::launch::report::{CountDepends, LaunchReport};

/// The most findings of other schedules that are added.
const MAX_FINDINGS: usize = 20;

type Access = (LocId, AccessOp, Space);

/// What other schedules show that the usual order does not.
pub(super) struct Differences {
    usual: HashMap<Access, u64>,
    /// The least and the most.
    counts: HashMap<Access, (u64, u64)>,
    known: Vec<(FindingKind, Option<Space>, Vec<LocId>)>,
    kinds: Vec<FindingKind>,
    findings: Vec<Finding>,
}

/// How often threads made each access.
fn counts(report: &LaunchReport) -> HashMap<Access, u64> {
    let mut counts = HashMap::new();
    for site in &report.sites {
        *counts.entry((site.loc, site.op, site.space)).or_default() += site.counts.active_lanes;
    }
    counts
}

impl Differences {
    pub(super) fn of(report: &LaunchReport) -> Differences {
        Differences {
            usual: counts(report),
            counts: HashMap::new(),
            known: report.findings.iter().map(places).collect(),
            kinds: report.findings.iter().map(|finding| finding.kind).collect(),
            findings: Vec::new(),
        }
    }

    /// A run under another schedule has ended.
    pub(super) fn add(&mut self, report: &LaunchReport, seed: u64) {
        for (access, count) in counts(report) {
            let range = self.counts.entry(access).or_insert((count, count));
            *range = (range.0.min(count), range.1.max(count));
        }
        for finding in &report.findings {
            // Equal values say nothing new about a race.
            let is_echo = finding.severity == Severity::Note && self.kinds.contains(&finding.kind);
            let places = places(finding);
            if is_echo || self.known.contains(&places) || self.findings.len() >= MAX_FINDINGS {
                continue;
            }
            self.known.push(places);
            self.findings.push(Finding {
                scheduled: Some(seed),
                ..finding.clone()
            });
        }
    }

    /// Adds it to the launch's report. How often a thread polls while it waits depends on the schedule; `waits` has
    /// those places.
    pub(super) fn tell(self, report: &mut LaunchReport, waits: impl Fn(LocId) -> bool) {
        report.findings.extend(self.findings);
        let depends = self
            .counts
            .into_iter()
            .filter_map(|(access, (least, most))| {
                let (loc, op, _) = access;
                let usual = self.usual.get(&access).copied().unwrap_or(0);
                let differs = (least, most) != (usual, usual) && !waits(loc);
                differs.then_some(CountDepends {
                    loc,
                    op,
                    usual,
                    least,
                    most,
                })
            });
        report.order.counts = depends.collect();
        report
            .order
            .counts
            .sort_by_key(|count| (count.loc, count.op as u8));
    }
}
