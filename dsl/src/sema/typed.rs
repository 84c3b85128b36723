//! The typed tree: what sema hands to the lowering. Every implicit conversion of C is a node; every name is an id; a value and a
//! place in memory are different things.
//!
//! The lowering can rely on: no `Ty::Error` anywhere if there was no error; operands of arithmetic have the type of the result
//! (shifts: each its own promoted type); conditions are `bool`; arrays are only ever places; a call's arguments have the
//! parameters' types.

use std::sync::Arc;

use super::ty::{QualTy, Record, RecordId, Ty};
use crate::arena::{Arena, ids};
use crate::syntax::ast::Unroll;
use ir::{
    AtomicOp, BarrierReduce, CompareOp, ConvertOp, FenceScope, HostFn, Intrinsic, ReduceOp,
    ShuffleMode, SpecialReg, VoteOp, span::Span,
};

/// A whole program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Records by [`RecordId`].
    pub records: Arena<RecordId, Record>,
    /// Variables at file scope and `static` ones, by [`GlobalVarId`].
    pub globals: Arena<GlobalVarId, Global>,
    /// Functions by [`FunctionId`].
    pub functions: Arena<FunctionId, Function>,
    /// The classes of lambdas, and the function of each: its code.
    pub lambdas: Vec<(RecordId, FunctionId)>,
    /// The classes of generic lambdas.
    pub generic_lambdas: Vec<GenericLambda>,
    /// Instances of templates that the caller asked for: where (in the text that asks), and which function it is.
    pub requested: Vec<(Span, FunctionId)>,
}

/// The class of a lambda whose code is a template.
#[derive(Clone, PartialEq, Debug)]
pub struct GenericLambda {
    /// The class.
    pub class: RecordId,
    /// The lambda, without its body.
    pub span: Span,
    /// Its parameters' types; `auto:1` is the first that an argument decides.
    pub params: String,
}

impl Program {
    /// The record behind an id.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id]
    }
}

ids! {
    /// A variable of a function, parameters included.
    pub struct VarId;
    /// A variable that outlives functions.
    pub struct GlobalVarId;
    /// A function.
    pub struct FunctionId;
}

/// A variable at file scope, or a `static` one in a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// The namespaces that it is in: `a::b`, or nothing.
    pub namespace: Arc<str>,
    /// Its type; complete.
    pub ty: QualTy,
    /// Where it lives.
    pub space: GlobalSpace,
    /// Its initial value: constants and addresses only.
    pub init: Option<Init>,
    /// `__align__(n)`, else the type's.
    pub align_bytes: u64,
    /// Its name in the declaration.
    pub span: Span,
}

/// Where a [`Global`] lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalSpace {
    /// An ordinary variable. Kernels may use it only if it is `const` with a constant value (sema then replaces it by that value).
    Host,
    /// `__device__`.
    Device,
    /// `__managed__`: both sides may use it.
    Managed,
    /// `__constant__`.
    Constant,
    /// `__shared__` at file scope: each kernel that uses it has one.
    Shared,
    /// `extern __shared__ T a[]` at file scope.
    SharedDynamic,
}

impl GlobalSpace {
    /// Whether it lies in the device's memory and has one copy for all kernels.
    pub fn is_device(self) -> bool {
        match self {
            GlobalSpace::Device | GlobalSpace::Managed | GlobalSpace::Constant => true,
            GlobalSpace::Host | GlobalSpace::Shared | GlobalSpace::SharedDynamic => false,
        }
    }
}

/// Where a function may be called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FunctionSpace {
    /// `__global__`.
    Kernel,
    /// `__device__`.
    Device,
    /// Unmarked or `__host__`.
    #[default]
    Host,
    /// `__host__ __device__`.
    HostDevice,
}

/// A function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where it may be called.
    pub space: FunctionSpace,
    /// What it returns; for a function that returns a reference, the pointer to it.
    pub result: Ty,
    /// `T &f()`: each `return` has the address of a place, and a call is only ever what a [`PlaceKind::Deref`] is behind.
    pub returns_reference: bool,
    /// Its parameters, in order.
    pub params: Vec<VarId>,
    /// All its variables.
    pub vars: Arena<VarId, Var>,
    /// `__launch_bounds__`.
    pub launch_bounds: Option<(u32, Option<u32>)>,
    /// In host code another function stands for it: of a call through a pointer, the one that compares with the host's functions.
    pub on_host: Option<FunctionId>,
    /// Its code; `None` if it is declared but not defined (calling it is an error that sema reports).
    pub body: Option<Vec<Stmt>>,
    /// Its name in the definition.
    pub span: Span,
}

/// A variable of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its type; complete.
    pub ty: QualTy,
    /// Where it lives.
    pub storage: Storage,
    /// `&` is applied to it (or to a part of it) somewhere, or it decays to a pointer: it needs memory.
    pub address_taken: bool,
    /// Another name for a place: `ty` is the type of what is there. Its declaration, or the argument for it, is the address
    /// of that place, or of a [`PlaceKind::Temporary`] with a value that lives as long as the reference.
    pub is_reference: bool,
    /// A pointer with `__restrict__`.
    pub is_restrict: bool,
    /// `__align__(n)`, else the type's.
    pub align_bytes: u64,
    /// Its name in the declaration.
    pub span: Span,
}

/// Where a [`Var`] lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// The thread's own.
    Auto,
    /// `__shared__`.
    Shared,
    /// `extern __shared__ T a[]`.
    SharedDynamic,
}

/// A variable of either kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VarRef {
    /// Of the function.
    Local(VarId),
    /// Of the program.
    Global(GlobalVarId),
}

/// A statement and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// The whole.
    pub span: Span,
}

impl Stmt {
    /// The statement at a place of the source.
    pub fn new(kind: StmtKind, span: Span) -> Stmt {
        Stmt { kind, span }
    }
}

/// The statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// For its effects.
    Expr(Value),
    /// The declaration of a variable is reached; without `init` it is undefined from here.
    Declare(VarId, Option<Init>),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// At least one arm.
    If {
        /// Conditions and bodies.
        arms: Vec<(Value, Vec<Stmt>)>,
        /// The final `else`.
        otherwise: Vec<Stmt>,
    },
    /// `while`, `for`: the condition is tested first.
    Loop {
        /// `None` is true.
        cond: Option<Value>,
        /// Tested before the first round too (`while`, `for`), or only after each round (`do`).
        test_first: bool,
        /// The body.
        body: Vec<Stmt>,
        /// Of a `for`, after each round.
        step: Option<Value>,
        /// `#pragma unroll`.
        unroll: Option<Unroll>,
    },
    /// `switch`: the body is cut at its labels; a section runs into the next one unless it breaks.
    Switch {
        /// An `int`, `unsigned`, `long long` or `unsigned long long`.
        value: Value,
        /// Sections in order: the values that enter here (of the type of `value`, as bits), whether `default` does, the statements.
        sections: Vec<SwitchSection>,
    },
    /// Leaves the innermost loop or switch.
    Break,
    /// Goes to the innermost loop's step.
    Continue,
    /// Goes to the end of the [`StmtKind::Labelled`] around it that has this number.
    Goto(u32),
    /// What stands before a label in its block, from where the block begins.
    Labelled {
        /// Number of the label in its function.
        label: u32,
        /// The statements.
        body: Vec<Stmt>,
    },
    /// Leaves the function.
    Return(Option<Value>),
}

/// What stands between two labels of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct SwitchSection {
    /// `case` values.
    pub cases: Vec<u64>,
    /// `default:` is among its labels.
    pub is_default: bool,
    /// The code.
    pub body: Vec<Stmt>,
}

/// An initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// A scalar or a whole record.
    Value(Value),
    /// Members and elements one by one, in order of evaluation.
    Parts {
        /// What is not named is zero.
        zero_rest: bool,
        /// Each with the way to it.
        parts: Vec<(Vec<Step>, Value)>,
    },
    /// `char s[] = "…"`: the bytes, NUL and zero padding included.
    Bytes(Arc<[u8]>),
}

/// One step into an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A member by index.
    Field(u32),
    /// An element.
    Element(u64),
}

/// Something in memory (or in a variable that may live in registers).
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// Which.
    pub kind: PlaceKind,
    /// The type of what is there; its qualifiers include those of the whole it is a part of.
    pub ty: QualTy,
    /// The source of exactly this place: `S[threadIdx.x][threadIdx.y]`. An access to it is counted under this text.
    pub span: Span,
}

impl Place {
    /// The place that an expression names.
    pub fn new(kind: PlaceKind, ty: QualTy, span: Span) -> Place {
        Place { kind, ty, span }
    }
}

/// The places.
#[derive(Clone, PartialEq, Debug)]
pub enum PlaceKind {
    /// A variable.
    Var(VarRef),
    /// `*p`, `p->…`.
    Deref(Box<Value>),
    /// `__ldg(p)`: `*p`, of memory that is read-only while the kernel runs.
    ReadOnly(Box<Value>),
    /// `p[i]` with a pointer; the index is promoted, signed or unsigned, 32 or 64 bits.
    PointerIndex(Box<Value>, Box<Value>),
    /// `a[i]` with an array: the object it belongs to is known.
    ArrayIndex(Box<Place>, Box<Value>),
    /// `s.x`.
    Field(Box<Place>, u32),
    /// `s.x` where `x` is a bit-field: it has no address.
    BitField(Box<Place>, BitField),
    /// A record that is not in memory, to take a member of: `f(x).y`, `make_float4(…).x`.
    Temporary(Box<Value>),
}

/// A bit-field as a member of its record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BitField {
    /// Which member.
    pub index: u32,
    /// How many bits it has.
    pub width: u32,
}

/// A value and its place in the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Which.
    pub kind: ValueKind,
    /// Its type.
    pub ty: Ty,
    /// The whole expression.
    pub span: Span,
}

impl Value {
    /// The value of an expression.
    pub fn new(kind: ValueKind, ty: Ty, span: Span) -> Value {
        Value { kind, ty, span }
    }

    /// What a place holds.
    pub fn load(place: Place, span: Span) -> Value {
        let ty = place.ty.ty.clone();
        Value::new(ValueKind::Load(Box::new(place)), ty, span)
    }
}

/// The values.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueKind {
    /// An integer, `bool` or enum constant: its bits, sign-extended to 64 for signed types.
    Int(u64),
    /// A `float` or `double` constant.
    Float(f64),
    /// A null pointer.
    Null,
    /// What an object of a class with virtual functions has in it to say so: another number in device code than on the host.
    Mark(u64),
    /// The address of a string literal's first character (without the final NUL in `bytes`).
    Str(Arc<[u8]>),
    /// What a place holds; a record is loaded whole.
    Load(Box<Place>),
    /// `&place`.
    AddressOf(Box<Place>),
    /// An array place as a pointer to its first element.
    Decay(Box<Place>),
    /// To `ty` from the operand's type: between arithmetic types, enums, `bool` (≠ 0), pointers, pointers and integers; to `void`.
    Convert(Box<Value>),
    /// `-v`.
    Neg(Box<Value>),
    /// `~v`.
    BitNot(Box<Value>),
    /// `!v` of a `bool`.
    Not(Box<Value>),
    /// Arithmetic on two operands of `ty` (for shifts the count has its own type). Signedness follows `ty`.
    Binary(Arith, Box<Value>, Box<Value>),
    /// Gives a `bool`; operands have one common type (arithmetic or pointer).
    Compare(Relation, Box<Value>, Box<Value>),
    /// `pointer + integer`; the integer is `int`, `unsigned`, or 64 bits. `p - i` has a negated integer.
    PointerAdd(Box<Value>, Box<Value>),
    /// `p - q` in elements: a `long`.
    PointerDiff(Box<Value>, Box<Value>),
    /// `a && b`, `a || b` on `bool`.
    Logical(LogicalOp, Box<Value>, Box<Value>),
    /// `c ? a : b`.
    Conditional(Box<Value>, Box<Value>, Box<Value>),
    /// `a, b`.
    Comma(Box<Value>, Box<Value>),
    /// `place = value`; gives the stored value.
    Assign(Box<Place>, Box<Value>),
    /// `place op= value`: the place is read once, converted to `compute`, combined, converted back, written. For a pointer place
    /// `compute` is the pointer type and `value` an integer.
    CompoundAssign {
        /// `+` of `+=`.
        op: Arith,
        /// What is changed.
        place: Box<Place>,
        /// Already of type `compute` (shifts and pointers: its own promoted type).
        value: Box<Value>,
        /// The type the operation is done in.
        compute: Ty,
    },
    /// `++place`, `place--`: integers, floats, pointers.
    IncDec {
        /// What is changed.
        place: Box<Place>,
        /// `--`.
        decrement: bool,
        /// The value is the new one.
        prefix: bool,
    },
    /// A call of a function of the program.
    Call(FunctionId, Vec<Value>),
    /// A call of something built in.
    Builtin(Builtin, Vec<Value>),
    /// A call of the runtime's; argument types are those of [`HostFn::args`], variadic ones promoted.
    Host(HostFn, Vec<Value>),
    /// The address of a `__constant__` or `__device__` variable as a symbol (for `cudaMemcpyToSymbol`): a pointer.
    Symbol(GlobalVarId),
    /// A kernel named as an argument of a runtime call: an `int`, the IR's function index.
    Kernel(FunctionId),
    /// A kernel launch.
    Launch(Box<Launch>),
    /// A record from its members, in order; missing ones are zero. `make_float4(…)`, `dim3(…)` (sema fills in the ones).
    Aggregate(Vec<Value>),
}

/// `kernel<<<grid, block, shared, stream>>>(args)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: FunctionId,
    /// x, y, z as `unsigned`, or one `dim3`.
    pub grid: Value,
    /// A `dim3`.
    pub block: Value,
    /// Bytes of dynamic shared memory, `size_t`.
    pub shared_bytes: Option<Value>,
    /// The stream, 64 bits.
    pub stream: Option<Value>,
    /// `cudaLaunchCooperativeKernel`.
    pub cooperative: bool,
    /// Of the parameters' types.
    pub args: Vec<Value>,
}

/// Arithmetic operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Comparison operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Short-circuit operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogicalOp {
    And,
    Or,
}

/// What device code (and some of it, host code) can call without a definition.
#[derive(Clone, PartialEq, Debug)]
pub enum Builtin {
    /// `threadIdx.x` …; no arguments; an `unsigned` (`warpSize` is a constant instead).
    Special(SpecialReg),
    /// `__syncthreads()`.
    SyncThreads,
    /// `__syncthreads_count(p)` …; the argument is a `bool`.
    SyncThreadsReduce(BarrierReduce),
    /// `__syncwarp(mask)`, `__trap()`, `__isShared(p)` …
    Intrinsic(Intrinsic),
    /// `__shfl_down_sync(mask, value, delta, width)`: value, lane, width, then the mask if there is one. Of the value's type: any
    /// number of at least 32 bits.
    Shuffle(ShuffleMode),
    /// `__ballot_sync(mask, p)`: a `bool`, then the mask if there is one; gives a `bool` or an `unsigned`.
    Vote(VoteOp),
    /// `__match_any_sync(mask, value)`: value, mask; gives an `unsigned`.
    MatchAny,
    /// `__match_all_sync(mask, value, &p)`: value, mask, the `int` that gets the truth; gives an `unsigned`.
    MatchAll,
    /// `__reduce_add_sync(mask, value)`: value, mask; of the value's type, `int` or `unsigned`.
    Reduce(ReduceOp),
    /// `__threadfence…()`.
    Fence(FenceScope),
    /// The same for `cuda::atomic`'s weaker orders.
    AcqRelFence(FenceScope),
    /// Address, value; for `Cas` address, compare, value. Signedness of min/max is already in the op.
    Atomic {
        /// What it does.
        op: AtomicOp,
        /// Of `atomicAdd_block` and the like.
        block_scope: bool,
    },
    /// A one-operand IR instruction on the argument's type: `sqrtf`, `fabs`, `__popc`, …
    Unary(ir::UnaryOp),
    /// A two-operand IR instruction: `fminf`, `__umulhi`, `fmod`; also `__fadd_rn`, `__fmul_rn`, which are never contracted.
    Binary(ir::BinaryOp),
    /// An IR comparison giving `bool`: `isnan(x)` is `Compare(FNe)` of the same value twice (sema passes it once; the lowering doubles it).
    Compare(CompareOp),
    /// `fmaf(a, b, c)`, `__fmaf_rn`.
    Fma,
    /// The same of the two halves in each word.
    FmaHalves,
    /// The same of the two bfloat16 in each word.
    FmaBfloats,
    /// `__float_as_int(x)`, `__float2int_rz(x)` …
    Convert(ConvertOp),
    /// `__ffs(x)`; of the argument's type.
    Ffs,
    /// `abs(x)` of an `int`, `long` or `long long`: of the argument's type, the least value is its own.
    AbsInt,
    /// `__dslc_on_device()`: whether the code runs on the device. A constant on each side.
    OnDevice,
    /// Device `printf`: format, then promoted arguments (host `printf` is [`ValueKind::Host`]).
    Printf(Arc<[u8]>),
    /// `assert(c)` in device code: the argument is a `bool`; the text is the condition's source, the number its line.
    Assert(Arc<[u8]>, u32),
}
