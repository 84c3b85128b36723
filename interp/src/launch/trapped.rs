//! Describes why the blocks of a launch could not go on.

use std::collections::VecDeque;

use crate::fault::address::AddressKind;
use crate::fault::trap::{Trap, TrapKind, Waiting, WaitingState};
use crate::isa::bytecode::Waitplace;
use crate::isa::op::Op;
use crate::launch::Run;
use crate::machine::block::Block;
use crate::machine::warp::WarpState;
use crate::machine::{Fault, Machine};
use crate::observe::Observer;

impl Run<'_> {
    /// The trap of a warp's fault: its place, and the other lanes involved.
    pub(crate) fn trap<O: Observer>(
        &self,
        machine: &Machine<'_, O>,
        block: &Block,
        place: usize,
        fault: Fault,
    ) -> Trap {
        let warp = &block.warps[place];
        let number = warp.number as usize;
        let pc = match fault.kind {
            TrapKind::Endless => self.spinning_pc(warp.pc),
            _ => warp.pc,
        };
        let mut others = Vec::new();
        if fault.kind.is_about_missing_lanes() {
            let mut missing = warp.lanes & !warp.gone & !warp.mask;
            // The kernel's registers still hold their values from the time of the call.
            let places = [Some(warp.pc), warp.stack.outermost_call()];
            let waits_here = |wait: &&Waitplace| {
                let mut places = places.iter().flatten();
                places.any(|pc| (wait.start..wait.end).contains(pc))
            };
            for wait in self.code.waits.iter().filter(waits_here) {
                let waiting = missing & warp.registers.s[wait.save as usize] as u32;
                if waiting != 0 {
                    missing &= !waiting;
                    others.push(Waiting {
                        block: self.shape.block_index(block.index),
                        thread: self.shape.thread_index(number, waiting.trailing_zeros()),
                        threads: waiting.count_ones(),
                        loc: wait.loc,
                        state: WaitingState::AtReconvergence,
                    });
                }
            }
        }
        Trap {
            others,
            ..machine.trap(warp, (block.index, number), pc, fault)
        }
    }

    /// The deadlock of these blocks: where each warp waits.
    pub(crate) fn deadlock<O>(
        &self,
        machine: &Machine<'_, O>,
        suspended: &VecDeque<Block>,
    ) -> Trap {
        let mut others = Vec::new();
        for block in suspended {
            for warp in &block.warps {
                let number = warp.number as usize;
                let (pc, state) = match warp.state {
                    WarpState::Done => continue,
                    WarpState::AtBarrier => (warp.pc.saturating_sub(1), WaitingState::AtBarrier),
                    WarpState::AtNumbered(barrier) => {
                        let (come, wanted) = block.numbered.counts(barrier, &block.warps);
                        let state = WaitingState::AtNumbered {
                            barrier,
                            come,
                            wanted,
                        };
                        (warp.pc.saturating_sub(1), state)
                    }
                    WarpState::AtSync => (warp.pc, WaitingState::AtSync),
                    WarpState::Ready => (self.spinning_pc(warp.pc), WaitingState::Spinning),
                };
                others.push(Waiting {
                    block: self.shape.block_index(block.index),
                    thread: self
                        .shape
                        .thread_index(number, warp.mask.trailing_zeros().min(31)),
                    threads: warp.mask.count_ones(),
                    loc: self.code.locs[pc as usize],
                    state,
                });
            }
        }
        others.sort_by_key(|waiting| (waiting.block[2], waiting.block[1], waiting.block[0]));
        let first = others
            .iter()
            .find(|waiting| waiting.state == WaitingState::Spinning)
            .or(others.first())
            .cloned();
        Trap {
            kind: match self.awaits_host(machine, suspended) {
                true => TrapKind::AwaitsHost,
                false => TrapKind::Deadlock,
            },
            loc: first
                .as_ref()
                .map_or(self.config.loc, |waiting| waiting.loc),
            block: first.as_ref().map_or([0; 3], |waiting| waiting.block),
            thread: first.as_ref().map_or([0; 3], |waiting| waiting.thread),
            on_host: false,
            others,
            overflow: None,
        }
    }

    /// Whether a warp spins in a loop that reads memory which the host can write while a kernel runs: managed or
    /// pinned.
    fn awaits_host<O>(&self, machine: &Machine<'_, O>, suspended: &VecDeque<Block>) -> bool {
        let warps = suspended.iter().flat_map(|block| &block.warps);
        let mut spinning = warps.filter(|warp| warp.state == WarpState::Ready);
        spinning.any(|warp| {
            let (head, end) = (warp.pc as usize, self.spinning_pc(warp.pc) as usize);
            let insts = self.code.insts.get(head..=end).unwrap_or_default();
            let mut looks = insts
                .iter()
                .filter(|inst| matches!(inst.op, Op::LoadGlobal | Op::AtomicGlobal));
            looks.any(|inst| {
                let last = machine.regions.last[inst.c as usize];
                let region = self.map.regions[last as usize];
                self.memory.kind_of(region.base) == AddressKind::Managed
            })
        })
    }

    /// A warp that yields is at the head of a loop. The loop's place is that of the back edge to this head.
    fn spinning_pc(&self, head: u32) -> u32 {
        let edge = self
            .code
            .insts
            .iter()
            .position(|inst| inst.back_edge_to() == Some(head));
        edge.map_or(head, |at| at as u32)
    }
}
