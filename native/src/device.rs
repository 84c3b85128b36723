//! Queries about the device, and calls that have no effect here.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    sync::OnceLock,
};

use interp::rules::BankWidth;
use ir::DeviceProp;
use runtime::{error::CudaError, host::device_property};

use crate::state::{State, call, last_error, remember};

/// CUDA 12.4, as in the headers.
const VERSION: c_int = 12040;

fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

/// Checks that the device exists: there is only one.
fn check(device: c_int) -> Result<(), CudaError> {
    match device {
        0 => Ok(()),
        _ => Err(CudaError::InvalidDevice),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceCount(count: *mut c_int) -> c_int {
    call(|_| put(count, 1))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDevice(device: *mut c_int) -> c_int {
    call(|_| put(device, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDevice(device: c_int) -> c_int {
    call(|_| check(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDeviceFlags(_flags: c_uint) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceFlags(flags: *mut c_uint) -> c_int {
    call(|_| put(flags, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaChooseDevice(device: *mut c_int, _properties: *const c_void) -> c_int {
    call(|_| put(device, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceReset() -> c_int {
    call(|state| {
        crate::stream::forget(state);
        state.faults.sticky = None;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaThreadExit() -> c_int {
    cudaDeviceReset()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> c_int {
    last_error(true)
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> c_int {
    last_error(false)
}

/// The name and the text of an error, each with a NUL.
struct ErrorText {
    error: CudaError,
    name: Vec<u8>,
    sentence: Vec<u8>,
}

/// The texts of all errors; they live as long as the process.
fn texts() -> &'static [ErrorText] {
    static TEXTS: OnceLock<Vec<ErrorText>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let ended = |text: &str| [text.as_bytes(), b"\0"].concat();
        let all = CudaError::ALL.iter().map(|error| ErrorText {
            error: *error,
            name: ended(error.name()),
            sentence: ended(error.text()),
        });
        all.collect()
    })
}

fn text(code: c_int, pick: impl Fn(&'static ErrorText) -> &'static [u8]) -> *const c_char {
    let found = texts().iter().find(|text| text.error.code() == code);
    let text = found.map_or(&b"unrecognized error code\0"[..], pick);
    text.as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(error: c_int) -> *const c_char {
    text(error, |text| &text.name)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(error: c_int) -> *const c_char {
    text(error, |text| &text.sentence)
}

#[unsafe(no_mangle)]
extern "C" fn cudaDriverGetVersion(version: *mut c_int) -> c_int {
    // This call does not open the device.
    remember(put(version, VERSION).err().unwrap_or(CudaError::Success))
}

#[unsafe(no_mangle)]
extern "C" fn cudaRuntimeGetVersion(version: *mut c_int) -> c_int {
    call(|_| put(version, VERSION))
}

/// A property of the device as a number, for `cudaGetDeviceProperties` in the headers.
#[unsafe(no_mangle)]
extern "C" fn __dslcDeviceProperty(index: c_int) -> u64 {
    let mut state = crate::state::state();
    state.open();
    DeviceProp::from_index(index)
        .map_or(0, |property| device_property(state.device.info(), property))
}

/// Writes the device's name; returns whether there is such a device.
#[unsafe(no_mangle)]
extern "C" fn __dslcDeviceName(name: *mut c_char, bytes: usize, device: c_int) -> c_int {
    call(|state| {
        check(device)?;
        let text = state.device.info().name.as_bytes();
        let length = text.len().min(bytes.saturating_sub(1));
        // SAFETY: the program passes a buffer of that many bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), length);
            name.add(length).write(0);
        }
        Ok(())
    })
}

/// Remembers an error that the headers found; returns it.
#[unsafe(no_mangle)]
extern "C" fn __dslcError(error: c_int) -> c_int {
    remember(CudaError::from_code(error).unwrap_or(CudaError::Unknown))
}

/// Counts a call of one of CUDA's libraries: the report shows how often each was called.
#[unsafe(no_mangle)]
extern "C" fn __dslcLibraryCall(library: *const c_char) {
    // SAFETY: the libraries pass a literal.
    let name = unsafe { std::ffi::CStr::from_ptr(library) }.to_string_lossy();
    let mut state = crate::state::state();
    *state
        .story
        .library_calls
        .entry(name.into_owned())
        .or_default() += 1;
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetPCIBusId(text: *mut c_char, bytes: c_int, device: c_int) -> c_int {
    call(|_| {
        check(device)?;
        let id = b"0000:00:00.0\0";
        if text.is_null() || (bytes as usize) < id.len() {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the program passes a buffer of that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(id.as_ptr(), text.cast(), id.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetLimit(limit: c_int, value: usize) -> c_int {
    call(|state| {
        // The only limits with an effect here are those of the stack and the heap.
        if limit == 0 && !state.device.set_stack(&mut state.memory, value as u64) {
            return Err(CudaError::InvalidValue);
        }
        if limit == 2 && !state.device.set_heap(&mut state.memory, value as u64) {
            return Err(CudaError::InvalidValue);
        }
        if let Some(set) = usize::try_from(limit)
            .ok()
            .and_then(|at| state.limits.get_mut(at))
        {
            *set = value;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetLimit(value: *mut usize, limit: c_int) -> c_int {
    call(|state| {
        let set = usize::try_from(limit)
            .ok()
            .and_then(|at| state.limits.get(at));
        put(value, *set.ok_or(CudaError::NotSupported)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetCacheConfig(_config: c_int) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetCacheConfig(config: *mut c_int) -> c_int {
    call(|_| put(config, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetSharedMemConfig(config: c_int) -> c_int {
    call(|state: &mut State| {
        let width = match config {
            0 | 1 => BankWidth::Four,
            2 => BankWidth::Eight,
            _ => return Err(CudaError::InvalidValue),
        };
        // Only Kepler has wider banks: on other devices the call has no effect, as in CUDA.
        state.device.set_bank_width(width);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetSharedMemConfig(config: *mut c_int) -> c_int {
    call(|state| {
        put(
            config,
            match state.device.bank_width() {
                BankWidth::Four => 1,
                BankWidth::Eight => 2,
            },
        )
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> c_int {
    call(|_| {
        if !least.is_null() {
            put(least, 0)?;
        }
        if !greatest.is_null() {
            put(greatest, -5)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> c_int {
    call(|_| {
        check(device)?;
        check(peer)?;
        put(can, 0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceEnablePeerAccess(_peer: c_int, _flags: c_uint) -> c_int {
    call(|_| Err(CudaError::InvalidDevice))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceDisablePeerAccess(_peer: c_int) -> c_int {
    call(|_| Err(CudaError::InvalidDevice))
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStart() -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStop() -> c_int {
    call(|_| Ok(()))
}
