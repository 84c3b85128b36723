//! Reserves the addresses of device memory in the process, without access. A host that accesses one ends with a message that names the
//! allocation, instead of accidentally accessing its own memory.

use std::{
    ffi::{c_int, c_void},
    sync::{
        Once, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use interp::memory::layout;

use crate::state::{eprintln_all, try_state};

/// Each area of device addresses, and the reserved size.
const AREAS: [(u64, usize); 4] = [
    // The region where the system maps memory begins some 700 GiB above.
    (layout::DEVICE, 512 << 30),
    (layout::DEVICE_STATICS, 64 << 30),
    (layout::CONSTANTS, 64 << 30),
    (layout::SHARED, 1 << 32),
];

/// Which areas are reserved, one bit each. Where the system had mapped something already, addresses may belong to the host.
static RESERVED: AtomicU32 = AtomicU32::new(0);

/// Whether the address is in a reserved area.
pub(crate) fn is_reserved(address: u64) -> bool {
    let reserved = RESERVED.load(Ordering::Relaxed);
    AREAS.iter().enumerate().any(|(index, &(start, bytes))| {
        reserved & 1 << index != 0 && address >= start && address - start < bytes as u64
    })
}

/// Reserves the areas, and handles accesses to them.
pub(crate) fn reserve() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (index, (start, bytes)) in AREAS.into_iter().enumerate() {
            // SAFETY: it maps over nothing. An area with an existing mapping stays as it is, and only the message is missing.
            let place = unsafe {
                libc::mmap(
                    start as *mut c_void,
                    bytes,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE
                        | libc::MAP_ANONYMOUS
                        | libc::MAP_NORESERVE
                        | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                )
            };
            if place as u64 == start {
                RESERVED.fetch_or(1 << index, Ordering::Relaxed);
            }
        }
        // SAFETY: the handler is a function with this signature; it passes other faults on.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGSEGV, std::ptr::null(), &raw mut before);
            let _ = BEFORE.set(before);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = faulted as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut());
        }
    });
}

/// The earlier action for a bad access: a sanitizer's handler, or the system's default.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Handles an access that is not allowed. After it returns, the access faults again, with the earlier handler.
extern "C" fn faulted(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    if let Some(before) = BEFORE.get() {
        // SAFETY: it is what the system returned.
        unsafe { libc::sigaction(libc::SIGSEGV, before, std::ptr::null_mut()) };
    }
    // SAFETY: the system passes information on the fault.
    let (address, code) = unsafe { ((*info).si_addr() as u64, (*info).si_code) };
    if code <= 0 {
        // A process sent the signal, so no access will fault again: the signal is sent once more.
        // SAFETY: it only sends a signal to this thread.
        unsafe { libc::raise(libc::SIGSEGV) };
        return;
    }
    if !is_reserved(address) {
        return;
    }
    let name = try_state().and_then(|state| state.memory.name_of(address).map(str::to_owned));
    let what = match name {
        Some(name) => format!("{name}, which is device memory"),
        None => "device memory outside every allocation".to_string(),
    };
    eprintln_all(&format!(
        "dslc: the host accessed address {address:#x}: {what}. Copy it with cudaMemcpy, or allocate it with cudaMallocManaged\n"
    ));
    // The process ends at once, so what the kernels did until here is reported now.
    crate::exit::report();
}
