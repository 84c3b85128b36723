//! `dslc verify FILE`: runs the same program in the simulator and on a GPU, and compares.
//!
//! It compares the bytes that reach the host, in order, the program's output and its exit code, bit by bit. If `ncu` is installed, it runs
//! the GPU part once more, and its counters are compared with those that the simulator counts of the compiled kernel, per kernel and per source
//! line. A line whose accesses the assembler changed is listed with the change; it is not a difference. Exit code 0: equal; 1: different, or the program has errors; 2: it
//! could not compare.

mod child;
mod compare;
mod counters;
mod lines;
mod ncu;
mod show;

use interp::{
    BothOrders, Checks, Compiled, MachineConfig, Program, Shortcuts, StopFlag,
    rules::{Arch, RuleSet},
};
use ir::{Module, diagnostic::Severity};
use runtime::{
    device::{DeviceInfo, gpu, simulator::Simulator},
    host::Outcome,
};

use report::findings::{self, Found};

use crate::{
    args::{Color, Format, OneCount, ProgramArgs, VerifyArgs},
    back_end,
    execute::{self, ProgramOut, Streams, What},
    failure::Failure,
    output, progress,
    record::{End, Record},
    source::{Loaded, load},
};

use child::Scratch;
use compare::Difference;
use counters::Counters;

/// All results of the comparison.
struct Verdict<'a> {
    program: &'a str,
    arch: Arch,
    gpu: &'a DeviceInfo,
    driver: (u32, u32),
    simulated: &'a Outcome,
    times_ms: &'a [Option<f64>],
    /// The bytes that reached the host, and the number of arrivals.
    bytes: (u64, usize),
    differences: &'a [Difference],
    counters: &'a Counters,
}

impl Verdict<'_> {
    /// Whether both devices did the same.
    fn is_equal(&self) -> bool {
        self.differences.is_empty() && !self.counters.differ()
    }
}

pub(crate) fn run(args: &VerifyArgs, color: Color) -> Result<u8, Failure> {
    if args.format == Format::Sarif {
        return Err(Failure::new(
            "verify has no findings, so there is no SARIF log: use --format json",
        ));
    }
    if args.opt_level != 3 && args.counts == Some(OneCount::Compiled) {
        return Err(Failure::new(
            "--counts compiled counts kernels at -O3: remove -O",
        ));
    }
    let gpus = gpu::list().map_err(execute::no_gpu)?;
    let Some(info) = gpus.first() else {
        return Err(execute::no_gpu(gpu::GpuError::NoDevice));
    };
    let mut source = args.source.clone();
    let arch = source
        .arch
        .get_or_insert_with(|| format!("sm_{}{}", info.major, info.minor))
        .clone();
    let rules = crate::rules::of_arch(&arch, 4)?;
    let loaded = load(&source)?;
    if loaded.report(color, Severity::Error) {
        return Ok(1);
    }
    let line = progress::busy("running the program in the simulator and on the GPU");
    let simulated = simulate(args, &loaded, rules, info)?;
    let Simulated {
        program,
        outcome,
        found,
        record,
        printed,
    } = &simulated;
    let module = program.module();
    if found.iter().any(Found::is_error) {
        let (columns, color) = (output::message_columns(), output::use_color(color));
        let messages = findings::render::all(found, module, &loaded.map, color, columns);
        output::err(&messages);
        output::err("the program fails in the simulator, so dslc did not run it on the GPU\n");
        return Ok(1);
    }
    let scratch = Scratch::new()?;
    let ran = child::run(&source, args, &scratch)?;
    let differences = compare::compare(record, printed, &ran.record, &ran.stdout);
    let counters = if args.no_ncu {
        Counters::NotMeasured("--no-ncu".to_string())
    } else {
        counters::measure(&source, args, &scratch, module, outcome)?
    };
    drop(line);
    let times_ms = ran.record.end.as_ref().map(|end| end.times_ms.clone());
    let verdict = Verdict {
        program: &module.name,
        arch: rules.arch,
        gpu: info,
        driver: gpu::driver_version().unwrap_or_default(),
        simulated: outcome,
        times_ms: &times_ms.unwrap_or_default(),
        bytes: record.arrived_bytes(),
        differences: &differences,
        counters: &counters,
    };
    let text = match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&show::json(&verdict))?),
        Format::Text | Format::Sarif => show::text(&verdict, &loaded.map, module),
    };
    output::out_text(&text);
    if !ran.stderr.is_empty() && !differences.is_empty() {
        output::err("messages of the program on the GPU:\n");
        output::err(&ran.stderr);
    }
    Ok(u8::from(!verdict.is_equal()))
}

/// A run in the simulator.
struct Simulated {
    program: Program,
    outcome: Outcome,
    found: Vec<Found>,
    record: Record,
    printed: Vec<u8>,
}

fn simulate(
    args: &VerifyArgs,
    loaded: &Loaded,
    rules: RuleSet,
    info: &DeviceInfo,
) -> Result<Simulated, Failure> {
    let program = loaded.program()?;
    let stop = StopFlag::default();
    // The compiled kernel is what dslc makes at -O3.
    let is_compiled = args.opt_level == 3 && args.counts != Some(OneCount::Written);
    let args = ProgramArgs {
        jobs: args.jobs,
        launch: args.launch.clone(),
        buffer: args.buffer.clone(),
        args: args.args.clone(),
        ..ProgramArgs::default()
    };
    let machine = MachineConfig {
        checks: Checks::NONE,
        both_orders: BothOrders::Never,
        keep_going: false,
        ..execute::machine(rules, &args, &stop)
    };
    let arch = machine.rules.arch;
    let mut simulator = Simulator::with_info(machine, info.clone());
    if is_compiled {
        let compile = move |module: &Module| back_end::compiled(module, arch, Shortcuts::ALL);
        let compile = move |module: &Module| compile(module).map(Compiled::instead);
        simulator = simulator.compiling(Box::new(compile));
    }
    let mut io = Streams {
        module: program.module().clone(),
        program_out: ProgramOut::Kept(Vec::new()),
        record: Some(Record::default()),
        is_quiet: false,
        most_kept: usize::MAX,
        lost_bytes: 0,
        compared: None,
        page: None,
    };
    let what = What {
        program: &args,
        save: &[],
        keep_going: false,
        stop: &stop,
    };
    let outcome = execute::execute(&what, &program, &mut simulator, &mut io)?.outcome;
    let line = |loc| report::line(program.module(), &loaded.map, loc);
    let found = findings::all(&outcome, program.module(), &line);
    let mut record = io.record.unwrap_or_default();
    record.end = Some(End::new(&outcome, &found));
    let ProgramOut::Kept(printed) = io.program_out else {
        return Err(Failure::new("the program's output was not captured"));
    };
    Ok(Simulated {
        program,
        outcome,
        found,
        record,
        printed,
    })
}
