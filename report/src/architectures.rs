//! One program on several architectures: what its accesses cost on each.
//!
//! The machine counts by one architecture's rules at a time, so each architecture has its own run. The program and its accesses are the
//! same in all of them. A launch whose accesses differ (a program may ask for its device's limits) is left out.

use std::fmt::Write;

use interp::{
    Site,
    rules::{Generation, RuleSet},
};
use ir::Space;
use runtime::{host::Outcome, launches::IdenticalLaunches};
use serde::Serialize;

use crate::{
    Model,
    text::{Style, cut},
};

/// A run for another architecture.
pub struct Other {
    /// How it was counted.
    pub rules: RuleSet,
    /// How it went.
    pub outcome: Outcome,
}

/// An access over all launches, on each architecture.
struct Row {
    key: (u32, u32, u32, Space, String),
    text: String,
    /// Transactions of shared and constant memory, sectors of global; `None` where no rule says.
    costs: Vec<Option<u64>>,
}

/// Columns of the line and of each number.
const LINE: usize = 5;
const NUMBER: usize = 11;
/// Columns of the text at least.
const LEAST_TEXT: usize = 16;

fn rows(model: &Model<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    let own = model.input.outcome.launches.kept();
    let others: Vec<&[IdenticalLaunches]> = model
        .others
        .iter()
        .map(|other| other.outcome.launches.kept())
        .collect();
    for (at, kept) in own.iter().enumerate() {
        let like = |other: &&[IdenticalLaunches]| {
            other.get(at).is_some_and(|other| {
                let sites = other.report.sites.iter().zip(&kept.report.sites);
                other.report.sites.len() == kept.report.sites.len()
                    && sites
                        .into_iter()
                        .all(|(a, b)| (a.loc, a.op) == (b.loc, b.op))
            })
        };
        if !others.iter().all(like) {
            continue;
        }
        for (index, site) in kept.report.sites.iter().enumerate() {
            if !matches!(site.space, Space::Shared | Space::Global | Space::Constant) {
                continue;
            }
            let times = kept.times();
            let costs = std::iter::once(site)
                .chain(others.iter().map(|other| &other[at].report.sites[index]))
                .map(|site| Some(cost(site)?.saturating_mul(times)));
            let key = (
                site.file,
                site.line,
                site.column,
                site.space,
                format!("{} {}", site.space, site.op),
            );
            match rows.iter_mut().find(|row| row.key == key) {
                Some(row) => {
                    for (sum, more) in row.costs.iter_mut().zip(costs) {
                        *sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more));
                    }
                }
                None => rows.push(Row {
                    key,
                    text: site.text.clone(),
                    costs: costs.collect(),
                }),
            }
        }
    }
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}

fn cost(site: &Site) -> Option<u64> {
    let counts = &site.counts;
    (!counts.not_modelled()).then_some(match site.space {
        Space::Global => counts.sectors,
        _ => counts.transactions,
    })
}

/// The table; empty if no other architecture was asked for.
pub(crate) fn table(model: &Model<'_>, style: Style) -> String {
    if model.others.is_empty() {
        return String::new();
    }
    let rules: Vec<&RuleSet> = std::iter::once(model.input.rules)
        .chain(model.others.iter().map(|other| &other.rules))
        .collect();
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by_key(|&at| rules[at].arch.number());
    let rules: Vec<&RuleSet> = order.iter().map(|&at| rules[at]).collect();
    let mut rows = rows(model);
    for row in &mut rows {
        row.costs = order.iter().map(|&at| row.costs[at]).collect();
    }
    let (different, same): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .partition(|row| row.costs.iter().any(|cost| *cost != row.costs[0]));
    let mut text = style.rule("by architecture");
    // Neighbouring architectures with equal costs everywhere share a column.
    let mut columns: Vec<(usize, usize)> = vec![];
    for at in 0..rules.len() {
        match columns.last_mut() {
            Some((first, last))
                if different
                    .iter()
                    .all(|row| row.costs[*first] == row.costs[at]) =>
            {
                *last = at;
            }
            _ => columns.push((at, at)),
        }
    }
    if different.is_empty() {
        let _ = writeln!(
            text,
            " all accesses cost the same on all {} of them",
            rules.len()
        );
        return text;
    }
    let numbers = columns.len() * NUMBER;
    let room = style
        .columns
        .saturating_sub(LINE + 2 + numbers)
        .max(LEAST_TEXT);
    let _ = write!(text, "{:>LINE$}  {:<room$}", "line", "access");
    for &(first, last) in &columns {
        let _ = write!(text, "{:>NUMBER$}", named(rules[first], rules[last]));
    }
    text.push('\n');
    for row in &different {
        let access = cut(&format!("{} {}", row.key.4, row.text), room - 1);
        let _ = write!(text, "{:>LINE$}  {access:<room$}", row.key.1);
        for &(first, _) in &columns {
            let cost = row.costs[first].map_or("?".to_string(), |cost| cost.to_string());
            let _ = write!(text, "{cost:>NUMBER$}");
        }
        text.push('\n');
    }
    if !same.is_empty() {
        let more = match same.len() {
            1 => "1 more access costs".to_string(),
            n => format!("{n} more accesses cost"),
        };
        let _ = writeln!(text, " {more} the same on all");
    }
    for why in reasons(&different, &rules) {
        text += &style.paragraph(" ", &why, None);
    }
    text
}

/// `sm_50`, `sm_50-121`.
fn named(first: &RuleSet, last: &RuleSet) -> String {
    if first.arch == last.arch {
        return first.arch.to_string();
    }
    format!("{}-{}", first.arch, last.arch.number())
}

/// The properties of the architectures that explain the differences.
fn reasons(different: &[&Row], rules: &[&RuleSet]) -> Vec<String> {
    let of = |space: Space| different.iter().any(|row| row.key.3 == space);
    let mut all = vec!["shared and constant memory in transactions, global memory in sectors of 32 bytes; `?`: no rule says".to_string()];
    let with_lines = rules.iter().filter(|rules| rules.l1).count();
    if of(Space::Global) && with_lines > 0 && with_lines < rules.len() {
        all.push(
            "global loads that go through an L1 cache of whole lines (Fermi) move 128 bytes for each line they touch, the others 32-byte \
             sectors"
                .to_string(),
        );
    }
    let is_kepler = |rules: &&&RuleSet| rules.arch.generation() == Generation::Kepler;
    let kepler = rules.iter().filter(is_kepler).count();
    if of(Space::Shared) && kepler > 0 && kepler < rules.len() {
        all.push(
            "a bank of Kepler's shared memory (sm_30 to sm_37) gives 8 bytes in a pass, of others 4".to_string(),
        );
    }
    all
}

/// An architecture in the JSON report.
#[derive(Serialize)]
pub(crate) struct ArchRow {
    arch: String,
    launches: Vec<LaunchRow>,
}

#[derive(Serialize)]
struct LaunchRow {
    /// The first of the launches that are alike.
    index: usize,
    /// As the report's sites, in their order.
    sites: Vec<SiteRow>,
}

#[derive(Serialize)]
struct SiteRow {
    line: u32,
    op: String,
    space: String,
    /// `null` where no rule says.
    transactions: Option<u64>,
    sectors: Option<u64>,
}

/// The other architectures for the JSON report.
pub(crate) fn json(model: &Model<'_>) -> Vec<ArchRow> {
    let site = |site: &Site| {
        let known = !site.counts.not_modelled();
        SiteRow {
            line: site.line,
            op: site.op.to_string(),
            space: site.space.to_string(),
            transactions: known.then_some(site.counts.transactions),
            sectors: (known && site.space == Space::Global).then_some(site.counts.sectors),
        }
    };
    let launch = |kept: &IdenticalLaunches| LaunchRow {
        index: kept.first,
        sites: kept.report.sites.iter().map(site).collect(),
    };
    let others = model.others.iter();
    others
        .map(|other| ArchRow {
            arch: other.rules.arch.to_string(),
            launches: other.outcome.launches.kept().iter().map(launch).collect(),
        })
        .collect()
}
