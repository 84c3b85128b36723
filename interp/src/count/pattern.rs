//! The pattern of a site's requests, with which a request like the last one costs next to nothing to check, count and
//! serve.
//!
//! Loops repeat their accesses with the same distances between the lanes, and only the first lane's address moves. A
//! [`Pattern`] has the distances, and what the slow path found out about them: the cost, the extent and the layout of
//! the data. A request *matches* the pattern if all 32 lanes (active or not) have those distances, the mask is that of
//! the pattern (or cannot matter), the first lane's address is such that every lane stays within the bounds, and that
//! address has moved by a multiple of the rules' period, or within the sectors of global memory, which changes no cost
//! ([`SharedRules::period_bytes`], [`GlobalRules::period_bytes`]). Such a request is a hit. Hits are converted to
//! counts when the pattern is replaced, and at the end ([`Pattern::settle`]).
//!
//! Distances are compared where they are cheapest to get: in the index register, if the address is a scalar base plus
//! an index, otherwise in the pointer register. Invariant of a pattern with a mask: if the first lane's address passes
//! the range check, the bytes of all 32 lanes lie within the bounds that the site was checked against, aligned to the
//! width.
//!
//! [`SharedRules::period_bytes`]: crate::rules::SharedRules::period_bytes
//! [`GlobalRules::period_bytes`]: crate::rules::GlobalRules::period_bytes

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use ir::MemType;

use crate::count::stats::Charge;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::registers::View;
use crate::patience::Patience;

/// The layout of 32 lanes' data in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// One element for all lanes.
    Splat,
    /// 32 elements of 4 or 8 bytes in the order of the lanes.
    Run,
    /// 4-byte elements. Each half-warp's are in the order of its lanes: a warp of a 16 by 16 block accessing two rows
    /// of an array.
    Halves,
    /// 4-byte elements, one for each half-warp: the same warp accessing a column.
    Pair,
    /// Other 4-byte elements, all within 128 bytes.
    Row,
    /// Up to four 4-byte elements per lane, each half-warp's within [`ROWS_BYTES`]: `float4`, or words at a distance of
    /// a few words.
    Rows,
    /// Any other layout.
    Scattered,
}

impl Shape {
    /// Whether words have a common layout, in memory of this size.
    #[inline(always)]
    pub(crate) fn is_quick(self, bytes: u64) -> bool {
        match self {
            Shape::Run | Shape::Splat | Shape::Halves | Shape::Pair => true,
            Shape::Row => bytes >= 128,
            Shape::Rows | Shape::Scattered => false,
        }
    }
}

/// The largest extent of a half-warp's bytes in [`Shape::Rows`]: four registers of a CPU with AVX-512.
pub(crate) const ROWS_BYTES: u32 = 256;

/// The pattern of a site's last slow request. See the module. After the distances, the fields that a matching request
/// needs are in two of the CPU's cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Pattern {
    /// The distances that are compared: of each lane's index or pointer from the first lane's, modulo 2^32.
    pub(crate) deltas: [u32; 32],
    /// The bytes between the lowest lane and each lane.
    pub(crate) bytes: [u32; 32],
    pub(crate) window: Window,
    /// The bytes between the lowest lane and the first one.
    pub(crate) below: u64,
    /// The mask of the requests; 0 for an empty pattern.
    pub(crate) mask: u32,
    /// Whether any mask matches, because the request has the lowest cost even with all lanes.
    pub(crate) any_mask: bool,
    /// Whether every request of the launch has these distances.
    pub(crate) is_fixed: bool,
    pub(crate) shape: Shape,
    /// Whether all lanes are consecutive, for any width.
    pub(crate) run: bool,
    pub(crate) hits: Hits,
    /// The last request, if it matched the pattern.
    pub(crate) last: Last,
    /// The lowest lane's address (offset, in shared memory) in the last request that was served by a `rest_` function.
    pub(crate) lowest: u64,
    pub(crate) index: IndexRange,
    /// The bytes between the lowest lane and the lowest of each half-warp.
    pub(crate) half_lows: [u32; 2],
    /// The bytes between the lowest and the highest lane.
    pub(crate) extent: u32,
    /// How many patterns the site has had.
    pub(crate) version: u32,
    /// The region of all lanes, for global memory.
    pub(crate) region: u32,
    pub(crate) charge: Charge,
    pub(crate) patience: Patience,
    pub(crate) walk: Walk,
}

/// The position of the last matching request.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Last {
    /// The first lane's address (offset, in shared memory); [`Last::NONE`] without such a request.
    pub(crate) first: u64,
    /// The first lane's index, for a scalar base in global memory.
    pub(crate) index: u32,
    /// Whether no lane's innermost subscript was out of bounds. Known only with observers that see every access.
    pub(crate) is_within: bool,
}

impl Last {
    /// Neither an address nor an offset.
    pub(crate) const NONE: u64 = u64::MAX;
}

/// How a site's requests move from block to block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Walk {
    /// The block of the last request, and the address of its first one.
    block: u64,
    first: u64,
    /// The distance from there to the first one of the block before, modulo 2^64.
    step: u64,
}

impl Walk {
    /// The expected distance from a request of a block to the same one of the next block, modulo 2^64.
    #[inline(always)]
    pub(crate) fn step(&mut self, block: u64, lowest: u64) -> u64 {
        if self.block != block {
            *self = Walk {
                block,
                first: lowest,
                step: lowest.wrapping_sub(self.first),
            };
        }
        self.step
    }
}

/// The valid positions of a request's first lane: first and last address (offset, in shared memory), the last as a
/// distance from the first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) range: u64,
    /// The slack: modulo the period (`period` is that minus 1) the address must be within the slack after `phase`, at a
    /// distance that is a multiple of the width (`align` is that minus 1).
    pub(crate) phase: u64,
    pub(crate) period: u64,
    pub(crate) slack: u64,
    pub(crate) align: u64,
}

impl Window {
    #[inline(always)]
    fn holds(&self, first: u64) -> bool {
        let inside = first.wrapping_sub(self.from) <= self.range;
        let moved = first.wrapping_sub(self.phase) & self.period;
        let in_phase = (moved <= self.slack) & (moved & self.align == 0);
        inside & in_phase
    }

    /// The same for a window without slack: whole periods from an aligned address are aligned.
    #[inline(always)]
    fn holds_exactly(&self, first: u64) -> bool {
        debug_assert!(self.slack == 0 && self.align & !self.period == 0);
        let inside = first.wrapping_sub(self.from) <= self.range;
        inside & (first.wrapping_sub(self.phase) & self.period == 0)
    }
}

/// The valid indices of the first lane, for which no lane's index wraps around.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct IndexRange {
    pub(crate) from: u32,
    pub(crate) range: u32,
}

impl IndexRange {
    #[inline(always)]
    pub(crate) fn holds(&self, index: u32) -> bool {
        index.wrapping_sub(self.from) <= self.range
    }
}

/// The number of matching requests.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Hits {
    /// Those with the pattern's mask.
    pub(crate) alike: u64,
    /// Those with other masks, and their active lanes.
    pub(crate) others: u64,
    pub(crate) other_lanes: u64,
}

impl Hits {
    /// Counts a request here without a pattern.
    #[inline(always)]
    pub(crate) fn count_apart(&mut self, mask: u32) {
        self.count_times(mask, 1);
    }

    /// Counts several of them.
    #[inline(always)]
    pub(crate) fn count_times(&mut self, mask: u32, times: u64) {
        self.others += times;
        self.other_lanes += times * u64::from(mask.count_ones());
    }

    pub(crate) fn any(&self) -> bool {
        self.alike + self.others > 0
    }
}

/// A request that was served by the slow path, from which a pattern is made.
pub(crate) struct Example<'a> {
    pub(crate) inst: &'a Inst,
    pub(crate) site: &'a MemSite,
    pub(crate) mask: u32,
    pub(crate) charge: Charge,
    /// The bounds that the site's accesses are checked against: first address and end.
    pub(crate) bounds: (u64, u64),
    pub(crate) region: u32,
    /// See [`has_like_warps`](crate::isa::grid::Shape::has_like_warps).
    pub(crate) has_like_warps: bool,
}

impl Pattern {
    pub(crate) fn new() -> Pattern {
        Pattern {
            deltas: [0; 32],
            bytes: [0; 32],
            half_lows: [0; 2],
            below: 0,
            window: Window::default(),
            index: IndexRange::default(),
            mask: 0,
            any_mask: false,
            is_fixed: false,
            shape: Shape::Scattered,
            run: false,
            extent: 0,
            version: 0,
            region: 0,
            hits: Hits::default(),
            charge: Charge::Plain,
            patience: Patience::default(),
            lowest: 0,
            last: Last {
                first: Last::NONE,
                index: 0,
                is_within: false,
            },
            walk: Walk::default(),
        }
    }

    /// Whether a request whose lanes have the pattern's distances matches it. If so, counts it. `IN_SECTORS`: it may
    /// move within the sectors of global memory.
    #[inline(always)]
    pub(crate) fn admits<const IN_SECTORS: bool>(&mut self, first: u64, mask: u32) -> bool {
        let in_window = match IN_SECTORS {
            true => self.window.holds(first),
            false => self.window.holds_exactly(first),
        };
        if !in_window {
            return false;
        }
        self.last.first = first;
        if mask == self.mask {
            self.hits.alike += 1;
            return true;
        }
        if self.any_mask {
            self.hits.count_apart(mask);
        }
        self.any_mask
    }

    /// Whether both match the same requests.
    pub(crate) fn is_same(&self, other: &Pattern) -> bool {
        let window = |pattern: &Pattern| {
            let Window {
                from,
                range,
                phase,
                period,
                slack,
                align,
            } = pattern.window;
            (from, range, phase & period, period, slack, align)
        };
        (self.deltas, self.bytes, self.mask, self.region, self.charge)
            == (
                other.deltas,
                other.bytes,
                other.mask,
                other.region,
                other.charge,
            )
            && window(self) == window(other)
    }

    /// Undoes the counting of a request that did not happen after all.
    pub(crate) fn take_back(&mut self, mask: u32) {
        if mask == self.mask {
            self.hits.alike -= 1;
        } else {
            self.hits.others -= 1;
            self.hits.other_lanes -= u64::from(mask.count_ones());
        }
    }

    /// Whether several requests with one mask match, each at the same distance from the one before. Counts nothing.
    pub(crate) fn admits_all<const IN_SECTORS: bool>(
        &self,
        requests: &Requests,
        mask: u32,
    ) -> bool {
        let window = &self.window;
        let (first, last) = (requests.first, requests.at(requests.count - 1));
        let inside = |address: u64| address.wrapping_sub(window.from) <= window.range;
        // Positions that move in one direction stay between the ends.
        if mask != self.mask && !self.any_mask || !inside(first) || !inside(last) {
            return false;
        }
        let rounds = match requests.stride_bytes as u64 & window.period {
            0 => 1,
            // After a period the positions repeat.
            _ => requests.count.min(window.period as u32 + 1),
        };
        (0..rounds).all(|round| match IN_SECTORS {
            true => window.holds(requests.at(round)),
            false => window.holds_exactly(requests.at(round)),
        })
    }

    /// One that no request is ever like.
    pub(crate) fn never() -> Pattern {
        Pattern {
            patience: Patience::NEVER,
            ..Pattern::new()
        }
    }

    /// Counts requests that matched together.
    pub(crate) fn count_all(&mut self, mask: u32, count: u32) {
        match mask == self.mask {
            true => self.hits.alike += u64::from(count),
            false => self.hits.count_times(mask, count.into()),
        }
    }

    /// After a miss: whether it is time for another pattern.
    #[inline(always)]
    pub(crate) fn wants_example(&mut self) -> bool {
        self.patience.tries()
    }

    /// Whether each half-warp's elements are `step` bytes apart.
    fn in_halves(&self, step: u32) -> bool {
        let follows = |l: usize| self.bytes[l] == self.bytes[l - 1].wrapping_add(step);
        (1..32).all(|l| l == 16 || follows(l))
    }

    pub(crate) fn find_shape(&self, site: &MemSite) -> Shape {
        let width = site.width_bytes;
        if site.uniform_values || site.access.ty.bytes() < 4 {
            return Shape::Scattered;
        }
        let is_words = matches!(site.access.ty, MemType::I32 | MemType::F32);
        let in_rows = |half: usize| {
            let last = self.bytes[16 * half..][..16].iter().max();
            last.is_some_and(|last| last - self.half_lows[half] + width <= ROWS_BYTES)
        };
        let rows = match is_words && in_rows(0) && in_rows(1) {
            true => Shape::Rows,
            false => Shape::Scattered,
        };
        if site.access.count != 1 {
            return rows;
        }
        let runs = (0..32).all(|l| self.bytes[l] == l as u32 * width);
        match site.access.ty {
            _ if runs => Shape::Run,
            _ if self.bytes == [0; 32] => Shape::Splat,
            _ if is_words && self.in_halves(4) => Shape::Halves,
            _ if is_words && self.in_halves(0) => Shape::Pair,
            _ if is_words && self.bytes.iter().all(|&bytes| bytes < 128) => Shape::Row,
            _ => rows,
        }
    }
}

/// A sequence of requests at a constant distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Requests {
    /// The first lane's address (offset, in shared memory) in the first one.
    pub(crate) first: u64,
    pub(crate) stride_bytes: i64,
    pub(crate) count: u32,
}

impl Requests {
    #[inline(always)]
    pub(crate) fn at(&self, number: u32) -> u64 {
        self.first
            .wrapping_add_signed(self.stride_bytes.wrapping_mul(i64::from(number)))
    }
}

/// Base plus scaled index of all lanes, for 32-bit pointers.
#[inline(always)]
pub(crate) fn sums32(r: View, i: &Inst, site: &MemSite) -> [u32; 32] {
    let (a, b, scale) = (r.v32(i.a), r.v32(i.b), site.address.scale as u32);
    let mut sums = [0; 32];
    for l in 0..32 {
        sums[l] = a[l].wrapping_add(b[l].wrapping_mul(scale));
    }
    sums
}

/// The same in 64 bits.
#[inline(always)]
pub(crate) fn sums64(r: View, i: &Inst, site: &MemSite) -> [u64; 32] {
    let (a, b) = (r.v64(i.a), r.v32(i.b));
    let mut sums = [0; 32];
    for l in 0..32 {
        sums[l] = a[l].wrapping_add_signed(extend(site, b[l]).wrapping_mul(site.address.scale));
    }
    sums
}

#[inline(always)]
pub(crate) fn extend(site: &MemSite, index: u32) -> i64 {
    if site.address.unsigned {
        i64::from(index)
    } else {
        i64::from(index as i32)
    }
}
