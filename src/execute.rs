//! Runs a compiled program on a device: `main`, or the launches of the command line.

use std::{env, path::Path, sync::Arc};

use clap::ValueEnum as _;

use interp::{
    BothOrders, Checks, Compiled, CompiledCounts, MachineConfig, MemoryLimits, Order, Program,
    Shortcuts, StopFlag,
    rules::{Arch, RuleSet},
};
use ir::{Module, target::Target};
use runtime::{
    Budget,
    buffer::NpyFile,
    device::{
        Device, DeviceInfo,
        gpu::{Gpu, GpuError, GpuOptions},
        simulator::Simulator,
    },
    host::{Arrival, HostOptions, Io, Note, Outcome, find_main, run_main},
    standalone::{self, Plan},
};

use report::fault;

use crate::{
    args::{Counts, Format, ProgramArgs, RunArgs},
    back_end,
    failure::Failure,
    files, output,
    prove::MAX_COMPARED,
    record::{Entry, Record},
    system,
};

/// The default limits of warp instructions in one launch, and of instructions in the host program: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

/// Most jobs per core: more threads only wait for one another, and each has its own counters.
const MAX_JOBS_PER_CORE: usize = 4;
/// The default limit of instructions in a run. Each launch has its own limit, so an endless one is reported within minutes. This one is for
/// programs that launch forever, and longer than a user would wait for any other.
const DEFAULT_RUN_LIMIT: u64 = 1_000_000_000_000;

/// The machine that the options describe, with all checks on. `jobs` 0 means one per core.
pub(crate) fn machine(rules: RuleSet, args: &ProgramArgs, stop: &StopFlag) -> MachineConfig {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    MachineConfig {
        rules,
        jobs: match args.jobs {
            0 => cores,
            jobs => jobs.min(MAX_JOBS_PER_CORE * cores),
        },
        limit: Some(args.limit.unwrap_or(DEFAULT_LIMIT)),
        checks: Checks::default(),
        order: Order::default(),
        both_orders: BothOrders::default(),
        schedule: interp::Schedule::default(),
        schedules: (0, 1),
        memory: args.memory_order(),
        keep_going: true,
        trace: false,
        count_only: false,
        reuse: true,
        stop: stop.clone(),
        progress: interp::Progress::default(),
    }
}

/// The variable that says which accesses are counted where no option does.
const COUNTS: &str = "DSLC_COUNTS";

/// Which accesses are counted. Without an option, those of the source if there is no back end or it does not know the architecture; else both.
pub(crate) fn wanted_counts(args: &RunArgs, arch: Arch) -> Result<Counts, Failure> {
    if let Some(counts) = args.checking.counts {
        return Ok(counts);
    }
    let wanted = match env::var(COUNTS) {
        Ok(name) if !name.is_empty() => Counts::from_str(&name, true).map_err(|_| {
            Failure::new(format!(
                "the variable {COUNTS} is `{name}`: it may be written, compiled or both"
            ))
        })?,
        _ => Counts::Both,
    };
    let only_written = args.is_on_gpu()
        || runtime::back_end::is_ptx(&args.source.file.to_string_lossy())
        || args.checking.count_only
        || args.blocks.is_some()
        || args.observer.record.is_some()
        || args.observer.trace.is_some()
        || !args.report.metrics.is_empty() && args.report.format != Format::Json;
    match only_written || !back_end::compiles_for(arch) {
        true => Ok(Counts::Written),
        false => Ok(wanted),
    }
}

/// The first launch that was to be counted as compiled and was not, with the reason: one sentence.
pub(crate) fn not_compiled(outcome: &Outcome) -> Option<String> {
    outcome.launches.kept().iter().find_map(|kept| {
        let CompiledCounts::Not(why) = kept.report.compiled.as_ref()? else {
            return None;
        };
        let kernel = &kept.report.kernel_name;
        Some(format!(
            "launch {} of `{kernel}` is not counted as compiled: {why}",
            kept.first
        ))
    })
}

/// The simulator that counts these accesses.
pub(crate) fn compiling(
    simulator: Simulator,
    args: &RunArgs,
    counts: Counts,
    arch: Arch,
) -> Simulator {
    let shortcuts = args.checking.plain.unwrap_or(Shortcuts::ALL);
    let compile = move |module: &Module| back_end::compiled(module, arch, shortcuts);
    match counts {
        Counts::Written => simulator,
        Counts::Both => simulator.compiling(Box::new(compile)),
        Counts::Compiled => simulator.compiling(Box::new(move |module| {
            compile(module).map(Compiled::instead)
        })),
    }
}

/// The GPU, or an error in one sentence.
pub(crate) fn open_gpu(options: GpuOptions) -> Result<Gpu, Failure> {
    Gpu::open(0, options, Some(compile)).map_err(no_gpu)
}

/// How kernels become PTX for a GPU.
fn compile(module: &Module, info: &DeviceInfo, options: &GpuOptions) -> Result<String, String> {
    let options = back_end::Options {
        arch: Target::for_gpu((&info.name, info.major, info.minor))?,
        opt_level: options.opt_level,
        lines: options.lines.into(),
        llvm: false,
    };
    back_end::compile(module, options).map_err(|why| why.to_string())
}

/// Why there is no GPU, and how to find out more.
pub(crate) fn no_gpu(error: GpuError) -> Failure {
    Failure::new(format!(
        "no GPU to run on: {error}; `dslc doctor` says more"
    ))
}

/// What to run of a program.
#[derive(Clone, Copy)]
pub(crate) struct What<'a> {
    pub(crate) program: &'a ProgramArgs,
    /// Buffers to save.
    pub(crate) save: &'a [String],
    /// Whether to go on after accesses that are not allowed.
    pub(crate) keep_going: bool,
    pub(crate) stop: &'a StopFlag,
}

impl What<'_> {
    fn budget(&self) -> Budget {
        Budget {
            instructions: Some(self.program.limit.unwrap_or(DEFAULT_RUN_LIMIT)),
            memory: match self.program.memory_bytes() {
                Some(bytes) => MemoryLimits {
                    all_bytes: Some(bytes),
                    heap_bytes: None,
                },
                // Programs usually write to all host memory that they allocate; untouched device memory takes no memory.
                None => MemoryLimits {
                    all_bytes: None,
                    heap_bytes: system::memory_bytes().map(|bytes| bytes / 2),
                },
            },
        }
    }
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    /// Why a buffer was not saved.
    pub(crate) unsaved: Option<Failure>,
}

/// Runs `main`, or the launches of the command line.
pub(crate) fn execute(
    what: &What<'_>,
    program: &Program,
    device: &mut dyn Device,
    io: &mut dyn Io,
) -> Result<Ran, Failure> {
    match find_main(program) {
        Some(main) if what.program.launch.is_empty() => {
            let options = HostOptions {
                args: what.program.args.clone(),
                limit: Some(what.program.limit.unwrap_or(DEFAULT_LIMIT)),
                keep_going: what.keep_going,
                stop: what.stop.clone(),
                budget: what.budget(),
            };
            let outcome = run_main(program, main, &options, device, io).map_err(Failure::new)?;
            Ok(Ran {
                outcome,
                unsaved: None,
            })
        }
        _ => launches(what, program, device, io),
    }
}

/// The launches of the command line, for a program without `main`.
fn launches(
    what: &What<'_>,
    program: &Program,
    device: &mut dyn Device,
    io: &mut dyn Io,
) -> Result<Ran, Failure> {
    if what.program.launch.is_empty() {
        let kernels: Vec<String> = program
            .module()
            .kernels()
            .map(|(_, kernel)| standalone::usage(kernel))
            .collect();
        let what = match kernels.first() {
            None => "the program has neither main() nor a kernel".to_string(),
            Some(usage) => format!("the program has no main(): launch a kernel, e.g. {usage}"),
        };
        return Err(Failure::new(what));
    }
    let open = |path: &str| {
        let (file, bytes) = files::open(Path::new(path), false)
            .map_err(|why| format!("cannot read `{path}`: {why}"))?;
        Ok(NpyFile {
            reader: Box::new(std::io::BufReader::new(file)),
            bytes,
        })
    };
    let plan = Plan::resolve(
        program,
        what.budget(),
        &what.program.launch,
        &what.program.buffer,
        &what.program.print,
        what.save,
        &open,
    )?;
    let run = plan.run(program, device, io)?;
    for (name, shown) in &run.printed {
        io.stdout(format!("{name} = {shown}\n").as_bytes());
    }
    let mut unsaved = None;
    for (path, bytes) in &run.saved {
        if let Err(why) = files::write(Path::new(path), bytes) {
            unsaved.get_or_insert(Failure::new(format!("cannot write `{path}`: {why}")));
        }
    }
    Ok(Ran {
        outcome: run.outcome,
        unsaved,
    })
}

/// Where the program's standard output goes.
pub(crate) enum ProgramOut {
    /// To dslc's own.
    Through,
    /// Into the JSON report.
    Kept(Vec<u8>),
    /// To stderr: stdout contains only the log.
    Talk,
}

/// The program's streams, and a record of the run if requested.
pub(crate) struct Streams {
    pub(crate) module: Arc<Module>,
    pub(crate) program_out: ProgramOut,
    pub(crate) record: Option<Record>,
    /// Whether to leave out remarks that are not errors.
    pub(crate) is_quiet: bool,
    /// Most bytes of the program's output that are kept.
    pub(crate) most_kept: usize,
    /// The number of bytes printed beyond that.
    pub(crate) lost_bytes: u64,
    /// The output, if it is compared with runs with cures and not too long.
    pub(crate) compared: Option<Vec<u8>>,
    /// The beginning of the output, for a page.
    pub(crate) page: Option<Vec<u8>>,
}

/// Most bytes of output that are kept for a report.
pub(crate) const MAX_KEPT: usize = 64 << 20;

/// Most bytes of it on a page.
const MAX_ON_PAGE: usize = 1 << 20;

impl Streams {
    /// Adds a note about output that was not kept.
    pub(crate) fn note_lost(&mut self, outcome: &mut Outcome) {
        if self.lost_bytes > 0 {
            let text = format!(
                "the report has the first {} bytes of what the program printed; {} more are left out",
                self.most_kept, self.lost_bytes
            );
            let note = Note::new(Default::default(), text, false);
            self.note(&note);
            outcome.notes.push(note);
        }
    }
}

impl Io for Streams {
    fn stdout(&mut self, bytes: &[u8]) {
        let compared = self.compared.take();
        self.compared = compared
            .filter(|kept| kept.len() + bytes.len() <= MAX_COMPARED)
            .map(|mut kept| {
                kept.extend_from_slice(bytes);
                kept
            });
        if let Some(page) = &mut self.page {
            let room = MAX_ON_PAGE.saturating_sub(page.len());
            page.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        match &mut self.program_out {
            ProgramOut::Through => output::out(bytes),
            ProgramOut::Kept(kept) => {
                let room = self.most_kept.saturating_sub(kept.len());
                let (first, rest) = bytes.split_at(bytes.len().min(room));
                kept.extend_from_slice(first);
                self.lost_bytes += rest.len() as u64;
            }
            ProgramOut::Talk => output::err_bytes(bytes),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        output::err_bytes(bytes);
        if let Some(record) = &mut self.record {
            record.stderr(bytes);
        }
    }

    fn note(&mut self, note: &Note) {
        // Faults are shown among the findings.
        if note.fault.is_none() && (note.is_error || !self.is_quiet) {
            output::err(&fault::note(note, &self.module));
        }
    }

    fn arrived(&mut self, arrival: &Arrival<'_>) {
        let line = self.module.loc(arrival.loc).line;
        if let Some(record) = &mut self.record {
            record.arrived(arrival, line);
        }
    }

    fn allocated(&mut self, address: u64, bytes: u64) {
        if let Some(record) = &mut self.record {
            record.entries.push(Entry::Allocated(address, bytes));
        }
    }

    fn wants_arrivals(&self) -> bool {
        self.record.is_some()
    }
}
