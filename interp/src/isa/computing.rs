//! The table of lane operations, read in both directions: what an instruction computes, and the instructions for an
//! operation of the IR.

use ir::{BinaryOp, CompareOp, Type, UnaryOp};

use crate::isa::bytecode::Class;
use crate::isa::op::{Op, lane_ops};

/// What an instruction of the table computes in each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Computes {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    /// A comparison of 32 lanes with one scalar.
    CompareScalar(CompareOp),
    Convert(Conversion),
}

/// An instruction of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computing {
    pub(crate) what: Computes,
    /// Whether it works on 32 lanes.
    pub(crate) varying: bool,
    /// Whether its operands have 64 bits, and its result.
    pub(crate) wide: bool,
    pub(crate) gives_wide: bool,
}

macro_rules! define {
    ({}
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        /// The conversions of the table.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Conversion { $($x,)* $($w,)* $($n,)* $($l,)* }

        impl Conversion {
            /// The varying and the scalar form.
            pub(crate) fn ops(self) -> (Op, Op) {
                match self {
                    $(Conversion::$x => (Op::$xv, Op::$xs),)*
                    $(Conversion::$w => (Op::$wv, Op::$ws),)*
                    $(Conversion::$n => (Op::$nv, Op::$ns),)*
                    $(Conversion::$l => (Op::$lv, Op::$ls),)*
                }
            }
        }

        /// The varying and the scalar form of a unary operation.
        pub(crate) fn unary(op: UnaryOp, ty: Type) -> (Op, Op) {
            match (op, ty) {
                $((UnaryOp::$u32, Type::$u32t) => (Op::$u32v, Op::$u32s),)*
                $((UnaryOp::$u64, Type::$u64t) => (Op::$u64v, Op::$u64s),)*
                _ => unreachable!("verified: {op} of {ty}"),
            }
        }

        /// The varying and the scalar form of a binary operation.
        pub(crate) fn binary(op: BinaryOp, ty: Type) -> (Op, Op) {
            match (op, ty) {
                $((BinaryOp::$b32, Type::$b32t) => (Op::$b32v, Op::$b32s),)*
                $((BinaryOp::$b64, Type::$b64t) => (Op::$b64v, Op::$b64s),)*
                _ => unreachable!("verified: {op} of {ty}"),
            }
        }

        /// The varying and the scalar form of a comparison. Pointers compare as integers of their width.
        pub(crate) fn compare(op: CompareOp, ty: Type) -> (Op, Op) {
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
        pub(crate) fn with_scalar(op: Op) -> Option<Op> {
            match op {
                $(Op::$c32v => Some(Op::$c32b),)* $(Op::$c64v => Some(Op::$c64b),)*
                _ => None,
            }
        }

        /// For an instruction of the table; `None` for any other.
        pub(crate) const fn computing(op: Op) -> Option<Computing> {
            use Computes::{Binary, Compare, CompareScalar, Convert, Unary};
            let (what, varying, [wide, gives_wide]) = match op {
                $(Op::$u32v => (Unary(UnaryOp::$u32), true, [false; 2]), Op::$u32s => (Unary(UnaryOp::$u32), false, [false; 2]),)*
                $(Op::$u64v => (Unary(UnaryOp::$u64), true, [true; 2]), Op::$u64s => (Unary(UnaryOp::$u64), false, [true; 2]),)*
                $(Op::$b32v => (Binary(BinaryOp::$b32), true, [false; 2]), Op::$b32s => (Binary(BinaryOp::$b32), false, [false; 2]),)*
                $(Op::$b64v => (Binary(BinaryOp::$b64), true, [true; 2]), Op::$b64s => (Binary(BinaryOp::$b64), false, [true; 2]),)*
                $(Op::$c32v => (Compare(CompareOp::$c32), true, [false; 2]), Op::$c32s => (Compare(CompareOp::$c32), false, [false; 2]),
                  Op::$c32b => (CompareScalar(CompareOp::$c32), true, [false; 2]),)*
                $(Op::$c64v => (Compare(CompareOp::$c64), true, [true, false]), Op::$c64s => (Compare(CompareOp::$c64), false, [true, false]),
                  Op::$c64b => (CompareScalar(CompareOp::$c64), true, [true, false]),)*
                $(Op::$xv => (Convert(Conversion::$x), true, [false; 2]), Op::$xs => (Convert(Conversion::$x), false, [false; 2]),)*
                $(Op::$wv => (Convert(Conversion::$w), true, [false, true]), Op::$ws => (Convert(Conversion::$w), false, [false, true]),)*
                $(Op::$nv => (Convert(Conversion::$n), true, [true, false]), Op::$ns => (Convert(Conversion::$n), false, [true, false]),)*
                $(Op::$lv => (Convert(Conversion::$l), true, [true; 2]), Op::$ls => (Convert(Conversion::$l), false, [true; 2]),)*
                _ => return None,
            };
            Some(Computing { what, varying, wide, gives_wide })
        }
    };
}

lane_ops! { define! {} }
