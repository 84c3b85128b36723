//! The text report. Its first screen says what is wrong and what to do: findings by root cause, then the lines that waste most with what
//! may help, then a line for each launch. Each access of each launch is shown on request.

pub(crate) mod counted;
pub(crate) mod screen;
pub(crate) mod style;
mod tables;

use std::collections::BTreeSet;

use interp::{CompiledCounts, LaunchReport, Orders, rules::Provenance};

use super::{
    Input, LaunchGroup, Model, Tables, architectures,
    model::{Idle, idle},
};
pub use style::{Paint, Style, cut};

/// For a launch whose threads communicate.
const ONE_ORDER: &str = "its threads communicate, but it ran in ascending order only: --order both runs the other order too";

/// What is counted: shown wherever the rules are named, unless launches are also counted as compiled.
pub(crate) const AS_WRITTEN: &str =
    "the accesses are counted as written: a compiler may merge, move or drop some";

/// Most launches shown that have threads without work.
const MOST_IDLE: usize = 4;

/// Most accesses shown of a launch whose counts depend on the schedule.
const MOST_COUNTS: usize = 6;

/// The whole report; empty without launches and findings.
pub fn report(model: &Model<'_>, style: Style) -> String {
    let input = model.input;
    let mut parts = vec![screen::findings(model, style)];
    if !model.launches.is_empty() {
        parts.push(screen::hot_spots(model, style));
        parts.push(without_work(model, style));
        parts.push(architectures::table(model, style));
        parts.push(match input.tables {
            Tables::None => screen::launches(model, style),
            Tables::Folded | Tables::Each => tables::tables(model, style),
        });
        parts.push(cut_short(model, style));
        parts.push(counted::paragraphs(model, style));
        parts.push(scheduled(model, style));
        parts.push(provenance(model, style));
    }
    let parts: Vec<&str> = parts
        .iter()
        .map(|part| part.trim_end())
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    parts.join("\n\n") + "\n"
}

/// The findings, and the hot spots for which something can be done; empty if there are none.
pub fn remaining(model: &Model<'_>, style: Style) -> String {
    let mut text = screen::findings(model, style);
    if !model.hot_spots.is_empty() {
        text += &screen::hot_spots(model, style);
    }
    text
}

pub(crate) fn dim(dim: [u32; 3]) -> String {
    match dim {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x}, {y})"),
        [x, y, z] => format!("({x}, {y}, {z})"),
    }
}

/// The idle parts of a group's launches.
pub(crate) fn idle_of(model: &Model<'_>, group: &LaunchGroup<'_>) -> Idle {
    let outcome = model.input.outcome;
    let key = |launch: &LaunchReport| {
        let place = (launch.statement.file, launch.statement.line);
        (launch.kernel, launch.grid, launch.block, place)
    };
    let mut all = outcome.launches.iter().enumerate();
    let is_whole = all.all(|(index, launch)| {
        key(launch) != key(&group.launch) || idle::is_whole(launch, index, outcome)
    });
    Idle::of((&group.launch, is_whole), &model.codes)
}

/// Blocks, warps and lanes that do nothing, by launch.
fn without_work(model: &Model<'_>, style: Style) -> String {
    let mut text = String::new();
    let mut told: Vec<String> = vec![];
    if model.input.gpu.is_some() {
        return text;
    }
    for group in &model.launches {
        for sentence in idle_of(model, group).sentences() {
            let words = format!("`{}`: {sentence}", group.launch.kernel_name);
            if told.len() < MOST_IDLE && !told.contains(&words) {
                let named = format!("launch {} {words}", group.first);
                text += &style.paragraph("  ", &named, None);
                told.push(words);
            }
        }
    }
    match text.is_empty() {
        true => text,
        false => style.paragraph("", "threads without work", None) + &text,
    }
}

/// Launches that did not end: a reader could take what they printed, wrote and cost for all of it.
fn cut_short(model: &Model<'_>, style: Style) -> String {
    let outcome = model.input.outcome;
    let launches = model.launches.iter();
    let cut: Vec<String> = launches
        .filter(|group| !idle::has_ended(group.first, outcome))
        .map(|group| group.first.to_string())
        .collect();
    let who = match cut.as_slice() {
        [] => return String::new(),
        [one] => format!("launch {one} did not end"),
        several => format!("launches {} did not end", several.join(", ")),
    };
    let what = "results and counts are those up to the fault, and other blocks may not have run";
    style.paragraph("", &format!("{who}: {what}"), None)
}

/// Accesses whose count depends on the schedule.
fn scheduled(model: &Model<'_>, style: Style) -> String {
    let mut text = String::new();
    for group in &model.launches {
        let order = &group.launch.order;
        for count in order.counts.iter().take(MOST_COUNTS) {
            let loc = model.input.module.loc(count.loc);
            let words = format!(
                "line {}, `{}` in {}: {} times in the usual order, {} to {} under the schedules tried",
                loc.line, loc.text, group.launch.kernel_name, count.usual, count.least, count.most
            );
            text += &style.paragraph("  ", &words, None);
        }
        match order.counts.len().saturating_sub(MOST_COUNTS) {
            0 => {}
            more => {
                text += &style.paragraph(
                    "  ",
                    &format!("and {more} more accesses of {}", group.launch.kernel_name),
                    None,
                )
            }
        }
    }
    match text.is_empty() {
        true => text,
        false => style.paragraph("", "counts that depend on the schedule", None) + &text,
    }
}

/// Which rules were used, and where they come from.
fn provenance(model: &Model<'_>, style: Style) -> String {
    use interp::rules::{bank::SharedOp, coalesce::GlobalOp};

    let rules = model.input.rules;
    let banks = if rules.bank_width.bytes() == 8 && rules.given_by.is_none() {
        ", banks of 8 bytes"
    } else {
        ""
    };
    let shared = rules.shared.provenance(SharedOp::Load, 4);
    let global = rules.global.provenance(GlobalOp::Load);
    let title = format!("{}{banks}", rules.title());
    let mut text;
    if model.input.tables == Tables::None {
        let by = match (kind(shared), kind(global)) {
            (shared, global) if shared == global => format!("by {shared}"),
            (shared, global) => format!("by {shared} (shared memory) and {global} (global)"),
        };
        let how = how(model);
        let counted = format!("counted for {title} {how}, {by}; `--launches` shows more");
        text = style.paragraph("", &counted, None);
        if let Some((number, why)) = uncompiled(model) {
            let why = format!("launch {number} is not counted as compiled: {why}");
            text += &style.paragraph("  ", &why, None);
        }
    } else {
        text = style.paragraph("", &format!("counted for {title}"), None);
        text += &style.paragraph("  ", &format!("shared memory: {shared}"), Some(Paint::Dim));
        let global = format!("global memory (sec: sectors of 32 bytes): {global}");
        text += &style.paragraph("  ", &global, Some(Paint::Dim));
        let how = match compiler(model) {
            Some((PTX_FILE, true)) => {
                "as the PTX has the accesses; the assembler may merge or drop some".to_string()
            }
            Some((compiler, true)) => {
                format!("as compiled by {compiler} -O3; the assembler may merge or drop some more")
            }
            Some((compiler, false)) => format!(
                "hot spots and remarks: as compiled by {compiler} -O3; the assembler may merge or drop some more"
            ),
            None => AS_WRITTEN.to_string(),
        };
        text += &style.paragraph("  ", &how, Some(Paint::Dim));
        if model.has_unmodelled_atomics() {
            let why = rules.shared.atomics_not_modelled();
            text += &style.paragraph(
                "  ",
                &format!("some shared atomics: {why}"),
                Some(Paint::Dim),
            );
        }
    }
    for library in stand_ins(model.input) {
        let stand_in = format!(
            "accesses within {library}: those of a stand-in that gives the same results; the library itself makes others"
        );
        text += &style.paragraph("  ", &stand_in, None);
    }
    let one = model
        .launches
        .iter()
        .any(|group| group.launch.order.ran == Orders::One);
    if one && model.input.tables == Tables::None {
        text += &style.paragraph("  ", &format!("of some launches: {ONE_ORDER}"), None);
    }
    text
}

/// The compiler, if launches were counted as compiled, and whether they were counted only so.
pub(crate) fn compiler<'a>(model: &'a Model<'_>) -> Option<(&'a str, bool)> {
    let mut launches = model.launches.iter();
    launches.find_map(|group| match &group.launch.compiled {
        Some(CompiledCounts::Counted { by, .. }) => Some((by.as_str(), false)),
        Some(CompiledCounts::Instead { by, .. }) => Some((by.as_str(), true)),
        Some(CompiledCounts::Not(_)) | None => None,
    })
}

/// What [`ir::Function::compiled_by`] is for a kernel of the user's PTX.
const PTX_FILE: &str = "ptx file";

/// Which accesses are counted.
fn how(model: &Model<'_>) -> String {
    let mut launches = model.launches.iter();
    let instead = launches.find_map(|group| match &group.launch.compiled {
        Some(CompiledCounts::Instead { by, .. }) => Some(by.as_str()),
        _ => None,
    });
    let mut launches = model.launches.iter();
    let counted = launches.find_map(|group| match &group.launch.compiled {
        Some(CompiledCounts::Counted { by, .. }) => Some(by.as_str()),
        _ => None,
    });
    let is_written = |group: &LaunchGroup<'_>| {
        !matches!(group.launch.compiled, Some(CompiledCounts::Instead { .. }))
    };
    let instead = instead.map(|by| match by {
        PTX_FILE => "as the PTX has the accesses".to_string(),
        by => format!("as compiled by {by} -O3"),
    });
    let written = match counted {
        Some(compiler) => format!("as written, hot spots as compiled by {compiler} -O3"),
        None => "as written".to_string(),
    };
    match instead {
        Some(instead) if model.launches.iter().any(is_written) => {
            format!("{written}, some kernels {instead}")
        }
        Some(instead) => instead,
        None => written,
    }
}

/// The first launch that was to be counted as compiled and was not, and why.
fn uncompiled<'a>(model: &'a Model<'_>) -> Option<(usize, &'a str)> {
    let mut launches = model.launches.iter();
    launches.find_map(|group| match &group.launch.compiled {
        Some(CompiledCounts::Not(why)) => Some((group.first, why.as_str())),
        _ => None,
    })
}

/// Where rules come from, in two words.
fn kind(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Measured { .. } => "measured rules",
        Provenance::Documented { .. } => "documented rules",
        Provenance::ByTheSameRule { .. } => "another architecture's rules",
        Provenance::Assumed { .. } => "assumed rules",
        Provenance::Given => "given rules",
        Provenance::NotModelled { .. } => "no rules",
    }
}

/// The library headers of which launches ran code and whose algorithms differ from the original's.
fn stand_ins(input: &Input<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for kept in input.kept() {
        for site in &kept.report.sites {
            let file = input.module.loc(site.loc).file;
            let name = input.module.files.get(file as usize);
            let is_other = |name: &&String| STAND_INS.iter().any(|start| name.starts_with(start));
            names.extend(name.filter(is_other).cloned());
        }
    }
    names
}

/// Prefixes of such headers' names.
const STAND_INS: &[&str] = &["<cub/", "<cuda/barrier>"];

/// Whether a cost of some launch is unknown.
fn has_unknown(input: &Input<'_>) -> bool {
    input.kept().any(|kept| {
        let mut sites = kept.report.sites.iter();
        sites.any(|site| site.counts.not_modelled())
    })
}
