//! The statement of a finding, as data. [`super::render`] turns it into sentences.

use ir::diagnostic::Code;
use std::fmt;

use ir::{LocId, MemType};

use super::{FindingKind, FindingOp, Remedy, Severity, ValueBits};
use crate::coded::coded;
use crate::fault::setter::Setter;

/// What is wrong with two accesses. The order is the order of findings at one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RaceKind {
    /// Nothing orders them.
    Unordered,
    /// Both are strong: a race if the place holds data, but not if it is a flag that threads poll.
    UnlessPolled,
    /// The later thread has taken the lock that the earlier one released, without a fence afterwards.
    LockWithoutFence,
    /// Lanes of one instruction store different values.
    OneInstruction,
    /// Only lockstep orders them, and not both are `volatile`.
    LockstepPlain,
    /// Only lockstep orders them, and both are `volatile`.
    LockstepVolatile,
    /// Only a shuffle or another exchange is between them, which does not order memory.
    OnlyExchange,
    /// They store the same value.
    SameValue,
}

/// How an uninitialised value influences the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It decides a branch.
    Branch,
    /// It is part of an address.
    Address,
    /// It is stored to global memory.
    Stored,
    /// It is printed.
    Printed,
    /// It is an argument that matters: the number of a barrier, a mask, a size, or an argument of a kernel.
    Argument,
}

/// Why memory was not written completely.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissingWrite {
    /// It is an array of each thread, which writes only the elements of its own index.
    OwnArray,
    /// The byte belongs to no member of the struct.
    NoMember {
        /// The byte.
        byte: u64,
    },
    /// A shuffle reads a lane without a thread.
    NoThread {
        /// Threads of a block.
        threads: u32,
    },
    /// A shuffle's mask omits a lane that exists.
    NotNamed,
    /// It is copied to a variable of each thread that the threads of the block have to share.
    OwnCopy {
        /// The variable.
        variable: String,
    },
    /// A call copied uninitialised bytes.
    CopiedUnset {
        /// The call.
        call: &'static str,
        /// Its line.
        line: u32,
        /// The source of the copy.
        from: String,
    },
    /// A call wrote a part of it.
    PartWritten {
        /// The call.
        setter: Setter,
        /// Bytes of the memory.
        size: u64,
        /// The call's line.
        line: u32,
    },
}

/// The final value of an element of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    /// The word with the first byte that differs.
    pub word: u32,
    /// Eight bytes from the start of the element, if it has that many.
    pub bits: u64,
    /// The type that the program stores there, if known.
    pub ty: Option<MemType>,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Some(ty) => ValueBits {
                bits: self.bits,
                ty,
            }
            .fmt(f),
            None => (self.word as i32).fmt(f),
        }
    }
}

/// The statement of a finding. Lines are lines of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// Two unordered accesses.
    Race {
        /// What is wrong with them.
        kind: RaceKind,
        /// Whether one is an atomic of block scope and the other belongs to another block.
        out_of_scope: bool,
        /// What would help.
        remedy: Remedy,
    },
    /// A mask that does not match the lanes.
    InvalidMask {
        /// The mask.
        mask: u32,
        /// Lanes that it names that are live and elsewhere; none if it omits the caller.
        elsewhere: u32,
        /// The line.
        line: u32,
    },
    /// Memory that is declared read-only but written.
    ReadOnlyWritten {
        /// Whether it is read through `__ldg`; otherwise through a `const … __restrict__` pointer.
        is_ldg: bool,
        /// The line of the read.
        line: u32,
    },
    /// A variable whose lifetime has ended.
    VariableEnded {
        /// The line of the access.
        line: u32,
    },
    /// An index beyond its array or dimension.
    Subscript {
        /// The subscript in the source.
        text: String,
        /// The line.
        line: u32,
        /// The index.
        index: i64,
        /// The number of elements.
        len: u32,
        /// Whether the array is a member; otherwise it is one dimension of several.
        is_member: bool,
    },
    /// A division by zero, or a shift out of range.
    Operand {
        /// Whether it is a shift.
        is_shift: bool,
        /// Both operands.
        operands: (i64, i64),
        /// The line.
        line: u32,
    },
    /// Signed arithmetic whose result does not fit its type.
    Overflow {
        /// The operation; `None`: a negation.
        op: Option<char>,
        /// Its operands.
        operands: (i64, i64),
        /// Whether the operands have 64 bits.
        is_wide: bool,
        /// Whether the bits are mixed with others afterwards, as in a hash or a random number generator.
        is_mixed: bool,
        /// The line.
        line: u32,
    },
    /// An uninitialised value.
    Uninitialized {
        /// What it influences.
        used: Use,
        /// The line of that use.
        line: u32,
        /// The line of the read.
        from: u32,
        /// For a shuffle whose source lane does not take part: the lane that reads.
        absent: Option<u32>,
        /// Why it is uninitialised.
        missing: Option<MissingWrite>,
    },
    /// A barrier that some threads of the block miss, or reach at a different statement.
    DivergentBarrier {
        /// The lines of the two threads.
        lines: [u32; 2],
    },
    /// Memory that ends differently under another schedule.
    ResultDepends {
        /// The final value in the usual order, and under the schedule.
        ends: [Ending; 2],
        /// How the two differ.
        difference: Depends,
        /// The schedule.
        schedule: Box<Scheduled>,
        /// The bytes that end differently, until the memory tracks their reads.
        spans: Vec<(u64, u64)>,
        /// The number under which reads of these bytes are tracked; see [`Memory::is_read`](crate::Memory::is_read).
        /// `None`: they count as read.
        suspect: Option<u32>,
    },
    /// Memory that ends differently in the other order of blocks and warps.
    ScheduleDependent {
        /// The final value in the usual order, and in the other one.
        ends: [Ending; 2],
        /// Whether it is more than a different order of elements or a rounding difference.
        is_grave: bool,
        /// As above.
        spans: Vec<(u64, u64)>,
        /// As above.
        suspect: Option<u32>,
    },
}

/// Starts and ends of bytes.
type Spans = Vec<(u64, u64)>;

impl Fact {
    /// For memory that ends differently: the bytes, and the number under which their reads are tracked.
    pub(crate) fn suspect(&mut self) -> Option<(&mut Spans, &mut Option<u32>)> {
        match self {
            Fact::ResultDepends { spans, suspect, .. }
            | Fact::ScheduleDependent { spans, suspect, .. } => Some((spans, suspect)),
            _ => None,
        }
    }
}

impl Fact {
    /// The code, the class and the severity.
    pub(crate) fn class(&self) -> (Code, FindingKind, Severity) {
        use Severity::{Error, Note, Warning};
        let by = |is: bool| if is { Error } else { Warning };
        match *self {
            Fact::Race { kind, .. } => match kind {
                RaceKind::SameValue => (Code::SameValueRace, FindingKind::Race, Note),
                RaceKind::LockstepVolatile | RaceKind::OnlyExchange => (
                    Code::WarpSynchronousCode,
                    FindingKind::WarpSynchronous,
                    Warning,
                ),
                RaceKind::LockstepPlain => (
                    Code::WarpSynchronousCode,
                    FindingKind::WarpSynchronous,
                    Error,
                ),
                RaceKind::Unordered
                | RaceKind::UnlessPolled
                | RaceKind::LockWithoutFence
                | RaceKind::OneInstruction => (Code::DataRace, FindingKind::Race, Error),
            },
            Fact::InvalidMask { .. } => (Code::InvalidMask, FindingKind::InvalidMask, Error),
            Fact::ReadOnlyWritten { is_ldg, .. } => {
                (Code::ReadOnlyWritten, FindingKind::Race, by(is_ldg))
            }
            Fact::VariableEnded { .. } => (Code::UseAfterFree, FindingKind::UseAfterFree, Error),
            Fact::Subscript {
                is_member: true, ..
            } => (Code::OutOfBounds, FindingKind::OutOfBounds, Error),
            Fact::Subscript { .. } => (Code::RowOverflow, FindingKind::OutOfBounds, Warning),
            Fact::Operand { is_shift: true, .. } => {
                (Code::ShiftOutOfRange, FindingKind::Arithmetic, Warning)
            }
            Fact::Operand { .. } => (Code::DivisionByZero, FindingKind::DivisionByZero, Warning),
            Fact::Overflow { is_mixed, .. } => {
                let severity = if is_mixed { Note } else { Warning };
                (Code::SignedOverflow, FindingKind::Arithmetic, severity)
            }
            Fact::Uninitialized {
                absent: Some(_), ..
            } => (Code::AbsentLane, FindingKind::Uninitialized, Error),
            Fact::Uninitialized { .. } => {
                (Code::UninitializedRead, FindingKind::Uninitialized, Error)
            }
            Fact::DivergentBarrier { .. } => (
                Code::DivergentBarrier,
                FindingKind::BarrierDivergence,
                Error,
            ),
            Fact::ResultDepends { difference, .. } => (
                Code::ScheduleDependent,
                FindingKind::ScheduleDependent,
                match difference {
                    Depends::Values => Warning,
                    Depends::Places | Depends::Rounding => Note,
                },
            ),
            Fact::ScheduleDependent { is_grave, .. } => (
                Code::ScheduleDependent,
                FindingKind::ScheduleDependent,
                if is_grave { Warning } else { Note },
            ),
        }
    }
}

/// How a result depends on the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// Different values.
    Values,
    /// The same words at different places.
    Places,
    /// Floating-point numbers that are nearly equal.
    Rounding,
}

/// A schedule that shows something, as short as possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The seed of the random schedule in which it was found: `--schedule adversarial:SEED` runs it.
    pub seed: u64,
    /// The number of schedules that were tried until it was found.
    pub tried: u32,
    /// Whether memory was weak, so that `--memory weak` is needed.
    pub is_weak: bool,
    /// The turns. After them the blocks and warps run in order.
    pub turns: Vec<Turn>,
    /// The late accesses, in order.
    pub lates: Vec<Late>,
}

/// A late access: a load or an atomic that found an old value, a store that counts as earlier than another thread's, or
/// an access that ran later than its place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// The turn in which it happened, by its index in the list. The index after the last one means: after all of them.
    pub turn: usize,
    /// The kind of access.
    pub op: FindingOp,
    /// The later access of its thread after which it ran, or its own place, if it ran later than its place in the
    /// program.
    pub after: Option<LocId>,
    /// The access.
    pub access: Sight,
    /// The indices of the block and the thread.
    pub who: ([u32; 3], [u32; 3]),
    /// The value that follows: what the load missed, or what the store came before. For a load that ran later than its
    /// place, the value that it read.
    pub missed: Sight,
    /// The thread that stored it; `None`: no thread did.
    pub missed_by: Option<([u32; 3], [u32; 3])>,
    /// A later store of that thread, or the missed one itself, that this thread has read before.
    pub despite: Option<Despite>,
}

/// The value that an access found, or left, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The access.
    pub at: LocId,
    /// The name of the word for the reader: `` `data` ``, `` `sums[3]` ``.
    pub name: String,
    /// The word's value.
    pub value: u32,
}

/// What a thread has read from another one before it missed an older store of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Despite {
    /// The read.
    pub read: Sight,
    /// The place where the other thread stored it.
    pub stored_at: LocId,
    /// What the writer lacks.
    pub writer: Lacks,
    /// What the reader lacks.
    pub reader: Lacks,
    /// Whether the later value is stored and read as `volatile`, or by atomics whose scope includes both threads.
    pub is_flag_strong: bool,
}

impl Despite {
    /// Whether the value read before is the one missed later, and not a later store.
    pub fn is_of(&self, missed: &Sight) -> bool {
        (self.stored_at, self.read.value) == (missed.at, missed.value)
            && self.read.name == missed.name
    }
}

/// What a thread is missing between two accesses so that others see them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Nothing, because a fence is there.
    Nothing,
    /// A fence.
    Fence,
    /// A fence with device scope. The existing one has only block scope.
    Scope,
}

/// A turn of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The block's index.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lanes that run.
    pub lanes: u32,
    /// Whether they are not all live lanes of the warp.
    pub is_part: bool,
    /// How the turn ends.
    pub end: TurnEnd,
    /// The place where it ends: the next access, the barrier, or the loop.
    pub at: LocId,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// Before an access.
    Paused,
    /// In a loop that changes nothing.
    Spun,
    /// At a barrier, or waiting for other lanes.
    Waits,
    /// With the end of the threads.
    Ended,
}

impl TurnEnd {
    /// The name in the report's schema.
    pub fn name(self) -> &'static str {
        match self {
            TurnEnd::Paused => "paused",
            TurnEnd::Spun => "spun",
            TurnEnd::Waits => "waits",
            TurnEnd::Ended => "ended",
        }
    }
}

coded!(
    enum RaceKind {
        Unordered,
        UnlessPolled,
        LockWithoutFence,
        OneInstruction,
        LockstepPlain,
        LockstepVolatile,
        OnlyExchange,
        SameValue,
    }
);
coded!(
    enum Use {
        Branch,
        Address,
        Stored,
        Printed,
        Argument,
    }
);
