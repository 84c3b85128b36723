//! AVX2 with FMA: a register of the machine is four CPU registers.
#![allow(
    clippy::inline_always,
    reason = "these are compiled with the features of the engine that calls them"
)]

use std::arch::x86_64::{
    __m128i, __m256i, _CMP_UNORD_Q, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_loadu_si128,
    _mm256_add_epi32, _mm256_blendv_ps, _mm256_castsi256_ps, _mm256_cmp_ps, _mm256_cmpeq_epi32,
    _mm256_fmadd_ps, _mm256_i32gather_epi32, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_loadu2_m128i, _mm256_max_epu32, _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_storeu_ps, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_testz_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256, _mm256_zextsi128_si256,
};

use super::{Loaded, Vectors, in_registers};
use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::isa::rounds::Row;
use crate::machine::ops::float;

pub(crate) struct Avx2;

/// [`Vectors::sum_row`] for `N` sums, a quarter of which stay in CPU registers.
#[inline(always)]
fn sum_some<const N: usize>(r: View, factor: u32, sums: &[(u32, u32); N], loaded: &Loaded) {
    // SAFETY: the level's CPU has AVX2 and FMA; registers have 128 bytes.
    unsafe {
        let nan = _mm256_castsi256_ps(_mm256_set1_epi32(float::NAN_F32 as i32));
        for part in 0..4 {
            let mut some = [_mm256_setzero_ps(); N];
            for number in 0..N {
                let from = r.v32(sums[number].0).as_ptr().add(8 * part);
                some[number] = _mm256_loadu_ps(from.cast());
            }
            let one = loaded.first(factor).cast::<f32>().add(8 * part);
            let mut others = [one; N];
            for number in 0..N {
                others[number] = loaded.first(sums[number].1).cast::<f32>().add(8 * part);
            }
            let mut at = 0;
            for _ in 0..loaded.rounds {
                let one = _mm256_loadu_ps(one.wrapping_add(at));
                for number in 0..N {
                    let other = _mm256_loadu_ps(others[number].wrapping_add(at));
                    some[number] = _mm256_fmadd_ps(one, other, some[number]);
                }
                at += loaded.lanes_between();
            }
            // A sum that is a NaN stays one, so its bits can be normalised after the last round.
            for number in 0..N {
                let to = r.v32_mut(sums[number].0).as_mut_ptr().add(8 * part);
                let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(some[number], some[number]);
                _mm256_storeu_ps(to.cast(), _mm256_blendv_ps(some[number], nan, is_nan));
            }
        }
    }
}

impl Vectors for Avx2 {
    #[inline(always)]
    fn mask_of(holds: &[u32; 32]) -> u32 {
        let mut mask = 0;
        for part in 0..4 {
            // SAFETY: the level's CPU has AVX; a quarter of 128 bytes.
            let bits =
                unsafe { _mm256_movemask_ps(_mm256_loadu_ps(holds.as_ptr().add(8 * part).cast())) };
            mask |= (bits as u32) << (8 * part);
        }
        mask
    }

    #[inline(always)]
    fn alike(values: &[u32; 32], deltas: &[u32; 32]) -> bool {
        // SAFETY: the level's CPU has AVX2; quarters of 128 bytes.
        unsafe {
            let first = _mm256_set1_epi32(values[0] as i32);
            let mut differs = _mm256_setzero_si256();
            for part in 0..4 {
                let values = _mm256_loadu_si256(values.as_ptr().cast::<__m256i>().add(part));
                let deltas = _mm256_loadu_si256(deltas.as_ptr().cast::<__m256i>().add(part));
                let differ = _mm256_xor_si256(_mm256_sub_epi32(values, first), deltas);
                differs = _mm256_or_si256(differs, differ);
            }
            _mm256_testz_si256(differs, differs) == 1
        }
    }

    #[inline(always)]
    fn all_below(values: &[u32; 32], add: u32, limit: u32) -> bool {
        // SAFETY: the level's CPU has AVX2; quarters of 128 bytes.
        unsafe {
            let (add, limit) = (
                _mm256_set1_epi32(add as i32),
                _mm256_set1_epi32(limit as i32),
            );
            let mut beyond = _mm256_setzero_si256();
            for part in 0..4 {
                let values = _mm256_loadu_si256(values.as_ptr().cast::<__m256i>().add(part));
                let values = _mm256_add_epi32(values, add);
                // AVX2 has no unsigned comparison: the value is not below the limit if it is the maximum of both.
                let is_beyond = _mm256_cmpeq_epi32(_mm256_max_epu32(values, limit), values);
                beyond = _mm256_or_si256(beyond, is_beyond);
            }
            _mm256_testz_si256(beyond, beyond) == 1
        }
    }

    #[inline(always)]
    unsafe fn collect(from: *const u8, bytes: &[u32; 32], out: &mut [u32; 32]) {
        // SAFETY: the level's CPU has AVX2; quarters of 128 bytes; the caller guarantees each lane.
        unsafe {
            for part in 0..4 {
                let bytes = _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>().add(part));
                let words = _mm256_i32gather_epi32::<1>(from.cast(), bytes);
                _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>().add(part), words);
            }
        }
    }

    /// On some AMD CPUs a gather costs as much as its loads one by one, so each lane has a load here.
    #[inline(always)]
    unsafe fn collect_fours(from: *const u8, bytes: &[u32; 32], r: View, registers: &[u32; 4]) {
        let out = registers.map(|register| r.v32_mut(register).as_mut_ptr());
        // SAFETY: the level's CPU has AVX2; quarters of 128 bytes; the caller guarantees each lane.
        unsafe {
            for part in 0..4 {
                // The words of four lanes, and of the four lanes after them.
                let mut lanes = [_mm256_setzero_si256(); 4];
                for lane in 0..4 {
                    let [low, high] = [0, 4].map(|behind| {
                        let at = from.add(bytes[8 * part + behind + lane] as usize);
                        at.cast::<__m128i>()
                    });
                    lanes[lane] = _mm256_loadu2_m128i(high, low);
                }
                let [a, b, c, d] = lanes;
                let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
                let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
                let words = [
                    _mm256_unpacklo_epi64(ab, cd),
                    _mm256_unpackhi_epi64(ab, cd),
                    _mm256_unpacklo_epi64(ab_high, cd_high),
                    _mm256_unpackhi_epi64(ab_high, cd_high),
                ];
                for k in 0..4 {
                    _mm256_storeu_si256(out[k].add(8 * part).cast(), words[k]);
                }
            }
        }
    }

    #[inline(always)]
    fn fma_into32(r: View, i: &Inst) {
        let (a, b, d) = (
            r.v32(i.a).as_ptr(),
            r.v32(i.b).as_ptr(),
            r.v32_mut(i.d).as_mut_ptr(),
        );
        // SAFETY: the level's CPU has AVX2 and FMA; quarters of 128 bytes.
        unsafe {
            let nan = _mm256_castsi256_ps(_mm256_set1_epi32(float::NAN_F32 as i32));
            for part in 0..4 {
                let load = |from: *const u32| _mm256_loadu_ps(from.add(8 * part).cast());
                let sums = _mm256_fmadd_ps(load(a), load(b), load(d));
                let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(sums, sums);
                _mm256_storeu_ps(d.add(8 * part).cast(), _mm256_blendv_ps(sums, nan, is_nan));
            }
        }
    }

    #[inline(always)]
    fn sum_row(r: View, row: &Row, loaded: &Loaded) {
        in_registers!(r, row, loaded, sum_some);
    }

    #[inline(always)]
    unsafe fn first_lanes(from: *const u8, lanes: u32, out: &mut [u32; 32]) {
        let out = out.as_mut_ptr().cast::<__m256i>();
        // SAFETY: the level's CPU has AVX2; quarters of 128 bytes; the caller guarantees the words.
        unsafe {
            let words = match lanes {
                1 => _mm256_zextsi128_si256(_mm_cvtsi32_si128(from.cast::<i32>().read_unaligned())),
                2 => _mm256_zextsi128_si256(_mm_loadl_epi64(from.cast())),
                4 => _mm256_zextsi128_si256(_mm_loadu_si128(from.cast())),
                _ => _mm256_loadu_si256(from.cast()),
            };
            _mm256_storeu_si256(out, words);
            if lanes == 16 {
                _mm256_storeu_si256(
                    out.add(1),
                    _mm256_loadu_si256(from.cast::<__m256i>().add(1)),
                );
            }
        }
    }
}
