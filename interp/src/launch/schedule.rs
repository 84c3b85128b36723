//! Runs a launch under a schedule: a plan decides which warp runs next, and for how long.
//!
//! A warp runs until it ends, waits, has spun for a while, or has passed a number of *points*: accesses at which the
//! order of threads can matter. The turns that follow from the plan are recorded as [`Segment`]s. A plan may also be
//! such a list, so that a run can be repeated and made shorter.
//!
//! Random plans use probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the warp with the highest
//! random priority runs; at `depth - 1` random points the running warp gets the lowest priority. A bug that needs
//! `depth` ordered steps is found with a probability of at least one in `warps * points^(depth - 1)`. At such a point
//! lanes of the warp may also diverge, if the architecture lets them.

use std::collections::{HashMap, VecDeque};

use ir::LocId;

use crate::config::Schedule;
use crate::fault::finding::TurnEnd;
use crate::fault::trap::{AccessOp, Trap};
use crate::isa::bytecode::MemSite;
use crate::isa::op::Op;
use crate::launch::{Run, part, resident_blocks};
use crate::machine::Machine;
use crate::machine::block::{Block, Met, Ran};
use crate::machine::engine::Runner;
use crate::machine::warp::WarpState;
use crate::machine::weak;
use crate::observe::Observer;
use crate::views::random::Random;

mod choice;

use choice::First;

/// The largest random part of a seed, so that seeds have few digits to type.
const SEEDS: u64 = (1 << 24) - 1;
/// Iterations of a loop after which a warp counts as spinning.
const SLICE: u32 = 16;
/// Turns in which warps only spin, without an access that changes anything, after which the launch counts as stuck.
const MAX_IDLE_TURNS: u32 = 64;
/// Instead of a count, for a warp whose state is unchanged: it will not go on by itself.
const STILL: u32 = u32::MAX;
/// Turns after which a warp counts as stuck although its variables change, in a kernel whose threads wait for each
/// other.
const MOST_PATIENCE: u32 = 1024;
/// Turns for which a spinning warp keeps its priority.
const PATIENT_TURNS: u32 = 8;
/// The most warps that exist at one time.
const MAX_WARPS: usize = 4096;

/// Lanes that continue separately from their warp after a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Split {
    /// The lanes that wait for the others.
    Waiting,
    /// These of the active lanes.
    Lanes(u32),
}

/// A warp's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) block: u64,
    /// Its place in the block's list.
    pub(crate) place: usize,
    pub(crate) warp: u32,
    /// The lanes that ran last.
    pub(crate) lanes: u32,
    /// The number of points it passed.
    pub(crate) points: u64,
    pub(crate) end: TurnEnd,
    pub(crate) split: Option<Split>,
    /// The next instruction; for a warp that ended, its last.
    pub(crate) next: LocId,
}

/// The order of turns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan<'a> {
    /// All warps in turn, one point each.
    Fair,
    /// At random, with this many points expected.
    Random { seed: u64, depth: u32, points: u64 },
    /// In ascending or descending order. At the point the running warp gets the lowest priority.
    OneChange { point: u64, is_descending: bool },
    /// These turns, then in order.
    Given(&'a [Segment]),
}

/// The plan of a schedule; `None` for the usual order.
pub(crate) fn plan(schedule: Schedule) -> Option<Plan<'static>> {
    match schedule {
        Schedule::Lockstep => None,
        Schedule::Fair => Some(Plan::Fair),
        Schedule::Adversarial(seed) if seed & 63 == ONE_CHANGE => Some(Plan::OneChange {
            point: seed >> 9,
            is_descending: seed >> 8 & 1 == 1,
        }),
        Schedule::Adversarial(seed) => Some(Plan::Random {
            seed,
            depth: 1 + (seed >> 6 & 3) as u32,
            points: 1 << (seed & 63),
        }),
    }
}

/// Marks a seed as not random. It is in the low bits, where other seeds have the points. The remaining bits name the
/// one point with a change.
const ONE_CHANGE: u64 = 63;

/// The seed of one schedule out of `count`. `points` is the number of points of the launch in the usual order. The seed
/// holds everything that a run needs.
///
/// Every fourth schedule is not random: it takes the usual order, or its reverse, and changes it at one point. For a
/// short launch these cover all points.
pub(crate) fn seed(random: u64, (index, count): (u32, u32), points: u64) -> u64 {
    if index >= 4 && index.is_multiple_of(4) {
        let number = u64::from(index / 4 - 1);
        let (point, is_descending) = (number / 2, number % 2);
        let points_each = points / u64::from(count / 8).max(1);
        let point = point.saturating_mul(points_each.max(1)) & (SEEDS >> 1);
        return (point << 1 | is_descending) << 8 | ONE_CHANGE;
    }
    let depth = u64::from(index % 4);
    let log = 64 - u64::from(points.max(1).leading_zeros());
    (random & SEEDS) << 8 | depth << 6 | log.min(40)
}

/// A warp, or lanes that run separately from their warp.
type Agent = (u64, usize);

/// What the scheduler knows of a warp.
#[derive(Clone, Copy, Debug, Default)]
struct WarpTurns {
    priority: i64,
    /// When it ran last.
    turn: u64,
    /// The memory state in which it spun last, its own state then, and how often it spun.
    idle: Option<(u64, u64, u32)>,
    /// The memory state in which it paused last, and where.
    paused: Option<(u64, u32)>,
}

struct Scheduler<'r, 'a, 'p, O> {
    run: &'r Run<'a>,
    plan: Plan<'p>,
    machine: Machine<'a, O>,
    /// An engine that pauses.
    engine: Runner<O>,
    /// Blocks that have begun and not ended.
    blocks: VecDeque<Block>,
    /// By block, where it is known, because examining thousands of warps for each turn is too slow.
    firsts: VecDeque<Option<First>>,
    next_block: u64,
    known: HashMap<Agent, WarpTurns>,
    random: Random,
    /// Points at which the plan changes the order, the next one last.
    changes: Vec<u64>,
    points: u64,
    turn: u64,
    /// Grows when memory or a warp's state changes.
    state: u64,
    /// The lowest priority so far.
    lowest: i64,
    /// Turns that a warp may spin in this state before others go first.
    patience: u32,
    /// How many of the given segments are done, and how many points of the next one.
    given: (usize, u64),
    segments: Vec<Segment>,
}

/// Runs a launch. Returns the machine, the trap that ended the launch, and the turns.
pub(crate) fn run<'a, O: Observer>(
    run: &Run<'a>,
    plan: Plan<'_>,
    (observer, engine): (O, Runner<O>),
    out: &mut dyn FnMut(&[u8]),
) -> (Machine<'a, O>, Option<Trap>, Vec<Segment>) {
    let mut machine = run.worker(observer);
    machine.is_point = points(run);
    let mut random = Random(0);
    let mut changes = Vec::new();
    if let Plan::Random {
        seed,
        depth,
        points,
    } = plan
    {
        random = Random(seed);
        changes = (1..depth).map(|_| random.below(points)).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
    }
    if let Plan::OneChange { point, .. } = plan {
        changes = vec![point];
    }
    let mut scheduler = Scheduler {
        run,
        plan,
        machine,
        engine,
        blocks: VecDeque::new(),
        firsts: VecDeque::new(),
        next_block: 0,
        known: HashMap::new(),
        random,
        changes,
        points: 0,
        turn: 0,
        state: 0,
        lowest: 0,
        patience: MAX_IDLE_TURNS,
        given: (0, 0),
        segments: Vec::new(),
    };
    let trap = scheduler.all(out).err();
    let Scheduler {
        machine, segments, ..
    } = scheduler;
    (machine, trap.map(|trap| *trap), segments)
}

/// For each instruction: whether the order of threads can matter there.
fn points(run: &Run<'_>) -> Vec<bool> {
    let effects = &run.code.effects;
    let is_written = |site: &MemSite| match (&effects.stores, site.root) {
        (Some(stores), Some(root)) => stores.contains(&root),
        (None, _) | (_, None) => true,
    };
    let insts = run.code.insts.iter();
    insts
        .map(|inst| {
            // Local memory is private to a thread.
            let is_local = matches!(inst.op, Op::LoadLocal | Op::StoreLocal | Op::AtomicLocal);
            inst.op.is_access() && !is_local && {
                let site = &run.code.sites[inst.c as usize];
                let waits = site.access.volatile || site.op != AccessOp::Load;
                waits || inst.op == Op::LoadShared || site.frozen.is_none() && is_written(site)
            }
        })
        .collect()
}

impl<O: Observer> Scheduler<'_, '_, '_, O> {
    fn all(&mut self, out: &mut dyn FnMut(&[u8])) -> Result<(), Box<Trap>> {
        let blocks = self.run.config.blocks() as u64;
        let warps = self.run.shape.threads().div_ceil(32) as usize;
        let resident = resident_blocks(self.run.machine, &self.run.shape);
        let most = resident.min(MAX_WARPS / warps.max(1)).max(1);
        loop {
            while self.blocks.len() < most && self.next_block < blocks {
                self.begin_block();
            }
            if self.blocks.is_empty() {
                return Ok(());
            }
            match self.choose() {
                Some((slot, place)) => self.turn(slot, place, out)?,
                None => self.unlock()?,
            }
        }
    }

    fn begin_block(&mut self) {
        let (code, shape) = (self.run.code, &self.run.shape);
        let mut block = Block::new(code, shape, self.run.memory);
        block.begin(self.next_block, code, shape);
        self.next_block += 1;
        self.machine.record.totals.warps += block.warps.len() as u64;
        for place in 0..block.warps.len() {
            self.learn((block.index, place));
        }
        self.blocks.push_back(block);
        self.firsts.push_back(None);
    }

    /// Adds a warp that begins, or lanes that separate from their warp.
    fn learn(&mut self, agent: Agent) {
        let priority = match self.plan {
            Plan::Random { .. } => (self.random.next() >> 2) as i64,
            Plan::OneChange { is_descending, .. } => {
                let number = agent.0.saturating_mul(MAX_WARPS as u64) as i64 + agent.1 as i64;
                if is_descending {
                    number
                } else {
                    i64::MAX - number
                }
            }
            Plan::Fair | Plan::Given(_) => 0,
        };
        let known = WarpTurns {
            priority,
            ..WarpTurns::default()
        };
        self.known.insert(agent, known);
    }

    /// How many points the next turn may take.
    fn share(&self, agent: Agent, pc: u32) -> u64 {
        match self.plan {
            // If nothing has changed since it paused there, it polls, and may spin until it counts as spinning.
            Plan::Fair => match self.known.get(&agent).and_then(|known| known.paused) {
                Some(paused) if paused == (self.state, pc) => u64::MAX,
                Some(_) | None => 1,
            },
            Plan::Random { .. } | Plan::OneChange { .. } => self
                .changes
                .last()
                .map_or(u64::MAX, |change| change.saturating_sub(self.points)),
            Plan::Given(segments) => match segments.get(self.given.0) {
                Some(segment) if segment.end == TurnEnd::Paused => {
                    segment.points.saturating_sub(self.given.1)
                }
                Some(_) | None => u64::MAX,
            },
        }
    }

    fn turn(
        &mut self,
        slot: usize,
        place: usize,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Box<Trap>> {
        let block = &self.blocks[slot];
        let share = self.share((block.index, place), block.warps[place].pc);
        let block = &mut self.blocks[slot];
        let machine = &mut self.machine;
        machine.pass.watch = true;
        machine.pass.changed = false;
        (machine.pass.slice, machine.pass.points) = (SLICE, share);
        block.enter(machine);
        let ran = block.run_warp(place, machine, self.engine);
        let used = share - machine.pass.points;
        let changed = machine.pass.changed;
        let ran = match ran {
            Ok(ran) => ran,
            Err((place, fault)) => {
                block.leave(machine, false);
                out(&block.printed);
                return Err(Box::new(self.run.trap(
                    machine,
                    &self.blocks[slot],
                    place,
                    *fault,
                )));
            }
        };
        self.points += used;
        self.turn += 1;
        let warp = &block.warps[place];
        let end = match (ran, warp.state) {
            (Ran::Paused, _) => TurnEnd::Paused,
            (Ran::Yielded, _) => TurnEnd::Spun,
            (_, WarpState::Done) => TurnEnd::Ended,
            (Ran::Advanced | Ran::Goes, _) => TurnEnd::Waits,
        };
        let pc = match warp.state {
            WarpState::Done | WarpState::AtBarrier | WarpState::AtNumbered(_) => {
                warp.pc.saturating_sub(1)
            }
            WarpState::Ready | WarpState::AtSync => warp.pc,
        };
        let segment = Segment {
            block: block.index,
            place,
            warp: warp.number,
            lanes: warp.mask,
            points: used,
            end,
            split: None,
            next: self.run.code.locs[pc as usize],
        };
        let agent = (block.index, place);
        let digest = (ran == Ran::Yielded).then(|| block.warps[place].digest());
        if changed || matches!(ran, Ran::Advanced | Ran::Goes) {
            self.changes_state();
        }
        let (block, machine) = (&mut self.blocks[slot], &mut self.machine);
        let has_ended = settle(block, machine).map_err(|(place, fault)| {
            Box::new(self.run.trap(machine, &self.blocks[slot], place, *fault))
        })?;
        self.note(segment);
        if let Some(views) = self.machine.observer.views() {
            views.mark(self.segments.len() - 1);
        }
        self.after(agent, segment, (pc, digest));
        self.firsts[slot] = None;
        if has_ended {
            out(&self.blocks[slot].printed);
            self.blocks.remove(slot);
            self.firsts.remove(slot);
            self.run.machine.progress.ended(1);
        } else if end == TurnEnd::Paused {
            self.paused(slot, place);
        }
        Ok(())
    }

    /// Records a turn.
    fn note(&mut self, segment: Segment) {
        match self.segments.last_mut() {
            Some(last)
                if (last.block, last.place) == (segment.block, segment.place)
                    && last.split.is_none() =>
            {
                let points = last.points + segment.points;
                *last = Segment { points, ..segment };
            }
            _ => self.segments.push(segment),
        }
    }

    /// Updates what is known of a warp after its turn.
    fn after(&mut self, agent: Agent, turn: Segment, (pc, digest): (u32, Option<u64>)) {
        let (state, end) = (self.state, turn.end);
        let known = self.known.entry(agent).or_default();
        known.turn = self.turn;
        known.paused = (end == TurnEnd::Paused).then_some((state, pc));
        if let Some(digest) = digest {
            // A loop without points does not wait for anything.
            let polls = u32::from(turn.points > 0);
            let (was, times) = match known.idle {
                Some((at, was, times)) if at == state => (Some(was), times.saturating_add(polls)),
                _ => (None, 0),
            };
            let stands_still = was == Some(digest);
            let times = if stands_still { STILL } else { times };
            known.idle = Some((state, digest, times));
            // A loop that computes keeps its priority, and one that waits loses it.
            if stands_still || times >= PATIENT_TURNS {
                self.lowest -= 1;
                known.priority = self.lowest;
            }
        }
        if let Plan::Given(segments) = self.plan
            && let Some(segment) = segments.get(self.given.0)
        {
            self.given.1 += turn.points;
            if end != TurnEnd::Spun || segment.end == TurnEnd::Spun {
                self.given = (self.given.0 + 1, 0);
            }
        }
    }

    /// The turn ended because the plan said so.
    fn paused(&mut self, slot: usize, place: usize) {
        let block = self.blocks[slot].index;
        let split = match self.plan {
            Plan::Fair => None,
            Plan::Random { .. } => {
                self.change(block, place);
                self.wanted_split(slot, place)
            }
            Plan::OneChange { .. } => {
                self.change(block, place);
                None
            }
            Plan::Given(segments) => segments
                .get(self.given.0.wrapping_sub(1))
                .and_then(|segment| segment.split),
        };
        let Some(split) = split.filter(|_| self.machine.policy.independent_lanes) else {
            return;
        };
        self.finish(slot, place);
        let parts = match split {
            Split::Waiting => self.blocks[slot].part_at(place, &mut self.machine),
            Split::Lanes(lanes) => self.blocks[slot].split_at(place, lanes, &mut self.machine),
        };
        if let Some(to) = parts {
            if let Some(last) = self.segments.last_mut() {
                last.split = Some(split);
            }
            self.learn((block, to));
        }
    }

    /// Gives the warp the lowest priority.
    fn change(&mut self, block: u64, place: usize) {
        self.changes.pop();
        self.lowest -= 1;
        if let Some(known) = self.known.get_mut(&(block, place)) {
            known.priority = self.lowest;
        }
    }

    /// Performs the delayed accesses of a warp, because its lanes will not run together any more.
    fn finish(&mut self, slot: usize, place: usize) {
        let (block, machine) = (&mut self.blocks[slot], &mut self.machine);
        if machine.observer.views().is_none() {
            return;
        }
        block.enter(machine);
        let warp = &mut block.warps[place];
        machine.observer.begin_warp(warp.number, place);
        let r = warp.registers.view();
        let done = weak::later::all(machine, r, &mut warp.local);
        debug_assert!(done.is_ok(), "only what is allowed waits");
        block.leave(machine, false);
        self.changes_state();
    }

    /// The lanes that separate now, if any.
    fn wanted_split(&mut self, slot: usize, place: usize) -> Option<Split> {
        let choice = self.random.next();
        let warp = &self.blocks[slot].warps[place];
        let waiting = warp.lanes & !warp.gone & !warp.mask;
        let some = (choice >> 32) as u32 & warp.mask;
        match choice & 3 {
            0 if waiting != 0 => Some(Split::Waiting),
            1 if some != 0 && some != warp.mask => Some(Split::Lanes(some)),
            _ => None,
        }
    }

    /// Whether the state of some spinning warp still changes, although no memory does.
    fn moves(&self) -> bool {
        let all = self.blocks.iter().flat_map(|block| {
            let warps = block.warps.iter().enumerate();
            let ready = warps.filter(|(_, warp)| warp.state == WarpState::Ready);
            ready.map(|(place, _)| (block.index, place))
        });
        let times = |agent: Agent| self.known.get(&agent)?.idle.map(|(_, _, times)| times);
        all.filter_map(times).any(|times| times < STILL)
    }

    fn changes_state(&mut self) {
        self.state += 1;
        self.patience = MAX_IDLE_TURNS;
    }

    /// No warp can run. Lets lanes that wait for others of their warp go on, or gives warps whose variables change more
    /// rounds; otherwise it is a deadlock.
    fn unlock(&mut self) -> Result<(), Box<Trap>> {
        let independent = self.machine.policy.independent_lanes;
        if independent && part(&mut self.blocks, &mut self.machine) {
            self.firsts.iter_mut().for_each(|first| *first = None);
            self.changes_state();
            return Ok(());
        }
        let waits = !self.run.code.effects.polls.waits.is_empty();
        if self.moves() && (!waits || self.patience < MOST_PATIENCE) {
            self.patience = self.patience.saturating_mul(2).min(STILL - 1);
            return Ok(());
        }
        Err(Box::new(self.run.deadlock(&self.machine, &self.blocks)))
    }
}

/// After a turn: releases the block's waiting threads if all have arrived. Returns whether the block has ended.
fn settle<O: Observer>(
    block: &mut Block,
    machine: &mut Machine<'_, O>,
) -> Result<bool, (usize, Box<crate::machine::Fault>)> {
    block.release(machine);
    let mut has_ended = false;
    while !has_ended
        && !block
            .warps
            .iter()
            .any(|warp| warp.state == WarpState::Ready)
    {
        match block.meet(machine) {
            Met::Open => {}
            Met::Ends => has_ended = true,
            Met::Stuck => break,
            Met::Fault { warp, fault } => {
                block.leave(machine, false);
                return Err((warp, fault));
            }
        }
    }
    block.leave(machine, has_ended);
    Ok(has_ended)
}
