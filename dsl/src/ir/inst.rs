//! Instructions: what they take, what they give, and what exactly they mean.

use std::fmt;

use super::{
    Exchange, FuncId, HostFn, Intrinsic, LocId, LocalId, MemType, Object, SlotId, Space,
    SpecialReg, StringId, Type, ValueId,
};

/// A constant of a type. `bits` holds the value's bits, zero-extended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Const {
    /// Its type.
    pub ty: Type,
    /// Its bits: `f32` in the low half, `i1` as 0 or 1, pointers as addresses (0 is null).
    pub bits: u64,
}

impl Const {
    /// A truth value.
    pub fn bool(value: bool) -> Const {
        Const {
            ty: Type::I1,
            bits: value as u64,
        }
    }
    /// An `i32`.
    pub fn i32(value: i32) -> Const {
        Const {
            ty: Type::I32,
            bits: value as u32 as u64,
        }
    }
    /// An `i64`.
    pub fn i64(value: i64) -> Const {
        Const {
            ty: Type::I64,
            bits: value as u64,
        }
    }
    /// An `f32`.
    pub fn f32(value: f32) -> Const {
        Const {
            ty: Type::F32,
            bits: value.to_bits() as u64,
        }
    }
    /// An `f64`.
    pub fn f64(value: f64) -> Const {
        Const {
            ty: Type::F64,
            bits: value.to_bits(),
        }
    }
    /// The null pointer.
    pub fn null(space: Space) -> Const {
        Const {
            ty: Type::Ptr(space),
            bits: 0,
        }
    }
}

/// A temporary or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// `%3`.
    Value(ValueId),
    /// `7`, `1.5`.
    Const(Const),
}

/// An instruction, its results and its place: `%5 = add.i32 %3, 1 !7`.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// What it gives: none, one, or one per component for vector loads.
    pub results: Vec<ValueId>,
    /// What it does.
    pub kind: InstKind,
    /// Where it comes from.
    pub loc: LocId,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Of each component.
    pub ty: MemType,
    /// Components: 1, 2 or 4. One access of `count * ty.bytes()` bytes (at most 16), aligned to its width.
    pub count: u8,
    /// The space, as far as known. It is the space of the pointer's type.
    pub space: Space,
    /// `volatile`.
    pub volatile: bool,
    /// An atomic that is one among the threads of its block only, as `atomicAdd_block`: `atomic.add.i32.global.block`.
    pub block_scope: bool,
    /// `__ldg`: nobody may write there while the kernel runs. `load.f32.global.readonly`.
    pub read_only: bool,
    /// When the source indexes a declared array (or names a declared variable) directly, that one: the access is checked
    /// against its bounds, not only against the memory's.
    pub object: Option<Object>,
    /// When the last index of the pointer is a subscript of an array that is part of something: how many elements there are. Else 0.
    /// Either it is the innermost dimension of several, and an index beyond it is another row's element:
    /// `store.i32.shared %3, 1 of shared0 within 33`.
    pub row_len: u32,
    /// Or the array is a member, or a reference's, and an index beyond it is another member's: `load.i32.global %3 within member 4`.
    pub is_member: bool,
}

impl Access {
    /// Bytes per lane.
    pub fn width_bytes(self) -> u32 {
        self.ty.bytes() * self.count as u32
    }
}

/// What an instruction does.
#[derive(Clone, PartialEq, Debug)]
pub enum InstKind {
    /// `%1 = get $x`: the variable's value now.
    Get(SlotId),
    /// `set $x, %1`: for the active lanes.
    Set(SlotId, Operand),
    /// `%1 = neg.i32 %0`.
    Unary(UnaryOp, Type, Operand),
    /// `%2 = add.i32 %0, %1`.
    Binary(BinaryOp, Type, Operand, Operand),
    /// `%3 = fma.f32 %0, %1, %2`: `%0 * %1 + %2` rounded once.
    Fma(Type, Operand, Operand, Operand),
    /// `%2 = cmp.slt.i32 %0, %1` gives an `i1`. The type is the operands'.
    Compare(CompareOp, Type, Operand, Operand),
    /// `%3 = select.i32 %c, %0, %1`.
    Select(Type, Operand, Operand, Operand),
    /// `%1 = cvt.i64.i32.sext %0`.
    Convert(ConvertOp, Operand),
    /// `%0 = special.tid.x`.
    Special(SpecialReg),
    /// `%0 = addr shared1`: its space is the object's (`generic` in host functions and for strings).
    AddrOf(Object),
    /// `%3 = ptradd %0, %1 * 4 + 8`: base, index (`i32` is sign-extended to 64 bits, or zero-extended if `unsigned`), scale and offset
    /// in bytes. The result has the base's space.
    PtrAdd {
        /// The address to start from.
        base: Operand,
        /// An `i32` or `i64`; the constant 0 when there is none.
        index: Operand,
        /// An `i32` index is extended with zeros.
        unsigned: bool,
        /// Bytes per index.
        scale_bytes: i64,
        /// Bytes added.
        offset_bytes: i64,
    },
    /// `%1 = load.f32.shared %0`, `%1, %2 = load.f32x2.global %0`.
    Load(Access, Operand),
    /// `store.f32.shared %0, %1`; one value per component. Of several lanes storing to one address the lowest active one's value stays.
    Store(Access, Operand, Vec<Operand>),
    /// `%2 = atomic.add.i32.shared %0, %1`: gives the old value. Lanes are served in ascending order.
    Atomic {
        /// What it does to the memory.
        op: AtomicOp,
        /// `count` is 1; `ty` is I32, I64, F32 or F64.
        access: Access,
        /// Where.
        ptr: Operand,
        /// The operand.
        value: Operand,
        /// For `cas`: what the memory must hold.
        compare: Option<Operand>,
    },
    /// `%2 = shfl.down.f32 %0, 1, 32 sync -1`, `vote.ballot`, `match.any`, `reduce.add`: lanes tell each other values.
    Exchange(Box<Exchange>),
    /// `nanosleep %0`, `%1 = isshared %0`: an instruction of fixed form.
    Intrinsic(Intrinsic, Vec<Operand>),
    /// `barrier`: `__syncthreads()`. With a predicate `%1 = barrier.count %0`, also `.and`, `.or` (all give `i32`).
    Barrier(Option<(BarrierReduce, Operand)>),
    /// `fence.block`, `fence.device`, `fence.system`.
    Fence(FenceScope),
    /// `%0 = printf string2, %1, %2` (gives an `i32`): device printf. Floats are passed as `f64`, small integers as `i32`.
    Printf(StringId, Vec<Operand>),
    /// `assert %0, string1`: the text is the condition's.
    Assert(Operand, StringId),
    /// `begin local3` and `end local3`: the variable of a block or of an inlined function comes to life, or is gone (`false`). Only of
    /// variables whose address is kept somewhere.
    Lifetime(LocalId, bool),
    /// `%0 = call fn2(%1, %2)`: host functions only.
    Call(FuncId, Vec<Operand>),
    /// `%0 = host cudaMalloc(%1, %2)`: host functions only.
    HostCall(HostFn, Vec<Operand>),
    /// `launch fn1 <<<(x, y, z), (x, y, z), shared, stream>>> (%1, …)`: host functions only.
    Launch(Box<Launch>),
}

/// What an instruction does besides giving its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: its operands decide the results (a special register: the thread, and for some when and where).
    Pure,
    /// Reads or sets a variable of the function.
    Variable,
    /// Reads or writes memory.
    Memory,
    /// Hears of other lanes, or waits for them.
    Lanes,
    /// Orders what is before and after it; gives nothing.
    Order,
    /// Anything else that must be done once, where it stands.
    Act,
    /// A call or a launch of the host's.
    Call,
}

/// The functions that an instruction may stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// Kernels and host functions.
    Anywhere,
    /// Kernels.
    Kernel,
    /// Host functions.
    Host,
}

impl InstKind {
    /// What it does besides giving its results.
    pub fn effect(&self) -> Effect {
        match self {
            InstKind::Unary(..)
            | InstKind::Binary(..)
            | InstKind::Fma(..)
            | InstKind::Compare(..)
            | InstKind::Select(..)
            | InstKind::Convert(..)
            | InstKind::Special(_)
            | InstKind::AddrOf(_)
            | InstKind::PtrAdd { .. } => Effect::Pure,
            InstKind::Get(_) | InstKind::Set(..) => Effect::Variable,
            InstKind::Load(..) | InstKind::Store(..) | InstKind::Atomic { .. } => Effect::Memory,
            InstKind::Exchange(_) | InstKind::Barrier(_) => Effect::Lanes,
            InstKind::Fence(_) => Effect::Order,
            InstKind::Printf(..) | InstKind::Assert(..) | InstKind::Lifetime(..) => Effect::Act,
            InstKind::Call(..) | InstKind::HostCall(..) | InstKind::Launch(_) => Effect::Call,
            InstKind::Intrinsic(intrinsic, _) => intrinsic.effect(),
        }
    }

    /// Where it may stand.
    pub fn stands(&self) -> Stands {
        match self {
            InstKind::Special(_)
            | InstKind::Atomic { .. }
            | InstKind::Printf(..)
            | InstKind::Assert(..) => Stands::Kernel,
            InstKind::Intrinsic(intrinsic, _) => intrinsic.stands(),
            InstKind::Lifetime(..) => Stands::Anywhere,
            other => match other.effect() {
                Effect::Pure | Effect::Variable | Effect::Memory | Effect::Act => Stands::Anywhere,
                Effect::Lanes | Effect::Order => Stands::Kernel,
                Effect::Call => Stands::Host,
            },
        }
    }
}

/// `kernel<<<grid, block, shared, stream>>>(args)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y, z: `i32`, read as unsigned.
    pub grid: [Operand; 3],
    /// Threads in x, y, z.
    pub block: [Operand; 3],
    /// Dynamic shared memory: `i64`.
    pub shared_bytes: Operand,
    /// The stream: `i64`, of no meaning to the simulator.
    pub stream: Operand,
    /// `cudaLaunchCooperativeKernel`: all blocks are resident at once, or the launch is refused.
    pub cooperative: bool,
    /// One per [`Param`](super::Param).
    pub args: Vec<Operand>,
}

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
