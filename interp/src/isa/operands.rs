//! The registers that an instruction reads and writes, and the accesses that it orders.

use ir::FenceScope;

use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Form, Inst, MemSite, Place as Register, Subscript};
use crate::isa::fields::{Field, fields};
use crate::isa::op::Op;

/// A register, and whether a varying one has 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) Register, pub(crate) bool);

impl Wide {
    /// The kind of field that names it, and what the field contains.
    pub(crate) fn field(self) -> (Field, u32) {
        match self {
            Wide(Register::S(register), _) => (Field::Scalar, register),
            Wide(Register::V(register), false) => (Field::Narrow, register),
            Wide(Register::V(register), true) => (Field::Wide, register),
        }
    }

    pub(crate) fn overlaps(self, other: Wide) -> bool {
        match (self.0, other.0) {
            (Register::S(one), Register::S(other)) => one == other,
            (Register::V(first), Register::V(second)) => {
                let ends = (first + u32::from(self.1), second + u32::from(other.1));
                first <= ends.1 && second <= ends.0
            }
            _ => false,
        }
    }
}

/// The effect of an instruction on waiting accesses.
pub(crate) enum Effect {
    /// All of them must be done before it.
    Orders,
    /// A fence of block scope.
    BlockFence,
    /// Lanes of a 32-bit register are copied from another one.
    Copies(Register, Register, u32),
    /// The registers that it reads, and those that it writes, with the lanes.
    Computes(Vec<Wide>, Vec<(Wide, u32)>),
}

/// The effect of an instruction that the lanes of the mask run.
pub(crate) fn effect(code: &Code, i: &Inst, mask: u32) -> Effect {
    let s = |register| Wide(Register::S(register), false);
    let (a, c, d) = (i.a, i.c, i.d);
    let all =
        |reads: &[Wide], write: Wide| Effect::Computes(reads.to_vec(), vec![(write, u32::MAX)]);
    match i.op {
        Op::SMove => Effect::Copies(Register::S(a), Register::S(d), u32::MAX),
        Op::VMove32 => Effect::Copies(Register::V(a), Register::V(d), u32::MAX),
        Op::VBlend32 => Effect::Copies(Register::V(a), Register::V(d), mask),
        Op::VSplat32 => Effect::Copies(Register::S(a), Register::V(d), u32::MAX),
        Op::VBlend64 => {
            let wide = |register| Wide(Register::V(register), true);
            Effect::Computes(vec![wide(a)], vec![(wide(d), mask)])
        }
        Op::MBlend => Effect::Computes(vec![s(a), s(d)], vec![]),
        Op::Clock | Op::Clock64 | Op::ActiveMask | Op::Clear => all(&[], s(d)),
        Op::Tick | Op::Jump | Op::Loop | Op::Tally | Op::Lifetime | Op::Rounds => {
            Effect::Computes(vec![], vec![])
        }
        Op::JumpIf
        | Op::JumpIfNot
        | Op::Else
        | Op::Join
        | Op::Park
        | Op::ParkIf
        | Op::ParkIfNot => Effect::Computes(vec![s(a), s(c), s(d)], vec![]),
        op if op.is_comparing_jump() => Effect::Computes(vec![s(a), s(c), s(d)], vec![]),
        Op::If | Op::Guard => Effect::Computes(vec![s(a), s(d)], vec![]),
        // A fence that is not sequentially consistent has no place in the order of the block's fences, on which waiting
        // accesses rely.
        Op::Fence if FenceScope::ALL[a as usize] == FenceScope::Block && i.b == 1 => {
            Effect::BlockFence
        }
        op if op.is_access() => {
            let (reads, writes) = registers(&code.sites[c as usize], i, mask);
            Effect::Computes(reads, writes)
        }
        _ => match reads_and_write(i) {
            Some((reads, write)) => {
                let writes = write.map(|write| (write, u32::MAX));
                Effect::Computes(reads.collect(), writes.into_iter().collect())
            }
            // Barriers, exchanges, calls, ends, and everything else.
            None => Effect::Orders,
        },
    }
}

/// For an instruction whose result depends only on its registers and the active lanes: the registers that it reads, and
/// the one that it writes.
pub(crate) fn reads_and_write(i: &Inst) -> Option<(impl Iterator<Item = Wide>, Option<Wide>)> {
    let fields = fields(i.op)?;
    let named = [(fields.a, i.a), (fields.b, i.b), (fields.c, i.c)];
    let kept = fields.keeps.then_some((fields.d, i.d));
    let reads = named.into_iter().chain(kept);
    let reads = reads.filter_map(|(field, register)| register_of(field, register));
    Some((reads, register_of(fields.d, i.d)))
}

/// The register that a field names.
fn register_of(field: Field, register: u32) -> Option<Wide> {
    match field {
        Field::Other => None,
        Field::Scalar => Some(Wide(Register::S(register), false)),
        Field::Narrow => Some(Wide(Register::V(register), false)),
        Field::Wide => Some(Wide(Register::V(register), true)),
    }
}

impl MemSite {
    /// Whether its addresses have 64 bits.
    pub(crate) fn is_long(&self) -> bool {
        Class::of(self.access.pointer_type()) == Class::W64
    }

    /// The registers of its address, but for the term: base and index.
    pub(crate) fn base_and_index(&self, i: &Inst) -> (Wide, Option<Wide>) {
        let index = Wide(Register::V(i.b), false);
        let (uniform, varying) = (Register::S(i.a), Register::V(i.a));
        match self.address.form {
            Form::Uniform => (Wide(uniform, false), None),
            Form::UniformIndexed => (Wide(uniform, false), Some(index)),
            Form::Varying => (Wide(varying, self.is_long()), None),
            Form::VaryingIndexed => (Wide(varying, self.is_long()), Some(index)),
        }
    }

    /// The parts of its innermost subscript: varying, and uniform.
    pub(crate) fn subscripts(&self) -> [Option<Wide>; 2] {
        let part = |subscript: &Subscript| {
            let varying = |at| Wide(Register::V(at), subscript.is_long);
            let uniform = |at| Wide(Register::S(at), false);
            [
                subscript.varying.map(varying),
                subscript.uniform.map(uniform),
            ]
        };
        self.subscript.as_ref().map_or([None; 2], part)
    }

    /// A register that it moves a value from or to.
    fn value(&self, register: u32) -> Wide {
        let is_wide = Class::of(self.access.value_type()) == Class::W64;
        Wide(self.place(register), is_wide)
    }

    /// Those of `values` that it uses.
    pub(crate) fn moved(&self) -> impl Iterator<Item = Wide> {
        let values = self.values[..self.access.count as usize].iter();
        values.map(|&register| self.value(register))
    }
}

/// The registers that an access reads and writes.
pub(crate) fn registers(site: &MemSite, i: &Inst, mask: u32) -> (Vec<Wide>, Vec<(Wide, u32)>) {
    let (base, index) = site.base_and_index(i);
    let mut reads = vec![base];
    reads.extend(index);
    reads.push(Wide(Register::S(site.address.term), false));
    reads.extend(site.subscripts().into_iter().flatten());
    if site.op != AccessOp::Load {
        reads.extend(site.moved());
        reads.extend(site.atomic.map(|(_, compare)| site.value(compare)));
    }
    let lanes = if site.uniform_values { u32::MAX } else { mask };
    let writes = site.results().iter();
    let writes = writes.map(|&register| (site.value(register), lanes));
    (reads, writes.collect())
}
