//! The launches of a device.

use std::{fmt, vec};

use crate::run::Run;

/// The launches of a device so far: see [`Device::launches`](crate::Device::launches).
#[derive(Clone)]
pub struct Launches {
    runs: Vec<Run>,
    total: usize,
}

impl Launches {
    pub(crate) fn new(runs: Vec<Run>, total: usize) -> Launches {
        Launches { runs, total }
    }

    /// The number of launches that are remembered.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there was no launch.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The number of launches, remembered or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Each of them, the earliest first.
    pub fn iter(&self) -> std::slice::Iter<'_, Run> {
        self.runs.iter()
    }

    /// Whether none of them has an error or a warning.
    pub fn is_clean(&self) -> bool {
        self.runs.iter().all(Run::is_clean)
    }

    /// Panics with the messages of the first one that has an error or a warning: see [`Run::assert_clean`].
    #[track_caller]
    pub fn assert_clean(&self) {
        for run in &self.runs {
            run.assert_clean();
        }
    }

    /// The reports of all, one after the other.
    pub fn report(&self) -> String {
        let reports: Vec<String> = self.runs.iter().map(Run::report).collect();
        reports.join("\n")
    }
}

impl IntoIterator for Launches {
    type Item = Run;
    type IntoIter = vec::IntoIter<Run>;

    fn into_iter(self) -> vec::IntoIter<Run> {
        self.runs.into_iter()
    }
}

impl<'a> IntoIterator for &'a Launches {
    type Item = &'a Run;
    type IntoIter = std::slice::Iter<'a, Run>;

    fn into_iter(self) -> std::slice::Iter<'a, Run> {
        self.runs.iter()
    }
}

impl fmt::Debug for Launches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}
