//! The turns of a schedule, in words.

use dsl::ir::Module;
use interp::finding::{Scheduled, Turn, TurnEnd};

/// Turns that are told one by one; of more, the first.
const MOST_TURNS: usize = 12;

/// What the schedule is, then its turns, a line each.
pub(crate) fn lines(schedule: &Scheduled, module: &Module) -> Vec<String> {
    let Scheduled { seed, tried, turns } = schedule;
    let times = match tried {
        1 => "the first schedule tried shows it".to_string(),
        tried => format!("of {tried} schedules tried, the last one shows it"),
    };
    let mut lines = vec![format!(
        "{times}: run it with `--schedule adversarial:{seed}`; made shorter, it is:"
    )];
    for (number, turn) in (1..).zip(turns.iter().take(MOST_TURNS)) {
        lines.push(format!("{number}. {}", words(turn, module)));
    }
    let rest = match turns.len().saturating_sub(MOST_TURNS) {
        0 => "then all go on, in order".to_string(),
        more => format!("{more} more turns; then all go on, in order"),
    };
    lines.push(format!("{}. {rest}", turns.len().min(MOST_TURNS) + 1));
    lines
}

/// `warp 0 of block (1, 0, 0) runs to line 12, before "*count"`.
fn words(turn: &Turn, module: &Module) -> String {
    let [x, y, z] = turn.block;
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
    format!("{lanes}warp {} of block ({x}, {y}, {z}) {end}", turn.warp)
}
