//! The bytes of one allocation: the only place with raw memory.
//!
//! A kernel's lanes read and write allocations through pointers, from several CPU threads at a time, so the bytes
//! cannot be a `Vec<u8>` behind `&mut`. Invariants: `pointer` is valid for `len` bytes from [`Bytes::new`] to the drop,
//! aligned to 256, and always initialised. Memory from a driver ([`Bytes::borrowed`]) has the driver's alignment and
//! outlives its `Bytes`. A running launch borrows [`Memory`](super::Memory) mutably, so no slice made by
//! [`Bytes::slice`] is alive then.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr::NonNull;

#[cfg(any(unix, windows))]
use memmap2::MmapMut;

const ALIGN_BYTES: usize = 256;
/// The alignment requested from the allocator. Up to this alignment, zeroed memory consists of untouched pages from the
/// system. With a larger one, every byte would be written. So `ALIGN_BYTES` more are requested, and the start is moved.
const ALLOCATION_ALIGN_BYTES: usize = 16;

/// From this size on, memory comes from the system, in the largest pages available. A kernel that walks through rows
/// touches a page or more with each, and a CPU can map only a few thousand pages of 4 KB at a time.
const HUGE_BYTES: usize = 4 << 20;

/// Zeroed memory that may be written through a shared pointer.
#[derive(Debug)]
pub(crate) struct Bytes {
    owner: Owner,
    pointer: NonNull<u8>,
    len: usize,
}

/// Where the bytes are returned in the end.
#[derive(Debug)]
enum Owner {
    /// Nowhere: they are borrowed, or there are none.
    Nobody,
    /// To the allocator, from this address.
    Allocator(NonNull<u8>),
    /// To the system, page by page.
    #[cfg(any(unix, windows))]
    Pages { _pages: MmapMut },
}

/// The access mode of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Size {
    Usual,
    Huge,
}

// SAFETY: `Bytes` owns its memory. Code that writes through `pointer` from several threads is responsible for races
// (see `launch`).
unsafe impl Send for Bytes {}
// SAFETY: as above; `&Bytes` alone gives only reads.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// `len` zero bytes, or `None` if there is not enough memory.
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
        // Directly from the system, because a program's global allocator may end the program when there is no memory,
        // while these bytes may be refused.
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

    /// `len` zero bytes of which few will be touched, or `None` if there is not enough memory. They come from the
    /// system. An allocator would reuse memory of this size and have to clear all of it.
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
            // If the system has no such pages, it uses others.
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

    /// Borrowed memory.
    ///
    /// # Safety
    /// `pointer` must be valid for reads and writes of `len` bytes for as long as the value and its regions are used.
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

    /// The whole words of owned memory.
    pub(super) fn words(&self) -> &[u64] {
        let words = self.len / size_of::<u64>();
        // SAFETY: as in `slice`; owned memory is aligned to more than a word, and so is the dangling pointer of empty
        // memory.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().cast(), words) }
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        let words = self.len / size_of::<u64>();
        // SAFETY: as above, and `&mut self` is the only way in.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr().cast(), words) }
    }
}

/// Ends the program because there is not enough memory.
pub(super) fn refused(len: usize) -> ! {
    // The program's allocator decides how it ends; some print a message.
    drop(Vec::<u8>::with_capacity(len));
    handle_alloc_error(Layout::array::<u8>(len).unwrap_or(Layout::new::<u8>()))
}

/// The layout of an allocation for `len` aligned bytes.
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

/// Fills memory. It makes no call for zero items, because C's `memset` may then store under an empty mask at an
/// unmapped address, which costs a CPU hundreds of cycles.
pub(crate) fn refill<T: Copy>(items: &mut [T], value: T) {
    if !items.is_empty() {
        items.fill(value);
    }
}
