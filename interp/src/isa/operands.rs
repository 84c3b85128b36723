//! The registers that an instruction reads and writes, and the accesses that it orders.

use ir::FenceScope;

use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Form, Inst, MemSite, Place as Register};
use crate::isa::fields::{Field, fields};
use crate::isa::op::Op;

/// A register, and whether a varying one has 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) Register, pub(crate) bool);

impl Wide {
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
        Op::If => Effect::Computes(vec![s(a), s(d)], vec![]),
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

/// The registers that an access reads and writes.
pub(crate) fn registers(site: &MemSite, i: &Inst, mask: u32) -> (Vec<Wide>, Vec<(Wide, u32)>) {
    let is_short = matches!(
        i.op,
        Op::LoadShared
            | Op::StoreShared
            | Op::AtomicShared
            | Op::LoadLocal
            | Op::StoreLocal
            | Op::AtomicLocal
    );
    let base = Wide(Register::V(i.a), !is_short);
    let (uniform, index) = (Wide(Register::S(i.a), false), Wide(Register::V(i.b), false));
    let mut reads = match site.address.form {
        Form::Uniform => vec![uniform],
        Form::UniformIndexed => vec![uniform, index],
        Form::Varying => vec![base],
        Form::VaryingIndexed => vec![base, index],
    };
    reads.push(Wide(Register::S(site.address.term), false));
    if let Some(subscript) = &site.subscript {
        let varying = subscript
            .varying
            .map(|at| Wide(Register::V(at), subscript.is_long));
        let uniform = subscript.uniform.map(|at| Wide(Register::S(at), false));
        reads.extend(varying.into_iter().chain(uniform));
    }
    let is_wide = Class::of(site.access.ty.value_type()) == Class::W64;
    let one = |register| Wide(site.place(register), is_wide);
    let values = site.values[..site.access.count as usize].iter();
    let values = values.map(|&register| one(register));
    match site.op {
        AccessOp::Load => {
            let lanes = if site.uniform_values { u32::MAX } else { mask };
            (reads, values.map(|value| (value, lanes)).collect())
        }
        AccessOp::Store => {
            reads.extend(values);
            (reads, Vec::new())
        }
        AccessOp::Atomic => {
            reads.extend(values);
            reads.extend(site.atomic.map(|(_, compare)| one(compare)));
            (reads, vec![(one(site.result), mask)])
        }
    }
}
