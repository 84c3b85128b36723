//! `dslc`: parse the arguments, run the command, turn the outcome into an exit code.
//!
//! 0: it worked and nothing was found; 1: the user's program is wrong; 2: dslc could not work.

mod args;
mod baseline;
mod capture;
mod command;
mod execute;
mod failure;
mod files;
mod output;
mod progress;
mod prove;
mod record;
mod resident;
mod rules;
mod source;
mod stopping;
mod system;
mod trace;

use std::{panic, process::ExitCode, sync::mpsc, thread, time::Duration};

use clap::Parser;

/// Deeply nested programs recurse deeply; the parser's limits are set for less than this.
const STACK_BYTES: usize = 256 << 20;

/// What runs no longer than this does not need memory for long either: it is spared `resident`'s millisecond.
const SHORT_RUN: Duration = Duration::from_millis(15);

fn main() -> ExitCode {
    ExitCode::from(output::exit_code(run()))
}

/// Runs the command in a thread of its own; its exit code.
fn run() -> u8 {
    // A list needs no program.
    if args::lists_metrics(std::env::args_os()) {
        output::out(report::nvprof::list().as_bytes());
        return 0;
    }
    let cli = match args::Cli::try_parse_from(args::with_values(std::env::args_os())) {
        Ok(cli) => cli,
        Err(said) => return output::of_command_line(&said),
    };
    // The panic's message is printed once, below, with what to do about it.
    panic::set_hook(Box::new(|_| {}));
    let (running, ended) = mpsc::channel::<()>();
    let work = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // Dropped at the end, which is seen below.
            let _running = running;
            panic::catch_unwind(|| command::run(cli))
        });
    if ended.recv_timeout(SHORT_RUN) == Err(mpsc::RecvTimeoutError::Timeout) {
        resident::drop_untouched();
    }
    let result = work.map(|handle| handle.join());
    match result {
        Ok(Ok(Ok(Ok(code)))) => code,
        Ok(Ok(Ok(Err(failure)))) => {
            output::err(&format!("dslc: {failure}\n"));
            2
        }
        Ok(Ok(Err(payload)) | Err(payload)) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            output::err(&format!(
                "dslc: internal error: {text}\nThis is a bug in dslc; please report it with the program.\n"
            ));
            2
        }
        Err(error) => {
            output::err(&format!(
                "dslc: cannot start a thread with {} MiB of stack: {error}; does `ulimit -v` or `ulimit -u` leave too little?\n",
                STACK_BYTES >> 20
            ));
            2
        }
    }
}
