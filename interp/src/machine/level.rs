//! The parts of the engine that differ between its levels.

#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "these are compiled with the features of the engine that calls them"
)]

use crate::isa::bytecode::{Code, Inst};
use crate::isa::registers::View;
use crate::machine::Machine;
use crate::machine::ops::fault::Done;
use crate::machine::ops::rounds::Edge;
use crate::machine::replay::List;
use crate::machine::vectors::Vectors;
use crate::observe::Observer;

macro_rules! accesses {
    ($($name:ident)*) => { $(
        fn $name<const STORES: bool, O: Observer>(
            machine: &mut Machine<'_, O>,
            r: View,
            mask: u32,
            i: &Inst,
        ) -> Done;
    )* };
}

/// A level of the engine. The accesses are separate functions, so that the loop stays small and its state in CPU
/// registers; the rest is what the compiler does not vectorise by itself. `slow_` functions take any request. `rest_`
/// functions serve a request that matches its site's pattern but has no common layout, so that the other functions need
/// few registers.
pub(crate) trait Level: Sized {
    /// Operations on all lanes at once.
    type Vectors: Vectors;
    /// Whether it pauses a warp that has passed as many points as it may.
    const PAUSES: bool = false;
    /// Whether memory is weak: see [`weak`](crate::machine::weak).
    const WEAK: bool = false;
    accesses! { shared rest_shared slow_shared global rest_global slow_global }
    /// See [`Replayer`](crate::machine::replay::run::Replayer).
    fn replay<O: Observer>(
        machine: &mut Machine<'_, O>,
        list: &mut List,
        shared: &mut [u8],
        index: u64,
    ) -> bool;
    /// See [`idle::rounds`](crate::machine::idle::rounds).
    fn idle(code: &Code, r: View, row: u32, mask: u32) -> (u32, bool);
    /// Runs up to `most` iterations of a loop with [few loads](crate::isa::rounds::FEW_LOADS) together. Returns how
    /// many.
    fn rounds<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        edge: &Edge<'_>,
        most: u64,
    ) -> u32;
    /// The same for a loop with any number of loads, whose lists take more space.
    fn many_rounds<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        edge: &Edge<'_>,
        most: u64,
    ) -> u32;
}
