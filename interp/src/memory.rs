//! All memory of a program except shared and thread-local memory: device and host memory in one address space.
//!
//! Every object is a separate `Region`, followed by a guard gap, so that an index that is off by one hits nothing.
//! Addresses are never reused, and freed regions are remembered, so that a use after free can be distinguished from a
//! wild pointer. Addresses depend only on the sequence of calls. See [`layout`] for the areas.
//!
//! This module knows what is where. `allocate` hands out memory, `access` reads and writes it, and `image` has a
//! program's variables.

pub mod layout;

mod access;
mod allocate;
mod bits;
pub(crate) mod bytes;
pub(crate) mod defined;
pub(crate) mod device_heap;
mod foreign;
mod image;
pub(crate) mod map;
mod region;
mod suspect;
pub mod traffic;
pub mod unset;

#[cfg(feature = "threads")]
use std::sync::{Mutex, PoisonError};

use self::bytes::Bytes;
use ir::{LocId, Module};

use crate::fault::trap::BadObject;

pub use crate::fault::address::{AddressKind, MemoryFault};
pub use allocate::{MemoryLimits, OutOfMemory};
use defined::Defined;
use device_heap::KernelHeap;
pub use image::Image;
use layout::area;
pub(crate) use region::Region;
use region::{Area, GUARD_BYTES};
use traffic::Traffic;
use unset::Transfer;

/// The size of the host's stack.
pub(crate) const STACK_BYTES: u64 = 8 << 20;

/// The largest buffer that is kept between launches.
#[cfg(feature = "threads")]
const SPARE_BYTES: usize = 256 << 20;

/// The objects by purpose, each kind at separate addresses: see [`layout`].
#[derive(Debug)]
struct Areas {
    heap: Area,
    statics: Area,
    strings: Area,
    device_statics: Area,
    constants: Area,
    managed: Area,
    device: Area,
    stack: Area,
    /// Memory of a real device, at its real addresses: see [`foreign`].
    foreign: Area,
}

impl Areas {
    fn new() -> Areas {
        Areas {
            heap: Area::new(layout::HEAP + 0x12a0),
            statics: Area::new(layout::STATICS + 0x4040),
            strings: Area::new(layout::STRINGS + 0x2004),
            device_statics: Area::new(layout::DEVICE_STATICS + 0x20_0000),
            constants: Area::new(layout::CONSTANTS + 0x20_0000),
            managed: Area::new(layout::MANAGED + 0x200_0000),
            device: Area::new(layout::DEVICE + 0x20_0000),
            stack: Area::new(layout::STACK + 0x10_0000),
            foreign: Area::new(0),
        }
    }
}

/// Device and host memory of one program, or of several that share it ([`Memory::load`]).
#[derive(Debug)]
pub struct Memory {
    areas: Areas,
    /// The variables of the current program.
    image: Image,
    traffic: Traffic,
    /// Memory that launches left differently under another schedule.
    suspects: Vec<suspect::Suspect>,
    /// Copies of uninitialised bytes, in order.
    transfers: Vec<Transfer>,
    limits: MemoryLimits,
    /// The heap for `malloc` in kernels.
    kernel_heap: KernelHeap,
    /// The stack limit of a kernel's threads, if the program has set it.
    kernel_stack: u64,
    /// The buffer to which the last launch copied regions.
    #[cfg(feature = "threads")]
    spare: Mutex<Vec<u8>>,
}

impl Memory {
    /// Memory with the program's variables and strings in it.
    pub fn new(module: &Module) -> Memory {
        let mut memory = Memory::empty();
        memory.image = memory.load(module);
        memory
    }

    /// Memory without any program.
    pub fn empty() -> Memory {
        let mut memory = Memory {
            areas: Areas::new(),
            image: Image::default(),
            traffic: Traffic::default(),
            suspects: Vec::new(),
            transfers: Vec::new(),
            limits: MemoryLimits::default(),
            kernel_heap: KernelHeap::default(),
            kernel_stack: 0,
            #[cfg(feature = "threads")]
            spare: Mutex::default(),
        };
        let bytes = STACK_BYTES as usize;
        let stack = Bytes::sparse(bytes).unwrap_or_else(|| bytes::refused(bytes));
        let stack = memory.areas.stack.place(stack, 4096, AddressKind::Host);
        stack.name = Some("the stack".to_owned());
        stack.defined = Defined::sparse(STACK_BYTES);
        memory
    }

    /// The first byte of the host's stack, which grows upwards.
    pub(crate) fn stack_base(&self) -> u64 {
        self.areas.stack.regions[0].base
    }

    /// A buffer with unspecified contents and capacity, to copy regions to while a launch runs.
    #[cfg(feature = "threads")]
    pub(crate) fn take_spare(&self) -> Vec<u8> {
        std::mem::take(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the buffer for the next launch, unless it is so large that the memory is better used otherwise.
    #[cfg(feature = "threads")]
    pub(crate) fn keep_spare(&self, spare: Vec<u8>) {
        if spare.capacity() <= SPARE_BYTES {
            *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = spare;
        }
    }

    /// Names an allocation for messages: the place where it was made, or the buffer's name on the command line.
    pub fn set_name(&mut self, address: u64, name: &str) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].name = Some(name.to_owned());
        }
    }

    /// Records the call that freed the object at an address, for messages.
    pub fn note_freed(&mut self, address: u64, loc: LocId) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            if region.base == address && region.freed {
                region.freed_at.get_or_insert(loc);
            }
        }
    }

    #[inline]
    fn area(&self, address: u64) -> Option<&Area> {
        if self.is_foreign(address) {
            return Some(&self.areas.foreign);
        }
        Some(match area(address) {
            0x55 => &self.areas.heap,
            0x56 => &self.areas.statics,
            0x57 => &self.areas.strings,
            0x7b => &self.areas.device_statics,
            0x7c => &self.areas.constants,
            0x7d => &self.areas.managed,
            0x7e => &self.areas.device,
            0x7f => &self.areas.stack,
            _ => return None,
        })
    }

    fn area_mut(&mut self, address: u64) -> &mut Area {
        if self.is_foreign(address) {
            return &mut self.areas.foreign;
        }
        match area(address) {
            0x55 => &mut self.areas.heap,
            0x56 => &mut self.areas.statics,
            0x57 => &mut self.areas.strings,
            0x7b => &mut self.areas.device_statics,
            0x7c => &mut self.areas.constants,
            0x7d => &mut self.areas.managed,
            0x7e => &mut self.areas.device,
            _ => &mut self.areas.stack,
        }
    }

    fn region_index(&self, address: u64) -> Option<(u64, usize)> {
        Some((address, self.area(address)?.find(address)?))
    }

    /// The region that contains the address, or otherwise the nearest one below it.
    pub(crate) fn region(&self, address: u64) -> Option<&Region> {
        let area = self.area(address)?;
        Some(&area.regions[area.find(address)?])
    }

    /// The base and size of the live allocation that contains the address.
    pub fn bounds(&self, address: u64) -> Option<(u64, u64)> {
        let region = self.region(address)?;
        let is_in = !region.freed && address.wrapping_sub(region.base) < region.size;
        is_in.then_some((region.base, region.size))
    }

    /// All regions that kernels may access, including freed ones. Of a real device's memory only the part that the host
    /// can also reach.
    pub(crate) fn device_regions(&self) -> impl Iterator<Item = &Region> {
        let areas = [
            &self.areas.strings,
            &self.areas.device_statics,
            &self.areas.constants,
            &self.areas.managed,
            &self.areas.device,
        ];
        let foreign = self.areas.foreign.regions.iter();
        let areas = areas.into_iter().flat_map(|area| area.regions.iter());
        areas.chain(foreign.filter(|region| !region.is_remote()))
    }

    /// The kind of memory at an address.
    pub fn kind_of(&self, address: u64) -> AddressKind {
        if !(layout::NULL_PAGE_BYTES..=u64::MAX - layout::NULL_PAGE_BYTES).contains(&address) {
            return AddressKind::Null;
        }
        match area(address) {
            _ if self.is_foreign(address) => {}
            0x79 => return AddressKind::Local,
            0x7a => return AddressKind::Shared,
            _ => {}
        }
        match self.region(address) {
            // One past the end belongs to the object, because pointers may point there.
            Some(region) if address <= region.end() && region.freed => AddressKind::Freed,
            Some(region) if address <= region.end() => region.kind,
            _ => AddressKind::Unknown,
        }
    }

    /// The reason why `len` bytes at `address` are inaccessible.
    pub(crate) fn fault(&self, address: u64, len: u64, read_only: bool) -> MemoryFault {
        let kind = self.kind_of(address);
        let near = self.region(address).filter(|region| {
            // Close to an object, the access was probably meant for it.
            kind != AddressKind::Null && address < region.end() + GUARD_BYTES.max(region.size)
        });
        let next = || {
            let area = self.area(address)?;
            let region = area
                .regions
                .get(area.find(address).map_or(0, |index| index + 1))?;
            (address.wrapping_add(GUARD_BYTES) >= region.base).then_some(region)
        };
        let near = near.or_else(next);
        // Device memory of a real GPU: all bytes exist, but not for the host.
        let out_of_reach =
            near.is_some_and(|region| region.is_remote() && region.holds(address, len));
        let object = near
            .filter(|_| !out_of_reach)
            .map(|region| region.describe(address));
        MemoryFault {
            kind,
            address,
            len,
            object,
            read_only,
            freed_as: None,
        }
    }

    /// An address as an offset in the object that begins at `base`.
    pub(crate) fn object_at(&self, base: u64, address: u64) -> Option<BadObject> {
        Some(self.region(base)?.describe(address))
    }

    /// The reason why the memory at `address` cannot be freed as memory of the wanted kind.
    pub fn free_fault(&self, address: u64, wanted: AddressKind) -> MemoryFault {
        MemoryFault {
            freed_as: Some(wanted),
            ..self.fault(address, 0, false)
        }
    }
}
