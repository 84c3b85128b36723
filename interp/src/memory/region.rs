//! An object in memory, and the area for objects of one kind.

use ir::LocId;

use super::OutOfMemory;
use super::bytes::Bytes;
use super::defined::Defined;
use super::unset::{Allocation, Setter};
use crate::fault::address::AddressKind;
use crate::fault::trap::BadObject;

/// The smallest gap between regions.
pub(super) const GUARD_BYTES: u64 = 512;
/// How many freed regions each area remembers.
const FREED_KEPT: usize = 1 << 16;
/// The total that each of `cudaMalloc` and `malloc` can hand out.
pub(super) const CAPACITY_BYTES: u64 = 64 << 30;
/// Allocations count in multiples of this against [`MemoryLimits`](super::MemoryLimits): as on a device, and about what
/// a small one costs here.
const UNIT_BYTES: u64 = 512;

/// One object.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) kind: AddressKind,
    /// Empty for memory of a real device that the host cannot reach.
    pub(crate) bytes: Bytes,
    pub(crate) freed: bool,
    /// The call that freed it.
    pub(super) freed_at: Option<LocId>,
    /// Which bytes have been written; for the host's memory only if that is tracked.
    pub(crate) defined: Defined,
    /// The statement of a launch that was only counted and should have written it: bytes that are not defined were not
    /// computed.
    pub(super) not_computed: Option<LocId>,
    /// Whether the host may have written single bytes since the last check.
    pub(super) dirty: bool,
    /// How often the host has looked it up.
    pub(super) looks: u32,
    /// The call that allocated it.
    pub(super) allocation: Option<Allocation>,
    /// The last call that wrote to it.
    pub(super) setter: Option<Setter>,
    pub(super) name: Option<String>,
    pub(super) element_bytes: u64,
}

impl Region {
    /// A live region without a known call.
    pub(super) fn new(base: u64, size: u64, kind: AddressKind, bytes: Bytes) -> Region {
        Region {
            base,
            size,
            kind,
            bytes,
            freed: false,
            freed_at: None,
            defined: Defined::All,
            not_computed: None,
            dirty: false,
            looks: 0,
            allocation: None,
            setter: None,
            name: None,
            element_bytes: 1,
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Whether the region is live and contains all `len` bytes at `address`.
    pub(super) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        !self.freed && offset <= self.size && self.size - offset >= len
    }

    /// The object of a bad access to `address`.
    pub(crate) fn describe(&self, address: u64) -> BadObject {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => "an allocation".to_owned(),
        };
        BadObject {
            name,
            offset_bytes: address.wrapping_sub(self.base) as i64,
            element_bytes: self.element_bytes,
            dims: Vec::new(),
            size_bytes: self.size,
            declared: false,
            pointer: None,
            freed_at: self.freed_at,
        }
    }
}

/// The regions of one area in ascending order, and the address for the next one.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) next: u64,
    pub(super) in_use_bytes: u64,
    /// The same, rounded up to whole units.
    pub(super) charged_bytes: u64,
    freed: usize,
    pub(super) regions: Vec<Region>,
}

impl Area {
    pub(super) fn new(start: u64) -> Area {
        Area {
            next: start,
            in_use_bytes: 0,
            charged_bytes: 0,
            freed: 0,
            regions: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        size: u64,
        align: u64,
        kind: AddressKind,
    ) -> Result<&mut Region, OutOfMemory> {
        let error = OutOfMemory { bytes: size };
        if size > CAPACITY_BYTES - self.in_use_bytes.min(CAPACITY_BYTES) {
            return Err(error);
        }
        let bytes = Bytes::new(usize::try_from(size).map_err(|_| error)?).ok_or(error)?;
        Ok(self.place(bytes, align, kind))
    }

    /// Adds a region with these bytes.
    pub(super) fn place(&mut self, bytes: Bytes, align: u64, kind: AddressKind) -> &mut Region {
        let size = bytes.len() as u64;
        let align = align.max(1).next_power_of_two();
        let base = self.next.next_multiple_of(align);
        self.next = base + size + GUARD_BYTES;
        self.in_use_bytes += size;
        self.charged_bytes += charge(size);
        self.regions.push(Region::new(base, size, kind, bytes));
        self.regions.last_mut().expect("just pushed")
    }

    /// The region that contains the address, or the one before it (whose guard may contain it).
    pub(super) fn find(&self, address: u64) -> Option<usize> {
        self.regions
            .partition_point(|region| region.base <= address)
            .checked_sub(1)
    }

    pub(super) fn free(&mut self, index: usize) {
        let region = &mut self.regions[index];
        region.freed = true;
        region.bytes = Bytes::new(0).expect("nothing");
        self.in_use_bytes -= region.size;
        self.charged_bytes -= charge(region.size);
        self.freed += 1;
        if self.freed > FREED_KEPT {
            self.freed /= 2;
            let mut drop = self.freed;
            self.regions.retain(|region| {
                let forget = region.freed && drop > 0;
                drop -= usize::from(forget);
                !forget
            });
        }
    }
}

/// The bytes that an allocation counts as.
pub(super) fn charge(bytes: u64) -> u64 {
    bytes.max(1).saturating_add(UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES
}
