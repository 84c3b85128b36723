//! The run-time checks: an [`Observer`] that keeps shadow memory beside the program's and says what is wrong.
//!
//! A race is a pair of accesses to one byte by two threads, one of them a write and not both atomic, that nothing orders.
//! What orders accesses: the program order of one thread, `__syncthreads`, `__syncwarp` (and the exchanges with a mask) among
//! the lanes that come to it, and a fence followed by an atomic or `volatile` store that another thread reads with an atomic
//! or `volatile` load ([`order`]). Lockstep is no order: a pair that has nothing else is *warp-synchronous*.
//!
//! [`cells`] answers the common cases for 32 lanes at once; [`Checker::closer`] looks at the lanes that are left, one by one;
//! [`found`] gathers what is wrong by pairs of source accesses and words it.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes index several arrays"
)]

mod arithmetic;
mod cells;
mod closer;
mod found;
mod lines;
mod order;
mod reads;
mod taint;
mod unset;

use std::collections::HashMap;

use dsl::ir::{FenceScope, LocId, Space};

use crate::block::Shape;
use crate::bytecode::{Code, Inst, MemSite, Op, Place};
use crate::config::{Check, Checks};
use crate::finding::Finding;
use crate::machine::{GlobalMap, GlobalRegion};
use crate::mask::LaneMask;
use crate::memory::Memory;
use crate::memory::defined::Defined;
use crate::observer::{Access, Arrival, Counters, Like, Observer};
use crate::registers::View;
use crate::rules::Arch;
use crate::stats::{Charge, SiteCounts};
use crate::trap::AccessOp;
use crate::witness::Worst;

use arithmetic::RISKY;
use cells::{Cells, Entry, Lanes, Table, WRITTEN};
pub(crate) use found::Scene;
use found::{Found, Source, Unset, User};
use lines::LineRun;
use order::{Order, Released};
use reads::{Lie, Reads};
use taint::Taint;

/// What the checks need to know about a launch.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) checks: Checks,
    pub(crate) arch: Arch,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) map: &'a GlobalMap,
    /// By region: the kernel may write to it.
    pub(crate) written: Vec<bool>,
    /// There are fences, or synchronisations of some lanes: who has read what must be known exactly.
    pub(crate) exact: bool,
    /// There are fences.
    pub(crate) fences: bool,
    /// There are atomics of block scope.
    pub(crate) block_scopes: bool,
    /// By counter: a load whose value is only a guess for a compare-and-swap.
    pub(crate) guesses: Vec<bool>,
    /// By region: what was written before the launch, if that is not everything.
    pub(crate) defined: Vec<Option<&'a Defined>>,
    /// With the ways that save time. Tests do without to compare.
    pub(crate) quick: bool,
    /// By instruction: a division or shift that cannot go wrong, or is not asked for.
    pub(crate) safe: Vec<bool>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        checks: Checks,
        arch: Arch,
        code: &'a Code,
        shape: &'a Shape<'a>,
        (map, memory): (&'a GlobalMap, &'a Memory),
        written: Vec<bool>,
    ) -> Subject<'a> {
        let defined = map.regions.iter().map(|region| {
            let found = memory.region(region.base)?;
            let known = found.base == region.base && region.size > 0;
            (known && !matches!(found.defined, Defined::All)).then_some(&found.defined)
        });
        let fences = code.insts.iter().any(|inst| inst.op == Op::Fence);
        let whole = |register: u32| {
            code.s_init
                .iter()
                .any(|&(at, bits)| at == register && bits as u32 == u32::MAX)
        };
        let partial = code.insts.iter().any(|inst| match inst.op {
            Op::SyncWarp => !(inst.b == 1 && whole(inst.a)),
            Op::Shuffle | Op::Exchange => match code.exchanges[inst.a as usize].mask {
                None => false,
                Some(Place::S(register)) => !whole(register),
                Some(Place::V(_)) => true,
            },
            _ => false,
        });
        Subject {
            checks,
            arch,
            code,
            shape,
            map,
            written,
            exact: fences || partial,
            fences,
            block_scopes: code.counters.iter().any(|site| site.block_scope),
            defined: defined.collect(),
            #[cfg(not(test))]
            quick: true,
            #[cfg(test)]
            quick: !crate::tests::SLOWLY.get(),
            safe: arithmetic::safe(code, checks.has(Check::Arithmetic)),
            guesses: code
                .counters
                .iter()
                .map(|site| site.op == AccessOp::Load && code.effects.guesses.contains(&site.loc))
                .collect(),
        }
    }

    /// Whether reads of shared memory that nobody writes may be noted later.
    fn reads_may_wait(&self) -> bool {
        !self.exact && self.quick
    }

    /// Whether memory needs a shadow.
    fn shadows(&self) -> bool {
        self.checks.has(Check::Race) || self.checks.has(Check::WarpSynchronous) || self.unset()
    }

    fn unset(&self) -> bool {
        self.checks.has(Check::Uninit)
    }
}

/// A block that has begun and not ended.
#[derive(Debug)]
struct Resident {
    block: u64,
    order: Order,
    table: Table,
    cells: Cells,
    /// Released in shared memory, by offset.
    released: HashMap<u32, Released>,
    /// Cells of shared memory that hold a value that came from nowhere, and its origin.
    junk: HashMap<u32, u32>,
    /// By warp.
    taints: Vec<Taint>,
    /// By warp and byte of local memory: lanes that wrote it.
    locals: Vec<Vec<u32>>,
    reads: Reads,
}

/// Counts, and checks.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    counters: Counters,
    subject: &'a Subject<'a>,
    now: u32,
    warp: u32,
    here: Resident,
    ended: bool,
    aside: HashMap<u64, Resident>,
    table: Table,
    regions: Vec<Cells>,
    /// By counter: the region it last hit.
    region_of: Vec<u32>,
    released: HashMap<u64, Released>,
    found: Found,
    /// Where values come from that nobody wrote, by source.
    origins: Vec<Unset>,
    known_origins: HashMap<Source, u32>,
    /// The warp in hand has such values.
    following: bool,
    /// Of the access in hand, if it loads one that somebody stored.
    junk_origin: Option<u32>,
    /// By region: what workers that have ended wrote.
    stored: Vec<Defined>,
    /// Looks closer, so far: tells one instruction from another.
    looks: u64,
    cpu: Cpu,
    /// Memory needs a shadow.
    shadows: bool,
    /// By region: somebody writes it, or has not written all of it.
    watched: Vec<bool>,
}

/// What the CPU can do: found out once.
#[derive(Clone, Copy, Debug)]
enum Cpu {
    Any,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Cpu {
    fn at_hand() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("bmi2")
            {
                return Cpu::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                return Cpu::Avx2;
            }
        }
        Cpu::Any
    }
}

/// An offset in a memory: of 32 bits in shared memory, of 64 in a region.
trait Place32: Copy {
    /// The number of its cell; there are fewer than 2^32.
    fn cell(self, shift: u32) -> u32;
    fn widened(self) -> usize;
}

impl Place32 for u32 {
    #[inline(always)]
    fn cell(self, shift: u32) -> u32 {
        self >> shift
    }

    fn widened(self) -> usize {
        self as usize
    }
}

impl Place32 for u64 {
    #[inline(always)]
    fn cell(self, shift: u32) -> u32 {
        (self >> shift) as u32
    }

    fn widened(self) -> usize {
        self as usize
    }
}

/// The memory of an access.
#[derive(Clone, Copy)]
enum At {
    Shared,
    Region(usize),
}

impl<'a> Checker<'a> {
    pub(crate) fn new(counters: Counters, subject: &'a Subject<'a>) -> Checker<'a> {
        let sites = subject.code.counters.len();
        let regions = subject.map.regions.iter();
        Checker {
            counters,
            subject,
            now: 1,
            warp: 0,
            here: Resident::new(subject),
            ended: true,
            aside: HashMap::new(),
            table: Table::new(sites),
            regions: regions
                .map(|region| match subject.quick {
                    true => Cells::in_lines(region.size as usize),
                    false => Cells::new(region.size as usize),
                })
                .collect(),
            region_of: vec![0; sites],
            released: HashMap::new(),
            found: Found::default(),
            origins: Vec::new(),
            known_origins: HashMap::new(),
            following: false,
            junk_origin: None,
            stored: vec![Defined::Nothing; subject.map.regions.len()],
            looks: 0,
            cpu: Cpu::at_hand(),
            shadows: subject.shadows(),
            watched: subject
                .written
                .iter()
                .zip(&subject.defined)
                .map(|(&written, defined)| written || defined.is_some())
                .collect(),
        }
    }

    /// The entry of an access to shared memory, as a tag.
    #[inline(always)]
    fn tag(&mut self, access: &Access<'_>) -> u32 {
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
            self.found
                .beyond(access.counter, who, (index, subscript.len));
        }
    }

    fn shared(&mut self, access: &Access<'_>, offsets: &[u32; 32], run: bool) {
        if access.space != Space::Shared || !self.shadows || access.mask == 0 {
            return;
        }
        self.flush();
        self.here.reads.open = false;
        let table = &mut self.here.table;
        if table.is_full() {
            // Rather than to be wrong, forget.
            table.clear();
            self.here.cells.settle();
        }
        let volatile = access.site.access.volatile;
        if volatile || access.site.op == AccessOp::Atomic {
            self.meet(access, |lane| u64::from(offsets[lane]), true);
        }
        self.here.cells.prepare(access.site.width_bytes);
        let tag = self.tag(access);
        let unset = self.note(access, At::Shared, (tag, access.mask), offsets, run);
        if unset != [0; 4] && self.subject.unset() {
            self.unset(access, unset, |lane| (None, u64::from(offsets[lane])));
            if matches!(access.site.atomic, Some((dsl::ir::AtomicOp::Exch, _))) {
                let cells = &mut self.here.cells;
                for lane in LaneMask(access.mask) {
                    cells.write[(offsets[lane] >> cells.shift) as usize] = WRITTEN;
                }
            }
        }
    }

    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        if access.space != Space::Global || !self.shadows || access.mask == 0 {
            return;
        }
        self.meet_global(access, addresses);
        let map = self.subject.map;
        let width = u64::from(access.site.width_bytes);
        let mut left = access.mask;
        while left != 0 {
            let first = addresses[left.trailing_zeros() as usize];
            let mut region = &map.regions[self.region_of[access.counter as usize] as usize];
            if !region.holds(first, width) {
                region = &map.regions[map.find(first) as usize];
                self.region_of[access.counter as usize] = region.index;
            }
            let mut inside = 0;
            for lane in 0..32 {
                inside |= u32::from(region.holds(addresses[lane], width)) << lane;
            }
            let mask = left & inside;
            left &= !inside;
            if mask == 0 {
                return;
            }
            if !self.watched[region.index as usize] {
                continue;
            }
            let spare = first - region.base;
            let mut offsets = [0; 32];
            for lane in 0..32 {
                let on = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
                offsets[lane] = (addresses[lane].wrapping_sub(region.base) & on) | (spare & !on);
            }
            self.in_region(access, region, mask, &offsets, false);
        }
    }

    /// Acquires and releases in global memory.
    fn meet_global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        let sync = access.site.access.volatile || access.site.op == AccessOp::Atomic;
        if sync && self.subject.fences {
            self.meet(access, |lane| addresses[lane], false);
        }
    }

    /// Lanes in one region that is watched, by their offsets.
    fn in_region(
        &mut self,
        access: &Access<'_>,
        region: &GlobalRegion,
        mask: u32,
        offsets: &[u64; 32],
        run: bool,
    ) {
        let index = region.index as usize;
        if let Some(defined) = self.subject.defined[index]
            && access.site.op != AccessOp::Store
            && self.subject.unset()
        {
            let at = |lane: usize| offsets[lane];
            let unset = self.never_written(access, mask, index, at, defined);
            if unset != [0; 4] {
                self.unset(access, unset, |lane| (Some(index), at(lane)));
            }
        }
        if !self.subject.written[index] {
            return;
        }
        self.make_room();
        let cells = &mut self.regions[index];
        cells.prepare(access.site.width_bytes);
        let tag = self.global_tag(access);
        self.note(access, At::Region(index), (tag, mask), offsets, run);
    }

    /// Before an entry is added to those of global memory.
    fn make_room(&mut self) {
        if self.table.is_long() {
            self.table.compact(&mut self.regions);
        }
        if self.table.is_full() {
            self.table.clear();
            self.regions.iter_mut().for_each(Cells::settle);
        }
    }

    /// The entry of an access to global memory, as a tag.
    #[inline(always)]
    fn global_tag(&mut self, access: &Access<'_>) -> u32 {
        self.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: self.here.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile: access.site.access.volatile,
        })
    }

    /// A request like its site's pattern, of global memory: most are runs that whole lines can note, and much of memory is
    /// nobody's concern.
    #[inline(always)]
    fn repeat_in_region(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        let index = pattern.region as usize;
        if access.space != Space::Global || access.mask == 0 || !self.shadows {
            return;
        }
        let site = access.site;
        if !self.watched[index] {
            if site.access.volatile && self.subject.fences {
                self.repeat_any(access, like);
            }
            return;
        }
        let region = &self.subject.map.regions[index];
        let offset = like.lowest - region.base;
        let loads = site.op == AccessOp::Load;
        let written = self.subject.written[index];
        let defined = match self.subject.defined[index] {
            Some(defined) if loads && self.subject.unset() => {
                let extent = u64::from(pattern.extent) + u64::from(site.width_bytes);
                defined.holds(offset, extent)
            }
            _ => true,
        };
        if defined && !written && !(site.access.volatile && self.subject.fences) {
            return;
        }
        if pattern.run
            && written
            && access.mask == u32::MAX
            && !site.access.volatile
            && !self.table.is_long()
            && self.subject.quick
        {
            let run = LineRun {
                offset,
                width_bytes: site.width_bytes,
                tag: self.global_tag(access),
                stores: !loads,
                needs_values: !defined,
            };
            if self.regions[index].run(&run, self.table.bases) {
                return;
            }
        }
        self.repeat_any(access, like);
    }

    #[inline(never)]
    fn repeat_any(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        let region = &self.subject.map.regions[pattern.region as usize];
        let offset = like.lowest - region.base;
        if self.subject.fences {
            let mut addresses = [0; 32];
            for lane in 0..32 {
                addresses[lane] = like.lowest + u64::from(pattern.bytes[lane]);
            }
            self.meet_global(access, &addresses);
        }
        if !self.watched[pattern.region as usize] {
            return;
        }
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = offset + u64::from(pattern.bytes[lane]);
        }
        self.in_region(access, region, access.mask, &offsets, pattern.run);
    }

    /// Acquires and releases of an atomic or `volatile` access.
    fn meet(&mut self, access: &Access<'_>, at: impl Fn(usize) -> u64, shared: bool) {
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
                    self.released.get(&at)
                };
                if let Some(released) = released {
                    here.order.acquire(thread, released, device);
                }
            }
            if stores && here.order.has_fenced(thread) {
                let released = if shared {
                    here.released.entry(at as u32).or_default()
                } else {
                    self.released.entry(at).or_default()
                };
                here.order.release(thread, released, device);
            }
        }
    }

    fn cells(&mut self, at: At) -> &mut Cells {
        match at {
            At::Shared => &mut self.here.cells,
            At::Region(index) => &mut self.regions[index],
        }
    }

    fn table(&self, at: At) -> &Table {
        match at {
            At::Shared => &self.here.table,
            At::Region(_) => &self.table,
        }
    }

    /// Notes an access in the cells: of lanes at these offsets. Gives the lanes that read what nobody wrote, by component.
    fn note<T: Place32>(
        &mut self,
        access: &Access<'_>,
        at: At,
        who: (u32, u32),
        offsets: &[T; 32],
        run: bool,
    ) -> [u32; 4] {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(
                enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt"
            )]
            fn avx512<T: Place32>(
                checker: &mut Checker<'_>,
                access: &Access<'_>,
                at: At,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                checker.walk(access, at, who, offsets, run)
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<T: Place32>(
                checker: &mut Checker<'_>,
                access: &Access<'_>,
                at: At,
                who: (u32, u32),
                offsets: &[T; 32],
                run: bool,
            ) -> [u32; 4] {
                checker.walk(access, at, who, offsets, run)
            }
            match self.cpu {
                // SAFETY: the CPU has the features.
                Cpu::Avx512 => return unsafe { avx512(self, access, at, who, offsets, run) },
                // SAFETY: the CPU has the features.
                Cpu::Avx2 => return unsafe { avx2(self, access, at, who, offsets, run) },
                Cpu::Any => {}
            }
        }
        self.walk(access, at, who, offsets, run)
    }

    /// All cells of an access.
    #[inline(always)]
    fn walk<T: Place32>(
        &mut self,
        access: &Access<'_>,
        at: At,
        (tag, mask): (u32, u32),
        offsets: &[T; 32],
        run: bool,
    ) -> [u32; 4] {
        let mut unset = [0; 4];
        let component = access.site.access.ty.bytes();
        let exact = self.subject.exact;
        let bases = self.table(at).bases;
        let cells = self.cells(at);
        let shift = cells.shift;
        let run = run && self.subject.quick && access.site.width_bytes == 1 << shift;
        let mut lanes = Lanes {
            cells: [0; 32],
            mask,
            tag,
        };
        let spare = offsets[mask.trailing_zeros() as usize & 31].cell(shift);
        for lane in 0..32 {
            let on = 0u32.wrapping_sub(mask >> lane & 1);
            // Of a run, all lanes lie in the memory.
            lanes.cells[lane] = (offsets[lane].cell(shift) & on) | (spare & !on);
        }
        let first = offsets[0].cell(shift) as usize;
        let mut within = 0;
        loop {
            let cells = self.cells(at);
            cells.open(&lanes);
            let (bad, lost) = match access.site.op {
                AccessOp::Load => {
                    let in_run = if run {
                        cells.read_run(first, (mask, tag), bases, exact)
                    } else {
                        None
                    };
                    let (bad, new) = in_run.unwrap_or_else(|| cells.read(&lanes, bases, exact));
                    unset[(within / component) as usize % 4] |= new;
                    (bad, 0)
                }
                AccessOp::Store => {
                    let in_run = if run {
                        cells.write_run(first, (mask, tag), bases)
                    } else {
                        None
                    };
                    in_run.map_or_else(|| cells.write(&lanes, bases), |bad| (bad, 0))
                }
                AccessOp::Atomic => {
                    for lane in LaneMask(lanes.mask) {
                        let new = cells.write[lanes.cells[lane] as usize] == 0;
                        unset[0] |= u32::from(new) << lane;
                    }
                    (lanes.mask, 0)
                }
            };
            if matches!(at, At::Shared)
                && (!self.here.junk.is_empty()
                    || self.following && access.site.op == AccessOp::Store)
            {
                let read = &mut unset[(within / component) as usize % 4];
                self.move_junk(access, &lanes, read);
            }
            if bad | lost != 0 {
                self.look(
                    access,
                    at,
                    &lanes,
                    within,
                    &|lane| offsets[lane].widened(),
                    (bad, lost),
                );
            }
            within += 1 << shift;
            if within >= access.site.width_bytes {
                return unset;
            }
            for cell in &mut lanes.cells {
                *cell += 1;
            }
        }
    }
}

impl Resident {
    fn new(subject: &Subject<'_>) -> Resident {
        let warps = if subject.unset() {
            subject.shape.threads().div_ceil(32) as usize
        } else {
            0
        };
        Resident {
            block: u64::MAX,
            order: Order::default(),
            table: Table::new(subject.code.counters.len()),
            cells: Cells::new(subject.shape.shared_bytes as usize),
            released: HashMap::new(),
            junk: HashMap::new(),
            taints: vec![Taint::new(subject.code); warps],
            locals: vec![vec![0; subject.code.local_bytes as usize]; warps],
            reads: Reads::new(subject.code.sites.len()),
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
        if let Some(back) = self.aside.remove(&index) {
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
            here.junk.clear();
            here.reads.begin();
            here.reads.open = self.subject.reads_may_wait();
            here.locals.iter_mut().for_each(|bytes| bytes.fill(0));
            here.taints.iter_mut().for_each(Taint::clear);
            if self.subject.unset() {
                self.unassigned();
            }
        }
        self.here.table.begin_block();
        self.table.begin_block();
    }

    fn end_block(&mut self) {
        self.ended = true;
    }

    #[inline(always)]
    fn begin_warp(&mut self, number: u32) {
        self.counters.begin_warp(number);
        self.warp = number;
        self.now += 1;
        self.here.table.begin_warp();
        self.table.begin_warp();
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
            self.found
                .unset(&self.origins[matters.origin as usize], user);
        }
    }

    fn stored(&self) -> Vec<(u64, Defined)> {
        let mut stored = self.stored.clone();
        self.add_stored(&mut stored);
        let regions = self.subject.map.regions.iter().zip(stored);
        regions
            .filter(|(_, defined)| !matches!(defined, Defined::Nothing))
            .map(|(region, defined)| (region.base, defined))
            .collect()
    }

    const SEES_REPEATS: bool = true;

    #[inline(always)]
    fn window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) -> Charge {
        self.subscript(access);
        if access.space == Space::Local {
            self.local(access, offsets);
        } else if !self.can_wait(access, offsets) {
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
        let lie = Lie {
            bytes: &pattern.bytes,
            lowest: like.lowest as u32,
            extent: pattern.extent + access.site.width_bytes,
            run: pattern.run,
            pattern: Some((access.site.row, pattern.version)),
        };
        if access.site.op == AccessOp::Load && self.waits(access, &lie) {
            return;
        }
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = lie.lowest + pattern.bytes[lane];
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
                self.table.sync_warp();
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
        here.reads.barrier(&here.cells);
        here.reads.open = self.subject.reads_may_wait() && here.junk.is_empty();
        if self.here.table.is_long() {
            self.here.cells.settle();
            self.here.table.clear();
        }
        self.here.table.barrier();
        self.table.barrier();
    }

    fn needs_order(&self) -> bool {
        self.found.crosses
    }

    fn absorb(&mut self, other: &Self) {
        self.counters.absorb(&other.counters);
        self.found.absorb(&other.found);
        for (ours, theirs) in self.stored.iter_mut().zip(&other.stored) {
            ours.join(theirs);
        }
        other.add_stored(&mut self.stored);
    }

    fn counts(&self) -> &[SiteCounts] {
        self.counters.counts()
    }

    fn worst(&self) -> &[Worst] {
        self.counters.worst()
    }

    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        self.found.findings(scene)
    }
}
