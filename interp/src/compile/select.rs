//! Selects the instruction for a conversion, and fuses comparisons with jumps.

use ir::{ConvertOp, Space, Type};

use crate::isa::computing::{Computes, Conversion, computing};
use crate::isa::fields::{Field, fields};
use crate::isa::op::Op;

/// Whether an operation's only effect is on a varying (`true`) or scalar register `d`, which may be another one.
pub(super) fn writes_varying(op: Op) -> Option<bool> {
    match op {
        Op::VSplat32 | Op::VSplat64 | Op::VPtrVS | Op::VPtrVU | Op::VPtrVL | Op::VPtr32V => None,
        Op::VPtrSS | Op::VPtrSU | Op::VPtr32S => None,
        op => {
            let fields = fields(op).filter(|fields| !fields.keeps)?;
            Some(fields.d != Field::Scalar)
        }
    }
}

/// The jump that is taken if a scalar comparison gives `sense`.
pub(super) fn compare_and_jump(op: Op, sense: bool) -> Option<Op> {
    let of = computing(op).filter(|of| !of.varying && !of.wide)?;
    let Computes::Compare(compare) = of.what else {
        return None;
    };
    let compare = if sense { compare } else { compare.opposite()? };
    Some(Op::jump_and_loop(compare)?.0)
}

/// The back edge that is taken if a jump out of the loop is not.
pub(super) fn loop_unless(jump: Op) -> Option<Op> {
    Some(Op::jump_and_loop(jump.compares()?.opposite()?)?.1)
}

/// The varying and the scalar form of a conversion from `from`.
pub(super) fn convert(op: ConvertOp, from: Type) -> (Op, Op) {
    macro_rules! choose {
        (computes { $($name:ident)* } $($arms:tt)*) => {
            match op { $(ConvertOp::$name => Conversion::$name.ops(),)* $($arms)* }
        };
    }
    choose! {
        computes {
            Sext Zext Trunc Sext8 Zext8 Sext16 Zext16
            S32ToF32 U32ToF32 S64ToF32 U64ToF32 S32ToF64 U32ToF64 S64ToF64 U64ToF64
            F32ToS32 F32ToU32 F32ToS64 F32ToU64 F64ToS32 F64ToU32 F64ToS64 F64ToU64
            F32ToF64 F64ToF32 F16ToF32 F32ToF16 F32ToBf16
        }
        ConvertOp::BoolToI32 => (Op::VBool, Op::SBool),
        ConvertOp::PtrToInt | ConvertOp::ToGeneric => match from {
            Type::Ptr(Space::Shared) => Conversion::WidenShared.ops(),
            Type::Ptr(Space::Local) => Conversion::WidenLocal.ops(),
            Type::Ptr(Space::Global | Space::Constant | Space::Generic) => MOVE64,
            Type::I1 | Type::I32 | Type::I64 | Type::F32 | Type::F64 => {
                unreachable!("verified: {op} of {from}")
            }
        },
        ConvertOp::ToShared => Conversion::NarrowShared.ops(),
        ConvertOp::ToLocal => Conversion::NarrowLocal.ops(),
        ConvertOp::F32Bits | ConvertOp::BitsToF32 => MOVE32,
        ConvertOp::F64Bits | ConvertOp::BitsToF64 => MOVE64,
        // A generic address of global memory equals the address.
        ConvertOp::IntToPtr | ConvertOp::ToGlobal => MOVE64,
    }
}

const MOVE32: (Op, Op) = (Op::VMove32, Op::SMove);
const MOVE64: (Op, Op) = (Op::VMove64, Op::SMove);
