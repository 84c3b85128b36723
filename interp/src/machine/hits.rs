//! Finds requests that equal the last one of their site, and counts them as sums. See [`Pattern`].

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::count::pattern::{Example, IndexRange, Pattern, Window, extend, sums32, sums64};
use crate::count::stats::Charge;
use crate::isa::bytecode::{Form, Inst, MemSite};
use crate::isa::registers::View;
use crate::machine::vectors::Vectors;
use crate::memory::layout::SHARED_BASE;
use crate::observe::Observer;
use crate::rules::coalesce::SECTOR_BYTES;

impl Pattern {
    /// If the request matches the pattern, counts it and returns the first lane's offset in shared memory.
    #[inline(always)]
    pub(crate) fn hit_shared<V: Vectors>(
        &mut self,
        r: View,
        i: &Inst,
        site: &MemSite,
        mask: u32,
    ) -> Option<u64> {
        let term = (r.s(site.address.term) as u32).wrapping_mul(site.address.term_scale as u32);
        let offset = (site.address.offset as u32)
            .wrapping_sub(SHARED_BASE)
            .wrapping_add(term);
        let first = match site.address.form {
            Form::Uniform => (r.s(i.a) as u32).wrapping_add(offset),
            Form::UniformIndexed => {
                let b = r.v32(i.b);
                if !self.is_index_alike::<V>(b) {
                    return None;
                }
                (r.s(i.a) as u32)
                    .wrapping_add(b[0].wrapping_mul(site.address.scale as u32))
                    .wrapping_add(offset)
            }
            Form::Varying => {
                let a = r.v32(i.a);
                if !V::alike(a, &self.deltas) {
                    return None;
                }
                a[0].wrapping_add(offset)
            }
            Form::VaryingIndexed => {
                let sums = sums32(r, i, site);
                if !V::alike(&sums, &self.deltas) {
                    return None;
                }
                sums[0].wrapping_add(offset)
            }
        };
        let first = u64::from(first);
        self.admits::<false>(first, mask).then_some(first)
    }

    /// If the request matches the pattern, counts it and returns the first lane's address in global memory.
    #[inline(always)]
    pub(crate) fn hit_global<V: Vectors>(
        &mut self,
        r: View,
        i: &Inst,
        site: &MemSite,
        mask: u32,
    ) -> Option<u64> {
        let first = match site.address.form {
            Form::Uniform => r.s(i.a).wrapping_add_signed(site.address.offset),
            Form::UniformIndexed => {
                let b = r.v32(i.b);
                let index = b[0].wrapping_add(r.s(site.address.term) as u32);
                if !self.is_index_alike::<V>(b) | !self.index.holds(index) {
                    return None;
                }
                self.last.index = index;
                r.s(i.a)
                    .wrapping_add_signed(extend(site, index).wrapping_mul(site.address.scale))
                    .wrapping_add_signed(site.address.offset)
            }
            Form::Varying => {
                let a = r.v64(i.a);
                if !V::alike64(a, &self.deltas) {
                    return None;
                }
                a[0].wrapping_add_signed(site.address.offset)
            }
            Form::VaryingIndexed => {
                let sums = sums64(r, i, site);
                if !V::alike64(&sums, &self.deltas) {
                    return None;
                }
                sums[0].wrapping_add_signed(site.address.offset)
            }
        };
        self.admits::<true>(first, mask).then_some(first)
    }

    /// Whether an index added to a scalar base has the pattern's distances.
    #[inline(always)]
    fn is_index_alike<V: Vectors>(&self, index: &[u32; 32]) -> bool {
        debug_assert!(!self.is_fixed || V::alike(index, &self.deltas));
        self.is_fixed || V::alike(index, &self.deltas)
    }

    /// Reports the number of hits to the observer.
    pub(crate) fn settle(&mut self, site: &MemSite, observer: &mut impl Observer) {
        let hits = std::mem::take(&mut self.hits);
        if hits.any() {
            let lanes = hits.alike * u64::from(self.mask.count_ones()) + hits.other_lanes;
            observer.repeats(site, self.charge, hits.alike + hits.others, lanes);
        }
    }

    /// Becomes the pattern of a valid request. `at` gives each lane's address (or offset, for shared memory).
    #[inline(always)]
    pub(crate) fn learn(
        &mut self,
        r: View,
        example: &Example<'_>,
        observer: &mut impl Observer,
        at: impl Fn(usize) -> u64,
    ) {
        self.patience.renew(self.hits.any());
        self.settle(example.site, observer);
        (self.mask, self.any_mask) = (0, false);
        let (site, inst) = (example.site, example.inst);
        let is_shared = matches!(example.charge, Charge::Shared(_));
        let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
        for l in 0..32 {
            low = low.min(at(l));
            high = high.max(at(l));
            all |= at(l);
        }
        let width = u64::from(site.width_bytes);
        let (start, end) = example.bounds;
        // Inactive lanes may point anywhere, but the pattern describes all lanes.
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
        match site.address.form {
            Form::Uniform => {}
            Form::UniformIndexed => {
                let term = if is_shared {
                    0
                } else {
                    r.s(site.address.term) as u32
                };
                let (least, most) = self.learn_index(site, r.v32(inst.b), term);
                if !is_shared {
                    match IndexRange::of(least, most, site.address.unsigned) {
                        Some(index) => self.index = index,
                        None => return,
                    }
                }
            }
            Form::Varying | Form::VaryingIndexed => {
                for l in 0..32 {
                    self.deltas[l] = at(l).wrapping_sub(at(0)) as u32;
                }
            }
        }
        self.below = at(0) - low;
        let (phase, slack) = match example.charge {
            // For elements below 4 bytes in constant memory, the words that contain them change sooner.
            Charge::Shared(_) | Charge::Constant(_) => (at(0), 0),
            Charge::Global(_) | Charge::Plain => within_sectors(&at, width),
        };
        self.window = Window {
            from: start + self.below,
            range: end - width - start - (high - low),
            phase,
            period: observer.period_bytes(site).max(width) - 1,
            slack,
            align: width - 1,
        };
        self.extent = (high - low) as u32;
        self.run = (0..32).all(|l| self.bytes[l] == l as u32 * site.width_bytes);
        self.version += 1;
        self.region = example.region;
        self.charge = example.charge;
        self.half_lows = [0, 16].map(|from| {
            let half = &self.bytes[from..from + 16];
            half.iter().fold(u32::MAX, |low, &bytes| low.min(bytes))
        });
        self.shape = self.find_shape(site);
        let least_cost =
            matches!(example.charge, Charge::Shared(Some(cost)) if cost.transactions == 1);
        self.any_mask = least_cost && width <= 4 && example.mask == u32::MAX;
        self.is_fixed = site.address.is_of_thread && example.has_like_warps;
        self.mask = example.mask;
        self.last.first = at(0);
        if site.address.form == Form::UniformIndexed && !is_shared {
            let term = r.s(site.address.term) as u32;
            self.last.index = r.v32(inst.b)[0].wrapping_add(term);
        }
    }

    /// Stores the distances of an index, and returns the smallest and the largest difference from the first lane's.
    #[inline(always)]
    fn learn_index(&mut self, site: &MemSite, index: &[u32; 32], term: u32) -> (i64, i64) {
        let first = extend(site, index[0].wrapping_add(term));
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for l in 0..32 {
            self.deltas[l] = index[l].wrapping_sub(index[0]);
            let apart = extend(site, index[l].wrapping_add(term)) - first;
            least = least.min(apart);
            most = most.max(apart);
        }
        (least, most)
    }
}

impl IndexRange {
    /// For indices from `least` below to `most` above the first one (`least <= 0 <= most`): the values of the first one
    /// for which all are representable; `None` if there are none.
    #[inline(always)]
    fn of(least: i64, most: i64, unsigned: bool) -> Option<IndexRange> {
        if least < i64::from(i32::MIN) || most > i64::from(i32::MAX) {
            return None;
        }
        let bottom = if unsigned { 0 } else { i64::from(i32::MIN) };
        Some(IndexRange {
            from: (bottom - least) as u32,
            range: (i64::from(u32::MAX) - (most - least)) as u32,
        })
    }
}

/// The phase and the slack for global memory: as long as no lane leaves its sector, the sectors and lines stay the
/// same.
#[inline(always)]
fn within_sectors(at: &impl Fn(usize) -> u64, width: u64) -> (u64, u64) {
    let (mut least, mut most) = (SECTOR_BYTES, 0);
    for l in 0..32 {
        least = least.min(at(l) % SECTOR_BYTES);
        most = most.max(at(l) % SECTOR_BYTES);
    }
    (at(0) - least, SECTOR_BYTES - width - (most - least))
}
