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
mod found;
mod order;
mod taint;

use std::collections::HashMap;

use dsl::ir::{FenceScope, LocId, Space};

use crate::block::Shape;
use crate::bytecode::{Class as RegisterClass, Code, Inst, MemSite, Op, Place};
use crate::config::{Check, Checks};
use crate::finding::Finding;
use crate::machine::GlobalMap;
use crate::mask::LaneMask;
use crate::memory::Memory;
use crate::memory::defined::Defined;
use crate::observer::{Access, Arrival, Counters, Observer};
use crate::ops::element::lane_value;
use crate::registers::View;
use crate::rules::Arch;
use crate::stats::{Charge, SiteCounts};
use crate::trap::AccessOp;
use crate::witness::Worst;

use arithmetic::RISKY;
use cells::{ATOMIC, Cells, Entry, Lanes, ONE, PLACE, Table, WARP, WRITTEN, reach, reaching};
pub(crate) use found::Scene;
use found::{Class, Found, Side, Source, Unset, User};
use order::{Order, Released};
use taint::{Taint, Use};

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
    /// By counter: a load whose value is only a guess for a compare-and-swap.
    pub(crate) guesses: Vec<bool>,
    /// By region: what was written before the launch, if that is not everything.
    pub(crate) defined: Vec<Option<&'a Defined>>,
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
            defined: defined.collect(),
            safe: arithmetic::safe(code, checks.has(Check::Arithmetic)),
            guesses: code
                .counters
                .iter()
                .map(|site| site.op == AccessOp::Load && code.effects.guesses.contains(&site.loc))
                .collect(),
        }
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
}

/// The memory of an access.
#[derive(Clone, Copy)]
enum At {
    Shared,
    Region(usize),
}

/// An access under a closer look.
struct Look<'a> {
    access: &'a Access<'a>,
    at: At,
    lanes: &'a Lanes,
    /// Bytes from a lane's first byte to the cell in hand.
    within: u32,
    /// Bytes of a cell as a power of two.
    shift: u32,
    /// By lane, its first byte in the program's memory.
    bytes: &'a dyn Fn(usize) -> *const u8,
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
                .map(|region| Cells::new(region.size as usize))
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
        }
    }

    fn shared(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        if access.space != Space::Shared || !self.subject.shadows() || access.mask == 0 {
            return;
        }
        let table = &mut self.here.table;
        if table.is_full() {
            // Rather than to be wrong, forget.
            table.clear();
            self.here.cells.forget();
        }
        let volatile = access.site.access.volatile;
        if volatile || access.site.op == AccessOp::Atomic {
            self.meet(access, |lane| u64::from(offsets[lane]), true);
        }
        let cells = &mut self.here.cells;
        cells.prepare(access.site.width_bytes);
        let shift = cells.shift;
        let tag = self.here.table.tag(access.counter, self.now, || Entry {
            counter: access.counter,
            block: self.here.block as u32,
            time: self.now,
            warp: self.warp as u8,
            volatile,
        });
        let spare = offsets[access.mask.trailing_zeros() as usize];
        let mut lanes = Lanes {
            cells: [0; 32],
            mask: access.mask,
            tag,
        };
        for lane in 0..32 {
            let on = access.mask >> lane & 1 == 1;
            lanes.cells[lane] = if on { offsets[lane] } else { spare } >> shift;
        }
        let memory = access.memory;
        let unset = self.walk(access, At::Shared, lanes, &|lane| {
            memory.wrapping_add(offsets[lane] as usize)
        });
        if unset != [0; 4] && self.subject.unset() {
            self.unset(access, unset, |lane| (None, u64::from(offsets[lane])));
            if matches!(access.site.atomic, Some((dsl::ir::AtomicOp::Exch, _))) {
                for lane in LaneMask(access.mask) {
                    self.here.cells.write[(offsets[lane] >> shift) as usize] = WRITTEN;
                }
            }
        }
    }

    /// Lanes read what nobody wrote, by component.
    #[cold]
    fn unset(
        &mut self,
        access: &Access<'_>,
        unset: [u32; 4],
        place: impl Fn(usize) -> (Option<usize>, u64),
    ) {
        let all = unset.iter().fold(0, |all, lanes| all | lanes);
        let lane = all.trailing_zeros() as usize & 31;
        let origin = match self.junk_origin.take() {
            Some(origin) => origin,
            None => self.origin(Unset {
                source: Source::Access(access.counter),
                block: self.here.block,
                warp: self.warp,
                lane: lane as u32,
                place: place(lane),
            }),
        };
        let site = access.site;
        let taint = &mut self.here.taints[self.warp as usize];
        match site.op {
            AccessOp::Load => {
                for (k, &lanes) in unset[..usize::from(site.access.count)].iter().enumerate() {
                    let lanes = if site.uniform_values && lanes != 0 {
                        u32::MAX
                    } else {
                        lanes
                    };
                    let mask = if site.uniform_values {
                        u32::MAX
                    } else {
                        access.mask
                    };
                    taint.set(Taint::value(site, k), mask, lanes, origin);
                }
            }
            AccessOp::Atomic if access.space == Space::Global => {
                let user = User {
                    what: Use::Stored,
                    block: self.here.block,
                    warp: self.warp,
                    lane: lane as u32,
                    loc: self.subject.code.counters[access.counter as usize].loc,
                };
                self.found.unset(&self.origins[origin as usize], user);
                return;
            }
            AccessOp::Atomic => {
                let class = RegisterClass::of(site.access.ty.value_type());
                let result = match class {
                    RegisterClass::Mask => Place::S(site.result),
                    RegisterClass::W32 | RegisterClass::W64 => Place::V(site.result),
                };
                taint.set(result, access.mask, all, origin);
            }
            AccessOp::Store => return,
        }
        self.following = true;
    }

    /// Variables without a value, at the begin of a block.
    fn unassigned(&mut self) {
        for (index, &(slot, place, _)) in (0u32..).zip(&self.subject.code.unassigned) {
            let origin = self.origin(Unset {
                source: Source::Slot(index),
                block: self.here.block,
                warp: 0,
                lane: 0,
                place: (None, u64::from(slot.0)),
            });
            for taint in &mut self.here.taints {
                taint.set(place, u32::MAX, u32::MAX, origin);
            }
        }
    }

    fn origin(&mut self, unset: Unset) -> u32 {
        let origins = &mut self.origins;
        *self.known_origins.entry(unset.source).or_insert_with(|| {
            origins.push(unset);
            origins.len() as u32 - 1
        })
    }

    /// Values from nowhere that go to and come from shared memory.
    #[cold]
    fn move_junk(&mut self, access: &Access<'_>, lanes: &Lanes, unset: &mut u32) {
        let (storing, origin) = match self.here.taints.get(self.warp as usize) {
            Some(taint) if self.following => taint.storing,
            _ => (0, 0),
        };
        for lane in LaneMask(lanes.mask) {
            let cell = lanes.cells[lane];
            match access.site.op {
                AccessOp::Load => {
                    if let Some(&origin) = self.here.junk.get(&cell) {
                        *unset |= 1 << lane;
                        self.junk_origin = Some(origin);
                    }
                }
                AccessOp::Store | AccessOp::Atomic => {
                    if storing >> lane & 1 == 1 {
                        self.here.junk.insert(cell, origin);
                    } else if access.site.op == AccessOp::Store {
                        self.here.junk.remove(&cell);
                    }
                }
            }
        }
    }

    /// Thread-local memory: only who wrote what is of interest.
    fn local(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        if !self.subject.unset() || access.mask == 0 {
            return;
        }
        let defined = &mut self.here.locals[self.warp as usize];
        let storing = if self.following {
            self.here.taints[self.warp as usize].storing.0
        } else {
            0
        };
        let (width, component) = (access.site.width_bytes, access.site.access.ty.bytes());
        let first = offsets[access.mask.trailing_zeros() as usize];
        let same = LaneMask(access.mask)
            .lanes()
            .all(|lane| offsets[lane] == first);
        let mut unset = [0; 4];
        let mut touch = |at: u32, lanes: u32, k: usize| {
            let Some(known) = defined.get_mut(at as usize) else {
                return;
            };
            match access.site.op {
                AccessOp::Load => unset[k] |= lanes & !*known,
                AccessOp::Store | AccessOp::Atomic => *known = *known & !lanes | lanes & !storing,
            }
        };
        for byte in 0..width {
            let k = (byte / component) as usize % 4;
            if same {
                touch(first + byte, access.mask, k);
            } else {
                for lane in LaneMask(access.mask) {
                    touch(offsets[lane] + byte, 1 << lane, k);
                }
            }
        }
        if unset != [0; 4] {
            self.unset(access, unset, |lane| (None, u64::from(offsets[lane])));
        }
    }

    /// Lanes that read bytes of a region that nobody wrote, before the launch or in it.
    #[cold]
    fn never_written(
        &self,
        access: &Access<'_>,
        mask: u32,
        region: usize,
        offset: impl Fn(usize) -> u64,
        defined: &Defined,
    ) -> [u32; 4] {
        let mut unset = [0; 4];
        let width = u64::from(access.site.access.ty.bytes());
        let cells = &self.regions[region];
        for lane in LaneMask(mask) {
            for (k, unset) in unset[..usize::from(access.site.access.count)]
                .iter_mut()
                .enumerate()
            {
                let at = offset(lane) + k as u64 * width;
                if defined.holds(at, width) {
                    continue;
                }
                let (first, last) = (at >> cells.shift, (at + width - 1) >> cells.shift);
                let written = !cells.write.is_empty()
                    && (first..=last).all(|cell| cells.write[cell as usize] != 0);
                if !written {
                    *unset |= 1 << lane;
                }
            }
        }
        unset
    }

    /// What this launch wrote of the regions that were not whole.
    fn add_stored(&self, stored: &mut [Defined]) {
        for (index, cells) in self.regions.iter().enumerate() {
            if self.subject.defined[index].is_none() || cells.write.is_empty() {
                continue;
            }
            let size = self.subject.map.regions[index].size;
            if cells.write.iter().all(|&tag| tag != 0) {
                stored[index] = Defined::All;
                continue;
            }
            let bytes = 1u64 << cells.shift;
            for (cell, _) in (0u64..).zip(&cells.write).filter(|&(_, &tag)| tag != 0) {
                let at = cell * bytes;
                stored[index].define(at, bytes.min(size - at), size);
            }
        }
    }

    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        if access.space != Space::Global || !self.subject.shadows() || access.mask == 0 {
            return;
        }
        let sync = access.site.access.volatile || access.site.op == AccessOp::Atomic;
        if sync && self.subject.fences {
            self.meet(access, |lane| addresses[lane], false);
        }
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
            if let Some(defined) = self.subject.defined[region.index as usize]
                && access.site.op != AccessOp::Store
                && self.subject.unset()
            {
                let at = |lane: usize| addresses[lane].wrapping_sub(region.base);
                let index = region.index as usize;
                let unset = self.never_written(access, mask, index, at, defined);
                if unset != [0; 4] {
                    self.unset(access, unset, |lane| (Some(index), at(lane)));
                }
            }
            if !self.subject.written[region.index as usize] {
                continue;
            }
            if self.table.is_full() {
                self.table.clear();
                self.regions.iter_mut().for_each(Cells::forget);
            }
            let cells = &mut self.regions[region.index as usize];
            cells.prepare(access.site.width_bytes);
            let shift = cells.shift;
            let tag = self.table.tag(access.counter, self.now, || Entry {
                counter: access.counter,
                block: self.here.block as u32,
                time: self.now,
                warp: self.warp as u8,
                volatile: access.site.access.volatile,
            });
            let spare = first - region.base;
            let mut lanes = Lanes {
                cells: [0; 32],
                mask,
                tag,
            };
            for lane in 0..32 {
                let on = mask >> lane & 1 == 1;
                let offset = if on {
                    addresses[lane].wrapping_sub(region.base)
                } else {
                    spare
                };
                lanes.cells[lane] = (offset >> shift) as u32;
            }
            self.walk(access, At::Region(region.index as usize), lanes, &|lane| {
                region
                    .bytes
                    .wrapping_add(addresses[lane].wrapping_sub(region.base) as usize)
            });
        }
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
                    here.order.acquire(thread, released);
                }
            }
            if stores && here.order.has_fenced(thread) {
                let released = if shared {
                    here.released.entry(at as u32).or_default()
                } else {
                    self.released.entry(at).or_default()
                };
                here.order.release(thread, released);
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

    /// All cells of an access.
    fn walk(
        &mut self,
        access: &Access<'_>,
        at: At,
        mut lanes: Lanes,
        bytes: &dyn Fn(usize) -> *const u8,
    ) -> [u32; 4] {
        let mut unset = [0; 4];
        let component = access.site.access.ty.bytes();
        let exact = self.subject.exact;
        let bases = self.table(at).bases;
        let shift = self.cells(at).shift;
        let mut within = 0;
        loop {
            let cells = self.cells(at);
            let (bad, lost) = match access.site.op {
                AccessOp::Load => {
                    let (bad, new) = cells.read(&lanes, bases, exact);
                    unset[(within / component) as usize % 4] |= new;
                    (bad, 0)
                }
                AccessOp::Store => cells.write(&lanes, bases),
                AccessOp::Atomic => {
                    for lane in LaneMask(lanes.mask) {
                        let new = cells.write[lanes.cells[lane] as usize] == 0;
                        unset[0] |= u32::from(new) << lane;
                    }
                    (lanes.mask, 0)
                }
            };
            if !self.here.junk.is_empty() && matches!(at, At::Shared) {
                self.move_junk(
                    access,
                    &lanes,
                    &mut unset[(within / component) as usize % 4],
                );
            } else if self.following
                && access.site.op == AccessOp::Store
                && matches!(at, At::Shared)
            {
                self.move_junk(access, &lanes, &mut 0);
            }
            if bad | lost != 0 {
                let look = Look {
                    access,
                    at,
                    lanes: &lanes,
                    within,
                    shift,
                    bytes,
                };
                self.looks += 1;
                self.closer(&look, bad);
                self.together(&look, lost);
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

    /// Lanes that no comparison of numbers could clear.
    #[inline(never)]
    fn closer(&mut self, look: &Look<'_>, bad: u32) {
        let mut cells = std::mem::take(self.cells(look.at));
        for lane in LaneMask(bad) {
            let me = look.lanes.tag | lane as u32;
            let cell = look.lanes.cells[lane] as usize;
            match look.access.site.op {
                AccessOp::Load => self.read(look, &mut cells, cell, me),
                AccessOp::Store => {
                    let last = cells.write[cell];
                    self.against(look, last, me);
                    self.against_readers(look, &cells, cell, me);
                    let at = (last & 31) as usize;
                    let now = last & !31 == look.lanes.tag
                        && look.lanes.mask >> at & 1 == 1
                        && look.lanes.cells[at] as usize == cell;
                    // Of several lanes of one instruction, the lowest one's value stays.
                    if !(now && at < lane) {
                        cells.write[cell] = me;
                    }
                    cells.read[cell] = 0;
                }
                AccessOp::Atomic => {
                    let last = cells.write[cell];
                    self.against(look, last, me);
                    let readers = cells.read[cell];
                    if readers & ATOMIC == 0 {
                        self.against_readers(look, &cells, cell, me);
                        cells.read[cell] = me | ATOMIC;
                    } else {
                        self.join(look.at, &mut cells, cell, me | ATOMIC);
                    }
                }
            }
        }
        *self.cells(look.at) = cells;
    }

    fn read(&mut self, look: &Look<'_>, cells: &mut Cells, cell: usize, me: u32) {
        let last = cells.write[cell];
        self.against(look, last, me);
        let readers = cells.read[cell];
        if readers & ATOMIC != 0 {
            if self.all_ordered(look.at, cells, cell, me) {
                // They were writes, too.
                cells.write[cell] = readers & PLACE;
                cells.read[cell] = me;
            } else {
                self.against_readers(look, cells, cell, me);
            }
        } else {
            self.join(look.at, cells, cell, me);
        }
    }

    /// Puts a reader (or an atomic) to the others.
    fn join(&mut self, at: At, cells: &mut Cells, cell: usize, me: u32) {
        let readers = cells.read[cell];
        if readers == 0 || self.all_ordered(at, cells, cell, me & !ATOMIC) {
            cells.read[cell] = me;
            return;
        }
        let same = |a: u32, b: u32| {
            let (a_entry, b_entry) = (self.table(at).entry(a), self.table(at).entry(b));
            if a_entry.block != b_entry.block {
                cells::GRID
            } else if a_entry.warp != b_entry.warp {
                cells::BLOCK
            } else if (a ^ b) & 31 != 0 {
                WARP
            } else {
                ONE
            }
        };
        let apart = same(readers, me);
        let wider = apart.max(reach(readers));
        if self.subject.exact {
            let key = cell as u32;
            if reach(readers) == ONE {
                cells.many.insert(key, vec![readers & PLACE]);
            }
            let all = cells.many.entry(key).or_default();
            all.retain(|&reader| same(reader, me) != ONE);
            all.push(me & PLACE);
        }
        if wider > reach(readers) || same(cells.other[cell], me) < wider {
            cells.other[cell] = readers & PLACE;
        }
        cells.read[cell] = reaching(me, wider);
    }

    /// Whether all readers (or atomics) are ordered before `me`.
    fn all_ordered(&self, at: At, cells: &Cells, cell: usize, me: u32) -> bool {
        let readers = cells.read[cell];
        if readers == 0 {
            return true;
        }
        let many = || cells.many.get(&(cell as u32)).map_or(&[][..], |all| all);
        let last = self.is_ordered(at, readers, me);
        match reach(readers) {
            ONE => last,
            _ if self.subject.exact => many().iter().all(|&one| self.is_ordered(at, one, me)),
            // Nothing orders one of them but what orders all: a `__syncwarp` of all lanes, a barrier. A thread's own are no
            // measure of that.
            reach => {
                let entry = self.table(at).entry(readers);
                let block = u64::from(entry.block) == self.here.block;
                let order = &self.here.order;
                match reach {
                    WARP => block && order.all_lanes(entry.warp.into(), entry.time, self.warp),
                    cells::BLOCK => block && order.past_barrier(entry.time),
                    _ => false,
                }
            }
        }
    }

    fn is_ordered(&self, at: At, tag: u32, me: u32) -> bool {
        if tag & PLACE < 32 {
            return true;
        }
        let entry = self.table(at).entry(tag);
        let from = (u32::from(entry.warp), tag & 31);
        let to = (self.warp, me & 31);
        if u64::from(entry.block) == self.here.block {
            self.here.order.in_block(from, entry.time, to)
        } else {
            let thread = 32 * from.0 + from.1;
            self.here
                .order
                .acquired(entry.block, thread, entry.time, to)
        }
    }

    /// An access against an earlier one.
    fn against(&mut self, look: &Look<'_>, tag: u32, me: u32) {
        if !self.is_ordered(look.at, tag, me) {
            self.conflict(look, tag, me, false);
        }
    }

    /// A write against all earlier readers; the first that is in conflict is enough.
    fn against_readers(&mut self, look: &Look<'_>, cells: &Cells, cell: usize, me: u32) {
        if self.all_ordered(look.at, cells, cell, me) {
            return;
        }
        let readers = cells.read[cell];
        let mut candidates = Vec::new();
        if reach(readers) != ONE {
            if self.subject.exact
                && let Some(all) = cells.many.get(&(cell as u32))
            {
                candidates.extend_from_slice(all);
            } else {
                candidates.push(cells.other[cell]);
            }
        }
        candidates.push(readers & PLACE);
        for tag in candidates {
            if !self.is_ordered(look.at, tag, me) {
                self.conflict(look, tag, me, readers & ATOMIC != 0);
                return;
            }
        }
    }

    /// Lanes of one instruction that write what a lower one writes.
    fn together(&mut self, look: &Look<'_>, lost: u32) {
        for lane in LaneMask(lost) {
            let cell = look.lanes.cells[lane] as usize;
            let winner = self.cells(look.at).write[cell];
            self.conflict(look, winner, look.lanes.tag | lane as u32, false);
        }
    }

    /// Whether an earlier atomic was the release itself that the thread took up: the last of several blocks may write the
    /// counter that they all have counted up.
    fn heard(&self, look: &Look<'_>, earlier: &Entry, tag: u32, me: u32) -> bool {
        let lane = (me & 31) as usize;
        let within = u64::from(look.within);
        let released = match look.at {
            At::Shared => {
                let offset = u64::from(look.lanes.cells[lane]) << look.shift;
                self.here.released.get(&((offset - within) as u32))
            }
            At::Region(index) => {
                let offset = u64::from(look.lanes.cells[lane]) << look.shift;
                let base = self.subject.map.regions[index].base;
                self.released.get(&(base + offset - within))
            }
        };
        let thread = 32 * u32::from(earlier.warp) + (tag & 31);
        released
            .and_then(|released| released.by.get(&(earlier.block, thread)))
            .is_some_and(|&time| {
                let to = (self.warp, me & 31);
                self.here.order.acquired(earlier.block, thread, time, to)
            })
    }

    /// Two accesses that nothing orders.
    #[cold]
    fn conflict(&mut self, look: &Look<'_>, tag: u32, me: u32, _atomics: bool) {
        let earlier = *self.table(look.at).entry(tag);
        let site = look.access.site;
        let subject = self.subject;
        let other_op = subject.code.counters[earlier.counter as usize].op;
        let (lane, other_lane) = ((me & 31) as usize, (tag & 31) as usize);
        if site.op == AccessOp::Atomic && other_op == AccessOp::Atomic {
            return;
        }
        let same_block = u64::from(earlier.block) == self.here.block;
        let same_warp = same_block && u32::from(earlier.warp) == self.warp;
        let cell = look.lanes.cells[lane];
        let now = same_warp
            && tag & PLACE & !31 == look.lanes.tag
            && site.op == AccessOp::Store
            && look.lanes.mask >> other_lane & 1 == 1
            && look.lanes.cells[other_lane] == cell;
        let atomic = site.op == AccessOp::Atomic || other_op == AccessOp::Atomic;
        let volatile = site.access.volatile && earlier.volatile;
        let talks = (site.op == AccessOp::Atomic || site.access.volatile)
            && (other_op == AccessOp::Atomic || earlier.volatile);
        if talks && !now {
            // A flag or a lock that is polled: that is what they are for. `volatile` shared memory without any fence is no
            // flag but data.
            let flag = atomic || !same_warp && (!same_block || subject.fences);
            let legal = same_warp && volatile && subject.arch.number() < 70;
            if flag || legal {
                return;
            }
        }
        let guess = |counter: u32| subject.guesses[counter as usize];
        if atomic && (guess(look.access.counter) || guess(earlier.counter)) {
            return;
        }
        if other_op == AccessOp::Atomic && self.heard(look, &earlier, tag, me) {
            return;
        }
        let component = look.within / site.access.ty.bytes();
        let register = site.values[component as usize % 4];
        let ty = site.access.ty;
        let written = |lane: usize| lane_value(look.access.r, ty, register, lane);
        // SAFETY: the lane's bytes are in the memory.
        let before = unsafe {
            let first = (look.bytes)(lane).wrapping_add((component * ty.bytes()) as usize);
            crate::ops::element::read(ty, first)
        };
        let cut = |bits: u64| match ty.bytes() {
            1 => bits & 0xff,
            2 => bits & 0xffff,
            4 => bits & 0xffff_ffff,
            _ => bits,
        };
        let stores = site.op == AccessOp::Store && other_op == AccessOp::Store;
        let same_value = stores
            && if now {
                cut(written(lane)) == cut(written(other_lane))
            } else {
                cut(written(lane)) == cut(before)
            };
        let class = if same_value {
            Class::SameValue
        } else if now {
            Class::Together
        } else if same_warp {
            if volatile {
                Class::Lockstep
            } else {
                Class::LockstepPlain
            }
        } else {
            Class::Race
        };
        let wanted = match class {
            Class::Lockstep | Class::LockstepPlain => Check::WarpSynchronous,
            Class::Race | Class::Together | Class::SameValue => Check::Race,
        };
        if !subject.checks.has(wanted) {
            return;
        }
        let block = self.here.block;
        let side = |counter: u32, block: u64, warp: u32, lane: usize, value, volatile| Side {
            counter,
            block,
            warp,
            lane: lane as u32,
            value,
            volatile,
        };
        let value = match site.op {
            AccessOp::Load => Some(before),
            AccessOp::Store => Some(written(lane)),
            AccessOp::Atomic => None,
        };
        let other_value = match other_op {
            AccessOp::Store if now => Some(written(other_lane)),
            AccessOp::Store => Some(before),
            AccessOp::Load | AccessOp::Atomic => None,
        };
        let first = side(
            earlier.counter,
            u64::from(earlier.block),
            earlier.warp.into(),
            other_lane,
            other_value,
            earlier.volatile,
        );
        let second = side(
            look.access.counter,
            block,
            self.warp,
            lane,
            value,
            site.access.volatile,
        );
        let place = match look.at {
            At::Shared => (None, u64::from(cell) << look.shift),
            At::Region(index) => (Some(index), u64::from(cell) << look.shift),
        };
        self.found
            .add(class, first, second, place, self.looks, !same_block);
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
        } else {
            let here = &mut self.here;
            here.block = index;
            let warps = self.subject.shape.threads().div_ceil(32);
            here.order.begin(index as u32, warps as usize);
            here.table.clear();
            here.cells.clear();
            here.released.clear();
            here.junk.clear();
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
        if access.space == Space::Local {
            self.local(access, offsets);
        }
        self.shared(access, offsets);
        self.counters.window(access, offsets)
    }

    #[inline(always)]
    fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) -> Charge {
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
    fn repeat_window(&mut self, access: &Access<'_>, offsets: &[u32; 32]) {
        self.shared(access, offsets);
    }

    #[inline(always)]
    fn repeat_global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        Checker::global(self, access, addresses);
    }

    fn repeats(&mut self, site: &MemSite, charge: Charge, requests: u64, lanes: u64) {
        self.counters.repeats(site, charge, requests, lanes);
    }

    fn period_bytes(&self, site: &MemSite) -> u64 {
        self.counters.period_bytes(site)
    }

    fn sync_warp(&mut self, mask: u32, named: &[u32; 32], alive: u32, loc: LocId) {
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
