//! Operations: what an instruction of a family does, each with its word in the IR's text.

use std::fmt;

macro_rules! named {
    ($($(#[doc = $enum_doc:literal])* $enum:ident { $($(#[doc = $doc:literal])* $name:ident = $text:literal,)* })*) => { $(
        $(#[doc = $enum_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $enum { $($(#[doc = $doc])* $name,)* }
        impl $enum {
            /// All of them.
            pub const ALL: &[$enum] = &[$($enum::$name,)*];
            /// As in the IR's text.
            pub fn text(self) -> &'static str { match self { $($enum::$name => $text,)* } }
            /// The one written so.
            pub fn from_text(text: &str) -> Option<$enum> { match text { $($text => Some($enum::$name),)* _ => None } }
        }
        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.text()) }
        }
    )* };
}
pub(super) use named;

named! {
    /// One operand, result of the same type.
    UnaryOp {
        /// Two's complement negation (`i32`, `i64`).
        Neg = "neg",
        /// All bits inverted (`i1`, `i32`, `i64`).
        Not = "not",
        /// Number of set bits.
        Popc = "popc",
        /// Number of leading zeros; the width for 0.
        Clz = "clz",
        /// Bits in reverse order.
        Brev = "brev",
        /// Sign flipped, of NaN too (`f32`, `f64`, as all below).
        FNeg = "fneg",
        /// Sign cleared.
        FAbs = "fabs",
        /// Square root, correctly rounded.
        FSqrt = "fsqrt",
        /// Largest integer not above.
        FFloor = "ffloor",
        /// Smallest integer not below.
        FCeil = "fceil",
        /// Towards zero.
        FTrunc = "ftrunc",
        /// To the nearest integer, halves to even.
        FRint = "frint",
        /// To the nearest integer, halves away from zero.
        FRound = "fround",
    }

    /// Two operands of one type, result of that type.
    BinaryOp {
        /// Wrapping.
        Add = "add",
        /// Wrapping.
        Sub = "sub",
        /// Wrapping, low half.
        Mul = "mul",
        /// High half of the signed product.
        SMulHi = "smulhi",
        /// High half of the unsigned product.
        UMulHi = "umulhi",
        /// Towards zero. By zero: all ones on the device (what hardware gives), a trap on the host. The least value by -1: itself.
        SDiv = "sdiv",
        /// Unsigned; by zero as above.
        UDiv = "udiv",
        /// Sign of the dividend. By zero: the dividend on the device, a trap on the host.
        SRem = "srem",
        /// Unsigned; by zero as above.
        URem = "urem",
        /// Bitwise (`i1` too).
        And = "and",
        /// Bitwise (`i1` too).
        Or = "or",
        /// Bitwise (`i1` too).
        Xor = "xor",
        /// The count is the low 32 bits of the second operand, unsigned; counts of the width or more give 0.
        Shl = "shl",
        /// Counts of the width or more give 0.
        LShr = "lshr",
        /// Counts of the width or more give the sign.
        AShr = "ashr",
        /// Signed minimum.
        SMin = "smin",
        /// Signed maximum.
        SMax = "smax",
        /// Unsigned minimum.
        UMin = "umin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Round to nearest even, denormals kept, as all below.
        FAdd = "fadd",
        /// Difference.
        FSub = "fsub",
        /// Product.
        FMul = "fmul",
        /// Quotient, correctly rounded.
        FDiv = "fdiv",
        /// C's `fmod`: exact, sign of the dividend.
        FRem = "frem",
        /// The other operand if one is NaN; -0 is below +0.
        FMin = "fmin",
        /// The other operand if one is NaN; +0 is above -0.
        FMax = "fmax",
    }

    /// Comparisons. Pointers compare as unsigned addresses (`eq ne ult ule ugt uge`).
    CompareOp {
        /// Equal (`i1` too).
        Eq = "eq",
        /// Not equal (`i1` too).
        Ne = "ne",
        /// Signed less.
        Slt = "slt",
        /// Signed less or equal.
        Sle = "sle",
        /// Signed greater.
        Sgt = "sgt",
        /// Signed greater or equal.
        Sge = "sge",
        /// Unsigned less.
        Ult = "ult",
        /// Unsigned less or equal.
        Ule = "ule",
        /// Unsigned greater.
        Ugt = "ugt",
        /// Unsigned greater or equal.
        Uge = "uge",
        /// Floats, false if either is NaN.
        FEq = "feq",
        /// Floats, true if either is NaN (C's `!=`).
        FNe = "fne",
        /// Less.
        FLt = "flt",
        /// Less or equal.
        FLe = "fle",
        /// Greater.
        FGt = "fgt",
        /// Greater or equal.
        FGe = "fge",
    }

    /// Conversions; each names its own types. Float to integer truncates and saturates; NaN gives 0 from `f32` to 32 bits
    /// and otherwise the highest bit alone (the least value, if signed), as the hardware's `cvt` does.
    ConvertOp {
        /// `i32` → `i64`, sign.
        Sext = "i64.i32.sext",
        /// `i32` → `i64`, zeros.
        Zext = "i64.i32.zext",
        /// `i64` → `i32`, low half.
        Trunc = "i32.i64.trunc",
        /// `i32` → `i32`: low 8 bits, sign-extended.
        Sext8 = "i32.sext8",
        /// `i32` → `i32`: low 8 bits, zero-extended.
        Zext8 = "i32.zext8",
        /// `i32` → `i32`: low 16 bits, sign-extended.
        Sext16 = "i32.sext16",
        /// `i32` → `i32`: low 16 bits, zero-extended.
        Zext16 = "i32.zext16",
        /// `i1` → `i32`, 0 or 1.
        BoolToI32 = "i32.i1",
        /// `i32` signed → `f32`, nearest even.
        S32ToF32 = "f32.s32",
        /// `i32` unsigned → `f32`.
        U32ToF32 = "f32.u32",
        /// `i64` signed → `f32`.
        S64ToF32 = "f32.s64",
        /// `i64` unsigned → `f32`.
        U64ToF32 = "f32.u64",
        /// `i32` signed → `f64`, exact.
        S32ToF64 = "f64.s32",
        /// `i32` unsigned → `f64`, exact.
        U32ToF64 = "f64.u32",
        /// `i64` signed → `f64`.
        S64ToF64 = "f64.s64",
        /// `i64` unsigned → `f64`.
        U64ToF64 = "f64.u64",
        /// `f32` → `i32` signed.
        F32ToS32 = "s32.f32",
        /// `f32` → `i32` unsigned.
        F32ToU32 = "u32.f32",
        /// `f32` → `i64` signed.
        F32ToS64 = "s64.f32",
        /// `f32` → `i64` unsigned.
        F32ToU64 = "u64.f32",
        /// `f64` → `i32` signed.
        F64ToS32 = "s32.f64",
        /// `f64` → `i32` unsigned.
        F64ToU32 = "u32.f64",
        /// `f64` → `i64` signed.
        F64ToS64 = "s64.f64",
        /// `f64` → `i64` unsigned.
        F64ToU64 = "u64.f64",
        /// `f32` → `f64`, exact.
        F32ToF64 = "f64.f32",
        /// `f64` → `f32`, nearest even.
        F64ToF32 = "f32.f64",
        /// The same bits: `f32` → `i32`.
        F32Bits = "i32.f32.bits",
        /// The same bits: `i32` → `f32`.
        BitsToF32 = "f32.i32.bits",
        /// The same bits: `f64` → `i64`.
        F64Bits = "i64.f64.bits",
        /// The same bits: `i64` → `f64`.
        BitsToF64 = "f64.i64.bits",
        /// A pointer of any space → the `i64` of its generic address.
        PtrToInt = "i64.ptr",
        /// `i64` → generic pointer.
        IntToPtr = "ptr.i64",
        /// A pointer of a known space → generic; always possible.
        ToGeneric = "ptr.generic",
        /// Generic → global. Undefined when it points elsewhere (the machine then traps at the access), as the next two.
        ToGlobal = "ptr.global",
        /// Generic → shared.
        ToShared = "ptr.shared",
        /// Generic → local.
        ToLocal = "ptr.local",
    }

    /// Read-modify-write operations.
    AtomicOp {
        /// Wrapping for integers; rounded for floats.
        Add = "add",
        /// Old value minus operand.
        Sub = "sub",
        /// Signed minimum.
        SMin = "smin",
        /// Signed maximum.
        SMax = "smax",
        /// Unsigned minimum.
        UMin = "umin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The operand.
        Exch = "exch",
        /// The operand if the old value equals `compare`.
        Cas = "cas",
        /// `old >= operand ? 0 : old + 1` (unsigned).
        Inc = "inc",
        /// `old == 0 || old > operand ? operand : old - 1` (unsigned).
        Dec = "dec",
    }

    /// What a barrier computes over the block's predicates.
    BarrierReduce {
        /// `__syncthreads_count`.
        Count = "count",
        /// `__syncthreads_and`.
        And = "and",
        /// `__syncthreads_or`.
        Or = "or",
    }

    /// Who must see the writes before a fence.
    FenceScope {
        /// `__threadfence_block`.
        Block = "block",
        /// `__threadfence`.
        Device = "device",
        /// `__threadfence_system`.
        System = "system",
    }
}
