//! The run-time checks: an [`Observer`] that keeps shadow memory beside the program's and says what is wrong.
//!
//! Races are found in [`crate::race`]. Here is the rest: values that nobody wrote ([`unset`], [`taint`]), read-only memory that is written
//! ([`frozen`]), operands ([`arithmetic`]), subscripts, masks and barriers. [`found`] gathers all of it by source accesses and words it.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes index several arrays"
)]

mod arithmetic;
pub(crate) mod found;
mod frozen;
mod subject;
pub(crate) mod taint;
mod unset;

use crate::memory::bytes::refill;
use crate::observe::Scene;
use crate::observe::counters::Counters;
use std::collections::{BTreeMap, HashMap};

use dsl::ir::{FenceScope, LocId, Space};

use crate::config::Check;
use crate::count::stats::{Charge, SiteCounts};
use crate::count::witness::Worst;
use crate::fault::finding::Finding;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Inst, MemSite, Op, Place, Subscript};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::memory::defined::Defined;
use crate::memory::traffic::Touch;
use crate::observe::{Access, Arrival, Like, Observer};
use crate::race::access::Cpu;
use crate::race::deferred::{Deferred, Footprint};
use crate::race::epoch::{Entry, Table};
use crate::race::order::{Order, Released};
use crate::race::shadow::Cells;

use arithmetic::RISKY;
use found::{Found, Source, Unset, User};
pub(crate) use subject::Subject;
use taint::Taint;

/// A block that has begun and not ended.
#[derive(Debug)]
pub(crate) struct Resident {
    pub(crate) block: u64,
    pub(crate) order: Order,
    pub(crate) table: Table,
    pub(crate) cells: Cells,
    /// Released in shared memory, by offset.
    pub(crate) released: HashMap<u32, Released>,
    /// Cells of shared memory that hold a value that came from nowhere, and its origin.
    pub(crate) unset_cells: HashMap<u32, u32>,
    /// By warp.
    taints: Vec<Taint>,
    /// By warp and byte of local memory: lanes that wrote it.
    locals: Vec<Vec<u32>>,
    /// By warp and byte of local memory: where the value came from that nobody wrote, if one was stored.
    local_origins: Vec<HashMap<u32, u32>>,
    /// By warp and byte of thread-local memory: the lanes whose variable there has ended. Empty as long as none has.
    gone: Vec<Vec<u32>>,
    pub(crate) deferred: Deferred,
    /// Barriers so far, from 1 on.
    barriers: u32,
    /// By warp: of its last turn, the barriers then.
    turns: Vec<u32>,
}

/// The shadow of global memory, and what is known of its regions.
#[derive(Debug)]
pub(crate) struct GlobalShadow {
    pub(crate) table: Table,
    pub(crate) regions: Vec<Cells>,
    /// By counter: the region it last hit.
    pub(crate) region_of: Vec<u32>,
    /// By address.
    pub(crate) released: HashMap<u64, Released>,
    /// By region: what workers that have ended wrote.
    stored: Vec<Defined>,
    /// By region: what they touched.
    touched: Vec<Touch>,
    /// By counter and region: the words that were read as what nobody writes, one bit each.
    frozen: BTreeMap<(u32, u32), Vec<u64>>,
    /// By region: somebody writes it, or has not written all of it.
    pub(crate) watched: Vec<bool>,
}

/// Where values come from that nobody wrote.
#[derive(Debug, Default)]
struct Origins {
    list: Vec<Unset>,
    by_source: HashMap<Source, u32>,
    /// Of the current access, if it loads such a value that was stored.
    loaded: Option<u32>,
}

/// Counts, and checks.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    counters: Counters,
    pub(crate) subject: &'a Subject<'a>,
    /// Grows with every synchronisation.
    pub(crate) now: u32,
    pub(crate) warp: u32,
    /// The block that runs.
    pub(crate) here: Resident,
    ended: bool,
    /// Blocks that wait for others, by index.
    aside: HashMap<u64, Resident>,
    pub(crate) global: GlobalShadow,
    pub(crate) found: Found,
    origins: Origins,
    /// The current warp has values that nobody wrote.
    pub(crate) following: bool,
    /// Instructions that were judged lane by lane, so far: tells one from another.
    pub(crate) judged: u64,
    pub(crate) cpu: Cpu,
    /// Memory needs a shadow.
    pub(crate) shadows: bool,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(counters: Counters, subject: &'a Subject<'a>) -> Checker<'a> {
        let sites = subject.code.counters.len();
        let regions = subject.map.regions.iter();
        let mut table = Table::new(sites);
        let written = regions
            .clone()
            .filter(|region| subject.written[region.index as usize]);
        table.expect(written.map(|region| region.size as usize / 4).sum());
        let watched = subject.written.iter().zip(&subject.defined);
        let global = GlobalShadow {
            table,
            regions: regions
                .map(|region| match subject.quick {
                    true => Cells::in_lines(region.size as usize),
                    false => Cells::new(region.size as usize),
                })
                .collect(),
            region_of: vec![0; sites],
            released: HashMap::new(),
            stored: vec![Defined::Nothing; subject.map.regions.len()],
            touched: vec![Touch::default(); subject.map.regions.len()],
            frozen: BTreeMap::new(),
            watched: watched
                .map(|(&written, defined)| written || defined.is_some())
                .collect(),
        };
        Checker {
            counters,
            subject,
            now: 1,
            warp: 0,
            here: Resident::new(subject),
            ended: true,
            aside: HashMap::new(),
            global,
            found: Found::default(),
            origins: Origins::default(),
            following: false,
            judged: 0,
            cpu: Cpu::at_hand(),
            shadows: subject.shadows(),
        }
    }

    /// The entry of an access to shared memory, as a tag.
    #[inline(always)]
    pub(crate) fn tag(&mut self, access: &Access<'_>) -> u32 {
        let here = &mut self.here;
        here.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: here.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile: access.site.access.volatile,
        })
    }

    /// Looks at the innermost subscript of an array that has several.
    #[inline(always)]
    fn subscript(&mut self, access: &Access<'_>) {
        let Some(subscript) = access.site.subscript else {
            return;
        };
        if subscript.is_long {
            self.long_subscript(access, &subscript);
            return;
        }
        let uniform = subscript
            .uniform
            .map_or(0, |register| access.r.s(register) as u32);
        let mut beyond = 0;
        match subscript.varying {
            None => beyond = 0u32.wrapping_sub(u32::from(uniform >= subscript.len)),
            Some(register) => {
                let varying = access.r.v32(register);
                for lane in 0..32 {
                    let index = varying[lane].wrapping_add(uniform);
                    beyond |= u32::from(index >= subscript.len) << lane;
                }
            }
        }
        if beyond & access.mask != 0 {
            let lanes = beyond & access.mask;
            let varying = subscript.varying.map_or(0, |register| {
                access.r.v32(register)[lanes.trailing_zeros() as usize]
            });
            let who = (self.here.block, self.warp, lanes);
            let index = varying.wrapping_add(uniform) as i32;
            self.found.beyond(
                access.counter,
                who,
                (index.into(), subscript.len, access.site.access.is_member),
            );
        }
    }

    /// The same of 64 bits.
    #[inline(never)]
    fn long_subscript(&mut self, access: &Access<'_>, subscript: &Subscript) {
        let index = |lane: usize| match (subscript.varying, subscript.uniform) {
            (Some(register), _) => access.r.v64(register)[lane],
            (None, Some(register)) => access.r.s(register),
            (None, None) => 0,
        };
        let lanes = LaneMask(access.mask).into_iter();
        let mut beyond = lanes.filter(|&lane| index(lane) >= u64::from(subscript.len));
        if let Some(first) = beyond.next() {
            let all = beyond.fold(1u32 << first, |all, lane| all | 1 << lane);
            let who = (self.here.block, self.warp, all);
            let index = index(first) as i64;
            self.found.beyond(
                access.counter,
                who,
                (index, subscript.len, access.site.access.is_member),
            );
        }
    }

    /// Acquires and releases of an atomic or `volatile` access.
    pub(crate) fn synchronise(
        &mut self,
        access: &Access<'_>,
        at: impl Fn(usize) -> u64,
        shared: bool,
    ) {
        if !self.subject.fences {
            return;
        }
        let (loads, stores) = match access.site.op {
            AccessOp::Load => (true, false),
            AccessOp::Store => (false, true),
            AccessOp::Atomic => (true, true),
        };
        let here = &mut self.here;
        let device = !access.site.access.block_scope;
        for lane in LaneMask(access.mask) {
            let thread = 32 * self.warp + lane as u32;
            let at = at(lane);
            if loads {
                let released = if shared {
                    here.released.get(&(at as u32))
                } else {
                    self.global.released.get(&at)
                };
                if let Some(released) = released {
                    let takes = self.subject.roles[access.counter as usize].locks;
                    here.order.acquire(thread, released, device, takes);
                }
            }
            if stores && here.order.has_fenced(thread) {
                let released = if shared {
                    here.released.entry(at as u32).or_default()
                } else {
                    self.global.released.entry(at).or_default()
                };
                here.order.release(thread, released, device);
            }
        }
    }
}

impl Resident {
    fn new(subject: &Subject<'_>) -> Resident {
        let all_warps = subject.shape.threads().div_ceil(32) as usize;
        let warps = if subject.unset() { all_warps } else { 0 };
        Resident {
            block: u64::MAX,
            order: Order::default(),
            table: Table::new(subject.code.counters.len()),
            cells: Cells::new(subject.shape.shared_bytes as usize),
            released: HashMap::new(),
            unset_cells: HashMap::new(),
            taints: vec![Taint::new(subject.code); warps],
            locals: vec![vec![0; subject.code.memory.local_bytes as usize]; warps],
            local_origins: vec![HashMap::new(); warps],
            gone: vec![Vec::new(); warps],
            deferred: Deferred::new(subject.code.sites.len()),
            barriers: 0,
            turns: vec![0; all_warps],
        }
    }
}

impl Observer for Checker<'_> {
    fn begin_block(&mut self, index: u64) {
        self.counters.begin_block(index);
        self.now += 1;
        if !self.ended {
            let next = Resident::new(self.subject);
            let left = std::mem::replace(&mut self.here, next);
            self.aside.insert(left.block, left);
        }
        self.ended = false;
        let back = self.aside.remove(&index);
        let new_block = back.is_none() && self.subject.quick;
        if let Some(back) = back {
            self.here = back;
            self.flush();
        } else {
            let here = &mut self.here;
            here.block = index;
            let warps = self.subject.shape.threads().div_ceil(32);
            here.order.begin(index as u32, warps as usize);
            here.table.clear();
            here.cells.clear();
            here.released.clear();
            here.unset_cells.clear();
            here.deferred.begin();
            here.deferred.may_defer = self.subject.may_defer_reads();
            here.barriers = 1;
            here.turns.fill(0);
            here.locals.iter_mut().for_each(|bytes| refill(bytes, 0));
            here.local_origins.iter_mut().for_each(HashMap::clear);
            here.gone.iter_mut().for_each(Vec::clear);
            here.taints.iter_mut().for_each(Taint::clear);
            if self.subject.unset() {
                self.unassigned();
            }
        }
        self.here.table.begin_block(new_block);
        self.global.table.begin_block(new_block);
    }

    fn end_block(&mut self) {
        self.ended = true;
    }

    #[inline(always)]
    fn begin_warp(&mut self, number: u32) {
        self.counters.begin_warp(number);
        self.warp = number;
        self.now += 1;
        let turn = &mut self.here.turns[number as usize];
        let first_turn = *turn != self.here.barriers && self.subject.quick;
        *turn = self.here.barriers;
        self.here.table.begin_warp(first_turn);
        self.global.table.begin_warp(first_turn);
        self.following = self
            .here
            .taints
            .get(number as usize)
            .is_some_and(|taint| taint.live);
    }

    #[inline(always)]
    fn follows(&self, op: Op) -> bool {
        self.following | RISKY[op as usize]
    }

    #[inline(never)]
    fn before(&mut self, r: View, inst: &Inst, mask: u32, pc: usize) {
        if RISKY[inst.op as usize] && !self.subject.safe[pc] {
            let lanes = arithmetic::wrong_lanes(r, inst) & mask;
            if lanes != 0 {
                let lane = lanes.trailing_zeros();
                let operands = arithmetic::operands(r, inst, lane as usize);
                let who = (self.here.block, self.warp, lanes);
                self.found.wrong_operand(pc as u32, who, operands);
            }
        }
        if !self.following {
            return;
        }
        let taint = &mut self.here.taints[self.warp as usize];
        let matters = taint.follow(self.subject.code, r, inst, mask);
        self.following = taint.live;
        if let Some(matters) = matters {
            let user = User {
                what: matters.what,
                block: self.here.block,
                warp: self.warp,
                lane: matters.lanes.trailing_zeros(),
                loc: self.subject.code.locs[pc],
            };
            for origin in std::iter::once(matters.origin).chain(matters.second) {
                self.found.unset(&self.origins.list[origin as usize], user);
            }
        }
    }

    fn stored(&self) -> Vec<(u64, Defined)> {
        let mut stored = self.global.stored.clone();
        self.add_stored(&mut stored);
        let regions = self.subject.map.regions.iter().zip(stored);
        regions
            .filter(|(_, defined)| !matches!(defined, Defined::Nothing))
            .map(|(region, defined)| (region.base, defined))
            .collect()
    }

    fn touched(&self) -> Vec<(u64, Touch)> {
        let mut touched = self.global.touched.clone();
        self.add_touched(&mut touched);
        let regions = self.subject.map.regions.iter().zip(touched);
        let tracked = regions.filter(|(region, _)| self.subject.tracked[region.index as usize]);
        tracked
            .map(|(region, touch)| (region.base, touch))
            .collect()
    }

    const SEES_REPEATS: bool = true;

    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.subscript(access);
        if access.space == Space::Local {
            self.local(access, offsets);
        } else if !self.defer_window(access, offsets) {
            self.shared(access, offsets, false);
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
    fn charge_window(&self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.counters.charge_window(access, offsets)
    }

    #[inline(always)]
    fn charge_global(&self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
        self.counters.charge_global(access, addresses)
    }

    #[inline(always)]
    fn repeat_window(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.subscript(access);
        if access.space != Space::Shared || access.mask == 0 || !self.shadows {
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
        if access.site.op == AccessOp::Load && self.defer(access, &footprint) {
            return;
        }
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = footprint.lowest + pattern.bytes[lane];
        }
        self.shared(access, &offsets, pattern.run);
    }

    #[inline(always)]
    fn repeat_global(&mut self, access: &Access<'_>, like: &Like<'_>) {
        self.subscript(access);
        self.repeat_in_region(access, like);
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counters.repeats(site, charge, requests, lanes);
    }

    fn period_bytes(&self, site: &MemSite) -> u64 {
        self.counters.period_bytes(site)
    }

    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {
        self.flush();
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros();
            let wanted = named[lane as usize];
            let elsewhere = wanted & alive & !mask;
            if (elsewhere != 0 || wanted >> lane & 1 == 0) && self.subject.checks.has(Check::Mask) {
                let who = (self.here.block, self.warp, lane);
                self.found.bad_mask(loc, who, wanted, elsewhere);
            }
            let group = wanted & mask | 1 << lane;
            left &= !group;
            let all = group == alive;
            self.here.order.sync_warp(self.warp, group, all, self.now);
            if all {
                self.here.table.sync_warp();
                self.global.table.sync_warp();
            }
        }
        self.now += 1;
    }

    #[inline(never)]
    fn stray_shuffle(&mut self, strays: u32, result: Place, loc: LocId) {
        if self.subject.unset() {
            self.stray(strays, result, loc);
        }
    }

    fn lifetime(&mut self, mask: u32, bytes: (u32, u32), begins: bool) {
        self.lives(mask, bytes, begins);
    }

    fn allocated(&mut self, address: u64, bytes: u64) {
        let map = &self.subject.map;
        let number = map.find(address);
        let region = map.regions[number as usize];
        let cells = &mut self.global.regions[number as usize];
        cells.forget(address.wrapping_sub(region.base), bytes);
    }

    fn fence(&mut self, mask: u32, scope: FenceScope) {
        let device = match scope {
            FenceScope::Block => false,
            FenceScope::Device | FenceScope::System => true,
        };
        self.here.order.fence(self.warp, mask, device, self.now);
        self.now += 1;
    }

    fn uneven_barrier(&mut self, meeting: &[Arrival]) {
        if self.subject.checks.has(Check::Barrier) {
            let code = self.subject.code;
            self.found.uneven_barrier(code, self.here.block, meeting);
        }
    }

    fn barrier(&mut self) {
        self.here.order.barrier(self.now);
        self.now += 1;
        let here = &mut self.here;
        here.barriers += 1;
        here.deferred.barrier(&here.cells);
        here.deferred.may_defer = self.subject.may_defer_reads() && here.unset_cells.is_empty();
        if self.here.table.is_long() {
            self.here.cells.settle();
            self.here.table.clear();
        }
        self.here.table.barrier();
        self.global.table.barrier();
    }

    fn needs_order(&self) -> bool {
        self.found.races.crosses
    }

    fn absorb(&mut self, other: &Self) {
        other.see_thawed(&mut self.found);
        self.counters.absorb(&other.counters);
        self.found.absorb(&other.found);
        for (ours, theirs) in self.global.stored.iter_mut().zip(&other.global.stored) {
            ours.join(theirs);
        }
        other.add_stored(&mut self.global.stored);
        for (ours, theirs) in self.global.touched.iter_mut().zip(&other.global.touched) {
            ours.join(theirs);
        }
        other.add_touched(&mut self.global.touched);
    }

    fn counts(&self) -> &[SiteCounts] {
        self.counters.counts()
    }

    fn worst(&self) -> &[Worst] {
        self.counters.worst()
    }

    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        let mut all = self.found.findings(scene);
        if !self.global.frozen.is_empty() {
            let mut own = Found::default();
            self.see_thawed(&mut own);
            all.extend(own.findings(scene));
        }
        all
    }
}
