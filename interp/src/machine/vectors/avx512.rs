//! AVX-512: a register of the machine is two CPU registers.
#![allow(
    clippy::inline_always,
    reason = "these are compiled with the features of the engine that calls them"
)]

use std::arch::x86_64::{
    __m256i, __m512, __m512i, _CMP_UNORD_Q, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_loadu_si128,
    _mm256_loadu_si256, _mm512_add_epi32, _mm512_castsi512_ps, _mm512_cmp_ps_mask,
    _mm512_cmpge_epu32_mask, _mm512_cmpneq_epi32_mask, _mm512_cmpneq_epi64_mask,
    _mm512_cvtepi32_epi64, _mm512_fmadd_ps, _mm512_i32gather_epi32, _mm512_loadu_ps,
    _mm512_loadu_si512, _mm512_mask_blend_epi32, _mm512_mask_blend_ps, _mm512_movepi32_mask,
    _mm512_permutex2var_epi32, _mm512_permutex2var_ps, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_srli_epi32, _mm512_storeu_ps, _mm512_storeu_si512,
    _mm512_sub_epi32, _mm512_sub_epi64, _mm512_test_epi32_mask, _mm512_zextsi128_si512,
    _mm512_zextsi256_si512,
};

use super::{Feed, Loaded, Vectors, in_registers, sum_words};
use crate::count::pattern::Shape;
use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::isa::rounds::Row;
use crate::machine::ops::float;

pub(crate) struct Avx512;

/// The layout of each half-warp's words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    /// One word for all lanes.
    One,
    /// Adjacent words.
    Run,
    /// Anywhere in 128 bytes.
    Row,
    /// The same, near the end of memory.
    LastRow,
}

impl Half {
    /// The layout that holds in all `count` rounds.
    #[inline(always)]
    fn of(feed: &Feed, count: u32) -> Half {
        let highest = feed.lowest.max(feed.lowest_in(count - 1));
        match feed.layout.shape {
            Shape::Splat | Shape::Pair => Half::One,
            Shape::Run | Shape::Halves => Half::Run,
            Shape::Row if highest + 128 <= feed.layout.memory.len() => Half::Row,
            Shape::Row | Shape::Rows | Shape::Scattered => Half::LastRow,
        }
    }
}

/// The words of a round, as two CPU registers.
///
/// # Safety
/// As for [`Feed::words`]. They must have this layout, and for a row 128 bytes from the lowest lane on must be
/// readable.
#[inline(always)]
unsafe fn halves<const HALF: u8>(feed: &Feed, round: u32) -> [__m512; 2] {
    // SAFETY: guaranteed by the caller, in all branches.
    unsafe {
        let (lowest, bytes) = (feed.lowest_in(round), feed.layout.bytes);
        let from = feed.layout.memory.cast::<u8>().add(lowest);
        let at = [from.add(bytes[0] as usize), from.add(bytes[16] as usize)];
        if HALF == Half::One as u8 {
            [
                _mm512_set1_ps(at[0].cast::<f32>().read_unaligned()),
                _mm512_set1_ps(at[1].cast::<f32>().read_unaligned()),
            ]
        } else if HALF == Half::Run as u8 {
            [_mm512_loadu_ps(at[0].cast()), _mm512_loadu_ps(at[1].cast())]
        } else {
            let (low, high) = (
                _mm512_loadu_ps(from.cast()),
                _mm512_loadu_ps(from.add(64).cast()),
            );
            // Not with `map`, whose closure would be called without the CPU's features.
            let index = bytes.as_ptr().cast::<__m512i>();
            let index = [_mm512_loadu_si512(index), _mm512_loadu_si512(index.add(1))];
            [
                _mm512_permutex2var_ps(low, _mm512_srli_epi32::<2>(index[0]), high),
                _mm512_permutex2var_ps(low, _mm512_srli_epi32::<2>(index[1]), high),
            ]
        }
    }
}

/// [`Vectors::sum_rounds`] for words with this layout.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn sum_halves<const ONE: u8, const OTHER: u8>(
    sum: &mut [u32; 32],
    one: &Feed,
    other: &Feed,
    count: u32,
) {
    let to = sum.as_mut_ptr().cast::<f32>();
    // SAFETY: the level's CPU has AVX-512; halves of 128 bytes; the caller guarantees the words.
    unsafe {
        let (mut low, mut high) = (_mm512_loadu_ps(to), _mm512_loadu_ps(to.add(16)));
        for round in 0..count {
            let (a, b) = (halves::<ONE>(one, round), halves::<OTHER>(other, round));
            low = _mm512_fmadd_ps(a[0], b[0], low);
            high = _mm512_fmadd_ps(a[1], b[1], high);
        }
        store_sums(to, low, high);
    }
}

/// Stores sums of products. A sum that is a NaN stays one, so its bits can be normalised after the last round.
///
/// # Safety
/// 128 bytes must be writable.
#[inline(always)]
unsafe fn store_sums(to: *mut f32, low: __m512, high: __m512) {
    // SAFETY: the level's CPU has AVX-512; the caller guarantees the rest.
    unsafe {
        let nan = _mm512_castsi512_ps(_mm512_set1_epi32(float::NAN_F32 as i32));
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(low, low);
        _mm512_storeu_ps(to, _mm512_mask_blend_ps(is_nan, low, nan));
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(high, high);
        _mm512_storeu_ps(to.add(16), _mm512_mask_blend_ps(is_nan, high, nan));
    }
}

/// [`Vectors::sum_row`] for `N` sums, which stay in CPU registers.
#[inline(always)]
fn sum_some<const N: usize>(r: View, factor: u32, sums: &[(u32, u32); N], loaded: &Loaded) {
    // SAFETY: the level's CPU has AVX-512; registers have 128 bytes.
    unsafe {
        let (mut low, mut high) = ([_mm512_setzero_ps(); N], [_mm512_setzero_ps(); N]);
        for number in 0..N {
            let from = r.v32(sums[number].0).as_ptr().cast::<f32>();
            (low[number], high[number]) = (_mm512_loadu_ps(from), _mm512_loadu_ps(from.add(16)));
        }
        let one: *const f32 = loaded.first(factor).cast();
        let mut others = [one; N];
        for number in 0..N {
            others[number] = loaded.first(sums[number].1).cast();
        }
        let mut at = 0;
        for _ in 0..loaded.rounds {
            let one = one.wrapping_add(at);
            let one = [_mm512_loadu_ps(one), _mm512_loadu_ps(one.add(16))];
            for number in 0..N {
                let other = others[number].wrapping_add(at);
                low[number] = _mm512_fmadd_ps(one[0], _mm512_loadu_ps(other), low[number]);
                let other = _mm512_loadu_ps(other.add(16));
                high[number] = _mm512_fmadd_ps(one[1], other, high[number]);
            }
            at += loaded.lanes_between();
        }
        for number in 0..N {
            let to = r.v32_mut(sums[number].0).as_mut_ptr().cast();
            store_sums(to, low[number], high[number]);
        }
    }
}

impl Vectors for Avx512 {
    #[inline(always)]
    fn mask_of(holds: &[u32; 32]) -> u32 {
        // SAFETY: the level's CPU has AVX-512; two halves of 128 bytes.
        unsafe {
            let low = _mm512_movepi32_mask(_mm512_loadu_si512(holds.as_ptr().cast()));
            let high = _mm512_movepi32_mask(_mm512_loadu_si512(holds.as_ptr().add(16).cast()));
            u32::from(low) | u32::from(high) << 16
        }
    }

    #[inline(always)]
    fn alike(values: &[u32; 32], deltas: &[u32; 32]) -> bool {
        // SAFETY: the level's CPU has AVX-512; halves of 128 bytes.
        unsafe {
            let first = _mm512_set1_epi32(values[0] as i32);
            let differ = |half: usize| {
                let values = _mm512_loadu_si512(values.as_ptr().cast::<__m512i>().add(half));
                let deltas = _mm512_loadu_si512(deltas.as_ptr().cast::<__m512i>().add(half));
                _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(values, first), deltas)
            };
            differ(0) | differ(1) == 0
        }
    }

    #[inline(always)]
    fn alike64(values: &[u64; 32], deltas: &[u32; 32]) -> bool {
        // SAFETY: the level's CPU has AVX-512; quarters of 256 and of 128 bytes.
        unsafe {
            let first = _mm512_set1_epi64(values[0] as i64);
            let differ = |part: usize| {
                let values = _mm512_loadu_si512(values.as_ptr().cast::<__m512i>().add(part));
                let deltas = _mm256_loadu_si256(deltas.as_ptr().cast::<__m256i>().add(part));
                _mm512_cmpneq_epi64_mask(
                    _mm512_sub_epi64(values, first),
                    _mm512_cvtepi32_epi64(deltas),
                )
            };
            differ(0) | differ(1) | differ(2) | differ(3) == 0
        }
    }

    #[inline(always)]
    fn all_below(values: &[u32; 32], add: u32, limit: u32) -> bool {
        // SAFETY: the level's CPU has AVX-512; halves of 128 bytes.
        unsafe {
            let (add, limit) = (
                _mm512_set1_epi32(add as i32),
                _mm512_set1_epi32(limit as i32),
            );
            let beyond = |half: usize| {
                let values = _mm512_loadu_si512(values.as_ptr().cast::<__m512i>().add(half));
                _mm512_cmpge_epu32_mask(_mm512_add_epi32(values, add), limit)
            };
            beyond(0) | beyond(1) == 0
        }
    }

    #[inline(always)]
    unsafe fn collect(from: *const u8, bytes: &[u32; 32], out: &mut [u32; 32]) {
        // SAFETY: the level's CPU has AVX-512; halves of 128 bytes; the caller guarantees each lane.
        unsafe {
            for half in 0..2 {
                let bytes = _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>().add(half));
                let words = _mm512_i32gather_epi32::<1>(bytes, from.cast());
                _mm512_storeu_si512(out.as_mut_ptr().cast::<__m512i>().add(half), words);
            }
        }
    }

    #[inline(always)]
    unsafe fn pick(row: *const [u32; 32], bytes: &[u32; 32], more: u32, out: &mut [u32; 32]) {
        // SAFETY: the level's CPU has AVX-512; `row`, `bytes` and `out` are 128 bytes each.
        unsafe {
            let (low, high) = (
                _mm512_loadu_si512(row.cast()),
                _mm512_loadu_si512(row.cast::<__m512i>().add(1)),
            );
            let more = _mm512_set1_epi32(more as i32);
            for half in 0..2 {
                let bytes = _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>().add(half));
                let index = _mm512_srli_epi32::<2>(_mm512_add_epi32(bytes, more));
                let picked = _mm512_permutex2var_epi32(low, index, high);
                _mm512_storeu_si512(out.as_mut_ptr().cast::<__m512i>().add(half), picked);
            }
        }
    }

    const PICKS_ROWS: bool = true;

    #[inline(always)]
    fn fma_into32(r: View, i: &Inst) {
        let (a, b, d) = (
            r.v32(i.a).as_ptr(),
            r.v32(i.b).as_ptr(),
            r.v32_mut(i.d).as_mut_ptr(),
        );
        // SAFETY: the level's CPU has AVX-512; halves of 128 bytes.
        unsafe {
            let nan = _mm512_castsi512_ps(_mm512_set1_epi32(float::NAN_F32 as i32));
            for half in 0..2 {
                let load = |from: *const u32| _mm512_loadu_ps(from.add(16 * half).cast());
                let sums = _mm512_fmadd_ps(load(a), load(b), load(d));
                let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(sums, sums);
                _mm512_storeu_ps(
                    d.add(16 * half).cast(),
                    _mm512_mask_blend_ps(is_nan, sums, nan),
                );
            }
        }
    }

    #[inline(always)]
    unsafe fn sum_rounds(sum: &mut [u32; 32], one: &Feed, other: &Feed, count: u32) {
        const ONE: u8 = Half::One as u8;
        const RUN: u8 = Half::Run as u8;
        const ROW: u8 = Half::Row as u8;
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (Half::of(one, count), Half::of(other, count)) {
                (Half::One, Half::Run) => sum_halves::<ONE, RUN>(sum, one, other, count),
                (Half::Run, Half::One) => sum_halves::<ONE, RUN>(sum, other, one, count),
                (Half::Run, Half::Run) => sum_halves::<RUN, RUN>(sum, one, other, count),
                (Half::One, Half::Row) => sum_halves::<ONE, ROW>(sum, one, other, count),
                (Half::Row, Half::One) => sum_halves::<ONE, ROW>(sum, other, one, count),
                (Half::Row, Half::Row) => sum_halves::<ROW, ROW>(sum, one, other, count),
                (Half::Row, Half::Run) => sum_halves::<ROW, RUN>(sum, one, other, count),
                (Half::Run, Half::Row) => sum_halves::<ROW, RUN>(sum, other, one, count),
                (Half::One, Half::One) => sum_halves::<ONE, ONE>(sum, one, other, count),
                (Half::LastRow, _) | (_, Half::LastRow) => {
                    sum_words::<Avx512>(sum, one, other, count);
                }
            }
        }
    }

    #[inline(always)]
    fn sum_row(r: View, row: &Row, loaded: &Loaded) {
        in_registers!(r, row, loaded, sum_some);
    }

    #[inline(always)]
    unsafe fn pick_rows(
        rows: *const u8,
        bytes: &[u32; 32],
        more: u32,
        r: View,
        registers: &[u32],
        half: usize,
    ) {
        // SAFETY: the level's CPU has AVX-512; `bytes` and each register are 128 bytes; the caller guarantees the rows.
        unsafe {
            let row = |number| _mm512_loadu_si512(rows.cast::<__m512i>().add(number));
            let rows = [row(0), row(1), row(2), row(3)];
            let bytes = _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>().add(half));
            let more = _mm512_set1_epi32(more as i32);
            let mut index = _mm512_srli_epi32::<2>(_mm512_add_epi32(bytes, more));
            for &register in registers {
                // A permutation of two rows uses five bits of the index. The sixth bit selects the two rows.
                let low = _mm512_permutex2var_epi32(rows[0], index, rows[1]);
                let high = _mm512_permutex2var_epi32(rows[2], index, rows[3]);
                let is_high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
                let picked = _mm512_mask_blend_epi32(is_high, low, high);
                _mm512_storeu_si512(
                    r.v32_mut(register).as_mut_ptr().cast::<__m512i>().add(half),
                    picked,
                );
                index = _mm512_add_epi32(index, _mm512_set1_epi32(1));
            }
        }
    }

    #[inline(always)]
    unsafe fn first_lanes(from: *const u8, lanes: u32, out: &mut [u32; 32]) {
        // SAFETY: the level's CPU has AVX-512; half of 128 bytes; the caller guarantees the words.
        unsafe {
            let words = match lanes {
                1 => _mm512_zextsi128_si512(_mm_cvtsi32_si128(from.cast::<i32>().read_unaligned())),
                2 => _mm512_zextsi128_si512(_mm_loadl_epi64(from.cast())),
                4 => _mm512_zextsi128_si512(_mm_loadu_si128(from.cast())),
                8 => _mm512_zextsi256_si512(_mm256_loadu_si256(from.cast())),
                _ => _mm512_loadu_si512(from.cast()),
            };
            _mm512_storeu_si512(out.as_mut_ptr().cast(), words);
        }
    }
}
