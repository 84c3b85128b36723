//! Numbered barriers of a block or of some of its warps: PTX's `bar.sync a, b`, `bar.arrive`, and their forms for
//! threads that arrive separately (PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier").

use crate::fault::trap::TrapKind;
use crate::isa::bytecode::Place;
use crate::isa::mask::LaneMask;
use crate::machine::fragment;
use crate::machine::warp::{Warp, WarpState};
use crate::machine::{Fault, Machine};
use crate::observe::Observer;

/// How many a block has.
const BARRIERS: usize = 16;

/// The numbered barriers of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbered([Barrier; BARRIERS]);

/// One numbered barrier.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Threads that have arrived, counted as PTX does: a warp that arrives whole counts as 32.
    come: u32,
    /// How many threads it waits for, set by the first to arrive; 0: all of the block.
    threads: u32,
}

impl Barrier {
    /// How many threads it waits for.
    fn wanted(&self, warps: &[Warp]) -> u32 {
        match self.threads {
            0 => living(warps),
            threads => threads,
        }
    }
}

impl Numbered {
    /// How many threads have arrived at a barrier, and how many it waits for.
    pub(crate) fn counts(&self, number: u32, warps: &[Warp]) -> (u32, u32) {
        let barrier = self.0.get(number as usize).copied().unwrap_or_default();
        (barrier.come, barrier.wanted(warps))
    }

    /// The active lanes of a warp arrive at the barrier before its place.
    pub(crate) fn come<O: Observer>(
        &mut self,
        warp: &mut Warp,
        machine: &mut Machine<'_, O>,
    ) -> Result<(), Box<Fault>> {
        let at = warp.pc as usize - 1;
        let row = machine.code.barriers[machine.code.insts[at].a as usize];
        let number = value(warp, row.barrier);
        let threads = value(warp, row.threads);
        let barrier = number.and_then(|number| self.0.get_mut(number as usize));
        let (Some(number), Some(threads), Some(barrier)) = (number, threads, barrier) else {
            return Err(invalid(warp, number, threads));
        };
        let others_agree = barrier.come == 0 || barrier.threads == threads;
        if !threads.is_multiple_of(32) || row.arrives && threads == 0 || !others_agree {
            return Err(invalid(warp, Some(number), Some(threads)));
        }
        let is_whole = warp.apart == 0;
        barrier.come += if is_whole { 32 } else { warp.mask.count_ones() };
        barrier.threads = threads;
        machine.observer.arrive(number, warp.mask);
        if !row.arrives {
            warp.state = WarpState::AtNumbered(number);
        }
        Ok(())
    }

    /// Opens the barriers at which all threads have arrived. Returns whether there were any.
    pub(crate) fn open<O: Observer>(
        &mut self,
        warps: &mut [Warp],
        machine: &mut Machine<'_, O>,
    ) -> bool {
        let mut any = false;
        for (number, barrier) in (0..).zip(&mut self.0) {
            if barrier.come == 0 {
                continue;
            }
            if barrier.come < barrier.wanted(warps) {
                continue;
            }
            *barrier = Barrier::default();
            any = true;
            for warp in warps.iter_mut() {
                if warp.state == WarpState::AtNumbered(number) {
                    warp.state = WarpState::Ready;
                    machine.observer.pass(number, warp.number, warp.mask);
                }
            }
            machine.observer.opened(number);
            fragment::join_behind_barrier(warps, machine);
        }
        any
    }
}

/// Whether threads wait at a numbered barrier.
pub(crate) fn is_awaited(warps: &[Warp]) -> bool {
    let waits = |warp: &Warp| matches!(warp.state, WarpState::AtNumbered(_));
    warps.iter().any(waits)
}

/// Threads of the block that have not ended, in whole warps.
fn living(warps: &[Warp]) -> u32 {
    let alive = |warp: &&Warp| warp.lanes & !warp.gone != 0;
    let mut numbers: Vec<u32> = warps.iter().filter(alive).map(|warp| warp.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    32 * numbers.len() as u32
}

/// The value of an operand in the active lanes, if it is the same in all.
fn value(warp: &Warp, place: Place) -> Option<u32> {
    match place {
        Place::S(register) => Some(warp.registers.s[register as usize] as u32),
        Place::V(register) => {
            let lanes = &warp.registers.v[register as usize].0;
            let first = lanes[warp.mask.trailing_zeros() as usize & 31];
            let same = |lane: usize| lanes[lane] == first;
            LaneMask(warp.mask).lanes().all(same).then_some(first)
        }
    }
}

/// The number of the barrier, or its number of threads, is invalid.
fn invalid(warp: &mut Warp, barrier: Option<u32>, threads: Option<u32>) -> Box<Fault> {
    warp.pc -= 1;
    Box::new(Fault {
        kind: TrapKind::InvalidBarrier { barrier, threads },
        lane: warp.mask.trailing_zeros() & 31,
    })
}
