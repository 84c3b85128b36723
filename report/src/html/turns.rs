//! A schedule as a picture: a row for each warp, a column for each step, and an arrow from what a late access missed to that access.
//!
//! Colours come from the page's style sheet, by class, as those of [`picture`](super::picture).

use std::fmt::Write;

use interp::{
    finding::{Late, Scheduled, Turn, TurnEnd},
    index_text,
};
use ir::Module;

use super::escape;
use crate::findings::schedule::{MOST_TURNS, late_words, lines, turn_words};

/// The width of a step, the height of a row, and the room for the rows' names and the steps' numbers.
const STEP: usize = 84;
const ROW: usize = 30;
const LEFT: usize = 132;
const TOP: usize = 16;

/// A warp, or some of its lanes if they run separately.
type Row = ([u32; 3], u32, u32);

/// What happens in a step.
enum Step<'a> {
    Turn(&'a Turn),
    Late(&'a Late),
}

/// The picture, and its steps in words.
pub(super) fn drawn(schedule: &Scheduled, module: &Module) -> String {
    let steps = steps(schedule);
    let rows = rows(&steps);
    let (width, height) = (LEFT + STEP * steps.len() + 8, TOP + ROW * rows.len() + 4);
    let label = "the turns of a schedule, a row for each warp";
    let mut text = format!(
        "<div class=scroll><svg class=turns viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{label}\">"
    );
    for (number, (block, warp, lanes)) in rows.iter().enumerate() {
        let y = TOP + ROW * number;
        let block = index_text(*block);
        let part = if *lanes == 0 { "" } else { ", part" };
        let _ = write!(
            text,
            "<path class=\"l\" d=\"M{LEFT} {0}H{width}\" /><text x=\"0\" y=\"{1}\">block {block}, warp {warp}{part}</text>",
            y + ROW / 2,
            y + ROW / 2 + 4,
        );
    }
    for (number, step) in steps.iter().enumerate() {
        let x = LEFT + STEP * number;
        let _ = write!(
            text,
            "<text x=\"{}\" y=\"11\">{}</text>",
            x + STEP / 2,
            number + 1
        );
        match step {
            Step::Turn(turn) => draw_turn(&mut text, turn, module, (x, y_of(&rows, row(turn)))),
            Step::Late(late) => draw_late(&mut text, late, module, &rows, x),
        }
    }
    text += "</svg></div><ul class=turns>";
    for line in lines(schedule, module) {
        let _ = write!(text, "<li>{}</li>", super::prose(&line));
    }
    text + "</ul>"
}

fn steps(schedule: &Scheduled) -> Vec<Step<'_>> {
    let told = schedule.turns.len().min(MOST_TURNS);
    let mut lates = schedule.lates.iter().take(MOST_TURNS).peekable();
    let mut steps = Vec::new();
    for (place, turn) in schedule.turns[..told].iter().enumerate() {
        steps.push(Step::Turn(turn));
        while let Some(late) = lates.next_if(|late| late.turn <= place) {
            steps.push(Step::Late(late));
        }
    }
    steps.extend(lates.map(Step::Late));
    steps
}

fn row(turn: &Turn) -> Row {
    (
        turn.block,
        turn.warp,
        if turn.is_part { turn.lanes } else { 0 },
    )
}

/// The rows, by block and warp. A late access is drawn in the row of the turn before it.
fn rows(steps: &[Step<'_>]) -> Vec<Row> {
    let turns = steps.iter().filter_map(|step| match step {
        Step::Turn(turn) => Some(row(turn)),
        Step::Late(_) => None,
    });
    let mut rows: Vec<Row> = turns.collect();
    for step in steps {
        if let Step::Late(late) = step
            && !rows.iter().any(|(block, ..)| *block == late.who.0)
        {
            rows.push((late.who.0, 0, 0));
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn y_of(rows: &[Row], row: Row) -> usize {
    TOP + ROW * rows.iter().position(|known| *known == row).unwrap_or(0)
}

fn draw_turn(text: &mut String, turn: &Turn, module: &Module, (x, y): (usize, usize)) {
    let line = module.loc(turn.at).line;
    let (class, ends) = match turn.end {
        TurnEnd::Paused => ("go", format!("→ line {line}")),
        TurnEnd::Spun => ("wait", format!("waits, {line}")),
        TurnEnd::Waits => ("wait", format!("waits, {line}")),
        TurnEnd::Ended => ("go", "→ end".to_string()),
    };
    let _ = write!(
        text,
        "<g><title>{}</title><rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" /><text class=\"on\" x=\"{}\" y=\"{}\">{}</text></g>",
        escape(&turn_words(turn, module)),
        x + 2,
        y + 4,
        STEP - 4,
        ROW - 8,
        x + 8,
        y + ROW / 2 + 4,
        escape(&ends),
    );
}

fn draw_late(text: &mut String, late: &Late, module: &Module, rows: &[Row], x: usize) {
    let y = |block: [u32; 3]| {
        let at = rows.iter().position(|(known, ..)| *known == block);
        TOP + ROW * at.unwrap_or(0) + ROW / 2
    };
    let (x, here) = (x + STEP / 2, y(late.who.0));
    let line = module.loc(late.access.at).line;
    let _ = write!(
        text,
        "<g><title>{}</title>",
        escape(&late_words(late, module))
    );
    if let Some((block, _)) = late.missed_by.filter(|(block, _)| *block != late.who.0) {
        let _ = write!(
            text,
            "<path class=\"missed\" d=\"M{x} {}V{here}\" />",
            y(block)
        );
    }
    let _ = write!(
        text,
        "<circle class=\"late\" cx=\"{x}\" cy=\"{here}\" r=\"5\" /><text class=\"on\" x=\"{}\" y=\"{}\">line {line}</text></g>",
        x - 22,
        here + 15,
    );
}
