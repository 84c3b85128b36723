//! Memory: `cudaMalloc` and its like, copies, fills, variables.
//!
//! Device memory lies in the simulator; its addresses are reserved in the process, so that a host that touches one ends with a sentence
//! ([`crate::reserve`]). Managed and pinned memory is the process's own, which kernels reach at the same address.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    slice,
};

use interp::{AddressKind, MemoryFault};
use runtime::{
    device::{Device, DeviceError},
    error::CudaError,
    host::Note,
};

use crate::{
    graph::Op,
    state::{Shared, SharedKind, State, call},
    stream::Stream,
};

/// Rows of `cudaMallocPitch` begin at multiples of this.
const PITCH_BYTES: u64 = 512;

/// A place in the program's text: what headers of ours hand to calls.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) file: *const c_char,
    pub(crate) line: c_int,
}

thread_local! {
    /// Where the next call stands, if the program said so.
    static SITE: std::cell::Cell<Option<Site>> = const { std::cell::Cell::new(None) };
}

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
    fn of(number: c_int) -> Result<Kind, CudaError> {
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
    width: usize,
    height: usize,
    depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pos {
    x: usize,
    y: usize,
    z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PitchedPtr {
    ptr: *mut c_void,
    pitch: usize,
    xsize: usize,
    ysize: usize,
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

impl State {
    fn is_device(&self, address: u64) -> bool {
        use AddressKind::{Constant, Device, Freed, Local, Shared};
        let kind = self.memory.kind_of(address);
        matches!(kind, Device | Constant | Shared | Local)
            || kind == Freed && crate::reserve::is_reserved(address)
            || kind == AddressKind::Unknown && crate::reserve::is_reserved(address)
    }

    /// Managed or pinned memory that holds the address.
    pub(crate) fn shared_at(&self, address: u64) -> Option<(u64, Shared)> {
        let (&base, &shared) = self.shared.range(..=address).next_back()?;
        (address < base + shared.bytes.max(1)).then_some((base, shared))
    }

    fn allocate_device(&mut self, bytes: u64) -> Result<u64, CudaError> {
        let result = self.device.malloc(&mut self.memory, bytes, false);
        let address = self.device_result(result, "cudaMalloc")?;
        self.name(address, "cudaMalloc", bytes);
        Ok(address)
    }

    fn name(&mut self, address: u64, call: &str, bytes: u64) {
        self.allocations += 1;
        let name = match SITE.take() {
            // SAFETY: headers of ours hand over the literal `__FILE__`.
            Some(site) if !site.file.is_null() => unsafe {
                let file = std::ffi::CStr::from_ptr(site.file).to_string_lossy();
                format!("the allocation of {file}:{}", site.line)
            },
            _ => format!("allocation {} ({call} of {bytes} bytes)", self.allocations),
        };
        self.memory.set_name(address, &name);
    }

    /// Memory of the process that kernels reach, too.
    fn allocate_shared(&mut self, bytes: u64, kind: SharedKind) -> Result<u64, CudaError> {
        let layout = layout(bytes)?;
        // SAFETY: the size is not 0.
        let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
        if pointer.is_null() {
            return Err(CudaError::MemoryAllocation);
        }
        let address = pointer as u64;
        // SAFETY: the block lives until `free_shared` takes it out.
        unsafe { self.memory.add_managed(address, bytes) };
        self.shared.insert(address, Shared { bytes, kind });
        let call = match kind {
            SharedKind::Managed => "cudaMallocManaged",
            SharedKind::Pinned | SharedKind::Registered => "cudaMallocHost",
        };
        self.name(address, call, bytes);
        Ok(address)
    }

    fn free_shared(&mut self, address: u64, shared: Shared) -> Result<(), CudaError> {
        self.shared.remove(&address);
        self.memory
            .remove_foreign(address)
            .map_err(|_| CudaError::InvalidValue)?;
        if shared.kind != SharedKind::Registered {
            // SAFETY: `allocate_shared` made it with this layout, and it is out of the tables.
            unsafe { std::alloc::dealloc(address as *mut u8, layout(shared.bytes)?) };
        }
        Ok(())
    }

    pub(crate) fn device_result<T>(
        &mut self,
        result: Result<T, DeviceError>,
        call: &str,
    ) -> Result<T, CudaError> {
        result.map_err(|error| match error {
            DeviceError::Memory(fault) => {
                self.say_fault(call, &fault);
                CudaError::InvalidValue
            }
            DeviceError::Cuda(error) => error,
            DeviceError::Lost(fault) => fault.error,
        })
    }

    /// A call was given memory that is not there.
    fn say_fault(&mut self, call: &str, fault: &MemoryFault) {
        let text = format!("{call}: {fault}");
        crate::state::eprintln_all(&format!("dslc: {text}\n"));
        if let Some(loaded) = self.all_loaded().next() {
            let note = Note::new(Default::default(), text, true);
            loaded.outcome.notes.push(note);
        }
    }

    /// Copies bytes between any two places.
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
            is_device == wants || self.shared_at(address).is_some()
        };
        let (wants_to, wants_from) = match kind {
            Kind::HostToHost => (false, false),
            Kind::HostToDevice => (true, false),
            Kind::DeviceToHost => (false, true),
            Kind::DeviceToDevice => (true, true),
            Kind::Default => (to_device, from_device),
        };
        for (role, is_device, address, wants) in [
            ("destination", to_device, to, wants_to),
            ("source", from_device, from, wants_from),
        ] {
            if !fits(is_device, address, wants) {
                let (is, should) = match wants {
                    true => ("a host pointer", "a device pointer"),
                    false => ("a device pointer", "a host pointer"),
                };
                crate::state::eprintln_all(&format!(
                    "dslc: cudaMemcpy: the {role} is {is}, but the kind of copy says {should}\n"
                ));
                return Err(CudaError::InvalidValue);
            }
        }
        let length = usize::try_from(bytes).map_err(|_| CudaError::InvalidValue)?;
        let result = match (to_device, from_device) {
            (true, true) => self.device.copy(&mut self.memory, to, from, bytes),
            // SAFETY: the program says that these bytes are there.
            (true, false) => self.device.write(&mut self.memory, to, unsafe {
                slice::from_raw_parts(from as *const u8, length)
            }),
            (false, true) => match self.memory.read_bytes(from, bytes) {
                Ok(found) => {
                    // SAFETY: as above; device memory is nowhere in the process.
                    unsafe { std::ptr::copy(found.as_ptr(), to as *mut u8, length) };
                    Ok(())
                }
                Err(fault) => Err(fault.into()),
            },
            (false, false) => {
                // SAFETY: as above; the two may overlap.
                unsafe { std::ptr::copy(from as *const u8, to as *mut u8, length) };
                Ok(())
            }
        };
        self.device_result(result, "cudaMemcpy")
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

    /// Sets bytes of any memory kernels reach.
    pub(crate) fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let result = self.device.fill(&mut self.memory, address, byte, bytes);
        self.device_result(result, "cudaMemset")
    }

    /// Does the work now, or keeps it for the graph that the stream is captured into.
    pub(crate) fn submit(&mut self, stream: Stream, op: Op) -> Result<(), CudaError> {
        match self.streams.capture_of(stream)? {
            Some(capture) => {
                self.graphs.add(capture, op);
                Ok(())
            }
            None => self.perform(&op),
        }
    }
}

fn layout(bytes: u64) -> Result<std::alloc::Layout, CudaError> {
    let size = usize::try_from(bytes.max(1)).map_err(|_| CudaError::MemoryAllocation)?;
    std::alloc::Layout::from_size_align(size, 4096).map_err(|_| CudaError::MemoryAllocation)
}

/// Gives out memory through a pointer that the program hands in.
fn give(
    pointer: *mut *mut c_void,
    bytes: usize,
    make: impl FnOnce(&mut State) -> Result<u64, CudaError>,
) -> c_int {
    call(|state| {
        if pointer.is_null() {
            return Err(CudaError::InvalidValue);
        }
        let address = if bytes == 0 { 0 } else { make(state)? };
        // SAFETY: the program hands in where it wants the address.
        unsafe { pointer.write(address as *mut c_void) };
        Ok(())
    })
}

/// Where the next call of this thread stands.
#[unsafe(no_mangle)]
extern "C" fn __dslcAt(line: c_int, file: *const c_char) {
    SITE.set(Some(Site { file, line }));
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc(pointer: *mut *mut c_void, bytes: usize) -> c_int {
    give(pointer, bytes, |state| state.allocate_device(bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocAsync(pointer: *mut *mut c_void, bytes: usize, _stream: Stream) -> c_int {
    give(pointer, bytes, |state| state.allocate_device(bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocManaged(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    give(pointer, bytes, |state| {
        state.allocate_shared(bytes as u64, SharedKind::Managed)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocHost(pointer: *mut *mut c_void, bytes: usize) -> c_int {
    give(pointer, bytes, |state| {
        state.allocate_shared(bytes as u64, SharedKind::Pinned)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostAlloc(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    give(pointer, bytes, |state| {
        state.allocate_shared(bytes as u64, SharedKind::Pinned)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocPitch(
    pointer: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> c_int {
    let row = (width as u64).next_multiple_of(PITCH_BYTES);
    let bytes = row.saturating_mul(height as u64);
    give(pointer, bytes as usize, |state| {
        if pitch.is_null() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the program hands in where it wants the pitch.
        unsafe { pitch.write(row as usize) };
        state.allocate_device(bytes)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc3D(pitched: *mut PitchedPtr, extent: Extent) -> c_int {
    // SAFETY: the program hands in where it wants them.
    let Some(pitched) = (unsafe { pitched.as_mut() }) else {
        return crate::state::remember(CudaError::InvalidValue);
    };
    (pitched.xsize, pitched.ysize) = (extent.width, extent.height);
    cudaMallocPitch(
        &raw mut pitched.ptr,
        &raw mut pitched.pitch,
        extent.width,
        extent.height * extent.depth,
    )
}

#[unsafe(no_mangle)]
extern "C" fn cudaFree(pointer: *mut c_void) -> c_int {
    call(|state| {
        let address = pointer as u64;
        match state.shared.get(&address).copied() {
            Some(shared) if shared.kind == SharedKind::Managed => {
                state.free_shared(address, shared)
            }
            Some(_) => Err(CudaError::InvalidValue),
            None => {
                let result = state.device.free(&mut state.memory, address);
                state.device_result(result, "cudaFree")
            }
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeAsync(pointer: *mut c_void, _stream: Stream) -> c_int {
    cudaFree(pointer)
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeHost(pointer: *mut c_void) -> c_int {
    call(|state| match state.shared.get(&(pointer as u64)).copied() {
        Some(shared) if shared.kind == SharedKind::Pinned => {
            state.free_shared(pointer as u64, shared)
        }
        _ if pointer.is_null() => Ok(()),
        _ => Err(CudaError::InvalidValue),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostRegister(pointer: *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    call(|state| {
        let address = pointer as u64;
        if pointer.is_null() || bytes == 0 || state.shared_at(address).is_some() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the program promises that the memory lives until `cudaHostUnregister`.
        unsafe { state.memory.add_managed(address, bytes as u64) };
        let shared = Shared {
            bytes: bytes as u64,
            kind: SharedKind::Registered,
        };
        state.shared.insert(address, shared);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostUnregister(pointer: *mut c_void) -> c_int {
    call(|state| match state.shared.get(&(pointer as u64)).copied() {
        Some(shared) if shared.kind == SharedKind::Registered => {
            state.free_shared(pointer as u64, shared)
        }
        _ => Err(CudaError::InvalidValue),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostGetDevicePointer(
    device: *mut *mut c_void,
    host: *mut c_void,
    _flags: c_uint,
) -> c_int {
    call(|state| {
        if device.is_null() || state.shared_at(host as u64).is_none() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the program hands in where it wants the address.
        unsafe { device.write(host) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostGetFlags(flags: *mut c_uint, host: *mut c_void) -> c_int {
    call(|state| {
        if flags.is_null() || state.shared_at(host as u64).is_none() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the program hands in where it wants the flags. All pinned memory is mapped.
        unsafe { flags.write(2) };
        Ok(())
    })
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
    call(|state| {
        let rows = Rows {
            to: to as u64,
            to_pitch: bytes as u64,
            from: from as u64,
            from_pitch: bytes as u64,
            width: bytes as u64,
            height: 1,
        };
        state.submit(stream, Op::Copy(rows, Kind::of(kind)?))
    })
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
    call(|state| {
        let rows = Rows {
            to: to as u64,
            to_pitch: to_pitch as u64,
            from: from as u64,
            from_pitch: from_pitch as u64,
            width: width as u64,
            height: height as u64,
        };
        state.submit(stream, Op::Copy(rows, Kind::of(kind)?))
    })
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
    cudaMemcpy2DAsync(
        to,
        to_pitch,
        from,
        from_pitch,
        width,
        height,
        kind,
        Stream::LEGACY,
    )
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy3DAsync(copy: *const Copy3D, stream: Stream) -> c_int {
    call(|state| {
        // SAFETY: the program hands in a description, or null.
        let copy = unsafe { copy.as_ref() }.ok_or(CudaError::InvalidValue)?;
        for rows in copy.slices()? {
            state.submit(stream, Op::Copy(rows, Kind::of(copy.kind)?))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy3D(copy: *const Copy3D) -> c_int {
    cudaMemcpy3DAsync(copy, Stream::LEGACY)
}

impl Copy3D {
    /// Slice by slice.
    pub(crate) fn slices(&self) -> Result<Vec<Rows>, CudaError> {
        if !self.from_array.is_null() || !self.to_array.is_null() {
            return Err(CudaError::NotSupported);
        }
        let slice = |at: &PitchedPtr, pos: &Pos, z: usize| {
            at.ptr as u64 + (((z + pos.z) * at.ysize + pos.y) * at.pitch + pos.x) as u64
        };
        let all = (0..self.extent.depth).map(|z| Rows {
            to: slice(&self.to, &self.to_pos, z),
            to_pitch: self.to.pitch as u64,
            from: slice(&self.from, &self.from_pos, z),
            from_pitch: self.from.pitch as u64,
            width: self.extent.width as u64,
            height: self.extent.height as u64,
        });
        Ok(all.collect())
    }

    pub(crate) fn kind(&self) -> Result<Kind, CudaError> {
        Kind::of(self.kind)
    }
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
extern "C" fn cudaMemset2D(
    pointer: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> c_int {
    cudaMemset2DAsync(pointer, pitch, value, width, height, Stream::LEGACY)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset(pointer: *mut c_void, value: c_int, bytes: usize) -> c_int {
    cudaMemset2DAsync(pointer, bytes, value, bytes, 1, Stream::LEGACY)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemsetAsync(
    pointer: *mut c_void,
    value: c_int,
    bytes: usize,
    stream: Stream,
) -> c_int {
    cudaMemset2DAsync(pointer, bytes, value, bytes, 1, stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3DAsync(
    pitched: PitchedPtr,
    value: c_int,
    extent: Extent,
    stream: Stream,
) -> c_int {
    for z in 0..extent.depth {
        let slice = (pitched.ptr as usize + z * pitched.pitch * pitched.ysize) as *mut c_void;
        let error = cudaMemset2DAsync(
            slice,
            pitched.pitch,
            value,
            extent.width,
            extent.height,
            stream,
        );
        if error != 0 {
            return error;
        }
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3D(pitched: PitchedPtr, value: c_int, extent: Extent) -> c_int {
    cudaMemset3DAsync(pitched, value, extent, Stream::LEGACY)
}

/// A part of a variable.
fn within(
    state: &mut State,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
) -> Result<u64, CudaError> {
    let (address, size) = state.symbol(symbol)?;
    let end = offset.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
    match end as u64 <= size {
        true => Ok(address + offset as u64),
        false => Err(CudaError::InvalidValue),
    }
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
    call(|state| {
        let to = within(state, symbol, bytes, offset)?;
        let rows = Rows {
            to,
            to_pitch: bytes as u64,
            from: from as u64,
            from_pitch: bytes as u64,
            width: bytes as u64,
            height: 1,
        };
        state.submit(stream, Op::Copy(rows, Kind::Default))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyToSymbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, Stream::LEGACY)
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
    call(|state| {
        let from = within(state, symbol, bytes, offset)?;
        let rows = Rows {
            to: to as u64,
            to_pitch: bytes as u64,
            from,
            from_pitch: bytes as u64,
            width: bytes as u64,
            height: 1,
        };
        state.submit(stream, Op::Copy(rows, Kind::Default))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyFromSymbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, Stream::LEGACY)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSymbolAddress(pointer: *mut *mut c_void, symbol: *const c_void) -> c_int {
    call(|state| {
        let (address, _) = state.symbol(symbol)?;
        // SAFETY: the program hands in where it wants the address.
        let target = unsafe { pointer.as_mut() }.ok_or(CudaError::InvalidValue)?;
        *target = address as *mut c_void;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> c_int {
    call(|state| {
        let (_, size) = state.symbol(symbol)?;
        // SAFETY: the program hands in where it wants the size.
        *unsafe { bytes.as_mut() }.ok_or(CudaError::InvalidValue)? = size as usize;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> c_int {
    call(|state| {
        let all = state.device.info().global_bytes;
        let used = state.memory.device_bytes_in_use();
        // SAFETY: the program hands in where it wants the numbers.
        let (free, total) = unsafe { (free.as_mut(), total.as_mut()) };
        *free.ok_or(CudaError::InvalidValue)? = all.saturating_sub(used) as usize;
        *total.ok_or(CudaError::InvalidValue)? = all as usize;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPrefetchAsync(
    _pointer: *const c_void,
    _bytes: usize,
    _device: c_int,
    _stream: Stream,
) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemAdvise(
    _pointer: *const c_void,
    _bytes: usize,
    _advice: c_int,
    _device: c_int,
) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamAttachMemAsync(
    _stream: Stream,
    _pointer: *mut c_void,
    _bytes: usize,
    _flags: c_uint,
) -> c_int {
    call(|_| Ok(()))
}

/// `cudaPointerAttributes`.
#[repr(C)]
pub(crate) struct PointerAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
}

#[unsafe(no_mangle)]
extern "C" fn cudaPointerGetAttributes(
    attributes: *mut PointerAttributes,
    pointer: *const c_void,
) -> c_int {
    call(|state| {
        let address = pointer as u64;
        let shared = state.shared_at(address).map(|(_, shared)| shared.kind);
        let (kind, device, on_device, on_host) = match shared {
            Some(SharedKind::Managed) => (3, 0, true, true),
            Some(SharedKind::Pinned | SharedKind::Registered) => (1, 0, true, true),
            None if state.is_device(address) => (2, 0, true, false),
            None => (0, -2, false, true),
        };
        let when = |is: bool| {
            if is {
                pointer.cast_mut()
            } else {
                std::ptr::null_mut()
            }
        };
        // SAFETY: the program hands in where it wants them.
        *unsafe { attributes.as_mut() }.ok_or(CudaError::InvalidValue)? = PointerAttributes {
            kind,
            device,
            device_pointer: when(on_device),
            host_pointer: when(on_host),
        };
        Ok(())
    })
}
