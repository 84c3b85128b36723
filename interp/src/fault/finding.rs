//! What the checks found, as data: one [`Finding`] per pair of source accesses, however many threads it concerns.
//!
//! A finding says what (`fact`; in words, [`Finding::message`] and [`Finding::advice`]), its severity, who (`accesses`, each a thread of the
//! first occurrence; `witness`, the lanes around them) and how often (`count`). The order of a launch's findings, and
//! everything in them, is the same at any number of jobs.

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
    /// Two threads, one byte, no order, and one of them writes.
    Race,
    /// Two lanes of one warp, ordered by lockstep alone.
    WarpSynchronous,
    /// A barrier that not all threads of the block reach, or not at one statement.
    BarrierDivergence,
    /// Outside of the memory or of the array the source names.
    OutOfBounds,
    /// The address is not a multiple of the width.
    Misaligned,
    /// The memory was given back before.
    UseAfterFree,
    /// At or near address 0.
    NullPointer,
    /// Unwritten memory or an unwritten variable, whose value matters.
    Uninitialized,
    /// A launch CUDA would refuse.
    InvalidLaunch,
    /// `__syncwarp`, a shuffle or a vote with a mask that its lanes do not have.
    InvalidMask,
    /// Nobody can advance.
    Deadlock,
    /// An integer divided by zero.
    DivisionByZero,
    /// A failed `assert`, or `__trap()`.
    Assertion,
    /// A shift out of range, an index that overflowed.
    Arithmetic,
    /// What the launch leaves in memory differs with the order of its blocks and warps.
    ScheduleDependent,
    /// Memory that was never freed.
    Leak,
}

impl FindingKind {
    /// Each of them, in the order of the report's documentation.
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

    /// As in the report: `race`, `warp_synchronous` …
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

/// Severity of a finding. Errors make the program wrong (exit code 1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; the result is what was meant.
    Note,
    /// Works here and on some hardware, by luck or by an old promise.
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
    /// It stands at, or passed, a barrier.
    Barrier,
    /// It ended.
    Exit,
    /// It synchronises with lanes of its warp: `__syncwarp`, a shuffle, a vote.
    Sync,
    /// It computes.
    Compute,
    /// The host calls the runtime.
    Call,
    /// The host launches a kernel.
    Launch,
    /// It traps, not at an access.
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

/// A value that was read or written: its bits and how to read them.
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

/// One side of a [`Finding`]: what one thread did, the first time it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingAccess {
    /// What it does.
    pub op: FindingOp,
    /// Where it stands.
    pub loc: LocId,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in it.
    pub thread: [u32; 3],
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane in the warp.
    pub lane: u32,
    /// Bytes of the access, 0 if it is none.
    pub bytes: u32,
    /// What was read or written, where it is known.
    pub value: Option<ValueBits>,
    /// Whether it is `volatile`.
    pub volatile: bool,
}

/// The memory a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingObject {
    /// As in the source, without quotes; or what it is: `an allocation`.
    pub name: String,
    /// The element: `[3][4]`, or `[12]` of memory without dimensions; empty for a single variable.
    pub index: String,
    /// Where the bytes begin: the offset in the object.
    pub offset_bytes: u64,
}

/// Whether a name of an object is a description, as `an allocation`, and not one of the source, which has no blank.
pub fn is_description(name: &str) -> bool {
    name.contains(' ')
}

impl FindingObject {
    /// In a sentence: `` `tile[3][4]` ``, or `element 12 of the allocation of line 7`.
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

/// Lanes of one warp that did one of a finding's accesses in the instruction where it was found.
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

/// How the message of a race begins.
pub const RACE: &str = "race: ";

/// What to do about a finding, in one sentence. It may begin with what stays true beside a cure that a run has proved: a fact, or in
/// short what is missing. The rest is a guess, or explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    text: String,
    /// Bytes of the text that stay.
    lasting: usize,
}

impl Advice {
    /// `rest` begins with what joins the two.
    pub fn with_lasting(lasting: String, rest: &str) -> Advice {
        Advice {
            lasting: lasting.len(),
            text: lasting + rest,
        }
    }

    /// The whole sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it begins with that stays true beside a proved cure.
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

/// Something the checks found in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// For `dslc explain`.
    pub code: Code,
    /// The class.
    pub kind: FindingKind,
    /// Severity.
    pub severity: Severity,
    /// What it says.
    pub fact: Fact,
    /// The memory's space.
    pub space: Option<Space>,
    /// The memory.
    pub object: Option<FindingObject>,
    /// The accesses that make it: of a race, the earlier one (in the machine's order) first.
    pub accesses: Vec<FindingAccess>,
    /// How often this pair of source accesses met, counted per pair of lanes and instruction.
    pub count: u64,
    /// The lanes of the first occurrence.
    pub witness: Vec<WitnessLanes>,
    /// It shows only when the last blocks and warps come first.
    pub descending: bool,
    /// Seen only under the random schedule of that seed.
    pub scheduled: Option<u64>,
}

impl Finding {
    /// A finding that occurred once, of no memory.
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

    /// The barrier that the advice proposes, where it proposes nothing else.
    pub fn missing(&self) -> Option<MissingBarrier> {
        match &self.fact {
            Fact::Race { remedy, .. } => remedy.missing(),
            _ => None,
        }
    }

    /// Whether it makes the program wrong.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
