//! What the engine does differently on each kind of CPU.

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

/// What the loop does differently on each kind of CPU: the accesses, which are functions of their own so that the loop stays small and
/// its state in the CPU's registers, and what the compiler does not find by itself. `slow_` takes any request; `rest_` serves one like
/// its site's pattern whose data does not lie in a common way, so that the others need few registers.
pub(crate) trait Level: Sized {
    /// What it does with all lanes at once.
    type Vectors: Vectors;
    /// It pauses a warp that has made as many accesses as it was to.
    const PAUSES: bool = false;
    /// Memory is weak: see [`weak`](crate::machine::weak).
    const WEAK: bool = false;
    fn load_shared<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst)
    -> Done;
    fn rest_load_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_load_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn rest_store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_store_shared<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn load_global<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst)
    -> Done;
    fn rest_load_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_load_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn rest_store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    fn slow_store_global<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        i: &Inst,
    ) -> Done;
    /// See [`Replayer`](crate::machine::replay::run::Replayer).
    fn replay<O: Observer>(
        machine: &mut Machine<'_, O>,
        list: &mut List,
        shared: &mut [u8],
        index: u64,
    ) -> bool;
    /// See [`idle::rounds`](crate::machine::idle::rounds).
    fn idle(code: &Code, r: View, row: u32, mask: u32) -> (u32, bool);
    /// Runs rounds of a loop with [few loads](crate::isa::rounds::FEW_LOADS) at once, up to so many; gives how many.
    fn rounds<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        edge: &Edge<'_>,
        most: u64,
    ) -> u32;
    /// The same of a loop with any number of loads: its lists take room.
    fn many_rounds<O: Observer>(
        machine: &mut Machine<'_, O>,
        r: View,
        mask: u32,
        edge: &Edge<'_>,
        most: u64,
    ) -> u32;
}
