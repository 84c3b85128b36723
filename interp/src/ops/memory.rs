//! Loads and stores: addresses, bounds, counts, data.
//!
//! Each access goes the same way. Its lane addresses are computed from the site's form; if the warp is whole and they are
//! `first + lane * stride`, bounds, counts and (for a run without gaps) the copy are done on the first and last alone.
//! Otherwise lanes are looked at one by one. Several lanes storing to one address: lanes are written from the highest to
//! the lowest, so the lowest one's value stays.

#![allow(
    clippy::inline_always,
    reason = "address arithmetic must be compiled with the engine's CPU features"
)]

use dsl::ir::{MemType, Space};

use super::fault::{self, Done};
use crate::bytecode::{Class, Form, Inst, MemSite};
use crate::machine::{GlobalRegion, Machine};
use crate::mask::LaneMask;
use crate::memory::layout::{self, LOCAL_BASE, SHARED_BASE};
use crate::registers::View;
use crate::rules::affine::{global_cost_affine, shared_cost_affine};
use crate::rules::bank::{SharedOp, shared_cost};
use crate::rules::coalesce::{GlobalOp, global_cost};
use crate::trap::AccessOp;

/// The 64-bit addresses of all lanes.
#[inline(always)]
pub(crate) fn addresses(r: View, i: &Inst, site: &MemSite) -> [u64; 32] {
    let mut out = [0; 32];
    let (scale, offset) = (site.scale, site.offset);
    match site.form {
        Form::Uniform => out = [r.s(i.a).wrapping_add_signed(offset); 32],
        Form::Varying => {
            let a = r.v64(i.a);
            for l in 0..32 {
                out[l] = a[l].wrapping_add_signed(offset);
            }
        }
        Form::UniformIndexed => {
            let (a, b) = (r.s(i.a).wrapping_add_signed(offset), r.v32(i.b));
            if site.unsigned {
                for l in 0..32 {
                    out[l] = a.wrapping_add((b[l] as u64).wrapping_mul(scale as u64));
                }
            } else {
                for l in 0..32 {
                    out[l] = a.wrapping_add_signed((b[l] as i32 as i64).wrapping_mul(scale));
                }
            }
        }
        Form::VaryingIndexed => {
            let (a, b) = (r.v64(i.a), r.v32(i.b));
            for l in 0..32 {
                let index = if site.unsigned {
                    b[l] as i64
                } else {
                    b[l] as i32 as i64
                };
                out[l] = a[l]
                    .wrapping_add_signed(index.wrapping_mul(scale))
                    .wrapping_add_signed(offset);
            }
        }
    }
    out
}

/// The offsets of all lanes from `base`, modulo 2^32: of pointers kept as 32 bits.
#[inline(always)]
pub(crate) fn offsets(r: View, i: &Inst, site: &MemSite, base: u32) -> [u32; 32] {
    let mut out = [0; 32];
    let (scale, offset) = (site.scale as u32, (site.offset as u32).wrapping_sub(base));
    match site.form {
        Form::Uniform => out = [(r.s(i.a) as u32).wrapping_add(offset); 32],
        Form::Varying => {
            let a = r.v32(i.a);
            for l in 0..32 {
                out[l] = a[l].wrapping_add(offset);
            }
        }
        Form::UniformIndexed => {
            let (a, b) = ((r.s(i.a) as u32).wrapping_add(offset), r.v32(i.b));
            for l in 0..32 {
                out[l] = a.wrapping_add(b[l].wrapping_mul(scale));
            }
        }
        Form::VaryingIndexed => {
            let (a, b) = (r.v32(i.a), r.v32(i.b));
            for l in 0..32 {
                out[l] = a[l]
                    .wrapping_add(b[l].wrapping_mul(scale))
                    .wrapping_add(offset);
            }
        }
    }
    out
}

/// The stride, if lane `l`'s offset is `offsets[0] + l * stride` without wrapping around.
#[inline(always)]
fn stride32(offsets: &[u32; 32]) -> Option<i32> {
    let stride = offsets[1].wrapping_sub(offsets[0]);
    let mut differs = 0;
    for l in 0..32u32 {
        differs |= offsets[l as usize] ^ offsets[0].wrapping_add(stride.wrapping_mul(l));
    }
    let last = i64::from(offsets[0]) + 31 * i64::from(stride as i32);
    (differs == 0 && last == i64::from(offsets[31])).then_some(stride as i32)
}

#[inline(always)]
fn stride64(addresses: &[u64; 32]) -> Option<i64> {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    let mut differs = 0;
    for l in 0..32u64 {
        differs |= addresses[l as usize] ^ addresses[0].wrapping_add(stride.wrapping_mul(l));
    }
    let small = (stride as i64).unsigned_abs() < 1 << 40;
    (differs == 0 && small && addresses[0] < 1 << 62).then_some(stride as i64)
}

/// The offset of the first and the end of the last byte that active lanes touch, and the `or` of their offsets.
#[inline(always)]
fn extent32(offsets: &[u32; 32], mask: u32) -> (u32, u32, u32) {
    let (mut low, mut high, mut all) = (u32::MAX, 0, 0);
    for l in 0..32 {
        let active = 0u32.wrapping_sub(mask >> l & 1);
        low = low.min(offsets[l] | !active);
        high = high.max(offsets[l] & active);
        all |= offsets[l] & active;
    }
    (low, high, all)
}

/// Whether all active lanes' accesses to a window of `size` bytes are allowed; else the first one that is not.
#[inline(always)]
pub(crate) fn check_window(
    machine: &Machine<'_>,
    site: &MemSite,
    space: Space,
    mask: u32,
    offsets: &[u32; 32],
    size: u64,
) -> Done {
    let (low, high, all) = extent32(offsets, mask);
    let width = site.width_bytes;
    let (start, len) = site.bounds.unwrap_or((0, size));
    let fits =
        u64::from(low) >= start && u64::from(high) + u64::from(width) <= (start + len).min(size);
    if fits && all & (width - 1) == 0 {
        return Ok(());
    }
    let bad = LaneMask(mask).lanes().find(|&l| {
        let (at, end) = (
            u64::from(offsets[l]),
            u64::from(offsets[l]) + u64::from(width),
        );
        at < start || end > (start + len).min(size) || at & u64::from(width - 1) != 0
    });
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

#[inline(always)]
fn count_shared(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) {
    let op = match site.op {
        AccessOp::Store => SharedOp::Store,
        AccessOp::Load | AccessOp::Atomic => SharedOp::Load,
    };
    let rules = &machine.rules.shared;
    let affine = if mask == u32::MAX {
        stride32(offsets)
            .and_then(|stride| shared_cost_affine(rules, op, site.width_bytes, offsets[0], stride))
    } else {
        None
    };
    let cost = affine.or_else(|| shared_cost(rules, op, site.width_bytes, LaneMask(mask), offsets));
    machine.counts[counter as usize].add_shared(cost, site.width_bytes, LaneMask(mask));
}

#[inline(always)]
fn count_global(
    machine: &mut Machine<'_>,
    site: &MemSite,
    counter: u32,
    mask: u32,
    addresses: &[u64; 32],
) {
    let op = match site.op {
        AccessOp::Store => GlobalOp::Store,
        AccessOp::Load | AccessOp::Atomic => GlobalOp::Load,
    };
    let rules = &machine.rules.global;
    let affine = if mask == u32::MAX {
        stride64(addresses).and_then(|stride| {
            global_cost_affine(rules, op, site.width_bytes, addresses[0], stride)
        })
    } else {
        None
    };
    let cost =
        affine.or_else(|| global_cost(rules, op, site.width_bytes, LaneMask(mask), addresses));
    machine.counts[counter as usize].add_global(cost, site.width_bytes, LaneMask(mask));
}

/// Accesses to constant and local memory: how often, how many lanes.
#[inline(always)]
fn count_plain(machine: &mut Machine<'_>, site: &MemSite, counter: u32, mask: u32) {
    let counts = &mut machine.counts[counter as usize];
    counts.instructions += 1;
    counts.requests += 1;
    counts.active_lanes += u64::from(mask.count_ones());
    counts.bytes += u64::from(mask.count_ones()) * u64::from(site.width_bytes);
}

/// The element at a pointer, as bits of its value (an `i1` as 0 or 1).
///
/// # Safety
/// The element's bytes are readable.
#[inline(always)]
pub(crate) unsafe fn read(ty: MemType, pointer: *const u8) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match ty {
            MemType::Bool => u64::from(*pointer != 0),
            MemType::S8 => u64::from(*pointer as i8 as u32),
            MemType::U8 => u64::from(*pointer),
            MemType::S16 => u64::from(pointer.cast::<i16>().read_unaligned() as u32),
            MemType::U16 => u64::from(pointer.cast::<u16>().read_unaligned()),
            MemType::I32 | MemType::F32 => u64::from(pointer.cast::<u32>().read_unaligned()),
            MemType::I64 | MemType::F64 | MemType::Ptr => pointer.cast::<u64>().read_unaligned(),
        }
    }
}

/// Writes the low bytes of a value. Gives whether memory is different now.
///
/// # Safety
/// The element's bytes are writable.
#[inline(always)]
pub(crate) unsafe fn write(ty: MemType, pointer: *mut u8, bits: u64) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match ty.bytes() {
            1 => {
                let changed = *pointer != bits as u8;
                *pointer = bits as u8;
                changed
            }
            2 => {
                let pointer = pointer.cast::<u16>();
                let changed = pointer.read_unaligned() != bits as u16;
                pointer.write_unaligned(bits as u16);
                changed
            }
            4 => {
                let pointer = pointer.cast::<u32>();
                let changed = pointer.read_unaligned() != bits as u32;
                pointer.write_unaligned(bits as u32);
                changed
            }
            _ => {
                let pointer = pointer.cast::<u64>();
                let changed = pointer.read_unaligned() != bits;
                pointer.write_unaligned(bits);
                changed
            }
        }
    }
}

/// The value of a lane in a register of its class; an `i1` as 0 or 1.
#[inline(always)]
pub(crate) fn lane_value(r: View, ty: MemType, register: u32, lane: usize) -> u64 {
    match Class::of(ty.value_type()) {
        Class::Mask => u64::from(r.mask(register) >> lane & 1),
        Class::W32 => u64::from(r.v32(register)[lane]),
        Class::W64 => r.v64(register)[lane],
    }
}

#[inline(always)]
pub(crate) fn set_lane(r: View, ty: MemType, register: u32, lane: usize, bits: u64) {
    match Class::of(ty.value_type()) {
        Class::Mask => {
            let mask = r.mask(register) & !(1 << lane) | (bits as u32) << lane;
            r.set_s(register, u64::from(mask));
        }
        Class::W32 => r.v32_mut(register)[lane] = bits as u32,
        Class::W64 => r.v64_mut(register)[lane] = bits,
    }
}

/// Reads every component of every active lane, `at` giving the lane's first byte.
///
/// # Safety
/// All bytes are readable.
#[inline(always)]
unsafe fn gather(r: View, site: &MemSite, mask: u32, at: impl Fn(usize) -> *const u8) {
    let ty = site.access.ty;
    // SAFETY: the caller's, in all branches.
    unsafe {
        if site.uniform_values {
            let first = at(mask.trailing_zeros() as usize);
            for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
                let bits = read(ty, first.add(k * ty.bytes() as usize));
                let is_mask = Class::of(ty.value_type()) == Class::Mask;
                r.set_s(
                    register,
                    if is_mask {
                        u64::from(0u32.wrapping_sub(bits as u32))
                    } else {
                        bits
                    },
                );
            }
            return;
        }
        if site.access.count == 1 && mask == u32::MAX && matches!(ty, MemType::I32 | MemType::F32) {
            let d = r.v32_mut(site.values[0]);
            for (l, d) in d.iter_mut().enumerate() {
                *d = at(l).cast::<u32>().read_unaligned();
            }
            return;
        }
        for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
            for lane in LaneMask(mask) {
                set_lane(
                    r,
                    ty,
                    register,
                    lane,
                    read(ty, at(lane).add(k * ty.bytes() as usize)),
                );
            }
        }
    }
}

/// Writes every component of every active lane, highest lane first. Gives whether memory is different now.
///
/// # Safety
/// All bytes are writable.
#[inline(always)]
unsafe fn scatter(r: View, site: &MemSite, mask: u32, at: impl Fn(usize) -> *mut u8) -> bool {
    let ty = site.access.ty;
    let mut changed = false;
    let mut rest = mask;
    while rest != 0 {
        let lane = 31 - rest.leading_zeros() as usize;
        rest &= !(1 << lane);
        for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
            let bits = lane_value(r, ty, register, lane);
            // SAFETY: the caller's.
            changed |= unsafe { write(ty, at(lane).add(k * ty.bytes() as usize), bits) };
        }
    }
    changed
}

/// Whether the access is a run of whole 32-bit or 64-bit elements that can be copied at once.
#[inline(always)]
fn copies(site: &MemSite) -> bool {
    site.access.count == 1 && site.width_bytes >= 4 && !site.uniform_values
}

/// # Safety
/// `32 * width` bytes at `from` are readable.
#[inline(always)]
unsafe fn copy_in(r: View, site: &MemSite, from: *const u8) {
    // SAFETY: the caller's.
    unsafe {
        if site.width_bytes == 4 {
            *r.v32_mut(site.values[0]) = from.cast::<[u32; 32]>().read_unaligned();
        } else {
            *r.v64_mut(site.values[0]) = from.cast::<[u64; 32]>().read_unaligned();
        }
    }
}

/// # Safety
/// `32 * width` bytes at `to` are writable.
#[inline(always)]
unsafe fn copy_out(r: View, site: &MemSite, to: *mut u8, watch: bool) -> bool {
    // SAFETY: the caller's.
    unsafe {
        if site.width_bytes == 4 {
            let to = to.cast::<[u32; 32]>();
            let changed = watch && to.read_unaligned() != *r.v32(site.values[0]);
            to.write_unaligned(*r.v32(site.values[0]));
            changed
        } else {
            let to = to.cast::<[u64; 32]>();
            let changed = watch && to.read_unaligned() != *r.v64(site.values[0]);
            to.write_unaligned(*r.v64(site.values[0]));
            changed
        }
    }
}

// Shared memory.

#[inline(always)]
pub(crate) fn load_shared(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    shared_in(machine, r, site, site.counter, mask, &offsets)
}

#[inline(always)]
fn shared_in(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    check_window(
        machine,
        site,
        Space::Shared,
        mask,
        offsets,
        machine.shared.len() as u64,
    )?;
    count_shared(machine, site, counter, mask, offsets);
    let base = machine.shared.as_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    unsafe { gather(r, site, mask, |l| base.add(offsets[l] as usize)) };
    Ok(())
}

#[inline(always)]
pub(crate) fn store_shared(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    shared_out(machine, r, site, site.counter, mask, &offsets)
}

#[inline(always)]
fn shared_out(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    check_window(
        machine,
        site,
        Space::Shared,
        mask,
        offsets,
        machine.shared.len() as u64,
    )?;
    count_shared(machine, site, counter, mask, offsets);
    let base = machine.shared.as_mut_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    let changed = unsafe { scatter(r, site, mask, |l| base.add(offsets[l] as usize)) };
    machine.changed |= changed;
    Ok(())
}

// Global and constant memory.

/// The region all active lanes are in, or `None` if they are in several; or the first lane that is in none.
#[inline(always)]
pub(crate) fn region(
    machine: &mut Machine<'_>,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
    writes: bool,
) -> Result<Option<GlobalRegion>, Box<crate::machine::Fault>> {
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
            && high.wrapping_sub(region.base) <= region.size
            && region.size - (high - region.base) >= width
    };
    let map = machine.map;
    let mut region = map.regions[machine.region_of_site[row] as usize];
    if all & (width - 1) == 0 {
        if fits(&region) && (region.writable || !writes) {
            return Ok(Some(region));
        }
        if machine.declared[row].is_none() {
            let found = map.find(low);
            region = map.regions[found as usize];
            if fits(&region) && (region.writable || !writes) {
                machine.region_of_site[row] = found;
                return Ok(Some(region));
            }
        }
    }
    slow_region(machine, site, row, mask, addresses, writes)
}

#[cold]
fn slow_region(
    machine: &Machine<'_>,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
    writes: bool,
) -> Result<Option<GlobalRegion>, Box<crate::machine::Fault>> {
    let width = u64::from(site.width_bytes);
    for lane in LaneMask(mask) {
        let address = addresses[lane];
        let region = match machine.declared[row] {
            Some(region) => machine.map.regions[region as usize],
            None => machine.map.regions[machine.map.find(address) as usize],
        };
        if !region.holds(address, width) || address & (width - 1) != 0 || writes && !region.writable
        {
            return Err(fault::global(machine, site, row, lane, address, writes));
        }
    }
    Ok(None)
}

/// The host's pointer to an address that is known to be in a region.
#[inline(always)]
pub(crate) fn pointer(
    region: Option<GlobalRegion>,
    machine: &Machine<'_>,
    address: u64,
) -> *mut u8 {
    let region = region.unwrap_or_else(|| machine.map.regions[machine.map.find(address) as usize]);
    // The address lies inside, so this stays inside the region's bytes.
    region.bytes.wrapping_add((address - region.base) as usize)
}

#[inline(always)]
pub(crate) fn load_global(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    global_in(machine, r, site, i.c as usize, mask, &addresses)
}

#[inline(always)]
fn global_in(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> Done {
    let region = region(machine, site, row, mask, addresses, false)?;
    if site.access.space == Space::Constant {
        count_plain(machine, site, site.counter, mask);
    } else {
        count_global(machine, site, site.counter, mask, addresses);
    }
    let run = mask == u32::MAX
        && copies(site)
        && stride64(addresses) == Some(i64::from(site.width_bytes));
    if let (Some(region), true) = (region, run) {
        // SAFETY: first and last lane lie inside the region, and the lanes between them.
        unsafe {
            copy_in(
                r,
                site,
                region
                    .bytes
                    .wrapping_add((addresses[0] - region.base) as usize),
            )
        };
        return Ok(());
    }
    // SAFETY: `region` found all active lanes' bytes inside of regions.
    unsafe { gather(r, site, mask, |l| pointer(region, machine, addresses[l])) };
    Ok(())
}

#[inline(always)]
pub(crate) fn store_global(machine: &mut Machine<'_>, r: View, mask: u32, i: &Inst) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    global_out(machine, r, site, i.c as usize, mask, &addresses)
}

#[inline(always)]
fn global_out(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    row: usize,
    mask: u32,
    addresses: &[u64; 32],
) -> Done {
    let region = region(machine, site, row, mask, addresses, true)?;
    count_global(machine, site, site.counter, mask, addresses);
    let run = mask == u32::MAX
        && copies(site)
        && stride64(addresses) == Some(i64::from(site.width_bytes));
    let changed = if let (Some(region), true) = (region, run) {
        let to = region
            .bytes
            .wrapping_add((addresses[0] - region.base) as usize);
        // SAFETY: first and last lane lie inside the region, and the lanes between them.
        unsafe { copy_out(r, site, to, machine.watch) }
    } else {
        // SAFETY: `region` found all active lanes' bytes inside of writable regions.
        unsafe { scatter(r, site, mask, |l| pointer(region, machine, addresses[l])) }
    };
    machine.changed |= changed;
    Ok(())
}

// Thread-local memory.

/// Where a byte of a lane's memory lies in the warp's.
#[inline(always)]
pub(crate) fn local_index(offset: u32, lane: usize) -> usize {
    (offset as usize / 4) * 128 + lane * 4 + offset as usize % 4
}

/// An element of a lane's memory.
pub(crate) fn local_read(local: &[u8], ty: MemType, offset: u32, lane: usize) -> u64 {
    let mut bytes = [0; 8];
    for (k, byte) in bytes[..ty.bytes() as usize].iter_mut().enumerate() {
        *byte = local[local_index(offset + k as u32, lane)];
    }
    // SAFETY: eight bytes of an array, at least as many as the element has.
    unsafe { read(ty, bytes.as_ptr()) }
}

/// Writes an element; gives whether memory is different now.
pub(crate) fn local_write(
    local: &mut [u8],
    ty: MemType,
    offset: u32,
    lane: usize,
    bits: u64,
) -> bool {
    let mut changed = false;
    for (k, &byte) in bits.to_le_bytes()[..ty.bytes() as usize].iter().enumerate() {
        let at = &mut local[local_index(offset + k as u32, lane)];
        changed |= *at != byte;
        *at = byte;
    }
    changed
}

#[inline(always)]
pub(crate) fn load_local(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &[u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_in(machine, r, site, site.counter, mask, &offsets, local)
}

fn local_in(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
    local: &[u8],
) -> Done {
    check_window(
        machine,
        site,
        Space::Local,
        mask,
        offsets,
        local.len() as u64 / 32,
    )?;
    count_plain(machine, site, counter, mask);
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        let within = k as u32 * ty.bytes();
        if ty.bytes() == 4 && stride32(offsets) == Some(0) {
            let row = local_index(offsets[0] + within, 0);
            for (d, bytes) in r
                .v32_mut(register)
                .iter_mut()
                .zip(local[row..row + 128].chunks_exact(4))
            {
                *d = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            continue;
        }
        for lane in LaneMask(mask) {
            set_lane(
                r,
                ty,
                register,
                lane,
                local_read(local, ty, offsets[lane] + within, lane),
            );
        }
    }
    Ok(())
}

#[inline(always)]
pub(crate) fn store_local(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_out(machine, r, site, site.counter, mask, &offsets, local)
}

fn local_out(
    machine: &mut Machine<'_>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
    local: &mut [u8],
) -> Done {
    check_window(
        machine,
        site,
        Space::Local,
        mask,
        offsets,
        local.len() as u64 / 32,
    )?;
    count_plain(machine, site, counter, mask);
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        for lane in LaneMask(mask) {
            let bits = lane_value(r, ty, register, lane);
            // A thread's own memory is part of its state, not of what others can change.
            local_write(local, ty, offsets[lane] + k as u32 * ty.bytes(), lane, bits);
        }
    }
    Ok(())
}

// Generic addresses: each lane goes where its address says.

/// The lanes whose addresses are in the shared, the local and in no window.
#[inline(always)]
pub(crate) fn windows(addresses: &[u64; 32], mask: u32) -> (u32, u32, u32) {
    let (mut shared, mut local) = (0, 0);
    for l in 0..32 {
        shared |= u32::from(layout::area(addresses[l]) == layout::area(layout::SHARED)) << l;
        local |= u32::from(layout::area(addresses[l]) == layout::area(layout::LOCAL)) << l;
    }
    (mask & shared, mask & local, mask & !shared & !local)
}

/// Generic addresses as offsets in a window.
#[inline(always)]
pub(crate) fn narrowed(addresses: &[u64; 32], base: u32) -> [u32; 32] {
    addresses.map(|address| (address as u32).wrapping_sub(base))
}

#[inline(never)]
pub(crate) fn load_generic(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &[u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (in_shared, in_local, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        global_in(machine, r, site, i.c as usize, elsewhere, &addresses)?;
    }
    if in_shared != 0 {
        shared_in(
            machine,
            r,
            site,
            site.counter + 1,
            in_shared,
            &narrowed(&addresses, SHARED_BASE),
        )?;
    }
    if in_local != 0 {
        local_in(
            machine,
            r,
            site,
            site.counter + 2,
            in_local,
            &narrowed(&addresses, LOCAL_BASE),
            local,
        )?;
    }
    Ok(())
}

#[inline(never)]
pub(crate) fn store_generic(
    machine: &mut Machine<'_>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (in_shared, in_local, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        global_out(machine, r, site, i.c as usize, elsewhere, &addresses)?;
    }
    if in_shared != 0 {
        shared_out(
            machine,
            r,
            site,
            site.counter + 1,
            in_shared,
            &narrowed(&addresses, SHARED_BASE),
        )?;
    }
    if in_local != 0 {
        local_out(
            machine,
            r,
            site,
            site.counter + 2,
            in_local,
            &narrowed(&addresses, LOCAL_BASE),
            local,
        )?;
    }
    Ok(())
}
