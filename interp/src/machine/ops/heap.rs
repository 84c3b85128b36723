//! `malloc` and `free` in kernels.

use ir::{LocId, Module};

use super::fault::Done;
use crate::fault::trap::TrapKind;
use crate::isa::bytecode::Inst;
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::{Fault, Machine};
use crate::observe::Observer;

/// The place where the program calls a library function: `new` is a function of the library.
fn place(module: &Module, at: LocId) -> LocId {
    let mut place = at;
    loop {
        let loc = module.loc(place);
        let file = module.files.get(loc.file as usize);
        match loc.via {
            Some(via) if file.is_some_and(|name| name.starts_with('<')) => place = via,
            _ => return place,
        }
    }
}

/// Allocates memory for each active lane, in ascending order; the result is null if none is left.
#[inline(never)]
pub(crate) fn malloc<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    at: LocId,
) {
    let at = place(machine.module, at);
    for lane in LaneMask(mask) {
        let bytes = r.v64(i.a)[lane];
        let address = machine.memory.device_heap().malloc(bytes, at);
        if let Some(address) = address {
            machine.observer.allocated(address, bytes);
        }
        r.v64_mut(i.d)[lane] = address.unwrap_or(0);
    }
}

/// Frees memory for each active lane, in ascending order.
#[inline(never)]
pub(crate) fn free<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    at: LocId,
) -> Done {
    let at = place(machine.module, at);
    for lane in LaneMask(mask) {
        let address = r.v64(i.a)[lane];
        if address != 0 && !machine.memory.device_heap().free(address, at) {
            let fault = machine.memory.heap_fault(address);
            return Err(Box::new(Fault {
                kind: TrapKind::InvalidFree(Box::new(fault)),
                lane: lane as u32,
            }));
        }
    }
    Ok(())
}
