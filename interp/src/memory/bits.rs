//! A bit for every byte of a region.

use std::{
    alloc::{Layout, handle_alloc_error},
    ops::{Deref, DerefMut},
};

use super::bytes::Bytes;

const WORD_BYTES: usize = size_of::<u64>();

/// Words of bits, with one bit too many: a region of whole words has one word more.
#[derive(Debug)]
pub(crate) struct Bits(Bytes);

impl Bits {
    /// For a region of `size`; all 0.
    pub(super) fn new(size: u64) -> Bits {
        Bits::made(size, Bytes::new)
    }

    /// The same for a region of which few bytes will be looked at.
    pub(super) fn sparse(size: u64) -> Bits {
        Bits::made(size, Bytes::sparse)
    }

    fn made(size: u64, make: impl FnOnce(usize) -> Option<Bytes>) -> Bits {
        let words = (size / 64 + 1) as usize;
        Bits(make(words * WORD_BYTES).unwrap_or_else(|| {
            // The program's allocator says how it ends; some do it with a sentence of their own.
            drop(Vec::<u64>::with_capacity(words));
            handle_alloc_error(Layout::array::<u64>(words).unwrap_or(Layout::new::<u64>()))
        }))
    }
}

impl Deref for Bits {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        self.0.words()
    }
}

impl DerefMut for Bits {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        self.0.words_mut()
    }
}

impl Clone for Bits {
    fn clone(&self) -> Bits {
        let mut copy = Bits::new(self.len() as u64 * 64 - 1);
        copy.copy_from_slice(self);
        copy
    }
}
