//! A launch under many random schedules, to find what depends on them: what it leaves in memory, whether it ends, what there is to find.
//!
//! The first schedule that shows the gravest of what is found is made shorter (`shorter`) before it is told (`tell`).

mod shorter;
mod tell;

use std::collections::HashMap;

use crate::check::{Checker, Subject};
use crate::config::{BothOrders, MachineConfig, MemoryOrder, Schedule};
use crate::fault::finding::Depends;
use crate::fault::trap::{Trap, TrapKind};
use crate::launch::Run;
use crate::launch::orders::{Again, Difference, Saved};
use crate::launch::report::LaunchReport;
use crate::launch::schedule::{self, Plan, Segment};
use crate::machine::weak::Seeing;
use crate::machine::{Machine, engine};
use crate::observe::Observer;
use crate::observe::counters::Counters;
use crate::progress::Progress;
use crate::views::late::Late;
use crate::views::random::Random;
use crate::views::{Choices, Views};

/// A run under another schedule that takes so many times the first one's instructions, and some more, is given up.
const MAX_TIMES_AS_LONG: u64 = 20;
const SOME_MORE: u64 = 100_000;

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
    /// What was late.
    lates: Vec<Late>,
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

/// Nothing is late.
fn in_time() -> Choices {
    Choices::Given(HashMap::new())
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
        .run(Plan::Given(&[]), in_time())
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
        let outcome = explorer.run(plan, Choices::Random(seed));
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
    /// One run from the memory as it was before the launch. `choices`: what is late, where memory is weak.
    fn run(&self, plan: Plan<'_>, choices: Choices) -> Outcome {
        self.again.before.restore();
        let counters = Counters::new(&self.run.machine.rules, self.run.code.counters.len());
        let observer = Checker::new(counters, self.subject);
        match self.run.machine.memory {
            MemoryOrder::Strong => {
                let observer = (observer, engine::pausing());
                self.outcome(schedule::run(self.run, plan, observer, &mut |_| {}))
            }
            MemoryOrder::Weak => {
                let views = Views::new(choices, self.run.shape.threads());
                let observer = (Seeing::new(observer, views), engine::weak());
                self.outcome(schedule::run(self.run, plan, observer, &mut |_| {}))
            }
        }
    }

    fn outcome<O: Observer>(
        &self,
        (mut state, trap, segments): (Machine<'_, O>, Option<Trap>, Vec<Segment>),
    ) -> Outcome {
        let lates = match state.observer.views() {
            Some(views) => views.lates().to_vec(),
            None => Vec::new(),
        };
        // Too long is no fault: nothing was found.
        let is_cut = matches!(&trap, Some(trap) if matches!(trap.kind, TrapKind::Limit { .. } | TrapKind::Stopped(_)));
        let differs = match trap {
            None => self.after.difference(),
            Some(_) => None,
        };
        Outcome {
            trap: trap.filter(|_| !is_cut).map(Box::new),
            differs,
            segments,
            lates,
        }
    }
}
