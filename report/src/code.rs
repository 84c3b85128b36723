//! What a kernel's IR says of its accesses beyond the counts: what the pointer starts from, whether the index comes from memory, how much
//! is computed for each byte, and whether a compiler is likely to turn the accesses into others.
//!
//! The simulator executes each access as the source has it. A compiler may merge, move or drop some. This module finds three usual cases.
//! It errs on the safe side: it reports nothing that might be impossible.
//!
//! - *Merged*: neighbouring accesses of 4 or 8 bytes that together are aligned to 8 or 16 bytes: members of an aligned struct, or elements
//!   that a loop with a constant number of rounds accesses one by one. Between them is no barrier and no store that may alias.
//! - *Again*: a load of an address that was loaded or stored before in the same straight-line code, without such a store or barrier
//!   between.
//! - *Kept*: a load in a loop whose address is the same in all rounds, where no store in the loop may change the loaded value.

mod address;
mod compiler;

use std::collections::{HashMap, HashSet};

use interp::{Site, trap::AccessOp};
use ir::{
    Block, FuncId, Function, Inst, InstKind, LocId, LocalId, Module, Node, Object, SlotId, Space,
    ValueId,
};

use self::address::{Root, Values};
use self::compiler::Straight;
use crate::Input;

/// What a compiler is likely to make of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// One access of `bytes` bytes together with its neighbours, `accesses` of them in total.
    Merged { bytes: u64, accesses: u64 },
    /// Dropped: the value is already in a register.
    Again,
    /// Made once, before the loop.
    Kept,
}

impl Compiled {
    /// In words, to follow "as written: ".
    pub(crate) fn reason(self) -> String {
        match self {
            Compiled::Merged { bytes, accesses } => {
                format!(
                    "a compiler can make one access of {bytes} bytes from {accesses} neighbouring ones"
                )
            }
            Compiled::Again => {
                "a compiler can keep the value, which was loaded or stored before, in a register"
                    .to_owned()
            }
            Compiled::Kept => {
                "a compiler can load the value once before the loop, and keep it in a register"
                    .to_owned()
            }
        }
    }

    /// How to change the source so that the counts are those of the compiled kernel, too.
    pub(crate) fn thought(self) -> String {
        match self {
            Compiled::Merged { bytes, .. } => format!(
                "take the {bytes} bytes with one access, through a vector type (`float4`, `int2` ...): then it does not depend on the compiler"
            ),
            Compiled::Again | Compiled::Kept => {
                "load the value once into a variable, and use that: then it does not depend on the compiler".to_owned()
            }
        }
    }

    /// By what factor the accesses may decrease, at least.
    pub(crate) fn fewer(self) -> f64 {
        match self {
            Compiled::Merged { accesses, .. } => accesses as f64,
            Compiled::Again | Compiled::Kept => 8.0,
        }
    }
}

/// What is known of an access.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    /// The variable that its pointer starts from.
    pub(crate) base: Option<String>,
    /// The access is `volatile` or atomic: another thread may change the memory.
    pub(crate) is_shared_with_others: bool,
    /// Its address depends on what was loaded.
    pub(crate) is_from_memory: bool,
    /// It is in a loop.
    pub(crate) is_in_loop: bool,
    /// The numbers of the branches and loops around it, outermost first; `None` if the access is in several places.
    pub(crate) around: Option<Vec<u32>>,
    /// Operations on loaded values in its straight-line code, for each byte that the line requests from global memory.
    pub(crate) operations_per_byte: Option<f64>,
    pub(crate) compiled: Option<Compiled>,
}

/// An access in the source: file, line, column.
type Key = (u32, u32, u32, AccessOp, Space);

/// What is known of a kernel's accesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    facts: HashMap<Key, Facts>,
    /// By access to local memory: the array, and whether the index is not constant.
    arrays: HashMap<Key, (LocalId, bool)>,
}

/// The code of all kernels of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes(HashMap<u32, Code>);

impl Codes {
    /// The code of the kernels that were launched.
    pub(crate) fn of(input: &Input<'_>) -> Codes {
        let mut codes = HashMap::new();
        for kept in input.kept() {
            let kernel = kept.report.kernel;
            if kernel.index() < input.module.functions.len() {
                codes
                    .entry(kernel.0)
                    .or_insert_with(|| Code::of(kernel, input));
            }
        }
        Codes(codes)
    }

    /// What is known of a site of a kernel.
    pub(crate) fn facts(&self, kernel: FuncId, site: &Site) -> Option<&Facts> {
        self.0.get(&kernel.0)?.facts.get(&key(site))
    }

    /// The thread's local array that a site accesses.
    pub(crate) fn local(&self, kernel: FuncId, site: &Site) -> Option<LocalId> {
        let (array, _) = self.0.get(&kernel.0)?.arrays.get(&key(site))?;
        Some(*array)
    }

    /// The same, if the site's index is not constant, which keeps the array in local memory.
    pub(crate) fn indexed_local(&self, kernel: FuncId, site: &Site) -> Option<LocalId> {
        let (array, is_indexed) = self.0.get(&kernel.0)?.arrays.get(&key(site))?;
        is_indexed.then_some(*array)
    }
}

fn key(site: &Site) -> Key {
    (site.file, site.line, site.column, site.op, site.space)
}

/// A loop around the current place.
struct Around {
    /// Variables that it sets.
    sets: Vec<SlotId>,
    /// The counter and its step, if the loop has a constant number of rounds.
    counter: Option<(SlotId, i64)>,
    stores: Vec<(Space, Option<Root>)>,
    /// Whether something in it may change any memory.
    has_barrier: bool,
    depth: usize,
}

struct Walk<'m> {
    module: &'m Module,
    function: &'m Function,
    values: Values<'m>,
    straight: Straight,
    loops: Vec<Around>,
    /// The numbers of the branches and loops around, and the next number to give.
    around: Vec<u32>,
    next: u32,
    code: Code,
    aligned: &'m dyn Fn(&str) -> u64,
}

impl Code {
    fn of(kernel: FuncId, input: &Input<'_>) -> Code {
        let function = input.module.function(kernel);
        let aligned = |name: &str| compiler::declared_alignment(name, input);
        let mut walk = Walk {
            module: input.module,
            function,
            values: Values::new(function),
            straight: Straight::default(),
            loops: vec![],
            around: vec![],
            next: 0,
            code: Code::default(),
            aligned: &aligned,
        };
        walk.block(&function.body, false);
        walk.flush();
        walk.code
    }
}

impl<'m> Walk<'m> {
    /// Visits a block that runs more or less often than what is around it.
    fn inner(&mut self, block: &'m Block, is_step: bool) {
        self.around.push(self.next);
        self.next += 1;
        self.block(block, is_step);
        self.around.pop();
    }

    /// Visits a block; `is_step` if it runs between rounds.
    fn block(&mut self, block: &'m Block, is_step: bool) {
        let density = (!is_step).then(|| self.density(block)).flatten();
        for node in &block.0 {
            match node {
                Node::Inst(inst) => self.inst(inst, density),
                Node::If {
                    then, otherwise, ..
                } => self.apart(&[then, otherwise]),
                Node::Scope { body, .. } => {
                    self.flush();
                    self.block(body, false);
                    self.flush();
                }
                Node::Routine { body, .. } => self.apart(&[body]),
                Node::Loop {
                    body, step, unroll, ..
                } => self.looped(body, step, *unroll),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    /// Visits blocks that not all lanes run, or that run out of order.
    fn apart(&mut self, blocks: &[&'m Block]) {
        // The head of a loop does nothing where the loop goes on.
        if blocks
            .iter()
            .all(|block| block.0.iter().all(|node| matches!(node, Node::Break(_))))
        {
            return;
        }
        for block in blocks {
            self.flush();
            self.inner(block, false);
        }
        self.flush();
        for block in blocks {
            self.values.forget(block);
        }
    }

    fn looped(&mut self, body: &'m Block, step: &'m Block, unroll: Option<u32>) {
        self.flush();
        let counter = match unroll {
            Some(1) => None,
            _ => self.values.counter(body, step),
        };
        for block in [body, step] {
            self.values.forget(block);
        }
        let mut around = Around {
            sets: vec![],
            counter,
            stores: vec![],
            has_barrier: false,
            depth: self.loops.len(),
        };
        let values = &self.values;
        for block in [body, step] {
            block.for_each_inst(&mut |inst| match &inst.kind {
                InstKind::Set(slot, _) => around.sets.push(*slot),
                InstKind::Store(access, ptr, _) => {
                    around.stores.push((access.space, values.root(ptr)));
                }
                other => around.has_barrier |= other.ends_what_is_kept(),
            });
        }
        self.loops.push(around);
        self.inner(body, false);
        self.flush();
        self.inner(step, true);
        self.flush();
        self.loops.pop();
        for block in [body, step] {
            self.values.forget(block);
        }
    }

    fn inst(&mut self, inst: &'m Inst, density: Option<f64>) {
        if inst.kind.access().is_some() {
            self.access(inst, density);
        } else if inst.kind.ends_what_is_kept() {
            self.flush();
        }
        self.values.run(inst);
    }

    fn access(&mut self, inst: &'m Inst, density: Option<f64>) {
        let Some((access, ptr)) = inst.kind.access() else {
            return;
        };
        let op = AccessOp::of(&inst.kind);
        let address = self.values.address(ptr);
        let key = self.key(inst.loc, op, access.space);
        if let Root::Object(Object::Local(local)) = address.root {
            return self.local(key, local, &address);
        }
        let base = match address.root {
            Root::Param(slot) => Some(self.function.slots[slot.index()].name.clone()),
            Root::Object(Object::Shared(id)) => Some(self.function.shared[id.index()].name.clone()),
            // The module of a program of several sources has only their kernels, so the variable may be missing.
            Root::Object(Object::Global(id)) => {
                let global = self.module.globals.get(id.index());
                global.map(|global| global.name.clone())
            }
            Root::Object(_) | Root::Other(_) => None,
        };
        let facts = Facts {
            base,
            is_shared_with_others: access.volatile || op == AccessOp::Atomic,
            is_from_memory: self.values.is_from_memory(ptr),
            is_in_loop: !self.loops.is_empty(),
            around: Some(self.around.clone()),
            operations_per_byte: density,
            compiled: None,
        };
        let known = self.code.facts.entry(key).or_insert_with(|| facts.clone());
        known.is_shared_with_others |= facts.is_shared_with_others;
        known.is_from_memory |= facts.is_from_memory;
        known.is_in_loop |= facts.is_in_loop;
        if known.base != facts.base {
            known.base = None;
        }
        if known.around != facts.around {
            known.around = None;
        }
        match facts.is_shared_with_others {
            true => self.flush(),
            false => self.compiled(key, address, access.width_bytes()),
        }
    }

    /// Notes an access to a local array.
    fn local(&mut self, key: Key, local: LocalId, address: &address::Address) {
        let is_counted = |value: &ValueId| {
            let slot = self.values.slot(*value);
            let mut counters = self.loops.iter().filter_map(|around| around.counter);
            counters.any(|(counter, _)| slot == Some(counter))
        };
        let is_indexed = !address.terms.keys().all(is_counted);
        let known = self.code.arrays.entry(key).or_insert((local, is_indexed));
        known.1 |= is_indexed;
    }

    /// Notes what a compiler is likely to make of an access.
    fn compiled(&mut self, key: Key, address: address::Address, width_bytes: u32) {
        let (_, _, _, op, space) = key;
        let compiled = self
            .kept(op, space, &address)
            .or_else(|| self.rounds(&address, width_bytes));
        if let Some(compiled) = compiled {
            self.set(key, compiled);
        }
        let placed = compiler::Placed {
            key,
            align_bytes: self.alignment(&address),
            address,
            width_bytes: width_bytes.into(),
        };
        for (key, compiled) in self.straight.access(placed) {
            self.set(key, compiled);
        }
    }

    fn set(&mut self, key: Key, compiled: Compiled) {
        if let Some(facts) = self.code.facts.get_mut(&key) {
            facts.compiled.get_or_insert(compiled);
        }
    }

    /// Ends the straight-line code.
    fn flush(&mut self) {
        for (key, compiled) in self.straight.end() {
            self.set(key, compiled);
        }
    }

    fn key(&self, loc: LocId, op: AccessOp, space: Space) -> Key {
        let loc = self.module.loc(loc);
        (loc.file, loc.line, loc.column, op, space)
    }

    /// What becomes of a load that is the same in all rounds of the innermost loop.
    fn kept(&self, op: AccessOp, space: Space, address: &address::Address) -> Option<Compiled> {
        let around = self.loops.last()?;
        let stays = |value: &ValueId| !self.values.varies(*value, &around.sets, around.depth);
        let root_stays = match address.root {
            Root::Other(value) => stays(&value),
            Root::Param(slot) => !around.sets.contains(&slot),
            Root::Object(_) => true,
        };
        let may_change = around.stores.iter().any(|(to, root)| {
            (*to == space || *to == Space::Generic) && self.may_alias(root.as_ref(), &address.root)
        });
        let is_kept = op == AccessOp::Load
            && root_stays
            && address.terms.keys().all(stays)
            && !around.has_barrier
            && !may_change;
        is_kept.then_some(Compiled::Kept)
    }

    /// Whether a store through one pointer may change the memory that another one points to.
    fn may_alias(&self, one: Option<&Root>, other: &Root) -> bool {
        let restrict = |slot: SlotId| {
            let mut params = self.function.params.iter();
            params.any(|param| param.slot == slot && param.is_restrict)
        };
        match (one, other) {
            (Some(Root::Object(one)), Root::Object(other)) => one == other,
            (Some(Root::Param(one)), Root::Param(other)) => {
                one == other || !(restrict(*one) || restrict(*other))
            }
            _ => true,
        }
    }

    /// What becomes of an access that a loop with a constant number of rounds moves by one element each round.
    fn rounds(&self, address: &address::Address, width_bytes: u32) -> Option<Compiled> {
        let width = i64::from(width_bytes);
        let (counter, by) = self.loops.last()?.counter?;
        let is_counter = |value: &ValueId| self.values.slot(*value) == Some(counter);
        let moves: i64 = address
            .terms
            .iter()
            .filter(|(value, _)| is_counter(value))
            .map(|(_, scale)| scale.wrapping_mul(by))
            .sum();
        if moves != width {
            return None;
        }
        let mut rest = address.clone();
        rest.terms.retain(|value, _| !is_counter(value));
        let align = self.alignment(&rest);
        let bytes = [16, 8].into_iter().find(|bytes| {
            align.is_multiple_of(*bytes)
                && rest.offset.rem_euclid(*bytes as i64) == 0
                && *bytes > width as u64
        })?;
        Some(Compiled::Merged {
            bytes,
            accesses: bytes / width as u64,
        })
    }

    /// The alignment of an address without its constant part, as far as a compiler knows it.
    fn alignment(&self, address: &address::Address) -> u64 {
        let root = match address.root {
            // The compiler places it.
            Root::Object(Object::Shared(id)) => match self.function.shared[id.index()].dynamic {
                true => self.function.shared[id.index()].align_bytes,
                false => 16,
            },
            Root::Object(_) => 16,
            Root::Param(slot) => {
                let mut params = self.function.params.iter();
                let param = params.find(|param| param.slot == slot);
                param.map_or(1, |param| (self.aligned)(&param.c_type))
            }
            Root::Other(_) => 1,
        };
        let scales = address.terms.values().map(|scale| scale.unsigned_abs());
        scales.fold(root, compiler::gcd)
    }

    /// Operations on loaded values among a block's own instructions, for each byte of global memory.
    fn density(&self, block: &Block) -> Option<f64> {
        let insts = || {
            block.0.iter().filter_map(|node| match node {
                Node::Inst(inst) => Some(inst),
                _ => None,
            })
        };
        let (mut data, mut operations, mut bytes) = (HashSet::<ValueId>::new(), 0u64, 0u64);
        for inst in insts() {
            if let Some((access, _)) = inst.kind.access() {
                if matches!(access.space, Space::Global | Space::Generic) {
                    bytes += u64::from(access.width_bytes());
                }
                if matches!(inst.kind, InstKind::Load(..)) {
                    data.extend(&inst.results);
                }
                continue;
            }
            let mut operands = inst.kind.operands().into_iter();
            let is_on_data =
                operands.any(|operand| operand.value().is_some_and(|id| data.contains(&id)));
            if is_on_data && inst.kind.is_scalar_op() {
                data.extend(&inst.results);
                operations += match inst.kind {
                    InstKind::Fma(..) => 2,
                    InstKind::FmaHalves(..) | InstKind::FmaBfloats(..) => 4,
                    InstKind::Convert(..) => 0,
                    _ => 1,
                };
            }
        }
        (bytes > 0).then(|| operations as f64 / bytes as f64)
    }
}
