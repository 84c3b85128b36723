//! Reads buffers from NumPy's files and writes them (feature `npy`).

use std::{fs, path::Path};

use npyz::{AutoSerialize, Deserialize, NpyFile, WriterBuilder};

use crate::{
    buffer::Buffer,
    device::Device,
    element::Element,
    error::{Error, Result},
};

impl Device {
    /// A buffer with the contents of a `.npy` file, in the file's order; the shape is lost. An error if its elements are not of this type.
    pub fn buffer_from_npy<T: Element + Deserialize>(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Buffer<T>> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| {
            Error::new(format_args!("cannot read `{}`: {error}", path.display()))
        };
        let bytes = fs::read(path).map_err(failed)?;
        let file = NpyFile::new(&bytes[..]).map_err(failed)?;
        let elements: Vec<T> = file.into_vec().map_err(failed)?;
        self.buffer(&elements)
    }
}

impl<T: Element + AutoSerialize> Buffer<T> {
    /// Writes the contents to a `.npy` file, as an array of that shape.
    pub fn save_npy(&self, path: impl AsRef<Path>, shape: &[u64]) -> Result<()> {
        let path = path.as_ref();
        let elements = self.read()?;
        if shape.iter().product::<u64>() != elements.len() as u64 {
            return Err(Error::new(format_args!(
                "{} elements are no array of the shape {shape:?}",
                elements.len()
            )));
        }
        let mut bytes = Vec::new();
        let write = |bytes: &mut Vec<u8>| -> std::io::Result<()> {
            let options = npyz::WriteOptions::new().default_dtype();
            let mut writer = options.shape(shape).writer(bytes).begin_nd()?;
            writer.extend(elements)?;
            writer.finish()
        };
        write(&mut bytes)
            .and_then(|()| fs::write(path, &bytes))
            .map_err(|error| Error::new(format_args!("cannot write `{}`: {error}", path.display())))
    }
}
