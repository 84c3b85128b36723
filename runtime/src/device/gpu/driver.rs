//! The CUDA driver's calls, each as a function that returns a [`CudaError`]. Only this module uses `cudarc`.
//!
//! The driver's error numbers are those of the runtime. Addresses are `u64`; handles keep the driver's types.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use cudarc::driver::sys;
pub(super) use sys::{
    CUcontext as Context, CUdevice as DeviceHandle, CUdevice_attribute as Attribute,
    CUevent as Event, CUfunction as Kernel, CUmodule as Image,
};

use interp::LaunchConfig;

use crate::error::CudaError;

type Result<T> = std::result::Result<T, CudaError>;

fn check(code: sys::CUresult) -> Result<()> {
    match code as i32 {
        0 => Ok(()),
        code => Err(CudaError::from_code(code).unwrap_or(CudaError::Unknown)),
    }
}

/// Whether the driver's library can be loaded.
pub(super) fn is_present() -> bool {
    // SAFETY: loads the driver's library, whose initialisers may run in any process.
    unsafe { sys::is_culib_present() }
}

/// Initialises the driver, which has to come first. The error has the driver's own words.
pub(super) fn init() -> std::result::Result<(), (CudaError, String)> {
    // SAFETY: may be called at any time.
    let code = unsafe { sys::cuInit(0) };
    check(code).map_err(|error| (error, words(code)))
}

/// The driver's sentence for an error.
fn words(code: sys::CUresult) -> String {
    let mut text: *const c_char = null();
    // SAFETY: `text` is a place for a pointer to a static string.
    let found = unsafe { sys::cuGetErrorString(code, &mut text) };
    if check(found).is_err() || text.is_null() {
        return format!("error {}", code as i32);
    }
    // SAFETY: the driver's strings are NUL-terminated and live forever.
    let text = unsafe { CStr::from_ptr(text) };
    format!("{} (error {})", text.to_string_lossy(), code as i32)
}

/// The CUDA version that the driver supports: `(12, 8)`.
pub(super) fn version() -> Result<(u32, u32)> {
    let mut version: c_int = 0;
    // SAFETY: a place for a number.
    check(unsafe { sys::cuDriverGetVersion(&mut version) })?;
    Ok((version as u32 / 1000, version as u32 % 1000 / 10))
}

pub(super) fn device_count() -> Result<u32> {
    let mut count: c_int = 0;
    // SAFETY: a place for a number.
    check(unsafe { sys::cuDeviceGetCount(&mut count) })?;
    Ok(count as u32)
}

pub(super) fn device(ordinal: u32) -> Result<DeviceHandle> {
    let mut device: DeviceHandle = 0;
    // SAFETY: a place for a handle.
    check(unsafe { sys::cuDeviceGet(&mut device, ordinal as c_int) })?;
    Ok(device)
}

pub(super) fn device_name(device: DeviceHandle) -> Result<String> {
    let mut name: [c_char; 256] = [0; 256];
    // SAFETY: room for 256 bytes, the NUL among them.
    check(unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, device) })?;
    // SAFETY: the driver wrote a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    Ok(name.to_string_lossy().into_owned())
}

pub(super) fn device_bytes(device: DeviceHandle) -> Result<u64> {
    let mut bytes = 0usize;
    // SAFETY: a place for a number.
    check(unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, device) })?;
    Ok(bytes as u64)
}

/// The value of an attribute; 0 if this driver does not know it.
pub(super) fn attribute(device: DeviceHandle, attribute: Attribute) -> u32 {
    let mut value: c_int = 0;
    // SAFETY: a place for a number.
    let code = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) };
    match check(code) {
        Ok(()) => value.max(0) as u32,
        Err(_) => 0,
    }
}

/// Makes the context current on this thread that the CUDA runtime uses too, and keeps it until [`leave_context`].
pub(super) fn enter_context(device: DeviceHandle) -> Result<Context> {
    let mut context = null_mut();
    // SAFETY: a place for a handle; the handle is the device's primary context.
    check(unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) })?;
    make_current(context)?;
    Ok(context)
}

/// Makes a kept context current on this thread.
pub(super) fn make_current(context: Context) -> Result<()> {
    // SAFETY: the caller keeps the context.
    check(unsafe { sys::cuCtxSetCurrent(context) })
}

pub(super) fn leave_context(device: DeviceHandle) {
    // SAFETY: retained by `enter_context`. An error could not be reported.
    let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) };
}

/// Sets the size of the buffer for what kernels print between two calls that wait.
pub(super) fn set_printf_bytes(bytes: usize) -> Result<()> {
    let limit = sys::CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE;
    // SAFETY: plain numbers.
    check(unsafe { sys::cuCtxSetLimit(limit, bytes) })
}

/// Makes host memory accessible to kernels, at the same address.
pub(super) fn share(address: u64, bytes: u64) -> Result<()> {
    let flags = sys::CU_MEMHOSTREGISTER_DEVICEMAP | sys::CU_MEMHOSTREGISTER_PORTABLE;
    // SAFETY: the caller keeps the memory until `unshare`.
    check(unsafe { sys::cuMemHostRegister_v2(address as *mut _, bytes as usize, flags) })
}

pub(super) fn unshare(address: u64) -> Result<()> {
    // SAFETY: `share` was given the address.
    check(unsafe { sys::cuMemHostUnregister(address as *mut _) })
}

/// Sets the local memory for a thread's calls.
pub(super) fn set_stack_bytes(bytes: usize) -> Result<()> {
    let limit = sys::CUlimit::CU_LIMIT_STACK_SIZE;
    // SAFETY: plain numbers.
    check(unsafe { sys::cuCtxSetLimit(limit, bytes) })
}

/// Sets the size of the heap from which kernels allocate.
pub(super) fn set_heap_bytes(bytes: usize) -> Result<()> {
    let limit = sys::CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE;
    // SAFETY: plain numbers.
    check(unsafe { sys::cuCtxSetLimit(limit, bytes) })
}

/// Compiles PTX for the current context's device, with at most `max_registers` registers per thread if given. The error has the assembler's
/// log.
pub(super) fn load(
    ptx: &str,
    lines: bool,
    max_registers: Option<u32>,
) -> std::result::Result<Image, (CudaError, String)> {
    const LOG_BYTES: usize = 16 << 10;
    let text = CString::new(ptx).map_err(|_| (CudaError::InvalidPtx, String::new()))?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = vec![
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        sys::CUjit_option::CU_JIT_GENERATE_LINE_INFO,
    ];
    // Numbers are passed as pointers.
    let mut values = vec![
        log.as_mut_ptr().cast::<c_void>(),
        LOG_BYTES as *mut c_void,
        usize::from(lines) as *mut c_void,
    ];
    if let Some(registers) = max_registers {
        options.push(sys::CUjit_option::CU_JIT_MAX_REGISTERS);
        values.push(registers as usize as *mut c_void);
    }
    let mut image = null_mut();
    // SAFETY: the text is NUL-terminated; options and values are as many as said; the log lives until the call returns.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut image,
            text.as_ptr().cast(),
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    check(code).map_err(|error| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(0);
        (
            error,
            String::from_utf8_lossy(&log[..end]).trim().to_string(),
        )
    })?;
    Ok(image)
}

pub(super) fn unload(image: Image) {
    // SAFETY: loaded by `load`, unloaded once. An error could not be reported.
    let _ = unsafe { sys::cuModuleUnload(image) };
}

pub(super) fn kernel(image: Image, name: &str) -> Result<Kernel> {
    let name = CString::new(name).map_err(|_| CudaError::SymbolNotFound)?;
    let mut kernel = null_mut();
    // SAFETY: a loaded image and a NUL-terminated name.
    check(unsafe { sys::cuModuleGetFunction(&mut kernel, image, name.as_ptr()) })?;
    Ok(kernel)
}

/// The address and size of a variable.
pub(super) fn global(image: Image, name: &str) -> Result<(u64, u64)> {
    let name = CString::new(name).map_err(|_| CudaError::SymbolNotFound)?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: as above, and places for the results.
    check(unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, image, name.as_ptr()) })?;
    Ok((address, bytes as u64))
}

pub(super) fn allow_dynamic_shared(kernel: Kernel, bytes: u64) -> Result<()> {
    let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: a kernel of a loaded image.
    check(unsafe { sys::cuFuncSetAttribute(kernel, attribute, bytes as c_int) })
}

/// Registers of a thread.
pub(super) fn registers(kernel: Kernel) -> Option<u32> {
    let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    let mut value: c_int = 0;
    // SAFETY: a kernel of a loaded image and a place for a number.
    let code = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, kernel) };
    check(code).ok().map(|()| value as u32)
}

/// Enqueues a launch. Each argument's first bytes are read, as many as the parameter has.
pub(super) fn launch(kernel: Kernel, config: &LaunchConfig, args: &[u64]) -> Result<()> {
    let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (config.grid, config.block);
    let shared_bytes = config.shared_bytes as u32;
    let mut values = args.to_vec();
    let mut pointers: Vec<*mut c_void> = values
        .iter_mut()
        .map(|value| std::ptr::from_mut(value).cast())
        .collect();
    // SAFETY: one pointer per parameter, each to 8 bytes; no parameter is larger. They are read before the call returns.
    check(unsafe {
        let args = pointers.as_mut_ptr();
        let stream = null_mut();
        if config.cooperative {
            sys::cuLaunchCooperativeKernel(
                kernel,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                stream,
                args,
            )
        } else {
            sys::cuLaunchKernel(
                kernel,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                stream,
                args,
                null_mut(),
            )
        }
    })
}

/// How many blocks of this launch a multiprocessor holds.
pub(super) fn resident_blocks(kernel: Kernel, config: &LaunchConfig) -> Result<u64> {
    let mut blocks = 0;
    let threads = config.threads_per_block() as c_int;
    // SAFETY: a place for a number.
    check(unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut blocks,
            kernel,
            threads,
            config.shared_bytes as usize,
        )
    })?;
    Ok(blocks.max(0) as u64)
}

/// Waits for all work, and flushes what kernels printed: the driver puts it into C's `stdout`.
pub(super) fn synchronize() -> Result<()> {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: waits for the current context.
    let result = check(unsafe { sys::cuCtxSynchronize() });
    // SAFETY: a null stream means all streams.
    unsafe { fflush(null_mut()) };
    result
}

pub(super) fn malloc(bytes: u64) -> Result<u64> {
    let mut address = 0;
    // SAFETY: a place for an address.
    check(unsafe { sys::cuMemAlloc_v2(&mut address, bytes as usize) })?;
    Ok(address)
}

pub(super) fn malloc_managed(bytes: u64) -> Result<u64> {
    /// `CU_MEM_ATTACH_GLOBAL`.
    const GLOBAL: c_uint = 1;
    let mut address = 0;
    // SAFETY: a place for an address.
    check(unsafe { sys::cuMemAllocManaged(&mut address, bytes as usize, GLOBAL) })?;
    Ok(address)
}

/// Frees memory of `malloc` or `malloc_managed`.
pub(super) fn free(address: u64) -> Result<()> {
    // SAFETY: the driver checks the address.
    check(unsafe { sys::cuMemFree_v2(address) })
}

pub(super) fn upload(to: u64, from: &[u8]) -> Result<()> {
    // SAFETY: the slice is there for the call; the driver checks the other side.
    check(unsafe { sys::cuMemcpyHtoD_v2(to, from.as_ptr().cast(), from.len()) })
}

pub(super) fn download(to: &mut [u8], from: u64) -> Result<()> {
    // SAFETY: as above.
    check(unsafe { sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), from, to.len()) })
}

pub(super) fn copy(to: u64, from: u64, bytes: u64) -> Result<()> {
    // SAFETY: the driver checks both sides.
    check(unsafe { sys::cuMemcpyDtoD_v2(to, from, bytes as usize) })
}

pub(super) fn fill(address: u64, byte: u8, bytes: u64) -> Result<()> {
    // SAFETY: the driver checks the address.
    check(unsafe { sys::cuMemsetD8_v2(address, byte, bytes as usize) })
}

/// Free and total bytes.
pub(super) fn memory_info() -> Result<(u64, u64)> {
    let (mut free, mut total) = (0usize, 0usize);
    // SAFETY: places for two numbers.
    check(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
    Ok((free as u64, total as u64))
}

pub(super) fn event() -> Result<Event> {
    let mut event = null_mut();
    // SAFETY: a place for a handle.
    check(unsafe { sys::cuEventCreate(&mut event, 0) })?;
    Ok(event)
}

pub(super) fn record(event: Event) -> Result<()> {
    // SAFETY: an event of `event`, on the default stream.
    check(unsafe { sys::cuEventRecord(event, null_mut()) })
}

/// Milliseconds between two events that have happened.
pub(super) fn elapsed_ms(start: Event, stop: Event) -> Result<f32> {
    let mut ms = 0f32;
    // SAFETY: two events of `event` and a place for a number.
    check(unsafe { sys::cuEventElapsedTime(&mut ms, start, stop) })?;
    Ok(ms)
}

pub(super) fn destroy(event: Event) {
    // SAFETY: an event of `event`, destroyed once. An error could not be reported.
    let _ = unsafe { sys::cuEventDestroy_v2(event) };
}

/// A word of host memory that the GPU can write: its addresses on both sides.
pub(super) fn shared_word() -> Result<(*mut u32, u64)> {
    /// `CU_MEMHOSTALLOC_DEVICEMAP`.
    const MAPPED: c_uint = 2;
    let mut host = null_mut();
    let mut device = 0;
    // SAFETY: places for two addresses.
    unsafe {
        check(sys::cuMemHostAlloc(&mut host, 4, MAPPED))?;
        check(sys::cuMemHostGetDevicePointer_v2(&mut device, host, 0))?;
        host.cast::<u32>().write_volatile(0);
    }
    Ok((host.cast(), device))
}

/// Writes a word when everything before it on the stream is done.
pub(super) fn write_word(address: u64, value: u32) -> Result<()> {
    // SAFETY: the driver checks the address.
    check(unsafe { sys::cuStreamWriteValue32_v2(null_mut(), address, value, 0) })
}
