//! Host functions: the scalar half of the machine. What only the runtime can do leaves it as an event.
//!
//! A call has a window of scalar registers and a piece of the stack for its arrays and structs, zeroed when it begins so that
//! a program that reads what it never wrote does the same each time. The stack is one object: an index that leaves a
//! named array is caught, a pointer that strays into a neighbour on the stack is not.

mod unset;

use dsl::ir::locate::is_library;
use dsl::ir::{FuncId, HostFn, LocId, MemType, Object, Space, Type, eval};

use crate::compile::program::Program;
use crate::fault::stop::StopFlag;
use crate::fault::trap::{AccessOp, BadAccess, BadObject, Trap, TrapKind};
use crate::isa::bytecode::{Class, Code, Inst, MemSite, Op, Subscript, lane_ops};
use crate::isa::registers::{Registers, View};
use crate::machine::ops::element::{read, write};
use crate::machine::ops::print::trap_kind;
use crate::machine::ops::{convert, float, int, lanes};
use crate::memory::traffic::HostAccess;
use crate::memory::{AddressKind, Memory, STACK_BYTES};

pub use unset::{HostUnset, HostUse, UnsetSource};
use unset::{Scene, Shadow};

/// Why a host thread stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum HostEvent {
    /// It calls the runtime; resume it with the answer.
    Call {
        /// What.
        func: HostFn,
        /// Types and bits of the arguments.
        args: Vec<(Type, u64)>,
        /// Where.
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
        /// All blocks have to be resident at once.
        cooperative: bool,
        /// Bits of the arguments, one per parameter.
        args: Vec<u64>,
        /// Where.
        loc: LocId,
    },
    /// It made an access that is not allowed, which was skipped: see [`HostThread::keep_going`]. Resume it with `None`.
    Skipped(Box<Trap>),
    /// It returned.
    Done(Option<u64>),
}

/// The arms given, then one for every computing instruction's scalar form.
macro_rules! dispatch {
    ({ $inst:ident, $r:ident, { $($arms:tt)* } }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        match $inst.op {
            $($arms)*
            $(Op::$u32s => lanes::s_unary32($r, $inst, $u32f),)*
            $(Op::$u64s => lanes::s_unary64($r, $inst, $u64f),)*
            $(Op::$b32s => lanes::s_binary32($r, $inst, $b32f),)*
            $(Op::$b64s => lanes::s_binary64($r, $inst, $b64f),)*
            $(Op::$c32s => lanes::s_compare32($r, $inst, $c32f),)*
            $(Op::$c64s => lanes::s_compare64($r, $inst, $c64f),)*
            $(Op::$xs => lanes::s_convert32to32($r, $inst, $xf),)*
            $(Op::$ws => lanes::s_convert32to64($r, $inst, $wf),)*
            $(Op::$ns => lanes::s_convert64to32($r, $inst, $nf),)*
            $(Op::$ls => lanes::s_convert64to64($r, $inst, $lf),)*
            op => unreachable!("{op:?} is no host instruction"),
        }
    };
}

/// Accesses that a host thread may skip: a loop that runs away must end.
const MOST_SKIPS: u32 = 100_000;

/// What a call costs on the stack beside its variables.
const FRAME_BYTES: u64 = 64;

#[derive(Debug)]
struct Frame {
    function: FuncId,
    pc: usize,
    /// Its first register.
    registers: usize,
    /// Its first byte on the stack, from the stack's begin.
    stack: u64,
    /// The caller's register for the result.
    result: Option<u32>,
}

/// Instructions between two looks at whether to stop: some tenths of a millisecond.
const PAUSE: u64 = 1 << 16;

/// A host function in the middle of its work.
#[derive(Debug)]
pub struct HostThread {
    frames: Vec<Frame>,
    registers: Registers,
    stack_top: u64,
    executed: u64,
    /// The register that waits for the answer of a call.
    awaits: Option<u32>,
    start: (FuncId, Vec<u64>),
    /// Accesses that may still be skipped.
    skips_left: u32,
    /// Where some were.
    skipped: Vec<LocId>,
    stop: StopFlag,
    /// Values that nobody wrote.
    shadow: Shadow,
}

/// The memory an access hit last: most hit it again.
#[derive(Clone, Copy)]
struct Near {
    base: u64,
    size: u64,
    bytes: *mut u8,
    /// Which bytes somebody wrote, one bit each; null if all, or if nobody asks.
    words: *mut u64,
}

const NOWHERE: Near = Near {
    base: u64::MAX,
    size: 0,
    bytes: std::ptr::null_mut(),
    words: std::ptr::null_mut(),
};

impl Near {
    /// An access of a power of two up to 32 bytes, aligned: which of its bytes nobody wrote, and after a store they are written.
    #[inline]
    fn unset(&self, offset: u64, width: u64, op: AccessOp) -> u32 {
        if self.words.is_null() {
            return 0;
        }
        let mask = ((1u64 << width) - 1) << (offset % 64);
        // SAFETY: there is a bit for each byte of the region, and the access lies in one word: regions begin at multiples of 16.
        let word = unsafe { &mut *self.words.add((offset / 64) as usize) };
        let missing = !*word & mask;
        if missing == 0 {
            return 0;
        }
        if op != AccessOp::Load {
            *word |= mask;
        }
        match op {
            AccessOp::Store => 0,
            AccessOp::Load | AccessOp::Atomic => (missing >> (offset % 64)) as u32,
        }
    }
}

/// What stops the loop.
enum Stop {
    Event(HostEvent),
    Trap(TrapKind),
    Call(usize),
    Return(Option<u64>),
    /// Go on: a register got a value that nobody wrote, or the last such value is gone.
    Turn,
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
            awaits: None,
            start: (func, args.to_vec()),
            skips_left: 0,
            skipped: Vec::new(),
            stop: StopFlag::default(),
            shadow: Shadow::default(),
        }
    }

    /// Has it end in [`TrapKind::Stopped`] when that is asked for.
    #[must_use]
    pub fn stopped_by(self, stop: &StopFlag) -> HostThread {
        HostThread {
            stop: stop.clone(),
            ..self
        }
    }

    /// Goes on after accesses that are out of bounds, misaligned or to freed memory: they are skipped, a load gives 0. On a real
    /// machine many of them pass unseen. What would end the program there (a null pointer) ends it here too; and so does one of
    /// these after a great many.
    pub fn keep_going(&mut self) {
        self.skips_left = MOST_SKIPS;
    }

    /// From now on values that nobody wrote are followed to where they matter. To be called before anything runs.
    pub fn follow_unset(&mut self) {
        self.shadow.on = true;
    }

    /// From now on none are told of: something else went wrong, and what is missing after that may be missing because of it.
    pub fn mute_unset(&mut self) {
        self.shadow.is_muted = true;
    }

    /// What was found of them so far.
    pub fn take_unset(&mut self) -> Vec<HostUnset> {
        self.shadow.take_found()
    }

    /// The runtime, called at `loc`, looks at bytes of memory: where, and how many.
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

    /// A call of the runtime has copied bytes: to where, from where.
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

    /// The variable at an address that holds a pointer, as the source names it.
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

    /// If the innermost call is of the library's, the place of the call that led into it.
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

    /// Runs on to the next event. `answer` is the result of the call it stopped at; `limit` bounds the instructions
    /// executed over the thread's life. After `Done` there is nothing more to run, and it says `Done(None)`.
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
        if self.frames.is_empty() {
            let (function, args) = (self.start.0, std::mem::take(&mut self.start.1));
            if args.len() != program.module().function(function).params.len() {
                return Ok(HostEvent::Done(None));
            }
            let kinds = program.code(function).registers.params.iter();
            let args: Vec<u64> = kinds
                .zip(&args)
                .map(|(&(_, class), &bits)| class.to_register(bits))
                .collect();
            if let Err(kind) = self.enter(program, memory, function, (&args, &[]), None) {
                return Err(trap(kind, program.module().function(function).loc));
            }
        }
        loop {
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
                true => self.run::<true>(program, code, memory, limit),
                false => self.run::<false>(program, code, memory, limit),
            };
            let frame = self.frames.last().expect("running");
            let loc = code.locs[frame.pc.saturating_sub(1)];
            match stop {
                Stop::Event(event) => return Ok(event),
                Stop::Trap(kind) if self.skips_left > 0 && may_pass(&kind) => {
                    let inst = &code.insts[frame.pc - 1];
                    let site = &code.sites[inst.c as usize];
                    let registers = match site.op {
                        AccessOp::Load => &site.values[..site.access.count as usize],
                        AccessOp::Atomic => &[site.result],
                        AccessOp::Store => &[],
                    };
                    for &register in registers {
                        self.registers.s[frame.registers + register as usize] = 0;
                    }
                    self.skips_left -= 1;
                    if !self.skipped.contains(&loc) {
                        self.skipped.push(loc);
                        return Ok(HostEvent::Skipped(Box::new(trap(kind, loc))));
                    }
                }
                Stop::Trap(kind) => return Err(trap(kind, loc)),
                Stop::Call(row) => {
                    let inst = code.insts[frame.pc - 1];
                    let row = &code.calls[row];
                    let base = frame.registers;
                    let args: Vec<u64> = row
                        .args
                        .iter()
                        .map(|&(_, register)| self.registers.s[base + register as usize])
                        .collect();
                    let result = (inst.b == 1).then_some(inst.d);
                    let cells = self.shadow.args(base, &row.args);
                    let target = FuncId(row.target);
                    self.enter(program, memory, target, (&args, &cells), result)
                        .map_err(|kind| trap(kind, loc))?;
                }
                Stop::Turn => {}
                Stop::Return(value) => {
                    if self.frames.len() == 1 {
                        let frames = &self.frames;
                        self.shadow.ended(&Scene {
                            program,
                            frames,
                            loc,
                        });
                    }
                    let done = self.frames.pop().expect("running");
                    self.registers.s.truncate(done.registers);
                    self.shadow.truncate(done.registers);
                    let caller = self.frames.last().map(|caller| caller.registers);
                    let goal = caller.zip(done.result);
                    self.shadow
                        .returned(goal.map(|(base, register)| base + register as usize));
                    self.stack_top = done.stack;
                    match (self.frames.last(), done.result) {
                        (None, _) => {
                            let ty = program.module().function(done.function).result;
                            let value = value.filter(|_| ty.is_some());
                            return Ok(HostEvent::Done(
                                value.map(|bits| plain(ty.unwrap_or(Type::I64), bits)),
                            ));
                        }
                        (Some(caller), Some(register)) => {
                            self.registers.s[caller.registers + register as usize] =
                                value.unwrap_or(0);
                        }
                        (Some(_), None) => {}
                    }
                }
            }
        }
    }

    fn enter(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        function: FuncId,
        (args, cells): (&[u64], &[unset::Cell]),
        result: Option<u32>,
    ) -> Result<(), TrapKind> {
        let code = program.code(function);
        let stack = self.stack_top;
        self.stack_top = stack
            .saturating_add(code.memory.local_bytes)
            .saturating_add(FRAME_BYTES);
        if self.stack_top > STACK_BYTES {
            return Err(TrapKind::StackOverflow);
        }
        if code.memory.local_bytes > 0 {
            memory.begin_frame(
                memory.stack_base() + stack,
                code.memory.local_bytes,
                self.shadow.on,
            );
        }
        let base = self.registers.s.len();
        self.registers
            .s
            .resize(base + code.registers.s_count as usize, 0);
        let registers = &mut self.registers.s[base..];
        for &(register, bits) in &code.registers.s_init {
            registers[register as usize] = bits;
        }
        for &(register, object) in &code.registers.s_symbols {
            registers[register as usize] = match object {
                Object::Global(id) => memory.symbol_address(id),
                Object::String(id) => memory.string_address(id),
                Object::Shared(_) | Object::Local(_) => 0,
            };
        }
        for (&(place, _), &bits) in code.registers.params.iter().zip(args) {
            match place {
                crate::isa::bytecode::Place::S(register) => registers[register as usize] = bits,
                crate::isa::bytecode::Place::V(_) => unreachable!("host functions are scalar"),
            }
        }
        self.frames.push(Frame {
            function,
            pc: 0,
            registers: base,
            stack,
            result,
        });
        if self.shadow.on
            && (!code.registers.unassigned.is_empty()
                || !cells.is_empty()
                || code.memory.local_bytes > 0)
        {
            let scene = Scene {
                program,
                frames: &self.frames,
                loc: LocId::default(),
            };
            let start = memory.stack_base() + stack;
            let bytes = (start, start + code.memory.local_bytes);
            self.shadow.enter(&scene, cells, base, bytes);
        }
        Ok(())
    }

    /// Runs the innermost call until something outside of it is needed; with `FOLLOW` as long as a register holds a value that
    /// nobody wrote, else as long as none does.
    fn run<const FOLLOW: bool>(
        &mut self,
        program: &Program,
        code: &Code,
        memory: &mut Memory,
        limit: u64,
    ) -> Stop {
        let outside = match memory.watches_host() {
            true => self.outside(program),
            false => None,
        };
        let frame = self.frames.last().expect("running");
        let window = frame.registers;
        let r = self.registers.view().window(window);
        let mut pc = frame.pc;
        // Where to look up: at the limit, or before it to see whether to stop.
        let mut pause = limit.min(self.executed.saturating_add(PAUSE));
        let mut near = NOWHERE;
        let stack = memory.stack_base() + frame.stack;
        let follows = self.shadow.on;
        let access = |memory: &mut Memory,
                      near: &mut Near,
                      site: &MemSite,
                      base: u64,
                      pc: &usize,
                      work: &mut dyn FnMut(*mut u8)| {
            let address = base.wrapping_add_signed(site.offset);
            let place = Whence {
                pc: *pc,
                outside,
                stack,
                follows,
            };
            let (pointer, unset) = locate(program, code, memory, near, site, address, place)?;
            work(pointer);
            Ok(unset)
        };
        loop {
            macro_rules! stop {
                ($stop:expr) => {{
                    self.frames.last_mut().expect("running").pc = pc;
                    return $stop;
                }};
            }
            macro_rules! scene {
                () => {
                    Scene {
                        program,
                        frames: &self.frames,
                        loc: code.locs[pc - 1],
                    }
                };
            }
            if FOLLOW && !self.shadow.is_live() {
                stop!(Stop::Turn);
            }
            let inst: &Inst = &code.insts[pc];
            pc += 1;
            if FOLLOW {
                self.shadow.follow(&scene!(), code, r, inst, window);
            }
            macro_rules! attempt {
                ($site:ident, $base:ident, $result:expr) => {
                    match $result {
                        Err(kind) => stop!(Stop::Trap(kind)),
                        Ok(0) => {}
                        Ok(unset) => {
                            let bytes = ($base.wrapping_add_signed($site.offset), unset);
                            self.shadow.loaded(&scene!(), memory, window, $site, bytes);
                            if !FOLLOW && self.shadow.is_live() {
                                stop!(Stop::Turn);
                            }
                        }
                    }
                };
            }
            macro_rules! jump_if {
                ($inst:ident, $f:path) => {{
                    self.executed += u64::from($inst.weight);
                    if lanes::s_holds(r, $inst, $f) {
                        pc = $inst.b as usize;
                    }
                }};
            }
            lane_ops! { dispatch! { inst, r, {
                Op::SMove => r.set_s(inst.d, r.s(inst.a)),
                Op::MAnd => lanes::mask_op(r, inst, |a, b| a & b),
                Op::MOr => lanes::mask_op(r, inst, |a, b| a | b),
                Op::MXor => lanes::mask_op(r, inst, |a, b| a ^ b),
                Op::MNot => lanes::mask_op(r, inst, |a, _| !a),
                Op::MEq => lanes::mask_op(r, inst, |a, b| !(a ^ b)),
                Op::MSelect => lanes::mask_select(r, inst),
                Op::SSelect => lanes::s_select(r, inst),
                Op::SBool => r.set_s(inst.d, r.s(inst.a) & 1),
                Op::SFma32 => lanes::s_fma32(r, inst, float::fma32),
                Op::SFma64 => lanes::s_fma64(r, inst, float::fma64),
                Op::SPtrS => lanes::s_ptr(r, inst, &code.scales, |x| i64::from(x as i32)),
                Op::SPtrU => lanes::s_ptr(r, inst, &code.scales, |x| i64::from(x as u32)),
                Op::SPtrL => lanes::s_ptr(r, inst, &code.scales, |x| x as i64),
                Op::Jump => { self.executed += u64::from(inst.weight); pc = inst.b as usize; }
                Op::JumpEq32 => jump_if!(inst, int::eq32),
                Op::JumpNe32 => jump_if!(inst, int::ne32),
                Op::JumpSlt32 => jump_if!(inst, int::slt32),
                Op::JumpSle32 => jump_if!(inst, int::sle32),
                Op::JumpSgt32 => jump_if!(inst, int::sgt32),
                Op::JumpSge32 => jump_if!(inst, int::sge32),
                Op::JumpUlt32 => jump_if!(inst, int::ult32),
                Op::JumpUle32 => jump_if!(inst, int::ule32),
                Op::JumpUgt32 => jump_if!(inst, int::ugt32),
                Op::JumpUge32 => jump_if!(inst, int::uge32),
                Op::JumpIfNot => {
                    self.executed += u64::from(inst.weight);
                    if r.s(inst.a) == 0 { pc = inst.b as usize; }
                }
                Op::JumpIf => {
                    self.executed += u64::from(inst.weight);
                    if r.s(inst.a) != 0 { pc = inst.b as usize; }
                }
                Op::Tick => self.executed += u64::from(inst.weight),
                Op::Loop => {
                    self.executed += u64::from(inst.weight);
                    if self.executed > pause {
                        if self.executed > limit {
                            stop!(Stop::Trap(TrapKind::Limit { instructions: limit }));
                        }
                        if let Some(why) = self.stop.asked() {
                            stop!(Stop::Trap(TrapKind::Stopped(why)));
                        }
                        pause = limit.min(self.executed.saturating_add(PAUSE));
                    }
                    pc = inst.b as usize;
                }
                Op::HostLocal => r.set_s(inst.d, stack + u64::from(inst.a)),
                Op::HostNonZero => if r.s(inst.b) == 0 { stop!(Stop::Trap(TrapKind::DivisionByZero)) },
                Op::HostReads => if self.shadow.wake(window + inst.a as usize) && !FOLLOW {
                    stop!(Stop::Turn);
                },
                Op::HostAssigns => self.shadow.assigned(window + inst.a as usize),
                Op::HostLoad => {
                    let site = &code.sites[inst.c as usize];
                    let base = r.s(inst.a);
                    attempt!(site, base, within(program, code, site, r, pc).and_then(|()| access(memory, &mut near, site, base, &pc, &mut |pointer| load(r, site, pointer))));
                }
                Op::HostStore => {
                    let site = &code.sites[inst.c as usize];
                    let base = r.s(inst.a);
                    attempt!(site, base, within(program, code, site, r, pc).and_then(|()| access(memory, &mut near, site, base, &pc, &mut |pointer| store(r, site, pointer))));
                    if FOLLOW && self.shadow.stored(memory, window, site, base.wrapping_add_signed(site.offset)) {
                        near = NOWHERE;
                    }
                }
                Op::HostAtomic => {
                    let site = &code.sites[inst.c as usize];
                    let base = r.s(inst.a);
                    attempt!(site, base, within(program, code, site, r, pc).and_then(|()| access(memory, &mut near, site, base, &pc, &mut |pointer| atomic(r, site, pointer))));
                }
                Op::Call => {
                    self.executed += u64::from(inst.weight);
                    if self.executed > limit {
                        stop!(Stop::Trap(TrapKind::Limit { instructions: limit }));
                    }
                    stop!(Stop::Call(inst.a as usize));
                }
                Op::HostCall | Op::Launch => {
                    self.executed += u64::from(inst.weight);
                    self.awaits = (inst.b == 1).then_some(inst.d);
                    let row = &code.calls[inst.a as usize];
                    let args = row.args.iter().map(|&(ty, register)| (ty, plain(ty, r.s(register)))).collect();
                    let loc = code.locs[pc - 1];
                    stop!(Stop::Event(event(row.host, FuncId(row.target), args, loc)));
                }
                Op::Return => {
                    self.executed += u64::from(inst.weight);
                    let value = (inst.b == 1).then(|| r.s(inst.a));
                    stop!(Stop::Return(value));
                }
                Op::Trap => stop!(Stop::Trap(trap_kind(inst))),
                Op::Fence => {}
                Op::Assert => if r.s(inst.a) == 0 {
                    let condition = String::from_utf8_lossy(&program.module().strings[inst.b as usize]).into_owned();
                    stop!(Stop::Trap(TrapKind::Assert { condition }));
                },
            } } }
        }
    }
}

/// Whether a real machine may go on after it.
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

/// Bits as the runtime sees them: truth values are 0 or 1.
fn plain(ty: Type, bits: u64) -> u64 {
    if ty == Type::I1 { bits & 1 } else { bits }
}

fn event(host: Option<HostFn>, kernel: FuncId, args: Vec<(Type, u64)>, loc: LocId) -> HostEvent {
    if let Some(func) = host {
        return HostEvent::Call { func, args, loc };
    }
    let at = |k: usize| args[k].1;
    HostEvent::Launch {
        kernel,
        grid: [0, 1, 2].map(|k| at(k) as u32),
        block: [3, 4, 5].map(|k| at(k) as u32),
        shared_bytes: at(6),
        stream: at(7),
        cooperative: at(8) != 0,
        args: args[9..].iter().map(|&(_, bits)| bits).collect(),
        loc,
    }
}

/// Looks at the subscript of an array that is part of something.
#[inline]
fn within(
    program: &Program,
    code: &Code,
    site: &MemSite,
    r: View,
    pc: usize,
) -> Result<(), TrapKind> {
    let Some(Subscript {
        uniform: Some(register),
        len,
        is_long,
        ..
    }) = site.subscript
    else {
        return Ok(());
    };
    let bits = r.s(register);
    let index = if is_long {
        bits as i64
    } else {
        i64::from(bits as u32 as i32)
    };
    if (0..i64::from(len)).contains(&index) {
        return Ok(());
    }
    let element_bytes = u64::from(site.width_bytes);
    let text = &program.module().loc(code.locs[pc - 1]).text;
    let name = text.rfind('[').map_or(text.as_str(), |end| &text[..end]);
    let object = BadObject {
        name: name.to_owned(),
        offset_bytes: index.wrapping_mul(element_bytes as i64),
        element_bytes,
        dims: vec![len.into()],
        size_bytes: u64::from(len) * element_bytes,
        declared: true,
        pointer: None,
        freed_at: None,
    };
    Err(TrapKind::OutOfBounds(Box::new(BadAccess {
        op: site.op,
        space: Space::Generic,
        address: 0,
        width_bytes: site.width_bytes,
        object: Some(object),
    })))
}

/// Where an access stands.
#[derive(Clone, Copy)]
struct Whence {
    /// The instruction after it.
    pc: usize,
    /// Of a function of the library, the call outside of it.
    outside: Option<LocId>,
    /// Where the frame's variables lie.
    stack: u64,
    /// It is asked which bytes nobody wrote.
    follows: bool,
}

/// The bytes an access goes to, checked; and which of those that it reads nobody wrote, one bit each.
#[inline]
fn locate(
    program: &Program,
    code: &Code,
    memory: &mut Memory,
    near: &mut Near,
    site: &MemSite,
    address: u64,
    whence: Whence,
) -> Result<(*mut u8, u32), TrapKind> {
    let width = u64::from(site.width_bytes);
    let bad = |object| {
        Box::new(BadAccess {
            op: site.op,
            space: Space::Generic,
            address,
            width_bytes: site.width_bytes,
            object,
        })
    };
    let declared = match site.access.object {
        Some(Object::Local(id)) => Some((
            whence.stack + code.memory.local_offsets[id.index()],
            site.bounds.map_or(0, |(_, size)| size),
        )),
        Some(Object::Global(id)) => Some((
            memory.symbol_address(id),
            program.module().globals[id.index()].size_bytes,
        )),
        Some(Object::Shared(_) | Object::String(_)) | None => None,
    };
    if let Some((start, size)) = declared {
        let offset = address.wrapping_sub(start);
        if offset > size || size - offset < width {
            let object = declared_object(program, code, site, offset as i64, size);
            return Err(TrapKind::OutOfBounds(bad(object)));
        }
    }
    let offset = address.wrapping_sub(near.base);
    if offset < near.size && near.size - offset >= width && address & (width - 1) == 0 {
        let unset = near.unset(offset, width, site.op);
        return Ok((near.bytes.wrapping_add(offset as usize), unset));
    }
    let writes = site.op != AccessOp::Load;
    let before = writes && whence.follows && !memory.is_set(address, width);
    let bytes = if writes {
        memory.bytes_mut(address, width).map(|bytes| bytes.as_ptr())
    } else {
        memory.read_bytes(address, width).map(<[u8]>::as_ptr)
    };
    bytes.map_err(|fault| fault.trap(site.op))?;
    match memory.kind_of(address) {
        AddressKind::Device | AddressKind::Constant => {
            Err(TrapKind::DevicePointerOnHost(bad(None)))
        }
        _ if address & (width - 1) != 0 => Err(TrapKind::Misaligned(bad(None))),
        kind => {
            let words = match whence.follows {
                true => memory.words_of(address),
                false => std::ptr::null_mut(),
            };
            let region = memory.region(address).expect("it was read");
            let found = Near {
                base: region.base,
                size: region.size,
                bytes: region.bytes.pointer(),
                words,
            };
            let noted = kind == AddressKind::Managed && memory.watches_host();
            if noted {
                memory.note_host(HostAccess {
                    span: (address, address + width),
                    writes,
                    looks: site.access.volatile || site.op == AccessOp::Atomic,
                    loc: whence.outside.unwrap_or(code.locs[whence.pc - 1]),
                });
            }
            // A store must not find a string literal nearby, and what is to be noted has to come by here.
            if kind != AddressKind::String && !noted {
                *near = found;
            }
            let offset = address - found.base;
            let unset = match (site.op, before) {
                // What it reads was entered as written above.
                (AccessOp::Atomic, true) => ((1u64 << width) - 1) as u32,
                (op, _) => found.unset(offset, width, op),
            };
            Ok((found.bytes.wrapping_add(offset as usize), unset))
        }
    }
}

fn declared_object(
    program: &Program,
    code: &Code,
    site: &MemSite,
    offset_bytes: i64,
    size_bytes: u64,
) -> Option<BadObject> {
    let _ = code;
    let (name, element_bytes, dims) = match site.access.object? {
        Object::Local(id) => {
            let function = program
                .module()
                .functions
                .iter()
                .zip(program.codes())
                .find(|(_, other)| std::ptr::eq(*other, code))?
                .0;
            let var = &function.locals[id.index()];
            (var.name.clone(), var.element_bytes, var.dims.clone())
        }
        Object::Global(id) => {
            let var = &program.module().globals[id.index()];
            let elements = var.size_bytes / var.element_bytes.max(1);
            (
                var.name.clone(),
                var.element_bytes,
                if elements > 1 {
                    vec![elements]
                } else {
                    Vec::new()
                },
            )
        }
        Object::Shared(_) | Object::String(_) => return None,
    };
    Some(BadObject {
        name,
        offset_bytes,
        element_bytes,
        dims,
        size_bytes,
        declared: true,
        pointer: None,
        freed_at: None,
    })
}

/// The bits of a register from those of memory, and back: an `i1` is a mask there.
fn to_register(ty: MemType, bits: u64) -> u64 {
    Class::of(ty.value_type()).to_register(bits)
}

fn to_memory(ty: MemType, bits: u64) -> u64 {
    if ty == MemType::Bool { bits & 1 } else { bits }
}

fn load(r: View, site: &MemSite, pointer: *const u8) {
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        // SAFETY: `locate` found the whole width inside of a region.
        let bits = unsafe { read(ty, pointer.add(k * ty.bytes() as usize)) };
        r.set_s(register, to_register(ty, bits));
    }
}

fn store(r: View, site: &MemSite, pointer: *mut u8) {
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        // SAFETY: `locate` found the whole width inside of a region that may be written.
        unsafe {
            write(
                ty,
                pointer.add(k * ty.bytes() as usize),
                to_memory(ty, r.s(register)),
            )
        };
    }
}

fn atomic(r: View, site: &MemSite, pointer: *mut u8) {
    let ty = site.access.ty;
    let Some((op, compare)) = site.atomic else {
        return;
    };
    // SAFETY: `locate` found the whole width inside of a region that may be written.
    let old = unsafe { read(ty, pointer) };
    let new = eval::atomic(op, ty.value_type(), old, r.s(site.values[0]), r.s(compare));
    // SAFETY: as above.
    unsafe { write(ty, pointer, new) };
    r.set_s(site.result, old);
}
