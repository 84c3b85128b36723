//! Loads and stores of shared memory. A request like the site's last one is served by its
//! [`Pattern`](crate::count::pattern). Any other request is checked, counted and moved lane by lane, and becomes the
//! next pattern.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::machine::level::Level;
use crate::machine::vectors::{Portable, Vectors};
use ir::Space;

use super::address::{extent32, is_within, offsets};
use super::element::{
    blend_out, check_loaded, check_stored, first_active, gather, load_like, load_quickly, scatter,
    store_like, store_quickly,
};
use super::fault::{self, Done};
use crate::count::pattern::{Example, Last, Pattern, Shape};
use crate::count::stats::Charge;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::{Fault, Machine};
use crate::memory::layout::SHARED_BASE;
use crate::observe::{Access, Like, Observer};

/// Whether all active lanes' accesses to a window of `size` bytes are valid. The error is the first lane whose access
/// is not.
#[inline(always)]
pub(crate) fn check_window<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    space: Space,
    mask: u32,
    offsets: &[u32; 32],
    size: u64,
) -> Done {
    let (low, high, all) = extent32(offsets, mask);
    let width = site.width_bytes;
    let shift = window_shift(machine, space);
    let (start, len) = bounds(site, shift, size);
    let fits =
        u64::from(low) >= start && u64::from(high) + u64::from(width) <= (start + len).min(size);
    if fits && all & (width - 1) == 0 {
        return Ok(());
    }
    let bad = LaneMask(mask)
        .lanes()
        .find(|&l| !is_inside(site, shift, offsets[l], size));
    match bad {
        Some(lane) => Err(fault::windowed(
            machine,
            site,
            space,
            lane,
            offsets[lane],
            size,
        )),
        None => Ok(()),
    }
}

/// Checks and counts a request to a window of `size` bytes. Returns the cost.
#[inline(always)]
pub(crate) fn count<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    (site, counter): (&MemSite, u32),
    space: Space,
    mask: u32,
    (offsets, size): (&[u32; 32], u64),
) -> Result<Charge, Box<Fault>> {
    check_window(machine, site, space, mask, offsets, size)?;
    let access = Access {
        site,
        counter,
        space,
        mask,
        r,
        memory: machine.shared.as_ptr(),
    };
    Ok(machine.observer.window(&access, offsets))
}

/// The offset added to the objects of a space.
#[inline(always)]
pub(crate) fn window_shift<O>(machine: &Machine<'_, O>, space: Space) -> u32 {
    match space {
        Space::Local => machine.shift,
        Space::Shared | Space::Global | Space::Constant | Space::Generic => 0,
    }
}

/// The start and length of the array that the source names at a site, or else of the whole space.
#[inline(always)]
pub(crate) fn bounds(site: &MemSite, shift: u32, size: u64) -> (u64, u64) {
    let of_array = |(start, len)| (u64::from((start as u32).wrapping_add(shift)), len);
    site.bounds.map_or((0, size), of_array)
}

/// Whether an access at an offset in a space of that size stays within the site's bounds and is aligned.
#[inline(always)]
pub(crate) fn is_inside(site: &MemSite, shift: u32, offset: u32, size: u64) -> bool {
    let width = u64::from(site.width_bytes);
    let (start, len) = bounds(site, shift, size);
    let (at, end) = (u64::from(offset), u64::from(offset) + width);
    at >= start && end <= (start + len).min(size) && at & (width - 1) == 0
}

/// The event of an access, counted by one of its site's counters.
#[inline(always)]
pub(crate) fn access(
    (site, counter): (&MemSite, u32),
    mask: u32,
    r: View,
    memory: *const u8,
) -> Access<'_> {
    Access {
        site,
        counter,
        space: Space::Shared,
        mask,
        r,
        memory,
    }
}

/// Shows a request that matches its pattern to observers that have to see it. Debug builds compare it with the slow
/// path.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "all of one access")]
fn see_repeat<V: Vectors, O: Observer>(
    observer: &mut O,
    r: View,
    i: &Inst,
    pattern: &mut Pattern,
    site: &MemSite,
    mask: u32,
    lowest: usize,
    memory: *const u8,
) {
    let access = access((site, site.counter), mask, r, memory);
    if cfg!(debug_assertions) {
        let places = pattern.bytes.map(|bytes| lowest as u32 + bytes);
        assert_eq!(places, offsets(r, i, site, SHARED_BASE));
        assert_eq!(pattern.charge, observer.charge_window(&access, &places));
    }
    let lowest = lowest as u64;
    let is_within = is_within::<V>(r, site);
    pattern.last.is_within = is_within;
    observer.repeat_window(
        &access,
        &Like {
            pattern,
            is_within,
            lowest,
        },
    );
}

/// A load or store. A request like the site's last one is served by its pattern.
#[inline(always)]
pub(crate) fn shared<const STORES: bool, L: Level, O: Observer>(
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
    let Some(first) = pattern.hit_shared::<L::Vectors>(r, i, site, mask) else {
        return L::slow_shared::<STORES, O>(machine, r, mask, i);
    };
    let lowest = (first - pattern.below) as usize;
    if O::SEES_REPEATS || cfg!(debug_assertions) {
        let memory = machine.shared.as_ptr();
        see_repeat::<L::Vectors, O>(
            &mut machine.observer,
            r,
            i,
            pattern,
            site,
            mask,
            lowest,
            memory,
        );
    }
    // SAFETY: all lanes' bytes lie inside (the pattern's invariant), and only this thread accesses the block's memory.
    unsafe {
        if STORES {
            let to = machine.shared.as_mut_ptr().add(lowest);
            if !machine.pass.watch && store_quickly(r, site, pattern, mask, to) {
                check_stored(r, site, pattern, mask, to);
                return Ok(());
            }
        } else {
            let memory = &raw const machine.shared[..];
            if !is_short_run(pattern, site, mask)
                && load_quickly::<L::Vectors>(r, site, pattern, memory, lowest)
            {
                check_loaded(r, site, pattern, mask, memory.cast::<u8>().add(lowest));
                return Ok(());
            }
        }
    }
    pattern.lowest = lowest as u64;
    L::rest_shared::<STORES, O>(machine, r, mask, i)
}

/// Serves a request that matches the pattern, in any layout.
#[inline(always)]
pub(crate) fn rest_shared<const STORES: bool, L: Level, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let (site, pattern) = (
        &machine.code.sites[i.c as usize],
        &machine.patterns[i.c as usize],
    );
    let (memory, lowest) = (&raw mut machine.shared[..], pattern.lowest as usize);
    // SAFETY: all lanes' bytes lie inside (the pattern's invariant), and only this thread accesses the block's memory.
    unsafe {
        let at = memory.cast::<u8>().add(lowest);
        if STORES {
            if pattern.shape == Shape::Run && site.width_bytes == 4 && !machine.pass.watch {
                blend_out(r.v32(site.values[0]), mask, at);
            } else {
                let changed = store_like(r, site, pattern, mask, at, machine.pass.watch);
                machine.pass.changed |= changed;
            }
            check_stored(r, site, pattern, mask, at);
        } else {
            if is_short_run(pattern, site, mask) {
                L::Vectors::first_lanes(at, first_active(mask), r.v32_mut(site.values[0]));
            } else {
                load_like::<L::Vectors>(r, site, pattern, mask, memory, lowest);
            }
            check_loaded(r, site, pattern, mask, at);
        }
    }
    Ok(())
}

/// Whether the request is a run of words that only lanes in the first half-warp need: the last rounds of a reduction.
#[inline(always)]
fn is_short_run(pattern: &Pattern, site: &MemSite, mask: u32) -> bool {
    mask <= 0xffff && pattern.shape == Shape::Run && site.width_bytes == 4
}

/// The slow path, for any request.
#[inline(always)]
pub(crate) fn any_shared<const STORES: bool, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    if !STORES {
        machine.patterns[i.c as usize].last.first = Last::NONE;
    }
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    let charge = serve::<STORES, O>(machine, r, site, site.counter, mask, &offsets)?;
    learn(machine, r, mask, i, charge, &offsets);
    Ok(())
}

#[inline(always)]
fn learn<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    inst: &Inst,
    charge: Charge,
    offsets: &[u32; 32],
) {
    let site = &machine.code.sites[inst.c as usize];
    let pattern = &mut machine.patterns[inst.c as usize];
    if !pattern.wants_example() {
        return;
    }
    let size = machine.shared.len() as u64;
    let (start, len) = site.bounds.unwrap_or((0, size));
    let example = Example {
        inst,
        site,
        mask,
        charge,
        bounds: (start, (start + len).min(size)),
        region: 0,
        has_like_warps: machine.policy.has_like_warps,
    };
    pattern.learn(r, &example, &mut machine.observer, |l| {
        u64::from(offsets[l])
    });
    pattern.last.is_within = O::SEES_REPEATS && is_within::<Portable>(r, site);
}

/// Checks and counts any request, and moves its data. Returns the cost.
#[inline(always)]
pub(crate) fn serve<const STORES: bool, O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Result<Charge, Box<Fault>> {
    let size = machine.shared.len() as u64;
    let named = (site, counter);
    let charge = count(machine, r, named, Space::Shared, mask, (offsets, size))?;
    let base = machine.shared.as_mut_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    let at = |l: usize| unsafe { base.add(offsets[l] as usize) };
    // SAFETY: as above.
    unsafe {
        match STORES {
            false => gather(r, site, mask, |l| at(l).cast_const()),
            true => machine.pass.changed |= scatter(r, site, mask, at),
        }
    }
    Ok(charge)
}
