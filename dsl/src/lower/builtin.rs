//! Lowers calls of built-in functions: indices, barriers, atomics, the IR's own arithmetic.
//!
//! An atomic's access is shown as the place that it changes: `atomicAdd(&bins[k], 1)` as `bins[k]`, checked against `bins`.

use std::sync::Arc;

use crate::sema::{
    host_assert,
    ty::Ty,
    typed::{Builtin, Place, Value, ValueKind},
};
use ir::{
    Access, AtomicOp, BinaryOp, Const, ConvertOp, ExchangeOp, HostFn, MemType, Object, Operand,
    Type, UnaryOp, span::Span,
};

use super::{
    function::FunctionLowerer,
    layout::{self, Piece},
    place,
};

impl FunctionLowerer<'_, '_> {
    /// A call of a built-in function; returns its value if it has one. A table: one arm per function.
    pub(super) fn builtin(
        &mut self,
        builtin: &Builtin,
        args: &[Value],
        value: &Value,
    ) -> Option<Operand> {
        if let Builtin::Atomic { op, block_scope } = builtin {
            return self.atomic(*op, *block_scope, args);
        }
        if let (Builtin::MatchAll, [given, mask, truth]) = (builtin, args) {
            return Some(self.match_all(given, mask, truth, value.span));
        }
        if let (Builtin::Assert(text, line), [cond], false) = (builtin, args, self.is_device) {
            let test = host_assert(cond.clone(), text.clone(), *line, value.span);
            self.effect(&test);
            return None;
        }
        let operands: Vec<Operand> = args.iter().map(|arg| self.value(arg)).collect();
        self.at(value.span);
        let result = match (builtin, operands.as_slice()) {
            (Builtin::OnDevice, _) => Operand::Const(Const::bool(self.is_device)),
            (Builtin::Special(register), _) => self.b.special(*register),
            (Builtin::SyncThreads, _) => {
                self.b.barrier();
                return None;
            }
            (Builtin::SyncThreadsReduce(reduce), &[predicate]) => {
                self.b.barrier_reduce(*reduce, predicate)
            }
            (Builtin::Intrinsic(intrinsic), operands) => {
                self.b.intrinsic(*intrinsic, operands.to_vec())?
            }
            (Builtin::Shuffle(mode), &[value, lane, width, ..]) => {
                let mode = *mode;
                self.shuffle(mode, value, [lane, width], operands.get(3).copied())
            }
            (Builtin::Vote(op), &[truth, ..]) => {
                let (op, mask) = (ExchangeOp::Vote(*op), operands.get(1).copied());
                self.exchange(op, truth, mask)
            }
            (Builtin::MatchAny, &[value, mask]) => self.match_any(value, mask),
            (Builtin::Reduce(op), &[value, mask]) => {
                self.exchange(ExchangeOp::Reduce(*op), value, Some(mask))
            }
            (Builtin::Fence(scope), _) => {
                self.b.fence(*scope);
                return None;
            }
            (Builtin::AcqRelFence(scope), _) => {
                self.b.acq_rel_fence(*scope);
                return None;
            }
            (Builtin::Unary(op), &[a]) => self.b.unary(*op, a),
            (Builtin::Binary(op), &[a, b]) => self.b.binary(*op, a, b),
            (Builtin::Compare(op), &[a]) => self.b.compare(*op, a, a),
            (Builtin::Compare(op), &[a, b]) => self.b.compare(*op, a, b),
            (Builtin::Fma, &[a, b, c]) => self.b.fma(a, b, c),
            (Builtin::FmaHalves, &[a, b, c]) => self.b.fma_halves(a, b, c),
            (Builtin::FmaBfloats, &[a, b, c]) => self.b.fma_bfloats(a, b, c),
            (Builtin::Convert(op), &[a]) => self.b.convert(*op, a),
            (Builtin::AbsInt, &[a]) => self.absolute(a),
            (Builtin::Ffs, &[a]) => self.find_first_set(a),
            (Builtin::Printf(format), _) => self.printf(format, operands, value.span)?,
            (Builtin::Assert(text, _), &[cond]) => {
                let text = self.m.string(text);
                self.b.assert(cond, text);
                return None;
            }
            _ => {
                self.m
                    .internal(value.span, "a built-in function with wrong arguments");
                return None;
            }
        };
        Some(self.fit(result, value))
    }

    fn absolute(&mut self, a: Operand) -> Operand {
        let minus = self.b.unary(UnaryOp::Neg, a);
        self.b.binary(BinaryOp::SMax, a, minus)
    }

    fn match_any(&mut self, value: Operand, mask: Operand) -> Operand {
        let value = self.as_int(value);
        let op = ExchangeOp::MatchAny(self.b.value_type(value));
        self.exchange(op, value, Some(mask))
    }

    /// `printf` in a kernel, or in a `__host__ __device__` function that the host runs here.
    fn printf(
        &mut self,
        format: &Arc<[u8]>,
        operands: Vec<Operand>,
        span: Span,
    ) -> Option<Operand> {
        let id = self.m.string(format);
        if self.is_device {
            return Some(self.b.printf(id, operands));
        }
        let format = self.address_of_object(Object::String(id), span);
        let args = std::iter::once(format).chain(operands).collect();
        self.at(span);
        self.b.host_call(HostFn::Printf, args)
    }

    /// `__popcll` counts in 64 bits and gives an `int`.
    fn fit(&mut self, result: Operand, value: &Value) -> Operand {
        let wanted = layout::mem_type(&value.ty).map(|mem| mem.value_type());
        match (self.b.value_type(result), wanted) {
            (Type::I64, Some(Type::I32)) => self.b.convert(ConvertOp::Trunc, result),
            (Type::I32, Some(Type::I1)) => self.truth(result),
            _ => result,
        }
    }

    /// The lowest set bit from 1, 0 if there is none: the width less the leading zeros of `x & -x`.
    fn find_first_set(&mut self, x: Operand) -> Operand {
        let minus = self.b.unary(UnaryOp::Neg, x);
        let lowest = self.b.binary(BinaryOp::And, x, minus);
        let zeros = self.b.unary(UnaryOp::Clz, lowest);
        let width = match self.b.value_type(x) {
            Type::I64 => Const::i64(64),
            _ => Const::i32(32),
        };
        self.b.binary(BinaryOp::Sub, width.into(), zeros)
    }

    fn atomic(&mut self, op: AtomicOp, block_scope: bool, args: &[Value]) -> Option<Operand> {
        let (target, rest) = args.split_first()?;
        let (address, span) = match place_behind(target) {
            Some(place) => (self.locate_in_memory(place), place.span),
            None => {
                let mut address = self.pointer_address(target);
                address.object = None;
                (address, target.span)
            }
        };
        let pointer = self.close(address, span);
        let operands: Vec<Operand> = rest.iter().map(|arg| self.value(arg)).collect();
        let (compare, value) = match (op, operands.as_slice()) {
            (AtomicOp::Cas, &[compare, value, ..]) => (Some(compare), value),
            (_, &[value, ..]) => (None, value),
            _ => {
                self.m.internal(target.span, "an atomic without an operand");
                return None;
            }
        };
        let is_short = matches!(&target.ty, Ty::Pointer(pointee) if pointee.ty == Ty::UShort);
        let ty = match self.b.value_type(value) {
            Type::I32 if is_short => MemType::U16,
            Type::I64 => MemType::I64,
            Type::F32 => MemType::F32,
            Type::F64 => MemType::F64,
            Type::I1 | Type::I32 | Type::Ptr(_) => MemType::I32,
        };
        let piece = Piece {
            offset_bytes: 0,
            ty,
            count: 1,
        };
        match place_behind(target) {
            Some(place) => self.at_place(place),
            None => self.at_access(span),
        }
        let (row_len, is_member) = self.row(pointer);
        let access = Access {
            block_scope,
            row_len,
            is_member,
            ..place::access(piece, address.object, false)
        };
        Some(self.b.atomic(op, access, pointer, value, compare))
    }
}

/// The place whose address a pointer is, ignoring casts.
fn place_behind(pointer: &Value) -> Option<&Place> {
    match &pointer.kind {
        ValueKind::AddressOf(place) => Some(place),
        ValueKind::Convert(inner) if inner.ty.pointee().is_some() => place_behind(inner),
        _ => None,
    }
}
