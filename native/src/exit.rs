//! Makes the report at the end of the process.

use std::{
    collections::BTreeMap,
    ffi::{c_int, c_void},
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::atomic::{AtomicI32, Ordering},
    time::{Duration, Instant},
};

use interp::{StopFlag, StopReason, rules::RuleSet};
use report::{
    Input, Model, Tables,
    findings::{self, baseline::Baseline},
    gpu, html, json, nvprof, sarif, text,
};

use runtime::host::Note;

use crate::{
    options::Options,
    state::{State, Story, eprintln_all, try_state},
};

/// The width if standard error is not a terminal.
const COLUMNS: usize = 120;

/// The process that loaded the library, or a child of it that `fork` made. A process that was made in another way reports nothing.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Runs when the library is loaded, before the program registers anything. So the report comes after everything that the program does at
/// its exit.
#[unsafe(link_section = ".init_array")]
#[used]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        unsafe extern "C" {
            fn on_exit(function: extern "C" fn(c_int, *mut c_void), data: *mut c_void) -> c_int;
        }
        // SAFETY: both are the C library's own; the function lives as long as the process.
        unsafe {
            is_new_process();
            crate::fork::watch();
            on_exit(at_exit, std::ptr::null_mut());
        }
    }
    at_load
};

/// Makes this process report itself.
pub(crate) fn is_new_process() {
    // SAFETY: `getpid` has no preconditions.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    // SAFETY: `getpid` has no preconditions.
    if unsafe { libc::getpid() } != PROCESS.load(Ordering::Relaxed) {
        return;
    }
    // The program's output comes first.
    // SAFETY: null means all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    if report() && status == 0 {
        // SAFETY: all streams are flushed, and this is the last exit function.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(1);
        }
    }
}

/// Ends the process when its time is up, with a report of what ran until then. A running launch is interrupted.
pub(crate) fn end_after(time: Duration, stop: StopFlag) {
    /// How long a launch may take to stop.
    const GRACE: Duration = Duration::from_secs(2);
    let end = move || {
        std::thread::sleep(time);
        let why = StopReason::TimeOver(time);
        stop.ask(why);
        let asked = Instant::now();
        let state = loop {
            match try_state() {
                None if asked.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(1)),
                state => break state,
            }
        };
        match state {
            Some(mut state) => {
                flush_printed();
                eprintln_all(&format!("dslc: {why}\n"));
                end_now(&mut state, why);
            }
            None => {
                eprintln_all(&format!("dslc: {why}, but a call does not end\n"));
                // SAFETY: it does not return.
                unsafe { libc::_exit(why.exit_code().into()) };
            }
        }
    };
    if let Err(why) = std::thread::Builder::new().spawn(end) {
        crate::state::fail(&format!("cannot start a thread for --timeout: {why}"));
    }
}

/// Ends the process with its report, without the program's own handlers.
pub(crate) fn end_now(state: &mut State, why: StopReason) -> ! {
    end_with(state, why.exit_code().into())
}

/// Ends the process when the program needs results that `--count-only` left out. `sentence` says which; the exit code is 0 unless there are
/// findings.
pub(crate) fn end_counted(state: &mut State, sentence: &str) -> ! {
    flush_printed();
    eprintln_all(&format!("dslc: {sentence}\n"));
    let note = Note::new(Default::default(), sentence, false);
    state.story.outcome.notes.push(note);
    end_with(state, 0)
}

fn end_with(state: &mut State, code: c_int) -> ! {
    flush_printed();
    let fails = report_of(state);
    let code = if code == 0 { c_int::from(fails) } else { code };
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Flushes the program's output, which comes before messages about it. Other streams stay as they are: a thread that waits for input holds
/// the lock of one.
fn flush_printed() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: C's standard output exists as long as the process.
    unsafe { libc::fflush(stdout) };
}

/// Reports what the kernels of all modules did; returns whether that makes the process fail.
pub(crate) fn report() -> bool {
    try_state().is_some_and(|mut state| report_of(&mut state))
}

fn report_of(state: &mut State) -> bool {
    if state.descent.has_lost_gpu {
        return false;
    }
    state.note_unseen_prints();
    let width = state.device.bank_width();
    let Ok(rules) = state.options.rule_set(width) else {
        return false;
    };
    let times = state.device.finish();
    let times = state.device_result(times, "a kernel").unwrap_or_default();
    // The device numbers the launches of all modules together.
    state.story.outcome.times_ms = times;
    let name = state.device.info().name.clone();
    let gpu = state.options.on_gpu.then_some(name.as_str());
    let process = state.descent.is_child.then(std::process::id);
    let reporter = Reporter {
        options: &state.options,
        rules: &rules,
        gpu,
        process,
        number: next_number(),
        baseline: state.options.checking.baseline.as_deref().and_then(known),
    };
    for report in state.story.outcome.launches.reports_mut() {
        let memory = &state.memory;
        report.leave_out_unread(|suspect| memory.is_read(suspect));
    }
    let outcome = &state.story.outcome;
    let has_fault = outcome.notes.iter().any(|note| note.fault.is_some());
    let has_run = !outcome.launches.is_empty() || !outcome.faults.is_empty() || has_fault;
    // A requirement that looked at nothing is not met, but a child of the process may launch nothing.
    let is_asked = !reporter.options.checking.requirements.is_empty();
    let has_gate = is_asked && process.is_none() && reporter.number == 1;
    let fails = (has_run || has_gate) && reporter.report_all(&state.story);
    if !state.options.output.is_quiet {
        eprintln_all(&library_line(&state.story.library_calls));
    }
    fails
}

/// A line about the calls of CUDA's libraries, which run on the CPU.
fn library_line(calls: &BTreeMap<String, u64>) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let each: Vec<String> = calls
        .iter()
        .map(|(name, count)| match count {
            1 => format!("{name} 1 call"),
            _ => format!("{name} {count} calls"),
        })
        .collect();
    format!(
        "library: {}; computed on the CPU, so nothing in them is counted or checked\n",
        each.join(", ")
    )
}

/// The number of this report among those of the process. Each copy of this library makes one report; they share the environment, which has
/// the number.
fn next_number() -> u32 {
    let name = format!("DSLC_REPORTS_OF_{}", std::process::id());
    let before = std::env::var(&name).ok().and_then(|text| text.parse().ok());
    let number = before.unwrap_or(0u32) + 1;
    // SAFETY: the process is ending. A thread that still reads the environment does so after the end of `main`, as with any exit handler.
    unsafe { std::env::set_var(name, number.to_string()) };
    number
}

/// The known findings in a file. If the file cannot be read, that is reported, and no finding is known.
fn known(path: &Path) -> Option<Baseline> {
    let text = std::fs::read_to_string(path).map_err(|why| why.to_string());
    let baseline = text.and_then(|text| Baseline::parse(&text).map_err(|why| why.to_string()));
    baseline
        .map_err(|why| eprintln_all(&format!("dslc: --baseline {}: {why}\n", path.display())))
        .ok()
}

/// The data for a report.
struct Reporter<'a> {
    options: &'a Options,
    rules: &'a RuleSet,
    /// The GPU's name, if kernels ran on one.
    gpu: Option<&'a str>,
    /// Its number, if it is a child that `fork` made: its own files are named after it.
    process: Option<u32>,
    /// The number of this report in the process: a shared object may contain its own copy of the library.
    number: u32,
    baseline: Option<Baseline>,
}

impl Reporter<'_> {
    /// Reports all launches; returns whether they make the process fail.
    fn report_all(&self, story: &Story) -> bool {
        let Options {
            checking, output, ..
        } = self.options;
        let (map, outcome) = (story.join.map(), &story.outcome);
        let module = story.join.whole(&story.launched());
        let line = |loc| report::line(&module, map, loc);
        let mut found = findings::all(outcome, &module, &line);
        if let Some(baseline) = &self.baseline {
            baseline.mute(&mut found);
        }
        let tables = match (&output.kernel, output.tables) {
            (Some(_), Tables::None) => Tables::Folded,
            (_, tables) => tables,
        };
        let input = Input {
            program: &module.name,
            map,
            module: &module,
            rules: self.rules,
            outcome,
            gpu: self.gpu,
            findings: &found,
            kernel: output.kernel.as_deref(),
            tables,
        };
        let mut model = Model::new(&input);
        let requirements = checking.requirements.iter();
        model.requirements = requirements
            .map(|requirement| requirement.judge(&outcome.launches, self.rules))
            .collect();
        // `show` reports unknown names.
        model.metrics = nvprof::resolve(&output.metrics).unwrap_or_default();
        self.show(&model);
        if let Some(path) = &output.html {
            self.write(path, html::page(&model, b"").as_bytes());
        }
        if let Some(path) = &output.json
            && let Ok(text) = serde_json::to_vec_pretty(&json::report(&model, b""))
        {
            self.write(path, &text);
        }
        if let Some(path) = &output.sarif
            && let Ok(text) = serde_json::to_vec_pretty(&sarif::of_run(&model, &[]))
        {
            self.write(path, &text);
        }
        if let Some(path) = &checking.write_baseline
            && let Ok(text) = Baseline::of(&found).text()
        {
            self.write(path, text.as_bytes());
        }
        let is_unmet = model.requirements.iter().any(|judged| !judged.met);
        is_unmet
            || found.iter().any(|found| {
                let is_grave = |least| found.severity >= least;
                !found.muted && checking.fail_on.is_some_and(is_grave)
            })
    }

    /// Writes a file of this process.
    fn write(&self, path: &Path, bytes: &[u8]) {
        let mut path = path.to_path_buf();
        if let Some(process) = self.process {
            path = marked(&path, &process.to_string());
        }
        if self.number > 1 {
            path = marked(&path, &self.number.to_string());
        }
        write(&path, bytes);
    }

    /// Prints the findings, then the report that the options request.
    fn show(&self, model: &Model<'_>) {
        let output = &self.options.output;
        let input = model.input;
        let is_terminal = std::io::stderr().is_terminal();
        let columns = match terminal_size::terminal_size_of(std::io::stderr()) {
            Some((terminal_size::Width(columns), _)) => usize::from(columns),
            None => COLUMNS,
        };
        let color = is_terminal && std::env::var_os("NO_COLOR").is_none();
        let (module, map) = (input.module, input.map);
        eprintln_all(&findings::render::all(
            input.findings,
            module,
            map,
            color,
            columns,
        ));
        let report = match nvprof::resolve(&output.metrics) {
            Err(why) => format!("dslc: DSLC: --metrics: {why}"),
            Ok(metrics) if !metrics.is_empty() => nvprof::table(input, &metrics),
            Ok(_) if output.is_quiet => String::new(),
            Ok(_) if let Some(name) = input.gpu => gpu::report(input, name),
            Ok(_) => text::report(model, text::Style { columns, color }),
        };
        if !report.is_empty() {
            eprintln_all(&format!("\n{report}"));
        }
        let judged = model.requirements.iter();
        let style = text::Style { columns, color };
        let judged: String = judged.map(|judged| judged.text(style, false)).collect();
        eprintln_all(&judged);
    }
}

fn write(path: &Path, bytes: &[u8]) {
    if let Err(why) = std::fs::write(path, bytes) {
        eprintln_all(&format!("dslc: cannot write `{}`: {why}\n", path.display()));
    }
}

/// The path with a mark before its ending: `out.4711.html`.
fn marked(path: &Path, mark: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        Some(end) => path.with_file_name(format!("{stem}.{mark}.{}", end.to_string_lossy())),
        None => path.with_file_name(format!("{stem}.{mark}")),
    }
}
