//! Operations on all lanes of a warp at once that the compiler does not vectorise by itself: portable, with AVX2, and
//! with AVX-512. All give the same bits. The tests compare the latter two with the portable form.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "these are compiled with the features of the engine that calls them"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

use crate::count::pattern::Shape;
use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::isa::rounds::Row;
use crate::machine::ops::element::{self, WordLayout};
use crate::machine::ops::{float, lanes};

/// Any CPU.
pub(crate) struct Portable;

impl Vectors for Portable {}

/// The source of a load in several rounds of a loop.
#[derive(Clone, Copy)]
pub(crate) struct Feed<'a> {
    pub(crate) layout: WordLayout<'a>,
    /// The offset of the lowest lane's word in the first round, and the distance from one round to the next.
    pub(crate) lowest: usize,
    pub(crate) stride_bytes: isize,
}

impl Feed<'_> {
    /// Stands for an absent load.
    pub(crate) const NONE: Feed<'static> = Feed {
        layout: WordLayout {
            shape: Shape::Scattered,
            bytes: &[0; 32],
            half_lows: [0; 2],
            memory: std::ptr::slice_from_raw_parts(std::ptr::null(), 0),
        },
        lowest: 0,
        stride_bytes: 0,
    };

    /// The offset of the lowest lane's word in a round.
    #[inline(always)]
    fn lowest_in(&self, round: u32) -> usize {
        self.lowest
            .wrapping_add_signed(self.stride_bytes.wrapping_mul(round as isize))
    }

    /// The word `k` words after the first one of a round, for a load that is the same in all lanes.
    ///
    /// # Safety
    /// It must be readable.
    #[inline(always)]
    pub(crate) unsafe fn word(&self, round: u32, behind: usize) -> u32 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let at = self.layout.memory.cast::<u8>().add(self.lowest_in(round));
            at.cast::<u32>().add(behind).read_unaligned()
        }
    }

    /// Whether its words have a common layout.
    #[inline(always)]
    pub(crate) fn is_quick(&self) -> bool {
        self.layout.shape.is_quick(self.layout.memory.len() as u64)
    }

    /// The words of a round, for a load of one word that [is quick](Feed::is_quick).
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub(crate) unsafe fn quick<V: Vectors>(&self, round: u32, out: &mut [u32; 32]) {
        let WordLayout { shape, bytes, .. } = self.layout;
        // SAFETY: guaranteed by the caller.
        unsafe { element::words::<V>(shape, bytes, self.layout.memory, self.lowest_in(round), out) }
    }

    /// The words of a round in each lane.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub(crate) unsafe fn words<V: Vectors>(&self, round: u32, r: View, registers: &[u32]) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match registers {
                [register] if self.is_quick() => self.quick::<V>(round, r.v32_mut(*register)),
                _ => self.layout.load::<V>(self.lowest_in(round), r, registers),
            }
        }
    }
}

/// The words of several rounds. Each round has the same number of consecutive registers.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) r: View,
    pub(crate) words: u32,
    pub(crate) rounds: u32,
}

impl Loaded {
    /// A word of the first round. The next round's is [this many lanes](Loaded::lanes_between) further.
    #[inline(always)]
    fn first(&self, word: u32) -> *const u32 {
        self.r.v32(word).as_ptr()
    }

    /// The distance from a round's word to the next one's, in lanes.
    #[inline(always)]
    fn lanes_between(&self) -> usize {
        32 * self.words as usize
    }
}

/// A portable [`Vectors::sum_rounds`].
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn sum_words<V: Vectors>(sum: &mut [u32; 32], one: &Feed, other: &Feed, count: u32) {
    let (mut a, mut b) = ([0; 32], [0; 32]);
    for round in 0..count {
        // SAFETY: guaranteed by the caller.
        unsafe {
            one.quick::<V>(round, &mut a);
            other.quick::<V>(round, &mut b);
        }
        for l in 0..32 {
            sum[l] = float::fma32(a[l], b[l], sum[l]);
        }
    }
}

/// Calls a function for groups of sums of a row, each as large as CPU registers allow. It is a macro because a function
/// would be compiled without the CPU's features.
macro_rules! in_registers {
    ($r:expr, $row:expr, $loaded:expr, $some:ident) => {
        in_registers!($r, $row, $loaded, $some, 8, 4, 2, 1)
    };
    ($r:expr, $row:expr, $loaded:expr, $some:ident, $($count:literal),*) => {
        let mut rest = &$row.sums[..];
        $(
            while let Some((some, others)) = rest.split_first_chunk() {
                $some::<$count>($r, $row.factor, some, $loaded);
                rest = others;
            }
        )*
    };
}
use in_registers;

/// The functions require the CPU features that the type is named after. Only the engine's loop for that CPU calls them.
pub(crate) trait Vectors: Sized {
    /// Whether [`Vectors::pick_rows`] is faster than [`Vectors::collect`].
    const PICKS_ROWS: bool = false;

    /// The lanes that are all ones. The others must be zero.
    #[inline(always)]
    fn mask_of(holds: &[u32; 32]) -> u32 {
        let mut mask = 0;
        for l in 0..32 {
            mask |= holds[l] & 1 << l;
        }
        mask
    }

    /// Whether the distances of all lanes from the first lane are these.
    #[inline(always)]
    fn alike(values: &[u32; 32], deltas: &[u32; 32]) -> bool {
        let mut differs = 0;
        for l in 0..32 {
            differs |= values[l].wrapping_sub(values[0]) ^ deltas[l];
        }
        differs == 0
    }

    /// The same for 64-bit values. The distances are sign-extended.
    #[inline(always)]
    fn alike64(values: &[u64; 32], deltas: &[u32; 32]) -> bool {
        let mut differs = 0;
        for l in 0..32 {
            differs |= values[l].wrapping_sub(values[0]) ^ (deltas[l] as i32 as i64 as u64);
        }
        differs == 0
    }

    /// Whether every value plus a constant is below a limit.
    #[inline(always)]
    fn all_below(values: &[u32; 32], add: u32, limit: u32) -> bool {
        let mut beyond = false;
        for l in 0..32 {
            beyond |= values[l].wrapping_add(add) >= limit;
        }
        !beyond
    }

    /// Prefetches the 128 bytes at an address. Any address is allowed, because nothing is read.
    #[inline(always)]
    fn prefetch(address: *const u8) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch of an address that is not mapped does nothing; every x86-64 has SSE.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(address.cast());
                _mm_prefetch::<_MM_HINT_T0>(address.wrapping_add(64).cast());
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = address;
    }

    /// `out[l]` = the word at `from + bytes[l]`.
    ///
    /// The register is written as a whole if the CPU can gather. If it were written lane by lane, the next vector load
    /// of it would wait until the CPU has committed those 32 stores, and every store before them that missed the cache.
    ///
    /// # Safety
    /// Every `from + bytes[l]` must be readable for 4 bytes, and every `bytes[l]` must be less than 2^31.
    #[inline(always)]
    unsafe fn collect(from: *const u8, bytes: &[u32; 32], out: &mut [u32; 32]) {
        for l in 0..32 {
            // SAFETY: guaranteed by the caller.
            out[l] = unsafe { from.add(bytes[l] as usize).cast::<u32>().read_unaligned() };
        }
    }

    /// Register `k` = the words at `from + bytes[l] + 4 * k`: `float4`.
    ///
    /// # Safety
    /// Every `from + bytes[l]` must be readable for 16 bytes, and every `bytes[l]` must be less than 2^31.
    #[inline(always)]
    unsafe fn collect_fours(from: *const u8, bytes: &[u32; 32], r: View, registers: &[u32; 4]) {
        for k in 0..4 {
            // SAFETY: guaranteed by the caller.
            unsafe { Self::collect(from.add(4 * k), bytes, r.v32_mut(registers[k])) };
        }
    }

    /// `out[l] = row[(bytes[l] + more) / 4]`.
    ///
    /// # Safety
    /// `row` must be readable, and `bytes[l] + more` a multiple of 4 below 128.
    #[inline(always)]
    unsafe fn pick(row: *const [u32; 32], bytes: &[u32; 32], more: u32, out: &mut [u32; 32]) {
        for l in 0..32 {
            // SAFETY: guaranteed by the caller.
            out[l] = unsafe {
                row.cast::<u32>()
                    .add(((bytes[l] + more) / 4) as usize)
                    .read_unaligned()
            };
        }
    }

    /// `V[d] = V[a] * V[b] + V[d]` for `f32`: the inner loop of products. The compiler does not know that `d` differs
    /// from `a` and `b`, and would go through memory.
    #[inline(always)]
    fn fma_into32(r: View, i: &Inst) {
        lanes::fma_into32(r, i, float::fma32);
    }

    /// `sum += one * other` for `f32` in `count` rounds. Both [are quick](Feed::is_quick).
    ///
    /// # Safety
    /// As for [`Feed::words`], in all these rounds.
    #[inline(always)]
    unsafe fn sum_rounds(sum: &mut [u32; 32], one: &Feed, other: &Feed, count: u32) {
        // SAFETY: guaranteed by the caller.
        unsafe { sum_words::<Self>(sum, one, other, count) }
    }

    /// Adds the products of all rounds to the `f32` sums of a row.
    #[inline(always)]
    fn sum_row(r: View, row: &Row, loaded: &Loaded) {
        for &(sum, other) in &row.sums {
            let sum = r.v32_mut(sum);
            for round in 0..loaded.rounds {
                let word = |word| loaded.r.v32(round * loaded.words + word);
                let (a, b) = (word(row.factor), word(other));
                for l in 0..32 {
                    sum[l] = float::fma32(a[l], b[l], sum[l]);
                }
            }
        }
    }

    /// For the lanes of one half-warp: register `k` = word `(bytes[l] + more) / 4 + k` of the rows.
    ///
    /// # Safety
    /// 256 bytes at `rows` must be readable and contain all those words, and `bytes[l] + more` must be a multiple of 4.
    #[inline(always)]
    unsafe fn pick_rows(
        rows: *const u8,
        bytes: &[u32; 32],
        more: u32,
        r: View,
        registers: &[u32],
        half: usize,
    ) {
        for (k, &register) in registers.iter().enumerate() {
            let out = r.v32_mut(register);
            for l in 16 * half..16 * half + 16 {
                let at = bytes[l].wrapping_add(more) as usize + 4 * k;
                // SAFETY: guaranteed by the caller.
                out[l] = unsafe { rows.add(at).cast::<u32>().read_unaligned() };
            }
        }
    }

    /// `out[l]` = the word at `from + 4 * l`, for the first `lanes` lanes: 1, 2, 4, 8 or 16. The values of the others
    /// are unspecified.
    ///
    /// A CPU forwards a value that it has just stored to a load only if a single store has all of the load's bytes.
    /// Otherwise the load waits until the store is in the cache. So the loads are no wider than the active lanes, and
    /// the register is written in pieces as wide as those that the lane functions read.
    ///
    /// # Safety
    /// The first `lanes` words must be readable.
    #[inline(always)]
    unsafe fn first_lanes(from: *const u8, lanes: u32, out: &mut [u32; 32]) {
        for l in 0..lanes as usize {
            // SAFETY: guaranteed by the caller.
            out[l] = unsafe { from.cast::<u32>().add(l).read_unaligned() };
        }
    }
}
