//! Calls of routines, with a stack of frames for each warp.
//!
//! The active lanes of a call run the routine together. A frame saves the caller's registers, if the caller is itself a
//! routine, and has a piece of each lane's local memory. All lanes of a warp that are in the same call have the same
//! frames below it, so one stack is enough.

use crate::fault::trap::TrapKind;
use crate::isa::bytecode::{Class, Code, Inst, Move, Place, RoutineRow, S_FRAME};
use crate::isa::registers::{Unit, View};
use crate::machine::warp::Warp;
use crate::machine::{Fault, Machine};
use crate::observe::{Frame as SeenFrame, Observer};

/// The least size of a frame, even without local memory: on a GPU it holds the return address and the values that are
/// live after the call.
const LEAST_BYTES: u64 = 16;

/// Local memory that the calls of a thread may take. A GPU gives 1 KB unless the program requests more. But its
/// compiler turns much recursion into loops, so a smaller limit would reject programs that run there. Endless recursion
/// is still found.
pub(crate) const STACK_BYTES: u64 = 64 << 10;

/// A call that has not ended.
#[derive(Clone, Debug)]
struct Frame {
    /// The number of the calling instruction.
    call: u32,
    /// The lanes that called.
    mask: u32,
    /// The caller's [`Stack::shift`] and [`Stack::top`].
    shift: u32,
    top: u64,
}

/// The calls that a warp is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    frames: Vec<Frame>,
    /// The callers' registers.
    scalars: Vec<u64>,
    units: Vec<Unit>,
    /// The offset added to local variables of the current routine.
    pub(crate) shift: u32,
    /// The offset of the next call's frame in local memory.
    top: u64,
    /// Values that are being passed.
    moved: Vec<Unit>,
}

impl Stack {
    /// Removes all calls.
    pub(crate) fn clear(&mut self, code: &Code) {
        self.frames.clear();
        self.scalars.clear();
        self.units.clear();
        (self.shift, self.top) = (0, code.memory.local_bytes);
    }

    /// The kernel's call instruction that the warp is in, if it is in a call.
    pub(crate) fn outermost_call(&self) -> Option<u32> {
        self.frames.first().map(|frame| frame.call)
    }

    /// Everything in it that determines what the warp does next.
    pub(crate) fn words(&self, add: &mut dyn FnMut(u64)) {
        for frame in &self.frames {
            add(u64::from(frame.call) << 32 | u64::from(frame.mask));
        }
        self.scalars.iter().for_each(|&word| add(word));
        for unit in &self.units {
            for pair in unit.0.chunks_exact(2) {
                add(u64::from(pair[0]) << 32 | u64::from(pair[1]));
            }
        }
    }

    /// Reads values from registers, in order.
    fn take(&mut self, r: View, moves: &[Move]) {
        self.moved.clear();
        for step in moves {
            match (step.from, step.class) {
                (Place::S(at), Class::W64) => {
                    let bits = r.s(at);
                    let mut unit = Unit([bits as u32; 32]);
                    for lane in 0..16 {
                        unit.0[2 * lane + 1] = (bits >> 32) as u32;
                    }
                    self.moved.extend([unit, unit]);
                }
                (Place::S(at), Class::W32 | Class::Mask) => {
                    self.moved.push(Unit([r.s(at) as u32; 32]));
                }
                (Place::V(at), class) => {
                    for unit in at..at + class.units() {
                        self.moved.push(Unit(*r.v32(unit)));
                    }
                }
            }
        }
    }

    /// Writes them to other registers.
    fn put(&self, r: View, moves: &[Move]) {
        let mut moved = self.moved.iter();
        for step in moves {
            let Some(first) = moved.next() else { return };
            match step.to {
                // A truth value: no other passed value is in a scalar register.
                Place::S(at) => r.set_s(at, u64::from(first.0[0])),
                Place::V(at) => {
                    *r.v32_mut(at) = first.0;
                    if step.class == Class::W64
                        && let Some(second) = moved.next()
                    {
                        *r.v32_mut(at + 1) = second.0;
                    }
                }
            }
        }
    }

    fn save(&mut self, r: View, row: &RoutineRow) {
        for at in row.scalars.iter().cloned().flatten() {
            self.scalars.push(r.s(at));
        }
        for at in row.units.iter().cloned().flatten() {
            self.units.push(Unit(*r.v32(at)));
        }
    }

    fn restore(&mut self, r: View, row: &RoutineRow) {
        let count = |ranges: &[std::ops::Range<u32>]| {
            ranges.iter().map(ExactSizeIterator::len).sum::<usize>()
        };
        let scalars = self.scalars.len().saturating_sub(count(&row.scalars));
        for (at, bits) in row
            .scalars
            .iter()
            .cloned()
            .flatten()
            .zip(self.scalars.drain(scalars..))
        {
            r.set_s(at, bits);
        }
        let units = self.units.len().saturating_sub(count(&row.units));
        for (at, unit) in row
            .units
            .iter()
            .cloned()
            .flatten()
            .zip(self.units.drain(units..))
        {
            *r.v32_mut(at) = unit.0;
        }
    }
}

/// The active lanes enter a routine. Returns its first instruction.
pub(crate) fn enter<O: Observer>(
    machine: &mut Machine<'_, O>,
    warp: &mut Warp,
    mask: u32,
    pc: usize,
    inst: &Inst,
) -> Result<u32, Box<Fault>> {
    let code = machine.code;
    let call = &code.routines.calls[inst.a as usize];
    let routine = &code.routines.rows[call.callee as usize];
    let r = warp.registers.view();
    let stack = &mut warp.stack;
    let start = stack.top.next_multiple_of(routine.align_bytes);
    let end = start + routine.local_bytes.max(LEAST_BYTES);
    let limit = machine.policy.stack_bytes;
    if end - code.memory.local_bytes > limit {
        let kind = TrapKind::CallsTooDeep {
            routine: machine.function.routines[call.callee as usize].name.clone(),
            depth: stack.frames.len() as u32,
            limit,
        };
        let lane = mask.trailing_zeros();
        return Err(Box::new(Fault { kind, lane }));
    }
    stack.take(r, &call.args);
    if let Some(caller) = call.caller {
        stack.save(r, &code.routines.rows[caller as usize]);
    }
    stack.put(r, &call.args);
    stack.frames.push(Frame {
        call: pc as u32,
        mask,
        shift: stack.shift,
        top: stack.top,
    });
    stack.shift = (start as u32).wrapping_sub(routine.local_start as u32);
    stack.top = end;
    machine.shift = stack.shift;
    r.set_s(S_FRAME, u64::from(stack.shift));
    if warp.local.len() < end as usize * 32 {
        warp.local.resize(end as usize * 32, 0);
    }
    let frame = SeenFrame {
        start: start as u32,
        end: end as u32,
        shift: stack.shift,
    };
    machine.observer.enter(code, call, mask, frame);
    Ok(routine.entry)
}

/// The routine ends. Returns the instruction at which its caller continues, and the lanes.
pub(crate) fn leave<O: Observer>(machine: &mut Machine<'_, O>, warp: &mut Warp) -> (u32, u32) {
    let code = machine.code;
    let r = warp.registers.view();
    let stack = &mut warp.stack;
    let Some(frame) = stack.frames.pop() else {
        unreachable!("the end of a routine that nobody called");
    };
    let inst = &code.insts[frame.call as usize];
    let call = &code.routines.calls[inst.a as usize];
    stack.take(r, &call.results);
    if let Some(caller) = call.caller {
        stack.restore(r, &code.routines.rows[caller as usize]);
    }
    stack.put(r, &call.results);
    (stack.shift, stack.top) = (frame.shift, frame.top);
    machine.shift = stack.shift;
    r.set_s(S_FRAME, u64::from(stack.shift));
    machine.observer.leave(code, call);
    let mask = frame.mask & !warp.gone;
    let next = if mask == 0 { inst.b } else { frame.call + 1 };
    (next, mask)
}
