//! Makes traps for faulting accesses. This is the slow path that determines the exact error.

use ir::{Object, SharedVar, Space};

use crate::fault::trap::{BadAccess, BadObject, TrapKind};
use crate::isa::bytecode::MemSite;
use crate::machine::{Fault, Machine};
use crate::memory::{AddressKind, layout};
use crate::observe::Observer;

/// The result of a memory operation.
pub(crate) type Done = Result<(), Box<Fault>>;

fn bad_access(site: &MemSite, space: Space, address: u64) -> BadAccess {
    BadAccess {
        op: site.op,
        space,
        address,
        width_bytes: site.width_bytes,
        object: None,
    }
}

fn fault(lane: usize, kind: TrapKind) -> Box<Fault> {
    Box::new(Fault {
        kind,
        lane: lane as u32,
    })
}

/// The array that the source names at a site, as the object of a bad access at `offset` from its start.
fn declared<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    offset_bytes: i64,
) -> Option<BadObject> {
    let function = machine.function;
    let (name, element_bytes, dims, size_bytes) = match site.access.object? {
        Object::Shared(id) => {
            let var = &function.shared[id.index()];
            let dims = if var.dynamic {
                vec![
                    (machine.shared.len() as u64)
                        .saturating_sub(machine.code.memory.dynamic_offset)
                        / var.element_bytes.max(1),
                ]
            } else {
                var.dims.clone()
            };
            (&var.name, var.element_bytes, dims, var.size_bytes)
        }
        Object::Local(id) => {
            let var = &function.locals[id.index()];
            (
                &var.name,
                var.element_bytes,
                var.dims.clone(),
                var.size_bytes,
            )
        }
        Object::Global(id) => {
            let var = &machine.module.globals[id.index()];
            let elements = var.size_bytes / var.element_bytes.max(1);
            let dims = if elements > 1 {
                vec![elements]
            } else {
                Vec::new()
            };
            (&var.name, var.element_bytes, dims, var.size_bytes)
        }
        Object::String(_) => return None,
    };
    Some(BadObject {
        name: name.clone(),
        offset_bytes,
        element_bytes,
        dims,
        size_bytes,
        declared: true,
        pointer: None,
        freed_at: None,
    })
}

/// The shared array that contains an address, if a pointer of another type hides it.
fn shared_at<O: Observer>(
    machine: &Machine<'_, O>,
    space: Space,
    offset: u32,
) -> Option<BadObject> {
    let offset = u64::from(offset);
    let inside = |var: &&SharedVar| {
        space == Space::Shared
            && !var.dynamic
            && (var.offset_bytes..var.offset_bytes + var.size_bytes).contains(&offset)
    };
    let var = machine.function.shared.iter().find(inside)?;
    Some(BadObject {
        name: var.name.clone(),
        offset_bytes: (offset - var.offset_bytes) as i64,
        element_bytes: var.element_bytes,
        dims: var.dims.clone(),
        size_bytes: var.size_bytes,
        declared: true,
        pointer: None,
        freed_at: None,
    })
}

/// The fault of an invalid access to shared or local memory at `offset` in the space (a wrapping 32-bit difference).
#[cold]
pub(crate) fn windowed<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    space: Space,
    lane: usize,
    offset: u32,
    size: u64,
) -> Box<Fault> {
    let (window, base) = match space {
        Space::Local => (layout::LOCAL, layout::LOCAL_BASE),
        _ => (layout::SHARED, layout::SHARED_BASE),
    };
    let pointer = offset.wrapping_add(base);
    let mut access = bad_access(site, space, layout::widen(window, pointer));
    if (pointer as u64) < layout::NULL_PAGE_BYTES {
        access.address = u64::from(pointer);
        return fault(lane, TrapKind::NullPointer(Box::new(access)));
    }
    let shift = super::shared::window_shift(machine, space);
    let (start, len) = super::shared::bounds(site, shift, size);
    let relative = i64::from(offset as i32) - start as i64;
    // An access that begins inside the array and is misaligned is reported as misaligned, even if it reaches beyond the
    // end.
    let begins = (0..len as i64).contains(&relative) && u64::from(offset) < size;
    let inside = relative >= 0
        && relative as u64 + u64::from(site.width_bytes) <= len
        && u64::from(offset) + u64::from(site.width_bytes) <= size;
    let start = match site.access.object {
        Some(Object::Shared(id)) if machine.function.shared[id.index()].dynamic => {
            machine.code.memory.dynamic_offset as i64
        }
        _ => start as i64,
    };
    let object = declared(machine, site, i64::from(offset as i32) - start);
    if begins && pointer & (site.width_bytes - 1) != 0 || inside {
        access.object = object.or_else(|| shared_at(machine, space, offset));
        return fault(lane, TrapKind::Misaligned(Box::new(access)));
    }
    access.object = object.or_else(|| {
        let name = match space {
            Space::Local => "the thread's local memory",
            _ => "the block's shared memory",
        };
        Some(BadObject {
            name: name.to_owned(),
            offset_bytes: i64::from(offset as i32),
            element_bytes: 1,
            dims: Vec::new(),
            size_bytes: size,
            declared: false,
            pointer: None,
            freed_at: None,
        })
    });
    fault(lane, TrapKind::OutOfBounds(Box::new(access)))
}

/// The fault of an access to the device heap outside the block that it was meant for, or after that block was freed.
fn heap<O: Observer>(machine: &Machine<'_, O>, mut access: BadAccess, lane: usize) -> Box<Fault> {
    let meant = machine.memory.device_heap().meant(access.address).copied();
    access.object = meant.map(|block| BadObject {
        name: format!(
            "the allocation of line {}",
            machine.module.loc(block.made_at).line
        ),
        offset_bytes: access.address.wrapping_sub(block.start) as i64,
        element_bytes: 1,
        dims: Vec::new(),
        size_bytes: block.bytes,
        declared: false,
        pointer: None,
        freed_at: block.freed_at,
    });
    let kind = match meant.and_then(|block| block.freed_at) {
        Some(_) => TrapKind::UseAfterFree,
        None => TrapKind::OutOfBounds,
    };
    fault(lane, kind(Box::new(access)))
}

/// The fault of an invalid access to global or constant memory.
#[cold]
pub(crate) fn global<O: Observer>(
    machine: &Machine<'_, O>,
    site: &MemSite,
    site_row: usize,
    lane: usize,
    address: u64,
    writes: bool,
) -> Box<Fault> {
    let width = u64::from(site.width_bytes);
    let mut access = bad_access(site, site.access.space, address);
    let memory_fault = machine.memory.fault(address, width, false);
    let place = machine.regions.declared[site_row].unwrap_or_else(|| machine.map.find(address));
    let region = machine.map.regions[place as usize];
    let allowed = region.writable || !writes;
    if address & (width - 1) != 0 && region.holds(address, 1) && allowed {
        return fault(lane, TrapKind::Misaligned(Box::new(access)));
    }
    if let Some(region) =
        machine.regions.declared[site_row].map(|region| machine.map.regions[region as usize])
        && !region.holds(address, width)
    {
        access.object = match site.access.object {
            Some(_) => declared(machine, site, address.wrapping_sub(region.base) as i64),
            None => machine.memory.object_at(region.base, address),
        };
        if address < layout::NULL_PAGE_BYTES && site.access.object.is_none() {
            return fault(lane, TrapKind::NullPointer(Box::new(access)));
        }
        return fault(lane, TrapKind::OutOfBounds(Box::new(access)));
    }
    let region = machine.map.regions[machine.map.find(address) as usize];
    if region.is_heap {
        return heap(machine, access, lane);
    }
    if region.holds(address, width) {
        if writes && !region.writable {
            access.object = machine.memory.object_at(region.base, address);
            return fault(lane, TrapKind::ReadOnly(Box::new(access)));
        }
        return fault(lane, TrapKind::Misaligned(Box::new(access)));
    }
    access.object = memory_fault.object;
    let access = Box::new(access);
    let kind = match memory_fault.kind {
        AddressKind::Null => TrapKind::NullPointer(access),
        AddressKind::Freed => TrapKind::UseAfterFree(access),
        AddressKind::Host => TrapKind::HostPointerOnDevice(access),
        AddressKind::Device
        | AddressKind::Managed
        | AddressKind::Constant
        | AddressKind::String => TrapKind::OutOfBounds(access),
        AddressKind::Unknown if access.object.is_some() => TrapKind::OutOfBounds(access),
        AddressKind::Unknown | AddressKind::Shared | AddressKind::Local => {
            TrapKind::InvalidPointer(access)
        }
    };
    fault(lane, kind)
}
