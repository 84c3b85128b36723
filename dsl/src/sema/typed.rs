//! The typed tree: sema's output and the lowering's input. Every implicit conversion of C is a node, every name is an id, and values and
//! places in memory are separate types.
//!
//! The lowering can rely on this: there is no `Ty::Error` anywhere if there was no error; operands of arithmetic have the type of the
//! result (in shifts each has its promoted type); conditions are `bool`; arrays are only ever places; a call's arguments have the
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
    /// The classes of lambdas, each with the function that is its code.
    pub lambdas: Vec<(RecordId, FunctionId)>,
    /// The classes of generic lambdas.
    pub generic_lambdas: Vec<GenericLambda>,
    /// Instances of templates that the caller requested: the place of the request, and the function.
    pub requested: Vec<(Span, FunctionId)>,
}

/// The class of a lambda whose code is a template.
#[derive(Clone, PartialEq, Debug)]
pub struct GenericLambda {
    /// The class.
    pub class: RecordId,
    /// The lambda, without its body.
    pub span: Span,
    /// Its parameters' types; `auto:1` is the first that is deduced from an argument.
    pub params: String,
}

impl Program {
    /// The record of an id.
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
    /// The namespaces that contain it: `a::b`, or nothing.
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
    /// Whether it is in the device's memory and has one copy for all kernels.
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
    /// The type that it returns; for a function that returns a reference, the pointer to it.
    pub result: Ty,
    /// `T &f()`: each `return` has the address of a place, and a call only occurs as the operand of a [`PlaceKind::Deref`].
    pub returns_reference: bool,
    /// Its parameters, in order.
    pub params: Vec<VarId>,
    /// All its variables.
    pub vars: Arena<VarId, Var>,
    /// `__launch_bounds__`.
    pub launch_bounds: Option<(u32, Option<u32>)>,
    /// The function that replaces it in host code. For a call through a pointer, this is the dispatcher that compares with the host's
    /// functions.
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
    /// Whether it is another name for a place: `ty` is the place's type. Its declaration, or the argument for it, is the address of that
    /// place, or of a [`PlaceKind::Temporary`] with a value that lives as long as the reference.
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
    /// The thread's memory.
    Auto,
    /// `__shared__`.
    Shared,
    /// `extern __shared__ T a[]`.
    SharedDynamic,
}

/// A variable of either kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VarRef {
    /// A variable of the function.
    Local(VarId),
    /// A variable of the program.
    Global(GlobalVarId),
}

/// A statement and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// The whole statement.
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
    /// An expression, for its effects.
    Expr(Value),
    /// Control reaches the declaration of a variable; without `init` the variable is undefined from here on.
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
        /// The step of a `for`, after each round.
        step: Option<Value>,
        /// `#pragma unroll`.
        unroll: Option<Unroll>,
    },
    /// `switch`: the body is cut at its labels; a section runs into the next one unless it breaks.
    Switch {
        /// An `int`, `unsigned`, `long long` or `unsigned long long`.
        value: Value,
        /// Sections in order: the values that enter here (of the type of `value`, as bits), whether `default` enters here, the statements.
        sections: Vec<SwitchSection>,
    },
    /// Leaves the innermost loop or switch.
    Break,
    /// Goes to the innermost loop's step.
    Continue,
    /// Goes to the end of the [`StmtKind::Labelled`] around it that has this number.
    Goto(u32),
    /// The statements before a label in its block, from the beginning of the block.
    Labelled {
        /// Number of the label in its function.
        label: u32,
        /// The statements.
        body: Vec<Stmt>,
    },
    /// Leaves the function.
    Return(Option<Value>),
}

/// The statements between two labels of a `switch`.
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
        /// Whether all other parts are zero.
        zero_rest: bool,
        /// Each part with the path to it.
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

/// An object in memory (or in a variable that may be in registers).
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The kind.
    pub kind: PlaceKind,
    /// The type of the object; its qualifiers include those of the whole that it is part of.
    pub ty: QualTy,
    /// The source of exactly this place: `S[threadIdx.x][threadIdx.y]`. Its accesses are counted under this text.
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
    /// `__ldg(p)`: `*p` in memory that is read-only while the kernel runs.
    ReadOnly(Box<Value>),
    /// `p[i]` of a pointer; the index is promoted, signed or unsigned, 32 or 64 bits.
    PointerIndex(Box<Value>, Box<Value>),
    /// `a[i]` of an array: the object that it belongs to is known.
    ArrayIndex(Box<Place>, Box<Value>),
    /// `s.x`.
    Field(Box<Place>, u32),
    /// `s.x` where `x` is a bit-field: it has no address.
    BitField(Box<Place>, BitField),
    /// A record that is not in memory, whose member is read: `f(x).y`, `make_float4(…).x`.
    Temporary(Box<Value>),
}

/// A bit-field as a member of its record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BitField {
    /// The index of the member.
    pub index: u32,
    /// The number of bits.
    pub width: u32,
}

/// A value and its place in the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// The kind.
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

    /// The value of a place.
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
    /// The mark of a class with virtual functions, which its objects contain: device code has another number than the host.
    Mark(u64),
    /// The address of a string literal's first character (without the final NUL in `bytes`).
    Str(Arc<[u8]>),
    /// The value of a place; a record is loaded whole.
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
    /// Arithmetic on two operands of `ty` (a shift's count has a separate type). Signedness follows `ty`.
    Binary(Arith, Box<Value>, Box<Value>),
    /// Yields a `bool`; the operands have one common type (arithmetic or pointer).
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
    /// `place = value`; yields the stored value.
    Assign(Box<Place>, Box<Value>),
    /// `place op= value`: the place is read once, converted to `compute`, combined, converted back, written. For a pointer place
    /// `compute` is the pointer type and `value` an integer.
    CompoundAssign {
        /// `+` of `+=`.
        op: Arith,
        /// The place that is changed.
        place: Box<Place>,
        /// Already of type `compute` (shifts and pointers: its promoted type).
        value: Box<Value>,
        /// The type that the operation has.
        compute: Ty,
    },
    /// `++place`, `place--`: integers, floats, pointers.
    IncDec {
        /// What is changed.
        place: Box<Place>,
        /// `--`.
        decrement: bool,
        /// Whether the result is the new value.
        prefix: bool,
    },
    /// A call of a function of the program.
    Call(FunctionId, Vec<Value>),
    /// A call of a built-in function.
    Builtin(Builtin, Vec<Value>),
    /// A call of the runtime; argument types are those of [`HostFn::args`], variadic ones promoted.
    Host(HostFn, Vec<Value>),
    /// The address of a `__constant__` or `__device__` variable as a symbol (for `cudaMemcpyToSymbol`): a pointer.
    Symbol(GlobalVarId),
    /// A kernel named as an argument of a runtime call: an `int`, the IR's function index.
    Kernel(FunctionId),
    /// A kernel launch.
    Launch(Box<Launch>),
    /// A record from its members, in order; missing ones are zero. `make_float4(…)`, `dim3(…)` (sema adds the ones that `dim3` defaults
    /// to).
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
    /// In the parameters' types.
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

/// Functions that device code (and, for some, host code) can call without a definition.
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
    /// `__shfl_down_sync(mask, value, delta, width)`: value, lane, width, then the mask if there is one. The result has the value's type:
    /// any number of at least 32 bits.
    Shuffle(ShuffleMode),
    /// `__ballot_sync(mask, p)`: a `bool`, then the mask if there is one; yields a `bool` or an `unsigned`.
    Vote(VoteOp),
    /// `__match_any_sync(mask, value)`: value, mask; yields an `unsigned`.
    MatchAny,
    /// `__match_all_sync(mask, value, &p)`: value, mask, the `int` that receives the predicate; yields an `unsigned`.
    MatchAll,
    /// `__reduce_add_sync(mask, value)`: value, mask; yields the value's type, `int` or `unsigned`.
    Reduce(ReduceOp),
    /// `__threadfence…()`.
    Fence(FenceScope),
    /// The same for `cuda::atomic`'s weaker orders.
    AcqRelFence(FenceScope),
    /// Address, value; for `Cas` address, compare, value. Signedness of min/max is already in the op.
    Atomic {
        /// The operation.
        op: AtomicOp,
        /// Whether it is `atomicAdd_block` or similar.
        block_scope: bool,
    },
    /// A one-operand IR instruction on the argument's type: `sqrtf`, `fabs`, `__popc`, …
    Unary(ir::UnaryOp),
    /// A two-operand IR instruction: `fminf`, `__umulhi`, `fmod`; also `__fadd_rn`, `__fmul_rn`, which are never contracted.
    Binary(ir::BinaryOp),
    /// An IR comparison that yields a `bool`: `isnan(x)` is `Compare(FNe)` of the same value twice (sema passes it once; the lowering
    /// doubles it).
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
    /// `abs(x)` of an `int`, `long` or `long long`, in the argument's type; the smallest value is its own absolute value.
    AbsInt,
    /// `__dslc_on_device()`: whether the code runs on the device. A constant on each side.
    OnDevice,
    /// Device `printf`: format, then promoted arguments (host `printf` is [`ValueKind::Host`]).
    Printf(Arc<[u8]>),
    /// `assert(c)` in device code: the argument is a `bool`; the text is the condition's source, the number its line.
    Assert(Arc<[u8]>, u32),
}
