//! Runs one launch: validates it, runs its blocks in order and gathers the counts.
//!
//! Blocks start in linear order. If a block can make progress only after another block does, it is suspended, and the
//! next block starts while the device could still hold it. Suspended blocks then take turns. If a whole round of turns
//! makes no progress, the launch is a deadlock.

pub(crate) mod compiled;
pub(crate) mod count_only;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod orders;
#[cfg(feature = "threads")]
pub(crate) mod parallel;
pub mod part;
mod places;
pub(crate) mod repeats;
pub mod report;
pub(crate) mod schedule;
pub(crate) mod schedules;
mod shift;
mod trapped;

use crate::isa::grid::Shape;
use crate::memory::map::GlobalMap;
use crate::observe::Scene;
use crate::observe::counters::Counters;
use std::collections::VecDeque;

use ir::{FuncId, Object, Space};

use crate::check::{Checker, Subject};
use crate::config::{Check, ChildLaunch, LaunchConfig, MachineConfig, MemoryOrder};
use crate::count::pattern::Pattern;
use crate::count::reuse::{Reach, Reuse};
use crate::count::stats::LaunchCounts;
use crate::fault::trap::{AccessOp, Trap, TrapKind};
use crate::isa::bytecode::Code;
use crate::isa::effects::Root;
use crate::launch::limits::{LaunchLimits, check_launch};
#[cfg(feature = "threads")]
use crate::launch::parallel::Outcome;
use crate::launch::part::Saved;
use crate::launch::report::{
    InvalidLaunch, LaunchFailure, LaunchReport, OrderReport, SharedBytes, Site, Statement,
};
use crate::launch::schedule::Plan;
use crate::machine::block::{Block, Turn};
use crate::machine::engine;
use crate::machine::ops::{rounds, routine};
use crate::machine::replay::Replay;
use crate::machine::weak::Seeing;
use crate::machine::{Machine, Pass, Policy, Record, SiteRegions, is_global};
use crate::memory::Memory;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::Observer;
use crate::observe::trace::Tracer;
use crate::patience::Patience;
use crate::program::Program;
use crate::rules::limits::Limits;
use crate::shortcut::Shortcut;
use crate::views::{Choices, Views};

/// Runs a kernel. `args` holds the bits of one argument per parameter; `out` receives what threads print, in order.
pub fn launch(
    program: &Program,
    kernel: FuncId,
    config: &LaunchConfig,
    args: &[u64],
    memory: &mut Memory,
    machine: &MachineConfig,
    out: &mut dyn FnMut(&[u8]),
) -> Result<LaunchReport, LaunchFailure> {
    let one_job = MachineConfig {
        jobs: 1,
        ..machine.clone()
    };
    let machine = if machine.trace { &one_job } else { machine };
    let begun = begin(program, kernel, config, args, memory, machine)?;
    let run = begun.run(program, (kernel, config), memory, machine);
    let (code, map) = (run.code, run.map);
    let counters = || Counters::new(&machine.rules, code.counters.len());
    if machine.trace {
        return run.with(&|| Tracer::new(counters(), code), out).0;
    }
    if machine.checks.is_empty() {
        return run.with(&counters, out).0;
    }
    let written = run.written();
    let stored = written.clone();
    let again = orders::prepare(&run, &written);
    let before = orders::before_waiting(&run, &written);
    let arch = machine.rules.arch;
    let places = (map, run.memory);
    let subject = Subject::new(machine.checks, arch, code, &run.shape, places, written);
    let (mut result, left) = run.with(&|| Checker::new(counters(), &subject), out);
    if let (Err(LaunchFailure::Trap { trap, .. }), Some(before)) = (&result, before)
        && trap.kind == TrapKind::AwaitsHost
    {
        before.restore(&run);
        return result;
    }
    if let Ok(report) = &mut result {
        let run = Run {
            looks: false,
            ..run
        };
        orders::run_again(&run, again.as_ref(), &subject, report);
        schedules::explore(&run, again.as_ref(), &subject, report);
    }
    // Needed only if an earlier launch left memory that is suspect.
    let loaded = match run.memory.has_suspects() {
        true => run.loaded(&stored),
        false => Vec::new(),
    };
    let communicates = subject.races.fences || !code.effects.polls.waits.is_empty();
    for (base, defined) in &left.stored {
        memory.define(*base, defined);
    }
    memory.keep_touched(&left.touched, communicates);
    for (base, size) in loaded {
        memory.note_read(base, size);
    }
    if let Ok(report) = &mut result {
        for finding in &mut report.findings {
            if let Some((spans, suspect)) = finding.fact.suspect() {
                *suspect = memory.suspect(std::mem::take(spans));
            }
        }
    }
    result
}

/// A validated launch and the memory it starts from.
pub(crate) struct Begun<'a> {
    code: &'a Code,
    shape: Shape<'a>,
    map: GlobalMap,
}

/// Validates a launch and maps the memory.
fn begin<'a>(
    program: &'a Program,
    kernel: FuncId,
    config: &LaunchConfig,
    args: &'a [u64],
    memory: &mut Memory,
    machine: &MachineConfig,
) -> Result<Begun<'a>, LaunchFailure> {
    let limits = LaunchLimits::of(&Limits::of(machine.rules.arch));
    check_launch(program, kernel, config, args, &limits).map_err(LaunchFailure::Invalid)?;
    let shape = Shape {
        grid: config.grid,
        block: config.block,
        shared_bytes: shared_bytes(program.code(kernel), config),
        cooperative: config.cooperative,
        multiprocessors: limits.multiprocessors,
        args,
    };
    let code = program.code_for(kernel, &shape, machine.checks.has(Check::Arithmetic));
    if code.effects.heap {
        memory.open_device_heap();
    }
    if machine.checks.has(Check::Uninit) {
        memory.settle();
    }
    Ok(Begun {
        code,
        shape,
        map: GlobalMap::new(memory),
    })
}

impl<'a> Begun<'a> {
    /// The launch, ready to run.
    fn run(
        &'a self,
        program: &'a Program,
        (kernel, config): (FuncId, &'a LaunchConfig),
        memory: &'a Memory,
        machine: &'a MachineConfig,
    ) -> Run<'a> {
        Run {
            program,
            kernel,
            config,
            code: self.code,
            shape: self.shape,
            memory,
            map: &self.map,
            machine,
            blocks: None,
            looks: machine.reuse,
        }
    }
}

/// Static and dynamic shared memory of a block.
fn shared_bytes(code: &Code, config: &LaunchConfig) -> u64 {
    if config.shared_bytes == 0 {
        code.memory.shared_bytes
    } else {
        code.memory
            .dynamic_offset
            .max(code.memory.shared_bytes)
            .saturating_add(config.shared_bytes)
    }
}

/// The most blocks that may wait for others at one time: as many as the device holds.
fn resident_blocks(machine: &MachineConfig, shape: &Shape<'_>) -> usize {
    let limits = Limits::of(machine.rules.arch);
    let residency = limits.residency;
    let per_sm = residency.blocks(shape.threads().into(), shape.shared_bytes);
    (per_sm.max(1) * u64::from(limits.multiprocessors)) as usize
}

/// Lets the waiting lanes of all blocks go on apart from their warps. Returns whether there were any.
fn part<O: Observer>(blocks: &mut VecDeque<Block>, machine: &mut Machine<'_, O>) -> bool {
    let mut any = false;
    for block in blocks {
        machine.observer.begin_block(block.index);
        any |= block.part(machine);
    }
    any
}

/// What an observer knows of memory when a launch has ended, keyed by the base of each region.
#[derive(Default)]
pub(crate) struct Left {
    /// What was written in regions that had unwritten bytes.
    stored: Vec<(u64, Defined)>,
    touched: Vec<(u64, Touch)>,
    /// The state of a part of a launch.
    saved: Option<Saved>,
}

/// A launch that is valid.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) kernel: FuncId,
    pub(crate) config: &'a LaunchConfig,
    pub(crate) code: &'a Code,
    pub(crate) shape: Shape<'a>,
    pub(crate) memory: &'a Memory,
    pub(crate) map: &'a GlobalMap,
    pub(crate) machine: &'a MachineConfig,
    /// The blocks that run, in order; `None`: all of them.
    pub(crate) blocks: Option<Blocks<'a>>,
    /// Whether some blocks are sampled for how often they access the same bytes of global memory.
    pub(crate) looks: bool,
}

/// Some blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocks<'a> {
    /// From the first number up to, but not including, the second.
    Range(u64, u64),
    /// Exactly these.
    Each(&'a [u64]),
}

impl<'a> Run<'a> {
    /// How many blocks run.
    pub(crate) fn count(&self) -> u128 {
        match self.blocks {
            None => self.config.blocks(),
            Some(Blocks::Range(from, to)) => (to - from).into(),
            Some(Blocks::Each(blocks)) => blocks.len() as u128,
        }
    }

    /// The number in the grid of the `k`th block that runs.
    pub(crate) fn block(&self, k: u64) -> u64 {
        match self.blocks {
            None => k,
            Some(Blocks::Range(from, _)) => from + k,
            Some(Blocks::Each(blocks)) => blocks[k as usize],
        }
    }

    /// Runs it with an observer.
    pub(crate) fn with<O: Observer + Send>(
        &self,
        observer: &(impl Fn() -> O + Sync),
        out: &mut dyn FnMut(&[u8]),
    ) -> (Result<LaunchReport, LaunchFailure>, Left) {
        self.machine.progress.begins(self.count() as u64);
        if let Some(plan) = schedule::plan(self.machine.schedule) {
            return self.scheduled(plan, observer(), out);
        }
        #[cfg(feature = "threads")]
        let (state, trap) = match parallel::run(self, observer, out) {
            Outcome::Done(state) => (*state, None),
            Outcome::Stopped(state, trap) => (*state, Some(trap)),
            Outcome::InOrder => self.sequential(observer(), out),
            Outcome::LeftAllocation => {
                return (
                    Err(LaunchFailure::Invalid(InvalidLaunch::LeftAllocation)),
                    Left::default(),
                );
            }
        };
        #[cfg(not(feature = "threads"))]
        let (state, trap) = self.sequential(observer(), out);
        self.ended(state, trap)
    }

    /// Runs it under a schedule, with the memory model that the schedule asks for.
    fn scheduled<O: Observer>(
        &self,
        plan: Plan<'_>,
        observer: O,
        out: &mut dyn FnMut(&[u8]),
    ) -> (Result<LaunchReport, LaunchFailure>, Left) {
        match self.machine.memory {
            MemoryOrder::Strong => {
                let (state, trap, _) =
                    schedule::run(self, plan, (observer, engine::pausing()), out);
                self.ended(state, trap)
            }
            MemoryOrder::Weak => {
                let seed = match plan {
                    Plan::Random { seed, .. } => seed,
                    Plan::Fair | Plan::OneChange { .. } | Plan::Given(_) => {
                        self.machine.schedules.1
                    }
                };
                let views = Views::new(Choices::Random(seed), self.shape.threads());
                let observer = Seeing::new(observer, views);
                let (state, trap, _) = schedule::run(self, plan, (observer, engine::weak()), out);
                self.ended(state, trap)
            }
        }
    }

    /// The result of a launch.
    pub(crate) fn ended<O: Observer>(
        &self,
        mut state: Machine<'a, O>,
        trap: Option<Trap>,
    ) -> (Result<LaunchReport, LaunchFailure>, Left) {
        state.settle();
        let report = self.report(&state);
        let saved = self.blocks.map(|_| Saved::of(&state));
        let result = match trap {
            None => Ok(report),
            Some(trap) => Err(LaunchFailure::Trap {
                trap: Box::new(trap),
                report: Box::new(report),
            }),
        };
        let left = Left {
            stored: state.observer.stored(),
            touched: state.observer.touched(),
            saved,
        };
        (result, left)
    }

    /// Per region: whether the kernel's stores or atomics can reach it.
    pub(crate) fn written(&self) -> Vec<bool> {
        let mut written = self.reached(self.code.effects.stores.as_deref());
        for (written, region) in written.iter_mut().zip(&self.map.regions) {
            *written &= region.writable;
        }
        written
    }

    /// The regions that the launch may read, by base and size; `stored` are those that it may write.
    fn loaded(&self, stored: &[bool]) -> Vec<(u64, u64)> {
        // A kernel may also use the old values that atomics return.
        let communicates = self.code.effects.communicates;
        let loads = self.read().into_iter().zip(stored);
        let loads = loads.map(|(loads, &stored)| loads || communicates && stored);
        let regions = self.map.regions.iter().zip(loads);
        regions
            .filter(|(_, loads)| *loads)
            .map(|(region, _)| (region.base, region.size))
            .collect()
    }

    /// Per region: whether the kernel's loads can reach it.
    pub(crate) fn read(&self) -> Vec<bool> {
        self.reached(self.code.effects.loads.as_deref())
    }

    /// Per region: whether a pointer that starts from one of `roots` can reach it without leaving its allocation.
    fn reached(&self, roots: Option<&[Root]>) -> Vec<bool> {
        let Some(roots) = roots else {
            return vec![true; self.map.regions.len()];
        };
        let mut reached = vec![false; self.map.regions.len()];
        for root in roots {
            let address = match root {
                Root::Param(k) => self.shape.args[*k as usize],
                Root::Global(id) => self.memory.symbol_address(*id),
            };
            let region = self.map.regions[self.map.find(address) as usize];
            if region.holds(address, 0) {
                reached[region.index as usize] = true;
            } else if address != 0 {
                // The pointer starts outside every allocation, so it may reach any of them.
                return vec![true; self.map.regions.len()];
            }
        }
        reached
    }

    /// The state of a worker that has not counted anything yet.
    pub(crate) fn worker<O: Observer>(&self, observer: O) -> Machine<'a, O> {
        let module = self.program.module();
        let declared: Vec<Option<u32>> = self
            .code
            .sites
            .iter()
            .map(|site| match (site.access.object, site.root) {
                (Some(Object::Global(id)), _) | (None, Some(Root::Global(id))) => {
                    Some(self.map.find(self.memory.symbol_address(id)))
                }
                (None, Some(Root::Param(number))) => {
                    let start = self.shape.args[number as usize];
                    let region = self.map.regions[self.map.find(start) as usize];
                    region.holds(start, 0).then_some(region.index)
                }
                (Some(Object::Shared(_) | Object::Local(_) | Object::String(_)), _)
                | (None, None) => None,
            })
            .collect();
        Machine {
            module,
            function: module.function(self.kernel),
            code: self.code,
            memory: self.memory,
            map: self.map,
            shared: Vec::new(),
            patterns: {
                let pattern = match self.code.shortcuts.has(Shortcut::Patterns) {
                    true => Pattern::new(),
                    false => Pattern::never(),
                };
                vec![pattern; self.code.sites.len()]
            },
            rounds: vec![Patience::default(); self.code.rounds.len()],
            loaded: rounds::loaded(self.code),
            observer,
            regions: SiteRegions {
                last: declared.iter().map(|region| region.unwrap_or(0)).collect(),
                declared,
            },
            tracker: None,
            shape: self.shape,
            policy: Policy {
                rules: self.machine.rules,
                checks: self.machine.checks,
                limit: self.machine.limit.unwrap_or(u64::MAX),
                stop: &self.machine.stop,
                stack_bytes: self.memory.device_stack().max(routine::STACK_BYTES),
                order: self.machine.order,
                keep_going: self.machine.keep_going,
                independent_lanes: self.machine.rules.arch.has_independent_lanes(),
                has_like_warps: Shape::has_like_warps(self.shape.block),
            },
            record: Record {
                reach: match self.looks {
                    true => Reach::new(self.shape.grid, self.code.counters.len()),
                    false => Reach::default(),
                },
                ..Record::new(self.code.insts.len())
            },
            pass: Pass::default(),
            replay: Replay::new(
                self.program.kept(self.kernel),
                self.code,
                self.count(),
                self.machine.jobs,
            ),
            is_point: Vec::new(),
            parts_early: false,
            shift: 0,
            block: 0,
        }
    }

    /// All blocks in order on this thread.
    fn sequential<O: Observer>(
        &self,
        observer: O,
        out: &mut dyn FnMut(&[u8]),
    ) -> (Machine<'a, O>, Option<Trap>) {
        self.machine.progress.begins_again();
        let mut machine = self.worker(observer);
        let engine = engine::engine(self.code.shortcuts);
        let blocks = self.count() as u64;
        let resident = resident_blocks(self.machine, &self.shape);
        let mut next = 0;
        let mut suspended: VecDeque<Block> = VecDeque::new();
        let mut spare = None;
        let mut unmoved = 0;
        while next < blocks || !suspended.is_empty() {
            let (block, turn) = if next < blocks && suspended.len() < resident {
                let mut block = spare
                    .take()
                    .unwrap_or_else(|| Block::new(self.code, &self.shape, self.memory));
                let number = self.block(self.machine.order.number(next, blocks));
                next += 1;
                let turn = block.run(number, &mut machine, &engine);
                (block, turn)
            } else {
                let mut block = suspended.pop_front().expect("blocks are left");
                let turn = block.turn(&mut machine, engine.run);
                (block, turn)
            };
            let mut block = block;
            match turn {
                Turn::Done => {
                    self.machine.progress.ended(1);
                    if !block.printed.is_empty() {
                        out(&block.printed);
                        block.printed.clear();
                    }
                    spare = Some(block);
                    unmoved = 0;
                }
                Turn::Stuck => {
                    unmoved = if block.moved { 0 } else { unmoved + 1 };
                    suspended.push_back(block);
                    let full = next >= blocks || suspended.len() >= resident;
                    if full && unmoved > suspended.len() {
                        // In lockstep no warp can go on. On an architecture with independent lanes, lanes that wait for
                        // others of their warp can.
                        if machine.policy.independent_lanes && part(&mut suspended, &mut machine) {
                            (machine.parts_early, unmoved) = (true, 0);
                            continue;
                        }
                        let trap = self.deadlock(&machine, &suspended);
                        return (machine, Some(trap));
                    }
                }
                Turn::Fault { warp, fault } => {
                    out(&block.printed);
                    let trap = self.trap(&machine, &block, warp, *fault);
                    return (machine, Some(trap));
                }
            }
        }
        (machine, None)
    }

    /// The launches that threads made, one level below this launch.
    fn children(&self, launched: &[ChildLaunch]) -> Vec<ChildLaunch> {
        let mut children = launched.to_vec();
        for child in &mut children {
            child.config.depth = self.config.depth + 1;
        }
        children
    }

    /// How often the launch loads the bytes of global memory.
    fn loaded_again(
        &self,
        counts: &LaunchCounts,
        reused: &dyn Fn(&[usize], u64) -> Option<Reuse>,
    ) -> Option<Reuse> {
        let counters = self.code.counters.iter().enumerate();
        let loads = counters
            .filter(|(_, counter)| is_global(counter.space) && counter.op == AccessOp::Load);
        let loads: Vec<usize> = loads.map(|(at, _)| at).collect();
        reused(&loads, counts.global_load.bytes)
    }

    /// Sums the observer's counts by space and operation, and describes each site that was executed.
    fn report<O: Observer>(&self, machine: &Machine<'_, O>) -> LaunchReport {
        let module = self.program.module();
        let mut counts = LaunchCounts {
            warps: machine.record.totals.warps,
            warp_instructions: machine.record.totals.warp_instructions,
            thread_instructions: machine.record.totals.thread_instructions,
            branches: machine.record.totals.branches,
            divergent_branches: machine.record.totals.divergent_branches,
            barriers: machine.record.totals.barriers,
            idle_blocks: machine.record.totals.idle_blocks,
            ..LaunchCounts::default()
        };
        let mut sites: Vec<Site> = Vec::new();
        let reach = &machine.record.reach;
        let reused =
            |counters: &[usize], bytes: u64| reach.reuse(counters, self.config.grid, bytes);
        let counted = machine
            .observer
            .counts()
            .iter()
            .zip(machine.observer.worst());
        for (counter, (site_counts, worst)) in self.code.counters.iter().zip(counted) {
            let total = match (counter.space, counter.op) {
                (Space::Shared, AccessOp::Load) => Some(&mut counts.shared_load),
                (Space::Shared, AccessOp::Store) => Some(&mut counts.shared_store),
                (Space::Shared, AccessOp::Atomic) => Some(&mut counts.shared_atomic),
                (space, AccessOp::Load) if is_global(space) => Some(&mut counts.global_load),
                (space, AccessOp::Store) if is_global(space) => Some(&mut counts.global_store),
                (space, AccessOp::Atomic) if is_global(space) => Some(&mut counts.global_atomic),
                _ => None,
            };
            if let Some(total) = total {
                total.merge(site_counts);
            }
            let loc = module.loc(counter.loc);
            sites.push(Site {
                loc: counter.loc,
                file: loc.file,
                line: loc.line,
                column: loc.column,
                text: loc.text.clone(),
                space: counter.space,
                op: counter.op,
                width_bytes: counter.width_bytes,
                counts: site_counts.clone(),
                reuse: None,
                witness: worst.witness(|index| self.shape.block_index(index)),
            });
        }
        let statement = module.locs.get(self.config.loc.index());
        let statement = statement.map(|_| Statement::of(module, self.config.loc));
        LaunchReport {
            kernel: self.kernel,
            kernel_name: module.function(self.kernel).name.clone(),
            grid: self.config.grid,
            block: self.config.block,
            shared: SharedBytes {
                fixed: self.code.memory.shared_bytes,
                dynamic: self.config.shared_bytes,
            },
            statement: statement.unwrap_or_default(),
            reuse: self.loaded_again(&counts, &reused),
            counts,
            sites: places::merged(sites, &reused),
            branches: places::branches(&machine.record.divergence, self.code, module),
            barriers: places::barriers(&machine.record.barriers, self.code, module),
            order: OrderReport::default(),
            children: self.children(&machine.record.launched),
            skipped: machine
                .record
                .skipped
                .iter()
                .map(|skipped| skipped.fault.clone())
                .collect(),
            forgot: machine.observer.forgets(),
            printf_calls: machine.record.printf_calls,
            compiled: report::CompiledCounts::of_ptx(module.function(self.kernel)),
            trace: machine.observer.trace(),
            findings: machine.observer.findings(&Scene {
                module,
                function: module.function(self.kernel),
                code: self.code,
                shape: &self.shape,
                memory: self.memory,
                map: self.map,
            }),
        }
    }
}
