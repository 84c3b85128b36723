//! Accesses that are done later than their place in the program: loads whose value has not been used yet, and atomics.
//!
//! The model lets a thread's accesses to different words happen in any order, as long as neither uses the other's result
//! and nothing orders them. So a thread may read a value that another thread stored only after seeing a later store of
//! the first one (load buffering). Here such an access waits while its warp goes on, and is done before any event that
//! it must precede; `machine/weak/later` knows these events. It then acts on memory as it is at that time. No other
//! thread can depend on its result in the meantime, so no effect precedes its cause.
//!
//! A fence of block scope does not order accesses for other blocks, so loads may wait beyond one. Other threads of the
//! block may then already be ordered after the load. Therefore it is done before another thread of the block accesses
//! its word, so that it cannot read a value that was stored because of it. It is also done before a thread of the block
//! makes a fence of device scope, so that accesses of other blocks cannot depend on it. All threads of the block have
//! seen its result from then on.

use ir::LocId;

use crate::fault::trap::AccessOp;
use crate::isa::bytecode::Place as Register;
use crate::isa::mask::LaneMask;

use super::choice::Nth;
use super::late::Late;
use super::word::Message;
use super::{How, Place, Views, Who, is_seen};

/// An access of a warp that is not done yet.
#[derive(Debug)]
pub(crate) struct Later {
    /// Its block, and its warp's place in the block's list.
    pub(crate) agent: (u64, usize),
    pub(crate) what: What,
    pub(crate) mask: u32,
    pub(crate) how: How,
    pub(crate) parts: Vec<Part>,
    /// The first access of the warp that was done before it.
    passed: Option<LocId>,
    /// The number of turns of warps when it was delayed.
    runs: u64,
}

/// The kind of access.
#[derive(Debug)]
pub(crate) enum What {
    Load {
        /// Registers that hold its result, and in which lanes.
        holds: Vec<(Register, u32)>,
        /// Whether it gives one value for all lanes.
        is_uniform: bool,
        /// Whether a fence of block scope has followed since.
        is_behind_fence: bool,
    },
    Atomic {
        /// The number of its instruction.
        pc: usize,
        /// Registers that it still needs.
        needs: Vec<Register>,
        /// The register for its result, and whether it has 64 bits; `None` if the register has been overwritten since.
        result: Option<(Register, bool)>,
    },
}

/// The lanes of an access to one word.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) lanes: u32,
    pub(crate) place: Place,
    nth: Nth,
    /// The time of the newest value when it was delayed, and how many values had been stored by then.
    time: u64,
    moment: u64,
    is_done: bool,
    /// For a load that is done: its result, if it differs from the first one.
    pub(crate) value: Option<u32>,
}

impl Part {
    /// The same for other lanes and another word.
    pub(crate) fn with(&self, lanes: u32, place: Place) -> Part {
        Part {
            lanes,
            place,
            ..*self
        }
    }
}

impl Views {
    /// Whether the current warp has accesses that are not done yet.
    pub(crate) fn has_later(&self) -> bool {
        self.here > 0
    }

    pub(super) fn count_laters(&mut self) {
        let agent = (self.block, self.at);
        self.here = self
            .laters
            .iter()
            .filter(|later| later.agent == agent)
            .count();
    }

    /// How many accesses of the current warp wait.
    pub(crate) fn later_count(&self) -> usize {
        self.here
    }

    /// Whether lanes of the current warp delay an access to a word.
    pub(crate) fn puts_off(&mut self, lanes: u32, place: Place) -> Option<Part> {
        let who = self.who(lanes.trailing_zeros() as usize & 31);
        let nth = self.chooser.later(who, place)?;
        let number = self.numbers.get(&place);
        let time = number.map_or(0, |&number| {
            let word = &self.words[number as usize];
            word.at(word.newest()).time
        });
        Some(Part {
            lanes,
            place,
            nth,
            time,
            moment: self.moment,
            is_done: false,
            value: None,
        })
    }

    /// Delays an access of the current warp.
    pub(crate) fn put_off(&mut self, mask: u32, how: How, what: What, parts: Vec<Part>) {
        if let What::Load { .. } = what {
            for part in &parts {
                for lane in LaneMask(part.lanes) {
                    let who = self.who(lane);
                    self.thread(who).count += 1;
                }
            }
        }
        self.laters.push(Later {
            agent: (self.block, self.at),
            what,
            mask,
            how,
            parts,
            passed: None,
            runs: self.runs,
        });
        self.here += 1;
    }

    /// The current warp makes another access before the waiting ones.
    pub(crate) fn passes(&mut self, at: LocId) {
        for later in self.own() {
            later.passed.get_or_insert(at);
        }
    }

    /// The waiting accesses of the current warp, in order.
    pub(crate) fn own(&mut self) -> impl Iterator<Item = &mut Later> {
        let agent = (self.block, self.at);
        let laters = self.laters.iter_mut();
        laters.filter(move |later| later.agent == agent)
    }

    /// Removes and returns those of them that are due.
    pub(crate) fn take(&mut self, mut is_due: impl FnMut(&mut Later) -> bool) -> Vec<Later> {
        let agent = (self.block, self.at);
        let due = self
            .laters
            .extract_if(.., |later| later.agent == agent && is_due(later));
        let due: Vec<Later> = due.collect();
        self.here -= due.len();
        due
    }

    /// A thread of the block is about to access a word. Loads of other threads that wait beyond a fence of block scope
    /// are done first.
    pub(crate) fn accesses(&mut self, lane: usize, place: Place) {
        if self.laters.is_empty() {
            return;
        }
        let who = self.who(lane);
        self.reads_behind_fences(|part| {
            part.place == place
                && !(part.nth.0.block == who.block
                    && part.nth.0.thread / 32 == who.thread / 32
                    && part.lanes >> lane & 1 == 1)
        });
    }

    /// Does the loads of the block that wait beyond a fence of block scope, although their warps do not know that yet.
    pub(super) fn reads_behind_fences(&mut self, is_due: impl Fn(&Part) -> bool) {
        let block = self.block;
        let is_due = |later: &Later| {
            let is_behind = matches!(
                later.what,
                What::Load {
                    is_behind_fence: true,
                    ..
                }
            );
            later.agent.0 == block && is_behind && later.parts.iter().any(&is_due)
        };
        if !self.laters.iter().any(is_due) {
            return;
        }
        let mut laters = std::mem::take(&mut self.laters);
        for later in laters.iter_mut().filter(|later| is_due(later)) {
            self.read(later);
        }
        self.laters = laters;
    }

    /// Does a load. Returns whether it gives an old value.
    pub(crate) fn read(&mut self, later: &mut Later) -> bool {
        let is_behind_fence = matches!(
            later.what,
            What::Load {
                is_behind_fence: true,
                ..
            }
        );
        let (how, passed) = (later.how, later.passed);
        let mut is_late = false;
        for part in later.parts.iter_mut().filter(|part| !part.is_done) {
            part.is_done = true;
            let Some(&number) = self.numbers.get(&part.place) else {
                continue;
            };
            let (who, key) = (part.nth.0, (part.nth, true));
            self.chooser.nth(who, part.place);
            // Its lanes are in one warp.
            let first = who.thread & !31;
            let threads = || {
                LaneMask(part.lanes).lanes().map(move |lane| Who {
                    block: who.block,
                    thread: first + lane as u32,
                })
            };
            let seen = threads().map(|who| self.thread(who).view.of(number)).max();
            let word = &self.words[number as usize];
            let (newest, oldest) = (word.newest(), word.oldest_from(seen.unwrap_or(0)));
            let back = self.chooser.back(key, true, newest - oldest);
            let index = newest - back;
            let word = &self.words[number as usize];
            let (message, missed) = (word.at(index).clone(), word.after(index).cloned());
            part.value = Some(message.value);
            is_late |= back > 0;
            if message.moment > part.moment {
                let after = passed.unwrap_or(how.at);
                self.note_later(
                    part.nth,
                    back as u32,
                    (&message, after),
                    (how, AccessOp::Load),
                );
            } else if let Some(missed) = missed.filter(|_| message.time != part.time) {
                self.note_late(key, (number, index), &message, &missed, how, AccessOp::Load);
            }
            for who in threads() {
                self.sees(who, number, &message, how);
                if is_behind_fence && is_seen(&message, who, how) {
                    self.block_sees(who.block, number, message.time);
                }
            }
        }
        is_late
    }

    /// All threads of a block have seen a value.
    fn block_sees(&mut self, block: u64, number: u32, time: u64) {
        for thread in self.blocks.entry(block).or_default().iter_mut() {
            thread.view.see(number, time);
        }
        self.block_fences
            .entry(block)
            .or_default()
            .see(number, time);
    }

    /// A waiting atomic is done.
    pub(crate) fn has_acted(&mut self, later: &Later) {
        let Some(part) = later.parts.first().filter(|_| later.runs != self.runs) else {
            return;
        };
        let after = later.passed.unwrap_or(later.how.at);
        let (nth, how) = (part.nth, later.how);
        self.note_later(
            nth,
            0,
            (&Message::default(), after),
            (how, AccessOp::Atomic),
        );
    }

    /// Records that an access was done later than its place in the program, if that may matter.
    fn note_later(
        &mut self,
        nth: Nth,
        back: u32,
        (message, after): (&Message, LocId),
        (how, op): (How, AccessOp),
    ) {
        self.lates.push(Late {
            nth,
            back,
            op,
            is_later: true,
            after: Some(after),
            at: how.at,
            value: message.value,
            missed: message.value,
            missed_at: message.at,
            missed_by: message.by,
            despite: None,
            turn: 0,
        });
    }
}
