//! The GPU as a [`Device`].

mod code;

use interp::{
    AddressKind, InvalidLaunch, LaunchConfig, LaunchFailure, LaunchLimits, LaunchReport, Memory,
    Program, check_launch, rules::BankWidth,
};
use ir::{FuncId, Module, Type};

use super::{
    Compile, GpuError, GpuOptions,
    driver::{self, Attribute, Context, DeviceHandle, Event, Image, Kernel},
    launches::Launches,
    query,
};
use crate::device::{Device, DeviceError, DeviceFault, DeviceInfo, LaunchError, Ptx};
use crate::error::CudaError;
use std::{collections::HashMap, sync::Arc};

/// Most launches whose events are kept before their times are read.
const UNTIMED_LAUNCHES: usize = 4096;

/// A program's code on the GPU.
#[derive(Debug)]
struct Loaded {
    /// The program.
    module: Arc<Module>,
    image: Image,
    /// By function; `None` for host functions.
    kernels: Vec<Option<Kernel>>,
    /// The PTX for compiling it again, if it has no variables on the device.
    ptx: Option<String>,
    /// The same code with fewer registers, by their number.
    frugal: HashMap<u32, (Image, Vec<Option<Kernel>>)>,
}

/// A GPU.
#[derive(Debug)]
pub struct Gpu {
    /// `None`: programs bring their own PTX.
    compile: Option<Compile>,
    handle: DeviceHandle,
    context: Context,
    info: DeviceInfo,
    options: GpuOptions,
    loaded: Vec<Loaded>,
    launches: Launches,
    events: HashMap<u64, Event>,
    /// Whether the host may not access managed memory while kernels run.
    is_managed_exclusive: bool,
    managed_in_use: u64,
    in_use_bytes: u64,
    /// The error of a kernel that faulted; nothing works any more.
    lost: Option<CudaError>,
}

// SAFETY: the driver's handles may be used by any thread in which their context is current, which `enter` ensures.
unsafe impl Send for Gpu {}

impl Gpu {
    /// Opens a GPU of this machine, by its number. Without `compile` it runs only the PTX that programs bring.
    pub fn open(
        ordinal: u32,
        options: GpuOptions,
        compile: Option<Compile>,
    ) -> Result<Gpu, GpuError> {
        query::start()?;
        let failed = |error: CudaError| GpuError::Driver(error.to_string());
        let count = driver::device_count().map_err(failed)?;
        if count == 0 {
            return Err(GpuError::NoDevice);
        }
        if ordinal >= count {
            return Err(GpuError::NoSuchDevice { ordinal, count });
        }
        let handle = driver::device(ordinal).map_err(failed)?;
        let info = query::info(handle).map_err(failed)?;
        let context = driver::enter_context(handle).map_err(failed)?;
        let concurrent = Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        Ok(Gpu {
            compile,
            handle,
            context,
            info,
            options,
            loaded: Vec::new(),
            launches: Launches::default(),
            events: HashMap::new(),
            is_managed_exclusive: driver::attribute(handle, concurrent) == 0,
            managed_in_use: 0,
            in_use_bytes: 0,
            lost: None,
        })
    }

    /// Converts an error of the driver; a fatal one is reported for its launch.
    fn error(&mut self, error: CudaError) -> DeviceError {
        if !error.is_sticky() {
            return DeviceError::Cuda(error);
        }
        if self.lost.replace(error).is_some() {
            return DeviceError::Cuda(error);
        }
        let guilty = self.launches.guilty();
        DeviceError::Lost(Box::new(DeviceFault {
            error,
            launch: guilty.as_ref().map(|guilty| guilty.index),
            or_up_to: guilty.as_ref().and_then(|guilty| guilty.or_up_to),
            kernel: guilty.as_ref().and_then(|guilty| guilty.kernel),
            loc: guilty.as_ref().map(|guilty| guilty.loc).unwrap_or_default(),
            suspicion: guilty.and_then(|guilty| guilty.suspicion),
        }))
    }

    fn attempt<T>(&mut self, result: Result<T, CudaError>) -> Result<T, DeviceError> {
        result.map_err(|error| self.error(error))
    }

    /// The result of a call that waited for all earlier work.
    fn waited<T>(&mut self, result: Result<T, CudaError>) -> Result<T, DeviceError> {
        let value = self.attempt(result)?;
        self.launches.all_finished(self.options.timing);
        Ok(value)
    }

    /// Allocates memory at an address that the host program does not use: see [`interp::memory`].
    fn malloc_apart(&self, memory: &Memory, bytes: u64, managed: bool) -> Result<u64, CudaError> {
        /// A driver that returns this many unusable addresses has no other.
        const ATTEMPTS: usize = 16;
        let mut unusable = Vec::new();
        let mut result = Err(CudaError::MemoryAllocation);
        for _ in 0..ATTEMPTS {
            result = if managed {
                driver::malloc_managed(bytes)
            } else {
                driver::malloc(bytes)
            };
            match result {
                Ok(address) if !memory.is_free(address, bytes) => {
                    unusable.push(address);
                    result = Err(CudaError::MemoryAllocation);
                }
                _ => break,
            }
        }
        for address in unusable {
            driver::free(address)?;
        }
        result
    }

    /// A kernel compiled with few enough registers that a block of this many threads fits.
    fn frugal_kernel(
        &mut self,
        program: &Program,
        kernel: FuncId,
        config: &LaunchConfig,
    ) -> Option<Kernel> {
        let threads = u32::try_from(config.threads_per_block()).ok()?;
        // The hardware allocates registers to a warp in units of eight per thread.
        let max_registers = self.info.block.registers / threads.next_multiple_of(32) / 8 * 8;
        let lines = self.options.lines;
        let mut loaded = self.loaded.iter_mut();
        let loaded = loaded.find(|loaded| Arc::ptr_eq(&loaded.module, program.module()))?;
        loaded.frugal_kernel(kernel, max_registers, lines)
    }

    /// The pointer arguments that belong to the host.
    fn suspicion(
        program: &Program,
        memory: &Memory,
        kernel: FuncId,
        args: &[u64],
    ) -> Option<String> {
        let function = program.module().function(kernel);
        let params = function.params.iter().zip(args).enumerate();
        let suspects: Vec<String> = params
            .filter_map(|(index, (param, &bits))| {
                let slot = &function.slots[param.slot.index()];
                if !matches!(slot.ty, Type::Ptr(_)) {
                    return None;
                }
                let what = match memory.kind_of(bits) {
                    AddressKind::Host | AddressKind::String => "points to host memory",
                    AddressKind::Freed => "points to memory that was freed",
                    AddressKind::Null => "is a null pointer",
                    AddressKind::Device
                    | AddressKind::Managed
                    | AddressKind::Constant
                    | AddressKind::Shared
                    | AddressKind::Local
                    | AddressKind::Unknown => return None,
                };
                Some(format!("argument {} (`{}`) {what}", index + 1, slot.name))
            })
            .collect();
        (!suspects.is_empty()).then(|| suspects.join("; "))
    }
}

/// Whether the bytes are on the device and not accessible to the host.
fn is_remote(memory: &Memory, address: u64) -> bool {
    matches!(
        memory.kind_of(address),
        AddressKind::Device | AddressKind::Constant
    )
}

impl Device for Gpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn prepare(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        ptx: &[Ptx<'_>],
    ) -> Result<(), String> {
        self.module_loaded(program.module(), memory, ptx)
    }

    fn malloc(
        &mut self,
        memory: &mut Memory,
        bytes: u64,
        managed: bool,
    ) -> Result<u64, DeviceError> {
        let result = self.malloc_apart(memory, bytes, managed);
        let address = self.attempt(result)?;
        if self.options.like_simulator {
            let zeroed = driver::fill(address, 0, bytes).and_then(|()| driver::synchronize());
            self.waited(zeroed)?;
        }
        if managed {
            // SAFETY: the driver keeps managed memory mapped for the host until `free`, which takes it out of `memory`.
            unsafe { memory.add_managed(address, bytes) };
            self.managed_in_use += 1;
        } else {
            memory.add_remote(address, bytes, AddressKind::Device, None);
        }
        self.in_use_bytes += bytes;
        Ok(address)
    }

    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError> {
        if address == 0 {
            return Ok(());
        }
        let kind = memory.kind_of(address);
        let bytes = memory.allocation_bytes(address).unwrap_or(0);
        let is_allocation = matches!(kind, AddressKind::Device | AddressKind::Managed);
        if !is_allocation || bytes == 0 || memory.is_symbol(address) {
            let fault = memory.free_fault(address, AddressKind::Device);
            return Err(DeviceError::Memory(fault));
        }
        // As `cudaFree` does: running work may use the memory.
        let result = driver::synchronize();
        self.waited(result)?;
        memory.remove_foreign(address)?;
        let result = driver::free(address);
        self.attempt(result)?;
        self.in_use_bytes = self.in_use_bytes.saturating_sub(bytes);
        self.managed_in_use -= u64::from(kind == AddressKind::Managed);
        Ok(())
    }

    fn copy(
        &mut self,
        memory: &mut Memory,
        to: u64,
        from: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        memory.check(from, bytes)?;
        memory.check(to, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        match (is_remote(memory, to), is_remote(memory, from)) {
            (true, true) => {
                let result = driver::copy(to, from, bytes);
                self.attempt(result)
            }
            (true, false) => {
                let result = driver::upload(to, memory.read_bytes(from, bytes)?);
                self.waited(result)
            }
            (false, true) => {
                let result = driver::synchronize().and_then(|()| {
                    let target = memory
                        .bytes_mut(to, bytes)
                        .map_err(|_| CudaError::InvalidValue)?;
                    driver::download(target, from)
                });
                self.waited(result)
            }
            // A kernel may be using managed memory.
            (false, false) => {
                let result = driver::synchronize();
                self.waited(result)?;
                Ok(memory.copy(to, from, bytes)?)
            }
        }
    }

    fn fill(
        &mut self,
        memory: &mut Memory,
        address: u64,
        byte: u8,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        memory.check(address, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        match memory.kind_of(address) {
            AddressKind::Device | AddressKind::Constant | AddressKind::Managed => {
                let result = driver::fill(address, byte, bytes);
                self.attempt(result)
            }
            _ => Ok(memory.fill(address, byte, bytes)?),
        }
    }

    fn read(&mut self, memory: &Memory, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        memory.check(address, bytes)?;
        let mut read = vec![0; bytes as usize];
        let result = driver::synchronize();
        self.waited(result)?;
        if is_remote(memory, address) {
            let result = driver::download(&mut read, address);
            self.attempt(result)?;
        } else {
            read.copy_from_slice(memory.read_bytes(address, bytes)?);
        }
        Ok(read)
    }

    fn write(
        &mut self,
        memory: &mut Memory,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        memory.check(address, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        if is_remote(memory, address) {
            let result = driver::upload(address, bytes);
            self.attempt(result)
        } else {
            Ok(memory.write_bytes(address, bytes)?)
        }
    }

    /// Checks the launch as the simulator does, then passes it to the driver between two events, which time it.
    fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        kernel: FuncId,
        config: &LaunchConfig,
        args: &[u64],
        _out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchError> {
        let limits = LaunchLimits {
            grid: self.info.grid_limit,
            block: self.info.block.dims,
            threads_per_block: self.info.block.threads,
            static_shared_bytes_per_block: self.info.block.shared_bytes,
            shared_bytes_per_block: self.info.block.shared_bytes_optin,
            residency: self.info.residency,
            multiprocessors: self.info.multiprocessors,
        };
        let invalid = |why| LaunchError::Failed(LaunchFailure::Invalid(why));
        check_launch(program, kernel, config, args, &limits).map_err(invalid)?;
        let code = self
            .loaded
            .iter()
            .find(|loaded| Arc::ptr_eq(&loaded.module, program.module()))
            .and_then(|loaded| loaded.kernels[kernel.index()]);
        let Some(code) = code else {
            return Err(invalid(InvalidLaunch::Device(
                "the program was not loaded on the GPU".to_string(),
            )));
        };
        let default_bytes = self.info.block.shared_bytes;
        let report = LaunchReport::uncounted(program, kernel, config);
        if report.shared.fixed + config.shared_bytes > default_bytes {
            let allowed = driver::allow_dynamic_shared(code, config.shared_bytes);
            self.attempt(allowed)?;
        }
        if self.options.timing && self.launches.untimed() >= UNTIMED_LAUNCHES {
            let result = driver::synchronize();
            self.waited(result)?;
        }
        let suspicion = Gpu::suspicion(program, memory, kernel, args);
        let events = match self.options.timing {
            true => self.launches.before(),
            false => None,
        };
        let mut launched = driver::launch(code, config, args);
        if launched == Err(CudaError::LaunchOutOfResources)
            && let Some(frugal) = self.frugal_kernel(program, kernel, config)
        {
            if report.shared.fixed + config.shared_bytes > default_bytes {
                let allowed = driver::allow_dynamic_shared(frugal, config.shared_bytes);
                self.attempt(allowed)?;
            }
            launched = driver::launch(frugal, config, args);
        }
        match launched {
            Ok(()) => {}
            Err(error) if error.is_sticky() => return Err(self.error(error).into()),
            Err(CudaError::CooperativeLaunchTooLarge) => {
                let held = driver::resident_blocks(code, config);
                let limit = self.attempt(held)? * u64::from(self.info.multiprocessors);
                let blocks = u64::try_from(config.blocks()).unwrap_or(u64::MAX);
                return Err(invalid(InvalidLaunch::CooperativeTooLarge {
                    blocks,
                    limit,
                }));
            }
            Err(CudaError::LaunchOutOfResources) => {
                let threads = config.threads_per_block();
                let why = match driver::registers(code) {
                    Some(registers) => format!(
                        "{registers} registers for each of {threads} threads are more than a block can have ({})",
                        self.info.block.registers
                    ),
                    None => CudaError::LaunchOutOfResources.text().to_string(),
                };
                return Err(invalid(InvalidLaunch::Device(why)));
            }
            Err(error) => return Err(invalid(InvalidLaunch::Device(error.to_string()))),
        }
        self.launches.after(kernel, config.loc, events, suspicion);
        if self.is_managed_exclusive && self.managed_in_use > 0 {
            let result = driver::synchronize();
            self.waited(result)?;
        }
        Ok(report)
    }

    fn synchronize(&mut self) -> Result<(), DeviceError> {
        let result = driver::synchronize();
        self.waited(result)
    }

    fn record(&mut self, event: u64) -> Result<(), DeviceError> {
        let handle = match self.events.get(&event) {
            Some(&handle) => handle,
            None => {
                let result = driver::event();
                let handle = self.attempt(result)?;
                self.events.insert(event, handle);
                handle
            }
        };
        let result = driver::record(handle);
        self.attempt(result)
    }

    fn elapsed_ms(&mut self, start: u64, stop: u64) -> Result<Option<f32>, DeviceError> {
        let (Some(&start), Some(&stop)) = (self.events.get(&start), self.events.get(&stop)) else {
            return Err(DeviceError::Cuda(CudaError::InvalidResourceHandle));
        };
        let result = driver::elapsed_ms(start, stop);
        let ms = self.attempt(result)?;
        Ok(Some(if self.options.like_simulator { 0.0 } else { ms }))
    }

    fn destroy_event(&mut self, event: u64) {
        if let Some(handle) = self.events.remove(&event) {
            driver::destroy(handle);
        }
    }

    fn finish(&mut self) -> Result<Vec<Option<f64>>, DeviceError> {
        match self.lost {
            Some(_) => {}
            None => match self.synchronize() {
                // The process ends, and the driver has shut down already: work that was waited for is known.
                Ok(()) | Err(DeviceError::Cuda(CudaError::CudartUnloading)) => {}
                Err(error) => return Err(error),
            },
        }
        Ok(self.launches.times_ms())
    }

    fn is_simulator(&self) -> bool {
        false
    }

    fn has_clock(&self) -> bool {
        !self.options.like_simulator
    }

    fn enter(&mut self) -> Result<(), DeviceError> {
        let result = driver::make_current(self.context);
        self.attempt(result)
    }

    fn share(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        let result = driver::share(address, bytes);
        self.attempt(result)
    }

    fn unshare(&mut self, address: u64) -> Result<(), DeviceError> {
        let result = driver::synchronize().and_then(|()| driver::unshare(address));
        self.waited(result)
    }

    fn set_heap(&mut self, _memory: &mut Memory, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| driver::set_heap_bytes(bytes).is_ok())
    }

    fn set_stack(&mut self, _memory: &mut Memory, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| driver::set_stack_bytes(bytes).is_ok())
    }

    fn set_bank_width(&mut self, width: BankWidth) -> bool {
        width == BankWidth::Four
    }

    fn bank_width(&self) -> BankWidth {
        BankWidth::Four
    }

    fn bytes_in_use(&self, _memory: &Memory) -> u64 {
        match driver::memory_info() {
            Ok((free, total)) if !self.options.like_simulator => total - free,
            _ => self.in_use_bytes,
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The last owner may be another thread.
        let is_current = driver::make_current(self.context).is_ok();
        if self.lost.is_none() && is_current {
            for (_, event) in self.events.drain() {
                driver::destroy(event);
            }
            for loaded in &self.loaded {
                let frugal = loaded.frugal.values().map(|(image, _)| *image);
                frugal.chain([loaded.image]).for_each(driver::unload);
            }
        }
        driver::leave_context(self.handle);
    }
}
