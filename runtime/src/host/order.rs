//! The happens-before order of the host, launches and copies: vector clocks of the host and of each stream, and the last accesses to bytes.
//!
//! Calls run one after the other here, so a program that forgets to wait gets the right result; on a device it may not. The order that CUDA
//! documents is assumed. What CUDA leaves open is decided in the program's favour: a correct program has no findings.
//!
//! - Work in a stream comes after the earlier work in that stream, and after everything that the host had waited for when it enqueued the
//!   work.
//! - Work in the default stream (the legacy one) comes after all earlier work in blocking streams, and later work in those comes after it.
//! - An event represents the work before it. `cudaStreamWaitEvent` makes a stream wait for that work, `cudaEventSynchronize` the host.
//! - The host waits in `cudaDeviceSynchronize`, `cudaStreamSynchronize`, `cudaFree`, in copies that are not asynchronous, in those to
//!   pageable memory, and in `cudaMemset` of memory that it can access itself. `cudaMemset` of other memory returns at once. But many
//!   programs continue in a non-blocking stream, so it is not treated as late.
//! - The host may access managed and pinned memory at any time: only accesses to the same bytes conflict.
//! - A `volatile` or atomic access of the host waits for the work that writes there.

mod words;

use std::collections::BTreeMap;

use interp::memory::traffic::{HostAccess, Span, Touched, Track};
use ir::{HostFn, LocId};

pub use words::{Scene, unseen_prints};

/// The default stream.
const DEFAULT: usize = 0;

/// By stream: how much of its work has happened.
type Clock = Vec<u64>;

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (ours, theirs) in clock.iter_mut().zip(other) {
        *ours = (*ours).max(*theirs);
    }
}

fn at(clock: &Clock, stream: usize) -> u64 {
    clock.get(stream).copied().unwrap_or(0)
}

/// The kind of a piece of work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// A launch of the kernel of this name.
    Kernel(String),
    /// A call of the runtime.
    Call(HostFn),
}

/// A piece of work in a stream.
#[derive(Clone, Debug)]
pub struct Work {
    /// What it does.
    pub task: Task,
    /// The launch's index; `None` for a call.
    pub launch: Option<usize>,
    /// Where it was enqueued.
    pub loc: LocId,
    stream: usize,
    number: u64,
    /// The work that happens before it.
    before: Clock,
    /// Whether it may communicate with other work while it runs.
    communicates: bool,
}

/// The number of a [`Work`].
pub type Job = usize;

/// A kind of access to bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// The work reads them.
    Read,
    /// The work writes them.
    Write,
    /// The work updates them with atomics.
    Update,
}

impl Deed {
    /// The most informative one first.
    const ALL: [Deed; 3] = [Deed::Write, Deed::Update, Deed::Read];

    fn conflicts(self, other: Deed) -> bool {
        !matches!(
            (self, other),
            (Deed::Read, Deed::Read) | (Deed::Update, Deed::Update)
        )
    }
}

/// The last accesses to bytes: spans that do not overlap, by their start, each with its end.
#[derive(Debug, Default)]
struct Map(BTreeMap<u64, (u64, Job)>);

impl Map {
    fn set(&mut self, (start, end): Span, job: Job) {
        if start >= end {
            return;
        }
        // Usually the same bytes are accessed again and again.
        if let Some(known) = self.0.get_mut(&start)
            && known.0 == end
        {
            known.1 = job;
            return;
        }
        // A span that overlaps this one keeps its parts outside.
        if let Some((&from, &(to, by))) = self.0.range(..start).next_back()
            && to > start
        {
            self.0.insert(from, (start, by));
            if to > end {
                self.0.insert(end, (to, by));
            }
        }
        while let Some((&from, &(to, by))) = self.0.range(start..end).next() {
            self.0.remove(&from);
            if to > end {
                self.0.insert(end, (to, by));
            }
        }
        self.0.insert(start, (end, job));
    }

    /// Renumbers the work.
    fn renumber(&mut self, number: &BTreeMap<Job, Job>) {
        for (_, job) in self.0.values_mut() {
            *job = number[job];
        }
    }

    /// The spans that overlap a span: the first common byte, and the work that accessed it.
    fn overlapping(&self, (start, end): Span) -> impl Iterator<Item = (u64, Job)> + '_ {
        let before = self.0.range(..start).next_back();
        let before = before.filter(move |&(_, &(to, _))| to > start);
        let within = self.0.range(start..end.max(start));
        let all = before.into_iter().chain(within);
        all.map(move |(&from, &(_, job))| (from.max(start), job))
    }
}

#[derive(Debug, Default)]
struct Stream {
    clock: Clock,
    blocking: bool,
    /// The maps by [`Deed`].
    maps: [Map; 3],
}

impl Stream {
    fn forget(&mut self) {
        self.maps = Default::default();
    }

    fn is_forgotten(&self) -> bool {
        self.maps.iter().all(|map| map.0.is_empty())
    }
}

/// Two accesses without an order between them.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The earlier one.
    pub first: (Job, Deed),
    /// The later access: work, or the host at a place.
    pub second: (Second, Deed),
    /// The first byte.
    pub address: u64,
}

/// The later one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Second {
    /// Work of another stream.
    Job(Job),
    /// The host, at a place.
    Host(LocId),
}

/// The known happens-before order.
#[derive(Debug)]
pub struct Order {
    /// Whether findings were requested.
    pub on: bool,
    host: Clock,
    streams: Vec<Stream>,
    /// By handle.
    handles: BTreeMap<u64, usize>,
    events: BTreeMap<u64, Clock>,
    work: Vec<Work>,
    /// The amount of work at which work that can no longer conflict is forgotten.
    most_work: usize,
    found: Vec<Conflict>,
    /// Streams that were destroyed.
    destroyed: Vec<usize>,
}

/// The amount of work that is always kept.
const LEAST_WORK: usize = 4096;
/// Most destroyed streams that are kept separate because something may still run in them.
const MAX_STREAMS: usize = 1024;

impl Order {
    /// The initial state; `on`: whether findings were requested.
    pub fn new(on: bool) -> Order {
        Order {
            on,
            host: Clock::new(),
            streams: vec![Stream {
                blocking: true,
                ..Stream::default()
            }],
            handles: BTreeMap::from([(0, DEFAULT)]),
            events: BTreeMap::new(),
            work: Vec::new(),
            most_work: LEAST_WORK,
            found: Vec::new(),
            destroyed: Vec::new(),
        }
    }

    /// The memory for which launches have to record their accesses. Streams can conflict if one of them does not wait for the default
    /// stream, or if there are several besides that.
    pub fn track(&self) -> Track {
        let apart = self.streams.iter().any(|stream| !stream.blocking);
        match self.on {
            false => Track::Nothing,
            true if apart || self.streams.len() > 2 => Track::Everything,
            true => Track::Managed,
        }
    }

    /// Whether work may still run with which the host could conflict.
    pub fn is_busy(&self) -> bool {
        self.on && self.streams.iter().any(|stream| !stream.is_forgotten())
    }

    /// Adds a stream; `blocking`: whether it and the default stream wait for each other.
    pub fn create_stream(&mut self, handle: u64, blocking: bool) {
        // Reuses the slot of a destroyed stream whose work is over, or any destroyed stream's if there are too many.
        let is_over = |&&slot: &&usize| self.streams[slot].is_forgotten();
        let over = self.destroyed.iter().find(is_over).copied();
        let any = || self.destroyed.first().copied();
        let crowded = self.streams.len() >= MAX_STREAMS;
        if let Some(slot) = over.or_else(|| crowded.then(any).flatten()) {
            self.destroyed.retain(|&other| other != slot);
            self.handles.insert(handle, slot);
            self.streams[slot].blocking = blocking;
            return;
        }
        self.handles.insert(handle, self.streams.len());
        self.streams.push(Stream {
            blocking,
            ..Stream::default()
        });
    }

    /// Invalidates its handle; its work continues.
    pub fn destroy_stream(&mut self, handle: u64) {
        if handle != 0
            && let Some(slot) = self.handles.remove(&handle)
        {
            self.destroyed.push(slot);
        }
    }

    /// Forgets a destroyed event.
    pub fn destroy_event(&mut self, event: u64) {
        self.events.remove(&event);
    }

    /// Forgets work whose accesses can no longer conflict.
    fn forget_work(&mut self) {
        let maps = || self.streams.iter().flat_map(|stream| &stream.maps);
        let jobs = maps().flat_map(|map| map.0.values().map(|&(_, job)| job));
        let mut number: BTreeMap<Job, Job> = jobs.map(|job| (job, 0)).collect();
        let mut kept = Vec::with_capacity(number.len());
        for (job, new) in &mut number {
            *new = kept.len();
            kept.push(self.work[*job].clone());
        }
        for map in self.streams.iter_mut().flat_map(|stream| &mut stream.maps) {
            map.renumber(&number);
        }
        self.most_work = (2 * kept.len()).max(LEAST_WORK);
        self.work = kept;
    }

    fn stream(&self, handle: u64) -> usize {
        self.handles.get(&handle).copied().unwrap_or(DEFAULT)
    }

    /// The work that has to happen before the next work in a stream.
    fn before(&self, stream: usize) -> Clock {
        let mut clock = self.streams[stream].clock.clone();
        join(&mut clock, &self.host);
        if stream == DEFAULT {
            let blocking = self.streams.iter().filter(|stream| stream.blocking);
            blocking.for_each(|stream| join(&mut clock, &stream.clock));
        } else if self.streams[stream].blocking {
            join(&mut clock, &self.streams[DEFAULT].clock);
        }
        clock
    }

    /// Begins work in a stream.
    pub fn begin(&mut self, handle: u64, task: Task, launch: Option<usize>, loc: LocId) -> Job {
        if self.work.len() >= self.most_work && self.found.is_empty() {
            self.forget_work();
        }
        let stream = self.stream(handle);
        let mut before = self.before(stream);
        let number = at(&before, stream) + 1;
        if before.len() <= stream {
            before.resize(stream + 1, 0);
        }
        before[stream] = number;
        self.streams[stream].clock.clone_from(&before);
        self.work.push(Work {
            task,
            launch,
            loc,
            stream,
            number,
            before,
            communicates: false,
        });
        self.work.len() - 1
    }

    /// The work with this number.
    pub fn work(&self, job: Job) -> &Work {
        &self.work[job]
    }

    /// Records accesses of work.
    pub fn touch(&mut self, job: Job, deed: Deed, spans: &[Span]) {
        self.find_conflicts(job, deed, spans);
        let map = &mut self.streams[self.work[job].stream].maps[deed as usize];
        spans.iter().for_each(|&span| map.set(span, job));
    }

    /// Keeps the conflicts of this access with earlier work, but does not record the access: no later work can conflict with it.
    pub fn find_conflicts(&mut self, job: Job, deed: Deed, spans: &[Span]) {
        let me = self.work[job].clone();
        let mut fresh = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            if index == me.stream {
                continue;
            }
            for other in Deed::ALL.into_iter().filter(|&other| deed.conflicts(other)) {
                let map = &stream.maps[other as usize];
                if map.0.is_empty() {
                    continue;
                }
                for &span in spans {
                    for (address, earlier) in map.overlapping(span) {
                        let earlier_work = &self.work[earlier];
                        let ordered = earlier_work.number <= at(&me.before, index);
                        // If both run at once and communicate, one may wait for the other in ways that are not visible here.
                        let in_touch = me.communicates && earlier_work.communicates;
                        if !ordered && !in_touch {
                            let (first, second) = ((earlier, other), (Second::Job(job), deed));
                            fresh.push(Conflict {
                                first,
                                second,
                                address,
                            });
                        }
                    }
                }
            }
        }
        self.keep(&fresh);
    }

    /// Records the bytes that a launch read, wrote and updated.
    pub fn launched(&mut self, job: Job, touched: &Touched) {
        self.work[job].communicates = touched.communicates;
        for (deed, spans) in [
            (Deed::Read, &touched.read),
            (Deed::Write, &touched.written),
            (Deed::Update, &touched.updated),
        ] {
            self.touch(job, deed, spans);
        }
    }

    /// Records a host access and its conflicts with work that the host has not waited for.
    pub fn host(&mut self, access: &HostAccess) {
        let deed = match access.writes {
            true => Deed::Write,
            false => Deed::Read,
        };
        let (mut waited_for, mut fresh) = (Clock::new(), Vec::new());
        for (index, stream) in self.streams.iter().enumerate() {
            for other in Deed::ALL.into_iter().filter(|&other| deed.conflicts(other)) {
                for (address, earlier) in stream.maps[other as usize].overlapping(access.span) {
                    let work = &self.work[earlier];
                    if work.number <= at(&self.host, index) {
                        continue;
                    }
                    if access.looks {
                        join(&mut waited_for, &work.before);
                        continue;
                    }
                    let (first, second) = ((earlier, other), (Second::Host(access.loc), deed));
                    fresh.push(Conflict {
                        first,
                        second,
                        address,
                    });
                }
            }
        }
        self.keep(&fresh);
        join(&mut waited_for, &self.host);
        self.wait(&waited_for);
    }

    /// Keeps the conflicts of one access that deserve a report: only the last ones, because a wait for them would also order what precedes
    /// them, and one for each pair of source places. All of them count as ordered afterwards, so that one missing wait is one finding.
    fn keep(&mut self, fresh: &[Conflict]) {
        let mut work = std::mem::take(&mut self.work);
        let job = |conflict: &Conflict| conflict.first.0;
        let precedes = |work: &[Work], a: Job, b: Job| {
            a != b && work[a].number <= at(&work[b].before, work[a].stream)
        };
        for new in fresh {
            let is_last = !fresh
                .iter()
                .any(|other| precedes(&work, job(new), job(other)));
            let is_known = |known: &Conflict| {
                work[job(known)].loc == work[job(new)].loc && known.second.0 == new.second.0
            };
            if is_last && !self.found.iter().any(is_known) {
                self.found.push(new.clone());
            }
        }
        for new in fresh {
            let earlier = work[new.first.0].before.clone();
            match new.second.0 {
                Second::Host(_) => join(&mut self.host, &earlier),
                Second::Job(job) => {
                    join(&mut work[job].before, &earlier);
                    join(&mut self.streams[work[job].stream].clock, &earlier);
                }
            }
        }
        self.work = work;
    }

    fn wait(&mut self, clock: &Clock) {
        join(&mut self.host, clock);
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if at(&stream.clock, index) <= at(&self.host, index) {
                stream.forget();
            }
        }
    }

    /// The host waits for all work.
    pub fn wait_for_all(&mut self) {
        let mut all = Clock::new();
        self.streams
            .iter()
            .for_each(|stream| join(&mut all, &stream.clock));
        self.wait(&all);
    }

    /// The host waits for a stream. Waiting for the default stream includes all streams that it waits for.
    pub fn wait_for_stream(&mut self, handle: u64) {
        let clock = self.before(self.stream(handle));
        self.wait(&clock);
    }

    /// Records an event: it represents the work enqueued in a stream until now.
    pub fn record(&mut self, event: u64, handle: u64) {
        let clock = self.before(self.stream(handle));
        self.events.insert(event, clock);
    }

    /// The host waits for an event.
    pub fn wait_for_event(&mut self, event: u64) {
        if let Some(clock) = self.events.get(&event).cloned() {
            self.wait(&clock);
        }
    }

    /// Whether the host has waited for an event, or nothing is known of the event.
    pub fn has_happened(&self, event: u64) -> bool {
        let mut done = self.host.clone();
        done.resize(self.streams.len(), 0);
        let known = self.events.get(&event);
        known.is_none_or(|clock| clock.iter().zip(&done).all(|(needs, has)| needs <= has))
    }

    /// Later work in a stream waits for an event.
    pub fn let_wait(&mut self, handle: u64, event: u64) {
        let stream = self.stream(handle);
        if let Some(clock) = self.events.get(&event) {
            join(&mut self.streams[stream].clock, clock);
        }
    }

    /// The conflicts found since the last call.
    pub fn take_found(&mut self) -> Vec<Conflict> {
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests;
