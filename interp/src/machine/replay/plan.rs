//! Turns a recorded block into a list for other blocks, with everything that is the same in every block as constants.

mod files;
mod kinds;
mod requests;

use std::collections::HashMap;

use self::kinds::{is_control, unchecked};
use super::{Cost, EntryOrigin, Reach, Window};
use crate::count::pattern::Pattern;
use crate::count::stats::Charge;
use crate::isa::bytecode::{Code, Inst, S_CTAID, S_SM};
use crate::isa::fields::{Field, fields};
use crate::isa::op::Op;
use crate::isa::registers::{Registers, View};
use crate::machine::Machine;
use crate::machine::ops::overflow;
use crate::machine::replay::run::holds;
use crate::observe::Observer;

/// Why a block has no list.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The launch has no list: something that must be the same depends on data or on the block index.
    Differs,
    /// An access leaves its memory, or inactive lanes would.
    Leaves,
}

use Refusal::Differs;

/// The origin of a value: what it depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    /// On the launch and the thread index only, so it is the same in every block.
    Launch,
    Block,
    Data,
}

/// An operand of a list entry before registers are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Operand {
    /// A number that does not name a register.
    Raw(u32),
    /// Index in [`Planner::constants`].
    Constant(u32),
    /// Index in [`Planner::values`].
    Value(u32),
}

const NOTHING: Operand = Operand::Raw(0);

/// The contents of a warp's register.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// Its value at the start of the block.
    First,
    /// The second unit of a wide value, or half of a wide value that was partly overwritten.
    Half,
    Now(Field, Operand, Origin),
}

/// The result of an instruction.
struct Value {
    field: Field,
    /// Whether it depends on data and is computed after the block has begun.
    is_late: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Constant {
    Scalar(u64),
    Narrow([u32; 32]),
    Wide([u64; 32]),
}

/// A list entry before registers are numbered.
#[derive(Clone, Copy)]
struct Draft {
    op: Op,
    d: Operand,
    a: Operand,
    b: Operand,
    c: Operand,
    whence: EntryOrigin,
    /// Whether its operands may be invalid.
    is_risky: bool,
}

/// The registers of a request: for its address, and for the moved values.
#[derive(Default)]
struct Moved {
    address: [Option<Operand>; 2],
    term: Option<Operand>,
    subscript: [Option<Operand>; 2],
    values: Vec<Operand>,
}

/// Whether a list can contain every instruction of a kernel.
pub(super) fn is_possible(code: &Code) -> bool {
    let is_plain = |inst: &Inst| {
        let moves = matches!(
            inst.op,
            Op::LoadShared | Op::StoreShared | Op::LoadGlobal | Op::StoreGlobal
        );
        moves && !code.sites[inst.c as usize].access.volatile
    };
    let mut insts = code.insts.iter();
    code.barriers.is_empty()
        && insts.all(|inst| {
            let op = inst.op;
            matches!(op, Op::ActiveMask | Op::Tally)
                || is_control(op)
                || fields(op).is_some()
                || is_plain(inst)
        })
}

impl Draft {
    fn new(op: Op, whence: EntryOrigin) -> Draft {
        Draft {
            op,
            d: NOTHING,
            a: NOTHING,
            b: NOTHING,
            c: NOTHING,
            whence,
            is_risky: false,
        }
    }
}

/// A block that is being recorded.
pub(super) struct Planner<'a> {
    code: &'a Code,
    /// By warp: its registers at the start of the block.
    first: Vec<Registers>,
    /// By warp and register: its contents.
    scalars: Vec<Vec<Content>>,
    units: Vec<Vec<Content>>,
    constants: Vec<Constant>,
    values: Vec<Value>,
    early: Vec<Draft>,
    late: Vec<Draft>,
    /// Early instructions that already occurred, with their results.
    known: HashMap<(Op, Operand, Operand, Operand), Operand>,
    reaches: Vec<(Reach, Moved)>,
    patterns: Vec<(u32, Pattern)>,
    windows: Vec<(Window, Moved)>,
    layouts: Vec<(u32, Pattern)>,
    costs: Vec<Cost>,
    /// Whether observers see more than shared memory.
    is_seen: bool,
    /// The current warp and its place.
    turn: (u32, u32),
    /// Whether barriers have opened, and whether a warp's turn has begun, without an entry in the list yet.
    is_behind_barrier: bool,
    is_new_turn: bool,
    /// Registers whose value is looked up after the instruction has run.
    pending: Vec<(Field, u32)>,
}

impl<'a> Planner<'a> {
    /// For a block whose warps have these registers.
    pub(super) fn new(code: &'a Code, first: Vec<Registers>, is_seen: bool) -> Planner<'a> {
        let scalars = first.iter().map(|file| vec![Content::First; file.s.len()]);
        let units = first.iter().map(|file| vec![Content::First; file.v.len()]);
        // The block index and its multiprocessor.
        let numbers = (0..4).map(|_| Value {
            field: Field::Scalar,
            is_late: false,
        });
        Planner {
            code,
            scalars: scalars.collect(),
            units: units.collect(),
            first,
            constants: Vec::new(),
            values: numbers.collect(),
            early: Vec::new(),
            late: Vec::new(),
            known: HashMap::new(),
            reaches: Vec::new(),
            patterns: Vec::new(),
            windows: Vec::new(),
            layouts: Vec::new(),
            costs: Vec::new(),
            is_seen,
            turn: (0, 0),
            is_behind_barrier: false,
            is_new_turn: false,
            pending: Vec::new(),
        }
    }

    /// A warp's turn begins.
    pub(super) fn begin_turn(&mut self, number: u32, place: usize) {
        (self.turn, self.is_new_turn) = ((number, place as u32), true);
    }

    /// The block's barrier opens.
    pub(super) fn barrier(&mut self) {
        self.is_behind_barrier = true;
    }

    fn constant(&mut self, constant: Constant) -> Operand {
        self.constants.push(constant);
        Operand::Constant(self.constants.len() as u32 - 1)
    }

    /// The value in a register of a file.
    fn look_up(&mut self, file: &Registers, field: Field, register: u32) -> Operand {
        let at = register as usize;
        let constant = match field {
            Field::Scalar | Field::Other => Constant::Scalar(file.s[at]),
            Field::Narrow => Constant::Narrow(file.v[at].0),
            Field::Wide => Constant::Wide(std::array::from_fn(|l| file.lane64(register, l))),
        };
        self.constant(constant)
    }

    fn read(
        &mut self,
        warp: usize,
        field: Field,
        register: u32,
    ) -> Result<(Operand, Origin), Refusal> {
        let at = register as usize;
        let held = match field {
            Field::Other => return Ok((Operand::Raw(register), Origin::Launch)),
            Field::Scalar => self.scalars[warp][at],
            Field::Narrow | Field::Wide => self.units[warp][at],
        };
        match held {
            Content::Now(kind, operand, origin) if kind == field => Ok((operand, origin)),
            Content::Now(..) | Content::Half => Err(Differs),
            Content::First => {
                let second = self.units[warp].get(at + 1);
                if field == Field::Wide && !matches!(second, Some(Content::First)) {
                    return Err(Differs);
                }
                let number = match register {
                    _ if field != Field::Scalar => None,
                    S_SM => Some(3),
                    number if (S_CTAID..S_CTAID + 3).contains(&number) => Some(number - S_CTAID),
                    _ => None,
                };
                let held = match number {
                    Some(number) => (Operand::Value(number), Origin::Block),
                    None => {
                        let first = std::mem::take(&mut self.first);
                        let operand = self.look_up(&first[warp], field, register);
                        self.first = first;
                        (operand, Origin::Launch)
                    }
                };
                self.write(warp, field, register, held);
                Ok(held)
            }
        }
    }

    fn write(&mut self, warp: usize, field: Field, register: u32, held: (Operand, Origin)) {
        let (at, now) = (register as usize, Content::Now(field, held.0, held.1));
        if field == Field::Scalar {
            self.scalars[warp][at] = now;
            return;
        }
        let units = &mut self.units[warp];
        // A wide value loses its other half.
        if at > 0 && matches!(units[at - 1], Content::Now(Field::Wide, ..)) {
            units[at - 1] = Content::Half;
        }
        let end = at + if field == Field::Wide { 2 } else { 1 };
        if matches!(units[end - 1], Content::Now(Field::Wide, ..)) {
            units[end] = Content::Half;
        }
        units[at] = now;
        units[at + 1..end].fill(Content::Half);
    }

    fn value(&mut self, field: Field, is_late: bool) -> Operand {
        self.values.push(Value { field, is_late });
        Operand::Value(self.values.len() as u32 - 1)
    }

    fn whence(&self, pc: u32, mask: u32) -> EntryOrigin {
        let (warp, place) = self.turn;
        EntryOrigin {
            pc,
            mask,
            warp,
            place,
        }
    }

    /// Adds entries for barriers and turns of warps. Observers need them only before something that they see.
    fn tell(&mut self) {
        if self.is_seen && std::mem::take(&mut self.is_behind_barrier) {
            self.late
                .push(Draft::new(Op::ReplayBarrier, EntryOrigin::default()));
        }
        if self.is_seen && std::mem::take(&mut self.is_new_turn) {
            let (number, place) = self.turn;
            self.late.push(Draft {
                a: Operand::Raw(number),
                b: Operand::Raw(place),
                ..Draft::new(Op::ReplayTurn, EntryOrigin::default())
            });
        }
    }

    /// Records the instruction that the lanes of a warp are about to run.
    pub(super) fn before<O: Observer>(
        &mut self,
        machine: &mut Machine<'_, O>,
        (warp, pc, mask): (usize, u32, u32),
        r: View,
    ) -> Result<(), Refusal> {
        let code = self.code;
        let inst = &code.insts[pc as usize];
        let op = inst.op;
        match op {
            Op::LoadShared | Op::StoreShared => self.window(machine, (warp, pc, mask), r),
            Op::LoadGlobal | Op::StoreGlobal => self.reach(machine, (warp, pc, mask), r),
            // These accesses have no patterns, so their charge is plain.
            Op::Tally => {
                for tally in &code.tallies[inst.a as usize..inst.b as usize] {
                    self.count(tally.site, Charge::Plain, mask, tally.times.into());
                }
                Ok(())
            }
            Op::ActiveMask => {
                self.pending.push((Field::Scalar, inst.d));
                Ok(())
            }
            _ if is_control(op) => {
                let risks = O::SEES_REPEATS
                    && op.is_comparing_loop_end()
                    && machine.observer.risks(pc as usize);
                if risks && overflow::step(r, inst) {
                    return Err(Differs);
                }
                self.control((warp, pc, mask), r)
            }
            _ => self.compute(machine, (warp, pc, mask), r),
        }
    }

    /// After the instruction: looks up results that are the same in every block.
    pub(super) fn after(&mut self, warp: usize, registers: &Registers) {
        for (field, register) in std::mem::take(&mut self.pending) {
            let operand = self.look_up(registers, field, register);
            self.write(warp, field, register, (operand, Origin::Launch));
        }
    }

    fn compute<O: Observer>(
        &mut self,
        machine: &Machine<'_, O>,
        (warp, pc, mask): (usize, u32, u32),
        r: View,
    ) -> Result<(), Refusal> {
        let inst = &self.code.insts[pc as usize];
        let fields = fields(inst.op).ok_or(Differs)?;
        let (a, from_a) = self.read(warp, fields.a, inst.a)?;
        let (b, from_b) = self.read(warp, fields.b, inst.b)?;
        let (c, from_c) = self.read(warp, fields.c, inst.c)?;
        let old = match fields.keeps {
            true => Some(self.read(warp, fields.d, inst.d)?),
            false => None,
        };
        let from_d = old.map_or(Origin::Launch, |(_, origin)| origin);
        let origin = from_a.max(from_b).max(from_c).max(from_d);
        let is_risky =
            O::SEES_REPEATS && O::RISKY[inst.op as usize] && machine.observer.risks(pc as usize);
        if origin == Origin::Launch {
            if is_risky && overflow::is_wrong(inst, r, mask) {
                return Err(Differs);
            }
            self.pending.push((fields.d, inst.d));
            return Ok(());
        }
        let is_late = origin == Origin::Data;
        let blends = matches!(inst.op, Op::VBlend32 | Op::VBlend64 | Op::MBlend);
        let mut draft = Draft {
            op: if is_risky {
                inst.op
            } else {
                unchecked(inst.op)
            },
            d: NOTHING,
            a,
            b,
            c: if blends { Operand::Raw(mask) } else { c },
            whence: self.whence(pc, mask),
            is_risky,
        };
        let key = (draft.op, draft.a, draft.b, draft.c);
        if let Some(&operand) = self.known.get(&key).filter(|_| !is_late && old.is_none()) {
            self.write(warp, fields.d, inst.d, (operand, origin));
            return Ok(());
        }
        draft.d = match old {
            Some((Operand::Value(value), _)) if is_late && self.values[value as usize].is_late => {
                Operand::Value(value)
            }
            Some((operand, _)) => {
                let copy = self.value(fields.d, is_late);
                let op = match fields.d {
                    Field::Scalar | Field::Other => Op::SMove,
                    Field::Narrow => Op::VMove32,
                    Field::Wide => Op::VMove64,
                };
                let draft = Draft {
                    d: copy,
                    a: operand,
                    ..Draft::new(op, draft.whence)
                };
                match is_late {
                    true => self.late.push(draft),
                    false => self.early.push(draft),
                }
                copy
            }
            None => self.value(fields.d, is_late),
        };
        if is_late {
            self.late.push(draft);
        } else {
            if old.is_none() {
                self.known.insert(key, draft.d);
            }
            self.early.push(draft);
        }
        self.write(warp, fields.d, inst.d, (draft.d, origin));
        Ok(())
    }

    fn control(&mut self, (warp, pc, mask): (usize, u32, u32), r: View) -> Result<(), Refusal> {
        let inst = &self.code.insts[pc as usize];
        let whence = self.whence(pc, mask);
        if inst.op.tests_lanes() {
            let (a, origin) = self.read(warp, Field::Scalar, inst.a)?;
            if origin == Origin::Data {
                return Err(Differs);
            }
            if origin == Origin::Block {
                self.early.push(Draft {
                    a,
                    b: Operand::Raw(r.mask(inst.a) & mask),
                    c: Operand::Raw(mask),
                    ..Draft::new(Op::ReplayMask, whence)
                });
            }
        } else if inst.op.is_comparing_jump() {
            let (a, from_a) = self.read(warp, Field::Scalar, inst.a)?;
            let (c, from_c) = self.read(warp, Field::Scalar, inst.c)?;
            let origin = from_a.max(from_c);
            if origin == Origin::Data {
                return Err(Differs);
            }
            if origin == Origin::Block {
                let holds = holds(r, inst);
                self.early.push(Draft {
                    a,
                    b: Operand::Raw(holds.into()),
                    c,
                    ..Draft::new(inst.op, whence)
                });
            }
        } else if inst.op.is_comparing_loop_end() {
            let head = &self.code.insts[inst.b as usize - 1];
            // The step writes one of the registers that the head compares.
            for register in [inst.a, inst.c, head.a, head.c] {
                if self.read(warp, Field::Scalar, register)?.1 != Origin::Launch {
                    return Err(Differs);
                }
            }
            self.pending.push((Field::Scalar, inst.d));
        }
        let waits = matches!(
            inst.op,
            Op::If
                | Op::Guard
                | Op::Else
                | Op::Join
                | Op::Park
                | Op::ParkIf
                | Op::ParkIfNot
                | Op::Clear
        );
        if waits {
            self.pending.push((Field::Scalar, inst.d));
        }
        Ok(())
    }
}
