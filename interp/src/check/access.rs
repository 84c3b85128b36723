//! Checks an access: its subscript, which of the bytes that it reads are uninitialised, and conflicts with other
//! accesses.

#![allow(
    clippy::inline_always,
    reason = "most accesses need no more than a look"
)]

use ir::Space;

use super::Checker;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Form, Subscript};
use crate::isa::mask::LaneMask;
use crate::memory::map::GlobalRegion;
use crate::observe::{Access, Like};
use crate::race::access::ShadowId;

/// Whether the lanes are consecutive.
fn is_run(offsets: &[u64; 32], width: u64) -> bool {
    (0..32).fold(true, |run, lane| {
        run & (offsets[lane] == offsets[0] + lane as u64 * width)
    })
}

/// Lanes that represent all of a mask: if they access one address, one of them.
#[inline(always)]
fn places(access: &Access<'_>, mask: u32) -> u32 {
    match access.site.address.form {
        Form::Uniform => mask & mask.wrapping_neg(),
        Form::UniformIndexed | Form::Varying | Form::VaryingIndexed => mask,
    }
}

/// The offsets of the lanes of a mask in a region, and `spare` for the others. Also returns whether all `width` bytes
/// of each lane are inside.
#[inline(always)]
fn offsets_in(
    region: &GlobalRegion,
    addresses: &[u64; 32],
    (mask, spare, width): (u32, u64, u64),
    offsets: &mut [u64; 32],
) -> bool {
    // An offset before the region or beyond its last valid one has the highest bit set here.
    let last = region.size.wrapping_sub(width);
    let mut beyond = last;
    if mask == u32::MAX {
        for lane in 0..32 {
            offsets[lane] = addresses[lane].wrapping_sub(region.base);
            beyond |= offsets[lane] | last.wrapping_sub(offsets[lane]);
        }
    } else {
        for lane in 0..32 {
            let on = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            offsets[lane] = (addresses[lane].wrapping_sub(region.base) & on) | (spare & !on);
            beyond |= offsets[lane] | last.wrapping_sub(offsets[lane]);
        }
    }
    beyond >> 63 == 0
}

/// The lanes of a mask whose bytes are in a region, and their offsets there. Other lanes get the offset of the first
/// one.
#[inline(always)]
fn lanes_in(
    region: &GlobalRegion,
    access: &Access<'_>,
    addresses: &[u64; 32],
    mask: u32,
) -> (u32, [u64; 32]) {
    let first = addresses[mask.trailing_zeros() as usize & 31];
    let width = u64::from(access.site.width_bytes);
    let spare = first.wrapping_sub(region.base);
    let mut offsets = [spare; 32];
    let is_one = access.site.address.form == Form::Uniform && region.holds(first, width);
    if is_one || offsets_in(region, addresses, (mask, spare, width), &mut offsets) {
        return (mask, offsets);
    }
    let mut inside = 0;
    for lane in 0..32 {
        inside |= u32::from(region.holds(addresses[lane], width)) << lane;
    }
    let mask = mask & inside;
    offsets_in(region, addresses, (mask, spare, width), &mut offsets);
    (mask, offsets)
}

impl Checker<'_> {
    /// Whether it goes to memory that is shared with the host and other launches, and has to be recorded.
    #[inline(always)]
    pub(super) fn sees_global(&self, access: &Access<'_>) -> bool {
        matches!(access.space, Space::Global | Space::Constant) && access.mask != 0 && self.shadows
    }

    /// Checks the innermost subscript of an array with several.
    #[inline(never)]
    pub(super) fn subscript(&mut self, access: &Access<'_>) {
        let Some(subscript) = &access.site.subscript else {
            return;
        };
        if subscript.is_long {
            self.long_subscript(access, subscript);
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
                // Inactive lanes may hold any value.
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
            let who = self.who(lanes);
            let index = varying.wrapping_add(uniform) as i32;
            self.found.beyond(
                access.counter,
                who,
                (index.into(), subscript.len, access.site.access.is_member),
            );
        }
    }

    /// The same for 64 bits.
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
            let who = self.who(all);
            let index = index(first) as i64;
            self.found.beyond(
                access.counter,
                who,
                (index, subscript.len, access.site.access.is_member),
            );
        }
    }

    /// Checks an access to shared memory, by offset. `run`: whether the lanes are consecutive.
    pub(super) fn shared(&mut self, access: &Access<'_>, offsets: &[u32; 32], run: bool) {
        let mut unset = self.races.shared(access, offsets, run);
        if !self.values.unset_cells.is_empty()
            || self.following && access.site.op == AccessOp::Store
        {
            self.move_unset(access, offsets, &mut unset);
        }
        if unset != [0; 4] && self.subject.unset() {
            let at = |lane: usize| u64::from(offsets[lane]);
            self.races.spoil_list();
            self.unset(access, unset, |lane| (None, at(lane)));
            self.exchanged(access, ShadowId::Shared, access.mask, at);
        }
    }

    /// Checks an access to global memory, by address.
    pub(super) fn global(&mut self, access: &Access<'_>, addresses: &[u64; 32]) {
        if !self.sees_global(access) {
            return;
        }
        self.races.synchronise_global(access, addresses);
        let map = self.subject.races.map;
        let width = u64::from(access.site.width_bytes);
        let mut left = access.mask;
        while left != 0 {
            let first = addresses[left.trailing_zeros() as usize];
            let mut region = &map.regions[self.region_of[access.counter as usize] as usize];
            if !region.holds(first, width) {
                region = &map.regions[map.find(first) as usize];
                self.region_of[access.counter as usize] = region.index;
            }
            let (mask, offsets) = lanes_in(region, access, addresses, left);
            left &= !mask;
            if mask == 0 {
                return;
            }
            if !self.watched[region.index as usize] {
                continue;
            }
            let run = mask == u32::MAX && is_run(&offsets, width);
            if access.site.frozen.is_some() {
                self.freeze(access, region.index, mask, |lane| offsets[lane]);
            }
            self.in_region(access, region.index as usize, mask, &offsets, run);
        }
    }

    /// Checks lanes in one watched region, by their offsets.
    fn in_region(
        &mut self,
        access: &Access<'_>,
        index: usize,
        mask: u32,
        offsets: &[u64; 32],
        run: bool,
    ) {
        let defined = self.subject.defined[index];
        let at = |lane: usize| offsets[lane];
        if let Some(defined) = defined
            && access.site.op != AccessOp::Store
            && self.subject.unset()
            && !defined.holds_each(
                offsets,
                places(access, mask),
                access.site.width_bytes.into(),
            )
        {
            let unset = self.never_written(access, mask, index, at, defined);
            if unset != [0; 4] {
                self.unset(access, unset, |lane| (Some(index), at(lane)));
            }
        }
        if self.subject.only_read[index] {
            let (width, size) = (access.site.width_bytes, self.size_of(index));
            let read = &mut self.touched[index].read;
            return read.define_each(offsets, places(access, mask), width.into(), size);
        }
        if !self.subject.races.written[index] {
            return;
        }
        self.races.in_region(access, index, mask, offsets, run);
        if access.site.op == AccessOp::Atomic && defined.is_some() {
            self.exchanged(access, ShadowId::Region(index), mask, at);
        }
    }

    pub(super) fn size_of(&self, region: usize) -> u64 {
        self.subject.races.map.regions[region].size
    }

    /// Checks a request of global memory that matches its site's pattern. Most are runs that are recorded by lines, and
    /// most memory need not be watched.
    #[inline(always)]
    pub(super) fn repeat_in_region(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        let index = pattern.region as usize;
        if !self.sees_global(access) {
            return;
        }
        let site = access.site;
        if !self.watched[index] {
            if self.synchronises(access) {
                self.repeat_any(access, like);
            }
            return;
        }
        let region = &self.subject.races.map.regions[index];
        let offset = like.lowest - region.base;
        let loads = site.op == AccessOp::Load;
        let written = self.subject.races.written[index];
        let defined = match self.subject.defined[index] {
            Some(defined) if loads && self.subject.unset() => {
                let extent = u64::from(pattern.extent) + u64::from(site.width_bytes);
                defined.holds(offset, extent)
            }
            _ => true,
        };
        if defined && self.subject.only_read[index] && !self.synchronises(access) {
            return self.reads(access, like, index, offset);
        }
        if site.frozen.is_some() && written {
            self.freeze(access, region.index, access.mask, |lane| {
                offset + u64::from(pattern.bytes[lane])
            });
        }
        if defined && !written && !self.synchronises(access) {
            return;
        }
        if pattern.run
            && written
            && self
                .races
                .in_lines(access, index, access.mask, offset, !defined)
        {
            return;
        }
        self.repeat_any(access, like);
    }

    /// Whether a load orders other accesses.
    #[inline(always)]
    fn synchronises(&self, access: &Access<'_>) -> bool {
        access.site.access.volatile && self.subject.races.fences
    }

    /// Records which bytes of a region that is only read are read by a request that matches its pattern.
    #[inline(never)]
    pub(super) fn reads(
        &mut self,
        access: &Access<'_>,
        like: &Like<'_>,
        index: usize,
        offset: u64,
    ) {
        let (width, size) = (u64::from(access.site.width_bytes), self.size_of(index));
        let (pattern, mask) = (like.pattern, access.mask);
        let read = &mut self.touched[index].read;
        if pattern.extent == 0 || pattern.run && mask == u32::MAX {
            return read.define(offset, u64::from(pattern.extent) + width, size);
        }
        let offsets = pattern.bytes.map(|bytes| offset + u64::from(bytes));
        read.define_each(&offsets, mask, width, size);
    }

    #[inline(never)]
    fn repeat_any(&mut self, access: &Access<'_>, like: &Like<'_>) {
        let pattern = like.pattern;
        if self.subject.races.fences {
            let mut addresses = [0; 32];
            for lane in 0..32 {
                addresses[lane] = like.lowest + u64::from(pattern.bytes[lane]);
            }
            self.races.synchronise_global(access, &addresses);
        }
        if !self.watched[pattern.region as usize] {
            return;
        }
        let region = &self.subject.races.map.regions[pattern.region as usize];
        let offset = like.lowest - region.base;
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = offset + u64::from(pattern.bytes[lane]);
        }
        self.in_region(
            access,
            pattern.region as usize,
            access.mask,
            &offsets,
            pattern.run,
        );
    }
}
