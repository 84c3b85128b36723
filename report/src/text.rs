//! The text report: per launch a header, the source lines with what their accesses cost, a sentence where something is wasted, and the
//! totals under nvprof's names.
//!
//! Every count stands in a column of fixed width; the source text takes what is left of the line (80 to 200 columns read well).

use std::fmt::Write;

use dsl::ir::Space;
use interp::{LaunchReport, Orders, Site, metrics, stats::LaunchCounts};

use super::{Input, advice, findings::table, fold};

/// How many requests of a launch a metric is about.
type About = fn(&LaunchCounts) -> u64;

/// Metrics shown at the end of each launch, and how many requests each is about: without any it says nothing.
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

/// Columns the counts take.
const COUNT_COLUMNS: usize = 48;
/// Columns before the counts, at most: on a wide terminal the counts stay near what they count.
const LABEL_COLUMNS: usize = 72;

/// Columns before the counts.
fn label_columns(columns: usize) -> usize {
    columns.saturating_sub(COUNT_COLUMNS).min(LABEL_COLUMNS)
}

/// The whole report; empty without launches and findings.
pub fn report(input: &Input<'_>, columns: usize) -> String {
    let mut text = String::new();
    for group in fold::groups(input) {
        header(&mut text, &group, columns);
        sites(&mut text, &group.launch, input, columns);
        totals(&mut text, &group.launch, input, columns);
    }
    let unlisted = input.outcome.launches.unlisted();
    if input.all_launches && unlisted > 0 {
        let _ = writeln!(text, "── {unlisted} more launches are not listed");
    }
    let findings = table::section(input.findings, input.module, columns);
    if !text.is_empty() {
        let _ = writeln!(text, "{}", provenance(input, columns));
        if !findings.is_empty() {
            text.push('\n');
        }
    }
    text + &findings
}

pub(super) fn dim(dim: [u32; 3]) -> String {
    match dim {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x}, {y})"),
        [x, y, z] => format!("({x}, {y}, {z})"),
    }
}

fn header(text: &mut String, group: &fold::Group<'_>, columns: usize) {
    let (launch, first) = (&group.launch, group.first);
    let shared = match (launch.shared_static_bytes, launch.shared_dynamic_bytes) {
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
    let line = if launch.line > 0 {
        format!("  line {}", launch.line)
    } else {
        String::new()
    };
    let title = format!(
        "{}<<<{}, {}>>>  launch {first}{times}{line}{shared}",
        launch.kernel_name,
        dim(launch.grid),
        dim(launch.block)
    );
    let wide = columns.min(LABEL_COLUMNS + COUNT_COLUMNS);
    let rule = "─".repeat(wide.saturating_sub(title.chars().count() + 4).max(2));
    let _ = writeln!(text, "── {title} {rule}");
    let name = label_columns(columns);
    let _ = writeln!(
        text,
        "{:<name$} {:>9} {:>10} {:>8} {:>9} {:>7}",
        " line  source", "requests", "trans.", "per req.", "ideal", "worst"
    );
}

/// The sites by source line, each line once with its text; before lines of another file than the one before, its name.
fn sites(text: &mut String, launch: &LaunchReport, input: &Input<'_>, columns: usize) {
    let counted = |site: &&Site| matches!(site.space, Space::Shared | Space::Global);
    let mut last = None;
    let mut file = input.program;
    for site in launch.sites.iter().filter(counted) {
        if last != Some((site.file, site.line)) {
            last = Some((site.file, site.line));
            let named = input.module.files.get(site.file as usize);
            if let Some(name) = named.filter(|name| **name != file) {
                file = name;
                let _ = writeln!(text, "   in  {}", cut(name, columns.saturating_sub(7)));
            }
            let source = cut(input.line(site.file, site.line), columns.saturating_sub(7));
            let _ = writeln!(text, "{:>5}  {source}", site.line);
        }
        row(text, site, columns);
        if let Some(sentence) = advice::advice(site, launch, input) {
            for (i, line) in wrap(&sentence, columns.saturating_sub(9))
                .iter()
                .enumerate()
            {
                let _ = writeln!(
                    text,
                    "{}{line}",
                    if i == 0 { "       ^ " } else { "         " }
                );
            }
        }
    }
}

fn row(text: &mut String, site: &Site, columns: usize) {
    let counts = &site.counts;
    let name = label_columns(columns);
    let label = cut(
        &format!("       {} {}  {}", site.space, site.op, site.text),
        name,
    );
    let (amount, ideal) = match site.space {
        Space::Shared => (counts.transactions, counts.ideal),
        _ => (counts.sectors, counts.ideal_sectors),
    };
    if counts.not_modelled() {
        let _ = writeln!(text, "{label:<name$} {:>9} not modelled", counts.requests);
        return;
    }
    let per_request = amount as f64 / counts.requests.max(1) as f64;
    let worst = match (site.space, counts.max_degree) {
        (Space::Shared, degree) if degree > 1 => format!("{degree}-way"),
        _ => String::new(),
    };
    let unit = if site.space == Space::Shared {
        ""
    } else {
        " sec"
    };
    let row = format!(
        "{label:<name$} {:>9} {:>10} {per_request:>8.2} {:>9} {worst:>7}",
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
        .map(|metric| {
            let value = metric.value(&launch.counts, input.rules);
            let value = value.map_or_else(|| "not modelled".to_string(), |value| value.to_string());
            let room = TOTAL_COLUMNS - 2 - metric.name.len();
            format!("  {}{value:>room$}", metric.name)
        })
        .collect();
    for row in cells.chunks((columns / TOTAL_COLUMNS).max(1)) {
        let _ = writeln!(text, "{}", row.concat());
    }
    if launch.orders == Orders::One {
        let _ = writeln!(
            text,
            "  its threads communicate, and it ran in ascending order only: --order both takes the other way, too"
        );
    }
    text.push('\n');
}

/// Which rules counted, and where they come from.
fn provenance(input: &Input<'_>, columns: usize) -> String {
    use interp::rules::{bank::SharedOp, coalesce::GlobalOp};
    let banks = if input.rules.bank_width.bytes() == 8 {
        ", banks of 8 bytes"
    } else {
        ""
    };
    let shared = input.rules.shared.provenance(SharedOp::Load, 4);
    let global = input.rules.global.provenance(GlobalOp::Load);
    let lines = [
        format!("counted for {}{banks}", input.rules.arch),
        format!("  shared memory: {shared}"),
        format!("  global memory (sec: sectors of 32 bytes): {global}"),
    ];
    let wrapped = lines.iter().flat_map(|line| {
        let indent = line.len() - line.trim_start().len();
        wrap(line.trim_start(), columns - indent)
            .into_iter()
            .map(move |part| format!("{:indent$}{part}", ""))
    });
    wrapped.collect::<Vec<_>>().join("\n")
}

/// At most `columns` characters, the last an ellipsis if something was cut.
pub fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    let mut cut: String = text.chars().take(columns.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Breaks at spaces.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > columns {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
