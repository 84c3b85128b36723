//! Notes about calls: each is shown at once and kept.

use interp::{LaunchReport, MemoryFault, trap::AccessOp};
use ir::LocId;

use super::{Host, Note, WrongKind};

/// Most notes, most errors of calls, and most refused launches of a run.
pub(super) const MAX_NOTES: usize = 1000;

/// The bytes that a call of `printf` takes in the device's buffer. An H200 (driver 580) keeps 33,792 calls of a launch of 40,000 in its
/// 8,650,752 bytes, whether a call has no argument or four, and a text of 3 characters or 36. In a launch of 200,000 it keeps 47,765 to
/// 96,511, because the host empties the buffer meanwhile.
const PRINTF_CALL_BYTES: u64 = 256;

impl Host<'_> {
    /// Shows and keeps a note; of very many, the first ones are enough.
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

    /// A call failed because of the memory it was given.
    pub(super) fn say_fault(&mut self, loc: LocId, what: &str, fault: MemoryFault) {
        let text = format!("{what}: {fault}");
        self.note(Note {
            fault: Some(fault.trap(AccessOp::Load)),
            ..Note::new(loc, text, true)
        });
    }

    /// The kind of a copy does not match its pointers.
    pub(super) fn say_wrong_kind(&mut self, copy: &WrongKind, loc: LocId) {
        self.note(copy.note(loc));
    }

    /// An allocation was refused.
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

    /// A GPU may lose some of the output of a launch.
    pub(super) fn say_lost_prints(&mut self, report: &LaunchReport, loc: LocId) {
        let (calls, kept) = (
            report.printf_calls,
            self.state.printf_bytes / PRINTF_CALL_BYTES,
        );
        if calls <= kept {
            return;
        }
        let room = (calls * PRINTF_CALL_BYTES).next_power_of_two();
        let text = format!(
            "`{}` calls printf {calls} times: the buffer of an H200 has room for {kept} calls, and those that the host does not fetch in time \
             are lost; `cudaDeviceSetLimit(cudaLimitPrintfFifoSize, {room})` before the first launch makes room for all",
            report.kernel_name,
        );
        self.say_once(loc, &text);
    }

    pub(super) fn say_once(&mut self, loc: LocId, text: &str) {
        if !self.outcome.notes.iter().any(|note| note.text == text) {
            self.say(loc, text, false);
        }
    }
}
