//! The memory of the machine that dslc runs on, and what happens when there is no more.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes of memory of this machine; `None` if the system does not tell.
pub(crate) fn memory_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        #[allow(
            clippy::useless_conversion,
            reason = "it has fewer bits on other machines"
        )]
        let units = u64::try_from(info.totalram).ok()?;
        units.checked_mul(info.mem_unit.into())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Keeps freed memory in the process for the next launch.
///
/// All launches need similar amounts of memory: the state of the checks for every cell, for each worker. By default glibc returns the end
/// of a heap to the system. That stops all other threads for a moment (their processors flush the pages), and the next launch waits for new
/// pages.
pub(crate) fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEPT_BYTES: i32 = 1 << 30;
        // glibc allows no more than half of a thread's heap. Larger blocks still return to the system.
        const FROM_HEAP_BYTES: i32 = 32 << 20;
        // SAFETY: only sets numbers of the allocator; no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
            libc::mallopt(libc::M_MMAP_THRESHOLD, FROM_HEAP_BYTES);
            libc::mallopt(libc::M_TOP_PAD, FROM_HEAP_BYTES);
        }
    }
}

/// The system's allocator, with a message and exit code 2 if there is no memory: Rust would abort. Memory that a program allocates does not
/// come from here; such an allocation may fail.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: forwards everything to the system allocator.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        given(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn given(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        out_of_memory(bytes);
    }
    pointer
}

/// Prints the message without allocating, and exits.
#[cold]
fn out_of_memory(bytes: usize) -> ! {
    use std::io::Write;
    // Standard error has no buffer, and a number is written while it is formatted.
    let _ = writeln!(
        std::io::stderr(),
        "dslc: out of memory: the system refuses {bytes} more bytes; check `ulimit -v`, or limit the program's own memory with --memory"
    );
    std::process::exit(2)
}
