//! Decides which instructions are fused into those that use their results.

use std::collections::HashMap;

use ir::Type;

use crate::isa::bytecode::Code;
use crate::isa::computing;
use crate::isa::host::{HostOp, S_ZERO};
use crate::isa::op::{Op, Sort};

use super::group::{Feed, Test, Update};
use super::is_indexable;

/// How far after an instruction its uses may be.
const REACH: usize = 64;
/// How many uses there may be.
const READERS: u32 = 4;

/// The decisions for a function.
#[derive(Default)]
pub(super) struct Plan {
    /// By instruction: whether it is a jump target, or the place of return from a call.
    pub(super) leaders: Vec<bool>,
    /// By instruction: the last of the instructions that it is fused into, if it is.
    pub(super) melts: Vec<Option<u32>>,
    /// By addition: the product that is fused into it.
    pub(super) products: HashMap<u32, u32>,
    /// By fused pointer: the sum that is its index and is fused with it.
    indexes: HashMap<u32, u32>,
    /// By access or pointer: the instruction that computes its base and is fused into it.
    bases: HashMap<u32, u32>,
    /// By load: the comparison after it that is fused with it into a jump.
    pub(super) tests: HashMap<u32, Test>,
    /// By load: the operation and the store that are fused with it.
    pub(super) updates: HashMap<u32, Update>,
    /// By load: the operation that is fused with it.
    pub(super) feeds: HashMap<u32, Feed>,
    /// How often the result of an instruction is used, where that is known.
    pub(super) uses: HashMap<u32, u32>,
    /// By conditional jump to another jump on the same condition: where that leads.
    pub(super) shortcuts: HashMap<u32, Goal>,
}

/// The target of a jump in the first form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Goal {
    pub(super) pc: u32,
    /// The weight that is executed on the way there, in addition to the jump's.
    pub(super) weight: u16,
}

/// The jump that a comparison is made for.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    /// The result of the comparison for which the jump is taken.
    pub(super) sense: bool,
    /// Its place: directly after the comparison, or after a tick.
    pub(super) jump: u32,
    /// Its weight, including that of the tick.
    pub(super) weight: u16,
}

/// The address of an access.
#[derive(Default)]
pub(super) struct Address {
    pub(super) base: u32,
    pub(super) index: u32,
    pub(super) scale: i16,
    pub(super) offset: i64,
    pub(super) other: u32,
    pub(super) summand: u32,
    /// Whether `other`, a constant, is subtracted.
    pub(super) is_less: bool,
    /// The base is the frame's address plus this.
    pub(super) local: Option<u32>,
    pub(super) mode: Mode,
}

impl Address {
    /// The register of the base.
    pub(super) fn register(&self) -> u32 {
        match self.local {
            Some(_) => S_ZERO,
            None => self.base,
        }
    }
}

/// The form of an address besides its base.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mode {
    #[default]
    Base,
    /// A 32-bit signed index, a 32-bit unsigned one, or a 64-bit one.
    Signed,
    Unsigned,
    Long,
    /// A 32-bit or 64-bit index that is a sum; the other summand is `other`.
    Sum,
    LongSum,
    /// An index that is a product plus a sum; the other factor is `other`, and the summand is `summand`.
    Product,
}

/// The comparison at the head of a loop.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) compared: HostOp,
    /// Its result if the loop goes on.
    pub(super) goes_on: bool,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) weight: u16,
    /// The instruction after the head.
    pub(super) next: u32,
    /// The place after the loop.
    pub(super) exit: u32,
}

/// Whether an instruction only computes: it cannot leave and has no other effect.
pub(super) fn is_calm(op: Op) -> bool {
    op.sort() == Sort::Computes || op == Op::HostLocal
}

/// Whether it ends the straight line.
fn ends(op: Op) -> bool {
    !is_calm(op)
        && !matches!(
            op,
            Op::HostLoad
                | Op::HostStore
                | Op::HostAtomic
                | Op::HostNonZero
                | Op::HostReads
                | Op::HostAssigns
                | Op::Tick
                | Op::Fence
        )
}

/// The comparison in a jump of the first form: its operation, and the result for which the jump is taken.
pub(super) fn comparison(op: Op) -> Option<(HostOp, bool)> {
    let (_, scalar) = computing::compare(op.compares()?, Type::I32);
    Some((HostOp::of(scalar)?, true))
}

/// Whether a comparison has 64-bit operands.
pub(super) fn is_wide(op: HostOp) -> bool {
    matches!(
        op,
        HostOp::SEq64
            | HostOp::SNe64
            | HostOp::SSlt64
            | HostOp::SSle64
            | HostOp::SSgt64
            | HostOp::SSge64
            | HostOp::SUlt64
            | HostOp::SUle64
            | HostOp::SUgt64
            | HostOp::SUge64
    )
}

/// Decides what is fused.
pub(super) fn plan(code: &Code) -> Plan {
    let count = code.insts.len();
    let mut plan = Plan {
        leaders: vec![false; count + 1],
        melts: vec![None; count],
        uses: code.uses.iter().copied().collect(),
        ..Plan::default()
    };
    plan.shortcuts(code);
    for (at, inst) in code.insts.iter().enumerate() {
        match inst.op {
            Op::Jump | Op::JumpIf | Op::JumpIfNot | Op::Loop => {
                let goal = plan.goal(code, at as u32);
                plan.leaders[goal.pc as usize] = true;
            }
            Op::Call | Op::HostCall | Op::Launch => plan.leaders[at + 1] = true,
            op if comparison(op).is_some() => plan.leaders[inst.b as usize] = true,
            _ => {}
        }
    }
    for at in 0..count {
        if code.insts[at].op == Op::HostLoad {
            plan.test(code, at);
            plan.update(code, at);
        }
    }
    for at in 0..count {
        match code.insts[at].op {
            Op::SPtrS | Op::SPtrU | Op::SPtrL => plan.pointer(code, at),
            Op::SMul32 | Op::SMul64 | Op::SFMul32 | Op::SFMul64 => plan.product(code, at),
            _ => {}
        }
    }
    for at in 0..count {
        if matches!(
            code.insts[at].op,
            Op::SAdd32 | Op::SAdd64 | Op::SSub32 | Op::SSub64
        ) {
            plan.index(code, at);
        }
    }
    for at in 0..count {
        match code.insts[at].op {
            Op::HostLocal => plan.local(code, at),
            Op::HostLoad => plan.feed(code, at),
            _ => {}
        }
    }
    plan
}

/// The registers that an instruction reads, and those that it writes.
pub(super) fn registers(code: &Code, at: usize) -> (Vec<u32>, Vec<u32>) {
    let i = &code.insts[at];
    match i.op {
        Op::HostLoad | Op::HostStore | Op::HostAtomic => {
            let site = &code.sites[i.c as usize];
            let values = &site.values[..usize::from(site.access.count)];
            let mut read = vec![i.a];
            read.extend(site.subscript.and_then(|subscript| subscript.uniform));
            let mut written = Vec::new();
            match i.op {
                Op::HostLoad => written.extend(values),
                Op::HostStore => read.extend(values),
                _ => {
                    read.push(site.values[0]);
                    read.extend(site.atomic.map(|(_, compare)| compare));
                    written.push(site.result);
                }
            }
            (read, written)
        }
        Op::SPtrS | Op::SPtrU | Op::SPtrL => (vec![i.a, i.b], vec![i.d]),
        Op::HostLocal => (Vec::new(), vec![i.d]),
        Op::HostNonZero => (vec![i.b], Vec::new()),
        Op::HostReads | Op::HostAssigns => (vec![i.a], Vec::new()),
        Op::Tick | Op::Fence => (Vec::new(), Vec::new()),
        Op::JumpIf | Op::JumpIfNot | Op::Return | Op::Assert => (vec![i.a], Vec::new()),
        op if comparison(op).is_some() => (vec![i.a, i.c], Vec::new()),
        // Fields without a register contain 0, a register that no temporary has.
        _ => (vec![i.a, i.b, i.c], vec![i.d]),
    }
}

impl Plan {
    /// All uses of the result of the instruction at `at`. They must be in the same straight line, with the
    /// instruction's operands unchanged; otherwise `None`.
    fn readers(&self, code: &Code, at: usize) -> Option<Vec<usize>> {
        let uses = *self.uses.get(&(at as u32))?;
        if uses == 0 || uses > READERS {
            return None;
        }
        let (operands, written) = registers(code, at);
        let &[result] = written.as_slice() else {
            return None;
        };
        let (mut readers, mut found) = (Vec::new(), 0);
        for next in at + 1..(at + REACH).min(code.insts.len()) {
            if self.leaders[next] {
                return None;
            }
            let (read, written) = registers(code, next);
            let count = read.iter().filter(|&&register| register == result).count();
            if count > 0 {
                found += count as u32;
                readers.push(next);
                if found == uses {
                    return Some(readers);
                }
            }
            if ends(code.insts[next].op)
                || written
                    .iter()
                    .any(|register| *register == result || operands.contains(register))
            {
                return None;
            }
        }
        None
    }

    /// Whether the instruction reads a register only as the base of an access's address.
    fn reads_as_base(code: &Code, at: usize, register: u32) -> bool {
        let i = &code.insts[at];
        matches!(i.op, Op::HostLoad | Op::HostStore)
            && is_indexable(&code.sites[i.c as usize])
            && i.a == register
            && registers(code, at).0[1..]
                .iter()
                .all(|&other| other != register)
    }

    fn pointer(&mut self, code: &Code, at: usize) {
        let i = &code.insts[at];
        let row = code.scales[i.c as usize];
        if i16::try_from(row.scale).is_err() {
            return;
        }
        let Some(readers) = self.readers(code, at) else {
            return;
        };
        if !readers
            .iter()
            .all(|&reader| Plan::reads_as_base(code, reader, i.d))
        {
            return;
        }
        self.melt(at, &readers);
    }

    fn melt(&mut self, at: usize, readers: &[usize]) {
        self.melts[at] = readers.last().map(|&last| last as u32);
        for &reader in readers {
            self.bases.insert(reader as u32, at as u32);
        }
    }

    fn product(&mut self, code: &Code, at: usize) {
        let i = &code.insts[at];
        let Some(readers) = self.readers(code, at) else {
            return;
        };
        let &[reader] = readers.as_slice() else {
            return;
        };
        let sum = &code.insts[reader];
        let in_memory = |at: usize| self.updates.contains_key(&(at as u32));
        let fits = (reader == 0 || !in_memory(reader - 1))
            && matches!(
                (i.op, sum.op),
                (Op::SMul32, Op::SAdd32)
                    | (Op::SMul64, Op::SAdd64)
                    | (Op::SFMul32, Op::SFAdd32)
                    | (Op::SFMul64, Op::SFAdd64)
            );
        if fits && (sum.a == i.d) != (sum.b == i.d) && !self.products.contains_key(&(reader as u32))
        {
            self.melts[at] = Some(reader as u32);
            self.products.insert(reader as u32, at as u32);
        }
    }

    /// Fuses a sum that is the index of a pointer, if its accesses are to elements. Likewise a difference with a
    /// constant.
    fn index(&mut self, code: &Code, at: usize) {
        let i = &code.insts[at];
        let Some(readers) = self.readers(code, at) else {
            return;
        };
        let &[pointer] = readers.as_slice() else {
            return;
        };
        let by = &code.insts[pointer];
        let (wide, less) = match i.op {
            Op::SAdd32 => (false, false),
            Op::SSub32 => (false, true),
            Op::SAdd64 => (true, false),
            _ => (true, true),
        };
        let wanted = if wide { Op::SPtrL } else { Op::SPtrS };
        let Some(last) = self.melts[pointer] else {
            return;
        };
        let is_constant = code
            .registers
            .s_init
            .iter()
            .any(|&(register, _)| register == i.b);
        if by.op != wanted || by.b != i.d || by.a == i.d || less && !is_constant {
            return;
        }
        let scale = code.scales[by.c as usize].scale;
        let goes_by_elements = (pointer + 1..=last as usize).all(|access| {
            self.bases.get(&(access as u32)) != Some(&(pointer as u32))
                || i64::from(code.sites[code.insts[access].c as usize].width_bytes) == scale
        });
        let product = self.products.get(&(at as u32)).copied();
        let stays = |part: usize| self.stays(code, part, last as usize);
        if !goes_by_elements
            || !stays(at)
            || product.is_some_and(|part| wide || !stays(part as usize))
        {
            return;
        }
        self.melts[at] = Some(last);
        if let Some(product) = product {
            self.melts[product as usize] = Some(last);
        }
        self.indexes.insert(pointer as u32, at as u32);
    }

    /// Whether the operands of an instruction do not change before another one, and the instruction may be repeated
    /// until then: its register is reused only by instructions that are fused.
    fn stays(&self, code: &Code, at: usize, last: usize) -> bool {
        let (operands, results) = registers(code, at);
        (at + 1..last).all(|next| {
            let (_, written) = registers(code, next);
            let is_reused = results.iter().any(|register| written.contains(register));
            let is_other = operands.iter().any(|register| written.contains(register));
            !is_other && (!is_reused || self.melts[next].is_some())
        })
    }

    /// Fuses the address of a variable into accesses to it, and into pointers that are fused.
    fn local(&mut self, code: &Code, at: usize) {
        let i = &code.insts[at];
        let Some(readers) = self.readers(code, at) else {
            return;
        };
        let mut last = 0;
        for &reader in &readers {
            let inst = &code.insts[reader];
            let ends = match self.melts[reader] {
                Some(end)
                    if inst.a == i.d
                        && inst.b != i.d
                        && matches!(inst.op, Op::SPtrS | Op::SPtrU | Op::SPtrL) =>
                {
                    end
                }
                _ if Plan::reads_as_base(code, reader, i.d) => reader as u32,
                _ => return,
            };
            last = last.max(ends);
        }
        if self.stays(code, at, last as usize) {
            self.melts[at] = Some(last);
            for &reader in &readers {
                self.bases.insert(reader as u32, at as u32);
            }
        }
    }

    /// Adds the fused parts to an address.
    pub(super) fn address(&self, code: &Code, at: u32, address: &mut Address) {
        let Some(&base) = self.bases.get(&at) else {
            return;
        };
        let i = &code.insts[base as usize];
        if i.op == Op::HostLocal {
            address.local = Some(i.a);
            return;
        }
        let row = code.scales[i.c as usize];
        address.base = i.a;
        address.offset = address.offset.wrapping_add(row.offset);
        if row.scale != 0 {
            (address.index, address.scale) = (i.b, row.scale as i16);
            address.mode = match i.op {
                Op::SPtrS => Mode::Signed,
                Op::SPtrU => Mode::Unsigned,
                _ => Mode::Long,
            };
            if let Some(&sum) = self.indexes.get(&base) {
                self.sum(code, sum, address);
            }
        }
        self.address(code, base, address);
    }

    /// Adds the parts of an index that is a sum.
    fn sum(&self, code: &Code, at: u32, address: &mut Address) {
        let i = &code.insts[at as usize];
        (address.index, address.other) = (i.a, i.b);
        address.is_less = matches!(i.op, Op::SSub32 | Op::SSub64);
        address.mode = match i.op {
            Op::SAdd32 | Op::SSub32 => Mode::Sum,
            _ => Mode::LongSum,
        };
        if let Some(&product) = self.products.get(&at) {
            let factors = &code.insts[product as usize];
            address.summand = if i.a == factors.d { i.b } else { i.a };
            (address.index, address.other) = (factors.a, factors.b);
            address.mode = Mode::Product;
        }
    }

    /// The jump after the comparison at `at`, if the comparison is made only for it.
    pub(super) fn taken(&self, code: &Code, at: u32) -> Option<Taken> {
        if self.uses.get(&at) != Some(&1) {
            return None;
        }
        let is_inside = |pc: u32| !self.leaders[pc as usize];
        let tick = code.insts.get(at as usize + 1)?;
        let (jump, before) = match tick.op {
            Op::Tick if is_inside(at + 1) => (at + 2, tick.weight),
            _ => (at + 1, 0),
        };
        let inst = code.insts.get(jump as usize)?;
        let sense = match inst.op {
            Op::JumpIf => true,
            Op::JumpIfNot => false,
            _ => return None,
        };
        let weight = inst.weight.checked_add(before)?;
        let is_for_it = inst.a == code.insts[at as usize].d && is_inside(jump);
        is_for_it.then_some(Taken {
            sense,
            jump,
            weight,
        })
    }

    /// The comparison at the head of a loop.
    pub(super) fn head(&self, code: &Code, at: u32) -> Option<Head> {
        let i = &code.insts[at as usize];
        if let Some((compared, sense)) = comparison(i.op) {
            return Some(Head {
                compared,
                goes_on: !sense,
                a: i.a,
                b: i.c,
                weight: i.weight,
                next: at + 1,
                exit: i.b,
            });
        }
        let compared = HostOp::of(i.op)?;
        let taken = self.taken(code, at)?;
        compared.jumps(taken.sense)?;
        let exit = self.goal(code, taken.jump);
        if exit.weight > 0 {
            return None;
        }
        Some(Head {
            compared,
            goes_on: !taken.sense,
            a: i.a,
            b: i.b,
            weight: taken.weight,
            next: taken.jump + 1,
            exit: exit.pc,
        })
    }
}
