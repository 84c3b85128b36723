//! Selects the instruction for an IR operation, from the table in `isa::op`.

use ir::{BinaryOp, CompareOp, ConvertOp, Space, Type, UnaryOp};

use crate::isa::bytecode::Class;
use crate::isa::op::{Op, jump_ops, lane_ops};

macro_rules! choose {
    ({}
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
     $($conv:ident { $(($co:ident, $cov:ident, $cos:ident, $cof:path))* })*) => {
        /// The varying and the scalar form of a unary operation.
        pub(super) fn unary(op: UnaryOp, ty: Type) -> (Op, Op) {
            match (op, ty) {
                $((UnaryOp::$u32, Type::$u32t) => (Op::$u32v, Op::$u32s),)*
                $((UnaryOp::$u64, Type::$u64t) => (Op::$u64v, Op::$u64s),)*
                _ => unreachable!("verified: {op} of {ty}"),
            }
        }

        /// The varying and the scalar form of a binary operation.
        pub(super) fn binary(op: BinaryOp, ty: Type) -> (Op, Op) {
            match (op, ty) {
                $((BinaryOp::$b32, Type::$b32t) => (Op::$b32v, Op::$b32s),)*
                $((BinaryOp::$b64, Type::$b64t) => (Op::$b64v, Op::$b64s),)*
                _ => unreachable!("verified: {op} of {ty}"),
            }
        }

        /// The varying and the scalar form of a comparison. Pointers compare as integers of their width.
        pub(super) fn compare(op: CompareOp, ty: Type) -> (Op, Op) {
            let ty = match (ty, Class::of(ty)) {
                (Type::Ptr(_), Class::W32) => Type::I32,
                (Type::Ptr(_), _) => Type::I64,
                (ty, _) => ty,
            };
            match (op, ty) {
                $((CompareOp::$c32, Type::$c32t) => (Op::$c32v, Op::$c32s),)*
                $((CompareOp::$c64, Type::$c64t) => (Op::$c64v, Op::$c64s),)*
                _ => unreachable!("verified: {op} of {ty}"),
            }
        }

        /// The form of a varying comparison that compares with one scalar.
        pub(super) fn with_scalar(op: Op) -> Option<Op> {
            match op {
                $(Op::$c32v => Some(Op::$c32b),)* $(Op::$c64v => Some(Op::$c64b),)*
                _ => None,
            }
        }

        /// Whether an operation's only effect is on a varying (`true`) or scalar register `d`, and its other fields
        /// name registers.
        pub(super) fn writes_varying(op: Op) -> Option<bool> {
            match op {
                $(Op::$u32v => Some(true), Op::$u32s => Some(false),)*
                $(Op::$u64v => Some(true), Op::$u64s => Some(false),)*
                $(Op::$b32v => Some(true), Op::$b32s => Some(false),)*
                $(Op::$b64v => Some(true), Op::$b64s => Some(false),)*
                $(Op::$c32v | Op::$c32b | Op::$c32s => Some(false),)*
                $(Op::$c64v | Op::$c64b | Op::$c64s => Some(false),)*
                $($(Op::$cov => Some(true), Op::$cos => Some(false),)*)*
                Op::VFma32 | Op::VFma64 | Op::VFmaHalves | Op::VFmaBfloats | Op::VSelect32 | Op::VSelect64 | Op::VMove32 | Op::VMove64 | Op::VBool => Some(true),
                Op::SFma32 | Op::SFma64 | Op::SFmaHalves | Op::SFmaBfloats | Op::SSelect | Op::SPtrS | Op::SPtrU | Op::SPtrL | Op::SPtr32 => Some(false),
                Op::MAnd | Op::MOr | Op::MXor | Op::MNot | Op::MEq | Op::MSelect | Op::SBool | Op::SMove => Some(false),
                _ => None,
            }
        }

        /// The conversions of the table that compute.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Conversion { $($($co,)*)* }

        impl Conversion {
            pub(super) fn ops(self) -> (Op, Op) {
                match self { $($(Conversion::$co => (Op::$cov, Op::$cos),)*)* }
            }
        }
    };
}

lane_ops! { choose! {} }

macro_rules! jumps {
    ({} jumps { $(($compare:ident, $s:ident, $jump:ident, $end:ident, $other:ident, $other_end:ident, $f:path))* }) => {
        /// The jump that is taken if a scalar comparison gives `sense`.
        pub(super) fn compare_and_jump(op: Op, sense: bool) -> Option<Op> {
            let (holds, fails) = match op {
                $(Op::$s => (Op::$jump, Op::$other),)*
                _ => return None,
            };
            Some(if sense { holds } else { fails })
        }

        /// The back edge that is taken if a jump out of the loop is not.
        pub(super) fn loop_unless(jump: Op) -> Option<Op> {
            match jump {
                $(Op::$jump => Some(Op::$other_end),)*
                _ => None,
            }
        }
    };
}

jump_ops! { { jumps! {} } }

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
