//! The bytecode: flat code over two register files.
//!
//! - **Scalar registers** (`S`, 64 bits) hold what is the same for all lanes, and every `i1`: a mask of 32 lanes, which for a
//!   uniform truth value is all zeros or all ones.
//! - **Varying registers** (`V`) hold 32 lanes side by side: one unit of 128 bytes for 32-bit values, two for 64-bit ones.
//! - An instruction that writes a `V` register never reads the same register through another field: the compiler sees to it, the
//!   engine relies on it.
//! - [`lane_ops`] is the list of everything that computes; the instruction set, the compiler's choice and the engine's dispatch
//!   are all made from it. Names: `V…` on 32 lanes, `S…` on one scalar.

use std::collections::HashMap;

use dsl::ir::{Access, AtomicOp, LocId, ReduceOp, SharedVar, ShuffleMode, Space, Type, VoteOp};

use crate::fault::trap::AccessOp;
use crate::isa::effects::{Effects, Root};

/// Calls a macro with every computing instruction: IR operation, types, `V` name, `S` name, lane function.
macro_rules! lane_ops {
    ($then:ident! { $($head:tt)* }) => { $then! { { $($head)* }
        unary32 {
            (Neg, I32, VNeg32, SNeg32, int::neg32)
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
        }
        unary64 {
            (Neg, I64, VNeg64, SNeg64, int::neg64)
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
            (Eq, I32, VEq32, SEq32, int::eq32)
            (Ne, I32, VNe32, SNe32, int::ne32)
            (Slt, I32, VSlt32, SSlt32, int::slt32)
            (Sle, I32, VSle32, SSle32, int::sle32)
            (Sgt, I32, VSgt32, SSgt32, int::sgt32)
            (Sge, I32, VSge32, SSge32, int::sge32)
            (Ult, I32, VUlt32, SUlt32, int::ult32)
            (Ule, I32, VUle32, SUle32, int::ule32)
            (Ugt, I32, VUgt32, SUgt32, int::ugt32)
            (Uge, I32, VUge32, SUge32, int::uge32)
            (FEq, F32, VFEq32, SFEq32, float::feq32)
            (FNe, F32, VFNe32, SFNe32, float::fne32)
            (FLt, F32, VFLt32, SFLt32, float::flt32)
            (FLe, F32, VFLe32, SFLe32, float::fle32)
            (FGt, F32, VFGt32, SFGt32, float::fgt32)
            (FGe, F32, VFGe32, SFGe32, float::fge32)
        }
        compare64 {
            (Eq, I64, VEq64, SEq64, int::eq64)
            (Ne, I64, VNe64, SNe64, int::ne64)
            (Slt, I64, VSlt64, SSlt64, int::slt64)
            (Sle, I64, VSle64, SSle64, int::sle64)
            (Sgt, I64, VSgt64, SSgt64, int::sgt64)
            (Sge, I64, VSge64, SSge64, int::sge64)
            (Ult, I64, VUlt64, SUlt64, int::ult64)
            (Ule, I64, VUle64, SUle64, int::ule64)
            (Ugt, I64, VUgt64, SUgt64, int::ugt64)
            (Uge, I64, VUge64, SUge64, int::uge64)
            (FEq, F64, VFEq64, SFEq64, float::feq64)
            (FNe, F64, VFNe64, SFNe64, float::fne64)
            (FLt, F64, VFLt64, SFLt64, float::flt64)
            (FLe, F64, VFLe64, SFLe64, float::fle64)
            (FGt, F64, VFGt64, SFGt64, float::fgt64)
            (FGe, F64, VFGe64, SFGe64, float::fge64)
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

macro_rules! define_ops {
    ({ $($(#[doc = $doc:literal])* $extra:ident,)* }
     $($family:ident { $(($($row:tt)*))* })*) => {
        define_ops! { @names { $($(#[doc = $doc])* $extra,)* } $([$family $({$($row)*})*])* }
    };
    (@names { $($done:tt)* }
     $([unary32 $({$u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $($u32f:tt)*})*]
       [unary64 $({$u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $($u64f:tt)*})*]
       [binary32 $({$b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $($b32f:tt)*})*]
       [binary64 $({$b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $($b64f:tt)*})*]
       [compare32 $({$c32:ident, $c32t:ident, $c32v:ident, $c32s:ident, $($c32f:tt)*})*]
       [compare64 $({$c64:ident, $c64t:ident, $c64v:ident, $c64s:ident, $($c64f:tt)*})*]
       [convert32to32 $({$x:ident, $xv:ident, $xs:ident, $($xf:tt)*})*]
       [convert32to64 $({$w:ident, $wv:ident, $ws:ident, $($wf:tt)*})*]
       [convert64to32 $({$n:ident, $nv:ident, $ns:ident, $($nf:tt)*})*]
       [convert64to64 $({$l:ident, $lv:ident, $ls:ident, $($lf:tt)*})*])?) => {
        /// What an instruction does. The computing ones come last.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub(crate) enum Op {
            $($done)*
            $($($u32v, $u32s,)* $($u64v, $u64s,)* $($b32v, $b32s,)* $($b64v, $b64s,)*
            $($c32v, $c32s,)* $($c64v, $c64s,)* $($xv, $xs,)* $($wv, $ws,)* $($nv, $ns,)* $($lv, $ls,)*)?
        }
    };
}

lane_ops! { define_ops! {
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
    /// `V[d] = V[a] * V[b] + V[d]`; `a` and `b` are other registers.
    VFmaInto32, VFmaInto64,
    /// Pointers: base `a`, index `b`, row `c` of the table of scales. 64-bit pointers, index `i32` signed, unsigned, `i64`.
    SPtrS, SPtrU, SPtrL,
    /// 32-bit pointers.
    SPtr32,
    /// Base varying, index varying.
    VPtrVS, VPtrVU, VPtrVL, VPtr32V,
    /// Base scalar, index varying.
    VPtrSS, VPtrSU, VPtr32S,
    /// `S[d]` = instructions the worker's warps have executed, 32 and 64 bits.
    Clock, Clock64,
    /// `S[d]` = the active lanes.
    ActiveMask,
    /// Row `a` of the table of exchanges.
    Shuffle, Exchange,

    /// To `b`.
    Jump,
    /// To `b` if the uniform `S[a]` is false.
    JumpIfNot,
    /// To `b` if the uniform `S[a]` is true.
    JumpIf,
    /// To `b` if the comparison of the uniform `S[a]` and `S[c]`, 32 bits, holds.
    JumpEq32, JumpNe32, JumpSlt32, JumpSle32, JumpSgt32, JumpSge32,
    JumpUlt32, JumpUle32, JumpUgt32, JumpUge32,
    /// Nothing but its weight: ends a segment.
    Tick,
    /// The lanes with `S[a]` go on, the others wait in `S[d]`; to `b` if none goes on.
    If,
    /// The waiting lanes of `S[d]` and the active ones change places; to `b` if none goes on.
    Else,
    /// The waiting lanes of `S[d]` join; to `b` if there is no lane at all. `S[d]` is empty then.
    Join,
    /// `S[d] = 0`.
    Clear,
    /// All active lanes go to wait in `S[d]`; to `b`.
    Park,
    /// Lanes with `S[a]` go to wait in `S[d]`; to `b` if none remains.
    ParkIf,
    /// Lanes without `S[a]` go to wait in `S[d]`; to `b` if none remains.
    ParkIfNot,
    /// Lanes with `S[a]` are gone for good; to `b` if none remains. `ExitIfNot`: those without.
    ExitIf, ExitIfNot,
    /// The next round of a loop: to `b`.
    Loop,
    /// `S[d] = S[a] + S[c]`, 32 bits; then the next round of a loop whose head, the jump before `b`, is executed with it: to
    /// `b` if the comparison holds, which is the opposite of the head's, else to where the head jumps.
    LoopEq32, LoopNe32, LoopSlt32, LoopSle32, LoopSgt32, LoopSge32,
    LoopUlt32, LoopUle32, LoopUgt32, LoopUge32,
    /// The active lanes are gone for good; to `b`.
    Exit,
    /// The end of the function.
    End,

    /// Memory, see [`MemSite`]: value(s) `d`, base `a`, index `b`, site `c`.
    LoadShared, StoreShared, AtomicShared,
    LoadGlobal, StoreGlobal, AtomicGlobal,
    LoadLocal, StoreLocal, AtomicLocal,
    LoadGeneric, StoreGeneric, AtomicGeneric,

    /// `__syncthreads`, plain and with a reduction: `S[d]` from the predicate `S[a]`.
    Barrier, BarrierCount, BarrierAnd, BarrierOr,
    /// `__syncwarp(V[a])`, or `S[a]` if `b` is 1.
    SyncWarp,
    /// A fence; `a`: its scope's place in `FenceScope::ALL`.
    Fence,
    /// Row `a` of the table of prints; `V[d]` gets the result.
    Print,
    /// Row `a` of the table of launches: each active lane launches a kernel.
    LaunchChild,
    /// `V[d]` = memory of the heap for `V[a]` bytes (64 bits both), lane by lane.
    HeapMalloc,
    /// Gives memory at `V[a]` (64 bits) back to the heap.
    HeapFree,
    /// Traps in active lanes without `S[a]`; string `b`.
    Assert,
    /// Traps.
    Trap,
    /// Thread-local memory from `a` on, `b` bytes: `c` is 1 where a variable begins there, 0 where it ends.
    Lifetime,

    /// Host: `S[d]` = the frame's address + offset `a`.
    HostLocal,
    /// Host: trap if `S[b]` is 0 (32 or 64 bits); before a division.
    HostNonZero,
    /// Host: `S[a]` is a variable that may have no value yet, and is read; has one now.
    HostReads, HostAssigns,
    /// Host memory: value `d`, address `a`, site `c`.
    HostLoad, HostStore, HostAtomic,
    /// Host: row `a` of the table of calls.
    Call,
    /// Host: row `a` of the table of calls to the runtime.
    HostCall,
    /// Host: row `a` of the table of launches.
    Launch,
    /// Host: return, with `S[a]` if `b` is 1.
    Return,
} }

/// One instruction. What the fields mean is the operation's business; `weight` is the number of IR instructions since the
/// last instruction that had a weight, and stands in control instructions only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    pub(crate) weight: u16,
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

impl Inst {
    /// The head of the loop that this closes, if it does.
    pub(crate) fn back_edge_to(&self) -> Option<u32> {
        match self.op {
            Op::Loop => Some(self.b),
            Op::LoopEq32
            | Op::LoopNe32
            | Op::LoopSlt32
            | Op::LoopSle32
            | Op::LoopSgt32
            | Op::LoopSge32
            | Op::LoopUlt32
            | Op::LoopUle32
            | Op::LoopUgt32
            | Op::LoopUge32 => Some(self.b - 1),
            _ => None,
        }
    }
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A scalar register (of an `i1`: a mask).
    S(u32),
    /// A varying register: its first unit.
    V(u32),
}

/// How wide a value is in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// An `i1`.
    Mask,
    /// 32 bits; pointers into shared and local memory, too.
    W32,
    /// 64 bits.
    W64,
}

impl Class {
    pub(crate) fn of(ty: Type) -> Class {
        match ty {
            Type::I1 => Class::Mask,
            Type::I32 | Type::F32 | Type::Ptr(Space::Shared | Space::Local) => Class::W32,
            Type::I64 | Type::F64 | Type::Ptr(Space::Generic | Space::Global | Space::Constant) => {
                Class::W64
            }
        }
    }

    /// The bits of a scalar register for a value's bits: a truth value is a mask.
    #[inline]
    pub(crate) fn to_register(self, bits: u64) -> u64 {
        match self {
            Class::Mask => u64::from(0u32.wrapping_sub(u32::from(bits != 0))),
            Class::W32 => bits & 0xffff_ffff,
            Class::W64 => bits,
        }
    }

    /// Units of a varying register.
    pub(crate) fn units(self) -> u32 {
        if self == Class::W64 { 2 } else { 1 }
    }
}

/// How an access finds its address: from `a` and `b`, then `* scale + offset` of the site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `S[a] + offset`, and the site's term: one address for all lanes.
    Uniform,
    /// `S[a] + V[b] * scale + offset`, `V[b]` an `i32`, and the site's term.
    UniformIndexed,
    /// `V[a] + offset`.
    Varying,
    /// `V[a] + V[b] * scale + offset`.
    VaryingIndexed,
}

/// The innermost subscript of an array that has several: a varying and a uniform part, and how many elements there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscript {
    pub(crate) varying: Option<u32>,
    pub(crate) uniform: Option<u32>,
    /// They are of 64 bits: one of them only.
    pub(crate) is_long: bool,
    pub(crate) len: u32,
}

/// A memory instruction's unchanging part.
#[derive(Clone, Debug)]
pub(crate) struct MemSite {
    /// Its place in [`Code::sites`].
    pub(crate) row: u32,
    pub(crate) op: AccessOp,
    pub(crate) access: Access,
    pub(crate) width_bytes: u32,
    pub(crate) address: Address,
    /// First counter: generic accesses have one each for global, shared and local.
    pub(crate) counter: u32,
    /// Registers of the components: all `V`, or all `S` (masks, uniform results).
    pub(crate) values: [u32; 4],
    /// Whether `values` are scalar registers with one value for all lanes.
    pub(crate) uniform_values: bool,
    /// What its pointer starts from, if that is one thing: outside of shared and local memory the access has to stay in there.
    pub(crate) root: Option<Root>,
    /// A load of memory that is read-only during the launch: through `__ldg` (`true`) or a `const … __restrict__` parameter.
    pub(crate) frozen: Option<bool>,
    /// Bounds of the array the source names: offset in its space (or address) and size.
    pub(crate) bounds: Option<(u64, u64)>,
    /// The innermost subscript, where its registers are at hand.
    pub(crate) subscript: Option<Subscript>,
    /// For atomics: operation and the register to compare with.
    pub(crate) atomic: Option<(AtomicOp, u32)>,
    /// For atomics: the register that receives the old value, if anything reads it.
    pub(crate) result: u32,
}

/// What a site adds to the registers of its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) form: Form,
    /// The index is extended with zeros.
    pub(crate) unsigned: bool,
    pub(crate) scale: i64,
    pub(crate) offset: i64,
    /// A uniform term in a scalar register: of 32-bit pointers, so many times this scale, of others it is added to the index.
    pub(crate) term: u32,
    pub(crate) term_scale: i64,
}

/// Scale and offset of a pointer addition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PtrScale {
    pub(crate) scale: i64,
    pub(crate) offset: i64,
}

/// A print: format and arguments.
#[derive(Clone, Debug)]
pub(crate) struct PrintRow {
    pub(crate) format: u32,
    pub(crate) args: Vec<(Type, Place)>,
}

/// A launch from a kernel.
#[derive(Clone, Debug)]
pub(crate) struct LaunchRow {
    /// The kernel's number.
    pub(crate) kernel: u32,
    /// Blocks, threads, bytes of shared memory, then the kernel's arguments.
    pub(crate) args: Vec<(Type, Place)>,
    pub(crate) loc: LocId,
}

/// A shuffle, vote, match or reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeRow {
    pub(crate) kind: ExchangeKind,
    /// What each lane gives; of a vote, a mask register.
    pub(crate) value: Place,
    /// Of shuffles.
    pub(crate) lane: Place,
    pub(crate) width: Place,
    pub(crate) mask: Option<Place>,
    /// The second one is of `match.all` alone.
    pub(crate) results: [Place; 2],
}

/// What an exchange does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExchangeKind {
    Shuffle(ShuffleMode),
    Vote(VoteOp),
    MatchAny { wide: bool },
    MatchAll { wide: bool },
    Reduce(ReduceOp),
}

impl ExchangeKind {
    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ExchangeKind::Shuffle(_) => "shuffle",
            ExchangeKind::Vote(_) => "vote",
            ExchangeKind::MatchAny { .. } | ExchangeKind::MatchAll { .. } => "match",
            ExchangeKind::Reduce(_) => "reduction",
        }
    }
}

/// A divergent statement: while `pc` is in `start..end`, lanes may wait in `S[save]`; they belong to `loc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waitplace {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) save: u32,
    pub(crate) loc: LocId,
}

/// A call of a host function, of the runtime, or a launch: operands as scalar registers.
#[derive(Clone, Debug)]
pub(crate) struct CallRow {
    /// The function's index, or the host function's.
    pub(crate) target: u32,
    pub(crate) args: Vec<(Type, u32)>,
    pub(crate) host: Option<dsl::ir::HostFn>,
}

/// A counter that an instruction may add to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CounterSite {
    pub(crate) loc: LocId,
    pub(crate) space: Space,
    pub(crate) op: AccessOp,
    pub(crate) width_bytes: u32,
    /// An atomic that is one for its block only.
    pub(crate) block_scope: bool,
}

/// The registers of a function: how many, what they hold at first, and where variables and arguments are.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterLayout {
    /// Scalar registers, and the first ones' initial values (constants; the rest are 0).
    pub(crate) s_count: u32,
    pub(crate) s_init: Vec<(u32, u64)>,
    /// Scalar registers that get an address when a launch begins.
    pub(crate) s_symbols: Vec<(u32, dsl::ir::Object)>,
    /// Units of varying registers, and constants among them.
    pub(crate) v_units: u32,
    pub(crate) v_init: Vec<(u32, Class, u64)>,
    /// Where each slot is.
    pub(crate) slots: Vec<Place>,
    /// Slots: cleared when a block begins.
    pub(crate) slot_s: std::ops::Range<u32>,
    pub(crate) slot_v: std::ops::Range<u32>,
    /// Where arguments go.
    pub(crate) params: Vec<(Place, Class)>,
    /// Parameters nobody assigns to, spread over a varying register: parameter, register.
    pub(crate) mirrors: Vec<(u32, u32, Class)>,
    /// Variables that may be read before they are assigned to, their registers, and the first such read.
    pub(crate) unassigned: Vec<(dsl::ir::SlotId, Place, LocId)>,
}

/// The local and shared memory of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLayout {
    pub(crate) local_bytes: u64,
    pub(crate) shared_bytes: u64,
    /// Where dynamic shared memory begins.
    pub(crate) dynamic_offset: u64,
    /// Offset of each local variable.
    pub(crate) local_offsets: Vec<u64>,
}

/// A compiled function. Every jump goes to one of its instructions, and the last of a kernel's is [`Op::End`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    pub(crate) locs: Vec<LocId>,
    pub(crate) sites: Vec<MemSite>,
    pub(crate) counters: Vec<CounterSite>,
    pub(crate) scales: Vec<PtrScale>,
    pub(crate) prints: Vec<PrintRow>,
    pub(crate) launches: Vec<LaunchRow>,
    pub(crate) exchanges: Vec<ExchangeRow>,
    pub(crate) calls: Vec<CallRow>,
    pub(crate) waits: Vec<Waitplace>,
    pub(crate) registers: RegisterLayout,
    pub(crate) memory: MemoryLayout,
    /// What it may do to global memory.
    pub(crate) effects: Effects,
    /// By the head of a loop that may be seen never to end: what its end depends on.
    pub(crate) endless: HashMap<u32, Vec<(Place, Class)>>,
}

impl MemoryLayout {
    /// Where a variable begins in its block's shared memory, in bytes.
    pub(crate) fn shared_offset(&self, var: &SharedVar) -> u64 {
        match var.dynamic {
            true => self.dynamic_offset,
            false => var.offset_bytes,
        }
    }
}

/// Scalar registers every kernel has: `ctaid`, `ntid`, `nctaid`.
pub(crate) const S_CTAID: u32 = 0;
/// Block size.
pub(crate) const S_NTID: u32 = 3;
/// Grid size.
pub(crate) const S_NCTAID: u32 = 6;
/// `tid.y` and `tid.z` of kernels compiled for warps that lie in one row of the block.
pub(crate) const S_TID_YZ: u32 = 9;
/// Whether the launch is a cooperative one.
pub(crate) const S_COOPERATIVE: u32 = 11;
/// The first scalar register that is free.
pub(crate) const S_FREE: u32 = 12;
/// Varying registers every kernel has: `tid.x`, `.y`, `.z`.
pub(crate) const V_TID: u32 = 0;
/// The lane's number.
pub(crate) const V_LANE: u32 = 3;
/// The first unit that is free.
pub(crate) const V_FREE: u32 = 4;
