//! A launch under a schedule of its own: which warp runs next, and for how long, is a plan's to say.
//!
//! A warp runs until it ends, waits or has spun for a while, or for a number of *points*: accesses at which the order of threads can
//! matter. Everything that follows from the plan is written down as [`Segment`]s, and a plan may be such a list, so that a run can be
//! repeated, and made shorter.
//!
//! Random plans are those of probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the warp with the highest random priority
//! runs; at `depth - 1` random points the one that runs gets the lowest. A bug that needs `depth` ordered steps is found with a
//! probability of at least one in `warps * points^(depth - 1)`. At such a point lanes of the warp may part, too, where the architecture lets them.

use std::collections::{HashMap, VecDeque};

use dsl::ir::LocId;

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

/// Random numbers of which a seed is made: few digits to type.
const SEEDS: u64 = (1 << 24) - 1;
/// Rounds of a loop before a warp counts as one that spins.
const SLICE: u32 = 16;
/// Turns in which warps only spin, with no access that changes anything, before the launch counts as stuck.
const MAX_IDLE_TURNS: u32 = 64;
/// Turns in which a warp that changes nothing keeps its priority.
const PATIENT_TURNS: u32 = 8;
/// Warps that are there at one time.
const MAX_WARPS: usize = 4096;

/// Lanes that go on apart from their warp at the end of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Split {
    /// Those that wait for the others.
    Waiting,
    /// These of the active ones.
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
    /// So many points.
    pub(crate) points: u64,
    pub(crate) end: TurnEnd,
    pub(crate) split: Option<Split>,
    /// The instruction that is next; of one that ended, its last.
    pub(crate) next: LocId,
}

/// Who runs when.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan<'a> {
    /// All in turn, a point each.
    Fair,
    /// At random, with so many points expected.
    Random { seed: u64, depth: u32, points: u64 },
    /// These turns; then in order.
    Given(&'a [Segment]),
}

/// What a schedule asks for, if it is not the usual order.
pub(crate) fn plan(schedule: Schedule) -> Option<Plan<'static>> {
    match schedule {
        Schedule::Lockstep => None,
        Schedule::Fair => Some(Plan::Fair),
        Schedule::Adversarial(seed) => Some(Plan::Random {
            seed,
            depth: 1 + (seed >> 6 & 3) as u32,
            points: 1 << (seed & 63),
        }),
    }
}

/// The seed of a random schedule: `points` are those of the launch in the usual order. All that a run needs is in it.
pub(crate) fn seed(random: u64, index: u32, points: u64) -> u64 {
    let depth = u64::from(index % 4);
    let log = 64 - u64::from(points.max(1).leading_zeros());
    (random & SEEDS) << 8 | depth << 6 | log.min(40)
}

/// A warp, or the lanes that run apart from theirs.
type Agent = (u64, usize);

/// What the scheduler knows of a warp.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    priority: i64,
    /// When it ran last.
    turn: u64,
    /// In which state of the memory it has spun, how it stood, and how often.
    idle: Option<(u64, u64, u32)>,
    /// In which state it paused last, and where.
    paused: Option<(u64, u32)>,
}

struct Scheduler<'r, 'a, 'p, O> {
    run: &'r Run<'a>,
    plan: Plan<'p>,
    machine: Machine<'a, O>,
    /// One that pauses.
    engine: Runner<O>,
    /// Those that have begun and not ended.
    blocks: VecDeque<Block>,
    next_block: u64,
    known: HashMap<Agent, Known>,
    random: Random,
    /// Points at which the plan changes, the next one last.
    changes: Vec<u64>,
    points: u64,
    turn: u64,
    /// Grows when memory or a warp's state changes.
    state: u64,
    /// The lowest priority so far.
    lowest: i64,
    /// How many of the given segments are done, and points of the next.
    given: (usize, u64),
    segments: Vec<Segment>,
}

/// Runs a launch; gives the machine, what ended the launch, and the turns.
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
    let mut scheduler = Scheduler {
        run,
        plan,
        machine,
        engine,
        blocks: VecDeque::new(),
        next_block: 0,
        known: HashMap::new(),
        random,
        changes,
        points: 0,
        turn: 0,
        state: 0,
        lowest: 0,
        given: (0, 0),
        segments: Vec::new(),
    };
    let trap = scheduler.all(out).err();
    let Scheduler {
        machine, segments, ..
    } = scheduler;
    (machine, trap.map(|trap| *trap), segments)
}

/// By instruction: whether the order of threads can matter there.
fn points(run: &Run<'_>) -> Vec<bool> {
    let effects = &run.code.effects;
    let is_written = |site: &MemSite| match (&effects.stores, site.root) {
        (Some(stores), Some(root)) => stores.contains(&root),
        (None, _) | (_, None) => true,
    };
    let insts = run.code.insts.iter();
    insts
        .map(|inst| {
            // Nobody else sees a thread's own memory.
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
    }

    /// A warp begins, or lanes part from theirs.
    fn learn(&mut self, agent: Agent) {
        let priority = match self.plan {
            Plan::Random { .. } => (self.random.next() >> 2) as i64,
            Plan::Fair | Plan::Given(_) => 0,
        };
        let known = Known {
            priority,
            ..Known::default()
        };
        self.known.insert(agent, known);
    }

    /// The warp whose turn it is: the block's place in the list, and the warp's in the block.
    fn choose(&mut self) -> Option<(usize, usize)> {
        let blocks = self.blocks.iter().enumerate();
        let ready = blocks.flat_map(|(slot, block)| {
            let warps = block.warps.iter().enumerate();
            let ready = warps.filter(|(_, warp)| warp.state == WarpState::Ready);
            ready.map(move |(place, _)| (slot, place, (block.index, place)))
        });
        // Who has spun in this state of the memory would spin on.
        let idle = |agent: &Agent| match self.known.get(agent).and_then(|known| known.idle) {
            Some((state, _, times)) => state == self.state && times >= MAX_IDLE_TURNS,
            None => false,
        };
        let ready: Vec<_> = ready.filter(|(_, _, agent)| !idle(agent)).collect();
        if let Plan::Given(segments) = self.plan {
            while let Some(segment) = segments.get(self.given.0) {
                let wanted = |(_, _, agent): &&(usize, usize, Agent)| {
                    *agent == (segment.block, segment.place)
                };
                if let Some(&(slot, place, _)) = ready.iter().find(wanted) {
                    return Some((slot, place));
                }
                self.given = (self.given.0 + 1, 0);
            }
        }
        let known = |agent: &Agent| self.known.get(agent).copied().unwrap_or_default();
        let key = |&&(_, _, agent): &&(usize, usize, Agent)| {
            let known = known(&agent);
            let first = match self.plan {
                Plan::Fair => (0, known.turn),
                Plan::Random { .. } | Plan::Given(_) => (-known.priority, 0),
            };
            (first, agent)
        };
        ready
            .iter()
            .min_by_key(key)
            .map(|&(slot, place, _)| (slot, place))
    }

    /// How many points the next turn may take.
    fn share(&self, agent: Agent, pc: u32) -> u64 {
        match self.plan {
            // Where nothing has changed since it paused there, it polls: it may spin until it counts as one that does.
            Plan::Fair => match self.known.get(&agent).and_then(|known| known.paused) {
                Some(paused) if paused == (self.state, pc) => u64::MAX,
                Some(_) | None => 1,
            },
            Plan::Random { .. } => self
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
        if changed || matches!(ran, Ran::Advanced | Ran::Goes) {
            self.state += 1;
        }
        let digest = (ran == Ran::Yielded).then(|| block.warps[place].digest());
        let has_ended = settle(block, machine).map_err(|(place, fault)| {
            Box::new(self.run.trap(machine, &self.blocks[slot], place, *fault))
        })?;
        self.note(segment);
        if let Some(views) = self.machine.observer.views() {
            views.mark(self.segments.len() - 1);
        }
        self.after(agent, segment, (pc, digest));
        if has_ended {
            out(&self.blocks[slot].printed);
            self.blocks.remove(slot);
            self.run.machine.progress.ended(1);
        } else if end == TurnEnd::Paused {
            self.paused(slot, place);
        }
        Ok(())
    }

    /// Writes a turn down.
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

    /// What a turn means for the next ones of that warp.
    fn after(&mut self, agent: Agent, turn: Segment, (pc, digest): (u32, Option<u64>)) {
        let (state, end) = (self.state, turn.end);
        let known = self.known.entry(agent).or_default();
        known.turn = self.turn;
        known.paused = (end == TurnEnd::Paused).then_some((state, pc));
        if let Some(digest) = digest {
            let (was, times) = match known.idle {
                Some((at, was, times)) if at == state => (Some(was), times + 1),
                _ => (None, 0),
            };
            let stands_still = was == Some(digest);
            let times = if stands_still { MAX_IDLE_TURNS } else { times };
            known.idle = Some((state, digest, times));
            // A loop that computes keeps its turn, one that waits gives it away.
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

    /// The plan wanted the turn to end.
    fn paused(&mut self, slot: usize, place: usize) {
        let block = self.blocks[slot].index;
        let split = match self.plan {
            Plan::Fair => None,
            Plan::Random { .. } => {
                self.changes.pop();
                self.lowest -= 1;
                if let Some(known) = self.known.get_mut(&(block, place)) {
                    known.priority = self.lowest;
                }
                self.wanted_split(slot, place)
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

    /// Accesses of a warp that wait are done, since its lanes will not run together any more.
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
        self.state += 1;
    }

    /// Whether lanes part now, and which.
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

    /// Nobody can run: lanes that wait for their warp's others go on, or it is a deadlock.
    fn unlock(&mut self) -> Result<(), Box<Trap>> {
        let independent = self.machine.policy.independent_lanes;
        if independent && part(&mut self.blocks, &mut self.machine) {
            self.state += 1;
            return Ok(());
        }
        Err(Box::new(self.run.deadlock(&self.blocks)))
    }
}

/// After a turn: lets waiting threads of the block go on, if all have come. Whether it has ended.
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
