//! Compiles straight-line instructions except those on memory.

use ir::{
    BarrierReduce, BinaryOp, Exchange, ExchangeOp, FenceScope, FunctionKind, Inst, InstKind,
    Intrinsic, LocalId, Operand, SlotId, SpecialReg, Type, ValueId,
};

use super::{Compiler, FusedPointer, Owned, select, unroll};
use crate::isa::bytecode::{
    BarrierRow, Class, ExchangeKind, ExchangeRow, Place, S_COOPERATIVE, S_CTAID, S_NCTAID, S_NTID,
    S_SM, S_SM_COUNT, S_TID_YZ, V_LANE, V_TID,
};
use crate::isa::computing::{self, Conversion};
use crate::isa::op::Op;

/// Whether two varying registers of up to two units may overlap.
fn near(a: u32, b: u32) -> bool {
    a.abs_diff(b) < 2
}

impl Compiler<'_> {
    /// Compiles one instruction. A table: one arm per instruction.
    pub(super) fn inst(&mut self, inst: &Inst) {
        self.loc = inst.loc;
        let result = inst.results.first().copied();
        if !matches!(inst.kind, InstKind::Get(_) | InstKind::Set(..)) {
            self.count();
        }
        let is_unread = |id: &ValueId| self.analyses.lifetimes.uses[id.index()] == 0;
        if !self.host
            && inst.results.iter().all(is_unread)
            && let Some(is_branch) = unroll::only_counts(inst)
        {
            self.arrays.branches += u32::from(is_branch);
            return;
        }
        match &inst.kind {
            InstKind::Get(slot) => {
                self.mark(Op::HostReads, *slot);
                self.get(*slot, result);
            }
            InstKind::Set(slot, value) => {
                self.set(*slot, value);
                self.mark(Op::HostAssigns, *slot);
            }
            InstKind::Unary(op, ty, a) => self.unary(*op, *ty, a, result),
            InstKind::Binary(op, ty, a, b) => self.binary(*op, *ty, a, b, result),
            InstKind::Fma(ty, a, b, c) => self.fma(*ty, [a, b, c], result),
            InstKind::FmaHalves(a, b, c) => {
                self.lane_op(Op::VFmaHalves, Op::SFmaHalves, &[a, b, c], result);
            }
            InstKind::FmaBfloats(a, b, c) => {
                self.lane_op(Op::VFmaBfloats, Op::SFmaBfloats, &[a, b, c], result);
            }
            InstKind::Compare(op, ty, a, b) => self.compare(*op, *ty, a, b, result),
            InstKind::Select(ty, c, a, b) => self.select(*ty, c, a, b, result),
            InstKind::Convert(op, a) => {
                let (v, s) = select::convert(*op, self.type_of(a));
                self.lane_op(v, s, &[a], result);
            }
            InstKind::Special(register) => self.special(*register, result),
            InstKind::AddrOf(object) => self.addr_of(*object, result),
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let pointer = FusedPointer {
                    base: *base,
                    index: *index,
                    unsigned: *unsigned,
                    scale: *scale_bytes,
                    offset: *offset_bytes,
                    step: None,
                    scalar: None,
                };
                self.ptr_add(pointer, result);
            }
            InstKind::Load(access, ptr) => self.load(access, ptr, &inst.results),
            InstKind::Store(access, ptr, values) => self.store(access, ptr, values),
            InstKind::Atomic {
                op,
                access,
                ptr,
                value,
                compare,
            } => {
                self.atomic(*op, access, ptr, value, compare.as_ref(), result);
            }
            InstKind::Barrier(reduce) => self.barrier(reduce.as_ref(), result),
            InstKind::Exchange(exchange) => self.exchange(exchange, &inst.results),
            InstKind::Intrinsic(intrinsic, args) => self.intrinsic(*intrinsic, args, result),
            InstKind::Fence(scope) => self.fence(*scope, true),
            InstKind::AcqRelFence(scope) => self.fence(*scope, false),
            InstKind::Printf(format, args) => self.print(*format, args, result),
            InstKind::Assert(cond, text) => {
                let cond = self.scalar(cond);
                self.emit(Op::Assert, 0, cond, text.0, 0);
            }
            InstKind::Unsupported(text) => self.emit(Op::Trap, 0, 3, text.0, 0),
            InstKind::Lifetime(local, begins) => self.lifetime(*local, *begins),
            InstKind::Launch(launch) if self.function.kind == FunctionKind::Kernel => {
                self.launch(launch);
            }
            InstKind::CallRoutine(callee, args) => {
                self.call_routine(*callee, args, &inst.results);
            }
            InstKind::Call(..) | InstKind::HostCall(..) | InstKind::Launch(_) => {
                self.host_call(&inst.kind, result)
            }
        }
        self.spread_results(&inst.results);
        if let (true, &[id]) = (self.host, inst.results.as_slice()) {
            self.note_uses(id);
        }
    }

    /// Notes how often the last instruction's temporary is read.
    fn note_uses(&mut self, id: ValueId) {
        let Some(last) = self.code.insts.last() else {
            return;
        };
        if let Some(Owned::S(register)) = self.values.owned[id.index()]
            && last.d == register
            && (select::writes_varying(last.op) == Some(false)
                || matches!(last.op, Op::HostLocal | Op::HostLoad))
        {
            let reads = self.analyses.lifetimes.reads[id.index()];
            self.code.uses.push((self.next_pc() - 1, reads));
        }
    }

    /// Reports to the checks that a local variable begins or ends.
    fn lifetime(&mut self, local: LocalId, begins: bool) {
        if self.arrays.units.contains_key(&local) {
            return;
        }
        let start = self.code.memory.local_offsets[local.index()] as u32;
        let bytes = self.function.locals[local.index()].size_bytes as u32;
        self.emit(Op::Lifetime, 0, start, bytes, u32::from(begins));
    }

    /// Marks an event of a host variable that may be uninitialised.
    fn mark(&mut self, op: Op, slot: SlotId) {
        if let (true, Place::S(register)) = (
            self.analyses.early.contains(&slot),
            self.slots.places[slot.index()],
        ) {
            self.emit(op, 0, register, 0, 0);
        }
    }

    fn get(&mut self, slot: SlotId, result: Option<ValueId>) {
        let Some(id) = result else { return };
        let place = self.slots.places[slot.index()];
        if self.analyses.lifetimes.alias[id.index()] {
            self.values.places[id.index()] = Some(place);
            if let Some(&unit) = self.slots.mirrors.get(&slot.0) {
                self.values.spread.insert(id, (unit, 0));
            }
            return;
        }
        let to = self.define(id);
        self.copy(to, place, Class::of(self.function.slots[slot.index()].ty));
    }

    pub(super) fn copy(&mut self, to: Place, from: Place, class: Class) {
        match (to, from) {
            (Place::S(to), Place::S(from)) => self.emit(Op::SMove, to, from, 0, 0),
            (Place::V(to), Place::V(from)) if class == Class::W64 => {
                self.emit(Op::VMove64, to, from, 0, 0)
            }
            (Place::V(to), Place::V(from)) => self.emit(Op::VMove32, to, from, 0, 0),
            (Place::V(to), Place::S(from)) => self.splat(to, from, class),
            (Place::S(_), Place::V(_)) => unreachable!("a varying value in a uniform place"),
        }
    }

    /// Assigns: to all lanes if no live lane can be inactive here, otherwise blended under the mask.
    fn set(&mut self, slot: SlotId, value: &Operand) {
        let number = self.slots.next_set;
        self.slots.next_set += 1;
        let index = slot.index();
        let class = Class::of(self.function.slots[index].ty);
        let to = self.slots.places[index];
        let begins = self.analyses.uniformity.first_set[index] == Some(number);
        if !self.analyses.uniformity.slots[index]
            || begins
            || !self.parted()
            || self.is_private(slot)
        {
            if !self.redirect(Some(slot), value, to) {
                let from = self.place(value);
                if from != to {
                    self.copy(to, from, class);
                }
            }
            return;
        }
        self.blend(to, value, class);
    }

    /// Assigns in the active lanes only.
    pub(super) fn blend(&mut self, to: Place, value: &Operand, class: Class) {
        match to {
            Place::S(to) => {
                let from = self.scalar(value);
                self.emit(Op::MBlend, to, from, 0, 0);
            }
            Place::V(to) => {
                let from = self.vector(value);
                if from != to {
                    let op = if class == Class::W64 {
                        Op::VBlend64
                    } else {
                        Op::VBlend32
                    };
                    self.emit(op, to, from, 0, 0);
                }
            }
        }
    }

    /// Lets the instruction that just computed `value`, only for this assignment, write to the destination directly.
    pub(super) fn redirect(&mut self, slot: Option<SlotId>, value: &Operand, to: Place) -> bool {
        let Operand::Value(id) = value else {
            return false;
        };
        let may_share = self.host && slot.is_some_and(|slot| self.may_share(*id, slot));
        let (Some(from), Some(last)) = (self.values.places[id.index()], self.code.insts.last_mut())
        else {
            return false;
        };
        let is_once = self.analyses.lifetimes.uses[id.index()] == 1;
        if !(is_once || may_share) || self.values.owned[id.index()].is_none() {
            return false;
        }
        let (d, scalar) = match from {
            Place::S(d) => (d, true),
            Place::V(d) => (d, false),
        };
        if select::writes_varying(last.op) != Some(!scalar) {
            return false;
        }
        let goal = match to {
            Place::S(goal) if scalar => goal,
            Place::V(goal) if !scalar => goal,
            Place::S(_) | Place::V(_) => return false,
        };
        let accumulates = match last.op {
            Op::VFma32 => Some(Op::VFmaInto32),
            Op::VFma64 => Some(Op::VFmaInto64),
            _ => None,
        };
        if let (Some(op), true) = (accumulates, last.d == d && last.c == goal)
            && !near(goal, last.a)
            && !near(goal, last.b)
        {
            (last.op, last.d) = (op, goal);
            return true;
        }
        // An instruction must not read its varying destination, or a register that overlaps it.
        let read = [last.a, last.b, last.c];
        if last.d != d || !scalar && read.iter().any(|&register| near(goal, register)) {
            return false;
        }
        last.d = goal;
        // Its result is no longer a temporary.
        let at = self.code.insts.len() as u32 - 1;
        self.code.uses.pop_if(|&mut (pc, _)| pc == at);
        if !is_once {
            self.values.places[id.index()] = Some(to);
            if let Some(owned) = self.values.owned[id.index()].take() {
                self.give(owned);
            }
        }
        true
    }

    /// Whether a temporary may share the register of the slot that is set to it here: the slot must not change before
    /// the temporary's last use.
    fn may_share(&self, id: ValueId, slot: SlotId) -> bool {
        let lifetimes = &self.analyses.lifetimes;
        let (here, last) = (self.pos, lifetimes.last_use[id.index()]);
        let mut sets = lifetimes.sets[slot.index()].iter();
        !sets.any(|&set| set > here && set <= last)
    }

    fn intrinsic(&mut self, intrinsic: Intrinsic, args: &[Operand], result: Option<ValueId>) {
        // The warp may split here.
        self.tally();
        let computes = match (intrinsic, args) {
            (Intrinsic::SyncWarp, [mask]) => {
                let (register, scalar) = match self.place(mask) {
                    Place::S(register) => (register, 1),
                    Place::V(register) => (register, 0),
                };
                let meet = self.meet();
                self.code.meets.insert(self.next_pc(), meet);
                return self.emit(Op::SyncWarp, 0, register, scalar, 0);
            }
            (Intrinsic::BarrierSync, [Operand::Const(barrier), Operand::Const(threads)])
                if (barrier.bits, threads.bits) == (0, 0) =>
            {
                let meet = self.meet();
                let at = self.control(Op::Barrier, 0, 0, 0);
                self.code.insts[at].c = 1;
                self.code.meets.insert(at as u32, meet);
                return;
            }
            (
                Intrinsic::BarSync
                | Intrinsic::BarArrive
                | Intrinsic::BarrierSync
                | Intrinsic::BarrierArrive,
                [barrier, threads],
            ) => return self.numbered_barrier(intrinsic, barrier, threads),
            // There is no time to wait for. A spinning warp is recognised by its loop.
            (Intrinsic::Nanosleep, _) => return,
            (Intrinsic::Trap, _) => return self.emit(Op::Trap, 0, 0, 0, 0),
            (Intrinsic::HeapMalloc, [bytes]) => {
                let bytes = self.vector(bytes);
                let d = match result.map(|id| self.define(id)) {
                    Some(Place::V(d)) => d,
                    Some(Place::S(_)) | None => self.temporary(Class::W64),
                };
                return self.emit(Op::HeapMalloc, d, bytes, 0, 0);
            }
            (Intrinsic::HeapFree, [address]) => {
                let address = self.vector(address);
                return self.emit(Op::HeapFree, 0, address, 0, 0);
            }
            (Intrinsic::BadCall, _) => return self.emit(Op::Trap, 0, 1, 0, 0),
            (Intrinsic::BadObject, _) => return self.emit(Op::Trap, 0, 2, 0, 0),
            (Intrinsic::IsShared, _) => Conversion::IsShared,
            (Intrinsic::IsLocal, _) => Conversion::IsLocal,
            (Intrinsic::IsConstant, _) => Conversion::IsConstant,
            (Intrinsic::IsGlobal, _) => Conversion::IsGlobal,
            (
                Intrinsic::SyncWarp
                | Intrinsic::HeapMalloc
                | Intrinsic::HeapFree
                | Intrinsic::BarSync
                | Intrinsic::BarArrive
                | Intrinsic::BarrierSync
                | Intrinsic::BarrierArrive,
                _,
            ) => {
                unreachable!("the verifier counts operands")
            }
        };
        let (v, s) = computes.ops();
        let args: Vec<&Operand> = args.iter().collect();
        self.lane_op(v, s, &args, result);
    }

    /// Emits the varying or the scalar form, depending on the result.
    fn lane_op(&mut self, v: Op, s: Op, operands: &[&Operand], result: Option<ValueId>) {
        let Some(id) = result else { return };
        let class = Class::of(self.function.values[id.index()]);
        let varies = self.varies(id);
        let mut registers = [0; 3];
        for (register, operand) in registers.iter_mut().zip(operands) {
            let mask = self.class_of(operand) == Class::Mask;
            *register = if varies && !mask {
                self.vector(operand)
            } else {
                self.scalar(operand)
            };
        }
        let d = match self.define(id) {
            Place::S(d) | Place::V(d) => d,
        };
        let op = if varies { v } else { s };
        debug_assert!(
            class != Class::Mask || matches!(self.values.places[id.index()], Some(Place::S(_)))
        );
        self.emit(op, d, registers[0], registers[1], registers[2]);
    }

    fn unary(&mut self, op: ir::UnaryOp, ty: Type, a: &Operand, result: Option<ValueId>) {
        if ty == Type::I1 {
            assert_eq!(op, ir::UnaryOp::Not, "verified");
            return self.lane_op(Op::MNot, Op::MNot, &[a], result);
        }
        let op = if self.checked { op } else { op.wrapping() };
        let (v, s) = computing::unary(op, ty);
        self.lane_op(v, s, &[a], result);
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        ty: Type,
        a: &Operand,
        b: &Operand,
        result: Option<ValueId>,
    ) {
        if result.is_some_and(|id| self.analyses.lifetimes.sums[id.index()].is_some()) {
            return;
        }
        if ty == Type::I1 {
            let op = match op {
                BinaryOp::And => Op::MAnd,
                BinaryOp::Or => Op::MOr,
                BinaryOp::Xor => Op::MXor,
                op => unreachable!("verified: {op} of i1"),
            };
            return self.lane_op(op, op, &[a, b], result);
        }
        if self.host && op.is_division() {
            let divisor = self.scalar(b);
            self.emit(Op::HostNonZero, 0, 0, divisor, 0);
        }
        let op = if self.checked { op } else { op.wrapping() };
        let (v, s) = computing::binary(op, ty);
        self.lane_op(v, s, &[a, b], result);
    }

    fn fma(&mut self, ty: Type, operands: [&Operand; 3], result: Option<ValueId>) {
        let (v, s) = if ty == Type::F32 {
            (Op::VFma32, Op::SFma32)
        } else {
            (Op::VFma64, Op::SFma64)
        };
        self.lane_op(v, s, &operands, result);
    }

    fn compare(
        &mut self,
        op: ir::CompareOp,
        ty: Type,
        a: &Operand,
        b: &Operand,
        result: Option<ValueId>,
    ) {
        if ty == Type::I1 {
            let op = if op == ir::CompareOp::Eq {
                Op::MEq
            } else {
                Op::MXor
            };
            return self.lane_op(op, op, &[a, b], result);
        }
        let (v, s) = computing::compare(op, ty);
        if result.is_some_and(|id| self.varies(id)) {
            if let Some(scalar) = self.unspread(b) {
                return self.compare_scalar(v, a, scalar, result);
            }
            if let Some(scalar) = self.unspread(a) {
                let (v, _) = computing::compare(op.swapped(), ty);
                return self.compare_scalar(v, b, scalar, result);
            }
        }
        self.lane_op(v, s, &[a, b], result);
    }

    /// The scalar register of a value that is not in a varying one.
    fn unspread(&mut self, operand: &Operand) -> Option<u32> {
        let Operand::Value(id) = operand else {
            return None;
        };
        if self.values.spread.contains_key(id) {
            return None;
        }
        match self.place(operand) {
            Place::S(scalar) => Some(scalar),
            Place::V(_) => None,
        }
    }

    /// The comparison of a varying value with a scalar, derived from the one of two varying values.
    fn compare_scalar(&mut self, v: Op, a: &Operand, scalar: u32, result: Option<ValueId>) {
        let (Some(id), Some(op)) = (result, computing::with_scalar(v)) else {
            return;
        };
        let a = self.vector(a);
        let (Place::S(d) | Place::V(d)) = self.define(id);
        self.emit(op, d, a, scalar, 0);
    }

    fn select(&mut self, ty: Type, c: &Operand, a: &Operand, b: &Operand, result: Option<ValueId>) {
        let (v, s) = match Class::of(ty) {
            Class::Mask => (Op::MSelect, Op::MSelect),
            Class::W32 => (Op::VSelect32, Op::SSelect),
            Class::W64 => (Op::VSelect64, Op::SSelect),
        };
        self.lane_op(v, s, &[c, a, b], result);
    }

    fn special(&mut self, register: SpecialReg, result: Option<ValueId>) {
        let Some(id) = result else { return };
        let place = match register {
            SpecialReg::TidX => Place::V(V_TID),
            SpecialReg::TidY if self.row_warps => Place::S(S_TID_YZ),
            SpecialReg::TidZ if self.row_warps => Place::S(S_TID_YZ + 1),
            SpecialReg::TidY => Place::V(V_TID + 1),
            SpecialReg::TidZ => Place::V(V_TID + 2),
            SpecialReg::CtaidX => Place::S(S_CTAID),
            SpecialReg::CtaidY => Place::S(S_CTAID + 1),
            SpecialReg::CtaidZ => Place::S(S_CTAID + 2),
            SpecialReg::NtidX => Place::S(S_NTID),
            SpecialReg::NtidY => Place::S(S_NTID + 1),
            SpecialReg::NtidZ => Place::S(S_NTID + 2),
            SpecialReg::NctaidX => Place::S(S_NCTAID),
            SpecialReg::NctaidY => Place::S(S_NCTAID + 1),
            SpecialReg::NctaidZ => Place::S(S_NCTAID + 2),
            SpecialReg::CooperativeGrid => Place::S(S_COOPERATIVE),
            SpecialReg::LaneId => Place::V(V_LANE),
            SpecialReg::SmId => Place::S(S_SM),
            SpecialReg::NSmId => Place::S(S_SM_COUNT),
            SpecialReg::Clock => return self.reading(Op::Clock, id),
            SpecialReg::Clock64 | SpecialReg::GlobalTimer => return self.reading(Op::Clock64, id),
            SpecialReg::ActiveMask => return self.reading(Op::ActiveMask, id),
        };
        self.values.places[id.index()] = Some(place);
    }

    /// Reads a value that changes, each time anew.
    fn reading(&mut self, op: Op, id: ValueId) {
        self.tick();
        if let Place::S(d) = self.define(id) {
            self.emit(op, d, 0, 0, 0);
        }
    }

    fn exchange(&mut self, exchange: &Exchange, results: &[ValueId]) {
        // The warp may split here.
        self.tally();
        let wide = self.class_of(&exchange.value) == Class::W64;
        let value = self.place(&exchange.value);
        let (mut lane, mut width) = (value, value);
        let kind = match &exchange.op {
            ExchangeOp::Shuffle {
                mode,
                lane: from,
                width: lanes,
                ..
            } => {
                (lane, width) = (self.place(from), self.place(lanes));
                ExchangeKind::Shuffle(*mode)
            }
            ExchangeOp::Vote(op) => ExchangeKind::Vote(*op),
            ExchangeOp::MatchAny(_) => ExchangeKind::MatchAny { wide },
            ExchangeOp::MatchAll(_) => ExchangeKind::MatchAll { wide },
            ExchangeOp::Reduce(op) => ExchangeKind::Reduce(*op),
        };
        let mask = exchange.mask.map(|mask| self.place(&mask));
        let meet = mask.is_some().then(|| self.meet());
        let mut places = [value; 2];
        for (place, &id) in places.iter_mut().zip(results) {
            *place = self.define(id);
        }
        self.code.exchanges.push(ExchangeRow {
            kind,
            value,
            lane,
            width,
            mask,
            results: places,
        });
        let op = match kind {
            ExchangeKind::Shuffle(_) => Op::Shuffle,
            _ => Op::Exchange,
        };
        let row = self.code.exchanges.len() as u32 - 1;
        if let Some(meet) = meet {
            self.code.meets.insert(self.next_pc(), meet);
        }
        self.emit(op, 0, row, 0, 0);
    }

    fn numbered_barrier(&mut self, intrinsic: Intrinsic, barrier: &Operand, threads: &Operand) {
        let row = BarrierRow {
            barrier: self.place(barrier),
            threads: self.place(threads),
            arrives: matches!(intrinsic, Intrinsic::BarArrive | Intrinsic::BarrierArrive),
            aligned: matches!(intrinsic, Intrinsic::BarSync | Intrinsic::BarArrive),
        };
        let meet = self.meet();
        let number = self.code.barriers.len() as u32;
        self.code.barriers.push(row);
        let at = self.control(Op::NumberedBarrier, 0, number, 0);
        self.code.meets.insert(at as u32, meet);
    }

    fn fence(&mut self, scope: FenceScope, is_sc: bool) {
        let all = FenceScope::ALL;
        let number = all.iter().position(|&other| other == scope).unwrap_or(0);
        self.emit(Op::Fence, 0, number as u32, is_sc.into(), 0);
    }

    fn barrier(&mut self, reduce: Option<&(BarrierReduce, Operand)>, result: Option<ValueId>) {
        let meet = self.meet();
        let Some((reduce, predicate)) = reduce else {
            let at = self.control(Op::Barrier, 0, 0, 0);
            self.code.meets.insert(at as u32, meet);
            return;
        };
        let mut mask = match self.class_of(predicate) {
            Class::Mask => self.scalar(predicate),
            Class::W32 | Class::W64 => {
                let (a, zero) = (self.vector(predicate), self.v_constant(0, Class::W32));
                let mask = self.scalar_temporary();
                self.emit(Op::VNe32, mask, a, zero, 0);
                mask
            }
        };
        let op = match reduce {
            BarrierReduce::Count => Op::BarrierCount,
            BarrierReduce::And => Op::BarrierAnd,
            BarrierReduce::Or => Op::BarrierOr,
        };
        let d = match result.map(|id| self.define(id)) {
            Some(Place::S(d)) => d,
            Some(Place::V(_)) | None => self.scalar_temporary(),
        };
        if mask == d {
            let other = self.scalar_temporary();
            self.emit(Op::SMove, other, mask, 0, 0);
            mask = other;
        }
        let at = self.control(op, d, mask, 0);
        self.code.meets.insert(at as u32, meet);
    }
}
