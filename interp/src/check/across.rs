//! Compares parts of a launch that ran separately: finds blocks of different parts that touched the same bytes, and the
//! blocks that have to run together to decide whether there are races.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ir::LocId;

pub(crate) use crate::race::touches::{Step, Stretch, Touches, gathered};

use super::{Checker, Subject};
use crate::fault::trap::AccessOp;
use crate::race::report::Races;

/// The most blocks that run together again for each pair of source accesses.
const MAX_PAIRS: usize = 256;
/// The most of them in all.
const MAX_BLOCKS: usize = 4096;

/// A part: its blocks, and what they touched.
pub(crate) type Side<'a> = (Range<u64>, &'a [Touches]);

/// Two source accesses of different parts that touch the same bytes, the part with the lower blocks first.
#[derive(Debug, Default)]
struct Meeting {
    /// Pairs of blocks that do so, one of each part.
    pairs: BTreeSet<(u64, u64)>,
    /// The first blocks of their parts. The shadow has the last block that touched a place, but the report of one run
    /// shows the first.
    first: BTreeSet<u64>,
    /// Whether there are more.
    is_cut: bool,
    /// An example: region and offset.
    example: (u32, u64),
}

/// The memory that parts have in common.
#[derive(Debug, Default)]
pub(crate) struct Across {
    meetings: BTreeMap<(u32, u32), Meeting>,
    /// A read that finds what another part writes, and that write.
    reads: Option<(u32, u32)>,
    /// Source accesses whose touched bytes are not known exactly.
    coarse: BTreeSet<(u32, u32)>,
}

/// Consecutive bytes touched by one block.
#[derive(Clone, Copy)]
struct Piece {
    start: u64,
    end: u64,
    part: usize,
    counter: u32,
    op: AccessOp,
    block: u64,
    is_coarse: bool,
}

impl Across {
    /// Compares parts.
    pub(crate) fn of(parts: &[Side<'_>], subject: &Subject<'_>) -> Across {
        let mut across = Across::default();
        let regions = parts.iter().flat_map(|(_, touches)| touches.iter());
        let regions: BTreeSet<u32> = regions.map(|touches| touches.region).collect();
        for region in regions {
            across.region(region, parts, subject);
        }
        across
    }

    fn region(&mut self, region: u32, parts: &[Side<'_>], subject: &Subject<'_>) {
        let of_part = |(_, all): &Side<'_>| {
            let held = all.iter().filter(|touches| touches.region == region);
            let all = held.flat_map(|touches| {
                let stretches = touches.stretches.iter();
                stretches.map(|stretch| (stretch.clone(), touches.is_coarse))
            });
            all.collect::<Vec<_>>()
        };
        let stretches: Vec<Vec<(Stretch, bool)>> = parts.iter().map(of_part).collect();
        let hull = |all: &Vec<(Stretch, bool)>| {
            let starts = all.iter().map(|(stretch, _)| stretch.start);
            let ends = all.iter().map(|(stretch, _)| stretch.end());
            starts.min().zip(ends.max())
        };
        let hulls: Vec<_> = stretches.iter().map(hull).collect();
        let mut pieces = Vec::new();
        for (part, all) in stretches.iter().enumerate() {
            // Parts usually work on different halves, so that no stretches have to be compared.
            let others = hulls.iter().enumerate().filter(|(other, _)| *other != part);
            let others: Vec<(u64, u64)> = others.filter_map(|(_, hull)| *hull).collect();
            let meets = |from: u64, to: u64| others.iter().any(|&(a, b)| from < b && a < to);
            for (stretch, is_coarse) in all {
                if !meets(stretch.start, stretch.end()) {
                    continue;
                }
                stretch.each(&mut |start, block| {
                    pieces.push(Piece {
                        start,
                        end: start.saturating_add(stretch.bytes),
                        part,
                        counter: stretch.counter,
                        op: stretch.op,
                        block,
                        is_coarse: *is_coarse,
                    });
                });
            }
        }
        pieces.sort_by_key(|piece| (piece.start, piece.part, piece.end));
        let mut open: Vec<Piece> = Vec::new();
        for piece in pieces {
            open.retain(|other| other.end > piece.start);
            for other in &open {
                let (a, b) = match other.part < piece.part {
                    true => (other, &piece),
                    false => (&piece, other),
                };
                if a.part != b.part {
                    let first = [a, b].map(|piece| parts[piece.part].0.start);
                    self.meet((region, piece.start), (a, b), first, subject);
                }
            }
            open.push(piece);
        }
    }

    /// Two stretches touch the same bytes. `first` are the first blocks of their parts.
    fn meet(
        &mut self,
        at: (u32, u64),
        (a, b): (&Piece, &Piece),
        first: [u64; 2],
        subject: &Subject<'_>,
    ) {
        let races = &subject.races;
        match (a.op, b.op) {
            (AccessOp::Load, AccessOp::Load) => return,
            (AccessOp::Atomic, AccessOp::Atomic) if !races.block_scopes => return,
            (AccessOp::Load, _) => self.reads = self.reads.or(Some((a.counter, b.counter))),
            (_, AccessOp::Load) => self.reads = self.reads.or(Some((b.counter, a.counter))),
            _ => {}
        }
        let key = (a.counter, b.counter);
        if !races.may_race(a.counter, b.counter) {
            return;
        }
        if a.is_coarse || b.is_coarse {
            self.coarse.insert(key);
            return;
        }
        let meeting = self.meetings.entry(key).or_insert_with(|| Meeting {
            example: at,
            ..Meeting::default()
        });
        meeting.first.extend(first);
        if meeting.pairs.len() < MAX_PAIRS {
            meeting.pairs.insert((a.block, b.block));
        } else {
            meeting.is_cut |= !meeting.pairs.contains(&(a.block, b.block));
        }
    }

    /// The blocks that have to run together, in order, and whether these are all of them.
    pub(crate) fn blocks(&self) -> (Vec<u64>, bool) {
        let all = self.meetings.values();
        let pairs = all.clone().flat_map(|meeting| &meeting.pairs);
        let mut blocks: BTreeSet<u64> = pairs.flat_map(|&(a, b)| [a, b]).collect();
        blocks.extend(all.flat_map(|meeting| &meeting.first));
        let is_cut = self.meetings.values().any(|meeting| meeting.is_cut);
        let all = blocks.len() <= MAX_BLOCKS && !is_cut;
        (blocks.into_iter().take(MAX_BLOCKS).collect(), all)
    }

    /// A read that finds what another part writes, and the write.
    pub(crate) fn reads(&self) -> Option<(u32, u32)> {
        self.reads
    }

    /// Pairs of source accesses that could not be decided to race or not. `again`: what the blocks that ran together
    /// touched.
    pub(crate) fn undecided(&self, again: &[Touches]) -> Vec<(u32, u32)> {
        let missing = self.meetings.iter().filter(|((a, b), meeting)| {
            let (region, offset) = meeting.example;
            let mut found = again.iter().filter(|touches| touches.region == region);
            !found.any(|touches| {
                let mut stretches = touches.stretches.iter();
                stretches.any(|stretch| [*a, *b].contains(&stretch.counter) && has(stretch, offset))
            })
        });
        let missing = missing.map(|(key, _)| *key);
        missing.chain(self.coarse.iter().copied()).collect()
    }
}

/// Whether a byte is in a stretch.
fn has(stretch: &Stretch, offset: u64) -> bool {
    let mut found = false;
    stretch.each(&mut |start, _| found |= (start..start + stretch.bytes).contains(&offset));
    found
}

impl Checker<'_> {
    /// Adds the races between blocks of different parts: some blocks ran again `together`, and those of each part
    /// `alone`.
    pub(crate) fn add_across(&mut self, together: &Checker<'_>, alone: &[Checker<'_>]) {
        let mut apart = Races::default();
        for checker in alone {
            apart.absorb(&checker.races.races);
        }
        self.races.races.add_across(&together.races.races, &apart);
    }

    /// A racing read and write, by their counters.
    pub(crate) fn racing_read(&self, subject: &Subject<'_>) -> Option<(u32, u32)> {
        let reads = |counter: u32| {
            let counters = &subject.races.code.counters;
            counters[counter as usize].op == AccessOp::Load
        };
        let pairs = self.races.races.pairs();
        let pairs = pairs.filter_map(|(_, a, b)| match (reads(a), reads(b)) {
            (true, false) => Some((a, b)),
            (false, true) => Some((b, a)),
            _ => None,
        });
        pairs.min()
    }
}

impl Subject<'_> {
    /// The place of an access, by its counter.
    pub(crate) fn loc(&self, counter: u32) -> Option<LocId> {
        let site = self.races.code.counters.get(counter as usize);
        site.map(|site| site.loc)
    }
}
