//! Modules that a program loads itself, for the driver's functions: files that `dslc nvcc -ptx`, `-cubin` and `-fatbin` write.
//!
//! PTX of another compiler cannot run on the simulator, which needs IR: such a module is refused, and a sentence says why.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    slice,
};

use ir::image::{Image, MAGIC};
use runtime::error::CudaError;

use crate::state::{KernelRef, State, call, eprintln_all};

/// The image at a pointer: an image itself, or PTX with one in its comments.
fn image_at(data: *const u8) -> Result<Image, CudaError> {
    if data.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: both forms are longer than the magic, or end with a zero before that.
    let is_image = (0..MAGIC.len()).all(|at| unsafe { data.add(at).read() } == MAGIC[at]);
    if is_image {
        // SAFETY: an image has its length in its first 16 bytes.
        let bytes = unsafe {
            let head: &[u8; 16] = &*data.cast();
            let length = Image::length(head).map_err(|_| CudaError::InvalidKernelImage)?;
            slice::from_raw_parts(data, 16 + length)
        };
        return Image::from_bytes(bytes).map_err(|why| refused(&why.to_string()));
    }
    // SAFETY: data other than an image has to be text that ends with a zero, as CUDA's interface requires.
    let text = unsafe { CStr::from_ptr(data.cast()) }.to_string_lossy();
    match Image::in_ptx(&text) {
        Some(Ok(image)) => Ok(image),
        Some(Err(why)) => Err(refused(&why.to_string())),
        None if text.contains(".version") => Err(refused(
            "this PTX was not written by dslc, and the simulator runs none: compile the kernels with `dslc nvcc -ptx`, `-cubin` or `-fatbin`",
        )),
        None => Err(refused(
            "this is neither PTX nor an image that `dslc nvcc -cubin` or `-fatbin` wrote",
        )),
    }
}

fn refused(why: &str) -> CudaError {
    eprintln_all(&format!("dslc: cannot load a module: {why}\n"));
    CudaError::InvalidKernelImage
}

fn name_of(name: *const c_char) -> Result<String, CudaError> {
    if name.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: the program passes a text that ends with a zero.
    Ok(unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned())
}

fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

/// The module of a handle; a handle is the module's number plus one.
fn number(state: &State, handle: usize) -> Result<usize, CudaError> {
    let number = handle.wrapping_sub(1);
    match number < state.modules.len() {
        true => Ok(number),
        false => Err(CudaError::InvalidResourceHandle),
    }
}

#[unsafe(no_mangle)]
extern "C" fn __dslcModuleLoad(module: *mut usize, data: *const u8) -> c_int {
    call(|state| {
        let image = image_at(data)?;
        put(module, state.add_module(image) + 1)
    })
}

/// Finds a kernel by its name in the object or in the source; the result represents the kernel in the runtime's calls.
#[unsafe(no_mangle)]
extern "C" fn __dslcModuleFunction(
    function: *mut *const c_void,
    module: usize,
    name: *const c_char,
) -> c_int {
    call(|state| {
        let name = name_of(name)?;
        let module = number(state, module)?;
        let image = &state.modules[module].image;
        let mut kernels = image.kernels.iter();
        let found = kernels.find(|kernel| kernel.mangled == name || kernel.name == name);
        let mut unknown = image.unknown.iter();
        let mangled = match (found, unknown.find(|unknown| unknown.mangled == name)) {
            (Some(kernel), _) => kernel.mangled.clone(),
            (None, Some(unknown)) => {
                return Err(refused(&format!("`{name}`: {}", unknown.reason)));
            }
            (None, None) => return Err(CudaError::SymbolNotFound),
        };
        let known = state
            .kernels
            .iter()
            .find(|(_, kernel)| kernel.module == module && kernel.mangled == mangled);
        let address = match known {
            Some((address, _)) => *address,
            None => {
                // A unique address.
                let address = std::ptr::from_ref(Box::leak(Box::new(0u64))) as usize;
                let kernel = KernelRef { module, mangled };
                state.kernels.insert(address, kernel);
                address
            }
        };
        put(function, address as *const c_void)
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcModuleVariable(
    pointer: *mut u64,
    bytes: *mut usize,
    module: usize,
    name: *const c_char,
) -> c_int {
    call(|state| {
        let module = number(state, module)?;
        let found = state.variable(module, &name_of(name)?);
        let (address, size) = found.map_err(|_| CudaError::SymbolNotFound)?;
        if !bytes.is_null() {
            put(bytes, size as usize)?;
        }
        put(pointer, address)
    })
}

/// Finds a kernel's arguments in one buffer, as the driver's `CU_LAUNCH_PARAM_BUFFER_POINTER` passes them. A parameter of several scalars
/// may be aligned to more than they are, which an image does not record: the call fails then.
#[unsafe(no_mangle)]
extern "C" fn __dslcUnpack(
    args: *mut *mut c_void,
    room: usize,
    buffer: *mut u8,
    bytes: usize,
    function: *const c_void,
) -> c_int {
    call(|state| {
        let (module, _, index) = state.kernel(function)?;
        let params = &state.modules[module].image.kernels[index].params;
        if params.len() > room {
            return Err(CudaError::InvalidValue);
        }
        let mut at = 0;
        for (number, scalars) in params.iter().enumerate() {
            let [(0, ty)] = scalars.as_slice() else {
                return Err(crate::state::refuse(
                    "cuLaunchKernel with CU_LAUNCH_PARAM_BUFFER_POINTER",
                    "a parameter is a struct; pass the arguments as an array of pointers",
                ));
            };
            let size = ty.bytes() as usize;
            at = usize::next_multiple_of(at, size);
            if at + size > bytes {
                return Err(CudaError::InvalidValue);
            }
            // SAFETY: the buffer is that long, and the caller has room for that many pointers.
            unsafe { args.add(number).write(buffer.add(at).cast()) };
            at += size;
        }
        Ok(())
    })
}
