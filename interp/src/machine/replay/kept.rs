//! A cache of lists that outlive their launch: its other workers and later equal launches need not record again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{FEW_BLOCKS, List};
use crate::config::{Checks, Order};
use crate::isa::grid::Shape;
use crate::machine::Machine;
use crate::observe::Observer;
use crate::rules::RuleSet;

/// The most kinds of launches cached for a kernel. Buffers that swap in turn, and the sides of a grid that is halved,
/// are a few kinds.
const MOST_KINDS: usize = 8;

/// The key of a cache entry: everything, apart from the kernel, that a list depends on.
#[derive(PartialEq)]
pub(super) struct Key {
    args: Vec<u64>,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
    is_cooperative: bool,
    rules: RuleSet,
    checks: Checks,
    order: Order,
    /// The addresses of variables and strings that the kernel uses.
    symbols: Vec<Option<u64>>,
    /// The base and size of each region, and whether it may be written.
    regions: Vec<(u64, u64, bool)>,
    /// Whether the observer sees every access, and which regions it watches.
    sees_repeats: bool,
    watched: Vec<bool>,
}

impl Key {
    fn of<O: Observer>(machine: &Machine<'_, O>) -> Key {
        let Shape {
            grid,
            block,
            shared_bytes,
            cooperative,
            // Follows from the architecture.
            multiprocessors: _,
            args,
        } = machine.shape;
        let regions = &machine.map.regions;
        let symbols = machine.code.registers.s_symbols.iter();
        Key {
            args: args.to_vec(),
            grid,
            block,
            shared_bytes,
            is_cooperative: cooperative,
            rules: machine.policy.rules,
            checks: machine.policy.checks,
            order: machine.policy.order,
            symbols: symbols
                .map(|&(_, object)| machine.memory.object_address(object))
                .collect(),
            regions: regions
                .iter()
                .map(|region| (region.base, region.size, region.writable))
                .collect(),
            sees_repeats: O::SEES_REPEATS,
            watched: regions
                .iter()
                .map(|region| machine.observer.watches(region.index))
                .collect(),
        }
    }
}

/// What is known of the blocks of a kind of launches.
#[derive(Clone, Default)]
pub(super) enum Learned {
    #[default]
    Nothing,
    List(Arc<List>),
    /// The blocks have no list.
    NoList,
}

struct Kind {
    key: Arc<Key>,
    known: Learned,
    /// The value of `ReplayCache::version` when `known` was learned.
    version: u64,
    /// Blocks of its launches since the last failure.
    blocks: u128,
    /// How many recordings failed, or gave a list that served hardly any block.
    failures: u32,
}

/// How many blocks make an attempt worthwhile. The number doubles with each failure, so that repeated small launches
/// spend little on recordings that never work.
fn wanted_blocks(failures: u32) -> u128 {
    FEW_BLOCKS.saturating_mul(1 << failures.min(20))
}

/// The cache entries of a kernel: what its launches learned about their blocks.
#[derive(Default)]
pub(crate) struct ReplayCache {
    /// The most recently used one is the last.
    kinds: Mutex<Vec<Kind>>,
    /// How often something has been learned.
    version: AtomicU64,
    /// Whether a worker is recording a block. The others then go on instead of doing the same.
    is_taken: AtomicBool,
}

impl std::fmt::Debug for ReplayCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReplayCache of {} kinds of launches", self.kinds().len())
    }
}

/// A worker's right to record a block.
pub(super) struct Claim<'a>(&'a AtomicBool);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl ReplayCache {
    fn kinds(&self) -> MutexGuard<'_, Vec<Kind>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry with this key, moved to the end.
    fn kind<'k>(kinds: &'k mut Vec<Kind>, key: &Arc<Key>) -> &'k mut Kind {
        let kind = match kinds.iter().position(|kind| kind.key == *key) {
            Some(at) => kinds.remove(at),
            None => Kind {
                key: Arc::clone(key),
                known: Learned::Nothing,
                version: 0,
                blocks: 0,
                failures: 0,
            },
        };
        if kinds.len() == MOST_KINDS {
            kinds.remove(0);
        }
        kinds.push(kind);
        kinds.last_mut().expect("one was added")
    }

    /// The right to record, unless another worker has it.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        let is_taken = self.is_taken.swap(true, Ordering::Acquire);
        (!is_taken).then_some(Claim(&self.is_taken))
    }

    /// Stores what a worker has learned about its launch's blocks. Returns its version.
    fn learn(&self, key: &Arc<Key>, known: Learned) -> u64 {
        let mut kinds = self.kinds();
        let version = self.version.fetch_add(1, Ordering::Relaxed) + 1;
        let kind = ReplayCache::kind(&mut kinds, key);
        (kind.known, kind.version) = (known, version);
        version
    }

    /// Stores that an attempt failed, and removes the list with this version. Returns the number of failures.
    fn fail(&self, key: &Arc<Key>, list: u64) -> u32 {
        let mut kinds = self.kinds();
        let kind = ReplayCache::kind(&mut kinds, key);
        if kind.version == list {
            kind.known = Learned::Nothing;
        }
        (kind.blocks, kind.failures) = (0, kind.failures + 1);
        kind.failures
    }
}

/// What a worker has taken from the cache for its kind of launch.
#[derive(Default)]
pub(super) struct Asked {
    key: Option<Arc<Key>>,
    /// The version of the cache when the worker asked last.
    version: Option<u64>,
    /// The version of its last list.
    list: u64,
}

impl<O: Observer> Machine<'_, O> {
    /// Takes the list of another worker or launch, if there is a new one. Without one, decides whether recording is
    /// worthwhile.
    #[inline(always)]
    pub(super) fn look_for_list(&mut self) {
        let replay = &self.replay;
        if replay.asked.version != Some(replay.kept.version.load(Ordering::Relaxed)) {
            self.ask();
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self) {
        let (is_first, key) = match &self.replay.asked.key {
            Some(key) => (false, Arc::clone(key)),
            None => (true, Arc::new(Key::of(self))),
        };
        let replay = &mut self.replay;
        let (known, version, before, wanted) = {
            let mut kinds = replay.kept.kinds();
            replay.asked.version = Some(replay.kept.version.load(Ordering::Relaxed));
            let kind = ReplayCache::kind(&mut kinds, &key);
            let before = kind.blocks;
            if is_first {
                kind.blocks += replay.blocks;
            }
            let wanted = wanted_blocks(kind.failures);
            (kind.known.clone(), kind.version, before, wanted)
        };
        replay.asked.key = Some(key);
        match known {
            Learned::List(list) if version != replay.asked.list => {
                let mut list = Box::new(List::clone(&list));
                list.number_patterns(&mut replay.patterns);
                (replay.list, replay.asked.list) = (Some(list), version);
            }
            Learned::NoList => replay.attempts = 0,
            Learned::Nothing if is_first && before / replay.workers + replay.blocks < wanted => {
                replay.attempts = 0;
            }
            Learned::Nothing | Learned::List(_) => {}
        }
    }

    /// Stores what it has learned for others.
    pub(super) fn tell_others(&mut self, known: Learned) {
        let replay = &mut self.replay;
        if let Some(key) = &replay.asked.key {
            replay.asked.list = replay.kept.learn(key, known);
        }
    }

    /// An attempt has failed. A launch of few blocks makes no further one.
    pub(super) fn fails(&mut self) {
        let replay = &mut self.replay;
        if let Some(key) = &replay.asked.key {
            let failures = replay.kept.fail(key, replay.asked.list);
            if replay.blocks < wanted_blocks(failures) {
                replay.attempts = 0;
            }
        }
    }
}
