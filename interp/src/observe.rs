//! Who watches a kernel run. Observers see every access after it was found to be allowed and before it happens; they change
//! no result. The engine is generic over them, so what is not asked for costs nothing. [`counters::Counters`] is always among them.

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
use crate::observe::trace::Event;
use crate::views::Views;

/// One memory instruction of one warp.
pub(crate) struct Access<'a> {
    pub(crate) site: &'a MemSite,
    /// Its counter: generic accesses have one per space.
    pub(crate) counter: u32,
    /// Where it goes: never generic.
    pub(crate) space: Space,
    /// Active lanes.
    pub(crate) mask: u32,
    /// The warp's registers.
    pub(crate) r: View,
    /// The block's shared memory.
    pub(crate) memory: *const u8,
}

/// A request like its site's pattern.
pub(crate) struct Like<'a> {
    pub(crate) pattern: &'a Pattern,
    /// No lane's innermost subscript is beyond its array. If not, some may be.
    pub(crate) is_within: bool,
    /// The lowest lane's address; in shared memory, its offset.
    pub(crate) lowest: u64,
}

/// Requests of several rounds of a loop, all of them like their site's pattern.
pub(crate) struct Swept<'a> {
    pub(crate) access: Access<'a>,
    /// The first round's. No round has a subscript that is beyond its array.
    pub(crate) like: Like<'a>,
    /// From a round's request to the next one's.
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
    /// The barrier's instruction, or the one that ended the last of them.
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    pub(crate) waits: bool,
}

/// The local memory of a call: where it lies, and how far the routine's variables are moved there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) shift: u32,
}

/// What can be watched. Events belong to the block and the warp that began last.
#[expect(unused_variables, reason = "the defaults do nothing")]
pub(crate) trait Observer: Sized {
    /// A block starts, or goes on after others had their turn.
    #[inline(always)]
    fn begin_block(&mut self, index: u64) {}
    /// The current block has ended.
    #[inline(always)]
    fn end_block(&mut self) {}
    /// By operation: its operands can be wrong.
    const RISKY: [bool; 1024] = [false; 1024];
    /// Whether it has to see what an instruction of such an operation does.
    #[inline(always)]
    fn risks(&self, pc: usize) -> bool {
        false
    }
    /// Whether it has to see every instruction, whatever it is: a register of the warp holds a value that nobody wrote.
    #[inline(always)]
    fn follows(&self) -> bool {
        false
    }
    /// An instruction is about to run.
    #[inline(always)]
    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {}
    /// What the launch wrote of the regions that had unwritten bytes: their bases.
    fn stored(&self) -> Vec<(u64, Defined)> {
        Vec::new()
    }
    /// What the launch did to the regions of which it is to be known: their bases, ascending.
    fn touched(&self) -> Vec<(u64, Touch)> {
        Vec::new()
    }
    /// A warp runs, or those of its lanes that stand at `place` in the block's list.
    #[inline(always)]
    fn begin_warp(&mut self, number: u32, place: usize) {}
    /// Lanes of the warp at a place part, and are at another one from now on.
    fn part(&mut self, place: usize, to: usize) {}
    /// The lanes at the second place join those at the first.
    fn join(&mut self, place: usize, other: usize, lanes: u32) {}
    /// What threads have seen, where memory is weak.
    #[inline(always)]
    fn views(&mut self) -> Option<&mut Views> {
        None
    }
    /// Whether it is worth an engine for each kind of CPU.
    const IS_QUICK: bool = true;
    /// Whether blocks that do what another one did may come without their accesses to shared memory: see [`replay`](crate::machine::replay).
    const REPLAYS: bool = false;
    /// Whether nothing is to be said of what the block did to shared memory and registers so far, nor of a block that does the same.
    /// `shared`: it accesses shared memory.
    #[inline(always)]
    fn is_quiet(&self, shared: bool) -> bool {
        true
    }
    /// Such a block begins.
    #[inline(always)]
    fn begin_replayed(&mut self, index: u64) {
        self.begin_block(index);
    }
    /// Whether it has something to do with what such a block does to a region.
    #[inline(always)]
    fn watches(&self, region: u32) -> bool {
        true
    }
    /// Whether so many bytes of a region are known to be written, from an offset on.
    #[inline(always)]
    fn is_written(&self, region: u32, offset: u64, bytes: u64) -> bool {
        true
    }
    /// Whether it has to see every access. If not, those that are like the site's last one come as sums only.
    const SEES_REPEATS: bool;
    /// Shared or thread-local memory, by offset in it. Gives what it costs.
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge;
    /// Global or constant memory, by address. Gives what it costs.
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge;
    /// What an access costs, nothing counted.
    fn charge_window(&self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge;
    /// The same of global or constant memory.
    fn charge_global(&self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge;
    /// An access that [`Observer::repeats`] will count, of an observer that has to see it.
    #[inline(always)]
    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {}
    /// The same of global or constant memory.
    #[inline(always)]
    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {}
    /// The loads of several rounds of a loop, in the order of a round, that [`Observer::repeats`] will count. Whether it has seen them, and
    /// nothing is to be said of them; if not, they come one by one.
    #[inline(always)]
    fn repeat_rounds(&mut self, loads: &[Swept<'_>]) -> bool {
        false
    }
    /// So many accesses like the site's last one, with so many active lanes in all.
    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64);
    /// Moving all addresses by a multiple of this changes no cost: of a site of shared, and of global memory.
    fn period_bytes(&self, site: &MemSite) -> u64;
    /// `__syncwarp` of the active lanes, each naming a mask; `alive`: lanes that have not ended.
    #[inline(always)]
    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {}
    /// A shuffle or another exchange of the active lanes, each naming those that take part with it.
    #[inline(always)]
    fn exchange(&mut self, mask: u32, named: &[u32; 32], alive: u32) {}
    /// A shuffle in which the lanes `strays` read a lane that does not take part: CUDA leaves what they get undefined, the machine
    /// gives 0 in `result`.
    #[inline(always)]
    fn stray_shuffle(&mut self, strays: u32, result: Place, loc: LocId) {}
    /// The active lanes come to a numbered barrier.
    fn arrive(&mut self, barrier: u32, mask: u32) {}
    /// Lanes of a warp pass it.
    fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {}
    /// All have: it begins again.
    fn opened(&mut self, barrier: u32) {}
    /// A fence of the active lanes; `is_sc`: it has a place in the one order of such fences.
    #[inline(always)]
    fn fence(&mut self, mask: u32, scope: FenceScope, is_sc: bool) {}
    /// A variable of the active lanes begins or ends: its first byte and its size in thread-local memory.
    #[inline(always)]
    fn lifetime(&mut self, mask: u32, bytes: (u32, u32), begins: bool) {}
    /// The active lanes enter a routine.
    #[inline(always)]
    fn enter(&mut self, code: &Code, call: &RoutineCall, mask: u32, frame: Frame) {}
    /// They are back.
    #[inline(always)]
    fn leave(&mut self, code: &Code, call: &RoutineCall) {}
    /// A thread got memory of the heap: whoever had it before gave it back.
    #[inline(always)]
    fn allocated(&mut self, address: u64, bytes: u64) {}
    /// The block's barrier is about to open, and not all threads are at one statement.
    #[inline(always)]
    fn uneven_barrier(&mut self, meeting: &[Arrival]) {}
    /// The block's barrier opens.
    #[inline(always)]
    fn barrier(&mut self) {}
    /// The last block of this worker has ended: what can be summed up now need not be when others join.
    fn finish(&mut self) {}
    /// Another worker's findings join.
    #[cfg_attr(
        not(feature = "threads"),
        allow(dead_code, reason = "there is one worker")
    )]
    fn absorb(&mut self, other: &Self);
    /// What it has gathered, as bytes: for who puts the parts of a launch together.
    fn save(&self, out: &mut Vec<u8>) {}
    /// What it knows of who touched what of global memory, likewise.
    fn save_touches(&self, out: &mut Vec<u8>) {}
    /// Takes over what one of another part has saved; `None`: these are no such bytes.
    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        None
    }
    /// Whether what it found depends on other blocks: then they have to run in order.
    #[cfg_attr(
        not(feature = "threads"),
        allow(dead_code, reason = "there is one worker")
    )]
    #[inline(always)]
    fn needs_order(&self) -> bool {
        false
    }
    /// What it found.
    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        Vec::new()
    }
    /// Whether it could not keep all that it needs to find races.
    fn forgets(&self) -> bool {
        false
    }
    /// All that happened, of one that keeps it.
    fn trace(&self) -> Vec<Event> {
        Vec::new()
    }
    /// The counts.
    fn counts(&self) -> &[SiteCounts];
    /// The worst request of each counter.
    fn worst(&self) -> &[Worst];
}

/// Where findings are read: what their numbers mean.
pub(crate) struct Scene<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) memory: &'a Memory,
    pub(crate) map: &'a GlobalMap,
}

coded!(struct Arrival { warp, pc, lanes, waits });
