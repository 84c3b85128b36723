//! Memory of a real device in the address space of the host program, at the driver's addresses, next to the areas of
//! [`layout`](super::layout).
//!
//! A host program on a GPU holds real device addresses, stores them in structs and computes with them. Only reading and
//! writing through one is a fault. Managed memory is read and written in place. The driver chooses its addresses, so
//! one of them could fall into one of our areas. [`Memory::is_free`] tells beforehand whether it does, and the caller
//! then asks the driver for another one. An address is looked up here first. Unlike ours, the driver's addresses are
//! reused after they were freed.

use std::ptr::NonNull;

use ir::{GlobalId, GlobalSpace, Object};

use super::region::{CAPACITY_BYTES, charge};
use super::{AddressKind, Memory, MemoryFault, Region, bytes::Bytes};

impl Region {
    /// Whether the bytes are on the device, where the host cannot reach them.
    pub(super) fn is_remote(&self) -> bool {
        self.bytes.len() == 0 && self.size > 0 && !self.freed
    }
}

impl Memory {
    /// Whether the address is in (or directly after) memory of a real device, freed or not.
    #[inline]
    pub(super) fn is_foreign(&self, address: u64) -> bool {
        !self.areas.foreign.regions.is_empty()
            && self
                .areas
                .foreign
                .find(address)
                .is_some_and(|index| address <= self.areas.foreign.regions[index].end())
    }

    /// Whether no object of this address space is in these bytes, or directly before or after them.
    pub fn is_free(&self, address: u64, bytes: u64) -> bool {
        let areas = [
            &self.areas.heap,
            &self.areas.statics,
            &self.areas.strings,
            &self.areas.device_statics,
            &self.areas.constants,
            &self.areas.managed,
            &self.areas.device,
            &self.areas.stack,
        ];
        let end = address.saturating_add(bytes);
        areas.iter().all(|area| {
            let first = area.regions.first().map_or(area.next, |region| region.base);
            // Areas grow upwards, so the space ahead of one is not free either.
            let room = area.next.saturating_add(CAPACITY_BYTES);
            end < first || address > room
        })
    }

    /// Adds memory of a real device, which the host may not access.
    pub fn add_remote(&mut self, address: u64, bytes: u64, kind: AddressKind, name: Option<&str>) {
        self.add_foreign(address, bytes, kind, Bytes::new(0).expect("no bytes"), name);
    }

    /// Adds managed memory, which the host reads and writes in place.
    ///
    /// # Safety
    /// The bytes at `address` must stay valid for reads and writes until [`Memory::remove_foreign`] removes them.
    pub unsafe fn add_managed(&mut self, address: u64, bytes: u64) {
        let Some(pointer) = NonNull::new(address as *mut u8) else {
            return;
        };
        // SAFETY: guaranteed by the caller.
        let bytes_there = unsafe { Bytes::borrowed(pointer, bytes as usize) };
        self.add_foreign(address, bytes, AddressKind::Managed, bytes_there, None);
    }

    fn add_foreign(
        &mut self,
        base: u64,
        size: u64,
        kind: AddressKind,
        bytes: Bytes,
        name: Option<&str>,
    ) {
        let regions = &mut self.areas.foreign.regions;
        regions.retain(|region| {
            !(region.freed
                && region.base < base + size.max(1)
                && base < region.end().max(region.base + 1))
        });
        let at = regions.partition_point(|region| region.base < base);
        let mut region = Region::new(base, size, kind, bytes);
        region.name = name.map(str::to_owned);
        regions.insert(at, region);
        self.areas.foreign.in_use_bytes += size;
        self.areas.foreign.charged_bytes += charge(size);
    }

    /// Removes the memory that begins at `address`. It is remembered until the driver reuses the address.
    pub fn remove_foreign(&mut self, address: u64) -> Result<(), MemoryFault> {
        match self.areas.foreign.find(address) {
            Some(index)
                if self.areas.foreign.regions[index].base == address
                    && !self.areas.foreign.regions[index].freed =>
            {
                self.areas.foreign.free(index);
                Ok(())
            }
            _ => Err(self.free_fault(address, AddressKind::Device)),
        }
    }

    /// Whether `len` bytes at `address` exist, on either side.
    pub fn check(&self, address: u64, len: u64) -> Result<(), MemoryFault> {
        match self.region(address) {
            Some(region) if region.is_remote() && region.holds(address, len) => Ok(()),
            _ => self.read_bytes(address, len).map(|_| ()),
        }
    }

    /// The name of the object at an address: `the allocation of line 7`.
    pub fn name_of(&self, address: u64) -> Option<&str> {
        self.region(address)?.name.as_deref()
    }

    /// Places a device variable at its address on a real device. Pointers to it in host variables are updated.
    ///
    /// # Safety
    /// If it is `__managed__`, its bytes must stay valid for reads and writes at `address` as long as this memory is
    /// used.
    pub unsafe fn place_symbol(&mut self, module: &ir::Module, id: GlobalId, address: u64) {
        let global = &module.globals[id.index()];
        let kind = match global.space {
            GlobalSpace::Constant => AddressKind::Constant,
            GlobalSpace::Device => AddressKind::Device,
            GlobalSpace::Managed => AddressKind::Managed,
            GlobalSpace::Host => return,
        };
        if kind == AddressKind::Managed {
            // SAFETY: guaranteed by the caller.
            unsafe { self.add_managed(address, global.size_bytes) };
        } else {
            self.add_remote(address, global.size_bytes, kind, None);
        }
        self.set_name(address, &format!("`{}`", global.name));
        self.image.symbols[id.index()] = address;
        let hosts = module.globals.iter().enumerate();
        for (index, host) in hosts.filter(|(_, host)| host.space == GlobalSpace::Host) {
            for &(offset, object, addend) in &host.relocations {
                if object == Object::Global(id) {
                    let bits = address.wrapping_add_signed(addend).to_le_bytes();
                    let at = self.image.symbols[index] + offset;
                    if let Ok(bytes) = self.bytes_mut(at, 8) {
                        bytes.copy_from_slice(&bits);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::super::{AddressKind, Memory, layout};
    use crate::{TrapKind, trap::AccessOp};

    fn memory() -> Memory {
        Memory::new(&ir::Module::default())
    }

    /// An address in the area of the host's stack, where drivers tend to place device memory.
    const ADDRESS: u64 = 0x7f5c_27e0_0000;

    #[test]
    fn device_memory_can_be_pointed_into_but_not_read() {
        let mut memory = memory();
        assert!(memory.is_free(ADDRESS, 4096));
        memory.add_remote(ADDRESS, 4096, AddressKind::Device, None);
        assert_eq!(memory.kind_of(ADDRESS + 4096), AddressKind::Device);
        assert_eq!(memory.kind_of(ADDRESS + 4097), AddressKind::Unknown);
        assert_eq!(memory.check(ADDRESS + 4000, 96), Ok(()));
        let trap = memory
            .read_bytes(ADDRESS + 8, 4)
            .unwrap_err()
            .trap(AccessOp::Load);
        assert!(matches!(trap, TrapKind::DevicePointerOnHost(_)), "{trap:?}");
        let beyond = memory.check(ADDRESS + 4000, 97).unwrap_err().to_string();
        assert!(beyond.contains("out of bounds"), "{beyond}");
        assert!(memory.write_bytes(ADDRESS, &[1]).is_err());
    }

    #[test]
    fn an_address_the_driver_gives_again_is_alive_again() {
        let mut memory = memory();
        memory.add_remote(ADDRESS, 512, AddressKind::Device, None);
        memory.remove_foreign(ADDRESS).unwrap();
        assert_eq!(memory.kind_of(ADDRESS + 8), AddressKind::Freed);
        assert!(memory.remove_foreign(ADDRESS).is_err());
        memory.add_remote(ADDRESS, 1024, AddressKind::Device, None);
        assert_eq!(memory.kind_of(ADDRESS + 8), AddressKind::Device);
        assert_eq!(memory.allocation_bytes(ADDRESS), Some(1024));
    }

    #[test]
    fn managed_memory_is_read_and_written_where_it_is() {
        let mut memory = memory();
        let mut there = vec![7u64; 4];
        let address = there.as_mut_ptr() as u64;
        // SAFETY: `there` outlives its entry.
        unsafe { memory.add_managed(address, 32) };
        memory.write_bytes(address + 8, &[1; 8]).unwrap();
        assert_eq!(memory.read_bytes(address, 1).unwrap(), [7]);
        let host = memory.malloc_host(32).unwrap();
        memory.copy(host, address, 32).unwrap();
        memory.remove_foreign(address).unwrap();
        assert_eq!(there[1], 0x0101_0101_0101_0101);
        assert_eq!(memory.read_bytes(host + 8, 8).unwrap(), [1; 8]);
    }

    #[test]
    fn addresses_inside_of_our_own_objects_are_not_free() {
        let mut memory = memory();
        assert!(!memory.is_free(layout::STACK + 0x10_0000, 16));
        assert!(!memory.is_free(layout::STACK, 64 << 20));
        let heap = memory.malloc_host(100).unwrap();
        assert!(!memory.is_free(heap + 50, 1));
        assert!(!memory.is_free(heap + 4096, 1), "the heap grows there");
        assert!(memory.is_free(0x3_0000_0000, 1 << 30));
    }
}
