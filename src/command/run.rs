//! `dslc run FILE`: compile, run on a device, report.

use std::{fs, sync::Arc};

use dsl::{diagnostic::Severity, ir::Module};
use interp::{
    MachineConfig, Program,
    rules::{Arch, BankWidth, RuleSet},
};
use runtime::{
    device::simulator::Simulator,
    host::{HostOptions, Io, Note, Outcome, find_main, run_main},
    standalone::{self, Plan},
};

use crate::{
    args::{Color, DeviceChoice, Format, Launches, RunArgs},
    failure::Failure,
    output,
    report::{
        self, Input, fault,
        findings::{self, Found, baseline::Baseline},
        json, nvprof, sarif, text,
    },
    source::{Loaded, load},
};

/// Warp instructions of one launch, and instructions of the host program, when `--limit` says nothing: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    if args.device == DeviceChoice::Gpu {
        return Err(Failure::new(
            "`--device gpu` is not there yet: this version runs kernels in the simulator only",
        ));
    }
    if args.metrics.iter().any(|name| name == "list") {
        output::out(nvprof::list().as_bytes());
        return Ok(0);
    }
    let metrics = nvprof::resolve(&args.metrics)?;
    let rules = rules(
        args.source.arch.as_deref().unwrap_or("sm_90"),
        args.bank_width,
    )?;
    let loaded = load(&args.source)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    if loaded.report(color, Severity::Warning) {
        if args.format == Format::Sarif {
            print_json(&sarif::of_check(&loaded.diagnostics, &loaded.map))?;
        }
        return Ok(1);
    }
    let Some(module) = loaded.module.clone() else {
        return Err(Failure::new("the front end made no program"));
    };
    let program = Program::new(Arc::new(module));
    let machine = MachineConfig {
        rules,
        jobs: if args.jobs == 0 {
            std::thread::available_parallelism().map_or(1, |n| n.get())
        } else {
            args.jobs
        },
        limit: Some(args.limit.unwrap_or(DEFAULT_LIMIT)),
        checks: args.wanted_checks(),
    };
    let mut device = Simulator::new(machine);
    let mut io = Streams {
        module: program.module().clone(),
        program_out: match args.format {
            Format::Text => ProgramOut::Through,
            Format::Json => ProgramOut::Kept(Vec::new()),
            Format::Sarif => ProgramOut::Talk,
        },
    };
    let outcome = match find_main(&program) {
        Some(main) if args.launch.is_empty() => {
            let options = HostOptions {
                args: args.args.clone(),
                limit: Some(args.limit.unwrap_or(DEFAULT_LIMIT)),
            };
            run_main(&program, main, &options, &mut device, &mut io)
        }
        _ => launches(args, &program, &mut device, &mut io)?,
    };
    let line = |loc| report::line(program.module(), &loaded.map, loc);
    let mut found = findings::all(&outcome, program.module(), &line);
    if let Some(baseline) = &baseline {
        baseline.mute(&mut found);
    }
    if let Some(path) = &args.write_baseline {
        Baseline::of(&found).write(path)?;
    }
    let failed = outcome.exit_code != 0
        || found.iter().any(Found::is_error)
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
        rules: &device.machine().rules,
        outcome: &outcome,
        findings: &found,
        kernel: args.kernel.as_deref(),
        all_launches: args.launches == Launches::All,
    };
    let kept = match &io.program_out {
        ProgramOut::Kept(bytes) => bytes.as_slice(),
        ProgramOut::Through | ProgramOut::Talk => &[],
    };
    show(&input, args, &metrics, kept, &loaded, color)?;
    Ok(exit_code)
}

/// Prints what was asked for: findings to stderr, the report to stdout.
fn show(
    input: &Input<'_>,
    args: &RunArgs,
    metrics: &[&'static interp::metrics::Metric],
    kept: &[u8],
    loaded: &Loaded,
    color: Color,
) -> Result<(), Failure> {
    let color = output::use_color(color);
    let messages = findings::render::all(
        input.findings,
        input.module,
        input.map,
        color,
        output::columns(),
    );
    output::err(&messages);
    match args.format {
        Format::Json => print_json(&json::report(input, kept))?,
        Format::Sarif => print_json(&sarif::of_run(input, &loaded.diagnostics))?,
        Format::Text if !metrics.is_empty() => {
            output::out(nvprof::table(input, metrics).as_bytes())
        }
        Format::Text if args.quiet => {}
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

fn print_json(object: &impl serde::Serialize) -> Result<(), Failure> {
    output::out(format!("{}\n", serde_json::to_string_pretty(object)?).as_bytes());
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
    args: &RunArgs,
    program: &Program,
    device: &mut Simulator,
    io: &mut Streams,
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
        &args.launch,
        &args.buffer,
        &args.print,
        &args.save,
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

/// Where the program's standard output goes.
enum ProgramOut {
    /// To ours.
    Through,
    /// Into the JSON report.
    Kept(Vec<u8>),
    /// To stderr: stdout holds nothing but the log.
    Talk,
}

/// The program's streams.
struct Streams {
    module: Arc<Module>,
    program_out: ProgramOut,
}

impl Io for Streams {
    fn stdout(&mut self, bytes: &[u8]) {
        match &mut self.program_out {
            ProgramOut::Through => output::out(bytes),
            ProgramOut::Kept(kept) => kept.extend_from_slice(bytes),
            ProgramOut::Talk => output::err(&String::from_utf8_lossy(bytes)),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        output::err(&String::from_utf8_lossy(bytes));
    }

    fn note(&mut self, note: &Note) {
        output::err(&fault::note(note, &self.module));
    }
}
