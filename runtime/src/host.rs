//! Runs a program's `main()`: resumes its host thread and answers every call that it makes.
//!
//! The input is a compiled program, a [`Device`], and an [`Io`] for the program's output. The result is an [`Outcome`]: the exit code, a
//! report per launch, and the errors. The semantics are those of the CUDA runtime. A launch that CUDA would refuse sets an error, and the
//! program continues. A fault in a kernel becomes a sticky error at the next call that synchronises. A fault of the host itself ends the
//! program. Features without a meaning in a simulator (times, streams) have a defined value, which a [`Note`] mentions once.

mod call;
mod clock;
mod counted;
mod cuda;
mod leak;
mod memory;
mod names;
mod note;
mod occupancy;
pub mod order;
mod outcome;
mod race;
mod rand;
mod stdio;
mod stream;
mod unset;
mod wrong_kind;

use std::collections::{HashMap, VecDeque};

use interp::{
    AddressKind, ChildLaunch, HostEvent, HostThread, InvalidLaunch, LaunchConfig, LaunchFailure,
    LaunchQueue, Memory, MemoryFault, Program, StopFlag, StopReason, Trap, TrapKind,
    memory::unset::Allocation,
    trap::{AccessOp, BadAccess},
};
use ir::{FuncId, FunctionKind, GlobalId, GlobalSpace, HostFn, LocId, Space, locate::in_program};

use crate::budget::{Budget, Spent};
use crate::device::{Device, DeviceError, LaunchError};
use crate::error::CudaError;
pub use counted::sentence;
pub use cuda::{device_property, error_of_refusal, error_of_trap};
pub use outcome::{Arrival, Fault, HostFinding, HostSide, Io, Note, Outcome};
pub use wrong_kind::{CopyEnd, WrongKind};

/// Why a host program stops in the middle of a call.
enum Stop {
    Exit(i32),
    Trap(Box<Trap>),
    /// It was asked to stop while a launch ran.
    Asked(StopReason),
    /// A launch used all that was left of the budget.
    OverBudget,
    /// The next step needs results that were not computed on request.
    NotComputed,
    /// Its last launch was the split one.
    Split,
}

/// A running host program.
struct Host<'a> {
    program: &'a Program,
    device: &'a mut dyn Device,
    io: &'a mut dyn Io,
    memory: Memory,
    state: cuda::State,
    order: order::Order,
    rand: rand::Rand,
    unset: unset::Unset,
    /// The names of the calls at places where the program calls a library function that calls others.
    names: HashMap<LocId, &'static str>,
    spent: Spent,
    clock: clock::Clock,
    /// Launches that wait for a value which the host has yet to write, and the launches after them, each with its stream.
    postponed: VecDeque<(ChildLaunch, u64)>,
    outcome: Outcome,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// The arguments in `argv` after the program's name.
    pub args: Vec<String>,
    /// Most instructions of the host program.
    pub limit: Option<u64>,
    /// Whether to continue after an access that is not allowed (it is skipped), and to launch kernels after one has faulted. Otherwise a
    /// fault ends what it ends in CUDA.
    pub keep_going: bool,
    /// Asks the host program to stop; the device's launches have [`MachineConfig::stop`](interp::MachineConfig::stop).
    pub stop: StopFlag,
    /// The limits of the whole run.
    pub budget: Budget,
}

/// The exit code of a run that exceeds its budget: that of a process which the system ends because of its CPU time.
const OVER_BUDGET: i32 = 152;

/// The host function called `main`, if there is one.
pub fn find_main(program: &Program) -> Option<FuncId> {
    program.module().find("main", FunctionKind::Host)
}

/// Runs `main`. The error says why the program cannot be prepared on the device; nothing ran then.
pub fn run_main(
    program: &Program,
    main: FuncId,
    options: &HostOptions,
    device: &mut dyn Device,
    io: &mut dyn Io,
) -> Result<Outcome, String> {
    let mut memory = Memory::new(program.module());
    options.budget.bound(program, &mut memory)?;
    device.prepare(program, &mut memory, &[])?;
    let order = order::Order::new(device.finds_races());
    let clock = clock::Clock::start(device.has_clock());
    let mut host = Host {
        program,
        device,
        io,
        memory,
        state: cuda::State::default(),
        order,
        rand: rand::Rand::new(1),
        unset: unset::Unset::default(),
        names: HashMap::new(),
        spent: Spent::new(options.budget),
        clock,
        postponed: VecDeque::new(),
        outcome: Outcome::default(),
    };
    host.state.keep_going = options.keep_going;
    let args = host.argv(main, &options.args);
    let mut thread = HostThread::new(program, main, &args).stopped_by(&options.stop);
    if options.keep_going {
        thread.keep_going();
    }
    host.unset.follows = host.device.finds_unset() || host.device.counts_only();
    if host.device.counts_only() {
        thread.halt_at_not_computed();
    }
    if host.unset.follows {
        thread.follow_unset();
    }
    let ended = host.drive(&mut thread, options.limit);
    let ended = host.end_postponed(ended, thread.instructions());
    host.report_unset(&mut thread);
    match ended {
        Ok(code) | Err(Stop::Exit(code)) => {
            host.outcome.exit_code = code;
            host.say_unseen_prints();
            host.report_leaks();
        }
        Err(Stop::Trap(trap)) => {
            host.outcome.exit_code = match trap.kind {
                TrapKind::Assert { .. } => 134,
                TrapKind::Stopped(why) => why.exit_code().into(),
                TrapKind::RunLimit { .. } => OVER_BUDGET,
                // What a shell says of a program that the system stopped: 128 and the signal's number. SIGFPE, SIGILL, SIGSEGV.
                TrapKind::DivisionByZero => 136,
                TrapKind::Explicit => 132,
                _ => 139,
            };
            host.outcome.faults.push(Fault::Trap { launch: None, trap });
        }
        Err(Stop::NotComputed | Stop::Split) => host.outcome.exit_code = 0,
        Err(Stop::Asked(why)) => host.outcome.exit_code = why.exit_code().into(),
        Err(Stop::OverBudget) => host.outcome.exit_code = OVER_BUDGET,
    }
    let memory = &host.memory;
    for report in host.outcome.launches.reports_mut() {
        report.leave_out_unread(|suspect| memory.is_read(suspect));
    }
    host.finish();
    Ok(host.outcome)
}

/// Whether a call may wait for kernels, or has to come after them.
fn may_wait(function: HostFn) -> bool {
    let name = function.text();
    let is_free = [
        "cudaMalloc",
        "cudaHostAlloc",
        "cudaHostGet",
        "cudaGet",
        "cudaPeek",
        "cudaStreamCreate",
        "cudaStreamQuery",
        "cudaEventCreate",
        "cudaSetDevice",
        "cudaDeviceGet",
        "cudaFuncGet",
        "cudaFuncSet",
    ];
    name.starts_with("cuda") && !is_free.iter().any(|start| name.starts_with(start))
}

impl Host<'_> {
    /// `argc` and `argv` for a `main` that takes them.
    fn argv(&mut self, main: FuncId, args: &[String]) -> Vec<u64> {
        let params = self.program.module().function(main).params.len();
        if params == 0 {
            return Vec::new();
        }
        let name = self.program.module().name.clone();
        let texts: Vec<&str> = std::iter::once(name.as_str())
            .chain(args.iter().map(String::as_str))
            .collect();
        let bytes = texts.iter().map(|text| text.len() as u64 + 1).sum();
        let (Ok(table), Ok(strings)) = (
            self.memory.malloc_host(8 * (texts.len() as u64 + 1)),
            self.memory.malloc_host(bytes),
        ) else {
            return vec![0; params];
        };
        let mut at = strings;
        for (i, text) in texts.iter().enumerate() {
            // Both blocks were allocated large enough above.
            let _ = self
                .memory
                .write_bytes(table + 8 * i as u64, &at.to_le_bytes());
            let _ = self.memory.write_bytes(at, text.as_bytes());
            at += text.len() as u64 + 1;
        }
        let mut values = vec![texts.len() as u64, table];
        values.resize(params, 0);
        values
    }

    /// The place to show for `loc`: inside a library function, the place where the program calls it.
    fn shown(&self, thread: &HostThread, loc: LocId) -> LocId {
        let module = self.program.module();
        let mut calls = std::iter::once(loc).chain(thread.calls(self.program));
        calls
            .find_map(|call| in_program(module, call))
            .unwrap_or(loc)
    }

    fn drive(&mut self, thread: &mut HostThread, limit: Option<u64>) -> Result<i32, Stop> {
        let mut answer = None;
        loop {
            self.watch_host();
            let limit = self.spent.for_host(limit);
            let event = thread.resume(self.program, &mut self.memory, answer, limit);
            self.host_ran();
            let event = event.map_err(|trap| {
                let loc = self.shown(thread, trap.loc);
                let kind = self.spent.of_host(trap.kind);
                Stop::Trap(Box::new(Trap { loc, kind, ..trap }))
            });
            answer = match event? {
                HostEvent::Call { func, args, loc } => {
                    let library = thread.library_call(self.program);
                    let inlined = || names::of_inlined(self.program.module(), loc);
                    let name = library.and_then(names::of_library).or_else(inlined);
                    let loc = self.shown(thread, loc);
                    if let Some(name) = name {
                        self.names.insert(loc, name);
                    }
                    let args: Vec<u64> = args.into_iter().map(|(_, bits)| bits).collect();
                    self.name_pointer(thread, func, &args);
                    self.run_postponed(may_wait(func), thread.instructions())?;
                    let answer = self.call(func, &args, loc);
                    self.pass_on_looks(thread);
                    answer?
                }
                HostEvent::Launch {
                    kernel,
                    grid,
                    block,
                    shared_bytes,
                    stream,
                    cooperative,
                    args,
                    loc,
                } => {
                    let config = LaunchConfig {
                        grid,
                        block,
                        shared_bytes,
                        cooperative,
                        depth: 0,
                        loc,
                    };
                    match self.check_stream(stream, loc) {
                        Ok(()) => {
                            self.launch(kernel, config, args, stream, thread.instructions())?;
                        }
                        Err(error) => self.state.last = error,
                    }
                    if let Some(why) = self.outcome.stopped() {
                        return Err(Stop::Asked(why));
                    }
                    None
                }
                HostEvent::Skipped(trap) => {
                    let loc = self.shown(thread, trap.loc);
                    let trap = Box::new(Trap { loc, ..*trap });
                    self.outcome.faults.push(Fault::Skipped(trap));
                    None
                }
                HostEvent::NotComputed(unset) => {
                    self.say_halted(&unset);
                    return Err(Stop::NotComputed);
                }
                HostEvent::Done(result) => return Ok(result.unwrap_or(0) as i32),
            };
            if self.unset.follows && !self.device.counts_only() && self.went_wrong() {
                thread.mute_unset();
            }
        }
    }

    /// Runs a kernel, and the kernels that its threads launch; `host` is the number of instructions that the host has executed.
    fn launch(
        &mut self,
        kernel: FuncId,
        config: LaunchConfig,
        args: Vec<u64>,
        stream: u64,
        host: u64,
    ) -> Result<(), Stop> {
        self.run_postponed(false, host)?;
        let launch = ChildLaunch {
            kernel,
            config,
            args,
        };
        match self.postponed.is_empty() {
            true => self.launch_all(launch, stream, host),
            // The first postponed launch may wait for this one on another stream.
            false if stream > 0 && self.postponed.iter().all(|(_, other)| *other != stream) => {
                self.launch_all(launch, stream, host)
            }
            false => {
                self.postponed.push_back((launch, stream));
                Ok(())
            }
        }
    }

    /// Runs a kernel, and the kernels that its threads launch.
    fn launch_all(&mut self, launch: ChildLaunch, stream: u64, host: u64) -> Result<(), Stop> {
        let mut queue = LaunchQueue::new(launch.kernel, launch.config, launch.args);
        while let Some(launch) = queue.next() {
            queue.add(self.launch_one(launch, stream, host)?);
        }
        Ok(())
    }

    /// Continues launches that waited for the host, as far as possible. With `waits` the host waits for them, too, so a launch that cannot
    /// continue is an error.
    fn run_postponed(&mut self, waits: bool, host: u64) -> Result<(), Stop> {
        let mut behind = std::mem::take(&mut self.postponed);
        while let Some((launch, stream)) = behind.pop_front() {
            let last = waits.then(|| launch.clone());
            self.launch_all(launch, stream, host)?;
            if self.postponed.is_empty() {
                continue;
            }
            match last {
                Some(launch) => {
                    self.postponed.clear();
                    self.state.postpones = false;
                    let launched = self.launch_all(launch, stream, host);
                    self.state.postpones = true;
                    launched?;
                }
                None => break,
            }
        }
        self.postponed.append(&mut behind);
        Ok(())
    }

    /// After the program's end: reports launches that still wait, if the program ended by itself.
    fn end_postponed(&mut self, ended: Result<i32, Stop>, host: u64) -> Result<i32, Stop> {
        match ended {
            Ok(code) => self.run_postponed(true, host).map(|()| code),
            Err(Stop::Exit(code)) => self.run_postponed(true, host).and(Err(Stop::Exit(code))),
            other => other,
        }
    }

    /// Runs a kernel; returns the launches of its threads.
    fn launch_one(
        &mut self,
        launch: ChildLaunch,
        stream: u64,
        host: u64,
    ) -> Result<Vec<ChildLaunch>, Stop> {
        let ChildLaunch {
            kernel,
            config,
            args,
        } = &launch;
        let (kernel, mut children) = (*kernel, Vec::new());
        if let Some(error) = self.state.sticky {
            self.state.last = error;
            return Ok(children);
        }
        if let Err(why) = self.check_dynamic_shared(kernel, config) {
            self.refuse(kernel, config.loc, why);
            return Ok(children);
        }
        self.spent.bound(self.device, host);
        let io = &mut *self.io;
        let mut out = |bytes: &[u8]| io.stdout(bytes);
        let mut result = self.device.launch(
            self.program,
            &mut self.memory,
            kernel,
            config,
            args,
            &mut out,
        );
        let is_over = self.spent.count(&mut result, host);
        match result {
            Ok(mut report) => {
                children = std::mem::take(&mut report.children);
                if report.forgot {
                    self.say_forgot(&report.kernel_name, config.loc);
                }
                self.say_lost_prints(&report, config.loc);
                // A launch makes the output of earlier ones visible.
                let prints = report.printf_calls > 0;
                self.state.unseen_prints = prints.then(|| (report.kernel_name.clone(), config.loc));
                self.outcome.launches.push(report);
                self.state.launched = true;
                self.ran(stream, kernel, config.loc);
            }
            Err(LaunchError::Failed(LaunchFailure::Invalid(why))) => {
                self.refuse(kernel, config.loc, why);
            }
            Err(LaunchError::NotComputed(why)) => {
                self.say_not_computed(&why);
                return Err(Stop::NotComputed);
            }
            Err(LaunchError::Device(error)) => {
                if let Err(error) = self.device_result::<()>(Err(error), "launch", config.loc) {
                    self.state.last = error;
                }
            }
            Err(LaunchError::Failed(LaunchFailure::Trap { trap, .. }))
                if trap.kind == TrapKind::AwaitsHost && self.state.postpones =>
            {
                self.postponed.push_back((launch, stream));
            }
            Err(LaunchError::Failed(LaunchFailure::Trap { trap, report })) => {
                // As on hardware, the fault shows at the next call that waits for the device.
                self.state.pending.get_or_insert(error_of_trap(&trap.kind));
                let launch = Some(self.outcome.launches.push(*report));
                self.outcome.faults.push(Fault::Trap { launch, trap });
            }
        }
        match is_over {
            true => Err(Stop::OverBudget),
            false if self.device.is_over() => Err(Stop::Split),
            false => Ok(children),
        }
    }

    /// The result of a call from a device's error; reports the error.
    fn device_result<T>(
        &mut self,
        result: Result<T, DeviceError>,
        what: &str,
        loc: LocId,
    ) -> Result<T, CudaError> {
        result.map_err(|error| match error {
            DeviceError::Memory(fault) => {
                self.say_fault(loc, what, fault);
                CudaError::InvalidValue
            }
            DeviceError::Cuda(error) => error,
            DeviceError::Lost(fault) => {
                let error = fault.error;
                self.state.sticky = Some(error);
                self.outcome.faults.push(Fault::Device(fault));
                error
            }
        })
    }

    /// Finishes the program's work on the device, and reads its times.
    fn finish(&mut self) {
        let result = self.device.finish();
        self.outcome.times_ms = match self.device_result(result, "main", LocId::default()) {
            Ok(times) => times,
            Err(_) => self.device.finish().unwrap_or_default(),
        };
        self.managed_arrives(LocId::default());
    }

    /// Reports the content of managed memory after something waited for kernels.
    fn managed_arrives(&mut self, loc: LocId) {
        if !std::mem::take(&mut self.state.launched) || !self.io.wants_arrivals() {
            return;
        }
        let globals = self.program.module().globals.iter().enumerate();
        let variables = globals
            .filter(|(_, global)| global.space == GlobalSpace::Managed)
            .map(|(index, global)| {
                let address = self.memory.symbol_address(GlobalId(index as u32));
                (address, global.size_bytes)
            });
        for (address, bytes) in variables.chain(self.state.managed.iter().copied()) {
            if let Ok(bytes) = self.memory.read_bytes(address, bytes) {
                let how = "managed memory";
                self.io.arrived(&Arrival { loc, how, bytes });
            }
        }
    }

    fn refuse(&mut self, kernel: FuncId, loc: LocId, why: InvalidLaunch) {
        self.state.last = error_of_refusal(&why);
        if self.outcome.faults.len() >= note::MAX_NOTES {
            self.say_once(
                LocId::default(),
                &format!(
                    "only the first {} refused launches are shown",
                    note::MAX_NOTES
                ),
            );
            return;
        }
        self.outcome
            .faults
            .push(Fault::Invalid { kernel, loc, why });
    }

    /// Checks that the host may access memory there itself: device memory is accessible only in the simulator, so it is refused.
    fn reach(&self, address: u64, len: u64, op: AccessOp, loc: LocId) -> Result<(), Stop> {
        let kind = self.memory.kind_of(address);
        if len == 0 || !matches!(kind, AddressKind::Device | AddressKind::Constant) {
            return Ok(());
        }
        let access = BadAccess {
            op,
            space: Space::Generic,
            address,
            width_bytes: u32::try_from(len).unwrap_or(u32::MAX),
            object: None,
        };
        Err(self.trap(TrapKind::DevicePointerOnHost(Box::new(access)), loc))
    }

    /// Writes a result of a call through a pointer.
    fn store(&mut self, address: u64, bytes: &[u8], loc: LocId) -> Result<(), Stop> {
        self.reach(address, bytes.len() as u64, AccessOp::Store, loc)?;
        self.memory
            .write_bytes(address, bytes)
            .map_err(|fault| self.fault(fault, AccessOp::Store, loc))
    }

    fn fault(&self, fault: MemoryFault, op: AccessOp, loc: LocId) -> Stop {
        self.trap(fault.trap(op), loc)
    }

    fn trap(&self, kind: TrapKind, loc: LocId) -> Stop {
        Stop::Trap(Box::new(Trap {
            kind,
            loc,
            block: [0; 3],
            thread: [0; 3],
            on_host: true,
            others: Vec::new(),
            overflow: None,
        }))
    }

    /// Notes the allocating line, which messages about the allocation name.
    fn name_allocation(&mut self, call: HostFn, address: u64, loc: LocId) {
        let allocation = Allocation {
            call: self.names.get(&loc).copied().unwrap_or(call.text()),
            loc,
            variable: self.unset.pointer.take(),
        };
        self.memory.note_allocation(address, allocation);
        let line = self.program.module().loc(loc).line;
        if line > 0 {
            self.memory
                .set_name(address, &format!("the allocation of line {line}"));
        }
    }
}
