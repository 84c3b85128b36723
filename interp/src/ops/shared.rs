//! Loads and stores of shared memory.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes must vanish into the engine; they index several arrays"
)]

use dsl::ir::Space;

use super::address::{extent32, offsets};
use super::element::{gather, scatter};
use super::fault::{self, Done};
use crate::bytecode::{Inst, MemSite};
use crate::machine::Machine;
use crate::mask::LaneMask;
use crate::memory::layout::SHARED_BASE;
use crate::observer::{Access, Observer};
use crate::registers::View;

/// Whether all active lanes' accesses to a window of `size` bytes are allowed; else the first one that is not.
#[inline(always)]
pub(crate) fn check_window<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    space: Space,
    mask: u32,
    offsets: &[u32; 32],
    size: u64,
) -> Done {
    let (low, high, all) = extent32(offsets, mask);
    let width = site.width_bytes;
    let (start, len) = site.bounds.unwrap_or((0, size));
    let fits =
        u64::from(low) >= start && u64::from(high) + u64::from(width) <= (start + len).min(size);
    if fits && all & (width - 1) == 0 {
        return Ok(());
    }
    let bad = LaneMask(mask).lanes().find(|&l| {
        let (at, end) = (
            u64::from(offsets[l]),
            u64::from(offsets[l]) + u64::from(width),
        );
        at < start || end > (start + len).min(size) || at & u64::from(width - 1) != 0
    });
    match bad {
        Some(lane) => Err(fault::windowed(
            machine,
            site,
            space,
            lane,
            offsets[lane],
            size,
        )),
        None => Ok(()),
    }
}

#[inline(always)]
pub(crate) fn load_shared<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    shared_in(machine, r, site, site.counter, mask, &offsets)
}

#[inline(always)]
pub(crate) fn shared_in<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    check_window(
        machine,
        site,
        Space::Shared,
        mask,
        offsets,
        machine.shared.len() as u64,
    )?;
    let access = Access {
        site,
        counter,
        space: Space::Shared,
        mask,
    };
    machine.observer.window(&access, offsets);
    let base = machine.shared.as_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    unsafe { gather(r, site, mask, |l| base.add(offsets[l] as usize)) };
    Ok(())
}

#[inline(always)]
pub(crate) fn store_shared<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let offsets = offsets(r, i, site, SHARED_BASE);
    shared_out(machine, r, site, site.counter, mask, &offsets)
}

#[inline(always)]
pub(crate) fn shared_out<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    site: &MemSite,
    counter: u32,
    mask: u32,
    offsets: &[u32; 32],
) -> Done {
    check_window(
        machine,
        site,
        Space::Shared,
        mask,
        offsets,
        machine.shared.len() as u64,
    )?;
    let access = Access {
        site,
        counter,
        space: Space::Shared,
        mask,
    };
    machine.observer.window(&access, offsets);
    let base = machine.shared.as_mut_ptr();
    // SAFETY: `check_window` found all active lanes' bytes inside.
    let changed = unsafe { scatter(r, site, mask, |l| base.add(offsets[l] as usize)) };
    machine.changed |= changed;
    Ok(())
}
