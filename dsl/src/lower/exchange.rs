//! Lowers shuffles, votes, matches and reductions. The IR shuffles 32 bits; wider values are shuffled in two halves, as in nvcc.

use crate::sema::typed::Value;
use ir::{BinaryOp, Const, ConvertOp, ExchangeOp, MemType, Operand, ShuffleMode, Type, span::Span};

use super::function::FunctionLowerer;

impl FunctionLowerer<'_, '_> {
    /// An exchange with one result.
    pub(super) fn exchange(
        &mut self,
        op: ExchangeOp,
        value: Operand,
        mask: Option<Operand>,
    ) -> Operand {
        self.b.exchange(op, value, mask)[0]
    }

    /// The value of another lane; `lane` and `width` are the source's arguments.
    pub(super) fn shuffle(
        &mut self,
        mode: ShuffleMode,
        value: Operand,
        [lane, width]: [Operand; 2],
        mask: Option<Operand>,
    ) -> Operand {
        let ty = self.b.value_type(value);
        let half = |lowerer: &mut Self, value, ty| {
            let op = ExchangeOp::Shuffle {
                mode,
                ty,
                lane,
                width,
            };
            lowerer.exchange(op, value, mask)
        };
        if matches!(ty, Type::I32 | Type::F32) {
            return half(self, value, ty);
        }
        let bits = self.as_int(value);
        let thirty_two = Const::i64(32).into();
        let low = self.b.convert(ConvertOp::Trunc, bits);
        let high = self.b.binary(BinaryOp::LShr, bits, thirty_two);
        let high = self.b.convert(ConvertOp::Trunc, high);
        let low = half(self, low, Type::I32);
        let high = half(self, high, Type::I32);
        let low = self.b.convert(ConvertOp::Zext, low);
        let high = self.b.convert(ConvertOp::Zext, high);
        let high = self.b.binary(BinaryOp::Shl, high, thirty_two);
        let bits = self.b.binary(BinaryOp::Or, low, high);
        match ty {
            Type::F64 => self.b.convert(ConvertOp::BitsToF64, bits),
            _ => bits,
        }
    }

    /// A number's bits.
    pub(super) fn as_int(&mut self, value: Operand) -> Operand {
        match self.b.value_type(value) {
            Type::F32 => self.b.convert(ConvertOp::F32Bits, value),
            Type::F64 => self.b.convert(ConvertOp::F64Bits, value),
            Type::I1 | Type::I32 | Type::I64 | Type::Ptr(_) => value,
        }
    }

    /// `__match_all_sync(mask, given, truth)`: stores 1 or 0 through `truth`.
    pub(super) fn match_all(
        &mut self,
        given: &Value,
        mask: &Value,
        truth: &Value,
        span: Span,
    ) -> Operand {
        let (given, mask) = (self.value(given), self.value(mask));
        let given = self.as_int(given);
        let address = self.pointer_address(truth);
        let object = address.object;
        let pointer = self.close(address, truth.span);
        self.at(span);
        let op = ExchangeOp::MatchAll(self.b.value_type(given));
        let results = self.b.exchange(op, given, Some(mask));
        let holds = self.b.convert(ConvertOp::BoolToI32, results[1]);
        self.at_access(truth.span);
        self.store_scalar(pointer, 0, object, MemType::I32, holds);
        results[0]
    }
}
