//! Asking a machine to stop from outside: its user has seen enough, or gives it no more time.
//!
//! The machine looks at the flag now and then (between two turns of a warp, every some thousand instructions of the host) and ends with
//! [`TrapKind::Stopped`](crate::TrapKind::Stopped) where it is. Who sets it, and when, is the caller's business: nothing here knows a clock
//! or a signal.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Asks machines to stop; clones are one flag.
///
/// ```
/// use interp::{StopFlag, StopReason};
/// let flag = StopFlag::default();
/// let same = flag.clone();
/// assert_eq!(same.asked(), None);
/// flag.ask(StopReason::Interrupted);
/// assert_eq!(same.asked(), Some(StopReason::Interrupted));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    /// 0, or a reason's number.
    number: Arc<AtomicUsize>,
    time: Duration,
}

/// Why a machine is asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// Its user interrupts it: Ctrl-C.
    Interrupted,
    /// The system wants it to end: SIGTERM.
    Terminated,
    /// It was given so much time, which is over.
    TimeOver(Duration),
}

impl StopReason {
    /// What [`StopFlag::number`] holds then.
    pub fn number(self) -> usize {
        match self {
            StopReason::Interrupted => 1,
            StopReason::Terminated => 2,
            StopReason::TimeOver(_) => 3,
        }
    }

    /// The exit code of a process that ends so, as a shell or `timeout` would show it.
    pub fn exit_code(self) -> u8 {
        match self {
            StopReason::Interrupted => 130,
            StopReason::Terminated => 143,
            StopReason::TimeOver(_) => 124,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Interrupted => f.write_str("interrupted by Ctrl-C"),
            StopReason::Terminated => f.write_str("ended by SIGTERM"),
            StopReason::TimeOver(time) => {
                write!(f, "the --timeout of {} s has expired", time.as_secs_f64())
            }
        }
    }
}

impl StopFlag {
    /// A flag for machines that are given so much time.
    pub fn with_time(time: Duration) -> StopFlag {
        StopFlag {
            time,
            ..StopFlag::default()
        }
    }

    /// Asks for it.
    pub fn ask(&self, why: StopReason) {
        self.number.store(why.number(), Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn asked(&self) -> Option<StopReason> {
        match self.number.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StopReason::Interrupted),
            2 => Some(StopReason::Terminated),
            _ => Some(StopReason::TimeOver(self.time)),
        }
    }

    /// The reason's number, for those who can only store one: handlers of signals.
    pub fn number(&self) -> Arc<AtomicUsize> {
        self.number.clone()
    }
}
