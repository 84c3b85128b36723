//! `dslc run FILE`: compile, run on a device, report.

mod compiled;
mod show;
pub(super) mod split;

use std::{path::PathBuf, sync::Arc};

use interp::{
    MachineConfig, Program, StopFlag, StopReason,
    rules::{Arch, BankWidth, RuleSet},
};
use ir::Module;
use runtime::{
    device::{Device, gpu::GpuOptions, simulator::Simulator},
    standalone,
};

use cure::Runner;
use report::{
    Input, Model, Tables,
    architectures::Other,
    findings::{self, Found},
    nvprof,
    require::Judged,
};

use self::{
    compiled::{ByClang, Compiled, compiled},
    show::{kept_output, show, write_files},
};
use super::native;
use crate::{
    args::{Color, Counts, Cures, FailOn, Format, HostChoice, Launches, RunArgs},
    baseline,
    capture::Capture,
    execute::{self, MAX_KEPT, ProgramOut, Ran, Streams, What},
    failure::Failure,
    output, progress,
    prove::{self, Prover},
    record::Record,
    require,
    rules::{DEFAULT_ARCH, rules},
    source::{cuda_arch, load_for},
    stopping::Watch,
};

pub(crate) fn run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    if args.report.metrics.iter().any(|name| name == "list") {
        output::out(nvprof::list().as_bytes());
        return Ok(0);
    }
    split::refuse(args)?;
    let is_no_file = |path: &&PathBuf| path.extension().is_none() && !path.exists();
    if let Some(word) = args.more.iter().find(is_no_file) {
        let (file, word) = (args.source.file.display(), word.display());
        return Err(Failure::new(format!(
            "cannot read `{word}`: there is no such file; the program's own arguments come after `--`: `dslc run {file} -- {word}`"
        )));
    }
    if native::is_wanted(args) {
        return native::run(args, None, color);
    }
    if args.host == Some(HostChoice::Auto)
        && let Some(host) = needs_clang(args)?
    {
        return native::run(args, host.standard.as_deref(), color);
    }
    compile_and_run(args, color)
}

/// How clang has to compile the host code of a program, if it has to; says so in that case.
fn needs_clang(args: &RunArgs) -> Result<Option<ByClang>, Failure> {
    let rules = archs(args)?.remove(0);
    let loaded = load_for(&args.source, cuda_arch(&rules))?;
    let needs = compiled::clang_could(&loaded, args, &rules);
    if needs.is_some() {
        output::err("dslc: clang compiles the host code, which dslc does not understand\n");
    }
    Ok(needs)
}

/// Compiles a program, runs it, looks for cures, and shows and writes the requested outputs. Returns the exit code.
pub(super) fn compile_and_run(args: &RunArgs, color: Color) -> Result<u8, Failure> {
    refuse_uncounted(args)?;
    let metrics = nvprof::resolve(&args.report.metrics)?;
    let Some(requirements) = require::parse(&args.require, color) else {
        return Ok(2);
    };
    let Some(shared) = require::parse(&args.require_if_any, color) else {
        return Ok(2);
    };
    let mut archs = archs(args)?;
    let rules = archs.remove(0);
    let mut source = args.source.clone();
    for text in args.report.kernel.iter().chain(&args.program.launch) {
        source.instantiate(text);
    }
    let watch = Watch::start(args.program.timeout);
    let line = progress::busy("compiling");
    let loaded = load_for(&source, cuda_arch(&rules));
    drop(line);
    let loaded = loaded?;
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
    split::check(args, loaded)?;
    let mut device = open_device(args, &machine, module)?;
    let what = What {
        program: &args.program,
        save: &args.save,
        keep_going: machine.keep_going,
        stop: watch.flag(),
    };
    let ran = execute(args, &what, program, &mut *device, &machine, &watch);
    let (mut ran, mut io, captured) = ran.map_err(|failure| match module.kernels().next() {
        Some(_) => failure,
        None => only_templates(args, &rules).unwrap_or(failure),
    })?;
    let told = (&mut ran.outcome, &mut io);
    let blocks = split::ended(args, &mut *device, told, (loaded, module))?;
    let line = |loc| report::line(module, &loaded.map, loc);
    let mut found = findings::all(&ran.outcome, module, &line);
    let prover = Prover {
        source: &source,
        module,
        map: &loaded.map,
        machine,
        what: What { save: &[], ..what },
        left: None,
        compiled: false,
    };
    if let Some(stdout) = &io.compared {
        let line = progress::busy("comparing orders");
        prove::leave_out_like(&mut found, (stdout, ran.outcome.exit_code), &prover);
        drop(line);
    }
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
    model.blocks = blocks;
    if let Some(stdout) = io.compared.as_ref().filter(|_| may_cure(args)) {
        add_cures(&mut model, args.cures, stdout, &prover);
    }
    for rules in archs {
        model.others.push(run_by(rules, &prover)?);
    }
    watch.reports();
    model.requirements = require::judge(&requirements, &model);
    let shared = require::judge(&shared, &model).into_iter();
    model.requirements.extend(shared.map(Judged::if_any));
    model.metrics = metrics;
    let written = write_files(args, &model, &mut io, ran.unsaved);
    let kept = kept_output(args.report.format, &io.program_out, captured.as_deref());
    show(&model, args, kept, &compiled.said(&found), color)?;
    require::show(&model, color);
    // Requirements and tables are about the wrong counts then.
    let uncounted = match execute::wanted_counts(args, rules.arch)? {
        Counts::Compiled => execute::not_compiled(model.input.outcome),
        Counts::Written | Counts::Both => None,
    };
    if let Some(why) = &uncounted {
        output::err(&format!("dslc: {why}\n"));
    }
    // A file that could not be written is reported last.
    written?;
    Ok(exit_code(args, &model).max(u8::from(uncounted.is_some())))
}

/// An example launch, for a program whose only kernels are templates.
fn only_templates(args: &RunArgs, rules: &RuleSet) -> Option<Failure> {
    let mut source = args.source.clone();
    source.kernels = true;
    let loaded = load_for(&source, cuda_arch(rules)).ok()?;
    let template = loaded.kernels.iter().find(|kernel| kernel.with.is_some())?;
    let module = loaded.module.as_ref()?;
    let mut kernels = module.kernels();
    let (_, instance) = kernels.find(|(_, kernel)| kernel.name.starts_with(&template.name))?;
    Some(Failure::new(format!(
        "`{}` is a template: launch an instance, e.g. {}",
        template.name,
        standalone::usage(instance)
    )))
}

/// Refuses options that need counts on a GPU, which counts nothing itself.
fn refuse_uncounted(args: &RunArgs) -> Result<(), Failure> {
    let why = match (args.is_on_gpu(), &args.report.html) {
        (true, _) if !args.report.metrics.is_empty() => {
            "a GPU run has no counts: --metrics needs the simulator; `dslc verify` reads ncu's metrics"
        }
        (true, _) if args.wanted_schedules() > 0 || args.checking.schedule.is_some() => {
            "--schedule, --schedules and --memory weak need the simulator: a GPU runs threads as it likes"
        }
        (true, _) if !args.require.is_empty() || !args.require_if_any.is_empty() => {
            "a GPU run has no counts: --require needs the simulator"
        }
        (true, _) if args.checking.count_only => {
            "a GPU run has no counts: --count-only needs the simulator"
        }
        (true, _) if args.checking.asks_for_compiled() => {
            "a GPU run has no counts: --counts needs the simulator"
        }
        (true, Some(_)) => {
            "a GPU run has no counts: --html needs the simulator: the page shows its counts"
        }
        (true, None) | (false, _) => return Ok(()),
    };
    Err(Failure::new(why))
}

/// The machine that the options describe.
pub(crate) fn machine(args: &RunArgs, rules: RuleSet, stop: &StopFlag) -> MachineConfig {
    MachineConfig {
        checks: args.wanted_checks(),
        order: args.wanted_order(),
        both_orders: args.wanted_orders(),
        schedule: args.checking.schedule.unwrap_or_default(),
        schedules: (args.wanted_schedules(), args.checking.seed),
        // A run that is compared with a GPU stops where a GPU stops.
        keep_going: !args.checking.stop_at_first
            && args.observer.record.is_none()
            && !args.is_on_gpu(),
        trace: args.observer.trace.is_some(),
        count_only: args.checking.count_only,
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

fn open_device(
    args: &RunArgs,
    machine: &MachineConfig,
    module: &Module,
) -> Result<Box<dyn Device>, Failure> {
    if !args.is_on_gpu() {
        let simulator = Simulator::new(machine.clone());
        let counts = execute::wanted_counts(args, machine.rules.arch)?;
        let simulator = execute::compiling(simulator, args, counts, machine.rules.arch);
        return Ok(Box::new(split::device(args, simulator, module)?));
    }
    Ok(Box::new(execute::open_gpu(GpuOptions {
        opt_level: args.opt_level,
        timing: args.report.launches.is_some() || args.observer.record.is_some(),
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
        most_kept: MAX_KEPT,
        lost_bytes: 0,
        compared: (may_cure(args) || args.wanted_schedules() > 0).then(Vec::new),
        page: args.report.html.is_some().then(Vec::new),
    }
}

/// Runs the program. Also returns its streams, and the output of a GPU's driver if that has to be kept.
fn execute(
    args: &RunArgs,
    what: &What<'_>,
    program: &Program,
    device: &mut dyn Device,
    machine: &MachineConfig,
    watch: &Watch,
) -> Result<(Ran, Streams, Option<Vec<u8>>), Failure> {
    // On a GPU the driver prints what kernels print, so all of standard output has to be kept.
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
    io.note_lost(&mut ran.outcome);
    Ok((ran, io, captured))
}

fn exit_code(args: &RunArgs, model: &Model<'_>) -> u8 {
    let Input {
        outcome, findings, ..
    } = model.input;
    let mut notes = outcome.notes.iter();
    match outcome.stopped() {
        Some(why @ (StopReason::Interrupted | StopReason::Terminated)) => why.exit_code(),
        Some(StopReason::TimeOver(_)) => 1,
        None => u8::from(
            outcome.exit_code != 0
                || findings.iter().any(|found| fails(found, args.fail_on))
                || model.requirements.iter().any(|judged| !judged.met)
                || notes.any(|note| note.is_error && note.fault.is_none()),
        ),
    }
}

/// Looks for cures, or says that none were looked for.
fn add_cures(model: &mut Model<'_>, wanted: Cures, stdout: &[u8], prover: &Prover<'_>) {
    let outcome = model.input.outcome;
    if !prove::is_wanted(wanted, outcome) {
        if wanted == Cures::Auto {
            let file = model.input.program;
            model.hint = Some(format!(
                "`dslc fix {file}` looks for cures; after long runs dslc does not do so by itself"
            ));
        }
    } else if outcome.stopped().is_none() {
        let line = progress::busy("looking for cures");
        let cures = prove::cures(model, stdout, wanted, prover.clone());
        drop(line);
        model.propose(cures);
    }
}

/// The same run with the rules of another architecture.
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

/// Whether a table of metrics replaces the report. The JSON report has both.
fn shows_metrics_only(args: &RunArgs) -> bool {
    !args.report.metrics.is_empty() && args.report.format != Format::Json
}

/// Whether cures can be looked for: the simulator runs to the end, and there is a report that shows them.
fn may_cure(args: &RunArgs) -> bool {
    let is_report = !shows_metrics_only(args) && !args.report.quiet || args.report.html.is_some();
    let is_whole = args.observer.record.is_none()
        && args.observer.trace.is_none()
        && !args.checking.stop_at_first
        && !args.checking.count_only
        && args.blocks.is_none();
    !args.is_on_gpu() && args.cures != Cures::Never && is_report && is_whole
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

/// The rule sets of `--arch a,b` or `--arch all`. The report is about the first.
fn archs(args: &RunArgs) -> Result<Vec<RuleSet>, Failure> {
    let wanted = args.source.arch.as_deref().unwrap_or(DEFAULT_ARCH);
    let names: Vec<String> = match wanted {
        // The first is the architecture whose counts are measured.
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
        // Only Kepler has a bank width of 8 bytes.
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
        || shows_metrics_only(args);
    if all.len() > 1 && alone {
        return Err(Failure::new(
            "several architectures need the simulator's report: remove --device gpu, --metrics, --record or --trace",
        ));
    }
    Ok(all)
}
