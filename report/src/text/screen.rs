//! The first screen: findings by root cause, hot spots, a line for each launch. The first line of an entry names the place, the next ones
//! say what happens there and what to do.

use std::fmt::Write;

use interp::{Severity, stats::LaunchCounts};
use unicode_width::UnicodeWidthStr;

use super::{
    dim, has_unknown, idle_of,
    style::{Paint, Style, cut, pad},
};
use crate::{
    Model, Suggestion, SuggestionKind,
    compiled::ByPlace,
    findings::{groups::Group, table},
    model::{Cost, HotSpot, Waste},
    total::Total,
};

/// Most groups of findings and hot spots shown: the first ones matter most.
const MAX_FINDINGS: usize = 6;
const MAX_SPOTS: usize = 5;
/// Most accesses of a hot spot, and most launches.
const MAX_ACCESSES: usize = 3;
const MAX_LAUNCHES: usize = 12;
/// Least columns of a number in the launches' table.
const NUMBER: usize = 9;

/// The findings' section; empty without findings.
pub(super) fn findings(model: &Model<'_>, style: Style) -> String {
    let found = model.input.findings;
    let muted = found.iter().filter(|found| found.muted).count();
    let mut text = String::new();
    if model.groups.is_empty() && muted == 0 {
        return text;
    }
    let summary = table::summary(&model.groups, found, muted);
    text += &style.rule(&format!("findings: {summary}"));
    for group in model.groups.iter().take(MAX_FINDINGS) {
        finding(&mut text, model, group, style);
    }
    if let Some(more) = model
        .groups
        .len()
        .checked_sub(MAX_FINDINGS)
        .filter(|&more| more > 0)
    {
        let _ = writeln!(text, " … and {more} more: see the messages");
    }
    text
}

fn finding(text: &mut String, model: &Model<'_>, group: &Group, style: Style) {
    let (found, module) = (model.input.findings, model.input.module);
    let lead = group.lead(found);
    let paint = match lead.severity {
        Severity::Error => Paint::Red,
        Severity::Warning => Paint::Yellow,
        Severity::Note => Paint::Blue,
    };
    let severity = format!(" {:<7} ", lead.severity.name());
    let row = format!(
        "{} {}  {}  {}",
        lead.code.number(),
        lead.kind,
        table::place(group, found, module),
        table::about(group, found)
    );
    let indent = style.paint(paint, &severity);
    let row = style.paragraph(&" ".repeat(severity.len()), row.trim_end(), None);
    *text += &format!("{indent}{}", &row[severity.len()..]);
    let proved = model.cures_of_findings(group);
    if !proved.is_empty() {
        proved.iter().for_each(|cure| proof(text, cure, style));
    } else if lead.severity > Severity::Note {
        for cure in &group.cures {
            *text += &style.paragraph("         try: ", cure, Some(Paint::Green));
        }
    }
}

/// A cure that was applied and run, and for which runs it holds.
fn proof(text: &mut String, cure: &Suggestion, style: Style) {
    *text += &style.paragraph("      cure: ", &cure.sentence(), Some(Paint::Green));
    if !cure.because.is_empty() {
        let because = format!("{}: {}", cure.holds.word(), cure.because);
        *text += &style.paragraph("            ", &because, Some(Paint::Dim));
    }
}

/// The hot spots: a sentence if there are none, nothing if the run does not tell.
pub(super) fn hot_spots(model: &Model<'_>, style: Style) -> String {
    let input = model.input;
    // A hot spot without advice is a consequence of something else.
    let can_help = |spot: &&HotSpot| spot.thought.is_some() || !model.cures(spot).is_empty();
    let spots: Vec<&HotSpot> = model.hot_spots.iter().filter(can_help).collect();
    if spots.is_empty() {
        let has_errors = input.findings.iter().any(|found| found.is_error());
        let counted = model
            .launches
            .iter()
            .any(|group| group.launch.counts.warp_instructions > 0);
        let quiet = has_errors || !counted || !model.hot_spots.is_empty();
        // A request of one lane moves a whole sector; nothing tells how other lanes would use the rest.
        let is_thin = || {
            let mut groups = model.launches.iter();
            groups.any(|group| idle_of(model, group).wastes_lanes())
        };
        return match (quiet, has_unknown(input)) {
            (true, _) => String::new(),
            (false, false) if is_thin() => {
                "no hot spots among the lanes that have a thread\n".to_string()
            }
            (false, false) => "no hot spots: no bank conflicts and no wasted sectors\n".to_string(),
            (false, true) => "no hot spots among the accesses whose cost is modelled\n".to_string(),
        };
    }
    let mut text = style.rule("hot spots, worst first");
    for (at, spot) in spots.iter().take(MAX_SPOTS).enumerate() {
        let like = spots[..at]
            .iter()
            .position(|other| other.thought == spot.thought);
        hot_spot(
            &mut text,
            model,
            (&spots[..at], like.map(|at| at + 1)),
            spot,
            style,
        );
    }
    if let Some(more) = spots.len().checked_sub(MAX_SPOTS).filter(|&more| more > 0) {
        let _ = writeln!(text, " … and {more} more; `--launches` shows each access");
    }
    if let Some(hint) = &model.hint {
        text += &style.paragraph(" ", hint, Some(Paint::Dim));
    }
    text
}

/// A hot spot; `before` are those already shown. A thought that one of them has too is replaced by its number.
fn hot_spot(
    text: &mut String,
    model: &Model<'_>,
    (before, like): (&[&HotSpot], Option<usize>),
    spot: &HotSpot,
    style: Style,
) {
    let number = before.len() + 1;
    let head = format!(" {number}  {}:{}:{}  ", spot.file, spot.line, spot.column);
    let amount = amount(spot);
    if head.width() + amount.width() <= style.columns {
        let _ = writeln!(
            text,
            "{}{}",
            style.paint(Paint::Bold, &head),
            style.paint(Paint::Yellow, &amount)
        );
    } else {
        let head = cut(head.trim_end(), style.columns);
        let _ = writeln!(text, "{}", style.paint(Paint::Bold, &head));
        *text += &style.paragraph("      ", &amount, Some(Paint::Yellow));
    }
    let source = cut(&spot.source, style.columns.saturating_sub(6));
    let _ = writeln!(text, "      {source}");
    for access in spot.accesses.iter().take(MAX_ACCESSES) {
        if spot.accesses.len() > 1 && access.excess() > 1 {
            let row = format!(
                "{} {}: {} where {} would do",
                access.op, access.text, access.used, access.ideal
            );
            let _ = writeln!(text, "      {}", cut(&row, style.columns.saturating_sub(6)));
        }
    }
    if !spot.ways.is_empty() {
        *text += &style.paragraph("      ", &ways(spot), None);
    }
    *text += &style.paragraph("      ", &spot.fact, None);
    if let Some(why) = &spot.as_written {
        *text += &style.paragraph(
            "      ",
            &format!("as written: {why}. Then other counts hold"),
            None,
        );
    }
    let cures = model.cures(spot);
    if cures.iter().any(|cure| cure.verified) {
        let is_second_best = cures.iter().any(|cure| {
            matches!(
                cure.kind,
                SuggestionKind::Spread | SuggestionKind::Aggregate | SuggestionKind::Memory
            )
        });
        for cure in cures.into_iter().filter(|cure| cure.verified) {
            let first = before.iter().position(|other| {
                let mut known = model.cures(other).into_iter();
                known.any(|known| known.edits == cure.edits)
            });
            match first {
                Some(at) => {
                    let text_of = format!("as {}", at + 1);
                    let like = Suggestion {
                        text: text_of,
                        because: String::new(),
                        ..cure.clone()
                    };
                    proof(text, &like, style);
                }
                None => proof(text, cure, style),
            }
        }
        // For a stride, a pad is only the second best cure; for a block's sum, a sum per warp is.
        let better = spot
            .thought
            .as_ref()
            .filter(|_| is_second_best && like.is_none());
        if let Some(better) = better {
            *text += &style.paragraph("      or try: ", better.best(), Some(Paint::Green));
        }
    } else if let Some(cure) = cures.first() {
        *text += &style.paragraph("      try: ", &cure.text, Some(Paint::Green));
    } else if let Some(like) = like {
        *text += &style.paragraph("      try: ", &format!("as {like}"), Some(Paint::Green));
    } else if let Some(thought) = &spot.thought {
        *text += &style.paragraph("      try: ", &thought.to_string(), Some(Paint::Green));
    }
}

/// `16896 shared transactions, 512 would do: 98 % of the waste`.
pub(crate) fn amount(spot: &HotSpot) -> String {
    let kind = if spot.as_compiled {
        ", as compiled"
    } else {
        ""
    };
    let share = match spot.cost.share {
        _ if spot.as_written.is_some() => ", as written".to_string(),
        share if share >= 0.995 => kind.to_string(),
        share => format!("{kind}: {:.0} % of the waste", share * 100.0),
    };
    let Cost {
        excess,
        used,
        ideal,
        ..
    } = spot.cost;
    match spot.waste {
        Waste::Divergence => format!("warps diverge here {excess} times{share}"),
        Waste::Barriers => format!("warps wait {excess} times at a barrier that orders nothing"),
        Waste::BankConflicts => {
            format!("{used} shared transactions, {ideal} would do{share}")
        }
        Waste::SharedAtomics => {
            format!("{used} passes of shared atomics, {ideal} would do{share}")
        }
        Waste::Sectors => format!("{used} sectors, {ideal} would do{share}"),
        Waste::GlobalAtomics => {
            format!("{excess} of {used} atomics wait for another{share}")
        }
        Waste::Reuse => format!("{excess} sectors moved again: {used} for {ideal}{share}"),
        Waste::LocalArrays => format!("{excess} requests of local memory{share}"),
        Waste::ConstantWords => {
            format!("{excess} more words of constant memory than requests{share}")
        }
    }
}

/// `2-way x34, 4-way x18, 32-way x2`.
pub(crate) fn ways(spot: &HotSpot) -> String {
    let way = |&(degree, count): &(u32, u64)| match spot.waste {
        Waste::ConstantWords => format!("{degree} words x{count}"),
        _ => format!("{degree}-way x{count}"),
    };
    let ways: Vec<String> = spot.ways.iter().map(way).collect();
    ways.join(", ")
}

/// A cost of a launch, and whether all of it is known.
type Cell = fn(&LaunchCounts) -> (u64, bool);

/// The heading of a number's ideal, right of that number.
const IDEAL: &str = "ideal";

/// The columns of the launches' table.
const CELLS: [(&str, Cell); 5] = [
    ("shared", |counts| {
        let total = Total::shared(counts);
        (total.used, total.is_known)
    }),
    (IDEAL, |counts| {
        let total = Total::shared(counts);
        (total.ideal, total.is_known)
    }),
    ("sectors", |counts| {
        let total = Total::global(counts);
        (total.used, total.is_known)
    }),
    (IDEAL, |counts| {
        let total = Total::global(counts);
        (total.ideal, total.is_known)
    }),
    ("diverged", |counts| (counts.divergent_branches, true)),
];

/// A row for each launch.
pub(super) fn launches(model: &Model<'_>, style: Style) -> String {
    let shown = &model.launches[..model.launches.len().min(MAX_LAUNCHES)];
    let all_counts = || {
        shown.iter().flat_map(|group| {
            let compiled = ByPlace::of(&group.launch).map(|compiled| compiled.counts);
            std::iter::once(&group.launch.counts).chain(compiled)
        })
    };
    let says = |at: usize| {
        let before = at.checked_sub(1).filter(|_| CELLS[at].0 == IDEAL);
        all_counts().any(|counts| match before {
            // A column of ideals is shown only if one differs from what was used.
            Some(before) => CELLS[at].1(counts) != CELLS[before].1(counts),
            None => CELLS[at].1(counts) != (0, true),
        })
    };
    let cells: Vec<(&str, Cell)> = (0..CELLS.len())
        .filter(|&at| says(at))
        .map(|at| CELLS[at])
        .collect();
    let wide = style.columns.min(120);
    let longest = cells.iter().flat_map(|(_, cell)| {
        let numbers = all_counts().map(|counts| cell(counts).0);
        numbers.map(|number| number.to_string().len() + 1)
    });
    let number = longest.max().unwrap_or(0).max(NUMBER);
    let room = wide.saturating_sub(cells.len() * number);
    let mut text = style.rule("launches");
    let mut head = pad("    #  kernel", room);
    for (name, _) in &cells {
        let _ = write!(head, "{name:>number$}");
    }
    let _ = writeln!(text, "{}", head.trim_end());
    for group in shown {
        let launch = &group.launch;
        let times = match (group.count, group.summed) {
            (1, _) => String::new(),
            (count, false) => format!("  x{count}, each"),
            (count, true) => format!("  sum of {count}"),
        };
        let line = model
            .input
            .launch_place(launch)
            .map_or(String::new(), |place| format!("  {place}"));
        let shape = format!(
            "<<<{}, {}>>>{line}{times}",
            dim(launch.grid),
            dim(launch.block)
        );
        let name = cut(
            &launch.kernel_name,
            wide.saturating_sub(7 + shape.len()).max(8),
        );
        let label = cut(&format!("{:>5}  {name}{shape}", group.first), wide);
        let mut row = pad(&label, room);
        // A long name gets a separate line.
        if label.width() >= room && !cells.is_empty() {
            let _ = writeln!(text, "{label}");
            row = pad("", room);
        }
        let numbers = |row: &mut String, counts: &LaunchCounts| {
            for (_, cell) in &cells {
                let shown = match cell(counts) {
                    (_, false) => "?".to_string(),
                    (0, true) => "-".to_string(),
                    (count, true) => count.to_string(),
                };
                let _ = write!(row, "{shown:>number$}");
            }
        };
        numbers(&mut row, &launch.counts);
        let _ = writeln!(text, "{row}");
        let compiled = ByPlace::of(launch).map(|compiled| compiled.counts);
        let differs = |compiled: &&LaunchCounts| {
            let mut cells = cells.iter();
            cells.any(|(_, cell)| cell(compiled) != cell(&launch.counts))
        };
        if let Some(compiled) = compiled.filter(differs) {
            let mut row = pad("       as compiled", room);
            numbers(&mut row, compiled);
            let _ = writeln!(text, "{row}");
        }
    }
    if let Some(more) = model
        .launches
        .len()
        .checked_sub(MAX_LAUNCHES)
        .filter(|&more| more > 0)
    {
        let _ = writeln!(text, " … and {more} more");
    }
    text
}
