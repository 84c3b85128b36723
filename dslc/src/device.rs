//! A device: the simulator, or a GPU.

use std::{
    collections::VecDeque,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use interp::{
    Checks, Image, MachineConfig, Memory, Order,
    rules::{Arch, BankWidth, RuleSet},
};
use runtime::device::{
    Device as Hardware, DeviceError, Ptx,
    gpu::{Compile, Gpu, GpuOptions},
    simulator::Simulator,
};

use crate::{
    buffer::Buffer,
    element::{Element, bytes_of},
    embed::{Loaded, Module, Program},
    error::{Error, Result},
    launches::Launches,
    run::Run,
};

/// The default limit of a launch, in warp instructions: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

/// The number of launches that [`Device::launches`] remembers.
const LAUNCHES_KEPT: usize = 1024;

/// A program that is loaded on the device.
struct Resident {
    /// Its identity: a program that is a `static`, or the module itself if it was compiled at run time.
    program: *const (),
    module: Arc<Module>,
    /// The addresses of its variables.
    image: Image,
}

// SAFETY: the pointer is an identity and is never read through.
unsafe impl Send for Resident {}

/// The state of a device.
pub(crate) struct State {
    pub(crate) hardware: Box<dyn Hardware + Send>,
    pub(crate) memory: Memory,
    residents: Vec<Resident>,
    /// The program that launched last.
    current: Option<usize>,
    runs: VecDeque<Run>,
    /// The number of all launches, remembered or not.
    launched: usize,
}

/// A device: memory, loaded kernels, and what runs them. A copy refers to the same device.
#[derive(Clone)]
pub struct Device(Arc<Mutex<State>>);

/// Settings of a simulator before it is built: see [`Device::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    arch: Arch,
    bank_width: BankWidth,
    jobs: usize,
    checks: Checks,
    order: Order,
    limit: u64,
    count_only: bool,
    #[cfg(feature = "compiled")]
    counts: Counts,
}

/// Which accesses a launch's counts are of.
#[cfg(feature = "compiled")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Counts {
    /// Those of the source, as a textbook counts them.
    #[default]
    Written,
    /// Those of the kernel as dslc's back end compiles it at -O3: the compiler makes one access of several, keeps values, drops some.
    Compiled,
    /// Those of the source; the report also tells what the compiled kernel costs where that differs.
    Both,
}

impl Builder {
    /// Runs blocks on this many CPU threads; 0, the default, is one per core. Results, counts and findings do not depend on it.
    pub fn jobs(self, jobs: usize) -> Builder {
        Builder { jobs, ..self }
    }

    /// Looks for these findings only; the default is all. Bounds, alignment, pointers and deadlocks are always checked.
    pub fn checks(self, checks: Checks) -> Builder {
        Builder { checks, ..self }
    }

    /// Which blocks, and which warps of a block, run first. A result that changes with it depends on an order that CUDA does not promise.
    pub fn order(self, order: Order) -> Builder {
        Builder { order, ..self }
    }

    /// A launch that executes more warp instructions than this is reported as endless.
    pub fn limit(self, warp_instructions: u64) -> Builder {
        Builder {
            limit: warp_instructions,
            ..self
        }
    }

    /// Counts a launch from some of its blocks if all blocks provably do the same: its counts are those of a full run, in milliseconds for
    /// any grid. Any other launch runs in full. [`Run::counted_from`] tells the two apart. Nothing is checked.
    ///
    /// The results of a counted launch are not computed. Reading them runs the launch after all; that is an error once all such results
    /// together take more than 67 million warp instructions.
    ///
    /// ```
    /// use dslc::{Arch, Device, Grid, kernel};
    /// kernel! { mod copies {
    ///     __global__ void copy(float *to, const float *from, int n)
    ///     {
    ///         int i = blockIdx.x * blockDim.x + threadIdx.x;
    ///         if (i < n) to[i] = from[i];
    ///     }
    /// } }
    /// # fn main() -> dslc::Result<()> {
    /// let device = Device::builder(Arch::SM_90).count_only(true).build()?;
    /// let n = 1 << 28;
    /// let from = device.uninit::<f32>(n)?;
    /// let mut to = device.uninit::<f32>(n)?;
    /// let run = copies::load(&device)?.copy(Grid::cover(n, 256), &mut to, &from, n as i32)?;
    /// assert_eq!(run.counted_from(), Some(1));
    /// assert_eq!(run.load("from[i]").sectors(), Some(n as u64 / 8));
    /// # Ok(())
    /// # }
    /// ```
    pub fn count_only(self, count_only: bool) -> Builder {
        Builder { count_only, ..self }
    }

    /// Counts these accesses. The compiler is the program `dslc-ptx`: the one that the variable `DSLC_PTX` names, or that is in `PATH`;
    /// [`build`](Builder::build) fails without it. What a kernel computes, and what is found, is of the written one in any case.
    #[cfg(feature = "compiled")]
    pub fn counts(self, counts: Counts) -> Builder {
        Builder { counts, ..self }
    }

    /// The width of shared-memory banks: 8 bytes on sm_30 to sm_37 only.
    pub fn bank_width(self, bank_width: BankWidth) -> Builder {
        Builder { bank_width, ..self }
    }

    /// The device. An error if the architecture has no banks of that width.
    pub fn build(self) -> Result<Device> {
        let rules = RuleSet::new(self.arch, self.bank_width).map_err(Error::new)?;
        let jobs = match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            jobs => jobs,
        };
        let machine = MachineConfig {
            rules,
            jobs,
            limit: Some(self.limit),
            checks: match self.count_only {
                true => Checks::NONE,
                false => self.checks,
            },
            order: self.order,
            both_orders: interp::BothOrders::Never,
            schedule: interp::Schedule::default(),
            schedules: (0, 1),
            memory: interp::MemoryOrder::Strong,
            keep_going: false,
            trace: false,
            count_only: self.count_only,
            reuse: true,
            stop: interp::StopFlag::default(),
            progress: interp::Progress::default(),
        };
        let simulator = Simulator::new(machine).blind();
        #[cfg(feature = "compiled")]
        let simulator = compiling(simulator, self.counts, self.arch)?;
        Ok(Device::with(Box::new(simulator)))
    }
}

/// The simulator that counts these accesses.
#[cfg(feature = "compiled")]
fn compiling(simulator: Simulator, counts: Counts, arch: Arch) -> Result<Simulator> {
    if counts == Counts::Written {
        return Ok(simulator);
    }
    let back_end = runtime::back_end::BackEnd::find().map_err(Error::new)?;
    let compile = move |module: &ir::Module| {
        let compiled = back_end.compiled(module, arch, interp::Shortcuts::ALL)?;
        Ok(match counts {
            Counts::Compiled => compiled.instead(),
            Counts::Written | Counts::Both => compiled,
        })
    };
    Ok(simulator.compiling(Box::new(compile)))
}

impl Device {
    /// The simulator, counting by the rules of that architecture, with all checks on.
    pub fn simulator(arch: Arch) -> Result<Device> {
        Device::builder(arch).build()
    }

    /// A builder for a simulator of that architecture.
    pub fn builder(arch: Arch) -> Builder {
        Builder {
            arch,
            bank_width: BankWidth::Four,
            jobs: 0,
            checks: Checks::ALL,
            order: Order::Ascending,
            limit: DEFAULT_LIMIT,
            count_only: false,
            #[cfg(feature = "compiled")]
            counts: Counts::Written,
        }
    }

    /// An NVIDIA GPU of this machine, by its number. It needs the feature `gpu`, and kernels with PTX (the module docs say how). A GPU
    /// counts and checks nothing: runs have no sites, metrics or findings.
    ///
    /// # Safety
    /// Kernels on a GPU are not checked. One that reads or writes out of bounds may access any memory that the process maps for the
    /// device, including managed memory of other libraries. Run the kernels in the simulator first.
    pub unsafe fn gpu(ordinal: u32) -> Result<Device> {
        let gpu = Gpu::open(ordinal, GpuOptions::default(), compile())?;
        Ok(Device::with(Box::new(gpu)))
    }

    fn with(hardware: Box<dyn Hardware + Send>) -> Device {
        Device(Arc::new(Mutex::new(State {
            hardware,
            memory: Memory::empty(),
            residents: Vec::new(),
            current: None,
            runs: VecDeque::new(),
            launched: 0,
        })))
    }

    /// Memory with a copy of these elements.
    pub fn buffer<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.uninit(elements.len())?;
        buffer.write(elements)?;
        Ok(buffer)
    }

    /// Memory for `len` elements, all bytes zero.
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = self.uninit(len)?;
        buffer.clear()?;
        Ok(buffer)
    }

    /// Uninitialised memory for `len` elements. A kernel that reads an element before it is written has a finding, and reading one back is
    /// an error (on the simulated device, with its check of uninitialised memory).
    pub fn uninit<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let bytes = (len as u64)
            .checked_mul(T::BYTES as u64)
            .ok_or_else(|| Error::new("a buffer of more than 2^64 bytes"))?;
        let mut state = self.lock();
        let (hardware, memory) = state.parts();
        let address = hardware.malloc(memory, bytes.max(1), false)?;
        drop(state);
        Ok(Buffer::new(self, address, len))
    }

    /// The device's name: `NVIDIA H200 (simulated by dslc)`.
    pub fn name(&self) -> String {
        self.lock().hardware.info().name.clone()
    }

    /// Bytes of all live buffers.
    pub fn bytes_in_use(&self) -> u64 {
        let state = self.lock();
        state.hardware.bytes_in_use(&state.memory)
    }

    /// Waits for all launches. An error if a kernel faulted on a GPU; after that CUDA does not work any more in this process.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.lock().hardware.synchronize()?)
    }

    /// The launches so far, the last 1024 of them with their costs and findings.
    pub fn launches(&self) -> Launches {
        let state = self.lock();
        Launches::new(state.runs.iter().cloned().collect(), state.launched)
    }

    /// Forgets the launches so far.
    pub fn clear_launches(&self) {
        self.lock().runs.clear();
    }

    /// Loads a program on the device, unless it is there already.
    #[doc(hidden)]
    pub fn load(&self, program: &'static Program) -> Result<Loaded> {
        let identity = std::ptr::from_ref(program).cast();
        if let Some(loaded) = self.resident(&self.lock(), identity) {
            return Ok(loaded);
        }
        let ptx = program.ptx.iter().map(|&(sm, text)| Ptx { sm, text });
        let module = Arc::new(Module::new(program)?);
        self.bring(identity, &module, &ptx.collect::<Vec<_>>())
    }

    /// Loads kernels that were compiled at run time on the device, unless they are there already.
    #[cfg(feature = "source")]
    pub(crate) fn load_compiled(&self, module: &Arc<Module>) -> Result<Loaded> {
        self.bring(Arc::as_ptr(module).cast(), module, &[])
    }

    fn resident(&self, state: &State, identity: *const ()) -> Option<Loaded> {
        let mut residents = state.residents.iter();
        let index = residents.position(|resident| resident.program == identity)?;
        let module = state.residents[index].module.clone();
        Some(Loaded::new(self, index, module))
    }

    fn bring(&self, program: *const (), module: &Arc<Module>, ptx: &[Ptx<'_>]) -> Result<Loaded> {
        let mut state = self.lock();
        // Another thread may have loaded it first.
        if let Some(loaded) = self.resident(&state, program) {
            return Ok(loaded);
        }
        let (hardware, memory) = state.parts();
        let mut image = memory.load(module.program.module());
        memory.exchange(&mut image);
        let prepared = hardware.prepare(&module.program, memory, ptx);
        memory.exchange(&mut image);
        prepared.map_err(Error::new)?;
        state.residents.push(Resident {
            program,
            module: module.clone(),
            image,
        });
        let index = state.residents.len() - 1;
        Ok(Loaded::new(self, index, module.clone()))
    }

    /// Runs `work` while the variables of a program are mapped in the memory.
    pub(crate) fn with_image<R>(&self, resident: usize, work: impl FnOnce(&mut State) -> R) -> R {
        self.lock().with_image(resident, work)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves no state that would make a later call fail.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An error of the device is reported by the call that follows.
        let _: std::result::Result<(), DeviceError> = state.hardware.enter();
        state
    }

    pub(crate) fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Reads bytes of memory; `element` is the size of an element.
    pub(crate) fn read(&self, address: u64, bytes: u64, element: u64) -> Result<Vec<u8>> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let mut state = self.lock();
        state.compute(address, bytes)?;
        let (hardware, memory) = state.parts();
        if hardware.finds_unset()
            && let Some((unset, len)) = memory.first_unset(address, bytes)
        {
            let first = (unset - address) / element;
            let last = (unset - address + len - 1) / element;
            let which = match first == last {
                true => format!("element {first} was"),
                false => format!("elements {first} to {last} were"),
            };
            let all = bytes / element;
            return Err(Error::new(format_args!(
                "{which} never written, of {all} that are read: no kernel and no copy did; begin with `Device::zeroed`, or read a slice of what \
                 was written"
            )));
        }
        Ok(hardware.read(memory, address, bytes)?)
    }

    /// Reads bytes of memory, with the ranges of uninitialised ones; there are none on a device without this check.
    pub(crate) fn read_with_unset(
        &self,
        address: u64,
        bytes: u64,
    ) -> Result<(Vec<u8>, Vec<Range<usize>>)> {
        if bytes == 0 {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut state = self.lock();
        state.compute(address, bytes)?;
        let (hardware, memory) = state.parts();
        let mut unset = Vec::new();
        let mut from = 0;
        while hardware.finds_unset()
            && let Some((first, len)) = memory.first_unset(address + from, bytes - from)
        {
            let first = first - address;
            unset.push(first as usize..(first + len) as usize);
            from = first + len;
        }
        Ok((hardware.read(memory, address, bytes)?, unset))
    }

    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut state = self.lock();
        let (hardware, memory) = state.parts();
        Ok(hardware.write(memory, address, bytes)?)
    }

    pub(crate) fn fill(&self, address: u64, byte: u8, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let mut state = self.lock();
        let (hardware, memory) = state.parts();
        Ok(hardware.fill(memory, address, byte, bytes)?)
    }

    /// Frees memory. After a fault on a GPU this fails; the error is dropped, because the owner is gone.
    pub(crate) fn free(&self, address: u64) {
        let mut state = self.lock();
        let (hardware, memory) = state.parts();
        let _: std::result::Result<(), DeviceError> = hardware.free(memory, address);
    }
}

impl State {
    /// The device and its memory, which is an argument of the device's methods.
    pub(crate) fn parts(&mut self) -> (&mut dyn Hardware, &mut Memory) {
        (&mut *self.hardware, &mut self.memory)
    }

    /// Like [`Device::with_image`].
    pub(crate) fn with_image<R>(
        &mut self,
        resident: usize,
        work: impl FnOnce(&mut State) -> R,
    ) -> R {
        let mut image = std::mem::take(&mut self.residents[resident].image);
        self.memory.exchange(&mut image);
        let result = work(self);
        self.memory.exchange(&mut image);
        self.residents[resident].image = image;
        result
    }

    /// Prepares for a launch of a program. Results that another program's launches were only counted for are computed now, because they
    /// cannot be later.
    pub(crate) fn enter(&mut self, resident: usize) {
        let before = self.current.replace(resident);
        if let Some(before) = before.filter(|before| *before != resident) {
            let module = self.residents[before].module.clone();
            self.with_image(before, |state| {
                let (hardware, memory) = state.parts();
                hardware.settle(&module.program, memory, &mut |_| {});
            });
        }
    }

    /// Prepares for reading the bytes: runs launches that compute them and were only counted.
    fn compute(&mut self, address: u64, bytes: u64) -> Result<()> {
        let Some(current) = self.current.filter(|_| self.hardware.counts_only()) else {
            return Ok(());
        };
        let module = self.residents[current].module.clone();
        let computed = self.with_image(current, |state| {
            let (hardware, memory) = state.parts();
            hardware.compute(&module.program, memory, (address, bytes), &mut |_| {})
        });
        computed.map_err(|why| {
            Error::new(format_args!(
                "cannot read {why}; build the device without `count_only` to have results"
            ))
        })
    }

    /// Remembers a launch.
    pub(crate) fn remember(&mut self, run: &Run) {
        if self.runs.len() == LAUNCHES_KEPT {
            self.runs.pop_front();
        }
        self.runs.push_back(run.clone());
        self.launched += 1;
    }

    /// The number of launches so far.
    pub(crate) fn launched(&self) -> usize {
        self.launched
    }

    /// The rules that launches are counted by.
    pub(crate) fn rules(&self) -> RuleSet {
        let info = self.hardware.info();
        let arch = format!("sm_{}{}", info.major, info.minor);
        let arch = arch.parse().unwrap_or_default();
        RuleSet::new(arch, self.hardware.bank_width()).unwrap_or_else(|_| RuleSet::for_arch(arch))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.name()).finish()
    }
}

/// The bytes of one value.
pub(crate) fn bytes_of_value<T: Element>(value: &T) -> Vec<u8> {
    bytes_of(std::slice::from_ref(value))
}

/// The PTX compiler, in a build that has one.
fn compile() -> Option<Compile> {
    #[cfg(feature = "ptx")]
    return Some(|module, info, options| {
        let device = (info.name.as_str(), info.major, info.minor);
        codegen_ptx::ptx_for(module, device, options.opt_level, options.lines)
    });
    #[cfg(not(feature = "ptx"))]
    return None;
}
