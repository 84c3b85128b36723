//! Gives back the pages that were touched before `main`.
//!
//! LLVM is linked in, and its constructors run at every start: some 300 short functions all over its code. The kernel maps the file's
//! pages around each of them, so that nearly all 25 MB of LLVM count as this process's memory, of which a simulation needs none.

/// Unmaps the program's own code and constants; what is needed next comes back from the file system's cache, page by page.
pub(crate) fn drop_untouched() {
    // Not in a debug build: a debugger's breakpoints are written into the code.
    #[cfg(all(target_os = "linux", not(debug_assertions)))]
    linux::drop_untouched();
}

#[cfg(all(target_os = "linux", not(debug_assertions)))]
mod linux {
    use rustix::mm::{Advice, madvise};

    unsafe extern "C" {
        // Set by the linker: where the program begins in memory, and where its code ends.
        static __executable_start: u8;
        static etext: u8;
    }

    pub(super) fn drop_untouched() {
        const PAGE_BYTES: usize = 4096;
        let begin = &raw const __executable_start as usize;
        let end = &raw const etext as usize;
        let (begin, end) = (
            begin.next_multiple_of(PAGE_BYTES),
            end / PAGE_BYTES * PAGE_BYTES,
        );
        if begin >= end {
            return;
        }
        // SAFETY: from the program's beginning to the end of its code everything is mapped from the file and never written, so that
        // a page that is dropped comes back with the same bytes. An error changes nothing.
        let _ = unsafe { madvise(begin as *mut _, end - begin, Advice::LinuxDontNeed) };
    }
}
