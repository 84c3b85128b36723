//! Stops a machine from outside, because its user interrupts it or its time is over.
//!
//! The machine checks the flag from time to time (between two turns of a warp, every few thousand instructions of the
//! host) and ends with [`TrapKind::Stopped`](crate::TrapKind::Stopped) where it is. The caller decides when to set it:
//! nothing here depends on a clock or a signal.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Stops machines. Clones share one flag.
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
    /// 0, or the number of a reason.
    number: Arc<AtomicUsize>,
    time: Duration,
}

/// Why a machine has to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// Its user interrupts it: Ctrl-C.
    Interrupted,
    /// The system asks it to end: SIGTERM.
    Terminated,
    /// Its time limit is over.
    TimeOver(Duration),
}

impl StopReason {
    /// The value in [`StopFlag::number`] for this reason.
    pub fn number(self) -> usize {
        match self {
            StopReason::Interrupted => 1,
            StopReason::Terminated => 2,
            StopReason::TimeOver(_) => 3,
        }
    }

    /// The exit code of a process that ends for this reason, as a shell or `timeout` would show it.
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
    /// A flag for machines with a time limit.
    pub fn with_time(time: Duration) -> StopFlag {
        StopFlag {
            time,
            ..StopFlag::default()
        }
    }

    /// Requests a stop.
    pub fn ask(&self, why: StopReason) {
        self.number.store(why.number(), Ordering::Relaxed);
    }

    /// The reason, if a stop was requested.
    pub fn asked(&self) -> Option<StopReason> {
        match self.number.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StopReason::Interrupted),
            2 => Some(StopReason::Terminated),
            _ => Some(StopReason::TimeOver(self.time)),
        }
    }

    /// The number of the reason, for code that can only store a number, such as signal handlers.
    pub fn number(&self) -> Arc<AtomicUsize> {
        self.number.clone()
    }
}
