//! `dslc run FILE`: compile, run on a device, report.

use std::{fs, sync::Arc};

use dsl::{diagnostic::Severity, ir::Module};
use interp::{
    MachineConfig, Program,
    rules::{Arch, BankWidth, RuleSet},
};
use runtime::{
    device::{
        Device,
        gpu::{Gpu, GpuError, GpuOptions},
        simulator::Simulator,
    },
    host::{Arrival, HostOptions, Io, Note, Outcome, find_main, run_main},
    standalone::{self, Plan},
};

use crate::{
    args::{Color, DeviceChoice, Format, Launches, RunArgs},
    capture::Capture,
    failure::Failure,
    output,
    record::{self, End, Entry, Record},
    report::{Input, fault, gpu, json, nvprof, text},
    source::load,
};

/// Warp instructions of one launch, and instructions of the host program, when `--limit` says nothing: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    if args.metrics.iter().any(|name| name == "list") {
        output::out(nvprof::list().as_bytes());
        return Ok(0);
    }
    let on_gpu = args.device == DeviceChoice::Gpu;
    if on_gpu && !args.metrics.is_empty() {
        return Err(Failure::new(
            "a GPU counts nothing by itself: --metrics needs the simulator (or `dslc verify`, which asks ncu)",
        ));
    }
    let metrics = nvprof::resolve(&args.metrics)?;
    let rules = rules(
        args.source.arch.as_deref().unwrap_or("sm_90"),
        args.bank_width,
    )?;
    let loaded = load(&args.source)?;
    if loaded.report(color, Severity::Warning) {
        return Ok(1);
    }
    let Some(module) = loaded.module.clone() else {
        return Err(Failure::new("the front end made no program"));
    };
    let program = Program::new(Arc::new(module));
    let mut device: Box<dyn Device> = if on_gpu {
        Box::new(open_gpu(GpuOptions {
            opt_level: args.opt_level,
            timing: !args.quiet || args.record.is_some(),
            like_simulator: args.record.is_some(),
            ..GpuOptions::default()
        })?)
    } else {
        Box::new(Simulator::new(machine(rules.clone(), args.jobs, args.limit, !args.no_checks)))
    };
    // On a GPU the driver prints what kernels print: all of standard output has to be kept.
    let capture = match args.format {
        Format::Json if on_gpu => Some(Capture::start()?),
        Format::Json | Format::Text => None,
    };
    let mut io = Streams {
        module: program.module().clone(),
        capture: (args.format == Format::Json && !on_gpu).then(Vec::new),
        record: args.record.is_some().then(Record::default),
    };
    let what = Launched {
        args: &args.args,
        launch: &args.launch,
        buffer: &args.buffer,
        print: &args.print,
        save: &args.save,
        limit: args.limit,
    };
    let outcome = execute(&what, &program, &mut *device, &mut io);
    let captured = match capture {
        Some(capture) => Some(capture.end()?),
        None => io.capture.take(),
    };
    let outcome = outcome?;
    let failed = outcome.exit_code != 0
        || !outcome.faults.is_empty()
        || outcome.notes.iter().any(|note| note.is_error);
    let exit_code = u8::from(failed);
    if let Some(kernel) = &args.kernel
        && !program
            .module()
            .kernels()
            .any(|(_, function)| function.name == *kernel)
    {
        return Err(Failure::new(format!(
            "--kernel {kernel}: {}",
            no_such_kernel(kernel, program.module())
        )));
    }
    let input = Input {
        program: &program.module().name,
        map: &loaded.map,
        module: program.module(),
        rules: &RuleSet::new(rules.arch, device.bank_width())?,
        outcome: &outcome,
        gpu: on_gpu.then_some(device.info().name.as_str()),
        kernel: args.kernel.as_deref(),
        all_launches: args.launches == Launches::All,
    };
    if let (Some(path), Some(mut record)) = (&args.record, io.record) {
        record.end = Some(End::new(&outcome, fault::sentences(&input)));
        record::write(&record, path)?;
    }
    show(&input, args, &metrics, captured.as_deref(), color)?;
    Ok(exit_code)
}

/// The machine of the options; `jobs` 0 means one per core.
pub(super) fn machine(rules: RuleSet, jobs: usize, limit: Option<u64>, checks: bool) -> MachineConfig {
    MachineConfig {
        rules,
        jobs: if jobs == 0 {
            std::thread::available_parallelism().map_or(1, |n| n.get())
        } else {
            jobs
        },
        limit: Some(limit.unwrap_or(DEFAULT_LIMIT)),
        checks: if checks {
            interp::Checks::ALL
        } else {
            interp::Checks::NONE
        },
    }
}

/// The GPU, or one sentence.
pub(super) fn open_gpu(options: GpuOptions) -> Result<Gpu, Failure> {
    Gpu::open(options).map_err(no_gpu)
}

/// Why there is no GPU, and what would tell more.
pub(super) fn no_gpu(error: GpuError) -> Failure {
    Failure::new(format!("no GPU to run on: {error}; `dslc doctor` says more"))
}

/// What of a program is run.
pub(super) struct Launched<'a> {
    pub(super) args: &'a [String],
    pub(super) launch: &'a [String],
    pub(super) buffer: &'a [String],
    pub(super) print: &'a [String],
    pub(super) save: &'a [String],
    pub(super) limit: Option<u64>,
}

/// Runs `main`, or the launches of the command line.
pub(super) fn execute(
    what: &Launched<'_>,
    program: &Program,
    device: &mut dyn Device,
    io: &mut dyn Io,
) -> Result<Outcome, Failure> {
    match find_main(program) {
        Some(main) if what.launch.is_empty() => {
            let options = HostOptions {
                args: what.args.to_vec(),
                limit: Some(what.limit.unwrap_or(DEFAULT_LIMIT)),
            };
            run_main(program, main, &options, device, io).map_err(Failure::new)
        }
        _ => launches(what, program, device, io),
    }
}

/// Prints what was asked for: faults to stderr, the report to stdout.
fn show(
    input: &Input<'_>,
    args: &RunArgs,
    metrics: &[&'static interp::metrics::Metric],
    captured: Option<&[u8]>,
    color: Color,
) -> Result<(), Failure> {
    output::err(&fault::render_all(input, output::use_color(color)));
    match args.format {
        Format::Json => {
            let report = json::report(input, captured.unwrap_or_default());
            output::out(format!("{}\n", serde_json::to_string_pretty(&report)?).as_bytes());
        }
        Format::Text if !metrics.is_empty() => {
            output::out(nvprof::table(input, metrics).as_bytes())
        }
        Format::Text if args.quiet => {}
        Format::Text if input.gpu.is_some() => {
            let report = gpu::report(input, input.gpu.unwrap_or_default());
            if !report.is_empty() {
                output::out(format!("\n{report}").as_bytes());
            }
        }
        Format::Text => {
            let report = text::report(input, output::columns());
            if !report.is_empty() {
                output::out(format!("\n{report}").as_bytes());
            }
        }
    }
    let code = input.outcome.exit_code;
    if code != 0 {
        output::err(&format!("the program ended with exit code {code}\n"));
    }
    Ok(())
}

/// The rule set of `--arch` and `--bank-width`.
pub(super) fn rules(arch: &str, bank_width: u32) -> Result<RuleSet, Failure> {
    let arch: Arch = arch.parse()?;
    let width = match bank_width {
        4 => BankWidth::Four,
        8 => BankWidth::Eight,
        other => {
            return Err(Failure::new(format!(
                "--bank-width {other}: banks are 4 or 8 bytes wide"
            )));
        }
    };
    Ok(RuleSet::new(arch, width)?)
}

fn no_such_kernel(wanted: &str, module: &Module) -> String {
    let names: Vec<&str> = module
        .kernels()
        .map(|(_, function)| function.name.as_str())
        .collect();
    match dsl::suggest::nearest(wanted, names.iter().copied()) {
        Some(nearest) => format!("there is no such kernel; did you mean `{nearest}`?"),
        None if names.is_empty() => "the program has no kernels".to_string(),
        None => format!("there is no such kernel; there are {}", names.join(", ")),
    }
}

/// The launches of the command line, for a program without `main`.
fn launches(
    args: &Launched<'_>,
    program: &Program,
    device: &mut dyn Device,
    io: &mut dyn Io,
) -> Result<Outcome, Failure> {
    if args.launch.is_empty() {
        let kernels: Vec<String> = program
            .module()
            .kernels()
            .map(|(_, kernel)| standalone::usage(kernel))
            .collect();
        let hint = if kernels.is_empty() {
            "and no kernel either".to_string()
        } else {
            format!("launch a kernel, e.g. {}", kernels[0])
        };
        return Err(Failure::new(format!("the program has no main(): {hint}")));
    }
    let read =
        |path: &str| fs::read(path).map_err(|error| format!("cannot read `{path}`: {error}"));
    let plan = Plan::resolve(
        program,
        args.launch,
        args.buffer,
        args.print,
        args.save,
        &read,
    )?;
    let run = plan.run(program, device, io)?;
    for (name, shown) in &run.printed {
        io.stdout(format!("{name} = {shown}\n").as_bytes());
    }
    for (path, bytes) in &run.saved {
        fs::write(path, bytes)
            .map_err(|error| Failure::new(format!("cannot write `{path}`: {error}")))?;
    }
    Ok(run.outcome)
}

/// The program's streams: straight through, or kept for the JSON report; and a record of the run, if one is wanted.
struct Streams {
    module: Arc<Module>,
    capture: Option<Vec<u8>>,
    record: Option<Record>,
}

impl Io for Streams {
    fn stdout(&mut self, bytes: &[u8]) {
        match &mut self.capture {
            Some(kept) => kept.extend_from_slice(bytes),
            None => output::out(bytes),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        output::err(&String::from_utf8_lossy(bytes));
        if let Some(record) = &mut self.record {
            record.stderr(bytes);
        }
    }

    fn note(&mut self, note: &Note) {
        output::err(&fault::note(note, &self.module));
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
