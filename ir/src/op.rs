//! Operations of the families of instructions. Each has a row: its word in the IR's text, and its types.

use std::fmt;

use super::{MemType, Space, Type};

macro_rules! named {
    ($($(#[doc = $enum_doc:literal])* $enum:ident { $($(#[doc = $doc:literal])* $name:ident = $text:literal,)* })*) => { $(
        $(#[doc = $enum_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $enum { $($(#[doc = $doc])* $name,)* }
        impl $enum {
            /// All of them.
            pub const ALL: &[$enum] = &[$($enum::$name,)*];
            /// The word in the IR's text.
            pub fn text(self) -> &'static str { match self { $($enum::$name => $text,)* } }
            /// The one with this word.
            pub fn from_text(text: &str) -> Option<$enum> { match text { $($text => Some($enum::$name),)* _ => None } }
        }
        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.text()) }
        }
    )* };
}
pub(super) use named;

/// Names of operations, each with a test of its types.
macro_rules! operations {
    ($($(#[doc = $enum_doc:literal])* $enum:ident of $of:ident {
        $($(#[doc = $doc:literal])* $name:ident = $text:literal for $types:ident,)*
    })*) => { $(
        named! { $(#[doc = $enum_doc])* $enum { $($(#[doc = $doc])* $name = $text,)* } }
        impl $enum {
            /// Whether the operation exists for that type (of the operands, the first one if they differ, or in memory).
            pub fn accepts(self, ty: $of) -> bool { match self { $($enum::$name => $types(ty),)* } }
        }
    )* };
}

/// Names of conversions, with the types of operand and result.
macro_rules! conversions {
    ($(#[doc = $enum_doc:literal])* $enum:ident {
        $($(#[doc = $doc:literal])* $name:ident = $text:literal: $from:expr => $to:expr,)*
    }) => {
        named! { $(#[doc = $enum_doc])* $enum { $($(#[doc = $doc])* $name = $text,)* } }
        impl $enum {
            /// The operand's type. `PtrToInt` and `ToGeneric` take pointers of any space; for them this is generic.
            pub fn from_type(self) -> Type { use Type::*; match self { $($enum::$name => $from,)* } }
            /// The result's type.
            pub fn to_type(self) -> Type { use Type::*; match self { $($enum::$name => $to,)* } }
        }
    };
}

fn int(ty: Type) -> bool {
    ty.is_int()
}

fn int_or_bool(ty: Type) -> bool {
    ty.is_int() || ty == Type::I1
}

fn float(ty: Type) -> bool {
    ty.is_float()
}

fn word(ty: Type) -> bool {
    ty == Type::I32
}

fn single(ty: Type) -> bool {
    ty == Type::F32
}

fn not_float(ty: Type) -> bool {
    !ty.is_float()
}

fn int_or_pointer(ty: Type) -> bool {
    ty.is_int() || matches!(ty, Type::Ptr(_))
}

fn i32_in_memory(ty: MemType) -> bool {
    ty == MemType::I32
}

fn int_in_memory(ty: MemType) -> bool {
    matches!(ty, MemType::I32 | MemType::I64)
}

fn int_or_u16_in_memory(ty: MemType) -> bool {
    int_in_memory(ty) || ty == MemType::U16
}

fn number_in_memory(ty: MemType) -> bool {
    int_in_memory(ty) || matches!(ty, MemType::F32 | MemType::F64)
}

operations! {
    /// One operand, result of the same type.
    UnaryOp of Type {
        /// Two's complement negation (`i32`, `i64`).
        Neg = "neg" for int,
        /// All bits inverted (`i1`, `i32`, `i64`).
        Not = "not" for int_or_bool,
        /// `neg` for the source's signed arithmetic, like `sadd`.
        SNeg = "sneg" for int,
        /// Number of set bits.
        Popc = "popc" for int,
        /// Number of leading zeros; the width for 0.
        Clz = "clz" for int,
        /// Bits in reverse order.
        Brev = "brev" for int,
        /// Sign flipped, also of a NaN (`f32`, `f64`, as all below).
        FNeg = "fneg" for float,
        /// Sign cleared.
        FAbs = "fabs" for float,
        /// Square root, correctly rounded.
        FSqrt = "fsqrt" for float,
        /// Largest integer not above.
        FFloor = "ffloor" for float,
        /// Smallest integer not below.
        FCeil = "fceil" for float,
        /// Towards zero.
        FTrunc = "ftrunc" for float,
        /// To the nearest integer, halves to even.
        FRint = "frint" for float,
        /// To the nearest integer, halves away from zero.
        FRound = "fround" for float,
        /// 1 / a, by the GPU's unit, as all below (`f32`; [`approx`](super::approx)): PTX's `rcp.approx.ftz`.
        RcpApprox = "rcp_approx" for single,
        /// 1 / sqrt(a).
        RsqrtApprox = "rsqrt_approx" for single,
        /// sqrt(a).
        SqrtApprox = "sqrt_approx" for single,
        /// 2^a.
        Ex2Approx = "ex2_approx" for single,
        /// log2(a).
        Lg2Approx = "lg2_approx" for single,
        /// sin(a).
        SinApprox = "sin_approx" for single,
        /// cos(a).
        CosApprox = "cos_approx" for single,
        /// tanh(a); `tanh.approx`.
        TanhApprox = "tanh_approx" for single,
    }

    /// Two operands of one type, result of that type.
    BinaryOp of Type {
        /// Wrapping.
        Add = "add" for int,
        /// Wrapping.
        Sub = "sub" for int,
        /// Wrapping, low half.
        Mul = "mul" for int,
        /// `add` for the source's signed arithmetic. Here it wraps. But overflow is undefined in CUDA, so device code may give any result
        /// then, and the checks report it.
        SAdd = "sadd" for int,
        /// `sub`, likewise.
        SSub = "ssub" for int,
        /// `mul`, likewise.
        SMul = "smul" for int,
        /// High half of the signed product.
        SMulHi = "smulhi" for int,
        /// High half of the unsigned product.
        UMulHi = "umulhi" for int,
        /// Towards zero. By zero: all ones on the device (as in hardware), a trap on the host. The least value by -1: itself.
        SDiv = "sdiv" for int,
        /// Unsigned; by zero as above.
        UDiv = "udiv" for int,
        /// Sign of the dividend. By zero: the dividend on the device, a trap on the host.
        SRem = "srem" for int,
        /// Unsigned; by zero as above.
        URem = "urem" for int,
        /// Bitwise (`i1` too).
        And = "and" for int_or_bool,
        /// Bitwise (`i1` too).
        Or = "or" for int_or_bool,
        /// Bitwise (`i1` too).
        Xor = "xor" for int_or_bool,
        /// The count is the low 32 bits of the second operand, unsigned; counts of the width or more give 0.
        Shl = "shl" for int,
        /// Counts of the width or more give 0.
        LShr = "lshr" for int,
        /// Counts of the width or more give the sign.
        AShr = "ashr" for int,
        /// Signed minimum.
        SMin = "smin" for int,
        /// Signed maximum.
        SMax = "smax" for int,
        /// Unsigned minimum.
        UMin = "umin" for int,
        /// Unsigned maximum.
        UMax = "umax" for int,
        /// Sum of the products of the four bytes of a word and those of another, signed.
        SDot4 = "sdot4" for word,
        /// Unsigned.
        UDot4 = "udot4" for word,
        /// Sum of the products of the two halves of a word and the low two bytes of another, signed.
        SDot2Lo = "sdot2lo" for word,
        /// The same with the high two bytes.
        SDot2Hi = "sdot2hi" for word,
        /// As `sdot2lo`, unsigned.
        UDot2Lo = "udot2lo" for word,
        /// As `sdot2hi`, unsigned.
        UDot2Hi = "udot2hi" for word,
        /// Round to nearest even, denormals kept, as all below.
        FAdd = "fadd" for float,
        /// Difference.
        FSub = "fsub" for float,
        /// Product.
        FMul = "fmul" for float,
        /// Quotient, correctly rounded.
        FDiv = "fdiv" for float,
        /// C's `fmod`: exact, sign of the dividend.
        FRem = "frem" for float,
        /// The other operand if one is NaN; -0 is below +0.
        FMin = "fmin" for float,
        /// The other operand if one is NaN; +0 is above -0.
        FMax = "fmax" for float,
    }

    /// Comparisons. Pointers compare as unsigned addresses (`eq ne ult ule ugt uge`).
    CompareOp of Type {
        /// Equal (`i1` too).
        Eq = "eq" for not_float,
        /// Not equal (`i1` too).
        Ne = "ne" for not_float,
        /// Signed less.
        Slt = "slt" for int,
        /// Signed less or equal.
        Sle = "sle" for int,
        /// Signed greater.
        Sgt = "sgt" for int,
        /// Signed greater or equal.
        Sge = "sge" for int,
        /// Unsigned less.
        Ult = "ult" for int_or_pointer,
        /// Unsigned less or equal.
        Ule = "ule" for int_or_pointer,
        /// Unsigned greater.
        Ugt = "ugt" for int_or_pointer,
        /// Unsigned greater or equal.
        Uge = "uge" for int_or_pointer,
        /// Floats, false if either is NaN.
        FEq = "feq" for float,
        /// Floats, true if either is NaN (C's `!=`).
        FNe = "fne" for float,
        /// Less.
        FLt = "flt" for float,
        /// Less or equal.
        FLe = "fle" for float,
        /// Greater.
        FGt = "fgt" for float,
        /// Greater or equal.
        FGe = "fge" for float,
    }
}

impl CompareOp {
    /// The comparison of integers that holds where this one does not; `None` for floats, which may be unordered.
    pub fn opposite(self) -> Option<CompareOp> {
        Some(match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Slt => CompareOp::Sge,
            CompareOp::Sle => CompareOp::Sgt,
            CompareOp::Sgt => CompareOp::Sle,
            CompareOp::Sge => CompareOp::Slt,
            CompareOp::Ult => CompareOp::Uge,
            CompareOp::Ule => CompareOp::Ugt,
            CompareOp::Ugt => CompareOp::Ule,
            CompareOp::Uge => CompareOp::Ult,
            _ => return None,
        })
    }

    /// The comparison with the same result when its operands are swapped.
    pub fn swapped(self) -> CompareOp {
        match self {
            CompareOp::Eq | CompareOp::Ne | CompareOp::FEq | CompareOp::FNe => self,
            CompareOp::Slt => CompareOp::Sgt,
            CompareOp::Sle => CompareOp::Sge,
            CompareOp::Sgt => CompareOp::Slt,
            CompareOp::Sge => CompareOp::Sle,
            CompareOp::Ult => CompareOp::Ugt,
            CompareOp::Ule => CompareOp::Uge,
            CompareOp::Ugt => CompareOp::Ult,
            CompareOp::Uge => CompareOp::Ule,
            CompareOp::FLt => CompareOp::FGt,
            CompareOp::FLe => CompareOp::FGe,
            CompareOp::FGt => CompareOp::FLt,
            CompareOp::FGe => CompareOp::FLe,
        }
    }
}

conversions! {
    /// Conversions with their types. Float to integer truncates and saturates. NaN gives 0 from `f32` to 32 bits and otherwise the highest
    /// bit alone (the least value, if signed), like the hardware's `cvt`.
    ConvertOp {
        /// `i32` → `i64`, sign.
        Sext = "i64.i32.sext": I32 => I64,
        /// `i32` → `i64`, zeros.
        Zext = "i64.i32.zext": I32 => I64,
        /// `i64` → `i32`, low half.
        Trunc = "i32.i64.trunc": I64 => I32,
        /// `i32` → `i32`: low 8 bits, sign-extended.
        Sext8 = "i32.sext8": I32 => I32,
        /// `i32` → `i32`: low 8 bits, zero-extended.
        Zext8 = "i32.zext8": I32 => I32,
        /// `i32` → `i32`: low 16 bits, sign-extended.
        Sext16 = "i32.sext16": I32 => I32,
        /// `i32` → `i32`: low 16 bits, zero-extended.
        Zext16 = "i32.zext16": I32 => I32,
        /// `i1` → `i32`, 0 or 1.
        BoolToI32 = "i32.i1": I1 => I32,
        /// `i32` signed → `f32`, nearest even.
        S32ToF32 = "f32.s32": I32 => F32,
        /// `i32` unsigned → `f32`.
        U32ToF32 = "f32.u32": I32 => F32,
        /// `i64` signed → `f32`.
        S64ToF32 = "f32.s64": I64 => F32,
        /// `i64` unsigned → `f32`.
        U64ToF32 = "f32.u64": I64 => F32,
        /// `i32` signed → `f64`, exact.
        S32ToF64 = "f64.s32": I32 => F64,
        /// `i32` unsigned → `f64`, exact.
        U32ToF64 = "f64.u32": I32 => F64,
        /// `i64` signed → `f64`.
        S64ToF64 = "f64.s64": I64 => F64,
        /// `i64` unsigned → `f64`.
        U64ToF64 = "f64.u64": I64 => F64,
        /// `f32` → `i32` signed.
        F32ToS32 = "s32.f32": F32 => I32,
        /// `f32` → `i32` unsigned.
        F32ToU32 = "u32.f32": F32 => I32,
        /// `f32` → `i64` signed.
        F32ToS64 = "s64.f32": F32 => I64,
        /// `f32` → `i64` unsigned.
        F32ToU64 = "u64.f32": F32 => I64,
        /// `f64` → `i32` signed.
        F64ToS32 = "s32.f64": F64 => I32,
        /// `f64` → `i32` unsigned.
        F64ToU32 = "u32.f64": F64 => I32,
        /// `f64` → `i64` signed.
        F64ToS64 = "s64.f64": F64 => I64,
        /// `f64` → `i64` unsigned.
        F64ToU64 = "u64.f64": F64 => I64,
        /// `f32` → `f64`, exact.
        F32ToF64 = "f64.f32": F32 => F64,
        /// `f64` → `f32`, nearest even.
        F64ToF32 = "f32.f64": F64 => F32,
        /// A half in the low 16 bits of an `i32` → `f32`, exact ([`half`](super::half)).
        F16ToF32 = "f32.f16": I32 => F32,
        /// `f32` → a half, nearest even.
        F32ToF16 = "f16.f32": F32 => I32,
        /// `f32` → a bfloat16, nearest even ([`bfloat16`](super::bfloat16)).
        F32ToBf16 = "bf16.f32": F32 => I32,
        /// The same bits: `f32` → `i32`.
        F32Bits = "i32.f32.bits": F32 => I32,
        /// The same bits: `i32` → `f32`.
        BitsToF32 = "f32.i32.bits": I32 => F32,
        /// The same bits: `f64` → `i64`.
        F64Bits = "i64.f64.bits": F64 => I64,
        /// The same bits: `i64` → `f64`.
        BitsToF64 = "f64.i64.bits": I64 => F64,
        /// A pointer of any space → the `i64` of its generic address.
        PtrToInt = "i64.ptr": Ptr(Space::Generic) => I64,
        /// `i64` → generic pointer.
        IntToPtr = "ptr.i64": I64 => Ptr(Space::Generic),
        /// A pointer of a known space → generic; always possible.
        ToGeneric = "ptr.generic": Ptr(Space::Generic) => Ptr(Space::Generic),
        /// Generic → global. Undefined if it points elsewhere (the machine then traps at the access); so are the next two.
        ToGlobal = "ptr.global": Ptr(Space::Generic) => Ptr(Space::Global),
        /// Generic → shared.
        ToShared = "ptr.shared": Ptr(Space::Generic) => Ptr(Space::Shared),
        /// Generic → local.
        ToLocal = "ptr.local": Ptr(Space::Generic) => Ptr(Space::Local),
    }
}

operations! {
    /// Read-modify-write operations.
    AtomicOp of MemType {
        /// Wrapping for integers; rounded for floats.
        Add = "add" for number_in_memory,
        /// Old value minus operand.
        Sub = "sub" for int_in_memory,
        /// Signed minimum.
        SMin = "smin" for int_in_memory,
        /// Signed maximum.
        SMax = "smax" for int_in_memory,
        /// Unsigned minimum.
        UMin = "umin" for int_in_memory,
        /// Unsigned maximum.
        UMax = "umax" for int_in_memory,
        /// Bitwise and.
        And = "and" for int_in_memory,
        /// Bitwise or.
        Or = "or" for int_in_memory,
        /// Bitwise exclusive or.
        Xor = "xor" for int_in_memory,
        /// Replaces it by the operand.
        Exch = "exch" for number_in_memory,
        /// Replaces it by the operand, without a need for the old value: a store of `cuda::atomic`, which is one access and orders nothing.
        Store = "store" for number_in_memory,
        /// Replaces it by the operand if the old value equals `compare`.
        Cas = "cas" for int_or_u16_in_memory,
        /// `old >= operand ? 0 : old + 1` (unsigned).
        Inc = "inc" for i32_in_memory,
        /// `old == 0 || old > operand ? operand : old - 1` (unsigned).
        Dec = "dec" for i32_in_memory,
    }
}

named! {
    /// The result of a barrier over the block's predicates.
    BarrierReduce {
        /// `__syncthreads_count`.
        Count = "count",
        /// `__syncthreads_and`.
        And = "and",
        /// `__syncthreads_or`.
        Or = "or",
    }

    /// The threads that must see the writes before a fence.
    FenceScope {
        /// `__threadfence_block`.
        Block = "block",
        /// `__threadfence`.
        Device = "device",
        /// `__threadfence_system`.
        System = "system",
    }
}

impl ConvertOp {
    /// Whether the result has the operand's bits, read as another type.
    pub fn keeps_bits(self) -> bool {
        matches!(
            self,
            ConvertOp::F32Bits | ConvertOp::BitsToF32 | ConvertOp::F64Bits | ConvertOp::BitsToF64
        )
    }
}

impl UnaryOp {
    /// The operation with the same result that may overflow.
    pub fn wrapping(self) -> UnaryOp {
        match self {
            UnaryOp::SNeg => UnaryOp::Neg,
            op => op,
        }
    }
}

impl BinaryOp {
    /// The operation with the same result that may overflow.
    pub fn wrapping(self) -> BinaryOp {
        match self {
            BinaryOp::SAdd => BinaryOp::Add,
            BinaryOp::SSub => BinaryOp::Sub,
            BinaryOp::SMul => BinaryOp::Mul,
            op => op,
        }
    }

    /// The operation for the source's signed arithmetic.
    pub fn signed(self) -> BinaryOp {
        match self {
            BinaryOp::Add => BinaryOp::SAdd,
            BinaryOp::Sub => BinaryOp::SSub,
            BinaryOp::Mul => BinaryOp::SMul,
            op => op,
        }
    }
}
