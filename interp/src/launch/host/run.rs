//! The loop that runs the instructions of one call of a host function.

use ir::{FuncId, LocId, Type, bfloat16, half};

use super::access::{self, CallContext, NOWHERE};
use super::unset::scene::Scene;
use super::{HostEvent, HostThread};
use crate::fault::trap::TrapKind;
use crate::isa::bytecode::{Code, Inst};
use crate::isa::host::NO_ENTRY;
use crate::isa::op::{Op, jump_ops, lane_arms, lane_ops};
use crate::isa::registers::View;
use crate::machine::dispatch::dispatch_scalars;
use crate::machine::ops::print::trap_kind;
use crate::machine::ops::{convert, float, int, lanes};
use crate::memory::Memory;
use crate::program::Program;

/// Instructions between two checks of the stop flag: some tenths of a millisecond.
pub(super) const PAUSE: u64 = 1 << 16;

/// What stops the loop.
pub(super) enum Stop {
    Event(HostEvent),
    Trap(TrapKind),
    Call(usize),
    Return(Option<u64>),
    /// Continue in another loop: a register received an uninitialised value, or the last such value is gone.
    Turn,
}

impl HostThread {
    /// Runs the innermost call until it needs something from outside. With `FOLLOW`, it runs while a register holds an
    /// uninitialised value; without, to the next place where the second form ([`super::fused`]) can take over.
    ///
    /// A table with one arm per operation. The arms share the loop's variables, which stay in CPU registers.
    pub(super) fn run<const FOLLOW: bool>(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        limit: u64,
    ) -> Stop {
        let outside = match memory.watches_host() {
            true => self.outside(program),
            false => None,
        };
        let frame = self.frames.last().expect("running");
        let (window, mut pc) = (frame.registers, frame.pc);
        let code = program.code(frame.function);
        let entries = &program.host_code(frame.function).entries;
        let start = pc;
        let stack = memory.stack_base() + frame.stack;
        let context = CallContext {
            program,
            code,
            outside,
            stack,
            follows: self.shadow.on,
        };
        let r = self.registers.view().window(window);
        // Instructions until the next check of the limit and the stop flag.
        let mut pause = limit.min(self.executed.saturating_add(PAUSE));
        let mut last_region = NOWHERE;
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
            // Switch to the second form where it can continue.
            if FOLLOW && !self.shadow.is_live() || !FOLLOW && pc != start && entries[pc] != NO_ENTRY
            {
                stop!(Stop::Turn);
            }
            let inst: &Inst = &code.insts[pc];
            pc += 1;
            if FOLLOW {
                self.shadow.follow(&scene!(), code, r, inst, window);
            }
            macro_rules! access {
                ($work:path) => {{
                    let site = &code.sites[inst.c as usize];
                    let base = r.s(inst.a);
                    match context.access(memory, &mut last_region, site, (r, base, pc), $work) {
                        Err(kind) => stop!(Stop::Trap(kind)),
                        Ok(0) => {}
                        Ok(unset) => {
                            let bytes = (base.wrapping_add_signed(site.address.offset), unset);
                            self.shadow.loaded(&scene!(), memory, window, site, bytes);
                            if !FOLLOW && self.shadow.is_live() {
                                stop!(Stop::Turn);
                            }
                        }
                    }
                }};
            }
            macro_rules! jump_if {
                ($inst:ident, $f:path) => {{
                    self.executed += u64::from($inst.weight);
                    if lanes::s_holds(r, $inst, $f) {
                        pc = $inst.b as usize;
                    }
                }};
            }
            /// An operand that a check would report is as good as any here.
            macro_rules! no_risk {
                ($op:ident) => {};
            }
            lane_ops! { lane_arms! { jump_ops! { dispatch_scalars! { inst, r, code, no_risk, jump_if, {
                Op::Jump => { self.executed += u64::from(inst.weight); pc = inst.b as usize; }
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
                        match self.next_pause(limit) {
                            Ok(next) => pause = next,
                            Err(kind) => stop!(Stop::Trap(kind)),
                        }
                    }
                    pc = inst.b as usize;
                }
                Op::HostLocal => r.set_s(inst.d, stack + u64::from(inst.a)),
                Op::HostNonZero => if r.s(inst.b) == 0 { stop!(Stop::Trap(TrapKind::DivisionByZero)) },
                Op::HostReads => if self.shadow.wake(window + inst.a as usize) && !FOLLOW {
                    stop!(Stop::Turn);
                },
                Op::HostAssigns => self.shadow.assigned(window + inst.a as usize),
                Op::HostLoad => access!(access::load),
                Op::HostStore => {
                    self.caches.forget();
                    access!(access::store);
                    let site = &code.sites[inst.c as usize];
                    if FOLLOW && self.shadow.stored(memory, window, site, r.s(inst.a).wrapping_add_signed(site.address.offset)) {
                        last_region = NOWHERE;
                    }
                }
                Op::HostAtomic => {
                    self.caches.forget();
                    access!(access::atomic);
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
                    stop!(Stop::Event(event(code, inst, r, code.locs[pc - 1])));
                }
                Op::Return => {
                    self.executed += u64::from(inst.weight);
                    let value = (inst.b == 1).then(|| r.s(inst.a));
                    stop!(Stop::Return(value));
                }
                Op::Trap => stop!(Stop::Trap(trap_kind(program.module(), inst))),
                Op::Fence => {}
                Op::Assert => if r.s(inst.a) == 0 { stop!(Stop::Trap(failed(program, inst))) },
            } op => unreachable!("{op:?} is no host instruction") } } } }
        }
    }

    /// Called after the instructions up to a pause: the instruction count at the next one.
    fn next_pause(&self, limit: u64) -> Result<u64, TrapKind> {
        if self.executed > limit {
            return Err(TrapKind::Limit {
                instructions: limit,
            });
        }
        match self.stop.asked() {
            Some(why) => Err(TrapKind::Stopped(why)),
            None => Ok(limit.min(self.executed.saturating_add(PAUSE))),
        }
    }
}

/// The bits as the runtime sees them: truth values are 0 or 1.
pub(super) fn plain(ty: Type, bits: u64) -> u64 {
    if ty == Type::I1 { bits & 1 } else { bits }
}

/// The runtime call or launch that an instruction makes.
fn event(code: &Code, inst: &Inst, r: View, loc: LocId) -> HostEvent {
    let row = &code.calls[inst.a as usize];
    let args = row.args.iter();
    let args: Vec<_> = args
        .map(|&(ty, register)| (ty, plain(ty, r.s(register))))
        .collect();
    if let Some(func) = row.host {
        return HostEvent::Call { func, args, loc };
    }
    let at = |k: usize| args[k].1;
    HostEvent::Launch {
        kernel: FuncId(row.target),
        grid: [0, 1, 2].map(|k| at(k) as u32),
        block: [3, 4, 5].map(|k| at(k) as u32),
        shared_bytes: at(6),
        stream: at(7),
        cooperative: at(8) != 0,
        args: args[9..].iter().map(|&(_, bits)| bits).collect(),
        loc,
    }
}

/// A failed `assert`.
fn failed(program: &Program, inst: &Inst) -> TrapKind {
    let text = &program.module().strings[inst.b as usize];
    let condition = String::from_utf8_lossy(text).into_owned();
    TrapKind::Assert { condition }
}
