//! The effects of a kernel on global memory, as part of its code.

use std::collections::{HashMap, HashSet};

use ir::{GlobalId, LocId, ValueId};

/// The origin of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// A parameter.
    Param(u32),
    /// A variable of the module.
    Global(GlobalId),
}

/// An access that communicates with other threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    pub(crate) loc: LocId,
    /// Whether it is an atomic; otherwise it is a volatile load.
    pub(crate) is_atomic: bool,
    /// Whether a branch depends on its result.
    pub(crate) decides: bool,
}

/// The effects of a kernel on global memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// Whether it has atomics, volatile accesses, fences or the clock, so that the order of blocks can be observed.
    pub(crate) ordered: bool,
    /// Whether it allocates or frees memory on the device's heap.
    pub(crate) heap: bool,
    /// Whether threads may communicate: atomics whose result is used, volatile loads, or fences.
    pub(crate) communicates: bool,
    /// The first of those atomics and volatile loads. One that decides a branch comes before others.
    pub(crate) talks_at: Option<Talk>,
    /// The roots of stores and atomics; `None` if unknown.
    pub(crate) stores: Option<Vec<Root>>,
    /// The same for loads.
    pub(crate) loads: Option<Vec<Root>>,
    /// The only root of an access's pointer, by the pointer's value.
    pub(crate) roots: HashMap<ValueId, Root>,
    /// Loads whose value is a guess that a compare-and-swap tests: the places of the instructions.
    pub(crate) guesses: HashSet<LocId>,
    /// Accesses that wait for other threads.
    pub(crate) polls: Polls,
}

/// Places of instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polls {
    /// Loads and atomics that decide whether their loop continues, and atomics that decide any branch.
    pub(crate) waits: HashSet<LocId>,
    /// Those that take a lock: a compare-and-swap with a constant, an exchange or `atomicOr` that writes one, and, if
    /// an atomic before the loop returned a ticket, every access that is compared with it.
    pub(crate) takes: HashSet<LocId>,
    /// `volatile` loads that decide any branch.
    pub(crate) glances: HashSet<LocId>,
    /// `volatile` stores of a constant, which set a flag.
    pub(crate) signs: HashSet<LocId>,
}
