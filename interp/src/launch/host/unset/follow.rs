//! Propagates uninitialised values through instructions, bit by bit where operations keep bits apart, and decides which
//! uses count.

use std::collections::HashSet;

use ir::{Block, Function, HostFn, InstKind, Node, Operand, SlotId, ValueId};

use super::scene::Scene;
use super::{Cell, HostUse, Shadow};
use crate::isa::bytecode::{Code, Inst, Place};
use crate::isa::op::Op;
use crate::isa::operands::reads_and_write;
use crate::isa::registers::View;

impl Shadow {
    /// Before an instruction runs: tracks what it does with registers, and reports uses.
    pub(in crate::launch::host) fn follow(
        &mut self,
        scene: &Scene<'_>,
        code: &Code,
        r: View,
        i: &Inst,
        registers: usize,
    ) {
        let at = |register: u32| registers + register as usize;
        let of = |register: u32| self.at(at(register));
        match i.op {
            Op::JumpIf | Op::JumpIfNot | Op::Assert => {
                let cell = of(i.a);
                self.used(scene, HostUse::Branch, cell);
            }
            op if op.is_comparing_jump() => {
                let cell = of(i.a).low().or(of(i.c).low());
                self.used(scene, HostUse::Branch, cell);
            }
            Op::HostLoad | Op::HostStore | Op::HostAtomic => {
                let (cell, site) = (of(i.a), &code.sites[i.c as usize]);
                self.used(scene, HostUse::Address, cell);
                for &register in site.results() {
                    self.put(at(register), Cell::default());
                }
            }
            Op::HostCall | Op::Launch => self.call(scene, code, i, registers),
            Op::HostReads | Op::HostAssigns => {}
            Op::Return => {
                self.returned = match i.b {
                    1 => of(i.a),
                    _ => Cell::default(),
                };
            }
            _ => {
                if let Some(cell) = self.computed(r, i, registers) {
                    self.put(at(i.d), cell);
                }
            }
        }
    }

    /// The undefined bits of an instruction's result; `None` if it has no result.
    fn computed(&self, r: View, i: &Inst, registers: usize) -> Option<Cell> {
        let of = |register: u32| self.at(registers + register as usize);
        Some(match i.op {
            Op::HostLocal => Cell::default(),
            Op::SMove | Op::SBool | Op::MNot | Op::SNot32 | Op::SNot64 => of(i.a),
            Op::MAnd | Op::MOr | Op::SAnd32 | Op::SAnd64 | Op::SOr32 | Op::SOr64 => {
                masked(i.op, [of(i.a), of(i.b)], [r.s(i.a), r.s(i.b)])
            }
            Op::SXor32 | Op::SXor64 => of(i.a).or(of(i.b)),
            Op::MXor | Op::MEq => of(i.a).or(of(i.b)).mixed(),
            Op::SShl32 | Op::SLShr32 | Op::SAShr32 if of(i.b).bits == 0 => {
                shifted_32(i.op, of(i.a), r.s(i.b) as u32)
            }
            Op::SShl64 | Op::SLShr64 | Op::SAShr64 if of(i.b).bits == 0 => {
                let by = u32::try_from(r.s(i.b)).unwrap_or(u32::MAX);
                shifted_64(i.op, of(i.a), by)
            }
            Op::SZext | Op::STrunc => of(i.a).low(),
            Op::SZext8 => of(i.a).with(of(i.a).bits & 0xff),
            Op::SZext16 => of(i.a).with(of(i.a).bits & 0xffff),
            Op::SSext => of(i.a).with(i64::from(of(i.a).bits as i32) as u64),
            Op::SSext8 => of(i.a).with(u64::from(i32::from(of(i.a).bits as i8) as u32)),
            Op::SSext16 => of(i.a).with(u64::from(i32::from(of(i.a).bits as i16) as u32)),
            Op::MSelect | Op::SSelect => match (of(i.a), r.s(i.a)) {
                (Cell { bits: 0, .. }, 0) => of(i.c),
                (Cell { bits: 0, .. }, _) => of(i.b),
                (cell, _) => cell.mixed(),
            },
            _ => {
                let places = reads_and_write(i)?.0.map(|read| read.0);
                let cells = places.filter_map(|place| match place {
                    Place::S(register) => Some(of(register)),
                    Place::V(_) => None,
                });
                cells.fold(Cell::default(), Cell::or).mixed()
            }
        })
    }

    /// A runtime call or a launch.
    fn call(&mut self, scene: &Scene<'_>, code: &Code, i: &Inst, registers: usize) {
        let row = &code.calls[i.a as usize];
        let cells = self.args(registers, &row.args);
        let mut answer = Cell::default();
        match row.host {
            Some(function) if computes(function) => {
                let sum = cells.iter().fold(answer, |sum, &cell| sum.or(cell));
                answer = sum.mixed();
            }
            Some(function) => {
                let what = match function {
                    HostFn::Printf
                    | HostFn::Fprintf
                    | HostFn::Sprintf
                    | HostFn::Snprintf
                    | HostFn::Puts
                    | HostFn::Putchar => HostUse::Printed,
                    HostFn::Exit => HostUse::ExitCode,
                    function => HostUse::Argument(function),
                };
                cells.iter().for_each(|&cell| self.used(scene, what, cell));
            }
            None => {
                let kernel = scene.program.module().function(ir::FuncId(row.target));
                let may_be_idle = |param: usize| {
                    let slot = kernel.params.get(param).map(|param| param.slot);
                    slot.is_some_and(|slot| {
                        kernel.slots[slot.index()].name.contains('.')
                            && !computes_with(kernel, slot)
                    })
                };
                for (k, cell) in cells.into_iter().enumerate() {
                    let what = match k {
                        0..9 => HostUse::Launch,
                        _ if cell.bits == 0 => continue,
                        // A kernel need not read every member of a struct.
                        _ if may_be_idle(k - 9) => continue,
                        _ => HostUse::KernelArgument,
                    };
                    self.used(scene, what, cell);
                }
            }
        }
        if i.b == 1 {
            self.put(registers + i.d as usize, answer);
        }
    }
}

/// For `and` and `or`: a bit that decides the result alone hides the other operand's bit.
fn masked(op: Op, [a, b]: [Cell; 2], [mut va, mut vb]: [u64; 2]) -> Cell {
    if matches!(op, Op::MOr | Op::SOr32 | Op::SOr64) {
        (va, vb) = (!va, !vb);
    }
    let bits = a.bits & b.bits | a.bits & vb | b.bits & va;
    let both = a.or(b).with(bits);
    match op {
        Op::MAnd | Op::MOr => both.low().mixed(),
        Op::SAnd32 | Op::SOr32 => both.low(),
        _ => both,
    }
}

fn shifted_32(op: Op, cell: Cell, by: u32) -> Cell {
    let bits = cell.bits as u32;
    let shifted = match op {
        Op::SShl32 => bits.checked_shl(by).unwrap_or(0),
        Op::SLShr32 => bits.checked_shr(by).unwrap_or(0),
        _ => ((bits as i32) >> by.min(31)) as u32,
    };
    cell.with(shifted.into())
}

fn shifted_64(op: Op, cell: Cell, by: u32) -> Cell {
    cell.with(match op {
        Op::SShl64 => cell.bits.checked_shl(by).unwrap_or(0),
        Op::SLShr64 => cell.bits.checked_shr(by).unwrap_or(0),
        _ => ((cell.bits as i64) >> by.min(63)) as u64,
    })
}

/// Whether a kernel computes with a variable outside of its branches and loops, in threads that no earlier branch on a
/// parameter ends. Only copying the variable does not count.
fn computes_with(kernel: &Function, slot: SlotId) -> bool {
    let (mut read, mut of_thread) = (HashSet::new(), HashSet::new());
    let is_in = |set: &HashSet<ValueId>, operand: &Operand| matches!(operand, Operand::Value(id) if set.contains(id));
    for node in &kernel.body.0 {
        let inst = match node {
            Node::Inst(inst) => inst,
            Node::If { cond, .. } if is_in(&of_thread, cond) => continue,
            Node::Routine { .. } => continue,
            Node::If { .. } | Node::Loop { .. } | Node::Scope { .. } => {
                let mut leaves = false;
                Block(vec![node.clone()])
                    .for_each_node(&mut |node| leaves |= matches!(node, Node::Return(..)));
                if leaves {
                    return false;
                }
                continue;
            }
            _ => return false,
        };
        let operands = inst.kind.operands();
        match &inst.kind {
            InstKind::Get(other) if *other == slot => read.extend(inst.results.iter().copied()),
            InstKind::Get(_) | InstKind::Set(..) | InstKind::Store(..) => {}
            InstKind::Special(_) => of_thread.extend(inst.results.iter().copied()),
            _ if operands.iter().any(|operand| is_in(&read, operand)) => return true,
            _ if operands.iter().any(|operand| is_in(&of_thread, operand)) => {
                of_thread.extend(inst.results.iter().copied());
            }
            _ => {}
        }
    }
    false
}

/// Functions that only compute a value from their arguments.
fn computes(function: HostFn) -> bool {
    matches!(
        function,
        HostFn::Exp
            | HostFn::Log
            | HostFn::Log2
            | HostFn::Log10
            | HostFn::Pow
            | HostFn::Sin
            | HostFn::Cos
            | HostFn::Tan
            | HostFn::Atan
            | HostFn::Atan2
            | HostFn::Tanh
            | HostFn::Expf
            | HostFn::Logf
            | HostFn::Powf
            | HostFn::Sinf
            | HostFn::Cosf
            | HostFn::Tanhf
    )
}
