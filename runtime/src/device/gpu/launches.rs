//! The launches of a GPU: their times, and the launch to which a fault belongs.
//!
//! Launches run one after the other on one stream. The driver reports a fault without naming the launch: it is one of those that the host
//! had not waited for. If the program waits for each launch at once, as careful programs do, the launch is known. If launches are timed
//! anyway, the stream also writes the number of finished launches into a word that the host can read. The first launch that is not counted
//! there is the guilty one.

use ir::{FuncId, LocId};

use super::driver::{self, Event};

/// A launch.
#[derive(Debug)]
struct Launch {
    kernel: FuncId,
    loc: LocId,
    events: Option<(Event, Event)>,
    time_ms: Option<f64>,
    /// For a fault's message: pointers that do not belong to the device.
    suspicion: Option<String>,
}

/// All launches so far.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// The number of finished launches before the first of `launches`.
    forgotten: usize,
    launches: Vec<Launch>,
    /// The number of launches known to be finished.
    finished: usize,
    /// The number of finished launches whose times have been read.
    timed: usize,
    /// The word's address on the host and on the device.
    word: Option<(*mut u32, u64)>,
}

/// The launch of a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Guilty {
    pub(super) index: usize,
    /// `None` if several launches are possible.
    pub(super) kernel: Option<FuncId>,
    /// The place of the first possible one.
    pub(super) loc: LocId,
    pub(super) suspicion: Option<String>,
    /// The last possible launch, if there are several.
    pub(super) or_up_to: Option<usize>,
}

impl Launches {
    /// Prepares a timed launch: makes a fault of the previous launch distinguishable from one of this launch. Returns the events to put
    /// around it.
    pub(super) fn before(&mut self) -> Option<(Event, Event)> {
        if self.finished < self.launches.len() {
            if self.word.is_none() {
                self.word = driver::shared_word().ok();
            }
            if let Some((_, address)) = self.word {
                // Without the word, a fault is reported for several launches.
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

    /// Notes a launch that the driver accepted.
    pub(super) fn after(
        &mut self,
        kernel: FuncId,
        loc: LocId,
        events: Option<(Event, Event)>,
        suspicion: Option<String>,
    ) {
        if let Some((_, stop)) = events {
            // A failure shows when the time is read, because there is none.
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

    /// Notes that all launches so far are done without a fault. Without times, they can be forgotten.
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

    /// The launch that a fault detected now belongs to.
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
