//! Counts a launch from some of its blocks (`--count-only`).
//!
//! Most kernels compute their addresses and conditions only from the thread and block indices. Many blocks then do the
//! same as one of them, moved by some distance: same branches, same lanes, same costs. Such a *representative* block
//! runs on the usual engine with the usual counters and an additional observer ([`watcher`]), which tracks how the
//! value of each register changes from block to block. Each decision that depends on such a value gives a limit
//! ([`known`], [`access`]): within the limits, every other block decides the same. [`cover`] cuts the grid into boxes
//! of blocks within the limits of their representatives, and multiplies the counts. The counts are therefore exactly
//! those of a full run.
//!
//! A counted launch does not compute its results. Representatives write to scratch memory, which is dropped.
//! [`Counting`] remembers which launches were counted. If a later launch cannot be counted, the launches whose results
//! it needs run after all.
//!
//! If a decision depends on a value read from memory, or on the block index in a way that is not linear, the launch
//! runs in full, and the report says why.

mod access;
mod cell;
mod cover;
mod effect;
mod known;
mod missing;
mod pending;
mod step;
mod watcher;

pub use cell::Cause;
pub use known::Decides;
pub use missing::{Changed, CountingError, Missing, NotComputed, Uncomputed};
pub use pending::Counting;

use ir::LocId;

use crate::config::{Checks, MachineConfig, Order, Schedule};
use crate::count::reuse::Reach;
use crate::fault::stop::StopFlag;
use crate::launch::Run;
use crate::launch::report::LaunchReport;
use crate::machine::block::{Block, Turn};
use crate::machine::{Machine, Record, engine};
use crate::memory::bytes::Bytes;
use crate::memory::map::GlobalMap;
use crate::observe::counters::Counters;
use crate::progress::Progress;
use cover::{Cover, Limits};
use known::Refusal;
use watcher::Watcher;

/// The most representatives of one launch.
const MAX_CLASSES: u64 = 4096;
/// After this many representatives, and four for each residue class, each should represent two blocks or more on
/// average.
const PATIENCE: u64 = 64;
/// How often a grid may be cut into residue classes.
const MAX_RESTARTS: u32 = 16;

/// How many of its blocks a launch ran.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Counted {
    /// All of them: nothing else was requested.
    #[default]
    Run,
    /// Some, which represent all. The results were not computed.
    From {
        /// How many; 0 if the launch is like an earlier one.
        blocks: u64,
        /// Warp instructions that these executed.
        warp_instructions: u64,
    },
    /// All of them, although counting was requested.
    InFull(Box<InFull>),
    /// Only these: it is a part of a launch.
    Part {
        /// The first block.
        from: u64,
        /// The block after the last.
        to: u64,
    },
}

/// Why a launch ran in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFull {
    /// What a block does cannot be derived from its index.
    Decides {
        /// The decision.
        what: Decides,
        /// The place of the decision.
        at: LocId,
        /// The cause, and where it comes from.
        because: Option<(Cause, LocId)>,
    },
    /// Too many blocks differ from each other: this many representatives for this many blocks.
    Differ {
        /// Representatives.
        classes: u64,
        /// Blocks that they represent.
        blocks: u64,
    },
    /// A different order of blocks or warps was requested.
    Order,
}

impl InFull {
    /// The reason in words. `name` gives the name of a place, such as `line 7`, or nothing for a place that is unknown.
    pub fn text(&self, name: impl Fn(LocId) -> String) -> String {
        let (what, at, because) = match *self {
            InFull::Decides { what, at, because } => (what, at, because),
            InFull::Differ { classes, blocks } => {
                return format!(
                    "its blocks differ: {classes} of them would speak for {blocks} only"
                );
            }
            InFull::Order => {
                return "blocks and warps are to run in another order than the usual one"
                    .to_owned();
            }
        };
        let place = match name(at) {
            at if at.is_empty() => at,
            at => format!(" ({at})"),
        };
        let what = match what {
            Decides::Branch => "a branch depends",
            Decides::Address => "an address depends",
            Decides::Mask => "who takes part in a synchronisation depends",
            Decides::Prints => return format!("its threads print{place}"),
            Decides::Launches => return format!("its threads launch kernels{place}"),
            Decides::Heap => return format!("its threads take memory from the heap{place}"),
            Decides::Calls => return format!("its threads call recursive functions{place}"),
            Decides::Parts => return "lanes of a warp wait for each other".to_owned(),
            Decides::Ends => return format!("a block faults or waits for others{place}"),
        };
        let Some((cause, from)) = because else {
            return format!("{what} on more than the block's index{place}");
        };
        let on = match cause {
            Cause::Memory => "on what is read from memory",
            Cause::Atomic => "on the result of an atomic",
            Cause::Clock => "on the clock",
            Cause::Multiprocessor => "on the multiprocessor",
            Cause::NotLinear => "on the block's index, and not by a sum of multiples of it",
            Cause::Lanes => "on other lanes' values",
        };
        let from = match name(from) {
            from if from.is_empty() || from == name(at) => String::new(),
            from => format!(" at {from}"),
        };
        format!("{what}{place} {on}{from}")
    }
}

impl From<Refusal> for InFull {
    fn from(refusal: Refusal) -> InFull {
        InFull::Decides {
            what: refusal.what,
            at: refusal.at,
            because: refusal.why.map(|why| (why.cause, why.loc)),
        }
    }
}

/// The counts of a launch, and for each region whether its contents may have influenced them.
struct Counts {
    report: LaunchReport,
    matters: Vec<bool>,
}

/// Counts a launch from some of its blocks, if that is possible.
fn count(run: &Run<'_>) -> Result<Counts, InFull> {
    let machine = run.machine;
    if machine.order != Order::Ascending || machine.schedule != Schedule::Lockstep {
        return Err(InFull::Order);
    }
    let blocks = u64::try_from(run.config.blocks()).unwrap_or(u64::MAX);
    if run.code.effects.heap || blocks > u64::MAX >> 8 {
        return Err(InFull::Decides {
            what: Decides::Heap,
            at: run.config.loc,
            because: None,
        });
    }
    let written = run.written();
    let is_still: Vec<bool> = written.iter().map(|written| !written).collect();
    let (map, _scratch) = scratch(run.map, &written).ok_or(InFull::Differ {
        classes: 0,
        blocks: 0,
    })?;
    let mut stride = [1; 3];
    for _ in 0..MAX_RESTARTS {
        let cover = Cover::new(run.config.grid, stride);
        let mut sum = Sum {
            machine: run.worker(Counters::new(&machine.rules, run.code.counters.len())),
            matters: vec![false; map.regions.len()],
            classes: 0,
            blocks: 0,
            warp_instructions: 0,
        };
        match classes(run, (&map, &is_still), cover, &mut sum)? {
            Some(wanted) => stride = wanted,
            None => {
                let (blocks, warp_instructions) = (sum.classes, sum.warp_instructions);
                sum.machine.record.reach = reach(run, &map);
                let (report, _) = run.ended(sum.machine, None);
                let Ok(mut report) = report else { break };
                machine.progress.begins(run.config.blocks() as u64);
                machine.progress.ended(run.config.blocks() as u64);
                report.order.counted = Counted::From {
                    blocks,
                    warp_instructions,
                };
                return Ok(Counts {
                    report,
                    matters: sum.matters,
                });
            }
        }
        if stride.iter().product::<u64>() > MAX_CLASSES {
            break;
        }
    }
    Err(InFull::Differ {
        classes: stride.iter().product(),
        blocks,
    })
}

/// The map, with scratch memory in place of the regions that the launch writes.
fn scratch(map: &GlobalMap, written: &[bool]) -> Option<(GlobalMap, Vec<Bytes>)> {
    let (mut regions, mut own) = (map.regions.clone(), Vec::new());
    for (region, _) in regions.iter_mut().zip(written).filter(|(_, is)| **is) {
        let bytes = Bytes::sparse(usize::try_from(region.size).ok()?)?;
        region.bytes = bytes.pointer();
        own.push(bytes);
    }
    Some((GlobalMap { regions }, own))
}

/// The sum over all blocks.
struct Sum<'a> {
    machine: Machine<'a, Counters>,
    matters: Vec<bool>,
    /// Representatives.
    classes: u64,
    /// Blocks that they represent.
    blocks: u64,
    /// Warp instructions that the representatives executed.
    warp_instructions: u64,
}

/// Runs representatives until all blocks are covered or a different stride is wanted.
fn classes(
    run: &Run<'_>,
    (map, is_still): (&GlobalMap, &[bool]),
    mut cover: Cover,
    sum: &mut Sum<'_>,
) -> Result<Option<[u64; 3]>, InFull> {
    let mut block = Block::new(run.code, &run.shape, run.memory);
    while let Some(number) = cover.next() {
        let part = represent(run, (map, is_still), &cover, number, &mut block)?;
        if part.wanted != cover.stride {
            return Ok(Some(part.wanted));
        }
        let count = cover.cut(&part.limits);
        sum.add(&part, count);
        let residues: u64 = cover.stride.iter().product();
        let is_late = sum.classes >= PATIENCE.max(4 * residues) && sum.blocks < 2 * sum.classes;
        if cover.next().is_some() && (is_late || sum.classes >= MAX_CLASSES) {
            return Err(InFull::Differ {
                classes: sum.classes,
                blocks: sum.blocks,
            });
        }
    }
    Ok(None)
}

/// The accesses of the blocks that are sampled for [`reuse`](crate::count::reuse). They do what their representatives
/// did, so they can run alone.
fn reach(run: &Run<'_>, map: &GlobalMap) -> Reach {
    let alone = MachineConfig {
        jobs: 1,
        checks: Checks::NONE,
        keep_going: false,
        progress: Progress::default(),
        ..run.machine.clone()
    };
    let alone = Run {
        map,
        machine: &alone,
        ..*run
    };
    let counters = Counters::new(&run.machine.rules, run.code.counters.len());
    let mut machine = alone.worker(counters);
    let mut block = Block::new(run.code, &run.shape, run.memory);
    for number in machine.record.reach.sampled().to_vec() {
        block.begin(number, run.code, &run.shape);
        let run_warp = engine::engine(run.code.shortcuts).run;
        while matches!(block.turn(&mut machine, run_warp), Turn::Stuck) && block.moved {}
        block.printed.clear();
    }
    machine.record.reach
}

/// What one block did, and which other blocks do the same.
struct Part {
    counters: Counters,
    record: Record,
    limits: Limits,
    wanted: [u64; 3],
    matters: Vec<bool>,
}

impl Sum<'_> {
    /// Adds a representative's counts for the `times` blocks that it represents, itself included.
    fn add(&mut self, part: &Part, times: u64) {
        self.classes += 1;
        self.blocks += times;
        self.warp_instructions += part.record.totals.charged();
        self.machine.observer.absorb_times(&part.counters, times);
        self.machine.record.absorb_times(&part.record, times);
        for (sum, part) in self.matters.iter_mut().zip(&part.matters) {
            *sum |= part;
        }
    }
}

/// Runs one block.
fn represent(
    run: &Run<'_>,
    (map, is_still): (&GlobalMap, &[bool]),
    cover: &Cover,
    number: u64,
    block: &mut Block,
) -> Result<Part, InFull> {
    let stop = StopFlag::default();
    let alone = MachineConfig {
        jobs: 1,
        checks: Checks::NONE,
        keep_going: false,
        stop: stop.clone(),
        ..run.machine.clone()
    };
    let alone = Run {
        map,
        machine: &alone,
        ..*run
    };
    let counters = Counters::new(&run.machine.rules, run.code.counters.len());
    let flags = (stop, &run.machine.stop);
    let grid = (run.config.grid, cover);
    let watcher = Watcher::new(counters, grid, run.code, (map, is_still), flags);
    let mut machine = alone.worker(watcher);
    machine.record.reach = Reach::default();
    block.begin(number, run.code, &run.shape);
    machine.record.totals.warps += block.warps.len() as u64;
    let run_warp = engine::engine(run.code.shortcuts).run;
    let mut turn = block.turn(&mut machine, run_warp);
    // The warps have used up a slice of a long loop. No other block needs a turn, so this one goes on.
    while matches!(turn, Turn::Stuck) && block.moved {
        turn = block.turn(&mut machine, run_warp);
    }
    block.printed.clear();
    machine.settle();
    machine.note_idle(&turn, 0);
    let watcher = machine.observer;
    let known = watcher.known;
    if let Some(refusal) = known.refusal {
        return Err(refusal.into());
    }
    let is_over = known.wanted != cover.stride;
    if !is_over && !matches!(turn, Turn::Done) {
        return Err(InFull::Decides {
            what: Decides::Ends,
            at: run.config.loc,
            because: None,
        });
    }
    if known.limits.overflows {
        return Err(InFull::Differ {
            classes: 1,
            blocks: 1,
        });
    }
    Ok(Part {
        counters: watcher.counters,
        record: machine.record,
        limits: known.limits,
        wanted: known.wanted,
        matters: watcher.matters,
    })
}
