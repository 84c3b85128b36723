//! How far a run is, for whoever shows it: numbers that the machine leaves behind and never waits for.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// How far the machine is. Copies share the numbers.
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
    /// Launches that began, so the number of the present one, from 1.
    pub launches: u64,
    /// Its blocks.
    pub blocks: u64,
    /// How many of them have ended, about.
    pub blocks_done: u64,
}

impl Progress {
    /// A launch begins.
    pub(crate) fn begins(&self, blocks: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.blocks.store(blocks, Ordering::Relaxed);
        self.0.launches.fetch_add(1, Ordering::Relaxed);
    }

    /// Its blocks run once more.
    pub(crate) fn begins_again(&self) {
        self.0.done.store(0, Ordering::Relaxed);
    }

    /// So many blocks have ended.
    pub(crate) fn ended(&self, blocks: u64) {
        self.0.done.fetch_add(blocks, Ordering::Relaxed);
    }

    /// How far it is.
    pub fn now(&self) -> Moment {
        let blocks = self.0.blocks.load(Ordering::Relaxed);
        Moment {
            launches: self.0.launches.load(Ordering::Relaxed),
            blocks,
            blocks_done: self.0.done.load(Ordering::Relaxed).min(blocks),
        }
    }
}
