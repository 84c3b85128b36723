//! Runs a launch under many random schedules, to find what depends on them: its final memory, whether it ends, and its
//! findings.
//!
//! The first schedule that shows the most serious result is shortened (`shorter`) before it is reported (`tell`).

mod counts;
mod shorter;
mod tell;

use std::collections::HashMap;

use crate::check::{Checker, Subject};
use crate::config::{BothOrders, MachineConfig, MemoryOrder, Schedule};
use crate::fault::finding::Depends;
use crate::fault::trap::{Trap, TrapKind};
use crate::launch::Run;
use crate::launch::orders::{Again, Difference, Saved};
use crate::launch::report::{LaunchFailure, LaunchReport};
use crate::launch::schedule::{self, Plan, Segment};
use crate::machine::weak::Seeing;
use crate::machine::{Machine, engine};
use crate::observe::Observer;
use crate::observe::counters::Counters;
use crate::progress::Progress;
use crate::views::late::Late;
use crate::views::random::Random;
use crate::views::{Choices, Views};
use counts::Differences;

/// A run under another schedule is given up after this many times the first one's instructions, plus a constant.
const MAX_TIMES_AS_LONG: u64 = 20;
const SOME_MORE: u64 = 100_000;

/// A launch that runs repeatedly.
struct Explorer<'r, 'a> {
    run: &'r Run<'r>,
    subject: &'r Subject<'a>,
    again: &'r Again,
    after: &'r Saved,
}

/// The outcome of a run.
#[derive(Clone)]
struct Outcome {
    trap: Option<Box<Trap>>,
    /// By memory region.
    differs: Vec<Difference>,
    segments: Vec<Segment>,
    /// The late accesses.
    lates: Vec<Late>,
    report: LaunchReport,
}

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// It ended with a trap of that name.
    Trap(&'static str),
    /// The region with this base ends differently.
    Depends(u64, Depends),
}

/// The most regions reported to end differently before it is known which of them are read later.
const MAX_REGIONS: usize = 8;

impl Difference {
    fn depends(&self) -> Depends {
        match (self.is_grave, self.is_rounding) {
            (true, _) => Depends::Values,
            (false, true) => Depends::Rounding,
            (false, false) => Depends::Places,
        }
    }
}

/// How serious it is.
fn gravity(depends: Depends) -> u32 {
    match depends {
        Depends::Values => 3,
        Depends::Rounding => 2,
        Depends::Places => 1,
    }
}

impl Outcome {
    fn shows(&self, what: Shown) -> bool {
        match what {
            Shown::Trap(name) => self
                .trap
                .as_ref()
                .is_some_and(|trap| trap.kind.name() == name),
            Shown::Depends(region, depends) => self
                .differs
                .iter()
                .any(|differs| differs.region == region && differs.depends() == depends),
        }
    }
}

/// A run that shows something: the first that shows the most serious result of its kind.
struct Example {
    outcome: Outcome,
    shown: Shown,
    /// The schedule's seed, and how many had been tried.
    tried: (u64, u32),
}

/// No access is late.
fn in_time() -> Choices {
    Choices::Given(HashMap::new())
}

/// Runs a launch that has ended under the requested schedules, and adds what that finds.
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
    let after = Saved::of(run, &again.regions);
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
    let mut found: Vec<Example> = Vec::new();
    let mut spans: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    let mut differences = Differences::of(report);
    for index in 0..count {
        let seed = schedule::seed(random.next(), (index, count), points);
        let Some(plan) = schedule::plan(Schedule::Adversarial(seed)) else {
            continue;
        };
        let outcome = explorer.run(plan, Choices::Random(seed));
        let tried = (seed, index + 1);
        if let Some(trap) = &outcome.trap {
            let shown = Shown::Trap(trap.kind.name());
            found = vec![Example {
                outcome,
                shown,
                tried,
            }];
            break;
        }
        differences.add(&outcome.report, seed);
        for differs in &outcome.differs {
            let (region, depends) = (differs.region, differs.depends());
            spans.entry(region).or_default().extend(&differs.spans);
            let known = found.iter().position(
                |example| matches!(example.shown, Shown::Depends(known, _) if known == region),
            );
            let is_graver = known.is_none_or(
                |at| matches!(found[at].shown, Shown::Depends(_, known) if gravity(depends) > gravity(known)),
            );
            if !is_graver {
                continue;
            }
            let example = Example {
                outcome: outcome.clone(),
                shown: Shown::Depends(region, depends),
                tried,
            };
            match known {
                Some(at) => found[at] = example,
                None => found.push(example),
            }
        }
    }
    found.sort_by_key(|example| match example.shown {
        Shown::Trap(_) => 0,
        Shown::Depends(_, depends) => 3 - gravity(depends),
    });
    for example in found.into_iter().take(MAX_REGIONS) {
        explorer.tell(example, &spans, report);
    }
    let waits = &run.code.effects.polls.waits;
    differences.tell(report, |loc| waits.contains(&loc));
    report.order.schedules = Some(count);
    after.restore(&run);
}

impl Explorer<'_, '_> {
    /// Runs it once from the memory before the launch. `choices`: which accesses are late, if memory is weak.
    fn run(&self, plan: Plan<'_>, choices: Choices) -> Outcome {
        self.again.before.restore(self.run);
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
        let (result, _) = self.run.ended(state, trap);
        let (report, trap) = match result {
            Ok(report) => (report, None),
            Err(LaunchFailure::Trap { trap, report }) => (*report, Some(trap)),
            Err(LaunchFailure::Invalid(_)) => unreachable!("it has run before"),
        };
        // A run that takes too long is not a fault.
        let is_cut = matches!(&trap, Some(trap) if matches!(trap.kind, TrapKind::Limit { .. } | TrapKind::Stopped(_)));
        let differs = match trap {
            None => self.after.differences(),
            Some(_) => Vec::new(),
        };
        Outcome {
            trap: trap.filter(|_| !is_cut),
            differs,
            segments,
            lates,
            report,
        }
    }
}
