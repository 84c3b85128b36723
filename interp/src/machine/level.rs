//! What the engine does differently on each kind of CPU.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "these are compiled with the features of the engine that calls them"
)]

use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::fault::Done;
use crate::machine::ops::{float, lanes};
use crate::observe::Observer;

/// What the loop does differently on each kind of CPU: the accesses, which are functions of their own so that the loop stays small and
/// its state in the CPU's registers, and what the compiler does not find by itself. `slow_` takes any request; `rest_` serves one like
/// its site's pattern whose data does not lie in a common way, so that the others need few registers.
pub(crate) trait Level: Sized {
    /// It pauses a warp that has made as many accesses as it was to.
    const PAUSES: bool = false;
    /// Memory is weak: see [`weak`](crate::machine::weak).
    const WEAK: bool = false;
    /// [`Level::pick_rows`] is faster than [`Level::collect`].
    const PICKS_ROWS: bool = false;
    fn load_shared<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst)
    -> Done;
    fn rest_load_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_load_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn rest_store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn load_global<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst)
    -> Done;
    fn rest_load_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_load_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn rest_store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;

    /// The lanes that are all ones; the others are zero.
    #[inline(always)]
    fn mask_of(holds: &[u32; 32]) -> u32 {
        let mut mask = 0;
        for l in 0..32 {
            mask |= holds[l] & 1 << l;
        }
        mask
    }

    /// Whether all lanes' distances from the first lane are these.
    #[inline(always)]
    fn alike(values: &[u32; 32], deltas: &[u32; 32]) -> bool {
        let mut differs = 0;
        for l in 0..32 {
            differs |= values[l].wrapping_sub(values[0]) ^ deltas[l];
        }
        differs == 0
    }

    /// The same of 64-bit values, the distances being sign-extended.
    #[inline(always)]
    fn alike64(values: &[u64; 32], deltas: &[u32; 32]) -> bool {
        let mut differs = 0;
        for l in 0..32 {
            differs |= values[l].wrapping_sub(values[0]) ^ (deltas[l] as i32 as i64 as u64);
        }
        differs == 0
    }

    /// Asks for the 128 bytes at an address, which may be any: nothing is read.
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
    /// The register is written whole where the CPU can gather. Written lane by lane, the next vector load of it would have to
    /// wait until the CPU has committed those 32 stores, and with them every store before them that missed the cache.
    ///
    /// # Safety
    /// Every `from + bytes[l]` is readable for 4 bytes, and every `bytes[l]` is less than 2^31.
    #[inline(always)]
    unsafe fn collect(from: *const u8, bytes: &[u32; 32], out: &mut [u32; 32]) {
        for l in 0..32 {
            // SAFETY: the caller's.
            out[l] = unsafe { from.add(bytes[l] as usize).cast::<u32>().read_unaligned() };
        }
    }

    /// `out[l] = row[(bytes[l] + more) / 4]`.
    ///
    /// # Safety
    /// `row` is readable; `bytes[l] + more` is below 128.
    #[inline(always)]
    unsafe fn pick(row: *const [u32; 32], bytes: &[u32; 32], more: u32, out: &mut [u32; 32]) {
        for l in 0..32 {
            // SAFETY: the caller's.
            out[l] = unsafe {
                row.cast::<u32>()
                    .add(((bytes[l] + more) / 4) as usize)
                    .read_unaligned()
            };
        }
    }

    /// `V[d] = V[a] * V[b] + V[d]` of `f32`: the inner loop of products. The compiler does not see that `d` is another register than `a`
    /// and `b`, and would go by way of memory.
    #[inline(always)]
    fn fma_into32(r: View, i: &Inst) {
        lanes::fma_into32(r, i, float::fma32);
    }

    /// Of one half-warp's lanes: register `k` = word `(bytes[l] + more) / 4 + k` of the rows.
    ///
    /// # Safety
    /// 256 bytes at `rows` are readable, and all those words are among them.
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
                // SAFETY: the caller's.
                out[l] = unsafe { rows.add(at).cast::<u32>().read_unaligned() };
            }
        }
    }

    /// `out[l]` = the word at `from + 4 * l`, of the first `lanes` lanes: 1, 2, 4, 8 or 16. The others' values are anything.
    ///
    /// A CPU hands a value that it has just stored to a load only if one store has all of the load's bytes; else the load waits until
    /// the store is in the cache. So the loads are no wider than the lanes that are active, and the register is written in pieces as
    /// wide as the ones that the lane functions read.
    ///
    /// # Safety
    /// The first `lanes` words are readable.
    #[inline(always)]
    unsafe fn first_lanes(from: *const u8, lanes: u32, out: &mut [u32; 32]) {
        for l in 0..lanes as usize {
            // SAFETY: the caller's.
            out[l] = unsafe { from.cast::<u32>().add(l).read_unaligned() };
        }
    }
}
