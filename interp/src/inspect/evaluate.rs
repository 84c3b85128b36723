//! Evaluates a value of one thread, backwards from the instruction that computes it, with the IR's own arithmetic
//! ([`eval`]).
//!
//! The caller defines what is known of the thread, and what a value is: [`Knows`]. A value that came from a load or
//! another lane is unknown to every caller. A value that is needed twice is computed once.

use std::collections::HashMap;

use ir::{Inst, InstKind, Object, Operand, SlotId, Type, ValueId, eval};

use super::listing::{At, Listing};
use crate::isa::grid::Identity;

/// The most values of one evaluation. No address needs more. It also limits the depth of the recursion.
const FUEL: u32 = 4000;

/// What the caller of an evaluation knows of the thread.
pub(crate) trait Knows {
    /// The bits, with additional information that the caller tracks.
    type Value: Copy;
    /// The reason why a value is unknown.
    type Unknown: Copy;
    /// The reason for values from memory or other lanes.
    const DATA: Self::Unknown;

    /// The bits of a value.
    fn bits(value: Self::Value) -> u64;

    /// A value that is given, not computed.
    fn given(&self, ty: Type, bits: u64) -> Self::Value;

    /// The value of a variable where an instruction reads it.
    fn variable(
        &self,
        slot: SlotId,
        at: At,
        ty: Type,
    ) -> Result<Variable<Self::Value>, Self::Unknown>;

    /// The address of an object.
    fn address(&self, object: Object) -> Option<u64>;

    /// The result of an instruction, with its bits already computed.
    fn made(&self, _inst: &Inst, ty: Type, bits: u64, _operands: &[Self::Value]) -> Self::Value {
        self.given(ty, bits)
    }
}

/// The value of a variable.
pub(crate) enum Variable<V> {
    /// A known value.
    Holds(V),
    /// The value of this operand.
    Is(Operand),
}

/// The values of a thread that were evaluated so far.
pub(crate) struct Evaluation<'a, K: Knows> {
    listing: &'a Listing<'a>,
    who: Identity<'a>,
    knows: K,
    fuel: u32,
    found: HashMap<ValueId, Result<K::Value, K::Unknown>>,
}

impl<'a, K: Knows> Evaluation<'a, K> {
    pub(crate) fn new(listing: &'a Listing<'a>, who: Identity<'a>, knows: K) -> Self {
        Evaluation {
            listing,
            who,
            knows,
            fuel: FUEL,
            found: HashMap::new(),
        }
    }

    pub(crate) fn operand(&mut self, operand: Operand) -> Result<K::Value, K::Unknown> {
        let id = match operand {
            Operand::Const(constant) => return Ok(self.knows.given(constant.ty, constant.bits)),
            Operand::Value(id) => id,
        };
        if let Some(found) = self.found.get(&id) {
            return *found;
        }
        self.fuel = self.fuel.checked_sub(1).ok_or(K::DATA)?;
        let at = self.listing.def(id).ok_or(K::DATA)?;
        // A variable that is set once, from itself, is unknown.
        self.found.insert(id, Err(K::DATA));
        let value = self.inst(at, self.listing.function.values[id.index()]);
        self.found.insert(id, value);
        value
    }

    /// The result of one instruction, from the values of its operands. Accesses, and everything that depends on other
    /// threads, are unknown.
    fn inst(&mut self, at: At, ty: Type) -> Result<K::Value, K::Unknown> {
        let inst = self.listing.inst(at);
        let given = match &inst.kind {
            InstKind::Get(slot) => {
                return match self.knows.variable(*slot, at, ty)? {
                    Variable::Holds(value) => Ok(value),
                    Variable::Is(operand) => self.operand(operand),
                };
            }
            InstKind::Special(register) => self.who.register(*register).map(u64::from),
            InstKind::AddrOf(object) => self.knows.address(*object),
            InstKind::Select(_, condition, a, b) => {
                let holds = K::bits(self.operand(*condition)?) != 0;
                return self.operand(if holds { *a } else { *b });
            }
            InstKind::Unary(op, of, a) => {
                let a = self.operand(*a)?;
                let bits = eval::unary(*op, *of, K::bits(a));
                return Ok(self.knows.made(inst, ty, bits, &[a]));
            }
            InstKind::Binary(op, of, a, b) => {
                let (a, b) = (self.operand(*a)?, self.operand(*b)?);
                let bits = eval::binary(*op, *of, K::bits(a), K::bits(b));
                return Ok(self.knows.made(inst, ty, bits, &[a, b]));
            }
            InstKind::Fma(of, a, b, c) => {
                let [a, b, c] = [self.operand(*a)?, self.operand(*b)?, self.operand(*c)?];
                let bits = eval::fma(*of, K::bits(a), K::bits(b), K::bits(c));
                return Ok(self.knows.made(inst, ty, bits, &[a, b, c]));
            }
            InstKind::FmaHalves(a, b, c) => {
                let [a, b, c] = [self.operand(*a)?, self.operand(*b)?, self.operand(*c)?];
                let bits = eval::fma_halves(K::bits(a), K::bits(b), K::bits(c));
                return Ok(self.knows.made(inst, ty, bits, &[a, b, c]));
            }
            InstKind::FmaBfloats(a, b, c) => {
                let [a, b, c] = [self.operand(*a)?, self.operand(*b)?, self.operand(*c)?];
                let bits = eval::fma_bfloats(K::bits(a), K::bits(b), K::bits(c));
                return Ok(self.knows.made(inst, ty, bits, &[a, b, c]));
            }
            InstKind::Compare(op, of, a, b) => {
                let (a, b) = (self.operand(*a)?, self.operand(*b)?);
                let holds = eval::compare(*op, *of, K::bits(a), K::bits(b));
                return Ok(self.knows.made(inst, ty, holds.into(), &[a, b]));
            }
            InstKind::Convert(op, a) => {
                let a = self.operand(*a)?;
                let bits = eval::convert(*op, K::bits(a));
                return Ok(self.knows.made(inst, ty, bits, &[a]));
            }
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let is_short = self.listing.type_of(*index) == Type::I32;
                let (base, index) = (self.operand(*base)?, self.operand(*index)?);
                let steps = match (is_short, unsigned) {
                    (true, true) => i64::from(K::bits(index) as u32),
                    (true, false) => i64::from(K::bits(index) as u32 as i32),
                    (false, _) => K::bits(index) as i64,
                };
                let bytes = steps.wrapping_mul(*scale_bytes).wrapping_add(*offset_bytes);
                let bits = K::bits(base).wrapping_add_signed(bytes);
                return Ok(self.knows.made(inst, ty, bits, &[base, index]));
            }
            InstKind::Set(..)
            | InstKind::Load(..)
            | InstKind::Store(..)
            | InstKind::Atomic { .. }
            | InstKind::Exchange(_)
            | InstKind::Intrinsic(..)
            | InstKind::Barrier(_)
            | InstKind::Fence(_)
            | InstKind::AcqRelFence(_)
            | InstKind::Printf(..)
            | InstKind::Assert(..)
            | InstKind::Unsupported(_)
            | InstKind::Lifetime(..)
            | InstKind::Call(..)
            | InstKind::CallRoutine(..)
            | InstKind::HostCall(..)
            | InstKind::Launch(_) => None,
        };
        given.map(|bits| self.knows.given(ty, bits)).ok_or(K::DATA)
    }
}
