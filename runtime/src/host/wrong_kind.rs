//! Copies whose kind does not fit their pointers: what both hosts say of them.

use interp::{TrapKind, trap::AccessOp, trap::BadAccess};
use ir::{LocId, Space};

use super::Note;

/// One end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyEnd {
    /// The pointer.
    pub address: u64,
    /// Whether it is the device's; `None` if it is no memory, or both sides' memory.
    pub is_device: Option<bool>,
}

/// A copy that the kind of its call does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongKind {
    /// Where it copies to.
    pub to: CopyEnd,
    /// Where it copies from.
    pub from: CopyEnd,
    /// `cudaMemcpyKind` as a number, up to 3.
    pub kind: u64,
    /// The destination is the pointer that does not fit; otherwise it is the source.
    pub is_destination: bool,
}

impl WrongKind {
    /// The remark about a call there.
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

    /// The kind that fits, where both pointers are one side's.
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
