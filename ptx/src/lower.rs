//! From PTX's tree to IR.
//!
//! A function is walked twice, with the same code. The first walk writes into a builder that is thrown away; it notes how each register is
//! used (`registers`). The second walk writes the IR.
//!
//! PTX's registers have widths and no types, and its pointers are integers. A register becomes a float where arithmetic takes it as one, and
//! a pointer where an address is made from it and it comes from a parameter, a variable or a conversion of addresses. Then the machine knows
//! what an address points into. Other addresses are integers that are converted at the access.

mod arithmetic;
mod call;
mod carry;
mod compare;
mod control;
mod convert;
mod environment;
mod float;
mod half;
mod head;
mod inst;
mod memory;
mod modifiers;
mod pointer;
mod read;
mod registers;
mod warp;

use ir::symbol::kernel_symbol;
use ir::{
    Builder, FuncId, FunctionKind, GlobalId, LabelId, LocId, LocalVar, MemType, Module, Object,
    Routine, RoutineId, SharedVar, SlotId, infer_spaces, simplify,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{self, Block};
use crate::structure::{Piece, Unstructured, structure};
use crate::tree::{
    Base, Body, Function, Kind, Operand, Ptx, RegId, ScalarType, StateSpace, Statement, Variable,
};
use crate::{Error, assembler, parse};
use environment::Environment;
use head::Head;
use registers::Registers;

/// The module with each kernel's body replaced by what its PTX does. The PTX is that of dslc's back end for this module, with the number of
/// a place as the column of each `.loc` (`sites` of its options), so both have the same parameters, variables and places.
///
/// An instruction that dslc cannot run is an error when a lane executes it. A kernel whose jumps have no structure, or whose PTX is wrong, is in
/// the second list, with the reason; its body is empty. Host functions have no body, either.
pub fn compiled(text: &str, written: &Module) -> Result<(Module, Vec<(FuncId, Error)>), Error> {
    let ptx = parse(text)?;
    let mut module = written.clone();
    let mut refused = Vec::new();
    let mut environment = Environment::of(written, &ptx);
    environment.add_variables(&mut module);
    environment.add_lines(&ptx, &mut module);
    for index in 0..module.functions.len() {
        let id = FuncId(index as u32);
        let host = written.functions[index].kind == FunctionKind::Host;
        let function = &mut module.functions[index];
        function.clear();
        if host {
            continue;
        }
        let symbol = kernel_symbol(written, id);
        let mut entries = ptx.functions.iter();
        let entry = entries.find(|function| function.is_entry && function.name == symbol);
        let entry =
            entry.ok_or_else(|| Error::at(text, 0, &format!("the PTX has no entry `{symbol}`")))?;
        let head = Head::of_written(written.function(id), entry);
        match lower(text, entry, Some(head), &environment) {
            Ok(Lowered {
                function,
                unstructured: None,
                ..
            }) => module.functions[index] = function,
            Ok(Lowered {
                unstructured: Some(error),
                ..
            })
            | Err(error) => refused.push((id, error)),
        }
    }
    environment.add_strings(&mut module);
    infer_spaces(&mut module);
    simplify(&mut module);
    if ptx.target.starts_with(assembler::MEASURED) {
        assembler::merge_atomics(&mut module);
    }
    Ok((module, refused))
}

/// The module of a PTX text by itself: a kernel for each entry. Places are those of `.loc`, or the lines of the text where it has none; `name`
/// is the text's file.
///
/// # Errors
/// What is wrong with the text as a whole.
pub fn module(text: &str, name: &str) -> Result<(Module, Kernels), Error> {
    let mut module = Module {
        name: name.to_string(),
        ..Module::default()
    };
    let kernels = join(
        text,
        name,
        &mut module,
        "ptx file",
        &|_| Joined::Added,
        &|_| None,
    )?;
    Ok((module, kernels))
}

/// What becomes of an entry that joins a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Joined {
    /// Nothing.
    LeftOut,
    /// A further kernel.
    Added,
    /// The body of this kernel, which has none. Each of the entry's parameters is several of the kernel's: their offsets and types in memory.
    BodyOf(FuncId, Vec<Vec<(u64, MemType)>>),
}

/// Adds kernels of a PTX text to a module; `by` is the compiler. `joined` says what becomes of an entry, `variable` which of the module's variables one of the text
/// is. Places and `name` are as in [`module`].
///
/// # Errors
/// What is wrong with the text as a whole.
pub fn join(
    text: &str,
    name: &str,
    module: &mut Module,
    by: &str,
    joined: &dyn Fn(&str) -> Joined,
    variable: &dyn Fn(&str) -> Option<GlobalId>,
) -> Result<Kernels, Error> {
    let ptx = parse(text)?;
    let mut environment = Environment::joining(module, &ptx, variable);
    environment.add_variables(module);
    environment.add_places(text, name, module);
    let mut kernels = Kernels::default();
    let mut made = Module {
        globals: module.globals.clone(),
        ..Module::default()
    };
    let (mut ids, mut more) = (Vec::new(), module.functions.len());
    for entry in ptx.functions.iter().filter(|function| function.is_entry) {
        let (id, head) = match joined(entry.name) {
            Joined::LeftOut => continue,
            Joined::Added => (FuncId(more as u32), None),
            Joined::BodyOf(id, parts) => {
                let head = Head::of_parts(module.function(id), entry, &parts);
                (id, Some(head))
            }
        };
        let name = || entry.name.to_string();
        match lower(text, entry, head, &environment) {
            Ok(lowered) => {
                more += usize::from(id.index() == more);
                kernels.all.push(Kernel {
                    entry: name(),
                    id,
                    params: lowered.params,
                });
                ids.push(id);
                let mut function = lowered.function;
                function.compiled_by = Some(by.to_string());
                made.functions.push(function);
                let unstructured = lowered.unstructured;
                kernels
                    .assumed
                    .extend(unstructured.map(|error| (name(), error)));
                let errors = lowered.unsupported.into_iter();
                kernels
                    .unsupported
                    .extend(errors.map(|error| (name(), error)));
            }
            Err(error) => kernels.refused.push((name(), error)),
        }
    }
    environment.add_strings(module);
    infer_spaces(&mut made);
    simplify(&mut made);
    for (id, function) in ids.into_iter().zip(made.functions) {
        match module.functions.get_mut(id.index()) {
            Some(stub) => *stub = function,
            None => module.functions.push(function),
        }
    }
    Ok(kernels)
}

/// The kernels of a PTX text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kernels {
    /// Those that dslc can run.
    pub all: Vec<Kernel>,
    /// The names of the others, and why.
    pub refused: Vec<(String, Error)>,
    /// Those of which it is assumed where lanes meet again, and why.
    pub assumed: Vec<(String, Error)>,
    /// Those with an instruction that is an error when a lane executes it: each such instruction once.
    pub unsupported: Vec<(String, Error)>,
}

/// A kernel of a PTX text.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The entry's name.
    pub entry: String,
    /// Where it is in the module.
    pub id: FuncId,
    /// For each parameter of the entry the parts that the kernel reads, with their offsets. Each part is a parameter of the IR's kernel, in
    /// this order.
    pub params: Vec<Vec<(u64, MemType)>>,
}

/// The names that a function's operands have.
fn names<'t>(body: &Body<'t>) -> FxHashSet<&'t str> {
    fn add<'t>(operand: &Operand<'t>, names: &mut FxHashSet<&'t str>) {
        match operand {
            Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) => {
                names.insert(name);
            }
            Operand::Vector(parts) | Operand::Group(parts) => {
                parts.iter().for_each(|part| add(part, names));
            }
            _ => {}
        }
    }
    let mut names = FxHashSet::default();
    for statement in &body.statements {
        if let Statement::Inst(inst) = statement {
            inst.operands
                .iter()
                .for_each(|operand| add(operand, &mut names));
        }
    }
    names
}

/// A function of PTX with its structure: an entry, or a function that it calls.
struct Unit<'a, 't> {
    function: &'a Function<'t>,
    body: &'a Body<'t>,
    blocks: Vec<Block>,
    pieces: Vec<Piece>,
    registers: Registers,
    /// Why its jumps have no structure, if they have none.
    unstructured: Option<Error>,
    /// The parts of its parameters that it reads, and of its results that it writes: name, offset, type.
    parts: [Vec<Part<'t>>; 2],
    /// The parameters of an entry whose addresses it takes.
    escaped: Vec<&'a Variable<'t>>,
}

/// A part of a parameter.
type Part<'t> = (&'t str, i64, ScalarType);

impl<'a, 't> Unit<'a, 't> {
    fn of(text: &str, function: &'a Function<'t>) -> Result<Unit<'a, 't>, Error> {
        let fail = |at: u32, message: &str| Error::at(text, at as usize, message);
        let Some(body) = &function.body else {
            return Err(fail(function.at, "this function has no code"));
        };
        let at = |statement: usize| statement_at(body, statement).unwrap_or(function.at);
        let blocks = graph::blocks(body).map_err(|(statement, why)| fail(at(statement), why))?;
        let structured = structure(&blocks);
        let escaped = escaped(function, body);
        let mut read = parts(body, &function.params, "ld");
        read.retain(|(name, ..)| !escaped.iter().any(|variable| variable.name == *name));
        read.extend(escaped.iter().flat_map(|variable| words(variable)));
        let unstructured = structured.as_ref().err().map(|why| match why {
            Unstructured::IntoLoop(block) => fail(
                at(blocks[*block].statements.start),
                "a jump leads into the middle of a loop",
            ),
            Unstructured::TooDeep => fail(function.at, "its jumps need statements nested too deep"),
        });
        let pieces = structured.unwrap_or_else(|_| vec![Piece::Dispatch(graph::order(&blocks))]);
        Ok(Unit {
            unstructured,
            function,
            body,
            blocks,
            pieces,
            registers: Registers::collecting(body),
            parts: [read, parts(body, &function.results, "st")],
            escaped,
        })
    }
}

/// The parts of some parameters that a function accesses.
fn parts<'t>(body: &Body<'t>, of: &[Variable<'t>], opcode: &str) -> Vec<Part<'t>> {
    let mut parts: Vec<Part<'t>> = Vec::new();
    for statement in &body.statements {
        let Statement::Inst(inst) = statement else {
            continue;
        };
        if inst.opcode != opcode || !inst.modifiers.contains(&".param") {
            continue;
        }
        let address = inst.operands.iter().find_map(|operand| match operand {
            Operand::Address(Base::Symbol(name), offset) => Some((*name, *offset)),
            _ => None,
        });
        let ty = inst.modifiers.iter().find_map(|word| ScalarType::of(word));
        let (Some((name, offset)), Some(ty)) = (address, ty) else {
            continue;
        };
        let lanes = match () {
            () if inst.modifiers.contains(&".v2") => 2,
            () if inst.modifiers.contains(&".v4") => 4,
            () => 1,
        };
        for lane in 0..lanes {
            let offset = offset + lane * ty.bytes() as i64;
            let mut all = parts.iter_mut();
            match all.find(|(known, at, _): &&mut Part<'t>| (*known, *at) == (name, offset)) {
                // The widest read has the others.
                Some(known) if known.2.bits < ty.bits => known.2 = ty,
                Some(_) => {}
                None if of.iter().any(|variable| variable.name == name) => {
                    parts.push((name, offset, ty));
                }
                None => {}
            }
        }
    }
    parts
}

/// The parameters of an entry whose addresses are in registers: an array that is indexed is one.
fn escaped<'a, 't>(function: &'a Function<'t>, body: &Body<'t>) -> Vec<&'a Variable<'t>> {
    let is_taken = |variable: &&Variable<'t>| {
        body.instructions().any(|inst| {
            let mut operands = inst.operands.iter();
            matches!(inst.opcode, "mov" | "cvta" | "add" | "mad")
                && operands.any(
                    |operand| matches!(operand, Operand::Symbol(name, _) if *name == variable.name),
                )
        })
    };
    match function.is_entry {
        true => function.params.iter().filter(is_taken).collect(),
        false => Vec::new(),
    }
}

/// All bytes of a parameter as parts.
fn words<'t>(variable: &Variable<'t>) -> Vec<Part<'t>> {
    let size = variable.size_bytes.unwrap_or(0).min(MAX_PARAM_BYTES);
    let mut words = Vec::new();
    let mut at = 0;
    while at < size {
        let bytes = [8, 4, 2, 1]
            .into_iter()
            .find(|bytes| at % bytes == 0 && at + bytes <= size)
            .unwrap_or(1);
        let ty = ScalarType {
            kind: Kind::Bits,
            bits: 8 * bytes as u32,
        };
        words.push((variable.name, at as i64, ty));
        at += bytes;
    }
    words
}

/// The most bytes of a parameter, as in PTX's manual.
const MAX_PARAM_BYTES: u64 = 32_764;

/// An entry, then the functions that it calls, directly or through others.
fn units<'a, 't>(
    text: &str,
    entry: &'a Function<'t>,
    ptx: &'a Ptx<'t>,
) -> Result<Vec<Unit<'a, 't>>, Error> {
    let mut units = vec![Unit::of(text, entry)?];
    let mut next = 0;
    while next < units.len() {
        for name in names(units[next].body) {
            let is_known = units.iter().any(|unit| unit.function.name == name);
            let mut functions = ptx.functions.iter();
            let called = functions.find(|function| {
                function.name == name && function.body.is_some() && !function.is_entry
            });
            if let (Some(called), false, false) = (called, is_known, call::is_own(name)) {
                units.push(Unit::of(text, called)?);
            }
        }
        next += 1;
    }
    Ok(units)
}

/// One entry.
struct Lowered {
    function: ir::Function,
    /// The parts of its parameters, if its head is made from them.
    params: Vec<Vec<(u64, MemType)>>,
    /// Why its jumps have no structure, if they have none.
    unstructured: Option<Error>,
    /// The first of each kind of instruction that dslc cannot run.
    unsupported: Vec<Error>,
}

/// The IR of one entry.
fn lower<'t>(
    text: &str,
    entry: &Function<'t>,
    head: Option<Head<'t>>,
    environment: &Environment<'_, 't>,
) -> Result<Lowered, Error> {
    let mut units = units(text, entry, environment.ptx)?;
    let is_alone = head.is_none();
    let head = head.unwrap_or_else(|| Head::of_entry(&units[0]));
    units[0].registers.are_params_pointers = is_alone;
    walk(text, &mut units, &head, environment)?;
    for unit in &mut units {
        unit.registers.decide();
    }
    // Now it is known which parameters are pointers.
    let head = match is_alone {
        true => Head::of_entry(&units[0]),
        false => head,
    };
    let (function, mut unsupported) = walk(text, &mut units, &head, environment)?;
    unsupported.sort();
    let mut seen = FxHashSet::default();
    unsupported.retain(|(_, what)| seen.insert(what.clone()));
    let error = |(at, what): &(u32, String)| Error::at(text, *at as usize, what);
    Ok(Lowered {
        function,
        params: head.parts(entry),
        unstructured: units.into_iter().find_map(|unit| unit.unstructured),
        unsupported: unsupported.iter().map(error).collect(),
    })
}

/// Walks through all functions of an entry. Also returns the places in the text of what dslc cannot run.
fn walk<'t>(
    text: &str,
    units: &mut [Unit<'_, 't>],
    head: &Head<'t>,
    environment: &Environment<'_, 't>,
) -> Result<(ir::Function, Vec<(u32, String)>), Error> {
    let mut unsupported = Vec::new();
    let mut builder = Builder::new(&head.name, FunctionKind::Kernel, head.loc);
    let params = head.declare(&mut builder);
    if let Some((threads, blocks)) = head.launch_bounds {
        builder.set_launch_bounds(threads, blocks);
    }
    let mut shared = FxHashMap::default();
    // Of the module's shared variables a kernel has those that its functions name.
    let named: FxHashSet<&str> = units.iter().flat_map(|unit| names(unit.body)).collect();
    for variable in environment.variables {
        if named.contains(variable.name) {
            declare(&mut builder, variable, head.loc, &mut shared);
        }
    }
    let routines: Vec<Called<'t>> = units[1..]
        .iter()
        .map(|unit| called(&mut builder, unit, head.loc))
        .collect();
    for index in (1..units.len()).chain([0]) {
        let Unit {
            body,
            blocks,
            pieces,
            registers,
            escaped,
            ..
        } = &mut units[index];
        let mut objects = shared.clone();
        for param in escaped.iter() {
            let variable = Variable {
                space: StateSpace::Local,
                ..(*param).clone()
            };
            declare(&mut builder, &variable, head.loc, &mut objects);
        }
        for variable in &body.variables {
            declare(&mut builder, variable, head.loc, &mut objects);
        }
        registers.begin();
        let own = index.checked_sub(1).map(|index| &routines[index]);
        let mut lowerer = Lowerer {
            builder,
            body,
            blocks,
            environment,
            registers,
            objects,
            params: match own {
                Some(routine) => routine.params.clone(),
                None => params.clone(),
            },
            types: match own {
                Some(_) => FxHashMap::default(),
                None => head.types(),
            },
            results: own.map_or_else(FxHashMap::default, |routine| routine.results.clone()),
            routines: &routines,
            arguments: FxHashMap::default(),
            argument_registers: FxHashMap::default(),
            addresses: body.addresses(),
            carry: None,
            labels: FxHashMap::default(),
            end: None,
            unsupported: Vec::new(),
        };
        if let Some(routine) = own {
            lowerer.builder.open_routine(routine.id);
            lowerer.end = Some(lowerer.builder.open_scope());
        }
        lowerer.store_params(escaped);
        lowerer
            .pieces(pieces)
            .map_err(|(place, why)| Error::at(text, place as usize, &why))?;
        unsupported.append(&mut lowerer.unsupported);
        builder = lowerer.builder;
        if own.is_some() {
            builder.close();
            builder.close();
        }
    }
    Ok((builder.finish(), unsupported))
}

/// A function that is called, as a routine: its parameters and results by name and offset.
struct Called<'t> {
    name: &'t str,
    id: RoutineId,
    /// By parameter's number and offset, in the order of the routine.
    given: Vec<(usize, i64)>,
    /// Offsets of the results, in the order of the routine.
    gives: Vec<i64>,
    params: Slots<'t>,
    results: Slots<'t>,
}

fn called<'t>(builder: &mut Builder, unit: &Unit<'_, 't>, loc: LocId) -> Called<'t> {
    let function = unit.function;
    let [read, written] = &unit.parts;
    let mut slots = |parts: &[Part<'t>]| {
        let mut slots = Slots::default();
        for (name, offset, ty) in parts {
            let slot = builder.slot(format!("{name}{offset}"), registers::integer(*ty));
            slots.insert((*name, *offset), slot);
        }
        slots
    };
    let (params, results) = (slots(read), slots(written));
    let number = |name: &str| {
        let mut all = function.params.iter();
        all.position(|param| param.name == name).unwrap_or(0)
    };
    let in_order = |parts: &[Part<'t>], slots: &Slots<'t>| {
        let slots = parts
            .iter()
            .map(|(name, offset, _)| slots[&(*name, *offset)]);
        slots.collect::<Vec<SlotId>>()
    };
    let id = builder.routine(Routine {
        name: function.name.to_string(),
        params: in_order(read, &params),
        results: in_order(written, &results),
        loc,
    });
    Called {
        name: function.name,
        id,
        given: read
            .iter()
            .map(|(name, offset, _)| (number(name), *offset))
            .collect(),
        gives: written.iter().map(|(_, offset, _)| *offset).collect(),
        params,
        results,
    }
}

/// Where a statement, or the next one with a place, is in the text.
fn statement_at(body: &Body<'_>, statement: usize) -> Option<u32> {
    let mut after = body.statements.iter().skip(statement);
    after.find_map(|statement| match statement {
        Statement::Inst(inst) => Some(inst.at),
        _ => None,
    })
}

/// Why an instruction cannot be lowered.
pub(crate) type Fault = String;

/// Slots of parameters or results, by name and offset.
type Slots<'t> = FxHashMap<(&'t str, i64), SlotId>;

/// One walk through a function.
pub(crate) struct Lowerer<'a, 't> {
    builder: Builder,
    body: &'a Body<'t>,
    blocks: &'a [Block],
    environment: &'a Environment<'a, 't>,
    registers: &'a mut Registers,
    /// Shared variables, and the function's own ones.
    objects: FxHashMap<&'t str, Object>,
    params: Slots<'t>,
    /// The types in memory of an entry's parts of parameters.
    types: FxHashMap<(&'t str, i64), MemType>,
    results: Slots<'t>,
    /// The functions that may be called.
    routines: &'a [Called<'t>],
    /// Arguments of the next call, and results of the last one: by parameter and offset.
    arguments: FxHashMap<(&'t str, i64), ir::Operand>,
    /// The register that each argument was last written from.
    argument_registers: FxHashMap<&'t str, RegId>,
    /// Registers that always hold the address of one variable.
    addresses: FxHashMap<RegId, (&'t str, i64)>,
    /// The carry of sums of several words, if it was named.
    carry: Option<SlotId>,
    /// Labels of scopes (`false`, by follower) and loops (`true`, by header).
    labels: FxHashMap<(bool, usize), LabelId>,
    /// In a routine: what `ret` leaves.
    end: Option<LabelId>,
    /// What dslc cannot run, by place in the text.
    unsupported: Vec<(u32, String)>,
}

/// A shared or local variable.
fn declare<'t>(
    builder: &mut Builder,
    variable: &Variable<'t>,
    loc: LocId,
    objects: &mut FxHashMap<&'t str, Object>,
) {
    let size_bytes = variable.size_bytes.unwrap_or(0);
    let (c_type, element_bytes) = ("char".to_string(), 1);
    let object = match variable.space {
        StateSpace::Shared => Object::Shared(builder.shared(SharedVar {
            name: variable.name.to_string(),
            c_type,
            element_bytes,
            dims: vec![size_bytes],
            size_bytes,
            align_bytes: variable.align_bytes,
            dynamic: variable.size_bytes.is_none(),
            offset_bytes: 0,
            loc,
        })),
        StateSpace::Local => Object::Local(builder.local(LocalVar {
            name: variable.name.to_string(),
            c_type,
            element_bytes,
            dims: vec![size_bytes],
            size_bytes,
            align_bytes: variable.align_bytes,
            loc,
        })),
        StateSpace::Global | StateSpace::Const | StateSpace::Param => return,
    };
    objects.insert(variable.name, object);
}

impl<'t> Lowerer<'_, 't> {
    /// Copies the parameters whose addresses are taken into local memory.
    fn store_params(&mut self, escaped: &[&Variable<'t>]) {
        for param in escaped {
            let Some(&object) = self.objects.get(param.name) else {
                continue;
            };
            let mut parts: Vec<(i64, MemType, SlotId)> = self
                .params
                .iter()
                .filter(|((name, _), _)| *name == param.name)
                .filter_map(|(part, slot)| Some((part.1, *self.types.get(part)?, *slot)))
                .collect();
            parts.sort_by_key(|(offset, ..)| *offset);
            let base = self.builder.addr_of(object);
            for (offset, mem, slot) in parts {
                let value = self.builder.get(slot);
                let at = self.builder.ptr_offset(base, offset);
                let access = memory::access(mem, 1, ir::Space::Generic);
                self.builder.store(access, at, vec![value]);
            }
        }
    }

    /// What a name means that is no parameter.
    fn object(&self, name: &str) -> Option<Object> {
        let own = self.objects.get(name).copied();
        own.or_else(|| self.environment.objects.get(name).copied())
    }
}
