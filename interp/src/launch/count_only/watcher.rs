//! The observer of a representative: it counts as usual, and tracks how all values move from block to block.

use super::access::Ground;
use super::cover::{Cover, Limits};
use super::known::{AlikeBlocks, Decides};
use super::step::{Marks, Step};
use crate::count::stats::Charge;
use crate::fault::stop::{StopFlag, StopReason};
use crate::isa::bytecode::{Code, Inst, MemSite};
use crate::isa::op::{Op, Sort};
use crate::isa::registers::View;
use crate::memory::map::GlobalMap;
use crate::observe::counters::Counters;
use crate::observe::{Access, Observer};

/// Watches one block.
pub(super) struct Watcher<'a> {
    pub(super) counters: Counters,
    pub(super) known: AlikeBlocks,
    code: &'a Code,
    map: &'a GlobalMap,
    is_still: &'a [bool],
    pub(super) matters: Vec<bool>,
    /// Indexed by place in the block's list.
    warps: Vec<Marks>,
    at: usize,
    /// Ends the block when nothing more can be learned: with wrong data it might never end.
    stop: StopFlag,
    /// The caller's request to stop the launch.
    user: &'a StopFlag,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(
        counters: Counters,
        (grid, cover): ([u32; 3], &Cover),
        code: &'a Code,
        (map, is_still): (&'a GlobalMap, &'a [bool]),
        (stop, user): (StopFlag, &'a StopFlag),
    ) -> Watcher<'a> {
        Watcher {
            counters,
            known: AlikeBlocks {
                grid,
                stride: cover.stride,
                wanted: cover.stride,
                limits: Limits::default(),
                refusal: None,
            },
            code,
            map,
            is_still,
            matters: vec![false; map.regions.len()],
            warps: Vec::new(),
            at: 0,
            stop,
            user,
        }
    }
}

impl Observer for Watcher<'_> {
    const IS_QUICK: bool = false;
    const SEES_REPEATS: bool = true;

    fn begin_block(&mut self, index: u64) {
        self.counters.begin_block(index);
    }

    fn begin_warp(&mut self, number: u32, place: usize) {
        self.counters.begin_warp(number, place);
        while self.warps.len() <= place {
            self.warps.push(Marks::new(self.code, &self.known));
        }
        self.at = place;
        if let Some(why) = self.user.asked() {
            self.stop.ask(why);
        }
    }

    fn part(&mut self, _place: usize, _to: usize) {
        self.known
            .refuse(Decides::Parts, ir::LocId::default(), None);
    }

    #[inline]
    fn follows(&self) -> bool {
        !self.known.is_over()
    }

    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {
        if matches!(inst.op, Op::Tick | Op::Jump) {
            return;
        }
        let mut step = Step {
            marks: &mut self.warps[self.at],
            known: &mut self.known,
            code: self.code,
            r,
            mask,
            loc: self.code.locs[pc],
        };
        match inst.op.sort() {
            Sort::Accesses => {
                let site = &self.code.sites[inst.c as usize];
                let mut ground = Ground {
                    map: self.map,
                    is_still: self.is_still,
                    matters: &mut self.matters,
                    period_bytes: self.counters.period_bytes(site),
                };
                step.access(inst, &mut ground);
            }
            _ => step.follow(inst),
        }
        if self.known.is_over() {
            // Any reason will do, because it is not reported.
            self.stop.ask(StopReason::Interrupted);
        }
    }

    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.counters.window(access, offsets)
    }

    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.counters.global(access, addresses)
    }

    #[inline(always)]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counters.repeats(site, charge, requests, lanes);
    }

    fn absorb(&mut self, other: &Self) {
        self.counters.absorb(&other.counters);
    }
}
