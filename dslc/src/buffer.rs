//! Typed device memory.

use std::{fmt, hash, marker::PhantomData, ops::Range, sync::Arc};

use crate::{
    device::Device,
    element::{Element, bytes_of, elements_of},
    error::{Error, Result},
};

/// Memory of a device, freed with its last owner.
#[derive(Debug)]
pub(crate) struct Allocation {
    device: Device,
    address: u64,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.free(self.address);
    }
}

/// Elements in device memory: what a kernel's `T *` and `const T *` point to.
///
/// A kernel takes `&Buffer<T>` for `const T *` and `&mut Buffer<T>` for `T *`. The same memory for two parameters is an [alias](Buffer::alias).
pub struct Buffer<T> {
    device: Device,
    /// `None` for a null pointer.
    allocation: Option<Arc<Allocation>>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// Takes ownership of memory for `len` elements.
    pub(crate) fn new(device: &Device, address: u64, len: usize) -> Buffer<T> {
        let allocation = Allocation {
            device: device.clone(),
            address,
        };
        Buffer {
            device: device.clone(),
            allocation: Some(Arc::new(allocation)),
            address,
            len,
            element: PhantomData,
        }
    }

    /// A buffer without memory: kernels get a null pointer.
    pub fn null(device: &Device) -> Buffer<T> {
        Buffer {
            device: device.clone(),
            allocation: None,
            address: 0,
            len: 0,
            element: PhantomData,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, after all previous launches. An error on the simulated device if some of them are uninitialised.
    pub fn read(&self) -> Result<Vec<T>> {
        let bytes = self.device.read(
            self.address,
            self.len as u64 * T::BYTES as u64,
            T::BYTES as u64,
        )?;
        Ok(elements_of(&bytes))
    }

    /// The contents as bytes, and the uninitialised bytes among them, as ascending ranges.
    #[doc(hidden)]
    pub fn read_with_unset(&self) -> Result<(Vec<u8>, Vec<Range<usize>>)> {
        let bytes = self.len as u64 * T::BYTES as u64;
        self.device.read_with_unset(self.address, bytes)
    }

    /// Overwrites all elements; `elements` must have the same length.
    pub fn write(&mut self, elements: &[T]) -> Result<()> {
        if elements.len() != self.len {
            return Err(Error::new(format_args!(
                "{} elements cannot be written to a buffer of {}: take a slice of it",
                elements.len(),
                self.len
            )));
        }
        self.device.write(self.address, &bytes_of(elements))
    }

    /// Sets every byte to zero.
    pub fn clear(&mut self) -> Result<()> {
        self.device
            .fill(self.address, 0, self.len as u64 * T::BYTES as u64)
    }

    /// The same memory once more, for a kernel that takes one pointer twice, such as one that works in place. The kernel may write through
    /// both; the race check reports if it does not keep them apart.
    #[must_use]
    pub fn alias(&self) -> Buffer<T> {
        Buffer {
            device: self.device.clone(),
            allocation: self.allocation.clone(),
            address: self.address,
            len: self.len,
            element: PhantomData,
        }
    }

    /// A part of the buffer, in the same memory. Kernels get a pointer to its first element and may access the whole buffer.
    pub fn slice(&self, range: Range<usize>) -> Result<Buffer<T>> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::new(format_args!(
                "elements {range:?} are not in a buffer of {}",
                self.len
            )));
        }
        let mut part = self.alias();
        part.address += (range.start * T::BYTES) as u64;
        part.len = range.len();
        Ok(part)
    }

    /// Its address, for structures that contain pointers. It does not keep the memory alive: the buffer has to live as long as kernels use
    /// it.
    pub fn pointer(&self) -> DevicePointer<T> {
        DevicePointer {
            address: self.address,
            element: PhantomData,
        }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("address", &format_args!("{:#x}", self.address))
            .finish()
    }
}

/// A device address as a value, for a pointer inside a structure or an array.
pub struct DevicePointer<T> {
    address: u64,
    element: PhantomData<fn() -> T>,
}

impl<T> DevicePointer<T> {
    /// The null pointer.
    pub const NULL: DevicePointer<T> = DevicePointer {
        address: 0,
        element: PhantomData,
    };

    /// The address as kernels see it.
    pub fn address(self) -> u64 {
        self.address
    }
}

// By hand: the target type need not implement these.
impl<T> Clone for DevicePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePointer<T> {}

impl<T> PartialEq for DevicePointer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for DevicePointer<T> {}

impl<T> hash::Hash for DevicePointer<T> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.address.hash(state);
    }
}

impl<T> Default for DevicePointer<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T> fmt::Debug for DevicePointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl<T: 'static> Element for DevicePointer<T> {
    const BYTES: usize = 8;

    fn put(&self, bytes: &mut [u8]) {
        self.address.put(bytes);
    }

    fn take(bytes: &[u8]) -> Self {
        DevicePointer {
            address: u64::take(bytes),
            element: PhantomData,
        }
    }
}
