//! Compiles IR to bytecode.
//!
//! In kernels, values that are the same in all lanes go to scalar registers, and the others to varying ones. Structured
//! statements become jumps where the whole warp goes one way, and mask arithmetic where it may diverge (`control`).
//! Host functions use only the scalar half. The input is a verified module, so compilation cannot fail.

mod array;
mod assigned;
mod call;
mod control;
#[cfg_attr(
    not(feature = "threads"),
    allow(dead_code, reason = "only blocks side by side need them")
)]
pub(crate) mod effects;
mod element;
mod endless;
pub(crate) mod fuse;
mod idle;
mod inst;
mod lifetimes;
mod meet;
mod memory;
mod pointer;
mod polls;
mod private;
pub(crate) mod ranges;
mod registers;
mod rounds;
mod routine;
mod select;
mod uniformity;
mod unroll;

use std::collections::{HashMap, HashSet};

use ir::{
    Const, FuncId, Function, FunctionKind, LabelId, LocId, LocalId, Module, Object, Operand,
    RoutineId, SlotId, Space, Type, ValueId,
};

use crate::isa::bytecode::{Class, Code, CounterSite, Inst, Place, Tally};
use crate::isa::op::Op;
use crate::memory::layout;
use crate::shortcut::{Shortcut, Shortcuts};
use control::Frame;
use lifetimes::Lifetimes;
use registers::Allocator;
use uniformity::Uniformity;

/// The variant of a kernel's code.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Form {
    /// For blocks in which `tid.y` and `tid.z` are the same in all lanes of a warp.
    pub(crate) row_warps: bool,
    /// Whether its signed arithmetic can be checked for overflow.
    pub(crate) checked: bool,
    pub(crate) shortcuts: Shortcuts,
}

/// Compiles one function.
pub(crate) fn compile(module: &Module, id: FuncId, form: Form) -> Code {
    let Form {
        row_warps,
        checked,
        shortcuts,
    } = form;
    let offsets = local_offsets(module.function(id));
    let unrolled = array::unrolled(module.function(id), &offsets.0);
    let unrolled = unrolled.filter(|_| shortcuts.has(Shortcut::Arrays));
    let (function, arrays) = match &unrolled {
        Some(found) => (&found.function, found.arrays.as_slice()),
        None => (module.function(id), [].as_slice()),
    };
    let host = function.kind == FunctionKind::Host;
    let uniformity = if host {
        Uniformity {
            values: vec![false; function.values.len()],
            slots: vec![false; function.slots.len()],
            labels: vec![false; function.labels as usize],
            first_set: vec![None; function.slots.len()],
        }
    } else {
        uniformity::analyse(function, row_warps)
    };
    let lifetimes = lifetimes::analyse(function, &uniformity, checked);
    let mut compiler = Compiler {
        function,
        host,
        row_warps,
        checked,
        analyses: Analyses {
            uniformity,
            lifetimes,
            early: HashSet::new(),
            private: private::analyse(function),
        },
        code: Code {
            shortcuts,
            ..Code::default()
        },
        allocator: match host {
            true => Allocator::of_host(),
            false => Allocator::new(),
        },
        values: Values::of(function.values.len()),
        pointers: Pointers::default(),
        slots: Slots::default(),
        arrays: Arrays {
            counters: unrolled.as_ref().map(|_| HashMap::new()),
            ..Arrays::default()
        },
        constants: Constants::default(),
        frames: Vec::new(),
        routine: None,
        loc: function.loc,
        pos: 0,
        weight: 0,
        in_guard: false,
    };
    compiler.code.effects = effects::analyse(function);
    compiler.layout(offsets);
    compiler.slots();
    compiler.arrays(arrays);
    let early = assigned::analyse(function);
    if host {
        compiler.analyses.early = early.iter().map(|&(slot, _)| slot).collect();
    }
    compiler.run();
    if unrolled.is_some() {
        compiler.count_the_rest(module.function(id));
    }
    compiler
        .code
        .registers
        .slots
        .clone_from(&compiler.slots.places);
    for closed in endless::analyse(function) {
        let places = closed.slots.iter().map(|slot| {
            let class = Class::of(function.slots[slot.index()].ty);
            (compiler.slots.places[slot.index()], class)
        });
        let places: Vec<_> = places.collect();
        let edges = compiler.code.insts.iter().zip(&compiler.code.locs);
        let heads = edges.filter(|(_, loc)| **loc == closed.loc);
        for head in heads.filter_map(|(inst, _)| inst.back_edge_to()) {
            compiler.code.endless.insert(head, places.clone());
        }
    }
    compiler.code.registers.unassigned = early
        .into_iter()
        .map(|(slot, loc)| (slot, compiler.slots.places[slot.index()], loc))
        .collect();
    if shortcuts.has(Shortcut::Idle) {
        idle::find(&mut compiler.code);
    }
    compiler.code
}

/// A register that a temporary frees at its end.
#[derive(Clone, Copy, Debug)]
enum Owned {
    S(u32),
    V(u32, u32),
}

/// A `ptradd` that is computed by its accesses.
#[derive(Clone, Copy, Debug)]
struct FusedPointer {
    base: Operand,
    index: Operand,
    unsigned: bool,
    scale: i64,
    offset: i64,
    /// A uniform index and its scale that are also added, for 32-bit pointers.
    step: Option<(Operand, i64)>,
    /// The scalar register with the base, if it has been computed.
    scalar: Option<u32>,
}

/// The results of the analyses of the function.
struct Analyses {
    uniformity: Uniformity,
    lifetimes: Lifetimes,
    /// In a host function: slots that may be read before they are assigned.
    early: HashSet<SlotId>,
    /// Slots that are read in only one loop.
    private: HashMap<SlotId, LabelId>,
}

/// The registers of temporaries.
#[derive(Default)]
struct Values {
    places: Vec<Option<Place>>,
    owned: Vec<Option<Owned>>,
    /// Uniform values that are also spread over a varying register.
    spread: HashMap<ValueId, (u32, u32)>,
    /// Registers to free after the current instruction.
    temporaries: Vec<Owned>,
}

impl Values {
    fn of(count: usize) -> Values {
        Values {
            places: vec![None; count],
            owned: vec![None; count],
            ..Values::default()
        }
    }
}

/// Pointer additions.
#[derive(Default)]
struct Pointers {
    /// Those that are computed by their accesses.
    fused: HashMap<ValueId, FusedPointer>,
    /// All pointer additions so far.
    all: HashMap<ValueId, FusedPointer>,
}

/// The registers of variables.
#[derive(Default)]
struct Slots {
    places: Vec<Place>,
    /// Parameters that are never assigned, spread over a varying register.
    mirrors: HashMap<u32, u32>,
    /// The number of the next assignment.
    next_set: u32,
}

/// The arrays in registers.
#[derive(Default)]
struct Arrays {
    /// The register of each array's first element.
    units: HashMap<LocalId, u32>,
    /// The site that counts accesses to them at one place of the source.
    sites: HashMap<CounterSite, u32>,
    /// The first counter of each access, if loops are unrolled: copies of an access share it.
    counters: Option<HashMap<CounterSite, u32>>,
    /// Accesses in the current segment: their sites and how many.
    pending: Vec<Tally>,
    /// Branches of unrolled loops in it.
    branches: u32,
}

/// Registers that hold one value all the time.
#[derive(Default)]
struct Constants {
    scalar: HashMap<u64, u32>,
    /// By bits and width.
    varying: HashMap<(u64, u32), u32>,
    symbols: HashMap<Object, u32>,
}

struct Compiler<'a> {
    function: &'a Function,
    host: bool,
    /// Whether `tid.y` and `tid.z` are scalars.
    row_warps: bool,
    /// Whether overflow is reported.
    checked: bool,
    analyses: Analyses,
    code: Code,
    allocator: Allocator,
    values: Values,
    pointers: Pointers,
    slots: Slots,
    arrays: Arrays,
    constants: Constants,
    frames: Vec<Frame>,
    /// The routine that is being compiled.
    routine: Option<RoutineId>,
    loc: LocId,
    pos: u32,
    /// Instructions in the current segment.
    weight: u32,
    /// Those here have a predicate, and are counted.
    in_guard: bool,
}

/// The offset of each local variable outside routines in a thread's memory, and their total size.
fn local_offsets(function: &Function) -> (Vec<u64>, u64) {
    let mut offset = 0u64;
    let mut offsets = Vec::new();
    for (local, owner) in function.locals.iter().zip(routine::owners(function)) {
        if owner.is_some() {
            offsets.push(0);
            continue;
        }
        offset = offset.next_multiple_of(local.align_bytes.max(1));
        offsets.push(offset);
        offset += local.size_bytes;
    }
    (offsets, offset.next_multiple_of(16))
}

impl Compiler<'_> {
    fn layout(&mut self, (offsets, local_bytes): (Vec<u64>, u64)) {
        let function = self.function;
        self.code.memory.local_offsets = offsets;
        self.code.memory.local_bytes = local_bytes;
        self.layout_routines(&routine::owners(function), local_bytes);
        let ends = function
            .shared
            .iter()
            .filter(|var| !var.dynamic)
            .map(|var| var.offset_bytes + var.size_bytes);
        self.code.memory.shared_bytes = ends.max().unwrap_or(0);
        let dynamic = function.shared.iter().find(|var| var.dynamic);
        self.code.memory.dynamic_offset = dynamic
            .map_or(self.code.memory.shared_bytes.next_multiple_of(16), |var| {
                var.offset_bytes
            });
    }

    /// Allocates registers for the slots. They form one run per file, so that a block can begin by clearing them.
    fn slots(&mut self) {
        let (s_start, v_start) = (self.allocator.scalars.len(), self.allocator.units.len());
        for (index, slot) in self.function.slots.iter().enumerate() {
            let class = Class::of(slot.ty);
            let place = if self.analyses.uniformity.slots[index] && class != Class::Mask {
                Place::V(self.allocator.units.reserve(class.units()))
            } else {
                Place::S(self.allocator.scalars.reserve(1))
            };
            self.slots.places.push(place);
        }
        self.code.registers.slot_s = s_start..self.allocator.scalars.len();
        self.code.registers.slot_v = v_start..self.allocator.units.len();
        let mut assigned = vec![false; self.slots.places.len()];
        self.function.body.for_each_inst(&mut |inst| {
            if let ir::InstKind::Set(slot, _) = inst.kind {
                assigned[slot.index()] = true;
            }
        });
        for param in &self.function.params {
            let class = Class::of(self.function.slots[param.slot.index()].ty);
            self.code
                .registers
                .params
                .push((self.slots.places[param.slot.index()], class));
            let mirrored = !self.host && !assigned[param.slot.index()] && class != Class::Mask;
            if mirrored && matches!(self.slots.places[param.slot.index()], Place::S(_)) {
                let unit = self.allocator.units.reserve(class.units());
                self.slots.mirrors.insert(param.slot.0, unit);
            }
        }
        for (index, param) in self.function.params.iter().enumerate() {
            if let Some(&unit) = self.slots.mirrors.get(&param.slot.0) {
                let class = self.code.registers.params[index].1;
                self.code
                    .registers
                    .mirrors
                    .push((index as u32, unit, class));
            }
        }
    }

    fn run(&mut self) {
        self.frames.push(Frame::function());
        let body = &self.function.body;
        self.block(body);
        let frame = self.frames.pop().expect("the function's");
        self.loc = self.function.loc;
        // Warps that left before do not execute what comes before the end.
        if !frame.exits.is_empty() {
            self.tick();
        }
        self.bind(frame.exits);
        if self.host {
            self.control(Op::Return, 0, 0, 0);
        } else {
            self.control(Op::End, 0, 0, 0);
        }
        self.code.registers.s_count = self.allocator.scalars.len();
        self.code.registers.v_units = self.allocator.units.len();
    }

    // Emission.

    fn emit(&mut self, op: Op, d: u32, a: u32, b: u32, c: u32) {
        self.code.insts.push(Inst {
            op,
            weight: 0,
            d,
            a,
            b,
            c,
        });
        self.code.locs.push(self.loc);
    }

    /// Emits an instruction that ends a segment and carries the segment's weight.
    fn control(&mut self, op: Op, d: u32, a: u32, b: u32) -> usize {
        self.tally();
        let weight = std::mem::take(&mut self.weight) as u16;
        self.emit(op, d, a, b, 0);
        let at = self.code.insts.len() - 1;
        self.code.insts[at].weight = weight;
        at
    }

    /// Counts an IR instruction. Those with a predicate are counted before it is looked at.
    fn count(&mut self) {
        if self.in_guard {
            return;
        }
        self.weight += 1;
        if self.weight == u32::from(u16::MAX) {
            self.tick();
        }
    }

    /// Ends the segment before a jump target.
    fn tick(&mut self) {
        if self.weight > 0 {
            self.control(Op::Tick, 0, 0, 0);
        }
    }

    /// Makes the jumps in `from` go here.
    fn bind(&mut self, from: Vec<usize>) {
        let next_pc = self.next_pc();
        for at in from {
            self.code.insts[at].b = next_pc;
        }
    }

    fn next_pc(&self) -> u32 {
        self.code.insts.len() as u32
    }

    // Values.

    fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(id) => self.function.values[id.index()],
            Operand::Const(constant) => constant.ty,
        }
    }

    fn class_of(&self, operand: &Operand) -> Class {
        Class::of(self.type_of(operand))
    }

    fn varies(&self, id: ValueId) -> bool {
        self.analyses.uniformity.values[id.index()]
    }

    fn place(&mut self, operand: &Operand) -> Place {
        match operand {
            Operand::Value(id) => {
                self.values.places[id.index()].expect("a temporary is made before it is used")
            }
            Operand::Const(constant) => Place::S(self.constant(constant_bits(constant))),
        }
    }

    /// The scalar register of a uniform value or of an `i1`.
    fn scalar(&mut self, operand: &Operand) -> u32 {
        match self.place(operand) {
            Place::S(register) => register,
            Place::V(_) => unreachable!("the value is uniform"),
        }
    }

    /// A varying register with the value in every lane.
    fn vector(&mut self, operand: &Operand) -> u32 {
        let class = self.class_of(operand);
        match operand {
            Operand::Const(constant) => self.v_constant(constant_bits(constant), class),
            Operand::Value(id) => {
                if let Some(&(register, _)) = self.values.spread.get(id) {
                    return register;
                }
                match self.place(operand) {
                    Place::V(register) => register,
                    Place::S(scalar) => {
                        let register = self.temporary(class);
                        self.splat(register, scalar, class);
                        register
                    }
                }
            }
        }
    }

    fn splat(&mut self, to: u32, scalar: u32, class: Class) {
        let op = if class == Class::W64 {
            Op::VSplat64
        } else {
            Op::VSplat32
        };
        self.emit(op, to, scalar, 0, 0);
    }

    /// A varying register that is freed after this instruction.
    fn temporary(&mut self, class: Class) -> u32 {
        let register = self.allocator.units.take(class.units());
        self.values
            .temporaries
            .push(Owned::V(register, class.units()));
        register
    }

    fn scalar_temporary(&mut self) -> u32 {
        let register = self.allocator.scalars.take(1);
        self.values.temporaries.push(Owned::S(register));
        register
    }

    fn constant(&mut self, bits: u64) -> u32 {
        if let Some(&register) = self.constants.scalar.get(&bits) {
            return register;
        }
        let register = self.allocator.scalars.reserve(1);
        self.constants.scalar.insert(bits, register);
        self.code.registers.s_init.push((register, bits));
        register
    }

    fn v_constant(&mut self, bits: u64, class: Class) -> u32 {
        if let Some(&register) = self.constants.varying.get(&(bits, class.units())) {
            return register;
        }
        let register = self.allocator.units.reserve(class.units());
        self.constants
            .varying
            .insert((bits, class.units()), register);
        self.code.registers.v_init.push((register, class, bits));
        register
    }

    /// A scalar register with an object's address.
    fn symbol(&mut self, object: Object) -> u32 {
        if let Some(&register) = self.constants.symbols.get(&object) {
            return register;
        }
        let register = self.allocator.scalars.reserve(1);
        self.constants.symbols.insert(object, register);
        self.code.registers.s_symbols.push((register, object));
        register
    }

    /// The register for a result: `Place::V` if it varies.
    fn define(&mut self, id: ValueId) -> Place {
        let class = Class::of(self.function.values[id.index()]);
        let place = if self.varies(id) && class != Class::Mask {
            let register = self.allocator.units.take(class.units());
            self.values.owned[id.index()] = Some(Owned::V(register, class.units()));
            Place::V(register)
        } else {
            let register = self.allocator.scalars.take(1);
            self.values.owned[id.index()] = Some(Owned::S(register));
            Place::S(register)
        };
        self.values.places[id.index()] = Some(place);
        place
    }

    /// After the instruction that made them: spreads uniform results that 32-lane operations read.
    fn spread_results(&mut self, results: &[ValueId]) {
        for &id in results {
            let class = Class::of(self.function.values[id.index()]);
            if self.host
                || !self.analyses.lifetimes.spread[id.index()]
                || class == Class::Mask
                || self.values.spread.contains_key(&id)
            {
                continue;
            }
            if let Some(Place::S(scalar)) = self.values.places[id.index()] {
                let register = self.allocator.units.take(class.units());
                self.splat(register, scalar, class);
                self.values.spread.insert(id, (register, class.units()));
            }
        }
    }

    /// Frees the registers of temporaries that end at a position.
    fn release(&mut self, pos: u32) {
        for owned in std::mem::take(&mut self.values.temporaries) {
            self.give(owned);
        }
        for id in std::mem::take(&mut self.analyses.lifetimes.ends[pos as usize]) {
            if let Some(owned) = self.values.owned[id.index()].take() {
                self.give(owned);
            }
            if let Some((register, units)) = self.values.spread.remove(&id)
                && units > 0
            {
                self.allocator.units.give(register, units);
            }
        }
    }

    fn give(&mut self, owned: Owned) {
        match owned {
            Owned::S(register) => self.allocator.scalars.give(register, 1),
            Owned::V(register, units) => self.allocator.units.give(register, units),
        }
    }
}

/// A constant's bits in a register: an `i1` as a mask, pointers to shared and local memory as their low half.
fn constant_bits(constant: &Const) -> u64 {
    match constant.ty {
        Type::I1 if constant.bits != 0 => u64::from(u32::MAX),
        Type::Ptr(Space::Shared) => u64::from(layout::narrow(layout::SHARED, constant.bits)),
        Type::Ptr(Space::Local) => u64::from(layout::narrow(layout::LOCAL, constant.bits)),
        Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => constant.bits,
    }
}
