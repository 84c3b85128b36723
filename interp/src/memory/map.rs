//! The regions that kernels may access, in a form for the lookups of a launch.

use super::{AddressKind, Memory};

/// A region of memory that kernels may access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalRegion {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) bytes: *mut u8,
    pub(crate) writable: bool,
    /// Its index in the map.
    pub(crate) index: u32,
    /// Whether it is the device heap, whose blocks are separate objects.
    pub(crate) is_heap: bool,
}

/// All regions that kernels may access, in ascending order. It is built once per launch, because nothing is allocated
/// during one.
#[derive(Debug)]
pub(crate) struct GlobalMap {
    pub(crate) regions: Vec<GlobalRegion>,
}

// SAFETY: the pointers are to memory that outlives the launch. The engine is responsible for accesses through them.
unsafe impl Sync for GlobalMap {}

// SAFETY: as above.
unsafe impl Send for GlobalMap {}

impl GlobalMap {
    pub(crate) fn new(memory: &Memory) -> GlobalMap {
        let heap = memory.heap_base();
        let alive = memory.device_regions().filter(|region| !region.freed);
        let mut regions: Vec<GlobalRegion> = alive
            .map(|region| GlobalRegion {
                base: region.base,
                size: region.size,
                bytes: region.bytes.pointer(),
                writable: matches!(region.kind, AddressKind::Device | AddressKind::Managed),
                index: 0,
                is_heap: heap == Some(region.base),
            })
            .collect();
        // Never empty, so that a cached index is always valid.
        regions.push(GlobalRegion {
            base: u64::MAX,
            size: 0,
            bytes: std::ptr::null_mut(),
            writable: false,
            index: 0,
            is_heap: false,
        });
        regions.sort_by_key(|region| region.base);
        for (index, region) in regions.iter_mut().enumerate() {
            region.index = index as u32;
        }
        GlobalMap { regions }
    }

    /// The region of an address, or the one before it.
    pub(crate) fn find(&self, address: u64) -> u32 {
        self.regions
            .partition_point(|region| region.base <= address)
            .saturating_sub(1) as u32
    }
}
