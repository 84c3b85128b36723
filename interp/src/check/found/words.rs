//! Words findings: what happened, who did it, and what would help.

use dsl::diagnostic::Code as Message;
use dsl::ir::locate::in_program;
use dsl::ir::{LocId, Space};

use super::super::taint::Use;
use super::{BadMask, Beyond, Gone, Scene, Source, Uneven, Unset, User, WrongOperand};
use crate::bytecode::{CounterSite, Op};
use crate::finding::{
    Finding, FindingAccess, FindingKind, FindingObject, FindingOp, Severity, ValueBits,
    WitnessLanes,
};
use crate::race::report::{Conflict, Pair, Side};
use crate::race::verdict::RaceKind;
use crate::trap::AccessOp;

/// What makes two counters one source access.
pub(crate) type SourceKey = (u32, u32, u32, String, AccessOp);

impl Scene<'_> {
    pub(crate) fn counter(&self, counter: u32) -> &CounterSite {
        &self.code.counters[counter as usize]
    }

    /// Whether it is an atomic for the threads of its block only.
    pub(super) fn in_block(&self, side: &Side) -> bool {
        self.counter(side.counter).block_scope
    }

    pub(crate) fn source(&self, counter: u32) -> SourceKey {
        let site = self.counter(counter);
        let loc = self.module.loc(site.loc);
        (loc.file, loc.line, loc.column, loc.text.clone(), site.op)
    }

    /// The line of the program; of a place in the library, where that is called.
    pub(super) fn line(&self, loc: LocId) -> u32 {
        let shown = in_program(self.module, loc).unwrap_or(loc);
        self.module.loc(shown).line
    }

    pub(crate) fn finding(&self, race: RaceKind, pair: &Pair, most_at_one_place: u32) -> Finding {
        let first = pair.shown();
        let [a, b] = &first.sides;
        let space = self.counter(b.counter).space;
        let width = self.element(b.counter).map_or(4, |ty| ty.bytes());
        let object = self.object(b.counter, first.place, width);
        let name = object.described();
        let access = |side: &Side| {
            let site = self.counter(side.counter);
            let ty = self.element(side.counter);
            FindingAccess {
                op: FindingOp::from(site.op),
                loc: site.loc,
                block: self.shape.block_index(side.block),
                thread: self.shape.thread_index(side.warp as usize, side.lane),
                warp: side.warp,
                lane: side.lane,
                bytes: site.width_bytes,
                value: side.value.zip(ty).map(|(bits, ty)| ValueBits { bits, ty }),
                volatile: side.volatile,
            }
        };
        let accesses = vec![access(a), access(b)];
        let did = |side: &Side| match self.counter(side.counter).op {
            AccessOp::Load => "reads",
            AccessOp::Store => "writes",
            AccessOp::Atomic => "updates atomically",
        };
        let who = |index: usize| {
            let access = &accesses[index];
            let [x, y, z] = access.thread;
            format!("thread ({x}, {y}, {z})")
        };
        let blocks = if a.block == b.block {
            let [x, y, z] = accesses[0].block;
            format!("in block ({x}, {y}, {z})")
        } else {
            let [[ax, ay, az], [bx, by, bz]] = [accesses[0].block, accesses[1].block];
            format!("in blocks ({ax}, {ay}, {az}) and ({bx}, {by}, {bz})")
        };
        let what = format!("{} {} and {} {} {name}", who(0), did(a), who(1), did(b));
        let (code, kind, severity, message) = match race {
            RaceKind::Unordered | RaceKind::UnlessPolled | RaceKind::LockWithoutFence => (
                Message::DataRace,
                FindingKind::Race,
                Severity::Error,
                if a.block != b.block && (self.in_block(a) || self.in_block(b)) {
                    format!(
                        "race: {what} {blocks}, and an atomic of block scope is none for other blocks"
                    )
                } else if race == RaceKind::LockWithoutFence {
                    format!(
                        "race: {what} {blocks}, and no fence follows where the lock between the two was taken"
                    )
                } else if a.volatile && b.volatile {
                    format!(
                        "race: {what} {blocks}, and nothing orders the two: `volatile` does not"
                    )
                } else {
                    format!("race: {what} {blocks}, and nothing orders the two")
                },
            ),
            RaceKind::OneInstruction => (
                Message::DataRace,
                FindingKind::Race,
                Severity::Error,
                format!(
                    "race: {} and {} write different values to {name} at once, {blocks}",
                    who(0),
                    who(1)
                ),
            ),
            RaceKind::SameValue => (
                Message::SameValueRace,
                FindingKind::Race,
                Severity::Note,
                format!(
                    "{} and {} write the same value to {name} {blocks}, and nothing orders the two",
                    who(0),
                    who(1)
                ),
            ),
            RaceKind::LockstepVolatile => (
                Message::WarpSynchronousCode,
                FindingKind::WarpSynchronous,
                Severity::Warning,
                format!(
                    "warp-synchronous: {what} {blocks}, ordered by the lockstep of their warp alone: legal up to sm_60, \
                     undefined since sm_70"
                ),
            ),
            RaceKind::LockstepPlain => (
                Message::WarpSynchronousCode,
                FindingKind::WarpSynchronous,
                Severity::Error,
                if [a, b]
                    .iter()
                    .any(|side| self.counter(side.counter).op == AccessOp::Atomic)
                {
                    format!(
                        "warp-synchronous: {what} {blocks}, ordered by the lockstep of their warp alone: since sm_70 it is a race"
                    )
                } else {
                    format!(
                        "warp-synchronous: {what} {blocks}, ordered by the lockstep of their warp alone, and not `volatile`: \
                         up to sm_60 the compiler may keep the value in a register, since sm_70 it is a race"
                    )
                },
            ),
        };
        let witness = (0..2).map(|index| WitnessLanes {
            access: index,
            block: accesses[index].block,
            warp: accesses[index].warp,
            lanes: first.lanes[index],
        });
        Finding {
            descending: false,
            code,
            kind,
            severity,
            message,
            advice: Some(self.advice(&Conflict {
                kind: race,
                a,
                b,
                most_at_one_place,
            })),
            space: Some(space),
            object: Some(object),
            witness: witness.collect(),
            accesses,
            count: pair.count,
        }
    }

    /// A thread at an instruction that is no access.
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
        let ([x, y, z], line) = (access.thread, self.line(loc));
        let (mask, lane) = (bad.mask, bad.lane);
        let (why, advice) = if bad.elsewhere == 0 {
            (
                format!("does not name its caller, lane {lane}"),
                "a lane that calls `__syncwarp` has to be in the mask it names".to_owned(),
            )
        } else {
            let first = bad.elsewhere.trailing_zeros();
            let count = bad.elsewhere.count_ones();
            let who = match count {
                1 => format!("lane {first}, which is"),
                _ => format!("{count} lanes from lane {first} on, which are"),
            };
            (
                format!("names {who} elsewhere"),
                "move it to where all lanes of the mask come by, or name only those that do: compute the mask with \
                 `__ballot_sync` before the branch"
                    .to_owned(),
            )
        };
        Finding {
            descending: false,
            code: Message::InvalidMask,
            kind: FindingKind::InvalidMask,
            severity: Severity::Error,
            message: format!(
                "invalid mask: {mask:#010x} at line {line} {why}; thread ({x}, {y}, {z}) waits for lanes that do not come"
            ),
            advice: Some(advice),
            space: None,
            object: None,
            witness: vec![WitnessLanes {
                access: 0,
                block: access.block,
                warp: bad.warp,
                lanes: mask & !bad.elsewhere,
            }],
            accesses: vec![access],
            count: *count,
        }
    }

    pub(super) fn thawed(&self, counter: u32, (region, offset): (u32, u64)) -> Finding {
        let site = self.counter(counter);
        let width = self.element(counter).map_or(4, |ty| ty.bytes());
        let offset = offset - offset % u64::from(width);
        let object = self.object(counter, (Some(region as usize), offset), width);
        let is_ldg = self
            .code
            .sites
            .iter()
            .any(|found| found.counter == counter && found.frozen == Some(true));
        let (how, advice) = match is_ldg {
            true => (
                "`__ldg`",
                "read it with a plain load, or write to other memory",
            ),
            false => (
                "a `const … __restrict__` pointer",
                "leave out `__restrict__`, or pass two different buffers",
            ),
        };
        let name = object.described();
        Finding {
            descending: false,
            code: Message::ReadOnlyWritten,
            kind: FindingKind::Race,
            severity: if is_ldg {
                Severity::Error
            } else {
                Severity::Warning
            },
            message: format!(
                "{name} is read through {how} at line {}, which promises that nobody writes it while the kernel runs, and this launch \
                 writes it: whether the load sees that is left open",
                self.line(site.loc)
            ),
            advice: Some(advice.to_owned()),
            space: Some(site.space),
            object: Some(object),
            witness: Vec::new(),
            accesses: vec![FindingAccess {
                loc: site.loc,
                bytes: site.width_bytes,
                ..self.stands(FindingOp::Read, 0, 0, 1, 0)
            }],
            count: 1,
        }
    }

    pub(super) fn gone(&self, counter: u32, (count, gone): &(u64, Gone)) -> Finding {
        let site = self.counter(counter);
        let op = FindingOp::from(site.op);
        let mut access = self.stands(op, gone.block, gone.warp, gone.lanes, 0);
        (access.loc, access.bytes) = (site.loc, site.width_bytes);
        let ([x, y, z], [bx, by, bz]) = (access.thread, access.block);
        let offset = u64::from(gone.offset);
        let mut locals = self.function.locals.iter().zip(&self.code.local_offsets);
        let local =
            locals.find(|(local, start)| (**start..**start + local.size_bytes).contains(&offset));
        let name = local.map_or("a variable", |(local, _)| local.name.as_str());
        Finding {
            descending: false,
            code: Message::UseAfterFree,
            kind: FindingKind::UseAfterFree,
            severity: Severity::Error,
            message: format!(
                "use after its end: line {} {}s `{name}`, a variable of a block or function that has been left, by thread \
                 ({x}, {y}, {z}) of block ({bx}, {by}, {bz})",
                self.line(site.loc),
                op.name()
            ),
            advice: Some(format!(
                "a pointer to `{name}` is good for nothing once its block is left: declare it further out, or return its value"
            )),
            space: Some(Space::Local),
            object: Some(FindingObject {
                name: name.to_owned(),
                ..FindingObject::default()
            }),
            witness: vec![WitnessLanes {
                access: 0,
                block: access.block,
                warp: gone.warp,
                lanes: gone.lanes,
            }],
            accesses: vec![access],
            count: *count,
        }
    }

    pub(super) fn beyond(&self, counter: u32, (count, beyond): &(u64, Beyond)) -> Finding {
        let site = self.counter(counter);
        let mut access = self.stands(
            FindingOp::from(site.op),
            beyond.block,
            beyond.warp,
            beyond.lanes,
            0,
        );
        (access.loc, access.bytes) = (site.loc, site.width_bytes);
        let ([x, y, z], [bx, by, bz]) = (access.thread, access.block);
        let loc = self.module.loc(site.loc);
        let (index, len) = (beyond.index, beyond.len);
        let who = format!("by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})");
        let (text, line, last) = (&loc.text, loc.line, len - 1);
        let (code, severity, message, advice) = if beyond.is_member {
            (
                Message::OutOfBounds,
                Severity::Error,
                format!(
                    "out of bounds: the index of `{text}` at line {line} is {index}, and that array has {len} elements: it is what lies \
                     beside the array, {who}"
                ),
                format!("valid indices are 0 to {last}: what lies behind a member is the next one"),
            )
        } else {
            (
                Message::RowOverflow,
                Severity::Warning,
                format!(
                    "out of bounds: the last index of `{text}` at line {line} is {index}, and that dimension has {len} elements: it is \
                     an element of another row, {who}"
                ),
                format!(
                    "valid indices are 0 to {last}; if the array is meant to be one row, go through a pointer to its first element"
                ),
            )
        };
        Finding {
            descending: false,
            code,
            kind: FindingKind::OutOfBounds,
            severity,
            message,
            advice: Some(advice),
            space: Some(site.space),
            object: None,
            witness: vec![WitnessLanes {
                access: 0,
                block: access.block,
                warp: beyond.warp,
                lanes: beyond.lanes,
            }],
            accesses: vec![access],
            count: *count,
        }
    }

    pub(super) fn wrong_operand(&self, pc: u32, (count, wrong): &(u64, WrongOperand)) -> Finding {
        let access = self.stands(FindingOp::Compute, wrong.block, wrong.warp, wrong.lanes, pc);
        let ([x, y, z], [bx, by, bz]) = (access.thread, access.block);
        let ((a, b), line) = (wrong.operands, self.line(access.loc));
        let who = format!("by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})");
        let (code, kind, message, advice) = if super::super::arithmetic::shifts(
            self.code.insts[pc as usize].op,
        ) {
            (
                Message::ShiftOutOfRange,
                FindingKind::Arithmetic,
                format!("shift out of range: {a} is shifted by {b} places at line {line}, {who}"),
                "a shift goes by 0 to the width less 1; test the count first",
            )
        } else {
            (
                Message::DivisionByZero,
                FindingKind::DivisionByZero,
                format!("division by zero: {a} is divided by 0 at line {line}, {who}"),
                "test the divisor first: on the device the program goes on with a value that means nothing",
            )
        };
        Finding {
            descending: false,
            code,
            kind,
            severity: Severity::Warning,
            message,
            advice: Some(advice.to_owned()),
            space: None,
            object: None,
            witness: vec![WitnessLanes {
                access: 0,
                block: access.block,
                warp: wrong.warp,
                lanes: wrong.lanes,
            }],
            accesses: vec![access],
            count: *count,
        }
    }

    pub(super) fn origin(&self, source: Source) -> (u32, u32, u32) {
        let loc = match source {
            Source::Access(counter) => self.counter(counter).loc,
            Source::Slot(index) => self.code.unassigned[index as usize].2,
            Source::Shuffle(loc) => LocId(loc),
        };
        let loc = self.module.loc(loc);
        (loc.file, loc.line, loc.column)
    }

    pub(super) fn unset(&self, (count, (unset, user)): &(u64, (Unset, User))) -> Finding {
        let (block, thread) = (
            self.shape.block_index(user.block),
            self.shape.thread_index(user.warp as usize, user.lane),
        );
        let access = |op, loc, warp: u32, lane, block: u64, bytes, volatile| FindingAccess {
            op,
            loc,
            block: self.shape.block_index(block),
            thread: self.shape.thread_index(warp as usize, lane),
            warp,
            lane,
            bytes,
            value: None,
            volatile,
        };
        let mut absent = None;
        let (space, object, read) = match unset.source {
            Source::Shuffle(loc) => {
                let (op, lane) = (FindingOp::Sync, unset.lane);
                let read = access(op, LocId(loc), unset.warp, lane, unset.block, 0, false);
                absent = Some(lane);
                (None, FindingObject::default(), read)
            }
            Source::Access(counter) => {
                let site = self.counter(counter);
                let (warp, lane) = (unset.warp, unset.lane);
                let op = FindingOp::from(site.op);
                let read = access(
                    op,
                    site.loc,
                    warp,
                    lane,
                    unset.block,
                    site.width_bytes,
                    false,
                );
                let width = self.element(counter).map_or(4, |ty| ty.bytes());
                let object = self.object(counter, unset.place, width);
                (Some(site.space), object, read)
            }
            Source::Slot(index) => {
                let (slot, _, loc) = self.code.unassigned[index as usize];
                let name = self.function.slots[slot.index()].name.clone();
                let object = FindingObject {
                    name,
                    index: String::new(),
                    offset_bytes: 0,
                };
                let read = access(
                    FindingOp::Read,
                    loc,
                    user.warp,
                    user.lane,
                    user.block,
                    0,
                    false,
                );
                (None, object, read)
            }
        };
        let op = match user.what {
            Use::Branch | Use::Address | Use::Printed => FindingOp::Compute,
            Use::Stored => FindingOp::Write,
        };
        let used = access(op, user.loc, user.warp, user.lane, user.block, 0, false);
        let line = self.line(user.loc);
        let what = match user.what {
            Use::Branch => format!("decides a branch at line {line}"),
            Use::Address => format!("is part of an address at line {line}"),
            Use::Stored if space == Some(Space::Shared) && read.op == FindingOp::Atomic => {
                format!("is what the atomic at line {line} begins with")
            }
            Use::Stored => format!("is stored to global memory at line {line}"),
            Use::Printed => format!("is printed at line {line}"),
        };
        let ([bx, by, bz], [x, y, z]) = (block, thread);
        let name = object.described();
        let advice = match space {
            None if absent.is_some() => {
                "let all lanes that are read take part: take the shuffle out of the branch, or use the value only where its lane \
                 is there"
                    .to_owned()
            }
            None => format!("give {name} a value where it is declared"),
            Some(Space::Shared) => {
                "write it before the barrier that the reader waits at: shared memory begins with whatever was there".to_owned()
            }
            Some(Space::Local) => "give the array its values where it is declared".to_owned(),
            Some(_) => self.how_to_set(unset).unwrap_or_else(|| {
                "set it first, with cudaMemset or cudaMemcpy or in a kernel: cudaMalloc clears nothing".to_owned()
            }),
        };
        let who = format!("by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})");
        let from = self.line(read.loc);
        let (code, message) = match absent {
            None => (
                Message::UninitializedRead,
                format!(
                    "uninitialized: {name} was never written when line {from} reads it; its value {what}, {who}"
                ),
            ),
            Some(lane) => (
                Message::AbsentLane,
                format!(
                    "undefined: lane {lane} gets its value at line {from} from a lane that does not take part; the value {what}, {who}"
                ),
            ),
        };
        Finding {
            descending: false,
            code,
            kind: FindingKind::Uninitialized,
            severity: Severity::Error,
            message,
            advice: Some(advice),
            space,
            object: absent.is_none().then_some(object),
            accesses: vec![read, used],
            count: *count,
            witness: Vec::new(),
        }
    }

    /// What to do about global memory of which a call of the host wrote a part, or copied what nobody had written.
    fn how_to_set(&self, unset: &Unset) -> Option<String> {
        let (region, offset) = unset.place;
        let address = self.map.regions[region?].base + offset;
        if let Some(transfer) = self.memory.brought(address) {
            let (call, line) = (transfer.call, self.line(transfer.loc));
            let name = &transfer.from.name;
            return Some(format!(
                "the {call} of line {line} copied what nobody had written from {name}: set all of that first"
            ));
        }
        let (setter, size) = self.memory.setter(address)?;
        setter.part_written(size, self.line(setter.loc))
    }

    pub(super) fn uneven(&self, (count, uneven): &(u64, Uneven)) -> Finding {
        let [here, there] = uneven.who;
        let op = if there.waits {
            FindingOp::Barrier
        } else {
            FindingOp::Exit
        };
        let accesses = vec![
            self.stands(
                FindingOp::Barrier,
                uneven.block,
                here.warp,
                here.lanes,
                here.pc,
            ),
            self.stands(op, uneven.block, there.warp, there.lanes, there.pc),
        ];
        let thread = |index: usize| {
            let access: &FindingAccess = &accesses[index];
            let [x, y, z] = access.thread;
            (format!("thread ({x}, {y}, {z})"), self.line(access.loc))
        };
        let ((a, a_line), (b, b_line)) = (thread(0), thread(1));
        let what = if there.waits {
            format!("{b} waits at another one, at line {b_line}")
        } else {
            format!("{b} has ended without coming to it")
        };
        let advice = if there.waits {
            "let all threads of the block come to the same barrier: move it out of the branch"
        } else {
            "move the barrier to where all threads of the block come by"
        };
        let [x, y, z] = self.shape.block_index(uneven.block);
        let witness = [here, there].into_iter().enumerate();
        Finding {
            descending: false,
            code: Message::DivergentBarrier,
            kind: FindingKind::BarrierDivergence,
            severity: Severity::Error,
            message: format!(
                "divergent barrier: {a} waits at line {a_line} in block ({x}, {y}, {z}), and {what}"
            ),
            advice: Some(advice.to_owned()),
            space: None,
            object: None,
            witness: witness
                .map(|(access, arrival)| WitnessLanes {
                    access,
                    block: [x, y, z],
                    warp: arrival.warp,
                    lanes: arrival.lanes,
                })
                .collect(),
            accesses,
            count: *count,
        }
    }

    pub(crate) fn element(&self, counter: u32) -> Option<dsl::ir::MemType> {
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
            .position(|inst| is_access(inst.op) && inst.c as usize == row)
    }
}

fn is_access(op: Op) -> bool {
    matches!(
        op,
        Op::LoadShared
            | Op::StoreShared
            | Op::AtomicShared
            | Op::LoadGlobal
            | Op::StoreGlobal
            | Op::AtomicGlobal
            | Op::LoadLocal
            | Op::StoreLocal
            | Op::AtomicLocal
            | Op::LoadGeneric
            | Op::StoreGeneric
            | Op::AtomicGeneric
    )
}
