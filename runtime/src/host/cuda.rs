//! The CUDA runtime calls: memory, copies, errors, configuration, events.
//!
//! Errors are as in the CUDA runtime. A call that fails returns its error and remembers it for `cudaGetLastError`, which clears it. A fault
//! in a kernel waits (`pending`) until a call synchronises. Then it is `sticky`: every later call returns it. If the run continues after
//! faults (`keep_going`), only that call returns it.

use std::collections::{HashMap, HashSet};

use interp::{
    AddressKind, InvalidLaunch, LaunchConfig, TrapKind, check_static_shared, rules::BankWidth,
    trap::AccessOp,
};
use ir::{DeviceProp, FuncId, GlobalId, HostFn, LocId};

mod event;

use super::{Arrival, CopyEnd, Host, Stop, WrongKind};
use crate::{
    device::{DeviceError, DeviceInfo},
    error::CudaError,
};

/// `cudaLimitPrintfFifoSize` unless the program says otherwise: 64 KiB for each of an H200's 132 multiprocessors (driver 580). Older devices
/// have 1 MB (CUDA C++ Programming Guide, "Formatted Output").
const PRINTF_BYTES: u64 = 132 << 16;

/// What the CUDA runtime remembers between calls.
#[derive(Debug)]
pub(super) struct State {
    /// For `cudaGetLastError`.
    pub(super) last: CudaError,
    /// The fault of a kernel that no call has returned yet.
    pub(super) pending: Option<CudaError>,
    /// Whether a launch that waits for the host is postponed.
    pub(super) postpones: bool,
    /// The fault of a kernel after which no call works.
    pub(super) sticky: Option<CudaError>,
    /// Whether only one call returns a kernel's fault, and later calls work.
    pub(super) keep_going: bool,
    /// Whether there was a launch since managed memory was last reported.
    pub(super) launched: bool,
    /// Managed allocations, in ascending order: address and bytes.
    pub(super) managed: Vec<(u64, u64)>,
    /// `cudaLimitPrintfFifoSize`.
    pub(super) printf_bytes: u64,
    /// Allocations of `cudaMallocHost` and similar.
    pub(super) pinned: Vec<u64>,
    /// The limit of dynamic shared memory by kernel, if `cudaFuncSetAttribute` set it.
    pub(super) dynamic_limit: HashMap<FuncId, u64>,
    /// For `cudaDeviceGetCacheConfig`.
    pub(super) cache_config: u32,
    events: event::Events,
    pub(super) streams: HashSet<u64>,
    /// Destroyed streams, and where they were destroyed.
    pub(super) destroyed: HashMap<u64, LocId>,
    /// The last launch that has printed without a later wait: its kernel, and where it was launched.
    pub(super) unseen_prints: Option<(String, LocId)>,
    next_handle: u64,
    texts: HashMap<String, u64>,
}

impl Default for State {
    fn default() -> State {
        State {
            last: CudaError::Success,
            pending: None,
            postpones: true,
            sticky: None,
            keep_going: false,
            launched: false,
            managed: Vec::new(),
            printf_bytes: PRINTF_BYTES,
            pinned: Vec::new(),
            dynamic_limit: HashMap::new(),
            cache_config: 0,
            events: event::Events::default(),
            streams: HashSet::new(),
            destroyed: HashMap::new(),
            unseen_prints: None,
            // 1 and 2 are `cudaStreamLegacy` and `cudaStreamPerThread`.
            next_handle: 3,
            texts: HashMap::new(),
        }
    }
}

/// Why a CUDA call was not carried out.
pub(super) enum CallError {
    /// It returns this error, and the program continues.
    Cuda(CudaError),
    /// The program ends.
    Stop(Stop),
}

impl From<CudaError> for CallError {
    fn from(error: CudaError) -> CallError {
        CallError::Cuda(error)
    }
}

impl From<Stop> for CallError {
    fn from(stop: Stop) -> CallError {
        CallError::Stop(stop)
    }
}

/// Most streams and events at one time.
const MAX_HANDLES: usize = 1 << 16;

/// The error for a fault in a kernel.
pub fn error_of_trap(kind: &TrapKind) -> CudaError {
    match kind {
        TrapKind::Misaligned(_) => CudaError::MisalignedAddress,
        TrapKind::Assert { .. } => CudaError::Assert,
        TrapKind::Deadlock
        | TrapKind::AwaitsHost
        | TrapKind::Limit { .. }
        | TrapKind::RunLimit { .. }
        | TrapKind::PrintLimit { .. }
        | TrapKind::Endless
        | TrapKind::Stopped(_) => CudaError::LaunchTimeout,
        TrapKind::BadCall
        | TrapKind::BadObject
        | TrapKind::OutOfBounds(_)
        | TrapKind::NullPointer(_)
        | TrapKind::UseAfterFree(_)
        | TrapKind::HostPointerOnDevice(_)
        | TrapKind::DevicePointerOnHost(_)
        | TrapKind::ReadOnly(_)
        | TrapKind::InvalidPointer(_)
        | TrapKind::BadString { .. } => CudaError::IllegalAddress,
        TrapKind::Unsupported { .. } => CudaError::IllegalInstruction,
        TrapKind::Explicit
        | TrapKind::InvalidFree(_)
        | TrapKind::BarrierDivergence { .. }
        | TrapKind::InvalidBarrier { .. }
        | TrapKind::InvalidMask { .. }
        | TrapKind::DivisionByZero
        | TrapKind::StackOverflow
        | TrapKind::CallsTooDeep { .. } => CudaError::LaunchFailure,
    }
}

/// The error for a refused launch.
pub fn error_of_refusal(why: &InvalidLaunch) -> CudaError {
    match why {
        InvalidLaunch::TooMuchShared { .. } | InvalidLaunch::TooMuchStaticShared { .. } => {
            CudaError::InvalidValue
        }
        InvalidLaunch::LaunchBounds { .. } => CudaError::LaunchOutOfResources,
        InvalidLaunch::CooperativeTooLarge { .. } => CudaError::CooperativeLaunchTooLarge,
        InvalidLaunch::NestedTooDeep { .. } => CudaError::LaunchMaxDepthExceeded,
        InvalidLaunch::NotAKernel(_) => CudaError::InvalidDeviceFunction,
        InvalidLaunch::ZeroDimension { .. }
        | InvalidLaunch::TooManyThreads { .. }
        | InvalidLaunch::DimensionTooLarge { .. }
        | InvalidLaunch::Arguments { .. }
        | InvalidLaunch::LeftAllocation
        | InvalidLaunch::Device(_) => CudaError::InvalidConfiguration,
    }
}

impl Host<'_> {
    /// Makes a CUDA call that returns an error. The call waits for a kernel's fault, and does nothing after a sticky error.
    pub(super) fn cuda(
        &mut self,
        call: impl FnOnce(&mut Self) -> Result<(), CallError>,
    ) -> Result<u64, Stop> {
        let fault = self.state.pending.take();
        if !self.state.keep_going {
            self.state.sticky = self.state.sticky.or(fault);
        }
        let error = match self.state.sticky {
            Some(error) => error,
            None => {
                let error = match call(self) {
                    Ok(()) => CudaError::Success,
                    Err(CallError::Cuda(error)) => error,
                    Err(CallError::Stop(stop)) => return Err(stop),
                };
                // The call was carried out; its result says that the kernel faulted.
                fault.unwrap_or(error)
            }
        };
        if error != CudaError::Success {
            self.state.last = error;
        }
        Ok(error.code() as u64)
    }

    /// `cudaGetLastError`: a sticky error stays.
    pub(super) fn take_last_error(&mut self) -> u64 {
        let after = self.state.sticky.unwrap_or(CudaError::Success);
        std::mem::replace(&mut self.state.last, after).code() as u64
    }

    /// Waits for the device.
    pub(super) fn synchronize(&mut self, function: HostFn, loc: LocId) -> Result<(), CudaError> {
        let result = self.device.synchronize();
        self.device_result(result, function.text(), loc)?;
        self.state.unseen_prints = None;
        self.managed_arrives(loc);
        Ok(())
    }

    /// `cudaMemset` and `cudaMemsetAsync`.
    pub(super) fn fill(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<(), CallError> {
        let (address, byte, bytes) = (args[0], args[1] as u8, args[2]);
        let result = self.device.fill(&mut self.memory, address, byte, bytes);
        self.device_result(result, function.text(), loc)?;
        self.set_by(function.text(), address, None, bytes, loc);
        self.filled(address, bytes, args.get(3).copied(), loc);
        Ok(())
    }

    /// `cudaMemGetInfo(free, total)`.
    pub(super) fn memory_info(&mut self, args: &[u64], loc: LocId) -> Result<(), CallError> {
        let total = self.device.info().global_bytes;
        let free = total.saturating_sub(self.device.bytes_in_use(&self.memory));
        self.store(args[0], &free.to_le_bytes(), loc)?;
        Ok(self.store(args[1], &total.to_le_bytes(), loc)?)
    }

    pub(super) fn create_stream(
        &mut self,
        target: u64,
        flags: u64,
        loc: LocId,
    ) -> Result<(), CallError> {
        let handle = self.new_handle(loc)?;
        self.state.streams.insert(handle);
        self.store(target, &handle.to_le_bytes(), loc)?;
        self.order.create_stream(handle, flags & 1 == 0);
        Ok(())
    }

    pub(super) fn destroy_stream(&mut self, handle: u64, loc: LocId) -> Result<(), CallError> {
        if !self.state.streams.remove(&handle) {
            self.check_stream(handle, loc)?;
            return Err(CudaError::InvalidResourceHandle.into());
        }
        if self.state.destroyed.len() < MAX_HANDLES {
            self.state.destroyed.insert(handle, loc);
        }
        self.order.destroy_stream(handle);
        Ok(())
    }

    /// `cudaMalloc` and similar.
    pub(super) fn allocate(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<(), CallError> {
        let (target, bytes) = (args[0], args[1]);
        if bytes == 0 {
            return Ok(self.store(target, &0u64.to_le_bytes(), loc)?);
        }
        // Kernels may use pinned memory as well as managed memory.
        let both_sides = !matches!(function, HostFn::CudaMalloc | HostFn::CudaMallocAsync);
        let result = self.device.malloc(&mut self.memory, bytes, both_sides);
        let result = self.device_result(result, function.text(), loc);
        if let Err(CudaError::MemoryAllocation) = result {
            let what = match function {
                HostFn::CudaMallocHost => "pinned host memory",
                _ => "device memory",
            };
            self.say_shortage(loc, bytes, what, false);
        }
        let address = result?;
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
        Ok(self.store(target, &address.to_le_bytes(), loc)?)
    }

    /// `cudaFree` and `cudaFreeHost`, which wait for work that may use the memory, and `cudaFreeAsync`, which does not.
    pub(super) fn free(
        &mut self,
        function: HostFn,
        address: u64,
        loc: LocId,
    ) -> Result<(), CallError> {
        let name = function.text();
        let is_pinned = self.state.pinned.contains(&address);
        let (wants_pinned, why) = match function {
            HostFn::CudaFreeHost => (true, "does not come from cudaMallocHost"),
            _ => (false, "is pinned host memory, which cudaFreeHost frees"),
        };
        if address != 0 && is_pinned != wants_pinned {
            self.say(loc, format!("{name}: this pointer {why}"), true);
            return Err(CudaError::InvalidValue.into());
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

    /// The number of a new stream or event.
    fn new_handle(&mut self, loc: LocId) -> Result<u64, CudaError> {
        if self.state.streams.len() + self.state.events.len() >= MAX_HANDLES {
            let text = format!(
                "{MAX_HANDLES} streams and events exist; destroy those that are no longer used"
            );
            self.say_once(loc, &text);
            return Err(CudaError::MemoryAllocation);
        }
        let handle = self.state.next_handle;
        self.state.next_handle += 1;
        Ok(handle)
    }

    /// `cudaMemcpy` and `cudaMemcpyAsync`.
    pub(super) fn copy(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<(), CallError> {
        let (to, from, bytes, kind) = (args[0], args[1], args[2], args[3]);
        if kind > 4 {
            return Err(CudaError::InvalidMemcpyDirection.into());
        }
        if bytes == 0 {
            return Ok(());
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
        // Kinds: 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 determined from the addresses.
        let (to_device, from_device) = (matches!(kind, 1 | 3), matches!(kind, 2 | 3));
        for (address, wants_device, is_destination) in
            [(to, to_device, true), (from, from_device, false)]
        {
            let fits = match wants_device {
                _ if kind == 4 => true,
                true => !is_host(self, address) || is_device(self, address),
                false => !is_device(self, address) || is_host(self, address),
            };
            if !fits {
                let copy = WrongKind {
                    to: self.copy_end(to),
                    from: self.copy_end(from),
                    kind,
                    is_destination,
                };
                self.say_wrong_kind(&copy, loc);
                return Err(CudaError::InvalidValue.into());
            }
        }
        if self.device.counts_only() && self.memory.kind_of(to) == AddressKind::Host {
            let io = &mut *self.io;
            let mut out = |bytes: &[u8]| io.stdout(bytes);
            // Bytes that are not worth computing are followed as uncomputed instead.
            let _: Result<(), interp::Uncomputed> =
                self.device
                    .compute(self.program, &mut self.memory, (from, bytes), &mut out);
        }
        let fault = match self.device.copy(&mut self.memory, to, from, bytes) {
            Ok(()) => {
                self.set_by("cudaMemcpy", to, Some(from), bytes, loc);
                if is_device(self, from) && is_host(self, to) {
                    self.arrived("cudaMemcpy", to, bytes, loc);
                }
                self.managed_arrives(loc);
                self.copied(function, (to, from), bytes, args.get(4).copied(), loc);
                return Ok(());
            }
            Err(DeviceError::Memory(fault)) => fault,
            Err(error) => return Ok(self.device_result(Err(error), "cudaMemcpy", loc)?),
        };
        if is_host(self, fault.address) && !is_device(self, fault.address) {
            // The CPU itself would fault on its side of the copy.
            let op = if fault.address == from {
                AccessOp::Load
            } else {
                AccessOp::Store
            };
            return Err(self.fault(fault, op, loc).into());
        }
        self.say_fault(loc, "cudaMemcpy", fault);
        Err(CudaError::InvalidValue.into())
    }

    fn copy_end(&self, address: u64) -> CopyEnd {
        let is_device = match self.memory.kind_of(address) {
            AddressKind::Host | AddressKind::String => Some(false),
            AddressKind::Device | AddressKind::Constant => Some(true),
            _ => None,
        };
        CopyEnd { address, is_device }
    }

    pub(super) fn symbol_copy(
        &mut self,
        function: HostFn,
        (to, from): (u64, u64),
        bytes: u64,
        loc: LocId,
    ) -> Result<(), CallError> {
        let result = self.device.copy(&mut self.memory, to, from, bytes);
        self.device_result(result, function.text(), loc)?;
        self.set_by(function.text(), to, Some(from), bytes, loc);
        self.copied(function, (to, from), bytes, None, loc);
        self.say_part_of_symbol(function, bytes, [to, from], loc);
        Ok(())
    }

    /// A copy of as many bytes as a variable has elements, or as a part of it has, was probably meant to count elements.
    fn say_part_of_symbol(&mut self, function: HostFn, bytes: u64, ends: [u64; 2], loc: LocId) {
        let globals = &self.program.module().globals;
        let named = globals
            .iter()
            .enumerate()
            .find(|&(at, _)| ends.contains(&self.memory.symbol_address(GlobalId(at as u32))));
        let Some((_, global)) = named else {
            return;
        };
        let (size, element) = (global.size_bytes, global.element_bytes);
        let is_count = element > 1 && size > element && bytes * element == size;
        // In a structure, a member may be meant.
        let numbers = ["float", "double", "int", "unsigned", "long", "short"];
        let is_number = numbers.iter().any(|word| global.c_type.starts_with(word));
        if is_count || is_number && bytes < size && !bytes.is_multiple_of(element) {
            let text = format!(
                "{} copies {bytes} of the {size} bytes of `{name}`: its size is in bytes, as in `sizeof({name})`",
                function.text(),
                name = global.name
            );
            self.say(loc, text, false);
        }
    }

    /// Reports bytes that were copied from the device.
    pub(super) fn arrived(&mut self, how: &'static str, address: u64, bytes: u64, loc: LocId) {
        if self.io.wants_arrivals()
            && let Ok(bytes) = self.memory.read_bytes(address, bytes)
        {
            self.io.arrived(&Arrival { loc, how, bytes });
        }
    }

    /// `cudaFuncSetAttribute(kernel, attribute, value)`: attribute 8 is the most dynamic shared memory, 9 the preferred carve-out.
    pub(super) fn function_attribute(&mut self, args: &[u64]) -> Result<(), CallError> {
        let kernel = FuncId(args[0] as u32);
        match args[1] {
            8 => {
                let limit = self.device.info().block.shared_bytes_optin;
                let fixed = self.static_shared(kernel);
                if args[2] as i32 >= 0 && args[2] + fixed <= limit {
                    self.state.dynamic_limit.insert(kernel, args[2]);
                    return Ok(());
                }
                Err(CudaError::InvalidValue.into())
            }
            9 => Ok(()),
            _ => Err(CudaError::InvalidValue.into()),
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
        check_static_shared(fixed, self.device.info().block.shared_bytes)?;
        let limit = match self.state.dynamic_limit.get(&kernel) {
            Some(&dynamic) => (dynamic + fixed).max(self.device.info().block.shared_bytes),
            None => self.device.info().block.shared_bytes,
        };
        let bytes = fixed.saturating_add(config.shared_bytes);
        if bytes > limit {
            Err(InvalidLaunch::TooMuchShared {
                bytes,
                dynamic: config.shared_bytes,
                limit,
                most: self.device.info().block.shared_bytes_optin,
            })
        } else {
            Ok(())
        }
    }

    pub(super) fn set_bank_width(&mut self, config: u64, loc: LocId) -> Result<(), CallError> {
        let width = match config {
            0 | 1 => BankWidth::Four,
            2 => BankWidth::Eight,
            _ => return Err(CudaError::InvalidValue.into()),
        };
        if !self.device.set_bank_width(width) {
            self.say_once(
                loc,
                "cudaDeviceSetSharedMemConfig changes nothing on this architecture: only sm_30 to sm_37 have 8-byte banks",
            );
        }
        Ok(())
    }

    pub(super) fn get_bank_width(&mut self, target: u64, loc: LocId) -> Result<(), CallError> {
        let value: u32 = match self.device.bank_width() {
            BankWidth::Four => 1,
            BankWidth::Eight => 2,
        };
        Ok(self.store(target, &value.to_le_bytes(), loc)?)
    }

    /// The numbers for `__dslc_device_property`.
    pub(super) fn property(&self, index: u64) -> u64 {
        let info = self.device.info();
        let Some(property) = DeviceProp::from_index(index as i32) else {
            return 0;
        };
        device_property(info, property)
    }

    /// The address of one of the runtime's own strings in host memory.
    pub(super) fn text_address(&mut self, text: &str) -> u64 {
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

/// A property of a device as a number.
pub fn device_property(info: &DeviceInfo, property: DeviceProp) -> u64 {
    match property {
        DeviceProp::Major => info.major.into(),
        DeviceProp::Minor => info.minor.into(),
        DeviceProp::TotalGlobalMem => info.global_bytes,
        DeviceProp::SharedMemPerBlock => info.block.shared_bytes,
        DeviceProp::SharedMemPerBlockOptin => info.block.shared_bytes_optin,
        DeviceProp::SharedMemPerMultiprocessor => info.residency.shared_bytes,
        DeviceProp::ReservedSharedMemPerBlock => info.residency.reserved_shared_bytes_per_block,
        DeviceProp::RegsPerBlock => info.block.registers.into(),
        DeviceProp::RegsPerMultiprocessor => info.registers_per_multiprocessor.into(),
        DeviceProp::WarpSize => 32,
        DeviceProp::MemPitch => i32::MAX as u64,
        DeviceProp::MaxThreadsPerBlock => info.block.threads.into(),
        DeviceProp::MaxThreadsDimX => info.block.dims[0].into(),
        DeviceProp::MaxThreadsDimY => info.block.dims[1].into(),
        DeviceProp::MaxThreadsDimZ => info.block.dims[2].into(),
        DeviceProp::MaxGridSizeX => info.grid_limit[0].into(),
        DeviceProp::MaxGridSizeY => info.grid_limit[1].into(),
        DeviceProp::MaxGridSizeZ => info.grid_limit[2].into(),
        DeviceProp::ClockRate => info.clock_khz.into(),
        DeviceProp::TotalConstMem => info.constant_bytes,
        DeviceProp::MultiProcessorCount => info.multiprocessors.into(),
        DeviceProp::MaxThreadsPerMultiProcessor => info.residency.threads.into(),
        DeviceProp::MaxBlocksPerMultiProcessor => info.residency.blocks.into(),
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
