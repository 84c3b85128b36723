//! Values that nobody wrote, in host code: found where they are loaded, followed bit by bit through registers and memory to where
//! they matter. As long as no register holds one, nothing is followed.

use std::collections::{BTreeMap, HashMap, HashSet};

use dsl::ir::{
    Block, Function, HostFn, InstKind, LocId, Node, Operand, SlotId, Type, ValueId,
    locate::in_program,
};

use super::Frame;
use crate::check::taint::{Flow, flow};
use crate::compile::program::Program;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Inst, MemSite, Op, Place};
use crate::isa::registers::View;
use crate::memory::Memory;
use crate::memory::unset::{Local, UnsetMemory};

/// Sources that are told apart; further ones are not told.
const MOST_SOURCES: usize = 1 << 12;
/// The low half of a register.
const LOW: u64 = u32::MAX as u64;

/// What a value that nobody wrote decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HostUse {
    /// A branch or a loop.
    Branch,
    /// An address.
    Address,
    /// It is printed.
    Printed,
    /// A function of the runtime or of C's library gets it.
    Argument(HostFn),
    /// Such a function looks at the memory.
    Content(HostFn),
    /// The shape of a launch.
    Launch,
    /// A kernel gets it.
    KernelArgument,
    /// The program ends with it.
    ExitCode,
}

/// What a value that nobody wrote was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsetSource {
    /// A variable without a value, in a register.
    Variable(String),
    /// Memory.
    Memory(Box<UnsetMemory>),
}

/// A value that nobody wrote and that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUnset {
    /// Where it was read.
    pub read: LocId,
    /// From what.
    pub source: UnsetSource,
    /// Where it matters.
    pub used: LocId,
    /// How.
    pub what: HostUse,
    /// How often.
    pub count: u64,
}

/// Bits of a register that are not defined, and the number of the source of the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    bits: u64,
    source: u32,
}

impl Cell {
    fn or(self, other: Cell) -> Cell {
        match self.bits {
            0 => other,
            bits => self.with(bits | other.bits),
        }
    }

    fn with(self, bits: u64) -> Cell {
        Cell { bits, ..self }
    }

    /// Of an operation that mixes all bits.
    fn mixed(self) -> Cell {
        match self.bits {
            0 => self,
            _ => self.with(u64::MAX),
        }
    }
}

#[derive(Debug)]
struct Source {
    read: LocId,
    what: UnsetSource,
}

/// What makes sources one: the place that reads, and where the object begins.
type SourceKey = (LocId, u64);

/// The registers' undefined bits, and what was found.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// It is asked for.
    pub(super) on: bool,
    /// Nothing more is told.
    pub(super) is_muted: bool,
    /// Parallel to the registers, as far as there were some.
    cells: Vec<Cell>,
    /// How many cells have bits.
    live: usize,
    /// Variables without a value that nobody has read yet: their registers, and what they will be then.
    asleep: Vec<(usize, Cell)>,
    sources: Vec<Source>,
    known: HashMap<SourceKey, u32>,
    /// Where in memory such values were stored: up to where, and what.
    stored: BTreeMap<u64, (u64, Cell)>,
    found: Vec<(u32, HostUse, LocId, u64)>,
    /// Of the value that the last function returned.
    returned: Cell,
}

/// Who runs.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) program: &'a Program,
    pub(super) frames: &'a [Frame],
    /// The place in the innermost call.
    pub(super) loc: LocId,
}

impl<'a> Scene<'a> {
    /// The place, or the call that led there from outside the library.
    fn shown(&self) -> LocId {
        let module = self.program.module();
        let callers = self.frames.iter().rev().skip(1);
        let callers =
            callers.map(|frame| self.program.code(frame.function).locs[frame.pc.saturating_sub(1)]);
        std::iter::once(self.loc)
            .chain(callers)
            .find_map(|loc| in_program(module, loc))
            .unwrap_or(self.loc)
    }

    /// The variable on the stack that holds an address.
    pub(super) fn local(&self, memory: &Memory, address: u64) -> Option<Local<'a>> {
        let base = memory.stack_base();
        let offset = address.checked_sub(base)?;
        let mut frames = self.frames.iter().rev();
        let frame = frames.find(|frame| frame.stack <= offset)?;
        let code = self.program.code(frame.function);
        let locals = &self.program.module().function(frame.function).locals;
        let mut placed = locals.iter().zip(&code.memory.local_offsets);
        placed.find_map(|(var, &at)| {
            let start = frame.stack + at;
            let holds = (start..start + var.size_bytes).contains(&offset);
            holds.then(|| Local {
                name: &var.name,
                start: base + start,
                size_bytes: var.size_bytes,
                element_bytes: var.element_bytes,
            })
        })
    }

    /// The variable at an address that holds one pointer, as source text.
    pub(super) fn pointer_at(&self, memory: &Memory, address: u64) -> Option<String> {
        if let Some(local) = self.local(memory, address) {
            let index = (address - local.start) / 8;
            return match (local.size_bytes, local.element_bytes) {
                (8, _) => Some(local.name.to_owned()),
                (_, 8) => Some(format!("{}[{index}]", local.name)),
                _ => None,
            };
        }
        let globals = &self.program.module().globals;
        let at = |index: &usize| memory.symbol_address(dsl::ir::GlobalId(*index as u32)) == address;
        let index = (0..globals.len()).find(at)?;
        (globals[index].size_bytes == 8).then(|| globals[index].name.clone())
    }
}

impl Shadow {
    /// Whether some register holds what nobody wrote.
    pub(super) fn is_live(&self) -> bool {
        self.live > 0
    }

    fn put(&mut self, register: usize, cell: Cell) {
        if self.cells.len() <= register {
            if cell.bits == 0 {
                return;
            }
            self.cells.resize(register + 1, Cell::default());
        }
        let old = std::mem::replace(&mut self.cells[register], cell);
        self.live += usize::from(cell.bits != 0);
        self.live -= usize::from(old.bits != 0);
    }

    fn at(&self, register: usize) -> Cell {
        self.cells.get(register).copied().unwrap_or_default()
    }

    /// A variable that may have no value is read. Whether it has none.
    pub(super) fn wake(&mut self, register: usize) -> bool {
        let at = self.asleep.iter().position(|&(other, _)| other == register);
        let Some(at) = at else { return false };
        let (register, cell) = self.asleep.swap_remove(at);
        self.put(register, cell);
        true
    }

    /// It has a value.
    #[inline]
    pub(super) fn assigned(&mut self, register: usize) {
        if !self.asleep.is_empty() {
            self.asleep.retain(|&(other, _)| other != register);
        }
    }

    /// The registers from one on are gone.
    pub(super) fn truncate(&mut self, registers: usize) {
        self.asleep.retain(|&(register, _)| register < registers);
        let gone = self.cells.iter().skip(registers);
        self.live -= gone.filter(|cell| cell.bits != 0).count();
        self.cells.truncate(registers);
    }

    /// A function begins: its arguments, its variables without a value, its part of the stack.
    pub(super) fn enter(
        &mut self,
        scene: &Scene<'_>,
        args: &[Cell],
        registers: usize,
        stack: (u64, u64),
    ) {
        let Some(frame) = scene.frames.last() else {
            return;
        };
        let code = scene.program.code(frame.function);
        while let Some((&at, _)) = self.stored.range(stack.0..stack.1).next() {
            self.stored.remove(&at);
        }
        for (&(place, _), &cell) in code.registers.params.iter().zip(args) {
            if let Place::S(register) = place {
                self.put(registers + register as usize, cell);
            }
        }
        let function = scene.program.module().function(frame.function);
        for &(slot, place, loc) in &code.registers.unassigned {
            let slot = &function.slots[slot.index()];
            let Place::S(register) = place else { continue };
            let bits = match Class::of(slot.ty) {
                Class::W32 => LOW,
                Class::Mask | Class::W64 => u64::MAX,
            };
            let what = || Some(UnsetSource::Variable(slot.name.clone()));
            let scene = Scene { loc, ..*scene };
            if let Some(source) = self.source(&scene, (loc, u64::from(register)), what) {
                let register = registers + register as usize;
                self.asleep.push((register, Cell { bits, source }));
            }
        }
    }

    /// The cells of a call's arguments.
    pub(super) fn args(&self, registers: usize, args: &[(Type, u32)]) -> Vec<Cell> {
        if !self.is_live() {
            return Vec::new();
        }
        let cell = |&(_, register): &(Type, u32)| self.at(registers + register as usize);
        args.iter().map(cell).collect()
    }

    /// What the function that returned gave to its caller goes to this register.
    pub(super) fn returned(&mut self, to: Option<usize>) {
        let cell = std::mem::take(&mut self.returned);
        if let Some(register) = to {
            self.put(register, cell);
        }
    }

    /// The program ends with what its `main` returned.
    pub(super) fn ended(&mut self, scene: &Scene<'_>) {
        let cell = std::mem::take(&mut self.returned);
        self.used(scene, HostUse::ExitCode, cell);
    }

    fn source(
        &mut self,
        scene: &Scene<'_>,
        key: SourceKey,
        what: impl FnOnce() -> Option<UnsetSource>,
    ) -> Option<u32> {
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        if self.sources.len() >= MOST_SOURCES {
            return None;
        }
        let (number, what) = (self.sources.len() as u32, what()?);
        let read = scene.shown();
        self.sources.push(Source { read, what });
        self.known.insert(key, number);
        Some(number)
    }

    /// The source of bytes that nobody wrote.
    fn memory_source(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        (address, len): (u64, u64),
        element_bytes: u64,
    ) -> Option<u32> {
        let before = self.stored.range(..address + len).next_back();
        if let Some((_, &(end, cell))) = before
            && address < end
        {
            return Some(cell.source);
        }
        let local = scene.local(memory, address);
        let start = match &local {
            Some(local) => local.start,
            None => memory.region(address)?.base,
        };
        self.source(scene, (scene.loc, start), || {
            let mut unset = memory.unset(address, len, local.as_ref())?;
            if unset.element_bytes <= 1 {
                unset.element_bytes = element_bytes;
            }
            Some(UnsetSource::Memory(Box::new(unset)))
        })
    }

    /// A value that nobody wrote matters.
    fn used(&mut self, scene: &Scene<'_>, what: HostUse, cell: Cell) {
        if cell.bits == 0 || self.is_muted {
            return;
        }
        let loc = scene.shown();
        let full = self.found.len() >= MOST_SOURCES;
        let mut found = self.found.iter_mut();
        match found.find(|found| (found.0, found.1, found.2) == (cell.source, what, loc)) {
            Some((.., count)) => *count += 1,
            None if full => {}
            None => self.found.push((cell.source, what, loc, 1)),
        }
    }

    /// The runtime looks at bytes of memory: from where, and how many.
    pub(super) fn looked_at(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        bytes: (u64, u64),
        what: HostUse,
    ) {
        let Some((address, len)) = memory.first_unset(bytes.0, bytes.1) else {
            return;
        };
        if let Some(source) = self.memory_source(scene, memory, (address, len), 1) {
            let bits = u64::MAX;
            self.used(scene, what, Cell { bits, source });
        }
    }

    /// What was found.
    pub(super) fn take_found(&mut self) -> Vec<HostUnset> {
        let found = std::mem::take(&mut self.found).into_iter();
        let told = found.map(|(source, what, used, count)| {
            let source = &self.sources[source as usize];
            HostUnset {
                read: source.read,
                source: source.what.clone(),
                used,
                what,
                count,
            }
        });
        told.collect()
    }

    /// A load read bytes that nobody wrote: one bit of `unset` each.
    #[cold]
    pub(super) fn loaded(
        &mut self,
        scene: &Scene<'_>,
        memory: &Memory,
        registers: usize,
        site: &MemSite,
        (address, unset): (u64, u32),
    ) {
        let ty = site.access.ty;
        let width = ty.bytes();
        let is_mask = Class::of(ty.value_type()) == Class::Mask;
        let results: &[u32] = match site.op {
            AccessOp::Atomic => std::slice::from_ref(&site.result),
            AccessOp::Load | AccessOp::Store => &site.values[..usize::from(site.access.count)],
        };
        for (k, &register) in (0..).zip(results) {
            let bytes = unset >> (k * width) & ((1u64 << width) - 1) as u32;
            if bytes == 0 {
                continue;
            }
            let first = bytes.trailing_zeros();
            let at = address + u64::from(k * width + first);
            let len = u64::from((bytes >> first).trailing_ones());
            let Some(source) = self.memory_source(scene, memory, (at, len), width.into()) else {
                continue;
            };
            let of_byte = |byte: u32| match bytes >> byte & 1 {
                0 => 0,
                _ => 0xff << (8 * byte),
            };
            let mut bits = (0..8).map(of_byte).sum();
            // A truth value is a mask, and the highest bit of a narrow number may make all those above it.
            if is_mask {
                bits = u64::MAX;
            } else if width < 4 && bytes >> (width - 1) & 1 == 1 {
                bits |= u64::from(u32::MAX << (8 * width));
            }
            // What was stored in one piece is known bit by bit.
            let start = address + u64::from(k * width);
            if let Some(&(end, cell)) = self.stored.get(&start)
                && end == start + u64::from(width)
            {
                bits &= cell.bits;
            }
            self.put(registers + register as usize, Cell { bits, source });
        }
    }

    /// A store went there: what of it is not defined is not in memory either. Whether there was such.
    pub(super) fn stored(
        &mut self,
        memory: &mut Memory,
        registers: usize,
        site: &MemSite,
        address: u64,
    ) -> bool {
        let (ty, mut junk) = (site.access.ty, false);
        let width = u64::from(ty.bytes());
        let is_mask = Class::of(ty.value_type()) == Class::Mask;
        let values = &site.values[..usize::from(site.access.count)];
        for (k, &register) in (0..).zip(values) {
            let cell = self.at(registers + register as usize);
            let start = address + k * width;
            let unset = |byte: &u64| is_mask || cell.bits >> (8 * byte) & 0xff != 0;
            if cell.bits == 0 || !(0..width).any(|byte| unset(&byte)) {
                continue;
            }
            junk = true;
            for byte in (0..width).filter(unset) {
                memory.forget(start + byte, 1);
            }
            self.stored.insert(start, (start + width, cell));
        }
        junk
    }

    /// Before an instruction runs: follows what it does with registers, and tells of uses that matter.
    pub(super) fn follow(
        &mut self,
        scene: &Scene<'_>,
        code: &Code,
        r: View,
        i: &Inst,
        registers: usize,
    ) {
        let at = |register: u32| registers + register as usize;
        let of = |register: u32| self.at(at(register));
        let cell = match i.op {
            Op::JumpIf | Op::JumpIfNot | Op::Assert => {
                let cell = of(i.a);
                return self.used(scene, HostUse::Branch, cell);
            }
            Op::JumpEq32
            | Op::JumpNe32
            | Op::JumpSlt32
            | Op::JumpSle32
            | Op::JumpSgt32
            | Op::JumpSge32
            | Op::JumpUlt32
            | Op::JumpUle32
            | Op::JumpUgt32
            | Op::JumpUge32 => {
                let low = |cell: Cell| cell.with(cell.bits & LOW);
                let cell = low(of(i.a)).or(low(of(i.c)));
                return self.used(scene, HostUse::Branch, cell);
            }
            Op::HostLoad | Op::HostStore | Op::HostAtomic => {
                let (cell, site) = (of(i.a), &code.sites[i.c as usize]);
                self.used(scene, HostUse::Address, cell);
                let results = match i.op {
                    Op::HostLoad => &site.values[..usize::from(site.access.count)],
                    Op::HostAtomic => std::slice::from_ref(&site.result),
                    _ => &[],
                };
                for &register in results {
                    self.put(at(register), Cell::default());
                }
                return;
            }
            Op::HostCall | Op::Launch => return self.call(scene, code, i, registers),
            Op::HostReads | Op::HostAssigns => return,
            Op::Return => {
                self.returned = match i.b {
                    1 => of(i.a),
                    _ => Cell::default(),
                };
                return;
            }
            Op::HostLocal => Cell::default(),
            Op::SMove | Op::SBool | Op::MNot | Op::SNot32 | Op::SNot64 => of(i.a),
            Op::MAnd | Op::MOr | Op::SAnd32 | Op::SAnd64 | Op::SOr32 | Op::SOr64 => {
                let (a, b) = (of(i.a), of(i.b));
                let (mut va, mut vb) = (r.s(i.a), r.s(i.b));
                if matches!(i.op, Op::MOr | Op::SOr32 | Op::SOr64) {
                    (va, vb) = (!va, !vb);
                }
                let bits = a.bits & b.bits | a.bits & vb | b.bits & va;
                let both = a.or(b).with(bits);
                match i.op {
                    Op::MAnd | Op::MOr => both.with(bits & LOW).mixed(),
                    Op::SAnd32 | Op::SOr32 => both.with(bits & LOW),
                    _ => both,
                }
            }
            Op::SXor32 | Op::SXor64 => of(i.a).or(of(i.b)),
            Op::MXor | Op::MEq => of(i.a).or(of(i.b)).mixed(),
            Op::SShl32 | Op::SLShr32 | Op::SAShr32 if of(i.b).bits == 0 => {
                let (cell, by) = (of(i.a), r.s(i.b) as u32);
                let bits = cell.bits as u32;
                let shifted = match i.op {
                    Op::SShl32 => bits.checked_shl(by).unwrap_or(0),
                    Op::SLShr32 => bits.checked_shr(by).unwrap_or(0),
                    _ => ((bits as i32) >> by.min(31)) as u32,
                };
                cell.with(shifted.into())
            }
            Op::SShl64 | Op::SLShr64 | Op::SAShr64 if of(i.b).bits == 0 => {
                let (cell, by) = (of(i.a), u32::try_from(r.s(i.b)).unwrap_or(u32::MAX));
                let shifted = match i.op {
                    Op::SShl64 => cell.bits.checked_shl(by).unwrap_or(0),
                    Op::SLShr64 => cell.bits.checked_shr(by).unwrap_or(0),
                    _ => ((cell.bits as i64) >> by.min(63)) as u64,
                };
                cell.with(shifted)
            }
            Op::SZext | Op::STrunc => of(i.a).with(of(i.a).bits & LOW),
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
            Op::SFma32 | Op::SFma64 => of(i.a).or(of(i.b)).or(of(i.c)).mixed(),
            Op::SPtrS | Op::SPtrU | Op::SPtrL => of(i.a).or(of(i.b)).mixed(),
            op => match flow(op) {
                Flow::S1 => of(i.a).mixed(),
                Flow::S2 => of(i.a).or(of(i.b)).mixed(),
                Flow::V1 | Flow::V2 | Flow::Compare | Flow::Other => return,
            },
        };
        self.put(at(i.d), cell);
    }

    /// A call of the runtime, or a launch.
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
                let kernel = scene.program.module().function(dsl::ir::FuncId(row.target));
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
                        // A kernel need not look at every member of a struct.
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

/// Whether a kernel computes with a variable outside of its branches and loops, in threads that no parameter sends away before. To copy it
/// is nothing yet.
fn computes_with(kernel: &Function, slot: SlotId) -> bool {
    let (mut read, mut of_thread) = (HashSet::new(), HashSet::new());
    let is_in = |set: &HashSet<ValueId>, operand: &Operand| matches!(operand, Operand::Value(id) if set.contains(id));
    for node in &kernel.body.0 {
        let inst = match node {
            Node::Inst(inst) => inst,
            Node::If { cond, .. } if is_in(&of_thread, cond) => continue,
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

/// Functions that compute a value, and do nothing else with theirs.
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
