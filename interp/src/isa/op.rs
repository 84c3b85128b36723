//! The instruction set of the bytecode.
//!
//! [`lane_ops`] lists all computing instructions. The operations, the compiler's selection of them, and both dispatches
//! are generated from it. The other instructions are listed by [`Sort`].
//!
//! Names: `V…` works on 32 lanes, `S…` on one scalar, `B…` compares 32 lanes with one scalar. In the comments, `S[a]`
//! is the scalar register that field `a` of the instruction names, and `V[a]` the varying one. Sums and products with
//! an `S` before the width are those whose overflow the checks report. Code that runs without checks does not contain
//! them.

use ir::CompareOp;

/// Calls a macro with every computing instruction: IR operation, types, `V` name, for comparisons the `B` name, `S`
/// name, lane function.
macro_rules! lane_ops {
    ($then:ident! { $($head:tt)* }) => { $then! { { $($head)* }
        unary32 {
            (Neg, I32, VNeg32, SNeg32, int::neg32)
            (SNeg, I32, VNegS32, SNegS32, int::neg32)
            (Not, I32, VNot32, SNot32, int::not32)
            (Popc, I32, VPopc32, SPopc32, int::popc32)
            (Clz, I32, VClz32, SClz32, int::clz32)
            (Brev, I32, VBrev32, SBrev32, int::brev32)
            (FNeg, F32, VFNeg32, SFNeg32, float::fneg32)
            (FAbs, F32, VFAbs32, SFAbs32, float::fabs32)
            (FSqrt, F32, VFSqrt32, SFSqrt32, float::fsqrt32)
            (FFloor, F32, VFFloor32, SFFloor32, float::ffloor32)
            (FCeil, F32, VFCeil32, SFCeil32, float::fceil32)
            (FTrunc, F32, VFTrunc32, SFTrunc32, float::ftrunc32)
            (FRint, F32, VFRint32, SFRint32, float::frint32)
            (FRound, F32, VFRound32, SFRound32, float::fround32)
            (RcpApprox, F32, VRcpApprox32, SRcpApprox32, float::rcp_approx32)
            (RsqrtApprox, F32, VRsqrtApprox32, SRsqrtApprox32, float::rsqrt_approx32)
            (SqrtApprox, F32, VSqrtApprox32, SSqrtApprox32, float::sqrt_approx32)
            (Ex2Approx, F32, VEx2Approx32, SEx2Approx32, float::ex2_approx32)
            (Lg2Approx, F32, VLg2Approx32, SLg2Approx32, float::lg2_approx32)
            (SinApprox, F32, VSinApprox32, SSinApprox32, float::sin_approx32)
            (CosApprox, F32, VCosApprox32, SCosApprox32, float::cos_approx32)
            (TanhApprox, F32, VTanhApprox32, STanhApprox32, float::tanh_approx32)
        }
        unary64 {
            (Neg, I64, VNeg64, SNeg64, int::neg64)
            (SNeg, I64, VNegS64, SNegS64, int::neg64)
            (Not, I64, VNot64, SNot64, int::not64)
            (Popc, I64, VPopc64, SPopc64, int::popc64)
            (Clz, I64, VClz64, SClz64, int::clz64)
            (Brev, I64, VBrev64, SBrev64, int::brev64)
            (FNeg, F64, VFNeg64, SFNeg64, float::fneg64)
            (FAbs, F64, VFAbs64, SFAbs64, float::fabs64)
            (FSqrt, F64, VFSqrt64, SFSqrt64, float::fsqrt64)
            (FFloor, F64, VFFloor64, SFFloor64, float::ffloor64)
            (FCeil, F64, VFCeil64, SFCeil64, float::fceil64)
            (FTrunc, F64, VFTrunc64, SFTrunc64, float::ftrunc64)
            (FRint, F64, VFRint64, SFRint64, float::frint64)
            (FRound, F64, VFRound64, SFRound64, float::fround64)
        }
        binary32 {
            (Add, I32, VAdd32, SAdd32, int::add32)
            (Sub, I32, VSub32, SSub32, int::sub32)
            (Mul, I32, VMul32, SMul32, int::mul32)
            (SAdd, I32, VAddS32, SAddS32, int::add32)
            (SSub, I32, VSubS32, SSubS32, int::sub32)
            (SMul, I32, VMulS32, SMulS32, int::mul32)
            (SMulHi, I32, VSMulHi32, SSMulHi32, int::smulhi32)
            (UMulHi, I32, VUMulHi32, SUMulHi32, int::umulhi32)
            (SDiv, I32, VSDiv32, SSDiv32, int::sdiv32)
            (UDiv, I32, VUDiv32, SUDiv32, int::udiv32)
            (SRem, I32, VSRem32, SSRem32, int::srem32)
            (URem, I32, VURem32, SURem32, int::urem32)
            (And, I32, VAnd32, SAnd32, int::and32)
            (Or, I32, VOr32, SOr32, int::or32)
            (Xor, I32, VXor32, SXor32, int::xor32)
            (Shl, I32, VShl32, SShl32, int::shl32)
            (LShr, I32, VLShr32, SLShr32, int::lshr32)
            (AShr, I32, VAShr32, SAShr32, int::ashr32)
            (SMin, I32, VSMin32, SSMin32, int::smin32)
            (SMax, I32, VSMax32, SSMax32, int::smax32)
            (UMin, I32, VUMin32, SUMin32, int::umin32)
            (UMax, I32, VUMax32, SUMax32, int::umax32)
            (SDot4, I32, VSDot4, SSDot4, int::sdot4)
            (UDot4, I32, VUDot4, SUDot4, int::udot4)
            (SDot2Lo, I32, VSDot2Lo, SSDot2Lo, int::sdot2lo)
            (SDot2Hi, I32, VSDot2Hi, SSDot2Hi, int::sdot2hi)
            (UDot2Lo, I32, VUDot2Lo, SUDot2Lo, int::udot2lo)
            (UDot2Hi, I32, VUDot2Hi, SUDot2Hi, int::udot2hi)
            (FAdd, F32, VFAdd32, SFAdd32, float::fadd32)
            (FSub, F32, VFSub32, SFSub32, float::fsub32)
            (FMul, F32, VFMul32, SFMul32, float::fmul32)
            (FDiv, F32, VFDiv32, SFDiv32, float::fdiv32)
            (FRem, F32, VFRem32, SFRem32, float::frem32)
            (FMin, F32, VFMin32, SFMin32, float::fmin32)
            (FMax, F32, VFMax32, SFMax32, float::fmax32)
        }
        binary64 {
            (Add, I64, VAdd64, SAdd64, int::add64)
            (Sub, I64, VSub64, SSub64, int::sub64)
            (Mul, I64, VMul64, SMul64, int::mul64)
            (SAdd, I64, VAddS64, SAddS64, int::add64)
            (SSub, I64, VSubS64, SSubS64, int::sub64)
            (SMul, I64, VMulS64, SMulS64, int::mul64)
            (SMulHi, I64, VSMulHi64, SSMulHi64, int::smulhi64)
            (UMulHi, I64, VUMulHi64, SUMulHi64, int::umulhi64)
            (SDiv, I64, VSDiv64, SSDiv64, int::sdiv64)
            (UDiv, I64, VUDiv64, SUDiv64, int::udiv64)
            (SRem, I64, VSRem64, SSRem64, int::srem64)
            (URem, I64, VURem64, SURem64, int::urem64)
            (And, I64, VAnd64, SAnd64, int::and64)
            (Or, I64, VOr64, SOr64, int::or64)
            (Xor, I64, VXor64, SXor64, int::xor64)
            (Shl, I64, VShl64, SShl64, int::shl64)
            (LShr, I64, VLShr64, SLShr64, int::lshr64)
            (AShr, I64, VAShr64, SAShr64, int::ashr64)
            (SMin, I64, VSMin64, SSMin64, int::smin64)
            (SMax, I64, VSMax64, SSMax64, int::smax64)
            (UMin, I64, VUMin64, SUMin64, int::umin64)
            (UMax, I64, VUMax64, SUMax64, int::umax64)
            (FAdd, F64, VFAdd64, SFAdd64, float::fadd64)
            (FSub, F64, VFSub64, SFSub64, float::fsub64)
            (FMul, F64, VFMul64, SFMul64, float::fmul64)
            (FDiv, F64, VFDiv64, SFDiv64, float::fdiv64)
            (FRem, F64, VFRem64, SFRem64, float::frem64)
            (FMin, F64, VFMin64, SFMin64, float::fmin64)
            (FMax, F64, VFMax64, SFMax64, float::fmax64)
        }
        compare32 {
            (Eq, I32, VEq32, BEq32, SEq32, int::eq32)
            (Ne, I32, VNe32, BNe32, SNe32, int::ne32)
            (Slt, I32, VSlt32, BSlt32, SSlt32, int::slt32)
            (Sle, I32, VSle32, BSle32, SSle32, int::sle32)
            (Sgt, I32, VSgt32, BSgt32, SSgt32, int::sgt32)
            (Sge, I32, VSge32, BSge32, SSge32, int::sge32)
            (Ult, I32, VUlt32, BUlt32, SUlt32, int::ult32)
            (Ule, I32, VUle32, BUle32, SUle32, int::ule32)
            (Ugt, I32, VUgt32, BUgt32, SUgt32, int::ugt32)
            (Uge, I32, VUge32, BUge32, SUge32, int::uge32)
            (FEq, F32, VFEq32, BFEq32, SFEq32, float::feq32)
            (FNe, F32, VFNe32, BFNe32, SFNe32, float::fne32)
            (FLt, F32, VFLt32, BFLt32, SFLt32, float::flt32)
            (FLe, F32, VFLe32, BFLe32, SFLe32, float::fle32)
            (FGt, F32, VFGt32, BFGt32, SFGt32, float::fgt32)
            (FGe, F32, VFGe32, BFGe32, SFGe32, float::fge32)
        }
        compare64 {
            (Eq, I64, VEq64, BEq64, SEq64, int::eq64)
            (Ne, I64, VNe64, BNe64, SNe64, int::ne64)
            (Slt, I64, VSlt64, BSlt64, SSlt64, int::slt64)
            (Sle, I64, VSle64, BSle64, SSle64, int::sle64)
            (Sgt, I64, VSgt64, BSgt64, SSgt64, int::sgt64)
            (Sge, I64, VSge64, BSge64, SSge64, int::sge64)
            (Ult, I64, VUlt64, BUlt64, SUlt64, int::ult64)
            (Ule, I64, VUle64, BUle64, SUle64, int::ule64)
            (Ugt, I64, VUgt64, BUgt64, SUgt64, int::ugt64)
            (Uge, I64, VUge64, BUge64, SUge64, int::uge64)
            (FEq, F64, VFEq64, BFEq64, SFEq64, float::feq64)
            (FNe, F64, VFNe64, BFNe64, SFNe64, float::fne64)
            (FLt, F64, VFLt64, BFLt64, SFLt64, float::flt64)
            (FLe, F64, VFLe64, BFLe64, SFLe64, float::fle64)
            (FGt, F64, VFGt64, BFGt64, SFGt64, float::fgt64)
            (FGe, F64, VFGe64, BFGe64, SFGe64, float::fge64)
        }
        convert32to32 {
            (Sext8, VSext8, SSext8, convert::sext8)
            (Zext8, VZext8, SZext8, convert::zext8)
            (Sext16, VSext16, SSext16, convert::sext16)
            (Zext16, VZext16, SZext16, convert::zext16)
            (S32ToF32, VS32ToF32, SS32ToF32, convert::s32_to_f32)
            (U32ToF32, VU32ToF32, SU32ToF32, convert::u32_to_f32)
            (F32ToS32, VF32ToS32, SF32ToS32, convert::f32_to_s32)
            (F32ToU32, VF32ToU32, SF32ToU32, convert::f32_to_u32)
            (F16ToF32, VF16ToF32, SF16ToF32, convert::f16_to_f32)
            (F32ToF16, VF32ToF16, SF32ToF16, convert::f32_to_f16)
            (F32ToBf16, VF32ToBf16, SF32ToBf16, convert::f32_to_bf16)
        }
        convert32to64 {
            (Sext, VSext, SSext, convert::sext)
            (Zext, VZext, SZext, convert::zext)
            (S32ToF64, VS32ToF64, SS32ToF64, convert::s32_to_f64)
            (U32ToF64, VU32ToF64, SU32ToF64, convert::u32_to_f64)
            (F32ToS64, VF32ToS64, SF32ToS64, convert::f32_to_s64)
            (F32ToU64, VF32ToU64, SF32ToU64, convert::f32_to_u64)
            (F32ToF64, VF32ToF64, SF32ToF64, convert::f32_to_f64)
            (WidenShared, VWidenShared, SWidenShared, convert::widen_shared)
            (WidenLocal, VWidenLocal, SWidenLocal, convert::widen_local)
        }
        convert64to32 {
            (Trunc, VTrunc, STrunc, convert::trunc)
            (S64ToF32, VS64ToF32, SS64ToF32, convert::s64_to_f32)
            (U64ToF32, VU64ToF32, SU64ToF32, convert::u64_to_f32)
            (F64ToS32, VF64ToS32, SF64ToS32, convert::f64_to_s32)
            (F64ToU32, VF64ToU32, SF64ToU32, convert::f64_to_u32)
            (F64ToF32, VF64ToF32, SF64ToF32, convert::f64_to_f32)
            (NarrowShared, VNarrowShared, SNarrowShared, convert::narrow_shared)
            (NarrowLocal, VNarrowLocal, SNarrowLocal, convert::narrow_local)
            (IsShared, VIsShared, SIsShared, convert::is_shared)
            (IsLocal, VIsLocal, SIsLocal, convert::is_local)
            (IsConstant, VIsConstant, SIsConstant, convert::is_constant)
            (IsGlobal, VIsGlobal, SIsGlobal, convert::is_global)
        }
        convert64to64 {
            (S64ToF64, VS64ToF64, SS64ToF64, convert::s64_to_f64)
            (U64ToF64, VU64ToF64, SU64ToF64, convert::u64_to_f64)
            (F64ToS64, VF64ToS64, SF64ToS64, convert::f64_to_s64)
            (F64ToU64, VF64ToU64, SF64ToU64, convert::f64_to_u64)
        }
    } };
}
pub(crate) use lane_ops;

/// Calls a macro with the arms that [`lane_ops`] makes, each as operation, function in `machine::ops::lanes`, and lane
/// function: those for 32 lanes, those for 32 lanes that give a mask, and those for one scalar. The last also has the
/// other operations that only compute scalars.
macro_rules! lane_arms {
    ({ $then:ident! { $($head:tt)* } }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => { $then! { { $($head)* }
        varying {
            $(($u32v, unary32, $u32f))* $(($u64v, unary64, $u64f))* $(($b32v, binary32, $b32f))* $(($b64v, binary64, $b64f))*
            $(($xv, convert32to32, $xf))* $(($wv, convert32to64, $wf))* $(($nv, convert64to32, $nf))* $(($lv, convert64to64, $lf))*
        }
        masks {
            $(($c32v, compare32, $c32f))* $(($c64v, compare64, $c64f))*
            $(($c32b, compare_scalar32, $c32f))* $(($c64b, compare_scalar64, $c64f))*
        }
        scalar {
            (SMove, s_unary64, |a| a)
            (MAnd, s_binary32, |a, b| a & b)
            (MOr, s_binary32, |a, b| a | b)
            (MXor, s_binary32, |a, b| a ^ b)
            (MNot, s_unary32, |a| !a)
            (MEq, s_binary32, |a, b| !(a ^ b))
            (MSelect, s_fma32, |c, a, b| c & a | !c & b)
            (SSelect, s_fma64, |c, a, b| if c != 0 { a } else { b })
            (SBool, s_unary64, |a| a & 1)
            (SFma32, s_fma32, float::fma32)
            (SFma64, s_fma64, float::fma64)
            (SFmaHalves, s_fma32, half::fma2)
            (SFmaBfloats, s_fma32, bfloat16::fma2)
            $(($u32s, s_unary32, $u32f))* $(($u64s, s_unary64, $u64f))* $(($b32s, s_binary32, $b32f))* $(($b64s, s_binary64, $b64f))*
            $(($c32s, s_compare32, $c32f))* $(($c64s, s_compare64, $c64f))*
            $(($xs, s_convert32to32, $xf))* $(($ws, s_convert32to64, $wf))* $(($ns, s_convert64to32, $nf))* $(($ls, s_convert64to64, $lf))*
        }
    } };
}
pub(crate) use lane_arms;

/// Calls a macro with the tables it is given, and with the comparisons that have a jump: IR operation, the jump that is
/// taken and the end of a loop that goes on if it holds, and the lane function.
macro_rules! jump_ops {
    ({ $then:ident! { $($head:tt)* } } $($tables:tt)*) => { $then! { { $($head)* } $($tables)*
        jumps {
            (Eq, JumpEq32, LoopEq32, int::eq32)
            (Ne, JumpNe32, LoopNe32, int::ne32)
            (Slt, JumpSlt32, LoopSlt32, int::slt32)
            (Sle, JumpSle32, LoopSle32, int::sle32)
            (Sgt, JumpSgt32, LoopSgt32, int::sgt32)
            (Sge, JumpSge32, LoopSge32, int::sge32)
            (Ult, JumpUlt32, LoopUlt32, int::ult32)
            (Ule, JumpUle32, LoopUle32, int::ule32)
            (Ugt, JumpUgt32, LoopUgt32, int::ugt32)
            (Uge, JumpUge32, LoopUge32, int::uge32)
        }
    } };
}
pub(crate) use jump_ops;

macro_rules! define_ops {
    ({ $(@$sort:ident $($(#[doc = $doc:literal])* $extra:ident,)*)* }
     $($family:ident { $(($($row:tt)*))* })*) => {
        define_ops! { @names { $($($(#[doc = $doc])* $extra,)*)* } $([$family $({$($row)*})*])* }

        impl Op {
            /// The instructions that are not in the table of lane operations.
            #[cfg(test)]
            const OTHERS: &[Op] = &[$($(Op::$extra,)*)*];

            pub(crate) const fn sort(self) -> Sort {
                match self {
                    $($(Op::$extra)|* => Sort::$sort,)*
                    // Those of the table.
                    _ => Sort::Computes,
                }
            }
        }
    };
    (@names { $($done:tt)* }
     $([unary32 $({$u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $($u32f:tt)*})*]
       [unary64 $({$u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $($u64f:tt)*})*]
       [binary32 $({$b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $($b32f:tt)*})*]
       [binary64 $({$b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $($b64f:tt)*})*]
       [compare32 $({$c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $($c32f:tt)*})*]
       [compare64 $({$c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $($c64f:tt)*})*]
       [convert32to32 $({$x:ident, $xv:ident, $xs:ident, $($xf:tt)*})*]
       [convert32to64 $({$w:ident, $wv:ident, $ws:ident, $($wf:tt)*})*]
       [convert64to32 $({$n:ident, $nv:ident, $ns:ident, $($nf:tt)*})*]
       [convert64to64 $({$l:ident, $lv:ident, $ls:ident, $($lf:tt)*})*])?) => {
        /// The operation of an instruction. The computing ones come last.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        pub(crate) enum Op {
            $($done)*
            $($($u32v, $u32s,)* $($u64v, $u64s,)* $($b32v, $b32s,)* $($b64v, $b64s,)*
            $($c32v, $c32b, $c32s,)* $($c64v, $c64b, $c64s,)* $($xv, $xs,)* $($wv, $ws,)* $($nv, $ns,)* $($lv, $ls,)*)?
        }

        impl Op {
            /// The instructions from the table.
            #[cfg(test)]
            const OF_THE_TABLE: &[Op] = &[
                $($(Op::$u32v, Op::$u32s,)* $(Op::$u64v, Op::$u64s,)* $(Op::$b32v, Op::$b32s,)* $(Op::$b64v, Op::$b64s,)*
                $(Op::$c32v, Op::$c32b, Op::$c32s,)* $(Op::$c64v, Op::$c64b, Op::$c64s,)* $(Op::$xv, Op::$xs,)* $(Op::$wv, Op::$ws,)*
                $(Op::$nv, Op::$ns,)* $(Op::$lv, Op::$ls,)*)?
            ];

            /// Operations on one or two numbers.
            pub(crate) const COMPUTING: &[Op] = &[
                $($(Op::$u32v, Op::$u32s,)* $(Op::$u64v, Op::$u64s,)* $(Op::$b32v, Op::$b32s,)* $(Op::$b64v, Op::$b64s,)*)?
            ];
        }
    };
}

lane_ops! { define_ops! {
@Computes
    /// `S[d] = S[a]`.
    SMove,
    /// `V[d] = V[a]`, 32 and 64 bits.
    VMove32, VMove64,
    /// `V[d] = V[a]` in the active lanes.
    VBlend32, VBlend64,
    /// `S[d] = S[a]` in the active lanes: an `i1`.
    MBlend,
    /// `V[d] = S[a]` in every lane.
    VSplat32, VSplat64,
    /// Masks: `and`, `or`, `xor`, `not`, `!(a ^ b)`.
    MAnd, MOr, MXor, MNot, MEq,
    /// `S[d] = (S[a] & S[b]) | (!S[a] & S[c])`: select of an `i1`.
    MSelect,
    /// `S[d] = if S[a] { S[b] } else { S[c] }`.
    SSelect,
    /// `V[d] = S[a] ? V[b] : V[c]` by lane.
    VSelect32, VSelect64,
    /// An `i1` as 0 or 1.
    VBool, SBool,
    /// `a * b + c`.
    VFma32, VFma64, SFma32, SFma64,
    /// For the two halves or the two bfloat16 in each word.
    VFmaHalves, SFmaHalves, VFmaBfloats, SFmaBfloats,
    /// `V[d] = V[a] * V[b] + V[d]`; `a` and `b` differ from `d`.
    VFmaInto32, VFmaInto64,
    /// Pointers: base `a`, index `b`, row `c` of the table of scales. 64-bit pointers with a signed `i32`, an unsigned
    /// `i32`, or an `i64` index.
    SPtrS, SPtrU, SPtrL,
    /// 32-bit pointers.
    SPtr32,
    /// Base varying, index varying.
    VPtrVS, VPtrVU, VPtrVL, VPtr32V,
    /// Base scalar, index varying.
    VPtrSS, VPtrSU, VPtr32S,

@Goes
    /// To `b`.
    Jump,
    /// Only has a weight: ends a segment.
    Tick,
    /// The waiting lanes of `S[d]` and the active ones swap; to `b` if none continues.
    Else,
    /// The waiting lanes of `S[d]` join; to `b` if there is no lane at all. `S[d]` is empty afterwards.
    Join,
    /// `S[d] = 0`.
    Clear,
    /// All active lanes wait in `S[d]`; to `b`.
    Park,
    /// The next round of a loop: to `b`.
    Loop,
    /// `__syncthreads` (`c` is 1: the lanes of a warp may arrive separately; `b`: 0, or the row of the code after it,
    /// plus 1).
    Barrier,
    /// The active lanes end; to `b`.
    Exit,
    /// The end of the function.
    End,

@Decides
    /// To `b` if the uniform `S[a]` is false.
    JumpIfNot,
    /// To `b` if the uniform `S[a]` is true.
    JumpIf,
    /// The lanes with `S[a]` continue, and the others wait in `S[d]`; to `b` if none continues. Also counts `c`
    /// branches of unrolled loops.
    If,
    /// The same for instructions with a predicate: it is no branch.
    Guard,
    /// Lanes with `S[a]` wait in `S[d]`; to `b` if none remains.
    ParkIf,
    /// Lanes without `S[a]` wait in `S[d]`; to `b` if none remains.
    ParkIfNot,
    /// Lanes with `S[a]` end; to `b` if none remains. `ExitIfNot`: those without.
    ExitIf, ExitIfNot,

@Jumps
    /// To `b` if the comparison of the uniform `S[a]` and `S[c]`, 32 bits, holds.
    JumpEq32, JumpNe32, JumpSlt32, JumpSle32, JumpSgt32, JumpSge32,
    JumpUlt32, JumpUle32, JumpUgt32, JumpUge32,

@Loops
    /// `S[d] = S[a] + S[c]`, 32 bits; then the next round of a loop. The loop's head, which is the jump before `b`, is
    /// executed with it: to `b` if the comparison holds, which is the opposite of the head's, otherwise to where the
    /// head jumps.
    LoopEq32, LoopNe32, LoopSlt32, LoopSle32, LoopSgt32, LoopSge32,
    LoopUlt32, LoopUle32, LoopUgt32, LoopUge32,

@Accesses
    /// Memory, see `MemSite`: value(s) `d`, base `a`, index `b`, site `c`.
    LoadShared, StoreShared, AtomicShared,
    LoadGlobal, StoreGlobal, AtomicGlobal,
    LoadLocal, StoreLocal, AtomicLocal,
    LoadGeneric, StoreGeneric, AtomicGeneric,

@Acts
    /// After one of the ends of a loop that compare: row `a` of the table of loops of which many rounds can run
    /// together. It is never executed itself.
    Rounds,
    /// Counts accesses to arrays in registers, rows `a..b` of the table of tallies, and `c` branches of unrolled loops.
    Tally,
    /// A fence. `a`: the index of its scope in `FenceScope::ALL`; `b` is 1 if it is sequentially consistent.
    Fence,
    /// Traps.
    Trap,
    /// Thread-local memory from `a` on, `b` bytes: `c` is 1 if a variable begins there, 0 if it ends.
    Lifetime,
    /// Row `a` of the table of calls of routines: the active lanes enter it; to `b` if none returns.
    CallRoutine,
    /// Returns to the caller.
    EndRoutine,

@Other
    /// `S[d]` = the number of instructions that the worker's warps have executed, 32 and 64 bits.
    Clock, Clock64,
    /// `S[d]` = the active lanes.
    ActiveMask,
    /// Row `a` of the table of exchanges.
    Shuffle, Exchange,
    /// `__syncthreads` with a reduction: `S[d]` from the predicate `S[a]`.
    BarrierCount, BarrierAnd, BarrierOr,
    /// Row `a` of the table of numbered barriers.
    NumberedBarrier,
    /// `__syncwarp(V[a])`, or `S[a]` if `b` is 1.
    SyncWarp,
    /// Row `a` of the table of prints; `V[d]` receives the result.
    Print,
    /// Row `a` of the table of launches: each active lane launches a kernel.
    LaunchChild,
    /// `V[d]` = `V[a]` bytes of memory from the heap (both 64 bits), lane by lane.
    HeapMalloc,
    /// Frees the memory at `V[a]` (64 bits) on the heap.
    HeapFree,
    /// Traps in active lanes without `S[a]`; string `b`.
    Assert,

@Host
    /// Host: `S[d]` = the frame's address + offset `a`.
    HostLocal,
    /// Host: traps if `S[b]` is 0 (32 or 64 bits); before a division.
    HostNonZero,
    /// Host: `S[a]` is a variable that may be uninitialised, and is read; is initialised now.
    HostReads, HostAssigns,
    /// Host memory: value `d`, address `a`, site `c`.
    HostLoad, HostStore, HostAtomic,
    /// Host: row `a` of the table of calls.
    Call,
    /// Host: row `a` of the table of calls to the runtime.
    HostCall,
    /// Host: row `a` of the table of launches.
    Launch,
    /// Host: returns, with `S[a]` if `b` is 1.
    Return,

@Replay
    /// A replayed block (see `machine::replay`): lanes `c` of `S[a]` have to be `b`; request `a` of global memory has
    /// to match its pattern, and its bytes must be written if `b` is 1.
    ReplayMask, ReplayTest,
    /// All of those hold: the block begins.
    ReplayBegin,
    /// The turn of warp `a`, at place `b`; the block's barrier, once for several without observed events between them.
    ReplayTurn, ReplayBarrier,
    /// Request `a` of global memory; observers see it if `b` is 1.
    ReplayLoad, ReplayStore,
    /// Shared memory: a run of words at offset `b`, of all lanes, or of the first `c` lanes or more; `V[d]` or `V[a]`.
    ReplayLoadRun, ReplayLoadFew, ReplayStoreRun,
    /// The same for the lanes of `c`.
    ReplayStoreSome,
    /// Request `a` of shared memory, in any layout.
    ReplayLoadWindow, ReplayStoreWindow,
    ReplayEnd,
} }

/// What operations have in common for whatever follows values through code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    /// The result depends only on registers and the active lanes: see [`fields`](crate::isa::fields). All operations of
    /// the table do this.
    Computes,
    /// Where lanes go on, or how they wait, depends on no value.
    Goes,
    /// The truth value of each lane in `S[a]` decides where the lane goes on.
    Decides,
    /// A jump that is taken if a comparison of `S[a]` and `S[c]` holds.
    Jumps,
    /// The end of a loop fused with the loop's step and its head's comparison.
    Loops,
    /// Loads, stores or updates memory of a thread. Field `c` is then its site.
    Accesses,
    /// Orders, counts or ends something. It reads and writes no register; arguments and results of a routine are moved
    /// at its start and end.
    Acts,
    /// Reads or writes registers as no other operation does.
    Other,
    /// Only in host functions.
    Host,
    /// Only in lists of what a block did.
    Replay,
}

macro_rules! comparisons {
    ({} jumps { $(($compare:ident, $jump:ident, $end:ident, $f:path))* }) => {
        impl Op {
            /// The comparison of a jump.
            pub(crate) fn compares(self) -> Option<CompareOp> {
                match self {
                    $(Op::$jump => Some(CompareOp::$compare),)*
                    _ => None,
                }
            }

            /// The jump that is taken, and the loop that goes on, if a comparison of integers holds.
            pub(crate) fn jump_and_loop(compare: CompareOp) -> Option<(Op, Op)> {
                match compare {
                    $(CompareOp::$compare => Some((Op::$jump, Op::$end)),)*
                    _ => None,
                }
            }
        }
    };
}

jump_ops! { { comparisons! {} } }

impl Op {
    /// All instructions, for tests that check whether lists of them are complete.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        Op::OTHERS.iter().chain(Op::OF_THE_TABLE).copied()
    }

    pub(crate) fn is_comparing_jump(self) -> bool {
        self.sort() == Sort::Jumps
    }

    pub(crate) const fn is_comparing_loop_end(self) -> bool {
        matches!(self.sort(), Sort::Loops)
    }

    pub(crate) fn tests_lanes(self) -> bool {
        self.sort() == Sort::Decides
    }

    pub(crate) fn is_access(self) -> bool {
        self.sort() == Sort::Accesses
    }

    /// Whether it reads and writes no register with a value. Masks of waiting lanes are not values.
    pub(crate) fn moves_no_value(self) -> bool {
        matches!(self.sort(), Sort::Goes | Sort::Acts)
    }
}
