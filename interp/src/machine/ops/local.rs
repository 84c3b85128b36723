//! Loads and stores of thread-local memory, which lies interleaved: word `w` of lane `l` at `(w * 32 + l) * 4`, so that the
//! lanes' copies of one variable are side by side.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::rules::affine::stride32;
use dsl::ir::{MemType, Space};

use super::address::offsets;
use super::element::{lane_value, read, set_lane};
use super::fault::Done;
use super::shared::check_window;
use crate::isa::bytecode::{Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::memory::layout::LOCAL_BASE;
use crate::observe::{Access, Observer};

/// Where a byte of a lane's memory lies in the warp's.
#[inline(always)]
pub(crate) fn local_index(offset: u32, lane: usize) -> usize {
    (offset as usize / 4) * 128 + lane * 4 + offset as usize % 4
}

/// An element of a lane's memory.
pub(crate) fn local_read(local: &[u8], ty: MemType, offset: u32, lane: usize) -> u64 {
    let mut bytes = [0; 8];
    for (k, byte) in bytes[..ty.bytes() as usize].iter_mut().enumerate() {
        *byte = local[local_index(offset + k as u32, lane)];
    }
    // SAFETY: eight bytes of an array, at least as many as the element has.
    unsafe { read(ty, bytes.as_ptr()) }
}

/// Writes an element; gives whether memory is different now.
pub(crate) fn local_write(
    local: &mut [u8],
    ty: MemType,
    offset: u32,
    lane: usize,
    bits: u64,
) -> bool {
    let mut changed = false;
    for (k, &byte) in bits.to_le_bytes()[..ty.bytes() as usize].iter().enumerate() {
        let at = &mut local[local_index(offset + k as u32, lane)];
        changed |= *at != byte;
        *at = byte;
    }
    changed
}

#[inline(always)]
pub(crate) fn load_local<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &[u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_in(machine, r, site, site.counter, mask, &offsets, local)
}

pub(crate) fn local_in<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
    local: &[u8],
) -> Done {
    check_window(
        machine,
        site,
        Space::Local,
        mask,
        offsets,
        local.len() as u64 / 32,
    )?;
    let access = Access {
        site,
        counter,
        space: Space::Local,
        mask,
        r,
        memory: machine.shared.as_ptr(),
    };
    machine.observer.window(&access, offsets);
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        let within = k as u32 * ty.bytes();
        if ty.bytes() == 4 && stride32(offsets) == Some(0) {
            let row = local_index(offsets[0] + within, 0);
            for (d, bytes) in r
                .v32_mut(register)
                .iter_mut()
                .zip(local[row..row + 128].chunks_exact(4))
            {
                *d = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            continue;
        }
        for lane in LaneMask(mask) {
            set_lane(
                r,
                ty,
                register,
                lane,
                local_read(local, ty, offsets[lane] + within, lane),
            );
        }
    }
    Ok(())
}

#[inline(always)]
pub(crate) fn store_local<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_out(machine, r, site, site.counter, mask, &offsets, local)
}

pub(crate) fn local_out<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
    local: &mut [u8],
) -> Done {
    check_window(
        machine,
        site,
        Space::Local,
        mask,
        offsets,
        local.len() as u64 / 32,
    )?;
    let access = Access {
        site,
        counter,
        space: Space::Local,
        mask,
        r,
        memory: machine.shared.as_ptr(),
    };
    machine.observer.window(&access, offsets);
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        for lane in LaneMask(mask) {
            let bits = lane_value(r, ty, register, lane);
            // A thread's own memory is part of its state, not of what others can change.
            local_write(local, ty, offsets[lane] + k as u32 * ty.bytes(), lane, bits);
        }
    }
    Ok(())
}
