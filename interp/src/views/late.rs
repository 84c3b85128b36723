//! Late accesses, as the machine saw them.

use ir::LocId;

use crate::fault::finding::Lacks;
use crate::fault::trap::AccessOp;

use super::choice::{Key, Nth};
use super::word::Message;
use super::{Place, Who};

/// A load that gave an old value, a store that counts as earlier than another's, or an access that was done later than
/// its place in the program.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    /// The access: its thread, word and number.
    pub(crate) nth: Nth,
    /// By how many values it was late.
    pub(crate) back: u32,
    pub(crate) op: AccessOp,
    /// Whether it was done later than its place in the program.
    pub(crate) is_later: bool,
    /// For such an access, if it matters: the first access of its thread that was done before it, or otherwise itself.
    pub(crate) after: Option<LocId>,
    pub(crate) at: LocId,
    /// The value that it read or stored.
    pub(crate) value: u32,
    /// The next value; for a load that was done later, the value that it read. The following fields have its store and
    /// its thread.
    pub(crate) missed: u32,
    pub(crate) missed_at: LocId,
    pub(crate) missed_by: Option<Who>,
    pub(crate) despite: Option<Despite>,
    /// The turn in which it happened.
    pub(crate) turn: usize,
}

impl Late {
    pub(crate) fn key(&self) -> Key {
        (self.nth, self.is_later)
    }
}

/// What is missing in a thread that last fenced (with block and with device scope) when it had made `fenced_at`
/// accesses, if it made the first of the two accesses after `since`. Level 1: the fence has to reach other blocks.
pub(super) fn lacks(fenced_at: [u32; 2], since: u32, level: usize) -> Lacks {
    match (fenced_at[level] >= since, fenced_at[0] >= since) {
        (true, _) => Lacks::Nothing,
        (false, true) => Lacks::Scope,
        (false, false) => Lacks::Fence,
    }
}

/// A later store of the same thread that the reader has read before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Despite {
    /// The read.
    pub(crate) at: LocId,
    pub(crate) place: Place,
    pub(crate) value: u32,
    pub(crate) stored_at: LocId,
    /// What is missing in the writer between the two stores, and in the reader between the two reads.
    pub(crate) writer: Lacks,
    pub(crate) reader: Lacks,
    /// Whether both the store and the read of the later value are `volatile` or atomic.
    pub(crate) is_flag_strong: bool,
}

/// Acquired history: another thread's store that this one has read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquired {
    pub(super) ordinal: u32,
    pub(super) number: u32,
    pub(super) at: LocId,
    pub(super) value: u32,
    pub(super) stored_at: LocId,
    pub(super) fenced_at: [u32; 2],
    pub(super) is_strong: bool,
    /// How many words the reader had accessed then, including this one.
    pub(super) count: u32,
}

impl Acquired {
    pub(super) fn of(
        message: &Message,
        number: u32,
        at: LocId,
        count: u32,
        is_strong: bool,
    ) -> Acquired {
        Acquired {
            ordinal: message.ordinal,
            number,
            at,
            value: message.value,
            stored_at: message.at,
            fenced_at: message.fenced_at,
            is_strong,
            count,
        }
    }
}
