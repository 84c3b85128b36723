//! What ends a program at run time, as data; the sentences are made here too, and nowhere else.
//!
//! A trap names the thread and the instruction. Where other threads matter (a deadlock, a divergent barrier) it says
//! where each of them stands.

use std::fmt;

use dsl::ir::{LocId, Space};

use crate::fault::address::{AddressKind, MemoryFault};
use crate::fault::stop::StopReason;

/// What an access does, for messages and for sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AccessOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write.
    Atomic,
}

impl fmt::Display for AccessOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessOp::Load => "load",
            AccessOp::Store => "store",
            AccessOp::Atomic => "atomic",
        })
    }
}

/// The end of a program, or of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// What happened.
    pub kind: TrapKind,
    /// Where.
    pub loc: LocId,
    /// The block's index; zeros on the host.
    pub block: [u32; 3],
    /// The thread's index in its block; zeros on the host.
    pub thread: [u32; 3],
    /// Whether it happened in a host function.
    pub on_host: bool,
    /// Who else stands where: the warps of a deadlock, the missing threads of a barrier.
    pub others: Vec<Waiting>,
    /// Where the index of an access out of bounds had no room in its 32 bits.
    pub overflow: Option<Box<Overflow>>,
}

/// A result that its type cannot hold, on the way to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Where it was computed.
    pub loc: LocId,
    /// As a whole number.
    pub whole: i128,
    /// What is left of it.
    pub became: i64,
    /// Whether it is used as `unsigned`, else as `int`.
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

/// A group of threads that stands somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Their block.
    pub block: [u32; 3],
    /// The first of them.
    pub thread: [u32; 3],
    /// How many.
    pub threads: u32,
    /// Where.
    pub loc: LocId,
    /// What they do there.
    pub state: WaitingState,
}

/// What threads that do not advance are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingState {
    /// At a barrier.
    AtBarrier,
    /// In a loop that changes nothing.
    Spinning,
    /// Waiting for the other side of a branch, or for the other lanes to leave a loop.
    AtReconvergence,
}

/// A memory access that is not allowed, in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// What it does.
    pub op: AccessOp,
    /// The space it goes to, as far as it is known.
    pub space: Space,
    /// The address; for shared and local memory, the generic one.
    pub address: u64,
    /// Bytes of the access.
    pub width_bytes: u32,
    /// The object it is about: the array the source names, what the kernel's pointer points to, or the allocation that is nearest.
    pub object: Option<BadObject>,
}

/// The object of a [`BadAccess`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadObject {
    /// Its name in backquotes, or what it is: `an allocation`.
    pub name: String,
    /// Where the access begins, relative to the object's begin.
    pub offset_bytes: i64,
    /// Size of an element.
    pub element_bytes: u64,
    /// Dimensions, outermost first; empty if it is not a declared array.
    pub dims: Vec<u64>,
    /// Size of the object.
    pub size_bytes: u64,
    /// Whether the source names it (else it was found by the address).
    pub declared: bool,
    /// The kernel's pointer that the access began with, if it points into the object.
    pub pointer: Option<Box<BadPointer>>,
    /// The call that freed it, if one did.
    pub freed_at: Option<LocId>,
}

/// A kernel's pointer into a [`BadObject`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPointer {
    /// The parameter's name.
    pub name: String,
    /// Where in the object it points.
    pub offset_bytes: u64,
}

/// What is wrong with the mask of a shuffle, vote, match or reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskFault {
    /// It does not name the lane that gives it.
    OmitsCaller,
    /// A lane that it names gives another mask.
    Differs {
        /// That lane.
        lane: u32,
        /// Its mask.
        mask: u32,
    },
    /// It names lanes that live and are not here.
    Elsewhere {
        /// Those lanes.
        lanes: u32,
    },
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// Outside of every allocation, or of the array the source names.
    OutOfBounds(Box<BadAccess>),
    /// The address is not a multiple of the width.
    Misaligned(Box<BadAccess>),
    /// At or near address 0.
    NullPointer(Box<BadAccess>),
    /// The allocation was freed.
    UseAfterFree(Box<BadAccess>),
    /// A kernel touches host memory.
    HostPointerOnDevice(Box<BadAccess>),
    /// The host touches device memory.
    DevicePointerOnHost(Box<BadAccess>),
    /// A store to constant memory or to a string.
    ReadOnly(Box<BadAccess>),
    /// An address that belongs to nothing.
    InvalidPointer(Box<BadAccess>),
    /// The host frees what it cannot.
    InvalidFree(Box<MemoryFault>),
    /// Nobody can advance.
    Deadlock,
    /// Some lanes of a warp are at a barrier, others live on elsewhere.
    BarrierDivergence {
        /// Threads of the warp that are at the barrier.
        arrived: u32,
        /// Threads of the warp that are elsewhere.
        missing: u32,
    },
    /// A shuffle, vote, match or reduction whose mask is not one.
    InvalidMask {
        /// What was to be done.
        operation: &'static str,
        /// The mask.
        mask: u32,
        /// What is wrong with it.
        fault: MaskFault,
    },
    /// The limit on instructions of one launch, or of the host program.
    Limit {
        /// The limit.
        instructions: u64,
    },
    /// The machine was asked to stop.
    Stopped(StopReason),
    /// The limit on instructions of the whole run: of the host program and all launches together.
    RunLimit {
        /// The limit.
        instructions: u64,
    },
    /// The limit on what one block prints.
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
    /// A call through a function pointer that is null or was never set.
    BadCall,
    /// An integer division by zero on the host.
    DivisionByZero,
    /// Too many nested calls, or too large frames, on the host.
    StackOverflow,
    /// Too many nested calls, or too large frames, in a kernel.
    CallsTooDeep {
        /// The routine that was called.
        routine: String,
        /// Calls that had not ended.
        depth: u32,
        /// Bytes of local memory that they may take.
        limit: u64,
    },
    /// A string without an end, or unreadable, given to `printf`.
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
            | TrapKind::BadString { .. }
            | TrapKind::InvalidFree(_)
            | TrapKind::StackOverflow
            | TrapKind::CallsTooDeep { .. } => "out_of_bounds",
            TrapKind::Deadlock
            | TrapKind::Limit { .. }
            | TrapKind::RunLimit { .. }
            | TrapKind::PrintLimit { .. }
            | TrapKind::Endless => "deadlock",
            TrapKind::Stopped(StopReason::TimeOver(_)) => "timeout",
            TrapKind::Stopped(_) => "interrupted",
            TrapKind::BarrierDivergence { .. } => "barrier_divergence",
            TrapKind::InvalidMask { .. } => "invalid_mask",
            TrapKind::Assert { .. } | TrapKind::Explicit => "assertion",
            TrapKind::DivisionByZero => "division_by_zero",
        }
    }

    /// Whether lanes of the warp should be here and are elsewhere.
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

    /// The access, if it is about one.
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
            | TrapKind::BarrierDivergence { .. }
            | TrapKind::InvalidMask { .. }
            | TrapKind::Limit { .. }
            | TrapKind::Stopped(_)
            | TrapKind::RunLimit { .. }
            | TrapKind::PrintLimit { .. }
            | TrapKind::Endless
            | TrapKind::Assert { .. }
            | TrapKind::Explicit
            | TrapKind::BadCall
            | TrapKind::DivisionByZero
            | TrapKind::StackOverflow
            | TrapKind::CallsTooDeep { .. }
            | TrapKind::BadString { .. }
            | TrapKind::InvalidFree(_) => None,
        }
    }
}

impl BadObject {
    /// The index in elements, per dimension where that is meaningful: `[32][0]`. An offset before the object, or one
    /// that is in no dimension's range, counts in the outermost dimension.
    pub fn index(&self) -> String {
        let element = self.element_bytes.max(1) as i64;
        let flat = self.from_pointer().0.div_euclid(element);
        let mut text = String::new();
        let inner: Vec<i64> = self.dims.iter().skip(1).map(|&n| n.max(1) as i64).collect();
        let mut rest = flat;
        for k in 0..=inner.len() {
            let stride: i64 = inner[k..].iter().product();
            let at = rest.div_euclid(stride);
            rest = rest.rem_euclid(stride);
            text += &format!("[{at}]");
        }
        text
    }

    /// The access's offset and the object's size, both in bytes from where the kernel's pointer points.
    pub fn from_pointer(&self) -> (i64, u64) {
        let start = self.pointer.as_ref().map_or(0, |p| p.offset_bytes);
        (
            self.offset_bytes.wrapping_sub_unsigned(start),
            self.size_bytes.saturating_sub(start),
        )
    }

    /// What the source calls it, in backquotes, or what it is.
    pub fn source_name(&self) -> String {
        match &self.pointer {
            Some(pointer) => format!("`{}`", pointer.name),
            None => self.name.clone(),
        }
    }

    /// In full: `` `out`, the allocation of line 12 ``.
    fn described(&self) -> String {
        match self.pointer.as_deref() {
            Some(BadPointer {
                name,
                offset_bytes: 0,
            }) => format!("`{name}`, {}", self.name),
            Some(BadPointer { name, offset_bytes }) => {
                format!(
                    "`{name}`, which points to byte {offset_bytes} of {}",
                    self.name
                )
            }
            None => self.name.clone(),
        }
    }

    fn bounds(&self) -> String {
        self.dims.iter().map(|n| format!("[{n}]")).collect()
    }
}

impl BadAccess {
    fn place(&self) -> String {
        format!(
            "{} of {} bytes at {:#x}",
            self.op, self.width_bytes, self.address
        )
    }

    fn space_name(&self) -> String {
        match self.space {
            Space::Generic => "memory".to_owned(),
            space => format!("{space} memory"),
        }
    }

    fn out_of_bounds(&self) -> String {
        let Some(object) = &self.object else {
            return format!("{} is out of bounds of {}", self.place(), self.space_name());
        };
        if object.declared && !object.dims.is_empty() {
            let name = object.name.trim_matches('`');
            return format!(
                "{} of `{name}{}` is out of bounds: the array is `{name}{}`",
                self.op,
                object.index(),
                object.bounds()
            );
        }
        let (offset, size) = object.from_pointer();
        let size = size as i64;
        // Memory that only has a size is seen as an array of what is accessed.
        let element = object.element_bytes.max(self.width_bytes.into()) as i64;
        let name = object.described();
        let space = match self.space {
            Space::Generic => String::new(),
            space => format!(" of {space} memory"),
        };
        if offset % element != 0 || size % element != 0 {
            let last = offset.wrapping_add(i64::from(self.width_bytes) - 1);
            return format!(
                "{} out of bounds{space}: bytes {offset} to {last} of {name} ({size} bytes)",
                self.op
            );
        }
        let here = match &object.pointer {
            Some(pointer) if pointer.offset_bytes != 0 => " from there",
            _ => "",
        };
        format!(
            "{} out of bounds{space}: element {} of {name} ({} elements of {element} bytes{here})",
            self.op,
            offset / element,
            size / element
        )
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrapKind::OutOfBounds(access) => f.write_str(&access.out_of_bounds()),
            TrapKind::Misaligned(access) => {
                let (op, address) = (access.op, access.address);
                write!(f, "misaligned {op}: the address {address:#x}")?;
                if let Some(object) = access.object.as_ref().filter(|object| object.declared) {
                    write!(f, ", byte {} of `{}`,", object.offset_bytes, object.name)?;
                }
                write!(f, " is not a multiple of {}", access.width_bytes)
            }
            TrapKind::NullPointer(access) => {
                write!(f, "{} through a null pointer", access.op)?;
                if access.address != 0 {
                    write!(f, " (address {:#x})", access.address)?;
                }
                match &access.object {
                    Some(object) => write!(f, ": {} is null", object.source_name()),
                    None => Ok(()),
                }
            }
            TrapKind::UseAfterFree(access) => {
                let name = access
                    .object
                    .as_ref()
                    .map_or("memory".to_owned(), BadObject::described);
                write!(f, "{} after free: {name} was freed", access.place())
            }
            TrapKind::HostPointerOnDevice(access) => {
                write!(f, "a kernel cannot touch host memory: {}", access.place())
            }
            TrapKind::DevicePointerOnHost(access) => {
                write!(f, "the host cannot touch device memory: {}", access.place())
            }
            TrapKind::ReadOnly(access) => write!(
                f,
                "{} to read-only memory at {:#x}",
                access.op, access.address
            ),
            TrapKind::InvalidPointer(access) => {
                write!(f, "{}: no memory at this address", access.place())
            }
            TrapKind::InvalidFree(fault) => write!(f, "free: {fault}"),
            TrapKind::Deadlock => f.write_str("deadlock: no thread can advance"),
            TrapKind::Endless => {
                f.write_str("endless loop: nothing that its condition depends on changes any more")
            }
            TrapKind::BarrierDivergence { arrived, missing } => {
                write!(
                    f,
                    "divergent barrier: {arrived} threads of a warp wait at it, {missing} do not reach it"
                )
            }
            TrapKind::InvalidMask {
                operation,
                mask,
                fault,
            } => {
                write!(f, "{operation} with the mask {mask:#010x}, ")?;
                match fault {
                    MaskFault::OmitsCaller => {
                        f.write_str("which does not include the thread that executes it")
                    }
                    MaskFault::Differs { lane, mask } => write!(
                        f,
                        "which includes lane {lane}, but that lane passes the mask {mask:#010x}"
                    ),
                    MaskFault::Elsewhere { lanes } => write!(
                        f,
                        "which includes threads that do not reach this call (lanes {lanes:#010x})"
                    ),
                }
            }
            TrapKind::Limit { instructions } => write!(f, "more than {instructions} instructions"),
            TrapKind::Stopped(why) => why.fmt(f),
            TrapKind::RunLimit { instructions } => write!(
                f,
                "the run takes more than {instructions} instructions: those of the host program and of the warps of all launches"
            ),
            TrapKind::PrintLimit { bytes } => write!(f, "a block prints more than {bytes} bytes"),
            TrapKind::Assert { condition } => write!(f, "assertion failed: {condition}"),
            TrapKind::Explicit => f.write_str("trap instruction: the program calls `__trap()`"),
            TrapKind::BadCall => {
                f.write_str("call through a function pointer that is null or was never set")
            }
            TrapKind::DivisionByZero => f.write_str("integer division by zero"),
            TrapKind::StackOverflow => f.write_str("stack overflow"),
            TrapKind::CallsTooDeep {
                routine,
                depth,
                limit,
            } => write!(
                f,
                "stack overflow: this call of `{routine}` is inside {depth} others, whose local memory fills the {limit} bytes of a thread's stack"
            ),
            TrapKind::BadString { address } => write!(f, "no readable string at {address:#x}"),
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if self.on_host {
            return Ok(());
        }
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")
    }
}

impl std::error::Error for Trap {}

/// Most groups of threads that a message shows.
const MAX_NOTES: usize = 16;

impl Trap {
    /// One sentence.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// Further sentences with the places they are about: who stands where.
    pub fn notes(&self) -> Vec<(LocId, String)> {
        let note = |waiting: &Waiting| {
            let ([bx, by, bz], [tx, ty, tz]) = (waiting.block, waiting.thread);
            let who = match waiting.threads {
                1 => format!("thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz})"),
                n => format!("{n} threads from ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz})"),
            };
            let what = match waiting.state {
                WaitingState::AtBarrier => "waiting at this barrier",
                WaitingState::Spinning => "in this loop, which changes nothing",
                WaitingState::AtReconvergence => "waiting here for the other lanes of their warp",
            };
            (waiting.loc, format!("{who}: {what}"))
        };
        // Of thousands of blocks that wait the first ones tell as much as all.
        let others = self.others.iter().take(MAX_NOTES).map(note);
        let left_out = self.others.len().saturating_sub(MAX_NOTES);
        let left_out = (left_out > 0).then(|| {
            (
                LocId::default(),
                format!("{left_out} more wait in the same way"),
            )
        });
        let object = match &self.kind {
            TrapKind::InvalidFree(fault) => fault.object.as_ref(),
            kind => kind.access().and_then(|access| access.object.as_ref()),
        };
        let freed = object.and_then(|object| object.freed_at);
        let freed = freed.map(|loc| (loc, "freed here".to_owned()));
        let overflow = self.overflow.iter().map(|o| (o.loc, o.sentence()));
        others
            .chain(left_out)
            .chain(freed)
            .chain(overflow)
            .collect()
    }
}

/// An access that is not allowed and was skipped: a load gave 0, a store or an atomic changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct SkippedAccess {
    /// The first one.
    pub trap: Trap,
    /// How many there were of its kind at its place, by all threads.
    pub accesses: u64,
    /// How many bytes before the first one's address the lowest of them is.
    pub before: i64,
    /// How many bytes behind the first one's address the highest of them is.
    pub behind: i64,
    /// It happened only when the last blocks and warps came first.
    pub descending: bool,
}
