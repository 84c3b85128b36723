//! The clocks that a host program reads. On a GPU they advance with real time. In the simulator they stand still, so that equal input gives
//! equal output: the time that the simulator takes is unrelated to a GPU's.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ir::LocId;

use super::{Host, Stop};

/// The result of `time` if clocks stand still, in seconds.
const STILL_SECONDS: u64 = 1_700_000_000;
/// C's `CLOCK_REALTIME`.
const REALTIME: i32 = 0;

/// The program's start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    Still,
    Running {
        began: Instant,
        since_1970: Duration,
    },
}

impl Clock {
    pub(super) fn start(runs: bool) -> Clock {
        match runs {
            false => Clock::Still,
            true => Clock::Running {
                began: Instant::now(),
                // 1970 on a system whose clock is earlier.
                since_1970: SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default(),
            },
        }
    }

    /// Since the program began.
    fn elapsed(self) -> Duration {
        match self {
            Clock::Still => Duration::ZERO,
            Clock::Running { began, .. } => began.elapsed(),
        }
    }

    /// Since 1970.
    fn now(self) -> Duration {
        match self {
            Clock::Still => Duration::from_secs(STILL_SECONDS),
            Clock::Running { since_1970, .. } => since_1970 + self.elapsed(),
        }
    }
}

impl Host<'_> {
    /// `time`.
    pub(super) fn time(&mut self, result: u64, loc: LocId) -> Result<u64, Stop> {
        self.say_still(loc);
        let now = self.clock.now().as_secs();
        if result != 0 {
            self.store(result, &now.to_le_bytes(), loc)?;
        }
        Ok(now)
    }

    /// `clock`, in microseconds since the program began. A program that waits for a GPU uses the CPU meanwhile, so its CPU time is the
    /// elapsed time. The CPU time of this process would include dslc's own.
    pub(super) fn clock(&mut self, loc: LocId) -> u64 {
        self.say_still(loc);
        self.clock.elapsed().as_micros() as u64
    }

    /// The basis of `clock_gettime` and `<chrono>`.
    pub(super) fn clock_ns(&mut self, which: i32, loc: LocId) -> u64 {
        self.say_still(loc);
        match which {
            REALTIME => self.clock.now().as_nanos() as u64,
            _ => self.clock.elapsed().as_nanos() as u64,
        }
    }

    fn say_still(&mut self, loc: LocId) {
        if let Clock::Still = self.clock {
            let text = "time() and clock() return fixed values in the simulator: 1700000000 and 0";
            self.say_once(loc, text);
        }
    }
}
