//! Blocks that do what a block before them did, with other data.
//!
//! In most kernels each block goes the same way: which lanes are active, and where in shared memory they go, follows from the threads'
//! numbers, not from data. Such a launch has one of its blocks written down ([`record`]), instruction by instruction. What is the
//! same in every block becomes a constant then, masks and offsets in shared memory among them; what is left is a straight list of
//! instructions over one file of registers ([`plan`]), which the blocks behind it run ([`run`]). They have the same counts, so these are
//! multiplied.
//!
//! What follows from the block's number comes first in the list: conditions, which have to hold as they did, and requests of global memory,
//! which have to cost what they did. If it is not so, nothing has happened yet, and the block runs as any other. What follows from
//! data may go nowhere but into registers and memory; else the launch has no such list.
//!
//! Observers see a replayed block's global memory, barriers, and operands that may be wrong. They do not see its shared memory: as of the
//! [`repeats`](crate::race) of the race check nothing is to be said of it where nothing was of the block that was written down.

pub(crate) mod kept;
mod plan;
mod record;
pub(crate) mod run;

use std::sync::Arc;

use self::kept::{Asked, Kept};
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

/// With fewer blocks than this, of a worker and of launches before its own that are like it, a list is not worth it: to write a block of a
/// reduction down takes as long as some forty others that run by themselves.
const FEW_BLOCKS: u128 = if cfg!(test) { 6 } else { 256 };
/// With fewer than this not even one that another launch has left.
const LEAST_BLOCKS: u128 = 8;
/// So many blocks run first: the race check gets a list of their shared memory, and which warps are idle is known.
const FIRST_BLOCKS: u32 = 4;
/// Blocks that are written down in vain, or whose lists serve nobody, before it is given up.
const ATTEMPTS: u32 = 4;
/// Blocks in a row that do not go as the list does, before another one is written.
const MISSES: u32 = 8;
/// A list that served fewer blocks did not pay for itself.
const USEFUL: u64 = 32;

/// Where an instruction of a list comes from.
#[derive(Clone, Copy, Default)]
struct Whence {
    pc: u32,
    mask: u32,
    /// The warp's number, and its place in the block's list.
    warp: u32,
    place: u32,
}

/// A request of global memory.
#[derive(Clone)]
pub(super) struct Reach {
    site: MemSite,
    /// Its address registers; `c` is the site's row.
    inst: Inst,
    mask: u32,
    /// Of [`List::patterns`].
    pattern: u32,
    /// The lowest lane's address in the block that runs.
    lowest: u64,
}

/// A request of shared memory that is no run of words.
#[derive(Clone)]
pub(super) struct Window {
    site: MemSite,
    mask: u32,
    /// Of [`List::layouts`], if all lanes are inside.
    layout: Option<u32>,
    /// The lowest lane's offset; without a layout each lane's.
    lowest: u32,
    offsets: Box<[u32; 32]>,
}

/// Requests of shared memory that cost the same.
#[derive(Clone)]
struct Cost {
    row: u32,
    charge: Charge,
    requests: u64,
    lanes: u64,
}

/// What the blocks run.
#[derive(Clone)]
pub(crate) struct List {
    insts: Vec<Inst>,
    /// Of each.
    whence: Vec<Whence>,
    registers: Registers,
    reaches: Vec<Reach>,
    /// Of requests of global memory, with the rows of their sites. Blocks that run otherwise do not change them.
    patterns: Vec<(u32, Pattern)>,
    windows: Vec<Window>,
    layouts: Vec<Pattern>,
    /// What a block counts, without its requests of global memory: the totals are here.
    totals: Totals,
    record: Arc<Record>,
    costs: Vec<Cost>,
    /// Blocks that ran and are in no sum but the totals.
    blocks: u64,
    /// A block of this worker that goes so has run by itself: the evidence of what accesses cost is of the first one.
    is_witnessed: bool,
}

/// The list of a worker, if it has one.
pub(crate) struct Replay<'a> {
    /// What launches of the kernel leave to each other.
    kept: &'a Kept,
    asked: Asked,
    /// Blocks of this worker, about.
    blocks: u128,
    workers: u128,
    /// Attempts that are left.
    attempts: u32,
    /// The kernel accesses shared memory.
    has_shared: bool,
    /// Blocks that ran otherwise since the last attempt, or since the last that went as the list does.
    others: u32,
    /// Patterns of all lists so far: the race check tells a site's patterns apart by their versions.
    patterns: u32,
    list: Option<Box<List>>,
}

impl<'a> Replay<'a> {
    /// Of one of the workers that have so many blocks.
    pub(crate) fn new(kept: &'a Kept, code: &Code, blocks: u128, workers: usize) -> Replay<'a> {
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

    /// The worker has no more blocks, and everything is in the sums.
    #[cfg(feature = "threads")]
    pub(crate) fn forget_list(&mut self) {
        self.list = None;
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Makes what replayed blocks count a part of the sums.
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
    /// Runs block number `index` from its beginning until it is done or cannot go on alone.
    pub(crate) fn run<O: Observer>(
        &mut self,
        index: u64,
        machine: &mut Machine<'_, O>,
        engine: &Engine<O>,
    ) -> Turn {
        // A block that is looked at goes the ordinary way.
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

    /// Runs it as the list says, if there is one, and it goes so.
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
