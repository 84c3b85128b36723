//! The axioms of the PTX memory model (PTX ISA, "Memory Consistency Model"; Lustig et al., ASPLOS 2019), for tests of a few accesses:
//! decides whether any execution has an outcome. It tries every write that a read may read from, every coherence order, and every order of
//! the fences.
//!
//! A fence is `fence.sc`, because CUDA's `__threadfence` functions are. Left out are proxies, mixed sizes, and all but one level of `bar`.

use super::spec::{Litmus, Mode, Scope, Statement, Value, is_memory};

/// What a thread does, one event for each statement; a sequentially consistent atomic is a fence and an access.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// `None`: the initial memory, before everything else.
    thread: Option<usize>,
    at: Option<char>,
    /// The variable that receives the value.
    reads: Option<char>,
    writes: Option<Written>,
    strong: Option<Scope>,
    /// Whether a read is an acquire, or a write a release.
    orders: bool,
    is_fence: bool,
    /// The number of the barrier among the thread's barriers.
    meets: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Written {
    Value(Value),
    /// The value it has read, plus this number.
    More(i32),
}

/// A set of events, or one row of a relation.
type Set = u32;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Relation(Vec<Set>);

impl Relation {
    fn new(events: usize) -> Relation {
        Relation(vec![0; events])
    }

    fn of(events: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |a| {
            (0..events)
                .filter(|&b| holds(a, b))
                .fold(0, |row, b| row | 1 << b)
        };
        Relation((0..events).map(row).collect())
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }

    fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    fn closed(mut self) -> Relation {
        for k in 0..self.0.len() {
            for a in 0..self.0.len() {
                if self.has(a, k) {
                    self.0[a] |= self.0[k];
                }
            }
        }
        self
    }

    fn has_no_cycle(self) -> bool {
        let closed = self.closed();
        (0..closed.0.len()).all(|a| !closed.has(a, a))
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = (0..self.0.len()).flat_map(|a| (0..self.0.len()).map(move |b| (a, b)));
        all.filter(|&(a, b)| self.has(a, b))
    }
}

/// Whether an execution that the model allows has the test's outcome.
pub(super) fn allows(litmus: &Litmus) -> bool {
    let events = events(litmus);
    let places = litmus.memory();
    let reads: Vec<usize> = (0..events.len())
        .filter(|&e| events[e].reads.is_some())
        .collect();
    let sources: Vec<Vec<usize>> = reads
        .iter()
        .map(|&read| {
            let is_source = |&w: &usize| {
                // Values that contradict the outcome need not be tried.
                let fits = match events[w].writes {
                    Some(Written::Value(Value::Number(value))) => {
                        let mut outcome = litmus.outcome.iter();
                        let wanted = outcome.find(|(name, _)| Some(*name) == events[read].reads);
                        wanted.is_none_or(|(_, wanted)| *wanted == value)
                    }
                    Some(_) => true,
                    None => false,
                };
                w != read && fits && events[w].at == events[read].at
            };
            (0..events.len()).filter(is_source).collect()
        })
        .collect();
    let orders: Vec<Vec<Vec<usize>>> = places
        .iter()
        .map(|&place| {
            let writes = (0..events.len())
                .filter(|&e| events[e].writes.is_some() && events[e].at == Some(place));
            let (first, rest): (Vec<usize>, Vec<usize>) =
                writes.partition(|&e| events[e].thread.is_none());
            let with_first = |rest: Vec<usize>| first.iter().copied().chain(rest).collect();
            permutations(&rest).into_iter().map(with_first).collect()
        })
        .collect();
    let fences: Vec<usize> = (0..events.len()).filter(|&e| events[e].is_fence).collect();
    let fences = permutations(&fences);
    let mut found = false;
    product(&sources, &mut |from| {
        if found {
            return;
        }
        let from: Vec<(usize, usize)> = from.into_iter().zip(reads.iter().copied()).collect();
        let Some(values) = values(&events, &from) else {
            return;
        };
        product(&orders, &mut |orders| {
            let has_outcome = litmus.outcome.iter().all(|&(name, value)| {
                let event = match places.iter().position(|&place| place == name) {
                    Some(place) => orders[place].last().copied(),
                    None => (0..events.len()).find(|&e| events[e].reads == Some(name)),
                };
                event.is_some_and(|event| match is_memory(name) {
                    true => values[event].1 == value,
                    false => values[event].0 == value,
                })
            });
            found |= !found
                && has_outcome
                && fences
                    .iter()
                    .any(|fences| is_execution(litmus, &events, &from, &orders, fences));
        });
    });
    found
}

fn events(litmus: &Litmus) -> Vec<Event> {
    let none = Event {
        thread: None,
        at: None,
        reads: None,
        writes: None,
        strong: Some(Scope::System),
        orders: false,
        is_fence: false,
        meets: None,
    };
    let first = |place: char| Event {
        at: Some(place),
        writes: Some(Written::Value(Value::Number(0))),
        ..none
    };
    let mut events: Vec<Event> = litmus.memory().into_iter().map(first).collect();
    for (thread, statements) in litmus.threads.iter().enumerate() {
        let of = Event {
            thread: Some(thread),
            ..none
        };
        let mut met = 0;
        for statement in statements {
            let fence = |scope| Event {
                strong: Some(scope),
                is_fence: true,
                ..of
            };
            match *statement {
                Statement::Fence(scope) => events.push(fence(scope)),
                Statement::Barrier | Statement::SyncWarp => {
                    met += 1;
                    events.push(Event {
                        meets: Some(met),
                        strong: None,
                        ..of
                    });
                }
                Statement::Add(to, scope, at, by) => events.push(Event {
                    at: Some(at),
                    reads: Some(to),
                    writes: Some(Written::More(by)),
                    strong: Some(scope),
                    ..of
                }),
                Statement::Load(_, mode, at) | Statement::Store(at, mode, _) => {
                    let (strong, orders) = match mode {
                        Mode::Plain => (None, false),
                        Mode::Volatile => (Some(Scope::System), false),
                        Mode::Relaxed(scope) => (Some(scope), false),
                        Mode::Ordered(scope) | Mode::SeqCst(scope) => (Some(scope), true),
                    };
                    if let Mode::SeqCst(scope) = mode {
                        events.push(fence(scope));
                    }
                    let access = Event {
                        at: Some(at),
                        strong,
                        orders,
                        ..of
                    };
                    events.push(match *statement {
                        Statement::Load(to, ..) => Event {
                            reads: Some(to),
                            ..access
                        },
                        Statement::Store(_, _, value) => Event {
                            writes: Some(Written::Value(value)),
                            ..access
                        },
                        _ => access,
                    });
                }
            }
        }
    }
    events
}

/// The value that each event reads and writes; `None` if a value would come out of thin air.
fn values(events: &[Event], from: &[(usize, usize)]) -> Option<Vec<(i32, i32)>> {
    let source = |read: usize| from.iter().find(|(_, to)| *to == read).map(|(w, _)| *w);
    let mut known: Vec<Option<(i32, i32)>> = vec![None; events.len()];
    for _ in 0..=events.len() {
        for e in 0..events.len() {
            let event = &events[e];
            let read = match event.reads {
                None => Some(0),
                Some(_) => source(e).and_then(|w| known[w]).map(|(_, written)| written),
            };
            let written = match event.writes {
                None => Some(0),
                Some(Written::Value(Value::Number(value))) => Some(value),
                Some(Written::Value(Value::Variable(name))) => {
                    let gives = |&other: &usize| {
                        events[other].thread == event.thread && events[other].reads == Some(name)
                    };
                    (0..e)
                        .rfind(gives)
                        .and_then(|other| known[other])
                        .map(|(read, _)| read)
                }
                Some(Written::More(by)) => read.map(|read| read + by),
            };
            known[e] = read.zip(written);
        }
    }
    known.into_iter().collect()
}

/// Whether the axioms hold.
fn is_execution(
    litmus: &Litmus,
    events: &[Event],
    from: &[(usize, usize)],
    orders: &[Vec<usize>],
    fences: &[usize],
) -> bool {
    let n = events.len();
    let program = |a: usize, b: usize| {
        a < b && events[a].thread.is_some() && events[a].thread == events[b].thread
    };
    let reaches = |a: usize, b: usize| match (events[a].strong, events[a].thread, events[b].thread)
    {
        (None, ..) => false,
        (Some(Scope::Block), Some(a), Some(b)) => litmus.block(a) == litmus.block(b),
        (Some(_), ..) => true,
    };
    let strong = |a: usize, b: usize| {
        let same_place =
            events[a].at.is_none() || events[b].at.is_none() || events[a].at == events[b].at;
        same_place && (program(a, b) || program(b, a) || reaches(a, b) && reaches(b, a))
    };
    let before_all = |a: usize, b: usize| events[a].thread.is_none() && events[b].thread.is_some();
    let mut reads = Relation::new(n);
    for &(w, r) in from {
        reads.add(w, r);
    }
    // Observation: through atomics.
    let is_atomic = |e: usize| events[e].reads.is_some() && events[e].writes.is_some();
    let mut observes = Relation::of(n, |w, r| reads.has(w, r) && strong(w, r));
    for z in (0..n).filter(|&z| is_atomic(z)) {
        for _ in 0..n {
            for w in (0..n).filter(|&w| observes.has(w, z)).collect::<Vec<_>>() {
                observes.0[w] |= observes.0[z];
            }
        }
    }
    // Synchronisation.
    let rank = |e: usize| fences.iter().position(|&f| f == e).unwrap_or(usize::MAX);
    let fences_first = |a: usize, b: usize| {
        events[a].is_fence && events[b].is_fence && strong(a, b) && rank(a) < rank(b)
    };
    let releases: Vec<(usize, usize)> = patterns(events, &program, |e| events[e].writes.is_some());
    let acquires: Vec<(usize, usize)> =
        patterns(events, &|a, b| program(b, a), |e| events[e].reads.is_some());
    let mut base = Relation::of(n, |a, b| {
        let meet = events[a].meets.is_some() && events[a].meets == events[b].meets && a != b;
        program(a, b) || before_all(a, b) || fences_first(a, b) || meet
    });
    for &(first, write) in &releases {
        for &(last, read) in &acquires {
            if observes.has(write, read)
                && strong(first, last)
                && events[first].thread != events[last].thread
            {
                base.add(first, last);
            }
        }
    }
    let base = base.closed();
    let cause = Relation::of(n, |a, b| {
        base.has(a, b) || (0..n).any(|z| observes.has(a, z) && base.has(z, b))
    });
    // Coherence.
    let mut coherent = Relation::new(n);
    for order in orders {
        for (k, &a) in order.iter().enumerate() {
            for &b in &order[k + 1..] {
                if cause.has(b, a) {
                    return false;
                }
                if strong(a, b) || cause.has(a, b) {
                    coherent.add(a, b);
                }
            }
        }
    }
    let coherent = coherent.closed();
    let overtaken = Relation::of(n, |r, w| {
        r != w
            && from
                .iter()
                .any(|&(source, read)| read == r && coherent.has(source, w))
    });
    // Fence-SC, atomicity, SC-per-location, causality.
    let fences_hold = fences.iter().all(|&a| {
        fences
            .iter()
            .all(|&b| !(fences_first(a, b) && cause.has(b, a)))
    });
    let atomics_hold = from.iter().all(|&(source, z)| {
        let between = |w: usize| coherent.has(source, w) && coherent.has(w, z) && strong(w, z);
        !is_atomic(z) || !(0..n).any(between)
    });
    let by_place = Relation::of(n, |a, b| {
        let communicates = reads.has(a, b) || coherent.has(a, b) || overtaken.has(a, b);
        communicates && strong(a, b)
            || program(a, b) && events[a].at.is_some() && events[a].at == events[b].at
    });
    let reads_hold = reads.pairs().all(|(w, r)| !cause.has(r, w));
    let overtaken_hold = overtaken.pairs().all(|(r, w)| !cause.has(w, r));
    fences_hold && atomics_hold && by_place.has_no_cycle() && reads_hold && overtaken_hold
}

/// Release patterns, as their first operation and their write; with reversed program order, acquire patterns.
fn patterns(
    events: &[Event],
    program: &impl Fn(usize, usize) -> bool,
    communicates: impl Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut patterns = Vec::new();
    for access in (0..events.len())
        .filter(|&e| communicates(e) && events[e].strong.is_some() && events[e].thread.is_some())
    {
        for first in 0..events.len() {
            let orders = events[first].orders
                && communicates(first)
                && events[first].at == events[access].at;
            let by_itself = first == access && orders;
            if by_itself || program(first, access) && (events[first].is_fence || orders) {
                patterns.push((first, access));
            }
        }
    }
    patterns
}

fn permutations(all: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = all.split_first() else {
        return vec![Vec::new()];
    };
    let insert = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, first);
            order
        })
    };
    permutations(rest).into_iter().flat_map(insert).collect()
}

/// Every choice of one of each.
fn product<T: Clone>(choices: &[Vec<T>], then: &mut dyn FnMut(Vec<T>)) {
    fn go<T: Clone>(choices: &[Vec<T>], chosen: &mut Vec<T>, then: &mut dyn FnMut(Vec<T>)) {
        let Some((first, rest)) = choices.split_first() else {
            return then(chosen.clone());
        };
        for choice in first {
            chosen.push(choice.clone());
            go(rest, chosen, then);
            chosen.pop();
        }
    }
    go(choices, &mut Vec::new(), then);
}
