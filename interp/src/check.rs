//! The run-time checks: an [`Observer`] that keeps shadow memory and reports errors.
//!
//! Races are detected in [`crate::race`]. This module has the other checks: uninitialised values ([`unset`],
//! [`taint`]), writes to read-only memory ([`frozen`]), operands ([`arithmetic`]), subscripts, masks and barriers.
//! [`found`] collects all findings by source accesses and words them.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes index several arrays"
)]

mod access;
pub(crate) mod across;
mod arithmetic;
pub(crate) mod found;
mod frames;
mod frozen;
mod rounds;
mod subject;
pub(crate) mod taint;
mod unset;

use crate::memory::bytes::refill;
use crate::observe::Scene;
use crate::observe::counters::Counters;
use std::collections::{BTreeMap, HashMap};

use ir::{FenceScope, LocId, Space};

use crate::coded::Coded;
use crate::config::Check;
use crate::count::stats::Charge;
use crate::fault::finding::Finding;
use crate::isa::bytecode::{Code, Inst, MemSite, Place, RoutineCall};
use crate::isa::registers::View;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::{Access, Arrival, Frame, Like, Observer, Swept};
use crate::race::deferred::Footprint;
use crate::race::detector::Detector;
use crate::race::order::groups;
use crate::race::report::Races;
use crate::race::touches::Touches;

use arithmetic::RISKY;
use found::{Found, Source, Unset, User};
use frames::Frames;
pub(crate) use subject::Subject;
use taint::Taint;

/// Uninitialised values of a block that has begun and not ended.
#[derive(Debug)]
struct Values {
    /// Cells of shared memory that hold one, and its origin.
    unset_cells: HashMap<u32, u32>,
    /// By place in the block's list of warps: lanes that run separately have separate registers.
    taints: Vec<Taint>,
    /// The place of the current warp.
    place: usize,
    /// By warp and byte of local memory: lanes that wrote it.
    locals: Vec<Vec<u32>>,
    /// By warp and byte of local memory: the origin of the value, if it is uninitialised and was stored.
    local_origins: Vec<HashMap<u32, u32>>,
    /// By warp and byte of thread-local memory: the lanes whose variable there has ended. Empty while there are none.
    gone: Vec<Vec<u32>>,
    /// By warp: the frames of its calls.
    frames: Vec<Frames>,
}

impl Values {
    fn new(subject: &Subject<'_>) -> Values {
        let code = subject.races.code;
        let warps = match subject.unset() {
            true => subject.races.shape.threads().div_ceil(32) as usize,
            false => 0,
        };
        Values {
            unset_cells: HashMap::new(),
            taints: vec![Taint::new(code); warps],
            place: 0,
            locals: vec![vec![0; code.memory.local_bytes as usize]; warps],
            local_origins: vec![HashMap::new(); warps],
            gone: vec![Vec::new(); warps],
            frames: vec![Frames::default(); warps],
        }
    }

    fn clear(&mut self) {
        self.unset_cells.clear();
        self.locals.iter_mut().for_each(|bytes| refill(bytes, 0));
        self.local_origins.iter_mut().for_each(HashMap::clear);
        self.gone.iter_mut().for_each(Vec::clear);
        self.frames.iter_mut().for_each(Frames::clear);
        self.taints.iter_mut().for_each(Taint::clear);
    }
}

/// The origins of uninitialised values.
#[derive(Debug, Default)]
struct Origins {
    list: Vec<Unset>,
    by_source: HashMap<Source, u32>,
    /// The origin of the value that the current access loads, if it is an uninitialised value that was stored.
    loaded: Option<u32>,
}

/// The observer that counts and checks.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    counters: Counters,
    subject: &'a Subject<'a>,
    races: Detector<'a>,
    /// The values of the current block.
    values: Values,
    /// Those of blocks that wait for others, by index.
    suspended: HashMap<u64, Values>,
    found: Found,
    origins: Origins,
    /// Whether the current or last block is replayed.
    is_replayed: bool,
    /// Whether the current warp has uninitialised values.
    following: bool,
    /// Whether memory needs a shadow.
    shadows: bool,
    /// By region: whether the kernel writes it, or it was not written completely before.
    watched: Vec<bool>,
    /// By counter: the region of its last access.
    region_of: Vec<u32>,
    /// By region: what workers that have ended wrote.
    stored: Vec<Defined>,
    /// By region: what they touched.
    touched: Vec<Touch>,
    /// In a part of a launch: what the blocks of workers that have ended touched.
    part: Vec<Touches>,
    /// By counter and region: the words that were read as read-only, one bit each.
    frozen: BTreeMap<(u32, u32), Vec<u64>>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(counters: Counters, subject: &'a Subject<'a>) -> Checker<'a> {
        let races = &subject.races;
        let regions = races.map.regions.len();
        let watched = races.written.iter().zip(&subject.defined);
        Checker {
            counters,
            subject,
            races: Detector::new(races),
            values: Values::new(subject),
            suspended: HashMap::new(),
            found: Found::default(),
            origins: Origins::default(),
            is_replayed: false,
            following: false,
            shadows: races.shadows(),
            watched: watched
                .map(|(&written, defined)| written || defined.is_some())
                .collect(),
            region_of: vec![0; races.code.counters.len()],
            stored: vec![Defined::Nothing; regions],
            touched: vec![Touch::default(); regions],
            part: Vec::new(),
            frozen: BTreeMap::new(),
        }
    }

    /// What the blocks so far touched in global memory.
    pub(crate) fn touches(&self) -> Vec<Touches> {
        let mut touches = self.part.clone();
        touches.extend(self.races.touches());
        touches
    }

    /// The current block and warp, with lanes (or a lane) of it.
    fn who(&self, lanes: u32) -> (u64, u32, u32) {
        (self.races.block(), self.races.warp(), lanes)
    }

    /// A block begins. For a replayed block, only its effects on global memory are recorded.
    fn begin(&mut self, index: u64, is_replayed: bool) {
        self.counters.begin_block(index);
        let is_clear = std::mem::replace(&mut self.is_replayed, is_replayed) && is_replayed;
        if let Some(block) = self.races.begin_block(index, is_clear) {
            let next = Values::new(self.subject);
            let left = std::mem::replace(&mut self.values, next);
            self.suspended.insert(block, left);
        }
        if !self.suspended.is_empty()
            && let Some(back) = self.suspended.remove(&index)
        {
            self.values = back;
        } else if !is_clear {
            self.values.clear();
            if self.subject.unset() {
                self.unassigned();
            }
        }
    }

    /// Whether it is an access to shared memory that has to be recorded.
    #[inline(always)]
    fn sees_shared(&self, access: &Access<'_>) -> bool {
        access.space == Space::Shared && access.mask != 0 && self.shadows
    }
}

impl Observer for Checker<'_> {
    fn begin_block(&mut self, index: u64) {
        self.begin(index, false);
    }

    fn end_block(&mut self) {
        self.races.end_block();
    }

    #[inline(always)]
    fn begin_warp(&mut self, number: u32, place: usize) {
        self.counters.begin_warp(number, place);
        self.races.begin_warp(number);
        self.values.place = place;
        let taint = self.values.taints.get(place);
        self.following = taint.is_some_and(|taint| taint.live);
    }

    fn part(&mut self, place: usize, to: usize) {
        let taints = &mut self.values.taints;
        let Some(taint) = taints.get(place).cloned() else {
            return;
        };
        match taints.get_mut(to) {
            Some(old) => *old = taint,
            None => taints.push(taint),
        }
    }

    fn join(&mut self, place: usize, other: usize, lanes: u32) {
        let Some(joins) = self.values.taints.get(other).cloned() else {
            return;
        };
        self.values.taints[place].join(&joins, lanes);
    }

    const RISKY: [bool; 1024] = RISKY;

    #[inline(always)]
    fn risks(&self, pc: usize) -> bool {
        !self.subject.safe[pc]
    }

    #[inline(always)]
    fn follows(&self) -> bool {
        self.following
    }

    #[inline(never)]
    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {
        if !self.subject.safe[pc] {
            let lanes = arithmetic::wrong_lanes(r, inst) & mask;
            if lanes != 0 {
                let lane = lanes.trailing_zeros();
                let operands = arithmetic::operands(r, inst, lane as usize);
                let who = self.who(lanes);
                self.found.wrong_operand(pc as u32, who, operands);
            }
        }
        if !self.following {
            return;
        }
        let taint = &mut self.values.taints[self.values.place];
        let matters = taint.follow(self.subject.races.code, r, inst, mask);
        self.following = taint.live;
        if let Some(matters) = matters {
            let user = User {
                what: matters.what,
                block: self.races.block(),
                warp: self.races.warp(),
                lane: matters.lanes.trailing_zeros(),
                loc: self.subject.races.code.locs[pc],
            };
            for origin in std::iter::once(matters.origin).chain(matters.second) {
                self.found.unset(&self.origins.list[origin as usize], user);
            }
        }
    }

    fn stored(&self) -> Vec<(u64, Defined)> {
        let mut stored = self.stored.clone();
        self.add_stored(&mut stored);
        let regions = self.subject.races.map.regions.iter().zip(stored);
        regions
            .filter(|(_, defined)| !matches!(defined, Defined::Nothing))
            .map(|(region, defined)| (region.base, defined))
            .collect()
    }

    fn touched(&self) -> Vec<(u64, Touch)> {
        let mut touched = self.touched.clone();
        self.add_touched(&mut touched);
        let regions = self.subject.races.map.regions.iter().zip(touched);
        let tracked = regions.filter(|(region, _)| self.subject.tracked[region.index as usize]);
        tracked
            .map(|(region, touch)| (region.base, touch))
            .collect()
    }

    const REPLAYS: bool = true;

    fn is_quiet(&self, shared: bool) -> bool {
        let is_like = !shared || !self.shadows || self.races.follows();
        is_like && !self.following && self.values.unset_cells.is_empty()
    }

    fn begin_replayed(&mut self, index: u64) {
        self.begin(index, true);
    }

    #[inline(always)]
    fn watches(&self, region: u32) -> bool {
        self.shadows && self.watched[region as usize]
    }

    #[inline(always)]
    fn is_written(&self, region: u32, offset: u64, bytes: u64) -> bool {
        let defined = self.subject.defined[region as usize];
        !self.subject.unset() || defined.is_none_or(|defined| defined.holds(offset, bytes))
    }

    const SEES_REPEATS: bool = true;

    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.subscript(access);
        if access.space == Space::Local {
            self.local(access, offsets);
        } else if self.sees_shared(access) {
            let is_clean = self.values.unset_cells.is_empty() && !self.following;
            if !self.races.repeats_window(access, offsets, is_clean)
                && !self.races.defer_window(access, offsets)
            {
                self.shared(access, offsets, false);
            }
        }
        self.counters.window(access, offsets)
    }

    #[inline(always)]
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.subscript(access);
        Checker::global(self, access, addresses);
        self.counters.global(access, addresses)
    }

    #[inline(always)]
    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {
        if !like.is_within {
            self.subscript(access);
        }
        if !self.sees_shared(access) {
            return;
        }
        let pattern = like.pattern;
        let footprint = Footprint {
            bytes: &pattern.bytes,
            lowest: like.lowest as u32,
            extent: pattern.extent + access.site.width_bytes,
            run: pattern.run,
            pattern: Some((access.site.row, pattern.version)),
        };
        let is_clean = self.values.unset_cells.is_empty() && !self.following;
        if !self.races.repeats(access, &footprint, is_clean)
            && !self.races.shared_quickly(access, &footprint, is_clean)
        {
            self.shared(access, &footprint.offsets(), footprint.run);
        }
    }

    #[inline(always)]
    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {
        if !like.is_within {
            self.subscript(access);
        }
        self.repeat_in_region(access, like);
    }

    #[inline(always)]
    fn repeat_rounds(&mut self, loads: &[Swept<'_>]) -> bool {
        self.sees_rounds(loads)
    }

    #[inline(always)]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counters.repeats(site, charge, requests, lanes);
    }

    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {
        if self.subject.races.checks.has(Check::Mask) {
            for (lane, _) in groups(mask, named) {
                let wanted = named[lane as usize];
                let elsewhere = wanted & alive & !mask;
                if elsewhere != 0 || wanted >> lane & 1 == 0 {
                    self.found.bad_mask(loc, self.who(lane), wanted, elsewhere);
                }
            }
        }
        self.races.sync_warp(mask, named, alive, true);
    }

    fn exchange(&mut self, mask: u32, named: &[u32; 32], alive: u32) {
        self.races.sync_warp(mask, named, alive, false);
    }

    #[inline(never)]
    fn stray_shuffle(&mut self, strays: u32, result: Place, loc: LocId) {
        if self.subject.unset() {
            self.outside_shuffle(strays, result, loc);
        }
    }

    fn lifetime(&mut self, mask: u32, bytes: (u32, u32), begins: bool) {
        self.lives(mask, bytes, begins);
    }

    fn enter(&mut self, code: &Code, call: &RoutineCall, mask: u32, frame: Frame) {
        self.enters(code, call, mask, frame);
    }

    fn leave(&mut self, code: &Code, call: &RoutineCall) {
        self.leaves(code, call);
    }

    fn allocated(&mut self, address: u64, bytes: u64) {
        self.races.forget(address, bytes);
    }

    fn arrive(&mut self, barrier: u32, mask: u32) {
        self.races.arrive(barrier, mask);
    }

    fn pass(&mut self, barrier: u32, warp: u32, mask: u32) {
        self.races.pass(barrier, warp, mask);
    }

    fn opened(&mut self, barrier: u32) {
        self.races.opened(barrier);
    }

    fn fence(&mut self, mask: u32, scope: FenceScope, _is_sc: bool) {
        let device = match scope {
            FenceScope::Block => false,
            FenceScope::Device | FenceScope::System => true,
        };
        self.races.fence(mask, device);
    }

    fn uneven_barrier(&mut self, meeting: &[Arrival]) {
        if self.subject.races.checks.has(Check::Barrier) {
            let code = self.subject.races.code;
            self.found.uneven_barrier(code, self.races.block(), meeting);
        }
    }

    fn barrier(&mut self) {
        self.races.barrier(self.values.unset_cells.is_empty());
    }

    fn needs_order(&self) -> bool {
        self.races.races.crosses
    }

    fn finish(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        self.see_thawed(&mut found);
        self.found = found;
        self.frozen.clear();
        let mut stored = std::mem::take(&mut self.stored);
        self.add_stored(&mut stored);
        self.stored = stored;
        let mut touched = std::mem::take(&mut self.touched);
        self.add_touched(&mut touched);
        self.touched = touched;
        if self.subject.races.is_part {
            self.part = self.touches();
        }
        self.races.drop_shadow();
    }

    fn absorb(&mut self, other: &Self) {
        other.see_thawed(&mut self.found);
        self.counters.absorb(&other.counters);
        self.found.absorb(&other.found);
        self.races.races.absorb(&other.races.races);
        for (ours, theirs) in self.stored.iter_mut().zip(&other.stored) {
            ours.join(theirs);
        }
        other.add_stored(&mut self.stored);
        for (ours, theirs) in self.touched.iter_mut().zip(&other.touched) {
            ours.join(theirs);
        }
        other.add_touched(&mut self.touched);
        self.part.extend_from_slice(&other.part);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.counters.save(out);
        let mut found = Found::default();
        self.see_thawed(&mut found);
        found.absorb(&self.found);
        found.put(out);
        self.races.races.put(out);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        self.counters.load(from)?;
        self.found.absorb(&Found::get(from)?);
        self.races.races.absorb(&Races::get(from)?);
        Some(())
    }

    fn save_touches(&self, out: &mut Vec<u8>) {
        self.touches().put(out);
    }

    fn forgets(&self) -> bool {
        self.races.races.forgets
    }

    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        let mut all = self.found.findings(scene, &self.races.races);
        if !self.frozen.is_empty() {
            let mut own = Found::default();
            self.see_thawed(&mut own);
            all.extend(own.findings(scene, &Races::default()));
        }
        all
    }
}
