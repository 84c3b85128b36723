//! Collects races: one per pair of source accesses, with the first occurrence and a count.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::verdict::RaceKind;
use crate::coded::coded;

/// One access of a conflict.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) counter: u32,
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) value: Option<u64>,
    pub(crate) volatile: bool,
}

/// The first conflict of a pair.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) sides: [Side; 2],
    /// The region, if it is global memory, and the offset.
    pub(crate) place: (Option<usize>, u64),
    /// The instruction, and its lanes that conflict.
    pub(crate) instruction: u64,
    pub(crate) lanes: [u32; 2],
    /// Those of them at that place.
    pub(crate) at_place: [u32; 2],
}

/// A pair of source accesses in conflict.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) count: u64,
    pub(crate) first: First,
    /// The first conflict between two blocks, which a barrier of one block cannot prevent.
    pub(crate) across: Option<First>,
}

impl Pair {
    /// The conflict to report.
    pub(crate) fn shown(&self) -> &First {
        self.across.as_ref().unwrap_or(&self.first)
    }

    /// Adds another pair's count. Its first conflict replaces this one's if it is earlier.
    fn absorb(&mut self, other: &Pair, is_earlier: bool) {
        self.count += other.count;
        if is_earlier {
            self.first = other.first.clone();
        }
        let block = |first: &Option<First>| first.as_ref().map(|first| first.sides[1].block);
        let (ours, theirs) = (block(&self.across), block(&other.across));
        if ours.is_none() || theirs.is_some() && theirs < ours {
            self.across.clone_from(&other.across);
        }
    }
}

/// The races of a launch so far.
#[derive(Debug, Default)]
pub(crate) struct Races {
    pairs: HashMap<(RaceKind, u32, u32), Pair>,
    /// Places at which threads wait.
    polled: BTreeSet<(Option<usize>, u64)>,
    /// Whether blocks conflict with each other.
    pub(crate) crosses: bool,
    /// Whether the access history was dropped once because there were too many entries.
    pub(crate) forgets: bool,
}

impl Races {
    /// Adds a conflict of two lanes at a place, found in `instruction`. `crosses`: the lanes belong to two blocks.
    pub(crate) fn add(
        &mut self,
        kind: RaceKind,
        first: Side,
        second: Side,
        place: (Option<usize>, u64),
        instruction: u64,
        crosses: bool,
    ) {
        self.crosses |= crosses;
        let (a, b) = (first.counter, second.counter);
        let key = (kind, a.min(b), a.max(b));
        let new = || First {
            sides: [first.clone(), second.clone()],
            place,
            instruction,
            lanes: [0; 2],
            at_place: [0; 2],
        };
        let pair = self.pairs.entry(key).or_insert_with(|| Pair {
            count: 0,
            first: new(),
            across: None,
        });
        pair.count += 1;
        let kept = match crosses {
            true => pair.across.get_or_insert_with(new),
            false => &mut pair.first,
        };
        let like =
            |a: &Side, b: &Side| (a.counter, a.block, a.warp) == (b.counter, b.block, b.warp);
        if kept.instruction == instruction
            && like(&kept.sides[0], &first)
            && like(&kept.sides[1], &second)
        {
            kept.lanes[0] |= 1 << first.lane;
            kept.lanes[1] |= 1 << second.lane;
            if kept.place == place {
                kept.at_place[0] |= 1 << first.lane;
                kept.at_place[1] |= 1 << second.lane;
            }
        }
    }

    /// Threads wait for a change of this place.
    pub(crate) fn polled(&mut self, place: (Option<usize>, u64)) {
        self.polled.insert(place);
    }

    /// Adds what another worker found. For a pair in both, the first block's conflict stays.
    pub(crate) fn absorb(&mut self, other: &Races) {
        self.crosses |= other.crosses;
        self.forgets |= other.forgets;
        self.polled.extend(&other.polled);
        for (&key, theirs) in &other.pairs {
            let pair = self.pairs.entry(key).and_modify(|ours| {
                let is_earlier = theirs.first.sides[1].block < ours.first.sides[1].block;
                ours.absorb(theirs, is_earlier);
            });
            pair.or_insert_with(|| theirs.clone());
        }
    }

    /// These are the races of parts of a launch. Some of their blocks ran again `together`, and those of each part
    /// `alone`. The difference is the conflicts between blocks of different parts.
    pub(crate) fn add_across(&mut self, together: &Races, alone: &Races) {
        self.polled.extend(&together.polled);
        for (key, theirs) in &together.pairs {
            let block = |first: &First| first.sides[1].block;
            let pair = self.pairs.entry(*key).and_modify(|ours| {
                ours.count += theirs.count;
                // For one access, one run finds the conflict with the earlier block first.
                if block(&theirs.first) <= block(&ours.first) {
                    ours.first = theirs.first.clone();
                }
                let is_first = match (&theirs.across, &ours.across) {
                    (Some(theirs), Some(ours)) => block(theirs) <= block(ours),
                    (theirs, _) => theirs.is_some(),
                };
                if is_first {
                    ours.across.clone_from(&theirs.across);
                }
            });
            pair.or_insert_with(|| theirs.clone());
        }
        for (key, theirs) in &alone.pairs {
            if let Some(ours) = self.pairs.get_mut(key) {
                ours.count = ours.count.saturating_sub(theirs.count);
            }
        }
        self.pairs.retain(|_, pair| pair.count > 0);
    }

    /// The pairs of counters in conflict.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (RaceKind, u32, u32)> {
        self.pairs.keys().copied()
    }

    /// Pairs of source accesses, in order. Instructions with the same `source` are merged.
    fn merged<K: Ord + Clone>(
        &self,
        source: &impl Fn(u32) -> K,
    ) -> BTreeMap<(K, K, RaceKind), Pair> {
        let mut sorted: Vec<_> = self.pairs.iter().collect();
        sorted.sort_by_key(|(key, _)| **key);
        let mut merged: BTreeMap<_, Pair> = BTreeMap::new();
        for (&(kind, a, b), pair) in sorted {
            if kind == RaceKind::UnlessPolled && self.polled.contains(&pair.first.place) {
                continue;
            }
            let (mut a, mut b) = (source(a), source(b));
            if b < a {
                (a, b) = (b, a);
            }
            let at = |pair: &Pair| (pair.first.sides[1].block, pair.first.instruction);
            let known = merged.entry((a, b, kind)).and_modify(|ours| {
                let is_earlier = at(pair) < at(ours);
                ours.absorb(pair, is_earlier);
            });
            known.or_insert_with(|| pair.clone());
        }
        // A race between warps makes a finding about lockstep in one warp redundant: one finding per pair, with one
        // advice.
        let races: BTreeSet<_> = merged
            .keys()
            .filter(|(_, _, kind)| *kind == RaceKind::Unordered)
            .map(|(a, b, _)| (a.clone(), b.clone()))
            .collect();
        for (a, b) in races {
            for lockstep in [
                RaceKind::LockstepPlain,
                RaceKind::LockstepVolatile,
                RaceKind::OnlyExchange,
            ] {
                let lockstep = merged.remove(&(a.clone(), b.clone(), lockstep));
                if let Some(race) = merged.get_mut(&(a.clone(), b.clone(), RaceKind::Unordered)) {
                    race.count += lockstep.map_or(0, |pair| pair.count);
                }
            }
        }
        merged
    }

    /// What is reported: the kind and the pair, and how many threads of one instruction were seen at one place.
    pub(crate) fn reported<K: Ord + Clone>(
        &self,
        source: impl Fn(u32) -> K,
    ) -> Vec<(RaceKind, Pair, u32)> {
        // Lanes of one instruction that write one place. Threads of other warps do the same.
        let by_one_instruction = |wanted: &K| {
            let mut keys = self.pairs.keys();
            keys.any(|&(kind, a, _)| kind == RaceKind::OneInstruction && source(a) == *wanted)
        };
        let merged = self.merged(&source).into_iter();
        let reported = merged.map(|((a, b, kind), pair)| {
            let at_place = pair.shown().at_place.map(u32::count_ones);
            let most = at_place[0].max(at_place[1]);
            let several = 1 + u32::from(by_one_instruction(&a) || by_one_instruction(&b));
            (kind, pair, most.max(several))
        });
        reported.collect()
    }
}

coded!(struct Side { counter, block, warp, lane, value, volatile });
coded!(struct First { sides, place, instruction, lanes, at_place });
coded!(struct Pair { count, first, across });

coded!(struct Races { pairs, polled, crosses, forgets });
