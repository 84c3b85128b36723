//! Lowers values: from the typed tree to operands.
//!
//! A scalar is one operand, a record its leaves in memory order. Operands are evaluated from left to right. Expressions that branch are in
//! `branch`, those that write in `assign`.
//!
//! A chain of operators (`a + b + c …`) is lowered in a loop along its left spine: a program may have a chain of any length, and the stack
//! is limited.

use crate::sema::{
    ty::Ty,
    typed::{Arith, Relation, Value, ValueKind},
};
use ir::{
    BinaryOp, CompareOp, Const, ConvertOp, Object, Operand, Type, UnaryOp, locate::is_library,
    span::Span,
};

use super::{
    bits::BitField,
    function::FunctionLowerer,
    layout::{self, GENERIC},
};

/// Values by kind.
impl FunctionLowerer<'_, '_> {
    /// A scalar.
    pub(super) fn value(&mut self, value: &Value) -> Operand {
        match &value.kind {
            ValueKind::Int(bits) => int_constant(&value.ty, *bits).into(),
            ValueKind::Float(number) => float_constant(&value.ty, *number).into(),
            ValueKind::Null => Const::zero(GENERIC).into(),
            ValueKind::Mark(mark) => {
                // A mark (`ValueKind::Mark`) differs between the two sides: no address in one of the host's tables equals one of the
                // device's marks, and vice versa.
                let side = 1 << 63;
                let mark = match self.is_device {
                    true => mark | side,
                    false => mark & !side,
                };
                Const::i64(mark as i64).into()
            }
            ValueKind::Str(bytes) => {
                let id = self.m.string(bytes);
                self.address_of_object(Object::String(id), value.span)
            }
            ValueKind::Symbol(id) => {
                let object = self.global_object(*id);
                self.address_of_object(object, value.span)
            }
            ValueKind::Kernel(id) => self.kernel_number(*id, value.span),
            ValueKind::AddressOf(place) | ValueKind::Decay(place) => self.address_of(place),
            ValueKind::Convert(_)
            | ValueKind::Neg(_)
            | ValueKind::BitNot(_)
            | ValueKind::Not(_) => self.unary(value),
            ValueKind::Binary(..) => self.binary(value),
            ValueKind::Compare(relation, a, b) => self.compare(*relation, a, b, value.span),
            ValueKind::PointerAdd(..) => {
                let address = self.pointer_address(value);
                self.close(address, value.span)
            }
            ValueKind::PointerDiff(a, b) => self.pointer_difference(a, b, value.span),
            ValueKind::Logical(op, ..) => self.logical(*op, value),
            ValueKind::CompoundAssign {
                op,
                place,
                value: right,
                compute,
            } => self.compound(*op, place, right, compute, value.span),
            ValueKind::IncDec {
                place,
                decrement,
                prefix,
            } => self.inc_dec(place, *decrement, *prefix, value.span),
            ValueKind::Builtin(builtin, args) => {
                let result = self.builtin(builtin, args, value);
                result.unwrap_or_else(|| Const::zero(layout::value_type(&value.ty)).into())
            }
            ValueKind::Host(function, args) => self.host_value(*function, args, value),
            ValueKind::Launch(launch) => self.launch(launch, value.span),
            ValueKind::Load(_)
            | ValueKind::Conditional(..)
            | ValueKind::Comma(..)
            | ValueKind::Assign(..)
            | ValueKind::Call(..)
            | ValueKind::Aggregate(_) => {
                let leaves = self.leaves(value);
                let none = || Const::zero(layout::value_type(&value.ty)).into();
                leaves.first().copied().unwrap_or_else(none)
            }
        }
    }

    /// A value of any type, leaf by leaf; empty for `void`.
    pub(super) fn leaves(&mut self, value: &Value) -> Vec<Operand> {
        match &value.kind {
            ValueKind::Load(place) => self.load(place),
            ValueKind::Conditional(cond, a, b) => self.conditional(cond, a, b, value),
            ValueKind::Comma(a, b) => {
                self.effect(a);
                self.leaves(b)
            }
            ValueKind::Assign(place, right) => {
                let leaves = self.leaves(right);
                let cell = self.cell(place);
                self.store_cell(&cell, place, &leaves);
                self.kept(place, leaves)
            }
            ValueKind::Call(id, args) => self.call(*id, args, value.span),
            ValueKind::Aggregate(members) => self.aggregate(members, value),
            _ if value.ty == Ty::Void => {
                self.effect(value);
                vec![]
            }
            ValueKind::Convert(inner) if matches!(value.ty, Ty::Record(_)) => self.leaves(inner),
            _ => vec![self.value(value)],
        }
    }

    /// A value that is discarded. Only a volatile read in it happens.
    pub(super) fn effect(&mut self, value: &Value) {
        match &value.kind {
            ValueKind::Load(place) if !place.ty.is_volatile => {
                self.locate(place);
            }
            ValueKind::Convert(inner) => self.effect(inner),
            ValueKind::Comma(a, b) => {
                self.effect(a);
                self.effect(b);
            }
            ValueKind::Conditional(cond, a, b) => match self.condition(cond) {
                Operand::Const(known) => self.effect(if known.bits != 0 { a } else { b }),
                cond => {
                    self.b.open_if(cond);
                    self.effect(a);
                    self.b.open_else();
                    self.effect(b);
                    self.b.close();
                }
            },
            ValueKind::Assign(place, right) => self.assign(place, right),
            ValueKind::Builtin(builtin, args) => {
                self.builtin(builtin, args, value);
            }
            ValueKind::Host(function, args) => {
                self.host_call(*function, args, value.span);
            }
            ValueKind::Call(..) | ValueKind::Load(_) | ValueKind::Aggregate(_) => {
                self.leaves(value);
            }
            _ => {
                self.value(value);
            }
        }
    }

    /// A condition, with the current place set to it.
    pub(super) fn condition(&mut self, cond: &Value) -> Operand {
        let operand = self.value(cond);
        self.at(cond.span);
        self.truth(operand)
    }

    pub(super) fn address_of_object(&mut self, object: Object, span: Span) -> Operand {
        self.at(span);
        self.b.addr_of(object)
    }

    /// A chain of conversions and unary operators, from its innermost operand outwards.
    fn unary(&mut self, value: &Value) -> Operand {
        let mut spine = vec![];
        let mut inner = value;
        while let ValueKind::Convert(operand)
        | ValueKind::Neg(operand)
        | ValueKind::BitNot(operand)
        | ValueKind::Not(operand) = &inner.kind
        {
            spine.push((inner, operand.as_ref()));
            inner = operand.as_ref();
        }
        let mut result = self.value(inner);
        for (whole, operand) in spine.into_iter().rev() {
            self.at(whole.span);
            let float = self.b.value_type(result).is_float();
            result = match whole.kind {
                ValueKind::Convert(_) => self.convert(result, &operand.ty, &whole.ty),
                ValueKind::Neg(_) if float => self.b.unary(UnaryOp::FNeg, result),
                ValueKind::Neg(_) if self.overflow_is_undefined(&whole.ty, whole.span) => {
                    self.b.unary(UnaryOp::SNeg, result)
                }
                ValueKind::Neg(_) => self.b.unary(UnaryOp::Neg, result),
                _ => self.b.unary(UnaryOp::Not, result),
            };
        }
        result
    }

    /// A record from its members. A union is assembled in memory: its first member is written over zeros.
    fn aggregate(&mut self, members: &[Value], value: &Value) -> Vec<Operand> {
        let Ty::Record(id) = value.ty else {
            return members.first().map_or(vec![], |member| self.leaves(member));
        };
        let record = self.m.layout.record(id);
        if record.is_union {
            return self.union_aggregate(members, value);
        }
        let mut leaves = vec![];
        if !record.units.is_empty() {
            leaves = self.zeros(&value.ty);
        }
        for (i, field) in record.fields.iter().enumerate() {
            if let Some(bits) = field.bits {
                let Some(member) = members.get(i) else { break };
                let value = self.value(member);
                let field = BitField::new(self.m.layout, record, i, bits);
                for &part in &field.parts {
                    leaves[part.leaf] = self.inserted(&field, part, leaves[part.leaf], value);
                }
                continue;
            }
            if !record.units.is_empty() {
                let Some(member) = members.get(i) else { break };
                let range = self.m.layout.field_leaves(record, i as u32);
                let given = self.leaves(member);
                leaves.splice(range, given);
                continue;
            }
            match members.get(i) {
                Some(member) => leaves.extend(self.leaves(member)),
                None => leaves.extend(self.zeros(&field.ty.ty)),
            }
        }
        leaves
    }

    fn union_aggregate(&mut self, members: &[Value], value: &Value) -> Vec<Operand> {
        let member = members
            .first()
            .map(|member| (self.leaves(member), &member.ty));
        let object = self.temporary(&value.ty, value.span);
        self.at_access(value.span);
        let zeros = self.zeros(&value.ty);
        self.store_object(object, &value.ty.clone().into(), &zeros);
        if let Some((leaves, ty)) = member {
            self.store_object(object, &ty.clone().into(), &leaves);
        }
        self.load_object(object, &value.ty)
    }
}

/// Arithmetic and comparison.
impl FunctionLowerer<'_, '_> {
    /// A chain of operators, from its innermost left operand outwards.
    fn binary(&mut self, value: &Value) -> Operand {
        let mut spine = vec![];
        let mut left = value;
        let mut result = loop {
            let ValueKind::Binary(op, a, b) = &left.kind else {
                break self.value(left);
            };
            if let Some(product) = self.product(*op, &left.ty, a) {
                let factors = self.factors(product, a.span);
                let addend = self.value(b);
                self.at(left.span);
                break self.fuse_left(*op, factors, addend);
            }
            spine.push((*op, left, b.as_ref()));
            left = a.as_ref();
        };
        for (op, whole, right) in spine.into_iter().rev() {
            result = self.combine(op, result, right, &whole.ty, whole.span);
        }
        result
    }

    /// `left op right` with the left side evaluated.
    fn combine(&mut self, op: Arith, left: Operand, right: &Value, ty: &Ty, span: Span) -> Operand {
        if let Some(product) = self.product(op, ty, right) {
            let factors = self.factors(product, right.span);
            self.at(span);
            return self.fuse_right(op, left, factors);
        }
        let right = self.value(right);
        self.at(span);
        self.arith(op, left, right, ty, span)
    }

    /// One operation on operands of type `ty` (a shift's count has a separate width).
    pub(super) fn arith(
        &mut self,
        op: Arith,
        a: Operand,
        b: Operand,
        ty: &Ty,
        span: Span,
    ) -> Operand {
        let unsigned = layout::is_unsigned(ty);
        let float = self.b.value_type(a).is_float();
        let op = match op {
            Arith::Add if float => BinaryOp::FAdd,
            Arith::Sub if float => BinaryOp::FSub,
            Arith::Mul if float => BinaryOp::FMul,
            Arith::Div if float => BinaryOp::FDiv,
            Arith::Rem if float => BinaryOp::FRem,
            Arith::Add => BinaryOp::Add,
            Arith::Sub => BinaryOp::Sub,
            Arith::Mul => BinaryOp::Mul,
            Arith::Div if unsigned => BinaryOp::UDiv,
            Arith::Div => BinaryOp::SDiv,
            Arith::Rem if unsigned => BinaryOp::URem,
            Arith::Rem => BinaryOp::SRem,
            Arith::And => BinaryOp::And,
            Arith::Or => BinaryOp::Or,
            Arith::Xor => BinaryOp::Xor,
            Arith::Shl => BinaryOp::Shl,
            Arith::Shr if unsigned => BinaryOp::LShr,
            Arith::Shr => BinaryOp::AShr,
        };
        let op = match self.overflow_is_undefined(ty, span) {
            true => op.signed(),
            false => op,
        };
        let b = if matches!(op, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr) {
            self.shift_count(b, self.b.value_type(a))
        } else {
            b
        };
        self.b.binary(op, a, b)
    }

    /// Whether overflow of arithmetic of this type and place is undefined: it must be signed, in device code, and in the program. The
    /// library's functions may let numbers wrap, and host functions are never optimised for it.
    fn overflow_is_undefined(&self, ty: &Ty, span: Span) -> bool {
        let is_own = || !is_library(&self.m.locs.map.file(span.file).name);
        self.is_device && !layout::is_unsigned(ty) && is_own()
    }

    /// A count converted to the width of the shifted value; only its low 32 bits matter.
    fn shift_count(&mut self, count: Operand, ty: Type) -> Operand {
        match (self.b.value_type(count), ty) {
            (Type::I32, Type::I64) => self.b.convert(ConvertOp::Zext, count),
            (Type::I64, Type::I32) => self.b.convert(ConvertOp::Trunc, count),
            _ => count,
        }
    }

    fn compare(&mut self, relation: Relation, a: &Value, b: &Value, span: Span) -> Operand {
        let unsigned = layout::is_unsigned(&a.ty);
        let mut a = self.value(a);
        let mut b = self.value(b);
        self.at(span);
        let is_order = !matches!(relation, Relation::Eq | Relation::Ne);
        if is_order && self.b.value_type(a) == Type::I1 {
            a = self.b.convert(ConvertOp::BoolToI32, a);
            b = self.b.convert(ConvertOp::BoolToI32, b);
        }
        let float = self.b.value_type(a).is_float();
        let op = match relation {
            Relation::Eq if float => CompareOp::FEq,
            Relation::Ne if float => CompareOp::FNe,
            Relation::Lt if float => CompareOp::FLt,
            Relation::Le if float => CompareOp::FLe,
            Relation::Gt if float => CompareOp::FGt,
            Relation::Ge if float => CompareOp::FGe,
            Relation::Eq => CompareOp::Eq,
            Relation::Ne => CompareOp::Ne,
            Relation::Lt if unsigned => CompareOp::Ult,
            Relation::Le if unsigned => CompareOp::Ule,
            Relation::Gt if unsigned => CompareOp::Ugt,
            Relation::Ge if unsigned => CompareOp::Uge,
            Relation::Lt => CompareOp::Slt,
            Relation::Le => CompareOp::Sle,
            Relation::Gt => CompareOp::Sgt,
            Relation::Ge => CompareOp::Sge,
        };
        self.b.compare(op, a, b)
    }

    /// Bytes between two pointers, divided by the element's size.
    fn pointer_difference(&mut self, a: &Value, b: &Value, span: Span) -> Operand {
        let size = a.ty.pointee().map_or(1, |ty| self.m.layout.stride(ty));
        let a = self.value(a);
        let b = self.value(b);
        self.at(span);
        let a = self.b.convert(ConvertOp::PtrToInt, a);
        let b = self.b.convert(ConvertOp::PtrToInt, b);
        let bytes = self.b.binary(BinaryOp::Sub, a, b);
        match size {
            0 | 1 => bytes,
            size if size & (size - 1) == 0 => {
                let count = Const::i64(i64::from(size.trailing_zeros())).into();
                self.b.binary(BinaryOp::AShr, bytes, count)
            }
            size => {
                let size = Const::i64(size).into();
                self.b.binary(BinaryOp::SDiv, bytes, size)
            }
        }
    }
}

fn int_constant(ty: &Ty, bits: u64) -> Const {
    match layout::value_type(ty) {
        Type::I1 => Const::bool(bits != 0),
        Type::I64 => Const::i64(bits as i64),
        Type::F32 => Const::f32(bits as i64 as f32),
        Type::F64 => Const::f64(bits as i64 as f64),
        Type::Ptr(_) => Const { ty: GENERIC, bits },
        Type::I32 => Const::i32(bits as i32),
    }
}

fn float_constant(ty: &Ty, number: f64) -> Const {
    if *ty == Ty::Float {
        Const::f32(number as f32)
    } else {
        Const::f64(number)
    }
}
