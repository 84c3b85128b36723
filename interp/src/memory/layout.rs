//! The address space, and the purpose of its areas.
//!
//! An address has 48 bits. Its top byte (bits 40 to 47) identifies the area, so that a wild pointer rarely lands in
//! another area, and `%p` prints what a program on Linux would print. Shared and local memory have a window each: an
//! address in it refers to the memory of the current block or thread. In kernels such a pointer is stored as the low 32
//! bits of its address.

/// Addresses below this are null pointers plus an index.
pub const NULL_PAGE_BYTES: u64 = 0x1_0000;
/// The host's heap.
pub const HEAP: u64 = 0x55d0_0000_0000;
/// Host variables.
pub const STATICS: u64 = 0x5640_0000_0000;
/// String literals.
pub const STRINGS: u64 = 0x5741_0000_0000;
/// The generic window of thread-local memory.
pub const LOCAL: u64 = 0x7900_0000_0000;
/// The generic window of shared memory.
pub const SHARED: u64 = 0x7a00_0000_0000;
/// `__device__` variables.
pub const DEVICE_STATICS: u64 = 0x7b10_0000_0000;
/// `__constant__` variables.
pub const CONSTANTS: u64 = 0x7c20_0000_0000;
/// `cudaMallocManaged`.
pub const MANAGED: u64 = 0x7d30_0000_0000;
/// `cudaMalloc`.
pub const DEVICE: u64 = 0x7e40_0000_0000;
/// The host's stack.
pub const STACK: u64 = 0x7ffc_0000_0000;

/// The low 32 bits of the first shared byte's address: not 0, so that a pointer may point before an array.
pub const SHARED_BASE: u32 = 0x0100_0000;
/// The low 32 bits of the first local byte's address.
pub const LOCAL_BASE: u32 = 0x0200_0000;

/// The number of an address's area: bits 40 and up.
pub const fn area(address: u64) -> u64 {
    address >> 40
}

/// Whether the address is in the same area as `window`.
pub const fn is_in(window: u64, address: u64) -> bool {
    area(address) == area(window)
}

/// The generic address of a 32-bit pointer. Null stays null.
#[inline(always)]
pub fn widen(window: u64, pointer: u32) -> u64 {
    if pointer == 0 {
        0
    } else {
        window | pointer as u64
    }
}

/// The 32 bits of a generic address. An address outside of the window becomes one without memory.
#[inline(always)]
pub fn narrow(window: u64, address: u64) -> u32 {
    if area(address) == area(window) || address == 0 {
        address as u32
    } else {
        !0xf
    }
}
