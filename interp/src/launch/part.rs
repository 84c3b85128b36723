//! Parts of a launch: runs ranges of its blocks separately and merges them.
//!
//! A part is like the worker of a parallel launch, but in another process. It starts from the memory that the launch
//! finds, and returns its counts and findings (`Saved`). The report of all parts is therefore built like that of one
//! run. A parallel launch runs all blocks again in order if two workers touch the same word. Here only the blocks of
//! parts that touch the same bytes run again, together (`check::across`), and their effects on each other are added.

use std::ops::Range;

use ir::{FuncId, LocId};
use thiserror::Error;

use crate::check::across::{Across, Step, Stretch, Touches, gathered};
use crate::check::{Checker, Subject};
use crate::coded::Coded;
use crate::config::{BothOrders, Check, LaunchConfig, MachineConfig, Order};
use crate::fault::trap::AccessOp;
use crate::launch::orders::Saved as Memories;
use crate::launch::report::{Counted, LaunchFailure, LaunchReport};
use crate::launch::{Blocks, Run, begin};
use crate::machine::{Machine, Record};
use crate::memory::Memory;
use crate::observe::Observer;
use crate::observe::counters::Counters;
use crate::program::Program;
use crate::progress::Progress;

/// What a part counted and found, and what it touched: both serialised.
#[derive(Default)]
pub(crate) struct Saved {
    gathered: Vec<u8>,
    touches: Vec<u8>,
}

impl Saved {
    pub(crate) fn of<O: Observer>(state: &Machine<'_, O>) -> Saved {
        let mut saved = Saved::default();
        state.record.put(&mut saved.gathered);
        state.observer.save(&mut saved.gathered);
        state.observer.save_touches(&mut saved.touches);
        saved
    }
}

/// A range of a launch's blocks that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its blocks, numbered within the grid with x fastest.
    pub blocks: Range<u64>,
    /// The launch's grid.
    pub grid: [u32; 3],
    /// Its counts and findings, for [`merge`].
    pub gathered: Vec<u8>,
    /// The text that its threads printed.
    pub printed: Vec<u8>,
    /// What it accessed of memory that the launch writes.
    pub memory: Vec<PartMemory>,
    /// The place where a thread uses the result of an atomic, or reads `volatile` memory: other blocks may then have
    /// influenced this part.
    pub hears: Option<(LocId, AccessOp)>,
}

/// The bytes of one allocation that one source access of a part touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartMemory {
    /// The allocation, as messages name it.
    pub allocation: String,
    /// Its number among the allocations that the launch finds.
    pub region: u32,
    /// The access, by its number in the kernel.
    pub access: u32,
    /// The place of the access.
    pub loc: LocId,
    /// What it does. For a load, the bytes are those that the part does not write afterwards.
    pub op: AccessOp,
    /// The bytes: their address, number and block, and how they repeat. See `PartMemory::stretch`.
    pub stretches: Vec<String>,
    /// Whether there are too many to list: everything it touched lies within these.
    pub is_coarse: bool,
}

impl PartMemory {
    /// A stretch as text: `0+128 b7 x32+4096b1` is 128 bytes from 0 on, by block 7; 32 times, each 4096 bytes further
    /// and by the next block.
    fn stretch(stretch: &Stretch) -> String {
        let mut text = format!("{}+{} b{}", stretch.start, stretch.bytes, stretch.block);
        for step in &stretch.steps {
            text += &format!(" x{}+{}b{}", step.count, step.bytes, step.blocks);
        }
        text
    }

    fn parsed(&self, text: &str) -> Option<Stretch> {
        let mut words = text.split(' ');
        let (start, bytes) = words.next()?.split_once('+')?;
        let block = words.next()?.strip_prefix('b')?;
        let steps = words.map(|word| {
            let (count, rest) = word.strip_prefix('x')?.split_once('+')?;
            let (bytes, blocks) = rest.split_once('b')?;
            Some(Step {
                count: count.parse().ok()?,
                bytes: bytes.parse().ok()?,
                blocks: blocks.parse().ok()?,
            })
        });
        Some(Stretch {
            counter: self.access,
            op: self.op,
            block: block.parse().ok()?,
            start: start.parse().ok()?,
            bytes: bytes.parse().ok()?,
            steps: steps.collect::<Option<_>>()?,
        })
    }
}

/// Why a launch was not run in parts, or why parts could not be merged.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PartError {
    /// The launch failed by itself.
    #[error("{0}")]
    Failed(LaunchFailure),
    /// The range is outside the grid.
    #[error("the grid has {blocks} blocks: 0..{blocks}")]
    Range {
        /// The grid's blocks.
        blocks: u64,
    },
    /// Its blocks wait for each other.
    #[error("a cooperative launch cannot be split: its blocks wait for each other (`grid.sync()`)")]
    Cooperative,
    /// Its threads launch kernels, or allocate from the heap, which all blocks share.
    #[error("the launch cannot be split: its threads {0}")]
    Shares(&'static str),
    /// Its blocks wait for blocks of other parts.
    #[error("its blocks wait for each other")]
    Waits(Box<LaunchFailure>),
    /// The data come from another launch.
    #[error("the parts are not of this launch")]
    Foreign,
}

/// The result of comparing parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Whether the race check was on.
    pub looked: bool,
    /// A read of bytes that another part writes, and that write: the part's result may depend on it.
    pub reads: Option<(LocId, LocId)>,
    /// Pairs of accesses that touch the same bytes and could not be decided to race or not.
    pub undecided: Vec<(LocId, LocId)>,
    /// Whether more blocks touch the same bytes than ran again, so that not all of their races are counted.
    pub is_cut: bool,
    /// How many blocks ran again.
    pub again: u64,
    /// As in [`Part::hears`].
    pub hears: Option<(LocId, AccessOp)>,
}

/// Checks that a launch can be split.
fn begin_part(run: &Run<'_>) -> Result<(), PartError> {
    let effects = &run.code.effects;
    if run.config.cooperative {
        return Err(PartError::Cooperative);
    }
    if effects.heap {
        return Err(PartError::Shares(
            "take memory from the heap, which all blocks share",
        ));
    }
    Ok(())
}

/// The machine for parts, without what needs other blocks.
fn alone(machine: &MachineConfig) -> MachineConfig {
    MachineConfig {
        order: Order::Ascending,
        both_orders: BothOrders::Never,
        schedules: (0, machine.schedules.1),
        ..machine.clone()
    }
}

/// Runs a range of a launch's blocks, as [`launch`](crate::launch) runs all of them. The memory that they leave is only
/// part of the result.
pub fn launch_part(
    program: &Program,
    (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
    memory: &mut Memory,
    machine: &MachineConfig,
    blocks: Range<u64>,
    out: &mut dyn FnMut(&[u8]),
) -> Result<(LaunchReport, Part), PartError> {
    let machine = &alone(machine);
    let begun = begin(program, kernel, config, args, memory, machine).map_err(PartError::Failed)?;
    let run = begun.run(program, (kernel, config), memory, machine);
    begin_part(&run)?;
    let all = run.config.blocks() as u64;
    if blocks.start >= blocks.end || blocks.end > all {
        return Err(PartError::Range { blocks: all });
    }
    let run = Run {
        blocks: Some(Blocks::Range(blocks.start, blocks.end)),
        ..run
    };
    let mut printed = Vec::new();
    let mut tee = |bytes: &[u8]| {
        printed.extend_from_slice(bytes);
        out(bytes);
    };
    let counters = || Counters::new(&machine.rules, run.code.counters.len());
    let (result, left) = match machine.checks.is_empty() {
        true => run.with(&counters, &mut tee),
        false => {
            let subject = subject(&run);
            run.with(&|| Checker::new(counters(), &subject), &mut tee)
        }
    };
    let mut report = match result {
        Ok(report) => report,
        Err(failure) if is_waiting(&failure) => return Err(PartError::Waits(Box::new(failure))),
        Err(failure) => return Err(PartError::Failed(failure)),
    };
    if !report.children.is_empty() {
        return Err(PartError::Shares("launch kernels"));
    }
    report.order.counted = Counted::Part {
        from: blocks.start,
        to: blocks.end,
    };
    let saved = left.saved.unwrap_or_default();
    let touches: Vec<Touches> = Coded::get(&mut &saved.touches[..]).unwrap_or_default();
    let part = Part {
        blocks,
        grid: config.grid,
        gathered: saved.gathered,
        printed,
        memory: described(&run, gathered(touches)),
        hears: hears(&run),
    };
    Ok((report, part))
}

/// The place where a thread uses something that other blocks may influence.
fn hears(run: &Run<'_>) -> Option<(LocId, AccessOp)> {
    let talk = run.code.effects.talks_at?;
    let op = match talk.is_atomic {
        true => AccessOp::Atomic,
        false => AccessOp::Load,
    };
    Some((talk.loc, op))
}

/// Whether a launch ended because no thread could go on.
fn is_waiting(failure: &LaunchFailure) -> bool {
    use crate::fault::trap::TrapKind;
    let LaunchFailure::Trap { trap, .. } = failure else {
        return false;
    };
    matches!(trap.kind, TrapKind::Deadlock | TrapKind::Endless)
}

/// What the checks know of a part.
fn subject<'a>(run: &'a Run<'a>) -> Subject<'a> {
    let (machine, places) = (run.machine, (run.map, run.memory));
    let (checks, arch) = (machine.checks, machine.rules.arch);
    Subject::new(checks, arch, run.code, &run.shape, places, run.written()).of_part()
}

/// What each source access touched in each region, with names.
fn described(run: &Run<'_>, touches: Vec<Touches>) -> Vec<PartMemory> {
    let mut all: Vec<PartMemory> = Vec::new();
    for touches in touches {
        let base = run.map.regions[touches.region as usize].base;
        let region = run.memory.region(base);
        let name = region.map_or_else(|| "memory".to_owned(), |region| region.describe(base).name);
        for stretch in &touches.stretches {
            let (region, access, op) = (touches.region, stretch.counter, stretch.op);
            let is = |known: &&mut PartMemory| {
                (known.region, known.access, known.op) == (region, access, op)
            };
            let text = PartMemory::stretch(stretch);
            match all.iter_mut().find(is) {
                Some(known) => known.stretches.push(text),
                None => all.push(PartMemory {
                    allocation: name.replace('`', ""),
                    region,
                    access,
                    loc: run.code.counters[access as usize].loc,
                    op,
                    stretches: vec![text],
                    is_coarse: touches.is_coarse,
                }),
            }
        }
    }
    all.sort_by_key(|memory| (memory.region, memory.access, memory.op));
    all
}

/// The report of a launch whose blocks ran in parts; `parts` are in order and complete. `memory` is as the launch finds
/// it.
pub fn merge(
    program: &Program,
    (kernel, config, args): (FuncId, &LaunchConfig, &[u64]),
    memory: &mut Memory,
    machine: &MachineConfig,
    parts: &[Part],
    out: &mut dyn FnMut(&[u8]),
) -> Result<(LaunchReport, Compared), PartError> {
    let machine = &alone(machine);
    let begun = begin(program, kernel, config, args, memory, machine).map_err(PartError::Failed)?;
    let run = begun.run(program, (kernel, config), memory, machine);
    begin_part(&run)?;
    let mut next = 0;
    for part in parts {
        if (part.blocks.start, part.grid) != (next, config.grid) {
            return Err(PartError::Foreign);
        }
        next = part.blocks.end;
    }
    if u128::from(next) != config.blocks() {
        return Err(PartError::Foreign);
    }
    let counters = || Counters::new(&machine.rules, run.code.counters.len());
    if machine.checks.is_empty() {
        let sum = sum(&run, counters(), parts)?;
        parts.iter().for_each(|part| out(&part.printed));
        let compared = Compared {
            hears: hears(&run),
            ..Compared::default()
        };
        return Ok((run.report(&sum), compared));
    }
    let subject = subject(&run);
    let mut sum = sum(&run, Checker::new(counters(), &subject), parts)?;
    parts.iter().for_each(|part| out(&part.printed));
    let mut compared = match machine.checks.has(Check::Race) {
        true => compare(&run, parts, &subject, &mut sum.observer)?,
        false => Compared::default(),
    };
    compared.hears = hears(&run);
    Ok((run.report(&sum), compared))
}

/// The sum of the parts' counts and findings.
fn sum<'a, O: Observer>(
    run: &Run<'a>,
    observer: O,
    parts: &[Part],
) -> Result<Machine<'a, O>, PartError> {
    let mut sum = run.worker(observer);
    for part in parts {
        let mut bytes = &part.gathered[..];
        let record = Record::get(&mut bytes).ok_or(PartError::Foreign)?;
        if record.divergence.len() != sum.record.divergence.len() {
            return Err(PartError::Foreign);
        }
        sum.record.absorb_part(record);
        sum.observer.load(&mut bytes).ok_or(PartError::Foreign)?;
        if !bytes.is_empty() {
            return Err(PartError::Foreign);
        }
    }
    Ok(sum)
}

/// Compares what parts touched, and runs the blocks that may conflict again, together.
fn compare(
    run: &Run<'_>,
    parts: &[Part],
    subject: &Subject<'_>,
    checker: &mut Checker<'_>,
) -> Result<Compared, PartError> {
    let regions = run.map.regions.len();
    let touches: Option<Vec<Vec<Touches>>> = parts
        .iter()
        .map(|part| {
            let memory = part.memory.iter().filter(|memory| {
                (memory.region as usize) < regions
                    && (memory.access as usize) < run.code.counters.len()
            });
            let all = memory.map(|memory| {
                let stretches = memory.stretches.iter().map(|text| memory.parsed(text));
                Some(Touches {
                    region: memory.region,
                    stretches: stretches.collect::<Option<_>>()?,
                    is_coarse: memory.is_coarse,
                })
            });
            all.collect()
        })
        .collect();
    let touches = touches.ok_or(PartError::Foreign)?;
    let sides = parts.iter().zip(&touches);
    let sides: Vec<_> = sides
        .map(|(part, touches)| (part.blocks.clone(), &touches[..]))
        .collect();
    let across = Across::of(&sides, subject);
    let (blocks, all) = across.blocks();
    let place = |(a, b)| subject.loc(a).zip(subject.loc(b));
    let mut compared = Compared {
        looked: true,
        reads: across.reads().and_then(place),
        is_cut: !all,
        again: blocks.len() as u64,
        ..Compared::default()
    };
    let mut again = Vec::new();
    if !blocks.is_empty() {
        let together = run_again(run, &blocks, subject);
        again = together.touches();
        // Races within a part are already known and must not be counted twice.
        let alone = parts.iter().map(|part| {
            let held = blocks.iter().filter(|block| part.blocks.contains(block));
            run_again(run, &held.copied().collect::<Vec<_>>(), subject)
        });
        let alone: Vec<Checker<'_>> = alone.collect();
        let racing = || together.racing_read(subject).and_then(place);
        compared.reads = compared.reads.or_else(racing);
        checker.add_across(&together, &alone);
    }
    let undecided = across.undecided(&again).into_iter();
    compared.undecided = undecided.filter_map(place).collect();
    Ok(compared)
}

/// Runs these blocks in order, from the memory that the launch finds, which it leaves unchanged.
fn run_again<'a>(run: &Run<'a>, blocks: &[u64], subject: &'a Subject<'a>) -> Checker<'a> {
    let machine = MachineConfig {
        jobs: 1,
        progress: Progress::default(),
        ..run.machine.clone()
    };
    let written = run.map.regions.iter().zip(run.written());
    let written = written.filter(|(_, written)| *written);
    let before = Memories::of(run, &written.map(|(region, _)| *region).collect::<Vec<_>>());
    let again = Run {
        blocks: Some(Blocks::Each(blocks)),
        machine: &machine,
        looks: false,
        ..*run
    };
    let counters = Counters::new(&machine.rules, run.code.counters.len());
    let (mut state, _) = again.sequential(Checker::new(counters, subject), &mut |_| {});
    before.restore(run);
    state.settle();
    state.observer
}
