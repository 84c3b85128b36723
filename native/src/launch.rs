//! Launches: the calls that a compiler makes of `k<<<grid, block>>>(…)`, and `cudaLaunchKernel`.

use std::{
    cell::{Cell, RefCell},
    ffi::{c_char, c_int, c_void},
    slice,
};

use interp::{
    ChildLaunch, InvalidLaunch, LaunchConfig, LaunchFailure, LaunchQueue, TrapKind,
    check_static_shared,
};
use ir::{FuncId, LocId, MemType};
use runtime::{
    device::{DeviceInfo, LaunchError},
    error::CudaError,
    host::{Fault, error_of_refusal, error_of_trap},
};

use crate::{
    graph::Op,
    place::Place,
    state::{State, call, fail},
    stream::Stream,
};

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

/// A launch, with the bits of its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    module: usize,
    kernel: FuncId,
    /// The kernel's address on the host.
    function: usize,
    config: LaunchConfig,
    args: Vec<u64>,
}

/// An argument's bytes, up to the end of its scalars, aligned like any argument.
pub(crate) type Argument = Vec<u128>;

/// The values between `<<<` and `>>>`, until the kernel's stub asks for them.
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Stream,
    place: Place,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
    /// Line and file of the current launch.
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Stream,
    line: c_int,
    file: *const c_char,
) -> u32 {
    CONFIGURATIONS.with_borrow_mut(|all| {
        all.push(Configuration {
            grid,
            block,
            shared_bytes,
            stream,
            place: (u32::try_from(line).unwrap_or(0), file),
        });
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared_bytes: *mut usize,
    stream: *mut Stream,
) -> c_int {
    let Some(configuration) = CONFIGURATIONS.with_borrow_mut(Vec::pop) else {
        return CudaError::InvalidConfiguration.code();
    };
    PLACE.set(Some(configuration.place));
    // SAFETY: the stub, which the compiler made, passes pointers for all of them.
    unsafe {
        grid.write(configuration.grid);
        block.write(configuration.block);
        shared_bytes.write(configuration.shared_bytes);
        stream.write(configuration.stream);
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaLaunchKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: Stream,
) -> c_int {
    call(|state| {
        let launch = state.prepare(function, (grid, block, shared_bytes), args, false)?;
        state.submit(Some(stream), Op::Launch(launch))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaLaunchCooperativeKernel(
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: Stream,
) -> c_int {
    call(|state| {
        let launch = state.prepare(function, (grid, block, shared_bytes), args, true)?;
        state.submit(Some(stream), Op::Launch(launch))
    })
}

fn bits(bytes: &[u8], ty: MemType) -> u64 {
    let mut word = [0; 8];
    let width = ty.bytes() as usize;
    word[..width].copy_from_slice(&bytes[..width]);
    match ty {
        MemType::Bool => u64::from(bytes[0] != 0),
        MemType::S8 => u64::from(i32::from(bytes[0] as i8) as u32),
        MemType::S16 => u64::from(i32::from(i16::from_le_bytes([word[0], word[1]])) as u32),
        MemType::U8
        | MemType::U16
        | MemType::I32
        | MemType::I64
        | MemType::F32
        | MemType::F64
        | MemType::Ptr => u64::from_le_bytes(word),
    }
}

impl State {
    /// Finds the kernel for a host address, and the module that contains it; enters that module.
    pub(crate) fn kernel(
        &mut self,
        function: *const c_void,
    ) -> Result<(usize, FuncId, usize), CudaError> {
        let found = self.kernels.get(&(function as usize));
        let found = found.ok_or(CudaError::InvalidDeviceFunction)?;
        let module = found.module;
        let image = &self.modules[module].image;
        let kernels = image.kernels.iter();
        let Some((place, index)) = kernels
            .enumerate()
            .find(|(_, kernel)| kernel.mangled == found.mangled)
            .map(|(place, kernel)| (place, kernel.index))
        else {
            let mut unknown = image.unknown.iter();
            let reason = match unknown.find(|unknown| unknown.mangled == found.mangled) {
                Some(unknown) => unknown.reason.clone(),
                None => "its object contains no code for it".to_string(),
            };
            fail(&format!(
                "the kernel `{}` cannot run here: {reason}",
                found.mangled
            ));
        };
        self.enter(module);
        let kernels = &self.loaded(module).kernels;
        let id = *kernels.get(index).ok_or(CudaError::InvalidDeviceFunction)?;
        Ok((module, id, place))
    }

    /// Reads a launch's arguments from the host.
    pub(crate) fn prepare(
        &mut self,
        function: *const c_void,
        (grid, block, shared_bytes): (Dim3, Dim3, usize),
        args: *mut *mut c_void,
        cooperative: bool,
    ) -> Result<Launch, CudaError> {
        let place_of_launch = PLACE.take();
        let (module, kernel, index) = self.kernel(function)?;
        let mut bits_of_args = Vec::new();
        for (number, scalars) in self.modules[module].image.kernels[index]
            .params
            .iter()
            .enumerate()
        {
            for &(offset, ty) in scalars {
                // SAFETY: the program passes the address of each argument, and each has the parameter's type.
                let bytes = unsafe {
                    let argument = args.add(number).read().cast::<u8>().cast_const();
                    slice::from_raw_parts(argument.add(offset as usize), ty.bytes() as usize)
                };
                bits_of_args.push(bits(bytes, ty));
            }
        }
        let loc = place_of_launch.map_or(LocId::default(), |place| self.place(module, place));
        Ok(Launch {
            module,
            kernel,
            function: function as usize,
            config: LaunchConfig {
                grid: [grid.x, grid.y, grid.z],
                block: [block.x, block.y, block.z],
                shared_bytes: shared_bytes as u64,
                cooperative,
                depth: 0,
                loc,
            },
            args: bits_of_args,
        })
    }

    /// A launch's arguments in the host's layout.
    pub(crate) fn arguments(&mut self, launch: &Launch) -> Vec<Argument> {
        let ids = &self.loaded(launch.module).kernels;
        let number = ids.iter().position(|id| *id == launch.kernel);
        let kernels = &self.modules[launch.module].image.kernels;
        let kernel = kernels.iter().find(|kernel| Some(kernel.index) == number);
        let params = kernel.map_or(&[][..], |kernel| kernel.params.as_slice());
        let mut bits = launch.args.iter();
        let argument = |scalars: &Vec<(u64, MemType)>| {
            let ends = scalars
                .iter()
                .map(|(offset, ty)| *offset + u64::from(ty.bytes()));
            let words = ends.max().unwrap_or(0).div_ceil(16).max(1) as usize;
            let mut bytes = vec![0u8; 16 * words];
            for ((offset, ty), bits) in scalars.iter().zip(&mut bits) {
                let (at, width) = (*offset as usize, ty.bytes() as usize);
                bytes[at..at + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            }
            let words = bytes.chunks_exact(16);
            words
                .map(|word| u128::from_le_bytes(word.try_into().unwrap_or_default()))
                .collect()
        };
        params.iter().map(argument).collect()
    }

    /// Runs a kernel, and the kernels that its threads launch. Its errors show at the next call.
    pub(crate) fn launch(&mut self, launch: &Launch) -> Result<(), CudaError> {
        self.enter(launch.module);
        if let Err(why) = self.check_dynamic_shared(launch) {
            return Err(self.refuse(launch.module, launch.kernel, &launch.config, why));
        }
        self.send_managed();
        let (config, args) = (launch.config.clone(), launch.args.clone());
        let mut queue = LaunchQueue::new(launch.kernel, config, args);
        while let Some(next) = queue.next() {
            match self.launch_one(launch.module, &next) {
                Ok(children) => queue.add(children),
                // A failed launch inside a kernel is the kernel's error.
                Err(_) if next.config.depth > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Runs a kernel; returns the launches of its threads.
    fn launch_one(
        &mut self,
        module: usize,
        launch: &ChildLaunch,
    ) -> Result<Vec<ChildLaunch>, CudaError> {
        let State {
            device,
            memory,
            modules,
            story,
            faults,
            ordered,
            ..
        } = self;
        let Some(loaded) = modules[module].loaded_mut() else {
            return Err(CudaError::InvalidDeviceFunction);
        };
        let mut out = |bytes: &[u8]| print(bytes);
        memory.track(ordered.track());
        let result = device.launch(
            &loaded.program,
            memory,
            launch.kernel,
            &launch.config,
            &launch.args,
            &mut out,
        );
        match result {
            Ok(mut report) => {
                let children = std::mem::take(&mut report.children);
                report.shift(&loaded.shift);
                let prints = report.printf_calls > 0;
                story.outcome.launches.push(report);
                let name = loaded.program.module().function(launch.kernel).name.clone();
                let mut loc = launch.config.loc;
                loaded.shift.loc(&mut loc);
                self.note_launch(&name, loc, prints);
                Ok(children)
            }
            Err(LaunchError::Failed(LaunchFailure::Invalid(why))) => {
                Err(self.refuse(module, launch.kernel, &launch.config, why))
            }
            Err(LaunchError::Failed(LaunchFailure::Trap {
                mut trap,
                mut report,
            })) => {
                faults.pending.get_or_insert(error_of_trap(&trap.kind));
                report.shift(&loaded.shift);
                trap.shift(&loaded.shift);
                let launch = Some(story.outcome.launches.push(*report));
                let stopped = match trap.kind {
                    TrapKind::Stopped(why) => Some(why),
                    _ => None,
                };
                story.outcome.faults.push(Fault::Trap { launch, trap });
                if let Some(why) = stopped {
                    crate::exit::end_now(self, why);
                }
                Ok(Vec::new())
            }
            Err(LaunchError::Device(error)) => {
                self.device_result(Err(error), "a launch")?;
                Ok(Vec::new())
            }
            Err(LaunchError::NotComputed(why)) => self.end_not_computed(module, &why),
        }
    }

    fn refuse(
        &mut self,
        module: usize,
        kernel: FuncId,
        config: &LaunchConfig,
        why: InvalidLaunch,
    ) -> CudaError {
        let error = error_of_refusal(&why);
        let (mut kernel, mut loc) = (kernel, config.loc);
        let shift = &self.loaded(module).shift;
        shift.function(&mut kernel);
        shift.loc(&mut loc);
        let fault = Fault::Invalid { kernel, loc, why };
        self.story.outcome.faults.push(fault);
        error
    }

    /// More than 48 KB of shared memory has to be asked for with `cudaFuncSetAttribute`.
    fn check_dynamic_shared(&mut self, launch: &Launch) -> Result<(), InvalidLaunch> {
        let fixed = self.static_shared(launch.module, launch.kernel);
        let info = self.device.info().block.shared_bytes;
        check_static_shared(fixed, info)?;
        let limit = match self.dynamic_limit.get(&launch.function) {
            Some(&dynamic) => (dynamic + fixed).max(info),
            None => info,
        };
        let bytes = fixed.saturating_add(launch.config.shared_bytes);
        match bytes > limit {
            true => Err(InvalidLaunch::TooMuchShared {
                bytes,
                dynamic: launch.config.shared_bytes,
                limit,
                most: self.device.info().block.shared_bytes_optin,
            }),
            false => Ok(()),
        }
    }

    pub(crate) fn static_shared(&mut self, module: usize, kernel: FuncId) -> u64 {
        let program = &self.loaded(module).program;
        let shared = program.module().function(kernel).shared.iter();
        shared
            .map(|var| var.offset_bytes + var.size_bytes)
            .max()
            .unwrap_or(0)
    }

    fn threads_limit(&mut self, module: usize, kernel: FuncId) -> u64 {
        let limit = u64::from(self.device.info().block.threads);
        match self
            .loaded(module)
            .program
            .module()
            .function(kernel)
            .launch_bounds
        {
            Some((most, _)) => limit.min(most.into()),
            None => limit,
        }
    }

    fn resident_blocks(
        &mut self,
        (module, kernel): (usize, FuncId),
        threads: u64,
        dynamic_bytes: u64,
    ) -> u64 {
        let most = self.threads_limit(module, kernel);
        let bytes = self
            .static_shared(module, kernel)
            .saturating_add(dynamic_bytes);
        let info: &DeviceInfo = self.device.info();
        if threads == 0 || threads > most || bytes > info.block.shared_bytes_optin {
            return 0;
        }
        info.residency.blocks(threads, bytes)
    }
}

/// Prints a kernel's output to the same stream as the host's `printf`, in order with it.
pub(crate) fn print(bytes: &[u8]) {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: C's standard output exists as long as the process.
    unsafe {
        libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stdout);
    }
}

fn put(target: *mut c_int, value: u64) -> Result<(), CudaError> {
    // SAFETY: the program passes a pointer for the number.
    *unsafe { target.as_mut() }.ok_or(CudaError::InvalidValue)? = value as c_int;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetAttribute(
    function: *const c_void,
    attribute: c_int,
    value: c_int,
) -> c_int {
    call(|state| {
        let (module, kernel, _) = state.kernel(function)?;
        match attribute {
            8 => {
                let fixed = state.static_shared(module, kernel);
                let most = state.device.info().block.shared_bytes_optin;
                let wanted = u64::try_from(value).map_err(|_| CudaError::InvalidValue)?;
                if wanted + fixed > most {
                    return Err(CudaError::InvalidValue);
                }
                state.dynamic_limit.insert(function as usize, wanted);
                Ok(())
            }
            9 => Ok(()),
            _ => Err(CudaError::InvalidValue),
        }
    })
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    threads_per_block: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    cache_mode: c_int,
    dynamic_shared_bytes: c_int,
    carveout: c_int,
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncGetAttributes(
    attributes: *mut FunctionAttributes,
    function: *const c_void,
) -> c_int {
    call(|state| {
        let (module, kernel, _) = state.kernel(function)?;
        let fixed = state.static_shared(module, kernel);
        let most = state.threads_limit(module, kernel);
        let info = state.device.info();
        let version = (10 * info.major + info.minor) as c_int;
        let dynamic = match state.dynamic_limit.get(&(function as usize)) {
            Some(&dynamic) => dynamic,
            None => info.block.shared_bytes.saturating_sub(fixed),
        };
        // SAFETY: the program passes a pointer for the result, or null.
        *unsafe { attributes.as_mut() }.ok_or(CudaError::InvalidValue)? = FunctionAttributes {
            shared_bytes: fixed as usize,
            threads_per_block: most as c_int,
            ptx_version: version,
            binary_version: version,
            dynamic_shared_bytes: dynamic as c_int,
            carveout: -1,
            ..FunctionAttributes::default()
        };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetCacheConfig(function: *const c_void, _config: c_int) -> c_int {
    call(|state| state.kernel(function).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetSharedMemConfig(function: *const c_void, _config: c_int) -> c_int {
    call(|state| state.kernel(function).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared_bytes: usize,
    _flags: u32,
) -> c_int {
    call(|state| {
        let (module, kernel, _) = state.kernel(function)?;
        let threads = u64::try_from(threads).unwrap_or(0);
        if threads == 0 {
            return Err(CudaError::InvalidValue);
        }
        put(
            blocks,
            state.resident_blocks((module, kernel), threads, shared_bytes as u64),
        )
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared_bytes: usize,
) -> c_int {
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks,
        function,
        threads,
        shared_bytes,
        0,
    )
}

#[unsafe(no_mangle)]
extern "C" fn __dslcPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared_bytes: usize,
    limit: c_int,
) -> c_int {
    call(|state| {
        let (module, kernel, _) = state.kernel(function)?;
        let mut most = state.threads_limit(module, kernel);
        if let Ok(limit @ 1..) = u64::try_from(limit) {
            most = most.min(limit);
        }
        // Like CUDA's implementation: from large blocks to small ones, where only more resident threads are better.
        let (mut best, mut threads) = ((0, 0), most);
        while threads > 0 {
            let blocks = state.resident_blocks((module, kernel), threads, shared_bytes as u64);
            if blocks * threads > best.0 * best.1 {
                best = (blocks, threads);
            }
            threads = threads.saturating_sub(1) / 32 * 32;
        }
        put(
            grid,
            best.0 * u64::from(state.device.info().multiprocessors),
        )?;
        put(block, best.1)
    })
}
