//! Tracks bytes that a launch leaves differently under another schedule, until they are read. Only then does the
//! difference matter.

use super::traffic::Span;
use super::{AddressKind, Memory};

/// The most launches whose bytes are tracked. For others all bytes count as read.
const MAX_SUSPECTS: usize = 4096;

/// The bytes that one launch left differently.
#[derive(Clone, Debug)]
pub(super) struct Suspect {
    spans: Vec<Span>,
    is_read: bool,
}

impl Memory {
    /// Tracks from now on whether some of these bytes are read. `None`: reads cannot be seen, as in memory that the
    /// host reads directly.
    pub(crate) fn suspect(&mut self, spans: Vec<Span>) -> Option<u32> {
        let is_device = |&(start, _): &Span| self.kind_of(start) == AddressKind::Device;
        if self.suspects.len() >= MAX_SUSPECTS || !spans.iter().all(is_device) {
            return None;
        }
        let number = self.suspects.len() as u32;
        self.suspects.push(Suspect {
            spans,
            is_read: false,
        });
        Some(number)
    }

    /// Whether there are any that have not been read yet.
    pub(crate) fn has_suspects(&self) -> bool {
        self.suspects.iter().any(|suspect| !suspect.is_read)
    }

    /// A copy or a launch reads these bytes, or may.
    pub fn note_read(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        for suspect in self.suspects.iter_mut().filter(|suspect| !suspect.is_read) {
            let overlaps = |&(start, until): &Span| start < end && address < until;
            suspect.is_read = suspect.spans.iter().any(overlaps);
        }
    }

    /// Whether some of them have been read.
    pub fn is_read(&self, suspect: u32) -> bool {
        self.suspects
            .get(suspect as usize)
            .is_none_or(|suspect| suspect.is_read)
    }
}
