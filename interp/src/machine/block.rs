//! Runs one block of threads: its warps, its shared memory and its barrier.
//!
//! Warps run in ascending order, each until it ends, waits at the barrier, or has used up its slice of loop iterations.
//! When all warps that have not ended wait, the barrier opens. A block is *stuck* when a whole pass over its warps
//! changed nothing: no warp ended or reached the barrier, no memory changed, and every warp that ran is in the same
//! state as in an earlier pass. Then only another block can help it. A block that waits in a loop with a barrier always
//! makes progress, so where blocks can see each other's order, the others get a turn after a number of barriers.

use crate::isa::grid::Shape;
use crate::memory::bytes::refill;

use crate::config::Order;
use crate::fault::trap::TrapKind;
use crate::isa::bytecode::{
    Class, Code, Place, S_COOPERATIVE, S_CTAID, S_FRAME, S_NCTAID, S_NTID, S_SM, S_SM_COUNT,
    S_TID_YZ, V_LANE, V_TID,
};
use crate::isa::mask::LaneMask;
use crate::isa::registers::Registers;
use crate::machine::engine::Runner;
use crate::machine::fragment::{self, Stranded};
use crate::machine::idle_tail::IdleTail;
use crate::machine::numbered::{Numbered, is_awaited};
use crate::machine::ops::routine::Stack;
use crate::machine::ops::skip;
use crate::machine::warp::{Warp, WarpState};
use crate::machine::{Fault, Machine, Stop, meeting};
use crate::memory::Memory;
use crate::observe::Observer;

/// Loop iterations after which a warp lets others run; fewer once nothing seems to change.
pub(crate) const SLICE: u32 = 1024;
const SLICE_WATCHED: u32 = 64;
/// The slice once warps split early, so that a waiting warp is detected soon.
const SLICE_PARTING: u32 = 8;
/// Passes in which warps only spin, even if their registers change, before other blocks get a turn.
const MAX_IDLE_TURNS: u32 = 256;
/// Barriers that a block may pass before other blocks get a turn, if it may be waiting for them.
const BARRIERS: u32 = 256;

/// The most instructions whose accesses a launch may skip. More would say nothing new, and each takes time.
const MAX_SKIPS: u64 = 1 << 20;

/// Bytes that one block may print. On a device the text of a whole launch has 1 MB, and older text is lost.
pub(crate) const MAX_PRINTED: usize = 64 << 20;

/// A block that is running, or waits for other blocks.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its number, x fastest.
    pub(crate) index: u64,
    /// First one for each of its warps, then the fragments: lanes that run separately from their warp.
    pub(crate) warps: Vec<Warp>,
    pub(crate) shared: Vec<u8>,
    pub(crate) printed: Vec<u8>,
    /// Whether its last turn made any progress.
    pub(crate) moved: bool,
    /// Its numbered barriers.
    pub(crate) numbered: Numbered,
    /// Whether lanes have waited for others of their warp or run separately. Until then there are no fragments to look
    /// for.
    parted: bool,
}

/// The result of running each warp once.
struct Round {
    /// A warp ended or arrived at a barrier.
    advanced: bool,
    /// All warps that used up their slice are in the same state as before. Meaningful only for watched passes.
    same: bool,
    /// Some warps used up their slice and can go on.
    left: bool,
    /// Barriers that opened during the pass.
    barriers: u32,
}

/// What happens to a block whose warps cannot go on.
#[derive(Debug)]
pub(crate) enum Met {
    /// Its barrier has opened.
    Open,
    /// All its threads have ended.
    Ends,
    /// They wait for something that cannot happen in this block.
    Stuck,
    Fault {
        warp: usize,
        fault: Box<Fault>,
    },
}

/// What a warp did when it ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ran {
    /// It ended or waits.
    Advanced,
    /// It arrived where its lanes separate, and can go on.
    Goes,
    /// It used up its slice of a loop.
    Yielded,
    /// It passed as many points as it may.
    Paused,
}

/// How a block's turn ended.
#[derive(Debug)]
pub(crate) enum Turn {
    Done,
    /// It waits for others, or may do so.
    Stuck,
    /// A thread ends the launch. Holds the warp's place in the block's list.
    Fault {
        warp: usize,
        fault: Box<Fault>,
    },
}

impl Block {
    /// The warps of a block, with everything that is the same in all blocks: constants, sizes, arguments and thread
    /// numbers.
    pub(crate) fn new(code: &Code, shape: &Shape<'_>, memory: &Memory) -> Block {
        let threads = shape.threads();
        let warps = (0..threads.div_ceil(32))
            .map(|number| Self::warp(code, shape, memory, number, threads))
            .collect();
        Block {
            index: 0,
            warps,
            shared: vec![0; shape.shared_bytes as usize],
            printed: Vec::new(),
            moved: false,
            numbered: Numbered::default(),
            parted: false,
        }
    }

    fn warp(code: &Code, shape: &Shape<'_>, memory: &Memory, number: u32, threads: u32) -> Warp {
        let mut registers = Registers::new(code.registers.v_units, code.registers.s_count);
        for axis in 0..3 {
            registers.s[S_NTID as usize + axis] = u64::from(shape.block[axis]);
            registers.s[S_NCTAID as usize + axis] = u64::from(shape.grid[axis]);
            for lane in 0..32 {
                registers.v[V_TID as usize + axis].0[lane] =
                    shape.thread_index(number as usize, lane as u32)[axis];
            }
        }
        let [_, y, z] = shape.thread_index(number as usize, 0);
        registers.s[S_TID_YZ as usize] = u64::from(y);
        registers.s[S_COOPERATIVE as usize] = u64::from(shape.cooperative);
        registers.s[S_SM_COUNT as usize] = u64::from(shape.multiprocessors);
        registers.s[S_TID_YZ as usize + 1] = u64::from(z);
        for lane in 0..32 {
            registers.v[V_LANE as usize].0[lane] = lane as u32;
        }
        for &(register, bits) in &code.registers.s_init {
            registers.s[register as usize] = bits;
        }
        for &(register, object) in &code.registers.s_symbols {
            registers.s[register as usize] = memory.object_address(object).unwrap_or(0);
        }
        for &(register, class, bits) in &code.registers.v_init {
            fill(&mut registers, register, class, bits);
        }
        for &(param, register, class) in &code.registers.mirrors {
            fill(&mut registers, register, class, shape.args[param as usize]);
        }
        Warp {
            number,
            registers,
            local: vec![0; code.memory.local_bytes as usize * 32],
            stack: Stack::default(),
            pc: 0,
            mask: 0,
            lanes: lanes_of(number, threads),
            gone: 0,
            left: 0,
            state: WarpState::Ready,
            idle: 0,
            idle_row: 0,
            joined_at: 0,
            known_idle: vec![None; code.idle.len()],
            apart: 0,
            awaited: 0,
            vote: None,
            rounds: None,
            fingerprint: 0,
            outline: 0,
        }
    }

    /// Makes it the block with number `index`, at its start. Variables and memory start as zeros.
    pub(crate) fn begin(&mut self, index: u64, code: &Code, shape: &Shape<'_>) {
        self.index = index;
        refill(&mut self.shared, 0);
        self.numbered = Numbered::default();
        self.parted = false;
        let ctaid = shape.block_index(index);
        let multiprocessor = u64::from(shape.multiprocessor(index));
        self.warps.truncate(shape.threads().div_ceil(32) as usize);
        for warp in &mut self.warps {
            let Warp {
                registers, local, ..
            } = warp;
            for (axis, &number) in ctaid.iter().enumerate() {
                registers.s[S_CTAID as usize + axis] = u64::from(number);
            }
            registers.s[S_SM as usize] = multiprocessor;
            registers.s[code.registers.slot_s.start as usize..code.registers.slot_s.end as usize]
                .fill(0);
            for unit in &mut registers.v
                [code.registers.slot_v.start as usize..code.registers.slot_v.end as usize]
            {
                unit.0 = [0; 32];
            }
            for (&(place, class), &bits) in code.registers.params.iter().zip(shape.args) {
                match place {
                    Place::S(register) => registers.s[register as usize] = class.to_register(bits),
                    Place::V(register) => fill(registers, register, class, bits),
                }
            }
            local.truncate(code.memory.local_bytes as usize * 32);
            refill(local, 0);
            warp.stack.clear(code);
            registers.s[S_FRAME as usize] = 0;
            warp.lanes = lanes_of(warp.number, shape.threads());
            (warp.pc, warp.mask, warp.gone) = (0, warp.lanes, 0);
            (warp.apart, warp.awaited, warp.idle) = (0, 0, 0);
            warp.rounds = None;
            (warp.state, warp.vote, warp.fingerprint) = (WarpState::Ready, None, 0);
        }
    }

    /// Runs until the block has ended or cannot go on alone.
    pub(crate) fn turn<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        run: Runner<O>,
    ) -> Turn {
        self.enter(machine);
        let turn = self.passes(machine, run);
        self.leave(machine, matches!(turn, Turn::Done));
        turn
    }

    /// The worker switches to this block.
    pub(crate) fn enter<O: Observer>(&mut self, machine: &mut Machine<'_, O>) {
        std::mem::swap(&mut machine.shared, &mut self.shared);
        std::mem::swap(&mut machine.record.printed, &mut self.printed);
        machine.block = self.index;
        machine.record.reach.enter(self.index);
        machine.observer.begin_block(self.index);
    }

    /// The worker switches away from this block.
    pub(crate) fn leave<O: Observer>(&mut self, machine: &mut Machine<'_, O>, has_ended: bool) {
        machine.record.reach.leave();
        if has_ended {
            machine.observer.end_block();
        }
        std::mem::swap(&mut machine.shared, &mut self.shared);
        std::mem::swap(&mut machine.record.printed, &mut self.printed);
    }

    /// The passes over its warps, from their current state.
    pub(super) fn passes<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        run: Runner<O>,
    ) -> Turn {
        self.moved = false;
        let (mut idle, mut barriers) = (0, 0);
        (machine.pass.watch, machine.pass.slice) = (false, SLICE);
        loop {
            let round = match self.round(machine, run, BARRIERS - 1 - barriers) {
                Ok(round) => round,
                Err((warp, fault)) => return Turn::Fault { warp, fault },
            };
            barriers += round.barriers;
            self.moved |= round.advanced || machine.pass.watch && machine.pass.changed;
            if self.release(machine) {
                (self.moved, idle) = (true, 0);
                continue;
            }
            if !round.left {
                match self.meet(machine) {
                    Met::Open => {}
                    Met::Ends => {
                        self.moved = true;
                        return Turn::Done;
                    }
                    Met::Stuck => return Turn::Stuck,
                    Met::Fault { warp, fault } => return Turn::Fault { warp, fault },
                }
                barriers += 1;
                if barriers == BARRIERS {
                    if machine.code.effects.ordered {
                        self.moved = true;
                        return Turn::Stuck;
                    }
                    barriers = 0;
                }
                (machine.pass.watch, machine.pass.slice) = (false, SLICE);
                idle = 0;
                continue;
            }
            if round.advanced || machine.pass.changed && machine.pass.watch {
                idle = 0;
                continue;
            }
            if machine.parts_early && idle > 1 && self.part(machine) {
                idle = 0;
                continue;
            }
            if machine.pass.watch && round.same && idle > 1 {
                return Turn::Stuck;
            }
            // A turn's first watched pass compares with the state at the end of the last turn, because the time between
            // was not watched.
            self.moved |= machine.pass.watch && !round.same;
            idle += 1;
            machine.pass.watch = true;
            machine.pass.slice = match machine.parts_early {
                true => SLICE_PARTING,
                false => SLICE_WATCHED,
            };
            if idle > MAX_IDLE_TURNS {
                return Turn::Stuck;
            }
        }
    }

    /// Releases the lanes that wait at `__syncwarp`, exchanges and numbered barriers where all have arrived. Returns
    /// whether there were any.
    #[inline(always)]
    pub(crate) fn release<O: Observer>(&mut self, machine: &mut Machine<'_, O>) -> bool {
        let released = self.parted && fragment::release(&mut self.warps, machine);
        let numbered = !machine.code.barriers.is_empty();
        numbered && self.numbered.open(&mut self.warps, machine) || released
    }

    /// When no warp can go on: opens the block's barrier, or returns why it cannot.
    pub(crate) fn meet<O: Observer>(&mut self, machine: &mut Machine<'_, O>) -> Met {
        if self.parted {
            match fragment::stranded(&mut self.warps, machine) {
                Some(Stranded::Fault { warp, fault }) => return Met::Fault { warp, fault },
                Some(Stranded::Deadlock) => return Met::Stuck,
                None => {}
            }
            let apart = fragment::apart_at_barriers(&mut self.warps, machine.code);
            if let Some((warp, fault)) = apart {
                return Met::Fault { warp, fault };
            }
        }
        if !machine.code.barriers.is_empty() && is_awaited(&self.warps) {
            return Met::Stuck;
        }
        if O::SEES_REPEATS && !meeting::is_even(&self.warps) {
            let arrivals = meeting::arrivals(&self.warps);
            machine.observer.uneven_barrier(&arrivals);
        }
        if !meeting::open(&mut self.warps) {
            return Met::Ends;
        }
        machine.observer.barrier();
        if self.parted {
            fragment::join_behind_barrier(&mut self.warps, machine);
        }
        Met::Open
    }

    /// Separates the waiting lanes of one warp from it. Returns their place.
    pub(crate) fn part_at<O: Observer>(
        &mut self,
        place: usize,
        machine: &mut Machine<'_, O>,
    ) -> Option<usize> {
        self.parted = true;
        fragment::part_at(&mut self.warps, place, machine)
    }

    /// Separates some active lanes of one warp from it. Returns their place.
    pub(crate) fn split_at<O: Observer>(
        &mut self,
        place: usize,
        lanes: u32,
        machine: &mut Machine<'_, O>,
    ) -> Option<usize> {
        self.parted = true;
        fragment::split_at(&mut self.warps, place, lanes, machine)
    }

    /// The active lanes continue without those that wait for them.
    #[cold]
    pub(super) fn parts<O: Observer>(
        &mut self,
        place: usize,
        machine: &mut Machine<'_, O>,
    ) -> Result<Ran, (usize, Box<Fault>)> {
        let warp = &self.warps[place];
        let (arrived, lane) = (warp.mask.count_ones(), warp.mask.trailing_zeros());
        let missing = (warp.lanes & !warp.gone & !warp.mask).count_ones();
        if self.part_at(place, machine).is_none() {
            let kind = TrapKind::BarrierDivergence { arrived, missing };
            return Err((place, Box::new(Fault { kind, lane })));
        }
        Ok(Ran::Goes)
    }

    #[cold]
    fn wait<O: Observer>(&mut self, place: usize, machine: &mut Machine<'_, O>) {
        self.parted = true;
        fragment::wait(&mut self.warps, place, machine);
    }

    /// Lets lanes that wait for others of their warp to reconverge go on without them. Returns whether there were any.
    pub(crate) fn part<O: Observer>(&mut self, machine: &mut Machine<'_, O>) -> bool {
        let mut any = false;
        for place in 0..self.warps.len() {
            if self.warps[place].state == WarpState::Ready {
                any |= self.part_at(place, machine).is_some();
            }
        }
        any
    }

    /// Runs each warp that can run once, until it ends, waits, or has used up its slice. Up to `most` times all warps
    /// may arrive at a barrier during the pass and start again after it.
    fn round<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        run: Runner<O>,
        most: u32,
    ) -> Result<Round, (usize, Box<Fault>)> {
        machine.pass.changed = false;
        let mut round = Round {
            advanced: false,
            same: true,
            left: false,
            barriers: 0,
        };
        let count = self.warps.len() as u64;
        let mut turn = 0;
        while turn < count {
            let first = machine.policy.order.number(turn, count) as usize;
            turn += 1;
            if self.warps[first].state != WarpState::Ready {
                continue;
            }
            let (record, limit) = (&mut machine.record, machine.policy.limit);
            let barriers = &mut record.barriers;
            if self.warps[first].idles(machine.code, &mut record.totals, barriers, limit) {
                round.advanced = true;
                continue;
            }
            machine.pass.next = match machine.policy.order {
                _ if self.parted || machine.pass.watch => 0,
                Order::Ascending => 1,
                Order::Descending => -1,
            };
            let opens = !round.left && machine.pass.next != 0 && machine.code.barriers.is_empty();
            machine.pass.barriers = if opens { most - round.barriers } else { 0 };
            let may_open = machine.pass.barriers;
            machine.pass.tail = IdleTail::none(machine.policy.order, self.warps.len());
            let mut place = first;
            let ran = self.run_warps(&mut place, machine, run);
            machine.pass.next = 0;
            let ran = ran?;
            let opened = may_open - machine.pass.barriers;
            round.barriers += opened;
            turn = machine.policy.order.number(place as u64, count) + 1;
            round.advanced |=
                place != first || opened > 0 || matches!(ran, Ran::Advanced | Ran::Goes);
            round.left |= self.warps[place].state == WarpState::Ready || ran == Ran::Goes;
            if ran == Ran::Yielded && machine.pass.watch {
                let warp = &mut self.warps[place];
                let digest = warp.digest();
                round.same &= digest == warp.fingerprint;
                warp.fingerprint = digest;
            }
        }
        Ok(round)
    }

    /// Runs one warp until it ends, waits, or has used up its slice.
    pub(crate) fn run_warp<O: Observer>(
        &mut self,
        place: usize,
        machine: &mut Machine<'_, O>,
        run: Runner<O>,
    ) -> Result<Ran, (usize, Box<Fault>)> {
        debug_assert_eq!(machine.pass.next, 0, "this one alone");
        self.run_warps(&mut { place }, machine, run)
    }

    /// Also runs the warps after it, as far as [`Runner`] does. `last` and the result become those of the last one.
    #[inline(always)]
    fn run_warps<O: Observer>(
        &mut self,
        last: &mut usize,
        machine: &mut Machine<'_, O>,
        run: Runner<O>,
    ) -> Result<Ran, (usize, Box<Fault>)> {
        let place = *last;
        let apart = match self.parted {
            true => fragment::apart(&self.warps, place),
            false => 0,
        };
        let warp = &mut self.warps[place];
        warp.apart = apart;
        let fault = |kind, warp: &Warp| {
            let lane = warp.mask.trailing_zeros();
            (place, Box::new(Fault { kind, lane }))
        };
        if let Some(why) = machine.policy.stop.asked() {
            return Err(fault(TrapKind::Stopped(why), warp));
        }
        machine.observer.begin_warp(warp.number, place);
        let stop = run_on(machine, &mut self.warps, last, run, self.index);
        let place = *last;
        let warp = &mut self.warps[place];
        if let Some(fault) = over_limit(machine, warp, &stop) {
            return Err((place, fault));
        }
        match stop {
            Stop::Done => warp.state = WarpState::Done,
            Stop::Barrier => warp.state = WarpState::AtBarrier,
            Stop::Part => return self.parts(place, machine),
            Stop::Numbered => {
                let come = self.numbered.come(warp, machine);
                come.map_err(|fault| (place, fault))?;
            }
            Stop::Apart => {
                self.wait(place, machine);
                return Ok(Ran::Goes);
            }
            Stop::Fault(fault) if fragment::waits_for_lanes(&fault, machine) => {
                self.wait(place, machine);
                return Ok(Ran::Goes);
            }
            Stop::Fault(fault) => return Err((place, fault)),
            Stop::Pause => return Ok(Ran::Paused),
            Stop::Yield => {
                if warp.is_endless(machine.code) {
                    return Err(fault(TrapKind::Endless, warp));
                }
                return Ok(Ran::Yielded);
            }
        }
        Ok(Ran::Advanced)
    }
}

/// The fault of a warp that has hit a limit: on the text of a block, or on instructions without a loop (loop iterations
/// check the limit themselves). The warp stays at the instruction where it stopped.
fn over_limit<O>(machine: &Machine<'_, O>, warp: &mut Warp, stop: &Stop) -> Option<Box<Fault>> {
    let kind = match stop {
        Stop::Fault(_) => return None,
        _ if machine.record.printed.len() > MAX_PRINTED => {
            TrapKind::PrintLimit { bytes: MAX_PRINTED }
        }
        Stop::Done | Stop::Barrier if machine.record.totals.charged() > machine.policy.limit => {
            let instructions = machine.policy.limit;
            TrapKind::Limit { instructions }
        }
        _ => return None,
    };
    if !matches!(stop, Stop::Yield) {
        warp.pc -= 1;
    }
    let lane = warp.lanes.trailing_zeros();
    Some(Box::new(Fault { kind, lane }))
}

fn fill(registers: &mut Registers, register: u32, class: Class, bits: u64) {
    match class {
        Class::W64 => registers.splat64(register, bits),
        Class::W32 | Class::Mask => registers.splat32(register, bits as u32),
    }
}

/// Runs a warp. If the launch goes on after invalid accesses, each is noted and skipped.
fn run_on<O: Observer>(
    machine: &mut Machine<'_, O>,
    warps: &mut [Warp],
    place: &mut usize,
    run: Runner<O>,
    block: u64,
) -> Stop {
    // The engine starts with a full slice each time, so this many runs count as a slice.
    for _ in 0..SLICE {
        let stop = run(machine, warps, place);
        machine.pass.tail.dissolve(machine.policy.order, warps);
        match stop {
            Stop::Fault(fault)
                if machine.policy.keep_going
                    && fault.kind.access().is_some()
                    && machine.record.skips < MAX_SKIPS =>
            {
                machine.record.skips += 1;
                let warp = &mut warps[*place];
                let lanes = skip::skip(machine, warp, &fault);
                let number = warp.number as usize;
                machine.note_skipped(warp, (block, number), *fault, lanes);
                warp.pc += 1;
            }
            stop => return stop,
        }
    }
    Stop::Yield
}

/// The lanes of a block's warp that are threads.
fn lanes_of(warp: u32, threads: u32) -> u32 {
    LaneMask::first(threads - (warp * 32).min(threads)).0
}
