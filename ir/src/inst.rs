//! Instructions: their operands, their results, and their exact meaning.
//!
//! [`InstKind`] is declared by a table with a row for each instruction:
//!
//! ```text
//! /// `%2 = cmp.slt.i32 %0, %1`
//! Compare(op: CompareOp, ty: Type, a: Operand, b: Operand)     the variant; every `Operand` in it is an operand, in this order
//!     ["cmp".op.ty (a: ty, b: ty)]                             its text
//!     -> Type::I1,                                             its result: a type, several, or none: `()`
//!     Pure,                                                    its effect
//!     Anywhere;                                                the functions that may contain it
//! ```
//!
//! The text is a word and its suffixes, each either literal or a field, then the remaining fields, separated by commas. After an operand's
//! colon is the expression that fixes its type: a constant of that type is written without it. `of access` ends the text of an access with
//! its object: ` of shared0 within 33`. If a text has another form, `by hand` names the pair of functions in `by_hand` that write and read
//! it, and the words that it begins with.
//!
//! A result is a type, or something that has one: a variable, an object, an operand, a function.

mod by_hand;
mod declare;
mod text;

use std::fmt::Write;
use std::mem::take;

use super::op::{AtomicOp, BarrierReduce, BinaryOp, CompareOp, ConvertOp, FenceScope, UnaryOp};
use super::parse::{Cursor, Result};
use super::print::put;
use super::typing::{ANY, Gives, Takes};
use super::visit::Operands;
use super::{
    Exchange, FuncId, Function, HostFn, Intrinsic, LocId, LocalId, MemType, Module, Object,
    RoutineId, SlotId, Space, SpecialReg, StringId, Type, ValueId,
};
use declare::{instructions, read_row, takes, write_row};
use text::{Arg, Word, read_object, suffixes, write_object};

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
    /// The results: none, one, or one per component for vector loads.
    pub results: Vec<ValueId>,
    /// The operation.
    pub kind: InstKind,
    /// Its place in the source.
    pub loc: LocId,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The type of each component.
    pub ty: MemType,
    /// Components: 1, 2 or 4. One access of `count * ty.bytes()` bytes (at most 16), aligned to its width.
    pub count: u8,
    /// The space, as far as known, which is also in the pointer's type.
    pub space: Space,
    /// `volatile`.
    pub volatile: bool,
    /// An atomic that is only atomic among the threads of its block, as `atomicAdd_block`: `atomic.add.i32.global.block`.
    pub block_scope: bool,
    /// `__ldg`: no thread may write there while the kernel runs. `load.f32.global.readonly`.
    pub read_only: bool,
    /// A load of an integer of which the store that follows keeps some bits: `load.i32.local.partial`. Uninitialised bytes read as 0, and
    /// that is not an error.
    pub partial: bool,
    /// An atomic for which the assembler adds up the lanes with equal addresses first, so that each address is accessed once:
    /// `atomic.add.i32.shared.merged`. It changes what the access costs, not what it does.
    pub merged: bool,
    /// The address is a multiple of this, if that is more than the width: it is in a record that is aligned so. Else 0. A power of two:
    /// `load.f32.global.align16`. A compiler may make one access of neighbours then.
    pub align_bytes: u32,
    /// The declared array or variable, if the source accesses it directly: the access is checked against its bounds, not only against the
    /// memory's.
    pub object: Option<Object>,
    /// The number of elements, if the last index of the pointer is a subscript of an array that is part of a larger object. Else 0. Either
    /// the array is the innermost dimension of several, and an index beyond it is an element of another row:
    /// `store.i32.shared %3, 1 of shared0 within 33`.
    pub row_len: u32,
    /// Or it is a member, or belongs to a reference, and an index beyond it is another member: `load.i32.global %3 within member 4`.
    pub is_member: bool,
}

impl Access {
    /// Bytes per lane.
    pub fn width_bytes(self) -> u32 {
        self.ty.bytes() * self.count as u32
    }

    /// The type of its pointer.
    pub fn pointer_type(self) -> Type {
        Type::Ptr(self.space)
    }

    /// The type of a component's value.
    pub fn value_type(self) -> Type {
        self.ty.value_type()
    }

    /// The results of a load: a value per component.
    fn result_types(self) -> Vec<Type> {
        vec![self.value_type(); self.count as usize]
    }
}

/// What an instruction does besides giving its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: its operands determine the results (for a special register: the thread, and for some the time and place).
    Pure,
    /// Reads or sets a variable of the function.
    Variable,
    /// Reads or writes memory.
    Memory,
    /// Depends on other lanes, or waits for them.
    Lanes,
    /// Orders the code before and after it; has no result.
    Order,
    /// Anything else that must be done exactly once, at its place.
    Act,
    /// A call or a launch.
    Call,
}

/// The kinds of functions that may contain an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// Kernels and host functions.
    Anywhere,
    /// Kernels.
    Kernel,
    /// Host functions.
    Host,
}

instructions! {
    /// `%1 = get $x`: the variable's current value.
    Get(slot: SlotId)
        ["get" (slot)] -> slot, Variable, Anywhere;
    /// `set $x, %1`: for the active lanes.
    Set(slot: SlotId, value: Operand)
        ["set" (slot, value: slot)] -> (), Variable, Anywhere;
    /// `%1 = neg.i32 %0`.
    Unary(op: UnaryOp, ty: Type, a: Operand)
        [op.ty (a: ty)] -> ty, Pure, Anywhere;
    /// `%2 = add.i32 %0, %1`.
    Binary(op: BinaryOp, ty: Type, a: Operand, b: Operand)
        [op.ty (a: ty, b: ty)] -> ty, Pure, Anywhere;
    /// `%3 = fma.f32 %0, %1, %2`: `%0 * %1 + %2` rounded once.
    Fma(ty: Type, a: Operand, b: Operand, c: Operand)
        ["fma".ty (a: ty, b: ty, c: ty)] -> ty, Pure, Anywhere;
    /// `%3 = fma_halves %0, %1, %2`: the same for the low halves and for the high halves of three words ([`half`](super::half)).
    FmaHalves(a: Operand, b: Operand, c: Operand)
        ["fma_halves" (a: Type::I32, b: Type::I32, c: Type::I32)] -> Type::I32, Pure, Anywhere;
    /// `%3 = fma_bfloats %0, %1, %2`: the same for two bfloat16 in each word ([`bfloat16`](super::bfloat16)).
    FmaBfloats(a: Operand, b: Operand, c: Operand)
        ["fma_bfloats" (a: Type::I32, b: Type::I32, c: Type::I32)] -> Type::I32, Pure, Anywhere;
    /// `%2 = cmp.slt.i32 %0, %1` yields an `i1`. The type is that of the operands.
    Compare(op: CompareOp, ty: Type, a: Operand, b: Operand)
        ["cmp".op.ty (a: ty, b: ty)] -> Type::I1, Pure, Anywhere;
    /// `%3 = select.i32 %c, %0, %1`.
    Select(ty: Type, cond: Operand, a: Operand, b: Operand)
        ["select".ty (cond: Type::I1, a: ty, b: ty)] -> ty, Pure, Anywhere;
    /// `%1 = cvt.i64.i32.sext %0`.
    Convert(op: ConvertOp, a: Operand)
        ["cvt".op (a: op.from_type())] -> op.to_type(), Pure, Anywhere;
    /// `%0 = special.tid.x`.
    Special(register: SpecialReg)
        ["special".register] -> register.ty(), Pure, Kernel;
    /// `%0 = addr shared1`: its space is the object's (`generic` in host functions and for strings).
    AddrOf(object: Object)
        ["addr" (object)] -> object, Pure, Anywhere;
    /// `%3 = ptradd %0, %1 * 4 + 8`: base, index (`i32` is sign-extended to 64 bits, or zero-extended if `unsigned`), scale and offset
    /// in bytes. The result has the base's space.
    PtrAdd {
        /// The address to start from.
        base: Operand,
        /// An `i32` or `i64`; the constant 0 if there is none.
        index: Operand,
        /// An `i32` index is extended with zeros.
        unsigned: bool,
        /// Bytes per index.
        scale_bytes: i64,
        /// Bytes added.
        offset_bytes: i64,
    }
        [by hand ptr_add: "ptradd"] -> base, Pure, Anywhere;
    /// `%1 = load.f32.shared %0`, `%1, %2 = load.f32x2.global %0`.
    Load(access: Access, ptr: Operand)
        ["load".access (ptr: access.pointer_type()) of access] -> access.result_types(), Memory, Anywhere;
    /// `store.f32.shared %0, %1`; one value per component. If several lanes store to one address, the value of the lowest active one stays.
    Store(access: Access, ptr: Operand, values: Vec<Operand>)
        ["store".access (ptr: access.pointer_type(), values: access.value_type()) of access] -> (), Memory, Anywhere;
    /// `%2 = atomic.add.i32.shared %0, %1`: yields the old value. Lanes are processed in ascending order.
    Atomic {
        /// The operation on the memory.
        op: AtomicOp,
        /// `count` is 1; `ty` is I32, I64, F32 or F64.
        access: Access,
        /// The address.
        ptr: Operand,
        /// The operand.
        value: Operand,
        /// For `cas`, what the memory must hold: `atomic.cas.i32.shared %0, %1 when %2`.
        compare: Option<Operand>,
    }
        ["atomic".op.access (ptr: access.pointer_type(), value: access.value_type(), compare: access.value_type()) of access]
        -> access.value_type(), Memory, Kernel;
    /// `%2 = shfl.down.f32 %0, 1, 32 sync -1`, `vote.ballot`, `match.any`, `reduce.add`: lanes send each other values.
    Exchange(exchange: Box<Exchange>)
        [by hand exchange: "shfl", "vote", "match", "reduce"] -> exchange.result_types(), Lanes, Kernel;
    /// `nanosleep %0`, `%1 = isshared %0`: an instruction of fixed form.
    Intrinsic(intrinsic: Intrinsic, args: Vec<Operand>)
        [intrinsic (args: intrinsic.operands())] -> intrinsic.result(), intrinsic.effect(), intrinsic.stands();
    /// `barrier`: `__syncthreads()`. With a predicate `%1 = barrier.count %0`, also `.and`, `.or` (all yield `i32`).
    Barrier(reduce: Option<(BarrierReduce, Operand)>)
        [by hand barrier: "barrier"] -> reduce.map(|_| Type::I32), Lanes, Kernel;
    /// `fence.block`, `fence.device`, `fence.system`.
    Fence(scope: FenceScope)
        ["fence".scope] -> (), Order, Kernel;
    /// `acqrel.block`, `acqrel.device`, `acqrel.system`: a fence for `cuda::atomic`'s orders weaker than `seq_cst`. It acquires and
    /// releases, but has no place in the total order of all `fence`s.
    AcqRelFence(scope: FenceScope)
        ["acqrel".scope] -> (), Order, Kernel;
    /// `%0 = printf string2, %1, %2` (yields an `i32`): device printf. Floats are passed as `f64`, small integers as `i32`.
    Printf(format: StringId, args: Vec<Operand>)
        ["printf" (format, args: ANY)] -> Type::I32, Act, Kernel;
    /// `assert %0, string1`: the text is that of the condition.
    Assert(cond: Operand, text: StringId)
        ["assert" (cond: Type::I1, text)] -> (), Act, Kernel;
    /// `unsupported string1`: an instruction that dslc cannot run; the text says which. It is an error when a lane executes it.
    Unsupported(text: StringId)
        ["unsupported" (text)] -> (), Act, Kernel;
    /// `begin local3` and `end local3`: the lifetime of a variable of a block or an inlined function begins, or ends (`false`). Only for
    /// variables whose address is kept somewhere.
    Lifetime(local: LocalId, begins: bool)
        [by hand lifetime: "begin", "end"] -> (), Act, Anywhere;
    /// `%0 = call fn2(%1, %2)`: host functions only.
    Call(callee: FuncId, args: Vec<Operand>)
        [by hand call: "call"] -> callee, Call, Host;
    /// `%0, %1 = call R0(%2)`: the active lanes run a routine of the kernel.
    CallRoutine(callee: RoutineId, args: Vec<Operand>)
        [by hand call_routine: "call"] -> callee, Call, Kernel;
    /// `%0 = host cudaMalloc(%1, %2)`: host functions only.
    HostCall(host: HostFn, args: Vec<Operand>)
        [by hand host_call: "host"] -> host.result(), Call, Host;
    /// `launch fn1 <<<(x, y, z), (x, y, z), shared, stream>>> (%1, …)`: by the host, or by each active lane of a kernel.
    Launch(launch: Box<Launch>)
        [by hand launch: "launch"] -> (), Call, Anywhere;
}

impl InstKind {
    /// Whether it only computes a scalar from the lane's own scalars: [`eval`](super::eval) defines the result.
    pub fn is_scalar_op(&self) -> bool {
        matches!(
            self,
            InstKind::Unary(..)
                | InstKind::Binary(..)
                | InstKind::Fma(..)
                | InstKind::FmaHalves(..)
                | InstKind::FmaBfloats(..)
                | InstKind::Compare(..)
                | InstKind::Select(..)
                | InstKind::Convert(..)
        )
    }

    /// Whether a compiler must not keep values from memory across it: other threads, or code that it does not see, may write in between.
    pub fn ends_what_is_kept(&self) -> bool {
        match self.effect() {
            Effect::Pure | Effect::Variable => false,
            Effect::Memory => matches!(self, InstKind::Atomic { .. }),
            Effect::Lanes | Effect::Order | Effect::Call => true,
            Effect::Act => match self {
                InstKind::Assert(..) | InstKind::Unsupported(_) | InstKind::Lifetime(..) => false,
                // After these there is nothing.
                InstKind::Intrinsic(
                    Intrinsic::Trap | Intrinsic::BadCall | Intrinsic::BadObject,
                    _,
                ) => false,
                _ => true,
            },
        }
    }

    /// Its memory access, and the pointer of that. An instruction has one exactly if its effect is [`Effect::Memory`].
    pub fn access(&self) -> Option<(&Access, &Operand)> {
        match self {
            InstKind::Load(access, ptr)
            | InstKind::Store(access, ptr, _)
            | InstKind::Atomic { access, ptr, .. } => Some((access, ptr)),
            other => {
                debug_assert_ne!(
                    other.effect(),
                    Effect::Memory,
                    "an access that is not counted"
                );
                None
            }
        }
    }
}

/// `kernel<<<grid, block, shared, stream>>>(args)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y, z: `i32`, read as unsigned.
    pub grid: [Operand; 3],
    /// Threads in x, y, z.
    pub block: [Operand; 3],
    /// Dynamic shared memory: `i64`.
    pub shared_bytes: Operand,
    /// The stream: `i64`, which the simulator ignores.
    pub stream: Operand,
    /// `cudaLaunchCooperativeKernel`: all blocks are resident at once, or the launch is rejected.
    pub cooperative: bool,
    /// One per [`Param`](super::Param).
    pub args: Vec<Operand>,
}
