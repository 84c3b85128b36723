//! Loads and stores of global and constant memory.
//!
//! A request like the site's last one is served by its [`Pattern`](crate::count::pattern). Any other request is checked
//! and counted lane by lane, and becomes the next pattern. If the warp is whole and its addresses are consecutive, the
//! data is copied at once.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::machine::level::Level;
use crate::machine::vectors::{Portable, Vectors};
use crate::memory::map::GlobalMap;
use crate::memory::map::GlobalRegion;
use crate::rules::affine::stride64;
use ir::Space;

use super::address::{addresses, is_within};
use super::element::{
    copies, copy_in, copy_out, gather, load_like, load_quickly, scatter, store_like, store_quickly,
};
use super::fault::{self, Done};
use crate::count::pattern::{Example, Last, Pattern, Shape};
use crate::count::reuse::Reach;
use crate::count::stats::Charge;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::track::{Touch, Tracker};
use crate::machine::{Fault, Machine};
use crate::observe::{Access, Like, Observer};

/// The region of all active lanes, or `None` if they are in several. The error is the first lane that is in none.
#[inline(always)]
pub(crate) fn region<O: Observer>(
    machine: &mut Machine<'_, O>,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
    writes: bool,
) -> Result<Option<GlobalRegion>, Box<Fault>> {
    let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
    for l in 0..32 {
        let active = 0u64.wrapping_sub(u64::from(mask >> l & 1));
        low = low.min(addresses[l] | !active);
        high = high.max(addresses[l] & active);
        all |= addresses[l] & active;
    }
    let width = u64::from(site.width_bytes);
    let fits = |region: &GlobalRegion| {
        low >= region.base
            && !region.is_heap
            && high.wrapping_sub(region.base) <= region.size
            && region.size - (high - region.base) >= width
    };
    let map = machine.map;
    let mut region = map.regions[machine.regions.last[row] as usize];
    if all & (width - 1) == 0 {
        if fits(&region) && (region.writable || !writes) {
            return Ok(Some(region));
        }
        if machine.regions.declared[row].is_none() {
            let found = map.find(low);
            region = map.regions[found as usize];
            if fits(&region) && (region.writable || !writes) {
                machine.regions.last[row] = found;
                return Ok(Some(region));
            }
        }
    }
    slow_region(machine, site, row, mask, addresses, writes)
}

#[cold]
fn slow_region<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
    writes: bool,
) -> Result<Option<GlobalRegion>, Box<Fault>> {
    match LaneMask(mask)
        .lanes()
        .find(|&lane| is_refused(machine, site, row, addresses[lane], writes))
    {
        Some(lane) => Err(fault::global(
            machine,
            site,
            row,
            lane,
            addresses[lane],
            writes,
        )),
        None => Ok(None),
    }
}

/// Whether an access at an address is invalid.
fn is_refused<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    row: usize,
    address: u64,
    writes: bool,
) -> bool {
    let width = u64::from(site.width_bytes);
    let place = machine.regions.declared[row].unwrap_or_else(|| machine.map.find(address));
    let region = machine.map.regions[place as usize];
    let leaves_block = || region.is_heap && !machine.memory.device_heap().holds(address, width);
    !region.holds(address, width)
        || address & (width - 1) != 0
        || writes && !region.writable
        || leaves_block()
}

/// The lanes whose access is invalid.
pub(crate) fn refused<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> u32 {
    let writes = site.op != AccessOp::Load;
    let mut lanes = 0;
    for lane in LaneMask(mask) {
        if is_refused(machine, site, row, addresses[lane], writes) {
            lanes |= 1 << lane;
        }
    }
    lanes
}

/// The host pointer for an address in a region.
#[inline(always)]
pub(crate) fn pointer<O: Observer>(
    region: Option<GlobalRegion>,
    machine: &Machine<'_, O>,
    address: u64,
) -> *mut u8 {
    let region = region.unwrap_or_else(|| machine.map.regions[machine.map.find(address) as usize]);
    // The address lies inside, so this stays inside the region's bytes.
    region.bytes.wrapping_add((address - region.base) as usize)
}

/// The event of an access. A generic access that got here goes to global memory.
#[inline(always)]
pub(crate) fn access(r: View, site: &MemSite, mask: u32) -> Access<'_> {
    let space = if site.access.space == Space::Constant {
        Space::Constant
    } else {
        Space::Global
    };
    Access {
        site,
        counter: site.counter,
        space,
        mask,
        r,
        memory: std::ptr::null(),
    }
}

/// Shows a request that matches its pattern to observers that have to see it. Debug builds compare it with the slow
/// path.
#[inline(always)]
fn see_repeat<V: Vectors, O: Observer>(
    observer: &mut O,
    r: View,
    i: &Inst,
    pattern: &mut Pattern,
    site: &MemSite,
    mask: u32,
    lowest: u64,
) {
    let access = access(r, site, mask);
    if cfg!(debug_assertions) {
        let places = pattern.bytes.map(|bytes| lowest + u64::from(bytes));
        assert_eq!(places, addresses(r, i, site));
        assert_eq!(pattern.charge, observer.charge_global(&access, &places));
    }
    let is_within = is_within::<V>(r, site);
    pattern.last.is_within = is_within;
    observer.repeat_global(
        &access,
        &Like {
            pattern,
            is_within,
            lowest,
        },
    );
}

/// Notes where a request that matches its pattern goes, if the block is sampled for [`reuse`](crate::count::reuse).
#[inline(always)]
fn reach_like(reach: &mut Reach, (site, pattern): (&MemSite, &Pattern), mask: u32, lowest: u64) {
    if reach.is_on && site.access.space != Space::Constant {
        reach.note_like(site.counter, site.width_bytes, pattern, mask, lowest);
    }
}

/// Notes where any request goes, if the block is sampled.
#[inline(always)]
pub(crate) fn reach<O>(
    machine: &mut Machine<'_, O>,
    site: &MemSite,
    charge: Charge,
    mask: u32,
    addresses: &[u64; 32],
) {
    if machine.record.reach.is_on && site.access.space != Space::Constant {
        let cost = (charge, site.width_bytes);
        let reach = &mut machine.record.reach;
        reach.note(site.counter, cost, mask, addresses);
    }
}

/// Reports the access to the tracker, if there are other workers.
#[inline(always)]
fn note<O: Observer>(machine: &mut Machine<'_, O>, touch: &Touch<'_>) {
    if let Some(tracker) = &mut machine.tracker {
        tracker.note(machine.map, touch);
    }
}

/// Reports a request that matches its pattern to the tracker.
#[inline(always)]
fn note_like(
    map: &GlobalMap,
    tracker: &mut Tracker,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    lowest: u64,
    writes: bool,
) {
    if !tracker.follows(pattern.region, writes) {
        return;
    }
    let region = &map.regions[pattern.region as usize];
    if pattern.shape == Shape::Run && mask == u32::MAX {
        let bytes = 32 * u64::from(site.width_bytes);
        return tracker.note_run(region, lowest - region.base, bytes, writes);
    }
    note_lanes(tracker, region, (site, pattern), mask, lowest, writes);
}

/// Does the same lane by lane.
#[cold]
fn note_lanes(
    tracker: &mut Tracker,
    region: &GlobalRegion,
    (site, pattern): (&MemSite, &Pattern),
    mask: u32,
    lowest: u64,
    writes: bool,
) {
    let width = u64::from(site.width_bytes);
    for lane in LaneMask(mask) {
        let offset = lowest - region.base + u64::from(pattern.bytes[lane]);
        tracker.note_run(region, offset, width, writes);
    }
}

/// How many requests of a site ahead the CPU prefetches a word.
const STEPS_AHEAD: usize = 8;

/// A load or store. A request like the site's last one is served by its pattern.
#[inline(always)]
pub(crate) fn global<const STORES: bool, L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    // SAFETY: the compiler makes a row for each site that an instruction names, and a worker has a pattern for each row.
    let (site, pattern) = unsafe {
        (
            machine.code.sites.get_unchecked(i.c as usize),
            machine.patterns.get_unchecked_mut(i.c as usize),
        )
    };
    let Some(first) = pattern.hit_global::<L::Vectors>(r, i, site, mask) else {
        return L::slow_global::<STORES, O>(machine, r, mask, i);
    };
    let lowest = first - pattern.below;
    if O::SEES_REPEATS || cfg!(debug_assertions) {
        see_repeat::<L::Vectors, O>(&mut machine.observer, r, i, pattern, site, mask, lowest);
    }
    if let Some(tracker) = &mut machine.tracker {
        note_like(machine.map, tracker, site, pattern, mask, lowest, STORES);
    }
    reach_like(&mut machine.record.reach, (site, pattern), mask, lowest);
    // SAFETY: a pattern's region is one of the launch's.
    let region = unsafe { machine.map.regions.get_unchecked(pattern.region as usize) };
    let offset = (lowest - region.base) as usize;
    let first_byte = region.bytes.wrapping_add(offset);
    if STORES {
        if pattern.shape == Shape::Run {
            // Prefetches what the next block's warp writes. Stores leave the CPU in order, and few can wait at a time,
            // so one that misses the cache delays all later ones.
            let step = pattern.walk.step(machine.block, lowest);
            L::Vectors::prefetch(first_byte.wrapping_add(step as usize));
        }
        // SAFETY: all lanes' bytes lie inside of the region (the pattern's invariant), which was found writable.
        if !machine.pass.watch && unsafe { store_quickly(r, site, pattern, mask, first_byte) } {
            return Ok(());
        }
    } else {
        if pattern.shape == Shape::Run {
            // The next block's warp reads the bytes after these. In a tile's rows they are too far apart for the CPU to
            // prefetch.
            L::Vectors::prefetch(first_byte.wrapping_add(32 * site.width_bytes as usize));
        }
        let memory =
            std::ptr::slice_from_raw_parts(region.bytes.cast_const(), region.size as usize);
        // SAFETY: all lanes' bytes lie inside of the region (the pattern's invariant).
        if unsafe { load_quickly::<L::Vectors>(r, site, pattern, memory, offset) } {
            return Ok(());
        }
        // A column of a matrix: each request is one row further, which is too far for the CPU to prefetch.
        let step = lowest.wrapping_sub(pattern.lowest) as usize;
        L::Vectors::prefetch(first_byte.wrapping_add(step.wrapping_mul(STEPS_AHEAD)));
    }
    pattern.lowest = lowest;
    L::rest_global::<STORES, O>(machine, r, mask, i)
}

/// Serves a request that matches the pattern, in any layout.
#[inline(always)]
pub(crate) fn rest_global<const STORES: bool, L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let (site, pattern) = (
        &machine.code.sites[i.c as usize],
        &machine.patterns[i.c as usize],
    );
    let region = &machine.map.regions[pattern.region as usize];
    let memory = std::ptr::slice_from_raw_parts_mut(region.bytes, region.size as usize);
    let offset = (pattern.lowest - region.base) as usize;
    // SAFETY: all lanes' bytes lie inside of the region (the pattern's invariant), which was found writable for a store.
    unsafe {
        if STORES {
            let to = memory.cast::<u8>().wrapping_add(offset);
            let changed = store_like(r, site, pattern, mask, to, machine.pass.watch);
            machine.pass.changed |= changed;
        } else {
            load_like::<L::Vectors>(r, site, pattern, mask, memory, offset);
        }
    }
    Ok(())
}

#[inline(always)]
fn learn<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    inst: &Inst,
    served: &Served,
    addresses: &[u64; 32],
) {
    let site = &machine.code.sites[inst.c as usize];
    let pattern = &mut machine.patterns[inst.c as usize];
    let Some(region) = served.region else { return };
    if !pattern.wants_example() {
        return;
    }
    let example = Example {
        inst,
        site,
        mask,
        charge: served.charge,
        bounds: (region.base, region.base + region.size),
        region: region.index,
        has_like_warps: machine.policy.has_like_warps,
    };
    pattern.learn(r, &example, &mut machine.observer, |l| addresses[l]);
    pattern.last.is_within = O::SEES_REPEATS && is_within::<Portable>(r, site);
}

/// A request that took the slow path.
pub(crate) struct Served {
    /// The region that all lanes were in, if it was one.
    region: Option<GlobalRegion>,
    charge: Charge,
}

/// The slow path, for any request.
#[inline(always)]
pub(crate) fn any_global<const STORES: bool, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    if !STORES {
        machine.patterns[i.c as usize].last.first = Last::NONE;
    }
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let served = serve::<STORES, O>(machine, r, site, i.c as usize, mask, &addresses)?;
    learn(machine, r, mask, i, &served, &addresses);
    Ok(())
}

/// Checks and counts any request, and moves its data.
#[inline(always)]
pub(crate) fn serve<const STORES: bool, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> Result<Served, Box<Fault>> {
    let region = region(machine, site, row, mask, addresses, STORES)?;
    let charge = machine.observer.global(&access(r, site, mask), addresses);
    reach(machine, site, charge, mask, addresses);
    let run = mask == u32::MAX
        && copies(site)
        && stride64(addresses) == Some(i64::from(site.width_bytes));
    let touch = Touch {
        region,
        mask,
        addresses,
        width_bytes: u64::from(site.width_bytes),
        run,
        writes: STORES,
    };
    note(machine, &touch);
    let at = |l: usize| pointer(region, machine, addresses[l]);
    // SAFETY: `region` found all active lanes' bytes inside of regions, which are writable for a store. If it is one
    // region, those of a run are inside, too.
    unsafe {
        match (STORES, run && region.is_some()) {
            (false, true) => copy_in(r, site, at(0)),
            (false, false) => gather(r, site, mask, |l| at(l).cast_const()),
            (true, true) => machine.pass.changed |= copy_out(r, site, at(0), machine.pass.watch),
            (true, false) => machine.pass.changed |= scatter(r, site, mask, at),
        }
    }
    Ok(Served { region, charge })
}

/// Serves a request that matches a pattern, for a [replayed](crate::machine::replay) block, whose registers differ from
/// the code's. `is_seen`: whether an observer that has to see accesses has to see this one.
///
/// # Safety
/// The pattern must have matched the request, with its lowest lane at `lowest`. For a store, its region must be
/// writable.
#[inline(always)]
pub(crate) unsafe fn found<const STORES: bool, L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    (i, site, pattern): (&Inst, &MemSite, &mut Pattern),
    mask: u32,
    (lowest, is_seen): (u64, bool),
) {
    if O::SEES_REPEATS && is_seen || cfg!(debug_assertions) {
        see_repeat::<L::Vectors, O>(&mut machine.observer, r, i, pattern, site, mask, lowest);
    }
    if let Some(tracker) = &mut machine.tracker {
        note_like(machine.map, tracker, site, pattern, mask, lowest, STORES);
    }
    // What the next block's request needs.
    let region = &machine.map.regions[pattern.region as usize];
    let offset = (lowest - region.base) as usize;
    let step = pattern.walk.step(machine.block, lowest);
    L::Vectors::prefetch(
        region
            .bytes
            .wrapping_add(offset)
            .wrapping_add(step as usize),
    );
    let memory = std::ptr::slice_from_raw_parts_mut(region.bytes, region.size as usize);
    // SAFETY: all lanes' bytes lie inside of the region (the pattern's invariant); the rest is guaranteed by the caller.
    unsafe {
        if STORES {
            let to = memory.cast::<u8>().wrapping_add(offset);
            if !store_quickly(r, site, pattern, mask, to) {
                store_like(r, site, pattern, mask, to, false);
            }
        } else if !load_quickly::<L::Vectors>(r, site, pattern, memory, offset) {
            load_like::<L::Vectors>(r, site, pattern, mask, memory, offset);
        }
    }
}
