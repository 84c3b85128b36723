//! CUDA's arrays: boxes of elements that are accessible only to copies, because kernels read them through textures and surfaces. Those are
//! not supported, and the calls that would make them say so.

use std::{
    collections::HashMap,
    ffi::{c_int, c_uint, c_void},
};

use runtime::error::CudaError;

use crate::{
    copy::{Extent, Kind, Rows},
    graph::Op,
    state::{State, call, refuse},
    stream::Stream,
};

/// `cudaChannelFormatDesc`: the bits of each channel, and their kind.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    bits: [c_int; 4],
    kind: c_int,
}

/// An array.
#[derive(Clone, Copy)]
pub(crate) struct Array {
    address: u64,
    format: Format,
    extent: Extent,
    flags: c_uint,
    pub(crate) element_bytes: u64,
    /// The distance of rows in bytes.
    pub(crate) pitch: u64,
}

impl Array {
    /// The address of a byte in a row.
    pub(crate) fn at(&self, x_bytes: u64, y: u64, z: u64) -> u64 {
        self.address + z * self.slice() + y * self.pitch + x_bytes
    }

    /// The distance of slices in bytes.
    pub(crate) fn slice(&self) -> u64 {
        self.pitch * self.extent.height.max(1) as u64
    }

    /// Whether the array contains these bytes of each row.
    fn holds(&self, (x, y): (usize, usize), width: usize, height: usize) -> bool {
        let rows = self.extent.height.max(1);
        x as u64 + width as u64 <= self.pitch && y + height <= rows * self.extent.depth.max(1)
    }
}

/// All arrays, by handle.
#[derive(Default)]
pub(crate) struct Arrays {
    arrays: HashMap<usize, Array>,
    handles: usize,
}

impl Arrays {
    pub(crate) fn get(&self, handle: usize) -> Result<Array, CudaError> {
        let found = self.arrays.get(&handle).copied();
        found.ok_or(CudaError::InvalidResourceHandle)
    }
}

impl State {
    fn make_array(
        &mut self,
        format: *const Format,
        extent: Extent,
        flags: c_uint,
    ) -> Result<usize, CudaError> {
        // SAFETY: the program passes a pointer to a description, or null.
        let format = *unsafe { format.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let bits: c_int = format.bits.iter().sum();
        let element_bytes = u64::try_from(bits / 8).map_err(|_| CudaError::InvalidValue)?;
        let pitch = element_bytes * extent.width as u64;
        let rows = extent.height.max(1) as u64 * extent.depth.max(1) as u64;
        if pitch == 0 {
            return Err(CudaError::InvalidValue);
        }
        let address = self.allocate_device(pitch * rows)?;
        let arrays = &mut self.given.arrays;
        arrays.handles += 1;
        let handle = 0x6000_0000 + 0x10 * arrays.handles;
        let made = Array {
            address,
            format,
            extent,
            flags,
            element_bytes,
            pitch,
        };
        arrays.arrays.insert(handle, made);
        Ok(handle)
    }
}

fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocArray(
    array: *mut usize,
    format: *const Format,
    width: usize,
    height: usize,
    flags: c_uint,
) -> c_int {
    cudaMalloc3DArray(
        array,
        format,
        Extent {
            width,
            height,
            depth: 0,
        },
        flags,
    )
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc3DArray(
    array: *mut usize,
    format: *const Format,
    extent: Extent,
    flags: c_uint,
) -> c_int {
    call(|state| put(array, state.make_array(format, extent, flags)?))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeArray(array: usize) -> c_int {
    call(|state| {
        if array == 0 {
            return Ok(());
        }
        let found = state.given.arrays.get(array)?;
        state.given.arrays.arrays.remove(&array);
        let freed = state.device.free(&mut state.memory, found.address);
        state.device_result(freed, "cudaFreeArray")
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaArrayGetInfo(
    format: *mut Format,
    extent: *mut Extent,
    flags: *mut c_uint,
    array: usize,
) -> c_int {
    call(|state| {
        let found = state.given.arrays.get(array)?;
        if !format.is_null() {
            put(format, found.format)?;
        }
        if !extent.is_null() {
            put(extent, found.extent)?;
        }
        if !flags.is_null() {
            put(flags, found.flags)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetChannelDesc(format: *mut Format, array: usize) -> c_int {
    call(|state| put(format, state.given.arrays.get(array)?.format))
}

/// Rows of an array, starting at a byte of each row.
type Part = (usize, (usize, usize));

/// Copies rows between memory and an array, or between two arrays.
fn copy(
    stream: Option<Stream>,
    kind: c_int,
    (width, height): (usize, usize),
    to: Result<Part, (u64, usize)>,
    from: Result<Part, (u64, usize)>,
) -> c_int {
    call(|state| {
        let place = |side: Result<Part, (u64, usize)>| match side {
            Ok((array, (x, y))) => {
                let array = state.given.arrays.get(array)?;
                match array.holds((x, y), width, height) {
                    true => Ok((array.at(x as u64, y as u64, 0), array.pitch)),
                    false => Err(CudaError::InvalidValue),
                }
            }
            Err((address, pitch)) => Ok((address, pitch as u64)),
        };
        let ((to, to_pitch), (from, from_pitch)) = (place(to)?, place(from)?);
        let rows = Rows {
            to,
            to_pitch,
            from,
            from_pitch,
            width: width as u64,
            height: height as u64,
        };
        state.submit(stream, Op::Copy(rows, Kind::of(kind)?))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DToArrayAsync(
    to: usize,
    x: usize,
    y: usize,
    from: u64,
    pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: Stream,
) -> c_int {
    let (to, from) = (Ok((to, (x, y))), Err((from, pitch)));
    copy(Some(stream), kind, (width, height), to, from)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DToArray(
    to: usize,
    x: usize,
    y: usize,
    from: u64,
    pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    let (to, from) = (Ok((to, (x, y))), Err((from, pitch)));
    copy(None, kind, (width, height), to, from)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DFromArrayAsync(
    to: u64,
    pitch: usize,
    from: usize,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: Stream,
) -> c_int {
    let (to, from) = (Err((to, pitch)), Ok((from, (x, y))));
    copy(Some(stream), kind, (width, height), to, from)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DFromArray(
    to: u64,
    pitch: usize,
    from: usize,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    let (to, from) = (Err((to, pitch)), Ok((from, (x, y))));
    copy(None, kind, (width, height), to, from)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DArrayToArray(
    to: usize,
    to_x: usize,
    to_y: usize,
    from: usize,
    from_x: usize,
    from_y: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    let (to, from) = (Ok((to, (to_x, to_y))), Ok((from, (from_x, from_y))));
    copy(None, kind, (width, height), to, from)
}

/// Bytes past the end of a row continue in the array's next row.
fn flat(
    array: usize,
    (x, y): (usize, usize),
    other: u64,
    bytes: usize,
    mut one: impl FnMut(usize, usize, u64, usize) -> c_int,
) -> c_int {
    let mut pitch = 0;
    let error = call(|state| {
        pitch = state.given.arrays.get(array)?.pitch as usize;
        Ok(())
    });
    let (mut x, mut y, mut done) = (x, y, 0);
    while error == 0 && done < bytes {
        let width = (bytes - done).min(pitch.saturating_sub(x));
        let error = match width {
            0 => crate::state::remember(CudaError::InvalidValue),
            _ => one(x, y, other + done as u64, width),
        };
        if error != 0 {
            return error;
        }
        (x, y, done) = (0, y + 1, done + width);
    }
    error
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyToArray(
    to: usize,
    x: usize,
    y: usize,
    from: u64,
    bytes: usize,
    kind: c_int,
) -> c_int {
    flat(to, (x, y), from, bytes, |x, y, from, width| {
        cudaMemcpy2DToArray(to, x, y, from, width, width, 1, kind)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyFromArray(
    to: u64,
    from: usize,
    x: usize,
    y: usize,
    bytes: usize,
    kind: c_int,
) -> c_int {
    flat(from, (x, y), to, bytes, |x, y, to, width| {
        cudaMemcpy2DFromArray(to, width, from, x, y, width, 1, kind)
    })
}

/// The objects through which kernels would read arrays.
macro_rules! not_there {
    ($($name:ident($($param:ident: $ty:ty),*): $why:literal;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $ty),*) -> c_int {
            call(|_| Err(refuse(stringify!($name), $why)))
        }
    )*};
}

not_there! {
    cudaCreateTextureObject(object: *mut u64, resource: *const c_void, texture: *const c_void, view: *const c_void):
        "kernels cannot read textures here";
    cudaDestroyTextureObject(object: u64): "there are no texture objects here";
    cudaGetTextureObjectResourceDesc(resource: *mut c_void, object: u64): "there are no texture objects here";
    cudaCreateSurfaceObject(object: *mut u64, resource: *const c_void): "kernels cannot use surfaces here";
    cudaDestroySurfaceObject(object: u64): "there are no surface objects here";
    cudaMallocMipmappedArray(array: *mut usize, format: *const Format, extent: Extent, levels: c_uint, flags: c_uint):
        "kernels cannot read textures here";
    cudaGetMipmappedArrayLevel(level: *mut usize, array: usize, number: c_uint): "there are no mipmapped arrays here";
    cudaFreeMipmappedArray(array: usize): "there are no mipmapped arrays here";
}
