//! The launches of a GPU: how long each took, and which one a fault belongs to.
//!
//! Launches run one after the other on one stream. When the driver reports a fault, it does not say of which launch: it is one of those that
//! nobody had waited for. A launch that is waited for at once, as a careful program does it, is known. Where launches are timed anyway, the
//! stream also writes the number of finished launches between two into a word the host can read: the first one that is not counted there is
//! the guilty one.

use ir::{FuncId, LocId};

use super::driver::{self, Event};

/// A launch.
#[derive(Debug)]
struct Launch {
    kernel: FuncId,
    loc: LocId,
    events: Option<(Event, Event)>,
    time_ms: Option<f64>,
    /// Said of a fault: pointers that are none of the device's.
    suspicion: Option<String>,
}

/// All launches so far.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// Finished ones before the first of `launches`.
    forgotten: usize,
    launches: Vec<Launch>,
    /// Known to be finished.
    finished: usize,
    /// The finished ones whose times have been read.
    timed: usize,
    /// The word, host's and device's address of it.
    word: Option<(*mut u32, u64)>,
}

/// The launch of a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Guilty {
    pub(super) index: usize,
    /// `None` if it may be one of several.
    pub(super) kernel: Option<FuncId>,
    /// Of the first that it may be.
    pub(super) loc: LocId,
    pub(super) suspicion: Option<String>,
    /// It may as well have been one of the launches up to this one.
    pub(super) or_up_to: Option<usize>,
}

impl Launches {
    /// Before a launch that is timed: sees to it that a fault of the one before can be told from one of this. Gives the events to put around it.
    pub(super) fn before(&mut self) -> Option<(Event, Event)> {
        if self.finished < self.launches.len() {
            if self.word.is_none() {
                self.word = driver::shared_word().ok();
            }
            if let Some((_, address)) = self.word {
                // Without it, a fault is said of several launches.
                let _ = driver::write_word(address, self.launches.len() as u32);
            }
        }
        let start = driver::event().ok()?;
        let Ok(stop) = driver::event() else {
            driver::destroy(start);
            return None;
        };
        if driver::record(start).is_err() {
            driver::destroy(start);
            driver::destroy(stop);
            return None;
        }
        Some((start, stop))
    }

    /// After a launch that the driver took.
    pub(super) fn after(
        &mut self,
        kernel: FuncId,
        loc: LocId,
        events: Option<(Event, Event)>,
        suspicion: Option<String>,
    ) {
        if let Some((_, stop)) = events {
            // A failure shows when the time is read: there is none.
            let _ = driver::record(stop);
        }
        self.launches.push(Launch {
            kernel,
            loc,
            events,
            time_ms: None,
            suspicion,
        });
    }

    /// Everything so far is done and went well. Without times, nothing has to be known of it any more.
    pub(super) fn all_finished(&mut self, timing: bool) {
        if !timing {
            self.forgotten += self.launches.len();
            self.launches.clear();
            return;
        }
        self.finished = self.launches.len();
        for launch in &mut self.launches[self.timed..] {
            if let Some((start, stop)) = launch.events.take() {
                launch.time_ms = driver::elapsed_ms(start, stop).ok().map(f64::from);
                driver::destroy(start);
                driver::destroy(stop);
            }
        }
        self.timed = self.finished;
    }

    /// Launches whose events are still held.
    pub(super) fn untimed(&self) -> usize {
        self.launches.len() - self.timed
    }

    /// The launch that a fault seen now belongs to.
    pub(super) fn guilty(&self) -> Option<Guilty> {
        let last = self.launches.len().checked_sub(1)?;
        let counted = self.word.map_or(0, |(word, _)| {
            // SAFETY: the word lives as long as the process; the GPU writes it whole.
            unsafe { word.read_volatile() as usize }
        });
        let index = self.finished.max(counted).min(last);
        let sure = index == last || self.word.is_some();
        let suspects = match sure {
            true => &self.launches[index..=index],
            false => &self.launches[index..],
        };
        let first = suspects.first()?;
        let same_kernel = suspects.iter().all(|launch| launch.kernel == first.kernel);
        let mut suspicions = suspects
            .iter()
            .filter_map(|launch| launch.suspicion.clone());
        Some(Guilty {
            index: self.forgotten + index,
            kernel: same_kernel.then_some(first.kernel),
            loc: first.loc,
            suspicion: suspicions.next(),
            or_up_to: (!sure).then_some(self.forgotten + last),
        })
    }

    /// Milliseconds of each launch.
    pub(super) fn times_ms(&self) -> Vec<Option<f64>> {
        self.launches.iter().map(|launch| launch.time_ms).collect()
    }
}
