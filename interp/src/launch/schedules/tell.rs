//! Adds what a run shows to the launch's report, with the schedule that shows it.

use std::collections::HashMap;

use ir::{LocId, SharedVar};

use super::{Example, Explorer, Shown};
use crate::config::MemoryOrder;
use crate::fault::finding::{Despite, Fact, FindingOp, Late, Scheduled, Sight, Turn, TurnEnd};
use crate::fault::trap::AccessOp;
use crate::isa::mask::LaneMask;
use crate::launch::orders::at_difference;
use crate::launch::report::LaunchReport;
use crate::launch::schedule::Segment;
use crate::machine::is_global;
use crate::views::{self, Place, Who};

impl Explorer<'_, '_> {
    /// Adds what a run shows, with the shortest schedule that shows it.
    pub(super) fn tell(
        &self,
        example: Example,
        spans: &HashMap<u64, Vec<(u64, u64)>>,
        report: &mut LaunchReport,
    ) {
        let (shown, (seed, tried)) = (example.shown, example.tried);
        let (outcome, turns) = self.shorter(example.outcome, shown);
        // Without any turns the schedule differs from the usual order only in how long warps wait in loops.
        let told = match turns {
            0 => outcome.segments.len(),
            turns => turns.min(outcome.segments.len()),
        };
        let turns = outcome.segments[..told].iter();
        let turns: Vec<Turn> = turns.map(|segment| self.turn(segment)).collect();
        let lates = outcome.lates.iter();
        let lates: Vec<Late> = lates.map(|late| self.late(late, told)).collect();
        let grave = lates.iter().find(|late| late.despite.is_some());
        let late_at = grave.or(lates.first()).map(|late| late.access.at);
        let at = late_at.or_else(|| {
            let mut turns = turns.iter();
            let paused = turns.find(|turn| turn.end == TurnEnd::Paused);
            paused.map(|turn| turn.at)
        });
        let schedule = Box::new(Scheduled {
            seed,
            tried,
            is_weak: self.run.machine.memory == MemoryOrder::Weak,
            turns,
            lates,
        });
        match shown {
            Shown::Trap(_) => report.order.trap_scheduled = outcome.trap.zip(Some(schedule)),
            Shown::Depends(region, difference) => {
                let mut all = outcome.differs.into_iter();
                let Some(differs) = all.find(|differs| differs.region == region) else {
                    return;
                };
                let talk = self.run.code.effects.talks_at;
                let (op, loc) = match (at, talk) {
                    (Some(at), _) => (self.op(at), at),
                    (None, Some(talk)) if talk.is_atomic => (FindingOp::Atomic, talk.loc),
                    (None, Some(talk)) => (FindingOp::Read, talk.loc),
                    (None, None) => self.writes_at(),
                };
                let fact = Fact::ResultDepends {
                    ends: differs.ends(self.run),
                    difference,
                    schedule,
                    spans: spans.get(&region).cloned().unwrap_or_default(),
                    suspect: None,
                };
                let finding = at_difference(self.run, fact, (op, loc), differs.address);
                report.findings.push(finding);
            }
        }
    }

    /// An access that changes global memory: an atomic, if there is one.
    fn writes_at(&self) -> (FindingOp, LocId) {
        let global = self
            .run
            .code
            .counters
            .iter()
            .filter(|site| is_global(site.space));
        let writes = global.filter(|site| site.op != AccessOp::Load);
        let first = writes.min_by_key(|site| (site.op != AccessOp::Atomic, site.loc));
        first.map_or((FindingOp::Write, self.run.config.loc), |site| {
            (self.op(site.loc), site.loc)
        })
    }

    /// What the access at a place does.
    fn op(&self, loc: LocId) -> FindingOp {
        let counters = &self.run.code.counters;
        let op = counters
            .iter()
            .find(|site| site.loc == loc)
            .map(|site| site.op);
        match op {
            Some(AccessOp::Atomic) => FindingOp::Atomic,
            Some(AccessOp::Store) => FindingOp::Write,
            Some(AccessOp::Load) | None => FindingOp::Read,
        }
    }

    fn turn(&self, segment: &Segment) -> Turn {
        let alive = LaneMask::first(self.run.shape.threads() - 32 * segment.warp).0;
        Turn {
            block: self.run.shape.block_index(segment.block),
            warp: segment.warp,
            lanes: segment.lanes,
            is_part: segment.lanes != 0 && segment.lanes != alive,
            end: segment.end,
            at: segment.next,
        }
    }

    fn late(&self, late: &views::late::Late, told: usize) -> Late {
        let sight = |at: LocId, place: Place, value: u32| Sight {
            at,
            name: self.name(place),
            value,
        };
        Late {
            turn: late.turn.min(told),
            op: late.op.into(),
            after: late.after,
            access: sight(late.at, late.nth.1, late.value),
            who: self.thread(late.nth.0),
            missed: sight(late.missed_at, late.nth.1, late.missed),
            missed_by: late.missed_by.map(|who| self.thread(who)),
            despite: late.despite.map(|despite| Despite {
                read: sight(despite.at, despite.place, despite.value),
                stored_at: despite.stored_at,
                writer: despite.writer,
                reader: despite.reader,
                is_flag_strong: despite.is_flag_strong,
            }),
        }
    }

    /// The indices of a block and of a thread in it.
    fn thread(&self, who: Who) -> ([u32; 3], [u32; 3]) {
        let shape = &self.run.shape;
        let thread = shape.thread_index(who.thread as usize / 32, who.thread % 32);
        (shape.block_index(who.block), thread)
    }

    /// The source name of a word.
    fn name(&self, place: Place) -> String {
        let (name, offset, size) = match place {
            Place::Global(address) => {
                let region = self.run.map.regions[self.run.map.find(address) as usize];
                let object = self.run.memory.object_at(region.base, address);
                let name = object.map_or_else(|| "memory".to_string(), |object| object.name);
                (name, address - region.base, region.size)
            }
            Place::Shared(_, offset) => {
                let offset = u64::from(offset);
                let kernel = self.run.program.module().function(self.run.kernel);
                let holds = |var: &&SharedVar| {
                    let begin = var.offset_bytes;
                    !var.dynamic && (begin..begin + var.size_bytes).contains(&offset)
                };
                match kernel.shared.iter().find(holds) {
                    Some(var) => {
                        let name = format!("`{}`", var.name);
                        (name, offset - var.offset_bytes, var.size_bytes)
                    }
                    None => ("shared memory".to_string(), offset, u64::MAX),
                }
            }
        };
        match (name.strip_suffix('`'), size <= 4) {
            (_, true) => name,
            (Some(name), false) => format!("{name}[{}]`", offset / 4),
            (None, false) => format!("word {} of {name}", offset / 4),
        }
    }
}
