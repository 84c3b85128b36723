//! Describes why memory cannot be used, and what an address belongs to.

use std::fmt;

use ir::Space;

use crate::fault::trap::{AccessOp, BadAccess, BadObject, TrapKind};

/// What an address belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressKind {
    /// Heap, stack or a variable of the host.
    Host,
    /// `cudaMalloc` or a `__device__` variable.
    Device,
    /// `cudaMallocManaged`, `__managed__`.
    Managed,
    /// A `__constant__` variable.
    Constant,
    /// The window of shared memory.
    Shared,
    /// The window of thread-local memory.
    Local,
    /// A string literal.
    String,
    /// Null, or null plus an index.
    Null,
    /// Freed memory.
    Freed,
    /// No known memory.
    Unknown,
}

/// Why bytes cannot be read, written or freed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryFault {
    /// What the address belongs to. `Device`, `Host` etc. mean that it is inside, but not with all `len` bytes.
    pub kind: AddressKind,
    /// The address.
    pub address: u64,
    /// The number of bytes.
    pub len: u64,
    /// The nearest object.
    pub object: Option<BadObject>,
    /// Whether the object exists but is read-only.
    pub read_only: bool,
    /// The kind of memory (`Host`, `Device`) as which it was to be freed.
    pub freed_as: Option<AddressKind>,
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, len) = (self.address, self.len);
        if let (Some(wanted), Some(object)) = (self.freed_as, &self.object) {
            return self.describe_free(f, wanted, object);
        }
        match (&self.object, self.kind) {
            (_, AddressKind::Null) if address == 0 => write!(f, "null pointer"),
            (_, AddressKind::Null) => write!(f, "null pointer (address {address:#x})"),
            (Some(object), AddressKind::Freed) => write!(f, "{} was freed", object.name),
            (Some(object), _) if self.read_only => write!(f, "{} is read-only", object.name),
            (Some(object), _) => write!(
                f,
                "{len} bytes at offset {} are out of bounds of {} ({} bytes)",
                object.offset_bytes, object.name, object.size_bytes
            ),
            (None, _) => write!(f, "no memory at {address:#x}"),
        }
    }
}

impl std::error::Error for MemoryFault {}

impl MemoryFault {
    fn describe_free(
        &self,
        f: &mut fmt::Formatter<'_>,
        wanted: AddressKind,
        object: &BadObject,
    ) -> fmt::Result {
        let name = &object.name;
        match (self.kind, object.offset_bytes) {
            (AddressKind::Freed, 0) => write!(f, "{name} is already freed"),
            _ if self.is_other_side(wanted) => match wanted {
                AddressKind::Host => write!(f, "{name} does not come from `malloc`"),
                _ => write!(f, "{name} does not come from `cudaMalloc`"),
            },
            (_, 0) => write!(f, "{name} is not an allocation"),
            (_, offset) => write!(
                f,
                "the pointer is {offset} bytes into {name}, but only the start of an allocation can be freed"
            ),
        }
    }

    /// Whether the memory to free as `wanted` belongs to the other side.
    fn is_other_side(&self, wanted: AddressKind) -> bool {
        match self.kind {
            AddressKind::Host | AddressKind::String => wanted != AddressKind::Host,
            AddressKind::Device | AddressKind::Managed | AddressKind::Constant => {
                wanted == AddressKind::Host
            }
            _ => false,
        }
    }

    /// Whether host memory was freed as device memory, or the reverse.
    pub fn is_wrong_side_free(&self) -> bool {
        self.freed_as
            .is_some_and(|wanted| self.is_other_side(wanted))
    }

    /// The trap with this reason.
    pub fn trap(self, op: AccessOp) -> TrapKind {
        if self.freed_as.is_some() {
            return TrapKind::InvalidFree(Box::new(self));
        }
        let (kind, read_only) = (self.kind, self.read_only);
        let access = Box::new(BadAccess {
            op,
            space: Space::Generic,
            address: self.address,
            width_bytes: self.len as u32,
            object: self.object,
        });
        match kind {
            AddressKind::Null => TrapKind::NullPointer(access),
            AddressKind::Freed => TrapKind::UseAfterFree(access),
            _ if read_only => TrapKind::ReadOnly(access),
            _ if access.object.is_some() => TrapKind::OutOfBounds(access),
            AddressKind::Shared
            | AddressKind::Local
            | AddressKind::Device
            | AddressKind::Constant => TrapKind::DevicePointerOnHost(access),
            AddressKind::Host
            | AddressKind::Managed
            | AddressKind::String
            | AddressKind::Unknown => TrapKind::InvalidPointer(access),
        }
    }
}
