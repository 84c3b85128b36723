//! The device heap, from which kernels allocate memory: one region, divided into blocks. Addresses depend only on the
//! sequence of calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ir::LocId;

use super::{AddressKind, Defined, Memory, MemoryFault};

/// `cudaLimitMallocHeapSize` unless the program says otherwise: CUDA C++ Programming Guide, "Heap Memory Allocation".
const DEFAULT_BYTES: u64 = 8 << 20;

/// The alignment of a block, and the unit of its size.
const UNIT_BYTES: u64 = 16;
/// The smallest gap between two blocks.
const GAP_BYTES: u64 = 16;
/// The most bytes for all gaps of a huge heap together.
const MOST_GAPS_BYTES: u64 = 256 << 20;

/// The heap of a program.
#[derive(Debug)]
pub(super) struct KernelHeap {
    /// Its blocks, if a kernel has used it.
    blocks: Mutex<DeviceHeap>,
    /// Its address, once it exists.
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
    /// Sets the size of the device heap. Returns `false` if a kernel already uses it.
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

    /// Sets the local memory for the calls of a thread. Returns `false` if no thread has that much.
    pub fn set_device_stack(&mut self, bytes: u64) -> bool {
        // CUDA C++ Programming Guide, "Technical Specifications": local memory per thread.
        let exists = bytes <= 512 << 10;
        if exists {
            self.kernel_stack = bytes;
        }
        exists
    }

    /// The size that the program requested, or 0.
    pub(crate) fn device_stack(&self) -> u64 {
        self.kernel_stack
    }

    /// Creates the region of the device heap before a kernel uses it.
    pub(crate) fn open_device_heap(&mut self) {
        if self.kernel_heap.base.is_some() {
            return;
        }
        let bytes = self.kernel_heap.bytes;
        let region = self
            .areas
            .device_statics
            .add(region_bytes(bytes), 256, AddressKind::Device);
        // Without memory, the heap returns null.
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

    /// Why a kernel cannot free the address.
    pub(crate) fn heap_fault(&self, address: u64) -> MemoryFault {
        let mut fault = self.free_fault(address, AddressKind::Device);
        let freed = self.device_heap().freed(address).copied();
        if let (Some(freed), Some(object)) = (freed, &mut fault.object) {
            fault.kind = AddressKind::Freed;
            object.name = "this memory of the device's heap".to_owned();
            object.offset_bytes = 0;
            object.freed_at = freed.freed_at;
        }
        fault
    }

    /// The base of the heap's region, if a kernel has used it.
    pub(crate) fn heap_base(&self) -> Option<u64> {
        self.kernel_heap.base
    }

    /// Blocks of the heap that no kernel has freed, by the call that allocated them: how many, and their bytes.
    pub fn heap_leaks(&self) -> Vec<(LocId, u64, u64)> {
        let mut leaks: BTreeMap<LocId, (u64, u64)> = BTreeMap::new();
        for block in self.device_heap().taken() {
            let leak = leaks.entry(block.made_at).or_default();
            *leak = (leak.0 + 1, leak.1 + block.bytes);
        }
        let leaks = leaks.into_iter();
        leaks
            .map(|(loc, (count, bytes))| (loc, count, bytes))
            .collect()
    }
}

/// A block that a kernel has allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeapBlock {
    pub(crate) start: u64,
    /// The size requested.
    pub(crate) bytes: u64,
    /// The call that allocated it.
    pub(crate) made_at: LocId,
    /// The call that freed it.
    pub(crate) freed_at: Option<LocId>,
}

impl HeapBlock {
    fn holds(&self, address: u64, width_bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset <= self.bytes && width_bytes <= self.bytes - offset
    }
}

/// The blocks of the region, without their bytes.
///
/// There is a gap between two blocks, so that an access beyond one does not hit the next. Freed blocks wait before they
/// are reused, so that a use after free is found.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceHeap {
    taken: BTreeMap<u64, HeapBlock>,
    /// Freed blocks, until another block is allocated there.
    freed: BTreeMap<u64, HeapBlock>,
    /// Those of them that wait, the oldest first.
    waiting: VecDeque<HeapBlock>,
    waiting_bytes: u64,
    /// Free space by address, and again by size and address.
    room: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// The end of the last block that ever existed.
    end: u64,
    /// Bytes of all blocks, in whole units, and their limit.
    used_bytes: u64,
    most_bytes: u64,
}

/// What a block takes in the region.
fn footprint(bytes: u64) -> u64 {
    bytes.next_multiple_of(UNIT_BYTES) + GAP_BYTES
}

/// The size of a region for a heap of this capacity. It has room for gaps even between the smallest blocks, unless it
/// is huge.
fn region_bytes(bytes: u64) -> u64 {
    bytes.saturating_add(bytes.min(MOST_GAPS_BYTES))
}

impl DeviceHeap {
    /// A heap in a region of `region_bytes(most_bytes)`.
    pub(crate) fn new(base: u64, most_bytes: u64) -> DeviceHeap {
        let mut heap = DeviceHeap {
            most_bytes: most_bytes / UNIT_BYTES * UNIT_BYTES,
            end: base,
            ..DeviceHeap::default()
        };
        heap.put(base, region_bytes(heap.most_bytes));
        heap
    }

    pub(crate) fn is_in_use(&self) -> bool {
        !self.taken.is_empty()
    }

    /// The end of the part in which blocks have existed.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The freed block that began there.
    pub(crate) fn freed(&self, address: u64) -> Option<&HeapBlock> {
        self.freed.get(&address)
    }

    /// Blocks that have not been freed.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &HeapBlock> {
        self.taken.values()
    }

    /// Whether all bytes of an access are in one allocated block.
    pub(crate) fn holds(&self, address: u64, width_bytes: u64) -> bool {
        let before = self.taken.range(..=address).next_back();
        before.is_some_and(|(_, block)| block.holds(address, width_bytes))
    }

    /// The block that an access outside of all blocks was meant for: the nearest one, freed or not.
    pub(crate) fn meant(&self, address: u64) -> Option<&HeapBlock> {
        let before = |blocks: &BTreeMap<u64, HeapBlock>| {
            let last = blocks.range(..=address).next_back();
            last.map(|(&start, _)| start)
        };
        let before = match (before(&self.taken), before(&self.freed)) {
            (taken, freed) if taken > freed => self.taken.get(&taken?),
            (_, freed) => freed.and_then(|freed| self.freed.get(&freed)),
        };
        let after = self.taken.range(address..).next();
        let after = after.map(|(_, block)| block);
        let (Some(last), Some(next)) = (before, after) else {
            return before.or(after);
        };
        let beyond = address.saturating_sub(last.start + last.bytes);
        let is_inside = address < last.start + last.bytes;
        match is_inside || beyond <= next.start - address {
            true => Some(last),
            false => Some(next),
        }
    }

    fn put(&mut self, address: u64, size: u64) {
        if size > 0 {
            self.room.insert(address, size);
            self.by_size.insert((size, address));
        }
    }

    fn take(&mut self, address: u64, size: u64) {
        self.room.remove(&address);
        self.by_size.remove(&(size, address));
    }

    /// Allocates from the smallest free space that is large enough, the first of several.
    pub(crate) fn malloc(&mut self, bytes: u64, made_at: LocId) -> Option<u64> {
        let units = bytes.checked_next_multiple_of(UNIT_BYTES)?;
        if bytes == 0 || units > self.most_bytes - self.used_bytes {
            return None;
        }
        let wanted = footprint(bytes);
        let find = |heap: &DeviceHeap| heap.by_size.range((wanted, 0)..).next().copied();
        let (size, start) = find(self).or_else(|| {
            self.reuse(0);
            find(self)
        })?;
        self.take(start, size);
        self.put(start + wanted, size - wanted);
        let stale = self.freed.range(start..start + wanted);
        let stale: Vec<u64> = stale.map(|(&start, _)| start).collect();
        for start in stale {
            self.freed.remove(&start);
        }
        let block = HeapBlock {
            start,
            bytes,
            made_at,
            freed_at: None,
        };
        self.taken.insert(start, block);
        self.used_bytes += units;
        self.end = self.end.max(start + wanted);
        Some(start)
    }

    /// Frees the block at the address. Returns whether there is one.
    pub(crate) fn free(&mut self, address: u64, freed_at: LocId) -> bool {
        let Some(block) = self.taken.remove(&address) else {
            return false;
        };
        let block = HeapBlock {
            freed_at: Some(freed_at),
            ..block
        };
        self.freed.insert(address, block);
        self.used_bytes -= block.bytes.next_multiple_of(UNIT_BYTES);
        self.waiting.push_back(block);
        self.waiting_bytes += footprint(block.bytes);
        self.reuse(self.most_bytes / 4);
        true
    }

    /// Makes waiting blocks free space again, merged with adjacent free space, until at most this many bytes wait.
    fn reuse(&mut self, most_bytes: u64) {
        while self.waiting_bytes > most_bytes {
            let Some(block) = self.waiting.pop_front() else {
                return;
            };
            let mut size = footprint(block.bytes);
            self.waiting_bytes -= size;
            let mut start = block.start;
            if let Some((&before, &length)) = self.room.range(..start).next_back()
                && before + length == start
            {
                self.take(before, length);
                (start, size) = (before, size + length);
            }
            if let Some(&length) = self.room.get(&(start + size)) {
                self.take(start + size, length);
                size += length;
            }
            self.put(start, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: LocId = LocId(1);

    #[test]
    fn what_is_given_back_is_one_again() {
        let mut heap = DeviceHeap::new(0x1000, 128);
        let blocks: Vec<u64> = (0..4).map(|_| heap.malloc(20, HERE).unwrap()).collect();
        assert_eq!(blocks, [0x1000, 0x1030, 0x1060, 0x1090]);
        assert_eq!(heap.malloc(1, HERE), None);
        for at in [1, 3, 0, 2] {
            assert!(heap.free(blocks[at], HERE));
        }
        assert!(!heap.free(blocks[0], HERE) && heap.freed(blocks[0]).is_some());
        assert_eq!(heap.malloc(128, HERE), Some(0x1000));
        assert!(heap.free(0x1000, HERE));
        assert!(!heap.is_in_use());
    }

    #[test]
    fn nothing_and_too_much_are_null() {
        let mut heap = DeviceHeap::new(0x1000, 128);
        assert_eq!(heap.malloc(0, HERE), None);
        assert_eq!(heap.malloc(129, HERE), None);
        assert_eq!(heap.malloc(u64::MAX, HERE), None);
    }

    #[test]
    fn all_of_the_smallest_blocks_fit() {
        let mut heap = DeviceHeap::new(0x1000, 128);
        assert_eq!((0..9).filter_map(|_| heap.malloc(16, HERE)).count(), 8);
    }

    #[test]
    fn accesses_stay_in_their_block() {
        let mut heap = DeviceHeap::new(0x1000, 1024);
        let (a, b) = (
            heap.malloc(13, HERE).unwrap(),
            heap.malloc(16, HERE).unwrap(),
        );
        assert!(heap.holds(a, 13) && heap.holds(a + 12, 1) && !heap.holds(a + 12, 2));
        assert_eq!(heap.meant(a + 16).map(|block| block.start), Some(a));
        assert_eq!(heap.meant(b - 1).map(|block| block.start), Some(b));
        assert!(heap.free(a, HERE));
        assert!(!heap.holds(a, 1) && heap.holds(b, 16));
        assert_eq!(heap.meant(a).map(|block| block.freed_at), Some(Some(HERE)));
        // It is not reused as long as there is other free space.
        assert!(heap.malloc(13, HERE) > Some(b));
    }
}
