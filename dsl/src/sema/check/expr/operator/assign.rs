//! `=`, `+=`, `++`, and `?:`: what changes a place, and what chooses one of two.

use super::{Family, as_object, binary_text, family, is_shift, needs_integers, text};
use crate::sema::check::{Checked, Checker, Reported, convert::Why};
use crate::sema::message::expr::{ExprError, OperandCure};
use crate::{
    sema::{
        classify::{Classify, common, promoted},
        ty::Ty,
        typed::{Arith, Place, Value, ValueKind},
    },
    span::{Span, Spanned},
    syntax::ast::{self, BinaryOp, ExprKind},
};

impl Checker<'_> {
    pub(crate) fn inc_dec(
        &mut self,
        operand: Checked,
        inner: &ast::Expr,
        decrement: bool,
        prefix: bool,
        span: Span,
    ) -> Result<Value, Reported> {
        let done = if decrement {
            "decremented"
        } else {
            "incremented"
        };
        let place = self.target_of(operand, inner, done)?;
        let ty = place.ty.ty.clone();
        let fits = match &ty {
            Ty::Pointer(pointee) => self.tables.size_of(&pointee.ty).is_some(),
            Ty::Bool | Ty::Enum(_) => false,
            other => other.is_arithmetic(),
        };
        if !fits {
            return Err(self.error(
                span,
                ExprError::CannotBe {
                    ty: ty.clone(),
                    done,
                },
            ));
        }
        let kind = ValueKind::IncDec {
            place: Box::new(place),
            decrement,
            prefix,
        };
        Ok(Value::new(kind, ty, span))
    }

    /// `a = b`, `a += b`, the program's own operator if `a` is an object that has it.
    pub(crate) fn assign_expr(
        &mut self,
        op: &Spanned<Option<BinaryOp>>,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Result<Checked, Reported> {
        let target = self.expr(left);
        let value = match (&right.kind, &target) {
            (ExprKind::List(items), Ok(target)) if op.node.is_none() => {
                let ty = target.ty().clone();
                self.list_value(&ty, items, right.span)
            }
            (ExprKind::List(_), Err(reported)) if op.node.is_none() => Err(*reported),
            _ => self.value(right),
        };
        let target = target?;
        let value = match value {
            Ok(value) => value,
            Err(reported) => {
                // The other side may be wrong, too.
                self.target_of(target, left, "assigned to")?;
                return Err(reported);
            }
        };
        let Some(object) = as_object(&target) else {
            let value = self.assign(op, target, left, value, span)?;
            return Ok(Checked::Value(value));
        };
        let symbol = match op.node {
            None => "=".to_string(),
            Some(op) => format!("{}=", binary_text(op)),
        };
        let operands = [object, value];
        if let Some(called) = self.operator_call(&symbol, &operands, op.span, span)? {
            return Ok(called);
        }
        let [_, value] = operands;
        let value = self.assign(op, target, left, value, span)?;
        Ok(Checked::Value(value))
    }

    pub(crate) fn assign(
        &mut self,
        op: &Spanned<Option<BinaryOp>>,
        target: Checked,
        left: &ast::Expr,
        value: Value,
        span: Span,
    ) -> Result<Value, Reported> {
        let place = self.target_of(target, left, "assigned to")?;
        match op.node {
            Some(op_node) => self.compound_assign((op_node, op.span), place, left, value, span),
            None => self.plain_assign(place, value, span),
        }
    }

    /// `place = value`.
    fn plain_assign(&mut self, place: Place, value: Value, span: Span) -> Result<Value, Reported> {
        let ty = place.ty.ty.clone();
        let is_class = matches!(&ty, Ty::Record(id) if self.tables.classes.contains_key(id));
        let is_same = value.ty == ty;
        let mut value = if is_same {
            value
        } else {
            self.implicit(value, &ty, &Why::Assign)?
        };
        if let Ty::Record(class) = ty
            && is_class
        {
            if self.members_assign(&ty) {
                return self.assign_members(class, place, value, span);
            }
            if self.is_unowned(&value) {
                let place = self.temporary_place(value);
                value = crate::sema::check::method::place_value(place);
            }
        }
        let kind = ValueKind::Assign(Box::new(place), Box::new(value));
        Ok(Value::new(kind, ty, span))
    }

    /// `place op= value`.
    fn compound_assign(
        &mut self,
        (op, at): (BinaryOp, Span),
        place: Place,
        left: &ast::Expr,
        value: Value,
        span: Span,
    ) -> Result<Value, Reported> {
        let ty = place.ty.ty.clone();
        let Family::Arith(arith) = family(op) else {
            // The grammar has no such assignment.
            return Err(self.reported_before(span));
        };
        let value = self.as_number(value)?;
        let operand = Value::new(ValueKind::Int(1), ty.clone(), left.span);
        let is_pointer = matches!(ty, Ty::Pointer(_));
        let fits = match &ty {
            Ty::Pointer(pointee) => {
                matches!(arith, Arith::Add | Arith::Sub)
                    && value.ty.is_integral()
                    && self.tables.size_of(&pointee.ty).is_some()
            }
            left if needs_integers(arith) => left.is_integral() && value.ty.is_integral(),
            left => left.is_arithmetic() && value.ty.is_arithmetic(),
        };
        if !fits {
            let cure = (arith == Arith::Rem && ty.is_floating()).then_some(OperandCure::Fmodf);
            return Err(self.bad_operands(
                &format!("{}=", text(arith)),
                at,
                &operand,
                &value,
                cure,
            ));
        }
        let (value, compute) = if is_pointer {
            (self.promote(value), ty.clone())
        } else if is_shift(arith) {
            let count = self.promote(value);
            let compute = promoted(&ty);
            self.warn_shift(&compute, &count, at);
            (count, compute)
        } else {
            let compute = common(&ty, &value.ty);
            let value = self.convert(value, &compute);
            self.warn_zero(arith, &value, at);
            (value, compute)
        };
        let kind = ValueKind::CompoundAssign {
            op: arith,
            place: Box::new(place),
            value: Box::new(value),
            compute,
        };
        Ok(Value::new(kind, ty, span))
    }

    /// Of two operands of `?:` one may become what the other is.
    pub(crate) fn class_sides(
        &mut self,
        yes: Value,
        no: Value,
    ) -> Result<(Value, Value), Reported> {
        Ok(match (&yes.ty, &no.ty) {
            (a, b) if a == b => (yes, no),
            (Ty::Record(a), Ty::Record(b)) if self.tables.is_derived(*b, *a) => {
                let a = *a;
                let no = self.as_base(no, a);
                (yes, no)
            }
            (Ty::Record(class), _)
                if self
                    .tables
                    .converting_constructor(&no, *class, false)
                    .is_some() =>
            {
                let ty = yes.ty.clone();
                let no = self.implicit(no, &ty, &Why::Operand)?;
                (yes, no)
            }
            (_, Ty::Record(class))
                if self
                    .tables
                    .converting_constructor(&yes, *class, false)
                    .is_some() =>
            {
                let ty = no.ty.clone();
                let yes = self.implicit(yes, &ty, &Why::Operand)?;
                (yes, no)
            }
            (Ty::Record(_), _) => (self.as_number(yes)?, no),
            (_, Ty::Record(_)) => {
                let no = self.as_number(no)?;
                (yes, no)
            }
            _ => (yes, no),
        })
    }

    /// `c ? a : b`.
    pub(crate) fn conditional(
        &mut self,
        cond: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        span: Span,
    ) -> Result<Value, Reported> {
        let cond = self.condition(cond);
        // Only one of them is evaluated: what it makes ends with it.
        let mark = self.body.flow.temporaries.len();
        let yes = self.value(yes).and_then(|yes| self.ended(mark, yes));
        let no = self.value(no).and_then(|no| self.ended(mark, no));
        let (cond, yes, no) = (cond?, yes?, no?);
        let (yes, no) = self.class_sides(yes, no)?;
        let (yes, no, ty) = if yes.ty == no.ty {
            let ty = yes.ty.clone();
            if Self::place_of(&yes).is_some() == Self::place_of(&no).is_some() {
                (yes, no, ty)
            } else {
                (self.copied(yes)?, self.copied(no)?, ty)
            }
        } else if yes.ty.is_arithmetic() && no.ty.is_arithmetic() {
            self.usual(yes, no)
        } else if let Some(ty) = self.common_pointer(&yes, &no) {
            (
                self.pointer_operand(yes, &ty),
                self.pointer_operand(no, &ty),
                ty,
            )
        } else {
            return Err(self.bad_operands("?:", span, &yes, &no, None));
        };
        let kind = ValueKind::Conditional(Box::new(cond), Box::new(yes), Box::new(no));
        Ok(Value::new(kind, ty, span))
    }
}
