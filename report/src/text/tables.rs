//! The launches one by one: a header, the occupancy, the source lines with the cost of their accesses, a sentence where something is
//! wasted, and the totals under nvprof's names.
//!
//! Every count has a column of fixed width; the source text takes the rest of the line (80 to 200 columns read well). Uninformative entries
//! are left out: accesses that were never executed, and metrics that have their best value.

use std::fmt::Write;

use interp::{
    Branch, CompiledCounts, LaunchReport, Orders, Site,
    metrics::{self, Value},
    stats::LaunchCounts,
};
use ir::Space;

use super::{
    dim,
    style::{Paint, Style, cut, pad, wrap},
};
use crate::{
    Input, LaunchGroup, Model, Tables, advice,
    compiled::ByPlace,
    model::{Limit, Occupancy},
};

/// How many requests of a launch a metric is about.
type About = fn(&LaunchCounts) -> u64;

/// Metrics shown at the end of each launch, and how many requests each is about: without requests a metric is not shown.
const TOTALS: &[(&str, About)] = &[
    ("shared_load_transactions_per_request", |counts| {
        counts.shared_load.requests
    }),
    ("shared_store_transactions_per_request", |counts| {
        counts.shared_store.requests
    }),
    ("shared_efficiency", |counts| {
        counts.shared_load.requests + counts.shared_store.requests
    }),
    ("gld_transactions_per_request", |counts| {
        counts.global_load.requests
    }),
    ("gst_transactions_per_request", |counts| {
        counts.global_store.requests
    }),
    ("gld_efficiency", |counts| counts.global_load.requests),
    ("gst_efficiency", |counts| counts.global_store.requests),
    ("branch_efficiency", |counts| counts.branches),
    ("warp_execution_efficiency", |counts| {
        counts.warp_instructions
    }),
];

/// Columns of one total: name and value.
const TOTAL_COLUMNS: usize = 50;

/// Columns of the counts.
const COUNT_COLUMNS: usize = 48;
/// Most columns before the counts: on a wide terminal the counts stay near what they count.
const LABEL_COLUMNS: usize = 72;

/// Columns before the counts.
fn label_columns(columns: usize) -> usize {
    columns.saturating_sub(COUNT_COLUMNS).min(LABEL_COLUMNS)
}

/// The tables of the launches to show.
pub(super) fn tables(model: &Model<'_>, style: Style) -> String {
    let mut text = String::new();
    let input = model.input;
    for group in &model.launches {
        header(&mut text, group, input, style);
        occupancy(&mut text, &group.launch, input, style);
        rows(&mut text, &group.launch, model, style.columns);
        as_compiled(&mut text, &group.launch, style.columns);
        totals(&mut text, &group.launch, input, style.columns);
    }
    let unlisted = input.outcome.launches.unlisted();
    if input.tables == Tables::Each && unlisted > 0 {
        let _ = writeln!(text, "── {unlisted} more launches are not listed");
    }
    text
}

fn header(text: &mut String, group: &LaunchGroup<'_>, input: &Input<'_>, style: Style) {
    let (launch, first) = (&group.launch, group.first);
    let shared = match (launch.shared.fixed, launch.shared.dynamic) {
        (0, 0) => String::new(),
        (fixed, 0) => format!("  shared {fixed} B"),
        (0, dynamic) => format!("  shared {dynamic} B dynamic"),
        (fixed, dynamic) => format!("  shared {fixed} B + {dynamic} B dynamic"),
    };
    let times = match (group.count, group.summed) {
        (1, _) => String::new(),
        (count, false) => format!("  x{count} alike"),
        (count, true) => format!("  sum of {count}"),
    };
    let line = input
        .launch_place(launch)
        .map_or(String::new(), |place| format!("  {place}"));
    let title = format!(
        "{}<<<{}, {}>>>  launch {first}{times}{line}{shared}",
        launch.kernel_name,
        dim(launch.grid),
        dim(launch.block)
    );
    *text += &style.rule(&title);
}

/// `occupancy at most 100 %: 8 blocks on a multiprocessor, limited by threads (registers not counted)`.
fn occupancy(text: &mut String, launch: &LaunchReport, input: &Input<'_>, style: Style) {
    let held = Occupancy::of(launch, input.rules.arch);
    let limits: Vec<&str> = held.limits.iter().copied().map(Limit::name).collect();
    let steps = held.steps.iter().map(|step| {
        let share = 100.0 * step.warps as f64 / held.most_warps.max(1) as f64;
        format!("{share:.0} % with {}", step.change)
    });
    let mut sentence = format!(
        "occupancy at most {:.0} %: {} block{} on a multiprocessor, limited by {} (registers not counted)",
        100.0 * held.warps as f64 / held.most_warps.max(1) as f64,
        held.blocks,
        if held.blocks == 1 { "" } else { "s" },
        limits.join(" and ")
    );
    let steps: Vec<String> = steps.collect();
    if !steps.is_empty() {
        sentence += &format!("; {}", steps.join(", "));
    }
    *text += &style.paragraph("  ", &sentence, Some(Paint::Dim));
}

/// The accesses and the divergent branches, by source line.
fn rows(text: &mut String, launch: &LaunchReport, model: &Model<'_>, columns: usize) {
    let input = model.input;
    let counted = |site: &&Site| {
        matches!(site.space, Space::Shared | Space::Global | Space::Constant)
            && site.counts.requests > 0
    };
    let sites: Vec<&Site> = launch.sites.iter().filter(counted).collect();
    let compiled = ByPlace::of(launch);
    let mut lines: Vec<(u32, u32)> = sites.iter().map(|site| (site.file, site.line)).collect();
    lines.extend(
        launch
            .branches
            .iter()
            .map(|branch| (branch.file, branch.line)),
    );
    lines.sort_unstable();
    lines.dedup();
    if !sites.is_empty() {
        let name = label_columns(columns);
        let _ = writeln!(
            text,
            "{} {:>9} {:>10} {:>8} {:>9} {:>7}",
            pad(&cut(" line  source", name), name),
            "requests",
            "trans.",
            "per req.",
            "ideal",
            "worst"
        );
    }
    let mut file = input.program;
    for place in lines {
        let named = input.module.files.get(place.0 as usize);
        if let Some(name) = named.filter(|name| **name != file) {
            file = name;
            let _ = writeln!(text, "   in  {}", cut(name, columns.saturating_sub(7)));
        }
        let source = cut(input.line(place.0, place.1), columns.saturating_sub(7));
        let _ = writeln!(text, "{:>5}  {source}", place.1);
        for site in sites.iter().filter(|site| (site.file, site.line) == place) {
            row(text, site, columns);
            let told = compiled.as_ref().and_then(|compiled| compiled.remark(site));
            if let Some(fact) = told {
                remark(text, &fact, columns);
            }
            let is_cured = compiled.as_ref().is_some_and(|all| all.is_cured(site));
            if let Some(advice) = advice::of_site(site, launch, input).filter(|_| !is_cured) {
                remark(text, &advice.fact, columns);
                let facts = model.codes.facts(launch.kernel, site);
                if compiled.is_none()
                    && let Some(compiled) = facts.and_then(|facts| facts.compiled)
                {
                    remark(text, &format!("as written: {}", compiled.reason()), columns);
                }
            }
        }
        let is_here = |branch: &&Branch| (branch.file, branch.line) == place;
        let diverged: u64 = launch
            .branches
            .iter()
            .filter(is_here)
            .map(|branch| branch.divergent)
            .sum();
        if diverged > 0 {
            let times = if diverged == 1 {
                "once".to_string()
            } else {
                format!("{diverged} times")
            };
            let _ = writeln!(text, "       warps diverge here {times}");
        }
    }
}

/// What is to be said of the compiled kernel as a whole.
fn as_compiled(text: &mut String, launch: &LaunchReport, columns: usize) {
    let mut say = |sentence: &str| {
        *text += &Style::plain(columns).paragraph("  ", sentence, None);
    };
    if let Some(CompiledCounts::Not(why)) = &launch.compiled {
        say(&format!("not counted as compiled: {why}"));
    }
    if let Some(CompiledCounts::Instead {
        by, same_memory, ..
    }) = &launch.compiled
    {
        say(&format!("as compiled by {by}, -O3"));
        if !same_memory {
            say("as compiled, memory ends otherwise than as written");
        }
    }
    let Some(compiled) = ByPlace::of(launch) else {
        return;
    };
    say(&format!(
        "compiled: by {}, -O3; an access without a remark costs the same",
        compiled.by
    ));
    for site in compiled.unattributed() {
        say(&format!(
            "compiled, at no access of the source: {} requests of a {} {} of {} bytes, line {}",
            site.counts.requests, site.space, site.op, site.width_bytes, site.line
        ));
    }
    if !compiled.same_memory {
        say("as compiled, memory ends otherwise than as written");
    }
}

fn remark(text: &mut String, sentence: &str, columns: usize) {
    for (i, line) in wrap(sentence, columns.saturating_sub(9)).iter().enumerate() {
        let before = if i == 0 { "       ^ " } else { "         " };
        let _ = writeln!(text, "{before}{line}");
    }
}

fn row(text: &mut String, site: &Site, columns: usize) {
    let counts = &site.counts;
    let name = label_columns(columns);
    let label = format!("       {} {}  {}", site.space, site.op, site.text);
    let label = pad(&cut(&label, name), name);
    let (amount, ideal) = match site.space {
        Space::Shared | Space::Constant => (counts.transactions, counts.ideal),
        _ => (counts.sectors, counts.ideal_sectors),
    };
    if counts.not_modelled() {
        let _ = writeln!(text, "{label} {:>9} not modelled", counts.requests);
        return;
    }
    let per_request = amount as f64 / counts.requests.max(1) as f64;
    let worst = match (site.space, counts.max_degree) {
        (Space::Shared, degree) if degree > 1 => format!("{degree}-way"),
        _ => String::new(),
    };
    let unit = match site.space {
        Space::Shared => "",
        Space::Constant => " wd",
        _ => " sec",
    };
    let row = format!(
        "{label} {:>9} {:>10} {per_request:>8.2} {:>9} {worst:>7}",
        counts.requests,
        format!("{amount}{unit}"),
        ideal
    );
    let _ = writeln!(text, "{}", row.trim_end());
}

fn totals(text: &mut String, launch: &LaunchReport, input: &Input<'_>, columns: usize) {
    let shown = TOTALS.iter().filter(|(_, about)| about(&launch.counts) > 0);
    let metrics = shown.filter_map(|(name, _)| metrics::find(name).ok());
    let cells: Vec<String> = metrics
        .filter_map(|metric| {
            let value = metric.value(&launch.counts, input.rules);
            if value.as_ref().is_some_and(is_perfect) {
                return None;
            }
            let value = value.map_or_else(|| "not modelled".to_string(), |value| value.to_string());
            let room = TOTAL_COLUMNS - 2 - metric.name.len();
            Some(format!("  {}{value:>room$}", metric.name))
        })
        .collect();
    for row in cells.chunks((columns / TOTAL_COLUMNS).max(1)) {
        let _ = writeln!(text, "{}", row.concat());
    }
    if launch.order.ran == Orders::One {
        *text += &Style::plain(columns).paragraph("  ", super::ONE_ORDER, None);
    }
    text.push('\n');
}

/// One transaction per request, 100 %: it is not worth showing.
fn is_perfect(value: &Value) -> bool {
    match value {
        Value::Ratio(ratio) => (ratio - 1.0).abs() < 1e-9,
        Value::Percent(percent) => (percent - 100.0).abs() < 1e-9,
        Value::Count(_) => false,
    }
}
