//! Who touched which bytes, for who wants to know what orders launches, copies and the host: what a launch read and wrote, and what the
//! host did meanwhile to memory that kernels may touch, too.

use ir::LocId;

use super::defined::Defined;
use super::{AddressKind, Memory};

/// Ranges that a launch is told to have touched, at most, of a kind; more are left out.
const MAX_SPANS: usize = 1 << 17;
/// Accesses of the host that are kept until somebody asks.
const MAX_ACCESSES: usize = 1 << 16;

/// Bytes from one address up to another, without the latter.
pub type Span = (u64, u64);

/// Of which memory it is kept what launches touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Track {
    /// Of none.
    #[default]
    Nothing,
    /// Of managed and pinned memory, which the host can reach.
    Managed,
    /// Of all.
    Everything,
}

/// What a launch did, byte by byte; ascending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// It wrote.
    pub written: Vec<Span>,
    /// It read, changed and wrote in one.
    pub updated: Vec<Span>,
    /// It read, and had not written before.
    pub read: Vec<Span>,
    /// It has fences, or waits for what others write.
    pub communicates: bool,
}

/// An access of the host to managed or pinned memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostAccess {
    /// The bytes.
    pub span: Span,
    /// It writes.
    pub writes: bool,
    /// `volatile` or atomic: it looks at what others do meanwhile.
    pub looks: bool,
    /// Where.
    pub loc: LocId,
}

/// What is kept in a [`Memory`].
#[derive(Debug, Default)]
pub(super) struct Traffic {
    track: Track,
    touched: Touched,
    watching: bool,
    host: Vec<HostAccess>,
}

/// What a launch did to the bytes of one region.
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
    /// From now on it is kept what launches with checks touch of such memory.
    pub fn track(&mut self, track: Track) {
        self.traffic.track = track;
    }

    /// What the last launch touched.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.traffic.touched)
    }

    /// From now on it is kept what the host does to managed and pinned memory, or no more.
    pub fn watch_host(&mut self, on: bool) {
        self.traffic.watching = on;
    }

    /// Whether that is so.
    #[inline]
    pub fn watches_host(&self) -> bool {
        self.traffic.watching
    }

    /// What the host did since the last call.
    pub fn take_host_accesses(&mut self) -> Vec<HostAccess> {
        std::mem::take(&mut self.traffic.host)
    }

    /// The host touches some bytes; kept if the host is watched and they are managed or pinned.
    pub fn note_host(&mut self, access: HostAccess) {
        let (start, end) = access.span;
        if !self.traffic.watching || start >= end || self.kind_of(start) != AddressKind::Managed {
            return;
        }
        let host = &mut self.traffic.host;
        // Loops go through memory from one end to the other, at a few places in turn.
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

    /// The object at an address, by its name, and which element of it that is, if it is known how long one is.
    pub fn describe(&self, address: u64) -> Option<(String, Option<u64>)> {
        let object = self.region(address)?.describe(address);
        let element = object.element_bytes;
        let index = (element > 1).then(|| object.offset_bytes as u64 / element);
        Some((object.name, index))
    }

    /// Whether it is to be kept what a launch does to the region that begins there.
    pub(crate) fn tracks(&self, base: u64) -> bool {
        match (self.traffic.track, self.kind_of(base)) {
            (Track::Nothing, _) => false,
            (_, AddressKind::Managed) => true,
            (track, AddressKind::Device | AddressKind::Constant) => track == Track::Everything,
            _ => false,
        }
    }

    /// A launch ends that did this, by the bases of the regions, ascending.
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
