//! Calls of host functions: the frames on the stack, arguments in, the result back.

use ir::{FuncId, LocId, Type};

use super::run::plain;
use super::unset::{Cell, scene::Scene};
use super::{HostThread, trap};
use crate::fault::trap::{Trap, TrapKind};
use crate::isa::bytecode::{Code, Place};
use crate::isa::host::S_STACK;
use crate::memory::{Memory, STACK_BYTES};
use crate::program::Program;

/// What a call takes on the stack in addition to its variables.
const FRAME_BYTES: u64 = 64;

/// A call that has not returned.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) function: FuncId,
    pub(super) pc: usize,
    /// Its first register.
    pub(super) registers: usize,
    /// The frame's offset from the start of the stack.
    pub(super) stack: u64,
    /// The caller's register for the result.
    pub(super) result: Option<u32>,
}

/// The arguments of a call.
#[derive(Clone, Copy)]
enum Args<'a> {
    Bits(&'a [u64]),
    /// These registers of the window that begins at the first number.
    Registers(usize, &'a [(Type, u32)]),
}

impl HostThread {
    /// Enters the function that the thread runs. Returns `false` if its arguments have already been used, which means
    /// that it has run.
    pub(super) fn begin(&mut self, program: &Program, memory: &mut Memory) -> Result<bool, Trap> {
        let (function, args) = (self.start.0, std::mem::take(&mut self.start.1));
        if args.len() != program.module().function(function).params.len() {
            return Ok(false);
        }
        let kinds = program.code(function).registers.params.iter();
        let args: Vec<u64> = kinds
            .zip(&args)
            .map(|(&(_, class), &bits)| class.to_register(bits))
            .collect();
        match self.enter(program, memory, function, (Args::Bits(&args), &[]), None) {
            Ok(()) => Ok(true),
            Err(kind) => Err(trap(kind, program.module().function(function).loc)),
        }
    }

    /// Performs the call of the last instruction, which is a row in the function's table of calls.
    pub(super) fn call(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        code: &Code,
        row: usize,
    ) -> Result<(), TrapKind> {
        let frame = self.frames.last().expect("running");
        let inst = code.insts[frame.pc - 1];
        let row = &code.calls[row];
        let base = frame.registers;
        let result = (inst.b == 1).then_some(inst.d);
        let cells = self.shadow.args(base, &row.args);
        let target = FuncId(row.target);
        let args = Args::Registers(base, &row.args);
        self.enter(program, memory, target, (args, &cells), result)
    }

    /// Returns from the innermost call at `loc`. For the outermost one, gives the result of the thread's function.
    pub(super) fn leave(
        &mut self,
        program: &Program,
        value: Option<u64>,
        loc: LocId,
    ) -> Option<Option<u64>> {
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
        self.stack_top = done.stack;
        let caller = self.frames.last().map(|caller| caller.registers);
        let goal = caller.zip(done.result);
        let goal = goal.map(|(base, register)| base + register as usize);
        self.shadow.returned(goal);
        if let Some(register) = goal {
            self.registers.s[register] = value.unwrap_or(0);
        }
        if caller.is_some() {
            return None;
        }
        let ty = program.module().function(done.function).result;
        let value = value.filter(|_| ty.is_some());
        Some(value.map(|bits| plain(ty.unwrap_or(Type::I64), bits)))
    }

    /// Makes a frame for a call and sets the initial values of its registers.
    fn enter(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        function: FuncId,
        (args, cells): (Args<'_>, &[Cell]),
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
            self.caches.begin_call(function);
        }
        let base = self.registers.s.len();
        let fresh = self.caches.registers(program, memory, function);
        self.registers.s.extend_from_slice(fresh);
        self.registers.s[base + S_STACK as usize] = memory.stack_base() + stack;
        for (number, &(place, _)) in code.registers.params.iter().enumerate() {
            let bits = match args {
                Args::Bits(bits) => bits.get(number).copied(),
                Args::Registers(base, row) => row
                    .get(number)
                    .map(|&(_, register)| self.registers.s[base + register as usize]),
            };
            match place {
                Place::S(register) => {
                    self.registers.s[base + register as usize] = bits.unwrap_or(0);
                }
                Place::V(_) => unreachable!("host functions are scalar"),
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
}
