//! Replays a recorded block with the data of other blocks.
//!
//! In most kernels each block runs the same way: which lanes are active, and which shared memory they access, follows
//! from the thread indices, not from data. For such a launch one block is recorded ([`record`]), instruction by
//! instruction. What is the same in every block becomes a constant, including masks and offsets in shared memory. What
//! remains is a straight list of instructions over one register file ([`plan`]), which later blocks run ([`run`]). They
//! have the same counts, which are multiplied.
//!
//! The list begins with what depends on the block index: conditions, which must have the same result as in the recorded
//! block, and requests of global memory, which must have the same cost. If one differs, nothing has happened yet, and
//! the block runs like any other. What depends on data may only influence registers and memory. Otherwise the launch
//! has no list.
//!
//! Observers see a replayed block's global memory, its barriers, and operands that may be invalid. They do not see its
//! shared memory: as for the [`repeats`](crate::race) of the race check, it cannot have a finding if the recorded block
//! had none.

pub(crate) mod kept;
mod plan;
mod record;
pub(crate) mod run;

use std::sync::Arc;

use self::kept::{Asked, ReplayCache};
use crate::count::pattern::Pattern;
use crate::count::stats::Charge;
use crate::isa::bytecode::{Code, Inst, MemSite};
use crate::isa::op::Op;
use crate::isa::registers::Registers;
use crate::machine::block::{Block, Turn};
use crate::machine::engine::Engine;
use crate::machine::{Machine, Record, Totals};
use crate::observe::Observer;
use crate::shortcut::Shortcut;

/// With fewer blocks than this, counting the worker's and those of earlier equal launches, a list does not pay off:
/// recording a block of a reduction takes as long as running about forty others.
const FEW_BLOCKS: u128 = if cfg!(test) { 6 } else { 256 };
/// With fewer blocks than this, not even another launch's list pays off.
const LEAST_BLOCKS: u128 = 8;
/// How many blocks run first, so that the race check has a list of their shared memory and it is known which warps are
/// idle.
const FIRST_BLOCKS: u32 = 4;
/// How many recorded blocks may give no list, or a useless one, before recording stops.
const ATTEMPTS: u32 = 4;
/// How many blocks in a row may fail to follow the list before another block is recorded.
const MISSES: u32 = 8;
/// A list that served fewer blocks was not worth its cost.
const USEFUL: u64 = 32;

/// The origin of a list entry: the recorded instruction.
#[derive(Clone, Copy, Default)]
struct EntryOrigin {
    pc: u32,
    mask: u32,
    /// The warp's number and its place in the block's list.
    warp: u32,
    place: u32,
}

/// A request of global memory.
#[derive(Clone)]
pub(super) struct Reach {
    site: MemSite,
    /// Its address registers. `c` is the row of the site.
    inst: Inst,
    mask: u32,
    /// Index in [`List::patterns`].
    pattern: u32,
    /// The lowest lane's address in the current block.
    lowest: u64,
}

/// A request of shared memory that is not a run of words.
#[derive(Clone)]
pub(super) struct Window {
    site: MemSite,
    mask: u32,
    /// Index in [`List::layouts`], if all lanes are inside.
    layout: Option<u32>,
    /// The lowest lane's offset; without a layout each lane's.
    lowest: u32,
    offsets: Box<[u32; 32]>,
}

/// Requests of shared memory with the same cost.
#[derive(Clone)]
struct Cost {
    row: u32,
    charge: Charge,
    requests: u64,
    lanes: u64,
}

/// The recorded block as a list of instructions, which other blocks run.
#[derive(Clone)]
pub(crate) struct List {
    insts: Vec<Inst>,
    /// The origin of each instruction.
    whence: Vec<EntryOrigin>,
    registers: Registers,
    reaches: Vec<Reach>,
    /// The patterns of requests of global memory, with the rows of their sites. Blocks that do not follow the list
    /// leave them unchanged.
    patterns: Vec<(u32, Pattern)>,
    windows: Vec<Window>,
    layouts: Vec<Pattern>,
    /// A block's counts without its requests of global memory; the totals are in `totals`.
    totals: Totals,
    record: Arc<Record>,
    costs: Vec<Cost>,
    /// Blocks that ran and are so far included only in the totals.
    blocks: u64,
    /// Whether a block that follows the list has run by itself on this worker. The worst request of each access is
    /// reported for the first such block.
    is_witnessed: bool,
}

/// A worker's list, if it has one, and whether to record one.
pub(crate) struct Replay<'a> {
    /// What launches of the kernel share.
    kept: &'a ReplayCache,
    asked: Asked,
    /// Approximately how many blocks this worker has.
    blocks: u128,
    workers: u128,
    /// How many attempts are left.
    attempts: u32,
    /// Whether the kernel accesses shared memory.
    has_shared: bool,
    /// Blocks that ran by themselves since the last attempt, or since the last block that followed the list.
    others: u32,
    /// Numbers the patterns of all lists so far. The race check identifies a site's patterns by their versions.
    patterns: u32,
    list: Option<Box<List>>,
}

impl<'a> Replay<'a> {
    /// For one of `workers` workers, which share `blocks` blocks.
    pub(crate) fn new(
        kept: &'a ReplayCache,
        code: &Code,
        blocks: u128,
        workers: usize,
    ) -> Replay<'a> {
        let workers = workers.max(1) as u128;
        let is_worth_it = blocks / workers >= LEAST_BLOCKS.min(FEW_BLOCKS);
        let mut insts = code.insts.iter();
        Replay {
            kept,
            asked: Asked::default(),
            blocks: blocks / workers,
            workers,
            attempts: match code.shortcuts.has(Shortcut::Replay)
                && is_worth_it
                && plan::is_possible(code)
            {
                true => ATTEMPTS,
                false => 0,
            },
            has_shared: insts.any(|inst| matches!(inst.op, Op::LoadShared | Op::StoreShared)),
            others: 0,
            patterns: 0,
            list: None,
        }
    }

    /// The worker has no more blocks, and all counts are summed up.
    #[cfg(feature = "threads")]
    pub(crate) fn forget_list(&mut self) {
        self.list = None;
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Adds the counts of replayed blocks to the sums.
    pub(super) fn settle_replayed(&mut self) {
        let Some(list) = &mut self.replay.list else {
            return;
        };
        let blocks = std::mem::take(&mut list.blocks);
        if blocks == 0 {
            return;
        }
        self.record.absorb_times(&list.record, blocks);
        for cost in &list.costs {
            let site = &self.code.sites[cost.row as usize];
            let (requests, lanes) = (blocks * cost.requests, blocks * cost.lanes);
            self.observer.repeats(site, cost.charge, requests, lanes);
        }
        for (row, pattern) in &mut list.patterns {
            pattern.settle(&self.code.sites[*row as usize], &mut self.observer);
        }
    }
}

impl Block {
    /// Runs the block with number `index` from its start until it has ended or cannot go on alone.
    pub(crate) fn run<O: Observer>(
        &mut self,
        index: u64,
        machine: &mut Machine<'_, O>,
        engine: &Engine<O>,
    ) -> Turn {
        // A sampled block runs the ordinary way.
        let is_looked_at = machine.record.reach.samples(index);
        if O::REPLAYS && machine.replay.attempts > 0 && !is_looked_at {
            if machine.replay.list.is_none() {
                machine.look_for_list();
            }
            if self.is_replayed(index, machine, engine) {
                return Turn::Done;
            }
            machine.replay.others += 1;
            if machine.replay.others == MISSES
                && let Some(list) = &machine.replay.list
            {
                let served = list.blocks;
                machine.settle_replayed();
                machine.replay.list = None;
                machine.replay.attempts -= 1;
                if served < USEFUL {
                    machine.fails();
                }
            }
        }
        let before = machine.record.totals;
        let accesses = machine.accesses();
        self.begin(index, machine.code, &machine.shape);
        machine.record.totals.warps += self.warps.len() as u64;
        let replay = &machine.replay;
        let records = replay.attempts > 0 && replay.list.is_none();
        if O::REPLAYS
            && records
            && replay.others >= FIRST_BLOCKS
            && let Some(claim) = replay.kept.claim()
        {
            return self.record(machine, engine, before, claim);
        }
        let turn = self.turn(machine, engine.run);
        machine.note_idle(&turn, accesses);
        turn
    }

    /// Runs the block from the list, if there is one and the block follows it.
    #[inline(always)]
    fn is_replayed<O: Observer>(
        &mut self,
        index: u64,
        machine: &mut Machine<'_, O>,
        engine: &Engine<O>,
    ) -> bool {
        let charged = machine.record.totals.charged();
        let room = machine.policy.limit.saturating_sub(charged);
        let stops = machine.policy.stop.asked().is_some();
        let may = |list: &mut Box<List>| list.totals.charged() <= room && !stops;
        let Some(mut list) = machine.replay.list.take_if(may) else {
            return false;
        };
        let runs = (engine.replay)(machine, &mut list, &mut self.shared, index);
        if runs {
            list.blocks += 1;
            #[cfg(test)]
            crate::tests::REPLAYED.set(crate::tests::REPLAYED.get() + 1);
            machine.record.totals.add(&list.totals);
            machine.replay.others = 0;
        }
        machine.replay.list = Some(list);
        runs
    }
}
