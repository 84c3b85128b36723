//! Registrations of objects before `main`: images of kernels, and the host addresses of kernels and variables.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    slice,
};

use ir::image::{BadImage, Image};

use crate::state::{KernelRef, Managed, fail, state};

/// The compiler's wrapper of an image.
#[repr(C)]
pub(crate) struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    unused: *const c_void,
}

/// The module of a handle; a handle is the module's number plus one, as a pointer.
fn number(handle: *mut *mut c_void) -> usize {
    (handle as usize).wrapping_sub(1)
}

fn whole(name: *const c_char) -> String {
    // SAFETY: the compiler passes a literal.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

fn text(name: *const c_char) -> String {
    let name = whole(name);
    // In separate compilation, names that are private to a source have its mark as suffix.
    let marks = ["__intern__", "__static__"];
    let end = marks.iter().filter_map(|mark| name.rfind(mark)).min();
    name[..end.unwrap_or(name.len())].to_string()
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: *const Wrapper) -> *mut *mut c_void {
    // SAFETY: the compiler's wrapper points to an image, whose length is after its first 8 bytes.
    let bytes = unsafe {
        let data = (*wrapper).data;
        let head: &[u8; 16] = &*data.cast();
        match Image::length(head) {
            Ok(length) => slice::from_raw_parts(data, 16 + length),
            Err(BadImage) => fail(&BadImage.to_string()),
        }
    };
    let image = Image::from_bytes(bytes).unwrap_or_else(|why| fail(&why.to_string()));
    (state().add_module(image) + 1) as *mut *mut c_void
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    function: *const c_void,
    _device_function: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut c_int,
) -> c_int {
    let kernel = KernelRef {
        module: number(handle),
        mangled: text(name),
    };
    state().kernels.insert(function as usize, kernel);
    0
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    variable: *mut c_void,
    _address: *mut c_char,
    name: *const c_char,
    _is_extern: c_int,
    _bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    let (name, whole) = (text(name), whole(name));
    let mut state = state();
    if let Some(module) = state.modules.get_mut(number(handle)) {
        // Several sources may have a variable with that name: then the image has it with its mark.
        let mut known = module.image.notes("variable");
        let is_marked = known.any(|note| note.split(' ').next() == Some(&whole));
        let name = if is_marked { whole } else { name };
        module.variables.push((variable as usize, name));
    }
}

/// Registers a `__managed__` variable, which is in the host's memory. The source may register its kernels later.
#[unsafe(no_mangle)]
extern "C" fn __dslcRegisterManaged(
    source: *const c_char,
    name: *const c_char,
    address: *mut c_void,
    bytes: u64,
) {
    let managed = Managed {
        source: text(source),
        name: text(name),
        address: address as usize,
        bytes,
    };
    state().visible.managed.push(managed);
}
