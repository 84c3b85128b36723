//! The report at the end of the process.

use std::{
    ffi::{c_int, c_void},
    io::IsTerminal,
    path::Path,
    sync::atomic::{AtomicI32, Ordering},
};

use interp::{Severity, rules::RuleSet};
use report::{Input, Model, Tables, findings, html, json, text};

use crate::{
    options::{FailOn, Options},
    state::{Loaded, eprintln_all, try_state},
};

/// Columns where standard error is no terminal.
const COLUMNS: usize = 120;

/// The process that loaded the library: a child that `fork` made has no report of its own.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Runs when the library is loaded, before the program registers anything: so the report comes after all that the program does
/// at its exit.
#[unsafe(link_section = ".init_array")]
#[used]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        unsafe extern "C" {
            fn on_exit(function: extern "C" fn(c_int, *mut c_void), data: *mut c_void) -> c_int;
        }
        // SAFETY: both are the C library's own; the function lives as long as the process.
        unsafe {
            PROCESS.store(libc::getpid(), Ordering::Relaxed);
            on_exit(at_exit, std::ptr::null_mut());
        }
    }
    at_load
};

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    // SAFETY: it only asks.
    if unsafe { libc::getpid() } != PROCESS.load(Ordering::Relaxed) {
        return;
    }
    // What the program printed comes first.
    // SAFETY: null stands for all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    if report() && status == 0 {
        // SAFETY: all streams are flushed, and this is the last of the exit's functions.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(1);
        }
    }
}

/// Reports what every module's kernels did; gives whether that makes the process fail.
pub(crate) fn report() -> bool {
    let Some(mut state) = try_state() else {
        return false;
    };
    let state = &mut *state;
    let width = state.device.bank_width();
    let arch = state.options.rules_arch();
    let Ok(rules) = RuleSet::new(arch, width) else {
        return false;
    };
    let times = state.device.finish();
    let times = state.device_result(times, "a kernel").unwrap_or_default();
    let name = state.device.info().name.clone();
    let gpu = state.options.on_gpu.then_some(name.as_str());
    // The device numbers launches of all modules in one row.
    if let [module] = state.modules.as_mut_slice()
        && let Some(loaded) = module.loaded_mut()
    {
        loaded.outcome.times_ms = times;
    }
    let mut fails = false;
    let mut number = 0;
    let options = &state.options;
    for module in &mut state.modules {
        let Some(loaded) = module.loaded_mut() else {
            continue;
        };
        if loaded.outcome.launches.is_empty() && loaded.outcome.faults.is_empty() {
            continue;
        }
        fails |= tell(loaded, (&rules, gpu), options, number);
        number += 1;
    }
    fails
}

/// Reports a module's launches; gives whether they make the process fail.
fn tell(
    loaded: &mut Loaded,
    (rules, gpu): (&RuleSet, Option<&str>),
    options: &Options,
    number: usize,
) -> bool {
    let module = loaded.program.module().clone();
    let line = |loc| report::line(&module, &loaded.map, loc);
    let found = findings::all(&loaded.outcome, &module, &line);
    let input = Input {
        program: &module.name,
        map: &loaded.map,
        module: &module,
        rules,
        outcome: &loaded.outcome,
        gpu,
        findings: &found,
        kernel: None,
        tables: Tables::None,
    };
    let model = Model::new(&input);
    let is_terminal = std::io::stderr().is_terminal();
    let columns = match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((terminal_size::Width(columns), _)) => usize::from(columns),
        None => COLUMNS,
    };
    let color = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let messages = findings::render::all(&found, &module, &loaded.map, color, columns);
    eprintln_all(&messages);
    if !options.is_quiet {
        let style = text::Style { columns, color };
        let report = text::report(&model, style);
        if !report.is_empty() {
            eprintln_all(&format!("\n{report}"));
        }
    }
    if let Some(path) = &options.html {
        write(path, number, html::page(&model, b"").as_bytes());
    }
    if let Some(path) = &options.json
        && let Ok(text) = serde_json::to_vec_pretty(&json::report(&model, b""))
    {
        write(path, number, &text);
    }
    let is_error = |severity: Severity| match options.fail_on {
        FailOn::Error => severity == Severity::Error,
        FailOn::Warning => severity != Severity::Note,
        FailOn::Never => false,
    };
    found
        .iter()
        .any(|found| !found.muted && is_error(found.severity))
}

/// Writes a file; the second program of a process gets a number in its name.
fn write(path: &Path, number: usize, bytes: &[u8]) {
    let path = match number {
        0 => path.to_path_buf(),
        _ => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let end = path.extension().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}.{}.{end}", number + 1))
        }
    };
    if let Err(why) = std::fs::write(&path, bytes) {
        eprintln_all(&format!("dslc: cannot write `{}`: {why}\n", path.display()));
    }
}
