//! Many runs in one process, for `test` and `sweep`. Each run is quiet, has a time limit, and returns how it ended as a value.
//!
//! A run takes one thread, so that many can run at one time. A program's output is kept up to a limit. A panic ends only its own run.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use interp::{MachineConfig, Program, StopFlag, StopReason, rules::RuleSet};
use ir::source::SourceMap;
use report::findings::{self, Found};
use runtime::{
    device::{Device, simulator::Simulator},
    host::{Io, Note, Outcome},
};

use crate::{
    STACK_BYTES,
    args::{Counts, RunArgs},
    execute::{self, What},
    failure::Failure,
};

/// Most bytes of a program's output that are kept.
const MAX_KEPT: usize = 1 << 20;

/// How often the time limits are checked.
const TICK: Duration = Duration::from_millis(10);

/// A run that ended.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) found: Vec<Found>,
    /// Its output, or the beginning of that.
    pub(crate) stdout: Vec<u8>,
    /// The rules by which the run was counted: a program may choose another bank width.
    pub(crate) rules: RuleSet,
}

/// Runs a program once, in this thread.
pub(crate) fn run(
    program: &Program,
    map: &SourceMap,
    args: &RunArgs,
    rules: RuleSet,
    stop: &StopFlag,
) -> Result<Ran, Failure> {
    let machine = MachineConfig {
        jobs: 1,
        ..super::command::machine(args, rules, stop)
    };
    let what = What {
        program: &args.program,
        save: &[],
        keep_going: machine.keep_going,
        stop,
    };
    let device = Simulator::new(machine);
    // Tests and sweeps judge what is written, unless they say otherwise.
    let counts = args.checking.counts.unwrap_or(Counts::Written);
    let mut device = execute::compiling(device, args, counts, rules.arch);
    let mut io = Capture(vec![]);
    let ran = execute::execute(&what, program, &mut device, &mut io)?;
    if counts == Counts::Compiled
        && let Some(why) = execute::not_compiled(&ran.outcome)
    {
        return Err(Failure::new(why));
    }
    let module = program.module();
    let line = |loc| report::line(module, map, loc);
    Ok(Ran {
        found: findings::all(&ran.outcome, module, &line),
        outcome: ran.outcome,
        stdout: io.0,
        rules: match rules.given_by {
            Some(_) => rules,
            None => RuleSet::new(rules.arch, device.bank_width())?,
        },
    })
}

/// Keeps the beginning of a program's output.
struct Capture(Vec<u8>);

impl Io for Capture {
    fn stdout(&mut self, bytes: &[u8]) {
        let room = MAX_KEPT - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn stderr(&mut self, _: &[u8]) {}

    fn note(&mut self, _: &Note) {}
}

/// Asks runs to stop when their time is up.
pub(crate) struct Deadlines(Arc<Running>);

type Running = Mutex<Vec<(Instant, Duration, StopFlag)>>;

impl Deadlines {
    /// `interrupted` asks all runs to stop at once.
    pub(crate) fn start(interrupted: Arc<AtomicBool>) -> Deadlines {
        let running = Arc::new(Running::default());
        let watched = Arc::downgrade(&running);
        thread::spawn(move || watch(&watched, &interrupted));
        Deadlines(running)
    }

    /// A stop flag for a run that starts now.
    pub(crate) fn flag(&self, time: Duration) -> StopFlag {
        let flag = StopFlag::with_time(time);
        lock(&self.0).push((Instant::now(), time, flag.clone()));
        flag
    }

    /// The run with this flag has ended.
    pub(crate) fn ended(&self, flag: &StopFlag) {
        lock(&self.0).retain(|(_, _, known)| !Arc::ptr_eq(&known.number(), &flag.number()));
    }
}

fn lock(running: &Running) -> MutexGuard<'_, Vec<(Instant, Duration, StopFlag)>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(running: &Weak<Running>, interrupted: &AtomicBool) {
    while let Some(running) = running.upgrade() {
        for (begin, time, flag) in &*lock(&running) {
            if interrupted.load(Ordering::Relaxed) {
                flag.ask(StopReason::Interrupted);
            } else if begin.elapsed() >= *time {
                flag.ask(StopReason::TimeOver(*time));
            }
        }
        drop(running);
        thread::sleep(TICK);
    }
}

/// How many runs go on at one time. With `jobs` 0, one per core.
pub(crate) fn workers(jobs: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    if jobs == 0 {
        cores
    } else {
        jobs.min(4 * cores)
    }
}

/// Does pieces of work on separate threads, and hands over each result with its number as soon as it is there. The error of a piece is the
/// message of its panic. Once `interrupted` is set, no further piece is started.
pub(crate) fn each<T: Send>(
    count: usize,
    workers: usize,
    interrupted: &AtomicBool,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, Result<T, String>),
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let (results, received) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.min(count) {
            let results = results.clone();
            let (next, work) = (&next, &work);
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= count || interrupted.load(Ordering::Relaxed) {
                            break;
                        }
                        let done = panic::catch_unwind(AssertUnwindSafe(|| work(at)));
                        let done = done.map_err(|_| crate::panic_text());
                        if results.send((at, done)).is_err() {
                            break;
                        }
                    }
                })?;
        }
        drop(results);
        for (at, done) in received {
            take(at, done);
        }
        Ok(())
    })
}
