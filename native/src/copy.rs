//! Copies and fills: of bytes, rows and boxes, and of variables.

use std::{
    ffi::{c_int, c_void},
    slice,
};

use runtime::{
    error::CudaError,
    host::{CopyEnd, WrongKind},
};

use crate::{
    array::Arrays,
    graph::Op,
    state::{State, call},
    stream::Stream,
};

/// `cudaMemcpyKind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Default,
}

impl Kind {
    pub(crate) fn of(number: c_int) -> Result<Kind, CudaError> {
        Ok(match number {
            0 => Kind::HostToHost,
            1 => Kind::HostToDevice,
            2 => Kind::DeviceToHost,
            3 => Kind::DeviceToDevice,
            4 => Kind::Default,
            _ => return Err(CudaError::InvalidMemcpyDirection),
        })
    }
}

/// A three-dimensional extent.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Pos {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PitchedPtr {
    pub(crate) ptr: *mut c_void,
    pub(crate) pitch: usize,
    pub(crate) xsize: usize,
    pub(crate) ysize: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Copy3D {
    from_array: *mut c_void,
    from_pos: Pos,
    from: PitchedPtr,
    to_array: *mut c_void,
    to_pos: Pos,
    to: PitchedPtr,
    extent: Extent,
    kind: c_int,
}

/// A copy of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) to: u64,
    pub(crate) to_pitch: u64,
    pub(crate) from: u64,
    pub(crate) from_pitch: u64,
    pub(crate) width: u64,
    pub(crate) height: u64,
}

impl Rows {
    /// Makes one from the sides' addresses and pitches, and the extent.
    fn of(
        (to, to_pitch): (*mut c_void, usize),
        (from, from_pitch): (*const c_void, usize),
        (width, height): (usize, usize),
    ) -> Rows {
        Rows {
            to: to as u64,
            to_pitch: to_pitch as u64,
            from: from as u64,
            from_pitch: from_pitch as u64,
            width: width as u64,
            height: height as u64,
        }
    }

    /// One row.
    fn flat(to: *mut c_void, from: *const c_void, bytes: usize) -> Rows {
        Rows::of((to, bytes), (from, bytes), (bytes, 1))
    }
}

impl State {
    /// Copies bytes between any two addresses.
    pub(crate) fn copy(
        &mut self,
        to: u64,
        from: u64,
        bytes: u64,
        kind: Kind,
    ) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let (to_device, from_device) = (self.is_device(to), self.is_device(from));
        let fits = |is_device: bool, address: u64, wants: bool| {
            is_device == wants
                || self.shared_at(address).is_some()
                || self.is_managed_variable(address)
        };
        let (wants_to, wants_from) = match kind {
            Kind::HostToHost => (false, false),
            Kind::HostToDevice => (true, false),
            Kind::DeviceToHost => (false, true),
            Kind::DeviceToDevice => (true, true),
            Kind::Default => (to_device, from_device),
        };
        for (is_destination, is_device, address, wants) in [
            (true, to_device, to, wants_to),
            (false, from_device, from, wants_from),
        ] {
            if !fits(is_device, address, wants) {
                self.note_wrong_kind(&WrongKind {
                    to: self.copy_end(to),
                    from: self.copy_end(from),
                    kind: kind as u64,
                    is_destination,
                });
                return Err(CudaError::InvalidValue);
            }
        }
        let length = usize::try_from(bytes).map_err(|_| CudaError::InvalidValue)?;
        match (from_device, to_device) {
            (true, false) => self.compute(from, bytes),
            (true, true) => self.compute_if_quick(from, bytes),
            (false, _) => {}
        }
        let result = match (to_device, from_device) {
            (true, true) => self.device.copy(&mut self.memory, to, from, bytes),
            // SAFETY: the program guarantees that these bytes exist.
            (true, false) => self.device.write(&mut self.memory, to, unsafe {
                slice::from_raw_parts(from as *const u8, length)
            }),
            (false, true) if self.options.on_gpu => {
                let found = self.device.read(&self.memory, from, bytes);
                let found = self.device_result(found, "cudaMemcpy")?;
                // SAFETY: as above.
                unsafe { std::ptr::copy(found.as_ptr(), to as *mut u8, length) };
                Ok(())
            }
            (false, true) => match self.memory.read_bytes(from, bytes) {
                Ok(found) => {
                    // SAFETY: as above; device memory is not mapped in the process.
                    unsafe { std::ptr::copy(found.as_ptr(), to as *mut u8, length) };
                    self.memory.note_read(from, bytes);
                    Ok(())
                }
                Err(fault) => Err(fault.into()),
            },
            (false, false) => {
                // A kernel may still use memory that both sides access.
                self.wait()?;
                // SAFETY: as above; the two may overlap.
                unsafe { std::ptr::copy(from as *const u8, to as *mut u8, length) };
                Ok(())
            }
        };
        self.device_result(result, "cudaMemcpy")?;
        self.note_copy(to, from, bytes);
        Ok(())
    }

    fn copy_end(&self, address: u64) -> CopyEnd {
        let is_both = self.shared_at(address).is_some() || self.is_managed_variable(address);
        let is_device = (!is_both).then(|| self.is_device(address));
        CopyEnd { address, is_device }
    }

    /// Adds a note to the report that a copy's kind does not match its pointers.
    fn note_wrong_kind(&mut self, copy: &WrongKind) {
        let loc = self.place_of_current_call();
        self.note(copy.note(loc));
    }

    pub(crate) fn copy_rows(&mut self, rows: &Rows, kind: Kind) -> Result<(), CudaError> {
        if rows.width > rows.to_pitch || rows.width > rows.from_pitch {
            return Err(CudaError::InvalidPitchValue);
        }
        for row in 0..rows.height {
            let (to, from) = (
                rows.to + row * rows.to_pitch,
                rows.from + row * rows.from_pitch,
            );
            self.copy(to, from, rows.width, kind)?;
        }
        Ok(())
    }

    /// Sets bytes of any memory that kernels can access.
    pub(crate) fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let result = self.device.fill(&mut self.memory, address, byte, bytes);
        self.device_result(result, "cudaMemset")?;
        self.note_fill(address, bytes);
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> c_int {
    call(|state| state.copy(to as u64, from as u64, bytes as u64, Kind::of(kind)?))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: Stream,
) -> c_int {
    copy_2d(Rows::flat(to, from, bytes), kind, Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyPeer(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
) -> c_int {
    call(|state| match (to_device, from_device) {
        (0, 0) => state.copy(to as u64, from as u64, bytes as u64, Kind::DeviceToDevice),
        _ => Err(CudaError::InvalidDevice),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
    _stream: Stream,
) -> c_int {
    cudaMemcpyPeer(to, to_device, from, from_device, bytes)
}

fn copy_2d(rows: Rows, kind: c_int, stream: Option<Stream>) -> c_int {
    call(|state| state.submit(stream, Op::Copy(rows, Kind::of(kind)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: Stream,
) -> c_int {
    let rows = Rows::of((to, to_pitch), (from, from_pitch), (width, height));
    copy_2d(rows, kind, Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    let rows = Rows::of((to, to_pitch), (from, from_pitch), (width, height));
    copy_2d(rows, kind, None)
}

fn copy_3d(copy: *const Copy3D, stream: Option<Stream>) -> c_int {
    call(|state| {
        // SAFETY: the program passes a pointer to a description, or null.
        let copy = unsafe { copy.as_ref() }.ok_or(CudaError::InvalidValue)?;
        for rows in copy.slices(&state.given.arrays)? {
            state.submit(stream, Op::Copy(rows, Kind::of(copy.kind)?))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy3DAsync(copy: *const Copy3D, stream: Stream) -> c_int {
    copy_3d(copy, Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy3D(copy: *const Copy3D) -> c_int {
    copy_3d(copy, None)
}

/// One side of a copy of a box.
struct Side {
    start: u64,
    pitch: u64,
    /// The distance of slices in bytes.
    slice: u64,
    element_bytes: Option<u64>,
}

impl Side {
    fn of(
        array: *mut c_void,
        memory: &PitchedPtr,
        pos: &Pos,
        arrays: &Arrays,
    ) -> Result<Side, CudaError> {
        if array.is_null() {
            let (pitch, slice) = (memory.pitch, memory.pitch * memory.ysize);
            return Ok(Side {
                start: memory.ptr as u64 + (pos.z * slice + pos.y * pitch + pos.x) as u64,
                pitch: pitch as u64,
                slice: slice as u64,
                element_bytes: None,
            });
        }
        let array = arrays.get(array as usize)?;
        Ok(Side {
            start: array.at(
                pos.x as u64 * array.element_bytes,
                pos.y as u64,
                pos.z as u64,
            ),
            pitch: array.pitch,
            slice: array.slice(),
            element_bytes: Some(array.element_bytes),
        })
    }
}

impl Copy3D {
    /// The copy as slices. If an array takes part, the extent and the positions in it count elements.
    pub(crate) fn slices(&self, arrays: &Arrays) -> Result<Vec<Rows>, CudaError> {
        let from = Side::of(self.from_array, &self.from, &self.from_pos, arrays)?;
        let to = Side::of(self.to_array, &self.to, &self.to_pos, arrays)?;
        let element = match (from.element_bytes, to.element_bytes) {
            (Some(from), Some(to)) if from != to => return Err(CudaError::InvalidValue),
            (from, to) => from.or(to).unwrap_or(1),
        };
        let all = (0..self.extent.depth as u64).map(|z| Rows {
            to: to.start + z * to.slice,
            to_pitch: to.pitch,
            from: from.start + z * from.slice,
            from_pitch: from.pitch,
            width: self.extent.width as u64 * element,
            height: self.extent.height as u64,
        });
        Ok(all.collect())
    }

    pub(crate) fn kind(&self) -> Result<Kind, CudaError> {
        Kind::of(self.kind)
    }
}

/// Sets the bytes of rows, given their width and number.
fn fill_rows(
    (pointer, pitch): (*mut c_void, usize),
    value: c_int,
    (width, height): (usize, usize),
    stream: Option<Stream>,
) -> c_int {
    call(|state| {
        if height > 1 && width > pitch {
            return Err(CudaError::InvalidPitchValue);
        }
        for row in 0..height {
            let address = pointer as u64 + (row * pitch) as u64;
            state.submit(stream, Op::Fill(address, value as u8, width as u64))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset2DAsync(
    pointer: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: Stream,
) -> c_int {
    fill_rows((pointer, pitch), value, (width, height), Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset2D(
    pointer: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> c_int {
    fill_rows((pointer, pitch), value, (width, height), None)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset(pointer: *mut c_void, value: c_int, bytes: usize) -> c_int {
    fill_rows((pointer, bytes), value, (bytes, 1), None)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemsetAsync(
    pointer: *mut c_void,
    value: c_int,
    bytes: usize,
    stream: Stream,
) -> c_int {
    fill_rows((pointer, bytes), value, (bytes, 1), Some(stream))
}

fn fill_slices(
    pitched: &PitchedPtr,
    value: c_int,
    extent: Extent,
    stream: Option<Stream>,
) -> c_int {
    for z in 0..extent.depth {
        let slice = (pitched.ptr as usize + z * pitched.pitch * pitched.ysize) as *mut c_void;
        let rows = (extent.width, extent.height);
        let error = fill_rows((slice, pitched.pitch), value, rows, stream);
        if error != 0 {
            return error;
        }
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3DAsync(
    pitched: PitchedPtr,
    value: c_int,
    extent: Extent,
    stream: Stream,
) -> c_int {
    fill_slices(&pitched, value, extent, Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3D(pitched: PitchedPtr, value: c_int, extent: Extent) -> c_int {
    fill_slices(&pitched, value, extent, None)
}

/// A part of a variable; a part beyond the variable is an error.
fn within(
    state: &mut State,
    call: &str,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
) -> Result<u64, CudaError> {
    let (address, size) = state.symbol(symbol)?;
    let end = offset.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
    let part = address + offset as u64;
    if end as u64 <= size {
        return Ok(part);
    }
    // On a GPU, the simulator's memory does not contain the variable.
    if !state.options.on_gpu
        && let Err(fault) = state.memory.read_bytes(part, bytes as u64)
    {
        state.report_fault(call, fault);
    }
    Err(CudaError::InvalidValue)
}

fn copy_to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    (bytes, offset): (usize, usize),
    stream: Option<Stream>,
) -> c_int {
    call(|state| {
        let to = within(state, "cudaMemcpyToSymbol", symbol, bytes, offset)?;
        let rows = Rows::flat(to as *mut c_void, from, bytes);
        state.submit(stream, Op::Copy(rows, Kind::Default))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyToSymbolAsync(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    _kind: c_int,
    stream: Stream,
) -> c_int {
    copy_to_symbol(symbol, from, (bytes, offset), Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyToSymbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    _kind: c_int,
) -> c_int {
    copy_to_symbol(symbol, from, (bytes, offset), None)
}

fn copy_from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    (bytes, offset): (usize, usize),
    stream: Option<Stream>,
) -> c_int {
    call(|state| {
        let from = within(state, "cudaMemcpyFromSymbol", symbol, bytes, offset)?;
        let rows = Rows::flat(to, from as *const c_void, bytes);
        state.submit(stream, Op::Copy(rows, Kind::Default))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyFromSymbolAsync(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    _kind: c_int,
    stream: Stream,
) -> c_int {
    copy_from_symbol(to, symbol, (bytes, offset), Some(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyFromSymbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    _kind: c_int,
) -> c_int {
    copy_from_symbol(to, symbol, (bytes, offset), None)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSymbolAddress(pointer: *mut *mut c_void, symbol: *const c_void) -> c_int {
    call(|state| {
        let (address, _) = state.symbol(symbol)?;
        // SAFETY: the program passes a pointer for the address.
        let target = unsafe { pointer.as_mut() }.ok_or(CudaError::InvalidValue)?;
        *target = address as *mut c_void;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> c_int {
    call(|state| {
        let (_, size) = state.symbol(symbol)?;
        // SAFETY: the program passes a pointer for the size.
        *unsafe { bytes.as_mut() }.ok_or(CudaError::InvalidValue)? = size as usize;
        Ok(())
    })
}
