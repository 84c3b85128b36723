//! A launch under many random schedules, to find what depends on them: what it leaves in memory, whether it ends, what there is to find.
//!
//! The first schedule that shows the gravest of what is found is made shorter before it is told: turns are left out as long as it still shows the same.

use dsl::ir::LocId;

use crate::check::{Checker, Subject};
use crate::config::{BothOrders, MachineConfig, Schedule};
use crate::fault::finding::{Depends, Fact, FindingOp, Scheduled, Turn, TurnEnd};
use crate::fault::trap::{AccessOp, Trap, TrapKind};
use crate::isa::mask::LaneMask;
use crate::launch::Run;
use crate::launch::orders::{Again, Difference, Saved, at_difference};
use crate::launch::report::{LaunchFailure, LaunchReport};
use crate::launch::schedule::{self, Plan, Random, Segment};
use crate::machine::is_global;
use crate::observe::counters::Counters;
use crate::progress::Progress;

/// A run under another schedule that takes so many times the first one's instructions, and some more, is given up.
const MAX_TIMES_AS_LONG: u64 = 20;
const SOME_MORE: u64 = 100_000;
/// Runs that making a schedule shorter may take.
const MAX_TRIES: u32 = 300;

/// A launch that is run again and again.
struct Explorer<'r, 'a> {
    run: &'r Run<'r>,
    subject: &'r Subject<'a>,
    again: &'r Again,
    after: &'r Saved,
}

/// What a run came to.
struct Outcome {
    trap: Option<Box<Trap>>,
    differs: Option<Difference>,
    segments: Vec<Segment>,
}

/// What a run showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// It ended with a trap of that name.
    Trap(&'static str),
    Depends(Depends),
}

/// An end that the usual order does not have.
const MAX_GRAVITY: u32 = 4;

impl Outcome {
    /// How much what it showed matters; 0: nothing.
    fn gravity(&self) -> u32 {
        match self.shown() {
            Some(Shown::Trap(_)) => MAX_GRAVITY,
            Some(Shown::Depends(Depends::Values)) => 3,
            Some(Shown::Depends(Depends::Rounding)) => 2,
            Some(Shown::Depends(Depends::Places)) => 1,
            None => 0,
        }
    }

    fn shown(&self) -> Option<Shown> {
        if let Some(trap) = &self.trap {
            return Some(Shown::Trap(trap.kind.name()));
        }
        self.differs.as_ref().map(|differs| {
            Shown::Depends(match (differs.is_grave, differs.is_rounding) {
                (true, _) => Depends::Values,
                (false, true) => Depends::Rounding,
                (false, false) => Depends::Places,
            })
        })
    }
}

/// Runs a launch that has ended under the schedules that are asked for, and adds what that finds.
pub(crate) fn explore(
    run: &Run<'_>,
    again: Option<&Again>,
    subject: &Subject<'_>,
    report: &mut LaunchReport,
) {
    let (count, seed) = run.machine.schedules;
    let Some(again) = again.filter(|_| count > 0) else {
        return;
    };
    let after = Saved::of(&again.regions);
    let most = report.counts.warp_instructions;
    let most = most
        .saturating_mul(MAX_TIMES_AS_LONG)
        .saturating_add(SOME_MORE);
    let machine = MachineConfig {
        schedule: Schedule::Lockstep,
        schedules: (0, 0),
        both_orders: BothOrders::Never,
        progress: Progress::default(),
        limit: Some(run.machine.limit.map_or(most, |limit| limit.min(most))),
        ..run.machine.clone()
    };
    let run = Run {
        machine: &machine,
        ..*run
    };
    let explorer = Explorer {
        run: &run,
        subject,
        again,
        after: &after,
    };
    let points = explorer
        .run(Plan::Given(&[]))
        .segments
        .iter()
        .map(|segment| segment.points)
        .sum();
    let mut random = Random(seed);
    // The gravest so far, the first of its kind.
    let mut found: Option<(Outcome, (u64, u32))> = None;
    for index in 0..count {
        let seed = schedule::seed(random.next(), index, points);
        let Some(plan) = schedule::plan(Schedule::Adversarial(seed)) else {
            continue;
        };
        let outcome = explorer.run(plan);
        let gravity = outcome.gravity();
        if gravity > found.as_ref().map_or(0, |(found, _)| found.gravity()) {
            found = Some((outcome, (seed, index + 1)));
        }
        if gravity == MAX_GRAVITY {
            break;
        }
    }
    if let Some((outcome, tried)) = found {
        explorer.tell(outcome, tried, report);
    }
    report.order.schedules = Some(count);
    after.restore();
}

impl Explorer<'_, '_> {
    /// One run from the memory as it was before the launch.
    fn run(&self, plan: Plan<'_>) -> Outcome {
        self.again.before.restore();
        let counters = Counters::new(&self.run.machine.rules, self.run.code.counters.len());
        let observer = Checker::new(counters, self.subject);
        let (state, trap, segments) = schedule::run(self.run, plan, observer, &mut |_| {});
        let (result, _) = self.run.ended(state, trap);
        let trap = match result {
            Err(LaunchFailure::Trap { trap, .. }) => Some(trap),
            Ok(_) | Err(LaunchFailure::Invalid(_)) => None,
        };
        // Too long is no fault: nothing was found.
        let is_cut = matches!(&trap, Some(trap) if matches!(trap.kind, TrapKind::Limit { .. } | TrapKind::Stopped(_)));
        let differs = match trap {
            None => self.after.difference(),
            Some(_) => None,
        };
        Outcome {
            trap: trap.filter(|_| !is_cut),
            differs,
            segments,
        }
    }

    /// Adds what a run showed, with the shortest schedule that shows it.
    fn tell(&self, outcome: Outcome, (seed, tried): (u64, u32), report: &mut LaunchReport) {
        let (outcome, turns) = self.shorter(outcome);
        // Without a turn of its own, what differs from the usual order is how long warps wait in loops.
        let told = match turns {
            0 => outcome.segments.len(),
            turns => turns.min(outcome.segments.len()),
        };
        let turns = outcome.segments[..told].iter();
        let turns: Vec<Turn> = turns.map(|segment| self.turn(segment)).collect();
        let at = turns
            .iter()
            .find(|turn| turn.end == TurnEnd::Paused)
            .map(|turn| turn.at);
        let schedule = Box::new(Scheduled { seed, tried, turns });
        let shown = outcome.shown();
        match (outcome.trap, outcome.differs, shown) {
            (Some(trap), _, _) => report.order.trap_scheduled = Some((trap, schedule)),
            (None, Some(differs), Some(Shown::Depends(difference))) => {
                let talk = self.run.code.effects.talks_at;
                let (op, loc) = match (at, talk) {
                    (Some(at), _) => (self.op(at), at),
                    (None, Some(talk)) if talk.is_atomic => (FindingOp::Atomic, talk.loc),
                    (None, Some(talk)) => (FindingOp::Read, talk.loc),
                    (None, None) => self.writes_at(),
                };
                let fact = Fact::ResultDepends {
                    words: differs.words,
                    difference,
                    schedule,
                };
                let finding = at_difference(self.run, fact, (op, loc), differs.address);
                report.findings.push(finding);
            }
            (None, _, _) => {}
        }
    }

    /// Leaves turns out as long as the run shows the same; gives the run, and of how many turns it was told.
    fn shorter(&self, found: Outcome) -> (Outcome, usize) {
        let shown = found.shown();
        let mut best = found;
        let mut turns = best.segments.clone();
        let mut tries = 0;
        let mut size = (turns.len() / 2).max(1);
        // The recorded turns may show something else than the plan they came from: then they are told as they are.
        let again = self.run(Plan::Given(&turns));
        if again.shown() != shown {
            let all = best.segments.len();
            return (best, all);
        }
        best = again;
        loop {
            let mut at = 0;
            let mut shortened = false;
            while at < turns.len() && tries < MAX_TRIES {
                let end = (at + size).min(turns.len());
                let fewer = joined(&turns, at, end);
                let outcome = self.run(Plan::Given(&fewer));
                tries += 1;
                if outcome.shown() == shown {
                    (best, turns) = (outcome, fewer);
                    shortened = true;
                } else {
                    at = end;
                }
            }
            if tries >= MAX_TRIES || size == 1 && !shortened {
                return (best, turns.len());
            }
            size = (size / 2).max(1);
        }
    }

    /// An access that changes global memory: an atomic, if there is one.
    fn writes_at(&self) -> (FindingOp, LocId) {
        let global = self
            .run
            .code
            .counters
            .iter()
            .filter(|site| is_global(site.space));
        let writes = global.filter(|site| site.op != AccessOp::Load);
        let first = writes.min_by_key(|site| (site.op != AccessOp::Atomic, site.loc));
        first.map_or((FindingOp::Write, self.run.config.loc), |site| {
            (self.op(site.loc), site.loc)
        })
    }

    /// What the access at a place does.
    fn op(&self, loc: LocId) -> FindingOp {
        let counters = &self.run.code.counters;
        let op = counters
            .iter()
            .find(|site| site.loc == loc)
            .map(|site| site.op);
        match op {
            Some(AccessOp::Atomic) => FindingOp::Atomic,
            Some(AccessOp::Store) => FindingOp::Write,
            Some(AccessOp::Load) | None => FindingOp::Read,
        }
    }

    fn turn(&self, segment: &Segment) -> Turn {
        let alive = LaneMask::first(self.run.shape.threads() - 32 * segment.warp).0;
        Turn {
            block: self.run.shape.block_index(segment.block),
            warp: segment.warp,
            lanes: segment.lanes,
            is_part: segment.lanes != 0 && segment.lanes != alive,
            end: segment.end,
            at: segment.next,
        }
    }
}

/// The turns without those from `at` to `end`; two of one warp that follow each other then are one.
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
