//! Records a block: runs it one instruction at a time.

use std::sync::Arc;

use super::List;
use super::kept::{Claim, Learned};
use super::plan::{Planner, Refusal};
use crate::machine::block::{Block, Met, SLICE, Turn};
use crate::machine::engine::{Engine, pausing};
use crate::machine::warp::WarpState;
use crate::machine::{Fault, Machine, Record, Stop, Totals, meeting};
use crate::observe::Observer;

/// The most instructions of all warps of a block: a longer list would not stay in the CPU's caches.
const MOST_STEPS: u32 = 4096;

/// The outcome of recording.
enum Outcome {
    Ended,
    /// The block has to continue like any other. `for_good`: the launch has no list.
    Departs {
        for_good: bool,
    },
    Fault(usize, Box<Fault>),
}

impl Block {
    /// Runs a block that has just begun, and stores its list, if it has one. `before`: the totals before the block.
    pub(super) fn record<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        engine: &Engine<O>,
        before: Totals,
        claim: Claim<'_>,
    ) -> Turn {
        let accesses = machine.accesses();
        self.enter(machine);
        if !machine.observer.is_quiet(machine.replay.has_shared) {
            let turn = self.passes(machine, engine.run);
            self.leave(machine, matches!(turn, Turn::Done));
            machine.note_idle(&turn, accesses);
            return turn;
        }
        #[cfg(test)]
        crate::tests::WRITTEN_DOWN.set(crate::tests::WRITTEN_DOWN.get() + 1);
        machine.replay.others = 0;
        let first = self.warps.iter().map(|warp| warp.registers.clone());
        let mut planner = Planner::new(machine.code, first.collect(), O::SEES_REPEATS);
        let counted = Record {
            divergence: machine.record.divergence.clone(),
            barriers: machine.record.barriers.clone(),
            ..Record::new(0)
        };
        machine.is_point = vec![true; machine.code.insts.len()];
        let outcome = self.steps(machine, &mut planner);
        machine.is_point = Vec::new();
        machine.replay.attempts -= 1;
        match outcome {
            Outcome::Ended => {
                machine.note_idle(&Turn::Done, accesses);
                let totals = machine.record.totals.since(&before);
                let record = machine.record.since(&counted);
                let mut list = Box::new(planner.finish(totals, record));
                machine.tell_others(Learned::List(Arc::new(List::clone(&list))));
                drop(claim);
                list.is_witnessed = true;
                list.number_patterns(&mut machine.replay.patterns);
                machine.replay.list = Some(list);
                machine.replay.attempts += 1;
                self.moved = true;
                self.leave(machine, true);
                Turn::Done
            }
            Outcome::Departs { for_good } => {
                if for_good {
                    machine.replay.attempts = 0;
                    machine.tell_others(Learned::NoList);
                } else {
                    machine.fails();
                }
                drop(claim);
                let turn = self.passes(machine, engine.run);
                self.leave(machine, matches!(turn, Turn::Done));
                machine.note_idle(&turn, accesses);
                turn
            }
            Outcome::Fault(warp, fault) => {
                drop(claim);
                self.leave(machine, false);
                Turn::Fault { warp, fault }
            }
        }
    }

    fn steps<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        planner: &mut Planner<'_>,
    ) -> Outcome {
        const DEPARTS: Outcome = Outcome::Departs { for_good: false };
        const NEVER: Outcome = Outcome::Departs { for_good: true };
        let count = self.warps.len() as u64;
        let mut steps = 0;
        (machine.pass.watch, machine.pass.slice, machine.pass.next) = (false, SLICE, 0);
        loop {
            for turn in 0..count {
                let place = machine.policy.order.number(turn, count) as usize;
                if self.warps[place].state != WarpState::Ready {
                    continue;
                }
                // As in the ordinary passes, because the race check counts turns.
                let (totals, barriers) = (&mut machine.record.totals, &mut machine.record.barriers);
                if self.warps[place].idles(machine.code, totals, barriers, machine.policy.limit) {
                    continue;
                }
                let number = self.warps[place].number;
                machine.observer.begin_warp(number, place);
                planner.begin_turn(number, place);
                while self.warps[place].state == WarpState::Ready {
                    steps += 1;
                    if steps > MOST_STEPS {
                        return NEVER;
                    }
                    let warp = &mut self.warps[place];
                    let (step, r) = ((place, warp.pc, warp.mask), warp.registers.view());
                    let weight = machine.code.insts[warp.pc as usize].weight;
                    let charged = machine.record.totals.charged();
                    if charged + u64::from(weight) > machine.policy.limit {
                        return DEPARTS;
                    }
                    match planner.before(machine, step, r) {
                        Ok(()) => {}
                        Err(Refusal::Differs) => return NEVER,
                        Err(Refusal::Leaves) => return DEPARTS,
                    }
                    machine.pass.points = 1;
                    let stop = pausing::<O>()(machine, &mut self.warps, &mut { place });
                    let warp = &mut self.warps[place];
                    match stop {
                        Stop::Pause => {}
                        Stop::Done => warp.state = WarpState::Done,
                        Stop::Barrier => {
                            warp.state = WarpState::AtBarrier;
                            let row = machine.code.insts[step.1 as usize].b;
                            let known = row
                                .checked_sub(1)
                                .and_then(|at| warp.known_idle[at as usize]);
                            if let Some(idle) = known {
                                (warp.idle, warp.idle_row) = (idle, row);
                            }
                        }
                        Stop::Fault(fault) if fault.kind.access().is_none() => {
                            return Outcome::Fault(place, fault);
                        }
                        // The block continues the ordinary way and makes the same access again.
                        Stop::Fault(_) | Stop::Yield | Stop::Apart | Stop::Numbered => {
                            return DEPARTS;
                        }
                        Stop::Part => {
                            return match self.parts(place, machine) {
                                Ok(_) => NEVER,
                                Err((place, fault)) => Outcome::Fault(place, fault),
                            };
                        }
                    }
                    if machine.observer.follows() {
                        return DEPARTS;
                    }
                    planner.after(place, &warp.registers);
                }
            }
            if !meeting::is_even(&self.warps)
                || !machine.observer.is_quiet(machine.replay.has_shared)
            {
                return DEPARTS;
            }
            match self.meet(machine) {
                Met::Open => planner.barrier(),
                Met::Ends => return Outcome::Ended,
                Met::Stuck => return DEPARTS,
                Met::Fault { warp, fault } => return Outcome::Fault(warp, fault),
            }
        }
    }
}
