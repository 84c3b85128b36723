//! Skips the race check of shared memory for blocks that repeat an earlier block.
//!
//! Most blocks of a launch access their shared memory in the same order, with the same lanes, at the same offsets. The
//! result of the check follows from that alone, as long as no pair of accesses has to be judged: only then do values
//! matter. So the accesses of a block without findings are recorded, and those of later blocks are compared with the
//! recorded list. As long as they are the same, there are no findings either, and no cell is touched. If a block
//! departs from the list, its accesses until then are recorded in the cells after all ([`Detector::depart`]), as of
//! their warps and times, and the block goes on without the list.
//!
//! The list has loads and stores, with the barriers and turns of warps between them. Atomics, `volatile` accesses,
//! fences, other synchronisation, and uninitialised values end it.

#![allow(
    clippy::inline_always,
    reason = "what most accesses do must vanish into the engine"
)]

use ir::Space;

use super::deferred::{Footprint, Sweep, in_order};
use super::detector::Detector;
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::observe::{Access, Swept};
use crate::patience::Patience;

/// The most recorded accesses of a block: 1 MiB of them.
const MAX_EVENTS: usize = 1 << 15;
/// The most patterns of these. A block with more is unlikely to be repeated.
const MAX_KEPT: usize = 1 << 10;
/// The initial score of a list. It gains a point for a block that follows it, and loses some for a block that departs.
const POINTS: u32 = 4;
const MOST_POINTS: u32 = 16;
const LOSS: u32 = 2;

/// A recorded access: its site, time and offsets.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// The site, and the version of its pattern.
    row: u32,
    version: u32,
    /// The footprint's index in the list of recorded footprints.
    kept: u32,
    lowest: u32,
    /// For loads: all rounds of a loop.
    sweep: Sweep,
    mask: u32,
    warp: u32,
    /// The number of turns and barriers of the block until then.
    time: u32,
    /// The number of barriers alone.
    barriers: u32,
    /// Whether it is the warp's first turn since the barrier.
    first_turn: bool,
}

impl Event {
    /// Whether it is the same access. Without branches, because it nearly always is.
    #[inline(always)]
    fn is(&self, other: &Event) -> bool {
        (self.version ^ other.version) | (self.lowest ^ other.lowest) == 0 && self.is_like(other)
    }

    /// Whether it is the same access apart from its offsets.
    #[inline(always)]
    fn is_like(&self, other: &Event) -> bool {
        (self.row ^ other.row)
            | (self.sweep.stride_bytes ^ other.sweep.stride_bytes)
            | (self.sweep.count ^ other.sweep.count)
            | (self.sweep.together ^ other.sweep.together)
            | (self.mask ^ other.mask)
            | (self.warp ^ other.warp)
            | (self.time ^ other.time)
            | (self.barriers ^ other.barriers)
            | u32::from(self.first_turn ^ other.first_turn)
            == 0
    }
}

/// The version of an access without a pattern.
const NO_VERSION: u32 = u32::MAX;

/// A recorded footprint of a pattern: the offsets of its lanes, as in [`Footprint`].
#[derive(Clone, Copy, Debug)]
struct RecordedFootprint {
    pattern: Option<(u32, u32)>,
    bytes: [u32; 32],
    extent: u32,
    run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// Accesses are recorded in the cells only.
    #[default]
    Off,
    /// Accesses are recorded in the cells and in the list.
    Records,
    /// The block has followed the list so far.
    Follows,
}

/// The list, and the current block's relation to it.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    mode: Mode,
    events: Vec<Event>,
    kept: Vec<RecordedFootprint>,
    /// Whether the list is of a whole block.
    whole: bool,
    points: u32,
    /// Whether blocks have followed the list.
    was_useful: bool,
    /// Delays the next recording if earlier lists were useless.
    patience: Patience,
    /// How many entries of the list the block has followed.
    at: usize,
    /// The time when it began.
    begun: u32,
    /// The registers and memory of its first access. Recording in the cells later needs no registers, because nothing
    /// of it is judged.
    from: Option<(View, *const u8)>,
}

// SAFETY: the pointers are to the registers and the memory of the current block, and go where it goes: to one worker.
unsafe impl Send for Repeats {}

impl Repeats {
    /// The block has a finding, or does something that the list cannot contain: it is not recorded.
    pub(super) fn spoil(&mut self) {
        if self.mode == Mode::Records {
            self.mode = Mode::Off;
            self.patience.renew(false);
        }
    }

    /// A block begins at a time.
    fn begin(&mut self, now: u32) {
        (self.at, self.begun, self.from) = (0, now, None);
        self.mode = match self.whole {
            true => Mode::Follows,
            false if self.patience.tries() => {
                self.events.clear();
                self.kept.clear();
                Mode::Records
            }
            false => Mode::Off,
        };
    }

    /// A block has ended.
    fn end(&mut self) {
        match self.mode {
            Mode::Records if !self.events.is_empty() => {
                (self.whole, self.points, self.was_useful) = (true, POINTS, false);
            }
            Mode::Follows => {
                self.points = (self.points + 1).min(MOST_POINTS);
                self.was_useful = true;
            }
            Mode::Records | Mode::Off => {}
        }
        self.mode = Mode::Off;
    }

    #[cold]
    fn record(&mut self, mut event: Event, footprint: &Footprint<'_>) {
        if self.events.len() >= MAX_EVENTS || self.kept.len() >= MAX_KEPT {
            return self.spoil();
        }
        let pattern = footprint.pattern;
        let known = self.kept.iter().rposition(|kept| kept.pattern == pattern);
        let at = known.filter(|_| pattern.is_some()).unwrap_or_else(|| {
            self.kept.push(RecordedFootprint {
                pattern,
                bytes: *footprint.bytes,
                extent: footprint.extent,
                run: footprint.run,
            });
            self.kept.len() - 1
        });
        event.kept = at as u32;
        self.events.push(event);
    }

    /// Whether an access is the one at `at` in the list.
    #[inline(always)]
    fn is_at(&mut self, at: usize, event: &Event, footprint: &Footprint<'_>) -> bool {
        // Two accesses without a pattern may have different offsets.
        let next = self.events.get(at).filter(|_| footprint.pattern.is_some());
        next.is_some_and(|next| next.is(event)) || self.is_renumbered(at, event, footprint)
    }

    /// The same for an access whose site has got another pattern since, or that has none: its lanes may still have the
    /// same offsets. A block at an edge of the grid makes such accesses, and the blocks after it get other patterns.
    #[cold]
    #[inline(never)]
    fn is_renumbered(&mut self, at: usize, event: &Event, footprint: &Footprint<'_>) -> bool {
        let Some(next) = self.events.get_mut(at).filter(|next| next.is_like(event)) else {
            return false;
        };
        let kept = &self.kept[next.kept as usize].bytes;
        let mut lanes = LaneMask(event.mask).into_iter();
        let is_same = lanes.all(|lane| {
            next.lowest.wrapping_add(kept[lane]) == event.lowest.wrapping_add(footprint.bytes[lane])
        });
        if is_same && next.lowest == event.lowest && footprint.pattern.is_some() {
            next.version = event.version;
        }
        is_same
    }
}

/// The requests to shared memory among these.
#[inline(always)]
fn shared<'a>(loads: &'a [Swept<'a>]) -> impl Iterator<Item = &'a Swept<'a>> {
    let is_shared = |load: &&Swept<'_>| load.access.space == Space::Shared;
    loads.iter().filter(is_shared)
}

impl Detector<'_> {
    /// Whether blocks may repeat each other: shared memory has a shadow, and nothing but barriers orders its accesses.
    fn may_repeat(&self) -> bool {
        self.subject.quick && !self.subject.exact && !self.subject.fences && self.subject.shadows()
    }

    /// A new block begins.
    pub(super) fn begin_repeats(&mut self) {
        if self.may_repeat() {
            self.repeats.begin(self.now);
        }
    }

    pub(super) fn end_repeats(&mut self) {
        self.repeats.end();
    }

    /// Whether the block follows the list, so that nothing is recorded.
    #[inline(always)]
    pub(crate) fn follows(&self) -> bool {
        self.repeats.mode == Mode::Follows
    }

    /// Whether an access to shared memory is the next one of the list, so that nothing has to be done. `is_clean`: no
    /// lane holds an uninitialised value.
    #[inline(always)]
    pub(crate) fn repeats(
        &mut self,
        access: &Access<'_>,
        footprint: &Footprint<'_>,
        is_clean: bool,
    ) -> bool {
        if self.repeats.mode == Mode::Off {
            return false;
        }
        let event = self.event(access, footprint, Sweep::ONE);
        let repeats = &mut self.repeats;
        if repeats.mode == Mode::Follows && is_clean && repeats.is_at(repeats.at, &event, footprint)
        {
            if repeats.at == 0 {
                repeats.from = Some((access.r, access.memory));
            }
            repeats.at += 1;
            return true;
        }
        self.off_list(access, footprint, is_clean.then_some(event));
        false
    }

    /// The same for an access without a pattern.
    pub(crate) fn repeats_window(
        &mut self,
        access: &Access<'_>,
        offsets: &[u32; 32],
        is_clean: bool,
    ) -> bool {
        if self.repeats.mode == Mode::Off || access.mask == 0 {
            return false;
        }
        if access.counter != access.site.counter {
            self.leave_list();
            return false;
        }
        let mut bytes = [0; 32];
        let footprint = Footprint::of(access, offsets, &mut bytes);
        self.repeats(access, &footprint, is_clean)
    }

    /// An access as an entry of the list.
    #[inline(always)]
    fn event(&self, access: &Access<'_>, footprint: &Footprint<'_>, sweep: Sweep) -> Event {
        let mask = access.mask;
        Event {
            row: access.site.row,
            version: footprint.pattern.map_or(NO_VERSION, |(_, version)| version),
            kept: 0,
            lowest: footprint.lowest,
            sweep,
            mask,
            warp: self.warp,
            time: self.now.wrapping_sub(self.repeats.begun),
            barriers: self.resident.barriers,
            first_turn: self.resident.table.is_first_turn(),
        }
    }

    /// Whether `count` loads of shared memory in several rounds of a loop can be recorded as one without a finding. If
    /// so, records them.
    #[inline(always)]
    pub(crate) fn repeats_rounds(&mut self, loads: &[Swept<'_>], together: u32) -> bool {
        if self.repeats.mode != Mode::Follows {
            return self.rounds_off_list(loads, together);
        }
        let at = self.repeats.at;
        for (number, load) in shared(loads).enumerate() {
            let (footprint, sweep) = load.reads(together);
            let event = self.event(&load.access, &footprint, sweep);
            if !self.repeats.is_at(at + number, &event, &footprint) {
                return false;
            }
        }
        if at == 0 {
            self.repeats.from = Some((loads[0].access.r, loads[0].access.memory));
        }
        self.repeats.at += together as usize;
        true
    }

    /// Does so for a block that does not follow the list: the loads are deferred, and added to the list.
    #[inline(never)]
    fn rounds_off_list(&mut self, loads: &[Swept<'_>], together: u32) -> bool {
        let waiting = self.resident.deferred.waiting();
        for load in shared(loads) {
            let (footprint, sweep) = load.reads(together);
            if !self.defer_sweep(&load.access, &footprint, sweep) {
                self.resident.deferred.keep(waiting);
                return false;
            }
        }
        for load in shared(loads) {
            if self.repeats.mode == Mode::Records {
                let (footprint, sweep) = load.reads(together);
                let event = self.event(&load.access, &footprint, sweep);
                self.repeats.record(event, &footprint);
            }
        }
        true
    }

    /// For an access that is not the next one of the list: the block departs from it, or adds the access to it, if
    /// possible (`event`).
    #[cold]
    #[inline(never)]
    fn off_list(&mut self, access: &Access<'_>, footprint: &Footprint<'_>, event: Option<Event>) {
        self.depart();
        if self.repeats.mode != Mode::Records {
            return;
        }
        let site = access.site;
        let is_plain = site.op != AccessOp::Atomic && !site.access.volatile;
        match event {
            Some(event) if is_plain && access.counter == site.counter => {
                self.repeats.record(event, footprint);
            }
            _ => self.repeats.spoil(),
        }
    }

    /// The block does something that the list does not contain.
    #[inline(always)]
    pub(crate) fn leave_list(&mut self) {
        if self.repeats.mode != Mode::Off {
            self.depart();
            self.repeats.spoil();
        }
    }

    /// If the block has followed the list: records its accesses so far in the cells, as if that had been done at once.
    #[cold]
    #[inline(never)]
    fn depart(&mut self) {
        if self.repeats.mode != Mode::Follows {
            return;
        }
        let mut repeats = std::mem::take(&mut self.repeats);
        #[cfg(test)]
        crate::tests::DEPARTED.set(crate::tests::DEPARTED.get() + repeats.at);
        let (now, warp, barriers) = (self.now, self.warp, self.resident.barriers);
        let first_turn = self.resident.table.is_first_turn();
        self.resident.table.begin_again();
        (self.resident.barriers, self.now) = (1, repeats.begun);
        if let Some((r, memory)) = repeats.from {
            let place = |event: &Event| (event.lowest, event.sweep);
            in_order(&repeats.events[..repeats.at], place, |event, lowest| {
                self.come_to(
                    repeats.begun.wrapping_add(event.time),
                    event.barriers,
                    event.first_turn,
                );
                self.warp = event.warp;
                let kept = &repeats.kept[event.kept as usize];
                let site = &self.subject.code.sites[event.row as usize];
                let access = Access {
                    site,
                    counter: site.counter,
                    space: Space::Shared,
                    mask: event.mask,
                    r,
                    memory,
                };
                let footprint = Footprint {
                    bytes: &kept.bytes,
                    lowest,
                    extent: kept.extent,
                    run: kept.run,
                    pattern: kept.pattern,
                };
                if !self.shared_quickly(&access, &footprint, true) {
                    self.shared(&access, &footprint.offsets(), kept.run);
                }
            });
        }
        self.come_to(now, barriers, first_turn);
        self.warp = warp;
        repeats.points = repeats.points.saturating_sub(LOSS);
        if repeats.points == 0 {
            repeats.whole = false;
            repeats.patience.renew(repeats.was_useful);
        }
        repeats.mode = Mode::Off;
        self.repeats = repeats;
    }

    /// Sets the time of the next access of a block that is recorded late.
    fn come_to(&mut self, now: u32, barriers: u32, first_turn: bool) {
        while self.resident.barriers < barriers {
            self.resident.barriers += 1;
            self.open(true);
        }
        if self.now != now {
            self.now = now;
            self.resident.table.begin_warp(first_turn);
        }
    }

    /// There is a finding for the block: no other block may follow it.
    pub(crate) fn spoil_list(&mut self) {
        self.repeats.spoil();
    }
}
