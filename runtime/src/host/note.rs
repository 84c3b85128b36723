//! Remarks about calls: each is shown at once and kept.

use dsl::ir::{LocId, Space};
use interp::{AddressKind, MemoryFault, TrapKind, trap::AccessOp, trap::BadAccess};

use super::{Host, Note};

/// Remarks, errors of calls and refused launches of a run, each.
pub(super) const MAX_NOTES: usize = 1000;

impl Host<'_> {
    /// Says it and keeps it; of very many, the first ones tell as much as all.
    fn note(&mut self, note: Note) {
        let like = |other: &&Note| other.is_error == note.is_error;
        let count = self.outcome.notes.iter().filter(like).count();
        if count > MAX_NOTES {
            return;
        }
        let note = match count {
            MAX_NOTES => {
                let text = format!("only the first {MAX_NOTES} such messages are shown");
                Note::new(LocId::default(), text, note.is_error)
            }
            _ => note,
        };
        self.io.note(&note);
        self.outcome.notes.push(note);
    }

    pub(super) fn say(&mut self, loc: LocId, text: impl Into<String>, is_error: bool) {
        self.note(Note::new(loc, text, is_error));
    }

    /// A call fails because of the memory it was given.
    pub(super) fn say_fault(&mut self, loc: LocId, what: &str, fault: MemoryFault) {
        let text = format!("{what}: {fault}");
        self.note(Note {
            fault: Some(fault.trap(AccessOp::Load)),
            ..Note::new(loc, text, true)
        });
    }

    /// A copy's kind does not fit its pointers, `address` first.
    pub(super) fn say_wrong_side(
        &mut self,
        text: String,
        (to, from): (u64, u64),
        (kind, address, wants_device): (u64, u64, bool),
        loc: LocId,
    ) {
        let side = |address| match self.memory.kind_of(address) {
            AddressKind::Host | AddressKind::String => Some(false),
            AddressKind::Device | AddressKind::Constant => Some(true),
            _ => None,
        };
        let advice = match (side(from), side(to)) {
            (Some(from), Some(to)) => {
                let (name, number) = match (from, to) {
                    (false, false) => ("cudaMemcpyHostToHost", 0),
                    (false, true) => ("cudaMemcpyHostToDevice", 1),
                    (true, false) => ("cudaMemcpyDeviceToHost", 2),
                    (true, true) => ("cudaMemcpyDeviceToDevice", 3),
                };
                let word = |device| if device { "device" } else { "host" };
                let swapped = match number + kind {
                    3 if kind == 1 || kind == 2 => {
                        ", or swap the two pointers: the destination comes first"
                    }
                    _ => "",
                };
                Some(format!(
                    "these pointers go from {} to {} memory: use `{name}`{swapped}",
                    word(from),
                    word(to)
                ))
            }
            _ => None,
        };
        let access = Box::new(BadAccess {
            op: if address == to {
                AccessOp::Store
            } else {
                AccessOp::Load
            },
            space: Space::Generic,
            address,
            width_bytes: 0,
            object: None,
        });
        let fault = match wants_device {
            true => TrapKind::HostPointerOnDevice(access),
            false => TrapKind::DevicePointerOnHost(access),
        };
        self.note(Note {
            fault: Some(fault),
            advice,
            ..Note::new(loc, text, true)
        });
    }

    /// Memory is refused.
    pub(super) fn say_shortage(&mut self, loc: LocId, bytes: u64, what: &str, on_heap: bool) {
        let why = self.spent.budget.shortage(&self.memory, on_heap);
        let text = format!("out of memory: cannot allocate {bytes} bytes of {what}{why}");
        self.say(loc, text, false);
    }

    /// A launch has too many blocks for the race check.
    pub(super) fn say_forgot(&mut self, kernel: &str, loc: LocId) {
        let text = format!(
            "`{kernel}` has so many blocks that the race check had to forget who touched global memory first: it looked for races among the \
             blocks before that, and among those after it, but not between them; a smaller grid is checked whole"
        );
        self.say(loc, text, false);
    }

    pub(super) fn say_once(&mut self, loc: LocId, text: &str) {
        if !self.outcome.notes.iter().any(|note| note.text == text) {
            self.say(loc, text, false);
        }
    }
}
