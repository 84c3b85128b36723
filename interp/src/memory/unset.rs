//! Bytes that nobody wrote, in the host's memory and in what it copies: which they are, and how they came to be where they are read.

pub use crate::fault::setter::Setter;

use ir::LocId;

use super::{AddressKind, Memory, STACK_BYTES};
use crate::memory::defined::Defined;

/// Copies of unset bytes that are remembered.
const MAX_TRANSFERS: usize = 256;

/// The call that gave memory out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// `cudaMalloc`, `malloc` …
    pub call: &'static str,
    /// Where it stands.
    pub loc: LocId,
    /// The variable that got the pointer, where that is known.
    pub variable: Option<String>,
}

/// A copy of bytes that nobody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// `cudaMemcpy`, `memcpy` …
    pub call: &'static str,
    /// Where it stands.
    pub loc: LocId,
    /// To here, and up to there.
    to: (u64, u64),
    /// What it copied from.
    pub from: UnsetMemory,
}

/// Memory with bytes that nobody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsetMemory {
    /// `` `out` ``, `the allocation of line 7`.
    pub name: String,
    /// What the memory is.
    pub kind: AddressKind,
    /// The call that gave it out.
    pub allocation: Option<Allocation>,
    /// All its bytes.
    pub size_bytes: u64,
    /// Bytes of an element, 1 if that is not known.
    pub element_bytes: u64,
    /// The bytes in question, from its begin: from and to.
    pub gap: (u64, u64),
    /// The last call that wrote to it.
    pub setter: Option<Setter>,
    /// The copy that brought these bytes.
    pub transfer: Option<Box<Transfer>>,
    /// They are what a launch was to write that was only counted: its statement.
    pub not_computed: Option<LocId>,
}

impl UnsetMemory {
    /// The launch that was only counted and was to write this, or what it was copied from: its statement.
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
    /// Nobody has written to the allocation that begins at the address. It is zeroed, so that a program does the same each time.
    pub fn begin_unset(&mut self, address: u64) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            if region.base == address && !region.is_remote() {
                region.defined = Defined::Nothing;
            }
        }
    }

    /// A launch that was only counted was to write to the region that begins at the address.
    pub(crate) fn set_not_computed(&mut self, base: u64, launch: LocId) {
        if let Some((area, index)) = self.region_index(base) {
            let region = &mut self.area_mut(area).regions[index];
            region.defined = Defined::Nothing;
            region.not_computed = Some(launch);
        }
    }

    /// The host stored something there that follows from what a launch did not compute.
    pub(crate) fn follows_from(&mut self, address: u64, launch: LocId) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            region.not_computed.get_or_insert(launch);
        }
    }

    /// It was computed after all.
    pub(crate) fn set_computed(&mut self, base: u64) {
        if let Some((area, index)) = self.region_index(base) {
            let region = &mut self.area_mut(area).regions[index];
            region.defined = Defined::All;
            region.not_computed = None;
        }
    }

    /// The launch that was to write what the region holding this address lacks.
    pub fn not_computed(&self, address: u64) -> Option<LocId> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let is_whole = region.defined.holds(0, region.size);
        region.not_computed.filter(|_| !is_whole)
    }

    /// The region whose bytes here a launch was to write that was only counted.
    pub(crate) fn lacks(&self, address: u64, bytes: u64) -> Option<u64> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let start = address - region.base;
        let bytes = bytes.min(region.size - start);
        let lacks = region.not_computed.is_some() && !region.defined.holds(start, bytes);
        lacks.then_some(region.base)
    }

    /// Says which call gave out what begins at the address.
    pub fn note_allocation(&mut self, address: u64, allocation: Allocation) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].allocation = Some(allocation);
        }
    }

    /// Says which call wrote bytes at the address.
    pub fn note_set(&mut self, address: u64, setter: Setter) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].setter = Some(setter);
        }
    }

    /// Says which call copied bytes; those that nobody wrote are remembered to come from there. `local`: the variable on the stack
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

    /// Whether all of some bytes were written by somebody.
    pub fn is_set(&self, address: u64, len: u64) -> bool {
        self.region(address).is_none_or(|region| {
            let offset = address - region.base;
            region.freed || offset >= region.size || region.defined.holds(offset, len)
        })
    }

    /// The last copy of unset bytes to an address.
    pub(crate) fn brought(&self, address: u64) -> Option<&Transfer> {
        let mut transfers = self.transfers.iter().rev();
        transfers.find(|transfer| (transfer.to.0..transfer.to.1).contains(&address))
    }

    /// The last call that wrote to the allocation that holds an address, and how large that is.
    pub(crate) fn setter(&self, address: u64) -> Option<(Setter, u64)> {
        let region = self.region(address)?;
        Some((region.setter?, region.size))
    }

    /// The first of some bytes that nobody wrote, and how many there are in a row.
    pub fn first_unset(&self, address: u64, len: u64) -> Option<(u64, u64)> {
        let region = self.region(address).filter(|region| !region.freed)?;
        let offset = address - region.base;
        let len = len.min(region.size.saturating_sub(offset));
        let (first, end) = region.defined.gap(offset, len)?;
        Some((region.base + first, end - first))
    }

    /// What is known of the first of some bytes that nobody wrote; `local`: the variable that they are in.
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
        // The rest of the gap, to the end of the object.
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
            // Of the stack that is known of copies only.
            not_computed: region.not_computed.filter(|_| local.is_none()),
        })
    }

    /// A call's variables begin: zeros that nobody wrote, if it is to be known.
    pub(crate) fn begin_frame(&mut self, address: u64, len: u64, follows: bool) {
        self.fill(address, 0, len).expect("on the stack");
        if follows {
            let stack = &mut self.areas.stack.regions[0];
            if address == stack.base && matches!(stack.defined, Defined::All) {
                // The first frame: nobody has written to any of the stack, and words of zeros cost nothing until they are touched.
                stack.defined = Defined::Nothing;
            }
            self.forget(address, len);
            self.transfers
                .retain(|known| known.to.1 <= address || address + len <= known.to.0);
        }
    }

    /// Bytes hold what nobody wrote.
    pub(crate) fn forget(&mut self, address: u64, len: u64) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            let offset = address - region.base;
            region.defined.forget(offset, len, region.size);
        }
    }

    /// What is known byte by byte of the region that holds the address, for the host's own accesses; null if it is whole.
    pub(crate) fn words_of(&mut self, address: u64) -> *mut u64 {
        let Some((area, index)) = self.region_index(address) else {
            return std::ptr::null_mut();
        };
        let region = &mut self.area_mut(area).regions[index];
        region.dirty = true;
        region.defined.words(region.size)
    }

    /// The host looks at the region that holds the address, and not for the first time: if all of it was written by now, it is whole.
    /// Says whether that is new. Each time it takes twice as long until it is tried again. The stack never is: the next call begins with
    /// variables that nobody wrote.
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

    /// What the host wrote byte by byte is whole now, where that is so: kernels need not look then.
    pub(crate) fn settle(&mut self) {
        let areas = [&mut self.areas.managed, &mut self.areas.device_statics];
        for region in areas.into_iter().flat_map(|area| &mut area.regions) {
            if std::mem::take(&mut region.dirty) {
                region.defined.settle(region.size);
            }
        }
    }
}
