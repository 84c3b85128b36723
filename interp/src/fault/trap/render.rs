//! The sentences of traps.

use std::fmt;

use ir::{LocId, Space};

use crate::fault::index_text;

use super::{
    AccessOp, BadAccess, BadObject, BadPointer, MaskFault, Trap, TrapKind, Waiting, WaitingState,
};

impl fmt::Display for AccessOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessOp::Load => "load",
            AccessOp::Store => "store",
            AccessOp::Atomic => "atomic",
        })
    }
}

impl BadObject {
    /// The index in elements, per dimension if that is meaningful: `[32][0]`. An offset before the object, or one
    /// outside the range of every dimension, is counted in the outermost dimension.
    pub fn index(&self) -> String {
        self.index_by(self.element_bytes)
    }

    /// The same for an access of this width: memory without an element type is an array of what is accessed.
    pub fn index_of(&self, width_bytes: u32) -> String {
        let element = self.element_bytes.max(width_bytes.into()).max(1);
        let is_whole = self.from_pointer().0.rem_euclid(element as i64) == 0;
        match self.declared && !self.dims.is_empty() || !is_whole {
            true => self.index(),
            false => self.index_by(element),
        }
    }

    fn index_by(&self, element_bytes: u64) -> String {
        let element = element_bytes.max(1) as i64;
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

    /// The access's offset and the object's size, both in bytes from the address that the kernel's pointer points to.
    pub fn from_pointer(&self) -> (i64, u64) {
        let start = self.pointer.as_ref().map_or(0, |p| p.offset_bytes);
        (
            self.offset_bytes.wrapping_sub_unsigned(start),
            self.size_bytes.saturating_sub(start),
        )
    }

    /// Its source name in backquotes, or its description.
    pub fn source_name(&self) -> String {
        match &self.pointer {
            Some(pointer) => format!("`{}`", pointer.name),
            None => self.name.clone(),
        }
    }

    /// The full description: `` `out`, the allocation of line 12 ``.
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

    fn misaligned(&self) -> String {
        let object = self.object.as_ref().filter(|object| object.declared);
        let place = object.map_or(String::new(), |object| {
            format!(", byte {} of `{}`,", object.offset_bytes, object.name)
        });
        format!(
            "misaligned {}: the address {:#x}{place} is not a multiple of {}",
            self.op, self.address, self.width_bytes
        )
    }

    fn read_only(&self) -> String {
        let named = |object: &&BadObject| object.name.starts_with('`');
        match self.object.as_ref().filter(named) {
            Some(object) => {
                let name = object.name.trim_matches('`');
                let index = match object.size_bytes > object.element_bytes {
                    true => object.index(),
                    false => String::new(),
                };
                format!("{} to `{name}{index}`, which is constant", self.op)
            }
            None => format!("{} to read-only memory at {:#x}", self.op, self.address),
        }
    }

    fn null_pointer(&self) -> String {
        let address = match self.address {
            0 => String::new(),
            address => format!(" (address {address:#x})"),
        };
        let object = self.object.as_ref();
        let object = object.map_or(String::new(), |object| {
            format!(": {} is null", object.source_name())
        });
        format!("{} through a null pointer{address}{object}", self.op)
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
        // Memory without an element type is an array of what is accessed.
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
        let from = match &object.pointer {
            Some(pointer) if pointer.offset_bytes != 0 => " from there",
            _ => "",
        };
        format!(
            "{} out of bounds{space}: element {} of {name} ({} elements of {element} bytes{from})",
            self.op,
            offset / element,
            size / element
        )
    }
}

impl fmt::Display for MaskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
}

impl fmt::Display for TrapKind {
    /// One sentence. A table with one arm per kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrapKind::OutOfBounds(access) => f.write_str(&access.out_of_bounds()),
            TrapKind::Misaligned(access) => f.write_str(&access.misaligned()),
            TrapKind::NullPointer(access) => f.write_str(&access.null_pointer()),
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
            TrapKind::ReadOnly(access) => f.write_str(&access.read_only()),
            TrapKind::InvalidPointer(access) => {
                write!(f, "{}: no memory at this address", access.place())
            }
            TrapKind::InvalidFree(fault) => write!(f, "free: {fault}"),
            TrapKind::Deadlock => f.write_str("deadlock: no thread can advance"),
            TrapKind::AwaitsHost => f.write_str(
                "the kernel waits for the host: this loop ends when memory changes that the host can write meanwhile, but the host waits \
                 for the kernel",
            ),
            TrapKind::Endless => {
                f.write_str("endless loop: nothing that its condition depends on changes any more")
            }
            TrapKind::BarrierDivergence { arrived, missing } => {
                write!(
                    f,
                    "divergent barrier: {arrived} threads of a warp wait at it, {missing} do not reach it"
                )
            }
            TrapKind::InvalidBarrier { barrier, threads } => {
                f.write_str("invalid barrier: ")?;
                match (barrier, threads) {
                    (None, _) | (_, None) => {
                        f.write_str("the lanes of a warp name different barriers or numbers of threads")
                    }
                    (Some(barrier @ 16..), _) => write!(f, "there is no barrier {barrier}; a block has 16, from 0 on"),
                    (Some(barrier), Some(threads)) => write!(
                        f,
                        "barrier {barrier} is to wait for {threads} threads; all that come must name the same multiple of 32"
                    ),
                }
            }
            TrapKind::InvalidMask {
                operation,
                mask,
                fault,
            } => write!(f, "{operation} with the mask {mask:#010x}, {fault}"),
            TrapKind::Limit { instructions } => write!(f, "more than {instructions} instructions"),
            TrapKind::Stopped(why) => why.fmt(f),
            TrapKind::RunLimit { instructions } => write!(
                f,
                "the run takes more than {instructions} instructions: those of the host program and of the warps of all launches"
            ),
            TrapKind::PrintLimit { bytes } => write!(f, "a block prints more than {bytes} bytes"),
            // The library's assertions explain the error in words: `is_valid() && "grid.sync() needs …"`.
            TrapKind::Assert { condition } => match condition.rsplit_once("&& \"") {
                Some((_, words)) if words.ends_with('"') => {
                    write!(f, "assertion failed: {}", words.trim_end_matches('"'))
                }
                _ => write!(f, "assertion failed: {condition}"),
            },
            TrapKind::Explicit => f.write_str("trap instruction: the program calls `__trap()`"),
            TrapKind::Unsupported { instruction } => {
                write!(f, "unsupported instruction: {instruction}")
            },
            TrapKind::BadCall => {
                f.write_str("call through a function pointer that is null or was never set")
            }
            TrapKind::BadObject => f.write_str(
                "call of a virtual function of an object that no constructor has made here: it was never set, has ended, or was made by host code",
            ),
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
        let (block, thread) = (index_text(self.block), index_text(self.thread));
        write!(f, ", block {block}, thread {thread}")
    }
}

impl std::error::Error for Trap {}

/// The most groups of threads that a message shows.
const MAX_NOTES: usize = 16;

impl Trap {
    /// One sentence.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// Further sentences and their places: where other threads are.
    pub fn notes(&self) -> Vec<(LocId, String)> {
        let note = |waiting: &Waiting| {
            let (block, thread) = (index_text(waiting.block), index_text(waiting.thread));
            let who = match waiting.threads {
                1 => format!("thread {thread} of block {block}"),
                n => format!("{n} threads from {thread} of block {block}"),
            };
            let what = match waiting.state {
                WaitingState::AtBarrier => "waiting at this barrier",
                WaitingState::AtNumbered {
                    barrier,
                    come,
                    wanted,
                } => &format!(
                    "waiting at barrier {barrier}, which {come} of {wanted} threads have reached"
                ),
                WaitingState::Spinning => "in this loop, which changes nothing",
                WaitingState::AtSync => {
                    "waiting here for lanes of their warp that their mask names"
                }
                WaitingState::AtReconvergence => "waiting here for the other lanes of their warp",
            };
            (waiting.loc, format!("{who}: {what}"))
        };
        // Of thousands of blocks that wait, the first ones are representative.
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
