//! Lowers `&&`, `||` and `?:`.
//!
//! Both sides are computed without a branch if the later one is cheap: arithmetic on variables in slots that reads no memory, does not
//! divide and has no effect. Otherwise the later side is in an `if` and the result is in a slot. If the condition is constant, the other
//! side is not lowered.

use crate::sema::{
    ty::Ty,
    typed::{Arith, LogicalOp, Place, PlaceKind, Value, ValueKind, VarRef},
};
use ir::{BinaryOp, Operand, Type, span::Span};

use super::{
    facts,
    function::{FunctionLowerer, Home},
    place::Location,
};

/// How many operations a side of `&&` or `?:` may have to be computed without a branch.
const CHEAP_OPERATIONS: u32 = 12;

impl FunctionLowerer<'_, '_> {
    /// `a && b && …`: the operands of the chain one after the other, with a branch only around those that are not cheap.
    pub(super) fn logical(&mut self, op: LogicalOp, value: &Value) -> Operand {
        let mut operands = vec![];
        let mut left = value;
        while let ValueKind::Logical(inner, a, b) = &left.kind
            && *inner == op
        {
            operands.push(b.as_ref());
            left = a.as_ref();
        }
        let mut result = self.condition(left);
        for right in operands.into_iter().rev() {
            result = self.logical_step(op, result, right, value.span);
        }
        result
    }

    fn logical_step(&mut self, op: LogicalOp, left: Operand, right: &Value, span: Span) -> Operand {
        if let Operand::Const(known) = left {
            let is_decided = (known.bits != 0) == (op == LogicalOp::Or);
            return if is_decided {
                left
            } else {
                self.condition(right)
            };
        }
        if self.is_cheap(right) {
            let right = self.condition(right);
            self.at(span);
            let op = match op {
                LogicalOp::And => BinaryOp::And,
                LogicalOp::Or => BinaryOp::Or,
            };
            return self.b.binary(op, left, right);
        }
        let name = if op == LogicalOp::And { "and" } else { "or" };
        let slot = self.b.slot(name, Type::I1);
        self.at(span);
        self.b.set(slot, left);
        self.b.open_if(left);
        if op == LogicalOp::Or {
            self.b.open_else();
        }
        let right = self.condition(right);
        self.b.set(slot, right);
        self.b.close();
        self.b.get(slot)
    }

    pub(super) fn conditional(
        &mut self,
        cond: &Value,
        a: &Value,
        b: &Value,
        value: &Value,
    ) -> Vec<Operand> {
        let cond_span = cond.span;
        let cond = self.condition(cond);
        if let Operand::Const(known) = cond {
            return self.leaves(if known.bits != 0 { a } else { b });
        }
        if self.is_cheap(a) && self.is_cheap(b) {
            let a = self.leaves(a);
            let b = self.leaves(b);
            self.at(value.span);
            let pairs = a.into_iter().zip(b);
            return pairs.map(|(a, b)| self.b.select(cond, a, b)).collect();
        }
        let slots = self.slots_of("either", &value.ty.clone().into());
        self.at(cond_span);
        self.b.open_if(cond);
        let leaves = self.leaves(a);
        self.set_all(&slots, &leaves);
        self.b.open_else();
        let leaves = self.leaves(b);
        self.set_all(&slots, &leaves);
        self.b.close();
        self.get_all(&slots)
    }

    /// Whether computing the value unnecessarily is harmless and costs less than a branch.
    fn is_cheap(&mut self, value: &Value) -> bool {
        let mut budget = CHEAP_OPERATIONS;
        self.spend(value, &mut budget)
    }

    fn spend(&mut self, value: &Value, budget: &mut u32) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        match &value.kind {
            ValueKind::Int(_) | ValueKind::Float(_) | ValueKind::Null | ValueKind::Mark(_) => true,
            ValueKind::Load(place) => self.is_register(place),
            ValueKind::Convert(a)
            | ValueKind::Neg(a)
            | ValueKind::BitNot(a)
            | ValueKind::Not(a) => value.ty != Ty::Void && self.spend(a, budget),
            ValueKind::Binary(op, a, b) => {
                let is_safe = match op {
                    Arith::Div | Arith::Rem => false,
                    // The unused side of `n == 32 ? ~0u : (1u << n) - 1` must not be reported as an invalid shift.
                    Arith::Shl | Arith::Shr => matches!(b.kind, ValueKind::Int(_)),
                    _ => true,
                };
                is_safe && self.spend(a, budget) && self.spend(b, budget)
            }
            ValueKind::Compare(_, a, b)
            | ValueKind::PointerAdd(a, b)
            | ValueKind::Logical(_, a, b) => self.spend(a, budget) && self.spend(b, budget),
            ValueKind::Builtin(builtin, args) => {
                facts::is_cheap_builtin(builtin) && args.iter().all(|arg| self.spend(arg, budget))
            }
            _ => false,
        }
    }

    fn is_register(&mut self, place: &Place) -> bool {
        match &place.kind {
            PlaceKind::Var(VarRef::Local(id)) => !matches!(
                self.home(*id),
                Home::Memory(_) | Home::Place(Location::Memory(_))
            ),
            PlaceKind::Field(whole, _) | PlaceKind::BitField(whole, _) => self.is_register(whole),
            _ => false,
        }
    }
}
