//! Reads buffers from NumPy's files and writes them (feature `npy`).

use std::{fs, path::Path};

use runtime::buffer::npy::Header;

use crate::{
    buffer::Buffer,
    device::Device,
    element::{Element, elements_of},
    error::{Error, Result},
};

/// An element for which NumPy has a type.
pub trait NumpyElement: Element {
    /// NumPy's name of it, with the byte order: `<f4`.
    const DESCR: &'static str;
}

macro_rules! descriptions {
    ($($ty:ty = $descr:literal),* $(,)?) => { $(
        impl NumpyElement for $ty {
            const DESCR: &'static str = $descr;
        }
    )* };
}

descriptions! {
    bool = "|b1",
    i8 = "|i1",
    u8 = "|u1",
    i16 = "<i2",
    u16 = "<u2",
    i32 = "<i4",
    u32 = "<u4",
    i64 = "<i8",
    u64 = "<u8",
    f32 = "<f4",
    f64 = "<f8",
}

#[cfg(feature = "half")]
descriptions! { half::f16 = "<f2" }

impl Device {
    /// A buffer with the contents of a `.npy` file, in the file's order; the shape is lost. An error if its elements are not of this type,
    /// or are big-endian.
    pub fn buffer_from_npy<T: NumpyElement>(&self, path: impl AsRef<Path>) -> Result<Buffer<T>> {
        let path = path.as_ref();
        let failed = |why: &dyn std::fmt::Display| {
            Error::new(format_args!("cannot read `{}`: {why}", path.display()))
        };
        let file = fs::read(path).map_err(|error| failed(&error))?;
        let mut rest = &file[..];
        let header = Header::read(&mut rest).map_err(|why| failed(&why))?;
        // `=` is the byte order of the machine that wrote the file; NumPy itself writes `<` or `>`.
        let descr = header.descr.replacen('=', "<", 1);
        if descr != T::DESCR {
            let (has, wants) = (&header.descr, T::DESCR);
            return Err(failed(&format_args!(
                "its elements are {has}, the buffer's {wants}"
            )));
        }
        let mut shape = header.shape.iter();
        let bytes = shape.try_fold(T::BYTES as u64, |bytes, &n| bytes.checked_mul(n));
        match bytes {
            Some(bytes) if bytes <= rest.len() as u64 => {
                self.buffer(&elements_of::<T>(&rest[..bytes as usize]))
            }
            _ => Err(failed(&"it is shorter than its header says")),
        }
    }
}

impl<T: NumpyElement> Buffer<T> {
    /// Writes the contents to a `.npy` file, as an array of that shape.
    pub fn save_npy(&self, path: impl AsRef<Path>, shape: &[u64]) -> Result<()> {
        let path = path.as_ref();
        let elements = self.read()?;
        let mut dims = shape.iter();
        if dims.try_fold(1u64, |n, &dim| n.checked_mul(dim)) != Some(elements.len() as u64) {
            return Err(Error::new(format_args!(
                "{} elements are not an array of the shape {shape:?}",
                elements.len()
            )));
        }
        let header = Header {
            descr: T::DESCR.to_string(),
            is_fortran: false,
            shape: shape.to_vec(),
        };
        let mut file = header.to_bytes();
        file.extend(crate::element::bytes_of(&elements));
        fs::write(path, &file)
            .map_err(|error| Error::new(format_args!("cannot write `{}`: {error}", path.display())))
    }
}
