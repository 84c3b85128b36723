//! Makes the second form of a host function's bytecode ([`isa::host`](crate::isa::host)), which fuses instructions.
//!
//! The input is the first form, with the number of uses of each temporary. The output is [`HostCode`]. [`plan`] decides
//! which instructions are fused into those that use their results; the rest is translated here. An instruction may be
//! fused only if all uses of its result follow in the same straight line and its operands do not change in between. It
//! can then be repeated where the first form has to take over.

mod group;
mod plan;
mod shortcut;

use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Class, Code, Inst, MemSite};
use crate::isa::host::{HostCode, HostInst, HostOp, HostSite, NO_ENTRY, Origin, SITE_BYTES};
use crate::isa::op::Op;
use ir::{MemType, Object};
use plan::{Goal, Mode, Plan};

/// The second form. It is empty for a function with more registers than its instructions can name.
pub(crate) fn fuse(code: &Code) -> HostCode {
    // The second form adds constants.
    if code.registers.s_count > u32::from(u16::MAX) / 2 {
        return HostCode::none(code.insts.len());
    }
    let mut fuser = Fuser {
        code,
        plan: plan::plan(code),
        host: HostCode::default(),
        jumps: Vec::new(),
        detours: Vec::new(),
        pending: Vec::new(),
        pc: 0,
        carry: 0,
    };
    fuser.run();
    fuser.host
}

struct Fuser<'a> {
    code: &'a Code,
    plan: Plan,
    host: HostCode,
    /// Jumps, with their targets in the first form.
    jumps: Vec<(usize, u32)>,
    /// Jumps with additional weight if they are taken, with their targets.
    detours: Vec<(usize, Goal)>,
    /// Fused instructions whose last use is still to come: their places, and those of the last use.
    pending: Vec<(u32, u32)>,
    /// The current instruction.
    pc: u32,
    /// The weight of a tick, for the next instruction with a weight.
    carry: u32,
}

impl Fuser<'_> {
    fn run(&mut self) {
        let count = self.code.insts.len();
        while (self.pc as usize) < count {
            let pc = self.pc;
            let is_inside = self.carry > 0;
            let at = self.host.insts.len() as u32;
            self.host
                .entries
                .push(if is_inside { NO_ENTRY } else { at });
            self.pending.retain(|&(_, last)| last >= pc);
            if let Some(last) = self.plan.melts[pc as usize] {
                self.pending.push((pc, last));
            } else {
                self.inst(self.code.insts[pc as usize]);
            }
            self.pc += 1;
            // Execution cannot enter at instructions that were translated together with it.
            while self.host.entries.len() < self.pc as usize {
                self.host.entries.push(NO_ENTRY);
            }
        }
        // Execution never continues after the last instruction, which returns.
        self.emit(HostOp::Plain, [0; 4], 0);
        for (at, goal) in std::mem::take(&mut self.detours) {
            let detour = self.emit(HostOp::Jump, [0; 4], 0);
            self.host.insts[detour].weight = goal.weight;
            self.jumps.push((detour, goal.pc));
            self.bind(at, detour as u32);
        }
        for (at, pc) in std::mem::take(&mut self.jumps) {
            self.bind(at, self.host.entries[pc as usize]);
        }
    }

    /// Makes a jump lead to an instruction of this form.
    fn bind(&mut self, at: usize, goal: u32) {
        let way = goal.wrapping_sub(at as u32 + 1);
        let inst = &mut self.host.insts[at];
        inst.x = match inst.op.is_test() {
            true => inst.x | way << 16,
            false => way,
        };
    }

    /// Makes the conditional jump at `at` lead there.
    fn leads(&mut self, at: usize, goal: Goal) {
        match goal.weight {
            0 => self.jumps.push((at, goal.pc)),
            _ => self.detours.push((at, goal)),
        }
    }

    fn emit(&mut self, op: HostOp, [d, a, b, c]: [u32; 4], x: u32) -> usize {
        let narrow = |register: u32| register as u16;
        self.host.insts.push(HostInst {
            op,
            weight: 0,
            d: narrow(d),
            a: narrow(a),
            b: narrow(b),
            c: narrow(c),
            x,
        });
        let first = self.host.again.len() as u32;
        self.host
            .again
            .extend(self.pending.iter().map(|&(pc, _)| pc));
        let count = self.host.again.len() as u32 - first;
        self.host.origins.push(Origin {
            pc: self.pc.min(self.code.insts.len() as u32 - 1),
            again: (first, count),
            weight: self.carry,
        });
        self.host.insts.len() - 1
    }

    /// Sets an instruction's weight, and adds that of the tick before.
    fn weigh(&mut self, at: usize, weight: u16) {
        let sum = std::mem::take(&mut self.carry) + u32::from(weight);
        self.host.insts[at].weight = sum as u16;
    }

    /// Translates one instruction. A table with one arm per operation.
    fn inst(&mut self, i: Inst) {
        match i.op {
            Op::SPtrS => self.pointer(HostOp::PtrS, i),
            Op::SPtrU => self.pointer(HostOp::PtrU, i),
            Op::SPtrL => self.pointer(HostOp::PtrL, i),
            Op::HostLocal => {
                self.emit(HostOp::Local, [i.d, 0, 0, 0], i.a);
            }
            // A constant divisor needs no test.
            Op::HostNonZero if self.constant(i.b).is_some_and(|bits| bits != 0) => {}
            Op::HostNonZero => {
                self.emit(HostOp::NonZero, [0, 0, i.b, 0], 0);
            }
            Op::HostReads | Op::HostAssigns => {
                self.emit(HostOp::Asleep, [0; 4], 0);
            }
            Op::HostLoad | Op::HostStore => self.access(i),
            Op::Jump => self.jump(HostOp::Jump, [0; 4], i),
            Op::JumpIf => self.jump(HostOp::If, [0, i.a, 0, 0], i),
            Op::JumpIfNot => self.jump(HostOp::IfNot, [0, i.a, 0, 0], i),
            Op::Loop => self.back(i),
            Op::Tick if self.carries(i.weight) => self.carry = i.weight.into(),
            Op::Tick => {
                let at = self.emit(HostOp::Tick, [0; 4], 0);
                self.weigh(at, i.weight);
            }
            Op::Call => {
                let at = self.emit(HostOp::Call, [0; 4], i.a);
                self.weigh(at, i.weight);
            }
            Op::Return => {
                let at = self.emit(HostOp::Return, [0, i.a, i.b, 0], 0);
                self.weigh(at, i.weight);
            }
            Op::Fence => {}
            op => match (plan::comparison(op), HostOp::of(op)) {
                (Some(compared), _) => {
                    if let Some((jump, ..)) = compared.jumps(true) {
                        self.jump(jump, [0, i.a, i.c, 0], i);
                    }
                }
                (None, Some(op)) => self.lane_op(op, i),
                // Runtime calls, launches, traps and atomics are left to the first form.
                (None, None) => {
                    self.emit(HostOp::Plain, [0; 4], 0);
                }
            },
        }
    }

    /// Whether the jump that follows may count the weight of the current tick, which requires that no instruction
    /// before it may leave.
    fn carries(&self, weight: u16) -> bool {
        let mut at = self.pc as usize + 1;
        while let Some(inst) = self.code.insts.get(at) {
            if self.plan.leaders[at] {
                return false;
            }
            match inst.op {
                Op::Loop | Op::Jump => {
                    return inst
                        .weight
                        .checked_add(weight)
                        .is_some_and(|sum| sum < 0x8000);
                }
                op if plan::is_calm(op) => at += 1,
                _ => return false,
            }
        }
        false
    }

    fn pointer(&mut self, op: HostOp, i: Inst) {
        self.emit(op, [i.d, i.a, i.b, 0], i.c);
    }

    fn jump(&mut self, op: HostOp, fields: [u32; 4], i: Inst) {
        let at = self.emit(op, fields, 0);
        self.weigh(at, i.weight);
        let goal = self.plan.goal(self.code, self.pc);
        self.leads(at, goal);
    }

    /// A scalar operation, with the product that was fused into it, or with the jump after a comparison.
    fn lane_op(&mut self, op: HostOp, i: Inst) {
        if let Some(&product) = self.plan.products.get(&self.pc) {
            let first = self.code.insts[product as usize];
            let is_left = i.a == first.d;
            let other = if is_left { i.b } else { i.a };
            let op = match (i.op, is_left) {
                (Op::SAdd32, _) => HostOp::MulAdd32,
                (Op::SAdd64, _) => HostOp::MulAdd64,
                (Op::SFAdd32, _) => HostOp::FMulAdd32,
                (_, true) => HostOp::FMulAdd64,
                (_, false) => HostOp::FAddMul64,
            };
            self.emit(op, [i.d, first.a, first.b, other], 0);
            return;
        }
        // The comparison for the next jump.
        let next = self.code.insts.get(self.pc as usize + 1).copied();
        if let Some(taken) = self.plan.taken(self.code, self.pc)
            && let Some((op, ..)) = op.jumps(taken.sense)
        {
            let at = self.emit(op, [0, i.a, i.b, 0], 0);
            self.weigh(at, taken.weight);
            let goal = self.plan.goal(self.code, taken.jump);
            self.leads(at, goal);
            self.pc = taken.jump;
            return;
        }
        // The step of a loop, and the comparison at its head.
        if matches!(i.op, Op::SAdd32 | Op::SAdd64)
            && let Some(back) = next.filter(|next| next.op == Op::Loop)
            && !self.plan.leaders[self.pc as usize + 1]
            && (self.step(i, back) || self.back_add(i, back))
        {
            return;
        }
        self.emit(op, [i.d, i.a, i.b, i.c], 0);
    }

    /// A step and the back edge, if the loop's head compares the stepped variable.
    fn step(&mut self, i: Inst, back: Inst) -> bool {
        let Some(head) = self.plan.head(self.code, back.b) else {
            return false;
        };
        let wide = i.op == Op::SAdd64;
        let Some((_, _, Some(step))) = head.compared.jumps(head.goes_on) else {
            return false;
        };
        let same_width = head.compared.is_wide() == wide;
        if head.a != i.d
            || head.b == i.d
            || !same_width
            || u32::from(back.weight) + u32::from(head.weight) + self.carry > 0x7fff
        {
            return false;
        }
        self.close(step, [i.d, i.a, head.b, i.b], back.weight, head);
        self.pc += 1;
        true
    }

    /// A step and the back edge, if the loop's head has no comparison, or compares something else later.
    fn back_add(&mut self, i: Inst, back: Inst) -> bool {
        let compares = self.plan.head(self.code, back.b);
        if compares.is_some_and(|head| head.compared.jumps(head.goes_on).is_some())
            || u32::from(back.weight) + self.carry > 0x7fff
        {
            return false;
        }
        let op = match i.op {
            Op::SAdd64 => HostOp::BackAdd64,
            _ => HostOp::BackAdd32,
        };
        let at = self.emit(op, [i.d, i.a, 0, i.b], 0);
        self.weigh(at, back.weight);
        self.jumps.push((at, back.b));
        self.pc += 1;
        true
    }

    /// The back edge to a loop's head.
    fn back(&mut self, i: Inst) {
        if let Some(head) = self.plan.head(self.code, i.b)
            && let Some((_, back, _)) = head.compared.jumps(head.goes_on)
            && u32::from(i.weight) + u32::from(head.weight) + self.carry <= 0x7fff
        {
            self.close(back, [0, head.a, head.b, 0], i.weight, head);
            return;
        }
        let at = self.emit(HostOp::Back, [0; 4], 0);
        self.weigh(at, i.weight);
        self.jumps.push((at, i.b));
    }

    /// The end of a loop with its head's comparison: continues after the head, or leaves the loop.
    fn close(&mut self, op: HostOp, fields: [u32; 4], weight: u16, head: plan::Head) {
        let at = self.emit(op, fields, 0);
        self.weigh(at, weight + head.weight);
        self.jumps.push((at, head.next));
        let at = self.emit(HostOp::Jump, [0; 4], 0);
        self.jumps.push((at, head.exit));
    }

    fn access(&mut self, i: Inst) {
        let site = &self.code.sites[i.c as usize];
        let Some(ops) = access_ops(site) else {
            self.emit(HostOp::Plain, [0; 4], 0);
            return;
        };
        if let Some(subscript) = site.subscript {
            let Some(register) = subscript.uniform else {
                self.emit(HostOp::Plain, [0; 4], 0);
                return;
            };
            let op = match subscript.is_long {
                true => HostOp::Within64,
                false => HostOp::Within32,
            };
            self.emit(op, [0, register, 0, 0], subscript.len);
        }
        let mut address = plan::Address {
            base: i.a,
            offset: site.address.offset,
            ..plan::Address::default()
        };
        self.plan.address(self.code, self.pc, &mut address);
        let by_elements =
            address.mode == Mode::Signed && i64::from(site.width_bytes) == address.scale.into();
        if let Some(&update) = self.plan.updates.get(&self.pc)
            && (address.mode == Mode::Base || address.mode == Mode::Signed && !update.is_kept)
        {
            return self.update(update, &address);
        }
        let base = address.register();
        if let Some(&test) = self.plan.tests.get(&self.pc)
            && (by_elements || address.mode == Mode::Base)
            && let Some(tests) = HostOp::tests(ops[0], test.op, test.sense)
            && self.host.sites.len() <= usize::from(u16::MAX)
            && self.is_near(test.goal)
        {
            let number = self.site(i.c, &address);
            let op = tests[usize::from(by_elements)];
            let value = site.values[0];
            let at = self.emit(op, [value, base, address.index, test.other], number);
            self.weigh(at, test.weight);
            self.leads(at, test.goal);
            self.pc = test.next - 1;
            return;
        }
        let number = self.site(i.c, &address);
        let feed = self.plan.feeds.get(&self.pc).copied();
        // The number must then fit in half of the field.
        let feed = feed.filter(|_| number <= u32::from(u16::MAX));
        let (ops, value, x) = match feed {
            Some(feed) => (feed.ops, feed.result, number | feed.other << 16),
            None => (ops, site.values[0], number * SITE_BYTES),
        };
        let scale = u32::from(address.scale as u16);
        let (op, other) = match address.mode {
            Mode::Base => (ops[0], 0),
            Mode::Signed if by_elements => (ops[1], 0),
            Mode::Signed => (ops[2], scale),
            Mode::Unsigned => (ops[3], scale),
            Mode::Long => (ops[4], scale),
            Mode::Sum | Mode::LongSum => {
                let wide = address.mode == Mode::LongSum;
                let other = match address.is_less {
                    true => self.negated(address.other, wide),
                    false => address.other,
                };
                (ops[if wide { 6 } else { 5 }], other)
            }
            Mode::Product => (ops[7], address.other),
        };
        let at = self.emit(op, [value, base, address.index, other], x);
        if let Some(feed) = feed {
            self.pc = feed.last;
        }
        if address.mode == Mode::Product {
            self.host.insts[at].weight = address.summand as u16;
        }
    }

    /// A load, an operation and a store to the same place.
    fn update(&mut self, update: group::Update, address: &plan::Address) {
        let store = self.code.insts[update.store as usize];
        let number = self.site(store.c, address) * SITE_BYTES;
        let is_indexed = address.mode == Mode::Signed;
        let op = update.ops[usize::from(is_indexed)];
        let last = match is_indexed {
            true => u32::from(address.scale as u16),
            false => update.result,
        };
        self.emit(
            op,
            [update.other, address.register(), address.index, last],
            number,
        );
        self.pc = update.store;
    }

    /// The number of an access's site in this form.
    fn site(&mut self, row: u32, address: &plan::Address) -> u32 {
        let object = self.code.sites[row as usize].access.object;
        let is_local = address.local.is_some() || matches!(object, Some(Object::Local(_)));
        self.host.has_locals |= is_local;
        self.host.sites.push(HostSite {
            row,
            offset: address.offset,
            local: address.local,
            is_local,
        });
        self.host.sites.len() as u32 - 1
    }

    /// Whether a jump's distance fits in half of the field. The second form has at most three instructions for each of
    /// the first.
    fn is_near(&self, goal: Goal) -> bool {
        // Detours are at the end.
        let distance = match goal.weight {
            0 => goal.pc.abs_diff(self.pc),
            _ => self.code.insts.len() as u32,
        };
        distance < 1 << 13
    }

    /// The value of a register that is never written.
    fn constant(&self, register: u32) -> Option<u64> {
        let mut constants = self.code.registers.s_init.iter();
        let found = constants.find(|&&(known, _)| known == register);
        found.map(|&(_, bits)| bits)
    }

    /// A register with the negated constant of another.
    fn negated(&mut self, register: u32, wide: bool) -> u32 {
        let constants = &self.code.registers.s_init;
        let bits = 0u64.wrapping_sub(self.constant(register).unwrap_or(0));
        let bits = if wide { bits } else { u64::from(bits as u32) };
        let mut known = constants.iter().chain(&self.host.constants);
        if let Some(&(register, _)) = known.find(|&&(_, other)| other == bits) {
            return register;
        }
        let register = self.code.registers.s_count + self.host.constants.len() as u32;
        self.host.constants.push((register, bits));
        register
    }
}

/// The operations of an access, by the form of its address; `None` if the first form performs it.
fn access_ops(site: &MemSite) -> Option<[HostOp; 8]> {
    if site.access.count != 1 {
        return None;
    }
    use HostOp::*;
    let is_load = match site.op {
        AccessOp::Load => true,
        AccessOp::Store => false,
        AccessOp::Atomic => return None,
    };
    let op = match (site.access.ty, is_load) {
        (MemType::Bool, true) => LoadBool,
        (MemType::Bool, false) => StoreBool,
        (MemType::U8, true) => LoadU8,
        (MemType::S8, true) => LoadS8,
        (MemType::U16, true) => LoadU16,
        (MemType::S16, true) => LoadS16,
        (MemType::I32 | MemType::F32, true) => Load32,
        (MemType::I64 | MemType::F64 | MemType::Ptr, true) => Load64,
        (MemType::U8 | MemType::S8, false) => Store8,
        (MemType::U16 | MemType::S16, false) => Store16,
        (MemType::I32 | MemType::F32, false) => Store32,
        (MemType::I64 | MemType::F64 | MemType::Ptr, false) => Store64,
    };
    Some(op.forms())
}

/// Whether an access has a form with an index.
fn is_indexable(site: &MemSite) -> bool {
    site.access.ty != MemType::Bool
        && access_ops(site).is_some()
        && Class::of(site.access.ty.value_type()) != Class::Mask
}
