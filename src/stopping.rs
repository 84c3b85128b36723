//! What ends a run from outside: Ctrl-C, SIGTERM, and `--timeout`.
//!
//! The program is asked to stop, and what ran so far is reported as ever. A second signal ends the process at once. What cannot be asked
//! (the front end, a GPU) is ended with the process.

use std::{
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool, mpsc},
    thread,
    time::{Duration, Instant},
};

use interp::{StopFlag, StopReason};

use crate::{failure::Failure, output};

/// How long a program that was asked to stop may take to do so: one kernel of a GPU, or one long call of the host's.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// How far a command is.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Compiling,
    Running,
    Reporting,
}

/// Watches a run.
pub(crate) struct Watch {
    flag: StopFlag,
    phase: Arc<Mutex<Phase>>,
    /// When it began, and its time.
    time: Option<(Instant, Duration)>,
    /// Dropped when the run is over: nobody waits for the time any more.
    _over: mpsc::Sender<()>,
}

impl Watch {
    /// The time begins now.
    pub(crate) fn start(timeout: Option<Duration>) -> Watch {
        let flag = timeout.map_or_else(StopFlag::default, StopFlag::with_time);
        let phase = Arc::new(Mutex::new(Phase::Compiling));
        let (over, is_over) = mpsc::channel();
        if let Some(time) = timeout {
            let (flag, phase) = (flag.clone(), phase.clone());
            thread::spawn(move || wait(time, &flag, &phase, &is_over));
        }
        Watch {
            flag,
            phase,
            time: timeout.map(|time| (Instant::now(), time)),
            _over: over,
        }
    }

    /// What the machine looks at.
    pub(crate) fn flag(&self) -> &StopFlag {
        &self.flag
    }

    /// The program runs from now on, in the simulator or on a GPU, which listens to no signal.
    pub(crate) fn runs(&self, on_gpu: bool) -> Result<(), Failure> {
        let mut phase = lock(&self.phase);
        // The thread that waits may not have had its turn on a busy machine.
        if let Some((begin, time)) = self.time
            && begin.elapsed() >= time
        {
            end_before_run(time);
        }
        *phase = Phase::Running;
        drop(phase);
        match on_gpu {
            true => Ok(()),
            false => listen(&self.flag),
        }
    }

    /// It has ended.
    pub(crate) fn reports(&self) {
        *lock(&self.phase) = Phase::Reporting;
    }
}

fn lock(phase: &Mutex<Phase>) -> MutexGuard<'_, Phase> {
    phase.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the program to stop when its time is over.
fn wait(time: Duration, flag: &StopFlag, phase: &Mutex<Phase>, is_over: &mpsc::Receiver<()>) {
    let passes = |time| is_over.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    if !passes(time) {
        return;
    }
    let seconds = time.as_secs_f64();
    // Held until the process ends: the command does not go on meanwhile.
    let now = lock(phase);
    if *now == Phase::Compiling {
        end_before_run(time);
    }
    flag.ask(StopReason::TimeOver(time));
    drop(now);
    if !passes(GRACE_PERIOD) {
        return;
    }
    let now = lock(phase);
    if *now == Phase::Running {
        end(&format!(
            "the --timeout of {seconds} s has expired, but the program does not stop"
        ));
    }
}

fn end_before_run(time: Duration) {
    let seconds = time.as_secs_f64();
    end(&format!(
        "the --timeout of {seconds} s expired before the program ran"
    ));
}

fn end(why: &str) {
    output::err(&format!("dslc: {why}\n"));
    process::exit(output::exit_code(1).into());
}

/// The first signal asks the program to stop, the second one ends the process as it would have without us.
#[cfg(unix)]
fn listen(flag: &StopFlag) -> Result<(), Failure> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag as on_signal,
    };
    let again = Arc::new(AtomicBool::new(false));
    for (signal, why) in [
        (SIGINT, StopReason::Interrupted),
        (SIGTERM, StopReason::Terminated),
    ] {
        // In this order: the first signal does not see itself as the second one.
        on_signal::register_conditional_default(signal, again.clone())?;
        on_signal::register(signal, again.clone())?;
        on_signal::register_usize(signal, flag.number(), why.number())?;
    }
    Ok(())
}

/// Becomes true at the first Ctrl-C or SIGTERM; the second one ends the process.
#[cfg(unix)]
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag as on_signal,
    };

    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        on_signal::register_conditional_default(signal, is_asked.clone())?;
        on_signal::register(signal, is_asked.clone())?;
    }
    Ok(is_asked)
}

#[cfg(not(unix))]
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    Ok(Arc::default())
}

#[cfg(not(unix))]
fn listen(_: &StopFlag) -> Result<(), Failure> {
    Ok(())
}
