//! Applies lane functions to 32 lanes, or to one scalar.
//!
//! The loops have no branches and a fixed length, so the compiler turns each into a few vector instructions.
//!
//! In optimised builds (`each_loop_whole`, which `build.rs` sets) the loops are inlined into the engine, and so
//! compiled for each level with its CPU features. In development builds they are compiled once, without those features,
//! and every level calls that copy: compiling the crate takes a third less time.

#![allow(
    clippy::inline_always,
    reason = "the loops must be compiled with the engine's CPU features"
)]

use ir::bfloat16;

use crate::isa::bytecode::{Inst, PtrScale};
use crate::isa::registers::View;
use crate::machine::vectors::Vectors;

/// All ones if the lane is in the mask. Written so that the compiler tests all lanes at once and blends without branches.
#[inline(always)]
fn in_mask(mask: u32, lane: usize) -> i64 {
    -i64::from(mask & 1 << lane != 0)
}

macro_rules! spread {
    ($unary:ident $binary:ident $fma:ident $into:ident $compare:ident $compare_scalar:ident $blend:ident $select:ident $splat:ident $move:ident
     $get:ident $get_mut:ident $ty:ty) => {
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $unary(r: View, i: &Inst, f: impl Fn($ty) -> $ty) {
            let (a, d) = (r.$get(i.a), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = f(a[l]);
            }
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $binary(r: View, i: &Inst, f: impl Fn($ty, $ty) -> $ty) {
            let (a, b, d) = (r.$get(i.a), r.$get(i.b), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = f(a[l], b[l]);
            }
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $fma(r: View, i: &Inst, f: impl Fn($ty, $ty, $ty) -> $ty) {
            let (a, b, c, d) = (r.$get(i.a), r.$get(i.b), r.$get(i.c), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = f(a[l], b[l], c[l]);
            }
        }
        /// `d = f(a, b, d)`.
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $into(r: View, i: &Inst, f: impl Fn($ty, $ty, $ty) -> $ty) {
            let (a, b, d) = (r.$get(i.a), r.$get(i.b), r.$get_mut(i.d));
            // All lanes first; otherwise each run would test whether `d` overlaps `a` or `b`.
            let mut sums = [0; 32];
            for l in 0..32 {
                sums[l] = f(a[l], b[l], d[l]);
            }
            *d = sums;
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $compare<V: Vectors>(r: View, i: &Inst, f: impl Fn($ty, $ty) -> bool) {
            let (a, b) = (r.$get(i.a), r.$get(i.b));
            let mut holds = [0u32; 32];
            for l in 0..32 {
                holds[l] = 0u32.wrapping_sub(u32::from(f(a[l], b[l])));
            }
            r.set_s(i.d, u64::from(V::mask_of(&holds)));
        }
        /// `b` is a scalar.
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $compare_scalar<V: Vectors>(r: View, i: &Inst, f: impl Fn($ty, $ty) -> bool) {
            let (a, b) = (r.$get(i.a), r.s(i.b) as $ty);
            let mut holds = [0u32; 32];
            for l in 0..32 {
                holds[l] = 0u32.wrapping_sub(u32::from(f(a[l], b)));
            }
            r.set_s(i.d, u64::from(V::mask_of(&holds)));
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $blend(r: View, i: &Inst, mask: u32) {
            let (a, d) = (r.$get(i.a), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = d[l] ^ (a[l] ^ d[l]) & in_mask(mask, l) as $ty;
            }
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $select(r: View, i: &Inst) {
            let (mask, b, c, d) = (r.mask(i.a), r.$get(i.b), r.$get(i.c), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = c[l] ^ (b[l] ^ c[l]) & in_mask(mask, l) as $ty;
            }
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $splat(r: View, i: &Inst) {
            *r.$get_mut(i.d) = [r.s(i.a) as $ty; 32];
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $move(r: View, i: &Inst) {
            *r.$get_mut(i.d) = *r.$get(i.a);
        }
    };
}

spread!(unary32 binary32 fma32 fma_into32 compare32 compare_scalar32 blend32 select32 splat32 move32 v32 v32_mut u32);
spread!(unary64 binary64 fma64 fma_into64 compare64 compare_scalar64 blend64 select64 splat64 move64 v64 v64_mut u64);

/// For the two bfloat16 in each word. Computes in `f32` unless a lane's product is not representable there.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn fma_bfloats(r: View, i: &Inst) {
    let (a, b) = (r.v32(i.a), r.v32(i.b));
    let mut fits = true;
    for l in 0..32 {
        fits &= bfloat16::fits_f32(a[l], b[l]);
    }
    if fits {
        fma32(r, i, bfloat16::fma2_in_f32);
    } else {
        fma32(r, i, bfloat16::fma2);
    }
}

macro_rules! conversions {
    ($($name:ident $scalar:ident $get:ident $from:ty, $get_mut:ident $to:ty;)*) => { $(
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $name(r: View, i: &Inst, f: impl Fn($from) -> $to) {
            let (a, d) = (r.$get(i.a), r.$get_mut(i.d));
            for l in 0..32 {
                d[l] = f(a[l]);
            }
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $scalar(r: View, i: &Inst, f: impl Fn($from) -> $to) {
            r.set_s(i.d, f(r.s(i.a) as $from) as u64);
        }
    )* };
}

conversions! {
    convert32to32 s_convert32to32 v32 u32, v32_mut u32;
    convert32to64 s_convert32to64 v32 u32, v64_mut u64;
    convert64to32 s_convert64to32 v64 u64, v32_mut u32;
    convert64to64 s_convert64to64 v64 u64, v64_mut u64;
}

macro_rules! scalars {
    ($unary:ident $binary:ident $fma:ident $compare:ident $ty:ty) => {
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $unary(r: View, i: &Inst, f: impl Fn($ty) -> $ty) {
            r.set_s(i.d, f(r.s(i.a) as $ty) as u64);
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $binary(r: View, i: &Inst, f: impl Fn($ty, $ty) -> $ty) {
            r.set_s(i.d, f(r.s(i.a) as $ty, r.s(i.b) as $ty) as u64);
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $fma(r: View, i: &Inst, f: impl Fn($ty, $ty, $ty) -> $ty) {
            r.set_s(
                i.d,
                f(r.s(i.a) as $ty, r.s(i.b) as $ty, r.s(i.c) as $ty) as u64,
            );
        }
        #[cfg_attr(each_loop_whole, inline(always))]
        pub(crate) fn $compare(r: View, i: &Inst, f: impl Fn($ty, $ty) -> bool) {
            let mask = 0u32.wrapping_sub(u32::from(f(r.s(i.a) as $ty, r.s(i.b) as $ty)));
            r.set_s(i.d, u64::from(mask));
        }
    };
}

scalars!(s_unary32 s_binary32 s_fma32 s_compare32 u32);
scalars!(s_unary64 s_binary64 s_fma64 s_compare64 u64);

/// Whether a comparison of two scalars holds.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn s_holds(r: View, i: &Inst, f: impl Fn(u32, u32) -> bool) -> bool {
    f(r.s(i.a) as u32, r.s(i.c) as u32)
}

/// `S[d] = S[a] + S[c]`, 32 bits: the step of a loop.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn s_step(r: View, i: &Inst) {
    let sum = (r.s(i.a) as u32).wrapping_add(r.s(i.c) as u32);
    r.set_s(i.d, u64::from(sum));
}

#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn mask_blend(r: View, i: &Inst, mask: u32) {
    r.set_s(i.d, u64::from(r.mask(i.a) & mask | r.mask(i.d) & !mask));
}

#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_bool(r: View, i: &Inst) {
    let (mask, d) = (r.mask(i.a), r.v32_mut(i.d));
    for (l, d) in d.iter_mut().enumerate() {
        *d = in_mask(mask, l) as u32 & 1;
    }
}

/// `base + index * scale + offset` in 64 bits, scalar.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn s_ptr(r: View, i: &Inst, scales: &[PtrScale], extend: impl Fn(u64) -> i64) {
    let row = scales[i.c as usize];
    r.set_s(i.d, pointer(r.s(i.a), extend(r.s(i.b)), row));
}

/// The same in 32 bits.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn s_ptr32(r: View, i: &Inst, scales: &[PtrScale]) {
    let row = scales[i.c as usize];
    r.set_s(
        i.d,
        u64::from(pointer(r.s(i.a), r.s(i.b) as i64, row) as u32),
    );
}

#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn pointer(base: u64, index: i64, row: PtrScale) -> u64 {
    base.wrapping_add_signed(index.wrapping_mul(row.scale))
        .wrapping_add_signed(row.offset)
}

/// Varying base, 32-bit index.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_ptr(r: View, i: &Inst, scales: &[PtrScale], extend: impl Fn(u32) -> i64) {
    let (row, a, b, d) = (scales[i.c as usize], r.v64(i.a), r.v32(i.b), r.v64_mut(i.d));
    for l in 0..32 {
        d[l] = pointer(a[l], extend(b[l]), row);
    }
}

/// Varying base, 64-bit index.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_ptr_long(r: View, i: &Inst, scales: &[PtrScale]) {
    let (row, a, b, d) = (scales[i.c as usize], r.v64(i.a), r.v64(i.b), r.v64_mut(i.d));
    for l in 0..32 {
        d[l] = pointer(a[l], b[l] as i64, row);
    }
}

/// Scalar base, 32-bit index.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_ptr_base(r: View, i: &Inst, scales: &[PtrScale], extend: impl Fn(u32) -> i64) {
    let (row, a, b, d) = (scales[i.c as usize], r.s(i.a), r.v32(i.b), r.v64_mut(i.d));
    for l in 0..32 {
        d[l] = pointer(a, extend(b[l]), row);
    }
}

/// 32-bit pointers, varying base.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_ptr32(r: View, i: &Inst, scales: &[PtrScale]) {
    let (row, a, b, d) = (scales[i.c as usize], r.v32(i.a), r.v32(i.b), r.v32_mut(i.d));
    let (scale, offset) = (row.scale as u32, row.offset as u32);
    for l in 0..32 {
        d[l] = a[l]
            .wrapping_add(b[l].wrapping_mul(scale))
            .wrapping_add(offset);
    }
}

/// 32-bit pointers, scalar base.
#[cfg_attr(each_loop_whole, inline(always))]
pub(crate) fn v_ptr32_base(r: View, i: &Inst, scales: &[PtrScale]) {
    let (row, b, d) = (scales[i.c as usize], r.v32(i.b), r.v32_mut(i.d));
    let (scale, base) = (
        row.scale as u32,
        (r.s(i.a) as u32).wrapping_add(row.offset as u32),
    );
    for l in 0..32 {
        d[l] = base.wrapping_add(b[l].wrapping_mul(scale));
    }
}
