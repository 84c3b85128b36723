//! Allocates and frees memory: `malloc`, `cudaMalloc`, and their limits.

use thiserror::Error;

use super::layout::{self, area};
use super::region::charge;
use super::unset::Allocation;
use super::{AddressKind, Defined, Memory, MemoryFault};

/// How much a program may have allocated at one time, in addition to the areas' capacity. Untouched memory counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryLimits {
    /// Device memory, host memory and the program's variables together.
    pub all_bytes: Option<u64>,
    /// `malloc`, and allocations that are based on it.
    pub heap_bytes: Option<u64>,
}

/// There is not enough memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("out of memory: {bytes} bytes asked for")]
pub struct OutOfMemory {
    /// The bytes requested.
    pub bytes: u64,
}

impl Memory {
    /// Limits all later allocations.
    pub fn bound(&mut self, limits: MemoryLimits) {
        self.limits = limits;
    }

    /// The bytes that count against [`MemoryLimits`]: all of them, and those of the heap.
    pub fn charged_bytes(&self) -> (u64, u64) {
        let areas = [
            &self.areas.heap,
            &self.areas.statics,
            &self.areas.device_statics,
            &self.areas.constants,
            &self.areas.managed,
            &self.areas.device,
        ];
        let all = areas.iter().map(|area| area.charged_bytes).sum();
        (all, self.areas.heap.charged_bytes)
    }

    /// Whether the limits have room for an allocation.
    fn check_room(&self, bytes: u64, on_heap: bool) -> Result<(), OutOfMemory> {
        let (all, heap) = self.charged_bytes();
        let exceeds = |used: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| used.saturating_add(charge(bytes)) > limit)
        };
        if exceeds(all, self.limits.all_bytes) || on_heap && exceeds(heap, self.limits.heap_bytes) {
            return Err(OutOfMemory { bytes });
        }
        Ok(())
    }

    /// `cudaMalloc`: zeroed, aligned to 256 bytes.
    pub fn malloc_device(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, false)?;
        let region = self.areas.device.add(bytes, 256, AddressKind::Device)?;
        region.defined = Defined::Nothing;
        Ok(region.base)
    }

    /// `cudaMallocManaged`.
    pub fn managed(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, false)?;
        Ok(self
            .areas
            .managed
            .add(bytes, 256, AddressKind::Managed)?
            .base)
    }

    /// `malloc` and `calloc`: zeroed, aligned to 16 bytes.
    pub fn malloc_host(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, true)?;
        Ok(self.areas.heap.add(bytes, 16, AddressKind::Host)?.base)
    }

    /// A text of the runtime on the heap, with its NUL. It is not limited, because the program does not control these.
    pub fn text(&mut self, text: &str) -> Result<u64, OutOfMemory> {
        let size = text.len() as u64 + 1;
        let region = self.areas.heap.add(size, 16, AddressKind::Host)?;
        region.bytes.slice_mut()[..text.len()].copy_from_slice(text.as_bytes());
        Ok(region.base)
    }

    /// `cudaFree` of device or managed memory; freeing null does nothing.
    pub fn free_device(&mut self, address: u64) -> Result<(), MemoryFault> {
        if area(address) == area(layout::MANAGED) {
            return self.free(address, AddressKind::Managed);
        }
        self.free(address, AddressKind::Device)
    }

    /// `free`; freeing null does nothing.
    pub fn free_host(&mut self, address: u64) -> Result<(), MemoryFault> {
        self.free(address, AddressKind::Host)
    }

    fn free(&mut self, address: u64, kind: AddressKind) -> Result<(), MemoryFault> {
        if address == 0 {
            return Ok(());
        }
        let wanted = match kind {
            AddressKind::Host => AddressKind::Host,
            _ => AddressKind::Device,
        };
        let fault = self.free_fault(address, wanted);
        let area = match kind {
            AddressKind::Managed => &mut self.areas.managed,
            AddressKind::Device => &mut self.areas.device,
            _ => &mut self.areas.heap,
        };
        match area.find(address) {
            Some(index) if area.regions[index].base == address && !area.regions[index].freed => {
                area.free(index);
                Ok(())
            }
            _ => Err(fault),
        }
    }

    /// The size of the allocation at the address.
    pub fn allocation_bytes(&self, address: u64) -> Option<u64> {
        let region = self.region(address)?;
        (region.base == address && !region.freed).then_some(region.size)
    }

    /// Device and managed allocations that have not been freed: address, bytes, and the call that made each.
    pub fn leaks(&self) -> impl Iterator<Item = (u64, u64, Option<&Allocation>)> {
        let regions = self
            .areas
            .managed
            .regions
            .iter()
            .chain(&self.areas.device.regions);
        let alive = regions.filter(|region| !region.freed && !self.is_symbol(region.base));
        alive.map(|region| (region.base, region.size, region.allocation.as_ref()))
    }

    /// The bytes that `cudaMalloc` and `cudaMallocManaged` have handed out and that have not been freed.
    pub fn device_bytes_in_use(&self) -> u64 {
        self.areas.device.in_use_bytes + self.areas.managed.in_use_bytes
    }
}
