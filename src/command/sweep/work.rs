//! Runs one configuration, and makes a row of the result.
//!
//! Configurations that differ only in arguments have the same program, which is compiled once. They come one after the other, so only few
//! programs are kept.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clap::Parser;
use interp::{Program, Severity as Grave, rules::RuleSet};
use ir::{
    diagnostic::{Severity, render},
    source::{Loader, SourceMap},
};
use runtime::host::Fault;
use serde_json::{Map, Value};

use super::{
    configuration::{Configuration, Template},
    measure,
    row::{Row, Status, hash},
    spec::{Kind, Spec},
};
use crate::{
    args::{Cli, Command, HostChoice, RunArgs},
    batch::{self, Deadlines, Ran},
    failure::Failure,
    rules::rules,
    source::{Files, cuda_arch, load_for},
};

/// Most programs kept: two for each thread, on a large machine.
const KEPT: usize = 64;

/// The compiled program, or the reason why it does not compile.
type Compiled = Result<(Program, SourceMap), (Status, String)>;

/// Works through a sweep; shared by all threads.
pub(super) struct Worker<'a> {
    spec: &'a Spec,
    timeout: Duration,
    deadlines: Deadlines,
    /// By what they are compiled from.
    programs: Mutex<Programs>,
    /// Hashes of the programs with all their includes, by path.
    sources: HashMap<String, String>,
    /// Nanoseconds that threads spent in runs, and in total.
    pub(super) simulated: AtomicU64,
    pub(super) spent: AtomicU64,
}

#[derive(Default)]
struct Programs {
    all: HashMap<String, Arc<OnceLock<Compiled>>>,
    order: VecDeque<String>,
}

/// A configuration in the form in which it runs.
struct Job {
    args: RunArgs,
    rules: RuleSet,
}

impl<'a> Worker<'a> {
    /// Reads the programs of a sweep.
    pub(super) fn new(
        spec: &'a Spec,
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Worker<'a>, Failure> {
        let mut sources = HashMap::new();
        let programs = spec.axes.iter().filter(|axis| axis.kind == Kind::Program);
        for value in programs.flat_map(|axis| &axis.values) {
            let path = value.text();
            let hash = source_hash(&spec.folder.join(&path), &spec.include)?;
            sources.insert(path, hash);
        }
        Ok(Worker {
            spec,
            timeout: spec.timeout.unwrap_or(timeout),
            deadlines: Deadlines::start(interrupted),
            programs: Mutex::default(),
            sources,
            simulated: AtomicU64::new(0),
            spent: AtomicU64::new(0),
        })
    }

    /// The key of a configuration: a hash of all that its row depends on.
    pub(super) fn key(&self, configuration: &Configuration) -> String {
        let spec = self.spec;
        let mut text = format!("dslc {}\n{}\n", env!("DSLC_VERSION"), spec.common_text);
        for (axis, value) in configuration.values(spec) {
            let value = value.text();
            if let Some(hash) = self
                .sources
                .get(&value)
                .filter(|_| axis.kind == Kind::Program)
            {
                text += &format!("{hash}\n");
            }
            text += &format!("{:?} {}={value:?}\n", axis.kind, axis.name);
        }
        hash(&text)
    }

    /// The row of a configuration that has not run yet.
    pub(super) fn row(&self, n: usize, key: String, configuration: &Configuration) -> Row {
        let several = configuration.values(self.spec);
        let several = several.filter(|(axis, _)| axis.values.len() > 1);
        let at: Map<String, Value> = several
            .map(|(axis, value)| {
                let value = serde_json::to_value(value).unwrap_or_default();
                (axis.name.clone(), value)
            })
            .collect();
        Row {
            n,
            key,
            at,
            status: Status::Ok,
            error: None,
            measured: Map::new(),
            findings: vec![],
        }
    }

    /// Runs a configuration.
    pub(super) fn run(&self, mut row: Row, configuration: &Configuration) -> Row {
        let begin = Instant::now();
        let done = self.job(configuration).map_err(|why| (Status::Launch, why));
        let done = done.and_then(|job| self.measured(&job, &mut row));
        if let Err((status, error)) = done {
            row.status = status;
            // On another machine the programs may have other paths.
            let name = configuration.text(self.spec, Kind::Program);
            let path = self.spec.folder.join(&name).display().to_string();
            let first = error.lines().next().unwrap_or_default();
            row.error = Some(first.replace(&path, &name));
        }
        add(&self.spent, begin);
        row
    }

    /// The configuration as options of `dslc run`.
    fn job(&self, configuration: &Configuration) -> Result<Job, String> {
        let spec = self.spec;
        let words = |text: &str| -> Result<Vec<String>, String> {
            let template = Template::parse(text, &spec.axes)?;
            let text = template.filled(&spec.axes, configuration)?;
            shlex::split(&text).ok_or_else(|| format!("`{text}`: a quotation mark is not closed"))
        };
        let mut line: Vec<String> = vec!["dslc".into(), "run".into()];
        line.push(format!("--memory={}", spec.memory));
        line.extend(words(&configuration.text(spec, Kind::Options))?);
        for (axis, value) in configuration.values(spec) {
            if axis.kind == Kind::Macro {
                line.push(format!("-D{}={}", axis.name, value.text()));
            }
        }
        for folder in &spec.include {
            line.push(format!("-I{}", folder.display()));
        }
        if spec.kernels_only {
            line.push("--kernels".into());
        }
        for (option, templates) in [("--launch", &spec.launch), ("--buffer", &spec.buffers)] {
            for template in templates {
                let text = template.filled(&spec.axes, configuration)?;
                line.push(format!("{option}={text}"));
            }
        }
        let program = spec.folder.join(configuration.text(spec, Kind::Program));
        line.push(program.display().to_string());
        line.push("--".into());
        line.extend(words(&configuration.text(spec, Kind::Args))?);
        let cli = Cli::try_parse_from(line).map_err(|why| {
            let text = why.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.trim_start_matches("error: ").to_string()
        })?;
        let Command::Run(mut args) = cli.command else {
            return Err("`options` are those of `dslc run`".to_string());
        };
        if args.blocks.is_some() {
            return Err("a sweep runs all blocks of a launch".to_string());
        }
        let may_compile = matches!(args.host, Some(HostChoice::Native | HostChoice::Auto));
        if args.is_on_gpu() || may_compile || !args.more.is_empty() {
            return Err("a sweep runs single files in the simulator".to_string());
        }
        for text in args.program.launch.clone() {
            args.source.instantiate(&text);
        }
        let arch = configuration.text(spec, Kind::Arch);
        let rules = rules(Some(&arch), &args.rules).map_err(|why| why.to_string())?;
        Ok(Job { args: *args, rules })
    }

    fn measured(&self, job: &Job, row: &mut Row) -> Result<(), (Status, String)> {
        let compiled = self.compiled(job);
        let compiled = compiled.get_or_init(|| compile(job));
        let (program, map) = compiled.as_ref().map_err(Clone::clone)?;
        let time = job.args.program.timeout.unwrap_or(self.timeout);
        let stop = self.deadlines.flag(time);
        let begin = Instant::now();
        let ran = batch::run(program, map, &job.args, job.rules, &stop);
        add(&self.simulated, begin);
        self.deadlines.ended(&stop);
        let ran = ran.map_err(|why| (Status::Launch, why.to_string()))?;
        row.findings = kinds(&ran);
        ended(&ran, program)?;
        let spec = self.spec;
        let kernel = spec.kernel.as_deref();
        let values = measure::values(&spec.measures, &spec.quantities, kernel, &ran);
        let named = spec.measures.iter().zip(values);
        row.measured = named
            .map(|((name, _), value)| (name.clone(), number(value)))
            .collect();
        // The cost of a program with errors has no meaning.
        match first_error(&ran, program) {
            Some(error) => Err((Status::Finding, error)),
            None => Ok(()),
        }
    }

    /// The slot of a program; the first thread that needs it compiles it.
    fn compiled(&self, job: &Job) -> Arc<OnceLock<Compiled>> {
        let key = format!("{:?} {}", job.args.source, cuda_arch(&job.rules));
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = programs.all.get(&key) {
            return known.clone();
        }
        let new = Arc::new(OnceLock::new());
        programs.all.insert(key.clone(), new.clone());
        programs.order.push_back(key);
        if programs.order.len() > KEPT
            && let Some(oldest) = programs.order.pop_front()
        {
            programs.all.remove(&oldest);
        }
        new
    }
}

fn add(sum: &AtomicU64, begin: Instant) {
    let nanos = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    sum.fetch_add(nanos, Ordering::Relaxed);
}

/// A count as a whole number.
fn number(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => Value::from(value as i64),
        Some(value) => Value::from(value),
        None => Value::Null,
    }
}

fn compile(job: &Job) -> Compiled {
    let failed = |why: Failure| (Status::Compile, why.to_string());
    let loaded = load_for(&job.args.source, cuda_arch(&job.rules)).map_err(failed)?;
    let mut all = loaded.diagnostics.iter();
    if let Some(error) = all.find(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err((Status::Compile, render::short(error, &loaded.map)));
    }
    let program = loaded.program().map_err(failed)?;
    Ok((program, loaded.map))
}

/// Kinds of errors and warnings, each once.
fn kinds(ran: &Ran) -> Vec<String> {
    let grave = ran
        .found
        .iter()
        .filter(|found| found.severity >= Grave::Warning);
    let mut kinds: Vec<String> = grave.map(|found| found.kind.to_string()).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// The first error that was found, with its line.
fn first_error(ran: &Ran, program: &Program) -> Option<String> {
    let error = ran.found.iter().find(|found| found.is_error())?;
    let line = error
        .sides
        .first()
        .map_or(0, |side| program.module().loc(side.loc).line);
    Some(match line {
        0 => error.message.clone(),
        line => format!("line {line}: {}", error.message),
    })
}

/// Why a run did not end well.
fn ended(ran: &Ran, program: &Program) -> Result<(), (Status, String)> {
    let outcome = &ran.outcome;
    if let Some(why) = outcome.stopped() {
        return Err((Status::Timeout, why.to_string()));
    }
    let is_short = |text: &str| text.starts_with("out of memory");
    let short = outcome.notes.iter().find(|note| is_short(&note.text));
    let is_fatal = |fault: &&Fault| matches!(fault, Fault::Trap { .. } | Fault::Invalid { .. });
    let has_ended = outcome.faults.iter().any(|fault| is_fatal(&fault));
    if let Some(note) = short.filter(|_| has_ended || outcome.exit_code != 0) {
        return Err((Status::Memory, note.text.clone()));
    }
    if has_ended {
        let error = first_error(ran, program);
        return Err((
            Status::Trap,
            error.unwrap_or("a launch did not end".to_string()),
        ));
    }
    let code = outcome.exit_code;
    if code == 0 {
        return Ok(());
    }
    Err(match first_error(ran, program) {
        Some(error) => (Status::Finding, format!("{error} (exit code {code})")),
        None => (
            Status::Exit,
            format!("the program ended with exit code {code}"),
        ),
    })
}

/// A hash of a program and of all files that it names in `#include`, including those that a macro leaves out.
fn source_hash(path: &Path, include: &[PathBuf]) -> Result<String, Failure> {
    let (name, files) = (path.display().to_string(), Files::new(path, include));
    let text = files
        .program(path)
        .map_err(|why| Failure::new(format!("cannot read `{name}`: {why}")))?;
    let mut texts = vec![(name, text)];
    let mut at = 0;
    while at < texts.len() {
        let (from, text) = texts[at].clone();
        for name in included(&text) {
            if let Some(Ok(found)) = files.load(name, &from)
                && texts.iter().all(|(known, _)| *known != found.full_name)
            {
                texts.push((found.full_name, found.text));
            }
        }
        at += 1;
    }
    let all: String = texts.iter().map(|(_, text)| hash(text)).collect();
    Ok(hash(&all))
}

/// The names after `#include`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?;
        let rest = rest.trim_start().strip_prefix("include")?.trim_start();
        let end = match rest.chars().next()? {
            '"' => '"',
            '<' => '>',
            _ => return None,
        };
        rest[1..].split_once(end).map(|(name, _)| name)
    })
}
