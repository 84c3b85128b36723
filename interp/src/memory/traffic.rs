//! Records accesses for tools that check the order of launches, copies and the host: what a launch read and wrote, and
//! what the host did in the meantime to memory that kernels may access, too.

use ir::LocId;

use super::defined::Defined;
use super::{AddressKind, Memory};

/// The most ranges of each kind that are reported for a launch. Others are left out.
const MAX_SPANS: usize = 1 << 17;
/// The most accesses of the host that are kept until they are fetched.
const MAX_ACCESSES: usize = 1 << 16;

/// Bytes from one address up to, but not including, another.
pub type Span = (u64, u64);

/// The memory for which launches' accesses are recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Track {
    /// No memory.
    #[default]
    Nothing,
    /// Managed and pinned memory, which the host can reach.
    Managed,
    /// All memory.
    Everything,
}

/// The bytes that a launch accessed, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Bytes that it wrote.
    pub written: Vec<Span>,
    /// Bytes that it changed atomically.
    pub updated: Vec<Span>,
    /// Bytes that it read and had not written before.
    pub read: Vec<Span>,
    /// Whether it has fences, or waits for what others write.
    pub communicates: bool,
}

/// An access of the host to managed or pinned memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostAccess {
    /// The bytes.
    pub span: Span,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is `volatile` or atomic: it can see what others do in the meantime.
    pub looks: bool,
    /// The place.
    pub loc: LocId,
}

/// The records of a [`Memory`].
#[derive(Debug, Default)]
pub(super) struct Traffic {
    track: Track,
    touched: Touched,
    watching: bool,
    host: Vec<HostAccess>,
}

/// The effects of a launch on the bytes of one region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touch {
    pub(crate) written: Defined,
    pub(crate) updated: Defined,
    pub(crate) read: Defined,
}

impl Touch {
    pub(crate) fn join(&mut self, other: &Touch) {
        self.written.join(&other.written);
        self.updated.join(&other.updated);
        self.read.join(&other.read);
    }
}

impl Memory {
    /// Sets the memory for which accesses of launches with checks are recorded.
    pub fn track(&mut self, track: Track) {
        self.traffic.track = track;
    }

    /// The bytes that the last launch accessed.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.traffic.touched)
    }

    /// Starts or stops recording the host's accesses to managed and pinned memory.
    pub fn watch_host(&mut self, on: bool) {
        self.traffic.watching = on;
    }

    /// Whether they are recorded.
    #[inline]
    pub fn watches_host(&self) -> bool {
        self.traffic.watching
    }

    /// The host's accesses since the last call.
    pub fn take_host_accesses(&mut self) -> Vec<HostAccess> {
        std::mem::take(&mut self.traffic.host)
    }

    /// The host accesses some bytes. This is recorded if the host is watched and they are managed or pinned.
    pub fn note_host(&mut self, access: HostAccess) {
        let (start, end) = access.span;
        if !self.traffic.watching || start >= end || self.kind_of(start) != AddressKind::Managed {
            return;
        }
        let host = &mut self.traffic.host;
        // Loops go through memory from one end to the other, at a few places alternately.
        let kept = host.len();
        let like = host.iter_mut().rev().take(8).find(|known| {
            (known.loc, known.writes, known.looks) == (access.loc, access.writes, access.looks)
                && known.span.0 <= end
                && start <= known.span.1
        });
        match like {
            Some(known) => known.span = (known.span.0.min(start), known.span.1.max(end)),
            None if kept < MAX_ACCESSES => host.push(access),
            None => {}
        }
    }

    /// The name of the object at an address, and the index of the element there, if the element size is known.
    pub fn describe(&self, address: u64) -> Option<(String, Option<u64>)> {
        let object = self.region(address)?.describe(address);
        let element = object.element_bytes;
        let index = (element > 1).then(|| object.offset_bytes as u64 / element);
        Some((object.name, index))
    }

    /// Whether a launch's effects on the region with this base are recorded.
    pub(crate) fn tracks(&self, base: u64) -> bool {
        match (self.traffic.track, self.kind_of(base)) {
            (Track::Nothing, _) => false,
            (_, AddressKind::Managed) => true,
            (track, AddressKind::Device | AddressKind::Constant) => track == Track::Everything,
            _ => false,
        }
    }

    /// A launch ends with these effects, by the bases of the regions in ascending order.
    pub(crate) fn keep_touched(&mut self, all: &[(u64, Touch)], communicates: bool) {
        let mut touched = Touched {
            communicates,
            ..Touched::default()
        };
        for (base, touch) in all {
            let size = self.region(*base).map_or(0, |region| region.size);
            for (spans, bytes) in [
                (&mut touched.written, &touch.written),
                (&mut touched.updated, &touch.updated),
                (&mut touched.read, &touch.read),
            ] {
                bytes.each_run(size, |from, to| {
                    if spans.len() < MAX_SPANS {
                        spans.push((base + from, base + to));
                    }
                });
            }
        }
        self.traffic.touched = touched;
    }
}
