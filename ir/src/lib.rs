//! The IR: typed, structured, three-address. The machine runs it and the PTX back end compiles it. The crate also has the types for a
//! program's text: sources, places, messages.
//!
//! - **Temporaries** ([`ValueId`], printed `%3`) are assigned once and are visible, after that point, in the block that makes them and the
//!   blocks nested in it. **Slots** ([`SlotId`], `$x`) are the source's variables: mutable scalars, read by `get` and written by `set`.
//!   Slots start undefined, parameters' slots with the argument.
//! - **Control** is structured ([`Node`]): `if`, `loop`, `scope`, `break`, `continue`, `return`. Lanes that diverge reconverge at the end
//!   of the statement in which they diverged; there is no goto.
//! - **Values** are of six types ([`Type`]). `char`, `short` and `bool` exist only in memory ([`MemType`]) and as slots of the promoted
//!   type kept in range by an explicit `ext`; a `bool` in a slot is an `i1`. Structs and arrays are memory objects or are split into scalar
//!   slots by the lowering.
//! - **Device functions are inlined** by the lowering. One that may call itself is a [`Routine`] of the kernel, which is called
//!   ([`InstKind::CallRoutine`]). Host functions call each other ([`InstKind::Call`]).
//! - **Numbers** have one definition for both devices: a fused multiply-add is an `fma`, a conversion has its rounding mode.
//! - Every instruction has a [`LocId`]: file, line, column, text, and the macro use it came from.

pub mod active_mask;
pub mod approx;
pub mod bfloat16;
pub mod builder;
pub mod diagnostic;
pub mod divergence;
pub mod entity;
pub mod eval;
pub mod exchange;
pub mod half;
pub mod host;
pub mod image;
pub mod infer_spaces;
pub mod inst;
pub mod intrinsic;
pub mod join;
pub mod locate;
pub mod op;
pub mod parse;
pub mod print;
#[doc(hidden)]
pub mod random;
pub mod renumber;
pub mod simplify;
pub mod source;
pub mod span;
pub mod special;
pub mod suggest;
pub mod symbol;
pub mod target;
pub mod ty;
pub mod typing;
pub mod uniformity;
pub mod verify;
pub mod visit;

use std::sync::Arc;

pub use builder::Builder;
pub use entity::*;
pub use exchange::{Exchange, ExchangeOp, ReduceOp, ShuffleMode, VoteOp};
pub use host::{DeviceProp, HostFn};
pub use infer_spaces::infer_spaces;
pub use inst::*;
pub use intrinsic::Intrinsic;
pub use op::*;
pub use parse::{ParseError, parse};
pub use print::print;
pub use simplify::{fold, forward_loads, merge_branches, simplify};
pub use special::{SpecialReg, Varies};
pub use ty::*;
pub use uniformity::Uniformity;
pub use verify::verify;

/// A program: kernels, host functions, and the data they share.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// The program's name: that of the first file.
    pub name: String,
    /// The files' names, which [`Loc`]s refer to.
    pub files: Vec<String>,
    /// Places; index 0 is "nowhere".
    pub locs: Vec<Loc>,
    /// String literals, without a final NUL.
    pub strings: Vec<Arc<[u8]>>,
    /// Variables at file scope and `static` ones.
    pub globals: Vec<GlobalVar>,
    /// Kernels and host functions.
    pub functions: Vec<Function>,
}

impl Module {
    /// The function with that name and kind.
    pub fn find(&self, name: &str, kind: FunctionKind) -> Option<FuncId> {
        let index = self
            .functions
            .iter()
            .position(|function| function.name == name && function.kind == kind)?;
        Some(FuncId(index as u32))
    }

    /// The function of an id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The place of an id.
    pub fn loc(&self, id: LocId) -> &Loc {
        &self.locs[id.index()]
    }

    /// All kernels in source order.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let with_ids = self
            .functions
            .iter()
            .enumerate()
            .map(|(i, function)| (FuncId(i as u32), function));
        with_ids.filter(|(_, function)| function.kind == FunctionKind::Kernel)
    }
}

/// A place in the source, resolved: `loc !7 = 0:12:9 "S[threadIdx.x][threadIdx.y]" via !5`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loc {
    /// Index into [`Module::files`].
    pub file: u32,
    /// From 1; 0 is "nowhere". For code from a macro, the line of the outermost use: the line a profiler shows.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The source text of an access, on one line; empty for other places.
    pub text: String,
    /// The place in the macro's definition (or in the inlined function's caller) that it came through.
    pub via: Option<LocId>,
}

/// A variable that outlives functions: `global @2 : constant 64 align 4 "float coef[16]" = zero`.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalVar {
    /// Its name.
    pub name: String,
    /// The memory that contains it.
    pub space: GlobalSpace,
    /// Its C type, for messages and for the command line: `float [16]`.
    pub c_type: String,
    /// Size of one element of the (innermost) array, in bytes: messages give indices, not bytes.
    pub element_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Its alignment.
    pub align_bytes: u64,
    /// Initial bytes, at most `size_bytes` of them: zeros follow. `None` for zeros alone.
    pub init: Option<Vec<u8>>,
    /// Pointers inside `init`: at byte offset, the address of an object plus an offset.
    pub relocations: Vec<(u64, Object, i64)>,
    /// Where it is declared.
    pub loc: LocId,
}

/// The memory of a [`GlobalVar`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalSpace {
    /// `__constant__`: written by `cudaMemcpyToSymbol`, read by kernels.
    Constant,
    /// `__device__`.
    Device,
    /// `__managed__`: device memory that the host reads and writes, too.
    Managed,
    /// A host variable.
    Host,
}

/// Kernel or host function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// `__global__`, with every device function it calls: inlined, or as one of its routines.
    Kernel,
    /// Runs on the CPU.
    Host,
}

/// A kernel or a host function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Kernel or host.
    pub kind: FunctionKind,
    /// Parameters. Structs passed by value are split into one parameter per scalar, in memory order.
    pub params: Vec<Param>,
    /// The type of a host function's result.
    pub result: Option<Type>,
    /// Variables.
    pub slots: Vec<Slot>,
    /// The type of each temporary.
    pub values: Vec<Type>,
    /// Arrays and structs in `__shared__` memory, in order of declaration.
    pub shared: Vec<SharedVar>,
    /// Arrays, structs and address-taken variables of each thread (of the frame, in a host function).
    pub locals: Vec<LocalVar>,
    /// Device functions that may call themselves, of a kernel. Their code is in the body's first nodes, in this order.
    pub routines: Vec<Routine>,
    /// The number of [`LabelId`]s.
    pub labels: u32,
    /// `__launch_bounds__`: most threads per block, least blocks per multiprocessor.
    pub launch_bounds: Option<(u32, Option<u32>)>,
    /// The compiler whose PTX it was made of, if it was made of PTX: its accesses are the compiled kernel's.
    pub compiled_by: Option<String>,
    /// The code.
    pub body: Block,
    /// Where it is defined.
    pub loc: LocId,
}

impl Function {
    /// Removes the body, and what only the body has.
    pub fn clear(&mut self) {
        self.body = Block::default();
        self.values.clear();
        self.labels = 0;
        self.routines.clear();
    }
}

/// A parameter: its argument arrives in a slot.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The slot that holds it (its type is the slot's).
    pub slot: SlotId,
    /// As written: `const float *`. Members of split structs: `float`.
    pub c_type: String,
    /// For pointers, the type that they point to (`None` for `void` and structs).
    pub pointee: Option<MemType>,
    /// `const T *`.
    pub is_const: bool,
    /// `__restrict__`.
    pub is_restrict: bool,
}

/// A device function that may call itself, directly or through others: `routine R0 "walk" ($4, $5) -> ($6)`.
///
/// Each call has separate variables, temporaries and local memory. The lanes that call it run it together, and those that are done wait for
/// the others at its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Routine {
    /// The function's name.
    pub name: String,
    /// The slots that receive its arguments.
    pub params: Vec<SlotId>,
    /// Its results: the values of these variables at its end.
    pub results: Vec<SlotId>,
    /// Where it is defined.
    pub loc: LocId,
}

/// A mutable scalar: `slot $3 : i32 "offset"`.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The variable's name, or one that the lowering chose.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A variable in shared memory: `shared @1 : 4096 align 4 "int tile" [32][32]`.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedVar {
    /// Its name.
    pub name: String,
    /// Its element type as written: `int`.
    pub c_type: String,
    /// Size of an element in bytes.
    pub element_bytes: u64,
    /// Dimensions, outermost first; empty for a scalar, `[0]` for `extern __shared__ T a[]`.
    pub dims: Vec<u64>,
    /// Its size; 0 for a dynamic one.
    pub size_bytes: u64,
    /// Its alignment.
    pub align_bytes: u64,
    /// `extern`: starts after the static ones (all dynamic ones at the same place).
    pub dynamic: bool,
    /// Byte offset in the block's shared memory: static ones in order of declaration, each aligned; dynamic ones after them,
    /// aligned to 16.
    pub offset_bytes: u64,
    /// Where it is declared.
    pub loc: LocId,
}

/// A variable in a thread's memory: `local @0 : 16 align 4 "int a" [4]`.
#[derive(Clone, PartialEq, Debug)]
pub struct LocalVar {
    /// Its name.
    pub name: String,
    /// Its element type as written: `int`.
    pub c_type: String,
    /// Size of an element in bytes.
    pub element_bytes: u64,
    /// Dimensions, outermost first; empty for a scalar or struct.
    pub dims: Vec<u64>,
    /// Its size.
    pub size_bytes: u64,
    /// Its alignment.
    pub align_bytes: u64,
    /// Where it is declared.
    pub loc: LocId,
}

/// A sequence of nodes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block(pub Vec<Node>);

/// An instruction or a structured statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// Straight-line code.
    Inst(Inst),
    /// `if %c { … } else { … }`
    If {
        /// An `i1`.
        cond: Operand,
        /// For lanes whose condition is true.
        then: Block,
        /// For the others.
        otherwise: Block,
        /// `guard %c { … }`: the condition is the predicate of the instructions in `then`, which the warp executes in any case. It is no
        /// branch, and has no other side. This is how PTX is read (`@%p st.shared.u32 [%r1], %r2`).
        is_guard: bool,
        /// The place of the condition.
        loc: LocId,
    },
    /// `loop L0 { body } step { … }`: runs `body`, then `step`, forever; left by `break L0` from either. `continue L0` in `body` goes to
    /// `step`. Lanes that leave wait at the end for the others.
    Loop {
        /// Names it in `break` and `continue`.
        label: LabelId,
        /// The body, the loop's condition included.
        body: Block,
        /// Runs between rounds.
        step: Block,
        /// `#pragma unroll`: `Some(0)` full, `Some(n)` a count, `Some(1)` forbidden.
        unroll: Option<u32>,
        /// The place of the loop's condition (or of its keyword).
        loc: LocId,
    },
    /// `scope L1 { … }`: runs once; `break L1` leaves it. A `switch`, or an inlined function's `return`.
    Scope {
        /// Names it in `break`.
        label: LabelId,
        /// The body.
        body: Block,
        /// Its place.
        loc: LocId,
    },
    /// `code R0 { … }`: the code of a routine, which only runs when it is called. It is at the beginning of a kernel's body. Nothing else
    /// names its variables and local memory, and control leaves it at its end.
    Routine {
        /// Which one.
        id: RoutineId,
        /// The code.
        body: Block,
    },
    /// Leaves an enclosing `loop` or `scope`.
    Break(LabelId),
    /// Goes to an enclosing loop's `step` (not from inside a `step`).
    Continue(LabelId),
    /// Ends the kernel for these lanes, or returns from the host function.
    Return(Option<Operand>),
}
