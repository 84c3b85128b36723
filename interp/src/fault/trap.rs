//! Describes what ends a program at run time, as data. `render` turns it into sentences.
//!
//! A trap names the thread and the instruction. If other threads matter (in a deadlock or at a divergent barrier), it
//! has their places, too.

mod render;

use ir::{InstKind, LocId, Space};

use crate::coded::{Coded, coded};
use crate::fault::address::{AddressKind, MemoryFault};
use crate::fault::stop::StopReason;

/// The kind of an access, for messages and for sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AccessOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write.
    Atomic,
}

impl AccessOp {
    /// The kind of an instruction that has an [access](InstKind::access).
    pub fn of(kind: &InstKind) -> AccessOp {
        match kind {
            InstKind::Load(..) => AccessOp::Load,
            InstKind::Store(..) => AccessOp::Store,
            InstKind::Atomic { .. } => AccessOp::Atomic,
            other => unreachable!("{other:?} accesses no memory"),
        }
    }
}

/// The end of a program, or of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// What happened.
    pub kind: TrapKind,
    /// The place.
    pub loc: LocId,
    /// The block's index; zeros on the host.
    pub block: [u32; 3],
    /// The thread's index in its block; zeros on the host.
    pub thread: [u32; 3],
    /// Whether it happened in a host function.
    pub on_host: bool,
    /// The places of other threads: the warps of a deadlock, or the missing threads of a barrier.
    pub others: Vec<Waiting>,
    /// For an access out of bounds: where its index overflowed 32 bits.
    pub overflow: Option<Box<Overflow>>,
}

/// A result that does not fit its type, in the computation of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Where it was computed.
    pub loc: LocId,
    /// Its value as an unbounded integer.
    pub whole: i128,
    /// The value that it was truncated to.
    pub became: i64,
    /// Whether it is used as `unsigned`; otherwise as `int`.
    pub unsigned: bool,
}

impl Overflow {
    fn sentence(&self) -> String {
        let Overflow { whole, became, .. } = self;
        let ty = if self.unsigned { "unsigned" } else { "int" };
        match *whole < 0 && self.unsigned {
            true => {
                format!("this is {whole}, but `{ty}` has no negative values: it becomes {became}")
            }
            false => format!("this is {whole}, which does not fit in `{ty}`: it becomes {became}"),
        }
    }
}

/// A group of threads at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Their block.
    pub block: [u32; 3],
    /// The first of them.
    pub thread: [u32; 3],
    /// How many.
    pub threads: u32,
    /// Their place.
    pub loc: LocId,
    /// What they do there.
    pub state: WaitingState,
}

/// The state of threads that do not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingState {
    /// At a barrier.
    AtBarrier,
    /// At a numbered barrier at which too few threads have arrived.
    AtNumbered {
        /// Its number.
        barrier: u32,
        /// Threads that have arrived, including those that do not wait.
        come: u32,
        /// How many threads it waits for.
        wanted: u32,
    },
    /// In a loop that changes nothing.
    Spinning,
    /// At a `__syncwarp` or an exchange, waiting for other lanes of their warp.
    AtSync,
    /// Waiting for the other side of a branch, or for the other lanes to leave a loop.
    AtReconvergence,
}

/// An invalid memory access, with all details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// What it does.
    pub op: AccessOp,
    /// The space it goes to, as far as known.
    pub space: Space,
    /// The address; for shared and local memory, the generic one.
    pub address: u64,
    /// Bytes of the access.
    pub width_bytes: u32,
    /// The object that it is about: the array that the source names, what the kernel's pointer points to, or the
    /// nearest allocation.
    pub object: Option<BadObject>,
}

/// The object of a [`BadAccess`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadObject {
    /// Its name in backquotes, or a description: `an allocation`.
    pub name: String,
    /// The offset of the access from the start of the object.
    pub offset_bytes: i64,
    /// Size of an element.
    pub element_bytes: u64,
    /// Dimensions, outermost first; empty if it is not a declared array.
    pub dims: Vec<u64>,
    /// Size of the object.
    pub size_bytes: u64,
    /// Whether the source names it; otherwise it was found by the address.
    pub declared: bool,
    /// The kernel's pointer from which the access's address was computed, if it points into the object.
    pub pointer: Option<Box<BadPointer>>,
    /// The call that freed it, if it was freed.
    pub freed_at: Option<LocId>,
}

/// A kernel's pointer into a [`BadObject`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPointer {
    /// The parameter's name.
    pub name: String,
    /// The offset in the object that it points to.
    pub offset_bytes: u64,
}

/// What is wrong with the mask of a shuffle, vote, match or reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskFault {
    /// It does not name the lane that passes it.
    OmitsCaller,
    /// A lane that it names passes another mask.
    Differs {
        /// That lane.
        lane: u32,
        /// Its mask.
        mask: u32,
    },
    /// It names lanes that are live and not here.
    Elsewhere {
        /// Those lanes.
        lanes: u32,
    },
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// An access outside of every allocation, or of the array that the source names.
    OutOfBounds(Box<BadAccess>),
    /// An address that is not a multiple of the width.
    Misaligned(Box<BadAccess>),
    /// An access at or near address 0.
    NullPointer(Box<BadAccess>),
    /// An access to an allocation that was freed.
    UseAfterFree(Box<BadAccess>),
    /// A kernel accesses host memory.
    HostPointerOnDevice(Box<BadAccess>),
    /// The host accesses device memory.
    DevicePointerOnHost(Box<BadAccess>),
    /// A store to constant memory or to a string.
    ReadOnly(Box<BadAccess>),
    /// An address that belongs to no memory.
    InvalidPointer(Box<BadAccess>),
    /// The host frees memory that it cannot free.
    InvalidFree(Box<MemoryFault>),
    /// No thread can go on.
    Deadlock,
    /// No thread can go on, but one waits for memory that the host can change while the kernel runs.
    AwaitsHost,
    /// Some lanes of a warp are at a barrier, and other live lanes are elsewhere.
    BarrierDivergence {
        /// Threads of the warp that are at the barrier.
        arrived: u32,
        /// Threads of the warp that are elsewhere.
        missing: u32,
    },
    /// An invalid numbered barrier or number of threads; `None`: the lanes of a warp disagree.
    InvalidBarrier {
        /// Its number: 0 to 15.
        barrier: Option<u32>,
        /// How many threads it waits for: a multiple of 32, the same for all that arrive.
        threads: Option<u32>,
    },
    /// A shuffle, vote, match or reduction with an invalid mask.
    InvalidMask {
        /// The operation.
        operation: &'static str,
        /// The mask.
        mask: u32,
        /// What is wrong with it.
        fault: MaskFault,
    },
    /// The instruction limit of one launch, or of the host program.
    Limit {
        /// The limit.
        instructions: u64,
    },
    /// The machine was asked to stop.
    Stopped(StopReason),
    /// The instruction limit of the whole run: of the host program and all launches together.
    RunLimit {
        /// The limit.
        instructions: u64,
    },
    /// The limit on the text that one block prints.
    PrintLimit {
        /// The limit.
        bytes: usize,
    },
    /// A loop whose end depends on nothing that still changes.
    Endless,
    /// A failed `assert`: the condition's text.
    Assert {
        /// The condition.
        condition: String,
    },
    /// `__trap()`.
    Explicit,
    /// An instruction that dslc cannot run.
    Unsupported {
        /// Its opcode and modifiers, and what is not supported of it.
        instruction: String,
    },
    /// A call through a function pointer that is null or was never set.
    BadCall,
    /// A call of a virtual function of an object that was not constructed on this side.
    BadObject,
    /// An integer division by zero on the host.
    DivisionByZero,
    /// Too many nested calls, or too large frames, on the host.
    StackOverflow,
    /// Too many nested calls, or too large frames, in a kernel.
    CallsTooDeep {
        /// The routine that was called.
        routine: String,
        /// Calls that had not returned.
        depth: u32,
        /// Bytes of local memory that they may take.
        limit: u64,
    },
    /// A string passed to `printf` that is unterminated or unreadable.
    BadString {
        /// Its address.
        address: u64,
    },
}

impl TrapKind {
    /// The class, as in the report's `kind`.
    pub fn name(&self) -> &'static str {
        match self {
            TrapKind::OutOfBounds(_) => "out_of_bounds",
            TrapKind::Misaligned(_) => "misaligned",
            TrapKind::NullPointer(_) | TrapKind::BadCall => "null_pointer",
            TrapKind::UseAfterFree(_) => "use_after_free",
            TrapKind::InvalidFree(fault) if fault.kind == AddressKind::Freed => "use_after_free",
            TrapKind::HostPointerOnDevice(_)
            | TrapKind::DevicePointerOnHost(_)
            | TrapKind::ReadOnly(_)
            | TrapKind::InvalidPointer(_)
            | TrapKind::BadObject
            | TrapKind::BadString { .. }
            | TrapKind::InvalidFree(_)
            | TrapKind::StackOverflow
            | TrapKind::CallsTooDeep { .. } => "out_of_bounds",
            TrapKind::AwaitsHost => "awaits_host",
            TrapKind::Deadlock
            | TrapKind::Limit { .. }
            | TrapKind::RunLimit { .. }
            | TrapKind::PrintLimit { .. }
            | TrapKind::Endless => "deadlock",
            TrapKind::Stopped(StopReason::TimeOver(_)) => "timeout",
            TrapKind::Stopped(_) => "interrupted",
            TrapKind::BarrierDivergence { .. } | TrapKind::InvalidBarrier { .. } => {
                "barrier_divergence"
            }
            TrapKind::InvalidMask { .. } => "invalid_mask",
            TrapKind::Assert { .. } | TrapKind::Explicit => "assertion",
            TrapKind::DivisionByZero => "division_by_zero",
            TrapKind::Unsupported { .. } => "unsupported",
        }
    }

    /// Whether lanes of the warp should be here but are elsewhere.
    pub(crate) fn is_about_missing_lanes(&self) -> bool {
        matches!(
            self,
            TrapKind::BarrierDivergence { .. }
                | TrapKind::InvalidMask {
                    fault: MaskFault::Elsewhere { .. },
                    ..
                }
        )
    }

    /// The access, if there is one.
    pub fn access(&self) -> Option<&BadAccess> {
        match self {
            TrapKind::OutOfBounds(access)
            | TrapKind::Misaligned(access)
            | TrapKind::NullPointer(access)
            | TrapKind::UseAfterFree(access)
            | TrapKind::HostPointerOnDevice(access)
            | TrapKind::DevicePointerOnHost(access)
            | TrapKind::ReadOnly(access)
            | TrapKind::InvalidPointer(access) => Some(access),
            TrapKind::Deadlock
            | TrapKind::AwaitsHost
            | TrapKind::BarrierDivergence { .. }
            | TrapKind::InvalidBarrier { .. }
            | TrapKind::InvalidMask { .. }
            | TrapKind::Limit { .. }
            | TrapKind::Stopped(_)
            | TrapKind::RunLimit { .. }
            | TrapKind::PrintLimit { .. }
            | TrapKind::Endless
            | TrapKind::Assert { .. }
            | TrapKind::Explicit
            | TrapKind::Unsupported { .. }
            | TrapKind::BadCall
            | TrapKind::BadObject
            | TrapKind::DivisionByZero
            | TrapKind::StackOverflow
            | TrapKind::CallsTooDeep { .. }
            | TrapKind::BadString { .. }
            | TrapKind::InvalidFree(_) => None,
        }
    }
}

/// An invalid access that was skipped: a load gave 0, a store or an atomic changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct SkippedAccess {
    /// The first one.
    pub trap: Trap,
    /// How many of its kind occurred at its place, in all threads.
    pub accesses: u64,
    /// How far the lowest of their addresses is below the first one's, in bytes.
    pub before: i64,
    /// How far the highest of their addresses is above the first one's, in bytes.
    pub behind: i64,
    /// Whether it occurred only when the last blocks and warps came first.
    pub descending: bool,
}

coded!(
    enum AccessOp {
        Load,
        Store,
        Atomic,
    }
);
coded!(struct Overflow { loc, whole, became, unsigned });
coded!(struct BadAccess { op, space, address, width_bytes, object });
coded!(struct BadObject { name, offset_bytes, element_bytes, dims, size_bytes, declared, pointer, freed_at });
coded!(struct BadPointer { name, offset_bytes });

impl Coded for SkippedAccess {
    /// Only for a trap in the usual order, by a kernel's thread.
    fn put(&self, out: &mut Vec<u8>) {
        let Trap {
            kind,
            loc,
            block,
            thread,
            overflow,
            ..
        } = &self.trap;
        let (number, access) = match kind {
            TrapKind::OutOfBounds(access) => (0u8, access),
            TrapKind::Misaligned(access) => (1, access),
            TrapKind::NullPointer(access) => (2, access),
            TrapKind::UseAfterFree(access) => (3, access),
            TrapKind::HostPointerOnDevice(access) => (4, access),
            TrapKind::ReadOnly(access) => (5, access),
            TrapKind::InvalidPointer(access) => (6, access),
            other => unreachable!("{other:?} is never skipped"),
        };
        number.put(out);
        access.put(out);
        (*loc, *block, *thread).put(out);
        overflow.put(out);
        (self.accesses, self.before, self.behind).put(out);
    }

    fn get(from: &mut &[u8]) -> Option<SkippedAccess> {
        let number = u8::get(from)?;
        let access = Box::get(from)?;
        let kind = match number {
            0 => TrapKind::OutOfBounds(access),
            1 => TrapKind::Misaligned(access),
            2 => TrapKind::NullPointer(access),
            3 => TrapKind::UseAfterFree(access),
            4 => TrapKind::HostPointerOnDevice(access),
            5 => TrapKind::ReadOnly(access),
            6 => TrapKind::InvalidPointer(access),
            _ => return None,
        };
        let (loc, block, thread) = Coded::get(from)?;
        let overflow = Coded::get(from)?;
        let (accesses, before, behind) = Coded::get(from)?;
        Some(SkippedAccess {
            trap: Trap {
                kind,
                loc,
                block,
                thread,
                on_host: false,
                others: Vec::new(),
                overflow,
            },
            accesses,
            before,
            behind,
            descending: false,
        })
    }
}
