//! What the user should know of a call: refused launches, failed copies, values that mean nothing here.

use super::*;

impl Host<'_> {
    pub(super) fn refuse(&mut self, kernel: FuncId, loc: LocId, why: InvalidLaunch) {
        self.state.last = cuda::error_of_refusal(&why);
        if self.outcome.faults.len() >= MOST_NOTES {
            self.say_once(
                LocId::default(),
                &format!("after {MOST_NOTES} refused launches, no more are shown"),
            );
            return;
        }
        self.outcome
            .faults
            .push(Fault::Invalid { kernel, loc, why });
    }

    /// Messages about the allocation name the line that made it.
    pub(super) fn name_allocation(&mut self, call: HostFn, address: u64, loc: LocId) {
        let allocation = Allocation {
            call: call.text(),
            loc,
            variable: self.unset.pointer.take(),
        };
        self.memory.note_allocation(address, allocation);
        let line = self.program.module().loc(loc).line;
        if line > 0 {
            self.memory
                .set_name(address, &format!("the allocation of line {line}"));
        }
    }

    /// Says it and keeps it; of very many, the first ones tell as much as all.
    pub(super) fn tell(&mut self, note: Note) {
        let like = |other: &&Note| other.is_error == note.is_error;
        let count = self.outcome.notes.iter().filter(like).count();
        if count > MOST_NOTES {
            return;
        }
        let note = match count {
            MOST_NOTES => Note {
                loc: LocId::default(),
                text: format!("after {MOST_NOTES} such messages, no more are shown"),
                fault: None,
                advice: None,
                ..note
            },
            _ => note,
        };
        self.io.note(&note);
        self.outcome.notes.push(note);
    }

    pub(super) fn say(&mut self, loc: LocId, text: impl Into<String>, is_error: bool) {
        let note = Note {
            loc,
            text: text.into(),
            is_error,
            fault: None,
            advice: None,
        };
        self.tell(note);
    }

    /// A call fails because of the memory it was given.
    pub(super) fn say_fault(&mut self, loc: LocId, what: &str, fault: MemoryFault) {
        let note = Note {
            loc,
            text: format!("{what}: {fault}"),
            is_error: true,
            fault: Some(fault.trap(AccessOp::Load)),
            advice: None,
        };
        self.tell(note);
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
                        ", or are the two the wrong way round? the destination comes first"
                    }
                    _ => "",
                };
                Some(format!(
                    "these pointers go from {} to {} memory, which is `{name}`{swapped}",
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
        let note = Note {
            loc,
            text,
            is_error: true,
            fault: Some(fault),
            advice,
        };
        self.tell(note);
    }

    /// Memory is refused.
    pub(super) fn say_shortage(&mut self, loc: LocId, bytes: u64, what: &str, on_heap: bool) {
        let why = self.spent.budget.shortage(&self.memory, on_heap);
        let text = format!("out of memory: cannot allocate {bytes} bytes of {what}{why}");
        self.say(loc, text, false);
    }

    pub(super) fn say_once(&mut self, loc: LocId, text: &str) {
        if !self.outcome.notes.iter().any(|note| note.text == text) {
            self.say(loc, text, false);
        }
    }
}
