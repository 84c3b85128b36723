//! A schedule's turns in words, and which accesses were late in them.

use interp::finding::{Lacks, Late, Scheduled, Sight, Turn, TurnEnd};
use interp::{FindingOp, index_text};
use ir::Module;

/// Turns that are shown one by one; of more, the first.
pub(crate) const MOST_TURNS: usize = 12;
/// The same of accesses that are late.
const MOST_LATES: usize = 6;

/// What kind of schedule it is, then its turns and the late accesses, a line each, then what would help.
pub(crate) fn lines(schedule: &Scheduled, module: &Module) -> Vec<String> {
    let Scheduled {
        seed, tried, turns, ..
    } = schedule;
    let times = match tried {
        1 => "the first schedule tried shows it".to_string(),
        tried => format!("of {tried} schedules tried, the last one shows it"),
    };
    let memory = if schedule.is_weak {
        " --memory weak"
    } else {
        ""
    };
    let mut lines = vec![format!(
        "{times}: run it with `--schedule adversarial:{seed}{memory}`; made shorter, it is:"
    )];
    let mut number = 1;
    let mut step = |words: String, lines: &mut Vec<String>| {
        lines.push(format!("{number}. {words}"));
        number += 1;
    };
    let told = turns.len().min(MOST_TURNS);
    let mut lates = schedule.lates.iter().take(MOST_LATES).peekable();
    for (place, turn) in turns[..told].iter().enumerate() {
        step(turn_words(turn, module), &mut lines);
        while let Some(late) = lates.next_if(|late| late.turn <= place) {
            step(late_words(late, module), &mut lines);
        }
    }
    let rest = match turns.len() - told {
        0 => "then all go on, in order".to_string(),
        more => format!("{more} more turns; then all go on, in order"),
    };
    step(rest, &mut lines);
    for late in lates {
        step(late_words(late, module), &mut lines);
    }
    match schedule.lates.len().saturating_sub(MOST_LATES) {
        0 => {}
        more => lines.push(format!("{more} more accesses are late")),
    }
    lines.extend(cure(schedule, module));
    lines
}

/// `warp 0 of block (1, 0, 0) runs to line 12, before "*count"`.
pub(crate) fn turn_words(turn: &Turn, module: &Module) -> String {
    let lanes = match (turn.is_part, turn.lanes.count_ones()) {
        (false, _) | (_, 0) => String::new(),
        (true, 1) => format!("lane {} of ", turn.lanes.trailing_zeros()),
        (true, count) => format!(
            "{count} lanes, from lane {} on, of ",
            turn.lanes.trailing_zeros()
        ),
    };
    let at = module.loc(turn.at);
    let line = at.line;
    let end = match turn.end {
        TurnEnd::Paused if at.text.is_empty() => format!("runs to line {line}"),
        TurnEnd::Paused => format!("runs to line {line}, before the access `{}`", at.text),
        TurnEnd::Spun => format!("runs to line {line} and waits there in a loop"),
        TurnEnd::Waits => format!("runs to line {line} and waits there"),
        TurnEnd::Ended => "runs to its end".to_string(),
    };
    let block = index_text(turn.block);
    format!("{lanes}warp {} of block {block} {end}", turn.warp)
}

/// `thread (0, 0, 0) of block (1, 0, 0)`.
fn thread((block, thread): ([u32; 3], [u32; 3])) -> String {
    format!(
        "thread {} of block {}",
        index_text(thread),
        index_text(block)
    )
}

/// Which access was late, and what it missed.
pub(crate) fn late_words(late: &Late, module: &Module) -> String {
    let line = |loc| module.loc(loc).line;
    let who = thread(late.who);
    let (access, missed) = (&late.access, &late.missed);
    let (here, there) = (line(access.at), line(missed.at));
    let (value, newer) = (access.value as i32, missed.value as i32);
    let named = |sight: &Sight| match module.loc(sight.at).text.as_str() {
        "" => sight.name.clone(),
        text => format!("`{text}`"),
    };
    let name = named(access);
    if let Some(after) = late.after {
        let passed = match line(after) {
            _ if after == access.at => ", where it needs the value".to_string(),
            after if after == here => format!(", only after the other access of line {after}"),
            after => format!(", only after line {after} has run"),
        };
        return match late.missed_by.filter(|_| late.op == FindingOp::Read) {
            Some(by) => format!(
                "in it, {who} reads {name} = {value} at line {here}{passed}, as {} stored it at line {there}",
                thread(by)
            ),
            None => format!("in it, {who} does {name} at line {here}{passed}"),
        };
    }
    let Some(by) = late.missed_by else {
        return format!(
            "in it, {who} reads {name} = {value} at line {here}, which is {newer} already"
        );
    };
    if late.op == FindingOp::Write {
        return format!(
            "in it, {who} stores {name} = {value} at line {here}, but it counts as before the {newer} that {} stored at line {there}",
            thread(by)
        );
    }
    if late.op == FindingOp::Atomic {
        return format!(
            "in it, {who} does {name} at line {here} on the value {value}, though {} stored {newer} at line {there}",
            thread(by)
        );
    }
    match &late.despite {
        Some(despite) if despite.is_of(missed) => format!(
            "in it, {who} reads {} = {} at line {}, then {name} = {value} at line {here}, which is older",
            named(&despite.read),
            despite.read.value as i32,
            line(despite.read.at),
        ),
        Some(despite) => format!(
            "in it, {who} reads {} = {} at line {}, then {name} = {value} at line {here}, though line {there} stored {newer} before line {} \
             stored the {}",
            named(&despite.read),
            despite.read.value as i32,
            line(despite.read.at),
            line(despite.stored_at),
            despite.read.value as i32,
        ),
        None => format!(
            "in it, {who} reads {name} = {value} at line {here}, though {} stored {newer} at line {there}",
            thread(by)
        ),
    }
}

/// What would order the accesses: of the first late access whose thread had already read a later value, or that ran later than its place in
/// the program.
fn cure(schedule: &Scheduled, module: &Module) -> Option<String> {
    let line = |loc| module.loc(loc).line;
    let is_atomic = |late: &&Late| late.op == FindingOp::Atomic && late.after.is_none();
    if let Some(late) = schedule.lates.iter().find(is_atomic) {
        let lines = match (line(late.access.at), line(late.missed.at)) {
            (here, there) if here == there => format!("line {here}"),
            (here, there) => format!("lines {here} and {there}"),
        };
        return Some(format!(
            "what orders them: atomics whose scope reaches both threads, at {lines}"
        ));
    }
    let is_told = |late: &&Late| late.despite.is_some();
    let late = schedule.lates.iter().find(is_told);
    let Some(late) = late else {
        let passed = |late: &Late| late.after.filter(|after| *after != late.access.at);
        let mut lates = schedule.lates.iter();
        let (from, to) = lates.find_map(|late| Some((late.access.at, passed(late)?)))?;
        let between = match (line(from), line(to)) {
            (from, to) if from == to => format!("between the two accesses of line {to}"),
            (from, to) => format!("between line {from} and line {to}"),
        };
        return Some(format!(
            "what orders them: a `__threadfence()` {between}; and one between the accesses of the other thread"
        ));
    };
    let despite = late.despite.as_ref()?;
    let same_block = late.missed_by.is_some_and(|(block, _)| block == late.who.0);
    let fence = match same_block {
        true => "`__threadfence_block()`",
        false => "`__threadfence()`",
    };
    let between = |lacks: Lacks, (from, to): (u32, u32)| {
        let place = match from == to {
            true => format!("between the two accesses of line {to}"),
            false => format!("between line {from} and line {to}"),
        };
        match lacks {
            Lacks::Nothing => None,
            Lacks::Fence => Some(format!("a {fence} {place}")),
            Lacks::Scope => Some(format!(
                "a {fence} {place}, where the fence reaches its own block only"
            )),
        }
    };
    let stores = (line(late.missed.at), line(despite.stored_at));
    let loads = (line(despite.read.at), line(late.access.at));
    let mut parts: Vec<String> = [
        between(despite.writer, stores),
        between(despite.reader, loads),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !despite.is_flag_strong {
        parts.push(format!(
            "`volatile` or atomic accesses at lines {} and {}",
            stores.1, loads.0
        ));
    }
    (!parts.is_empty()).then(|| format!("what orders them: {}", parts.join("; ")))
}
