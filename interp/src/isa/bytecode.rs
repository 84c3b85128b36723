//! The bytecode: flat code over two register files.
//!
//! - **Scalar registers** (`S`, 64 bits) hold values that are the same for all lanes, and every `i1`: a mask of 32
//!   lanes, which for a uniform truth value is all zeros or all ones.
//! - **Varying registers** (`V`) hold 32 lanes side by side: one unit of 128 bytes for 32-bit values, two for 64-bit
//!   ones.
//! - An instruction that writes a `V` register never reads the same register through another field. The compiler
//!   guarantees this, and the engine relies on it.
//!
//! An instruction does what its [`Op`] says.

use std::collections::HashMap;
use std::ops::Range;

use ir::{Access, AtomicOp, LocId, ReduceOp, SharedVar, ShuffleMode, Space, Type, VoteOp};

use crate::fault::trap::AccessOp;
use crate::isa::effects::{Effects, Root};
use crate::isa::idle::IdleRound;
use crate::isa::op::Op;
use crate::isa::rounds::Rounds;
use crate::shortcut::Shortcuts;

/// One instruction. The meaning of the fields depends on the operation. `weight` is the number of IR instructions since
/// the last instruction with a weight; only control instructions have one.
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
    /// The head of the loop that this instruction closes, if it does.
    pub(crate) fn back_edge_to(&self) -> Option<u32> {
        match self.op {
            Op::Loop => Some(self.b),
            op if op.is_comparing_loop_end() => Some(self.b - 1),
            _ => None,
        }
    }
}

/// The register of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A scalar register (for an `i1`: a mask).
    S(u32),
    /// A varying register: its first unit.
    V(u32),
}

/// The width of a value in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// An `i1`.
    Mask,
    /// 32 bits, also for pointers into shared and local memory.
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

/// How an access computes its address: from `a` and `b`, then `* scale + offset` of the site.
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

/// The innermost subscript of a multi-dimensional array: a varying and a uniform part, and the number of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscript {
    pub(crate) varying: Option<u32>,
    pub(crate) uniform: Option<u32>,
    /// Whether the parts have 64 bits. There is then only one of them.
    pub(crate) is_long: bool,
    pub(crate) len: u32,
}

/// The constant part of a memory instruction.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct MemSite {
    pub(crate) address: Address,
    /// Registers of the components: all `V`, or all `S` (masks, uniform results).
    pub(crate) values: [u32; 4],
    pub(crate) width_bytes: u32,
    /// First counter: generic accesses have one each for global, shared and local.
    pub(crate) counter: u32,
    /// Its index in [`Code::sites`].
    pub(crate) row: u32,
    /// Whether `values` are scalar registers with one value for all lanes.
    pub(crate) uniform_values: bool,
    pub(crate) op: AccessOp,
    pub(crate) access: Access,
    /// What its pointer starts from, if that is a single object. Outside of shared and local memory the access has to
    /// stay within it.
    pub(crate) root: Option<Root>,
    /// Whether it loads memory that is read-only during the launch: through `__ldg` (`true`) or a
    /// `const … __restrict__` parameter.
    pub(crate) frozen: Option<bool>,
    /// Bounds of the array the source names: offset in its space (or address) and size.
    pub(crate) bounds: Option<(u64, u64)>,
    /// The innermost subscript, if the address's registers contain it.
    pub(crate) subscript: Option<Subscript>,
    /// For atomics: operation and the register to compare with.
    pub(crate) atomic: Option<(AtomicOp, u32)>,
    /// For atomics: the register that receives the old value, if anything reads it.
    pub(crate) result: u32,
}

impl MemSite {
    /// The registers that the access writes: those of a load, or that of an atomic's old value.
    pub(crate) fn results(&self) -> &[u32] {
        match self.op {
            AccessOp::Load => &self.values[..usize::from(self.access.count)],
            AccessOp::Atomic => std::slice::from_ref(&self.result),
            AccessOp::Store => &[],
        }
    }

    /// The kind of one of its registers for values or for the result.
    pub(crate) fn place(&self, register: u32) -> Place {
        match self.uniform_values || Class::of(self.access.ty.value_type()) == Class::Mask {
            true => Place::S(register),
            false => Place::V(register),
        }
    }
}

/// What a site adds to the registers of its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) form: Form,
    /// Whether the index is zero-extended.
    pub(crate) unsigned: bool,
    /// Whether the index, added to a scalar base, is a thread index.
    pub(crate) is_of_thread: bool,
    pub(crate) scale: i64,
    pub(crate) offset: i64,
    /// A uniform term in a scalar register: for 32-bit pointers it is multiplied by this scale, and for others it is
    /// added to the index.
    pub(crate) term: u32,
    pub(crate) term_scale: i64,
}

/// The scale and offset of a pointer addition.
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
    /// Blocks, threads, bytes of shared memory, and then the kernel's arguments.
    pub(crate) args: Vec<(Type, Place)>,
    pub(crate) loc: LocId,
}

/// A shuffle, vote, match or reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeRow {
    pub(crate) kind: ExchangeKind,
    /// What each lane contributes; for a vote, a mask register.
    pub(crate) value: Place,
    /// Only for shuffles.
    pub(crate) lane: Place,
    pub(crate) width: Place,
    pub(crate) mask: Option<Place>,
    /// Only `match.all` has a second one.
    pub(crate) results: [Place; 2],
}

/// A numbered barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BarrierRow {
    pub(crate) barrier: Place,
    /// How many threads it waits for; 0: all of the block.
    pub(crate) threads: Place,
    /// Whether arriving threads do not wait.
    pub(crate) arrives: bool,
    /// Whether the lanes of a warp arrive together.
    pub(crate) aligned: bool,
}

/// The operation of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExchangeKind {
    Shuffle(ShuffleMode),
    Vote(VoteOp),
    MatchAny { wide: bool },
    MatchAll { wide: bool },
    Reduce(ReduceOp),
}

impl ExchangeKind {
    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ExchangeKind::Shuffle(_) => "shuffle",
            ExchangeKind::Vote(_) => "vote",
            ExchangeKind::MatchAny { .. } | ExchangeKind::MatchAll { .. } => "match",
            ExchangeKind::Reduce(_) => "reduction",
        }
    }
}

/// A divergent statement: while `pc` is in `start..end`, lanes may wait in `S[save]`. `loc` is its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waitplace {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) save: u32,
    /// The switch to the other side, for an `if` that has one.
    pub(crate) other_side: Option<u32>,
    pub(crate) loc: LocId,
}

impl Waitplace {
    /// The place where the waiting lanes continue when no lane is active at `pc`.
    pub(crate) fn resume(&self, pc: u32) -> u32 {
        match self.other_side {
            Some(swap) if pc < swap => swap,
            _ => self.end - 1,
        }
    }
}

/// The registers in use at a place where lanes synchronise: there, fragments of a warp may join.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meet {
    /// Scalar registers with one value for all lanes.
    pub(crate) scalars: Vec<u32>,
    /// Scalar registers with a truth value for each lane.
    pub(crate) masks: Vec<u32>,
    /// Varying registers of 32 bits, and of 64 bits: their first units.
    pub(crate) narrow: Vec<u32>,
    pub(crate) wide: Vec<u32>,
}

/// A call of a host function or of the runtime, or a launch. Operands are in scalar registers.
#[derive(Clone, Debug)]
pub(crate) struct CallRow {
    /// The function's index, or the host function's.
    pub(crate) target: u32,
    pub(crate) args: Vec<(Type, u32)>,
    pub(crate) host: Option<ir::HostFn>,
}

/// A value that a call passes: lane by lane, or from one scalar register to all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) class: Class,
}

/// A call of a routine.
#[derive(Clone, Debug)]
pub(crate) struct RoutineCall {
    /// The routine that contains the call.
    pub(crate) caller: Option<u32>,
    pub(crate) callee: u32,
    pub(crate) args: Vec<Move>,
    pub(crate) results: Vec<Move>,
}

/// A routine.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoutineRow {
    /// Its first instruction.
    pub(crate) entry: u32,
    /// Its registers.
    pub(crate) scalars: Vec<Range<u32>>,
    pub(crate) units: Vec<Range<u32>>,
    /// Its part of [`MemoryLayout::local_offsets`].
    pub(crate) local_start: u64,
    pub(crate) local_bytes: u64,
    pub(crate) align_bytes: u64,
}

/// The routines of a kernel, and the calls of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routines {
    pub(crate) rows: Vec<RoutineRow>,
    pub(crate) calls: Vec<RoutineCall>,
}

/// Accesses of a segment to an array in registers: the site and the number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) site: u32,
    pub(crate) times: u32,
}

/// A counter that an instruction may increment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CounterSite {
    pub(crate) loc: LocId,
    pub(crate) space: Space,
    pub(crate) op: AccessOp,
    pub(crate) width_bytes: u32,
    /// Whether it is an atomic with block scope.
    pub(crate) block_scope: bool,
}

/// The registers of a function: their number, their initial values, and those of variables and arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterLayout {
    /// Scalar registers, and the first ones' initial values (constants; the rest are 0).
    pub(crate) s_count: u32,
    pub(crate) s_init: Vec<(u32, u64)>,
    /// Scalar registers that hold an address, set when a launch begins.
    pub(crate) s_symbols: Vec<(u32, ir::Object)>,
    /// Units of varying registers, and constants among them.
    pub(crate) v_units: u32,
    pub(crate) v_init: Vec<(u32, Class, u64)>,
    /// The register of each slot.
    pub(crate) slots: Vec<Place>,
    /// The registers of slots, which are cleared when a block begins.
    pub(crate) slot_s: Range<u32>,
    pub(crate) slot_v: Range<u32>,
    /// The registers for arguments.
    pub(crate) params: Vec<(Place, Class)>,
    /// Parameters that are never assigned, spread over a varying register: parameter, register.
    pub(crate) mirrors: Vec<(u32, u32, Class)>,
    /// Variables that may be read before they are assigned, their registers, and the first such read.
    pub(crate) unassigned: Vec<(ir::SlotId, Place, LocId)>,
}

/// The local and shared memory of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLayout {
    /// The kernel's local memory, without that of routines.
    pub(crate) local_bytes: u64,
    pub(crate) shared_bytes: u64,
    /// The offset of dynamic shared memory.
    pub(crate) dynamic_offset: u64,
    /// The offset of each local variable. Those of routines are added to [`S_FRAME`].
    pub(crate) local_offsets: Vec<u64>,
}

/// A compiled function. Every jump goes to one of its instructions, and the last of a kernel's is [`Op::End`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) shortcuts: Shortcuts,
    pub(crate) insts: Vec<Inst>,
    pub(crate) locs: Vec<LocId>,
    /// By the end of a loop whose step is signed arithmetic of the source: the place of the step. Only in code for
    /// checks.
    pub(crate) signed_steps: HashMap<u32, LocId>,
    pub(crate) sites: Vec<MemSite>,
    /// Loops of which many rounds can run together.
    pub(crate) rounds: Vec<Rounds>,
    /// The code after barriers that an idle warp skips.
    pub(crate) idle: Vec<IdleRound>,
    pub(crate) counters: Vec<CounterSite>,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) scales: Vec<PtrScale>,
    pub(crate) prints: Vec<PrintRow>,
    pub(crate) launches: Vec<LaunchRow>,
    pub(crate) exchanges: Vec<ExchangeRow>,
    pub(crate) barriers: Vec<BarrierRow>,
    pub(crate) calls: Vec<CallRow>,
    pub(crate) routines: Routines,
    pub(crate) waits: Vec<Waitplace>,
    /// By instruction: for barriers, `__syncwarp`, and exchanges with a mask.
    pub(crate) meets: HashMap<u32, Meet>,
    pub(crate) registers: RegisterLayout,
    pub(crate) memory: MemoryLayout,
    /// Its possible effects on global memory.
    pub(crate) effects: Effects,
    /// In host functions: instructions that compute a temporary, and how often it is read.
    pub(crate) uses: Vec<(u32, u32)>,
    /// By the head of a loop that may be recognised as endless: the registers that its end depends on.
    pub(crate) endless: HashMap<u32, Vec<(Place, Class)>>,
}

impl MemoryLayout {
    /// The offset of a variable in its block's shared memory, in bytes.
    pub(crate) fn shared_offset(&self, var: &SharedVar) -> u64 {
        match var.dynamic {
            true => self.dynamic_offset,
            false => var.offset_bytes,
        }
    }
}

/// Scalar registers that every kernel has: `ctaid`, `ntid`, `nctaid`.
pub(crate) const S_CTAID: u32 = 0;
/// Block size.
pub(crate) const S_NTID: u32 = 3;
/// Grid size.
pub(crate) const S_NCTAID: u32 = 6;
/// `tid.y` and `tid.z` in kernels compiled for warps that lie in one row of the block.
pub(crate) const S_TID_YZ: u32 = 9;
/// Whether the launch is cooperative.
pub(crate) const S_COOPERATIVE: u32 = 11;
/// The multiprocessor that the block runs on.
pub(crate) const S_SM: u32 = 12;
/// The number of multiprocessors.
pub(crate) const S_SM_COUNT: u32 = 13;
/// In a routine: the offset added to its local variables.
pub(crate) const S_FRAME: u32 = 14;
/// The first scalar register that is free.
pub(crate) const S_FREE: u32 = 15;
/// Varying registers every kernel has: `tid.x`, `.y`, `.z`.
pub(crate) const V_TID: u32 = 0;
/// The lane's number.
pub(crate) const V_LANE: u32 = 3;
/// The first unit that is free.
pub(crate) const V_FREE: u32 = 4;
