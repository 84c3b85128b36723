//! Shortens a run: removes late accesses and turns as long as the run still shows the same.

use std::collections::HashMap;

use super::{Explorer, Outcome, Shown};
use crate::launch::schedule::{Plan, Segment};
use crate::views::Choices;
use crate::views::late::Late;

/// The most runs that this may take.
const MAX_TRIES: u32 = 300;

/// A run and the turns and late accesses that it was given.
struct Best {
    outcome: Outcome,
    turns: Vec<Segment>,
    lates: Vec<Late>,
    tries: u32,
}

impl Explorer<'_, '_> {
    fn given(&self, turns: &[Segment], lates: &[Late]) -> Outcome {
        let given: HashMap<_, _> = lates.iter().map(|late| (late.key(), late.back)).collect();
        self.run(Plan::Given(turns), Choices::Given(given))
    }

    /// Removes what the run does not need. Returns the run, and the number of turns in its schedule.
    pub(super) fn shorter(&self, found: Outcome, shown: Shown) -> (Outcome, usize) {
        let (turns, lates) = (found.segments.clone(), found.lates.clone());
        // The recorded turns may show something different from the plan they came from. Then they are reported
        // unchanged.
        let again = self.given(&turns, &lates);
        if !again.shows(shown) {
            let all = found.segments.len();
            return (found, all);
        }
        let mut best = Best {
            outcome: again,
            turns,
            lates,
            tries: 0,
        };
        // First without any late accesses: if that works, only the turns matter.
        if !best.lates.is_empty() {
            self.try_with(&mut best, shown, None, Some(Vec::new()));
        }
        self.fewer(
            &mut best,
            shown,
            |best, at, end| (None, Some(without(&best.lates, at, end))),
            |best| best.lates.len(),
        );
        self.fewer(
            &mut best,
            shown,
            |best, at, end| (Some(joined(&best.turns, at, end)), None),
            |best| best.turns.len(),
        );
        self.fewer(
            &mut best,
            shown,
            |best, at, end| (None, Some(without(&best.lates, at, end))),
            |best| best.lates.len(),
        );
        let turns = best.turns.len();
        (best.outcome, turns)
    }

    /// Whether the run shows the same with other turns or fewer late accesses. If so, it becomes the best.
    fn try_with(
        &self,
        best: &mut Best,
        shown: Shown,
        turns: Option<Vec<Segment>>,
        lates: Option<Vec<Late>>,
    ) -> bool {
        let turns = turns.unwrap_or_else(|| best.turns.clone());
        let lates = lates.unwrap_or_else(|| best.lates.clone());
        let outcome = self.given(&turns, &lates);
        best.tries += 1;
        let is_same = outcome.shows(shown);
        if is_same {
            (best.outcome, best.turns, best.lates) = (outcome, turns, lates);
        }
        is_same
    }

    /// Removes ever smaller ranges of a list.
    fn fewer(
        &self,
        best: &mut Best,
        shown: Shown,
        without: impl Fn(&Best, usize, usize) -> (Option<Vec<Segment>>, Option<Vec<Late>>),
        len: impl Fn(&Best) -> usize,
    ) {
        let most = best.tries + MAX_TRIES;
        let mut size = (len(best) / 2).max(1);
        loop {
            let mut at = 0;
            let mut shortened = false;
            while at < len(best) && best.tries < most {
                let end = (at + size).min(len(best));
                let (turns, lates) = without(best, at, end);
                match self.try_with(best, shown, turns, lates) {
                    true => shortened = true,
                    false => at = end,
                }
            }
            if best.tries >= most || size == 1 && !shortened {
                return;
            }
            size = (size / 2).max(1);
        }
    }
}

fn without(lates: &[Late], at: usize, end: usize) -> Vec<Late> {
    [&lates[..at], &lates[end..]].concat()
}

/// The turns without those from `at` to `end`. Adjacent turns of one warp are merged.
fn joined(turns: &[Segment], at: usize, end: usize) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::with_capacity(turns.len());
    for turn in turns[..at].iter().chain(&turns[end..]) {
        match all.last_mut() {
            Some(last)
                if (last.block, last.place) == (turn.block, turn.place) && last.split.is_none() =>
            {
                let points = last.points + turn.points;
                *last = Segment { points, ..*turn };
            }
            _ => all.push(*turn),
        }
    }
    all
}
