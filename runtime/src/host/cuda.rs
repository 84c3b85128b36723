//! The CUDA runtime calls: memory, copies, errors, configuration, events.
//!
//! Errors as in the CUDA runtime: a call that fails returns its error and remembers it for `cudaGetLastError`, which clears it. A fault in
//! a kernel waits (`pending`) until a call synchronises; then it is `sticky`: every later call returns it. Where the run goes on after
//! faults (`keep_going`) only that call returns it.

use std::collections::{HashMap, HashSet};

use dsl::ir::{DeviceProp, FuncId, HostFn, LocId};
use interp::{
    AddressKind, InvalidLaunch, LaunchConfig, TrapKind, rules::BankWidth, trap::AccessOp,
};

mod event;

use super::{Arrival, Host, Stop};
use crate::{device::DeviceError, error::CudaError};

/// What the CUDA runtime remembers between calls.
#[derive(Debug)]
pub(super) struct State {
    /// For `cudaGetLastError`.
    pub(super) last: CudaError,
    /// A kernel faulted and nobody has asked yet.
    pub(super) pending: Option<CudaError>,
    /// A kernel faulted; nothing works any more.
    pub(super) sticky: Option<CudaError>,
    /// A fault in a kernel is told once, and what comes after it works.
    pub(super) keep_going: bool,
    /// Something was launched since managed memory was last told of.
    pub(super) launched: bool,
    /// Managed allocations, in order: address and bytes.
    pub(super) managed: Vec<(u64, u64)>,
    /// Allocations of `cudaMallocHost` and its like.
    pub(super) pinned: Vec<u64>,
    /// Most dynamic shared memory by kernel, where `cudaFuncSetAttribute` set it.
    pub(super) dynamic_limit: HashMap<FuncId, u64>,
    cache_config: u32,
    events: event::Events,
    streams: HashSet<u64>,
    next_handle: u64,
    texts: HashMap<String, u64>,
}

impl Default for State {
    fn default() -> State {
        State {
            last: CudaError::Success,
            pending: None,
            sticky: None,
            keep_going: false,
            launched: false,
            managed: Vec::new(),
            pinned: Vec::new(),
            dynamic_limit: HashMap::new(),
            cache_config: 0,
            events: event::Events::default(),
            streams: HashSet::new(),
            next_handle: 1,
            texts: HashMap::new(),
        }
    }
}

/// Streams and events that there may be at one time.
const MOST_HANDLES: usize = 1 << 16;

/// The error a fault in a kernel becomes.
pub(super) fn error_of_trap(kind: &TrapKind) -> CudaError {
    match kind {
        TrapKind::Misaligned(_) => CudaError::MisalignedAddress,
        TrapKind::Assert { .. } => CudaError::Assert,
        TrapKind::Explicit => CudaError::LaunchFailure,
        TrapKind::Deadlock
        | TrapKind::Limit { .. }
        | TrapKind::RunLimit { .. }
        | TrapKind::PrintLimit { .. }
        | TrapKind::Endless
        | TrapKind::Stopped(_) => CudaError::LaunchTimeout,
        TrapKind::BadCall
        | TrapKind::OutOfBounds(_)
        | TrapKind::NullPointer(_)
        | TrapKind::UseAfterFree(_)
        | TrapKind::HostPointerOnDevice(_)
        | TrapKind::DevicePointerOnHost(_)
        | TrapKind::ReadOnly(_)
        | TrapKind::InvalidPointer(_)
        | TrapKind::BadString { .. } => CudaError::IllegalAddress,
        _ => CudaError::LaunchFailure,
    }
}

/// The error of a launch that is refused.
pub(super) fn error_of_refusal(why: &InvalidLaunch) -> CudaError {
    match why {
        InvalidLaunch::TooMuchShared { .. } => CudaError::InvalidValue,
        InvalidLaunch::LaunchBounds { .. } => CudaError::LaunchOutOfResources,
        InvalidLaunch::CooperativeTooLarge { .. } => CudaError::CooperativeLaunchTooLarge,
        InvalidLaunch::NotAKernel(_) => CudaError::InvalidDeviceFunction,
        _ => CudaError::InvalidConfiguration,
    }
}

impl Host<'_> {
    /// Answers a CUDA call.
    pub(super) fn cuda(&mut self, function: HostFn, args: &[u64], loc: LocId) -> Result<u64, Stop> {
        match function {
            // These ask about errors; they neither wait nor fail.
            HostFn::CudaGetLastError => {
                let error = std::mem::replace(
                    &mut self.state.last,
                    self.state.sticky.unwrap_or(CudaError::Success),
                );
                return Ok(error.code() as u64);
            }
            HostFn::CudaPeekAtLastError => return Ok(self.state.last.code() as u64),
            HostFn::CudaGetErrorString | HostFn::CudaGetErrorName => {
                let error = CudaError::from_code(args[0] as i32);
                let text = match (error, function) {
                    (Some(error), HostFn::CudaGetErrorString) => error.text(),
                    (Some(error), _) => error.name(),
                    (None, HostFn::CudaGetErrorString) => "unrecognized error code",
                    (None, _) => "cudaErrorUnknown",
                };
                return Ok(self.text_address(text));
            }
            HostFn::DeviceProperty => return Ok(self.property(args[0])),
            HostFn::KernelFact => return Ok(self.kernel_fact(args[0], FuncId(args[1] as u32))),
            HostFn::DeviceName => {
                let mut name = self.device.info().name.clone().into_bytes();
                name.truncate((args[1] as usize).saturating_sub(1));
                name.push(0);
                self.store(args[0], &name, loc)?;
                return Ok(0);
            }
            _ => {}
        }
        let fault = self.state.pending.take();
        if !self.state.keep_going {
            self.state.sticky = self.state.sticky.or(fault);
        }
        let result = match self.state.sticky {
            Some(error) => Err(error),
            None => {
                let result = self.work(function, args, loc)?;
                if result.is_ok() {
                    self.waited(function, args);
                }
                // What it was to do is done; what it says is that the kernel faulted.
                fault.map_or(result, Err)
            }
        };
        let error = result.err().unwrap_or(CudaError::Success);
        if error != CudaError::Success {
            self.state.last = error;
        }
        Ok(error.code() as u64)
    }

    /// The calls that return an error.
    fn work(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<Result<(), CudaError>, Stop> {
        match function {
            HostFn::CudaMalloc
            | HostFn::CudaMallocAsync
            | HostFn::CudaMallocManaged
            | HostFn::CudaMallocHost => return self.allocate(function, args, loc),
            HostFn::CudaFree | HostFn::CudaFreeHost => {
                return Ok(self.free(function, args[0], loc));
            }
            HostFn::CudaFreeAsync => {
                self.freed_in_stream(args[0], args[1], loc);
                return Ok(self.free(function, args[0], loc));
            }
            HostFn::CudaMemcpy | HostFn::CudaMemcpyAsync => {
                let result = self.copy(args[0], args[1], args[2], args[3], loc)?;
                if result.is_ok() && args[2] > 0 {
                    let stream = args.get(4).copied();
                    self.copied(function, (args[0], args[1]), args[2], stream, loc);
                }
                return Ok(result);
            }
            HostFn::CudaMemset | HostFn::CudaMemsetAsync => {
                let (address, byte, bytes) = (args[0], args[1] as u8, args[2]);
                let result = self.device.fill(&mut self.memory, address, byte, bytes);
                let result = self.device_result(result, function.text(), loc);
                if result.is_ok() {
                    self.set_by(function.text(), address, None, bytes, loc);
                    self.filled(address, bytes, args.get(3).copied(), loc);
                }
                return Ok(result);
            }
            HostFn::CudaMemcpyToSymbol => {
                let symbol = args[0].wrapping_add(args[3]);
                return Ok(self.symbol_copy(function, (symbol, args[1]), args, loc));
            }
            HostFn::CudaMemcpyFromSymbol => {
                let symbol = args[1].wrapping_add(args[3]);
                let result = self.symbol_copy(function, (args[0], symbol), args, loc);
                if result.is_ok() {
                    self.arrived("cudaMemcpyFromSymbol", args[0], args[2], loc);
                }
                return Ok(result);
            }
            HostFn::CudaGetSymbolAddress => self.store(args[0], &args[1].to_le_bytes(), loc)?,
            HostFn::CudaGetDeviceCount => self.store(args[0], &1u32.to_le_bytes(), loc)?,
            HostFn::CudaGetDevice => self.store(args[0], &0u32.to_le_bytes(), loc)?,
            HostFn::CudaSetDevice if args[0] != 0 => return Ok(Err(CudaError::InvalidDevice)),
            HostFn::CudaMemGetInfo => {
                let total = self.device.info().global_bytes;
                let free = total.saturating_sub(self.device.bytes_in_use(&self.memory));
                self.store(args[0], &free.to_le_bytes(), loc)?;
                self.store(args[1], &total.to_le_bytes(), loc)?;
            }
            HostFn::SetError => {
                return Ok(match CudaError::from_code(args[0] as i32) {
                    None | Some(CudaError::Success) => Ok(()),
                    Some(error) => Err(error),
                });
            }
            HostFn::CudaFuncSetAttribute => return Ok(self.function_attribute(args)),
            HostFn::OccupancyBlocks | HostFn::OccupancyBlockSize => {
                return self.occupancy(function, args, loc);
            }
            HostFn::CudaFuncSetCacheConfig => {
                self.say_once(
                    loc,
                    "cudaFuncSetCacheConfig has no effect here: no count depends on how L1 cache and shared memory share their room",
                );
            }
            HostFn::CudaDeviceSetCacheConfig => self.state.cache_config = args[0] as u32,
            HostFn::CudaDeviceGetCacheConfig => {
                self.store(args[0], &self.state.cache_config.to_le_bytes(), loc)?;
            }
            HostFn::CudaDeviceSetSharedMemConfig => return Ok(self.set_bank_width(args[0], loc)),
            HostFn::CudaFuncSetSharedMemConfig => {
                self.say_once(
                    loc,
                    "cudaFuncSetSharedMemConfig has no effect here: use cudaDeviceSetSharedMemConfig or --bank-width",
                );
            }
            HostFn::CudaDeviceGetSharedMemConfig => {
                let value: u32 = match self.device.bank_width() {
                    BankWidth::Four => 1,
                    BankWidth::Eight => 2,
                };
                self.store(args[0], &value.to_le_bytes(), loc)?;
            }
            HostFn::CudaStreamCreate | HostFn::CudaStreamCreateWithFlags => {
                let Some(handle) = self.new_handle(loc) else {
                    return Ok(Err(CudaError::MemoryAllocation));
                };
                self.state.streams.insert(handle);
                self.store(args[0], &handle.to_le_bytes(), loc)?;
                let flags = args.get(1).copied().unwrap_or(0);
                self.order.create_stream(handle, flags & 1 == 0);
            }
            HostFn::CudaStreamDestroy if self.state.streams.remove(&args[0]) => {
                self.order.destroy_stream(args[0]);
            }
            HostFn::CudaEventCreate
            | HostFn::CudaEventRecord
            | HostFn::CudaEventElapsedTime
            | HostFn::CudaEventDestroy => return self.event(function, args, loc),
            HostFn::CudaEventSynchronize if !self.state.events.is_event(args[0]) => {
                return Ok(Err(CudaError::InvalidResourceHandle));
            }
            HostFn::CudaDeviceSynchronize
            | HostFn::CudaEventSynchronize
            | HostFn::CudaStreamSynchronize
            | HostFn::CudaDeviceReset => {
                let result = self.device.synchronize();
                if let Err(error) = self.device_result(result, function.text(), loc) {
                    return Ok(Err(error));
                }
                self.managed_arrives(loc);
                if function == HostFn::CudaDeviceReset {
                    self.free_all(loc);
                }
            }
            HostFn::CudaStreamDestroy => return Ok(Err(CudaError::InvalidResourceHandle)),
            // There is one device; what a stream waits for is noted when the call has returned.
            HostFn::CudaSetDevice | HostFn::CudaStreamWaitEvent => {}
            _ => unreachable!("`{function}` is answered before, or nobody has written it"),
        }
        Ok(Ok(()))
    }

    /// `cudaMalloc` and its like.
    fn allocate(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<Result<(), CudaError>, Stop> {
        let (target, bytes) = (args[0], args[1]);
        if bytes == 0 {
            self.store(target, &0u64.to_le_bytes(), loc)?;
            return Ok(Ok(()));
        }
        // Kernels may use pinned memory, as they may managed memory.
        let both_sides = !matches!(function, HostFn::CudaMalloc | HostFn::CudaMallocAsync);
        let result = self.device.malloc(&mut self.memory, bytes, both_sides);
        let address = match self.device_result(result, function.text(), loc) {
            Ok(address) => address,
            Err(error) => {
                if error == CudaError::MemoryAllocation {
                    let what = match function {
                        HostFn::CudaMallocHost => "pinned host memory",
                        _ => "device memory",
                    };
                    self.say_shortage(loc, bytes, what, false);
                }
                return Ok(Err(error));
            }
        };
        self.name_allocation(function, address, loc);
        if self.unset.follows {
            self.memory.begin_unset(address);
        }
        if function == HostFn::CudaMallocHost {
            self.state.pinned.push(address);
        } else {
            self.io.allocated(address, bytes);
        }
        if function == HostFn::CudaMallocManaged {
            self.state.managed.push((address, bytes));
        }
        if function == HostFn::CudaMallocAsync {
            self.made_in_stream(address, bytes, args[2], loc);
        }
        self.store(target, &address.to_le_bytes(), loc)?;
        Ok(Ok(()))
    }

    /// `cudaFree` and `cudaFreeHost`, which wait for what may use the memory, and `cudaFreeAsync`, which does not.
    fn free(&mut self, function: HostFn, address: u64, loc: LocId) -> Result<(), CudaError> {
        let name = function.text();
        let is_pinned = self.state.pinned.contains(&address);
        let (wants_pinned, why) = match function {
            HostFn::CudaFreeHost => (true, "does not come from cudaMallocHost"),
            _ => (false, "is pinned host memory, which cudaFreeHost frees"),
        };
        if address != 0 && is_pinned != wants_pinned {
            self.say(loc, format!("{name}: what is to be freed {why}"), true);
            return Err(CudaError::InvalidValue);
        }
        let is_managed = self.state.managed.iter().any(|&(at, _)| at == address);
        if is_pinned || is_managed {
            let result = self.device.synchronize();
            self.device_result(result, name, loc)?;
        }
        if is_managed {
            self.managed_arrives(loc);
        }
        let result = self.device.free(&mut self.memory, address);
        self.device_result(result, name, loc)?;
        self.memory.note_freed(address, loc);
        self.state.managed.retain(|&(at, _)| at != address);
        self.state.pinned.retain(|&at| at != address);
        Ok(())
    }

    /// The number of a stream or an event that is made; `None` if there are too many.
    fn new_handle(&mut self, loc: LocId) -> Option<u64> {
        if self.state.streams.len() + self.state.events.len() >= MOST_HANDLES {
            let text =
                format!("there are {MOST_HANDLES} streams and events that were not destroyed");
            self.say_once(loc, &text);
            return None;
        }
        let handle = self.state.next_handle;
        self.state.next_handle += 1;
        Some(handle)
    }

    fn copy(
        &mut self,
        to: u64,
        from: u64,
        bytes: u64,
        kind: u64,
        loc: LocId,
    ) -> Result<Result<(), CudaError>, Stop> {
        if kind > 4 {
            return Ok(Err(CudaError::InvalidMemcpyDirection));
        }
        if bytes == 0 {
            return Ok(Ok(()));
        }
        let is_device = |host: &Host<'_>, address| {
            matches!(
                host.memory.kind_of(address),
                AddressKind::Device | AddressKind::Constant | AddressKind::Managed
            )
        };
        let is_host = |host: &Host<'_>, address| {
            matches!(
                host.memory.kind_of(address),
                AddressKind::Host | AddressKind::String | AddressKind::Managed
            )
        };
        // Kinds: 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 by the addresses.
        let (to_device, from_device) = (matches!(kind, 1 | 3), matches!(kind, 2 | 3));
        for (address, wants_device, role) in [
            (to, to_device, "destination"),
            (from, from_device, "source"),
        ] {
            let (fits, is, should) = match (kind, wants_device) {
                (4, _) => (true, "", ""),
                (_, true) => (
                    !is_host(self, address) || is_device(self, address),
                    "a host pointer",
                    "a device pointer",
                ),
                (_, false) => (
                    !is_device(self, address) || is_host(self, address),
                    "a device pointer",
                    "a host pointer",
                ),
            };
            if !fits {
                let text =
                    format!("cudaMemcpy: the {role} is {is}, but the kind of copy says {should}");
                self.say_wrong_side(text, (to, from), (kind, address, wants_device), loc);
                return Ok(Err(CudaError::InvalidValue));
            }
        }
        let fault = match self.device.copy(&mut self.memory, to, from, bytes) {
            Ok(()) => {
                self.set_by("cudaMemcpy", to, Some(from), bytes, loc);
                if is_device(self, from) && is_host(self, to) {
                    self.arrived("cudaMemcpy", to, bytes, loc);
                }
                self.managed_arrives(loc);
                return Ok(Ok(()));
            }
            Err(DeviceError::Memory(fault)) => fault,
            Err(error) => return Ok(self.device_result(Err(error), "cudaMemcpy", loc)),
        };
        if is_host(self, fault.address) && !is_device(self, fault.address) {
            // The CPU itself would fault on its own side of the copy.
            let op = if fault.address == from {
                AccessOp::Load
            } else {
                AccessOp::Store
            };
            return Err(self.fault(fault, op, loc));
        }
        self.say_fault(loc, "cudaMemcpy", fault);
        Ok(Err(CudaError::InvalidValue))
    }

    fn symbol_copy(
        &mut self,
        function: HostFn,
        (to, from): (u64, u64),
        args: &[u64],
        loc: LocId,
    ) -> Result<(), CudaError> {
        let bytes = args[2];
        let result = self.device.copy(&mut self.memory, to, from, bytes);
        self.device_result(result, function.text(), loc)?;
        self.set_by(function.text(), to, Some(from), bytes, loc);
        self.copied(function, (to, from), bytes, None, loc);
        Ok(())
    }

    /// Tells of bytes that were copied from the device to here.
    fn arrived(&mut self, how: &'static str, address: u64, bytes: u64, loc: LocId) {
        if self.io.wants_arrivals()
            && let Ok(bytes) = self.memory.read_bytes(address, bytes)
        {
            self.io.arrived(&Arrival { loc, how, bytes });
        }
    }

    /// `cudaFuncSetAttribute(kernel, attribute, value)`: attribute 8 is the most dynamic shared memory, 9 the preferred carve-out.
    fn function_attribute(&mut self, args: &[u64]) -> Result<(), CudaError> {
        let kernel = FuncId(args[0] as u32);
        match args[1] {
            8 => {
                let limit = self.device.info().shared_bytes_per_block_optin;
                let fixed = self.static_shared(kernel);
                if args[2] as i32 >= 0 && args[2] + fixed <= limit {
                    self.state.dynamic_limit.insert(kernel, args[2]);
                    return Ok(());
                }
                Err(CudaError::InvalidValue)
            }
            9 => Ok(()),
            _ => Err(CudaError::InvalidValue),
        }
    }

    pub(super) fn static_shared(&self, kernel: FuncId) -> u64 {
        let shared = &self.program.module().function(kernel).shared;
        shared
            .iter()
            .map(|var| var.offset_bytes + var.size_bytes)
            .max()
            .unwrap_or(0)
    }

    /// More than 48 KB of shared memory has to be asked for with `cudaFuncSetAttribute`.
    pub(super) fn check_dynamic_shared(
        &self,
        kernel: FuncId,
        config: &LaunchConfig,
    ) -> Result<(), InvalidLaunch> {
        let fixed = self.static_shared(kernel);
        let limit = match self.state.dynamic_limit.get(&kernel) {
            Some(&dynamic) => (dynamic + fixed).max(self.device.info().shared_bytes_per_block),
            None => self.device.info().shared_bytes_per_block,
        };
        let bytes = fixed.saturating_add(config.shared_bytes);
        if bytes > limit {
            Err(InvalidLaunch::TooMuchShared { bytes, limit })
        } else {
            Ok(())
        }
    }

    fn set_bank_width(&mut self, config: u64, loc: LocId) -> Result<(), CudaError> {
        let width = match config {
            0 | 1 => BankWidth::Four,
            2 => BankWidth::Eight,
            _ => return Err(CudaError::InvalidValue),
        };
        if !self.device.set_bank_width(width) {
            self.say_once(
                loc,
                "cudaDeviceSetSharedMemConfig changes nothing on this architecture: only sm_30 to sm_37 have 8-byte banks",
            );
        }
        Ok(())
    }

    /// The numbers behind `__dslc_device_property`.
    fn property(&self, index: u64) -> u64 {
        let info = self.device.info();
        let Some(property) = DeviceProp::from_index(index as i32) else {
            return 0;
        };
        match property {
            DeviceProp::Major => info.major.into(),
            DeviceProp::Minor => info.minor.into(),
            DeviceProp::TotalGlobalMem => info.global_bytes,
            DeviceProp::SharedMemPerBlock => info.shared_bytes_per_block,
            DeviceProp::SharedMemPerBlockOptin => info.shared_bytes_per_block_optin,
            DeviceProp::SharedMemPerMultiprocessor => info.shared_bytes_per_multiprocessor,
            DeviceProp::ReservedSharedMemPerBlock => info.reserved_shared_bytes_per_block,
            DeviceProp::RegsPerBlock => info.registers_per_block.into(),
            DeviceProp::RegsPerMultiprocessor => info.registers_per_multiprocessor.into(),
            DeviceProp::WarpSize => 32,
            DeviceProp::MemPitch => i32::MAX as u64,
            DeviceProp::MaxThreadsPerBlock => info.threads_per_block.into(),
            DeviceProp::MaxThreadsDimX => info.block_limit[0].into(),
            DeviceProp::MaxThreadsDimY => info.block_limit[1].into(),
            DeviceProp::MaxThreadsDimZ => info.block_limit[2].into(),
            DeviceProp::MaxGridSizeX => info.grid_limit[0].into(),
            DeviceProp::MaxGridSizeY => info.grid_limit[1].into(),
            DeviceProp::MaxGridSizeZ => info.grid_limit[2].into(),
            DeviceProp::ClockRate => info.clock_khz.into(),
            DeviceProp::TotalConstMem => info.constant_bytes,
            DeviceProp::MultiProcessorCount => info.multiprocessors.into(),
            DeviceProp::MaxThreadsPerMultiProcessor => info.threads_per_multiprocessor.into(),
            DeviceProp::MaxBlocksPerMultiProcessor => info.blocks_per_multiprocessor.into(),
            DeviceProp::MemoryClockRate => info.memory_clock_khz.into(),
            DeviceProp::MemoryBusWidth => info.memory_bus_bits.into(),
            DeviceProp::L2CacheSize => info.l2_bytes,
            DeviceProp::ConcurrentKernels
            | DeviceProp::AsyncEngineCount
            | DeviceProp::UnifiedAddressing
            | DeviceProp::ManagedMemory => 1,
            DeviceProp::EccEnabled => 0,
        }
    }

    /// The address of one of the runtime's own strings in host memory.
    fn text_address(&mut self, text: &str) -> u64 {
        if let Some(&address) = self.state.texts.get(text) {
            return address;
        }
        let Ok(address) = self.memory.text(text) else {
            return 0;
        };
        self.state.texts.insert(text.to_string(), address);
        address
    }
}
