//! The addresses of device memory are reserved in the process, without access: a host that touches one ends with a sentence that names
//! the allocation, not by chance in memory of its own.

use std::{
    ffi::{c_int, c_void},
    sync::{
        Once, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use interp::memory::layout;

use crate::state::{eprintln_all, try_state};

/// Each area of device addresses, and how much of it is reserved.
const AREAS: [(u64, usize); 4] = [
    // Where the system maps memory of its own begins some 700 GiB above.
    (layout::DEVICE, 512 << 30),
    (layout::DEVICE_STATICS, 64 << 30),
    (layout::CONSTANTS, 64 << 30),
    (layout::SHARED, 1 << 32),
];

/// Which areas are reserved, one bit each: where the system had something mapped already, addresses may be the host's own.
static RESERVED: AtomicU32 = AtomicU32::new(0);

/// Whether the address is in one of them.
pub(crate) fn is_reserved(address: u64) -> bool {
    let reserved = RESERVED.load(Ordering::Relaxed);
    AREAS.iter().enumerate().any(|(index, &(start, bytes))| {
        reserved & 1 << index != 0 && address >= start && address - start < bytes as u64
    })
}

/// Reserves them, and watches for accesses.
pub(crate) fn reserve() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (index, (start, bytes)) in AREAS.into_iter().enumerate() {
            // SAFETY: nothing is mapped over; where something is, the area stays as it is and only the sentence is missing.
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
        // SAFETY: the handler is a function of this form; it lets other faults take their way.
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

/// What was to happen at a bad access before the library was asked for anything: a sanitizer's handler, or the system's.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// The process touched memory it may not. Returning makes it fault again, with the handler that was there before.
extern "C" fn faulted(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    if let Some(before) = BEFORE.get() {
        // SAFETY: it is what the system gave.
        unsafe { libc::sigaction(libc::SIGSEGV, before, std::ptr::null_mut()) };
    }
    // SAFETY: the system hands over what it knows of the fault.
    let (address, code) = unsafe { ((*info).si_addr() as u64, (*info).si_code) };
    if code <= 0 {
        // A process sent the signal, so that no access faults again: it is sent once more.
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
    // What the kernels did until here is told all the same: the process ends at once.
    crate::exit::report();
}
