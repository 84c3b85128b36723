//! The race check of a launch: its shadow memory, its clock and its findings. [`super::access`] and [`super::judge`]
//! handle accesses. This module handles blocks, warps and their synchronisations.

use std::collections::HashMap;

use super::access::Cpu;
use super::deferred::Deferred;
use super::epoch::Table;
use super::order::{Order, Released, groups};
use super::repeats::Repeats;
use super::report::Races;
use super::shadow::Cells;
use super::subject::Subject;
use super::touches::Touches;

/// A block that has begun and not ended.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) block: u64,
    pub(super) order: Order,
    pub(super) table: Table,
    pub(super) cells: Cells,
    /// Releases in shared memory, by offset.
    pub(super) released: HashMap<u32, Released>,
    pub(super) deferred: Deferred,
    /// The number of barriers so far, from 1 on.
    pub(super) barriers: u32,
    /// By warp: the number of barriers at its last turn.
    turns: Vec<u32>,
}

/// The shadow of global memory.
#[derive(Debug)]
pub(super) struct GlobalShadow {
    pub(super) table: Table,
    pub(super) regions: Vec<Cells>,
    /// Releases, by address.
    pub(super) released: HashMap<u64, Released>,
    /// In a part of a launch: what was touched before the table of entries was full and the cells were cleared.
    pub(super) forgotten: Vec<Touches>,
}

/// Observes one worker's blocks and collects their races.
#[derive(Debug)]
pub(crate) struct Detector<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// The time, which grows with every synchronisation.
    pub(super) now: u32,
    pub(super) warp: u32,
    /// The current block.
    pub(super) resident: Resident,
    ended: bool,
    pub(super) repeats: Repeats,
    /// Blocks that wait for others, by index.
    suspended: HashMap<u64, Resident>,
    pub(super) global: GlobalShadow,
    pub(crate) races: Races,
    /// How many instructions were judged lane by lane so far. It identifies each of them.
    pub(super) judged: u64,
    pub(super) cpu: Cpu,
}

impl<'a> Detector<'a> {
    pub(crate) fn new(subject: &'a Subject<'a>) -> Detector<'a> {
        let mut table = Table::new(subject.code.counters.len());
        let regions = subject.map.regions.iter();
        let written = regions.filter(|region| subject.written[region.index as usize]);
        table.expect(written.map(|region| region.size as usize / 4).sum());
        Detector {
            subject,
            now: 1,
            warp: 0,
            resident: Resident::new(subject),
            ended: true,
            repeats: Repeats::default(),
            suspended: HashMap::new(),
            global: GlobalShadow {
                table,
                regions: shadow(subject),
                released: HashMap::new(),
                forgotten: Vec::new(),
            },
            races: Races::default(),
            judged: 0,
            cpu: Cpu::detect(),
        }
    }

    /// The number of the current block.
    pub(crate) fn block(&self) -> u64 {
        self.resident.block
    }

    /// The number of the current warp.
    pub(crate) fn warp(&self) -> u32 {
        self.warp
    }

    /// The shadow of each region.
    pub(crate) fn regions(&self) -> &[Cells] {
        &self.global.regions
    }

    /// No block runs any more, and the shadow is not needed.
    pub(crate) fn drop_shadow(&mut self) {
        self.global.regions = shadow(self.subject);
    }

    /// A block begins, or continues after others had their turn. Returns the block that is suspended for it.
    /// `is_clear`: nothing was recorded for the last block's shared memory, and nothing will be for this one's.
    pub(crate) fn begin_block(&mut self, index: u64, is_clear: bool) -> Option<u64> {
        if !self.ended {
            self.leave_list();
        }
        self.now += 1;
        let left = (!self.ended).then(|| {
            let next = Resident::new(self.subject);
            let left = std::mem::replace(&mut self.resident, next);
            let block = left.block;
            self.suspended.insert(block, left);
            block
        });
        self.ended = false;
        let back = match self.suspended.is_empty() {
            true => None,
            false => self.suspended.remove(&index),
        };
        let is_new = back.is_none();
        let new_block = is_new && self.subject.quick;
        if let Some(back) = back {
            self.resident = back;
            self.flush();
        } else {
            self.resident
                .begin(index, self.subject, is_clear && left.is_none());
        }
        self.resident.table.begin_block(new_block);
        self.global.table.begin_block(new_block);
        if is_new {
            self.begin_repeats();
        }
        left
    }

    pub(crate) fn end_block(&mut self) {
        self.ended = true;
        self.end_repeats();
    }

    #[inline(always)]
    pub(crate) fn begin_warp(&mut self, number: u32) {
        self.warp = number;
        self.now += 1;
        let turn = &mut self.resident.turns[number as usize];
        let first_turn = *turn != self.resident.barriers && self.subject.quick;
        *turn = self.resident.barriers;
        self.resident.table.begin_warp(first_turn);
        self.global.table.begin_warp(first_turn);
    }

    /// `__syncwarp` of the lanes in `mask`, or an exchange, which does not order memory. Each lane names a mask.
    /// `alive`: lanes that have not ended.
    pub(crate) fn sync_warp(
        &mut self,
        mask: u32,
        named: &[u32; 32],
        alive: u32,
        orders_memory: bool,
    ) {
        self.leave_list();
        self.flush();
        for (_, group) in groups(mask, named) {
            let all = group == alive;
            let lanes = (self.warp, group);
            self.resident
                .order
                .meet(lanes, all, self.now, orders_memory);
            if all && orders_memory {
                self.resident.table.sync_warp();
                self.global.table.sync_warp();
            }
        }
        self.now += 1;
    }

    /// A fence of the lanes in `mask`: for the threads of the device, or only of the block.
    pub(crate) fn fence(&mut self, mask: u32, device: bool) {
        self.leave_list();
        self.resident.order.fence(self.warp, mask, device, self.now);
        self.now += 1;
    }

    /// Lanes of the warp arrive at a numbered barrier.
    pub(crate) fn arrive(&mut self, barrier: u32, mask: u32) {
        self.leave_list();
        self.resident
            .order
            .arrive(barrier, self.warp, mask, self.now);
        self.now += 1;
    }

    /// Lanes of a warp pass it.
    pub(crate) fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {
        self.resident.order.pass(barrier, warp, mask);
    }

    /// All lanes have passed it.
    pub(crate) fn opened(&mut self, barrier: u32) {
        self.resident.order.opened(barrier);
        self.now += 1;
    }

    /// The block's barrier opens. `all_set`: all of shared memory is initialised, so its reads may be deferred.
    pub(crate) fn barrier(&mut self, all_set: bool) {
        self.resident.order.barrier(self.now);
        self.now += 1;
        self.resident.barriers += 1;
        if !self.follows() {
            self.open(all_set);
        }
        self.global.table.barrier();
    }

    /// Applies a barrier to the shadow of shared memory.
    pub(super) fn open(&mut self, all_set: bool) {
        let resident = &mut self.resident;
        resident.deferred.barrier(&resident.cells, self.cpu);
        resident.deferred.may_defer = self.subject.may_defer_reads() && all_set;
        if resident.table.is_long() {
            resident.cells.settle();
            resident.table.clear();
        }
        resident.table.barrier();
    }

    /// A thread has allocated memory that another one freed: drops the history of that memory.
    pub(crate) fn forget(&mut self, address: u64, bytes: u64) {
        let map = self.subject.map;
        let number = map.find(address) as usize;
        let offset = address.wrapping_sub(map.regions[number].base);
        self.global.regions[number].forget(offset, bytes);
    }
}

/// The empty shadow of each region.
fn shadow(subject: &Subject<'_>) -> Vec<Cells> {
    let regions = subject.map.regions.iter();
    regions.map(|region| cells(subject, region.size)).collect()
}

/// The empty shadow of a memory.
fn cells(subject: &Subject<'_>, bytes: u64) -> Cells {
    match subject.quick {
        true => Cells::in_lines(bytes as usize),
        false => Cells::new(bytes as usize),
    }
}

impl Resident {
    fn new(subject: &Subject<'_>) -> Resident {
        let warps = subject.shape.threads().div_ceil(32) as usize;
        Resident {
            block: u64::MAX,
            order: Order::default(),
            table: Table::new(subject.code.counters.len()),
            cells: cells(subject, subject.shape.shared_bytes),
            released: HashMap::new(),
            deferred: Deferred::new(subject.code.sites.len()),
            barriers: 0,
            turns: vec![0; warps],
        }
    }

    fn begin(&mut self, index: u64, subject: &Subject<'_>, is_clear: bool) {
        self.block = index;
        self.order.begin(index as u32, self.turns.len());
        self.barriers = 1;
        self.turns.fill(0);
        if is_clear {
            return;
        }
        self.table.clear();
        self.cells.clear();
        self.released.clear();
        self.deferred.begin();
        self.deferred.may_defer = subject.may_defer_reads();
    }
}
