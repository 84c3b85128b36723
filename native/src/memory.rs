//! Memory: `cudaMalloc` and similar calls, copies, fills, variables.
//!
//! Device memory is in the simulator. Its addresses are reserved in the process, so that a host access to one ends the process with a
//! message ([`crate::reserve`]). Managed and pinned memory belongs to the process, and kernels access it at the same address.

use std::ffi::{c_char, c_int, c_uint, c_void};

use interp::{AddressKind, MemoryFault, trap::AccessOp};
use ir::LocId;
use runtime::{device::DeviceError, error::CudaError, host::Note};

use crate::{
    copy::{Extent, PitchedPtr},
    graph::Op,
    state::{Shared, SharedKind, State, call},
    stream::Stream,
};

/// Most notes that are kept: more would not be more helpful.
const MAX_NOTES: usize = 1000;

/// Rows of `cudaMallocPitch` start at multiples of this.
const PITCH_BYTES: u64 = 512;

/// A place in the program's text, which dslc's headers pass to calls.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) file: *const c_char,
    pub(crate) line: c_int,
}

impl Site {
    /// The place of the current call of this thread, if the program gave it.
    pub(crate) fn current() -> Option<Site> {
        SITE.get()
    }

    /// Forgets the place after a call.
    pub(crate) fn leave() {
        SITE.set(None);
    }
}

thread_local! {
    /// The place of the next call, if the program gave it.
    static SITE: std::cell::Cell<Option<Site>> = const { std::cell::Cell::new(None) };
}

impl State {
    pub(crate) fn is_device(&self, address: u64) -> bool {
        use AddressKind::{Constant, Device, Freed, Local, Shared};
        let kind = self.memory.kind_of(address);
        matches!(kind, Device | Constant | Shared | Local)
            || kind == Freed && crate::reserve::is_reserved(address)
            || kind == AddressKind::Unknown && crate::reserve::is_reserved(address)
    }

    /// The managed or pinned memory that contains the address.
    pub(crate) fn shared_at(&self, address: u64) -> Option<(u64, Shared)> {
        let (&base, &shared) = self.visible.shared.range(..=address).next_back()?;
        (address < base + shared.bytes.max(1)).then_some((base, shared))
    }

    /// Whether a `__managed__` variable is there.
    pub(crate) fn is_managed_variable(&self, address: u64) -> bool {
        let mut managed = self.visible.managed.iter();
        managed.any(|one| (one.address as u64..one.address as u64 + one.bytes).contains(&address))
    }

    pub(crate) fn allocate_device(&mut self, bytes: u64) -> Result<u64, CudaError> {
        let result = self.device.malloc(&mut self.memory, bytes, false);
        let address = self.device_result(result, "cudaMalloc")?;
        self.name(address, "cudaMalloc", bytes);
        Ok(address)
    }

    fn name(&mut self, address: u64, call: &str, bytes: u64) {
        self.given.allocations += 1;
        let name = match Site::current() {
            // SAFETY: dslc's headers pass the literal `__FILE__`.
            Some(site) if !site.file.is_null() => unsafe {
                let file = std::ffi::CStr::from_ptr(site.file).to_string_lossy();
                format!("the allocation of {file}:{}", site.line)
            },
            _ => format!(
                "allocation {} ({call} of {bytes} bytes)",
                self.given.allocations
            ),
        };
        self.memory.set_name(address, &name);
    }

    /// Allocates memory of the process that kernels can access, too.
    fn allocate_shared(&mut self, bytes: u64, kind: SharedKind) -> Result<u64, CudaError> {
        if kind == SharedKind::Managed && self.options.on_gpu {
            let result = self.device.malloc(&mut self.memory, bytes, true);
            let address = self.device_result(result, "cudaMallocManaged")?;
            self.visible.shared.insert(address, Shared { bytes, kind });
            self.name(address, "cudaMallocManaged", bytes);
            return Ok(address);
        }
        let layout = layout(bytes)?;
        // SAFETY: the size is not 0.
        let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
        if pointer.is_null() {
            return Err(CudaError::MemoryAllocation);
        }
        let address = pointer as u64;
        let shared = self.device.share(address, bytes);
        self.device_result(shared, "cudaMallocHost")?;
        // SAFETY: the block lives until `free_shared` removes it.
        unsafe { self.memory.add_managed(address, bytes) };
        self.visible.shared.insert(address, Shared { bytes, kind });
        let call = match kind {
            SharedKind::Managed => "cudaMallocManaged",
            SharedKind::Pinned | SharedKind::Registered | SharedKind::Mapped => "cudaMallocHost",
        };
        self.name(address, call, bytes);
        Ok(address)
    }

    fn free_shared(&mut self, address: u64, shared: Shared) -> Result<(), CudaError> {
        self.visible.shared.remove(&address);
        if shared.kind == SharedKind::Managed && self.options.on_gpu {
            let result = self.device.free(&mut self.memory, address);
            return self.device_result(result, "cudaFree");
        }
        let result = self.device.unshare(address);
        self.device_result(result, "cudaFreeHost")?;
        self.memory
            .remove_foreign(address)
            .map_err(|_| CudaError::InvalidValue)?;
        if shared.kind != SharedKind::Registered {
            // SAFETY: `allocate_shared` allocated it with this layout, and it was removed from the tables.
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
                self.report_fault(call, fault);
                CudaError::InvalidValue
            }
            DeviceError::Cuda(error) => error,
            DeviceError::Lost(fault) => {
                let error = fault.error;
                self.faults.sticky = Some(error);
                self.note_fault(*fault);
                error
            }
        })
    }

    /// Adds the fault of a call with memory that does not exist to the report, with the place of the call if the program gave it.
    pub(crate) fn report_fault(&mut self, call: &str, fault: MemoryFault) {
        let text = format!("{call}: {fault}");
        let loc = self.place_of_current_call();
        self.note(Note {
            fault: Some(fault.trap(AccessOp::Load)),
            ..Note::new(loc, text, true)
        });
    }

    /// Adds a note to the report.
    pub(crate) fn note(&mut self, note: Note) {
        let notes = &mut self.story.outcome.notes;
        if notes.len() < MAX_NOTES {
            notes.push(note);
        }
    }

    /// The place of the current call; unknown if the program did not give it.
    pub(crate) fn place_of_current_call(&mut self) -> LocId {
        Site::current().map_or(LocId::default(), |site| self.place_of_call(site))
    }

    /// Does the work now, or adds it to the graph that the stream is captured into. Without a stream, the call returns when all work is
    /// done.
    pub(crate) fn submit(&mut self, stream: Option<Stream>, op: Op) -> Result<(), CudaError> {
        let Some(stream) = stream else {
            return self.within_stream(None, |state| state.perform(&op));
        };
        match self.streams.capture_of(stream)? {
            Some(capture) => {
                let after = self.streams.tail(stream);
                let node = self.graphs.capture(capture, &after, op);
                self.streams.continues_at(stream, node);
                Ok(())
            }
            None => self.within_stream(Some(stream), |state| state.perform(&op)),
        }
    }
}

fn layout(bytes: u64) -> Result<std::alloc::Layout, CudaError> {
    let size = usize::try_from(bytes.max(1)).map_err(|_| CudaError::MemoryAllocation)?;
    std::alloc::Layout::from_size_align(size, 4096).map_err(|_| CudaError::MemoryAllocation)
}

/// Allocates memory and writes its address through the program's pointer.
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
        // SAFETY: the program passes a pointer for the address.
        unsafe { pointer.write(address as *mut c_void) };
        Ok(())
    })
}

/// Sets the place of the next call of this thread.
#[unsafe(no_mangle)]
extern "C" fn __dslcAt(line: c_int, file: *const c_char) {
    SITE.set(Some(Site { file, line }));
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc(pointer: *mut *mut c_void, bytes: usize) -> c_int {
    give(pointer, bytes, |state| state.allocate_device(bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocAsync(pointer: *mut *mut c_void, bytes: usize, stream: Stream) -> c_int {
    give(pointer, bytes, |state| {
        let pool = state.given.pools.current();
        let address = state.allocate_pooled(pool, bytes as u64)?;
        state.note_made(address, bytes as u64, stream);
        Ok(address)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocFromPoolAsync(
    pointer: *mut *mut c_void,
    bytes: usize,
    pool: usize,
    stream: Stream,
) -> c_int {
    give(pointer, bytes, |state| {
        let address = state.allocate_pooled(pool, bytes as u64)?;
        state.note_made(address, bytes as u64, stream);
        Ok(address)
    })
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
        // SAFETY: the program passes a pointer for the pitch.
        unsafe { pitch.write(row as usize) };
        state.allocate_device(bytes)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc3D(pitched: *mut PitchedPtr, extent: Extent) -> c_int {
    // SAFETY: the program passes a pointer for the result, or null.
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

/// Frees what `cudaFree` and `cudaFreeAsync` free.
fn free(state: &mut State, address: u64) -> Result<(), CudaError> {
    match state.visible.shared.get(&address).copied() {
        Some(shared) if shared.kind == SharedKind::Managed => state.free_shared(address, shared),
        Some(_) => Err(CudaError::InvalidValue),
        None => {
            let result = state.device.free(&mut state.memory, address);
            state.given.pools.freed(address);
            state.device_result(result, "cudaFree")
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaFree(pointer: *mut c_void) -> c_int {
    call(|state| {
        free(state, pointer as u64)?;
        state.prints_are_seen();
        state.ordered.order.wait_for_all();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeAsync(pointer: *mut c_void, stream: Stream) -> c_int {
    call(|state| {
        state.note_freed(pointer as u64, stream);
        free(state, pointer as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeHost(pointer: *mut c_void) -> c_int {
    call(
        |state| match state.visible.shared.get(&(pointer as u64)).copied() {
            Some(shared) if shared.kind == SharedKind::Pinned => {
                state.ordered.order.wait_for_all();
                state.free_shared(pointer as u64, shared)
            }
            _ if pointer.is_null() => Ok(()),
            _ => Err(CudaError::InvalidValue),
        },
    )
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostRegister(pointer: *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    call(|state| {
        let address = pointer as u64;
        if pointer.is_null() || bytes == 0 || state.shared_at(address).is_some() {
            return Err(CudaError::InvalidValue);
        }
        let result = state.device.share(address, bytes as u64);
        state.device_result(result, "cudaHostRegister")?;
        // SAFETY: the program guarantees that the memory lives until `cudaHostUnregister`.
        unsafe { state.memory.add_managed(address, bytes as u64) };
        let shared = Shared {
            bytes: bytes as u64,
            kind: SharedKind::Registered,
        };
        state.visible.shared.insert(address, shared);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostUnregister(pointer: *mut c_void) -> c_int {
    call(
        |state| match state.visible.shared.get(&(pointer as u64)).copied() {
            Some(shared) if shared.kind == SharedKind::Registered => {
                state.free_shared(pointer as u64, shared)
            }
            _ => Err(CudaError::InvalidValue),
        },
    )
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
        // SAFETY: the program passes a pointer for the address.
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
        // SAFETY: the program passes a pointer for the flags. All pinned memory is mapped.
        unsafe { flags.write(2) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> c_int {
    call(|state| {
        let all = state.device.info().global_bytes;
        let used = state.device.bytes_in_use(&state.memory);
        // SAFETY: the program passes a pointer for the numbers.
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

/// The start and size of the allocation that contains an address; either pointer may be null.
#[unsafe(no_mangle)]
extern "C" fn __dslcAddressRange(base: *mut u64, bytes: *mut u64, address: u64) -> c_int {
    call(|state| {
        let shared = state.shared_at(address);
        let shared = shared.map(|(base, shared)| (base, shared.bytes));
        let bounds = shared.or_else(|| state.memory.bounds(address));
        let (start, size) = bounds.ok_or(CudaError::InvalidValue)?;
        for (to, value) in [(base, start), (bytes, size)] {
            // SAFETY: the program passes a pointer for the result, or null.
            if let Some(to) = unsafe { to.as_mut() } {
                *to = value;
            }
        }
        Ok(())
    })
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
            Some(SharedKind::Mapped) => (2, 0, true, false),
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
        // SAFETY: the program passes a pointer for the result, or null.
        *unsafe { attributes.as_mut() }.ok_or(CudaError::InvalidValue)? = PointerAttributes {
            kind,
            device,
            device_pointer: when(on_device),
            host_pointer: when(on_host),
        };
        Ok(())
    })
}
