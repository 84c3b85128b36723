//! Ends a run from outside: Ctrl-C, SIGTERM, and `--timeout`.
//!
//! The program is asked to stop, and what ran so far is reported as usual. A second signal, half a second later or more, ends the process
//! at once. Work that cannot be asked to stop (the front end, a GPU) ends with the process.

use std::{
    process,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use interp::{StopFlag, StopReason};

use crate::{failure::Failure, output};

/// How long a program may take to stop when it was asked to: the time of one kernel on a GPU, or of one long call of the host.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Signals within this time after the first one count as one.
#[cfg(unix)]
const TOGETHER: Duration = Duration::from_millis(500);

/// Asks the command to stop. The command also looks at it while it waits for others.
static FLAG: OnceLock<StopFlag> = OnceLock::new();
static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The phase of a command.
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
    /// When the run began, and its time limit.
    time: Option<(Instant, Duration)>,
    /// Dropped when the run is over, so that the waiting thread ends.
    _over: mpsc::Sender<()>,
}

impl Watch {
    /// Starts the time limit.
    pub(crate) fn start(timeout: Option<Duration>) -> Watch {
        let flag = timeout.map_or_else(StopFlag::default, StopFlag::with_time);
        let _ = FLAG.set(flag.clone());
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

    /// The flag that the machine looks at.
    pub(crate) fn flag(&self) -> &StopFlag {
        &self.flag
    }

    /// The program starts to run, in the simulator or on a GPU, which reacts to no signal.
    pub(crate) fn runs(&self, on_gpu: bool) -> Result<(), Failure> {
        let mut phase = lock(&self.phase);
        // On a busy machine, the waiting thread may not have run yet.
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

    /// The program has ended.
    pub(crate) fn reports(&self) {
        *lock(&self.phase) = Phase::Reporting;
    }
}

fn lock(phase: &Mutex<Phase>) -> MutexGuard<'_, Phase> {
    phase.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the program to stop when its time is up.
fn wait(time: Duration, flag: &StopFlag, phase: &Mutex<Phase>, is_over: &mpsc::Receiver<()>) {
    let passes = |time| is_over.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    if !passes(time) {
        return;
    }
    let seconds = time.as_secs_f64();
    // Held until the process ends, so that the command does not go on meanwhile.
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

/// Asks the program to stop at the first signal.
#[cfg(unix)]
fn listen(flag: &StopFlag) -> Result<(), Failure> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag as on_signal,
    };
    for (signal, why) in [
        (SIGINT, StopReason::Interrupted),
        (SIGTERM, StopReason::Terminated),
    ] {
        on_signal::register_usize(signal, flag.number(), why.number())?;
    }
    later_ends()
}

/// Becomes true at the first Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag as on_signal,
    };

    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        on_signal::register(signal, is_asked.clone())?;
    }
    later_ends()?;
    let _ = INTERRUPTED.set(is_asked.clone());
    Ok(is_asked)
}

/// Lets a later signal end the process as it would by default. A signal together with the first one does not: `timeout` and a terminal that
/// closes send two at once, and the report would be lost.
#[cfg(unix)]
fn later_ends() -> Result<(), Failure> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag as on_signal, low_level,
    };
    use std::{io::Read, os::unix::net::UnixStream, sync::atomic::AtomicUsize};

    let last = Arc::new(AtomicUsize::new(0));
    let (mut received, sender) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        let number = usize::try_from(signal).unwrap_or_default();
        on_signal::register_usize(signal, last.clone(), number)?;
        low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    thread::Builder::new().spawn(move || {
        let mut first: Option<Instant> = None;
        let mut byte = [0];
        while received.read_exact(&mut byte).is_ok() {
            let at = *first.get_or_insert_with(Instant::now);
            if at.elapsed() > TOGETHER {
                let signal = i32::try_from(last.load(Ordering::Relaxed)).unwrap_or(SIGTERM);
                let _ = low_level::emulate_default_handler(signal);
            }
        }
    })?;
    Ok(())
}

/// Whether the time is up, or a signal arrived.
pub(crate) fn is_asked() -> bool {
    let is_over = FLAG.get().is_some_and(|flag| flag.asked().is_some());
    is_over
        || INTERRUPTED
            .get()
            .is_some_and(|is_asked| is_asked.load(Ordering::Relaxed))
}

#[cfg(not(unix))]
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    Ok(Arc::default())
}

#[cfg(not(unix))]
fn listen(_: &StopFlag) -> Result<(), Failure> {
    Ok(())
}
