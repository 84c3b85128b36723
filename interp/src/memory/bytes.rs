//! The bytes of one allocation: the one place where memory is raw.
//!
//! A kernel's lanes read and write allocations through pointers, several CPU threads at a time, so the bytes cannot be a
//! `Vec<u8>` behind `&mut`. Invariants: `pointer` is valid for `len` bytes from [`Bytes::new`] to the drop, aligned to
//! 256, and always initialised. While a launch runs, [`Memory`](super::Memory) is mutably borrowed by it, so no slice
//! made by [`Bytes::slice`] is alive.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

const ALIGN_BYTES: usize = 256;
/// What the allocator aligns to by itself. Only then does it take zeroed pages from the system as they are; asked for more, it
/// clears them, which makes the system provide every page of a buffer or stack that is never used.
const NATURAL_ALIGN_BYTES: usize = 16;

/// Zeroed memory that may be written through a shared pointer.
#[derive(Debug)]
pub(crate) struct Bytes {
    pointer: NonNull<u8>,
    len: usize,
    /// What was allocated, `ALIGN_BYTES` more than `len`.
    allocation: NonNull<u8>,
}

// SAFETY: `Bytes` owns its memory; who writes through `pointer` from several threads answers for the races (see `launch`).
unsafe impl Send for Bytes {}
// SAFETY: as above; `&Bytes` alone gives only reads.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// `len` zero bytes, or `None` if there is not so much memory.
    pub(crate) fn new(len: usize) -> Option<Bytes> {
        if len == 0 {
            let pointer = NonNull::dangling();
            return Some(Bytes {
                pointer,
                len,
                allocation: pointer,
            });
        }
        // SAFETY: the layout's size is not 0.
        let allocation = NonNull::new(unsafe { alloc_zeroed(Self::layout(len)?) })?;
        let ahead = allocation.align_offset(ALIGN_BYTES);
        // SAFETY: less than `ALIGN_BYTES` ahead, and so much more was allocated.
        let pointer = unsafe { allocation.add(ahead) };
        Some(Bytes {
            pointer,
            len,
            allocation,
        })
    }

    fn layout(len: usize) -> Option<Layout> {
        let size = len.checked_add(ALIGN_BYTES)?;
        Layout::from_size_align(size, NATURAL_ALIGN_BYTES).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    pub(crate) fn slice(&self) -> &[u8] {
        // SAFETY: the memory is valid and initialised; no launch runs (see the header).
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    pub(crate) fn slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only way in.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.len > 0 {
            let layout = Self::layout(self.len).expect("made by new");
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.allocation.as_ptr(), layout) }
        }
    }
}
