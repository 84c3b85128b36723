//! Pools for asynchronous allocations, and memory that other processes share.
//!
//! Every allocation comes from the device: a pool keeps no memory for later, and only counts its allocations.

use std::{
    collections::HashMap,
    ffi::{c_int, c_uint, c_void},
};

use runtime::error::CudaError;

use crate::state::{State, call, refuse};

/// The handle of the default pool.
const DEFAULT: usize = 0x7000_0000;

/// A pool.
#[derive(Default)]
struct Pool {
    /// The most bytes that it allocates at one time; 0 for no limit.
    most_bytes: u64,
    used: u64,
    high: u64,
    /// The attributes that the program set; they have no effect here.
    set: HashMap<c_int, u64>,
}

/// All pools.
#[derive(Default)]
pub(crate) struct Pools {
    pools: HashMap<usize, Pool>,
    /// The pool and size of each allocation.
    given: HashMap<u64, (usize, u64)>,
    current: Option<usize>,
    handles: usize,
}

impl Pools {
    /// The pool that `cudaMallocAsync` uses.
    pub(crate) fn current(&self) -> usize {
        self.current.unwrap_or(DEFAULT)
    }

    fn pool(&mut self, handle: usize) -> Result<&mut Pool, CudaError> {
        if handle == DEFAULT {
            return Ok(self.pools.entry(DEFAULT).or_default());
        }
        self.pools.get_mut(&handle).ok_or(CudaError::InvalidValue)
    }

    /// Notes that memory was freed, which may be a pool's.
    pub(crate) fn freed(&mut self, address: u64) {
        if let Some((pool, bytes)) = self.given.remove(&address)
            && let Some(pool) = self.pools.get_mut(&pool)
        {
            pool.used -= bytes;
        }
    }
}

impl State {
    /// Allocates memory of a pool.
    pub(crate) fn allocate_pooled(&mut self, pool: usize, bytes: u64) -> Result<u64, CudaError> {
        let found = self.given.pools.pool(pool)?;
        if found.most_bytes > 0 && found.used + bytes > found.most_bytes {
            return Err(CudaError::MemoryAllocation);
        }
        let address = self.allocate_device(bytes)?;
        let found = self.given.pools.pool(pool)?;
        found.used += bytes;
        found.high = found.high.max(found.used);
        self.given.pools.given.insert(address, (pool, bytes));
        Ok(address)
    }
}

fn put<T>(target: *mut T, value: T) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer to a `T`, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetDefaultMemPool(pool: *mut usize, device: c_int) -> c_int {
    call(|_| match device {
        0 => put(pool, DEFAULT),
        _ => Err(CudaError::InvalidDevice),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetMemPool(pool: *mut usize, device: c_int) -> c_int {
    call(|state| match device {
        0 => put(pool, state.given.pools.current()),
        _ => Err(CudaError::InvalidDevice),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSetMemPool(device: c_int, pool: usize) -> c_int {
    call(|state| {
        if device != 0 {
            return Err(CudaError::InvalidDevice);
        }
        state.given.pools.pool(pool)?;
        state.given.pools.current = Some(pool);
        Ok(())
    })
}

/// `cudaMemPoolProps`.
#[repr(C)]
pub(crate) struct Properties {
    kind: c_int,
    handles: c_int,
    location: [c_int; 2],
    security: *const c_void,
    most_bytes: usize,
    usage: u16,
    reserved: [u8; 54],
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolCreate(pool: *mut usize, properties: *const Properties) -> c_int {
    call(|state| {
        // SAFETY: the program passes a pointer to a description, or null.
        let properties = unsafe { properties.as_ref() }.ok_or(CudaError::InvalidValue)?;
        let pools = &mut state.given.pools;
        pools.handles += 1;
        let handle = DEFAULT + 0x10 * pools.handles;
        let made = Pool {
            most_bytes: properties.most_bytes as u64,
            ..Pool::default()
        };
        pools.pools.insert(handle, made);
        put(pool, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolDestroy(pool: usize) -> c_int {
    call(|state| {
        let pools = &mut state.given.pools;
        if pool == DEFAULT || pools.pools.remove(&pool).is_none() {
            return Err(CudaError::InvalidValue);
        }
        pools.current.take_if(|current| *current == pool);
        Ok(())
    })
}

/// Attributes 1 to 3 are numbers of 4 bytes, the others of 8.
#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolSetAttribute(pool: usize, attribute: c_int, value: *mut c_void) -> c_int {
    call(|state| {
        let pool = state.given.pools.pool(pool)?;
        if value.is_null() {
            return Err(CudaError::InvalidValue);
        }
        match attribute {
            1..=3 => {
                // SAFETY: the program passes a pointer to a number of that size.
                let value = unsafe { value.cast::<c_int>().read_unaligned() };
                pool.set.insert(attribute, value as u64);
            }
            4 => {
                // SAFETY: as above.
                let value = unsafe { value.cast::<u64>().read_unaligned() };
                pool.set.insert(attribute, value);
            }
            // The high-water mark can be reset.
            6 | 8 => pool.high = pool.used,
            _ => return Err(CudaError::InvalidValue),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolGetAttribute(pool: usize, attribute: c_int, value: *mut c_void) -> c_int {
    call(|state| {
        let pool = state.given.pools.pool(pool)?;
        let set = pool.set.get(&attribute).copied();
        match attribute {
            1..=3 => put(value.cast(), set.unwrap_or(1) as c_int),
            4 => put(value.cast(), set.unwrap_or(0)),
            5 | 7 => put(value.cast(), pool.used),
            6 | 8 => put(value.cast(), pool.high),
            _ => Err(CudaError::InvalidValue),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolSetAccess(pool: usize, _list: *const c_void, _count: usize) -> c_int {
    // There is one device, which can access all pools.
    call(|state| state.given.pools.pool(pool).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolGetAccess(flags: *mut c_int, pool: usize, _place: *mut c_void) -> c_int {
    /// `cudaMemAccessFlagsProtReadWrite`.
    const BOTH: c_int = 3;
    call(|state| {
        state.given.pools.pool(pool)?;
        put(flags, BOTH)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemPoolTrimTo(pool: usize, _bytes: usize) -> c_int {
    call(|state| state.given.pools.pool(pool).map(|_| ()))
}

/// Graphs keep no memory for later, either.
#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetGraphMemAttribute(
    _: c_int,
    _attribute: c_int,
    value: *mut u64,
) -> c_int {
    call(|_| put(value, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGraphMemTrim(_device: c_int) -> c_int {
    call(|_| Ok(()))
}

/// Calls that would need another process.
macro_rules! not_shared {
    ($($name:ident($($param:ident: $ty:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $ty),*) -> c_int {
            call(|_| Err(refuse(stringify!($name), "other processes cannot reach the device of this one")))
        }
    )*};
}

/// `cudaIpcMemHandle_t`, `cudaIpcEventHandle_t`.
#[repr(C)]
pub(crate) struct Handle([u8; 64]);

not_shared! {
    cudaIpcGetMemHandle(handle: *mut Handle, pointer: *mut c_void);
    cudaIpcOpenMemHandle(pointer: *mut *mut c_void, handle: Handle, flags: c_uint);
    cudaIpcCloseMemHandle(pointer: *mut c_void);
    cudaIpcGetEventHandle(handle: *mut Handle, event: usize);
    cudaIpcOpenEventHandle(event: *mut usize, handle: Handle);
    cudaMemPoolExportToShareableHandle(handle: *mut c_void, pool: usize, kind: c_int, flags: c_uint);
    cudaMemPoolImportFromShareableHandle(pool: *mut usize, handle: *mut c_void, kind: c_int, flags: c_uint);
}
