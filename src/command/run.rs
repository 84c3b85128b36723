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
    MachineConfig, Program, StopReason,
    finding::Barrier,
    rules::{Arch, BankWidth, RuleSet},
};
use runtime::{
    buffer::{BufferSource, BufferSpec},
    device::{Device, gpu::GpuOptions, simulator::Simulator},
    standalone::same_kernel,
};

use cure::Runner;
use report::{
    Input, Model, Tables,
    architectures::Other,
    findings::{self, Found, baseline::Baseline},
    gpu, html, json, nvprof, sarif, text,
};

use super::check;
use crate::{
    args::{Color, Cures, DeviceChoice, FailOn, Format, Launches, RunArgs},
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

pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    let on_gpu = args.device == DeviceChoice::Gpu;
    if args.metrics.iter().any(|name| name == "list") {
        output::out(nvprof::list().as_bytes());
        return Ok(0);
    }
    if on_gpu && !args.metrics.is_empty() {
        return Err(Failure::new(
            "a GPU counts nothing by itself: --metrics needs the simulator, or see `dslc verify`, which asks ncu",
        ));
    }
    if on_gpu && args.html.is_some() {
        return Err(Failure::new(
            "a GPU counts nothing by itself: --html needs the simulator, whose counts are what the page shows",
        ));
    }
    // What is compared with a GPU stops where a GPU stops.
    let keep_going = !args.stop_at_first && args.record.is_none() && !on_gpu;
    let metrics = nvprof::resolve(&args.metrics)?;
    let mut archs = archs(args, on_gpu)?;
    let rules = archs.remove(0);
    let mut source = args.source.clone();
    for text in args.kernel.iter().chain(&args.launch) {
        source.instantiate(text);
    }
    let watch = Watch::start(args.timeout);
    let loaded = load_for(&source, cuda_arch(&rules))?;
    let baseline = args.baseline.as_deref().map(baseline::read).transpose()?;
    // What a run may prove is not said before.
    let (unsure, sure): (Vec<_>, Vec<_>) = loaded
        .diagnostics
        .iter()
        .cloned()
        .partition(|diagnostic| is_about_barriers(diagnostic) && !loaded.has_errors());
    show_messages(&sure, &loaded.map, color, Severity::Warning);
    if loaded.has_errors() {
        match args.format {
            Format::Sarif => print_json(&sarif::of_check(&loaded.diagnostics, &loaded.map))?,
            Format::Json => print_json(&json::not_run(
                &args.source.file.display().to_string(),
                &rules,
                check::messages(&loaded),
            ))?,
            Format::Text => {}
        }
        return Ok(1);
    }
    loaded.report_left_out();
    let Some(module) = loaded.module.clone() else {
        return Err(Failure::new("the front end made no program"));
    };
    claim(args, &loaded)?;
    let shown = args
        .kernel
        .as_ref()
        .map(|wanted| kernel_of(wanted, &module))
        .transpose()?;
    let program = Program::new(Arc::new(module));
    let machine = execute::machine(
        rules,
        args.jobs,
        args.limit,
        args.wanted_checks(),
        (args.wanted_order(), args.wanted_orders()),
        (keep_going, args.trace.is_some()),
        watch.flag(),
    );
    let mut device: Box<dyn Device> = if on_gpu {
        Box::new(execute::open_gpu(GpuOptions {
            opt_level: args.opt_level,
            timing: !args.quiet || args.record.is_some(),
            like_simulator: args.record.is_some(),
            ..GpuOptions::default()
        })?)
    } else {
        Box::new(Simulator::new(machine.clone()))
    };
    // On a GPU the driver prints what kernels print: all of standard output has to be kept.
    let capture = match args.format {
        Format::Json | Format::Sarif if on_gpu => Some(Capture::start()?),
        Format::Json | Format::Sarif | Format::Text => None,
    };
    let mut io = Streams {
        module: program.module().clone(),
        program_out: match args.format {
            Format::Text => ProgramOut::Through,
            Format::Json | Format::Sarif if on_gpu => ProgramOut::Through,
            Format::Json => ProgramOut::Kept(Vec::new()),
            Format::Sarif => ProgramOut::Talk,
        },
        record: args.record.is_some().then(Record::default),
        is_quiet: args.quiet,
        most_kept: MOST_KEPT,
        lost_bytes: 0,
        compared: may_cure(args, on_gpu).then(Vec::new),
        page: args.html.is_some().then(Vec::new),
    };
    let what = What {
        args: &args.args,
        launch: &args.launch,
        buffer: &args.buffer,
        print: &args.print,
        save: &args.save,
        limit: args.limit,
        keep_going,
        stop: watch.flag(),
        memory: args.memory,
    };
    watch.runs(on_gpu)?;
    let bar = (!on_gpu)
        .then(|| progress::show(&machine.progress))
        .flatten();
    let outcome = execute::execute(&what, &program, &mut *device, &mut io);
    drop(bar);
    let captured = capture.map(Capture::end).transpose()?;
    let Ran {
        mut outcome,
        unsaved,
    } = outcome?;
    io.tell_lost(&mut outcome);
    let line = |loc| report::line(program.module(), &loaded.map, loc);
    let mut found = findings::all(&outcome, program.module(), &line);
    let unproved: Vec<Diagnostic> = unsure
        .into_iter()
        .filter(|diagnostic| !is_proved(diagnostic, &found, program.module(), &loaded.map))
        .collect();
    show_messages(&unproved, &loaded.map, color, Severity::Warning);
    if let Some(baseline) = &baseline {
        baseline.mute(&mut found);
    }
    let failed = outcome.exit_code != 0
        || found.iter().any(|found| fails(found, args.fail_on))
        || outcome
            .notes
            .iter()
            .any(|note| note.is_error && note.fault.is_none());
    let exit_code = match outcome.stopped() {
        Some(why @ (StopReason::Interrupted | StopReason::Terminated)) => why.exit_code(),
        Some(StopReason::TimeOver(_)) => 1,
        None => u8::from(failed),
    };
    let input = Input {
        program: &program.module().name,
        map: &loaded.map,
        module: program.module(),
        // A program may have chosen another bank width.
        rules: &match rules.given_by {
            Some(_) => rules,
            None => RuleSet::new(rules.arch, device.bank_width())?,
        },
        outcome: &outcome,
        gpu: on_gpu.then_some(device.info().name.as_str()),
        findings: &found,
        kernel: shown.as_deref(),
        tables: match (args.launches, &args.kernel) {
            (Some(Launches::All), _) => Tables::Each,
            (Some(Launches::Folded), _) | (None, Some(_)) => Tables::Folded,
            (None, None) => Tables::None,
        },
    };
    let mut model = Model::new(&input);
    if let Some(stdout) = &io.compared
        && prove::is_wanted(args.cures, &outcome)
        && outcome.stopped().is_none()
    {
        let prover = Prover {
            source: &source,
            map: &loaded.map,
            machine: machine.clone(),
            what: What { save: &[], ..what },
        };
        let cures = prove::cures(&model, stdout, prover);
        model.propose(cures);
    }
    if io.compared.is_some() && args.cures == Cures::Auto && !prove::is_wanted(args.cures, &outcome)
    {
        let file = &program.module().name;
        model.hint = Some(format!(
            "`dslc fix {file}` looks for cures and proves them: after a run as long as this, it is not done unasked"
        ));
    }
    for rules in archs {
        let mut prover = Prover {
            source: &source,
            map: &loaded.map,
            machine: MachineConfig {
                rules,
                ..machine.clone()
            },
            what: What { save: &[], ..what },
        };
        let Some(run) = prover.run(&[]) else {
            return Err(Failure::new(format!(
                "the run for {} did not come to its end: the program prints too much, or was stopped",
                rules.arch
            )));
        };
        model.others.push(Other {
            rules,
            outcome: run.outcome,
        });
    }
    watch.reports();
    let mut written = vec![unsaved.map_or(Ok(()), Err)];
    if let Some(path) = &args.write_baseline {
        written.push(baseline::write(&Baseline::of(&found), path));
    }
    if let (Some(path), Some(stdout)) = (&args.html, &io.page) {
        let page = html::page(&model, stdout);
        let failed = |why| Failure::new(format!("cannot write `{}`: {why}", path.display()));
        written.push(files::write(path, page.as_bytes()).map_err(failed));
    }
    if let Some(path) = &args.trace {
        written.push(trace::write(&outcome, program.module(), path));
    }
    if let (Some(path), Some(mut record)) = (&args.record, io.record) {
        record.end = Some(End::new(&outcome, &found));
        written.push(record::write(&record, path));
    }
    let kept = match (&io.program_out, &captured) {
        (ProgramOut::Kept(bytes), _) => bytes.as_slice(),
        (ProgramOut::Through, Some(bytes)) if args.format == Format::Sarif => {
            output::err(&String::from_utf8_lossy(bytes));
            &[]
        }
        (ProgramOut::Through, Some(bytes)) => bytes.as_slice(),
        (ProgramOut::Through | ProgramOut::Talk, _) => &[],
    };
    show(&model, args, &metrics, kept, &loaded, color)?;
    // What could not be written is told when all else was.
    written.into_iter().collect::<Result<(), Failure>>()?;
    Ok(exit_code)
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
fn may_cure(args: &RunArgs, on_gpu: bool) -> bool {
    let is_report = args.metrics.is_empty() && !args.quiet || args.html.is_some();
    let is_whole = args.record.is_none() && args.trace.is_none() && !args.stop_at_first;
    !on_gpu && args.cures != Cures::Never && is_report && is_whole
}

/// No file that the run reads is written, and none twice. The baseline may be: it is read before anything runs.
fn claim(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let mut claims = Claims::default();
    claims.reads_program(&loaded.read);
    for text in &args.buffer {
        // One that is wrong is told of when it is made.
        if let Ok(spec) = BufferSpec::parse(text)
            && let BufferSource::File(path) = spec.source
        {
            claims.reads(Path::new(&path), "a file that a buffer is read from");
        }
    }
    if let Some(path) = &args.write_baseline {
        claims.writes(path, "--write-baseline")?;
    }
    if let Some(path) = &args.baseline {
        claims.reads(path, "the baseline that is read");
    }
    if let Some(path) = &args.html {
        claims.writes(path, "--html")?;
    }
    let saved = args.save.iter().filter_map(|text| text.split_once('='));
    for (name, path) in saved {
        claims.writes(Path::new(path), &format!("--save {name}"))?;
    }
    for (path, option) in [(&args.trace, "--trace"), (&args.record, "--record")] {
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
    let remarks = |(_, found): &(usize, &Found)| !args.quiet || found.kind != "leak";
    let told = input.findings.iter().enumerate().filter(remarks);
    let told: Vec<Found> = told
        .map(|(at, found)| with_cure(model, at, found))
        .collect();
    let messages = findings::render::all(
        &told,
        input.module,
        input.map,
        color,
        output::message_columns(),
    );
    output::err(&messages);
    match args.format {
        Format::Json => print_json(&json::report(model, kept))?,
        Format::Sarif => print_json(&sarif::of_run(model, &loaded.diagnostics))?,
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
fn archs(args: &RunArgs, on_gpu: bool) -> Result<Vec<RuleSet>, Failure> {
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
    if args.rules.rules.is_some() && (all.len() > 1 || on_gpu) {
        return Err(Failure::new(
            "--rules says what the simulator counts by: not with --device gpu or several architectures",
        ));
    }
    let alone = on_gpu || args.record.is_some() || args.trace.is_some() || !args.metrics.is_empty();
    if all.len() > 1 && alone {
        return Err(Failure::new(
            "several architectures are compared in the simulator's report: not with --device gpu, --metrics, --record or --trace",
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
