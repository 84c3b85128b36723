//! Compares two reports by kernel and access: what got better and what got worse.
//!
//! The input is two JSON reports, of this version or an older one. Two accesses are the same if kernel, operation and source text agree;
//! the line may differ. Where the text was changed too, accesses to the same array are paired in their order.

use interp::Severity;
use ir::symbol::template_name;
use std::{collections::HashMap, fmt::Write};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{
    error::ReportError,
    text::{Paint, Style, cut},
};

/// The parts of a report that are compared.
#[derive(Deserialize)]
pub struct Side {
    schema: String,
    program: String,
    arch: String,
    launches: Vec<Launch>,
    findings: Vec<Finding>,
    /// Why the program did not run.
    #[serde(default)]
    diagnostics: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Launch {
    kernel: String,
    sites: Vec<Site>,
    /// Totals as compiled.
    #[serde(default)]
    compiled_metrics: Option<HashMap<String, u64>>,
}

#[derive(Deserialize)]
struct Site {
    line: u32,
    #[serde(default)]
    file: String,
    text: String,
    space: String,
    op: String,
    transactions: Option<u64>,
    #[serde(default)]
    sectors: Option<u64>,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
    kind: String,
    severity: String,
    #[serde(default)]
    kernel: Option<String>,
    #[serde(default)]
    array: Option<String>,
}

impl Side {
    /// Reads a report as `run --format json` prints it.
    pub fn parse(text: &str) -> Result<Side, ReportError> {
        let side: Side = serde_json::from_str(text)
            .map_err(|error| ReportError::new(format!("this is no report of dslc: {error}")))?;
        if side.schema.starts_with("dslc-report/") {
            Ok(side)
        } else {
            let schema = &side.schema;
            Err(ReportError::new(format!(
                "this is no report of dslc: its schema is `{schema}`"
            )))
        }
    }
}

impl Side {
    /// Whether the report describes a run: a program with errors was never run.
    pub fn is_of_run(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The sum of such totals over all launches, as compiled; `None` if one was not counted so.
    fn compiled(&self, metrics: &[&str]) -> Option<u64> {
        let mut sum = 0u64;
        for launch in &self.launches {
            let known = launch.compiled_metrics.as_ref()?;
            for metric in metrics {
                sum = sum.saturating_add(*known.get(*metric)?);
            }
        }
        Some(sum)
    }

    /// The findings in a few words, each once.
    fn finding_names(&self) -> Vec<String> {
        let mut all: Vec<String> = self.findings.iter().map(Finding::name).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Whether one of the findings of these names is an error or a warning.
    fn has_more_than_notes(&self, names: &[String]) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| !finding.is_note() && names.contains(&finding.name()))
    }
}

impl Finding {
    fn is_note(&self) -> bool {
        self.severity == Severity::Note.to_string()
    }

    fn name(&self) -> String {
        let mut text = format!("{} {} {}", self.severity, self.code, self.kind);
        if let Some(array) = &self.array {
            text += &format!(" of `{array}`");
        }
        if let Some(kernel) = &self.kernel {
            text += &format!(" in {}", template_name(kernel));
        }
        text
    }
}

/// An access, over all launches of its kernel.
#[derive(Clone, Serialize)]
struct Access {
    kernel: String,
    op: String,
    space: String,
    text: String,
    file: String,
    line: u32,
    /// Transactions; sectors for global memory. `null` where the rules do not model them.
    cost: Option<u64>,
}

impl Access {
    /// The array's name: the text before the first bracket.
    fn array(&self) -> &str {
        self.text.split(['[', '.', '-']).next().unwrap_or("").trim()
    }
}

/// An access before and after. One of the two is missing where the access is new or gone.
#[derive(Serialize)]
struct Pair {
    before: Option<Access>,
    after: Option<Access>,
}

impl Pair {
    fn costs(&self) -> (u64, u64) {
        let cost = |side: &Option<Access>| side.as_ref().and_then(|access| access.cost);
        (
            cost(&self.before).unwrap_or(0),
            cost(&self.after).unwrap_or(0),
        )
    }

    fn access(&self) -> Option<&Access> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// A number before and after.
#[derive(Clone, Copy, Serialize)]
struct Total {
    name: &'static str,
    before: u64,
    after: u64,
    /// The same as compiled, if both sides were counted so.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled: Option<(u64, u64)>,
}

/// The totals as compiled that make up the cost of a space.
const COMPILED: &[(&str, &[&str])] = &[
    (
        "shared",
        &[
            "shared_load_transactions",
            "shared_store_transactions",
            "shared_atomic_transactions",
        ],
    ),
    (
        "global",
        &[
            "global_load_sectors",
            "global_store_sectors",
            "global_atomic_sectors",
        ],
    ),
];

impl Total {
    /// Before and after, as compiled if that is known: those are what a change costs or saves.
    fn most_true(&self) -> (u64, u64) {
        self.compiled.unwrap_or((self.before, self.after))
    }

    /// Before and after as compiled, if a compiler changes them.
    fn compiled_row(&self) -> Option<(u64, u64)> {
        self.compiled
            .filter(|&both| both != (self.before, self.after))
    }
}

/// The differences between two reports.
#[derive(Serialize)]
pub struct Comparison {
    schema: &'static str,
    before: String,
    after: String,
    totals: Vec<Total>,
    /// The accesses that differ, by kernel, the ones that got worse first.
    accesses: Vec<Pair>,
    /// How many cost the same.
    same: usize,
    /// Findings that are gone, and new ones.
    findings_gone: Vec<String>,
    findings_new: Vec<String>,
    #[serde(skip)]
    errors_new: bool,
}

fn accesses(side: &Side) -> Vec<Access> {
    let mut all: Vec<Access> = vec![];
    for launch in &side.launches {
        let kernel = template_name(&launch.kernel);
        for site in &launch.sites {
            let cost = match site.space.as_str() {
                "global" => site.sectors,
                "shared" | "constant" => site.transactions,
                _ => continue,
            };
            let known = all.iter_mut().find(|known| {
                (&known.kernel[..], known.line) == (kernel, site.line)
                    && (&known.op, &known.space, &known.text) == (&site.op, &site.space, &site.text)
            });
            match known {
                Some(known) => {
                    known.cost = known
                        .cost
                        .zip(cost)
                        .map(|(sum, more)| sum.saturating_add(more));
                }
                None => all.push(Access {
                    kernel: kernel.to_string(),
                    op: site.op.clone(),
                    space: site.space.clone(),
                    text: site.text.clone(),
                    file: site.file.clone(),
                    line: site.line,
                    cost,
                }),
            }
        }
    }
    all
}

/// The cost of all accesses to a space.
fn cost(all: &[Access], space: &str) -> u64 {
    let costs = all.iter().filter(|access| access.space == space);
    costs
        .filter_map(|access| access.cost)
        .fold(0, u64::saturating_add)
}

/// Pairs the accesses that `test` accepts as alike, in their order.
fn pair(
    before: &mut Vec<Access>,
    after: &mut Vec<Access>,
    pairs: &mut Vec<Pair>,
    alike: &dyn Fn(&Access, &Access) -> bool,
) {
    let mut rest = vec![];
    for old in before.drain(..) {
        match after.iter().position(|new| alike(&old, new)) {
            Some(at) => pairs.push(Pair {
                before: Some(old),
                after: Some(after.remove(at)),
            }),
            None => rest.push(old),
        }
    }
    *before = rest;
}

/// Compares two reports.
pub fn compare(before: &Side, after: &Side) -> Comparison {
    let (mut old, mut new) = (accesses(before), accesses(after));
    let totals = [
        ("shared transactions", "shared"),
        ("global sectors", "global"),
        ("constant transactions", "constant"),
    ];
    let totals = totals.into_iter().map(|(name, space)| Total {
        name,
        before: cost(&old, space),
        after: cost(&new, space),
        compiled: COMPILED
            .iter()
            .find(|(known, _)| *known == space)
            .and_then(|(_, metrics)| Some((before.compiled(metrics)?, after.compiled(metrics)?))),
    });
    let totals = totals
        .filter(|total| total.before + total.after > 0)
        .collect();
    let mut pairs = vec![];
    let kind =
        |a: &Access, b: &Access| (&a.kernel, &a.op, &a.space) == (&b.kernel, &b.op, &b.space);
    pair(&mut old, &mut new, &mut pairs, &|a, b| {
        kind(a, b) && a.text == b.text
    });
    pair(&mut old, &mut new, &mut pairs, &|a, b| {
        kind(a, b) && a.array() == b.array()
    });
    // The kernel may have been renamed.
    pair(&mut old, &mut new, &mut pairs, &|a, b| {
        (&a.op, &a.space, &a.text) == (&b.op, &b.space, &b.text)
    });
    let alone = |before, after| Pair { before, after };
    pairs.extend(old.into_iter().map(|access| alone(Some(access), None)));
    pairs.extend(new.into_iter().map(|access| alone(None, Some(access))));
    let n_pairs = pairs.len();
    pairs.retain(|pair| {
        let (before, after) = pair.costs();
        before != after
    });
    let same = n_pairs - pairs.len();
    pairs.sort_by_key(|pair| {
        let (before, after) = pair.costs();
        before as i128 - after as i128
    });
    let (old, new) = (before.finding_names(), after.finding_names());
    let without = |all: &[String], others: &[String]| -> Vec<String> {
        let rest = all.iter().filter(|one| !others.contains(one));
        rest.cloned().collect()
    };
    let findings_new = without(&new, &old);
    Comparison {
        schema: "dslc-compare/1",
        before: format!("{} ({})", before.program, before.arch),
        after: format!("{} ({})", after.program, after.arch),
        totals,
        accesses: pairs,
        same,
        findings_gone: without(&old, &new),
        errors_new: after.has_more_than_notes(&findings_new),
        findings_new,
    }
}

/// `-3968 (-97 %)`.
fn change(before: u64, after: u64) -> String {
    let difference = after as i128 - before as i128;
    match before {
        0 => format!("{difference:+}"),
        _ => format!(
            "{difference:+} ({:+.0} %)",
            difference as f64 / before as f64 * 100.0
        ),
    }
}

/// `3 accesses cost the same`.
fn cost_the_same(count: usize) -> String {
    match count {
        1 => "1 access costs the same".to_string(),
        _ => format!("{count} accesses cost the same"),
    }
}

/// The label of a row of totals as compiled.
const AS_COMPILED: &str = "  as compiled";

/// Columns of a number, and of a change.
const NUMBER: usize = 11;
const CHANGE: usize = 20;
/// Least columns of the text.
const LEAST_TEXT: usize = 16;

impl Comparison {
    /// Whether anything costs more, or there is a new finding that is not a note.
    pub fn is_worse(&self) -> bool {
        let mut totals = self.totals.iter();
        let is_worse = |total: &Total| {
            let (before, after) = total.most_true();
            after > before
        };
        self.errors_new || totals.any(is_worse)
    }

    fn label(access: &Access) -> String {
        format!("{} {} {}", access.space, access.op, access.text)
    }

    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        let room = style
            .columns
            .saturating_sub(2 * NUMBER + CHANGE + 2)
            .max(LEAST_TEXT);
        let mut text = format!("before  {}\nafter   {}\n\n", self.before, self.after);
        let row = |text: &mut String, label: &str, (before, after): (u64, u64)| {
            let change = change(before, after);
            let paint = match before.cmp(&after) {
                std::cmp::Ordering::Less => Some(Paint::Red),
                std::cmp::Ordering::Greater => Some(Paint::Green),
                std::cmp::Ordering::Equal => None,
            };
            let change = format!("{change:>CHANGE$}");
            let change = paint.map_or(change.clone(), |paint| style.paint(paint, &change));
            let label = cut(label, room);
            let _ = writeln!(
                text,
                "  {label:<room$}{before:>NUMBER$}{after:>NUMBER$}{change}"
            );
        };
        let _ = writeln!(
            text,
            "  {:<room$}{:>NUMBER$}{:>NUMBER$}{:>CHANGE$}",
            "", "before", "after", "change"
        );
        for total in &self.totals {
            row(&mut text, total.name, (total.before, total.after));
            if let Some(both) = total.compiled_row() {
                row(&mut text, AS_COMPILED, both);
            }
        }
        let mut kernel = "";
        let mut sorted: Vec<&Pair> = self.accesses.iter().collect();
        sorted.sort_by_key(|pair| pair.access().map(|access| access.kernel.as_str()));
        for pair in sorted {
            let Some(access) = pair.access() else {
                continue;
            };
            if access.kernel != kernel {
                kernel = &access.kernel;
                let _ = writeln!(text, "\n{kernel}");
            }
            row(
                &mut text,
                &format!("{:>4} {}", access.line, Comparison::label(access)),
                pair.costs(),
            );
        }
        if self.same > 0 {
            let _ = writeln!(text, "\n{}", cost_the_same(self.same));
        }
        for (what, paint, all) in [
            ("gone", Paint::Green, &self.findings_gone),
            ("new", Paint::Red, &self.findings_new),
        ] {
            for one in all {
                let _ = writeln!(text, "{}", style.paint(paint, &format!("{what}: {one}")));
            }
        }
        text
    }

    /// For a pull request.
    pub fn markdown(&self) -> String {
        let mut text = format!("`{}` → `{}`\n\n", self.before, self.after);
        text += "| | before | after | change |\n| --- | ---: | ---: | ---: |\n";
        for total in &self.totals {
            let (before, after) = (total.before, total.after);
            let change = change(before, after);
            let _ = writeln!(
                text,
                "| **{}** | {before} | {after} | {change} |",
                total.name
            );
            if let Some((before, after)) = total.compiled_row() {
                let change = self::change(before, after);
                let _ = writeln!(text, "|{AS_COMPILED} | {before} | {after} | {change} |");
            }
        }
        for pair in &self.accesses {
            let Some(access) = pair.access() else {
                continue;
            };
            let (before, after) = pair.costs();
            let label = Comparison::label(access)
                .replace('|', "\\|")
                .replace('`', "'");
            let _ = writeln!(
                text,
                "| {} line {}: `{label}` | {before} | {after} | {} |",
                access.kernel,
                access.line,
                change(before, after)
            );
        }
        if self.same > 0 {
            let _ = writeln!(text, "\n{}.", cost_the_same(self.same));
        }
        for one in &self.findings_gone {
            let _ = writeln!(text, "\n- gone: {one}");
        }
        for one in &self.findings_new {
            let _ = writeln!(text, "\n- **new: {one}**");
        }
        text
    }
}
