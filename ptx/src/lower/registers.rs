//! What each register becomes: its type, and whether it is a temporary or a variable.
//!
//! Most registers are written once, and read only where that is visible in the structured code: they become temporaries. The others become
//! variables.

use ir::{Builder, Operand, Space, Type};

use rustc_hash::FxHashSet;

use crate::tree::{Body, Kind, RegId, ScalarType};

/// The registers of a function.
pub(super) struct Registers {
    /// Whether this is the first walk.
    pub(super) collects: bool,
    facts: Vec<Facts>,
    /// Registers that hold one value: a copy, or one of two that are chosen.
    links: Vec<(RegId, RegId)>,
    /// Sums that may be addresses: the result and the two operands.
    sums: Vec<(RegId, [Option<RegId>; 2])>,
    /// Values that may be addresses of variables that are not in shared memory.
    not_shared: FxHashSet<Operand>,
    /// Whether a 64-bit parameter of the entry may be a pointer.
    pub(super) are_params_pointers: bool,
    /// The registers that parts of parameters are read into: parameter, offset, register.
    read_parts: Vec<(String, i64, RegId)>,
    /// Types, after the first walk.
    types: Vec<Type>,
    storage: Vec<Storage>,
    /// The open regions of the walk. A region is a list of statements.
    open: Vec<u32>,
    is_open: Vec<bool>,
}

/// Where a register's value is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Storage {
    /// It has not been written.
    Unset,
    Temporary(Operand),
    Variable(ir::SlotId),
}

/// What the first walk sees of a register.
#[derive(Clone, Copy, Debug)]
struct Facts {
    ty: ScalarType,
    writes: u32,
    /// The statement that writes it, if only one does.
    statement: usize,
    /// The region of its first write.
    region: u32,
    /// Whether it is read only after its write, in its region.
    is_visible: bool,
    /// How often arithmetic takes or makes it as a float, and as an integer.
    as_float: u32,
    as_int: u32,
    /// Whether an address is made from it.
    is_address: bool,
    /// Whether it holds a pointer.
    is_pointer: bool,
    /// Whether that may be to a variable that is not in shared memory.
    is_not_shared: bool,
}

impl Registers {
    pub(super) fn collecting(body: &Body<'_>) -> Registers {
        let facts = body.registers.iter().map(|register| Facts {
            ty: register.ty,
            writes: 0,
            statement: usize::MAX,
            region: 0,
            is_visible: true,
            as_float: 0,
            as_int: 0,
            is_address: false,
            is_pointer: false,
            is_not_shared: false,
        });
        Registers {
            collects: true,
            facts: facts.collect(),
            links: Vec::new(),
            sums: Vec::new(),
            not_shared: FxHashSet::default(),
            are_params_pointers: false,
            read_parts: Vec::new(),
            types: body
                .registers
                .iter()
                .map(|register| integer(register.ty))
                .collect(),
            storage: vec![Storage::Unset; body.registers.len()],
            open: Vec::new(),
            is_open: Vec::new(),
        }
    }

    /// Ends the first walk: decides what each register is.
    pub(super) fn decide(&mut self) {
        self.collects = false;
        self.spread_pointers();
        let floats = self.floats();
        for (index, facts) in self.facts.iter().enumerate() {
            let pointer = facts.is_pointer && facts.is_address;
            self.types[index] = match (facts.ty.bits, pointer, floats[index]) {
                (64, true, _) | (32, true, _) => Type::Ptr(Space::Generic),
                (32, _, true) => Type::F32,
                (64, _, true) => Type::F64,
                _ => integer(facts.ty),
            };
        }
    }

    /// Finds which registers hold pointers, and which addresses are made from.
    fn spread_pointers(&mut self) {
        loop {
            let mut changed = false;
            let mut learn = |fact: &mut bool, value: bool| {
                changed |= value && !*fact;
                *fact |= value;
            };
            for &(to, from) in &self.links {
                let (pointer, address) = (
                    self.facts[from.index()].is_pointer,
                    self.facts[to.index()].is_address,
                );
                learn(&mut self.facts[to.index()].is_pointer, pointer);
                let other = self.facts[from.index()].is_not_shared;
                learn(&mut self.facts[to.index()].is_not_shared, other);
                learn(&mut self.facts[from.index()].is_address, address);
            }
            for &(to, operands) in &self.sums {
                let is_pointer = |operand: Option<RegId>| {
                    operand.is_some_and(|id| self.facts[id.index()].is_pointer)
                };
                let [a, b] = operands.map(is_pointer);
                let address = self.facts[to.index()].is_address;
                learn(&mut self.facts[to.index()].is_pointer, a != b);
                let base = match (a, b) {
                    (true, false) => operands[0],
                    (false, true) => operands[1],
                    _ => None,
                };
                if let Some(base) = base {
                    let other = self.facts[base.index()].is_not_shared;
                    learn(&mut self.facts[to.index()].is_not_shared, other);
                    learn(&mut self.facts[base.index()].is_address, address);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Which registers are floats: linked ones together, by how they are used.
    fn floats(&self) -> Vec<bool> {
        let mut parent: Vec<usize> = (0..self.facts.len()).collect();
        fn root(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        for &(a, b) in &self.links {
            let same = self.facts[a.index()].ty.bits == self.facts[b.index()].ty.bits;
            if same {
                let (a, b) = (root(&mut parent, a.index()), root(&mut parent, b.index()));
                parent[a] = b;
            }
        }
        let mut votes = vec![(0u32, 0u32); self.facts.len()];
        for (index, facts) in self.facts.iter().enumerate() {
            let vote = &mut votes[root(&mut parent, index)];
            vote.0 = vote.0.saturating_add(facts.as_float);
            vote.1 = vote.1.saturating_add(facts.as_int);
        }
        (0..self.facts.len())
            .map(|index| {
                let (float, int) = votes[root(&mut parent, index)];
                float > 0 && float >= int
            })
            .collect()
    }

    /// Begins a walk.
    pub(super) fn begin(&mut self) {
        self.open.clear();
        self.is_open.clear();
        self.not_shared.clear();
        self.storage.fill(Storage::Unset);
    }

    pub(super) fn open_region(&mut self) {
        self.open.push(self.is_open.len() as u32);
        self.is_open.push(true);
    }

    pub(super) fn close_region(&mut self) {
        if let Some(region) = self.open.pop() {
            self.is_open[region as usize] = false;
        }
    }

    /// Its type.
    pub(super) fn ty(&self, id: RegId) -> Type {
        self.types[id.index()]
    }

    /// Its declared width.
    pub(super) fn bits(&self, id: RegId) -> u32 {
        self.facts[id.index()].ty.bits
    }

    /// The statement that writes it, if it is a temporary: its operands have the same values wherever the register is read.
    pub(super) fn definition(&self, id: RegId) -> Option<usize> {
        let facts = &self.facts[id.index()];
        (!self.collects && facts.writes == 1 && facts.is_visible).then_some(facts.statement)
    }

    /// Whether it is a temporary.
    pub(super) fn is_temporary(&self, id: RegId) -> bool {
        matches!(self.storage[id.index()], Storage::Temporary(_))
    }

    /// Reads it, in its own type.
    pub(super) fn get(&mut self, builder: &mut Builder, id: RegId) -> Operand {
        let index = id.index();
        if self.collects {
            let facts = &mut self.facts[index];
            let written_here = facts.writes > 0 && self.is_open[facts.region as usize];
            facts.is_visible &= written_here;
        }
        let value = match self.storage[index] {
            Storage::Temporary(value) => value,
            Storage::Variable(slot) => builder.get(slot),
            Storage::Unset => {
                let slot = self.variable(builder, id);
                builder.get(slot)
            }
        };
        if self.facts[index].is_not_shared {
            self.not_shared.insert(value);
        }
        value
    }

    /// Notes that a register has the address of a variable that is not in shared memory.
    pub(super) fn note_not_shared(&mut self, id: RegId) {
        self.facts[id.index()].is_not_shared = true;
    }

    /// Whether a value may be such an address.
    pub(super) fn is_not_shared(&self, value: Operand) -> bool {
        self.not_shared.contains(&value)
    }

    fn variable(&mut self, builder: &mut Builder, id: RegId) -> ir::SlotId {
        let slot = builder.slot(format!("r{}", id.0), self.ty(id));
        self.storage[id.index()] = Storage::Variable(slot);
        slot
    }

    /// Writes it, in its own type, by a statement.
    pub(super) fn set(
        &mut self,
        builder: &mut Builder,
        id: RegId,
        value: Operand,
        statement: usize,
    ) {
        let index = id.index();
        if self.collects {
            let region = *self.open.last().expect("a region is open");
            let facts = &mut self.facts[index];
            if facts.writes == 0 {
                facts.region = region;
                facts.statement = statement;
            }
            facts.writes = facts.writes.saturating_add(1);
        } else if self.facts[index].writes == 1 && self.facts[index].is_visible {
            self.storage[index] = Storage::Temporary(value);
            return;
        }
        let slot = match self.storage[index] {
            Storage::Variable(slot) => slot,
            _ => self.variable(builder, id),
        };
        builder.set(slot, value);
    }

    /// Notes that arithmetic takes or makes it as this type.
    pub(super) fn vote(&mut self, id: RegId, ty: Type) {
        let facts = &mut self.facts[id.index()];
        match ty {
            Type::F32 | Type::F64 => facts.as_float = facts.as_float.saturating_add(1),
            Type::I32 | Type::I64 => facts.as_int = facts.as_int.saturating_add(1),
            Type::Ptr(_) => facts.is_pointer = true,
            Type::I1 => {}
        }
    }

    /// Notes that an address is made from it.
    pub(super) fn note_address(&mut self, id: RegId) {
        self.facts[id.index()].is_address = true;
    }

    /// Notes that one holds the other's value.
    pub(super) fn link(&mut self, to: RegId, from: RegId) {
        if self.collects {
            self.links.push((to, from));
        }
    }

    /// Notes that a part of a parameter is read.
    pub(super) fn note_part(&mut self, (name, offset): (&str, i64), to: RegId) {
        if self.collects && self.are_params_pointers && self.bits(to) == 64 {
            self.facts[to.index()].is_pointer = true;
            self.read_parts.push((name.to_string(), offset, to));
        }
    }

    /// Whether addresses are made from a part of a parameter.
    pub(super) fn is_pointer_part(&self, part: (&str, i64)) -> bool {
        let mut reads = self.read_parts.iter();
        reads.any(|(name, offset, to)| {
            (name.as_str(), *offset) == part && matches!(self.ty(*to), Type::Ptr(_))
        })
    }

    /// Notes a sum that may be an address.
    pub(super) fn sum(&mut self, to: RegId, operands: [Option<RegId>; 2]) {
        if self.collects {
            self.sums.push((to, operands));
        }
    }
}

/// The type of a register as an integer.
pub(super) fn integer(ty: ScalarType) -> Type {
    match (ty.kind, ty.bits) {
        (Kind::Predicate, _) => Type::I1,
        (_, 64) => Type::I64,
        _ => Type::I32,
    }
}
