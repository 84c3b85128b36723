//! The second form of a host function's bytecode, which `launch::host::fused` runs in the common case.
//!
//! Each instruction stands for one or several of the function's [`Code`](super::bytecode::Code). These are adjacent, or
//! the results of the earlier ones are used only by this instruction. All instructions use the same registers. If an
//! instruction cannot be executed because an access is invalid, a byte was never written or a limit is reached, it is
//! left to the first form before it has had any effect. [`Origin`] has the place where the first form continues.
//!
//! Invariant: register numbers are below those of the function, jumps stay inside, and the last instruction never falls
//! through.

use crate::isa::bytecode::{Inst, S_FRAME, S_TID_YZ};
use crate::isa::op::{Op, lane_arms, lane_ops};

/// The scalar register of a host function with the address of its part of the stack.
pub(crate) const S_STACK: u32 = S_FRAME;
/// A register that stays 0.
pub(crate) const S_ZERO: u32 = S_TID_YZ;

/// Calls a macro with every comparison: the scalar operation, the jump if it holds, the same jump that closes a loop,
/// and the same after the addition that is the loop's step, then the comparison that holds where this one does not. For
/// floating-point numbers, which may be unordered, it has the jumps if the comparison does not hold instead. Each row
/// ends with the comparison of the exchanged operands.
macro_rules! host_jumps {
    ({ $then:ident! { $($head:tt)* } } varying { $($varying:tt)* } masks { $($masks:tt)* } scalar { $($scalar:tt)* }) => {
        $then! { { $($head)* }
            scalar { $($scalar)* }
            ints {
                (SEq32, u32, int::eq32, IfEq32, BackEq32, StepEq32, SNe32, SEq32)
                (SNe32, u32, int::ne32, IfNe32, BackNe32, StepNe32, SEq32, SNe32)
                (SSlt32, u32, int::slt32, IfSlt32, BackSlt32, StepSlt32, SSge32, SSgt32)
                (SSle32, u32, int::sle32, IfSle32, BackSle32, StepSle32, SSgt32, SSge32)
                (SSgt32, u32, int::sgt32, IfSgt32, BackSgt32, StepSgt32, SSle32, SSlt32)
                (SSge32, u32, int::sge32, IfSge32, BackSge32, StepSge32, SSlt32, SSle32)
                (SUlt32, u32, int::ult32, IfUlt32, BackUlt32, StepUlt32, SUge32, SUgt32)
                (SUle32, u32, int::ule32, IfUle32, BackUle32, StepUle32, SUgt32, SUge32)
                (SUgt32, u32, int::ugt32, IfUgt32, BackUgt32, StepUgt32, SUle32, SUlt32)
                (SUge32, u32, int::uge32, IfUge32, BackUge32, StepUge32, SUlt32, SUle32)
                (SEq64, u64, int::eq64, IfEq64, BackEq64, StepEq64, SNe64, SEq64)
                (SNe64, u64, int::ne64, IfNe64, BackNe64, StepNe64, SEq64, SNe64)
                (SSlt64, u64, int::slt64, IfSlt64, BackSlt64, StepSlt64, SSge64, SSgt64)
                (SSle64, u64, int::sle64, IfSle64, BackSle64, StepSle64, SSgt64, SSge64)
                (SSgt64, u64, int::sgt64, IfSgt64, BackSgt64, StepSgt64, SSle64, SSlt64)
                (SSge64, u64, int::sge64, IfSge64, BackSge64, StepSge64, SSlt64, SSle64)
                (SUlt64, u64, int::ult64, IfUlt64, BackUlt64, StepUlt64, SUge64, SUgt64)
                (SUle64, u64, int::ule64, IfUle64, BackUle64, StepUle64, SUgt64, SUge64)
                (SUgt64, u64, int::ugt64, IfUgt64, BackUgt64, StepUgt64, SUle64, SUlt64)
                (SUge64, u64, int::uge64, IfUge64, BackUge64, StepUge64, SUlt64, SUle64)
            }
            floats {
                (SFEq32, u32, float::feq32, IfFEq32, UnlessFEq32, BackFEq32, BackUnlessFEq32, SFEq32)
                (SFNe32, u32, float::fne32, IfFNe32, UnlessFNe32, BackFNe32, BackUnlessFNe32, SFNe32)
                (SFLt32, u32, float::flt32, IfFLt32, UnlessFLt32, BackFLt32, BackUnlessFLt32, SFGt32)
                (SFLe32, u32, float::fle32, IfFLe32, UnlessFLe32, BackFLe32, BackUnlessFLe32, SFGe32)
                (SFGt32, u32, float::fgt32, IfFGt32, UnlessFGt32, BackFGt32, BackUnlessFGt32, SFLt32)
                (SFGe32, u32, float::fge32, IfFGe32, UnlessFGe32, BackFGe32, BackUnlessFGe32, SFLe32)
                (SFEq64, u64, float::feq64, IfFEq64, UnlessFEq64, BackFEq64, BackUnlessFEq64, SFEq64)
                (SFNe64, u64, float::fne64, IfFNe64, UnlessFNe64, BackFNe64, BackUnlessFNe64, SFNe64)
                (SFLt64, u64, float::flt64, IfFLt64, UnlessFLt64, BackFLt64, BackUnlessFLt64, SFGt64)
                (SFLe64, u64, float::fle64, IfFLe64, UnlessFLe64, BackFLe64, BackUnlessFLe64, SFGe64)
                (SFGt64, u64, float::fgt64, IfFGt64, UnlessFGt64, BackFGt64, BackUnlessFGt64, SFLt64)
                (SFGe64, u64, float::fge64, IfFGe64, UnlessFGe64, BackFGe64, BackUnlessFGe64, SFLe64)
            }
        }
    };
}
pub(crate) use host_jumps;

/// Calls a macro with every access.
///
/// First come its operations, by how the address is computed (base only; base plus a 32-bit index that counts elements;
/// such an index with a scale, signed and unsigned; a 64-bit index; an index that is a 32-bit or 64-bit sum; a 32-bit
/// product plus a sum), the type in memory, and for loads the type by which it is extended to the register. Then come
/// jumps that compare a loaded value: the load, the comparison, and the two operations. Then come operations on a value
/// in memory. Then come operations on a loaded value: the load, the operation (`FMulAdd`: added to the register), what it
/// makes of the loaded value, its other operand and the old value of the result's register, and one for each form of
/// address. A sum or product of two NaNs may be either: the language does not specify which.
macro_rules! host_accesses {
    ($then:ident! { $($head:tt)* }) => { $then! { { $($head)* }
        loads {
            (LoadU8, LoadU8E, LoadU8S, LoadU8U, LoadU8L, LoadU8A, LoadU8Q, LoadU8M, u8, u8)
            (LoadS8, LoadS8E, LoadS8S, LoadS8U, LoadS8L, LoadS8A, LoadS8Q, LoadS8M, i8, u32)
            (LoadU16, LoadU16E, LoadU16S, LoadU16U, LoadU16L, LoadU16A, LoadU16Q, LoadU16M, u16, u16)
            (LoadS16, LoadS16E, LoadS16S, LoadS16U, LoadS16L, LoadS16A, LoadS16Q, LoadS16M, i16, u32)
            (Load32, Load32E, Load32S, Load32U, Load32L, Load32A, Load32Q, Load32M, u32, u32)
            (Load64, Load64E, Load64S, Load64U, Load64L, Load64A, Load64Q, Load64M, u64, u64)
        }
        stores {
            (Store8, Store8E, Store8S, Store8U, Store8L, Store8A, Store8Q, Store8M, u8)
            (Store16, Store16E, Store16S, Store16U, Store16L, Store16A, Store16Q, Store16M, u16)
            (Store32, Store32E, Store32S, Store32U, Store32L, Store32A, Store32Q, Store32M, u32)
            (Store64, Store64E, Store64S, Store64U, Store64L, Store64A, Store64Q, Store64M, u64)
        }
        tests {
            (Load32, SEq32, u32, u32, int::eq32, TestEq32, TestEq32E)
            (Load32, SNe32, u32, u32, int::ne32, TestNe32, TestNe32E)
            (Load32, SSlt32, u32, u32, int::slt32, TestSlt32, TestSlt32E)
            (Load32, SSle32, u32, u32, int::sle32, TestSle32, TestSle32E)
            (Load32, SSgt32, u32, u32, int::sgt32, TestSgt32, TestSgt32E)
            (Load32, SSge32, u32, u32, int::sge32, TestSge32, TestSge32E)
            (Load32, SUlt32, u32, u32, int::ult32, TestUlt32, TestUlt32E)
            (Load32, SUle32, u32, u32, int::ule32, TestUle32, TestUle32E)
            (Load32, SUgt32, u32, u32, int::ugt32, TestUgt32, TestUgt32E)
            (Load32, SUge32, u32, u32, int::uge32, TestUge32, TestUge32E)
            (Load64, SEq64, u64, u64, int::eq64, TestEq64, TestEq64E)
            (Load64, SNe64, u64, u64, int::ne64, TestNe64, TestNe64E)
            (Load64, SSlt64, u64, u64, int::slt64, TestSlt64, TestSlt64E)
            (Load64, SSle64, u64, u64, int::sle64, TestSle64, TestSle64E)
            (Load64, SSgt64, u64, u64, int::sgt64, TestSgt64, TestSgt64E)
            (Load64, SSge64, u64, u64, int::sge64, TestSge64, TestSge64E)
            (Load64, SUlt64, u64, u64, int::ult64, TestUlt64, TestUlt64E)
            (Load64, SUle64, u64, u64, int::ule64, TestUle64, TestUle64E)
            (Load64, SUgt64, u64, u64, int::ugt64, TestUgt64, TestUgt64E)
            (Load64, SUge64, u64, u64, int::uge64, TestUge64, TestUge64E)
            (LoadS8, SEq32, i8, u32, int::eq32, TestEqS8, TestEqS8E)
            (LoadS8, SNe32, i8, u32, int::ne32, TestNeS8, TestNeS8E)
            (LoadU8, SEq32, u8, u32, int::eq32, TestEqU8, TestEqU8E)
            (LoadU8, SNe32, u8, u32, int::ne32, TestNeU8, TestNeU8E)
        }
        float_tests {
            (Load32, SFLt32, u32, float::flt32, TestFLt32, TestFLt32E, TestUnlessFLt32, TestUnlessFLt32E)
            (Load32, SFLe32, u32, float::fle32, TestFLe32, TestFLe32E, TestUnlessFLe32, TestUnlessFLe32E)
            (Load32, SFGt32, u32, float::fgt32, TestFGt32, TestFGt32E, TestUnlessFGt32, TestUnlessFGt32E)
            (Load32, SFGe32, u32, float::fge32, TestFGe32, TestFGe32E, TestUnlessFGe32, TestUnlessFGe32E)
            (Load64, SFLt64, u64, float::flt64, TestFLt64, TestFLt64E, TestUnlessFLt64, TestUnlessFLt64E)
            (Load64, SFLe64, u64, float::fle64, TestFLe64, TestFLe64E, TestUnlessFLe64, TestUnlessFLe64E)
            (Load64, SFGt64, u64, float::fgt64, TestFGt64, TestFGt64E, TestUnlessFGt64, TestUnlessFGt64E)
            (Load64, SFGe64, u64, float::fge64, TestFGe64, TestFGe64E, TestUnlessFGe64, TestUnlessFGe64E)
        }
        updates {
            (SAdd32, u32, int::add32, AddTo32, AddTo32S)
            (SAdd64, u64, int::add64, AddTo64, AddTo64S)
            (SSub32, u32, int::sub32, SubTo32, SubTo32S)
            (SSub64, u64, int::sub64, SubTo64, SubTo64S)
            (SFAdd32, u32, float::fadd32, FAddTo32, FAddTo32S)
            (SFAdd64, u64, float::fadd64, FAddTo64, FAddTo64S)
            (SFSub32, u32, float::fsub32, FSubTo32, FSubTo32S)
            (SFSub64, u64, float::fsub64, FSubTo64, FSubTo64S)
        }
        feeds {
            (Load32, SAdd32, u32, |x, y, _| int::add32(y, x), AddOf32B, AddOf32E, AddOf32S, AddOf32U, AddOf32L, AddOf32A, AddOf32Q, AddOf32M)
            (Load64, SAdd64, u64, |x, y, _| int::add64(y, x), AddOf64B, AddOf64E, AddOf64S, AddOf64U, AddOf64L, AddOf64A, AddOf64Q, AddOf64M)
            (Load32, SFAdd32, u32, |x, y, _| float::fadd32(y, x), FAddOf32B, FAddOf32E, FAddOf32S, FAddOf32U, FAddOf32L, FAddOf32A, FAddOf32Q, FAddOf32M)
            (Load64, SFAdd64, u64, |x, y, _| float::fadd64(y, x), FAddOf64B, FAddOf64E, FAddOf64S, FAddOf64U, FAddOf64L, FAddOf64A, FAddOf64Q, FAddOf64M)
            (Load32, SFMul32, u32, |x, y, _| float::fmul32(y, x), FMulOf32B, FMulOf32E, FMulOf32S, FMulOf32U, FMulOf32L, FMulOf32A, FMulOf32Q, FMulOf32M)
            (Load64, SFMul64, u64, |x, y, _| float::fmul64(y, x), FMulOf64B, FMulOf64E, FMulOf64S, FMulOf64U, FMulOf64L, FMulOf64A, FMulOf64Q, FMulOf64M)
            (Load32, FMulAdd32, u32, |x, y, sum| float::mul_and_add32(y, x, sum), FMulAddOf32B, FMulAddOf32E, FMulAddOf32S, FMulAddOf32U, FMulAddOf32L, FMulAddOf32A, FMulAddOf32Q, FMulAddOf32M)
            (Load64, FMulAdd64, u64, |x, y, sum| float::fadd64(sum, float::fmul64(y, x)), FMulAddOf64B, FMulAddOf64E, FMulAddOf64S, FMulAddOf64U, FMulAddOf64L, FMulAddOf64A, FMulAddOf64Q, FMulAddOf64M)
        }
    } };
}
pub(crate) use host_accesses;

macro_rules! define_host_ops {
    ({ { loads { $(($l:ident, $le:ident, $ls:ident, $lu:ident, $ll:ident, $la:ident, $lq:ident, $lm:ident, $lt:ty, $lw:ty))* }
         stores { $(($s:ident, $se:ident, $ss:ident, $su:ident, $sl:ident, $sa:ident, $sq:ident, $sm:ident, $st:ty))* }
         tests { $(($tl:ident, $tc:ident, $tt:ty, $tw:ty, $tf:path, $test:ident, $teste:ident))* }
         float_tests { $(($ftl:ident, $ftc:ident, $ftt:ty, $ftf:path, $ftest:ident, $fteste:ident, $ftunless:ident, $ftunlesse:ident))* }
         updates { $(($up:ident, $ut:ty, $uf:path, $update:ident, $updates:ident))* }
         feeds { $(($fl:ident, $fk:ident, $fdt:ty, $fdf:expr, $db:ident, $de:ident, $ds:ident, $du:ident, $dl:ident, $da:ident, $dq:ident, $dm:ident))* } }
       $($(#[doc = $doc:literal])* $extra:ident,)* }
     scalar { $(($op:ident, $on:ident, $lane:expr))* }
     ints { $(($i:ident, $it:ty, $if:path, $iif:ident, $iback:ident, $istep:ident, $iother:ident, $imirror:ident))* }
     floats { $(($f:ident, $ft:ty, $ff:path, $fif:ident, $funless:ident, $fback:ident, $fbackunless:ident, $fmirror:ident))* }) => {
        /// What an instruction does.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub(crate) enum HostOp {
            $($(#[doc = $doc])* $extra,)*
            $($l, $le, $ls, $lu, $ll, $la, $lq, $lm,)*
            $($s, $se, $ss, $su, $sl, $sa, $sq, $sm,)*
            $($test, $teste,)*
            $($ftest, $fteste, $ftunless, $ftunlesse,)*
            $($update, $updates,)*
            $($db, $de, $ds, $du, $dl, $da, $dq, $dm,)*
            $($iif, $iback, $istep,)*
            $($fif, $funless, $fback, $fbackunless,)*
            $($op,)*
        }

        impl HostOp {
            /// The same operation in this form, for one that only computes.
            pub(crate) fn of(op: Op) -> Option<HostOp> {
                Some(match op {
                    $(Op::$op => HostOp::$op,)*
                    _ => return None,
                })
            }

            /// The jumps on a loaded value, taken if the comparison gives `sense`. The load has only a base, or an
            /// index that counts elements.
            pub(crate) fn tests(load: HostOp, comparison: HostOp, sense: bool) -> Option<[HostOp; 2]> {
                let compared = match sense {
                    true => comparison,
                    false => comparison.opposite().unwrap_or(comparison),
                };
                Some(match (load, compared, sense) {
                    $((HostOp::$tl, HostOp::$tc, _) => [HostOp::$test, HostOp::$teste],)*
                    $((HostOp::$ftl, HostOp::$ftc, true) => [HostOp::$ftest, HostOp::$fteste],
                      (HostOp::$ftl, HostOp::$ftc, false) => [HostOp::$ftunless, HostOp::$ftunlesse],)*
                    _ => return None,
                })
            }

            /// Whether it is one of those.
            pub(crate) fn is_test(self) -> bool {
                matches!(self, $(HostOp::$test | HostOp::$teste)|*
                    $(| HostOp::$ftest | HostOp::$fteste | HostOp::$ftunless | HostOp::$ftunlesse)*)
            }

            /// The operations on a value in memory, and their width. The access has only a base, or an index with a
            /// scale.
            pub(crate) fn updates(op: Op) -> Option<([HostOp; 2], u32)> {
                Some(match op {
                    $(Op::$up => ([HostOp::$update, HostOp::$updates], size_of::<$ut>() as u32),)*
                    _ => return None,
                })
            }

            /// The operations on a loaded value, by how the address is computed, in the same order as loads.
            pub(crate) fn fed(load: HostOp, operation: HostOp) -> Option<[HostOp; 8]> {
                Some(match (load, operation) {
                    $((HostOp::$fl, HostOp::$fk) => [HostOp::$db, HostOp::$de, HostOp::$ds, HostOp::$du, HostOp::$dl, HostOp::$da, HostOp::$dq, HostOp::$dm],)*
                    _ => return None,
                })
            }

            /// The same comparison with its operands exchanged.
            pub(crate) fn mirrored(self) -> HostOp {
                match self {
                    $(HostOp::$i => HostOp::$imirror,)*
                    $(HostOp::$f => HostOp::$fmirror,)*
                    other => other,
                }
            }

            /// Whether it compares integers of 64 bits.
            pub(crate) fn is_wide(self) -> bool {
                match self {
                    $(HostOp::$i => size_of::<$it>() == 8,)*
                    _ => false,
                }
            }

            /// An access with only a base, by how the address is computed.
            pub(crate) fn forms(self) -> [HostOp; 8] {
                match self {
                    $(HostOp::$l => [HostOp::$l, HostOp::$le, HostOp::$ls, HostOp::$lu, HostOp::$ll, HostOp::$la, HostOp::$lq, HostOp::$lm],)*
                    $(HostOp::$s => [HostOp::$s, HostOp::$se, HostOp::$ss, HostOp::$su, HostOp::$sl, HostOp::$sa, HostOp::$sq, HostOp::$sm],)*
                    other => [other; 8],
                }
            }

            /// The integer comparison that holds where this one does not.
            pub(crate) fn opposite(self) -> Option<HostOp> {
                match self {
                    $(HostOp::$i => Some(HostOp::$iother),)*
                    _ => None,
                }
            }

            /// The jump that is taken if a comparison gives `sense`, the same jump at a loop's end, and the same after
            /// a step.
            pub(crate) fn jumps(self, sense: bool) -> Option<(HostOp, HostOp, Option<HostOp>)> {
                match (self, sense) {
                    $((HostOp::$i, true) => Some((HostOp::$iif, HostOp::$iback, Some(HostOp::$istep))),)*
                    $((HostOp::$i, false) => HostOp::$iother.jumps(true),)*
                    $((HostOp::$f, true) => Some((HostOp::$fif, HostOp::$fback, None)),)*
                    $((HostOp::$f, false) => Some((HostOp::$funless, HostOp::$fbackunless, None)),)*
                    _ => None,
                }
            }
        }
    };
}

macro_rules! with_accesses {
    ({ $($extra:tt)* } $($accesses:tt)*) => {
        lane_ops! { lane_arms! { host_jumps! { define_host_ops! { { $($accesses)* } $($extra)* } } } }
    };
}

host_accesses! { with_accesses! {
    /// Left to the first form.
    Plain,
    /// Calls row `x` of the function's calls. The weight counts.
    Call,
    /// Returns to the caller, with `S[a]` if `b` is 1. The weight counts.
    Return,
    /// Left to the first form if there may be an uninitialised variable.
    Asleep,
    /// Left to the first form if `S[b]` is 0.
    NonZero,
    /// Left to the first form unless `0 <= S[a] < x`: 32 bits, 64 bits.
    Within32, Within64,
    /// `S[d] = S[a] * S[b] + S[c]` for integers.
    MulAdd32, MulAdd64,
    /// The same for floating-point numbers, rounded twice. `AddMul`: the product is the second operand of the sum.
    FMulAdd32, FMulAdd64, FAddMul64,
    /// `S[d] = S[a] + S[b] * scale + offset`: row `x` of the function's scales.
    PtrS, PtrU, PtrL,
    /// `S[d] = S[S_STACK] + x`.
    Local,
    /// Jumps by `x`.
    Jump, IfNot, If,
    /// Counts its weight.
    Tick,
    /// The next round of a loop; with its step `S[d] = S[a] + S[c]` before.
    Back, BackAdd32, BackAdd64,
    /// Truth values.
    LoadBool, StoreBool,
} }

/// One instruction.
///
/// An access has the value in `d`, the base in `a`, the index in `b`, its (signed) scale in `c`, and its site in `x` as
/// an offset in bytes. For a sum, the scale is the access's width, and `c` is the other summand. For a product, `b` and
/// `c` are the factors, and `weight` names the summand.
///
/// A jump on a loaded value compares it with `S[c]`. The low half of `x` is its site, and the high half the jump's
/// distance. An operation on a value in memory has its second operand in `d`. An operation on a loaded value has its
/// other operand in the high half of `x`, and the site in the low half.
///
/// A jump goes to the instruction `x` after the next one. A step adds `S[c]` to `S[a]`, puts the result into `S[d]`,
/// and compares it with `S[b]`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct HostInst {
    pub(crate) op: HostOp,
    pub(crate) weight: u16,
    pub(crate) d: u16,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    pub(crate) x: u32,
}

impl HostInst {
    /// An instruction of the first form with the same registers, for operations that only compute. It exists only
    /// until these are inlined.
    #[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
    #[inline(always)]
    pub(crate) fn wide(&self) -> Inst {
        Inst {
            op: Op::SMove,
            weight: 0,
            d: self.d.into(),
            a: self.a.into(),
            b: self.b.into(),
            c: self.c.into(),
        }
    }
}

/// What an instruction stands for in the first form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The place where the first form continues with it.
    pub(crate) pc: u32,
    /// The instructions of the first form that have to be repeated before: start and length in [`HostCode::again`].
    pub(crate) again: (u32, u32),
    /// The weight that counts as executed then, in addition to what was counted.
    pub(crate) weight: u32,
}

/// The constant part of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostSite {
    /// Its row in the function's sites.
    pub(crate) row: u32,
    /// The offset added to base and index.
    pub(crate) offset: i64,
    /// If the base is the frame's address plus an offset: that offset.
    pub(crate) local: Option<u32>,
    /// Whether it depends on the position of the frame.
    pub(crate) is_local: bool,
}

/// A host function in this form.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostCode {
    pub(crate) insts: Vec<HostInst>,
    /// The origin of each instruction.
    pub(crate) origins: Vec<Origin>,
    pub(crate) again: Vec<u32>,
    pub(crate) sites: Vec<HostSite>,
    /// By instruction of the first form: the instruction here at which it continues, or [`NO_ENTRY`].
    pub(crate) entries: Vec<u32>,
    /// Registers after those of the first form, and their values.
    pub(crate) constants: Vec<(u32, u64)>,
    /// Whether there are accesses to variables on the stack by name.
    pub(crate) has_locals: bool,
}

impl HostCode {
    /// The code of a function with this many instructions that runs only in the first form.
    pub(crate) fn none(instructions: usize) -> HostCode {
        HostCode {
            entries: vec![NO_ENTRY; instructions],
            ..HostCode::default()
        }
    }
}

/// The distance of two sites in bytes. An access names its site by its offset.
pub(crate) const SITE_BYTES: u32 = 64;

/// Execution cannot enter here, because it is within an instruction of this form.
pub(crate) const NO_ENTRY: u32 = u32::MAX;
