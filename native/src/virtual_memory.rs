//! The driver's virtual memory management: reserved addresses, allocated memory, and mappings of memory at addresses.
//!
//! All of it is in the process: a reservation is an address range without access, memory is an unnamed file, and a mapping is an `mmap`. So
//! memory keeps its content wherever it is mapped next, as on a GPU. Kernels access it at the host's addresses. Neighbouring ranges that
//! are both accessible are one object, because programs grow arrays that way. Invalid host accesses to it are not detected.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{c_int, c_ulonglong, c_void},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

use runtime::error::CudaError;

use crate::state::{Shared, SharedKind, State, call};

/// The granularity of sizes and addresses.
const GRANULE: u64 = 2 << 20;

/// Allocated memory, which may be mapped.
struct Physical {
    file: OwnedFd,
    bytes: u64,
    /// The number of its mappings.
    mapped: usize,
    /// How many times the program holds its handle.
    held: usize,
}

/// A mapping of memory at an address.
#[derive(Clone, Copy)]
struct Mapping {
    bytes: u64,
    handle: u64,
    is_open: bool,
}

/// All virtual memory.
#[derive(Default)]
pub(crate) struct VirtualMemory {
    /// The size in bytes, by address.
    reserved: BTreeMap<u64, u64>,
    physical: HashMap<u64, Physical>,
    mapped: BTreeMap<u64, Mapping>,
    handles: u64,
}

impl VirtualMemory {
    /// The reservation that contains all of these bytes.
    fn reservation(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (&base, &size) = self.reserved.range(..=address).next_back()?;
        (bytes > 0 && address - base <= size && bytes <= size - (address - base))
            .then_some((base, size))
    }

    /// The mappings that make up these bytes: each of them whole, without gaps.
    fn mappings(&self, address: u64, bytes: u64) -> Result<Vec<u64>, CudaError> {
        let (mut at, end) = (address, address.saturating_add(bytes));
        let mut found = Vec::new();
        while at < end {
            let mapping = self.mapped.get(&at).ok_or(CudaError::InvalidValue)?;
            found.push(at);
            at += mapping.bytes;
        }
        match at == end && !found.is_empty() {
            true => Ok(found),
            false => Err(CudaError::InvalidValue),
        }
    }

    /// The maximal accessible ranges of a reservation.
    fn open(&self, (base, size): (u64, u64)) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (&address, mapping) in self.mapped.range(base..base + size) {
            match ranges.last_mut() {
                _ if !mapping.is_open => {}
                Some((first, bytes)) if *first + *bytes == address => *bytes += mapping.bytes,
                _ => ranges.push((address, mapping.bytes)),
            }
        }
        ranges
    }

    /// Frees memory without handles and mappings.
    fn collect(&mut self, handle: u64) {
        let is_gone = |one: &Physical| one.held == 0 && one.mapped == 0;
        if self.physical.get(&handle).is_some_and(is_gone) {
            self.physical.remove(&handle);
        }
    }
}

/// Maps memory in the process. The only possible error is a lack of memory.
fn map(address: u64, bytes: u64, access: c_int, file: Option<&OwnedFd>) -> Result<u64, CudaError> {
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED };
    let kind = match file {
        Some(_) => libc::MAP_SHARED,
        None => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
    };
    // SAFETY: a fixed address is inside a reservation, which nothing else uses.
    let place = unsafe {
        libc::mmap(
            address as *mut c_void,
            bytes as usize,
            access,
            kind | fixed,
            file.map_or(-1, AsRawFd::as_raw_fd),
            0,
        )
    };
    match place == libc::MAP_FAILED {
        true => Err(CudaError::MemoryAllocation),
        false => Ok(place as u64),
    }
}

fn unmap(address: u64, bytes: u64) {
    if bytes > 0 {
        // SAFETY: the range was mapped only for this.
        unsafe { libc::munmap(address as *mut c_void, bytes as usize) };
    }
}

impl State {
    /// Makes the accessible parts of a reservation accessible to kernels and copies.
    fn reach(&mut self, reservation: (u64, u64)) -> Result<(), CudaError> {
        let (base, size) = reservation;
        let known = self.visible.shared.range(base..base + size);
        let known: Vec<(u64, u64)> = known.map(|(at, shared)| (*at, shared.bytes)).collect();
        let wanted = self.given.virtual_memory.open(reservation);
        for (address, _) in known.iter().filter(|range| !wanted.contains(range)) {
            self.visible.shared.remove(address);
            let result = self.device.unshare(*address);
            self.device_result(result, "cuMemUnmap")?;
            let removed = self.memory.remove_foreign(*address);
            removed.map_err(|_| CudaError::InvalidValue)?;
        }
        for (address, bytes) in wanted.into_iter().filter(|range| !known.contains(range)) {
            let result = self.device.share(address, bytes);
            self.device_result(result, "cuMemSetAccess")?;
            // SAFETY: the range stays mapped until this function removes it.
            unsafe { self.memory.add_managed(address, bytes) };
            self.memory.set_name(address, "memory of cuMemMap");
            let kind = SharedKind::Mapped;
            self.visible.shared.insert(address, Shared { bytes, kind });
        }
        Ok(())
    }
}

fn is_whole(bytes: u64) -> bool {
    bytes > 0 && bytes.is_multiple_of(GRANULE)
}

fn put(target: *mut c_ulonglong, value: u64) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer for it, or null.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualReserve(pointer: *mut c_ulonglong, bytes: u64, alignment: u64) -> c_int {
    call(|state| {
        let alignment = alignment.max(GRANULE);
        if !is_whole(bytes) || !alignment.is_power_of_two() {
            return Err(CudaError::InvalidValue);
        }
        // More than requested; the ends are unmapped.
        let all = bytes
            .checked_add(alignment)
            .ok_or(CudaError::MemoryAllocation)?;
        let place = map(0, all, libc::PROT_NONE, None)?;
        let base = place.next_multiple_of(alignment);
        unmap(place, base - place);
        unmap(base + bytes, place + all - (base + bytes));
        state.given.virtual_memory.reserved.insert(base, bytes);
        put(pointer, base)
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualFree(address: u64, bytes: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let is_used = all
            .mapped
            .range(address..address.saturating_add(bytes))
            .next()
            .is_some();
        if all.reserved.get(&address) != Some(&bytes) || is_used {
            return Err(CudaError::InvalidValue);
        }
        all.reserved.remove(&address);
        unmap(address, bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualCreate(handle: *mut c_ulonglong, bytes: u64) -> c_int {
    call(|state| {
        if !is_whole(bytes) {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: it only makes a file.
        let file = unsafe {
            let file = libc::memfd_create(c"dslc".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return Err(CudaError::MemoryAllocation);
            }
            OwnedFd::from_raw_fd(file)
        };
        let size = i64::try_from(bytes).map_err(|_| CudaError::MemoryAllocation)?;
        // SAFETY: the file is open.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
            return Err(CudaError::MemoryAllocation);
        }
        let all = &mut state.given.virtual_memory;
        all.handles += 1;
        let number = 0x5000 + all.handles;
        let physical = Physical {
            file,
            bytes,
            mapped: 0,
            held: 1,
        };
        all.physical.insert(number, physical);
        put(handle, number)
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualRelease(handle: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let physical = all.physical.get_mut(&handle);
        let physical = physical.filter(|one| one.held > 0);
        physical.ok_or(CudaError::InvalidValue)?.held -= 1;
        all.collect(handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualMap(address: u64, bytes: u64, offset: u64, handle: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let is_there = all.reservation(address, bytes).is_some();
        let before = all
            .mapped
            .range(..address.saturating_add(bytes))
            .next_back();
        let is_taken = before.is_some_and(|(base, mapping)| base + mapping.bytes > address);
        let physical = all
            .physical
            .get_mut(&handle)
            .ok_or(CudaError::InvalidValue)?;
        let is_right = offset == 0 && bytes == physical.bytes && address.is_multiple_of(GRANULE);
        if !is_there || is_taken || physical.held == 0 || !is_right {
            return Err(CudaError::InvalidValue);
        }
        map(address, bytes, libc::PROT_NONE, Some(&physical.file))?;
        physical.mapped += 1;
        let mapping = Mapping {
            bytes,
            handle,
            is_open: false,
        };
        all.mapped.insert(address, mapping);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualUnmap(address: u64, bytes: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let found = all.mappings(address, bytes)?;
        let reservation = all
            .reservation(address, bytes)
            .ok_or(CudaError::InvalidValue)?;
        let mut closed = Vec::new();
        for at in found {
            closed.extend(all.mapped.remove(&at).map(|mapping| (at, mapping)));
        }
        // The tables are updated before the memory.
        state.reach(reservation)?;
        let all = &mut state.given.virtual_memory;
        for (at, mapping) in closed {
            map(at, mapping.bytes, libc::PROT_NONE, None)?;
            if let Some(physical) = all.physical.get_mut(&mapping.handle) {
                physical.mapped -= 1;
            }
            all.collect(mapping.handle);
        }
        Ok(())
    })
}

/// Sets the access to a mapped range: 0 none, 1 read, 3 read and write. Here reading includes writing.
#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualAccess(address: u64, bytes: u64, flags: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let reservation = all
            .reservation(address, bytes)
            .ok_or(CudaError::InvalidValue)?;
        let is_open = match flags {
            0 => false,
            1 | 3 => true,
            _ => return Err(CudaError::InvalidValue),
        };
        for at in all.mappings(address, bytes)? {
            if let Some(mapping) = all.mapped.get_mut(&at) {
                mapping.is_open = is_open;
            }
        }
        let protect = |access: c_int| {
            // SAFETY: the range is mapped, and the tables are updated below.
            unsafe { libc::mprotect(address as *mut c_void, bytes as usize, access) };
        };
        if is_open {
            protect(libc::PROT_READ | libc::PROT_WRITE);
        }
        state.reach(reservation)?;
        if !is_open {
            protect(libc::PROT_NONE);
        }
        Ok(())
    })
}

/// Another handle of the memory at an address, which has to be released as well.
#[unsafe(no_mangle)]
extern "C" fn __dslcVirtualHandle(handle: *mut c_ulonglong, address: u64) -> c_int {
    call(|state| {
        let all = &mut state.given.virtual_memory;
        let before = all.mapped.range(..=address).next_back();
        let found = before.filter(|(base, mapping)| address < *base + mapping.bytes);
        let (_, mapping) = found.ok_or(CudaError::InvalidValue)?;
        let physical = all.physical.get_mut(&mapping.handle);
        physical.ok_or(CudaError::InvalidValue)?.held += 1;
        put(handle, mapping.handle)
    })
}
