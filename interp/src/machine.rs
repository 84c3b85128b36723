//! The machine of one worker: the code, memory and counters it uses while it runs blocks of a launch.

pub(crate) mod block;
pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod explain;
pub(crate) mod fragment;
mod hits;
mod idle;
mod idle_tail;
pub(crate) mod level;
mod meeting;
pub(crate) mod numbered;
pub(crate) mod ops;
pub(crate) mod replay;
#[cfg_attr(
    not(feature = "threads"),
    allow(dead_code, reason = "only blocks side by side are tracked")
)]
pub(crate) mod track;
mod vectors;
pub(crate) mod warp;
pub(crate) mod weak;

use crate::coded::{Coded, coded};
use crate::fault::trap::SkippedAccess;
use crate::isa::grid::Shape;
use crate::isa::registers::Registers;
use crate::memory::map::{GlobalMap, GlobalRegion};
use std::mem::Discriminant;

use ir::{Function, LocId, Module, Space};

use crate::config::{Checks, ChildLaunch, Order};
use crate::count::pattern::Pattern;
use crate::count::reuse::Reach;
use crate::fault::stop::StopFlag;
use crate::fault::trap::{Trap, TrapKind};
use crate::isa::bytecode::{Code, Inst};
use crate::machine::block::Turn;
use crate::machine::explain::{Thread, explain};
use crate::machine::idle_tail::IdleTail;
use crate::machine::replay::Replay;
use crate::machine::track::Tracker;
use crate::machine::warp::Warp;
use crate::memory::Memory;
use crate::observe::Observer;
use crate::patience::Patience;
use crate::rules::RuleSet;

impl GlobalRegion {
    /// Whether all `len` bytes at `address` are inside.
    #[inline]
    pub(crate) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size && len <= self.size - offset
    }
}

/// Totals that are not counted by site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) warps: u64,
    pub(crate) warp_instructions: u64,
    pub(crate) thread_instructions: u64,
    pub(crate) branches: u64,
    pub(crate) divergent_branches: u64,
    pub(crate) barriers: u64,
    /// Blocks that ended without any access.
    pub(crate) idle_blocks: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, part: &Totals) {
        self.add_times(part, 1);
    }

    pub(crate) fn add_times(&mut self, part: &Totals, times: u64) {
        self.warps += times * part.warps;
        self.warp_instructions += times * part.warp_instructions;
        self.thread_instructions += times * part.thread_instructions;
        self.branches += times * part.branches;
        self.divergent_branches += times * part.divergent_branches;
        self.barriers += times * part.barriers;
        self.idle_blocks += times * part.idle_blocks;
    }

    /// The difference from `before`.
    pub(crate) fn since(&self, before: &Totals) -> Totals {
        Totals {
            warps: self.warps - before.warps,
            warp_instructions: self.warp_instructions - before.warp_instructions,
            thread_instructions: self.thread_instructions - before.thread_instructions,
            branches: self.branches - before.branches,
            divergent_branches: self.divergent_branches - before.divergent_branches,
            barriers: self.barriers - before.barriers,
            idle_blocks: self.idle_blocks - before.idle_blocks,
        }
    }

    /// What counts against the instruction limit. It includes the ends of warps, so that warps without instructions
    /// count.
    #[inline(always)]
    pub(crate) fn charged(&self) -> u64 {
        self.warp_instructions.saturating_add(self.warps)
    }

    /// Counts the segment that ends with this instruction.
    #[inline(always)]
    pub(crate) fn weigh(&mut self, inst: &Inst, mask: u32) {
        self.warp_instructions += u64::from(inst.weight);
        self.thread_instructions += u64::from(inst.weight) * u64::from(mask.count_ones());
    }

    #[inline(always)]
    pub(crate) fn branch(&mut self, inst: &Inst, mask: u32, parts: bool) {
        self.weigh(inst, mask);
        self.branches += 1;
        if parts {
            self.divergent_branches += 1;
        }
    }
}

/// The rules of a launch for its workers.
#[derive(Clone, Copy)]
pub(crate) struct Policy<'a> {
    pub(crate) rules: RuleSet,
    pub(crate) checks: Checks,
    /// The most warp instructions.
    pub(crate) limit: u64,
    pub(crate) stop: &'a StopFlag,
    /// The most local memory for the calls of a thread.
    pub(crate) stack_bytes: u64,
    /// The order of a block's warps.
    pub(crate) order: Order,
    /// Whether an invalid access is skipped and the launch goes on.
    pub(crate) keep_going: bool,
    /// Whether a lane that can go on does, whatever the other lanes of its warp wait for: since sm_70.
    pub(crate) independent_lanes: bool,
    /// See [`Shape::has_like_warps`].
    pub(crate) has_like_warps: bool,
}

/// A worker's counts that are not by site.
pub(crate) struct Record {
    pub(crate) totals: Totals,
    /// By instruction: its divergent branches.
    pub(crate) divergence: Vec<Divergence>,
    /// By instruction: how many warps arrived at the barrier there.
    pub(crate) barriers: Vec<u64>,
    /// The text that the current block has printed.
    pub(crate) printed: Vec<u8>,
    /// The launches that threads made.
    pub(crate) launched: Vec<ChildLaunch>,
    /// Skipped accesses: one of each kind and place.
    pub(crate) skipped: Vec<Skipped>,
    /// The accesses of sampled blocks to global memory.
    pub(crate) reach: Reach,
    /// How many instructions skipped some access.
    pub(crate) skips: u64,
    /// Calls of `printf`, counted by thread.
    pub(crate) printf_calls: u64,
}

impl Record {
    pub(crate) fn new(instructions: usize) -> Record {
        Record {
            totals: Totals::default(),
            divergence: vec![Divergence::default(); instructions],
            barriers: vec![0; instructions],
            printed: Vec::new(),
            launched: Vec::new(),
            skipped: Vec::new(),
            reach: Reach::default(),
            skips: 0,
            printf_calls: 0,
        }
    }
}

impl Record {
    /// Adds what another worker counted, this many times.
    pub(crate) fn absorb_times(&mut self, other: &Record, times: u64) {
        self.reach.absorb(&other.reach);
        self.printf_calls += times * other.printf_calls;
        self.totals.add_times(&other.totals, times);
        for (sum, part) in self.divergence.iter_mut().zip(&other.divergence) {
            sum.branches += times * part.branches;
            sum.fewer_lanes += times * part.fewer_lanes;
        }
        for (sum, part) in self.barriers.iter_mut().zip(&other.barriers) {
            *sum += times * part;
        }
    }
}

impl Record {
    /// The difference from `before`, except for the totals.
    pub(crate) fn since(&self, before: &Record) -> Record {
        let mut since = Record::new(0);
        let branches = self.divergence.iter().zip(&before.divergence);
        since.divergence = branches
            .map(|(now, before)| Divergence {
                branches: now.branches - before.branches,
                fewer_lanes: now.fewer_lanes - before.fewer_lanes,
            })
            .collect();
        let barriers = self.barriers.iter().zip(&before.barriers);
        since.barriers = barriers.map(|(now, before)| now - before).collect();
        since
    }
}

/// One pass over the warps of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pass {
    /// Loop iterations that a warp may run before it yields.
    pub(crate) slice: u32,
    /// Whether stores and atomics note when they change memory.
    pub(crate) watch: bool,
    /// Whether one did.
    pub(crate) changed: bool,
    /// The offset, in the block's list, of the warp that may run directly after the current one has ended or waits at
    /// the barrier. The block does not intervene between them. 0: no warp may.
    pub(crate) next: isize,
    /// How many barriers of the block may open in the same way, when the last of its warps has ended or waits.
    pub(crate) barriers: u32,
    pub(crate) tail: IdleTail,
    /// In an engine that pauses: how many more points the warp may pass, that is accesses at which the order of threads
    /// can matter.
    pub(crate) points: u64,
}

/// The regions of global memory that accesses go to, by site.
pub(crate) struct SiteRegions {
    /// The region of the site's last access.
    pub(crate) last: Vec<u32>,
    /// The region that the access must stay in, if the source names a module variable or the pointer comes from a
    /// single parameter.
    pub(crate) declared: Vec<Option<u32>>,
}

/// The state that a worker needs to run warps.
pub(crate) struct Machine<'a, O> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    pub(crate) code: &'a Code,
    pub(crate) memory: &'a Memory,
    pub(crate) map: &'a GlobalMap,
    pub(crate) shape: Shape<'a>,
    pub(crate) policy: Policy<'a>,
    /// The shared memory of the current block.
    pub(crate) shared: Vec<u8>,
    /// The pattern of the last request, by site. The observer does not see hits before [`Machine::settle`].
    pub(crate) patterns: Vec<Pattern>,
    /// How often it has been futile to run iterations of a loop together, by loop.
    pub(crate) rounds: Vec<Patience>,
    /// The words loaded for them, for their products.
    pub(crate) loaded: Registers,
    /// The observer.
    pub(crate) observer: O,
    pub(crate) regions: SiteRegions,
    /// Tracks what this worker touches, if there are other workers.
    pub(crate) tracker: Option<Box<Tracker>>,
    pub(crate) record: Record,
    pub(crate) pass: Pass,
    /// The recorded block, if blocks do the same.
    pub(crate) replay: Replay<'a>,
    /// By instruction: whether the order of threads can matter there. For engines that pause.
    pub(crate) is_point: Vec<bool>,
    /// In lockstep no block could go on, so warps split as soon as they seem to wait for their own lanes.
    pub(crate) parts_early: bool,
    /// How far the local variables of the current routine are moved, in the current warp.
    pub(crate) shift: u32,
    /// The number of the current block.
    pub(crate) block: u64,
}

/// Divergent branches at one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Divergence {
    /// How many.
    pub(crate) branches: u64,
    /// Lanes on the side with fewer lanes, summed.
    pub(crate) fewer_lanes: u64,
}

impl Record {
    /// Adds what the blocks of the next part of the launch did.
    pub(crate) fn absorb_part(&mut self, other: Record) {
        self.absorb_times(&other, 1);
        for skipped in other.skipped {
            let mut known = self.skipped.iter_mut();
            match known.find(|known| (known.loc, known.kind) == (skipped.loc, skipped.kind)) {
                Some(known) => known.absorb(&skipped),
                None => self.skipped.push(skipped),
            }
        }
    }
}

impl Skipped {
    fn absorb(&mut self, other: &Skipped) {
        let lowest = other.first.wrapping_sub(other.fault.before as u64);
        let highest = other.first.wrapping_add(other.fault.behind as u64);
        let (known, first) = (&mut self.fault, self.first);
        known.accesses = known.accesses.saturating_add(other.fault.accesses);
        known.before = known.before.max(first.wrapping_sub(lowest) as i64);
        known.behind = known.behind.max(highest.wrapping_sub(first) as i64);
    }
}

coded!(struct Totals {
    warps, warp_instructions, thread_instructions, branches, divergent_branches, barriers, idle_blocks,
});
coded!(struct Divergence { branches, fewer_lanes });

impl Coded for Record {
    fn put(&self, out: &mut Vec<u8>) {
        self.totals.put(out);
        self.divergence.put(out);
        self.barriers.put(out);
        self.skipped.put(out);
        self.reach.put(out);
        self.printf_calls.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Record> {
        Some(Record {
            totals: Coded::get(from)?,
            divergence: Coded::get(from)?,
            barriers: Coded::get(from)?,
            printed: Vec::new(),
            launched: Vec::new(),
            skipped: Coded::get(from)?,
            reach: Coded::get(from)?,
            printf_calls: Coded::get(from)?,
            skips: 0,
        })
    }
}

impl Coded for Skipped {
    fn put(&self, out: &mut Vec<u8>) {
        self.first.put(out);
        self.fault.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Skipped> {
        let (first, fault) = (u64::get(from)?, SkippedAccess::get(from)?);
        Some(Skipped {
            loc: fault.trap.loc,
            kind: std::mem::discriminant(&fault.trap.kind),
            first,
            fault,
        })
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Counts a divergent branch.
    #[inline(always)]
    pub(crate) fn diverges(&mut self, pc: usize, one: u32, other: u32) {
        let divergence = &mut self.record.divergence[pc];
        divergence.branches += 1;
        divergence.fewer_lanes += u64::from(one.count_ones().min(other.count_ones()));
    }

    /// Keeps the first skipped access of each kind and place, and counts the others.
    #[cold]
    pub(crate) fn note_skipped(
        &mut self,
        warp: &Warp,
        place: (u64, usize),
        fault: Fault,
        lanes: SkippedLanes,
    ) {
        let loc = self.code.locs[warp.pc as usize];
        let known =
            self.record.skipped.iter_mut().find(|known| {
                known.loc == loc && known.kind == std::mem::discriminant(&fault.kind)
            });
        if let Some(known) = known {
            known.fault.accesses += u64::from(lanes.count);
            known.fault.before = known
                .fault
                .before
                .max(known.first.wrapping_sub(lanes.lowest) as i64);
            known.fault.behind = known
                .fault
                .behind
                .max(lanes.highest.wrapping_sub(known.first) as i64);
            return;
        }
        let kind = std::mem::discriminant(&fault.kind);
        let trap = self.trap(warp, place, warp.pc, fault);
        self.record.skipped.push(Skipped {
            loc,
            kind,
            first: lanes.first,
            fault: SkippedAccess {
                trap,
                accesses: lanes.count.into(),
                before: lanes.first.wrapping_sub(lanes.lowest) as i64,
                behind: lanes.highest.wrapping_sub(lanes.first) as i64,
                descending: false,
            },
        });
    }

    /// The complete trap for a thread of a warp at an instruction.
    pub(crate) fn trap(
        &self,
        warp: &Warp,
        (block, number): (u64, usize),
        pc: u32,
        Fault { mut kind, lane }: Fault,
    ) -> Trap {
        let loc = self.code.locs[pc as usize];
        let thread = Thread {
            registers: &warp.registers,
            who: self.shape.identity(block, number, lane.min(31)),
        };
        let overflow = explain(
            &mut kind,
            loc,
            thread,
            (self.function, self.code, self.memory),
        );
        Trap {
            kind,
            loc,
            block: thread.who.block,
            thread: thread.who.thread,
            on_host: false,
            others: Vec::new(),
            overflow: overflow.map(Box::new),
        }
    }

    /// How many accesses were made so far, whatever their cost.
    pub(crate) fn accesses(&self) -> u64 {
        let counted = self
            .observer
            .counts()
            .iter()
            .map(|counts| counts.instructions);
        let hits = self
            .patterns
            .iter()
            .map(|pattern| pattern.hits.alike + pattern.hits.others);
        // Printing is an effect, too.
        let prints = [self.record.printf_calls];
        counted.chain(hits).chain(prints).fold(0, u64::wrapping_add)
    }

    /// Counts the block as idle if its turn made no access. `accesses` is the number before the turn.
    pub(crate) fn note_idle(&mut self, turn: &Turn, accesses: u64) {
        if matches!(turn, Turn::Done) && self.accesses() == accesses {
            self.record.totals.idle_blocks += 1;
        }
    }

    /// Completes the observer's sums.
    pub(crate) fn settle(&mut self) {
        self.settle_replayed();
        for (site, pattern) in self.code.sites.iter().zip(&mut self.patterns) {
            pattern.settle(site, &mut self.observer);
        }
    }

    /// Adds another worker's counts.
    #[cfg(feature = "threads")]
    pub(crate) fn absorb(&mut self, other: &Machine<'_, O>) {
        self.observer.absorb(&other.observer);
        self.record.absorb_times(&other.record, 1);
    }
}

/// A kind of invalid access at one place that was skipped.
#[derive(Debug)]
pub(crate) struct Skipped {
    loc: LocId,
    /// The kind of fault that the machine saw. The trap may be more specific.
    kind: Discriminant<TrapKind>,
    /// The address of the first one.
    first: u64,
    pub(crate) fault: SkippedAccess,
}

/// Why a lane ends the launch.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: TrapKind,
    pub(crate) lane: u32,
}

/// Why a warp stopped running.
#[derive(Debug)]
pub(crate) enum Stop {
    Done,
    Barrier,
    Yield,
    /// Lanes wait at a `__syncwarp` for others of their warp.
    Apart,
    /// The active lanes continue without those that wait for them.
    Part,
    /// After a numbered barrier, which the block handles.
    Numbered,
    /// It has passed as many points as it may: see [`Pass::points`].
    Pause,
    Fault(Box<Fault>),
}

/// The space of a counter as in the report's totals.
pub(crate) fn is_global(space: Space) -> bool {
    matches!(space, Space::Global)
}

/// The lanes that were skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkippedLanes {
    pub(crate) count: u32,
    /// The lowest and the highest address (offset, for shared and local memory) among them, and the address of the
    /// first lane that faulted.
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
    pub(crate) first: u64,
}
