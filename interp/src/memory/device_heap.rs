//! The heap that kernels take memory from: one region, cut into blocks. Addresses depend on the sequence of calls only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AddressKind, Defined, Memory, MemoryFault};

/// `cudaLimitMallocHeapSize` unless the program says otherwise: CUDA C++ Programming Guide, "Heap Memory Allocation".
const DEFAULT_BYTES: u64 = 8 << 20;

/// What a block is aligned to, and a multiple of.
const UNIT_BYTES: u64 = 16;

/// The heap of a program.
#[derive(Debug)]
pub(super) struct KernelHeap {
    /// What of it is taken, where a kernel has used it.
    blocks: Mutex<DeviceHeap>,
    /// Where it is, once it is there.
    base: Option<u64>,
    bytes: u64,
}

impl Default for KernelHeap {
    fn default() -> KernelHeap {
        KernelHeap {
            blocks: Mutex::default(),
            base: None,
            bytes: DEFAULT_BYTES,
        }
    }
}

impl Memory {
    /// How large the heap of kernels is from now on; `false` if a kernel uses it already.
    pub fn set_device_heap(&mut self, bytes: u64) -> bool {
        if self.device_heap().is_in_use() {
            return self.kernel_heap.bytes == bytes;
        }
        self.kernel_heap.bytes = bytes;
        if let Some(base) = self.kernel_heap.base.take() {
            let known = self.areas.device_statics.find(base);
            known
                .into_iter()
                .for_each(|at| self.areas.device_statics.free(at));
        }
        true
    }

    /// How much local memory the calls of a thread may take from now on; `false` if no thread has so much.
    pub fn set_device_stack(&mut self, bytes: u64) -> bool {
        // CUDA C++ Programming Guide, "Technical Specifications": local memory per thread.
        let exists = bytes <= 512 << 10;
        if exists {
            self.kernel_stack = bytes;
        }
        exists
    }

    /// What the program asked for, or 0.
    pub(crate) fn device_stack(&self) -> u64 {
        self.kernel_stack
    }

    /// Makes room for the heap of kernels, before one uses it.
    pub(crate) fn open_device_heap(&mut self) {
        if self.kernel_heap.base.is_some() {
            return;
        }
        let bytes = self.kernel_heap.bytes;
        let region = self
            .areas
            .device_statics
            .add(bytes, 256, AddressKind::Device);
        // A heap without memory gives null.
        let Ok(region) = region else { return };
        region.name = Some("the device's heap".to_owned());
        region.defined = Defined::Nothing;
        let base = region.base;
        self.kernel_heap.base = Some(base);
        *self.device_heap() = DeviceHeap::new(base, bytes);
    }

    pub(crate) fn device_heap(&self) -> MutexGuard<'_, DeviceHeap> {
        self.kernel_heap
            .blocks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a kernel cannot free what is at the address.
    pub(crate) fn heap_fault(&self, address: u64) -> MemoryFault {
        let mut fault = self.free_fault(address, AddressKind::Device);
        if self.device_heap().was_freed(address) {
            fault.kind = AddressKind::Freed;
            if let Some(object) = &mut fault.object {
                object.name = "this memory of the device's heap".to_owned();
                object.offset_bytes = 0;
            }
        }
        fault
    }
}

/// The blocks of the region; no bytes of them.
#[derive(Debug, Default)]
pub(crate) struct DeviceHeap {
    /// Size by address.
    taken: BTreeMap<u64, u64>,
    free: BTreeMap<u64, u64>,
    /// The free ones again: size and address.
    by_size: BTreeSet<(u64, u64)>,
    /// Where blocks began that were given back, and nothing has begun since.
    freed: BTreeSet<u64>,
}

impl DeviceHeap {
    /// A heap in a region.
    pub(crate) fn new(base: u64, size: u64) -> DeviceHeap {
        let mut heap = DeviceHeap::default();
        heap.put(base, size / UNIT_BYTES * UNIT_BYTES);
        heap
    }

    pub(crate) fn is_in_use(&self) -> bool {
        !self.taken.is_empty()
    }

    /// Whether a block began there that was given back.
    pub(crate) fn was_freed(&self, address: u64) -> bool {
        self.freed.contains(&address)
    }

    fn put(&mut self, address: u64, size: u64) {
        if size > 0 {
            self.free.insert(address, size);
            self.by_size.insert((size, address));
        }
    }

    fn take(&mut self, address: u64, size: u64) {
        self.free.remove(&address);
        self.by_size.remove(&(size, address));
    }

    /// The smallest block that has room; of several the first.
    pub(crate) fn malloc(&mut self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return None;
        }
        let wanted = bytes.checked_next_multiple_of(UNIT_BYTES)?;
        let &(size, address) = self.by_size.range((wanted, 0)..).next()?;
        self.take(address, size);
        self.put(address + wanted, size - wanted);
        let stale: Vec<u64> = self
            .freed
            .range(address..address + wanted)
            .copied()
            .collect();
        for address in stale {
            self.freed.remove(&address);
        }
        self.taken.insert(address, wanted);
        Some(address)
    }

    /// Whether a block begins at the address; it is free then, one with its free neighbours.
    pub(crate) fn free(&mut self, address: u64) -> bool {
        let Some(mut size) = self.taken.remove(&address) else {
            return false;
        };
        self.freed.insert(address);
        let mut start = address;
        if let Some((&before, &length)) = self.free.range(..address).next_back()
            && before + length == address
        {
            self.take(before, length);
            (start, size) = (before, size + length);
        }
        if let Some(&length) = self.free.get(&(start + size)) {
            self.take(start + size, length);
            size += length;
        }
        self.put(start, size);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_one_again() {
        let mut heap = DeviceHeap::new(0x1000, 128);
        let blocks: Vec<u64> = (0..4).map(|_| heap.malloc(20).unwrap()).collect();
        assert_eq!(blocks, [0x1000, 0x1020, 0x1040, 0x1060]);
        assert_eq!(heap.malloc(1), None);
        for at in [1, 3, 0, 2] {
            assert!(heap.free(blocks[at]));
        }
        assert!(!heap.free(blocks[0]) && heap.was_freed(blocks[0]));
        assert_eq!(heap.malloc(128), Some(0x1000));
        assert!(heap.free(0x1000));
        assert!(!heap.is_in_use());
    }

    #[test]
    fn nothing_and_too_much_are_null() {
        let mut heap = DeviceHeap::new(0x1000, 128);
        assert_eq!(heap.malloc(0), None);
        assert_eq!(heap.malloc(129), None);
        assert_eq!(heap.malloc(u64::MAX), None);
    }
}
