//! Loads and stores through generic pointers, whose space is known only at run time: each lane goes where its address
//! says.

use super::address::{addresses, narrowed, windows};
use super::fault::Done;
use super::global::{global_in, global_out};
use super::local::{local_in, local_out};
use super::shared::{shared_in, shared_out};
use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;

#[inline(never)]
pub(crate) fn load_generic<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &[u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (in_shared, in_local, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        global_in(machine, r, site, i.c as usize, elsewhere, &addresses)?;
    }
    if in_shared != 0 {
        shared_in(
            machine,
            r,
            site,
            site.counter + 1,
            in_shared,
            &narrowed(&addresses, SHARED_BASE),
        )?;
    }
    if in_local != 0 {
        local_in(
            machine,
            r,
            site,
            site.counter + 2,
            in_local,
            &narrowed(&addresses, LOCAL_BASE),
            local,
        )?;
    }
    Ok(())
}

#[inline(never)]
pub(crate) fn store_generic<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (in_shared, in_local, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        global_out(machine, r, site, i.c as usize, elsewhere, &addresses)?;
    }
    if in_shared != 0 {
        shared_out(
            machine,
            r,
            site,
            site.counter + 1,
            in_shared,
            &narrowed(&addresses, SHARED_BASE),
        )?;
    }
    if in_local != 0 {
        local_out(
            machine,
            r,
            site,
            site.counter + 2,
            in_local,
            &narrowed(&addresses, LOCAL_BASE),
            local,
        )?;
    }
    Ok(())
}
