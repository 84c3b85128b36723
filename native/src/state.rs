//! The runtime's state of a process: its programs, its memory, and what its kernels did.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::{c_int, c_void},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use interp::{Image as Placed, Memory, MemoryLimits, Program};
use ir::{
    FuncId, GlobalId, GlobalSpace, image,
    join::{Join, Shift},
};
use report::Tables;
use runtime::{
    device::{
        Device, DeviceFault, Ptx,
        gpu::{Gpu, GpuOptions},
        simulator::Simulator,
    },
    error::CudaError,
    host::{Fault, Outcome},
};

use crate::{
    array::Arrays, fork::Descent, graph::Graphs, memory::Site, names::same_name, options::Options,
    order::Ordered, place::Places, pool::Pools, stream::Streams, virtual_memory::VirtualMemory,
};

/// Parsing the IR and compiling it to bytecode recurse as deeply as a kernel is nested.
const LOADING_STACK_BYTES: usize = 64 << 20;

/// The device part of one source, as its object registered it.
pub(crate) struct Module {
    pub(crate) image: image::Image,
    /// Host variables that represent device variables: their addresses and names.
    pub(crate) variables: Vec<(usize, String)>,
    loaded: Option<Loaded>,
    /// Why the device cannot load it. The reason matters only when something of the module is used.
    refused: Option<String>,
}

impl Module {
    pub(crate) fn loaded_mut(&mut self) -> Option<&mut Loaded> {
        self.loaded.as_mut()
    }
}

/// A module that was used.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    /// Its kernels, in order.
    pub(crate) kernels: Vec<FuncId>,
    /// Where its variables are while memory has another module's variables.
    placed: Placed,
    /// The offset of its places among those of all modules.
    pub(crate) shift: Shift,
}

/// What the kernels of all modules did, for one report: places, files and kernels are numbered together.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) join: Join,
    pub(crate) outcome: Outcome,
    /// The joined modules, in order.
    parts: Vec<usize>,
    /// The numbers of calls of CUDA's libraries, by name.
    pub(crate) library_calls: BTreeMap<String, u64>,
}

impl Story {
    /// The joined modules that launched something, in order; all of them if none did.
    pub(crate) fn launched(&self) -> Vec<usize> {
        let kept = self.outcome.launches.kept().iter();
        let parts: BTreeSet<usize> = kept
            .filter_map(|kept| self.join.part_of(kept.report.kernel))
            .collect();
        match parts.is_empty() {
            true => (0..self.parts.len()).collect(),
            false => parts.into_iter().collect(),
        }
    }
}

/// A kernel that the host knows by an address.
#[derive(Clone, Debug)]
pub(crate) struct KernelRef {
    pub(crate) module: usize,
    pub(crate) mangled: String,
}

/// A `__managed__` variable.
#[derive(Clone, Debug)]
pub(crate) struct Managed {
    /// The source that defines it, by the name that images have, too.
    pub(crate) source: String,
    pub(crate) name: String,
    /// The variable's address on the host.
    pub(crate) address: usize,
    /// The size; 0 in a source that only declares an array of unknown length.
    pub(crate) bytes: u64,
}

/// Memory that both sides can access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) bytes: u64,
    pub(crate) kind: SharedKind,
}

/// The origin of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedKind {
    Managed,
    Pinned,
    /// The host's own memory, registered by `cudaHostRegister`.
    Registered,
    /// Memory of `cuMemMap`.
    Mapped,
}

/// The allocations.
#[derive(Default)]
pub(crate) struct Given {
    /// The number of allocations made so far; messages number them.
    pub(crate) allocations: u64,
    pub(crate) pools: Pools,
    pub(crate) arrays: Arrays,
    pub(crate) virtual_memory: VirtualMemory,
}

/// Device memory that the host can access by its address.
#[derive(Default)]
pub(crate) struct HostVisible {
    /// The variables.
    pub(crate) managed: Vec<Managed>,
    /// Managed and pinned memory, by address.
    pub(crate) shared: BTreeMap<u64, Shared>,
}

/// The errors of kernels that faulted.
#[derive(Default)]
pub(crate) struct Faults {
    /// An error that no call has returned yet.
    pub(crate) pending: Option<CudaError>,
    /// An error after which nothing works.
    pub(crate) sticky: Option<CudaError>,
}

/// The whole state.
pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) descent: Descent,
    pub(crate) device: Box<dyn Device + Send>,
    /// Whether the device that the options select is open.
    pub(crate) is_open: bool,
    pub(crate) memory: Memory,
    pub(crate) modules: Vec<Module>,
    pub(crate) story: Story,
    pub(crate) kernels: HashMap<usize, KernelRef>,
    /// The limit of dynamic shared memory, by kernel.
    pub(crate) dynamic_limit: HashMap<usize, u64>,
    /// The limits of the stack, printf and the heap, as `cudaDeviceGetLimit` returns them.
    pub(crate) limits: [usize; 3],
    pub(crate) visible: HostVisible,
    pub(crate) streams: Streams,
    pub(crate) ordered: Ordered,
    pub(crate) graphs: Graphs,
    pub(crate) faults: Faults,
    pub(crate) given: Given,
    /// The module whose variables are in memory.
    current: Option<usize>,
    pub(crate) places: Places,
}

thread_local! {
    /// The error for `cudaGetLastError`, separate for each thread.
    static LAST: Cell<CudaError> = const { Cell::new(CudaError::Success) };
    /// Whether this thread has entered the open device.
    static HAS_ENTERED: Cell<bool> = const { Cell::new(false) };
}

pub(crate) static STATE: OnceLock<Mutex<State>> = OnceLock::new();

/// The state, locked.
pub(crate) fn state() -> MutexGuard<'static, State> {
    let state = STATE.get_or_init(|| Mutex::new(State::new()));
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, unless there is none or another thread holds it: for a signal handler.
pub(crate) fn try_state() -> Option<MutexGuard<'static, State>> {
    STATE.get()?.try_lock().ok()
}

/// Whether the program has made a call: the driver's functions, which are not part of this library, ask for it.
static IS_USED: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
extern "C" fn __dslcIsUsed() -> c_int {
    c_int::from(IS_USED.load(Ordering::Relaxed))
}

/// Makes a call that returns an error: reports an earlier fault of a kernel, and remembers the result.
pub(crate) fn call(work: impl FnOnce(&mut State) -> Result<(), CudaError>) -> i32 {
    IS_USED.store(true, Ordering::Relaxed);
    let mut state = state();
    let fault = state.faults.pending.take();
    if state.options.checking.stops_at_first {
        state.faults.sticky = state.faults.sticky.or(fault);
    }
    let checked = state.check_descent();
    let error = match (checked, state.faults.sticky) {
        (Err(error), _) | (Ok(()), Some(error)) => error,
        (Ok(()), None) => {
            state.open();
            // Another thread may have called before. A thread that has entered stays so, because nothing else in the process uses the
            // driver.
            if !HAS_ENTERED.replace(true) {
                let _ = state.device.enter();
            }
            state.load_ahead();
            let error = work(&mut state).err().unwrap_or(CudaError::Success);
            fault.unwrap_or(error)
        }
    };
    Site::leave();
    remember(error)
}

/// Makes `error` the thread's last error, unless it is success.
pub(crate) fn remember(error: CudaError) -> i32 {
    if error != CudaError::Success {
        LAST.set(error);
    }
    error.code()
}

/// The thread's last error; `take` clears it.
pub(crate) fn last_error(take: bool) -> i32 {
    let sticky = STATE.get().and_then(|_| state().faults.sticky);
    let last = LAST.get();
    if take {
        LAST.set(sticky.unwrap_or(CudaError::Success));
    }
    last.code()
}

/// Ends the process with one sentence: the program requests something unsupported.
pub(crate) fn fail(sentence: &str) -> ! {
    eprintln_all(&format!("dslc: {sentence}\n"));
    // SAFETY: it does not return; exit handlers of the program run.
    unsafe { libc::exit(2) }
}

/// Reports once why a function of CUDA is not supported, and returns its error.
pub(crate) fn refuse(name: &'static str, why: &str) -> CudaError {
    static REPORTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !reported.contains(&name) {
        reported.push(name);
        eprintln_all(&format!("dslc: {name} is not supported: {why}\n"));
    }
    CudaError::NotSupported
}

/// Writes to standard error; an error of that cannot be reported.
pub(crate) fn eprintln_all(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The simulator that the options describe.
fn simulator(options: &Options) -> Box<dyn Device + Send> {
    let machine = options.machine().unwrap_or_else(|why| fail(&why));
    Box::new(Simulator::new(machine).blind())
}

impl State {
    fn new() -> State {
        let options = Options::of_environment().unwrap_or_else(|why| fail(&why));
        let device = simulator(&options);
        if let Some(time) = options.timeout {
            crate::exit::end_after(time, options.stop.clone());
        }
        if !options.on_gpu {
            crate::reserve::reserve();
        }
        let ordered = Ordered::new(!options.on_gpu && device.finds_races());
        let mut memory = Memory::empty();
        memory.bound(MemoryLimits {
            all_bytes: options.memory_bytes,
            heap_bytes: None,
        });
        State {
            options,
            descent: Descent::default(),
            device,
            is_open: false,
            memory,
            modules: Vec::new(),
            story: Story::default(),
            kernels: HashMap::new(),
            visible: HostVisible::default(),
            dynamic_limit: HashMap::new(),
            // The limits of a new process, as CUDA documents them.
            limits: [1024, 1 << 20, 8 << 20],
            streams: Streams::default(),
            ordered,
            graphs: Graphs::default(),
            faults: Faults::default(),
            given: Given::default(),
            current: None,
            places: Places::default(),
        }
    }

    /// Opens the device that the options select, at the first call: a process may fork before that.
    pub(crate) fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) && self.options.on_gpu {
            let options = GpuOptions {
                timing: self.options.output.tables != Tables::None,
                ..GpuOptions::default()
            };
            let gpu = Gpu::open(0, options, None);
            self.device = Box::new(gpu.unwrap_or_else(|why| fail(&why.to_string())));
        }
    }

    /// Adds the module of an object.
    pub(crate) fn add_module(&mut self, image: image::Image) -> usize {
        let arch = image
            .notes("arch")
            .next()
            .and_then(|arch| arch.parse().ok());
        if let (None, Some(arch), false) = (self.options.arch, arch, self.is_open) {
            self.options.arch = Some(arch);
            self.device = simulator(&self.options);
        }
        self.modules.push(Module {
            image,
            variables: Vec::new(),
            loaded: None,
            refused: None,
        });
        self.modules.len() - 1
    }

    /// On a GPU, the first call after a module was registered loads it: the driver compiles its PTX, which takes longer than most kernels.
    /// So it is not part of a time that a program measures around a launch. A failure is reported when the module is used.
    fn load_ahead(&mut self) {
        if !self.options.on_gpu {
            return;
        }
        for index in 0..self.modules.len() {
            let module = &self.modules[index];
            let is_new = module.loaded.is_none() && module.refused.is_none();
            if is_new && let Err(why) = self.load(index) {
                self.modules[index].refused = Some(why);
            }
        }
    }

    /// Makes the module ready to run: memory has its variables.
    pub(crate) fn enter(&mut self, index: usize) {
        if self.current == Some(index) {
            return;
        }
        if let Some(before) = self.current {
            self.settle(before);
        }
        if let Some(why) = &self.modules[index].refused {
            fail(why);
        }
        if self.modules[index].loaded.is_none()
            && let Err(why) = self.load(index)
        {
            fail(&why);
        }
        if let Some(before) = self.current.take() {
            self.exchange(before);
        }
        self.exchange(index);
        self.current = Some(index);
    }

    /// Whether [`State::enter`] is possible. It ends the process if the module is for another architecture.
    pub(crate) fn may_enter(&self, index: usize) -> bool {
        self.modules[index].refused.is_none()
    }

    /// The module whose variables are in memory.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    fn exchange(&mut self, index: usize) {
        if let Some(loaded) = &mut self.modules[index].loaded {
            self.memory.exchange(&mut loaded.placed);
        }
    }

    /// Parses a module's IR and prepares it on the device. The error is one sentence.
    fn load(&mut self, index: usize) -> Result<(), String> {
        let text = std::mem::take(&mut self.modules[index].image.ir);
        let compile = move || ir::parse(&text).map(|module| Program::new(Arc::new(module)));
        let thread = std::thread::Builder::new()
            .stack_size(LOADING_STACK_BYTES)
            .spawn(compile);
        let compiled = match thread.map(|thread| thread.join()) {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(payload)) => std::panic::resume_unwind(payload),
            Err(why) => return Err(format!("cannot start a thread to load the kernels: {why}")),
        };
        let program = compiled.map_err(|_| image::BadImage.to_string())?;
        let module = program.module().clone();
        let mut placed = self.memory.load(&module);
        if let Some(before) = self.current.take() {
            self.exchange(before);
        }
        self.memory.exchange(&mut placed);
        // Modules on a GPU have their own variables.
        let on_host = !self.options.on_gpu;
        for managed in self.managed_of(index).iter().filter(|_| on_host) {
            let found = module.globals.iter().position(|global| {
                global.space == GlobalSpace::Managed && same_name(&global.name, &managed.name)
            });
            if let Some(number) = found {
                // SAFETY: it is a variable of the program, which lives as long as the process.
                unsafe {
                    self.memory.place_symbol(
                        &module,
                        GlobalId(number as u32),
                        managed.address as u64,
                    );
                }
            }
        }
        let brought = self.bring(index, &program);
        self.memory.exchange(&mut placed);
        brought?;
        let shift = self
            .story
            .join
            .add(&module, &self.modules[index].image.files);
        self.story.parts.push(index);
        let kernels = module.kernels().map(|(id, _)| id).collect();
        self.modules[index].loaded = Some(Loaded {
            program,
            kernels,
            placed,
            shift,
        });
        Ok(())
    }

    /// Prepares a module on the device; on a GPU, with the program's own PTX.
    fn bring(&mut self, index: usize, program: &Program) -> Result<(), String> {
        let image = &self.modules[index].image;
        let ptx = image.ptx.iter().map(|(sm, text)| Ptx { sm: *sm, text });
        let ptx: Vec<Ptx<'_>> = ptx.collect();
        let why = image.notes("no-ptx").next();
        if let (true, Some(why)) = (self.options.on_gpu, why) {
            return Err(format!("the kernels cannot run on a GPU: {why}"));
        }
        self.device.prepare(program, &mut self.memory, &ptx)
    }

    /// Waits until the device has done all work; the simulator has always done it.
    pub(crate) fn wait(&mut self) -> Result<(), CudaError> {
        self.prints_are_seen();
        let result = self.device.synchronize();
        self.device_result(result, "a kernel")?;
        self.show_managed();
        self.fetch_managed();
        Ok(())
    }

    /// Notes a kernel's fault on a device that reports it later.
    pub(crate) fn note_fault(&mut self, mut fault: DeviceFault) {
        let outcome = &mut self.story.outcome;
        let launch = fault.launch.and_then(|launch| outcome.launches.get(launch));
        let part = launch.and_then(|launch| self.story.join.part_of(launch.kernel));
        let module = part.and_then(|part| self.story.parts.get(part));
        let module = module.copied().or(self.current).unwrap_or(0);
        if let Some(loaded) = self
            .modules
            .get(module)
            .and_then(|module| module.loaded.as_ref())
        {
            loaded.shift.loc(&mut fault.loc);
            fault
                .kernel
                .iter_mut()
                .for_each(|kernel| loaded.shift.function(kernel));
        }
        outcome.faults.push(Fault::Device(Box::new(fault)));
    }

    /// On a GPU a `__managed__` variable exists twice, on the host and in the module: the addresses of both, and the size.
    fn managed_pairs(&mut self) -> Vec<(u64, u64, u64)> {
        let Some(index) = self.current.filter(|_| self.options.on_gpu) else {
            return Vec::new();
        };
        let managed = self.managed_of(index);
        let module = self.loaded(index).program.module().clone();
        let pair = |managed: &Managed| {
            let mut globals = module.globals.iter();
            let number = globals.position(|global| {
                global.space == GlobalSpace::Managed && same_name(&global.name, &managed.name)
            })?;
            let device = self.memory.symbol_address(GlobalId(number as u32));
            Some((
                managed.address as u64,
                device,
                module.globals[number].size_bytes,
            ))
        };
        managed.iter().filter_map(pair).collect()
    }

    /// Before a launch: copies the host's `__managed__` variables to the module's.
    pub(crate) fn send_managed(&mut self) {
        for (host, device, bytes) in self.managed_pairs() {
            // SAFETY: a variable of the program, which has that size.
            let bytes = unsafe { std::slice::from_raw_parts(host as *const u8, bytes as usize) };
            let result = self.device.write(&mut self.memory, device, bytes);
            let _ = self.device_result(result, "a launch");
        }
    }

    /// After kernels have ended: copies them back.
    fn fetch_managed(&mut self) {
        for (host, device, bytes) in self.managed_pairs() {
            let result = self.device.read(&self.memory, device, bytes);
            if let Ok(found) = self.device_result(result, "a kernel") {
                // SAFETY: as above; the program does not access it while it waits.
                unsafe { std::ptr::copy(found.as_ptr(), host as *mut u8, found.len()) };
            }
        }
    }

    /// The `__managed__` variables of a module's sources.
    fn managed_of(&self, index: usize) -> Vec<Managed> {
        let image = &self.modules[index].image;
        let is_its = |managed: &&Managed| image.notes("source").any(|id| id == managed.source);
        self.visible
            .managed
            .iter()
            .filter(is_its)
            .cloned()
            .collect()
    }

    /// A module that was entered before.
    pub(crate) fn loaded(&mut self, index: usize) -> &mut Loaded {
        let loaded = self.modules[index].loaded.as_mut();
        loaded.expect("a module is entered before it is asked for")
    }

    /// A variable of a module by its name: its address and size.
    pub(crate) fn variable(&mut self, index: usize, name: &str) -> Result<(u64, u64), CudaError> {
        self.enter(index);
        // The image says what the mangled name of a template instance means.
        let notes = self.modules[index].image.notes("variable");
        let meant = notes
            .filter_map(|note| note.split_once(' '))
            .find(|(mangled, _)| *mangled == name)
            .map(|(_, meant)| meant.to_string());
        let name = meant.as_deref().unwrap_or(name);
        let globals = &self.loaded(index).program.module().clone().globals;
        let number = globals
            .iter()
            .position(|global| global.space != GlobalSpace::Host && same_name(&global.name, name))
            .ok_or(CudaError::InvalidSymbol)?;
        let address = self.memory.symbol_address(GlobalId(number as u32));
        Ok((address, globals[number].size_bytes))
    }

    /// The address and size of the device variable that the host identifies by its own variable's address.
    pub(crate) fn symbol(&mut self, host: *const c_void) -> Result<(u64, u64), CudaError> {
        let wanted = host as usize;
        // The last registration counts: a library may be at the address of another one that was unloaded.
        let mut modules = self.modules.iter().enumerate().rev();
        let found = modules.find_map(|(index, module)| {
            let mut variables = module.variables.iter();
            let (_, name) = variables.find(|(address, _)| *address == wanted)?;
            Some((index, name.clone()))
        });
        let managed = || {
            let mut managed = self.visible.managed.iter().rev();
            let managed = managed.find(|one| one.address == wanted)?;
            let is_its =
                |module: &Module| module.image.notes("source").any(|id| id == managed.source);
            Some((self.modules.iter().position(is_its)?, managed.name.clone()))
        };
        let (index, name) = found.or_else(managed).ok_or(CudaError::InvalidSymbol)?;
        self.variable(index, &name)
    }
}
