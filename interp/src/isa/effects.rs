//! What a kernel does to global memory, as its code carries it.

use std::collections::{HashMap, HashSet};

use ir::{GlobalId, LocId, ValueId};

/// Where a pointer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// A parameter.
    Param(u32),
    /// A variable of the module.
    Global(GlobalId),
}

/// An access that hears from other threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    pub(crate) loc: LocId,
    /// Else a volatile load.
    pub(crate) is_atomic: bool,
    /// A branch depends on what it gives.
    pub(crate) decides: bool,
}

/// The effects of a kernel on global memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// Atomics, volatile accesses, fences or the clock: the order of blocks can be seen.
    pub(crate) ordered: bool,
    /// It takes memory of the device's heap, or gives it back.
    pub(crate) heap: bool,
    /// Threads may tell each other something: atomics whose result is used, volatile loads, fences.
    pub(crate) communicates: bool,
    /// Where: the first of those atomics and volatile loads, one that decides a branch before others.
    pub(crate) talks_at: Option<Talk>,
    /// What stores and atomics go to; `None` if that is not known.
    pub(crate) stores: Option<Vec<Root>>,
    /// The same of loads.
    pub(crate) loads: Option<Vec<Root>>,
    /// The only thing that the pointer of an access starts from, by the pointer's value.
    pub(crate) roots: HashMap<ValueId, Root>,
    /// Loads whose value is a guess that a compare-and-swap tests: the places of their instructions.
    pub(crate) guesses: HashSet<LocId>,
    /// Accesses that wait for other threads.
    pub(crate) polls: Polls,
}

/// Places of instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polls {
    /// Loads and atomics that decide whether their loop goes on, and atomics that decide any branch.
    pub(crate) waits: HashSet<LocId>,
    /// Among them those that take a lock: a compare-and-swap with a constant, an exchange or `atomicOr` that writes one, and, with a
    /// ticket that an atomic gave before the loop, whatever it is compared with.
    pub(crate) takes: HashSet<LocId>,
    /// `volatile` loads that decide any branch.
    pub(crate) glances: HashSet<LocId>,
    /// `volatile` stores of a constant: a flag is set.
    pub(crate) signs: HashSet<LocId>,
}
