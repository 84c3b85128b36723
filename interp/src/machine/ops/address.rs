//! Computes the addresses of an access's lanes from the form of its site, and properties of all of them together.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::isa::bytecode::{Form, Inst, MemSite};
use crate::isa::registers::View;
use crate::machine::vectors::Vectors;
use crate::memory::layout;

/// The 64-bit addresses of all lanes.
#[inline(always)]
pub(crate) fn addresses(r: View, i: &Inst, site: &MemSite) -> [u64; 32] {
    let mut out = [0; 32];
    let (scale, offset) = (site.address.scale, site.address.offset);
    match site.address.form {
        Form::Uniform => out = [r.s(i.a).wrapping_add_signed(offset); 32],
        Form::Varying => {
            let a = r.v64(i.a);
            for l in 0..32 {
                out[l] = a[l].wrapping_add_signed(offset);
            }
        }
        Form::UniformIndexed => {
            let (a, b) = (r.s(i.a).wrapping_add_signed(offset), r.v32(i.b));
            let more = r.s(site.address.term) as u32;
            if site.address.unsigned {
                for l in 0..32 {
                    let index = b[l].wrapping_add(more);
                    out[l] = a.wrapping_add((index as u64).wrapping_mul(scale as u64));
                }
            } else {
                for l in 0..32 {
                    let index = b[l].wrapping_add(more);
                    out[l] = a.wrapping_add_signed((index as i32 as i64).wrapping_mul(scale));
                }
            }
        }
        Form::VaryingIndexed => {
            let (a, b) = (r.v64(i.a), r.v32(i.b));
            for l in 0..32 {
                let index = if site.address.unsigned {
                    b[l] as i64
                } else {
                    b[l] as i32 as i64
                };
                out[l] = a[l]
                    .wrapping_add_signed(index.wrapping_mul(scale))
                    .wrapping_add_signed(offset);
            }
        }
    }
    out
}

/// The offsets of all lanes from `base`, modulo 2^32, for 32-bit pointers.
#[inline(always)]
pub(crate) fn offsets(r: View, i: &Inst, site: &MemSite, base: u32) -> [u32; 32] {
    let mut out = [0; 32];
    let (scale, offset) = (
        site.address.scale as u32,
        (site.address.offset as u32).wrapping_sub(base),
    );
    let offset = offset
        .wrapping_add((r.s(site.address.term) as u32).wrapping_mul(site.address.term_scale as u32));
    match site.address.form {
        Form::Uniform => out = [(r.s(i.a) as u32).wrapping_add(offset); 32],
        Form::Varying => {
            let a = r.v32(i.a);
            for l in 0..32 {
                out[l] = a[l].wrapping_add(offset);
            }
        }
        Form::UniformIndexed => {
            let (a, b) = ((r.s(i.a) as u32).wrapping_add(offset), r.v32(i.b));
            for l in 0..32 {
                out[l] = a.wrapping_add(b[l].wrapping_mul(scale));
            }
        }
        Form::VaryingIndexed => {
            let (a, b) = (r.v32(i.a), r.v32(i.b));
            for l in 0..32 {
                out[l] = a[l]
                    .wrapping_add(b[l].wrapping_mul(scale))
                    .wrapping_add(offset);
            }
        }
    }
    out
}

/// The offset of the first byte and the end of the last byte that active lanes touch, and the `or` of their offsets.
#[inline(always)]
pub(crate) fn extent32(offsets: &[u32; 32], mask: u32) -> (u32, u32, u32) {
    let (mut low, mut high, mut all) = (u32::MAX, 0, 0);
    for l in 0..32 {
        let active = 0u32.wrapping_sub(mask >> l & 1);
        low = low.min(offsets[l] | !active);
        high = high.max(offsets[l] & active);
        all |= offsets[l] & active;
    }
    (low, high, all)
}

/// The lanes whose addresses are in the shared window, in the local window, and in neither.
#[inline(always)]
pub(crate) fn windows(addresses: &[u64; 32], mask: u32) -> (u32, u32, u32) {
    let (mut shared, mut local) = (0, 0);
    for l in 0..32 {
        shared |= u32::from(layout::area(addresses[l]) == layout::area(layout::SHARED)) << l;
        local |= u32::from(layout::area(addresses[l]) == layout::area(layout::LOCAL)) << l;
    }
    (mask & shared, mask & local, mask & !shared & !local)
}

/// Generic addresses as offsets in a window.
#[inline(always)]
pub(crate) fn narrowed(addresses: &[u64; 32], base: u32) -> [u32; 32] {
    addresses.map(|address| (address as u32).wrapping_sub(base))
}

/// Whether the innermost subscript of a multi-dimensional array is in bounds in all lanes, including inactive ones.
#[inline(always)]
pub(crate) fn is_within<V: Vectors>(r: View, site: &MemSite) -> bool {
    let Some(subscript) = &site.subscript else {
        return true;
    };
    let uniform = subscript.uniform.map_or(0, |register| r.s(register) as u32);
    match subscript.varying {
        _ if subscript.is_long => false,
        None => uniform < subscript.len,
        Some(register) => V::all_below(r.v32(register), uniform, subscript.len),
    }
}
