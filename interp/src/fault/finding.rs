//! The findings of the checks, as data: one [`Finding`] per pair of source accesses, however many threads are involved.
//!
//! A finding has what is wrong (`fact`; in words, [`Finding::message`] and [`Finding::advice`]), its severity, the
//! threads involved (`accesses`, each a thread of the first occurrence; `witness`, the lanes around them), and its
//! count (`count`). The order of a launch's findings, and everything in them, is the same with any number of jobs.

mod fact;
pub mod remedy;
mod render;

use std::fmt;

use ir::diagnostic::Code;
use ir::{LocId, MemType, Space};

use crate::fault::trap::AccessOp;

pub use fact::{
    Depends, Despite, Ending, Fact, Lacks, Late, MissingWrite, RaceKind, Scheduled, Sight, Turn,
    TurnEnd, Use,
};
pub use remedy::{Barrier, MissingBarrier, Remedy};

/// The class of a finding: the `kind` of the report's schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FindingKind {
    /// Two unordered accesses of different threads to the same byte, one of which writes.
    Race,
    /// Two lanes of one warp that are ordered only by lockstep.
    WarpSynchronous,
    /// A barrier that some threads of the block miss, or reach at a different statement.
    BarrierDivergence,
    /// An access outside of the memory, or of the array that the source names.
    OutOfBounds,
    /// An address that is not a multiple of the width.
    Misaligned,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An access at or near address 0.
    NullPointer,
    /// Uninitialised memory or an uninitialised variable, whose value influences something.
    Uninitialized,
    /// A launch that CUDA would reject.
    InvalidLaunch,
    /// `__syncwarp`, a shuffle or a vote with a mask that does not match its lanes.
    InvalidMask,
    /// No thread can go on.
    Deadlock,
    /// An integer divided by zero.
    DivisionByZero,
    /// A failed `assert`, or `__trap()`.
    Assertion,
    /// A shift out of range, an index that overflowed.
    Arithmetic,
    /// The final memory of the launch differs with the order of its blocks and warps.
    ScheduleDependent,
    /// Memory that was never freed.
    Leak,
}

impl FindingKind {
    /// All kinds, in the order of the report's documentation.
    pub const ALL: [FindingKind; 16] = [
        Self::Race,
        Self::WarpSynchronous,
        Self::BarrierDivergence,
        Self::OutOfBounds,
        Self::Misaligned,
        Self::UseAfterFree,
        Self::NullPointer,
        Self::Uninitialized,
        Self::InvalidLaunch,
        Self::InvalidMask,
        Self::Deadlock,
        Self::DivisionByZero,
        Self::Assertion,
        Self::Arithmetic,
        Self::ScheduleDependent,
        Self::Leak,
    ];

    /// The name in the report: `race`, `warp_synchronous` …
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::WarpSynchronous => "warp_synchronous",
            Self::BarrierDivergence => "barrier_divergence",
            Self::OutOfBounds => "out_of_bounds",
            Self::Misaligned => "misaligned",
            Self::UseAfterFree => "use_after_free",
            Self::NullPointer => "null_pointer",
            Self::Uninitialized => "uninitialized",
            Self::InvalidLaunch => "invalid_launch",
            Self::InvalidMask => "invalid_mask",
            Self::Deadlock => "deadlock",
            Self::DivisionByZero => "division_by_zero",
            Self::Assertion => "assertion",
            Self::Arithmetic => "arithmetic",
            Self::ScheduleDependent => "schedule_dependent",
            Self::Leak => "leak",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The severity of a finding. Errors mean that the program is wrong (exit code 1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; the result is as intended.
    Note,
    /// Works here and on some hardware, by chance or because of an old guarantee.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// `note`, `warning`, `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a thread did at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FindingOp {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
    /// It waits at, or passed, a barrier.
    Barrier,
    /// It ended.
    Exit,
    /// It synchronises with lanes of its warp: `__syncwarp`, a shuffle, or a vote.
    Sync,
    /// It computes.
    Compute,
    /// The host calls the runtime.
    Call,
    /// The host launches a kernel.
    Launch,
    /// It traps, but not at an access.
    Stop,
}

impl From<AccessOp> for FindingOp {
    fn from(op: AccessOp) -> FindingOp {
        match op {
            AccessOp::Load => FindingOp::Read,
            AccessOp::Store => FindingOp::Write,
            AccessOp::Atomic => FindingOp::Atomic,
        }
    }
}

impl FindingOp {
    /// `read`, `write`, `atomic` …
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
            Self::Barrier => "barrier",
            Self::Exit => "exit",
            Self::Sync => "sync",
            Self::Compute => "compute",
            Self::Call => "call",
            Self::Launch => "launch",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for FindingOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value that was read or written: its bits and their type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueBits {
    /// Zero-extended.
    pub bits: u64,
    /// The element's type in memory.
    pub ty: MemType,
}

impl fmt::Display for ValueBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits;
        match self.ty {
            MemType::F32 => write!(f, "{}", f32::from_bits(bits as u32)),
            MemType::F64 => write!(f, "{}", f64::from_bits(bits)),
            MemType::Bool => write!(f, "{}", bits != 0),
            MemType::S8 => write!(f, "{}", bits as i8),
            MemType::U8 => write!(f, "{}", bits as u8),
            MemType::S16 => write!(f, "{}", bits as i16),
            MemType::U16 => write!(f, "{}", bits as u16),
            MemType::I32 => write!(f, "{}", bits as i32),
            MemType::I64 => write!(f, "{}", bits as i64),
            MemType::Ptr => write!(f, "{bits:#x}"),
        }
    }
}

/// One side of a [`Finding`]: what one thread did at the first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingAccess {
    /// What it does.
    pub op: FindingOp,
    /// Its place.
    pub loc: LocId,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in it.
    pub thread: [u32; 3],
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane in the warp.
    pub lane: u32,
    /// Bytes of the access, 0 if it is not an access.
    pub bytes: u32,
    /// The value that was read or written, if known.
    pub value: Option<ValueBits>,
    /// Whether the access is `volatile`.
    pub volatile: bool,
}

/// The memory that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingObject {
    /// The name in the source, without quotes, or a description: `an allocation`.
    pub name: String,
    /// The element: `[3][4]`, or `[12]` for memory without dimensions; empty for a single variable.
    pub index: String,
    /// The offset of the bytes in the object.
    pub offset_bytes: u64,
}

/// Whether an object's name is a description, such as `an allocation`, instead of a source name, which has no space.
pub fn is_description(name: &str) -> bool {
    name.contains(' ')
}

impl FindingObject {
    /// The object in a sentence: `` `tile[3][4]` ``, or `element 12 of the allocation of line 7`.
    pub fn described(&self) -> String {
        let number = self
            .index
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match number {
            Some(number) if is_description(&self.name) => {
                format!("element {number} of {}", self.name)
            }
            None if is_description(&self.name) => self.name.clone(),
            _ => format!("`{}{}`", self.name, self.index),
        }
    }
}

/// Lanes of one warp that made one of a finding's accesses in the instruction where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WitnessLanes {
    /// Index into [`Finding::accesses`].
    pub access: usize,
    /// The block's index.
    pub block: [u32; 3],
    /// The warp's number in it.
    pub warp: u32,
    /// One bit per lane.
    pub lanes: u32,
}

/// The start of a race's message.
pub const RACE: &str = "race: ";

/// The advice for a finding, in one sentence. Its first part may still be valid next to a cure that a run has proved: a
/// fact, or a short form of what is missing. The rest is a guess, or an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    text: String,
    /// The length of the valid part in bytes.
    lasting: usize,
}

impl Advice {
    /// Combines the two parts. `rest` begins with the words that join them.
    pub fn with_lasting(lasting: String, rest: &str) -> Advice {
        Advice {
            lasting: lasting.len(),
            text: lasting + rest,
        }
    }

    /// The complete sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first part, which is still valid next to a proved cure.
    pub fn lasting(&self) -> Option<&str> {
        Some(&self.text[..self.lasting]).filter(|text| !text.is_empty())
    }
}

impl<T: Into<String>> From<T> for Advice {
    fn from(text: T) -> Advice {
        Advice {
            text: text.into(),
            lasting: 0,
        }
    }
}

/// A finding of the checks in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code for `dslc explain`.
    pub code: Code,
    /// The class.
    pub kind: FindingKind,
    /// Severity.
    pub severity: Severity,
    /// The statement of the finding.
    pub fact: Fact,
    /// The space of the memory.
    pub space: Option<Space>,
    /// The memory.
    pub object: Option<FindingObject>,
    /// The accesses involved. For a race, the earlier one (in the machine's order) comes first.
    pub accesses: Vec<FindingAccess>,
    /// How often this pair of source accesses conflicted, counted per pair of lanes and instruction.
    pub count: u64,
    /// The lanes of the first occurrence.
    pub witness: Vec<WitnessLanes>,
    /// Whether it appears only when the last blocks and warps come first.
    pub descending: bool,
    /// The seed of the random schedule, if it was found only under that.
    pub scheduled: Option<u64>,
}

impl Finding {
    /// A finding that occurred once and is not about memory.
    pub(crate) fn new(fact: Fact, accesses: Vec<FindingAccess>) -> Finding {
        let (code, kind, severity) = fact.class();
        Finding {
            code,
            kind,
            severity,
            fact,
            space: None,
            object: None,
            accesses,
            count: 1,
            witness: Vec::new(),
            descending: false,
            scheduled: None,
        }
    }

    /// The barrier that the advice proposes.
    pub fn proposes(&self) -> Option<Barrier> {
        match &self.fact {
            Fact::Race { remedy, .. } => remedy.barrier(),
            _ => None,
        }
    }

    /// The barrier that the advice proposes, if it proposes nothing else.
    pub fn missing(&self) -> Option<MissingBarrier> {
        match &self.fact {
            Fact::Race { remedy, .. } => remedy.missing(),
            _ => None,
        }
    }

    /// Whether it means that the program is wrong.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
