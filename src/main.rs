//! `dslc`: parse the arguments, run the command, turn the outcome into an exit code.
//!
//! 0: it worked and nothing was found; 1: the user's program is wrong; 2: dslc could not work.

mod args;
mod back_end;
mod baseline;
mod batch;
mod capture;
mod command;
mod execute;
mod failure;
mod files;
mod output;
mod progress;
mod prove;
mod record;
mod require;
mod rules;
mod source;
mod stopping;
mod system;
mod trace;

use std::{
    panic::{self, PanicHookInfo},
    process::{self, ExitCode},
    sync::Mutex,
    thread,
};

use clap::Parser;

/// Deeply nested programs recurse deeply; the parser's limits are set for less than this.
pub(crate) const STACK_BYTES: usize = 256 << 20;

/// What the first panic said, and where it was.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    ExitCode::from(output::exit_code(run()))
}

/// Runs the command in another thread, which ends the process: returns an exit code where that did not happen.
fn run() -> u8 {
    // A list needs no program.
    if args::before::lists_metrics(std::env::args_os()) {
        output::out(report::nvprof::list().as_bytes());
        return 0;
    }
    let args = args::before::as_dslc(std::env::args_os());
    let args = args::before::without_nvcc(args::before::with_help(args));
    let cli = match args::Cli::try_parse_from(args::before::with_values(args.into_iter())) {
        Ok(cli) => cli,
        Err(error) => return output::of_command_line(&error),
    };
    system::keep_memory();
    // A panic's message is printed once, below, with what to do about it.
    panic::set_hook(Box::new(keep_panic));
    let started = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let code = output::exit_code(outcome(cli));
            // To end the thread first would only give back its memory piece by piece.
            process::exit(code.into());
        });
    match started {
        Ok(thread) => {
            // It returns only if the thread panicked on its way to the end of the process.
            let _ = thread.join();
            internal_error()
        }
        Err(error) => {
            output::err(&format!(
                "dslc: cannot start a thread with {} MiB of stack: {error}; check `ulimit -v` and `ulimit -u`\n",
                STACK_BYTES >> 20
            ));
            2
        }
    }
}

/// Runs the command; returns its exit code.
fn outcome(cli: args::Cli) -> u8 {
    match panic::catch_unwind(|| command::run(cli)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output::err_failure(&failure.to_string());
            2
        }
        Err(_) => internal_error(),
    }
}

/// Says what the first panic said; returns the exit code.
fn internal_error() -> u8 {
    let text = panic_text();
    output::err(&format!(
        "dslc: internal error: {text}\nThis is a bug in dslc; please report it with the program.\n"
    ));
    2
}

/// What the first panic said that nobody has asked for yet.
pub(crate) fn panic_text() -> String {
    let kept = PANIC.lock().ok().and_then(|mut kept| kept.take());
    kept.unwrap_or_else(|| "unknown".to_string())
}

/// The first panic is the cause; others follow from it.
fn keep_panic(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    let place = info.location();
    let place = place.map_or(String::new(), |place| format!(" ({place})"));
    if let Ok(mut kept) = PANIC.lock() {
        kept.get_or_insert_with(|| format!("{text}{place}"));
    }
}
