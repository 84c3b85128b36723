//! The progress of a run, for display: numbers that the machine updates and never waits for.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The progress of the machine. Copies share the numbers.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    launches: AtomicU64,
    blocks: AtomicU64,
    done: AtomicU64,
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of launches that began, which is the number of the current one, from 1.
    pub launches: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Approximately how many of them have ended.
    pub blocks_done: u64,
}

impl Progress {
    /// A launch begins.
    pub(crate) fn begins(&self, blocks: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.blocks.store(blocks, Ordering::Relaxed);
        self.0.launches.fetch_add(1, Ordering::Relaxed);
    }

    /// Its blocks run again.
    pub(crate) fn begins_again(&self) {
        self.0.done.store(0, Ordering::Relaxed);
    }

    /// A number of blocks has ended.
    pub(crate) fn ended(&self, blocks: u64) {
        self.0.done.fetch_add(blocks, Ordering::Relaxed);
    }

    /// The current progress.
    pub fn now(&self) -> Moment {
        let blocks = self.0.blocks.load(Ordering::Relaxed);
        Moment {
            launches: self.0.launches.load(Ordering::Relaxed),
            blocks,
            blocks_done: self.0.done.load(Ordering::Relaxed).min(blocks),
        }
    }
}
