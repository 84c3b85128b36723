//! Happens-before, in addition to program order and barriers: `__syncwarp` of some lanes, and release and acquire.
//!
//! Time is one number that grows with every synchronisation. A thread's [`VectorClock`] has a time for each block, up
//! to which everything that the block did happens before the thread, and later times of single threads.
//!
//! - A fence copies the clock of its thread. A later atomic or `volatile` store *releases* the copy at its address.
//! - An atomic or `volatile` load there *acquires* it: the clock joins that of the loading thread.
//! - PTX requires a fence of the reader, too. CUDA's own samples have none, so it is required only where a lock is taken
//!   (a compare-and-swap with a constant, in a loop); a barrier is also sufficient.
//! - Scope: a release by a fence or an atomic of block scope can be acquired only in the block.
//! - A barrier or `__syncwarp` joins the clocks of its threads, acquired and fenced.

use std::collections::HashMap;
use std::sync::Arc;

use crate::isa::mask::LaneMask;

/// The owner of a time: a block's number, and 0 for the whole block or otherwise the thread's number plus one.
type Agent = (u32, u32);

/// For each block and thread, the time up to which its accesses happen before. The list is in ascending order. It
/// contains a thread only if its time is later than its block's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VectorClock(Vec<(Agent, u32)>);

impl VectorClock {
    fn join(&mut self, other: &VectorClock) {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all = (0, 0);
        loop {
            let (who, time) = match (ours.peek(), theirs.peek()) {
                (Some(&&(a, ours_until)), Some(&&(b, theirs_until))) if a == b => {
                    ours.next();
                    theirs.next();
                    (a, ours_until.max(theirs_until))
                }
                (Some(&&a), Some(&&b)) if b.0 < a.0 => {
                    theirs.next();
                    b
                }
                (Some(&&a), _) => {
                    ours.next();
                    a
                }
                (None, Some(&&b)) => {
                    theirs.next();
                    b
                }
                (None, None) => break,
            };
            if who.1 == 0 {
                all = (who.0, time);
            } else if all.0 == who.0 && time <= all.1 {
                continue;
            }
            sum.push((who, time));
        }
        self.0 = sum;
    }

    /// Whether joining the other would change nothing.
    fn includes(&self, other: &VectorClock) -> bool {
        let mut ours = self.0.iter().peekable();
        let mut all = (u32::MAX, 0);
        other.0.iter().all(|&(who, time)| {
            let mut own = None;
            while let Some(&&(known, until)) = ours.peek().filter(|(known, _)| *known <= who) {
                if known.1 == 0 {
                    all = (known.0, until);
                }
                own = (known == who).then_some(until);
                ours.next();
            }
            let known = all.0 == who.0 && (who.1 != 0 || own.is_some());
            known && time <= all.1 || own.is_some_and(|until| time <= until)
        })
    }

    fn until(&self, who: Agent) -> Option<u32> {
        let at = self.0.binary_search_by_key(&who, |&(known, _)| known);
        at.ok().map(|at| self.0[at].1)
    }

    /// The time of a thread.
    fn time(&self, block: u32, thread: u32) -> u32 {
        let until = |who| self.until(who).unwrap_or(0);
        until((block, 0)).max(until((block, thread + 1)))
    }

    pub(crate) fn covers(&self, block: u32, thread: u32, time: u32) -> bool {
        let holds = |who| self.until(who).is_some_and(|until| until >= time);
        holds((block, 0)) || holds((block, thread + 1))
    }
}

/// The groups of lanes that wait for each other at a `__syncwarp`, and the lowest lane of each. Each lane of `mask`
/// waits for those it has named.
pub(crate) fn groups(mask: u32, named: &[u32; 32]) -> impl Iterator<Item = (u32, u32)> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = (left != 0).then(|| left.trailing_zeros())?;
        let group = named[lane as usize] & mask | 1 << lane;
        left &= !group;
        Some((lane, group))
    })
}

type SharedClock = Option<Arc<VectorClock>>;

fn joined(a: &SharedClock, b: &SharedClock) -> SharedClock {
    match (a, b) {
        (None, one) | (one, None) => one.clone(),
        (Some(a), Some(b)) if Arc::ptr_eq(a, b) || a.includes(b) => Some(a.clone()),
        (Some(a), Some(b)) if b.includes(a) => Some(b.clone()),
        (Some(a), Some(b)) => {
            let mut sum = VectorClock::clone(a);
            sum.join(b);
            Some(Arc::new(sum))
        }
    }
}

/// What a thread acquired and fenced since the block's last barrier.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    acquired: SharedClock,
    /// Acquired with a lock, and waiting for a fence: releases of the block's own threads, and of others.
    unfenced: [SharedClock; 2],
    /// Fenced with at least block scope, and with at least device scope.
    fenced: [SharedClock; 2],
    /// The last acquired clock of each scope, because a thread that polls acquires the same one again and again.
    last_acquired: [SharedClock; 2],
}

impl ThreadClocks {
    fn join(&mut self, other: &ThreadClocks) {
        self.acquired = joined(&self.acquired, &other.acquired);
        for unfenced in &other.unfenced {
            self.acquired = joined(&self.acquired, unfenced);
        }
        for (ours, theirs) in self.fenced.iter_mut().zip(&other.fenced) {
            *ours = joined(ours, theirs);
        }
    }
}

/// The releases at an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Released {
    device: SharedClock,
    /// A release for threads of one block only.
    block: Option<(u32, Arc<VectorClock>)>,
    /// The releasing threads: block and thread, and the time of the fence.
    pub(crate) by: HashMap<(u32, u32), u32>,
}

/// When lanes last synchronised. `[l][m]`: everything that `m` did up to that time is ordered before `l`.
type Pairs = Box<[[u32; 32]; 32]>;

/// When lanes of a block's warps last met.
#[derive(Debug, Default)]
struct Lanes {
    /// By warp: when all of its lanes met.
    full: Vec<u32>,
    pairs: Vec<Option<Pairs>>,
    /// Whether some of `pairs` are not empty.
    has_pairs: bool,
}

impl Lanes {
    fn begin(&mut self, warps: usize) {
        self.full.clear();
        self.full.resize(warps, 0);
        if self.has_pairs || self.pairs.len() != warps {
            self.pairs = vec![None; warps];
            self.has_pairs = false;
        }
    }

    /// Whether an access of a lane at `time` was before the last time that the lane met another one.
    fn have_met(&self, warp: u32, lane: u32, time: u32, other: u32) -> bool {
        time <= self.last(warp, lane, other)
    }

    /// When a lane of a warp last met another one.
    fn last(&self, warp: u32, lane: u32, other: u32) -> u32 {
        let pairs = self.pairs[warp as usize].as_ref();
        let pair = pairs.map_or(0, |pairs| pairs[other as usize][lane as usize]);
        self.full[warp as usize].max(pair)
    }

    fn barrier(&mut self) {
        if self.has_pairs {
            self.pairs.fill(None);
            self.has_pairs = false;
        }
    }

    /// Some lanes of a warp meet. `all`: these are all live lanes.
    fn meet(&mut self, warp: u32, lanes: u32, all: bool, now: u32) {
        if all {
            self.full[warp as usize] = now;
            self.pairs[warp as usize] = None;
            return;
        }
        self.has_pairs = true;
        let pairs = self.pairs[warp as usize].get_or_insert_with(|| Box::new([[0; 32]; 32]));
        let mut row = [0; 32];
        for lane in LaneMask(lanes) {
            for (sum, &time) in row.iter_mut().zip(&pairs[lane]) {
                *sum = time.max(*sum);
            }
        }
        for lane in LaneMask(lanes) {
            row[lane] = now;
        }
        for lane in LaneMask(lanes) {
            pairs[lane] = row;
        }
    }
}

/// The order within one block.
#[derive(Debug, Default)]
pub(crate) struct Order {
    block: u32,
    /// The time of the last barrier.
    barrier: u32,
    /// Synchronised by `__syncwarp`, which orders memory.
    synced: Lanes,
    /// Met at `__syncwarp` or at exchanges, which do not order memory. A lane that passes a value on to other warps is
    /// assumed to be ordered by them.
    met: Lanes,
    /// By thread; empty until the first fence or acquire.
    own: Vec<ThreadClocks>,
    /// What all threads acquired and fenced before the last barrier.
    common: ThreadClocks,
    /// Whether `common` is not empty.
    has_common: bool,
    /// By numbered barrier: what the threads that have arrived did before.
    numbered: HashMap<u32, SharedClock>,
}

impl Order {
    pub(crate) fn begin(&mut self, block: u32, warps: usize) {
        self.block = block;
        self.barrier = 0;
        self.synced.begin(warps);
        self.met.begin(warps);
        if self.has_common || !self.own.is_empty() {
            self.own.clear();
            self.common = ThreadClocks::default();
            self.has_common = false;
        }
        self.numbered.clear();
    }

    fn own(&mut self, thread: u32) -> &mut ThreadClocks {
        if self.own.is_empty() {
            self.own = vec![ThreadClocks::default(); 32 * self.synced.full.len()];
        }
        &mut self.own[thread as usize]
    }

    /// Whether an access of the thread `from` in this block at `time` is ordered before a current one of `to`.
    pub(crate) fn in_block(&self, from: (u32, u32), time: u32, to: (u32, u32)) -> bool {
        let ((warp, lane), (my_warp, my_lane)) = (from, to);
        if from == to || time <= self.barrier {
            return true;
        }
        if warp == my_warp && self.synced.have_met(warp, lane, time, my_lane) {
            return true;
        }
        self.acquired(self.block, 32 * warp + lane, time, to)
    }

    /// Whether lanes of one warp have taken part in an exchange since the first of them made an access at `time`.
    pub(crate) fn exchanged(&self, from: (u32, u32), time: u32, to: (u32, u32)) -> bool {
        from.0 == to.0 && self.met.have_met(from.0, from.1, time, to.1)
    }

    /// Whether the last barrier was later.
    pub(crate) fn past_barrier(&self, time: u32) -> bool {
        time <= self.barrier
    }

    /// Whether accesses of all lanes of this block's `warp` up to `time` are ordered before a current one of `to`.
    pub(crate) fn all_lanes(&self, warp: u32, time: u32, to: u32) -> bool {
        time <= self.barrier || warp == to && time <= self.synced.full[warp as usize]
    }

    /// Whether an access of a thread of any block at `time` happens before a release that this one acquired.
    pub(crate) fn acquired(&self, block: u32, thread: u32, time: u32, to: (u32, u32)) -> bool {
        let covers = |clock: &SharedClock| {
            clock
                .as_ref()
                .is_some_and(|clock| clock.covers(block, thread, time))
        };
        covers(&self.common.acquired)
            || self
                .own
                .get((32 * to.0 + to.1) as usize)
                .is_some_and(|own| covers(&own.acquired))
    }

    /// Whether it would if a fence had followed after the lock was taken.
    pub(crate) fn misses_fence(&self, block: u32, thread: u32, time: u32, to: (u32, u32)) -> bool {
        let own = self.own.get((32 * to.0 + to.1) as usize);
        own.is_some_and(|own| {
            let mut unfenced = own.unfenced.iter().flatten();
            unfenced.any(|clock| clock.covers(block, thread, time))
        })
    }

    /// All threads arrived at a barrier.
    pub(crate) fn barrier(&mut self, now: u32) {
        self.barrier = now;
        if !self.own.is_empty() {
            for own in std::mem::take(&mut self.own) {
                self.common.join(&own);
            }
            self.has_common = true;
        }
        self.synced.barrier();
        self.met.barrier();
    }

    /// Lanes of a warp synchronised, or exchanged values. `all`: these are all live lanes.
    pub(crate) fn meet(
        &mut self,
        (warp, lanes): (u32, u32),
        all: bool,
        now: u32,
        orders_memory: bool,
    ) {
        let first = 32 * warp;
        if !self.own.is_empty() {
            let mut sum = ThreadClocks::default();
            for lane in LaneMask(lanes) {
                sum.join(&self.own[(first + lane as u32) as usize]);
            }
            for lane in LaneMask(lanes) {
                self.own[(first + lane as u32) as usize] = sum.clone();
            }
        }
        self.met.meet(warp, lanes, all, now);
        if orders_memory {
            self.synced.meet(warp, lanes, all, now);
        }
    }

    /// The clock of everything that happens before a thread's current accesses.
    fn clock(&self, warp: u32, lane: usize, now: u32) -> VectorClock {
        let mut clock = vec![((self.block, 0), self.barrier)];
        for other in 0..32 {
            let synchronised = self.met.last(warp, other, lane as u32);
            let time = match other as usize == lane {
                true => now,
                false => synchronised,
            };
            if time > self.barrier {
                clock.push(((self.block, 32 * warp + other + 1), time));
            }
        }
        let mut clock = VectorClock(clock);
        let own = self.own.get(32 * warp as usize + lane);
        let own = own.and_then(|own| own.acquired.as_ref());
        for acquired in self.common.acquired.iter().chain(own) {
            clock.join(acquired);
        }
        clock
    }

    /// Lanes arrive at a numbered barrier.
    pub(crate) fn arrive(&mut self, barrier: u32, warp: u32, lanes: u32, now: u32) {
        for lane in LaneMask(lanes) {
            let clock = Some(Arc::new(self.clock(warp, lane, now)));
            let at = self.numbered.entry(barrier).or_default();
            *at = joined(at, &clock);
        }
    }

    /// Lanes pass it. They are then ordered after everything that the arrived threads did before it.
    pub(crate) fn pass(&mut self, barrier: u32, warp: u32, lanes: u32) {
        let clock = self.numbered.get(&barrier).cloned().flatten();
        for lane in LaneMask(lanes) {
            let own = self.own(32 * warp + lane as u32);
            let unfenced = std::mem::take(&mut own.unfenced);
            for clock in unfenced.iter().chain([&clock]) {
                own.acquired = joined(&own.acquired, clock);
            }
        }
    }

    /// The barrier starts again.
    pub(crate) fn opened(&mut self, barrier: u32) {
        self.numbered.remove(&barrier);
    }

    /// A fence of some lanes. `device`: threads of other blocks see it, too.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32, device: bool, now: u32) {
        for lane in LaneMask(lanes) {
            let thread = 32 * warp + lane as u32;
            let own = self.own(thread);
            for unfenced in &mut own.unfenced[..1 + usize::from(device)] {
                own.acquired = joined(&own.acquired, &unfenced.take());
            }
            let clock = self.clock(warp, lane, now);
            let clock = Some(Arc::new(clock));
            let own = self.own(thread);
            own.fenced[0].clone_from(&clock);
            if device {
                own.fenced[1] = clock;
            }
        }
    }

    /// Whether the thread has anything to release.
    pub(crate) fn has_fenced(&self, thread: u32) -> bool {
        self.common.fenced[0].is_some()
            || self
                .own
                .get(thread as usize)
                .is_some_and(|own| own.fenced[0].is_some())
    }

    /// An atomic or `volatile` store of a thread. `device`: other blocks see it, too.
    pub(crate) fn release(&mut self, thread: u32, at: &mut Released, device: bool) {
        let own = self.own.get(thread as usize);
        let fenced = |level: usize| {
            let own = own.map_or(&None, |own| &own.fenced[level]);
            joined(&self.common.fenced[level], own)
        };
        if let Some(clock) = fenced(0) {
            at.by
                .insert((self.block, thread), clock.time(self.block, thread));
        }
        if device {
            at.device = joined(&at.device, &fenced(1));
        }
        if let Some(clock) = fenced(0) {
            let before = match &at.block {
                Some((block, clock)) if *block == self.block => Some(clock.clone()),
                _ => None,
            };
            at.block = joined(&before, &Some(clock)).map(|clock| (self.block, clock));
        }
    }

    /// An atomic or `volatile` load of a thread. `device`: it sees other blocks' stores. `takes`: it takes a lock.
    pub(crate) fn acquire(&mut self, thread: u32, at: &Released, device: bool, takes: bool) {
        let block = match &at.block {
            Some((block, clock)) if *block == self.block => Some(clock.clone()),
            _ => None,
        };
        for (scope, clock) in [block, at.device.clone().filter(|_| device)]
            .iter()
            .enumerate()
        {
            if clock.is_some() {
                let own = self.own(thread);
                if !takes {
                    if let (Some(last_acquired), Some(clock)) = (&own.last_acquired[scope], clock)
                        && Arc::ptr_eq(last_acquired, clock)
                    {
                        continue;
                    }
                    own.last_acquired[scope].clone_from(clock);
                }
                let into = if takes {
                    &mut own.unfenced[scope]
                } else {
                    &mut own.acquired
                };
                *into = joined(into, clock);
            }
        }
    }
}
