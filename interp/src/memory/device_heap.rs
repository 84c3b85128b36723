//! The heap that kernels take memory from: one region, cut into blocks. Addresses depend on the sequence of calls only.

use std::collections::{BTreeMap, BTreeSet};

/// `cudaLimitMallocHeapSize` unless the program says otherwise: CUDA C++ Programming Guide, "Heap Memory Allocation".
pub(crate) const DEFAULT_BYTES: u64 = 8 << 20;

/// What a block is aligned to, and a multiple of.
const UNIT_BYTES: u64 = 16;

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
