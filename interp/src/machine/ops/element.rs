//! Moves elements between memory and registers: one lane, or all active lanes of a site.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::machine::vectors::Vectors;
use ir::MemType;

use crate::count::pattern::{Pattern, ROWS_BYTES, Shape};
use crate::isa::bytecode::{Class, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;

/// The element at a pointer, as the bits of its value (an `i1` as 0 or 1).
///
/// # Safety
/// The element's bytes must be readable.
#[inline(always)]
pub(crate) unsafe fn read(ty: MemType, pointer: *const u8) -> u64 {
    // SAFETY: guaranteed by the caller.
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

/// Writes the low bytes of a value. Returns whether memory changed.
///
/// # Safety
/// The element's bytes must be writable.
#[inline(always)]
pub(crate) unsafe fn write(ty: MemType, pointer: *mut u8, bits: u64) -> bool {
    // SAFETY: guaranteed by the caller.
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

/// Reads every component of every active lane. `at` gives a lane's first byte.
///
/// # Safety
/// All bytes must be readable.
#[inline(always)]
pub(crate) unsafe fn gather(r: View, site: &MemSite, mask: u32, at: impl Fn(usize) -> *const u8) {
    let ty = site.access.ty;
    // SAFETY: guaranteed by the caller, in all branches.
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

/// Writes every component of every active lane, highest lane first. Returns whether memory changed. `at` gives a lane's
/// first byte.
///
/// # Safety
/// All bytes must be writable.
#[inline(always)]
pub(crate) unsafe fn scatter(
    r: View,
    site: &MemSite,
    mask: u32,
    at: impl Fn(usize) -> *mut u8,
) -> bool {
    let ty = site.access.ty;
    let mut changed = false;
    let mut rest = mask;
    while rest != 0 {
        let lane = 31 - rest.leading_zeros() as usize;
        rest &= !(1 << lane);
        for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
            let bits = lane_value(r, ty, register, lane);
            // SAFETY: guaranteed by the caller.
            changed |= unsafe { write(ty, at(lane).add(k * ty.bytes() as usize), bits) };
        }
    }
    changed
}

/// Whether the access is a run of whole 32-bit or 64-bit elements that can be copied at once.
#[inline(always)]
pub(crate) fn copies(site: &MemSite) -> bool {
    site.access.count == 1 && site.width_bytes >= 4 && !site.uniform_values
}

/// # Safety
/// `32 * width` bytes at `from` are readable.
#[inline(always)]
pub(crate) unsafe fn copy_in(r: View, site: &MemSite, from: *const u8) {
    // SAFETY: guaranteed by the caller.
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
pub(crate) unsafe fn copy_out(r: View, site: &MemSite, to: *mut u8, watch: bool) -> bool {
    // SAFETY: guaranteed by the caller.
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

/// The offset of `bytes` bytes of memory that contain the word at `low` and consist of whole words counted from it.
/// Usually it is `low`; near the end it is some words earlier. Memory may end within a word, after a `bool`.
#[inline(always)]
fn window(low: usize, bytes: usize, len: usize) -> usize {
    let before = low - low.min(len - bytes);
    low - before.next_multiple_of(4)
}

/// The number of lanes, counted from the first, that include all active lanes: 1, 2, 4, 8, 16 or 32.
#[inline(always)]
pub(crate) fn first_active(mask: u32) -> u32 {
    (32 - mask.leading_zeros()).next_power_of_two()
}

/// The words of all lanes, if the data has one of the common layouts.
///
/// # Safety
/// `memory` must be readable. It must have 128 bytes for the layout of a row, and contain all lanes' bytes if the
/// lowest lane is at `lowest`.
#[inline(always)]
pub(crate) unsafe fn words<V: Vectors>(
    shape: Shape,
    bytes: &[u32; 32],
    memory: *const [u8],
    lowest: usize,
    out: &mut [u32; 32],
) {
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let from = memory.cast::<u8>().add(lowest);
        match shape {
            Shape::Run => *out = from.cast::<[u32; 32]>().read_unaligned(),
            Shape::Splat => *out = [from.cast::<u32>().read_unaligned(); 32],
            Shape::Halves => {
                for half in 0..2 {
                    let from = from.add(bytes[16 * half] as usize);
                    let run = from.cast::<[u32; 16]>().read_unaligned();
                    out[16 * half..16 * half + 16].copy_from_slice(&run);
                }
            }
            Shape::Pair => {
                for half in 0..2 {
                    let from = from.add(bytes[16 * half] as usize);
                    out[16 * half..16 * half + 16].fill(from.cast::<u32>().read_unaligned());
                }
            }
            Shape::Row => {
                let start = window(lowest, 128, memory.len());
                let row = memory.cast::<u8>().add(start).cast::<[u32; 32]>();
                V::pick(row, bytes, (lowest - start) as u32, out);
            }
            Shape::Rows | Shape::Scattered => unreachable!("these lie in no common way"),
        }
    }
}

/// The layout of a load's words in memory, common or not.
#[derive(Clone, Copy)]
pub(crate) struct WordLayout<'a> {
    pub(crate) shape: Shape,
    /// As in a [`Pattern`].
    pub(crate) bytes: &'a [u32; 32],
    pub(crate) half_lows: [u32; 2],
    pub(crate) memory: *const [u8],
}

impl WordLayout<'_> {
    /// Loads each lane's words: register `k` gets the word at offset `k`.
    ///
    /// # Safety
    /// `memory` must be readable, and contain all lanes' words if the lowest lane is at `lowest`.
    #[inline(always)]
    pub(crate) unsafe fn load<V: Vectors>(&self, lowest: usize, r: View, registers: &[u32]) {
        let WordLayout { bytes, memory, .. } = *self;
        // SAFETY: guaranteed by the caller, in all branches.
        unsafe {
            let from = memory.cast::<u8>().add(lowest);
            if V::PICKS_ROWS && self.shape == Shape::Rows && memory.len() >= ROWS_BYTES as usize {
                for half in 0..2 {
                    let below = self.half_lows[half];
                    let low = lowest + below as usize;
                    let start = window(low, ROWS_BYTES as usize, memory.len());
                    let more = ((low - start) as u32).wrapping_sub(below);
                    let rows = memory.cast::<u8>().add(start);
                    V::pick_rows(rows, bytes, more, r, registers, half);
                }
            } else if memory.len() <= i32::MAX as usize {
                if let &[a, b, c, d] = registers {
                    V::collect_fours(from, bytes, r, &[a, b, c, d]);
                    return;
                }
                for (from, &register) in (0..).step_by(4).map(|k| from.add(k)).zip(registers) {
                    V::collect(from, bytes, r.v32_mut(register));
                }
            } else {
                for (k, &register) in registers.iter().enumerate() {
                    let d = r.v32_mut(register);
                    for l in 0..32 {
                        let at = from.add(bytes[l] as usize).cast::<u32>();
                        d[l] = at.add(k).read_unaligned();
                    }
                }
            }
        }
    }
}

/// Loads a request that matches its pattern, if the data has one of the common layouts; otherwise returns false.
/// Inactive lanes may get a value too, which is never read.
///
/// # Safety
/// `memory` must be readable, and contain all lanes' bytes if the lowest lane is at `lowest`.
#[inline(always)]
pub(crate) unsafe fn load_quickly<V: Vectors>(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    memory: *const [u8],
    lowest: usize,
) -> bool {
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        match pattern.shape {
            Shape::Run => copy_in(r, site, memory.cast::<u8>().add(lowest)),
            Shape::Splat if site.width_bytes == 8 => {
                let from = memory.cast::<u8>().add(lowest);
                *r.v64_mut(site.values[0]) = [from.cast::<u64>().read_unaligned(); 32];
            }
            Shape::Row if memory.len() < 128 => return false,
            Shape::Splat | Shape::Row | Shape::Halves | Shape::Pair => {
                let out = r.v32_mut(site.values[0]);
                words::<V>(pattern.shape, &pattern.bytes, memory, lowest, out);
            }
            Shape::Rows | Shape::Scattered => return false,
        }
    }
    true
}

/// Loads a request that matches its pattern, in any other layout.
///
/// # Safety
/// As for [`load_quickly`].
#[inline(always)]
pub(crate) unsafe fn load_like<V: Vectors>(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    memory: *const [u8],
    lowest: usize,
) {
    let ty = site.access.ty;
    let registers = &site.values[..site.access.count as usize];
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let from = memory.cast::<u8>().add(lowest);
        let at = |l: usize| from.add(pattern.bytes[l] as usize);
        if site.uniform_values {
            return gather(r, site, mask, at);
        }
        match ty {
            MemType::I32 | MemType::F32 => {
                let layout = WordLayout {
                    shape: pattern.shape,
                    bytes: &pattern.bytes,
                    half_lows: pattern.half_lows,
                    memory,
                };
                layout.load::<V>(lowest, r, registers);
            }
            MemType::I64 | MemType::F64 | MemType::Ptr => {
                for (k, &register) in registers.iter().enumerate() {
                    let d = r.v64_mut(register);
                    for l in 0..32 {
                        d[l] = at(l).cast::<u64>().add(k).read_unaligned();
                    }
                }
            }
            MemType::S16 | MemType::U16 if pattern.run && registers.len() == 1 => {
                let (run, d) = (
                    from.cast::<[u16; 32]>().read_unaligned(),
                    r.v32_mut(registers[0]),
                );
                for l in 0..32 {
                    d[l] = match ty {
                        MemType::S16 => run[l] as i16 as u32,
                        _ => u32::from(run[l]),
                    };
                }
            }
            MemType::S8 | MemType::U8 if pattern.run && registers.len() == 1 => {
                let (run, d) = (from.cast::<[u8; 32]>().read(), r.v32_mut(registers[0]));
                for l in 0..32 {
                    d[l] = match ty {
                        MemType::S8 => run[l] as i8 as u32,
                        _ => u32::from(run[l]),
                    };
                }
            }
            MemType::Bool | MemType::S8 | MemType::U8 | MemType::S16 | MemType::U16 => {
                gather(r, site, mask, at);
            }
        }
    }
}

/// Stores a request that matches its pattern, if the data has one of the common layouts and changes of memory are not
/// watched; otherwise returns false.
///
/// # Safety
/// All lanes' bytes must be writable if the lowest lane is at `to`.
#[inline(always)]
pub(crate) unsafe fn store_quickly(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    to: *mut u8,
) -> bool {
    if mask != u32::MAX {
        return false;
    }
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        match pattern.shape {
            Shape::Run => {
                copy_out(r, site, to, false);
                true
            }
            Shape::Halves => {
                let value = r.v32(site.values[0]);
                // The second half first: where the two overlap, the lower lanes' values must stay.
                for half in [1, 0] {
                    let to = to.add(pattern.bytes[16 * half] as usize);
                    let run = std::array::from_fn(|l| value[16 * half + l]);
                    to.cast::<[u32; 16]>().write_unaligned(run);
                }
                true
            }
            Shape::Splat | Shape::Row | Shape::Pair | Shape::Rows | Shape::Scattered => false,
        }
    }
}

/// In debug builds, compares what was loaded at once with a load lane by lane.
///
/// # Safety
/// All lanes' bytes must be readable if the lowest lane is at `from`.
#[inline(always)]
pub(crate) unsafe fn check_loaded(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    from: *const u8,
) {
    if !cfg!(debug_assertions) || site.uniform_values {
        return;
    }
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        for lane in LaneMask(mask) {
            let at = pattern.bytes[lane] as usize + k * ty.bytes() as usize;
            // SAFETY: guaranteed by the caller.
            let bits = unsafe { read(ty, from.add(at)) };
            assert_eq!(lane_value(r, ty, register, lane), bits, "lane {lane}");
        }
    }
}

/// In debug builds, does the same for a store. Where lanes store to one place, the lowest one's value must be there.
///
/// # Safety
/// As for [`check_loaded`].
#[inline(always)]
pub(crate) unsafe fn check_stored(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    to: *const u8,
) {
    if !cfg!(debug_assertions) {
        return;
    }
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        for lane in LaneMask(mask) {
            let mut lower = LaneMask(mask).into_iter().take_while(|&other| other < lane);
            if lower.any(|other| pattern.bytes[other] == pattern.bytes[lane]) {
                continue;
            }
            let at = pattern.bytes[lane] as usize + k * ty.bytes() as usize;
            // SAFETY: guaranteed by the caller.
            let bits = unsafe { read(ty, to.add(at)) };
            let value = lane_value(r, ty, register, lane);
            let value = match ty.bytes() {
                1 => value as u8 as u64,
                2 => value as u16 as u64,
                4 => value as u32 as u64,
                _ => value,
            };
            let bits = match ty {
                MemType::S8 => bits as u8 as u64,
                MemType::S16 => bits as u16 as u64,
                _ => bits,
            };
            assert_eq!(bits, value, "lane {lane}");
        }
    }
}

/// Stores a run of words for some lanes in one piece. The words of the other lanes are written back unchanged.
///
/// # Safety
/// All lanes' bytes must be readable and writable if the lowest lane is at `to`, and no other thread may access them.
#[inline(always)]
pub(crate) unsafe fn blend_out(value: &[u32; 32], mask: u32, to: *mut u8) {
    /// The first `N` lanes.
    #[inline(always)]
    unsafe fn blend<const N: usize>(value: &[u32; 32], mask: u32, to: *mut u8) {
        let to = to.cast::<[u32; N]>();
        // SAFETY: guaranteed by the caller.
        let mut words = unsafe { to.read_unaligned() };
        for l in 0..N {
            if mask >> l & 1 != 0 {
                words[l] = value[l];
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { to.write_unaligned(words) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match first_active(mask) {
            1 => to.cast::<u32>().write_unaligned(value[0]),
            2 => blend::<2>(value, mask, to),
            4 => blend::<4>(value, mask, to),
            8 => blend::<8>(value, mask, to),
            16 => blend::<16>(value, mask, to),
            _ => blend::<32>(value, mask, to),
        }
    }
}

/// Stores a request that matches its pattern, in any other layout. Returns whether memory changed, if changes are
/// watched.
///
/// # Safety
/// As for [`store_quickly`].
#[inline(always)]
pub(crate) unsafe fn store_like(
    r: View,
    site: &MemSite,
    pattern: &Pattern,
    mask: u32,
    to: *mut u8,
    watch: bool,
) -> bool {
    let (ty, registers) = (site.access.ty, &site.values[..site.access.count as usize]);
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let at = |l: usize| to.add(pattern.bytes[l] as usize);
        if watch {
            return scatter(r, site, mask, at);
        }
        match ty {
            MemType::I32 | MemType::F32 => {
                for lane in highest_first(mask) {
                    for (k, &register) in registers.iter().enumerate() {
                        at(lane)
                            .cast::<u32>()
                            .add(k)
                            .write_unaligned(r.v32(register)[lane]);
                    }
                }
            }
            MemType::S16 | MemType::U16
                if pattern.run && registers.len() == 1 && mask == u32::MAX =>
            {
                let run = r.v32(registers[0]).map(|bits| bits as u16);
                to.cast::<[u16; 32]>().write_unaligned(run);
            }
            MemType::S8 | MemType::U8
                if pattern.run && registers.len() == 1 && mask == u32::MAX =>
            {
                let run = r.v32(registers[0]).map(|bits| bits as u8);
                to.cast::<[u8; 32]>().write(run);
            }
            MemType::S16 | MemType::U16 if registers.len() == 1 => {
                let value = r.v32(registers[0]);
                for lane in highest_first(mask) {
                    at(lane).cast::<u16>().write_unaligned(value[lane] as u16);
                }
            }
            MemType::S8 | MemType::U8 if registers.len() == 1 => {
                let value = r.v32(registers[0]);
                for lane in highest_first(mask) {
                    at(lane).write(value[lane] as u8);
                }
            }
            _ => {
                scatter(r, site, mask, at);
            }
        }
    }
    false
}

/// The lanes of a mask, from the highest: if several store to one address, the lowest lane's value stays.
#[inline(always)]
fn highest_first(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = 31_u32.checked_sub(mask.leading_zeros())?;
        mask &= !(1 << lane);
        Some(lane as usize)
    })
}
