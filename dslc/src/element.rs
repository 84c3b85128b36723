//! Elements of buffers, and values that kernels take.

/// A type with a representation in device memory: numbers, arrays of them, CUDA's vector types, and the structures that the macros make.
///
/// Bytes are little-endian, as on every GPU. `put` and `take` see exactly [`Element::BYTES`] bytes; padding is left alone.
pub trait Element: Copy + 'static {
    /// Size in bytes, padding included.
    const BYTES: usize;

    /// Writes the value.
    fn put(&self, bytes: &mut [u8]);

    /// Reads a value.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            const BYTES: usize = size_of::<$ty>();

            #[inline]
            fn put(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(bytes: &[u8]) -> $ty {
                let mut own = [0; size_of::<$ty>()];
                own.copy_from_slice(bytes);
                <$ty>::from_le_bytes(own)
            }
        }
    )* };
}

numbers! { i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 }

#[cfg(feature = "half")]
numbers! { half::f16 half::bf16 }

impl Element for bool {
    const BYTES: usize = 1;

    fn put(&self, bytes: &mut [u8]) {
        bytes[0] = u8::from(*self);
    }

    fn take(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
}

impl<T: Element, const N: usize> Element for [T; N] {
    const BYTES: usize = N * T::BYTES;

    fn put(&self, bytes: &mut [u8]) {
        for (element, bytes) in self.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            element.put(bytes);
        }
    }

    fn take(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|index| T::take(&bytes[index * T::BYTES..][..T::BYTES]))
    }
}

/// The bytes of consecutive elements.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; elements.len() * T::BYTES];
    if T::BYTES > 0 {
        for (element, bytes) in elements.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            element.put(bytes);
        }
    }
    bytes
}

/// The elements in those bytes.
pub(crate) fn elements_of<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::BYTES.max(1)).map(T::take).collect()
}
