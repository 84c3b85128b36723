//! The bytes of one allocation: the one place where memory is raw.
//!
//! A kernel's lanes read and write allocations through pointers, several CPU threads at a time, so the bytes cannot be a
//! `Vec<u8>` behind `&mut`. Invariants: `pointer` is valid for `len` bytes from [`Bytes::new`] to the drop, aligned to
//! 256, and always initialised. Memory that a driver gave ([`Bytes::borrowed`]) has the driver's alignment and outlives its `Bytes`. While a launch runs, [`Memory`](super::Memory) is mutably borrowed by it, so no slice
//! made by [`Bytes::slice`] is alive.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr::NonNull;

#[cfg(any(unix, windows))]
use memmap2::MmapMut;

const ALIGN_BYTES: usize = 256;
/// What is asked of the allocator. Up to this alignment zeroed memory comes as untouched pages from the system; beyond it,
/// every byte would be written to be zero. So `ALIGN_BYTES` more are asked for, and the start is moved.
const ALLOCATION_ALIGN_BYTES: usize = 16;

/// From here on memory comes from the system, in pages as large as it has. A kernel that walks through rows touches a page or more with
/// each, and a CPU knows the places of few thousand pages of 4 KB.
const HUGE_BYTES: usize = 4 << 20;

/// Zeroed memory that may be written through a shared pointer.
#[derive(Debug)]
pub(crate) struct Bytes {
    owner: Owner,
    pointer: NonNull<u8>,
    len: usize,
}

/// Where the bytes go in the end.
#[derive(Debug)]
enum Owner {
    /// Nowhere: they are somebody else's, or there are none.
    Nobody,
    /// To the allocator, from this address.
    Allocator(NonNull<u8>),
    /// To the system, page by page.
    #[cfg(any(unix, windows))]
    Pages { _pages: MmapMut },
}

/// Of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Size {
    Usual,
    Huge,
}

// SAFETY: `Bytes` owns its memory; who writes through `pointer` from several threads answers for the races (see `launch`).
unsafe impl Send for Bytes {}
// SAFETY: as above; `&Bytes` alone gives only reads.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// `len` zero bytes, or `None` if there is not so much memory.
    pub(crate) fn new(len: usize) -> Option<Bytes> {
        if len == 0 {
            let nowhere = NonNull::<u64>::dangling().cast();
            return Some(Bytes {
                owner: Owner::Nobody,
                pointer: nowhere,
                len,
            });
        }
        if len >= HUGE_BYTES
            && let Some(bytes) = Bytes::pages(len, Size::Huge)
        {
            return Some(bytes);
        }
        let layout = layout(len)?;
        // From the system itself: where a program's global allocator ends it when there is no memory, these bytes may be refused.
        // SAFETY: the layout's size is not 0.
        let allocation = NonNull::new(unsafe { System.alloc_zeroed(layout) })?;
        let offset = allocation.as_ptr().align_offset(ALIGN_BYTES);
        debug_assert!(offset < ALIGN_BYTES);
        // SAFETY: the allocation is ALIGN_BYTES larger than `len`, and `offset` is less than that.
        let pointer = unsafe { allocation.add(offset) };
        Some(Bytes {
            owner: Owner::Allocator(allocation),
            pointer,
            len,
        })
    }

    /// `len` zero bytes of which few will be touched, or `None` if there is not so much memory. They come from the system: an
    /// allocator gives memory of this size a second time and would have to clear all of it.
    pub(crate) fn sparse(len: usize) -> Option<Bytes> {
        Bytes::pages(len, Size::Usual).or_else(|| Bytes::new(len))
    }

    /// Untouched pages of the system.
    #[cfg(any(unix, windows))]
    fn pages(len: usize, size: Size) -> Option<Bytes> {
        if len == 0 {
            return None;
        }
        let mut pages = MmapMut::map_anon(len).ok()?;
        let pointer = NonNull::new(pages.as_mut_ptr())?;
        #[cfg(target_os = "linux")]
        if size == Size::Huge {
            // A system without such pages has others.
            let _ = pages.advise(memmap2::Advice::HugePage);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = size;
        Some(Bytes {
            owner: Owner::Pages { _pages: pages },
            pointer,
            len,
        })
    }

    #[cfg(not(any(unix, windows)))]
    fn pages(_: usize, _: Size) -> Option<Bytes> {
        None
    }

    /// Memory of somebody else.
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of `len` bytes for as long as the value and its regions are used.
    pub(crate) unsafe fn borrowed(pointer: NonNull<u8>, len: usize) -> Bytes {
        Bytes {
            owner: Owner::Nobody,
            pointer,
            len,
        }
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

    /// The whole words of memory of our own.
    pub(super) fn words(&self) -> &[u64] {
        let words = self.len / size_of::<u64>();
        // SAFETY: as in `slice`; memory of our own is aligned to more than a word, and so is the place where there is none.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().cast(), words) }
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        let words = self.len / size_of::<u64>();
        // SAFETY: as above, and `&mut self` is the only way in.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr().cast(), words) }
    }
}

/// Ends the program for want of memory.
pub(super) fn refused(len: usize) -> ! {
    // The program's allocator says how it ends; some do it with a sentence of their own.
    drop(Vec::<u8>::with_capacity(len));
    handle_alloc_error(Layout::array::<u8>(len).unwrap_or(Layout::new::<u8>()))
}

/// Of an allocation that holds `len` aligned bytes.
fn layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len.checked_add(ALIGN_BYTES)?, ALLOCATION_ALIGN_BYTES).ok()
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Owner::Allocator(allocation) = self.owner {
            let layout = layout(self.len).expect("made by new");
            // SAFETY: allocated in `new` with this layout.
            unsafe { System.dealloc(allocation.as_ptr(), layout) }
        }
    }
}

/// Fills memory. Not a call for nothing: C's `memset` may store under an empty mask then, at an address where there is no
/// memory, which costs a CPU hundreds of cycles.
pub(crate) fn refill<T: Copy>(items: &mut [T], value: T) {
    if !items.is_empty() {
        items.fill(value);
    }
}
