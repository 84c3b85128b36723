//! Accesses through generic pointers, whose space is known only at run time: each lane goes where its address
//! says.

use super::address::{addresses, narrowed, windows};
use super::fault::Done;
use super::{atomic, global, local, shared};
use crate::fault::trap::AccessOp::{Atomic, Load, Store};
use crate::isa::bytecode::Inst;
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::memory::layout::{LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;

#[inline(never)]
pub(crate) fn generic<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    thread_local: &mut [u8],
) -> Done {
    let site = &machine.code.sites[i.c as usize];
    let addresses = addresses(r, i, site);
    let (in_shared, in_local, elsewhere) = windows(&addresses, mask);
    if elsewhere != 0 {
        let (row, mask, all) = (i.c as usize, elsewhere, &addresses);
        match site.op {
            Load => global::serve::<false, O>(machine, r, site, row, mask, all).map(drop)?,
            Store => global::serve::<true, O>(machine, r, site, row, mask, all).map(drop)?,
            Atomic => atomic::in_global(machine, r, site, row, mask, all)?,
        }
    }
    if in_shared != 0 {
        let (at, all) = (site.counter + 1, &narrowed(&addresses, SHARED_BASE));
        let mask = in_shared;
        match site.op {
            Load => shared::serve::<false, O>(machine, r, site, at, mask, all).map(drop)?,
            Store => shared::serve::<true, O>(machine, r, site, at, mask, all).map(drop)?,
            Atomic => atomic::in_shared(machine, r, site, at, mask, all)?,
        }
    }
    if in_local != 0 {
        let (at, all) = ((site, site.counter + 2), &narrowed(&addresses, LOCAL_BASE));
        match site.op {
            Load => local::local_in(machine, r, at, in_local, all, thread_local)?,
            Store => local::local_out(machine, r, at, in_local, all, thread_local)?,
            Atomic => atomic::in_local(machine, r, at, in_local, all, thread_local)?,
        }
    }
    Ok(())
}
