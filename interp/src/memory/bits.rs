//! A bit for every byte of a region.

use std::ops::{Deref, DerefMut};

use super::bytes::{Bytes, refused};

const WORD_BYTES: usize = size_of::<u64>();

/// Words of bits. There is room for one bit more than there are bytes, so that a region's end also has a word.
#[derive(Debug)]
pub(crate) struct Bits(Bytes);

impl Bits {
    /// All 0, for a region of `size` bytes.
    pub(super) fn new(size: u64) -> Bits {
        Bits::made(size, Bytes::new)
    }

    /// The same for a region of which few bytes will be accessed.
    pub(super) fn sparse(size: u64) -> Bits {
        Bits::made(size, Bytes::sparse)
    }

    fn made(size: u64, make: impl FnOnce(usize) -> Option<Bytes>) -> Bits {
        let words = (size / 64 + 1) as usize;
        let bytes = words * WORD_BYTES;
        Bits(make(bytes).unwrap_or_else(|| refused(bytes)))
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
