//! What a site's requests look like, so that a request like the last one costs next to nothing to check, count and serve.
//!
//! Loops repeat their accesses with the same distances between the lanes; only the first lane's address moves. A [`Pattern`]
//! keeps the distances, and what was found out about them the slow way: the cost, the extent, how the data lies. A request
//! *is like it* if all 32 lanes (active or not) have those distances, the mask is the one it was found with (or cannot
//! matter), the first lane's address is so that every lane stays inside the bounds, and that address has moved by a multiple
//! of the rules' period, or within the sectors of global memory, which changes no cost ([`SharedRules::period_bytes`],
//! [`GlobalRules::period_bytes`]). Then the request is one more hit: hits are turned into counts when the pattern is
//! replaced, and at the end ([`Pattern::settle`]).
//!
//! Distances are compared where they are cheapest to have: of the index register, if the address is a scalar base plus an
//! index, else of the pointer register. Invariant of a pattern with a mask: if the first lane's address passes the range
//! check, the bytes of all 32 lanes lie inside the bounds that the site was checked against, aligned to the width.
//!
//! [`SharedRules::period_bytes`]: crate::rules::SharedRules::period_bytes
//! [`GlobalRules::period_bytes`]: crate::rules::GlobalRules::period_bytes

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use dsl::ir::MemType;

use crate::bytecode::{Form, Inst, MemSite};
use crate::engine::Level;
use crate::memory::layout::SHARED_BASE;
use crate::observer::Observer;
use crate::registers::View;
use crate::rules::coalesce::SECTOR_BYTES;
use crate::stats::Charge;

/// How the data of 32 lanes lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// One element for all.
    Splat,
    /// 32 elements of 4 or 8 bytes in the order of the lanes.
    Run,
    /// 4-byte elements, all of them within 128 bytes.
    Row,
    /// 4-byte elements, each half-warp's in the order of its lanes: a warp of a 16 by 16 block on two rows of an array.
    Halves,
    /// 4-byte elements, one for each half-warp: the same, on a column.
    Pair,
    /// Anything else.
    Scattered,
}

/// What a site's last slow request looked like. See the module.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Pattern {
    /// The distances that are compared: of each lane's index or pointer from the first lane's, modulo 2^32.
    deltas: [u32; 32],
    /// The bytes between the lowest lane and each lane.
    pub(crate) bytes: [u32; 32],
    /// The bytes between the lowest lane and the first one.
    pub(crate) below: u64,
    /// First and last address (offset, of shared memory) the first lane may have, the last as a distance from the first.
    from: u64,
    range: u64,
    /// Modulo the period (`period` is that minus 1) the first lane's address must be between `phase` and so much more, and a
    /// multiple of the width (`align` is that minus 1) away from it.
    phase: u64,
    period: u64,
    slack: u64,
    align: u64,
    /// The same range for the first lane's index, so that no index wraps around.
    index_from: u32,
    index_range: u32,
    /// The mask of the requests; 0 if there is no pattern.
    mask: u32,
    /// Any mask will do: the request costs the least even with all lanes.
    any_mask: bool,
    pub(crate) shape: Shape,
    /// All lanes follow each other without gaps, whatever the width.
    pub(crate) run: bool,
    /// The bytes between the lowest and the highest lane.
    pub(crate) extent: u32,
    /// How many patterns there have been.
    pub(crate) version: u32,
    /// The region all lanes are in: of global memory.
    pub(crate) region: u32,
    /// Requests like it, and their active lanes.
    hits: u64,
    lanes: u64,
    pub(crate) charge: Charge,
    /// Misses to let pass before the pattern is replaced, and how many it will be next time: grows while patterns are useless.
    skip: u32,
    backoff: u32,
}

/// Most misses that pass without a new pattern.
const MOST_SKIPS: u32 = 31;

/// A request that was served the slow way, as a pattern to be.
pub(crate) struct Example<'a> {
    pub(crate) inst: &'a Inst,
    pub(crate) site: &'a MemSite,
    pub(crate) mask: u32,
    pub(crate) charge: Charge,
    /// Bounds the site's accesses are checked against: first address and end.
    pub(crate) bounds: (u64, u64),
    pub(crate) region: u32,
}

impl Pattern {
    pub(crate) fn new() -> Pattern {
        Pattern {
            deltas: [0; 32],
            bytes: [0; 32],
            below: 0,
            from: 0,
            range: 0,
            phase: 0,
            period: 0,
            slack: 0,
            align: 0,
            index_from: 0,
            index_range: 0,
            mask: 0,
            any_mask: false,
            shape: Shape::Scattered,
            run: false,
            extent: 0,
            version: 0,
            region: 0,
            hits: 0,
            lanes: 0,
            charge: Charge::Plain,
            skip: 0,
            backoff: 0,
        }
    }

    #[inline(always)]
    fn admits(&self, first: u64, mask: u32) -> bool {
        let inside = first.wrapping_sub(self.from) <= self.range;
        let moved = first.wrapping_sub(self.phase) & self.period;
        let in_phase = (moved <= self.slack) & (moved & self.align == 0);
        inside & in_phase & ((mask == self.mask) | self.any_mask)
    }

    /// The first lane's offset in shared memory, if the request is like this; counts it then.
    #[inline(always)]
    pub(crate) fn hit_shared<L: Level>(
        &mut self,
        r: View,
        i: &Inst,
        site: &MemSite,
        mask: u32,
    ) -> Option<u64> {
        let term = (r.s(site.term) as u32).wrapping_mul(site.term_scale as u32);
        let offset = (site.offset as u32)
            .wrapping_sub(SHARED_BASE)
            .wrapping_add(term);
        let first = match site.form {
            Form::Uniform => (r.s(i.a) as u32).wrapping_add(offset),
            Form::UniformIndexed => {
                let b = r.v32(i.b);
                if !L::alike(b, &self.deltas) {
                    return None;
                }
                (r.s(i.a) as u32)
                    .wrapping_add(b[0].wrapping_mul(site.scale as u32))
                    .wrapping_add(offset)
            }
            Form::Varying => {
                let a = r.v32(i.a);
                if !L::alike(a, &self.deltas) {
                    return None;
                }
                a[0].wrapping_add(offset)
            }
            Form::VaryingIndexed => {
                let sums = sums32(r, i, site);
                if !L::alike(&sums, &self.deltas) {
                    return None;
                }
                sums[0].wrapping_add(offset)
            }
        };
        let first = u64::from(first);
        if !self.admits(first, mask) {
            return None;
        }
        self.hits += 1;
        self.lanes += u64::from(mask.count_ones());
        Some(first)
    }

    /// The first lane's address in global memory, if the request is like this; counts it then.
    #[inline(always)]
    pub(crate) fn hit_global<L: Level>(
        &mut self,
        r: View,
        i: &Inst,
        site: &MemSite,
        mask: u32,
    ) -> Option<u64> {
        let first = match site.form {
            Form::Uniform => r.s(i.a).wrapping_add_signed(site.offset),
            Form::UniformIndexed => {
                let b = r.v32(i.b);
                let index = b[0].wrapping_add(r.s(site.term) as u32);
                let in_range = index.wrapping_sub(self.index_from) <= self.index_range;
                if !L::alike(b, &self.deltas) | !in_range {
                    return None;
                }
                r.s(i.a)
                    .wrapping_add_signed(extend(site, index).wrapping_mul(site.scale))
                    .wrapping_add_signed(site.offset)
            }
            Form::Varying => {
                let a = r.v64(i.a);
                if !L::alike64(a, &self.deltas) {
                    return None;
                }
                a[0].wrapping_add_signed(site.offset)
            }
            Form::VaryingIndexed => {
                let sums = sums64(r, i, site);
                if !L::alike64(&sums, &self.deltas) {
                    return None;
                }
                sums[0].wrapping_add_signed(site.offset)
            }
        };
        if !self.admits(first, mask) {
            return None;
        }
        self.hits += 1;
        self.lanes += u64::from(mask.count_ones());
        Some(first)
    }

    /// After a miss: whether it is time for another pattern.
    #[inline(always)]
    pub(crate) fn wants_example(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        true
    }

    /// Tells the observer how many hits there were.
    pub(crate) fn settle(&mut self, site: &MemSite, observer: &mut impl Observer) {
        let (hits, lanes) = (
            std::mem::take(&mut self.hits),
            std::mem::take(&mut self.lanes),
        );
        if hits > 0 {
            observer.repeats(site, self.charge, hits, lanes);
        }
    }

    /// Becomes the pattern of a request that was allowed, `at` giving each lane's address (or offset, of shared memory).
    #[inline(always)]
    pub(crate) fn learn(
        &mut self,
        r: View,
        example: &Example<'_>,
        observer: &mut impl Observer,
        at: impl Fn(usize) -> u64,
    ) {
        self.backoff = if self.hits > 0 {
            0
        } else {
            (2 * self.backoff + 1).min(MOST_SKIPS)
        };
        self.skip = self.backoff;
        self.settle(example.site, observer);
        self.mask = 0;
        let (site, inst, shared) = (
            example.site,
            example.inst,
            matches!(example.charge, Charge::Shared(_)),
        );
        let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
        for l in 0..32 {
            low = low.min(at(l));
            high = high.max(at(l));
            all |= at(l);
        }
        let width = u64::from(site.width_bytes);
        let (start, end) = example.bounds;
        // Lanes that are not active may point anywhere; the pattern speaks of all.
        if low < start
            || high >= end
            || end - high < width
            || high - low > i32::MAX as u64
            || all & (width - 1) != 0
        {
            return;
        }
        for l in 0..32 {
            self.bytes[l] = (at(l) - low) as u32;
        }
        match site.form {
            Form::Uniform => {}
            Form::UniformIndexed => {
                let b = r.v32(inst.b);
                let more = if shared { 0 } else { r.s(site.term) as u32 };
                let first = extend(site, b[0].wrapping_add(more));
                let (mut least, mut most) = (i64::MAX, i64::MIN);
                for l in 0..32 {
                    self.deltas[l] = b[l].wrapping_sub(b[0]);
                    let apart = extend(site, b[l].wrapping_add(more)) - first;
                    least = least.min(apart);
                    most = most.max(apart);
                }
                if !shared {
                    if least < i64::from(i32::MIN) || most > i64::from(i32::MAX) {
                        return;
                    }
                    // `least <= 0 <= most`: the first index may be whatever leaves all of them representable.
                    let bottom = if site.unsigned {
                        0
                    } else {
                        i64::from(i32::MIN)
                    };
                    self.index_from = (bottom - least) as u32;
                    self.index_range = (i64::from(u32::MAX) - (most - least)) as u32;
                }
            }
            Form::Varying | Form::VaryingIndexed => {
                for l in 0..32 {
                    self.deltas[l] = at(l).wrapping_sub(at(0)) as u32;
                }
            }
        }
        self.below = at(0) - low;
        self.from = start + self.below;
        self.range = end - width - start - (high - low);
        self.period = observer.period_bytes(site).max(width) - 1;
        self.align = width - 1;
        (self.phase, self.slack) = (at(0), 0);
        if !shared {
            // As long as no lane leaves its sector, sectors and lines stay what they are.
            let (mut least, mut most) = (SECTOR_BYTES, 0);
            for l in 0..32 {
                least = least.min(at(l) % SECTOR_BYTES);
                most = most.max(at(l) % SECTOR_BYTES);
            }
            self.phase = at(0) - least;
            // The words of constant memory that elements below 4 bytes are in change sooner.
            if matches!(example.charge, Charge::Constant(_)) {
                (self.phase, self.slack) = (at(0), 0);
            } else {
                self.slack = SECTOR_BYTES - width - (most - least);
            }
        }
        self.extent = (high - low) as u32;
        self.run = (0..32).all(|l| self.bytes[l] == l as u32 * site.width_bytes);
        self.version += 1;
        self.region = example.region;
        self.charge = example.charge;
        self.shape = self.find_shape(site);
        let least_cost =
            matches!(example.charge, Charge::Shared(Some(cost)) if cost.transactions == 1);
        self.any_mask = least_cost && width <= 4 && example.mask == u32::MAX;
        self.mask = example.mask;
    }

    /// Whether each half-warp's elements are so many bytes apart.
    fn in_halves(&self, step: u32) -> bool {
        let follows = |l: usize| self.bytes[l] == self.bytes[l - 1].wrapping_add(step);
        (1..32).all(|l| l == 16 || follows(l))
    }

    fn find_shape(&self, site: &MemSite) -> Shape {
        let width = site.width_bytes;
        if site.access.count != 1 || site.uniform_values || width < 4 {
            return Shape::Scattered;
        }
        let runs = (0..32).all(|l| self.bytes[l] == l as u32 * width);
        match site.access.ty {
            _ if runs => Shape::Run,
            _ if self.bytes == [0; 32] => Shape::Splat,
            MemType::I32 | MemType::F32 if self.bytes.iter().all(|&bytes| bytes < 128) => {
                Shape::Row
            }
            MemType::I32 | MemType::F32 if self.in_halves(4) => Shape::Halves,
            MemType::I32 | MemType::F32 if self.in_halves(0) => Shape::Pair,
            _ => Shape::Scattered,
        }
    }
}

/// Base and scaled index of all lanes, added: of pointers kept as 32 bits.
#[inline(always)]
fn sums32(r: View, i: &Inst, site: &MemSite) -> [u32; 32] {
    let (a, b, scale) = (r.v32(i.a), r.v32(i.b), site.scale as u32);
    let mut sums = [0; 32];
    for l in 0..32 {
        sums[l] = a[l].wrapping_add(b[l].wrapping_mul(scale));
    }
    sums
}

/// The same in 64 bits.
#[inline(always)]
fn sums64(r: View, i: &Inst, site: &MemSite) -> [u64; 32] {
    let (a, b) = (r.v64(i.a), r.v32(i.b));
    let mut sums = [0; 32];
    for l in 0..32 {
        sums[l] = a[l].wrapping_add_signed(extend(site, b[l]).wrapping_mul(site.scale));
    }
    sums
}

#[inline(always)]
fn extend(site: &MemSite, index: u32) -> i64 {
    if site.unsigned {
        i64::from(index)
    } else {
        i64::from(index as i32)
    }
}
