//! A naive happens-before checker, to compare the checks and the mutants with. It reads what a run did (`dslc run --trace`), keeps a full
//! vector clock for each thread and every access to each byte, and compares all pairs. It shares no code with the checks.
//!
//! It finds the pairs of accesses to one place, one of them a write, that are unordered ([`Trace::unordered`]). A mutant has *lost an
//! order* if it has such a pair that the original does not have. The rules are those of the checks. [`Rules::ReaderFences`] are PTX's
//! rules, which also require a fence of the reader: between the load that sees the flag and the reads that depend on it.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map},
    rc::Rc,
};

/// What counts as a release and an acquire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rules {
    /// A fence followed by an atomic or `volatile` store is a release; an atomic or `volatile` load is an acquire.
    Checks,
    /// The same, with a fence after the load.
    ReaderFences,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Load,
    Store,
    Atomic,
}

/// A source access: its line, which of the line's accesses it is, and its operation. Columns change where something is dropped.
type SiteKey = (u32, u32, usize, u8);

#[derive(Clone, Debug)]
struct Access {
    site: u32,
    kind: Kind,
    /// Shared memory belongs to the block.
    shared: bool,
    width: u64,
    volatile: bool,
    block_scope: bool,
    lanes: Vec<(u32, u64)>,
}

#[derive(Clone, Debug)]
enum Event {
    Turn(u32, u32),
    Access(Access),
    SyncWarp(Vec<(u32, u32)>),
    Fence { device: bool, lanes: u32 },
    Barrier(u32),
}

struct Launch {
    threads: u32,
    events: Vec<Event>,
}

/// The trace of a run.
pub(super) struct Trace {
    launches: Vec<Launch>,
    /// The file, line, column and kind of each site.
    sites: Vec<(u32, u32, u32, u8)>,
}

/// Two unordered accesses by two threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pair {
    launch: u32,
    /// The site and thread of each, the smaller one first.
    sides: [(SiteKey, u32); 2],
    /// Whether one of them is neither atomic nor `volatile`.
    pub(super) plain: bool,
}

/// What other threads did, by thread: everything up to that time of theirs. Threads that synchronised share one clock.
type Clock = Rc<BTreeMap<u32, u32>>;

fn join(into: &mut Clock, other: &Clock) {
    if Rc::ptr_eq(into, other) || other.is_empty() {
        return;
    }
    if into.is_empty() {
        *into = other.clone();
        return;
    }
    let mine = Rc::make_mut(into);
    for (&thread, &time) in other.iter() {
        let known = mine.entry(thread).or_default();
        *known = time.max(*known);
    }
}

#[derive(Clone, Debug, Default)]
struct Thread {
    time: u32,
    known: Clock,
    /// The clocks at the last fences of at least block scope, and of at least device scope.
    fenced: [Clock; 2],
    /// Acquired clocks that wait for a fence of the reader: from its own block, and from other blocks.
    pending: [Clock; 2],
}

#[derive(Default)]
struct Released {
    device: Clock,
    blocks: HashMap<u32, Clock>,
}

/// An access in a place's history.
#[derive(Clone, Copy, PartialEq)]
struct Past {
    thread: u32,
    time: u32,
    site: u32,
    kind: Kind,
    volatile: bool,
    block_scope: bool,
}

/// The block (for shared memory; all ones for global) and the cell.
type Place = (u32, u64);

impl Trace {
    /// Parses the file that `dslc run --trace` writes.
    pub(super) fn read(text: &str) -> Trace {
        let mut trace = Trace {
            launches: vec![],
            sites: vec![],
        };
        let mut numbers = HashMap::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            let what = words.next().expect("a word");
            let mut decimal = || words.next().expect("a number").parse().expect("a number");
            let event = match what {
                "launch" => {
                    let _: u32 = decimal();
                    trace.launches.push(Launch {
                        threads: decimal(),
                        events: vec![],
                    });
                    continue;
                }
                "turn" => Event::Turn(decimal(), decimal()),
                "barrier" => Event::Barrier(decimal()),
                "syncwarp" => Event::SyncWarp(
                    words
                        .map(pair)
                        .map(|(lane, mask)| (lane, mask as u32))
                        .collect(),
                ),
                "fence" => Event::Fence {
                    device: words.next() != Some("block"),
                    lanes: hexadecimal(words.next().expect("lanes")) as u32,
                },
                "load" | "store" | "atomic" => {
                    let place = words.next().expect("a place");
                    let space = words.next().expect("a space");
                    if space == "local" {
                        continue;
                    }
                    let kind = match what {
                        "load" => Kind::Load,
                        "store" => Kind::Store,
                        _ => Kind::Atomic,
                    };
                    let mut at = place.split(':').map(|n| n.parse().expect("a number"));
                    let mut next = || at.next().expect("a number");
                    let key = (next(), next(), next(), kind as u8);
                    let sites = &mut trace.sites;
                    let site = *numbers.entry(key).or_insert_with(|| {
                        sites.push(key);
                        sites.len() as u32 - 1
                    });
                    let width = words.next().expect("a width").parse().expect("a width");
                    let how = words.next().expect("how");
                    Event::Access(Access {
                        site,
                        kind,
                        shared: space == "shared",
                        width,
                        volatile: how == "volatile",
                        block_scope: how == "block",
                        lanes: words.map(pair).collect(),
                    })
                }
                other => panic!("what is `{other}`?"),
            };
            let launch = trace.launches.last_mut().expect("a launch");
            launch.events.push(event);
        }
        trace
    }

    /// Names of the sites that are independent of columns.
    fn keys(&self) -> Vec<SiteKey> {
        let key = |&(file, line, column, kind): &(u32, u32, u32, u8)| {
            let mut columns: Vec<u32> = self
                .sites
                .iter()
                .filter(|site| (site.0, site.1) == (file, line))
                .map(|site| site.2)
                .collect();
            columns.sort_unstable();
            columns.dedup();
            let number = columns.iter().position(|&other| other == column);
            (file, line, number.expect("it is there"), kind)
        };
        self.sites.iter().map(key).collect()
    }

    /// All unordered pairs.
    pub(super) fn unordered(&self, rules: Rules) -> HashSet<Pair> {
        let keys = self.keys();
        let mut pairs = HashSet::new();
        for (number, launch) in (0..).zip(&self.launches) {
            let mut run = Run {
                rules,
                keys: &keys,
                launch: number,
                per_block: launch.threads,
                cell: launch.cell(),
                written: HashSet::new(),
                threads: HashMap::new(),
                released: HashMap::new(),
                history: HashMap::new(),
                pairs: &mut pairs,
            };
            run.written = run.written_places(&launch.events);
            run.all(&launch.events);
        }
        pairs
    }
}

fn hexadecimal(word: &str) -> u64 {
    u64::from_str_radix(word, 16).expect("a hexadecimal number")
}

fn pair(word: &str) -> (u32, u64) {
    let (lane, value) = word.split_once(':').expect("lane:value");
    (lane.parse().expect("a lane"), hexadecimal(value))
}

impl Launch {
    /// Bytes of a cell: accesses are aligned to their width, so the narrowest width works for all.
    fn cell(&self) -> u64 {
        let widths = self.events.iter().filter_map(|event| match event {
            Event::Access(access) => Some(access.width),
            _ => None,
        });
        widths.min().unwrap_or(1)
    }
}

/// The state for a launch.
struct Run<'a> {
    rules: Rules,
    keys: &'a [SiteKey],
    launch: u32,
    per_block: u32,
    cell: u64,
    /// The places that are written: other places have no conflicts.
    written: HashSet<Place>,
    threads: HashMap<u32, Thread>,
    released: HashMap<Place, Released>,
    history: HashMap<Place, Vec<Past>>,
    pairs: &'a mut HashSet<Pair>,
}

impl Run<'_> {
    fn written_places(&self, events: &[Event]) -> HashSet<Place> {
        let mut written = HashSet::new();
        let mut block = 0;
        for event in events {
            match event {
                Event::Turn(now, _) => block = *now,
                Event::Access(access) if access.kind != Kind::Load => {
                    for &(_, at) in &access.lanes {
                        written.extend(self.places(access, block, at));
                    }
                }
                _ => {}
            }
        }
        written
    }

    fn places(&self, access: &Access, block: u32, at: u64) -> impl Iterator<Item = Place> + use<> {
        let owner = if access.shared { block } else { u32::MAX };
        let cells = at / self.cell..(at + access.width).div_ceil(self.cell);
        cells.map(move |cell| (owner, cell))
    }

    fn all(&mut self, events: &[Event]) {
        let (mut block, mut warp) = (0, 0);
        for event in events {
            let first = block * self.per_block + 32 * warp;
            match event {
                Event::Turn(b, w) => (block, warp) = (*b, *w),
                Event::Barrier(of) => {
                    let first = of * self.per_block;
                    self.meet((first..first + self.per_block).collect());
                }
                Event::SyncWarp(lanes) => {
                    let mut left = lanes.clone();
                    while let Some(&(lane, mask)) = left.first() {
                        // The lanes in the first lane's mask synchronise, including that lane.
                        let meets =
                            |&&(other, _): &&(u32, u32)| mask >> other & 1 == 1 || other == lane;
                        let group: Vec<u32> =
                            left.iter().filter(meets).map(|&(other, _)| other).collect();
                        left.retain(|(other, _)| !group.contains(other));
                        self.meet(group.iter().map(|lane| first + lane).collect());
                    }
                }
                Event::Fence { device, lanes } => {
                    for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
                        self.fence(first + lane, *device);
                    }
                }
                Event::Access(access) => self.access(access, block, first),
            }
        }
    }

    fn meet(&mut self, threads: Vec<u32>) {
        let mut sum = Thread::default();
        for number in &threads {
            let thread = self.threads.entry(*number).or_default();
            join(&mut sum.known, &thread.known);
            for scope in 0..2 {
                join(&mut sum.fenced[scope], &thread.fenced[scope]);
                join(&mut sum.pending[scope], &thread.pending[scope]);
            }
        }
        let known = Rc::make_mut(&mut sum.known);
        for number in &threads {
            let time = known.entry(*number).or_default();
            *time = self.threads[number].time.max(*time);
        }
        for number in threads {
            let thread = self.threads.entry(number).or_default();
            let time = thread.time + 1;
            *thread = sum.clone();
            thread.time = time;
        }
    }

    fn fence(&mut self, number: u32, device: bool) {
        let thread = self.threads.entry(number).or_default();
        for scope in 0..1 + usize::from(device) {
            let taken = std::mem::take(&mut thread.pending[scope]);
            join(&mut thread.known, &taken);
        }
        let mut known = thread.known.clone();
        Rc::make_mut(&mut known).insert(number, thread.time);
        for scope in 0..1 + usize::from(device) {
            thread.fenced[scope] = known.clone();
        }
        thread.time += 1;
    }

    /// Acquires and releases.
    fn synchronise(&mut self, access: &Access, number: u32, place: Place) {
        let block = number / self.per_block;
        let thread = self.threads.entry(number).or_default();
        let released = match self.released.entry(place) {
            hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hash_map::Entry::Vacant(_) if access.kind == Kind::Load => return,
            hash_map::Entry::Vacant(entry) => entry.insert(Released::default()),
        };
        if access.kind != Kind::Store {
            let own = released.blocks.get(&block).cloned().unwrap_or_default();
            let device = match access.block_scope {
                true => Clock::default(),
                false => released.device.clone(),
            };
            match self.rules {
                Rules::Checks => {
                    join(&mut thread.known, &own);
                    join(&mut thread.known, &device);
                }
                Rules::ReaderFences => {
                    join(&mut thread.pending[0], &own);
                    join(&mut thread.pending[1], &device);
                }
            }
        }
        if access.kind != Kind::Load {
            join(released.blocks.entry(block).or_default(), &thread.fenced[0]);
            if !access.block_scope {
                join(&mut released.device, &thread.fenced[1]);
            }
        }
    }

    fn access(&mut self, access: &Access, block: u32, first: u32) {
        for &(lane, at) in &access.lanes {
            let number = first + lane;
            if access.volatile || access.kind == Kind::Atomic {
                let owner = if access.shared { block } else { u32::MAX };
                self.synchronise(access, number, (owner, at));
            }
            for place in self.places(access, block, at) {
                if self.written.contains(&place) {
                    self.compare(access, number, place);
                }
            }
        }
    }

    fn compare(&mut self, access: &Access, number: u32, place: Place) {
        let thread = self.threads.entry(number).or_default();
        let now = Past {
            thread: number,
            time: thread.time,
            site: access.site,
            kind: access.kind,
            volatile: access.volatile,
            block_scope: access.block_scope,
        };
        let strong = |past: &Past| past.volatile || past.kind == Kind::Atomic;
        let block = |past: &Past| past.thread / self.per_block;
        let history = self.history.entry(place).or_default();
        for past in history.iter() {
            let reads = past.kind == Kind::Load && now.kind == Kind::Load;
            // Atomics never conflict, unless one has block scope and the other is in another block.
            let narrow = (past.block_scope || now.block_scope) && block(past) != block(&now);
            let atomics = past.kind == Kind::Atomic && now.kind == Kind::Atomic && !narrow;
            let ordered = past.thread == number
                || thread
                    .known
                    .get(&past.thread)
                    .is_some_and(|&time| time >= past.time);
            if reads || atomics || ordered {
                continue;
            }
            let side = |past: &Past| (self.keys[past.site as usize], past.thread);
            let mut sides = [side(past), side(&now)];
            sides.sort_unstable();
            self.pairs.insert(Pair {
                launch: self.launch,
                sides,
                plain: !(strong(past) && strong(&now)) || narrow,
            });
        }
        if !history.contains(&now) {
            history.push(now);
        }
    }
}
