//! All memory of a program but shared and thread-local: device and host side by side in one address space.
//!
//! Every object is a `Region` of its own with a guard gap behind it, so that an index that is off by one hits nothing.
//! Addresses are never used twice and freed regions are remembered: a use after free is told from a wild pointer.
//! Addresses depend on the sequence of calls only. Areas: see [`layout`].

pub mod layout;

pub(crate) mod bytes;
pub(crate) mod defined;
mod device_heap;
mod foreign;
pub(crate) mod map;
pub mod traffic;
pub mod unset;

use std::sync::{Mutex, MutexGuard, PoisonError};

use dsl::ir::{GlobalId, GlobalSpace, LocId, Module, Object, StringId};
use thiserror::Error;

use crate::fault::trap::BadObject;

pub use crate::fault::address::{AddressKind, MemoryFault};
use bytes::Bytes;
use defined::Defined;
use device_heap::DeviceHeap;
use layout::area;
use traffic::Traffic;
use unset::{Allocation, Setter, Transfer};

/// Gap between regions, at least.
const GUARD_BYTES: u64 = 512;
/// The host's stack.
pub(crate) const STACK_BYTES: u64 = 8 << 20;
/// Freed regions that are remembered, per area.
const FREED_KEPT: usize = 1 << 16;
/// What `cudaMalloc` and `malloc` can give out in sum, each.
const CAPACITY_BYTES: u64 = 64 << 30;

/// Largest buffer that is kept between launches.
#[cfg(feature = "threads")]
const SPARE_BYTES: usize = 256 << 20;

/// What an allocation counts as, in multiples, against [`MemoryLimits`]: as on a device, and about what a small one costs here.
const UNIT_BYTES: u64 = 512;

/// How much a program may have allocated at one time, beyond what the areas hold. Untouched memory counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryLimits {
    /// Device and host memory and the program's variables together.
    pub all_bytes: Option<u64>,
    /// `malloc` and what is made of it.
    pub heap_bytes: Option<u64>,
}

/// There is not so much memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("out of memory: {bytes} bytes asked for")]
pub struct OutOfMemory {
    /// Asked for.
    pub bytes: u64,
}

/// One object.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) kind: AddressKind,
    /// Empty for memory of a real device, which the host cannot reach.
    pub(crate) bytes: Bytes,
    pub(crate) freed: bool,
    /// The call that freed it.
    pub(super) freed_at: Option<LocId>,
    /// Which bytes somebody wrote; of the host's own memory only if that is asked for.
    pub(crate) defined: Defined,
    /// The host may have written bytes one by one since that was last looked at.
    dirty: bool,
    /// The call that gave it out.
    allocation: Option<Allocation>,
    /// The last call that wrote to it.
    setter: Option<Setter>,
    name: Option<String>,
    element_bytes: u64,
}

impl Region {
    pub(crate) fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Whether all of `len` bytes at `address` are in it, and it lives.
    fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        !self.freed && offset <= self.size && self.size - offset >= len
    }

    /// As the object of a bad access to `address`.
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

/// Regions of one area, ascending, and where the next one goes.
#[derive(Debug)]
struct Area {
    next: u64,
    in_use_bytes: u64,
    /// The same in whole units.
    charged_bytes: u64,
    freed: usize,
    regions: Vec<Region>,
}

impl Area {
    fn new(start: u64) -> Area {
        Area {
            next: start,
            in_use_bytes: 0,
            charged_bytes: 0,
            freed: 0,
            regions: Vec::new(),
        }
    }

    fn add(
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
        let align = align.max(1).next_power_of_two();
        let base = self.next.next_multiple_of(align);
        self.next = base + size + GUARD_BYTES;
        self.in_use_bytes += size;
        self.charged_bytes += charge(size);
        self.regions.push(Region {
            base,
            size,
            kind,
            bytes,
            freed: false,
            freed_at: None,
            defined: Defined::All,
            dirty: false,
            allocation: None,
            setter: None,
            name: None,
            element_bytes: 1,
        });
        Ok(self.regions.last_mut().expect("just pushed"))
    }

    /// The region that holds the address, or the one before it (whose guard may hold it).
    fn find(&self, address: u64) -> Option<usize> {
        self.regions
            .partition_point(|region| region.base <= address)
            .checked_sub(1)
    }

    fn free(&mut self, index: usize) {
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

/// What an allocation counts as.
fn charge(bytes: u64) -> u64 {
    bytes.max(1).saturating_add(UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES
}

/// Where the variables and string literals of a program are in a [`Memory`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    symbols: Vec<u64>,
    strings: Vec<u64>,
}

/// Device and host memory: of one program, or of several that share it ([`Memory::load`]).
#[derive(Debug)]
pub struct Memory {
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
    /// Of the program that runs.
    image: Image,
    traffic: Traffic,
    /// Copies of bytes that nobody wrote, in order.
    transfers: Vec<Transfer>,
    limits: MemoryLimits,
    /// The heap of kernels, where one has used it.
    device_heap: Mutex<DeviceHeap>,
    /// Where it is, once it is there.
    device_heap_base: Option<u64>,
    device_heap_bytes: u64,
    /// What the last launch copied regions to.
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
            heap: Area::new(layout::HEAP + 0x12a0),
            statics: Area::new(layout::STATICS + 0x4040),
            strings: Area::new(layout::STRINGS + 0x2004),
            device_statics: Area::new(layout::DEVICE_STATICS + 0x20_0000),
            constants: Area::new(layout::CONSTANTS + 0x20_0000),
            managed: Area::new(layout::MANAGED + 0x200_0000),
            device: Area::new(layout::DEVICE + 0x20_0000),
            stack: Area::new(layout::STACK + 0x10_0000),
            foreign: Area::new(0),
            image: Image::default(),
            traffic: Traffic::default(),
            transfers: Vec::new(),
            limits: MemoryLimits::default(),
            device_heap: Mutex::default(),
            device_heap_base: None,
            device_heap_bytes: device_heap::DEFAULT_BYTES,
            #[cfg(feature = "threads")]
            spare: Mutex::default(),
        };
        memory
            .stack
            .add(STACK_BYTES, 4096, AddressKind::Host)
            .expect("8 MiB")
            .name = Some("the stack".to_owned());
        memory
    }

    /// Bounds what is allocated from now on.
    pub fn bound(&mut self, limits: MemoryLimits) {
        self.limits = limits;
    }

    /// Bytes that count against [`MemoryLimits`]: all, and those of the heap.
    pub fn charged_bytes(&self) -> (u64, u64) {
        let areas = [
            &self.heap,
            &self.statics,
            &self.device_statics,
            &self.constants,
            &self.managed,
            &self.device,
        ];
        let all = areas.iter().map(|area| area.charged_bytes).sum();
        (all, self.heap.charged_bytes)
    }

    /// Whether the limits leave room for an allocation.
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

    /// Exchanges where the running program's variables are: a program runs between two calls with its own image.
    pub fn exchange(&mut self, image: &mut Image) {
        std::mem::swap(&mut self.image, image);
    }

    /// Adds a program's variables and strings. The program runs while its image is the memory's: [`Memory::exchange`].
    pub fn load(&mut self, module: &Module) -> Image {
        let mut image = Image::default();
        self.exchange(&mut image);
        self.add_globals(module);
        self.exchange(&mut image);
        image
    }

    fn add_globals(&mut self, module: &Module) {
        for text in &module.strings {
            let region = self
                .strings
                .add(text.len() as u64 + 1, 1, AddressKind::String)
                .expect("a literal");
            region.bytes.slice_mut()[..text.len()].copy_from_slice(text);
            region.name = Some("a string literal".to_owned());
            let base = region.base;
            self.image.strings.push(base);
        }
        for global in &module.globals {
            let (area, kind) = match global.space {
                GlobalSpace::Constant => (&mut self.constants, AddressKind::Constant),
                GlobalSpace::Device => (&mut self.device_statics, AddressKind::Device),
                // Beside the others, not with what `cudaFree` takes.
                GlobalSpace::Managed => (&mut self.device_statics, AddressKind::Managed),
                GlobalSpace::Host => (&mut self.statics, AddressKind::Host),
            };
            let region = match area.add(global.size_bytes, global.align_bytes.max(16), kind) {
                Ok(region) => region,
                // A variable nobody could hold: one without bytes, each access to it traps.
                Err(_) => area.add(0, 16, kind).expect("no bytes"),
            };
            region.name = Some(format!("`{}`", global.name));
            region.element_bytes = global.element_bytes;
            if let Some(init) = &global.init
                && let Some(first) = region.bytes.slice_mut().get_mut(..init.len())
            {
                first.copy_from_slice(init);
            }
            let base = region.base;
            self.image.symbols.push(base);
        }
        for (global, &base) in module.globals.iter().zip(&self.image.symbols.clone()) {
            for &(offset, object, addend) in &global.relocations {
                let target = match object {
                    Object::Global(id) => self.symbol_address(id),
                    Object::String(id) => self.string_address(id),
                    Object::Shared(_) | Object::Local(_) => continue,
                };
                let bits = target.wrapping_add_signed(addend).to_le_bytes();
                if let Ok(bytes) = self.bytes_mut(base + offset, 8) {
                    bytes.copy_from_slice(&bits);
                }
            }
        }
    }

    /// The address of a variable.
    pub fn symbol_address(&self, id: GlobalId) -> u64 {
        self.image.symbols[id.index()]
    }

    /// Whether a variable of the program begins at the address.
    pub fn is_symbol(&self, address: u64) -> bool {
        self.image.symbols.contains(&address)
    }

    /// The address of a string literal.
    pub fn string_address(&self, id: StringId) -> u64 {
        self.image.strings[id.index()]
    }

    /// The first byte of the host's stack; it grows upwards.
    pub(crate) fn stack_base(&self) -> u64 {
        self.stack.regions[0].base
    }

    /// A buffer of any contents and capacity, to copy regions to while a launch runs.
    #[cfg(feature = "threads")]
    pub(crate) fn take_spare(&self) -> Vec<u8> {
        std::mem::take(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the buffer for the next launch, unless it is so large that another use of the memory is more likely.
    #[cfg(feature = "threads")]
    pub(crate) fn keep_spare(&self, spare: Vec<u8>) {
        if spare.capacity() <= SPARE_BYTES {
            *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = spare;
        }
    }

    /// `cudaMalloc`: zeroed, aligned to 256 bytes.
    pub fn malloc_device(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, false)?;
        let region = self.device.add(bytes, 256, AddressKind::Device)?;
        region.defined = Defined::Nothing;
        Ok(region.base)
    }

    /// How large the heap of kernels is from now on; `false` if a kernel uses it already.
    pub fn set_device_heap(&mut self, bytes: u64) -> bool {
        if self.device_heap().is_in_use() {
            return self.device_heap_bytes == bytes;
        }
        self.device_heap_bytes = bytes;
        if let Some(base) = self.device_heap_base.take() {
            let known = self.device_statics.find(base);
            known
                .into_iter()
                .for_each(|at| self.device_statics.free(at));
        }
        true
    }

    /// Makes room for the heap of kernels, before one uses it.
    pub(crate) fn open_device_heap(&mut self) {
        if self.device_heap_base.is_some() {
            return;
        }
        let bytes = self.device_heap_bytes;
        let region = self.device_statics.add(bytes, 256, AddressKind::Device);
        // A heap without memory gives null.
        let Ok(region) = region else { return };
        region.name = Some("the device's heap".to_owned());
        region.defined = Defined::Nothing;
        let base = region.base;
        self.device_heap_base = Some(base);
        *self.device_heap() = DeviceHeap::new(base, bytes);
    }

    pub(crate) fn device_heap(&self) -> MutexGuard<'_, DeviceHeap> {
        self.device_heap
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

    /// `cudaMallocManaged`.
    pub fn managed(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, false)?;
        Ok(self.managed.add(bytes, 256, AddressKind::Managed)?.base)
    }

    /// `malloc` and `calloc`: zeroed, aligned to 16 bytes.
    pub fn malloc_host(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.check_room(bytes, true)?;
        Ok(self.heap.add(bytes, 16, AddressKind::Host)?.base)
    }

    /// A text of the runtime's own on the heap, with its NUL. No limit is asked: a program has no say in these.
    pub fn text(&mut self, text: &str) -> Result<u64, OutOfMemory> {
        let size = text.len() as u64 + 1;
        let region = self.heap.add(size, 16, AddressKind::Host)?;
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
            AddressKind::Managed => &mut self.managed,
            AddressKind::Device => &mut self.device,
            _ => &mut self.heap,
        };
        match area.find(address) {
            Some(index) if area.regions[index].base == address && !area.regions[index].freed => {
                area.free(index);
                Ok(())
            }
            _ => Err(fault),
        }
    }

    /// Says what an allocation is, for messages: where it was made, the buffer's name on the command line.
    pub fn set_name(&mut self, address: u64, name: &str) {
        if let Some((area, index)) = self.region_index(address) {
            self.area_mut(area).regions[index].name = Some(name.to_owned());
        }
    }

    /// Says which call freed what began at the address, for messages.
    pub fn note_freed(&mut self, address: u64, loc: LocId) {
        if let Some((area, index)) = self.region_index(address) {
            let region = &mut self.area_mut(area).regions[index];
            if region.base == address && region.freed {
                region.freed_at.get_or_insert(loc);
            }
        }
    }

    /// The size of the allocation that begins at the address.
    pub fn allocation_bytes(&self, address: u64) -> Option<u64> {
        let region = self.region(address)?;
        (region.base == address && !region.freed).then_some(region.size)
    }

    #[inline]
    fn area(&self, address: u64) -> Option<&Area> {
        if self.is_foreign(address) {
            return Some(&self.foreign);
        }
        Some(match area(address) {
            0x55 => &self.heap,
            0x56 => &self.statics,
            0x57 => &self.strings,
            0x7b => &self.device_statics,
            0x7c => &self.constants,
            0x7d => &self.managed,
            0x7e => &self.device,
            0x7f => &self.stack,
            _ => return None,
        })
    }

    fn area_mut(&mut self, address: u64) -> &mut Area {
        if self.is_foreign(address) {
            return &mut self.foreign;
        }
        match area(address) {
            0x55 => &mut self.heap,
            0x56 => &mut self.statics,
            0x57 => &mut self.strings,
            0x7b => &mut self.device_statics,
            0x7c => &mut self.constants,
            0x7d => &mut self.managed,
            0x7e => &mut self.device,
            _ => &mut self.stack,
        }
    }

    fn region_index(&self, address: u64) -> Option<(u64, usize)> {
        Some((address, self.area(address)?.find(address)?))
    }

    /// The region that holds the address or is the nearest below it.
    pub(crate) fn region(&self, address: u64) -> Option<&Region> {
        let area = self.area(address)?;
        Some(&area.regions[area.find(address)?])
    }

    /// Every region kernels may touch; freed ones included. Of memory of a real device only what the host reaches, too.
    pub(crate) fn device_regions(&self) -> impl Iterator<Item = &Region> {
        let areas = [
            &self.strings,
            &self.device_statics,
            &self.constants,
            &self.managed,
            &self.device,
        ];
        let foreign = self.foreign.regions.iter();
        let areas = areas.into_iter().flat_map(|area| area.regions.iter());
        areas.chain(foreign.filter(|region| !region.is_remote()))
    }

    /// What the address is in.
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
            // One past the end still belongs to the object: that is where a pointer may stand.
            Some(region) if address <= region.end() && region.freed => AddressKind::Freed,
            Some(region) if address <= region.end() => region.kind,
            _ => AddressKind::Unknown,
        }
    }

    /// Why `len` bytes at `address` are not there.
    pub(crate) fn fault(&self, address: u64, len: u64, read_only: bool) -> MemoryFault {
        let kind = self.kind_of(address);
        let near = self.region(address).filter(|region| {
            // A guard's width away from an object, it is that object that was meant.
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
        // Device memory of a real GPU: all its bytes are there, only not for the host.
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

    /// Why what is at `address` cannot be freed as memory of this kind.
    pub fn free_fault(&self, address: u64, wanted: AddressKind) -> MemoryFault {
        MemoryFault {
            freed_as: Some(wanted),
            ..self.fault(address, 0, false)
        }
    }

    /// Bytes to read, from any object.
    pub fn read_bytes(&self, address: u64, len: u64) -> Result<&[u8], MemoryFault> {
        match self.region(address) {
            Some(region) if !region.freed && address - region.base <= region.size => {
                let offset = (address - region.base) as usize;
                match region
                    .bytes
                    .slice()
                    .get(offset..offset.saturating_add(len as usize))
                {
                    Some(bytes) => Ok(bytes),
                    None => Err(self.fault(address, len, false)),
                }
            }
            _ if len == 0 => Ok(&[]),
            _ => Err(self.fault(address, len, false)),
        }
    }

    /// Bytes to write. String literals are read-only; constant memory is not, seen from the host's runtime.
    pub fn bytes_mut(&mut self, address: u64, len: u64) -> Result<&mut [u8], MemoryFault> {
        self.read_bytes(address, len)?;
        if area(address) == area(layout::STRINGS) && !self.is_foreign(address) {
            return Err(self.fault(address, len, true));
        }
        if len == 0 {
            return Ok(&mut []);
        }
        let (_, index) = self.region_index(address).expect("read_bytes found it");
        let region = &mut self.area_mut(address).regions[index];
        let offset = (address - region.base) as usize;
        region.defined.define(offset as u64, len, region.size);
        Ok(&mut region.bytes.slice_mut()[offset..offset + len as usize])
    }

    /// Writes bytes.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.bytes_mut(address, bytes.len() as u64)?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// Copies between any two objects; the ranges may overlap. What was never written stays so.
    pub fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), MemoryFault> {
        self.read_bytes(from, len)?;
        let whole = |region: &Region| region.defined.holds(from - region.base, len);
        let partly = match self.region(from) {
            Some(source) if len > 0 && !whole(source) => self.region(to).map(|region| {
                let (mut source_defined, start) = (source.defined.clone(), from - source.base);
                if source.kind == AddressKind::Host && region.kind != AddressKind::Host {
                    source_defined.fill_members(start, len, source.size);
                }
                (region.defined.clone(), source_defined, start)
            }),
            _ => None,
        };
        self.bytes_mut(to, len)?;
        let copied = self.copy_bytes(to, from, len);
        if let (Some((before, source, start)), Some((_, index))) = (partly, self.region_index(to)) {
            let region = &mut self.area_mut(to).regions[index];
            region.defined = before;
            let at = to - region.base;
            region.defined.copy(at, region.size, &source, start, len);
        }
        copied
    }

    /// What a kernel wrote.
    pub(crate) fn define(&mut self, base: u64, defined: &Defined) {
        if let Some((_, index)) = self.region_index(base) {
            let region = &mut self.area_mut(base).regions[index];
            if region.base == base {
                region.defined.join(defined);
            }
        }
    }

    fn copy_bytes(&mut self, to: u64, from: u64, len: u64) -> Result<(), MemoryFault> {
        if len == 0 {
            return Ok(());
        }
        let (_, source) = self.region_index(from).expect("read_bytes found it");
        let region = &mut self.area_mut(from).regions[source];
        let start = (from - region.base) as usize;
        let range = start..start + len as usize;
        if to.wrapping_sub(region.base) < region.size {
            let at = (to - region.base) as usize;
            region.bytes.slice_mut().copy_within(range, at);
            return Ok(());
        }
        // The source's bytes leave the table for the time of the copy, so that the target can be borrowed.
        let bytes = std::mem::replace(&mut region.bytes, Bytes::new(0).expect("nothing"));
        let copied = self.write_bytes(to, &bytes.slice()[range]);
        self.area_mut(from).regions[source].bytes = bytes;
        copied
    }

    /// `memset`.
    pub fn fill(&mut self, address: u64, byte: u8, len: u64) -> Result<(), MemoryFault> {
        self.bytes_mut(address, len)?.fill(byte);
        Ok(())
    }

    /// The bytes of a NUL-terminated string, without the NUL.
    pub fn c_string(&self, address: u64) -> Result<&[u8], MemoryFault> {
        self.c_string_within(address, usize::MAX)
    }

    /// The same of a string of which no more than `most` bytes are looked at: it need not end then.
    pub fn c_string_within(&self, address: u64, most: usize) -> Result<&[u8], MemoryFault> {
        let Some(region) = self
            .region(address)
            .filter(|region| !region.freed && address < region.end())
        else {
            return Err(self.fault(address, 1, false));
        };
        let bytes = &region.bytes.slice()[(address - region.base) as usize..];
        let looked_at = &bytes[..bytes.len().min(most)];
        match looked_at.iter().position(|&byte| byte == 0) {
            Some(end) => Ok(&bytes[..end]),
            None if looked_at.len() == most => Ok(looked_at),
            None => Err(self.fault(region.end(), 1, false)),
        }
    }

    /// Device and managed allocations that were not freed so far: address, bytes, the call that made each.
    pub fn leaks(&self) -> impl Iterator<Item = (u64, u64, Option<&Allocation>)> {
        let regions = self.managed.regions.iter().chain(&self.device.regions);
        let alive = regions.filter(|region| !region.freed && !self.is_symbol(region.base));
        alive.map(|region| (region.base, region.size, region.allocation.as_ref()))
    }

    /// Bytes `cudaMalloc` and `cudaMallocManaged` have given out and not got back.
    pub fn device_bytes_in_use(&self) -> u64 {
        self.device.in_use_bytes + self.managed.in_use_bytes
    }
}
