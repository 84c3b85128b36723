//! `dslc run FILE`: compile, run on a device, report.

use std::{
    io::{BufWriter, Write},
    path::Path,
    sync::Arc,
};

use dsl::{
    diagnostic::{Code, Diagnostic, Severity},
    ir::Module,
    source::SourceMap,
};
use interp::{
    MachineConfig, Program, StopFlag, StopReason,
    finding::Barrier,
    rules::{Arch, BankWidth, RuleSet},
};
use runtime::{
    buffer::{BufferSource, BufferSpec},
    device::{Device, gpu::GpuOptions, simulator::Simulator},
    host::Outcome,
    standalone::same_kernel,
};

use cure::Runner;
use report::{
    Input, Model, Tables,
    architectures::Other,
    findings::{self, Found, baseline::Baseline},
    gpu, html, json, nvprof, sarif, text,
};

use super::{check, native};
use crate::{
    args::{Color, Cures, FailOn, Format, Launches, RunArgs, SourceArgs},
    baseline,
    capture::Capture,
    execute::{self, MOST_KEPT, ProgramOut, Ran, Streams, What},
    failure::Failure,
    files::{self, Claims},
    output, progress,
    prove::{self, Prover},
    record::{self, End, Record},
    rules::{DEFAULT_ARCH, rules},
    source::{Loaded, cuda_arch, load_for, show as show_messages},
    stopping::Watch,
    trace,
};

/// A program that can run.
struct Compiled {
    loaded: Loaded,
    program: Program,
    /// Messages that the run may prove: it shows the others.
    unsure: Vec<Diagnostic>,
    /// The one kernel that is reported.
    kernel: Option<String>,
}

pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    if args.report.metrics.iter().any(|name| name == "list") {
        output::out(nvprof::list().as_bytes());
        return Ok(0);
    }
    if native::is_wanted(args) {
        return native::run(args, color);
    }
    refuse_uncounted(args)?;
    let metrics = nvprof::resolve(&args.report.metrics)?;
    let mut archs = archs(args)?;
    let rules = archs.remove(0);
    let mut source = args.source.clone();
    for text in args.report.kernel.iter().chain(&args.program.launch) {
        source.instantiate(text);
    }
    let watch = Watch::start(args.program.timeout);
    let loaded = load_for(&source, cuda_arch(&rules))?;
    let baseline = args
        .known
        .baseline
        .as_deref()
        .map(baseline::read)
        .transpose()?;
    let Some(compiled) = compiled(loaded, args, &rules, color)? else {
        return Ok(1);
    };
    let Compiled {
        loaded, program, ..
    } = &compiled;
    let module = program.module();
    let machine = machine(args, rules, watch.flag());
    let mut device = open_device(args, &machine)?;
    let what = What {
        program: &args.program,
        save: &args.save,
        keep_going: machine.keep_going,
        stop: watch.flag(),
    };
    let (ran, mut io, captured) = execute(args, &what, program, &mut *device, &machine, &watch)?;
    let line = |loc| report::line(module, &loaded.map, loc);
    let mut found = findings::all(&ran.outcome, module, &line);
    compiled.show_unproved(&found, color);
    if let Some(baseline) = &baseline {
        baseline.mute(&mut found);
    }
    let input = Input {
        program: &module.name,
        map: &loaded.map,
        module,
        // A program may have chosen another bank width.
        rules: &match rules.given_by {
            Some(_) => rules,
            None => RuleSet::new(rules.arch, device.bank_width())?,
        },
        outcome: &ran.outcome,
        gpu: args.is_on_gpu().then_some(device.info().name.as_str()),
        findings: &found,
        kernel: compiled.kernel.as_deref(),
        tables: tables(args),
    };
    let mut model = Model::new(&input);
    let prover = Prover {
        source: &source,
        map: &loaded.map,
        machine,
        what: What { save: &[], ..what },
    };
    if let Some(stdout) = &io.compared {
        add_cures(&mut model, args.cures, stdout, &prover);
    }
    for rules in archs {
        model.others.push(run_by(rules, &prover)?);
    }
    watch.reports();
    let written = write_files(args, &model, &mut io, ran.unsaved);
    let kept = kept_output(args.report.format, &io.program_out, captured.as_deref());
    show(&model, args, &metrics, kept, loaded, color)?;
    // A file that could not be written is reported last.
    written?;
    Ok(exit_code(args, &ran.outcome, &found))
}

/// A GPU counts nothing by itself.
fn refuse_uncounted(args: &RunArgs) -> Result<(), Failure> {
    let why = match (args.is_on_gpu(), &args.report.html) {
        (true, _) if !args.report.metrics.is_empty() => {
            "--metrics needs the simulator; `dslc verify` reads ncu's metrics"
        }
        (true, Some(_)) => "--html needs the simulator: the page shows its counts",
        (true, None) | (false, _) => return Ok(()),
    };
    Err(Failure::new(format!("a GPU run has no counts: {why}")))
}

/// Shows what is wrong with a program; `None` if it cannot run.
fn compiled(
    loaded: Loaded,
    args: &RunArgs,
    rules: &RuleSet,
    color: Color,
) -> Result<Option<Compiled>, Failure> {
    // What a run may prove is not said before.
    let (unsure, sure): (Vec<_>, Vec<_>) = loaded
        .diagnostics
        .iter()
        .cloned()
        .partition(|diagnostic| is_about_barriers(diagnostic) && !loaded.has_errors());
    if loaded.has_errors() && is_host_alone(args, rules) {
        output::err(
            "dslc: the kernels of this program are understood, its host code is not: \
             `dslc run --host native` has clang compile it\n",
        );
    }
    show_messages(&sure, &loaded.map, color, Severity::Warning);
    if loaded.has_errors() {
        match args.report.format {
            Format::Sarif => print_json(&sarif::of_check(&loaded.diagnostics, &loaded.map))?,
            Format::Json => print_json(&json::not_run(
                &args.source.file.display().to_string(),
                rules,
                check::messages(&loaded),
            ))?,
            Format::Text => {}
        }
        return Ok(None);
    }
    loaded.report_left_out();
    let program = loaded.program()?;
    claim(args, &loaded)?;
    let wanted = args.report.kernel.as_ref();
    let kernel = wanted.map(|wanted| kernel_of(wanted, program.module()));
    Ok(Some(Compiled {
        kernel: kernel.transpose()?,
        loaded,
        program,
        unsure,
    }))
}

/// Whether all that is wrong with a program is its host code.
fn is_host_alone(args: &RunArgs, rules: &RuleSet) -> bool {
    let kernels = SourceArgs {
        kernels: true,
        ..args.source.clone()
    };
    load_for(&kernels, cuda_arch(rules)).is_ok_and(|loaded| {
        let mut understood = loaded.kernels.iter().map(|kernel| kernel.reason.is_none());
        !loaded.kernels.is_empty() && understood.all(|is| is)
    })
}

impl Compiled {
    /// Shows the messages that the run might have proved and did not.
    fn show_unproved(&self, found: &[Found], color: Color) {
        let (module, map) = (self.program.module(), &self.loaded.map);
        let unsure = self.unsure.iter();
        let unproved: Vec<Diagnostic> = unsure
            .filter(|diagnostic| !is_proved(diagnostic, found, module, map))
            .cloned()
            .collect();
        show_messages(&unproved, map, color, Severity::Warning);
    }
}

fn machine(args: &RunArgs, rules: RuleSet, stop: &StopFlag) -> MachineConfig {
    MachineConfig {
        checks: args.wanted_checks(),
        order: args.wanted_order(),
        both_orders: args.wanted_orders(),
        // What is compared with a GPU stops where a GPU stops.
        keep_going: !args.checking.stop_at_first
            && args.observer.record.is_none()
            && !args.is_on_gpu(),
        trace: args.observer.trace.is_some(),
        ..execute::machine(rules, &args.program, stop)
    }
}

/// Which launches' accesses are shown.
fn tables(args: &RunArgs) -> Tables {
    match (args.report.launches, &args.report.kernel) {
        (Some(Launches::All), _) => Tables::Each,
        (Some(Launches::Folded), _) | (None, Some(_)) => Tables::Folded,
        (None, None) => Tables::None,
    }
}

fn open_device(args: &RunArgs, machine: &MachineConfig) -> Result<Box<dyn Device>, Failure> {
    if !args.is_on_gpu() {
        return Ok(Box::new(Simulator::new(machine.clone())));
    }
    Ok(Box::new(execute::open_gpu(GpuOptions {
        opt_level: args.opt_level,
        timing: !args.report.quiet || args.observer.record.is_some(),
        like_simulator: args.observer.record.is_some(),
        ..GpuOptions::default()
    })?))
}

fn streams(args: &RunArgs, module: &Arc<Module>) -> Streams {
    Streams {
        module: module.clone(),
        program_out: match args.report.format {
            Format::Text => ProgramOut::Through,
            Format::Json | Format::Sarif if args.is_on_gpu() => ProgramOut::Through,
            Format::Json => ProgramOut::Kept(Vec::new()),
            Format::Sarif => ProgramOut::Talk,
        },
        record: args.observer.record.is_some().then(Record::default),
        is_quiet: args.report.quiet,
        most_kept: MOST_KEPT,
        lost_bytes: 0,
        compared: may_cure(args).then(Vec::new),
        page: args.report.html.is_some().then(Vec::new),
    }
}

/// Runs the program; gives its streams, too, and what a GPU's driver printed, if that has to be kept.
fn execute(
    args: &RunArgs,
    what: &What<'_>,
    program: &Program,
    device: &mut dyn Device,
    machine: &MachineConfig,
    watch: &Watch,
) -> Result<(Ran, Streams, Option<Vec<u8>>), Failure> {
    // On a GPU the driver prints what kernels print: all of standard output has to be kept.
    let capture = match args.report.format {
        Format::Json | Format::Sarif if args.is_on_gpu() => Some(Capture::start()?),
        Format::Json | Format::Sarif | Format::Text => None,
    };
    let mut io = streams(args, program.module());
    watch.runs(args.is_on_gpu())?;
    let bar = (!args.is_on_gpu()).then(|| progress::show(&machine.progress));
    let ran = execute::execute(what, program, device, &mut io);
    drop(bar);
    let captured = capture.map(Capture::end).transpose()?;
    let mut ran = ran?;
    io.tell_lost(&mut ran.outcome);
    Ok((ran, io, captured))
}

fn exit_code(args: &RunArgs, outcome: &Outcome, found: &[Found]) -> u8 {
    let mut notes = outcome.notes.iter();
    match outcome.stopped() {
        Some(why @ (StopReason::Interrupted | StopReason::Terminated)) => why.exit_code(),
        Some(StopReason::TimeOver(_)) => 1,
        None => u8::from(
            outcome.exit_code != 0
                || found.iter().any(|found| fails(found, args.fail_on))
                || notes.any(|note| note.is_error && note.fault.is_none()),
        ),
    }
}

/// Looks for cures, or says that they were not looked for.
fn add_cures(model: &mut Model<'_>, wanted: Cures, stdout: &[u8], prover: &Prover<'_>) {
    let outcome = model.input.outcome;
    if !prove::is_wanted(wanted, outcome) {
        if wanted == Cures::Auto {
            let file = model.input.program;
            model.hint = Some(format!(
                "`dslc fix {file}` looks for cures and proves them; after long runs dslc does not do so by itself"
            ));
        }
    } else if outcome.stopped().is_none() {
        let cures = prove::cures(model, stdout, prover.clone());
        model.propose(cures);
    }
}

/// The same run by the rules of another architecture.
fn run_by(rules: RuleSet, prover: &Prover<'_>) -> Result<Other, Failure> {
    let mut prover = prover.clone();
    prover.machine.rules = rules;
    match prover.run(&[]) {
        Some(run) => Ok(Other {
            rules,
            outcome: run.outcome,
        }),
        None => Err(Failure::new(format!(
            "the run for {} did not end: the program prints too much, or was stopped",
            rules.arch
        ))),
    }
}

/// Writes the files that are asked for. All are tried; the error is the first.
fn write_files(
    args: &RunArgs,
    model: &Model<'_>,
    io: &mut Streams,
    unsaved: Option<Failure>,
) -> Result<(), Failure> {
    let Input {
        outcome,
        findings,
        module,
        ..
    } = model.input;
    let mut written = vec![unsaved.map_or(Ok(()), Err)];
    if let Some(path) = &args.known.write_baseline {
        written.push(baseline::write(&Baseline::of(findings), path));
    }
    if let (Some(path), Some(stdout)) = (&args.report.html, &io.page) {
        let page = html::page(model, stdout);
        let failed = |why| Failure::new(format!("cannot write `{}`: {why}", path.display()));
        written.push(files::write(path, page.as_bytes()).map_err(failed));
    }
    if let Some(path) = &args.observer.trace {
        written.push(trace::write(outcome, module, path));
    }
    if let (Some(path), Some(mut record)) = (&args.observer.record, io.record.take()) {
        record.end = Some(End::new(outcome, findings));
        written.push(record::write(&record, path));
    }
    written.into_iter().collect()
}

/// What the program printed, as far as the report has it.
fn kept_output<'a>(format: Format, out: &'a ProgramOut, captured: Option<&'a [u8]>) -> &'a [u8] {
    match (out, captured) {
        (ProgramOut::Kept(bytes), _) => bytes,
        (ProgramOut::Through, Some(bytes)) if format == Format::Sarif => {
            output::err(&String::from_utf8_lossy(bytes));
            &[]
        }
        (ProgramOut::Through, Some(bytes)) => bytes,
        (ProgramOut::Through | ProgramOut::Talk, _) => &[],
    }
}

/// Whether a message warns of a barrier that some threads may not reach.
fn is_about_barriers(diagnostic: &Diagnostic) -> bool {
    matches!(
        diagnostic.code,
        Code::BarrierUnderCondition | Code::BarrierInUnevenLoop | Code::BarrierAfterReturn
    )
}

/// Whether a run found at that line what a message warned of.
fn is_proved(diagnostic: &Diagnostic, found: &[Found], module: &Module, map: &SourceMap) -> bool {
    let span = map.use_site(diagnostic.primary.span);
    let file = map.file(span.file);
    let line = file.line_column(span.start).0;
    let mut sides = found
        .iter()
        .filter(|found| found.code == Code::DivergentBarrier)
        .flat_map(|found| &found.sides);
    sides.any(|side| {
        let loc = module.loc(side.loc);
        loc.line == line && module.files.get(loc.file as usize) == Some(&file.name)
    })
}

/// Whether cures can be looked for: the simulator runs to the end, and a report says of them.
fn may_cure(args: &RunArgs) -> bool {
    let is_report =
        args.report.metrics.is_empty() && !args.report.quiet || args.report.html.is_some();
    let is_whole = args.observer.record.is_none()
        && args.observer.trace.is_none()
        && !args.checking.stop_at_first;
    !args.is_on_gpu() && args.cures != Cures::Never && is_report && is_whole
}

/// No file that the run reads is written, and none twice. The baseline may be: it is read before anything runs.
fn claim(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let mut claims = Claims::default();
    claims.reads_program(&loaded.read);
    for text in &args.program.buffer {
        // A wrong one is reported when the buffer is made.
        if let Ok(spec) = BufferSpec::parse(text)
            && let BufferSource::File(path) = spec.source
        {
            claims.reads(Path::new(&path), "the file of a buffer");
        }
    }
    if let Some(path) = &args.known.write_baseline {
        claims.writes(path, "--write-baseline")?;
    }
    if let Some(path) = &args.known.baseline {
        claims.reads(path, "the baseline to read");
    }
    if let Some(path) = &args.report.html {
        claims.writes(path, "--html")?;
    }
    let saved = args.save.iter().filter_map(|text| text.split_once('='));
    for (name, path) in saved {
        claims.writes(Path::new(path), &format!("--save {name}"))?;
    }
    for (path, option) in [
        (&args.observer.trace, "--trace"),
        (&args.observer.record, "--record"),
    ] {
        if let Some(path) = path {
            claims.writes(path, option)?;
        }
    }
    Ok(())
}

/// The name in full of the kernel that `--kernel` asks for.
fn kernel_of(wanted: &str, module: &Module) -> Result<String, Failure> {
    let mut kernels = module.kernels();
    let found = kernels.find(|(_, function)| same_kernel(&function.name, wanted));
    let name = found.map(|(_, function)| function.name.clone());
    name.ok_or_else(|| {
        let why = no_such_kernel(wanted, module);
        Failure::new(format!("--kernel {wanted}: {why}"))
    })
}

/// Whether a finding makes the exit code 1.
fn fails(found: &Found, least: FailOn) -> bool {
    let least = match least {
        FailOn::Error => interp::Severity::Error,
        FailOn::Warning => interp::Severity::Warning,
        FailOn::Note => interp::Severity::Note,
    };
    found.severity >= least && !found.muted
}

/// Prints what was asked for: findings to stderr, the report to stdout.
fn show(
    model: &Model<'_>,
    args: &RunArgs,
    metrics: &[&'static interp::metrics::Metric],
    kept: &[u8],
    loaded: &Loaded,
    color: Color,
) -> Result<(), Failure> {
    let input = model.input;
    let style = text::Style {
        columns: output::columns(),
        color: output::use_color_out(color),
    };
    let color = output::use_color(color);
    let remarks = |(_, found): &(usize, &Found)| !args.report.quiet || found.kind != "leak";
    let shown = input.findings.iter().enumerate().filter(remarks);
    let shown: Vec<Found> = shown
        .map(|(at, found)| with_cure(model, at, found))
        .collect();
    let messages = findings::render::all(
        &shown,
        input.module,
        input.map,
        color,
        output::message_columns(),
    );
    output::err(&messages);
    match args.report.format {
        Format::Json => print_json(&json::report(model, kept))?,
        Format::Sarif => print_json(&sarif::of_run(model, &loaded.diagnostics))?,
        Format::Text if !metrics.is_empty() => {
            output::out(nvprof::table(input, metrics).as_bytes())
        }
        Format::Text if args.report.quiet => {}
        Format::Text if input.gpu.is_some() => {
            let report = gpu::report(input, input.gpu.unwrap_or_default());
            if !report.is_empty() {
                output::out(format!("\n{report}").as_bytes());
            }
        }
        Format::Text => {
            let report = text::report(model, style);
            if !report.is_empty() {
                output::out(format!("\n{report}").as_bytes());
            }
        }
    }
    let code = input.outcome.exit_code;
    if code != 0 && input.outcome.stopped().is_none() {
        output::err(&format!("the program ended with exit code {code}\n"));
    }
    Ok(())
}

/// A finding with the cure that was proved, if there is one: in the place of advice that is a guess about the same.
fn with_cure(model: &Model<'_>, at: usize, found: &Found) -> Found {
    let mut found = found.clone();
    let mut cures = model.suggestions.iter();
    if let Some(cure) = cures.find(|cure| cure.verified && cure.findings_removed.contains(&at)) {
        let proved = format!("{} (proved by a run)", cure.text);
        let is_guess = matches!(found.barrier, Some(Barrier::Block | Barrier::Warp));
        found.advice = Some(match found.advice.filter(|_| !is_guess) {
            // What comes behind its first words is a guess, too.
            Some(advice) => {
                let fact = advice.split([';', ':']).next().unwrap_or_default();
                format!("{proved}; {fact}")
            }
            None => proved,
        });
    }
    found
}

fn print_json(object: &impl serde::Serialize) -> Result<(), Failure> {
    // Not as one text: the launches of a long run are more than needs to be in memory at one time.
    let mut pieces = BufWriter::with_capacity(1 << 20, output::Product);
    serde_json::to_writer_pretty(&mut pieces, object)?;
    writeln!(pieces)?;
    Ok(pieces.flush()?)
}

/// The rule sets of `--arch a,b` or `--arch all`: the first is the report's.
fn archs(args: &RunArgs) -> Result<Vec<RuleSet>, Failure> {
    let wanted = args.source.arch.as_deref().unwrap_or(DEFAULT_ARCH);
    let names: Vec<String> = match wanted {
        // The report's own is the one that is measured.
        "all" => {
            let others = Arch::ALL.iter().map(Arch::to_string);
            let others = others.filter(|name| name != DEFAULT_ARCH);
            std::iter::once(DEFAULT_ARCH.to_string())
                .chain(others)
                .collect()
        }
        several => several
            .split(',')
            .map(|name| name.trim().to_string())
            .collect(),
    };
    let of = |name: &String| match wanted {
        // Only Kepler knows banks of 8 bytes.
        "all" => Ok(RuleSet::new(name.parse::<Arch>()?, BankWidth::Four)?),
        _ => rules(args.source.arch.is_some().then_some(name), &args.rules),
    };
    let all = names
        .iter()
        .map(of)
        .collect::<Result<Vec<RuleSet>, Failure>>()?;
    if args.rules.rules.is_some() && (all.len() > 1 || args.is_on_gpu()) {
        return Err(Failure::new(
            "--rules works only in the simulator and with one architecture",
        ));
    }
    let alone = args.is_on_gpu()
        || args.observer.record.is_some()
        || args.observer.trace.is_some()
        || !args.report.metrics.is_empty();
    if all.len() > 1 && alone {
        return Err(Failure::new(
            "several architectures need the simulator's report: remove --device gpu, --metrics, --record or --trace",
        ));
    }
    Ok(all)
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
