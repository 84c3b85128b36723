//! Observers of a running kernel. They see every access after it was found to be valid and before it happens, and do
//! not change results. The engine is generic over them, so that what is not needed costs nothing.
//! [`counters::Counters`] is always one of them.

pub(crate) mod charge;
pub(crate) mod counters;
pub mod trace;

use crate::coded::coded;
use crate::isa::grid::Shape;
use crate::memory::Memory;
use crate::memory::map::GlobalMap;
use ir::{FenceScope, Function, LocId, Module, Space};

use crate::count::pattern::Pattern;
use crate::count::stats::{Charge, SiteCounts};
use crate::count::witness::Worst;
use crate::fault::finding::Finding;
use crate::isa::bytecode::{Code, Inst, MemSite, Place, RoutineCall};
use crate::isa::registers::View;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::counters::Counters;
use crate::observe::trace::Event;
use crate::views::Views;

/// One memory instruction of one warp.
pub(crate) struct Access<'a> {
    pub(crate) site: &'a MemSite,
    /// Its counter. Generic accesses have one per space.
    pub(crate) counter: u32,
    /// The space it goes to, which is never generic.
    pub(crate) space: Space,
    /// Active lanes.
    pub(crate) mask: u32,
    /// The warp's registers.
    pub(crate) r: View,
    /// The block's shared memory.
    pub(crate) memory: *const u8,
}

/// A request that matches its site's pattern.
pub(crate) struct Like<'a> {
    pub(crate) pattern: &'a Pattern,
    /// If true, no lane's innermost subscript is out of bounds. If false, some may be.
    pub(crate) is_within: bool,
    /// The lowest lane's address; in shared memory, its offset.
    pub(crate) lowest: u64,
}

/// Requests of several rounds of a loop that all match their site's pattern.
pub(crate) struct Swept<'a> {
    pub(crate) access: Access<'a>,
    /// The first round's request. In no round is a subscript out of bounds.
    pub(crate) like: Like<'a>,
    /// The distance from one round's request to the next one's.
    pub(crate) stride_bytes: i64,
    pub(crate) count: u32,
}

impl Swept<'_> {
    /// The lowest lane's address (offset, in shared memory) in a round.
    #[inline(always)]
    pub(crate) fn lowest(&self, round: u32) -> u64 {
        let way = self.stride_bytes.wrapping_mul(round.into());
        self.like.lowest.wrapping_add_signed(way)
    }
}

/// Lanes of a warp when a barrier opens: at a barrier, or ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) warp: u32,
    /// The barrier's instruction, or the one that ended the last of the lanes.
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    pub(crate) waits: bool,
}

/// The frame of a call in local memory, and the offset added to the routine's variables there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) shift: u32,
}

/// The interface of observers. Events belong to the block and the warp that began last.
#[expect(unused_variables, reason = "the defaults do nothing")]
pub(crate) trait Observer: Sized {
    /// A block starts, or continues after others had their turn.
    #[inline(always)]
    fn begin_block(&mut self, index: u64) {}
    /// The current block has ended.
    #[inline(always)]
    fn end_block(&mut self) {}
    /// By operation: whether it can have an invalid operand.
    const RISKY: [bool; 1024] = [false; 1024];
    /// Whether the observer has to see an instruction with such an operation.
    #[inline(always)]
    fn risks(&self, pc: usize) -> bool {
        false
    }
    /// Whether the observer has to see every instruction, because a register of the warp holds an uninitialised value.
    #[inline(always)]
    fn follows(&self) -> bool {
        false
    }
    /// An instruction is about to run.
    #[inline(always)]
    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {}
    /// What the launch wrote in regions that had unwritten bytes, with their bases.
    fn stored(&self) -> Vec<(u64, Defined)> {
        Vec::new()
    }
    /// The effects of the launch on the tracked regions, with their bases in ascending order.
    fn touched(&self) -> Vec<(u64, Touch)> {
        Vec::new()
    }
    /// A warp, or the fragment at `place` in the block's list, starts to run.
    #[inline(always)]
    fn begin_warp(&mut self, number: u32, place: usize) {}
    /// Lanes of the fragment at `place` separate and are at place `to` from now on.
    fn part(&mut self, place: usize, to: usize) {}
    /// The lanes at the second place join those at the first.
    fn join(&mut self, place: usize, other: usize, lanes: u32) {}
    /// The threads' views of memory, if memory is weak.
    #[inline(always)]
    fn views(&mut self) -> Option<&mut Views> {
        None
    }
    /// Whether an engine for each kind of CPU is worthwhile.
    const IS_QUICK: bool = true;
    /// Whether blocks may be replayed without their accesses to shared memory: see [`replay`](crate::machine::replay).
    const REPLAYS: bool = false;
    /// Whether the block has no finding about shared memory and registers so far, so that a block that does the same
    /// has none either. `shared`: it accesses shared memory.
    #[inline(always)]
    fn is_quiet(&self, shared: bool) -> bool {
        true
    }
    /// A replayed block begins.
    #[inline(always)]
    fn begin_replayed(&mut self, index: u64) {
        self.begin_block(index);
    }
    /// Whether a replayed block's accesses to a region are of interest.
    #[inline(always)]
    fn watches(&self, region: u32) -> bool {
        true
    }
    /// Whether a number of bytes of a region, from an offset on, are known to be written.
    #[inline(always)]
    fn is_written(&self, region: u32, offset: u64, bytes: u64) -> bool {
        true
    }
    /// Whether the observer has to see every access. If not, accesses like the site's last one are reported only as
    /// sums.
    const SEES_REPEATS: bool;
    /// An access to shared or thread-local memory, by offset. Returns its cost.
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge;
    /// An access to global or constant memory, by address. Returns its cost.
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge;
    /// The counters that it keeps.
    fn counters(&self) -> &Counters;
    /// The cost of an access, without counting it.
    #[inline(always)]
    fn charge_window(&self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.counters().charge_window(access, offsets)
    }
    /// The same for global or constant memory.
    #[inline(always)]
    fn charge_global(&self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.counters().charge_global(access, addresses)
    }
    /// An access that [`Observer::repeats`] will count, for an observer that has to see it.
    #[inline(always)]
    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {}
    /// The same for global or constant memory.
    #[inline(always)]
    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {}
    /// The loads of several rounds of a loop, in the order of a round, that [`Observer::repeats`] will count. Returns
    /// whether the observer has handled them without a finding; if not, they are reported one by one.
    #[inline(always)]
    fn repeat_rounds(&mut self, loads: &[Swept<'_>]) -> bool {
        false
    }
    /// A number of accesses like the site's last one, with this many active lanes in all.
    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64);
    /// The period of costs: moving all addresses by a multiple of this changes no cost. For a site of shared or global
    /// memory.
    fn period_bytes(&self, site: &MemSite) -> u64 {
        self.counters().period_bytes(site)
    }
    /// `__syncwarp` of the active lanes, each of which names a mask. `alive`: lanes that have not ended.
    #[inline(always)]
    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {}
    /// A shuffle or another exchange of the active lanes, each of which names its partners.
    #[inline(always)]
    fn exchange(&mut self, mask: u32, named: &[u32; 32], alive: u32) {}
    /// A shuffle in which the lanes `strays` read a lane that does not take part. In CUDA their result is undefined;
    /// the machine puts 0 into `result`.
    #[inline(always)]
    fn stray_shuffle(&mut self, strays: u32, result: Place, loc: LocId) {}
    /// The active lanes arrive at a numbered barrier.
    fn arrive(&mut self, barrier: u32, mask: u32) {}
    /// Lanes of a warp pass it.
    fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {}
    /// All lanes have passed it, and it starts again.
    fn opened(&mut self, barrier: u32) {}
    /// A fence of the active lanes. `is_sc`: it is sequentially consistent.
    #[inline(always)]
    fn fence(&mut self, mask: u32, scope: FenceScope, is_sc: bool) {}
    /// A variable of the active lanes begins or ends: its offset and size in thread-local memory.
    #[inline(always)]
    fn lifetime(&mut self, mask: u32, bytes: (u32, u32), begins: bool) {}
    /// The active lanes enter a routine.
    #[inline(always)]
    fn enter(&mut self, code: &Code, call: &RoutineCall, mask: u32, frame: Frame) {}
    /// They return from it.
    #[inline(always)]
    fn leave(&mut self, code: &Code, call: &RoutineCall) {}
    /// A thread allocated memory from the heap that another one freed.
    #[inline(always)]
    fn allocated(&mut self, address: u64, bytes: u64) {}
    /// The block's barrier is about to open, but not all threads are at the same statement.
    #[inline(always)]
    fn uneven_barrier(&mut self, meeting: &[Arrival]) {}
    /// The block's barrier opens.
    #[inline(always)]
    fn barrier(&mut self) {}
    /// The last block of this worker has ended. Sums that are computed now need not be computed when workers are
    /// merged.
    fn finish(&mut self) {}
    /// Merges another worker's findings.
    #[cfg_attr(
        not(feature = "threads"),
        allow(dead_code, reason = "there is one worker")
    )]
    fn absorb(&mut self, other: &Self);
    /// Serialises what it has collected, for merging the parts of a launch.
    fn save(&self, out: &mut Vec<u8>) {}
    /// Serialises what it knows of accesses to global memory.
    fn save_touches(&self, out: &mut Vec<u8>) {}
    /// Adds what the observer of another part has saved; `None`: the bytes are invalid.
    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        None
    }
    /// Whether its findings depend on other blocks, which then have to run in order.
    #[cfg_attr(
        not(feature = "threads"),
        allow(dead_code, reason = "there is one worker")
    )]
    #[inline(always)]
    fn needs_order(&self) -> bool {
        false
    }
    /// The findings.
    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        Vec::new()
    }
    /// Whether it dropped information that it needs to find races.
    fn forgets(&self) -> bool {
        false
    }
    /// The trace, if it records one.
    fn trace(&self) -> Vec<Event> {
        Vec::new()
    }
    /// The counts.
    fn counts(&self) -> &[SiteCounts] {
        self.counters().counts()
    }
    /// The worst request of each counter.
    fn worst(&self) -> &[Worst] {
        self.counters().worst()
    }
}

/// Gives meaning to the numbers in findings.
pub(crate) struct Scene<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) memory: &'a Memory,
    pub(crate) map: &'a GlobalMap,
}

coded!(struct Arrival { warp, pc, lanes, waits });
