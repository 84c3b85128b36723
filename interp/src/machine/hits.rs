//! Requests like their site's last one: found here, counted as sums. See [`Pattern`].

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::count::pattern::{Example, MOST_SKIPS, Pattern, extend, sums32, sums64};
use crate::count::stats::Charge;
use crate::isa::bytecode::{Form, Inst, MemSite};
use crate::isa::registers::View;
use crate::machine::level::Level;
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;
use crate::rules::coalesce::SECTOR_BYTES;

impl Pattern {
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
}
