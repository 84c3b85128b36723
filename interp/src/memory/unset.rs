//! Tracks uninitialised bytes in the host's memory and in its copies: which bytes they are, and how they got to where
//! they are read.

pub use crate::fault::setter::Setter;

use ir::LocId;

use super::{AddressKind, Memory, STACK_BYTES};
use crate::memory::defined::Defined;

/// How many copies of uninitialised bytes are remembered.
const MAX_TRANSFERS: usize = 256;

/// The call that allocated memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// `cudaMalloc`, `malloc` …
    pub call: &'static str,
    /// Its place.
    pub loc: LocId,
    /// The variable that received the pointer, if known.
    pub variable: Option<String>,
}

/// A copy of uninitialised bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// `cudaMemcpy`, `memcpy` …
    pub call: &'static str,
    /// Its place.
    pub loc: LocId,
    /// The start and end of the destination.
    to: (u64, u64),
    /// The memory that it copied from.
    pub from: UnsetMemory,
}

/// Memory with uninitialised bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsetMemory {
    /// `` `out` ``, `the allocation of line 7`.
    pub name: String,
    /// The kind of memory.
    pub kind: AddressKind,
    /// The call that allocated it.
    pub allocation: Option<Allocation>,
    /// Its size.
    pub size_bytes: u64,
    /// The size of an element, or 1 if unknown.
    pub element_bytes: u64,
    /// The uninitialised bytes: offsets of their start and end.
    pub gap: (u64, u64),
    /// The last call that wrote to it.
    pub setter: Option<Setter>,
    /// The copy that brought these bytes.
    pub transfer: Option<Box<Transfer>>,
    /// If a launch that was only counted should have written them: its statement.
    pub not_computed: Option<LocId>,
}

impl UnsetMemory {
    /// The statement of the launch that was only counted and should have written this, or what it was copied from.
    pub fn awaits(&self) -> Option<LocId> {
        let from = self
            .transfer
            .as_ref()
            .and_then(|transfer| transfer.from.awaits());
        from.or(self.not_computed)
    }
}

/// A variable on the stack.
pub(crate) struct Local<'a> {
    pub(crate) name: &'a str,
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    pub(crate) element_bytes: u64,
}

impl Memory {
    /// Marks the allocation at the address as uninitialised. It is zeroed, so that a program does the same each time.
    pub fn begin_unset(&mut self, address: u64) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            if region.base == address && !region.is_remote() {
                region.defined = Defined::Nothing;
            }
        }
    }

    /// A launch that was only counted should have written the region at the address.
    pub(crate) fn set_not_computed(&mut self, base: u64, launch: LocId) {
        if let Some((area, index)) = self.region_index(base) {
            let region = &mut self.area_mut(area).regions[index];
            region.defined = Defined::Nothing;
            region.not_computed = Some(launch);
        }
    }

    /// The host stored a value there that depends on what a launch did not compute.
    pub(crate) fn follows_from(&mut self, address: u64, launch: LocId) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            region.not_computed.get_or_insert(launch);
        }
    }

    /// The missing bytes have been computed after all.
    pub(crate) fn set_computed(&mut self, base: u64) {
        if let Some((area, index)) = self.region_index(base) {
            let region = &mut self.area_mut(area).regions[index];
            region.defined = Defined::All;
            region.not_computed = None;
        }
    }

    /// The launch that should have written what is missing in the region with this address.
    pub fn not_computed(&self, address: u64) -> Option<LocId> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let is_whole = region.defined.holds(0, region.size);
        region.not_computed.filter(|_| !is_whole)
    }

    /// The region in which a launch that was only counted should have written these bytes.
    pub(crate) fn lacks(&self, address: u64, bytes: u64) -> Option<u64> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let start = address - region.base;
        let bytes = bytes.min(region.size - start);
        let lacks = region.not_computed.is_some() && !region.defined.holds(start, bytes);
        lacks.then_some(region.base)
    }

    /// Records the call that allocated the object at the address.
    pub fn note_allocation(&mut self, address: u64, allocation: Allocation) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].allocation = Some(allocation);
        }
    }

    /// Records the call that wrote bytes at the address.
    pub fn note_set(&mut self, address: u64, setter: Setter) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].setter = Some(setter);
        }
    }

    /// Records the call that copied bytes, and the origin of uninitialised ones. `local`: the variable on the stack
    /// that they were copied from.
    pub(crate) fn note_transfer(
        &mut self,
        (to, from): (u64, u64),
        setter: Setter,
        local: Option<&Local<'_>>,
    ) {
        self.note_set(to, setter);
        let Setter { call, loc, bytes } = setter;
        if self.is_set(to, bytes) {
            return;
        }
        let Some(from) = self.unset(from, bytes, local) else {
            return;
        };
        let to = (to, to + bytes);
        self.transfers
            .retain(|known| !(known.loc == loc && to.0 <= known.to.0 && known.to.1 <= to.1));
        if self.transfers.len() >= MAX_TRANSFERS {
            self.transfers.remove(0);
        }
        self.transfers.push(Transfer {
            call,
            loc,
            to,
            from,
        });
    }

    /// Whether all of these bytes have been written.
    pub fn is_set(&self, address: u64, len: u64) -> bool {
        self.region(address).is_none_or(|region| {
            let offset = address - region.base;
            region.freed || offset >= region.size || region.defined.holds(offset, len)
        })
    }

    /// The last copy of uninitialised bytes to an address.
    pub(crate) fn brought(&self, address: u64) -> Option<&Transfer> {
        let mut transfers = self.transfers.iter().rev();
        transfers.find(|transfer| (transfer.to.0..transfer.to.1).contains(&address))
    }

    /// The last call that wrote to the allocation with this address, and the allocation's size.
    pub(crate) fn setter(&self, address: u64) -> Option<(Setter, u64)> {
        let region = self.region(address)?;
        Some((region.setter?, region.size))
    }

    /// The first uninitialised byte in a range, and how many follow each other.
    pub fn first_unset(&self, address: u64, len: u64) -> Option<(u64, u64)> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let offset = address - region.base;
        let len = len.min(region.size.saturating_sub(offset));
        let (first, end) = region.defined.gap(offset, len)?;
        Some((region.base + first, end - first))
    }

    /// What is known of the first uninitialised byte in a range. `local`: the variable that contains them.
    pub(crate) fn unset(
        &self,
        address: u64,
        len: u64,
        local: Option<&Local<'_>>,
    ) -> Option<UnsetMemory> {
        let region = self.region(address)?;
        let offset = address - region.base;
        let (first, end) = region.defined.gap(offset, len)?;
        let (start, size_bytes) = match local {
            Some(local) => (local.start - region.base, local.size_bytes),
            None => (0, region.size),
        };
        // The rest of the gap, up to the end of the object.
        let end = match region
            .defined
            .gap(end, (start + size_bytes).saturating_sub(end))
        {
            Some((next, behind)) if next == end => behind,
            _ => end,
        };
        let at = region.base + first;
        let transfer = self.brought(at);
        let name = match local {
            Some(local) => format!("`{}`", local.name),
            None => region.describe(at).name,
        };
        Some(UnsetMemory {
            name,
            kind: region.kind,
            allocation: region.allocation.clone(),
            size_bytes,
            element_bytes: local.map_or(region.element_bytes, |local| local.element_bytes),
            gap: (first - start, end - start),
            setter: region.setter.filter(|_| local.is_none()),
            transfer: transfer.cloned().map(Box::new),
            // On the stack, this is known only for copies.
            not_computed: region.not_computed.filter(|_| local.is_none()),
        })
    }

    /// A call's variables begin: uninitialised zeros, if that is tracked.
    pub(crate) fn begin_frame(&mut self, address: u64, len: u64, follows: bool) {
        self.fill(address, 0, len).expect("on the stack");
        if follows {
            let stack = &mut self.areas.stack.regions[0];
            if address == stack.base && matches!(stack.defined, Defined::All) {
                // This is the first frame: the whole stack is uninitialised, and words of zeros cost nothing until they
                // are touched.
                stack.defined = Defined::Nothing;
            }
            self.forget(address, len);
            self.transfers
                .retain(|known| known.to.1 <= address || address + len <= known.to.0);
        }
    }

    /// Marks bytes as uninitialised.
    pub(crate) fn forget(&mut self, address: u64, len: u64) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            let offset = address - region.base;
            region.defined.forget(offset, len, region.size);
        }
    }

    /// The bits for single bytes of the region with this address, for the host's accesses; null if all bytes are
    /// written.
    pub(crate) fn words_of(&mut self, address: u64) -> *mut u64 {
        let Some((area, index)) = self.region_index(address) else {
            return std::ptr::null_mut();
        };
        let region = &mut self.area_mut(area).regions[index];
        region.dirty = true;
        region.defined.words(region.size)
    }

    /// Called when the host repeatedly looks up the region with this address: checks whether all of it has been written
    /// by now. Returns whether that is new. The interval between checks doubles each time. The stack never qualifies,
    /// because the next call begins with uninitialised variables.
    pub(crate) fn settle_often_read(&mut self, address: u64) -> bool {
        if address.wrapping_sub(self.stack_base()) < STACK_BYTES {
            return false;
        }
        let Some((area, index)) = self.region_index(address) else {
            return false;
        };
        let region = &mut self.area_mut(area).regions[index];
        region.looks = region.looks.saturating_add(1);
        if !region.looks.is_power_of_two() || !matches!(region.defined, Defined::Some(_)) {
            return false;
        }
        region.defined.settle(region.size);
        matches!(region.defined, Defined::All)
    }

    /// Checks which regions the host has now written completely, so that kernels need not check their bytes.
    pub(crate) fn settle(&mut self) {
        let areas = [&mut self.areas.managed, &mut self.areas.device_statics];
        for region in areas.into_iter().flat_map(|area| &mut area.regions) {
            if std::mem::take(&mut region.dirty) {
                region.defined.settle(region.size);
            }
        }
    }
}
