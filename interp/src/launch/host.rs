//! Runs host functions: the scalar half of the machine. It leaves the loop with an event for what only the runtime can
//! do.
//!
//! A call has a window of scalar registers, and a part of the stack for its arrays and structs. That part is zeroed
//! when the call begins, so a program that reads uninitialised memory does the same in each run. The stack is one
//! object: an index outside a named array is caught, but a pointer that runs into a neighbour on the stack is not.

mod access;
mod cache;
mod call;
mod fused;
mod run;
mod unset;

use ir::locate::is_library;
use ir::{FuncId, HostFn, LocId, Type};

use crate::fault::stop::StopFlag;
use crate::fault::trap::{Trap, TrapKind};
use crate::isa::bytecode::Code;
use crate::isa::registers::Registers;
use crate::memory::Memory;
use crate::program::Program;

use cache::Caches;
use call::Frame;
use run::Stop;
use unset::Shadow;
use unset::scene::Scene;
pub use unset::{HostUnset, HostUse, UnsetSource};

/// Why a host thread stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum HostEvent {
    /// It calls the runtime; resume it with the answer.
    Call {
        /// The function.
        func: HostFn,
        /// Types and bits of the arguments.
        args: Vec<(Type, u64)>,
        /// The call's place.
        loc: LocId,
    },
    /// It launches a kernel; resume it with `None`.
    Launch {
        /// The kernel.
        kernel: FuncId,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Dynamic shared memory.
        shared_bytes: u64,
        /// The stream.
        stream: u64,
        /// Whether all blocks have to be resident at once.
        cooperative: bool,
        /// Bits of the arguments, one per parameter.
        args: Vec<u64>,
        /// The place of the statement.
        loc: LocId,
    },
    /// It made an invalid access, which was skipped: see [`HostThread::keep_going`]. Resume it with `None`.
    Skipped(Box<Trap>),
    /// It is about to use a result that is missing because its launch was only counted: see
    /// [`HostThread::halt_at_not_computed`]. It cannot be resumed.
    NotComputed(Box<HostUnset>),
    /// It returned.
    Done(Option<u64>),
}

/// The most accesses that a host thread may skip, so that a runaway loop ends.
const MAX_SKIPS: u32 = 100_000;

/// A running host function.
#[derive(Debug)]
pub struct HostThread {
    frames: Vec<Frame>,
    registers: Registers,
    stack_top: u64,
    executed: u64,
    /// The instruction count at which to check again for memory that has been written completely ([`Caches::settle`]).
    settles_at: u64,
    /// The register that receives the result of a call.
    awaits: Option<u32>,
    start: (FuncId, Vec<u64>),
    /// How many more accesses may be skipped.
    skips_left: u32,
    /// The places of skipped accesses.
    skipped: Vec<LocId>,
    stop: StopFlag,
    /// Tracks uninitialised values.
    shadow: Shadow,
    caches: Caches,
}

impl HostThread {
    /// A thread that will run `func` with these arguments (bits, one per parameter).
    pub fn new(program: &Program, func: FuncId, args: &[u64]) -> HostThread {
        debug_assert_eq!(program.module().function(func).params.len(), args.len());
        HostThread {
            frames: Vec::new(),
            registers: Registers::default(),
            stack_top: 0,
            executed: 0,
            settles_at: 0,
            awaits: None,
            start: (func, args.to_vec()),
            skips_left: 0,
            skipped: Vec::new(),
            stop: StopFlag::default(),
            shadow: Shadow::default(),
            caches: Caches::default(),
        }
    }

    /// Makes the thread end in [`TrapKind::Stopped`] when a stop is requested.
    #[must_use]
    pub fn stopped_by(self, stop: &StopFlag) -> HostThread {
        HostThread {
            stop: stop.clone(),
            ..self
        }
    }

    /// Continues after accesses that are out of bounds, misaligned or to freed memory: they are skipped, and a load
    /// gives 0. A real machine lets many of them pass. An access that would end the program there (through a null
    /// pointer) also ends it here, and so does any of these after a large number of them.
    pub fn keep_going(&mut self) {
        self.skips_left = MAX_SKIPS;
    }

    /// Tracks uninitialised values from now on, until they influence something. Call it before anything runs.
    pub fn follow_unset(&mut self) {
        self.shadow.on = true;
    }

    /// Halts where a result that is missing because its launch was only counted influences something other than printed
    /// text. Call it before anything runs, with [`HostThread::follow_unset`].
    pub fn halt_at_not_computed(&mut self) {
        self.shadow.halts = true;
    }

    /// Reports no more uninitialised values: something else went wrong, and later values may be missing because of it.
    pub fn mute_unset(&mut self) {
        self.shadow.is_muted = true;
    }

    /// The uses of uninitialised values found so far.
    pub fn take_unset(&mut self) -> Vec<HostUnset> {
        self.shadow.take_found()
    }

    /// Records that the runtime, called at `loc`, reads a range of bytes: their address and number.
    pub fn looked_at(
        &mut self,
        program: &Program,
        memory: &Memory,
        loc: LocId,
        bytes: (u64, u64),
        what: HostUse,
    ) {
        let scene = Scene {
            program,
            frames: &self.frames,
            loc,
        };
        if self.shadow.on {
            self.shadow.looked_at(&scene, memory, bytes, what);
        }
    }

    /// Records that a runtime call has copied bytes: destination and source.
    pub fn copied(
        &self,
        program: &Program,
        memory: &mut Memory,
        places: (u64, u64),
        setter: crate::memory::unset::Setter,
    ) {
        let scene = Scene {
            program,
            frames: &self.frames,
            loc: setter.loc,
        };
        let local = scene.local(memory, places.1);
        memory.note_transfer(places, setter, local.as_ref());
    }

    /// The source name of the pointer variable at an address.
    pub fn pointer_at(&self, program: &Program, memory: &Memory, address: u64) -> Option<String> {
        let scene = Scene {
            program,
            frames: &self.frames,
            loc: LocId::default(),
        };
        scene.pointer_at(memory, address)
    }

    /// Instructions executed so far.
    pub fn instructions(&self) -> u64 {
        self.executed
    }

    /// The places of the calls that have not returned, innermost first.
    pub fn calls<'t>(&'t self, program: &'t Program) -> impl Iterator<Item = LocId> + 't {
        let callers = self.frames.iter().rev().skip(1);
        callers.map(|frame| program.code(frame.function).locs[frame.pc.saturating_sub(1)])
    }

    /// The library function that the program has called, if one is running.
    pub fn library_call<'p>(&self, program: &'p Program) -> Option<&'p str> {
        let module = program.module();
        let is_own = |frame: &&Frame| {
            let loc = module.loc(module.function(frame.function).loc);
            is_library(&module.files[loc.file as usize])
        };
        let called = self.frames.iter().rev().take_while(is_own).last()?;
        Some(&module.function(called.function).name)
    }

    /// If the innermost call is in a library function, the place of the call that entered the library.
    fn outside(&self, program: &Program) -> Option<LocId> {
        let module = program.module();
        let is_own = |frame: &&Frame| {
            let loc = module.loc(module.function(frame.function).loc);
            is_library(&module.files[loc.file as usize])
        };
        let mut frames = self.frames.iter().rev();
        frames.clone().next().filter(is_own)?;
        let user = frames.find(|frame| !is_own(frame))?;
        Some(program.code(user.function).locs[user.pc.saturating_sub(1)])
    }

    /// Runs on to the next event. `answer` is the result of the call that it stopped at; `limit` bounds the
    /// instructions executed over the thread's life. After `Done` there is nothing left to run, and it returns
    /// `Done(None)`.
    pub fn resume(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        answer: Option<u64>,
        limit: Option<u64>,
    ) -> Result<HostEvent, Trap> {
        if let (Some(register), Some(frame)) = (self.awaits.take(), self.frames.last()) {
            self.registers.s[frame.registers + register as usize] = answer.unwrap_or(0);
        }
        // The caller may have changed what is mapped where.
        self.caches.forget();
        if self.frames.is_empty() && !self.begin(program, memory)? {
            return Ok(HostEvent::Done(None));
        }
        loop {
            if let Some(unset) = self.shadow.halted.take() {
                return Ok(HostEvent::NotComputed(unset));
            }
            let Some(frame) = self.frames.last() else {
                return Ok(HostEvent::Done(None));
            };
            let code = program.code(frame.function);
            if let Some(why) = self.stop.asked() {
                let loc = code.locs[frame.pc.saturating_sub(1)];
                return Err(trap(TrapKind::Stopped(why), loc));
            }
            let limit = limit.unwrap_or(u64::MAX);
            let stop = match self.shadow.is_live() {
                true => self.run::<true>(program, memory, limit),
                false => match self.fused(program, memory, limit) {
                    Stop::Turn => self.run::<false>(program, memory, limit),
                    stop => stop,
                },
            };
            if let Some(unset) = self.shadow.halted.take() {
                return Ok(HostEvent::NotComputed(unset));
            }
            let frame = self.frames.last().expect("running");
            let code = program.code(frame.function);
            let loc = code.locs[frame.pc.saturating_sub(1)];
            match stop {
                Stop::Event(event) => return Ok(event),
                Stop::Trap(kind) if self.skips_left > 0 && may_pass(&kind) => {
                    if self.skip(code, loc) {
                        return Ok(HostEvent::Skipped(Box::new(trap(kind, loc))));
                    }
                }
                Stop::Trap(kind) => return Err(trap(kind, loc)),
                Stop::Call(row) => self
                    .call(program, memory, code, row)
                    .map_err(|kind| trap(kind, loc))?,
                Stop::Turn => {}
                Stop::Return(value) => {
                    if let Some(value) = self.leave(program, value, loc) {
                        return Ok(match self.shadow.halted.take() {
                            Some(unset) => HostEvent::NotComputed(unset),
                            None => HostEvent::Done(value),
                        });
                    }
                }
            }
        }
    }

    /// Skips the access of the last instruction, which loads 0. Returns whether it is the first one skipped at its
    /// place.
    fn skip(&mut self, code: &Code, loc: LocId) -> bool {
        let frame = self.frames.last().expect("running");
        let site = &code.sites[code.insts[frame.pc - 1].c as usize];
        for &register in site.results() {
            self.registers.s[frame.registers + register as usize] = 0;
        }
        self.skips_left -= 1;
        let is_first = !self.skipped.contains(&loc);
        if is_first {
            self.skipped.push(loc);
        }
        is_first
    }
}

/// Whether a real machine may continue after the trap.
fn may_pass(kind: &TrapKind) -> bool {
    matches!(
        kind,
        TrapKind::OutOfBounds(_) | TrapKind::Misaligned(_) | TrapKind::UseAfterFree(_)
    )
}

fn trap(kind: TrapKind, loc: LocId) -> Trap {
    Trap {
        kind,
        loc,
        block: [0; 3],
        thread: [0; 3],
        on_host: true,
        others: Vec::new(),
        overflow: None,
    }
}
