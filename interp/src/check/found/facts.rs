//! Turns what was collected into findings, with their threads and places.

use crate::observe::Scene;
use ir::locate::in_program;
use ir::{LocId, Space};

use super::advice::Conflict;
use super::mixed;
use super::{BadMask, Beyond, Gone, Source, Uneven, Unset, User, WrongOperand};
use crate::check::arithmetic;
use crate::fault::finding::{
    Fact, Finding, FindingAccess, FindingObject, FindingOp, MissingWrite, RaceKind, Use, ValueBits,
    WitnessLanes,
};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::CounterSite;
use crate::isa::family::Family;
use crate::observe::Arrival;
use crate::race::report::{Pair, Side};

/// Identifies a source access: two counters with the same key are one access.
type SourceKey = (u32, u32, u32, String, AccessOp);

impl Scene<'_> {
    pub(super) fn counter(&self, counter: u32) -> &CounterSite {
        &self.code.counters[counter as usize]
    }

    /// Whether it is an atomic only for the threads of its block.
    pub(super) fn in_block(&self, side: &Side) -> bool {
        self.counter(side.counter).block_scope
    }

    pub(super) fn source(&self, counter: u32) -> SourceKey {
        let site = self.counter(counter);
        let loc = self.module.loc(site.loc);
        (loc.file, loc.line, loc.column, loc.text.clone(), site.op)
    }

    /// The line in the program; for a place in the library, the line of the call.
    pub(super) fn line(&self, loc: LocId) -> u32 {
        let shown = in_program(self.module, loc).unwrap_or(loc);
        self.module.loc(shown).line
    }

    pub(super) fn race(&self, kind: RaceKind, pair: &Pair, most_at_one_place: u32) -> Finding {
        let first = pair.shown();
        let [a, b] = &first.sides;
        let width = self.element(b.counter).map_or(4, |ty| ty.bytes());
        let accesses = vec![self.side(a), self.side(b)];
        let witness = (0..2).map(|index| WitnessLanes {
            access: index,
            block: accesses[index].block,
            warp: accesses[index].warp,
            lanes: first.lanes[index],
        });
        let remedy = self.remedy(&Conflict {
            kind,
            a,
            b,
            most_at_one_place,
        });
        let fact = Fact::Race {
            kind,
            out_of_scope: a.block != b.block && (self.in_block(a) || self.in_block(b)),
            remedy,
        };
        Finding {
            space: Some(self.counter(b.counter).space),
            object: Some(self.object(b.counter, first.place, width)),
            witness: witness.collect(),
            count: pair.count,
            ..Finding::new(fact, accesses)
        }
    }

    fn side(&self, side: &Side) -> FindingAccess {
        let ty = self.element(side.counter);
        FindingAccess {
            value: side.value.zip(ty).map(|(bits, ty)| ValueBits { bits, ty }),
            volatile: side.volatile,
            ..self.access(side.counter, (side.block, side.warp, 1 << side.lane))
        }
    }

    /// A source access by the lowest of some lanes.
    fn access(&self, counter: u32, (block, warp, lanes): (u64, u32, u32)) -> FindingAccess {
        let site = self.counter(counter);
        FindingAccess {
            loc: site.loc,
            bytes: site.width_bytes,
            ..self.stands(FindingOp::from(site.op), block, warp, lanes, 0)
        }
    }

    /// A thread at an instruction that is not an access.
    pub(super) fn stands(
        &self,
        op: FindingOp,
        block: u64,
        warp: u32,
        lanes: u32,
        pc: u32,
    ) -> FindingAccess {
        let lane = lanes.trailing_zeros().min(31);
        FindingAccess {
            op,
            loc: self.code.locs[pc as usize],
            block: self.shape.block_index(block),
            thread: self.shape.thread_index(warp as usize, lane),
            warp,
            lane,
            bytes: 0,
            value: None,
            volatile: false,
        }
    }

    pub(super) fn bad_mask(&self, loc: LocId, (count, bad): &(u64, BadMask)) -> Finding {
        let mut access = self.stands(FindingOp::Sync, bad.block, bad.warp, 1 << bad.lane, 0);
        access.loc = loc;
        let fact = Fact::InvalidMask {
            mask: bad.mask,
            elsewhere: bad.elsewhere,
            line: self.line(loc),
        };
        of_one(fact, access, *count, bad.mask & !bad.elsewhere)
    }

    pub(super) fn written_frozen(&self, counter: u32, (region, offset): (u32, u64)) -> Finding {
        let site = self.counter(counter);
        let width = self.element(counter).map_or(4, |ty| ty.bytes());
        let offset = offset - offset % u64::from(width);
        let mut sites = self.code.sites.iter();
        let fact = Fact::ReadOnlyWritten {
            is_ldg: sites.any(|found| found.counter == counter && found.frozen == Some(true)),
            line: self.line(site.loc),
        };
        Finding {
            space: Some(site.space),
            object: Some(self.object(counter, (Some(region as usize), offset), width)),
            ..Finding::new(fact, vec![self.access(counter, (0, 0, 1))])
        }
    }

    pub(super) fn gone(&self, counter: u32, (count, gone): &(u64, Gone)) -> Finding {
        let access = self.access(counter, (gone.block, gone.warp, gone.lanes));
        let offset = u64::from(gone.offset);
        let mut locals = self
            .function
            .locals
            .iter()
            .zip(&self.code.memory.local_offsets);
        let local =
            locals.find(|(local, start)| (**start..**start + local.size_bytes).contains(&offset));
        let fact = Fact::VariableEnded {
            line: self.line(access.loc),
        };
        Finding {
            space: Some(Space::Local),
            object: Some(FindingObject {
                name: local
                    .map_or("a variable", |(local, _)| &local.name)
                    .to_owned(),
                ..FindingObject::default()
            }),
            ..of_one(fact, access, *count, gone.lanes)
        }
    }

    pub(super) fn beyond(&self, counter: u32, (count, beyond): &(u64, Beyond)) -> Finding {
        let access = self.access(counter, (beyond.block, beyond.warp, beyond.lanes));
        let loc = self.module.loc(access.loc);
        let fact = Fact::Subscript {
            text: loc.text.clone(),
            line: loc.line,
            index: beyond.index,
            len: beyond.len,
            is_member: beyond.is_member,
        };
        Finding {
            space: Some(self.counter(counter).space),
            ..of_one(fact, access, *count, beyond.lanes)
        }
    }

    /// The place of an operation that was checked.
    pub(super) fn computes_at(&self, pc: u32) -> LocId {
        let step = self.code.signed_steps.get(&pc);
        step.copied().unwrap_or(self.code.locs[pc as usize])
    }

    pub(super) fn wrong_operand(&self, pc: u32, (count, wrong): &(u64, WrongOperand)) -> Finding {
        let stands = self.stands(FindingOp::Compute, wrong.block, wrong.warp, wrong.lanes, pc);
        let access = FindingAccess {
            loc: self.computes_at(pc),
            ..stands
        };
        let op = self.code.insts[pc as usize].op;
        let line = self.line(access.loc);
        let operands = wrong.operands;
        let overflow = |sign| Fact::Overflow {
            op: sign,
            operands,
            is_wide: arithmetic::is_wide(op),
            is_mixed: mixed::is_mixed(self.function, access.loc),
            line,
        };
        let fact = match arithmetic::family(op) {
            Some(Family::Sum | Family::Step) => overflow(Some('+')),
            Some(Family::Difference) => overflow(Some('-')),
            Some(Family::Product) => overflow(Some('*')),
            Some(Family::Negation) => overflow(None),
            Some(family @ (Family::Division | Family::Shift)) => Fact::Operand {
                is_shift: family == Family::Shift,
                operands,
                line,
            },
            None => unreachable!("an operation that was looked at"),
        };
        of_one(fact, access, *count, wrong.lanes)
    }

    pub(super) fn origin(&self, source: Source) -> (u32, u32, u32) {
        let loc = match source {
            Source::Access(counter) => self.counter(counter).loc,
            Source::Slot(index) => self.code.registers.unassigned[index as usize].2,
            Source::Shuffle(loc) => LocId(loc),
        };
        let loc = self.module.loc(loc);
        (loc.file, loc.line, loc.column)
    }

    pub(super) fn unset(&self, (count, (unset, user)): &(u64, (Unset, User))) -> Finding {
        let stands = |op, loc, (block, warp, lane): (u64, u32, u32)| FindingAccess {
            loc,
            ..self.stands(op, block, warp, 1 << lane, 0)
        };
        let by_reader = (unset.block, unset.warp, unset.lane);
        let by_user = (user.block, user.warp, user.lane);
        let (mut absent, mut missing) = (None, None);
        let (space, object, read) = match unset.source {
            Source::Shuffle(loc) => {
                absent = Some(unset.lane);
                missing = self.absent_lane(LocId(loc), unset);
                let read = stands(FindingOp::Sync, LocId(loc), by_reader);
                (None, None, read)
            }
            Source::Access(counter) => {
                let space = self.counter(counter).space;
                let width = self.element(counter).map_or(4, |ty| ty.bytes());
                let object = self.object(counter, unset.place, width);
                missing = match space {
                    Space::Shared => self.copied(self.counter(counter).loc),
                    Space::Local => self.missing_in_thread(counter, unset),
                    _ => self.missing_write(unset),
                };
                let lanes = 1 << unset.lane;
                let read = self.access(counter, (unset.block, unset.warp, lanes));
                (Some(space), Some(object), read)
            }
            Source::Slot(index) => {
                let (slot, _, loc) = self.code.registers.unassigned[index as usize];
                let object = FindingObject {
                    name: self.function.slots[slot.index()].name.clone(),
                    ..FindingObject::default()
                };
                (None, Some(object), stands(FindingOp::Read, loc, by_user))
            }
        };
        let op = match user.what {
            Use::Branch | Use::Address | Use::Printed | Use::Argument => FindingOp::Compute,
            Use::Stored => FindingOp::Write,
        };
        let fact = Fact::Uninitialized {
            used: user.what,
            line: self.line(user.loc),
            from: self.line(read.loc),
            absent,
            missing,
        };
        Finding {
            space,
            object,
            count: *count,
            ..Finding::new(fact, vec![read, stands(op, user.loc, by_user)])
        }
    }

    /// The host call that wrote only a part of the memory, or copied uninitialised bytes.
    fn missing_write(&self, unset: &Unset) -> Option<MissingWrite> {
        let (region, offset) = unset.place;
        let address = self.map.regions[region?].base + offset;
        if let Some(transfer) = self.memory.brought(address) {
            return Some(MissingWrite::CopiedUnset {
                call: transfer.call,
                line: self.line(transfer.loc),
                from: transfer.from.name.clone(),
            });
        }
        let (setter, size) = self.memory.setter(address)?;
        let (setter, line) = (setter, self.line(setter.loc));
        Some(MissingWrite::PartWritten { setter, size, line })
    }

    pub(super) fn uneven(&self, (count, uneven): &(u64, Uneven)) -> Finding {
        let block = uneven.block;
        let access = |who: &Arrival| {
            let op = match who.waits {
                true => FindingOp::Barrier,
                false => FindingOp::Exit,
            };
            self.stands(op, block, who.warp, who.lanes, who.pc)
        };
        let accesses: Vec<_> = uneven.who.iter().map(access).collect();
        let lines = [0, 1].map(|index| self.line(accesses[index].loc));
        let witness = uneven.who.iter().enumerate();
        Finding {
            witness: witness
                .map(|(access, arrival)| WitnessLanes {
                    access,
                    block: self.shape.block_index(block),
                    warp: arrival.warp,
                    lanes: arrival.lanes,
                })
                .collect(),
            count: *count,
            ..Finding::new(Fact::DivergentBarrier { lines }, accesses)
        }
    }

    pub(super) fn element(&self, counter: u32) -> Option<ir::MemType> {
        let site = self
            .code
            .sites
            .iter()
            .rev()
            .find(|site| site.counter <= counter)?;
        Some(site.access.ty)
    }

    /// The instruction of a counter.
    pub(super) fn pc(&self, counter: u32) -> Option<usize> {
        let row = self
            .code
            .sites
            .iter()
            .rposition(|site| site.counter <= counter)?;
        self.code
            .insts
            .iter()
            .position(|inst| inst.op.is_access() && inst.c as usize == row)
    }
}

/// A finding of one access by some lanes of a warp.
fn of_one(fact: Fact, access: FindingAccess, count: u64, lanes: u32) -> Finding {
    Finding {
        witness: vec![WitnessLanes {
            access: 0,
            block: access.block,
            warp: access.warp,
            lanes,
        }],
        count,
        ..Finding::new(fact, vec![access])
    }
}
