//! What a finding says, as data. [`super::render`] makes sentences of it.

use ir::diagnostic::Code;
use std::fmt;

use ir::{LocId, MemType};

use super::{FindingKind, FindingOp, Remedy, Severity, ValueBits};
use crate::coded::coded;
use crate::fault::setter::Setter;

/// What is wrong with two accesses. The order is that of findings at one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RaceKind {
    /// Nothing orders them.
    Unordered,
    /// Both are strong: a race if the place holds data, none if it is a flag that threads poll.
    UnlessPolled,
    /// The later thread has taken the lock that the earlier one released, and no fence followed.
    LockWithoutFence,
    /// Lanes of one instruction store different values.
    OneInstruction,
    /// Only lockstep orders them, and not both are `volatile`.
    LockstepPlain,
    /// Only lockstep orders them, and both are `volatile`.
    LockstepVolatile,
    /// Only a shuffle or another exchange is between them, which orders no memory.
    OnlyExchange,
    /// They store the same value.
    SameValue,
}

/// Where an unwritten value mattered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It decides where the program goes.
    Branch,
    /// It is part of an address.
    Address,
    /// It goes to global memory.
    Stored,
    /// It is printed.
    Printed,
    /// It is an argument of something that acts: the number of a barrier, a mask, a size, an argument of a kernel.
    Argument,
}

/// Why memory is not all written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissingWrite {
    /// It is an array of each thread, which writes the elements of its index only.
    OwnArray,
    /// No store to a member goes to that byte of a struct.
    NoMember {
        /// The byte.
        byte: u64,
    },
    /// A shuffle reads a lane that has no thread.
    NoThread {
        /// Threads of a block.
        threads: u32,
    },
    /// A shuffle's mask leaves out a lane that is there.
    NotNamed,
    /// It is copied to a variable of each thread, which the threads of the block have to share.
    OwnCopy {
        /// The variable.
        variable: String,
    },
    /// A call copied unwritten bytes.
    CopiedUnset {
        /// The call.
        call: &'static str,
        /// Its line.
        line: u32,
        /// What it copied from.
        from: String,
    },
    /// A call wrote a part.
    PartWritten {
        /// The call.
        setter: Setter,
        /// Bytes of the memory.
        size: u64,
        /// The call's line.
        line: u32,
    },
}

/// What an element of memory ends with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    /// The word in which the first byte differs.
    pub word: u32,
    /// Eight bytes from the begin of the element, where it has so many.
    pub bits: u64,
    /// What the program keeps there, where that is known.
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

/// What a finding says. Lines are of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// Two accesses that nothing orders.
    Race {
        /// What is wrong with them.
        kind: RaceKind,
        /// One is an atomic of block scope, and the other of another block.
        out_of_scope: bool,
        /// What would help.
        remedy: Remedy,
    },
    /// A mask that does not fit the lanes.
    InvalidMask {
        /// As named.
        mask: u32,
        /// Lanes it names that live and are elsewhere; none if it omits the caller.
        elsewhere: u32,
        /// Where.
        line: u32,
    },
    /// Declared read-only, but written.
    ReadOnlyWritten {
        /// Through `__ldg`; else through a `const … __restrict__` pointer.
        is_ldg: bool,
        /// Of the read.
        line: u32,
    },
    /// A variable that has ended.
    VariableEnded {
        /// Of the access.
        line: u32,
    },
    /// An index beyond its array or dimension.
    Subscript {
        /// As in the source.
        text: String,
        /// Where.
        line: u32,
        /// The index.
        index: i64,
        /// How many there are.
        len: u32,
        /// The array is a member; else a row of several.
        is_member: bool,
    },
    /// A division by zero, or a shift out of range.
    Operand {
        /// It is a shift.
        is_shift: bool,
        /// Both of them.
        operands: (i64, i64),
        /// Where.
        line: u32,
    },
    /// Signed arithmetic with a result that its type does not have.
    Overflow {
        /// The operation; `None`: a negation.
        op: Option<char>,
        /// Its operands.
        operands: (i64, i64),
        /// They have 64 bits.
        is_wide: bool,
        /// The bits are mixed with others afterwards, as a hash or a generator of random numbers does.
        is_mixed: bool,
        /// Where.
        line: u32,
    },
    /// An unwritten value.
    Uninitialized {
        /// Where it mattered.
        used: Use,
        /// The line of that.
        line: u32,
        /// The line of the read.
        from: u32,
        /// It is of a shuffle whose source lane does not take part: the lane that reads.
        absent: Option<u32>,
        /// Why.
        missing: Option<MissingWrite>,
    },
    /// A barrier that not all threads of the block reach, or not at one statement.
    DivergentBarrier {
        /// Of the two threads.
        lines: [u32; 2],
    },
    /// Memory that ends differently under another schedule.
    ResultDepends {
        /// What it ends with in the usual order, and under the schedule.
        ends: [Ending; 2],
        /// What is different about them.
        difference: Depends,
        /// The schedule.
        schedule: Box<Scheduled>,
        /// The bytes that end differently, until the launch's memory follows who reads them.
        spans: Vec<(u64, u64)>,
        /// By what number it follows them; see [`Memory::is_read`](crate::Memory::is_read). `None`: they count as read.
        suspect: Option<u32>,
    },
    /// Memory that ends differently in the other order of blocks and warps.
    ScheduleDependent {
        /// What it ends with, and in the other order.
        ends: [Ending; 2],
        /// It is more than an order of elements, or a rounding.
        is_grave: bool,
        /// As above.
        spans: Vec<(u64, u64)>,
        /// As above.
        suspect: Option<u32>,
    },
}

/// Begins and ends of bytes.
type Spans = Vec<(u64, u64)>;

impl Fact {
    /// Of memory that ends differently: the bytes, and by what number it is followed who reads them.
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
    /// Other values.
    Values,
    /// The same words in other places.
    Places,
    /// Floating-point numbers that are nearly the same.
    Rounding,
}

/// A schedule that shows something, made as short as could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Of the random schedule in which it was found: `--schedule adversarial:SEED` runs it.
    pub seed: u64,
    /// How many schedules were tried until it was found.
    pub tried: u32,
    /// Memory was weak: `--memory weak` belongs to it.
    pub is_weak: bool,
    /// The turns that it takes; after them all go on in order.
    pub turns: Vec<Turn>,
    /// What was late in them, in order.
    pub lates: Vec<Late>,
}

/// An access that was late: a load or an atomic that found an old value, a store that counts as one before another thread's, or one that was done
/// later than it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// The turn in which it happened, by its place in the list; the first behind it: after all of them.
    pub turn: usize,
    /// What it is.
    pub op: FindingOp,
    /// It was done only after this other access of its thread that stands behind it, or after itself: later than it stands.
    pub after: Option<LocId>,
    /// The access.
    pub access: Sight,
    /// The block's index, and the thread's.
    pub who: ([u32; 3], [u32; 3]),
    /// The value that follows there: what the load missed, or what the store came before; of a load that was done later than it stands,
    /// the value that it read.
    pub missed: Sight,
    /// Whose that is; `None`: it came from no thread.
    pub missed_by: Option<([u32; 3], [u32; 3])>,
    /// A later store of that thread, or the missed one itself, which this one has read before.
    pub despite: Option<Despite>,
}

/// What an access found, or left, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The access.
    pub at: LocId,
    /// The word, as a reader knows it: `` `data` ``, `` `sums[3]` ``.
    pub name: String,
    /// The word's value.
    pub value: u32,
}

/// What a thread has read of another one before it missed an older store of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Despite {
    /// The read.
    pub read: Sight,
    /// Where the other thread stored that.
    pub stored_at: LocId,
    /// What the writer lacks.
    pub writer: Lacks,
    /// What the reader lacks.
    pub reader: Lacks,
    /// The later value is stored and read as `volatile`, or by atomics that reach both threads.
    pub is_flag_strong: bool,
}

impl Despite {
    /// What was read before is what was missed then, and not a later store.
    pub fn is_of(&self, missed: &Sight) -> bool {
        (self.stored_at, self.read.value) == (missed.at, missed.value)
            && self.read.name == missed.name
    }
}

/// What a thread lacks between two accesses, so that others see them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Nothing: a fence is there.
    Nothing,
    /// A fence.
    Fence,
    /// A fence that reaches other blocks: the one that is there is of its block only.
    Scope,
}

/// A warp's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The block's index.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lanes that run.
    pub lanes: u32,
    /// They are not all of the warp that live.
    pub is_part: bool,
    /// How the turn ends.
    pub end: TurnEnd,
    /// Where: the access that is next, the barrier, the loop.
    pub at: LocId,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// Before an access.
    Paused,
    /// In a loop that changes nothing.
    Spun,
    /// At a barrier, or for other lanes.
    Waits,
    /// With the threads' end.
    Ended,
}

impl TurnEnd {
    /// As in the report's schema.
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
