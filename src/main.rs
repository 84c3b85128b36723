//! `dslc`: parses the arguments, runs the command, and turns the result into an exit code.
//!
//! 0: it worked and found nothing; 1: the user's program is wrong; 2: dslc could not work.

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

/// Deeply nested programs need deep recursion; the parser's limits are set for less than this.
pub(crate) const STACK_BYTES: usize = 256 << 20;

/// The message of the first panic, and its place.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    ExitCode::from(output::exit_code(run()))
}

/// Runs the command in another thread, which ends the process; returns an exit code if that did not happen.
fn run() -> u8 {
    // The list needs no program.
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
    // A panic's message is printed once, below, with advice.
    panic::set_hook(Box::new(keep_panic));
    let started = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let code = output::exit_code(outcome(cli));
            // Ending the thread first would only free its memory piece by piece.
            process::exit(code.into());
        });
    match started {
        Ok(thread) => {
            // It returns only if the thread panicked before it ended the process.
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

/// Prints the message of the first panic; returns the exit code.
fn internal_error() -> u8 {
    let text = panic_text();
    output::err(&format!(
        "dslc: internal error: {text}\nThis is a bug in dslc; please report it with the program.\n"
    ));
    2
}

/// The message of the first panic since the last call.
pub(crate) fn panic_text() -> String {
    let kept = PANIC.lock().ok().and_then(|mut kept| kept.take());
    kept.unwrap_or_else(|| "unknown".to_string())
}

/// Keeps the message of the first panic: it is the cause, later ones follow from it.
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
