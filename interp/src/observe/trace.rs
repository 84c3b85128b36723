//! Records everything that a launch did to memory, in the machine's order: the input for an external checker.
//!
//! `Tracer` is an observer like the counters and the checks, and excludes the checks. It keeps all events, which is
//! much for long launches.

use crate::observe::counters::Counters;
use ir::{FenceScope, LocId, Space};

use crate::count::stats::Charge;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Code, MemSite};
use crate::isa::mask::LaneMask;
use crate::observe::{Access, Like, Observer};

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A warp of a block runs. It makes the following events.
    Turn {
        /// The block's number in the grid.
        block: u64,
        /// The warp's number in the block.
        warp: u32,
    },
    /// A memory instruction.
    Access {
        /// The source access.
        loc: LocId,
        /// The kind of access.
        op: AccessOp,
        /// The space, which is never generic. Constant memory is left out.
        space: Space,
        /// Bytes per lane.
        width_bytes: u32,
        /// Whether it is `volatile`.
        is_volatile: bool,
        /// Whether it is an atomic only for the threads of its block.
        is_block_scope: bool,
        /// Lane and address; for shared and local memory, the offset in it.
        lanes: Vec<(u32, u64)>,
    },
    /// Lanes met: each active lane, with the mask that it names.
    SyncWarp(Vec<(u32, u32)>),
    /// A fence of these lanes.
    Fence {
        /// One bit per lane.
        lanes: u32,
        /// The scope.
        scope: FenceScope,
    },
    /// The block's barrier opened for all its threads.
    Barrier {
        /// The block's number in the grid.
        block: u64,
    },
}

/// Records all events.
#[derive(Debug)]
pub(crate) struct Tracer {
    counters: Counters,
    /// By counter.
    locs: Vec<LocId>,
    events: Vec<Event>,
    block: u64,
}

impl Tracer {
    pub(crate) fn new(counters: Counters, code: &Code) -> Tracer {
        Tracer {
            counters,
            locs: code.counters.iter().map(|site| site.loc).collect(),
            events: Vec::new(),
            block: 0,
        }
    }

    fn note(&mut self, access: &Access<'_>, at: impl Fn(usize) -> u64) {
        if access.space == Space::Constant {
            return;
        }
        let ir = &access.site.access;
        let lanes = LaneMask(access.mask);
        self.events.push(Event::Access {
            loc: self.locs[access.counter as usize],
            op: access.site.op,
            space: access.space,
            width_bytes: access.site.width_bytes,
            is_volatile: ir.volatile,
            is_block_scope: ir.block_scope,
            lanes: lanes
                .into_iter()
                .map(|lane| (lane as u32, at(lane)))
                .collect(),
        });
    }
}

impl Observer for Tracer {
    const SEES_REPEATS: bool = true;
    const IS_QUICK: bool = false;

    fn begin_block(&mut self, index: u64) {
        self.counters.begin_block(index);
        self.block = index;
    }

    fn begin_warp(&mut self, number: u32, place: usize) {
        self.counters.begin_warp(number, place);
        self.events.push(Event::Turn {
            block: self.block,
            warp: number,
        });
    }

    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.note(access, |lane| offsets[lane].into());
        self.counters.window(access, offsets)
    }

    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.note(access, |lane| addresses[lane]);
        self.counters.global(access, addresses)
    }

    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.repeat_global(access, like);
    }

    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.note(access, |lane| {
            like.lowest + u64::from(like.pattern.bytes[lane])
        });
    }

    #[inline(always)]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counters.repeats(site, charge, requests, lanes);
    }

    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], _alive: u32, _loc: LocId) {
        let lanes = LaneMask(mask)
            .into_iter()
            .map(|lane| (lane as u32, named[lane]));
        self.events.push(Event::SyncWarp(lanes.collect()));
    }

    fn fence(&mut self, mask: u32, scope: FenceScope, _is_sc: bool) {
        self.events.push(Event::Fence { lanes: mask, scope });
    }

    fn barrier(&mut self) {
        self.events.push(Event::Barrier { block: self.block });
    }

    fn absorb(&mut self, _other: &Self) {
        unreachable!("what is traced runs on one thread");
    }

    fn trace(&self) -> Vec<Event> {
        self.events.clone()
    }
}
