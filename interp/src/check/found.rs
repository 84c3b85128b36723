//! Gathers conflicts by pairs of source accesses. [`words`] words them.

mod advice;
mod flow;
mod object;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dsl::ir::{Function, LocId, Module};

use crate::block::Shape;
use crate::bytecode::{Code, Op};
use crate::finding::Finding;
use crate::machine::GlobalMap;
use crate::memory::Memory;
use crate::observer::Arrival;
use crate::race::verdict::RaceKind;
use crate::trap::AccessOp;

use super::taint::Use;
use words::SourceKey;

/// Where findings are read: what their numbers mean.
pub(crate) struct Scene<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) memory: &'a Memory,
    pub(crate) map: &'a GlobalMap,
}

/// One access of a conflict.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) counter: u32,
    pub(super) block: u64,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) value: Option<u64>,
    pub(super) volatile: bool,
}

/// The first conflict of a pair.
#[derive(Clone, Debug)]
struct First {
    sides: [Side; 2],
    /// The region, if it is global memory, and the offset.
    place: (Option<usize>, u64),
    /// The instruction, and the lanes that were in conflict in it.
    look: u64,
    lanes: [u32; 2],
    /// Those of them at that place.
    there: [u32; 2],
}

/// A conflict to give advice on.
struct Conflict<'a> {
    kind: RaceKind,
    a: &'a Side,
    b: &'a Side,
    /// Threads of one instruction that were seen at one place.
    most_at_one_place: u32,
}

/// A pair of source accesses in conflict.
#[derive(Clone, Debug)]
struct Pair {
    count: u64,
    first: First,
    /// The first one of two blocks: no barrier of one block helps against that.
    across: Option<First>,
}

impl Pair {
    /// The one to tell of.
    fn shown(&self) -> &First {
        self.across.as_ref().unwrap_or(&self.first)
    }
}

/// A barrier that not all came to.
#[derive(Clone, Debug)]
struct Uneven {
    count: u64,
    block: u64,
    /// Who waits, and who does not, or elsewhere.
    who: [Arrival; 2],
}

/// What a value that nobody wrote came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    /// An access, by its counter.
    Access(u32),
    /// A variable, by its place in the list of those.
    Slot(u32),
    /// A shuffle whose source lane was not there, by its [`LocId`].
    Shuffle(u32),
}

/// A read of something that nobody wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unset {
    pub(super) source: Source,
    pub(super) block: u64,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) place: (Option<usize>, u64),
}

/// Where its value mattered.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub(super) what: Use,
    pub(super) block: u64,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) loc: LocId,
}

/// A mask that does not fit the lanes.
#[derive(Clone, Copy, Debug)]
struct BadMask {
    block: u64,
    warp: u32,
    lane: u32,
    mask: u32,
    /// Lanes it names that live and are elsewhere; none if it omits the caller.
    elsewhere: u32,
}

/// A division by zero or a shift out of range.
#[derive(Clone, Copy, Debug)]
struct WrongOperand {
    block: u64,
    warp: u32,
    lanes: u32,
    operands: (i64, i64),
}

/// A subscript beyond its dimension.
#[derive(Clone, Copy, Debug)]
struct Beyond {
    block: u64,
    warp: u32,
    lanes: u32,
    index: i64,
    len: u32,
    is_member: bool,
}

/// An access to a variable that has ended.
#[derive(Clone, Copy, Debug)]
struct Gone {
    block: u64,
    warp: u32,
    lanes: u32,
    /// In thread-local memory.
    offset: u32,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pairs: HashMap<(RaceKind, u32, u32), Pair>,
    /// Places that threads wait at.
    polled: BTreeSet<(Option<usize>, u64)>,
    /// Barriers that opened for threads at different statements, by their instructions.
    uneven: BTreeMap<(u32, u32), Uneven>,
    /// Masks that name lanes that are not there, by place.
    masks: BTreeMap<u32, (u64, BadMask)>,
    /// Divisions and shifts with a wrong second operand, by instruction.
    operands: BTreeMap<u32, (u64, WrongOperand)>,
    /// Innermost subscripts beyond their dimension, by counter.
    beyond: BTreeMap<u32, (u64, Beyond)>,
    /// Accesses to variables that have ended, by counter.
    gone: BTreeMap<u32, (u64, Gone)>,
    /// Loads of what nobody may write, by counter and region: the first byte that the launch wrote.
    thawed: BTreeMap<(u32, u32), u64>,
    /// Values that nobody wrote and that mattered: how often, where from, and where first.
    unset: BTreeMap<Source, (u64, Unset, User)>,
    /// Blocks were in conflict with each other.
    pub(super) crosses: bool,
}

impl Found {
    pub(super) fn add(
        &mut self,
        kind: RaceKind,
        first: Side,
        second: Side,
        place: (Option<usize>, u64),
        look: u64,
        crosses: bool,
    ) {
        self.crosses |= crosses;
        let (a, b) = (first.counter, second.counter);
        let key = (kind, a.min(b), a.max(b));
        let new = || First {
            sides: [first.clone(), second.clone()],
            place,
            look,
            lanes: [0; 2],
            there: [0; 2],
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
        if kept.look == look && like(&kept.sides[0], &first) && like(&kept.sides[1], &second) {
            kept.lanes[0] |= 1 << first.lane;
            kept.lanes[1] |= 1 << second.lane;
            if kept.place == place {
                kept.there[0] |= 1 << first.lane;
                kept.there[1] |= 1 << second.lane;
            }
        }
    }

    /// Threads wait for what is there to change.
    pub(super) fn polled(&mut self, place: (Option<usize>, u64)) {
        self.polled.insert(place);
    }

    /// `__syncwarp` with a mask that does not fit: block, warp and lane that name it.
    pub(super) fn bad_mask(
        &mut self,
        loc: LocId,
        (block, warp, lane): (u64, u32, u32),
        mask: u32,
        elsewhere: u32,
    ) {
        let bad = BadMask {
            block,
            warp,
            lane,
            mask,
            elsewhere,
        };
        self.masks.entry(loc.0).or_insert((0, bad)).0 += 1;
    }

    /// A division or shift by the lanes of a warp of a block.
    pub(super) fn wrong_operand(
        &mut self,
        pc: u32,
        (block, warp, lanes): (u64, u32, u32),
        operands: (i64, i64),
    ) {
        let wrong = WrongOperand {
            block,
            warp,
            lanes,
            operands,
        };
        let count = u64::from(lanes.count_ones());
        self.operands.entry(pc).or_insert((0, wrong)).0 += count;
    }

    /// The innermost subscript of an access by the lanes of a warp of a block is beyond its dimension.
    pub(super) fn beyond(
        &mut self,
        counter: u32,
        (block, warp, lanes): (u64, u32, u32),
        (index, len, is_member): (i64, u32, bool),
    ) {
        let beyond = Beyond {
            block,
            warp,
            lanes,
            index,
            len,
            is_member,
        };
        let count = u64::from(lanes.count_ones());
        self.beyond.entry(counter).or_insert((0, beyond)).0 += count;
    }

    /// Lanes of a warp of a block access a variable that has ended, at an offset of thread-local memory.
    pub(super) fn gone(
        &mut self,
        counter: u32,
        (block, warp, lanes): (u64, u32, u32),
        offset: u32,
    ) {
        let gone = Gone {
            block,
            warp,
            lanes,
            offset,
        };
        self.gone.entry(counter).or_insert((0, gone)).0 += u64::from(lanes.count_ones());
    }

    /// A word of a region is read as what nobody writes, and the launch wrote it.
    pub(super) fn thawed(&mut self, counter: u32, region: u32, offset: u64) {
        let first = self.thawed.entry((counter, region)).or_insert(offset);
        *first = offset.min(*first);
    }

    /// A value that nobody wrote matters.
    pub(super) fn unset(&mut self, unset: &Unset, user: User) {
        let entry = self.unset.entry(unset.source);
        entry.or_insert((0, *unset, user)).0 += 1;
    }

    /// A barrier opens for threads that are not all at it.
    pub(super) fn uneven_barrier(&mut self, code: &Code, block: u64, meeting: &[Arrival]) {
        let Some(first) = meeting.iter().find(|arrival| arrival.waits) else {
            return;
        };
        for other in meeting {
            // Hardware does not wait for threads that have returned, and many programs rely on it; one that fell off the
            // kernel's end came by where the barrier was missed.
            let returned = !other.waits && code.insts[other.pc as usize].op != Op::End;
            if returned || other.waits && other.pc == first.pc {
                continue;
            }
            let uneven = self
                .uneven
                .entry((first.pc, other.pc))
                .or_insert_with(|| Uneven {
                    count: 0,
                    block,
                    who: [*first, *other],
                });
            uneven.count += 1;
        }
    }

    /// Takes over what another worker found; of one pair, the first block's conflict stays.
    pub(super) fn absorb(&mut self, other: &Found) {
        self.crosses |= other.crosses;
        self.polled.extend(&other.polled);
        for (&key, theirs) in &other.masks {
            let ours = self.masks.entry(key).or_insert((0, theirs.1));
            ours.0 += theirs.0;
            if theirs.1.block < ours.1.block {
                ours.1 = theirs.1;
            }
        }
        for (&key, theirs) in &other.beyond {
            let ours = self.beyond.entry(key).or_insert((0, theirs.1));
            ours.0 += theirs.0;
            if theirs.1.block < ours.1.block {
                ours.1 = theirs.1;
            }
        }
        for (&(counter, region), &offset) in &other.thawed {
            self.thawed(counter, region, offset);
        }
        for (&key, theirs) in &other.gone {
            let ours = self.gone.entry(key).or_insert((0, theirs.1));
            ours.0 += theirs.0;
            if theirs.1.block < ours.1.block {
                ours.1 = theirs.1;
            }
        }
        for (&key, theirs) in &other.operands {
            let ours = self.operands.entry(key).or_insert((0, theirs.1));
            ours.0 += theirs.0;
            if theirs.1.block < ours.1.block {
                ours.1 = theirs.1;
            }
        }
        for (&key, theirs) in &other.unset {
            let ours = self.unset.entry(key).or_insert((0, theirs.1, theirs.2));
            let count = ours.0 + theirs.0;
            if theirs.2.block < ours.2.block {
                *ours = *theirs;
            }
            ours.0 = count;
        }
        for (&key, theirs) in &other.uneven {
            match self.uneven.entry(key) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(theirs.clone());
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let ours = entry.get_mut();
                    let count = ours.count + theirs.count;
                    if theirs.block < ours.block {
                        ours.clone_from(theirs);
                    }
                    ours.count = count;
                }
            }
        }
        for (&key, theirs) in &other.pairs {
            match self.pairs.entry(key) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(theirs.clone());
                }
                std::collections::hash_map::Entry::Occupied(mut entry) => {
                    let ours = entry.get_mut();
                    ours.count += theirs.count;
                    if theirs.first.sides[1].block < ours.first.sides[1].block {
                        ours.first = theirs.first.clone();
                    }
                    if ours.across.is_none() {
                        ours.across.clone_from(&theirs.across);
                    }
                }
            }
        }
    }

    /// Whether a read is found to race with a write: then it came too early, which is said already.
    fn races(&self, scene: &Scene<'_>, source: Source) -> bool {
        let Source::Access(read) = source else {
            return false;
        };
        let read = scene.source(read);
        self.pairs.keys().any(|&(kind, a, b)| {
            let stores = |counter: u32| scene.counter(counter).op != AccessOp::Load;
            kind != RaceKind::SameValue
                && (scene.source(a) == read && stores(b) || scene.source(b) == read && stores(a))
        })
    }

    /// In the order of their places.
    pub(super) fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        // Instructions that come from one source access are one.
        let mut sorted: Vec<_> = self.pairs.iter().collect();
        sorted.sort_by_key(|(key, _)| **key);
        let mut merged: BTreeMap<_, Pair> = BTreeMap::new();
        for (&(kind, a, b), pair) in sorted {
            if kind == RaceKind::UnlessPolled && self.polled.contains(&pair.first.place) {
                continue;
            }
            let (mut a, mut b) = (scene.source(a), scene.source(b));
            if b < a {
                (a, b) = (b, a);
            }
            match merged.entry((a, b, kind)) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(pair.clone());
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let ours = entry.get_mut();
                    ours.count += pair.count;
                    let at = |pair: &Pair| (pair.first.sides[1].block, pair.first.look);
                    if at(pair) < at(ours) {
                        ours.first = pair.first.clone();
                    }
                    if ours.across.is_none() {
                        ours.across.clone_from(&pair.across);
                    }
                }
            }
        }
        // What is a race between warps is none of lockstep within one: one finding of a pair, with one advice.
        let races: BTreeSet<_> = merged
            .keys()
            .filter(|(_, _, kind)| *kind == RaceKind::Unordered)
            .map(|(a, b, _)| (a.clone(), b.clone()))
            .collect();
        for (a, b) in races {
            for lockstep in [RaceKind::LockstepPlain, RaceKind::LockstepVolatile] {
                let lockstep = merged.remove(&(a.clone(), b.clone(), lockstep));
                if let Some(race) = merged.get_mut(&(a.clone(), b.clone(), RaceKind::Unordered)) {
                    race.count += lockstep.map_or(0, |pair| pair.count);
                }
            }
        }
        // Lanes of one instruction that write one place: so do threads of other warps.
        let together = |source: &SourceKey| {
            let mut keys = self.pairs.keys();
            keys.any(|&(kind, a, _)| kind == RaceKind::OneInstruction && scene.source(a) == *source)
        };
        let pairs = merged.iter().map(|((a, b, kind), pair)| {
            let there = pair.shown().there.map(u32::count_ones);
            let most = there[0].max(there[1]);
            let several = 1 + u32::from(together(a) || together(b));
            scene.finding(*kind, pair, most.max(several))
        });
        let mut findings: Vec<Finding> = pairs.collect();
        findings.extend(self.uneven.values().map(|uneven| scene.uneven(uneven)));
        findings.extend(
            self.masks
                .iter()
                .map(|(&loc, bad)| scene.bad_mask(LocId(loc), bad)),
        );
        let mut beyond_at = BTreeSet::new();
        for (&counter, beyond) in &self.beyond {
            if beyond_at.insert(scene.source(counter)) {
                findings.push(scene.beyond(counter, beyond));
            }
        }
        let mut thawed_at = BTreeSet::new();
        for (&(counter, region), &offset) in &self.thawed {
            if thawed_at.insert(scene.source(counter)) {
                findings.push(scene.thawed(counter, (region, offset)));
            }
        }
        let mut gone_at = BTreeSet::new();
        for (&counter, gone) in &self.gone {
            if gone_at.insert(scene.source(counter)) {
                findings.push(scene.gone(counter, gone));
            }
        }
        let mut wrong_at = BTreeSet::new();
        for (&pc, wrong) in &self.operands {
            let loc = scene.module.loc(scene.code.locs[pc as usize]);
            if wrong_at.insert((loc.file, loc.line, loc.column)) {
                findings.push(scene.wrong_operand(pc, wrong));
            }
        }
        let mut places = BTreeSet::new();
        for unset in self.unset.values() {
            // Instructions that come from one source access are one.
            if places.insert(scene.origin(unset.1.source)) && !self.races(scene, unset.1.source) {
                findings.push(scene.unset(unset));
            }
        }
        findings.sort_by_key(|finding| {
            let at = |index: usize| {
                let loc = scene.module.loc(finding.accesses.get(index)?.loc);
                Some((loc.file, loc.line, loc.column))
            };
            (at(0), at(1), finding.kind)
        });
        findings
    }
}
