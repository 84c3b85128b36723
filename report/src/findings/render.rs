//! Renders findings as messages for people, in the same form as the front end's, with every access of the finding shown in its source.

use std::collections::BTreeSet;

use interp::{FindingOp, Severity, index_text};
use ir::{
    LocId, Module,
    diagnostic::{self, Code, Diagnostic},
    locate::{self, Extent},
    source::SourceMap,
};

use super::{Found, Side, groups::groups, lanes, schedule};

/// Groups of notes that are shown in full; if there are more, each gets one line.
const NOTES_IN_FULL: usize = 2;

/// Most names of memory, and most lines, in a sentence about other places.
const MOST_NAMES: usize = 3;
const MOST_LINES: usize = 6;

/// Printed once in a run.
const SKIPPED: &str = "this access was skipped and the run went on: a load gave 0, a store changed nothing; results and counts from here on \
                       are not the program's (`--stop-at-first` ends the launch here)";

const DESCENDING: &str = "this shows when the last blocks and warps run first, which is as good an order as any: see it with \
                          `--order descending`";

/// All findings that are not muted. Those of one cause are one message, the first in full, the others by their lines. Machine-readable
/// reports have each finding.
pub fn all(
    found: &[Found],
    module: &Module,
    map: &SourceMap,
    color: bool,
    columns: usize,
) -> String {
    let is_leak = |found: &&Found| found.code == Code::MemoryLeak;
    let mut text = String::new();
    let (mut said_skipped, mut notes) = (false, 0);
    for group in groups(found, module) {
        let lead = group.lead(found);
        if is_leak(&lead) {
            continue;
        }
        if lead.severity == Severity::Note {
            notes += 1;
            if notes > NOTES_IN_FULL {
                text += &line(lead, module);
                continue;
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        if !lead.sides.iter().any(|side| module.loc(side.loc).line > 0) {
            text += &without_place(lead);
            continue;
        }
        let mut message = diagnostic(lead, module, map);
        if lead.how.skipped && !std::mem::replace(&mut said_skipped, true) {
            message = message.note(SKIPPED);
        }
        let rest: Vec<&Found> = group.members[1..].iter().map(|&at| &found[at]).collect();
        if !rest.is_empty() {
            message = message.note(others(&rest, module));
        }
        if !group.cures.is_empty() {
            // A cure that was tried says more exactly where the same call goes.
            let tried = message.help.as_deref().and_then(put).map(str::to_owned);
            let all = group.cures.iter().map(String::as_str);
            let more = all.filter(|advice| tried.is_none() || put(advice) != tried.as_deref());
            let more: Vec<&str> = more.collect();
            if !more.is_empty() {
                message = message.help(more.join("; "));
            }
        }
        text += &diagnostic::render::render(&[message], map, color, Some(columns));
        text += &lanes::draw(lead, module);
    }
    // A line is enough: the program has ended and did what it should.
    let shown = found.iter().filter(|found| !found.muted);
    let leaks: Vec<&Found> = shown.filter(is_leak).collect();
    match leaks.as_slice() {
        [first, _, _, _, ..] => text += &line_of_leaks(first, &leaks, module),
        few => few.iter().for_each(|leak| text += &line(leak, module)),
    }
    text
}

/// The call that an advice puts somewhere.
fn put(advice: &str) -> Option<&str> {
    advice.strip_prefix("put `")?.split('`').next()
}

/// One line for all the places that allocate memory and never free it.
fn line_of_leaks(first: &Found, leaks: &[&Found], module: &Module) -> String {
    let line_of = |found: &&Found| {
        found
            .sides
            .first()
            .map_or(0, |side| module.loc(side.loc).line)
    };
    let mut lines: Vec<u32> = leaks.iter().map(line_of).collect();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let count: u64 = leaks.iter().map(|leak| leak.occurrences.count).sum();
    let message = format!(
        "leak: {count} allocations are never freed, of lines {}",
        lines.join(", ")
    );
    line(
        &Found {
            message,
            ..first.clone()
        },
        module,
    )
}

/// A finding about a call whose place is unknown, as in a compiled host.
fn without_place(found: &Found) -> String {
    let (severity, number) = (found.severity, found.code.number());
    let advice = found.advice.as_ref().map(|advice| advice.text());
    let advice = advice.map_or(String::new(), |advice| format!("  help: {advice}\n"));
    format!("{severity}[{number}]: {}\n{advice}", found.message)
}

/// `a.k:12: note: …`
fn line(found: &Found, module: &Module) -> String {
    let loc = found.sides.first().map(|side| module.loc(side.loc));
    let place = loc.map_or(String::new(), |loc| {
        let file = module.files.get(loc.file as usize);
        format!("{}:{}: ", file.map_or("", String::as_str), loc.line)
    });
    let severity = found.severity;
    let number = found.code.number();
    format!("{place}{severity}[{number}]: {}\n", found.message)
}

/// `also in lines 43 to 51: 8 pairs of accesses (`s`)`.
fn others(rest: &[&Found], module: &Module) -> String {
    let sides = rest.iter().flat_map(|found| &found.sides);
    let lines: BTreeSet<u32> = sides.map(|side| module.loc(side.loc).line).collect();
    let mut names: Vec<String> = vec![];
    for (name, _) in rest.iter().filter_map(|found| found.memory.object.as_ref()) {
        let name = format!("`{name}`");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    };
    let count = match (rest.len(), rest.iter().all(|found| found.sides.len() > 1)) {
        (1, _) => String::new(),
        (n, true) => format!(": {n} pairs of accesses"),
        (n, false) => format!(": {n} places"),
    };
    format!("also in {}{count}{names}", lines_in_words(&lines))
}

/// `line 7`, `lines 7, 9 and 12`, or `lines 7 to 30` where they are contiguous or too many to name each.
fn lines_in_words(lines: &BTreeSet<u32>) -> String {
    let all: Vec<String> = lines.iter().map(u32::to_string).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return String::new();
    };
    let is_run = (last - first) as usize + 1 == all.len();
    match all.as_slice() {
        [one] => format!("line {one}"),
        [before @ .., last] if all.len() == 2 || !is_run && all.len() <= MOST_LINES => {
            format!("lines {} and {last}", before.join(", "))
        }
        _ => format!("lines {first} to {last}"),
    }
}

/// The severity, in the front end's words.
pub fn severity(severity: Severity) -> diagnostic::Severity {
    match severity {
        Severity::Note => diagnostic::Severity::Note,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Error => diagnostic::Severity::Error,
    }
}

fn diagnostic(found: &Found, module: &Module, map: &SourceMap) -> Diagnostic {
    let place = |loc: LocId| locate::span(loc, Extent::Name, module, map);
    let whole = |loc: LocId| locate::span(loc, Extent::Expression, module, map);
    let (first, rest) = match found.sides.split_first() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, [].as_slice()),
    };
    let at = first.and_then(|side| place(side.loc)).unwrap_or_default();
    let mut message = Diagnostic::error(found.code, at, &found.message);
    message.severity = severity(found.severity);
    if let Some(first) = first {
        message = message.at(match first.op {
            FindingOp::Read if first.lane.is_none() => "read here".to_owned(),
            _ => label(first),
        });
    }
    // A read and a use on the host at one place are one place.
    let again = |side: &&Side| {
        side.lane.is_none()
            && side.op == FindingOp::Compute
            && first.is_some_and(|first| first.loc == side.loc)
    };
    for side in rest.iter().filter(|side| !again(side)) {
        let text = match side.op {
            FindingOp::Compute if side.lane.is_none() => "used here".to_owned(),
            op @ (FindingOp::Read | FindingOp::Write) if side.lane.is_none() => {
                format!("{op} by the host")
            }
            _ => label(side),
        };
        message = match place(side.loc) {
            Some(span) => message.label(span, text),
            None => message.note(text),
        };
    }
    for (loc, text) in &found.others {
        message = match whole(*loc) {
            Some(span) => message.label(span, text),
            None => message.note(text),
        };
    }
    for note in ways(found, module) {
        message = message.note(note);
    }
    if found.how.descending {
        message = message.note(DESCENDING);
    }
    if let Some(seed) = found.how.scheduled {
        let schedule = interp::Schedule::Adversarial(seed);
        message = message.note(format!(
            "seen only under another schedule: `--schedule {schedule}`"
        ));
    }
    if let Some(schedule) = &found.schedule {
        message = message.note(schedule::lines(schedule, module).join("\n"));
    }
    if let Some(note) = times(found) {
        message = message.note(note);
    }
    match &found.advice {
        Some(advice) => message.help(advice.text()),
        None => message,
    }
}

/// `write of 5 by thread (33, 0, 0) of block (0, 0, 0), lane 1 of warp 1`; empty on the host.
pub fn label(side: &Side) -> String {
    let Some((warp, lane)) = side.lane else {
        return String::new();
    };
    let (block, thread) = (index_text(side.block), index_text(side.thread));
    let volatile = if side.volatile { "volatile " } else { "" };
    let value = side
        .value
        .as_ref()
        .map_or(String::new(), |value| format!(" of {value}"));
    let who = format!("thread {thread} of block {block}, lane {lane} of warp {warp}");
    if side.op == FindingOp::Stop {
        return who;
    }
    format!("{volatile}{}{value} by {who}", side.op)
}

/// The calls and macros through which the accesses came about.
fn ways(found: &Found, module: &Module) -> Vec<String> {
    let mut ways: Vec<String> = vec![];
    for side in &found.sides {
        let mut via = module.loc(side.loc).via;
        while let Some(id) = via {
            let loc = module.loc(id);
            let file = module
                .files
                .get(loc.file as usize)
                .map_or("", String::as_str);
            let way = format!("by way of {file}:{}:{}", loc.line, loc.column);
            if !ways.contains(&way) {
                ways.push(way);
            }
            via = loc.via;
        }
    }
    ways
}

/// How often it occurred, if more than once.
fn times(found: &Found) -> Option<String> {
    let kernel = found.kernel.as_deref().unwrap_or("the host");
    match (found.occurrences.count, found.occurrences.launches) {
        (0 | 1, 1) => None,
        (count, 1) if found.kernel.is_none() => Some(format!("{count} times")),
        (count, 1) => Some(format!("{count} times in this launch of `{kernel}`")),
        (count, launches) => Some(format!(
            "{count} times in {launches} launches of `{kernel}`"
        )),
    }
}
