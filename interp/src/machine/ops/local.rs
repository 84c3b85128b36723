//! Loads and stores of thread-local memory. It is interleaved: word `w` of lane `l` is at `(w * 32 + l) * 4`, so that
//! the lanes' copies of one variable are adjacent.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use crate::rules::affine::stride32;
use ir::{MemType, Space};

use super::address::offsets;
use super::element::{lane_value, read, set_lane};
use super::fault::Done;
use super::shared::{count, is_inside, window_shift};
use crate::isa::bytecode::{Form, Inst, MemSite};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::memory::layout::LOCAL_BASE;
use crate::observe::Observer;

/// The offset of a byte of a lane's memory in the warp's memory.
#[inline(always)]
pub(crate) fn local_index(offset: u32, lane: usize) -> usize {
    (offset as usize / 4) * 128 + lane * 4 + offset as usize % 4
}

/// Whether an access is to one element in each lane's copy of a variable, with a size of 4 bytes or a multiple: rows of
/// the warp's memory.
#[inline(always)]
fn lies_in_rows(site: &MemSite, offsets: &[u32; 32]) -> bool {
    let words = matches!(site.access.ty, MemType::I32 | MemType::F32) && !site.uniform_values;
    words && stride32(offsets) == Some(0)
}

/// The registers of the components.
#[inline(always)]
fn values(site: &MemSite) -> &[u32] {
    &site.values[..site.access.count as usize]
}

/// The start of the first component's row, for a valid access to rows at a scalar offset that no check has to see. Most
/// loops over an array of a thread make such accesses.
#[inline(always)]
fn row<O: Observer>(
    machine: &Machine<'_, O>,
    r: View,
    i: &Inst,
    site: &MemSite,
    local: &[u8],
) -> Option<usize> {
    let words = matches!(site.access.ty, MemType::I32 | MemType::F32) && !site.uniform_values;
    if O::SEES_REPEATS || site.address.form != Form::Uniform || !words {
        return None;
    }
    let term = (r.s(site.address.term) as u32).wrapping_mul(site.address.term_scale as u32);
    let offset = (r.s(i.a) as u32)
        .wrapping_add((site.address.offset as u32).wrapping_sub(LOCAL_BASE))
        .wrapping_add(term);
    let (shift, size) = (window_shift(machine, Space::Local), local.len() as u64 / 32);
    is_inside(site, shift, offset, size).then(|| local_index(offset, 0))
}

/// Reads an element of a lane's memory.
pub(crate) fn local_read(local: &[u8], ty: MemType, offset: u32, lane: usize) -> u64 {
    let mut bytes = [0; 8];
    for (k, byte) in bytes[..ty.bytes() as usize].iter_mut().enumerate() {
        *byte = local[local_index(offset + k as u32, lane)];
    }
    // SAFETY: eight bytes of an array, at least as many as the element has.
    unsafe { read(ty, bytes.as_ptr()) }
}

/// Writes an element. Returns whether memory changed.
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
    if let Some(row) = row(machine, r, i, site, local) {
        for (rows, &register) in local[row..].chunks_exact(128).zip(values(site)) {
            for (d, word) in r.v32_mut(register).iter_mut().zip(rows.chunks_exact(4)) {
                *d = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            }
        }
        machine.patterns[i.c as usize].hits.count_apart(mask);
        return Ok(());
    }
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_in(machine, r, (site, site.counter), mask, &offsets, local)
}

pub(crate) fn local_in<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    at: (&MemSite, u32),
    mask: u32,
    offsets: &[u32; 32],
    local: &[u8],
) -> Done {
    let size = local.len() as u64 / 32;
    count(machine, r, at, Space::Local, mask, (offsets, size))?;
    let site = at.0;
    let ty = site.access.ty;
    let in_rows = lies_in_rows(site, offsets);
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        let within = k as u32 * ty.bytes();
        if in_rows {
            let row = local_index(offsets[0] + within, 0);
            let words = local[row..row + 128].chunks_exact(4);
            for (d, bytes) in r.v32_mut(register).iter_mut().zip(words) {
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
    if let (Some(row), u32::MAX) = (row(machine, r, i, site, local), mask) {
        for (rows, &register) in local[row..].chunks_exact_mut(128).zip(values(site)) {
            for (word, bits) in rows.chunks_exact_mut(4).zip(r.v32(register)) {
                word.copy_from_slice(&bits.to_le_bytes());
            }
        }
        machine.patterns[i.c as usize].hits.count_apart(mask);
        return Ok(());
    }
    let offsets = offsets(r, i, site, LOCAL_BASE);
    local_out(machine, r, (site, site.counter), mask, &offsets, local)
}

pub(crate) fn local_out<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    at: (&MemSite, u32),
    mask: u32,
    offsets: &[u32; 32],
    local: &mut [u8],
) -> Done {
    let size = local.len() as u64 / 32;
    count(machine, r, at, Space::Local, mask, (offsets, size))?;
    let site = at.0;
    let ty = site.access.ty;
    let in_rows = lies_in_rows(site, offsets);
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        if in_rows {
            let row = local_index(offsets[0] + k as u32 * 4, 0);
            let words = local[row..row + 128].chunks_exact_mut(4);
            for (lane, (word, bits)) in words.zip(r.v32(register)).enumerate() {
                if mask == u32::MAX || mask >> lane & 1 != 0 {
                    word.copy_from_slice(&bits.to_le_bytes());
                }
            }
            continue;
        }
        for lane in LaneMask(mask) {
            let bits = lane_value(r, ty, register, lane);
            // A thread's local memory is part of its state, not of what others can change.
            local_write(local, ty, offsets[lane] + k as u32 * ty.bytes(), lane, bits);
        }
    }
    Ok(())
}
