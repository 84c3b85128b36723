//! Copies whose kind does not match their pointers: the note that both hosts show.

use interp::{TrapKind, trap::AccessOp, trap::BadAccess};
use ir::{LocId, Space};

use super::Note;

/// One end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyEnd {
    /// The pointer.
    pub address: u64,
    /// Whether the memory is the device's; `None` if it is not memory, or accessible to both sides.
    pub is_device: Option<bool>,
}

/// A copy whose pointers do not match the kind of its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongKind {
    /// Where it copies to.
    pub to: CopyEnd,
    /// Where it copies from.
    pub from: CopyEnd,
    /// `cudaMemcpyKind` as a number, up to 3.
    pub kind: u64,
    /// Whether the destination is the pointer that does not match; otherwise it is the source.
    pub is_destination: bool,
}

impl WrongKind {
    /// The note about the call at that place.
    pub fn note(&self, loc: LocId) -> Note {
        let (role, end, op, wants_device) = match self.is_destination {
            true => (
                "destination",
                self.to,
                AccessOp::Store,
                matches!(self.kind, 1 | 3),
            ),
            false => (
                "source",
                self.from,
                AccessOp::Load,
                matches!(self.kind, 2 | 3),
            ),
        };
        let access = Box::new(BadAccess {
            op,
            space: Space::Generic,
            address: end.address,
            width_bytes: 0,
            object: None,
        });
        let (is, should, fault) = match wants_device {
            true => (
                "a host pointer",
                "a device pointer",
                TrapKind::HostPointerOnDevice(access),
            ),
            false => (
                "a device pointer",
                "a host pointer",
                TrapKind::DevicePointerOnHost(access),
            ),
        };
        let text = format!("cudaMemcpy: the {role} is {is}, but the kind of copy expects {should}");
        Note {
            fault: Some(fault),
            advice: self.advice(),
            ..Note::new(loc, text, true)
        }
    }

    /// The kind that matches, if each pointer belongs to one side.
    fn advice(&self) -> Option<String> {
        let (from, to) = (self.from.is_device?, self.to.is_device?);
        let (name, number) = match (from, to) {
            (false, false) => ("cudaMemcpyHostToHost", 0),
            (false, true) => ("cudaMemcpyHostToDevice", 1),
            (true, false) => ("cudaMemcpyDeviceToHost", 2),
            (true, true) => ("cudaMemcpyDeviceToDevice", 3),
        };
        let word = |device| if device { "device" } else { "host" };
        let swapped = match number + self.kind {
            3 if self.kind == 1 || self.kind == 2 => {
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
}
