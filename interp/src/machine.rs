//! What a worker has while it runs blocks of a launch: the code, memory, counters. And a warp.

pub(crate) mod block;
pub(crate) mod engine;
pub(crate) mod explain;
mod hits;
pub(crate) mod level;
pub(crate) mod ops;
#[cfg_attr(
    not(feature = "threads"),
    allow(dead_code, reason = "only blocks side by side are tracked")
)]
pub(crate) mod track;

use crate::config::ChildLaunch;
use crate::fault::trap::SkippedAccess;
use crate::isa::grid::Shape;
use crate::memory::map::{GlobalMap, GlobalRegion};
use std::mem::Discriminant;

use dsl::ir::{Function, LocId, Module, Space};

use crate::config::Order;
use crate::count::pattern::Pattern;
use crate::fault::stop::StopFlag;
use crate::fault::trap::{Trap, TrapKind};
use crate::isa::bytecode::{Class, Code, Place};
use crate::isa::mask::LaneMask;
use crate::isa::registers::Registers;
use crate::machine::explain::{Thread, explain};
use crate::machine::ops::routine::Stack;
use crate::machine::track::Tracker;
use crate::memory::Memory;
use crate::observe::Observer;

impl GlobalRegion {
    /// Whether the whole of `len` bytes at `address` lies inside.
    #[inline]
    pub(crate) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size && len <= self.size - offset
    }
}

/// Sums that are not per site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) warps: u64,
    pub(crate) warp_instructions: u64,
    pub(crate) thread_instructions: u64,
    pub(crate) branches: u64,
    pub(crate) divergent_branches: u64,
    pub(crate) barriers: u64,
}

impl Totals {
    /// What counts against a limit: also the ends of warps, so that those without an instruction count.
    pub(crate) fn charged(&self) -> u64 {
        self.warp_instructions.saturating_add(self.warps)
    }
}

/// What a launch asks of its workers.
#[derive(Clone, Copy)]
pub(crate) struct Policy<'a> {
    /// Most warp instructions.
    pub(crate) limit: u64,
    pub(crate) stop: &'a StopFlag,
    /// Most local memory of a thread's calls.
    pub(crate) stack_bytes: u64,
    /// Of the warps of a block.
    pub(crate) order: Order,
    /// An access that is not allowed is skipped, and the launch goes on.
    pub(crate) keep_going: bool,
}

/// What a worker has seen that is not per site.
pub(crate) struct Record {
    pub(crate) totals: Totals,
    /// By instruction: what its divergent branches were.
    pub(crate) divergence: Vec<Divergence>,
    /// By instruction: how many warps met a barrier there.
    pub(crate) barriers: Vec<u64>,
    /// What the current block has printed.
    pub(crate) printed: Vec<u8>,
    /// What threads launched.
    pub(crate) launched: Vec<ChildLaunch>,
    /// Accesses that were skipped: one of each kind and place.
    pub(crate) skipped: Vec<Skipped>,
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
        }
    }
}

/// One pass over the warps of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pass {
    /// Loop rounds a warp may run before it yields.
    pub(crate) slice: u32,
    /// Stores and atomics note whether they change memory.
    pub(crate) watch: bool,
    /// One did.
    pub(crate) changed: bool,
}

/// The regions of global memory that the accesses go to, by site.
pub(crate) struct SiteRegions {
    /// The one that it last hit.
    pub(crate) last: Vec<u32>,
    /// The one that it has to stay in, where the source names a variable of the module or the pointer starts from one parameter.
    pub(crate) declared: Vec<Option<u32>>,
}

/// What a worker needs to run warps; one per worker.
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
    /// What the last requests looked like, by site; their hits are not observed before [`Machine::settle`].
    pub(crate) patterns: Vec<Pattern>,
    /// Who watches.
    pub(crate) observer: O,
    pub(crate) regions: SiteRegions,
    /// What this worker touches, when there are others.
    pub(crate) tracker: Option<Box<Tracker>>,
    pub(crate) record: Record,
    pub(crate) pass: Pass,
    /// Of the warp that runs: how far the local variables of its routine are moved.
    pub(crate) shift: u32,
}

/// Branches of one instruction whose active lanes went different ways.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Divergence {
    /// How many.
    pub(crate) branches: u64,
    /// Lanes on the side with fewer of them, summed.
    pub(crate) fewer_lanes: u64,
}

impl<O: Observer> Machine<'_, O> {
    /// Lanes of a branch go two ways.
    #[inline(always)]
    pub(crate) fn diverges(&mut self, pc: usize, one: u32, other: u32) {
        let divergence = &mut self.record.divergence[pc];
        divergence.branches += 1;
        divergence.fewer_lanes += u64::from(one.count_ones().min(other.count_ones()));
    }

    /// Keeps the first of the skipped accesses of a kind and place, and counts the others.
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

    /// What a thread of a warp did at an instruction, in full.
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

    /// Makes the observer's sums complete.
    pub(crate) fn settle(&mut self) {
        for (site, pattern) in self.code.sites.iter().zip(&mut self.patterns) {
            pattern.settle(site, &mut self.observer);
        }
    }

    /// Adds another worker's counts.
    #[cfg(feature = "threads")]
    pub(crate) fn absorb(&mut self, other: &Machine<'_, O>) {
        self.observer.absorb(&other.observer);
        let (sum, part) = (&mut self.record.totals, &other.record.totals);
        sum.warps += part.warps;
        sum.warp_instructions += part.warp_instructions;
        sum.thread_instructions += part.thread_instructions;
        sum.branches += part.branches;
        sum.divergent_branches += part.divergent_branches;
        sum.barriers += part.barriers;
        for (sum, part) in self
            .record
            .divergence
            .iter_mut()
            .zip(&other.record.divergence)
        {
            sum.branches += part.branches;
            sum.fewer_lanes += part.fewer_lanes;
        }
        for (sum, part) in self.record.barriers.iter_mut().zip(&other.record.barriers) {
            *sum += part;
        }
    }
}

/// A kind of access at one place that is not allowed, and was skipped.
#[derive(Debug)]
pub(crate) struct Skipped {
    loc: LocId,
    /// What the machine saw; the trap may know more.
    kind: Discriminant<TrapKind>,
    /// Where the first one went.
    first: u64,
    pub(crate) fault: SkippedAccess,
}

/// Why a lane ends the launch.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: TrapKind,
    pub(crate) lane: u32,
}

/// What a warp is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WarpState {
    Ready,
    AtBarrier,
    Done,
}

/// Why a warp stopped running.
#[derive(Debug)]
pub(crate) enum Stop {
    Done,
    Barrier,
    Yield,
    Fault(Box<Fault>),
}

/// 32 threads.
#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) registers: Registers,
    /// Thread-local memory, interleaved: word `w` of lane `l` is at `(w * 32 + l) * 4`.
    pub(crate) local: Vec<u8>,
    pub(crate) stack: Stack,
    pub(crate) pc: u32,
    /// Active lanes.
    pub(crate) mask: u32,
    /// Lanes that are threads.
    pub(crate) lanes: u32,
    /// Lanes that have ended.
    pub(crate) gone: u32,
    /// Where the last of them did.
    pub(crate) left: u32,
    pub(crate) state: WarpState,
    /// At a barrier with a reduction: which, the lanes whose predicate holds, and the register for the result.
    pub(crate) vote: Option<(Vote, u32, u32)>,
    /// Where it yielded last in a loop that may be seen never to end, with which lanes, and what the loop's end depends on held then.
    pub(crate) rounds: Option<(u32, u32, Vec<u64>)>,
    /// The state's fingerprint at the last yield.
    pub(crate) fingerprint: u64,
    /// The same without local memory, where there is much of it.
    pub(crate) outline: u64,
}

/// More local memory than this is looked at only when all else is as it was.
const MUCH_LOCAL_BYTES: usize = 64 << 10;

/// The reduction of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    Count,
    And,
    Or,
}

impl Warp {
    /// Lanes end.
    #[inline(always)]
    pub(crate) fn leave(&mut self, lanes: u32, pc: usize) {
        if lanes != 0 {
            self.gone |= lanes;
            self.left = pc as u32;
        }
    }

    /// Whether it yields in a loop that will never end.
    #[cold]
    pub(crate) fn is_endless(&mut self, code: &Code) -> bool {
        let Some(places) = code.endless.get(&self.pc) else {
            return false;
        };
        let mut now = Vec::new();
        for &(place, class) in places {
            match (place, class) {
                (Place::S(at), Class::Mask) => {
                    now.push(self.registers.s[at as usize] & u64::from(self.mask))
                }
                (Place::S(at), _) => now.push(self.registers.s[at as usize]),
                (Place::V(at), Class::W64) => {
                    let lanes = LaneMask(self.mask).into_iter();
                    now.extend(lanes.map(|lane| self.registers.lane64(at, lane)));
                }
                (Place::V(at), _) => {
                    let unit = &self.registers.v[at as usize].0;
                    let lanes = LaneMask(self.mask).into_iter();
                    now.extend(lanes.map(|lane| u64::from(unit[lane])));
                }
            }
        }
        let now = (self.pc, self.mask, now);
        places.is_empty() || self.rounds.replace(now.clone()) == Some(now)
    }

    /// A digest of everything that decides what the warp does next.
    pub(crate) fn digest(&mut self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        };
        add(u64::from(self.pc) << 32 | u64::from(self.mask));
        add(u64::from(self.gone));
        self.stack.words(&mut add);
        self.registers.s.iter().for_each(|&word| add(word));
        for unit in &self.registers.v {
            for pair in unit.0.chunks_exact(2) {
                add(u64::from(pair[0]) << 32 | u64::from(pair[1]));
            }
        }
        if self.local.len() > MUCH_LOCAL_BYTES {
            add(1);
            if std::mem::replace(&mut self.outline, hash) != hash {
                return hash;
            }
        }
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        };
        for word in self.local.chunks_exact(4) {
            add(u64::from(u32::from_le_bytes([
                word[0], word[1], word[2], word[3],
            ])));
        }
        hash
    }
}

/// The space of a counter, as the report's totals sort it.
pub(crate) fn is_global(space: Space) -> bool {
    matches!(space, Space::Global)
}

/// The lanes that were skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkippedLanes {
    pub(crate) count: u32,
    /// The lowest and the highest address (offset, in shared and local memory) among them, and that of the lane that faulted first.
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
    pub(crate) first: u64,
}
