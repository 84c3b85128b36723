//! Collects conflicts by pairs of source accesses. [`facts`] turns them into findings.

mod advice;
mod facts;
mod flag;
mod flow;
mod index;
mod mixed;
mod object;
mod unwritten;

use crate::observe::Scene;
use std::collections::{BTreeMap, BTreeSet};

use ir::LocId;

use crate::coded::{Coded, coded};
use crate::fault::finding::Finding;
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::Code;
use crate::isa::op::Op;
use crate::observe::Arrival;
use crate::race::report::Races;
use crate::race::verdict::RaceKind;

use super::taint::Use;

/// A barrier at which not all threads arrived.
#[derive(Clone, Copy, Debug)]
struct Uneven {
    block: u64,
    /// The threads that wait, and those that do not or wait elsewhere.
    who: [Arrival; 2],
}

/// The source of an uninitialised value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Source {
    /// An access, by its counter.
    Access(u32),
    /// A variable, by its index in the list of these.
    Slot(u32),
    /// A shuffle with an absent source lane, by its [`LocId`].
    Shuffle(u32),
}

/// A read of an uninitialised value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unset {
    pub(crate) source: Source,
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) place: (Option<usize>, u64),
}

/// The use of such a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    pub(crate) what: Use,
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) loc: LocId,
}

/// A mask that does not match the lanes.
#[derive(Clone, Copy, Debug)]
struct BadMask {
    block: u64,
    warp: u32,
    lane: u32,
    mask: u32,
    /// Lanes that it names that are live and elsewhere; none if it omits the caller.
    elsewhere: u32,
}

/// A division by zero, a shift out of range, or a result that its type cannot represent.
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
    /// The offset in thread-local memory.
    offset: u32,
}

/// Everything found so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Barriers that opened for threads at different statements, by their instructions.
    uneven: BTreeMap<(u32, u32), (u64, Uneven)>,
    /// Masks that name absent lanes, by place.
    masks: BTreeMap<u32, (u64, BadMask)>,
    /// Divisions and shifts with an invalid second operand, by instruction.
    operands: BTreeMap<u32, (u64, WrongOperand)>,
    /// Innermost subscripts beyond their dimension, by counter.
    beyond: BTreeMap<u32, (u64, Beyond)>,
    /// Accesses to variables that have ended, by counter.
    gone: BTreeMap<u32, (u64, Gone)>,
    /// Loads of memory that must not be written, by counter and region: the first byte that the launch wrote.
    written_frozen: BTreeMap<(u32, u32), u64>,
    /// Uses of uninitialised values: how many, the source, and the first use.
    unset: BTreeMap<Source, (u64, (Unset, User))>,
}

/// Adds another worker's findings of a kind. Of each, the one of the first block stays.
fn absorb<K: Ord + Copy, T: Copy>(
    ours: &mut BTreeMap<K, (u64, T)>,
    theirs: &BTreeMap<K, (u64, T)>,
    block: impl Fn(&T) -> u64,
) {
    for (&key, (count, other)) in theirs {
        let (sum, first) = ours.entry(key).or_insert((0, *other));
        *sum += count;
        if block(other) < block(first) {
            *first = *other;
        }
    }
}

impl Found {
    /// `__syncwarp` with a mask that does not match the lanes: the block, warp and lane that name it.
    pub(crate) fn bad_mask(
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

    /// An operation with an invalid operand in lanes of a warp of a block.
    pub(crate) fn wrong_operand(
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

    /// The innermost subscript of an access is beyond its dimension in lanes of a warp of a block.
    pub(crate) fn beyond(
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
    pub(crate) fn gone(
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

    /// The launch writes a word that it also reads through the read-only cache.
    pub(crate) fn written_frozen(&mut self, counter: u32, region: u32, offset: u64) {
        let first = self
            .written_frozen
            .entry((counter, region))
            .or_insert(offset);
        *first = offset.min(*first);
    }

    /// An uninitialised value has a use that counts.
    pub(crate) fn unset(&mut self, unset: &Unset, user: User) {
        let entry = self.unset.entry(unset.source);
        entry.or_insert((0, (*unset, user))).0 += 1;
    }

    /// A barrier opens for threads that are not all at it.
    pub(crate) fn uneven_barrier(&mut self, code: &Code, block: u64, meeting: &[Arrival]) {
        let Some(first) = meeting.iter().find(|arrival| arrival.waits) else {
            return;
        };
        for other in meeting {
            // Hardware does not wait for threads that have returned, and many programs rely on that. A thread that
            // reached the end of the kernel passed the place where it missed the barrier.
            let returned = !other.waits && code.insts[other.pc as usize].op != Op::End;
            let loose = [first, other].map(|arrival| code.insts[arrival.pc as usize].c == 1);
            let apart = loose[0] && (loose[1] || !other.waits);
            if returned || apart || other.waits && other.pc == first.pc {
                continue;
            }
            let who = [*first, *other];
            let uneven = self.uneven.entry((first.pc, other.pc));
            uneven.or_insert((0, Uneven { block, who })).0 += 1;
        }
    }

    /// Adds what another worker found. For a pair in both, the first block's conflict stays.
    pub(crate) fn absorb(&mut self, other: &Found) {
        absorb(&mut self.masks, &other.masks, |bad| bad.block);
        absorb(&mut self.beyond, &other.beyond, |beyond| beyond.block);
        absorb(&mut self.gone, &other.gone, |gone| gone.block);
        absorb(&mut self.operands, &other.operands, |wrong| wrong.block);
        absorb(&mut self.unset, &other.unset, |(_, user)| user.block);
        absorb(&mut self.uneven, &other.uneven, |uneven| uneven.block);
        for (&(counter, region), &offset) in &other.written_frozen {
            self.written_frozen(counter, region, offset);
        }
    }

    /// These findings and the races, in the order of their places.
    pub(crate) fn findings(&self, scene: &Scene<'_>, races: &Races) -> Vec<Finding> {
        let reported = races.reported(|counter| scene.source(counter));
        let mut findings: Vec<_> = reported
            .iter()
            .map(|(kind, pair, most_at_one_place)| scene.race(*kind, pair, *most_at_one_place))
            .collect();
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
        for (&(counter, region), &offset) in &self.written_frozen {
            if thawed_at.insert(scene.source(counter)) {
                findings.push(scene.written_frozen(counter, (region, offset)));
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
            let loc = scene.module.loc(scene.computes_at(pc));
            if wrong_at.insert((loc.file, loc.line, loc.column)) {
                findings.push(scene.wrong_operand(pc, wrong));
            }
        }
        let mut places = BTreeSet::new();
        for unset in self.unset.values() {
            let source = unset.1.0.source;
            // Instructions from one source access count as one.
            if places.insert(scene.origin(source)) && !read_too_early(races, scene, source) {
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

/// Whether a read is known to race with a write. Then it came too early, and the race is already reported.
fn read_too_early(races: &Races, scene: &Scene<'_>, source: Source) -> bool {
    let Source::Access(read) = source else {
        return false;
    };
    let read = scene.source(read);
    races.pairs().any(|(kind, a, b)| {
        let stores = |counter: u32| scene.counter(counter).op != AccessOp::Load;
        kind != RaceKind::SameValue
            && (scene.source(a) == read && stores(b) || scene.source(b) == read && stores(a))
    })
}

coded!(struct Uneven { block, who });
coded!(struct Unset { source, block, warp, lane, place });
coded!(struct User { what, block, warp, lane, loc });
coded!(struct BadMask { block, warp, lane, mask, elsewhere });
coded!(struct WrongOperand { block, warp, lanes, operands });
coded!(struct Beyond { block, warp, lanes, index, len, is_member });
coded!(struct Gone { block, warp, lanes, offset });
coded!(struct Found { uneven, masks, operands, beyond, gone, written_frozen, unset });

impl Coded for Source {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, number) = match *self {
            Source::Access(number) => (0u8, number),
            Source::Slot(number) => (1, number),
            Source::Shuffle(number) => (2, number),
        };
        (kind, number).put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Source> {
        let (kind, number) = <(u8, u32)>::get(from)?;
        match kind {
            0 => Some(Source::Access(number)),
            1 => Some(Source::Slot(number)),
            2 => Some(Source::Shuffle(number)),
            _ => None,
        }
    }
}
